#include "energy/stiffness.h"

#include "math/vec3.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* |d2psi/dF2|_F of all terms of tet t at F = I: A, flip and twist are the entries of d2psi/dF2 in an orthonormal basis. */
static double stiffness_at_rest(const abut_elastic *e, size_t t)
{
    const double rest[3] = { 1, 1, 1 };
    abut_principal p;
    double sum = 0;
    abut_elastic_principal(e, t, rest, &p);
    for (int i = 0; i < 9; i++) sum += p.A[i] * p.A[i];
    for (int i = 0; i < 3; i++) sum += p.flip[i] * p.flip[i] + p.twist[i] * p.twist[i];
    return sqrt(sum);
}

static double face_area(const double *X, const int32_t tet[4], int opposite)
{
    abut_vec3 v[3];
    for (int k = 0, n = 0; k < 4; k++)
        if (k != opposite) v[n++] = abut_v3_get(X + 3 * (size_t)tet[k]);
    return 0.5 * sqrt(abut_v3_norm2(abut_v3_cross(abut_v3_sub(v[1], v[0]), abut_v3_sub(v[2], v[0]))));
}

double abut_characteristic_force(const abut_elastic *e, const uint8_t *held, double *node)
{
    const abut_model *m = e->model;
    memset(node, 0, (size_t)m->nv * sizeof *node);
    for (int32_t t = 0; t < m->nt; t++) {
        const int32_t *tet = m->tet + 4 * (size_t)t;
        const double W = stiffness_at_rest(e, (size_t)t);
        for (int k = 0; k < 4; k++) node[tet[k]] += W * face_area(m->X, tet, k);
    }
    double sum = 0;
    int32_t n = 0, n_free = 0;
    for (int32_t i = 0; i < m->nv; i++) {
        sum += node[i] * node[i];
        n += node[i] > 0;
        n_free += node[i] > 0 && !held[i];
    }
    return n ? sqrt(sum * n_free / n) : 0;
}

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
