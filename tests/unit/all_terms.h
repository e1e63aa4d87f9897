/* A scene with every term of the objective, and a point in it where all of them are at work. */
#ifndef TEST_ALL_TERMS_H
#define TEST_ALL_TERMS_H

#include "base/rng.h"
#include "energy/elastic_high.h"
#include "energy/mass.h"
#include "scene_world.h"

/* Everything that an objective may hold, in one scene: a block with fibres that slides on the floor, a sheet with limits under
 * pressure and in the wind, a rod, blocks of higher order, springs, attachments, damping, friction, a scripted node. */
static const char *const ALL =
    "{time: {step: 10 ms, scheme: %s}, gravity: [0, -9.81, 0], tolerance: 1e-5 m/s, wind: [1, 4, 0.5],\n"
    " damping: {mass: 2, stiffness: 5 ms}, contact: {dhat: 4 mm, friction: {mu: 0.4, eps_v: 0.05 m/s}},\n"
    " materials: {\n"
    "  soft: {model: fixed-corotated, young: 2e4, fibre: {direction: [0, 1, 0], stiffness: 5e3}, volume: 1e3},\n"
    "  tender: {model: fixed-corotated, young: 1e3, fibre: {direction: [0, 1, 0], stiffness: 2e2}, volume: 50},\n"
    "  sheet: {young: 1e4, poisson: 0.3}},\n"
    " objects: {\n"
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}},\n"
    "  block: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, material: soft, translate: [0, 0.052, 0] %s},\n"
    "  over: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, material: soft, translate: [0.03, 0.155, 0.04] %s},\n"
    "  cloth: {generate: {cloth: {size: [0.12, 0.12], cells: [2, 2]}}, material: sheet, translate: [0.3, 0.002, 0],\n"
    "          shell: {thickness: 2 mm, pressure: 20, drag: 0.6, stretch-limit: 1.2}},\n"
    "  rod: {generate: {rod: {length: 0.2, cells: 4}}, material: sheet, rod: {radius: 8 mm, curved: true},\n"
    "        translate: [0, 0.003, 0.3]},\n"
    "  two: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, material: tender, order: 2,\n"
    "          proxy: {segments: 1}, translate: [0.6, 0.2, 0]},\n"
    "  three: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, material: tender, order: 3,\n"
    "          proxy: {segments: 1}, translate: [0.6, 0.4, 0]},\n"
    "  four: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, material: tender, order: 4,\n"
    "          proxy: {segments: 1}, translate: [0.6, 0.6, 0]}},\n"
    " attachments: [{from: {object: block, relative-box: [[0, 1, 0], [1, 1, 1]]}, to: {point: [0.1, 0.3, 0]}, stiffness: 9},\n"
    "               {from: {object: rod, nodes: [0]}, to: {object: block}, stiffness: 7}],\n"
    " motion: [{select: {object: rod, nodes: [4]}, translate: [0.1, 0.2, 0]}]}\n";

static const char *const SCHEMES[] = { "implicit-euler", "bdf2", "implicit-newmark", "midpoint", "quasi-static" };
enum { NSCHEMES = sizeof SCHEMES / sizeof *SCHEMES };

/* Springs between nodes of the block and the rod, as the program `springs` would put them. */
static inline void add_springs(world *w)
{
    static const int32_t node[4] = { 0, 6, 3, 27 };
    static const double length[2] = { 0.05, 0.2 }, k[2] = { 40, 30 };
    const struct { const char *name; const void *data; size_t bytes; } put[] = { { "spring/node", node, sizeof node },
        { "spring/length", length, sizeof length }, { "spring/stiffness", k, sizeof k } };
    for (int i = 0; i < 3; i++) {
        void *to = abut_model_put(&w->model_set, put[i].name, 2, &w->err);
        if (!to) printf("# %s\n", w->err.msg), abort();
        memcpy(to, put[i].data, put[i].bytes);
    }
}

/* The surfaces of the blocks of higher order are one triangle a face, so that every collision vertex is a node: in place of a map
 * of weights 1 the nodes themselves, as terms of contacts are about nodes then. */
static inline void select_nodes(world *w)
{
    static const char *const gone[] = { "contact/map-first", "contact/map-node", "contact/map-weight", "contact/offset" };
    const abut_array *first = abut_arrays_find(&w->model_set, gone[0]), *from = abut_arrays_find(&w->model_set, gone[1]);
    int32_t *node = abut_model_put(&w->model_set, "contact/node", first->shape[0], &w->err);
    if (!node) printf("# %s\n", w->err.msg), abort();
    first = abut_arrays_find(&w->model_set, gone[0]), from = abut_arrays_find(&w->model_set, gone[1]);
    for (int64_t i = 0; i < first->shape[0]; i++) {
        const int32_t *row = (const int32_t *)first->data + 2 * i;
        CHECK(row[1] == row[0] + 1);
        node[i] = ((const int32_t *)from->data)[row[0]];
    }
    for (int i = 0; i < 4; i++) abut_arrays_remove(&w->model_set, gone[i]);
}

/* The blocks of higher order pressed flat, as are the places that terms compare theirs with; a point of the barrier of det F in
 * two tets of each. */
static inline void press(abut_search *s)
{
    static const char *const name[] = { "barrier of det F, order 2", "barrier of det F, order 3", "barrier of det F, order 4" };
    static const double at[2][4] = { { 0.1, 0.2, 0.3, 0.4 }, { 1, 0, 0, 0 } };
    for (int k = 0; k < 3; k++) {
        abut_jacobian_barriers *b = abut_terms_find(&s->prob.terms, name[k]);
        const double middle = 0.2 * (k + 1);
        uint8_t *done = calloc((size_t)s->prob.model->nv, 1);
        for (int32_t c = 0; c < b->tets->n * b->tets->nodes; c++) {
            const int32_t i = b->tets->node[c];
            const double by = done[i] ? 0 : 0.75 * (middle - s->here.x[3 * i + 1]);
            double *const moved[] = { s->here.x, s->prob.xn, s->prob.xhat, s->prob.still };
            for (int j = 0; j < 4; j++) moved[j][3 * i + 1] += by;
            done[i] = 1;
        }
        for (int q = 0; q < 2; q++) CHECK(!abut_jacobian_barriers_add(b, 3 * q, at[q], NULL));
        free(done);
    }
}

/* In the third step of that scene, away from any minimum, the scripted node on its way. */
static inline abut_search *amid(world *w, int scheme, abut_rng *rng)
{
    char text[4096];
    const int still = !strcmp(SCHEMES[scheme], "quasi-static");
    snprintf(text, sizeof text, ALL, SCHEMES[scheme], still ? "" : ", velocity: [0.4, 0, 0.1]",
             still ? "" : ", velocity: [0.4, -0.2, 0.1]");
    *w = (world){ 0 };
    scene_arrays(text, &w->model_set, &w->frame);
    add_springs(w);
    select_nodes(w);
    world_start(w);
    CHECK(!world_judged(w, 2));
    CHECK(!abut_step_begin(&w->st, &w->frame, w->at, &w->rep, &w->err));
    abut_search *s = &w->st.solver;
    abut_lagrangian_of(&s->prob.terms)->on = 1;
    abut_lagrangian_of(&s->prob.terms)->kap = 50;
    for (int32_t i = 0; i < 3 * w->model.nv; i++) {
        abut_lagrangian_of(&s->prob.terms)->lam[i] = s->prob.held[i / 3] ? 1e-3 : 0;
        s->here.x[i] += abut_rng_real(rng, -4e-5, 4e-5);
    }
    press(s);
    abut_objective_number(&s->prob);
    CHECK(!abut_search_contacts(s, &w->rep, &w->err));
    return s;
}

#endif
