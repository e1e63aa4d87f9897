#include "energy/material/fibre.h"

#include <math.h>

/* f = F d; returns its length */
static double stretch(const double d[3], const double F[9], double f[3])
{
    for (int i = 0; i < 3; i++) f[i] = F[3 * i] * d[0] + F[3 * i + 1] * d[1] + F[3 * i + 2] * d[2];
    return sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
}

double abut_fibre_psi(double kappa, const double d[3], const double F[9], double *P)
{
    double f[3];
    const double l = stretch(d, F, f), pull = l > 0 ? kappa * (1 - 1 / l) : 0;
    if (P)
        for (int i = 0; i < 9; i++) P[i] += pull * f[i / 3] * d[i % 3];
    return 0.5 * kappa * (l - 1) * (l - 1);
}

void abut_fibre_hessian(double kappa, const double d[3], const double F[9], int project, double M[9])
{
    double f[3];
    const double l = stretch(d, F, f), across = l > 1 || (!project && l > 0) ? 1 - 1 / l : 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double uu = l > 0 ? f[i] * f[j] / (l * l) : 0;
            M[3 * i + j] = kappa * (across * ((i == j) - uu) + uu);
        }
}
