/* Hyperelastic tetrahedra of order 1: energy, gradient, projected Hessian (Li 2020, 2.2); energy/elastic_high.h has the others.
 *
 * Linear elements: F = [x1 - x0, x2 - x0, x3 - x0] B with B the inverse of the same edges at rest; a tet stores
 * vol * psi(F) joules.  The densities are in energy/material/materials.h. */
#ifndef ABUT_ENERGY_ELASTIC_H
#define ABUT_ENERGY_ELASTIC_H

#include "base/arena.h"
#include "base/par.h"
#include "energy/material/model_laws.h"

struct abut_terms;

#define ABUT_VOLUME_LEFT 0.2    /* fraction of its volume that a step leaves a tet that must not invert */

/* Rest shape of every tet, precomputed; owned here.  Borrows the model. */
typedef struct abut_elastic {
    const abut_model *model;
    int32_t n;          /* tets of order 1, which come first in the model */
    double *B;          /* [n * 9] inverse of the rest edge matrix, row major */
    double *vol;        /* [n] m^3 that are solid */
    double *lame;       /* [n * 2] mu, lambda, Pa; of rigid objects by K */
    double *rigid;      /* [2 no] J: K of rigid objects, and the least that the next load gives them; NULL: there are none */
    int32_t *inc_first; /* [nv + 1], inc [4 n]: tet corners at each node, ascending (4 * tet + corner) */
    int32_t *inc;
    abut_model_laws laws;
} abut_elastic;

/** Returns the elastic tets of the list, which every model has. */
abut_elastic *abut_elastic_of(const struct abut_terms *terms);

/** Checks the tets and materials of a model without memory: fails as abut_elastic_init does. */
ABUT_MUST_USE abut_status abut_elastic_check(const abut_model *m, abut_err *err);
/** Precomputes the rest shape.
 * Fails  ABUT_E_FORMAT unknown material model, Young's modulus not positive, Poisson's ratio outside (-1, 1/2);
 *        ABUT_E_GEOM a rest volume is not positive (names the tet); ABUT_E_NOMEM; ABUT_E_ARG tets of order 1 do not come first */
ABUT_MUST_USE abut_status abut_elastic_init(abut_elastic *e, const abut_model *m, abut_err *err);
void abut_elastic_clear(abut_elastic *e);

/* Rigid objects: one tet each, with V psi = K |F^T F - 1|^2 (energy/material/orthogonal.c).  A step whose end strains one of them
 * by more than rigid/strain is repeated with a larger K, which the frames after it keep. */

/** Returns the largest strain |s_i - 1| of rigid objects at x; 0: there are none.  *object: the one with the largest strain over
 * its bound, which is *excess; NULL to skip. */
double abut_rigid_strain(const abut_elastic *e, const double *x, int32_t *object, double *excess);
/** Raises K, from the next load on, of objects strained beyond their bound at x: by the larger of 4 and twice the excess.
 * Returns their number; -1: K of *object is the largest already. */
int abut_rigid_raise(abut_elastic *e, const double *x, int32_t *object);
/** Fails with ABUT_E_NUMERIC: the object is strained too much at x; advice: what may help. */
abut_status abut_rigid_refuse(const abut_elastic *e, const double *x, int32_t object, const char *advice, abut_err *err);
/** Makes K that of the frame from the next load on. */
void abut_rigid_lower(abut_elastic *e);
/** `load` and `store` of the stiffness, for steppers with a step of their own. */
void abut_rigid_load(abut_elastic *e, const abut_frame *f);
ABUT_MUST_USE abut_status abut_rigid_store(const abut_elastic *e, abut_arrays *out, abut_err *err);

/** The principal form of all isotropic terms of tet t: its density, distance to volume 1, to a range of stretches. */
void abut_elastic_principal(const abut_elastic *e, size_t t, const double s[3], abut_principal *out);

/* Energy and forces at the last point.  A line search needs the energy of a trial point and then, mostly, its gradient: both
 * together cost little more than one.  Zero-filled is empty; serves one abut_elastic. */
typedef struct abut_elastic_memo {
    double *x;          /* [3 nv] the point */
    double *f;          /* [12 n] N: dE/dx at the corners of each tet, where E is finite */
    double energy;      /* J: sum of volume * psi(F); +inf when a neo-Hookean tet is not positive or anything is not finite */
    int holds;
    struct abut_elastic_division {  /* the work divided by ranks; f is known for tets at the nodes of this rank's part */
        const abut_ranks *ranks;    /* NULL: not divided */
        const int32_t *node;    /* [nv] nodes in the order that is divided, borrowed */
        uint8_t *wanted;        /* [blocks of tets] 1: this rank evaluates the block */
    } by;
} abut_elastic_memo;
/** Evaluates memo at x.  Collective over ranks; the caller sets memo->by.ranks and node before the first call.  scratch: one
 * double per block of tets.
 * Fails  ABUT_E_NOMEM; then memo is empty */
ABUT_MUST_USE abut_status abut_elastic_recall(const abut_elastic *e, const double *x, abut_elastic_memo *memo,
                                              abut_arena *scratch, abut_err *err);
/** g[3 nv] += scale * f, gathered by nodes: dE/dx of a memo's f.  scratch: of ranks, 3 nv numbers.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_elastic_gather(const abut_elastic *e, const abut_elastic_memo *memo, double scale, double *g,
                                              abut_arena *scratch, abut_err *err);
void abut_elastic_memo_clear(abut_elastic_memo *memo);

/** H[n * ABUT_PACKED] (sparse/elements.h): scale * d2E/dx2 of each tet, projected to positive semidefinite; scale >= 0,
 * x of finite energy.  Closed-form eigen-system of the isotropic densities (Smith et al. 2019). */
void abut_elastic_hessian(const abut_elastic *e, const double *x, double scale, double *H);
/** Hessians of tets [lo, hi), H[(hi - lo) * ABUT_PACKED], on one thread; with lo a multiple of ABUT_LANES the same bits. */
void abut_elastic_hessian_some(const abut_elastic *e, const double *x, double scale, size_t lo, size_t hi, double *H);

/** F of tet t at x, row major; returns det F. */
double abut_elastic_deformation(const abut_elastic *e, const double *x, int32_t t, double F[9]);
/** Cauchy stress sigma[9] = P F^T / J, Pa, of tet t at x (for export); returns J.  All NaN where J = 0, and where a
 * neo-Hookean J < 0: there is no stress there. */
double abut_elastic_stress(const abut_elastic *e, const double *x, int32_t t, double sigma[9]);
double abut_von_mises(const double sigma[9]);

/** H[81] = d2psi/dF2, rows and columns the entries of F row major; project: nearest positive semidefinite.  For elements that are
 * not tets of four corners. */
void abut_psi_hess(int model, double mu, double lambda, const double F[9], double H[81], int project);
/** H[81] = d2psi/dF2 from a principal form and the singular vectors of F, not projected. */
void abut_principal_hess(const abut_principal *p, const double U[9], const double V[9], double H[81]);

/* ---- tets four at a time ---- */

/** B[9] and F[9] of tets t .. t + n - 1 at x, n <= ABUT_LANES, with the first one again in lanes without one; F to the bit that
 * of abut_elastic_deformation. */
ABUT_LANES_INLINE void abut_elastic_load(const abut_elastic *e, const double *x, size_t t, size_t n, abut_lanes *B, abut_lanes *F)
{
    const int32_t *tet[ABUT_LANES];
    const double *at[ABUT_LANES];
    abut_lanes D[9], x0[3], xc[3];
    for (size_t l = 0; l < ABUT_LANES; l++) tet[l] = e->model->tet + 4 * (t + (l < n ? l : 0));
    for (int c = 0; c < 4; c++) {
        for (int l = 0; l < ABUT_LANES; l++) at[l] = x + 3 * (size_t)tet[l][c];
        abut_lanes_gather3(at, c ? xc : x0);
        for (int i = 0; c && i < 3; i++) D[3 * i + c - 1] = xc[i] - x0[i];
    }
    for (int j = 0; j < 3; j++) {
        for (size_t l = 0; l < ABUT_LANES; l++) at[l] = e->B + 9 * (t + (l < n ? l : 0)) + 3 * j;
        abut_lanes_gather3(at, B + 3 * j);
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) F[3 * i + j] = D[3 * i] * B[j] + D[3 * i + 1] * B[3 + j] + D[3 * i + 2] * B[6 + j];
}

/** Lame's parameters of the same tets. */
ABUT_LANES_INLINE void abut_elastic_moduli(const abut_elastic *e, size_t t, size_t n, abut_lanes *mu, abut_lanes *lambda)
{
    for (size_t l = 0; l < ABUT_LANES; l++) {
        const double *of = e->lame + 2 * (t + (l < n ? l : 0));
        (*mu)[l] = of[0];
        (*lambda)[l] = of[1];
    }
}

/** The principal forms of the same tets at stretches s[3]. */
void abut_elastic_principals(const abut_elastic *e, size_t t, size_t n, const abut_lanes *s, abut_principals *out);

/* ---- two measures of how stiff a body is: its characteristic force, and one stiffness for each of its materials ---- */

/* The characteristic force of a mesh: the scale of its elastic forces (Li 2020, 3.5.2).
 *
 *     C = | (W l)_v |_2,    (W l)_v = sum over the tets t at node v of W_t a_tv                              N
 *
 * W_t, Pa, is the Frobenius norm of d2psi/dF2 of the material of t at rest, a_tv, m^2, the rest area of the face of t opposite
 * to v.  With one material C is W |l|_2 of eq. 3.15; with several materials every node has its own W. */

/** C * sqrt(fraction of free nodes among the nodes with tets), N; held[nv]: nodes that are not free.  node[nv] is scratch. */
double abut_characteristic_force(const abut_elastic *e, const uint8_t *held, double *node);

/* One stiffness of a nonlinear material, for a constant matrix (Liu 2018, 7.1).
 *
 *     k = sum f(x) (x - 1) / sum (x - 1)^2,    f(x) = dpsi/ds_1 at stretches (x, 1, 1),   x = lo, lo + 0.01, .., hi
 *
 * is the slope of the straight line through rest that comes closest to the stress along one axis.  The second derivative at rest
 * suffices for some materials (2 mu + lambda for the corotated ones, at any range), but is zero for others.  With k the Laplacian
 * of a mesh, sum_t vol k g_a . g_b, is one scalar matrix for x, y and z, independent of orientation. */

/* The default stretches, those of the source. */
#define ABUT_FIT_LOW 0.5
#define ABUT_FIT_HIGH 1.5

/** k[nm], Pa, over stretches 0 < lo < 1 < hi, of every material of the model: of its density, plus the stiffness of its squared
 * distances (energy/material/model_laws.h), which bounds their second derivative.
 * Fails  ABUT_E_ARG lo, hi not 0 < lo < 1 < hi; ABUT_E_FORMAT a material whose k is not positive (names it) */
ABUT_MUST_USE abut_status abut_stiffness_fit_materials(const abut_elastic *e, double lo, double hi, double *k, abut_err *err);

#endif
