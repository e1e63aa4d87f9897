#include "solve/tear.h"

#include "contact/cross.h"
#include "energy/thin.h"
#include "energy/elastic.h"
#include "linalg/svd3.h"
#include "linalg/vec3.h"
#include "model/surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How far the fans of a node draw back, as a share of the way to the middle of their elements. */
#define DRAW 1e-2
enum { DRAWS = 4 };     /* then a tenth of it, and so on */

/* ---- what tears ---- */

/* of a spring or a rod */
static double segment_stretch(const int32_t *node, double length, const double *x)
{
    return abut_v3_norm(abut_v3_sub(abut_v3_get(x + 3 * (size_t)node[0]), abut_v3_get(x + 3 * (size_t)node[1]))) / length;
}

abut_status abut_tear_find(const abut_model *m, const double *x, double limit, uint8_t *gone, abut_torn *torn, abut_err *err)
{
    abut_elastic e = { 0 };
    abut_thin thin = { 0 };
    *torn = (abut_torn){ 0 };
    abut_status rc = abut_elastic_init(&e, m, err);
    if (!rc) rc = abut_thin_init(&thin, m, err);
    for (int32_t t = 0; t < m->nt && !rc; t++) {
        double F[9], U[9], s[3], V[9];
        (void)abut_elastic_deformation(&e, x, t, F);
        abut_svd3(F, U, s, V);
        torn->worst = fmax(torn->worst, s[0]);
        torn->tets += gone[t] = s[0] > limit;
    }
    for (int32_t t = 0; t < m->nsh && !rc; t++) {
        double F[6], s[2];
        abut_shell_deformation(&thin, x, t, F, s);
        const double largest = fmax(s[0], s[1]);
        torn->worst = fmax(torn->worst, largest);
        torn->shells += gone[m->nt + t] = largest > limit;
    }
    for (int32_t t = 0; t < m->nsp && !rc; t++) {
        const double s = segment_stretch(m->spring + 2 * (size_t)t, m->spring_length[t], x);
        torn->worst = fmax(torn->worst, s);
        torn->springs += gone[m->nt + m->nsh + t] = s > limit;
    }
    for (int32_t t = 0; t < m->nrd && !rc; t++) {
        const double s = segment_stretch(m->rod + 2 * (size_t)t, m->rod_length[t], x);
        torn->worst = fmax(torn->worst, s);
        torn->rods += gone[m->nt + m->nsh + m->nsp + t] = s > limit;
    }
    abut_elastic_clear(&e);
    abut_thin_clear(&thin);
    return rc;
}

/* ---- the elements that hold nodes together ---- */

/* Cells of up to four corners: tets, then triangles. */
typedef struct cells {
    int32_t n, nt;          /* all; tets among them */
    int32_t *node;          /* [4 n] -1 unused; as they were */
    int32_t *now;           /* [4 n] the same with copies */
    uint8_t *gone;          /* [n] */
    uint8_t *touched;       /* [nv] by one that is gone */
    uint8_t *kept;          /* [nv] is never split */
    int32_t *first, *inc;   /* cells at each node */
    int by_contact;         /* the triangles are those of contact */
} cells;

static void cells_clear(cells *c)
{
    free(c->node);
    free(c->now);
    free(c->gone);
    free(c->touched);
    free(c->kept);
    free(c->first);
    free(c->inc);
    *c = (cells){ 0 };
}

typedef struct tear {
    const abut_model *m;
    const uint8_t *gone;    /* as abut_tear_find has it */
    const uint8_t *no_rod;  /* [nrd] its rods */
    uint8_t *no_bend;       /* [nbd] bends that go with them */
    cells c;
    int32_t ncopies, cap;
    struct copy {
        int32_t from;       /* node it was */
        double share;       /* of the mass */
    } *copy;
    double *draw;           /* [3 (nv + copies)] m, where a part of a node draws to, from the node */
    size_t draw_cap;
} tear;

/* whether some corner of a contact triangle is of a body */
static int simulated(const abut_model *m, const int32_t *v)
{
    for (int k = 0; k < 3; k++)
        if (m->role[m->coll_node[v[k]]] != ABUT_NODE_OBSTACLE) return 1;
    return 0;
}

static int joins(const int32_t *segment, int32_t a, int32_t b)
{
    return (segment[0] == a && segment[1] == b) || (segment[0] == b && segment[1] == a);
}

/* whether a spring between these two nodes is gone */
static int torn_between(const tear *w, int32_t a, int32_t b)
{
    const abut_model *m = w->m;
    for (int32_t s = 0; s < m->nsp; s++) {
        if (w->gone[m->nt + m->nsh + s] && joins(m->spring + 2 * (size_t)s, a, b)) return 1;
    }
    return 0;
}

static abut_status list_cells(tear *w, abut_torn *torn, abut_err *err)
{
    const abut_model *m = w->m;
    cells *c = &w->c;
    const size_t nv = (size_t)m->nv + 1;
    c->by_contact = !m->nt && !m->nsh;
    const size_t most = (size_t)m->nt + (size_t)(c->by_contact ? m->nct : m->nsh) + 1;
    c->node = malloc(4 * most * sizeof *c->node);
    c->now = malloc(4 * most * sizeof *c->now);
    c->gone = calloc(most, 1);
    c->touched = calloc(nv, 1);
    c->kept = calloc(nv, 1);
    c->first = calloc(nv + 1, sizeof *c->first);
    c->inc = malloc(4 * most * sizeof *c->inc);
    if (!c->node || !c->now || !c->gone || !c->touched || !c->kept || !c->first || !c->inc)
        return abut_fail(err, ABUT_E_NOMEM, "tearing: %zu elements", most);
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
    for (int32_t s = 0; s < m->nsp; s++)
        if (c->by_contact && w->gone[m->nt + m->nsh + s]) c->kept[m->spring[2 * s]] = c->kept[m->spring[2 * s + 1]] = 1;
    for (int32_t t = 0; c->by_contact && t < m->nct; t++) {
        const int32_t *v = m->coll_tri + 3 * (size_t)t;
        if (!simulated(m, v)) continue;
        int32_t *to = c->node + 4 * (size_t)c->n;
        for (int k = 0; k < 3; k++) to[k] = m->coll_node[v[k]];
        to[3] = -1;
        for (int k = 0; k < 3 && torn->springs; k++)
            if (c->kept[to[k]] && c->kept[to[(k + 1) % 3]] && torn_between(w, to[k], to[(k + 1) % 3])) c->gone[c->n] = 1;
        torn->triangles += c->gone[c->n++];
    }
    memset(c->kept, 0, nv);     /* marked the ends of what is gone so far */
    memcpy(c->now, c->node, 4 * (size_t)c->n * sizeof *c->now);
    for (int32_t i = 0; i < 4 * c->n; i++) {
        if (c->node[i] < 0) continue;
        c->first[c->node[i] + 1]++;
        if (c->gone[i / 4]) c->touched[c->node[i]] = 1;
    }
    for (int32_t i = 0; i < m->nv; i++) c->first[i + 1] += c->first[i];
    for (int32_t i = 0; i < 4 * c->n; i++)
        if (c->node[i] >= 0) c->inc[c->first[c->node[i]]++] = i / 4;
    for (int32_t i = m->nv; i > 0; i--) c->first[i] = c->first[i - 1];
    c->first[0] = 0;
    for (int32_t i = 0; i < m->nmn; i++) c->kept[m->mo_node[i]] = 1;
    for (int32_t i = 0; i < 5 * m->na; i++)
        if (m->tie_node[i] >= 0) c->kept[m->tie_node[i]] = 1;
    return ABUT_OK;
}

/* Bends over a segment that is gone. */
static abut_status list_bends(tear *w, abut_err *err)
{
    const abut_model *m = w->m;
    w->no_rod = w->gone + m->nt + m->nsh + m->nsp;
    w->no_bend = calloc((size_t)m->nbd + 1, 1);
    if (!w->no_bend) return abut_fail(err, ABUT_E_NOMEM, "tearing: %d bends", m->nbd);
    for (int32_t r = 0; r < m->nrd; r++) {
        if (!w->no_rod[r]) continue;
        const int32_t *s = m->rod + 2 * (size_t)r;
        for (int32_t b = 0; b < m->nbd; b++) {
            const int32_t *v = m->bend + 3 * (size_t)b;
            w->no_bend[b] |= joins(s, v[0], v[1]) || joins(s, v[1], v[2]);
        }
    }
    return ABUT_OK;
}

/* ---- fans ---- */

static int joined(const cells *c, int32_t a, int32_t b)
{
    const int32_t *p = c->node + 4 * (size_t)a, *q = c->node + 4 * (size_t)b;
    int common = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) common += p[i] >= 0 && p[i] == q[j];
    return common >= (a < c->nt && b < c->nt ? 3 : 2);
}

static double rest_volume(const tear *w, int32_t cell)
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
static void add_draw(const tear *w, const double *x, int32_t cell, int32_t from, double *sum)
{
    const int32_t *v = w->c.node + 4 * (size_t)cell;
    const int n = v[3] < 0 ? 3 : 4;
    for (int k = 0; k < n; k++)
        for (int d = 0; d < 3; d++) sum[d] += (x[3 * (size_t)v[k] + (size_t)d] - x[3 * (size_t)from + (size_t)d]) / n;
}

static abut_status add_copy(tear *w, int32_t from, double share, int32_t *node, abut_err *err)
{
    if (w->ncopies == w->cap) {
        const int32_t cap = 2 * w->cap + 64;
        struct copy *copy = realloc(w->copy, (size_t)cap * sizeof *copy);
        if (copy) w->copy = copy;
        double *draw = realloc(w->draw, 3 * ((size_t)w->m->nv + (size_t)cap) * sizeof *draw);
        if (draw) w->draw = draw;
        if (!copy || !draw) return abut_fail(err, ABUT_E_NOMEM, "tearing: %d copies", cap);
        w->cap = cap;
    }
    w->copy[w->ncopies] = (struct copy){ from, share };
    *node = w->m->nv + w->ncopies++;
    memset(w->draw + 3 * (size_t)*node, 0, 3 * sizeof *w->draw);
    return ABUT_OK;
}

/* The fans of one node: fan[k] of its k-th remaining cell list[k], numbered from 0 in the order of their first cells. */
static int find_fans(const cells *c, const int32_t *list, int n, int *fan)
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

static abut_status split_node(tear *w, const double *x, int32_t i, abut_err *err)
{
    enum { MOST = 512 };
    cells *c = &w->c;
    int32_t list[MOST];
    int fan[MOST], n = 0;
    for (int32_t k = c->first[i]; k < c->first[i + 1]; k++) {
        if (c->gone[c->inc[k]]) continue;
        if (n == MOST) return abut_fail(err, ABUT_E_FORMAT, "node %d has more than %d elements", i, MOST);
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

/* ---- the new arrays ---- */

static abut_status fail_rows(const abut_array *a, int32_t want, abut_err *err)
{
    return abut_fail(err, ABUT_E_FORMAT, "array '%s' has %lld rows, expected %d to tear them", a->name,
                     a->rank ? (long long)a->shape[0] : 1LL, want);
}

/* Rows from[0 .. n) of an array, as an array of the same name. */
static abut_status put_rows(abut_arrays *set, const abut_array *a, const int32_t *from, int32_t n, abut_err *err)
{
    int64_t shape[ABUT_RANK_MAX];
    memcpy(shape, a->shape, sizeof shape);
    shape[0] = n;
    const size_t row = a->shape[0] ? abut_array_bytes(a) / (size_t)a->shape[0] : 0;
    char *to = abut_arrays_put(set, a->name, a->type, a->rank, shape, a->unit, a->flags, err);
    if (!to) return err->code;
    for (int32_t k = 0; k < n; k++) memcpy(to + (size_t)k * row, (const char *)a->data + (size_t)from[k] * row, row);
    return ABUT_OK;
}

/* The families of rows: node/ grows, elements shrink. */
static abut_status copy_arrays(const tear *w, const abut_arrays *from, int is_frame, abut_arrays *to, abut_err *err)
{
    const abut_model *m = w->m;
    const struct { const char *prefix; int32_t n; const uint8_t *gone; } family[] = {
        { "tet/", m->nt, w->gone }, { "shell/", m->nsh, w->gone + m->nt }, { "spring/", m->nsp, w->gone + m->nt + m->nsh },
        { "rod/", m->nrd, w->no_rod }, { "bend/", m->nbd, w->no_bend }
    };
    static const char *const dropped[] = {
        "part/", "contact/node", "contact/edge", "contact/triangle", "hinge/", "lag/", "step/"
    };
    int32_t *rows =
        malloc(((size_t)m->nv + (size_t)w->ncopies + (size_t)m->nt + (size_t)m->nsh + (size_t)m->nsp + (size_t)m->nrd +
                (size_t)m->nbd + 1) * sizeof *rows);
    abut_status rc = rows ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "tearing: rows");
    for (int i = 0; i < from->n && !rc; i++) {
        const abut_array *a = &from->a[i];
        int skip = 0, done = 0;
        for (size_t k = 0; k < sizeof dropped / sizeof *dropped; k++) skip |= !strncmp(a->name, dropped[k], strlen(dropped[k]));
        if (skip) continue;
        if (!strncmp(a->name, "node/", 5) && a->type != ABUT_TEXT) {
            if (!a->rank || a->shape[0] != m->nv) rc = fail_rows(a, m->nv, err);
            for (int32_t k = 0; k < m->nv; k++) rows[k] = k;
            for (int32_t k = 0; k < w->ncopies; k++) rows[m->nv + k] = w->copy[k].from;
            if (!rc) rc = put_rows(to, a, rows, m->nv + w->ncopies, err);
            done = 1;
        }
        for (size_t f = 0; f < sizeof family / sizeof *family && !done && !is_frame; f++) {
            if (strncmp(a->name, family[f].prefix, strlen(family[f].prefix))) continue;
            int32_t n = 0;
            if (!a->rank || a->shape[0] != family[f].n) rc = fail_rows(a, family[f].n, err);
            for (int32_t k = 0; k < family[f].n; k++)
                if (!family[f].gone[k]) rows[n++] = k;
            if (!rc && n) rc = put_rows(to, a, rows, n, err);
            done = 1;
        }
        if (!rc && !done) rc = abut_arrays_copy(to, a, err);
    }
    free(rows);
    return rc;
}

/* The node that a cell with both a and b has in place of a; a itself when no cell that stays has both. */
static int32_t seen_from(const cells *c, int32_t a, int32_t b)
{
    for (int32_t k = c->first[a]; k < c->first[a + 1]; k++) {
        const int32_t cell = c->inc[k], *v = c->node + 4 * (size_t)cell;
        int32_t at = a, has = 0;
        for (int q = 0; q < 4; q++) {
            if (v[q] == a) at = c->now[4 * (size_t)cell + (size_t)q];
            has |= v[q] == b;
        }
        if (has && !c->gone[cell]) return at;
    }
    return a;
}

/* the shell with these three corners, -1: none that stays */
static int32_t shell_of(const cells *c, int32_t a, int32_t b, int32_t d)
{
    for (int32_t k = c->first[a]; k < c->first[a + 1]; k++) {
        const int32_t cell = c->inc[k], *v = c->node + 4 * (size_t)cell;
        if (v[3] >= 0 || c->gone[cell]) continue;
        int found = 0;
        for (int q = 0; q < 3; q++) found += v[q] == a || v[q] == b || v[q] == d;
        if (found == 3) return cell;
    }
    return -1;
}

static int32_t corner_now(const cells *c, int32_t cell, int32_t node)
{
    for (int q = 0; q < 4; q++)
        if (c->node[4 * (size_t)cell + (size_t)q] == node) return c->now[4 * (size_t)cell + (size_t)q];
    return -1;
}

/* Elements by their new corners; hinges as far as they hold. */
static abut_status put_elements(const tear *w, const abut_arrays *old, abut_arrays *set, abut_err *err)
{
    const abut_model *m = w->m;
    const cells *c = &w->c;
    abut_array *tet = abut_arrays_find(set, "tet/node"), *shell = abut_arrays_find(set, "shell/node"),
               *spring = abut_arrays_find(set, "spring/node");
    size_t n = 0;
    for (int32_t t = 0; tet && t < m->nt; t++)
        if (!c->gone[t]) memcpy((int32_t *)tet->data + 4 * n++, c->now + 4 * (size_t)t, 4 * sizeof(int32_t));
    n = 0;
    for (int32_t t = 0; shell && t < m->nsh; t++)
        if (!c->gone[c->nt + t]) memcpy((int32_t *)shell->data + 3 * n++, c->now + 4 * (size_t)(c->nt + t), 3 * sizeof(int32_t));
    n = 0;
    for (int32_t s = 0; spring && s < m->nsp; s++) {
        if (w->gone[m->nt + m->nsh + s]) continue;
        const int32_t a = m->spring[2 * s], b = m->spring[2 * s + 1];
        ((int32_t *)spring->data)[2 * n] = seen_from(c, a, b);
        ((int32_t *)spring->data)[2 * n++ + 1] = seen_from(c, b, a);
    }
    int32_t *rows = malloc(((size_t)m->nhg + 1) * sizeof *rows), *node = malloc(4 * ((size_t)m->nhg + 1) * sizeof *node),
            kept = 0;
    abut_status rc = rows && node ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "tearing: %d hinges", m->nhg);
    for (int32_t h = 0; h < m->nhg && !rc; h++) {
        const int32_t *v = m->hinge + 4 * (size_t)h, p = shell_of(c, v[0], v[1], v[2]), q = shell_of(c, v[1], v[0], v[3]);
        if (p < 0 || q < 0 || corner_now(c, p, v[0]) != corner_now(c, q, v[0]) ||
            corner_now(c, p, v[1]) != corner_now(c, q, v[1]))
            continue;
        node[4 * kept] = corner_now(c, p, v[0]), node[4 * kept + 1] = corner_now(c, p, v[1]);
        node[4 * kept + 2] = corner_now(c, p, v[2]), node[4 * kept + 3] = corner_now(c, q, v[3]);
        rows[kept++] = h;
    }
    for (int i = 0; i < old->n && !rc && kept; i++)
        if (!strncmp(old->a[i].name, "hinge/", 6)) rc = put_rows(set, &old->a[i], rows, kept, err);
    abut_array *hinge = abut_arrays_find(set, "hinge/node");
    if (!rc && hinge) memcpy(hinge->data, node, 4 * (size_t)kept * sizeof *node);
    free(rows);
    free(node);
    return rc;
}

/* Lists of the new contact surface, by nodes. */
typedef struct surface {
    int32_t *tri, *edge, *seg, ntri, nedge, nseg;
} surface;

static int edge_order(const void *p, const void *q)
{
    const int32_t *a = p, *b = q;
    return a[0] != b[0] ? (a[0] > b[0]) - (a[0] < b[0]) : (a[1] > b[1]) - (a[1] < b[1]);
}

/* Edges by nodes, a < b, ascending. */
typedef struct edges {
    int32_t *node, n;
} edges;

static int has_edge(const edges *e, int32_t a, int32_t b)
{
    const int32_t key[2] = { a < b ? a : b, a < b ? b : a };
    return e->n && bsearch(key, e->node, (size_t)e->n, 2 * sizeof *key, edge_order);
}

/* Contact edges that go on whatever triangles do: rods that stay, and what is neither a side of a triangle nor a rod, as the
 * segments of obstacles. */
static abut_status find_segments(const tear *w, surface *s, abut_err *err)
{
    const abut_model *m = w->m;
    int32_t *tri = malloc((3 * (size_t)m->nct + 1) * sizeof *tri), *rod = malloc((2 * (size_t)m->nrd + 1) * sizeof *rod);
    edges stay = { 0 }, other = { 0 };
    int32_t n = 0, from_end = m->nrd;
    s->seg = malloc((2 * (size_t)m->nce + 1) * sizeof *s->seg);
    abut_status rc = tri && rod && s->seg ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "tearing: %d contact edges", m->nce);
    for (int32_t i = 0; i < 3 * m->nct && !rc; i++) tri[i] = m->coll_node[m->coll_tri[i]];
    for (int32_t r = 0; r < m->nrd && !rc; r++)     /* those that stay, then those that go */
        memcpy(rod + 2 * (size_t)(w->no_rod[r] ? --from_end : n++), m->rod + 2 * (size_t)r, 2 * sizeof *rod);
    if (!rc) rc = abut_surface_edges(NULL, 0, rod, n, m->nv, &stay.node, &stay.n, err);
    if (!rc) rc = abut_surface_edges(tri, m->nct, rod + 2 * (size_t)n, m->nrd - n, m->nv, &other.node, &other.n, err);
    for (int32_t e = 0; e < m->nce && !rc; e++) {
        const int32_t a = m->coll_node[m->coll_edge[2 * (size_t)e]], b = m->coll_node[m->coll_edge[2 * (size_t)e + 1]];
        if (!has_edge(&stay, a, b) && has_edge(&other, a, b)) continue;
        s->seg[2 * s->nseg] = a;
        s->seg[2 * s->nseg++ + 1] = b;
    }
    free(tri);
    free(rod);
    free(stay.node);
    free(other.node);
    return rc;
}

static abut_status find_surface(const tear *w, surface *s, abut_err *err)
{
    const abut_model *m = w->m;
    const cells *c = &w->c;
    int32_t *tet = malloc((4 * (size_t)c->nt + 1) * sizeof *tet), *outer = NULL, n = 0, nouter = 0;
    const int32_t nv = m->nv + w->ncopies;
    abut_status rc = tet ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "tearing: surface");
    for (int32_t t = 0; t < c->nt && !rc; t++)
        if (!c->gone[t]) memcpy(tet + 4 * (size_t)n++, c->now + 4 * (size_t)t, 4 * sizeof *tet);
    if (!rc) rc = abut_surface_triangles(tet, n, nv, &outer, &nouter, err);
    s->tri = rc ? NULL : malloc(3 * ((size_t)nouter + (size_t)c->n + (size_t)m->nct + 1) * sizeof *s->tri);
    if (!rc && !s->tri) rc = abut_fail(err, ABUT_E_NOMEM, "tearing: surface");
    if (!rc) {
        memcpy(s->tri, outer, 3 * (size_t)nouter * sizeof *s->tri);
        s->ntri = nouter;
        for (int32_t t = c->nt; t < c->n; t++)
            if (!c->gone[t]) memcpy(s->tri + 3 * (size_t)s->ntri++, c->now + 4 * (size_t)t, 3 * sizeof *s->tri);
        for (int32_t t = 0; t < m->nct; t++) {
            const int32_t *v = m->coll_tri + 3 * (size_t)t;
            if (simulated(m, v)) continue;
            for (int k = 0; k < 3; k++) s->tri[3 * (size_t)s->ntri + (size_t)k] = m->coll_node[v[k]];
            s->ntri++;
        }
    }
    if (!rc) rc = find_segments(w, s, err);
    if (!rc) rc = abut_surface_edges(s->tri, s->ntri, s->seg, s->nseg, nv, &s->edge, &s->nedge, err);
    free(tet);
    free(outer);
    return rc;
}

static abut_status put_index(abut_arrays *set, const char *name, const int32_t *v, int width, int32_t n, const int32_t *vertex,
                             abut_err *err)
{
    int32_t *to = n ? abut_model_put(set, name, n, err) : NULL;
    if (n && !to) return err->code;
    for (int32_t i = 0; i < width * n; i++) to[i] = vertex ? vertex[v[i]] : v[i];
    return ABUT_OK;
}

static abut_status put_surface(const tear *w, abut_arrays *set, abut_err *err)
{
    const abut_model *m = w->m;
    const int32_t nv = m->nv + w->ncopies;
    surface s = { 0 };
    if (!m->nc) return ABUT_OK;     /* contact is off */
    abut_status rc = find_surface(w, &s, err);
    int32_t *vertex = calloc((size_t)nv + 1, sizeof *vertex), *node = malloc(((size_t)nv + 1) * sizeof *node), nc = 0;
    uint8_t *in_old = calloc((size_t)m->nc + 1, 1);
    if (!rc && (!vertex || !node || !in_old)) rc = abut_fail(err, ABUT_E_NOMEM, "tearing: surface");
    if (!rc) {
        for (int32_t i = 0; i < 3 * s.ntri; i++) vertex[s.tri[i]] = 1;
        for (int32_t i = 0; i < 2 * s.nedge; i++) vertex[s.edge[i]] = 1;
        for (int32_t i = 0; i < 2 * m->nce; i++) in_old[m->coll_edge[i]] = 1;
        for (int32_t i = 0; i < m->nc; i++)
            if (!in_old[i]) vertex[m->coll_node[i]] = 1;        /* points */
        for (int32_t i = 0; i < nv; i++)
            if (vertex[i]) vertex[i] = nc, node[nc++] = i;
        rc = put_index(set, "contact/node", node, 1, nc, NULL, err);
        if (!rc) rc = put_index(set, "contact/edge", s.edge, 2, s.nedge, vertex, err);
        if (!rc) rc = put_index(set, "contact/triangle", s.tri, 3, s.ntri, vertex, err);
    }
    free(s.tri);
    free(s.edge);
    free(s.seg);
    free(vertex);
    free(node);
    free(in_old);
    return rc;
}

/* A copy has its share of the mass of the node that it was. */
static void put_mass(const tear *w, abut_arrays *set)
{
    double *mass = abut_arrays_find(set, "node/mass")->data;
    for (int32_t k = 0; k < w->ncopies; k++) {
        const double part = w->copy[k].share * w->m->mass[w->copy[k].from];
        mass[w->m->nv + k] = part;
        mass[w->copy[k].from] -= part;
    }
}

/* Draws the fans apart by a share of their draws; 0 when something then touches or turns over. */
static abut_status part_fans(const tear *w, double share, const abut_arrays *model, abut_arrays *frame, int *free_of_contact,
                             abut_err *err)
{
    abut_model m;
    abut_collmesh cm = { 0 };
    abut_cross hit;
    size_t found = 0;
    double *x = abut_arrays_find(frame, "node/x")->data, *y = NULL;
    abut_status rc = abut_model_view(model, &m, err);
    if (!rc) rc = abut_collmesh_init(&cm, &m, err);
    if (rc) return rc;
    for (int32_t i = 0; i < 3 * m.nv; i++) x[i] += share * w->draw[i];
    y = malloc((3 * (size_t)m.nc + 1) * sizeof *y);
    uint8_t *fixed = calloc((size_t)m.nc + 1, 1);
    if (!y || !fixed) rc = abut_fail(err, ABUT_E_NOMEM, "tearing: %d vertices", m.nc);
    for (int32_t i = 0; i < m.nc && !rc; i++) fixed[i] = m.role[m.coll_node[i]] == ABUT_NODE_OBSTACLE;
    if (!rc) abut_collmesh_gather(&cm, x, y);
    if (!rc) rc = abut_cross_find(&cm, y, fixed, 1, &hit, &found, err);
    *free_of_contact = !rc && !found && abut_inverted_find(&m, x, 1) < 0;
    for (int32_t i = 0; i < 3 * m.nv && !*free_of_contact; i++) x[i] -= share * w->draw[i];
    abut_collmesh_clear(&cm);
    free(y);
    free(fixed);
    return rc;
}

abut_status abut_tear_apply(const abut_arrays *model, const abut_arrays *frame, const uint8_t *gone, abut_arrays *new_model,
                            abut_arrays *new_frame, abut_torn *torn, abut_err *err)
{
    abut_model m;
    abut_frame f;
    abut_status rc = abut_model_view(model, &m, err);
    if (!rc) rc = abut_frame_view(frame, &m, &f, err);
    if (rc) return rc;
    tear w = { .m = &m, .gone = gone };
    w.draw = calloc(3 * (size_t)m.nv + 1, sizeof *w.draw);
    rc = w.draw ? list_cells(&w, torn, err) : abut_fail(err, ABUT_E_NOMEM, "tearing: %d nodes", m.nv);
    if (!rc) rc = list_bends(&w, err);
    for (int32_t i = 0; i < m.nv && !rc; i++)
        if (w.c.touched[i] && !w.c.kept[i]) rc = split_node(&w, f.x, i, err);
    torn->copies = w.ncopies;
    abut_arrays_clear(new_model);
    abut_arrays_clear(new_frame);
    if (!rc) rc = copy_arrays(&w, model, 0, new_model, err);
    if (!rc) rc = put_elements(&w, model, new_model, err);
    if (!rc) rc = put_surface(&w, new_model, err);
    if (!rc) rc = copy_arrays(&w, frame, 1, new_frame, err);
    if (!rc) put_mass(&w, new_model);
    int apart = 0;
    double share = DRAW;
    for (int k = 0; k < DRAWS && !rc && !apart; k++, share /= 10) rc = part_fans(&w, share, new_model, new_frame, &apart, err);
    if (!rc && !apart)
        rc = abut_fail(err, ABUT_E_NUMERIC, "the parts that tear apart cannot be parted without touching or inversion");
    if (rc) {
        abut_arrays_clear(new_model);
        abut_arrays_clear(new_frame);
    }
    cells_clear(&w.c);
    free(w.no_bend);
    free(w.copy);
    free(w.draw);
    return rc;
}
