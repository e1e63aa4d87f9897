/* Motions of a scene as arrays of the model. */
#include "scene/motion_rows.h"

#include "math/vec3.h"

#include <stddef.h>
#include <string.h>

/* abut_model_put for callers that want a status. */
static abut_status put_array(abut_build *b, const char *name, int32_t rows, void *data, abut_err *err)
{
    void *p = abut_model_put(b->model, name, rows, err);
    memcpy(data, &p, sizeof p);
    return p ? ABUT_OK : err ? err->code : ABUT_E_NOMEM;
}

/* Arrays that a program that knows only MOVE and FORCE does without; where there are some, it must not. */
static abut_status put_scales(abut_build *b, const abut_motion_rows *m, abut_err *err)
{
    double *scale;
    int grows = 0;
    for (int32_t k = 0; k < m->n; k++) grows |= abut_v3_norm2(abut_v3_get(m->row[k].scale)) > 0;
    if (!grows) return ABUT_OK;
    const abut_status rc = put_array(b, "motion/scale", m->n, &scale, err);
    if (rc) return rc;
    for (int32_t k = 0; k < m->n; k++) memcpy(scale + 3 * (size_t)k, m->row[k].scale, sizeof m->row[k].scale);
    abut_arrays_find(b->model, "motion/scale")->flags |= ABUT_A_REQUIRED;
    return ABUT_OK;
}

static abut_status put_shares(abut_build *b, const abut_motion_rows *m, abut_err *err)
{
    double *share;
    int differ = 0;
    for (int32_t i = 0; i < m->nnodes; i++)
        for (int k = 0; k < 3; k++) differ |= m->node[i].share[k] != 1;
    if (!differ) return ABUT_OK;
    const abut_status rc = put_array(b, "motion/share", m->nnodes, &share, err);
    if (rc) return rc;
    for (int32_t i = 0; i < m->nnodes; i++) memcpy(share + 3 * (size_t)i, m->node[i].share, sizeof m->node[i].share);
    abut_arrays_find(b->model, "motion/share")->flags |= ABUT_A_REQUIRED;
    return ABUT_OK;
}

/* A whole number of each row, the member at `at` of abut_motion_row, where a row has one that is not 0. */
static abut_status put_numbers(abut_build *b, const abut_motion_rows *m, const char *name, size_t at, uint32_t flags,
                               abut_err *err)
{
    int32_t *number;
    int some = 0;
    for (int32_t k = 0; k < m->n; k++) some |= *(const int32_t *)((const char *)&m->row[k] + at);
    if (!some) return ABUT_OK;
    const abut_status rc = put_array(b, name, m->n, &number, err);
    if (rc) return rc;
    for (int32_t k = 0; k < m->n; k++) number[k] = *(const int32_t *)((const char *)&m->row[k] + at);
    abut_arrays_find(b->model, name)->flags |= flags;
    return ABUT_OK;
}

/* Puts the list entry of each row if it differs from the row's number: moving obstacles come first, rests of motions that hold
 * their nodes last. */
static abut_status put_entries(abut_build *b, const abut_motion_rows *m, abut_err *err)
{
    int32_t *entry;
    int differ = 0;
    for (int32_t k = 0; k < m->n; k++) differ |= m->row[k].entry != k;
    if (!differ) return ABUT_OK;
    const abut_status rc = put_array(b, "motion/entry", m->n, &entry, err);
    if (rc) return rc;
    for (int32_t k = 0; k < m->n; k++) entry[k] = m->row[k].entry;
    return ABUT_OK;
}

/* Poses of keys, and the positions of paths. */
static abut_status put_poses(abut_build *b, const abut_motion_rows *m, abut_err *err)
{
    double *shift, *rotation, *scale, *x = NULL;
    abut_status rc = put_array(b, "key/translation", m->nkeys, &shift, err);
    if (!rc) rc = put_array(b, "key/rotation", m->nkeys, &rotation, err);
    if (!rc) rc = put_array(b, "key/scale", m->nkeys, &scale, err);
    if (!rc && m->npath) rc = put_array(b, "path/x", m->npath, &x, err);
    if (rc) return rc;
    for (int32_t k = 0; k < m->nkeys; k++) {
        memcpy(shift + 3 * (size_t)k, m->key[k].shift, sizeof m->key[k].shift);
        memcpy(rotation + 4 * (size_t)k, m->key[k].rotation, sizeof m->key[k].rotation);
        memcpy(scale + 3 * (size_t)k, m->key[k].scale, sizeof m->key[k].scale);
    }
    if (x) memcpy(x, m->path, 3 * (size_t)m->npath * sizeof *x);
    return ABUT_OK;
}

/* Puts factors of loads; 1 in the rows of poses.  Required: a program that does not know them must refuse the model. */
static abut_status put_factors(abut_build *b, const abut_motion_rows *m, abut_err *err)
{
    double *factor;
    int32_t *pressed = NULL, first = m->first_pressed;
    abut_status rc = put_array(b, "key/factor", m->nkeys, &factor, err);
    if (!rc && first < m->nkeys) rc = put_array(b, "object/pressure-key", b->scene->nobjects, &pressed, err);
    if (rc) return rc;
    for (int32_t k = 0; k < m->nkeys; k++) factor[k] = k < first ? 1 : m->key[k].factor;
    for (int32_t r = 0; r < m->n; r++)
        for (int32_t k = m->row[r].key[0]; k < m->row[r].key[1] && m->row[r].kind == ABUT_MOTION_FORCE; k++)
            factor[k] = m->key[k].factor;
    abut_arrays_find(b->model, "key/factor")->flags |= ABUT_A_REQUIRED;
    if (!pressed) return ABUT_OK;
    for (int32_t o = 0; o < b->scene->nobjects; o++) {
        const abut_scene_object *of = &b->scene->object[o];
        pressed[2 * (size_t)o] = first;
        if (abut_pressure_varies(of)) first += of->shell.factor.n;
        pressed[2 * (size_t)o + 1] = first;
    }
    abut_arrays_find(b->model, "object/pressure-key")->flags |= ABUT_A_REQUIRED;
    return ABUT_OK;
}

static abut_status put_keys(abut_build *b, const abut_motion_rows *m, abut_err *err)
{
    int32_t *key = NULL, *smooth = NULL, *path = NULL;
    double *time;
    int poses = 0, loads = 0, rests = 0;
    if (!m->nkeys) return ABUT_OK;
    for (int32_t k = 0; k < m->n; k++) {
        const abut_motion_row *r = &m->row[k];
        if (r->key[0] == r->key[1]) continue;
        if (r->kind == ABUT_MOTION_FORCE) loads = 1;
        else poses = 1;
        rests |= r->smooth;
    }
    abut_status rc = poses || loads ? put_array(b, "motion/key", m->n, &key, err) : ABUT_OK;
    if (!rc && (poses || rests)) rc = put_array(b, "motion/smooth", m->n, &smooth, err);
    if (!rc && poses) rc = put_array(b, "motion/path", m->n, &path, err);
    if (!rc) rc = put_array(b, "key/time", m->nkeys, &time, err);
    if (rc) return rc;
    for (int32_t k = 0; k < m->n; k++) {
        if (key) memcpy(key + 2 * (size_t)k, m->row[k].key, sizeof m->row[k].key);
        if (smooth) smooth[k] = m->row[k].smooth;
        if (path) path[k] = m->row[k].path;
    }
    for (int32_t k = 0; k < m->nkeys; k++) time[k] = m->key[k].time;
    rc = poses ? put_poses(b, m, err) : ABUT_OK;
    return rc || !(loads || m->first_pressed < m->nkeys) ? rc : put_factors(b, m, err);
}

abut_status abut_motion_rows_put(abut_build *b, const abut_motion_rows *m, abut_err *err)
{
    int32_t *kind, *first, *node;
    double *window, *linear, *angular, *center;
    if (!m->n) return put_keys(b, m, err);
    abut_status rc = put_array(b, "motion/kind", m->n, &kind, err);
    if (!rc) rc = put_array(b, "motion/window", m->n, &window, err);
    if (!rc) rc = put_array(b, "motion/linear", m->n, &linear, err);
    if (!rc) rc = put_array(b, "motion/angular", m->n, &angular, err);
    if (!rc) rc = put_array(b, "motion/center", m->n, &center, err);
    if (!rc) rc = put_array(b, "motion/first", m->n, &first, err);
    if (!rc) rc = put_array(b, "motion/node", m->nnodes, &node, err);
    if (rc) return rc;
    for (int32_t k = 0; k < m->n; k++) {
        const abut_motion_row *r = &m->row[k];
        kind[k] = r->kind;
        memcpy(window + 2 * (size_t)k, r->window, sizeof r->window);
        memcpy(linear + 3 * (size_t)k, r->linear, sizeof r->linear);
        memcpy(angular + 3 * (size_t)k, r->angular, sizeof r->angular);
        memcpy(center + 3 * (size_t)k, r->center, sizeof r->center);
        first[2 * (size_t)k] = r->lo, first[2 * (size_t)k + 1] = r->hi;
        for (int32_t i = r->lo; i < r->hi; i++) {
            int32_t *role = &b->role[m->node[i].node];
            node[i] = m->node[i].node;
            if (r->kind != ABUT_MOTION_FORCE && *role == ABUT_NODE_FREE) *role = ABUT_NODE_HANDLE, b->out->handles++;
        }
    }
    rc = put_scales(b, m, err);
    if (!rc) rc = put_shares(b, m, err);
    if (!rc) rc = put_numbers(b, m, "motion/newtons", offsetof(abut_motion_row, newtons), ABUT_A_REQUIRED, err);
    if (!rc) rc = put_numbers(b, m, "motion/by-force", offsetof(abut_motion_row, by_force), 0, err);
    if (!rc) rc = put_entries(b, m, err);
    return rc ? rc : put_keys(b, m, err);
}
