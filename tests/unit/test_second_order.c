/* Corrections for rotating thin elements: forecast tensions, and displacements without the stretch of their rotation. */
#include "slender.h"

#include "base/rng.h"
#include "energy/codim.h"
#include "energy/codim_elements.h"

#define PI 3.14159265358979323846

/* ---- tensions ahead ---- */

TEST(the_tension_ahead_is_the_one_of_rods_that_stretch_linearly)
{
    world w;
    double x[48], to[48], T[5], T0[5], near[5];
    abut_rng r = { 19 };
    crumpled_world(&w, x);
    const abut_codim *thin = abut_codim_of(&w.st.solver.prob.terms);
    abut_codim_tension(thin, x, T0);
    for (int32_t i = 0; i < 5; i++) {
        const double *a = x + 3 * w.model.rod[2 * i], *b = x + 3 * w.model.rod[2 * i + 1];
        const double l = abut_v3_norm(abut_v3_sub(abut_v3_get(a), abut_v3_get(b)));
        CHECK_NEAR(T0[i], 1e6 * PI * 1e-6 * (l / 0.1 - 1), 1e-14);
    }
    for (int k = 0; k < 20; k++) {
        double step[48];
        const double t = 1e-6;
        for (int i = 0; i < 48; i++) step[i] = abut_rng_real(&r, -1, 1);
        for (int i = 0; i < 48; i++) to[i] = x[i] + t * step[i];
        abut_codim_tension(thin, to, near);
        memcpy(T, T0, sizeof T);
        for (int i = 0; i < 48; i++) to[i] = 3 * step[i];   /* a step of 3 from an x0 of 0, of which the point makes a third */
        const double zero[48] = { 0 };
        abut_codim_tension_forecast(thin, x, zero, to, 1. / 3, 1, T);
        for (int i = 0; i < 5; i++) CHECK_NEAR((near[i] - T0[i]) / t, T[i] - T0[i], 1e-3);
        for (int i = 0; i < 5; i++) T[i] = 7;
        abut_codim_tension_forecast(thin, x, x, x, 1, 0.25, T);
        for (int i = 0; i < 5; i++) CHECK_NEAR(T[i], 0.75 * 7 + 0.25 * T0[i], 1e-14 * 10);
    }
    /* with the true ones the Hessian is the same, with others it differs across the segments alone */
    double *H[3];
    const size_t n = thin->n * ABUT_PACKED;
    for (int k = 0; k < 3; k++) H[k] = calloc(n, sizeof **H);
    abut_codim_hessian(thin, x, ABUT_CODIM_ALL, 1e3, 0.5, H[0]);
    abut_codim_hessian_ahead(thin, x, ABUT_CODIM_ALL, 1e3, 0.5, T0, NULL, H[1]);
    for (int i = 0; i < 5; i++) T[i] = 2 + fmax(0, T0[i]);
    abut_codim_hessian_ahead(thin, x, ABUT_CODIM_ALL, 1e3, 0.5, T, NULL, H[2]);
    for (size_t k = 0; k < n; k++) CHECK_NEAR(H[1][k], H[0][k], 1e-14 * 1e4);
    for (size_t k = 0; k < n; k++) {
        const size_t e = k / ABUT_PACKED;
        if (e < thin->first[ABUT_CODIM_ROD] || e >= thin->first[ABUT_CODIM_BEND]) CHECK(H[2][k] == H[0][k]);
    }
    for (size_t e = thin->first[ABUT_CODIM_ROD]; e < thin->first[ABUT_CODIM_BEND]; e++) {
        const double *h = H[2] + ABUT_PACKED * e, *h0 = H[0] + ABUT_PACKED * e;
        const double *a = x + 3 * thin->node[4 * e], *b = x + 3 * thin->node[4 * e + 1];
        const abut_vec3 u = abut_v3_sub(abut_v3_get(b), abut_v3_get(a));
        const double more = h[0] + h[4] + h[8] - (h0[0] + h0[4] + h0[8]), U[3] = { u.x, u.y, u.z };
        CHECK_NEAR(more, 0.5 * 2 * 2 / abut_v3_norm(u), 1e-12 * 1e3);
        for (int i = 0; i < 3; i++) {
            double along = 0;
            for (int j = 0; j < 3; j++) along += (h[3 * i + j] - h0[3 * i + j]) * U[j];
            CHECK_NEAR(along, 0, 1e-12 * 1e3);
        }
    }
    for (int k = 0; k < 3; k++) free(H[k]);
    world_close(&w);
}

/* ---- turns ---- */

static double rod_length(const world *w, const double *x, int32_t i)
{
    const int32_t *v = w->model.rod + 2 * i;
    return abut_v3_norm(abut_v3_sub(abut_v3_get(x + 3 * v[1]), abut_v3_get(x + 3 * v[0])));
}

static void shifted(const double *x, double by, const double *d, double *to)
{
    for (int i = 0; i < 48; i++) to[i] = x[i] + by * d[i];
}

/* The largest change of a product of edges when they move by `by` times d without its turn. */
static double reshaped(int k, const double *e, const double *d, double by)
{
    double moved[6] = { 0 }, u[6] = { 0 }, is[6] = { 0 }, most = 0;
    for (int i = 0; i < 3 * k; i++) moved[i] = by * d[i];
    abut_turn_edges(k, e, moved, moved, u);
    for (int i = 0; i < 3 * k; i++) is[i] = e[i] + moved[i] - u[i];
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++)
            most = fmax(most, fabs(abut_v3_dot(abut_v3_get(is + 3 * i), abut_v3_get(is + 3 * j)) -
                                   abut_v3_dot(abut_v3_get(e + 3 * i), abut_v3_get(e + 3 * j))));
    return most;
}

TEST(edges_without_their_turn_keep_their_shape_and_strain)
{
    abut_rng r = { 29 };
    for (int n = 0; n < 100; n++) {
        double e[6], d[6], u[6];
        const int k = 1 + n % 2;
        const double angle = abut_rng_real(&r, 0.1, 1), zero[6] = { 0 };
        for (int i = 0; i < 6; i++) e[i] = abut_rng_real(&r, -1, 1);
        const abut_vec3 a = abut_v3_get(e), b = abut_v3_get(e + 3), axb = abut_v3_cross(a, b);
        const abut_vec3 axis = abut_v3_scale(1 / abut_v3_norm(axb), axb);
        if (abut_v3_norm(axb) < 0.2) continue;
        /* a turn by an angle: its first order shrinks by 1 - cos; where no motion was meant it stretches nothing */
        for (int j = 0; j < k; j++) {
            const abut_vec3 is = abut_v3_get(e + 3 * j), across = abut_v3_cross(axis, is);
            abut_v3_put(d + 3 * j, abut_v3_axpy(abut_v3_scale(cos(angle) - 1, is), sin(angle), across));
        }
        abut_turn_edges(k, e, d, d, u);
        for (int i = 0; i < 3 * k; i++) CHECK_NEAR(u[i], 0.5 * sin(angle) * sin(angle) * e[i], 1e-12);
        abut_turn_edges(k, e, d, zero, u);
        for (int i = 0; i < 3 * k; i++) CHECK_NEAR(u[i], 0, 1e-12);
        /* motions that only turn to first order keep the shape to higher than second order */
        abut_vec3 spin;
        spin.x = abut_rng_real(&r, -1, 1), spin.y = abut_rng_real(&r, -1, 1), spin.z = abut_rng_real(&r, -1, 1);
        for (int j = 0; j < k; j++) {
            const abut_vec3 turned = abut_v3_cross(spin, abut_v3_get(e + 3 * j));
            abut_v3_put(d + 3 * j, abut_v3_axpy(turned, abut_rng_real(&r, -1, 1), axis));
        }
        CHECK(reshaped(k, e, d, 1e-2) <= 0.15 * reshaped(k, e, d, 2e-2) + 1e-14);
        /* a strain without a turn is left alone: along the edge, or by a symmetric matrix in the plane */
        const abut_vec3 along = abut_v3_scale(1 / abut_v3_norm(a), a), side = abut_v3_cross(axis, along);
        const double s[3] = { abut_rng_real(&r, -0.4, 0.4), abut_rng_real(&r, -0.4, 0.4),
                              k == 2 ? abut_rng_real(&r, -0.4, 0.4) : 0 };
        for (int j = 0; j < k; j++) {
            const double p = abut_v3_dot(along, abut_v3_get(e + 3 * j)), q = abut_v3_dot(side, abut_v3_get(e + 3 * j));
            const abut_vec3 one = abut_v3_scale(s[0] * p + s[2] * q, along), two = abut_v3_scale(s[2] * p + s[1] * q, side);
            abut_v3_put(d + 3 * j, abut_v3_add(one, two));
        }
        abut_turn_edges(k, e, d, d, u);
        for (int i = 0; i < 3 * k; i++) CHECK_NEAR(u[i], 0, 1e-11);
    }
}

/* Against differences of lengths, their second ones along a displacement and their first along another; what a turn costs
 * against the energy of shells and segments that shrink. */
TEST(turns_of_thin_elements_are_taken_back_by_their_stiffness)
{
    world w;
    double x[48], d[48], v[48], to[48], cost = NAN;
    abut_rng r = { 23 };
    crumpled_world(&w, x);
    const abut_codim *thin = abut_codim_of(&w.st.solver.prob.terms);
    abut_model rods = w.model;
    abut_codim bare;
    rods.nsh = rods.nhg = rods.nbd = 0;
    CHECK(!abut_codim_init(&bare, &rods, NULL));
    const double reach = 0.4, scale = 0.7, k = 1e6 * PI * 1e-6 / 0.1, t = 1e-4;
    double *H = calloc(thin->n * ABUT_PACKED, sizeof *H);
    abut_codim_hessian(&bare, x, ABUT_CODIM_ALL, 0, scale * reach * reach, H);
    for (int n = 0; n < 20; n++) {
        double g[48] = { 0 }, work = 0, expected = 0;
        for (int i = 0; i < 48; i++) d[i] = abut_rng_real(&r, -t, t), v[i] = abut_rng_real(&r, -1, 1);
        CHECK(!abut_codim_turn(&bare, x, d, d, reach, H, g, &cost, &w.st.solver.scratch, NULL));
        for (int i = 0; i < 48; i++) work += g[i] * v[i];
        for (int32_t i = 0; i < w.model.nrd; i++) {
            double l[3], grown[2];
            for (int j = -1; j <= 1; j++) shifted(x, j * reach, d, to), l[j + 1] = rod_length(&w, to, i);
            for (int j = 0; j < 2; j++) shifted(x, j ? 1e-6 : -1e-6, v, to), grown[j] = rod_length(&w, to, i);
            expected += scale * reach * k * 0.5 * (l[0] - 2 * l[1] + l[2]) * (grown[1] - grown[0]) / 2e-6;
        }
        CHECK_NEAR(work, expected, 1e-2 * 5 * scale * reach * k * t * t / 0.1);
    }
    /* the strip and the rod at rest turn about the z-axis by a small angle */
    double g[48] = { 0 }, E = NAN;
    const double angle = 0.02, *X = w.model.X, shrunk = cos(angle);
    memset(H, 0, thin->n * ABUT_PACKED * sizeof *H);
    abut_codim_hessian(thin, X, ABUT_CODIM_ALL, 0, scale, H);
    for (int i = 0; i < 16; i++) {
        d[3 * i] = (shrunk - 1) * X[3 * i] - sin(angle) * X[3 * i + 1];
        d[3 * i + 1] = sin(angle) * X[3 * i] + (shrunk - 1) * X[3 * i + 1];
        d[3 * i + 2] = 0;
        to[3 * i] = shrunk * X[3 * i], to[3 * i + 1] = shrunk * X[3 * i + 1], to[3 * i + 2] = X[3 * i + 2];
    }
    CHECK(!abut_codim_turn(thin, X, d, d, 1, H, g, &cost, &w.st.solver.scratch, NULL));
    CHECK(!abut_codim_energy(thin, to, ABUT_CODIM_ALL, 0, &E, &w.st.solver.scratch, NULL));
    CHECK_NEAR(cost / (scale * E), 1, 1e-3);
    free(H);
    abut_codim_clear(&bare);
    world_close(&w);
}

/* Stiff segments in free flight, which turn by half a right angle in a step: the same end with and without corrected steps, in
 * many fewer iterations. */
TEST(segments_turn_in_few_iterations)
{
    double end[2][12];
    int iterations[2];
    for (int off = 0; off < 2; off++) {
        slender *s = slender_new();
        world w;
        s->young = 1e9;
        s->scheme = ABUT_IMPLICIT_EULER;
        s->h = 0.02;
        s->tol = 1e-6;
        for (int i = 0; i < 4; i++) (void)slender_node(s, 0.006 * (i % 2), 0.05 * (i / 2), 0);
        slender_rod(s, 0, 1);
        slender_rod(s, 2, 3);
        s->v[3 * 1 + 2] = 0.25;
        s->v[3 * 2 + 1] = -0.12, s->v[3 * 3 + 1] = 0.12;
        slender_open(&w, s);
        world_without(&w, off ? ABUT_WITHOUT_SECOND_ORDER : 0);
        CHECK(!world_judged(&w, 1));
        iterations[off] = w.rep.newton;
        memcpy(end[off], get(&w, "node/x"), sizeof end[off]);
        for (int32_t i = 0; i < 2; i++) CHECK_NEAR(rod_length(&w, end[off], i), 0.006, 1e-7);
        world_close(&w);
    }
    printf("# %d iterations, without correction %d\n", iterations[0], iterations[1]);
    for (int i = 0; i < 12; i++) CHECK_NEAR(end[0][i], end[1][i], 4 * 0.02 * 1e-6);
    CHECK(2 * iterations[0] <= iterations[1]);
}

/* A stiff rod that stands on its foot, and leans: gravity tips it with 0.8 of what its inertia holds it with, which the matrix
 * does not know.  Corrected steps are made longer, too, but not where friction may take several passes: the twin. */
TEST(a_rod_that_tips_over_takes_long_steps)
{
    double end[2][3];
    int iterations[2];
    for (int lags = 1; lags <= 2; lags++) {
        slender *s = slender_new();
        world w;
        s->young = 1e7;
        s->scheme = ABUT_IMPLICIT_EULER;
        s->gravity[1] = -9.81;
        s->h = sqrt(0.8 * 0.1 / 9.81);
        s->tol = 1e-4;
        s->lags = lags;
        (void)slender_node(s, 0, 0, 0);
        (void)slender_node(s, 0.1 * sin(0.2), 0.1 * cos(0.2), 0);
        slender_rod(s, 0, 1);
        s->held[s->n_held++] = 0;
        slender_open(&w, s);
        CHECK(!world_judged(&w, 1));
        iterations[lags - 1] = w.rep.newton;
        memcpy(end[lags - 1], get(&w, "node/x") + 3, sizeof end[0]);
        CHECK_NEAR(rod_length(&w, get(&w, "node/x"), 0), 0.1, 1e-5);
        world_close(&w);
    }
    printf("# %d iterations, without longer steps %d\n", iterations[0], iterations[1]);
    for (int i = 0; i < 3; i++) CHECK_NEAR(end[0][i], end[1][i], 5 * 0.09 * 1e-4);
    CHECK(3 * iterations[0] <= 2 * iterations[1]);
}

/* A hair clamped at one end falls from the horizontal: stiff along, soft across.  What tensions ahead and corrected steps bring
 * is a count of iterations, and every step ends where a direction of the true Hessian is small too. */
TEST(a_falling_hair_takes_few_iterations)
{
    slender *s = slender_new();
    world w;
    int iterations = 0;
    s->young = 1e9;
    s->density = 1300;
    s->radius = 4e-5;
    s->scheme = ABUT_IMPLICIT_EULER;
    s->h = 0.01;
    s->tol = 2e-3;
    s->gravity[1] = -9.81;
    for (int i = 0; i <= 40; i++) (void)slender_node(s, 0.005 * i, 0, 0);
    slender_rod(s, 0, 40);
    for (int i = 0; i < 2; i++) s->held[s->n_held++] = i;
    slender_open(&w, s);
    for (int n = 0; n < 20; n++) {
        double left = INFINITY;
        CHECK(!world_judged(&w, 1));
        iterations += w.rep.newton;
        CHECK(!abut_search_residual(&w.st.solver, &left, &w.rep, &w.err));
        CHECK(left <= 2e-3);
    }
    printf("# %.2f iterations in a step\n", iterations / 20.);
    CHECK(get(&w, "node/x")[3 * 40 + 1] < -0.1);
    CHECK(iterations <= 20 * 4);     /* without tensions ahead and corrected steps 15, with the first alone 6 */
    world_close(&w);
}
