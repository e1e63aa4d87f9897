#include "energy/barrier.h"

#include "base/words.h"
#include "energy/barrier_inline.h"
#include "sparse/packed_inline.h"

/* ---- the Hessian, and the positive semidefinite matrix nearest to it (energy/barrier_pair.h) ---- */

static void projected(const abut_barrier_law *law, double least, abut_stencil kind, size_t n, const double (*x)[12],
                      const double *scale, double *val)
{
    (void)least;
    abut_pair_barrier_hess(law, kind, n, x, scale, val);
}

static void projected_mollified(const abut_barrier_law *law, double least, size_t n, const double (*x)[12], const double *eps_x,
                                const double *scale, double *val)
{
    (void)least;
    abut_pair_mollified_hess(law, n, x, eps_x, scale, val);
}

static const abut_barrier_hessian_ops row_projected = {
    .name = "projected", .help = "positive semidefinite matrix nearest to the second derivative", .plain = projected,
    .kernel = ABUT_HESSIAN_PROJECTED, .mollified = projected_mollified,
};

/* H[abut_packed_size(4)] = scale times A, of k corners. */
static void pack(int k, const double *A, double scale, double *H)
{
    for (int a = 0; a < 4; a++)
        for (int b = a; b < 4; b++, H += 9)
            for (int i = 0; i < 9 && b < k; i++)
                H[i] = scale * A[3 * k * (3 * a + i / 3) + 3 * b + i % 3];
}

static void full(const abut_barrier_law *law, double least, abut_stencil kind, size_t n, const double (*x)[12],
                 const double *scale, double *val)
{
    const int k = abut_stencil_size(kind);
    (void)least;
    for (size_t i = 0; i < n; i++) {
        double g[12], H[144], db, ddb;
        const double d2 = abut_dist2_all(kind, x[i], NULL, g, H);
        (void)abut_barrier(law[i], abut_beyond2(d2, law[i].xi), &db, &ddb);
        for (int j = 0; j < 9 * k * k; j++) H[j] = ddb * (g[j / (3 * k)] * g[j % (3 * k)]) + db * H[j];
        pack(k, H, scale[i], val + abut_packed_size(4) * i);
    }
}

static void full_mollified(const abut_barrier_law *law, double least, size_t n, const double (*x)[12], const double *eps_x,
                           const double *scale, double *val)
{
    (void)least;
    for (size_t i = 0; i < n; i++) {
        double H[144];
        abut_pair_mollified_full(law[i], x[i], eps_x[i], H);
        pack(4, H, scale[i], val + abut_packed_size(4) * i);
    }
}

static const abut_barrier_hessian_ops row_full = {
    .name = "full", .help = "second derivative, indefinite; the diagonal is shifted until the matrix factors",
    .indefinite = 1, .plain = full, .mollified = full_mollified,
};

/* ---- Gauss-Newton Hessians, of rank one ----
 *
 * In the distance d (Huang et al. 2024, GIPC, 5.3), which leaves b_dd v v^T, and in d^2, which leaves
 * 4 d^2 b'' v v^T = (b_dd + |b_d|/d) v v^T. */

static void gauss_newton(int squared, const abut_barrier_law *law, double least, size_t n, const double (*x)[12],
                         const double *eps_x, const double *scale, double *val)
{
    for (size_t i = 0; i < n; i++) {
        abut_mollified_gn m;
        double mu[2], z[2][12];
        abut_mollified_gn_of(law[i], least, squared, x[i], eps_x[i], &m);
        abut_mollified_gn_in_space(&m, mu, z);
        for (int k = 0; k < 2; k++, val += ABUT_RANK_ONE) {
            val[0] = scale[i] * mu[k];
            for (int c = 0; c < 12; c++) val[1 + c] = z[k][c];
        }
    }
}

#define GAUSS_NEWTON(id, squared)                                                                                            \
    static void id##_plain(const abut_barrier_law *law, double least, abut_stencil kind, size_t n, const double (*x)[12],    \
                           const double *scale, double *val)                                                                 \
    {                                                                                                                        \
        abut_pair_barrier_rank_one(law, least, squared, kind, n, x, scale, val);                                             \
    }                                                                                                                        \
    static void id##_mollified(const abut_barrier_law *law, double least, size_t n, const double (*x)[12],                   \
                               const double *eps_x, const double *scale, double *val)                                        \
    {                                                                                                                        \
        gauss_newton(squared, law, least, n, x, eps_x, scale, val);                                                          \
    }                                                                                                                        \
    static double id##_normal(abut_barrier_law law, double least, double d) { return abut_barrier_along(law, d, least, squared); }
GAUSS_NEWTON(gn, 0)
GAUSS_NEWTON(ipc_gn, 1)

static const abut_barrier_hessian_ops row_gn = {
    .name = "gn", .help = "second derivative along the normal alone, rank one (GIPC)", .rank = 1, .filters = 1,
    .plain = gn_plain, .kernel = ABUT_HESSIAN_GN, .mollified = gn_mollified, .normal = gn_normal,
};
static const abut_barrier_hessian_ops row_ipc_gn = {
    .name = "ipc-gn", .help = "gn by the squared distance; stiffer", .rank = 1, .filters = 1, .plain = ipc_gn_plain,
    .kernel = ABUT_HESSIAN_IPC_GN, .mollified = ipc_gn_mollified, .normal = ipc_gn_normal,
};

/* ---- the table ---- */

const abut_barrier_hessian_ops *const abut_barrier_hessians[] = { &row_projected, &row_full, &row_gn, &row_ipc_gn, NULL };
enum { KNOWN = 16 };

abut_status abut_barrier_hessian_find(const char *name, const abut_barrier_hessian_ops *const *more,
                                      const abut_barrier_hessian_ops **ops, abut_err *err)
{
    const abut_barrier_hessian_ops *known[KNOWN];
    const char *names[KNOWN + 1] = { NULL };
    int n = 0, at = 0;
    for (int i = 0; abut_barrier_hessians[i]; i++) known[n++] = abut_barrier_hessians[i];
    for (int i = 0; more && more[i] && n < KNOWN; i++) known[n++] = more[i];
    for (int i = 0; i < n; i++) names[i] = known[i]->name;
    const abut_status rc = abut_name_find("--barrier-hessian", name, names, &at, err);
    if (!rc) *ops = known[at];
    return rc;
}

double abut_barrier_normal(const abut_barrier_curvature *c, abut_barrier_law law, double d)
{
    return c->ops->normal ? c->ops->normal(law, c->least, d) : abut_barrier_along(law, d, 0, 0);
}
