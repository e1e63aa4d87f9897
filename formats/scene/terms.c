/* Properties of materials of tets beside moduli: splines, fibres, squared distances, a degree of quadrature. */
#include "formats/scene/scene_parts.h"
#include "geom/quadrature.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>

/* {stretch: [..], a: [..], b: [..], c: [..]}: knots, and the slopes there, Pa */
static abut_status read_spline(const abut_tree *t, abut_scene_material *m, abut_err *err)
{
    static const char *const keys[] = { "stretch", "a", "b", "c", NULL };
    abut_status rc = abut_scene_need(t, keys, err);
    if (rc) return rc;
    const abut_tree *knots = abut_tree_find(t, "stretch");
    const int n = knots->kind == ABUT_TREE_LIST ? knots->n : 0;
    if (n < 2) return abut_tree_fail_kind(knots, "spline.stretch", err, "a list of two numbers or more, [0.5, 1, 2]");
    double *value = malloc((size_t)n * sizeof *value);
    m->knot = malloc((size_t)n * sizeof *m->knot);
    m->slope = malloc(3 * (size_t)n * sizeof *m->slope);
    m->nknots = n;
    if (!value || !m->knot || !m->slope) rc = abut_fail(err, ABUT_E_NOMEM, "no memory for a spline of %d knots", n);
    if (!rc) rc = abut_tree_vector(knots, "spline.stretch", ABUT_Q_PURE, n, m->knot, err);
    for (int k = 1; k < n && !rc; k++)
        if (!(m->knot[k - 1] < m->knot[k]))
            rc =
                abut_tree_fail(knots, err, "spline.stretch: %g after %g: expected ascending numbers", m->knot[k], m->knot[k - 1]);
    for (int q = 0; q < 3 && !rc; q++) {
        rc = abut_tree_vector(abut_tree_find(t, keys[1 + q]), keys[1 + q], ABUT_Q_PRESSURE, n, value, err);
        for (int k = 0; k < n && !rc; k++) m->slope[3 * k + q] = value[k];
    }
    free(value);
    return rc;
}

static abut_status read_fibre(const abut_tree *t, abut_scene_material *m, abut_err *err)
{
    static const char *const keys[] = { "direction", "stiffness", NULL };
    double *d = m->fibre_direction;
    abut_status rc = abut_scene_need(t, keys, err);
    if (!rc) rc = abut_tree_vector(abut_tree_find(t, "direction"), "fibre.direction", ABUT_Q_PURE, 3, d, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "stiffness"), "fibre.stiffness", ABUT_Q_PRESSURE, &m->fibre, NULL, err);
    const double n = rc ? 1 : abut_tree_norm(d, 3);
    if (!(n > 0)) return abut_tree_fail(t, err, "fibre.direction: expected a vector that is not zero");
    for (int k = 0; k < 3; k++) d[k] /= n;
    return rc;
}

static abut_status read_stretch(const abut_tree *t, abut_scene_material *m, abut_err *err)
{
    static const char *const keys[] = { "range", "stiffness", NULL };
    abut_status rc = abut_scene_need(t, keys, err);
    if (!rc) rc = abut_tree_vector(abut_tree_find(t, "range"), "stretch.range", ABUT_Q_PURE, 2, m->stretch + 1, err);
    if (!rc && !(m->stretch[1] >= 0 && m->stretch[1] <= 1 && m->stretch[2] >= 1))
        rc = abut_tree_fail(abut_tree_find(t, "range"), err, "stretch.range: %g, %g: expected 0 <= low <= 1 <= high",
                            m->stretch[1], m->stretch[2]);
    return rc ? rc
              : abut_tree_positive(abut_tree_find(t, "stiffness"), "stretch.stiffness", ABUT_Q_PRESSURE, &m->stretch[0], NULL,
                                   err);
}

abut_status abut_scene_terms(const abut_tree *t, abut_scene_material *m, abut_err *err)
{
    const abut_tree *spline = abut_tree_find(t, "spline"), *fibre = abut_tree_find(t, "fibre");
    const abut_tree *volume = abut_tree_find(t, "volume"), *stretch = abut_tree_find(t, "stretch");
    const abut_tree *degree = abut_tree_find(t, "quadrature");
    m->stretch[2] = 1;
    if (!spline != (m->model != ABUT_SPLINE))
        return abut_tree_fail_key(spline ? spline : t, err,
                                  spline ? "spline: of a material whose model is %s"
                                         : "model %s needs spline: {stretch: [..], a: [..], b: [..], c: [..]}",
                                  abut_material_names[m->model]);
    abut_status rc = spline ? read_spline(spline, m, err) : ABUT_OK;
    if (!rc && fibre) rc = read_fibre(fibre, m, err);
    if (!rc && volume) rc = abut_tree_positive(volume, "volume", ABUT_Q_PRESSURE, &m->volume, NULL, err);
    if (!rc && degree) rc = abut_tree_int(degree, "quadrature", 1, ABUT_QUADRATURE_MAX, &m->quadrature, err);
    return rc || !stretch ? rc : read_stretch(stretch, m, err);
}
