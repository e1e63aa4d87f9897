/* Shells, rods and particles with their contact thickness, for programs that draw surfaces.
 *
 * A shell becomes two sheets, each vertex moved by half of its object's contact thickness along the mean normal of its triangles,
 * closed along its borders; a segment becomes a capsule, a particle a ball, of the radius abut_object_radius.  Each becomes a
 * closed surface of triangles, outward.  Solids and objects without thickness are unchanged. */
#ifndef ABUT_FORMATS_RESULT_THICK_SURFACE_H
#define ABUT_FORMATS_RESULT_THICK_SURFACE_H

#include "formats/result/object_parts.h"

/* One part, and where the points of its surface begin. */
typedef struct abut_thick_part {
    const abut_part *of;    /* borrowed */
    double radius;          /* m; 0: the part is unchanged */
    int32_t nsheet;         /* points of its triangles, two points of the surface each: above, then below */
    int32_t *sheet;         /* [nsheet] point within the part */
    int32_t first;          /* point of the surface: sheets, then capsules, then balls */
} abut_thick_part;

/* Zero-filled is empty.  Owns its arrays; unchanged ones are borrowed from the parts that it was made of. */
typedef struct abut_thick {
    abut_parts parts;       /* parts to draw; points of the model first, then of surfaces */
    abut_thick_part *part;  /* [parts.n] */
    int32_t n_points;       /* of the model */
    int32_t *own;           /* [parts.n_points] point of the model that a point of a surface belongs to */
    double *X, *x, *v;      /* [3 parts.n_points] m, m/s: at rest, and in the frame given last */
    double *normal;         /* scratch */
} abut_thick;

/** Makes the surfaces' triangles, and their points at rest.
 * from  parts of the model, which must outlive out;  X [3 from->n_points] m
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_thick_make(const abut_parts *from, const abut_model *m, const double *X, abut_thick *out,
                                          abut_err *err);
/** Moves the points to those of a frame: x [3 n_points] m, v [3 n_points] m/s; a point of a surface has the velocity of the point
 * that it belongs to. */
void abut_thick_frame(abut_thick *t, const double *x, const double *v);
void abut_thick_clear(abut_thick *t);

#endif
