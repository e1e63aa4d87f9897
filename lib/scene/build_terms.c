/* Properties of materials of tets beside moduli, as arrays. */
#include "scene/build_parts.h"
#include "model/model.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* An array that must be understood. */
static void *put(abut_build *b, const char *name, int64_t rows, abut_err *err)
{
    void *data = abut_model_put(b->model, name, rows, err);
    if (data) abut_arrays_find(b->model, name)->flags |= ABUT_A_REQUIRED;
    return data;
}

static abut_status put_splines(abut_build *b, abut_err *err)
{
    const abut_scene *s = b->scene;
    int32_t n = 0;
    for (int32_t i = 0; i < s->nmaterials; i++) n += s->material[i].nknots;
    if (!n) return ABUT_OK;
    int32_t *rows = put(b, "material/spline", s->nmaterials, err);
    double *knot = rows ? put(b, "spline/knot", n, err) : NULL, *slope = knot ? put(b, "spline/slope", n, err) : NULL;
    if (!slope) return err->code;
    n = 0;
    for (int32_t i = 0; i < s->nmaterials; i++) {
        const abut_scene_material *m = &s->material[i];
        rows[2 * i] = n;
        if (m->nknots) {
            memcpy(knot + n, m->knot, (size_t)m->nknots * sizeof *knot);
            memcpy(slope + 3 * (size_t)n, m->slope, 3 * (size_t)m->nknots * sizeof *slope);
        }
        rows[2 * i + 1] = n += m->nknots;
    }
    return ABUT_OK;
}

/* The direction of every tet: that of its material, in the axes of the scene at the start; any other tet has one to no effect. */
static abut_status put_fibres(abut_build *b, abut_err *err)
{
    const abut_scene *s = b->scene;
    const abut_array *of = abut_arrays_find(b->model, "tet/material");
    int some = 0;
    for (int32_t i = 0; i < s->nmaterials; i++) some |= s->material[i].fibre > 0;
    if (!some || !of) return ABUT_OK;
    const int64_t nt = of->shape[0];
    const int32_t *material = of->data;     /* stays where it is when arrays are added; *of does not */
    double *kappa = put(b, "material/fibre", s->nmaterials, err);
    double *d = kappa ? put(b, "tet/fibre", nt, err) : NULL;
    if (!d) return err->code;
    for (int32_t i = 0; i < s->nmaterials; i++) kappa[i] = s->material[i].fibre;
    for (int64_t t = 0; t < nt; t++) {
        const abut_scene_material *m = &s->material[material[t]];
        d[3 * t] = 1;
        if (m->fibre > 0) memcpy(d + 3 * t, m->fibre_direction, 3 * sizeof *d);
    }
    return ABUT_OK;
}

/* Puts the quadrature degrees of elastic energies; masses are exact. */
static abut_status put_degrees(abut_build *b, abut_err *err)
{
    const abut_scene *s = b->scene;
    int some = 0;
    for (int32_t i = 0; i < s->nmaterials; i++) some |= s->material[i].quadrature > 0;
    if (!some) return ABUT_OK;
    int32_t *degree = put(b, "material/quadrature", s->nmaterials, err);
    if (!degree) return err->code;
    for (int32_t i = 0; i < s->nmaterials; i++) degree[2 * i] = s->material[i].quadrature;
    return ABUT_OK;
}

/* Fails if shells or rods have a material with these terms, which are terms of volumes. */
static abut_status check_codim(const abut_build *b, abut_err *err)
{
    static const char *const name[2] = { "shell/material", "rod/material" };
    for (int k = 0; k < 2; k++) {
        const abut_array *of = abut_arrays_find(b->model, name[k]);
        for (int64_t i = 0; of && i < of->shape[0]; i++) {
            const abut_scene_material *m = &b->scene->material[((const int32_t *)of->data)[i]];
            if (m->fibre > 0 || m->volume > 0 || m->stretch[0] > 0 || m->quadrature > 0)
                return abut_fail(err, ABUT_E_FORMAT,
                                 "%s: material '%s' has fibre, volume, stretch or quadrature, which are of tets: expected none "
                                 "of them for %s",
                                 m->from, m->name, k ? "rods" : "shells");
        }
    }
    return ABUT_OK;
}

abut_status abut_build_terms(abut_build *b, abut_err *err)
{
    assert(b);
    const abut_scene *s = b->scene;
    const abut_status unfit = check_codim(b, err);
    if (unfit) return unfit;
    int volume = 0, stretch = 0;
    for (int32_t i = 0; i < s->nmaterials; i++) {
        volume |= s->material[i].volume > 0;
        stretch |= s->material[i].stretch[0] > 0;
    }
    double *v = volume ? put(b, "material/volume", s->nmaterials, err) : NULL;
    double *r = stretch && (v || !volume) ? put(b, "material/stretch", s->nmaterials, err) : NULL;
    if ((volume && !v) || (stretch && !r)) return err->code;
    for (int32_t i = 0; i < s->nmaterials; i++) {
        if (v) v[i] = s->material[i].volume;
        if (r) r[3 * i + 2] = 1;
        if (r && s->material[i].stretch[0] > 0) memcpy(r + 3 * (size_t)i, s->material[i].stretch, 3 * sizeof *r);
    }
    abut_status rc = put_splines(b, err);
    if (!rc) rc = put_fibres(b, err);
    return rc ? rc : put_degrees(b, err);
}
