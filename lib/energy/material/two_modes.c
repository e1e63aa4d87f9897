#include "energy/material/two_modes.h"

#include "math/lanes.h"

#include <string.h>

/* index of the first of the blocks (a, a), (a, a + 1), ... of corner a */
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
    double v[12], half[12];
    abut_two_modes_positive(corners, d, o, u, w, v);
    for (int k = 0; k < 3 * corners; k++) half[k] = 0.5 * v[k];
    add(corners, v, half, H);
}

/* Rows of the sum, four entries at a time; of row 3 a + i the blocks from column 3 a on are packed.  Unrolled, the vectors stay
 * in registers and every place is a constant; `more` is a literal. */
ABUT_LANES_INLINE void squares4(int more, const double *v, double *H)
{
    abut_lanes w[4][3];
    memcpy(w, v, sizeof w);
    #pragma GCC unroll 4
    for (int a = 0; a < 4; a++)
        #pragma GCC unroll 3
        for (int i = 0; i < 3; i++) {
            const double *f = v + 3 * a + i;
            double entry[12];
            #pragma GCC unroll 3
            for (int q = 3 * a / ABUT_LANES; q < 3; q++) {
                const abut_lanes four = f[0] * w[0][q] + f[12] * w[1][q] + f[24] * w[2][q] + f[36] * w[3][q];
                memcpy(entry + 4 * q, &four, sizeof four);
            }
            #pragma GCC unroll 4
            for (int b = a; b < 4; b++)
                #pragma GCC unroll 3
                for (int j = 0; j < 3; j++) {
                    double *to = &H[FIRST[a] + 9 * (b - a) + 3 * i + j];
                    *to = more ? *to + entry[3 * b + j] : entry[3 * b + j];
                }
        }
}

ABUT_LANES_CLONES
void abut_add_squares4(const double *v, double *H)
{
    squares4(1, v, H);
}

ABUT_LANES_CLONES
void abut_set_squares4(const double *v, double *H)
{
    squares4(0, v, H);
}
