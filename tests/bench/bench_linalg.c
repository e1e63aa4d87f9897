/* Assembly, ordering, analysis, factorisation and solve: milliseconds of each, as TSV.
 *
 *     bench_linalg FILE.abut [THREADS]                      the matrix of a stream
 *     bench_linalg [THREADS [CELLS_X CELLS_Y CELLS_Z]]      boxes of tetrahedra
 *
 * The matrix of a stream is Newton's at the start of the first iteration of the step from its first frame, in the order in which
 * `step` factors it; prescribed nodes are eliminated, even if that iteration still moves them.  `matrix`: Hessians and assembly.
 * Without cells: boxes of about 10 000 and 100 000 tets and a thin mat of 58 806.  cpu_ms is over all threads, the best of
 * several runs.  A multiplication and an addition count as two flops; flops a second are by cpu_ms with one thread, else by
 * wall_ms. dgemm: the rate of BLAS on one thread, 1000 x 1000. */
#include "base/par.h"
#include "base/timer.h"
#include "formats/stream/state_io.h"
#include "sparse/own/cholesky.h"
#include "graph/graph.h"
#include "solve/step/barrier_stepper.h"

#include "../unit/box_tets.h"
#include "../unit/newton_system.h"
#include "newton_start.h"
#include "energy/mass.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

void dgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k, const double *alpha, const double *A,
            const int *lda, const double *B, const int *ldb, const double *beta, double *C, const int *ldc);
void openblas_set_num_threads(int num_threads);

typedef struct bench {
    const char *name;
    size_t tets;
    abut_elements set;         /* of a box */
    abut_stepper *stepper;  /* of a stream, at the start of a step */
    newton_system *system;  /* its matrix */
    abut_bsr *A;
    abut_chol *chol;
    int32_t nv, *perm;
    double *diag, *x, *y;
    int threads;
} bench;

enum { PATTERN, UPDATE, ASSEMBLE, MATRIX, MULTIPLY, ORDER, ANALYSE, FACTOR, SOLVE, FACTOR_SINGLE, SOLVE_SINGLE, PHASES };
static const char *const phase_name[PHASES] = { "pattern", "update", "assemble", "matrix", "multiply", "order", "analyse",
                                                "factor", "solve", "factor-single", "solve-single" };
static const int of_box[] = { PATTERN, UPDATE, ASSEMBLE, MULTIPLY, ORDER, ANALYSE,
                              FACTOR, SOLVE, FACTOR_SINGLE, SOLVE_SINGLE, -1 };
static const int of_stream[] = { MATRIX, MULTIPLY, ANALYSE, FACTOR, SOLVE, FACTOR_SINGLE, SOLVE_SINGLE, -1 };

static abut_status newton_matrix(abut_stepper *s, newton_system *n, abut_err *err)
{
    abut_report rep = { 0 };
    return newton_system_sum(n, &s->solver, &rep, err);
}

static void run_phase(bench *b, int phase)
{
    abut_err err = { 0 };
    abut_status rc = ABUT_OK;
    int changed;
    switch (phase) {
    case PATTERN: rc = abut_bsr_pattern(b->A, b->nv, &b->set, 1, &err); break;
    case UPDATE: rc = abut_bsr_update(b->A, &b->set, 1, 1, 0, &changed, &err); break;
    case ASSEMBLE: abut_bsr_assemble(b->A, b->diag, &b->set, 1); break;
    case MATRIX: rc = newton_matrix(b->stepper, b->system, &err); break;
    case MULTIPLY: abut_bsr_multiply(b->A, b->x, b->y); break;
    case ORDER: rc = abut_graph_order_nested_dissection(abut_bsr_graph(b->A), b->perm, &err); break;
    case ANALYSE:
        abut_chol_free(&b->chol);
        rc = abut_chol_new(&b->chol, b->A, b->perm, b->threads, &err);
        break;
    case FACTOR: rc = abut_chol_factor(b->chol, b->A, &err); break;
    case FACTOR_SINGLE: rc = abut_chol_factor_single(b->chol, b->A, &err); break;
    case SOLVE:
    case SOLVE_SINGLE: rc = abut_chol_solve(b->chol, b->x, b->y, &err); break;
    }
    fail_on(rc, &err);
}

/* Best of several: other work on the machine only ever adds. */
static void time_phase(bench *b, int phase)
{
    double cpu = 1e30, wall = 1e30, spent = 0;
    int runs = 0;
    for (; runs < 2 || (runs < 20 && spent < 1); runs++) {
        const double c0 = abut_time_cpu(), w0 = abut_time_wall();
        run_phase(b, phase);
        const double c = abut_time_cpu() - c0, w = abut_time_wall() - w0;
        if (c < cpu) cpu = c;
        if (w < wall) wall = w;
        spent += w;
    }
    printf("%s\t%d\t%zu\t%zu\t%s\t%.3f\t%.3f", b->name, b->nv, b->tets, b->A->nnz, phase_name[phase], 1e3 * cpu, 1e3 * wall);
    if (phase == FACTOR || phase == FACTOR_SINGLE) {
        const double flops = abut_chol_get_stats(b->chol).factor_flops;
        printf("\t%.2f Gflop, %.2f Gflop/s", 1e-9 * flops, 1e-9 * flops / (b->threads > 1 ? wall : cpu));
    }
    if (phase == ANALYSE) printf("\t%.3g entries of L", abut_chol_get_stats(b->chol).factor_nnz);
    printf("\n");
    fflush(stdout);
}

/* The phases of a list, with a vector to multiply. */
static void time_phases(bench *b, const int *phase)
{
    const size_t n3 = 3 * (size_t)b->nv;
    b->x = malloc(n3 * sizeof *b->x);
    b->y = malloc(n3 * sizeof *b->y);
    if (!b->x || !b->y) exit(5);
    for (size_t i = 0; i < n3; i++) b->x[i] = (double)(i % 17);
    for (; *phase >= 0; phase++) time_phase(b, *phase);
    printf("%s\t%d\t%zu\t%zu\tpeak memory\t\t\t%.0f MB\n", b->name, b->nv, b->tets, b->A->nnz, (double)abut_memory_peak() * 1e-6);
    abut_chol_free(&b->chol);
    free(b->x);
    free(b->y);
}

static void bench_box(const char *name, int nx, int ny, int nz, int threads)
{
    box_tets box = box_tets_make(nx, ny, nz, 1);
    const size_t n = (size_t)box.nv;
    abut_bsr A = { 0 };
    bench b = { .name = name, .tets = (size_t)box.nt, .A = &A, .nv = box.nv, .threads = threads };
    b.set = (abut_elements){ .corners = 4, .n = b.tets, .row = box.tet, .val = box.val };
    b.perm = malloc(n * sizeof *b.perm);
    b.diag = malloc(n * sizeof *b.diag);
    if (!b.perm || !b.diag) exit(5);
    for (size_t i = 0; i < n; i++) b.diag[i] = 0.1;
    time_phases(&b, of_box);
    abut_bsr_clear(&A);
    free(b.perm);
    free(b.diag);
    box_tets_free(&box);
}

static void bench_stream(const char *path, int threads)
{
    newton_start b;
    abut_report rep = { 0 };
    abut_err err = { 0 };
    newton_start_open(&b, path, threads, &rep);
    abut_search *so = &b.stepper.solver;
    newton_system n;
    newton_system_open(&n, &so->prob, 0, 1);
    fail_on(newton_matrix(&b.stepper, &n, &err), &err);
    time_phases(&(bench){ .name = b.name, .tets = (size_t)b.model.nt, .stepper = &b.stepper, .system = &n, .A = &n.matrix.A,
                          .nv = so->prob.nrow, .perm = n.solve.order.perm, .threads = threads }, of_stream);
    newton_system_close(&n);
    abut_report_clear(&rep);
    newton_start_close(&b);
}

static void bench_dgemm(void)
{
    enum { N = 1000 };
    const int n = N;
    const double one = 1, zero = 0;
    double *m = malloc(3u * N * N * sizeof *m), best = 1e30;
    if (!m) exit(5);
    for (int i = 0; i < 3 * N * N; i++) m[i] = 1e-3 * (i % 97);
    openblas_set_num_threads(1);
    omp_set_num_threads(1);
    for (int run = 0; run < 5; run++) {
        const double t0 = abut_time_cpu();
        dgemm_("N", "N", &n, &n, &n, &one, m, &n, m + N * N, &n, &zero, m + 2 * N * N, &n);
        const double t = abut_time_cpu() - t0;
        if (t < best) best = t;
    }
    printf("dgemm\t\t\t\tfactor\t%.3f\t\t%.2f GFLOP/s\n", 1e3 * best, 2e-9 * N * N * N / best);
    free(m);
}

int main(int argc, char **argv)
{
    const int by_file = argc > 1 && strspn(argv[1], "0123456789") < strlen(argv[1]), first = 1 + by_file;
    const int threads = argc > first ? (int)strtol(argv[first], NULL, 10) : 1;
    if (threads < 1 || (by_file ? argc > 3 : argc > 2 && argc != 5)) {
        fprintf(stderr, "usage: bench_linalg FILE.abut [THREADS]\n       bench_linalg [THREADS [CELLS_X CELLS_Y CELLS_Z]]\n");
        return 2;
    }
    abut_threads_set(threads);
    printf("mesh\tnodes\ttets\tblocks\tphase\tcpu_ms\twall_ms\tmore\n");
    if (by_file) {
        bench_stream(argv[1], threads);
        return 0;
    }
    if (argc == 5) {
        bench_box("box", (int)strtol(argv[2], NULL, 10), (int)strtol(argv[3], NULL, 10), (int)strtol(argv[4], NULL, 10),
                  threads);
    } else {
        bench_box("box 10K", 12, 12, 12, threads);
        bench_box("mat 100", 99, 1, 99, threads);
        bench_box("box 100K", 26, 26, 25, threads);
    }
    bench_dgemm();
    return 0;
}
