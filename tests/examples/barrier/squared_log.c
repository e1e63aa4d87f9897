/* A barrier of one's own: the logarithm squared, which is C3 at Dhat.  It goes to lib/energy; rows.diff names it in the table. */
#include "energy/barrier_laws.h"

static double squared_log(double D, double Dhat, double *db, double *ddb)
{
    const double gap = Dhat - D, L = abut_barrier_log(D, Dhat), q = gap / D;
    *db = 2 * gap * L * (q - L);
    *ddb = 2 * L * L - 8 * q * L + 2 * q * q * (1 - L);
    return gap * gap * L * L;
}

const abut_barrier_law_ops abut_barrier_law_squared_log = { "(D - Dhat)^2 ln^2(D/Dhat), C3 at Dhat", squared_log };
