/* Friction laws: Coulomb's friction smoothed about rest, by f0(y) of the sliding distance y (energy/friction.h).  A law is a
 * file with one abut_friction_law_ops and a row in model/laws_table.h.  The published ones have forms for four at a time and
 * for a device, too (energy/friction_inline.h); others are taken one after the other, and a device refuses them.  A law that
 * is not radial is a term of its own. */
#ifndef ABUT_ENERGY_FRICTION_LAWS_H
#define ABUT_ENERGY_FRICTION_LAWS_H

#include "model/laws_table.h"

typedef struct abut_friction_law_ops {
    const char *help;       /* the force f1 = f0' */
    /** f0, m, of y >= 0, m, with *f1_over_y = f0'/y, 1/m, finite at y = 0, and *f2 = f0'', 1/m, both >= 0; w > 0, m: the distance
     * at which sliding begins.  f0' is 0 at y = 0 and at most 1. */
    double (*f0)(double y, double w, double *f1_over_y, double *f2);
} abut_friction_law_ops;

/** By number. */
extern const abut_friction_law_ops *const abut_friction_laws[];

#define ABUT_DECLARE(id, name) extern const abut_friction_law_ops abut_friction_law_##id;
ABUT_FRICTION_LAWS(ABUT_DECLARE)
#undef ABUT_DECLARE

#endif
