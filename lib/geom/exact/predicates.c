/* Touching, decided by orientation signs alone.  A plane or a line is projected along an axis in which it keeps its
 * dimension; that axis is found exactly, never by the size of a floating-point normal. */
#include "geom/exact/predicates.h"

/* the two coordinates left when axis k is dropped */
static void drop(const double p[3], int k, double q[2])
{
    q[0] = p[(k + 1) % 3];
    q[1] = p[(k + 2) % 3];
}

static int orient_axis(int k, const double a[3], const double b[3], const double c[3])
{
    double p[2], q[2], r[2];
    drop(a, k, p);
    drop(b, k, q);
    drop(c, k, r);
    return abut_orient2d(p, q, r);
}

/* an axis along which a, b, c do not project onto a line; -1 when they are on one line in space */
static int valid_axis(const double a[3], const double b[3], const double c[3])
{
    for (int k = 0; k < 3; k++)
        if (orient_axis(k, a, b, c)) return k;
    return -1;
}

/* p in the box of a, b; a NaN is in every box */
static int in_box(const double p[3], const double a[3], const double b[3])
{
    for (int k = 0; k < 3; k++)
        if ((p[k] < a[k] && p[k] < b[k]) || (p[k] > a[k] && p[k] > b[k])) return 0;
    return 1;
}

static int one_sign(int s, int t, int u)
{
    return (s >= 0 && t >= 0 && u >= 0) || (s <= 0 && t <= 0 && u <= 0);
}

/* p in the plane of a triangle that keeps its area along axis k */
static int in_triangle_along(int k, const double p[3], const double a[3], const double b[3], const double c[3])
{
    return one_sign(orient_axis(k, a, b, p), orient_axis(k, b, c, p), orient_axis(k, c, a, p));
}

/* coplanar segments, not all on one line, along an axis that keeps their plane */
static int cross_along(int k, const double p[3], const double q[3], const double a[3], const double b[3])
{
    return orient_axis(k, p, q, a) * orient_axis(k, p, q, b) <= 0
        && orient_axis(k, a, b, p) * orient_axis(k, a, b, q) <= 0;
}

int abut_touch_point_edge(const double p[3], const double a[3], const double b[3])
{
    return in_box(p, a, b) && valid_axis(p, a, b) < 0;
}

int abut_touch_edge_edge(const double p[3], const double q[3], const double a[3], const double b[3])
{
    if (abut_orient3d(p, q, a, b)) return 0;
    const double *const triple[4][3] = { { p, q, a }, { p, q, b }, { a, b, p }, { a, b, q } };
    for (int i = 0; i < 4; i++) {
        const int k = valid_axis(triple[i][0], triple[i][1], triple[i][2]);
        if (k >= 0) return cross_along(k, p, q, a, b);
    }
    /* one line: an end of one lies between the ends of the other */
    return in_box(p, a, b) || in_box(q, a, b) || in_box(a, p, q);
}

int abut_touch_point_tri(const double p[3], const double a[3], const double b[3], const double c[3])
{
    if (abut_orient3d(a, b, c, p)) return 0;
    const int k = valid_axis(a, b, c);
    if (k >= 0) return in_triangle_along(k, p, a, b, c);
    return abut_touch_point_edge(p, a, b) || abut_touch_point_edge(p, b, c) || abut_touch_point_edge(p, c, a);
}

static int touch_any_side(const double p[3], const double q[3], const double a[3], const double b[3], const double c[3])
{
    return abut_touch_edge_edge(p, q, a, b) || abut_touch_edge_edge(p, q, b, c) || abut_touch_edge_edge(p, q, c, a);
}

int abut_touch_edge_tri(const double p[3], const double q[3], const double a[3], const double b[3], const double c[3])
{
    const int sp = abut_orient3d(a, b, c, p), sq = abut_orient3d(a, b, c, q);
    if (sp * sq > 0) return 0;
    if (sp || sq)
        return one_sign(abut_orient3d(p, q, a, b), abut_orient3d(p, q, b, c), abut_orient3d(p, q, c, a));

    /* both in the plane, or the triangle has no plane and is the union of its sides */
    const int k = valid_axis(a, b, c);
    if (k >= 0 && in_triangle_along(k, p, a, b, c)) return 1;
    return touch_any_side(p, q, a, b, c);
}

int abut_touch_point_tet(const double p[3], const double a[3], const double b[3], const double c[3], const double d[3])
{
    const int v = abut_orient3d(a, b, c, d);
    if (v)
        return v * abut_orient3d(p, b, c, d) >= 0 && v * abut_orient3d(a, p, c, d) >= 0
            && v * abut_orient3d(a, b, p, d) >= 0 && v * abut_orient3d(a, b, c, p) >= 0;
    /* flat: the union of its faces (Caratheodory) */
    return abut_touch_point_tri(p, a, b, c) || abut_touch_point_tri(p, a, b, d) || abut_touch_point_tri(p, a, c, d)
        || abut_touch_point_tri(p, b, c, d);
}

int abut_fold_over(const double a[3], const double b[3], const double c[3], const double d[3])
{
    if (abut_orient3d(a, b, c, d)) return 0;
    const int k = valid_axis(a, b, c);
    return k >= 0 && orient_axis(k, a, b, c) * orient_axis(k, a, b, d) > 0;
}
