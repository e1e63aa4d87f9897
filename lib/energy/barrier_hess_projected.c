/* The positive semidefinite matrix nearest to the Hessian (energy/barrier_pair.h), and the Hessian without projection. */
#include "energy/barrier_hessians.h"

#include "sparse/packed_inline.h"

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

const abut_barrier_hessian_ops abut_barrier_hessian_projected = {
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

const abut_barrier_hessian_ops abut_barrier_hessian_full = {
    .name = "full", .help = "second derivative, indefinite; the diagonal is shifted until the matrix factors",
    .indefinite = 1, .plain = full, .mollified = full_mollified,
};
