#include "base/par.h"
#include "check.h"
#include "contact/candidates.h"
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

TEST(culling_leaves_what_a_search_along_the_shorter_motion_finds)
{
    for (uint64_t seed = 0; seed < 4; seed++) {
        sheets s = sheets_make(seed, 5, 12, 0.05, 0.5, 0.2);
        CHECK(sheets_init(&s));
        const uint8_t *fixed = seed & 1 ? s.fixed : NULL;
        abut_candidates c = { 0 }, want = { 0 };
        CHECK(!abut_candidates_find(&s.cm, s.X, s.y1, 0.02, fixed, &c, NULL));
        const size_t before = c.ee.n;
        for (int32_t i = 0; i < 3 * s.cm.nc; i++) s.y1[i] = s.X[i] + 0.1 * (s.y1[i] - s.X[i]);
        CHECK(!abut_candidates_cull(&s.cm, s.X, s.y1, 0.02, &c, NULL));
        CHECK(!abut_candidates_find(&s.cm, s.X, s.y1, 0.02, fixed, &want, NULL));
        CHECK(c.ee.n > 0 && c.ee.n < before / 2);
        CHECK(c.vt.n == want.vt.n && !memcmp(c.vt.ij, want.vt.ij, c.vt.n * sizeof *c.vt.ij));
        CHECK(c.ee.n == want.ee.n && !memcmp(c.ee.ij, want.ee.ij, c.ee.n * sizeof *c.ee.ij));
        abut_candidates_clear(&c);
        abut_candidates_clear(&want);
        sheets_free(&s);
    }
}

static int same_list(const abut_pair_list *a, const abut_pair_list *b)
{
    return a->n == b->n && (!a->n || !memcmp(a->ij, b->ij, a->n * sizeof *a->ij));
}

TEST(a_wide_search_serves_later_motions_with_what_a_search_of_their_own_finds)
{
    for (uint64_t seed = 0; seed < 4; seed++) {
        sheets s = sheets_make(seed, 5, 12, 0.05, 0.5, 0.2);
        CHECK(sheets_init(&s));
        const size_t n3 = 3 * (size_t)s.cm.nc;
        const uint8_t *fixed = seed & 1 ? s.fixed : NULL;
        double *y0 = malloc(n3 * sizeof *y0), *y1 = malloc(n3 * sizeof *y1);
        memcpy(y0, s.X, n3 * sizeof *y0);
        abut_nearby near = { 0 };
        abut_candidates c = { 0 }, want = { 0 };
        size_t pairs = 0;
        /* a walk of shrinking motions that go on from one another; 4: at rest; 5: from the very start; 6: far away */
        for (int k = 0; k < 7; k++) {
            for (size_t i = 0; i < n3; i++)
                y1[i] = y0[i] + (k == 6 ? 3 : pow(0.4, k)) * (s.y1[(i + 7 * (size_t)k) % n3] - s.X[(i + 7 * (size_t)k) % n3]);
            const double *from = k == 5 ? s.X : y0, *to = k == 4 ? NULL : y1;
            const double reach = k == 5 ? 0 : 0.02;
            CHECK(!abut_candidates_near(&s.cm, s.X, from, to, reach, fixed, &near, &c, NULL));
            CHECK(!abut_candidates_find(&s.cm, from, to, reach, fixed, &want, NULL));
            CHECK(same_list(&c.vt, &want.vt) && same_list(&c.ee, &want.ee));
            pairs += c.ee.n;
            if (k != 4) memcpy(y0, y1, n3 * sizeof *y0);
            if (k == 5) CHECK(near.searches < 6);
        }
        CHECK(near.searches >= 2 && pairs > 1000);
        abut_nearby_clear(&near);
        abut_candidates_clear(&c);
        abut_candidates_clear(&want);
        free(y0);
        free(y1);
        sheets_free(&s);
    }
}

TEST(directions_that_shrink_slowly_share_searches)
{
    sheets s = sheets_make(3, 5, 12, 0.05, 0.5, 0.2);
    CHECK(sheets_init(&s));
    const size_t n3 = 3 * (size_t)s.cm.nc;
    double *y0 = malloc(n3 * sizeof *y0), *y1 = malloc(n3 * sizeof *y1);
    memcpy(y0, s.X, n3 * sizeof *y0);
    abut_nearby near = { 0 };
    abut_candidates c = { 0 }, want = { 0 };
    for (int k = 0; k < 24; k++) {      /* each vertex goes another way each time */
        for (size_t i = 0; i < n3; i++) {
            const size_t of = (i + 7 * (size_t)k) % n3;
            y1[i] = y0[i] + 0.1 * pow(0.8, k) * (s.y1[of] - s.X[of]);
        }
        CHECK(!abut_candidates_near(&s.cm, s.X, y0, y1, 0.002, NULL, &near, &c, NULL));
        CHECK(!abut_candidates_find(&s.cm, y0, y1, 0.002, NULL, &want, NULL));
        CHECK(same_list(&c.vt, &want.vt) && same_list(&c.ee, &want.ee));
        memcpy(y0, y1, n3 * sizeof *y0);
    }
    CHECK(near.searches <= 10);
    abut_nearby_clear(&near);
    abut_candidates_clear(&c);
    abut_candidates_clear(&want);
    free(y0);
    free(y1);
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
    CHECK(abut_candidates_cull(&s.cm, s.X, s.y1, 0.02, &c, &err) == ABUT_E_GEOM && strstr(err.msg, "node 17"));
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
    abut_collmesh_gather(&cm, X, y);
    CHECK(cm.rest2[0] == 16 && y[0] == 1 && y[2] == 7 && y[5] == 3);
    abut_collmesh_clear(&cm);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    abut_threads_set(2);
    RUN(no_pair_within_reach_anywhere_along_the_motion_is_missed);
    RUN(culling_leaves_what_a_search_along_the_shorter_motion_finds);
    RUN(a_wide_search_serves_later_motions_with_what_a_search_of_their_own_finds);
    RUN(directions_that_shrink_slowly_share_searches);
    RUN(bytes_do_not_depend_on_the_thread_count);
    RUN(a_position_that_is_not_finite_is_named);
    RUN(the_collision_mesh_gathers_nodes_and_measures_rest_edges);
    return check_done();
}
