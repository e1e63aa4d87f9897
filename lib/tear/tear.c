/* Stretches beyond the limit, and the model and frame without the elements that have them. */
#include "tear/tear.h"

#include "base/arena.h"
#include "base/order.h"
#include "contact/intersect.h"
#include "energy/codim.h"
#include "energy/elastic.h"
#include "math/svd3.h"
#include "math/vec3.h"
#include "mesh/surface.h"
#include "model/naming.h"
#include "model/tets.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How far the fans of a node draw back, as a fraction of the distance to the middle of their elements. */
#define DRAW 1e-2
enum { DRAWS = 4 };     /* then a tenth of it, and so on */

/* of a spring or a rod */
static double segment_stretch(const int32_t *node, double length, const double *x)
{
    return abut_v3_norm(abut_v3_sub(abut_v3_get(x + 3 * (size_t)node[0]), abut_v3_get(x + 3 * (size_t)node[1]))) / length;
}

abut_status abut_tear_find(const abut_model *m, const double *x, double limit, uint8_t *gone, abut_torn *torn, abut_err *err)
{
    assert(torn);
    abut_elastic e = { 0 };
    abut_codim thin = { 0 };
    *torn = (abut_torn){ 0 };
    abut_status rc = abut_linear_tets(m, "tearing", err);
    if (!rc) rc = abut_elastic_init(&e, m, err);
    if (!rc) rc = abut_codim_init(&thin, m, err);
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
    abut_codim_clear(&thin);
    return rc;
}

/* ---- cells and fans ----
 *
 * The elements of a torn model as cells, and its nodes split where those that remain no longer hold together.  Cells have up to
 * four corners: tets first, then triangles; those are shells, or the contact triangles of a model that has neither tets nor
 * shells.  At a node the cells that stay form fans: tets joined by faces, others by edges. */

typedef struct cells {
    int32_t n, nt;          /* all; tets among them */
    int32_t *node;          /* [4 n] -1 unused; as they were */
    int32_t *now;           /* [4 n] the same with copies */
    uint8_t *gone;          /* [n] */
    uint8_t *touched;       /* [nv] by one that is gone */
    uint8_t *kept;          /* [nv] is never split */
    int32_t *first, *inc;   /* [nv + 1] cells at each node: inc[first[i] .. first[i + 1]) */
} cells;

typedef struct tearing {
    const abut_model *m;
    const uint8_t *gone;    /* as in abut_tear_find */
    const uint8_t *no_rod;  /* [nrd] its rods */
    uint8_t *no_bend;       /* [nbd] bends that go with them */
    cells c;
    int32_t ncopies, cap;
    struct tear_copy {
        int32_t from;       /* node it was */
        double share;       /* of the mass */
    } *copy;
    double *draw;           /* [3 (nv + copies)] m, where a part of a node draws to, from the node */
} tearing;

/* Whether some corner of a contact triangle, v[3] vertices, is of a body. */
static int is_simulated(const abut_model *m, const int32_t *v)
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
static int torn_between(const tearing *w, int32_t a, int32_t b)
{
    const abut_model *m = w->m;
    for (int32_t s = 0; s < m->nsp; s++) {
        if (w->gone[m->nt + m->nsh + s] && joins(m->spring + 2 * (size_t)s, a, b)) return 1;
    }
    return 0;
}

static abut_status allocate(tearing *w, size_t most, abut_err *err)
{
    const abut_model *m = w->m;
    cells *c = &w->c;
    const size_t nv = (size_t)m->nv + 1;
    if (ABUT_ARRAYS(ABUT_ITEMS(c->node, 4 * most), ABUT_ITEMS(c->now, 4 * most), ABUT_ZEROS(c->gone, most),
                    ABUT_ZEROS(c->touched, nv), ABUT_ZEROS(c->kept, nv), ABUT_ZEROS(c->first, nv + 1),
                    ABUT_ITEMS(c->inc, 4 * most), ABUT_ZEROS(w->no_bend, (size_t)m->nbd + 1), ABUT_ZEROS(w->draw, 3 * nv)))
        return ABUT_OK;
    return abut_fail(err, ABUT_E_NOMEM, "tearing: %zu elements, %d nodes", most, m->nv);
}

static void list_tets_and_shells(tearing *w)
{
    const abut_model *m = w->m;
    cells *c = &w->c;
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
static void list_contact_triangles(tearing *w, uint8_t *at_end, int32_t *triangles)
{
    const abut_model *m = w->m;
    cells *c = &w->c;
    for (int32_t s = 0; s < m->nsp; s++)
        if (w->gone[m->nt + m->nsh + s]) at_end[m->spring[2 * s]] = at_end[m->spring[2 * s + 1]] = 1;
    for (int32_t t = 0; t < m->nct; t++) {
        const int32_t *v = m->coll_tri + 3 * (size_t)t;
        if (!is_simulated(m, v)) continue;
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
static void index_cells(cells *c, int32_t nv)
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
static void mark_bends(tearing *w)
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

/* The cells of a model, every node whole.  gone: as abut_tear_find has it, stays; *triangles counts contact triangles that
 * go with springs.
 * Fails  ABUT_E_NOMEM; w is then to be cleared all the same */
static abut_status tearing_init(tearing *w, const abut_model *m, const uint8_t *gone, int32_t *triangles, abut_err *err)
{
    assert(m);
    *w = (tearing){ .m = m, .gone = gone, .no_rod = gone + m->nt + m->nsh + m->nsp };
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

static void tearing_clear(tearing *w)
{
    ABUT_FREE(w->c.node, w->c.now, w->c.gone, w->c.touched, w->c.kept, w->c.first, w->c.inc, w->no_bend, w->copy, w->draw);
    *w = (tearing){ 0 };
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

static double rest_volume(const tearing *w, int32_t cell)
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
static void add_draw(const tearing *w, const double *x, int32_t cell, int32_t from, double *sum)
{
    const int32_t *v = w->c.node + 4 * (size_t)cell;
    const int n = v[3] < 0 ? 3 : 4;
    for (int k = 0; k < n; k++)
        for (int d = 0; d < 3; d++) sum[d] += (x[3 * (size_t)v[k] + (size_t)d] - x[3 * (size_t)from + (size_t)d]) / n;
}

static abut_status add_copy(tearing *w, int32_t from, double share, int32_t *node, abut_err *err)
{
    if (w->ncopies == w->cap) {
        const int32_t cap = 2 * w->cap + 64;
        struct tear_copy *copy = realloc(w->copy, (size_t)cap * sizeof *copy);
        if (copy) w->copy = copy;
        double *draw = realloc(w->draw, 3 * ((size_t)w->m->nv + (size_t)cap) * sizeof *draw);
        if (draw) w->draw = draw;
        if (!copy || !draw) return abut_fail(err, ABUT_E_NOMEM, "tearing: %d copies", cap);
        w->cap = cap;
    }
    w->copy[w->ncopies] = (struct tear_copy){ from, share };
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

static abut_status split_node(tearing *w, const double *x, int32_t i, abut_err *err)
{
    enum { MOST = 512 };
    cells *c = &w->c;
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

/* Splits the nodes of what is removed at x[3 nv]: the first fan keeps the node, each other one gets a copy with the share of the
 * mass that its cells have of the rest volume (or area) there.  w->draw: from each part to the middle of its cells.
 * Fails  ABUT_E_FORMAT a node has more than 512 cells (names it); ABUT_E_NOMEM */
static abut_status tearing_split(tearing *w, const double *x, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i < w->m->nv && !rc; i++)
        if (w->c.touched[i] && !w->c.kept[i]) rc = split_node(w, x, i, err);
    return rc;
}

/* ---- arrays of the torn model and of its frame ---- */

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

/* Copies all arrays but those of contact, hinges, parts, friction and the step: rows of node/ go to copies too, and of a model
 * (not of a frame) those of elements stay with them. */
static abut_status copy_arrays(const tearing *w, const abut_arrays *from, int is_frame, abut_arrays *to, abut_err *err)
{
    const abut_model *m = w->m;
    const struct { const char *prefix; int32_t n; const uint8_t *gone; } family[] = {
        { "tet/", m->nt, w->gone }, { "shell/", m->nsh, w->gone + m->nt }, { "spring/", m->nsp, w->gone + m->nt + m->nsh },
        { "rod/curvature", m->nbd, w->no_bend }, { "rod/twist", m->nbd, w->no_bend },   /* before the others of rods */
        { "rod/", m->nrd, w->no_rod }, { "bend/", m->nbd, w->no_bend }
    };
    static const char *const dropped[] = {
        "part/", "contact/node", "contact/edge", "contact/triangle", "hinge/", "lag/", "pass/", "step/", "touch/"
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
        for (size_t f = 0; f < sizeof family / sizeof *family && !done; f++) {
            if (is_frame && strcmp(a->name, "rod/frame")) break;
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

/* Elements of `set` by their new corners; hinges of `old` as far as they hold. */
static abut_status put_elements(const tearing *w, const abut_arrays *old, abut_arrays *set, abut_err *err)
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
    ABUT_FREE(rows, node);
    return rc;
}

/* Shares the impulses of hard contact in a frame, where there are any, in the parts of the mass. */
static void share_impulse(const tearing *w, abut_arrays *frame)
{
    const abut_array *a = abut_arrays_find(frame, "node/contact-impulse");
    double *impulse = a ? a->data : NULL;
    for (int32_t k = 0; k < w->ncopies && impulse; k++)
        for (int d = 0; d < 3; d++) {
            double *copy = impulse + 3 * (w->m->nv + k) + d, *left = impulse + 3 * w->copy[k].from + d;
            *copy = w->copy[k].share * *copy;
            *left -= *copy;
        }
}

/* A copy has its part of the mass of the node that it was. */
static void put_mass(const tearing *w, abut_arrays *set)
{
    double *mass = abut_arrays_find(set, "node/mass")->data;
    for (int32_t k = 0; k < w->ncopies; k++) {
        const double part = w->copy[k].share * w->m->mass[w->copy[k].from];
        mass[w->m->nv + k] = part;
        mass[w->copy[k].from] -= part;
    }
}

/* ---- the contact surface ---- */

/* Lists of the new contact surface, by nodes. */
typedef struct surface {
    int32_t *tri, *edge, *seg, ntri, nedge, nseg;
} surface;

/* Edges by nodes, a < b, ascending. */
typedef struct edges {
    int32_t *node, n;
} edges;

static int has_edge(const edges *e, int32_t a, int32_t b)
{
    const int32_t key[2] = { a < b ? a : b, a < b ? b : a };
    return e->n && bsearch(key, e->node, (size_t)e->n, 2 * sizeof *key, abut_by_two);
}

/* Finds the contact edges that stay independently of triangles: remaining rods, and edges that are neither a side of a triangle
 * nor a rod, such as segments of obstacles. */
static abut_status find_segments(const tearing *w, surface *s, abut_err *err)
{
    const abut_model *m = w->m;
    int32_t *tri = malloc((3 * (size_t)m->nct + 1) * sizeof *tri), *rod = malloc((2 * (size_t)m->nrd + 1) * sizeof *rod);
    edges stay = { 0 }, other = { 0 };
    int32_t n = 0, from_end = m->nrd;
    s->seg = malloc((2 * (size_t)m->nce + 1) * sizeof *s->seg);
    abut_status rc = tri && rod && s->seg ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "tearing: %d contact edges", m->nce);
    for (int32_t i = 0; i < 3 * m->nct && !rc; i++) tri[i] = abut_model_contact_node(m, m->coll_tri[i]);
    for (int32_t r = 0; r < m->nrd && !rc; r++)     /* those that stay, then those that go */
        memcpy(rod + 2 * (size_t)(w->no_rod[r] ? --from_end : n++), m->rod + 2 * (size_t)r, 2 * sizeof *rod);
    if (!rc) rc = abut_surface_edges(NULL, 0, rod, n, &stay.node, &stay.n, err);
    if (!rc) rc = abut_surface_edges(tri, m->nct, rod + 2 * (size_t)n, m->nrd - n, &other.node, &other.n, err);
    for (int32_t e = 0; e < m->nce && !rc; e++) {
        const int32_t *v = m->coll_edge + 2 * (size_t)e;
        const int32_t a = abut_model_contact_node(m, v[0]), b = abut_model_contact_node(m, v[1]);
        if (!has_edge(&stay, a, b) && has_edge(&other, a, b)) continue;
        s->seg[2 * s->nseg] = a;
        s->seg[2 * s->nseg++ + 1] = b;
    }
    ABUT_FREE(tri, rod, stay.node, other.node);
    return rc;
}

static abut_status find_surface(const tearing *w, surface *s, abut_err *err)
{
    const abut_model *m = w->m;
    const cells *c = &w->c;
    int32_t *tet = malloc((4 * (size_t)c->nt + 1) * sizeof *tet), *outer = NULL, n = 0, nouter = 0;
    abut_status rc = tet ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "tearing: surface");
    for (int32_t t = 0; t < c->nt && !rc; t++)
        if (!c->gone[t]) memcpy(tet + 4 * (size_t)n++, c->now + 4 * (size_t)t, 4 * sizeof *tet);
    if (!rc) rc = abut_surface_triangles(tet, n, &outer, &nouter, err);
    s->tri = rc ? NULL : malloc(3 * ((size_t)nouter + (size_t)c->n + (size_t)m->nct + 1) * sizeof *s->tri);
    if (!rc && !s->tri) rc = abut_fail(err, ABUT_E_NOMEM, "tearing: surface");
    if (!rc) {
        memcpy(s->tri, outer, 3 * (size_t)nouter * sizeof *s->tri);
        s->ntri = nouter;
        for (int32_t t = c->nt; t < c->n; t++)
            if (!c->gone[t]) memcpy(s->tri + 3 * (size_t)s->ntri++, c->now + 4 * (size_t)t, 3 * sizeof *s->tri);
        for (int32_t t = 0; t < m->nct; t++) {
            const int32_t *v = m->coll_tri + 3 * (size_t)t;
            if (is_simulated(m, v)) continue;
            for (int k = 0; k < 3; k++) s->tri[3 * (size_t)s->ntri + (size_t)k] = abut_model_contact_node(m, v[k]);
            s->ntri++;
        }
    }
    if (!rc) rc = find_segments(w, s, err);
    if (!rc) rc = abut_surface_edges(s->tri, s->ntri, s->seg, s->nseg, &s->edge, &s->nedge, err);
    ABUT_FREE(tet, outer);
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

/* contact/node, contact/edge and contact/triangle: the boundary of the tets, shells or triangles of springs, rods, and what no
 * tear changes: obstacles and points.  None where contact is off. */
static abut_status put_surface(const tearing *w, abut_arrays *set, abut_err *err)
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
            if (!in_old[i]) vertex[abut_model_contact_node(m, i)] = 1;        /* points */
        for (int32_t i = 0; i < nv; i++)
            if (vertex[i]) vertex[i] = nc, node[nc++] = i;
        rc = put_index(set, "contact/node", node, 1, nc, NULL, err);
        if (!rc) rc = put_index(set, "contact/edge", s.edge, 2, s.nedge, vertex, err);
        if (!rc) rc = put_index(set, "contact/triangle", s.tri, 3, s.ntri, vertex, err);
    }
    ABUT_FREE(s.tri, s.edge, s.seg, vertex, node, in_old);
    return rc;
}

/* ---- all of it ---- */

/* Draws the fans apart by a fraction of their draws; 0 when something then touches or is inverted. */
static abut_status part_fans(const tearing *w, double share, const abut_arrays *model, abut_arrays *frame,
                             int *free_of_contact, abut_err *err)
{
    abut_model m;
    abut_collmesh cm = { 0 };
    abut_intersection hit;
    size_t found = 0;
    double *x = abut_arrays_find(frame, "node/x")->data, *y = NULL;
    abut_status rc = abut_model_view(model, &m, err);
    if (!rc) rc = abut_collmesh_init(&cm, &m, err);
    if (rc) return rc;
    for (int32_t i = 0; i < 3 * m.nv; i++) x[i] += share * w->draw[i];
    y = malloc((3 * (size_t)m.nc + 1) * sizeof *y);
    if (!y) rc = abut_fail(err, ABUT_E_NOMEM, "tearing: %d vertices", m.nc);
    if (!rc) abut_collmesh_positions(&cm, x, y);
    if (!rc) rc = abut_intersections_find(&cm, y, cm.obstacle, 1, &hit, &found, err);
    *free_of_contact = !rc && !found && abut_inverted_find(&m, x, 1) < 0;
    for (int32_t i = 0; i < 3 * m.nv && !*free_of_contact; i++) x[i] -= share * w->draw[i];
    abut_collmesh_clear(&cm);
    free(y);
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
    if (m.map_first)
        return abut_fail(err, ABUT_E_FORMAT, "tearing: the contact surface is a map of nodes (array 'contact/map-first'), "
                         "expected nodes themselves ('contact/node')");
    tearing w;
    rc = tearing_init(&w, &m, gone, &torn->triangles, err);
    if (!rc) rc = tearing_split(&w, f.x, err);
    torn->copies = w.ncopies;
    abut_arrays_clear(new_model);
    abut_arrays_clear(new_frame);
    if (!rc) rc = copy_arrays(&w, model, 0, new_model, err);
    if (!rc) rc = put_elements(&w, model, new_model, err);
    if (!rc) rc = put_surface(&w, new_model, err);
    if (!rc) rc = copy_arrays(&w, frame, 1, new_frame, err);
    if (!rc) put_mass(&w, new_model);
    if (!rc) share_impulse(&w, new_frame);
    int apart = 0;
    double share = DRAW;
    for (int k = 0; k < DRAWS && !rc && !apart; k++, share /= 10) rc = part_fans(&w, share, new_model, new_frame, &apart, err);
    if (!rc && !apart)
        rc = abut_fail(err, ABUT_E_NUMERIC, "the parts that tear apart cannot be parted without touching or inversion");
    if (rc) {
        abut_arrays_clear(new_model);
        abut_arrays_clear(new_frame);
    }
    tearing_clear(&w);
    return rc;
}
