/* Projected Hessians of hyperelastic tetrahedra, four at a time. */
#include "base/par.h"
#include "energy/elastic_lanes.h"
#include "energy/fibre.h"
#include "linalg/packed_lanes.h"
#include "linalg/svd3.h"
#include "linalg/svd3_lanes.h"

#include <string.h>

/* Second derivative in the frame of the singular vectors: scaling, and for each pair of axes (third index k) the entries
 * d2/dF_ij dF_ij = same[k] and d2/dF_ij dF_ji = swap[k]. */
typedef struct modes {
    abut_lanes A[9], same[3], swap[3];
} modes;

/* from principal forms and weights */
ABUT_LANES_INLINE void modes_of(const abut_principals *p, const abut_lanes *weight, modes *out)
{
    const abut_lanes half = 0.5 * *weight;
    for (int i = 0; i < 9; i++) out->A[i] = *weight * p->A[i];
    for (int i = 0; i < 3; i++) {
        out->same[i] = half * (p->flip[i] + p->twist[i]);
        out->swap[i] = half * (p->flip[i] - p->twist[i]);
    }
}

/* K[m,k] = sum_ij a_i d2psi/dF_mi dF_kj b_j with a, b given in the frame of V */
ABUT_LANES_INLINE void block(const modes *h, const abut_lanes *U, const abut_lanes *a, const abut_lanes *b, abut_lanes *K)
{
    abut_lanes M[9], T[9];
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        M[4 * i] = h->A[4 * i] * a[i] * b[i] + h->same[k] * a[j] * b[j] + h->same[j] * a[k] * b[k];
        M[3 * i + j] = h->A[3 * i + j] * a[i] * b[j] + h->swap[k] * a[j] * b[i];
        M[3 * j + i] = h->A[3 * i + j] * a[j] * b[i] + h->swap[k] * a[i] * b[j];
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            T[3 * i + j] = M[3 * i] * U[3 * j] + M[3 * i + 1] * U[3 * j + 1] + M[3 * i + 2] * U[3 * j + 2];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) K[3 * i + j] = U[3 * i] * T[j] + U[3 * i + 1] * T[3 + j] + U[3 * i + 2] * T[6 + j];
}

/* the packed blocks H[ABUT_PACKED] from g = B V, the gradients of corners 1, 2, 3; corner 0 by translation invariance */
ABUT_LANES_INLINE void pack(const modes *h, const abut_lanes *U, const abut_lanes *B, const abut_lanes *V, abut_lanes *H)
{
    enum { B00 = 0, B01 = 9, B11 = 36, B12 = 45, B13 = 54, B22 = 63, B23 = 72, B33 = 81 };
    abut_lanes g[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) g[3 * i + j] = B[3 * i] * V[j] + B[3 * i + 1] * V[3 + j] + B[3 * i + 2] * V[6 + j];
    block(h, U, g, g, H + B11);
    block(h, U, g, g + 3, H + B12);
    block(h, U, g, g + 6, H + B13);
    block(h, U, g + 3, g + 3, H + B22);
    block(h, U, g + 3, g + 6, H + B23);
    block(h, U, g + 6, g + 6, H + B33);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int ij = 3 * i + j, ji = 3 * j + i;
            abut_lanes *to = H + B01 + ij;
            to[0] = -(H[B11 + ij] + H[B12 + ji] + H[B13 + ji]);
            to[9] = -(H[B12 + ij] + H[B22 + ij] + H[B23 + ji]);
            to[18] = -(H[B13 + ij] + H[B23 + ij] + H[B33 + ij]);
            H[B00 + ij] = -(to[0] + to[9] + to[18]);
        }
}

/* tets [t0, t1), at most ABUT_LANES of them, into H[ABUT_PACKED * (t1 - t0)] */
ABUT_LANES_CLONES
static void hessian_group(const abut_elastic *e, const double *x, double scale, size_t t0, size_t t1, double *H)
{
    abut_lanes F[9], B[9], U[9], s[3], V[9], K[ABUT_PACKED], weight;
    abut_principals p;
    modes h;
    abut_elastic_load(e, x, t0, t1 - t0, B, F);
    abut_svd3_lanes(F, U, s, V);
    abut_elastic_principals(e, t0, t1 - t0, s, &p);
    abut_principals_project(&p);
    for (size_t l = 0; l < ABUT_LANES; l++) weight[l] = scale * e->vol[t0 + l < t1 ? t0 + l : t0];
    modes_of(&p, &weight, &h);
    pack(&h, U, B, V, K);
    abut_packed_spread(K, t1 - t0, H);
}

/* The fibres of tets [t0, t1), added to their packed blocks: (g_a . d)(g_b . d) M */
static void add_fibres(const abut_elastic *e, const double *x, double scale, size_t t0, size_t t1, double *H)
{
    const abut_model *m = e->model;
    for (size_t t = t0; t < t1; t++) {
        const double kappa = m->mat_fibre[m->tet_mat[t]], *d = m->tet_fibre + 3 * t, *B = e->B + 9 * t;
        double F[9], M[9], g[4] = { 0 }, *K = H + ABUT_PACKED * (t - t0);
        if (kappa == 0) continue;
        (void)abut_elastic_deformation(e, x, (int32_t)t, F);
        abut_fibre_hessian(scale * e->vol[t] * kappa, d, F, M);
        for (int a = 1; a < 4; a++) {
            g[a] = B[3 * a - 3] * d[0] + B[3 * a - 2] * d[1] + B[3 * a - 1] * d[2];
            g[0] -= g[a];
        }
        for (int a = 0; a < 4; a++)
            for (int b = a; b < 4; b++, K += 9)
                for (int i = 0; i < 9; i++) K[i] += g[a] * g[b] * M[i];
    }
}

void abut_elastic_hessian_some(const abut_elastic *e, const double *x, double scale, size_t lo, size_t hi, double *H)
{
    for (size_t t = lo; t < hi; t += ABUT_LANES, H += ABUT_LANES * ABUT_PACKED) {
        const size_t end = t + ABUT_LANES < hi ? t + ABUT_LANES : hi;
        hessian_group(e, x, scale, t, end, H);
        if (e->model->mat_fibre) add_fibres(e, x, scale, t, end, H);
    }
}

void abut_elastic_hessian(const abut_elastic *e, const double *x, double scale, double *H)
{
    const size_t n = (size_t)e->model->nt;
    #pragma omp parallel for schedule(static) if (n >= ABUT_PAR_MIN / 4)
    for (size_t b = 0; b < abut_blocks(n); b++) {
        const abut_range r = abut_block(n, b);
        abut_elastic_hessian_some(e, x, scale, r.lo, r.hi, H + ABUT_PACKED * r.lo);
    }
}

void abut_principal_hess(const abut_principal *p, const double u[9], const double v[9], double H[81])
{
    const abut_lanes one = ABUT_LANES_ALL(1.);
    abut_lanes U[9], a[3], b[3], K[9];
    abut_principals four;
    modes h;
    for (size_t l = 0; l < ABUT_LANES; l++) abut_principals_set(&four, l, p);
    for (int i = 0; i < 9; i++) U[i] = ABUT_LANES_ALL(u[i]);
    modes_of(&four, &one, &h);
    for (int j = 0; j < 3; j++)   /* unit vector j in the frame of V is row j of V: one in each lane */
        for (int c = 0; c < 3; c++) b[c][j] = b[c][3] = v[3 * j + c];
    for (int i = 0; i < 3; i++) {
        for (int c = 0; c < 3; c++) a[c] = ABUT_LANES_ALL(v[3 * i + c]);
        block(&h, U, a, b, K);
        for (int j = 0; j < 3; j++)
            for (int m = 0; m < 3; m++)
                for (int k = 0; k < 3; k++) H[9 * (3 * m + i) + 3 * k + j] = K[3 * m + k][j];
    }
}

void abut_psi_hess(int model, double mu, double lambda, const double F[9], double H[81], int project)
{
    double U[9], s[3], V[9];
    abut_principal p;
    abut_svd3(F, U, s, V);
    abut_density_principal(model, mu, lambda, s, &p);
    if (project) abut_principal_project(&p);
    abut_principal_hess(&p, U, V, H);
}
