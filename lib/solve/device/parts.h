/* Minimisations on a GPU, or on its twin (gpu/machine.h): a table of the operations of solve/search/search_ops.h.  The iterate,
 * its contacts, the matrix and the direction live there; the search stays on the processor and sees numbers.
 *
 * From enter to leave the device has the positions of the points here and trial, the direction p and the gradient of the search;
 * the search's own arrays do not follow, but here.x does while an augmented Lagrangian moves prescribed nodes.
 *
 * device.c opens a device, brings a step there and back, starts it, keeps its path, and has the table of operations; terms.c
 * computes. */
#ifndef ABUT_SOLVE_DEVICE_PARTS_H
#define ABUT_SOLVE_DEVICE_PARTS_H

#include "gpu/touch.h"
#include "solve/search/search_ops.h"

/* Scalars that are fetched together. */
enum { ABUT_PULSE_INERTIA, ABUT_PULSE_ELASTIC, ABUT_PULSE_BARRIER, ABUT_PULSE_FRICTION, ABUT_PULSE_LAGRANGIAN, ABUT_PULSE_CODIM,
       ABUT_PULSE_TIES, ABUT_PULSE_DAMPED = ABUT_PULSE_TIES + ABUT_GPU_TIES,
       ABUT_PULSE_OTHER = ABUT_PULSE_DAMPED + ABUT_GPU_DAMPED, ABUT_PULSE };

enum { ABUT_DEVICE_TRAIL = 32 };

typedef struct abut_device {
    abut_queue q;
    abut_gpu_touch touch;
    abut_gpu_tets tets;
    abut_gpu_codim codim;
    abut_gpu_ties ties;
    abut_gpu_damping damping;
    abut_gpu_operator A;
    abut_gpu_cg cg;
    struct {                /* the points here, trial, kept */
        abut_buffer x, xt, kept_x;
        abut_gpu_contacts at, trial, kept;
    };
    struct {                /* the direction, the gradient at here */
        abut_buffer p, g;
        double speed;       /* m: |p|_inf */
    };
    struct {                /* of the step */
        abut_buffer v, target, xn, xhat, still, mass, held, lam, diag;
        abut_buffer z;      /* positions at which elasticity is evaluated, if not at the iterate */
        abut_buffer rests;  /* [nv] 1: a node without unknowns */
        int scripted;       /* prescribed nodes have to move in this step */
    };
    struct {                /* points of the path that the host has not got */
        abut_buffer trail[ABUT_DEVICE_TRAIL];
        int n_trail;
    };
    struct {                /* state that A was numbered for */
        int32_t *row;       /* [nv] host: the numbering */
        int numbered;
        int changes;        /* of the objective that numbering, diagonal and multipliers are of */
    };
    abut_buffer part, pulse;
    double *pinned[7];      /* host arrays in frequent transfers */
    const void *forces_of;  /* the buffer whose positions the elements have their forces at; NULL: none */
    abut_err late;          /* the first failure of a call without a status */
} abut_device;

static inline abut_device *abut_device_of(const abut_search *s) { return s->device; }

/** Returns the first failure of a call that has no status itself. */
ABUT_MUST_USE static inline abut_status abut_device_late(const abut_device *d, abut_err *err)
{
    if (d->late.code && err) *err = d->late;
    return d->late.code;
}
/** Evaluates all terms at x, whose contacts are `set`. */
ABUT_MUST_USE abut_status abut_device_terms(abut_search *s, const double *x, const abut_gpu_contacts *set, abut_energy *e,
                                            abut_err *err);
/** g = the gradient at x of all but the barrier, of held nodes too. */
ABUT_MUST_USE abut_status abut_device_smooth(abut_search *s, const double *x, double *g, abut_err *err);
/** Brings numbering, diagonal and multipliers up to date with the objective. */
ABUT_MUST_USE abut_status abut_device_renew(abut_search *s, abut_err *err);
void abut_device_note(abut_device *d, abut_status rc, const abut_err *err);
/** Finds the contacts of x among the candidates. */
ABUT_MUST_USE abut_status abut_device_find(abut_device *d, const double *x, abut_gpu_contacts *set, abut_err *err);

/** Makes the pattern of A for the rows row[nv] (host). */
ABUT_MUST_USE abut_status abut_device_elements_number(abut_search *s, const int32_t *row, abut_err *err);

/* The operations of solve/search/search_ops.h that terms.c has. */
ABUT_MUST_USE abut_status abut_device_forecast_start(abut_search *s, abut_err *err);
ABUT_MUST_USE abut_status abut_device_forecast_step(abut_search *s, const double *led, double alpha, abut_err *err);
size_t abut_device_count(const abut_search *s);
ABUT_MUST_USE abut_status abut_device_stiffen(abut_search *s, abut_err *err);
ABUT_MUST_USE abut_status abut_device_evaluate(abut_search *s, abut_point *at, unsigned what, abut_report *rep, abut_err *err);
void abut_device_try_at(abut_search *s, double alpha);
void abut_device_exchange(abut_search *s, const abut_point *with);
ABUT_MUST_USE abut_status abut_device_accepted(abut_search *s, abut_err *err);
ABUT_MUST_USE abut_status abut_device_find_direction(abut_search *s, abut_report *rep, abut_err *err);
ABUT_MUST_USE abut_status abut_device_next_speed(abut_search *s, double *speed, abut_report *rep, abut_err *err);
double abut_device_slope(const abut_search *s);
ABUT_MUST_USE abut_status abut_device_slopes(abut_search *s, double *here, double *trial, abut_report *rep, abut_err *err);
void abut_device_scale(abut_search *s, double by);
int32_t abut_device_fastest(const abut_search *s);
ABUT_MUST_USE abut_status abut_device_limits(abut_search *s, abut_limit *lim, abut_report *rep, abut_err *err);
ABUT_MUST_USE abut_status abut_device_candidates(abut_search *s, double fraction, abut_report *rep, abut_err *err);
ABUT_MUST_USE abut_status abut_device_ccd(abut_search *s, abut_limit *lim, abut_report *rep, abut_err *err);

#endif
