/* The operator of a machine against the matrix of sparse/bsr.h, and its solver against a factor. */
#include "base/par.h"
#include "sparse/own/cholesky.h"
#include "math/mat3.h"
#include "operator_world.h"

static void multiply(operator_world *w, const double *x, double *y)
{
    CHECK(!w->q.on->put(&w->q, w->b.at, x, w->n * sizeof *x, &err));
    CHECK(!abut_gpu_operator_multiply(&w->A, w->b.at, w->y.at, &err));
    CHECK(!w->q.on->get(&w->q, y, w->y.at, w->n * sizeof *y, &err));
}

static void multiply_single(operator_world *w, const float *x, float *y)
{
    CHECK(!w->q.on->put(&w->q, w->bs.at, x, w->n * sizeof *x, &err));
    CHECK(!abut_gpu_operator_multiply_single(&w->A, w->bs.at, w->ys.at, NULL, &err));
    CHECK(!w->q.on->get(&w->q, y, w->ys.at, w->n * sizeof *y, &err));
}

/* An observer of kernels counts what it is shown. */
typedef struct seen {
    size_t calls, buffers, bytes;
} seen;

static void look(abut_queue *q, const char *name, void *of)
{
    seen *s = of;
    s->calls += *name != 0, s->buffers = q->watch.n, s->bytes = 0;
    for (size_t i = 0; i < q->watch.n; i++) s->bytes += q->watch.live[i].bytes;
}

TEST(an_observer_sees_every_kernel_with_the_buffers_that_live)
{
    abut_queue q = { 0 };
    abut_buffer b[40] = { { 0 } };
    seen s = { 0 };
    const double one = 1;
    CHECK(!machine_open(&q, &err));
    q.watch = (abut_watch){ .look = look, .of = &s };
    for (int k = 0; k < 40; k++) CHECK(!abut_buffer_put(&q, &b[k], "b", &one, 1, sizeof one, &err));
    CHECK(!abut_buffer_need(&q, &b[7], "b", 5, sizeof one, &err));
    abut_buffer_clear(&q, &b[0]);
    CHECK(!q.on->dot(&q, b[1].at, b[2].at, 1, b[7].at, &err));
    CHECK(s.calls == 1 && s.buffers == 39 && s.bytes == 38 * sizeof one + b[7].bytes && b[7].bytes >= 5 * sizeof one);
    for (int k = 0; k < 40; k++) abut_buffer_clear(&q, &b[k]);
    CHECK(q.watch.n == 0);
    abut_queue_close(&q);
}

/* Products of the world in double and single precision are those of its matrix, to these parts of the largest entry. */
static void check_products(operator_world *w, double part, double part_single)
{
    world_matrix(w, 0.3);
    double *x = world_random(w->n, 7), *y = malloc(w->n * sizeof *y), *z = malloc(w->n * sizeof *z);
    float *xs = malloc(w->n * sizeof *xs), *ys = malloc(w->n * sizeof *ys);
    for (size_t i = 0; i < w->n; i++) x[i] = xs[i] = (float)x[i];
    abut_bsr_multiply(&w->matrix, x, y);
    multiply(w, x, z);
    multiply_single(w, xs, ys);
    const double size = abut_largest(y, w->n);
    for (size_t i = 0; i < w->n; i++) {
        CHECK_NEAR(z[i], y[i], part * size);
        CHECK_NEAR(ys[i], y[i], part_single * size);
    }
    free(x), free(y), free(z), free(xs), free(ys);
}

TEST(products_are_those_of_the_matrix)
{
    for (int k = 0; k < 4; k++) {       /* without and with contacts, with tets at once and by pieces */
        operator_world w;
        world_make(&w, 6, k % 2 ? 300 : 0);
        world_operator(&w, k / 2 ? 100 : 100000, 0.3);
        CHECK(w.A.n_pieces == (k / 2 ? 13u : 1u));
        check_products(&w, 1e-14, 1e-6);
        world_free(&w);
    }
}

TEST(a_hundred_thousand_contacts_at_one_node_are_in_products)
{
    operator_world w;
    world_make(&w, 3, 200000);          /* node 5 has every other one */
    world_operator(&w, 100000, 0.3);
    check_products(&w, 1e-13, 1e-5);
    world_free(&w);
}

TEST(elements_that_last_are_in_the_matrix)
{
    operator_world w;
    world_make(&w, 5, 150);
    world_matrix(&w, 0.3);
    const abut_gpu_lasting more[2] = { { w.touching[0], w.node[0], 4 }, { w.touching[1], w.node[1], 4 } };
    double *x = world_random(w.n, 7), *y = malloc(w.n * sizeof *y), *z = malloc(w.n * sizeof *z);
    abut_bsr_multiply(&w.matrix, x, y);
    const double size = abut_largest(y, w.n);
    for (int k = 0; k < 2; k++) {       /* one of them; both */
        CHECK(!abut_gpu_operator_init_with(&w.A, &w.q, &w.t, w.row, more, 1 + k, 300, &err));
        CHECK(!abut_gpu_operator_tets(&w.A, w.dx.at, 0.3, w.ddiag.at, &err));
        for (int s = 0; s <= k; s++) CHECK(!abut_gpu_operator_add(&w.A, s, w.dH[s].at, &err));
        if (!k) abut_gpu_operator_blocks(&w.A, 1, (abut_gpu_blocks){ w.touching[1], w.dnode[1].at, w.dH[1].at });
        CHECK(!abut_gpu_operator_ready(&w.A, &err));
        multiply(&w, x, z);
        for (size_t i = 0; i < w.n; i++) CHECK_NEAR(z[i], y[i], 1e-14 * size);
    }
    CHECK(abut_gpu_operator_init_with(&w.A, &w.q, &w.t, w.row, more, 7, 0, &err) == ABUT_E_ARG);
    free(x), free(y), free(z);
    world_free(&w);
}

/* Matrices of all tets at once, as damping has them, in pieces of 100: twice those of elasticity make three of it. */
TEST(matrices_of_tets_are_added_to_those_that_are_there)
{
    operator_world w;
    world_make(&w, 4, 0);
    const size_t nt = (size_t)w.box.model.nt;
    double *K = malloc(nt * ABUT_PACKED * sizeof *K), *x = world_random(w.n, 7), *y = malloc(w.n * sizeof *y);
    double *z = malloc(w.n * sizeof *z);
    abut_buffer dK = { 0 };
    abut_elastic_hessian(&w.e, w.x, 0.2, K);
    memset(w.diag, 0, w.nv * sizeof *w.diag);
    CHECK(!abut_buffer_put(&w.q, &w.ddiag, "diag", w.diag, w.nv, sizeof(double), &err));
    CHECK(!abut_buffer_put(&w.q, &dK, "K", K, nt * ABUT_PACKED, sizeof *K, &err));
    world_matrix(&w, 0.3);
    CHECK(!abut_gpu_operator_init_with(&w.A, &w.q, &w.t, w.row, NULL, 0, 100, &err) && w.A.n_pieces > 1);
    CHECK(!abut_gpu_operator_tets(&w.A, w.dx.at, 0.1, w.ddiag.at, &err));
    CHECK(!abut_gpu_operator_add_tets(&w.A, dK.at, &err) && !abut_gpu_operator_ready(&w.A, &err));
    abut_bsr_multiply(&w.matrix, x, y);
    multiply(&w, x, z);
    for (size_t i = 0; i < w.n; i++) CHECK_NEAR(z[i], y[i], 1e-14 * abut_largest(y, w.n));
    abut_buffer_clear(&w.q, &dK);
    free(K), free(x), free(y), free(z);
    world_free(&w);
}

TEST(inverted_diagonal_blocks_are_those_of_the_matrix)
{
    operator_world w;
    world_make(&w, 4, 100);
    world_operator(&w, 100000, 0.3);
    world_matrix(&w, 0.3);
    float *inverse = malloc(3 * w.n * sizeof *inverse);
    CHECK(!w.q.on->get(&w.q, inverse, w.A.inverse.at, 3 * w.n * sizeof *inverse, &err));
    for (size_t r = 0; r < w.n / 3; r++) {
        double want[9], got[9], size = 0;
        abut_m3_inverse(want, w.matrix.val + 9 * w.matrix.ptr[r]);
        for (int d = 0; d < 9; d++) got[d] = (double)inverse[(size_t)d * (w.n / 3) + r], size = fmax(size, fabs(want[d]));
        for (int d = 0; d < 9; d++) CHECK_NEAR(got[d], want[d], 1e-6 * size);
        CHECK(got[1] == got[3] && got[2] == got[6] && got[5] == got[7]);
    }
    free(inverse);
    world_free(&w);
}

TEST(products_have_the_same_bytes_for_every_thread_count_and_order)
{
    operator_world w;
    const int threads = abut_threads();
    double *x, *one, *got;
    float *xs, *ones, *gots;
    world_make(&w, 7, 500);
    x = world_random(w.n, 7), one = malloc(w.n * sizeof *one), got = malloc(w.n * sizeof *got);
    xs = malloc(w.n * sizeof *xs), ones = malloc(w.n * sizeof *ones), gots = malloc(w.n * sizeof *gots);
    for (size_t i = 0; i < w.n; i++) xs[i] = (float)x[i];
    for (int k = 0; k < 4; k++) {
        abut_threads_set((int[]){ 1, 2, 7, 1 }[k]);
        w.q.shuffle = k == 3 ? 999 : 0;
        world_operator(&w, 500, 0.3);
        multiply(&w, x, k ? got : one);
        multiply_single(&w, xs, k ? gots : ones);
        CHECK(!k || (!memcmp(one, got, w.n * sizeof *got) && !memcmp(ones, gots, w.n * sizeof *gots)));
    }
    abut_threads_set(threads);
    free(x), free(one), free(got), free(xs), free(ones), free(gots);
    world_free(&w);
}

/* p [nv * 3] of the machine for b */
static abut_status solve(operator_world *w, const double *b, double tolerance, double *p, abut_gpu_solve_report *rep)
{
    abut_gpu_cg c = { 0 };
    CHECK(!w->q.on->put(&w->q, w->b.at, b, 3 * w->nv * sizeof *b, &err));
    const abut_status rc = abut_gpu_solve(&c, &w->A, w->b.at, w->y.at, tolerance, rep, &err);
    if (!rc) CHECK(!w->q.on->get(&w->q, p, w->y.at, 3 * w->nv * sizeof *p, &err));
    abut_gpu_cg_clear(&c, &w->q);
    return rc;
}

TEST(directions_are_those_of_a_factor)
{
    for (int k = 0; k < 2; k++) {
        operator_world w;
        abut_gpu_solve_report rep;
        abut_chol *chol = NULL;
        world_make(&w, 6, k ? 200 : 0);
        world_operator(&w, 100000, 0.3);
        world_matrix(&w, 0.3);
        double *b = world_random(3 * w.nv, 8), *p = malloc(3 * w.nv * sizeof *p), *rhs = malloc(w.n * sizeof *rhs);
        for (size_t i = 0; i < w.nv; i++)
            for (size_t d = 0; d < 3 && w.row[i] >= 0; d++) rhs[3 * (size_t)w.row[i] + d] = -b[3 * i + d];
        CHECK(!abut_chol_new(&chol, &w.matrix, NULL, 1, NULL) && !abut_chol_factor(chol, &w.matrix, NULL));
        CHECK(!abut_chol_solve(chol, rhs, rhs, NULL));
        CHECK(!solve(&w, b, 1e-11, p, &rep));
        CHECK(rep.residual <= 1e-11 && rep.corrections >= 2 && rep.corrections <= 4 && !rep.in_double && rep.iterations > 10);
        const double size = abut_largest(rhs, w.n);
        for (size_t i = 0; i < w.nv; i++)
            for (size_t d = 0; d < 3; d++)
                CHECK_NEAR(p[3 * i + d], w.row[i] < 0 ? 0 : rhs[3 * (size_t)w.row[i] + d], 1e-8 * size);
        abut_chol_free(&chol);
        free(b), free(p), free(rhs);
        world_free(&w);
    }
}

/* |b + A p| / |b| over the rows */
static double residual(const operator_world *w, const double *b, const double *p)
{
    double *x = malloc(w->n * sizeof *x), *y = malloc(w->n * sizeof *y), *f = malloc(w->n * sizeof *f);
    for (size_t i = 0; i < w->nv; i++)
        for (size_t d = 0; d < 3 && w->row[i] >= 0; d++) {
            x[3 * (size_t)w->row[i] + d] = p[3 * i + d];
            f[3 * (size_t)w->row[i] + d] = b[3 * i + d];
        }
    abut_bsr_multiply(&w->matrix, x, y);
    for (size_t i = 0; i < w->n; i++) y[i] += f[i];
    const double share = world_length(y, w->n) / world_length(f, w->n);
    free(x), free(y), free(f);
    return share;
}

TEST(the_true_residual_is_within_the_tolerance)
{
    operator_world w;
    abut_gpu_solve_report rep;
    world_make(&w, 5, 300);
    world_operator(&w, 100000, 0.3);
    world_matrix(&w, 0.3);
    double *b = world_random(3 * w.nv, 9), *p = malloc(3 * w.nv * sizeof *p);
    int last = 0;
    for (double tolerance = 1e-1; tolerance > 1e-12; tolerance *= 1e-2) {
        CHECK(!solve(&w, b, tolerance, p, &rep));
        const double r = residual(&w, b, p);
        CHECK(r <= tolerance * (1 + 1e-9));
        CHECK_NEAR(r, rep.residual, 1e-3 * rep.residual + 1e-14);
        CHECK(rep.iterations > last);
        last = rep.iterations;
    }
    for (size_t i = 0; i < 3 * w.nv; i++) b[i] = 0;
    CHECK(!solve(&w, b, 1e-3, p, &rep));
    CHECK(rep.iterations == 0 && rep.residual == 0 && abut_largest(p, 3 * w.nv) == 0);
    b[4] = NAN;
    CHECK(solve(&w, b, 1e-3, p, &rep) == ABUT_E_NUMERIC);
    free(b), free(p);
    world_free(&w);
}

TEST(contacts_a_million_times_as_stiff_are_solved)
{
    operator_world w;
    abut_gpu_solve_report rep;
    world_make(&w, 4, 20);
    for (size_t i = 0; i < 20 * ABUT_PACKED; i++) w.H[0][i] *= 1e6;
    CHECK(!w.q.on->put(&w.q, w.dH[0].at, w.H[0], 20 * ABUT_PACKED * sizeof(double), &err));
    world_operator(&w, 100000, 0.3);
    world_matrix(&w, 0.3);
    double *b = world_random(3 * w.nv, 9), *p = malloc(3 * w.nv * sizeof *p);
    CHECK(!solve(&w, b, 1e-8, p, &rep));
    CHECK(residual(&w, b, p) <= 1.01e-8);
    free(b), free(p);
    world_free(&w);
}

TEST(a_matrix_that_is_not_definite_is_refused)
{
    operator_world w;
    abut_gpu_solve_report rep;
    world_make(&w, 3, 0);
    for (size_t i = 0; i < w.nv; i++) w.diag[i] = -500;
    CHECK(!w.q.on->put(&w.q, w.ddiag.at, w.diag, w.nv * sizeof(double), &err));
    world_operator(&w, 100000, 1e-3);
    double *b = world_random(3 * w.nv, 9), *p = malloc(3 * w.nv * sizeof *p);
    CHECK(solve(&w, b, 1e-8, p, &rep) == ABUT_E_NUMERIC);
    CHECK(strstr(err.msg, "conjugate gradients") != NULL);
    CHECK(rep.iterations < 50);
    free(b), free(p);
    world_free(&w);
}

TEST(solutions_have_the_same_bytes_for_every_thread_count_and_order)
{
    operator_world w;
    const int threads = abut_threads();
    abut_gpu_solve_report rep[2];
    double *b, *one, *got;
    world_make(&w, 6, 200);
    b = world_random(3 * w.nv, 8), one = malloc(3 * w.nv * sizeof *one), got = malloc(3 * w.nv * sizeof *got);
    for (int k = 0; k < 4; k++) {
        abut_threads_set((int[]){ 1, 2, 7, 1 }[k]);
        w.q.shuffle = k == 3 ? 77 : 0;
        world_operator(&w, 100000, 0.3);
        CHECK(!solve(&w, b, 1e-9, k ? got : one, &rep[k > 0]));
        CHECK(!k || (!memcmp(one, got, 3 * w.nv * sizeof *got) && rep[0].iterations == rep[1].iterations));
    }
    abut_threads_set(threads);
    free(b), free(one), free(got);
    world_free(&w);
}

TEST(memory_that_fails_is_given_back)
{
    operator_world w;
    world_make(&w, 3, 30);
    int failed = 0;
    for (int64_t k = 0;; k++) {
        w.q.fails_after = k;
        const abut_status rc = abut_gpu_operator_init_with(&w.A, &w.q, &w.t, w.row, NULL, 0, 0, &err);
        failed += rc == ABUT_E_NOMEM;
        if (!rc) break;
        CHECK(rc == ABUT_E_NOMEM && strstr(err.msg, "memory"));
    }
    w.q.fails_after = -1;
    CHECK(failed > 5 || getenv("ABUT_GPU"));
    world_free(&w);
}
