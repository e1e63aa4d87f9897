#include "tear/fans.h"

#include "base/arena.h"
#include "math/vec3.h"
#include "model/naming.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- cells ---- */

int abut_tear_simulated(const abut_model *m, const int32_t *v)
{
    for (int k = 0; k < 3; k++)
        if (m->role[abut_model_contact_node(m, v[k])] != ABUT_NODE_OBSTACLE) return 1;
    return 0;
}

static int joins(const int32_t *segment, int32_t a, int32_t b)
{
    return (segment[0] == a && segment[1] == b) || (segment[0] == b && segment[1] == a);
}

/* whether a spring between these two nodes is gone */
static int torn_between(const abut_tearing *w, int32_t a, int32_t b)
{
    const abut_model *m = w->m;
    for (int32_t s = 0; s < m->nsp; s++) {
        if (w->gone[m->nt + m->nsh + s] && joins(m->spring + 2 * (size_t)s, a, b)) return 1;
    }
    return 0;
}

static abut_status allocate(abut_tearing *w, size_t most, abut_err *err)
{
    const abut_model *m = w->m;
    abut_tear_cells *c = &w->c;
    const size_t nv = (size_t)m->nv + 1;
    c->node = malloc(4 * most * sizeof *c->node);
    c->now = malloc(4 * most * sizeof *c->now);
    c->gone = calloc(most, 1);
    c->touched = calloc(nv, 1);
    c->kept = calloc(nv, 1);
    c->first = calloc(nv + 1, sizeof *c->first);
    c->inc = malloc(4 * most * sizeof *c->inc);
    w->no_bend = calloc((size_t)m->nbd + 1, 1);
    w->draw = calloc(3 * nv, sizeof *w->draw);
    if (c->node && c->now && c->gone && c->touched && c->kept && c->first && c->inc && w->no_bend && w->draw) return ABUT_OK;
    return abut_fail(err, ABUT_E_NOMEM, "tearing: %zu elements, %d nodes", most, m->nv);
}

static void list_tets_and_shells(abut_tearing *w)
{
    const abut_model *m = w->m;
    abut_tear_cells *c = &w->c;
    for (int32_t t = 0; t < m->nt; t++, c->n++) {
        memcpy(c->node + 4 * (size_t)c->n, m->tet + 4 * (size_t)t, 4 * sizeof *c->node);
        c->gone[c->n] = w->gone[t];
    }
    c->nt = c->n;
    for (int32_t t = 0; t < m->nsh; t++, c->n++) {
        memcpy(c->node + 4 * (size_t)c->n, m->shell + 3 * (size_t)t, 3 * sizeof *c->node);
        c->node[4 * (size_t)c->n + 3] = -1;
        c->gone[c->n] = w->gone[m->nt + t];
    }
}

/* The contact triangles of bodies; those on a spring that is gone go.  at_end[nv]: work space of zeros, left so. */
static void list_contact_triangles(abut_tearing *w, uint8_t *at_end, int32_t *triangles)
{
    const abut_model *m = w->m;
    abut_tear_cells *c = &w->c;
    for (int32_t s = 0; s < m->nsp; s++)
        if (w->gone[m->nt + m->nsh + s]) at_end[m->spring[2 * s]] = at_end[m->spring[2 * s + 1]] = 1;
    for (int32_t t = 0; t < m->nct; t++) {
        const int32_t *v = m->coll_tri + 3 * (size_t)t;
        if (!abut_tear_simulated(m, v)) continue;
        int32_t *to = c->node + 4 * (size_t)c->n;
        for (int k = 0; k < 3; k++) to[k] = abut_model_contact_node(m, v[k]);
        to[3] = -1;
        for (int k = 0; k < 3; k++)
            if (at_end[to[k]] && at_end[to[(k + 1) % 3]] && torn_between(w, to[k], to[(k + 1) % 3])) c->gone[c->n] = 1;
        *triangles += c->gone[c->n++];
    }
    memset(at_end, 0, (size_t)m->nv);
}

/* The cells at each node, and which nodes one that is gone has touched. */
static void index_cells(abut_tear_cells *c, int32_t nv)
{
    for (int32_t i = 0; i < 4 * c->n; i++) {
        if (c->node[i] < 0) continue;
        c->first[c->node[i] + 1]++;
        if (c->gone[i / 4]) c->touched[c->node[i]] = 1;
    }
    for (int32_t i = 0; i < nv; i++) c->first[i + 1] += c->first[i];
    for (int32_t i = 0; i < 4 * c->n; i++)
        if (c->node[i] >= 0) c->inc[c->first[c->node[i]]++] = i / 4;
    for (int32_t i = nv; i > 0; i--) c->first[i] = c->first[i - 1];
    c->first[0] = 0;
}

/* Nodes of motions and attachments. */
static void mark_kept(const abut_model *m, uint8_t *kept)
{
    for (int32_t i = 0; i < m->nmn; i++) kept[m->mo_node[i]] = 1;
    for (int32_t i = 0; i < 5 * m->na; i++)
        if (m->attach_node[i] >= 0) kept[m->attach_node[i]] = 1;
}

/* Bends over a segment that is gone. */
static void mark_bends(abut_tearing *w)
{
    const abut_model *m = w->m;
    for (int32_t r = 0; r < m->nrd; r++) {
        if (!w->no_rod[r]) continue;
        const int32_t *s = m->rod + 2 * (size_t)r;
        for (int32_t b = 0; b < m->nbd; b++) {
            const int32_t *v = m->bend + 3 * (size_t)b;
            w->no_bend[b] |= joins(s, v[0], v[1]) || joins(s, v[1], v[2]);
        }
    }
}

abut_status abut_tearing_init(abut_tearing *w, const abut_model *m, const uint8_t *gone, int32_t *triangles, abut_err *err)
{
    assert(m);
    *w = (abut_tearing){ .m = m, .gone = gone, .no_rod = gone + m->nt + m->nsh + m->nsp };
    const int by_contact = !m->nt && !m->nsh;
    const abut_status rc = allocate(w, (size_t)m->nt + (size_t)(by_contact ? m->nct : m->nsh) + 1, err);
    if (rc) return rc;
    list_tets_and_shells(w);
    if (by_contact) list_contact_triangles(w, w->c.kept, triangles);
    memcpy(w->c.now, w->c.node, 4 * (size_t)w->c.n * sizeof *w->c.now);
    index_cells(&w->c, m->nv);
    mark_kept(m, w->c.kept);
    mark_bends(w);
    return ABUT_OK;
}

void abut_tearing_clear(abut_tearing *w)
{
    ABUT_FREE(w->c.node, w->c.now, w->c.gone, w->c.touched, w->c.kept, w->c.first, w->c.inc, w->no_bend, w->copy, w->draw);
    *w = (abut_tearing){ 0 };
}

/* ---- fans ---- */

static int joined(const abut_tear_cells *c, int32_t a, int32_t b)
{
    const int32_t *p = c->node + 4 * (size_t)a, *q = c->node + 4 * (size_t)b;
    int common = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) common += p[i] >= 0 && p[i] == q[j];
    return common >= (a < c->nt && b < c->nt ? 3 : 2);
}

static double rest_volume(const abut_tearing *w, int32_t cell)
{
    const int32_t *v = w->c.node + 4 * (size_t)cell;
    const double *X = w->m->X;
    const abut_vec3 a = abut_v3_get(X + 3 * (size_t)v[0]), e = abut_v3_sub(abut_v3_get(X + 3 * (size_t)v[1]), a),
                    f = abut_v3_sub(abut_v3_get(X + 3 * (size_t)v[2]), a), n = abut_v3_cross(e, f);
    if (v[3] < 0)
        return 0.5 * abut_v3_norm(n) * (cell < w->c.nt + w->m->nsh && w->m->nsh ? w->m->shell_thick[cell - w->c.nt] : 1) / 3;
    return fabs(abut_v3_dot(n, abut_v3_sub(abut_v3_get(X + 3 * (size_t)v[3]), a))) / 24;
}

/* From node `from` at x towards the middle of a cell. */
static void add_draw(const abut_tearing *w, const double *x, int32_t cell, int32_t from, double *sum)
{
    const int32_t *v = w->c.node + 4 * (size_t)cell;
    const int n = v[3] < 0 ? 3 : 4;
    for (int k = 0; k < n; k++)
        for (int d = 0; d < 3; d++) sum[d] += (x[3 * (size_t)v[k] + (size_t)d] - x[3 * (size_t)from + (size_t)d]) / n;
}

static abut_status add_copy(abut_tearing *w, int32_t from, double share, int32_t *node, abut_err *err)
{
    if (w->ncopies == w->cap) {
        const int32_t cap = 2 * w->cap + 64;
        struct abut_tear_copy *copy = realloc(w->copy, (size_t)cap * sizeof *copy);
        if (copy) w->copy = copy;
        double *draw = realloc(w->draw, 3 * ((size_t)w->m->nv + (size_t)cap) * sizeof *draw);
        if (draw) w->draw = draw;
        if (!copy || !draw) return abut_fail(err, ABUT_E_NOMEM, "tearing: %d copies", cap);
        w->cap = cap;
    }
    w->copy[w->ncopies] = (struct abut_tear_copy){ from, share };
    *node = w->m->nv + w->ncopies++;
    memset(w->draw + 3 * (size_t)*node, 0, 3 * sizeof *w->draw);
    return ABUT_OK;
}

/* The fans of one node: fan[k] of its k-th remaining cell list[k], numbered from 0 in the order of their first cells. */
static int find_fans(const abut_tear_cells *c, const int32_t *list, int n, int *fan)
{
    int fans = 0;
    for (int k = 0; k < n; k++) fan[k] = -1;
    for (int k = 0; k < n; k++) {
        if (fan[k] >= 0) continue;
        fan[k] = fans++;
        for (int grew = 1; grew;) {
            grew = 0;
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n && fan[i] == fan[k]; j++)
                    if (fan[j] < 0 && joined(c, list[i], list[j])) fan[j] = fan[k], grew = 1;
        }
    }
    return fans;
}

static abut_status split_node(abut_tearing *w, const double *x, int32_t i, abut_err *err)
{
    enum { MOST = 512 };
    abut_tear_cells *c = &w->c;
    int32_t list[MOST];
    int fan[MOST], n = 0;
    for (int32_t k = c->first[i]; k < c->first[i + 1]; k++) {
        if (c->gone[c->inc[k]]) continue;
        if (n == MOST) return abut_fail(err, ABUT_E_FORMAT, "%s has more than %d elements",
                                        abut_nodes_words(w->m, &i, 1, (char[ABUT_NODES_WORDS]){ 0 }), MOST);
        list[n++] = c->inc[k];
    }
    const int fans = find_fans(c, list, n, fan);
    if (fans < 2) return ABUT_OK;
    double total = 0;
    for (int k = 0; k < n; k++) total += rest_volume(w, list[k]);
    for (int f = 0; f < fans; f++) {
        double part = 0, sum[3] = { 0 };
        int32_t node = i, members = 0;
        for (int k = 0; k < n; k++)
            if (fan[k] == f) part += rest_volume(w, list[k]), add_draw(w, x, list[k], i, sum), members++;
        if (f) {
            const abut_status rc = add_copy(w, i, part / total, &node, err);
            if (rc) return rc;
        }
        for (int d = 0; d < 3; d++) w->draw[3 * (size_t)node + (size_t)d] = sum[d] / members;
        for (int k = 0; k < n && f; k++)
            for (int q = 0; q < 4 && fan[k] == f; q++)
                if (c->now[4 * (size_t)list[k] + (size_t)q] == i) c->now[4 * (size_t)list[k] + (size_t)q] = node;
    }
    return ABUT_OK;
}

abut_status abut_tearing_split(abut_tearing *w, const double *x, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i < w->m->nv && !rc; i++)
        if (w->c.touched[i] && !w->c.kept[i]) rc = split_node(w, x, i, err);
    return rc;
}
