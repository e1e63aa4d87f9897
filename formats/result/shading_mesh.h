/* The triangles of a part made ready for shading: points are split where the rest shape has a sharp edge, so that a box
 * keeps its edges and a ball stays round. */
#ifndef ABUT_FORMATS_RESULT_SHADING_MESH_H
#define ABUT_FORMATS_RESULT_SHADING_MESH_H

#include "formats/result/object_parts.h"

/* Zero-filled is empty. */
typedef struct abut_shading_mesh {
    int32_t nv, ntri;
    int32_t *point;         /* [nv] point of the part; only points that triangles use */
    int32_t *tri;           /* [3 ntri] vertices of the skin */
} abut_shading_mesh;

/** X [3 * nodes]: rest positions by node;  crease: angle between two faces that counts as an edge, rad.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_shading_mesh_make(const abut_part *p, const double *X, double crease, abut_shading_mesh *out,
                                                 abut_err *err);
void abut_shading_mesh_clear(abut_shading_mesh *s);

/** Unit normals n[3 nv] of the vertices, the mean of their faces weighted by area; x[3 * points of the part].
 * (0, 1, 0) where the faces have no area. */
void abut_shading_mesh_normals(const abut_shading_mesh *s, const float *x, float *n);

#endif
