/* Rods and shells in the solver against the theories of strings, beams, plates and membranes. */
#include "slender.h"

#include "base/rng.h"
#include "energy/turn.h"
#include "linalg/bsr.h"

#define PI 3.14159265358979323846

/* ---- sums ---- */

/* A crumpled strip of shells with hinges, and a rod of its own. */
static void crumpled(world *w, double *x)
{
    slender *s = slender_new();
    abut_rng r = { 17 };
    for (int i = 0; i < 10; i++) (void)slender_node(s, 0.1 * (i / 2), 0, 0.1 * (i % 2));
    for (int i = 0; i < 8; i++) slender_shell(s, i, i % 2 ? i + 1 : i + 2, i % 2 ? i + 2 : i + 1);
    slender_hinges(s, 0);
    for (int i = 0; i < 6; i++) (void)slender_node(s, 0.1 * i, 1, 0);
    slender_rod(s, 10, 15);
    slender_open(w, s);
    for (int i = 0; i < 3 * w->model.nv; i++) x[i] = w->model.X[i] + abut_rng_real(&r, -0.03, 0.03);
}

static double thin_energy(world *w, const double *x)
{
    double E = NAN;
    CHECK(!abut_thin_energy(&w->st.solver.prob.thin, x, ABUT_THIN_ALL, 1e3, &E, &w->st.solver.scratch, NULL));
    return E;
}

TEST(thin_elements_of_all_kinds_add_up)
{
    world w;
    double x[48], g[48] = { 0 }, by_hand = 0;
    crumpled(&w, x);
    const abut_model *m = &w.model;
    CHECK(m->nsh == 8 && m->nhg == 7 && m->nrd == 5 && m->nbd == 4);
    /* without the shells: a model of the same nodes */
    abut_model bare = *m;
    abut_thin thin;
    double E = NAN;
    bare.nsh = 0;
    CHECK(!abut_thin_init(&thin, &bare, NULL));
    CHECK(!abut_thin_energy(&thin, x, ABUT_THIN_ALL, 0, &E, &w.st.solver.scratch, NULL));
    for (int32_t i = 0; i < m->nhg; i++) {
        const double bent = remainder(slender_theta(x, m->hinge + 4 * i) - m->hinge_angle[i], 2 * PI);
        by_hand += m->hinge_stiffness[i] * bent * bent;
    }
    for (int32_t i = 0; i < m->nrd; i++) {
        const double *a = x + 3 * m->rod[2 * i], *b = x + 3 * m->rod[2 * i + 1];
        const double l = abut_v3_norm(abut_v3_sub(abut_v3_get(a), abut_v3_get(b))), strain = l / m->rod_length[i] - 1;
        by_hand += 0.5 * m->mat_young[0] * PI * m->rod_radius[i] * m->rod_radius[i] * m->rod_length[i] * strain * strain;
    }
    for (int32_t i = 0; i < m->nbd; i++) {
        abut_vec3 e[2];
        for (int k = 0; k < 2; k++)
            e[k] = abut_v3_sub(abut_v3_get(x + 3 * m->bend[3 * i + k + 1]), abut_v3_get(x + 3 * m->bend[3 * i + k]));
        const double t = 2 * tan(0.5 * atan2(abut_v3_norm(abut_v3_cross(e[0], e[1])), abut_v3_dot(e[0], e[1])));
        by_hand += m->bend_stiffness[i] * t * t;
    }
    CHECK_NEAR(E, by_hand, 1e-13 * by_hand);
    CHECK(by_hand > 0.01);
    /* and nothing of it is bounded */
    CHECK(!abut_thin_energy(&thin, x, ABUT_THIN_BOUNDED, 0, &E, &w.st.solver.scratch, NULL));
    CHECK(E == 0);
    abut_thin_clear(&thin);

    CHECK(!abut_thin_gradient(&w.st.solver.prob.thin, x, ABUT_THIN_ALL, 1e3, 0.5, g, &w.st.solver.scratch, NULL));
    double size = 0;
    for (int i = 0; i < 48; i++) size = fmax(size, fabs(g[i]));
    for (int i = 0; i < 48; i++) {
        const double at = x[i], t = 1e-7;
        x[i] = at + t;
        const double more = thin_energy(&w, x);
        x[i] = at - t;
        CHECK_NEAR(0.5 * (more - thin_energy(&w, x)) / (2 * t), g[i], 1e-7 * size);
        x[i] = at;
    }
    world_close(&w);
}

TEST(the_hessian_of_thin_elements_is_semidefinite_and_the_true_one_at_rest)
{
    world w;
    double x[48], y[48], column[48];
    abut_rng r = { 18 };
    abut_bsr A = { 0 };
    crumpled(&w, x);
    const abut_thin *thin = &w.st.solver.prob.thin;
    double *H = calloc(thin->n * ABUT_PACKED, sizeof *H);
    const abut_elems set = { thin->n, thin->node, H };
    CHECK(!abut_bsr_pattern(&A, w.model.nv, &set, 1, NULL));
    for (int flat = 0; flat < 2; flat++) {
        const double *at = flat ? w.model.X : x;
        memset(H, 0, thin->n * ABUT_PACKED * sizeof *H);
        abut_thin_hessian(thin, at, ABUT_THIN_ALL, 1e3, 0.5, H);
        abut_bsr_assemble(&A, NULL, &set, 1);
        for (int k = 0; k < 100; k++) {
            double curvature = 0, size = 0;
            for (int i = 0; i < 48; i++) y[i] = abut_rng_real(&r, -1, 1);
            abut_bsr_multiply(&A, y, column);
            for (int i = 0; i < 48; i++) curvature += y[i] * column[i], size += fabs(y[i] * column[i]);
            CHECK(curvature >= -1e-12 * size);
        }
    }
    for (int i = 0; i < 48; i++) {      /* the rest shape: A is still that of it */
        double more[48] = { 0 }, less[48] = { 0 }, e[48] = { 0 };
        const double t = 1e-6;
        memcpy(y, w.model.X, sizeof y);
        e[i] = 1;
        abut_bsr_multiply(&A, e, column);
        y[i] = w.model.X[i] + t;
        CHECK(!abut_thin_gradient(thin, y, ABUT_THIN_ALL, 1e3, 0.5, more, &w.st.solver.scratch, NULL));
        y[i] = w.model.X[i] - t;
        CHECK(!abut_thin_gradient(thin, y, ABUT_THIN_ALL, 1e3, 0.5, less, &w.st.solver.scratch, NULL));
        for (int k = 0; k < 48; k++) CHECK_NEAR((more[k] - less[k]) / (2 * t), column[k], 1e-6 * 1e3);
    }
    abut_bsr_clear(&A);
    free(H);
    world_close(&w);
}

/* ---- tensions ahead ---- */

TEST(the_tension_ahead_is_the_one_of_rods_that_stretch_linearly)
{
    world w;
    double x[48], to[48], T[5], T0[5], near[5];
    abut_rng r = { 19 };
    crumpled(&w, x);
    const abut_thin *thin = &w.st.solver.prob.thin;
    abut_thin_tension(thin, x, T0);
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
        abut_thin_tension(thin, to, near);
        memcpy(T, T0, sizeof T);
        for (int i = 0; i < 48; i++) to[i] = 3 * step[i];   /* a step of 3 from an x0 of 0, of which the point makes a third */
        const double zero[48] = { 0 };
        abut_thin_tension_forecast(thin, x, zero, to, 1. / 3, 1, T);
        for (int i = 0; i < 5; i++) CHECK_NEAR((near[i] - T0[i]) / t, T[i] - T0[i], 1e-3);
        for (int i = 0; i < 5; i++) T[i] = 7;
        abut_thin_tension_forecast(thin, x, x, x, 1, 0.25, T);
        for (int i = 0; i < 5; i++) CHECK_NEAR(T[i], 0.75 * 7 + 0.25 * T0[i], 1e-14 * 10);
    }
    /* with the true ones the Hessian is the same, with others it differs across the segments alone */
    double *H[3];
    const size_t n = thin->n * ABUT_PACKED;
    for (int k = 0; k < 3; k++) H[k] = calloc(n, sizeof **H);
    abut_thin_hessian(thin, x, ABUT_THIN_ALL, 1e3, 0.5, H[0]);
    abut_thin_hessian_ahead(thin, x, ABUT_THIN_ALL, 1e3, 0.5, T0, H[1]);
    for (int i = 0; i < 5; i++) T[i] = 2 + fmax(0, T0[i]);
    abut_thin_hessian_ahead(thin, x, ABUT_THIN_ALL, 1e3, 0.5, T, H[2]);
    for (size_t k = 0; k < n; k++) CHECK_NEAR(H[1][k], H[0][k], 1e-14 * 1e4);
    for (size_t k = 0; k < n; k++) {
        const size_t e = k / ABUT_PACKED;
        if (e < thin->first[ABUT_THIN_ROD] || e >= thin->first[ABUT_THIN_BEND]) CHECK(H[2][k] == H[0][k]);
    }
    for (size_t e = thin->first[ABUT_THIN_ROD]; e < thin->first[ABUT_THIN_BEND]; e++) {
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
    crumpled(&w, x);
    const abut_thin *thin = &w.st.solver.prob.thin;
    abut_model rods = w.model;
    abut_thin bare;
    rods.nsh = rods.nhg = rods.nbd = 0;
    CHECK(!abut_thin_init(&bare, &rods, NULL));
    const double reach = 0.4, scale = 0.7, k = 1e6 * PI * 1e-6 / 0.1, t = 1e-4;
    double *H = calloc(thin->n * ABUT_PACKED, sizeof *H);
    abut_thin_hessian(&bare, x, ABUT_THIN_ALL, 0, scale * reach * reach, H);
    for (int n = 0; n < 20; n++) {
        double g[48] = { 0 }, work = 0, expected = 0;
        for (int i = 0; i < 48; i++) d[i] = abut_rng_real(&r, -t, t), v[i] = abut_rng_real(&r, -1, 1);
        CHECK(!abut_thin_turn(&bare, x, d, d, reach, H, g, &cost, &w.st.solver.scratch, NULL));
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
    abut_thin_hessian(thin, X, ABUT_THIN_ALL, 0, scale, H);
    for (int i = 0; i < 16; i++) {
        d[3 * i] = (shrunk - 1) * X[3 * i] - sin(angle) * X[3 * i + 1];
        d[3 * i + 1] = sin(angle) * X[3 * i] + (shrunk - 1) * X[3 * i + 1];
        d[3 * i + 2] = 0;
        to[3 * i] = shrunk * X[3 * i], to[3 * i + 1] = shrunk * X[3 * i + 1], to[3 * i + 2] = X[3 * i + 2];
    }
    CHECK(!abut_thin_turn(thin, X, d, d, 1, H, g, &cost, &w.st.solver.scratch, NULL));
    CHECK(!abut_thin_energy(thin, to, ABUT_THIN_ALL, 0, &E, &w.st.solver.scratch, NULL));
    CHECK_NEAR(cost / (scale * E), 1, 1e-3);
    free(H);
    abut_thin_clear(&bare);
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
        w.st.solver.turn.off = off;
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
        CHECK(!abut_solver_residual(&w.st.solver, &left, &w.rep, &w.err));
        CHECK(left <= 2e-3);
    }
    printf("# %.2f iterations in a step\n", iterations / 20.);
    CHECK(get(&w, "node/x")[3 * 40 + 1] < -0.1);
    CHECK(iterations <= 20 * 4);     /* without tensions ahead and corrected steps 15, with the first alone 6 */
    world_close(&w);
}

/* ---- rods ---- */

/* A cantilever along x of length 1 from the middle of its first segment, which is held: there the discrete rod is clamped, and
 * the sum over its bends is the midpoint rule.  P at the free end, along -y. */
static const double ROD_YOUNG = 1e8, ROD_RADIUS = 2e-3;
static double rod_stiffness(void) { return ROD_YOUNG * PI * pow(ROD_RADIUS, 4) / 4; }

static void cantilever(world *w, int n, double P)
{
    slender *s = slender_new();
    const double l = 1 / (n - 0.5);
    s->young = ROD_YOUNG;
    s->radius = ROD_RADIUS;
    for (int i = 0; i <= n; i++) (void)slender_node(s, (i - 0.5) * l, 0, 0);
    slender_rod(s, 0, n);
    s->held[s->n_held++] = 0;
    s->held[s->n_held++] = 1;
    s->loaded[s->n_loaded++] = n;
    s->load[1] = -P / s->mass[n];
    slender_open(w, s);
}

static const double *end_node(const world *w) { return get(w, "node/x") + 3 * (w->model.nv - 1); }

TEST(a_clamped_rod_deflects_like_a_beam)
{
    double off[2];
    for (int k = 0; k < 2; k++) {
        world w;
        cantilever(&w, 25 << k, 3e-4 * rod_stiffness());
        CHECK(!world_judged(&w, 1));
        off[k] = 1 + end_node(&w)[1] / 1e-4;
        world_close(&w);
    }
    printf("# off by %.2g with 25 segments, by %.2g with 50\n", off[0], off[1]);
    CHECK_NEAR(off[1], 0, 1e-3);
    CHECK_NEAR(off[0] / off[1], 4, 0.3);
}

/* EI theta'' = -P cos theta, theta(0) = 0, theta'(1) = 0, by shooting with Runge and Kutta's method; theta counted downwards.
 * end: x and y of the free end. */
static double elastica_shot(double load, double curvature, double end[2])
{
    enum { STEPS = 2000 };
    const double h = 1. / STEPS;
    double y[4] = { 0, curvature, 0, 0 };   /* theta, theta', x, depth */
    for (int i = 0; i < STEPS; i++) {
        double k[4][4], at[4];
        for (int r = 0; r < 4; r++) {
            for (int c = 0; c < 4; c++) at[c] = y[c] + (r == 0 ? 0 : (r == 3 ? h : h / 2) * k[r - 1][c]);
            k[r][0] = at[1];
            k[r][1] = -load * cos(at[0]);
            k[r][2] = cos(at[0]);
            k[r][3] = sin(at[0]);
        }
        for (int c = 0; c < 4; c++) y[c] += h / 6 * (k[0][c] + 2 * k[1][c] + 2 * k[2][c] + k[3][c]);
    }
    end[0] = y[2];
    end[1] = -y[3];
    return y[1];
}

static void elastica(double load, double end[2])
{
    double lo = 0, hi = load + 1;
    for (int i = 0; i < 60; i++) {
        const double mid = (lo + hi) / 2;
        *(elastica_shot(load, mid, end) < 0 ? &lo : &hi) = mid;
    }
}

TEST(a_cantilever_under_a_large_load_is_the_elastica)
{
    for (int load = 1; load <= 10; load *= 10) {        /* the free end goes down by 0.30 and 0.81 of the length */
        double end[2];
        world w;
        elastica(load, end);
        cantilever(&w, 60, load * rod_stiffness());
        CHECK(!world_judged(&w, 1));
        const double *x = end_node(&w);
        printf("# load %d: end at %.5f, %.5f, the elastica's at %.5f, %.5f; %d iterations\n", load, x[0], x[1], end[0], end[1],
               w.rep.newton);
        CHECK_NEAR(x[0], end[0], 1e-3);
        CHECK_NEAR(x[1], end[1], 1e-3);
        world_close(&w);
    }
}

TEST(a_straight_rod_stretches_by_hooke)
{
    for (int k = 0; k < 2; k++) {
        const double strain = k ? 0.5 : 0.01;
        slender *s = slender_new();
        world w;
        for (int i = 0; i <= 10; i++) (void)slender_node(s, 0, 0.1 * i, 0);
        slender_rod(s, 0, 10);
        s->held[s->n_held++] = 0;
        s->loaded[s->n_loaded++] = 10;
        s->load[1] = strain * s->young * PI * s->radius * s->radius / s->mass[10];
        slender_open(&w, s);
        CHECK(!world_judged(&w, 1));
        for (int i = 0; i <= 10; i++) CHECK_NEAR(get(&w, "node/x")[3 * i + 1], 0.1 * i * (1 + strain), 1e-9);
        CHECK_NEAR(w.rep.elastic, 0.5 * 1e6 * PI * 1e-6 * strain * strain, 1e-12);
        world_close(&w);
    }
}

/* ---- plates ---- */

/* An equilateral triangle of height 1 in the plane y = 0, simply supported, n cells on a side: w(centre) = q a^4 / (972 D) under
 * its own weight q (Woinowsky-Krieger 1933). */
static double plate_centre(int n)
{
    slender *s = slender_new();
    const double L = 2 / sqrt(3) / n, D = s->young * pow(s->thick, 3) / (12 * (1 - s->poisson * s->poisson));
    const double exact = 0.01 * s->thick;    /* so little that the membrane has no part in it */
    world w;
    s->tol = 1e-13;
    s->gravity[1] = -972 * D * exact / (s->density * s->thick);
    for (int j = 0; j <= n; j++)
        for (int i = 0; i <= n - j; i++) {
            const int32_t v = slender_node(s, L * (i + 0.5 * j), 0, -L * sqrt(0.75) * j);
            if (i == 0 || j == 0 || i + j == n) s->held[s->n_held++] = v;
        }
#define AT(i, j) ((j) * (n + 1) - (j) * ((j) - 1) / 2 + (i))
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n - j; i++) {
            slender_shell(s, AT(i, j), AT(i + 1, j), AT(i, j + 1));
            if (i + j < n - 1) slender_shell(s, AT(i + 1, j), AT(i + 1, j + 1), AT(i, j + 1));
        }
    slender_hinges(s, 1);
    slender_open(&w, s);
    CHECK(!world_judged(&w, 1));
    const double y = get(&w, "node/x")[3 * AT(n / 3, n / 3) + 1];
#undef AT
    world_close(&w);
    return -y / exact;
}

TEST(a_plate_bends_as_kirchhoff_says)
{
    const int finest = check_runs(24, 48);
    double before = 0, off = 0;
    for (int n = 6; n <= finest; n *= 2) {
        before = off;
        off = plate_centre(n) - 1;
        printf("# %d cells: off by %.3g\n", n, off);
        CHECK(n == 6 || fabs(off) < fabs(before) / 2);
    }
    CHECK_NEAR(off, 0, 0.02);
}

/* A strip of equilateral triangles, `rows` of them across and twelve times as long, clamped at one end, sinks under its own
 * weight q.  At a third of its length it is bent by the moment q l^2 / 2 of what hangs beyond, l; a plate of the Poisson ratio
 * nu' of hinges (energy/hinge.h) is bent across by -nu' of that, and lengthwise by the moment over D' (1 - nu'^2).  across: its
 * curvature there over that lengthwise; along: that over the latter. */
static void strip_curvatures(int rows, double *across, double *along)
{
    slender *s = slender_new();
    const int n = (int)lround(12 * rows * sqrt(0.75));
    const double L = 0.01, D = 3 * s->young * pow(s->thick, 3) / (12 * (1 - s->poisson * s->poisson));
    world w;
    s->tol = 1e-14;
    s->gravity[1] = -1e-9;
    const double q = s->density * s->thick * s->gravity[1];
    for (int j = 0; j <= rows; j++)     /* rows alternate; a half cell at either end makes it ragged there */
        for (int i = 0; i <= n; i++) {
            const int32_t v = slender_node(s, L * (i + (j % 2 ? 0.5 : 0)), 0, -L * sqrt(0.75) * j);
            if (i < 2) s->held[s->n_held++] = v;
        }
    for (int j = 0; j < rows; j++)
        for (int i = 0; i < n; i++) {
            const int32_t a = j * (n + 1) + i, b = a + n + 1;
            slender_shell(s, a, a + 1, j % 2 ? b + 1 : b);
            slender_shell(s, j % 2 ? a : a + 1, b + 1, b);
        }
    slender_hinges(s, 0);
    slender_open(&w, s);
    CHECK(!world_judged(&w, 1));
    const double *x = get(&w, "node/x");
    const int mid = rows / 2, at = n / 3;
#define Y(i, j) x[3 * ((j) * (n + 1) + (i)) + 1]
    const double Kx = (Y(at + 1, mid) - 2 * Y(at, mid) + Y(at - 1, mid)) / (L * L);
    const double Kz = (Y(at, mid + 2) - 2 * Y(at, mid) + Y(at, mid - 2)) / (3 * L * L);
#undef Y
    const double beyond = L * (n + 0.25 - at - (mid % 2 ? 0.5 : 0));
    *across = Kz / Kx;
    *along = Kx / (0.5 * q * beyond * beyond / (D * (1 - 1. / 9)));
    world_close(&w);
}

TEST(a_bent_strip_of_equilateral_triangles_bends_across_a_third_as_much)
{
    double across, along;
    strip_curvatures(4, &across, &along);
    printf("# across %.4f of lengthwise, that %.4f of the closed form\n", across, along);
    CHECK_NEAR(across, 1. / 3, 0.005);
    CHECK_NEAR(along, 1, 0.003);
}

/* ---- motion ---- */

/* rows of near-equilateral triangles in the plane y = 0; returns the node at the end of the first row */
static int32_t sheet(slender *s, int cells, double edge)
{
    for (int j = 0; j <= cells; j++)
        for (int i = 0; i <= cells; i++) (void)slender_node(s, edge * (i + (j % 2 ? 0.5 : 0)), 0, -edge * sqrt(0.75) * j);
    for (int j = 0; j < cells; j++)
        for (int i = 0; i < cells; i++) {
            const int32_t a = j * (cells + 1) + i, b = a + cells + 1;
            slender_shell(s, a, a + 1, j % 2 ? b + 1 : b);
            slender_shell(s, j % 2 ? a : a + 1, b + 1, b);
        }
    slender_hinges(s, 0);
    return cells;
}

/* sum m (v' - v), and sum m z x (v' - v) with z where the scheme takes the elastic forces */
static void change(const world *w, const double *x0, const double *v0, double share, double p[3], double l[3])
{
    const double *x = get(w, "node/x"), *v = get(w, "node/v");
    memset(p, 0, 3 * sizeof *p);
    memset(l, 0, 3 * sizeof *l);
    for (int32_t i = 0; i < w->model.nv; i++) {
        const abut_vec3 start = abut_v3_get(x0 + 3 * i), step = abut_v3_sub(abut_v3_get(x + 3 * i), start);
        const abut_vec3 z = abut_v3_axpy(start, share, step);
        const abut_vec3 dp = abut_v3_scale(w->model.mass[i], abut_v3_sub(abut_v3_get(v + 3 * i), abut_v3_get(v0 + 3 * i)));
        abut_v3_put(p, abut_v3_add(abut_v3_get(p), dp));
        abut_v3_put(l, abut_v3_add(abut_v3_get(l), abut_v3_cross(z, dp)));
    }
}

TEST(a_sheet_and_a_rod_in_flight_keep_their_momentum)
{
    for (int k = 0; k < 4; k++) {
        slender *s = slender_new();
        world w;
        abut_rng r = { 31 };
        s->scheme = k % 2 ? ABUT_MIDPOINT : ABUT_IMPLICIT_EULER;
        s->h = 2e-3;
        s->tol = 1e-11;
        if (k < 2) {
            (void)sheet(s, 3, 0.05);
        } else {
            for (int i = 0; i <= 12; i++) (void)slender_node(s, 0.02 * i, 0, 0);
            slender_rod(s, 0, 12);
        }
        for (int i = 0; i < 3 * s->nv; i++) s->v[i] = 2 * (i % 3 == 0) + abut_rng_real(&r, -1, 1);
        const size_t bytes = 3 * (size_t)s->nv * sizeof(double);
        slender_open(&w, s);
        double *x0 = malloc(bytes), *v0 = malloc(bytes), p[3], l[3], size = 0, turn = 0;
        const double share = k % 2 ? 0.5 : 1;
        for (int32_t i = 0; i < w.model.nv; i++) {
            const abut_vec3 q = abut_v3_scale(w.model.mass[i], abut_v3_get(get(&w, "node/v") + 3 * i));
            size += abut_v3_norm(q);
            turn += abut_v3_norm(abut_v3_cross(abut_v3_get(w.model.X + 3 * i), q));
        }
        for (int n = 0; n < 5; n++) {
            memcpy(x0, get(&w, "node/x"), bytes);
            memcpy(v0, get(&w, "node/v"), bytes);
            CHECK(!world_judged(&w, 1));
            change(&w, x0, v0, share, p, l);
            for (int d = 0; d < 3; d++) {
                CHECK_NEAR(p[d], 0, 1e-9 * size);
                CHECK_NEAR(l[d], 0, 1e-9 * turn);
            }
        }
        CHECK(w.rep.elastic > 1e-6);
        free(x0);
        free(v0);
        world_close(&w);
    }
}

TEST(a_hanging_sheet_loses_energy_in_every_step_of_implicit_euler)
{
    slender *s = slender_new();
    world w;
    s->scheme = ABUT_IMPLICIT_EULER;
    s->h = 0.02;
    s->tol = 1e-6;
    s->gravity[1] = -9.81;
    s->thick = 3e-4;
    s->held[s->n_held++] = 0;
    s->held[s->n_held++] = sheet(s, 6, 0.04);
    slender_open(&w, s);
    double before = 0, fastest = 0;
    for (int n = 0; n < 60; n++) {
        CHECK(!world_judged(&w, 1));
        const double E = *get(&w, "energy/kinetic") + *get(&w, "energy/elastic") + *get(&w, "energy/gravity") +
                         *get(&w, "energy/barrier");
        CHECK(n == 0 || E <= before + 1e-9);
        before = E;
        fastest = fmax(fastest, *get(&w, "energy/kinetic"));
    }
    CHECK(*get(&w, "energy/kinetic") < 0.2 * fastest);
    CHECK(get(&w, "node/x")[3 * (w.model.nv - 1) + 1] < -0.15);     /* it has swung down */
    world_close(&w);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    RUN(thin_elements_of_all_kinds_add_up);
    RUN(the_hessian_of_thin_elements_is_semidefinite_and_the_true_one_at_rest);
    RUN(the_tension_ahead_is_the_one_of_rods_that_stretch_linearly);
    RUN(edges_without_their_turn_keep_their_shape_and_strain);
    RUN(turns_of_thin_elements_are_taken_back_by_their_stiffness);
    RUN(segments_turn_in_few_iterations);
    RUN(a_rod_that_tips_over_takes_long_steps);
    RUN(a_falling_hair_takes_few_iterations);
    RUN(a_clamped_rod_deflects_like_a_beam);
    RUN(a_cantilever_under_a_large_load_is_the_elastica);
    RUN(a_straight_rod_stretches_by_hooke);
    RUN(a_plate_bends_as_kirchhoff_says);
    RUN(a_bent_strip_of_equilateral_triangles_bends_across_a_third_as_much);
    RUN(a_sheet_and_a_rod_in_flight_keep_their_momentum);
    RUN(a_hanging_sheet_loses_energy_in_every_step_of_implicit_euler);
    return check_done();
}
