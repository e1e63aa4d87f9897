/* Codimensional elements as terms: "codim" has all that they store where the time scheme takes elasticity at the iterate; where
 * it does not, their bounds, which are to hold at the iterate, are the term "codim bounds". */
#ifndef ABUT_ENERGY_CODIM_TERM_H
#define ABUT_ENERGY_CODIM_TERM_H

#include "energy/codim.h"
#include "energy/stretch_ahead.h"

struct abut_terms;

/* What both terms are of. */
typedef struct abut_codim_state {
    abut_codim t;
    double strain_kappa;    /* Pa: of the stretch limits */
    int near_limit;         /* iterations in a row that left a shell close to one */
    double *tension;        /* [nrd] N: what the Hessian takes for that of rod segments (energy/codim.h); its forecast */
    abut_stretch_ahead ahead;   /* of the stretch limits, for the direction that is being found */
} abut_codim_state;

/** Counts an iterate with that much room (abut_codim_stretch) left to the bounds of all shells.  1: one has stayed close to them
 * for two iterations, and the bounds are stiffer now (Li 2020, 5.4.1). */
int abut_codim_stiffen(abut_codim_state *s, double room);

/** That of a list of terms; every model has one, perhaps without elements. */
abut_codim_state *abut_codim_state_of(const struct abut_terms *terms);
abut_codim *abut_codim_of(const struct abut_terms *terms);

#endif
