/* Records of the contacts of a step in its frame (`step --solver nodal --with contacts,forces,energies`; formats/STATE.md). */
#ifndef ABUT_SOLVE_NODAL_TOUCH_RECORD_H
#define ABUT_SOLVE_NODAL_TOUCH_RECORD_H

#include "solve/nodal/nodal.h"
#include "solve/step/record.h"

/** Adds to the frame `out` of a step that is solved what `with` names (ABUT_WITH_*):
 *     CONTACTS   touch/: every contact that the step was solved with, in the order in which it was found
 *     FORCES     node/contact-force, node/friction-force: sums of w r_N n / h and w r_T / h, N, of all nodes;
 *                half-space/contact-force, half-space/friction-force: minus the sums of the contacts of each half-space
 *                node/reaction-force: residual of the balance of momentum at prescribed nodes (solve/step/measures.h)
 *     ENERGIES   energy/kinetic, energy/elastic, energy/gravity, momenta, and work/friction = sum r_T . u_T, J
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_touch_record_put(abut_nodal *s, int with, abut_arrays *out, abut_err *err);

#endif
