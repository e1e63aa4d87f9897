/* Iterative solvers on Newton's equation of a stream, and products with matrices of rank one, as TSV.
 *
 *     bench_solvers FILE.abut [THREADS [TOLERANCE [NAME ..]]]   linear solvers of the table, or those named
 *     bench_solvers FILE.abut THREADS TOLERANCE products         products of its elements: made for each, packed, summed
 *     bench_solvers                                              products of sets of 12x12 matrices of rank one, one thread
 *
 * Solvers that need no matrix get products, with lasting elements summed and contacts unsummed; others get the matrix.
 *
 * The equation is that of the first iteration of the step from the first frame of the stream, as bench_linalg has it; its right
 * side is the gradient there.  Iterative solvers end at |b - A x| <= TOLERANCE |b| (1e-2), direct ones are in double precision
 * and in the order of `step`, which is not in their times.  analyse: once a step, or for a new pattern; mb: of the factors.
 * Times are processor time of all threads, the best of up to three. */
#include "base/par.h"
#include "base/rng.h"
#include "base/timer.h"
#include "energy/mass.h"
#include "formats/stream/state_io.h"
#include "solve/step/barrier_stepper.h"
#include "sparse/linear_solver.h"
#include "sparse/operator.h"

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

/* A product with the elements of p, packed or made by packed_of; summed: lasting ones in blocks. */
static void bench_elements(const char *what, int32_t n, const double *diag, const abut_elements *sets, int nsets, int summed)
{
    abut_product *p = NULL;
    abut_err err = { 0 };
    double *x = malloc(3 * (size_t)n * sizeof *x), *y = malloc(3 * (size_t)n * sizeof *y), best = 1e30, bytes = 0;
    size_t elements = 0;
    abut_rng r = { 1 };
    if (!x || !y) exit(5);
    fail_on(abut_product_make(&p, n, sets, nsets, summed, &err), &err);
    const abut_operator A = abut_product_set(p, diag, sets);
    for (int32_t i = 0; i < 3 * n; i++) x[i] = abut_rng_real(&r, -1, 1);
    for (int run = 0; run < 20; run++) {
        const double t0 = abut_time_cpu();
        abut_operator_multiply(&A, x, y);
        const double t = abut_time_cpu() - t0;
        if (t < best) best = t;
    }
    for (int s = 0; s < nsets; s++) {
        elements += sets[s].n;
        bytes += sets[s].val ? (double)(sets[s].n * abut_element_size(&sets[s]) * sizeof(double)) : 0;
    }
    if (summed) {
        abut_bsr S = { 0 };
        fail_on(abut_bsr_pattern(&S, n, sets, summed, &err), &err);
        bytes = 76.0 * (double)S.nnz;
        abut_bsr_clear(&S);
    }
    printf("product-%s\t%zu\t%.2f\t%.1f\n", what, elements, 1e9 * best / (double)elements, bytes / (double)elements);
    abut_product_free(&p);
    free(x), free(y);
}

/* The sets that last: as the objective has them, packed in memory, summed. */
static void bench_lasting(const abut_objective *p, const abut_newton_matrix *m)
{
    abut_elements sets[ABUT_SETS_MAX];
    double *val[ABUT_SETS_MAX] = { NULL };
    printf("product\telements\tns\tbytes\n");
    bench_elements("made", p->nrow, m->diag, m->sets, p->lasting, 0);
    for (int s = 0; s < p->lasting; s++) {
        sets[s] = m->sets[s];
        if (sets[s].val || !sets[s].n) continue;
        const size_t each = abut_elements_at_once(&sets[s]), size = abut_element_size(&sets[s]);
        val[s] = malloc(sets[s].n * size * sizeof **val);
        if (!val[s]) exit(5);
        for (size_t lo = 0; lo < sets[s].n; lo += each)
            sets[s].make(sets[s].ctx, lo, lo + each < sets[s].n ? lo + each : sets[s].n, val[s] + size * lo);
        sets[s].val = val[s];
    }
    bench_elements("packed", p->nrow, m->diag, sets, p->lasting, 0);
    bench_elements("summed", p->nrow, m->diag, sets, p->lasting, p->lasting);
    for (int s = 0; s < p->lasting; s++) free(val[s]);
}

/* ---- solvers ---- */

typedef struct equation {
    const char *name;
    size_t tets, contacts;
    abut_operator A, products;
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
    const abut_operator *A = ops->can & ABUT_CAN_MATRIX_FREE ? &q->products : &q->A;
    for (int run = 0; run < 3 && spent < 3 && !rc; run++) {
        abut_linear_solver s;
        double took[3], clock = abut_time_cpu();
        fail_on(abut_linear_solver_init(&s, ops, q->threads, &err), &err);
        abut_linear_begin_step(&s);
        rc = abut_linear_analyse(&s, A, ops->can & ABUT_IS_ITERATIVE ? NULL : q->order, &err);
        took[0] = lap(&clock);
        if (!rc) rc = abut_linear_factor(&s, A, ABUT_DOUBLE, &err);
        took[1] = lap(&clock);
        if (!rc) rc = abut_linear_solve(&s, A, q->b, ops->can & ABUT_IS_ITERATIVE ? &goal : NULL, q->x, &err);
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
    abut_product *product = NULL;
    fail_on(abut_product_make(&product, so->prob.nrow, ns.matrix.sets, ns.matrix.nsets, so->prob.lasting, &err), &err);
    equation q = { b.name, (size_t)b.model.nt, (size_t)so->here.pairs.n, { .matrix = &ns.matrix.A },
                   abut_product_set(product, ns.matrix.diag, ns.matrix.sets), ns.solve.order.perm,
                   malloc(n3 * sizeof(double)), malloc(n3 * sizeof(double)), tolerance, threads };
    double *where = rows_in_space(&so->prob, so->here.x);
    if (!q.b || !q.x) exit(5);
    q.A.where = q.products.where = where;
    abut_rows_gather(&so->prob, so->here.g, -1, q.b);
    if (n == 1 && !strcmp(names[0], "products")) {
        bench_lasting(&so->prob, &ns.matrix);
    } else {
        printf("scene\trows\ttets\tcontacts\tsolver\ttolerance\titerations\tanalyse_ms\tfactor_ms\tsolve_ms\tmb\n");
        run_table(&q, names, n);
    }
    abut_product_free(&product);
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
        bench_stream(argv[1], threads, tolerance, argv + 4, argc > 4 ? argc - 4 : 0);
        return 0;
    }
    printf("product\tsets\tns\n");
    for (size_t n = 1000; n <= 100000; n *= 10) bench_rank_one(n);
    return 0;
}
