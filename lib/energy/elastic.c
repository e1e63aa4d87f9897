#include "energy/elastic.h"

#include "base/par.h"
#include "linalg/bsr.h"
#include "linalg/mat3.h"
#include "linalg/svd3.h"

#include <math.h>
#include <stdlib.h>

void abut_lame(double young, double poisson, double *mu, double *lambda)
{
    *mu = young / (2 * (1 + poisson));
    *lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
}

/* ---- rest shape ---- */

static void edge_matrix(const int32_t node[4], const double *x, double D[9])
{
    const double *x0 = x + 3 * (size_t)node[0];
    for (int c = 0; c < 3; c++) {
        const double *xc = x + 3 * (size_t)node[c + 1];
        for (int i = 0; i < 3; i++) D[3 * i + c] = xc[i] - x0[i];
    }
}

static abut_status check_materials(const abut_model *m, abut_err *err)
{
    for (int32_t i = 0; i < m->nm; i++) {
        if (!abut_density_known(m->mat_model[i]))
            return abut_fail(err, ABUT_E_FORMAT, "material %d: model %d is not known", i, m->mat_model[i]);
        if (!(m->mat_young[i] > 0))
            return abut_fail(err, ABUT_E_FORMAT, "material %d: Young's modulus %g Pa, expected > 0", i, m->mat_young[i]);
        if (!(m->mat_poisson[i] > -1 && m->mat_poisson[i] < 0.5))
            return abut_fail(err, ABUT_E_FORMAT, "material %d: Poisson's ratio %g, expected in (-1, 0.5)", i,
                             m->mat_poisson[i]);
    }
    return ABUT_OK;
}

static abut_status rest_shapes(abut_elastic *e, abut_err *err)
{
    const abut_model *m = e->model;
    for (int32_t t = 0; t < m->nt; t++) {
        double D[9];
        edge_matrix(m->tet + 4 * (size_t)t, m->X, D);
        e->vol[t] = abut_m3_inverse(e->B + 9 * (size_t)t, D) / 6;
        if (!(e->vol[t] > 0))
            return abut_fail(err, ABUT_E_GEOM, "tet %d: rest volume %g m^3, expected > 0", t, e->vol[t]);
        const int32_t mat = m->tet_mat[t];
        abut_lame(m->mat_young[mat], m->mat_poisson[mat], &e->lame[2 * (size_t)t], &e->lame[2 * (size_t)t + 1]);
    }
    return ABUT_OK;
}

/* corners by node: count, sum up, fill; the fill runs in corner order, so every list ascends */
static void incidence(abut_elastic *e)
{
    const abut_model *m = e->model;
    int32_t *first = e->inc_first;
    const int32_t corners = 4 * m->nt;
    for (int32_t c = 0; c < corners; c++) first[m->tet[c] + 1]++;
    for (int32_t i = 0; i < m->nv; i++) first[i + 1] += first[i];
    for (int32_t c = 0; c < corners; c++) e->inc[first[m->tet[c]]++] = c;
    for (int32_t i = m->nv; i > 0; i--) first[i] = first[i - 1];
    first[0] = 0;
}

abut_status abut_elastic_init(abut_elastic *e, const abut_model *m, abut_err *err)
{
    *e = (abut_elastic){ .model = m };
    if (m->nt > INT32_MAX / 4) return abut_fail(err, ABUT_E_FORMAT, "%d tets: more than %d", m->nt, INT32_MAX / 4);
    abut_status rc = check_materials(m, err);
    if (rc) return rc;
    const size_t nt = m->nt ? (size_t)m->nt : 1;
    e->B = malloc(nt * 9 * sizeof *e->B);
    e->vol = malloc(nt * sizeof *e->vol);
    e->lame = malloc(nt * 2 * sizeof *e->lame);
    e->inc_first = calloc((size_t)m->nv + 1, sizeof *e->inc_first);
    e->inc = malloc(nt * 4 * sizeof *e->inc);
    if (!e->B || !e->vol || !e->lame || !e->inc_first || !e->inc)
        rc = abut_fail(err, ABUT_E_NOMEM, "rest shapes of %d tets", m->nt);
    if (!rc) rc = rest_shapes(e, err);
    if (!rc) incidence(e);
    if (rc) abut_elastic_clear(e);
    return rc;
}

void abut_elastic_clear(abut_elastic *e)
{
    free(e->B);
    free(e->vol);
    free(e->lame);
    free(e->inc_first);
    free(e->inc);
    *e = (abut_elastic){ 0 };
}

/* ---- energy and gradient ---- */

static inline void deformation(const abut_elastic *e, const double *x, size_t t, double F[9])
{
    double D[9];
    edge_matrix(e->model->tet + 4 * t, x, D);
    abut_m3_mul(F, D, e->B + 9 * t);
}

abut_status abut_elastic_energy(const abut_elastic *e, const double *x, double *energy, abut_arena *scratch, abut_err *err)
{
    const abut_model *m = e->model;
    const size_t n = (size_t)m->nt, nb = abut_blocks(n);
    const abut_mark mark = abut_arena_mark(scratch);
    double *part = ABUT_NEW(scratch, double, nb);
    if (!part) return abut_fail(err, ABUT_E_NOMEM, "elastic energy: %zu partial sums", nb);

    #pragma omp parallel for schedule(static)
    for (size_t b = 0; b < nb; b++) {
        const abut_range r = abut_block(n, b);
        double sum = 0;
        for (size_t t = r.lo; t < r.hi; t++) {
            double F[9];
            deformation(e, x, t, F);
            sum += e->vol[t] * abut_psi(m->mat_model[m->tet_mat[t]], e->lame[2 * t], e->lame[2 * t + 1], F, NULL);
        }
        part[b] = sum;
    }

    const double total = abut_sum(part, nb);
    abut_arena_release(scratch, mark);
    *energy = isfinite(total) ? total : INFINITY;   /* inf - inf in the compensated sum is NaN */
    return ABUT_OK;
}

/* f[12]: scale * dE/dx at the corners of tet t; dE/dF_mi g_a[i] with g_a the rows of B and g_0 = -(g_1 + g_2 + g_3) */
static inline void corner_gradients(const abut_elastic *e, const double *x, size_t t, double scale, double f[12])
{
    const abut_model *m = e->model;
    const double *B = e->B + 9 * t, w = scale * e->vol[t];
    double F[9], P[9] = { 0 };
    deformation(e, x, t, F);
    (void)abut_psi(m->mat_model[m->tet_mat[t]], e->lame[2 * t], e->lame[2 * t + 1], F, P);
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++)
            f[3 * a + 3 + i] = w * (P[3 * i] * B[3 * a] + P[3 * i + 1] * B[3 * a + 1] + P[3 * i + 2] * B[3 * a + 2]);
    for (int i = 0; i < 3; i++) f[i] = -(f[3 + i] + f[6 + i] + f[9 + i]);
}

abut_status abut_elastic_gradient(const abut_elastic *e, const double *x, double scale, double *g, abut_arena *scratch,
                                  abut_err *err)
{
    const size_t n = (size_t)e->model->nt;
    const int32_t nv = e->model->nv;
    const abut_mark mark = abut_arena_mark(scratch);
    double *f = ABUT_NEW(scratch, double, 12 * n);
    if (!f) return abut_fail(err, ABUT_E_NOMEM, "elastic gradient: corner forces of %zu tets", n);

    #pragma omp parallel for schedule(static)
    for (size_t t = 0; t < n; t++) corner_gradients(e, x, t, scale, f + 12 * t);

    #pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < nv; i++) {
        double sum[3] = { 0, 0, 0 };
        for (int32_t k = e->inc_first[i]; k < e->inc_first[i + 1]; k++)
            for (int d = 0; d < 3; d++) sum[d] += f[3 * (size_t)e->inc[k] + d];
        for (int d = 0; d < 3; d++) g[3 * (size_t)i + d] += sum[d];
    }
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

/* ---- Hessian ---- */

/* Second derivative in the frame of the singular vectors: scaling, and for each pair of axes (third index k) the entries
 * d2/dF_ij dF_ij = same[k] and d2/dF_ij dF_ji = swap[k]. */
typedef struct modes {
    double A[9], same[3], swap[3];
} modes;

static void modes_at(int model, double mu, double lambda, const double s[3], double scale, int project, modes *out)
{
    abut_principal p;
    abut_density_principal(model, mu, lambda, s, &p);
    if (project) abut_principal_project(&p);
    for (int i = 0; i < 9; i++) out->A[i] = scale * p.A[i];
    for (int i = 0; i < 3; i++) {
        out->same[i] = 0.5 * scale * (p.flip[i] + p.twist[i]);
        out->swap[i] = 0.5 * scale * (p.flip[i] - p.twist[i]);
    }
}

/* K[m,k] = sum_ij a_i d2psi/dF_mi dF_kj b_j with a, b given in the frame of V */
static inline void block(const modes *h, const double U[9], const double a[3], const double b[3], double K[9])
{
    double M[9], T[9];
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        M[4 * i] = h->A[4 * i] * a[i] * b[i] + h->same[k] * a[j] * b[j] + h->same[j] * a[k] * b[k];
        M[3 * i + j] = h->A[3 * i + j] * a[i] * b[j] + h->swap[k] * a[j] * b[i];
        M[3 * j + i] = h->A[3 * i + j] * a[j] * b[i] + h->swap[k] * a[i] * b[j];
    }
    abut_m3_mul_nt(T, M, U);
    abut_m3_mul(K, U, T);
}

/* packed blocks of the three corners 1, 2, 3 from their gradients; corner 0 by translation invariance */
static void pack(const modes *h, const double U[9], const double g[9], double *H)
{
    enum { B00 = 0, B01 = 9, B11 = 36, B12 = 45, B13 = 54, B22 = 63, B23 = 72, B33 = 81 };
    block(h, U, g, g, H + B11);
    block(h, U, g, g + 3, H + B12);
    block(h, U, g, g + 6, H + B13);
    block(h, U, g + 3, g + 3, H + B22);
    block(h, U, g + 3, g + 6, H + B23);
    block(h, U, g + 6, g + 6, H + B33);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int ij = 3 * i + j, ji = 3 * j + i;
            double *to = H + B01 + ij;
            to[0] = -(H[B11 + ij] + H[B12 + ji] + H[B13 + ji]);
            to[9] = -(H[B12 + ij] + H[B22 + ij] + H[B23 + ji]);
            to[18] = -(H[B13 + ij] + H[B23 + ij] + H[B33 + ij]);
            H[B00 + ij] = -(to[0] + to[9] + to[18]);
        }
}

void abut_elastic_hessian(const abut_elastic *e, const double *x, double scale, double *H)
{
    const abut_model *m = e->model;
    const size_t n = (size_t)m->nt;
    #pragma omp parallel for schedule(static)
    for (size_t t = 0; t < n; t++) {
        double F[9], U[9], s[3], V[9], g[9];
        modes h;
        deformation(e, x, t, F);
        abut_svd3(F, U, s, V);
        modes_at(m->mat_model[m->tet_mat[t]], e->lame[2 * t], e->lame[2 * t + 1], s, scale * e->vol[t], 1, &h);
        abut_m3_mul(g, e->B + 9 * t, V);
        pack(&h, U, g, H + ABUT_PACKED * t);
    }
}

/* ---- single elements ---- */

double abut_elastic_deformation(const abut_elastic *e, const double *x, int32_t t, double F[9])
{
    deformation(e, x, (size_t)t, F);
    return abut_m3_det(F);
}

double abut_elastic_stress(const abut_elastic *e, const double *x, int32_t t, double sigma[9])
{
    const abut_model *m = e->model;
    double F[9], P[9];
    const double J = abut_elastic_deformation(e, x, t, F);
    const double psi = abut_psi(m->mat_model[m->tet_mat[t]], e->lame[2 * (size_t)t], e->lame[2 * (size_t)t + 1], F, P);
    if (!isfinite(psi) || J == 0) {
        for (int i = 0; i < 9; i++) sigma[i] = NAN;
        return J;
    }
    abut_m3_mul_nt(sigma, P, F);
    for (int i = 0; i < 9; i++) sigma[i] /= J;
    return J;
}

double abut_von_mises(const double s[9])
{
    const double a = s[0] - s[4], b = s[4] - s[8], c = s[8] - s[0];
    return sqrt(0.5 * (a * a + b * b + c * c) + 3 * (s[1] * s[1] + s[2] * s[2] + s[5] * s[5]));
}

void abut_psi_hess(int model, double mu, double lambda, const double F[9], double H[81], int project)
{
    double U[9], s[3], V[9], K[9];
    modes h;
    abut_svd3(F, U, s, V);
    modes_at(model, mu, lambda, s, 1, project, &h);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {   /* unit vector i in the frame of V is row i of V */
            block(&h, U, V + 3 * i, V + 3 * j, K);
            for (int m = 0; m < 3; m++)
                for (int k = 0; k < 3; k++) H[9 * (3 * m + i) + 3 * k + j] = K[3 * m + k];
        }
}
