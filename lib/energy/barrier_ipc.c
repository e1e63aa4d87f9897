/* The barrier of Li et al. 2020, 4.6, and two that are less smooth at Dhat, made as large by powers of Dhat. */
#include "energy/barrier_laws.h"

static double ipc_c0(double D, double Dhat, double *db, double *ddb)
{
    *db = -Dhat * (Dhat / D);
    *ddb = (Dhat / D) * (Dhat / D);
    return -Dhat * Dhat * abut_barrier_log(D, Dhat);
}

static double ipc_c1(double D, double Dhat, double *db, double *ddb)
{
    const double gap = Dhat - D, L = abut_barrier_log(D, Dhat);
    *db = Dhat * (L - gap / D);
    *ddb = Dhat / D * ((D + Dhat) / D);
    return -Dhat * gap * L;
}

static double ipc(double D, double Dhat, double *db, double *ddb)
{
    const double gap = Dhat - D, L = abut_barrier_log(D, Dhat);
    *db = gap * (2 * L - gap / D);
    *ddb = -2 * L + gap / D * ((Dhat + 3 * D) / D);
    return -gap * gap * L;
}

const abut_barrier_law_ops abut_barrier_law_ipc_c0 = { "-Dhat^2 ln(D/Dhat), continuous at Dhat", ipc_c0 };
const abut_barrier_law_ops abut_barrier_law_ipc_c1 = { "Dhat (D - Dhat) ln(D/Dhat), C1 at Dhat", ipc_c1 };
const abut_barrier_law_ops abut_barrier_law_ipc = { "-(D - Dhat)^2 ln(D/Dhat), C2 at Dhat: Li 2020", ipc };
