/* What an adjoint q makes of the forces of a potential: q^T d(dPsi/dx)/dtheta for the parameters theta of every term. */
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
/** bars += scale q^T d(grad Psi)/dtheta where terms are taken at `at`, of the parameters of tets, springs, attachments, hinges,
 * rods, shells and their pressure; tet/shear and tet/lame by the number that a tet has in the model that was given.  q[3 nv].
 * Fails   ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_adjoint_forces_back(abut_adjoint_forces *f, abut_objective *o, const abut_at *at, const double *q,
                                                   double scale, abut_parameter_bar *bars, abut_arena *scratch, abut_err *err);

/** The drag of wind in a step that ends at x[3 nv]: bars += q^T dF/dtheta, x_bar[3 nv] += q^T dF/dx_n as far as the triangles
 * face the wind there. */
void abut_adjoint_drag_back(const abut_objective *o, const double *x, const double *q, double *x_bar, abut_parameter_bar *bars);

#endif
