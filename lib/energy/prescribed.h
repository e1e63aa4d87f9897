/* Prescribed nodes that could not be moved to their targets at once: the augmented Lagrangian
 *     A(x) = sum kap m/2 |x - target|^2 - sqrt(m) lam.(x - target)                         kg m^2
 * over the prescribed nodes; while it is on, these nodes have unknowns (Li 2020, App. E, eq. 4). */
#ifndef ABUT_ENERGY_PRESCRIBED_H
#define ABUT_ENERGY_PRESCRIBED_H

struct abut_terms;

typedef struct abut_lagrangian {
    int on;
    double kap;         /* dimensionless, 1e6 .. 1e8 */
    double *lam;        /* [3 nv] kg^(1/2) m */
} abut_lagrangian;

/** Returns the Lagrangian of the list, which every model has. */
abut_lagrangian *abut_lagrangian_of(const struct abut_terms *terms);

#endif
