/* The contact barrier as a term, and its stiffness. */
#ifndef ABUT_ENERGY_BARRIER_TERM_H
#define ABUT_ENERGY_BARRIER_TERM_H

#include "energy/barrier.h"

struct abut_terms;
struct abut_at;

typedef struct abut_barrier_state {
    double kappa;               /* kg/m^2 */
    double in_frame;            /* that of the frame that was loaded; NaN: it has none */
    const abut_model *model;
    const abut_collmesh *cm;
    abut_barrier_curvature curvature;
    int32_t *slot;              /* [4 cap] of the elements at the last point (contact/collision_mesh.h) */
    size_t cap;
} abut_barrier_state;

/** That of a list of terms; every model has one. */
abut_barrier_state *abut_barrier_state_of(const struct abut_terms *terms);
/** Which Hessians it takes, NULL: projected; with the filter of the model.
 * Fails  ABUT_E_FORMAT the model has a filter, and these take none */
ABUT_MUST_USE abut_status abut_barrier_choose(abut_barrier_state *b, const abut_barrier_hessian_ops *ops, abut_err *err);
/** g[3 nv] += the gradient at kappa = 1. */
ABUT_MUST_USE abut_status abut_barrier_unit_gradient(const abut_barrier_state *b, const struct abut_at *at, double *g,
                                                     abut_arena *scratch, abut_err *err);
/** What kappa is after a step that has changed the smallest gap, m: doubled, up to `most`, where that was below `below`, is so
 * still, and has shrunk (Li 2020, App. F). */
double abut_barrier_stiffer(double kappa, double most, double below, double gap_before, double gap_after);
/** The same of a term, inside the bounds of its model; 1: it is stiffer now. */
int abut_barrier_stiffen(abut_barrier_state *b, double gap_before, double gap_after);

#endif
