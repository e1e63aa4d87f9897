/* Laws of contacts by number: of the barrier and of friction. */
#ifndef ABUT_ENERGY_CONTACT_LAWS_H
#define ABUT_ENERGY_CONTACT_LAWS_H

/* Barrier laws: functions b(D) of the squared distance D beyond the thickness of a pair (energy/barrier_pair.h), that end at
 * Dhat.  A law is a file with one abut_barrier_law_ops and a row in model/laws_table.h.  Published laws have forms for four at a
 * time and for a device (energy/contact_forms.h).  Others are evaluated one by one, and not on a device. */
typedef struct abut_barrier_law_ops {
    const char *help;       /* its formula */
    /** b, m^4, for 0 < D < Dhat (m^2): infinite at D = 0 and 0 at Dhat, falling and convex, and of the size of Dhat^2 in between,
     * so that the stiffness keeps its unit; *db = b', m^2, and *ddb = b''.  The bounds of the stiffness follow from b''
     * (abut_kappa_min). */
    double (*value)(double D, double Dhat, double *db, double *ddb);
} abut_barrier_law_ops;

/** By number. */
extern const abut_barrier_law_ops *const abut_barrier_laws[];

/* Friction laws: Coulomb's friction smoothed about rest, by f0(y) of the sliding distance y (energy/friction.h).  A law is a
 * file with one abut_friction_law_ops and a row in model/laws_table.h.  The published ones have forms for four at a time and
 * for a device, too (energy/friction_inline.h); others are taken one after the other, and a device refuses them.  A law that
 * is not radial is a term of its own. */
typedef struct abut_friction_law_ops {
    const char *help;       /* the force f1 = f0' */
    /** f0, m, of y >= 0, m, with *f1_over_y = f0'/y, 1/m, finite at y = 0, and *f2 = f0'', 1/m, both >= 0; w > 0, m: the distance
     * at which sliding begins.  f0' is 0 at y = 0 and at most 1. */
    double (*f0)(double y, double w, double *f1_over_y, double *f2);
} abut_friction_law_ops;

/** By number. */
extern const abut_friction_law_ops *const abut_friction_laws[];

#endif
