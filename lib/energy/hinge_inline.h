/* One hinge (energy/hinge.h): energy, derivative and projected second derivative. */
#ifndef ABUT_ENERGY_HINGE_INLINE_H
#define ABUT_ENERGY_HINGE_INLINE_H

#include "base/fn.h"

#include "math/elementary_inline.h"
#include "math/forms_one.h"

#include "energy/hinge_forms.h"

#include "math/forms_end.h"

/** k (theta - rest)^2, J, +inf where a wing has no normal; f[12] its derivative, 0 there. */
ABUT_FN double abut_hinge_energy_one(double k, double rest, const double x[12], double f[12])
{
    abut_hinge_one H;
    double d;
    abut_hinge_open_one(x, &H);
    abut_hinge_bent_one(&H, &rest, &d);
    abut_hinge_gradients_one(&H, f);
    for (int i = 0; i < 12; i++) f[i] = H.open ? 2 * k * d * f[i] : 0;
    return H.open ? k * d * d : (double)INFINITY;
}

/** H = the sum of v v^T over v[4 * 12], packed (sparse/elements.h). */
ABUT_FN void abut_squares4_one(const double *v, double *H)
{
    double *to = H;
    for (int a = 0; a < 4; a++)
        for (int b = a; b < 4; b++, to += 9)
            for (int k = 0; k < 9; k++) {
                const double *f = v + 3 * a + k / 3, *g = v + 3 * b + k % 3;
                to[k] = f[0] * g[0] + f[12] * g[12] + f[24] * g[24] + f[36] * g[36];
            }
}

/** H, packed: the second derivative, projected to positive semidefinite; 0 where a wing has no normal. */
ABUT_FN void abut_hinge_hessian_one(double k, double rest, const double x[12], double *H)
{
    abut_hinge_one hinge;
    abut_hinge_mode_one m[4];
    double v[48];
    abut_hinge_open_one(x, &hinge);
    abut_hinge_modes_one(&k, &rest, &hinge, m);
    for (int i = 0; i < 4; i++) abut_hinge_positive_one(&m[i], v + 12 * i);
    for (int i = 0; i < 48; i++) v[i] = hinge.open ? v[i] : 0;
    abut_squares4_one(v, H);
}

#endif
