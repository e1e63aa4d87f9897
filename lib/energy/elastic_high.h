/* Hyperelastic tetrahedra of order 2 to 4, straight or curved: energy, gradient, projected Hessian.  How far
 * a step may go without inverting them is in contact/step_bound.h.
 *
 * With bases phi_i of order k on the rest shape G(xi) = sum_j X_j psi_j(xi) of order g, J = dG/dxi (Ferguson et al. 2023, 4;
 * Johnen et al. 2013 on such maps),
 *     F = I + (sum_i u_i (dphi_i/dxi)^T) J^-1,     u_i = x_i - X_i,
 * and a tet stores sum over quadrature points of w det J psi(F) joules.  d2psi/dF2 is projected at each point, so that the
 * matrix of an element is positive semidefinite. */
#ifndef ABUT_ENERGY_ELASTIC_HIGH_H
#define ABUT_ENERGY_ELASTIC_HIGH_H

#include "base/arena.h"
#include "energy/material/model_laws.h"
#include "geom/lagrange.h"
#include "geom/quadrature.h"

/* Lagrange bases of an order at the points of a tet quadrature, laid out for sums over nodes and for sums over points.
 *
 * Points come in groups of ABUT_LANES; the last one is filled up by its first point, of weight 0.  Owned; zero-filled: empty. */
typedef struct abut_basis_table {
    int order, nodes;
    int n, groups;      /* points; groups of them */
    int wide;           /* nodes up to a multiple of ABUT_LANES: rows of by_point, 0 beyond the nodes */
    double *w;          /* [groups * 4] fractions of the volume */
    double *L;          /* [groups * 4 * 4] barycentric coordinates */
    double *phi;        /* [groups * 4 * nodes] values, point by point */
    double *by_node;    /* [groups * nodes * 3 * 4] dphi/dxi by group, node, axis, point of the group */
    double *by_point;   /* [groups * 4 * 3 * wide] dphi/dxi by point, axis, node */
} abut_basis_table;

struct abut_terms;

/* The tets of one order of a model; borrows the model.  Zero-filled is empty. */
typedef struct abut_elastic_high {
    const abut_model *model;
    abut_model_laws laws;
    int order, nodes;
    int32_t first, n;   /* tets first .. first + n - 1 of the model */
    int32_t *node;      /* [n * nodes] */
    uint8_t *degree;    /* [n] of quadrature */
    uint8_t *straight;  /* [n] 1: J is the same everywhere */
    size_t *rest;       /* [n] where its rest shape is in shape[] */
    double *shape;      /* straight: J^-1 and the volume, m^3; else for each group of points J^-1 (9 entries, four of each) and
                         * four volumes */
    int32_t *inc_first; /* [nv + 1], inc [n * nodes]: nodes * tet + corner at each node, ascending */
    int32_t *inc;
    abut_basis_table table[ABUT_QUADRATURE_MAX + 1];    /* by degree; empty if no tet has it */
} abut_elastic_high;

/** Returns the tets of `order` of the list; NULL: none. */
abut_elastic_high *abut_elastic_high_of(const struct abut_terms *terms, int order);

/** The tets of `order` of a model in the order of a solver.
 *
 * number  [nt] of tets in messages; NULL: as in m
 * Fails   ABUT_E_GEOM a rest shape has det J <= 0 at a point (names tet and point); ABUT_E_FORMAT a degree of quadrature is too
 *         low for energies in tets of that shape, or as abut_model_laws_init; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_elastic_high_init(abut_elastic_high *e, const abut_model *m, int order, const int32_t *number,
                                                 abut_err *err);
void abut_elastic_high_clear(abut_elastic_high *e);

/** Worth several threads. */
static inline int abut_elastic_high_is_large(const abut_elastic_high *e)
{
    return (size_t)e->n * (size_t)(e->nodes * e->nodes) > 6400;
}

/** Volume of tet t (counted from e->first) at rest, m^3, by its quadrature. */
double abut_elastic_high_volume(const abut_elastic_high *e, int32_t t);

/** *energy, J, and f[n * nodes * 3], N: dE/dx at the nodes of each tet.  energy +inf: an injective material at a point with
 * det F <= 0, or a number is not finite; f is then undefined.  scratch: one double per tet. */
ABUT_MUST_USE abut_status abut_elastic_high_evaluate(const abut_elastic_high *e, const double *x, double *energy, double *f,
                                                     abut_arena *scratch, abut_err *err);
/** g[3 nv] += scale f, gathered by nodes. */
void abut_elastic_high_gather(const abut_elastic_high *e, const double *f, double scale, double *g);

/** Numbers of abut_elastic_high_moduli of tet t (counted from e->first). */
size_t abut_elastic_high_moduli_size(const abut_elastic_high *e, int32_t t);
/** A: scale w det J J^-1 (d2psi/dF2) J^-T, projected, at the points of tet t: for each group the blocks 00, 01, 02, 11, 12, 22 of
 * axes of xi, 3x3, four points of each entry; x of finite energy. */
void abut_elastic_high_moduli(const abut_elastic_high *e, int32_t t, const double *x, double scale, double *A);
/** H, packed (sparse/elements.h): the matrix of tet t with these moduli. */
void abut_elastic_high_pack(const abut_elastic_high *e, int32_t t, const double *A, double *H);
/** H: scale d2E/dx2 of tets [lo, hi), projected, packed one after the other. */
void abut_elastic_high_hessian(const abut_elastic_high *e, const double *x, double scale, size_t lo, size_t hi, double *H);
/** f[3 nodes] = the matrix with these moduli times u[3 nodes]. */
void abut_elastic_high_product(const abut_elastic_high *e, int32_t t, const double *A, const double *u, double *f);

/** Returns the least det F at the points of tet t (counted from e->first); the mean of von Mises' stress over it, Pa: NaN if a
 * neo-Hookean point is inverted.
 * F, sigma  [9] out: the means of the deformation gradient and of the Cauchy stress, Pa, row major; both NULL: skip */
double abut_elastic_high_stress(const abut_elastic_high *e, const double *x, int32_t t, double *stress, double *F, double *sigma);
/** The least and the largest stretch there. */
void abut_elastic_high_stretch(const abut_elastic_high *e, const double *x, int32_t t, double *least, double *largest);

/* A barrier of det F in tets of order 2 to 4 that must not invert.
 *
 * Their elastic energy is a sum over points of quadrature, and even as an integral it stays finite if det F reaches 0 at one
 * point.  Alone it does not prevent iterates at which the certificate (contact/step_bound.h) stops all further steps; this energy
 * is infinite there.  At points q, with J = det F, V the volume of the tet at rest and Lame parameters mu, lambda,
 *     E = sum ABUT_JACOBIAN_WEIGHT V (mu + lambda) b(J_q),     b(J) = -(1 - J/Jhat)^2 ln(J/Jhat) for 0 < J < Jhat,
 * 0 beyond, +inf at J <= 0; b is twice continuously differentiable: the barrier of contacts (Li et al. 2020, eq. 6) of a ratio of
 * volumes in place of a distance.
 *
 * The points come from an exchange method for constraints at infinitely many points (R. Hettich, K. O. Kortanek, "Semi-infinite
 * programming", SIAM Review 35, 1993, 7.1).  If the certificate finds det F less than Jhat at an iterate, and clearly less than
 * at all points of that tet so far, the point of its least value is added.  The points do not change between two iterates, so
 * that each search has one objective, and none is removed before the next time step. */
/* Jhat: tets that keep this part of their volume everywhere are left alone.  Weight: part of the volume that a point has. */
#define ABUT_JACOBIAN_HAT 0.3
#define ABUT_JACOBIAN_WEIGHT 0.01

/** b(J) and its derivatives in d[2]; d NULL to skip.  J in (0, ABUT_JACOBIAN_HAT). */
double abut_jacobian_barrier(double J, double *d);

/* A point of the barrier. */
typedef struct abut_jacobian_point {
    int32_t tet;                        /* counted from the first tet of its order */
    double L[4];                        /* barycentric coordinates */
    double weight;                      /* J */
    double B[3 * ABUT_TET_NODES_MAX];   /* dphi_a/dX_j at 3 a + j, 1/m */
} abut_jacobian_point;

/* Barriers of the tets of one order; borrows the tets.  Zero-filled is empty. */
typedef struct abut_jacobian_barriers {
    const abut_elastic_high *tets;
    abut_jacobian_point *point;     /* by tets; points of a tet in the order in which they were found */
    int32_t n;
    size_t cap;
    double *least;                  /* [5 tets->n] scratch: results of the certificate */
} abut_jacobian_barriers;

/** Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_jacobian_barriers_init(abut_jacobian_barriers *b, const abut_elastic_high *tets, abut_err *err);
void abut_jacobian_barriers_clear(abut_jacobian_barriers *b);

/** A further point of a tet.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_jacobian_barriers_add(abut_jacobian_barriers *b, int32_t tet, const double L[4], abut_err *err);
/** Adds the points of the least det F at x[3 nv] as above; *added: how many.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_jacobian_barriers_look(abut_jacobian_barriers *b, const double *x, int32_t *added, abut_err *err);

/** E, J; +inf: some point has det F <= 0. */
double abut_jacobian_barriers_energy(const abut_jacobian_barriers *b, const double *x);
/** g[3 nv] += scale dE/dx, where E is finite. */
void abut_jacobian_barriers_gradient(const abut_jacobian_barriers *b, const double *x, double scale, double *g);
/** H, packed matrices of tets [lo, hi), += scale d2E/dx2, projected at each point unless as_is. */
void abut_jacobian_barriers_hessian(const abut_jacobian_barriers *b, const double *x, double scale, int as_is, size_t lo,
                                    size_t hi, double *H);

#endif
