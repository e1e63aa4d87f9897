/* Pieces of abut_scene_build: the elements of each object as they go into the model.  For build.c and build_*.c. */
#ifndef ABUT_SCENE_BUILD_PARTS_H
#define ABUT_SCENE_BUILD_PARTS_H

#include "mesh/surface.h"
#include "model/model.h"
#include "scene/build.h"

#include <stddef.h>
#include <string.h>

/* An object while it becomes a part of the model. */
typedef struct abut_part {
    const abut_scene_object *object;
    int32_t *node;          /* [mesh.nv] node of the model, -1: left out */
    int32_t *vertex;        /* [mesh.nv] collision vertex, -1: none; of a part with a proxy 0 on the boundary */
    unsigned char *surface; /* [mesh.nv] 1: on the surface, nodes of the faces of curved tets, too */
    int32_t *tri, *edge;    /* surface, in points of the mesh; edges of a proxy in its vertices */
    int32_t ntri, nedge;
    abut_hinge *hinge;      /* of a body, in points of the mesh */
    abut_bend *bend;
    int32_t nhinge, nbend;
    int32_t first, nodes;   /* nodes of the model: [first, first + nodes) */
    abut_proxy *proxy;      /* NULL: its surface are faces of its elements */
    int32_t first_vertex;   /* collision vertices of the proxy: from here on */
} abut_part;

/* Data shared by the steps of abut_scene_build. */
typedef struct abut_build {
    const abut_scene *scene;
    abut_part *part;        /* [nobjects] */
    abut_built *out;
    abut_arrays *model, *frame;
    double *X, *mass;       /* of the model's arrays */
    int32_t *role;
} abut_build;

/** Number of a point of the mesh as a node of its object, from 0; -1: left out. */
static inline int32_t abut_part_number(const abut_part *p, int32_t point)
{
    return p->node[point] < 0 ? -1 : p->node[point] - p->first;
}

/** The part that a node of the model belongs to. */
const abut_part *abut_part_of(const abut_build *b, int32_t node);

/** abut_model_put for callers that want a status.  data  out: the rows, a pointer of any type */
static inline abut_status abut_build_put(abut_arrays *set, const char *name, int64_t rows, void *data, abut_err *err)
{
    void *p = abut_model_put(set, name, rows, err);
    memcpy(data, &p, sizeof p);
    return p ? ABUT_OK : err ? err->code : ABUT_E_NOMEM;
}

/** As abut_model_put, of an array that a program must know to use the model (ABUT_A_REQUIRED). */
void *abut_build_required(abut_build *b, const char *name, int64_t rows, abut_err *err);

/* A member of a structure that becomes an array of the model, a row for each structure. */
typedef struct abut_column {
    const char *array;
    size_t at, size;
} abut_column;
#define ABUT_COLUMN(T, m, array) { array, offsetof(T, m), sizeof(((T *)NULL)->m) }

/** Puts n columns of `rows` structures from `first` on, `stride` bytes apart.  flags: of the arrays, too */
ABUT_MUST_USE abut_status abut_build_columns(abut_build *b, const abut_column *c, int n, const void *first, size_t stride,
                                             int64_t rows, uint32_t flags, abut_err *err);

/** 1 when contact sees the part by a surface of its own. */
int abut_part_has_proxy(const abut_part *p);
/** Makes these surfaces, after the parameters that lengths derive from: b->out->dhat.
 * Fails  as abut_proxy_embed and abut_proxy_upsample; ABUT_E_FORMAT elements that are no tets, too many segments */
ABUT_MUST_USE abut_status abut_build_proxies(abut_build *b, abut_err *err);
/** Puts the rows of all collision vertices, where at least one part has a proxy: contact/map-*. */
ABUT_MUST_USE abut_status abut_build_contact_rows(abut_build *b, abut_err *err);

/** Puts tets of every order, and the masses of their nodes: a quarter of rho V to each corner of a tet of order 1; at order 2 and
 * more M_ii (sum of rho V)/(sum of M_ii) over the body, M the consistent mass (E. Hinton, T. Rock, O. Zienkiewicz, "A note on
 * mass lumping", Earthq. Eng. Struct. Dyn. 4, 1976), which is positive.  After the nodes. */
ABUT_MUST_USE abut_status abut_build_tets(abut_build *b, abut_err *err);

/** Makes the contact surface of an object: the surface of its tets, its own triangles (one on a face of a tet counts as that
 * face), all sides of both, its segments.
 * Fails  as abut_surface_triangles; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_build_surface(abut_part *p, abut_err *err);
/** Vertices of the surface, and the other nodes of the faces of tets that are on it: p->surface.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_build_mark_surface(abut_part *p, abut_err *err);

/** Finds hinges and bends of a body, and checks its kinds of elements against the object.
 * Fails  ABUT_E_FORMAT triangles, segments or points without a meaning, or a meaning without them; ABUT_E_GEOM more than two
 *        triangles at an edge, sides that disagree under pressure; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_build_bending(abut_part *p, abut_object_facts *f, abut_err *err);

/** Puts shells, hinges, rods, bends, particles, what acts on them, and their masses.
 * Fails  ABUT_E_GEOM no area at rest, warp across a triangle, a start beyond a limit; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_build_codim(abut_build *b, abut_err *err);

/** Puts properties of shell materials beside isotropic moduli. */
ABUT_MUST_USE abut_status abut_build_fabrics(abut_build *b, abut_err *err);

/** Puts the curvature at rest of rods, if an object has it; after materials and bends.
 * Fails  as abut_curved_rods_init and abut_curved_rods_measure; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_build_curved(abut_build *b, abut_err *err);

/** Puts properties of tet materials beside isotropic moduli; after the tets. */
ABUT_MUST_USE abut_status abut_build_terms(abut_build *b, abut_err *err);

/* A node of the model and the point of its object's mesh that it was. */
typedef struct abut_listed {
    int32_t node, point;
} abut_listed;

/** Lists the nodes that satisfy the conditions, in the order of objects and points; the caller frees the list.
 * what  purpose, for messages
 * Fails  ABUT_E_FORMAT there are none; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_build_select(const abut_build *b, const abut_scene_select *s, const char *what, abut_listed **list,
                                            int32_t *n, abut_err *err);

/** Centre, m, of the box to which a relative box refers. */
void abut_build_select_center(const abut_build *b, const abut_scene_select *s, double center[3]);

/** Rest length of the side (a, b) of triangle t, points of the mesh, m. */
double abut_rest_edge(const abut_scene_object *o, int32_t t, int32_t a, int32_t b);

/** Puts the attachment arrays, of attachments and seams: after the positions, roles and surfaces of all parts.
 * Fails  ABUT_E_FORMAT an attachment that ties no node, or a node of an obstacle; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_build_attachments(abut_build *b, abut_err *err);

/** Puts the arrays of motions; marks handles in role. */
ABUT_MUST_USE abut_status abut_build_motions(abut_build *b, abut_err *err);

/** Puts the locks of frames; after motions.  Fails  ABUT_E_FORMAT a body that a motion moves; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_build_locks(abut_build *b, abut_err *err);

/** Puts the rows of joints; after rigid bodies.  Fails  ABUT_E_FORMAT a body that a motion moves; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_build_joints(abut_build *b, abut_err *err);

/** Puts the stiffness of rigid bodies, by their loads; after motions and first velocities.
 * Fails  ABUT_E_FORMAT a time scheme that is none for them; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_build_rigid(abut_build *b, abut_err *err);

/* ---- build_parameters.c ---- */

/** Measures the bodies: the length l, dhat and the mean mass, which obstacles get, too.
 * Fails  ABUT_E_GEOM all nodes stand at one point */
ABUT_MUST_USE abut_status abut_build_measure(abut_build *b, abut_err *err);
/** Puts gravity, time, contact and tolerances; after abut_build_measure.  Fails  ABUT_E_FORMAT dhat above l; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_build_parameters(abut_build *b, abut_err *err);
/** Puts bounds of the barrier's stiffness, by the stiffest pair that the scene can have.
 * Fails  ABUT_E_FORMAT no finite bound */
ABUT_MUST_USE abut_status abut_build_stiffness(abut_build *b, abut_err *err);
/** Puts the parameters of solvers without a barrier; after the friction classes. */
ABUT_MUST_USE abut_status abut_build_nodal(abut_build *b, abut_err *err);
/** Bounds the defaults of speeds by the speed of the scene, once velocities are known. */
void abut_build_bound_speeds(const abut_build *b);

#endif
