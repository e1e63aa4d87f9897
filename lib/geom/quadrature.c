#include "geom/quadrature.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Points that are permutations of one: all coordinates equal (CENTRE), all but one (ONE: a, a, .., 1 - ..), two pairs
 * (PAIRS: a, a, 1/2 - a, 1/2 - a), all but two (TWO: a, a, b, 1 - 2a - b of a tet; a, b, 1 - a - b of a triangle). */
typedef enum orbit_kind { CENTRE, ONE, PAIRS, TWO } orbit_kind;
typedef struct orbit {
    orbit_kind kind;
    double w, a, b;     /* weight of each point */
} orbit;

static const orbit tet1[] = { { CENTRE, 1, 0, 0 } };
static const orbit tet2[] = { { ONE, 0.25, 0.13819660112501051518, 0 } };
static const orbit tet3[] = {
    { ONE, 0.16145422753048138607, 0.32757784974112918046, 0 }, { ONE, 0.088545772469518613935, 0.094055521251772164646, 0 },
};
static const orbit tet5[] = {
    { ONE, 0.1126879257180158508, 0.3108859192633006098, 0 },
    { ONE, 0.073493043116361949544, 0.092735250310891226402, 0 },
    { PAIRS, 0.042546020777081466438, 0.45449629587435035051, 0 },
};
static const orbit tet6[] = {
    { ONE, 0.055357181543654722095, 0.32233789014227551034, 0 },
    { ONE, 0.0399227502581674921, 0.21460287125915202929, 0 },
    { ONE, 0.010077211055320642948, 0.040673958534611353116, 0 },
    { TWO, 0.048214285714285714286, 0.063661001875017525299, 0.26967233145831580803 },
};
static const orbit tet7[] = {
    { CENTRE, 0.095485289464130848861, 0, 0 },
    { ONE, 0.042329581209967029076, 0.31570114977820279942, 0 },
    { PAIRS, 0.031896927832857579934, 0.44951017740160363124, 0 },
    { TWO, 0.0081107708299033415661, 0.021265472541483245989, 0.81083024109854856112 },
    { TWO, 0.03720713072833462137, 0.18883383102600104774, 0.57517163758700002348 },
};
static const orbit tet8[] = {
    { ONE, 0.0063971477799020471286, 0.039675423070389207578, 0 },
    { ONE, 0.040190448020965806612, 0.31448780069809638138, 0 },
    { ONE, 0.024307975504769912499, 0.10198669306270192053, 0 },
    { ONE, 0.054858892413697998816, 0.18420369694919135874, 0 },
    { PAIRS, 0.035719612234099050555, 0.063436287754539665787, 0 },
    { TWO, 0.0071831906978525487618, 0.021690162067728074966, 0.7199319220394665035 },
    { TWO, 0.016372181945319337609, 0.20448008063679580785, 0.58057719012880845041 },
};
static const orbit tet9[] = {
    { ONE, 0.0078243929777464848439, 0.043046415209759373714, 0 },
    { ONE, 0.039020260056278855216, 0.29512210827636495801, 0 },
    { PAIRS, 0.012150081876201692671, 0.46437449290385380061, 0 },
    { TWO, 0.016312669976816096351, 0.16346199993603773655, 0.030683261654952902232 },
    { TWO, 0.0077241683168105868895, 0.028172978868091669862, 0.7195032848456682362 },
    { TWO, 0.014497725309721439386, 0.40152370663424475019, 0.18127712660463768454 },
    { TWO, 0.023108844447209251018, 0.11758024001242033285, 0.27182825999983610535 },
};
static const orbit triangle1[] = { { CENTRE, 1, 0, 0 } };
static const orbit triangle2[] = { { ONE, 1.0 / 3, 1.0 / 6, 0 } };
static const orbit triangle4[] = {
    { ONE, 0.2233815896780114657, 0.44594849091596488632, 0 }, { ONE, 0.10995174365532186764, 0.09157621350977074346, 0 },
};
static const orbit triangle5[] = {
    { CENTRE, 0.225, 0, 0 },
    { ONE, 0.13239415278850618074, 0.47014206410511508977, 0 },
    { ONE, 0.1259391805448271526, 0.1012865073234563388, 0 },
};
static const orbit triangle6[] = {
    { ONE, 0.11678627572637936603, 0.24928674517091042129, 0 },
    { ONE, 0.050844906370206816921, 0.06308901449150222834, 0 },
    { TWO, 0.082851075618373575194, 0.053145049844816947353, 0.31035245103378440542 },
};
static const orbit triangle8[] = {
    { CENTRE, 0.14431560767778716825, 0, 0 },
    { ONE, 0.095091634267284624794, 0.45929258829272315603, 0 },
    { ONE, 0.10321737053471825028, 0.17056930775176020662, 0 },
    { ONE, 0.032458497623198080311, 0.050547228317030975458, 0 },
    { TWO, 0.027230314174434994265, 0.26311282963463811342, 0.0083947774099576053372 },
};

typedef struct rule {
    int corners, degree, n, orbits;
    const orbit *orbit;
} rule;
#define RULE(corners, degree, n, table) { corners, degree, n, (int)(sizeof table / sizeof *table), table }
static const rule rules[] = {       /* ascending degrees */
    RULE(4, 1, 1, tet1),      RULE(4, 2, 4, tet2),      RULE(4, 3, 8, tet3),      RULE(4, 5, 14, tet5),
    RULE(4, 6, 24, tet6),     RULE(4, 7, 35, tet7),     RULE(4, 8, 46, tet8),     RULE(4, 9, 62, tet9),
    RULE(3, 1, 1, triangle1), RULE(3, 2, 3, triangle2), RULE(3, 4, 6, triangle4), RULE(3, 5, 7, triangle5),
    RULE(3, 6, 12, triangle6), RULE(3, 8, 16, triangle8),
};

static abut_status room(abut_quadrature *q, int corners, int degree, int n, abut_err *err)
{
    *q = (abut_quadrature){ .degree = degree, .corners = corners, .n = n };
    q->L = malloc(sizeof *q->L * (size_t)(n * corners)), q->w = malloc(sizeof *q->w * (size_t)n);
    if (q->L && q->w) return ABUT_OK;
    abut_quadrature_clear(q);
    return abut_fail(err, ABUT_E_NOMEM, "quadrature: no memory for %d points", n);
}

/* All different orders of the coordinates, which come sorted, in lexicographic order. */
static void permutations(abut_quadrature *q, int *at, double c[4], double w)
{
    const int m = q->corners;
    for (;;) {
        for (int k = 0; k < m; k++) q->L[m * *at + k] = c[k];
        q->w[(*at)++] = w;
        int i = m - 2;
        while (i >= 0 && !(c[i] < c[i + 1])) i--;
        if (i < 0) return;
        int j = m - 1;
        while (!(c[i] < c[j])) j--;
        const double t = c[i];
        c[i] = c[j], c[j] = t;
        for (int lo = i + 1, hi = m - 1; lo < hi; lo++, hi--) {
            const double s = c[lo];
            c[lo] = c[hi], c[hi] = s;
        }
    }
}

static void orbit_points(abut_quadrature *q, int *at, const orbit *o)
{
    const int m = q->corners;
    double c[4];
    for (int k = 0; k < m; k++) c[k] = o->kind == CENTRE ? 1.0 / m : o->a;
    if (o->kind == ONE) c[m - 1] = 1 - (m - 1) * o->a;
    if (o->kind == PAIRS) c[2] = c[3] = 0.5 - o->a;
    if (o->kind == TWO) c[m - 2] = o->b, c[m - 1] = 1 - (m - 2) * o->a - o->b;
    for (int i = 1; i < m; i++)     /* sorted by insertion */
        for (int j = i; j > 0 && c[j] < c[j - 1]; j--) {
            const double t = c[j];
            c[j] = c[j - 1], c[j - 1] = t;
        }
    permutations(q, at, c, o->w);
}

/* The Jacobi polynomial P_n^(a,0) at x, and *d its derivative (M. Abramowitz and I. Stegun, 22.7.1, with b = 0). */
static double jacobi(int n, int a, double x, double *d)
{
    double p = 1, dp = 0, q = (a + 1) + (a + 2) * (x - 1) / 2, dq = (a + 2) / 2.0;
    for (int k = 2; k <= n; k++) {
        const double s = 2 * k + a, lead = 2.0 * k * (k + a) * (s - 2);
        const double f = (s - 1) * (s * (s - 2) * x + a * a) / lead, df = (s - 1) * s * (s - 2) / lead;
        const double g = 2.0 * (k + a - 1) * (k - 1) * s / lead;
        const double r = f * q - g * p, dr = df * q + f * dq - g * dp;
        p = q, dp = dq, q = r, dq = dr;
    }
    *d = dq;
    return q;
}

enum { AXIS_MAX = ABUT_QUADRATURE_MAX / 2 + 1 };

/* The n nodes and weights of the integral of (1-t)^a f(t) over [0,1]: Newton's method, the roots found so far divided out. */
static void gauss_jacobi(int n, int a, double t[AXIS_MAX], double w[AXIS_MAX])
{
    double root[AXIS_MAX];
    for (int i = 0; i < n; i++) {
        double x = -cos(acos(-1) * (i + 0.75) / (n + 0.5)), d, step = 1;
        for (int k = 0; k < 100 && fabs(step) > 1e-16; k++) {
            const double p = jacobi(n, a, x, &d);
            double others = 0;
            for (int j = 0; j < i; j++) others += 1 / (x - root[j]);
            x -= step = p / (d - p * others);
        }
        root[i] = x;
        jacobi(n, a, x, &d);
        t[i] = (1 + x) / 2, w[i] = 1 / ((1 - x * x) * d * d);
    }
}

static abut_status conical(int corners, int degree, abut_quadrature *q, abut_err *err)
{
    const int n = degree / 2 + 1, layers = corners == 4 ? n : 1;
    double t[3][AXIS_MAX], w[3][AXIS_MAX];
    const abut_status rc = room(q, corners, 2 * n - 1, n * n * layers, err);
    if (rc) return rc;
    for (int a = 0; a < 3; a++) gauss_jacobi(n, a, t[a], w[a]);
    int at = 0;
    for (int l = 0; l < layers; l++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++, at++) {
                const double c = corners == 4 ? t[2][l] : 0;
                double *L = q->L + corners * at;
                L[1] = t[0][i] * (1 - t[1][j]) * (1 - c), L[2] = t[1][j] * (1 - c);
                L[0] = (1 - t[0][i]) * (1 - t[1][j]) * (1 - c);
                if (corners == 4) L[3] = c;
                q->w[at] = corners == 4 ? 6 * w[0][i] * w[1][j] * w[2][l] : 2 * w[0][i] * w[1][j];
            }
    return ABUT_OK;
}

static abut_status rule_of(int corners, int degree, abut_quadrature *q, abut_err *err)
{
    assert(degree >= 0 && degree <= ABUT_QUADRATURE_MAX);
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
        if (rules[r].corners != corners || rules[r].degree < degree) continue;
        const abut_status rc = room(q, corners, rules[r].degree, rules[r].n, err);
        int at = 0;
        for (int k = 0; !rc && k < rules[r].orbits; k++) orbit_points(q, &at, &rules[r].orbit[k]);
        assert(rc || at == q->n);
        return rc;
    }
    return conical(corners, degree, q, err);
}

abut_status abut_quadrature_tet(int degree, abut_quadrature *q, abut_err *err) { return rule_of(4, degree, q, err); }
abut_status abut_quadrature_triangle(int degree, abut_quadrature *q, abut_err *err) { return rule_of(3, degree, q, err); }

void abut_quadrature_clear(abut_quadrature *q)
{
    free(q->L), free(q->w);
    *q = (abut_quadrature){ 0 };
}
