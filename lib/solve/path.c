#include "solve/path.h"

#include "base/par.h"
#include "geom/ccd.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Points are kept up to this many bytes; then the way is shortened in between. */
#define MOST_BYTES ((size_t)256 << 20)

static void forget(abut_path *p)
{
    for (int i = 0; i < p->n; i++) free(p->point[i]);
    p->n = 0;
}

void abut_path_clear(abut_path *p)
{
    forget(p);
    free(p->point);
    free(p->from);
    free(p->y0);
    free(p->y1);
    abut_candidates_clear(&p->cand);
    *p = (abut_path){ 0 };
}

static abut_status append(abut_path *p, const double *x, abut_err *err)
{
    if (p->n == p->cap) {
        const int cap = p->cap ? 2 * p->cap : 16;
        double **grown = realloc(p->point, (size_t)cap * sizeof *grown);
        if (!grown) return abut_fail(err, ABUT_E_NOMEM, "way of a step: %d points", cap);
        p->point = grown;
        p->cap = cap;
    }
    double *copy = malloc(p->n3 * sizeof *copy);
    if (!copy) return abut_fail(err, ABUT_E_NOMEM, "way of a step: %zu numbers", p->n3);
    memcpy(copy, x, p->n3 * sizeof *copy);
    p->point[p->n++] = copy;
    return ABUT_OK;
}

abut_status abut_path_start(abut_path *p, const abut_collmesh *cm, const double *x, abut_err *err)
{
    const size_t nc3 = 3 * (size_t)cm->nc + 1;
    forget(p);
    p->n3 = 3 * (size_t)cm->model->nv;
    if (!p->from) p->from = malloc(nc3 * sizeof *p->from);
    if (!p->y0) p->y0 = malloc(nc3 * sizeof *p->y0);
    if (!p->y1) p->y1 = malloc(nc3 * sizeof *p->y1);
    if (!p->from || !p->y0 || !p->y1) return abut_fail(err, ABUT_E_NOMEM, "way of a step: %d vertices", cm->nc);
    abut_collmesh_gather(cm, x, p->from);
    return append(p, x, err);
}

abut_status abut_path_add(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed, const double *x,
                          abut_nearby *near, abut_err *err)
{
    if ((size_t)p->n * p->n3 * sizeof(double) > MOST_BYTES) {
        const abut_status rc = abut_path_shorten(p, cm, fixed, near, err);
        if (rc) return rc;
    }
    return append(p, x, err);
}

/* One block of a candidate list: does any pair touch along y0 -> y1? */
static int block_touches(const abut_path *p, const abut_collmesh *cm, abut_stencil kind, abut_range r)
{
    const abut_pair_list *list = kind == ABUT_EE ? &p->cand.ee : &p->cand.vt;
    for (size_t i = r.lo; i < r.hi; i++) {
        const int32_t a = list->ij[i][0], b = list->ij[i][1];
        const int32_t *e = cm->edge, *t = cm->tri + 3 * b;
        const int32_t v[4] = { kind == ABUT_EE ? e[2 * a] : a, kind == ABUT_EE ? e[2 * a + 1] : t[0],
                               kind == ABUT_EE ? e[2 * b] : t[1], kind == ABUT_EE ? e[2 * b + 1] : t[2] };
        double x0[12], x1[12];
        for (int k = 0; k < 4; k++) {
            memcpy(x0 + 3 * k, p->y0 + 3 * v[k], 3 * sizeof *x0);
            memcpy(x1 + 3 * k, p->y1 + 3 * v[k], 3 * sizeof *x1);
        }
        if (abut_ccd_exact(kind, x0, x1, NULL, NULL)) return 1;
    }
    return 0;
}

static int list_touches(const abut_path *p, const abut_collmesh *cm, abut_stencil kind)
{
    const size_t n = kind == ABUT_EE ? p->cand.ee.n : p->cand.vt.n, nb = abut_blocks(n);
    atomic_int hit = 0;   /* an answer yes does not depend on who finds it */
    #pragma omp parallel for schedule(dynamic, 1) if (nb > 2)
    for (size_t b = 0; b < nb; b++)
        if (!atomic_load(&hit) && block_touches(p, cm, kind, abut_block(n, b))) atomic_store(&hit, 1);
    return atomic_load(&hit);
}

/* Half-spaces need no test: both ends are above them, and so is the line between. */
static abut_status line_is_free(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed, int from, int to,
                                abut_nearby *near, int *free_, abut_err *err)
{
    abut_collmesh_gather(cm, p->point[from], p->y0);
    abut_collmesh_gather(cm, p->point[to], p->y1);
    const abut_status rc = abut_candidates_near(cm, p->from, p->y0, p->y1, 0, fixed, near, &p->cand, err);
    if (!rc) *free_ = !list_touches(p, cm, ABUT_PT) && !list_touches(p, cm, ABUT_EE);
    return rc;
}

static void drop(abut_path *p, int from, int to)
{
    for (int i = from; i < to; i++) free(p->point[i]);
    memmove(p->point + from, p->point + to, (size_t)(p->n - to) * sizeof *p->point);
    p->n -= to - from;
}

abut_status abut_path_shorten(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed, abut_nearby *near,
                              abut_err *err)
{
    int is_free = 0;
    if (p->n <= 2) return ABUT_OK;
    abut_status rc = line_is_free(p, cm, fixed, 0, p->n - 1, near, &is_free, err);
    if (rc || is_free) {
        if (!rc) drop(p, 1, p->n - 1);
        return rc;
    }
    for (int base = 0, next = 1; next + 1 < p->n && !rc;) {
        rc = line_is_free(p, cm, fixed, base, next + 1, near, &is_free, err);
        if (rc) break;
        if (is_free)
            drop(p, next, next + 1);
        else
            base = next++;
    }
    return rc;
}
