#include "energy/material/materials.h"

#include "energy/material/density_inline.h"
#include "math/svd3.h"
#include "model/laws_table.h"

/* ---- the table, with the materials that have forms (energy/material/density_forms.h), and the spline.  I = s0^2 + s1^2 + s2^2,
 * J = det F, L = ln J; the stable neo-Hookean is less its value at rest ---- */

#define DECLARED(id, name, traits) extern const abut_material_ops abut_material_##id;
ABUT_MATERIALS(DECLARED)

#define FORM_OF(id, input, text) const abut_material_ops abut_material_##id = { text, ABUT_NEEDS_##input, NULL };
FORM_OF(neo_hookean, F, "mu/2 (I - 3) - mu L + lambda/2 L^2: Li 2020, 2.2")
FORM_OF(fixed_corotated, ROTATION, "mu sum (s_i - 1)^2 + lambda/2 (J - 1)^2: Stomakhin 2012")
FORM_OF(stable_neo_hookean, F,
        "m/2 (I - 3) + q/2 (J - a)^2 - m/2 ln(I + 1), m = 4/3 mu, q = lambda + 5/6 mu, a = 1 + 3/4 m/q: Smith 2018, eq. 14")
FORM_OF(stvk, F, "mu E:E + lambda/2 tr(E)^2, E = (F^T F - 1)/2")
FORM_OF(arap, ROTATION, "mu sum (s_i - 1)^2")
FORM_OF(linear_corotated, ROTATION, "mu sum (s_i - 1)^2 + lambda/2 (sum (s_i - 1))^2")
FORM_OF(polynomial, STRETCHES, "mu sum (s_i - 1)^4: Liu 2018, 7.1")
FORM_OF(spline, STRETCHES, "curves of stretches, areas and J: Xu 2015")

#define ROW(id, name, traits) &abut_material_##id,
const abut_material_ops *const abut_materials[] = { ABUT_MATERIALS(ROW) };

/* ---- densities ---- */

#include "math/forms_lanes.h"
#define PRINCIPAL abut_principals
#include "energy/material/density_forms.h"
#undef PRINCIPAL
#include "math/forms_end.h"

#include <math.h>

ABUT_LANES_CLONES
void abut_density_direct(int model, const abut_lanes *mu, const abut_lanes *lambda, const abut_lanes *F, abut_lanes *psi,
                         abut_lanes *P)
{
    abut_form_direct_lanes(model, mu, lambda, F, psi, P);
}

ABUT_LANES_CLONES
void abut_density_principals(int model, const abut_lanes *mu, const abut_lanes *lambda, const abut_lanes *s, abut_principals *out)
{
    if (model < ABUT_MATERIAL_FORMS) {
        abut_form_principal_lanes(model, mu, lambda, s, out);
        return;
    }
    for (size_t l = 0; l < ABUT_LANES; l++) {
        const double stretch[3] = { s[0][l], s[1][l], s[2][l] };
        abut_principal one;
        abut_density_principal(model, (*mu)[l], (*lambda)[l], stretch, &one);
        abut_principals_set(out, l, &one);
    }
}

int abut_density_known(int model)
{
    return model >= 0 && model < abut_names_count(abut_material_names);
}

abut_density_needs abut_density_need(int model)
{
    return abut_materials[model]->principal ? ABUT_NEEDS_STRETCHES : abut_materials[model]->needs;
}

/* lambda/2 (J - 1)^2 more */
ABUT_LANES_INLINE void add_volume_change(const abut_lanes *lambda, const abut_lanes *F, abut_lanes *psi, abut_lanes *P)
{
    abut_lanes C[9];
    abut_lanes_cofactors(F, C);
    const abut_lanes J = F[0] * C[0] + F[1] * C[1] + F[2] * C[2], pressure = *lambda * (J - 1);
    *psi += 0.5 * pressure * (J - 1);
    for (int i = 0; i < 9; i++) P[i] += pressure * C[i];
}

ABUT_LANES_CLONES
void abut_density_rotated(int model, const abut_lanes *mu, const abut_lanes *lambda, const abut_lanes *F, const abut_lanes *R,
                          abut_lanes *psi, abut_lanes *P)
{
    abut_lanes square = ABUT_LANES_ALL(0.), trace = ABUT_LANES_ALL(0.);
    for (int i = 0; i < 9; i++) {
        const abut_lanes D = F[i] - R[i];
        square += D * D;
        trace += R[i] * D;      /* sum (s_i - 1) */
        P[i] = 2 * *mu * D;
    }
    *psi = *mu * square;
    if (model == ABUT_FIXED_COROTATED) {
        add_volume_change(lambda, F, psi, P);
    } else if (model == ABUT_LINEAR_COROTATED) {
        *psi += 0.5 * *lambda * trace * trace;
        for (int i = 0; i < 9; i++) P[i] += *lambda * trace * R[i];
    }
}

double abut_psi(int model, double mu, double lambda, const double F[9], double *P)
{
    double none[9] = { 0 }, U[9], s[3], V[9];
    abut_principal p;
    if (model < ABUT_MATERIAL_FORMS) return abut_psi_one(model, mu, lambda, F, P ? P : none);
    abut_svd3(F, U, s, V);
    abut_density_principal(model, mu, lambda, s, &p);
    if (P && p.psi < INFINITY) abut_stress_of(&p, U, V, P);
    return p.psi;
}

void abut_stress_principal(const abut_principal *p, const double U[9], const double V[9], double P[9])
{
    abut_stress_of(p, U, V, P);
}

void abut_principals_set(abut_principals *all, size_t l, const abut_principal *p)
{
    all->psi[l] = p->psi;
    for (int i = 0; i < 9; i++) all->A[i][l] = p->A[i];
    for (int i = 0; i < 3; i++) {
        all->d[i][l] = p->d[i];
        all->flip[i][l] = p->flip[i];
        all->twist[i][l] = p->twist[i];
    }
}

void abut_density_principal(int model, double mu, double lambda, const double s[3], abut_principal *out)
{
    if (model < ABUT_MATERIAL_FORMS) abut_form_principal_one(model, &mu, &lambda, s, out);
    else if (abut_material_injective(model) && !(s[2] > 0)) *out = (abut_principal){ .psi = INFINITY };
    else abut_materials[model]->principal(mu, lambda, s, out);
}

/* set where the pivots of the symmetric A[9] are positive: no eigenvalues are needed there */
ABUT_LANES_INLINE void are_definite(const abut_lanes *A, abut_lane_mask *definite)
{
    const abut_lanes l1 = A[3] / A[0], l2 = A[6] / A[0];
    const abut_lanes d1 = A[4] - l1 * A[3], e = A[7] - l1 * A[6];
    *definite = (A[0] > 0) & (d1 > 0) & (A[8] - l2 * A[6] - e * e / d1 > 0);
}

/* A[9] of lane l */
static void project_lane(abut_lanes *A, size_t l)
{
    double a[9];
    for (int i = 0; i < 9; i++) a[i] = A[i][l];
    (void)abut_psd_project3(a);
    for (int i = 0; i < 9; i++) A[i][l] = a[i];
}

ABUT_LANES_CLONES
void abut_principals_project(abut_principals *p)
{
    abut_lane_mask definite;
    are_definite(p->A, &definite);
    const abut_lane_mask not = ~definite;
    for (size_t l = 0; l < ABUT_LANES && abut_lanes_any(&not); l++)
        if (not[l]) project_lane(p->A, l);
    for (int i = 0; i < 3; i++) {
        p->flip[i] = ABUT_LANES_PICK(p->flip[i] < 0, ABUT_LANES_ALL(0.), p->flip[i]);
        p->twist[i] = ABUT_LANES_PICK(p->twist[i] < 0, ABUT_LANES_ALL(0.), p->twist[i]);
    }
}
