/* The triangles of one frame, as draw.h wants them: skins of the objects, tubes along segments, balls at points. */
#ifndef ABUT_FORMATS_PICTURE_DRAW_MESH_H
#define ABUT_FORMATS_PICTURE_DRAW_MESH_H

#include "formats/picture/draw.h"
#include "formats/result/object_parts.h"

/* One object, constant over the frames.  Owns its arrays. */
typedef struct abut_draw_part {
    abut_shading_mesh skin;
    size_t first;               /* its first point in a record */
    int32_t npoint;
    int obstacle;
    float thick;                /* m: radius of its tubes and balls; 0: as all */
    float rgb[3];               /* sRGB */
    int32_t nseg, nball;
    int32_t *seg, *ball;        /* points */
} abut_draw_part;

/* Zero-filled is empty. */
typedef struct abut_draw_mesh {
    abut_draw_part *part;
    int32_t n;
    size_t npoint;              /* of all parts together */
    size_t n_vertex, n_tri, n_edged;
    float *vertex;
    uint32_t *tri;
    float *normal;              /* scratch */
} abut_draw_mesh;

/** Takes the parts of a model and makes room for their triangles.  X: rest positions by node; thick [parts->n], m: radius of
 * tubes and balls of each part, 0: unknown (NULL: all unknown).  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_draw_mesh_make(abut_draw_mesh *m, const abut_parts *parts, const double *X, const double *thick,
                                              abut_err *err);

/** Fills vertex for one frame.
 * x      [3 npoint] positions;  value [npoint] of the colour scale, NULL: colours of the objects
 * range  of the scale;  thick  m: radius of tubes, and of balls at their ends, where a part has none; isolated points are half
 *        as large again.  No part is drawn with less than a third of it */
void abut_draw_mesh_fill(abut_draw_mesh *m, const float *x, const float *value, const double range[2], double thick);
void abut_draw_mesh_clear(abut_draw_mesh *m);

#endif
