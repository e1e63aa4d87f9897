/* A triangle surface that represents the boundary of tets of order 1 to 4 in contact.  Its vertices are y = o + W x, sums of
 * points of the mesh; between them it is flat.
 *
 * Either it is the boundary itself, every face divided into n^2 triangles of the lattice with n segments on a side, or any
 * surface in the tets or near them.  Source: Z. Ferguson et al., "High-Order Incremental Potential Contact for
 * Elastodynamic Simulation on Curved Meshes", SIGGRAPH 2023, section 4.1. */
#ifndef ABUT_MESH_PROXY_H
#define ABUT_MESH_PROXY_H

#include "mesh/mesh.h"

enum { ABUT_SEGMENTS_MOST = 64 /* largest allowed number */, ABUT_SEGMENTS_CHOSEN = 16 /* that a tolerance leads to */ };

/* Owns its arrays; zero-filled is empty. */
typedef struct abut_proxy {
    int32_t nv, nf;
    int32_t *first, *point;     /* [nv + 1]; points of the mesh in row v: first[v] .. first[v + 1], ascending */
    double *weight;             /* of those; every row sums to 1 */
    double *X;                  /* [3 nv] m: where the vertices are */
    double *offset;             /* [3 nv] m: X - W x of the mesh; NULL: 0 to rounding */
    int32_t *tri;               /* [3 nf] vertices, outward */
} abut_proxy;

/* The rest shape of tets where its order is above that of their displacement, the order of the mesh. */
typedef struct abut_rest_shape {
    int order;              /* 0: none; the shape is the mesh's */
    const double *x;        /* [3 nt abut_tet_nodes(order)] m: its nodes, tet by tet */
} abut_rest_shape;

/** Makes the boundary of the tets with so many segments on a side.  Vertices common to faces are identified by corners and places
 * on the lattice (mesh/tet_nodes.h), never by distance.  Corners come first, then vertices of edges, then of faces, each in the
 * order of keys.  The row of a vertex has the nodes of its face, edge or corner; the vertex lies on the rest shape, by an offset
 * if that differs from the mesh.
 * Fails  ABUT_E_GEOM the boundary is none of a solid; ABUT_E_FORMAT too many vertices; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_proxy_upsample(const abut_mesh *m, abut_rest_shape shape, int segments, abut_proxy *out,
                                              abut_err *err);
void abut_proxy_clear(abut_proxy *p);

/* Distance of flat triangles on the lattice of the boundary from it. */
typedef struct abut_chord {
    double measured;    /* m: the largest distance of the boundary from its triangle, at middles of sides and triangles */
    double bound;       /* m: no point of the boundary is further from the point of the triangle that represents it */
} abut_chord;

/** Computes the chord of the boundary of the rest shape.  bound: linear interpolation errs by at most M/6, M the largest second
 * derivative along a side, bounded by second differences of Bernstein coefficients.  Fails  as abut_proxy_upsample */
ABUT_MUST_USE abut_status abut_proxy_chord(const abut_mesh *m, abut_rest_shape shape, int segments, abut_chord *out,
                                           abut_err *err);

/** Smallest number of segments, at most ABUT_SEGMENTS_CHOSEN, whose measured chord is no longer than tolerance, m. */
ABUT_MUST_USE abut_status abut_proxy_segments_for(const abut_mesh *m, abut_rest_shape shape, double tolerance, int *segments,
                                                  abut_chord *chord, abut_err *err);

/** The longest side of a boundary face between its corners, m: 0 without tets.  Fails  as abut_proxy_upsample */
ABUT_MUST_USE abut_status abut_proxy_longest_side(const abut_mesh *m, double *length, abut_err *err);
/** The smallest altitude of a triangle, m; +inf without any. */
double abut_proxy_altitude(const abut_proxy *p);

/* ---- any triangle surface as the contact surface.  Every vertex is found in a tet, by the inverse of its map from
 * barycentric coordinates, and moves with the nodes of it (Ferguson et al. 2023, section 4.1.2).  A vertex outside of all tets
 * goes with the one that it is outside of by the least sum of |L|, an extrapolation. ---- */

/* Quality of an embedding. */
typedef struct abut_embedding {
    int32_t outside;        /* vertices in no tet */
    double extrapolation;   /* the largest (sum |L| - 1)/2: the sum of negative coordinates */
    double residual;        /* m: the largest distance of a vertex from the place that was found */
    double offset;          /* m: the largest of what is added to W x */
} abut_embedding;

/** Finds barycentric coordinates L at which the map of a tet with nodes X has the value s.  Damped Newton starts from those of
 * the straight tet, and from points inside if that leads outside.  Of several solutions, takes the one of least sum of |L|.
 * returns  m: the remaining distance; more than rounding: no solution was found */
double abut_tet_invert(int order, const double (*X)[3], const double s[3], double L[4]);

/** Embeds the triangles and all points of `surface` in the tets of m.  If several tets contain a vertex,
 * the tet with the largest least coordinate is taken, of equal ones the lowest.
 *
 * most   of extrapolation: 0: every vertex is in a tet
 * Fails  ABUT_E_GEOM vertices outside of all tets by more, or that no tet has; sides that join tets far apart, as those of two
 *        limbs are: more tets lie between than the side is long in edges of tets, and four; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_proxy_embed(const abut_mesh *m, const abut_mesh *surface, double most, abut_proxy *out,
                                           abut_embedding *facts, abut_err *err);

#endif
