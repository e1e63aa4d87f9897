/* Statics and vibration of slender bodies against the theory of beams and bars, and the moduli that each material shows.
 *
 * Statics: a few steps of implicit Euler, so long that what swings is gone (1 / (h omega)^2 is left of it in a step).  The
 * linear tets of a bent beam are too stiff by a share that falls with the square of the mesh. */
#include "scene_world.h"

/* ---- cantilever: length 1 m, square section, Poisson's ratio 0 (so the shear coefficient is 5/6) ---- */

static const double DEEP = 0.2, YOUNG = 1e7, RHO = 1000, LOAD = 0.01;     /* m, Pa, kg/m^3, m/s^2 */

static const char *const CANTILEVER =
    "{time: {step: %.17g, scheme: %s}, gravity: [0, %g, 0], tolerance: 1e-12 m/s,\n"
    " materials: {a: {young: 1e7, poisson: 0, model: linear-corotated}},\n"
    " objects: {beam: {generate: {box: {size: [1, 0.2, 0.2], cells: [%d, %d, %d]}}}},\n"
    " motion: [{select: {object: beam, relative-box: [[0, 0, 0], [1e-6, 1, 1]]}, fix: true}]}\n";

/* mean deflection of the free end, m */
static double tip(const world *w)
{
    double y = 0, n = 0;
    for (int32_t i = 0; i < w->model.nv; i++)
        if (w->model.X[3 * i] > 0.5 - 1e-9) y += get(w, "node/x")[3 * i + 1] - w->model.X[3 * i + 1], n++;
    return y / n;
}

/* the beam at rest under its weight, n cells over its depth; returns minus its deflection */
static double bent(world *w, int n)
{
    world_scene(w, CANTILEVER, 1e3, "implicit-euler", -LOAD, 5 * n, n, n);
    CHECK(!world_run(w, 2));
    return -tip(w);
}

/* Timoshenko 1921: q L^4 / (8 E I) + q L^2 / (2 k G A) */
static double bent_exactly(void)
{
    const double A = DEEP * DEEP, I = A * A / 12, q = RHO * A * LOAD;
    return q / (8 * YOUNG * I) + q / (2 * 5 / 6. * YOUNG / 2 * A);
}

TEST(a_cantilever_bends_as_timoshenko_says_with_order_two_in_the_mesh)
{
    const double exact = bent_exactly();
    const int finest = check_runs(8, 16);
    world w;
    double u = 0, coarse = 0, order = 0, before = 0;
    for (int n = 2; n <= finest; n *= 2) {
        before = order, coarse = u;
        u = bent(&w, n);
        world_close(&w);
        order = coarse > 0 ? log2((exact - coarse) / (exact - u)) : 0;
        printf("# %d cells over the depth: deflection %.4f of %.5g m, order %.2f\n", n, u / exact, exact, order);
        CHECK(u < exact && u > coarse && order >= before);
    }
    CHECK_NEAR(order, 2, finest == 16 ? 0.1 : 0.3);
    CHECK_NEAR(u + (u - coarse) / 3, exact, (finest == 16 ? 0.002 : 0.012) * exact);
}

/* Huang 1961: zero at the b of a clamped-free Timoshenko beam, b^2 = rho A L^4 omega^2 / (E I), r^2 = I / (A L^2),
 * s^2 = E I / (k G A L^2) */
static double huang(double b, double r2, double s2)
{
    const double D = sqrt((r2 - s2) * (r2 - s2) + 4 / (b * b)), al = sqrt((D - r2 - s2) / 2), be = sqrt((D + r2 + s2) / 2);
    return 2 + (b * b * (r2 - s2) * (r2 - s2) + 2) * cosh(b * al) * cos(b * be) -
           b * (r2 + s2) / sqrt(1 - b * b * r2 * s2) * sinh(b * al) * sin(b * be);
}

/* Hz; between 0.7 and 1 times the frequency without shear and rotary inertia, b = 3.51602 */
static double lowest_frequency(void)
{
    const double r2 = DEEP * DEEP / 12, s2 = r2 * 2 / (5 / 6.);
    double lo = 2.5, hi = 3.52;
    for (int k = 0; k < 60; k++) {
        const double mid = (lo + hi) / 2;
        *(huang(lo, r2, s2) * huang(mid, r2, s2) <= 0 ? &hi : &lo) = mid;
    }
    return lo * sqrt(YOUNG / RHO * r2) / (2 * acos(-1));
}

/* Hz, of the beam let go at rest in the shape x, by the zeros of its deflection in 2.5 periods */
static double frequency(const double *x, int n)
{
    const double h = 1 / lowest_frequency() / 40;
    world w;
    world_scene(&w, CANTILEVER, h, "midpoint", 0., 5 * n, n, n);
    memcpy(get(&w, "node/x"), x, 3 * (size_t)w.model.nv * sizeof *x);
    double before = tip(&w), first = 0, last = 0;
    int zeros = 0;
    for (int k = 1; k <= 100; k++) {
        CHECK(!world_run(&w, 1));
        const double now = tip(&w);
        if (before * now < 0) {
            last = (k - now / (now - before)) * h;
            if (!zeros++) first = last;
        }
        before = now;
    }
    world_close(&w);
    CHECK(zeros >= 4);
    return (zeros - 1) / (2 * (last - first));
}

/* Load and lowest mode bend a beam into nearly the same shape, so what the mesh adds to its stiffness it adds to both. */
TEST(a_cantilever_swings_with_the_frequency_of_timoshenkos_beam)
{
    const double exact = lowest_frequency();
    double off[2];
    for (int k = 0; k < 2; k++) {
        world w;
        const double u = bent(&w, 2 << k), f = frequency(get(&w, "node/x"), 2 << k), same = f * sqrt(u / bent_exactly());
        off[k] = fabs(same / exact - 1);
        printf("# %d cells over the depth: %.4f Hz, %.4f with the stiffness of the beam, which has %.4f\n", 2 << k, f, same,
               exact);
        world_close(&w);
    }
    CHECK(off[1] < 0.006);
    CHECK(off[1] < off[0] / 3);
}

/* ---- a hanging bar ---- */

static const char *const HANGING =
    "{time: {step: 100}, gravity: [0.01, 0, 0], tolerance: 1e-12 m/s, materials: {a: {young: 1e5, poisson: 0.3, model: %s}},\n"
    " objects: {bar: {generate: {box: {size: [1, 0.2, 0.2], cells: [10, 2, 2]}}, translate: [0.5, 0, 0]}},\n"
    " motion: [{select: {object: bar, relative-box: [[0, 0, 0], [1e-6, 1, 1]]}, fix: true}]}\n";

/* Away from the clamp the stress is rho g (L - X): sections at 0.4 and 0.8 part by rho g / E times 0.16, and at X each grows
 * thinner by nu rho g (L - X) / E (Timoshenko and Goodier, 96).  Strains stay below 1e-4, so each material must show
 * E and nu; ARAP and the orthogonality energy, which have no lambda, those of a body with lambda 0. */
TEST(a_hanging_bar_shows_youngs_modulus_and_poissons_ratio_of_every_material)
{
    for (int model = 0; abut_material_names[model]; model++) {
        world w;
        double u[2] = { 0 }, thin[2] = { 0 }, n = 0, sides = 0;
        if (model == ABUT_POLYNOMIAL || model == ABUT_SPLINE) continue;   /* no stiffness at rest, no moduli */
        world_scene(&w, HANGING, abut_material_names[model]);
        CHECK(!world_run(&w, 2));
        for (int32_t i = 0; i < w.model.nv; i++) {
            const double *X = w.model.X + 3 * i, *x = get(&w, "node/x") + 3 * i, d[3] = { x[0] - X[0], x[1] - X[1], x[2] - X[2] };
            const int s = fabs(X[0] - 0.8) < 1e-9;
            if (!s && fabs(X[0] - 0.4) > 1e-9) continue;
            const double r2 = X[1] * X[1] + X[2] * X[2];
            u[s] += d[0], n += 0.5;
            if (r2 > 1e-9) thin[s] -= (d[1] * X[1] + d[2] * X[2]) / r2, sides += 0.5;
        }
        const int one = model == ABUT_ARAP || model == ABUT_ORTHOGONAL;     /* modulus */
        const double young = one ? 1e5 / 1.3 : 1e5, nu = one ? 0 : 0.3, unit = RHO * LOAD / young;
        printf("# %s: E %.5f of its value, nu %.5f and %.5f\n", abut_material_names[model], unit * 0.16 * n / (u[1] - u[0]),
               thin[0] / sides / (unit * 0.6), thin[1] / sides / (unit * 0.2));
        CHECK_NEAR(unit * 0.16 * n / (u[1] - u[0]), 1, 5e-4);
        CHECK_NEAR(thin[0] / sides / (unit * 0.6), nu, 1e-3);
        CHECK_NEAR(thin[1] / sides / (unit * 0.2), nu, 1e-3);
        world_close(&w);
    }
}
