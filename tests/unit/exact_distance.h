/* Squared distances in exact rational arithmetic, for tests: the smallest over every feature whose foot is inside. */
#ifndef ABUT_TESTS_EXACT_DISTANCE_H
#define ABUT_TESTS_EXACT_DISTANCE_H

#include "geom/dist.h"

#include <gmp.h>

typedef mpq_t exact_vec[3];

static inline void exact_vec_init(exact_vec v) { for (int k = 0; k < 3; k++) mpq_init(v[k]); }
static inline void exact_vec_clear(exact_vec v) { for (int k = 0; k < 3; k++) mpq_clear(v[k]); }
static inline void exact_diff(exact_vec r, exact_vec a, exact_vec b) { for (int k = 0; k < 3; k++) mpq_sub(r[k], a[k], b[k]); }

static inline void exact_dot(mpq_t r, exact_vec a, exact_vec b)
{
    mpq_t p, sum;
    mpq_init(p), mpq_init(sum);
    for (int k = 0; k < 3; k++) mpq_mul(p, a[k], b[k]), mpq_add(sum, sum, p);
    mpq_set(r, sum);
    mpq_clear(p), mpq_clear(sum);
}

static inline void exact_cross(exact_vec r, exact_vec a, exact_vec b)
{
    mpq_t p, q;
    mpq_init(p), mpq_init(q);
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        mpq_mul(p, a[i], b[j]), mpq_mul(q, a[j], b[i]), mpq_sub(r[k], p, q);
    }
    mpq_clear(p), mpq_clear(q);
}

static inline void exact_keep_least(mpq_t best, mpq_t d)
{
    if (mpq_sgn(best) < 0 || mpq_cmp(d, best) < 0) mpq_set(best, d);
}

/* Point p against the closed edge e0 e1. */
static inline void exact_point_edge(mpq_t best, exact_vec p, exact_vec e0, exact_vec e1)
{
    exact_vec e, r, s, c;
    mpq_t h, ee, d;
    exact_vec_init(e), exact_vec_init(r), exact_vec_init(s), exact_vec_init(c);
    mpq_init(h), mpq_init(ee), mpq_init(d);
    exact_diff(e, e1, e0), exact_diff(r, p, e0), exact_diff(s, p, e1);
    exact_dot(d, r, r), exact_keep_least(best, d);
    exact_dot(d, s, s), exact_keep_least(best, d);
    exact_dot(h, r, e), exact_dot(ee, e, e);
    if (mpq_sgn(h) > 0 && mpq_cmp(h, ee) < 0) {
        exact_cross(c, r, e), exact_dot(d, c, c), mpq_div(d, d, ee);
        exact_keep_least(best, d);
    }
    exact_vec_clear(e), exact_vec_clear(r), exact_vec_clear(s), exact_vec_clear(c);
    mpq_clear(h), mpq_clear(ee), mpq_clear(d);
}

/* r against the plane of u and v; keeps the distance when the foot b u + c v has b, c >= 0 and, for a triangle,
 * b + c <= 1, for two edges -b, c in [0, 1]. */
static inline void exact_plane(mpq_t best, exact_vec r, exact_vec u, exact_vec v, int triangle)
{
    exact_vec n, c1;
    mpq_t nn, b, c, sum, h;
    exact_vec_init(n), exact_vec_init(c1);
    mpq_init(nn), mpq_init(b), mpq_init(c), mpq_init(sum), mpq_init(h);
    exact_cross(n, u, v), exact_dot(nn, n, n);
    if (mpq_sgn(nn) > 0) {
        exact_cross(c1, r, v), exact_dot(b, c1, n);
        exact_cross(c1, u, r), exact_dot(c, c1, n);
        if (!triangle) mpq_neg(b, b);
        mpq_add(sum, b, c);
        const int inside = mpq_sgn(b) >= 0 && mpq_sgn(c) >= 0 &&
                           (triangle ? mpq_cmp(sum, nn) <= 0 : mpq_cmp(b, nn) <= 0 && mpq_cmp(c, nn) <= 0);
        if (inside) exact_dot(h, r, n), mpq_mul(h, h, h), mpq_div(h, h, nn), exact_keep_least(best, h);
    }
    exact_vec_clear(n), exact_vec_clear(c1);
    mpq_clear(nn), mpq_clear(b), mpq_clear(c), mpq_clear(sum), mpq_clear(h);
}

/* best = exact squared distance of the stencil whose points are x0 + t (x1 - x0), t a double. */
static inline void exact_dist2(mpq_t best, abut_stencil s, const double *x0, const double *x1, double t)
{
    exact_vec p[4], r, u, v;
    mpq_t q, tq;
    const int k = abut_stencil_size(s);
    mpq_init(q), mpq_init(tq), mpq_set_d(tq, t);
    exact_vec_init(r), exact_vec_init(u), exact_vec_init(v);
    for (int i = 0; i < 4; i++) exact_vec_init(p[i]);
    for (int i = 0; i < 3 * k; i++) {
        mpq_set_d(p[i / 3][i % 3], x0[i]), mpq_set_d(q, x1[i]);
        mpq_sub(q, q, p[i / 3][i % 3]), mpq_mul(q, q, tq), mpq_add(p[i / 3][i % 3], p[i / 3][i % 3], q);
    }
    mpq_set_si(best, -1, 1);
    if (s == ABUT_PP) exact_diff(r, p[0], p[1]), exact_dot(best, r, r);
    else if (s == ABUT_PE) exact_point_edge(best, p[0], p[1], p[2]);
    else if (s == ABUT_PT) {
        for (int i = 1; i < 4; i++) exact_point_edge(best, p[0], p[i], p[i % 3 + 1]);
        exact_diff(r, p[0], p[1]), exact_diff(u, p[2], p[1]), exact_diff(v, p[3], p[1]);
        exact_plane(best, r, u, v, 1);
    } else {
        exact_point_edge(best, p[0], p[2], p[3]), exact_point_edge(best, p[1], p[2], p[3]);
        exact_point_edge(best, p[2], p[0], p[1]), exact_point_edge(best, p[3], p[0], p[1]);
        exact_diff(r, p[0], p[2]), exact_diff(u, p[1], p[0]), exact_diff(v, p[3], p[2]);
        exact_plane(best, r, u, v, 0);
    }
    for (int i = 0; i < 4; i++) exact_vec_clear(p[i]);
    exact_vec_clear(r), exact_vec_clear(u), exact_vec_clear(v);
    mpq_clear(q), mpq_clear(tq);
}

/* sign of (exact distance)^2 - d^2 */
static inline int exact_compare(abut_stencil s, const double *x0, const double *x1, double t, double d)
{
    mpq_t best, dq;
    mpq_init(best), mpq_init(dq);
    exact_dist2(best, s, x0, x1, t);
    mpq_set_d(dq, d), mpq_mul(dq, dq, dq);
    const int c = mpq_cmp(best, dq);
    mpq_clear(best), mpq_clear(dq);
    return c;
}

#endif
