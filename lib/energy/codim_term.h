/* Codimensional elements as terms.  "codim" has all their energy if the time scheme takes elasticity at the iterate.  Else the
 * energy of their bounds, which must hold at the iterate, is the term "codim bounds". */
#ifndef ABUT_ENERGY_CODIM_TERM_H
#define ABUT_ENERGY_CODIM_TERM_H

#include "energy/codim.h"
#include "energy/stretch_ahead.h"

struct abut_terms;

/* State that both terms share. */
typedef struct abut_codim_state {
    abut_codim t;
    double strain_kappa;    /* Pa: stiffness of the stretch limits */
    int near_limit;         /* successive iterations that left a shell close to a limit */
    double *tension;        /* [nrd] N: forecast of the tension of rod segments, for the Hessian (energy/codim.h) */
    abut_stretch_ahead ahead;   /* stretch limits that the next direction meets */
} abut_codim_state;

/** Counts an iterate whose shells have `room` (abut_codim_stretch) left to their bounds.  1: a shell was close to its bound in
 * two successive iterates, and the bounds have been stiffened (Li 2020, 5.4.1). */
int abut_codim_stiffen(abut_codim_state *s, double room);

/** Returns the state of the list, which every model has, perhaps without elements. */
abut_codim_state *abut_codim_state_of(const struct abut_terms *terms);
abut_codim *abut_codim_of(const struct abut_terms *terms);

#endif
