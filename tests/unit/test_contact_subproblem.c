/* A model of gaps against its stationarity, in one unknown against bisection. */
#include "base/rng.h"
#include "solve/direction/look_ahead.h"

#include "check.h"

enum { N = 24 };

static abut_gap gap_make(abut_rng *r, int known)
{
    const double xi = abut_rng_below(r, 2) ? 0 : 2e-3;
    return (abut_gap){ .law = abut_barrier_law_of(1e-3, ABUT_BARRIER_IPC, xi), .weight = pow(10, abut_rng_real(r, 4, 8)),
                       .gap = 1e-3 * abut_rng_real(r, 0.05, 0.9), .known = known };
}

TEST(derivatives_of_what_a_gap_adds_are_those_of_differences)
{
    abut_rng r = { 1 };
    int added = 0;
    for (int k = 0; k < 400; k++) {
        const abut_gap a = gap_make(&r, k % 2);
        const double s = a.gap * abut_rng_real(&r, -0.9, 2), step = 1e-6 * a.gap;
        double d1, d2, lo1, hi1, unused;
        (void)abut_gap_extra(&a, s, &d1, &d2);
        const double lo = abut_gap_extra(&a, s - step, &lo1, &unused), hi = abut_gap_extra(&a, s + step, &hi1, &unused);
        double b1, b2;
        (void)abut_gap_extra(&(abut_gap){ a.law, a.weight, a.gap, 0, 0 }, 0, &b1, &b2);
        CHECK_NEAR((hi - lo) / (2 * step), d1, 1e-5 * (fabs(b1) + fabs(d1) + b2 * a.gap));
        CHECK_NEAR((hi1 - lo1) / (2 * step), d2, 1e-4 * (fabs(d2) + b2 + fabs(d1) / a.gap));
        added += d1 != 0;
    }
    CHECK(added > 300);
    const abut_gap a = gap_make(&r, 1);
    double d1, d2;
    CHECK_NEAR(abut_gap_extra(&a, 0, &d1, &d2), 0, 0);      /* the matrix has it to the second order */
    CHECK_NEAR(d1, 0, 0);
    CHECK_NEAR(d2, 0, 0);
    CHECK(abut_gap_extra(&a, -a.gap, &d1, &d2) == INFINITY);
    abut_gap more = a;      /* a matrix that has more of it than its curvature */
    more.excess = 7;
    const double s = 0.3 * a.gap, less = abut_gap_extra(&a, s, &d1, &d2) - abut_gap_extra(&more, s, &d1, &d2);
    CHECK_NEAR(less, 0.5 * 7 * s * s, 1e-6 * less);
}

TEST(one_gap_ends_where_force_and_barrier_balance)
{
    abut_rng r = { 2 };
    for (int k = 0; k < 200; k++) {
        abut_gap a = gap_make(&r, 0);
        a.gap *= k % 3 ? 1 : 30;            /* a pair that is still far away */
        const double G = pow(10, abut_rng_real(&r, -6, 0)), s0 = -a.gap * abut_rng_real(&r, 1.1, 20);
        double lambda, d2, lo = -a.gap, hi = 2e-3;
        int solved;
        abut_arena scratch = { 0 };
        CHECK(!abut_contact_subproblem_minimise(1, &a, &G, &s0, &lambda, &solved, &scratch, NULL));
        CHECK(solved && lambda < 0);
        for (int i = 0; i < 200; i++) {     /* s - s0 + G phi'(s) grows with s */
            const double s = 0.5 * (lo + hi);
            double d1;
            (void)abut_gap_extra(&a, s, &d1, &d2);
            if (s - s0 + G * d1 > 0) hi = s;
            else lo = s;
        }
        const double want = (s0 - hi) / G;
        CHECK_NEAR(lambda, want, 1e-4 * fabs(want));
        abut_arena_clear(&scratch);
    }
}

/* G of random columns, of which two in three are of the same pairs; s0 into most gaps. */
TEST(many_gaps_end_open_and_in_balance)
{
    abut_rng r = { 3 };
    int closed = 0;
    for (int k = 0; k < 60; k++) {
        abut_gap a[N];
        double Y[N][40], G[N * N], s0[N], lambda[N];
        int solved;
        abut_arena scratch = { 0 };
        for (int i = 0; i < N; i++) {
            const int twin = i % 3 == 1;
            a[i] = twin ? a[i - 1] : gap_make(&r, 0);
            for (int j = 0; j < 40; j++) Y[i][j] = twin ? Y[i - 1][j] : 1e-2 * abut_rng_real(&r, -1, 1);
            s0[i] = twin ? s0[i - 1] : a[i].gap * abut_rng_real(&r, -3, 1);
            closed += s0[i] < -a[i].gap;
        }
        for (int i = 0; i < N * N; i++) {
            G[i] = 0;
            for (int j = 0; j < 40; j++) G[i] += Y[i / N][j] * Y[i % N][j];
        }
        CHECK(!abut_contact_subproblem_minimise(N, a, G, s0, lambda, &solved, &scratch, NULL));
        CHECK(solved);
        double ridge = 0, most = 0;
        for (int i = 0; i < N; i++) ridge = fmax(ridge, 1e-6 * G[i * N + i]), most = fmax(most, fabs(lambda[i]));
        CHECK(most > 0);
        for (int i = 0; i < N; i++) {       /* each alone, the others pushing as they do */
            double s = s0[i] - ridge * lambda[i], lo, hi, d1, d2;
            for (int j = 0; j < N; j++) s -= G[i * N + j] * lambda[j];
            const double c = G[i * N + i] + ridge, free = s + c * lambda[i];
            lo = -a[i].gap, hi = fmax(free, 0) + 2e-3;
            for (int k2 = 0; k2 < 200; k2++) {
                const double mid = 0.5 * (lo + hi);
                (void)abut_gap_extra(&a[i], mid, &d1, &d2);
                if (mid - free + c * d1 > 0) hi = mid;
                else lo = mid;
            }
            CHECK_NEAR((free - hi) / c, lambda[i], 1e-5 * most);
        }
        abut_arena_clear(&scratch);
    }
    CHECK(closed > 300);
}

/* A contact that is all that H has along its gap, beside a soft pair: the ridge is as large as the compliance of the contact, and
 * the model without it has no bound.  It opens by about as much as the direction opens it, not without end. */
TEST(a_contact_much_stiffer_than_what_it_holds_has_a_minimum)
{
    const abut_barrier_law law = abut_barrier_law_of(1.24e-3, ABUT_BARRIER_IPC, 0);
    const abut_gap a[2] = { { .law = law, .weight = 5656, .gap = 1e-7, .known = 1 },
                            { .law = law, .weight = 5656, .gap = 1e-4, .known = 1 } };
    double d1, e2, unused, lambda[2];
    (void)abut_gap_extra(&(abut_gap){ law, a[0].weight, a[0].gap, 0, 0 }, 0, &unused, &e2);
    const double soft[2] = { 1e-3, 1e-6 };  /* of the stiffness of the contact, what the rest of H has along its gap */
    for (int k = 0; k < 2; k++) {
        const double G[4] = { 1 / (e2 * (1 + soft[k])), 1e-10, 1e-10, 0.12 }, s0[2] = { 1e-7, -3e-4 };
        abut_arena scratch = { 0 };
        int solved;
        CHECK(!abut_contact_subproblem_minimise(2, a, G, s0, lambda, &solved, &scratch, NULL));
        CHECK(solved);
        const double ridge = 1e-6 * G[3], s = s0[0] - (G[0] + ridge) * lambda[0] - G[1] * lambda[1];
        CHECK(s > 0 && s < 100 * s0[0]);
        const double t = s0[1] - G[2] * lambda[0] - (G[3] + ridge) * lambda[1];
        (void)abut_gap_extra(&a[1], t, &d1, &unused);
        CHECK(t > -a[1].gap);
        CHECK_NEAR(d1, lambda[1], 1e-4 * fabs(d1));
        abut_arena_clear(&scratch);
    }
}

TEST(a_matrix_that_is_not_definite_is_no_model)
{
    abut_rng r = { 4 };
    const abut_gap a[2] = { gap_make(&r, 0), gap_make(&r, 0) };
    const double G[4] = { 1, 2, 2, 1 }, s0[2] = { -1, -1 };
    double lambda[2];
    int solved = 1;
    abut_arena scratch = { 0 };
    CHECK(!abut_contact_subproblem_minimise(2, a, G, s0, lambda, &solved, &scratch, NULL));
    CHECK(!solved);
    abut_arena_clear(&scratch);
    scratch.limit = 8;
    CHECK(abut_contact_subproblem_minimise(2, a, G, s0, lambda, &solved, &scratch, NULL) == ABUT_E_NOMEM);
    abut_arena_clear(&scratch);
}
