/* Tests without a broad phase: single elements, and triangles that share an edge. */
#include "judge/judge.h"

#include "base/order.h"
#include "base/par.h"
#include "geom/exact/predicates.h"
#include "geom/jacobian.h"
#include "model/tets.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const double *at(const double *x, int32_t node) { return x + 3 * (size_t)node; }

typedef const double (*places)[3];

/* 1 for a tet of order 2 and more: its sign at x0, or on the motion to x1. */
static int curved_sign(const abut_judge_shape *s, const double *x0, const double *x1, size_t tet, abut_jacobian_sign *sign,
                       abut_jacobian_at *at)
{
    double from[ABUT_TET_NODES_MAX][3], to[ABUT_TET_NODES_MAX][3];
    if (!s->curved || abut_tet_geometry_order(s->curved, (int32_t)tet) == 1) return 0;
    const int order = abut_tet_shape(s->curved, (int32_t)tet, x0, from);
    if (x1) abut_tet_shape(s->curved, (int32_t)tet, x1, to);
    *sign = x1 ? abut_jacobian_check_motion(order, (places)from, (places)to, at) : abut_jacobian_check(order, (places)from, at);
    return 1;
}

abut_status abut_judge_inverted(const abut_judge_shape *s, const double *x, int only_injective, abut_hits *out, abut_err *err)
{
    assert(s);
    for (size_t i = 0; i < s->tet.n; i++) {
        const int32_t *const n = s->tet.node + 4 * i;
        if (only_injective && !s->injective[i]) continue;
        abut_jacobian_sign sign;
        const int curved = curved_sign(s, x, NULL, i, &sign, NULL);
        if (curved && sign == ABUT_JACOBIAN_POSITIVE) continue;
        if (!curved && abut_orient3d(at(x, n[0]), at(x, n[1]), at(x, n[2]), at(x, n[3])) < 0) continue;
        const abut_hit hit = { ABUT_HIT_INVERTED, { n[0], n[1], n[2], n[3], -1 }, (int32_t)i, 0, 0 };
        const abut_status rc = abut_hits_add(out, &hit, err);
        if (rc) return rc;
    }
    return ABUT_OK;
}

/* 1: the tet loses its volume in the motion; fills the hit. */
static int inverts(const abut_judge_shape *s, const double *x0, const double *x1, size_t tet, abut_hit *hit)
{
    double p0[12], p1[12];
    const int32_t *const n = s->tet.node + 4 * tet;
    abut_jacobian_sign sign;
    abut_jacobian_at where = { .t = 0 };
    *hit = (abut_hit){ ABUT_HIT_INVERTED, { n[0], n[1], n[2], n[3], -1 }, (int32_t)tet, 0, 0 };
    if (curved_sign(s, x0, x1, tet, &sign, &where)) {
        hit->t_lo = hit->t_hi = where.t;
        return sign != ABUT_JACOBIAN_POSITIVE;
    }
    for (int k = 0; k < 4; k++) {
        memcpy(p0 + 3 * k, at(x0, n[k]), 3 * sizeof *p0);
        memcpy(p1 + 3 * k, at(x1, n[k]), 3 * sizeof *p1);
    }
    return abut_ccd_exact_inverts(p0, p1, &hit->t_lo, &hit->t_hi);
}

abut_status abut_judge_inverting(const abut_judge_shape *s, const double *x0, const double *x1, int only_injective,
                                 abut_hits *out, abut_err *err)
{
    abut_hit hit;
    abut_status rc = ABUT_OK;
    uint8_t *bad = calloc(s->tet.n + 1, 1);
    if (!bad) return abut_fail(err, ABUT_E_NOMEM, "judge: %zu tets", s->tet.n);
    #pragma omp parallel for schedule(static) private(hit) if (s->tet.n >= ABUT_PAR_MIN)
    for (size_t i = 0; i < s->tet.n; i++)
        bad[i] = (!only_injective || s->injective[i]) && inverts(s, x0, x1, i, &hit);
    for (size_t i = 0; i < s->tet.n && !rc; i++)
        if (bad[i] && inverts(s, x0, x1, i, &hit)) rc = abut_hits_add(out, &hit, err);
    free(bad);
    abut_hits_sort(out);
    return rc;
}

abut_status abut_judge_flat(const abut_judge_shape *s, const double *x, abut_hits *out, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (size_t i = 0; !rc && i < s->edge.n; i++) {
        const int32_t *const n = s->edge.node + 2 * i;
        const double *const a = at(x, n[0]), *const b = at(x, n[1]);
        const abut_hit hit = { ABUT_HIT_FLAT_EDGE, { n[0], n[1], -1, -1, -1 }, -1, 0, 0 };
        if (a[0] == b[0] && a[1] == b[1] && a[2] == b[2]) rc = abut_hits_add(out, &hit, err);
    }
    for (size_t i = 0; !rc && i < s->tri.n; i++) {
        const int32_t *const n = s->tri.node + 3 * i;
        const double *const p[3] = { at(x, n[0]), at(x, n[1]), at(x, n[2]) };
        int area = 0;
        for (int k = 0; k < 3 && !area; k++) {
            const int l = (k + 1) % 3;
            area = abut_orient2d((double[2]){ p[0][k], p[0][l] }, (double[2]){ p[1][k], p[1][l] },
                                 (double[2]){ p[2][k], p[2][l] });
        }
        const abut_hit hit = { ABUT_HIT_FLAT_TRI, { n[0], n[1], n[2], -1, -1 }, -1, 0, 0 };
        if (!area) rc = abut_hits_add(out, &hit, err);
    }
    return rc;
}

/* A side of a triangle, a < b, and the corner opposite */
typedef struct side {
    int32_t a, b, apex;
} side;

/* two triangles on the side p->a p->b; a duplicate is reported on its lowest side only */
static abut_status judge_wing(const abut_judge_shape *s, const double *x, const side *p, const side *q, abut_hits *out,
                              abut_err *err)
{
    if (s->still[p->a] && s->still[p->b] && s->still[p->apex] && s->still[q->apex]) return ABUT_OK;
    if (abut_judge_passes(s, p->a, p->b)) return ABUT_OK;
    if (p->apex == q->apex) {
        const abut_hit twice = { ABUT_HIT_DUPLICATE, { p->a, p->b, p->apex, -1, -1 }, -1, 0, 0 };
        return p->apex > p->b ? abut_hits_add(out, &twice, err) : ABUT_OK;
    }
    const double *const a = at(x, p->a), *const b = at(x, p->b), *const c = at(x, p->apex), *const d = at(x, q->apex);
    /* the touches add triangles without area, whose apex lies on the common edge */
    if (!abut_fold_over(a, b, c, d) && !abut_touch_point_tri(c, a, b, d) && !abut_touch_point_tri(d, a, b, c)) return ABUT_OK;
    const abut_hit fold = { ABUT_HIT_FOLD, { p->a, p->b, p->apex, q->apex, -1 }, -1, 0, 0 };
    return abut_hits_add(out, &fold, err);
}

abut_status abut_judge_folds(const abut_judge_shape *s, const double *x, abut_hits *out, abut_err *err)
{
    const size_t n = 3 * s->tri.n;
    side *side_of = malloc((n + 1) * sizeof *side_of);
    if (!side_of) return abut_fail(err, ABUT_E_NOMEM, "judge: %zu sides of triangles", n);
    for (size_t i = 0; i < n; i++) {
        const int32_t *const t = s->tri.node + 3 * (i / 3);
        const int32_t a = t[i % 3], b = t[(i + 1) % 3];
        side_of[i] = (side){ a < b ? a : b, a < b ? b : a, t[(i + 2) % 3] };
    }
    qsort(side_of, n, sizeof *side_of, abut_by_three);
    abut_status rc = ABUT_OK;
    for (size_t i = 0; !rc && i < n; i++)
        for (size_t j = i + 1; !rc && j < n && side_of[j].a == side_of[i].a && side_of[j].b == side_of[i].b; j++)
            rc = judge_wing(s, x, &side_of[i], &side_of[j], out, err);
    free(side_of);
    return rc;
}
