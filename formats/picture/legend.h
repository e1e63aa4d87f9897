/* Legends on pictures: the time, the colour scale. */
#ifndef ABUT_FORMATS_PICTURE_LEGEND_H
#define ABUT_FORMATS_PICTURE_LEGEND_H

#include "formats/picture/image.h"
#include "formats/result/point_fields.h"

/** "t = 0.25 s" in the upper left corner. */
void abut_legend_time(abut_image *im, double time, int decimals);
/** A colour bar with its ends and its name along the lower edge; stress in the unit that suits the range. */
void abut_legend_scale(abut_image *im, const abut_point_field *field, const double range[2]);

#endif
