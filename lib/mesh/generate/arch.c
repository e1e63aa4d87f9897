#include "mesh/generate/generate.h"

#include <math.h>

/* y(x) = height - b (cosh(k x) - 1), of arc length s(x) from the crown; k = 0: the parabola height (1 - (x/half)^2) */
typedef struct curve {
    double half, height, b, k;
} curve;

static curve weighted_catenary(double span, double height, const double thickness[2])
{
    const double q = thickness[0] / thickness[1], half = 0.5 * span, c = acosh(q * q);
    return (curve){ half, height, q > 1 ? height / (q * q - 1) : 0, c / half };
}

static double curve_y(const curve *c, double x)
{
    const double q = x / c->half;
    return c->height - (c->k > 0 ? c->b * (cosh(c->k * x) - 1) : c->height * q * q);
}

static double curve_slope(const curve *c, double x)
{
    return c->k > 0 ? -c->b * c->k * sinh(c->k * x) : -2 * c->height * x / (c->half * c->half);
}

static double curve_arc(const curve *c, double x)
{
    enum { PANELS = 512 };      /* Simpson: of a smooth function to the last digits */
    const double h = x / PANELS;
    double sum = 0;
    for (int i = 0; i <= PANELS; i++) {
        const double y1 = curve_slope(c, i * h);
        sum += (i == 0 || i == PANELS ? 1 : i % 2 ? 4 : 2) * sqrt(1 + y1 * y1);
    }
    return sum * h / 3;
}

/* x with s(x) = s >= 0: s is convex, so that Newton's method from the foot comes down to it without overshooting */
static double curve_find(const curve *c, double s)
{
    double x = c->half;
    for (int i = 0; i < 60; i++) {
        const double y1 = curve_slope(c, x), step = (curve_arc(c, x) - s) / sqrt(1 + y1 * y1);
        x -= step;
        if (fabs(step) <= 1e-15 * c->half) break;
    }
    return x;
}

/* A cut through the arch: middle p, unit tangent t towards +x, thickness. */
typedef struct cut {
    double p[2], t[2], thickness;
} cut;

static cut cut_at(const curve *c, const double thickness[2], double s)
{
    const double x = copysign(curve_find(c, fabs(s)), s), y = curve_y(c, x), y1 = curve_slope(c, x), n = sqrt(1 + y1 * y1);
    return (cut){ { x, y }, { 1 / n, y1 / n }, thickness[1] + (thickness[0] - thickness[1]) * (1 - y / c->height) };
}

/* The block between two cuts, its faces `in` and `out` along their normals inside them, as thick as the lower one, so that the
 * corners of the upper neighbour lie inside its face; six tets of eight points. */
static abut_status add_block(const cut *a, const cut *b, double in, double out, double depth, abut_mesh *m, abut_err *err)
{
    static const int straight[3] = { 0, 0, 0 };
    const int32_t first = m->nv;
    const double thickness = fmax(a->thickness, b->thickness);
    int corner[6][4];
    abut_status rc = ABUT_OK;
    for (int i = 0; i < 8 && !rc; i++) {    /* bits: along the arch, outward, z */
        const cut *at = i & 1 ? b : a;
        const double along = i & 1 ? -out : in, across = (i & 2 ? 0.5 : -0.5) * thickness;
        const double p[3] = { at->p[0] + along * at->t[0] - across * at->t[1], at->p[1] + along * at->t[1] + across * at->t[0],
                              i & 4 ? 0.5 * depth : -0.5 * depth };
        rc = abut_mesh_add_vertex(m, p, err);
    }
    abut_kuhn_cell(straight, corner);
    for (int q = 0; q < 6 && !rc; q++)
        rc = abut_mesh_add_tet(m, first + corner[q][0], first + corner[q][1], first + corner[q][2], first + corner[q][3], err);
    return rc;
}

static abut_status check_arch(const double *positive, double gap, const double thickness[2], int32_t blocks, abut_err *err)
{
    for (int i = 0; i < 5; i++)
        if (!(positive[i] > 0 && isfinite(positive[i])))
            return abut_fail(err, ABUT_E_ARG, "arch: size %g m: expected more than 0", positive[i]);
    if (!(gap >= 0 && isfinite(gap))) return abut_fail(err, ABUT_E_ARG, "arch: gap %g m: expected 0 or more", gap);
    if (thickness[0] < thickness[1])
        return abut_fail(err, ABUT_E_ARG, "arch: thickness %g m at the feet, %g m at the crown: expected no less at the feet",
                         thickness[0], thickness[1]);
    if (blocks < 1 || blocks > 4096) return abut_fail(err, ABUT_E_ARG, "arch: %d blocks: expected 1 to 4096", blocks);
    return ABUT_OK;
}

abut_status abut_generate_arch(double span, double height, const double thickness[2], double depth, int32_t blocks, double gap,
                               abut_mesh *m, abut_err *err)
{
    abut_status rc = check_arch((double[5]){ span, height, thickness[0], thickness[1], depth }, gap, thickness, blocks, err);
    if (rc) return rc;
    const curve c = weighted_catenary(span, height, thickness);
    const double half = curve_arc(&c, c.half);
    if (blocks > 1 && !(gap < 2 * half / blocks))
        return abut_fail(err, ABUT_E_ARG, "arch: gap %g m: expected less than the length of a block, %g m", gap,
                         2 * half / blocks);
    cut a = cut_at(&c, thickness, -half);
    for (int32_t k = 1; k <= blocks && !rc; k++) {
        const cut b = cut_at(&c, thickness, half * (2.0 * k - blocks) / blocks);
        rc = add_block(&a, &b, k == 1 ? 0 : 0.5 * gap, k == blocks ? 0 : 0.5 * gap, depth, m, err);
        a = b;
    }
    if (rc) abut_mesh_clear(m);
    return rc;
}
