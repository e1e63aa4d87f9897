#include "energy/material/model_laws.h"

#include "energy/material/fibre.h"
#include "energy/material/projection.h"
#include "math/polar3.h"
#include "math/svd3_lanes.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

void abut_lame(double young, double poisson, double *mu, double *lambda)
{
    *mu = young / (2 * (1 + poisson));
    *lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
}

abut_status abut_model_laws_check(const abut_model *m, abut_err *err)
{
    for (int32_t i = 0; i < m->nm; i++) {
        if (!abut_density_known(m->mat_model[i]))
            return abut_fail(err, ABUT_E_FORMAT, "material %d: model %d is not known", i, m->mat_model[i]);
        if (!(m->mat_young[i] > 0))
            return abut_fail(err, ABUT_E_FORMAT, "material %d: Young's modulus %g Pa, expected > 0", i, m->mat_young[i]);
        if (!(m->mat_poisson[i] > -1 && m->mat_poisson[i] < 0.5))
            return abut_fail(err, ABUT_E_FORMAT, "material %d: Poisson's ratio %g, expected in (-1, 0.5)", i,
                             m->mat_poisson[i]);
    }
    return ABUT_OK;
}

static abut_status init_material(abut_model_laws *l, int32_t i, abut_err *err)
{
    const abut_model *m = l->model;
    const int more = (m->mat_volume && m->mat_volume[i] > 0) || (m->mat_stretch && m->mat_stretch[3 * i] > 0);
    abut_lame(m->mat_young[i], m->mat_poisson[i], &l->lame[2 * i], &l->lame[2 * i + 1]);
    l->needs[i] = (uint8_t)(more ? ABUT_NEEDS_STRETCHES : abut_density_need(m->mat_model[i]));
    if (m->mat_model[i] != ABUT_SPLINE) return ABUT_OK;
    if (!l->spline && !(l->spline = calloc((size_t)m->nm, sizeof *l->spline)))
        return abut_fail(err, ABUT_E_NOMEM, "splines of %d materials", m->nm);
    l->nspline = m->nm;
    const size_t lo = (size_t)m->mat_spline[2 * i];
    return abut_spline_init(&l->spline[i], m->mat_spline[2 * i + 1] - m->mat_spline[2 * i], m->spline_knot + lo,
                            m->spline_slope + 3 * lo, err);
}

abut_status abut_model_laws_init(abut_model_laws *l, const abut_model *m, abut_err *err)
{
    assert(m);
    *l = (abut_model_laws){ .model = m };
    abut_status rc = abut_model_laws_check(m, err);
    if (rc) return rc;
    l->lame = malloc(((size_t)m->nm + 1) * 2 * sizeof *l->lame);
    l->needs = calloc((size_t)m->nm + 1, 1);
    if (!l->lame || !l->needs) rc = abut_fail(err, ABUT_E_NOMEM, "%d materials", m->nm);
    for (int32_t i = 0; i < m->nm && !rc; i++) rc = init_material(l, i, err);
    if (rc) abut_model_laws_clear(l);
    return rc;
}

void abut_model_laws_clear(abut_model_laws *l)
{
    free(l->lame);
    free(l->needs);
    for (int32_t i = 0; i < l->nspline; i++) abut_spline_clear(&l->spline[i]);
    free(l->spline);
    *l = (abut_model_laws){ 0 };
}

void abut_model_law_principal(const abut_model_laws *l, int32_t material, const double s[3], abut_principal *out)
{
    const abut_model *m = l->model;
    const int32_t i = material, model = m->mat_model[i];
    if (model == ABUT_SPLINE) abut_spline_principal(&l->spline[i], s, out);
    else abut_density_principal(model, l->lame[2 * i], l->lame[2 * i + 1], s, out);
    if (m->mat_volume && m->mat_volume[i] > 0) abut_volume_principal(m->mat_volume[i], s, out);
    const double *stretch = m->mat_stretch ? m->mat_stretch + 3 * (size_t)i : NULL;
    if (stretch && stretch[0] > 0) abut_strain_principal(stretch[0], stretch[1], stretch[2], s, out);
}

int abut_model_law_is_plain(const abut_model_laws *l, int32_t material)
{
    const abut_model *m = l->model;
    return m->mat_model[material] != ABUT_SPLINE && !(m->mat_volume && m->mat_volume[material] > 0) &&
           !(m->mat_stretch && m->mat_stretch[3 * (size_t)material] > 0);
}

void abut_model_law_principals(const abut_model_laws *l, int32_t material, const abut_lanes *s, abut_principals *out)
{
    if (abut_model_law_is_plain(l, material)) {
        const abut_lanes mu = ABUT_LANES_ALL(l->lame[2 * material]), lambda = ABUT_LANES_ALL(l->lame[2 * material + 1]);
        abut_density_principals(l->model->mat_model[material], &mu, &lambda, s, out);
        return;
    }
    for (size_t k = 0; k < ABUT_LANES; k++) {
        const double stretch[3] = { s[0][k], s[1][k], s[2][k] };
        abut_principal one;
        abut_model_law_principal(l, material, stretch, &one);
        abut_principals_set(out, k, &one);
    }
}

/* psi and P by singular values */
ABUT_LANES_CLONES
static void spectral_stress(const abut_model_laws *l, int32_t material, const abut_lanes *F, abut_lanes *psi, abut_lanes *P)
{
    abut_lanes U[9], s[3], V[9], Ud[9];
    abut_principals p;
    abut_svd3_lanes(F, U, s, V);
    abut_model_law_principals(l, material, s, &p);
    *psi = p.psi;
    for (int i = 0; i < 9; i++) Ud[i] = U[i] * p.d[i % 3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            P[3 * i + j] = Ud[3 * i] * V[3 * j] + Ud[3 * i + 1] * V[3 * j + 1] + Ud[3 * i + 2] * V[3 * j + 2];
}

static void add_fibre(double kappa, const double *d, const abut_lanes *F, abut_lanes *psi, abut_lanes *P)
{
    for (size_t k = 0; k < ABUT_LANES; k++) {
        double f[9], p[9];
        if (!((*psi)[k] < INFINITY)) continue;
        for (int i = 0; i < 9; i++) f[i] = F[i][k], p[i] = P[i][k];
        (*psi)[k] += abut_fibre_psi(kappa, d, f, p);
        for (int i = 0; i < 9; i++) P[i][k] = p[i];
    }
}

ABUT_LANES_CLONES
void abut_model_law_stress(const abut_model_laws *l, int32_t material, const double *fibre, const abut_lanes *F, abut_lanes *psi,
                           abut_lanes *P)
{
    const abut_lanes mu = ABUT_LANES_ALL(l->lame[2 * material]), lambda = ABUT_LANES_ALL(l->lame[2 * material + 1]);
    const abut_model *m = l->model;
    abut_lanes R[9];
    for (int i = 0; i < 9; i++) P[i] = ABUT_LANES_ALL(0.);
    switch (l->needs[material]) {
    case ABUT_NEEDS_F: abut_density_direct(m->mat_model[material], &mu, &lambda, F, psi, P); break;
    case ABUT_NEEDS_ROTATION:
        abut_polar3_lanes(F, R);
        abut_density_rotated(m->mat_model[material], &mu, &lambda, F, R, psi, P);
        break;
    default: spectral_stress(l, material, F, psi, P);
    }
    if (m->mat_fibre && m->mat_fibre[material] > 0) add_fibre(m->mat_fibre[material], fibre, F, psi, P);
}
