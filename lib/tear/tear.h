/* Tearing: elements that are stretched too far go, nodes that hold nothing together any more are split, and a new MODEL and FRAME
 * say so (Liu 2018, 8.4 leaves the criterion open; here it is the largest principal stretch at the end of a step).
 *
 * Elements are tets, shells, springs and rods, whose bends go with either of their segments; a model with neither tets nor shells
 * is taken by its contact triangles, which go with any spring on their edges.  At each node the elements that remain form fans:
 * tets joined by faces, triangles by edges.  The first fan keeps the node, every other one gets a copy with its share of the
 * mass, and all of them draw a little towards their own elements, so that nothing touches.  Nodes of motions and attachments are
 * not split.  Whatever is exposed joins the contact surface.  A node without any element stays as a point mass that nothing
 * touches. */
#ifndef ABUT_TEAR_TEAR_H
#define ABUT_TEAR_TEAR_H

#include "model/model.h"

typedef struct abut_torn {
    int32_t tets, shells, springs, rods;    /* that went */
    int32_t triangles;              /* contact triangles of a net of springs */
    int32_t copies;                 /* nodes added */
    double worst;                   /* the largest stretch found */
} abut_torn;

/** Marks in gone[nt + nsh + nsp + nrd] the tets, then shells, springs, rods whose largest principal stretch at x[3 nv] is above
 * `limit`; torn->worst and the counts say how many.
 * Fails  as abut_elastic_init and abut_codim_init do */
ABUT_MUST_USE abut_status abut_tear_find(const abut_model *m, const double *x, double limit, uint8_t *gone, abut_torn *torn,
                                         abut_err *err);

/** The MODEL and FRAME without what is gone, of the same time.  Arrays of the same names are copied: rows of node/ to copies
 * too, those of tet/, shell/, spring/ and rod/ as far as their elements stay; hinges stay while both their triangles do and still
 * share the edge, bends while both their segments do; lag/, pass/, step/ and part/ are left out.
 * Fails  ABUT_E_NUMERIC fans cannot be parted without intersection or inversion; ABUT_E_FORMAT arrays of these families that have
 *        another number of rows, collision vertices that are no nodes; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_tear_apply(const abut_arrays *model, const abut_arrays *frame, const uint8_t *gone,
                                          abut_arrays *new_model, abut_arrays *new_frame, abut_torn *torn, abut_err *err);

#endif
