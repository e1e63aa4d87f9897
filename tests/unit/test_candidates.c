#include "base/par.h"
#include "check.h"
#include "contact/candidates.h"
#include "geom/ccd/ccd.h"
#include "geom/dist.h"
#include "sheets.h"

static int has(const abut_pair_list *l, int32_t i, int32_t j)
{
    size_t lo = 0, hi = l->n;
    while (lo < hi) {
        const size_t m = (lo + hi) / 2;
        if (l->ij[m][0] < i || (l->ij[m][0] == i && l->ij[m][1] < j)) lo = m + 1;
        else hi = m;
    }
    return lo < l->n && l->ij[lo][0] == i && l->ij[lo][1] == j;
}

/* Pairs within reach at instant t of the motion that the list lacks; *near counts all. */
static size_t missed(const sheets *s, const abut_candidates *c, double t, double reach, int use_fixed, size_t *near)
{
    size_t miss = 0;
    double *y = malloc(3 * (size_t)s->cm.nc * sizeof *y), x[12], d2;
    for (int32_t i = 0; i < 3 * s->cm.nc; i++) y[i] = s->X[i] + t * (s->y1[i] - s->X[i]);
    for (int ee = 0; ee < 2; ee++)
        for (int32_t i = 0; i < (ee ? s->cm.ne : s->cm.nc); i++)
            for (int32_t j = ee ? i + 1 : 0; j < (ee ? s->cm.ne : s->cm.nt); j++) {
                int32_t v[4];
                const int fixed = sheets_pair(s, ee, i, j, y, x, v);
                if (fixed < 0 || (use_fixed && fixed == 4)) continue;
                abut_nearest(ee ? ABUT_EE : ABUT_PT, x, &d2);
                if (d2 > reach * reach) continue;
                ++*near;
                miss += !has(ee ? &c->ee : &c->vt, i, j);
            }
    free(y);
    return miss;
}

/* Pairs that must not be there: a common vertex, or all four fixed. */
static size_t forbidden(const sheets *s, const abut_candidates *c, int use_fixed)
{
    size_t n = 0;
    double x[12];
    int32_t v[4];
    for (int ee = 0; ee < 2; ee++) {
        const abut_pair_list *l = ee ? &c->ee : &c->vt;
        for (size_t k = 0; k < l->n; k++) {
            const int fixed = sheets_pair(s, ee, l->ij[k][0], l->ij[k][1], s->X, x, v);
            n += fixed < 0 || (use_fixed && fixed == 4);
        }
    }
    return n;
}

TEST(no_pair_within_reach_anywhere_along_the_motion_is_missed)
{
    abut_candidates c = { 0 };
    size_t near = 0, all = 0;
    for (uint64_t seed = 0; seed < 6; seed++) {
        sheets s = sheets_make(seed, 4, 5, 0.06, 0.4 * (double)(seed % 3), 0.1);
        CHECK(sheets_init(&s));
        const int use_fixed = (int)(seed & 1);
        CHECK(!abut_candidates_find(&s.cm, s.X, s.y1, 0.05, use_fixed ? s.fixed : NULL, &c, NULL));
        for (int t = 0; t <= 4; t++) CHECK(missed(&s, &c, t / 4.0, 0.05, use_fixed, &near) == 0);
        CHECK(forbidden(&s, &c, use_fixed) == 0);
        CHECK(!abut_candidates_find(&s.cm, s.X, NULL, 0.05, use_fixed ? s.fixed : NULL, &c, NULL));
        CHECK(missed(&s, &c, 0, 0.05, use_fixed, &near) == 0);
        all += (size_t)s.cm.nc * (size_t)s.cm.nt + (size_t)s.cm.ne * (size_t)s.cm.ne / 2;
        CHECK(c.vt.n + c.ee.n < all / 2);
        sheets_free(&s);
    }
    CHECK(near > 10000);
    abut_candidates_clear(&c);
}

static int same_list(const abut_pair_list *a, const abut_pair_list *b)
{
    return a->n == b->n && (!a->n || !memcmp(a->ij, b->ij, a->n * sizeof *a->ij));
}

/* Turns all about the vertical through the middle and shifts it, much further than edges are long; y1's own motion is kept. */
static void carry_along(sheets *s, double angle)
{
    const double c = cos(angle) - 1, d = sin(angle);
    for (int32_t i = 0; i < s->cm.nc; i++) {
        const double *x = s->X + 3 * i, a = x[0] - 0.5, b = x[2] - 0.5;
        s->y1[3 * i] += c * a - d * b + 0.7;
        s->y1[3 * i + 1] += 0.3;
        s->y1[3 * i + 2] += d * a + c * b - 1.1;
    }
}

TEST(neighbours_that_move_alike_are_left_out_and_nothing_else)
{
    abut_candidates c = { 0 }, all = { 0 };
    size_t near = 0;
    for (uint64_t seed = 0; seed < 4; seed++) {
        sheets s = sheets_make(seed, 4, 8, 0.06, 0.2, 0.01);
        CHECK(sheets_init(&s));
        carry_along(&s, 0.1);
        CHECK(!abut_candidates_find(&s.cm, s.X, s.y1, 0.02, NULL, &c, NULL));
        CHECK(!abut_candidates_around(&s.cm, s.X, s.y1, 0.02, NULL, &all, NULL));
        for (int t = 0; t <= 4; t++) CHECK(missed(&s, &c, t / 4.0, 0.02, 0, &near) == 0);
        CHECK(20 * (c.vt.n + c.ee.n) < all.vt.n + all.ee.n);
        sheets_free(&s);
    }
    CHECK(near > 1000);
    abut_candidates_clear(&c);
    abut_candidates_clear(&all);
}

/* Box of the way of a primitive, grown by half of reach. */
static abut_box way(const sheets *s, const int32_t *v, int k, double reach)
{
    return abut_box_points(s->X, s->y1, v, k, 0.5 * reach);
}

/* Pairs whose ways come within reach though the list lacks them; of those *bounding would bound a step. */
static size_t left_out(const sheets *s, const abut_candidates *c, double reach, size_t *bounding)
{
    size_t n = 0;
    for (int ee = 0; ee < 2; ee++)
        for (int32_t i = 0; i < (ee ? s->cm.ne : s->cm.nc); i++)
            for (int32_t j = ee ? i + 1 : 0; j < (ee ? s->cm.ne : s->cm.nt); j++) {
                int32_t v[4];
                double x0[12], x1[12], toi;
                if (sheets_pair(s, ee, i, j, s->X, x0, v) < 0) continue;
                (void)sheets_pair(s, ee, i, j, s->y1, x1, v);
                const abut_box a = way(s, v, ee ? 2 : 1, reach), b = way(s, v + (ee ? 2 : 1), ee ? 2 : 3, reach);
                if (!abut_box_overlap(&a, &b) || has(ee ? &c->ee : &c->vt, i, j)) continue;
                n++;
                *bounding += abut_ccd_additive(ee ? ABUT_EE : ABUT_PT, x0, x1, 0, 0.2, 1, &toi) != ABUT_CCD_CLEAR;
            }
    return n;
}

TEST(what_is_left_out_would_bound_no_step)
{
    abut_candidates c = { 0 };
    size_t out = 0, bounding = 0;
    for (uint64_t seed = 0; seed < 6; seed++) {
        sheets s = sheets_make(seed, 3, 6, 0.08, 0.3, 0.02 * (double)(seed % 3 + 1));
        CHECK(sheets_init(&s));
        if (seed % 2) carry_along(&s, 0.05);
        CHECK(!abut_candidates_find(&s.cm, s.X, s.y1, 1e-3, NULL, &c, NULL));
        out += left_out(&s, &c, 1e-3, &bounding);
        sheets_free(&s);
    }
    CHECK(out > 10000 && bounding == 0);
    abut_candidates_clear(&c);
}

TEST(vertices_anywhere_in_the_boxes_of_their_ways_have_all_pairs_whose_boxes_overlap)
{
    abut_candidates c = { 0 };
    size_t bounding = 0;
    for (uint64_t seed = 0; seed < 4; seed++) {
        sheets s = sheets_make(seed, 3, 6, 0.08, 0.3, 0.2);
        CHECK(sheets_init(&s));
        carry_along(&s, 0.05);
        CHECK(!abut_candidates_around(&s.cm, s.X, s.y1, 0.02, NULL, &c, NULL) && c.ee.n > 1000);
        CHECK(left_out(&s, &c, 0.02, &bounding) == 0);
        sheets_free(&s);
    }
    abut_candidates_clear(&c);
}

SLOW_TEST(searches_that_share_trees_find_what_a_search_of_their_own_finds)
{
    for (uint64_t seed = 0; seed < 4; seed++) {
        sheets s = sheets_make(seed, 5, 12, 0.05, 0.5, 0.2);
        CHECK(sheets_init(&s));
        const size_t n3 = 3 * (size_t)s.cm.nc;
        double *y0 = malloc(n3 * sizeof *y0), *y1 = malloc(n3 * sizeof *y1);
        memcpy(y0, s.X, n3 * sizeof *y0);
        abut_candidate_search kept = { .nc = 0 };
        abut_candidates c = { 0 };
        size_t pairs = 0;
        /* a walk of shrinking motions that go on from one another; 4: at rest; 5: from the very start; 6: far away; 3, 6:
         * vertices are fixed that were not */
        for (int k = 0; k < 8; k++) {
            for (size_t i = 0; i < n3; i++)
                y1[i] = y0[i] + (k == 6 ? 3 : pow(0.4, k)) * (s.y1[(i + 7 * (size_t)k) % n3] - s.X[(i + 7 * (size_t)k) % n3]);
            const double *from = k == 5 ? s.X : y0, *to = k == 4 ? NULL : y1, reach = k == 5 ? 0 : 0.02;
            const uint8_t *fixed = k % 3 == 0 && k ? s.fixed : NULL;
            abut_candidates want = { 0 };
            CHECK(!abut_candidates_again(&s.cm, from, to, reach, fixed, &kept, &c, NULL));
            CHECK(!abut_candidates_find(&s.cm, from, to, reach, fixed, &want, NULL));
            CHECK(same_list(&c.vt, &want.vt) && same_list(&c.ee, &want.ee));
            pairs += c.ee.n;
            if (k != 4) memcpy(y0, y1, n3 * sizeof *y0);
            abut_candidates_clear(&want);
        }
        CHECK(pairs > 1000);
        abut_candidate_search_clear(&kept);
        abut_candidates_clear(&c);
        free(y0);
        free(y1);
        sheets_free(&s);
    }
}

/* How many pairs of a list have a vertex of an obstacle, or that it lacks of those of another list that do. */
static size_t with_obstacle(const sheets *s, abut_stencil kind, const abut_pair_list *all, const abut_pair_list *of)
{
    size_t n = 0;
    for (size_t k = 0; k < all->n; k++) {
        const int32_t *a, *b;
        (void)abut_candidate_first(&s->cm, kind, all->ij[k], &a);
        (void)abut_candidate_second(&s->cm, kind, all->ij[k], &b);
        n += (s->fixed[*a] || s->fixed[*b]) && (!of || !has(of, all->ij[k][0], all->ij[k][1]));
    }
    return n;
}

TEST(bodies_that_do_not_meet_have_the_pairs_with_obstacles_and_no_other)
{
    static const int32_t off = 0;
    sheets s = sheets_make(5, 6, 6, 0.03, 0.5, 0.1);
    int32_t *role = calloc((size_t)s.model.nc, sizeof *role);
    for (int32_t i = 0; i < s.model.nc; i++) role[i] = s.fixed[i] ? ABUT_NODE_OBSTACLE : ABUT_NODE_FREE;
    s.model.role = role;
    CHECK(sheets_init(&s));
    abut_candidates all = { 0 }, some = { 0 };
    CHECK(!abut_candidates_find(&s.cm, s.X, s.y1, 0.02, s.fixed, &all, NULL));
    s.model.bodies_meet = &off;
    CHECK(!abut_candidates_find(&s.cm, s.X, s.y1, 0.02, s.fixed, &some, NULL));
    for (int ee = 0; ee < 2; ee++) {
        const abut_stencil kind = ee ? ABUT_EE : ABUT_PT;
        const abut_pair_list *p = ee ? &all.ee : &all.vt, *q = ee ? &some.ee : &some.vt;
        CHECK(q->n > 100 && q->n < p->n);
        CHECK(with_obstacle(&s, kind, q, NULL) == q->n);    /* no other */
        CHECK(with_obstacle(&s, kind, p, q) == 0);          /* all of them */
    }
    abut_candidates_clear(&all);
    abut_candidates_clear(&some);
    sheets_free(&s);
    free(role);
}

TEST(the_same_motion_is_searched_once)
{
    sheets s = sheets_make(3, 3, 6, 0.05, 0.5, 0.1);
    CHECK(sheets_init(&s));
    abut_candidate_search kept = { .nc = 0 };
    abut_candidates c = { 0 };
    CHECK(!abut_candidates_again(&s.cm, s.X, s.y1, 0.02, NULL, &kept, &c, NULL) && c.ee.n > 100);
    const size_t n = c.ee.n;
    c.ee.n = 1;     /* a list that no search makes */
    CHECK(!abut_candidates_again(&s.cm, s.X, s.y1, 0.02, NULL, &kept, &c, NULL) && c.ee.n == 1);
    s.y1[4] = nextafter(s.y1[4], 9);
    CHECK(!abut_candidates_again(&s.cm, s.X, s.y1, 0.02, NULL, &kept, &c, NULL) && c.ee.n + 10 > n);
    c.ee.n = 1;
    CHECK(!abut_candidates_again(&s.cm, s.X, s.y1, 0.03, NULL, &kept, &c, NULL) && c.ee.n > 1);
    abut_candidate_search_clear(&kept);
    abut_candidates_clear(&c);
    sheets_free(&s);
}

TEST(a_search_is_given_up_where_there_are_too_many_pairs_and_nowhere_else)
{
    sheets s = sheets_make(5, 4, 24, 0.05, 0.5, 0.1);
    CHECK(sheets_init(&s));
    abut_candidates want = { 0 };
    CHECK(!abut_candidates_find(&s.cm, s.X, s.y1, 0.02, NULL, &want, NULL));
    const size_t n = abut_candidates_count(&want);
    CHECK(n > 5000);
    for (int threads = 1; threads <= 7; threads += 3) {
        abut_candidate_search kept = { .nc = 0 };
        abut_candidates c = { 0 };
        int too_many;
        abut_threads_set(threads);
        for (int trial = 0; trial < 3; trial++) {
            const size_t most = trial == 0 ? n : trial == 1 ? n - 1 : n / 10;
            CHECK(!abut_candidates_few(&s.cm, s.X, s.y1, 0.02, NULL, most, &kept, &c, &too_many, NULL));
            CHECK(too_many == (most < n));
            if (too_many) CHECK(abut_candidates_count(&c) == 0);
            else CHECK(same_list(&c.vt, &want.vt) && same_list(&c.ee, &want.ee));
        }
        abut_candidate_search_clear(&kept);
        abut_candidates_clear(&c);
    }
    abut_threads_set(1);
    abut_candidates_clear(&want);
    sheets_free(&s);
}

TEST(bytes_do_not_depend_on_the_thread_count)
{
    sheets s = sheets_make(7, 6, 20, 0.05, 0.5, 0.05);
    CHECK(sheets_init(&s));
    abut_candidates one = { 0 }, c = { 0 };
    abut_threads_set(1);
    CHECK(!abut_candidates_find(&s.cm, s.X, s.y1, 0.02, s.fixed, &one, NULL));
    for (int t = 2; t < 8; t += 5) {
        abut_threads_set(t);
        CHECK(!abut_candidates_find(&s.cm, s.X, s.y1, 0.02, s.fixed, &c, NULL));
        CHECK(c.vt.n == one.vt.n && !memcmp(c.vt.ij, one.vt.ij, c.vt.n * sizeof *c.vt.ij));
        CHECK(c.ee.n == one.ee.n && c.ee.n > 1000 && !memcmp(c.ee.ij, one.ee.ij, c.ee.n * sizeof *c.ee.ij));
    }
    abut_threads_set(2);
    abut_candidates_clear(&c);
    abut_candidates_clear(&one);
    sheets_free(&s);
}

TEST(a_position_that_is_not_finite_is_named)
{
    sheets s = sheets_make(8, 2, 4, 0.05, 0.5, 0.05);
    CHECK(sheets_init(&s));
    abut_candidates c = { 0 };
    abut_err err = { 0 };
    CHECK(!abut_candidates_find(&s.cm, s.X, s.y1, 0.02, NULL, &c, NULL));
    s.y1[3 * 17 + 1] = NAN;
    CHECK(abut_candidates_find(&s.cm, s.X, s.y1, 0.02, NULL, &c, &err) == ABUT_E_GEOM && strstr(err.msg, "node 17"));
    CHECK(c.vt.n == 0 && c.ee.n == 0);
    abut_candidates_clear(&c);
    sheets_free(&s);
}

TEST(the_collision_mesh_gathers_nodes_and_measures_rest_edges)
{
    const double X[12] = { 9, 9, 9, 1, 2, 3, 5, 5, 5, 1, 2, 7 };
    const int32_t node[2] = { 3, 1 }, edge[2] = { 0, 1 };
    const abut_model m = { .nv = 4, .nc = 2, .nce = 1, .X = X, .coll_node = node, .coll_edge = edge };
    abut_collmesh cm = { 0 };
    double y[6];
    CHECK(!abut_collmesh_init(&cm, &m, NULL));
    abut_collmesh_positions(&cm, X, y);
    CHECK(cm.rest2[0] == 16 && y[0] == 1 && y[2] == 7 && y[5] == 3);
    abut_collmesh_clear(&cm);
}

SETUP
{
    abut_threads_set(2);
}
