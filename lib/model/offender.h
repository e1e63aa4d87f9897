/* Primitives that cannot be simulated: the fault and the position of each. */
#ifndef ABUT_MODEL_OFFENDER_H
#define ABUT_MODEL_OFFENDER_H

#include "base/err.h"

#include <stdint.h>

enum { ABUT_OFFENDERS_KEPT = 1000 };

/* One element, or two primitives that touch. */
typedef struct abut_offender {
    char text[400];
    int size[2];        /* points of the first and the second primitive (0: none): 1 point, 2 edge, 3 triangle, 4 tet */
    double x[21];       /* their positions, one primitive after the other, m */
} abut_offender;

/* Zero-filled is empty.  All are counted, the first ABUT_OFFENDERS_KEPT are kept. */
typedef struct abut_offenders {
    abut_offender *item;
    int n, cap;
    int64_t total;
} abut_offenders;

/** Whether the list is full: texts of further offenders are not kept and need not be made. */
static inline int abut_offenders_full(const abut_offenders *list) { return list->n == ABUT_OFFENDERS_KEPT; }

/** Counts one more and keeps it while there is room.  x: 3 (size0 + size1) numbers, size0 + size1 <= 7. */
ABUT_MUST_USE abut_status abut_offenders_add(abut_offenders *list, int size0, int size1, const double *x, abut_err *err,
                                             const char *fmt, ...) ABUT_PRINTF(6, 7);
void abut_offenders_clear(abut_offenders *list);

#endif
