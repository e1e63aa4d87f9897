/* Orthogonality energy of stiff affine bodies (Lan et al. 2022, with |F^T F - 1| of the same norm as |F F^T - 1|):
 *
 *     psi = kappa |F^T F - 1|^2 = kappa sum (s_i^2 - 1)^2,     kappa = mu/4 = E/8
 *
 * It is 0 at rotations, and there 4 kappa times the square of the small strain: Saint Venant and Kirchhoff's material without
 * lambda.  It is 0 at reflections, too, so it is injective by decree: +inf where det F <= 0. */
#include "energy/material/materials.h"

static void orthogonal(double mu, double lambda, const double s[3], abut_principal *out)
{
    (void)lambda;
    *out = (abut_principal){ 0 };
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const double e = (s[i] - 1) * (s[i] + 1), sum = s[j] * s[j] + s[k] * s[k] - 1, cross = s[j] * s[k];
        out->psi += 0.25 * mu * e * e;
        out->d[i] = mu * e * s[i];
        out->A[4 * i] = mu * (3 * s[i] * s[i] - 1);
        out->flip[i] = mu * (sum + cross);
        out->twist[i] = mu * (sum - cross);
    }
}

const abut_material_ops abut_material_orthogonal = {
    .help = "mu/4 |F^T F - 1|^2, det F > 0: Lan 2022", .principal = orthogonal
};
