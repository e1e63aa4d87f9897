#include "energy/element_check.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIDE = 3 * ABUT_ELEMENT_CORNERS };
static const double NEAR = 1e-4, AGREE = 1e-6;  /* differences over this part of the size; of the largest entry */

/* An element and the results of its function. */
typedef struct probe {
    const abut_element_energy *e;
    int32_t element;
    int side;
    double x[SIDE], value, g[SIDE], H[SIDE * SIDE];
} probe;

/* A derivative by two central differences. */
typedef struct slope {
    double is, unsure;
} slope;

static slope extrapolated(double far, double near, double rounding)
{
    return (slope){ (4 * near - far) / 3, 2 * fabs(near - far) + rounding };
}

/* The size of the element: the larger of its extent and a thousandth of its distance to the origin. */
static double size_of(const probe *p)
{
    double extent = 0, away = 0;
    for (int d = 0; d < p->side; d++) {
        extent = fmax(extent, fabs(p->x[d] - p->x[d % 3]));
        away = fmax(away, fabs(p->x[d]));
    }
    const double size = fmax(extent, 1e-3 * away);
    return size > 0 ? size : 1e-3;
}

static double value_at(const probe *p, const double *x, double *g, double *H)
{
    const size_t side = (size_t)p->side;
    if (g) memset(g, 0, side * sizeof *g);
    if (H) memset(H, 0, side * side * sizeof *H);
    return p->e->value(p->e->own, p->element, x, g, H);
}

static double largest(const double *v, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(v[i]));
    return most;
}

/* Differences along unknown d: of the value, and of the gradient.  0 where the energy is not finite there. */
static int differences(const probe *p, int d, slope *value, slope *gradient)
{
    double by[2], of[2][SIDE], x[SIDE], ahead[SIDE], behind[SIDE];
    const double h = NEAR * size_of(p);
    memcpy(x, p->x, sizeof x);
    for (int s = 0; s < 2; s++) {
        x[d] = p->x[d] + h / (1 << s);
        const double hi = x[d], above = value_at(p, x, ahead, NULL);
        x[d] = p->x[d] - h / (1 << s);
        const double below = value_at(p, x, behind, NULL);
        if (!isfinite(above) || !isfinite(below)) return 0;
        by[s] = (above - below) / (hi - x[d]);
        for (int k = 0; k < p->side; k++) of[s][k] = (ahead[k] - behind[k]) / (hi - x[d]);
    }
    const double rounding = 64 * DBL_EPSILON / h;
    *value = extrapolated(by[0], by[1], rounding * fabs(p->value));
    for (int k = 0; k < p->side; k++) gradient[k] = extrapolated(of[0][k], of[1][k], rounding * largest(p->g, p->side));
    return 1;
}

static int agree(double said, slope s, double most)
{
    return fabs(said - s.is) <= s.unsure + AGREE * most;
}

static abut_status fail(const probe *p, const char *what, int a, int b, double said, double is, abut_err *err)
{
    const int32_t *node = p->e->node + (size_t)p->element * (size_t)p->e->corners;
    char and[48] = "";
    if (b >= 0) snprintf(and, sizeof and, " and %c of node %d", "xyz"[b % 3], node[b / 3]);
    return abut_fail(err, ABUT_E_ARG, "energy '%s', element %d: its %s by %c of node %d%s is %.8g, differences give %.8g",
                     p->e->name, p->element, what, "xyz"[a % 3], node[a / 3], and, said, is);
}

static abut_status check_element(probe *p, abut_err *err)
{
    p->value = value_at(p, p->x, p->g, p->H);
    if (isinf(p->value)) return ABUT_OK;
    if (isnan(p->value))
        return abut_fail(err, ABUT_E_ARG, "energy '%s', element %d: its value is not a number", p->e->name, p->element);
    const double force = largest(p->g, p->side), stiffness = largest(p->H, p->side * p->side);
    for (int d = 0; d < p->side; d++) {
        slope value, gradient[SIDE];
        if (!differences(p, d, &value, gradient)) continue;
        if (!agree(p->g[d], value, force)) return fail(p, "derivative", d, -1, p->g[d], value.is, err);
        for (int k = 0; k < p->side; k++)
            if (!agree(p->H[p->side * d + k], gradient[k], stiffness))
                return fail(p, "second derivative", d, k, p->H[p->side * d + k], gradient[k].is, err);
    }
    return ABUT_OK;
}

abut_status abut_element_check(const abut_element_energy *e, const double *z, abut_err *err)
{
    abut_status rc = ABUT_OK;
    probe p = { .e = e, .side = 3 * e->corners };
    for (p.element = 0; p.element < e->n && !rc; p.element++) {
        for (int k = 0; k < p.side; k++)
            p.x[k] = z[3 * (size_t)e->node[(size_t)p.element * (size_t)e->corners + (size_t)(k / 3)] + (size_t)(k % 3)];
        rc = check_element(&p, err);
    }
    return rc;
}
