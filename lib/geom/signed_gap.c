#include "geom/signed_gap.h"

#include "math/vec3.h"

#include <assert.h>

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
