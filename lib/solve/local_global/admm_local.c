#include "solve/local_global/admm_local.h"

#include "math/mat3.h"
#include "math/spd.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define ARMIJO 1e-4
#define ROUNDING (8 * DBL_EPSILON)  /* of psi, which is a difference of numbers like k */

static int injective(const abut_elastic *e, size_t t)
{
    return abut_material_injective(e->model->mat_model[e->model->tet_mat[t]]);
}

/* ---- one tet ---- */

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

/* ---- four ---- */

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
