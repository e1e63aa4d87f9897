#include "energy/stretch.h"

#include "base/par.h"
#include "math/svd3_lanes.h"

#include <assert.h>

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
