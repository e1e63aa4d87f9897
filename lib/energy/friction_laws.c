/* The friction laws by number, and those of Li et al. 2020, App. I: polynomials below the threshold. */
#include "energy/friction_laws.h"

#include "energy/friction_inline.h"

#define LAW(id, number, text)                                                                                   \
    static double id(double y, double w, double *f1_over_y, double *f2)                                         \
    {                                                                                                           \
        return abut_friction_f0_fn(number, y, w, f1_over_y, f2);                                                \
    }                                                                                                           \
    const abut_friction_law_ops abut_friction_law_##id = { text, id };
LAW(c0, ABUT_FRICTION_C0, "q = y/w, 1 from w on")
LAW(c1, ABUT_FRICTION_C1, "2 q - q^2, q = y/w, 1 from w on: Li 2020, App. I")
LAW(c2, ABUT_FRICTION_C2, "3 q - 3 q^2 + q^3, q = y/w, 1 from w on")

#define ROW(id, name) &abut_friction_law_##id,
const abut_friction_law_ops *const abut_friction_laws[] = { ABUT_FRICTION_LAWS(ROW) };
