#include "solve/direction/contact_subproblem.h"

#include <math.h>
#include <string.h>

#define RIDGE 1e-6          /* of the largest diagonal entry */
#define BELOW 0.999         /* largest part of the curvature along a gap that H may have */
#define OPEN 0.95           /* fraction of a gap that may be closed in one iteration */
#define SMALL 1e-13         /* of the model: a decrease that ends it */
#define ROUNDING 1e-9       /* of it: one that may be lost to rounding */
#define MOST_ITERATIONS 100
#define OFF 1e3             /* times gaps and s0: no minimum lies beyond */

/* weight b(gap) and its derivatives in the gap */
static double barrier(const abut_gap *a, double gap, double *d1, double *d2)
{
    const double d = gap + a->law.xi;
    double db, ddb;
    const double b = abut_barrier(a->law, gap * (gap + 2 * a->law.xi), &db, &ddb);
    *d1 = a->weight * db * 2 * d;
    *d2 = a->weight * (4 * d * d * ddb + 2 * db);
    return a->weight * b;
}

double abut_gap_extra(const abut_gap *a, double s, double *d1, double *d2)
{
    *d1 = *d2 = 0;
    if (!(a->gap + s > 0)) return INFINITY;
    double value = barrier(a, a->gap + s, d1, d2), e1, e2;
    if (!a->known) return value;
    const double known = barrier(a, a->gap, &e1, &e2);
    e2 += a->excess;
    value -= known + e1 * s + 0.5 * e2 * s * s;
    *d1 -= e1 + e2 * s;
    *d2 -= e2;
    return value;
}

/* Lower Cholesky factor of A [n * n], row major, in place; 0 when it has none. */
static int factor(size_t n, double *A)
{
    for (size_t j = 0; j < n; j++) {
        for (size_t i = j; i < n; i++)
            for (size_t k = 0; k < j; k++) A[i * n + j] -= A[i * n + k] * A[j * n + k];
        const double d = A[j * n + j];
        if (!(d > 0)) return 0;
        for (size_t i = j; i < n; i++) A[i * n + j] /= sqrt(d);
    }
    return 1;
}

static void solve(size_t n, const double *L, double *b)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++) b[i] -= L[i * n + k] * b[k];
        b[i] /= L[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++) b[i] -= L[k * n + i] * b[k];
        b[i] /= L[i * n + i];
    }
}

/* The model of n gaps, and scratch. */
typedef struct reduced {
    size_t n;
    abut_gap *gap;
    const double *s0;
    double *K, *L;              /* [n * n] G^-1, a factor */
    double *s, *trial;          /* [n] iterate, trial point */
    double *pull, *g, *h, *d;   /* [n] K (s - s0), gradient, second derivatives of phi, direction */
} reduced;

/* Makes G definite: adds RIDGE of its largest diagonal entry to all of them, or of each its own. */
static double ridge(const reduced *r, const double *G, size_t i, int own)
{
    double big = G[i * r->n + i];
    for (size_t j = 0; j < r->n && !own; j++) big = fmax(big, G[j * r->n + j]);
    return RIDGE * big;
}

/* K = (G + ridge)^-1 */
static int invert(const reduced *r, const double *G, int own)
{
    const size_t n = r->n;
    memcpy(r->L, G, n * n * sizeof *G);
    for (size_t i = 0; i < n; i++) r->L[i * n + i] += ridge(r, G, i, own);
    if (!factor(n, r->L)) return 0;
    memset(r->K, 0, n * n * sizeof *r->K);
    for (size_t j = 0; j < n; j++) {
        r->K[j * n + j] = 1;
        solve(n, r->L, r->K + j * n);
    }
    return 1;
}

/* Returns 1 if K less `part` of r->h, the curvature of known contacts in H, is definite. */
static int is_convex(const reduced *r, double part)
{
    const size_t n = r->n;
    memcpy(r->L, r->K, n * n * sizeof *r->L);
    for (size_t i = 0; i < n; i++) r->L[i * n + i] -= part * r->h[i];
    return factor(n, r->L);
}

/* Makes K, less the known contacts in H, definite.  H less its known contacts is, but K may have lost that: if a contact is much
 * stiffer than the bodies, the ridge and rounding exceed the compliance along its gap.  Then each gap has its own ridge and, if
 * that is not enough, a smaller part of the contacts counts as in H. */
static int make_convex(reduced *r, const double *G)
{
    static const double parts[] = { 1, BELOW, 0.9, 0.5, 0 };
    const size_t n = r->n;
    double e1, e2;
    int k = 0;
    if (!invert(r, G, 1)) return 0;
    for (size_t i = 0; i < n; i++) {
        r->h[i] = r->d[i] = 0;
        if (!r->gap[i].known) continue;
        (void)barrier(&r->gap[i], r->gap[i].gap, &e1, &e2);
        r->d[i] = e2 + r->gap[i].excess;
        r->h[i] = fmin(r->d[i], BELOW / (G[i * n + i] + ridge(r, G, i, 1)));
    }
    while (k < 4 && !is_convex(r, parts[k])) k++;
    for (size_t i = 0; i < n; i++) r->gap[i].excess -= r->d[i] - parts[k] * r->h[i];
    return 1;
}

/* The model at s; r->pull, r->g and r->h there. */
static double model(const reduced *r, const double *s)
{
    double sum = 0;
    for (size_t i = 0; i < r->n; i++) {
        double d1, pull = 0;
        for (size_t j = 0; j < r->n; j++) pull += r->K[i * r->n + j] * (s[j] - r->s0[j]);
        r->pull[i] = pull;
        sum += 0.5 * pull * (s[i] - r->s0[i]) + abut_gap_extra(&r->gap[i], s[i], &d1, &r->h[i]);
        r->g[i] = pull + d1;
    }
    return sum;
}

/* r->d: Newton's direction; the diagonal is increased until the matrix is definite. */
static int aim(const reduced *r)
{
    const size_t n = r->n;
    double stiff = 0;
    for (size_t i = 0; i < n; i++) stiff = fmax(stiff, r->K[i * n + i]);
    for (double shift = 0; shift < 1e12; shift = shift > 0 ? 100 * shift : 1e-8) {
        memcpy(r->L, r->K, n * n * sizeof *r->L);
        for (size_t i = 0; i < n; i++) r->L[i * n + i] += r->h[i] + shift * stiff;
        if (!factor(n, r->L)) continue;
        for (size_t i = 0; i < n; i++) r->d[i] = -r->g[i];
        solve(n, r->L, r->d);
        return 1;
    }
    return 0;
}

/* Returns the longest step along r->d that keeps gaps open. */
static double longest(const reduced *r)
{
    double most = 1;
    for (size_t i = 0; i < r->n; i++)
        if (r->d[i] < 0) most = fmin(most, OPEN * (r->gap[i].gap + r->s[i]) / -r->d[i]);
    return most;
}

/* Starts between 0 and s0, where every gap is open. */
static void start(const reduced *r)
{
    double part = 1;
    for (size_t i = 0; i < r->n; i++)
        if (r->s0[i] < 0) part = fmin(part, OPEN * r->gap[i].gap / -r->s0[i]);
    for (size_t i = 0; i < r->n; i++) r->s[i] = part * r->s0[i];
}

static int minimise(reduced *r)
{
    start(r);
    double now = model(r, r->s);
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        double slope = 0, next = INFINITY;
        if (!aim(r)) return 0;
        for (size_t i = 0; i < r->n; i++) slope -= r->g[i] * r->d[i];
        if (!(slope > SMALL * fabs(now))) return 1;
        for (double alpha = longest(r); alpha > 0x1p-40 && !(next <= now); alpha /= 2) {
            for (size_t i = 0; i < r->n; i++) r->trial[i] = r->s[i] + alpha * r->d[i];
            next = model(r, r->trial);
        }
        if (!(next <= now)) return slope <= ROUNDING * fabs(now);
        memcpy(r->s, r->trial, r->n * sizeof *r->s);
        now = next;
    }
    return 1;
}

/* Returns 1 if the iterations have followed a direction in which the model is unbounded. */
static int is_off(const reduced *r)
{
    double far = 0, most = 0;
    for (size_t i = 0; i < r->n; i++) {
        far = fmax(far, r->gap[i].gap + fabs(r->s0[i]));
        most = fmax(most, fabs(r->s[i]));
    }
    return most > OFF * far;
}

abut_status abut_contact_subproblem_minimise(size_t n, const abut_gap *gap, const double *G, const double *s0, double *lambda,
                                             int *solved, abut_arena *scratch, abut_err *err)
{
    const abut_mark mark = abut_arena_mark(scratch);
    double *room = ABUT_ROOM(scratch, double, 2 * n * n + 6 * n + 1);
    abut_gap *own = ABUT_ROOM(scratch, abut_gap, n + 1);
    if (!room || !own) return abut_fail(err, ABUT_E_NOMEM, "model of %zu gaps", n);
    double *v = room + 2 * n * n;
    memcpy(own, gap, n * sizeof *gap);
    reduced r = { n, own, s0, room, room + n * n, v, v + n, v + 2 * n, v + 3 * n, v + 4 * n, v + 5 * n };
    *solved = invert(&r, G, 0) && minimise(&r);
    if (*solved && is_off(&r)) *solved = make_convex(&r, G) && minimise(&r) && !is_off(&r);
    /* equal to phi', whose rounding is large for small gaps */
    for (size_t i = 0; i < n && *solved; i++) lambda[i] = -r.pull[i];
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}
