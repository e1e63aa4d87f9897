/* Derivatives of a run as a table: array,row,column,name,value,derivative,error.
 *
 * array       of the MODEL, or of frame 0 (node/x, node/v), or one like them (lib/adjoint/bars.h)
 * name        of the row's object, material or motion, if it has one
 * value       entry of the array; empty if the MODEL has no such array
 * derivative  of L by the value
 * error       of the derivative by the tolerance of the run, to first order; empty if not estimated
 * The first two lines are `loss,0,0,,L,,` and `loss/correction,0,0,,E,,`: L at exact ends of the
 * steps is L + E to first order. */
#ifndef ABUT_FORMATS_RESULT_GRADIENT_WRITE_H
#define ABUT_FORMATS_RESULT_GRADIENT_WRITE_H

#include "adjoint/bars.h"

#include <stdio.h>

/* Borrows everything. */
typedef struct abut_gradient_table {
    const abut_arrays *model_set, *first;   /* frame 0 */
    const abut_model *model;
    double loss, correction;
    const abut_state_bar *state;            /* of frame 0 */
    abut_parameter_bar *parameters;
    const struct abut_gradient_table *other;    /* the same of a run that differs by the error alone; NULL: not estimated */
    const char *const *by;                  /* [n] patterns of arrays (fnmatch); none: all with a row for each object, material,
                                             * motion, class or the scene */
    int n;
} abut_gradient_table;

/** Checks that each pattern matches an array that has derivatives in this model.
 * Fails  ABUT_E_ARG one matches none: the message lists the arrays, or says why there are none */
ABUT_MUST_USE abut_status abut_gradient_check(const abut_gradient_table *t, abut_err *err);
void abut_gradient_csv(const abut_gradient_table *t, FILE *f);
void abut_gradient_json(const abut_gradient_table *t, FILE *f);
/** Puts gradient/NAME, and gradient-error/NAME if estimated, of every array, and loss/value and loss/correction into the MODEL;
 * those of node/x and node/v into frame 0.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_gradient_arrays(const abut_gradient_table *t, abut_arrays *model, abut_arrays *frame,
                                               abut_err *err);

#endif
