/* The mass matrix of a model: node/mass on the diagonal, and for tets of order 2 and more the consistent matrix
 *     M_ij = sum over points of density w det J phi_i phi_j        (Ferguson et al. 2023, 4),
 * whose row sums may be zero or negative.  It is equal for x, y and z, and is not stored in streams.  node/mass of nodes of such
 * tets is positive, and is used where one number for a node is needed, never as inertia. */
#ifndef ABUT_ENERGY_MASS_H
#define ABUT_ENERGY_MASS_H

#include "base/arena.h"
#include "geom/lagrange.h"
#include "model/model.h"

struct abut_terms;

/* Borrows the model.  Zero-filled but for the model: node/mass alone. */
typedef struct abut_mass {
    const abut_model *model;
    uint8_t *order;         /* [nv] order of the tets at a node whose row is consistent, else 0; NULL: 0 for all */
    int32_t *first, *col;   /* [nv + 1]: consistent rows, both triangles, columns ascending; other rows are empty */
    double *val;            /* kg */
    int32_t begin[ABUT_ORDER_MAX + 1];      /* first tet of an order; tets of one order are contiguous */
    double *element[ABUT_ORDER_MAX + 1];    /* of each tet of an order M_ab, a <= b, in the order of packed blocks */
} abut_mass;

/** Returns the mass of the list, which every model has. */
const abut_mass *abut_mass_of(const struct abut_terms *terms);

/** Fails  ABUT_E_FORMAT the degree of quadrature of a material is below twice the order; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_mass_init(abut_mass *M, const abut_model *m, abut_err *err);
void abut_mass_clear(abut_mass *M);

/** The order of the tets of a node with a consistent row, 0: node/mass. */
static inline int abut_mass_order(const abut_mass *M, int32_t node) { return M->order ? M->order[node] : 0; }

/** out[3] = (M u)_i of u[3 nv]. */
void abut_mass_row(const abut_mass *M, const double *u, int32_t i, double out[3]);
/** Adds scale times the mass matrices of tets [lo, hi) of an order to their packed matrices (sparse/elements.h). */
void abut_mass_add_elements(const abut_mass *M, int order, double scale, size_t lo, size_t hi, double *val);
/** f[3 nv] = M u. */
void abut_mass_multiply(const abut_mass *M, const double *u, double *f);
/** f[3 nv] becomes M^-1 f, by conjugate gradients scaled by the diagonal, whose condition does not depend on the mesh (A. Wathen,
 * IMA J. Numer. Anal. 7, 1987).  Nodes without consistent row are divided by node/mass; obstacles are unchanged.
 *
 * known  [nv] nodes with consistent rows whose f is the solution already; NULL: none
 * Fails  ABUT_E_NUMERIC they do not converge; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_mass_solve(const abut_mass *M, const uint8_t *known, double *f, abut_arena *scratch,
                                          abut_err *err);

/** acc[3 nv] += M^-1 f of nodes that have mass; f is lost. Fails as abut_mass_solve. */
ABUT_MUST_USE abut_status abut_mass_accelerate(const abut_mass *M, double *f, double *acc, abut_arena *scratch, abut_err *err);

/** Sum of u over the mass, sum_ij M_ij u_j, of the nodes of kind FREE and HANDLE. */
void abut_mass_total(const abut_mass *M, const double *u, double sum[3]);

/* ---- one tet ---- */

/* Prescribed nodes that could not be moved to their targets at once: the augmented Lagrangian
 *     A(x) = sum kap m/2 |x - target|^2 - sqrt(m) lam.(x - target)                         kg m^2
 * over the prescribed nodes; while it is on, these nodes have unknowns (Li 2020, App. E, eq. 4). */
typedef struct abut_lagrangian {
    int on;
    double kap;         /* dimensionless, 1e6 .. 1e8 */
    double *lam;        /* [3 nv] kg^(1/2) m */
} abut_lagrangian;

/** Returns the Lagrangian of the list, which every model has. */
abut_lagrangian *abut_lagrangian_of(const struct abut_terms *terms);

/* Rayleigh damping (energy/damping.c).  Zero-filled: none.  K is owned here. */
typedef struct abut_damping {
    const abut_mass *M;
    double mass;        /* a_M, 1/s */
    double stiffness;   /* b_K, s */
    double *K;          /* [nt * ABUT_PACKED] b_K K of each tet, N s/m; NULL when b_K is 0 */
    double *codim_K;    /* [thin elements * ABUT_PACKED] */
} abut_damping;

/** Returns the damping of the list, which "damping" (mass and tets) and "codim damping" share; NULL: none. */
abut_damping *abut_damping_of(const struct abut_terms *terms);

#endif
