#include "energy/thin_limit.h"

#include "base/par.h"
#include "energy/stretch_limit.h"

#include <math.h>
#include <string.h>

/* a bound on a step is found to this much of itself, on the safe side */
#define CLOSE_ENOUGH 1e-2
#define MOST_STEPS 60

/* ---- how far one shell may go ---- */

/* m, d, q of [m + d, q; q, m - d] = F^T F for F + a G: each v[0] + v[1] a + v[2] a^2 */
typedef struct metric {
    double m[3], d[3], q[3];
} metric;

static double norm2(double a, double b) { return sqrt(a * a + b * b); }

static double product(const double A[6], int i, const double B[6], int j)
{
    return A[i] * B[j] + A[2 + i] * B[2 + j] + A[4 + i] * B[4 + j];
}

static metric metric_of(const double F[6], const double G[6])
{
    const double *const A[3] = { F, F, G }, *const B[3] = { F, G, G };
    metric c;
    for (int k = 0; k < 3; k++) {
        const double w = k == 1 ? 2 : 1, pp = w * product(A[k], 0, B[k], 0), qq = w * product(A[k], 1, B[k], 1);
        c.m[k] = 0.5 * (pp + qq);
        c.d[k] = 0.5 * (pp - qq);
        c.q[k] = k == 1 ? product(F, 0, G, 1) + product(G, 0, F, 1) : product(A[k], 0, B[k], 1);
    }
    return c;
}

static double at(const double v[3], double a) { return v[0] + a * (v[1] + a * v[2]); }
static double slope(const double v[3], double a) { return v[1] + 2 * a * v[2]; }

/* the larger eigenvalue, a convex function of a, and its derivative */
static double larger(const metric *c, double a, double *dl)
{
    const double d = at(c->d, a), q = at(c->q, a), dd = slope(c->d, a), dq = slope(c->q, a), root = norm2(d, q);
    *dl = slope(c->m, a) + (root > 0 ? (d * dd + q * dq) / root : norm2(dd, dq));
    return at(c->m, a) + root;
}

double abut_stretch_step_high(const double F[6], const double G[6], double most)
{
    const metric c = metric_of(F, G);
    const double target = most * most;
    double a = 0, b = 1, da, db, in = larger(&c, 0, &da), out = larger(&c, 1, &db);
    if (!(in <= target)) return 0;
    if (out <= target) return 1;
    for (int k = 0; k < MOST_STEPS && b - a > CLOSE_ENOUGH * b; k++) {  /* chords from inside, tangents from outside */
        a += (b - a) * ((target - in) / (out - in));
        in = larger(&c, a, &da);
        b = fmax(a, b - (out - target) / db);
        out = larger(&c, b, &db);
        if (out <= target) return b;
    }
    return a;
}

/* singular values: their product is the area, their squares add up to |F|^2 */
static void singular_values(const double F[6], double *low, double *high)
{
    const double pp = product(F, 0, F, 0), qq = product(F, 1, F, 1), pq = product(F, 0, F, 1);
    const double n[3] = { F[2] * F[5] - F[4] * F[3], F[4] * F[1] - F[0] * F[5], F[0] * F[3] - F[2] * F[1] };
    *high = sqrt(0.5 * (pp + qq) + norm2(0.5 * (pp - qq), pq));
    *low = *high > 0 ? sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / *high : 0;
}

double abut_stretch_step_low(const double F[6], const double G[6], double least)
{
    double E[6], low, high, speed, a = 0;
    singular_values(G, &low, &speed);
    singular_values(F, &low, &high);
    if (!(low >= least)) return 0;
    const double enough = CLOSE_ENOUGH * (low - least);
    for (int k = 0; k < MOST_STEPS; k++) {
        if (!(low - least < (1 - a) * speed)) return 1;
        a += (low - least) / speed;
        for (int i = 0; i < 6; i++) E[i] = F[i] + a * G[i];
        singular_values(E, &low, &high);
        if (low - least < enough) break;
    }
    return a;
}

/* The smallest positive root of c0 + c1 a + c2 a^2, c0 > 0; +inf when there is none. */
static double first_root(double c0, double c1, double c2)
{
    const double disc = c1 * c1 - 4 * c0 * c2, q = disc >= 0 ? sqrt(disc) - c1 : 0;
    return q > 0 ? 2 * c0 / q : INFINITY;
}

/* columns of F whose product is the strain: along warp, along weft, in shear */
static const int first_of[3] = { 0, 1, 0 }, second_of[3] = { 0, 1, 1 };

static double strain_of(const double F[6], int k)
{
    const int i = first_of[k], j = second_of[k];
    return 0.5 * (product(F, i, F, j) - (i == j));
}

/* Green strain is quadratic in a: (warp, weft, shear) of F + a G */
static double strain_step(const double F[6], const double G[6], const double bound[3], double slack)
{
    double step = 1;
    for (int k = 0; k < 3; k++) {
        const int i = first_of[k], j = second_of[k];
        const double e0 = strain_of(F, k), e1 = 0.5 * (product(F, i, G, j) + product(G, i, F, j));
        const double e2 = 0.5 * product(G, i, G, j), left = (1 - slack) * (bound[k] - fabs(e0)), end = e0 < 0 ? -1 : 1;
        if (!(left > 0)) return 0;
        if (left > fabs(e1) + fabs(e2)) continue;
        /* on the side where e0 is `left` is left; on the other 2 |e0| more */
        step = fmin(step, first_root(left, -end * e1, -end * e2));
        step = fmin(step, first_root(left + 2 * fabs(e0), end * e1, end * e2));
    }
    return step < 1 ? (1 - 1e-9) * step : 1;
}

/* ---- all shells ---- */

static const abut_membrane *law_of(const abut_thin *t, size_t shell)
{
    return &t->membrane[t->model->shell_mat[shell]];
}

static int acts(const double *row, int upper) { return row && (row[upper ? 2 : 0] != 0 || row[upper ? 3 : 1] != 0); }

/* whether the energy of a shell becomes infinite as its area goes to 0 */
static int injective(const abut_membrane *law)
{
    return law->kind == ABUT_MEMBRANE_ISOTROPIC && abut_material_injective(law->model);
}

static double shell_step(const abut_thin *t, const double *x, const double *p, size_t shell, double slack)
{
    const double *row = t->model->shell_limit ? t->model->shell_limit + 4 * shell : NULL;
    const abut_membrane *law = law_of(t, shell);
    const int below = acts(row, 0) || injective(law), above = acts(row, 1);
    double F[6], G[6], low, high, change = 0, step = 1;
    if (!below && !above && !law->strain) return 1;
    abut_shell_gradient_of(t, x, shell, F);
    abut_shell_gradient_of(t, p, shell, G);
    singular_values(F, &low, &high);
    for (int i = 0; i < 6; i++) change += G[i] * G[i];
    change = (1 + 1e-9) * sqrt(change);     /* no singular value changes by more */
    if (above) {
        const double most = high + (1 - slack) * (row[ABUT_STRETCH_HIGH] - high);
        if (!(high + change < most)) step = fmin(step, abut_stretch_step_high(F, G, most));
    }
    if (below) {
        const double least = low - (1 - slack) * (low - (acts(row, 0) ? row[ABUT_STRETCH_LOW] : 0));
        if (!(low - change > least)) step = fmin(step, abut_stretch_step_low(F, G, least));
    }
    if (law->strain) step = fmin(step, strain_step(F, G, law->strain, slack));
    return step;
}

void abut_limit_stretch(const abut_thin *t, const double *x, const double *p, double slack, abut_limit *lim)
{
    const int32_t n = t->n ? t->model->nsh : 0;
    double least = lim->alpha;
    int32_t which = INT32_MAX;
    #pragma omp parallel if ((size_t)n >= ABUT_PAR_MIN)
    {
        /* least bound, then lowest shell: an order in which any thread may come first */
        double mine = lim->alpha;
        int32_t shell = INT32_MAX;
        #pragma omp for schedule(static) nowait
        for (int32_t i = 0; i < n; i++) {
            const double step = shell_step(t, x, p, (size_t)i, slack);
            if (step < mine) mine = step, shell = i;
        }
        #pragma omp critical(abut_limit_stretch)
        if (mine < least || (mine <= least && shell < which)) least = mine, which = shell;
    }
    if (which == INT32_MAX) return;
    *lim = (abut_limit){ .alpha = least, .kind = ABUT_LIMIT_STRETCH, .tet = which, .node = { [3] = -1 } };
    memcpy(lim->node, t->model->shell + 3 * (size_t)which, 3 * sizeof *lim->node);
}

/* ---- where shells stand ---- */

static int exceeds(abut_thin_excess *out, const char *what, double value, double limit, int below)
{
    out->what = what;
    out->value = value;
    out->limit = limit;
    out->below = below;
    return 1;
}

static int shell_outside(const abut_thin *t, const double *x, size_t shell, abut_thin_excess *out)
{
    static const char *const strain[] = { "strain along warp", "strain along weft", "shear strain" };
    const double *row = t->model->shell_limit ? t->model->shell_limit + 4 * shell : NULL, *bound = law_of(t, shell)->strain;
    double F[6], s[2];
    abut_shell_deformation(t, x, (int32_t)shell, F, s);
    const double low = fmin(s[0], s[1]), high = fmax(s[0], s[1]);
    if (!(low > 0)) return exceeds(out, "smallest stretch", low, 0, 1);
    if (acts(row, 0) && !(low > row[ABUT_STRETCH_LOW])) return exceeds(out, "smallest stretch", low, row[ABUT_STRETCH_LOW], 1);
    if (acts(row, 1) && !(high < row[ABUT_STRETCH_HIGH])) return exceeds(out, "largest stretch", high, row[ABUT_STRETCH_HIGH], 0);
    for (int k = 0; k < 3 && bound; k++) {
        const double e = strain_of(F, k);
        if (!(fabs(e) < bound[k])) return exceeds(out, strain[k], e, e < 0 ? -bound[k] : bound[k], e < 0);
    }
    return 0;
}

int abut_thin_outside(const abut_thin *t, const double *x, abut_thin_excess *out)
{
    for (int32_t i = 0; i < (t->n ? t->model->nsh : 0); i++) {
        out->shell = i;
        if (shell_outside(t, x, (size_t)i, out)) return 1;
    }
    return 0;
}

/* what the strains of F leave of their bounds, as shares of these; NULL: there are none */
static double strain_room(const double F[6], const double *bound)
{
    double room = 1;
    for (int k = 0; k < 3 && bound; k++) room = fmin(room, 1 - fabs(strain_of(F, k)) / bound[k]);
    return room;
}

static const abut_thin_stretch none = { 1, 1, -1, -1, 1, -1 };

static void take(abut_thin_stretch *s, const abut_thin_stretch *o)
{
    if (o->min_shell >= 0 && (s->min_shell < 0 || o->min < s->min)) s->min = o->min, s->min_shell = o->min_shell;
    if (o->max_shell >= 0 && (s->max_shell < 0 || o->max > s->max)) s->max = o->max, s->max_shell = o->max_shell;
    if (o->room < s->room) s->room = o->room, s->room_shell = o->room_shell;
}

static abut_thin_stretch stretch_of(const abut_thin *t, const double *x, size_t shell)
{
    double F[6], s[2];
    abut_shell_gradient_of(t, x, shell, F);
    singular_values(F, &s[0], &s[1]);
    abut_thin_stretch o = { s[0], s[1], (int32_t)shell, (int32_t)shell, 1, (int32_t)shell };
    if (t->model->shell_limit) o.room = abut_stretch_room(t->model->shell_limit + 4 * shell, s);
    o.room = fmin(o.room, strain_room(F, law_of(t, shell)->strain));
    return o;
}

abut_status abut_thin_stretch_find(const abut_thin *t, const double *x, abut_thin_stretch *out, abut_arena *scratch,
                                   abut_err *err)
{
    const size_t n = t->n ? (size_t)t->model->nsh : 0, nb = abut_blocks(n);
    *out = none;
    if (n == 0) return ABUT_OK;
    const abut_mark mark = abut_arena_mark(scratch);
    abut_thin_stretch *part = ABUT_NEW(scratch, abut_thin_stretch, nb);
    if (!part) return abut_fail(err, ABUT_E_NOMEM, "stretch: %zu partial extremes", nb);

    #pragma omp parallel for schedule(static) if (nb > 2)
    for (size_t b = 0; b < nb; b++) {
        const abut_range r = abut_block(n, b);
        part[b] = none;
        for (size_t i = r.lo; i < r.hi; i++) {
            const abut_thin_stretch o = stretch_of(t, x, i);
            take(&part[b], &o);
        }
    }

    for (size_t b = 0; b < nb; b++) take(out, &part[b]);
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}
