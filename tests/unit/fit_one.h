/* Fitted stiffness (energy/elastic.h) of one material. */
#ifndef ABUT_TESTS_FIT_ONE_H
#define ABUT_TESTS_FIT_ONE_H

#include "energy/elastic.h"

#include "check.h"

/* of a density, or of *spline where model is ABUT_SPLINE */
static inline double fit_one(int32_t model, abut_spline *spline, double young, double poisson, double lo, double hi)
{
    const abut_model m = { .nm = 1, .mat_model = &model, .mat_young = &young, .mat_poisson = &poisson };
    const abut_elastic e = { .model = &m, .laws = { .spline = spline } };
    double k = NAN;
    CHECK(!abut_stiffness_fit_materials(&e, lo, hi, &k, NULL));
    return k;
}

/* of a density with moduli of Lame, mu > 0 */
static inline double fit_lame(int model, double mu, double lambda, double lo, double hi)
{
    return fit_one(model, NULL, mu * (3 * lambda + 2 * mu) / (lambda + mu), lambda / (2 * (lambda + mu)), lo, hi);
}

#endif
