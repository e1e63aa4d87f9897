#include "math/svd3.h"

#include "math/svd3_inline.h"

void abut_svd3(const double F[9], double U[9], double s[3], double V[9])
{
    abut_svd3_one(F, U, s, V);
}
