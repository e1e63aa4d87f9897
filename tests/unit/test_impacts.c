/* All impacts of a motion against a loop over every candidate. */
#include "base/par.h"
#include "contact/step_bound.h"
#include "geom/ccd/ccd.h"
#include "thicket.h"

#include "check.h"

enum { MOST = 4096 };

static int in_order(const void *pa, const void *pb)
{
    const abut_impact *a = pa, *b = pb;
    return (a->toi > b->toi) - (a->toi < b->toi);
}

/* Finds impacts by CCD of each pair alone. */
static size_t by_loop(const thicket *t, const abut_candidates *cand, double until, abut_impact *out)
{
    size_t n = 0;
    for (int l = 0; l < ABUT_CANDIDATE_LISTS; l++) {
        const abut_stencil s = abut_candidates_kind(l);
        const abut_pair_list *list = abut_candidates_list(cand, l);
        for (size_t k = 0; k < list->n; k++) {
            abut_impact hit = { .kind = s, .plane = -1 };
            double x0[12], x1[12];
            abut_candidate_vertices(&t->cm, s, list->ij[k], hit.vert);
            thicket_points(t->X, s, hit.vert, x0);
            thicket_points(t->y1, s, hit.vert, x1);
            if (abut_ccd_additive(s, x0, x1, thicket_xi(t, s, hit.vert), 0.2, 1, &hit.toi) != ABUT_CCD_HIT) continue;
            if (hit.toi < until) out[n++] = hit;
        }
    }
    qsort(out, n, sizeof *out, in_order);
    return n;
}

TEST(impacts_are_those_of_every_candidate_in_order_of_time_for_any_thread_count)
{
    static thicket t;
    static abut_impact want[MOST];
    abut_arena scratch = { 0 };
    const int before = abut_threads();
    thicket_make(&t, 5, 0, 0.01, 0.02, 0, 2e-3, 1.);
    abut_candidates cand = { 0 };
    CHECK(!abut_candidates_find(&t.cm, t.X, t.y1, 0, t.fixed, &cand, NULL));
    for (int k = 0; k < 6; k++) {
        const double until = k % 2 ? 0.3 : 1;
        const abut_mark mark = abut_arena_mark(&scratch);
        abut_impact *got;
        size_t n, all = by_loop(&t, &cand, until, want);
        abut_threads_set((int[]){ 1, 2, 7 }[k % 3]);
        CHECK(!abut_impacts_all(&t.cm, &cand, t.X, t.y1, 0.2, until, t.fixed, &got, &n, &scratch, NULL));
        CHECK(all > 20 && n == all);
        size_t alone = 0;
        for (size_t i = 0; i < n; i++) {
            CHECK_NEAR(got[i].toi, want[i].toi, 1e-12);
            CHECK(got[i].toi < until && got[i].plane < 0);
            /* the pair itself, where no other has its time */
            if ((i && want[i].toi - want[i - 1].toi < 1e-9) || (i + 1 < all && want[i + 1].toi - want[i].toi < 1e-9)) continue;
            CHECK(got[i].kind == want[i].kind && !memcmp(got[i].vert, want[i].vert, sizeof got[i].vert));
            alone++;
        }
        CHECK(alone > n / 4);
        abut_arena_release(&scratch, mark);
    }
    abut_threads_set(before);
    abut_candidates_clear(&cand);
    abut_arena_clear(&scratch);
}

TEST(half_spaces_are_met_where_the_slack_of_a_height_is_used_up)
{
    const double X[9] = { 0, 0.5, 0, 3, 0.25, 0, 0, 0.001, 0 }, y1[9] = { 7, -0.5, 0, 3, -0.25, 1, 0, -1, 0 };
    const double point[3] = { 0 }, normal[3] = { 0, 1, 0 };
    int32_t node[3] = { 10, 11, 12 };
    const uint8_t fixed[3] = { 0, 0, 1 };
    const abut_model m = { .nc = 3, .nh = 1, .hs_point = point, .hs_normal = normal };
    const abut_collmesh cm = { .model = &m, .nc = 3, .W.col = node };
    const abut_candidates none = { .of = { .y = NULL } };
    abut_impact *hit;
    abut_arena scratch = { 0 };
    size_t n;
    CHECK(!abut_impacts_all(&cm, &none, X, y1, 0.2, 1, fixed, &hit, &n, &scratch, NULL));
    CHECK(n == 2 && hit[0].vert[0] == 0 && hit[1].vert[0] == 1 && hit[0].plane == 0 && hit[0].vert[1] == -1);
    CHECK_NEAR(hit[0].toi, 0.4, 1e-12);
    CHECK_NEAR(hit[1].toi, 0.4, 1e-12);
    CHECK(!abut_impacts_all(&cm, &none, X, y1, 0.2, 1, NULL, &hit, &n, &scratch, NULL));
    CHECK(n == 3 && hit[0].vert[0] == 2);
    CHECK(!abut_impacts_all(&cm, &none, X, X, 0.2, 1, NULL, &hit, &n, &scratch, NULL));
    CHECK(n == 0);
    abut_arena_clear(&scratch);
    scratch.limit = 8;
    CHECK(abut_impacts_all(&cm, &none, X, X, 0.2, 1, NULL, &hit, &n, &scratch, NULL) == ABUT_E_NOMEM);
    abut_arena_clear(&scratch);
}
