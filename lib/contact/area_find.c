#include "contact/area.h"

#include "base/par.h"
#include "geom/dist_lanes.h"
#include "math/vec3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- cells near a vertex ---- */

static void tally_empty(abut_tally *t)
{
    for (size_t k = 0; k < t->n; k++) t->id[t->member[k]] = -1;
    t->n = 0;
}

static size_t tally_place(const abut_tally *t, int32_t id)
{
    size_t at = (size_t)id * 0x9E3779B97F4A7C15u >> 20 & (t->cap - 1);
    while (t->id[at] >= 0 && t->id[at] != id) at = (at + 1) & (t->cap - 1);
    return at;
}

/* Room for n cells; what is in the set is lost. */
static int tally_reserve(abut_tally *t, size_t n)
{
    if (t->cap >= 2 * n) return 1;
    size_t cap = 256;
    while (cap < 4 * n) cap *= 2;
    abut_tally_clear(t);
    *t = (abut_tally){ malloc(cap * sizeof *t->id), malloc(cap * sizeof *t->count), malloc(cap * sizeof *t->member), 0, cap };
    if (!t->id || !t->count || !t->member) return t->cap = 0;
    memset(t->id, 0xff, cap * sizeof *t->id);
    return 1;
}

static void tally_add(abut_tally *t, int32_t id, int32_t count)
{
    const size_t at = tally_place(t, id);
    if (t->id[at] < 0) {
        t->id[at] = id, t->count[at] = 0;
        t->member[t->n++] = at;
    }
    t->count[at] += count;
}

static void emit(abut_finds *f, int32_t class, const int32_t v[4], double d2, int32_t of, int32_t other)
{
    f->c[f->n++] = (abut_raw){ { v[0], v[1], v[2], v[3] }, class, -1, d2, { .of = { of, other } } };
}

/* 1: vertex p meets the part of vertex q with each of its patches. */
static int by_patch(const abut_area *a, int32_t p, int32_t q)
{
    return a->first[p + 1] - a->first[p] > 1 && a->part[p] != a->part[q];
}

/* A contact of vertex p, with its one patch if it is one with another part. */
static void emit_owned(const abut_area *a, int32_t p, abut_finds *f, int32_t class, const int32_t v[4], double d2,
                       int32_t count)
{
    const int whole = a->first[p + 1] == a->first[p] || a->part[p] == a->part[v[v[0] == p]];
    emit(f, class, v, d2, count, whole ? -1 : a->first[p]);
}

/* A part of the border of a cell is its nearest feature if it is as near as the cell: which of both rounding finds does not
 * matter, and the integers of all cells there meet at one feature.  Relative to the squared distance, as values then differ. */
#define TIE 1e-12

/* The side of a triangle that is as near to vertex v[0] as the triangle, 0 to 2, or -1. */
static int side_as_near(const int32_t v[4], const double *y, double d2)
{
    for (int k = 0; k < 3; k++) {
        double x[12], side2;
        abut_raw_points(y, (const int32_t[4]){ v[0], v[1 + k], v[1 + (k + 1) % 3], -1 }, 3, x);
        (void)abut_nearest(ABUT_PE, x, &side2);
        if (side2 <= (1 + TIE) * d2) return k;
    }
    return -1;
}

/* Triangle j is near vertex v[0], at feature f: the feature counts 1, and its sides and corners are known. */
static void take_triangle(const abut_area *a, int32_t j, const int32_t v[4], const abut_feature *f, const double *y, double d2,
                          abut_finds *out)
{
    for (int k = 0; k < 3; k++) tally_add(&out->edges, a->side[j][k], 0), tally_add(&out->vertices, v[1 + k], 0);
    if (f->kind == ABUT_PP) {
        tally_add(&out->vertices, v[f->idx[1]], 1);
        return;
    }
    const int corners = f->idx[1] + f->idx[2];
    const int side = f->kind == ABUT_PT ? side_as_near(v, y, d2) : corners == 3 ? 0 : corners == 5 ? 1 : 2;
    if (side < 0) emit_owned(a, v[0], out, ABUT_PT, v, d2, 1);
    else tally_add(&out->edges, a->side[j][side], 1);
}

/* The end of an edge v[1] v[2] that is nearest to v[0], 1 or 2, or 0: its inside is; x: the three points. */
static int nearest_end(const double *x, double *d2)
{
    const abut_feature f = abut_nearest(ABUT_PE, x, d2);
    if (f.kind == ABUT_PP) return f.idx[1];
    for (int k = 1; k < 3; k++) {
        const double end[6] = { x[0], x[1], x[2], x[3 * k], x[3 * k + 1], x[3 * k + 2] };
        if (abut_dist2(ABUT_PP, end, NULL) <= (1 + TIE) * *d2) return k;
    }
    return 0;
}

/* 1: vertex p meets what is at vertex q at the squared distance d2. */
static int meets(const abut_collmesh *cm, int32_t p, int32_t q, double d2)
{
    const double reach = abut_area_vertex_reach(cm, p, q), xi = abut_collmesh_xi(cm, ABUT_PP, (const int32_t[2]){ p, q });
    return abut_beyond2(d2, xi) < (2 * xi + reach) * reach;
}

/* Candidates r of a list, of one vertex. */
typedef struct near_vertex {
    const abut_pair_list *list;
    abut_range r;
} near_vertex;

/* 1: all triangles with vertices q and w (-1: any) are among those near vertex p, or have p.  In a flat part a search leaves
 * triangles out whose features have coefficient 0; what it leaves out elsewhere has no feature here. */
static int is_whole(const abut_collmesh *cm, int32_t p, int32_t q, int32_t w, const near_vertex *near)
{
    const abut_area *a = cm->area;
    for (int32_t k = a->around_first[q]; k < (abut_flat_has(a, p, q) ? a->around_first[q + 1] : 0); k++) {
        const int32_t t = a->around[k], *v = cm->tri + 3 * (size_t)t;
        if ((w >= 0 && v[0] != w && v[1] != w && v[2] != w) || v[0] == p || v[1] == p || v[2] == p) continue;
        size_t lo = near->r.lo, hi = near->r.hi;
        while (lo < hi) {
            const size_t mid = lo + (hi - lo) / 2;
            if (near->list->ij[mid][1] < t) lo = mid + 1;
            else hi = mid;
        }
        if (lo == near->r.hi || near->list->ij[lo][1] != t) return 0;
    }
    return 1;
}

/* The edges near vertex p count at their feature, then those that have a number left are contacts. */
static void take_edges(const abut_collmesh *cm, int32_t p, const near_vertex *near, const double *y, abut_finds *out)
{
    for (size_t k = 0; k < out->edges.n; k++) {
        const size_t at = out->edges.member[k];
        const int32_t e = out->edges.id[at], c = cm->area->of_edge[e], *ends = cm->edge + 2 * (size_t)e;
        const int32_t v[4] = { p, ends[0] < ends[1] ? ends[0] : ends[1], ends[0] < ends[1] ? ends[1] : ends[0], -1 };
        const int32_t left = out->edges.count[at] + c;
        double x[12], d2;
        if (!left) continue;
        abut_raw_points(y, v, 3, x);
        const int end = nearest_end(x, &d2);
        if (end) tally_add(&out->vertices, v[end], left);
        else if (meets(cm, p, v[1], d2) && is_whole(cm, p, v[1], v[2], near)) emit_owned(cm->area, p, out, ABUT_PE, v, d2, left);
    }
}

static void take_vertices(const abut_collmesh *cm, int32_t p, const near_vertex *near, const double *y, abut_finds *out)
{
    for (size_t k = 0; k < out->vertices.n; k++) {
        const size_t at = out->vertices.member[k];
        const int32_t q = out->vertices.id[at], left = out->vertices.count[at] + cm->area->of_vertex[q];
        const int32_t v[4] = { p < q ? p : q, p < q ? q : p, p, -1 };   /* the third is the owner, until contacts are merged */
        double x[12];
        if (!left) continue;
        abut_raw_points(y, v, 2, x);
        const double d2 = abut_dist2(ABUT_PP, x, NULL);
        if (meets(cm, p, q, d2) && is_whole(cm, p, q, -1, near)) emit_owned(cm->area, p, out, ABUT_PP, v, d2, left);
    }
}

/* The features of the cells near vertex p, which are collected, become contacts. */
static void take_cells(const abut_collmesh *cm, int32_t p, const near_vertex *near, const double *y, abut_finds *f)
{
    take_edges(cm, p, near, y, f);
    take_vertices(cm, p, near, y, f);
    tally_empty(&f->edges);
    tally_empty(&f->vertices);
}

/* ---- the faces of a vertex with patches ----
 *
 * A patch meets every triangle t of another part with the share F of it that faces t.  F varies from triangle to triangle: what
 * has F above a number is a surface with rims, whose cells have Euler coefficients of their own.  The sum over these surfaces
 * (of F by that number) is
 *
 *     sum over t of F_t (beta(t) + sum over its sides e of m beta(e) + sum over its corners v of m beta(v)),
 *     m(e) = [t has the largest F at e] - 1,    m(v) = [t has the largest F at v] - 1 - sum of m over the sides of t at v
 *
 * Each beta is of a closed cell, so forces have no jumps; each surface repels. */

#define ALIKE 1e-12         /* F that differ by less are one */

static int faces_reserve(abut_finds *f, size_t n)
{
    f->n_face = 0;
    if (n <= f->cap_face) return 1;
    free(f->face), free(f->share);
    f->cap_face = 2 * n;
    f->face = malloc(f->cap_face * sizeof *f->face), f->share = malloc(7 * f->cap_face * sizeof *f->share);
    if (f->face && f->share) return 1;
    ABUT_FREE(f->face, f->share);
    f->face = NULL, f->share = NULL;
    return f->cap_face = 0;
}

/* Triangle j is near vertex v[0], at feature f. */
static void note_face(const abut_collmesh *cm, int32_t j, const int32_t v[4], const abut_feature *f, const double *y, double d2,
                      abut_finds *out)
{
    const abut_area *a = cm->area;
    abut_near_face *face = &out->face[out->n_face++];
    face->t = j;
    for (int k = 0; k < 3; k++) {
        const int32_t e = a->side[j][k], *ends = cm->edge + 2 * (size_t)e;
        const int32_t of[4] = { v[0], ends[0] < ends[1] ? ends[0] : ends[1], ends[0] < ends[1] ? ends[1] : ends[0], -1 };
        double x[12];
        abut_raw_points(y, of, 3, x);
        const int end = nearest_end(x, &face->d2[k]);
        face->of[k][0] = end ? ABUT_PP : ABUT_PE, face->of[k][1] = end ? of[end] : e;
    }
    const int corners = f->idx[1] + f->idx[2];
    const int side = f->kind == ABUT_PT ? side_as_near(v, y, d2) : corners == 3 ? 0 : corners == 5 ? 1 : 2;
    face->of[3][0] = f->kind, face->of[3][1] = f->kind == ABUT_PP ? v[f->idx[1]] : j, face->d2[3] = d2;
    if (f->kind != ABUT_PP && side >= 0) memcpy(face->of[3], face->of[side], sizeof face->of[3]), face->d2[3] = face->d2[side];
}

/* The face with the largest share among those with a cell, in the number of it. */
static void note_largest(abut_tally *t, int32_t id, int32_t i, const abut_near_face *face)
{
    const size_t at = tally_place(t, id);
    if (t->id[at] < 0) tally_add(t, id, i);
    else if (face[i].facing > face[t->count[at]].facing) t->count[at] = i;
}

static void add_share(abut_finds *f, const int32_t of[2], double d2, int32_t like, int32_t count)
{
    f->share[f->n_share++] = (abut_share_of_face){ of[0], of[1], like, count, d2 };
}

/* Adds the integers of triangle i to the features of its cells. */
static void add_shares(const abut_collmesh *cm, int32_t i, abut_finds *f)
{
    const abut_near_face *face = &f->face[i];
    const int32_t *v = cm->tri + 3 * (size_t)face->t;
    int least[3];
    add_share(f, face->of[3], face->d2[3], face->of[3][0] == ABUT_PT ? i : face->like, 1);
    for (int k = 0; k < 3; k++) {
        least[k] = f->edges.count[tally_place(&f->edges, cm->area->side[face->t][k])] != i;
        if (least[k]) add_share(f, face->of[k], face->d2[k], face->like, -1);
    }
    for (int k = 0; k < 3; k++) {
        const int largest = f->vertices.count[tally_place(&f->vertices, v[k])] == i;
        const int32_t count = largest - 1 + least[k] + least[(k + 2) % 3], of[2] = { ABUT_PP, v[k] };
        if (count) add_share(f, of, -1, face->like, count);
    }
}

static int compare_shares(const void *p, const void *q)
{
    const abut_share_of_face *a = p, *b = q;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    if (a->cell != b->cell) return a->cell < b->cell ? -1 : 1;
    return (a->like > b->like) - (a->like < b->like);
}

static void emit_share(const abut_collmesh *cm, int32_t p, int32_t patch, const abut_share_of_face *s, int32_t count,
                       const double *y, abut_finds *f)
{
    const int32_t *ends = cm->edge + 2 * (size_t)s->cell, q = s->cell;
    int32_t v[4] = { p, -1, -1, -1 };
    double d2 = s->d2;
    if (s->kind == ABUT_PT) memcpy(v + 1, cm->tri + 3 * (size_t)f->face[s->like].t, 3 * sizeof *v);
    else if (s->kind == ABUT_PE) v[1] = ends[0] < ends[1] ? ends[0] : ends[1], v[2] = ends[0] < ends[1] ? ends[1] : ends[0];
    else {
        double x[12];
        v[0] = p < q ? p : q, v[1] = p < q ? q : p, v[2] = p;
        abut_raw_points(y, v, 2, x);
        d2 = abut_dist2(ABUT_PP, x, NULL);
    }
    if (!meets(cm, p, s->kind == ABUT_PP ? q : v[1], d2)) return;
    emit(f, s->kind, v, d2, count, patch);
    f->c[f->n - 1].face = f->face[s->like].t;
}

/* The contacts of the patches of vertex p with the triangles noted. */
static void take_faces(const abut_collmesh *cm, int32_t p, const double *y, abut_finds *f)
{
    const abut_area *a = cm->area;
    for (int32_t k = a->first[p]; k < (f->n_face ? a->first[p + 1] : 0); k++) {
        f->n_share = 0;
        for (size_t i = 0; i < f->n_face; i++) {
            abut_near_face *face = &f->face[i];
            face->facing = abut_area_faces(cm, p, k, face->t, y), face->like = (int32_t)i;
            for (size_t j = 0; j < i && face->like == (int32_t)i; j++)
                if (f->face[j].like == (int32_t)j && fabs(f->face[j].facing - face->facing) < ALIKE) face->like = (int32_t)j;
            for (int c = 0; c < 3; c++) {
                note_largest(&f->edges, a->side[face->t][c], (int32_t)i, f->face);
                note_largest(&f->vertices, cm->tri[3 * (size_t)face->t + (size_t)c], (int32_t)i, f->face);
            }
        }
        for (size_t i = 0; i < f->n_face; i++)
            if (f->face[i].facing > 0) add_shares(cm, (int32_t)i, f);
        if (f->n_share) qsort(f->share, f->n_share, sizeof *f->share, compare_shares);
        for (size_t i = 0, next; i < f->n_share; i = next) {
            int32_t count = 0;
            const abut_share_of_face *s = &f->share[i];
            for (next = i; next < f->n_share && !compare_shares(s, &f->share[next]); next++) count += f->share[next].count;
            if (count) emit_share(cm, p, k, s, count, y, f);
        }
        tally_empty(&f->edges);
        tally_empty(&f->vertices);
    }
}

/* ---- blocks of candidates ---- */

static void mark_bad(abut_spot *spot, size_t k, double d2, double xi)
{
    if (!(abut_beyond2(d2, xi) > 0) && spot->bad < 0) spot->bad = (int32_t)k;
}

/* Candidates r of the list are those of one vertex with triangles; bad places count from `from`. */
static void vertex_find(const abut_collmesh *cm, const abut_pair_list *list, abut_range r, size_t from, const double *y,
                        abut_finds *f, abut_spot *spot)
{
    abut_candidate_four four;
    abut_nearest_four of;
    const int32_t p = list->ij[r.lo][0];
    for (size_t k = r.lo; k < r.hi; k += ABUT_LANES) {
        abut_candidates_take(cm, ABUT_PT, list, k, r.hi, &four);
        abut_nearest_lanes(ABUT_PT, y, (const int32_t (*)[4])four.v, &of);
        for (size_t l = 0; l < four.n; l++) {
            mark_bad(spot, k + l - from, of.dist2[l], four.xi[l]);
            if (!meets(cm, p, four.v[l][1], of.dist2[l])) continue;
            if (by_patch(cm->area, p, four.v[l][1]))
                note_face(cm, list->ij[k + l][1], four.v[l], of.feature[l], y, of.dist2[l], f);
            else take_triangle(cm->area, list->ij[k + l][1], four.v[l], of.feature[l], y, of.dist2[l], f);
        }
    }
    take_cells(cm, p, &(near_vertex){ list, r }, y, f);
    take_faces(cm, p, y, f);
}

/* Candidates r of the list are those of one vertex in no triangle with edges in no triangle. */
static void thin_find(const abut_collmesh *cm, const abut_pair_list *list, abut_range r, size_t from, const double *y,
                      abut_finds *f, abut_spot *spot)
{
    const int32_t p = list->ij[r.lo][0];
    for (size_t k = r.lo; k < r.hi; k++) {
        int32_t v[4];
        double x[12], d2;
        abut_candidate_vertices(cm, ABUT_PE, list->ij[k], v);
        abut_raw_points(y, v, 3, x);
        (void)abut_nearest(ABUT_PE, x, &d2);
        mark_bad(spot, k - from, d2, abut_candidate_xi(cm, ABUT_PE, list->ij[k]));
        if (!meets(cm, p, v[1], d2)) continue;
        tally_add(&f->edges, list->ij[k][1], 0);
        for (int e = 1; e < 3; e++) tally_add(&f->vertices, v[e], 0);
    }
    take_cells(cm, p, &(near_vertex){ list, r }, y, f);
}

/* The vertices whose candidates begin in block b. */
static void block_of_vertices(const abut_collmesh *cm, const abut_pair_list *list, abut_stencil s, size_t b, const double *y,
                              abut_finds *f, abut_spot *spot)
{
    const abut_range r = abut_block(list->n, b);
    size_t lo = r.lo;
    while (lo && lo < r.hi && list->ij[lo][0] == list->ij[lo - 1][0]) lo++;
    while (lo < r.hi) {
        size_t hi = lo + 1;
        while (hi < list->n && list->ij[hi][0] == list->ij[lo][0]) hi++;
        const size_t n = hi - lo;
        if (!tally_reserve(&f->edges, 3 * n) || !tally_reserve(&f->vertices, 3 * n) || !faces_reserve(f, n)) {
            f->full = 1;
            return;
        }
        if (!abut_finds_reserve(f, 7 * n * abut_area_shares(cm->area, list->ij[lo][0]))) return;
        if (s == ABUT_PT) vertex_find(cm, list, (abut_range){ lo, hi }, r.lo, y, f, spot);
        else thin_find(cm, list, (abut_range){ lo, hi }, r.lo, y, f, spot);
        lo = hi;
    }
}

/* Block b of two bare points each: either has its contact. */
static void block_of_points(const abut_collmesh *cm, const abut_pair_list *list, size_t b, const double *y, abut_finds *f,
                            abut_spot *spot)
{
    const abut_range r = abut_block(list->n, b);
    for (size_t k = r.lo; k < r.hi; k++) {
        int32_t v[4];
        double x[12];
        abut_candidate_vertices(cm, ABUT_PP, list->ij[k], v);
        abut_raw_points(y, v, 2, x);
        const double d2 = abut_dist2(ABUT_PP, x, NULL);
        mark_bad(spot, k - r.lo, d2, abut_candidate_xi(cm, ABUT_PP, list->ij[k]));
        if (!abut_finds_reserve(f, abut_area_shares(cm->area, v[0]) + abut_area_shares(cm->area, v[1]))) return;
        const int32_t own[2][4] = { { v[0], v[1], v[0], -1 }, { v[0], v[1], v[1], -1 } };
        for (int side = 0; side < 2; side++)
            if (meets(cm, v[side], v[1 - side], d2)) emit_owned(cm->area, v[side], f, ABUT_PP, own[side], d2, 1);
    }
}

/* |u x v|^2 from which on two edges are not parallel (geom/dist.h), m^4. */
static double parallel_from(const abut_collmesh *cm, int32_t e, int32_t f)
{
    const int32_t *mollifier = cm->model->mollifier;
    return !mollifier || *mollifier ? abut_mollify_eps(cm->rest2[e], cm->rest2[f]) : 0;
}

#define FLAT 1e-6               /* sine of an angle */

/* 1: edge e lies inside a plane face of an obstacle: a vertex of a rod or the border of the face is as near as any point of e. */
static int is_in_face(const abut_collmesh *cm, int32_t e, const double *y)
{
    const int32_t *v = cm->edge + 2 * (size_t)e, *wing = cm->area->wing[e];
    if (wing[1] < 0 || cm->area->of_edge[e] != -1 || !cm->obstacle[v[0]]) return 0;
    const double *p = y + 3 * (size_t)v[0];
    const abut_vec3 u = abut_v3_diff(y + 3 * (size_t)v[1], p);
    const abut_vec3 n = abut_v3_cross(u, abut_v3_diff(y + 3 * (size_t)wing[0], p));
    const abut_vec3 m = abut_v3_cross(abut_v3_diff(y + 3 * (size_t)wing[1], p), u);
    const double along = abut_v3_dot(n, m);
    return along > 0 && abut_v3_norm(abut_v3_cross(n, m)) <= FLAT * along;
}

/* Block b of the edges: pairs whose nearest points are inside; with an edge of a rod, all near ones by their nearest feature, but
 * for edges inside faces. */
static void block_of_crossings(const abut_collmesh *cm, const abut_pair_list *list, size_t b, const double *y, abut_finds *f,
                               abut_spot *spot)
{
    const abut_range r = abut_block(list->n, b);
    abut_candidate_four four;
    abut_nearest_four near;
    for (size_t k = r.lo; k < r.hi; k += ABUT_LANES) {
        abut_candidates_take(cm, ABUT_EE, list, k, r.hi, &four);
        abut_nearest_lanes(ABUT_EE, y, (const int32_t (*)[4])four.v, &near);
        for (size_t l = 0; l < four.n; l++) {
            const int32_t e = list->ij[k + l][0], other = list->ij[k + l][1], *v = four.v[l];
            const double xi = four.xi[l], D = abut_beyond2(near.dist2[l], xi), reach = abut_area_edge_reach(cm, e, other);
            mark_bad(spot, k + l - r.lo, near.dist2[l], xi);
            if (!(D > 0) || !(D < (2 * xi + reach) * reach)) continue;
            if (cm->area->thin[v[0]] || cm->area->thin[v[2]]) {
                if (is_in_face(cm, e, y) || is_in_face(cm, other, y)) continue;
                abut_raw *c = &f->c[f->n++];
                if (near.cross2[l] < parallel_from(cm, e, other)) {
                    memcpy(c->v, v, sizeof c->v);
                    c->class = ABUT_RAW_MOLLIFIED, c->face = -1, c->dist2 = near.dist2[l];
                } else {
                    abut_raw_reduce(near.feature[l], v, y, near.dist2[l], c);
                    if (c->class != ABUT_EE) c->v[3] = ABUT_AREA_ROD;
                }
                c->of[0] = e, c->of[1] = abut_area_of_rod(other);
            } else if (near.feature[l]->kind == ABUT_EE) emit(f, ABUT_EE, v, near.dist2[l], e, other);
        }
    }
}

void abut_area_find_block(const abut_collmesh *cm, const abut_pair_list *list, abut_stencil s, size_t b, const double *y,
                          abut_finds *f, abut_spot *spot)
{
    if (s == ABUT_EE) block_of_crossings(cm, list, b, y, f, spot);
    else if (s == ABUT_PP) block_of_points(cm, list, b, y, f, spot);
    else block_of_vertices(cm, list, s, b, y, f, spot);
}

/* 1: all vertices of triangle t are further than its guards act from the lines of the sides opposite to them. */
static int is_high(const abut_collmesh *cm, const double *y, int32_t t)
{
    const int32_t *v = cm->tri + 3 * (size_t)t;
    const double *p = y + 3 * (size_t)v[0], *q = y + 3 * (size_t)v[1], *r = y + 3 * (size_t)v[2];
    const abut_vec3 a = abut_v3_diff(q, p), b = abut_v3_diff(r, p), c = abut_v3_diff(r, q);
    const double within = cm->area->guard_within[t], longest2 = fmax(fmax(abut_v3_norm2(a), abut_v3_norm2(b)), abut_v3_norm2(c));
    return abut_v3_norm2(abut_v3_cross(a, b)) > (1 + 1e-9) * within * within * longest2;
}

void abut_area_find_guards(const abut_collmesh *cm, const double *y, abut_finds *f, abut_spot *spot)
{
    const abut_area *a = cm->area;
    *spot = (abut_spot){ .at = f->n, .bad = -1 };
    for (int32_t t = 0; t < (a->guard_first ? cm->nt : 0); t++)
        for (int32_t k = a->guard_first[t]; k < (is_high(cm, y, t) ? k : a->guard_first[t + 1]); k++) {
            const int32_t *g = a->guard[k], v[4] = { g[0], g[1], g[2], k };
            const double xi = abut_collmesh_xi(cm, ABUT_PE, g), reach = a->guard_reach[k];
            double x[12];
            abut_raw_points(y, v, 3, x);
            const double d2 = abut_dist2(ABUT_PE, x, NULL);
            if (!(abut_beyond2(d2, xi) < (2 * xi + reach) * reach)) continue;
            if (!abut_finds_reserve(f, 1)) return;
            emit(f, ABUT_PE, v, d2, 1, 0);
        }
    spot->n = (int32_t)(f->n - spot->at);
}

void abut_area_merge(const abut_collmesh *cm, const abut_raw *c, size_t n, abut_pairs *out)
{
    out->n = n;
    for (size_t i = 0; i < n; i++) {
        const int32_t *v = c[i].v, *of = c[i].of, mollified = c[i].class == ABUT_RAW_MOLLIFIED;
        const int32_t kind = mollified ? ABUT_EE : c[i].class;
        const int rod = of[1] <= ABUT_AREA_ROD, edges = kind == ABUT_EE || rod, guard = kind == ABUT_PE && v[3] >= 0;
        const int32_t other = rod ? abut_area_of_rod(of[1]) : of[1];
        out->kind[i] = (uint8_t)kind;
        memcpy(out->vert[i], v, sizeof c[i].v);
        for (int k = abut_stencil_size((abut_stencil)kind); k < 4; k++) out->vert[i][k] = -1;
        out->of[i][0] = edges ? of[0] : kind == ABUT_PP ? v[2] : v[0];
        out->of[i][1] = guard ? ABUT_AREA_GUARD : of[1];
        out->of[i][2] = c[i].face;
        out->mult[i] = edges ? 1 : of[0];
        out->dist2[i] = c[i].dist2;
        out->eps_x[i] = mollified ? parallel_from(cm, of[0], other) : 0;
        out->reach[i] = guard   ? cm->area->guard_reach[v[3]]
                        : edges ? abut_area_edge_reach(cm, of[0], other)
                                : abut_area_vertex_reach(cm, out->of[i][0], out->of[i][0] == v[0] ? v[1] : v[0]);
    }
}
