/* Element sets of the objective: the sets of each term, with their rows and values; the weights of terms.  For callers that sum
 * over terms themselves. */
#ifndef ABUT_SOLVE_OBJECTIVE_SETS_H
#define ABUT_SOLVE_OBJECTIVE_SETS_H

#include "solve/objective.h"

/** Makes o->sets, o->nsets, o->lasting for the terms of o.  Fails  ABUT_E_ARG more than ABUT_SETS_MAX sets; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_term_sets_new(abut_objective *o, abut_err *err);
void abut_term_sets_free(abut_objective *o);

/** Returns the weight of a term in the energy (order 0), the gradient (1), the Hessian (2). */
double abut_objective_weight(const abut_objective *o, const abut_term_ops *ops, int order);

#endif
