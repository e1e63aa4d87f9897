/* Parameters of solvers without a barrier, as arrays. */
#include "model/model.h"
#include "scene/build_parts.h"

#include <assert.h>

static abut_status put_solver(abut_build *b, abut_err *err)
{
    if (b->scene->solver == ABUT_SOLVED_BY_BARRIER) return ABUT_OK;
    int32_t *p = abut_model_put(b->model, "solve/solver", 1, err);
    if (!p) return err->code;
    *p = b->scene->solver;
    abut_arrays_find(b->model, "solve/solver")->flags |= ABUT_A_REQUIRED;
    return ABUT_OK;
}

static abut_status put_keys(abut_build *b, abut_err *err)
{
    for (int i = 0; i < ABUT_NODAL_KEYS; i++) {
        const abut_scene_nodal_key *k = &abut_scene_nodal_keys[i];
        const abut_param *p = &b->scene->nodal[i];
        if (!p->from[0]) continue;
        void *to = abut_model_put(b->model, k->array, 1, err);
        if (!to) return err->code;
        if (k->unit) *(double *)to = p->per_length ? p->value * b->out->length : p->value;
        else *(int32_t *)to = (int32_t)p->value;
    }
    return ABUT_OK;
}

static abut_status put_sqp(abut_build *b, abut_err *err)
{
    const struct abut_scene_sqp *s = &b->scene->sqp;
    const struct { const char *array; const abut_param *p; int whole; } all[] = {
        { "sqp/constraints", &s->constraints, 1 }, { "sqp/active-set", &s->active_set, 1 }, { "sqp/offset", &s->offset, 0 }
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const abut_param *p = all[i].p;
        if (!p->from[0]) continue;
        void *to = abut_model_put(b->model, all[i].array, 1, err);
        if (!to) return err->code;
        if (all[i].whole) *(int32_t *)to = (int32_t)p->value;
        else *(double *)to = p->per_length ? p->value * b->out->length : p->value;
    }
    return ABUT_OK;
}

/* The friction class of a thing. */
static int32_t class_of(const abut_build *b, int32_t thing)
{
    const int32_t n = b->scene->nobjects;
    const abut_array *a = abut_arrays_find(b->model, thing < n ? "object/friction" : "half-space/friction");
    return ((const int32_t *)a->data)[thing < n ? thing : thing - n];
}

/* Puts force and range of cohesion by pairs of friction classes; each cohesive object has its own class. */
static abut_status put_cohesion(abut_build *b, abut_err *err)
{
    const abut_scene *s = b->scene;
    const size_t ng = (size_t)b->out->friction_classes;
    if (!s->ncohesions) return ABUT_OK;
    double *force = abut_model_put(b->model, "nodal/cohesion-force", (int64_t)ng, err);
    double *range = force ? abut_model_put(b->model, "nodal/cohesion-range", (int64_t)ng, err) : NULL;
    if (!range) return err->code;
    for (int32_t i = 0; i < s->ncohesions; i++) {
        const abut_scene_cohesion *c = &s->cohesion[i];
        const size_t p = (size_t)class_of(b, c->a), q = (size_t)class_of(b, c->b);
        force[p * ng + q] = force[q * ng + p] = c->force;
        range[p * ng + q] = range[q * ng + p] = c->range;
    }
    return ABUT_OK;
}

abut_status abut_build_nodal(abut_build *b, abut_err *err)
{
    assert(b);
    abut_status rc = put_solver(b, err);
    if (!rc) rc = put_keys(b, err);
    if (!rc) rc = put_sqp(b, err);
    return rc ? rc : put_cohesion(b, err);
}
