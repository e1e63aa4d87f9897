#include "energy/stiffness_fit.h"

#include <assert.h>
#include <math.h>

#define SPACING 0.01

/* f(x) by the principal form, which wants its stretches in descending order */
static double axial_stress(const abut_spline *spline, int model, double mu, double lambda, double x)
{
    abut_principal p;
    const double s[3] = { x > 1 ? x : 1, 1, x > 1 ? 1 : x };
    if (spline) abut_spline_principal(spline, s, &p);
    else abut_density_principal(model, mu, lambda, s, &p);
    return x > 1 ? p.d[0] : p.d[2];
}

static double fit(const abut_spline *spline, int model, double mu, double lambda, double lo, double hi)
{
    const long n = (long)fmax(1, round((hi - lo) / SPACING));
    double stress = 0, square = 0;
    for (long i = 0; i <= n; i++) {
        const double x = lo + (hi - lo) * (double)i / (double)n;
        stress += axial_stress(spline, model, mu, lambda, x) * (x - 1);
        square += (x - 1) * (x - 1);
    }
    return stress / square;
}

abut_status abut_stiffness_fit_materials(const abut_elastic *e, double lo, double hi, double *k, abut_err *err)
{
    assert(e);
    const abut_model *m = e->model;
    if (!(lo > 0 && lo < 1 && hi > 1 && hi < INFINITY))
        return abut_fail(err, ABUT_E_ARG, "stiffness over stretches %g .. %g: expected 0 < low < 1 < high", lo, hi);
    for (int32_t i = 0; i < m->nm; i++) {
        double mu, lambda;
        abut_lame(m->mat_young[i], m->mat_poisson[i], &mu, &lambda);
        k[i] = fit(m->mat_model[i] == ABUT_SPLINE ? &e->laws.spline[i] : NULL, m->mat_model[i], mu, lambda, lo, hi);
        if (m->mat_volume) k[i] += m->mat_volume[i];
        if (m->mat_stretch) k[i] += m->mat_stretch[3 * i];
        if (!(k[i] > 0 && k[i] < INFINITY))
            return abut_fail(err, ABUT_E_FORMAT, "material %d: its mean stiffness over stretches %g .. %g is %g Pa, expected > 0",
                             i, lo, hi, k[i]);
    }
    return ABUT_OK;
}
