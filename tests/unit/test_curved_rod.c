/* Rods that are curved at rest, with twist in equilibrium: differences, closed forms, invariance, the form without frames. */
#include "base/par.h"
#include "base/rng.h"
#include "energy/curved_rod.h"
#include "energy/rod_inline.h"
#include "math/vec3.h"

#include "term_calls.h"

#include <math.h>
#include <string.h>

enum { MOST = 64 };

/* One or several polylines; node 0 .. n - 1 of the first, and so on. */
typedef struct yarn {
    abut_model m;
    abut_curved_rods r;
    int32_t rod[2 * MOST], bend[3 * MOST], mat[MOST], body[MOST];
    double length[MOST], stiffness[MOST], curvature[2 * MOST], twist[MOST], poisson[1], x[3 * MOST];
    uint8_t held[MOST];
} yarn;

static void yarn_make(yarn *y, int rods, int n, abut_rng *rng)
{
    *y = (yarn){ .poisson = { 0.3 } };
    for (int c = 0; c < rods; c++)
        for (int i = 0; i < n; i++) {
            const int32_t v = y->m.nv++;
            for (int d = 0; d < 3; d++) y->x[3 * v + d] = (d == 0 ? 0.1 * i : c) + 0.03 * abut_rng_real(rng, -1, 1);
            if (i) {
                memcpy(y->rod + 2 * y->m.nrd, (int32_t[]){ v - 1, v }, 2 * sizeof(int32_t));
                y->length[y->m.nrd++] = abut_rng_real(rng, 0.08, 0.12);
            }
            if (i < 2) continue;
            for (int d = 0; d < 3; d++) y->bend[3 * y->m.nbd + d] = v - 2 + d;
            for (int d = 0; d < 2; d++) y->curvature[2 * y->m.nbd + d] = abut_rng_real(rng, -4, 4);
            y->twist[y->m.nbd] = abut_rng_real(rng, -0.3, 0.3);
            y->stiffness[y->m.nbd++] = abut_rng_real(rng, 0.5, 2);
        }
    y->m.rod = y->rod, y->m.bend = y->bend, y->m.rod_mat = y->mat, y->m.body = y->body, y->m.mat_poisson = y->poisson;
    y->m.rod_length = y->length, y->m.bend_stiffness = y->stiffness, y->m.rod_curvature = y->curvature, y->m.rod_twist = y->twist;
    CHECK(!abut_curved_rods_init(&y->r, &y->m, NULL));
}

static double energy_at(yarn *y, const double *x)
{
    return term_energy(&abut_term_curved_rods, &y->r, x);
}

/* A step starts at x0; frame: m1 of each segment there, NULL: unknown. */
static void start_at(yarn *y, const double *x0, const double *frame)
{
    const abut_term_frame as = { 0, 1, NULL };
    CHECK(!abut_term_curved_rods.load(&y->r, &(abut_frame){ .rod_frame = frame }, &as, NULL));
    CHECK(!abut_term_curved_rods.begin(&y->r, &(abut_term_step){ .x0 = x0, .held = y->held }, NULL));
}

/* frame[3 nrd] = m1 of each segment at x, as a frame has it. */
static void frame_at(yarn *y, const double *x, double *frame)
{
    abut_arrays out = { 0 };
    const abut_term_frame as = { 0, 1, NULL };
    double *to = abut_frame_put(&out, "node/x", y->m.nv, NULL);
    if (to) memcpy(to, x, 3 * (size_t)y->m.nv * sizeof *x);
    CHECK(to && !abut_term_curved_rods.store(&y->r, &as, &out, NULL));
    memcpy(frame, abut_arrays_find(&out, "rod/frame")->data, 3 * (size_t)y->m.nrd * sizeof *frame);
    abut_arrays_clear(&out);
}

/* The step starts elsewhere: frames are taken along. */
static void start_near(yarn *y, abut_rng *rng)
{
    double x0[3 * MOST];
    for (int i = 0; i < 3 * y->m.nv; i++) x0[i] = y->x[i] + 0.01 * abut_rng_real(rng, -1, 1);
    start_at(y, x0, NULL);
}

TEST(the_gradient_is_that_of_the_energy_with_twist_in_equilibrium)
{
    abut_rng rng = { 5 };
    double worst = 0;
    for (int k = 0; k < 60; k++) {
        yarn y;
        double g[3 * MOST] = { 0 }, size = 0;
        yarn_make(&y, 1 + k % 3, 8, &rng);
        y.held[0] = y.held[1] = (uint8_t)(k & 1);
        start_near(&y, &rng);
        term_gradient(&abut_term_curved_rods, &y.r, y.x, 1, g);
        for (int i = 0; i < 3 * y.m.nv; i++) size = fmax(size, fabs(g[i]));
        for (int i = 0; i < 3 * y.m.nv; i++) {
            if (y.held[i / 3]) continue;
            const double h = 1e-6, at = y.x[i], c[4] = { -1, 8, -8, 1 };
            double slope = 0;
            for (int j = 0; j < 4; j++) {       /* of fourth order: the third derivative is large in places */
                y.x[i] = at + h * (double[]){ 2, 1, -1, -2 }[j];
                slope += c[j] * energy_at(&y, y.x) / (12 * h);
            }
            y.x[i] = at;
            worst = fmax(worst, fabs(slope - g[i]) / size);
        }
        abut_curved_rods_clear(&y.r);
    }
    printf("# worst of %g\n", worst);
    CHECK(worst < 1e-7);
}

TEST(a_folded_rod_has_no_energy_that_is_finite_and_no_gradient)
{
    abut_rng rng = { 17 };
    abut_err err = { 0 };
    yarn y;
    double g[3 * MOST] = { 0 };
    yarn_make(&y, 2, 6, &rng);
    start_near(&y, &rng);
    memcpy(y.x + 3 * 9, y.x + 3 * 7, 3 * sizeof *y.x);
    CHECK(isinf(energy_at(&y, y.x)));
    const abut_term_step step = { .reach = 1 };
    const abut_at at = { .x = y.x, .z = y.x, .step = &step };
    CHECK(abut_term_curved_rods.gradient(&y.r, &at, 1, g, NULL, &err) == ABUT_E_NUMERIC);
    CHECK(strstr(err.msg, "a curved rod has a segment without length, or one that lies on the one before"));
    abut_curved_rods_clear(&y.r);
}

TEST(theta_makes_the_energy_least)
{
    abut_rng rng = { 11 };
    yarn y;
    yarn_make(&y, 1, 9, &rng);
    start_near(&y, &rng);
    const double least = energy_at(&y, y.x);
    /* frames given by hand, turned from those in equilibrium, all clamped: never less */
    double frame[3 * MOST], other[3 * MOST];
    frame_at(&y, y.x, frame);
    memset(y.held, 1, sizeof y.held);
    start_at(&y, y.x, frame);
    CHECK_NEAR(energy_at(&y, y.x), least, 1e-12 * least);
    for (int k = 0; k < 50; k++) {
        for (int32_t s = 0; s < y.m.nrd; s++) {
            const abut_vec3 e = abut_v3_sub(abut_v3_get(y.x + 3 * s + 3), abut_v3_get(y.x + 3 * s));
            const abut_vec3 u = abut_v3_get(frame + 3 * s);
            const abut_vec3 v = abut_v3_cross(abut_v3_scale(1 / abut_v3_norm(e), e), u);
            const double a = 0.2 * abut_rng_real(&rng, -1, 1);
            abut_v3_put(other + 3 * s, abut_v3_add(abut_v3_scale(cos(a), u), abut_v3_scale(sin(a), v)));
        }
        start_at(&y, y.x, other);
        CHECK(energy_at(&y, y.x) > least);
    }
    abut_curved_rods_clear(&y.r);
}

TEST(a_helix_at_rest_has_no_energy_wherever_it_is_moved)
{
    abut_rng rng = { 3 };
    yarn y;
    yarn_make(&y, 1, 30, &rng);
    for (int i = 0; i < 30; i++) {
        const double a = 0.6 * i;
        memcpy(y.x + 3 * i, (double[]){ 0.05 * cos(a), 0.02 * i, 0.05 * sin(a) }, 3 * sizeof(double));
    }
    for (int32_t s = 0; s < y.m.nrd; s++)
        y.length[s] = abut_v3_norm(abut_v3_sub(abut_v3_get(y.x + 3 * s + 3), abut_v3_get(y.x + 3 * s)));
    memset(y.twist, 0, sizeof y.twist);
    CHECK(!abut_curved_rods_measure(&y.r, y.x, y.curvature, NULL));
    /* rho q^2/(1 + rho^2 q^2), q = 2 pi / pitch, to the order of the segments */
    const double q = 0.6 / 0.02, want = 0.05 * q * q / (1 + 0.05 * q * 0.05 * q);
    CHECK_NEAR(hypot(y.curvature[20], y.curvature[21]) / want, 1, 0.04);
    abut_curved_rods_clear(&y.r);
    CHECK(!abut_curved_rods_init(&y.r, &y.m, NULL));
    double g[3 * MOST] = { 0 }, far[3 * MOST];
    start_at(&y, y.x, NULL);
    CHECK(energy_at(&y, y.x) < 1e-24);
    term_gradient(&abut_term_curved_rods, &y.r, y.x, 1, g);
    for (int i = 0; i < 3 * 30; i++) CHECK_NEAR(g[i], 0, 1e-11);
    /* a rotation by 1.1 about (1, 2, 3) and a shift */
    for (int i = 0; i < 30; i++) {
        const abut_vec3 k = abut_v3_scale(1 / sqrt(14), (abut_vec3){ 1, 2, 3 }), p = abut_v3_get(y.x + 3 * i);
        abut_vec3 v = abut_v3_add(abut_v3_scale(cos(1.1), p), abut_v3_scale(sin(1.1), abut_v3_cross(k, p)));
        v = abut_v3_add(v, abut_v3_scale((1 - cos(1.1)) * abut_v3_dot(k, p), k));
        abut_v3_put(far + 3 * i, abut_v3_add(v, (abut_vec3){ 5, 6, 7 }));
    }
    CHECK(energy_at(&y, far) < 1e-20);
    far[3 * 15] += 0.01;
    CHECK(energy_at(&y, far) > 1e-3);
    abut_curved_rods_clear(&y.r);
}

TEST(a_clamped_straight_rod_shares_its_twist_by_length)
{
    abut_rng rng = { 8 };
    yarn y;
    yarn_make(&y, 1, 12, &rng);
    double frame[3 * MOST], end[3 * MOST], sum = 0;
    const double total = 1.3;
    for (int i = 0; i < 12; i++)
        memcpy(y.x + 3 * i, (double[]){ 0, i ? y.x[3 * i - 2] + y.length[i - 1] : 0, 0 }, 3 * sizeof(double));
    memset(y.twist, 0, sizeof y.twist);
    memset(y.curvature, 0, sizeof y.curvature);
    for (int32_t i = 0; i < y.m.nbd; i++) {
        sum += 0.5 * (y.length[i] + y.length[i + 1]);
        y.stiffness[i] = 1.7 / (y.length[i] + y.length[i + 1]);
    }
    abut_curved_rods_clear(&y.r);
    CHECK(!abut_curved_rods_init(&y.r, &y.m, NULL));
    /* both ends held, the last segment turned by `total` about the rod */
    for (int32_t s = 0; s < y.m.nrd; s++)
        memcpy(frame + 3 * s, (double[]){ s < 10 ? 1 : cos(total), 0, s < 10 ? 0 : -sin(total) }, 3 * sizeof(double));
    y.held[0] = y.held[1] = y.held[10] = y.held[11] = 1;
    start_at(&y, y.x, frame);
    frame_at(&y, y.x, end);
    double angle = 0;
    for (int32_t s = 0; s < y.m.nrd; s++) {
        if (s) angle += total * 0.5 * (y.length[s - 1] + y.length[s]) / sum;
        CHECK_NEAR(end[3 * s], cos(angle), 1e-12);
        CHECK_NEAR(end[3 * s + 2], -sin(angle), 1e-12);
    }
    /* G J M^2 / (2 L), with k/(1 + nu) = G J/(2 l) */
    CHECK_NEAR(energy_at(&y, y.x), 1.7 / 1.3 * total * total / (2 * sum), 1e-12);
    CHECK(y.r.iterations >= 1);
    abut_curved_rods_clear(&y.r);
}

TEST(a_straight_rod_without_clamps_is_one_without_frames)
{
    abut_rng rng = { 21 };
    yarn y;
    yarn_make(&y, 2, 9, &rng);
    memset(y.twist, 0, sizeof y.twist);
    memset(y.curvature, 0, sizeof y.curvature);
    abut_curved_rods_clear(&y.r);
    CHECK(!abut_curved_rods_init(&y.r, &y.m, NULL));
    start_near(&y, &rng);
    double plain = 0, g[3 * MOST] = { 0 }, want[3 * MOST] = { 0 };
    for (int32_t i = 0; i < y.m.nbd; i++) {
        double one[9];
        plain += abut_rod_bend_of(y.stiffness[i], y.x + 3 * y.bend[3 * i], one);
        for (int d = 0; d < 9; d++) want[3 * y.bend[3 * i] + d] += one[d];
    }
    CHECK_NEAR(energy_at(&y, y.x), plain, 1e-12 * plain);
    term_gradient(&abut_term_curved_rods, &y.r, y.x, 1, g);
    for (int i = 0; i < 3 * y.m.nv; i++) CHECK_NEAR(g[i], want[i], 1e-9);
    abut_curved_rods_clear(&y.r);
}

TEST(forces_balance_energy_is_that_of_the_reversed_frames_and_bits_do_not_know_threads)
{
    abut_rng rng = { 31 };
    yarn y;
    const int before = abut_threads();
    yarn_make(&y, 3, 8, &rng);
    double g[3 * MOST] = { 0 }, again[3 * MOST] = { 0 }, force[3] = { 0 };
    start_near(&y, &rng);
    abut_threads_set(1);
    term_gradient(&abut_term_curved_rods, &y.r, y.x, 1, g);
    abut_threads_set(7);
    term_gradient(&abut_term_curved_rods, &y.r, y.x, 1, again);
    CHECK(!memcmp(g, again, sizeof g));
    abut_vec3 torque = { 0, 0, 0 };
    for (int i = 0; i < y.m.nv; i++) {
        for (int d = 0; d < 3; d++) force[d] += g[3 * i + d];
        torque = abut_v3_add(torque, abut_v3_cross(abut_v3_get(y.x + 3 * i), abut_v3_get(g + 3 * i)));
    }
    for (int d = 0; d < 3; d++) CHECK_NEAR(force[d], 0, 1e-10);
    CHECK_NEAR(abut_v3_norm(torque), 0, 1e-9);      /* free twist: no moment is left */
    /* a step in two parts: frames of the end are those of the next start */
    double frame[3 * MOST], moved[3 * MOST];
    for (int i = 0; i < 3 * y.m.nv; i++) moved[i] = y.x[i] + 0.02 * abut_rng_real(&rng, -1, 1);
    const double whole = energy_at(&y, moved);
    frame_at(&y, y.x, frame);
    start_at(&y, y.x, frame);
    CHECK_NEAR(energy_at(&y, moved), whole, 1e-10 * whole);
    abut_threads_set(before);
    abut_curved_rods_clear(&y.r);
}

TEST(the_matrix_is_positive_semidefinite_and_that_of_the_gradient_at_rest)
{
    abut_rng rng = { 41 };
    yarn y;
    yarn_make(&y, 1, 6, &rng);
    memset(y.twist, 0, sizeof y.twist);
    for (int32_t s = 0; s < y.m.nrd; s++)
        y.length[s] = abut_v3_norm(abut_v3_sub(abut_v3_get(y.x + 3 * s + 3), abut_v3_get(y.x + 3 * s)));
    CHECK(!abut_curved_rods_measure(&y.r, y.x, y.curvature, NULL));
    abut_curved_rods_clear(&y.r);
    CHECK(!abut_curved_rods_init(&y.r, &y.m, NULL));
    /* every segment clamped: theta does not follow, and at rest Gauss and Newton's matrix is the second derivative */
    memset(y.held, 1, sizeof y.held);
    start_at(&y, y.x, NULL);
    double H[54 * MOST], worst = 0, size = 0;
    term_hessian(&abut_term_curved_rods, &y.r, y.x, 1, 0, (size_t)y.m.nbd, H);
    for (int k = 0; k < 20; k++) {
        double p[3 * MOST], Hp[3 * MOST] = { 0 }, up[3 * MOST] = { 0 }, down[3 * MOST] = { 0 }, x[3 * MOST], pHp = 0;
        const double h = 1e-6;
        for (int i = 0; i < 3 * y.m.nv; i++) p[i] = abut_rng_real(&rng, -1, 1);
        for (int32_t i = 0; i < y.m.nbd; i++)
            for (int a = 0, at = 0; a < 3; a++)
                for (int b = a; b < 3; b++, at += 9)
                    for (int j = 0; j < 9; j++) {
                        const int row = 3 * y.bend[3 * i + a] + j / 3, col = 3 * y.bend[3 * i + b] + j % 3;
                        Hp[row] += H[54 * i + at + j] * p[col];
                        if (a != b) Hp[col] += H[54 * i + at + j] * p[row];
                    }
        for (int i = 0; i < 3 * y.m.nv; i++) pHp += p[i] * Hp[i], x[i] = y.x[i] + h * p[i];
        CHECK(pHp >= 0);
        term_gradient(&abut_term_curved_rods, &y.r, x, 1, up);
        for (int i = 0; i < 3 * y.m.nv; i++) x[i] = y.x[i] - h * p[i];
        term_gradient(&abut_term_curved_rods, &y.r, x, 1, down);
        for (int i = 0; i < 3 * y.m.nv; i++) {
            worst = fmax(worst, fabs((up[i] - down[i]) / (2 * h) - Hp[i]));
            size = fmax(size, fabs(Hp[i]));
        }
    }
    printf("# worst of %g\n", worst / size);
    CHECK(worst < 1e-6 * size);
    abut_curved_rods_clear(&y.r);
}

TEST(twist_comes_to_equilibrium_where_the_energy_is_concave_in_it)
{
    abut_rng rng = { 23 };
    int most = 0;
    for (int k = 0; k < 400; k++) {     /* weakly curved at rest, held at one end, far from there */
        yarn y;
        yarn_make(&y, 1, 5, &rng);
        for (int i = 0; i < 2 * y.m.nbd; i++) y.curvature[i] *= 0.5;
        for (int i = 0; i < y.m.nbd; i++) y.twist[i] = 0;
        y.held[3] = y.held[4] = 1;
        abut_curved_rods_clear(&y.r);
        CHECK(!abut_curved_rods_init(&y.r, &y.m, NULL));
        start_at(&y, y.x, NULL);
        for (int i = 0; i < 3 * y.m.nv; i++) y.x[i] += 0.04 * abut_rng_real(&rng, -1, 1);
        CHECK(isfinite(energy_at(&y, y.x)));
        most = y.r.iterations > most ? y.r.iterations : most;
        abut_curved_rods_clear(&y.r);
    }
    CHECK(most < 60);
}

TEST(rods_that_do_not_run_on_or_are_closed_are_refused)
{
    abut_rng rng = { 1 };
    yarn y;
    abut_err err = { 0 };
    yarn_make(&y, 1, 5, &rng);
    abut_curved_rods_clear(&y.r);
    const int32_t keep = y.rod[2];
    y.rod[2] = y.rod[3], y.rod[3] = keep;
    CHECK(abut_curved_rods_init(&y.r, &y.m, &err) == ABUT_E_FORMAT && strstr(err.msg, "follow each other"));
    y.rod[3] = y.rod[2], y.rod[2] = keep;
    /* a triangle of three segments */
    const int32_t ring[9] = { 0, 1, 2, 1, 2, 0, 2, 0, 1 };
    y.m.nrd = y.m.nbd = 3;
    memcpy(y.rod, (int32_t[]){ 0, 1, 1, 2, 2, 0 }, 6 * sizeof(int32_t));
    memcpy(y.bend, ring, sizeof ring);
    CHECK(abut_curved_rods_init(&y.r, &y.m, &err) == ABUT_E_FORMAT && strstr(err.msg, "closed"));
    /* a ring with a tail, and a bend twice */
    y.m.nrd = y.m.nbd = 4;
    memcpy(y.rod, (int32_t[]){ 0, 1, 1, 2, 2, 3, 3, 1 }, 8 * sizeof(int32_t));
    memcpy(y.bend, (int32_t[]){ 0, 1, 2, 1, 2, 3, 2, 3, 1, 3, 1, 2 }, 12 * sizeof(int32_t));
    CHECK(abut_curved_rods_init(&y.r, &y.m, &err) == ABUT_E_FORMAT && strstr(err.msg, "row 3 (bend 3 1 2 of object 0)"));
    CHECK(strstr(err.msg, "expected segments with one bend at each end at most"));
    y.m.nrd = y.m.nbd = 2;
    memcpy(y.bend + 3, y.bend, 3 * sizeof(int32_t));
    CHECK(abut_curved_rods_init(&y.r, &y.m, &err) == ABUT_E_FORMAT && strstr(err.msg, "row 1 (bend 0 1 2 of object 0)"));
}

TEST(the_shape_at_rest_of_a_rod_without_a_segment_or_that_folds_is_refused_by_its_first_segment)
{
    abut_rng rng = { 2 };
    yarn y;
    abut_err err = { 0 };
    double out[3 * MOST];
    yarn_make(&y, 2, 4, &rng);
    CHECK(!abut_curved_rods_measure(&y.r, y.x, out, &err));
    for (int fold = 0; fold < 2; fold++) {
        double x[3 * MOST];
        memcpy(x, y.x, sizeof x);
        memcpy(x + 3 * 6, x + 3 * (fold ? 4 : 5), 3 * sizeof *x);      /* of the second rod, nodes 4 to 7 */
        CHECK(abut_curved_rods_measure(&y.r, x, out, &err) == ABUT_E_GEOM);
        CHECK(strstr(err.msg, "the rod that begins with edge 4 5 of object 0 has a segment without length or one that lies on"));
    }
    abut_curved_rods_clear(&y.r);
}
