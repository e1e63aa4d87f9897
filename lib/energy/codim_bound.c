#include "energy/codim_bound.h"

#include "base/par.h"
#include "energy/stretch_limit.h"
#include "energy/stretch_step_inline.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- all shells ---- */

static const abut_membrane *law_of(const abut_codim *t, size_t shell)
{
    return &t->membrane[t->model->shell_mat[shell]];
}

/* whether the energy of a shell becomes infinite as its area goes to 0 */
static int injective(const abut_membrane *law)
{
    return law->kind == ABUT_MEMBRANE_ISOTROPIC && abut_material_injective(law->model);
}

static double shell_step(const abut_codim *t, const double *x, const double *p, size_t shell, double slack)
{
    const double *row = t->model->shell_limit ? t->model->shell_limit + 4 * shell : NULL;
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

static int exceeds(abut_codim_excess *out, const char *what, double value, double limit, int below)
{
    out->what = what;
    out->value = value;
    out->limit = limit;
    out->below = below;
    return 1;
}

static int shell_outside(const abut_codim *t, const double *x, size_t shell, abut_codim_excess *out)
{
    static const char *const strain[] = { "strain along warp", "strain along weft", "shear strain" };
    const double *row = t->model->shell_limit ? t->model->shell_limit + 4 * shell : NULL, *bound = law_of(t, shell)->strain;
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

static const abut_codim_stretch none = { 1, 1, -1, -1, 1, -1 };

static void take(abut_codim_stretch *s, const abut_codim_stretch *o)
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
    if (t->model->shell_limit) o.room = abut_stretch_room(t->model->shell_limit + 4 * shell, s);
    const double *strain = law_of(t, shell)->strain;
    if (strain) o.room = fmin(o.room, abut_strain_room(F, strain));
    return o;
}

abut_status abut_codim_stretch_find(const abut_codim *t, const double *x, abut_codim_stretch *out, abut_arena *scratch,
                                   abut_err *err)
{
    assert(t && out);
    const size_t n = t->n ? (size_t)t->model->nsh : 0, nb = abut_blocks(n);
    *out = none;
    if (n == 0) return ABUT_OK;
    const abut_mark mark = abut_arena_mark(scratch);
    abut_codim_stretch *part = ABUT_NEW(scratch, abut_codim_stretch, nb);
    if (!part) return abut_fail(err, ABUT_E_NOMEM, "stretch: %zu partial extremes", nb);

    #pragma omp parallel for schedule(static) if (nb > 2)
    for (size_t b = 0; b < nb; b++) {
        const abut_range r = abut_block(n, b);
        part[b] = none;
        for (size_t i = r.lo; i < r.hi; i++) {
            const abut_codim_stretch o = stretch_of(t, x, i);
            take(&part[b], &o);
        }
    }

    for (size_t b = 0; b < nb; b++) take(out, &part[b]);
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}
