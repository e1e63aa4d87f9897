#include "energy/stretch.h"

#include "math/svd3.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- tets ---- */

static const abut_stretch no_tet = { 1, 1, -1, -1 };

static void take_tet(abut_stretch *s, double lo, int32_t lo_tet, double hi, int32_t hi_tet)
{
    if (s->min_tet < 0 || lo < s->min) s->min = lo, s->min_tet = lo_tet;
    if (s->max_tet < 0 || hi > s->max) s->max = hi, s->max_tet = hi_tet;
}

abut_status abut_stretch_find(const abut_elastic *e, const double *x, abut_stretch *out, abut_arena *scratch, abut_err *err)
{
    assert(e);
    const size_t n = (size_t)e->n, nb = abut_blocks(n);
    const abut_mark mark = abut_arena_mark(scratch);
    abut_stretch *part = ABUT_NEW(scratch, abut_stretch, nb);
    if (!part) return abut_fail(err, ABUT_E_NOMEM, "stretch: %zu partial extremes", nb);

    #pragma omp parallel for schedule(static) if (nb > 2)
    for (size_t b = 0; b < nb; b++) {
        const abut_range r = abut_block(n, b);
        part[b] = no_tet;
        for (size_t t = r.lo; t < r.hi; t += ABUT_LANES) {
            abut_lanes F[9], U[9], s[3], V[9];
            for (size_t l = 0; l < ABUT_LANES; l++) {
                double f[9];
                (void)abut_elastic_deformation(e, x, (int32_t)(t + l < r.hi ? t + l : t), f);
                for (int i = 0; i < 9; i++) F[i][l] = f[i];
            }
            abut_svd3_lanes(F, U, s, V);
            for (size_t l = 0; l < ABUT_LANES && t + l < r.hi; l++)
                take_tet(&part[b], s[2][l], (int32_t)(t + l), s[0][l], (int32_t)(t + l));
        }
    }

    *out = no_tet;
    for (size_t b = 0; b < nb; b++) take_tet(out, part[b].min, part[b].min_tet, part[b].max, part[b].max_tet);
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

/* ---- shells ---- */

static void count_stretch(abut_shell_span *s, double stretch)
{
    const double bin = floor((stretch - s->from) / s->width);
    s->bin[bin < 0 ? 0 : bin < ABUT_SPAN_BINS ? (int)bin : ABUT_SPAN_BINS - 1]++;  /* NaN: the last */
}

/* Takes |E11|, |E22|, |E12| of E = (F^T F - 1) / 2 as fractions of the limits of cloth; returns 1 if one is reached. */
static int take_strain(abut_shell_span *s, const double F[6], const double limit[3], int32_t row)
{
    double C[3] = { -1, -1, 0 };
    int reached = 0;
    for (int k = 0; k < 3; k++) {
        C[0] += F[2 * k] * F[2 * k], C[1] += F[2 * k + 1] * F[2 * k + 1];
        C[2] += F[2 * k] * F[2 * k + 1];
    }
    for (int k = 0; k < 3; k++) {
        const double share = 0.5 * fabs(C[k]) / limit[k];
        reached |= !(share < 1);
        if (s->strain_row[k] < 0 || share > s->strain[k]) s->strain[k] = share, s->strain_row[k] = row;
    }
    return reached;
}

void abut_shell_span_find(const abut_codim *t, const double *x, const double *limits, const uint8_t *chosen, double half,
                          abut_shell_span *out)
{
    const abut_model *m = t->model;
    *out = (abut_shell_span){ .min = 1, .max = 1, .min_row = -1, .max_row = -1, .room = 1, .room_row = -1,
                              .strain_row = { -1, -1, -1 }, .from = 1 - half, .width = 2 * half / ABUT_SPAN_BINS };
    for (int32_t i = 0; m && i < m->nsh; i++) {
        double F[6], s[2];
        if (chosen && !chosen[m->body[m->shell[3 * (size_t)i]]]) continue;
        abut_shell_deformation(t, x, i, F, s);
        const double high = fmax(s[0], s[1]), low = fmin(s[0], s[1]);
        const double room = limits ? abut_stretch_room(limits + 4 * (size_t)i, s) : 1;
        int reached = !(room > 0);
        out->n++;
        if (out->max_row < 0 || high > out->max) out->max = high, out->max_row = i;
        if (out->min_row < 0 || low < out->min) out->min = low, out->min_row = i;
        if (out->room_row < 0 || room < out->room) out->room = room, out->room_row = i;
        if (m->mat_membrane && m->mat_membrane[m->shell_mat[i]] == ABUT_MEMBRANE_CLOTH)
            reached |= take_strain(out, F, m->mat_strain + 3 * (size_t)m->shell_mat[i], i);
        out->outside += reached;
        count_stretch(out, high), count_stretch(out, low);
    }
}

void abut_shell_limits(const abut_model *m, const uint8_t *chosen, double lower, double lower_begins, double upper_begins,
                       double upper, double *rows)
{
    for (int32_t i = 0; i < m->nsh; i++) {
        double *r = rows + 4 * (size_t)i;
        if (m->shell_limit) memcpy(r, m->shell_limit + 4 * (size_t)i, 4 * sizeof *r);
        else memset(r, 0, 4 * sizeof *r);
        if (chosen && !chosen[m->body[m->shell[3 * (size_t)i]]]) continue;
        if (!isnan(lower)) r[ABUT_STRETCH_LOW] = lower, r[ABUT_STRETCH_LOW_BEGINS] = lower_begins;
        if (!isnan(upper)) r[ABUT_STRETCH_HIGH_BEGINS] = upper_begins, r[ABUT_STRETCH_HIGH] = upper;
    }
}

/* ---- steps of shells ---- */

static const abut_membrane *law_of(const abut_codim *t, size_t shell)
{
    return &t->membrane[t->model->shell_mat[shell]];
}

/* Returns whether the energy of a shell becomes infinite as its area goes to 0. */
static int injective(const abut_membrane *law)
{
    return law->kind == ABUT_MEMBRANE_ISOTROPIC && abut_material_injective(law->model);
}

static const double *limits_of(const abut_codim *t, size_t shell)
{
    return t->model->shell_limit ? t->model->shell_limit + 4 * shell : NULL;
}

static double shell_step(const abut_codim *t, const double *x, const double *p, size_t shell, double slack)
{
    const double *row = limits_of(t, shell);
    const abut_membrane *law = law_of(t, shell);
    double F[6], G[6];
    if (!abut_stretch_acts(row, 0) && !abut_stretch_acts(row, 1) && !injective(law) && !law->strain) return 1;
    abut_shell_gradient_of(t, x, shell, F);
    abut_shell_gradient_of(t, p, shell, G);
    return abut_shell_step(F, G, injective(law), row, law->strain, slack);
}

void abut_limit_stretch(const abut_codim *t, const double *x, const double *p, double slack, abut_limit *lim)
{
    const int32_t n = t->n ? t->model->nsh : 0;
    double least = lim->alpha;
    int32_t which = INT32_MAX;
    #pragma omp parallel if ((size_t)n >= ABUT_PAR_MIN)
    {
        /* ordered by bound, then shell: the same result in any order of threads */
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

/* ---- shells that are not inside their bounds, and extremes ---- */

static int exceeds(abut_codim_excess *out, const char *what, double value, double limit, int below)
{
    *out = (abut_codim_excess){ .shell = out->shell, .what = what, .value = value, .limit = limit, .below = below };
    return 1;
}

static int shell_outside(const abut_codim *t, const double *x, size_t shell, abut_codim_excess *out)
{
    static const char *const strain[] = { "strain along warp", "strain along weft", "shear strain" };
    const double *row = limits_of(t, shell), *bound = law_of(t, shell)->strain;
    double F[6], s[2];
    abut_shell_deformation(t, x, (int32_t)shell, F, s);
    const double low = fmin(s[0], s[1]), high = fmax(s[0], s[1]);
    if (!(low > 0)) return exceeds(out, "smallest stretch", low, 0, 1);
    if (abut_stretch_acts(row, 0) && !(low > row[ABUT_STRETCH_LOW]))
        return exceeds(out, "smallest stretch", low, row[ABUT_STRETCH_LOW], 1);
    if (abut_stretch_acts(row, 1) && !(high < row[ABUT_STRETCH_HIGH]))
        return exceeds(out, "largest stretch", high, row[ABUT_STRETCH_HIGH], 0);
    for (int k = 0; k < 3 && bound; k++) {
        const double e = abut_green_strain(F, k);
        if (!(fabs(e) < bound[k])) return exceeds(out, strain[k], e, e < 0 ? -bound[k] : bound[k], e < 0);
    }
    return 0;
}

int abut_codim_outside(const abut_codim *t, const double *x, abut_codim_excess *out)
{
    for (int32_t i = 0; i < (t->n ? t->model->nsh : 0); i++) {
        out->shell = i;
        if (shell_outside(t, x, (size_t)i, out)) return 1;
    }
    return 0;
}

static const abut_codim_stretch no_shell = { 1, 1, -1, -1, 1, -1 };

static void take_shell(abut_codim_stretch *s, const abut_codim_stretch *o)
{
    if (o->min_shell >= 0 && (s->min_shell < 0 || o->min < s->min)) s->min = o->min, s->min_shell = o->min_shell;
    if (o->max_shell >= 0 && (s->max_shell < 0 || o->max > s->max)) s->max = o->max, s->max_shell = o->max_shell;
    if (o->room < s->room) s->room = o->room, s->room_shell = o->room_shell;
}

static abut_codim_stretch stretch_of(const abut_codim *t, const double *x, size_t shell)
{
    double F[6], s[2];
    abut_shell_gradient_of(t, x, shell, F);
    abut_singular_values32(F, &s[0], &s[1]);
    abut_codim_stretch o = { s[0], s[1], (int32_t)shell, (int32_t)shell, 1, (int32_t)shell };
    const double *row = limits_of(t, shell), *strain = law_of(t, shell)->strain;
    if (row) o.room = abut_stretch_room(row, s);
    if (strain) o.room = fmin(o.room, abut_strain_room(F, strain));
    return o;
}

abut_status abut_codim_stretch_find(const abut_codim *t, const double *x, abut_codim_stretch *out, abut_arena *scratch,
                                   abut_err *err)
{
    assert(t && out);
    const size_t n = t->n ? (size_t)t->model->nsh : 0, nb = abut_blocks(n);
    *out = no_shell;
    if (n == 0) return ABUT_OK;
    const abut_mark mark = abut_arena_mark(scratch);
    abut_codim_stretch *part = ABUT_NEW(scratch, abut_codim_stretch, nb);
    if (!part) return abut_fail(err, ABUT_E_NOMEM, "stretch: %zu partial extremes", nb);

    #pragma omp parallel for schedule(static) if (nb > 2)
    for (size_t b = 0; b < nb; b++) {
        const abut_range r = abut_block(n, b);
        part[b] = no_shell;
        for (size_t i = r.lo; i < r.hi; i++) {
            const abut_codim_stretch o = stretch_of(t, x, i);
            take_shell(&part[b], &o);
        }
    }

    for (size_t b = 0; b < nb; b++) take_shell(out, &part[b]);
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

/* ---- limits that a direction meets ---- */

#define DEPTH 0.05      /* bound of a tangent from the barrier's begin, a share of its width: a slack shell balances there */
#define WAY 0.4         /* bound from the stretch, a fraction of the distance to the limit; the larger bound counts */
#define FAR 2           /* a direction that leads every shell less than FAR times that far needs no tangents */

abut_status abut_stretch_ahead_init(abut_stretch_ahead *a, const abut_model *m, abut_err *err)
{
    int upper = 0;
    *a = (abut_stretch_ahead){ 0 };
    for (int32_t i = 0; m->shell_limit && i < m->nsh; i++) upper |= abut_stretch_acts(m->shell_limit + 4 * (size_t)i, 1);
    if (!upper) return ABUT_OK;
    a->of = calloc((size_t)m->nsh, sizeof *a->of);
    return a->of ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "stretch limits ahead of %d shells", m->nsh);
}

void abut_stretch_ahead_clear(abut_stretch_ahead *a)
{
    free(a->of);
    *a = (abut_stretch_ahead){ 0 };
}

/* Writes the entries 00, 01, 11 of C = F^T F, and their derivatives along the gradient G of a step. */
static void metrics(const double F[6], const double G[6], double C[3], double dC[3])
{
    for (int k = 0; k < 3; k++) {
        const int i = k == 2, j = k > 0;
        C[k] = abut_columns_dot(F, i, F, j);
        dC[k] = abut_columns_dot(F, i, G, j) + abut_columns_dot(G, i, F, j);
    }
}

static double quadratic_form(const double C[3], const double q[2])
{
    return C[0] * q[0] * q[0] + 2 * C[1] * q[0] * q[1] + C[2] * q[1] * q[1];
}

/* Writes the tangent along the axis q of a shell; returns the stretch that a step adds as a multiple of what it may add. */
static double tangent(const double row[4], const double C[3], const double dC[3], const double q[2], double *d2b, double *db)
{
    const double s = sqrt(quadratic_form(C, q)), d = quadratic_form(dC, q) / (2 * s), begins = row[ABUT_STRETCH_HIGH_BEGINS];
    const double limit = row[ABUT_STRETCH_HIGH], width = limit - begins;
    const double most = fmax(s + WAY * (limit - s), begins + DEPTH * width) - s, c = s + fmin(d, most);
    double db_s = 0, d2b_s = 0, db_c = 0, d2b_c = 0;
    (void)abut_stretch_barrier(s, begins, limit, &db_s, &d2b_s);
    (void)abut_stretch_barrier(c, begins, limit, &db_c, &d2b_c);
    const int stiffer = d2b_c > d2b_s;
    *d2b = stiffer ? d2b_c - d2b_s : 0;
    *db = stiffer ? db_c - d2b_c * (c - s) - db_s : 0;
    return d / most;
}

/* Writes the tangents of one shell; returns whether the step leads it too far. */
static int ahead_take(abut_stretch_tangent *of, const abut_codim *t, const double *x, const double *p, size_t shell)
{
    const double *row = t->model->shell_limit + 4 * shell;
    double F[6], G[6], C[3], dC[3];
    *of = (abut_stretch_tangent){ .axis = { 1, 0 } };
    if (!abut_stretch_acts(row, 1)) return 0;
    abut_shell_gradient_of(t, x, shell, F);
    abut_shell_gradient_of(t, p, shell, G);
    metrics(F, G, C, dC);
    const double angle = 0.5 * atan2(C[1] + dC[1], 0.5 * (C[0] + dC[0] - C[2] - dC[2]));
    const double q[2] = { cos(angle), sin(angle) }, across[2] = { -q[1], q[0] };
    of->axis[0] = q[0], of->axis[1] = q[1];
    const double first = tangent(row, C, dC, q, &of->d2b[0], &of->db[0]);
    const double second = tangent(row, C, dC, across, &of->d2b[1], &of->db[1]);
    return fmax(first, second) > FAR;
}

int abut_stretch_ahead_take(abut_stretch_ahead *a, const abut_codim *t, const double *x, const double *p)
{
    int far = 0;
    a->any = 0;
    if (!a->of) return 0;
    #pragma omp parallel for schedule(static) reduction(|:far) if ((size_t)t->model->nsh >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < t->model->nsh; i++) far |= ahead_take(&a->of[i], t, x, p, (size_t)i);
    return a->any = far;
}

/* Adds scale times the forces of db, along and across the axis, at the corners of one shell to f. */
static void forces(const abut_stretch_tangent *of, const double F[6], const double *B, double scale, double f[9])
{
    for (int k = 0; k < 2; k++) {
        const double q[2] = { k ? -of->axis[1] : of->axis[0], of->axis[k ? 0 : 1] };
        const double w[3] = { 0, q[0] * B[0] + q[1] * B[1], q[0] * B[2] + q[1] * B[3] };
        double n[3], length2 = 0;
        for (int d = 0; d < 3; d++) {
            n[d] = F[2 * d] * q[0] + F[2 * d + 1] * q[1];
            length2 += n[d] * n[d];
        }
        for (int c = 0; c < 3; c++)
            for (int d = 0; d < 3; d++) f[3 * c + d] += scale * of->db[k] * n[d] / sqrt(length2) * (c ? w[c] : -w[1] - w[2]);
    }
}

void abut_stretch_ahead_gradient(const abut_stretch_ahead *a, const abut_codim *t, const double *x, double kappa, double scale,
                                 double *g)
{
    for (int32_t i = 0; a->any && i < t->model->nsh; i++) {
        const abut_stretch_tangent *of = &a->of[i];
        const int32_t *v = t->node + 4 * (size_t)i;
        double F[6], f[9] = { 0 };
        if (of->db[0] == 0 && of->db[1] == 0) continue;
        abut_shell_gradient_of(t, x, (size_t)i, F);
        forces(of, F, t->B + 4 * (size_t)i, scale * kappa * t->vol[i], f);
        for (int c = 0; c < 3; c++)
            for (int d = 0; d < 3; d++) g[3 * (size_t)v[c] + (size_t)d] += f[3 * c + d];
    }
}

void abut_stretch_ahead_frame(const abut_stretch_tangent *of, double kappa, const double s[2], const double V[4], double G[16])
{
    for (int k = 0; k < 2; k++) {
        if (!(of->d2b[k] > 0)) continue;
        const double q[2] = { k ? -of->axis[1] : of->axis[0], of->axis[k ? 0 : 1] };
        const double r[2] = { V[0] * q[0] + V[2] * q[1], V[1] * q[0] + V[3] * q[1] };   /* V^T q */
        const double length = abut_norm_of2(r[0] * s[0], r[1] * s[1]);
        double ds[4];           /* derivatives of the stretch by the entries */
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++) ds[2 * i + j] = r[i] * s[i] * r[j] / length;
        for (int i = 0; i < 16; i++) G[i] += kappa * of->d2b[k] * ds[i / 4] * ds[i % 4];
    }
}
