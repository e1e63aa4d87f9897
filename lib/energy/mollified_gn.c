#include "energy/mollified_gn.h"

#include "geom/dist.h"
#include "math/vec3.h"

#include <math.h>

#define GN_FN static
#define GN(name) name##_here
#define HYPOT(a, b) hypot(a, b)
#include "energy/mollified_gn_forms.h"

void abut_mollified_gn_of(abut_barrier_law law, double least, int squared, const double *x, double eps_x, abut_mollified_gn *m)
{
    double e[3], db;
    *m = (abut_mollified_gn){ .dhat = sqrt(law.dhat2 + law.xi * law.xi) - law.xi };
    const double c = abut_cross2(x, m->a, NULL), d2 = abut_pair_edges_dist2(x, m->v);
    e[0] = abut_mollify(c, eps_x, &e[1], &e[2]);
    const double b = abut_barrier(law, abut_beyond2(d2, law.xi), &db, NULL);
    gn_put_here(x, c, d2, e, b, db, abut_barrier_along(law, sqrt(d2), least, squared), m);
}

void abut_mollified_gn_in_space(const abut_mollified_gn *m, double mu[2], double z[2][12])
{
    gn_in_space_here(m, mu, z);
}

void abut_mollified_gn_in_variables(const abut_mollified_gn *m, double mu[2], double z[2][12])
{
    double co, si;
    gn_eigen2_here(m->m11, m->m12 * m->dhat, m->m22 * m->dhat * m->dhat, mu, &co, &si);
    for (int i = 0; i < 12; i++) {
        z[0][i] = co * m->a[i] + si * m->v[i] / m->dhat;
        z[1][i] = -si * m->a[i] + co * m->v[i] / m->dhat;
    }
    for (int k = 0; k < 2; k++) mu[k] = fmax(mu[k], 0);
}
