/* The densities of energy/material/materials.h for one deformation gradient, with the bits of the functions for four. */
#ifndef ABUT_ENERGY_MATERIAL_DENSITY_INLINE_H
#define ABUT_ENERGY_MATERIAL_DENSITY_INLINE_H

#include "energy/material/principal_inline.h"
#include "math/spd_inline.h"
#include "math/svd3_inline.h"
#include "model/laws.h"

#include "math/forms_one.h"
#define PRINCIPAL abut_principal
#include "energy/material/density_forms.h"
#undef PRINCIPAL
#include "math/forms_end.h"

/** Whether psi and P of the model take F alone. */
ABUT_FN int abut_density_is_direct(int model)
{
    return model == ABUT_NEO_HOOKEAN || model == ABUT_STABLE_NEO_HOOKEAN || model == ABUT_STVK;
}

/** abut_stress_principal. */
ABUT_FN void abut_stress_of(const abut_principal *p, const double U[9], const double V[9], double P[9])
{
    double Ud[9];
    for (int i = 0; i < 9; i++) Ud[i] = U[i] * p->d[i % 3];
    abut_m3_mul_nt(P, Ud, V);
}

/** abut_psi; P is not NULL. */
ABUT_FN double abut_psi_one(int model, double mu, double lambda, const double F[9], double P[9])
{
    double U[9], s[3], V[9], psi = 0;
    abut_principal p;
    if (abut_density_is_direct(model)) {
        abut_form_direct_one(model, &mu, &lambda, F, &psi, P);
        return psi;
    }
    abut_svd3_one(F, U, s, V);
    abut_form_principal_one(model, &mu, &lambda, s, &p);
    abut_stress_of(&p, U, V, P);
    return p.psi;
}

/** As abut_principals_project. */
ABUT_FN void abut_principal_project_one(abut_principal *p)
{
    if (!abut_is_definite3(p->A)) (void)abut_psd_project3(p->A);
    for (int i = 0; i < 3; i++) {
        p->flip[i] = p->flip[i] < 0 ? 0 : p->flip[i];
        p->twist[i] = p->twist[i] < 0 ? 0 : p->twist[i];
    }
}

#endif
