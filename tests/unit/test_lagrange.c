/* Lagrange bases against what defines them, differences and integrals. */
#include "check.h"

#include "base/rng.h"
#include "geom/lagrange.h"
#include "geom/quadrature.h"

static void random_point(abut_rng *r, int corners, double *L)
{
    L[0] = 1;
    for (int c = 1; c < corners; c++) L[c] = abut_rng_real(r, -0.3, 0.8), L[0] -= L[c];
}

/* Values and gradients of the tet (corners 4) or triangle (3); gradients lie one after another. */
static void basis(int corners, int k, const double *L, double *phi, double *dphi)
{
    if (corners == 4) abut_tet_basis(k, L, phi, (double(*)[3])dphi);
    else abut_triangle_basis(k, L, phi, (double(*)[2])dphi);
}
static int nodes(int corners, int k) { return corners == 4 ? abut_tet_nodes(k) : abut_triangle_nodes(k); }
static const signed char *lattice(int corners, int k, int i)
{
    return corners == 4 ? abut_tet_lattice(k)[i] : abut_triangle_lattice(k)[i];
}

TEST(t2_a_basis_is_one_at_its_node_and_zero_at_the_others)
{
    for (int corners = 3; corners <= 4; corners++)
        for (int k = 1; k <= 4; k++)
            for (int j = 0; j < nodes(corners, k); j++) {
                double L[4], phi[35];
                int sum = 0;
                for (int c = 0; c < corners; c++) L[c] = lattice(corners, k, j)[c] / (double)k, sum += lattice(corners, k, j)[c];
                CHECK(sum == k);
                basis(corners, k, L, phi, NULL);
                for (int i = 0; i < nodes(corners, k); i++) CHECK_NEAR(phi[i], i == j, 1e-15);
            }
}

TEST(t2_bases_sum_to_one_and_reproduce_the_point)
{
    abut_rng r = { 2 };
    for (int n = 0; n < 400; n++) {
        const int corners = 3 + n % 2, k = 1 + n / 2 % 4;
        double L[4], phi[35], dphi[105], sum[4] = { 0 }, one = 0, dsum[3] = { 0 };
        random_point(&r, corners, L);
        basis(corners, k, L, phi, dphi);
        for (int i = 0; i < nodes(corners, k); i++) {
            one += phi[i];
            for (int c = 0; c < corners; c++) sum[c] += phi[i] * lattice(corners, k, i)[c] / k;
            for (int c = 0; c < corners - 1; c++) dsum[c] += dphi[(corners - 1) * i + c];
        }
        CHECK_NEAR(one, 1, 2e-14);
        for (int c = 0; c < corners; c++) CHECK_NEAR(sum[c], L[c], 2e-14);
        for (int c = 0; c < corners - 1; c++) CHECK_NEAR(dsum[c], 0, 2e-13);
    }
}

TEST(t2_gradients_are_those_of_differences)
{
    abut_rng r = { 3 };
    const double h = 1e-5;
    for (int n = 0; n < 80; n++) {
        const int corners = 3 + n % 2, k = 1 + n / 2 % 4, m = nodes(corners, k);
        double L[4], dphi[105], lo[35], hi[35];
        random_point(&r, corners, L);
        basis(corners, k, L, NULL, dphi);
        for (int c = 1; c < corners; c++) {
            double p[4], q[4];
            memcpy(p, L, sizeof p), memcpy(q, L, sizeof q);
            p[c] += h, p[0] -= h, q[c] -= h, q[0] += h;
            basis(corners, k, p, hi, NULL), basis(corners, k, q, lo, NULL);
            for (int i = 0; i < m; i++) CHECK_NEAR(dphi[(corners - 1) * i + c - 1], (hi[i] - lo[i]) / (2 * h), 1e-7);
        }
    }
}

/* The tuple of a node, sorted down: the class of nodes that integrals depend on. */
static int class_of(const signed char *a)
{
    int n[5] = { 0 }, s = 0;
    for (int c = 0; c < 4; c++) n[(int)a[c]]++;
    for (int v = 4; v >= 0; v--)
        for (int c = 0; c < n[v]; c++) s = 10 * s + v;
    return s;
}

TEST(t2_integrals_are_those_of_the_table)
{
    const struct { int k, tuple; double mean, mass; } row[] = {
        { 1, 1000, 1.0 / 4, 1.0 / 10 },    { 2, 2000, -1.0 / 20, 1.0 / 70 },  { 2, 1100, 1.0 / 5, 8.0 / 105 },
        { 3, 3000, 1.0 / 40, 1.0 / 280 },  { 3, 2100, 0, 27.0 / 1120 },       { 3, 1110, 9.0 / 40, 27.0 / 280 },
        { 4, 4000, -1.0 / 84, 5.0 / 4158 }, { 4, 3100, 4.0 / 105, 64.0 / 6237 }, { 4, 2200, -1.0 / 35, 248.0 / 17325 },
        { 4, 2110, 4.0 / 105, 2432.0 / 51975 }, { 4, 1111, 32.0 / 105, 8192.0 / 51975 },
    };
    const double off[5] = { 0, 1.0 / 20, 1.0 / 420, 1.0 / 2240, 61.0 / 623700 };
    int seen = 0;
    for (int k = 1; k <= 4; k++) {
        abut_quadrature q;
        abut_err err = { 0 };
        CHECK(!abut_quadrature_tet(2 * k, &q, &err));
        double mean[35] = { 0 }, mass[35] = { 0 }, m01 = 0, phi[35];
        for (int i = 0; i < q.n; i++) {
            abut_tet_basis(k, q.L + 4 * i, phi, NULL);
            for (int n = 0; n < abut_tet_nodes(k); n++) mean[n] += q.w[i] * phi[n], mass[n] += q.w[i] * phi[n] * phi[n];
            m01 += q.w[i] * phi[0] * phi[1];
        }
        CHECK_NEAR(m01, off[k], 1e-15);
        for (int n = 0; n < abut_tet_nodes(k); n++)
            for (size_t r = 0; r < sizeof row / sizeof *row; r++)
                if (row[r].k == k && row[r].tuple == class_of(abut_tet_lattice(k)[n])) {
                    CHECK_NEAR(mean[n], row[r].mean, 1e-15);
                    CHECK_NEAR(mass[n], row[r].mass, 1e-15);
                    seen++;
                }
        abut_quadrature_clear(&q);
    }
    CHECK(seen == 4 + 10 + 20 + 35);
}

TEST(a_face_has_the_bases_of_its_triangle)
{
    abut_rng r = { 5 };
    for (int k = 1; k <= 4; k++)
        for (int f = 0; f < 4; f++) {
            int node[15];
            double T[3], L[4] = { 0 }, tri[15], tet[35];
            abut_tet_face_nodes(k, f, node);
            random_point(&r, 3, T);
            for (int c = 0; c < 3; c++) L[abut_tet_face[f][c]] = T[c];
            abut_triangle_basis(k, T, tri, NULL);
            abut_tet_basis(k, L, tet, NULL);
            double on = 0, all = 0;
            for (int i = 0; i < abut_triangle_nodes(k); i++) {
                CHECK_NEAR(tri[i], tet[node[i]], 1e-14);
                on += fabs(tri[i]);
            }
            for (int i = 0; i < abut_tet_nodes(k); i++) all += fabs(tet[i]);
            CHECK_NEAR(on, all, 1e-13);     /* the other bases are zero there */
        }
}

TEST(a_point_of_a_curved_tet_has_the_jacobian_of_differences)
{
    abut_rng r = { 7 };
    const double h = 1e-5;
    for (int k = 1; k <= 4; k++) {
        double X[35][3], L[4] = { 0.3, 0.2, 0.4, 0.1 }, x[3], J[9], lo[3], hi[3];
        for (int i = 0; i < abut_tet_nodes(k); i++)
            for (int d = 0; d < 3; d++) X[i][d] = abut_tet_lattice(k)[i][d + 1] / (double)k + abut_rng_real(&r, -0.02, 0.02);
        const double det = abut_tet_point(k, (const double(*)[3])X, L, x, J);
        CHECK(det > 0.2 && det < 2);
        for (int c = 0; c < 3; c++) {
            double p[4], q[4];
            memcpy(p, L, sizeof p), memcpy(q, L, sizeof q);
            p[c + 1] += h, p[0] -= h, q[c + 1] -= h, q[0] += h;
            abut_tet_point(k, (const double(*)[3])X, p, hi, NULL), abut_tet_point(k, (const double(*)[3])X, q, lo, NULL);
            for (int d = 0; d < 3; d++) CHECK_NEAR(J[3 * d + c], (hi[d] - lo[d]) / (2 * h), 1e-8);
        }
        double mid[3];
        const double centre[4] = { 0.25, 0.25, 0.25, 0.25 };
        abut_tet_point(1, (const double(*)[3])X, centre, mid, NULL);
        for (int d = 0; d < 3; d++) CHECK_NEAR(mid[d], (X[0][d] + X[1][d] + X[2][d] + X[3][d]) / 4, 1e-15);
    }
}

/* x_d of a polynomial of total degree `degree` that is none of a lower one. */
static double curved(int degree, int d, const double *p)
{
    double v = p[d];
    for (int k = 2; k <= degree; k++) v += 0.1 * pow(p[0] - 0.3 * p[(d + 1) % 3] + 0.2, k) * (k == degree || k == 2);
    return v;
}

TEST(the_least_order_of_a_tet_is_the_degree_of_its_map_whatever_its_size_and_place)
{
    for (int order = 1; order <= 4; order++)
        for (int degree = 1; degree <= order; degree++)
            for (int far = 0; far < 3; far++) {
                const double size = far == 2 ? 1e-3 : 1;
                double X[35][3];
                for (int i = 0; i < abut_tet_nodes(order); i++) {
                    double p[3];
                    for (int d = 0; d < 3; d++) p[d] = abut_tet_lattice(order)[i][d + 1] / (double)order;
                    for (int d = 0; d < 3; d++) X[i][d] = size * (curved(degree, d, p) + (far == 1 ? 10 : 0));
                }
                CHECK(abut_tet_least_order(order, (const double(*)[3])X) == degree);
                if (order == 1) continue;
                /* one node off by more than rounding: of the full order */
                X[abut_tet_nodes(order) - 1][1] += 1e-9 * size;
                CHECK(abut_tet_least_order(order, (const double(*)[3])X) == order);
            }
}
