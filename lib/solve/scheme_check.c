#include "solve/scheme_parts.h"

#include "contact/cross.h"
#include "energy/thin_limit.h"

/* Shells are inside their bounds. */
static abut_status check_bounds(const abut_solver *so, abut_status code, const char *when, abut_err *err)
{
    const abut_model *m = so->prob.model;
    abut_thin_excess e;
    if (!abut_thin_outside(&so->prob.thin, so->x, &e)) return ABUT_OK;
    const int32_t *n = m->shell + 3 * (size_t)e.shell;
    return abut_fail(err, code, "shell %d (object %d, nodes %d %d %d): %s %.9g, expected %s %.9g, %s", e.shell, m->body[n[0]],
                     n[0], n[1], n[2], e.what, e.value, e.below ? "more than" : "less than", e.limit, when);
}

abut_status abut_scheme_check(const abut_solver *so, int joined, abut_status code, const char *when, abut_err *err)
{
    const abut_collmesh *cm = &so->prob.cm;
    const abut_model *m = so->prob.model;
    abut_cross hit;
    size_t found = 0;
    abut_status rc = ABUT_OK;
    if (joined) found = abut_cross_planes(cm, so->y, so->prob.obstacle, 1, &hit);
    else rc = abut_cross_find(cm, so->y, so->prob.obstacle, 1, &hit, &found, err);
    if (rc) return rc;
    if (found && hit.tri < 0)
        return abut_fail(err, code, "node %d lies on or under half-space %d %s", cm->node[hit.vert], hit.plane, when);
    if (found) {
        const int32_t *e = cm->edge + 2 * hit.edge, *t = cm->tri + 3 * hit.tri, *n = cm->node;
        return abut_fail(err, code, "edge %d %d (object %d) touches triangle %d %d %d (object %d) %s (%zu such pairs)", n[e[0]],
                         n[e[1]], m->body[n[e[0]]], n[t[0]], n[t[1]], n[t[2]], m->body[n[t[0]]], when, found);
    }
    const int32_t tet = abut_inverted_find(m, so->x, 1);
    if (tet >= 0)
        return abut_fail(err, code, "tet %d (nodes %d %d %d %d) is inverted %s", abut_problem_tet(&so->prob, tet),
                         m->tet[4 * tet], m->tet[4 * tet + 1], m->tet[4 * tet + 2], m->tet[4 * tet + 3], when);
    return check_bounds(so, code, when, err);
}
