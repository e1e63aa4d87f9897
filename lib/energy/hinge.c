#include "energy/hinge.h"

#include "energy/two_modes.h"
#include "linalg/atan2_lanes.h"

#include <math.h>
#include <string.h>

#define SINE_MIN 1e-13      /* of the angle at x0: below it a wing's normal is rounding */
#define INLINE ABUT_LANES_INLINE

static const double TURN = 2 * 3.14159265358979323846;

/* One wing of four hinges: what turns, lifts and shears it. */
typedef struct wing {
    abut_lanes p[3];        /* unit normal */
    abut_lanes h;           /* m, height over the edge */
    abut_lanes weight[4];   /* of the corners in q */
} wing;

typedef struct hinges {
    abut_lanes l, sine, cosine, theta;
    abut_lanes e[3];        /* unit */
    wing A, B;
    abut_lane_mask open;    /* both wings have a normal */
} hinges;

INLINE void dot(const abut_lanes *a, const abut_lanes *b, abut_lanes *c)
{
    *c = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

INLINE void cross(const abut_lanes *a, const abut_lanes *b, abut_lanes *c)
{
    for (int i = 0; i < 3; i++) c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

INLINE void norm(const abut_lanes *a, abut_lanes *n)
{
    dot(a, a, n);
    abut_lanes_sqrt(n);
}

INLINE void wings_of(hinges *H, const abut_lanes *side, const abut_lanes *normal, int apex, wing *w)
{
    abut_lanes n, length, foot;
    norm(normal, &n);
    norm(side, &length);
    dot(side, H->e, &foot);
    foot = foot / H->l;
    for (int i = 0; i < 3; i++) w->p[i] = normal[i] / n;
    w->h = n / H->l;
    w->weight[0] = foot - 1;
    w->weight[1] = -foot;
    w->weight[2] = ABUT_LANES_ALL(apex == 2);
    w->weight[3] = ABUT_LANES_ALL(apex == 3);
    H->open &= n > SINE_MIN * H->l * length;
}

INLINE void open_hinges(const abut_lanes x[12], hinges *H)
{
    abut_lanes e[3], a[3], b[3], n[3];
    for (int i = 0; i < 3; i++) e[i] = x[3 + i] - x[i], a[i] = x[6 + i] - x[i], b[i] = x[9 + i] - x[i];
    norm(e, &H->l);
    for (int i = 0; i < 3; i++) H->e[i] = e[i] / H->l;
    H->open = (abut_lane_mask){ -1, -1, -1, -1 };
    cross(e, a, n);
    wings_of(H, a, n, 2, &H->A);
    cross(b, e, n);
    wings_of(H, b, n, 3, &H->B);
    cross(H->A.p, H->B.p, n);
    dot(n, H->e, &H->sine);
    dot(H->A.p, H->B.p, &H->cosine);
    abut_lanes_atan2(&H->sine, &H->cosine, &H->theta);
    H->open &= H->theta - H->theta == 0;
}

/* d = theta - rest on the branch nearest to rest */
INLINE void bent(const hinges *H, const abut_lanes *rest, abut_lanes *d)
{
    const abut_lanes off = H->theta - *rest, turns = (off / TURN + 0x1.8p52) - 0x1.8p52;   /* the nearest whole number */
    *d = off - turns * TURN;
}

/* corner for corner and axis by axis */
INLINE void angle_gradients(const hinges *H, abut_lanes *grad)
{
    for (int c = 0; c < 4; c++) {
        const abut_lanes a = H->A.weight[c] / H->A.h, b = H->B.weight[c] / H->B.h;
        for (int i = 0; i < 3; i++) grad[3 * c + i] = -(a * H->A.p[i] + b * H->B.p[i]);
    }
}

INLINE void closed_to(const hinges *H, double value, abut_lanes *v)
{
    *v = ABUT_LANES_PICK(H->open, *v, ABUT_LANES_ALL(value));
}

ABUT_LANES_CLONES
static void theta_lanes(const abut_lanes *x, abut_lanes *theta, abut_lanes *grad)
{
    hinges H;
    open_hinges(x, &H);
    *theta = H.theta;
    closed_to(&H, NAN, theta);
    angle_gradients(&H, grad);
}

ABUT_LANES_CLONES
void abut_hinge_energy_lanes(const abut_lanes *k, const abut_lanes *rest, const abut_lanes *x, abut_lanes *energy)
{
    hinges H;
    abut_lanes d;
    open_hinges(x, &H);
    bent(&H, rest, &d);
    *energy = *k * d * d;
    closed_to(&H, INFINITY, energy);
}

ABUT_LANES_CLONES
void abut_hinge_gradient_lanes(const abut_lanes *k, const abut_lanes *rest, const abut_lanes *x, abut_lanes *g)
{
    hinges H;
    abut_lanes d;
    open_hinges(x, &H);
    bent(&H, rest, &d);
    angle_gradients(&H, g);
    for (int i = 0; i < 12; i++) {
        g[i] = 2 * *k * d * g[i];
        closed_to(&H, 0, &g[i]);
    }
}

/* ---- second derivatives ---- */

/* A pair of modes: z^T [d o; o 0] z with z = (u.dx, w.dx). */
typedef struct mode {
    abut_lanes d, o, u[12], w[12];
} mode;

/* row[12] = scale (weight x dir) */
INLINE void mode_row(const abut_lanes *weight, const abut_lanes *dir, const abut_lanes *scale, abut_lanes *row)
{
    for (int c = 0; c < 4; c++)
        for (int i = 0; i < 3; i++) row[3 * c + i] = *scale * weight[c] * dir[i];
}

/* both = (A + B)/sqrt 2, apart = (B - A)/sqrt 2 of the components of qA along dA and of qB along dB, over the heights */
INLINE void wing_modes(const hinges *H, const abut_lanes *dA, const abut_lanes *dB, abut_lanes *both, abut_lanes *apart)
{
    const double half = 0.70710678118654752440;
    const abut_lanes sA = half / H->A.h, sB = half / H->B.h;
    abut_lanes rowA[12], rowB[12];
    mode_row(H->A.weight, dA, &sA, rowA);
    mode_row(H->B.weight, dB, &sB, rowB);
    for (int i = 0; i < 12; i++) {
        both[i] = rowB[i] + rowA[i];
        apart[i] = rowB[i] - rowA[i];
    }
}

/* Cosine and sine of theta/2. */
INLINE void halve(const hinges *H, abut_lanes *c, abut_lanes *s)
{
    const abut_lane_mask wide = H->cosine < 0;
    abut_lanes large = 0.5 * (1 + ABUT_LANES_ABS(H->cosine)), small;    /* the larger of the two, at least sqrt(1/2) */
    abut_lanes_sqrt(&large);
    small = 0.5 * H->sine / large;
    *c = ABUT_LANES_PICK(wide, ABUT_LANES_ABS(small), large);
    *s = ABUT_LANES_PICK(wide, ABUT_LANES_PICK(H->sine < 0, -large, large), small);
}

INLINE void modes_of(const abut_lanes *k, const abut_lanes *rest, const hinges *H, mode m[4])
{
    const abut_lanes turn[4] = { ABUT_LANES_ALL(-1.), ABUT_LANES_ALL(1.), ABUT_LANES_ALL(0.), ABUT_LANES_ALL(0.) };
    const abut_lanes per_length = 1 / H->l;
    abut_lanes d, c, s, mA[3], mB[3], bisector[3], across[3];
    bent(H, rest, &d);
    halve(H, &c, &s);
    cross(H->A.p, H->e, mA);
    cross(H->e, H->B.p, mB);
    for (int i = 0; i < 3; i++) bisector[i] = c * H->A.p[i] - s * mA[i];
    cross(H->e, bisector, across);
    wing_modes(H, H->A.p, H->B.p, m[0].u, m[1].u);
    wing_modes(H, mA, mB, m[0].w, m[1].w);
    mode_row(turn, bisector, &per_length, m[2].u);
    mode_row(turn, across, &per_length, m[3].u);
    wing_modes(H, H->e, H->e, m[2].w, m[3].w);

    const abut_lanes D = 2 * *k * d, sine = 2 * s * c;
    m[0].d = 4 * *k, m[0].o = D;
    m[1].d = ABUT_LANES_ALL(0.), m[1].o = D;
    m[2].d = -D * sine, m[2].o = 1.41421356237309504880 * D * c;
    m[3].d = D * sine, m[3].o = 1.41421356237309504880 * D * s;
}

/* v[12] of the positive semidefinite v v^T nearest to it (energy/two_modes.h) */
INLINE void positive(const mode *m, abut_lanes *v)
{
    const abut_lanes none = ABUT_LANES_ALL(0.);
    abut_lanes r = m->d * m->d + 4 * m->o * m->o;
    abut_lanes_sqrt(&r);
    const abut_lanes most = ABUT_LANES_PICK(m->d > 0, 0.5 * (m->d + r), 2 * m->o * m->o / (r - m->d));  /* no cancellation */
    const abut_lane_mask some = most > 0;
    const abut_lanes t = ABUT_LANES_PICK(some, m->o / most, none);
    abut_lanes root = ABUT_LANES_PICK(some, most / (1 + t * t), none);
    abut_lanes_sqrt(&root);
    for (int i = 0; i < 12; i++) v[i] = root * (m->u[i] + t * m->w[i]);
}

ABUT_LANES_CLONES
void abut_hinge_squares_lanes(const abut_lanes *k, const abut_lanes *rest, const abut_lanes *x, abut_lanes *v)
{
    hinges H;
    mode m[4];
    open_hinges(x, &H);
    modes_of(k, rest, &H, m);
    for (int i = 0; i < 4; i++) positive(&m[i], v + 12 * i);
    for (int i = 0; i < 48; i++) closed_to(&H, 0, &v[i]);
}

ABUT_LANES_CLONES
static void modes_lanes(const abut_lanes *k, const abut_lanes *rest, const abut_lanes *x, mode m[4])
{
    hinges H;
    open_hinges(x, &H);
    modes_of(k, rest, &H, m);
    for (int i = 0; i < 4; i++) {
        closed_to(&H, 0, &m[i].d);
        closed_to(&H, 0, &m[i].o);
        for (int j = 0; j < 12; j++) closed_to(&H, 0, &m[i].u[j]), closed_to(&H, 0, &m[i].w[j]);
    }
}

/* ---- one hinge ---- */

/* the same in every lane */
static void spread(const double *v, int n, abut_lanes *to)
{
    for (int i = 0; i < n; i++) to[i] = ABUT_LANES_ALL(v[i]);
}

static void first(const abut_lanes *v, int n, double *to)
{
    for (int i = 0; i < n; i++) to[i] = v[i][0];
}

double abut_hinge_theta(const double x[12], double *grad)
{
    abut_lanes at[12], g[12], theta;
    spread(x, 12, at);
    theta_lanes(at, &theta, g);
    if (grad && !isnan(theta[0])) first(g, 12, grad);
    return theta[0];
}

double abut_hinge_energy(double k, double rest, const double x[12])
{
    abut_lanes at[12], energy;
    spread(x, 12, at);
    abut_hinge_energy_lanes(&ABUT_LANES_ALL(k), &ABUT_LANES_ALL(rest), at, &energy);
    return energy[0];
}

void abut_hinge_gradient(double k, double rest, const double x[12], double g[12])
{
    abut_lanes at[12], f[12];
    spread(x, 12, at);
    abut_hinge_gradient_lanes(&ABUT_LANES_ALL(k), &ABUT_LANES_ALL(rest), at, f);
    first(f, 12, g);
}

void abut_hinge_hessian(double k, double rest, const double x[12], int project, double *H)
{
    abut_lanes at[12], squares[48];
    double v[48], u[12], w[12];
    mode m[4];
    spread(x, 12, at);
    if (project) {
        abut_hinge_squares_lanes(&ABUT_LANES_ALL(k), &ABUT_LANES_ALL(rest), at, squares);
        first(squares, 48, v);
        abut_add_squares4(v, H);
        return;
    }
    modes_lanes(&ABUT_LANES_ALL(k), &ABUT_LANES_ALL(rest), at, m);
    for (int i = 0; i < 4; i++) {
        first(m[i].u, 12, u);
        first(m[i].w, 12, w);
        abut_two_modes_add(4, m[i].d[0], m[i].o[0], u, w, H);
    }
}
