#include "geom/tree_shape.h"

#include "base/par.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>

#define TASK_ITEMS ((size_t)4096)   /* smaller ranges are not worth a task */
#define SAMPLE ((size_t)16)         /* keys that choose the axis of a split */
#define PIVOTS 16                   /* keys that choose the pivot of a selection */

/* Axis along which the centres spread most, judged by a sample of them. */
static int widest_axis(const abut_key *k, size_t n)
{
    float lo[3] = { INFINITY, INFINITY, INFINITY }, hi[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (size_t i = 0; i < n; i += n / SAMPLE + 1)
        for (int d = 0; d < 3; d++) {
            lo[d] = k[i].c[d] < lo[d] ? k[i].c[d] : lo[d];
            hi[d] = k[i].c[d] > hi[d] ? k[i].c[d] : hi[d];
        }
    int axis = 0;
    for (int d = 1; d < 3; d++)
        if (hi[d] - lo[d] > hi[axis] - lo[axis]) axis = d;
    return axis;
}

/* A value about which `want` of the n keys should lie: that rank of a random sample. */
static float pivot(const abut_key *k, size_t n, size_t want, int axis, abut_rng *rng)
{
    float v[PIVOTS];
    const size_t m = n < 32 * PIVOTS ? 3 : PIVOTS;
    for (size_t i = 0; i < m; i++) {
        const float c = k[abut_rng_below(rng, (uint32_t)n)].c[axis];
        size_t j = i;
        for (; j > 0 && v[j - 1] > c; j--) v[j] = v[j - 1];
        v[j] = c;
    }
    return v[want * m / n];
}

/* Reorders so that no key before `nth` is larger and none after it is smaller (Hoare's selection).  The samples have a
 * fixed seed: linear time for every order of the input, and the same result each time. */
static void select_nth(abut_key *k, size_t n, size_t nth, int axis)
{
    abut_rng rng = { n };
    ptrdiff_t lo = 0, hi = (ptrdiff_t)n - 1, want = (ptrdiff_t)nth;
    while (lo < hi) {
        const float p = pivot(k + lo, (size_t)(hi - lo + 1), (size_t)(want - lo), axis, &rng);
        ptrdiff_t i = lo, j = hi;
        while (i <= j) {
            while (k[i].c[axis] < p) i++;
            while (k[j].c[axis] > p) j--;
            if (i <= j) {
                const abut_key t = k[i];
                k[i++] = k[j];
                k[j--] = t;
            }
        }
        if (want <= j) hi = j;
        else if (want >= i) lo = i;
        else return;
    }
}

/* The left part takes the largest power of two of packs, so that 8 neighbours always are one subtree. */
static void order(abut_key *k, size_t n)
{
    while (n > ABUT_PACK) {
        const size_t packs = (n + ABUT_PACK - 1) / ABUT_PACK;
        size_t left = 1;
        while (2 * left < packs) left *= 2;
        const size_t cut = left * ABUT_PACK;
        select_nth(k, n, cut, widest_axis(k, n));
        #pragma omp task if (cut > TASK_ITEMS)
        order(k, cut);
        k += cut;
        n -= cut;
    }
}

static void levels_plan(abut_tree_shape *p)
{
    size_t children = p->n_pack;
    do {
        p->level[p->n_level++] = p->n_node;
        children = (children + ABUT_WIDE - 1) / ABUT_WIDE;
        p->n_node += children;
    } while (children > 1);
}

abut_status abut_tree_shape_build(abut_key *k, size_t n, abut_tree_shape *out, abut_err *err)
{
    abut_tree_shape *p = out;
    *p = (abut_tree_shape){ .n = n, .n_pack = (n + ABUT_PACK - 1) / ABUT_PACK };
    if (!n) return ABUT_OK;
    levels_plan(p);
    p->item = malloc(p->n_pack * sizeof *p->item);
    if (!p->item) return abut_fail(err, ABUT_E_NOMEM, "packs: no memory for %zu items", n);
    #pragma omp parallel if (n >= ABUT_PAR_MIN)
    {
        #pragma omp single
        order(k, n);
        #pragma omp for schedule(static)
        for (size_t i = 0; i < p->n_pack * ABUT_PACK; i++) p->item[i / ABUT_PACK][i % ABUT_PACK] = i < n ? k[i].id : -1;
    }
    return ABUT_OK;
}

void abut_tree_shape_clear(abut_tree_shape *p)
{
    free(p->item);
    *p = (abut_tree_shape){ 0 };
}
