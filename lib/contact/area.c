#include "contact/area.h"

#include "base/order.h"
#include "math/spd_inline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the rest shape ---- */

#define PI 3.14159265358979323846
#define REACH_AT_REST 0.5       /* reach within a part over the distance at rest */
#define REACH_OF_GUARD 0.25

static abut_status no_memory(const abut_collmesh *cm, abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "contact: no memory for the areas of %d vertices, %d edges", cm->nc, cm->ne);
}

/* The edge of each side of the triangles, looked up among the edges at its lower end. */
static abut_status find_sides(const abut_collmesh *cm, abut_area *a, abut_err *err)
{
    int32_t *first = calloc((size_t)cm->nc + 2, sizeof *first), *at = malloc(((size_t)cm->ne + 1) * sizeof *at);
    const abut_status rc = first && at ? ABUT_OK : no_memory(cm, err);
    const int32_t *edge = cm->edge;
    for (int32_t e = 0; e < (rc ? 0 : cm->ne); e++) first[(edge[2 * e] < edge[2 * e + 1] ? edge[2 * e] : edge[2 * e + 1]) + 2]++;
    for (int32_t v = 0; v < (rc ? 0 : cm->nc); v++) first[v + 2] += first[v + 1];
    for (int32_t e = 0; e < (rc ? 0 : cm->ne); e++)
        at[first[(edge[2 * e] < edge[2 * e + 1] ? edge[2 * e] : edge[2 * e + 1]) + 1]++] = e;
    for (int32_t t = 0; t < (rc ? 0 : cm->nt); t++)
        for (int k = 0; k < 3; k++) {
            const int32_t p = cm->tri[3 * t + k], q = cm->tri[3 * t + (k + 1) % 3], low = p < q ? p : q;
            for (int32_t i = first[low]; i < first[low + 1]; i++)
                if (edge[2 * at[i]] + edge[2 * at[i] + 1] == p + q) a->side[t][k] = at[i];
        }
    ABUT_FREE(first, at);
    return rc;
}

/* c(sigma) from the largest cells down; a->of_edge and a->of_vertex come as 0. */
static void count_cells(const abut_collmesh *cm, abut_area *a)
{
    for (int32_t t = 0; t < cm->nt; t++)
        for (int k = 0; k < 3; k++) a->of_edge[a->side[t][k]]--, a->of_vertex[cm->tri[3 * t + k]]--;
    for (int32_t e = 0; e < cm->ne; e++) {
        a->of_edge[e]++;
        for (int k = 0; k < 2; k++) a->of_vertex[cm->edge[2 * e + k]] -= a->of_edge[e];
    }
    for (int32_t v = 0; v < cm->nc; v++) a->of_vertex[v]++;
}

/* Twice the area of triangle t, along its normal. */
static abut_vec3 normal_of(const abut_collmesh *cm, const double *Y, int32_t t)
{
    const int32_t *v = cm->tri + 3 * (size_t)t;
    const double *p = Y + 3 * (size_t)v[0];
    return abut_v3_cross(abut_v3_diff(Y + 3 * (size_t)v[1], p), abut_v3_diff(Y + 3 * (size_t)v[2], p));
}

static void add_areas(const abut_collmesh *cm, const double *Y, abut_area *a)
{
    for (int32_t t = 0; t < cm->nt; t++) {
        const int32_t *v = cm->tri + 3 * (size_t)t;
        const double third = abut_v3_norm(normal_of(cm, Y, t)) / 6;
        for (int k = 0; k < 3; k++) {
            const int32_t e = a->side[t][k], opposite = v[(k + 2) % 3];
            a->vertex[v[k]] += third;
            a->width[e] += cm->rest2[e] > 0 ? third / sqrt(cm->rest2[e]) : 0;
            if (a->wing[e][0] < 0) a->wing[e][0] = opposite;
            else if (a->wing[e][1] < 0) a->wing[e][1] = opposite;
        }
    }
}

/* Connected parts, numbered by their first vertices. */
static void find_parts(const abut_collmesh *cm, abut_area *a)
{
    for (int32_t v = 0; v < cm->nc; v++) a->part[v] = v;
    for (int32_t e = 0; e < cm->ne; e++) abut_set_join(a->part, cm->edge[2 * e], cm->edge[2 * e + 1]);
    a->parts = abut_set_numbers(a->part, cm->nc);
}

/* Mean areas of vertices, whose number is in a->mean, and lengths of edges. */
static abut_status find_means(const abut_collmesh *cm, abut_area *a, abut_err *err)
{
    struct { double area; size_t edges; } *of = calloc((size_t)a->parts + 1, sizeof *of);
    a->length = calloc((size_t)a->parts + 1, sizeof *a->length);
    const abut_status rc = of && a->length ? ABUT_OK : no_memory(cm, err);
    for (int32_t v = 0; v < (rc ? 0 : cm->nc); v++) of[a->part[v]].area += a->vertex[v];
    for (int32_t e = 0; e < (rc ? 0 : cm->ne); e++) {
        const int32_t p = a->part[cm->edge[2 * e]];
        a->length[p] += sqrt(cm->rest2[e]), of[p].edges++;
    }
    for (int32_t p = 0; p < (rc ? 0 : a->parts); p++) {
        a->mean[p] = of[p].area / fmax(a->mean[p], 1);
        a->length[p] = of[p].edges ? a->length[p] / (double)of[p].edges : sqrt(a->mean[p]);
    }
    free(of);
    return rc;
}

/* cos of the angle of two triangles, from which on they are one patch. */
#define SMOOTH 0.6427876096865394

/* 1: the triangles are parts of one smooth surface; a triangle without area is of any. */
static int is_smooth(const abut_collmesh *cm, const double *Y, int32_t t, int32_t other)
{
    const abut_vec3 n = normal_of(cm, Y, t), m = normal_of(cm, Y, other);
    const double nn = abut_v3_norm2(n), mm = abut_v3_norm2(m);
    return !(nn > 0 && mm > 0) || abut_v3_dot(n, m) > SMOOTH * sqrt(nn * mm);
}

/* The patches among n triangles at vertex p: of[n] is the first triangle of each; returns their number. */
static int group(const abut_collmesh *cm, const double *Y, const int32_t *tri, int n, int *of)
{
    int groups = n;
    for (int i = 0; i < n; i++) of[i] = i;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            int common = 0;
            for (int k = 0; k < 9; k++) common += cm->tri[3 * tri[i] + k / 3] == cm->tri[3 * tri[j] + k % 3];
            if (common < 2 || of[i] == of[j] || !is_smooth(cm, Y, tri[i], tri[j])) continue;
            const int from = of[i] > of[j] ? of[i] : of[j], to = of[i] + of[j] - from;
            for (int k = 0; k < n; k++) of[k] = of[k] == from ? to : of[k];
            groups--;
        }
    return groups;
}

#define STRAIGHT 0.8660254037844387

/* 1: the rim of the n triangles at vertex p turns there by more than 30 degrees. */
static int is_rim_corner(const abut_collmesh *cm, const double *Y, int32_t p, const int32_t *tri, int n)
{
    abut_vec3 along[2];
    int rim = 0;
    for (int i = 0; i < 3 * n; i++) {
        const int32_t q = cm->tri[3 * tri[i / 3] + i % 3];
        int times = 0;
        for (int k = 0; k < 3 * n; k++) times += cm->tri[3 * tri[k / 3] + k % 3] == q;
        if (q == p || times > 1) continue;
        if (rim < 2) along[rim] = abut_v3_diff(Y + 3 * (size_t)q, Y + 3 * (size_t)p);
        rim++;
    }
    return rim == 2 && abut_v3_dot(along[0], along[1]) > -STRAIGHT * abut_v3_norm(along[0]) * abut_v3_norm(along[1]);
}

enum { MOST_AT_VERTEX = 64 };   /* triangles at a vertex with patches */

/* Adds the patches of vertex p, of which there are two or more, or that of a corner of a rim; its areas are a third of those of
 * its triangles. */
static void add_patches(const abut_collmesh *cm, const double *Y, int32_t p, const int32_t *tri, int n, abut_area *a)
{
    int of[MOST_AT_VERTEX];
    if (n > MOST_AT_VERTEX || (group(cm, Y, tri, n, of) < 2 && !is_rim_corner(cm, Y, p, tri, n))) return;
    for (int g = 0; g < n; g++) {
        double most = 0, sum = 0;
        int32_t corner[2] = { -1, -1 };
        for (int i = 0; i < n; i++) {
            if (of[i] != g) continue;
            const int32_t *v = cm->tri + 3 * (size_t)tri[i];
            const int k = v[0] == p ? 0 : v[1] == p ? 1 : 2;
            const double third = abut_v3_norm(normal_of(cm, Y, tri[i])) / 6;
            sum += third;
            if (third > most) most = third, corner[0] = v[(k + 1) % 3], corner[1] = v[(k + 2) % 3];
        }
        if (!(sum > 0)) continue;
        const int32_t at = a->first[p + 1]++;
        a->patch[at] = sum;
        memcpy(a->normal[at], corner, sizeof corner);
    }
}

#define FLAT 1e-6               /* sine of an angle */

/* 1: no straight line through a vertex with these triangles lies in all of their planes. */
static int is_corner(const abut_collmesh *cm, const double *Y, const int32_t *tri, int n)
{
    const abut_vec3 a = n ? normal_of(cm, Y, tri[0]) : abut_v3(0, 0, 0);
    abut_vec3 axis = a;
    double most = 0;
    for (int i = 1; i < n; i++) {
        const abut_vec3 b = normal_of(cm, Y, tri[i]), c = abut_v3_cross(a, b);
        const double sine = abut_v3_norm(c) / (abut_v3_norm(a) * abut_v3_norm(b));
        if (sine > most) axis = c, most = sine;
    }
    for (int i = 1; i < n && most > FLAT; i++) {
        const abut_vec3 b = normal_of(cm, Y, tri[i]);
        if (fabs(abut_v3_dot(axis, b)) > FLAT * abut_v3_norm(axis) * abut_v3_norm(b)) return 1;
    }
    return 0;
}

#define STEEP 0.5

/* 1: the patches of vertex p, which has these triangles, are all steep in a direction in which none of their edges leads on
 * (contact/area.h). */
static int is_tip(const abut_collmesh *cm, const double *Y, int32_t p, const int32_t *tri, int n, const abut_area *a)
{
    const double *at = Y + 3 * (size_t)p;
    double sum[9] = { 0 }, w[3], Q[9];
    int least = 0, ahead = 0, behind = 0;
    if (a->first[p + 1] < a->first[p] + 2) return 0;
    for (int32_t k = a->first[p]; k < a->first[p + 1]; k++) {
        const int32_t *of = a->normal[k];
        const abut_vec3 u = abut_v3_diff(Y + 3 * (size_t)of[0], at), v = abut_v3_diff(Y + 3 * (size_t)of[1], at);
        const abut_vec3 N = abut_v3_cross(u, v);
        const double part[3] = { N.x, N.y, N.z }, nn = abut_v3_norm2(N);
        for (int i = 0; i < 9; i++) sum[i] += part[i / 3] * part[i % 3] / nn;
    }
    abut_sym_eigen(3, sum, w, Q);
    for (int k = 1; k < 3; k++) least = w[k] < w[least] ? k : least;
    for (int i = 0; i < 3 * n; i++) {
        const abut_vec3 u = abut_v3_diff(Y + 3 * (size_t)cm->tri[3 * tri[i / 3] + i % 3], at);
        const double along = abut_v3_dot(u, abut_v3_get(Q + 3 * least)), enough = STRAIGHT * abut_v3_norm(u);
        ahead |= along > enough, behind |= along < -enough;
    }
    return w[least] < STEEP && !(ahead && behind);
}

/* Patches of sharp vertices, half the width of sharp edges, and in a->mean the vertices of parts: of obstacles the corners. */
static abut_status find_patches(const abut_collmesh *cm, const double *Y, abut_area *a, abut_err *err)
{
    const size_t n = 3 * (size_t)cm->nt;
    int32_t *first = a->around_first = calloc((size_t)cm->nc + 2, sizeof *first);
    int32_t *at = a->around = malloc((n + 1) * sizeof *at);
    int32_t *of_edge = malloc((2 * (size_t)cm->ne + 1) * sizeof *of_edge);
    a->first = calloc((size_t)cm->nc + 2, sizeof *a->first);
    a->patch = malloc((n + 1) * sizeof *a->patch), a->normal = malloc((n + 1) * sizeof *a->normal);
    a->mean = calloc((size_t)a->parts + 1, sizeof *a->mean);
    const int all = first && at && of_edge && a->first && a->patch && a->normal && a->mean;
    const abut_status rc = all ? ABUT_OK : no_memory(cm, err);
    for (size_t i = 0; i < (rc ? 0 : n); i++) first[cm->tri[i] + 2]++;
    for (int32_t v = 0; v < (rc ? 0 : cm->nc); v++) first[v + 2] += first[v + 1];
    for (size_t i = 0; i < (rc ? 0 : n); i++) at[first[cm->tri[i] + 1]++] = (int32_t)(i / 3);
    for (int32_t v = 0; v < (rc ? 0 : cm->nc); v++) {
        a->first[v + 1] = a->first[v];
        add_patches(cm, Y, v, at + first[v], first[v + 1] - first[v], a);
        a->tip[v] = (uint8_t)is_tip(cm, Y, v, at + first[v], first[v + 1] - first[v], a);
        a->mean[a->part[v]] += !cm->obstacle[v] || is_corner(cm, Y, at + first[v], first[v + 1] - first[v]);
    }
    for (size_t e = 0; e < (rc ? 0 : 2 * (size_t)cm->ne); e++) of_edge[e] = -1;
    for (size_t i = 0; i < (rc ? 0 : n); i++) {
        int32_t *t = of_edge + 2 * (size_t)a->side[i / 3][i % 3];
        if (t[0] < 0) t[0] = (int32_t)(i / 3);
        else if (t[1] < 0) t[1] = (int32_t)(i / 3);
    }
    for (int32_t e = 0; e < (rc ? 0 : cm->ne); e++)
        if (of_edge[2 * e + 1] >= 0 && !is_smooth(cm, Y, of_edge[2 * e], of_edge[2 * e + 1])) a->width[e] *= 0.5, a->sharp[e] = 1;
        else if (of_edge[2 * e] >= 0 && of_edge[2 * e + 1] < 0) a->sharp[e] = 1;
    for (size_t i = 0; i < (rc ? 0 : 2 * (size_t)cm->ne); i++)
        if (a->sharp[i / 2] && cm->obstacle[cm->edge[i]]) a->on_edge[cm->edge[i]] = 1;
    free(of_edge);
    return rc;
}

/* The vertices with the edges opposite to them in their triangles, where something moves. */
static abut_status find_guards(const abut_collmesh *cm, const double *Y, abut_area *a, abut_err *err)
{
    a->guard = malloc((3 * (size_t)cm->nt + 1) * sizeof *a->guard);
    a->guard_reach = malloc((3 * (size_t)cm->nt + 1) * sizeof *a->guard_reach);
    a->guard_first = calloc((size_t)cm->nt + 1, sizeof *a->guard_first);
    a->guard_within = calloc((size_t)cm->nt + 1, sizeof *a->guard_within);
    if (!a->guard || !a->guard_reach || !a->guard_first || !a->guard_within) return no_memory(cm, err);
    for (int32_t t = 0; t < cm->nt; t++) {
        a->guard_first[t + 1] = a->guard_first[t];
        for (int k = 0; k < 3; k++) {
            const int32_t p = cm->tri[3 * t + k], *e = cm->edge + 2 * (size_t)a->side[t][(k + 1) % 3];
            const int32_t v[3] = { p, e[0] < e[1] ? e[0] : e[1], e[0] < e[1] ? e[1] : e[0] };
            const double xi = abut_collmesh_xi(cm, ABUT_PE, v);
            double x[9];
            if (cm->obstacle[v[0]] && cm->obstacle[v[1]] && cm->obstacle[v[2]]) continue;
            for (int i = 0; i < 3; i++) memcpy(x + 3 * i, Y + 3 * (size_t)v[i], 3 * sizeof *x);
            const double gap = sqrt(abut_dist2(ABUT_PE, x, NULL)) - xi;
            if (!(gap > 0)) continue;
            const int32_t at = a->guard_first[t + 1]++;
            memcpy(a->guard[at], v, sizeof v);
            a->guard_reach[at] = fmin(abut_collmesh_dhat(cm, ABUT_PE, v), REACH_OF_GUARD * gap);
            a->guard_within[t] = fmax(a->guard_within[t], xi + a->guard_reach[at]);
        }
    }
    return ABUT_OK;
}

/* The reach of contact i of the rest shape is half its gap at most. */
static void shorten(const abut_collmesh *cm, const abut_pairs *p, size_t i, double *vertex, double *edge)
{
    const double reach = REACH_AT_REST * abut_pairs_gap(cm, p, i);
    int32_t e, f;
    if (abut_area_edges(p, i, &e, &f)) edge[e] = fmin(edge[e], reach), edge[f] = fmin(edge[f], reach);
    else vertex[p->of[i][0]] = fmin(vertex[p->of[i][0]], reach);
}

/* Keeps the candidates within parts whose rest shape is nowhere at its thickness. */
static void keep_apart(const abut_collmesh *cm, abut_stencil s, const double *Y, const uint8_t *touches, uint8_t *touch,
                       abut_pair_list *list)
{
    size_t n = 0;
    for (size_t k = 0; k < list->n; k++) {
        int32_t v[4];
        double x[12], d2;
        abut_candidate_vertices(cm, s, list->ij[k], v);
        const int32_t part = cm->area->part[v[0]];
        if (part != cm->area->part[v[abut_stencil_second(s)]] || (touches && touches[part])) continue;
        for (int i = 0; i < abut_stencil_size(s); i++) memcpy(x + 3 * i, Y + 3 * (size_t)v[i], 3 * sizeof *x);
        if (s == ABUT_PP) d2 = abut_dist2(s, x, NULL);
        else (void)abut_nearest(s, x, &d2);
        if (touch && !(abut_beyond2(d2, abut_candidate_xi(cm, s, list->ij[k])) > 0)) touch[part] = 1;
        memcpy(list->ij[n++], list->ij[k], sizeof *list->ij);
    }
    list->n = n;
}

static abut_status reach_of_rest(const abut_collmesh *cm, const double *Y, double *vertex, double *edge, abut_err *err)
{
    abut_candidates cand = { 0 };
    abut_pairs pairs = { 0 };
    uint8_t *touches = calloc((size_t)cm->area->parts + 1, 1), *fixed = malloc((size_t)cm->nc + 1);
    abut_status rc = touches && fixed ? ABUT_OK : no_memory(cm, err);
    cand.search.by_area = 1;
    if (!rc) rc = abut_candidates_find(cm, Y, NULL, cm->model->dhat[0], NULL, &cand, err);
    if (!rc) {
        memset(fixed, 1, (size_t)cm->nc);       /* the rest shape does not meet half-spaces: it may be anywhere */
        abut_pair_list *const list[] = { &cand.vt, &cand.ee, &cand.ve, &cand.vv };
        for (int k = 0; k < 2 * ABUT_CANDIDATE_LISTS; k++)
            keep_apart(cm, abut_candidates_kind(k % ABUT_CANDIDATE_LISTS), Y, k < ABUT_CANDIDATE_LISTS ? NULL : touches,
                       k < ABUT_CANDIDATE_LISTS ? touches : NULL, list[k % ABUT_CANDIDATE_LISTS]);
        rc = abut_pairs_find(cm, &cand, Y, fixed, &pairs, err);
    }
    for (size_t i = 0; i < pairs.n && !rc; i++) shorten(cm, &pairs, i, vertex, edge);
    ABUT_FREE(touches, fixed);
    abut_candidates_clear(&cand);
    abut_pairs_clear(&pairs);
    return rc;
}

/* The guards come after the reach: they act in the shape at rest no more than others. */
static abut_status find_reach(abut_collmesh *cm, const double *Y, abut_area *a, abut_err *err)
{
    double *vertex = malloc(((size_t)cm->nc + 1) * sizeof *vertex), *edge = malloc(((size_t)cm->ne + 1) * sizeof *edge);
    abut_status rc = vertex && edge ? ABUT_OK : no_memory(cm, err);
    for (int32_t v = 0; v < cm->nc && !rc; v++) vertex[v] = INFINITY;
    for (int32_t e = 0; e < cm->ne && !rc; e++) edge[e] = INFINITY;
    if (!rc) rc = reach_of_rest(cm, Y, vertex, edge, err);
    a->vertex_reach = vertex, a->edge_reach = edge;
    return rc;
}

static abut_status make_room(const abut_collmesh *cm, abut_area *a, abut_err *err)
{
    const size_t nc = (size_t)cm->nc + 1, ne = (size_t)cm->ne + 1, nt = (size_t)cm->nt + 1;
    a->part = malloc(nc * sizeof *a->part), a->thin = calloc(nc, 1);
    a->vertex = calloc(nc, sizeof *a->vertex), a->width = calloc(ne, sizeof *a->width);
    a->of_vertex = calloc(nc, sizeof *a->of_vertex), a->of_edge = calloc(ne, sizeof *a->of_edge);
    a->side = malloc(nt * sizeof *a->side), a->wing = malloc(ne * sizeof *a->wing);
    a->sharp = calloc(ne, 1), a->on_edge = calloc(nc, 1), a->tip = calloc(nc, 1);
    if (!a->part || !a->thin || !a->vertex || !a->width || !a->of_vertex || !a->of_edge || !a->side || !a->wing || !a->sharp ||
        !a->on_edge || !a->tip)
        return no_memory(cm, err);
    for (int32_t e = 0; e < cm->ne; e++) a->wing[e][0] = a->wing[e][1] = -1;
    for (int32_t i = 0; i < cm->n_loose; i++) a->thin[cm->loose[i]] = 1;
    return ABUT_OK;
}

/* Diameters at collision vertices of rods and particles; 0 elsewhere. */
static void find_diameters(const abut_collmesh *cm, double *of_node, double *diameter)
{
    const abut_model *m = cm->model;
    for (int32_t v = 0; v < m->nv; v++) of_node[v] = 0;
    for (int32_t i = 0; i < 2 * m->nrd; i++) of_node[m->rod[i]] = fmax(of_node[m->rod[i]], 2 * m->rod_radius[i / 2]);
    for (int32_t i = 0; i < m->np; i++) of_node[m->particle[i]] = 2 * m->particle_radius[i];
    for (int32_t v = 0; v < cm->nc; v++) diameter[v] = of_node[abut_collmesh_node(cm, v)];
}

/* Areas of what has no triangle: length times diameter of rods, the cross-section of particles; 0 of obstacles. */
static abut_status add_thin_areas(const abut_collmesh *cm, abut_area *a, abut_err *err)
{
    double *node = malloc(((size_t)cm->model->nv + 1) * sizeof *node), *d = malloc(((size_t)cm->nc + 1) * sizeof *d);
    const abut_status rc = node && d ? ABUT_OK : no_memory(cm, err);
    if (!rc) find_diameters(cm, node, d);
    for (int32_t i = 0; i < (rc ? 0 : cm->n_seg); i++) {
        const int32_t e = cm->seg[i], *v = cm->edge + 2 * (size_t)e;
        a->width[e] = fmin(d[v[0]], d[v[1]]);
        for (int k = 0; k < 2; k++) a->vertex[v[k]] += 0.5 * a->width[e] * sqrt(cm->rest2[e]);
    }
    for (int32_t i = 0; i < (rc ? 0 : cm->n_point); i++) a->vertex[cm->point[i]] = PI / 4 * d[cm->point[i]] * d[cm->point[i]];
    ABUT_FREE(node, d);
    return rc;
}

abut_status abut_area_init(abut_collmesh *cm, abut_err *err)
{
    const abut_model *m = cm->model;
    if (!m->formulation || m->formulation[0] != ABUT_CONTACT_AREA) return ABUT_OK;
    double *Y = malloc((3 * (size_t)cm->nc + 1) * sizeof *Y);
    abut_area *a = cm->area = calloc(1, sizeof *a);
    abut_status rc = Y && a ? make_room(cm, a, err) : no_memory(cm, err);
    if (!rc) rc = find_sides(cm, a, err);
    if (!rc) {
        a->eta = m->edge_share ? m->edge_share[0] : ABUT_EDGE_SHARE;
        abut_collmesh_positions(cm, m->X, Y);
        count_cells(cm, a);
        add_areas(cm, Y, a);
        find_parts(cm, a);
        rc = add_thin_areas(cm, a, err);
    }
    if (!rc) rc = find_patches(cm, Y, a, err);
    if (!rc) rc = find_means(cm, a, err);
    if (!rc) rc = abut_flat_init(cm, Y, err);
    if (!rc && !(m->fixed_reach && m->fixed_reach[0])) rc = find_reach(cm, Y, a, err);
    if (!rc) rc = find_guards(cm, Y, a, err);
    free(Y);
    return rc;
}

void abut_area_clear(abut_area *a)
{
    if (!a) return;
    free(a->part), free(a->thin), free(a->mean), free(a->length), free(a->vertex), free(a->width), free(a->of_vertex);
    free(a->of_edge), free(a->side);
    free(a->wing), free(a->vertex_reach), free(a->edge_reach), free(a->guard), free(a->guard_reach);
    free(a->guard_first), free(a->guard_within);
    free(a->first), free(a->patch), free(a->normal), free(a->sharp), free(a->on_edge), free(a->tip), free(a->around_first);
    free(a->around);
    abut_flat_free(&a->flat);
    free(a);
}

