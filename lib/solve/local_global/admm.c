#include "solve/local_global/admm.h"

#include "energy/attachment.h"
#include "energy/stiffness_fit.h"
#include "math/mat3.h"
#include "math/spd.h"
#include "math/svd3.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

abut_status abut_admm_init(abut_admm *a, const abut_objective *p, double fit_low, double fit_high, abut_err *err)
{
    assert(p);
    const abut_model *m = p->model;
    const size_t n = 9 * (size_t)m->nt + 3 * (size_t)m->nsp;
    *a =
        (abut_admm){ malloc(((size_t)m->nm + 1) * sizeof(double)), calloc(n + 1, sizeof(double)), calloc(n + 1, sizeof(double)) };
    abut_status rc = a->k && a->z && a->u ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "ADMM: %zu local variables", n);
    if (!rc && m->nt) rc = abut_stiffness_fit_materials(abut_elastic_of(&p->terms), fit_low, fit_high, a->k, err);
    if (rc) abut_admm_clear(a);
    return rc;
}

void abut_admm_clear(abut_admm *a)
{
    free(a->k);
    free(a->z);
    free(a->u);
    *a = (abut_admm){ 0 };
}

static void spring_vector(const abut_model *m, size_t s, const double *x, double d[3])
{
    const double *a = x + 3 * (size_t)m->spring[2 * s], *b = x + 3 * (size_t)m->spring[2 * s + 1];
    for (int k = 0; k < 3; k++) d[k] = a[k] - b[k];
}

void abut_admm_start(abut_admm *a, const abut_objective *p, const double *x)
{
    const abut_model *m = p->model;
    for (int32_t t = 0; t < m->nt; t++) (void)abut_elastic_deformation(abut_elastic_of(&p->terms), x, t, a->z + 9 * (size_t)t);
    for (size_t s = 0; s < (size_t)m->nsp; s++) spring_vector(m, s, x, a->z + 9 * (size_t)m->nt + 3 * s);
    memset(a->u, 0, (9 * (size_t)m->nt + 3 * (size_t)m->nsp) * sizeof *a->u);
}

/* ---- local steps ---- */

/* whether the density is defined at s */
static int admissible(const abut_elastic *e, size_t t, const double s[3])
{
    const abut_model *m = e->model;
    return !abut_material_injective(m->mat_model[m->tet_mat[t]]) || (s[0] > 0 && s[1] > 0 && s[2] > 0);
}

static double value(const abut_elastic *e, size_t t, double k, const double s0[3], const double s[3], abut_principal *q)
{
    if (!admissible(e, t, s)) return INFINITY;
    abut_elastic_principal(e, t, s, q);
    double sum = q->psi;
    for (int i = 0; i < 3; i++) sum += 0.5 * k * (s[i] - s0[i]) * (s[i] - s0[i]);
    return sum;
}

/* dx = -(A + k I)^-1 g with A made positive semidefinite */
static void newton_step(const abut_principal *q, double k, const double g[3], double dx[3])
{
    double A[9], inverse[9];
    memcpy(A, q->A, sizeof A);
    abut_psd_project(3, A);
    for (int i = 0; i < 9; i += 4) A[i] += k;
    (void)abut_m3_inverse(inverse, A);
    for (int i = 0; i < 3; i++) dx[i] = -(inverse[3 * i] * g[0] + inverse[3 * i + 1] * g[1] + inverse[3 * i + 2] * g[2]);
}

int abut_admm_project(const abut_elastic *e, size_t t, double k, const double s0[3], double s[3])
{
    enum { ITERATIONS = 200 };
    abut_principal q;
    for (int i = 0; i < 3; i++) s[i] = s0[i];
    if (!admissible(e, t, s))
        for (int i = 0; i < 3; i++) s[i] = fmax(0.1, fabs(s0[i]));
    double here = value(e, t, k, s0, s, &q);
    for (int it = 0; it < ITERATIONS; it++) {
        double g[3], dx[3], trial[3], slope = 0, size = 0, there = INFINITY, alpha = 1;
        for (int i = 0; i < 3; i++) g[i] = q.d[i] + k * (s[i] - s0[i]);
        newton_step(&q, k, g, dx);
        for (int i = 0; i < 3; i++) slope += g[i] * dx[i], size = fmax(size, fabs(dx[i]));
        if (!(size < INFINITY)) return 0;
        for (; alpha > 0x1p-40; alpha /= 2) {
            for (int i = 0; i < 3; i++) trial[i] = s[i] + alpha * dx[i];
            there = value(e, t, k, s0, trial, &q);
            if (there <= here + 1e-4 * alpha * slope + 8 * DBL_EPSILON * (fabs(here) + k))
                break; /* psi is a difference of numbers like k */
        }
        if (!(alpha > 0x1p-40)) return size <= 1e-7;        /* rounding lets it go no further */
        for (int i = 0; i < 3; i++) s[i] = trial[i];
        if (size <= 1e-10) return 1;
        here = there;
    }
    return 0;
}

static int local_tet(const abut_admm *a, const abut_objective *p, size_t t, const double F[9], double *z, double *u)
{
    double G[9], U[9], s0[3], V[9], s[3], Us[9];
    for (int i = 0; i < 9; i++) G[i] = F[i] + u[i];
    abut_svd3(G, U, s0, V);
    if (!abut_admm_project(abut_elastic_of(&p->terms), t, a->k[p->model->tet_mat[t]], s0, s)) return 0;
    for (int i = 0; i < 9; i++) Us[i] = U[i] * s[i % 3];
    abut_m3_mul_nt(z, Us, V);
    for (int i = 0; i < 9; i++) u[i] += F[i] - z[i];
    return 1;
}

/* k/2 (|z| - l)^2 + k/2 |z - g|^2 is smallest at z = (l + |g|)/2 along g */
static void local_spring(double l, const double d[3], double *z, double *u)
{
    double g[3], n = 0;
    for (int i = 0; i < 3; i++) g[i] = d[i] + u[i], n += g[i] * g[i];
    n = sqrt(n);
    for (int i = 0; i < 3; i++) {
        z[i] = n > 0 ? 0.5 * (l + n) / n * g[i] : 0;
        u[i] += d[i] - z[i];
    }
}

/* ---- the global right-hand side ---- */

abut_status abut_admm_step(abut_admm *a, const abut_objective *p, const double *x, double *r, abut_arena *scratch, abut_err *err)
{
    const abut_model *m = p->model;
    const abut_elastic *e = abut_elastic_of(&p->terms);
    const size_t nt = (size_t)m->nt, ns = (size_t)m->nsp;
    const abut_mark mark = abut_arena_mark(scratch);
    double *f = ABUT_ROOM(scratch, double, 12 * nt + 1);
    uint8_t *bad = ABUT_NEW(scratch, uint8_t, nt + 1);
    abut_status rc = f && bad ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "ADMM: corner forces of %zu tets", nt);
    for (int32_t i = 0; i < 3 * m->nv && !rc; i++) r[i] = m->mass[i / 3] * (x[i] - p->xhat[i]);
    #pragma omp parallel for schedule(static) if (!rc && nt > 256)
    for (size_t t = 0; t < (rc ? 0 : nt); t++) {
        double F[9], *z = a->z + 9 * t, *u = a->u + 9 * t;
        const double w = p->w.psi * e->vol[t] * a->k[m->tet_mat[t]], *B = e->B + 9 * t;
        (void)abut_elastic_deformation(e, x, (int32_t)t, F);
        bad[t] = (uint8_t)!local_tet(a, p, t, F, z, u);
        for (int c = 0; c < 3; c++)     /* D^T (F - z + u), as the gradient of a density with that stress */
            for (int i = 0; i < 3; i++) {
                double sum = 0;
                for (int j = 0; j < 3; j++) sum += (F[3 * i + j] - z[3 * i + j] + u[3 * i + j]) * B[3 * c + j];
                f[12 * t + 3 * (size_t)(c + 1) + (size_t)i] = w * sum;
            }
        for (int i = 0; i < 3; i++)
            f[12 * t + (size_t)i] = -(f[12 * t + 3 + (size_t)i] + f[12 * t + 6 + (size_t)i] + f[12 * t + 9 + (size_t)i]);
    }
    for (size_t t = 0; t < nt && !rc; t++)
        if (bad[t]) rc = abut_fail(err, ABUT_E_NUMERIC, "ADMM: the local step of tet %zu has no minimum of finite energy", t);
    for (int32_t i = 0; i < m->nv && !rc; i++)
        for (int32_t c = e->inc_first[i]; c < e->inc_first[i + 1]; c++)
            for (int d = 0; d < 3; d++) r[3 * i + d] += f[3 * (size_t)e->inc[c] + (size_t)d];
    for (size_t s = 0; s < ns && !rc; s++) {
        double d[3], *z = a->z + 9 * nt + 3 * s, *u = a->u + 9 * nt + 3 * s;
        spring_vector(m, s, x, d);
        local_spring(m->spring_length[s], d, z, u);
        for (int i = 0; i < 3; i++) {
            const double pull = p->w.psi * m->spring_stiffness[s] * (d[i] - z[i] + u[i]);
            r[3 * (size_t)m->spring[2 * s] + (size_t)i] += pull;
            r[3 * (size_t)m->spring[2 * s + 1] + (size_t)i] -= pull;
        }
    }
    if (!rc) abut_attachment_gradient(m, x, p->w.psi, r);
    for (int32_t i = 0; i < 3 * m->nv && !rc; i++)
        if (p->row[i / 3] < 0) r[i] = 0;
    abut_arena_release(scratch, mark);
    return rc;
}
