/* Barrier laws: functions b(D) of the squared distance D beyond the thickness of a pair (energy/barrier_pair.h), that end at
 * Dhat.  A law is a file with one abut_barrier_law_ops and a row in model/laws_table.h.  Published laws have forms for four at a
 * time and for a device (energy/contact_forms.h).  Others are evaluated one by one, and not on a device. */
#ifndef ABUT_ENERGY_BARRIER_LAWS_H
#define ABUT_ENERGY_BARRIER_LAWS_H

#include "model/laws_table.h"

typedef struct abut_barrier_law_ops {
    const char *help;       /* its formula */
    /** b, m^4, for 0 < D < Dhat (m^2): infinite at D = 0 and 0 at Dhat, falling and convex, and of the size of Dhat^2 in between,
     * so that the stiffness keeps its unit; *db = b', m^2, and *ddb = b''.  The bounds of the stiffness follow from b''
     * (abut_kappa_min). */
    double (*value)(double D, double Dhat, double *db, double *ddb);
} abut_barrier_law_ops;

/** By number. */
extern const abut_barrier_law_ops *const abut_barrier_laws[];

#define ABUT_DECLARE(id, name) extern const abut_barrier_law_ops abut_barrier_law_##id;
ABUT_BARRIER_LAWS(ABUT_DECLARE)
#undef ABUT_DECLARE

#endif
