/* Iterative solvers on Newton's equation of a stream, and products with matrices of rank one, as TSV.
 *
 *     bench_solvers FILE.abut [THREADS [TOLERANCE [NAME ..]]]   linear solvers of the table, or those named
 *     bench_solvers                                              products of sets of 12x12 matrices of rank one, one thread
 *
 * The equation is that of the first iteration of the step from the first frame of the stream, as bench_linalg has it; its right
 * side is the gradient there.  Iterative solvers end at |b - A x| <= TOLERANCE |b| (1e-2), direct ones are in double precision
 * and in the order of `step`, which is not in their times.  analyse: once a step, or for a new pattern; mb: of the factors.
 * Times are processor time of all threads, the best of up to three. */
#include "base/par.h"
#include "base/rng.h"
#include "base/timer.h"
#include "energy/prescribed.h"
#include "formats/stream/state_io.h"
#include "solve/step/barrier_stepper.h"
#include "sparse/linear_solvers.h"
#include "sparse/product.h"

#include "../unit/newton_system.h"
#include "newton_start.h"

#include <stdio.h>
#include <string.h>

/* ---- products ---- */

/* n contacts of four rows each that lie together, as those of a surface do. */
static void bench_rank_one(size_t n)
{
    const int32_t rows = (int32_t)(2 * n + 64);
    int32_t *row = malloc(4 * n * sizeof *row);
    double *val = malloc(13 * n * sizeof *val);
    double *x = malloc(3 * (size_t)rows * sizeof *x), *y = malloc(3 * (size_t)rows * sizeof *y);
    abut_rng r = { 1 };
    abut_err err = { 0 };
    if (!row || !val || !x || !y) exit(5);
    for (size_t k = 0; k < n; k++)
        for (size_t c = 0; c < 4; c++) row[4 * k + c] = (int32_t)(2 * k + c + abut_rng_below(&r, 56));
    for (size_t k = 0; k < 13 * n; k++) val[k] = abut_rng_real(&r, 0, 1);
    for (int32_t i = 0; i < 3 * rows; i++) x[i] = abut_rng_real(&r, -1, 1);
    const abut_elements set = { .corners = 4, .rank = 1, .n = n, .row = row, .val = val };
    abut_product *p = NULL;
    fail_on(abut_product_make(&p, rows, &set, 1, 0, &err), &err);
    abut_product_set(p, NULL, &set);
    double best = 1e30, spent = 0;
    for (int run = 0; run < 5 || (run < 2000 && spent < 0.5); run++) {
        const double t0 = abut_time_cpu();
        abut_product_multiply(p, x, y);
        const double t = abut_time_cpu() - t0;
        if (t < best) best = t;
        spent += t;
    }
    printf("product-rank-1\t%zu\t%.2f\n", n, 1e9 * best / (double)n);
    abut_product_free(&p);
    free(row), free(val), free(x), free(y);
}

/* ---- solvers ---- */

typedef struct equation {
    const char *name;
    size_t tets, contacts;
    abut_operator A;
    const int32_t *order;
    double *b, *x;
    double tolerance;
    int threads;
} equation;

static double lap(double *clock)
{
    const double before = *clock;
    return (*clock = abut_time_cpu()) - before;
}

static void run_solver(const equation *q, const abut_linear_solver_ops *ops)
{
    double best[3] = { 1e30, 1e30, 1e30 }, spent = 0;
    abut_linear_stats stats = { 0 };
    abut_status rc = ABUT_OK;
    abut_err err = { 0 };
    const abut_solve_goal goal = { .far = q->tolerance, .close = q->tolerance };
    for (int run = 0; run < 3 && spent < 3 && !rc; run++) {
        abut_linear_solver s;
        double took[3], clock = abut_time_cpu();
        fail_on(abut_linear_solver_init(&s, ops, q->threads, &err), &err);
        abut_linear_begin_step(&s);
        rc = abut_linear_analyse(&s, &q->A, ops->can & ABUT_IS_ITERATIVE ? NULL : q->order, &err);
        took[0] = lap(&clock);
        if (!rc) rc = abut_linear_factor(&s, &q->A, ABUT_DOUBLE, &err);
        took[1] = lap(&clock);
        if (!rc) rc = abut_linear_solve(&s, &q->A, q->b, ops->can & ABUT_IS_ITERATIVE ? &goal : NULL, q->x, &err);
        took[2] = lap(&clock);
        stats = abut_linear_get_stats(&s);
        for (int k = 0; k < 3; k++) best[k] = took[k] < best[k] ? took[k] : best[k], spent += took[k];
        abut_linear_solver_clear(&s);
    }
    if (rc) printf("%s\t%d\t%zu\t%zu\t%s\t%g\t%d\tfailed: %s\n", q->name, q->A.matrix->n, q->tets, q->contacts, ops->name,
                   q->tolerance, stats.iterations, err.msg);
    else printf("%s\t%d\t%zu\t%zu\t%s\t%g\t%d\t%.1f\t%.1f\t%.1f\t%.1f\n", q->name, q->A.matrix->n, q->tets, q->contacts,
                ops->name, q->tolerance, stats.iterations, 1e3 * best[0], 1e3 * best[1], 1e3 * best[2],
                1e-6 * (double)stats.bytes);
    fflush(stdout);
}

static void run_table(equation *q, char **names, int n)
{
    for (int k = 0; abut_linear_solvers[k]; k++) {
        int wanted = !n;
        for (int i = 0; i < n; i++) wanted |= !strcmp(names[i], abut_linear_solvers[k]->name);
        if (wanted) run_solver(q, abut_linear_solvers[k]);
    }
}

/* The rows of the matrix in space: a system that is to be factored does not keep them. */
static double *rows_in_space(const abut_objective *p, const double *x)
{
    double *where = malloc((3 * (size_t)p->nrow + 1) * sizeof *where);
    if (!where) exit(5);
    abut_rows_gather(p, x, 1, where);
    return where;
}

static void bench_stream(const char *path, int threads, double tolerance, char **names, int n)
{
    newton_start b;
    abut_report rep = { 0 };
    abut_err err = { 0 };
    newton_start_open(&b, path, threads, &rep);
    abut_search *so = &b.stepper.solver;
    const abut_at here = abut_objective_at(&so->prob, so->here.x, so->here.y, &so->here.pairs);
    abut_arena scratch = { 0 };
    fail_on(abut_objective_gradient(&so->prob, &here, ABUT_KINDS_ALL, so->here.g, &scratch, &err), &err);
    abut_arena_clear(&scratch);
    newton_system ns;
    newton_system_open(&ns, &so->prob, 0, 1);
    fail_on(newton_system_sum(&ns, so, &rep, &err), &err);
    const size_t n3 = 3 * (size_t)so->prob.nrow;
    equation q = { b.name, (size_t)b.model.nt, (size_t)so->here.pairs.n, { .matrix = &ns.matrix.A }, ns.solve.order.perm,
                   malloc(n3 * sizeof(double)), malloc(n3 * sizeof(double)), tolerance, threads };
    double *where = rows_in_space(&so->prob, so->here.x);
    if (!q.b || !q.x) exit(5);
    q.A.where = where;
    abut_rows_gather(&so->prob, so->here.g, -1, q.b);
    run_table(&q, names, n);
    free(where), free(q.b), free(q.x);
    newton_system_close(&ns);
    abut_report_clear(&rep);
    newton_start_close(&b);
}

int main(int argc, char **argv)
{
    const int threads = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1;
    const double tolerance = argc > 3 ? strtod(argv[3], NULL) : 1e-2;
    if (threads < 1 || !(tolerance > 0)) {
        fprintf(stderr, "usage: bench_solvers [FILE.abut [THREADS [TOLERANCE [NAME ..]]]]\n");
        return 2;
    }
    abut_threads_set(threads);
    if (argc > 1) {
        printf("scene\trows\ttets\tcontacts\tsolver\ttolerance\titerations\tanalyse_ms\tfactor_ms\tsolve_ms\tmb\n");
        bench_stream(argv[1], threads, tolerance, argv + 4, argc > 4 ? argc - 4 : 0);
        return 0;
    }
    printf("product\tsets\tns\n");
    for (size_t n = 1000; n <= 100000; n *= 10) bench_rank_one(n);
    return 0;
}
