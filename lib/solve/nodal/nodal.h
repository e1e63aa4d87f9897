/* Time steps of implicit Euler with hard contact and exact Coulomb friction: no barrier, no smoothing, nothing lagged.
 *
 *     minimise E(x_n + h v)/h^2 subject to Signorini's and Coulomb's laws of all contacts
 *
 * E is the objective of solve/objective.h without contact and friction.  It is linearised as often as the options say
 * (projected Newton), at v_k
 *
 *     A v = f + B^T r,   A = d2E/dx2 projected,   f = A v_k - (dE/dx)/h
 *
 * or its elements are split off (abut_split); and each linear problem is solved by ADMM (solve/nodal/coulomb.h),
 * with contacts that are near at the start of the step or met on the motion (contact/touch_find.h).  (Daviet 2020, 4.4, 6.2,
 * algorithm 2.)
 *
 * Velocities of contacts are linear and their normals those of the start, so the end of a step may intersect: it has to be
 * judged before it is written. */
#ifndef ABUT_SOLVE_NODAL_NODAL_H
#define ABUT_SOLVE_NODAL_NODAL_H

#include "contact/touch_find.h"
#include "solve/direction/matrix.h"
#include "solve/direction/newton.h"
#include "solve/local_global/admm.h"
#include "solve/nodal/coulomb.h"
#include "solve/options.h"
#include "solve/step/measures.h"
#include "solve/stepper.h"
#include "sparse/bsr.h"

/* Nodes that contacts can move: the matrix connects them with a node that has a weight.  The others sleep: iterations of ADMM do
 * not change their equations, so they keep the velocities of the first iteration, to the bit. */

/* Owns its arrays.  Zero-filled is empty. */
typedef struct abut_components {
    int32_t rows;
    int32_t *of;                /* [rows] the component of each row of the matrix: the number of its first row */
    uint8_t *wanted;            /* [rows] 1: of a component that is awake */
    uint8_t *woken;             /* [rows] of a component, at its first row */
    abut_node_list awake;       /* nodes of those rows, ascending */
    int32_t *body;              /* [nodes] the component of each node's row; 0 where it does not move */
    double *inertia;            /* [rows][9] kg: the sum of a component's blocks, at its first row: its mass times the identity,
                                 * and more if it is held */
} abut_components;

/** Finds the components of the pattern of A; all sleep.  nodes: how many may be awake.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_components_find(abut_components *c, const abut_bsr *A, int32_t nodes, abut_err *err);
/** Wakes the component of a row, from the next abut_components_list on. */
void abut_components_wake(abut_components *c, int32_t row);
/** Lists the nodes that are awake.  row[nodes]: row of each node, -1: it does not move. */
void abut_components_list(abut_components *c, const int32_t *row, int32_t nodes);
/** Returns the inertia of a translation of the component of a row, kg: a third of the trace. */
double abut_components_mass(const abut_components *c, int32_t row);
void abut_components_clear(abut_components *c);

/* Elasticity by ADMM in place of Newton's method: the energies are split by elements, and contact is another constraint of the
 * same iterations (Daviet 2020, 6.1, 7.4; Overby et al. 2017):
 *
 *     z_e, u_e of every element at x = x_n + h v      solve/local_global/admm.h
 *     (A + W) v = f + W (p + lambda),    A = M + h^2 sum D^T K D constant
 *     f = A v - r/h,    r = M (x - xhat) + h^2 sum D^T K (D x - z + u)
 *     p and lambda by the law of contact              solve/nodal/coulomb.h
 *
 * The twist of curved rods couples all bends of a rod, so their energy U is not split but majorised in every iteration: r has
 * h^2 dU/dx at x, and A has h^2 C, where C of straight rods, several times as stiff, exceeds the second derivatives of U.  At a
 * fixed point U itself balances (Hunter and Lange 2004).
 *
 * The first iterations run without contact; they continue after each detection of contacts, all with the same A.  The residual
 * that ends them includes, besides that of contact, |D x - z| and the change of z.  A step begins with multipliers u that balance
 * the forces of its elements at the start, so no state is kept between steps. */

/* Zero-filled is empty. */
typedef struct abut_split {
    abut_admm admm;
    double *r;              /* [3 nv] kg m */
    int32_t *row;           /* [4 n] of the corners of thin elements */
    double *beyond;         /* [ABUT_PACKED n] (energy/codim_elements.h) */
} abut_split;

/** Fails  ABUT_E_FORMAT the model has elements of high order, fibres, or a term that is not split (names it); ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_split_init(abut_split *s, const abut_objective *p, abut_err *err);
void abut_split_clear(abut_split *s);

/** Begins a step, with the variables at x[3 nv], of finite energy. */
void abut_split_begin(abut_split *s, const abut_objective *p, const double *x);
/** Sums A, with the order of its factor; x[3 nv]: positions of nodes. */
ABUT_MUST_USE abut_status abut_split_matrix(abut_split *s, const abut_objective *p, const double *x, abut_newton_matrix *A,
                                            abut_ordering *order, abut_err *err);
/** Updates the variables of the elements at x, and s->r; *left, m: their residual.
 * Fails  ABUT_E_NUMERIC an element has no minimum, a curved rod at x no finite energy */
ABUT_MUST_USE abut_status abut_split_local(abut_split *s, const abut_objective *p, const double *x, double *left,
                                           abut_arena *scratch, abut_err *err);

typedef struct abut_nodal_options {
    int newton;             /* linearisations of a step; 2 */
    int split;              /* 1: elasticity by ADMM (abut_split), without linearisations */
    abut_coulomb_options admm;  /* 100 iterations of 10 sweeps, 3e-4, 0.01, every 5 */
    double reserve;         /* m: gap that contacts keep beyond their thickness; 0: half of dhat */
    double beta, sigma;     /* of weights; 25, 1e-3 */
    int everywhere;         /* 1: every node has a weight, as published; 0: nodes of contacts alone */
    int elastic;            /* 1: the step takes v, 0: p */
    double compliance;      /* N/m: stiffness of contacts that scripts or a gap below the reserve would close; 0: none yields */
    int keeps;              /* 1: a step whose energy has grown is kept */
    const abut_solve_options *user;
} abut_nodal_options;
abut_nodal_options abut_nodal_defaults(void);

/* Zero-filled is empty. */
typedef struct abut_nodal {
    abut_nodal_options opt;
    abut_objective objective;
    abut_point at;              /* point at which E is linearised or evaluated */
    abut_split split;           /* empty without opt.split */
    abut_newton_matrix matrix;  /* A, then A + W */
    abut_newton_solve solve;    /* and the factor of either */
    abut_touch_search search;
    abut_touching contacts;     /* of the last linearisation */
    abut_coulomb_state state;   /* state.v, state.p: velocities at the end of the step */
    abut_instant from;          /* start of the step */
    struct abut_nodal_fields {  /* [3 nv], w and inv_w [nv] */
        double *v0, *acc;       /* m/s, m/s^2: velocities and loads at the start; of held nodes those of the step */
        double *before;         /* m/s: velocities of the frame that the step starts from */
        double *vk;             /* m/s: where E is linearised */
        double *f;              /* N s */
        double *w, *inv_w;      /* kg, 1/kg; 0 where nodes are held */
        double *times;          /* [nv] factors of the weights of each component, in this step */
        double *impulse;        /* N s: of all contacts on each node, at the start and at the end of the step */
        double *bore;           /* N s: impulse of the step before */
        double *end;            /* m/s: velocities of the step that is taken */
        double *x;              /* m: scratch for positions */
        double *y0, *y1;        /* [3 nc] m: collision vertices at the start, and at the end of a motion */
    } of;
    int weighed;                /* the matrix is A + W */
    int rising;                 /* the solution is no step: the merit rises along the last linearisation, or an element at
                                 * its end has no finite energy */
    abut_components parts;      /* of the matrix, and which of them have weights */
    abut_energy_watch watch;
    abut_report *rep;           /* of the step under way; borrowed */
    abut_arena scratch;
} abut_nodal;

/** Fails  ABUT_E_FORMAT another time scheme than implicit Euler, limits of stretches (names it); ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_nodal_init(abut_nodal *s, const abut_model *m, const abut_nodal_options *opt, abut_err *err);
void abut_nodal_clear(abut_nodal *s);

/** Begins a step at a frame.  Fails  ABUT_E_GEOM no step can start from it */
ABUT_MUST_USE abut_status abut_nodal_begin(abut_nodal *s, const abut_arrays *frame, abut_instant at, abut_err *err);
/** Solves the step; s->of.end: its velocities, undefined if s->rising.  Fails  ABUT_E_NUMERIC a matrix has no factor, an element
 * no finite energy at the start */
ABUT_MUST_USE abut_status abut_nodal_solve(abut_nodal *s, abut_report *rep, abut_err *err);
/** Iterates on with the last linear problem, for contacts that the caller has appended to s->contacts since.
 * sweeps: of each projection */
ABUT_MUST_USE abut_status abut_nodal_go_on(abut_nodal *s, int iterations, int sweeps, abut_report *rep, abut_err *err);
/** Iterates on with the last linear problem and the contacts that it has, until s->state.unbalanced is at most `balance`;
 * s->of.end stays.  For measures of a step that is taken. */
ABUT_MUST_USE abut_status abut_nodal_refine(abut_nodal *s, double balance, int iterations, abut_err *err);
/** Sets s->rising if s->of.end leads to an element without finite energy. */
ABUT_MUST_USE abut_status abut_nodal_check(abut_nodal *s, abut_err *err);
/** Solves v = M^-1 rhs at the nodes that move, M the matrix, by the factor at hand, or by iterations to a residual of 1e-8 of
 * rhs; ctx: the abut_nodal. */
abut_status abut_nodal_solve_rows(void *ctx, const double *rhs, double *v, abut_err *err);
/** Solves the rows in an iteration of ADMM.  Conjugate gradients begin at state.v_old, and end if the error of each velocity is
 * at most 1e-4 of state.delta, the change of the last iteration; the first has the goal above.  (Daviet 2020, 6.2.5) */
abut_status abut_nodal_solve_iteration(void *ctx, const double *rhs, double *v, abut_err *err);
/** x[3 nv], m: positions at the end of the step. */
void abut_nodal_end(const abut_nodal *s, double *x);
/** Returns the step that the contacts of s->contacts are for. */
abut_touch_step abut_nodal_touch_step(const abut_nodal *s);
/** Writes the next frame into out (cleared first), and its figures into the report. */
ABUT_MUST_USE abut_status abut_nodal_put_frame(abut_nodal *s, const abut_arrays *carry, abut_arrays *out, abut_report *rep,
                                               abut_err *err);
/** Adds to the frame `out` of a step that is solved what `with` names (ABUT_WITH_*):
 *     CONTACTS   touch/: every contact that the step was solved with, in the order in which it was found
 *     FORCES     node/contact-force, node/friction-force: sums of w r_N n / h and w r_T / h, N, of all nodes;
 *                half-space/contact-force, half-space/friction-force: minus the sums of the contacts of each half-space
 *                node/reaction-force: residual of the balance of momentum at prescribed nodes (solve/step/measures.h)
 *     ENERGIES   energy/kinetic, energy/elastic, energy/gravity, momenta, and work/friction = sum r_T . u_T, J
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_nodal_put_record(abut_nodal *s, int with, abut_arrays *out, abut_err *err);
/** Writes object/contact-error: the error of the sum of contact and friction forces on each object, against the last linear
 * problem solved exactly.  Reports the largest.  Called last, because the impulses of the contacts change.
 * Fails  as abut_nodal_refine */
ABUT_MUST_USE abut_status abut_nodal_put_error(abut_nodal *s, abut_arrays *out, abut_report *rep, abut_err *err);

#endif
