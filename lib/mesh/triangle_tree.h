/* The point of a triangle surface nearest to a point, and what is inside of it: a tree of boxes over its triangles. */
#ifndef ABUT_MESH_TRIANGLE_TREE_H
#define ABUT_MESH_TRIANGLE_TREE_H

#include "base/err.h"
#include "math/vec3.h"

#include <stddef.h>
#include <stdint.h>

typedef struct abut_triangle_tree abut_triangle_tree;

/** Keeps x[3 nv] and tri[3 n], which must live as long.  Fails  ABUT_E_ARG n is 0; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_triangle_tree_new(abut_triangle_tree **t, const double *x, const int32_t *tri, int32_t n,
                                                 abut_err *err);
void abut_triangle_tree_free(abut_triangle_tree **t);

/** The nearest triangle to p less than `reach` away, whose unit normal makes an angle below acos(least) with one of the k normals
 * (k 0: any triangle); of equally near ones the lowest.
 * y        out: its point, m
 * returns  the triangle, -1: there is none */
int32_t abut_triangle_nearest(const abut_triangle_tree *t, abut_vec3 p, const abut_vec3 *normal, int k, double least,
                              double reach, abut_vec3 *y);

/** 1 when p is inside of the surface, which is closed with its normals outward: its winding number there, the sum of the solid
 * angles of all triangles over 4 pi, is above one half (A. Van Oosterom and J. Strackee, IEEE Trans. Biomed. Eng. 30, 1983);
 * triangles far away count by the sum of their areas (G. Barill et al., "Fast winding numbers for soups and clouds", ACM Trans.
 * Graph. 37, 2018, eq. 8).  Pieces that nest or overlap are inside as long as their normals are outward. */
int abut_triangles_inside(const abut_triangle_tree *t, abut_vec3 p);

#endif
