/* Any triangle surface as the contact surface of tets of order 1 to 4: every vertex is found in a tet, by the inverse of its map
 * from barycentric coordinates, and moves with the nodes of it (Ferguson et al. 2023, section 4.1.2).
 *
 * A vertex outside of all tets goes with the one that it is outside of by the least sum of |L|, an extrapolation. */
#ifndef ABUT_MESH_EMBED_H
#define ABUT_MESH_EMBED_H

#include "mesh/proxy.h"

/* Quality of an embedding. */
typedef struct abut_embedding {
    int32_t outside;        /* vertices in no tet */
    double extrapolation;   /* the largest (sum |L| - 1)/2: the sum of negative coordinates */
    double residual;        /* m: the largest distance of a vertex from the place that was found */
    double offset;          /* m: the largest of what is added to W x */
} abut_embedding;

/** Finds barycentric coordinates L at which the map of a tet with nodes X has the value s.  Damped Newton starts from those of
 * the straight tet, and from points inside if that leads outside.  Of several solutions, takes the one of least sum of |L|.
 * returns  m: the remaining distance; +inf: no solution was found */
double abut_tet_invert(int order, const double (*X)[3], const double s[3], double L[4]);

/** Embeds the triangles of `surface`, whose points all belong to triangles, in the tets of m.  If several tets contain a vertex,
 * the tet with the largest least coordinate is taken, of equal ones the lowest.
 *
 * most   of extrapolation: 0: every vertex is in a tet
 * Fails  ABUT_E_GEOM vertices outside of all tets by more, or that no tet has; sides that join tets far apart, as those of two
 *        limbs are: more tets lie between than the side is long in edges of tets, and four; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_proxy_embed(const abut_mesh *m, const abut_mesh *surface, double most, abut_proxy *out,
                                           abut_embedding *facts, abut_err *err);

#endif
