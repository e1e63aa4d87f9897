/* Mooney and Rivlin's rubber with the volume term of Ciarlet and Geymonat (1982; Ciarlet, Mathematical Elasticity I, 1988, 4.10):
 *
 *     psi = a (I - 3) + b (II - 3) + c (J^2 - 1) - d ln J,    a = 2/5 mu, b = 1/10 mu, c = lambda/4 - b, d = 2 (a + 2 b + c),
 *
 * I, II the invariants of C = F^T F: a sum of functions of stretches, of their products by two and of their product (Liu 2018,
 * 7.2), whose c'(1) leaves no stress at rest.  With these c and d it is linear elasticity of mu and lambda there; c is negative,
 * and there is no lower bound, where lambda is below 2/5 mu, Poisson's ratio below 1/7. */
#include "energy/material/materials.h"
#include "energy/material/principal_inline.h"

#include <math.h>

static void mooney_rivlin(double mu, double lambda, const double s[3], abut_principal *out)
{
    double I[3];
    abut_invariants(s, I);
    const double J = I[2], a = 0.4 * mu, b = 0.1 * mu, c = lambda / 4 - b, d = 2 * (a + 2 * b + c);
    const abut_invariant_form w = { a * (I[0] - 3) + b * (I[1] - 3) + c * (J * J - 1) - d * log(J), { a, b, 2 * c * J - d / J },
                                    { [8] = 2 * c + d / (J * J) } };
    abut_principal_of_invariants(s, &w, out);
}

const abut_material_ops abut_material_mooney_rivlin = {
    .help = "2/5 mu (I - 3) + mu/10 (II - 3) + c (J^2 - 1) - (6/5 mu + 2 c) L, c = lambda/4 - mu/10: Ciarlet 1988, 4.10",
    .principal = mooney_rivlin
};
