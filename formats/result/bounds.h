/* Boxes around points, and which direction is up. */
#ifndef ABUT_FORMATS_RESULT_BOUNDS_H
#define ABUT_FORMATS_RESULT_BOUNDS_H

#include "model/model.h"

typedef struct abut_bounds {
    float lo[3], hi[3];     /* lo > hi: empty */
} abut_bounds;

abut_bounds abut_bounds_empty(void);
void abut_bounds_add(abut_bounds *b, const float p[3]);
/** Centre, and length of the diagonal (0 when empty). */
void abut_bounds_center(const abut_bounds *b, double center[3]);
double abut_bounds_diagonal(const abut_bounds *b);

/** The axis (0, 1, 2) along which gravity is largest, and in *sign the direction against it; +y without gravity. */
int abut_up_axis(const abut_model *m, double *sign);

/** Corners of a square of half-width r in half-space i, around the foot of `center`, counter-clockwise seen from
 * outside; corner[12]. */
void abut_half_space_square(const abut_model *m, int32_t i, const double center[3], double r, double corner[12]);

#endif
