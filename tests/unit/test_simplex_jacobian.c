/* Barriers in the space of the simplex Jacobian (Huang et al. 2024, GIPC, 4 to 6): gap, eigenpairs and their numbers by numerical
 * differences there; what they say of a trapped pair; contacts where the closest feature changes. */
#include "base/rng.h"
#include "energy/barrier_pair.h"
#include "geom/dist.h"
#include "math/spd_inline.h"

#include "check.h"

#include <string.h>

static const double DHAT = 0.1;
static const int FORMS[] = { ABUT_BARRIER_IPC, ABUT_BARRIER_LOG2 };

static void cross(const double a[3], const double b[3], double c[3])
{
    for (int i = 0; i < 3; i++) c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static double dot3(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void rotation(abut_rng *r, double Q[9])
{
    double A[9], w[3];
    for (int i = 0; i < 9; i++) A[i] = abut_rng_real(r, -1, 1);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++) A[3 * i + j] = A[3 * j + i];
    abut_sym_eigen(3, A, w, Q);
}

/* ---- the gap ---- */

/* Columns of a tetrahedron of edges less those of the ideal one, moved to dhat along n: F Ebar = E. */
TEST(the_ideal_simplex_is_compressed_along_the_normal_alone)
{
    abut_rng r = { 1 };
    for (int k = 0; k < 400; k++) {
        const int edges = k % 2;
        double x[12], n[3], E[9], B[9], u[3], v[3];
        for (int i = 0; i < 12; i++) x[i] = abut_rng_real(&r, -1, 1);
        const double *a = x, *b = x + 3, *c = x + 6, *d = x + 9;
        for (int i = 0; i < 3; i++) u[i] = edges ? b[i] - a[i] : c[i] - b[i], v[i] = edges ? d[i] - c[i] : d[i] - b[i];
        cross(u, v, n);
        const double size = sqrt(dot3(n, n));
        if (size < 0.05) continue;
        double from[3];     /* from the side that is moved: the point, or the second edge */
        for (int i = 0; i < 3; i++) n[i] /= size, from[i] = edges ? c[i] - a[i] : a[i] - b[i];
        double dist = dot3(n, from);
        const double dhat = fabs(dist) / abut_rng_real(&r, 0.02, 0.98), f = fabs(dist) / dhat;
        for (int i = 0; i < 3; i++) n[i] = dist < 0 ? -n[i] : n[i];
        dist = fabs(dist);
        for (int i = 0; i < 3; i++) {
            const double move = (dhat - dist) * n[i], moved[4] = { edges ? 0 : move, 0, edges ? move : 0, edges ? move : 0 };
            for (int q = 0; q < 3; q++) {
                E[3 * i + q] = x[3 * (q + 1) + i] - a[i];
                B[3 * i + q] = E[3 * i + q] + moved[q + 1] - moved[0];
            }
        }
        for (int i = 0; i < 3; i++)     /* (I - (1 - f) n n^T) Ebar */
            for (int q = 0; q < 3; q++) {
                const double along = n[0] * B[q] + n[1] * B[3 + q] + n[2] * B[6 + q];
                CHECK_NEAR(B[3 * i + q] - (1 - f) * n[i] * along, E[3 * i + q], 1e-13 * (1 + dhat));
            }
    }
}

/* ---- the eigenpairs of a barrier of |J n|^2 ---- */

/* b of g = (d/dhat)^2 and its derivatives in g, m^4 */
static double barrier(int form, double g, double *bg, double *bgg)
{
    double db, ddb;
    const double H = DHAT * DHAT, b = abut_barrier(abut_barrier_law_of(DHAT, form, 0), g * H, &db, &ddb);
    *bg = db * H;
    *bgg = ddb * H * H;
    return b;
}

/* of J[9], row major: db/dJ = 2 b_g J n n^T */
static void slope(int form, const double J[9], const double n[3], double P[9])
{
    double Jn[3], bg, bgg;
    for (int i = 0; i < 3; i++) Jn[i] = dot3(J + 3 * i, n);
    (void)barrier(form, dot3(Jn, Jn), &bg, &bgg);
    for (int i = 0; i < 9; i++) P[i] = 2 * bg * Jn[i / 3] * n[i % 3];
}

static void sort(double *w, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            if (w[j] < w[i]) {
                const double was = w[i];
                w[i] = w[j], w[j] = was;
            }
}

TEST(a_barrier_of_the_gap_has_one_positive_eigenvalue_two_negative_ones_and_zeros)
{
    abut_rng r = { 2 };
    for (int k = 0; k < 300; k++) {
        const int form = FORMS[k % 2];
        double Q[9], J[9], n[3], H[81], w[9], V[81], bg, bgg;
        const double f = abut_rng_real(&r, 0.05, 0.95), g = f * f, h = 1e-5 * f;
        rotation(&r, Q);
        for (int i = 0; i < 3; i++) n[i] = Q[i];
        rotation(&r, Q);
        for (int i = 0; i < 9; i++) J[i] = Q[i] - (1 - f) * dot3(Q + 3 * (i / 3), n) * n[i % 3];     /* Q (I - (1 - f) n n^T) */
        for (int j = 0; j < 9; j++) {
            double P[4][9], at = J[j];
            for (int q = 0; q < 4; q++) {
                J[j] = at + (q < 2 ? h : 2 * h) * (q % 2 ? -1 : 1);
                slope(form, J, n, P[q]);
            }
            J[j] = at;
            for (int i = 0; i < 9; i++) H[9 * i + j] = (8 * (P[0][i] - P[1][i]) - (P[2][i] - P[3][i])) / (12 * h);
        }
        for (int i = 0; i < 9; i++)
            for (int j = 0; j < i; j++) H[9 * i + j] = H[9 * j + i] = 0.5 * (H[9 * i + j] + H[9 * j + i]);
        abut_sym_eigen(9, H, w, V);
        (void)barrier(form, g, &bg, &bgg);
        double want[9] = { 4 * g * bgg + 2 * bg, 2 * bg, 2 * bg };
        sort(want, 9), sort(w, 9);
        for (int i = 0; i < 9; i++) CHECK_NEAR(w[i], want[i], 1e-7 * (want[8] - want[0]));
        CHECK(want[8] > 0 && want[0] < 0);
        /* J n n^T / f is the eigenmatrix of the positive one, which is the curvature in d times dhat^2 */
        const double along = abut_barrier_along(abut_barrier_law_of(DHAT, form, 0), f * DHAT, 0, 0);
        CHECK_NEAR(want[8], DHAT * DHAT * along, 1e-11 * want[8]);
        double E[9], HE[9] = { 0 };
        for (int i = 0; i < 9; i++) E[i] = dot3(J + 3 * (i / 3), n) * n[i % 3] / f;
        for (int i = 0; i < 81; i++) HE[i / 9] += H[i] * E[i % 9];
        for (int i = 0; i < 9; i++) CHECK_NEAR(HE[i], want[8] * E[i], 1e-6 * want[8]);
    }
}

/* ---- of mollified edges: e(c) b(g), c = |J e_2|^2, g = |J e_3|^2 at J = diag(1, s, f) ---- */

static double mollified_energy(int form, double eps_x, const double J[9])
{
    const double c = J[1] * J[1] + J[4] * J[4] + J[7] * J[7], g = J[2] * J[2] + J[5] * J[5] + J[8] * J[8];
    double bg, bgg;
    return abut_mollify(c, eps_x, NULL, NULL) * barrier(form, g, &bg, &bgg);
}

/* two edges at height d, with c = |e1 x e2|^2 */
static void crossing(double d, double c, double x[12])
{
    const double s = sqrt(c), at[12] = { -0.5, 0, d, 0.5, 0, d, -0.5 * sqrt(1 - c), -0.5 * s, 0, 0.5 * sqrt(1 - c), 0.5 * s, 0 };
    memcpy(x, at, sizeof at);
}

TEST(mollified_edges_have_the_nine_eigenvalues_of_their_closed_form)
{
    abut_rng r = { 3 };
    const double eps_x = 1e-3;
    int both = 0;
    for (int k = 0; k < 200; k++) {
        const int form = FORMS[k % 2];
        const double f = abut_rng_real(&r, 0.05, 0.9), c = eps_x * abut_rng_real(&r, 0.05, 0.9), s = sqrt(c);
        const double scale[3] = { 1, s, f };    /* lengths of the columns: differences are taken of their size */
        double J[9] = { 1, 0, 0, 0, s, 0, 0, 0, f }, H[81], w[9], V[81], bg, bgg, de, dde, x[12];
        for (int i = 0; i < 9; i++)
            for (int j = 0; j < 9; j++) {
                const double hi = 2e-3 * scale[i % 3], hj = 2e-3 * scale[j % 3];
                double sum = 0;
                static const double at[4] = { -2, -1, 1, 2 }, weight[4] = { 1, -8, 8, -1 };
                for (int p = 0; p < 4; p++)
                    for (int q = 0; q < 4; q++) {
                        double at_J[9];
                        memcpy(at_J, J, sizeof J);
                        at_J[i] += at[p] * hi, at_J[j] += at[q] * hj;
                        sum += weight[p] * weight[q] * mollified_energy(form, eps_x, at_J);
                    }
                H[9 * i + j] = sum / (144 * hi * hj) * scale[i % 3] * scale[j % 3];     /* in numbers of one size */
            }
        abut_sym_eigen(9, H, w, V);
        const double e = abut_mollify(c, eps_x, &de, &dde), b = barrier(form, f * f, &bg, &bgg);
        const double m11 = c * 2 * b * (de + 2 * c * dde), m22 = f * f * e * (4 * f * f * bgg + 2 * bg);
        const double m12 = 4 * de * bg * s * f * s * f, mean = 0.5 * (m11 + m22), half = hypot(0.5 * (m11 - m22), m12);
        double want[9] = { 2 * de * b * c, 2 * de * b * c, 2 * e * bg * f * f, 2 * e * bg * f * f, mean - half, mean + half };
        /* the entries between columns 2 and 3 have none: each is the slope of one column alone */
        sort(want, 9), sort(w, 9);
        for (int i = 0; i < 9; i++) CHECK_NEAR(w[i], want[i], 2e-5 * (want[8] - want[0]));
        both += mean - half > 0;
        abut_mollified_gn m;
        crossing(f * DHAT, c, x);
        abut_mollified_gn_of(abut_barrier_law_of(DHAT, form, 0), 0, 0, x, eps_x, &m);
        CHECK_NEAR(m.m11, m11 / c, 1e-9 * fabs(m11 / c));
        CHECK_NEAR(m.m12 * DHAT, m12 / (s * f), 1e-9 * fabs(m12 / (s * f)));
        CHECK_NEAR(m.m22 * DHAT * DHAT, m22 / (f * f), 1e-9 * fabs(m22 / (f * f)));
    }
    CHECK(both == 0);       /* at these distances: see the next test */
}

TEST(very_parallel_edges_that_are_very_close_have_two_positive_eigenvalues)
{
    /* of dhat: where b b_ff = 2 b_f^2.  Random samples of very parallel edges found them up to 0.0899 and 0.0446 */
    const double eps_x = 1e-3, root[] = { 0.093134, 0.045446 };
    for (int k = 0; k < 2; k++) {
        double low = 1e-3, high = 0.5;
        while (high - low > 1e-6) {
            const double f = 0.5 * (low + high);
            double x[12];
            abut_mollified_gn m;
            crossing(f * DHAT, 1e-6 * eps_x, x);
            abut_mollified_gn_of(abut_barrier_law_of(DHAT, FORMS[k], 0), 0, 0, x, eps_x, &m);
            if (m.m11 > 0 && m.m11 * m.m22 > m.m12 * m.m12) low = f;
            else high = f;
        }
        CHECK_NEAR(low, root[k], 1e-5);
        double x[12];
        abut_mollified_gn m;    /* the filter at a tenth of dhat ends that */
        crossing(0.5 * root[k] * DHAT, 1e-6 * eps_x, x);
        abut_mollified_gn_of(abut_barrier_law_of(DHAT, FORMS[k], 0), 0.1 * DHAT, 0, x, eps_x, &m);
        CHECK(m.m11 * m.m22 < m.m12 * m.m12);
    }
}

/* ---- a pair in one dimension ---- */

/* Newton's iterations of k/2 (d - to)^2 + b(d), dhat 1, until a step is below 1e-6: at least a fifth of the distance is left, and
 * the energy has to fall. */
static int iterations(int form, double k, double from, double to, double least, int squared)
{
    const abut_barrier_law law = abut_barrier_law_of(1, form, 0);
    double d = from;
    for (int n = 1; n < 200; n++) {
        double db, most;
        const double b = abut_barrier(law, d * d, &db, NULL), H = d < 1 ? abut_barrier_along(law, d, least, squared) : 0;
        const double p = -(k * (d - to) + 2 * d * db) / (k + H), now = 0.5 * k * (d - to) * (d - to) + b;
        double alpha = p < 0 ? fmin(1, 0.8 * d / -p) : 1;
        while (alpha > 1e-12) {
            const double at = d + alpha * p;
            most = 0.5 * k * (at - to) * (at - to) + abut_barrier(law, at * at, NULL, NULL);
            if (most <= now) break;
            alpha *= 0.5;
        }
        d += alpha * p;
        if (fabs(p) < 1e-6) return n;
    }
    return 200;
}

TEST(a_trapped_pair_opens_in_the_known_numbers_of_iterations)
{
    static const double stiffness[] = { 1e-3, 0.1, 10, 1e3, 1e5 };
    static const struct { int form, hit; double least; int squared, count[5]; } table[] = {
        { ABUT_BARRIER_IPC, 0, 0, 1, { 37, 34, 33, 21, 10 } }, { ABUT_BARRIER_IPC, 0, 0, 0, { 24, 21, 18, 13, 7 } },
        { ABUT_BARRIER_IPC, 0, 0.1, 0, { 9, 9, 5, 3, 3 } }, { ABUT_BARRIER_IPC, 0, 0.01, 0, { 8, 8, 5, 3, 2 } },
        { ABUT_BARRIER_LOG2, 0, 0, 1, { 42, 39, 36, 28, 17 } }, { ABUT_BARRIER_LOG2, 0, 0, 0, { 29, 26, 22, 18, 12 } },
        { ABUT_BARRIER_LOG2, 0, 0.1, 0, { 12, 7, 7, 4, 3 } }, { ABUT_BARRIER_LOG2, 0, 0.01, 0, { 9, 8, 7, 4, 3 } },
        { ABUT_BARRIER_IPC, 1, 0, 1, { 6, 4, 14, 14, 11 } }, { ABUT_BARRIER_IPC, 1, 0, 0, { 6, 2, 4, 7, 9 } },
        { ABUT_BARRIER_IPC, 1, 0.1, 0, { 6, 2, 4, 25, 23 } }, { ABUT_BARRIER_IPC, 1, 0.01, 0, { 6, 2, 4, 19, 20 } },
        { ABUT_BARRIER_LOG2, 1, 0, 1, { 6, 5, 13, 12, 14 } }, { ABUT_BARRIER_LOG2, 1, 0, 0, { 6, 4, 6, 6, 9 } },
        { ABUT_BARRIER_LOG2, 1, 0.1, 0, { 6, 4, 6, 24, 45 } }, { ABUT_BARRIER_LOG2, 1, 0.01, 0, { 6, 4, 6, 6, 14 } },
    };
    for (size_t t = 0; t < sizeof table / sizeof *table; t++)
        for (int k = 0; k < 5; k++) {
            const double from = table[t].hit ? 0.9 : 1e-5, to = table[t].hit ? -1 : 0.5;
            const int n = iterations(table[t].form, stiffness[k], from, to, table[t].least, table[t].squared);
            const int off = abs(n - table[t].count[k]);
            if (off > 3) printf("# row %zu, k %g: %d, expected %d\n", t, stiffness[k], n, table[t].count[k]);
            CHECK(off <= 3);
        }
}

/* ---- where the closest feature changes ---- */

/* the gradient of b in all four points, by the feature that is the closest one */
static abut_feature gradient(int form, abut_stencil kind, const double *x, double g[12])
{
    double d2, mine[12], at[12];
    const abut_feature f = abut_nearest(kind, x, &d2);
    const abut_barrier_law law = abut_barrier_law_of(0.6, form, 0);
    const int n = abut_stencil_size(f.kind);
    memset(g, 0, 12 * sizeof *g);
    for (int i = 0; i < n; i++) memcpy(at + 3 * i, x + 3 * f.idx[i], 3 * sizeof *at);
    abut_pair_barrier_grad(law, f.kind, at, 0, mine);
    for (int i = 0; i < 3 * n; i++) g[3 * f.idx[i / 3] + i % 3] = mine[i];
    return f;
}

TEST(forces_do_not_jump_where_the_closest_feature_changes)
{
    abut_rng r = { 4 };
    int changes = 0;
    double worst = 0;
    for (int k = 0; k < check_runs(4000, 200000); k++) {
        const abut_stencil kind = k % 2 ? ABUT_EE : ABUT_PT;
        double x[2][12], g[2][12], d2;
        for (int i = 0; i < 12; i++) x[0][i] = abut_rng_real(&r, -0.5, 0.5), x[1][i] = x[0][i] + abut_rng_real(&r, -0.2, 0.2);
        abut_feature f[2];
        for (int e = 0; e < 2; e++) f[e] = gradient(FORMS[k / 2 % 2], kind, x[e], g[e]);
        if (!memcmp(&f[0], &f[1], sizeof *f)) continue;
        for (int bisect = 0; bisect < 60; bisect++) {
            double mid[12], gm[12];
            for (int i = 0; i < 12; i++) mid[i] = 0.5 * (x[0][i] + x[1][i]);
            const abut_feature m = gradient(FORMS[k / 2 % 2], kind, mid, gm);
            const int side = memcmp(&m, &f[0], sizeof m) != 0;
            memcpy(x[side], mid, sizeof mid), memcpy(g[side], gm, sizeof gm);
            f[side] = m;
        }
        (void)abut_nearest(kind, x[0], &d2);
        const double *at = x[0];        /* parallel edges are for the mollifier; slivers are stiff */
        double u[3], v[3], n[3];
        for (int i = 0; i < 3; i++) u[i] = kind == ABUT_EE ? at[3 + i] - at[i] : at[6 + i] - at[3 + i];
        for (int i = 0; i < 3; i++) v[i] = kind == ABUT_EE ? at[9 + i] - at[6 + i] : at[9 + i] - at[3 + i];
        cross(u, v, n);
        if (d2 < 1e-4 || dot3(n, n) < 0.01 * dot3(u, u) * dot3(v, v)) continue;
        double jump = 0, size = 0.01;
        for (int i = 0; i < 12; i++) jump = fmax(jump, fabs(g[0][i] - g[1][i])), size = fmax(size, fabs(g[0][i]));
        worst = fmax(worst, jump / size);
        changes++;
    }
    printf("# %d changes, jump of %.2g at most\n", changes, worst);
    /* distances of both features agree to second order, so rounding may exchange features 1e-8 apart */
    CHECK(changes > 500 && worst < 1e-7);
}
