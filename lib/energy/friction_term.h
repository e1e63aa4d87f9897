/* Lagged friction as a term: the frozen contacts, and which of them have a majorant as Hessian.
 *
 * The second derivative of the law does not show the kink between sticking and sliding: a line search along a direction that
 * crosses it backtracks repeatedly.  A contact that the last direction led over its kink gets a majorising Hessian in the next
 * matrix (energy/friction.h: above).  The solution with such a matrix is a descent direction, but its length is no measure of
 * the distance to the minimum. */
#ifndef ABUT_ENERGY_FRICTION_TERM_H
#define ABUT_ENERGY_FRICTION_TERM_H

#include "energy/friction.h"

struct abut_terms;
struct abut_term_step;

typedef struct abut_friction_state {
    abut_lag lag;           /* frozen contacts */
    const abut_model *model;
    const abut_collmesh *cm;
    uint8_t *above;         /* [cap] the next Hessian of the contact is a majorant */
    size_t n, cap;          /* contacts that `above` covers; 0: no majorants */
} abut_friction_state;

/** Returns the friction of the list, which every model has, perhaps without contacts. */
abut_friction_state *abut_friction_state_of(const struct abut_terms *terms);
abut_lag *abut_lag_of(const struct abut_terms *terms);
/** Exchanges the frozen contacts and others. */
void abut_lag_exchange(const struct abut_terms *terms, abut_lag *lag);
/** Whether any friction coefficient is positive. */
int abut_friction_acts(const abut_model *m);
/** How friction is smoothed in a step. */
abut_stiction abut_stiction_of(const abut_model *m, const struct abut_term_step *step);

#endif
