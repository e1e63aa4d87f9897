/* The outside of a mesh: boundary triangles of tets, unique edges; whether a surface of triangles is the boundary of a solid. */
#ifndef ABUT_MESH_SURFACE_H
#define ABUT_MESH_SURFACE_H

#include "base/err.h"

#include <stdint.h>

/** Lists the faces that belong to one tet only, in the order of tets, outward for positively oriented tets.
 *
 * tet  [nt * 4] vertices, from 0
 * tri  out: malloc'ed [n * 3], the caller's
 * Fails  ABUT_E_GEOM a face belongs to three tets, or two tets lie on the same side of a common face (names them)
 *        ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_surface_triangles(const int32_t *tet, int32_t nt, int32_t **tri, int32_t *n, abut_err *err);

/** Lists these faces as numbers 4 t + f of face f of tet t (abut_tet_face).  face  out: malloc'ed [n], the caller's */
ABUT_MUST_USE abut_status abut_surface_faces(const int32_t *tet, int32_t nt, int64_t **face, int32_t *n, abut_err *err);

/** Edges of the triangles and the segments, each once, a < b, ascending.
 *
 * tri [nf * 3], seg [ns * 2]  vertices, from 0
 * edge  out: malloc'ed [n * 2], the caller's */
ABUT_MUST_USE abut_status abut_surface_edges(const int32_t *tri, int32_t nf, const int32_t *seg, int32_t ns, int32_t **edge,
                                             int32_t *n, abut_err *err);

/** Checks that every triangle has an area and occurs once, that as many triangles pass every edge in one direction as in the
 * other, and that triangles meet only in common points and edges (exact predicates).  Points at equal positions count as one.
 * Pieces may be apart, or within each other, or have single edges and points in common.
 *
 * x    [nv * 3] m, finite
 * tri  [nf * 3] indices in [0, nv)
 * Fails  ABUT_E_GEOM naming the triangles, counted from 0, and their points; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_closed_surface_check(const double *x, int32_t nv, const int32_t *tri, int32_t nf, abut_err *err);

/* Bending of shells and rods: hinges over the edges that two triangles share, bends over the points that two segments share. */
/* Two triangles and their common edge: node[0], node[1] as the first triangle runs along it, then what is opposite in the
 * first and in the second. */
typedef struct abut_hinge {
    int32_t node[4], tri[2];
} abut_hinge;

/** The hinges of triangles, ascending by edge (smaller node first).
 *
 * tri    [nf * 3] indices in [0, nv)
 * hinge  out: malloc'ed [n], the caller's
 * Fails  ABUT_E_GEOM an edge of three triangles (names them); two triangles of the same three nodes; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_hinges_find(const int32_t *tri, int32_t nf, int32_t nv, abut_hinge **hinge, int32_t *n,
                                           abut_err *err);

/* Two segments and their common node, node[1]. */
typedef struct abut_bend {
    int32_t node[3], seg[2];
} abut_bend;

/** The bends of segments, ascending by the middle node: wherever exactly two meet.  Where three or more do, they are
 * jointed.
 *
 * seg   [ns * 2] indices in [0, nv)
 * bend  out: malloc'ed [n], the caller's
 * Fails ABUT_E_GEOM two segments of the same two nodes; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_bends_find(const int32_t *seg, int32_t ns, int32_t nv, abut_bend **bend, int32_t *n,
                                          abut_err *err);

/** Angle between the normals of the triangles (0, 1, 2) and (1, 0, 3) of the points x[12]; negative where 2 and 3 lie on the
 * side to which the normals point.  With e the edge, nA = e x (x2 - x0), nB = (x3 - x0) x e: atan2((nA x nB).e / |e|,
 * nA.nB). */
double abut_hinge_angle(const double x[12]);

/** k, in J, of the energy k (theta - angle)^2 of a hinge (Grinspun et al. 2003 with the weight of Li et al. 2020):
 *     k = 3 e^2 / A  E tau^3 / (24 (1 - nu^2))
 * A sheet of equilateral triangles is three times as stiff with it as the plate whose modulus is E tau^3 / (12 (1 - nu^2));
 * with `plate` k is a third of this, and the sheet bends like that plate.
 *
 * young, poisson  Pa, 1: of bending
 * thickness, edge m: tau; e, at rest
 * area            m^2: A, of both triangles at rest */
double abut_hinge_stiffness(double young, double poisson, double thickness, double edge, double area, int plate);

/** k, in J, of the energy k c.c of a bend with c the curvature binormal, |c| = 2 tan(angle / 2): E pi r^4 / (4 (l1 + l2))
 * (Bergou et al. 2008); l1, l2 the lengths of the two segments at rest. */
double abut_bend_stiffness(double young, double radius, double l1, double l2);

#endif
