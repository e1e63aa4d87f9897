/* Declarations shared by the files of the backward pass: adjoint.c goes from frame to frame, pass.c through one minimisation,
 * forces.c has derivatives of potentials by their parameters, lag.c of frozen friction, system.c solves with the second
 * derivative. */
#ifndef ABUT_ADJOINT_ADJOINT_PARTS_H
#define ABUT_ADJOINT_ADJOINT_PARTS_H

#include "adjoint/adjoint.h"
#include "base/par.h"
#include "contact/area.h"
#include "energy/barrier.h"
#include "energy/elastic.h"
#include "energy/friction.h"
#include "solve/integrator.h"
#include "solve/options.h"
#include "solve/step/step_parts.h"
#include "sparse/linear_solver.h"

/* ---- system.c ---- */

/* a . b of n numbers, summed with twice the digits */
static inline double abut_adjoint_dot(size_t n, const double *a, const double *b)
{
    abut_acc s = { 0, 0 };
    for (size_t i = 0; i < n; i++) abut_acc_add(&s, a[i] * b[i]);
    return s.hi + s.lo;
}

/* Zero-filled is empty.  Borrows the objective. */
typedef struct abut_adjoint_system {
    abut_objective *o;
    abut_barrier_curvature of_run;  /* Hessians of contacts that steps are solved with */
    abut_bsr A;
    abut_linear_solver linear;
    int32_t *rows;          /* [nv] o->row of the pattern; -2: no pattern yet */
    double *diag;           /* [nv] */
    double *work;           /* [9 * 3 nv] of the solutions */
    int indefinite;         /* 1: A has no Cholesky factor; linear has the factor of the projected matrix */
    int32_t bad_node;       /* node of the failed pivot, -1: unknown */
} abut_adjoint_system;

ABUT_MUST_USE abut_status abut_adjoint_system_init(abut_adjoint_system *s, abut_objective *o, int threads, abut_err *err);
void abut_adjoint_system_clear(abut_adjoint_system *s);
/** Computes H on the unknowns of the objective at a point, and its factor.
 * Fails  ABUT_E_NUMERIC the projected matrix has no factor either; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_adjoint_system_take(abut_adjoint_system *s, const abut_at *at, abut_err *err);
/** Restores the Hessians of the objective for solving steps: projected, as before abut_adjoint_system_take. */
void abut_adjoint_system_leave(const abut_adjoint_system *s);

/* How a system was solved. */
typedef struct abut_adjoint_solution {
    double error;           /* |H p - b| / |b| */
    int iterations;         /* of MINRES */
} abut_adjoint_solution;
/** p[3 nv] = H^-1 b on the unknowns, 0 elsewhere; p is not b.
 * Fails  ABUT_E_NUMERIC MINRES does not converge: the error that is left */
ABUT_MUST_USE abut_status abut_adjoint_system_solve(abut_adjoint_system *s, const double *b, double *p,
                                                    abut_adjoint_solution *how, abut_err *err);
/** out[3 nv] += scale times the product of p[3 nv] with the second derivative, not projected, of all nodes, for the terms whose
 * kind k has its bit 1 << k in kinds; only the elements of terms, not their diagonals (masses).
 * Fails  ABUT_E_NOMEM, and as `elements` of terms */
ABUT_MUST_USE abut_status abut_adjoint_product(const abut_objective *o, const abut_at *at, int kinds, double scale,
                                               const double *p, double *out, abut_arena *scratch, abut_err *err);
/** abut_adjoint_product for the potentials taken at z: not for bounds, which the midpoint rule takes at the end of a step. */
ABUT_MUST_USE abut_status abut_adjoint_product_at_z(const abut_objective *o, const abut_at *at, double scale, const double *p,
                                                    double *out, abut_arena *scratch, abut_err *err);

/* ---- lag.c ---- */

/* Step of central differences by Dhat, m^2, as a fraction of Dhat. */
#define ABUT_DHAT_STEP 1e-5

/* One contact at the positions at which it was frozen. */
typedef struct abut_frozen {
    abut_stencil kind;      /* of a half-space: ABUT_PP, and w = (1, 0, 0, 0) */
    int plane;              /* 1: with a half-space */
    int32_t vert[4];        /* collision vertices, -1 unused */
    double x[12], w[4];
    double n[3], d;
    double lambda, mu;      /* N */
    double per_D;           /* 1/m^2: dlambda/dD over lambda */
    double per_dhat;        /* 1/m: dlambda/d dhat over lambda */
    int bends;              /* 1: lambda has a factor F (contact/area.h) of corners corner[], -1: none */
    int32_t corner[ABUT_AREA_CORNERS];
    double per_F[3 * ABUT_AREA_CORNERS];    /* 1/m: gradient of F over F */
    size_t classes[2];      /* in contact/mu, the entry and its mirror image */
} abut_frozen;

/* Owns its array.  Zero-filled is empty. */
typedef struct abut_frozen_list {
    abut_frozen *of;
    size_t n, cap;
} abut_frozen_list;

/** list: the contacts that abut_lag_freeze freezes of pairs at y, in its order, with its kappa and h.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_frozen_take(abut_frozen_list *list, const abut_collmesh *cm, const abut_pairs *pairs,
                                           const double *y, double kappa, double h, abut_err *err);
void abut_frozen_clear(abut_frozen_list *list);
/** Checks that the contacts of list are those of lag: equal slots, coefficients, weights and forces to 1e-9.
 * Fails  ABUT_E_FORMAT which contact differs, and in what */
ABUT_MUST_USE abut_status abut_frozen_agree(const abut_frozen_list *list, const abut_collmesh *cm, const abut_lag *lag,
                                            abut_err *err);

/* Bars from the friction of one pass. */
typedef struct abut_frozen_bars {
    double *x;              /* [3 nv] of xL; NULL: frozen contacts are numbers */
    double *mu;             /* [ng * ng] */
    double eps_v, dhat;     /* eps_v: by the speed of the model */
    double kappa;           /* by the logarithm of the stiffness at which it was frozen */
    int32_t acting;         /* contacts that slide or stick at all */
} abut_frozen_bars;
/** Adds the bars of p.dD/dx'.  u[3 nv] = x' - c, p[3 nv]; eps_v of the model, m/s.  scratch: 3 doubles per vertex of a map.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_frozen_back(const abut_frozen_list *list, const abut_collmesh *cm, const abut_stiction *law,
                                           double eps_v, const double *u, const double *p, abut_frozen_bars *bars,
                                           abut_arena *scratch, abut_err *err);

/* ---- pass.c: linear maps of a time scheme ---- */

/* Coefficients of one output: the inertial prediction, the positions at which friction rests, and the velocity and acceleration
 * after a step are linear in these numbers, component by component. */
typedef struct abut_recur_row {
    double end;             /* of x' */
    double x, v, a, acc, target;
    double past_x[ABUT_PAST], past_v[ABUT_PAST];
} abut_recur_row;

/* still, v: of free nodes and of prescribed ones; a: of free nodes (Newmark). */
typedef struct abut_recur {
    abut_recur_row xhat, still[2], v[2], a;
} abut_recur;

/** Computes the coefficients with solve/integrator.c, one unit input after the other: every scheme there has its transposed map.
 * m: its time step and the numbers of its scheme; force_scale: s_I h^2, or T^2 of a quasi-static step, s^2. */
void abut_recur_of(const abut_model *m, int scheme, double force_scale, abut_recur *r);

/* Bars that the bar of an output adds to. */
typedef struct abut_recur_bars {
    abut_state_bar *start;
    double *end, *acc, *target;     /* [3 nv] */
} abut_recur_bars;
/** Component i of the bars += the coefficients times b, the bar of component i of an output. */
void abut_recur_give(const abut_recur_row *r, size_t i, double b, const abut_recur_bars *to);

/* ---- the backward pass ---- */

/* Scratch of forces.c, kept from step to step.  Zero-filled is empty. */
typedef struct abut_adjoint_forces {
    abut_elastic_memo memo;
    double *lame, *law_lame;    /* [2 nt], [2 nm] */
} abut_adjoint_forces;

enum { ABUT_ADJOINT_PASSES = 9 /* later ones are relaxed */ };

/* One minimisation of a step: its end, its stiffnesses, and the positions at which its friction was frozen. */
typedef struct abut_adjoint_pass {
    double *x;              /* [3 nv] m */
    double kappa, strain_kappa;
    const double *part;     /* [no] parts of kappa; NULL: 1 */
    const double *from;     /* [3 nv] m: x of the pass before, or of the start; x itself if friction has converged */
    double from_kappa;      /* of the barrier at `from` */
    const double *from_part;    /* [no] its parts; NULL: 1 */
} abut_adjoint_pass;

struct abut_adjoint {
    abut_adjoint_options opt;
    const abut_model *model;
    abut_solve_options solve;   /* of replays */
    abut_model with;        /* the model with their tolerance and passes */
    abut_stepper s;
    abut_report report;     /* scratch for the stepper; its contents are ignored */
    abut_adjoint_system system;
    abut_adjoint_forces forces;
    abut_frozen_list frozen;
    abut_parameter_bar bars;
    abut_recur recur;
    struct {
        abut_state_bar start;           /* bars of the start of the step */
        double *end, *next, *acc, *target;  /* [3 nv] bars of x', of the pass before, of accelerations, of targets */
        double *p, *g, *u;              /* [3 nv] adjoint, scratch */
        double *q;                      /* [3 nv] derivative of Newmark's a' by gradients of contact, times the bar of a' */
    } work;
    struct {
        int n;                          /* of this step */
        int again;                      /* 1: they were solved again, because the frame does not have them */
        double *start_part;             /* [no] parts of kappa where the friction of the first was frozen */
        abut_adjoint_pass of[ABUT_ADJOINT_PASSES];
    } passes;
};

/** Freezes the friction contacts of a pass, for the objective and in a->frozen. */
ABUT_MUST_USE abut_status abut_adjoint_freeze(abut_adjoint *a, const abut_adjoint_pass *pass, abut_err *err);
/** Sets the objective to the end of a pass, with the stiffnesses and contacts there: *at, and its gradient F in work.g. */
ABUT_MUST_USE abut_status abut_adjoint_arrive(abut_adjoint *a, const abut_adjoint_pass *pass, abut_at *at, abut_err *err);
/** Goes back through one pass: from work.end, bar of its end, to work.next, bar of the positions at which its friction was
 * frozen; adds to the other bars.  converged: its friction was frozen at its own end. */
ABUT_MUST_USE abut_status abut_adjoint_pass_back(abut_adjoint *a, const abut_adjoint_pass *pass, int converged,
                                                 abut_adjoint_report *rep, abut_err *err);

void abut_adjoint_forces_clear(abut_adjoint_forces *f);
/** a->bars += scale q^T d(grad Psi)/dtheta at `at`, for the parameters of tets, springs, attachments, hinges, rods, shells and
 * their pressure; tet/shear and tet/lame by the number of a tet in the caller's model.  q[3 nv].  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_adjoint_forces_back(abut_adjoint *a, const abut_at *at, const double *q, double scale,
                                                   abut_err *err);
/** Adds the drag of wind in a step that ends at x[3 nv] with the adjoint work.p: to a->bars, and to bars of x_n through the area
 * of triangles at x_n. */
void abut_adjoint_drag_back(abut_adjoint *a, const double *x);
/** Damping, w p.C u with C = a M + b K and K taken at x_n: bars of a, b, masses, moduli, and of x_n through K.
 * u[3 nv] = x' - x_damp.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_adjoint_damping_back(abut_adjoint *a, const double *u, abut_err *err);
/** Sums bars of elements to bars of materials and objects; x_bar[3 nv]: bar of the start. */
void abut_adjoint_sum(abut_adjoint *a, const double *x_bar);

#endif
