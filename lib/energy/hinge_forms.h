/* Hinges (energy/hinge.h) for one number or four at a time, as energy/material/density_forms.h. */
#ifndef ABUT_HINGE_SINE_MIN
#define ABUT_HINGE_SINE_MIN 1e-13   /* sine of the angle at x0: below it a wing's normal is rounding */
#define ABUT_HINGE_TURN (2 * 3.14159265358979323846)
#endif

/* One wing of a hinge. */
typedef struct NAME(abut_hinge_wing) {
    REAL p[3];          /* unit normal */
    REAL h;             /* m, height over the edge */
    REAL weight[4];     /* of the corners in q */
    MASK open;          /* it has a normal */
} NAME(abut_hinge_wing);

typedef struct NAME(abut_hinge) {
    REAL l, sine, cosine, theta;
    REAL e[3];          /* unit */
    NAME(abut_hinge_wing) A, B;
    MASK open;          /* both wings have a normal */
} NAME(abut_hinge);

FORM void NAME(abut_hinge_dot)(const REAL *a, const REAL *b, REAL *c)
{
    *c = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

FORM void NAME(abut_hinge_cross)(const REAL *a, const REAL *b, REAL *c)
{
    for (int i = 0; i < 3; i++) c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

FORM void NAME(abut_hinge_norm)(const REAL *a, REAL *n)
{
    NAME(abut_hinge_dot)(a, a, n);
    SQRT(n);
}

FORM void NAME(abut_hinge_wing_of)(const NAME(abut_hinge) *H, const REAL *side, const REAL *normal, int apex,
                                   NAME(abut_hinge_wing) *w)
{
    REAL n, length, foot;
    NAME(abut_hinge_norm)(normal, &n);
    NAME(abut_hinge_norm)(side, &length);
    NAME(abut_hinge_dot)(side, H->e, &foot);
    foot = foot / H->l;
    for (int i = 0; i < 3; i++) w->p[i] = normal[i] / n;
    w->h = n / H->l;
    w->weight[0] = foot - 1;
    w->weight[1] = -foot;
    w->weight[2] = ALL(apex == 2);
    w->weight[3] = ALL(apex == 3);
    w->open = n > ABUT_HINGE_SINE_MIN * H->l * length;
}

FORM void NAME(abut_hinge_open)(const REAL x[12], NAME(abut_hinge) *H)
{
    REAL e[3], a[3], b[3], n[3];
    for (int i = 0; i < 3; i++) e[i] = x[3 + i] - x[i], a[i] = x[6 + i] - x[i], b[i] = x[9 + i] - x[i];
    NAME(abut_hinge_norm)(e, &H->l);
    for (int i = 0; i < 3; i++) H->e[i] = e[i] / H->l;
    NAME(abut_hinge_cross)(e, a, n);
    NAME(abut_hinge_wing_of)(H, a, n, 2, &H->A);
    NAME(abut_hinge_cross)(b, e, n);
    NAME(abut_hinge_wing_of)(H, b, n, 3, &H->B);
    NAME(abut_hinge_cross)(H->A.p, H->B.p, n);
    NAME(abut_hinge_dot)(n, H->e, &H->sine);
    NAME(abut_hinge_dot)(H->A.p, H->B.p, &H->cosine);
    ATAN2(&H->sine, &H->cosine, &H->theta);
    H->open = H->A.open & H->B.open & (H->theta - H->theta == 0);
}

/* d = theta - rest on the branch nearest to rest */
FORM void NAME(abut_hinge_bent)(const NAME(abut_hinge) *H, const REAL *rest, REAL *d)
{
    const REAL off = H->theta - *rest, turns = (off / ABUT_HINGE_TURN + 0x1.8p52) - 0x1.8p52;   /* the nearest whole number */
    *d = off - turns * ABUT_HINGE_TURN;
}

/* corner for corner and axis by axis */
FORM void NAME(abut_hinge_gradients)(const NAME(abut_hinge) *H, REAL *grad)
{
    for (int c = 0; c < 4; c++) {
        const REAL a = H->A.weight[c] / H->A.h, b = H->B.weight[c] / H->B.h;
        for (int i = 0; i < 3; i++) grad[3 * c + i] = -(a * H->A.p[i] + b * H->B.p[i]);
    }
}

FORM void NAME(abut_hinge_closed_to)(const NAME(abut_hinge) *H, double value, REAL *v)
{
    *v = PICK(H->open, *v, ALL(value));
}

/* ---- second derivatives ---- */

/* A pair of modes: z^T [d o; o 0] z with z = (u.dx, w.dx). */
typedef struct NAME(abut_hinge_mode) {
    REAL d, o, u[12], w[12];
} NAME(abut_hinge_mode);

/* row[12] = scale (weight x dir) */
FORM void NAME(abut_hinge_mode_row)(const REAL *weight, const REAL *dir, const REAL *scale, REAL *row)
{
    for (int c = 0; c < 4; c++)
        for (int i = 0; i < 3; i++) row[3 * c + i] = *scale * weight[c] * dir[i];
}

/* both = (A + B)/sqrt 2, apart = (B - A)/sqrt 2 of the components of qA along dA and of qB along dB, over the heights */
FORM void NAME(abut_hinge_wing_modes)(const NAME(abut_hinge) *H, const REAL *dA, const REAL *dB, REAL *both, REAL *apart)
{
    const double half = 0.70710678118654752440;
    const REAL sA = half / H->A.h, sB = half / H->B.h;
    REAL rowA[12], rowB[12];
    NAME(abut_hinge_mode_row)(H->A.weight, dA, &sA, rowA);
    NAME(abut_hinge_mode_row)(H->B.weight, dB, &sB, rowB);
    for (int i = 0; i < 12; i++) {
        both[i] = rowB[i] + rowA[i];
        apart[i] = rowB[i] - rowA[i];
    }
}

/* Cosine and sine of theta/2. */
FORM void NAME(abut_hinge_halve)(const NAME(abut_hinge) *H, REAL *c, REAL *s)
{
    const MASK wide = H->cosine < 0;
    REAL large = 0.5 * (1 + ABS(H->cosine)), small;    /* the larger of the two, at least sqrt(1/2) */
    SQRT(&large);
    small = 0.5 * H->sine / large;
    *c = PICK(wide, ABS(small), large);
    *s = PICK(wide, PICK(H->sine < 0, -large, large), small);
}

FORM void NAME(abut_hinge_modes)(const REAL *k, const REAL *rest, const NAME(abut_hinge) *H, NAME(abut_hinge_mode) m[4])
{
    const REAL turn[4] = { ALL(-1.), ALL(1.), ALL(0.), ALL(0.) };
    const REAL per_length = 1 / H->l;
    REAL d, c, s, mA[3], mB[3], bisector[3], across[3];
    NAME(abut_hinge_bent)(H, rest, &d);
    NAME(abut_hinge_halve)(H, &c, &s);
    NAME(abut_hinge_cross)(H->A.p, H->e, mA);
    NAME(abut_hinge_cross)(H->e, H->B.p, mB);
    for (int i = 0; i < 3; i++) bisector[i] = c * H->A.p[i] - s * mA[i];
    NAME(abut_hinge_cross)(H->e, bisector, across);
    NAME(abut_hinge_wing_modes)(H, H->A.p, H->B.p, m[0].u, m[1].u);
    NAME(abut_hinge_wing_modes)(H, mA, mB, m[0].w, m[1].w);
    NAME(abut_hinge_mode_row)(turn, bisector, &per_length, m[2].u);
    NAME(abut_hinge_mode_row)(turn, across, &per_length, m[3].u);
    NAME(abut_hinge_wing_modes)(H, H->e, H->e, m[2].w, m[3].w);

    const REAL D = 2 * *k * d, sine = 2 * s * c;
    m[0].d = 4 * *k, m[0].o = D;
    m[1].d = ALL(0.), m[1].o = D;
    m[2].d = -D * sine, m[2].o = 1.41421356237309504880 * D * c;
    m[3].d = D * sine, m[3].o = 1.41421356237309504880 * D * s;
}

/* v[12] of the positive semidefinite v v^T nearest to it (energy/material/two_modes.h) */
FORM void NAME(abut_hinge_positive)(const NAME(abut_hinge_mode) *m, REAL *v)
{
    const REAL none = ALL(0.);
    REAL r = m->d * m->d + 4 * m->o * m->o;
    SQRT(&r);
    const REAL most = PICK(m->d > 0, 0.5 * (m->d + r), 2 * m->o * m->o / (r - m->d));  /* no cancellation */
    const MASK some = most > 0;
    const REAL t = PICK(some, m->o / most, none);
    REAL root = PICK(some, most / (1 + t * t), none);
    SQRT(&root);
    for (int i = 0; i < 12; i++) v[i] = root * (m->u[i] + t * m->w[i]);
}
