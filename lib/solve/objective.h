/* The objective of one time step, without a method to minimise it: a list of terms (energy/term.h), the unknowns, the weights
 * of the time scheme.
 *
 *     E(x) = 1/2 |x - xhat|^2_M + psi Psi(z(x)) + kappa B(x) + D(x) + R(x) + A(x)          kg m^2
 *
 * inertia (quasi-static: minus the work of the loads), elasticity (springs, attachments and codimensional elements with it),
 * contact barrier, lagged friction, Rayleigh damping and the drag of wind, and the augmented Lagrangian of prescribed nodes that
 * could not be moved to their targets at once (Li 2020, 3.3, 4.5, 4.15, App. E).  xhat, psi and z depend on the time scheme
 * (solve/integrator.h); implicit Euler: xhat = x_n + h v_n + h^2 g, psi = h^2, z = x. */
#ifndef ABUT_SOLVE_OBJECTIVE_H
#define ABUT_SOLVE_OBJECTIVE_H

#include "energy/term.h"
#include "solve/integrator.h"

typedef struct abut_objective {
    abut_reordered *reordered;  /* of the model that was given */
    const abut_model *model;    /* the given model, with its tets reordered for the solver: abut_objective_tet */
    abut_collmesh cm;
    abut_terms terms;
    double stiffness;           /* J: rounding level of the terms, over the machine precision */
    struct abut_object_sizes {
        double *stiffness;      /* [no] J: its part of each object, which owns the next three */
        double *length, *mass;  /* [no] twice the distance of the farthest node from their mean at rest; kg, 0: an obstacle */
        double *kappa_part;     /* [no] the part of kappa of contacts of each object, of two the larger; 1: an obstacle */
    } object;

    abut_weights w;             /* of the scheme of this step: set by abut_objective_weigh */
    abut_term_step step;        /* view for the terms: the arrays below and the weights */
    double *xn, *xhat;          /* [3 nv] start and inertial target of the step */
    double *still;              /* [3 nv] position of a node at rest after the step: friction opposes x - still */
    double *target;             /* [3 nv] targets of prescribed nodes */
    uint8_t *held;              /* [nv] prescribed in this step */

    int changes;                /* number of changes of the objective within a step: values of earlier versions are void */
    int32_t *row;               /* [nv] unknown of a node, -1 when it does not move */
    int32_t nrow;
    double *z;                  /* [3 nv] positions at which elasticity is evaluated, if that is not x */
    int nsets, lasting;         /* element sets of terms; those before number `lasting` stay for the whole step */
    struct abut_term_sets *sets;    /* their rows and values */
} abut_objective;

/* Values of the terms, kg m^2. */
typedef struct abut_energy {
    double e[ABUT_TERMS_MAX];   /* in the order of the list */
    double sum, noise;          /* their sum; two sums that differ by less are equal in double precision */
} abut_energy;

/** own: terms of a program's own, which are borrowed (energy/term.h); NULL: none. */
ABUT_MUST_USE abut_status abut_objective_init(abut_objective *o, const abut_model *model, const abut_own_term *own,
                                              abut_err *err);
void abut_objective_clear(abut_objective *o);

/** Returns the number of tet t of o->model in the given model; -1 for -1. */
static inline int32_t abut_objective_tet(const abut_objective *o, int32_t t) { return t < 0 ? -1 : o->reordered->number[t]; }

/** Returns 1 if a term is of that kind. */
int abut_objective_has(const abut_objective *o, abut_term_kind kind);
/** Sets the weights of the time scheme of the step. */
void abut_objective_weigh(abut_objective *o, abut_weights w);
/** Begins a step at `time`, s, whose weights, xn, target and held are set.  Fails  as `begin` of the terms */
ABUT_MUST_USE abut_status abut_objective_begin(abut_objective *o, double time, abut_err *err);
/** Makes v[3 nv] of rigid objects that no script moves a rotation in the step from xn, for x + h v stretches what turns. */
void abut_objective_rotate(const abut_objective *o, double *v);
/** Read the state of the terms from a frame, between abut_objective_weigh and abut_objective_begin; write it into a frame.
 * Fail  as `load` and `store` of the terms */
ABUT_MUST_USE abut_status abut_objective_load(abut_objective *o, const abut_frame *f, const abut_term_frame *as, abut_err *err);
ABUT_MUST_USE abut_status abut_objective_store(const abut_objective *o, const abut_term_frame *as, abut_arrays *out,
                                               abut_err *err);
/** Renumbers the unknowns, along the tets: free nodes, and prescribed ones too while the augmented Lagrangian is on. */
void abut_objective_number(abut_objective *o);

/** Returns an iterate for the terms: y = W x, pairs the contacts there; both NULL for terms without contact.  Elasticity is
 * evaluated at x or, depending on the scheme, at o->z, valid until the next call. */
abut_at abut_objective_at(const abut_objective *o, const double *x, const double *y, const abut_pairs *pairs);

/** Evaluates all terms.  e->sum is +inf if the point is infeasible. */
ABUT_MUST_USE abut_status abut_objective_energy(const abut_objective *o, const abut_at *at, abut_energy *e, abut_arena *scratch,
                                                abut_err *err);
/** *sum of the terms whose kind k has its bit 1 << k in kinds. */
ABUT_MUST_USE abut_status abut_objective_energy_of(const abut_objective *o, const abut_at *at, int kinds, double *sum,
                                                   abut_arena *scratch, abut_err *err);
/** Sets e->sum and e->noise from e->e. */
void abut_objective_sum(const abut_objective *o, abut_energy *e);
/** Sets e->e of the term of that name to a value computed elsewhere.  The model must have it. */
void abut_objective_put(const abut_objective *o, abut_energy *e, const char *term, double value);

/** g[3 nv], kg m, of the terms whose kind k has its bit 1 << k in kinds; rows of nodes that do not move are zero, and so are its
 * products with locked combinations. */
ABUT_MUST_USE abut_status abut_objective_gradient(const abut_objective *o, const abut_at *at, int kinds, double *g,
                                                  abut_arena *scratch, abut_err *err);
/** g[3 nv] += that gradient at every node, prescribed or not. */
ABUT_MUST_USE abut_status abut_objective_gradient_add(const abut_objective *o, const abut_at *at, int kinds, double *g,
                                                      abut_arena *scratch, abut_err *err);
/* ---- the Hessian, projected: element sets and a diagonal, by rows of unknowns ---- */

/** Returns the weight of a term in the energy (order 0), the gradient (1), the Hessian (2), for callers that sum over terms. */
double abut_objective_weight(const abut_objective *o, const abut_term_ops *ops, int order);

/** Makes the element sets from number `first` (0, or o->lasting) on, into the same places of sets[ABUT_SETS_MAX]; *n: the number
 * of all sets.  Lasting sets come first, then contacts, then others, each in the order of their terms.  Neighbours that do not
 * last are fused into one set if their elements have one shape.  Rows and values belong to o, valid until the next call; fused
 * sets are made at `at`, whose arrays must stay until then.
 * Fails  as `elements` of the terms; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_objective_sets(const abut_objective *o, const abut_at *at, int first, abut_elements *sets, int *n,
                                              abut_err *err);
/** diag[nrow], kg: diagonal of the Hessian beside element matrices, for each row times the identity. */
void abut_objective_diagonal(const abut_objective *o, double *diag);

/** Psi(x), J: sum of the energies that depend on positions alone; +inf if x is infeasible. */
ABUT_MUST_USE abut_status abut_objective_potential(const abut_objective *o, const double *x, double *psi, abut_arena *scratch,
                                                   abut_err *err);
/** g[3 nv] += scale dPsi/dx as the scheme takes it at an iterate (elasticity at z), of every node. */
ABUT_MUST_USE abut_status abut_objective_potential_gradient(const abut_objective *o, const abut_at *at, double scale, double *g,
                                                            abut_arena *scratch, abut_err *err);
/** f[3 nv] -= C v, N, with the damping of this step; v[3 nv] m/s. */
ABUT_MUST_USE abut_status abut_objective_damping_force(const abut_objective *o, const double *v, double *f, abut_arena *scratch,
                                                       abut_err *err);

/** Lowers lim->alpha to the bounds of the terms along p[3 nv]; bounds of contact are in contact/step_bound.h. */
void abut_objective_limit(const abut_objective *o, const abut_at *at, const double *p, abut_limit *lim);

/** Returns 1 if x[3 nv] violates a bound of a term; *w: the words of the first. */
int abut_objective_outside(const abut_objective *o, const double *x, abut_bound_words *w);

/* Each calls the operation of that name (energy/term.h) of all terms that have it. */
void abut_objective_start(const abut_objective *o);
void abut_objective_majorant_forget(const abut_objective *o);
void abut_objective_majorant_learn(const abut_objective *o, const abut_at *at, const double *p);
int abut_objective_majorant_is_exact(const abut_objective *o);
int abut_objective_ahead(const abut_objective *o, const abut_at *at, const double *p);
void abut_objective_ahead_forget(const abut_objective *o);
void abut_objective_ahead_gradient(const abut_objective *o, const abut_at *at, double *g);
void abut_objective_forecast_start(const abut_objective *o, const abut_at *at);
void abut_objective_forecast_step(const abut_objective *o, const abut_at *from, const double *to, double alpha);
int abut_objective_forecast_is_fair(const abut_objective *o, const abut_at *at);
/** Uses the Hessians of the last abut_objective_sets, which must be at `at`. */
ABUT_MUST_USE abut_status abut_objective_correction(const abut_objective *o, const abut_at *at, const double *d,
                                                    const double *meant, double *g, double *cost, abut_arena *scratch,
                                                    abut_err *err);
/** Counts a change if a term becomes stiffer. */
ABUT_MUST_USE abut_status abut_objective_stiffen(abut_objective *o, const abut_at *from, const abut_at *to, abut_arena *scratch,
                                                 abut_err *err);

/** *kappa: stiffness with which barrier and other forces balance best on the free nodes, kg/m^2; of either sign, 0 without
 * contact. */
ABUT_MUST_USE abut_status abut_objective_balance(const abut_objective *o, const abut_at *at, double *kappa, abut_arena *scratch,
                                                 abut_err *err);
/** Sets the stiffness of the barrier for the start of a step.  A cluster is a set of bodies joined by contacts.  In each cluster
 * the stiffness balances barrier and other forces on the free nodes (Li 2020, App. F), within bounds: kappa-min, and kappa-max of
 * a scene of these bodies alone.  Bodies without contact have the lower bound.  Kappa is the largest, the others are parts of it.
 * If the model has no masses of bodies, all are one cluster.  Of contact weighed by area it is contact/pressure h_force^2,
 * so that its force does not depend on the time step, or abut_barrier_start_by_area.
 * pairs  the contacts;  gc, ge  [3 nv] gradients of the barrier at kappa 1 with all parts 1, and of the other terms; NULL: bodies
 * with contact keep their stiffness, within bounds
 * *changed 1: parts are not what they were, contacts must be found again.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_objective_set_kappa(abut_objective *o, const abut_pairs *pairs, const double *gc, const double *ge,
                                                   int *changed, abut_arena *scratch, abut_err *err);
/** Sets the parts of kappa to part[no], of a frame; NULL: 1.  Counts a change. */
ABUT_MUST_USE abut_status abut_objective_part(abut_objective *o, const double *part, abut_err *err);

/* ---- points ---- */

/* A point at which the objective is evaluated: positions, contacts, energies, gradient, each computed once and kept.  A search
 * has three (here, trial, kept) and exchanges them.
 *
 * Cached values belong to one stamp (positions) and one version (objective): setting positions drops all of them, a change of
 * the objective drops energies and gradient. */
enum { ABUT_HAS_CONTACTS = 1, ABUT_HAS_ENERGY = 2, ABUT_HAS_GRADIENT = 4, ABUT_IS_TOUCHING = 8 /* its energy is +inf */ };
enum { ABUT_POINTS = 8 /* of one objective at most */ };

/* Owns its arrays.  Zero-filled is empty. */
typedef struct abut_point {
    uint64_t stamp;         /* new after each abut_point_set; differs from stamps of other points of the objective */
    uint64_t version;       /* of the objective, for energies and gradient */
    unsigned has;           /* ABUT_HAS_* */
    double *x, *z, *y;      /* [3 nv], [3 nv], [3 nc] m; z: for elasticity, if that is not at x; y = y0 + W x */
    abut_pairs pairs;       /* contacts at y */
    abut_energy e;          /* kg m^2; its sum is +inf if the point is infeasible */
    double *g;              /* [3 nv] kg m, 0 where nodes do not move */
} abut_point;

/** which: 0 .. ABUT_POINTS - 1, another for each point of the objective.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_point_init(abut_point *p, const abut_objective *o, int which, abut_err *err);
void abut_point_clear(abut_point *p);

/** x = from + alpha d (d NULL: from, which may be p->x, written to by the caller), z and y with it; has = 0. */
void abut_point_set(abut_point *p, const abut_objective *o, const double *from, double alpha, const double *d);

/** Drops values of an earlier version of the objective, and returns the bits of `what` that are missing. */
unsigned abut_point_missing(abut_point *p, const abut_objective *o, unsigned what);

/** Finds the contacts at p, unless they are known, among the candidates of a sweep along a line through p.
 * Fails  ABUT_E_GEOM something touches (names it); ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_point_contacts(abut_point *p, const abut_objective *o, const abut_candidates *cand, abut_err *err);

/** Computes the missing values of `what`, and contacts for energies and gradients.  cand: as above; NULL: contacts are known.
 * If a pair touches, the sum is +inf, without a failure, and the point has no gradient.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_point_evaluate(abut_point *p, const abut_objective *o, unsigned what, const abut_candidates *cand,
                                              abut_arena *scratch, abut_err *err);
/** Sets missing energies to e, computed elsewhere (solve/device); NULL: a pair touches. */
void abut_point_put_energy(abut_point *p, const abut_energy *e);

/** Returns the point for the terms. */
abut_at abut_point_at(const abut_point *p, const abut_objective *o);
/** Exchanges all values of two points. */
void abut_point_swap(abut_point *a, abut_point *b);

#endif
