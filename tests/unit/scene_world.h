/* A world made from the text of a scene, and steps that an independent judge looks at: what the tests of physics share. */
#ifndef ABUT_TESTS_SCENE_WORLD_H
#define ABUT_TESTS_SCENE_WORLD_H

#include "world.h"

#include "judge/judge.h"
#include "formats/scene/scene_read.h"
#include "formats/scene/tree.h"
#include "scene/build.h"
#include "scene/scene.h"

#include <stdarg.h>

/** The arrays of a scene as mesh-prep makes them; aborts with the message when the text is no scene, or when a message is left
 * of a scene that is one. */
static inline void scene_arrays(const char *text, abut_arrays *model, abut_arrays *frame)
{
    abut_arena arena = { 0 };
    abut_tree *tree;
    abut_scene scene = { 0 };
    abut_built built = { 0 };
    abut_offenders bad = { 0 };
    abut_err err = { 0 };
    abut_status rc = abut_yaml_read(&arena, "scene", text, strlen(text), &tree, &err);
    if (!rc) rc = abut_scene_read(tree, "", &scene, &err);
    if (!rc) abut_scene_place(&scene);
    if (!rc) rc = abut_scene_orders(&scene, &err);
    if (!rc) rc = abut_scene_build(&scene, model, frame, &built, &bad, &err);
    if (rc || err.code) printf("# %s\n", err.msg), abort();
    abut_scene_clear(&scene);
    abut_built_clear(&built);
    abut_offenders_clear(&bad);
    abut_arena_clear(&arena);
}

/** 1 when a scene (a file called test.yaml) is refused with the status, part in the message, and place ("test.yaml:6:"). */
static inline int scene_refused(const char *text, abut_status status, const char *part, const char *place)
{
    abut_arena arena = { 0 };
    abut_tree *tree = NULL;
    abut_scene scene = { 0 };
    abut_built built = { 0 };
    abut_offenders bad = { 0 };
    abut_arrays model = { 0 }, frame = { 0 };
    abut_err err = { 0 };
    abut_status rc = abut_yaml_read(&arena, "test.yaml", text, strlen(text), &tree, &err);
    if (!rc) rc = abut_scene_read(tree, "", &scene, &err);
    if (!rc) rc = abut_scene_orders(&scene, &err);
    if (!rc) rc = abut_scene_build(&scene, &model, &frame, &built, &bad, &err);
    const int ok = rc == status && strstr(err.msg, part) && strstr(err.msg, place);
    if (!ok) printf("# status %d: %s\n", rc, err.msg);
    abut_scene_clear(&scene);
    abut_arrays_clear(&model);
    abut_arrays_clear(&frame);
    abut_built_clear(&built);
    abut_offenders_clear(&bad);
    abut_arena_clear(&arena);
    return ok;
}

/** Views w->model_set and makes its stepper; to be called after scene_arrays and all changes of the arrays. */
static inline void world_start(world *w)
{
    w->o = abut_solve_defaults;
    abut_status rc = abut_model_view(&w->model_set, &w->model, &w->err);
    if (!rc) rc = abut_stepper_init(&w->st, &w->model, &w->row, &w->o, &w->err);
    if (rc) printf("# %s\n", w->err.msg), abort();
}

/** The world of a scene; the text is a printf format. */
__attribute__((format(printf, 2, 3)))
static inline void world_scene(world *w, const char *format, ...)
{
    char text[4096];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof text) printf("# the scene is too long\n"), abort();
    *w = (world){ 0 };
    scene_arrays(text, &w->model_set, &w->frame);
    world_start(w);
}

/* Number of collisions of the motion x0 -> way -> frame, by exact arithmetic, and of what crosses or is inverted there. */
static inline size_t world_collisions(const world *w, const double *x0)
{
    const abut_judge_opts o = abut_judge_defaults();
    const size_t n3 = 3 * (size_t)w->model.nv;
    const abut_array *way = abut_arrays_find(&w->frame, "step/waypoints");
    const size_t stops = way ? (size_t)way->shape[0] / (size_t)w->model.nv : 0;
    const double *x1 = get(w, "node/x"), *from, *to = NULL;
    size_t bad = 0;
    abut_judge_shape s;
    abut_hits hits = { 0 };
    CHECK(!abut_judge_shape_model(&s, &w->model, NULL));
    double *room = malloc(6 * sizeof *room * (size_t)s.nv);
    CHECK(!abut_judge_points(&s, x0, room, &from, NULL));
    for (size_t k = 0; k <= stops; k++) {
        const double *here = k < stops ? (const double *)way->data + k * n3 : x1;
        CHECK(!abut_judge_points(&s, here, room + 3 * (size_t)s.nv * ((k + 1) % 2), &to, NULL));
        CHECK(!abut_judge_motion(&s, from, to, &o, &hits, NULL));
        bad += hits.n;
        from = to;
    }
    CHECK(!abut_judge_static(&s, to, &hits, NULL));
    CHECK(!abut_judge_inverted(&s, to, 1, &hits, NULL));
    bad += hits.n;
    abut_hits_clear(&hits);
    abut_judge_shape_clear(&s);
    free(room);
    return bad;
}

/** Whether the contacts that the solver has ended with are those that a search of its own finds there: its candidates are of
 * the lines that it has followed, and a point beside them would lack some. */
static inline int world_has_all_contacts(world *w)
{
    const abut_search *s = &w->st.solver;
    const abut_objective *p = &s->prob;
    double *y = malloc((3 * (size_t)p->cm.nc + 1) * sizeof *y);
    abut_candidates cand = { .of = { .y = NULL } };
    abut_pairs all = { .n = 0 };
    abut_collmesh_positions(&p->cm, s->here.x, y);
    const int found = !abut_candidates_find(&p->cm, y, NULL, w->model.dhat[0], p->cm.obstacle, &cand, &w->err) &&
                      !abut_pairs_find(&p->cm, &cand, y, p->cm.obstacle, &all, &w->err);
    const int same = found && all.n == s->here.pairs.n && all.n_plane == s->here.pairs.n_plane &&
                     (!all.n || !memcmp(all.vert, s->here.pairs.vert, all.n * sizeof *all.vert));
    abut_candidates_clear(&cand);
    abut_pairs_clear(&all);
    free(y);
    return same;
}

/** n steps, each judged. */
static inline abut_status world_judged(world *w, int n)
{
    const size_t bytes = 3 * (size_t)w->model.nv * sizeof(double);
    double *x0 = malloc(bytes);
    abut_status rc = ABUT_OK;
    for (int k = 0; k < n && !rc; k++) {
        memcpy(x0, get(w, "node/x"), bytes);
        rc = world_run(w, 1);
        if (rc) break;
        const size_t bad = world_collisions(w, x0);
        if (bad) check_bad++, printf("# step %d: the judge finds %zu collisions\n", (int)w->at.step, bad);
        if (!world_has_all_contacts(w)) check_bad++, printf("# step %d: contacts are missing\n", (int)w->at.step);
    }
    free(x0);
    return rc;
}

/** Sum of a node array over the nodes of an object. */
static inline double total(const world *w, const char *name, int k, int32_t object)
{
    double s = 0;
    for (int32_t i = 0; i < w->model.nv; i++)
        if (w->model.body[i] == object) s += get(w, name)[3 * i + k];
    return s;
}

static inline double mass_of(const world *w, int32_t object)
{
    double s = 0;
    for (int32_t i = 0; i < w->model.nv; i++)
        if (w->model.body[i] == object) s += w->model.mass[i];
    return s;
}

#endif
