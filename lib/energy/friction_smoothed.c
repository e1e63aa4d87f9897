/* The friction laws of Li et al. 2020, App. I: polynomials below the threshold. */
#include "energy/friction_inline.h"
#include "energy/friction_laws.h"

static double c0(double y, double w, double *f1_over_y, double *f2)
{
    return abut_friction_f0_fn(ABUT_FRICTION_C0, y, w, f1_over_y, f2);
}

static double c1(double y, double w, double *f1_over_y, double *f2)
{
    return abut_friction_f0_fn(ABUT_FRICTION_C1, y, w, f1_over_y, f2);
}

static double c2(double y, double w, double *f1_over_y, double *f2)
{
    return abut_friction_f0_fn(ABUT_FRICTION_C2, y, w, f1_over_y, f2);
}

const abut_friction_law_ops abut_friction_law_c0 = { "q = y/w, 1 from w on", c0 };
const abut_friction_law_ops abut_friction_law_c1 = { "2 q - q^2, q = y/w, 1 from w on: Li 2020, App. I", c1 };
const abut_friction_law_ops abut_friction_law_c2 = { "3 q - 3 q^2 + q^3, q = y/w, 1 from w on", c2 };
