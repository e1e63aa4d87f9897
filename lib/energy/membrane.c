#include "energy/membrane.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "math/forms_lanes.h"
#define FABRICS abut_fabrics
#include "energy/membrane_forms.h"
#undef FABRICS
#include "math/forms_end.h"

/* ---- the law of a material ---- */

void abut_membrane_take(const abut_model *m, int32_t mat, abut_membrane *law)
{
    const double E = m->mat_young[mat], nu = m->mat_poisson[mat];
    *law = (abut_membrane){ .kind = m->mat_membrane ? m->mat_membrane[mat] : ABUT_MEMBRANE_ISOTROPIC, .model = m->mat_model[mat],
                            .mu = E / (2 * (1 + nu)), .lambda = E * nu / (1 - nu * nu) };
    const double *a = m->mat_fabric ? m->mat_fabric + 4 * (size_t)mat : NULL;
    if (law->kind == ABUT_MEMBRANE_ORTHOTROPIC || law->kind == ABUT_MEMBRANE_CLOTH) law->fabric = a;
    if (law->kind == ABUT_MEMBRANE_BARAFF_WITKIN) {
        const double number[ABUT_BW_NUMBERS] = { a[0], a[1], m->mat_compression[mat], a[3] };
        memcpy(law->bw, number, sizeof number);
    }
    if (law->kind == ABUT_MEMBRANE_CLOTH) law->strain = m->mat_strain + 3 * (size_t)mat;
}

abut_status abut_membrane_of(const abut_model *m, int32_t mat, abut_membrane *law, abut_err *err)
{
    assert(law);
    abut_membrane_take(m, mat, law);
    char list[200];
    if (law->kind != ABUT_MEMBRANE_ISOTROPIC || abut_material_is(law->model, ABUT_MATERIAL_PLANE)) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT, "material %d is of a shell and %s: expected %s", mat, abut_material_names[law->model],
                     abut_materials_with(ABUT_MATERIAL_PLANE, list, sizeof list));
}

double abut_membrane_stiffness(const abut_membrane *law)
{
    if (law->kind == ABUT_MEMBRANE_BARAFF_WITKIN)
        return 2 * (law->bw[ABUT_BW_WARP] + law->bw[ABUT_BW_WEFT] + law->bw[ABUT_BW_SHEAR]);
    return law->fabric ? law->fabric[0] + law->fabric[1] + law->fabric[3] : law->mu + fabs(law->lambda);
}

/* ---- isotropic laws ---- */

void abut_membrane_principal(const abut_membrane *law, const double s[2], abut_plane_principal *p)
{
    const double L = law->model == ABUT_NEO_HOOKEAN ? log(s[0] * s[1]) : 0;
    abut_plane_principal_of(law->model, law->mu, law->lambda, s, L, p);
}

static void project2(double A[3])
{
    if (!abut_plane_is_semidefinite(A)) abut_plane_lift(hypot(0.5 * (A[0] - A[2]), A[1]), A);
}

void abut_plane_project(const abut_plane_principal *p, const double s[2], abut_plane_frame *f)
{
    double A[3] = { p->A[0], p->A[1], p->A[2] };
    project2(A);
    abut_plane_frame_of(p, A, s, f);
}

void abut_plane_as_is(const abut_plane_principal *p, const double s[2], abut_plane_frame *f)
{
    abut_plane_project(p, s, f);
    f->G[0] = p->A[0];
    f->G[3] = f->G[12] = p->A[1];
    f->G[15] = p->A[2];
    f->G[5] = f->G[10] = 0.5 * (p->flip + p->twist);
    f->G[6] = f->G[9] = 0.5 * (p->flip - p->twist);
    for (int k = 0; k < 2; k++) f->R[2 * k] = p->d[k] / s[k];
}

/* ---- fabrics ---- */

void abut_fabrics_take(const abut_membrane *const *law, abut_fabrics *f)
{
    for (int l = 0; l < ABUT_LANES; l++) {
        const double *a = law[l] ? law[l]->fabric : NULL, *m = law[l] ? law[l]->strain : NULL;
        for (int i = 0; i < 4; i++) f->a[i][l] = a ? a[i] : 0;
        for (int i = 0; i < 3; i++) f->m[i][l] = m ? m[i] : INFINITY;
    }
}

ABUT_LANES_CLONES
void abut_fabrics_psi(const abut_fabrics *f, double k, const abut_lanes *s, const abut_lanes *V, abut_lanes *psi)
{
    abut_lanes e[3];
    abut_fabric_green_lanes(s, V, e);
    abut_fabric_psi_lanes(f, k, e, psi);
}

ABUT_LANES_CLONES
void abut_fabrics_stress(const abut_fabrics *f, double k, const abut_lanes *s, const abut_lanes *V, abut_lanes *P)
{
    abut_fabric_stress_lanes(f, k, s, V, P);
}

/* project2 of the lanes that are not semidefinite */
static void project2_lanes(const abut_lane_mask *is, abut_lanes A[3])
{
    for (int l = 0; l < ABUT_LANES; l++) {
        double T[3] = { A[0][l], A[1][l], A[2][l] };
        if ((*is)[l]) continue;
        project2(T);
        for (int i = 0; i < 3; i++) A[i][l] = T[i];
    }
}

ABUT_LANES_CLONES
void abut_fabrics_hessian(const abut_fabrics *f, double k, const abut_lanes *s, const abut_lanes *V, int project, abut_lanes *G,
                          abut_lanes *R)
{
    abut_lanes T[3], M[16];
    abut_lane_mask taut, stiff;
    abut_fabric_frame_lanes(f, k, s, V, M, T, &taut, &stiff);
    const abut_lane_mask doubtful = ~(taut & stiff), slack = ~taut;
    if (project && abut_lanes_any(&doubtful)) abut_psd_project4_lanes(M);
    if (project && abut_lanes_any(&slack)) project2_lanes(&taut, T);
    for (int j = 0; j < 16; j++) G[j] += M[j];
    for (int j = 0; j < 3; j++) R[j] += T[j];
}

/* ---- stretch limits ---- */

double abut_stretch_barrier(double s, double begins, double limit, double *db, double *d2b)
{
    double d = NAN, dd = NAN;
    const double b = abut_stretch_barrier_of(1, s, begins, limit, &d, &dd);
    if (db && b < INFINITY) *db = d;
    if (d2b && b < INFINITY) *d2b = dd;
    return b;
}

void abut_stretch_limit_add(const double row[4], double kappa, const double s[2], abut_plane_principal *p)
{
    abut_stretch_limit_add_of(1, row, kappa, s, p);
}

double abut_stretch_room(const double row[4], const double s[2])
{
    return abut_stretch_room_of(row, s[0], s[1]);
}
