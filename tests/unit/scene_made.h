/* A scene read from its text and built, with all that it becomes: what the tests of scenes share. */
#ifndef ABUT_TESTS_SCENE_MADE_H
#define ABUT_TESTS_SCENE_MADE_H

#include "check.h"

#include "contact/start_check.h"
#include "formats/scene/scene_read.h"
#include "formats/scene/tree.h"
#include "scene/build.h"

/* A body of one cube. */
#define BOX "  a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}\n"

/* Everything a scene becomes. */
typedef struct made {
    abut_arena arena;
    abut_tree *tree;
    abut_scene scene;
    abut_arrays model_set, frame_set;
    abut_built built;
    abut_offenders bad;
    abut_model m;
    abut_frame f;
    abut_err err;
} made;

static inline abut_status build(made *s)
{
    abut_status rc = abut_scene_build(&s->scene, &s->model_set, &s->frame_set, &s->built, &s->bad, &s->err);
    if (!rc) rc = abut_model_view(&s->model_set, &s->m, &s->err);
    return rc ? rc : abut_frame_view(&s->frame_set, &s->m, &s->f, &s->err);
}

static inline abut_status make(made *s, const char *text)
{
    memset(s, 0, sizeof *s);
    abut_status rc = abut_yaml_read(&s->arena, "test.yaml", text, strlen(text), &s->tree, &s->err);
    if (!rc) rc = abut_scene_read(s->tree, "", &s->scene, &s->err);
    return rc ? rc : build(s);
}

static inline void drop(made *s)
{
    abut_scene_clear(&s->scene);
    abut_arrays_clear(&s->model_set);
    abut_arrays_clear(&s->frame_set);
    abut_built_clear(&s->built);
    abut_offenders_clear(&s->bad);
    abut_arena_clear(&s->arena);
}

static inline int made_well(made *s, const char *text)
{
    const abut_status rc = make(s, text);
    if (rc) printf("# %s\n", s->err.msg);
    return rc == ABUT_OK;
}

/* The scene is refused with this status and a message that holds `part`. */
static inline int refused(const char *text, abut_status want, const char *part)
{
    made s;
    const abut_status rc = make(&s, text);
    const int ok = rc == want && strstr(s.err.msg, part) != NULL;
    if (!ok) printf("# status %d: %s\n", rc, s.err.msg);
    drop(&s);
    return ok;
}

#endif
