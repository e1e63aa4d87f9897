/* Motions of a scene: which nodes they move, from when to when. */
#include "scene/motion_rows.h"

#include "base/words.h"
#include "math/vec3.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* p with room for `more` rows of `size` bytes after the n that are there; NULL without memory, and p is as it was. */
static void *grow(void *p, int32_t *cap, int32_t n, int64_t more, size_t size, abut_err *err)
{
    if (p && n + more <= *cap) return p;
    const int64_t want = 2 * (n + more) + 16;
    void *grown = want > INT32_MAX ? NULL : realloc(p, (size_t)want * size);
    if (!grown) return abut_fail(err, ABUT_E_NOMEM, "motions: no memory for %lld rows", (long long)want), NULL;
    *cap = (int32_t)want;
    return grown;
}

static abut_status add_node(abut_motion_rows *m, int32_t node, int32_t point, abut_err *err)
{
    abut_moved *grown = grow(m->node, &m->cap_nodes, m->nnodes, 1, sizeof *grown, err);
    if (!grown) return ABUT_E_NOMEM;
    m->node = grown;
    m->node[m->nnodes++] = (abut_moved){ node, point, { 1, 1, 1 } };
    return ABUT_OK;
}

static abut_status reserve_keys(abut_motion_rows *m, int32_t more, abut_err *err)
{
    abut_scene_pose *grown = grow(m->key, &m->cap_keys, m->nkeys, more, sizeof *grown, err);
    if (!grown) return ABUT_E_NOMEM;
    m->key = grown;
    return ABUT_OK;
}

static abut_status reserve_path(abut_motion_rows *m, int64_t more, abut_err *err)
{
    double *grown = grow(m->path, &m->cap_path, m->npath, more, 3 * sizeof *grown, err);
    if (!grown) return ABUT_E_NOMEM;
    m->path = grown;
    return ABUT_OK;
}

/* A new motion whose nodes are those added from now on until close. */
static abut_status open(abut_motion_rows *m, const char *from, abut_motion_row **row, abut_err *err)
{
    abut_motion_row *grown = grow(m->row, &m->cap, m->n, 1, sizeof *grown, err);
    if (!grown) return ABUT_E_NOMEM;
    m->row = grown;
    *row = &m->row[m->n++];
    memset(*row, 0, sizeof **row);
    (*row)->lo = (*row)->hi = m->nnodes;
    (*row)->window[1] = INFINITY;
    (*row)->from = from;
    (*row)->entry = -1;
    return ABUT_OK;
}

static void box_center(const abut_build *b, const abut_motion_rows *m, const abut_motion_row *r, double center[3])
{
    for (int k = 0; k < 3; k++) {
        double lo = INFINITY, hi = -INFINITY;
        for (int32_t i = r->lo; i < r->hi; i++) {
            const double v = b->X[3 * (size_t)m->node[i].node + k];
            lo = fmin(lo, v), hi = fmax(hi, v);
        }
        center[k] = 0.5 * (lo + hi);
    }
}

/* The farthest of n nodes (NULL: first, first + 1, ...) along d, times sign. */
static double farthest(const abut_build *b, const abut_moved *node, int32_t first, int32_t n, abut_vec3 d, double sign)
{
    double most = -INFINITY;
    for (int32_t i = 0; i < n; i++)
        most = fmax(most, sign * abut_v3_dot(d, abut_v3_get(b->X + 3 * (size_t)(node ? node[i].node : first + i))));
    return most;
}

/* The distance along d at which the motion stops, m. */
static abut_status travel_to_stop(const abut_build *b, const abut_moved *node, int32_t n, const abut_scene_motion *s, abut_vec3 d,
                                  double *travel, abut_err *err)
{
    const double value = s->gap.per_length ? s->gap.value * b->out->length : s->gap.value;
    const double sign = d.x + d.y + d.z, front = farthest(b, node, 0, n, d, 1);
    const abut_part *to = s->stop == ABUT_STOP_AT ? NULL : &b->part[s->to];
    double apart;
    switch (s->stop) {
    case ABUT_STOP_GAP:
        apart = -farthest(b, NULL, to->first, to->nodes, d, -1) - front;
        *travel = apart - value;
        if (*travel > 0) return ABUT_OK;
        return abut_fail(err, ABUT_E_FORMAT, "%s: %g m to '%s' along the motion at the start: expected more than the gap, %g m",
                         s->gap.from, apart, to->object->name, value);
    case ABUT_STOP_PAST:
        apart = farthest(b, NULL, to->first, to->nodes, d, 1) + farthest(b, node, 0, n, d, -1);
        *travel = value * apart;
        if (*travel > 0) return ABUT_OK;
        return abut_fail(err, ABUT_E_FORMAT, "%s: all selected nodes are past '%s' at the start, by %g m: expected one before "
                         "its far end", s->gap.from, to->object->name, -apart);
    default:
        *travel = sign * value - front;
        if (*travel > 0) return ABUT_OK;
        return abut_fail(err, ABUT_E_FORMAT, "%s: the foremost selected node starts at the coordinate %g m: expected before %g "
                         "m, where it stops", s->gap.from, sign * front, value);
    }
}

/* The end of a motion that its surroundings stop: the distance over the speed; or the end of an earlier one. */
static abut_status find_stop(const abut_build *b, const abut_motion_rows *m, const abut_scene_motion *s, abut_motion_row *r,
                             abut_err *err)
{
    if (s->stop == ABUT_STOP_WITH) {
        r->window[1] = m->row[m->n - 1 - (s - b->scene->motion) + s->to].window[1];
        if (r->window[0] < r->window[1]) return ABUT_OK;
        return abut_fail(err, ABUT_E_FORMAT, "%s: from %g s until motion %d ends, at %g s: expected the start first", s->gap.from,
                         r->window[0], s->to, r->window[1]);
    }
    const abut_vec3 v = abut_v3_get(s->linear);
    const double speed = sqrt(abut_v3_norm2(v));
    double travel = 0;
    const abut_status rc = travel_to_stop(b, m->node + r->lo, r->hi - r->lo, s, abut_v3_scale(1 / speed, v), &travel, err);
    if (!rc) r->window[1] = r->window[0] + travel / speed;
    return rc;
}

static abut_status select_nodes(const abut_build *b, abut_motion_rows *m, const abut_scene_select *s, abut_motion_row *r,
                                abut_err *err)
{
    char what[ABUT_SCENE_FROM + 20];
    abut_listed *list = NULL;
    int32_t n = 0;
    snprintf(what, sizeof what, "%s: this motion", r->from);
    abut_status rc = abut_build_select(b, s, what, &list, &n, err);
    for (int32_t i = 0; i < n && !rc; i++) rc = add_node(m, list[i].node, list[i].point, err);
    r->hi = m->nnodes;
    free(list);
    return rc;
}

static abut_status set_poses(abut_motion_rows *m, const abut_scene_motion *s, abut_motion_row *r, abut_err *err)
{
    const abut_status rc = reserve_keys(m, s->nposes, err);
    if (rc) return rc;
    r->key[0] = m->nkeys;
    for (int32_t k = 0; k < s->nposes; k++) {
        m->key[m->nkeys] = s->pose[k];
        m->key[m->nkeys++].time += s->window[0];
    }
    r->key[1] = m->nkeys;
    r->kind = ABUT_MOTION_KEYS;
    r->window[1] = m->key[m->nkeys - 1].time;
    return ABUT_OK;
}

/* The positions of the row's nodes at every key; nv points a key are given, times count from `start`. */
static abut_status set_path(abut_motion_rows *m, const abut_scene_path *path, int32_t nv, double start, abut_motion_row *r,
                            abut_err *err)
{
    const int32_t n = r->hi - r->lo;
    abut_status rc = reserve_keys(m, path->n, err);
    if (!rc) rc = reserve_path(m, (int64_t)path->n * n, err);
    if (rc) return rc;
    r->key[0] = m->nkeys;
    r->path = m->npath;
    for (int32_t k = 0; k < path->n; k++) {
        m->key[m->nkeys++] = (abut_scene_pose){ .time = start + path->time[k], .rotation = { 1, 0, 0, 0 }, .scale = { 1, 1, 1 } };
        for (int32_t j = 0; j < n; j++) {
            const size_t at = (size_t)k * (size_t)nv + (size_t)m->node[r->lo + j].point;
            memcpy(m->path + 3 * (size_t)m->npath++, path->x + 3 * at, 3 * sizeof *m->path);
        }
    }
    r->key[1] = m->nkeys;
    r->kind = ABUT_MOTION_PATH;
    r->window[1] = m->key[m->nkeys - 1].time;
    return ABUT_OK;
}

/* Appends the keys of a factor whose times count from `start`: rows [key[0], key[1]). */
static abut_status add_factor(abut_motion_rows *m, const abut_scene_table *factor, double start, int32_t key[2], abut_err *err)
{
    const abut_status rc = reserve_keys(m, factor->n, err);
    if (rc) return rc;
    key[0] = m->nkeys;
    for (int32_t i = 0; i < factor->n; i++)
        m->key[m->nkeys++] = (abut_scene_pose){ .time = start + factor->time[i], .rotation = { 1, 0, 0, 0 }, .scale = { 1, 1, 1 },
                                                .factor = factor->value[i] };
    key[1] = m->nkeys;
    return ABUT_OK;
}

/* An angle of very many turns has no digits left that mean anything. */
static abut_status check_turns(const abut_build *b, const abut_motion_row *r, const char *from, abut_err *err)
{
    const double turns = abut_v3_norm(abut_v3_get(r->angular)) * b->scene->step.value / ABUT_TURN;
    return turns <= ABUT_TURNS_MOST ? ABUT_OK :
           abut_fail(err, ABUT_E_FORMAT, "%s: %.3g turns in a time step of %g s: expected at most %g", from, turns,
                     b->scene->step.value, ABUT_TURNS_MOST);
}

static abut_status scripted(abut_build *b, abut_motion_rows *m, const abut_scene_motion *s, abut_err *err)
{
    abut_motion_row *r;
    abut_status rc = open(m, s->from, &r, err);
    if (!rc) rc = select_nodes(b, m, &s->select, r, err);
    if (rc) return rc;
    b->out->selected[s - b->scene->motion] = r->hi - r->lo;
    r->entry = (int32_t)(s - b->scene->motion);
    r->hold = s->hold;
    r->smooth = s->smooth;
    memcpy(r->window, s->window, sizeof r->window);
    memcpy(r->linear, s->linear, sizeof r->linear);
    memcpy(r->angular, s->angular, sizeof r->angular);
    memcpy(r->scale, s->scale, sizeof r->scale);
    if ((rc = check_turns(b, r, s->from, err))) return rc;
    if (s->stop && (rc = find_stop(b, m, s, r, err))) return rc;
    if (s->center_of_box) abut_build_select_center(b, &s->select, r->center);
    else if (s->has_center) memcpy(r->center, s->center, sizeof r->center);
    else box_center(b, m, r, r->center);
    if (s->act == ABUT_ACT_KEYS) rc = set_poses(m, s, r, err);
    if (s->act == ABUT_ACT_PATH) rc = set_path(m, &s->path, b->part[s->select.object].object->mesh.nv, s->window[0], r, err);
    if (!rc && s->factor.n) rc = add_factor(m, &s->factor, s->window[0], r->key, err);
    return rc || abut_act_moves(s->act) ? rc : abut_motion_set_force(b, m, s, r, err);
}

static abut_status add_all_nodes(abut_motion_rows *m, const abut_part *p, abut_motion_row *r, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i < p->object->mesh.nv && !rc; i++)
        if (p->node[i] >= 0) rc = add_node(m, p->node[i], i, err);
    r->hi = m->nnodes;
    return rc;
}

/* An obstacle's own velocity and spin, kept for the whole run, or the positions it passes through. */
static abut_status obstacle_motion(abut_build *b, abut_motion_rows *m, const abut_part *p, abut_err *err)
{
    const abut_scene_object *o = p->object;
    abut_motion_row *r;
    const int still = abut_v3_norm2(abut_v3_get(o->velocity)) == 0 && abut_v3_norm2(abut_v3_get(o->spin)) == 0;
    if (!o->obstacle || (still && !o->path.n)) return ABUT_OK;
    abut_status rc = open(m, o->from, &r, err);
    if (!rc) rc = add_all_nodes(m, p, r, err);
    if (!rc && o->path.n) r->window[0] = o->path.time[0];
    if (rc || o->path.n) return rc ? rc : set_path(m, &o->path, o->mesh.nv, 0, r, err);
    memcpy(r->linear, o->velocity, sizeof r->linear);
    memcpy(r->angular, o->spin, sizeof r->angular);
    if ((rc = check_turns(b, r, o->from, err))) return rc;
    if (o->has_center) memcpy(r->center, o->center, sizeof r->center);
    else box_center(b, m, r, r->center);
    return ABUT_OK;
}

typedef struct span {
    int32_t node, motion;
    double t0, t1;
} span;

static int by_node_and_time(const void *a, const void *b)
{
    const span *p = a, *q = b;
    if (p->node != q->node) return p->node < q->node ? -1 : 1;
    if (p->t0 != q->t0) return p->t0 < q->t0 ? -1 : 1;
    return (p->motion > q->motion) - (p->motion < q->motion);
}

/* Lists a span for every node and motion that prescribes it, in the order of nodes and times. */
static abut_status list_spans(const abut_motion_rows *m, span **spans, size_t *count, abut_err *err)
{
    span *s = malloc(((size_t)m->nnodes + 1) * sizeof *s);
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "motions: no memory for %d nodes", m->nnodes);
    size_t n = 0;
    for (int32_t k = 0; k < m->n; k++)
        for (int32_t i = m->row[k].lo; i < m->row[k].hi && m->row[k].kind != ABUT_MOTION_FORCE; i++)
            s[n++] = (span){ m->node[i].node, k, m->row[k].window[0], m->row[k].window[1] };
    qsort(s, n, sizeof *s, by_node_and_time);
    *spans = s;
    *count = n;
    return ABUT_OK;
}

/* Fails if a node has two prescribed velocities at one time. */
static abut_status check_overlap(const abut_build *b, const abut_motion_rows *m, const span *s, size_t n, abut_err *err)
{
    for (size_t i = 1; i < n; i++)
        if (s[i].node == s[i - 1].node && s[i].t0 < s[i - 1].t1) {
            const abut_part *p = abut_part_of(b, s[i].node);
            return abut_fail(err, ABUT_E_FORMAT, "%s: node %d of '%s' is moved by another motion (%s) at the same time, from "
                             "%g s",
                             m->row[s[i].motion].from, s[i].node - p->first, p->object->name, m->row[s[i - 1].motion].from,
                             s[i].t0);
        }
    return ABUT_OK;
}

static int by_motion_and_end(const void *a, const void *b)
{
    const span *p = a, *q = b;
    if (p->motion != q->motion) return p->motion < q->motion ? -1 : 1;
    if (p->t1 != q->t1) return p->t1 < q->t1 ? -1 : 1;
    return (p->node > q->node) - (p->node < q->node);
}

/* Nodes that are held after their motion rest from its end until the next one takes them: a motion of their own, which does
 * not move them, for all that are taken at the same time.  s is used up. */
static abut_status add_holds(abut_motion_rows *m, span *s, size_t n, abut_err *err)
{
    abut_status rc = ABUT_OK;
    size_t held = 0;
    abut_motion_row *r = NULL;
    for (size_t i = 0; i < n; i++) {
        const double next = i + 1 < n && s[i + 1].node == s[i].node ? s[i + 1].t0 : INFINITY;
        if (m->row[s[i].motion].hold && s[i].t1 < next) s[held++] = (span){ s[i].node, s[i].motion, s[i].t1, next };
    }
    qsort(s, held, sizeof *s, by_motion_and_end);
    for (size_t i = 0; i < held && !rc; i++) {
        if (i == 0 || s[i].motion != s[i - 1].motion || s[i].t1 != s[i - 1].t1) {
            rc = open(m, m->row[s[i].motion].from, &r, err);
            if (rc) break;
            r->entry = m->row[s[i].motion].entry;
            r->window[0] = s[i].t0, r->window[1] = s[i].t1;
        }
        rc = add_node(m, s[i].node, -1, err);
        r->hi = m->nnodes;
    }
    return rc;
}

/* ---- rotations ---- */

#define ON_AXIS 1e-9    /* of the scene's length: a node that is as near to an axis does not move about it */

/* 1 when the rotation of key k, or with k < 0 of the row's rate, moves a node of the row. */
static int sweeps(const abut_build *b, const abut_motion_rows *m, const abut_motion_row *r, int32_t k)
{
    const abut_vec3 axis = abut_v3_get(k < 0 ? r->angular : m->key[k].rotation + 1);
    for (int32_t i = r->lo; i < r->hi; i++) {
        const abut_vec3 d = abut_v3_sub(abut_v3_get(b->X + 3 * (size_t)m->node[i].node), abut_v3_get(r->center));
        if (abut_v3_norm(abut_v3_cross(axis, d)) > ON_AXIS * b->out->length * abut_v3_norm(axis)) return 1;
    }
    return 0;
}

/* A row rotates; moves a node, by its rotation or otherwise; carries the directions of a rod; prescribes a node of a rod. */
enum { ROTATES = 1, MOVES = 2, CARRIES = 4, OF_ROD = 8 };

static int actions_of(const abut_build *b, const abut_motion_rows *m, const abut_motion_row *r)
{
    int is = abut_v3_norm2(abut_v3_get(r->linear)) + abut_v3_norm2(abut_v3_get(r->scale)) > 0 ? MOVES : 0;
    if (r->kind == ABUT_MOTION_MOVE && abut_v3_norm2(abut_v3_get(r->angular)) > 0)
        is |= ROTATES | (sweeps(b, m, r, -1) ? MOVES : 0);
    for (int32_t k = r->key[0]; r->kind == ABUT_MOTION_KEYS && k < r->key[1]; k++) {
        const abut_scene_pose *p = &m->key[k];
        if (abut_v3_norm2(abut_v3_get(p->rotation + 1)) > 0) is |= ROTATES | (is & MOVES || sweeps(b, m, r, k) ? MOVES : 0);
        for (int d = 0; d < 3; d++) is |= p->shift[d] != 0 || p->scale[d] != 1 ? MOVES : 0;
    }
    return is;
}

static int by_node(const void *key, const void *s) { return *(const int32_t *)key - ((const span *)s)->node; }

/* The spans of a node: [*lo, *hi) of s[n]. */
static void spans_of(const span *s, size_t n, int32_t node, size_t *lo, size_t *hi)
{
    const span *found = bsearch(&node, s, n, sizeof *s, by_node);
    *lo = *hi = found ? (size_t)(found - s) : 0;
    while (*lo > 0 && s[*lo - 1].node == node) --*lo;
    while (found && *hi < n && s[*hi].node == node) ++*hi;
}

/* The directions of a segment belong to the one motion that prescribes both its nodes.  Two motions of which one rotates would
 * want different ones. */
static abut_status check_segment(const abut_build *b, const abut_motion_rows *m, const int32_t v[2], const span *s, size_t n,
                                 int *is, abut_err *err)
{
    size_t lo[2], hi[2];
    for (int k = 0; k < 2; k++) spans_of(s, n, v[k], &lo[k], &hi[k]);
    for (size_t i = lo[0]; i < hi[0]; i++)
        for (size_t j = lo[1]; j < hi[1]; j++) {
            const int32_t row[2] = { s[i].motion, s[j].motion };
            const int k = is[row[0]] & ROTATES ? 0 : 1;
            if (row[0] == row[1]) is[row[0]] |= CARRIES;
            if (row[0] == row[1] || !(is[row[k]] & ROTATES) || !(fmax(s[i].t0, s[j].t0) < fmin(s[i].t1, s[j].t1))) continue;
            const abut_part *of = abut_part_of(b, v[0]);
            return abut_fail(err, ABUT_E_FORMAT, "%s: rotates node %d of '%s' while another motion (%s) prescribes node %d, the "
                             "other end of its segment: expected both nodes in one motion, which rotates the directions of the "
                             "rod", m->row[row[k]].from, v[k] - of->first, of->object->name, m->row[row[1 - k]].from,
                             v[1 - k] - of->first);
        }
    return ABUT_OK;
}

/* A motion that rotates nodes of a rod moves a node or carries the directions of a rod.  Later motions find nodes where others
 * have left them. */
static abut_status check_rotations(const abut_build *b, const abut_motion_rows *m, const span *s, size_t n, abut_err *err)
{
    const int32_t *rod = b->out->rods ? abut_arrays_find(b->model, "rod/node")->data : NULL;
    const int curved = abut_arrays_find(b->model, "rod/curvature") != NULL;
    int *is = malloc(((size_t)m->n + 1) * sizeof *is);
    if (!is) return abut_fail(err, ABUT_E_NOMEM, "motions: no memory for %d rows", m->n);
    abut_status rc = ABUT_OK;
    for (int32_t k = 0; k < m->n; k++) is[k] = actions_of(b, m, &m->row[k]);
    for (int32_t i = 0; i < 2 * b->out->rods; i++) {
        size_t lo, hi;
        for (spans_of(s, n, rod[i], &lo, &hi); lo < hi; lo++) is[s[lo].motion] |= OF_ROD;
    }
    for (int32_t i = 0; i < (curved ? b->out->rods : 0) && !rc; i++) rc = check_segment(b, m, rod + 2 * i, s, n, is, err);
    for (int32_t k = 0; k < m->n && !rc; k++) {
        const abut_motion_row *r = &m->row[k];
        if (r->entry < 0 || r->window[0] > 0 || is[k] != (ROTATES | OF_ROD)) continue;
        rc = abut_fail(err, ABUT_E_FORMAT, "%s: the rotation does nothing: %d selected %s on its axis; expected nodes beside it, "
                       "or both nodes of a segment of a rod with 'curved: true', which twists", r->from, r->hi - r->lo,
                       abut_plural(r->hi - r->lo, "node lies", "nodes lie"));
    }
    free(is);
    return rc;
}

static abut_status resolve_times(const abut_build *b, abut_motion_rows *m, abut_err *err)
{
    span *s = NULL;
    size_t n = 0;
    abut_status rc = list_spans(m, &s, &n, err);
    if (!rc) rc = check_overlap(b, m, s, n, err);
    if (!rc) rc = add_holds(m, s, n, err);
    free(s);
    s = NULL;
    if (!rc) rc = list_spans(m, &s, &n, err);
    if (!rc) rc = check_rotations(b, m, s, n, err);
    free(s);
    return rc;
}

static abut_status pressures(const abut_build *b, abut_motion_rows *m, abut_err *err)
{
    abut_status rc = ABUT_OK;
    int32_t rows[2];
    m->first_pressed = m->nkeys;
    for (int32_t o = 0; o < b->scene->nobjects && !rc; o++)
        if (abut_pressure_varies(&b->scene->object[o])) rc = add_factor(m, &b->scene->object[o].shell.factor, 0, rows, err);
    return rc;
}

abut_status abut_build_motions(abut_build *b, abut_err *err)
{
    assert(b);
    abut_motion_rows m = { 0 };
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i < b->scene->nobjects && !rc; i++) rc = obstacle_motion(b, &m, &b->part[i], err);
    for (int32_t i = 0; i < b->scene->nmotions && !rc; i++) rc = scripted(b, &m, &b->scene->motion[i], err);
    b->out->motions = m.n;
    if (!rc) rc = resolve_times(b, &m, err);
    if (!rc) rc = pressures(b, &m, err);
    if (!rc) rc = abut_motion_rows_put(b, &m, err);
    free(m.row);
    free(m.node);
    free(m.key);
    free(m.path);
    return rc;
}
