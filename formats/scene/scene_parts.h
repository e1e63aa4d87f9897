/* Declarations shared by scene_read.c and the other files of this folder. */
#ifndef ABUT_FORMATS_SCENE_SCENE_PARTS_H
#define ABUT_FORMATS_SCENE_SCENE_PARTS_H

#include "formats/scene/tree.h"
#include "scene/scene.h"

typedef struct abut_scene_reader {
    const abut_tree *root;
    const char *base;       /* folder of relative paths; "" or ends in '/' */
    abut_scene *scene;
} abut_scene_reader;

/** Copies the place of a value. */
void abut_scene_from(const abut_tree *t, char from[ABUT_SCENE_FROM]);
/** Checks and copies the key of t as a name. */
ABUT_MUST_USE abut_status abut_scene_name(const abut_tree *t, char name[ABUT_SCENE_NAME], abut_err *err);
/** Row of the object of that name; half-spaces follow the objects when `planes` is set.  Names the nearest one. */
ABUT_MUST_USE abut_status abut_scene_find(const abut_scene_reader *r, const abut_tree *t, int planes, int32_t *row,
                                          abut_err *err);
/** Row of the material of that name.  Names the nearest one. */
ABUT_MUST_USE abut_status abut_read_scene_material(const abut_scene_reader *r, const abut_tree *t, int32_t *row, abut_err *err);

/** The `objects` map: bodies, obstacles and half-spaces.  Materials must have been read. */
ABUT_MUST_USE abut_status abut_scene_objects(abut_scene_reader *r, const abut_tree *objects, abut_err *err);
/** *n: number of objects that a `repeat` with `objects: true` makes of an object; 0: it has none. */
ABUT_MUST_USE abut_status abut_scene_copies(const abut_tree *object, int32_t *n, abut_err *err);
/** The mesh of an object: file or generator, scaled, rotated, moved, repeated.  copy: of `repeat` with `objects: true`, or 0. */
ABUT_MUST_USE abut_status abut_scene_mesh(const abut_scene_reader *r, const abut_tree *t, int32_t copy, abut_scene_object *o,
                                          abut_err *err);
/** `proxy` and `match-mass` of an object: after its mesh and its tets.  copy: as for abut_scene_mesh. */
ABUT_MUST_USE abut_status abut_scene_read_proxy(const abut_scene_reader *r, const abut_tree *object, int32_t copy,
                                                abut_scene_object *o, abut_err *err);
/** Loads the mesh file that t names. */
ABUT_MUST_USE abut_status abut_scene_load(const abut_scene_reader *r, const abut_tree *t, abut_mesh *m, abut_err *err);
/** The shape at rest of shells and rods: `rest`, or the mesh itself.  After the mesh was placed, before it is repeated.
 * x      [3 nv] its points scaled, but neither rotated nor moved
 * scale  of the object; flipped: its elements are flipped */
ABUT_MUST_USE abut_status abut_scene_rest(const abut_scene_reader *r, const abut_tree *t, const double *x, const double scale[3],
                                          int flipped, abut_scene_object *o, abut_err *err);
/** Repeats the shape at rest as often as the mesh repeats one with nf triangles and ns segments. */
ABUT_MUST_USE abut_status abut_scene_rest_repeat(abut_scene_object *o, int32_t nf, int32_t ns, abut_err *err);
/** Reads the properties of a material of shells: `bending-young`, `membrane`, `fabric`, `strain-limit`. */
ABUT_MUST_USE abut_status abut_scene_fabric(const abut_tree *t, abut_scene_material *m, abut_err *err);
/** The `seams` list: after the objects. */
ABUT_MUST_USE abut_status abut_scene_seams(abut_scene_reader *r, const abut_tree *seams, abut_err *err);
/** `order`, `geometry`, `surface` of an object, and the shape that its generator approximates: before its mesh. */
ABUT_MUST_USE abut_status abut_scene_order_keys(const abut_scene_reader *r, const abut_tree *t, abut_scene_order *a,
                                                abut_err *err);
/** The generator `cage` of an object: its tets, and how much of each is solid. */
ABUT_MUST_USE abut_status abut_scene_cage(const abut_scene_reader *r, const abut_tree *object, const abut_tree *t,
                                          abut_scene_object *o, abut_err *err);
/** The keys `capsules`, a malloc'ed list, and `blend`. */
ABUT_MUST_USE abut_status abut_scene_capsules(const abut_tree *t, abut_capsule **capsule, int32_t *n, double *blend,
                                              abut_err *err);
/** The value of `generate`: a map with one generator, into an empty mesh. */
ABUT_MUST_USE abut_status abut_scene_generate(const abut_tree *t, abut_mesh *m, abut_err *err);
/** Puts the place of t before the message of a reader or generator that failed with rc; a size that a generator refuses is a
 * fault of the scene (ABUT_E_FORMAT). */
abut_status abut_scene_placed(const abut_tree *t, abut_status rc, abut_err *err);
/** Reads the key `ramp` or `factor` of the map of a load; without either the table stays empty. */
ABUT_MUST_USE abut_status abut_scene_factor(const abut_tree *map, abut_scene_table *out, abut_err *err);
/** Fails unless the map t has all of these keys. */
ABUT_MUST_USE abut_status abut_scene_all_there(const abut_tree *t, const char *const *keys, abut_err *err);
/** Fails unless the map t has all of these keys and no other. */
ABUT_MUST_USE abut_status abut_scene_need(const abut_tree *t, const char *const *keys, abut_err *err);
/** Scale, then rotate, then translate of an object, all about the origin: x -> A x + b. */
ABUT_MUST_USE abut_status abut_scene_placement(const abut_tree *object, double A[9], double b[3], abut_err *err);
/** Reads a `sequence`: positions of all points of the mesh at ascending times, unchanged from the files.  An empty mesh becomes
 * the first of them; any other one must have as many points as each. */
ABUT_MUST_USE abut_status abut_read_scene_path(const abut_scene_reader *r, const abut_tree *t, abut_mesh *mesh,
                                               abut_scene_path *p, abut_err *err);
/** axis: [..], <word>: quantity -> rotation vector. */
ABUT_MUST_USE abut_status abut_scene_axis(const abut_tree *t, const char *word, abut_quantity q, double out[3], abut_err *err);
/** A rotation {axis: [..], angle: angle}, or a list of them done in order, applied after what R does. */
ABUT_MUST_USE abut_status abut_scene_rotation(const abut_tree *t, double R[9], abut_err *err);
/** A map of conditions, or the name of one in the root's `selections`. */
ABUT_MUST_USE abut_status abut_read_scene_select(const abut_scene_reader *r, const abut_tree *t, abut_scene_select *s,
                                                 abut_err *err);
/** Checks all of `selections`, also unused ones. */
ABUT_MUST_USE abut_status abut_scene_selections(const abut_scene_reader *r, abut_err *err);
/** The `attachments` list: after the objects. */
ABUT_MUST_USE abut_status abut_scene_attachments(abut_scene_reader *r, const abut_tree *attachments, abut_err *err);
/** The `motion` list; selections are looked up in the root's `selections`. */
ABUT_MUST_USE abut_status abut_scene_motions(abut_scene_reader *r, const abut_tree *motion, abut_err *err);

#endif
