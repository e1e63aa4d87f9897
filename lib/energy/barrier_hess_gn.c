/* Gauss-Newton Hessians of contacts, of rank one: in the distance d (Huang et al. 2024, GIPC, 5.3), which leaves b_dd v v^T, and
 * in d^2, which leaves 4 d^2 b'' v v^T = (b_dd + |b_d|/d) v v^T. */
#include "energy/barrier_hessians.h"

#include "energy/mollified_gn.h"

static void mollified(int squared, int in_variables, const abut_barrier_law *law, double least, size_t n, const double (*x)[12],
                      const double *eps_x, const double *scale, double *val)
{
    for (size_t i = 0; i < n; i++) {
        abut_mollified_gn m;
        double mu[2], z[2][12];
        abut_mollified_gn_of(law[i], least, squared, x[i], eps_x[i], &m);
        if (in_variables) abut_mollified_gn_in_variables(&m, mu, z);
        else abut_mollified_gn_in_space(&m, mu, z);
        for (int k = 0; k < 2; k++, val += ABUT_RANK_ONE) {
            val[0] = scale[i] * mu[k];
            for (int c = 0; c < 12; c++) val[1 + c] = z[k][c];
        }
    }
}

static void gn(const abut_barrier_law *law, double least, abut_stencil kind, size_t n, const double (*x)[12], const double *scale,
               double *val)
{
    abut_pair_barrier_rank_one(law, least, 0, kind, n, x, scale, val);
}

static void gn_mollified(const abut_barrier_law *law, double least, size_t n, const double (*x)[12], const double *eps_x,
                         const double *scale, double *val)
{
    mollified(0, 0, law, least, n, x, eps_x, scale, val);
}

static double gn_normal(abut_barrier_law law, double least, double d) { return abut_barrier_along(law, d, least, 0); }

const abut_barrier_hessian_ops abut_barrier_hessian_gn = {
    .name = "gn", .help = "second derivative along the normal alone, rank one (GIPC)", .rank = 1, .filters = 1, .plain = gn,
    .kernel = ABUT_HESSIAN_GN, .mollified = gn_mollified, .normal = gn_normal,
};

static void gn_j_mollified(const abut_barrier_law *law, double least, size_t n, const double (*x)[12], const double *eps_x,
                           const double *scale, double *val)
{
    mollified(0, 1, law, least, n, x, eps_x, scale, val);
}

const abut_barrier_hessian_ops abut_barrier_hessian_gn_j = {
    .name = "gn-j", .help = "gn with nearly parallel edges projected as published; depends on the unit of length",
    .rank = 1, .filters = 1, .plain = gn, .mollified = gn_j_mollified, .normal = gn_normal,
};

static void ipc_gn(const abut_barrier_law *law, double least, abut_stencil kind, size_t n, const double (*x)[12],
                   const double *scale, double *val)
{
    abut_pair_barrier_rank_one(law, least, 1, kind, n, x, scale, val);
}

static void ipc_gn_mollified(const abut_barrier_law *law, double least, size_t n, const double (*x)[12], const double *eps_x,
                             const double *scale, double *val)
{
    mollified(1, 0, law, least, n, x, eps_x, scale, val);
}

static double ipc_gn_normal(abut_barrier_law law, double least, double d) { return abut_barrier_along(law, d, least, 1); }

const abut_barrier_hessian_ops abut_barrier_hessian_ipc_gn = {
    .name = "ipc-gn", .help = "gn by the squared distance; stiffer", .rank = 1, .filters = 1, .plain = ipc_gn,
    .kernel = ABUT_HESSIAN_IPC_GN, .mollified = ipc_gn_mollified, .normal = ipc_gn_normal,
};
