#include "energy/stretch_ahead.h"

#include "base/par.h"
#include "energy/stretch_limit.h"
#include "energy/stretch_step_inline.h"

#include <math.h>
#include <stdlib.h>

#define AS_FAR 0.05     /* fraction of a barrier's width at which a slack shell is in balance */
#define PART 0.4        /* fraction of the distance to a limit */
#define WORTH 2         /* multiple of that distance: a direction that leads every shell less far needs no tangents */

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

/* [0], [1], [2]: the entries 0 0, 0 1, 1 1 of F^T F, and what a step with the gradient G adds to first order. */
static void metrics(const double F[6], const double G[6], double C[3], double dC[3])
{
    for (int k = 0; k < 3; k++) {
        const int i = k == 2, j = k > 0;
        C[k] = abut_columns_dot(F, i, F, j);
        dC[k] = abut_columns_dot(F, i, G, j) + abut_columns_dot(G, i, F, j);
    }
}

static double along(const double C[3], const double q[2])
{
    return C[0] * q[0] * q[0] + 2 * C[1] * q[0] * q[1] + C[2] * q[1] * q[1];
}

/* The tangent along an axis q of a shell with the limits row; returns how far the step leads, in times of how far it may. */
static double tangent(const double row[4], const double C[3], const double dC[3], const double q[2], double *d2b, double *db)
{
    const double s = sqrt(along(C, q)), d = along(dC, q) / (2 * s), begins = row[ABUT_STRETCH_HIGH_BEGINS];
    const double limit = row[ABUT_STRETCH_HIGH], width = limit - begins;
    const double most = fmax(s + PART * (limit - s), begins + AS_FAR * width) - s, c = s + fmin(d, most);
    double here1 = 0, here2 = 0, there1 = 0, there2 = 0;
    (void)abut_stretch_barrier(s, begins, limit, &here1, &here2);
    (void)abut_stretch_barrier(c, begins, limit, &there1, &there2);
    const int stiffer = there2 > here2;
    *d2b = stiffer ? there2 - here2 : 0;
    *db = stiffer ? there1 - there2 * (c - s) - here1 : 0;
    return d / most;
}

/* Takes the tangents of one shell; 1: the step leads too far. */
static int take(abut_stretch_tangent *of, const abut_codim *t, const double *x, const double *p, size_t shell)
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
    return fmax(first, second) > WORTH;
}

int abut_stretch_ahead_take(abut_stretch_ahead *a, const abut_codim *t, const double *x, const double *p)
{
    int far = 0;
    a->any = 0;
    if (!a->of) return 0;
    #pragma omp parallel for schedule(static) reduction(|:far) if ((size_t)t->model->nsh >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < t->model->nsh; i++) far |= take(&a->of[i], t, x, p, (size_t)i);
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
        double by[4];           /* d stretch / d entries */
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++) by[2 * i + j] = r[i] * s[i] * r[j] / length;
        for (int i = 0; i < 16; i++) G[i] += kappa * of->d2b[k] * by[i / 4] * by[i % 4];
    }
}
