#include "model/offender.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

abut_status abut_offenders_add(abut_offenders *list, int size0, int size1, const double *x, abut_err *err,
                               const char *fmt, ...)
{
    list->total++;
    if (list->n == ABUT_OFFENDERS_KEPT) return ABUT_OK;
    if (list->n == list->cap) {
        const int cap = list->cap ? 2 * list->cap : 16;
        abut_offender *p = realloc(list->item, (size_t)cap * sizeof *p);
        if (!p) return abut_fail(err, ABUT_E_NOMEM, "no memory for a list of %d unusable primitives", cap);
        list->item = p;
        list->cap = cap;
    }
    abut_offender *o = &list->item[list->n++];
    o->size[0] = size0;
    o->size[1] = size1;
    memcpy(o->x, x, 3 * (size_t)(size0 + size1) * sizeof *x);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(o->text, sizeof o->text, fmt, ap);
    va_end(ap);
    return ABUT_OK;
}

void abut_offenders_clear(abut_offenders *list)
{
    free(list->item);
    memset(list, 0, sizeof *list);
}
