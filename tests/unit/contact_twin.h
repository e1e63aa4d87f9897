/* Contacts as plain loops over primitive pairs find them: the twin of abut_pairs_find. */
#ifndef ABUT_TESTS_CONTACT_TWIN_H
#define ABUT_TESTS_CONTACT_TWIN_H

#include "contact/pairs.h"
#include "geom/dist.h"

#include <stdlib.h>

/* A contact between the nearest features of two primitives; equal ones are counted. */
typedef struct contact_twin {
    int32_t mollified, kind, v[4];
    double mult, dist2;
} contact_twin;

static inline int contact_twin_order(const void *p, const void *q)
{
    const contact_twin *a = p, *b = q;
    const int32_t ka[6] = { a->mollified, a->kind, a->v[0], a->v[1], a->v[2], a->v[3] };
    const int32_t kb[6] = { b->mollified, b->kind, b->v[0], b->v[1], b->v[2], b->v[3] };
    for (int k = 0; k < 6; k++)
        if (ka[k] != kb[k]) return ka[k] < kb[k] ? -1 : 1;
    return 0;
}

/* The contact of primitives s with vertices v at x[12]; parallel edges (eps: the threshold) stay whole.  0: not within reach. */
static inline int contact_twin_of(abut_stencil s, const double *x, const int32_t v[4], double eps, double reach, contact_twin *w)
{
    const abut_feature f = abut_nearest(s, x, &w->dist2);
    if (!(sqrt(w->dist2) < reach)) return 0;
    w->mult = 1;
    w->mollified = s == ABUT_EE && abut_cross2(x, NULL, NULL) < eps;
    w->kind = w->mollified ? ABUT_EE : (int32_t)f.kind;
    for (int k = 0; k < 4; k++) w->v[k] = w->mollified ? v[k] : k < abut_stencil_size(f.kind) ? v[f.idx[k]] : -1;
    const int two = w->mollified ? -1 : f.kind == ABUT_PP ? 0 : f.kind == ABUT_PE ? 1 : -1;
    if (two >= 0 && w->v[two] > w->v[two + 1]) {
        const int32_t keep = w->v[two];
        w->v[two] = w->v[two + 1];
        w->v[two + 1] = keep;
    }
    return 1;
}

/* Sorts m contacts and counts equal ones once, with their number: how many are left. */
static inline size_t contact_twin_merge(contact_twin *list, size_t m)
{
    size_t n = 0;
    qsort(list, m, sizeof *list, contact_twin_order);
    for (size_t i = 0; i < m; i++) {
        if (n && !list[i].mollified && !contact_twin_order(&list[i], &list[n - 1])) list[n - 1].mult += 1;
        else list[n++] = list[i];
    }
    return n;
}

#endif
