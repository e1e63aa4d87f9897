#include "solve/local_global/admm.h"

#include "math/svd3.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- local steps: energies of elements as functions of their stretches ---- */

#define ARMIJO 1e-4
#define ROUNDING (8 * DBL_EPSILON)  /* of psi, which is a difference of numbers like k */

static int injective(const abut_elastic *e, size_t t)
{
    return abut_material_injective(e->model->mat_model[e->model->tet_mat[t]]);
}

/* whether the density is defined at s */
static int admissible(const abut_elastic *e, size_t t, const double s[3])
{
    return !injective(e, t) || (s[0] > 0 && s[1] > 0 && s[2] > 0);
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
            if (there <= here + ARMIJO * alpha * slope + ROUNDING * (fabs(here) + k)) break;
        }
        if (!(alpha > 0x1p-40)) return size <= 1e-7;        /* rounding lets it go no further */
        for (int i = 0; i < 3; i++) s[i] = trial[i];
        if (size <= 1e-10) return 1;
        here = there;
    }
    return 0;
}

/* Four local problems; s: the iterate, q and sum: principal forms and values there. */
typedef struct lanes_problem {
    abut_lanes k, s0[3], s[3], sum;
    abut_principals q;
    abut_lane_mask positive;        /* stretches have to be */
} lanes_problem;

/* dx[3] = -(A + k I)^-1 g by L D L^T; lanes whose D is not well above 0 are taken out of *good. */
ABUT_LANES_INLINE void whole_step(const lanes_problem *p, abut_lanes *dx, abut_lanes *slope, abut_lanes *size,
                                  abut_lane_mask *good)
{
    const abut_lanes *A = p->q.A, least = 0.01 * p->k;
    abut_lanes g[3];
    for (int i = 0; i < 3; i++) g[i] = p->q.d[i] + p->k * (p->s[i] - p->s0[i]);
    const abut_lanes d0 = A[0] + p->k, l1 = A[3] / d0, l2 = A[6] / d0;
    const abut_lanes d1 = A[4] + p->k - l1 * A[3], c = A[7] - l2 * A[3], l3 = c / d1;
    const abut_lanes d2 = A[8] + p->k - l2 * A[6] - l3 * c;
    *good &= (d0 > least) & (d1 > least) & (d2 > least);
    const abut_lanes y1 = g[1] - l1 * g[0], y2 = g[2] - l2 * g[0] - l3 * y1;
    dx[2] = -y2 / d2;
    dx[1] = -y1 / d1 - l3 * dx[2];
    dx[0] = -g[0] / d0 - l1 * dx[1] - l2 * dx[2];
    *slope = g[0] * dx[0] + g[1] * dx[1] + g[2] * dx[2];
    *size = ABUT_LANES_ALL(0.);
    for (int i = 0; i < 3; i++) {
        const abut_lanes a = ABUT_LANES_ABS(dx[i]);
        *size = ABUT_LANES_PICK(a > *size, a, *size);
    }
}

/* Takes the lanes out of *good where the density is not defined at s. */
ABUT_LANES_INLINE void keep_defined(const lanes_problem *p, const abut_lanes *s, abut_lane_mask *good)
{
    *good &= ~p->positive | ((s[0] > 0) & (s[1] > 0) & (s[2] > 0));
}

ABUT_LANES_INLINE void add_distance(const lanes_problem *p, const abut_lanes *s, abut_lanes *sum)
{
    for (int i = 0; i < 3; i++) *sum += 0.5 * p->k * (s[i] - p->s0[i]) * (s[i] - p->s0[i]);
}

/* Starts at s0; *good: lanes where the density is defined there. */
ABUT_LANES_CLONES
static void lanes_begin(const abut_elastic *e, size_t t, size_t n, lanes_problem *p, abut_lane_mask *good)
{
    for (size_t l = 0; l < ABUT_LANES; l++) p->positive[l] = injective(e, t + (l < n ? l : 0)) ? -1 : 0;
    *good = (abut_lane_mask){ -1, -1, -1, -1 };
    keep_defined(p, p->s0, good);
    for (int i = 0; i < 3; i++) p->s[i] = ABUT_LANES_PICK(*good, p->s0[i], ABUT_LANES_ALL(1.));
    abut_elastic_principals(e, t, n, p->s, &p->q);
    p->sum = p->q.psi;
    add_distance(p, p->s, &p->sum);
}

/* One whole step in the lanes of *moves, which it reduces to the lanes that move again.  *good: lanes that have not failed. */
ABUT_LANES_CLONES
static void lanes_step(const abut_elastic *e, size_t t, size_t n, lanes_problem *p, abut_lane_mask *moves, abut_lane_mask *good)
{
    abut_lanes dx[3], trial[3], slope, size;
    abut_lane_mask solved = *moves;
    abut_principals q;
    whole_step(p, dx, &slope, &size, &solved);
    for (int i = 0; i < 3; i++) trial[i] = p->s[i] + dx[i];
    keep_defined(p, trial, &solved);
    for (int i = 0; i < 3; i++) trial[i] = ABUT_LANES_PICK(solved, trial[i], p->s[i]);
    abut_elastic_principals(e, t, n, trial, &q);
    abut_lanes sum = q.psi;
    add_distance(p, trial, &sum);
    solved &= sum <= p->sum + ARMIJO * slope + ROUNDING * (ABUT_LANES_ABS(p->sum) + p->k);
    *good &= ~*moves | solved;
    for (int i = 0; i < 3; i++) p->s[i] = ABUT_LANES_PICK(solved, trial[i], p->s[i]);
    p->sum = ABUT_LANES_PICK(solved, sum, p->sum);
    p->q = q;       /* read in moving lanes only */
    *moves = solved & ~(size <= ABUT_LANES_ALL(1e-7));      /* the remaining error is of the order of its square */
}

size_t abut_admm_project_lanes(const abut_elastic *e, size_t t, size_t n, const abut_lanes *k, const abut_lanes s0[3],
                               abut_lanes s[3])
{
    enum { ITERATIONS = 20 };
    lanes_problem p = { .k = *k, .s0 = { s0[0], s0[1], s0[2] } };
    abut_lane_mask good, moves;
    lanes_begin(e, t, n, &p, &good);
    moves = good;
    for (int it = 0; it < ITERATIONS && abut_lanes_any(&moves); it++) lanes_step(e, t, n, &p, &moves, &good);
    good &= ~moves;
    for (int i = 0; i < 3; i++) s[i] = p.s[i];
    for (size_t l = 0; l < n; l++) {
        if (good[l]) continue;
        const double from[3] = { s0[0][l], s0[1][l], s0[2][l] };
        double to[3];
        if (!abut_admm_project(e, t + l, (*k)[l], from, to)) return l;
        for (int i = 0; i < 3; i++) s[i][l] = to[i];
    }
    return n;
}

/* ---- construction ---- */

/* Index of the first variable of thin elements; number of all variables. */
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
    abut_status rc = ABUT_ARRAYS(ABUT_ITEMS(a->k, m->nm), ABUT_ZEROS(a->z, n), ABUT_ZEROS(a->u, n), ABUT_ITEMS(a->side, m->nt))
        ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "ADMM: %zu local variables", n);
    if (!rc && m->nt) rc = abut_stiffness_fit_materials(abut_elastic_of(&p->terms), fit_low, fit_high, a->k, err);
    for (size_t t = 0; t < (size_t)m->nt && !rc; t++) a->side[t] = cbrt(abut_elastic_of(&p->terms)->vol[t]);
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
    ABUT_FREE(a->side, a->k, a->z, a->u);
    *a = (abut_admm){ 0 };
}

static void spring_vector(const abut_model *m, size_t s, const double *x, double d[3])
{
    const double *a = x + 3 * (size_t)m->spring[2 * s], *b = x + 3 * (size_t)m->spring[2 * s + 1];
    for (int k = 0; k < 3; k++) d[k] = a[k] - b[k];
}

/* Corners of thin element e at x; unused corners are 0. */
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

/* The larger of the two; NaN when one is. */
static double larger(double a, double b) { return b > a || isnan(b) ? b : a; }

/* The largest of n differences; NaN when one is. */
static double largest(size_t n, const double *z, const double *other)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) most = larger(most, fabs(z[i] - other[i]));
    return most;
}

/* ---- the global right-hand side ---- */

/* Results of a pass over the elements of one kind: corner forces, 12 each; the largest |z - D x| and change of z; whether the
 * local step of an element had no minimum. */
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
        a->apart = larger(a->apart, q->apart[i]);
        a->moved = larger(a->moved, q->moved[i]);
    }
    return ABUT_OK;
}

/* The largest of nine differences, in each lane. */
ABUT_LANES_INLINE void largest_lanes(const abut_lanes *z, const abut_lanes *other, abut_lanes *most)
{
    *most = ABUT_LANES_ALL(0.);
    for (int i = 0; i < 9; i++) {
        const abut_lanes d = ABUT_LANES_ABS(z[i] - other[i]);
        *most = ABUT_LANES_PICK((d > *most) | (d != d), d, *most);
    }
}

/* Nine numbers of each of tets t .. t + n - 1, the first again in lanes without one. */
ABUT_LANES_INLINE void load_nine(const double *of, size_t t, size_t n, abut_lanes *v)
{
    const double *at[ABUT_LANES];
    for (size_t j = 0; j < 9; j += 3) {
        for (size_t l = 0; l < ABUT_LANES; l++) at[l] = of + 9 * (t + (l < n ? l : 0)) + j;
        abut_lanes_gather3(at, v + j);
    }
}

ABUT_LANES_INLINE void store_nine(const abut_lanes *v, size_t t, size_t n, double *to)
{
    for (size_t l = 0; l < n; l++)
        for (size_t i = 0; i < 9; i++) to[9 * (t + l) + i] = v[i][l];
}

/* Local step of four tets. */
typedef struct four {
    abut_lanes B[9], F[9], was[9], u[9], U[9], s0[3], V[9], s[3], k;
} four;

/* F, the old z, u, and the singular values of F + u */
ABUT_LANES_CLONES
static void four_begin(const abut_admm *a, const abut_elastic *e, const double *x, size_t t, size_t n, four *g)
{
    abut_lanes G[9];
    abut_elastic_load(e, x, t, n, g->B, g->F);
    load_nine(a->z, t, n, g->was);
    load_nine(a->u, t, n, g->u);
    for (size_t l = 0; l < ABUT_LANES; l++) g->k[l] = a->k[e->model->tet_mat[t + (l < n ? l : 0)]];
    for (int i = 0; i < 9; i++) G[i] = g->F[i] + g->u[i];
    abut_svd3_lanes(G, g->U, g->s0, g->V);
}

/* z = U diag(s) V^T, u += F - z, and the forces of the corners: D^T (F - z + u), as the gradient of a density with that stress */
ABUT_LANES_CLONES
static void four_end(abut_admm *a, const abut_objective *p, size_t t, size_t n, four *g, const pass *q)
{
    const abut_elastic *e = abut_elastic_of(&p->terms);
    abut_lanes z[9], P[9], f[12], apart, moved, w;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            z[3 * i + j] = g->U[3 * i] * g->s[0] * g->V[3 * j] + g->U[3 * i + 1] * g->s[1] * g->V[3 * j + 1] +
                           g->U[3 * i + 2] * g->s[2] * g->V[3 * j + 2];
    for (int i = 0; i < 9; i++) {
        g->u[i] += g->F[i] - z[i];
        P[i] = g->F[i] - z[i] + g->u[i];
    }
    largest_lanes(z, g->F, &apart);
    largest_lanes(z, g->was, &moved);
    for (size_t l = 0; l < ABUT_LANES; l++) w[l] = p->w.psi * e->vol[t + (l < n ? l : 0)];
    w *= g->k;
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < 3; i++)
            f[3 * (c + 1) + i] = w * (P[3 * i] * g->B[3 * c] + P[3 * i + 1] * g->B[3 * c + 1] + P[3 * i + 2] * g->B[3 * c + 2]);
    for (int i = 0; i < 3; i++) f[i] = -(f[3 + i] + f[6 + i] + f[9 + i]);
    store_nine(z, t, n, a->z);
    store_nine(g->u, t, n, a->u);
    for (size_t l = 0; l < n; l++) {
        q->apart[t + l] = a->side[t + l] * apart[l];
        q->moved[t + l] = a->side[t + l] * moved[l];
        for (size_t i = 0; i < 12; i++) q->f[12 * (t + l) + i] = f[i][l];
    }
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
    for (size_t t = 0; t < nt; t += ABUT_LANES) {
        const size_t n = nt - t < ABUT_LANES ? nt - t : ABUT_LANES;
        four g;
        four_begin(a, e, x, t, n, &g);
        const size_t found = abut_admm_project_lanes(e, t, n, &g.k, g.s0, g.s);
        for (size_t l = 0; l < n; l++) q.bad[t + l] = l == found;
        if (found == n) four_end(a, p, t, n, &g, &q);
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
        a->apart = larger(a->apart, largest(3, z, d));
        a->moved = larger(a->moved, largest(3, z, was));
        for (int i = 0; i < 3; i++) {
            const double pull = p->w.psi * m->spring_stiffness[s] * (d[i] - z[i] + u[i]);
            r[3 * (size_t)m->spring[2 * s] + (size_t)i] += pull;
            r[3 * (size_t)m->spring[2 * s + 1] + (size_t)i] -= pull;
        }
    }
}

/* One thin element: z, u and f = K (D x - z + u); the distance of z from D x, and its change, relative to corner 0. */
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
    const int ties = abut_terms_number(&p->terms, "attachment");
    if (!rc && ties >= 0) {
        const abut_term *t = &p->terms.term[ties];
        rc = t->ops->gradient(t->self, &(abut_at){ .z = x }, p->w.psi, r, scratch, err);
    }
    for (int32_t i = 0; i < 3 * m->nv && !rc; i++)
        if (p->row[i / 3] < 0) r[i] = 0;
    abut_arena_release(scratch, mark);
    return rc;
}
