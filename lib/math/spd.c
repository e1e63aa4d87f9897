#include "math/spd.h"

#include "math/spd_inline.h"

void abut_sym_eigen(int n, const double *A, double *w, double *Q)
{
    switch (n) {
    case 3: abut_sym_eigen_of(3, A, w, Q); break;
    case 5: abut_sym_eigen_of(5, A, w, Q); break;
    default: abut_sym_eigen_of(n, A, w, Q);
    }
}

int abut_psd_project(int n, double *A)
{
    double w[ABUT_SYM_MAX], Q[ABUT_SYM_MAX * ABUT_SYM_MAX];
    abut_sym_eigen(n, A, w, Q);
    return abut_psd_lift(n, w, Q, A);
}
