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
#include "geom/quadrature.h"
#include "math/lanes.h"

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

/** Tabulates the bases of `order` at the points of a quadrature of at least `degree`.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_basis_table_init(abut_basis_table *b, int order, int degree, abut_err *err);
void abut_basis_table_clear(abut_basis_table *b);

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
/** The sum over tets of volume times lambda + mu, J: size of the numbers whose differences are energies. */
double abut_elastic_high_stiffness(const abut_elastic_high *e);

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

#endif
