#include "energy/curved_rod.h"

#include "base/par.h"
#include "energy/term.h"
#include "geom/dist.h"
#include "math/vec3.h"
#include "model/motion.h"
#include "model/naming.h"
#include "sparse/elements.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ITERATIONS = 100, MOST_HALVINGS = 40 };
#define FOLDED 1e-13        /* 1 + t.t below this: one segment lies on the other */
#define STILL 1e-12         /* rad: a step of Newton's method below this is the last */
#define UNSEEN 1e-13        /* fraction of the energy that is rounding */
#define ROUNDING 1e-14      /* fraction of curvatures and angles: energies do not resolve smaller strains */
#define SHIFT 1e-8          /* fraction of the largest diagonal entry */
#define REVOLUTION 6.283185307179586
#define LONG 1e-3           /* rad: a step this long changes the energy, unless the energy does not depend on its angles */

void abut_curved_rods_clear(abut_curved_rods *r)
{
    double *all[] = { r->frame, r->rest, r->twist, r->t0, r->u0, r->spin, r->m0, r->work.t, r->work.u, r->work.length, r->work.kb,
                      r->work.mref, r->work.theta, r->work.m, r->work.matrix, r->work.f };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    ABUT_FREE(r->first, r->edge, r->bend, r->clamped, r->owner);
    *r = (abut_curved_rods){ 0 };
}

/* ---- which segments follow each other ---- */

static abut_status make_room(abut_curved_rods *r, abut_err *err)
{
    const size_t n = (size_t)r->model->nrd + 1, nb = (size_t)r->model->nbd + 1;
    struct abut_curved_rods_work *w = &r->work;
    const struct { double **at; size_t n; } all[] = {
        { &r->frame, 3 * n }, { &r->rest, 3 * nb }, { &r->twist, nb }, { &r->t0, 3 * n }, { &r->u0, 3 * n },
        { &r->spin, n }, { &r->m0, n },
        { &w->t, 3 * n }, { &w->u, 3 * n }, { &w->length, n }, { &w->kb, 3 * n }, { &w->mref, n }, { &w->theta, n },
        { &w->m, 6 * n }, { &w->matrix, 6 * n },
        { &w->f, 9 * nb },
    };
    int ok = 1;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) ok &= (*all[i].at = calloc(all[i].n, sizeof(double))) != NULL;
    r->first = calloc(n + 1, sizeof *r->first);
    r->edge = calloc(n, sizeof *r->edge);
    r->bend = calloc(n, sizeof *r->bend);
    r->clamped = calloc(n, 1);
    r->owner = calloc((size_t)r->model->nv + 1, sizeof *r->owner);
    if (ok && r->first && r->edge && r->bend && r->clamped && r->owner) return ABUT_OK;
    return abut_fail(err, ABUT_E_NOMEM, "curved rods: %d segments", r->model->nrd);
}

/* A segment from a to b, by its first node: out[2 nv] has up to two that leave a node. */
static int32_t segment(const abut_model *m, const int32_t *out, int32_t a, int32_t b)
{
    for (int k = 0; k < 2; k++) {
        const int32_t s = out[2 * (size_t)a + (size_t)k];
        if (s >= 0 && m->rod[2 * s + 1] == b) return s;
    }
    return -1;
}

/* Fails: bend i is not `expected`. */
static abut_status refuse_bend(const abut_model *m, int32_t i, const char *expected, abut_err *err)
{
    char words[ABUT_OBJECT_WORDS];
    const int32_t *v = m->bend + 3 * i;
    return abut_fail(err, ABUT_E_FORMAT, "array 'bend/node' row %d (bend %d %d %d of %s): expected %s, as with rod/curvature all "
                     "rods have", i, abut_node_number(m, v[0]), abut_node_number(m, v[1]), abut_node_number(m, v[2]),
                     abut_object_words(m, m->body[v[0]], words), expected);
}

/* next[s]: the segment that follows s, by[it]: the bend between; both -1 without. */
static abut_status follow(const abut_model *m, int32_t *out, int32_t *next, int32_t *by, abut_err *err)
{
    for (size_t i = 0; i < 2 * (size_t)m->nv; i++) out[i] = -1;
    for (int32_t s = 0; s < m->nrd; s++) {
        int32_t *at = out + 2 * (size_t)m->rod[2 * s];
        at[at[0] >= 0] = s;
        next[s] = by[s] = -1;
    }
    for (int32_t i = 0; i < m->nbd; i++) {
        const int32_t *v = m->bend + 3 * i;
        const int32_t one = segment(m, out, v[0], v[1]), two = segment(m, out, v[1], v[2]);
        if (one < 0 || two < 0) return refuse_bend(m, i, "two segments of rod/node that follow each other", err);
        if (next[one] >= 0 || by[two] >= 0) return refuse_bend(m, i, "segments with one bend at each end at most", err);
        next[one] = two;
        by[two] = i;
    }
    return ABUT_OK;
}

static abut_status find_rods(abut_curved_rods *r, abut_err *err)
{
    const abut_model *m = r->model;
    int32_t *out = malloc(2 * ((size_t)m->nv + 1) * sizeof *out), *next = malloc(((size_t)m->nrd + 1) * sizeof *next);
    int32_t *by = malloc(((size_t)m->nrd + 1) * sizeof *by), at = 0;
    abut_status rc = out && next && by ? follow(m, out, next, by, err)
                                       : abut_fail(err, ABUT_E_NOMEM, "curved rods: %d segments", m->nrd);
    for (int32_t s = 0; s < m->nrd && !rc; s++) {
        if (by[s] >= 0) continue;
        r->first[r->n++] = at;
        for (int32_t k = s; k >= 0; k = next[k]) r->bend[at] = by[k], r->edge[at++] = k;
    }
    if (!rc) r->first[r->n] = at;
    if (!rc && at < m->nrd) {
        char words[ABUT_OBJECT_WORDS];
        rc = abut_fail(err, ABUT_E_FORMAT, "a rod of %s is closed, expected two ends, as with rod/curvature all rods have",
                       abut_object_words(m, m->body[m->rod[0]], words));
    }
    ABUT_FREE(out, next, by);
    return rc;
}

abut_status abut_curved_rods_init(abut_curved_rods *r, const abut_model *m, abut_err *err)
{
    *r = (abut_curved_rods){ .model = m };
    abut_status rc = make_room(r, err);
    if (!rc) rc = find_rods(r, err);
    for (int32_t k = 0; k < m->nrd && !rc; k++) {
        const int32_t i = r->bend[k], s = r->edge[k];
        if (i < 0) continue;
        const double l = 0.5 * (m->rod_length[s] + m->rod_length[r->edge[k - 1]]);
        for (int d = 0; d < 2; d++) r->rest[3 * i + d] = m->rod_curvature ? l * m->rod_curvature[2 * i + d] : 0;
        r->rest[3 * i + 2] = m->rod_twist ? m->rod_twist[i] : 0;
        r->twist[i] = m->bend_stiffness[i] / (1 + m->mat_poisson[m->rod_mat[s]]);
    }
    if (rc) abut_curved_rods_clear(r);
    return rc;
}

/* ---- frames ---- */

/* z rotated as a is to b, unit vectors that are not opposite. */
static abut_vec3 transport(abut_vec3 a, abut_vec3 b, abut_vec3 z)
{
    const double c = abut_v3_dot(a, b);
    const abut_vec3 axb = abut_v3_cross(a, b);
    const abut_vec3 one = abut_v3_add(abut_v3_scale(c, z), abut_v3_cross(axb, z));
    return abut_v3_add(one, abut_v3_scale(abut_v3_dot(axb, z) / (1 + c), axb));
}

/* u made normal to t again, which rounding needs; where a segment has reversed, some normal. */
static abut_vec3 normal_to(abut_vec3 t, abut_vec3 u)
{
    double P[6];
    const abut_vec3 v = abut_v3_sub(u, abut_v3_scale(abut_v3_dot(u, t), t));
    const double length = abut_v3_norm(v);
    if (length > 0.1) return abut_v3_scale(1 / length, v);
    abut_tangent_plane((double[3]){ t.x, t.y, t.z }, P);
    return abut_v3_get(P);
}

static abut_vec3 tangent(const abut_model *m, int32_t s, const double *x, double *length)
{
    const abut_vec3 e = abut_v3_sub(abut_v3_get(x + 3 * (size_t)m->rod[2 * s + 1]), abut_v3_get(x + 3 * (size_t)m->rod[2 * s]));
    *length = abut_v3_norm(e);
    return *length > 0 ? abut_v3_scale(1 / *length, e) : (abut_vec3){ 1, 0, 0 };
}

/* Parallel along rod c from a direction that its first tangent decides; t by place in `edge`. */
static void parallel(const abut_curved_rods *r, int32_t c, const double *t, double *u)
{
    double P[6];
    for (int32_t k = r->first[c]; k < r->first[c + 1]; k++) {
        const abut_vec3 now = abut_v3_get(t + 3 * (size_t)k);
        if (k == r->first[c]) {
            abut_tangent_plane(t + 3 * (size_t)k, P);
            abut_v3_put(u + 3 * (size_t)k, abut_v3_get(P));
            continue;
        }
        const abut_vec3 before = abut_v3_get(t + 3 * (size_t)(k - 1)), z = abut_v3_get(u + 3 * (size_t)(k - 1));
        const int folded = !(1 + abut_v3_dot(before, now) > FOLDED);
        abut_v3_put(u + 3 * (size_t)k, normal_to(now, folded ? z : transport(before, now, z)));
    }
}

/* The angle about t from z, taken from tangent `before` to t, to u. */
static double angle_to(abut_vec3 before, abut_vec3 z, abut_vec3 t, abut_vec3 u)
{
    const abut_vec3 p = transport(before, t, z);
    return atan2(abut_v3_dot(abut_v3_cross(p, u), t), abut_v3_dot(p, u));
}

/* Starts a step at x0[3 nv], m; held[nv]; frame[3 nrd]: m1 of each segment at x0.  frame NULL: m1 is transported along each rod
 * from a direction that its first tangent determines. */
static void rods_start(abut_curved_rods *r, const double *x0, const uint8_t *held, const double *frame)
{
    const abut_model *m = r->model;
    double length;
    for (int32_t k = 0; k < m->nrd; k++) {
        const int32_t s = r->edge[k];
        const abut_vec3 t = tangent(m, s, x0, &length);
        abut_v3_put(r->t0 + 3 * (size_t)k, t);
        if (frame) abut_v3_put(r->u0 + 3 * (size_t)k, normal_to(t, abut_v3_get(frame + 3 * (size_t)s)));
        r->clamped[k] = held && held[m->rod[2 * s]] && held[m->rod[2 * s + 1]];
    }
    for (int32_t c = 0; c < r->n && !frame; c++) parallel(r, c, r->t0, r->u0);
    r->part = 1;
    for (int32_t k = 0; k < m->nrd; k++) {
        const double *t = r->t0 + 3 * (size_t)k, *u = r->u0 + 3 * (size_t)k;
        r->spin[k] = r->m0[k] = 0;
        if (r->bend[k] < 0 || !(1 + abut_v3_dot(abut_v3_get(t - 3), abut_v3_get(t)) > FOLDED)) continue;
        r->m0[k] = angle_to(abut_v3_get(t - 3), abut_v3_get(u - 3), abut_v3_get(t), abut_v3_get(u));
    }
}

/* Call after rods_start: clamps rotate as the motions of the step from `time`, s, rotate their two nodes. */
static void rods_turn(abut_curved_rods *r, double time)
{
    const abut_model *m = r->model;
    abut_motion_owners(m, time, r->owner);
    for (int32_t k = 0; k < m->nrd; k++) {
        const int32_t *v = m->rod + 2 * (size_t)r->edge[k], by = r->owner[v[0]];
        const abut_vec3 t0 = abut_v3_get(r->t0 + 3 * (size_t)k), u0 = abut_v3_get(r->u0 + 3 * (size_t)k);
        double d[3] = { t0.x, t0.y, t0.z }, u[3] = { u0.x, u0.y, u0.z }, about;
        if (!r->clamped[k] || by < 0 || by != r->owner[v[1]]) continue;
        if (!abut_motion_rotate(m, by, time, d, u, &about)) continue;
        const abut_vec3 t = abut_v3_get(d), from = 1 + abut_v3_dot(t0, t) > FOLDED ? t0 : t;    /* as `look` takes u there */
        const double angle = angle_to(from, u0, t, abut_v3_get(u));
        r->spin[k] = angle + REVOLUTION * round((about - angle) / REVOLUTION);
    }
}

/* Tangents, lengths, directions u, curvature binormals and angles of u across bends of rod c at x; 0: none are finite. */
static int look(abut_curved_rods *r, int32_t c, const double *x)
{
    struct abut_curved_rods_work *w = &r->work;
    for (int32_t k = r->first[c]; k < r->first[c + 1]; k++) {
        const size_t at = 3 * (size_t)k;
        const abut_vec3 t = tangent(r->model, r->edge[k], x, &w->length[k]), was = abut_v3_get(r->t0 + at);
        if (!(w->length[k] > 0) || !isfinite(w->length[k])) return 0;
        const abut_vec3 z = abut_v3_get(r->u0 + at);
        abut_v3_put(w->t + at, t);
        abut_v3_put(w->u + at, normal_to(t, 1 + abut_v3_dot(was, t) > FOLDED ? transport(was, t, z) : z));
        if (k == r->first[c]) continue;
        const abut_vec3 before = abut_v3_get(w->t + at - 3);
        const double chi = 1 + abut_v3_dot(before, t);
        if (!(chi > FOLDED)) return 0;
        abut_v3_put(w->kb + at, abut_v3_scale(2 / chi, abut_v3_cross(before, t)));
        w->mref[k] = angle_to(before, abut_v3_get(w->u + at - 3), t, abut_v3_get(w->u + at));
        const double jump = w->mref[k] - r->m0[k];
        if (fabs(jump) > REVOLUTION / 2) w->mref[k] -= copysign(REVOLUTION, jump);
    }
    return 1;
}

/* ---- twist ---- */

/* m1, m2 of the segments of rod c for these angles by place. */
static void turn(abut_curved_rods *r, int32_t c, const double *theta)
{
    struct abut_curved_rods_work *w = &r->work;
    for (int32_t k = r->first[c]; k < r->first[c + 1]; k++) {
        const abut_vec3 u = abut_v3_get(w->u + 3 * (size_t)k), v = abut_v3_cross(abut_v3_get(w->t + 3 * (size_t)k), u);
        const double co = cos(theta[k]), si = sin(theta[k]);
        abut_v3_put(w->m + 6 * (size_t)k, abut_v3_add(abut_v3_scale(co, u), abut_v3_scale(si, v)));
        abut_v3_put(w->m + 6 * (size_t)k + 3, abut_v3_sub(abut_v3_scale(co, v), abut_v3_scale(si, u)));
    }
}

/* e = kappa1, kappa2, m of the bend before segment k, less their rest values; the caller has called `turn`. */
static void strain(const abut_curved_rods *r, int32_t k, const double *theta, double e[3])
{
    const struct abut_curved_rods_work *w = &r->work;
    const abut_vec3 kb = abut_v3_get(w->kb + 3 * (size_t)k);
    const double *a = w->m + 6 * (size_t)(k - 1), *b = w->m + 6 * (size_t)k, *rest = r->rest + 3 * (size_t)r->bend[k];
    e[0] = 0.5 * (abut_v3_dot(kb, abut_v3_get(a + 3)) + abut_v3_dot(kb, abut_v3_get(b + 3))) - rest[0];
    e[1] = -0.5 * (abut_v3_dot(kb, abut_v3_get(a)) + abut_v3_dot(kb, abut_v3_get(b))) - rest[1];
    e[2] = theta[k] - theta[k - 1] + w->mref[k] - rest[2];
}

static double energy_of(abut_curved_rods *r, int32_t c, const double *theta)
{
    double sum = 0, e[3];
    turn(r, c, theta);
    for (int32_t k = r->first[c] + 1; k < r->first[c + 1]; k++) {
        const int32_t i = r->bend[k];
        strain(r, k, theta, e);
        sum += r->model->bend_stiffness[i] * (e[0] * e[0] + e[1] * e[1]) + r->twist[i] * e[2] * e[2];
    }
    return sum;
}

/* Gradient g, diagonal a and next diagonal b of the energy in theta, by place; gauss: without second derivatives of kappa. */
static void derivatives(const abut_curved_rods *r, int32_t c, const double *theta, int gauss, double *g, double *a, double *b)
{
    const struct abut_curved_rods_work *w = &r->work;
    for (int32_t k = r->first[c]; k < r->first[c + 1]; k++) g[k] = a[k] = b[k] = 0;
    for (int32_t k = r->first[c] + 1; k < r->first[c + 1]; k++) {
        const abut_vec3 kb = abut_v3_get(w->kb + 3 * (size_t)k);
        const double s = 2 * r->model->bend_stiffness[r->bend[k]], tw = 2 * r->twist[r->bend[k]];
        double e[3], d[2][2];
        strain(r, k, theta, e);
        for (int side = 0; side < 2; side++) {
            const double *m = w->m + 6 * (size_t)(k - 1 + side);
            d[side][0] = -0.5 * abut_v3_dot(kb, abut_v3_get(m));
            d[side][1] = -0.5 * abut_v3_dot(kb, abut_v3_get(m + 3));
            const double second = gauss ? 0 : e[0] * d[side][1] - e[1] * d[side][0];
            g[k - 1 + side] += s * (e[0] * d[side][0] + e[1] * d[side][1]) + (side ? tw : -tw) * e[2];
            a[k - 1 + side] += s * (d[side][0] * d[side][0] + d[side][1] * d[side][1] + second) + tw;
        }
        b[k - 1] = s * (d[0][0] * d[1][0] + d[0][1] * d[1][1]) - tw;
    }
    for (int32_t k = r->first[c]; k < r->first[c + 1]; k++) {
        if (!r->clamped[k]) continue;
        g[k] = b[k] = 0;
        a[k] = 1;
        if (k > r->first[c]) b[k - 1] = 0;
    }
}

/* Solves the tridiagonal system for p = -A^-1 g in the place of g; 0: a pivot is not positive. */
static int solve(int32_t lo, int32_t hi, double *a, const double *b, double *g)
{
    double most = 0;
    for (int32_t k = lo; k < hi; k++) most = fmax(most, fabs(a[k]));
    for (int32_t k = lo; k < hi; k++) {
        if (k > lo) {
            const double f = b[k - 1] / a[k - 1];
            a[k] -= f * b[k - 1];
            g[k] -= f * g[k - 1];
        }
        if (!(a[k] > SHIFT / 100 * most)) return 0;
    }
    for (int32_t k = hi - 1; k >= lo; k--) g[k] = (g[k] - (k + 1 < hi ? b[k] * g[k + 1] : 0)) / a[k];
    return 1;
}

/* Computes the direction p, to be subtracted from theta, with Newton's matrix.  If that is not positive definite, a shift is
 * added, for angles that the energy does not depend on, such as that of a straight rod about itself; else the Gauss-Newton matrix
 * is taken, with *concave = 1.  Returns g.p: twice the decrease of the energy by the model. */
static double direction(abut_curved_rods *r, int32_t c, const double *theta, double *p, double *a, double *b, double *g,
                        int *concave)
{
    const int32_t lo = r->first[c], hi = r->first[c + 1];
    const size_t bytes = (size_t)(hi - lo) * sizeof *p;
    double falls = 0;
    for (int attempt = 0, found = 0; attempt < 3 && !found; attempt++) {
        double most = 0;
        *concave = attempt == 2;
        derivatives(r, c, theta, attempt == 2, p, a, b);
        memcpy(g + lo, p + lo, bytes);
        for (int32_t k = lo; k < hi; k++) most = fmax(most, fabs(a[k]));
        for (int32_t k = lo; k < hi; k++) a[k] += attempt ? SHIFT * most : 0;
        found = solve(lo, hi, a, b, p);
        if (!found && attempt == 2) memset(p + lo, 0, bytes);
    }
    for (int32_t k = lo; k < hi; k++) falls += g[k] * p[k];
    return falls;
}

/* theta - step p into trial, and its energy. */
static double try_step(abut_curved_rods *r, int32_t c, const double *theta, const double *p, double step, double *trial)
{
    for (int32_t k = r->first[c]; k < r->first[c + 1]; k++) trial[k] = theta[k] - step * p[k];
    return energy_of(r, c, trial);
}

/* Halves the step p from theta until the energy *e falls.  If the energy is concave, which gives no distance to its minimum,
 * doubles the step while the energy falls further.  0: it does not fall. */
static int go_down(abut_curved_rods *r, int32_t c, double *theta, const double *p, int concave, double *trial, double *e)
{
    const int32_t lo = r->first[c], hi = r->first[c + 1];
    double step = 1;
    for (int half = 0; half < MOST_HALVINGS; half++, step /= 2) {
        double now = try_step(r, c, theta, p, step, trial), next;
        if (!(now < *e)) continue;
        for (; concave && (next = try_step(r, c, theta, p, 2 * step, trial)) < now; now = next) step *= 2;
        *e = try_step(r, c, theta, p, step, trial);
        memcpy(theta + lo, trial + lo, (size_t)(hi - lo) * sizeof *theta);
        return 1;
    }
    return 0;
}

/* The energy of strains that are the rounding of rod c. */
static double rounding_of(const abut_curved_rods *r, int32_t c)
{
    double sum = 0;
    for (int32_t k = r->first[c] + 1; k < r->first[c + 1]; k++)
        sum += r->model->bend_stiffness[r->bend[k]] + r->twist[r->bend[k]];
    return ROUNDING * ROUNDING * sum;
}

/* theta of rod c in equilibrium; *e its energy.  Returns the number of iterations; 0: not converged.  Steps whose decrease of the
 * energy is below rounding are taken without a line search, twice: Newton's method doubles the digits.  If such a step is long,
 * the energy does not depend on its angles, such as that of a straight rod about itself. */
static int untwist(abut_curved_rods *r, int32_t c, double *e)
{
    struct abut_curved_rods_work *w = &r->work;
    const size_t n = (size_t)r->model->nrd;
    double *theta = w->theta, *p = w->matrix, *a = p + n, *b = a + n, *trial = b + n;
    const int32_t lo = r->first[c], hi = r->first[c + 1];
    const double noise = rounding_of(r, c);
    int it = 0, blind = 0, done = 0;
    for (int32_t k = lo; k < hi; k++) theta[k] = r->part * r->spin[k];
    *e = energy_of(r, c, theta);
    while (it++ < MOST_ITERATIONS && !done) {
        double longest = 0;
        int concave;
        const double falls = direction(r, c, theta, p, a, b, trial, &concave);
        for (int32_t k = lo; k < hi; k++) longest = fmax(longest, fabs(p[k]));
        if (falls <= UNSEEN * *e + noise || longest < STILL) {
            done = ++blind == 2 || longest < STILL || longest > LONG;
            for (int32_t k = lo; k < hi && longest <= LONG; k++) theta[k] -= p[k];
        } else if (!go_down(r, c, theta, p, concave, trial, e)) {
            break;
        }
        turn(r, c, theta);
    }
    *e = energy_of(r, c, theta);
    return done ? it : 0;
}

/* Every rod at x with its twist in equilibrium; *sum, J. */
static abut_status settle(abut_curved_rods *r, const double *x, double *sum, abut_err *err)
{
    struct abut_curved_rods_work *w = &r->work;
    double *e = w->matrix + 4 * (size_t)r->model->nrd;      /* by rod: there are no more than segments */
    int most = 0, bad = r->n;
    #pragma omp parallel for schedule(static) reduction(max : most) reduction(min : bad) if (r->model->nrd > 512)
    for (int32_t c = 0; c < r->n; c++) {
        if (!look(r, c, x)) {
            e[c] = INFINITY;
            continue;
        }
        const int it = untwist(r, c, &e[c]);
        most = it > most ? it : most;
        bad = !it && c < bad ? c : bad;
    }
    abut_acc total = { 0, 0 };
    for (int32_t c = 0; c < r->n; c++) abut_acc_add(&total, e[c]);
    *sum = total.hi + total.lo;
    r->iterations = most;
    if (!isfinite(*sum)) *sum = INFINITY;
    if (bad == r->n) return ABUT_OK;
    char words[ABUT_NODES_WORDS];
    return abut_fail(err, ABUT_E_NUMERIC, "the twist of the rod that begins with %s has not converged after %d iterations",
                     abut_nodes_words(r->model, r->model->rod + 2 * (size_t)r->edge[r->first[bad]], 2, words), MOST_ITERATIONS);
}

/* Returns the rods at a point: clamps are rotated with the motions of their nodes. */
static abut_curved_rods *rods_at(void *self, const abut_at *at)
{
    abut_curved_rods *r = self;
    assert(r->model);
    r->part = at->x == at->step->x0 ? 0 : at->z == at->x ? 1 : at->step->reach;
    return r;
}

static abut_status energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    (void)scratch;
    const abut_status rc = settle(rods_at(self, at), at->z, e, err);
    *e *= scale;
    return rc;
}

/* ---- forces ---- */

/* Derivatives of kappa1, kappa2 and m of the bend before place k by its three nodes: D[3][9]. */
static void by_nodes(const abut_curved_rods *r, int32_t k, double D[3][9])
{
    const struct abut_curved_rods_work *w = &r->work;
    const abut_vec3 s = abut_v3_get(w->t + 3 * (size_t)(k - 1)), t = abut_v3_get(w->t + 3 * (size_t)k);
    const abut_vec3 kb = abut_v3_get(w->kb + 3 * (size_t)k);
    const double chi = 1 + abut_v3_dot(s, t), *a = w->m + 6 * (size_t)(k - 1), *b = w->m + 6 * (size_t)k;
    const abut_vec3 tt = abut_v3_scale(1 / chi, abut_v3_add(s, t));
    const abut_vec3 M1 = abut_v3_add(abut_v3_get(a), abut_v3_get(b)), M2 = abut_v3_add(abut_v3_get(a + 3), abut_v3_get(b + 3));
    const double kappa[2] = { 0.5 * abut_v3_dot(kb, M2), -0.5 * abut_v3_dot(kb, M1) };
    for (int q = 0; q < 3; q++) {
        abut_vec3 e0 = abut_v3_scale(0.5, kb), e1 = e0;
        if (q < 2) {
            const abut_vec3 M = abut_v3_scale((q ? -1 : 1) / chi, q ? M1 : M2);
            e0 = abut_v3_sub(abut_v3_cross(t, M), abut_v3_scale(kappa[q], tt));
            e1 = abut_v3_scale(-1, abut_v3_add(abut_v3_cross(s, M), abut_v3_scale(kappa[q], tt)));
        }
        e0 = abut_v3_scale(1 / w->length[k - 1], e0);
        e1 = abut_v3_scale(1 / w->length[k], e1);
        abut_v3_put(D[q], abut_v3_scale(-1, e0));
        abut_v3_put(D[q] + 3, abut_v3_sub(e0, e1));
        abut_v3_put(D[q] + 6, e1);
    }
}

static abut_status gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    abut_curved_rods *r = rods_at(self, at);
    const abut_model *m = r->model;
    double e_at;
    (void)scratch;
    const abut_status rc = settle(r, at->z, &e_at, err);
    if (rc) return rc;
    if (!isfinite(e_at))
        return abut_fail(err, ABUT_E_NUMERIC, "a curved rod has a segment without length, or one that lies on the one before");
    #pragma omp parallel for schedule(static) if (m->nrd > 512)
    for (int32_t k = 0; k < m->nrd; k++) {
        const int32_t i = r->bend[k];
        double e[3], D[3][9];
        if (i < 0) continue;
        const double s[3] = { 2 * m->bend_stiffness[i], 2 * m->bend_stiffness[i], 2 * r->twist[i] };
        strain(r, k, r->work.theta, e);
        by_nodes(r, k, D);
        for (int j = 0; j < 9; j++) {
            double f = 0;
            for (int q = 0; q < 3; q++) f += s[q] * e[q] * D[q][j];
            r->work.f[9 * (size_t)i + (size_t)j] = scale * f;
        }
    }
    for (int32_t i = 0; i < m->nbd; i++)
        for (size_t c = 0; c < 3; c++)
            for (size_t d = 0; d < 3; d++) g[3 * (size_t)m->bend[3 * i + (int32_t)c] + d] += r->work.f[9 * (size_t)i + 3 * c + d];
    return ABUT_OK;
}

static void hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    abut_curved_rods *r = rods_at(self, at);
    const abut_model *m = r->model;
    double e_at;
    (void)lo, (void)hi;
    if (settle(r, at->z, &e_at, NULL)) (void)e_at;     /* the gradient at x has reported it */
    #pragma omp parallel for schedule(static) if (m->nrd > 512)
    for (int32_t k = 0; k < m->nrd; k++) {
        const int32_t i = r->bend[k];
        double D[3][9];
        if (i < 0) continue;
        const double s[3] = { 2 * m->bend_stiffness[i], 2 * m->bend_stiffness[i], 2 * r->twist[i] };
        double *to = val + abut_packed_size(3) * (size_t)i;
        by_nodes(r, k, D);
        for (int p = 0; p < 3; p++)
            for (int q = p; q < 3; q++, to += 9)
                for (int j = 0; j < 9; j++) {
                    to[j] = 0;
                    for (int n = 0; n < 3; n++) to[j] += scale * s[n] * (D[n][3 * p + j / 3] * D[n][3 * q + j % 3]);
                }
    }
}

/* frame[3 nrd] = m1 of each segment at x.  Fails as settle; ABUT_E_NUMERIC  a bend twists by pi or more. */
static abut_status rods_frame(abut_curved_rods *r, const double *x, double *frame, abut_err *err)
{
    const abut_model *m = r->model;
    const double *theta = r->work.theta;
    double energy;
    const abut_status rc = settle(r, x, &energy, err);
    for (int32_t k = 0; k < m->nrd && !rc; k++) {
        const double twist = r->bend[k] < 0 ? 0 : theta[k] - theta[k - 1] + r->work.mref[k];
        char words[ABUT_NODES_WORDS];
        if (!(fabs(twist) < REVOLUTION / 2))
            return abut_fail(err, ABUT_E_NUMERIC, "the rod twists by %.4g degrees between the segments that meet at %s: expected "
                             "less than 180, which frames can tell; more segments share the twist", twist * 360 / REVOLUTION,
                             abut_nodes_words(m, m->bend + 3 * r->bend[k] + 1, 1, words));
        memcpy(frame + 3 * (size_t)r->edge[k], r->work.m + 6 * (size_t)k, 3 * sizeof *frame);
    }
    return rc;
}

/* dU/dtheta of the bend before place k by its segment on that side, Nm. */
static double moment(const abut_curved_rods *r, int32_t k, int side)
{
    const abut_vec3 kb = abut_v3_get(r->work.kb + 3 * (size_t)k);
    const double *m = r->work.m + 6 * (size_t)(k - 1 + side), tw = 2 * r->twist[r->bend[k]];
    double e[3];
    strain(r, k, r->work.theta, e);
    return (side ? tw : -tw) * e[2] - r->model->bend_stiffness[r->bend[k]] *
           (e[0] * abut_v3_dot(kb, abut_v3_get(m)) + e[1] * abut_v3_dot(kb, abut_v3_get(m + 3)));
}

abut_status abut_curved_rods_reaction(const abut_terms *terms, const abut_at *at, double *work, abut_err *err)
{
    void *rods = abut_terms_find(terms, abut_term_curved_rods.name);
    *work = 0;
    if (!rods) return ABUT_OK;
    abut_curved_rods *r = rods_at(rods, at);
    double e_at;
    abut_acc sum = { 0, 0 };
    const abut_status rc = settle(r, at->z, &e_at, err);
    for (int32_t k = 0; k < r->model->nrd && !rc; k++) {
        if (r->spin[k] == 0) continue;
        if (r->bend[k] >= 0) abut_acc_add(&sum, r->spin[k] * moment(r, k, 1));
        if (k + 1 < r->model->nrd && r->bend[k + 1] >= 0) abut_acc_add(&sum, r->spin[k] * moment(r, k + 1, 0));
    }
    *work = sum.hi + sum.lo;
    return rc;
}

abut_status abut_curved_rods_measure(abut_curved_rods *r, const double *x, double *out, abut_err *err)
{
    const abut_model *m = r->model;
    rods_start(r, x, NULL, NULL);
    memset(r->work.theta, 0, (size_t)m->nrd * sizeof(double));
    for (int32_t c = 0; c < r->n; c++) {
        char words[ABUT_NODES_WORDS];
        if (!look(r, c, x))
            return abut_fail(err, ABUT_E_GEOM, "the rod that begins with %s has a segment without length or one that lies on the "
                             "one before", abut_nodes_words(m, m->rod + 2 * (size_t)r->edge[r->first[c]], 2, words));
        turn(r, c, r->work.theta);
        for (int32_t k = r->first[c] + 1; k < r->first[c + 1]; k++) {
            const int32_t i = r->bend[k];
            const double l = 0.5 * (m->rod_length[r->edge[k]] + m->rod_length[r->edge[k - 1]]);
            double e[3];
            strain(r, k, r->work.theta, e);
            for (int d = 0; d < 2; d++) out[2 * i + d] = (e[d] + r->rest[3 * i + d]) / l;
        }
    }
    return ABUT_OK;
}

/* ---- term: where the model has curved rods, the bends of energy/codim.h are theirs ---- */

static abut_status make(void **self, const abut_term_world *w, abut_err *err)
{
    if (!w->model->rod_curvature) return ABUT_OK;
    abut_curved_rods *r = malloc(sizeof *r);
    if (!r) return abut_fail(err, ABUT_E_NOMEM, "curved rods: %d segments", w->model->nrd);
    const abut_status rc = abut_curved_rods_init(r, w->model, err);
    if (rc) free(r);
    else *self = r;
    return rc;
}

static void free_it(void *self)
{
    abut_curved_rods_clear(self);
    free(self);
}

static double stiffness(const void *self, double *each)
{
    const abut_model *m = ((const abut_curved_rods *)self)->model;
    double sum = 0;
    for (int32_t i = 0; i < m->nbd; i++) {
        sum += m->bend_stiffness[i];
        each[m->body[m->bend[3 * i]]] += m->bend_stiffness[i];
    }
    return sum;
}

/* Keeps the directions of the frame for `begin`, which gets the positions. */
static abut_status load(void *self, const abut_frame *f, const abut_term_frame *as, abut_err *err)
{
    abut_curved_rods *r = self;
    (void)err;
    if (as->pending) return ABUT_OK;
    r->has_frame = f->rod_frame != NULL;
    if (r->has_frame) memcpy(r->frame, f->rod_frame, 3 * (size_t)r->model->nrd * sizeof(double));
    return ABUT_OK;
}

static abut_status begin(void *self, const abut_term_step *step, abut_err *err)
{
    abut_curved_rods *r = self;
    (void)err;
    rods_start(r, step->x0, step->held, r->has_frame ? r->frame : NULL);
    if (step->target) rods_turn(r, step->time);
    return ABUT_OK;
}

/* Stores the directions at the positions of the frame.  For a PENDING frame, which comes second, stores the directions at the
 * start of its step, as read, or none. */
static abut_status store(const void *self, const abut_term_frame *as, abut_arrays *out, abut_err *err)
{
    abut_curved_rods r = *(const abut_curved_rods *)self;   /* shares the arrays that it works in */
    const int32_t nrd = r.model->nrd;
    if (as->pending && !r.has_frame) return abut_arrays_remove(out, "rod/frame"), ABUT_OK;
    double *to = abut_frame_put(out, "rod/frame", nrd, err);
    if (!to) return err->code;
    abut_arrays_find(out, "rod/frame")->flags |= ABUT_A_CARRY | ABUT_A_REQUIRED;
    r.part = 1;
    if (!as->pending) return rods_frame(&r, abut_arrays_find(out, "node/x")->data, to, err);
    memcpy(to, r.frame, 3 * (size_t)nrd * sizeof *to);
    return ABUT_OK;
}

abut_status abut_curved_rods_load(const abut_terms *terms, const abut_frame *f, abut_err *err)
{
    const abut_term_frame as = { 0, 1, NULL };
    void *rods = abut_terms_find(terms, abut_term_curved_rods.name);
    return rods ? load(rods, f, &as, err) : ABUT_OK;
}

abut_status abut_curved_rods_store(const abut_terms *terms, abut_arrays *out, abut_err *err)
{
    const abut_term_frame as = { 0, 1, NULL };
    const void *rods = abut_terms_find(terms, abut_term_curved_rods.name);
    return rods ? store(rods, &as, out, err) : ABUT_OK;
}

static abut_status elements(void *self, const abut_at *at, abut_elements *set, abut_err *err)
{
    const abut_model *m = ((const abut_curved_rods *)self)->model;
    (void)at, (void)err;
    set->corners = 3, set->n = (size_t)m->nbd, set->row = m->bend;
    return ABUT_OK;
}

/* Matrices of nearly straight rods: k |x0 - 2 x1 + x2|^2 / l^2, l the length of a segment. */
static abut_status constant(void *self, const double fit[2], double scale, double *val, abut_err *err)
{
    const abut_curved_rods *r = self;
    const abut_model *m = r->model;
    static const double c[3] = { 1, -2, 1 };
    (void)fit, (void)err;
    for (int32_t k = 0; k < m->nrd; k++) {
        const int32_t i = r->bend[k];
        if (i < 0) continue;
        const double l = m->rod_length[r->edge[k]], s = 2 * scale * m->bend_stiffness[i] / (l * l);
        double *to = val + abut_packed_size(3) * (size_t)i;
        for (int p = 0; p < 3; p++)
            for (int q = p; q < 3; q++, to += 9) to[0] = to[4] = to[8] = s * c[p] * c[q];
    }
    return ABUT_OK;
}

const abut_term_ops abut_term_curved_rods = { .name = "curved rods", .kind = ABUT_TERM_POTENTIAL, .weight = ABUT_TERM_AT_Z,
                                              .make = make, .stiffness = stiffness, .load = load, .store = store,
                                              .begin = begin, .energy = energy, .gradient = gradient, .set = "curved rods",
                                              .set_is = ABUT_SET_LASTS, .elements = elements, .hessian = hessian,
                                              .constant = constant, .free = free_it };
