#include "energy/two_modes.h"

#include "linalg/bsr.h"

/* where the blocks (a, a), (a, a + 1), ... of corner a begin */
static const int FIRST[4] = { 0, 36, 63, 81 };

/* H += u w^T + w u^T, half of it when u is w */
static void add(int corners, const double *u, const double *w, double *H)
{
    for (int a = 0; a < corners; a++) {
        double *block = H + FIRST[a];
        for (int b = a; b < corners; b++, block += 9)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) block[3 * i + j] += u[3 * a + i] * w[3 * b + j] + w[3 * a + i] * u[3 * b + j];
    }
}

void abut_two_modes_add(int corners, double d, double o, const double *u, const double *w, double *H)
{
    double half[12];    /* d u u^T + o (u w^T + w u^T) = u (d/2 u + o w)^T + (d/2 u + o w) u^T */
    for (int k = 0; k < 3 * corners; k++) half[k] = 0.5 * d * u[k] + o * w[k];
    add(corners, u, half, H);
}

void abut_two_modes_add_positive(int corners, double d, double o, const double *u, const double *w, double *H)
{
    const double r = hypot(d, 2 * o), most = d > 0 ? 0.5 * (d + r) : 2 * o * o / (r - d);    /* without cancellation */
    if (!(most > 0)) return;
    /* most v v^T with v along (most, o) */
    const double root = sqrt(most) / hypot(most, o);
    double v[12], half[12];
    for (int k = 0; k < 3 * corners; k++) {
        v[k] = root * (most * u[k] + o * w[k]);
        half[k] = 0.5 * v[k];
    }
    add(corners, v, half, H);
}
