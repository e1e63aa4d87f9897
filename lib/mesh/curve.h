/* The surface of a mesh of tets put onto the smooth shape that it approximates, and the tets curved after it.
 *
 * 1. Corners on the surface move to the shape, half as far where a tet would keep less than a fifth of its volume, and so on.
 * 2. Nodes of edges and faces of the surface move from the straight element to the shape.
 * 3. Every other node with barycentric coordinates L moves by the sum over the surface's edges (a, b) of its tet of
 *    (L_a + L_b)^2 d_ab(L_b / (L_a + L_b)), d_ab(t) how far the edge has moved at t (cf. W. Gordon and C. Hall, "Construction of
 *    curvilinear co-ordinate systems", Int. J. Numer. Methods Eng. 7, 1973): faces of two tets agree, and straight edges give
 *    nothing.
 * 4. Where the Jacobian determinant of a tet is not proven positive in all of it (geom/jacobian.h), its edges and faces on the
 *    surface move half as far, up to six times, then not at all. */
#ifndef ABUT_MESH_CURVE_H
#define ABUT_MESH_CURVE_H

#include "mesh/snap.h"

/* Result of curving a surface. */
typedef struct abut_curved {
    int32_t corners, held;      /* corners that moved; number of them that did not reach the shape */
    int32_t eased;              /* tets whose surface moved less, so that their Jacobian determinant is positive */
    int32_t first;              /* the first of these tets */
    double gap;                 /* m: largest distance of the curved surface to the shape, sampled */
    double least;               /* least det J over mean det J of a tet: 1 where all are straight */
} abut_curved;

/** Turns straight tets (order 1) into tets of that order whose surface lies on the shape.  For order 1, step 1 alone is done.
 *
 * s     abut_snap_begin has been called
 * Fails  ABUT_E_GEOM a straight tet without volume, a surface that is none; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_mesh_curve(abut_mesh *m, const abut_snap *s, int order, abut_curved *out, abut_err *err);

#endif
