#include "base/arena.h"
#include "model/model.h"

#include "base/order.h"
#include "mesh/surface.h"
#include "model/motion.h"
#include "model/schemes.h"
#include "model/tets.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- relations between the arrays of a model, whose numbers are in range ---- */

static abut_status check_nodes(const abut_model *m, abut_err *err)
{
    for (int32_t i = 0; i < m->nv; i++) {
        const int massless = m->role[i] == ABUT_NODE_OBSTACLE && m->mass[i] == 0;
        if (!(m->mass[i] > 0) && !massless)
            return abut_fail(err, ABUT_E_FORMAT, "array 'node/mass' row %d: %.17g, expected %s", i, m->mass[i],
                             m->role[i] == ABUT_NODE_OBSTACLE ? "0 or more" : "more than 0 for a simulated node");
    }
    return ABUT_OK;
}

/* Terms that add to a material. */
static abut_status check_terms(const abut_model *m, abut_err *err)
{
    for (size_t i = 0; m->mat_stretch && i < (size_t)m->nm; i++) {
        const double *s = m->mat_stretch + 3 * i;
        if (!(s[0] >= 0 && s[1] >= 0 && s[1] <= 1 && s[2] >= 1))
            return abut_fail(err, ABUT_E_FORMAT,
                             "array 'material/stretch' row %zu: %g, %g, %g, expected a stiffness of 0 or more and "
                             "0 <= low <= 1 <= high",
                             i, s[0], s[1], s[2]);
    }
    return ABUT_OK;
}

static abut_status check_splines(const abut_model *m, abut_err *err)
{
    for (int32_t i = 0; i < m->nm; i++) {
        if (m->mat_model[i] != ABUT_SPLINE) continue;
        if (!m->mat_spline)
            return abut_fail(err, ABUT_E_FORMAT, "array 'material/spline' is missing: material %d is a spline", i);
        const int32_t lo = m->mat_spline[2 * i], hi = m->mat_spline[2 * i + 1];
        if (!(lo >= 0 && (int64_t)hi - lo >= 2 && hi <= m->nkn))
            return abut_fail(err, ABUT_E_FORMAT, "array 'material/spline' row %d: %d, %d, expected two knots or more of %d", i,
                             lo, hi, m->nkn);
        for (int32_t k = lo + 1; k < hi; k++)
            if (!(m->spline_knot[k - 1] < m->spline_knot[k]))
                return abut_fail(err, ABUT_E_FORMAT, "array 'spline/knot' row %d: %g after %g, expected ascending knots", k,
                                 m->spline_knot[k], m->spline_knot[k - 1]);
    }
    return ABUT_OK;
}

static abut_status check_elements(const abut_model *m, abut_err *err)
{
    abut_status rc;
    for (int32_t i = 0; i < m->nm; i++)
        if (!abut_material_bounded(m->mat_model[i], m->mat_poisson[i]))
            return abut_fail(err, ABUT_E_FORMAT, "array 'material/poisson' row %d: %g, expected " ABUT_MATERIAL_UNBOUNDED, i,
                             m->mat_poisson[i], abut_material_least_poisson(m->mat_model[i]));
    if ((rc = check_terms(m, err)) || (rc = abut_tets_check(m, err))) return rc;
    return check_splines(m, err);
}

/* A node is at most one collision vertex: two would be in contact with each other at distance zero. */
static abut_status check_injective(const abut_model *m, abut_err *err)
{
    if (!m->coll_node) return ABUT_OK;
    unsigned char *seen = calloc((size_t)m->nv + 1, 1);
    if (!seen) return abut_fail(err, ABUT_E_NOMEM, "array 'contact/node': no memory for its check");
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i < m->nc && !rc; i++) {
        if (seen[m->coll_node[i]])
            rc = abut_fail(err, ABUT_E_FORMAT, "array 'contact/node' row %d: node %d has a collision vertex already", i,
                           m->coll_node[i]);
        seen[m->coll_node[i]] = 1;
    }
    free(seen);
    return rc;
}

/* The nodes of vertex i are of one object, and all of obstacles or none. */
static abut_status check_vertex(const abut_model *m, int32_t i, abut_err *err)
{
    const int32_t *r = m->map_first + 2 * (size_t)i;
    if (r[0] < 0 || r[0] >= r[1] || r[1] > m->nmap)
        return abut_fail(err, ABUT_E_FORMAT, "array 'contact/map-first' row %d: [%d, %d), expected at least one row of "
                         "contact/map-node (%d)", i, r[0], r[1], m->nmap);
    const int32_t a = m->map_node[r[0]];
    for (int32_t k = r[0] + 1; k < r[1]; k++) {
        const int32_t b = m->map_node[k];
        if (m->body[a] != m->body[b])
            return abut_fail(err, ABUT_E_FORMAT, "array 'contact/map-node' row %d: node %d of object %d, expected one of object "
                             "%d as the first of vertex %d", k, b, m->body[b], m->body[a], i);
        if ((m->role[a] == ABUT_NODE_OBSTACLE) != (m->role[b] == ABUT_NODE_OBSTACLE))
            return abut_fail(err, ABUT_E_FORMAT, "array 'contact/map-node' row %d: vertex %d has nodes of obstacles and others, "
                             "expected one kind", k, i);
    }
    return ABUT_OK;
}

/* Vertices are nodes, or have a map. */
static abut_status check_vertices(const abut_model *m, abut_err *err)
{
    if (m->coll_node && m->map_first)
        return abut_fail(err, ABUT_E_FORMAT, "arrays 'contact/node' and 'contact/map-first' are both there, expected one");
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; m->map_first && i < m->nc && !rc; i++) rc = check_vertex(m, i, err);
    return rc ? rc : check_injective(m, err);
}

static abut_status check_edges(const abut_model *m, abut_err *err)
{
    const int32_t *e = m->coll_edge;
    int sorted = 1;
    for (int32_t i = 0; i < m->nce; i++, e += 2) {
        if (e[0] >= e[1])
            return abut_fail(err, ABUT_E_FORMAT, "array 'contact/edge' row %d: %d, %d, expected the smaller index first", i,
                             e[0], e[1]);
        sorted &= i == 0 || e[-2] < e[0] || (e[-2] == e[0] && e[-1] < e[1]);
    }
    if (sorted) return ABUT_OK;     /* strictly ascending: nothing twice */
    int64_t *key = malloc((size_t)m->nce * sizeof *key);
    if (!key) return abut_fail(err, ABUT_E_NOMEM, "array 'contact/edge': no memory for its check");
    for (int32_t i = 0; i < m->nce; i++) key[i] = (int64_t)m->coll_edge[2 * i] << 32 | m->coll_edge[2 * i + 1];
    qsort(key, (size_t)m->nce, sizeof *key, abut_by_int64);
    abut_status rc = ABUT_OK;
    for (int32_t i = 1; i < m->nce && !rc; i++)
        if (key[i] == key[i - 1])
            rc = abut_fail(err, ABUT_E_FORMAT, "array 'contact/edge': the edge %d, %d is there twice",
                           (int)(key[i] >> 32), (int)(key[i] & INT32_MAX));
    free(key);
    return rc;
}

static abut_status check_excluded(const abut_model *m, abut_err *err)
{
    const int32_t *e = m->excluded;
    for (int32_t i = 0; i < m->nex; i++, e += 2)
        if (e[0] > e[1] || (i && (e[-2] > e[0] || (e[-2] == e[0] && e[-1] >= e[1]))))
            return abut_fail(err, ABUT_E_FORMAT, "array 'contact/excluded' row %d: %d, %d, expected ascending pairs, the smaller "
                             "object first", i, e[0], e[1]);
    return ABUT_OK;
}

int abut_model_excludes(const abut_model *m, int32_t a, int32_t b)
{
    const int32_t pair[2] = { a < b ? a : b, a < b ? b : a };
    return m->nex && bsearch(pair, m->excluded, (size_t)m->nex, sizeof pair, abut_by_two) != NULL;
}

static abut_status check_contact(const abut_model *m, abut_err *err)
{
    const size_t ng = (size_t)m->ng;
    abut_status rc = check_vertices(m, err);
    if (!rc) rc = check_edges(m, err);
    if (!rc) rc = check_excluded(m, err);
    if (rc) return rc;
    for (size_t i = 0; i < ng; i++)
        for (size_t j = 0; j < i; j++)
            if (m->mu[i * ng + j] != m->mu[j * ng + i])
                return abut_fail(err, ABUT_E_FORMAT, "array 'contact/mu' row %zu: %.17g for class %zu, expected %.17g as "
                                 "the other way round", i, m->mu[i * ng + j], j, m->mu[j * ng + i]);
    return ABUT_OK;
}

static abut_status check_attachments(const abut_model *m, abut_err *err)
{
    for (int32_t i = 0; i < m->na; i++) {
        const int32_t v = m->attach_node[5 * (size_t)i];
        if (v < 0 || m->role[v] == ABUT_NODE_OBSTACLE)
            return abut_fail(err, ABUT_E_FORMAT, "array 'attachment/node' row %d: starts with %d, expected a node of a body", i,
                             v);
    }
    return ABUT_OK;
}

static abut_status check_shells(const abut_model *m, abut_err *err)
{
    for (size_t i = 0; i < (size_t)m->nsh; i++) {
        const double *R = m->shell_rest + 4 * i, area2 = R[0] * R[3] - R[1] * R[2];
        if (!(area2 > 0))
            return abut_fail(err, ABUT_E_FORMAT, "array 'shell/rest' row %zu: determinant %g, expected more than 0", i, area2);
        const double *s = m->shell_limit ? m->shell_limit + 4 * i : NULL;
        if (s && !(s[0] == 0 && s[1] == 0) && !(0 <= s[0] && s[0] < s[1] && s[1] <= 1))
            return abut_fail(err, ABUT_E_FORMAT, "array 'shell/stretch-limit' row %zu: lower %g, %g, expected 0 <= limit < "
                             "threshold <= 1, or 0, 0", i, s[0], s[1]);
        if (s && !(s[2] == 0 && s[3] == 0) && !(1 <= s[2] && s[2] < s[3] && s[3] < INFINITY))
            return abut_fail(err, ABUT_E_FORMAT, "array 'shell/stretch-limit' row %zu: upper %g, %g, expected 1 <= threshold < "
                             "limit, or 0, 0", i, s[2], s[3]);
    }
    return ABUT_OK;
}

static abut_status check_compression(const abut_model *m, int32_t i, abut_err *err)
{
    if (!m->mat_compression)
        return abut_fail(err, ABUT_E_FORMAT, "array 'material/compression' is missing: material %d is of Baraff and Witkin", i);
    if (m->mat_compression[i] > 0 && m->mat_compression[i] <= 1) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT, "array 'material/compression' row %d: %g, expected more than 0, at most 1", i,
                     m->mat_compression[i]);
}

/* Checks the numbers of fabrics, which isotropic membranes lack. */
static abut_status check_fabric(const abut_model *m, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; m->mat_membrane && i < m->nm && !rc; i++) {
        if (m->mat_membrane[i] == ABUT_MEMBRANE_ISOTROPIC) continue;
        const int cloth = m->mat_membrane[i] == ABUT_MEMBRANE_CLOTH;
        if (!m->mat_fabric || (cloth && !m->mat_strain))
            return abut_fail(err, ABUT_E_FORMAT, "array '%s' is missing: material %d is a fabric",
                             m->mat_fabric ? "material/strain-limit" : "material/fabric", i);
        const double *a = m->mat_fabric + 4 * (size_t)i;
        if (!(a[0] > 0 && a[1] > 0 && a[3] > 0 && a[0] * a[1] > a[2] * a[2]))
            return abut_fail(err, ABUT_E_FORMAT, "array 'material/fabric' row %d: %g, %g, %g, %g, expected a11, a22, G12 > 0 and "
                             "a12^2 < a11 a22", i, a[0], a[1], a[2], a[3]);
        const double *most = cloth ? m->mat_strain + 3 * (size_t)i : NULL;
        if (cloth && !(most[0] > 0 && most[1] > 0 && most[2] > 0))
            return abut_fail(err, ABUT_E_FORMAT, "array 'material/strain-limit' row %d: %g, %g, %g, expected more than 0", i,
                             most[0], most[1], most[2]);
        if (!rc && m->mat_membrane[i] == ABUT_MEMBRANE_BARAFF_WITKIN) rc = check_compression(m, i, err);
    }
    return rc;
}

/* The thickness of a pair is that of its two primitives: each of them has one. */
static abut_status one_thickness(const abut_model *m, const char *name, const int32_t *vert, int32_t n, int k, abut_err *err)
{
    for (int32_t i = 0; i < n; i++)
        for (int c = 1; c < k; c++) {
            const double a = m->obj_thick[m->body[abut_model_contact_node(m, vert[k * i])]],
                         b = m->obj_thick[m->body[abut_model_contact_node(m, vert[k * i + c])]];
            if (!(a <= b && a >= b))
                return abut_fail(err, ABUT_E_FORMAT,
                                 "array '%s' row %d: its vertices are of objects of thickness %.17g m and %.17g m, "
                                 "expected one thickness",
                                 name, i, a, b);
        }
    return ABUT_OK;
}

/* Lengths and masses of bodies. */
static abut_status check_sizes(const abut_model *m, abut_err *err)
{
    for (int32_t i = 0; i < m->no && m->obj_length; i++)
        if ((m->obj_length[i] > 0) != (m->obj_node_mass[i] > 0))
            return abut_fail(err, ABUT_E_FORMAT, "array 'object/node-mass' row %d: %g kg, and 'object/length' %g m, expected "
                             "both above 0 or none", i, m->obj_node_mass[i], m->obj_length[i]);
    return ABUT_OK;
}

/* A rigid object is one tet of four nodes with the orthogonality energy. */
static abut_status check_rigid(const abut_model *m, abut_err *err)
{
    if (!m->rigid_range) return ABUT_OK;
    int32_t *tet = calloc(2 * (size_t)m->no + 1, sizeof *tet), *node = tet + m->no;
    if (!tet) return abut_fail(err, ABUT_E_NOMEM, "rigid objects: %d", m->no);
    for (int32_t i = 0; i < m->nv; i++) node[m->body[i]]++;
    for (int32_t t = 0; t < m->nt; t++) {
        const int is_one = m->mat_model[m->tet_mat[t]] == ABUT_ORTHOGONAL && abut_tet_order(m, t) == 1;
        tet[m->body[m->tet[4 * (size_t)t]]] += is_one ? 1 : 2;
    }
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i < m->no && !rc; i++) {
        const double *K = m->rigid_range + 2 * (size_t)i;
        if (K[0] == 0 && K[1] == 0) continue;
        if (!(K[0] > 0 && K[1] >= K[0] && m->rigid_strain[i] > 0))
            rc = abut_fail(err, ABUT_E_FORMAT, "array 'rigid/range' row %d: %g, %g J, strain %g, expected 0 < start <= most and "
                           "a strain above 0", i, K[0], K[1], m->rigid_strain[i]);
        else if (tet[i] != 1 || node[i] != 4)
            rc = abut_fail(err, ABUT_E_FORMAT, "array 'rigid/range' row %d: expected an object of four nodes and one tet of a "
                           "material of model %s", i, abut_material_names[ABUT_ORTHOGONAL]);
    }
    free(tet);
    return rc;
}

/* Nodes [k, k + 4) of joint j are those of one rigid object: *object; *moved 1: motions move it. */
static abut_status check_joined(const abut_model *m, int32_t j, int k, int32_t *object, int *moved, abut_err *err)
{
    const int32_t *node = m->joint_node + 8 * (size_t)j + k;
    int ok = m->rigid_range != NULL;
    for (int i = 0; i < 4; i++)
        ok = ok && node[i] >= 0 && m->role[node[i]] != ABUT_NODE_OBSTACLE && m->body[node[i]] == m->body[*node];
    *object = ok ? m->body[*node] : -1;
    *moved = ok && m->role[*node] == ABUT_NODE_HANDLE;
    if (ok && m->rigid_range[2 * (size_t)*object] > 0) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT, "array 'joint/node' row %d: %d, %d, %d, %d, expected the four nodes of a rigid object",
                     j, node[0], node[1], node[2], node[3]);
}

/* A weld: a rigid object, and a free node of *object. */
static abut_status check_welded(const abut_model *m, int32_t j, int world, int32_t *object, abut_err *err)
{
    const int32_t *node = m->joint_node + 8 * (size_t)j + 4;
    const int one = *node >= 0 && node[1] < 0 && node[2] < 0 && node[3] < 0;
    *object = one ? m->body[*node] : -1;
    if (one && !world && m->joint_weld && m->joint_weld[j] >= 0 && m->role[*node] == ABUT_NODE_FREE) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT, "array 'joint/node' row %d: expected a weld of a rigid object and one free node, with "
                     "its row of 'joint/weld'", j);
}

/* has: 1 if joint j has a coordinate. */
static abut_status check_motor(const abut_model *m, int32_t j, int has, abut_err *err)
{
    const int32_t *motor = m->joint_motor + 4 * (size_t)j;
    const double *law = m->joint_motor_law ? m->joint_motor_law + 5 * (size_t)j : NULL;
    int ok = motor[0] == ABUT_MOTOR_NONE;
    const int rows = motor[1] >= 0 && motor[1] < motor[2] && motor[2] <= m->njk;
    if (!ok && has && law && motor[0] > 0 && motor[0] < ABUT_MOTORS && rows) {
        ok = law[0] >= 0 && isfinite(law[0]) && law[0] < law[1] && law[2] >= 0 && law[3] >= 0 && isfinite(law[2] + law[3]);
        ok = ok && law[4] > 0 && m->joint_key[2 * (size_t)motor[1]] >= 0;
        for (int32_t i = motor[1] + 1; i < motor[2]; i++)
            ok = ok && m->joint_key[2 * (size_t)i] > m->joint_key[2 * (size_t)i - 2];
    }
    if (ok) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT, "array 'joint/motor' row %d: %d, %d, %d: expected a motor of a hinge or slider, rows of "
                     "'joint/key' in ascending time, and in 'joint/motor-law' from < until, stiffness and damper of 0 or more, a "
                     "largest force above 0", j, motor[0], motor[1], motor[2]);
}

static abut_status check_joints(const abut_model *m, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int32_t j = 0, row = 0; j < m->njo && !rc; j++) {
        const int32_t *node = m->joint_node + 8 * (size_t)j, *rows = m->joint_first + 2 * (size_t)j;
        int32_t a = -1, b;
        const int world = node[0] < 0 && node[1] < 0 && node[2] < 0 && node[3] < 0;
        int moved[2] = { 1, 0 };
        if (!world) rc = check_joined(m, j, 0, &a, &moved[0], err);
        const int weld = m->joint_kind[j] == ABUT_JOINT_WELD;
        if (!rc && !weld) rc = check_joined(m, j, 4, &b, &moved[1], err);
        else if (!rc) rc = check_welded(m, j, world, &b, err);
        if (!rc && moved[0] && moved[1])
            rc = abut_fail(err, ABUT_E_FORMAT, "array 'joint/node' row %d: motions move both objects, expected one that moves "
                           "freely", j);
        if (!rc && a == b)
            rc = abut_fail(err, ABUT_E_FORMAT, "array 'joint/node' row %d: object %d twice, expected two objects", j, a);
        if (!rc && (rows[0] != row || rows[1] <= row || rows[1] > m->njr || (j + 1 == m->njo && rows[1] != m->njr)))
            rc = abut_fail(err, ABUT_E_FORMAT, "array 'joint/first' row %d: [%d, %d), expected rows of joint/along (%d) from %d "
                            "on", j, rows[0], rows[1], m->njr, row);
        const double *drive = m->joint_drive ? m->joint_drive + 4 * (size_t)j : NULL;
        const int32_t kind = m->joint_kind[j];
        const int has = kind == ABUT_JOINT_HINGE || kind == ABUT_JOINT_SLIDER;
        if (!rc && drive && !(drive[0] >= 0 && drive[2] >= 0 && (has || (drive[0] == 0 && drive[2] == 0 && drive[3] == 0))))
            rc = abut_fail(err, ABUT_E_FORMAT, "array 'joint/drive' row %d: %g, %g, %g, %g: expected stiffness and a damper of 0 "
                           "or more, of a hinge or slider", j, drive[0], drive[1], drive[2], drive[3]);
        const double *limit = m->joint_limit ? m->joint_limit + 4 * (size_t)j : NULL;
        const int none = limit && limit[0] == -INFINITY && limit[1] == INFINITY;
        const int stops = limit && has && limit[0] < limit[1] && limit[2] > 0 && limit[3] > 0 && isfinite(limit[2] * limit[3]);
        if (!rc && limit && !none && !stops)
            rc = abut_fail(err, ABUT_E_FORMAT, "array 'joint/limit' row %d: %g, %g, %g, %g: expected least < largest, a width "
                           "and a stiffness above 0, of a hinge or slider", j, limit[0], limit[1], limit[2], limit[3]);
        const double *friction = m->joint_friction ? m->joint_friction + 2 * (size_t)j : NULL;
        if (!rc && friction && friction[0] > 0 && !(has && friction[1] > 0))
            rc = abut_fail(err, ABUT_E_FORMAT, "array 'joint/friction' row %d: %g, %g: expected a rate above 0, of a hinge or "
                           "slider", j, friction[0], friction[1]);
        const int32_t *gear = m->joint_gear ? m->joint_gear + 2 * (size_t)j : NULL;
        int geared = kind == ABUT_JOINT_GEAR && gear && gear[0] != gear[1] && m->joint_ratio && m->joint_ratio[2 * j + 1] > 0;
        for (int i = 0; i < 2; i++) {
            const int32_t of = geared ? gear[i] : -1;
            geared = geared && of >= 0 && (m->joint_kind[of] == ABUT_JOINT_HINGE || m->joint_kind[of] == ABUT_JOINT_SLIDER);
        }
        if (!rc && kind == ABUT_JOINT_GEAR && !geared)
            rc = abut_fail(err, ABUT_E_FORMAT, "array 'joint/gear' row %d: expected two hinges or sliders, and in 'joint/ratio' "
                           "a factor above 0", j);
        if (!rc && m->joint_motor) rc = check_motor(m, j, has, err);
        row = rows[1];
    }
    if (rc || m->njo || !m->njr) return rc;
    return abut_fail(err, ABUT_E_FORMAT, "array 'joint/along': %d rows, expected none without 'joint/first'", m->njr);
}

static abut_status check_thickness(const abut_model *m, abut_err *err)
{
    if (!m->obj_thick) return ABUT_OK;
    const abut_status rc = one_thickness(m, "contact/edge", m->coll_edge, m->nce, 2, err);
    return rc ? rc : one_thickness(m, "contact/triangle", m->coll_tri, m->nct, 3, err);
}

/* Parameters that bound each other. */
static abut_status check_parameters(const abut_model *m, abut_err *err)
{
    const double gamma = m->newmark_gamma ? *m->newmark_gamma : ABUT_NEWMARK_GAMMA;
    if (m->newmark_beta && !(*m->newmark_beta >= 0.5 * gamma))
        return abut_fail(err, ABUT_E_FORMAT, "array 'time/newmark-beta': %.17g, expected half of gamma, %g, or more",
                         *m->newmark_beta, 0.5 * gamma);
    if (!(*m->kappa_max >= *m->kappa_min))
        return abut_fail(err, ABUT_E_FORMAT, "array 'contact/kappa-max': %.17g, expected 'contact/kappa-min', %g, or more",
                         *m->kappa_max, *m->kappa_min);
    return ABUT_OK;
}

abut_status abut_model_check(const abut_model *m, abut_err *err)
{
    abut_status rc;
    if ((rc = check_nodes(m, err)) || (rc = check_elements(m, err)) || (rc = check_contact(m, err)) ||
        (rc = abut_check_motions(m, err)) || (rc = abut_check_locks(m, err)) || (rc = abut_check_pressures(m, err)) ||
            (rc = check_attachments(m, err)) ||
        (rc = check_shells(m, err)) || (rc = check_fabric(m, err)) || (rc = check_thickness(m, err)) ||
        (rc = check_sizes(m, err)) || (rc = check_rigid(m, err)) || (rc = check_joints(m, err)))
        return rc;
    return check_parameters(m, err);
}

/* ---- the collision mesh: contact/node, contact/edge and contact/triangle ---- */

/* Rows of `width` vertices, found by their smallest one: list[first[v] .. first[v + 1]) are the rows of v. */
typedef struct lookup {
    const int32_t *row;
    int width;
    int32_t *first, *list;
} lookup;

/* Data shared by the checks. */
typedef struct job {
    const abut_model *m;
    int32_t *vertex;        /* [nv] collision vertex of a node, -1: it has none */
    lookup edge, triangle;
} job;

static int32_t smallest(const int32_t *v, int width)
{
    int32_t least = v[0];
    for (int k = 1; k < width; k++)
        if (v[k] < least) least = v[k];
    return least;
}

static abut_status lookup_make(lookup *l, const int32_t *row, int32_t n, int width, int32_t nc, abut_err *err)
{
    *l = (lookup){ row, width, calloc((size_t)nc + 2, sizeof *l->first), malloc(((size_t)n + 1) * sizeof *l->list) };
    if (!l->first || !l->list) return abut_fail(err, ABUT_E_NOMEM, "collision mesh: no memory for the check of %d rows", n);
    for (int32_t i = 0; i < n; i++) l->first[smallest(row + (size_t)width * (size_t)i, width) + 2]++;
    for (int32_t v = 0; v < nc; v++) l->first[v + 2] += l->first[v + 1];
    for (int32_t i = 0; i < n; i++) l->list[l->first[smallest(row + (size_t)width * (size_t)i, width) + 1]++] = i;
    return ABUT_OK;
}

/* Whether two rows of distinct vertices hold equal sets. */
static int same(const int32_t *a, const int32_t *b, int width)
{
    int found = 0;
    for (int i = 0; i < width; i++)
        for (int k = 0; k < width; k++) found += a[i] == b[k];
    return found == width;
}

static int has(const lookup *l, const int32_t *v)
{
    const int32_t low = smallest(v, l->width);
    for (int32_t k = l->first[low]; k < l->first[low + 1]; k++)
        if (same(l->row + (size_t)l->width * (size_t)l->list[k], v, l->width)) return 1;
    return 0;
}

/* Elements of `width` nodes have their row in contact/. */
static abut_status covered(const job *j, const char *what, const int32_t *node, int32_t n, int width, abut_err *err)
{
    for (int32_t i = 0; i < n; i++) {
        const int32_t *e = node + (size_t)width * (size_t)i;
        int32_t v[3] = { 0, 0, 0 };
        int missing = 0;
        for (int k = 0; k < width; k++) missing |= (v[k] = j->vertex[e[k]]) < 0;
        if (!missing && (width == 1 || has(width == 2 ? &j->edge : &j->triangle, v))) continue;
        static const char *const array[] = { "contact/node", "contact/edge", "contact/triangle" };
        char nodes[48];
        size_t used = 0;
        for (int k = 0; k < width; k++) used += (size_t)snprintf(nodes + used, sizeof nodes - used, " %d", e[k]);
        return abut_fail(err, ABUT_E_FORMAT, "array '%s' lacks %s %d (nodes%s): the collision mesh is not whole",
                         array[width - 1], what, i, nodes);
    }
    return ABUT_OK;
}

static abut_status check_sides(const job *j, abut_err *err)
{
    const abut_model *m = j->m;
    for (size_t i = 0; i < 3 * (size_t)m->nct; i++) {
        const int32_t side[2] = { m->coll_tri[i], m->coll_tri[i % 3 == 2 ? i - 2 : i + 1] };
        if (has(&j->edge, side)) continue;
        return abut_fail(err, ABUT_E_FORMAT, "array 'contact/edge' lacks a side of row %zu of 'contact/triangle' (%s %d %d): "
                         "the collision mesh is not whole", i / 3, m->coll_node ? "nodes" : "vertices",
                         m->coll_node ? m->coll_node[side[0]] : side[0], m->coll_node ? m->coll_node[side[1]] : side[1]);
    }
    return ABUT_OK;
}

static abut_status check_faces(const job *j, abut_err *err)
{
    int32_t *face = NULL, n = 0;
    if (!j->m->nt) return ABUT_OK;
    abut_status rc = abut_surface_triangles(j->m->tet, j->m->nt, &face, &n, err);
    if (!rc) rc = covered(j, "outer face", face, n, 3, err);
    free(face);
    return rc;
}

abut_status abut_contact_check(const abut_model *m, int sides, abut_err *err)
{
    assert(m);
    if (!m->nc) return ABUT_OK;
    const int nodes = !m->map_first;    /* elements determine primitives of nodes alone */
    job j = { .m = m, .vertex = malloc(((size_t)m->nv + 1) * sizeof *j.vertex) };
    abut_status rc = j.vertex ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "collision mesh: no memory for %d nodes", m->nv);
    for (int32_t i = 0; i < m->nv && !rc; i++) j.vertex[i] = -1;
    for (int32_t i = 0; i < m->nc && !rc && nodes; i++) j.vertex[m->coll_node[i]] = i;
    if (!rc) rc = lookup_make(&j.edge, m->coll_edge, m->nce, 2, m->nc, err);
    if (!rc) rc = lookup_make(&j.triangle, m->coll_tri, m->nct, 3, m->nc, err);
    if (!rc && sides) rc = check_sides(&j, err);
    if (!rc && nodes) rc = check_faces(&j, err);
    if (!rc && nodes) rc = covered(&j, "shell", m->shell, m->nsh, 3, err);
    if (!rc && nodes) rc = covered(&j, "rod segment", m->rod, m->nrd, 2, err);
    if (!rc && nodes) rc = covered(&j, "particle", m->particle, m->np, 1, err);
    ABUT_FREE(j.vertex, j.edge.first, j.edge.list, j.triangle.first, j.triangle.list);
    return rc;
}
