#include "solve/report.h"

#include <stdlib.h>

enum { HALF = ABUT_HISTORY / 2 };

/* Returns the slot of an iteration, by its number from 0; slots of the second half are overwritten in turn. */
static int slot(int number)
{
    return number < HALF ? number : HALF + (number - HALF) % HALF;
}

const char *const abut_contact_names[ABUT_CONTACT_LINEARISED + 1] = {
    "barrier", "ignored: nothing is guaranteed", "springs: nothing is guaranteed", "off: nothing is guaranteed",
    "barrier against obstacles: nothing is guaranteed between bodies",
    "hard, judged", "linearised inequalities: nothing is guaranteed"
};

const char *const abut_hold_names[ABUT_HOLDS] = { "script", "contact", "element", "rise", "stiff" };

const char *const abut_error_names[ABUT_ERRORS] = { "balance", "passes", "newton" };

abut_iteration *abut_report_iteration(abut_report *r)
{
    const int at = slot(r->newton);
    if ((size_t)at >= r->it_cap) {      /* to ABUT_HISTORY at most, a power of 2 */
        const size_t cap = r->it_cap ? 2 * r->it_cap : 32;
        if (!ABUT_RESIZE(r->it, cap)) return NULL;
        r->it_cap = cap;
    }
    r->newton++;
    r->it[at] = (abut_iteration){ 0 };
    return &r->it[at];
}

int abut_report_rows(const abut_report *r)
{
    return r->newton < ABUT_HISTORY ? r->newton : ABUT_HISTORY;
}

const abut_iteration *abut_report_row(const abut_report *r, int i)
{
    return &r->it[slot(i < HALF ? i : r->newton - abut_report_rows(r) + i)];
}

const char *abut_limit_name(abut_limit_kind kind, const char *term)
{
    static const char *const name[] = { "none", "vertex-triangle", "edge-edge", "half-space", "inversion", "length",
                                        "vertex-edge", "vertex-vertex", "stretch", NULL, "cfl" };
    return kind == ABUT_LIMIT_TERM ? term : name[kind];
}

const char *abut_iteration_bounded_by(const abut_iteration *it)
{
    return it->alpha < it->bound ? "decrease" : abut_limit_name(it->limit, it->term);
}

void abut_report_hold(abut_report *r, const abut_iteration *it, int script)
{
    const int contact = abut_limit_stencil(it->limit) >= 0 || it->limit == ABUT_LIMIT_PLANE || it->limit == ABUT_LIMIT_CFL;
    if (script) r->held[ABUT_HOLD_SCRIPT]++;
    else if (it->alpha < it->bound) r->held[ABUT_HOLD_RISE]++;
    else if (it->alpha > 1) r->held[ABUT_HOLD_STIFF]++;
    else if (it->alpha < 1) r->held[contact ? ABUT_HOLD_CONTACT : ABUT_HOLD_ELEMENT]++;
}

void abut_report_clear(abut_report *r)
{
    free(r->it);
    *r = (abut_report){ 0 };
}
