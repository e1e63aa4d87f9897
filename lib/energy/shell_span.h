/* Stretches of the shells of a frame, and their distance to the limits: for judging results, not for solvers. */
#ifndef ABUT_ENERGY_SHELL_SPAN_H
#define ABUT_ENERGY_SHELL_SPAN_H

#include "energy/stretch_limit.h"
#include "energy/codim.h"

enum { ABUT_SPAN_BINS = 20 };

/* Extremes over shells; of several the one with the lowest row.  Rows are -1 where there is none. */
typedef struct abut_shell_span {
    int32_t n;                  /* shells looked at */
    double min, max;            /* principal stretches; 1 without shells */
    int32_t min_row, max_row;
    double room;                /* smallest remaining fraction of a barrier's width; 1: none is active, 0: a limit is reached */
    int32_t room_row;
    double strain[3];           /* of cloth: largest |E11|, |E22|, |E12| as a share of its limit; 1 and more: reached */
    int32_t strain_row[3];
    int32_t outside;            /* shells that reach a limit of either kind, or go beyond */
    int64_t bin[ABUT_SPAN_BINS];/* both principal stretches of every shell, in bins from `from` on, `width` each; the first and
                                   last take what lies beyond */
    double from, width;
} abut_shell_span;

/** Looks at the shells of the objects with chosen[object] (NULL: all) at x[3 nv].
 *
 * limits  [4 nsh] as shell/stretch-limit; NULL: none
 * half    the bins reach from 1 - half to 1 + half */
void abut_shell_span_find(const abut_codim *t, const double *x, const double *limits, const uint8_t *chosen, double half,
                          abut_shell_span *out);

/** Copies the model's rows of limits, if any, and sets these limits and thresholds in the rows of chosen objects.  A limit of NAN
 * does not change its side.
 *
 * rows  [4 nsh] out */
void abut_shell_limits(const abut_model *m, const uint8_t *chosen, double lower, double lower_begins, double upper_begins,
                       double upper, double *rows);

#endif
