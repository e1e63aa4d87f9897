/* Principal stretches of tets and shells: the singular values of the deformation gradient, 1 at rest. */
#ifndef ABUT_ENERGY_STRETCH_H
#define ABUT_ENERGY_STRETCH_H

#include "energy/codim.h"
#include "energy/elastic.h"
#include "energy/membrane.h"

/* Extremes over a mesh, and the tets that have them (the lowest index where several do). */
typedef struct abut_stretch {
    double min, max;            /* min is negative when that tet is inverted */
    int32_t min_tet, max_tet;   /* -1 when there is no tet; min and max are 1 then */
} abut_stretch;

/** The smallest and largest principal stretch over all tets at x; same bits for any thread count.
 * scratch: one abut_stretch per block of tets. */
ABUT_MUST_USE abut_status abut_stretch_find(const abut_elastic *e, const double *x, abut_stretch *out, abut_arena *scratch,
                                            abut_err *err);

/* ---- shells: for judging results, not for solvers ---- */

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
