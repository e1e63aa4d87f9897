#include "model/check.h"

#include "base/order.h"
#include "base/words.h"
#include "mesh/surface.h"
#include "model/motion.h"
#include "model/schemes.h"
#include "model/tets.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

abut_status abut_check_indices(const char *name, const int32_t *v, int32_t n, int width, int32_t low, int32_t high,
                               abut_err *err)
{
    const size_t total = (size_t)n * (size_t)width;
    for (size_t i = 0; i < total; i++)
        if (v[i] < low || v[i] >= high)
            return abut_fail(err, ABUT_E_FORMAT, "array '%s' row %zu: %d, expected %d <= value < %d", name,
                             i / (size_t)width, v[i], low, high);
    return ABUT_OK;
}

abut_status abut_check_domain(const char *name, const double *v, size_t n, double low, int closed, double high,
                              abut_err *err)
{
    for (size_t i = 0; i < n; i++)
        if (!(closed ? v[i] >= low : v[i] > low) || !(v[i] < high))
            return abut_fail(err, ABUT_E_FORMAT, "array '%s' row %zu: %.17g, expected %g %s value < %g", name, i, v[i],
                             low, closed ? "<=" : "<", high);
    return ABUT_OK;
}

abut_status abut_check_units(const char *name, const double *v, size_t n, double tol, abut_err *err)
{
    for (size_t i = 0; i < n; i++) {
        const double *p = v + 3 * i, length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
        if (!(fabs(length - 1) <= tol))
            return abut_fail(err, ABUT_E_FORMAT, "array '%s' row %zu: length %.17g, expected 1 within %g", name, i,
                             length, tol);
    }
    return ABUT_OK;
}

abut_status abut_check_near(const char *name, const double *v, int32_t n, abut_err *err)
{
    for (size_t i = 0; v && i < 3 * (size_t)n; i++)
        if (!(fabs(v[i]) <= ABUT_FARTHEST))
            return abut_fail(err, ABUT_E_FORMAT, "array '%s' row %zu: %g, expected a number between -%g and %g", name, i / 3,
                             v[i], ABUT_FARTHEST, ABUT_FARTHEST);
    return ABUT_OK;
}

/* ---- the arrays of a model ---- */

#define DISTANCE_MOST 1e30      /* m, within which pairs are looked for: boxes of floats hold it */

/* Numbers of what has these names. */
static abut_status law(const char *name, const int32_t *v, int32_t n, const char *const *names, abut_err *err)
{
    return abut_check_indices(name, v, n, 1, 0, abut_names_count(names), err);
}

static abut_status distinct(const char *name, const int32_t *v, int32_t n, int width, abut_err *err)
{
    for (int32_t i = 0; i < n; i++)
        for (int a = 0; a < width; a++)
            for (int b = a + 1; b < width; b++) {
                const int32_t *row = v + (size_t)i * (size_t)width;
                if (row[a] == row[b])
                    return abut_fail(err, ABUT_E_FORMAT, "array '%s' row %d: %d twice, expected distinct indices", name,
                                     i, row[a]);
            }
    return ABUT_OK;
}

static abut_status check_nodes(const abut_model *m, abut_err *err)
{
    abut_status rc;
    if ((rc = abut_check_near("node/X", m->X, m->nv, err))) return rc;
    if (m->nv < 1) return abut_fail(err, ABUT_E_FORMAT, "array 'node/X' has no rows, expected a node or more");
    if ((rc = abut_check_indices("node/role", m->role, m->nv, 1, 0, ABUT_NODE_OBSTACLE + 1, err)) ||
        (rc = abut_check_indices("node/object", m->body, m->nv, 1, 0, m->no, err)) ||
        (rc = abut_check_indices("object/friction", m->obj_friction, m->no, 1, 0, m->ng, err)))
        return rc;
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
    abut_status rc;
    const size_t nm = (size_t)m->nm;
    if ((m->mat_fibre && (rc = abut_check_domain("material/fibre", m->mat_fibre, nm, 0, 1, INFINITY, err))) ||
        (m->mat_volume && (rc = abut_check_domain("material/volume", m->mat_volume, nm, 0, 1, INFINITY, err))))
        return rc;
    for (size_t i = 0; m->mat_stretch && i < nm; i++) {
        const double *s = m->mat_stretch + 3 * i;
        if (!(s[0] >= 0 && s[1] >= 0 && s[1] <= 1 && s[2] >= 1))
            return abut_fail(err, ABUT_E_FORMAT,
                             "array 'material/stretch' row %zu: %g, %g, %g, expected a stiffness of 0 or more and "
                             "0 <= low <= 1 <= high",
                             i, s[0], s[1], s[2]);
    }
    if (m->mat_fibre && m->nt && !m->tet_fibre)
        return abut_fail(err, ABUT_E_FORMAT, "array 'tet/fibre' is missing: there is 'material/fibre'");
    for (int32_t t = 0; m->tet_fibre && t < m->nt; t++) {
        const double *d = m->tet_fibre + 3 * (size_t)t, n2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        if (!(fabs(n2 - 1) < 1e-9))
            return abut_fail(err, ABUT_E_FORMAT, "array 'tet/fibre' row %d: length %.17g, expected 1", t, sqrt(n2));
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
    const size_t nm = (size_t)m->nm;
    if ((rc = abut_check_indices("tet/node", m->tet, m->nt, 4, 0, m->nv, err)) ||
        (rc = distinct("tet/node", m->tet, m->nt, 4, err)) ||
        (rc = abut_check_indices("tet/material", m->tet_mat, m->nt, 1, 0, m->nm, err)) ||
        (rc = law("material/model", m->mat_model, m->nm, abut_material_names, err)) ||
        (rc = abut_check_domain("material/density", m->mat_density, nm, 0, 0, INFINITY, err)) ||
        (rc = abut_check_domain("material/young", m->mat_young, nm, 0, 0, INFINITY, err)) ||
        (rc = abut_check_domain("material/poisson", m->mat_poisson, nm, -1, 0, 0.5, err)))
        return rc;
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
    if (m->nc && !m->map_first && (!m->coll_node || m->map_offset))
        return abut_fail(err, ABUT_E_FORMAT, "array 'contact/map-first' is missing: 'contact/offset' has %d row%s", m->nc,
                         abut_s(m->nc));
    if (m->nmap && !m->map_first)
        return abut_fail(err, ABUT_E_FORMAT, "array 'contact/map-first' is missing: 'contact/map-node' has %d row%s", m->nmap,
                         abut_s(m->nmap));
    abut_status rc = ABUT_OK;
    if (m->coll_node) rc = abut_check_indices("contact/node", m->coll_node, m->nc, 1, 0, m->nv, err);
    if (!rc && m->map_first) rc = abut_check_indices("contact/map-node", m->map_node, m->nmap, 1, 0, m->nv, err);
    if (!rc) rc = abut_check_near("contact/offset", m->map_offset, m->nc, err);
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

static abut_status check_contact(const abut_model *m, abut_err *err)
{
    abut_status rc;
    const size_t nh = (size_t)m->nh, ng = (size_t)m->ng;
    if ((rc = check_vertices(m, err)) ||
        (rc = abut_check_indices("contact/edge", m->coll_edge, m->nce, 2, 0, m->nc, err)) || (rc = check_edges(m, err)) ||
        (rc = abut_check_indices("contact/triangle", m->coll_tri, m->nct, 3, 0, m->nc, err)) ||
        (rc = distinct("contact/triangle", m->coll_tri, m->nct, 3, err)) ||
        (rc = abut_check_units("half-space/normal", m->hs_normal, nh, 1e-9, err)) ||
        (rc = abut_check_indices("half-space/friction", m->hs_friction, m->nh, 1, 0, m->ng, err)) ||
        (rc = abut_check_domain("contact/mu", m->mu, ng * ng, 0, 1, INFINITY, err)))
        return rc;
    for (size_t i = 0; i < ng; i++)
        for (size_t j = 0; j < i; j++)
            if (m->mu[i * ng + j] != m->mu[j * ng + i])
                return abut_fail(err, ABUT_E_FORMAT, "array 'contact/mu' row %zu: %.17g for class %zu, expected %.17g as "
                                 "the other way round", i, m->mu[i * ng + j], j, m->mu[j * ng + i]);
    return ABUT_OK;
}

static abut_status check_attachments(const abut_model *m, abut_err *err)
{
    abut_status rc;
    if ((rc = abut_check_indices("attachment/node", m->attach_node, m->na, 5, -1, m->nv, err)) ||
        (rc = abut_check_domain("attachment/stiffness", m->attach_stiffness, (size_t)m->na, 0, 0, INFINITY, err)))
        return rc;
    for (int32_t i = 0; i < m->na; i++) {
        const int32_t *v = m->attach_node + 5 * (size_t)i;
        if (v[0] < 0 || m->role[v[0]] == ABUT_NODE_OBSTACLE)
            return abut_fail(err, ABUT_E_FORMAT, "array 'attachment/node' row %d: starts with %d, expected a node of a body", i,
                             v[0]);
        for (int a = 0; a < 5; a++)
            for (int b = 0; b < a; b++)
                if (v[a] >= 0 && v[a] == v[b])
                    return abut_fail(err, ABUT_E_FORMAT, "array 'attachment/node' row %d: %d twice, expected distinct nodes", i,
                                     v[a]);
    }
    return ABUT_OK;
}

static abut_status check_shells(const abut_model *m, abut_err *err)
{
    abut_status rc;
    const size_t ns = (size_t)m->nsh;
    if ((rc = abut_check_indices("shell/node", m->shell, m->nsh, 3, 0, m->nv, err)) ||
        (rc = distinct("shell/node", m->shell, m->nsh, 3, err)) ||
        (rc = abut_check_indices("shell/material", m->shell_mat, m->nsh, 1, 0, m->nm, err)) ||
        (rc = abut_check_domain("shell/thickness", m->shell_thick, ns, 0, 0, INFINITY, err)) ||
        (rc = abut_check_indices("hinge/node", m->hinge, m->nhg, 4, 0, m->nv, err)) ||
        (rc = distinct("hinge/node", m->hinge, m->nhg, 4, err)) ||
        (rc = abut_check_domain("hinge/stiffness", m->hinge_stiffness, (size_t)m->nhg, 0, 1, INFINITY, err)))
        return rc;
    for (size_t i = 0; i < ns; i++) {
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

static abut_status check_rods(const abut_model *m, abut_err *err)
{
    abut_status rc;
    const size_t nr = (size_t)m->nrd;
    if ((rc = abut_check_indices("rod/node", m->rod, m->nrd, 2, 0, m->nv, err)) ||
        (rc = distinct("rod/node", m->rod, m->nrd, 2, err)) ||
        (rc = abut_check_indices("rod/material", m->rod_mat, m->nrd, 1, 0, m->nm, err)) ||
        (rc = abut_check_domain("rod/radius", m->rod_radius, nr, 0, 0, INFINITY, err)) ||
        (rc = abut_check_domain("rod/length", m->rod_length, nr, 0, 0, INFINITY, err)) ||
        (rc = abut_check_indices("bend/node", m->bend, m->nbd, 3, 0, m->nv, err)) ||
        (rc = distinct("bend/node", m->bend, m->nbd, 3, err)) ||
        (rc = abut_check_domain("bend/stiffness", m->bend_stiffness, (size_t)m->nbd, 0, 1, INFINITY, err)) ||
        (m->rod_twist && !m->rod_curvature &&
         (rc = abut_fail(err, ABUT_E_FORMAT, "array 'rod/curvature' is missing: 'rod/twist' is there"))) ||
        (rc = abut_check_indices("particle/node", m->particle, m->np, 1, 0, m->nv, err)) ||
        (rc = abut_check_domain("particle/radius", m->particle_radius, (size_t)m->np, 0, 0, INFINITY, err)))
        return rc;
    return ABUT_OK;
}

static abut_status check_springs(const abut_model *m, abut_err *err)
{
    abut_status rc;
    const size_t n = (size_t)m->nsp;
    if ((rc = abut_check_indices("spring/node", m->spring, m->nsp, 2, 0, m->nv, err)) ||
        (rc = distinct("spring/node", m->spring, m->nsp, 2, err)) ||
        (rc = abut_check_domain("spring/length", m->spring_length, n, 0, 0, INFINITY, err)))
        return rc;
    return abut_check_domain("spring/stiffness", m->spring_stiffness, n, 0, 0, INFINITY, err);
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
    if (m->mat_membrane) rc = abut_check_indices("material/membrane", m->mat_membrane, m->nm, 1, 0, ABUT_MEMBRANES, err);
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
        if (cloth) rc = abut_check_domain("material/strain-limit", m->mat_strain + 3 * (size_t)i, 3, 0, 0, INFINITY, err);
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

/* Lengths and masses of bodies, and their parts of dhat. */
static abut_status check_sizes(const abut_model *m, abut_err *err)
{
    const size_t n = (size_t)m->no;
    if (!m->obj_length != !m->obj_node_mass)
        return abut_fail(err, ABUT_E_FORMAT, "array '%s' is missing: bodies have a length and a mean mass of their nodes",
                         m->obj_length ? "object/node-mass" : "object/length");
    abut_status rc = m->obj_length ? abut_check_domain("object/length", m->obj_length, n, 0, 1, DISTANCE_MOST, err) : ABUT_OK;
    if (!rc && m->obj_length) rc = abut_check_domain("object/node-mass", m->obj_node_mass, n, 0, 1, INFINITY, err);
    if (!rc && m->obj_dhat) rc = abut_check_domain("object/dhat-part", m->obj_dhat, n, 0, 0, nextafter(1, 2), err);
    for (int32_t i = 0; i < m->no && !rc && m->obj_length; i++)
        if ((m->obj_length[i] > 0) != (m->obj_node_mass[i] > 0))
            rc = abut_fail(err, ABUT_E_FORMAT, "array 'object/node-mass' row %d: %g kg, and 'object/length' %g m, expected both "
                           "above 0 or none", i, m->obj_node_mass[i], m->obj_length[i]);
    return rc;
}

static abut_status check_thickness(const abut_model *m, abut_err *err)
{
    if (!m->obj_thick) return ABUT_OK;
    abut_status rc = abut_check_domain("object/thickness", m->obj_thick, (size_t)m->no, 0, 1, DISTANCE_MOST, err);
    if (!rc) rc = one_thickness(m, "contact/edge", m->coll_edge, m->nce, 2, err);
    if (!rc) rc = one_thickness(m, "contact/triangle", m->coll_tri, m->nct, 3, err);
    return rc;
}

static abut_status check_codim(const abut_model *m, abut_err *err)
{
    abut_status rc;
    const size_t no = (size_t)m->no;
    if ((rc = check_shells(m, err)) || (rc = check_rods(m, err)) || (rc = check_springs(m, err)) || (rc = check_fabric(m, err)) ||
        (rc = check_thickness(m, err)) ||
        (m->obj_drag && (rc = abut_check_domain("object/drag", m->obj_drag, no, 0, 1, INFINITY, err))))
        return rc;
    return ABUT_OK;
}

/* Checks the parameters of solvers without a barrier. */
static abut_status check_nodal(const abut_model *m, abut_err *err)
{
    const size_t pairs = (size_t)m->ng * (size_t)m->ng;
    const struct { const char *name; const double *at; size_t n; int or_zero, is_distance; } reals[] = {
        { "nodal/tolerance", m->nodal_tolerance, 1, 0, 0 },      { "nodal/gap", m->nodal_gap, 1, 0, 1 },
        { "nodal/beta", m->nodal_beta, 1, 0, 0 },                { "nodal/sigma", m->nodal_sigma, 1, 0, 0 },
        { "nodal/freeze", m->nodal_freeze, 1, 1, 0 },            { "nodal/compliance", m->nodal_compliance, 1, 0, 0 },
        { "nodal/cohesion-force", m->cohesion_force, pairs, 1, 0 }, { "nodal/cohesion-range", m->cohesion_range, pairs, 1, 1 },
        { "sqp/offset", m->sqp_offset, 1, 1, 1 },
    };
    const struct { const char *name; const int32_t *at; int32_t lo, hi; } wholes[] = {
        { "solve/solver", m->solver, 0, ABUT_SOLVED_BY },
        { "nodal/newton", m->nodal_newton, 1, ABUT_NODAL_MOST + 1 },
        { "nodal/iterations", m->nodal_iterations, 1, ABUT_NODAL_MOST + 1 },
        { "nodal/sweeps", m->nodal_sweeps, 1, ABUT_NODAL_MOST + 1 },
        { "nodal/return", m->nodal_return, 0, 2 }, { "nodal/integrator", m->nodal_integrator, 0, 2 },
        { "nodal/accelerated", m->nodal_accelerated, 0, 2 }, { "sqp/constraints", m->sqp_constraints, 0, ABUT_CONSTRAINTS },
        { "sqp/active-set", m->sqp_active_set, 0, ABUT_ACTIVE_SETS },
    };
    abut_status rc = ABUT_OK;
    for (size_t i = 0; i < sizeof reals / sizeof *reals && !rc; i++)
        if (reals[i].at)
            rc = abut_check_domain(reals[i].name, reals[i].at, reals[i].n, 0, reals[i].or_zero,
                                   reals[i].is_distance ? DISTANCE_MOST : INFINITY, err);
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes && !rc; i++)
        if (wholes[i].at) rc = abut_check_indices(wholes[i].name, wholes[i].at, 1, 1, wholes[i].lo, wholes[i].hi, err);
    if (rc || !m->cohesion_force == !m->cohesion_range) return rc;
    return abut_fail(err, ABUT_E_FORMAT, "array '%s' is missing: cohesion has a force and a range",
                     m->cohesion_force ? "nodal/cohesion-range" : "nodal/cohesion-force");
}

static abut_status check_parameters(const abut_model *m, abut_err *err)
{
    abut_status rc;
    if ((rc = abut_check_domain("time/step", m->h, 1, 0, 0, INFINITY, err)) ||
        (rc = abut_check_domain("scene/length", m->length, 1, 0, 0, INFINITY, err)) ||
        (rc = abut_check_domain("contact/dhat", m->dhat, 1, 0, 0, DISTANCE_MOST, err)) ||
        (rc = abut_check_domain("contact/eps-v", m->eps_v, 1, 0, 0, INFINITY, err)) ||
        (m->scheme && (rc = abut_check_indices("time/scheme", m->scheme, 1, 1, 0, ABUT_ALL_SCHEMES, err))) ||
        (m->newmark_gamma &&
         (rc = abut_check_domain("time/newmark-gamma", m->newmark_gamma, 1, ABUT_NEWMARK_GAMMA, 1, INFINITY, err))) ||
        (m->newmark_beta &&
         (rc = abut_check_domain("time/newmark-beta", m->newmark_beta, 1,
                                 0.5 * (m->newmark_gamma ? *m->newmark_gamma : ABUT_NEWMARK_GAMMA), 1, INFINITY, err))) ||
        (m->damp_mass && (rc = abut_check_domain("damping/mass", m->damp_mass, 1, 0, 1, INFINITY, err))) ||
        (m->damp_stiffness && (rc = abut_check_domain("damping/stiffness", m->damp_stiffness, 1, 0, 1, INFINITY, err))) ||
        (m->continuity && (rc = law("contact/barrier-continuity", m->continuity, 1, abut_barrier_names, err))) ||
        (m->barrier_filter && (rc = abut_check_domain("contact/barrier-filter", m->barrier_filter, 1, 0, 1, 1, err))) ||
        (m->mollifier && (rc = abut_check_indices("contact/mollifier", m->mollifier, 1, 1, 0, 2, err))) ||
        (m->bodies_meet && (rc = abut_check_indices("contact/bodies", m->bodies_meet, 1, 1, 0, 2, err))) ||
        (m->smoothing && (rc = law("contact/friction-smoothing", m->smoothing, 1, abut_friction_names, err))) ||
        (rc = abut_check_indices("contact/lags", m->lags, 1, 1, 0, INT32_MAX, err)) ||
        (rc = abut_check_domain("solve/tolerance", m->tolerance, 1, 0, 0, INFINITY, err)) ||
        (m->stiffen_below && (rc = abut_check_domain("contact/stiffen-below", m->stiffen_below, 1, 0, 0, INFINITY, err))) ||
        (m->force_tolerance && (rc = abut_check_domain("solve/force-tolerance", m->force_tolerance, 1, 0, 0, INFINITY, err))) ||
        (rc = abut_check_domain("contact/kappa-min", m->kappa_min, 1, 0, 1, INFINITY, err)) ||
        (rc = abut_check_domain("contact/kappa-max", m->kappa_max, 1, *m->kappa_min, 1, INFINITY, err)))
        return rc;
    return ABUT_OK;
}

abut_status abut_model_check(const abut_model *m, abut_err *err)
{
    abut_status rc;
    if ((rc = check_nodes(m, err)) || (rc = check_elements(m, err)) || (rc = check_contact(m, err)) ||
        (rc = abut_check_motions(m, err)) || (rc = abut_check_pressures(m, err)) || (rc = check_attachments(m, err)) ||
        (rc = check_codim(m, err)) || (rc = check_nodal(m, err)) || (rc = check_sizes(m, err)))
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
    abut_status rc = abut_surface_triangles(j->m->tet, j->m->nt, j->m->nv, &face, &n, err);
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
    free(j.vertex);
    free(j.edge.first);
    free(j.edge.list);
    free(j.triangle.first);
    free(j.triangle.list);
    return rc;
}
