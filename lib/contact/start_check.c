#include "contact/start_check.h"

#include "base/words.h"
#include "contact/intersect.h"
#include "geom/boxes.h"
#include "geom/exact/predicates.h"
#include "mesh/triangle_tree.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- vertices inside closed surfaces: a primitive wholly inside a body touches no surface ---- */

static abut_status no_memory(const abut_collmesh *cm, abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "closed surfaces: no memory for %d triangles", cm->nt);
}

/* The triangles of an object into tri; 0 unless every side is of two of them. */
static int32_t closed_surface(const abut_collmesh *cm, int32_t object, const uint8_t *is_rod, int32_t *tri)
{
    int32_t n = 0, sides = 0;
    for (int32_t t = 0; t < cm->nt; t++)
        if (abut_collmesh_object(cm, cm->tri[3 * (size_t)t]) == object)
            memcpy(tri + 3 * (size_t)n++, cm->tri + 3 * (size_t)t, 3 * sizeof *tri);
    for (int32_t e = 0; e < cm->ne; e++) sides += !is_rod[e] && abut_collmesh_object(cm, cm->edge[2 * (size_t)e]) == object;
    return 3 * (int64_t)n == 2 * (int64_t)sides ? n : 0;
}

static void look(const abut_collmesh *cm, const double *y, int32_t object, const abut_triangle_tree *tree, const double lo[3],
                 const double hi[3], int32_t *in)
{
    #pragma omp parallel for schedule(dynamic, 64) if ((size_t)cm->nc >= ABUT_PAR_MIN)
    for (int32_t v = 0; v < cm->nc; v++) {
        const double *p = y + 3 * (size_t)v;
        const int32_t own = abut_collmesh_object(cm, v);
        int near = in[v] < 0 && own != object && !abut_collmesh_is_ghost(cm, v) && !abut_model_excludes(cm->model, own, object);
        for (int d = 0; d < 3; d++) near = near && p[d] > lo[d] && p[d] < hi[d];
        if (near && abut_triangles_inside(tree, abut_v3_get(p))) in[v] = object;
    }
}

static abut_status look_in(const abut_collmesh *cm, const double *y, int32_t object, const int32_t *tri, int32_t n, int32_t *in,
                           abut_err *err)
{
    double lo[3] = { INFINITY, INFINITY, INFINITY }, hi[3] = { -INFINITY, -INFINITY, -INFINITY };
    abut_triangle_tree *tree = NULL;
    for (size_t i = 0; i < 3 * (size_t)n; i++)
        for (int d = 0; d < 3; d++) {
            lo[d] = fmin(lo[d], y[3 * (size_t)tri[i] + (size_t)d]);
            hi[d] = fmax(hi[d], y[3 * (size_t)tri[i] + (size_t)d]);
        }
    const abut_status rc = abut_triangle_tree_new(&tree, y, tri, n, err);
    if (!rc) look(cm, y, object, tree, lo, hi, in);
    abut_triangle_tree_free(&tree);
    return rc;
}

/* in[nc]: the first body of tets, of another object, whose closed contact surface at y[3 nc] encloses the vertex; -1: none.
 * Vertices of bodies that do not meet have -1. */
static abut_status find_enclosed(const abut_collmesh *cm, const double *y, int32_t *in, abut_err *err)
{
    const abut_model *m = cm->model;
    uint8_t *is_rod = calloc((size_t)cm->ne + 1, 1), *has_tets = calloc((size_t)m->no + 1, 1);
    int32_t *tri = malloc((3 * (size_t)cm->nt + 1) * sizeof *tri);
    abut_status rc = is_rod && has_tets && tri ? ABUT_OK : no_memory(cm, err);
    for (int32_t v = 0; v < cm->nc; v++) in[v] = -1;
    for (int32_t i = 0; i < (rc ? 0 : cm->n_seg); i++) is_rod[cm->seg[i]] = 1;
    for (int32_t t = 0; t < (rc ? 0 : m->nt); t++) has_tets[m->body[m->tet[4 * (size_t)t]]] = 1;
    for (int32_t o = 0; o < m->no && !rc; o++) {
        const int32_t n = has_tets[o] ? closed_surface(cm, o, is_rod, tri) : 0;
        if (n) rc = look_in(cm, y, o, tri, n, in, err);
    }
    free(is_rod), free(has_tets), free(tri);
    return rc;
}

/* The pair with the smallest gap: two primitives of n[] collision vertices; n[1] = 0: a half-space. */
typedef struct nearest {
    int n[2];               /* 0, 0: no pair */
    int32_t v[2][3], plane;
} nearest;

typedef struct check {
    abut_collmesh cm;
    const abut_arrays *set;
    double *y;              /* [nc * 3] collision vertices */
    uint8_t *vert_hit;      /* [nc] the vertex is in a listed intersection: its other touches are the same place */
    uint8_t *edge_hit;      /* [ne] the edge is in a listed intersection */
    abut_intersection *found;
    abut_offenders *bad;
    double reach;
    abut_start_gap *gap;
    nearest near, fine;     /* the pairs of gap->gap and gap->fine_gap */
} check;

static void describe(const check *c, const int32_t *v, int n, char name[ABUT_PRIMITIVE_NAME])
{
    abut_primitive_name(&c->cm, c->set, c->y, v, n, name);
}

static void gather(const check *c, const int32_t *v, int n, double *x)
{
    for (int k = 0; k < n; k++) memcpy(x + 3 * k, c->y + 3 * (size_t)v[k], 3 * sizeof *x);
}

/* Two primitives, of a and b vertices. */
typedef struct two {
    char one[ABUT_PRIMITIVE_NAME], other[ABUT_PRIMITIVE_NAME];
    double x[18];
} two;

static void take_two(const check *c, const int32_t *va, int a, const int32_t *vb, int b, two *t)
{
    *t->one = *t->other = 0;
    if (abut_offenders_full(c->bad)) return;
    describe(c, va, a, t->one);
    describe(c, vb, b, t->other);
    gather(c, va, a, t->x);
    gather(c, vb, b, t->x + 3 * a);
}

/* Reports two primitives that touch or cross ... */
static abut_status report(const check *c, const char *verb, const int32_t *va, int a, const int32_t *vb, int b, abut_err *err)
{
    two t;
    take_two(c, va, a, vb, b, &t);
    return abut_offenders_add(c->bad, a, b, t.x, err, "%s %s %s", t.one, verb, t.other);
}

/* ... or that are no further apart than their thickness. */
static abut_status report_thin(const check *c, double d, double xi, const int32_t *va, int a, const int32_t *vb, int b,
                               abut_err *err)
{
    two t;
    take_two(c, va, a, vb, b, &t);
    return abut_offenders_add(c->bad, a, b, t.x, err, "%s is %.9g m from %s, expected more than their thickness, %.9g m", t.one,
                              d, t.other, xi);
}

static abut_status report_plane(const check *c, int32_t vert, int32_t plane, abut_err *err)
{
    char one[ABUT_PRIMITIVE_NAME] = "", name[64];
    const abut_model *m = c->cm.model;
    const double *n = m->hs_normal + 3 * (size_t)plane, *o = m->hs_point + 3 * (size_t)plane, *p = c->y + 3 * (size_t)vert;
    const double d = n[0] * (p[0] - o[0]) + n[1] * (p[1] - o[1]) + n[2] * (p[2] - o[2]);
    if (!abut_offenders_full(c->bad)) describe(c, &vert, 1, one);
    abut_text_row(c->set, "half-space/name", plane, name, sizeof name);
    if (d > 0)
        return abut_offenders_add(c->bad, 1, 0, p, err,
                                  "%s is %.9g m above half-space '%s', expected more than half its thickness, "
                                  "%.9g m",
                                  one, d, name, abut_collmesh_plane_xi(&c->cm, vert));
    return abut_offenders_add(c->bad, 1, 0, p, err, "%s is %s half-space '%s' (height %.3g m)", one,
                              d == 0 ? "on" : "under", name, d);
}

static abut_status list_intersections(check *c, abut_err *err)
{
    size_t found = 0;
    abut_status rc = abut_intersections_find(&c->cm, c->y, c->cm.obstacle, ABUT_OFFENDERS_KEPT, c->found, &found, err);
    const size_t kept = found < ABUT_OFFENDERS_KEPT ? found : ABUT_OFFENDERS_KEPT;
    for (size_t i = 0; i < kept && !rc; i++) {
        const abut_intersection *x = &c->found[i];
        if (x->tri < 0) {
            rc = report_plane(c, x->vert, x->plane, err);
            continue;
        }
        const int32_t *e = c->cm.edge + 2 * (size_t)x->edge, *t = c->cm.tri + 3 * (size_t)x->tri;
        rc = report(c, "touches or crosses", e, 2, t, 3, err);
        c->edge_hit[x->edge] = c->vert_hit[e[0]] = c->vert_hit[e[1]] = 1;
        for (int k = 0; k < 3; k++) c->vert_hit[t[k]] = 1;
    }
    c->bad->total += (int64_t)(found - kept);
    return rc;
}

/* Keeps the smallest gap, and the smallest gap within one thin or thick object. */
static void closer(check *c, double gap, double xi, const int32_t *va, int a, const int32_t *vb, int b)
{
    const abut_model *m = c->cm.model;
    const int one_object = abut_collmesh_object(&c->cm, va[0]) == abut_collmesh_object(&c->cm, vb[0]);
    const double dhat = abut_collmesh_dhat(&c->cm, ABUT_PP, (const int32_t[2]){ va[0], vb[0] });
    const int fine = gap < fmin(c->reach, dhat) && one_object && (xi > 0 || m->nsh || m->nrd);
    c->gap->fine += fine;
    nearest pair = { .n = { a, b } };
    memcpy(pair.v[0], va, (size_t)a * sizeof *va);
    memcpy(pair.v[1], vb, (size_t)b * sizeof *vb);
    if (gap < c->gap->gap) {
        c->gap->gap = gap;
        c->near = pair;
    }
    if (fine && gap < c->gap->fine_gap) {
        c->gap->fine_gap = gap;
        c->fine = pair;
    }
}

static void name_nearest(const check *c, const nearest *p, char *text, size_t size)
{
    char one[ABUT_PRIMITIVE_NAME], other[ABUT_PRIMITIVE_NAME], name[64];
    if (!p->n[0]) return;
    describe(c, p->v[0], p->n[0], one);
    if (p->n[1]) describe(c, p->v[1], p->n[1], other);
    else snprintf(other, sizeof other, "half-space '%s'", abut_text_row(c->set, "half-space/name", p->plane, name, sizeof name));
    snprintf(text, size, "%s - %s", one, other);
}

static int touch(abut_stencil s, const double *x)
{
    switch (s) {
    case ABUT_PT: return abut_touch_point_tri(x, x + 3, x + 6, x + 9);
    case ABUT_EE: return abut_touch_edge_edge(x, x + 3, x + 6, x + 9);
    case ABUT_PE: return abut_touch_point_edge(x, x + 3, x + 6);
    default: return x[0] == x[3] && x[1] == x[4] && x[2] == x[5];
    }
}

/* Whether a pair is at a place that is listed already; it is from now on. */
static int listed(check *c, abut_stencil s, const int32_t ij[2], const int32_t *va, const int32_t *vb)
{
    if (s != ABUT_EE) {
        const int known = c->vert_hit[va[0]] || (s == ABUT_PP && c->vert_hit[vb[0]]);
        c->vert_hit[va[0]] = 1;
        return known;
    }
    int known = c->edge_hit[ij[0]] || c->edge_hit[ij[1]];
    for (int k = 0; k < 2; k++) known |= c->vert_hit[va[k]] || c->vert_hit[vb[k]];
    c->edge_hit[ij[0]] = c->edge_hit[ij[1]] = 1;
    return known;
}

#define NEARLY 1e-9    /* of a squared distance: rounding of one point from two stencils */

/* Two primitives at x are apart, within their thickness xi, or touch.  *d2, m^2: their squared distance. */
typedef enum meeting { APART, WITHIN_THICKNESS, TOUCH } meeting;
static meeting meet(abut_stencil s, const double *x, double xi, double *d2)
{
    abut_nearest(s, x, d2);
    return !(*d2 > 0) || touch(s, x) ? TOUCH : abut_beyond2(*d2, xi) > 0 ? APART : WITHIN_THICKNESS;
}

/* Marks the vertices v[n] that touch the other primitive w[m], or are as near as the pair, d2, m^2: their pairs with it are at
 * the same place. */
static void mark_meeting(check *c, const int32_t *v, int n, const int32_t *w, int m, double xi, double d2)
{
    static const abut_stencil with[] = { ABUT_PP, ABUT_PP, ABUT_PE, ABUT_PT };
    for (int k = 0; k < n; k++) {
        double x[12], own;
        gather(c, v + k, 1, x);
        gather(c, w, m, x + 3);
        const meeting met = meet(with[m], x, xi, &own);
        if (met == TOUCH || (met && own <= (1 + NEARLY) * d2)) c->vert_hit[v[k]] = 1;
    }
}

static abut_status look_at(check *c, abut_stencil s, const int32_t ij[2], abut_err *err)
{
    const int32_t *va, *vb;
    double x[12], d2;
    const int a = abut_candidate_first(&c->cm, s, ij, &va), b = abut_candidate_second(&c->cm, s, ij, &vb);
    const double xi = abut_candidate_xi(&c->cm, s, ij);
    gather(c, va, a, x);
    gather(c, vb, b, x + 3 * a);
    const meeting met = meet(s, x, xi, &d2);
    if (met == APART) {
        closer(c, abut_beyond(d2, xi), xi, va, a, vb, b);
        return ABUT_OK;
    }
    if (listed(c, s, ij, va, vb)) return ABUT_OK;
    mark_meeting(c, va, a, vb, b, xi, d2);
    mark_meeting(c, vb, b, va, a, xi, d2);
    return met == TOUCH ? report(c, "touches", va, a, vb, b, err) : report_thin(c, sqrt(d2), xi, va, a, vb, b, err);
}

static abut_status plane_gaps(check *c, abut_err *err)
{
    abut_status rc = ABUT_OK;
    const abut_model *m = c->cm.model;
    for (int32_t h = 0; h < m->nh; h++)
        for (int32_t v = 0; v < c->cm.nc && !rc; v++) {
            const double *n = m->hs_normal + 3 * (size_t)h, *o = m->hs_point + 3 * (size_t)h, *p = c->y + 3 * (size_t)v;
            const double d = n[0] * (p[0] - o[0]) + n[1] * (p[1] - o[1]) + n[2] * (p[2] - o[2]);
            const double gap = d - abut_collmesh_plane_xi(&c->cm, v);
            if (c->cm.obstacle[v] || !(d > 0 && gap < c->gap->gap)) continue;
            if (!(gap > 0)) {
                rc = report_plane(c, v, h, err);
                continue;
            }
            c->gap->gap = gap;
            c->near = (nearest){ .n = { 1, 0 }, .v = { { v } }, .plane = h };
        }
    return rc;
}

static abut_status list_touches(check *c, abut_err *err)
{
    abut_candidates cand = { 0 };
    abut_status rc = abut_candidates_find(&c->cm, c->y, NULL, c->reach, c->cm.obstacle, &cand, err);
    for (int k = 0; k < ABUT_CANDIDATE_LISTS; k++) {
        const abut_pair_list *list = abut_candidates_list(&cand, k);
        for (size_t i = 0; i < list->n && !rc; i++) rc = look_at(c, abut_candidates_kind(k), list->ij[i], err);
    }
    abut_candidates_clear(&cand);
    return rc;
}

/* Lists collision vertices in closed tets of another part of the model, if the contact surface consists of faces of tets: a
 * primitive wholly inside a body touches no surface. */
static abut_status list_inside(check *c, const double *x, abut_err *err)
{
    const abut_model *m = c->cm.model;
    const size_t nc = (size_t)c->cm.nc, nt = (size_t)m->nt;
    abut_box *box = malloc((nc + nt + 1) * sizeof *box);
    abut_pair_list pairs = { 0 };
    const int32_t *node = c->cm.W.col;
    if (!box) return abut_fail(err, ABUT_E_NOMEM, "start check: no memory for %zu boxes", nc + nt);
    for (size_t i = 0; i < nc; i++) box[i] = abut_box_points(x, NULL, node + i, 1, 0);
    for (size_t t = 0; t < nt; t++) box[nc + t] = abut_box_points(x, NULL, m->tet + 4 * t, 4, 0);
    const abut_items a = { nc, 1, node, NULL, box }, b = { nt, 4, m->tet, NULL, box + nc };
    abut_status rc = abut_box_pairs(&a, &b, &pairs, err);
    for (size_t i = 0; i < pairs.n && !rc; i++) {
        const int32_t v = pairs.ij[i][0], *tet = m->tet + 4 * (size_t)pairs.ij[i][1];
        double p[15];
        memcpy(p, c->y + 3 * (size_t)v, 3 * sizeof *p);
        for (int k = 0; k < 4; k++) memcpy(p + 3 + 3 * k, x + 3 * (size_t)tet[k], 3 * sizeof *p);
        if (abut_collmesh_is_ghost(&c->cm, v) || c->vert_hit[v]) continue;
        if (abut_model_excludes(m, abut_collmesh_object(&c->cm, v), m->body[tet[0]])) continue;
        if (!abut_touch_point_tet(p, p + 3, p + 6, p + 9, p + 12)) continue;
        c->vert_hit[v] = 1;
        if (abut_offenders_full(c->bad)) {
            c->bad->total++;
            continue;
        }
        char one[ABUT_PRIMITIVE_NAME], object[64];
        describe(c, &v, 1, one);
        abut_text_row(c->set, "object/name", m->body[tet[0]], object, sizeof object);
        rc = abut_offenders_add(c->bad, 1, 4, p, err, "%s is inside tet %d of '%s' (nodes %d, %d, %d, %d)", one,
                                abut_element_number(m, m->tet, 4, pairs.ij[i][1]), object, abut_node_number(m, tet[0]),
                                abut_node_number(m, tet[1]), abut_node_number(m, tet[2]), abut_node_number(m, tet[3]));
    }
    abut_pair_list_clear(&pairs);
    free(box);
    return rc;
}

/* Lists collision vertices inside closed contact surfaces, if these are no faces of tets. */
static abut_status list_enclosed(check *c, abut_err *err)
{
    const abut_model *m = c->cm.model;
    int32_t *in = malloc(((size_t)c->cm.nc + 1) * sizeof *in);
    abut_status rc = in ? find_enclosed(&c->cm, c->y, in, err)
                        : abut_fail(err, ABUT_E_NOMEM, "start check: no memory for %d vertices", c->cm.nc);
    for (int32_t v = 0; v < c->cm.nc && !rc; v++) {
        char one[ABUT_PRIMITIVE_NAME] = "", object[ABUT_OBJECT_WORDS];
        if (in[v] < 0 || c->vert_hit[v]) continue;
        c->vert_hit[v] = 1;
        if (!abut_offenders_full(c->bad)) describe(c, &v, 1, one);
        rc = abut_offenders_add(c->bad, 1, 0, c->y + 3 * (size_t)v, err, "%s is inside of %s", one,
                                abut_object_words(m, in[v], object));
    }
    free(in);
    return rc;
}

int abut_start_short_edge(const abut_collmesh *cm, const abut_arrays *set, const double *y, char *text, size_t size)
{
    int32_t best = -1, *degree = cm->xi ? calloc((size_t)cm->nc + 1, sizeof *degree) : NULL;
    double least = INFINITY;
    char name[ABUT_PRIMITIVE_NAME];
    *text = 0;
    for (int32_t i = 0; degree && i < 2 * cm->ne; i++) degree[cm->edge[i]]++;
    for (int32_t e = 0; degree && e < cm->ne; e++) {
        const int32_t a = cm->edge[2 * e], b = cm->edge[2 * e + 1];
        const double *p = y + 3 * (size_t)a, *q = y + 3 * (size_t)b;
        const double d = hypot(hypot(q[0] - p[0], q[1] - p[1]), q[2] - p[2]);
        if (degree[a] + degree[b] == 2 || d > cm->xi[a] || d >= least) continue;
        least = d;
        best = e;
    }
    free(degree);
    if (best < 0) return 0;
    const int32_t *v = cm->edge + 2 * (size_t)best;
    abut_primitive_name(cm, set, y, v, 2, name);
    snprintf(text, size, "%s is %.6g m long, no more than the contact thickness, %.6g m, that it has to keep from its "
             "neighbours: expected longer segments and sides of triangles, or less thickness", name, least, cm->xi[v[0]]);
    return 1;
}

typedef struct spot {
    double y[3];
    int32_t object, v;
} spot;

static int by_spot(const void *a, const void *b)
{
    const spot *p = a, *q = b;
    if (p->object != q->object) return p->object < q->object ? -1 : 1;
    for (int k = 0; k < 3; k++)
        if (p->y[k] < q->y[k] || p->y[k] > q->y[k]) return p->y[k] < q->y[k] ? -1 : 1;
    return (p->v > q->v) - (p->v < q->v);
}

static int same_spot(const spot *p, const spot *q)
{
    return p->object == q->object && p->y[0] == q->y[0] && p->y[1] == q->y[1] && p->y[2] == q->y[2];
}

/* Contact vertices of one object at one place touch, and so does all that is there: parts of it have points of their own. */
static abut_status refuse_doubles(const check *c, abut_err *err)
{
    int32_t n = 0, twin = -1;
    spot *s = malloc(((size_t)c->cm.nc + 1) * sizeof *s);
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "start check: no memory for %d vertices", c->cm.nc);
    for (int32_t v = 0; v < c->cm.nc; v++) {
        const double *y = c->y + 3 * (size_t)v;
        const int32_t object = abut_collmesh_object(&c->cm, v);
        if (!c->cm.obstacle[v] && !abut_collmesh_is_ghost(&c->cm, v) && !abut_model_excludes(c->cm.model, object, object))
            s[n++] = (spot){ { y[0], y[1], y[2] }, object, v };
    }
    qsort(s, (size_t)n, sizeof *s, by_spot);
    for (int32_t i = n - 1; i > 0; i--)
        if (same_spot(&s[i - 1], &s[i])) twin = i;
    abut_status rc = ABUT_OK;
    if (twin >= 0) {
        char object[ABUT_OBJECT_WORDS];
        const double *y = s[twin].y;
        int32_t all = 0, places = 0;
        for (int32_t i = 0; i < n; i++) {
            if (s[i].object != s[twin].object) continue;
            all++;
            places += !i || !same_spot(&s[i - 1], &s[i]);
        }
        rc = abut_fail(err, ABUT_E_GEOM, "%s has %d points on its surface, at %d distinct positions (several are at (%.6g, %.6g, "
                       "%.6g)): `weld: LENGTH` of the object makes one point of those that are less than LENGTH apart",
                       abut_object_words(c->cm.model, s[twin].object, object), all, places, y[0], y[1], y[2]);
    }
    free(s);
    return rc;
}

static abut_status prepare(check *c, const abut_model *model, const double *x, abut_err *err)
{
    const abut_status rc = abut_collmesh_init(&c->cm, model, err);
    if (rc) return rc;
    c->cm.rigid_meet = 1;
    const size_t nc = (size_t)c->cm.nc, ne = (size_t)c->cm.ne;
    if (!ABUT_ARRAYS(ABUT_ITEMS(c->y, 3 * nc), ABUT_ZEROS(c->vert_hit, nc), ABUT_ZEROS(c->edge_hit, ne),
                     ABUT_ITEMS(c->found, ABUT_OFFENDERS_KEPT)))
        return abut_fail(err, ABUT_E_NOMEM, "start check: no memory for %zu vertices", nc);
    abut_collmesh_positions(&c->cm, x, c->y);
    return ABUT_OK;
}

abut_status abut_start_check(const abut_model *model, const abut_arrays *set, const double *x, double reach,
                             abut_offenders *bad, abut_start_gap *gap, abut_err *err)
{
    assert(gap);
    check c = { .set = set, .bad = bad, .reach = reach, .gap = gap };
    *gap = (abut_start_gap){ .gap = reach, .fine_gap = reach };
    abut_status rc = prepare(&c, model, x, err);
    if (!rc) rc = refuse_doubles(&c, err);
    if (!rc) rc = list_intersections(&c, err);
    if (!rc) rc = list_touches(&c, err);
    if (!rc) rc = abut_collmesh_selects(&c.cm) ? list_inside(&c, x, err) : list_enclosed(&c, err);
    if (!rc) rc = plane_gaps(&c, err);
    name_nearest(&c, &c.near, gap->text, sizeof gap->text);
    name_nearest(&c, &c.fine, gap->fine_text, sizeof gap->fine_text);
    if (!gap->text[0]) gap->gap = INFINITY;
    char text[480] = "";
    if (!rc && bad->total) {
        gap->is_short = abut_start_short_edge(&c.cm, set, c.y, text, sizeof text);
        rc = abut_fail(
            err, ABUT_E_GEOM, "%lld contact%s at the start without a gap; expected every distance to be more than %s%s%s",
            (long long)bad->total, abut_s(bad->total), c.cm.xi ? "the thickness of the pair" : "0", *text ? "; " : "", text);
    }
    abut_collmesh_clear(&c.cm);
    free(c.y), free(c.vert_hit), free(c.edge_hit), free(c.found);
    return rc;
}

/* ---- names of primitives ---- */

void abut_primitive_name(const abut_collmesh *cm, const abut_arrays *set, const double *y, const int32_t *v, int n,
                         char name[ABUT_PRIMITIVE_NAME])
{
    static const char *const what[] = { "", "point", "edge", "triangle" };
    char object[64], nodes[48];
    size_t used = 0;
    const int of_nodes = abut_collmesh_selects(cm);
    for (int k = 0; k < n; k++)
        used += (size_t)snprintf(nodes + used, sizeof nodes - used, "%s%d", k ? ", " : "",
                                 of_nodes ? abut_node_number(cm->model, abut_collmesh_node(cm, v[k])) : v[k]);
    abut_text_row(set, "object/name", abut_collmesh_object(cm, v[0]), object, sizeof object);
    const double *p = y + 3 * (size_t)v[0];
    snprintf(name, ABUT_PRIMITIVE_NAME, "%s of '%s' (%s %s) at (%.6g, %.6g, %.6g)", what[n], object,
             of_nodes ? n > 1 ? "nodes" : "node" : n > 1 ? "vertices" : "vertex", nodes, p[0], p[1], p[2]);
}
