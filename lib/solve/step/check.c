#include "solve/step/step_parts.h"

#include "contact/intersect.h"
#include "energy/codim_bound.h"
#include "energy/codim_term.h"
#include "model/naming.h"

#include <assert.h>

/* Shells are inside their bounds. */
static abut_status check_bounds(const abut_objective *p, const double *x, abut_status code, const char *when, abut_err *err)
{
    const abut_model *m = p->model;
    abut_codim_excess e;
    if (!abut_codim_outside(abut_codim_of(&p->terms), x, &e)) return ABUT_OK;
    const int32_t *n = m->shell + 3 * (size_t)e.shell;
    char object[ABUT_OBJECT_WORDS];
    return abut_fail(err, code, "shell %d of %s (nodes %d, %d, %d): %s %.9g, expected %s %.9g, %s",
                     abut_element_number(m, m->shell, 3, e.shell), abut_object_words(m, m->body[n[0]], object),
                     abut_node_number(m, n[0]), abut_node_number(m, n[1]), abut_node_number(m, n[2]), e.what, e.value,
                     e.below ? "more than" : "less than", e.limit, when);
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
        return abut_fail(err, code, "%s touches %s %s (%zu such pairs)", one, two, when, found);
    }
    const int32_t tet = abut_inverted_find(m, at->x, 1);
    if (tet >= 0)
        return abut_fail(err, code, "tet %d of %s is inverted %s", abut_reordered_tet_number(p->reordered, tet),
                         abut_object_words(m, m->body[m->tet[4 * tet]], one), when);
    return check_bounds(p, at->x, code, when, err);
}
