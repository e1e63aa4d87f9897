#include "contact/repeated_search.h"

#include "base/par.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void abut_repeated_search_clear(abut_repeated_search *s)
{
    abut_candidates_clear(&s->wide);
    free(s->start);
    free(s->low);
    free(s->high);
    free(s->fixed);
    free(s->changed);
    *s = (abut_repeated_search){ .known = 0 };
}

static abut_status reserve(abut_repeated_search *s, size_t nc, abut_err *err)
{
    if (s->fixed) return ABUT_OK;
    s->start = malloc((3 * nc + 1) * sizeof *s->start);
    s->low = malloc((3 * nc + 1) * sizeof *s->low);
    s->high = malloc((3 * nc + 1) * sizeof *s->high);
    s->fixed = malloc(nc + 1);
    s->changed = malloc(nc + 1);
    if (s->start && s->low && s->high && s->fixed && s->changed) return ABUT_OK;
    abut_repeated_search_clear(s);
    return abut_fail(err, ABUT_E_NOMEM, "contacts of %zu vertices", nc);
}

static int begins_there(const abut_repeated_search *s, size_t nc, const double *y0, const uint8_t *fixed)
{
    return s->known && !memcmp(s->start, y0, 3 * nc * sizeof *y0) && !memcmp(s->fixed, fixed, nc);
}

/* Boxes around y1. */
static void enclose(abut_repeated_search *s, size_t nc, const double *y1, double margin)
{
    for (size_t i = 0; i < 3 * nc; i++) {
        s->low[i] = y1[i] - margin;
        s->high[i] = y1[i] + margin;
    }
}

/* Boxes that y1 has left hold it afterwards, with the margin; 1: there are some, in s->changed. */
static int extend(abut_repeated_search *s, size_t nc, const double *y1, double margin)
{
    int left = 0;
    #pragma omp parallel for schedule(static) reduction(| : left) if (nc >= ABUT_PAR_MIN)
    for (size_t v = 0; v < nc; v++) {
        int out = 0;
        for (size_t i = 3 * v; i < 3 * v + 3; i++) {
            const double below = s->low[i] - y1[i], above = y1[i] - s->high[i];
            if (below > 0) s->low[i] = y1[i] - fmax(margin, below / 2), out = 1;
            if (above > 0) s->high[i] = y1[i] + fmax(margin, above / 2), out = 1;
        }
        s->changed[v] = (uint8_t)out;
        left |= out;
    }
    return left;
}

abut_status abut_repeated_search_find(abut_repeated_search *s, const abut_collmesh *cm, const double *y0, const double *y1,
                                      const uint8_t *fixed, double margin, abut_err *err)
{
    assert(margin >= 0);
    const size_t nc = (size_t)cm->nc;
    abut_status rc = reserve(s, nc, err);
    if (!rc) rc = abut_candidates_check(cm, y1, err);
    if (rc) return rc;
    const int known = begins_there(s, nc, y0, fixed);
    if (!known) {
        memcpy(s->start, y0, 3 * nc * sizeof *y0);
        memcpy(s->fixed, fixed, nc);
        enclose(s, nc, y1, margin);
    }
    if (!known) rc = abut_candidates_between(cm, y0, s->low, s->high, 0, fixed, &s->wide, err);
    else if (extend(s, nc, y1, margin))
        rc = abut_candidates_extend(cm, y0, s->low, s->high, 0, fixed, s->changed, &s->wide, err);
    s->known = !rc;
    return rc;
}

abut_candidate_search *abut_repeated_search_lend(abut_repeated_search *s)
{
    s->known = 0;
    return &s->wide.search;
}

abut_candidate_test abut_candidate_test_of(const abut_collmesh *cm, const double *y0, const double *y1, double reach)
{
    abut_candidate_test t = { .motion = { .nv = (size_t)cm->nc, .y0 = y0, .y1 = y1, .reach = reach, .xi = cm->xi } };
    t.rounding = abut_broad_rounding_of(&t.motion);
    return t;
}

int abut_candidate_test_has(const abut_candidate_test *t, abut_stencil kind, const int32_t v[4])
{
    const int first = kind == ABUT_EE ? 2 : 1;
    return abut_broad_finds(&t->motion, t->rounding, first, abut_stencil_size(kind) - first, v);
}
