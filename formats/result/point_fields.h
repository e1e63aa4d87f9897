/* Fields as numbers at the points of a model, for colours: fields of tets and shells as the mean over those around a node,
 * fields of collision vertices at these. */
#ifndef ABUT_FORMATS_RESULT_POINT_FIELDS_H
#define ABUT_FORMATS_RESULT_POINT_FIELDS_H

#include "formats/result/shots.h"

enum { ABUT_FIELDS_MAX = 24 };

/* One field of a model: constant over its frames. */
typedef struct abut_point_field {
    char name[ABUT_NAME_MAX + 1];   /* "stress", "gap", or that of an array of another program */
    const char *label;              /* for people; NULL: the name */
    char unit[ABUT_UNIT_MAX + 1];
    int from_zero;                  /* the scale begins at 0, not at the least value */
} abut_point_field;

/** The fields that frames of this model have; the first frame of it says which arrays of other programs are among them.
 * Returns how many. */
int abut_point_fields(const abut_shot *s, abut_point_field field[ABUT_FIELDS_MAX]);

/** Finds the field of that name.  Fails  ABUT_E_ARG the model has none; lists its fields */
ABUT_MUST_USE abut_status abut_point_field_find(const abut_shot *s, const char *name, abut_point_field *field, abut_err *err);
/** ABUT_WANT_* of what the field of that name is taken from. */
int abut_point_field_want(const char *name);

/** value[parts->n_points]: of every point; NaN where the field is not known or does not exist.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_point_field_values(const abut_shot *s, const abut_point_field *field, double *value,
                                                  abut_err *err);

/* Colours: one per object, and a scale for numbers. */

/** Colour of an object, sRGB 0..1: a fixed list of distinct, mild colours that starts again after twelve; obstacles are
 * grey. */
void abut_palette_object(int32_t object, int obstacle, float rgb[3]);

/** Colour of u in [0, 1] on a scale from light blue over yellow and red to dark violet, sRGB; clamped; grey for NaN.
 * Linear between 11 stations.  High values are dark, so that they are seen without colour, too. */
void abut_palette_scale(double u, float rgb[3]);

/** sRGB 0..1 to linear light (IEC 61966-2-1). */
float abut_srgb_to_linear(float c);

#endif
