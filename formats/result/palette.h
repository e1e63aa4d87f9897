/* Colours: one per object, and a scale for numbers. */
#ifndef ABUT_FORMATS_RESULT_PALETTE_H
#define ABUT_FORMATS_RESULT_PALETTE_H

#include <stdint.h>

/** Colour of an object, sRGB 0..1: a fixed list of distinct, mild colours that starts again after twelve; obstacles are
 * grey. */
void abut_palette_object(int32_t object, int obstacle, float rgb[3]);

/** Colour of u in [0, 1] on a scale from light blue over yellow and red to dark violet, sRGB; clamped; grey for NaN.
 * Linear between 11 stations.  High values are dark, so that they are seen without colour, too. */
void abut_palette_scale(double u, float rgb[3]);

/** sRGB 0..1 to linear light (IEC 61966-2-1). */
float abut_srgb_to_linear(float c);

#endif
