/* A scene of everything that a device takes besides contact: a box, a net of rods over it, a sheet, attachments between them and
 * to a point, springs, damping. */
#ifndef ABUT_TESTS_TIED_SCENE_H
#define ABUT_TESTS_TIED_SCENE_H

#include "scene_world.h"

/* scheme, tolerance */
static const char TIED[] = "abut: 1\n"
                           "time: {step: 0.01 s, scheme: %s}\n"
                           "gravity: [0, -9.81, 0]\n"
                           "tolerance: 1e-10 m/s\n"
                           "damping: {mass: 2, stiffness: 2 ms}\n"
                           "contact: {dhat: 1 mm, friction: {mu: 0.2, eps_v: 1e-3 m/s}}\n"
                           "materials:\n"
                           "  jelly: {density: 1000, young: 5e4, poisson: 0.4}\n"
                           "  reed:  {density: 1000, young: 2 MPa, poisson: 0.3}\n"
                           "  felt:  {density: 500, young: 20 kPa, poisson: 0.3, bending-young: 1 MPa}\n"
                           "objects:\n"
                           "  box:   {generate: {box: {size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}}, material: jelly,\n"
                           "          translate: [0, 0.0506, 0]}\n"
                           "  net:   {generate: {net: {count: [3, 3], spacing: 30 mm, offset: 3 mm, cells: 2}}, material: reed,\n"
                           "          rod: {radius: 1 mm}, translate: [0, 0.12, 0]}\n"
                           "  sheet: {generate: {cloth: {size: [0.2, 0.2], cells: [3, 3]}}, material: felt,\n"
                           "          shell: {thickness: 1 mm}, translate: [0.4, 0.1, 0]}\n"
                           "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n"
                           "attachments:\n"
                           "  - {from: {object: box, relative-box: [[0, 1, 0], [0.01, 1, 1]]}, to: {point: [-0.1, 0.2, 0]},\n"
                           "     stiffness: 9}\n"
                           "  - {from: {object: net, nodes: [0]}, to: {object: box}, stiffness: 7}\n"
                           "motion:\n"
                           "  - {select: {object: sheet, relative-box: [[0, 0, 0], [1, 1, 0.01]]}, fix: true}\n";

/* Springs between nodes of the box, the net and the sheet, before the stepper is made. */
static inline void tied_springs(abut_arrays *model)
{
    static const int32_t node[6] = { 0, 30, 3, 50, 26, 40 };
    static const double length[3] = { 0.05, 0.1, 0.2 }, k[3] = { 0.01, 0.02, 0.005 };
    const struct { const char *name; const void *data; size_t bytes; } put[] = { { "spring/node", node, sizeof node },
        { "spring/length", length, sizeof length }, { "spring/stiffness", k, sizeof k } };
    abut_err err = { 0 };
    for (int i = 0; i < 3; i++) {
        void *to = abut_model_put(model, put[i].name, 3, &err);
        if (!to) printf("# %s\n", err.msg), abort();
        memcpy(to, put[i].data, put[i].bytes);
    }
}

static inline void tied_world(world *w, const char *scheme)
{
    char text[4096];
    snprintf(text, sizeof text, TIED, scheme);
    *w = (world){ 0 };
    scene_arrays(text, &w->model_set, &w->frame);
    tied_springs(&w->model_set);
    world_start(w);
}

#endif
