/* Pairs of moving primitives against plain loops over all of them, at sampled times and by plain boxes. */
#include "base/par.h"
#include "base/rng.h"
#include "check.h"
#include "geom/broad_phase.h"
#include "geom/dist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Distributions of primitives: one crowd; far outliers and one huge primitive; all in one place; moving together, far from the
 * origin; so small that squares underflow. */
enum shape { CROWD, OUTLIERS, HEAP, CONVOY, SPECKS, N_SHAPE };

enum { PRIMS = 90, MOST = 4 * PRIMS };

struct world {
    int ka, kb;
    int32_t nv, va[3 * PRIMS], vb[3 * PRIMS];
    double y0[3 * MOST], y1[3 * MOST], xi[MOST], size;
    uint8_t fixed[MOST];
    abut_prims a, b;
};

static void prim_place(abut_rng *r, struct world *w, enum shape shape, int32_t first, int k, int huge)
{
    const double far = shape == OUTLIERS && huge ? 40 : 1, spread = shape == HEAP ? 0.01 : 4;
    double at[3], by[3];
    for (int d = 0; d < 3; d++) {
        at[d] = w->size * (far * spread * abut_rng_real(r, -1, 1) + (shape == CONVOY ? 1e6 : 0));
        by[d] = w->size * abut_rng_real(r, -0.5, 0.5) * (shape == CONVOY ? 0.1 : 1);
        if (shape == CONVOY) by[d] += 300 * w->size;
    }
    for (int32_t v = first; v < first + k; v++)
        for (int d = 0; d < 3; d++) {
            w->y0[3 * v + d] = at[d] + w->size * far * abut_rng_real(r, -0.5, 0.5);
            w->y1[3 * v + d] = w->y0[3 * v + d] + by[d] + 0.1 * w->size * abut_rng_real(r, -1, 1);
        }
}

/* Primitives of ka and of kb vertices, those of a side of one thickness; some share vertices, some vertices are fixed. */
static void world_make(struct world *w, abut_rng *r, enum shape shape, int ka, int kb)
{
    *w = (struct world){ .ka = ka, .kb = kb, .size = shape == SPECKS ? 1e-17 : 1 };
    for (int32_t i = 0; i < PRIMS; i++)
        for (int side = 0; side < 2; side++) {
            const int k = side ? kb : ka;
            int32_t *v = side ? w->vb + k * i : w->va + k * i;
            prim_place(r, w, shape, w->nv, k, i == 7);
            for (int c = 0; c < k; c++) {
                w->xi[w->nv] = side ? 0.07 * w->size : 0.02 * w->size;
                w->fixed[w->nv] = abut_rng_below(r, 3) == 0;
                v[c] = w->nv++;
            }
            if (i % 5 == 4) v[0] = (side ? w->vb : w->va)[abut_rng_below(r, (uint32_t)(k * i))];
        }
    w->a = (abut_prims){ PRIMS, ka, w->va };
    w->b = (abut_prims){ PRIMS, kb, w->vb };
}

static abut_motion world_motion(const struct world *w, int round)
{
    return (abut_motion){ .nv = (size_t)w->nv, .y0 = w->y0, .y1 = round % 4 == 3 ? NULL : w->y1, .reach = 0.1 * w->size,
                          .xi = round & 1 ? w->xi : NULL, .fixed = round & 2 ? w->fixed : NULL };
}

static abut_stencil stencil(int ka, int kb)
{
    return ka == 2 ? ABUT_EE : kb == 3 ? ABUT_PT : kb == 2 ? ABUT_PE : ABUT_PP;
}

static double pair_distance(const abut_motion *m, const int32_t *a, int ka, const int32_t *b, int kb, double t)
{
    double x[12], d2;
    for (int i = 0; i < ka + kb; i++)
        for (int d = 0; d < 3; d++) {
            const size_t k = 3 * (size_t)(i < ka ? a[i] : b[i - ka]) + (size_t)d;
            x[3 * i + d] = m->y1 ? m->y0[k] + t * (m->y1[k] - m->y0[k]) : m->y0[k];
        }
    (void)abut_nearest(stencil(ka, kb), x, &d2);
    return sqrt(d2);
}

static int never_a_pair(const abut_motion *m, const int32_t *a, int ka, const int32_t *b, int kb)
{
    int shared = 0, still = m->fixed != NULL;
    for (int i = 0; i < ka; i++)
        for (int j = 0; j < kb; j++) shared |= a[i] == b[j];
    for (int i = 0; i < ka + kb && still; i++) still = m->fixed[i < ka ? a[i] : b[i - ka]] != 0;
    return shared || still;
}

/* Whether it comes within `reach` of the pair's thickness at one of some times. */
static int comes_close(const abut_motion *m, const int32_t *a, int ka, const int32_t *b, int kb)
{
    const double xi = m->xi ? 0.5 * (m->xi[a[0]] + m->xi[b[0]]) : 0;
    for (int t = 0; t <= 5; t++)
        if (pair_distance(m, a, ka, b, kb, t / 5.0) <= m->reach + xi) return 1;
    return 0;
}

/* Largest squared difference of a point of one and a point of the other, m^2. */
static double span2(const abut_box *a, const abut_box *b)
{
    double sum = 0;
    for (int d = 0; d < 3; d++) {
        const double most = fmax(a->hi[d] - b->lo[d], b->hi[d] - a->lo[d]);
        sum += most * most;
    }
    return sum;
}

/* By plain boxes: ways apart by more than rounding, or a gap wider than 1.6 times the way relative to each other. */
static int needs_no_pair(const struct world *w, const abut_motion *m, const int32_t *a, int ka, const int32_t *b, int kb)
{
    const double xi = m->xi ? 0.5 * (m->xi[a[0]] + m->xi[b[0]]) : 0, grow = m->reach + xi;
    const double coarse = 1e-5 * (w->size + fabs(m->y0[3 * a[0]]));
    double move[12];
    int32_t self[4] = { 0, 1, 2, 3 };
    for (int i = 0; i < 3 * (ka + kb); i++) {
        const size_t k = 3 * (size_t)(i < 3 * ka ? a[i / 3] : b[i / 3 - ka]) + (size_t)i % 3;
        move[i] = m->y1 ? m->y1[k] - m->y0[k] : 0;
    }
    const abut_box at = abut_box_of(m->y0, a, ka), bt = abut_box_of(m->y0, b, kb);
    const abut_box by[2] = { abut_box_of(move, self, ka), abut_box_of(move, self + ka, kb) };
    const abut_box way[2] = { abut_box_points(m->y0, m->y1, a, ka, 0), abut_box_points(m->y0, m->y1, b, kb, 0) };
    int apart = 0;
    for (int d = 0; d < 3; d++)
        apart |= way[0].lo[d] > way[1].hi[d] + grow + coarse || way[1].lo[d] > way[0].hi[d] + grow + coarse;
    const double gap = sqrt(abut_box_gap2(&at, &bt)) - sqrt(3) * (grow + coarse);
    return apart || (gap > 0 && gap > 1.6 * sqrt(span2(&by[0], &by[1])));
}

static int has(const abut_pair_list *l, int32_t i, int32_t j)
{
    for (size_t k = 0; k < l->n; k++)
        if (l->ij[k][0] == i && l->ij[k][1] == j) return 1;
    return 0;
}

static int is_sorted(const abut_pair_list *l)
{
    for (size_t k = 1; k < l->n; k++) {
        const int32_t *p = l->ij[k - 1], *q = l->ij[k];
        if (p[0] > q[0] || (p[0] == q[0] && p[1] >= q[1])) return 0;
    }
    return 1;
}

/* Counts what is wrong with a list; *close and *apart: pairs that must be there, that must not. */
static size_t wrong(const struct world *w, const abut_motion *m, int self, const abut_pair_list *l, size_t *close, size_t *apart)
{
    const abut_prims *b = self ? &w->a : &w->b;
    size_t bad = (size_t)!is_sorted(l);
    for (int32_t i = 0; i < PRIMS; i++)
        for (int32_t j = self ? i + 1 : 0; j < PRIMS; j++) {
            const int32_t *va = w->va + w->ka * i, *vb = b->vert + b->k * j;
            const int never = never_a_pair(m, va, w->ka, vb, b->k);
            if (!never && comes_close(m, va, w->ka, vb, b->k)) {
                ++*close;
                bad += !has(l, i, j);
            } else if (never || needs_no_pair(w, m, va, w->ka, vb, b->k)) {
                ++*apart;
                bad += (size_t)has(l, i, j);
            }
        }
    return bad;
}

static void drift(struct world *w, abut_rng *r, int round)
{
    const double far = (round % 5 == 4 ? 2 : 0.02) * w->size;
    for (int32_t i = 0; i < 3 * w->nv; i++) {
        w->y0[i] += far * abut_rng_real(r, -1, 1);
        w->y1[i] += far * abut_rng_real(r, -1, 1);
    }
    w->fixed[abut_rng_below(r, (uint32_t)w->nv)] ^= 1;
}

static int same_list(const abut_pair_list *a, const abut_pair_list *b)
{
    return a->n == b->n && (!a->n || !memcmp(a->ij, b->ij, a->n * sizeof *a->ij));
}

/* The pairs by kept trees are right and those that fresh trees give. */
static size_t round_check(const struct world *w, const abut_motion *m, int self, abut_broad_phase *of_kept, abut_broad_trees **ta,
                          abut_broad_trees **tb, size_t *close, size_t *apart)
{
    abut_broad_phase s = { .cap = 0 };
    abut_broad_trees *fa = NULL, *fb = NULL;
    abut_pair_list kept = { 0 }, fresh = { 0 };
    const abut_prims *b = self ? &w->a : &w->b;
    CHECK(!abut_broad_init(of_kept, m, NULL) && !abut_broad_init(&s, m, NULL));
    CHECK(!abut_broad_pairs(of_kept, &w->a, ta, b, self ? NULL : tb, &kept, NULL));
    CHECK(!abut_broad_pairs(&s, &w->a, &fa, b, self ? NULL : &fb, &fresh, NULL));
    const size_t bad = wrong(w, m, self, &kept, close, apart) + !same_list(&kept, &fresh);
    abut_pair_list_clear(&kept);
    abut_pair_list_clear(&fresh);
    abut_broad_trees_free(&fa);
    abut_broad_trees_free(&fb);
    abut_broad_clear(&s);
    return bad;
}

TEST(pairs_are_those_that_plain_loops_ask_for_whatever_the_trees_were)
{
    static const int kinds[][2] = { { 1, 3 }, { 2, 2 }, { 1, 2 }, { 1, 1 } };
    static const size_t least[] = { 50, 100, 20, 0 };
    static struct world w;
    abut_rng r = { 5 };
    size_t bad = 0, points = 0;
    for (int shape = 0; shape < N_SHAPE; shape++)
        for (int kind = 0; kind < 4; kind++)
            for (int self = 0; self < 2; self++) {
                size_t close = 0, apart = 0;
                abut_broad_phase s = { .cap = 0 };
                abut_broad_trees *ta = NULL, *tb = NULL;
                if (self && kinds[kind][0] != kinds[kind][1]) continue;
                world_make(&w, &r, (enum shape)shape, kinds[kind][0], kinds[kind][1]);
                for (int round = 0; round < 9; round++) {
                    const abut_motion m = world_motion(&w, round);
                    bad += round_check(&w, &m, self, &s, &ta, &tb, &close, &apart);
                    drift(&w, &r, round);
                }
                points += kind == 3 ? close : 0;
                CHECK(close >= least[kind] && apart > 50);
                abut_broad_trees_free(&ta);
                abut_broad_trees_free(&tb);
                abut_broad_clear(&s);
                CHECK(!ta && !tb);
            }
    CHECK(bad == 0 && points > 300);
}

TEST(a_pair_by_itself_is_found_where_the_search_finds_it_with_the_same_bound_on_rounding)
{
    static const int kinds[][2] = { { 1, 3 }, { 2, 2 }, { 1, 2 }, { 1, 1 } };
    static struct world w;
    abut_rng r = { 15 };
    size_t bad = 0, found = 0, left_out = 0;
    for (int shape = 0; shape < N_SHAPE; shape++)
        for (int kind = 0; kind < 4; kind++) {
            const int ka = kinds[kind][0], kb = kinds[kind][1];
            abut_broad_phase s = { .cap = 0 };
            abut_pair_list out = { 0 };
            world_make(&w, &r, (enum shape)shape, ka, kb);
            for (int round = 0; round < 5; round++) {
                abut_broad_trees *ta = NULL, *tb = NULL;
                abut_motion m = world_motion(&w, round);
                m.anywhere = round == 4;
                CHECK(!abut_broad_init(&s, &m, NULL) && !abut_broad_pairs(&s, &w.a, &ta, &w.b, &tb, &out, NULL));
                const double rounding = abut_broad_rounding_of(&m);
                CHECK(rounding == s.rounding && rounding > 0);
                for (int32_t i = 0; i < PRIMS; i++)
                    for (int32_t j = 0; j < PRIMS; j++) {
                        int32_t v[4];
                        memcpy(v, w.va + ka * i, (size_t)ka * sizeof *v), memcpy(v + ka, w.vb + kb * j, (size_t)kb * sizeof *v);
                        if (never_a_pair(&m, v, ka, v + ka, kb)) continue;
                        const int alone = abut_broad_finds(&m, rounding, ka, kb, v);
                        bad += alone != has(&out, i, j);
                        found += alone != 0, left_out += !alone;
                    }
                abut_broad_trees_free(&ta);
                abut_broad_trees_free(&tb);
            }
            abut_pair_list_clear(&out);
            abut_broad_clear(&s);
        }
    CHECK(!bad && found > 1000 && left_out > 10000);
}

/* Fixed vertices that stay where they are while searches of three kinds follow each other, and move now and then. */
TEST(boxes_of_fixed_vertices_that_are_kept_are_those_of_this_search)
{
    static struct world w;
    abut_rng r = { 9 };
    size_t bad = 0, close = 0, apart = 0, found = 0;
    for (int shape = 0; shape < N_SHAPE; shape++) {
        abut_broad_phase s = { .cap = 0 };
        abut_broad_trees *ta = NULL, *tb = NULL;
        world_make(&w, &r, (enum shape)shape, 1, 3);
        for (int32_t v = 0; v < w.nv; v++) w.fixed[v] = v % 6 < 4;
        for (int round = 0; round < 40; round++) {
            abut_motion m = world_motion(&w, 3);
            const int kind = (int)abut_rng_below(&r, round < 20 ? 2 : 3);
            m.reach *= 1 + kind;
            if (round % 3 == 0) m.y1 = w.y1;
            const size_t before = close;
            bad += round_check(&w, &m, 0, &s, &ta, &tb, &close, &apart);
            found += close > before;
            for (int32_t i = 0; i < 3 * w.nv; i++)
                if (!w.fixed[i / 3] || round % 8 == 7) w.y0[i] += 0.3 * w.size * abut_rng_real(&r, -1, 1);
        }
        abut_broad_trees_free(&ta);
        abut_broad_trees_free(&tb);
        abut_broad_clear(&s);
    }
    CHECK(bad == 0 && found > 100);
}

/* Reverses the order of items, and exchanges the two sets: other trees, other lanes. */
TEST(pairs_do_not_depend_on_the_order_of_items)
{
    static struct world w, v;
    abut_rng r = { 6 };
    size_t found = 0;
    for (int shape = 0; shape < N_SHAPE; shape++) {
        world_make(&w, &r, (enum shape)shape, 2, 2);
        v = w;
        for (int32_t i = 0; i < PRIMS; i++) memcpy(v.va + 2 * i, w.va + 2 * (PRIMS - 1 - i), 2 * sizeof *v.va);
        v.a.vert = v.va;
        abut_motion m = world_motion(&w, 1);
        abut_broad_phase s = { .cap = 0 };
        abut_broad_trees *t[3] = { NULL };
        abut_pair_list one = { 0 }, two = { 0 };
        CHECK(!abut_broad_init(&s, &m, NULL));
        CHECK(!abut_broad_pairs(&s, &w.a, &t[0], &w.a, NULL, &one, NULL));
        CHECK(!abut_broad_pairs(&s, &v.a, &t[1], &v.a, NULL, &two, NULL));
        CHECK(one.n == two.n && one.n > 20);
        for (size_t k = 0; k < one.n; k++) CHECK(has(&two, PRIMS - 1 - one.ij[k][1], PRIMS - 1 - one.ij[k][0]));
        CHECK(!abut_broad_pairs(&s, &w.a, &t[0], &w.b, &t[2], &one, NULL));
        CHECK(!abut_broad_pairs(&s, &w.b, &t[2], &w.a, &t[0], &two, NULL));
        CHECK(one.n == two.n);
        for (size_t k = 0; k < one.n; k++) CHECK(has(&two, one.ij[k][1], one.ij[k][0]));
        found += one.n;
        for (int k = 0; k < 3; k++) abut_broad_trees_free(&t[k]);
        abut_pair_list_clear(&one);
        abut_pair_list_clear(&two);
        abut_broad_clear(&s);
    }
    CHECK(found > 500);
}

TEST(huge_coordinates_do_no_harm)
{
    /* beyond what floats hold: two pairs that touch, one far from all */
    const double big = 1e300;
    const double y0[18] = { big, 0, 0, big, 1, 0, -big, -big, 0, -big, -big, 1e-3, 0, 0, 0, 0, 0, 1e-3 };
    const int32_t vert[6] = { 0, 1, 2, 3, 4, 5 };
    const abut_motion m = { .nv = 6, .y0 = y0, .reach = 2e-3 };
    const abut_prims p = { 6, 1, vert };
    abut_broad_phase s = { .cap = 0 };
    abut_broad_trees *t = NULL;
    abut_pair_list out = { 0 };
    CHECK(!abut_broad_init(&s, &m, NULL));
    CHECK(!abut_broad_pairs(&s, &p, &t, &p, NULL, &out, NULL));
    CHECK(has(&out, 2, 3) && has(&out, 4, 5) && !has(&out, 0, 4) && !has(&out, 0, 2));
    abut_broad_trees_free(&t);
    abut_pair_list_clear(&out);
    abut_broad_clear(&s);
}

TEST(a_vertex_beyond_what_floats_hold_leaves_pairs_with_fixed_ones)
{
    const double y0[18] = { 0, 0, 0, 0, 0, 1e-3, 5, 0, 0, 5, 0, 1e-3, 0, 1e40, 0, 9, 9, 9 };
    const uint8_t fixed[6] = { 0, 1, 0, 1, 0, 1 };
    const int32_t vert[6] = { 0, 1, 2, 3, 4, 5 };
    const abut_motion m = { .nv = 6, .y0 = y0, .fixed = fixed, .reach = 2e-3 };
    const abut_prims p = { 6, 1, vert };
    abut_broad_phase s = { .cap = 0 };
    abut_broad_trees *t = NULL;
    abut_pair_list out = { 0 };
    CHECK(!abut_broad_init(&s, &m, NULL));
    for (int again = 0; again < 2; again++) {
        CHECK(!abut_broad_pairs(&s, &p, &t, &p, NULL, &out, NULL));
        CHECK(has(&out, 0, 1) && has(&out, 2, 3) && !has(&out, 0, 3) && !has(&out, 0, 4));
    }
    abut_broad_trees_free(&t);
    abut_pair_list_clear(&out);
    abut_broad_clear(&s);
}

TEST(a_reach_beyond_what_floats_hold_pairs_all_with_all_and_nothing_with_unused_lanes)
{
    const double y0[15] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1 };
    const int32_t point[5] = { 0, 1, 2, 3, 4 }, tri[3] = { 0, 1, 2 };
    const abut_motion m = { .nv = 5, .y0 = y0, .reach = 1e300 };
    const abut_prims p = { 5, 1, point }, q = { 1, 3, tri };
    abut_broad_phase s = { .cap = 0 };
    abut_broad_trees *of_points = NULL, *of_triangles = NULL;
    abut_pair_list out = { 0 };
    CHECK(!abut_broad_init(&s, &m, NULL));
    CHECK(!abut_broad_pairs(&s, &p, &of_points, &p, NULL, &out, NULL));
    CHECK(out.n == 10 && has(&out, 0, 4) && has(&out, 2, 3));
    CHECK(!abut_broad_pairs(&s, &p, &of_points, &q, &of_triangles, &out, NULL));
    CHECK(out.n == 2 && has(&out, 3, 0) && has(&out, 4, 0));     /* the others are its corners */
    abut_broad_trees_free(&of_points);
    abut_broad_trees_free(&of_triangles);
    abut_pair_list_clear(&out);
    abut_broad_clear(&s);
}

SETUP
{
    abut_threads_set(2);
}
