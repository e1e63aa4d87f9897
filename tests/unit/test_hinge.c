/* Hinges: closed forms, derivatives, invariance, the projection against a numerical one, degenerate elements. */
#include "stencil.h"

#include "energy/hinge.h"
#include "gpu/elements_inline.h"
#include "energy/material/two_modes.h"
#include "mesh/surface.h"
#include "sparse/bsr.h"

/* four times the same hinge, and the first of four results */
static void spread(const double *v, int n, abut_lanes *to)
{
    for (int i = 0; i < n; i++) to[i] = ABUT_LANES_ALL(v[i]);
}

static void first(const abut_lanes *v, int n, double *to)
{
    for (int i = 0; i < n; i++) to[i] = v[i][0];
}

static double hinge_energy(double k, double rest, const double *x)
{
    abut_lanes at[12], energy;
    spread(x, 12, at);
    abut_hinge_energy_lanes(&ABUT_LANES_ALL(k), &ABUT_LANES_ALL(rest), at, &energy);
    return energy[0];
}

static void hinge_gradient(double k, double rest, const double *x, double *g)
{
    abut_lanes at[12], f[12];
    spread(x, 12, at);
    abut_hinge_gradient_lanes(&ABUT_LANES_ALL(k), &ABUT_LANES_ALL(rest), at, f);
    first(f, 12, g);
}

/* H += its second derivative, or that made positive semidefinite */
static void hinge_hessian(double k, double rest, const double *x, int project, double *H)
{
    abut_lanes at[12], squares[48];
    abut_hinge_one hinge;
    abut_hinge_mode_one m[4];
    double v[48];
    spread(x, 12, at);
    abut_hinge_squares_lanes(&ABUT_LANES_ALL(k), &ABUT_LANES_ALL(rest), at, squares);
    first(squares, 48, v);
    if (project) abut_add_squares4(v, H);
    abut_hinge_open_one(x, &hinge);
    abut_hinge_modes_one(&k, &rest, &hinge, m);
    for (int i = 0; i < 4 && !project; i++) abut_two_modes_add(4, m[i].d, m[i].o, m[i].u, m[i].w, H);
}

static const kind HINGE = { 4, hinge_energy, hinge_gradient, hinge_hessian };

/* Two wings of heights about 0.5 to 1.5 over an edge of about 1, at an angle theta, tilted by `lean` along the edge. */
static void hinge_at(abut_rng *r, double theta, double x[12])
{
    const double l = abut_rng_real(r, 0.6, 1.6), hA = abut_rng_real(r, 0.5, 1.5), hB = abut_rng_real(r, 0.5, 1.5);
    const double footA = abut_rng_real(r, -0.3, 1.3), footB = abut_rng_real(r, -0.3, 1.3);
    const double at[12] = { 0, 0, 0, l, 0, 0, footA, hA, 0, footB, -hB * cos(theta), -hB * sin(theta) };
    double R[9];
    moved(r, 4, at, x, R);
}

TEST(a_flat_hinge_has_angle_zero_and_the_tent_the_one_stated)
{
    double x[12] = { 0, 0, 0, 1, 0, 0, 0.5, 1, 0.3, 0.5, -1, 0.3 }, g[12];
    CHECK_NEAR(abut_hinge_theta(x, g), -2 * atan(0.3), 1e-15);
    CHECK_NEAR(abut_hinge_theta(x, g), -0.582913589, 1e-9);
    for (int k = 0; k < 3; k++) CHECK_NEAR(g[k] + g[3 + k] + g[6 + k] + g[9 + k], 0, 1e-15);
    x[8] = x[11] = 0;
    CHECK(abut_hinge_theta(x, g) == 0);
    x[8] = x[11] = -0.3;
    CHECK_NEAR(abut_hinge_theta(x, NULL), 0.582913589, 1e-9);
}

TEST(the_angle_is_the_one_the_hinge_was_opened_to)
{
    abut_rng r = { 11 };
    for (int i = 0; i < 200; i++) {
        double x[12];
        const double theta = abut_rng_real(&r, -PI, PI);
        hinge_at(&r, theta, x);
        CHECK_NEAR(abut_hinge_theta(x, NULL), theta, 1e-14 * 30);
        CHECK_NEAR(abut_hinge_angle(x), theta, 1e-14 * 30);     /* what scenes are built with */
    }
}

TEST(derivatives_of_a_hinge_are_those_of_its_energy)
{
    abut_rng r = { 5 };
    for (int i = 0; i < 200; i++) {
        double x[12];
        const double theta = abut_rng_real(&r, -3.1, 3.1), rest = i % 3 ? abut_rng_real(&r, -1, 1) : 0;
        if (fabs(fabs(theta - rest) - PI) < 1e-3) continue;     /* the ridge */
        hinge_at(&r, i % 5 ? theta : 0, x);
        check_derivatives(&HINGE, 0.7, rest, x, 1e-5, 2e-8);
    }
}

/* wings a thousand times lower than long, and longer than high */
TEST(derivatives_hold_for_slivers)
{
    abut_rng r = { 6 };
    for (int i = 0; i < 20; i++) {
        const double f = abut_rng_real(&r, -2, 2);
        const double x[12] = { 0, 0, 0, 1, 0, 0, 0.4, 1e-3, 0, 0.7, -2e-3 * cos(f), 2e-3 * sin(f) };
        check_derivatives(&HINGE, 0.7, 0.2, x, 1e-8, 1e-7);
        (void)check_projection(&HINGE, 0.7, 0.2, x);
        const double y[12] = { 0, 0, 0, 1e-3, 0, 0, 4e-4, 1, 0, 7e-4, -cos(f), sin(f) };
        check_derivatives(&HINGE, 0.7, 0.2, y, 1e-8, 1e-7);
        (void)check_projection(&HINGE, 0.7, 0.2, y);
    }
}

TEST(hinges_do_not_see_rigid_motion)
{
    abut_rng r = { 7 };
    for (int i = 0; i < 50; i++) {
        double x[12];
        hinge_at(&r, abut_rng_real(&r, -3, 3), x);
        check_invariance(&HINGE, &r, 0.7, 0.1, x);
    }
}

TEST(the_projected_hinge_is_semidefinite_and_only_adds)
{
    abut_rng r = { 8 };
    int clamped = 0;
    for (int i = 0; i < 300; i++) {
        double x[12];
        const double theta = abut_rng_real(&r, -3.1, 3.1);
        hinge_at(&r, theta, x);
        clamped += check_projection(&HINGE, 2, i % 2 ? theta : 0.2, x);     /* every other one at rest */
    }
    CHECK(clamped > 130 && clamped < 170);
}

/* The modes in which the hinge is projected, numerically: coordinates z = L dx in angles, the true matrix there by solving for
 * it, its nearest semidefinite one by the eigen-solver, and back. */
TEST(the_projection_is_the_nearest_matrix_in_the_metric_of_angles)
{
    abut_rng r = { 9 };
    for (int round = 0; round < 50; round++) {
        double x[12], H[ABUT_PACKED] = { 0 }, T[144], P[144];
        hinge_at(&r, abut_rng_real(&r, -3, 3), x);
        const abut_vec3 X[4] = { abut_v3_get(x), abut_v3_get(x + 3), abut_v3_get(x + 6), abut_v3_get(x + 9) };
        const abut_vec3 e = abut_v3_sub(X[1], X[0]), u = abut_v3_scale(1 / abut_v3_norm(e), e);
        double L[8][12], Z[12][8], S[64] = { 0 }, back[144] = { 0 };
        int row = 0;
        /* rows: for each wing its turn, its growth, its shear; and the turns of the edge across two directions */
        for (int wing = 0; wing < 2; wing++) {
            const abut_vec3 side = abut_v3_sub(X[2 + wing], X[0]), up = abut_v3_axpy(side, -abut_v3_dot(side, u), u);
            const double h = abut_v3_norm(up), foot = abut_v3_dot(side, u) / abut_v3_norm(e);
            const abut_vec3 m = abut_v3_scale(1 / h, up), dir[3] = { abut_v3_cross(u, m), m, u };
            const double weight[4] = { foot - 1, -foot, wing == 0, wing == 1 };
            for (int d = 0; d < 3; d++, row++)
                for (int c = 0; c < 4; c++) abut_v3_put(&L[row][3 * c], abut_v3_scale(weight[c] / h, dir[d]));
        }
        const abut_vec3 any = fabs(u.x) < 0.7 ? abut_v3(1, 0, 0) : abut_v3(0, 1, 0), n1 = abut_v3_cross(u, any),
                        n = abut_v3_scale(1 / abut_v3_norm(n1), n1), dir[2] = { n, abut_v3_cross(u, n) };
        for (int d = 0; d < 2; d++, row++) {
            memset(L[row], 0, sizeof L[row]);
            abut_v3_put(&L[row][0], abut_v3_scale(-1 / abut_v3_norm(e), dir[d]));
            abut_v3_put(&L[row][3], abut_v3_scale(1 / abut_v3_norm(e), dir[d]));
        }
        /* Z = L^T (L L^T)^-1, so that S = Z^T T Z is the matrix in z for every metric of x */
        double G[64], inv[64];
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++) {
                G[8 * i + j] = 0;
                inv[8 * i + j] = i == j;
                for (int k = 0; k < 12; k++) G[8 * i + j] += L[i][k] * L[j][k];
            }
        for (int p = 0; p < 8; p++) {   /* Gauss and Jordan: G is positive definite */
            const double d = 1 / G[9 * p];
            for (int j = 0; j < 8; j++) G[8 * p + j] *= d, inv[8 * p + j] *= d;
            for (int i = 0; i < 8; i++) {
                const double f = i == p ? 0 : G[8 * i + p];
                for (int j = 0; j < 8; j++) G[8 * i + j] -= f * G[8 * p + j], inv[8 * i + j] -= f * inv[8 * p + j];
            }
        }
        for (int k = 0; k < 12; k++)
            for (int j = 0; j < 8; j++) {
                Z[k][j] = 0;
                for (int i = 0; i < 8; i++) Z[k][j] += L[i][k] * inv[8 * i + j];
            }
        hinge_hessian(2, 0.3, x, 0, H);
        unpack(4, H, T);
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++)
                for (int k = 0; k < 144; k++) S[8 * i + j] += Z[k / 12][i] * T[k] * Z[k % 12][j];
        abut_psd_project(8, S);
        for (int k = 0; k < 144; k++)
            for (int i = 0; i < 64; i++) back[k] += L[i / 8][k / 12] * S[i] * L[i % 8][k % 12];
        memset(H, 0, sizeof H);
        hinge_hessian(2, 0.3, x, 1, H);
        unpack(4, H, P);
        const double big = largest(P, 144);
        for (int k = 0; k < 144; k++) CHECK_NEAR(P[k], back[k], 1e-9 * big);
    }
}

TEST(the_branch_of_the_angle_is_the_one_nearest_to_rest)
{
    abut_rng r = { 10 };
    double x[12];
    hinge_at(&r, -3, x);    /* beyond pi, seen from 2.5 */
    CHECK_NEAR(hinge_energy(1, 2.5, x), (2 * PI - 5.5) * (2 * PI - 5.5), 1e-12);
    check_derivatives(&HINGE, 1, 2.5, x, 1e-5, 1e-8);
    CHECK_NEAR(hinge_energy(1, 0, x), 9, 1e-12);
    for (int i = 0; i < 50; i++) {      /* and then no rest angle sees more than half a turn */
        hinge_at(&r, abut_rng_real(&r, -PI, PI), x);
        CHECK(hinge_energy(1, abut_rng_real(&r, -PI, PI), x) <= PI * PI * (1 + 1e-12));
    }
}

TEST(a_wing_without_area_is_infinite_never_nan)
{
    const double flat[12] = { 0, 0, 0, 1, 0, 0, 0.3, 0, 0, 0.5, -1, 0 }, point[12] = { 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, -1, 0 },
                 apex[12] = { 0, 0, 0, 1, 0, 0, 0, 0, 0, 0.5, -1, 0 }, thin[12] = { 0, 0, 0, 1, 0, 0, 0.3, 1e-14, 0, 0.5, -1, 0 },
                 nan[12] = { 0, 0, 0, 1, 0, 0, 0.3, NAN, 0, 0.5, -1, 0 },
                 low[12] = { 0, 0, 0, 1, 0, 0, 0.3, 1e-12, 0, 0.5, -1, 0 };
    const double *const bad[] = { flat, point, apex, thin, nan };
    double H[ABUT_PACKED] = { 0 }, g[12];
    for (int i = 0; i < 5; i++) {
        CHECK(hinge_energy(1, 0, bad[i]) == INFINITY);
        CHECK(isnan(abut_hinge_theta(bad[i], NULL)));
        hinge_gradient(1, 0, bad[i], g);
        hinge_hessian(1, 0, bad[i], 1, H);
        for (int k = 0; k < 12; k++) CHECK(isfinite(g[k]));
        for (int k = 0; k < ABUT_PACKED; k++) CHECK(isfinite(H[k]));
    }
    CHECK(hinge_energy(1, 0, low) == 0);
}

/* Energy of the hinges of a sheet bent onto a cylinder, over (D c^2/2) area, its middle part.  mesh 0: equilateral triangles,
 * 1: squares with alternating diagonals, 2: with parallel ones; the axis lies at an angle in the sheet. */
enum { ROWS = 60, MARGIN = 5 };
static double cylinder_ratio(int mesh, double degrees)
{
    const double L = 0.02, curvature = 0.1, c = cos(degrees * PI / 180), s = sin(degrees * PI / 180);
    const double height = mesh == 0 ? L * sqrt(0.75) : L;
    double energy = 0, area = 0;
    /* every edge between two triangles of the strip, by what is left and right of it: i along, j across */
#define NODE(i, j) { L * ((i) + (mesh == 0 && (j) % 2 ? 0.5 : 0.0)), height * (j) }
    for (int j = MARGIN; j < ROWS - MARGIN; j++)
        for (int i = MARGIN; i < ROWS - MARGIN; i++) {
            const int odd = mesh == 0 ? j % 2 : mesh == 1 ? (i + j) % 2 : 0;
            /* the quad's diagonal from (i + 1 - up, j) to (i + up, j + 1) */
            const int up = mesh == 0 ? odd : !odd;
            const double a[2] = NODE(i, j), b[2] = NODE(i + 1, j), d[2] = NODE(i + 1, j + 1), e[2] = NODE(i, j + 1);
            const double *diag[4] = { up ? a : b, up ? d : e, up ? e : a, up ? b : d };
            /* the bottom edge: the triangle above it, and that of the quad below, whose diagonal may run either way */
            const int under = mesh == 0 ? !odd : mesh == 1 ? odd : 1;   /* quad (i, j - 1): 1 when its diagonal is / */
            const double p[2] = NODE(i, j - 1), q[2] = NODE(i + 1, j - 1);
            const double *bottom[4] = { a, b, up ? d : e, under ? p : q };
            /* the left edge: this quad's triangle there, and that of the quad to the left */
            const int left = mesh == 1 ? odd : up;
            const double f[2] = NODE(i - 1, j), h[2] = NODE(i - 1, j + 1);
            const double *side[4] = { e, a, up ? d : b, left ? f : h };
            const double *const *const edge[3] = { diag, bottom, side };
            for (int k = 0; k < 3; k++) {
                double x[12];
                const double *const *n = edge[k];
                for (int v = 0; v < 4; v++) {   /* along the circle and along the axis */
                    const double turn = curvature * (c * n[v][0] + s * n[v][1]), axis = -s * n[v][0] + c * n[v][1];
                    abut_v3_put(x + 3 * v, abut_v3(sin(turn) / curvature, axis, (1 - cos(turn)) / curvature));
                }
                const double ex = n[1][0] - n[0][0], ey = n[1][1] - n[0][1];
                const double wings = 0.5 * (fabs(ex * (n[2][1] - n[0][1]) - ey * (n[2][0] - n[0][0])) +
                                            fabs(ex * (n[3][1] - n[0][1]) - ey * (n[3][0] - n[0][0])));
                energy += hinge_energy(abut_hinge_stiffness(1, 0, 1, hypot(ex, ey), wings, 0), 0, x);
            }
            area += L * height;
        }
#undef NODE
    return energy / (1. / 12 * curvature * curvature / 2 * area);
}

TEST(cylinders_have_the_energies_of_the_calibration_table)
{
    for (int k = 0; k <= 6; k++) CHECK_NEAR(cylinder_ratio(0, 15 * k), 3, 0.03 * 3);
    CHECK_NEAR(cylinder_ratio(1, 0), 3, 0.03 * 3);
    CHECK_NEAR(cylinder_ratio(1, 22.5), 3.73, 0.03 * 3.73);
    CHECK_NEAR(cylinder_ratio(1, 45), 4.49, 0.03 * 4.49);
    CHECK_NEAR(cylinder_ratio(2, 0), 3, 0.03 * 3);
    CHECK_NEAR(cylinder_ratio(2, 22.5), 6.6, 0.03 * 6.6);
    CHECK_NEAR(cylinder_ratio(2, 45), 9, 0.03 * 9);
    CHECK_NEAR(cylinder_ratio(2, 112.5), 2.4, 0.03 * 2.4);
    CHECK_NEAR(cylinder_ratio(2, 135), 3, 0.03 * 3);
}

/* ---- what hinges amount to ---- */

/* A surface z = x.K x / 2 with a ripple: nodes of the other kind are `off` higher. */
typedef struct surface {
    double K[3], off;   /* xx, xy, yy, 1/m; m */
} surface;

static void lift(const surface *s, double x, double y, int other, double p[3])
{
    p[0] = x, p[1] = y, p[2] = 0.5 * (s->K[0] * x * x + 2 * s->K[1] * x * y + s->K[2] * y * y) + (other ? s->off : 0);
}

/* Energy of a hinge with flat corners c[8] (edge, then wings), of which those in `other` are ripples. */
static double hinge_on(const surface *s, const double c[8], int other, double young, double nu, double thick, int plate)
{
    double x[12], e2 = 0, area = 0;
    for (int p = 0; p < 4; p++) lift(s, c[2 * p], c[2 * p + 1], other >> p & 1, x + 3 * p);
    const double e[2] = { c[2] - c[0], c[3] - c[1] };
    e2 = e[0] * e[0] + e[1] * e[1];
    for (int w = 2; w < 4; w++) area += 0.5 * fabs(e[0] * (c[2 * w + 1] - c[1]) - e[1] * (c[2 * w] - c[0]));
    return hinge_energy(abut_hinge_stiffness(young, nu, thick, sqrt(e2), area, plate), 0, x);
}

/* Curvatures so small that angles are their sines. */
static surface bent_surface(abut_rng *r)
{
    return (surface){ .K = { 1e-5 * abut_rng_real(r, -1, 1), 1e-5 * abut_rng_real(r, -1, 1), 1e-5 * abut_rng_real(r, -1, 1) } };
}

/* The three hinges of a cell, anywhere on the surface, against a plate with three times the modulus and -1/3 for nu. */
TEST(equilateral_triangles_are_a_plate_of_poisson_ratio_minus_a_third)
{
    abut_rng r = { 21 };
    for (int k = 0; k < 50; k++) {
        const double L = 0.3, h = L * sqrt(0.75), nu = abut_rng_real(&r, 0, 0.49), plain = 1e6 / (1 - nu * nu) / 12;
        const double turn = abut_rng_real(&r, 0, 3);
        const surface s = bent_surface(&r);
        const int plate = k % 2;
        double sum = 0;
        for (int d = 0; d < 3; d++) {
            const double a = turn + d * PI / 3, t[2] = { cos(a), sin(a) }, m[2] = { -t[1], t[0] };
            const double at[2] = { abut_rng_real(&r, -1, 1), abut_rng_real(&r, -1, 1) };
            double c[8];
            for (int i = 0; i < 2; i++) {
                c[i] = at[i] - 0.5 * L * t[i], c[2 + i] = at[i] + 0.5 * L * t[i];
                c[4 + i] = at[i] + h * m[i], c[6 + i] = at[i] - h * m[i];
            }
            sum += hinge_on(&s, c, 0, 1e6, nu, 1, plate);
        }
        const double T = s.K[0] + s.K[2], G = s.K[0] * s.K[2] - s.K[1] * s.K[1], D = plate ? plain : 3 * plain;
        const double density = 0.5 * D * (T * T - 2 * (1 + 1. / 3) * G);
        CHECK_NEAR(sum / (L * h), density, 1e-7 * density);
    }
}

/* Squares of side h whose diagonals alternate: nodes of eight sides and of four, of which the latter may give way. */
TEST(squares_with_alternating_diagonals_have_their_closed_form_too)
{
    abut_rng r = { 22 };
    for (int k = 0; k < 50; k++) {
        const double h = 0.2, nu = 0.3, D = 1e6 / (1 - nu * nu) / 12;
        const double c[4][8] = { { 0, 0, h, 0, 0, h, 0, -h }, { 0, 0, 0, h, -h, 0, h, 0 },   /* sides, from a node of four */
                                 { h, 0, 0, h, h, h, 0, 0 }, { -h, 0, 0, h, 0, 0, -h, h } };    /* between those of eight */
        static const int other[4] = { 1, 1, 12, 12 };
        surface s = bent_surface(&r);
        const double T = s.K[0] + s.K[2], stiff = 3 * (s.K[0] * s.K[0] + s.K[2] * s.K[2]) + 12 * s.K[1] * s.K[1];
        double sum[4];
        for (int way = 0; way < 4; way++) {
            const double give[4] = { 0, 1, 1.1, 0.9 };
            s.off = give[way] * T * h * h / 12;
            sum[way] = 0;
            for (int i = 0; i < 4; i++) sum[way] += (i < 2 ? 1 : 0.5) * hinge_on(&s, c[i], other[i], 1e6, nu, 1, 0) / (h * h);
        }
        CHECK_NEAR(sum[0], 0.5 * D * stiff, 1e-7 * 0.5 * D * stiff);
        CHECK_NEAR(sum[1], 0.5 * D * (stiff - 0.5 * T * T), 1e-7 * 0.5 * D * stiff);
        CHECK_NEAR(sum[2], sum[3], 1e-7 * 0.5 * D * stiff);
        CHECK(sum[2] > sum[1]);
    }
}

/* each beside others, in every place, one of them without a normal */
TEST(four_hinges_at_once_are_single_ones_whatever_the_company)
{
    abut_rng r = { 11 };
    for (int k = 0; k < 500; k++) {
        double x[ABUT_LANES][12], g[12];
        abut_lanes at[12], stiffness, rest, E, F[12], v[48];
        for (int l = 0; l < ABUT_LANES; l++) {
            for (int i = 0; i < 12; i++) x[l][i] = abut_rng_real(&r, -1, 1);
            if (abut_rng_below(&r, 8) == 0) memcpy(x[l] + 6, x[l], 3 * sizeof *x[l]);
            for (int i = 0; i < 12; i++) at[i][l] = x[l][i];
            stiffness[l] = abut_rng_real(&r, 0, 5);
            rest[l] = abut_rng_real(&r, -PI, PI);
        }
        abut_hinge_energy_lanes(&stiffness, &rest, at, &E);
        abut_hinge_gradient_lanes(&stiffness, &rest, at, F);
        abut_hinge_squares_lanes(&stiffness, &rest, at, v);
        for (int l = 0; l < ABUT_LANES; l++) {
            double H[ABUT_PACKED] = { 0 }, Hl[ABUT_PACKED] = { 0 }, vl[48];
            CHECK(E[l] == hinge_energy(stiffness[l], rest[l], x[l]));
            hinge_gradient(stiffness[l], rest[l], x[l], g);
            for (int i = 0; i < 12; i++) CHECK(F[i][l] == g[i]);
            for (int i = 0; i < 48; i++) vl[i] = v[i][l];
            abut_add_squares4(vl, Hl);
            hinge_hessian(stiffness[l], rest[l], x[l], 1, H);
            CHECK(!memcmp(H, Hl, sizeof H));
        }
    }
}
