/* Shells: energies, their derivatives, bounds. */
#include "check.h"

#include "base/par.h"
#include "base/rng.h"
#include "energy/membrane.h"
#include "energy/codim.h"
#include "sparse/bsr.h"
#include "math/spd_inline.h"
#include "math/svd3.h"
#include "sparse/packed_lanes.h"
#include "energy/membrane_inline.h"


enum { CLOTH = 4, STIFFENED, STRETCH_SHEAR, LAWS };
static const char *const LAW[LAWS] = { "StVK", "neo-Hookean", "fixed corotated", "orthotropic", "cloth", "stiffened cloth",
                                        "Baraff-Witkin" };

/* One triangle whose rest edges are the axes, so that its edges are the columns of F; law and limits as asked. */
typedef struct tile {
    abut_model m;
    double rest[4], thick, young, poisson, fabric[4], strain[3], compression, limit[4], kappa;
    int32_t shell[3], mat, model, membrane;
    abut_codim t;
    abut_arena scratch;
} tile;

enum { NO_LIMIT, UPPER = 1, LOWER = 2 };
#define KAPPA 170.0     /* Pa: of the stretch limits, or of strain bounds beyond their own stiffness */

static void tile_open(tile *p, int law, int limits)
{
    *p = (tile){ .rest = { 1, 0, 0, 1 }, .thick = 2, .young = 300, .poisson = 0.3, .fabric = { 245, 366, 61, 38 },
                 .strain = { 0.45, 0.4, 0.35 }, .compression = 0.1, .shell = { 0, 1, 2 } };
    if (limits & LOWER) p->limit[0] = 0.6, p->limit[1] = 0.95;
    if (limits & UPPER) p->limit[2] = 1.02, p->limit[3] = 1.5;
    p->kappa = law == STIFFENED ? ABUT_STRAIN_KAPPA_MIN + KAPPA : KAPPA;
    p->model = law == 0 ? ABUT_STVK : law == 1 ? ABUT_NEO_HOOKEAN : ABUT_FIXED_COROTATED;
    p->membrane = law < 3 ? ABUT_MEMBRANE_ISOTROPIC : law == 3 ? ABUT_MEMBRANE_ORTHOTROPIC
                  : law == STRETCH_SHEAR ? ABUT_MEMBRANE_BARAFF_WITKIN : ABUT_MEMBRANE_CLOTH;
    p->m = (abut_model){ .nv = 3, .nm = 1, .nsh = 1, .shell = p->shell, .shell_mat = &p->mat, .shell_thick = &p->thick,
                         .shell_rest = p->rest, .shell_limit = limits ? p->limit : NULL, .mat_model = &p->model,
                         .mat_young = &p->young, .mat_poisson = &p->poisson, .mat_membrane = &p->membrane,
                         .mat_fabric = p->fabric, .mat_strain = p->strain,
                         .mat_compression = &p->compression };
    abut_err err;
    if (abut_codim_init(&p->t, &p->m, &err)) printf("# %s\n", err.msg), abort();
}

static void tile_close(tile *p)
{
    abut_codim_clear(&p->t);
    abut_arena_clear(&p->scratch);
}

static double energy(tile *p, const double *x, double kappa)
{
    double e = NAN;
    CHECK(!abut_codim_energy(&p->t, x, ABUT_CODIM_ALL, kappa, &e, &p->scratch, NULL));
    return e;
}

static void gradient(tile *p, const double *x, double kappa, double *g)
{
    memset(g, 0, 9 * sizeof *g);
    CHECK(!abut_codim_gradient(&p->t, x, ABUT_CODIM_ALL, kappa, 1, g, &p->scratch, NULL));
}

/* x[9] with F = U diag(s0, s1) V^T for random frames */
static void place(double x[9], double s0, double s1, abut_rng *r)
{
    double A[9], w[3], Q[9];
    for (int i = 0; i < 9; i++) A[i] = abut_rng_real(r, -1, 1);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++) A[3 * i + j] = A[3 * j + i];
    abut_sym_eigen(3, A, w, Q);     /* rows of Q: an orthonormal frame */
    const double turn = abut_rng_real(r, -4, 4), v[2][2] = { { cos(turn), -sin(turn) }, { sin(turn), cos(turn) } };
    for (int i = 0; i < 3; i++) {
        x[i] = abut_rng_real(r, -1, 1);
        for (int c = 0; c < 2; c++) x[3 + 3 * c + i] = x[i] + s0 * Q[i] * v[c][0] + s1 * Q[3 + i] * v[c][1];
    }
}

static const int LIMITS[] = { NO_LIMIT, UPPER, LOWER, UPPER | LOWER };

/* Principal stretches of the tries: anywhere, at the thresholds, close to the limits, equal. */
static void stretches(int k, abut_rng *r, double s[2])
{
    static const double fixed[][2] = { { 1, 1 }, { 1.2, 1.2 }, { 0.8, 0.8 + 1e-9 }, { 1.02, 0.95 }, { 1.499, 1.1 },
                                       { 0.7, 0.6001 }, { 1.4, 1.4 - 1e-5 }, { 1.1, 0.62 } };
    const int n = sizeof fixed / sizeof *fixed;
    for (int i = 0; i < 2; i++) s[i] = k < n ? fixed[k][i] : abut_rng_real(r, 0.62, 1.48);
}

TEST(the_gradient_is_the_derivative_of_the_energy)
{
    abut_rng r = { 1 };
    int tried = 0;
    for (int law = 0; law < LAWS; law++)
        for (int l = 0; l < 4; l++)
            for (int k = 0; k < check_runs(25, 2000); k++) {
                tile p;
                double x[9], g[9], s[2];
                const double h = 1e-6;
                tile_open(&p, law, LIMITS[l]);
                if (k == 0) p.t.membrane->bw[ABUT_BW_COMPRESSION] = 1;      /* at rest: differences see the kink of its stress */
                stretches(k, &r, s);
                place(x, s[0], s[1], &r);
                gradient(&p, x, p.kappa, g);
                for (int i = 0; i < 9 && isfinite(energy(&p, x, p.kappa)); i++) {
                    const double xi = x[i];
                    double near[2], far[2];
                    for (int q = 0; q < 2; q++) {       /* two step lengths, extrapolated: the barrier is steep */
                        const double d = q ? 2 * h : h;
                        x[i] = xi + d;
                        near[q] = energy(&p, x, p.kappa);
                        x[i] = xi - d;
                        far[q] = energy(&p, x, p.kappa);
                    }
                    x[i] = xi;
                    const double d1 = (near[0] - far[0]) / (2 * h), d2 = (near[1] - far[1]) / (4 * h);
                    double size = 300;
                    for (int q = 0; q < 9; q++) size = fmax(size, fabs(g[q]));
                    CHECK_NEAR((4 * d1 - d2) / 3, g[i], 1e-7 * size);
                    tried++;
                }
                tile_close(&p);
            }
    CHECK(tried > 3000);
}

/* 6x6 second derivative with respect to x1, x2 by differences of the gradient */
static void difference(tile *p, double *x, double N[36])
{
    const double h = 1e-5;
    for (int j = 0; j < 6; j++) {
        double g[4][9];
        const double xj = x[3 + j];
        for (int q = 0; q < 4; q++) {
            x[3 + j] = xj + (q < 2 ? h : 2 * h) * (q % 2 ? -1 : 1);
            gradient(p, x, p->kappa, g[q]);
        }
        x[3 + j] = xj;
        for (int i = 0; i < 6; i++)
            N[6 * i + j] = (8 * (g[0][3 + i] - g[1][3 + i]) - (g[2][3 + i] - g[3][3 + i])) / (12 * h);
    }
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < i; j++) N[6 * i + j] = N[6 * j + i] = 0.5 * (N[6 * i + j] + N[6 * j + i]);
}

/* dense 9x9 of the first three corners */
static void unpack(const double *H, double D[81])
{
    for (int a = 0, k = 0; a < 4; a++)
        for (int c = a; c < 4; c++, k++)
            for (int i = 0; i < 9 && c < 3; i++)
                D[9 * (3 * a + i / 3) + 3 * c + i % 3] = D[9 * (3 * c + i % 3) + 3 * a + i / 3] = H[9 * k + i];
}

static double smallest_eigenvalue(int n, const double *A)
{
    double w[12], Q[144], least = INFINITY;
    abut_sym_eigen(n, A, w, Q);
    for (int i = 0; i < n; i++) least = fmin(least, w[i]);
    return least;
}

TEST(the_hessian_is_the_second_derivative_projected)
{
    abut_rng r = { 2 };
    int projected = 0, plain = 0;
    for (int law = 0; law < LAWS; law++)
        for (int l = 0; l < 4; l++) {
            if ((law >= 3 && l) || law == STRETCH_SHEAR) continue;  /* a fabric and its limits are projected each by itself */
            for (int k = 0; k < check_runs(25, 2000); k++) {
                tile p;
                double x[9], s[2], N[36], H[ABUT_PACKED] = { 0 }, D[81], size = 0;
                tile_open(&p, law, LIMITS[l]);
                stretches(k, &r, s);
                place(x, s[0], s[1], &r);
                const int far = s[0] < 1.45 && s[0] > 0.65 && s[1] < 1.45 && s[1] > 0.65;   /* differences see nothing else */
                const int kink = s[0] == 1.02 || s[1] == 0.95;
                if (isfinite(energy(&p, x, p.kappa)) && far && !kink) {
                    difference(&p, x, N);
                    for (int i = 0; i < 36; i++) size = fmax(size, fabs(N[i]));
                    const int negative = abut_psd_project(6, N);
                    projected += negative > 0;
                    plain += negative == 0;
                    abut_codim_hessian(&p.t, x, ABUT_CODIM_ALL, p.kappa, 1, H);
                    unpack(H, D);
                    double worst = 0;
                    for (int i = 0; i < 6; i++)
                        for (int j = 0; j < 6; j++) worst = fmax(worst, fabs(D[9 * (3 + i) + 3 + j] - N[6 * i + j]));
                    if (!(worst <= 2e-6 * size)) printf("# %s, limits %d, s %g %g\n", LAW[law], LIMITS[l], s[0], s[1]);
                    CHECK(worst <= 2e-6 * size);
                }
                tile_close(&p);
            }
        }
    CHECK(projected > 50 && plain > 50);
}

TEST(every_block_is_positive_semidefinite_and_does_not_see_translations)
{
    abut_rng r = { 3 };
    for (int law = 0; law < LAWS; law++)
        for (int l = 0; l < 4; l++)
            for (int k = 0; k < check_runs(40, 4000); k++) {
                tile p;
                double x[9], s[2], H[ABUT_PACKED] = { 0 }, D[81], size = 300;    /* Pa, of the moduli */
                tile_open(&p, law, LIMITS[l]);
                p.limit[0] = l & LOWER ? 1e-3 : 0;
                stretches(k, &r, s);
                if (k % 5 == 0) s[1] *= pow(10, abut_rng_real(&r, -7, 0));   /* nearly a line */
                place(x, s[0], s[1], &r);
                if (isfinite(energy(&p, x, p.kappa))) {
                    abut_codim_hessian(&p.t, x, ABUT_CODIM_ALL, p.kappa, 1, H);
                    unpack(H, D);
                    for (int i = 0; i < 81; i++) size = fmax(size, fabs(D[i]));
                    CHECK(smallest_eigenvalue(9, D) >= -1e-12 * size);
                    for (int i = 0; i < 9; i++)
                        for (int d = 0; d < 3; d++)
                            CHECK_NEAR(D[9 * i + d] + D[9 * i + 3 + d] + D[9 * i + 6 + d], 0, 1e-14 * size);
                    for (int q = 0; q < 9; q++)     /* the fourth corner is unused */
                        CHECK(H[27 + q] == 0 && H[54 + q] == 0 && H[72 + q] == 0 && H[81 + q] == 0);
                }
                tile_close(&p);
            }
}

TEST(the_stretch_barrier_has_its_reference_values)
{
    static const double table[4][5] = {     /* limit, stretch, b, b', b'' for a threshold of 1 */
        { 1.0608, 1.03, 0.165574031848742, 18.9429549970608, 1678.54611002595 },
        { 1.1, 1.05, 0.173286795139986, 11.9314718055995, 638.629436111989 },
        { 1.01, 1.009, 1.86509392532518, 1224.46531673893, 1216051.70185988 },
        { 1.001, 1.0005, 0.173286795139986, 1193.14718055995, 6386294.36111989 },
    };
    for (int i = 0; i < 4; i++) {
        double d, dd;
        const double *t = table[i], tol = 1e-14 / (t[0] - t[1]);    /* the distance to the limit is what rounding leaves */
        CHECK_NEAR(abut_stretch_barrier(t[1], 1, t[0], &d, &dd), t[2], fmax(1e-12, tol) * t[2]);
        CHECK_NEAR(d, t[3], fmax(1e-12, tol) * t[3]);
        CHECK_NEAR(dd, t[4], fmax(1e-12, 3 * tol) * t[4]);
        /* the lower side is the mirror image */
        double ld, ldd;
        CHECK_NEAR(abut_stretch_barrier(2 - t[1], 1, 2 - t[0], &ld, &ldd), t[2], 1e-10 * t[2]);
        CHECK_NEAR(ld, -t[3], 1e-10 * t[3]);
        CHECK_NEAR(ldd, t[4], 1e-10 * t[4]);
    }
    CHECK(abut_stretch_barrier(1.1, 1, 1.1, NULL, NULL) == INFINITY && abut_stretch_barrier(1.2, 1, 1.1, NULL, NULL) == INFINITY);
}

TEST(the_stretch_barrier_is_inert_up_to_its_threshold)
{
    static const double nothing[4] = { 0, 0, 0, 0 };
    abut_rng r = { 4 };
    for (int k = 0; k < 200; k++) {
        tile p;
        double x[9], g[9], H[ABUT_PACKED] = { 0 }, e;
        tile_open(&p, k % LAWS, UPPER | LOWER);
        place(x, abut_rng_real(&r, 0.951, 1.019), abut_rng_real(&r, 0.951, 1.019), &r);
        memset(g, 0, sizeof g);
        if (p.membrane == ABUT_MEMBRANE_CLOTH) p.t.membrane->fabric = nothing, p.t.membrane->strain = NULL;
        CHECK(!abut_codim_energy(&p.t, x, ABUT_CODIM_BOUNDED, 1e9, &e, &p.scratch, NULL) && e == 0);
        CHECK(!abut_codim_gradient(&p.t, x, ABUT_CODIM_BOUNDED, 1e9, 1, g, &p.scratch, NULL));
        abut_codim_hessian(&p.t, x, ABUT_CODIM_BOUNDED, 1e9, 1, H);
        for (int i = 0; i < 9; i++) CHECK(g[i] == 0);
        for (int i = 0; i < ABUT_PACKED; i++) CHECK(H[i] == 0);
        tile_close(&p);
    }
}

TEST(a_limit_that_is_reached_is_infeasible)
{
    abut_rng r = { 5 };
    static const double out[][2] = { { 1.5000001, 1 }, { 1, 0.5999999 }, { 2, 0.1 }, { 1, 0 } };
    for (int law = 0; law < LAWS; law++)
        for (int k = 0; k < 4; k++) {
            tile p;
            double x[9];
            tile_open(&p, law, k < 3 ? UPPER | LOWER : NO_LIMIT);
            place(x, out[k][0], out[k][1], &r);
            if (k == 3)
                for (int i = 0; i < 3; i++) x[6 + i] = 2 * x[3 + i] - x[i], x[3 + i] = x[i] + 0.5 * (x[6 + i] - x[i]);
            CHECK(energy(&p, x, p.kappa) == INFINITY);
            tile_close(&p);
        }
    for (int c = 0; c < 3; c++) {       /* cloth by its strains */
        tile p;
        tile_open(&p, CLOTH, NO_LIMIT);
        const double e = p.strain[c], in = 1 - 1e-9, out1 = 1 + 1e-9;
        for (int sign = -1; sign < 2; sign += 2) {
            for (int side = 0; side < 2; side++) {
                const double v = sign * e * (side ? out1 : in), s = sqrt(1 + 2 * v);
                double x[9] = { 0, 0, 0, 1, 0, 0, 0, 1, 0 };
                if (c < 2) x[3 + 4 * c] = s;
                else x[3] = 1, x[6] = 2 * v, x[7] = sqrt(1 - 4 * v * v);    /* e12 = v, e11 = e22 = 0 */
                for (int k = 0; k < 2; k++) CHECK(isfinite(energy(&p, x, k ? 1e5 : 1)) == !side);
            }
        }
        tile_close(&p);
    }
}

/* psi as a function of e[3] = (e11, e22, e12), S = dpsi/de, C = d2psi/de2 (11,11; 11,22; 22,22; 12,12; all others are 0) */
static double fabric_at(const abut_membrane *law, double k, const double e[3], double S[3], double C[4])
{
    abut_fabrics_one f;
    double psi;
    memcpy(f.a, law->fabric, sizeof f.a);
    memcpy(f.m, law->strain, sizeof f.m);
    abut_fabric_psi_one(&f, k, e, &psi);
    abut_fabric_derivatives_one(&f, k, e, S, C);
    return psi;
}

TEST(cloth_has_its_reference_values)
{
    const double fabric[4] = { 245, 366, 61, 38 }, strain[3] = { 0.06, 0.10, 0.12 }, e[3] = { 0.03, -0.04, -0.05 };
    const abut_membrane law = { .kind = ABUT_MEMBRANE_CLOTH, .fabric = fabric, .strain = strain };
    double S[3], C[4];
    CHECK_NEAR(fabric_at(&law, 0, e, S, C), 0.48355026473695, 1e-12);
    CHECK_NEAR(S[0], 7.76666666666667, 1e-12);
    CHECK_NEAR(S[2], -4.59831932773109, 1e-12);
    CHECK_NEAR(S[1], -15.9035714285714, 1e-12);
    CHECK_NEAR(C[0], 555.740740740741, 1e-10);
    CHECK_NEAR(C[1], 42.3611111111111, 1e-10);
    CHECK_NEAR(C[2], 608.054846938776, 1e-10);
    CHECK_NEAR(C[3], 130.607725443118, 1e-10);
}

/* k c(y) by its series: k (y^4/2 + y^6/3 + ...), no stiffness at rest; and the bound is felt however soft the moduli are */
TEST(what_stiffens_cloth_is_inert_at_rest_and_infinite_at_a_bound)
{
    static const double no_moduli[4] = { 0 }, strain[3] = { 0.06, 0.10, 0.12 }, k = 3e3;
    const abut_membrane law = { .kind = ABUT_MEMBRANE_CLOTH, .fabric = no_moduli, .strain = strain };
    for (int c = 0; c < 3; c++) {
        static const int in_C[3] = { 0, 2, 3 };
        double e[3] = { 0 }, S[3], C[4];
        CHECK(fabric_at(&law, k, e, S, C) == 0 && S[c] == 0 && C[in_C[c]] == 0);
        for (int j = 1; j < 10; j++) {
            const double y = 0.1 * j;
            double sum = 0, slope = 0, bend = 0;
            e[c] = j % 2 ? y * strain[c] : -y * strain[c];
            for (int n = 2; n < 400; n++) {
                sum += k * pow(y, 2 * n) / n;
                slope += k * 2 * pow(y, 2 * n - 1) / strain[c];
                bend += k * 2 * (2 * n - 1) * pow(y, 2 * n - 2) / (strain[c] * strain[c]);
            }
            CHECK_NEAR(fabric_at(&law, k, e, S, C), sum, 1e-10 * sum);
            CHECK_NEAR(S[c], (e[c] < 0 ? -1 : 1) * slope, 1e-10 * slope);
            CHECK_NEAR(C[in_C[c]], bend, 1e-10 * bend);
        }
    }
}

TEST(an_orthotropic_membrane_with_isotropic_moduli_is_stvk)
{
    abut_rng r = { 6 };
    for (int k = 0; k < 100; k++) {
        tile a, b;
        double x[9], ga[9], gb[9], Ha[ABUT_PACKED] = { 0 }, Hb[ABUT_PACKED] = { 0 }, s[2];
        tile_open(&a, 0, NO_LIMIT);
        tile_open(&b, 3, NO_LIMIT);
        const double mu = a.t.membrane->mu, lambda = a.t.membrane->lambda;
        CHECK_NEAR(mu, 300 / 2.6, 1e-12);
        CHECK_NEAR(lambda, 90 / 0.91, 1e-12);
        b.fabric[0] = b.fabric[1] = 2 * mu + lambda, b.fabric[2] = lambda, b.fabric[3] = 2 * mu;
        stretches(k, &r, s);
        place(x, s[0], s[1], &r);
        const double e = energy(&a, x, 0);
        CHECK_NEAR(e, energy(&b, x, 0), 1e-13 * (1 + e));
        gradient(&a, x, 0, ga);
        gradient(&b, x, 0, gb);
        for (int i = 0; i < 9; i++) CHECK_NEAR(ga[i], gb[i], 1e-11);
        abut_codim_hessian(&a.t, x, ABUT_CODIM_ALL, 0, 1, Ha);
        abut_codim_hessian(&b.t, x, ABUT_CODIM_ALL, 0, 1, Hb);
        for (int i = 0; i < ABUT_PACKED; i++) CHECK_NEAR(Ha[i], Hb[i], 1e-10);
        tile_close(&a);
        tile_close(&b);
    }
}

TEST(the_energy_does_not_see_rotations)
{
    abut_rng r = { 7 };
    for (int k = 0; k < 200; k++) {
        tile p;
        double x[9], y[9], s[2], g[9], f[3] = { 0, 0, 0 }, torque[3] = { 0, 0, 0 };
        tile_open(&p, k % LAWS, k % LAWS < 3 ? UPPER | LOWER : NO_LIMIT);
        stretches(8, &r, s);
        place(x, s[0], s[1], &r);
        const double a = abut_rng_real(&r, -3, 3);
        for (int v = 0; v < 9; v += 3) {
            y[v] = cos(a) * x[v] - sin(a) * x[v + 2] + 2;
            y[v + 1] = x[v + 1] - 7;
            y[v + 2] = sin(a) * x[v] + cos(a) * x[v + 2];
        }
        const double e = energy(&p, x, p.kappa);
        if (isfinite(e)) {
            CHECK_NEAR(e, energy(&p, y, p.kappa), 1e-11 * (1 + e));
            gradient(&p, x, p.kappa, g);
            for (int v = 0; v < 9; v += 3)
                for (int d = 0; d < 3; d++) {
                    const int b = (d + 1) % 3, c = (d + 2) % 3;
                    f[d] += g[v + d];
                    torque[d] += x[v + b] * g[v + c] - x[v + c] * g[v + b];
                }
            for (int d = 0; d < 3; d++) {
                CHECK_NEAR(f[d], 0, 1e-10);
                CHECK_NEAR(torque[d], 0, 1e-10);
            }
        }
        tile_close(&p);
    }
}

TEST(singular_values_are_those_of_the_matrix)
{
    abut_rng r = { 8 };
    for (int k = 0; k < check_runs(2000, 200000); k++) {
        abut_lanes F[6], U[6], s[2], V[4];
        for (int l = 0; l < ABUT_LANES; l++) {
            const double skew = l ? pow(10, abut_rng_real(&r, -9, 0)) : 1;
            const double size = l == 2 ? pow(10, abut_rng_real(&r, -30, 30)) : 1;
            for (int i = 0; i < 6; i++) F[i][l] = size * abut_rng_real(&r, -1, 1) * (i % 2 ? skew : 1);
            if (l == 3)     /* nearly parallel columns */
                for (int i = 0; i < 6; i += 2) F[i + 1][l] = 0.7 * F[i][l] + skew * abut_rng_real(&r, -1, 1);
        }
        abut_svd32_lanes(F, U, s, V);
        for (int l = 0; l < ABUT_LANES; l++) {
            double uv = 0;
            CHECK(s[0][l] > 0 && s[1][l] > 0);
            for (int i = 0; i < 3; i++) {
                uv += U[2 * i][l] * U[2 * i + 1][l];
                for (int j = 0; j < 2; j++)
                    CHECK_NEAR(U[2 * i][l] * s[0][l] * V[2 * j][l] + U[2 * i + 1][l] * s[1][l] * V[2 * j + 1][l], F[2 * i + j][l],
                               1e-15 * fmax(s[0][l], s[1][l]));
            }
            CHECK_NEAR(uv, 0, 1e-14);
            CHECK_NEAR(V[0][l] * V[3][l] - V[1][l] * V[2][l], 1, 1e-15);
        }
    }
}

TEST(what_no_membrane_is_made_of_is_refused_by_name)
{
    tile p;
    tile_open(&p, 0, NO_LIMIT);
    abut_codim t;
    abut_err err = { 0 };
    p.model = ABUT_ARAP;
    CHECK(abut_codim_init(&t, &p.m, &err) == ABUT_E_FORMAT);
    CHECK(strstr(err.msg, abut_material_names[ABUT_ARAP]) && strstr(err.msg, "shell 0") && strstr(err.msg, "material 0"));
    tile_close(&p);
}

/* a strip of n triangles, jittered */
static double *strip(abut_model *m, int n)
{
    static double rest[4] = { 0.01, 0.005, 0, 0.009 };
    abut_rng r = { 9 };
    double *x = malloc(3 * (size_t)(n + 2) * sizeof *x), *R = malloc(4 * (size_t)n * sizeof *R);
    double *thick = malloc((size_t)n * sizeof *thick);
    int32_t *v = malloc(3 * (size_t)n * sizeof *v), *mat = calloc((size_t)n, sizeof *mat);
    static int32_t model = ABUT_NEO_HOOKEAN;
    static double young = 1e5, poisson = 0.3;
    double *limit = malloc(4 * (size_t)n * sizeof *limit);
    for (int i = 0; i < n + 2; i++) {
        x[3 * i] = 0.005 * i + abut_rng_real(&r, -4e-4, 4e-4);
        x[3 * i + 1] = 0.009 * (i % 2) + abut_rng_real(&r, -4e-4, 4e-4);
        x[3 * i + 2] = abut_rng_real(&r, -1e-3, 1e-3);
    }
    for (int t = 0; t < n; t++) {
        const double lim[4] = { 0.5, 0.99, 1, 1.5 };
        for (int k = 0; k < 3; k++) v[3 * t + k] = t + (k == 0 ? 0 : 3 - k);
        memcpy(R + 4 * t, rest, sizeof rest);
        memcpy(limit + 4 * t, lim, sizeof lim);
        thick[t] = 1e-3;
    }
    *m = (abut_model){ .nv = n + 2, .nm = 1, .nsh = n, .shell = v, .shell_mat = mat, .shell_thick = thick, .shell_rest = R,
                       .shell_limit = limit, .mat_model = &model, .mat_young = &young, .mat_poisson = &poisson };
    return x;
}

static void strip_free(abut_model *m, double *x)
{
    free((void *)m->shell), free((void *)m->shell_mat), free((void *)m->shell_thick), free((void *)m->shell_rest);
    free((void *)m->shell_limit), free(x);
}

TEST(hessians_and_gradients_are_added_to_what_is_there)
{
    tile p;
    double x[9], g[2][9] = { { 0 } }, H[2][ABUT_PACKED] = { { 0 } };
    abut_rng r = { 8 };
    tile_open(&p, 0, UPPER | LOWER);
    place(x, 1.2, 0.9, &r);
    for (int twice = 0; twice < 2; twice++)
        for (int k = 0; k <= twice; k++) {
            CHECK(!abut_codim_gradient(&p.t, x, ABUT_CODIM_ALL, p.kappa, 1, g[twice], &p.scratch, NULL));
            abut_codim_hessian(&p.t, x, ABUT_CODIM_ALL, p.kappa, 1, H[twice]);
        }
    for (int i = 0; i < 9; i++) CHECK(g[1][i] == 2 * g[0][i]);
    for (int i = 0; i < ABUT_PACKED; i++) CHECK(H[1][i] == 2 * H[0][i]);
    CHECK(H[0][0] > 0 && g[0][0] != 0);
    tile_close(&p);
}

TEST(the_bits_do_not_depend_on_the_number_of_threads)
{
    enum { N = 5001 };
    abut_model m;
    double *x = strip(&m, N), *g[2], *H[2], e[2] = { NAN, NAN };
    abut_codim t;
    abut_arena scratch = { 0 };
    CHECK(!abut_codim_init(&t, &m, NULL));
    for (int k = 0; k < 2; k++) g[k] = malloc(3 * (N + 2) * sizeof **g), H[k] = malloc(N * ABUT_PACKED * sizeof **H);
    for (int k = 0; k < 3; k++) {
        abut_threads_set(k == 0 ? 1 : k == 1 ? 2 : 7);
        const int at = k > 0;
        memset(g[at], 0, 3 * (N + 2) * sizeof **g);
        memset(H[at], 0, N * ABUT_PACKED * sizeof **H);
        CHECK(!abut_codim_energy(&t, x, ABUT_CODIM_ALL, 1e3, &e[at], &scratch, NULL) && isfinite(e[at]) && e[at] > 0);
        CHECK(!abut_codim_gradient(&t, x, ABUT_CODIM_ALL, 1e3, 1, g[at], &scratch, NULL));
        abut_codim_hessian(&t, x, ABUT_CODIM_ALL, 1e3, 1, H[at]);
        CHECK(e[0] == e[at] && !memcmp(g[0], g[at], 3 * (N + 2) * sizeof **g));
        CHECK(!memcmp(H[0], H[at], N * ABUT_PACKED * sizeof **H));
    }
    abut_threads_set(1);
    for (int k = 0; k < 2; k++) free(g[k]), free(H[k]);
    abut_codim_clear(&t);
    abut_arena_clear(&scratch);
    strip_free(&m, x);
}
