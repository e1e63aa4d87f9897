/* A material of one's own: Yeoh's, with the change of volume apart (Simo and Taylor's).  It goes to lib/energy/material;
 * rows.diff names it in the table.  I, J: invariants of C.
 *     mu/2 (B - 3) + mu/20 (B - 3)^2 + K/4 (J^2 - 1 - 2 ln J),  B = I J^(-2/3),  K = lambda + 2/3 mu */
#include "energy/material/materials.h"
#include "energy/material/principal_inline.h"

#include <math.h>

static void yeoh(double mu, double lambda, const double s[3], abut_principal *out)
{
    double I[3];
    abut_invariants(s, I);
    const double J = I[2], K = lambda + 2 * mu / 3, a = pow(J, -2. / 3), B = a * I[0];
    const double p = -2 * a / (3 * J), q = p * I[0];    /* d2B/dI dJ and dB/dJ; d2B/dJ2 is -5 q / (3 J) */
    const double f = mu / 2 + mu / 10 * (B - 3), g = mu / 10;
    const abut_invariant_form w = {
        mu / 2 * (B - 3) + mu / 20 * (B - 3) * (B - 3) + K / 4 * (J * J - 1 - 2 * log(J)),
        { f * a, 0, f * q + K / 2 * (J - 1 / J) },
        { [0] = g * a * a, [2] = g * a * q + f * p, [6] = g * a * q + f * p,
          [8] = g * q * q - f * 5 * q / (3 * J) + K / 2 * (1 + 1 / (J * J)) }
    };
    abut_principal_of_invariants(s, &w, out);
}

const abut_material_ops abut_material_yeoh = {
    .help = "mu/2 (B - 3) + mu/20 (B - 3)^2 + K/4 (J^2 - 1 - 2 ln J), B = I J^-2/3, K = lambda + 2/3 mu", .principal = yeoh
};
