#include "contact/touch_find.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- normal cones: rings ---- */

void abut_rings_clear(abut_rings *rings)
{
    ABUT_FREE(rings->edge_first, rings->edge, rings->tri_first, rings->tri);
    *rings = (abut_rings){ 0 };
}

/* Lists the numbers of the n primitives of `size` corners at each vertex; of edges the other ends.  Returns 0 without memory. */
static int list(int32_t nc, const int32_t *corner, int32_t n, int size, int32_t **first, int32_t **item)
{
    *first = calloc((size_t)nc + 2, sizeof **first);
    *item = malloc(((size_t)n * (size_t)size + 1) * sizeof **item);
    if (!*first || !*item) return 0;
    for (size_t i = 0; i < (size_t)n * (size_t)size; i++) (*first)[corner[i] + 2]++;
    for (int32_t v = 0; v < nc; v++) (*first)[v + 2] += (*first)[v + 1];
    for (size_t i = 0; i < (size_t)n * (size_t)size; i++)
        (*item)[(*first)[corner[i] + 1]++] = size == 2 ? corner[i ^ 1] : (int32_t)(i / (size_t)size);
    return 1;
}

abut_status abut_rings_init(abut_rings *rings, const abut_collmesh *cm, abut_err *err)
{
    assert(cm);
    *rings = (abut_rings){ 0 };
    if (list(cm->nc, cm->edge, cm->ne, 2, &rings->edge_first, &rings->edge) &&
        list(cm->nc, cm->tri, cm->nt, 3, &rings->tri_first, &rings->tri))
        return ABUT_OK;
    abut_rings_clear(rings);
    return abut_fail(err, ABUT_E_NOMEM, "edges and triangles around %d vertices", cm->nc);
}

/* ---- normal cones: turns ---- */

/* The vertices of one primitive that carry the closest point: a vertex, an edge or a triangle. */
typedef struct feature {
    int n;
    int32_t v[3];
} feature;

/* t[3] = from a to b. */
static void between(const abut_moving *m, int32_t a, int32_t b, double t[3])
{
    const size_t i = 3 * (size_t)a, j = 3 * (size_t)b;
    for (size_t d = 0; d < 3; d++) {
        t[d] = m->y[j + d] - m->y[i + d];
        if (m->t > 0) t[d] += m->t * ((m->y1[j + d] - m->y1[i + d]) - t[d]);
    }
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static int has(const int32_t *v, int n, int32_t one)
{
    for (int k = 0; k < n; k++)
        if (v[k] == one) return 1;
    return 0;
}

/* Makes t a unit vector and returns r . t; 0 if t has no length. */
static double along(const double r[3], double t[3])
{
    const double t2 = dot(t, t);
    if (!(t2 > 0)) return 0;
    for (int d = 0; d < 3; d++) t[d] /= sqrt(t2);
    return dot(r, t);
}

/* Projects r across the unit vector t. */
static void remove_part(const double t[3], double r[3])
{
    const double s = dot(r, t);
    for (int d = 0; d < 3; d++) r[d] -= s * t[d];
}

/* Turns r[3], which is normal to edge ab, to the normal of the edge's triangle into which it leads furthest, if into any.
 * Triangles with one of other[n_other] do not count. */
static void turn_to_face(const abut_rings *rings, const abut_collmesh *cm, const abut_moving *m, int32_t a, int32_t b,
                         const int32_t *other, int n_other, double r[3])
{
    double most = 0, best[3], e[3], t[3];
    between(m, a, b, e);
    if (!(along(e, e) > 0)) return;
    for (int32_t k = rings->tri_first[a]; k < rings->tri_first[a + 1]; k++) {
        const int32_t *v = cm->tri + 3 * (size_t)rings->tri[k];
        if (!has(v, 3, b)) continue;
        const int32_t c = v[0] != a && v[0] != b ? v[0] : v[1] != a && v[1] != b ? v[1] : v[2];
        if (has(other, n_other, c)) continue;
        between(m, a, c, t);
        remove_part(e, t);
        const double s = along(r, t);
        if (s > most) most = s, memcpy(best, t, sizeof best);
    }
    if (most > 0) remove_part(best, r);
}

/* Turns r[3] to a normal of the edge of vertex a along which it leads furthest, if along any, and on to that of a triangle. */
static void turn_to_edge(const abut_rings *rings, const abut_collmesh *cm, const abut_moving *m, int32_t a,
                         const int32_t *other, int n_other, double r[3])
{
    double most = 0, best[3], t[3];
    int32_t b = -1;
    for (int32_t k = rings->edge_first[a]; k < rings->edge_first[a + 1]; k++) {
        if (has(other, n_other, rings->edge[k])) continue;
        between(m, a, rings->edge[k], t);
        const double s = along(r, t);
        if (s > most) most = s, b = rings->edge[k], memcpy(best, t, sizeof best);
    }
    if (b < 0) return;
    remove_part(best, r);
    turn_to_face(rings, cm, m, a, b, other, n_other, r);
}

static void turn(const abut_rings *rings, const abut_collmesh *cm, const abut_moving *m, const feature *f,
                 const int32_t *other, int n_other, double r[3])
{
    if (f->n == 1) turn_to_edge(rings, cm, m, f->v[0], other, n_other, r);
    else if (f->n == 2) turn_to_face(rings, cm, m, f->v[0], f->v[1], other, n_other, r);
}

double abut_cone_turn(const abut_rings *rings, const abut_collmesh *cm, const abut_moving *m, abut_stencil kind,
                      const int32_t v[4], const double w[4], double r[3])
{
    const int second = abut_stencil_second(kind), n = abut_stencil_size(kind);
    double a[3] = { -r[0], -r[1], -r[2] }, b[3] = { r[0], r[1], r[2] };
    const double r2 = dot(r, r);
    feature of[2] = { { 0 }, { 0 } };
    for (int k = 0; k < n; k++)
        if (w[k] > 0 || w[k] < 0) of[k >= second].v[of[k >= second].n++] = v[k];
    turn(rings, cm, m, &of[0], v + second, n - second, a);
    turn(rings, cm, m, &of[1], v, second, b);
    const double a2 = dot(a, a), b2 = dot(b, b), left = fmin(a2, b2);
    if (!(left < r2)) return 0;
    if (of[0].n < 3 && of[1].n < 3)
        for (int d = 0; d < 3; d++) r[d] = a2 < b2 ? -a[d] : b[d];
    return sqrt(1 - left / r2);
}

/* ---- search ---- */

void abut_touch_search_clear(abut_touch_search *s)
{
    abut_candidates_clear(&s->cand);
    abut_pairs_clear(&s->pairs);
    abut_repeated_search_clear(&s->motions);
    abut_arena_clear(&s->scratch);
    abut_rings_clear(&s->rings);
    ABUT_FREE(s->start.y, s->start.held, s->fixed, s->node, s->b);
    *s = (abut_touch_search){ 0 };
}

/* ---- one contact ---- */

/* The nodes of vertex v, which moves with them by these weights (NULL: 1); returns how many. */
static int nodes_of(const abut_collmesh *cm, int32_t v, const int32_t **node, const double **weight)
{
    if (abut_collmesh_selects(cm)) return *node = cm->W.col + v, *weight = NULL, 1;
    const int32_t lo = cm->W.first[v];
    *node = cm->W.col + lo;
    *weight = cm->W.weight + lo;
    return cm->W.first[v + 1] - lo;
}

static int is_fixed(const abut_collmesh *cm, const uint8_t *held, int32_t v)
{
    const int32_t *node;
    const double *weight;
    const int n = nodes_of(cm, v, &node, &weight);
    for (int k = 0; k < n; k++)
        if (!held[node[k]]) return 0;
    return 1;
}

/* Allocates memory for the nodes of four vertices. */
static abut_status make_room(abut_touch_search *s, const abut_collmesh *cm, abut_err *err)
{
    size_t most = 1;
    if (!abut_collmesh_selects(cm))
        for (int32_t v = 0; v < cm->nc; v++) {
            const size_t n = (size_t)(cm->W.first[v + 1] - cm->W.first[v]);
            most = n > most ? n : most;
        }
    if (s->cap_node >= 4 * most) return ABUT_OK;
    ABUT_FREE(s->node, s->b);
    s->cap_node = 0;
    if (!ABUT_ARRAYS(ABUT_ITEMS(s->node, 4 * most), ABUT_ITEMS(s->b, 4 * most)))
        return abut_fail(err, ABUT_E_NOMEM, "contacts of %zu nodes", 4 * most);
    s->cap_node = 4 * most;
    return ABUT_OK;
}

/* Adds vertex v with weight w to the contact: nodes that move to its coefficients, prescribed nodes to its k. */
static void add_vertex(abut_touch_search *s, const abut_touch_step *step, int32_t v, double w, abut_touch *c)
{
    const int32_t *node;
    const double *weight;
    const int n = nodes_of(step->cm, v, &node, &weight);
    for (int i = 0; i < n; i++) {
        const double b = weight ? w * weight[i] : w;
        if (step->held[node[i]]) {
            for (int d = 0; d < 3; d++) c->k[d] += b * step->v_held[3 * (size_t)node[i] + (size_t)d];
            continue;
        }
        int at = 0;
        while (at < c->n && s->node[at] != node[i]) at++;
        if (at == c->n) s->node[c->n] = node[i], s->b[c->n++] = 0;
        s->b[at] += b;
    }
}

/* Index of a contact in tables of two friction classes. */
static size_t classes_of(const abut_collmesh *cm, const abut_touch_key *key)
{
    if (key->plane >= 0) return abut_collmesh_plane_classes(cm, key->vert[0], key->plane);
    return abut_collmesh_classes(cm, key->vert[0], key->vert[abut_stencil_second((abut_stencil)key->kind)]);
}

/* Impulse of cohesion between the primitives across this gap, N s. */
static double cohesion(const abut_touch_step *step, const abut_touch_key *key, double gap)
{
    const abut_model *m = step->cm->model;
    if (!m->cohesion_force) return 0;
    const size_t row = classes_of(step->cm, key);
    const double range = m->cohesion_range[row];
    return range > 0 && range > gap ? step->h * m->cohesion_force[row] * (1 - fmax(gap, 0) / range) : 0;
}

/* Adds the gap to k.  A rigid contact opens a gap below 0 gently.  If scripts or the gap alone force its nodes to move, k_N < 0,
 * contacts may contradict each other: such contacts yield, and a spring may use all of its gap (Daviet 2020, 6.3.2). */
static void close_gap(const abut_touch_step *step, double gap, abut_touch *c)
{
    const double scripted = c->k[0] * c->normal[0] + c->k[1] * c->normal[1] + c->k[2] * c->normal[2];
    const int yields = step->compliance > 0 && scripted + gap / step->h < 0;
    const double offset = yields ? gap : fmax(gap, -step->reserve / 4);
    for (int d = 0; d < 3; d++) c->k[d] += offset / step->h * c->normal[d];
    if (!yields) return;
    c->key.yields = 1;
    c->give = 1 / (step->compliance * step->h * step->h);
}

/* A contact with this height less thickness at the start. */
static abut_status append(abut_touch_search *s, const abut_touch_step *step, const double w[4], double above, abut_touch *c,
                          abut_touching *out, abut_err *err)
{
    for (int k = 0; k < 4 && c->key.vert[k] >= 0; k++)
        if (w[k] < 0 || w[k] > 0) add_vertex(s, step, c->key.vert[k], w[k], c);
    memcpy(c->w, w, sizeof c->w);
    close_gap(step, above - step->reserve, c);
    c->cohesion = cohesion(step, &c->key, above - step->reserve);
    c->node = s->node;
    c->b = s->b;
    return abut_touching_append(out, c, err);
}

static void gather(const abut_moving *m, abut_stencil kind, const int32_t v[4], double x[12])
{
    for (int k = 0; k < 3 * abut_stencil_size(kind); k++) {
        const size_t i = 3 * (size_t)v[k / 3] + (size_t)(k % 3);
        x[k] = m->y[i] + m->t * (m->y1[i] - m->y[i]);
    }
}

/* The separation r of stencil x with weights w. */
static void separation(abut_stencil kind, const double *x, const double w[4], double r[3])
{
    r[0] = r[1] = r[2] = 0;
    for (int k = 0; k < abut_stencil_size(kind); k++)
        for (int d = 0; d < 3; d++) r[d] += w[k] * x[3 * k + d];
}

/* Weights and normal of a stencil, and its height at the start; 0: it is no contact, because its primitives touch, or because
 * others are nearer. */
static int freeze(const abut_touch_search *s, const abut_touch_step *step, const abut_moving *m, abut_touch *c, double w[4],
                  double *height)
{
    const abut_stencil kind = (abut_stencil)c->key.kind;
    double x[12], r[3], start[3];
    gather(m, kind, c->key.vert, x);
    (void)abut_closest(kind, x, w);
    separation(kind, x, w, r);
    if (abut_cone_turn(&s->rings, step->cm, m, kind, c->key.vert, w, r) > ABUT_TOUCH_TURN) return 0;
    const double length = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    if (!(length > 0)) return 0;
    gather(&(abut_moving){ step->y, step->y, 0 }, kind, c->key.vert, x);
    separation(kind, x, w, start);
    *height = (r[0] * start[0] + r[1] * start[1] + r[2] * start[2]) / length;
    for (int d = 0; d < 3; d++) c->normal[d] = (*height < 0 ? -r[d] : r[d]) / length;
    *height = fabs(*height);
    return 1;
}

static abut_status append_pair(abut_touch_search *s, const abut_touch_step *step, const abut_moving *m, abut_touch *c,
                               abut_touching *out, abut_err *err)
{
    const abut_collmesh *cm = step->cm;
    const abut_stencil kind = (abut_stencil)c->key.kind;
    const int32_t *v = c->key.vert;
    double w[4], height;
    c->key.plane = -1;
    if (!freeze(s, step, m, c, w, &height)) return ABUT_OK;
    c->mu = cm->model->mu[classes_of(cm, &c->key)];
    return append(s, step, w, height - abut_collmesh_xi(cm, kind, v), c, out, err);
}

static abut_status append_plane(abut_touch_search *s, const abut_touch_step *step, int32_t v, int32_t plane, double above,
                                abut_touch *c, abut_touching *out, abut_err *err)
{
    static const double one[4] = { 1, 0, 0, 0 };
    const abut_model *m = step->cm->model;
    c->key.vert[0] = v;
    c->key.vert[1] = c->key.vert[2] = c->key.vert[3] = -1;
    c->key.plane = plane;
    c->key.kind = ABUT_PP;
    memcpy(c->normal, m->hs_normal + 3 * (size_t)plane, sizeof c->normal);
    c->mu = m->mu[classes_of(step->cm, &c->key)];
    return append(s, step, one, above, c, out, err);
}

/* ---- the start ---- */

static abut_status reserve(abut_touch_search *s, const abut_collmesh *cm, abut_err *err)
{
    const size_t n3 = 3 * (size_t)cm->nc, nv = (size_t)cm->model->nv;
    struct abut_touch_start *start = &s->start;
    if (s->fixed && start->n3 == n3 && start->nv == nv) return ABUT_OK;
    abut_touch_search_clear(s);
    *start = (struct abut_touch_start){ malloc((n3 + 1) * sizeof *start->y), -1, malloc(nv + 1), n3, nv, 0 };
    s->fixed = malloc((size_t)cm->nc + 1);
    const abut_status rc = start->y && start->held && s->fixed ? abut_rings_init(&s->rings, cm, err)
                                                               : abut_fail(err, ABUT_E_NOMEM, "contacts of %d vertices", cm->nc);
    if (rc) abut_touch_search_clear(s);
    return rc;
}

/* Begins a search; drops everything kept for another start. */
static abut_status begin(abut_touch_search *s, const abut_touch_step *step, abut_err *err)
{
    const abut_collmesh *cm = step->cm;
    struct abut_touch_start *start = &s->start;
    abut_status rc = reserve(s, cm, err);
    if (rc) return rc;
    if (start->known && !memcmp(start->y, step->y, start->n3 * sizeof *step->y) && !memcmp(start->held, step->held, start->nv))
        return ABUT_OK;
    start->known = 0;
    memcpy(start->y, step->y, start->n3 * sizeof *step->y);
    memcpy(start->held, step->held, start->nv);
    start->reach = -1;
    for (int32_t v = 0; v < cm->nc; v++) s->fixed[v] = (uint8_t)is_fixed(cm, step->held, v);
    rc = abut_pairs_check(cm, step->y, err);
    if (!rc) rc = make_room(s, cm, err);
    start->known = !rc;
    return rc;
}

/* ---- near ---- */

static abut_status near_planes(abut_touch_search *s, const abut_touch_step *step, const double *y1, abut_touching *out,
                               abut_err *err)
{
    const abut_collmesh *cm = step->cm;
    abut_status rc = ABUT_OK;
    for (int32_t v = 0; v < (cm->model->nh ? cm->nc : 0); v++)
        for (int32_t h = 0; h < cm->model->nh && !s->fixed[v] && !rc; h++) {
            const double above = abut_collmesh_plane_height(cm, step->y, v, h);
            abut_touch c = { 0 };
            if (!(above > 0)) return abut_pairs_plane_too_close(cm, v, h, above + abut_collmesh_plane_xi(cm, v), err);
            const abut_touch_key key = { .vert = { v, -1, -1, -1 }, .plane = h };
            s->opening += above < step->reserve;
            if (above < 2 * step->reserve || abut_collmesh_plane_height(cm, y1, v, h) < 2 * step->reserve ||
                cohesion(step, &key, above - step->reserve) > 0)
                rc = append_plane(s, step, v, h, above, &c, out, err);
        }
    return rc;
}

/* Distance of pair i at the end along its separation at the start, less thickness and reserve: to first order. */
static double expected(const abut_touch_step *step, const abut_pairs *p, size_t i, const double *y1)
{
    double x[12], w[4], r[3], end[3];
    const abut_stencil kind = abut_pairs_get(p, i, step->y, x);
    (void)abut_closest(kind, x, w);
    separation(kind, x, w, r);
    gather(&(abut_moving){ y1, y1, 0 }, kind, p->vert[i], x);
    separation(kind, x, w, end);
    return (r[0] * end[0] + r[1] * end[1] + r[2] * end[2]) / sqrt(p->dist2[i]) - abut_pairs_xi(step->cm, p, i) - step->reserve;
}

/* The largest range of cohesion, m. */
static double attraction(const abut_model *m)
{
    double most = 0;
    for (int32_t i = 0; i < (m->cohesion_range ? m->ng * m->ng : 0); i++) most = fmax(most, m->cohesion_range[i]);
    return most;
}

abut_status abut_touch_find_near(abut_touch_search *s, const abut_touch_step *step, const double *y1, abut_touching *out,
                                 abut_err *err)
{
    assert(step->reserve > 0 && step->h > 0);
    const abut_collmesh *cm = step->cm;
    double reach = fmax((1 + ABUT_TOUCH_REACH) * step->reserve, step->reserve + attraction(cm->model));
    /* the pairs of a collision mesh whose activation distance is the reach; half-spaces come apart */
    abut_model wide = *cm->model;
    abut_collmesh seen = *cm;
    seen.model = &wide;
    wide.dhat = &reach;
    seen.scale.of = NULL;
    seen.area = NULL;
    wide.nh = 0;
    s->opening = 0;
    abut_status rc = begin(s, step, err);
    if (!rc && s->start.reach != reach) {
        rc = abut_candidates_again(cm, step->y, NULL, reach, s->fixed, abut_repeated_search_lend(&s->motions), &s->cand, err);
        if (!rc) rc = abut_pairs_find(&seen, &s->cand, step->y, s->fixed, &s->pairs, err);
        s->start.reach = rc ? -1 : reach;
    }
    for (size_t i = 0; i < s->pairs.n && !rc; i++) {
        abut_touch c = { .key = { .kind = s->pairs.kind[i], .plane = -1 } };
        const double gap = abut_pairs_gap(cm, &s->pairs, i) - step->reserve;
        memcpy(c.key.vert, s->pairs.vert[i], sizeof c.key.vert);
        s->opening += gap < 0;
        if (gap >= step->reserve && expected(step, &s->pairs, i, y1) >= step->reserve && !(cohesion(step, &c.key, gap) > 0))
            continue;
        rc = append_pair(s, step, &(abut_moving){ step->y, step->y, 0 }, &c, out, err);
    }
    return rc ? rc : near_planes(s, step, y1, out, err);
}

/* ---- hits ---- */

#define HITS_REACH 2    /* gaps of contacts: what bears ends at one of them, and is found in any orientation */

/* As keys hold it. */
static int16_t number_of(int round) { return (int16_t)(round < INT16_MAX ? round : INT16_MAX); }

abut_status abut_touch_find_one(abut_touch_search *s, const abut_touch_step *step, const double *y1, abut_stencil kind,
                                const int32_t vert[4], double toi, int round, abut_touching *out, abut_err *err)
{
    const abut_moving m = { step->y, y1, toi };
    double x[12];
    abut_touch c = { .key = { .toi = toi, .round = number_of(round) } };
    gather(&m, kind, vert, x);
    const abut_feature f = abut_nearest(kind, x, NULL);
    (void)abut_pairs_order(&f, vert, c.key.vert);
    c.key.kind = (uint8_t)f.kind;
    abut_status rc = reserve(s, step->cm, err);
    if (!rc) rc = make_room(s, step->cm, err);
    return rc ? rc : append_pair(s, step, &m, &c, out, err);
}

/* Moves a hit on to where its primitives all but touch; 0: they do not. */
static int follow(const abut_touch_step *step, const double *y1, abut_impact *hit)
{
    double x0[12], x1[12];
    gather(&(abut_moving){ step->y, step->y, 0 }, hit->kind, hit->vert, x0);
    gather(&(abut_moving){ y1, y1, 0 }, hit->kind, hit->vert, x1);
    return abut_ccd_additive(hit->kind, x0, x1, abut_collmesh_xi(step->cm, hit->kind, hit->vert), ABUT_TOUCH_SLACK / 100, 1,
                             &hit->toi) == ABUT_CCD_HIT;
}

/* Keeps the hits that a search for this motion alone would find; returns how many. */
static size_t keep_candidates(const abut_collmesh *cm, const double *y, const double *y1, double reach, abut_impact *hit,
                              size_t n)
{
    size_t kept = 0;
    const abut_candidate_test of = n ? abut_candidate_test_of(cm, y, y1, reach) : (abut_candidate_test){ .rounding = 0 };
    for (size_t i = 0; i < n; i++)
        if (hit[i].plane >= 0 || abut_candidate_test_has(&of, hit[i].kind, hit[i].vert)) hit[kept++] = hit[i];
    return kept;
}

abut_status abut_touch_find_hits(abut_touch_search *s, const abut_touch_step *step, const double *y1, int round,
                                 abut_touching *out, size_t *n, abut_err *err)
{
    assert(round > 0);
    const abut_collmesh *cm = step->cm;
    abut_impact *hit;
    *n = 0;
    abut_status rc = begin(s, step, err);
    const double reach = HITS_REACH * step->reserve, margin = ABUT_TOUCH_MARGIN * step->reserve;
    if (!rc) rc = abut_repeated_search_find(&s->motions, cm, step->y, y1, reach, s->fixed, margin, err);
    const abut_mark mark = abut_arena_mark(&s->scratch);
    if (!rc) rc = abut_impacts_all(cm, &s->motions.wide, step->y, y1, ABUT_TOUCH_SLACK, 1, s->fixed, &hit, n, &s->scratch, err);
    if (!rc) *n = keep_candidates(cm, step->y, y1, reach, hit, *n);
    for (size_t i = 0; i < *n && !rc; i++) {
        abut_touch c = { .key = { .toi = hit[i].toi, .round = number_of(round) } };
        if (hit[i].plane >= 0) {
            rc = append_plane(s, step, hit[i].vert[0], hit[i].plane,
                              abut_collmesh_plane_height(cm, step->y, hit[i].vert[0], hit[i].plane), &c, out, err);
            continue;
        }
        const size_t before = out->n;
        rc = abut_touch_find_one(s, step, y1, hit[i].kind, hit[i].vert, hit[i].toi, round, out, err);
        if (!rc && out->n == before && follow(step, y1, &hit[i]))
            rc = abut_touch_find_one(s, step, y1, hit[i].kind, hit[i].vert, hit[i].toi, round, out, err);
    }
    abut_arena_release(&s->scratch, mark);
    return rc;
}
