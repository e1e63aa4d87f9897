/* A barrier of one's own, without a logarithm.  It goes to lib/energy; rows.diff names it in the table. */
#include "energy/contact_laws.h"

static double inverse(double D, double Dhat, double *db, double *ddb)
{
    const double gap = Dhat - D, q = gap / D;
    *db = -gap * q * (3 + q);
    *ddb = 2 * q * (3 + q * (3 + q));
    return gap * gap * q;
}

const abut_barrier_law_ops abut_barrier_law_inverse = { "(Dhat - D)^3/D, C2 at Dhat", inverse };
