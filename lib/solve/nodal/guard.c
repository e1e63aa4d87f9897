#include "solve/nodal/guard.h"

#include "model/naming.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

abut_status abut_guard_init(abut_guard *g, const abut_model *m, const abut_collmesh *cm, abut_err *err)
{
    *g = (abut_guard){ .model = m, .cm = cm };
    const abut_status rc = abut_judge_shape_model(&g->shape, m, err);
    if (rc) return rc;
    g->room0 = malloc(3 * ((size_t)g->shape.nv + 1) * sizeof *g->room0);
    g->room1 = malloc(3 * ((size_t)g->shape.nv + 1) * sizeof *g->room1);
    if (g->room0 && g->room1) return ABUT_OK;
    abut_guard_clear(g);
    return abut_fail(err, ABUT_E_NOMEM, "judge of a step: %d points", m->nv);
}

void abut_guard_clear(abut_guard *g)
{
    abut_judge_shape_clear(&g->shape);
    abut_hits_clear(&g->hits);
    free(g->room0);
    free(g->room1);
    *g = (abut_guard){ 0 };
}

abut_status abut_guard_place(abut_guard *g, const double *x, int *clean, abut_err *err)
{
    assert(g->model);
    const abut_judge_opts opts = abut_judge_defaults();
    const double *y;
    *clean = 0;
    abut_status rc = abut_judge_points(&g->shape, x, g->room0, &y, err);
    if (!rc) rc = abut_judge_static(&g->shape, y, &g->hits, err);
    if (!rc) rc = abut_judge_near(&g->shape, y, &opts, &g->hits, err);
    if (!rc) rc = abut_judge_inverted(&g->shape, y, 1, &g->hits, err);
    *clean = !rc && g->hits.n == 0;
    return rc;
}

abut_status abut_guard_motion(abut_guard *g, const double *x0, const double *x1, int *clean, abut_err *err)
{
    assert(g->model);
    const abut_judge_opts opts = abut_judge_defaults();
    const double *y0, *y1;
    *clean = 0;
    abut_status rc = abut_judge_points(&g->shape, x0, g->room0, &y0, err);
    if (!rc) rc = abut_judge_points(&g->shape, x1, g->room1, &y1, err);
    if (!rc) rc = abut_judge_motion(&g->shape, y0, y1, &opts, &g->hits, err);
    if (!rc) rc = abut_judge_inverting(&g->shape, y0, y1, 1, &g->hits, err);
    if (!rc) abut_hits_sort(&g->hits);
    *clean = !rc && g->hits.n == 0;
    return rc;
}

/* n points of the shape by the nodes of the model that they are, or are sums of. */
static const char *points(const abut_guard *g, const int32_t *point, int n, char buf[ABUT_NODES_WORDS])
{
    int32_t node[5] = { -1, -1, -1, -1, -1 };
    const int32_t nv = g->model->nv;
    for (int k = 0; k < n; k++) node[k] = point[k] < nv ? point[k] : abut_collmesh_node(g->cm, point[k] - nv);
    return abut_nodes_words(g->model, node, n, buf);
}

const char *abut_guard_words(const abut_guard *g, char text[ABUT_GUARD_WORDS])
{
    char one[ABUT_NODES_WORDS], two[ABUT_NODES_WORDS], more[48] = "";
    if (!g->hits.n) return snprintf(text, ABUT_GUARD_WORDS, "nothing meets"), text;
    const abut_hit *h = &g->hits.hit[0];
    int first;
    const int n = abut_hit_nodes(h->kind, &first);
    if (g->hits.n > 1) snprintf(more, sizeof more, " (and %zu more)", g->hits.n - 1);
    if (h->kind == ABUT_HIT_INVERTED) {
        snprintf(text, ABUT_GUARD_WORDS, "tet %d of %s inverts after %.3g of the step%s",
                 abut_element_number(g->model, g->model->tet, 4, h->item),
                 abut_object_words(g->model, g->model->body[h->node[0]], one), h->t_lo, more);
        return text;
    }
    points(g, h->node, first, one);
    if (h->kind == ABUT_HIT_PLANE) (void)abut_half_space_words(g->model, h->item, two);
    else if (h->kind == ABUT_HIT_POINT_BODY) (void)abut_object_words(g->model, h->item, two);
    else points(g, h->node + first, n - first, two);
    snprintf(text, ABUT_GUARD_WORDS, "%s and %s meet after %.3g of the step%s", one, two, h->t_lo, more);
    return text;
}
