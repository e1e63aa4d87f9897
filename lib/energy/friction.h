/* Lagged smoothed Coulomb friction (Li 2020, 4.5, App. H, I): D(x) = sum mu lambda h^2 f0(|u|), u = P^T sum w_i (x_i - x_n,i).
 *
 * Normal forces lambda, weights w and sliding planes P are frozen, so D is an ordinary potential, and a convex one. */
#ifndef ABUT_ENERGY_FRICTION_H
#define ABUT_ENERGY_FRICTION_H

#include "base/arena.h"
#include "contact/pairs.h"

/* How the law is smoothed about rest.  A scheme that weighs forces with s h^2 has h sqrt(s) here, and eps_v / sqrt(s), so
 * that the threshold w = eps_v h stays. */
typedef struct abut_stiction {
    double h;           /* s */
    double eps_v;       /* m/s: slower sliding counts as sticking */
    int smoothing;      /* number of the law: ABUT_FRICTION_C1 (published), ... (energy/contact_laws.h) */
} abut_stiction;

/** f0, m; f1_over_y = f0'/y, 1/m, finite at y = 0; f2 = f0'', 1/m (NULL to skip), of a law of energy/contact_laws.h.  w > 0, m.
 * f1_over_y and f2 are never negative.  The published laws have f0 = y for y >= w, below it (Li 2020, App. I)
 *     c0  y^2/(2 w) + w/2      c1  -y^3/(3 w^2) + y^2/w + w/3      c2  y^4/(4 w^3) - y^3/w^2 + 3 y^2/(2 w) + w/4 */
double abut_friction_f0(int smoothing, double y, double w, double *f1_over_y, double *f2);

/* Frozen contacts, which the FRAME keeps under lag/.  Owned here; zero-filled is empty. */
typedef struct abut_lag {
    size_t n, cap;
    int32_t (*node)[4];     /* nodes, or rows of map; -1 unused */
    double (*weight)[4];    /* closest-point weights */
    double (*basis)[6];     /* two unit tangents */
    double *force;          /* N */
    double *mu;
    const abut_row_map *map;    /* of the collision mesh, borrowed; NULL: it selects nodes */
} abut_lag;

/** Freezes the plain contacts and half-space contacts of pairs at y, except contacts with mu = 0 and mollified edge pairs, whose
 * plane of sliding is not defined.  mu is the coefficient of the friction classes of the two objects, or of the object and the
 * half-space.
 * lag is replaced; on failure (ABUT_E_NOMEM) it is empty. */
ABUT_MUST_USE abut_status abut_lag_freeze(const abut_collmesh *cm, const abut_pairs *pairs, const double *y, double kappa,
                                          double h, abut_lag *lag, abut_err *err);
/** Relaxes `now` towards `before`: forces become w now + (1 - w) before, 0 < w <= 1, with 0 for a contact missing in one list.
 * Weights and bases are those of `now`, or of `before` if missing there.  Contacts are the same if their nodes, and the
 * half-space if any, are.  On failure (ABUT_E_NOMEM) `now` is unchanged. */
ABUT_MUST_USE abut_status abut_lag_relax(abut_lag *now, const abut_lag *before, double w, abut_err *err);
/** per[n][3], N/m: derivative of normal force i by the relative motion of its contact (abut_friction_relative).  Arguments,
 * contacts and their order are those of abut_lag_freeze. */
void abut_lag_slopes(const abut_collmesh *cm, const abut_pairs *pairs, const double *y, double kappa, double h, double (*per)[3]);
/** *change, N: the largest change of a normal force from before to now; a contact of one list alone has 0 in the other.
 * *largest, N: the largest force of both.  Contacts are the same as in abut_lag_relax.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_lag_compare(const abut_lag *now, const abut_lag *before, double *change, double *largest,
                                           abut_err *err);
/** Copies the lag/ arrays of a frame, and puts them into the set of a new one. */
ABUT_MUST_USE abut_status abut_lag_from_frame(const abut_collmesh *cm, const abut_frame *f, abut_lag *lag, abut_err *err);
ABUT_MUST_USE abut_status abut_lag_to_frame(const abut_lag *lag, abut_arrays *set, abut_err *err);
void abut_lag_clear(abut_lag *lag);

/** r[3] = sum w_i q_i, the relative motion of contact i under the displacement q[3 nv]. */
void abut_friction_relative(const abut_lag *lag, size_t i, const double *q, double r[3]);
/** |u| of contact i, m: how far it has slid. */
double abut_friction_slid(const abut_lag *lag, size_t i, const double *x, const double *xn);
/** Whether a contact sticks at x or at y and slides at the other, [3 nv]: has slid less than `threshold`, m, from `still`. */
int abut_friction_turns(const abut_lag *lag, double threshold, const double *still, const double *x, const double *y);

/** D(x), kg m^2, with x_n the positions at the start of the step.  scratch: one double per block of contacts. */
ABUT_MUST_USE abut_status abut_friction_energy(const abut_lag *lag, const abut_stiction *law, const double *x, const double *xn,
                                               double *energy, abut_arena *scratch, abut_err *err);
/** g[3 nv] += dD/dx; same bits for any thread count.  scratch: 3 doubles per contact, and per vertex of a map. */
ABUT_MUST_USE abut_status abut_friction_gradient(const abut_lag *lag, const abut_stiction *law, int32_t nv, const double *x,
                                                 const double *xn, double *g, abut_arena *scratch, abut_err *err);
/** g[3 nh] -= dD/dx of the nodes in contact with each half-space: the gradient of D with respect to a translation of it.  If
 * several half-spaces have one normal, a contact counts for the nearest to its node.
 *
 * x, y     m   positions of nodes and of collision vertices */
void abut_friction_gradient_half_spaces(const abut_lag *lag, const abut_collmesh *cm, const abut_stiction *law, const double *x,
                                        const double *y, const double *xn, double *g);
/** node[n * 4] as in lag, NULL to skip; H[n * ABUT_PACKED] (sparse/elements.h): positive semidefinite by construction,
 * eigenvalues f0'' along u and f0'/y across it, so it needs no projection.  Blocks of unused corners are not written.
 *
 * above    NULL, or [n]: contacts with f0'/y along u, too.  f0 is concave in y^2, so the quadratic model of such a contact lies
 *          above its D everywhere (the majorant of iteratively reweighted least squares; Weiszfeld 1937) */
void abut_friction_hessian(const abut_lag *lag, const abut_stiction *law, const double *x, const double *xn, const uint8_t *above,
                           int32_t *node, double *H);
/** above[i] = 1 if the second-order model of contact i at x lies clearly below its D at x + p (by mu lambda h^2 w/10): between x
 * and x + p the law has a kink that the model does not have. */
void abut_friction_kinks(const abut_lag *lag, const abut_stiction *law, const double *x, const double *xn, const double *p,
                         uint8_t *above);

/* Lagged friction as a term: the frozen contacts, and which of them have a majorant as Hessian.
 *
 * The second derivative of the law does not show the kink between sticking and sliding: a line search along a direction that
 * crosses it backtracks repeatedly.  A contact that the last direction led over its kink gets a majorising Hessian in the next
 * matrix (`above`).  The solution with such a matrix is a descent direction, but its length is no measure of the distance to
 * the minimum. */
struct abut_terms;
struct abut_term_step;

typedef struct abut_friction_state {
    abut_lag lag;           /* frozen contacts */
    const abut_model *model;
    const abut_collmesh *cm;
    uint8_t *above;         /* [cap] the next Hessian of the contact is a majorant */
    size_t n, cap;          /* contacts that `above` covers; 0: no majorants */
} abut_friction_state;

/** Returns the friction of the list, which every model has, perhaps without contacts. */
abut_friction_state *abut_friction_state_of(const struct abut_terms *terms);
abut_lag *abut_lag_of(const struct abut_terms *terms);
/** Exchanges the frozen contacts and others. */
void abut_lag_exchange(const struct abut_terms *terms, abut_lag *lag);
/** Whether any friction coefficient is positive. */
int abut_friction_acts(const abut_model *m);
/** How friction is smoothed in a step. */
abut_stiction abut_stiction_of(const abut_model *m, const struct abut_term_step *step);

#endif
