#include "energy/stretch.h"

#include "base/par.h"
#include "math/svd3.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- tets ---- */

static const abut_stretch none = { 1, 1, -1, -1 };

static void take(abut_stretch *s, double lo, int32_t lo_tet, double hi, int32_t hi_tet)
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
        part[b] = none;
        for (size_t t = r.lo; t < r.hi; t += ABUT_LANES) {
            abut_lanes F[9], U[9], s[3], V[9];
            for (size_t l = 0; l < ABUT_LANES; l++) {
                double f[9];
                (void)abut_elastic_deformation(e, x, (int32_t)(t + l < r.hi ? t + l : t), f);
                for (int i = 0; i < 9; i++) F[i][l] = f[i];
            }
            abut_svd3_lanes(F, U, s, V);
            for (size_t l = 0; l < ABUT_LANES && t + l < r.hi; l++)
                take(&part[b], s[2][l], (int32_t)(t + l), s[0][l], (int32_t)(t + l));
        }
    }

    *out = none;
    for (size_t b = 0; b < nb; b++) take(out, part[b].min, part[b].min_tet, part[b].max, part[b].max_tet);
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

/* ---- shells ---- */

static void count(abut_shell_span *s, double stretch)
{
    const double at = floor((stretch - s->from) / s->width);
    s->bin[at < 0 ? 0 : at < ABUT_SPAN_BINS ? (int)at : ABUT_SPAN_BINS - 1]++;     /* the last, too, where it is no number */
}

/* |E11|, |E22|, |E12| of E = (F^T F - 1) / 2 as shares of the limits of cloth; 1 when one is reached. */
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
        count(out, high), count(out, low);
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
