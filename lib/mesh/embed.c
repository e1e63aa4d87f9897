#include "mesh/proxy.h"

#include "base/words.h"
#include "geom/bernstein.h"
#include "geom/bvh.h"
#include "math/vec3.h"
#include "mesh/surface.h"
#include "mesh/tet_nodes.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef const double (*places)[3];

/* ---- the inverse of one map ---- */

static double size_of(const double L[4]) { return fabs(L[0]) + fabs(L[1]) + fabs(L[2]) + fabs(L[3]); }

static double least_of(const double L[4]) { return fmin(fmin(L[0], L[1]), fmin(L[2], L[3])); }

/* d = J^-1 r; 0 where J has no inverse */
static int solve3(const double J[9], const double r[3], double d[3])
{
    const abut_vec3 a = { J[0], J[3], J[6] }, b = { J[1], J[4], J[7] }, c = { J[2], J[5], J[8] }, v = abut_v3_get(r);
    const abut_vec3 bc = abut_v3_cross(b, c);
    const double det = abut_v3_dot(a, bc);
    if (!(fabs(det) > 0)) return 0;
    d[0] = abut_v3_dot(v, bc) / det;
    d[1] = abut_v3_dot(a, abut_v3_cross(v, c)) / det;
    d[2] = abut_v3_dot(a, abut_v3_cross(b, v)) / det;
    return isfinite(d[0]) && isfinite(d[1]) && isfinite(d[2]);
}

static double residual(int order, places X, const double s[3], const double L[4], double r[3], double J[9])
{
    double x[3];
    abut_tet_point(order, X, L, x, J);
    for (int d = 0; d < 3; d++) r[d] = s[d] - x[d];
    return sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
}

/* Damped Newton from L; the distance left. */
static double newton(int order, places X, const double s[3], double L[4])
{
    double r[3], J[9], d[3], left = residual(order, X, s, L, r, J);
    for (int it = 0; it < 60 && left > 0; it++) {
        if (!solve3(J, r, d)) return left;
        double step = fabs(d[0]) + fabs(d[1]) + fabs(d[2]), next[4], after = INFINITY;
        step = step > 0.5 ? 0.5 / step : 1;
        for (int half = 0; half < 30 && !(after < left); half++, step *= 0.5) {
            for (int c = 0; c < 3; c++) next[c + 1] = L[c + 1] + step * d[c];
            next[0] = 1 - next[1] - next[2] - next[3];
            after = residual(order, X, s, next, r, J);
        }
        if (!(after < left)) {
            residual(order, X, s, L, r, J);
            return left;
        }
        memcpy(L, next, sizeof next);
        left = after;
    }
    return left;
}

double abut_tet_invert(int order, const double (*X)[3], const double s[3], double L[4])
{
    static const double start[10][4] = { { .4, .2, .2, .2 }, { .2, .4, .2, .2 }, { .2, .2, .4, .2 }, { .2, .2, .2, .4 },
                                         { .25, .25, .25, .25 }, { .01, .33, .33, .33 }, { .33, .01, .33, .33 },
                                         { .33, .33, .01, .33 }, { .33, .33, .33, .01 }, { 1, 0, 0, 0 } };
    double extent = 0, best = INFINITY, first[4] = { 1, 0, 0, 0 };
    for (int c = 1; c < 4; c++)
        for (int d = 0; d < 3; d++) extent = fmax(extent, fabs(X[c][d] - X[0][d]));
    newton(1, X, s, first);
    memcpy(L, start[9], sizeof first);
    for (int k = -1; k < 9; k++) {
        double at[4];
        memcpy(at, k < 0 ? first : start[k], sizeof at);
        const double left = newton(order, X, s, at);
        const int solves = left <= 1e-10 * extent;
        if (solves && (!(best <= 1e-10 * extent) || size_of(at) < size_of(L))) memcpy(L, at, sizeof at), best = left;
        if (!solves && left < best) memcpy(L, at, sizeof at), best = left;
        if ((order == 1 && k < 0) || (solves && least_of(L) >= -1e-10)) break;
    }
    return best;
}

/* ---- which tet ---- */

typedef struct search {
    const abut_mesh *m, *surface;
    abut_box *box;              /* [nt] that hold the tets */
    double edge, diagonal, most;    /* m: a usual edge of a tet, of the box of all; of extrapolation */
    int32_t *tet;               /* [surface->nv] */
    double *L;                  /* [4 surface->nv] */
    double *left;               /* [surface->nv] m: residuals */
} search;

static abut_status no_memory(size_t n, abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "proxy: no memory for %zu boxes", n);
}

/* Boxes of Bernstein coefficients: a curved tet lies in their hull. */
static abut_status make_boxes(search *s, abut_err *err)
{
    const abut_mesh *m = s->m;
    double X[ABUT_TET_NODES_MAX][3], b[ABUT_TET_NODES_MAX][3], lo[3], hi[3], sum = 0;
    s->box = malloc(((size_t)m->nt + 1) * sizeof *s->box);
    if (!s->box) return no_memory((size_t)m->nt, err);
    abut_mesh_bounds(m, lo, hi);
    s->diagonal = abut_v3_norm(abut_v3_sub(abut_v3_get(hi), abut_v3_get(lo)));
    for (int32_t t = 0; t < m->nt; t++) {
        const int n = abut_mesh_tet_places(m, t, X);
        abut_bernstein_of_nodes(abut_mesh_order(m), (places)X, b, NULL);
        for (int i = 0; i < n; i++)
            for (int d = 0; d < 3; d++) b[i][d] += X[0][d];
        s->box[t] = abut_box_points(&b[0][0], NULL, (const int32_t[]){ 0 }, 1, 0);
        for (int32_t i = 1; i < n; i++) {
            const abut_box one = abut_box_points(&b[0][0], NULL, &i, 1, 1e-9 * s->diagonal);
            for (int d = 0; d < 3; d++) {
                s->box[t].lo[d] = fmin(s->box[t].lo[d], one.lo[d]);
                s->box[t].hi[d] = fmax(s->box[t].hi[d], one.hi[d]);
            }
        }
        for (int c = 1; c < 4; c++) sum += abut_v3_norm(abut_v3_sub(abut_v3_get(X[c]), abut_v3_get(X[0])));
    }
    s->edge = m->nt ? sum / (3 * (double)m->nt) : 0;
    return ABUT_OK;
}

/* Tet t for vertex v, if it suits it better than the one before. */
static void try_tet(search *s, int32_t v, int32_t t)
{
    double X[ABUT_TET_NODES_MAX][3], L[4], *best = s->L + 4 * (size_t)v;
    abut_mesh_tet_places(s->m, t, X);
    const double left = abut_tet_invert(abut_mesh_order(s->m), (places)X, s->surface->x + 3 * (size_t)v, L);
    if (!(left <= 1e-9 * s->diagonal)) return;
    const int inside = least_of(L) >= -1e-10, had = s->tet[v] >= 0, was_inside = had && least_of(best) >= -1e-10;
    const int better = !had || (inside && (!was_inside || least_of(L) > least_of(best))) ||
                       (!inside && !was_inside && size_of(L) < size_of(best));
    if (!better) return;
    s->tet[v] = t;
    s->left[v] = left;
    memcpy(best, L, sizeof L);
}

/* Vertices in boxes of tets. */
static abut_status look_inside(search *s, abut_err *err)
{
    const size_t n = (size_t)s->surface->nv;
    abut_box *point = malloc((n + 1) * sizeof *point);
    int32_t *number = malloc((n + 1) * sizeof *number), *apart = malloc(((size_t)s->m->nt + 1) * sizeof *apart);
    abut_pair_list pairs = { 0 };
    abut_status rc = point && number && apart ? ABUT_OK : no_memory(n, err);
    if (!rc) {
        for (int32_t i = 0; i < s->surface->nv; i++) {
            number[i] = i;
            point[i] = abut_box_points(s->surface->x, NULL, &i, 1, 0);
        }
        for (int32_t t = 0; t < s->m->nt; t++) apart[t] = (int32_t)n + t;    /* no common vertices */
        const abut_items a = { n, 1, number, NULL, point }, b = { (size_t)s->m->nt, 1, apart, NULL, s->box };
        rc = abut_bvh_pairs(&a, &b, &pairs, err);
    }
    for (size_t i = 0; i < (rc ? 0 : pairs.n); i++) try_tet(s, pairs.ij[i][0], pairs.ij[i][1]);
    abut_pair_list_clear(&pairs);
    free(point), free(number), free(apart);
    return rc;
}

static double box_distance2(const abut_box *b, const double *x)
{
    double d2 = 0;
    for (int d = 0; d < 3; d++) {
        const double out = fmax(fmax((double)b->lo[d] - x[d], x[d] - (double)b->hi[d]), 0);
        d2 += out * out;
    }
    return d2;
}

/* A vertex that no tet holds: those whose boxes are nearest, three at least, and all not much further away. */
static void look_outside(search *s, int32_t v)
{
    const double *x = s->surface->x + 3 * (size_t)v;
    double nearest[3] = { INFINITY, INFINITY, INFINITY };
    for (int32_t t = 0; t < s->m->nt; t++) {
        double d2 = box_distance2(&s->box[t], x);
        for (int k = 0; k < 3; k++)
            if (d2 < nearest[k]) {
                const double was = nearest[k];
                nearest[k] = d2, d2 = was;
            }
    }
    const double reach = fmax(1.1 * sqrt(isfinite(nearest[2]) ? nearest[2] : nearest[0]), sqrt(nearest[0]) + 0.1 * s->edge);
    for (int32_t t = 0; t < s->m->nt; t++)
        if (box_distance2(&s->box[t], x) <= reach * reach) try_tet(s, v, t);
}

static abut_status check_places(const search *s, abut_embedding *facts, abut_err *err)
{
    int32_t lost = 0, far = 0, worst = -1, first = -1;
    for (int32_t v = 0; v < s->surface->nv; v++) {
        if (s->tet[v] < 0) {
            if (!lost++) first = v;
            continue;
        }
        const double by = 0.5 * (size_of(s->L + 4 * (size_t)v) - 1);
        facts->residual = fmax(facts->residual, s->left[v]);
        facts->outside += least_of(s->L + 4 * (size_t)v) < -1e-10;
        far += by > s->most + 1e-9;
        if (by > facts->extrapolation) facts->extrapolation = by, worst = v;
    }
    const double *x = s->surface->x + 3 * (size_t)(lost ? first : worst >= 0 ? worst : 0);
    if (lost)
        return abut_fail(err, ABUT_E_GEOM,
                         "%d %s in no tet and near none, the first is %d at (%.6g, %.6g, %.6g): the inverse "
                         "of the map of no tet leads there; expected a surface in the tets",
                         lost, abut_plural(lost, "vertex of the surface is", "vertices of the surface are"), first, x[0], x[1],
                         x[2]);
    if (far)
        return abut_fail(err, ABUT_E_GEOM,
                         "%d %s outside of all tets by more than %g, the furthest is %d at (%.6g, %.6g, %.6g) "
                         "by %.3g of tet %d (sum of its negative barycentric coordinates): expected tets around the surface, or "
                         "a larger max-extrapolation",
                         far, abut_plural(far, "vertex of the surface is", "vertices of the surface are"), s->most, worst, x[0],
                         x[1], x[2], facts->extrapolation, s->tet[worst]);
    return ABUT_OK;
}

/* ---- which tets are near each other ---- */

/* Tets by corner: list[first[i] .. first[i + 1]). */
typedef struct stars {
    int32_t *first, *list, *seen, *queue;
} stars;

static abut_status make_stars(const abut_mesh *m, stars *s, abut_err *err)
{
    *s = (stars){ calloc((size_t)m->nv + 2, sizeof *s->first), malloc((4 * (size_t)m->nt + 1) * sizeof *s->list),
                  calloc((size_t)m->nt + 1, sizeof *s->seen), malloc(((size_t)m->nt + 1) * sizeof *s->queue) };
    if (!s->first || !s->list || !s->seen || !s->queue) return no_memory((size_t)m->nt, err);
    for (size_t i = 0; i < 4 * (size_t)m->nt; i++) s->first[m->tet[i] + 2]++;
    for (int32_t i = 0; i < m->nv; i++) s->first[i + 2] += s->first[i + 1];
    for (size_t i = 0; i < 4 * (size_t)m->nt; i++) s->list[s->first[m->tet[i] + 1]++] = (int32_t)(i / 4);
    return ABUT_OK;
}

/* Whether a chain of at most `most` tets, each with a common corner with the one before, leads from a to b.  mark: > 0, another
 * one for every call. */
static int is_near(const abut_mesh *m, stars *s, int32_t a, int32_t b, int most, int32_t mark)
{
    int32_t lo = 0, hi = 0;
    s->queue[hi++] = a, s->seen[a] = mark;
    for (int level = 0; level <= most && lo < hi; level++)
        for (const int32_t end = hi; lo < end; lo++) {
            const int32_t t = s->queue[lo];
            if (t == b) return 1;
            for (int c = 0; c < 4 && level < most; c++) {
                const int32_t v = m->tet[4 * (size_t)t + (size_t)c];
                for (int32_t k = s->first[v]; k < s->first[v + 1]; k++)
                    if (s->seen[s->list[k]] != mark) s->seen[s->list[k]] = mark, s->queue[hi++] = s->list[k];
            }
        }
    return 0;
}

static abut_status check_sides(const search *s, abut_err *err)
{
    const abut_mesh *S = s->surface;
    stars near = { 0 };
    abut_status rc = make_stars(s->m, &near, err);
    int32_t far = 0, at[2] = { 0, 0 };
    for (size_t i = 0; i < (rc ? 0 : 3 * (size_t)S->nf); i++) {
        const int32_t a = S->tri[i], b = S->tri[i % 3 == 2 ? i - 2 : i + 1];
        const double length = abut_v3_norm(abut_v3_sub(abut_v3_get(S->x + 3 * (size_t)b), abut_v3_get(S->x + 3 * (size_t)a)));
        const int most = 4 + (int)fmin(3 * length / s->edge, 1000);
        if (s->tet[a] == s->tet[b] || is_near(s->m, &near, s->tet[a], s->tet[b], most, (int32_t)(i % INT32_MAX) + 1)) continue;
        if (!far++) at[0] = a, at[1] = b;
    }
    if (!rc && far)
        rc = abut_fail(err, ABUT_E_GEOM,
                       "%d %s tets far apart, the first vertices %d in tet %d and %d in tet %d: expected "
                       "tets that are apart where the surface is",
                       far, abut_plural(far, "side of the surface joins", "sides of the surface join"), at[0], s->tet[at[0]],
                       at[1], s->tet[at[1]]);
    free(near.first), free(near.list), free(near.seen), free(near.queue);
    return rc;
}

/* ---- the proxy ---- */

static abut_status make(search *s, abut_proxy *out, abut_embedding *facts, abut_err *err)
{
    const abut_mesh *S = s->surface;
    const size_t n = (size_t)S->nv;
    s->tet = malloc((n + 1) * sizeof *s->tet), s->L = malloc((4 * n + 1) * sizeof *s->L);
    s->left = malloc((n + 1) * sizeof *s->left);
    abut_status rc = s->tet && s->L && s->left ? make_boxes(s, err) : no_memory(n, err);
    for (size_t v = 0; v < (rc ? 0 : n); v++) s->tet[v] = -1;
    if (!rc) rc = look_inside(s, err);
    for (int32_t v = 0; v < S->nv && !rc; v++)
        if (s->tet[v] < 0 || least_of(s->L + 4 * (size_t)v) < -1e-10) look_outside(s, v);
    if (!rc) rc = check_places(s, facts, err);
    if (!rc) rc = check_sides(s, err);
    if (!rc) rc = abut_proxy_room(out, S->nv, S->nf, abut_tet_nodes(abut_mesh_order(s->m)), err);
    if (rc) return rc;
    memcpy(out->X, S->x, 3 * n * sizeof *out->X);
    memcpy(out->tri, S->tri, 3 * (size_t)S->nf * sizeof *out->tri);
    for (int32_t v = 0; v < S->nv; v++) abut_proxy_row(s->m, s->tet[v], s->L + 4 * (size_t)v, out, v);
    return abut_proxy_offset(s->m, out, &facts->offset, err);
}

abut_status abut_proxy_embed(const abut_mesh *m, const abut_mesh *surface, double most, abut_proxy *out, abut_embedding *facts,
                             abut_err *err)
{
    assert(most >= 0);
    search s = { .m = m, .surface = surface, .most = most };
    *out = (abut_proxy){ 0 };
    *facts = (abut_embedding){ 0 };
    const abut_status rc = make(&s, out, facts, err);
    free(s.box), free(s.tet), free(s.L), free(s.left);
    if (rc) abut_proxy_clear(out);
    return rc;
}
