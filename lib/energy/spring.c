#include "energy/spring.h"

#include "base/par.h"
#include "linalg/bsr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

abut_status abut_springs_init(abut_springs *s, const abut_model *m, abut_err *err)
{
    *s = (abut_springs){ .model = m };
    if (!m->nsp) return ABUT_OK;
    const size_t ends = 2 * (size_t)m->nsp;
    s->first = calloc((size_t)m->nv + 1, sizeof *s->first);
    s->end = malloc(ends * sizeof *s->end);
    if (!s->first || !s->end) {
        abut_springs_clear(s);
        return abut_fail(err, ABUT_E_NOMEM, "%d springs", m->nsp);
    }
    int32_t *first = s->first;
    for (size_t e = 0; e < ends; e++) first[m->spring[e] + 1]++;
    for (int32_t i = 0; i < m->nv; i++) first[i + 1] += first[i];
    for (size_t e = 0; e < ends; e++) s->end[first[m->spring[e]]++] = (int32_t)e;
    for (int32_t i = m->nv; i > 0; i--) first[i] = first[i - 1];
    first[0] = 0;
    return ABUT_OK;
}

void abut_springs_clear(abut_springs *s)
{
    free(s->first);
    free(s->end);
    *s = (abut_springs){ 0 };
}

/* d = x_a - x_b; returns its length */
static inline double span(const abut_model *m, size_t s, const double *x, double d[3])
{
    const double *a = x + 3 * (size_t)m->spring[2 * s], *b = x + 3 * (size_t)m->spring[2 * s + 1];
    for (int k = 0; k < 3; k++) d[k] = a[k] - b[k];
    return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

abut_status abut_spring_energy(const abut_springs *s, const double *x, double *energy, abut_arena *scratch, abut_err *err)
{
    const abut_model *m = s->model;
    const size_t n = (size_t)m->nsp, nb = abut_blocks(n);
    const abut_mark mark = abut_arena_mark(scratch);
    double *part = ABUT_NEW(scratch, double, nb);
    if (!part) return abut_fail(err, ABUT_E_NOMEM, "spring energy: %zu partial sums", nb);

    #pragma omp parallel for schedule(static) if (n >= ABUT_PAR_MIN)
    for (size_t b = 0; b < nb; b++) {
        const abut_range r = abut_block(n, b);
        double sum = 0, d[3];
        for (size_t i = r.lo; i < r.hi; i++) {
            const double e = span(m, i, x, d) - m->spring_length[i];
            sum += 0.5 * m->spring_stiffness[i] * e * e;
        }
        part[b] = sum;
    }
    *energy = abut_sum(part, nb);
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

abut_status abut_spring_gradient(const abut_springs *s, const double *x, double scale, double *g, abut_arena *scratch,
                                 abut_err *err)
{
    const abut_model *m = s->model;
    const size_t n = (size_t)m->nsp;
    if (!n) return ABUT_OK;
    const abut_mark mark = abut_arena_mark(scratch);
    double *f = ABUT_ROOM(scratch, double, 3 * n);
    if (!f) return abut_fail(err, ABUT_E_NOMEM, "spring forces: %zu numbers", 3 * n);

    #pragma omp parallel if (n >= ABUT_PAR_MIN)
    {
        #pragma omp for schedule(static)
        for (size_t i = 0; i < n; i++) {
            double d[3];
            const double l = span(m, i, x, d);
            const double c = l > 0 ? scale * m->spring_stiffness[i] * (1 - m->spring_length[i] / l) : 0;
            for (int k = 0; k < 3; k++) f[3 * i + (size_t)k] = c * d[k];
        }
        #pragma omp for schedule(static)
        for (int32_t i = 0; i < m->nv; i++) {
            double sum[3] = { 0 };
            for (int32_t e = s->first[i]; e < s->first[i + 1]; e++) {
                const double *fe = f + 3 * (size_t)(s->end[e] >> 1), sign = s->end[e] & 1 ? -1 : 1;
                for (int k = 0; k < 3; k++) sum[k] += sign * fe[k];
            }
            for (int k = 0; k < 3; k++) g[3 * (size_t)i + (size_t)k] += sum[k];
        }
    }
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

void abut_spring_hessian(const abut_springs *s, const double *x, double scale, int32_t *node, double *H)
{
    enum { AA = 0, AB = 9, BB = 36 };
    const abut_model *m = s->model;
    const size_t n = (size_t)m->nsp;
    #pragma omp parallel for schedule(static) if (n >= ABUT_PAR_MIN)
    for (size_t i = 0; i < n; i++) {
        double d[3], *K = H + ABUT_PACKED * i;
        const double l = span(m, i, x, d), k = scale * m->spring_stiffness[i];
        const double across = l > m->spring_length[i] ? 1 - m->spring_length[i] / l : 0;   /* curvature across, over that along */
        memset(K, 0, ABUT_PACKED * sizeof *K);
        for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++) {
                const double uu = l > 0 ? d[p] * d[q] / (l * l) : 0;
                const double v = k * (across * ((p == q) - uu) + uu);
                K[AA + 3 * p + q] = K[BB + 3 * p + q] = v;
                K[AB + 3 * p + q] = -v;
            }
        node[4 * i] = m->spring[2 * i];
        node[4 * i + 1] = m->spring[2 * i + 1];
        node[4 * i + 2] = node[4 * i + 3] = -1;
    }
}
