/* Candidates of many motions that begin at the same place, against a search of its own for each of them. */
#include "base/par.h"
#include "contact/candidates.h"
#include "sheets.h"
#include "thicket.h"

#include "check.h"

/* Every pair of a is in b; each further pair of b is one that a search for y1 does not find. */
static size_t wrong(const abut_collmesh *cm, const abut_pair_list *fresh, const abut_pair_list *wide, abut_stencil kind,
                    const abut_candidate_test *test)
{
    size_t i = 0, bad = 0;
    for (size_t k = 0; k < wide->n; k++) {
        const int same = i < fresh->n && !memcmp(fresh->ij[i], wide->ij[k], sizeof *fresh->ij);
        int32_t v[4];
        abut_candidate_vertices(cm, kind, wide->ij[k], v);
        i += (size_t)same;
        bad += abut_candidate_test_has(test, kind, v) != same;
        bad += k && (wide->ij[k][0] < wide->ij[k - 1][0] ||
                     (wide->ij[k][0] == wide->ij[k - 1][0] && wide->ij[k][1] <= wide->ij[k - 1][1]));
    }
    return bad + (fresh->n - i);
}

/* The next end: one vertex far away; or all a little further, a few of them or all much further. */
static void wander(abut_rng *r, size_t nc, const uint8_t *fixed, double little, double *y1)
{
    const uint32_t kind = abut_rng_below(r, 24), one = abut_rng_below(r, (uint32_t)nc);
    for (size_t d = 0; d < 3 && kind >= 3 && !fixed[one]; d++) y1[3 * one + d] += 40 * little * abut_rng_real(r, -1, 1);
    for (size_t v = 0; v < nc && kind < 3; v++) {
        const int far = kind == 0 || (kind == 1 && abut_rng_below(r, 12) == 0);
        if (kind == 2 || (fixed[v] && kind != 0)) continue;
        for (size_t d = 0; d < 3; d++) y1[3 * v + d] += (far ? 20 : 1) * little * abut_rng_real(r, -1, 1);
    }
}

typedef struct tally {
    size_t bad, pairs, more, grown;
} tally;

static void follow(const abut_collmesh *cm, const double *y0, double *y1, const uint8_t *fixed, double little, int motions,
                   abut_rng *r, abut_repeated_search *s, tally *sum)
{
    abut_candidates fresh = { 0 };
    const double reach = little / 2;
    for (int k = 0; k < motions; k++) {
        const size_t before = abut_candidates_count(&s->wide);
        abut_threads_set((int[]){ 1, 2, 7 }[k % 3]);
        CHECK(!abut_repeated_search_find(s, cm, y0, y1, reach, fixed, 2 * little, NULL));
        CHECK(!abut_candidates_find(cm, y0, y1, reach, fixed, &fresh, NULL));
        const abut_candidate_test test = abut_candidate_test_of(cm, y0, y1, reach);
        for (int l = 0; l < ABUT_CANDIDATE_LISTS; l++)
            sum->bad += wrong(cm, abut_candidates_list(&fresh, l), abut_candidates_list(&s->wide, l), abut_candidates_kind(l),
                              &test);
        sum->pairs += abut_candidates_count(&fresh);
        sum->more += abut_candidates_count(&s->wide);
        sum->grown += k && abut_candidates_count(&s->wide) > before;
        wander(r, (size_t)cm->nc, fixed, little, y1);
    }
    abut_candidates_clear(&fresh);
}

TEST(it_has_what_a_search_for_each_motion_finds_and_knows_which_of_its_pairs_those_are)
{
    static thicket t;
    abut_repeated_search s = { 0 };
    abut_rng r = { 3 };
    const int before = abut_threads();
    tally sum = { 0 };
    for (uint64_t seed = 0; seed < 8; seed++) {     /* another start each time, the same collision mesh */
        thicket_make(&t, 11, 2e-3, 4e-3, 3e-3, 1e-3, 1e-3, 0.2);
        for (int i = 0; i < 3 * t.cm.nc; i++) t.X[i] += seed * 0.05 * abut_rng_real(&r, -1, 1);
        follow(&t.cm, t.X, t.y1, t.fixed, 0.01, 60, &r, &s, &sum);
        abut_collmesh_clear(&t.cm);
    }
    CHECK(sum.bad == 0);
    CHECK(sum.pairs > 10000 && sum.more > sum.pairs && sum.grown > 40);
    abut_threads_set(before);
    abut_repeated_search_clear(&s);
}

/* Sheets have enough packs and trees for most of them to stay unchanged. */
TEST(it_has_them_where_most_vertices_stay_in_their_boxes)
{
    abut_repeated_search s = { 0 };
    abut_rng r = { 8 };
    const int before = abut_threads();
    tally sum = { 0 };
    sheets t = sheets_make(5, 4, 16, 0.03, 0.2, 0.01);
    CHECK(sheets_init(&t));
    follow(&t.cm, t.X, t.y1, t.fixed, 1e-3, 30, &r, &s, &sum);
    CHECK(sum.bad == 0);
    CHECK(sum.pairs > 100000 && sum.more > sum.pairs && sum.grown > 4);
    abut_threads_set(before);
    sheets_free(&t);
    abut_repeated_search_clear(&s);
}

TEST(a_new_start_or_other_fixed_vertices_begin_a_new_search_and_what_is_not_finite_is_refused)
{
    static thicket t;
    abut_repeated_search s = { 0 };
    abut_err err;
    thicket_make(&t, 4, 2e-3, 4e-3, 3e-3, 1e-3, 1e-3, 0.4);
    CHECK(!abut_repeated_search_find(&s, &t.cm, t.X, t.y1, 0, t.fixed, 1e-3, NULL));
    const size_t n = abut_candidates_count(&s.wide);
    uint8_t all[THICKET_MAX];
    memset(all, 1, sizeof all);
    CHECK(n > 0 && !abut_repeated_search_find(&s, &t.cm, t.X, t.y1, 0, all, 1e-3, NULL));
    CHECK(abut_candidates_count(&s.wide) == 0);
    CHECK(!abut_repeated_search_find(&s, &t.cm, t.X, t.y1, 0, t.fixed, 1e-3, NULL));
    CHECK(abut_candidates_count(&s.wide) == n);
    t.y1[17] = NAN;
    CHECK(abut_repeated_search_find(&s, &t.cm, t.X, t.y1, 0, t.fixed, 1e-3, &err) == ABUT_E_GEOM);
    t.y1[17] = t.X[17];
    CHECK(!abut_repeated_search_find(&s, &t.cm, t.X, t.y1, 0, t.fixed, 1e-3, NULL));
    abut_collmesh_clear(&t.cm);
    abut_repeated_search_clear(&s);
}

