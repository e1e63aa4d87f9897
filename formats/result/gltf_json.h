/* Layout of a .glb, and the JSON that describes it.  For gltf_write.c.
 *
 * The buffer has four views, in this order:
 *   indices   u32, of all meshes
 *   base      float3: of each mesh positions and normals of its skin, positions of its loose points; then half-spaces
 *   morph     float3, frame after frame: the three lists of each moving mesh, as differences from the base
 *   animation float: times [n], weights [n * (n - 1)] */
#ifndef ABUT_FORMATS_RESULT_GLTF_JSON_H
#define ABUT_FORMATS_RESULT_GLTF_JSON_H

#include "formats/result/object_parts.h"
#include "model/naming.h"

#include <stdio.h>

/* One object. */
typedef struct abut_gltf_mesh {
    char name[ABUT_PART_NAME];
    int32_t object;
    int obstacle, open;     /* open: shown from both sides */
    size_t first;           /* its first point in a record of the spool */
    int32_t npoint;         /* its points there */
    abut_shading_mesh skin;
    int32_t n_loose, nseg, nvert;
    int32_t *loose;         /* [n_loose] points that segments and isolated points use */
    int32_t *seg, *vert;    /* [2 nseg], [nvert] places in loose */
    int moves;
    abut_bounds skin_box, loose_box;            /* of the base positions */
    abut_bounds *skin_morph, *loose_morph;      /* [frames - 1] of the differences */
} abut_gltf_mesh;

typedef struct abut_gltf_doc {
    int32_t n_mesh, n_plane;
    abut_gltf_mesh *mesh;
    double *plane;          /* [12 n_plane] corners */
    double *plane_normal;   /* [3 n_plane] */
    char (*plane_name)[ABUT_OBJECT_WORDS];      /* [n_plane] */
    int up_axis;
    double up_sign;
    size_t n;               /* frames */
    double *time;           /* [n] s, from 0 */
} abut_gltf_doc;

/** Bytes of the four views. */
void abut_gltf_sizes(const abut_gltf_doc *d, size_t size[4]);
/** Writes the JSON of the document. */
ABUT_MUST_USE abut_status abut_gltf_json(const abut_gltf_doc *d, FILE *f, abut_err *err);

#endif
