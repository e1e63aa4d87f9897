/* Scenes of the tests of lib/adjoint, and the numbers of them that change: two blocks on a floor; a sheet, a rod, springs and
 * what is prescribed. */
#ifndef ABUT_TESTS_ADJOINT_SCENES_H
#define ABUT_TESTS_ADJOINT_SCENES_H

#include "check.h"
#include "recorded.h"

/* Two blocks: the upper one falls on the lower one, which slides on the floor. */
static const char *const TWO =
    "{time: {step: 10 ms, scheme: %s}, gravity: [1.5, -9.81, 0.3], tolerance: 1e-5 m/s,\n"
    " contact: {dhat: 4 mm, friction: {mu: 0.3, eps_v: 0.05 m/s, lags: %s}}, %s\n"
    " materials: {soft: {model: neo-hookean, young: 3e4, poisson: 0.35, density: 900},\n"
    "             hard: {model: %s, young: 6e4, poisson: 0.25}},\n"
    " objects: {\n"
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}, mu: 0.4},\n"
    "  low: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, material: soft, translate: [0, 0.0535, 0]},\n"
    "  high: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, material: hard,\n"
    "         rotate: {axis: [0.2, 1, 0.1], angle: 20 deg}, translate: [0.023, 0.176, 0.017]}}%s}\n";

static inline void two(recorded *r, const char *scheme, const char *lags, const char *more, const char *model, const char *end,
                       int n)
{
    char text[4096];
    snprintf(text, sizeof text, TWO, scheme, lags, more, model, end);
    recorded_scene(r, text, n, 1e-10);
    static const double v[2][3] = { { 0.4, 0, 0.1 }, { 0, -0.3, 0.2 } };
    const int32_t *body = abut_arrays_find(&r->model_set, "node/object")->data;
    const abut_array *to = abut_arrays_find(&r->frame[0], "node/v");
    for (int k = 0; k < 3 * to->shape[0] && strcmp(scheme, "quasi-static"); k++) ((double *)to->data)[k] = v[body[k / 3]][k % 3];
}

/* ---- changes ---- */

#define OF(name, array, row, member) \
    static void by_##name(recorded *r, double by) { numbers(&r->model_set, array)[row] += by; } \
    static double bar_##name(const recorded *r) { return r->bars.member[row]; }

static void by_young(recorded *r, double by) { numbers(&r->model_set, "material/young")[0] += by; }
static double bar_young(const recorded *r) { return r->bars.young[0]; }
static void by_poisson(recorded *r, double by) { numbers(&r->model_set, "material/poisson")[1] += by; }
static double bar_poisson(const recorded *r) { return r->bars.poisson[1]; }
OF(other_young, "material/young", 1, young)
OF(first_poisson, "material/poisson", 0, poisson)
static const change BY_MODULI[] = { { "young", by_other_young, 3, bar_other_young }, { "poisson", by_first_poisson, 3e-5,
                                                                                       bar_first_poisson } };

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
        for (int j = 0; j < i; j++) sum += r->bars.mu[r->m.ng * i + j];
    return sum;
}
static void by_mu_own(recorded *r, double by) { numbers(&r->model_set, "contact/mu")[0] += by; }
static double bar_mu_own(const recorded *r) { return r->bars.mu[0]; }
static void by_gravity(recorded *r, double by) { numbers(&r->model_set, "world/gravity")[0] += by; }
static double bar_gravity(const recorded *r) { return r->bars.gravity[0]; }
static void by_fall(recorded *r, double by) { numbers(&r->model_set, "world/gravity")[1] += by; }
static double bar_fall(const recorded *r) { return r->bars.gravity[1]; }
static void by_mass(recorded *r, double by)
{
    const abut_array *a = abut_arrays_find(&r->model_set, "node/mass");
    const int32_t *body = abut_arrays_find(&r->model_set, "node/object")->data;
    for (int i = 0; i < a->shape[0]; i++)
        if (body[i] == 1) ((double *)a->data)[i] *= 1 + by;
}
static double bar_mass(const recorded *r) { return r->bars.obj_density[1]; }
static void by_kappa(recorded *r, double by)
{
    *numbers(&r->model_set, "contact/kappa-min") *= 1 + by;
    *numbers(&r->model_set, "contact/kappa-max") *= 1 + by;
}
static double bar_kappa(const recorded *r) { return r->bars.kappa[0]; }
static void by_eps_v(recorded *r, double by) { *numbers(&r->model_set, "contact/eps-v") += by; }
static double bar_eps_v(const recorded *r) { return r->bars.eps_v[0]; }
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

static inline void by_a(recorded *r, double by) { along(r, "node/a", by); }
static inline double bar_a(const recorded *r) { return bar_along(r->bar.a, r->m.nv); }

static void by_dhat(recorded *r, double by) { *numbers(&r->model_set, "contact/dhat") += by; }
static double bar_dhat(const recorded *r) { return r->bars.dhat[0]; }

static void by_rest(recorded *r, double by)
{
    const abut_array *a = abut_arrays_find(&r->model_set, "node/X");
    for (int k = 0; k < 3 * a->shape[0]; k++) ((double *)a->data)[k] += by * sin(0.7 * k);
}
static double bar_rest(const recorded *r) { return bar_along(r->bars.rest, r->m.nv); }
static void by_damping(recorded *r, double by) { *numbers(&r->model_set, "damping/stiffness") += by; }
static double bar_damping(const recorded *r) { return r->bars.damp_stiffness[0]; }
static void by_drag(recorded *r, double by) { *numbers(&r->model_set, "damping/mass") += by; }
static double bar_drag(const recorded *r) { return r->bars.damp_mass[0]; }

static const change ALL_OF_TWO[] = {
    { "young", by_young, 3, bar_young }, { "poisson", by_poisson, 3e-5, bar_poisson }, { "mu", by_mu, 3e-5, bar_mu },
    { "mu of a class", by_mu_own, 3e-5, bar_mu_own }, { "gravity x", by_gravity, 1e-4, bar_gravity },
    { "gravity y", by_fall, 1e-4, bar_fall }, { "mass", by_mass, 1e-5, bar_mass }, { "kappa", by_kappa, 1e-4, bar_kappa },
    { "eps_v", by_eps_v, 1e-6, bar_eps_v }, { "dhat", by_dhat, 3e-8, bar_dhat }, { "x", by_x, 1e-7, bar_x }, { "v", by_v, 1e-5,
                                                                                                               bar_v },
    { "rest", by_rest, 1e-7, bar_rest },
};
enum { NALL = sizeof ALL_OF_TWO / sizeof *ALL_OF_TWO };

static const change DAMPED[] = {
    { "damping", by_damping, 1e-6, bar_damping }, { "damping of masses", by_drag, 1e-3, bar_drag }, { "young", by_young, 3,
                                                                                                      bar_young },
    { "poisson", by_poisson, 3e-5, bar_poisson }, { "mu", by_mu, 3e-5, bar_mu }, { "mass", by_mass, 1e-5, bar_mass },
    { "v", by_v, 1e-5, bar_v }, { "gravity x", by_gravity, 1e-4, bar_gravity },
};

/* ---- sheets, rods, springs, prescribed nodes ---- */

/* A sheet that hangs from a moved edge over a bar, a rod under its own weight, springs; held nodes touch. */
static const char *const THIN =
    "{time: {step: 10 ms, scheme: %s}, gravity: [0.4, -9.81, 0.2], tolerance: 1e-5 m/s,\n"
    " contact: {dhat: 5 mm, friction: {mu: 0.3, eps_v: 0.05 m/s, lags: %s}},\n"
    " materials: {sheet: {young: 4e4, poisson: 0.3, density: 300, bending-young: 4e5%s},\n"
    "             rod: {young: 2e6, poisson: 0.3, density: 800}, soft: {young: 5e4, poisson: 0.3, density: 500}},\n"
    " objects: {\n"
    "  sheet: {generate: {cloth: {size: [0.3, 0.3], cells: [3, 3]}}, material: sheet, translate: [0, 0.0085, 0.01],\n"
    "          velocity: [0, -0.2, 0], shell: {thickness: 2 mm%s}},\n"
    "  rod: {generate: {rod: {length: 0.3, cells: 5}}, material: rod, rod: {radius: 4 mm}, translate: [0.01, 0.06, 0.02],\n"
    "        rotate: {axis: [0, 1, 0], angle: 50 deg}, velocity: [0, -0.8, 0]},\n"
    "  bar: {generate: {box: {size: [0.07, 0.05, 0.5], cells: [1, 1, 2]}}, obstacle: true, translate: [0.02, -0.022, 0]}},\n"
    " attachments: [{from: {object: rod, nodes: [0]}, to: {point: [-0.05, 0.2, -0.05]}, stiffness: 9}],\n"
    " motion: [{select: {object: sheet, nodes: [0, 1]}, translate: [0.1, 0.3, 0.05],\n"
    "           rotate: {axis: [0.1, 0, 1], rate: 0.5 rad/s}},\n"
    "          {select: {object: bar}, translate: [0.03, -0.02, -0.02], rotate: {axis: [0, 1, 0], rate: 0.1 rad/s}}]}\n";

static inline void thin(recorded *r, const char *scheme, const char *lags, const char *material, const char *shell, int n)
{
    char text[4096];
    snprintf(text, sizeof text, THIN, scheme, lags, material, shell);
    *r = (recorded){ .n = n };
    scene_arrays(text, &r->model_set, &r->frame[0]);
    *numbers(&r->model_set, "solve/tolerance") = 1e-10;
    fix_kappa(&r->model_set, 1);
    static const int32_t node[4] = { 5, 17, 10, 20 };
    static const double length[2] = { 0.05, 0.3 }, k[2] = { 4, 3 };
    abut_err err = { 0 };
    memcpy(abut_model_put(&r->model_set, "spring/node", 2, &err), node, sizeof node);
    memcpy(abut_model_put(&r->model_set, "spring/length", 2, &err), length, sizeof length);
    memcpy(abut_model_put(&r->model_set, "spring/stiffness", 2, &err), k, sizeof k);
}

OF(sheet_young, "material/young", 0, young)
OF(sheet_poisson, "material/poisson", 0, poisson)
OF(rod_young, "material/young", 1, young)
OF(hinge_k, "hinge/stiffness", 7, hinge_k)
OF(hinge_angle, "hinge/angle", 7, hinge_angle)
OF(bend_k, "bend/stiffness", 1, bend_k)
OF(spring_k, "spring/stiffness", 0, spring_k)
OF(spring_l, "spring/length", 1, spring_l)
OF(tie_k, "attachment/stiffness", 0, tie_k)
OF(tie_offset, "attachment/offset", 1, tie_offset)
OF(linear, "motion/linear", 0, linear)
OF(bar_linear, "motion/linear", 5, linear)
OF(angular, "motion/angular", 2, angular)
OF(bar_angular, "motion/angular", 4, angular)
OF(node_mass, "node/mass", 9, mass)

static const change ALL_OF_THIN[] = {
    { "sheet young", by_sheet_young, 4, bar_sheet_young }, { "sheet poisson", by_sheet_poisson, 1e-4, bar_sheet_poisson },
    { "rod young", by_rod_young, 200, bar_rod_young }, { "hinge k", by_hinge_k, 1e-6, bar_hinge_k },
    { "hinge angle", by_hinge_angle, 1e-4, bar_hinge_angle }, { "bend k", by_bend_k, 1e-7, bar_bend_k },
    { "spring k", by_spring_k, 1e-3, bar_spring_k }, { "spring length", by_spring_l, 1e-5, bar_spring_l },
    { "tie k", by_tie_k, 1e-3, bar_tie_k }, { "tie offset", by_tie_offset, 1e-6, bar_tie_offset },
    { "linear", by_linear, 1e-5, bar_linear }, { "linear of bar", by_bar_linear, 1e-5, bar_bar_linear },
    { "angular", by_angular, 1e-4, bar_angular }, { "angular of bar", by_bar_angular, 1e-4, bar_bar_angular },
    { "node mass", by_node_mass, 3e-8, bar_node_mass }, { "gravity y", by_fall, 1e-4, bar_fall }, { "mu", by_mu_own, 1e-4,
                                                                                                    bar_mu_own },
    { "kappa", by_kappa, 1e-4, bar_kappa }, { "dhat", by_dhat, 3e-8, bar_dhat }, { "x", by_x, 1e-7, bar_x }, { "v", by_v, 1e-5,
                                                                                                               bar_v },
};
enum { NTHIN = sizeof ALL_OF_THIN / sizeof *ALL_OF_THIN };

/* A run of the two blocks, its sweep against differences. */
static inline void blocks_agree(const char *scheme, const char *lags, const char *more, const char *end, double tol)
{
    const abut_adjoint_options o = { .lags = -1, .threads = 1 };
    char of[120];
    recorded r;
    two(&r, scheme, lags, more, "stable-neo-hookean", end, 24);
    snprintf(of, sizeof of, "blocks: %s, lags %s%s%s", scheme, lags, *more ? ", " : "", more);
    CHECK(record(&r, 1));
    const int back = backwards(&r, &o);
    CHECK(back);
    if (getenv("ADJOINT_SHOW"))
        printf("# %d contacts, %d frozen, residual %.2g m/s, L %.12g, correction %.2g, indefinite %d, rounds %d\n", r.contacts,
               r.frozen, r.residual, r.loss, r.correction, r.indefinite, r.rounds);
    CHECK(r.frozen > 20);
    if (back) differences_agree(&r, ALL_OF_TWO, NALL, tol, of);
    forget(&r);
}

/* from change number `first` on */
static inline void sheets_agree(const char *scheme, const char *lags, const char *material, const char *shell, int first)
{
    const abut_adjoint_options o = { .lags = -1, .threads = 1 };
    char of[120];
    recorded r;
    thin(&r, scheme, lags, material, shell, 12);
    snprintf(of, sizeof of, "sheet, rod: %s, lags %s%s%s", scheme, lags, material, shell);
    CHECK(record(&r, 1));
    const int back = backwards(&r, &o);
    CHECK(back);
    if (getenv("ADJOINT_SHOW"))
        printf("# %d contacts, %d frozen, residual %.2g m/s, L %.12g, correction %.2g, indefinite %d, unreached %.2g\n",
               r.contacts,
               r.frozen, r.residual, r.loss, r.correction, r.indefinite, r.unreached);
    CHECK(r.frozen > 20);
    if (back) differences_agree(&r, ALL_OF_THIN + first, NTHIN - first, 1e-6, of);
    forget(&r);
}

/* A block whose top is led along a floor. */
static inline void equilibria_agree(const char *lags)
{
    static const char *const LED =
        "{time: {step: 10 ms, scheme: quasi-static}, gravity: [0.5, -9.81, 0.2], tolerance: 1e-5 m/s,\n"
        " contact: {dhat: 4 mm, friction: {mu: 0.3, eps_v: 0.05 m/s, lags: %s}},\n"
        " materials: {soft: {model: neo-hookean, young: 3e4, poisson: 0.35, density: 900}},\n"
        " objects: {\n"
        "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}, mu: 0.4},\n"
        "  low: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 2, 1]}}, material: soft, translate: [0, 0.0535, 0]}},\n"
        " motion: [{select: {object: low, box: [[-1, 0.1, -1], [1, 1, 1]]}, translate: [0.3, -0.1, 0.1]}]}\n";
    static const change by[] = { { "mu", by_mu, 3e-5, bar_mu }, { "gravity x", by_gravity, 1e-4, bar_gravity },
                                 { "gravity y", by_fall, 1e-4, bar_fall }, { "dhat", by_dhat, 3e-8, bar_dhat },
                                 { "x", by_x, 1e-7, bar_x } };
    const abut_adjoint_options o = { .lags = -1, .threads = 1 };
    char text[2048], of[60];
    recorded r;
    snprintf(text, sizeof text, LED, lags);
    snprintf(of, sizeof of, "equilibria, lags %s", lags);
    recorded_scene(&r, text, 12, 1e-10);
    CHECK(record(&r, 1));
    const int back = backwards(&r, &o);
    CHECK(back && r.frozen > 10);
    if (back) differences_agree(&r, by, 5, 1e-6, of);
    forget(&r);
}

#endif
