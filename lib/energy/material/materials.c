/* The materials by number, and those that have forms (energy/material/density_forms.h), and the spline.  I = s0^2 + s1^2 + s2^2,
 * J = det F, L = ln J. */
#include "energy/material/materials.h"

const abut_material_ops abut_material_neo_hookean = {
    "mu/2 (I - 3) - mu L + lambda/2 L^2: Li 2020, 2.2", ABUT_NEEDS_F, NULL
};
const abut_material_ops abut_material_fixed_corotated = {
    "mu sum (s_i - 1)^2 + lambda/2 (J - 1)^2: Stomakhin 2012", ABUT_NEEDS_ROTATION, NULL
};
const abut_material_ops abut_material_stable_neo_hookean = {    /* less its value at rest */
    "m/2 (I - 3) + q/2 (J - a)^2 - m/2 ln(I + 1), m = 4/3 mu, q = lambda + 5/6 mu, a = 1 + 3/4 m/q: Smith 2018, eq. 14",
    ABUT_NEEDS_F, NULL
};
const abut_material_ops abut_material_stvk = { "mu E:E + lambda/2 tr(E)^2, E = (F^T F - 1)/2", ABUT_NEEDS_F, NULL };
const abut_material_ops abut_material_arap = { "mu sum (s_i - 1)^2", ABUT_NEEDS_ROTATION, NULL };
const abut_material_ops abut_material_linear_corotated = {
    "mu sum (s_i - 1)^2 + lambda/2 (sum (s_i - 1))^2", ABUT_NEEDS_ROTATION, NULL
};
const abut_material_ops abut_material_polynomial = { "mu sum (s_i - 1)^4: Liu 2018, 7.1", ABUT_NEEDS_STRETCHES, NULL };
const abut_material_ops abut_material_spline = { "curves of stretches, areas and J: Xu 2015", ABUT_NEEDS_STRETCHES, NULL };

#define ROW(id, name, traits) &abut_material_##id,
const abut_material_ops *const abut_materials[] = { ABUT_MATERIALS(ROW) };
