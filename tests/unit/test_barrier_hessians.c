/* The rows of energy/barrier.h: what is true of every one, and of each the identity that defines it. */
#include "base/rng.h"
#include "contact/pairs.h"
#include "energy/barrier.h"
#include "energy/barrier_pair.h"
#include "geom/dist.h"
#include "math/spd_inline.h"
#include "rows.h"

#include "check.h"

#include <string.h>

static const double DHAT = 0.1;

static const abut_barrier_hessian_ops *row(const char *name)
{
    const abut_barrier_hessian_ops *ops = abut_barrier_hessians[0];
    CHECK(!abut_barrier_hessian_find(name, abut_baseline_hessians, &ops, NULL));
    return ops;
}

/* every law, each with several thicknesses */
static abut_barrier_law law_of(int k)
{
    static const double xi[] = { 0, 0.3, 0.02, 0 };
    return abut_barrier_law_of(DHAT, (k + k / 4) % abut_names_count(abut_barrier_names), xi[k % 4]);
}

/* a stencil of about unit size that is its own active feature, at distance d */
static void random_stencil(abut_rng *r, abut_stencil kind, double d, double *x)
{
    const int k = abut_stencil_size(kind);
    for (;;) {
        double w[4], g[12], d2;
        for (int i = 0; i < 3 * k; i++) x[i] = abut_rng_real(r, -1, 1);
        if (abut_nearest(kind, x, &d2).kind != kind || !(d2 > 0.01)) continue;
        abut_dist2_all(kind, x, w, g, NULL);
        const double pull = 1 - d / sqrt(d2);
        const int first = kind == ABUT_EE ? 2 : 1, at = kind == ABUT_EE && w[1] > w[0];
        for (int c = 0; c < 3; c++)
            for (int i = 0; i < first; i++) x[3 * i + c] -= pull * g[3 * at + c] / (2 * w[at]);
        if (abut_nearest(kind, x, &d2).kind == kind && fabs(sqrt(d2) / d - 1) < 1e-6) return;
    }
}

/* the matrix of elements as val has it, 12 x 12; blocks of corners from k on are 0 */
static void dense(const abut_barrier_hessian_ops *ops, int k, size_t elements, const double *val, double *A)
{
    memset(A, 0, 144 * sizeof *A);
    for (size_t t = 0; t < elements * (size_t)ops->rank; t++, val += ABUT_RANK_ONE)
        for (int i = 0; i < 144; i++) A[i] += val[0] * val[1 + i / 12] * val[1 + i % 12];
    for (int a = 0; a < 4 && !ops->rank; a++)
        for (int b = a; b < 4; b++, val += 9)
            for (int i = 0; i < 9 && b < k; i++)
                A[12 * (3 * a + i / 3) + 3 * b + i % 3] = A[12 * (3 * b + i % 3) + 3 * a + i / 3] = val[i];
}

static void plain(const abut_barrier_hessian_ops *ops, abut_barrier_law law, double least, abut_stencil kind, const double x[12],
                  double *A)
{
    double val[ABUT_PACKED] = { 0 };
    const double one = 1;
    ops->plain(&law, least, kind, 1, (const double (*)[12])x, &one, val);
    dense(ops, abut_stencil_size(kind), 1, val, A);
}

static void mollified(const abut_barrier_hessian_ops *ops, abut_barrier_law law, double least, const double x[12], double eps_x,
                      double *A)
{
    double val[2 * ABUT_PACKED] = { 0 };
    const double one = 1;
    ops->mollified(&law, least, 1, (const double (*)[12])x, &eps_x, &one, val);
    dense(ops, 4, abut_mollified_elements(ops), val, A);
}

/* Data of a contact; numbers of unused points are 0. */
typedef struct contact {
    int n;
    double d, b, bd, bdd, w[4], v[12], Hd[144];     /* Hd: the Hessian of d, 12 rows */
} contact;

static contact contact_of(abut_barrier_law law, abut_stencil kind, const double *x)
{
    contact c = { .n = 3 * abut_stencil_size(kind) };
    double g[12], H[144], db, ddb;
    const double d2 = abut_dist2_all(kind, x, c.w, g, H);
    c.d = sqrt(d2);
    c.b = abut_barrier(law, abut_beyond2(d2, law.xi), &db, &ddb);
    c.bd = 2 * c.d * db;
    c.bdd = 4 * d2 * ddb + 2 * db;
    for (int i = 0; i < c.n; i++) c.v[i] = g[i] / (2 * c.d);
    for (int i = 0; i < c.n; i++)
        for (int j = 0; j < c.n; j++) c.Hd[12 * i + j] = (H[c.n * i + j] / 2 - c.v[i] * c.v[j]) / c.d;
    return c;
}

static double biggest(const double *A)
{
    double big = 0;
    for (int i = 0; i < 144; i++) big = fmax(big, fabs(A[i]));
    return big;
}

static double differ(const double *A, const double *B)
{
    double most = 0;
    for (int i = 0; i < 144; i++) most = fmax(most, fabs(A[i] - B[i]));
    return most / fmax(biggest(A), biggest(B));
}

/* eigenvalues above, and below minus, tol of the largest */
static void signature(const double *A, double tol, int *positive, int *negative)
{
    double w[12], Q[144], big = 0;
    abut_sym_eigen(12, A, w, Q);
    *positive = *negative = 0;
    for (int i = 0; i < 12; i++) big = fmax(big, fabs(w[i]));
    for (int i = 0; i < 12; i++) *positive += w[i] > tol * big, *negative += w[i] < -tol * big;
}

TEST(every_row_has_a_name_of_its_own_and_its_operations)
{
    const abut_barrier_hessian_ops *ops;
    abut_err err;
    for (int i = 0; all_hessians()[i]; i++) {
        ops = all_hessians()[i];
        CHECK(ops->help && ops->plain && ops->mollified && ops->rank <= 3 && row(ops->name) == ops);
    }
    CHECK(!strcmp(abut_barrier_hessians[0]->name, "projected"));
    CHECK(abut_barrier_hessian_find("gauss", abut_baseline_hessians, &ops, &err) == ABUT_E_ARG);
    CHECK(strstr(err.msg, "shi-kim-unsigned"));
    CHECK(abut_barrier_hessian_find("gn-j", NULL, &ops, &err) == ABUT_E_ARG && !strstr(err.msg, "shi-kim"));
}

TEST(every_row_but_full_is_semidefinite_blind_to_translation_and_linear_in_its_scale)
{
    abut_rng r = { 1 };
    for (int k = 0; k < 800; k++) {
        const abut_barrier_law law = law_of(k);
        const abut_stencil kind = (abut_stencil)(k % 4);
        double x[4][12] = { { 0 } }, val[4 * ABUT_PACKED] = { 0 }, one[ABUT_PACKED] = { 0 };
        const double scale[4] = { 3, 0, 2, 7 };
        const abut_barrier_law laws[4] = { law, law, law, law };
        for (int i = 0; i < 4; i++) random_stencil(&r, kind, law.xi + DHAT * abut_rng_real(&r, 0.01, 0.99), x[i]);
        for (int i = 0; all_hessians()[i]; i++) {
            const abut_barrier_hessian_ops *ops = all_hessians()[i];
            const size_t size = ops->rank ? (size_t)ops->rank * ABUT_RANK_ONE : ABUT_PACKED;
            double A[144], B[144];
            int positive, negative;
            ops->plain(laws, 0, kind, 4, (const double (*)[12])x, scale, val);
            plain(ops, law, 0, kind, x[3], A);
            dense(ops, abut_stencil_size(kind), 1, val + 3 * size, B);
            for (int j = 0; j < 144; j++) B[j] /= 7;
            CHECK_NEAR(differ(A, B), 0, 1e-14);
            ops->plain(&laws[2], 0, kind, 1, (const double (*)[12])x + 2, scale + 2, one);
            CHECK(!memcmp(one, val + 2 * size, (ops->rank ? size : 9) * sizeof *one));      /* alone as with others */
            signature(A, 1e-12, &positive, &negative);
            CHECK(positive > 0 && (negative == 0) == (strcmp(ops->name, "full") != 0));
            for (int p = 0; p < 12; p++)
                for (int c = 0; c < 3; c++)
                    CHECK_NEAR(A[12 * p + c] + A[12 * p + 3 + c] + A[12 * p + 6 + c] + A[12 * p + 9 + c], 0, 1e-11 * biggest(A));
        }
    }
}

/* edges at about a degree, side by side at d, overlapping or not; their eps_x */
static double parallel_edges(double d, double slip, double *x)
{
    const double at[12] = { 0, 0, d, 1, 0.006, d, slip, -0.003, 0, slip + 1.2, -0.01, 0 };
    memcpy(x, at, sizeof at);
    return abut_mollify_eps(1, 1.44);
}

TEST(mollified_edges_have_the_same_of_every_row)
{
    abut_rng r = { 7 };
    for (int k = 0; k < 400; k++) {
        const abut_barrier_law law = law_of(k);
        double x[12], A[144], B[144], eps[2], val[4 * ABUT_PACKED];
        eps[0] = eps[1] = parallel_edges(law.xi + DHAT * abut_rng_real(&r, 0.05, 0.9), abut_rng_real(&r, -1.5, 1.5), x);
        if (abut_closest(ABUT_EE, x, A) >= (law.xi + DHAT) * (law.xi + DHAT)) continue;
        for (int i = 0; all_hessians()[i]; i++) {
            const abut_barrier_hessian_ops *ops = all_hessians()[i];
            const size_t n = abut_mollified_elements(ops), size = ops->rank ? (size_t)ops->rank * ABUT_RANK_ONE : ABUT_PACKED;
            const abut_barrier_law laws[2] = { law, law };
            const double scale[2] = { 1, 3 };
            double twice[2][12];
            int positive, negative;
            memcpy(twice[0], x, sizeof x);
            memcpy(twice[1], x, sizeof x);
            memset(val, 0, sizeof val);
            ops->mollified(laws, 0, 2, (const double (*)[12])twice, eps, scale, val);
            mollified(ops, law, 0, x, eps[0], A);
            dense(ops, 4, n, val + n * size, B);
            for (int j = 0; j < 144; j++) B[j] /= 3;
            CHECK_NEAR(differ(A, B), 0, 1e-13);
            signature(A, 1e-11, &positive, &negative);
            CHECK(positive > 0 && (!negative || !strcmp(ops->name, "full")));
            for (int p = 0; p < 12; p++)
                for (int c = 0; c < 3; c++)
                    CHECK_NEAR(A[12 * p + c] + A[12 * p + 3 + c] + A[12 * p + 6 + c] + A[12 * p + 9 + c], 0, 1e-10 * biggest(A));
            if (check_bad) printf("# %s\n", ops->name);
        }
    }
}

TEST(full_is_the_hessian_and_gn_what_is_left_without_that_of_the_distance)
{
    abut_rng r = { 2 };
    for (int k = 0; k < 1200; k++) {
        const abut_barrier_law law = law_of(k);
        const abut_stencil kind = (abut_stencil)(k % 4);
        double x[12], F[144], G[144], I[144], numeric[144];
        int positive, negative;
        random_stencil(&r, kind, law.xi + DHAT * pow(10, abut_rng_real(&r, -3, -0.001)), x);
        const contact c = contact_of(law, kind, x);
        plain(row("full"), law, 0, kind, x, F);
        plain(row("gn"), law, 0, kind, x, G);
        plain(row("ipc-gn"), law, 0, kind, x, I);
        for (int i = 0; i < 144; i++) numeric[i] = F[i] - c.bd * c.Hd[i];
        for (int i = 0; i < 144; i++) CHECK_NEAR(numeric[i], G[i], 1e-11 * biggest(F));
        double trace = 0, ww = 0;
        for (int i = 0; i < 12; i++) trace += G[13 * i];
        for (int i = 0; i < 4; i++) ww += c.w[i] * c.w[i];
        CHECK_NEAR(trace, c.bdd * ww, 1e-12 * trace);   /* the one eigenvalue */
        signature(G, 1e-14, &positive, &negative);
        CHECK(positive == 1 && negative == 0);
        for (int i = 0; i < 144; i++) CHECK_NEAR(I[i], G[i] * (1 - c.bd / c.d / c.bdd), 1e-12 * biggest(I));
        signature(F, 1e-13, &positive, &negative);      /* 3 + 2, 2 + 2 and 1 + 2 */
        CHECK(positive == (kind == ABUT_PP ? 1 : kind == ABUT_PE ? 2 : 3) && negative == 2);
        CHECK_NEAR(abut_barrier_normal(&(abut_barrier_curvature){ row("full"), 0 }, law, c.d), c.bdd, 1e-9 * c.bdd);
    }
}

TEST(full_is_the_derivative_of_the_gradient_and_projected_its_positive_part)
{
    abut_rng r = { 3 };
    for (int k = 0; k < 600; k++) {
        const abut_barrier_law law = law_of(k);
        const int parallel = k % 5 == 4;
        const abut_stencil kind = parallel ? ABUT_EE : (abut_stencil)(k % 4);
        const double d = law.xi + DHAT * abut_rng_real(&r, 0.1, 0.9), h = 1e-6 * (d - law.xi);
        double x[12], F[144], P[144], N[144] = { 0 }, slip = abut_rng_real(&r, -1.5, 1.5), eps_x = 0;
        const int n = 3 * abut_stencil_size(kind);
        random_stencil(&r, kind, d, x);
        if (parallel) {
            eps_x = parallel_edges(d, slip, x);
            if (abut_closest(ABUT_EE, x, P) >= (law.xi + DHAT) * (law.xi + DHAT)) continue;
            mollified(row("full"), law, 0, x, eps_x, F);
            mollified(row("projected"), law, 0, x, eps_x, P);
        } else {
            plain(row("full"), law, 0, kind, x, F);
            plain(row("projected"), law, 0, kind, x, P);
        }
        for (int i = 0; i < n; i++) {
            double up[12], down[12];
            const double was = x[i];
            x[i] = was + h;
            abut_pair_barrier_grad(law, kind, x, eps_x, up);
            x[i] = was - h;
            abut_pair_barrier_grad(law, kind, x, eps_x, down);
            x[i] = was;
            for (int j = 0; j < n; j++) N[12 * j + i] = (up[j] - down[j]) / (2 * h);
        }
        CHECK_NEAR(differ(F, N), 0, 2e-6);
        abut_psd_project(12, F);
        CHECK_NEAR(differ(F, P), 0, 1e-12);
    }
}

TEST(of_two_points_gn_is_the_projection_itself)
{
    abut_rng r = { 4 };
    for (int k = 0; k < 200; k++) {
        const abut_barrier_law law = law_of(k);
        double x[12], G[144], P[144];
        random_stencil(&r, ABUT_PP, law.xi + DHAT * abut_rng_real(&r, 0.01, 0.99), x);
        plain(row("gn"), law, 0, ABUT_PP, x, G);
        plain(row("projected"), law, 0, ABUT_PP, x, P);
        CHECK_NEAR(differ(G, P), 0, 1e-13);
    }
}

/* The numbers of the source, recomputed in 113-bit arithmetic. */
TEST(contacts_of_known_geometry_have_the_known_numbers)
{
    const abut_barrier_law law = abut_barrier_law_of(0.1, ABUT_BARRIER_LOG2, 0);
    static const struct { abut_stencil kind; double x[12], w[4], b, bd, bdd, trace; } known[] = {
        { ABUT_PT, { .25, .25, .02, 0, 0, 0, 1, 0, 0, 0, 1, 0 }, { 1, -.5, -.25, -.25 }, 9.548846508369e-4, -6.728769129428e-2,
          5.433841726126, 7.471532373423 },
        { ABUT_EE, { 0, 0, .03, 1, 0, .03, .3, -.5, 0, .6, .7, 0 }, { .575, .425, -7. / 12, -5. / 12 }, 4.801491121104e-4,
          -3.291856675688e-2, 2.154206153934, 0 },
        { ABUT_PE, { .3, .04, .03, 0, 0, 0, 1, 0, 0 }, { 1, -.7, -.3 }, 1.081019281316e-4, -9.121042708549e-3,
          6.182590186128e-1, 0 },
        { ABUT_PP, { .01, .02, .02, 0, 0, 0 }, { 1, -1 }, 4.801491121104e-4, -3.291856675688e-2, 2.154206153934, 4.308412307867 },
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const contact c = contact_of(law, known[k].kind, known[k].x);
        double G[144], trace = 0, ww = 0;
        CHECK_NEAR(c.b, known[k].b, 1e-10 * known[k].b);
        CHECK_NEAR(c.bd, known[k].bd, 1e-10 * fabs(known[k].bd));
        CHECK_NEAR(c.bdd, known[k].bdd, 1e-10 * known[k].bdd);
        for (int i = 0; i < 4; i++) {
            CHECK_NEAR(c.w[i], known[k].w[i], 1e-14);
            ww += c.w[i] * c.w[i];
        }
        plain(row("gn"), law, 0, known[k].kind, known[k].x, G);
        for (int i = 0; i < 12; i++) trace += G[13 * i];
        CHECK_NEAR(trace, known[k].trace > 0 ? known[k].trace : known[k].bdd * ww, 1e-10 * trace);
    }
}

/* curvature along v of the rows whose source says it; of another row its `normal` says it */
static int is_published(const char *name)
{
    return !strncmp(name, "gn", 2) || !strncmp(name, "shi-kim", 7) || !strcmp(name, "ipc-gn");
}

TEST(a_filter_takes_the_curvature_at_its_gap_below_it_and_changes_nothing_above)
{
    abut_rng r = { 5 };
    for (int k = 0; k < 400; k++) {
        const abut_barrier_law law = law_of(k);
        const abut_stencil kind = (abut_stencil)(k % 4);
        const double least = 0.1 * DHAT, gap = DHAT * pow(10, abut_rng_real(&r, -3, -0.01));
        double x[12], A[144], B[144], db, ddb;
        random_stencil(&r, kind, law.xi + gap, x);
        const contact c = contact_of(law, kind, x);
        const double at = fmax(c.d, law.xi + least);
        (void)abut_barrier(law, (at - law.xi) * (at + law.xi), &db, &ddb);
        for (int i = 0; all_hessians()[i]; i++) {
            const abut_barrier_hessian_ops *ops = all_hessians()[i];
            plain(ops, law, 0, kind, x, A);
            plain(ops, law, least, kind, x, B);
            const double squared = strcmp(ops->name, "ipc-gn") ? 1 : 0;
            if (ops->filters && c.d < at) {
                const abut_barrier_curvature whole = { ops, 0 }, held = { ops, least };
                const double lower = abut_barrier_normal(&held, law, c.d) - abut_barrier_normal(&whole, law, c.d);
                const double known = (4 * at * at * ddb + 2 * squared * db) - (c.bdd - (squared ? 0 : c.bd / c.d));
                CHECK(lower < 0);
                if (is_published(ops->name)) CHECK_NEAR(lower, known, 1e-8 * c.bdd);
                for (int j = 0; j < 144; j++) A[j] += lower * c.v[j / 12] * c.v[j % 12];
            }
            CHECK_NEAR(differ(A, B), 0, 1e-8);
        }
    }
}

/* ---- Shi and Kim ---- */

/* (p w x t + q c x n) in both factors, s times it, added */
static void add_outer(double s, const double *y, const double *z, double *A)
{
    for (int i = 0; i < 144; i++) A[i] += s * 0.5 * (y[i / 12] * z[i % 12] + z[i / 12] * y[i % 12]);
}

TEST(shi_kim_keeps_the_positive_part_of_each_block_of_its_frame)
{
    abut_rng r = { 6 };
    for (int k = 0; k < 800; k++) {
        const abut_barrier_law law = law_of(k);
        const abut_stencil kind = (abut_stencil)(k % 4);
        const int edges = kind == ABUT_PP ? 0 : kind == ABUT_PE ? 1 : 2, i0 = kind == ABUT_EE ? 0 : 1;
        double x[12], S[144], U[144], F[144], both[144] = { 0 }, want[144] = { 0 }, e[2][3] = { { 0 } }, c[2][4] = { { 0 } };
        int positive, negative;
        random_stencil(&r, kind, law.xi + DHAT * abut_rng_real(&r, 0.02, 0.98), x);
        const contact m = contact_of(law, kind, x);
        const int big = fabs(m.w[0]) > 0.3 ? 0 : 1;     /* of two weights of sum 1 one is half or more; a point has 1 */
        c[0][i0 + 1] = 1, c[0][i0] = -1;
        c[1][3] = 1, c[1][kind == ABUT_EE ? 2 : 1] = -1;
        for (int j = 0; j < edges; j++)
            for (int i = 0; i < 12; i++) e[j][i % 3] += c[j][i / 3] * x[i];
        const double along = (e[0][0] * e[1][0] + e[0][1] * e[1][1] + e[0][2] * e[1][2]) /
                             (e[0][0] * e[0][0] + e[0][1] * e[0][1] + e[0][2] * e[0][2]);
        for (int i = 0; i < 3 && edges == 2; i++) e[1][i] -= along * e[0][i];
        for (int i = 0; i < 4 && edges == 2; i++) c[1][i] -= along * c[0][i];
        add_outer(m.bdd, m.v, m.v, both);
        add_outer(m.bdd, m.v, m.v, want);
        for (int j = 0; j < edges && kind != ABUT_PE; j++) {
            const double len = sqrt(e[j][0] * e[j][0] + e[j][1] * e[j][1] + e[j][2] * e[j][2]);
            double block[4] = { -m.bd * m.d / (len * len), -m.bd / len, -m.bd / len, 0 }, y[12], z[12];
            for (int i = 0; i < 12; i++) {
                y[i] = c[j][i / 3] * m.v[3 * big + i % 3] / m.w[big];
                z[i] = m.w[i / 3] * e[j][i % 3] / len;
            }
            for (int pass = 0; pass < 2; pass++) {
                double *to = pass ? want : both;
                add_outer(block[0], y, y, to);
                add_outer(2 * block[1], y, z, to);
                add_outer(block[3], z, z, to);
                abut_psd_project(2, block);
            }
        }
        plain(row("shi-kim"), law, 0, kind, x, S);
        plain(row("shi-kim-unsigned"), law, 0, kind, x, U);
        plain(row("full"), law, 0, kind, x, F);
        if (kind == ABUT_PT || kind == ABUT_EE) {
            CHECK_NEAR(differ(both, F), 0, 1e-9);   /* the blocks are the Hessian */
            CHECK_NEAR(differ(want, S), 0, 1e-9);
        } else {
            CHECK_NEAR(differ(S, U), 0, 1e-14);
        }
        signature(U, 1e-12, &positive, &negative);
        CHECK(positive == 1 + edges);
        for (int i = 0; i < 144; i++) U[i] -= F[i];     /* it is above the Hessian */
        signature(U, 1e-9, &positive, &negative);
        CHECK(negative == 0);
    }
}

/* ---- mollified edges ---- */

/* at about a degree, side by side: line and line, point and edge, or two points carry the distance */
static int random_parallel(abut_rng *r, double d, double unit, double *x, double *eps_x)
{
    const double slip = abut_rng_real(r, -1.4, 1.3), a = abut_rng_real(r, -0.012, 0.012);
    const double at[12] = { 0, 0, d, 1, 0.001, d, slip, -0.003 + a, 0, slip + 1.2, 0.002 - a, 0 };
    for (int i = 0; i < 12; i++) x[i] = unit * at[i];
    *eps_x = abut_mollify_eps(unit * unit, 1.44 * unit * unit);
    const double c = abut_cross2(x, NULL, NULL);
    double d2;
    const abut_stencil kind = abut_nearest(ABUT_EE, x, &d2).kind;
    return c > 1e-6 * *eps_x && c < *eps_x && d2 < DHAT * DHAT * unit * unit ? 1 + (int)kind : 0;
}

/* the Gauss-Newton matrix: the Hessian less first derivatives times Hessians of s and d */
static void numeric_gn(abut_barrier_law law, const double *x, double eps_x, double *A)
{
    double gc[12], Hc[144], de, db, ddb, y[12], s, d2;
    const double c = abut_cross2(x, gc, Hc), e = abut_mollify(c, eps_x, &de, NULL);
    const abut_feature f = abut_nearest(ABUT_EE, x, &d2);
    const int n = 3 * abut_stencil_size(f.kind);
    for (int i = 0; i < n; i++) y[i] = x[3 * f.idx[i / 3] + i % 3];
    const contact m = contact_of(law, f.kind, y);
    const double b = abut_barrier(law, abut_beyond2(d2, law.xi), &db, &ddb);
    mollified(row("full"), law, 0, x, eps_x, A);
    s = sqrt(c);
    for (int i = 0; i < 144; i++) A[i] -= 2 * s * de * b * (Hc[i] / 2 - gc[i / 12] * gc[i % 12] / (4 * c)) / s;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[12 * (3 * f.idx[i / 3] + i % 3) + 3 * f.idx[j / 3] + j % 3] -= e * m.bd * m.Hd[12 * i + j];
}

TEST(gn_of_mollified_edges_is_the_projection_of_the_numeric_gauss_newton_matrix)
{
    abut_rng r = { 7 };
    int seen[5] = { 0 }, two = 0;
    for (int k = 0; k < 3000; k++) {
        const abut_barrier_law law = abut_barrier_law_of(DHAT, k % abut_names_count(abut_barrier_names), 0);
        double x[12], eps_x, N[144], G[144], S[144];
        int positive, negative;
        const int kind = random_parallel(&r, DHAT * pow(10, abut_rng_real(&r, -2.5, -0.01)), 1, x, &eps_x);
        if (!kind) continue;
        seen[kind]++;
        numeric_gn(law, x, eps_x, N);
        abut_psd_project(12, N);
        mollified(row("gn"), law, 0, x, eps_x, G);
        mollified(row("shi-kim"), law, 0, x, eps_x, S);
        CHECK_NEAR(differ(N, G), 0, 2e-7);      /* differences of the Hessian and curvature of d at small distances */
        CHECK_NEAR(differ(S, G), 0, 1e-14);
        signature(G, 1e-10, &positive, &negative);
        CHECK(positive >= 1 && positive <= 2 && !negative);
        two += positive == 2;
    }
    CHECK(seen[1 + ABUT_PP] > 50 && seen[1 + ABUT_PE] > 100 && seen[1 + ABUT_EE] > 100 && two > 10);
}

TEST(edges_projected_in_space_do_not_know_the_unit_of_length_and_as_published_they_do)
{
    abut_rng r = { 8 };
    double space = 0, variables = 0;
    for (int k = 0; k < 500; k++) {
        double x[2][12], eps_x[2], A[2][144], B[2][144];
        const double d = DHAT * abut_rng_real(&r, 0.05, 0.9);
        const abut_rng again = r;
        for (int u = 0; u < 2; u++) {
            const double unit = u ? 1000 : 1;
            r = again;
            if (!random_parallel(&r, d, unit, x[u], &eps_x[u])) break;
            const abut_barrier_law law = abut_barrier_law_of(DHAT * unit, ABUT_BARRIER_LOG2, 0);
            mollified(row("gn"), law, 0, x[u], eps_x[u], A[u]);
            mollified(row("gn-j"), law, 0, x[u], eps_x[u], B[u]);
            for (int i = 0; i < 144; i++) A[u][i] /= unit * unit, B[u][i] /= unit * unit;
            if (u) space = fmax(space, differ(A[0], A[1])), variables = fmax(variables, differ(B[0], B[1]));
        }
    }
    CHECK(space < 1e-9 && variables > 0.3);
}

TEST(mollified_edges_of_known_geometry_have_the_known_numbers)
{
    const abut_barrier_law law = abut_barrier_law_of(0.05, ABUT_BARRIER_LOG2, 0);
    const double x[12] = { 0, 0, .02, 1, 0, .02, -.2, .004, 0, .9, -.006, 0 }, eps_x = abut_mollify_eps(1, 1.2101);
    double mu[2], z[2][12], g[12], de;
    abut_mollified_gn m;
    CHECK_NEAR(eps_x, 1.2101e-3, 1e-15);
    CHECK_NEAR(abut_mollify(abut_cross2(x, NULL, NULL), eps_x, &de, NULL), 0.1584465913, 1e-10);
    const double e = abut_mollify(abut_cross2(x, NULL, NULL), eps_x, NULL, NULL);
    CHECK_NEAR(e * abut_barrier(law, 4e-4, NULL, NULL), 2.346648643671e-6, 1e-10 * 2.3e-6);
    abut_pair_barrier_grad(law, ABUT_EE, x, eps_x, g);
    CHECK_NEAR(g[0], -4.491017428e-6, 1e-9 * 5e-6);
    CHECK_NEAR(g[1], -4.940119171e-4, 1e-9 * 5e-4);
    CHECK_NEAR(g[2], -2.625793945e-4, 1e-9 * 5e-4);
    abut_mollified_gn_of(law, 0, 0, x, eps_x, &m);
    CHECK_NEAR(m.m11, 3.681897992595e-2, 1e-10 * 3.7e-2);
    CHECK_NEAR(m.m12 * 0.05, -3.306082799272e-3, 1e-10 * 3.3e-3);
    CHECK_NEAR(m.m22 * 0.05 * 0.05, 1.088143341687e-4, 1e-10 * 1.1e-4);
    abut_mollified_gn_in_space(&m, mu, z);
    CHECK_NEAR(fmax(mu[0], mu[1]), 0.2661603114522, 1e-10 * 0.27);
    CHECK(fmin(mu[0], mu[1]) == 0);     /* -0.0531 */
    abut_mollified_gn_in_variables(&m, mu, z);
    const double mean = (m.m11 + 1.088143341687e-4) / 2, half = (m.m11 - 1.088143341687e-4) / 2;
    CHECK_NEAR(fmax(mu[0], mu[1]), mean + hypot(half, 3.306082799272e-3), 1e-10);
}

/* ---- all contacts of a scene ---- */

/* Two mollified pairs between plain ones and half-spaces would be a scene; here the pairs are said. */
TEST(elements_of_mollified_pairs_are_as_many_as_their_rank_needs)
{
    const abut_pairs p = { .n = 7, .n_plain = 5, .n_plane = 3 };
    for (int i = 0; all_hessians()[i]; i++) {
        const abut_barrier_curvature c = { all_hessians()[i], 0 };
        CHECK(abut_barrier_elements(&c, &p) == (size_t)(c.ops->rank == 1 ? 12 : 10));
    }
}
