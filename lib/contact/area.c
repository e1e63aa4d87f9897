#include "contact/area.h"

#include "base/par.h"
#include "geom/dist_lanes.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the rest shape ---- */

#define PI 3.14159265358979323846
#define REACH_AT_REST 0.5       /* reach within a part over the distance at rest */
#define REACH_OF_GUARD 0.25
#define REACH_OF_EDGES 0.5      /* over the mean length of edges */

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
    free(first);
    free(at);
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

static void add_areas(const abut_collmesh *cm, const double *Y, abut_area *a)
{
    for (int32_t t = 0; t < cm->nt; t++) {
        const int32_t *v = cm->tri + 3 * (size_t)t;
        double u[3], w[3];
        for (int d = 0; d < 3; d++) {
            u[d] = Y[3 * (size_t)v[1] + (size_t)d] - Y[3 * (size_t)v[0] + (size_t)d];
            w[d] = Y[3 * (size_t)v[2] + (size_t)d] - Y[3 * (size_t)v[0] + (size_t)d];
        }
        const double n[3] = { u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0] };
        const double third = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / 6;
        for (int k = 0; k < 3; k++) {
            const int32_t e = a->side[t][k], opposite = v[(k + 2) % 3];
            a->vertex[v[k]] += third;
            a->width[e] += cm->rest2[e] > 0 ? third / sqrt(cm->rest2[e]) : 0;
            if (a->wing[e][0] < 0) a->wing[e][0] = opposite;
            else if (a->wing[e][1] < 0) a->wing[e][1] = opposite;
        }
    }
}

static int32_t root(int32_t *part, int32_t v)
{
    while (part[v] != v) v = part[v] = part[part[v]];
    return v;
}

/* Connected parts, numbered by their first vertices. */
static void find_parts(const abut_collmesh *cm, abut_area *a)
{
    for (int32_t v = 0; v < cm->nc; v++) a->part[v] = v;
    for (int32_t e = 0; e < cm->ne; e++) {
        const int32_t p = root(a->part, cm->edge[2 * e]), q = root(a->part, cm->edge[2 * e + 1]);
        a->part[p > q ? p : q] = p < q ? p : q;
    }
    for (int32_t v = 0; v < cm->nc; v++) a->part[v] = root(a->part, v);
    for (int32_t v = 0; v < cm->nc; v++) a->part[v] = a->part[v] == v ? a->parts++ : a->part[a->part[v]];
}

/* Mean areas of vertices and lengths of edges. */
static abut_status find_means(const abut_collmesh *cm, abut_area *a, abut_err *err)
{
    size_t (*count)[2] = calloc((size_t)a->parts + 1, sizeof *count);
    a->mean = calloc((size_t)a->parts + 1, sizeof *a->mean);
    a->length = calloc((size_t)a->parts + 1, sizeof *a->length);
    const abut_status rc = count && a->mean && a->length ? ABUT_OK : no_memory(cm, err);
    for (int32_t v = 0; v < (rc ? 0 : cm->nc); v++) a->mean[a->part[v]] += a->vertex[v], count[a->part[v]][0]++;
    for (int32_t e = 0; e < (rc ? 0 : cm->ne); e++) {
        const int32_t p = a->part[cm->edge[2 * e]];
        a->length[p] += sqrt(cm->rest2[e]), count[p][1]++;
    }
    for (int32_t p = 0; p < (rc ? 0 : a->parts); p++) {
        a->mean[p] /= (double)count[p][0];
        a->length[p] = count[p][1] ? a->length[p] / (double)count[p][1] : sqrt(a->mean[p]);
    }
    free(count);
    return rc;
}

/* cos of the angle of two triangles, from which on they are one patch. */
#define SMOOTH 0.6427876096865394

static void normal_of(const abut_collmesh *cm, const double *Y, int32_t t, double n[3])
{
    const int32_t *v = cm->tri + 3 * (size_t)t;
    double u[3], w[3];
    for (int d = 0; d < 3; d++) {
        u[d] = Y[3 * (size_t)v[1] + (size_t)d] - Y[3 * (size_t)v[0] + (size_t)d];
        w[d] = Y[3 * (size_t)v[2] + (size_t)d] - Y[3 * (size_t)v[0] + (size_t)d];
    }
    n[0] = u[1] * w[2] - u[2] * w[1], n[1] = u[2] * w[0] - u[0] * w[2], n[2] = u[0] * w[1] - u[1] * w[0];
}

/* 1: the triangles are parts of one smooth surface; a triangle without area is of any. */
static int is_smooth(const abut_collmesh *cm, const double *Y, int32_t t, int32_t other)
{
    double n[3], m[3], nm = 0, nn = 0, mm = 0;
    normal_of(cm, Y, t, n);
    normal_of(cm, Y, other, m);
    for (int d = 0; d < 3; d++) nm += n[d] * m[d], nn += n[d] * n[d], mm += m[d] * m[d];
    return !(nn > 0 && mm > 0) || nm > SMOOTH * sqrt(nn * mm);
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

enum { MOST_AT_VERTEX = 64 };   /* triangles at a vertex with patches */

/* Adds the patches of vertex p; its areas are a third of those of its triangles. */
static void add_patches(const abut_collmesh *cm, const double *Y, int32_t p, const int32_t *tri, int n, abut_area *a)
{
    int of[MOST_AT_VERTEX];
    if (n > MOST_AT_VERTEX || group(cm, Y, tri, n, of) < 2) return;
    for (int g = 0; g < n; g++) {
        double most = 0, sum = 0;
        int32_t corner[2] = { -1, -1 };
        for (int i = 0; i < n; i++) {
            if (of[i] != g) continue;
            const int32_t *v = cm->tri + 3 * (size_t)tri[i];
            const int k = v[0] == p ? 0 : v[1] == p ? 1 : 2;
            double m[3];
            normal_of(cm, Y, tri[i], m);
            const double third = sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]) / 6;
            sum += third;
            if (third > most) most = third, corner[0] = v[(k + 1) % 3], corner[1] = v[(k + 2) % 3];
        }
        if (!(sum > 0)) continue;
        const int32_t at = a->first[p + 1]++;
        a->patch[at] = sum;
        memcpy(a->normal[at], corner, sizeof corner);
    }
}

/* Patches of sharp vertices, and half the width of sharp edges. */
static abut_status find_patches(const abut_collmesh *cm, const double *Y, abut_area *a, abut_err *err)
{
    const size_t n = 3 * (size_t)cm->nt;
    int32_t *first = calloc((size_t)cm->nc + 2, sizeof *first), *at = malloc((n + 1) * sizeof *at);
    int32_t *of_edge = malloc((2 * (size_t)cm->ne + 1) * sizeof *of_edge);
    a->first = calloc((size_t)cm->nc + 2, sizeof *a->first);
    a->patch = malloc((n + 1) * sizeof *a->patch), a->normal = malloc((n + 1) * sizeof *a->normal);
    const abut_status rc = first && at && of_edge && a->first && a->patch && a->normal ? ABUT_OK : no_memory(cm, err);
    for (size_t i = 0; i < (rc ? 0 : n); i++) first[cm->tri[i] + 2]++;
    for (int32_t v = 0; v < (rc ? 0 : cm->nc); v++) first[v + 2] += first[v + 1];
    for (size_t i = 0; i < (rc ? 0 : n); i++) at[first[cm->tri[i] + 1]++] = (int32_t)(i / 3);
    for (int32_t v = 0; v < (rc ? 0 : cm->nc); v++) {
        a->first[v + 1] = a->first[v];
        add_patches(cm, Y, v, at + first[v], first[v + 1] - first[v], a);
    }
    for (size_t e = 0; e < (rc ? 0 : 2 * (size_t)cm->ne); e++) of_edge[e] = -1;
    for (size_t i = 0; i < (rc ? 0 : n); i++) {
        int32_t *t = of_edge + 2 * (size_t)a->side[i / 3][i % 3];
        if (t[0] < 0) t[0] = (int32_t)(i / 3);
        else if (t[1] < 0) t[1] = (int32_t)(i / 3);
    }
    for (int32_t e = 0; e < (rc ? 0 : cm->ne); e++)
        if (of_edge[2 * e + 1] >= 0 && !is_smooth(cm, Y, of_edge[2 * e], of_edge[2 * e + 1])) a->width[e] *= 0.5;
    free(first);
    free(at);
    free(of_edge);
    return rc;
}

/* The vertices with the edges opposite to them in their triangles, where something moves. */
static abut_status find_guards(const abut_collmesh *cm, const double *Y, abut_area *a, abut_err *err)
{
    a->guard = malloc((3 * (size_t)cm->nt + 1) * sizeof *a->guard);
    a->guard_reach = malloc((3 * (size_t)cm->nt + 1) * sizeof *a->guard_reach);
    if (!a->guard || !a->guard_reach) return no_memory(cm, err);
    for (int32_t t = 0; t < cm->nt; t++)
        for (int k = 0; k < 3; k++) {
            const int32_t p = cm->tri[3 * t + k], *e = cm->edge + 2 * (size_t)a->side[t][(k + 1) % 3];
            const int32_t v[3] = { p, e[0] < e[1] ? e[0] : e[1], e[0] < e[1] ? e[1] : e[0] };
            const double xi = abut_collmesh_xi(cm, ABUT_PE, v);
            double x[9];
            if (cm->obstacle[v[0]] && cm->obstacle[v[1]] && cm->obstacle[v[2]]) continue;
            for (int i = 0; i < 3; i++) memcpy(x + 3 * i, Y + 3 * (size_t)v[i], 3 * sizeof *x);
            const double gap = sqrt(abut_dist2(ABUT_PE, x, NULL)) - xi;
            if (!(gap > 0)) continue;
            memcpy(a->guard[a->n_guard], v, sizeof v);
            a->guard_reach[a->n_guard++] = fmin(abut_collmesh_dhat(cm, ABUT_PE, v), REACH_OF_GUARD * gap);
        }
    return ABUT_OK;
}

/* 1: contact i is one of edges e and f. */
static int edges_of(const abut_pairs *p, size_t i, int32_t *e, int32_t *f)
{
    const int rod = p->of[i][1] <= ABUT_AREA_ROD;
    *e = p->of[i][0], *f = rod ? abut_area_of_rod(p->of[i][1]) : p->of[i][1];
    return rod || p->kind[i] == ABUT_EE;
}

/* The reach of contact i of the rest shape is half its gap at most. */
static void shorten(const abut_collmesh *cm, const abut_pairs *p, size_t i, double *vertex, double *edge)
{
    const double reach = REACH_AT_REST * abut_pairs_gap(cm, p, i);
    int32_t e, f;
    if (edges_of(p, i, &e, &f)) edge[e] = fmin(edge[e], reach), edge[f] = fmin(edge[f], reach);
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
    free(touches);
    free(fixed);
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
    if (!a->part || !a->thin || !a->vertex || !a->width || !a->of_vertex || !a->of_edge || !a->side || !a->wing)
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
    free(node);
    free(d);
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
    free(a->first), free(a->patch), free(a->normal);
    free(a);
}

double abut_area_vertex_reach(const abut_collmesh *cm, int32_t p, int32_t q)
{
    const abut_area *a = cm->area;
    const double dhat = abut_collmesh_dhat(cm, ABUT_PP, (const int32_t[2]){ p, q });
    return a->vertex_reach && a->part[p] == a->part[q] ? fmin(dhat, a->vertex_reach[p]) : dhat;
}

/* 1: edge e is a side of no triangle: of a rod. */
static int is_thin(const abut_area *a, int32_t e) { return a->wing[e][0] < 0; }

/* The reach of edges of the parts of vertices p and q, m. */
static double crossing_reach(const abut_collmesh *cm, int32_t p, int32_t q)
{
    const abut_area *a = cm->area;
    const double dhat = abut_collmesh_dhat(cm, ABUT_PP, (const int32_t[2]){ p, q });
    return fmin(dhat, REACH_OF_EDGES * fmin(a->length[a->part[p]], a->length[a->part[q]]));
}

double abut_area_edge_reach(const abut_collmesh *cm, int32_t e, int32_t other)
{
    const abut_area *a = cm->area;
    const int32_t p = cm->edge[2 * e], q = cm->edge[2 * other];
    const int rod = is_thin(a, e) || is_thin(a, other);
    const double r = rod ? abut_collmesh_dhat(cm, ABUT_PP, (const int32_t[2]){ p, q }) : crossing_reach(cm, p, q);
    return a->edge_reach && a->part[p] == a->part[q] ? fmin(r, fmin(a->edge_reach[e], a->edge_reach[other])) : r;
}

/* ---- the factor of two edges ---- */

#define BEFORE_END 0.01         /* M is 1 from there on: D' - D = BEFORE_END D + (ZONE l)^2, l the shorter edge */
#define ZONE 0.05
#define MEAN_OF_M ((1 - ZONE * 2 / 3) * (1 - ZONE * 2 / 3))    /* at small distances, between edges of one length */
#define LEADS_TO 0.5            /* gamma is 0 where n.t/|t| is above */

typedef double point[3];

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static void diff(const double *a, const double *b, double *d) { for (int k = 0; k < 3; k++) d[k] = a[k] - b[k]; }
static void cross(const double *a, const double *b, double *c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* A product of factors with its gradient in the corners. */
typedef struct product {
    double value, g[3 * ABUT_AREA_CORNERS];
    int varies;
} product;

/* Multiplies by a factor with the gradient g of `points` points, corners idx. */
static void multiply(product *p, double factor, const double *g, int points, const int *idx)
{
    for (int k = 0; k < 3 * ABUT_AREA_CORNERS; k++) p->g[k] *= factor;
    for (int k = 0; k < 3 * points; k++) p->g[3 * idx[k / 3] + k % 3] += p->value * g[k];
    p->value *= factor;
    p->varies |= factor < 1;
}

/* M of an end of one edge against the other edge: corners idx of the stencil PE; D, gD[12] of the nearest points; zone2 m^2. */
static void multiply_end(product *p, const double *x, const int idx[3], double D, const double gD[12], double zone2)
{
    double e[9], d2, g[9], f[12] = { 0 };
    for (int k = 0; k < 9; k++) e[k] = x[3 * idx[k / 3] + k % 3];
    const abut_feature near = abut_nearest(ABUT_PE, e, &d2);
    const double width = BEFORE_END * D + zone2, z = (d2 - D) / width;
    if (z >= 1 || !(p->value > 0)) return;
    const int n = abut_stencil_size(near.kind);
    const double by = 2 * (1 - fmax(z, 0)) / width;
    double ends[9];
    for (int k = 0; k < 3 * n; k++) ends[k] = e[3 * near.idx[k / 3] + k % 3];
    (void)abut_dist2_all(near.kind, ends, NULL, g, NULL);
    for (int k = 0; k < 12; k++) f[k] = -by * (1 + BEFORE_END * z) * gD[k];
    for (int k = 0; k < 3 * n; k++) f[3 * idx[near.idx[k / 3]] + k % 3] += by * g[k];
    multiply(p, z > 0 ? z * (2 - z) : 0, f, 4, (const int[4]){ 0, 1, 2, 3 });
}

/* A cubic spline that rises from 0 at -LEADS_TO to 1 at 0, C2 (Huang et al. 2025, GCP). */
static double rise(double x, double *slope)
{
    const double z = 3 * x / LEADS_TO;
    *slope = 0;
    if (z <= -3) return 0;
    if (z >= 0) return 1;
    *slope = 3 / LEADS_TO * (z <= -2 ? (3 + z) * (3 + z) / 2 : z <= -1 ? -(z * z + 3 * z + 1.5) : z * z / 2);
    return z <= -2 ? (3 + z) * (3 + z) * (3 + z) / 6 : z <= -1 ? (3 - 9 * z - 9 * z * z - 2 * z * z * z) / 6 : 1 + z * z * z / 6;
}

/* The unit vector n from the first edge to the second, s u x v / |u x v|. */
typedef struct normal {
    double n[3], u[3], v[3], size, sign;
} normal;

/* g[12] of corners a0 a1 b0 b1: the gradient of n.w for a constant w. */
static void normal_slope(const normal *c, const double w[3], double g[12])
{
    double along[3], gu[3], gv[3];
    const double in_n = dot(c->n, w);
    for (int k = 0; k < 3; k++) along[k] = c->sign * (w[k] - in_n * c->n[k]) / c->size;
    cross(c->v, along, gu);     /* d (u x v).along = du.(v x along) + dv.(along x u) */
    cross(along, c->u, gv);
    for (int k = 0; k < 3; k++) g[k] = -gu[k], g[3 + k] = gu[k], g[6 + k] = -gv[k], g[9 + k] = gv[k];
}

/* gamma of wing `corner` of the edge of corners e, e + 1; out: 1 the normal leads away from that edge, -1 to it. */
static void multiply_wing(product *p, const double *x, const normal *c, int e, int corner, double out)
{
    const double *u = e ? c->v : c->u;
    double w[3], t[3], g[15], slope;
    diff(x + 3 * corner, x + 3 * e, w);
    const double tau = dot(w, u) / dot(u, u);
    for (int k = 0; k < 3; k++) t[k] = w[k] - tau * u[k];
    const double height = sqrt(dot(t, t)), q = out * dot(c->n, w) / height, value = rise(-q, &slope);
    if (!(height > 0) || value >= 1) return;
    normal_slope(c, w, g);
    for (int k = 0; k < 12; k++) g[k] *= out / height;
    for (int k = 0; k < 3; k++) {
        const double dn = out * c->n[k] / height, dt = q * t[k] / (height * height);
        g[3 * e + k] += -dn + (1 - tau) * dt;
        g[3 * e + 3 + k] += tau * dt;
        g[12 + k] = dn - dt;
    }
    for (int k = 0; k < 15; k++) g[k] *= -slope;
    multiply(p, value, g, 5, (const int[5]){ 0, 1, 2, 3, corner });
}

/* ---- the factor of a patch ---- */

#define PATCH_FROM 0.05         /* (n.N)^2 */
#define PATCH_TO 0.5

/* S((n.N)^2) for the unit vector n at p and the patch p, a, b; *gn[3]: its gradient by n, g[9] by p, a, b without that. */
static double patch_factor(const double n[3], const double *p, const double *a, const double *b, double gn[3], double g[9])
{
    double u[3], v[3], N[3], c[3], ga[3], gb[3];
    diff(a, p, u);
    diff(b, p, v);
    cross(u, v, N);
    const double size = sqrt(dot(N, N)), along = size > 0 ? dot(n, N) / size : 1, q = along * along;
    const double z = fmin(fmax((q - PATCH_FROM) / (PATCH_TO - PATCH_FROM), 0), 1);
    const double by = size > 0 ? 12 * z * (1 - z) / (PATCH_TO - PATCH_FROM) * along / size : 0;
    for (int k = 0; k < 3; k++) gn[k] = by * N[k], c[k] = size > 0 ? by * (n[k] - along * N[k] / size) : 0;
    cross(v, c, ga);
    cross(c, u, gb);
    for (int k = 0; k < 3; k++) g[k] = -ga[k] - gb[k], g[3 + k] = ga[k], g[6 + k] = gb[k];
    return z * z * (3 - 2 * z);
}

double abut_area_factor(const double *x, int wings, double eps_x, double length, double *g, int *bends)
{
    product p = { .value = 1 };
    normal c;
    double gD[12], gc[12], r[3], de, N[3];
    const double D = abut_dist2_all(ABUT_EE, x, NULL, gD, NULL), zone2 = ZONE * length * (ZONE * length);
    diff(x + 3, x, c.u);
    diff(x + 9, x + 6, c.v);
    diff(x + 6, x, r);
    cross(c.u, c.v, N);
    c.size = sqrt(dot(N, N)), c.sign = dot(N, r) < 0 ? -1 : 1;
    for (int k = 0; k < 3; k++) c.n[k] = c.sign * N[k] / c.size;
    const double e = eps_x > 0 ? abut_mollify(abut_cross2(x, gc, NULL), eps_x, &de, NULL) : 1;
    if (e < 1) {
        for (int k = 0; k < 12; k++) gc[k] *= de;
        multiply(&p, e, gc, 4, (const int[4]){ 0, 1, 2, 3 });
    }
    for (int k = 0; k < 4; k++) multiply_end(&p, x, (const int[3]){ k, k < 2 ? 2 : 0, k < 2 ? 3 : 1 }, D, gD, zone2);
    for (int k = 0; k < 4; k++)
        if (wings >> k & 1) multiply_wing(&p, x, &c, k < 2 ? 0 : 2, 4 + k, k < 2 ? 1 : -1);
    if (g) memcpy(g, p.g, sizeof p.g);
    if (bends) *bends = p.varies;
    return p.value;
}

/* ---- weights ---- */

/* m: beta over b for a pair of thickness xi that acts within reach (energy/barrier_pair.h). */
static double over_law(double reach, double xi)
{
    const double Dhat = (2 * xi + reach) * reach;
    return reach / (Dhat * Dhat);
}

/* eta of the parts of vertices p and q: less where one mesh is coarser, whose few edges stand for wide strips. */
static double edge_share(const abut_area *a, int32_t p, int32_t q)
{
    const double l = a->length[a->part[p]], m = a->length[a->part[q]];
    return a->eta * (l < m ? l / m : m / l);
}

/* The share of vertex p in contact with what is at q: all of it where that has no vertices that meet p. */
static double share(const abut_area *a, int32_t p, int32_t q)
{
    const double own = a->mean[a->part[p]], theirs = a->mean[a->part[q]];
    return a->thin[p] && !a->thin[q] ? 1 : theirs > 0 ? theirs / (own + theirs) : 0;
}

/* Area of vertex p, and width of edge e: bare points and edges of obstacles take those of what they meet. */
static double area_at(const abut_area *a, int32_t p, int32_t q) { return a->vertex[p] > 0 ? a->vertex[p] : a->mean[a->part[q]]; }
static double width_at(const abut_area *a, int32_t e, int32_t q)
{
    return a->width[e] > 0 ? a->width[e] : sqrt(a->mean[a->part[q]]);
}

/* The vertex that contact i, no EE, meets beside the one whose area it has. */
static int32_t other_of(const abut_pairs *p, size_t i)
{
    const int32_t *v = p->vert[i];
    return p->kind[i] == ABUT_PP && p->of[i][0] == v[1] ? v[0] : v[1];
}

/* The weight of two edges over the product of their widths, first vertices p and q. */
static double edges_part(const abut_area *a, int32_t e, int32_t f, int32_t p, int32_t q)
{
    const int thin = is_thin(a, e);
    if (thin && is_thin(a, f)) return 1;
    if (!thin && !is_thin(a, f)) return edge_share(a, p, q) * (PI / 2) / MEAN_OF_M;
    const double l = a->length[a->part[thin ? p : q]], of_surface = a->length[a->part[thin ? q : p]];
    return fmin(1, a->eta * l / of_surface) * (PI / 2);
}

double abut_area_weight(const abut_collmesh *cm, const abut_pairs *p, size_t i, double net)
{
    const abut_area *a = cm->area;
    const double over = over_law(p->reach[i], abut_pairs_xi(cm, p, i));
    int32_t e, f;
    if (edges_of(p, i, &e, &f)) {
        const int32_t v = cm->edge[2 * e], w = cm->edge[2 * f];
        return edges_part(a, e, f, v, w) * width_at(a, e, w) * width_at(a, f, v) * over;
    }
    const int32_t other = other_of(p, i);
    const int whole = f == ABUT_AREA_GUARD || a->thin[e] || crossing_reach(cm, e, other) < p->reach[i];
    const double area = f >= 0 ? a->patch[f] : area_at(a, e, other);
    return net * (whole ? 1 : 1 - edge_share(a, e, other)) * share(a, e, other) * area * over;
}

double abut_area_inner(const abut_collmesh *cm, const abut_pairs *p, size_t i, double *part)
{
    *part = 0;
    if (p->kind[i] == ABUT_EE || p->of[i][1] <= ABUT_AREA_GUARD) return 0;
    const int32_t other = other_of(p, i);
    const double r = crossing_reach(cm, p->of[i][0], other), xi = abut_pairs_xi(cm, p, i);
    if (r < p->reach[i] && !cm->area->thin[p->of[i][0]])
        *part = edge_share(cm->area, p->of[i][0], other) * over_law(r, xi) / over_law(p->reach[i], xi);
    return r;
}

static double edges_factor(const abut_collmesh *cm, const abut_pairs *p, size_t i, const double *y,
                           int32_t v[ABUT_AREA_CORNERS], double *g, int *bends)
{
    const abut_area *a = cm->area;
    const int32_t e = p->of[i][0], f = p->of[i][1], *mollifier = cm->model->mollifier;
    const double eps_x = !mollifier || *mollifier ? abut_mollify_eps(cm->rest2[e], cm->rest2[f]) : 0;
    double x[3 * ABUT_AREA_CORNERS] = { 0 };
    int wings = 0;
    memcpy(v, cm->edge + 2 * (size_t)e, 2 * sizeof *v);
    memcpy(v + 2, cm->edge + 2 * (size_t)f, 2 * sizeof *v);
    memcpy(v + 4, a->wing[e], 2 * sizeof *v);
    memcpy(v + 6, a->wing[f], 2 * sizeof *v);
    for (int k = 0; k < ABUT_AREA_CORNERS; k++)
        if (v[k] >= 0) {
            memcpy(x + 3 * k, y + 3 * (size_t)v[k], 3 * sizeof *x);
            wings |= k >= 4 ? 1 << (k - 4) : 0;
        }
    return abut_area_factor(x, wings, eps_x, sqrt(fmin(cm->rest2[e], cm->rest2[f])), g, bends);
}

/* The direction n at the owner, point `at` of the stencil, changes by the rows of the Hessian of the distance. */
static double vertex_factor(const abut_collmesh *cm, const abut_pairs *p, size_t i, const double *y,
                            int32_t v[ABUT_AREA_CORNERS], double *g, int *bends)
{
    const abut_area *a = cm->area;
    const int32_t patch = p->of[i][1], owner = p->of[i][0], *corner = a->normal[patch];
    const int at = p->kind[i] == ABUT_PP && owner == p->vert[i][1];
    double x[12], gd[12], H[144], n[3], gn[3], gp[9];
    const abut_stencil kind = abut_pairs_get(p, i, y, x);
    const int points = abut_stencil_size(kind);
    const double d = sqrt(abut_dist2_all(kind, x, NULL, gd, g ? H : NULL));
    for (int k = 0; k < 3 * points; k++) gd[k] /= 2 * d;
    for (int k = 0; k < 3; k++) n[k] = gd[3 * at + k];
    const double G = patch_factor(n, y + 3 * (size_t)owner, y + 3 * (size_t)corner[0], y + 3 * (size_t)corner[1], gn, gp);
    for (int k = 0; k < ABUT_AREA_CORNERS; k++) v[k] = k < points ? p->vert[i][k] : -1;
    v[4] = owner, v[5] = corner[0], v[6] = corner[1];
    *bends = G > 0 && G < 1;
    for (int k = 0; k < (g ? 3 * ABUT_AREA_CORNERS : 0); k++) g[k] = k >= 12 && k < 21 ? gp[k - 12] : 0;
    for (int k = 0; k < (g ? 3 * points : 0); k++)
        for (int c = 0; c < 3; c++) g[k] += gn[c] * (H[3 * points * (3 * at + c) + k] / 2 - n[c] * gd[k]) / d;
    return G;
}

double abut_area_factor_of(const abut_collmesh *cm, const abut_pairs *p, size_t i, const double *y,
                           int32_t v[ABUT_AREA_CORNERS], double *g, int *bends)
{
    int varies = 0;
    const double F = p->of[i][1] < 0         ? 1
                     : p->kind[i] == ABUT_EE ? edges_factor(cm, p, i, y, v, g, &varies)
                                             : vertex_factor(cm, p, i, y, v, g, &varies);
    if (bends) *bends = varies;
    return F;
}

double abut_area_plane_weight(const abut_collmesh *cm, int32_t v, int32_t patch)
{
    return (patch < 0 ? cm->area->vertex[v] : cm->area->patch[patch]) *
           over_law(abut_collmesh_plane_dhat(cm, v), abut_collmesh_plane_xi(cm, v));
}

double abut_area_plane_factor(const abut_collmesh *cm, int32_t v, int32_t patch, const double n[3], const double *y, double *g)
{
    double gn[3], own[9];
    if (patch < 0) return 1;
    const int32_t *corner = cm->area->normal[patch];
    return patch_factor(n, y + 3 * (size_t)v, y + 3 * (size_t)corner[0], y + 3 * (size_t)corner[1], gn, g ? g : own);
}

void abut_area_weigh(const abut_collmesh *cm, const double *y, abut_pairs *p)
{
    #pragma omp parallel for schedule(static) if (p->n >= ABUT_PAR_MIN)
    for (size_t i = 0; i < p->n; i++) {
        int32_t v[ABUT_AREA_CORNERS];
        int bends;
        const double F = abut_area_factor_of(cm, p, i, y, v, NULL, &bends);
        p->mult[i] = F > 0 ? F * abut_area_weight(cm, p, i, p->mult[i]) : 0;
        p->bent[i] = bends;
    }
    size_t n = 0;
    p->n_plain = p->n_bent = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (p->mult[i] == 0) continue;
        p->kind[n] = p->kind[i], p->mult[n] = p->mult[i], p->dist2[n] = p->dist2[i], p->reach[n] = p->reach[i];
        memmove(p->vert[n], p->vert[i], sizeof *p->vert);
        memmove(p->of[n], p->of[i], sizeof *p->of);
        if (p->bent[i]) p->bent[p->n_bent++] = (int32_t)n;      /* no further than i */
        p->eps_x[n++] = p->eps_x[i];
        if (!(p->eps_x[i] > 0)) p->n_plain = n;
    }
    p->n = n;
}

double abut_area_weight_met(const abut_collmesh *cm, int32_t p, int32_t q)
{
    const int32_t pair[2] = { p, q };
    const double over = over_law(abut_collmesh_dhat(cm, ABUT_PP, pair), abut_collmesh_xi(cm, ABUT_PP, pair));
    return share(cm->area, p, q) * area_at(cm->area, p, q) * over;
}
