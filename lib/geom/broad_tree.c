#include "geom/broad_tree.h"

#include "base/arena.h"
#include "base/rng.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* ---- the shape of a tree ---- */

#define TASK_ITEMS ((size_t)4096)   /* smaller ranges are not worth a task */
#define AXIS_SAMPLE ((size_t)16)    /* keys that choose the axis of a split */
#define PIVOTS 16                   /* keys that choose the pivot of a selection */

/* Axis along which the centres spread most, judged by a sample of them. */
static int widest_axis(const abut_key *k, size_t n)
{
    float lo[3] = { INFINITY, INFINITY, INFINITY }, hi[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (size_t i = 0; i < n; i += n / AXIS_SAMPLE + 1)
        for (int d = 0; d < 3; d++) {
            lo[d] = k[i].c[d] < lo[d] ? k[i].c[d] : lo[d];
            hi[d] = k[i].c[d] > hi[d] ? k[i].c[d] : hi[d];
        }
    int axis = 0;
    for (int d = 1; d < 3; d++)
        if (hi[d] - lo[d] > hi[axis] - lo[axis]) axis = d;
    return axis;
}

/* A value about which `want` of the n keys should lie: that rank of a random sample. */
static float pivot(const abut_key *k, size_t n, size_t want, int axis, abut_rng *rng)
{
    float v[PIVOTS];
    const size_t m = n < 32 * PIVOTS ? 3 : PIVOTS;
    for (size_t i = 0; i < m; i++) {
        const float c = k[abut_rng_below(rng, (uint32_t)n)].c[axis];
        size_t j = i;
        for (; j > 0 && v[j - 1] > c; j--) v[j] = v[j - 1];
        v[j] = c;
    }
    return v[want * m / n];
}

/* Reorders so that no key before `nth` is larger and none after it is smaller (Hoare's selection).  The samples have a
 * fixed seed: linear time for every order of the input, and the same result each time. */
static void select_nth(abut_key *k, size_t n, size_t nth, int axis)
{
    abut_rng rng = { n };
    ptrdiff_t lo = 0, hi = (ptrdiff_t)n - 1, want = (ptrdiff_t)nth;
    while (lo < hi) {
        const float p = pivot(k + lo, (size_t)(hi - lo + 1), (size_t)(want - lo), axis, &rng);
        ptrdiff_t i = lo, j = hi;
        while (i <= j) {
            while (k[i].c[axis] < p) i++;
            while (k[j].c[axis] > p) j--;
            if (i <= j) {
                const abut_key t = k[i];
                k[i++] = k[j];
                k[j--] = t;
            }
        }
        if (want <= j) hi = j;
        else if (want >= i) lo = i;
        else return;
    }
}

/* The left part takes the largest power of two of packs, so that 8 neighbours always are one subtree. */
static void order(abut_key *k, size_t n)
{
    while (n > ABUT_PACK) {
        const size_t packs = (n + ABUT_PACK - 1) / ABUT_PACK;
        size_t left = 1;
        while (2 * left < packs) left *= 2;
        const size_t cut = left * ABUT_PACK;
        select_nth(k, n, cut, widest_axis(k, n));
        #pragma omp task if (cut > TASK_ITEMS)
        order(k, cut);
        k += cut;
        n -= cut;
    }
}

static void levels_plan(abut_tree_shape *p)
{
    size_t children = p->n_pack;
    do {
        p->level[p->n_level++] = p->n_node;
        children = (children + ABUT_WIDE - 1) / ABUT_WIDE;
        p->n_node += children;
    } while (children > 1);
}

abut_status abut_tree_shape_build(abut_key *k, size_t n, abut_tree_shape *out, abut_err *err)
{
    abut_tree_shape *p = out;
    *p = (abut_tree_shape){ .n = n, .n_pack = (n + ABUT_PACK - 1) / ABUT_PACK };
    if (!n) return ABUT_OK;
    levels_plan(p);
    p->item = malloc(p->n_pack * sizeof *p->item);
    if (!p->item) return abut_fail(err, ABUT_E_NOMEM, "packs: no memory for %zu items", n);
    #pragma omp parallel if (n >= ABUT_PAR_MIN)
    {
        #pragma omp single
        order(k, n);
        #pragma omp for schedule(static)
        for (size_t i = 0; i < p->n_pack * ABUT_PACK; i++) p->item[i / ABUT_PACK][i % ABUT_PACK] = i < n ? k[i].id : -1;
    }
    return ABUT_OK;
}

void abut_tree_shape_clear(abut_tree_shape *p)
{
    free(p->item);
    *p = (abut_tree_shape){ 0 };
}

/* ---- boxes of vertices ---- */

#define INLINE static inline __attribute__((always_inline))

#define SOME 64             /* vertices rounded side by side */
#define LARGE 16            /* an item is large when its extent is beyond this many times the usual one */
#define SAMPLE ((size_t)127)
#define LOOSER 1.25         /* than they were made: trees whose packs are so are rebuilt */

/* ---- boxes of vertices ---- */

/* box[n]: of n <= SOME vertices from the first-th on; returns the largest coordinate. */
ABUT_SIMD
static double some_fill(const abut_motion *m, size_t first, size_t n, float (*box)[ABUT_ROWS])
{
    const double *p = m->y0 + 3 * first, *q = m->y1 ? m->y1 + 3 * first : p, *z = m->y2 ? m->y2 + 3 * first : NULL;
    double row[6][SOME], pad[SOME], big = 0;
    float out[6][SOME];
    for (size_t i = 0; i < n; i++) pad[i] = 0.5 * m->reach + (m->xi ? 0.5 * m->xi[first + i] : 0);
    for (int d = 0; d < 3; d++) {
        for (size_t i = 0; i < n; i++) {
            double one[6];
            abut_broad_vertex_rows(p[3 * i + (size_t)d], q[3 * i + (size_t)d], pad[i], one);
            for (int k = 0; k < 6; k++) row[k][i] = one[k];
            if (z) {
                abut_broad_vertex_rows(p[3 * i + (size_t)d], z[3 * i + (size_t)d], pad[i], one);
                for (int k = 0; k < 6; k++) one[k] = row[k][i] = abut_min(one[k], row[k][i]);
            }
            big = abut_max(big, abut_max(fabs(one[4]), fabs(one[5])));
        }
        for (int k = 0; k < 6; k++) {
            #pragma omp simd
            for (size_t i = 0; i < n; i++) out[k][i] = abut_broad_below(row[k][i]);
            for (size_t i = 0; i < n; i++) box[i][3 * k + d] = out[k][i];
        }
    }
    return big;
}

/* ---- boxes of still vertices ---- */

/* Whether s has the boxes of all n fixed vertices. */
static int still_is(const abut_broad_still *s, const abut_broad_phase *a, size_t n)
{
    if (!s->stamp || s->n != n) return 0;
    for (size_t i = 0, k = 0; k < n; i++)
        if (a->m.fixed[i] && memcmp(s->box[k++], a->box[i], sizeof *a->box)) return 0;
    return 1;
}

static abut_status still_keep(abut_broad_still *s, abut_broad_phase *a, size_t n, abut_err *err)
{
    if (s->n != n || !s->box) {
        free(s->box);
        *s = (abut_broad_still){ .box = malloc(n * sizeof *s->box), .n = n };
        if (!s->box) return abut_fail(err, ABUT_E_NOMEM, "pair search: no memory for %zu boxes", n);
    }
    for (size_t i = 0, k = 0; k < n; i++)
        if (a->m.fixed[i]) memcpy(s->box[k++], a->box[i], sizeof *a->box);
    s->stamp = ++a->stamps;
    return ABUT_OK;
}

/* Moves the present boxes of fixed vertices to the front of those kept; new boxes replace the last ones. */
static abut_status still_find(abut_broad_phase *a, abut_err *err)
{
    size_t n = 0, at = 0;
    for (size_t i = 0; a->m.fixed && i < a->m.nv; i++) n += a->m.fixed[i] != 0;
    if (!n) return ABUT_OK;
    while (at < ABUT_BROAD_STILLS && !still_is(&a->still[at], a, n)) at++;
    const int is_new = at == ABUT_BROAD_STILLS;
    const size_t from = is_new ? at - 1 : at;
    const abut_broad_still found = a->still[from];
    memmove(a->still + 1, a->still, from * sizeof *a->still);
    a->still[0] = found;
    return is_new ? still_keep(&a->still[0], a, n, err) : ABUT_OK;
}

abut_status abut_broad_init(abut_broad_phase *a, const abut_motion *m, abut_err *err)
{
    assert(m);
    if (m->nv > a->cap) {
        free(a->box);
        a->cap = m->nv;
        a->box = malloc(m->nv * sizeof *a->box);
        if (!a->box) return abut_broad_clear(a), abut_fail(err, ABUT_E_NOMEM, "pair search: no memory for %zu boxes", m->nv);
    }
    a->m = *m;
    double most = 0;
    #pragma omp parallel for schedule(static) reduction(max : most) if (m->nv >= ABUT_PAR_MIN)
    for (size_t b = 0; b < (m->nv + SOME - 1) / SOME; b++) {
        const size_t left = m->nv - b * SOME, n = left < SOME ? left : SOME;
        if (m->changed && !memchr(m->changed + b * SOME, 1, n)) continue;
        most = abut_max(most, some_fill(m, b * SOME, n, a->box + b * SOME));
    }
    const double rounding = abut_broad_rounding(most);
    a->rounding = m->changed ? abut_max(a->rounding, rounding) : rounding;
    return still_find(a, err);
}

/* Largest coordinate of the boxes of n vertices, as some_fill returns it. */
ABUT_SIMD
static double some_largest(const abut_motion *m, size_t first, size_t n)
{
    const double *p = m->y0 + 3 * first, *q = m->y1 ? m->y1 + 3 * first : p;
    double big = 0;
    for (size_t i = 0; i < 3 * n; i++) {
        double one[6];
        abut_broad_vertex_rows(p[i], q[i], 0.5 * m->reach + (m->xi ? 0.5 * m->xi[first + i / 3] : 0), one);
        big = abut_max(big, abut_max(fabs(one[4]), fabs(one[5])));
    }
    return big;
}

double abut_broad_rounding_of(const abut_motion *m)
{
    double most = 0;
    assert(!m->y2);
    #pragma omp parallel for schedule(static) reduction(max : most) if (m->nv >= ABUT_PAR_MIN)
    for (size_t b = 0; b < (m->nv + SOME - 1) / SOME; b++) {
        const size_t left = m->nv - b * SOME;
        most = abut_max(most, some_largest(m, b * SOME, left < SOME ? left : SOME));
    }
    return abut_broad_rounding(most);
}

int abut_broad_finds(const abut_motion *m, double rounding, int ka, int kb, const int32_t *v)
{
    float box[2][ABUT_ROWS], one[1][ABUT_ROWS];
    double p[12];
    assert(ka + kb <= 4);
    for (int i = 0; i < ka + kb; i++) {
        float *of = box[i >= ka];
        (void)some_fill(m, (size_t)v[i], 1, one);
        if (i == 0 || i == ka) memcpy(of, one[0], sizeof one[0]);
        else abut_broad_rows_min(of, one[0]);
        memcpy(p + 3 * i, m->y0 + 3 * (size_t)v[i], 3 * sizeof *p);
    }
    for (int r = 0; r < ABUT_ROWS; r++) box[1][r] = -box[1][r];
    if (!abut_broad_paths_meet(box[0], 1, 0, box[1])) return 0;
    const double times = m->anywhere ? INFINITY : ABUT_BROAD_TIMES;
    const float gap2 = abut_broad_gap2(box[0], 1, 0, box[1]), span2 = abut_broad_span2(box[0], 1, 0, box[1]);
    if (abut_broad_far(gap2, span2, abut_broad_times2(times))) return 0;
    const double xi = m->xi ? 0.5 * (m->xi[v[0]] + m->xi[v[ka]]) : 0;
    const double need = abut_broad_need(m->reach, xi, rounding, abut_broad_times(times), span2);
    return !abut_broad_apart(abut_broad_slab(ka, kb, p, 1, 0), need);
}

void abut_broad_clear(abut_broad_phase *a)
{
    free(a->box);
    for (int i = 0; i < ABUT_BROAD_STILLS; i++) free(a->still[i].box);
    *a = (abut_broad_phase){ .stamps = a->stamps };
}

/* ---- trees ---- */

/* Largest extent at the start. */
static float extent(const float *box)
{
    float e = 0;
    for (int d = 0; d < 3; d++) e = fmaxf(e, -box[ABUT_AT_HI + d] - box[ABUT_AT_LO + d]);
    return e;
}

static int compare_floats(const void *p, const void *q)
{
    const float a = *(const float *)p, b = *(const float *)q;
    return (a > b) - (a < b);
}

/* LARGE times the median extent of a sample. */
static float large_extent(const abut_broad_phase *s, const abut_prims *p)
{
    float e[SAMPLE], box[ABUT_ROWS];
    const size_t stride = p->n / SAMPLE + 1;
    size_t m = 0;
    for (size_t i = 0; i < p->n; i += stride) {
        abut_broad_prim_box(s, p->vert + (size_t)p->k * i, p->k, box);
        e[m++] = extent(box);
    }
    qsort(e, m, sizeof *e, compare_floats);
    return LARGE * e[m / 2];
}

static void tree_clear(struct tree *t, int owns_packs)
{
    if (owns_packs) abut_tree_shape_clear(&t->packs);
    ABUT_FREE(t->pack, t->query, t->node, t->slack, t->cells);
    *t = (struct tree){ .pack = NULL };
}

void abut_broad_trees_free(abut_broad_trees **trees)
{
    if (!*trees) return;
    for (int q = 0; q < ABUT_SORTS; q++) tree_clear(&(*trees)->tree[q], 1), tree_clear(&(*trees)->other[q], 0);
    ABUT_FREE((*trees)->fixed, *trees);
    *trees = NULL;
}

/* Writes the constant part of packs: their primitives and the vertices of these. */
static void packs_name(const abut_prims *p, struct tree *t)
{
    #pragma omp parallel for schedule(static) if (t->packs.n >= ABUT_PAR_MIN)
    for (size_t i = 0; i < t->packs.n_pack; i++) {
        struct pack *pack = &t->pack[i];
        memcpy(pack->item, t->packs.item[i], sizeof pack->item);
        for (int l = 0; l < ABUT_PACK; l++)
            for (int k = 0; k < 3; k++)
                pack->vert[k][l] = k < p->k && pack->item[l] >= 0 ? p->vert[p->k * pack->item[l] + k] : -1;
    }
}

/* Allocates boxes and writes the primitives of packs. */
static abut_status tree_make(const abut_prims *p, struct tree *t, abut_err *err)
{
    const size_t packs = t->packs.n_pack;
    if (!ABUT_ARRAYS(ABUT_ITEMS(t->pack, packs), ABUT_ITEMS(t->query, packs), ABUT_ITEMS(t->node, t->packs.n_node),
                     ABUT_ITEMS(t->slack, packs)))
        return abut_fail(err, ABUT_E_NOMEM, "pair search: no memory for a tree of %zu items", t->packs.n);
    packs_name(p, t);
    return ABUT_OK;
}

static abut_status tree_build(const abut_prims *p, abut_key *key, size_t n, struct tree *t, abut_err *err)
{
    if (!n) return ABUT_OK;
    const abut_status rc = abut_tree_shape_build(key, n, &t->packs, err);
    return rc ? rc : tree_make(p, t, err);
}

/* Keys and sorts of all primitives. */
static void keys_fill(const abut_broad_phase *s, const abut_prims *p, abut_key *key, uint8_t *sort)
{
    const float large = large_extent(s, p);
    #pragma omp parallel for schedule(static) if (p->n >= ABUT_PAR_MIN)
    for (size_t i = 0; i < p->n; i++) {
        const int32_t *v = p->vert + (size_t)p->k * i;
        float box[ABUT_ROWS];
        int still = s->m.fixed != NULL;
        abut_broad_prim_box(s, v, p->k, box);
        for (int k = 0; k < p->k && still; k++) still = s->m.fixed[v[k]] != 0;
        sort[i] = (uint8_t)((still ? ABUT_STILL : ABUT_MOVING) + (extent(box) > large));
        key[i].id = (int32_t)i;
        for (int d = 0; d < 3; d++) key[i].c[d] = 0.5f * box[ABUT_AT_LO + d] - 0.5f * box[ABUT_AT_HI + d];
    }
}

static abut_status trees_build(const abut_broad_phase *s, const abut_prims *p, abut_broad_trees **out, abut_err *err)
{
    abut_broad_trees *f = *out = calloc(1, sizeof *f);
    abut_key *key = malloc(p->n * sizeof *key), *some = malloc(p->n * sizeof *some);
    uint8_t *sort = malloc(p->n), *fixed = s->m.fixed ? malloc(s->m.nv + 1) : NULL;
    abut_status rc = ABUT_OK;
    if (f) *f = (abut_broad_trees){ .n = p->n, .nv = s->m.nv, .fixed = fixed };
    if (!f || !key || !some || !sort || (s->m.fixed && !fixed)) {
        rc = abut_fail(err, ABUT_E_NOMEM, "pair search: no memory for %zu items", p->n);
        if (!f) free(fixed);
        goto done;
    }
    if (fixed) memcpy(fixed, s->m.fixed, s->m.nv);
    keys_fill(s, p, key, sort);
    for (int q = 0; q < ABUT_SORTS && !rc; q++) {
        size_t n = 0;
        for (size_t i = 0; i < p->n; i++)
            if (sort[i] == q) some[n++] = key[i];
        rc = tree_build(p, some, n, &f->tree[q], err);
    }
done:
    if (rc) abut_broad_trees_free(out);
    ABUT_FREE(key, some, sort);
    return rc;
}

/* Sum over axes of the extent at the start. */
static double extents(const float *box)
{
    double e = 0;
    for (int d = 0; d < 3; d++) e -= (double)box[ABUT_AT_HI + d] + (double)box[ABUT_AT_LO + d];
    return e;
}

/* New boxes of the first n lanes.  Returns how loose the pack is. */
INLINE double pack_of_kind(const abut_broad_phase *s, int k, size_t n, struct pack *p, float query[ABUT_ROWS])
{
    float box[ABUT_ROWS], low[ABUT_ROWS], sum[ABUT_ROWS] = { 0 };
    for (int r = 0; r < ABUT_ROWS; r++) low[r] = INFINITY;
    for (size_t l = 0; l < n; l++) {
        const int32_t v[3] = { p->vert[0][l], p->vert[1][l], p->vert[2][l] };
        abut_broad_prim_box(s, v, k, box);
        abut_broad_rows_min(low, box);
        #pragma omp simd
        for (size_t r = 0; r < 8; r++) sum[r] += box[r];
        for (size_t r = 0; r < ABUT_ROWS; r++) p->f[r][l] = box[r];
    }
    for (size_t r = 0; r < ABUT_ROWS; r++)
        for (size_t l = n; l < ABUT_PACK; l++) p->f[r][l] = NAN;
    for (size_t r = 0; r < ABUT_ROWS; r++) query[r] = -low[r];
    const double items = extents(sum);
    return items > 0 ? extents(low) * (double)n / items : 1;
}

ABUT_SIMD
static double pack_fill(const abut_broad_phase *s, int k, size_t n, struct pack *p, float query[ABUT_ROWS])
{
    return k == 1 ? pack_of_kind(s, 1, n, p, query) : k == 2 ? pack_of_kind(s, 2, n, p, query) : pack_of_kind(s, 3, n, p, query);
}

/* Box of a node: unused lanes do not count. */
static void node_box(const struct node *node, float box[ABUT_ROWS])
{
    for (int r = 0; r < ABUT_ROWS; r++) {
        box[r] = INFINITY;
        for (int c = 0; c < ABUT_WIDE; c++) box[r] = abut_minf(node->f[r][c], box[r]);
    }
}

static void nodes_fill(struct tree *t)
{
    size_t children = t->packs.n_pack;
    for (int l = 0; l < t->packs.n_level; l++) {
        struct node *node = t->node + t->packs.level[l];
        const struct node *below = l ? t->node + t->packs.level[l - 1] : NULL;
        const size_t up = (children + ABUT_WIDE - 1) / ABUT_WIDE;
        #pragma omp parallel for schedule(static) if (up >= 64)
        for (size_t i = 0; i < up; i++)
            for (size_t c = 0; c < ABUT_WIDE; c++) {
                float box[ABUT_ROWS];
                const size_t child = ABUT_WIDE * i + c;
                if (child < children && l) node_box(&below[child], box);
                for (int r = 0; r < ABUT_ROWS; r++)
                    node[i].f[r][c] = child >= children ? NAN : l ? box[r] : -t->query[child][r];
            }
        children = up;
    }
}

static int has_changed(const uint8_t *changed, int k, size_t n, const struct pack *p)
{
    int any = 0;
    for (int i = 0; i < k; i++)
        for (size_t l = 0; l < n; l++) any |= changed[p->vert[i][l]];
    return any;
}

/* Computes the boxes of all packs, or of packs with vertices among `changed`; packs keep their primitives.  Returns the mean
 * looseness of packs. */
static double tree_fit(const abut_broad_phase *s, int k, struct tree *t, const uint8_t *changed)
{
    const size_t n = t->packs.n, n_pack = t->packs.n_pack;
    #pragma omp parallel for schedule(static) if (n >= ABUT_PAR_MIN)
    for (size_t p = 0; p < n_pack; p++) {
        const size_t left = n - p * ABUT_PACK, lanes = left < ABUT_PACK ? left : ABUT_PACK;
        if (!changed || has_changed(changed, k, lanes, &t->pack[p]))
            t->slack[p] = pack_fill(s, k, lanes, &t->pack[p], t->query[p]);
    }
    nodes_fill(t);
    return abut_sum(t->slack, n_pack) / (double)n_pack;
}

static int has_boxes(const struct tree *t, uint64_t stamp) { return stamp && t->stamp == stamp; }

/* Boxes of a still tree: boxes of the tree or of its other if valid, else new boxes in place of those no longer kept. */
static abut_status still_fit(const abut_broad_phase *s, const abut_prims *p, struct tree *t, struct tree *other, double *fit,
                             abut_err *err)
{
    const uint64_t now = s->still[0].stamp;
    if (!has_boxes(t, now) && (has_boxes(other, now) || has_boxes(t, s->still[1].stamp))) {
        const struct tree was = *t;
        *t = *other;
        *other = was;
        if (!t->pack) {
            *t = (struct tree){ .packs = was.packs, .made = was.made };
            const abut_status rc = tree_make(p, t, err);
            if (rc) return rc;
        }
    }
    if (!has_boxes(t, now)) t->fit = tree_fit(s, p->k, t, NULL);
    t->stamp = now;
    *fit = t->fit;
    return ABUT_OK;
}

/* Boxes of all trees, or with `changed` of its vertices alone; *good: they are about as tight as when the trees were made. */
static abut_status trees_fit(const abut_broad_phase *s, const abut_prims *p, const uint8_t *changed, abut_broad_trees *f,
                             int *good, abut_err *err)
{
    *good = 1;
    for (int q = 0; q < ABUT_SORTS && *good; q++) {
        struct tree *t = &f->tree[q];
        double fit = 1;
        if (!t->packs.n) continue;
        if (q >= ABUT_STILL) {
            const abut_status rc = still_fit(s, p, t, &f->other[q], &fit, err);
            if (rc) return rc;
        } else {
            fit = tree_fit(s, p->k, t, changed);
        }
        if (!(t->made > 0)) t->made = fmax(1, fit);
        *good = !(fit > LOOSER * t->made);     /* coordinates beyond single precision give NaN */
    }
    return ABUT_OK;
}

/* Adds the cells c of a part, or of parts. */
static void cells_join(struct pack_cells *to, const struct pack_cells *c)
{
    for (int d = 0; d < 2; d++) {
        to->low[d] = c->low[d] < to->low[d] ? c->low[d] : to->low[d];
        to->high[d] = c->high[d] > to->high[d] ? c->high[d] : to->high[d];
    }
    to->part = to->part == c->part || to->part == INT32_MAX ? c->part : -1;
    to->kept |= c->kept;
}

/* The cells of each pack of moving primitives, then of each node. */
static abut_status cells_find(const abut_quiet *q, int k, struct tree *t, abut_err *err)
{
    if (t->cells || !t->packs.n) return ABUT_OK;
    const struct pack_cells none = { { INT32_MAX, INT32_MAX }, { -1, -1 }, INT32_MAX, 0 };
    size_t below = 0, children = t->packs.n_pack;
    t->cells = malloc((t->packs.n_pack + t->packs.n_node) * sizeof *t->cells);
    if (!t->cells) return abut_fail(err, ABUT_E_NOMEM, "pair search: no memory for cells of %zu packs", t->packs.n_pack);
    for (size_t p = 0; p < t->packs.n_pack; p++) {
        const struct pack *pack = &t->pack[p];
        struct pack_cells c = none;
        for (int l = 0; l < ABUT_PACK && pack->item[l] >= 0; l++) {
            for (int i = 0; i < k; i++) {
                const int32_t v = pack->vert[i][l], *at = q->cell[v];
                cells_join(&c, &(struct pack_cells){ { at[0], at[1] }, { at[0], at[1] }, at[0] < 0 ? -1 : q->part[v], 0 });
            }
            if (k == 2) c.kept |= (uint32_t)q->kept[pack->item[l]] << l;
        }
        t->cells[p] = c;
    }
    for (int level = 0; level < t->packs.n_level; level++) {
        const size_t at = t->packs.n_pack + t->packs.level[level], up = (children + ABUT_WIDE - 1) / ABUT_WIDE;
        for (size_t i = 0; i < up; i++) t->cells[at + i] = none;
        for (size_t i = 0; i < children; i++) cells_join(&t->cells[at + i / ABUT_WIDE], &t->cells[below + i]);
        below = at, children = up;
    }
    return ABUT_OK;
}

/* Made of primitives as many, and moving where these do. */
static int trees_serve(const abut_broad_phase *s, const abut_prims *p, const abut_broad_trees *f)
{
    if (f->n != p->n || f->nv != s->m.nv || !f->fixed != !s->m.fixed) return 0;
    return !f->fixed || !memcmp(f->fixed, s->m.fixed, f->nv);
}

abut_status abut_broad_trees_of(const abut_broad_phase *s, const abut_prims *p, abut_broad_trees **f, abut_err *err)
{
    assert(p);
    int good = *f && trees_serve(s, p, *f);
    abut_status rc = good ? trees_fit(s, p, s->m.changed, *f, &good, err) : ABUT_OK;
    if (!rc && !good) {
        abut_broad_trees_free(f);
        rc = trees_build(s, p, f, err);
        if (!rc) rc = trees_fit(s, p, NULL, *f, &good, err);
    }
    for (int q = 0; q < ABUT_STILL && s->m.quiet && !rc; q++) rc = cells_find(s->m.quiet, p->k, &(*f)->tree[q], err);
    if (rc) abut_broad_trees_free(f);
    return rc;
}
