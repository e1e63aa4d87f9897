/* Lagged friction as a term: the frozen contacts, and those of them whose Hessian is a majorant.
 *
 * Where a direction leads over the kink between sticking and sliding, which the second derivative of the law does not know, a
 * line search goes back again and again.  A contact that the last direction led over its kink is stiffer in the next matrix
 * (energy/friction.h: above).  The solution of such a matrix is a descent direction, but too short to tell how far the minimum
 * is. */
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
    size_t n, cap;          /* contacts that `above` is of; 0: no majorants, whatever contacts there are */
} abut_friction_state;

/** That of a list of terms; every model has one, perhaps without contacts. */
abut_friction_state *abut_friction_state_of(const struct abut_terms *terms);
abut_lag *abut_lag_of(const struct abut_terms *terms);
/** Exchanges the frozen contacts and others. */
void abut_lag_exchange(const struct abut_terms *terms, abut_lag *lag);
/** Whether any friction coefficient is positive. */
int abut_friction_acts(const abut_model *m);
/** How friction is smoothed in a step. */
abut_stiction abut_stiction_of(const abut_model *m, const struct abut_term_step *step);

#endif
