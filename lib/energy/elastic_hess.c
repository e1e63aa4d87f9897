/* Projected Hessians of hyperelastic tetrahedra, four at a time. */
#include "base/par.h"
#include "energy/elastic_lanes.h"
#include "energy/material/density_inline.h"
#include "energy/material/model_laws.h"
#include "sparse/packed_lanes.h"
#include "sparse/packed_inline.h"
#include "math/svd3.h"

#include "math/forms_lanes.h"
#define PRINCIPAL abut_principals
#include "energy/tet_forms.h"
#undef PRINCIPAL
#include "math/forms_end.h"

/* tets [t0, t1), at most ABUT_LANES of them, into H, packed */
ABUT_LANES_CLONES
static void hessian_group(const abut_elastic *e, const double *x, double scale, int project, size_t t0, size_t t1, double *H)
{
    abut_lanes F[9], B[9], U[9], s[3], V[9], weight;
    abut_packed_lanes K;
    abut_principals p;
    abut_modes_lanes h;
    abut_elastic_load(e, x, t0, t1 - t0, B, F);
    abut_svd3_lanes(F, U, s, V);
    abut_elastic_principals(e, t0, t1 - t0, s, &p);
    if (project) abut_principals_project(&p);
    for (size_t l = 0; l < ABUT_LANES; l++) weight[l] = scale * e->vol[t0 + l < t1 ? t0 + l : t0];
    abut_modes_of_lanes(&p, &weight, &h);
    abut_mode_pack_lanes(&h, U, B, V, K);
    abut_packed_spread(K, t1 - t0, H);
}

/* The fibres of tets [t0, t1), added to their packed blocks: (g_a . d)(g_b . d) M */
static void add_fibres(const abut_elastic *e, const double *x, double scale, int project, size_t t0, size_t t1, double *H)
{
    const abut_model *m = e->model;
    for (size_t t = t0; t < t1; t++) {
        const double kappa = m->mat_fibre[m->tet_mat[t]], *d = m->tet_fibre + 3 * t, *B = e->B + 9 * t;
        double F[9], M[9], g[4] = { 0 }, *K = H + abut_packed_size(4) * (t - t0);
        if (kappa == 0) continue;
        (void)abut_elastic_deformation(e, x, (int32_t)t, F);
        abut_fibre_hessian(scale * e->vol[t] * kappa, d, F, project, M);
        for (int a = 1; a < 4; a++) {
            g[a] = B[3 * a - 3] * d[0] + B[3 * a - 2] * d[1] + B[3 * a - 1] * d[2];
            g[0] -= g[a];
        }
        for (int a = 0; a < 4; a++)
            for (int b = a; b < 4; b++, K += 9)
                for (int i = 0; i < 9; i++) K[i] += g[a] * g[b] * M[i];
    }
}

static void some(const abut_elastic *e, const double *x, double scale, int project, size_t lo, size_t hi, double *H)
{
    for (size_t t = lo; t < hi; t += ABUT_LANES, H += ABUT_LANES * abut_packed_size(4)) {
        const size_t end = t + ABUT_LANES < hi ? t + ABUT_LANES : hi;
        hessian_group(e, x, scale, project, t, end, H);
        if (e->model->mat_fibre) add_fibres(e, x, scale, project, t, end, H);
    }
}

void abut_elastic_hessian_some(const abut_elastic *e, const double *x, double scale, size_t lo, size_t hi, double *H)
{
    some(e, x, scale, 1, lo, hi, H);
}

void abut_elastic_hessian_as_is(const abut_elastic *e, const double *x, double scale, size_t lo, size_t hi, double *H)
{
    some(e, x, scale, 0, lo, hi, H);
}

void abut_elastic_hessian(const abut_elastic *e, const double *x, double scale, double *H)
{
    const size_t n = (size_t)e->n;
    #pragma omp parallel for schedule(static) if (n >= ABUT_PAR_MIN / 4)
    for (size_t b = 0; b < abut_blocks(n); b++) {
        const abut_range r = abut_block(n, b);
        abut_elastic_hessian_some(e, x, scale, r.lo, r.hi, H + abut_packed_size(4) * r.lo);
    }
}

void abut_principal_hess(const abut_principal *p, const double u[9], const double v[9], double H[81])
{
    const abut_lanes one = ABUT_LANES_ALL(1.);
    abut_lanes U[9], a[3], b[3], K[9];
    abut_principals four;
    abut_modes_lanes h;
    for (size_t l = 0; l < ABUT_LANES; l++) abut_principals_set(&four, l, p);
    for (int i = 0; i < 9; i++) U[i] = ABUT_LANES_ALL(u[i]);
    abut_modes_of_lanes(&four, &one, &h);
    for (int j = 0; j < 3; j++)   /* unit vector j in the frame of V is row j of V: one in each lane */
        for (int c = 0; c < 3; c++) b[c][j] = b[c][3] = v[3 * j + c];
    for (int i = 0; i < 3; i++) {
        for (int c = 0; c < 3; c++) a[c] = ABUT_LANES_ALL(v[3 * i + c]);
        abut_mode_block_lanes(&h, U, a, b, K);
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
    if (project) abut_principal_project_one(&p);
    abut_principal_hess(&p, U, V, H);
}
