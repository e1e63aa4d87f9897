/* The judge of thickness: planted violations and near misses of every kind, and contact of all dimensions against plain loops. */
#include "base/par.h"
#include "check.h"
#include "judge/judge.h"
#include "contact/step_bound.h"
#include "thicket.h"

/* A grain and, in turn, what it comes near to: a grain, a rod, a triangle (upside down too: what it is nearest to may be any
 * feature), a half-space; two rods. */
enum { GRAIN_GRAIN, GRAIN_ROD, GRAIN_FACE, GRAIN_SIDE, ROD_ROD, GRAIN_PLANE, CASES };
enum { NV = 11 };

typedef struct scene {
    double x0[3 * NV], x1[3 * NV], thick[2];
    int32_t node[NV], body[NV], role[NV];
    abut_model m;
    abut_judge_shape shape;
} scene;

/* grain 0 of object 0, everything else of object 1; all far apart */
static void scene_make(scene *s, double xi0, double xi1, int plane)
{
    static const double rest[3 * NV] = { 0, 0, 50, 0, 9,   0,  1,  20,  0,  2,  20, 0,    0, 30, 0,    1, 30,
                                         0, 0, 31, 0, 1.5, 40, 20, 1.5, 41, 20, 1,  40.5, 0, 2,  40.5, 0 };
    static const int32_t edge[] = { 2, 3, 4, 5, 4, 6, 5, 6, 7, 8, 9, 10 }, tri[] = { 4, 5, 6 };
    static const double point[] = { 0, 0, -7 }, normal[] = { 0, 0, 1 };
    memset(s, 0, sizeof *s);
    memcpy(s->x0, rest, sizeof rest);
    memcpy(s->x1, rest, sizeof rest);
    s->thick[0] = xi0, s->thick[1] = xi1;
    for (int i = 0; i < NV; i++) s->node[i] = i, s->body[i] = i > 0 && i != 7 && i != 8;
    s->m = (abut_model){ .nv = NV, .nc = NV, .nce = 6, .nct = 1, .no = 2, .nh = plane, .coll_node = s->node, .coll_edge = edge,
                         .coll_tri = tri, .body = s->body, .role = s->role, .obj_thick = s->thick, .hs_point = point,
                         .hs_normal = normal };
    CHECK(!abut_judge_shape_model(&s->shape, &s->m, NULL));
}

/* The first thing at height z above the other, along the axis on which numbers are exact: at rest (how 0), falling from
 * above (1), gliding past at that height (2). */
static void place(scene *s, int what, int how, double z)
{
    static const double at[CASES][3] = { { 0, 9, 0 },    { 1.25, 20, 0 },  { 0.25, 30.25, 0 },
                                         { 0.5, 30, 0 }, { 1.5, 40.5, 0 }, { 5, 5, -7 } };
    const double *a = at[what];
    for (int i = 0; i < 2; i++) {
        double *x = i ? s->x1 : s->x0;
        const double h = how == 1 && !i ? 3 : z, glide = how == 2 ? (i ? 0.75 : -0.75) : 0;
        if (what == ROD_ROD) {
            for (int k = 0; k < 2; k++)
                x[21 + 3 * k] = a[0] + 0.5 * glide, x[22 + 3 * k] = a[1] + (k ? 0.5 : -0.5), x[23 + 3 * k] = a[2] + h;
        } else if (what == GRAIN_SIDE) {    /* beside the triangle, in its plane */
            x[0] = a[0] + 0.5 * glide, x[1] = a[1] - h, x[2] = a[2];
        } else if (what == GRAIN_PLANE) {
            x[0] = a[0] + glide, x[1] = a[1], x[2] = a[2] + h;
        } else {
            x[0] = a[0], x[1] = a[1] + glide, x[2] = a[2] + h;
        }
    }
}

TEST(violations_of_1e_minus_8_are_found_and_near_misses_of_1e_minus_13_are_none)
{
    /* the pair's thickness is 1.2e-4 m, of which 1e-13 is one part in 1e9 */
    const double base = 0x1p-13;
    static const abut_hit_kind kind[CASES] = { ABUT_HIT_POINT_POINT, ABUT_HIT_POINT_EDGE, ABUT_HIT_POINT_TRI, ABUT_HIT_POINT_TRI,
                                               ABUT_HIT_EDGE_EDGE, ABUT_HIT_PLANE };
    for (int what = 0; what < CASES; what++)
        for (int how = 0; how < 3; how++)
            for (int off = -3; off <= 3; off++) {
                static const double by[] = { -1e-8, -1e-13, -1e-14, 0, 1e-14, 1e-13, 1e-8 };
                /* a coordinate of 30 or 7 has an ulp of 4e-15 or 9e-16 */
                const int coarse = what == GRAIN_SIDE || what == GRAIN_PLANE;
                const double xi = base, beyond = by[off + 3] * (coarse && abs(off) < 3 ? 10 : 1);
                if (coarse && off == 0) continue;
                scene s;
                abut_hits h = { 0 };
                const abut_judge_opts o = abut_judge_defaults();
                scene_make(&s, what == GRAIN_PLANE ? 2 * base : 0.5 * base, 1.5 * base, what == GRAIN_PLANE);
                place(&s, what, how, xi + beyond);
                CHECK(!abut_judge_motion(&s.shape, s.x0, s.x1, &o, &h, NULL));
                /* at the thickness itself they collide */
                const int want = beyond <= 0;
                CHECK((h.n > 0) == want);
                if ((h.n > 0) != want) printf("# case %d, motion %d, %g beyond %g: %zu hits\n", what, how, beyond, xi, h.n);
                const int later = how == 1 || (how == 2 && what <= GRAIN_FACE);
                size_t of_kind = 0;
                for (size_t k = 0; k < h.n; k++) of_kind += h.hit[k].kind == kind[what];
                CHECK((of_kind > 0) == want && (!h.n || later == (h.hit[0].t_lo > 0)));
                if (h.n && how == 1) CHECK(h.hit[0].t_lo > 0.9999 && h.hit[0].t_hi <= 1);
                h.n = 0;
                CHECK(!abut_judge_near(&s.shape, s.x1, &o, &h, NULL));
                if (how != 2) CHECK((h.n > 0) == want);
                abut_judge_gap g;
                CHECK(!abut_judge_smallest_gap(&s.shape, s.x1, 1e-3, &o, &g, NULL));
                if (how != 2) CHECK_NEAR(g.gap, beyond, coarse ? 8e-15 : 1e-19 + 3e-16 * xi);
                if (how != 2) CHECK(g.at.kind == kind[what] || what == GRAIN_SIDE);
                /* asked for touching alone there is nothing; and with a number, that is it for all pairs */
                abut_judge_opts touch = o, wide = o;
                touch.min_sep = 0, wide.min_sep = 2e-4;
                CHECK(!abut_judge_motion(&s.shape, s.x0, s.x1, &touch, &h, NULL) && h.n == 0);
                CHECK(!abut_judge_motion(&s.shape, s.x0, s.x1, &wide, &h, NULL) && h.n > 0);
                abut_hits_clear(&h);
                abut_judge_shape_clear(&s.shape);
            }
}

TEST(conservative_methods_find_every_violation_too)
{
    for (int what = 0; what < GRAIN_PLANE; what++)
        for (int how = 0; how < 3; how++)
            for (abut_judge_method method = ABUT_JUDGE_TIGHT; method <= ABUT_JUDGE_ADDITIVE; method++) {
                scene s;
                abut_hits h = { 0 };
                abut_judge_opts o = abut_judge_defaults();
                o.method = method;
                scene_make(&s, 0.5e-4, 1.5e-4, 0);
                place(&s, what, how, 1e-4 - 1e-8);
                CHECK(!abut_judge_motion(&s.shape, s.x0, s.x1, &o, &h, NULL) && h.n > 0);
                place(&s, what, how, 1e-2);
                CHECK(!abut_judge_motion(&s.shape, s.x0, s.x1, &o, &h, NULL) && h.n == 0);
                abut_hits_clear(&h);
                abut_judge_shape_clear(&s.shape);
            }
}

static void between(const thicket *t, double at, double *y)
{
    for (int i = 0; i < 3 * t->model.nc; i++) y[i] = t->X[i] + at * (t->y1[i] - t->X[i]);
}

TEST(the_judge_agrees_with_the_step_bound_and_with_sampled_gaps)
{
    double y[3 * THICKET_MAX];
    int clean = 0, bad = 0;
    for (uint64_t seed = 100; seed < 112; seed++) {
        thicket t;
        abut_judge_shape shape;
        abut_candidates c = { 0 };
        abut_hits h = { 0 };
        abut_judge_gap g;
        abut_limit lim = { .alpha = 1 };
        const abut_judge_opts o = abut_judge_defaults();
        thicket_make(&t, seed, 0.005, 0.03, 0.06, 0.01, 0.005, 0.06);
        CHECK(!abut_judge_shape_model(&shape, &t.model, NULL));
        CHECK(!abut_judge_smallest_gap(&shape, t.X, 0.5, &o, &g, NULL));
        CHECK_NEAR(g.gap, thicket_gap(&t, t.X, 1), 1e-14);
        CHECK(!abut_candidates_find(&t.cm, t.X, t.y1, 0, t.fixed, &c, NULL) &&
              !abut_limit_ccd(&t.cm, &c, t.X, t.y1, 0.1, &lim, NULL));
        between(&t, lim.alpha, y);
        CHECK(!abut_judge_motion(&shape, t.X, y, &o, &h, NULL) && h.n == 0);
        clean += h.n == 0 && lim.alpha < 1;
        /* further: what samples show to be too near is reported, at the latest then */
        double first = 2;
        for (int k = 0; k <= 50; k++) {
            between(&t, 0.02 * k, y);
            if (thicket_gap(&t, y, 1) <= 0 && first > 1) first = 0.02 * k;
        }
        CHECK(!abut_judge_motion(&shape, t.X, t.y1, &o, &h, NULL));
        if (first <= 1) CHECK(h.n > 0 && h.hit[0].t_lo <= first && h.hit[0].t_hi >= lim.alpha);
        bad += first <= 1;
        if (h.n) {      /* and at the time it says, the gap is 0 */
            between(&t, h.hit[0].t_lo, y);
            CHECK_NEAR(thicket_gap(&t, y, 1), 0, 1e-12);
        }
        abut_hits_clear(&h);
        abut_candidates_clear(&c);
        abut_judge_shape_clear(&shape);
        abut_collmesh_clear(&t.cm);
    }
    CHECK(clean > 3 && bad > 3);
}

SETUP
{
    abut_threads_set(2);
}

/* A rod of two edges folds at its middle node: no two of its edges are a pair, its end and the other edge are. */
TEST(the_end_of_a_rod_keeps_its_thickness_from_the_edge_before)
{
    static const int32_t node[3] = { 0, 1, 2 }, edge[4] = { 0, 1, 1, 2 }, body[3] = { 0 }, role[3] = { 0 };
    static const double thick[1] = { 0.125 };
    const double far = 0.125 + 1e-8, near = 0.125 - 1e-8;
    const abut_model m = { .nv = 3, .nc = 3, .nce = 2, .no = 1, .coll_node = node, .coll_edge = edge, .body = body, .role = role,
                           .obj_thick = thick };
    abut_judge_shape shape;
    abut_hits hits = { 0 };
    const abut_judge_opts opts = abut_judge_defaults();
    CHECK(!abut_judge_shape_model(&shape, &m, NULL));
    for (int end = 0; end < 2; end++)           /* the last edge folds onto the first, or the first onto the last */
        for (int k = 0; k < 2; k++) {
            const double h = k ? near : far;
            double x0[9] = { 0, 0, 0, 1, 0, 0, 2, 0, 0 }, x1[9] = { 0, 0, 0, 1, 0, 0, 2, 0, 0 };
            double *folded = x1 + (end ? 0 : 6), *open = x0 + (end ? 0 : 6);
            folded[0] = open[0] = end ? 1.5 : 0.5;
            folded[1] = h, open[1] = 1;
            CHECK(!abut_judge_motion(&shape, x0, x1, &opts, &hits, NULL));
            CHECK(hits.n == (size_t)k);
            if (k && hits.n) CHECK(hits.hit[0].kind == ABUT_HIT_POINT_EDGE && hits.hit[0].node[0] == (end ? 0 : 2));
            hits.n = 0;
            CHECK(!abut_judge_near(&shape, x1, &opts, &hits, NULL));
            CHECK(hits.n == (size_t)k);
            abut_judge_gap least;
            CHECK(!abut_judge_smallest_gap(&shape, x1, 1, &opts, &least, NULL));
            CHECK_NEAR(least.gap, h - 0.125, 1e-15);
        }
    abut_hits_clear(&hits);
    abut_judge_shape_clear(&shape);
}
