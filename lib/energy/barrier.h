/* The contact barrier: b(D) of a law of energy/contact_laws.h with D = d^2 - xi^2, Dhat = (xi + dhat)^2 - xi^2, zero beyond
 * xi + dhat, infinite at the thickness xi of the pair (Li 2020, 4.6, 5.5, App. B, J).  One contact alone is in
 * energy/barrier_pair.h; here are the sums over all of them.
 *
 * pairs    the contacts at y (contact/pairs.h): kind, multiplicity and squared distance of each are taken as stored
 * y        collision vertices, m; dhat, thickness and the law come from cm and its model
 * kappa    barrier stiffness, kg/m^2 */
#ifndef ABUT_ENERGY_BARRIER_H
#define ABUT_ENERGY_BARRIER_H

#include "base/arena.h"
#include "contact/pairs.h"
#include "energy/barrier_pair.h"

/* The Hessians of contacts that a solver may take (step --barrier-hessian).  One is an abut_barrier_hessian_ops and its place in
 * the table of barrier_hessians.c.
 *
 * d is the distance of a contact, thickness included, v its gradient: v_i = w_i n of the closest-point weights w and the unit
 * normal n.  b_d = 2 d b' and b_dd = 4 d^2 b'' + 2 b' are the derivatives of the barrier (energy/contact_laws.h) along d.  The
 * Hessian of a plain contact is
 *
 *     b_dd v v^T + b_d Hess d,    b_dd > 0 > b_d,
 *
 * whose first term is the Gauss-Newton Hessian (Huang et al. 2024, GIPC, 5.3). */
typedef struct abut_barrier_hessian_ops {
    const char *name, *help;
    int indefinite;     /* 1: its matrices may be */
    int rank;           /* an element has so many terms of rank one (sparse/elements.h); 0: it is packed */
    int kernel;         /* ABUT_HESSIAN_*: that of a GPU */
    int filters;        /* curvature is taken at `least` where the gap is smaller: contact.barrier.filter (GIPC, Eq. 23) */
    /** scale[n] times the matrices of n <= ABUT_LANES plain contacts of one kind at once, x[n][12], laws of one number, one after
     * the other into val; least m.  rank > 0: scale >= 0.  Blocks of unused corners are not written, or 0. */
    void (*plain)(const abut_barrier_law *law, double least, abut_stencil kind, size_t n, const double (*x)[12],
                  const double *scale, double *val);
    /** Matrices of mollified edge pairs, as in `plain`; eps_x[n] m^4; each pair has abut_mollified_elements elements. */
    void (*mollified)(const abut_barrier_law *law, double least, size_t n, const double (*x)[12], const double *eps_x,
                      const double *scale, double *val);
    /** Curvature along v of a contact at d, over kappa, m^2; a half-space has no other.  NULL: b_dd. */
    double (*normal)(abut_barrier_law law, double least, double d);
} abut_barrier_hessian_ops;

/* A choice among them. */
typedef struct abut_barrier_curvature {
    const abut_barrier_hessian_ops *ops;
    double least;       /* m; 0: no filter */
} abut_barrier_curvature;

/* The first is the default; NULL at the end. */
extern const abut_barrier_hessian_ops *const abut_barrier_hessians[];
/** more: others beside these, NULL at the end; NULL: none.  Fails  ABUT_E_ARG there is none of that name (lists the names) */
ABUT_MUST_USE abut_status abut_barrier_hessian_find(const char *name, const abut_barrier_hessian_ops *const *more,
                                                    const abut_barrier_hessian_ops **ops, abut_err *err);

/** Elements of a mollified pair, whose Gauss-Newton matrix has rank 2. */
static inline size_t abut_mollified_elements(const abut_barrier_hessian_ops *ops) { return ops->rank == 1 ? 2 : 1; }

/** The curvature along v of a contact at d. */
double abut_barrier_normal(const abut_barrier_curvature *c, abut_barrier_law law, double d);

/* ---- sums over contacts ---- */

/** E = kappa * sum mult * e * b over pairs and half-spaces, kg m^2, e the edge-edge mollifier (1 for plain pairs).
 * +inf if a contact is at its thickness.  scratch: one double per block of contacts. */
ABUT_MUST_USE abut_status abut_barrier_energy(const abut_collmesh *cm, const abut_pairs *pairs, const double *y,
                                              double kappa, double *energy, abut_arena *scratch, abut_err *err);
/** g[3 nv] += kappa * dE/dx on nodes (W^T applied); same bits for any thread count.  scratch: 12 doubles per contact, and 3 per
 * vertex where W is no selection. */
ABUT_MUST_USE abut_status abut_barrier_gradient(const abut_collmesh *cm, const abut_pairs *pairs, const double *y,
                                                double kappa, double *g, abut_arena *scratch, abut_err *err);
/** Number of elements of the Hessians c: one for a plain pair, one or two for a mollified pair, one for a half-space contact. */
size_t abut_barrier_elements(const abut_barrier_curvature *c, const abut_pairs *pairs);
/** Returns the first element of contact i, and the numbers that each element has. */
size_t abut_barrier_element_of(const abut_barrier_curvature *c, const abut_pairs *pairs, size_t i);
size_t abut_barrier_element_size(const abut_barrier_curvature *c);
/** slot[4 * elements]: slots of the elements' vertices (contact/collision_mesh.h), -1 unused. */
void abut_barrier_slots(const abut_collmesh *cm, const abut_pairs *pairs, const abut_barrier_curvature *c, int32_t *slot);
/** val: matrices of the elements (sparse/elements.h), kappa included: terms of rank one, or packed matrices, whose blocks of
 * unused corners are not written, or 0. */
void abut_barrier_hessian_by(const abut_collmesh *cm, const abut_pairs *pairs, const abut_barrier_curvature *c, const double *y,
                             double kappa, double *val);
/** Normal force magnitude of contact i, N, for a step of length h: -kappa e b' 2 d mult / h^2 (i >= n: half-space i - n); d is
 * the whole distance, thickness included.
 * A scheme that weighs forces with s h^2 instead of h^2 passes h sqrt(s). */
double abut_barrier_force(const abut_collmesh *cm, const abut_pairs *pairs, const double *y, double kappa, double h, size_t i);
/** The law of contact i; of half-space contact i, with D there. */
abut_barrier_law abut_barrier_law_of_contact(const abut_collmesh *cm, const abut_pairs *pairs, size_t i);
abut_barrier_law abut_barrier_law_of_plane(const abut_collmesh *cm, const abut_pairs *pairs, size_t i, double *D);
/** Derivative of that force by the distance, N/m, of a plain contact. */
double abut_barrier_force_slope(const abut_collmesh *cm, const abut_pairs *pairs, double kappa, double h, size_t i);

/* The factors F of contact by area that vary (barrier_factors.c). */

/** f += kappa w b grad F, in slots. */
void abut_barrier_factors_gradient(const abut_collmesh *cm, const abut_pairs *pairs, const double *y, double kappa, double *f);
/** Adds to the packed elements val of contacts r the positive semidefinite part of kappa w b times the Hessian of F in the
 * corners of the contact, where that is large: crossings at the ends of edges. */
void abut_barrier_factors_hessian(const abut_collmesh *cm, const abut_pairs *p, const abut_barrier_curvature *c, const double *y,
                                  double kappa, abut_range r, double *val);

/* The contact barrier as a term, and its stiffness. */

struct abut_terms;
struct abut_at;
struct abut_impact;

/* Contacts that have bounded directions of this minimisation.  Newton's model of a barrier is too soft for them: its force grows
 * with 1/gap, the model's by the curvature at the present gap, 0 beyond dhat: directions lead through them again and again.
 * They have a further curvature along their normal in the matrix, without energy or force: with the force to which the last
 * direction led, the next one closes such a gap to F/force of it, F the present force, and leaves at least a quarter.  In an
 * interior point method these forces are the dual variables, and force/gap is the primal-dual curvature (Nocedal and Wright 2006,
 * 19.3). */
typedef struct abut_blocked {
    int32_t vert[4], plane;     /* of an abut_impact */
    abut_stencil kind;
    int is_new;                 /* 1: no direction has met its curvature yet */
    double force;               /* kg m: newtons times h_force^2 */
} abut_blocked;

typedef struct abut_barrier_state {
    double kappa;               /* kg/m^2 */
    double in_frame;            /* kappa of the frame that was loaded; NaN: the frame has none */
    const abut_model *model;
    const abut_collmesh *cm;
    abut_barrier_curvature curvature;
    int32_t *slot;              /* [4 cap] of the elements at the last point (contact/collision_mesh.h) */
    size_t cap;
    abut_blocked *blocked;      /* [n_blocked] sorted, owned */
    size_t n_blocked, cap_blocked;
    int bends;                  /* 1: the second derivative has that of the factors of contact by area: 0 in solvers */
} abut_barrier_state;

/** Returns the barrier of the list, which every model has. */
abut_barrier_state *abut_barrier_state_of(const struct abut_terms *terms);
/** Chooses the Hessians of the barrier, NULL: projected; with the filter of the model.
 * Fails  ABUT_E_FORMAT the model has a filter, which these Hessians do not support */
ABUT_MUST_USE abut_status abut_barrier_choose(abut_barrier_state *b, const abut_barrier_hessian_ops *ops, abut_err *err);
/** g[3 nv] += the gradient at kappa = 1. */
ABUT_MUST_USE abut_status abut_barrier_unit_gradient(const abut_barrier_state *b, const struct abut_at *at, double *g,
                                                     abut_arena *scratch, abut_err *err);
/** Adds n contacts that bound a direction p[3 nv] from `at`.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_barrier_block(abut_barrier_state *b, const struct abut_at *at, const double *p,
                                             const struct abut_impact *hit, size_t n, abut_err *err);
/** Returns kappa for the next iteration: doubled, up to `most`, if the smallest gap, m, was below `below`, still is, and has lost
 * more than a tenth (Li 2020, App. F: any part), which one that rests under a load does not; else kappa. */
double abut_barrier_stiffer(double kappa, double most, double below, double gap_before, double gap_after);
/** kappa at the start of a step with that many contacts, weighed by area: `least`, which the pressure of the scene makes, or half
 * of that of the frame if it is more; keeps 1: all of it. */
double abut_barrier_start_by_area(const abut_barrier_state *b, double least, int keeps, size_t contacts);
/** Sets b->kappa to abut_barrier_stiffer with the bounds of its model; 1: it has grown. */
int abut_barrier_stiffen(abut_barrier_state *b, double gap_before, double gap_after);

#endif
