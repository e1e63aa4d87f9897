#include "base/par.h"
#include "energy/elastic.h"
#include "sparse/bsr.h"
#include "sparse/packed_lanes.h"
#include "math/mat3.h"
#include "math/spd_inline.h"
#include "math/svd3.h"

#include "check.h"
#include "kuhn.h"
#include "elastic_gradient.h"

/* rest positions under x -> A x, then jittered */
static double *deformed(const kuhn_box *b, const double A[9], double jitter, uint64_t seed)
{
    abut_rng r = { seed };
    double *x = malloc(sizeof *x * 3 * (size_t)b->model.nv);
    for (int i = 0; i < b->model.nv; i++)
        for (int d = 0; d < 3; d++)
            x[3 * i + d] = A[3 * d] * b->X[3 * i] + A[3 * d + 1] * b->X[3 * i + 1] + A[3 * d + 2] * b->X[3 * i + 2] +
                           abut_rng_real(&r, -jitter, jitter);
    return x;
}

static const double SHEARED[9] = { 1.1, 0.2, 0, -0.1, 0.9, 0.1, 0, 0.05, 1.05 };

static double energy(const abut_elastic *e, const double *x)
{
    abut_arena a = { 0 };
    double E = NAN;
    CHECK(!elastic_energy(e, x, &E, &a, NULL));
    abut_arena_clear(&a);
    return E;
}

static void gradient(const abut_elastic *e, const double *x, double scale, double *g)
{
    abut_arena a = { 0 };
    CHECK(!elastic_gradient(e, x, scale, g, &a, NULL));
    abut_arena_clear(&a);
}

TEST(gradient_is_the_derivative_of_the_energy_for_all_materials_together)
{
    kuhn_box b;
    abut_elastic e;
    kuhn_build(&b, 2, 0.1, 0.15, 6);
    CHECK(!abut_elastic_init(&e, &b.model, NULL));
    double *x = deformed(&b, SHEARED, 0.01, 1), *g = calloc(3 * (size_t)b.model.nv, sizeof *g);
    const double scale = 0.25, h = 1e-7;
    gradient(&e, x, scale, g);
    for (int i = 0; i < 3 * b.model.nv; i++) {
        const double xi = x[i];
        x[i] = xi + h;
        const double up = energy(&e, x);
        x[i] = xi - h;
        const double down = energy(&e, x);
        x[i] = xi;
        CHECK_NEAR(scale * (up - down) / (2 * h), g[i], 2e-6);   /* forces are of the order of 10 N */
    }
    free(x), free(g);
    abut_elastic_clear(&e);
    kuhn_free(&b);
}

/* dense 12x12 of a packed element matrix */
static void unpack(const double *H, double D[144])
{
    int k = 0;
    for (int a = 0; a < 4; a++)
        for (int c = a; c < 4; c++, k++)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    D[12 * (3 * a + i) + 3 * c + j] = D[12 * (3 * c + j) + 3 * a + i] = H[9 * k + 3 * i + j];
}

/* N[144]: central differences of the gradient of a model with one tet, made symmetric. */
static void difference(const abut_elastic *s, const int32_t tet[4], double *x, double scale, double *N)
{
    const double h = 1e-7;
    for (int q = 0; q < 12; q++) {
        double *xq = x + 3 * tet[q / 3] + q % 3, up[24] = { 0 }, down[24] = { 0 };
        const double was = *xq;
        *xq = was + h;
        gradient(s, x, scale, up);
        *xq = was - h;
        gradient(s, x, scale, down);
        *xq = was;
        for (int p = 0; p < 12; p++) {
            const int at = 3 * tet[p / 3] + p % 3;
            N[12 * p + q] = (up[at] - down[at]) / (2 * h);
        }
    }
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < i; j++) N[12 * i + j] = N[12 * j + i] = 0.5 * (N[12 * i + j] + N[12 * j + i]);
}

/* Negative eigenvalues of the Hessian of the density at the tet's F: the projection acts there, not in x. */
static int negative_in_F(const abut_elastic *s, const abut_model *one, const double *x)
{
    double F[9], F9[81], w[9], Q[81];
    int negative = 0;
    abut_elastic_deformation(s, x, 0, F);
    abut_psi_hess(one->mat_model[one->tet_mat[0]], s->lame[0], s->lame[1], F, F9, 0);
    abut_sym_eigen(9, F9, w, Q);
    for (int i = 0; i < 9; i++) negative += w[i] < 0;
    return negative;
}

/* Hessian H of one tet: the derivative of the gradient where nothing was clamped, semidefinite, blind to translations;
 * returns 1 when something was clamped. */
static int check_hessian(const abut_model *one, double *x, double scale, const double *H)
{
    abut_elastic s;
    CHECK(!abut_elastic_init(&s, one, NULL));
    double D[144], N[144], big = 0, w[12], Q[144];
    unpack(H, D);
    difference(&s, one->tet, x, scale, N);
    const int negative = negative_in_F(&s, one, x);
    for (int i = 0; i < 144; i++) big = fmax(big, fabs(D[i]));
    if (!negative)
        for (int i = 0; i < 144; i++) CHECK_NEAR(D[i], N[i], 1e-6 * big);
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < 12; i++)
            CHECK_NEAR(D[12 * i + c] + D[12 * i + 3 + c] + D[12 * i + 6 + c] + D[12 * i + 9 + c], 0, 1e-13 * big);
    abut_sym_eigen(12, D, w, Q);
    for (int i = 0; i < 12; i++) CHECK(w[i] >= -1e-13 * big);
    abut_elastic_clear(&s);
    return negative > 0;
}

TEST(hessian_is_the_projected_derivative_of_the_gradient)
{
    kuhn_box b;
    abut_elastic e;
    kuhn_build(&b, 1, 0.1, 0.15, 6);   /* six tets, one of each material */
    CHECK(!abut_elastic_init(&e, &b.model, NULL));
    const int nt = b.model.nt;
    const double scale = 0.5;
    double *H = malloc(sizeof *H * ABUT_PACKED * (size_t)nt);
    int clamped = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        double *x = deformed(&b, SHEARED, 0.02, seed);
        if (isfinite(energy(&e, x))) {
            abut_elastic_hessian(&e, x, scale, H);
            for (int t = 0; t < nt; t++) {   /* a model with this tet alone gives its gradient */
                abut_model one = b.model;
                one.nt = 1, one.tet += 4 * t, one.tet_mat += t;
                clamped += check_hessian(&one, x, scale, H + ABUT_PACKED * t);
            }
        }
        free(x);
    }
    CHECK(clamped > 10 && clamped < 100);
    free(H);
    abut_elastic_clear(&e);
    kuhn_free(&b);
}

TEST(packed_hessian_is_the_projected_density_hessian_mapped_to_the_corners)
{
    kuhn_box b;
    abut_elastic e;
    kuhn_build(&b, 1, 0.1, 0.15, 6);
    CHECK(!abut_elastic_init(&e, &b.model, NULL));
    double *x = deformed(&b, SHEARED, 0.02, 5), *H = malloc(sizeof *H * ABUT_PACKED * (size_t)b.model.nt);
    abut_elastic_hessian(&e, x, 0.5, H);
    for (int t = 0; t < b.model.nt; t++) {
        double F[9], F9[81], D[144], G[4][3], big = 0;
        const double *B = e.B + 9 * t;
        abut_elastic_deformation(&e, x, t, F);
        abut_psi_hess(b.mat_model[b.tet_mat[t]], e.lame[2 * t], e.lame[2 * t + 1], F, F9, 0);
        abut_psd_project(9, F9);
        unpack(H + ABUT_PACKED * t, D);
        for (int i = 0; i < 144; i++) big = fmax(big, fabs(D[i]));
        for (int i = 0; i < 3; i++)
            for (int a = 1; a < 4; a++) G[a][i] = B[3 * (a - 1) + i];
        for (int i = 0; i < 3; i++) G[0][i] = -(G[1][i] + G[2][i] + G[3][i]);
        for (int p = 0; p < 12; p++)
            for (int q = 0; q < 12; q++) {
                double s = 0;
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++) s += G[p / 3][i] * F9[9 * (3 * (p % 3) + i) + 3 * (q % 3) + j] * G[q / 3][j];
                CHECK_NEAR(0.5 * e.vol[t] * s, D[12 * p + q], 1e-12 * big);
            }
    }
    free(x), free(H);
    abut_elastic_clear(&e);
    kuhn_free(&b);
}

TEST(forces_sum_to_zero_and_rigid_motion_gives_none)
{
    kuhn_box b;
    abut_elastic e;
    kuhn_build(&b, 3, 0.1, 0.1, 6);
    CHECK(!abut_elastic_init(&e, &b.model, NULL));
    double R[9], s[3], V[9], *g = calloc(3 * (size_t)b.model.nv, sizeof *g);
    abut_svd3(SHEARED, V, s, R);
    double *x = deformed(&b, R, 0, 1), *y = deformed(&b, SHEARED, 0.01, 1);
    for (int i = 0; i < 3 * b.model.nv; i++) x[i] += 10 * (i % 3 - 1);
    CHECK_NEAR(energy(&e, x), 0, 1e-9);
    gradient(&e, x, 1, g);
    for (int i = 0; i < 3 * b.model.nv; i++) CHECK_NEAR(g[i], 0, 1e-8);
    memset(g, 0, sizeof *g * 3 * (size_t)b.model.nv);
    gradient(&e, y, 1, g);
    double sum[3] = { 0 }, torque[3] = { 0 }, size = 0;
    for (int i = 0; i < b.model.nv; i++)
        for (int d = 0; d < 3; d++) {
            const int j = (d + 1) % 3, k = (d + 2) % 3;
            sum[d] += g[3 * i + d];
            torque[d] += y[3 * i + j] * g[3 * i + k] - y[3 * i + k] * g[3 * i + j];
            size = fmax(size, fabs(g[3 * i + d]));
        }
    CHECK(size > 1);
    for (int d = 0; d < 3; d++) {
        CHECK_NEAR(sum[d], 0, 1e-11 * size);
        CHECK_NEAR(torque[d], 0, 1e-11 * size);
    }
    free(x), free(y), free(g);
    abut_elastic_clear(&e);
    kuhn_free(&b);
}

TEST(small_uniaxial_strain_gives_the_stress_of_hookes_law)
{
    /* F = diag(1 - nu e, 1 - nu e, 1 + e): small strain, stress E e along z and nothing across */
    const double strain = 1e-6, young = 2e5, nu = 0.3, E[9] = { 1 - nu * strain, 0, 0, 0, 1 - nu * strain, 0, 0, 0, 1 + strain };
    double mu, lambda;
    abut_lame(young, nu, &mu, &lambda);
    for (int model = 0; model < 6; model++) {
        if (model == ABUT_ARAP) continue;   /* has no lambda */
        double P[9];
        abut_psi(model, mu, lambda, E, P);
        CHECK_NEAR(P[8], young * strain, 1e-5 * young * strain);
        CHECK_NEAR(P[0], 0, 1e-5 * young * strain);
        CHECK_NEAR(P[4], 0, 1e-5 * young * strain);
    }
}

TEST(stress_of_a_stretched_tet_is_symmetric_and_has_the_closed_form)
{
    kuhn_box b;
    abut_elastic e;
    kuhn_build(&b, 1, 0.1, 0, 1);
    CHECK(!abut_elastic_init(&e, &b.model, NULL));
    const double A[9] = { 1.2, 0, 0, 0, 1, 0, 0, 0, 1 };
    double *x = deformed(&b, A, 0, 1), s[9], mu, lambda;
    abut_lame(1e5, 0.4, &mu, &lambda);
    const double J = abut_elastic_stress(&e, x, 3, s);   /* sigma_xx = (mu (s^2 - 1) + lambda ln J) / J */
    CHECK_NEAR(J, 1.2, 1e-14);
    CHECK_NEAR(s[0], (mu * 0.44 + lambda * log(1.2)) / 1.2, 1e-9);
    CHECK_NEAR(s[4], lambda * log(1.2) / 1.2, 1e-9);
    CHECK_NEAR(s[1], s[3], 1e-9);
    CHECK_NEAR(abut_von_mises(s), fabs(s[0] - s[4]), 1e-8);
    x[3 * b.tet[1]] -= 5;   /* turned inside out: no stress, and no energy either */
    CHECK(energy(&e, x) == INFINITY);
    int32_t bad = -1;
    for (int t = 0; t < b.model.nt; t++)
        if (abut_elastic_stress(&e, x, t, s) < 0) bad = t;
    CHECK(bad >= 0);
    abut_elastic_stress(&e, x, bad, s);
    CHECK(isnan(s[0]) && isnan(s[8]));
    free(x);
    abut_elastic_clear(&e);
    kuhn_free(&b);
}

TEST(von_mises_of_pure_shear_is_root_three_times_the_shear)
{
    const double s[9] = { 5, 2, 0, 2, 5, 0, 0, 0, 5 };   /* pressure does not count */
    CHECK_NEAR(abut_von_mises(s), 2 * sqrt(3), 1e-14);
}

TEST(energy_and_gradient_have_the_same_bits_for_every_thread_count)
{
    kuhn_box b;
    abut_elastic e;
    kuhn_build(&b, 8, 0.1, 0.1, 6);   /* 3072 tets: six blocks */
    CHECK(!abut_elastic_init(&e, &b.model, NULL));
    const size_t n = 3 * (size_t)b.model.nv, nh = ABUT_PACKED * (size_t)b.model.nt;
    double *x = deformed(&b, SHEARED, 0.01, 3), *g[2], *H[2], E[2];
    static const int threads[] = { 1, 2, 7 };
    for (int i = 0; i < 2; i++) g[i] = malloc(n * sizeof **g), H[i] = malloc(nh * sizeof **H);
    for (int i = 0; i < 3; i++) {
        const int k = i > 0;
        abut_threads_set(threads[i]);
        for (size_t j = 0; j < n; j++) g[k][j] = 1;
        E[k] = energy(&e, x);
        gradient(&e, x, 0.3, g[k]);
        abut_elastic_hessian(&e, x, 0.3, H[k]);
        if (!k) continue;
        CHECK(E[0] == E[1]);
        CHECK(!memcmp(g[0], g[1], n * sizeof **g));
        CHECK(!memcmp(H[0], H[1], nh * sizeof **H));
    }
    CHECK(isfinite(E[0]) && E[0] > 0);
    for (int i = 0; i < 2; i++) free(g[i]), free(H[i]);
    free(x);
    abut_elastic_clear(&e);
    kuhn_free(&b);
}

TEST(a_memo_gives_the_bits_of_energy_and_gradient_and_follows_the_point)
{
    kuhn_box b;
    abut_elastic e;
    abut_elastic_memo memo = { 0 };
    abut_arena a = { 0 };
    kuhn_build(&b, 3, 0.1, 0.1, 6);
    CHECK(!abut_elastic_init(&e, &b.model, NULL));
    const size_t n = 3 * (size_t)b.model.nv;
    double *g = malloc(n * sizeof *g), *want = malloc(n * sizeof *want), last = 0;
    for (uint64_t k = 0; k < 6; k++) {      /* every point twice in a row; the third pair has an inverted neo-Hookean tet */
        double *x = deformed(&b, SHEARED, k / 2 == 1 ? 0.1 : 0.01, k / 2);
        CHECK(!abut_elastic_recall(&e, x, &memo, &a, NULL));
        CHECK(memo.energy == energy(&e, x));
        CHECK(isinf(memo.energy) == (k / 2 == 1));
        CHECK((memo.energy == last) == (k % 2 == 1));
        last = memo.energy;
        for (size_t i = 0; i < n; i++) g[i] = want[i] = 1;
        CHECK(!abut_elastic_gather(&e, &memo, 0.3, g, &a, NULL));
        gradient(&e, x, 0.3, want);
        CHECK(k / 2 == 1 || !memcmp(g, want, n * sizeof *g));
        free(x);
    }
    abut_elastic_memo_clear(&memo);
    abut_elastic_memo_clear(&memo);
    abut_arena_clear(&a);
    free(g), free(want);
    abut_elastic_clear(&e);
    kuhn_free(&b);
}

TEST(bad_materials_and_rest_shapes_are_refused_by_name)
{
    kuhn_box b;
    abut_elastic e;
    abut_err err;
    kuhn_build(&b, 1, 0.1, 0, 6);
    b.mat_model[2] = 10;
    CHECK(abut_elastic_init(&e, &b.model, &err) == ABUT_E_FORMAT && strstr(err.msg, "material 2") && strstr(err.msg, "10"));
    b.mat_model[2] = 2, b.young[1] = 0;
    CHECK(abut_elastic_init(&e, &b.model, &err) == ABUT_E_FORMAT && strstr(err.msg, "Young"));
    b.young[1] = 1e5, b.poisson[3] = 0.5;
    CHECK(abut_elastic_init(&e, &b.model, &err) == ABUT_E_FORMAT && strstr(err.msg, "Poisson"));
    b.poisson[3] = 0.4, b.X[3 * b.tet[4 * 3]] += 50;
    CHECK(abut_elastic_init(&e, &b.model, &err) == ABUT_E_GEOM && strstr(err.msg, "tet "));
    CHECK(!e.B && !e.inc);
    kuhn_free(&b);
}

TEST(too_little_scratch_is_reported_and_leaves_the_outputs_alone)
{
    kuhn_box b;
    abut_elastic e;
    kuhn_build(&b, 2, 0.1, 0, 1);
    CHECK(!abut_elastic_init(&e, &b.model, NULL));
    abut_arena a = { .limit = 64 };
    double E = 42, *g = calloc(3 * (size_t)b.model.nv, sizeof *g);
    abut_err err;
    CHECK(elastic_energy(&e, b.X, &E, &a, &err) == ABUT_E_NOMEM && E == 42);
    CHECK(elastic_gradient(&e, b.X, 1, g, &a, &err) == ABUT_E_NOMEM && g[0] == 0);
    free(g);
    abut_elastic_clear(&e);
    kuhn_free(&b);
    abut_model none = { .nv = 0 };
    CHECK(!abut_elastic_init(&e, &none, NULL));
    CHECK(energy(&e, NULL) == 0);
    abut_elastic_clear(&e);
    abut_elastic_clear(&e);
}

/* neo-Hookean with a volume term, ARAP with fibres and a range of stretches, a spline */
static void with_terms(kuhn_box *b)
{
    static double volume[3] = { 3e4, 0, 1e4 }, stretch[9] = { 0, 0, 2, 4e4, 0.95, 1.1, 0, 0, 2 }, fibre[3] = { 0, 5e4, 2e4 };
    static double knot[4] = { 0.4, 0.8, 1.2, 2 }, slope[12] = { -9e4, 1e3, -2e3, -3e4, 2e3, 0, 3e4, 1e3, 1e3, 1e5, 0, 3e3 },
                  d[3 * 64];
    static int32_t rows[6] = { 0, 0, 0, 0, 0, 4 };
    abut_rng r = { 8 };
    b->mat_model[0] = ABUT_NEO_HOOKEAN, b->mat_model[1] = ABUT_ARAP, b->mat_model[2] = ABUT_SPLINE;
    for (int t = 0; t < b->model.nt; t++) {
        const double u = abut_rng_real(&r, 0, 6), v = abut_rng_real(&r, -0.9, 0.9);
        d[3 * t] = sqrt(1 - v * v) * cos(u), d[3 * t + 1] = sqrt(1 - v * v) * sin(u), d[3 * t + 2] = v;
    }
    b->model.mat_volume = volume, b->model.mat_stretch = stretch, b->model.mat_fibre = fibre, b->model.tet_fibre = d;
    b->model.mat_spline = rows, b->model.spline_knot = knot, b->model.spline_slope = slope, b->model.nkn = 4;
}

TEST(terms_that_add_to_a_material_have_consistent_energy_gradient_and_hessian)
{
    kuhn_box b;
    abut_elastic e;
    abut_arena scratch = { 0 };
    abut_rng r = { 9 };
    kuhn_build(&b, 2, 0.5, 0.1, 3);
    with_terms(&b);
    CHECK(b.model.nt <= 64 && !abut_elastic_init(&e, &b.model, NULL));
    enum { N3 = 81 };
    double x[N3], g[N3], up[N3], down[N3];
    double *H = malloc((size_t)b.model.nt * ABUT_PACKED * sizeof *H);
    abut_bsr A = { 0 };
    const abut_elements set = { .corners = 4, .n = (size_t)b.model.nt, .row = b.model.tet, .val = H };
    CHECK(!abut_bsr_pattern(&A, b.model.nv, &set, 1, NULL));
    for (int i = 0; i < N3; i++) x[i] = (i % 3 == 0 ? 1.3 : 1.02) * b.X[i] + abut_rng_real(&r, -0.02, 0.02);
    memset(g, 0, sizeof g);
    CHECK(!elastic_gradient(&e, x, 2, g, &scratch, NULL));
    abut_elastic_hessian(&e, x, 2, H);
    abut_bsr_assemble(&A, NULL, &set, 1);
    for (int i = 0; i < N3; i++) {
        const double at = x[i], h = 1e-6;
        double more = NAN, less = NAN, v[N3] = { 0 }, Av[N3], curvature = 0, true_curvature = 0;
        x[i] = at + h;
        memset(up, 0, sizeof up);
        CHECK(!elastic_energy(&e, x, &more, &scratch, NULL) && !elastic_gradient(&e, x, 2, up, &scratch, NULL));
        x[i] = at - h;
        memset(down, 0, sizeof down);
        CHECK(!elastic_energy(&e, x, &less, &scratch, NULL) && !elastic_gradient(&e, x, 2, down, &scratch, NULL));
        x[i] = at;
        CHECK_NEAR((more - less) / h, g[i], 1e-5 * 2e4);
        v[i] = 1;
        abut_bsr_multiply(&A, v, Av);
        for (int k = 0; k < N3; k++) curvature += v[k] * Av[k], true_curvature += v[k] * (up[k] - down[k]) / (2 * h);
        CHECK(curvature >= true_curvature - 1e-3 * fabs(true_curvature));     /* the projection only adds */
        CHECK(curvature < 2 * true_curvature);
    }
    abut_bsr_clear(&A);
    abut_elastic_clear(&e);
    abut_arena_clear(&scratch);
    free(H);
    kuhn_free(&b);
}
