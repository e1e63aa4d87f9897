/* Assembly, ordering, analysis, factorisation and solve on boxes of tetrahedra: milliseconds of each, as TSV.
 *
 *     bench_linalg [BLAS_THREADS [CELLS_X CELLS_Y CELLS_Z]]
 *
 * Without cells: boxes of about 10 000 and 100 000 tets and a thin mat of 58 806.  cpu_ms is over all threads, the best of
 * several runs; flops of the factorisation count a multiplication and an addition as two; dgemm is what BLAS itself
 * reaches on one thread, 1000 x 1000. */
#include "base/timer.h"
#include "linalg/chol.h"
#include "part/graph.h"

#include "../unit/box_tets.h"

#include <omp.h>
#include <stdio.h>

void dgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k, const double *alpha, const double *A,
            const int *lda, const double *B, const int *ldb, const double *beta, double *C, const int *ldc);
void openblas_set_num_threads(int num_threads);

typedef struct bench {
    const char *name;
    abut_elems set;
    abut_bsr A;
    abut_chol *chol;
    int32_t nv, *perm;
    double *diag, *x, *y;
    int threads;
} bench;

static void fail_on(abut_status rc, const abut_err *err)
{
    if (!rc) return;
    fprintf(stderr, "bench_linalg: %s\n", err->msg);
    exit(1);
}

enum { PATTERN, UPDATE, ASSEMBLE, MULTIPLY, ORDER, ANALYSE, FACTOR, SOLVE, FACTOR_SINGLE, SOLVE_SINGLE, PHASES };
static const char *const phase_name[PHASES] = { "pattern", "update", "assemble", "multiply", "order", "analyse", "factor",
                                                "solve", "factor-single", "solve-single" };

static void run_phase(bench *b, int phase)
{
    abut_err err = { 0 };
    abut_status rc = ABUT_OK;
    int changed;
    switch (phase) {
    case PATTERN: rc = abut_bsr_pattern(&b->A, b->nv, &b->set, 1, &err); break;
    case UPDATE: rc = abut_bsr_update(&b->A, &b->set, 1, 1, 0, &changed, &err); break;
    case ASSEMBLE: abut_bsr_assemble(&b->A, b->diag, &b->set, 1); break;
    case MULTIPLY: abut_bsr_multiply(&b->A, b->x, b->y); break;
    case ORDER: rc = abut_graph_order(&b->A, b->perm, &err); break;
    case ANALYSE:
        abut_chol_free(&b->chol);
        rc = abut_chol_new(&b->chol, &b->A, b->perm, b->threads, &err);
        break;
    case FACTOR: rc = abut_chol_factor(b->chol, &b->A, &err); break;
    case FACTOR_SINGLE: rc = abut_chol_factor_single(b->chol, &b->A, &err); break;
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
    printf("%s\t%d\t%zu\t%zu\t%s\t%.3f\t%.3f", b->name, b->nv, b->set.n, b->A.nnz, phase_name[phase], 1e3 * cpu, 1e3 * wall);
    if (phase == FACTOR || phase == FACTOR_SINGLE)
        printf("\t%.2f GFLOP/s", abut_chol_get_stats(b->chol).factor_flops / wall * 1e-9);
    if (phase == ANALYSE) printf("\t%.3g entries of L", abut_chol_get_stats(b->chol).factor_nnz);
    printf("\n");
    fflush(stdout);
}

static void bench_box(const char *name, int nx, int ny, int nz, int threads)
{
    box_tets box = box_tets_make(nx, ny, nz, 1);
    const size_t n = (size_t)box.nv;
    bench b = { .name = name, .nv = box.nv, .threads = threads };
    b.set = (abut_elems){ (size_t)box.nt, box.tet, box.val };
    b.perm = malloc(n * sizeof *b.perm);
    b.diag = malloc(n * sizeof *b.diag);
    b.x = malloc(3 * n * sizeof *b.x);
    b.y = malloc(3 * n * sizeof *b.y);
    if (!b.perm || !b.diag || !b.x || !b.y) exit(5);
    for (size_t i = 0; i < n; i++) b.diag[i] = 0.1;
    for (size_t i = 0; i < 3 * n; i++) b.x[i] = (double)(i % 17);
    for (int p = 0; p < PHASES; p++) time_phase(&b, p);
    printf("%s\t%d\t%zu\t%zu\tpeak memory\t%.0f MB\n", name, b.nv, b.set.n, b.A.nnz, (double)abut_memory_peak() * 1e-6);
    abut_chol_free(&b.chol);
    abut_bsr_clear(&b.A);
    free(b.perm), free(b.diag), free(b.x), free(b.y);
    box_tets_free(&box);
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
    const int threads = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1;
    if (threads < 1 || (argc > 2 && argc != 5)) {
        fprintf(stderr, "usage: bench_linalg [BLAS_THREADS [CELLS_X CELLS_Y CELLS_Z]]\n");
        return 2;
    }
    printf("mesh\tnodes\ttets\tblocks\tphase\tcpu_ms\twall_ms\trate\n");
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
