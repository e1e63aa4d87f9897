/* Functions that free do not read the model, which may have been freed before. */
#include "rows.h"
#include "scene_world.h"

#include "check.h"
#include "energy/elastic.h"
#include "formats/result/measure.h"
#include "solve/local_global/local_global.h"

static const char everything[] =
    "abut: 1\n"
    "materials:\n"
    "  s: {model: spline, density: 800, spline: {stretch: [0.5, 1, 1.5], a: [-1e4, 0, 1e4], b: [0, 0, 0], c: [-1e4, 0, 1e4]}}\n"
    "  n: {model: neo-hookean, density: 900, young: 1e5, poisson: 0.3}\n"
    "objects:\n"
    "  soft: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, material: s, translate: [0, 0.1, 0]}\n"
    "  firm: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, material: n, translate: [0, 0.3, 0]}\n"
    "  cloth: {generate: {cloth: {size: [0.1, 0.1], cells: [1, 1]}}, material: n, translate: [0, 0.4, 0],\n"
    "          shell: {thickness: 1e-3}}\n"
    "  hair: {generate: {rod: {length: 0.1, cells: 2}}, material: n, translate: [0, 0.5, 0], rod: {radius: 1e-3}}\n"
    "  sand: {generate: {particles: {size: [0.1, 0, 0], count: [2, 1, 1]}}, material: n, translate: [0, 0.6, 0],\n"
    "         particle: {radius: 1e-3}}\n"
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n";

/* Frees the model's arrays and overwrites its view. */
static void spoil(abut_arrays *set, abut_model *m)
{
    abut_arrays_clear(set);
    memset(m, 0x5a, sizeof *m);
}

TEST(elastic_energy_is_freed_without_its_model)
{
    abut_arrays model = { 0 }, frame = { 0 };
    abut_model m;
    abut_elastic e;
    scene_arrays(everything, &model, &frame);
    CHECK(!abut_model_view(&model, &m, NULL) && !abut_elastic_init(&e, &m, NULL));
    CHECK(e.laws.spline && e.laws.nspline == m.nm);
    spoil(&model, &m);
    abut_elastic_clear(&e);
    abut_elastic_clear(&e);
    abut_arrays_clear(&frame);
}

TEST(a_stepper_is_freed_without_its_model_after_any_number_of_steps)
{
    for (const abut_direction_ops *const *ops = all_directions(); *ops; ops++)
        for (int steps = 0; steps < 2; steps++) {
            world w = { 0 };
            scene_arrays(everything, &w.model_set, &w.frame);
            CHECK(!abut_model_view(&w.model_set, &w.model, NULL));
            const abut_solver_row row = { .direction = *ops };
            CHECK(!abut_stepper_init(&w.st, &w.model, &row, &abut_solve_defaults, NULL));
            if (steps) CHECK(!world_run(&w, 1));
            spoil(&w.model_set, &w.model);
            world_close(&w);
        }
}

TEST(tables_of_measures_are_freed_without_their_model)
{
    abut_arrays model = { 0 }, frame = { 0 };
    abut_model m;
    abut_measure ms;
    scene_arrays(everything, &model, &frame);
    CHECK(!abut_model_view(&model, &m, NULL) && !abut_measure_init(&ms, &m, NULL));
    spoil(&model, &m);
    abut_measure_clear(&ms);
    abut_arrays_clear(&frame);
}

TEST(a_view_that_is_forgotten_counts_nothing_or_is_poisoned)
{
    abut_model m = { .nv = 3 };
    abut_model_forget(&m);
#ifdef ABUT_POISON
    CHECK(m.nv == 0x5a5a5a5a);
#else
    CHECK(m.nv == 0 && !m.X);
#endif
}
