/* Surfaces to look at, in place of the contact surface: smooth ones of curved tets; those of shells, rods and particles with
 * their thickness. */
#ifndef ABUT_FORMATS_RESULT_SURFACES_H
#define ABUT_FORMATS_RESULT_SURFACES_H

#include "formats/result/object_parts.h"
#include "model/model.h"

/* The boundary of tets of order 2 and more, divided as finely as a picture needs.
 *
 * Its vertices are sums of nodes, as contact vertices are (formats/STATE.md), by a map of their own: functions that draw contact
 * surfaces draw it too.  It shows the shape of the tets; contact acts on the contact surface.
 * Owns its arrays.  Zero-filled is empty. */
typedef struct abut_smooth {
    abut_model view;            /* the model, with these in place of its contact/ arrays; for looks alone */
    int32_t *first, *node, *tri, *edge;
    double *weight, *offset;
} abut_smooth;

/** Views the model with every boundary face of its bodies of curved tets divided into `segments` on a side.  A body with its
 * own contact surface keeps that surface, which is finer than the tets.
 * m must outlive it.  Fails  ABUT_E_FORMAT tets of two orders in an object; ABUT_E_GEOM a boundary is none of a solid;
 * ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_smooth_make(const abut_model *m, int segments, abut_smooth *out, abut_err *err);
void abut_smooth_clear(abut_smooth *s);

/* Shells, rods and particles with their contact thickness, for programs that draw surfaces.
 *
 * A shell becomes two sheets, each vertex moved by half of its object's contact thickness along the mean normal of its triangles,
 * closed along its borders; a segment becomes a capsule, a particle a ball, of the radius abut_object_radius.  Each becomes a
 * closed surface of triangles, outward.  Solids and objects without thickness are unchanged. */

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
