/* A raw mesh as a file or a generator gives it: points and elements of every dimension, no physics yet. */
#ifndef ABUT_MESH_MESH_H
#define ABUT_MESH_MESH_H

#include "base/err.h"
#include "geom/lagrange.h"

#include <stddef.h>
#include <stdint.h>

/* Owns its arrays; zero-filled is a valid empty mesh.  Elements hold indices of points.  Tets of order 2 to 4 are curved: their
 * shape is the polynomial through all their nodes, and what reads corners alone sees them straight. */
typedef struct abut_mesh {
    int32_t nv, nt, nf, ns, np;
    double *x;          /* [nv * 3] m */
    int order;          /* of all tets, 1 to 4; 0: as 1 */
    int32_t *tet;       /* [nt * 4] positively oriented: det[x1-x0, x2-x0, x3-x0] > 0 */
    int32_t *more;      /* [nt * abut_mesh_more(m)] the nodes of each tet after its corners, in the order of geom/lagrange.h */
    int32_t *tri;       /* [nf * 3] counter-clockwise seen from outside */
    int32_t *seg;       /* [ns * 2] */
    int32_t *point;     /* [np] isolated points, named on purpose */
    double *uv;         /* [nf * 6] u and v of the corners of the triangles in a flat pattern; NULL: no pattern */
    int32_t cap[6];     /* room for x, tet, tri, seg, point, and for tets in more; uv has none to spare, and is put after the
                           last triangle */
} abut_mesh;

/** Order of the tets, and how many nodes each has after its corners: 0, 6, 16, 31. */
static inline int abut_mesh_order(const abut_mesh *m) { return m->nt && m->order > 1 ? m->order : 1; }
static inline int abut_mesh_more(const abut_mesh *m) { return abut_tet_nodes(abut_mesh_order(m)) - 4; }
/** All nodes of tet t, corners first; returns how many. */
int abut_mesh_tet_nodes(const abut_mesh *m, int32_t t, int32_t node[ABUT_TET_NODES_MAX]);

/** Appends one point or element; indices are checked by abut_mesh_check, not here.
 * Fails  ABUT_E_NOMEM; ABUT_E_FORMAT more than INT32_MAX / 4 of a kind */
ABUT_MUST_USE abut_status abut_mesh_add_vertex(abut_mesh *m, const double x[3], abut_err *err);
ABUT_MUST_USE abut_status abut_mesh_add_tet(abut_mesh *m, int32_t a, int32_t b, int32_t c, int32_t d, abut_err *err);
/** A tet of that order with all its nodes.  Fails  ABUT_E_FORMAT the mesh has tets of another order */
ABUT_MUST_USE abut_status abut_mesh_add_tet_of(abut_mesh *m, int order, const int32_t *node, abut_err *err);
ABUT_MUST_USE abut_status abut_mesh_add_tri(abut_mesh *m, int32_t a, int32_t b, int32_t c, abut_err *err);
ABUT_MUST_USE abut_status abut_mesh_add_seg(abut_mesh *m, int32_t a, int32_t b, abut_err *err);
ABUT_MUST_USE abut_status abut_mesh_add_point(abut_mesh *m, int32_t a, abut_err *err);

/* Largest scene: what mesh-prep and step can keep in the memory of a large machine. */
#define ABUT_POINTS_MOST 2e7
#define ABUT_ELEMENTS_MOST 1.2e8
/** Checks numbers of points and elements against these bounds, before memory is allocated.  what: for the message
 * Fails  ABUT_E_ARG with the number and the bound */
ABUT_MUST_USE abut_status abut_mesh_bound(double points, double elements, const char *what, abut_err *err);
/** Tets, triangles, segments and isolated points. */
double abut_mesh_elements(const abut_mesh *m);

/** Appends a copy of b's points and elements to a.  The pattern stays when both have one for all their triangles.
 * Fails  ABUT_E_FORMAT tets of two orders; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_mesh_append(abut_mesh *a, const abut_mesh *b, abut_err *err);

/** Every coordinate finite, every index in range, no element that names a point twice.
 * Fails  ABUT_E_FORMAT naming the element, the index and the number of points */
ABUT_MUST_USE abut_status abut_mesh_check(const abut_mesh *m, abut_err *err);

/** x -> A x + b for every point (A row major); a mirroring A (det < 0) flips tets and triangles, so that they stay
 * positively oriented and outward. */
void abut_mesh_transform(abut_mesh *m, const double A[9], const double b[3]);

/** Turns every tet and triangle over: for meshes stored inside out.  Corners keep their place in the pattern. */
void abut_mesh_flip(abut_mesh *m);

/** Smallest and largest coordinates of all points; both 0 for an empty mesh. */
void abut_mesh_bounds(const abut_mesh *m, double lo[3], double hi[3]);

/** Drops elements that lie wholly on points of elements of a higher dimension.  Mesh generators write them to mark the
 * boundary of a volume; they add no geometry. */
ABUT_MUST_USE abut_status abut_mesh_drop_markers(abut_mesh *m, abut_err *err);

/** Merges points less than `distance` apart, directly or by chains of others, into the one with the lowest number, at its place.
 * Points keep their numbers; elements refer only to the remaining ones.
 * Fails  ABUT_E_FORMAT an element would name a point twice; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_mesh_weld(abut_mesh *m, double distance, abut_err *err);

/** Frees all arrays; the mesh is empty and usable again. */
void abut_mesh_clear(abut_mesh *m);

/* Volume, centre and second moment of bodies; frames and densities that have those of a body. */
/** Volume (m^3), centre (m) and second moment S (m^2, row major) of the tets of order 1 of m, or without tets of what its closed
 * triangles, normals outward, hold.  Fails  ABUT_E_GEOM no volume */
ABUT_MUST_USE abut_status abut_mesh_moments(const abut_mesh *m, double *volume, double center[3], double S[9], abut_err *err);

/** Whether m is a solid: tets, or closed triangles (abut_closed_surface_check) whose normals point outward.
 * Fails  ABUT_E_GEOM naming what is open or turned; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_mesh_solid_check(const abut_mesh *m, abut_err *err);

/* s_k of a frame */
extern const double abut_frame_corners[4][3];

/** A body as one affine frame: four control points, whose motion is that of all of it.
 *
 * The body has the volume V, the centre c and S = 1/V int (X - c)(X - c)^T = L L^T,
 *
 *     X_k = c + L s_k,    s = (1,1,1), (-1,1,-1), (1,-1,-1), (-1,-1,1),    l_k(X) = (1 + s_k . L^-1 (X - c))/4
 *
 * l are the barycentric coordinates of the tet of the X_k, so x(X) = sum l_k(X) x_k is affine.  int l_i l_j is V/4 for i = j and
 * 0 else: with a quarter of the mass at each point the kinetic energy of an affine motion is that of the body, tensor of inertia
 * included.  (After Daviet 2020, 4.1: a frame is four vectors, of which places are linear.)
 *
 * frame: one positive tet of the four points; surface: the boundary of m, its segments and points, without other points.
 * Both are empty before.  fill: V over the volume of the tet.
 * Fails  ABUT_E_GEOM as above, a body that is flat, a boundary of no solid; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_mesh_frame(const abut_mesh *m, abut_mesh *frame, abut_mesh *surface, double *fill, abut_err *err);

/* Material of a body beside its solids, and mass, centre and inertia that replace those of its mesh. */
typedef struct abut_body {
    double thickness, section;  /* m of triangles, m^2 of segments, the volume of each point; 0: triangles bound a solid, no */
    double point;               /* ... material on segments and points */
    int has_mass, has_center, has_inertia;
    double density;             /* kg/m^3 */
    double mass, center[3];     /* kg, m */
    double inertia[9];          /* kg m^2: tensor about the centre, row major */
} abut_body;

/** abut_mesh_frame of a stiff body: of solids, triangles with a thickness, segments and points, which add up (overlaps count
 * twice); of given moments any mesh.  Eigenvalues of S below 1e-6 of the largest, of flat bodies and lines, are raised to that.
 *
 * ratio: the largest of given principal moments of inertia over those of the mesh, or its inverse; 1 without either
 * Fails  ABUT_E_GEOM as abut_mesh_frame, a single point; ABUT_E_FORMAT moments of inertia that no body has */
ABUT_MUST_USE abut_status abut_mesh_stiff_frame(const abut_mesh *m, const abut_body *body, abut_mesh *frame, abut_mesh *surface,
                                                double *fill, double *ratio, abut_err *err);

/** Volume (m^3) and centre (m) of a mesh: of its tets, or of what its closed triangles, normals outward, hold.
 * Fails  ABUT_E_GEOM no volume; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_mesh_volume(const abut_mesh *m, double *volume, double center[3], abut_err *err);

/** Volume and centre of a tet of order 1 to 4 with nodes X.  L, w: a rule of degree 4 order - 3 or more. */
void abut_tet_moments(int order, const double (*X)[3], const double *L, const double *w, int n, double *volume, double center[3]);

/** Densities of the tets of a coarse body such that its mass and its centre are those of the body that it represents (Ferguson et
 * al. 2023, section 5.3, as a problem with a closed form).
 *
 * factor[n] of density: minimises sum volume[e] (factor[e] - 1)^2 subject to sum volume[e] factor[e] = total,
 * sum volume[e] factor[e] (center[e] - at) = 0 and factor[e] >= least.  Factors are 1 plus an affine function of the position,
 * except those at the bound, which are added until none is below.
 * Fails  ABUT_E_GEOM the tets are not around `at`: no such factors; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_match_mass(int32_t n, const double *volume, const double (*center)[3], double total,
                                          const double at[3], double least, double *factor, abut_err *err);

#endif
