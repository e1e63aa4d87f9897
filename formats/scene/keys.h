/* The keys of a scene by tables: a row says a key's name, its values and the member that receives them.  The rows make the
 * reader, its messages and `mesh-prep --keys`.  After the tables: functions that several files of this folder call. */
#ifndef ABUT_FORMATS_SCENE_KEYS_H
#define ABUT_FORMATS_SCENE_KEYS_H

#include "formats/scene/tree.h"
#include "scene/scene.h"

#include <stddef.h>
#include <stdio.h>

typedef struct abut_scene_reader {
    const abut_tree *root;
    const char *base;       /* folder of relative paths; "" or ends in '/' */
    abut_scene *scene;
} abut_scene_reader;

/* Reads the value t of a key, or an entry of a list, into `to`. */
typedef abut_status abut_key_read(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err);

typedef enum abut_key_kind {
    ABUT_KEY_LATER,     /* none: the key is allowed, a function beside the table reads its value */
    ABUT_KEY_TREE,      /* const abut_tree *: the value, unread */
    ABUT_KEY_NUMBER,    /* double, abut_param; double[n]: a list of n */
    ABUT_KEY_POINTS,    /* double[n][3]: a list of n points */
    ABUT_KEY_AXES,      /* double[3]: one number for all axes, or three */
    ABUT_KEY_WHOLE,     /* int32_t, abut_param; int32_t[n]: a list of n */
    ABUT_KEY_WORD,      /* int, abut_param: the number of a word among `words` */
    ABUT_KEY_MAP,       /* a map: its keys go to members of the structure, or, with `at`, of the member; then `read` checks it */
    ABUT_KEY_READ       /* any: `read` fills the member */
} abut_key_kind;

typedef struct abut_keys abut_keys;

/* One key. */
typedef struct abut_key {
    const char *name;
    abut_key_kind kind;
    abut_quantity q;                    /* of numbers */
    const char *range;                  /* of numbers, an interval: "(0,)" more than 0, "[0,1)"; NULL: any */
    const char *const *words;
    const abut_keys *keys;              /* of a map, or of the maps that `read` reads; NULL: none */
    abut_key_read *read;
    const struct abut_key *instead;     /* of a map: row for a value that is no map; NULL: none */
    size_t at, size;                    /* of the member; with the size of an abut_param it stores its line in the file, too */
    size_t has;                         /* offset of an int that becomes 1 if the key is present; 0: none */
    const char *as;                     /* name in messages; NULL: the prefix of the map and `name` */
    const char *form;                   /* its values in words; of a number the meaning of its range; NULL: none */
    const char *fallback;               /* default in words; NULL: none */
} abut_key;

/* The keys of one kind of map. */
struct abut_keys {
    const char *what;                   /* name of the map in messages; NULL: its key */
    const char *prefix;                 /* of the names of its values in messages */
    const abut_key *row;                /* ends with an empty one */
    int needs;                          /* the first `needs` rows must be present */
    const char *form;                   /* expectation of the message if one of them is absent; NULL: names the absent key */
};

/* Rows of a structure T: key k, member m, quantity Q, range r, words w. */
#define ABUT_AT(T, m) .at = offsetof(T, m), .size = sizeof(((T *)NULL)->m)
#define ABUT_NUMBER(T, k, m, Q, r) .name = k, .kind = ABUT_KEY_NUMBER, .q = ABUT_Q_##Q, .range = r, ABUT_AT(T, m)
#define ABUT_POINTS(T, k, m, Q) .name = k, .kind = ABUT_KEY_POINTS, .q = ABUT_Q_##Q, ABUT_AT(T, m)
#define ABUT_WHOLE(T, k, m, r) .name = k, .kind = ABUT_KEY_WHOLE, .range = r, ABUT_AT(T, m)
#define ABUT_WORD(T, k, m, ...) .name = k, .kind = ABUT_KEY_WORD, .words = __VA_ARGS__, ABUT_AT(T, m)
#define ABUT_FLAG(T, k, m) ABUT_WORD(T, k, m, abut_false_true)
#define ABUT_TREE(T, k, m) .name = k, .kind = ABUT_KEY_TREE, ABUT_AT(T, m)
#define ABUT_MAP(k, map) .name = k, .kind = ABUT_KEY_MAP, .keys = map
#define ABUT_CHECKED(k, map, f) ABUT_MAP(k, map), .read = f
#define ABUT_READ(T, k, m, f) .name = k, .kind = ABUT_KEY_READ, .read = f, ABUT_AT(T, m)
#define ABUT_HAS(T, m) .has = offsetof(T, m)
#define ABUT_WORDS(...) (const char *const[]){ __VA_ARGS__, NULL }
extern const char *const abut_false_true[];

/** Reads the map t into the structure `to`: the keys present, in the order of the rows; other members keep their values.
 * Fails  ABUT_E_FORMAT an unknown key, an absent one that is needed, a value of another kind, unit or range; as `read` */
ABUT_MUST_USE abut_status abut_keys_read(const abut_scene_reader *r, const abut_keys *map, const abut_tree *t, void *to,
                                         abut_err *err);
/** As abut_keys_read, but ignores keys that no row has. */
ABUT_MUST_USE abut_status abut_keys_some(const abut_scene_reader *r, const abut_keys *map, const abut_tree *t, void *to,
                                         abut_err *err);
/** Allocates *rows, *n of `size` bytes, and reads an entry of the list into each.  entry: an example, as for abut_tree_list. */
ABUT_MUST_USE abut_status abut_scene_list(const abut_scene_reader *r, const abut_tree *t, const char *what, const char *entry,
                                          abut_key_read *read, size_t size, void *rows, int32_t *n, abut_err *err);
/** Writes a line for each key of the map and of its inner maps: path, kind, range or words, default; tabs between.
 * defaults  the structure of the rows with their defaults; NULL: `fallback` of each row */
void abut_keys_write(FILE *f, const char *path, const abut_keys *map, const void *defaults);

/** Copies the place of a value: its file and line. */
void abut_scene_copy_place(const abut_tree *t, char from[ABUT_SCENE_FROM]);
/** Checks and copies the key of t as a name. */
ABUT_MUST_USE abut_status abut_scene_name(const abut_tree *t, char name[ABUT_SCENE_NAME], abut_err *err);
/** *row: `word`, the value of t, among names, which it frees.  An unknown word fails with the nearest name, or with `expected`
 * (NULL: "one of" them).  names NULL: fails ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_scene_named(const abut_tree *t, const char *what, const char *word, const char **names,
                                           const char *expected, int32_t *row, abut_err *err);
/** *row: the object that t names; half-spaces follow the objects if `planes` is set.  A failure names the nearest one. */
ABUT_MUST_USE abut_status abut_scene_find_object(const abut_scene_reader *r, const abut_tree *t, int planes, int32_t *row,
                                          abut_err *err);
/** *row: the material that t names.  A failure names the nearest one. */
ABUT_MUST_USE abut_status abut_scene_find_material(const abut_scene_reader *r, const abut_tree *t, int32_t *row, abut_err *err);
/** Puts the place of t before the message of a reader or generator that failed with rc.  Returns ABUT_E_FORMAT for a refused
 * argument, which is a fault of the scene; else rc. */
abut_status abut_scene_placed(const abut_tree *t, abut_status rc, abut_err *err);
/** Fails unless v[3], the value of t, is a vector that is not zero. */
ABUT_MUST_USE abut_status abut_scene_nonzero(const abut_tree *t, const char *what, const double v[3], abut_err *err);

/* ---- generate.c ---- */

/** Loads the mesh file that t names. */
ABUT_MUST_USE abut_status abut_scene_load(const abut_scene_reader *r, const abut_tree *t, abut_mesh *m, abut_err *err);
/** Reads a `sequence`: positions of all points of the mesh at ascending times, unchanged from the files.  An empty mesh becomes
 * the first of the files; another mesh must have as many points as each file. */
ABUT_MUST_USE abut_status abut_scene_read_path(const abut_scene_reader *r, const abut_tree *t, abut_mesh *mesh,
                                               abut_scene_path *p, abut_err *err);
/** Reads a list of capsules into *capsule, which it makes. */
ABUT_MUST_USE abut_status abut_scene_capsules(const abut_scene_reader *r, const abut_tree *t, abut_capsule **capsule, int32_t *n,
                                              abut_err *err);
/** Reads the value t of `generate`: its one generator makes the mesh of the object, which is empty, the `fill` of a cage, and the
 * smooth shape that a mesh of an order above 1 approximates. */
ABUT_MUST_USE abut_status abut_scene_generate(const abut_scene_reader *r, const abut_tree *object, const abut_tree *t,
                                              abut_scene_object *o, abut_err *err);
extern const abut_keys abut_scene_sequence, abut_scene_generators;

/* ---- mesh.c ---- */

/* {axis, angle}, or {axis, rate, center} */
typedef struct abut_scene_turn {
    double axis[3], value;
    const abut_tree *center;
} abut_scene_turn;

/** Reads a map of the keys abut_scene_angle or abut_scene_rate as a rotation vector.  center  out: the centre of a rate; NULL to
 * skip */
ABUT_MUST_USE abut_status abut_scene_axis(const abut_scene_reader *r, const abut_keys *keys, const abut_tree *t, double out[3],
                                          const abut_tree **center, abut_err *err);
/** Reads a rotation {axis: [..], angle: angle}, or a list of them in their order, and multiplies the matrix R[9] by it. */
abut_key_read abut_scene_rotation;

/* Scale, then rotate, then translate of an object, all about the origin: x -> A x + b. */
typedef struct abut_scene_transform {
    double scale[3], A[9], b[3];
} abut_scene_transform;

/* Rows of a structure T with a transform as its member p, which ends with a dot; then call abut_scene_transform_check. */
#define ABUT_TRANSFORM_KEYS(T, p) \
    { .name = "scale", .kind = ABUT_KEY_AXES, ABUT_AT(T, p scale), .fallback = "1" }, \
    { ABUT_READ(T, "rotate", p A, abut_scene_rotation), .keys = &abut_scene_angle, .form = "map, or a list of maps" }, \
    { ABUT_NUMBER(T, "translate", p b, LENGTH, NULL), .fallback = "[0, 0, 0]" }
#define ABUT_NO_TRANSFORM { { 1, 1, 1 }, { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, { 0, 0, 0 } }

/** Checks the scale, and multiplies it into A. */
ABUT_MUST_USE abut_status abut_scene_transform_check(const abut_tree *object, abut_scene_transform *p, abut_err *err);
/** Reads the transform of an object. */
ABUT_MUST_USE abut_status abut_scene_read_transform(const abut_scene_reader *r, const abut_tree *object, abut_scene_transform *p,
                                               abut_err *err);

/* A lattice of copies. */
typedef struct abut_scene_lattice {
    int32_t count[3];
    double spacing[3];
    int objects;                /* every copy is one */
} abut_scene_lattice;

/* Values of the map of an object.  The object is the first member, so that rows can name its members. */
typedef struct abut_object_said {
    abut_scene_object o;
    abut_scene_transform place;
    abut_scene_lattice repeat;
    int has_use, use, flip, origin, unit, frame;
    double weld;
} abut_object_said;

/** *n: number of objects that `repeat` with `objects: true` makes; 0: the object has no such `repeat`. */
ABUT_MUST_USE abut_status abut_scene_copies(const abut_scene_reader *r, const abut_tree *object, int32_t *n, abut_err *err);
/** at: offset of copy c from the first one, m. */
void abut_scene_copy_at(const abut_scene_lattice *l, int64_t c, double at[3]);
/** Makes the mesh of the object: file or generator, scaled, rotated, moved, repeated.  copy: number of the copy by `repeat` with
 * `objects: true`; else 0. */
ABUT_MUST_USE abut_status abut_scene_mesh(const abut_scene_reader *r, const abut_tree *t, int32_t copy, abut_object_said *s,
                                          abut_err *err);
/** Reads `surface` into an abut_scene_order; the check refuses what excludes it. */
abut_key_read abut_scene_read_surface;
ABUT_MUST_USE abut_status abut_scene_check_surface(const abut_tree *object, const abut_scene_order *a, abut_err *err);
/** Reads `proxy` and `match-mass` of an object, after its mesh and its tets.  copy: as for abut_scene_mesh. */
ABUT_MUST_USE abut_status abut_scene_read_proxy(const abut_scene_reader *r, const abut_tree *object, int32_t copy,
                                                abut_object_said *s, abut_err *err);
extern const abut_keys abut_scene_angle, abut_scene_rate, abut_scene_repeat, abut_scene_rest, abut_scene_surface,
    abut_scene_proxy_keys, abut_scene_union;

/* ---- objects.c ---- */

/** Reads the `objects` map: bodies, obstacles and half-spaces.  Materials must have been read. */
ABUT_MUST_USE abut_status abut_scene_objects(const abut_scene_reader *r, const abut_tree *objects, abut_err *err);
extern const abut_keys abut_scene_object_names, abut_scene_half_space;

/** Reads the `joints` map, and adds their bodies to those that do not meet; after the objects (joints.c). */
ABUT_MUST_USE abut_status abut_scene_joints(const abut_scene_reader *r, abut_err *err);
extern const abut_keys abut_scene_joint_names;
/** Reads an entry of `motors` into an abut_scene_motor; after the joints. */
abut_key_read abut_scene_read_motor;
extern const abut_keys abut_scene_motor_keys;

extern const abut_keys abut_scene_robot_names;     /* robots.c */

/* ---- motions.c: after the objects ---- */

/** q[4]: the rotation R[9] as a unit quaternion, real part first. */
void abut_scene_quaternion(const double R[9], double q[4]);
/** Checks all of `selections`, also unused ones. */
ABUT_MUST_USE abut_status abut_scene_selections(const abut_scene_reader *r, abut_err *err);
/** Reads conditions, or a name of `selections`, into an abut_scene_select. */
abut_key_read abut_scene_read_select;
extern const abut_keys abut_scene_select_keys;
/** Reads {times, values} of a quantity into *out, which it makes. */
ABUT_MUST_USE abut_status abut_scene_read_table(const abut_scene_reader *r, const abut_tree *t, abut_quantity q,
                                                abut_scene_table *out, abut_err *err);
/** Reads the key `ramp` or `factor` of the map of a load; without either the table stays empty. */
ABUT_MUST_USE abut_status abut_scene_factor(const abut_scene_reader *r, const abut_tree *map, abut_scene_table *out,
                                            abut_err *err);
/** Read an entry of `motion`, `attachments`, `seams`. */
abut_key_read abut_scene_read_motion, abut_scene_read_attachment, abut_scene_read_seam;
extern const abut_keys abut_scene_selection_names, abut_scene_factor_keys, abut_scene_motion_keys, abut_scene_attachment_keys,
    abut_scene_seam_keys;

#endif
