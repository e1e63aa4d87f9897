/* The objects of a model as other programs see them: a list of points each, with triangles, segments and isolated
 * points over them.  Taken from the collision mesh, so that what is shown is what touches.  An object without collision edges
 * shows the boundary of its tets, its shells and its rods, or else its springs; nodes that have none of these are points.
 * Points are nodes, or collision vertices y = y0 + W x. */
#ifndef ABUT_FORMATS_RESULT_OBJECT_PARTS_H
#define ABUT_FORMATS_RESULT_OBJECT_PARTS_H

#include "model/model.h"

#define ABUT_PART_NAME 64

typedef struct abut_part {
    char name[ABUT_PART_NAME];
    int32_t object;         /* row of object/ */
    int obstacle;           /* its nodes carry no mass */
    int proxy;              /* its points are collision vertices that are sums of nodes */
    int solid;              /* it has tets */
    int32_t nv;
    int32_t *node;          /* [nv] point of the model that each is, ascending */
    int32_t ntri, nseg, npoint;
    int32_t *tri;           /* [3 ntri] points, outward */
    int32_t *seg;           /* [2 nseg] points; edges of no triangle */
    int32_t *point;         /* [npoint] points of no triangle and no segment */
} abut_part;

/* Zero-filled is empty. */
typedef struct abut_parts {
    int32_t n;
    abut_part *part;        /* [n] in the order of object/ */
    int32_t n_plane;
    int32_t *plane;         /* [n_plane] rows of half-space/, the chosen ones */
    int32_t n_points;       /* of the model: nodes, behind them the collision vertices that are sums of nodes */
    int32_t *lead;          /* [n_points] the node that speaks for a point: itself, or the first of its sum */
    uint8_t *chosen;        /* [nv] 1 when the node belongs to a chosen object */
    int32_t *number;        /* [nv] number of the node within its object (model/naming.h) */
} abut_parts;

/** take[no]: 1 for the objects of these names; n_names 0: for all.
 * Fails  ABUT_E_ARG a name is unknown (lists the objects) */
ABUT_MUST_USE abut_status abut_objects_choose(const abut_arrays *set, int32_t no, const char *const *names, int n_names,
                                              uint8_t *take, abut_err *err);

/** Makes the parts of the chosen objects.  names[n_names]: names of objects and half-spaces, n_names 0 = all.
 * Fails  ABUT_E_ARG a name is unknown (lists objects and half-spaces); ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_parts_make(const abut_arrays *set, const abut_model *m, const char *const *names,
                                          int n_names, abut_parts *out, abut_err *err);
void abut_parts_clear(abut_parts *p);

/** Radius of the rods and particles of an object, m: half of its contact thickness, or its material radius if that is larger;
 * 0: neither. */
double abut_object_radius(const abut_model *m, int32_t object);

/* The triangles of a part made ready for shading: points are split where the rest shape has a sharp edge, so that a box
 * keeps its edges and a ball stays round.  Zero-filled is empty. */
typedef struct abut_shading_mesh {
    int32_t nv, ntri;
    int32_t *point;         /* [nv] point of the part; only points that triangles use */
    int32_t *tri;           /* [3 ntri] vertices of the skin */
} abut_shading_mesh;

/** X [3 * nodes]: rest positions by node;  crease: angle between two faces that counts as an edge, rad.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_shading_mesh_make(const abut_part *p, const double *X, double crease, abut_shading_mesh *out,
                                                 abut_err *err);
void abut_shading_mesh_clear(abut_shading_mesh *s);

/** Unit normals n[3 nv] of the vertices, the mean of their faces weighted by area; x[3 * points of the part].
 * (0, 1, 0) where the faces have no area. */
void abut_shading_mesh_normals(const abut_shading_mesh *s, const float *x, float *n);

/* A box around points. */
typedef struct abut_bounds {
    float lo[3], hi[3];     /* lo > hi: empty */
} abut_bounds;

abut_bounds abut_bounds_empty(void);
void abut_bounds_add(abut_bounds *b, const float p[3]);
/** Centre, and length of the diagonal (0 when empty). */
void abut_bounds_center(const abut_bounds *b, double center[3]);
double abut_bounds_diagonal(const abut_bounds *b);

/** The axis (0, 1, 2) along which gravity is largest, and in *sign the direction against it; +y without gravity. */
int abut_up_axis(const abut_model *m, double *sign);

/** Corners of a square of half-width r in half-space i, around the foot of `center`, counter-clockwise seen from
 * outside; corner[12]. */
void abut_half_space_square(const abut_model *m, int32_t i, const double center[3], double r, double corner[12]);

#endif
