#include "energy/hinge.h"

#include "energy/two_modes.h"

#include <math.h>
#include <string.h>

#define SINE_MIN 1e-13      /* of the angle at x0: below it a wing's normal is rounding */

static const double TURN = 2 * 3.14159265358979323846;

/* One wing: what turns, lifts and shears it. */
typedef struct wing {
    abut_vec3 p;        /* unit normal */
    double h;           /* m, height over the edge */
    double weight[4];   /* of the corners in q */
} wing;

typedef struct hinge {
    double l, theta;
    abut_vec3 e;        /* unit */
    wing A, B;
} hinge;

static int wing_of(abut_vec3 e, abut_vec3 side, abut_vec3 normal, double l, int apex, wing *w)
{
    const double n = abut_v3_norm(normal), foot = abut_v3_dot(side, e) / l;
    w->p = abut_v3_scale(1 / n, normal);
    w->h = n / l;
    w->weight[0] = foot - 1;
    w->weight[1] = -foot;
    w->weight[2] = apex == 2;
    w->weight[3] = apex == 3;
    return n > SINE_MIN * l * abut_v3_norm(side);
}

/* 0: a wing has no normal */
static int open_hinge(const double x[12], hinge *H)
{
    const abut_vec3 x0 = abut_v3_get(x), e = abut_v3_sub(abut_v3_get(x + 3), x0), a = abut_v3_sub(abut_v3_get(x + 6), x0),
                    b = abut_v3_sub(abut_v3_get(x + 9), x0);
    H->l = abut_v3_norm(e);
    H->e = abut_v3_scale(1 / H->l, e);
    if (!wing_of(H->e, a, abut_v3_cross(e, a), H->l, 2, &H->A)) return 0;
    if (!wing_of(H->e, b, abut_v3_cross(b, e), H->l, 3, &H->B)) return 0;
    H->theta = atan2(abut_v3_dot(abut_v3_cross(H->A.p, H->B.p), H->e), abut_v3_dot(H->A.p, H->B.p));
    return isfinite(H->theta);
}

static void angle_gradient(const hinge *H, double *grad)
{
    for (int c = 0; c < 4; c++)
        abut_v3_put(grad + 3 * c,
                    abut_v3_axpy(abut_v3_scale(-H->A.weight[c] / H->A.h, H->A.p), -H->B.weight[c] / H->B.h, H->B.p));
}

double abut_hinge_theta(const double x[12], double *grad)
{
    hinge H;
    if (!open_hinge(x, &H)) return NAN;
    if (grad) angle_gradient(&H, grad);
    return H.theta;
}

/* theta - rest on the branch nearest to rest */
static double bent(const hinge *H, double rest)
{
    return remainder(H->theta - rest, TURN);
}

double abut_hinge_energy(double k, double rest, const double x[12])
{
    hinge H;
    if (!open_hinge(x, &H)) return INFINITY;
    const double d = bent(&H, rest);
    return k * d * d;
}

void abut_hinge_gradient(double k, double rest, const double x[12], double g[12])
{
    hinge H;
    memset(g, 0, 12 * sizeof *g);
    if (!open_hinge(x, &H)) return;
    const double f = 2 * k * bent(&H, rest);
    angle_gradient(&H, g);
    for (int i = 0; i < 12; i++) g[i] *= f;
}

/* both[12] = (A + B)/sqrt 2, apart[12] = (B - A)/sqrt 2 of the components of qA along dA and of qB along dB, over the heights */
static void wing_modes(const hinge *H, abut_vec3 dA, abut_vec3 dB, double *both, double *apart)
{
    const double half = sqrt(0.5);
    double rowA[12], rowB[12];
    abut_mode_row(4, H->A.weight, dA, half / H->A.h, rowA);
    abut_mode_row(4, H->B.weight, dB, half / H->B.h, rowB);
    for (int i = 0; i < 12; i++) {
        both[i] = rowB[i] + rowA[i];
        apart[i] = rowB[i] - rowA[i];
    }
}

void abut_hinge_hessian(double k, double rest, const double x[12], int project, double *H)
{
    static const double turn[4] = { -1, 1, 0, 0 };
    hinge at;
    if (!open_hinge(x, &at)) return;
    const double d = bent(&at, rest), D = 2 * k * d, c = cos(0.5 * at.theta), s = sin(0.5 * at.theta), sine = 2 * s * c;
    const abut_vec3 mA = abut_v3_cross(at.A.p, at.e), mB = abut_v3_cross(at.e, at.B.p);
    const abut_vec3 bisector = abut_v3_axpy(abut_v3_scale(c, at.A.p), -s, mA), across = abut_v3_cross(at.e, bisector);
    double alpha[2][12], beta[2][12], shear[2][12], tb[12], tc[12], v[48];
    wing_modes(&at, at.A.p, at.B.p, alpha[0], alpha[1]);
    wing_modes(&at, mA, mB, beta[0], beta[1]);
    wing_modes(&at, at.e, at.e, shear[0], shear[1]);
    abut_mode_row(4, turn, bisector, 1 / at.l, tb);
    abut_mode_row(4, turn, across, 1 / at.l, tc);
    const struct { double d, o; const double *u, *w; } mode[4] = {
        { 4 * k, D, alpha[0], beta[0] }, { 0, D, alpha[1], beta[1] },
        { -D * sine, sqrt(2) * D * c, tb, shear[0] }, { D * sine, sqrt(2) * D * s, tc, shear[1] } };
    for (int m = 0; m < 4; m++) {
        if (project) abut_two_modes_positive(4, mode[m].d, mode[m].o, mode[m].u, mode[m].w, v + 12 * m);
        else abut_two_modes_add(4, mode[m].d, mode[m].o, mode[m].u, mode[m].w, H);
    }
    if (project) abut_add_squares4(v, H);
}
