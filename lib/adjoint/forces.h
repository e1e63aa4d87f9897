/* Products q^T d(dPsi/dx)/dtheta of an adjoint q with the derivative of forces by the parameters theta of every potential. */
#ifndef ABUT_ADJOINT_FORCES_H
#define ABUT_ADJOINT_FORCES_H

#include "adjoint/bars.h"
#include "energy/elastic.h"
#include "solve/objective.h"

/* Scratch of its own, kept from step to step.  Zero-filled is empty. */
typedef struct abut_adjoint_forces {
    abut_elastic_memo memo;
    double *lame, *law_lame;    /* [2 nt], [2 nm] */
} abut_adjoint_forces;

void abut_adjoint_forces_clear(abut_adjoint_forces *f);
/** bars += scale q^T d(grad Psi)/dtheta at `at`, for the parameters of tets, springs, attachments, hinges, rods, shells and their
 * pressure; tet/shear and tet/lame by the number of a tet in the caller's model.  q[3 nv].
 * Fails   ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_adjoint_forces_back(abut_adjoint_forces *f, abut_objective *o, const abut_at *at, const double *q,
                                                   double scale, abut_parameter_bar *bars, abut_arena *scratch, abut_err *err);

/** Adds the drag of wind in a step that ends at x[3 nv]: bars += q^T dF/dtheta, x_bar[3 nv] += q^T dF/dx_n through the area of
 * triangles at x_n. */
void abut_adjoint_drag_back(const abut_objective *o, const double *x, const double *q, double *x_bar, abut_parameter_bar *bars);

#endif
