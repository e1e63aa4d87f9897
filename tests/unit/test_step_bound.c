#include "base/par.h"
#include "check.h"
#include "contact/step_bound.h"
#include "geom/ccd/ccd.h"
#include "geom/cubic_inline.h"
#include "sheets.h"

/* ---- tetrahedra ---- */

static long double det_at(const double x[12], const double p[12], long double t)
{
    long double e[9];
    for (int k = 0; k < 9; k++)
        e[k] = ((long double)x[3 + k] - (long double)x[k % 3]) + t * ((long double)p[3 + k] - (long double)p[k % 3]);
    return e[0] * (e[4] * e[8] - e[5] * e[7]) + e[1] * (e[5] * e[6] - e[3] * e[8]) + e[2] * (e[3] * e[7] - e[4] * e[6]);
}

static void tet_random(abut_rng *r, double size, double move, double x[12], double p[12])
{
    do {
        for (int k = 0; k < 12; k++) x[k] = size * abut_rng_real(r, -1, 1), p[k] = move * abut_rng_real(r, -1, 1);
    } while (!(det_at(x, p, 0) > 1e-6 * size * size * size));
}

TEST(the_volume_bound_is_the_first_time_the_volume_falls_to_slack)
{
    abut_rng r = { 1 };
    int bound = 0, free = 0;
    for (int n = 0; n < 20000; n++) {
        double x[12], p[12];
        const double size = pow(10, abut_rng_real(&r, -3, 3)), slack = n & 1 ? 0.2 : 0.01;
        tet_random(&r, size, size * pow(10, abut_rng_real(&r, -2, 2)), x, p);
        const double alpha = abut_tet_step(x, p, slack);
        const long double want = slack * det_at(x, p, 0);
        CHECK(alpha > 0 && alpha <= 1);
        int held = 1;
        for (int k = 1; k <= 200; k++) held &= det_at(x, p, alpha * k / 200.0L) >= want * (1 - 1e-9L);
        CHECK(held);
        if (alpha < 1) {
            /* a little further it is too far */
            int broken = 0;
            for (int k = 1; k <= 50; k++)
                broken |= det_at(x, p, alpha * (1 + 2e-6L * k / 50)) < want + 1.1e-7L * det_at(x, p, 0);
            CHECK(broken);
        }
        bound += alpha < 1;
        free += alpha >= 1;
    }
    CHECK(bound > 2000 && free > 2000);
}

TEST(the_volume_bound_knows_closed_forms)
{
    const double x[12] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    double p[12] = { 0 };
    CHECK(abut_tet_step(x, p, 0.2) >= 1);
    p[11] = -2;                                             /* linear: 1 - 2t */
    CHECK_NEAR(abut_tet_step(x, p, 0.2), 0.4, 1e-6);
    p[3] = p[7] = p[11] = -1;                               /* cubic: (1 - t)^3 */
    CHECK_NEAR(abut_tet_step(x, p, 0.2), 1 - cbrt(0.2), 1e-6);
    for (int k = 0; k < 12; k++) p[k] = -x[k] * 1e9;
    CHECK_NEAR(abut_tet_step(x, p, 0.2), (1 - cbrt(0.2)) * 1e-9, 1e-15);
    for (int k = 0; k < 12; k++) p[k] = 5;                  /* translation */
    CHECK(abut_tet_step(x, p, 0.2) >= 1);
    memset(p, 0, sizeof p);
    p[3] = -2, p[7] = -2;                                   /* (1 - 2t)^2: turns by pi, through zero at 1/2 */
    CHECK_NEAR(abut_tet_step(x, p, 0.2), 0.5 * (1 - sqrt(0.2)), 1e-6);
    const double flat[12] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0 };
    CHECK(abut_tet_step(flat, p, 0.2) <= 0);
    p[4] = NAN;
    CHECK(abut_tet_step(x, p, 0.2) <= 0);
}

TEST(the_volume_bound_holds_for_slivers_far_from_the_origin)
{
    abut_rng r = { 2 };
    for (int n = 0; n < 5000; n++) {
        double x[12], p[12], moved[12], zero[12] = { 0 };
        tet_random(&r, 1, 0.5, x, p);
        const double thin = pow(10, abut_rng_real(&r, -6, 0)), off = n & 1 ? 1e5 : 0;
        for (int k = 0; k < 4; k++) x[3 * k + 2] = x[3 * k + 2] * thin + off;
        if (!(det_at(x, p, 0) > 0)) continue;
        const double alpha = abut_tet_step(x, p, 0.2);
        for (int k = 0; k < 12; k++) moved[k] = x[k] + alpha * p[k];
        CHECK(alpha > 0 && det_at(moved, zero, 0) > 0.1L * det_at(x, zero, 0));
    }
}

/* Long directions, which bound half of the tets, and short ones, which bound few. */
TEST(the_tightest_injective_tet_is_named_for_any_thread_count)
{
    enum { N = 3002 };
    abut_rng r = { 3 };
    double *x = malloc(12 * N * sizeof *x), *p = malloc(12 * N * sizeof *p);
    int32_t tet[4 * N], mat[N], model[2] = { ABUT_NEO_HOOKEAN, ABUT_FIXED_COROTATED };
    for (int t = 0; t < N; t++) {
        tet_random(&r, 1, 1, x + 12 * t, p + 12 * t);
        if (t == 2700) memcpy(x + 12 * t, x + 12 * 300, 12 * sizeof *x), memcpy(p + 12 * t, p + 12 * 300, 12 * sizeof *p);
        mat[t] = t % 7 == 0;
        for (int k = 0; k < 4; k++) tet[4 * t + k] = 4 * t + k;
    }
    const abut_model m = { .nv = 4 * N, .nt = N, .nm = 2, .tet = tet, .tet_mat = mat, .mat_model = model };
    for (int shorter = 0; shorter < 4; shorter++) {
        double least = 1;
        int32_t which = -1, bound = 0;
        for (int k = 0; shorter && k < 12 * N; k++) p[k] *= 0.1;
        for (int t = 0; t < N; t++) {
            const double a = abut_tet_step(x + 12 * t, p + 12 * t, 0.2);
            bound += a < 1;
            if (!mat[t] && a < least) least = a, which = t;
        }
        CHECK(shorter ? bound < N / 10 : bound > N / 3);
        for (int k = 0; k < 3; k++) {
            abut_threads_set((int[]){ 1, 2, 7 }[k]);
            abut_limit lim = { .alpha = 1 };
            abut_limit_inversion(&m, x, p, 0.2, &lim);
            CHECK(lim.kind == ABUT_LIMIT_TET && lim.tet == which && lim.node[3] == 4 * which + 3);
            CHECK(!memcmp(&lim.alpha, &least, sizeof least));
            abut_limit tight = { .alpha = least, .kind = ABUT_LIMIT_EE };
            abut_limit_inversion(&m, x, p, 0.2, &tight);
            CHECK(tight.kind == ABUT_LIMIT_EE);
        }
    }
    abut_threads_set(2);
    free(x);
    free(p);
}

/* ---- half-spaces ---- */

TEST(a_half_space_keeps_slack_of_the_gap)
{
    const double X[9] = { 0, 0.5, 0, 3, 0.25, 0, 0, 0.001, 0 }, y1[9] = { 7, -0.5, 0, 3, -0.25, 1, 0, -1, 0 };
    const double point[6] = { 0, 0, 0, 0, 9, 0 }, normal[6] = { 0, 1, 0, 0, -1, 0 };
    int32_t node[3] = { 10, 11, 12 };
    const uint8_t fixed[3] = { 0, 0, 1 };
    const abut_model m = { .nc = 3, .nh = 2, .hs_point = point, .hs_normal = normal };
    const abut_collmesh cm = { .model = &m, .nc = 3, .W.col = node };
    abut_limit lim = { .alpha = 1 };
    abut_limit_planes(&cm, X, X, fixed, 0.1, &lim);
    CHECK(lim.kind == ABUT_LIMIT_NONE && lim.alpha >= 1);
    abut_limit_planes(&cm, X, y1, fixed, 0.1, &lim);
    CHECK(lim.kind == ABUT_LIMIT_PLANE && lim.node[0] == 10 && lim.node[1] == 0);
    CHECK_NEAR(lim.alpha, 0.45, 1e-12);
    CHECK(X[1] + lim.alpha * (y1[1] - X[1]) >= 0.1 * 0.5);
    abut_limit_planes(&cm, X, y1, NULL, 0.1, &lim);
    CHECK(lim.node[0] == 12 && lim.alpha < 1e-3);
}

/* ---- collisions ---- */

/* The bound by one plain loop over all primitive pairs. */
static double ccd_twin(const sheets *s, double slack, const uint8_t *fixed)
{
    double least = 1;
    for (int ee = 0; ee < 2; ee++)
        for (int32_t i = 0; i < (ee ? s->cm.ne : s->cm.nc); i++)
            for (int32_t j = ee ? i + 1 : 0; j < (ee ? s->cm.ne : s->cm.nt); j++) {
                double x0[12], x1[12], toi;
                int32_t v[4];
                const int n = sheets_pair(s, ee, i, j, s->X, x0, v);
                if (n < 0 || (fixed && n == 4)) continue;
                sheets_pair(s, ee, i, j, s->y1, x1, v);
                abut_ccd_additive(ee ? ABUT_EE : ABUT_PT, x0, x1, 0, slack, 1, &toi);
                least = toi < least ? toi : least;
            }
    return least;
}

TEST(the_collision_bound_is_that_of_all_pairs_and_names_one)
{
    abut_candidates c = { 0 };
    for (uint64_t seed = 0; seed < 6; seed++) {
        const double speed = seed < 5 ? 0.05 * (double)(seed + 1) : 1e-4;
        sheets s = sheets_make(seed, 3, 5, 0.1, 0.3, speed);
        CHECK(sheets_init(&s));
        for (int32_t v = 0; v < s.cm.nc; v++) s.cm.W.col[v] = v + 1000;
        const uint8_t *fixed = seed & 1 ? s.fixed : NULL;
        CHECK(!abut_candidates_find(&s.cm, s.X, s.y1, 0, fixed, &c, NULL));
        const double want = ccd_twin(&s, 0.2, fixed);
        abut_limit lim = { .alpha = 1 };
        CHECK(!abut_limit_ccd(&s.cm, &c, s.X, s.y1, 0.2, &lim, NULL));
        CHECK(want < 1 ? fabs(lim.alpha - want) < 1e-15 : lim.alpha >= 1);
        CHECK((lim.kind == ABUT_LIMIT_NONE) == (want >= 1));
        if (lim.kind) {
            double x0[12], x1[12], toi;
            for (int k = 0; k < 4; k++) {
                memcpy(x0 + 3 * k, s.X + 3 * (lim.node[k] - 1000), 3 * sizeof *x0);
                memcpy(x1 + 3 * k, s.y1 + 3 * (lim.node[k] - 1000), 3 * sizeof *x1);
            }
            abut_ccd_additive(lim.kind == ABUT_LIMIT_VT ? ABUT_PT : ABUT_EE, x0, x1, 0, 0.2, 1, &toi);
            CHECK_NEAR(toi, lim.alpha, 0);
            /* a bound that is already lower stays */
            abut_limit low = { .alpha = 0.5 * lim.alpha, .kind = ABUT_LIMIT_TET };
            CHECK(!abut_limit_ccd(&s.cm, &c, s.X, s.y1, 0.2, &low, NULL) && low.kind == ABUT_LIMIT_TET);
        }
        sheets_free(&s);
    }
    abut_candidates_clear(&c);
}

TEST(the_collision_bound_has_the_same_bits_for_every_thread_count)
{
    sheets s = sheets_make(11, 6, 24, 0.05, 0.3, 0.06);
    CHECK(sheets_init(&s));
    abut_candidates c = { 0 };
    CHECK(!abut_candidates_find(&s.cm, s.X, s.y1, 0, s.fixed, &c, NULL));
    abut_limit lim[3] = { { .alpha = 1 }, { .alpha = 1 }, { .alpha = 1 } };
    for (int k = 0; k < 3; k++) {
        abut_threads_set((int[]){ 1, 2, 7 }[k]);
        CHECK(!abut_limit_ccd(&s.cm, &c, s.X, s.y1, 0.2, &lim[k], NULL));
        CHECK(lim[k].alpha < 1 && !memcmp(&lim[k].alpha, &lim[0].alpha, sizeof lim[0].alpha));
        CHECK(lim[k].kind == lim[0].kind && !memcmp(lim[k].node, lim[0].node, sizeof lim[0].node));
    }
    abut_threads_set(2);
    abut_candidates_clear(&c);
    sheets_free(&s);
}

TEST(the_bound_leaves_slack_of_every_gap)
{
    sheets s = sheets_make(12, 3, 6, 0.08, 0.3, 0.2);
    CHECK(sheets_init(&s));
    abut_candidates c = { 0 };
    abut_limit lim = { .alpha = 1 };
    CHECK(!abut_candidates_find(&s.cm, s.X, s.y1, 0, NULL, &c, NULL));
    CHECK(!abut_limit_ccd(&s.cm, &c, s.X, s.y1, 0.2, &lim, NULL) && lim.alpha < 1);
    size_t pairs = 0, close = 0;
    for (int ee = 0; ee < 2; ee++) {
        const abut_pair_list *l = ee ? &c.ee : &c.vt;
        for (size_t n = 0; n < l->n; n++, pairs++) {
            double x0[12], x1[12], d0, d1;
            int32_t v[4];
            sheets_pair(&s, ee, l->ij[n][0], l->ij[n][1], s.X, x0, v);
            sheets_pair(&s, ee, l->ij[n][0], l->ij[n][1], s.y1, x1, v);
            for (int k = 0; k < 12; k++) x1[k] = x0[k] + lim.alpha * (x1[k] - x0[k]);
            abut_nearest(ee ? ABUT_EE : ABUT_PT, x0, &d0);
            abut_nearest(ee ? ABUT_EE : ABUT_PT, x1, &d1);
            CHECK(d1 >= 0.2 * 0.2 * d0 * (1 - 1e-9));
            close += d1 < 0.25 * 0.25 * d0;
        }
    }
    CHECK(close > 0);
    CHECK(pairs > 1000);
    abut_candidates_clear(&c);
    sheets_free(&s);
}

TEST(a_pair_that_touches_is_an_error_that_names_it)
{
    sheets s = sheets_make(13, 2, 4, 0.1, 0.1, 0.01);
    CHECK(sheets_init(&s));
    abut_candidates c = { 0 };
    abut_err err = { 0 };
    abut_limit lim = { .alpha = 1 };
    memcpy(s.X + 3 * 30, s.X + 3 * 5, 3 * sizeof *s.X);
    CHECK(!abut_candidates_find(&s.cm, s.X, s.y1, 0, NULL, &c, NULL));
    CHECK(abut_limit_ccd(&s.cm, &c, s.X, s.y1, 0.2, &lim, &err) == ABUT_E_GEOM);
    CHECK(strstr(err.msg, "node 5 of object 0 and ") && strstr(err.msg, "30") && lim.alpha >= 1 && lim.kind == ABUT_LIMIT_NONE);
    abut_candidates_clear(&c);
    sheets_free(&s);
}

SETUP
{
    abut_threads_set(2);
}
