/* Rates of convergence against a displacement that is known (linear elasticity, lambda = 1.2, mu = 0.8, on the unit cube):
 *     u = 0.1 (sin(pi x) cos y e^(z/2), cos(x + 2y) sin z, x y z e^(-x)),
 * prescribed on the boundary, with the body force that it needs.  The matrix is that of neo-Hookean tets at rest, which is linear
 * elasticity. */
#include "energy/elastic.h"
#include "energy/elastic_high.h"
#include "math/mat3.h"
#include "sparse/bsr.h"
#include "sparse/linear_solver.h"

#include "check.h"
#include "high_box.h"

static const double LAMBDA = 1.2, MU = 0.8, PI = 3.14159265358979323846;

/* u[3], G[3 i + j] = du_i/dx_j, and f[3] = -div sigma with all second derivatives written out. */
static void exact(const double x[3], double u[3], double G[9], double f[3])
{
    const double s = sin(PI * x[0]), c = cos(PI * x[0]), sy = sin(x[1]), cy = cos(x[1]), e = exp(x[2] / 2);
    const double sa = sin(x[0] + 2 * x[1]), ca = cos(x[0] + 2 * x[1]), sz = sin(x[2]), cz = cos(x[2]), d = exp(-x[0]);
    const double X = x[0], Y = x[1], Z = x[2];
    /* H[i][j][k] = d2 u_i / dx_j dx_k */
    double H[3][3][3] = { 0 };
    u[0] = s * cy * e, u[1] = ca * sz, u[2] = X * Y * Z * d;
    const double g[9] = { PI * c * cy * e, -s * sy * e, s * cy * e / 2, -sa * sz, -2 * sa * sz, ca * cz,
                          (1 - X) * Y * Z * d, X * Z * d, X * Y * d };
    H[0][0][0] = -PI * PI * s * cy * e, H[0][1][1] = -s * cy * e, H[0][2][2] = s * cy * e / 4;
    H[0][0][1] = -PI * c * sy * e, H[0][0][2] = PI * c * cy * e / 2, H[0][1][2] = -s * sy * e / 2;
    H[1][0][0] = -ca * sz, H[1][1][1] = -4 * ca * sz, H[1][2][2] = -ca * sz;
    H[1][0][1] = -2 * ca * sz, H[1][0][2] = -sa * cz, H[1][1][2] = -2 * sa * cz;
    H[2][0][0] = (X - 2) * Y * Z * d, H[2][0][1] = (1 - X) * Z * d, H[2][0][2] = (1 - X) * Y * d, H[2][1][2] = X * d;
    for (int i = 0; i < 3; i++) H[i][1][0] = H[i][0][1], H[i][2][0] = H[i][0][2], H[i][2][1] = H[i][1][2];
    for (int i = 0; i < 3; i++) {
        double grad_div = 0, laplace = 0;
        for (int k = 0; k < 3; k++) grad_div += H[k][k][i], laplace += H[i][k][k];
        f[i] = -0.1 * ((LAMBDA + MU) * grad_div + MU * laplace);
        u[i] *= 0.1;
    }
    for (int k = 0; k < 9; k++) G[k] = 0.1 * g[k];
}

typedef struct problem {
    high_box box;
    int order, nodes, degree;       /* of quadrature */
    int32_t *node, *row, rows;      /* [nt * nodes]; [nv] unknown of a node, -1 on the boundary */
    double *val, *u;                /* element matrices; [3 nv] */
} problem;

/* The cube onto itself, each of its faces onto itself: shapes of tets of that order interpolate this map. */
static void bend(double *x)
{
    const double by = sin(PI * x[0]) * sin(PI * x[1]) * sin(PI * x[2]);
    x[0] += 0.05 * by, x[1] -= 0.04 * by, x[2] += 0.045 * by;
}

static void open_problem(problem *p, int order, int cells, int curved)
{
    abut_err err = { 0 };
    *p = (problem){ .order = order, .nodes = abut_tet_nodes(order), .degree = 2 * order + 1 + (curved ? order : 0) };
    high_box_build(&p->box, cells, 1.0 / cells, 0, 1, 1, 0, order);
    for (int32_t i = 0; i < p->box.mesh.nv && curved; i++) bend(p->box.mesh.x + 3 * i);
    kuhn_box *k = &p->box.straight;
    k->mat_model[0] = ABUT_NEO_HOOKEAN;
    k->young[0] = MU * (3 * LAMBDA + 2 * MU) / (LAMBDA + MU), k->poisson[0] = LAMBDA / (2 * (LAMBDA + MU));
    const int32_t degrees[2] = { p->degree, 0 };
    const size_t nt = (size_t)p->box.model.nt, nodes = (size_t)p->nodes;
    p->box.model.mat_quadrature = degrees;
    p->node = malloc(nt * nodes * sizeof *p->node);
    p->row = malloc((size_t)p->box.model.nv * sizeof *p->row);
    p->u = calloc(3 * (size_t)p->box.model.nv, sizeof *p->u);
    p->val = malloc(nt * abut_packed_size(p->nodes) * sizeof *p->val);
    for (int32_t t = 0; t < p->box.model.nt; t++) abut_mesh_tet_nodes(&p->box.mesh, t, p->node + (size_t)t * nodes);
    if (order == 1) {
        abut_elastic e;
        CHECK(!abut_elastic_init(&e, &p->box.model, &err));
        abut_elastic_hessian(&e, p->box.model.X, 1, p->val);
        abut_elastic_clear(&e);
    } else {
        abut_elastic_high e;
        CHECK(!abut_elastic_high_init(&e, &p->box.model, order, NULL, &err));
        abut_elastic_high_hessian(&e, p->box.model.X, 1, 0, nt, p->val);
        abut_elastic_high_clear(&e);
    }
    for (int32_t i = 0; i < p->box.model.nv; i++) {
        const double *x = p->box.model.X + 3 * i;
        int boundary = 0;
        double G[9], f[3];
        for (int d = 0; d < 3; d++) boundary |= x[d] < 1e-9 || x[d] > 1 - 1e-9;
        p->row[i] = boundary ? -1 : p->rows++;
        if (boundary) exact(x, p->u + 3 * i, G, f);
    }
}

static void close_problem(problem *p)
{
    high_box_free(&p->box);
    free(p->node), free(p->row), free(p->u), free(p->val);
}

/* b[3 nv] = load of the body force less the matrix times what is prescribed */
static void right_side(const problem *p, double *b)
{
    abut_quadrature q;
    abut_err err = { 0 };
    CHECK(!abut_quadrature_tet(p->degree, &q, &err));
    for (int32_t t = 0; t < p->box.model.nt; t++) {
        const int32_t *node = p->node + (size_t)t * (size_t)p->nodes;
        const double *H = p->val + (size_t)t * abut_packed_size(p->nodes);
        double X[35][3], phi[35], x[3], J[9], u[3], G[9], f[3];
        abut_mesh_tet_places(&p->box.mesh, t, X);
        for (int i = 0; i < q.n; i++) {
            const double w = q.w[i] * abut_tet_point(p->order, (const double(*)[3])X, q.L + 4 * i, x, J) / 6;
            abut_tet_basis(p->order, q.L + 4 * i, phi, NULL);
            exact(x, u, G, f);
            for (int a = 0; a < p->nodes; a++)
                for (int d = 0; d < 3; d++) b[3 * node[a] + d] += w * phi[a] * f[d];
        }
        for (int a = 0; a < p->nodes; a++)
            for (int c = a; c < p->nodes; c++, H += 9)
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++) {
                        b[3 * node[a] + i] -= H[3 * i + j] * p->u[3 * node[c] + j];
                        if (a != c) b[3 * node[c] + j] -= H[3 * i + j] * p->u[3 * node[a] + i];
                    }
    }
    abut_quadrature_clear(&q);
}

static void solve(problem *p)
{
    const size_t n = (size_t)p->box.model.nt * (size_t)p->nodes;
    int32_t *row = malloc(n * sizeof *row);
    double *b = calloc(3 * (size_t)p->box.model.nv, sizeof *b), *rhs = malloc(3 * (size_t)(p->rows + 1) * sizeof *rhs);
    abut_err err = { 0 };
    abut_bsr A = { 0 };
    abut_linear_solver c = { 0 };
    for (size_t i = 0; i < n; i++) row[i] = p->row[p->node[i]];
    const abut_elements set = { .corners = p->nodes, .n = (size_t)p->box.model.nt, .row = row, .val = p->val };
    right_side(p, b);
    for (int32_t i = 0; i < 3 * p->box.model.nv; i++)
        if (p->row[i / 3] >= 0) rhs[3 * p->row[i / 3] + i % 3] = b[i];
    if (p->rows) {
        CHECK(!abut_bsr_pattern(&A, p->rows, &set, 1, &err));
        abut_bsr_assemble(&A, NULL, &set, 1);
        const abut_operator op = { .matrix = &A };
        CHECK(!abut_linear_solver_init(&c, &abut_linear_cholmod, 1, &err));
        CHECK(!abut_linear_analyse(&c, &op, NULL, &err));
        CHECK(!abut_linear_factor(&c, &op, ABUT_DOUBLE, &err));
        CHECK(!abut_linear_solve(&c, &op, rhs, NULL, rhs, &err));
    }
    for (int32_t i = 0; i < 3 * p->box.model.nv; i++)
        if (p->row[i / 3] >= 0) p->u[i] = rhs[3 * p->row[i / 3] + i % 3];
    abut_linear_solver_clear(&c);
    abut_bsr_clear(&A);
    free(row), free(b), free(rhs);
}

/* L2 norms of the error of u and of its gradient. */
static void errors(const problem *p, double out[2])
{
    abut_quadrature q;
    abut_err err = { 0 };
    CHECK(!abut_quadrature_tet(p->degree + 4, &q, &err));
    out[0] = out[1] = 0;
    for (int32_t t = 0; t < p->box.model.nt; t++) {
        const int32_t *node = p->node + (size_t)t * (size_t)p->nodes;
        double X[35][3], U[35][3], x[3], J[9], Ji[9], u[3], D[9], want[3], G[9], f[3];
        abut_mesh_tet_places(&p->box.mesh, t, X);
        for (int a = 0; a < p->nodes; a++) memcpy(U[a], p->u + 3 * node[a], sizeof U[a]);
        for (int i = 0; i < q.n; i++) {
            const double w = q.w[i] * abut_tet_point(p->order, (const double(*)[3])X, q.L + 4 * i, x, J) / 6;
            (void)abut_tet_point(p->order, (const double(*)[3])U, q.L + 4 * i, u, D);
            (void)abut_m3_inverse(Ji, J);
            exact(x, want, G, f);
            for (int d = 0; d < 3; d++) {
                out[0] += w * (u[d] - want[d]) * (u[d] - want[d]);
                for (int j = 0; j < 3; j++) {
                    const double g = D[3 * d] * Ji[j] + D[3 * d + 1] * Ji[3 + j] + D[3 * d + 2] * Ji[6 + j] - G[3 * d + j];
                    out[1] += w * g * g;
                }
            }
        }
    }
    out[0] = sqrt(out[0]), out[1] = sqrt(out[1]);
    abut_quadrature_clear(&q);
}

/* Errors on a mesh of that many cells. */
static void errors_of(int order, int cells, int curved, double e[2])
{
    problem p;
    open_problem(&p, order, cells, curved);
    solve(&p);
    errors(&p, e);
    close_problem(&p);
}

TEST(t7_errors_fall_by_the_rates_of_the_order_to_the_digits_of_the_table)
{
    /* cells, error, error of the gradient; the third of each on demand */
    static const struct { int cells; double u, gradient; } want[4][3] = {
        { { 4, 5.251e-3, 6.846e-2 }, { 8, 1.343e-3, 3.456e-2 }, { 16, 3.379e-4, 1.732e-2 } },
        { { 2, 2.160e-3, 2.790e-2 }, { 4, 2.664e-4, 7.227e-3 }, { 8, 3.278e-5, 1.817e-3 } },
        { { 1, 3.848e-3, 3.769e-2 }, { 2, 2.036e-4, 4.034e-3 }, { 4, 1.257e-5, 5.071e-4 } },
        { { 1, 2.343e-4, 3.753e-3 }, { 2, 1.771e-5, 4.410e-4 }, { 4, 5.718e-7, 2.827e-5 } },
    };
    const int levels = getenv("ABUT_LONG") ? 3 : 2;
    for (int k = 1; k <= 4; k++) {
        double before[2] = { 0, 0 };
        for (int level = 0; level < levels; level++) {
            double e[2];
            errors_of(k, want[k - 1][level].cells, 0, e);
            printf("# P%d, %d cells: %.4g, gradient %.4g, rates %.2f %.2f\n", k, want[k - 1][level].cells, e[0], e[1],
                   level ? log2(before[0] / e[0]) : 0, level ? log2(before[1] / e[1]) : 0);
            CHECK_NEAR(e[0] / want[k - 1][level].u, 1, 0.01);
            CHECK_NEAR(e[1] / want[k - 1][level].gradient, 1, 0.01);
            memcpy(before, e, sizeof e);
        }
    }
}

/* On curved tets the rates are those of the order, too: k + 1 of the displacement, k of its gradient.  They are reached from
 * below; on demand meshes are twice as fine. */
TEST(t7_errors_fall_by_the_same_rates_on_curved_tets)
{
    const int fine = getenv("ABUT_LONG") != NULL;
    for (int k = 1; k <= 4 - fine; k++) {
        double e[2][2];
        const int cells = (k == 1 ? 4 : 2) * (1 + fine);
        errors_of(k, cells, 1, e[0]);
        errors_of(k, 2 * cells, 1, e[1]);
        printf("# P%d, %d cells, curved: %.4g, gradient %.4g, rates %.2f %.2f\n", k, 2 * cells, e[1][0], e[1][1],
               log2(e[0][0] / e[1][0]), log2(e[0][1] / e[1][1]));
        for (int i = 0; i < 2; i++) CHECK_NEAR(log2(e[0][i] / e[1][i]), k + 1 - i, fine ? 0.1 : 0.2);
    }
}
