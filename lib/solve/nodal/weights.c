#include "solve/nodal/weights.h"

#include "math/mat3.h"

#include <math.h>

double abut_smallest_eigenvalue3(const double A[9])
{
    const double mean = (A[0] + A[4] + A[8]) / 3, off = A[1] * A[1] + A[2] * A[2] + A[5] * A[5];
    const double d[3] = { A[0] - mean, A[4] - mean, A[8] - mean };
    const double p = sqrt((d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 2 * off) / 6);
    if (!(p > 0)) return mean;
    const double B[9] = { d[0] / p, A[1] / p, A[2] / p, A[3] / p, d[1] / p, A[5] / p, A[6] / p, A[7] / p, d[2] / p };
    const double half = fmax(-1, fmin(1, abut_m3_det(B) / 2));
    /* the largest is mean + 2 p cos(acos(half)/3), the smallest a third of a turn further */
    return mean + 2 * p * cos(acos(half) / 3 + 2 * 3.14159265358979323846 / 3);
}

double abut_nodal_weight(const double A[9], double mass, double body, double beta, double sigma)
{
    const double eta = fmax(abut_smallest_eigenvalue3(A), mass);    /* A has at least the masses; the rest is rounding */
    return fmin(body / 2, fmax(sigma * eta, fmin(beta * mass, eta)));
}
