#include "solve/local_global/admm.h"

#include "energy/attachment.h"
#include "energy/codim_term.h"
#include "energy/stiffness_fit.h"
#include "math/mat3.h"
#include "math/spd.h"
#include "math/svd3.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where the variables of thin elements begin, and how many there are in all. */
static size_t thin_at(const abut_model *m)
{
    return 9 * (size_t)m->nt + 3 * (size_t)m->nsp;
}

static size_t variables(const abut_admm *a, const abut_model *m)
{
    return thin_at(m) + 12 * a->thin.t.n;
}

static abut_status init(abut_admm *a, const abut_objective *p, double fit_low, double fit_high, abut_err *err)
{
    const abut_model *m = p->model;
    const size_t n = variables(a, m);
    a->k = malloc(((size_t)m->nm + 1) * sizeof *a->k);
    a->z = calloc(n + 1, sizeof *a->z);
    a->u = calloc(n + 1, sizeof *a->u);
    abut_status rc = a->k && a->z && a->u ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "ADMM: %zu local variables", n);
    if (!rc && m->nt) rc = abut_stiffness_fit_materials(abut_elastic_of(&p->terms), fit_low, fit_high, a->k, err);
    if (rc) abut_admm_clear(a);
    return rc;
}

abut_status abut_admm_init(abut_admm *a, const abut_objective *p, double fit_low, double fit_high, abut_err *err)
{
    assert(p);
    *a = (abut_admm){ 0 };
    return init(a, p, fit_low, fit_high, err);
}

abut_status abut_admm_init_thin(abut_admm *a, const abut_objective *p, double fit_low, double fit_high, abut_err *err)
{
    *a = (abut_admm){ 0 };
    const abut_status rc = abut_codim_apart_init(&a->thin, abut_codim_of(&p->terms), p->w.psi, err);
    return rc ? rc : init(a, p, fit_low, fit_high, err);
}

void abut_admm_clear(abut_admm *a)
{
    abut_codim_apart_clear(&a->thin);
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

/* The corners of thin element e at x, and at 0 those it has not. */
static void thin_corners(const abut_objective *p, size_t e, const double *x, double y[12])
{
    const int32_t *node = abut_codim_of(&p->terms)->node + 4 * e;
    for (int i = 0; i < 12; i++) y[i] = node[i / 3] < 0 ? 0 : x[3 * (size_t)node[i / 3] + (size_t)(i % 3)];
}

void abut_admm_start(abut_admm *a, const abut_objective *p, const double *x)
{
    const abut_model *m = p->model;
    for (int32_t t = 0; t < m->nt; t++) (void)abut_elastic_deformation(abut_elastic_of(&p->terms), x, t, a->z + 9 * (size_t)t);
    for (size_t s = 0; s < (size_t)m->nsp; s++) spring_vector(m, s, x, a->z + 9 * (size_t)m->nt + 3 * s);
    for (size_t e = 0; e < a->thin.t.n; e++) thin_corners(p, e, x, a->z + thin_at(m) + 12 * e);
    memset(a->u, 0, variables(a, m) * sizeof *a->u);
}

/* u = dpsi/dF / k of a tet at F. */
static void balance_tet(const abut_elastic *e, size_t t, double k, const double F[9], double u[9])
{
    double U[9], s[3], V[9], Ud[9];
    abut_principal q;
    abut_svd3(F, U, s, V);
    abut_elastic_principal(e, t, s, &q);
    for (int i = 0; i < 9; i++) Ud[i] = U[i] * q.d[i % 3] / k;
    abut_m3_mul_nt(u, Ud, V);
}

void abut_admm_start_balanced(abut_admm *a, const abut_objective *p, const double *x)
{
    const abut_model *m = p->model;
    const size_t nt = (size_t)m->nt, nsp = (size_t)m->nsp;
    abut_admm_start(a, p, x);
    for (size_t t = 0; t < nt; t++)
        balance_tet(abut_elastic_of(&p->terms), t, a->k[m->tet_mat[t]], a->z + 9 * t, a->u + 9 * t);
    for (size_t s = 0; s < nsp; s++) {
        const double *d = a->z + 9 * nt + 3 * s, l = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        for (size_t i = 0; i < 3; i++) a->u[9 * nt + 3 * s + i] = l > 0 ? (1 - m->spring_length[s] / l) * d[i] : 0;
    }
    for (size_t e = 0; e < a->thin.t.n; e++)
        abut_codim_apart_balance(&a->thin, e, a->z + thin_at(m), a->u + thin_at(m) + 12 * e);
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

/* The largest of n differences. */
static double largest(size_t n, const double *z, const double *other)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        const double d = fabs(z[i] - other[i]);
        most = d > most || isnan(d) ? d : most;
    }
    return most;
}

/* ---- the global right-hand side ---- */

/* What a pass over the elements of one kind leaves: forces of their corners, 12 each; how far z is from D x and from what it was;
 * which had no minimum. */
typedef struct pass {
    double *f, *apart, *moved;
    uint8_t *bad;
} pass;

static abut_status pass_begin(pass *q, size_t n, abut_arena *scratch, abut_err *err)
{
    *q = (pass){ ABUT_ROOM(scratch, double, 12 * n + 1), ABUT_NEW(scratch, double, n + 1), ABUT_NEW(scratch, double, n + 1),
                 ABUT_NEW(scratch, uint8_t, n + 1) };
    return q->f && q->apart && q->moved && q->bad ? ABUT_OK
                                                  : abut_fail(err, ABUT_E_NOMEM, "ADMM: corner forces of %zu elements", n);
}

static abut_status pass_end(abut_admm *a, const pass *q, size_t n, const char *what, abut_err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (q->bad[i])
            return abut_fail(err, ABUT_E_NUMERIC, "ADMM: the local step of %s %zu has no minimum of finite energy", what, i);
        a->apart = fmax(a->apart, q->apart[i]);
        a->moved = fmax(a->moved, q->moved[i]);
    }
    return ABUT_OK;
}

static abut_status step_tets(abut_admm *a, const abut_objective *p, const double *x, double *r, abut_arena *scratch,
                             abut_err *err)
{
    const abut_model *m = p->model;
    const abut_elastic *e = abut_elastic_of(&p->terms);
    const size_t nt = (size_t)m->nt;
    pass q;
    abut_status rc = pass_begin(&q, nt, scratch, err);
    if (rc) return rc;
    #pragma omp parallel for schedule(static) if (nt > 256)
    for (size_t t = 0; t < nt; t++) {
        double F[9], was[9], *z = a->z + 9 * t, *u = a->u + 9 * t, *f = q.f + 12 * t;
        const double w = p->w.psi * e->vol[t] * a->k[m->tet_mat[t]], *B = e->B + 9 * t, side = cbrt(e->vol[t]);
        memcpy(was, z, sizeof was);
        (void)abut_elastic_deformation(e, x, (int32_t)t, F);
        q.bad[t] = (uint8_t)!local_tet(a, p, t, F, z, u);
        q.apart[t] = side * largest(9, z, F);
        q.moved[t] = side * largest(9, z, was);
        for (int c = 0; c < 3; c++)     /* D^T (F - z + u), as the gradient of a density with that stress */
            for (int i = 0; i < 3; i++) {
                double sum = 0;
                for (int j = 0; j < 3; j++) sum += (F[3 * i + j] - z[3 * i + j] + u[3 * i + j]) * B[3 * c + j];
                f[3 * (c + 1) + i] = w * sum;
            }
        for (int i = 0; i < 3; i++) f[i] = -(f[3 + i] + f[6 + i] + f[9 + i]);
    }
    rc = pass_end(a, &q, nt, "tet", err);
    for (int32_t i = 0; i < m->nv && !rc; i++)
        for (int32_t c = e->inc_first[i]; c < e->inc_first[i + 1]; c++)
            for (int d = 0; d < 3; d++) r[3 * i + d] += q.f[3 * (size_t)e->inc[c] + (size_t)d];
    return rc;
}

static void step_springs(abut_admm *a, const abut_objective *p, const double *x, double *r)
{
    const abut_model *m = p->model;
    for (size_t s = 0; s < (size_t)m->nsp; s++) {
        double d[3], was[3], *z = a->z + 9 * (size_t)m->nt + 3 * s, *u = a->u + 9 * (size_t)m->nt + 3 * s;
        memcpy(was, z, sizeof was);
        spring_vector(m, s, x, d);
        local_spring(m->spring_length[s], d, z, u);
        a->apart = fmax(a->apart, largest(3, z, d));
        a->moved = fmax(a->moved, largest(3, z, was));
        for (int i = 0; i < 3; i++) {
            const double pull = p->w.psi * m->spring_stiffness[s] * (d[i] - z[i] + u[i]);
            r[3 * (size_t)m->spring[2 * s] + (size_t)i] += pull;
            r[3 * (size_t)m->spring[2 * s + 1] + (size_t)i] -= pull;
        }
    }
}

/* One thin element: z, u and f = K (D x - z + u); how far z is from D x, and from what it was against its corner 0. */
static int local_thin(abut_admm *a, size_t e, const double x[12], double *all, double *u, double f[12], double *apart,
                      double *moved)
{
    double y[12], before[12], d[12], *z = all + 12 * e;
    for (int i = 0; i < 12; i++) {
        const int used = a->thin.t.node[4 * e + (size_t)(i / 3)] >= 0;
        y[i] = x[i] + u[i];
        before[i] = used ? z[i] + x[i % 3] - z[i % 3] : 0;
    }
    if (!abut_codim_apart_nearest(&a->thin, e, y, all)) return 0;
    for (int i = 0; i < 12; i++) {      /* u_0 = 0: corner 0 is at x */
        u[i] += x[i] - z[i];
        d[i] = x[i] - z[i] + u[i];
    }
    *apart = largest(12, z, x);
    *moved = largest(12, z, before);
    abut_codim_apart_force(&a->thin, e, d, f);
    return 1;
}

static abut_status step_thin(abut_admm *a, const abut_objective *p, const double *x, double *r, abut_arena *scratch,
                             abut_err *err)
{
    const size_t n = a->thin.t.n, at = thin_at(p->model);
    pass q;
    abut_status rc = pass_begin(&q, n, scratch, err);
    if (rc || !n) return rc;
    #pragma omp parallel for schedule(static) if (n > 64)
    for (size_t e = 0; e < n; e++) {
        double corners[12];
        thin_corners(p, e, x, corners);
        q.bad[e] = (uint8_t)!local_thin(a, e, corners, a->z + at, a->u + at + 12 * e, q.f + 12 * e, &q.apart[e], &q.moved[e]);
    }
    rc = pass_end(a, &q, n, "thin element", err);
    if (!rc) abut_codim_gather(abut_codim_of(&p->terms), q.f, r);
    return rc;
}

abut_status abut_admm_step(abut_admm *a, const abut_objective *p, const double *x, double *r, abut_arena *scratch, abut_err *err)
{
    const abut_model *m = p->model;
    const abut_mark mark = abut_arena_mark(scratch);
    a->apart = a->moved = 0;
    for (int32_t i = 0; i < 3 * m->nv; i++) r[i] = m->mass[i / 3] * (x[i] - p->xhat[i]);
    abut_status rc = step_tets(a, p, x, r, scratch, err);
    if (!rc) step_springs(a, p, x, r);
    if (!rc) rc = step_thin(a, p, x, r, scratch, err);
    if (!rc) abut_attachment_gradient(m, x, p->w.psi, r);
    for (int32_t i = 0; i < 3 * m->nv && !rc; i++)
        if (p->row[i / 3] < 0) r[i] = 0;
    abut_arena_release(scratch, mark);
    return rc;
}
