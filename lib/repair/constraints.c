#include "repair/constraints.h"

#include "base/order.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INNER 20    /* sweeps over the active constraints between two over all */

abut_status abut_constraints_add(abut_constraints *list, const abut_constraint *one, abut_err *err)
{
    if (!ABUT_GROW(list->constraint, list->n + 1, list->cap))
        return abut_fail(err, ABUT_E_NOMEM, "separation: no memory for %zu conditions", list->n + 1);
    list->constraint[list->n++] = *one;
    return ABUT_OK;
}

static int by_key(const void *a, const void *b)
{
    const abut_constraint *p = a, *q = b;
    if (p->kind != q->kind) return p->kind < q->kind ? -1 : 1;
    return abut_compare(p->id, q->id, 2);
}

/* The order of arrival is kept in lambda while they are sorted. */
static int add_order(const void *p, const void *q)
{
    const abut_constraint *a = p, *b = q;
    const int k = by_key(a, b);
    return k ? k : (a->lambda > b->lambda) - (a->lambda < b->lambda);
}

void abut_constraints_sort(abut_constraints *list)
{
    if (list->n == 0) return;
    for (size_t i = 0; i < list->n; i++) list->constraint[i].lambda = (double)i;   /* a stable sort: ties keep their order */
    qsort(list->constraint, list->n, sizeof *list->constraint, add_order);
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        if (!n || by_key(&list->constraint[n - 1], &list->constraint[i])) list->constraint[n++] = list->constraint[i];
    list->n = n;
    for (size_t i = 0; i < n; i++) list->constraint[i].lambda = 0;
}

const abut_constraint *abut_constraints_find(const abut_constraints *list, abut_constraint_kind kind, int32_t id0, int32_t id1)
{
    const abut_constraint key = { .kind = kind, .id = { id0, id1 } };
    return list->n ? bsearch(&key, list->constraint, list->n, sizeof key, by_key) : NULL;
}

void abut_constraints_clear(abut_constraints *list)
{
    free(list->constraint);
    *list = (abut_constraints){ 0 };
}

/* Changes the multiplier of one constraint so that it is met, or inactive; returns its violation before. */
static double relax(abut_constraint *r, const double *weight, double *u)
{
    double value = 0, diag = 0;
    for (int i = 0; i < 4 && r->node[i] >= 0; i++)
        for (int c = 0; c < 3; c++) {
            value += r->a[i][c] * u[3 * (size_t)r->node[i] + (size_t)c];
            diag += weight[r->node[i]] * r->a[i][c] * r->a[i][c];
        }
    const double violation = r->b - value;
    if (!(diag > 0)) return violation;
    double step = violation / diag;
    if (step < -r->lambda) step = -r->lambda;
    if (step == 0) return violation;
    r->lambda += step;
    for (int i = 0; i < 4 && r->node[i] >= 0; i++)
        for (int c = 0; c < 3; c++) u[3 * (size_t)r->node[i] + (size_t)c] += step * weight[r->node[i]] * r->a[i][c];
    return violation;
}

void abut_constraints_warm(abut_constraints *list, const abut_constraints *old)
{
    for (size_t i = 0, j = 0; i < list->n; i++) {
        while (j < old->n && by_key(&old->constraint[j], &list->constraint[i]) < 0) j++;
        if (j < old->n && !by_key(&old->constraint[j], &list->constraint[i]))
            list->constraint[i].lambda = old->constraint[j].lambda;
    }
}

/* u = M^-1 A^T lambda */
static void start(const abut_constraints *list, const double *weight, int32_t nv, double *u)
{
    memset(u, 0, 3 * (size_t)nv * sizeof *u);
    for (size_t k = 0; k < list->n; k++) {
        const abut_constraint *r = &list->constraint[k];
        for (int i = 0; i < 4 && r->node[i] >= 0 && r->lambda > 0; i++)
            for (int c = 0; c < 3; c++) u[3 * (size_t)r->node[i] + (size_t)c] += r->lambda * weight[r->node[i]] * r->a[i][c];
    }
}

double abut_constraints_solve(abut_constraints *list, const double *weight, int32_t nv, int sweeps, double tol, size_t *active,
                              double *u)
{
    double worst = 0;
    start(list, weight, nv, u);
    for (int k = 0; k < sweeps; k++) {
        size_t n = 0;
        worst = 0;
        for (size_t i = 0; i < list->n; i++) {
            const double v = relax(&list->constraint[i], weight, u);
            worst = fmax(worst, v);
            if (v > 0 || list->constraint[i].lambda > 0) active[n++] = i;
        }
        if (worst <= tol) break;
        for (int inner = 0; inner < INNER; inner++) {
            double here = 0;
            for (size_t i = 0; i < n; i++) here = fmax(here, relax(&list->constraint[active[i]], weight, u));
            if (here <= 0.5 * tol) break;
        }
    }
    return worst;
}

/* -- connectivity ------------------------------------------------------------------------------------------------- */

/* Components of the vertices under the edges that are not cut; the lowest vertex names each. */
static void components(const abut_collmesh *cm, const uint8_t *cut, int32_t *label)
{
    for (int32_t v = 0; v < cm->nc; v++) label[v] = v;
    for (int32_t e = 0; e < cm->ne; e++)
        if (!cut || !cut[e]) abut_set_join(label, cm->edge[2 * (size_t)e], cm->edge[2 * (size_t)e + 1]);
    for (int32_t v = 0; v < cm->nc; v++) label[v] = abut_set_root(label, v);
}

typedef struct named_edge {
    int32_t v[2], id;
} named_edge;

static abut_status find_sides(abut_wrong_side *t, abut_err *err)
{
    const abut_collmesh *cm = t->cm;
    named_edge *list = malloc(((size_t)cm->ne + 1) * sizeof *list);
    if (!list) return abut_fail(err, ABUT_E_NOMEM, "separation: no memory for %d edges", cm->ne);
    for (int32_t e = 0; e < cm->ne; e++)
        list[e] = (named_edge){ { cm->edge[2 * (size_t)e], cm->edge[2 * (size_t)e + 1] }, e };
    qsort(list, (size_t)cm->ne, sizeof *list, abut_by_two);
    abut_status rc = ABUT_OK;
    for (size_t i = 0; i < 3 * (size_t)cm->nt && !rc; i++) {
        const int32_t a = cm->tri[i], b = cm->tri[i / 3 * 3 + (i + 1) % 3];
        const named_edge key = { { a < b ? a : b, a < b ? b : a }, 0 };
        const named_edge *hit = bsearch(&key, list, (size_t)cm->ne, sizeof *list, abut_by_two);
        if (!hit) rc = abut_fail(err, ABUT_E_FORMAT, "contact/triangle row %zu: side %d %d is not in contact/edge", i / 3, a, b);
        else t->side[i] = hit->id, t->tris_of_edge[hit->id]++;
    }
    free(list);
    return rc;
}

abut_status abut_wrong_side_init(abut_wrong_side *t, const abut_collmesh *cm, abut_err *err)
{
    assert(cm);
    const size_t nc = (size_t)cm->nc + 1, ne = (size_t)cm->ne + 1, nt = (size_t)cm->nt + 1;
    *t = (abut_wrong_side){ cm, malloc(nc * sizeof(int32_t)), malloc(3 * nt * sizeof(int32_t)), calloc(ne, sizeof(int32_t)),
                        malloc(nc * sizeof(int32_t)), malloc(nc * sizeof(int32_t)), malloc(nc * sizeof(int32_t)),
                        calloc(nc, 1), calloc(ne, 1) };
    abut_status rc = ABUT_OK;
    if (!t->whole || !t->side || !t->tris_of_edge || !t->region || !t->size || !t->largest || !t->beyond || !t->cut)
        rc = abut_fail(err, ABUT_E_NOMEM, "separation: no memory for %d vertices", cm->nc);
    if (!rc) rc = find_sides(t, err);
    if (rc) abut_wrong_side_clear(t);
    else components(cm, NULL, t->whole);
    return rc;
}

void abut_wrong_side_clear(abut_wrong_side *t)
{
    ABUT_FREE(t->whole, t->side, t->tris_of_edge, t->region, t->size, t->largest, t->beyond, t->cut);
    *t = (abut_wrong_side){ 0 };
}

void abut_wrong_side_find(abut_wrong_side *t, const abut_intersection *hit, size_t n)
{
    const abut_collmesh *cm = t->cm;
    memset(t->cut, 0, (size_t)cm->ne);
    memset(t->beyond, 0, (size_t)cm->nc);
    for (size_t i = 0; i < n; i++) t->cut[hit[i].edge] = 1;
    components(cm, t->cut, t->region);

    /* the largest region of each surface is where the surface belongs */
    for (int32_t v = 0; v < cm->nc; v++) t->size[v] = 0, t->largest[v] = v;
    for (int32_t v = 0; v < cm->nc; v++) t->size[t->region[v]]++;
    for (int32_t v = 0; v < cm->nc; v++) {
        int32_t *best = &t->largest[t->whole[v]];
        if (t->region[v] == v && t->size[v] > t->size[*best]) *best = v;
    }
    for (int32_t v = 0; v < cm->nc; v++) t->beyond[v] = t->region[v] != t->largest[t->whole[v]];
}

/* -- list --------------------------------------------------------------------------------------------------------- */

abut_constraint abut_constraint_apart(abut_constraint_kind kind, int32_t id0, int32_t id1, const int32_t vert[4],
                                      const double w[4], const double n[3], const double *y, double distance)
{
    abut_constraint r = { .kind = kind, .id = { id0, id1 }, .b = distance };
    const double *o = y + 3 * (size_t)vert[0];
    for (int i = 0; i < 4; i++) {
        r.node[i] = vert[i];
        if (vert[i] < 0) continue;
        for (int c = 0; c < 3; c++) {
            r.a[i][c] = w[i] * n[c];
            r.b -= r.a[i][c] * (y[3 * (size_t)vert[i] + (size_t)c] - o[c]);
        }
    }
    return r;
}

static abut_vec3 at(const double *y, int32_t v) { return abut_v3_get(y + 3 * (size_t)v); }

static void put_stencil(const double *y, const int32_t vert[4], double x[12])
{
    for (int i = 0; i < 4; i++) abut_v3_put(x + 3 * i, at(y, vert[i]));
}

/* The separation sum_i w_i y_i of the nearest points. */
static abut_vec3 separation(const double x[12], const double w[4])
{
    abut_vec3 r = abut_v3(0, 0, 0);
    for (int i = 1; i < 4; i++) r = abut_v3_axpy(r, w[i], abut_v3_sub(abut_v3_get(x + 3 * i), abut_v3_get(x)));
    return r;
}

static abut_vec3 unit_or(abut_vec3 r, abut_vec3 otherwise)
{
    const double l = abut_v3_norm(r), m = abut_v3_norm(otherwise);
    return l > 0 ? abut_v3_scale(1 / l, r) : m > 0 ? abut_v3_scale(1 / m, otherwise) : abut_v3(0, 0, 1);
}

static abut_vec3 face_normal(const double *y, const int32_t *tri)
{
    return abut_v3_cross(abut_v3_sub(at(y, tri[1]), at(y, tri[0])), abut_v3_sub(at(y, tri[2]), at(y, tri[0])));
}

static double apart(const abut_wrong_side *t, abut_stencil s, const int32_t vert[4], double gap)
{
    return ABUT_SEPARATE_AIM * (abut_collmesh_xi(t->cm, s, vert) + gap);
}

/* Vertex v is on the wrong side of triangle k: through its nearest point and gap beyond. */
static abut_constraint through_face(const abut_wrong_side *t, const double *y, int32_t v, int32_t k, double gap)
{
    const int32_t *tri = t->cm->tri + 3 * (size_t)k, vert[4] = { v, tri[0], tri[1], tri[2] };
    double x[12], w[4], n[3];
    put_stencil(y, vert, x);
    abut_closest(ABUT_PT, x, w);
    abut_v3_put(n, unit_or(abut_v3_scale(-1, separation(x, w)), face_normal(y, tri)));
    return abut_constraint_apart(ABUT_CONSTRAINT_VT, v, k, vert, w, n, y, apart(t, ABUT_PT, vert, gap));
}

/* Edges e and f pierce each other's surfaces: e to the far side of f. */
static abut_constraint over_edge(const abut_wrong_side *t, const double *y, int32_t e, int32_t f, abut_vec3 out, double gap)
{
    const int32_t *a = t->cm->edge + 2 * (size_t)e, *b = t->cm->edge + 2 * (size_t)f, vert[4] = { a[0], a[1], b[0], b[1] };
    double x[12], w[4], n[3];
    put_stencil(y, vert, x);
    abut_closest(ABUT_EE, x, w);
    abut_v3_put(n, unit_or(abut_v3_scale(-1, separation(x, w)), out));
    return abut_constraint_apart(ABUT_CONSTRAINT_EE, e < f ? e : f, e < f ? f : e, vert, w, n, y, apart(t, ABUT_EE, vert, gap));
}

/* -- regions on the wrong side ------------------------------------------------------------------------------------- */

typedef struct pair_set {
    int32_t (*ij)[2];
    size_t n, cap;
} pair_set;

static abut_status pair_add(pair_set *s, int32_t i, int32_t j, abut_err *err)
{
    if (!ABUT_GROW(s->ij, s->n + 1, s->cap)) return abut_fail(err, ABUT_E_NOMEM, "separation: no memory for %zu pairs", s->n + 1);
    s->ij[s->n][0] = i, s->ij[s->n++][1] = j;
    return ABUT_OK;
}

static void pair_sort(pair_set *s)
{
    size_t n = 0;
    if (s->n) qsort(s->ij, s->n, sizeof *s->ij, abut_by_two);
    for (size_t i = 0; i < s->n; i++)
        if (!n || memcmp(s->ij[n - 1], s->ij[i], sizeof *s->ij)) memmove(s->ij[n++], s->ij[i], sizeof *s->ij);
    s->n = n;
}

/* First pair whose first member is not below i. */
static size_t pair_first(const pair_set *s, int32_t i)
{
    return abut_place_of(&i, s->ij, s->n, sizeof *s->ij, abut_by_one);
}

/* targets: (region, triangle it may go back through): triangles that its own edges cross, and triangles of the wrong-side regions
 * that these edges cross (met: (their region, ours)). */
static abut_status find_targets(const abut_wrong_side *t, const abut_intersection *hit, size_t n, pair_set *met,
                                pair_set *targets, abut_err *err)
{
    const abut_collmesh *cm = t->cm;
    abut_status rc = ABUT_OK;
    for (size_t i = 0; i < n && !rc; i++) {
        const int32_t *e = cm->edge + 2 * (size_t)hit[i].edge, *tri = cm->tri + 3 * (size_t)hit[i].tri;
        for (int p = 0; p < 2 && !rc; p++) {
            if (!t->beyond[e[p]]) continue;
            rc = pair_add(targets, t->region[e[p]], hit[i].tri, err);
            for (int k = 0; k < 3 && !rc; k++)
                if (t->beyond[tri[k]]) rc = pair_add(met, t->region[tri[k]], t->region[e[p]], err);
        }
    }
    pair_sort(met);
    for (int32_t f = 0; f < cm->nt && met->n && !rc; f++)
        for (int k = 0; k < 3 && !rc; k++) {
            const int32_t v = cm->tri[3 * (size_t)f + (size_t)k];
            if (!t->beyond[v]) continue;
            for (size_t i = pair_first(met, t->region[v]); i < met->n && met->ij[i][0] == t->region[v] && !rc; i++)
                rc = pair_add(targets, met->ij[i][1], f, err);
        }
    pair_sort(targets);
    return rc;
}

/* The nearest triangle that vertex v may go back through; -1: none. */
static int32_t nearest_target(const abut_wrong_side *t, const pair_set *targets, const double *y, int32_t v)
{
    double best = INFINITY;
    int32_t face = -1;
    for (size_t i = pair_first(targets, t->region[v]); i < targets->n && targets->ij[i][0] == t->region[v]; i++) {
        const int32_t *tri = t->cm->tri + 3 * (size_t)targets->ij[i][1], vert[4] = { v, tri[0], tri[1], tri[2] };
        double x[12], d2;
        if (v == tri[0] || v == tri[1] || v == tri[2]) continue;
        put_stencil(y, vert, x);
        abut_nearest(ABUT_PT, x, &d2);
        if (d2 < best) best = d2, face = targets->ij[i][1];
    }
    return face;
}

static abut_status region_constraints(const abut_wrong_side *t, const abut_intersection *hit, size_t n, const double *y,
                                      double gap, abut_constraints *list, abut_err *err)
{
    pair_set met = { 0 }, targets = { 0 };
    abut_status rc = find_targets(t, hit, n, &met, &targets, err);
    for (int32_t v = 0; v < t->cm->nc && targets.n && !rc; v++) {
        if (!t->beyond[v]) continue;
        const int32_t face = nearest_target(t, &targets, y, v);
        if (face < 0) continue;
        const abut_constraint r = through_face(t, y, v, face, gap);
        rc = abut_constraints_add(list, &r, err);
    }
    ABUT_FREE(met.ij, targets.ij);
    return rc;
}

/* -- edges that cross with both ends on the right side ------------------------------------------------------------ */

/* The edge that triangles f and g have in common; -1: none. */
static int32_t common_edge(const abut_wrong_side *t, int32_t f, int32_t g)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (t->side[3 * (size_t)f + (size_t)i] == t->side[3 * (size_t)g + (size_t)j])
                return t->side[3 * (size_t)f + (size_t)i];
    return -1;
}

/* No ridge to go over: the cheapest of drawing either end back through the triangle, or the edge over a side of the
 * triangle that is the border of its surface.  An end that the round before moved across this triangle stays: two corners
 * that cross would change sides for ever, and part only over their borders. */
static abut_constraint cheapest(const abut_wrong_side *t, const double *y, int32_t e, int32_t f, double gap,
                                const abut_constraints *last)
{
    const int32_t *end = t->cm->edge + 2 * (size_t)e, *tri = t->cm->tri + 3 * (size_t)f;
    abut_constraint best = { .b = INFINITY };
    for (int k = 0; k < 3; k++) {
        const int32_t side = t->side[3 * (size_t)f + (size_t)k];
        if (t->tris_of_edge[side] != 1) continue;
        const abut_constraint over = over_edge(t, y, e, side, face_normal(y, tri), gap);
        if (over.b < best.b) best = over;
    }
    for (int again = 0; again < 2; again++)
        for (int p = 0; p < 2; p++) {
            if (again ? best.b < INFINITY : abut_constraints_find(last, ABUT_CONSTRAINT_VT, end[p], f) != NULL) continue;
            const abut_constraint through = through_face(t, y, end[p], f, gap);
            if (through.b < best.b) best = through;
        }
    return best;
}

/* hit is sorted by edge: those [lo, hi) of one edge. */
static abut_status edge_constraints(const abut_wrong_side *t, const abut_intersection *hit, size_t lo, size_t hi, const double *y,
                                    double gap, const abut_constraints *last, abut_constraints *list, abut_err *err)
{
    const int32_t e = hit[lo].edge;
    abut_status rc = ABUT_OK;
    int ridges = 0;
    for (size_t i = lo; i < hi && !rc; i++)
        for (size_t j = i + 1; j < hi && !rc; j++) {
            const int32_t ridge = common_edge(t, hit[i].tri, hit[j].tri);
            if (ridge < 0) continue;
            const abut_vec3 out = abut_v3_add(face_normal(y, t->cm->tri + 3 * (size_t)hit[i].tri),
                                              face_normal(y, t->cm->tri + 3 * (size_t)hit[j].tri));
            const abut_constraint r = over_edge(t, y, e, ridge, out, gap);
            rc = abut_constraints_add(list, &r, err);
            ridges++;
        }
    for (size_t i = lo; i < hi && !ridges && !rc; i++) {
        const abut_constraint r = cheapest(t, y, e, hit[i].tri, gap, last);
        rc = abut_constraints_add(list, &r, err);
    }
    return rc;
}

abut_status abut_wrong_side_constraints(const abut_wrong_side *t, const abut_intersection *hit, size_t n, const double *y,
                                        double gap, const abut_constraints *last, abut_constraints *list, abut_err *err)
{
    abut_status rc = region_constraints(t, hit, n, y, gap, list, err);
    for (size_t lo = 0, hi; lo < n && !rc; lo = hi) {
        for (hi = lo + 1; hi < n && hit[hi].edge == hit[lo].edge;) hi++;
        const int32_t *e = t->cm->edge + 2 * (size_t)hit[lo].edge;
        if (!t->beyond[e[0]] && !t->beyond[e[1]]) rc = edge_constraints(t, hit, lo, hi, y, gap, last, list, err);
    }
    return rc;
}
