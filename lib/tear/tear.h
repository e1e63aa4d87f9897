/* Tearing: removes elements that are stretched too far, splits nodes that no longer connect elements, and makes a new MODEL and
 * FRAME.  (Liu 2018, 8.4 leaves the criterion open; here it is the largest principal stretch at the end of a step.)
 *
 * Elements are tets, shells, springs and rods; a bend is removed with either of its segments.  A model with neither tets nor
 * shells is split along its contact triangles, which are removed with any spring on their edges.  At each node the remaining
 * elements form fans: tets joined by faces, triangles by edges.  The first fan keeps the node; every other fan gets a copy with
 * its share of the mass.  The node and its copies move a little towards their own elements, so that nothing touches.  Nodes of
 * motions and attachments are not split.  Exposed faces join the contact surface.  A node without any element stays as a point
 * mass without contact. */
#ifndef ABUT_TEAR_TEAR_H
#define ABUT_TEAR_TEAR_H

#include "model/model.h"

typedef struct abut_torn {
    int32_t tets, shells, springs, rods;    /* removed */
    int32_t triangles;              /* contact triangles of a net of springs */
    int32_t copies;                 /* nodes added */
    double worst;                   /* the largest stretch found */
} abut_torn;

/** Marks in gone[nt + nsh + nsp + nrd] the tets, then shells, springs, rods whose largest principal stretch at x[3 nv] is above
 * `limit`; torn->worst and the counts say how many.
 * Fails  as abut_elastic_init and abut_codim_init do */
ABUT_MUST_USE abut_status abut_tear_find(const abut_model *m, const double *x, double limit, uint8_t *gone, abut_torn *torn,
                                         abut_err *err);

/** Makes the MODEL and FRAME without the elements of gone[], at the same time.  Arrays are copied: rows of node/ to copies of
 * nodes, too; rows of tet/, shell/, spring/ and rod/ of elements that stay.  Hinges stay if both their triangles stay and still
 * share the edge, bends if both their segments stay.  lag/, pass/, step/ and part/ are left out.
 * Fails  ABUT_E_NUMERIC fans cannot be parted without intersection or inversion; ABUT_E_FORMAT arrays of these families that have
 *        another number of rows, collision vertices that are no nodes; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_tear_apply(const abut_arrays *model, const abut_arrays *frame, const uint8_t *gone,
                                          abut_arrays *new_model, abut_arrays *new_frame, abut_torn *torn, abut_err *err);

#endif
