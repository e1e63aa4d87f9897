#include "check.h"
#include "recorded.h"

/* Two blocks: the upper one falls on the lower one, which slides on the floor. */
static const char *const TWO =
    "{time: {step: 10 ms, scheme: %s}, gravity: [1.5, -9.81, 0.3], tolerance: 1e-5 m/s,\n"
    " contact: {dhat: 4 mm, friction: {mu: 0.3, eps_v: 0.05 m/s, lags: %s}}, %s\n"
    " materials: {soft: {model: neo-hookean, young: 3e4, poisson: 0.35, density: 900}, hard: {model: %s, young: 6e4, poisson: 0.25}},\n"
    " objects: {\n"
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}, mu: 0.4},\n"
    "  low: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, material: soft, translate: [0, 0.0535, 0], velocity: [0.4, 0, 0.1]},\n"
    "  high: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, material: hard, rotate: {axis: [0.2, 1, 0.1], angle: 20 deg}, translate: [0.023, 0.176, 0.017], velocity: [0, -0.3, 0.2]}}%s}\n";

static void two(recorded *r, const char *scheme, const char *lags, const char *more, const char *model, const char *end, int n)
{
    char text[4096];
    snprintf(text, sizeof text, TWO, scheme, lags, more, model, end);
    recorded_scene(r, text, n, 1e-10);
}

/* ---- changes ---- */

static void by_young(recorded *r, double by) { numbers(&r->model_set, "material/young")[0] += by; }
static double bar_young(const recorded *r) { return abut_adjoint_parameters(r->a)->young[0]; }
static void by_poisson(recorded *r, double by) { numbers(&r->model_set, "material/poisson")[1] += by; }
static double bar_poisson(const recorded *r) { return abut_adjoint_parameters(r->a)->poisson[1]; }
static void by_mu(recorded *r, double by)
{
    const abut_array *a = abut_arrays_find(&r->model_set, "contact/mu");
    const int n = (int)a->shape[0];
    for (int i = 0; i < n * n; i++)
        if (i / n != i % n) ((double *)a->data)[i] += by;
}
static double bar_mu(const recorded *r)
{
    double sum = 0;
    for (int i = 0; i < r->m.ng; i++)
        for (int j = 0; j < i; j++) sum += abut_adjoint_parameters(r->a)->mu[r->m.ng * i + j];
    return sum;
}
static void by_mu_own(recorded *r, double by) { numbers(&r->model_set, "contact/mu")[0] += by; }
static double bar_mu_own(const recorded *r) { return abut_adjoint_parameters(r->a)->mu[0]; }
static void by_gravity(recorded *r, double by) { numbers(&r->model_set, "world/gravity")[0] += by; }
static double bar_gravity(const recorded *r) { return abut_adjoint_parameters(r->a)->gravity[0]; }
static void by_fall(recorded *r, double by) { numbers(&r->model_set, "world/gravity")[1] += by; }
static double bar_fall(const recorded *r) { return abut_adjoint_parameters(r->a)->gravity[1]; }
static void by_mass(recorded *r, double by)
{
    const abut_array *a = abut_arrays_find(&r->model_set, "node/mass");
    const int32_t *body = abut_arrays_find(&r->model_set, "node/object")->data;
    for (int i = 0; i < a->shape[0]; i++)
        if (body[i] == 1) ((double *)a->data)[i] *= 1 + by;
}
static double bar_mass(const recorded *r) { return abut_adjoint_parameters(r->a)->obj_density[1]; }
static void by_kappa(recorded *r, double by)
{
    *numbers(&r->model_set, "contact/kappa-min") *= 1 + by;
    *numbers(&r->model_set, "contact/kappa-max") *= 1 + by;
}
static double bar_kappa(const recorded *r) { return abut_adjoint_parameters(r->a)->kappa[0]; }
static void by_eps_v(recorded *r, double by) { *numbers(&r->model_set, "contact/eps-v") += by; }
static double bar_eps_v(const recorded *r) { return abut_adjoint_parameters(r->a)->eps_v[0]; }
static void along(recorded *r, const char *name, double by)
{
    const abut_array *a = abut_arrays_find(&r->frame[0], name);
    for (int k = 0; k < 3 * a->shape[0]; k++) ((double *)a->data)[k] += by * sin(0.7 * k);
}
static double bar_along(const double *bar, int32_t nv)
{
    double sum = 0;
    for (int k = 0; k < 3 * nv; k++) sum += bar[k] * sin(0.7 * k);
    return sum;
}
static void by_x(recorded *r, double by) { along(r, "node/x", by); }
static double bar_x(const recorded *r) { return bar_along(r->bar.x, r->m.nv); }
static void by_v(recorded *r, double by) { along(r, "node/v", by); }
static double bar_v(const recorded *r) { return bar_along(r->bar.v, r->m.nv); }

static void by_dhat(recorded *r, double by) { *numbers(&r->model_set, "contact/dhat") += by; }
static double bar_dhat(const recorded *r) { return abut_adjoint_parameters(r->a)->dhat[0]; }

static const change ALL_OF_TWO[] = {
    { "young", by_young, 3, bar_young }, { "poisson", by_poisson, 3e-5, bar_poisson }, { "mu", by_mu, 3e-5, bar_mu },
    { "mu of a class", by_mu_own, 3e-5, bar_mu_own }, { "gravity x", by_gravity, 1e-4, bar_gravity },
    { "gravity y", by_fall, 1e-4, bar_fall }, { "mass", by_mass, 1e-5, bar_mass }, { "kappa", by_kappa, 1e-4, bar_kappa },
    { "eps_v", by_eps_v, 1e-6, bar_eps_v }, { "dhat", by_dhat, 1e-8, bar_dhat }, { "x", by_x, 1e-7, bar_x }, { "v", by_v, 1e-5, bar_v },
};
enum { NALL = sizeof ALL_OF_TWO / sizeof *ALL_OF_TWO };

/* A run of the two blocks, its sweep against differences. */
static void blocks_agree(const char *scheme, const char *lags, const char *more, const char *end, double tol)
{
    const abut_adjoint_options o = { .lags = -1, .threads = 1 };
    char of[120];
    recorded r;
    two(&r, scheme, lags, more, "stable-neo-hookean", end, 24);
    snprintf(of, sizeof of, "%s, lags %s%s", scheme, lags, more);
    CHECK(record(&r, 1));
    const int back = backwards(&r, &o);
    CHECK(back);
    if (getenv("ADJOINT_SHOW")) printf("# %d contacts, %d frozen, residual %.2g m/s, L %.12g, correction %.2g, indefinite %d, rounds %d\n", r.contacts, r.frozen,
           r.residual, r.loss, r.correction, r.indefinite, r.rounds);
    CHECK(r.frozen > 20);
    if (back) differences_agree(&r, ALL_OF_TWO, NALL, tol, of);
    forget(&r);
}

TEST(implicit_euler_with_one_friction_pass) { blocks_agree("implicit-euler", "1", "", "", 1e-6); }
TEST(implicit_euler_with_two_friction_passes) { blocks_agree("implicit-euler", "2", "", "", 1e-6); }
TEST(implicit_euler_with_converged_friction) { blocks_agree("implicit-euler", "converged", "", "", 1e-6); }
TEST(bdf2_with_three_friction_passes) { blocks_agree("bdf2", "3", "", "", 1e-6); }
TEST(newmark_with_converged_friction) { blocks_agree("implicit-newmark", "converged", "", "", 1e-6); }
TEST(bdf2_with_one_friction_pass) { blocks_agree("bdf2", "1", "", "", 1e-6); }
TEST(bdf3_with_one_friction_pass) { blocks_agree("bdf3", "1", "", "", 1e-6); }
TEST(newmark_with_one_friction_pass) { blocks_agree("implicit-newmark", "1", "", "", 1e-6); }
TEST(midpoint_with_one_friction_pass) { blocks_agree("midpoint", "1", "", "", 1e-6); }
TEST(bdf2_with_damping) { blocks_agree("bdf2", "1", "damping: {mass: 0.7},", "", 1e-6); }
