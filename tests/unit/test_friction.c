#include "base/par.h"
#include "energy/barrier_pair.h"
#include "energy/friction.h"
#include "geom/dist.h"
#include "sparse/bsr.h"
#include "math/spd_inline.h"

#include "check.h"
#include "base/rng.h"

/* contacts a[i] and b[j] are the same: their nodes are, and with a half-space their tangents */
static int same_contact(const abut_lag *a, size_t i, const abut_lag *b, size_t j)
{
    return !memcmp(a->node[i], b->node[j], sizeof *a->node) &&
           (a->node[i][1] >= 0 || !memcmp(a->basis[i], b->basis[j], sizeof *a->basis));
}

/* two lists with common contacts, by looking for each in the other; the same contact twice pairs up in order */
TEST(relaxed_normal_forces_are_means_contact_by_contact)
{
    enum { N = 40 };
    abut_rng r = { 3 };
    int common = 0, gone = 0;
    for (int trial = 0; trial < 20; trial++) {
        abut_lag lag[2] = { { 0 }, { 0 } }, was[2] = { { 0 }, { 0 } };
        abut_err err = { 0 };
        const double w = abut_rng_real(&r, 0.1, 1);
        for (int l = 0; l < 4; l++) {
            abut_lag *k = l < 2 ? &lag[l] : &was[l - 2];
            const size_t n = l < 2 ? (size_t)abut_rng_real(&r, 0, N) : lag[l - 2].n;
            *k = (abut_lag){ n, n, malloc((n + 1) * sizeof *k->node), malloc((n + 1) * sizeof *k->weight),
                             malloc((n + 1) * sizeof *k->basis), malloc((n + 1) * sizeof *k->force),
                             malloc((n + 1) * sizeof *k->mu), NULL };
            for (size_t i = 0; i < n; i++) {
                if (l > 1) {
                    const abut_lag *from = &lag[l - 2];
                    memcpy(k->node[i], from->node[i], sizeof *k->node), memcpy(k->weight[i], from->weight[i], sizeof *k->weight);
                    memcpy(k->basis[i], from->basis[i], sizeof *k->basis), k->force[i] = from->force[i], k->mu[i] = from->mu[i];
                    continue;
                }
                for (int c = 0; c < 4; c++) {
                    k->node[i][c] = c < 2 ? (int32_t)abut_rng_real(&r, 0, 5) : -1;
                    k->weight[i][c] = abut_rng_real(&r, 0, 1);
                }
                for (int c = 0; c < 6; c++) k->basis[i][c] = abut_rng_real(&r, -1, 1);
                if (i % 2) {    /* with one of two half-spaces */
                    k->node[i][1] = -1;
                    abut_tangent_plane((double[]){ i % 4 == 1, i % 4 == 3, 0 }, k->basis[i]);
                }
                k->force[i] = abut_rng_real(&r, 0, 9), k->mu[i] = abut_rng_real(&r, 0, 1);
            }
        }
        CHECK(!abut_lag_relax(&lag[0], &lag[1], w, &err));
        uint8_t used[N] = { 0 };
        for (size_t i = 0; i < was[0].n; i++) {
            double force = w * was[0].force[i];
            for (size_t j = 0; j < was[1].n; j++)
                if (!used[j] && same_contact(&was[0], i, &was[1], j)) {
                    force += (1 - w) * was[1].force[j];
                    used[j] = 1, common++;
                    break;
                }
            CHECK_NEAR(lag[0].force[i], force, 1e-14);
            CHECK(lag[0].mu[i] == was[0].mu[i] && !memcmp(lag[0].node[i], was[0].node[i], sizeof *was[0].node));
            CHECK(!memcmp(lag[0].basis[i], was[0].basis[i], sizeof *was[0].basis));
            CHECK(!memcmp(lag[0].weight[i], was[0].weight[i], sizeof *was[0].weight));
        }
        double left = 0, kept = 0;      /* vanished contacts keep the rest of their force, with their old bases */
        size_t n = was[0].n;
        for (size_t j = 0; j < was[1].n; j++) left += used[j] ? 0 : (1 - w) * was[1].force[j], n += !used[j];
        for (size_t i = was[0].n; i < lag[0].n; i++) {
            size_t j = 0;
            while (j < was[1].n && (used[j] || lag[0].mu[i] != was[1].mu[j])) j++;     /* coefficients are all different */
            CHECK(j < was[1].n && !memcmp(lag[0].basis[i], was[1].basis[j], sizeof *was[1].basis));
            kept += lag[0].force[i], gone++;
        }
        CHECK(lag[0].n == n);
        CHECK_NEAR(kept, left, 1e-12);
        for (int l = 0; l < 2; l++) abut_lag_clear(&lag[l]), abut_lag_clear(&was[l]);
    }
    CHECK(common > 50 && gone > 50);
}

TEST(smoothed_norm_has_consistent_derivatives_and_meets_the_norm_at_the_threshold)
{
    static const double at_rest[3][3] = { { 1. / 2, 1, 1 }, { 1. / 3, 2, 2 }, { 1. / 4, 3, 3 } };  /* f0/w, w f1/y, w f1' at 0 */
    const double w = 0.01;
    for (int law = ABUT_FRICTION_C0; law < ABUT_FRICTION_FORMS; law++) {
        for (double y = 1e-5; y < 0.03; y += 1.37e-4) {
            double f1y, f2, dummy;
            const double h = 1e-7, f0 = abut_friction_f0(law, y, w, &f1y, &f2);
            const double up = abut_friction_f0(law, y + h, w, &dummy, NULL), fu = dummy * (y + h);
            const double down = abut_friction_f0(law, y - h, w, &dummy, NULL), fd = dummy * (y - h);
            if (fabs(y - w) < 2 * h) continue;
            CHECK_NEAR((up - down) / (2 * h), f1y * y, 1e-8);
            CHECK_NEAR((fu - fd) / (2 * h), f2, 1e-6 / w * 10);
            CHECK(f0 >= y && f1y * y <= 1 + 1e-15 && f2 >= 0);
        }
        double below, above, b2, a2;
        CHECK_NEAR(abut_friction_f0(law, w * (1 - 1e-15), w, &below, &b2), abut_friction_f0(law, w, w, &above, &a2), 2e-17);
        CHECK_NEAR(below, above, 1e-12);
        CHECK_NEAR(abut_friction_f0(law, 0, w, &below, &b2), at_rest[law][0] * w, 1e-17);
        CHECK_NEAR(below, at_rest[law][1] / w, 1e-12);
        CHECK_NEAR(b2, at_rest[law][2] / w, 1e-12);
        CHECK(abut_friction_f0(law, 1, w, &below, &b2) == 1 && below == 1 && b2 == 0);
    }
}

/* The force of order k has k continuous derivatives at the threshold, and the next one jumps. */
TEST(the_force_is_as_smooth_as_the_name_of_its_law_and_no_smoother)
{
    const double w = 0.01, t = 1e-4 * w;
    for (int law = ABUT_FRICTION_C0; law < ABUT_FRICTION_FORMS; law++) {
        double one, at, two;   /* f1' just below the threshold; above it is 0 */
        (void)abut_friction_f0(law, w - 2 * t, w, NULL, &two);
        (void)abut_friction_f0(law, w - t, w, NULL, &one);
        (void)abut_friction_f0(law, w * (1 - 1e-15), w, NULL, &at);
        const double slope = at * w, curve = (at - one) / t * w * w;
        CHECK_NEAR(slope, law == ABUT_FRICTION_C0 ? 1 : 0, 1e-12);
        CHECK_NEAR(curve, law == ABUT_FRICTION_C1 ? -2 : 0, 1e-3);
        CHECK_NEAR((at - 2 * one + two) / (t * t) * w * w * w, law == ABUT_FRICTION_C2 ? 6 : 0, 1e-3);
    }
}

/* n random contacts of all sizes over nv nodes */
static void random_lag(abut_lag *lag, size_t n, int32_t nv, uint64_t seed)
{
    abut_rng r = { seed };
    *lag = (abut_lag){ .n = n, .cap = n, .node = malloc(n * sizeof *lag->node), .weight = malloc(n * sizeof *lag->weight),
                       .basis = malloc(n * sizeof *lag->basis), .force = malloc(n * sizeof *lag->force),
                       .mu = malloc(n * sizeof *lag->mu) };
    for (size_t i = 0; i < n; i++) {
        const int k = 1 + (int)(i % 4);
        double normal[3], sum = 0;
        for (int c = 0; c < 4; c++) {
            lag->node[i][c] = c < k ? (int32_t)((abut_rng_below(&r, (uint32_t)nv / 4)) * 4) + c : -1;
            lag->weight[i][c] = c < k ? abut_rng_real(&r, -1, 1) : 0;
        }
        for (int c = 1; c < k; c++) sum += lag->weight[i][c];
        lag->weight[i][0] = k == 1 ? 1 : -sum;
        for (int d = 0; d < 3; d++) normal[d] = abut_rng_real(&r, -1, 1);
        abut_tangent_plane(normal, lag->basis[i]);
        lag->force[i] = abut_rng_real(&r, 0.5, 3);
        lag->mu[i] = abut_rng_real(&r, 0.1, 1);
    }
}

static double *random_positions(size_t n, double size, uint64_t seed)
{
    abut_rng r = { seed };
    double *x = malloc(3 * n * sizeof *x);
    for (size_t i = 0; i < 3 * n; i++) x[i] = abut_rng_real(&r, -size, size);
    return x;
}

static double energy(const abut_lag *lag, const double *x, const double *xn, abut_stiction law)
{
    abut_arena a = { 0 };
    double E = NAN;
    CHECK(!abut_friction_energy(lag, &law, x, xn, &E, &a, NULL));
    abut_arena_clear(&a);
    return E;
}

static void gradient(const abut_lag *lag, int32_t nv, const double *x, const double *xn, abut_stiction law, double *g)
{
    abut_arena a = { 0 };
    memset(g, 0, 3 * (size_t)nv * sizeof *g);
    CHECK(!abut_friction_gradient(lag, &law, nv, x, xn, g, &a, NULL));
    abut_arena_clear(&a);
}

/* dense 3nv x 3nv sum of packed elements */
static double *assemble(size_t n, const int32_t *node, const double *H, size_t dim)
{
    double *D = calloc(dim * dim, sizeof *D);
    for (size_t i = 0; i < n; i++) {
        const double *b = H + ABUT_PACKED * i;
        for (int a = 0; a < 4; a++)
            for (int c = a; c < 4; c++, b += 9) {
                if (node[4 * i + (size_t)c] < 0) continue;
                const size_t ra = 3 * (size_t)node[4 * i + (size_t)a], rc = 3 * (size_t)node[4 * i + (size_t)c];
                for (size_t p = 0; p < 3; p++)
                    for (size_t q = 0; q < 3; q++) {
                        D[dim * (ra + p) + rc + q] += b[3 * p + q];
                        if (a != c) D[dim * (rc + q) + ra + p] += b[3 * p + q];
                    }
            }
    }
    return D;
}

TEST(gradient_and_hessian_match_finite_differences_while_sticking_and_sliding)
{
    enum { NV = 16, DIM = 3 * NV };
    abut_lag lag;
    random_lag(&lag, 12, NV, 1);
    const double sizes[] = { 1e-6, 2e-3, 0.2 };     /* m; the threshold is 0.01 m */
    int32_t node[4 * 12];
    double *H = calloc(12 * ABUT_PACKED, sizeof *H), g[DIM], up[DIM], down[DIM];
    for (int k = 0; k < 9; k++) {
        const int s = k % 3;
        const abut_stiction law = { 0.02, 0.5, k / 3 };
        double *xn = random_positions(NV, 1, 2), *x = random_positions(NV, sizes[s], 3);
        for (int i = 0; i < DIM; i++) x[i] += xn[i];
        gradient(&lag, NV, x, xn, law, g);
        abut_friction_hessian(&lag, &law, x, xn, NULL, node, H);
        double *D = assemble(lag.n, node, H, DIM), bigH = 0, bigg = 0;
        for (int i = 0; i < DIM; i++) bigg = fmax(bigg, fabs(g[i]));
        for (int i = 0; i < DIM * DIM; i++) bigH = fmax(bigH, fabs(D[i]));
        for (int i = 0; i < DIM; i++) {
            const double was = x[i], e = 1e-7;
            x[i] = was + e;
            const double eu = energy(&lag, x, xn, law);
            gradient(&lag, NV, x, xn, law, up);
            x[i] = was - e;
            const double ed = energy(&lag, x, xn, law);
            gradient(&lag, NV, x, xn, law, down);
            x[i] = was;
            CHECK_NEAR((eu - ed) / (2 * e), g[i], 1e-6 * bigg);
            for (int j = 0; j < DIM; j++) CHECK_NEAR((up[j] - down[j]) / (2 * e), D[DIM * j + i], 2e-5 * bigH);
        }
        free(D), free(x), free(xn);
    }
    free(H);
    abut_lag_clear(&lag);
}

TEST(every_hessian_is_semidefinite_from_rest_to_fast_sliding)
{
    abut_lag lag;
    random_lag(&lag, 200, 64, 4);
    int32_t *node = malloc(4 * lag.n * sizeof *node);
    double *H = calloc(lag.n, ABUT_PACKED * sizeof *H), *xn = random_positions(64, 1, 5);
    for (int k = 0; k < 3 * 24; k++) {
        const int s = k / 3 - 20;
        const abut_stiction law = { 0.01, 1e-3, k % 3 };
        double *x = random_positions(64, pow(10, s), 6);
        for (int i = 0; i < 3 * 64; i++) x[i] = s == -20 ? xn[i] : x[i] + xn[i];
        abut_friction_hessian(&lag, &law, x, xn, NULL, node, H);
        for (size_t i = 0; i < lag.n; i++) {
            double D[144], w[12], Q[144], big = 0;
            const double *b = H + ABUT_PACKED * i;
            for (int a = 0; a < 4; a++)
                for (int c = a; c < 4; c++, b += 9)
                    for (int e = 0; e < 9; e++)
                        D[12 * (3 * a + e / 3) + 3 * c + e % 3] = D[12 * (3 * c + e % 3) + 3 * a + e / 3] = b[e];
            abut_sym_eigen(12, D, w, Q);
            for (int c = 0; c < 12; c++) big = fmax(big, fabs(w[c]));
            for (int c = 0; c < 12; c++) CHECK(w[c] >= -1e-14 * big);
            CHECK(big > 0);
        }
        free(x);
    }
    free(node), free(H), free(xn);
    abut_lag_clear(&lag);
}

/* Numerical eigenvalues of a whole block: f0'' along the slide and f0'/y across it, times mu lambda h^2 and the sum of squared
 * weights; all others are 0, and nothing is left for a projection to do. */
TEST(a_block_has_the_two_eigenvalues_of_its_law_and_no_other)
{
    enum { N = 60, NV = 32 };
    abut_lag lag;
    random_lag(&lag, N, NV, 7);
    int32_t *node = malloc(4 * N * sizeof *node);
    double *H = calloc(N, ABUT_PACKED * sizeof *H), *xn = random_positions(NV, 1, 8);
    const double sizes[] = { 0, 1e-9, 1e-6, 2e-3, 0.2 };    /* m; the threshold is 0.01 m */
    for (int k = 0; k < 15; k++) {
        const abut_stiction law = { 0.02, 0.5, k / 5 };
        double *x = random_positions(NV, sizes[k % 5], 9);
        for (int i = 0; i < 3 * NV; i++) x[i] += xn[i];
        abut_friction_hessian(&lag, &law, x, xn, NULL, node, H);
        for (size_t i = 0; i < N; i++) {
            double D[144] = { 0 }, P[144], w[12], Q[144], first, second, ww = 0, worst = 0;
            const double *b = H + ABUT_PACKED * i;
            for (int a = 0; a < 4; a++)
                for (int c = a; c < 4; c++, b += 9)
                    for (int e = 0; e < 9 && lag.node[i][c] >= 0; e++)
                        D[12 * (3 * a + e / 3) + 3 * c + e % 3] = D[12 * (3 * c + e % 3) + 3 * a + e / 3] = b[e];
            for (int c = 0; c < 4 && lag.node[i][c] >= 0; c++) ww += lag.weight[i][c] * lag.weight[i][c];
            (void)abut_friction_f0(law.smoothing, abut_friction_slid(&lag, i, x, xn), 0.01, &first, &second);
            const double scale = lag.mu[i] * lag.force[i] * law.h * law.h * ww, high = scale * fmax(first, second);
            memcpy(P, D, sizeof P);
            abut_sym_eigen(12, D, w, Q);
            for (int a = 0; a < 12; a++)
                for (int c = a + 1; c < 12; c++)
                    if (w[c] < w[a]) { const double was = w[a]; w[a] = w[c], w[c] = was; }
            CHECK_NEAR(w[11], high, 1e-12 * high);
            CHECK_NEAR(w[10], scale * fmin(first, second), 1e-12 * high);
            for (int a = 0; a < 10; a++) CHECK_NEAR(w[a], 0, 1e-13 * high);
            (void)abut_psd_project(12, P);
            for (int a = 0; a < 144; a++) worst = fmax(worst, fabs(P[a] - D[a]));
            CHECK(worst <= 1e-13 * high);
        }
        free(x);
    }
    free(node), free(H), free(xn);
    abut_lag_clear(&lag);
}

/* contact i of lag alone */
static abut_lag one_contact(const abut_lag *lag, size_t i)
{
    return (abut_lag){ 1, 1, lag->node + i, lag->weight + i, lag->basis + i, lag->force + i, lag->mu + i, NULL };
}

/* g . p + 1/2 p^T H p of one contact */
static double model_change(const abut_lag *one, int32_t nv, const double *x, const double *xn, abut_stiction law,
                           const uint8_t *above, const double *p)
{
    const int dim = 3 * nv;
    double g[3 * 16], H[ABUT_PACKED] = { 0 }, change = 0;
    int32_t node[4];
    gradient(one, nv, x, xn, law, g);
    abut_friction_hessian(one, &law, x, xn, above, node, H);
    double *D = assemble(1, node, H, (size_t)dim);
    for (int i = 0; i < dim; i++) {
        change += g[i] * p[i];
        for (int j = 0; j < dim; j++) change += 0.5 * p[i] * D[dim * i + j] * p[j];
    }
    free(D);
    return change;
}

/* Against energies at both ends: the model from above is that, and a kink is where the exact one is not. */
TEST(kinks_are_found_and_the_model_from_above_lies_above)
{
    enum { NV = 16, DIM = 3 * NV, N = 12 };
    static const double sizes[] = { 2e-3, 1e-2, 3e-2, 0.1 };    /* m; the threshold is 0.01 m */
    int kinks = 0, smooth = 0;
    abut_lag lag;
    random_lag(&lag, N, NV, 1);
    for (int k = 0; k < 48; k++) {
        const abut_stiction law = { 0.02, 0.5, k % 3 };
        double *xn = random_positions(NV, 1, 2), *x = random_positions(NV, sizes[k / 3 % 4], (uint64_t)k + 3);
        double *p = random_positions(NV, sizes[k / 12], (uint64_t)k + 100), *to = malloc(DIM * sizeof *to);
        for (int i = 0; i < DIM; i++) x[i] += xn[i], to[i] = x[i] + p[i];
        uint8_t above[N];
        const uint8_t yes = 1;
        abut_friction_kinks(&lag, &law, x, xn, p, above);
        for (size_t i = 0; i < N; i++) {
            const abut_lag one = one_contact(&lag, i);
            const double before = energy(&one, x, xn, law), change = energy(&one, to, xn, law) - before;
            const double kink = 0.1 * law.eps_v * law.h * law.h * law.h * one.mu[0] * one.force[0];
            const double low = model_change(&one, NV, x, xn, law, NULL, p), high = model_change(&one, NV, x, xn, law, &yes, p);
            const double rounding = 1e-10 * (before + fabs(high));
            CHECK(change <= high + rounding);
            if (fabs(change - low - kink) > rounding) CHECK(above[i] == (change > low + kink));
            if (above[i]) kinks++;
            else smooth++;
        }
        free(xn), free(x), free(p), free(to);
    }
    CHECK(kinks > 30 && smooth > 30);
    abut_lag_clear(&lag);
}

TEST(a_contact_turns_between_a_point_where_it_sticks_and_one_where_it_slides)
{
    abut_lag lag;
    random_lag(&lag, 1, 4, 7);
    double *still = random_positions(12, 1, 8), *near = random_positions(12, 1, 9), *far = malloc(12 * sizeof *far);
    for (int i = 0; i < 12; i++) far[i] = still[i] + 3 * (near[i] - still[i]);
    const double slid = abut_friction_slid(&lag, 0, near, still);
    CHECK_NEAR(abut_friction_slid(&lag, 0, far, still), 3 * slid, 1e-12);
    CHECK(abut_friction_turns(&lag, 2 * slid, still, near, far) && abut_friction_turns(&lag, 2 * slid, still, far, near));
    CHECK(!abut_friction_turns(&lag, 4 * slid, still, near, far) && !abut_friction_turns(&lag, 0.5 * slid, still, near, far));
    abut_lag_clear(&lag);
    free(still);
    free(near);
    free(far);
}

TEST(friction_opposes_the_motion_and_never_exceeds_coulombs_limit)
{
    abut_lag lag;
    random_lag(&lag, 1, 16, 7);
    lag.node[0][0] = 0;
    const double xn[3] = { 0 }, h = 0.01, eps_v = 1e-3, *P = lag.basis[0];
    for (int law = ABUT_FRICTION_C0; law < ABUT_FRICTION_FORMS; law++) for (double speed = 1e-6; speed < 10; speed *= 3) {
        double x[3], g[3];
        for (int d = 0; d < 3; d++) x[d] = h * speed * (0.6 * P[d] + 0.8 * P[3 + d]);
        gradient(&lag, 1, x, xn, (abut_stiction){ h, eps_v, law }, g);
        const double force = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) / (h * h), limit = lag.mu[0] * lag.force[0];
        const double q = fmin(1, speed / eps_v), f1[3] = { q, q * (2 - q), q * (3 - q * (3 - q)) }, want = limit * f1[law];
        CHECK_NEAR(force, want, 1e-12 * limit);
        CHECK_NEAR(g[0] * x[0] + g[1] * x[1] + g[2] * x[2], force * h * h * h * speed, 1e-12 * limit * h * h * h * speed);
    }
    abut_lag_clear(&lag);
}

TEST(sums_have_the_same_bits_for_every_thread_count)
{
    enum { NV = 400 };
    abut_lag lag;
    random_lag(&lag, 3000, NV, 8);
    double *xn = random_positions(NV, 1, 9), *x = random_positions(NV, 1e-3, 10), g[2][3 * NV], E[2];
    for (int i = 0; i < 3 * NV; i++) x[i] += xn[i];
    static const int threads[] = { 1, 2, 7 };
    for (int i = 0; i < 3; i++) {
        abut_threads_set(threads[i]);
        E[i > 0] = energy(&lag, x, xn, (abut_stiction){ 0.01, 0.1, ABUT_FRICTION_C1 });
        gradient(&lag, NV, x, xn, (abut_stiction){ 0.01, 0.1, ABUT_FRICTION_C1 }, g[i > 0]);
        CHECK(!i || (E[0] == E[1] && !memcmp(g[0], g[1], sizeof g[0])));
    }
    free(x), free(xn);
    abut_lag_clear(&lag);
}

TEST(frozen_contacts_survive_a_frame)
{
    abut_lag lag, back = { 0 };
    abut_arrays set = { 0 };
    random_lag(&lag, 5, 16, 11);
    CHECK(!abut_lag_to_frame(&lag, &set, NULL));
    double *x = abut_frame_put(&set, "node/x", 16, NULL), *v = abut_frame_put(&set, "node/v", 16, NULL);
    CHECK(x && v);
    abut_model model = { .nv = 16 };
    const abut_collmesh nodes = { .model = &model };
    abut_frame f;
    abut_err err = { 0 };
    CHECK(!abut_frame_view(&set, &model, &f, &err));
    if (err.code) printf("# %s\n", err.msg);
    CHECK(!abut_lag_from_frame(&nodes, &f, &back, NULL) && back.n == 5);
    CHECK(!memcmp(back.node, lag.node, sizeof(int32_t[5][4])) && !memcmp(back.weight, lag.weight, sizeof(double[5][4])));
    CHECK(!memcmp(back.basis, lag.basis, sizeof(double[5][6])) && !memcmp(back.force, lag.force, sizeof(double[5])));
    CHECK(!memcmp(back.mu, lag.mu, sizeof(double[5])));
    lag.n = 0;
    CHECK(!abut_lag_to_frame(&lag, &set, NULL) && !abut_frame_view(&set, &model, &f, NULL) && f.nl == 0);
    CHECK(!abut_lag_from_frame(&nodes, &f, &back, NULL) && back.n == 0);
    abut_lag_clear(&lag), abut_lag_clear(&back);
    abut_lag_clear(&back);
    abut_arrays_clear(&set);
}

/* ---- recorded states of the public ipc-toolkit ---- */

/* numbers of the (nested) array or the one number after "key":, in order; returns how many */
static size_t json_numbers(const char *text, const char *key, double *out, size_t max)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *p = strstr(text, quoted);
    size_t n = 0;
    int depth = 0;
    for (p = p ? p + strlen(quoted) : ""; *p; ) {
        char *end;
        const double v = strtod(p, &end);
        if (end > p) {
            if (n == max) return 0;
            out[n++] = v, p = end;
        } else {
            depth += *p == '[' ? 1 : *p == ']' ? -1 : 0;
            p++;
        }
        if (depth == 0) break;
    }
    return n;
}

/* one recorded contact: four signed ids name the kind, the vertices and the multiplicity */
static abut_stencil decode(const double *id, int32_t node[4], double *mult)
{
    const int32_t v[4] = { (int32_t)id[0], (int32_t)id[1], (int32_t)id[2], (int32_t)id[3] };
    const abut_stencil kind = v[0] >= 0 ? ABUT_EE : v[2] < 0 ? ABUT_PP : v[3] < 0 ? ABUT_PE : ABUT_PT;
    for (int c = 0; c < 4; c++) node[c] = c < abut_stencil_size(kind) ? v[c] : -1;
    if (v[0] < 0) node[0] = -v[0] - 1;
    *mult = kind == ABUT_PP || kind == ABUT_PE ? -v[3] : 1;
    return kind;
}

static void check_recorded(const char *text, const char *name)
{
    enum { MAX = 6000, NV = 16, DIM = 3 * NV, NC = 16 };
    static double ids[4 * NC], forces[NC], grad[DIM], hess[MAX], x0[DIM], xl[DIM], x1[DIM], bases[6 * NC];
    double dhat2, kappa, w2, mu, E;
    CHECK(json_numbers(text, "dhat_squared", &dhat2, 1) && json_numbers(text, "barrier_stiffness", &kappa, 1) &&
          json_numbers(text, "epsv_times_h_squared", &w2, 1) && json_numbers(text, "mu", &mu, 1) &&
          json_numbers(text, "energy", &E, 1));
    const size_t n = json_numbers(text, "mmcvids", ids, 4 * NC) / 4, nh = json_numbers(text, "hessian_triplets", hess, MAX) / 3;
    CHECK(n > 0 && nh > 0 && json_numbers(text, "normal_force_magnitudes", forces, NC) == n);
    CHECK(json_numbers(text, "gradient", grad, DIM) == DIM && json_numbers(text, "V_start", x0, DIM) == DIM);
    CHECK(json_numbers(text, "V_lagged", xl, DIM) == DIM && json_numbers(text, "V_end", x1, DIM) == DIM);
    CHECK(json_numbers(text, "tangent_bases", bases, 6 * NC) == 6 * n);
    abut_lag lag;
    random_lag(&lag, n, NV, 1);
    for (size_t i = 0; i < n; i++) {
        double x[12], mult, db, *P = lag.basis[i];
        const abut_stencil kind = decode(ids + 4 * i, lag.node[i], &mult);
        for (int c = 0; c < 3 * abut_stencil_size(kind); c++) x[c] = xl[3 * lag.node[i][c / 3] + c % 3];
        const double d2 = abut_dist2(kind, x, lag.weight[i]);
        abut_tangent(kind, x, P);
        (void)abut_barrier((abut_barrier_law){ dhat2, ABUT_BARRIER_IPC, 0, 0, 0 }, d2, &db, NULL);
        lag.force[i] = -2 * sqrt(d2) * kappa * db * mult;
        lag.mu[i] = mu;
        CHECK_NEAR(lag.force[i] / forces[i], 1, 1e-11);
        const double *B = bases + 6 * i;   /* recorded as three rows of two; the same plane, maybe turned in itself */
        for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++)
                CHECK_NEAR(P[p] * P[q] + P[3 + p] * P[3 + q], B[2 * p] * B[2 * q] + B[2 * p + 1] * B[2 * q + 1], 1e-11);
    }
    double g[DIM], H[NC * ABUT_PACKED] = { 0 }, bigg = 0, bigH = 0;
    int32_t node[4 * NC];
    const abut_stiction law = { 1, sqrt(w2), ABUT_FRICTION_C1 };
    CHECK_NEAR(energy(&lag, x1, x0, law) / E, 1, 1e-11);
    gradient(&lag, NV, x1, x0, law, g);
    for (int i = 0; i < DIM; i++) bigg = fmax(bigg, fabs(grad[i]));
    for (int i = 0; i < DIM; i++) CHECK_NEAR(g[i], grad[i], 1e-11 * bigg);
    abut_friction_hessian(&lag, &law, x1, x0, NULL, node, H);
    double *D = assemble(n, node, H, DIM);
    for (size_t k = 0; k < nh; k++) bigH = fmax(bigH, fabs(hess[3 * k + 2]));
    for (size_t k = 0; k < nh; k++) D[DIM * (int)hess[3 * k] + (int)hess[3 * k + 1]] -= hess[3 * k + 2];
    for (int i = 0; i < DIM * DIM; i++) CHECK_NEAR(D[i], 0, 1e-11 * bigH);
    free(D);
    abut_lag_clear(&lag);
    if (check_bad) printf("# in %s\n", name);
}

TEST(recorded_states_of_another_implementation_are_reproduced)
{
    static const int numbers[] = { 0, 20, 59, 100, 138, 200, 226, 300, 380, 445 };
    static char text[65536];
    const char *dir = getenv("ABUT_DATA") ? getenv("ABUT_DATA") : "../shared/data";
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        char path[512];
        snprintf(path, sizeof path, "%s/ipc-toolkit/friction/friction_data_%d.json", dir, numbers[k]);
        FILE *f = fopen(path, "rb");
        if (!f) SKIP("no %s", path);
        text[fread(text, 1, sizeof text - 1, f)] = 0;
        fclose(f);
        check_recorded(text, path);
    }
}
