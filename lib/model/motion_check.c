#include "model/motion_check.h"

#include "base/words.h"
#include "model/array_check.h"

#include <math.h>

static abut_status check_quaternions(const char *name, const double *q, int32_t n, abut_err *err)
{
    for (int32_t i = 0; i < n; i++, q += 4) {
        const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        if (!(fabs(length - 1) <= 1e-9))
            return abut_fail(err, ABUT_E_FORMAT, "array '%s' row %d: length %.17g, expected 1 within 1e-9", name, i, length);
    }
    return ABUT_OK;
}

/* Row i of the array `name`: rows of key/ in ascending time. */
static abut_status check_key_rows(const abut_model *m, const char *name, const int32_t *rows, int32_t i, abut_err *err)
{
    const int32_t *r = rows + 2 * (size_t)i;
    if (r[0] < 0 || r[0] >= r[1] || r[1] > m->nk)
        return abut_fail(err, ABUT_E_FORMAT, "array '%s' row %d: [%d, %d), expected at least one row of key/time (%d)", name, i,
                         r[0], r[1], m->nk);
    for (int32_t k = r[0] + 1; k < r[1]; k++)
        if (!(m->key_time[k] > m->key_time[k - 1]))
            return abut_fail(err, ABUT_E_FORMAT, "array 'key/time' row %d: %g s after %g s, expected a later time", k,
                             m->key_time[k], m->key_time[k - 1]);
    return ABUT_OK;
}

/* The keys of motion i, and poses, positions or factors for them; a load without keys has the same number twice. */
static abut_status check_keys(const abut_model *m, int32_t i, abut_err *err)
{
    const int poses = m->mo_kind[i] == ABUT_MOTION_KEYS, path = m->mo_kind[i] == ABUT_MOTION_PATH;
    const int varies = m->mo_kind[i] == ABUT_MOTION_FORCE && m->key_factor && m->mo_key &&
                       m->mo_key[2 * (size_t)i] != m->mo_key[2 * (size_t)i + 1];
    if (varies) return check_key_rows(m, "motion/key", m->mo_key, i, err);
    if (!poses && !path) return ABUT_OK;
    const char *missing = !m->mo_key ? "motion/key" : poses && !(m->key_shift && m->key_turn && m->key_scale)
                          ? "key/translation, key/rotation or key/scale" : path && !m->mo_path ? "motion/path" : NULL;
    if (missing) return abut_fail(err, ABUT_E_FORMAT, "array '%s' is missing: motion %d follows keys", missing, i);
    const int32_t *r = m->mo_key + 2 * (size_t)i;
    const abut_status rc = check_key_rows(m, "motion/key", m->mo_key, i, err);
    if (rc) return rc;
    const int64_t rows = (int64_t)(r[1] - r[0]) * (m->mo_first[2 * (size_t)i + 1] - m->mo_first[2 * (size_t)i]);
    if (path && (m->mo_path[i] < 0 || m->mo_path[i] + rows > m->npx))
        return abut_fail(err, ABUT_E_FORMAT, "array 'motion/path' row %d: %d, and %lld row%s from there; path/x has %d", i,
                         m->mo_path[i], (long long)rows, abut_s(rows), m->npx);
    return ABUT_OK;
}

abut_status abut_check_motions(const abut_model *m, abut_err *err)
{
    abut_status rc;
    if ((rc = abut_check_indices("motion/kind", m->mo_kind, m->nmo, 1, 0, ABUT_MOTION_KINDS, err)) ||
        (rc = abut_check_indices("motion/node", m->mo_node, m->nmn, 1, 0, m->nv, err)) ||
        (m->mo_newtons && (rc = abut_check_indices("motion/newtons", m->mo_newtons, m->nmo, 1, 0, 2, err))) ||
        (m->mo_by_force && (rc = abut_check_indices("motion/by-force", m->mo_by_force, m->nmo, 1, 0, ABUT_BY_FORCES, err))) ||
        (m->mo_entry && (rc = abut_check_indices("motion/entry", m->mo_entry, m->nmo, 1, -1, INT32_MAX, err))) ||
        (m->mo_smooth && (rc = abut_check_indices("motion/smooth", m->mo_smooth, m->nmo, 1, 0, 2, err))) ||
        (m->key_turn && (rc = check_quaternions("key/rotation", m->key_turn, m->nk, err))) ||
        (m->key_scale && (rc = abut_check_domain("key/scale", m->key_scale, 3 * (size_t)m->nk, 0, 0, INFINITY, err))))
        return rc;
    for (int32_t i = 0; i < m->nmo; i++) {
        const double *w = m->mo_window + 2 * (size_t)i;
        const int32_t *r = m->mo_first + 2 * (size_t)i;
        if (!(w[0] <= w[1]))
            return abut_fail(err, ABUT_E_FORMAT, "array 'motion/window' row %d: [%g, %g), expected the start first", i, w[0],
                             w[1]);
        if (r[0] < 0 || r[0] > r[1] || r[1] > m->nmn)
            return abut_fail(err, ABUT_E_FORMAT, "array 'motion/first' row %d: [%d, %d), expected rows of motion/node "
                             "(%d)", i, r[0], r[1], m->nmn);
        for (int32_t k = r[0]; k < r[1] && m->mo_kind[i] != ABUT_MOTION_FORCE; k++)
            if (m->role[m->mo_node[k]] == ABUT_NODE_FREE)
                return abut_fail(err, ABUT_E_FORMAT, "array 'motion/node' row %d: node %d is free, expected a handle or "
                                 "an obstacle, because motion %d prescribes its velocity", k, m->mo_node[k], i);
        rc = check_keys(m, i, err);
        if (rc) return rc;
    }
    return ABUT_OK;
}

abut_status abut_check_pressures(const abut_model *m, abut_err *err)
{
    for (int32_t o = 0; m->obj_pressure_key && o < m->no; o++) {
        if (m->obj_pressure_key[2 * (size_t)o] == m->obj_pressure_key[2 * (size_t)o + 1]) continue;
        const abut_status rc = check_key_rows(m, "object/pressure-key", m->obj_pressure_key, o, err);
        if (rc) return rc;
        if (!m->key_factor)
            return abut_fail(err, ABUT_E_FORMAT, "array 'key/factor' is missing: the pressure of object %d has keys", o);
    }
    return ABUT_OK;
}
