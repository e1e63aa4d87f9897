/* Contact of curved tets: the surface that contact sees, refined alone. */
#include "check.h"
#include "scene_world.h"

/* Nodes of a ball of 20 tets of order 2 whose upper part has been moved down on a floor; contact has n segments on a side. */
static double *pressed(int n, int32_t *nodes)
{
    world w;
    world_scene(&w, "{time: {step: 1 s, scheme: quasi-static}, gravity: [0, 0, 0], tolerance: 1e-8 m/s,\n"
                " contact: {dhat: 0.2 mm}, materials: {m: {model: neo-hookean, density: 1000, young: 1e5, poisson: 0.4}},\n"
                " objects: {ball: {generate: {ball: {radius: 0.1, divisions: 1}}, order: 2, proxy: {segments: %d},\n"
                "           translate: [0, 0.1003, 0]}, floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}},\n"
                " motion: [{select: {object: ball, relative-box: [[0, 0.6, 0], [1, 1, 1]]}, translate: [0, -0.02, 0]}]}\n", n);
    CHECK(!world_judged(&w, 1));
    double *x = malloc(3 * (size_t)w.model.nv * sizeof *x);
    memcpy(x, get(&w, "node/x"), 3 * (size_t)w.model.nv * sizeof *x);
    *nodes = w.model.nv;
    world_close(&w);
    return x;
}

TEST(t22_a_finer_contact_surface_alone_leads_to_one_shape)
{
    static const int segments[4] = { 1, 3, 9, 18 };
    double *x[4], far[3] = { 0 };
    int32_t n = 0;
    for (int i = 0; i < 4; i++) x[i] = pressed(segments[i], &n);
    for (int i = 0; i < 3; i++) {
        for (int32_t k = 0; k < 3 * n; k++) far[i] += (x[i][k] - x[3][k]) * (x[i][k] - x[3][k]) / n;
        far[i] = sqrt(far[i]);
        printf("# %d segments: %.3g m\n", segments[i], far[i]);
    }
    CHECK(far[0] > 2 * far[1] && far[1] > 2 * far[2] && far[2] < 2e-4);     /* dhat */
    for (int i = 0; i < 4; i++) free(x[i]);
}
