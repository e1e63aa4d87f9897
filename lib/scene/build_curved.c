/* Rods that are at rest as curved as their mesh. */
#include "energy/curved_rod.h"
#include "model/model.h"
#include "scene/build_parts.h"

#include <assert.h>

static const void *data_of(const abut_arrays *set, const char *name)
{
    const abut_array *a = abut_arrays_find(set, name);
    return a ? a->data : NULL;
}

/* Views the arrays of the model that describe the shape of its rods. */
static abut_model rods_of(const abut_build *b)
{
    const abut_arrays *s = b->model;
    return (abut_model){ .nv = b->out->nodes, .nrd = b->out->rods, .nbd = b->out->bends, .nm = b->scene->nmaterials,
                         .body = data_of(s, "node/object"), .rod = data_of(s, "rod/node"), .rod_mat = data_of(s, "rod/material"),
                         .rod_length = data_of(s, "rod/length"), .bend = data_of(s, "bend/node"),
                         .bend_stiffness = data_of(s, "bend/stiffness"), .mat_poisson = data_of(s, "material/poisson") };
}

abut_status abut_build_curved(abut_build *b, abut_err *err)
{
    assert(b);
    const abut_scene *s = b->scene;
    int32_t some = 0;
    while (some < s->nobjects && !s->object[some].rod_curved) some++;
    if (some == s->nobjects || !b->out->bends) return ABUT_OK;
    abut_curved_rods r;
    const abut_model m = rods_of(b);
    double *curvature = abut_model_put(b->model, "rod/curvature", m.nbd, err);
    if (!curvature) return err->code;
    abut_arrays_find(b->model, "rod/curvature")->flags |= ABUT_A_REQUIRED;
    abut_status rc = abut_curved_rods_init(&r, &m, err);
    if (rc) return abut_wrap(err, "%s: rods of '%s' are curved", s->object[some].from, s->object[some].name), rc;
    rc = abut_curved_rods_measure(&r, b->X, curvature, err);
    abut_curved_rods_clear(&r);
    for (int32_t i = 0; i < m.nbd && !rc; i++)
        if (!s->object[m.body[m.bend[3 * i]]].rod_curved) curvature[2 * i] = curvature[2 * i + 1] = 0;
    return rc;
}
