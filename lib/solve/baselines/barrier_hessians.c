/* Hessians of contacts for comparison. */
#include "solve/baselines/baselines.h"

#include "energy/barrier_inline.h"
#include "math/vec3.h"

#include <math.h>
#include <string.h>

/* ---- Gauss-Newton, nearly parallel edges as published ---- */

static void gn(const abut_barrier_law *law, double least, abut_stencil kind, size_t n, const double (*x)[12], const double *scale,
               double *val)
{
    abut_pair_barrier_rank_one(law, least, 0, kind, n, x, scale, val);
}

static void gn_j_mollified(const abut_barrier_law *law, double least, size_t n, const double (*x)[12], const double *eps_x,
                           const double *scale, double *val)
{
    for (size_t i = 0; i < n; i++) {
        abut_mollified_gn m;
        double mu[2], z[2][12];
        abut_mollified_gn_of(law[i], least, 0, x[i], eps_x[i], &m);
        abut_mollified_gn_in_variables(&m, mu, z);
        for (int k = 0; k < 2; k++, val += ABUT_RANK_ONE) {
            val[0] = scale[i] * mu[k];
            for (int c = 0; c < 12; c++) val[1 + c] = z[k][c];
        }
    }
}

static double gn_normal(abut_barrier_law law, double least, double d) { return abut_barrier_along(law, d, least, 0); }

static const abut_barrier_hessian_ops gn_j = {
    .name = "gn-j", .help = "gn with nearly parallel edges projected as published; depends on the unit of length",
    .rank = 1, .filters = 1, .plain = gn, .mollified = gn_j_mollified, .normal = gn_normal,
};

/* ---- Hessians of Shi and Kim 2023 ----
 *
 * Projected term by term in the frame of their primitives: two edges e_j that span them
 * (one of point and edge, none of two points), the second without its part along the first, and the separation, normal to both.
 *
 * With r_j = |e_j|, t_j = e_j/r_j, c_j the coefficients of e_j in the points, the Hessian of the distance is
 *
 *     Hess d = sum_j [ -(d/r_j^2) (c_j x n)(c_j x n)^T - (1/r_j) ((c_j x n)(w x t_j)^T + transposed) ]
 *            = (1/d) [ w w^T x (I - n n^T) - sum_j p_j p_j^T ],    p_j = w x t_j + (d/r_j) c_j x n.
 *
 * b_d Hess d has b_d < 0.  With a signed length (the first line; planes and lines alone) each 2x2 block keeps its positive
 * eigenvalue; without a sign, the second line keeps (|b_d|/d) sum p_j p_j^T. */

enum { RANK = 3, SIZE = RANK * ABUT_RANK_ONE };
#define PARALLEL 1e-12  /* fraction of |e_0|^2 |e_1|^2: nearer to parallel only the normal is kept */

typedef struct frame {
    int edges;
    double d, w[4], v[12], n[3];
    double r[2], t[2][3], c[2][4];
} frame;

static void edges_of(abut_stencil kind, const double *x, frame *f)
{
    abut_vec3 e[2];
    const int m = kind == ABUT_PP ? 0 : kind == ABUT_PE ? 1 : 2;
    memset(f->c, 0, sizeof f->c);
    for (int j = 0; j < m; j++) {
        const int plus = abut_beta_plus(kind, j), minus = abut_beta_minus(kind, j);
        e[j] = abut_v3_diff(x + 3 * plus, x + 3 * minus);
        f->c[j][plus] = 1;
        f->c[j][minus] = -1;
    }
    f->edges = 0;
    if (m == 0) return;
    const double first = abut_v3_dot(e[0], e[0]), along = m == 2 ? abut_v3_dot(e[0], e[1]) / first : 0;
    if (m == 2) {
        const double whole = abut_v3_dot(e[1], e[1]);
        for (int i = 0; i < 4; i++) f->c[1][i] -= along * f->c[0][i];
        e[1] = abut_v3_sub(e[1], abut_v3_scale(along, e[0]));
        if (!(abut_v3_dot(e[1], e[1]) > PARALLEL * whole)) return;
    }
    for (int j = 0; j < m; j++) {
        f->r[j] = sqrt(abut_v3_dot(e[j], e[j]));
        abut_v3_put(f->t[j], abut_v3_scale(1 / f->r[j], e[j]));
    }
    f->edges = m;
}

static void frame_of(abut_stencil kind, const double *x, frame *f)
{
    const int n = 3 * abut_stencil_size(kind);
    int big = 0;
    f->d = sqrt(abut_dist2_all(kind, x, f->w, f->v, NULL));
    memset(f->v + n, 0, (size_t)(12 - n) * sizeof *f->v);
    for (int i = 0; i < n; i++) f->v[i] /= 2 * f->d;
    for (int i = 1; i < 4; i++)
        if (fabs(f->w[i]) > fabs(f->w[big])) big = i;
    for (int c = 0; c < 3; c++) f->n[c] = f->v[3 * big + c] / f->w[big];
    edges_of(kind, x, f);
}

/* s, and p w x t_j + q c_j x n */
static void put(const frame *f, int j, double s, double p, double q, double *term)
{
    term[0] = s;
    for (int i = 0; i < 12; i++) term[1 + i] = p * f->w[i / 3] * f->t[j][i % 3] + q * f->c[j][i / 3] * f->n[i % 3];
}

static void terms(int is_signed, abut_barrier_law law, double least, abut_stencil kind, const double *x, double scale,
                  double *val)
{
    frame f;
    double db;
    frame_of(kind, x, &f);
    (void)abut_barrier(law, abut_beyond2(f.d * f.d, law.xi), &db, NULL);
    memset(val, 0, SIZE * sizeof *val);
    val[0] = scale * abut_barrier_along(law, f.d, least, 0);
    memcpy(val + 1, f.v, sizeof f.v);
    for (int j = 0; j < f.edges; j++) {
        const double force = -2 * scale * db * f.d, r = f.r[j];
        if (!is_signed || kind == ABUT_PE) {
            put(&f, j, force / f.d, 1, f.d / r, val + ABUT_RANK_ONE * (1 + j));
            continue;
        }
        const double lambda = f.d / (2 * r * r) * (1 + sqrt(1 + 4 * r * r / (f.d * f.d))), y = 1 / (r * lambda);
        put(&f, j, force * lambda / (1 + y * y), y, 1, val + ABUT_RANK_ONE * (1 + j));
    }
}

/* The source has no mollifier: mollified pairs take the projected Gauss-Newton matrix of rank two. */
static void shi_kim_mollified(const abut_barrier_law *law, double least, size_t n, const double (*x)[12],
                              const double *eps_x, const double *scale, double *val)
{
    for (size_t i = 0; i < n; i++, val += SIZE) {
        abut_mollified_gn m;
        double mu[2], z[2][12];
        abut_mollified_gn_of(law[i], least, 0, x[i], eps_x[i], &m);
        abut_mollified_gn_in_space(&m, mu, z);
        memset(val, 0, SIZE * sizeof *val);
        for (int k = 0; k < 2; k++) {
            val[ABUT_RANK_ONE * k] = scale[i] * mu[k];
            memcpy(val + ABUT_RANK_ONE * k + 1, z[k], sizeof z[k]);
        }
    }
}

static void with_sign(const abut_barrier_law *law, double least, abut_stencil kind, size_t n, const double (*x)[12],
                      const double *scale, double *val)
{
    for (size_t i = 0; i < n; i++) terms(1, law[i], least, kind, x[i], scale[i], val + SIZE * i);
}

static void without_sign(const abut_barrier_law *law, double least, abut_stencil kind, size_t n, const double (*x)[12],
                         const double *scale, double *val)
{
    for (size_t i = 0; i < n; i++) terms(0, law[i], least, kind, x[i], scale[i], val + SIZE * i);
}

static const abut_barrier_hessian_ops shi_kim = {
    .name = "shi-kim", .help = "projected in the frame of its primitives, rank three (Shi and Kim 2023, signed length)",
    .rank = RANK, .filters = 1, .plain = with_sign, .mollified = shi_kim_mollified, .normal = gn_normal,
};
static const abut_barrier_hessian_ops shi_kim_unsigned = {
    .name = "shi-kim-unsigned", .help = "shi-kim by the unsigned length; resists sliding", .rank = RANK, .filters = 1,
    .plain = without_sign, .mollified = shi_kim_mollified, .normal = gn_normal,
};

const abut_barrier_hessian_ops *const abut_baseline_hessians[] = { &gn_j, &shi_kim, &shi_kim_unsigned, NULL };
