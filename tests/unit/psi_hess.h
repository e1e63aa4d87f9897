/* Second derivatives of densities with respect to F, for tests that compare them with differences. */
#ifndef ABUT_TESTS_PSI_HESS_H
#define ABUT_TESTS_PSI_HESS_H

#include "energy/elastic_lanes.h"
#include "energy/material/density_inline.h"
#include "math/svd3.h"

#include "math/forms_lanes.h"
#define PRINCIPAL abut_principals
#include "energy/tet_forms.h"
#undef PRINCIPAL
#include "math/forms_end.h"

/* H[81] = d2psi/dF2, rows and columns the entries of F row major, from a principal form and the singular vectors of F */
static inline void principal_hess(const abut_principal *p, const double u[9], const double v[9], double H[81])
{
    const abut_lanes one = ABUT_LANES_ALL(1.);
    abut_lanes U[9], a[3], b[3], K[9];
    abut_principals four;
    abut_modes_lanes h;
    for (size_t l = 0; l < ABUT_LANES; l++) abut_principals_set(&four, l, p);
    for (int i = 0; i < 9; i++) U[i] = ABUT_LANES_ALL(u[i]);
    abut_modes_of_lanes(&four, &one, &h);
    for (int j = 0; j < 3; j++)   /* unit vector j in the frame of V is row j of V: one in each lane */
        for (int c = 0; c < 3; c++) b[c][j] = b[c][3] = v[3 * j + c];
    for (int i = 0; i < 3; i++) {
        for (int c = 0; c < 3; c++) a[c] = ABUT_LANES_ALL(v[3 * i + c]);
        abut_mode_block_lanes(&h, U, a, b, K);
        for (int j = 0; j < 3; j++)
            for (int m = 0; m < 3; m++)
                for (int k = 0; k < 3; k++) H[9 * (3 * m + i) + 3 * k + j] = K[3 * m + k][j];
    }
}

/* that of a density; project: nearest positive semidefinite */
static inline void density_hess(int model, double mu, double lambda, const double F[9], double H[81], int project)
{
    double U[9], s[3], V[9];
    abut_principal p;
    abut_svd3(F, U, s, V);
    abut_density_principal(model, mu, lambda, s, &p);
    if (project) abut_principal_project_one(&p);
    principal_hess(&p, U, V, H);
}

#endif
