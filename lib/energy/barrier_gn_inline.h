/* Gauss-Newton Hessians of contacts (energy/barrier_hessians.h), of one contact, for a GPU. */
#ifndef ABUT_ENERGY_BARRIER_GN_INLINE_H
#define ABUT_ENERGY_BARRIER_GN_INLINE_H

#include "energy/barrier_inline.h"
#include "energy/mollified_gn_inline.h"

#define GN_FN ABUT_FN
#define GN(name) name##_one
#define HYPOT(a, b) sqrt((a) * (a) + (b) * (b))
#include "energy/mollified_gn_forms.h"
#undef GN_FN
#undef GN
#undef HYPOT

/** abut_barrier_along at d^2. */
ABUT_FN double abut_barrier_along_fn(abut_barrier_law law, double d2, double least, int squared)
{
    double db, ddb;
    const double floor = law.xi + least, at2 = least > 0 && d2 < floor * floor ? floor * floor : d2;
    (void)abut_barrier_fn(law, abut_beyond2(at2, law.xi), &db, &ddb);
    return 4 * at2 * ddb + (squared ? 0 : 2 * db);
}

/** H[90] of four corners (+)= mu z z^T, packed (sparse/elements.h). */
ABUT_FN void abut_rank_one_put(double mu, const double z[12], int more, double *H)
{
    for (int a = 0; a < 4; a++)
        for (int b = a; b < 4; b++, H += 9)
            for (int k = 0; k < 9; k++) H[k] = (more ? H[k] : 0) + mu * z[3 * a + k / 3] * z[3 * b + k % 3];
}

/* The kind is a literal. */
ABUT_FN_LITERAL void barrier_plain_gn(abut_stencil kind, abut_barrier_law law, double least, int squared, double *x, double scale,
                                      double *H)
{
    double w[4], r[3], d2, z[12];
    abut_dist2_one(kind, (double (*)[3])x, w, r, &d2);
    const double d = sqrt(d2);
    for (int i = 0; i < 12; i++) z[i] = i < 3 * abut_stencil_size(kind) ? w[i / 3] * (r[i % 3] / d) : 0;
    abut_rank_one_put(scale * abut_barrier_along_fn(law, d2, least, squared), z, 0, H);
}

/** A plain contact of points x[12]: H[90] of rank one, 0 at corners that it does not have. */
ABUT_FN void abut_pair_gn_fn(abut_barrier_law law, double least, int squared, abut_stencil kind, double *x, double scale,
                             double *H)
{
    switch (kind) {
    case ABUT_PP: barrier_plain_gn(ABUT_PP, law, least, squared, x, scale, H); break;
    case ABUT_PE: barrier_plain_gn(ABUT_PE, law, least, squared, x, scale, H); break;
    case ABUT_PT: barrier_plain_gn(ABUT_PT, law, least, squared, x, scale, H); break;
    default: barrier_plain_gn(ABUT_EE, law, least, squared, x, scale, H);
    }
}

/** A mollified edge pair: H[90] of rank 2, projected in space. */
ABUT_FN void abut_pair_mollified_gn_fn(abut_barrier_law law, double least, int squared, const double *x, double eps_x,
                                       double scale, double *H)
{
    abut_mollified_gn m;
    double e[3], db, ddb, mu[2], z[2][12];
    const double c = abut_cross2_fn(x, m.a, NULL), d2 = abut_edges_dist2(x, m.v, NULL);
    e[0] = abut_mollify_fn(c, eps_x, &e[1], &e[2]);
    const double b = abut_barrier_fn(law, abut_beyond2(d2, law.xi), &db, &ddb);
    gn_put_one(x, c, d2, e, b, db, abut_barrier_along_fn(law, d2, least, squared), &m);
    gn_in_space_one(&m, mu, z);
    for (int k = 0; k < 2; k++) abut_rank_one_put(scale * mu[k], z[k], k, H);
}

#endif
