#include "sparse/owned_elements.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FOUR = 4 };

void abut_owned_elements_clear(abut_owned_elements *o)
{
    for (int k = 0; k < ABUT_SETS_MAX; k++) {
        free(o->set[k].group);
        free(o->set[k].row);
    }
    *o = (abut_owned_elements){ 0 };
}

static int touches(const abut_elements *e, size_t k, abut_range rows)
{
    const int32_t *row = e->row + k * (size_t)e->corners;
    for (int c = 0; c < e->corners; c++)
        if (row[c] >= 0 && (size_t)row[c] >= rows.lo && (size_t)row[c] < rows.hi) return 1;
    return 0;
}

/* Elements of group g of four. */
static abut_range of_group(size_t n, size_t g)
{
    return (abut_range){ FOUR * g, FOUR * g + FOUR < n ? FOUR * g + FOUR : n };
}

static int any_touches(const abut_elements *e, size_t g, abut_range rows)
{
    const abut_range r = of_group(e->n, g);
    for (size_t k = r.lo; k < r.hi; k++)
        if (touches(e, k, rows)) return 1;
    return 0;
}

/* Values of elements [lo, hi) of a whole set. */
static void values_of(const abut_elements *e, size_t lo, size_t hi, double *val)
{
    const size_t size = abut_element_size(e);
    if (e->val) memcpy(val, e->val + size * lo, (hi - lo) * size * sizeof *val);
    else e->make(e->ctx, lo, hi, val);
}

/* Values of the rank's elements [lo, hi): groups that follow each other in the whole set are asked for at once. */
static void make_groups(void *ctx, size_t lo, size_t hi, double *val)
{
    const struct abut_owned_set *s = ctx;
    const abut_elements *of = s->of;
    const size_t size = abut_element_size(of), last = (hi + FOUR - 1) / FOUR;
    for (size_t g = lo / FOUR, end; g < last; g = end) {
        for (end = g + 1; end < last && s->group[end] == s->group[end - 1] + 1;) end++;
        const size_t from = FOUR * (size_t)s->group[g], to = of_group(of->n, (size_t)s->group[end - 1]).hi;
        values_of(of, from, to, val + size * (FOUR * g - lo));
    }
}

static abut_status reserve(struct abut_owned_set *s, size_t groups, size_t corners, abut_err *err)
{
    if (groups > s->cap) {
        free(s->group);
        free(s->row);
        s->cap = groups + groups / 4;
        s->group = malloc(s->cap * sizeof *s->group);
        s->row = malloc(s->cap * FOUR * corners * sizeof *s->row);
        if (!s->group || !s->row) s->cap = 0;
    }
    return groups <= s->cap ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "elements of a rank: %zu groups", groups);
}

static abut_status take_set(struct abut_owned_set *s, abut_range rows, abut_elements *e, abut_err *err)
{
    const size_t corners = (size_t)e->corners, groups = (e->n + FOUR - 1) / FOUR;
    size_t n = 0, at = 0;
    for (size_t g = 0; g < groups; g++) n += (size_t)any_touches(e, g, rows);
    const abut_status rc = reserve(s, n, corners, err);
    if (rc) return rc;
    s->n = 0;
    for (size_t g = 0; g < groups; g++) {
        if (!any_touches(e, g, rows)) continue;
        const abut_range r = of_group(e->n, g);
        s->group[s->n++] = (int32_t)g;
        memcpy(s->row + corners * at, e->row + corners * r.lo, (r.hi - r.lo) * corners * sizeof *s->row);
        for (size_t k = r.lo; k < r.hi; k++)    /* other elements would add only to rows of other ranks */
            for (size_t c = 0; c < corners && !touches(e, k, rows); c++) s->row[corners * (at + k - r.lo) + c] = -1;
        at += r.hi - r.lo;
    }
    e->n = at;
    e->row = s->row;
    e->val = NULL;
    e->make = make_groups;
    e->ctx = s;
    return ABUT_OK;
}

abut_status abut_owned_elements_take(abut_owned_elements *o, const abut_ranks *r, int32_t n, abut_elements *sets, int nsets,
                                     abut_err *err)
{
    assert(r && nsets <= ABUT_SETS_MAX);
    const abut_range rows = abut_ranks_part(r, (size_t)n);
    for (int k = 0; k < nsets; k++) {
        if (sets[k].map) return abut_fail(err, ABUT_E_ARG, "elements of %s on a map of rows: not for ranks", sets[k].name);
        o->all[k] = sets[k];
        o->set[k].of = &o->all[k];
        const abut_status rc = take_set(&o->set[k], rows, &sets[k], err);
        if (rc) return rc;
    }
    return ABUT_OK;
}
