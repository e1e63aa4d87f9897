/* A minimisation on a GPU, or on its twin (gpu/machine.h): the iterate, its contacts, the matrix and the direction live there;
 * the rules of solve/search/bound.c and solve/search/minimise.c stay on the processor and see numbers.
 *
 * Between abut_device_enter and abut_device_leave the device has the iterate x, the trial point xt, the direction p and the
 * gradient g of the solver; the solver's own arrays do not follow. */
#ifndef ABUT_SOLVE_DEVICE_DEVICE_H
#define ABUT_SOLVE_DEVICE_DEVICE_H

#include "base/array.h"
#include "contact/step_bound.h"
#include "solve/problem.h"
#include "solve/report.h"

struct abut_solver;
typedef struct abut_device abut_device;

/* Where a step is computed. */
typedef enum abut_device_kind { ABUT_DEVICE_CPU, ABUT_DEVICE_TWIN, ABUT_DEVICE_GPU } abut_device_kind;

/* How its conjugate gradients are preconditioned (gpu/precond.h), in the order there. */
typedef enum abut_device_precond { ABUT_DEVICE_JACOBI, ABUT_DEVICE_CLUSTERS, ABUT_DEVICE_RIGID } abut_device_precond;
/* Their names as options of `step`, NULL at the end. */
extern const char *const abut_device_precond_names[ABUT_DEVICE_RIGID + 2];

/** "cpu", "twin", "gpu" or "gpu:N".
 * Fails  ABUT_E_ARG another name */
ABUT_MUST_USE abut_status abut_device_parse(const char *text, abut_device_kind *kind, int *which, abut_err *err);

/** Opens the machine that the solver's options ask for and puts its model there.
 * Fails  ABUT_E_FORMAT the model has something that a device cannot do (names it); ABUT_E_ARG, ABUT_E_IO no such machine;
 *        ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_device_new(abut_device **d, struct abut_solver *s, abut_err *err);
/** NULL is fine.  Before the solver frees its arrays. */
void abut_device_free(abut_device *d);

/** Whether the solver is between enter and leave. */
int abut_device_serves(const struct abut_solver *s);
/** Starts a step or a minimisation from s->x: the numbers of the problem go there.  v[3 nv], m/s: what abut_device_coast goes by;
 * NULL: it will not be called.  Contacts are to be found next.
 * Fails  ABUT_E_FORMAT the step has something that a device cannot do (names it) */
ABUT_MUST_USE abut_status abut_device_enter(struct abut_solver *s, const double *v, abut_err *err);
/** s->x, s->y, s->pairs and s->g are those of the iterate, as the device has them. */
ABUT_MUST_USE abut_status abut_device_fetch(struct abut_solver *s, abut_err *err);
/** Ends it: s->x, s->y and s->pairs are those of the iterate, the report has the times of the device. */
ABUT_MUST_USE abut_status abut_device_leave(struct abut_solver *s, abut_report *rep, abut_err *err);

/* What follows is what the functions of the same names in solve/search/search_parts.h do, and may be called between the two. */
void abut_device_point(struct abut_solver *s, double alpha);
void abut_device_keep(struct abut_solver *s);
void abut_device_scale(struct abut_solver *s, double by);
double abut_device_slope(const struct abut_solver *s);
double abut_device_speed(const struct abut_solver *s);
double abut_device_gap(const struct abut_solver *s);
size_t abut_device_count(const struct abut_solver *s);
int32_t abut_device_fastest(const struct abut_solver *s);
/** The trial point becomes the iterate; s->x follows only while prescribed nodes are pushed. */
ABUT_MUST_USE abut_status abut_device_accept(struct abut_solver *s, abut_err *err);
/** The iterate joins the path of the step, of which the device keeps the points. */
ABUT_MUST_USE abut_status abut_device_record(struct abut_solver *s, abut_err *err);
/** The contacts of the iterate among the candidates at it, or on the way along p. */
ABUT_MUST_USE abut_status abut_device_contacts_find(struct abut_solver *s, int along, abut_report *rep, abut_err *err);
/** xt: prescribed nodes at their targets, the others at x + share h v; then p = xt - x and xt = x + p. */
void abut_device_coast(struct abut_solver *s, double share);
void abut_device_aim_at_trial(struct abut_solver *s);
/** The objective where prescribed nodes have arrived and the others have not moved (solve/search/warm_start.c). */
ABUT_MUST_USE abut_status abut_device_staying(struct abut_solver *s, int at_least, double *sum, abut_report *rep, abut_err *err);
/** Prescribed nodes towards their targets, as far as the bound allows: alpha of what is left. */
ABUT_MUST_USE abut_status abut_device_carry(struct abut_solver *s, double *alpha, abut_report *rep, abut_err *err);
ABUT_MUST_USE abut_status abut_device_kappa(struct abut_solver *s, abut_err *err);
/** Half-spaces and inversions. */
ABUT_MUST_USE abut_status abut_device_limits(struct abut_solver *s, abut_limit *lim, abut_err *err);
/** The largest collision-free share of the share `share` of p. */
ABUT_MUST_USE abut_status abut_device_sweep(struct abut_solver *s, double share, abut_limit *swept, abut_report *rep,
                                            abut_err *err);
/** At the trial point; *sum is infinite where the objective does not exist. */
ABUT_MUST_USE abut_status abut_device_energy(struct abut_solver *s, abut_energy *e, double *sum, abut_err *err);
/** The gradient at the iterate, and *e there unless it is known. */
ABUT_MUST_USE abut_status abut_device_look(struct abut_solver *s, int known, abut_energy *e, abut_err *err);
/** *speed, m/s: of the direction that the last matrix has for the gradient that was found last. */
ABUT_MUST_USE abut_status abut_device_again(struct abut_solver *s, double *speed, abut_report *rep, abut_err *err);
/** Newton's direction there. */
ABUT_MUST_USE abut_status abut_device_direction(struct abut_solver *s, abut_report *rep, abut_err *err);

#endif
