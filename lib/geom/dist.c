#include "geom/dist.h"

#include "geom/dist_inline.h"
#include "math/vec3.h"

#include <assert.h>

abut_feature abut_nearest(abut_stencil s, const double *x, double *dist2)
{
    return abut_nearest_fn(s, x, dist2);
}

double abut_closest(abut_stencil s, const double *x, double w[4])
{
    return abut_closest_fn(s, x, w);
}

double abut_dist2_all(abut_stencil s, const double *x, double *w, double *g, double *H)
{
    return abut_dist2_all_fn(s, x, w, g, H);
}

double abut_dist2(abut_stencil s, const double *x, double *w)
{
    return abut_dist2_all(s, x, w, NULL, NULL);
}

/* -- the edge-edge mollifier --------------------------------------------------------------------------------------- */

double abut_cross2(const double x[12], double *g, double *H)
{
    return abut_cross2_fn(x, g, H);
}

double abut_mollify_eps(double rest2_a, double rest2_b)
{
    return abut_mollify_eps_fn(rest2_a, rest2_b);
}

double abut_mollify(double c, double eps, double *d1, double *d2)
{
    return abut_mollify_fn(c, eps, d1, d2);
}

/* -- the sliding plane --------------------------------------------------------------------------------------------- */

static abut_vec3 tangent_unit(abut_vec3 a)
{
    return abut_v3_scale(1 / abut_v3_norm(a), a);
}

/* A unit vector normal to n: X x n or Y x n, whichever is longer, so never shorter than |n| / sqrt 2. */
static abut_vec3 tangent_any_normal(abut_vec3 n)
{
    return tangent_unit(fabs(n.y) > fabs(n.x) ? abut_v3(0, -n.z, n.y) : abut_v3(n.z, 0, -n.x));
}

static void tangent_put_plane(abut_vec3 n, double P[6])
{
    if (!(abut_v3_norm2(n) > 0)) n = abut_v3(0, 0, 1);
    const abut_vec3 t = tangent_any_normal(n);
    abut_v3_put(P, t);
    abut_v3_put(P + 3, tangent_unit(abut_v3_cross(n, t)));
}

void abut_tangent_plane(const double n[3], double P[6])
{
    tangent_put_plane(abut_v3_get(n), P);
}

/* First tangent along e, the second along b, which is normal to e; 0 when one of them has no direction. */
static int tangent_put_along(abut_vec3 e, abut_vec3 b, double b2_min, double P[6])
{
    if (!(abut_v3_norm2(e) > 0 && abut_v3_norm2(b) > b2_min)) return 0;
    abut_v3_put(P, tangent_unit(e));
    abut_v3_put(P + 3, tangent_unit(b));
    return 1;
}

/* The plane of e and f: their cross product is a normal while their squared sine is above 1e-20, as in dist.c. */
static int tangent_put_spanned(abut_vec3 e, abut_vec3 f, double P[6])
{
    const abut_vec3 n = abut_v3_cross(e, f), b = abut_v3_cross(n, e);
    const double ee = abut_v3_norm2(e), ff = abut_v3_norm2(f);
    return tangent_put_along(e, b, 1e-20 * ee * ee * ff, P);
}

void abut_tangent(abut_stencil s, const double *x, double P[6])
{
    int done = 0;
    if (s == ABUT_PE) {
        const abut_vec3 e = abut_v3_diff(x + 6, x + 3);
        done = tangent_put_along(e, abut_v3_cross(e, abut_v3_diff(x, x + 3)), 0, P);
    } else if (s == ABUT_PT) {
        done = tangent_put_spanned(abut_v3_diff(x + 6, x + 3), abut_v3_diff(x + 9, x + 3), P);
    } else if (s == ABUT_EE) {
        done = tangent_put_spanned(abut_v3_diff(x + 3, x), abut_v3_diff(x + 9, x + 6), P);
    } else {
        tangent_put_plane(abut_v3_diff(x + 3, x), P);
        return;
    }
    if (done) return;

    /* the points span no such feature: the plane normal to the remaining separation */
    double w[4];
    abut_vec3 r = abut_v3(0, 0, 0);
    (void)abut_dist2_all_fn(s, x, w, NULL, NULL);
    for (int i = 1; i < abut_stencil_size(s); i++) r = abut_v3_axpy(r, w[i], abut_v3_diff(x + 3 * i, x));
    tangent_put_plane(r, P);
}

/* -- gaps with a sign ---------------------------------------------------------------------------------------------- */

/* The separation sum w_i x_i. */
static abut_vec3 separation(abut_stencil s, const double *x, const double w[4])
{
    abut_vec3 r = { 0, 0, 0 };
    for (int k = 0; k < abut_stencil_size(s); k++) r = abut_v3_add(r, abut_v3_scale(w[k], abut_v3_get(x + 3 * k)));
    return r;
}

/* Frame of a stencil of four points: n is normal to u and v, e leads from the second primitive to the first. */
typedef struct frame {
    abut_vec3 u, v, e, n;       /* n = u x v */
} frame;

static frame frame_of(abut_stencil s, const double *x)
{
    assert(s == ABUT_PT || s == ABUT_EE);
    const int edges = s == ABUT_EE;
    frame f;
    f.u = edges ? abut_v3_diff(x + 3, x) : abut_v3_diff(x + 6, x + 3);
    f.v = edges ? abut_v3_diff(x + 9, x + 6) : abut_v3_diff(x + 9, x + 3);
    f.e = edges ? abut_v3_diff(x, x + 6) : abut_v3_diff(x, x + 3);
    f.n = abut_v3_cross(f.u, f.v);
    return f;
}

static int spans(const frame *f)
{
    return abut_v3_norm2(f->n) > ABUT_SINE2_MIN * abut_v3_norm2(f->u) * abut_v3_norm2(f->v);
}

void abut_gap_frozen(abut_stencil s, const double w[4], const double n[3], const double *x, double offset, abut_gap_row *row)
{
    const abut_vec3 r = separation(s, x, w), d = abut_v3_get(n);
    row->c = abut_v3_dot(d, r) - offset;
    for (int i = 0; i < 12; i++) row->a[i] = i < 3 * abut_stencil_size(s) ? w[i / 3] * n[i % 3] : 0;
}

int abut_gap_projected(abut_stencil s, const double *x0, const double *x, double offset, abut_gap_row *row)
{
    const frame f = frame_of(s, x), start = frame_of(s, x0);
    double w[4], n[3];
    if (!spans(&f) || !spans(&start)) return 0;
    const double side = abut_v3_dot(start.e, start.n) < 0 ? -1 : 1;
    (void)abut_dist2(s, x, w);
    abut_v3_put(n, abut_v3_scale(side / abut_v3_norm(f.n), f.n));
    abut_gap_frozen(s, w, n, x, offset, row);
    return 1;
}

static void put_scaled(double *to, double f, abut_vec3 a)
{
    abut_v3_put(to, abut_v3_scale(f, a));
}

int abut_gap_volume(abut_stencil s, const double *x0, const double *x, double offset, abut_gap_row *row)
{
    const frame f = frame_of(s, x), start = frame_of(s, x0);
    if (!spans(&start)) return 0;
    const double side = abut_v3_dot(start.e, start.n) < 0 ? -1.0 / 6 : 1.0 / 6;
    const abut_vec3 to_u = abut_v3_cross(f.v, f.e), to_v = abut_v3_cross(f.e, f.u);     /* derivatives of 6 V by u, v; n by e */
    row->c = side * abut_v3_dot(f.e, f.n) - offset * abut_v3_norm(start.n) / 6;
    if (s == ABUT_EE) {
        put_scaled(row->a, side, abut_v3_sub(f.n, to_u));
        put_scaled(row->a + 3, side, to_u);
        put_scaled(row->a + 6, -side, abut_v3_add(f.n, to_v));
        put_scaled(row->a + 9, side, to_v);
        return 1;
    }
    put_scaled(row->a, side, f.n);
    put_scaled(row->a + 3, -side, abut_v3_add(f.n, abut_v3_add(to_u, to_v)));
    put_scaled(row->a + 6, side, to_u);
    put_scaled(row->a + 9, side, to_v);
    return 1;
}

int abut_gap_freeze(abut_stencil s, const double *x0, const double *z, double w[4], double n[3])
{
    (void)abut_closest(s, z, w);
    const abut_vec3 r = separation(s, z, w);
    const double length = abut_v3_norm(r);
    if (!(length > 0)) return 0;
    const double side = abut_v3_dot(r, separation(s, x0, w)) < 0 ? -1 / length : 1 / length;
    abut_v3_put(n, abut_v3_scale(side, r));
    return 1;
}
