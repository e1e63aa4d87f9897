/* Rods, segments and bends: closed forms, derivatives, invariance, the projection, degenerate elements. */
#include "stencil.h"

#include "energy/rod_inline.h"
#include "mesh/surface.h"

static double stretch_energy(double w, double rest, const double *x)
{
    double g[6];
    return abut_rod_stretch_of(w, rest, x, g);
}
static void stretch_gradient(double w, double rest, const double *x, double *g) { (void)abut_rod_stretch_of(w, rest, x, g); }
static double energy_of(double k, const double *x)
{
    double g[9];
    return abut_rod_bend_of(k, x, g);
}
static void hessian_of(double k, const double *x, int project, double *H)
{
    abut_rod_modes m;
    const int n = abut_rod_modes_of(k, x, &m) ? 4 : 0;
    for (int i = 0; i < n; i++)
        (project ? abut_two_modes_add_positive : abut_two_modes_add)(3, m.d[i], m.o[i], m.u[i], m.w[i], H);
}

static double bend_energy(double k, double rest, const double *x) { (void)rest; return energy_of(k, x); }
static void bend_gradient(double k, double rest, const double *x, double *g) { (void)rest; (void)abut_rod_bend_of(k, x, g); }
static void bend_hessian(double k, double rest, const double *x, int project, double *H)
{
    (void)rest;
    hessian_of(k, x, project, H);
}

/* the tension of a compressed segment is what the projection drops */
static void stretch_hessian(double w, double rest, const double *x, int project, double *H)
{
    const double tension = abut_rod_tension_of(w, rest, x);
    abut_rod_stretch_hessian_of(w, rest, project ? fmax(0, tension) : tension, x, H);
}

static const kind STRETCH = { 2, stretch_energy, stretch_gradient, stretch_hessian };
static const kind BEND = { 3, bend_energy, bend_gradient, bend_hessian };

/* Two segments with an angle phi between them, of lengths 0.5 to 1.5. */
static void bend_at(abut_rng *r, double phi, double x[9])
{
    const double e = abut_rng_real(r, 0.5, 1.5), f = abut_rng_real(r, 0.5, 1.5);
    const double at[9] = { 0, 0, 0, e, 0, 0, e + f * cos(phi), f * sin(phi), 0 };
    double R[9];
    moved(r, 3, at, x, R);
}

TEST(the_curvature_binormal_is_twice_the_tangent_of_half_the_angle)
{
    abut_rng r = { 21 };
    for (int i = 0; i < 200; i++) {
        double x[9];
        const double phi = abut_rng_real(&r, 0, 3.1);
        bend_at(&r, phi, x);
        const double t = 2 * tan(phi / 2);
        CHECK_NEAR(energy_of(0.3, x), 0.3 * t * t, 1e-12 * (1 + t * t * t));
        /* and as Bergou et al. write it */
        const abut_vec3 e = abut_v3_sub(abut_v3_get(x + 3), abut_v3_get(x));
        const abut_vec3 f = abut_v3_sub(abut_v3_get(x + 6), abut_v3_get(x + 3));
        const abut_vec3 kb = abut_v3_scale(2 / (abut_v3_norm(e) * abut_v3_norm(f) + abut_v3_dot(e, f)), abut_v3_cross(e, f));
        CHECK_NEAR(energy_of(0.3, x), 0.3 * abut_v3_norm2(kb), 1e-12 * (1 + t * t * t));
    }
}

TEST(derivatives_of_a_bend_are_those_of_its_energy)
{
    abut_rng r = { 22 };
    for (int i = 0; i < 200; i++) {
        double x[9];
        const double phi = i % 4 == 0 ? 0 : i % 4 == 1 ? 1e-6 : abut_rng_real(&r, 0, 2.6);
        bend_at(&r, phi, x);
        check_derivatives(&BEND, 0.7, 0, x, 1e-5, 1e-7);
    }
    double x[9];    /* nearly folded back */
    bend_at(&r, 3.1, x);
    check_derivatives(&BEND, 0.7, 0, x, 1e-6, 1e-6);
}

TEST(bends_do_not_see_rigid_motion)
{
    abut_rng r = { 23 };
    for (int i = 0; i < 50; i++) {
        double x[9];
        bend_at(&r, i % 5 ? abut_rng_real(&r, 0, 2.5) : 0, x);
        check_invariance(&BEND, &r, 0.7, 0, x);
    }
}

TEST(the_projected_bend_is_semidefinite_and_only_adds)
{
    abut_rng r = { 24 };
    int clamped = 0;
    for (int i = 0; i < 200; i++) {
        double x[9];
        bend_at(&r, i % 2 ? abut_rng_real(&r, 1e-3, 3) : 0, x);
        clamped += check_projection(&BEND, 2, 0, x);
    }
    CHECK(clamped == 100);
}

/* forces of nearly straight rods keep their digits: 2 k phi/l at the middle and the ends of equal segments */
TEST(a_bend_of_a_nanoradian_keeps_its_digits)
{
    const double phi = 1e-9, x[9] = { 0, 0, 0, 1, 0, 0, 2, phi, 0 };
    double g[9];
    (void)abut_rod_bend_of(0.5, x, g);
    CHECK_NEAR(g[1], phi, 1e-14 * phi);
    CHECK_NEAR(g[4], -2 * phi, 1e-14 * phi);
    CHECK_NEAR(g[7], phi, 1e-14 * phi);
    CHECK_NEAR(energy_of(0.5, x), 0.5 * phi * phi, 1e-14 * phi * phi);
}

TEST(a_ring_of_100_edges_has_the_energy_of_a_circle)
{
    const double radius = 1e-3, young = 1e7, R = 0.1, l = 2 * R * sin(PI / 100);
    double E = 0;
    for (int i = 0; i < 100; i++) {
        double x[9];
        for (int k = 0; k < 3; k++) {
            const double turn = 2 * PI * (i + k) / 100;
            abut_v3_put(x + 3 * k, abut_v3(R * cos(turn), R * sin(turn), 0));
        }
        E += energy_of(abut_bend_stiffness(young, radius, l, l), x);
    }
    const double circle = young * PI * pow(radius, 4) / 4 * 2 * PI * R / (2 * R * R);
    CHECK_NEAR(E / circle, 1.000823, 1e-6);
}

TEST(segments_obey_hooke)
{
    const double young = 2e6, radius = 1e-3, rest = 0.5, w = abut_rod_stretch_stiffness(young, radius, rest);
    for (int i = -3; i <= 8; i++) {
        const double s = 0.1 * i, x[6] = { 1, 2, 3, 1, 2 + rest * (1 + s), 3 };
        double g[6];
        stretch_gradient(w, rest, x, g);
        CHECK_NEAR(g[4], young * PI * radius * radius * s, 1e-14 * young * radius * radius);
        CHECK_NEAR(g[1], -g[4], 1e-18);
        CHECK_NEAR(abut_rod_tension_of(w, rest, x), g[4], 1e-14 * young * radius * radius);
        CHECK_NEAR(stretch_energy(w, rest, x), 0.5 * young * PI * radius * radius * rest * s * s, 1e-15 * w);
    }
}

TEST(derivatives_of_a_segment_are_those_of_its_energy)
{
    abut_rng r = { 25 };
    for (int i = 0; i < 100; i++) {
        double x[6];
        for (int k = 0; k < 6; k++) x[k] = abut_rng_real(&r, -1, 1);
        check_derivatives(&STRETCH, 0.7, 1, x, 1e-6, 1e-8);
        (void)check_projection(&STRETCH, 0.7, 1, x);
        check_invariance(&STRETCH, &r, 0.7, 1, x);
    }
}

TEST(a_rod_without_direction_or_folded_back_is_infinite_never_nan)
{
    const double none[9] = { 0, 0, 0, 0, 0, 0, 1, 0, 0 }, back[9] = { 0, 0, 0, 1, 0, 0, 0.5, 0, 0 },
                 near[9] = { 0, 0, 0, 1, 0, 0, 0.5, 1e-14, 0 }, nan[9] = { 0, 0, 0, NAN, 0, 0, 0.5, 1, 0 };
    const double *const bad[] = { none, back, near, nan };
    double H[ABUT_PACKED] = { 0 }, g[9];
    for (int i = 0; i < 4; i++) {
        CHECK(energy_of(1, bad[i]) == INFINITY);
        (void)abut_rod_bend_of(1, bad[i], g);
        hessian_of(1, bad[i], 1, H);
        for (int k = 0; k < 9; k++) CHECK(isfinite(g[k]));
        for (int k = 0; k < ABUT_PACKED; k++) CHECK(isfinite(H[k]));
    }
    const int without[] = { 0, 3 };
    for (int i = 0; i < 2; i++) {
        CHECK(stretch_energy(1, 1, bad[without[i]]) == INFINITY);
        stretch_gradient(1, 1, bad[without[i]], g);
        abut_rod_stretch_hessian_of(1, 1, 1, bad[without[i]], H);
        for (int k = 0; k < 6; k++) CHECK(isfinite(g[k]));
        for (int k = 0; k < ABUT_PACKED; k++) CHECK(isfinite(H[k]));
    }
}
