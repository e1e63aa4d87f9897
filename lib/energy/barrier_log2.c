/* The squared logarithm of Huang et al. 2024 (GIPC), Eq. 24: with equal stiffness, stronger than the barrier of Li 2020 at small
 * distances, and weaker near Dhat. */
#include "energy/barrier_laws.h"

static double log2_law(double D, double Dhat, double *db, double *ddb)
{
    const double gap = Dhat - D, L = abut_barrier_log(D, Dhat), q = gap / D;
    *db = 2 * gap * L * (q - L);
    *ddb = 2 * L * L - 8 * q * L + 2 * q * q * (1 - L);
    return gap * gap * L * L;
}

const abut_barrier_law_ops abut_barrier_law_log2 = { "(D - Dhat)^2 ln^2(D/Dhat), C3 at Dhat: Huang 2024", log2_law };
