/* Motions and forces of a scene as they are found, before their number is known.  For build_motion.c and motion_rows.c. */
#ifndef ABUT_SCENE_MOTION_ROWS_H
#define ABUT_SCENE_MOTION_ROWS_H

#include "model/model.h"
#include "scene/build_parts.h"

typedef struct abut_motion_row {
    int32_t kind, lo, hi, key[2], smooth, path;     /* nodes [lo, hi); keys [key[0], key[1]), of FORCE those of a factor */
    int32_t entry;          /* of the list `motion`; -1: an obstacle's own */
    int hold;
    int32_t newtons;        /* FORCE: linear times share is a force */
    int32_t by_force;       /* ABUT_BY_FORCE_* */
    double window[2], linear[3], angular[3], scale[3], center[3];
    const char *from;
} abut_motion_row;

typedef struct abut_moved {
    int32_t node, point;    /* of the model; of the object's mesh */
    double share[3];        /* of the row's linear: FORCE */
} abut_moved;

/* Owns its lists. */
typedef struct abut_motion_rows {
    int32_t n, cap, nnodes, cap_nodes, nkeys, cap_keys, npath, cap_path;
    abut_motion_row *row;
    abut_moved *node;
    abut_scene_pose *key;
    int32_t first_pressed;      /* keys from here on are factors of pressures, in the order of objects */
    double *path;               /* [3 npath] */
} abut_motion_rows;

/** 1 when an object has a pressure that changes in time. */
static inline int abut_pressure_varies(const abut_scene_object *o)
{
    return !o->obstacle && o->shell.pressure != 0 && o->shell.factor.n > 0;
}

/** Makes r, whose nodes are selected, the force that s says.
 * Fails  ABUT_E_FORMAT on an obstacle; on no triangle of a surface;  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_motion_set_force(abut_build *b, abut_motion_rows *m, const abut_scene_motion *s,
                                                abut_motion_row *r, abut_err *err);

/** Puts motion/, key/ and path/ arrays, if there is any row; free nodes that are moved become handles.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_motion_rows_put(abut_build *b, const abut_motion_rows *m, abut_err *err);

#endif
