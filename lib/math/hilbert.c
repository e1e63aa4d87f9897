#include "math/hilbert.h"

#include "base/par.h"
#include "math/elementary_inline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 10 /* of a coordinate */, DIGIT = 15 /* bits that are sorted at a time */, DIGITS = 1 << DIGIT };

/* The cube around the points of a group. */
typedef struct cube {
    double lo[3], side;
} cube;

static void cubes_of(size_t n, const double *x, const int32_t *group, int32_t ngroups, cube *c)
{
    for (int32_t g = 0; g < ngroups; g++) c[g] = (cube){ { INFINITY, INFINITY, INFINITY }, 0 };
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) c[group[i]].lo[d] = fmin(c[group[i]].lo[d], x[3 * i + (size_t)d]);
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) c[group[i]].side = fmax(c[group[i]].side, x[3 * i + (size_t)d] - c[group[i]].lo[d]);
}

static uint64_t place_in(const cube *c, const double x[3])
{
    uint32_t cell[3];
    for (int d = 0; d < 3; d++) {
        const double part = c->side > 0 ? (x[d] - c->lo[d]) / c->side : 0;
        cell[d] = part < 1 ? (uint32_t)(part * (1 << BITS)) : (1 << BITS) - 1;
    }
    return abut_hilbert(cell, BITS);
}

/* to[n]: from[n], sorted by the digit of their keys from `shift` on, stable */
static void sort_by_digit(size_t n, const uint64_t *key, int shift, const int32_t *from, int32_t *to, size_t *start)
{
    memset(start, 0, DIGITS * sizeof *start);
    for (size_t i = 0; i < n; i++) start[key[i] >> shift & (DIGITS - 1)]++;
    size_t sum = 0;
    for (size_t d = 0; d < DIGITS; d++) {
        const size_t many = start[d];
        start[d] = sum;
        sum += many;
    }
    for (size_t i = 0; i < n; i++) to[start[key[from[i]] >> shift & (DIGITS - 1)]++] = from[i];
}

abut_status abut_curve_order(size_t n, const double *x, const int32_t *group, int32_t ngroups, int32_t *order, abut_err *err)
{
    cube *c = malloc(((size_t)ngroups + 1) * sizeof *c);
    uint64_t *key = malloc((n + 1) * sizeof *key);
    int32_t *other = malloc((n + 1) * sizeof *other);
    size_t *start = malloc(DIGITS * sizeof *start);
    const int ok = c && key && other && start;
    if (ok) {
        cubes_of(n, x, group, ngroups, c);
        #pragma omp parallel for schedule(static) if (n >= ABUT_PAR_MIN)
        for (size_t i = 0; i < n; i++) {
            key[i] = (uint64_t)group[i] << 3 * BITS | place_in(&c[group[i]], x + 3 * i);
            other[i] = (int32_t)i;
        }
        /* two digits of the place, two of the group */
        sort_by_digit(n, key, 0, other, order, start);
        sort_by_digit(n, key, DIGIT, order, other, start);
        sort_by_digit(n, key, 2 * DIGIT, other, order, start);
        if (ngroups > DIGITS) {
            sort_by_digit(n, key, 3 * DIGIT, order, other, start);
            memcpy(order, other, n * sizeof *order);
        }
    }
    free(c);
    free(key);
    free(other);
    free(start);
    return ok ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "order of %zu points along a curve: out of memory", n);
}
