/* Candidates and contacts one at a time, for a GPU: the tests of contact/candidates.h and contact/pairs.c for one pair. */
#ifndef ABUT_CONTACT_NEAR_INLINE_H
#define ABUT_CONTACT_NEAR_INLINE_H

#include "geom/dist_inline.h"

#include <stdint.h>

/** Vertices of a pair of primitives, -1 unused. */
ABUT_FN void abut_near_vertices(abut_stencil s, const int32_t *edge, const int32_t *tri, int32_t i, int32_t j, int32_t v[4])
{
    const int32_t *b = s == ABUT_PT ? tri + 3 * (size_t)j : edge + 2 * (size_t)j;
    v[0] = s == ABUT_EE ? edge[2 * (size_t)i] : i;
    v[1] = s == ABUT_EE ? edge[2 * (size_t)i + 1] : s == ABUT_PP ? j : b[0];
    v[2] = s == ABUT_PP ? -1 : s == ABUT_EE ? b[0] : b[1];
    v[3] = s == ABUT_EE ? b[1] : s == ABUT_PT ? b[2] : -1;
}

/** Thickness of a stencil: the mean of its two primitives'. */
ABUT_FN double abut_near_xi(abut_stencil s, const double *xi, const int32_t *v)
{
    return xi ? 0.5 * (xi[v[0]] + xi[v[abut_stencil_second(s)]]) : 0;
}

/** Points of a stencil; unused points are not written. */
ABUT_FN void abut_near_points(const double *y, const int32_t *v, int n, double x[12])
{
    for (int k = 0; k < n; k++)
        for (int c = 0; c < 3; c++) x[3 * k + c] = y[3 * (size_t)v[k] + (size_t)c];
}

/* Classes of contacts: plain stencils of each kind, then mollified edge pairs. */
enum { ABUT_TOUCH_MOLLIFIED = 4, ABUT_TOUCH_CLASSES = 5 };

/* A contact before merging. */
typedef struct abut_touch {
    int32_t v[4];
    int touch_class;
    double dist2, eps_x;
} abut_touch;

ABUT_FN void touch_swap_if_less(int32_t *a, int32_t *b)
{
    if (*b >= *a) return;
    const int32_t t = *a;
    *a = *b;
    *b = t;
}

/* The active feature f of points x, vertices v, in its one canonical order, so that equal stencils are equal to the bit wherever
 * they come from. */
ABUT_FN void touch_reduce(const abut_feature *f, const int32_t *v, const double *x, double d2, abut_touch *c)
{
    const int k = abut_stencil_size(f->kind);
    for (int i = 0; i < 4; i++) c->v[i] = i < k ? v[f->idx[i]] : -1;
    if (f->kind == ABUT_PP) touch_swap_if_less(&c->v[0], &c->v[1]);
    c->touch_class = (int)f->kind;
    c->dist2 = d2;
    c->eps_x = 0;
    if (f->kind != ABUT_PE || c->v[1] < c->v[2]) return;
    double y[9];
    touch_swap_if_less(&c->v[1], &c->v[2]);
    for (int i = 0; i < 9; i++) y[i] = x[3 * f->idx[i < 3 ? 0 : i < 6 ? 2 : 1] + i % 3];
    c->dist2 = abut_dist2_all_fn(ABUT_PE, y, NULL, NULL, NULL);
}

/** A candidate of kind s, vertices v at points x: 1: a contact, in c; 0: none; -1: the primitives are no further apart than their
 * thickness.  eps_x: mollifier threshold of an edge pair.  The kind is a literal. */
ABUT_FN_LITERAL int abut_touch_of(abut_stencil s, const int32_t *v, const double *x, double xi, double dhat, double eps_x,
                                  abut_touch *c)
{
    double d2;
    const abut_feature f = abut_nearest_fn(s, x, &d2);
    const double D = abut_beyond2(d2, xi);
    if (!(D < (2 * xi + dhat) * dhat)) return 0;
    if (!(D > 0)) return -1;
    if (s == ABUT_EE && abut_cross2_fn(x, NULL, NULL) < eps_x) {
        for (int k = 0; k < 4; k++) c->v[k] = v[k];
        c->touch_class = ABUT_TOUCH_MOLLIFIED;
        c->dist2 = d2;
        c->eps_x = eps_x;
    } else {
        touch_reduce(&f, v, x, d2, c);
    }
    return abut_beyond2(c->dist2, xi) > 0 ? 1 : -1;
}

/** Height of a point above a half-space, m. */
ABUT_FN double abut_near_height(const double *p, const double *o, const double *n)
{
    return n[0] * (p[0] - o[0]) + n[1] * (p[1] - o[1]) + n[2] * (p[2] - o[2]);
}

/** The fraction of the path from p to q that leaves `slack` of a point's height over its thickness; 0 when it is below. */
ABUT_FN double abut_near_plane_bound(const double *p, const double *q, double xi, const double *o, const double *n, double slack)
{
    double d = 0, move = 0;
    for (int k = 0; k < 3; k++) d += n[k] * (p[k] - o[k]), move += n[k] * (q[k] - p[k]);
    d -= xi;
    if (d > 0 && move < 0) return (1 - slack) * (1 - 1e-12) * d / -move;
    return d > 0 ? 1 : 0;
}

#endif
