#include "solve/step/split.h"

#include <assert.h>
#include <string.h>

/* Arrays of forces, which the copy does not have. */
static const char *const forces[] = {
    "hinge/node", "hinge/angle", "hinge/stiffness", "rod/node", "rod/material", "rod/radius", "rod/length", "rod/curvature",
    "rod/twist", "bend/node", "bend/stiffness", "spring/node", "spring/length", "spring/stiffness", "attachment/node",
    "attachment/weight", "attachment/offset", "attachment/stiffness", "object/pressure", "object/pressure-key", "object/drag",
    "world/wind", "damping/mass", "damping/stiffness", "tet/fibre", "material/fibre", "material/volume", "material/stretch"
};

static void fill(abut_arrays *set, const char *name, double value)
{
    abut_array *a = abut_arrays_find(set, name);
    for (int64_t i = 0; a && i < abut_array_count(a); i++) ((double *)a->data)[i] = value;
}

/* Makes materials so soft that their forces vanish in any sum; cloth stays, because its energy is its limit. */
static void soften(abut_arrays *set)
{
    abut_array *model = abut_arrays_find(set, "material/model"), *membrane = abut_arrays_find(set, "material/membrane");
    fill(set, "material/young", 1e-20);
    for (int64_t i = 0; model && i < abut_array_count(model); i++) ((int32_t *)model->data)[i] = ABUT_NEO_HOOKEAN;
    for (int64_t i = 0; membrane && i < abut_array_count(membrane); i++) {
        int32_t *kind = (int32_t *)membrane->data + i;
        if (*kind != ABUT_MEMBRANE_CLOTH) *kind = ABUT_MEMBRANE_ISOTROPIC;
    }
}

/* Scripted forces, which stay as motions that do nothing. */
static void drop_forces(abut_arrays *set)
{
    const abut_array *kind = abut_arrays_find(set, "motion/kind");
    abut_array *linear = abut_arrays_find(set, "motion/linear");
    for (int64_t i = 0; kind && linear && i < abut_array_count(kind); i++)
        if (((const int32_t *)kind->data)[i] == ABUT_MOTION_FORCE) memset((double *)linear->data + 3 * i, 0, 3 * sizeof(double));
}

static abut_status copy_all(const abut_arrays *from, abut_arrays *to, abut_err *err)
{
    abut_status rc = ABUT_OK;
    abut_arrays_clear(to);
    for (int i = 0; i < from->n && !rc; i++) rc = abut_arrays_copy(to, &from->a[i], err);
    return rc;
}

abut_status abut_split_model(const abut_arrays *model, abut_arrays *out, abut_err *err)
{
    const abut_array *scheme = abut_arrays_find(model, "time/scheme");
    if (scheme && *(const int32_t *)scheme->data != ABUT_IMPLICIT_EULER)
        return abut_fail(err, ABUT_E_FORMAT, "time/scheme is %d: the projection knows implicit Euler (%d)",
                         *(const int32_t *)scheme->data, ABUT_IMPLICIT_EULER);
    const abut_status rc = copy_all(model, out, err);
    if (rc) return rc;
    for (size_t i = 0; i < sizeof forces / sizeof *forces; i++) abut_arrays_remove(out, forces[i]);
    soften(out);
    drop_forces(out);
    fill(out, "world/gravity", 0);
    fill(out, "contact/mu", 0);
    return ABUT_OK;
}

/* The frame before, with a velocity to the predictor, x~ = x_n + h v.  Friction is in the predictor, and the model has no rods.
 * */
static abut_status towards_predictor(const abut_arrays *start, const abut_arrays *predictor, double h, abut_arrays *out,
                                     abut_err *err)
{
    const abut_status rc = copy_all(start, out, err);
    const abut_array *x = abut_arrays_find(out, "node/x"), *to = abut_arrays_find(predictor, "node/x");
    abut_array *v = abut_arrays_find(out, "node/v");
    if (rc) return rc;
    for (int64_t i = 0; i < abut_array_count(x); i++)
        ((double *)v->data)[i] = (((const double *)to->data)[i] - ((const double *)x->data)[i]) / h;
    static const char *const gone[] = { "lag/node", "lag/vertex", "lag/weight", "lag/basis", "lag/normal-force", "lag/mu",
                                        "rod/frame" };
    for (size_t k = 0; k < sizeof gone / sizeof *gone; k++) abut_arrays_remove(out, gone[k]);
    return ABUT_OK;
}

/* The predictor with the arrays that the projection changes. */
static abut_status put_projected(const abut_arrays *predictor, const abut_arrays *projected, abut_arrays *out, abut_err *err)
{
    static const char *const changed[] = { "node/x", "node/v", "step/waypoints", "contact/kappa", "strain/kappa" };
    abut_status rc = copy_all(predictor, out, err);
    for (size_t i = 0; i < sizeof changed / sizeof *changed && !rc; i++) {
        const abut_array *a = abut_arrays_find(projected, changed[i]);
        const abut_array *before = abut_array_named(out, changed[i]);
        if (before) abut_arrays_remove(out, before->name);
        if (a) rc = abut_arrays_copy(out, a, err);
    }
    return rc;
}

abut_status abut_split_project(abut_stepper *s, const abut_arrays *start, abut_instant at, const abut_arrays *predictor,
                               abut_arrays *out, abut_report *rep, abut_err *err)
{
    assert(s);
    const abut_model *m = s->solver.prob.model;
    abut_arrays from = { 0 }, next = { 0 };
    abut_status rc = towards_predictor(start, predictor, *m->h, &from, err);
    if (!rc) rc = abut_step_advance(s, &from, 0, &at, 0, &next, rep, err);
    if (!rc) rc = put_projected(predictor, &next, out, err);
    abut_arrays_clear(&from);
    abut_arrays_clear(&next);
    return rc;
}
