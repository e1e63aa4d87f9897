#include "solve/report.h"

#include <stdlib.h>

abut_iteration *abut_report_iteration(abut_report *r)
{
    if (r->newton == r->it_cap) {
        const int cap = r->it_cap ? 2 * r->it_cap : 32;
        abut_iteration *it = realloc(r->it, (size_t)cap * sizeof *it);
        if (!it) return NULL;
        r->it = it;
        r->it_cap = cap;
    }
    r->it[r->newton] = (abut_iteration){ 0 };
    return &r->it[r->newton++];
}

void abut_report_clear(abut_report *r)
{
    free(r->it);
    *r = (abut_report){ 0 };
}
