#include "solve/step/step_parts.h"

#include "base/words.h"
#include "contact/intersect.h"
#include "model/naming.h"

#include <assert.h>
#include <stdio.h>

/* Bounds of terms are kept. */
static abut_status check_bounds(const abut_objective *p, const double *x, abut_status code, const char *when, abut_err *err)
{
    const abut_model *m = p->model;
    abut_bound_words w;
    char object[ABUT_OBJECT_WORDS], nodes[80] = "";
    if (!abut_objective_outside(p, x, &w)) return ABUT_OK;
    for (int i = 0, used = 0; i < w.corners; i++)
        used += snprintf(nodes + used, sizeof nodes - (size_t)used, "%s%d%s", i ? ", " : " (nodes ",
                         abut_node_number(m, w.node[i]), i + 1 < w.corners ? "" : ")");
    return abut_fail(err, code, "%s %d of %s%s: %s, %s", w.what, w.number, abut_object_words(m, w.object, object), nodes,
                     w.detail, when);
}

abut_status abut_step_check(const abut_objective *p, const abut_point *at, int joined, abut_status code, const char *when,
                              abut_err *err)
{
    assert(p);
    const abut_collmesh *cm = &p->cm;
    const abut_model *m = p->model;
    abut_intersection hit;
    size_t found = 0;
    abut_status rc = ABUT_OK;
    if (joined) found = abut_intersections_planes(cm, at->y, p->cm.obstacle, 1, &hit);
    else rc = abut_intersections_find(cm, at->y, p->cm.obstacle, 1, &hit, &found, err);
    if (rc) return rc;
    char one[ABUT_NODES_WORDS], two[ABUT_NODES_WORDS];
    if (found && hit.tri < 0)
        return abut_fail(err, code, "%s lies on or under %s %s", abut_collmesh_words(cm, &hit.vert, 1, one),
                         abut_half_space_words(m, hit.plane, two), when);
    if (found) {
        const int32_t *e = cm->edge + 2 * hit.edge, *t = cm->tri + 3 * hit.tri;
        abut_collmesh_words(cm, e, 2, one);
        abut_collmesh_words(cm, t, 3, two);
        return abut_fail(err, code, "%s touches %s %s (%zu such pair%s)", one, two, when, found, abut_s(found));
    }
    const int32_t tet = abut_inverted_find(m, at->x, 1);
    if (tet >= 0)
        return abut_fail(err, code, "tet %d of %s is inverted %s", abut_reordered_tet_number(p->reordered, tet),
                         abut_object_words(m, m->body[m->tet[4 * tet]], one), when);
    return check_bounds(p, at->x, code, when, err);
}
