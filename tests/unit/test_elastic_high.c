/* Elements of order 1 to 4: against differences, invariance, closed forms, and elements of order 1. */
#include "base/par.h"
#include "energy/elastic.h"
#include "energy/elastic_high.h"
#include "math/mat3.h"
#include "sparse/packed_inline.h"

#include "check.h"
#include "elastic_gradient.h"
#include "high_box.h"
#include "mesh/surface.h"


/* rest places under x -> A x + b, then moved at random */
static double *moved(const abut_model *m, const double A[9], double jitter, uint64_t seed)
{
    abut_rng r = { seed };
    double *x = malloc(sizeof *x * 3 * (size_t)m->nv);
    for (int32_t i = 0; i < m->nv; i++)
        for (int d = 0; d < 3; d++)
            x[3 * i + d] = A[3 * d] * m->X[3 * i] + A[3 * d + 1] * m->X[3 * i + 1] + A[3 * d + 2] * m->X[3 * i + 2] + d +
                           abut_rng_real(&r, -jitter, jitter);
    return x;
}

static const double SHEARED[9] = { 1.1, 0.2, 0, -0.1, 0.9, 0.1, 0, 0.05, 1.05 };

typedef struct world {
    high_box box;
    abut_elastic_high e;
    abut_arena scratch;
    double *f;
} world;

static void open_world(world *w, int cells, int nm, int g, int k)
{
    *w = (world){ 0 };
    high_box_build(&w->box, cells, 0.1, 0.15, nm, g, g > 1 ? 0.02 : 0, k);
    abut_err err = { 0 };
    if (abut_elastic_high_init(&w->e, &w->box.model, k, NULL, &err)) printf("# %s\n", err.msg);
    CHECK(w->e.n == w->box.model.nt);
    w->f = malloc(3 * sizeof *w->f * (size_t)w->e.n * (size_t)w->e.nodes);
}

static void close_world(world *w)
{
    abut_elastic_high_clear(&w->e);
    high_box_free(&w->box);
    abut_arena_clear(&w->scratch);
    free(w->f);
}

static double energy(world *w, const double *x)
{
    double E = NAN;
    CHECK(!abut_elastic_high_evaluate(&w->e, x, &E, w->f, &w->scratch, NULL));
    return E;
}

static void gradient(world *w, const double *x, double *g)
{
    memset(g, 0, 3 * (size_t)w->box.model.nv * sizeof *g);
    (void)energy(w, x);
    abut_elastic_high_gather(&w->e, w->f, 1, g);
}

/* Sum over the tets of volume times lambda + mu, J: the unit of energies of strain 1. */
static double stiffness(const world *w)
{
    const abut_elastic_high *e = &w->e;
    double sum = 0;
    for (int32_t t = 0; t < e->n; t++) {
        const double *lame = e->laws.lame + 2 * e->model->tet_mat[e->first + t];
        sum += abut_elastic_high_volume(e, t) * (lame[0] + lame[1]);
    }
    return sum;
}

TEST(gradient_is_the_derivative_of_the_energy_for_all_orders_and_materials)
{
    for (int k = 2; k <= 4; k++)
        for (int g = 1; g <= k; g++) {
            world w;
            open_world(&w, 1, 6, g, k);
            const int32_t n3 = 3 * w.box.model.nv;
            double *x = moved(&w.box.model, SHEARED, 1e-3, 1), *grad = malloc(sizeof *grad * (size_t)n3), most = 0, size = 0;
            gradient(&w, x, grad);
            for (int32_t i = 0; i < n3; i += 1 + i % 3) {
                const double at = x[i], h = 3e-6;
                double sum = 0;
                const double weight[4] = { 8, -8, -1, 1 }, step[4] = { h, -h, 2 * h, -2 * h };
                for (int s = 0; s < 4; s++) x[i] = at + step[s], sum += weight[s] * energy(&w, x);
                x[i] = at;
                most = fmax(most, fabs(sum / (12 * h) - grad[i]));
                size = fmax(size, fabs(grad[i]));
            }
            if (!(most <= 1e-8 * size)) printf("# k %d g %d: %g of %g\n", k, g, most, size);
            CHECK(most <= 1e-8 * size);
            free(x), free(grad);
            close_world(&w);
        }
}

/* K u of one tet with a packed matrix. */
static void packed_product(int nodes, const double *H, const double *u, double *f)
{
    memset(f, 0, 3 * (size_t)nodes * sizeof *f);
    for (int a = 0; a < nodes; a++)
        for (int b = a; b < nodes; b++, H += 9)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    f[3 * a + i] += H[3 * i + j] * u[3 * b + j];
                    if (a != b) f[3 * b + j] += H[3 * i + j] * u[3 * a + i];
                }
}

/* Near rest no material has an eigenvalue that projection would change but for the rotation of a stress that is nearly zero: the
 * matrix is the derivative of the gradient. */
TEST(hessian_is_the_derivative_of_the_gradient_where_it_is_positive)
{
    const double larger[9] = { 1.1, 0, 0, 0, 1.1, 0, 0, 0, 1.1 };   /* under tension rotations cost energy */
    for (int k = 2; k <= 4; k++)
        for (int g = 1; g <= k; g += 1 + (k == 4)) {
            world w;
            open_world(&w, 1, 6, g, k);
            const int32_t n3 = 3 * w.box.model.nv;
            const int nodes = w.e.nodes;
            const size_t size = abut_packed_size(nodes), all = (size_t)n3 * sizeof(double);
            double *x = moved(&w.box.model, larger, 1e-4, 3), *p = moved(&w.box.model, larger, 1, 4), *y = malloc(all);
            double *up = malloc(all), *Kp = calloc((size_t)n3, sizeof *Kp), *H = malloc(size * sizeof *H * (size_t)w.e.n);
            double u[105], f[105], most = 0, largest = 0, *fd = calloc((size_t)n3, sizeof *fd);
            abut_elastic_high_hessian(&w.e, x, 1, 0, (size_t)w.e.n, H);
            for (int32_t t = 0; t < w.e.n; t++) {
                const int32_t *node = w.e.node + t * nodes;
                for (int i = 0; i < 3 * nodes; i++) u[i] = p[3 * node[i / 3] + i % 3];
                packed_product(nodes, H + size * (size_t)t, u, f);
                for (int i = 0; i < 3 * nodes; i++) Kp[3 * node[i / 3] + i % 3] += f[i];
            }
            const double h = 1e-5, weight[4] = { 8, -8, -1, 1 }, step[4] = { h, -h, 2 * h, -2 * h };
            for (int s = 0; s < 4; s++) {
                for (int32_t i = 0; i < n3; i++) y[i] = x[i] + step[s] * p[i];
                gradient(&w, y, up);
                for (int32_t i = 0; i < n3; i++) fd[i] += weight[s] * up[i] / (12 * h);
            }
            for (int32_t i = 0; i < n3; i++) most = fmax(most, fabs(fd[i] - Kp[i])), largest = fmax(largest, fabs(Kp[i]));
            if (!(most <= 1e-6 * largest)) printf("# k %d g %d: %g of %g\n", k, g, most, largest);
            CHECK(most <= 1e-6 * largest);
            free(x), free(p), free(y), free(up), free(Kp), free(H), free(fd);
            close_world(&w);
        }
}

TEST(products_with_the_moduli_are_those_with_the_packed_matrix)
{
    abut_rng r = { 8 };
    for (int k = 2; k <= 4; k++) {
        world w;
        open_world(&w, 1, 6, k, k);
        double *x = moved(&w.box.model, SHEARED, 1e-3, 5), H[9 * 35 * 18], u[105], f[105], g[105];
        for (int32_t t = 0; t < w.e.n; t++) {
            double *A = malloc(abut_elastic_high_moduli_size(&w.e, t) * sizeof *A), most = 0, size = 0;
            for (int i = 0; i < 3 * w.e.nodes; i++) u[i] = abut_rng_real(&r, -1, 1);
            abut_elastic_high_moduli(&w.e, t, x, 0.5, A);
            abut_elastic_high_pack(&w.e, t, A, H);
            packed_product(w.e.nodes, H, u, f);
            abut_elastic_high_product(&w.e, t, A, u, g);
            for (int i = 0; i < 3 * w.e.nodes; i++) most = fmax(most, fabs(f[i] - g[i])), size = fmax(size, fabs(f[i]));
            CHECK_NEAR(most, 0, 1e-12 * size);
            free(A);
        }
        free(x);
        close_world(&w);
    }
}

/* Cholesky of D + shift I, [n * n]; 0: a pivot is not positive. */
static int definite(double *D, int n, double shift)
{
    for (int j = 0; j < n; j++) {
        double *row = D + n * j, pivot = row[j] + shift;
        for (int k = 0; k < j; k++) pivot -= row[k] * row[k];
        if (!(pivot > 0)) return 0;
        row[j] = sqrt(pivot);
        for (int i = j + 1; i < n; i++) {
            double v = D[n * i + j];
            for (int k = 0; k < j; k++) v -= D[n * i + k] * row[k];
            D[n * i + j] = v / row[j];
        }
    }
    return 1;
}

TEST(matrices_are_semidefinite_wherever_materials_are_not)
{
    const double squeezed[9] = { 0.7, 0.2, 0, -0.3, 0.6, 0.1, 0, 0.05, 0.8 };
    for (int k = 2; k <= 4; k++) {
        world w;
        open_world(&w, 1, 6, 2, k);
        const int n = 3 * w.e.nodes;
        double *x = moved(&w.box.model, squeezed, 5e-4, 6), H[9 * 35 * 18], *D = malloc(sizeof *D * (size_t)(n * n));
        CHECK(energy(&w, x) < INFINITY);
        for (int32_t t = 0; t < w.e.n; t++) {
            double trace = 0;
            const double *B = H;
            abut_elastic_high_hessian(&w.e, x, 1, (size_t)t, (size_t)t + 1, H);
            for (int a = 0; a < w.e.nodes; a++)
                for (int b = a; b < w.e.nodes; b++, B += 9)
                    for (int i = 0; i < 9; i++)
                        D[n * (3 * a + i / 3) + 3 * b + i % 3] = D[n * (3 * b + i % 3) + 3 * a + i / 3] = B[i];
            for (int i = 0; i < n; i++) trace += D[(n + 1) * i];
            CHECK(definite(D, n, 1e-12 * trace));
        }
        free(x), free(D);
        close_world(&w);
    }
}

TEST(t6_rest_has_no_energy_and_a_rigid_motion_none_to_speak_of)
{
    const double c = cos(1), s = sin(1), turned[9] = { c, -s, 0, s * 0.6, c * 0.6, -0.8, s * 0.8, c * 0.8, 0.6 };
    const double identity[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    for (int k = 2; k <= 4; k++)
        for (int g = 1; g <= k; g++) {
            world w;
            open_world(&w, 1, 5, g, k);     /* StVK and all before */
            const size_t n3 = 3 * (size_t)w.box.model.nv;
            double *x = moved(&w.box.model, turned, 0, 1), *y = moved(&w.box.model, identity, 0, 1);
            double *force = malloc(n3 * sizeof *force), most = 0;
            const double scale = stiffness(&w);
            memcpy(y, w.box.model.X, n3 * sizeof *y);
            CHECK_NEAR(energy(&w, y), 0, 1e-30 * scale);
            CHECK_NEAR(energy(&w, x), 0, 1e-12 * scale * 1e-3);
            gradient(&w, x, force);
            for (size_t i = 0; i < n3; i++) most = fmax(most, fabs(force[i]));
            CHECK_NEAR(most, 0, 1e-11 * scale / 0.1);     /* J over the edge of a cell */
            free(x), free(y), free(force);
            close_world(&w);
        }
}

/* Patch test: under linear displacement stress is constant, so that the forces on nodes inside vanish.  On curved tets this takes
 * exact integrals of det J J^-T dphi. */
TEST(t5_nodes_inside_feel_no_force_under_any_linear_displacement)
{
    for (int k = 2; k <= 4; k++)
        for (int g = 1; g <= k; g++) {
            world w;
            open_world(&w, 2, 1, g, k);     /* one material, neo-Hookean */
            const abut_model *m = &w.box.model;
            double *x = moved(m, SHEARED, 0, 1), *force = malloc(3 * sizeof *force * (size_t)m->nv), inside = 0, most = 0;
            uint8_t *surface = calloc((size_t)m->nv, 1);
            int64_t *face = NULL;
            int32_t faces = 0, n = 0, node[35];
            int of_face[15];
            CHECK(!abut_surface_faces(m->tet, m->nt, &face, &faces, NULL));
            for (int32_t i = 0; i < faces; i++) {
                abut_mesh_tet_nodes(&w.box.mesh, (int32_t)(face[i] / 4), node);
                abut_tet_face_nodes(k, (int)(face[i] % 4), of_face);
                for (int c = 0; c < abut_triangle_nodes(k); c++) surface[node[of_face[c]]] = 1;
            }
            gradient(&w, x, force);
            for (int32_t i = 0; i < 3 * m->nv; i++) {
                most = fmax(most, fabs(force[i]));
                if (!surface[i / 3]) inside = fmax(inside, fabs(force[i])), n++;
            }
            CHECK(n > 0 && most > 1);
            CHECK_NEAR(inside, 0, 1e-11 * most);
            free(x), free(force), free(surface), free(face);
            close_world(&w);
        }
}

/* With fibres, distances to volume 1 and to ranges of stretches, in every lane. */
TEST(a_linear_displacement_has_the_energy_and_stress_of_tets_of_order_1)
{
    const double fibre[6] = { 5e4, 0, 2e4, 0, 9e4, 0 }, volume[6] = { 0, 1e5, 0, 0, 0, 3e4 };
    const double stretch[18] = { 0, 0, 0, 2e5, 0.95, 1.05, 0, 0, 0, 0, 0, 0, 1e5, 0.9, 1.1, 0, 0, 0 };
    for (int k = 2; k <= 4; k++) {
        world w;
        abut_elastic e;
        open_world(&w, 1, 6, 1, k);
        abut_model *linear = &w.box.straight.model;
        double *d = malloc(3 * sizeof *d * (size_t)linear->nt), E = 0;
        for (int32_t t = 0; t < linear->nt; t++) d[3 * t] = 0.6, d[3 * t + 1] = 0, d[3 * t + 2] = 0.8;
        abut_model *both[2] = { linear, &w.box.model };
        for (int i = 0; i < 2; i++)
            both[i]->mat_fibre = fibre, both[i]->mat_volume = volume, both[i]->mat_stretch = stretch, both[i]->tet_fibre = d;
        abut_elastic_high_clear(&w.e);
        CHECK(!abut_elastic_high_init(&w.e, &w.box.model, k, NULL, NULL) && !abut_elastic_init(&e, linear, NULL));
        double *x = moved(&w.box.model, SHEARED, 0, 1);     /* corners come first */
        CHECK(!elastic_energy(&e, x, &E, &w.scratch, NULL));
        CHECK_NEAR(energy(&w, x), E, 1e-13 * E);
        for (int32_t t = 0; t < linear->nt; t++) {
            double sigma[9], stress, least, largest, F[9], mean[18];
            const double J = abut_elastic_stress(&e, x, t, sigma);
            CHECK_NEAR(abut_elastic_high_stress(&w.e, x, t, &stress, mean, mean + 9), J, 1e-13);
            CHECK_NEAR(stress, abut_von_mises(sigma), 1e-10 * fabs(stress));
            abut_elastic_high_stretch(&w.e, x, t, &least, &largest);
            (void)abut_elastic_deformation(&e, x, t, F);
            for (int c = 0; c < 9; c++) {
                CHECK_NEAR(mean[c], F[c], 1e-13);
                CHECK_NEAR(mean[9 + c], sigma[c], 1e-10 * fabs(stress));
            }
            CHECK(least > 0.8 && least < 1 && largest > 1 && largest < 1.3);
            CHECK(least * largest * largest >= abut_m3_det(F) && least * least * largest <= abut_m3_det(F));
        }
        free(x), free(d);
        abut_elastic_clear(&e);
        close_world(&w);
    }
}

TEST(fibres_of_higher_elements_have_the_derivatives_of_their_energy)
{
    const double fibre[6] = { 5e4, 3e4, 2e4, 1e4, 9e4, 2e4 }, larger[9] = { 1.1, 0, 0, 0, 1.1, 0, 0, 0, 1.1 };
    world w;
    open_world(&w, 1, 6, 2, 3);
    double *d = malloc(3 * sizeof *d * (size_t)w.e.n);
    for (int32_t t = 0; t < w.e.n; t++) d[3 * t] = 0.6, d[3 * t + 1] = 0, d[3 * t + 2] = 0.8;
    w.box.model.mat_fibre = fibre, w.box.model.tet_fibre = d;
    const size_t n3 = 3 * (size_t)w.box.model.nv, size = abut_packed_size(w.e.nodes);
    double *x = moved(&w.box.model, larger, 1e-4, 2), *p = moved(&w.box.model, larger, 1, 9), *g[2], *Kp = calloc(n3, sizeof *Kp);
    double *H = malloc(size * sizeof *H * (size_t)w.e.n), u[60], f[60], most = 0, largest = 0, E[2];
    const double h = 1e-6;
    for (int s = 0; s < 2; s++) {
        double *y = malloc(n3 * sizeof *y);
        g[s] = malloc(n3 * sizeof *y);
        for (size_t i = 0; i < n3; i++) y[i] = x[i] + (s ? -h : h) * p[i];
        gradient(&w, y, g[s]);
        E[s] = energy(&w, y);
        free(y);
    }
    abut_elastic_high_hessian(&w.e, x, 1, 0, (size_t)w.e.n, H);
    for (int32_t t = 0; t < w.e.n; t++) {
        const int32_t *node = w.e.node + t * w.e.nodes;
        for (int i = 0; i < 60; i++) u[i] = p[3 * node[i / 3] + i % 3];
        packed_product(w.e.nodes, H + size * (size_t)t, u, f);
        for (int i = 0; i < 60; i++) Kp[3 * node[i / 3] + i % 3] += f[i];
    }
    double slope = 0;
    for (size_t i = 0; i < n3; i++) {
        most = fmax(most, fabs((g[0][i] - g[1][i]) / (2 * h) - Kp[i])), largest = fmax(largest, fabs(Kp[i]));
        slope += 0.5 * (g[0][i] + g[1][i]) * p[i];
    }
    CHECK_NEAR(most, 0, 1e-6 * largest);
    CHECK_NEAR((E[0] - E[1]) / (2 * h), slope, 1e-5 * fabs(slope));
    free(x), free(p), free(g[0]), free(g[1]), free(Kp), free(H), free(d);
    close_world(&w);
}

/* A rest shape of a higher order than displacement: no energy at rest, energies that know their gradient, and (what those of
 * g <= k do not have) energy of a rotation. */
TEST(a_shape_beyond_the_order_of_displacement_is_at_rest_where_it_is_said_to_be)
{
    const double c = cos(0.5), s = sin(0.5), turned[9] = { c, -s, 0, s, c, 0, 0, 0, 1 };
    high_box b;
    abut_err err = { 0 };
    world w = { 0 };
    high_box_build(&b, 1, 0.1, 0, 1, 4, 0.03, 4);
    const int32_t nt = b.mesh.nt;
    double *X = malloc(sizeof *X * 105 * (size_t)nt), force[3] = { 0 };
    int32_t *order = malloc(sizeof *order * (size_t)nt), *first = malloc(sizeof *first * (size_t)nt);
    for (int32_t t = 0; t < nt; t++) {
        abut_mesh_tet_places(&b.mesh, t, (double(*)[3])(X + 105 * t));
        order[t] = 4, first[t] = 35 * t;
    }
    CHECK(!abut_mesh_set_order(&b.mesh, 2, &err));
    free(b.order), free(b.first), free(b.body);
    high_box_model(&b);
    b.model.geo_order = order, b.model.geo_first = first, b.model.geo_X = X, b.model.ngx = 35 * nt;
    w.box = b;
    CHECK(!abut_elastic_high_init(&w.e, &b.model, 2, NULL, &err));
    w.f = malloc(3 * sizeof *w.f * (size_t)nt * 10);
    double *x = moved(&b.model, turned, 0, 1), *g = malloc(3 * sizeof *g * (size_t)b.model.nv);
    CHECK(w.e.degree[0] == abut_degree_elastic(2, 4) && energy(&w, b.model.X) == 0);
    CHECK(energy(&w, x) > 1e-7 * stiffness(&w));
    gradient(&w, x, g);
    const double h = 1e-6, at = x[4];
    x[4] = at + h;
    const double up = energy(&w, x);
    x[4] = at - h;
    CHECK_NEAR((up - energy(&w, x)) / (2 * h), g[4], 1e-6 * fabs(g[4]));
    for (int32_t i = 0; i < 3 * b.model.nv; i++) force[i % 3] += g[i];
    for (int d = 0; d < 3; d++) CHECK_NEAR(force[d], 0, 1e-9 * fabs(g[4]));
    free(x), free(g), free(X), free(order), free(first);
    close_world(&w);
}

TEST(what_cannot_be_integrated_is_refused_by_name)
{
    high_box b;
    abut_elastic_high e;
    abut_err err = { 0 };
    high_box_build(&b, 1, 0.1, 0, 1, 2, 0.02, 3);
    const int32_t degrees[2] = { 4, 0 }, number[6] = { 10, 11, 12, 13, 14, 15 };
    b.model.mat_quadrature = degrees;
    CHECK(abut_elastic_high_init(&e, &b.model, 3, number, &err) == ABUT_E_FORMAT);
    CHECK(strstr(err.msg, "degree 4 for tet 10 of order 3 with a map of order 2, expected at least 5") && !e.node);
    b.model.mat_quadrature = NULL;
    int32_t node[35];
    abut_mesh_tet_nodes(&b.mesh, 4, node);
    for (int d = 0; d < 3; d++) b.mesh.x[3 * node[0] + d] += 2 * (b.mesh.x[3 * node[1] + d] - b.mesh.x[3 * node[0] + d]);
    CHECK(abut_elastic_high_init(&e, &b.model, 3, number, &err) == ABUT_E_GEOM && strstr(err.msg, "det J"));
    high_box_free(&b);
}
