#include "model/array_check.h"

#include "model/model.h"

#include <math.h>

abut_status abut_check_indices(const char *name, const int32_t *v, int32_t n, int width, int32_t low, int32_t high,
                               abut_err *err)
{
    const size_t total = (size_t)n * (size_t)width;
    for (size_t i = 0; i < total; i++)
        if (v[i] < low || v[i] >= high)
            return abut_fail(err, ABUT_E_FORMAT, "array '%s' row %zu: %d, expected %d <= value < %d", name,
                             i / (size_t)width, v[i], low, high);
    return ABUT_OK;
}

abut_status abut_check_domain(const char *name, const double *v, size_t n, double low, int closed, double high,
                              abut_err *err)
{
    for (size_t i = 0; i < n; i++)
        if (!(closed ? v[i] >= low : v[i] > low) || !(v[i] < high))
            return abut_fail(err, ABUT_E_FORMAT, "array '%s' row %zu: %.17g, expected %g %s value < %g", name, i, v[i],
                             low, closed ? "<=" : "<", high);
    return ABUT_OK;
}

abut_status abut_check_units(const char *name, const double *v, size_t n, double tol, abut_err *err)
{
    for (size_t i = 0; i < n; i++) {
        const double *p = v + 3 * i, length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
        if (!(fabs(length - 1) <= tol))
            return abut_fail(err, ABUT_E_FORMAT, "array '%s' row %zu: length %.17g, expected 1 within %g", name, i,
                             length, tol);
    }
    return ABUT_OK;
}

abut_status abut_check_near(const char *name, const double *v, int32_t n, abut_err *err)
{
    for (size_t i = 0; v && i < 3 * (size_t)n; i++)
        if (!(fabs(v[i]) <= ABUT_FARTHEST))
            return abut_fail(err, ABUT_E_FORMAT, "array '%s' row %zu: %g, expected a number between -%g and %g", name, i / 3,
                             v[i], ABUT_FARTHEST, ABUT_FARTHEST);
    return ABUT_OK;
}
