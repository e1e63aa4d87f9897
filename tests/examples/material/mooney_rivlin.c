/* A material of one's own: Mooney and Rivlin's, with the change of volume apart (Simo and Taylor's).  It goes to
 * lib/energy/material; rows.diff names it in the table.  I, II, J: invariants of C.
 *     mu/4 (I J^(-2/3) - 3) + mu/4 (II J^(-4/3) - 3) + K/4 (J^2 - 1 - 2 ln J),  K = lambda + 2/3 mu */
#include "energy/material/materials.h"
#include "energy/material/principal_of.h"

#include <math.h>

static void mooney_rivlin(double mu, double lambda, const double s[3], abut_principal *out)
{
    double I[3];
    abut_invariants(s, I);
    const double J = I[2], K = lambda + 2 * mu / 3, a = mu / 4 * pow(J, -2. / 3), b = mu / 4 * pow(J, -4. / 3);
    const double p = -2 * a / (3 * J), q = -4 * b / (3 * J);
    const abut_invariant_form w = {
        a * I[0] + b * I[1] - 1.5 * mu + K / 4 * (J * J - 1 - 2 * log(J)),
        { a, b, p * I[0] + q * I[1] + K / 2 * (J - 1 / J) },
        { 0, 0, p, 0, 0, q, p, q, (10 * a * I[0] + 28 * b * I[1]) / (9 * J * J) + K / 2 * (1 + 1 / (J * J)) }
    };
    abut_principal_of_invariants(s, &w, out);
}

const abut_material_ops abut_material_mooney_rivlin = {
    .help = "mu/4 (I J^-2/3 - 3) + mu/4 (II J^-4/3 - 3) + K/4 (J^2 - 1 - 2 ln J), K = lambda + 2/3 mu",
    .principal = mooney_rivlin
};
