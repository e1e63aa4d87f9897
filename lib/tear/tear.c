#include "tear/tear.h"

#include "contact/intersect.h"
#include "energy/elastic.h"
#include "energy/codim.h"
#include "math/svd3.h"
#include "math/vec3.h"
#include "model/tets.h"
#include "tear/arrays.h"
#include "tear/surface.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* How far the fans of a node draw back, as a fraction of the distance to the middle of their elements. */
#define DRAW 1e-2
enum { DRAWS = 4 };     /* then a tenth of it, and so on */

/* of a spring or a rod */
static double segment_stretch(const int32_t *node, double length, const double *x)
{
    return abut_v3_norm(abut_v3_sub(abut_v3_get(x + 3 * (size_t)node[0]), abut_v3_get(x + 3 * (size_t)node[1]))) / length;
}

abut_status abut_tear_find(const abut_model *m, const double *x, double limit, uint8_t *gone, abut_torn *torn, abut_err *err)
{
    assert(torn);
    abut_elastic e = { 0 };
    abut_codim thin = { 0 };
    *torn = (abut_torn){ 0 };
    abut_status rc = abut_linear_tets(m, "tearing", err);
    if (!rc) rc = abut_elastic_init(&e, m, err);
    if (!rc) rc = abut_codim_init(&thin, m, err);
    for (int32_t t = 0; t < m->nt && !rc; t++) {
        double F[9], U[9], s[3], V[9];
        (void)abut_elastic_deformation(&e, x, t, F);
        abut_svd3(F, U, s, V);
        torn->worst = fmax(torn->worst, s[0]);
        torn->tets += gone[t] = s[0] > limit;
    }
    for (int32_t t = 0; t < m->nsh && !rc; t++) {
        double F[6], s[2];
        abut_shell_deformation(&thin, x, t, F, s);
        const double largest = fmax(s[0], s[1]);
        torn->worst = fmax(torn->worst, largest);
        torn->shells += gone[m->nt + t] = largest > limit;
    }
    for (int32_t t = 0; t < m->nsp && !rc; t++) {
        const double s = segment_stretch(m->spring + 2 * (size_t)t, m->spring_length[t], x);
        torn->worst = fmax(torn->worst, s);
        torn->springs += gone[m->nt + m->nsh + t] = s > limit;
    }
    for (int32_t t = 0; t < m->nrd && !rc; t++) {
        const double s = segment_stretch(m->rod + 2 * (size_t)t, m->rod_length[t], x);
        torn->worst = fmax(torn->worst, s);
        torn->rods += gone[m->nt + m->nsh + m->nsp + t] = s > limit;
    }
    abut_elastic_clear(&e);
    abut_codim_clear(&thin);
    return rc;
}

/* Draws the fans apart by a fraction of their draws; 0 when something then touches or is inverted. */
static abut_status part_fans(const abut_tearing *w, double share, const abut_arrays *model, abut_arrays *frame,
                             int *free_of_contact, abut_err *err)
{
    abut_model m;
    abut_collmesh cm = { 0 };
    abut_intersection hit;
    size_t found = 0;
    double *x = abut_arrays_find(frame, "node/x")->data, *y = NULL;
    abut_status rc = abut_model_view(model, &m, err);
    if (!rc) rc = abut_collmesh_init(&cm, &m, err);
    if (rc) return rc;
    for (int32_t i = 0; i < 3 * m.nv; i++) x[i] += share * w->draw[i];
    y = malloc((3 * (size_t)m.nc + 1) * sizeof *y);
    if (!y) rc = abut_fail(err, ABUT_E_NOMEM, "tearing: %d vertices", m.nc);
    if (!rc) abut_collmesh_positions(&cm, x, y);
    if (!rc) rc = abut_intersections_find(&cm, y, cm.obstacle, 1, &hit, &found, err);
    *free_of_contact = !rc && !found && abut_inverted_find(&m, x, 1) < 0;
    for (int32_t i = 0; i < 3 * m.nv && !*free_of_contact; i++) x[i] -= share * w->draw[i];
    abut_collmesh_clear(&cm);
    free(y);
    return rc;
}

abut_status abut_tear_apply(const abut_arrays *model, const abut_arrays *frame, const uint8_t *gone, abut_arrays *new_model,
                            abut_arrays *new_frame, abut_torn *torn, abut_err *err)
{
    abut_model m;
    abut_frame f;
    abut_status rc = abut_model_view(model, &m, err);
    if (!rc) rc = abut_frame_view(frame, &m, &f, err);
    if (rc) return rc;
    if (m.map_first)
        return abut_fail(err, ABUT_E_FORMAT, "tearing: the contact surface is a map of nodes (array 'contact/map-first'), "
                         "expected nodes themselves ('contact/node')");
    abut_tearing w;
    rc = abut_tearing_init(&w, &m, gone, torn, err);
    if (!rc) rc = abut_tearing_split(&w, f.x, err);
    torn->copies = w.ncopies;
    abut_arrays_clear(new_model);
    abut_arrays_clear(new_frame);
    if (!rc) rc = abut_tear_copy_arrays(&w, model, 0, new_model, err);
    if (!rc) rc = abut_tear_put_elements(&w, model, new_model, err);
    if (!rc) rc = abut_tear_put_surface(&w, new_model, err);
    if (!rc) rc = abut_tear_copy_arrays(&w, frame, 1, new_frame, err);
    if (!rc) abut_tear_put_mass(&w, new_model);
    if (!rc) abut_tear_share_impulse(&w, new_frame);
    int apart = 0;
    double share = DRAW;
    for (int k = 0; k < DRAWS && !rc && !apart; k++, share /= 10) rc = part_fans(&w, share, new_model, new_frame, &apart, err);
    if (!rc && !apart)
        rc = abut_fail(err, ABUT_E_NUMERIC, "the parts that tear apart cannot be parted without touching or inversion");
    if (rc) {
        abut_arrays_clear(new_model);
        abut_arrays_clear(new_frame);
    }
    abut_tearing_clear(&w);
    return rc;
}
