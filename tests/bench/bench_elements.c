/* Elements of order 1 to 4, one thread: processor nanoseconds of an energy with its forces and of a projected matrix, and how
 * many operations on doubles a matrix takes (products of bases and moduli alone) for each nanosecond.
 *   bench_elements [SECONDS of each row]         TSV: order, map, points, energy_ns, matrix_ns, flops, flops_per_ns */
#include "base/par.h"
#include "energy/elastic.h"
#include "energy/elastic_high.h"
#include "sparse/packed_inline.h"

#include "tests/unit/elastic_gradient.h"
#include "tests/unit/high_box.h"

#include <stdio.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Products of a matrix: 27 for each pair of nodes and point, 81 for each node and point. */
static double flops(int nodes, int points) { return 2.0 * points * (27.0 * nodes * (nodes + 1) / 2 + 81.0 * nodes); }

static void report(int order, int map, int nodes, int points, double energy, double matrix)
{
    printf("%d\t%d\t%d\t%.0f\t%.0f\t%.0f\t%.2f\n", order, map, points, energy, matrix, flops(nodes, points),
           flops(nodes, points) / matrix);
}

static double *moved(const abut_model *m)
{
    abut_rng r = { 3 };
    double *x = malloc(3 * sizeof *x * (size_t)m->nv);
    for (int32_t i = 0; i < 3 * m->nv; i++) x[i] = 1.05 * m->X[i] + abut_rng_real(&r, -2e-4, 2e-4);
    return x;
}

static void order_1(const abut_model *m, double seconds)
{
    abut_elastic e;
    abut_arena scratch = { 0 };
    double *x = moved(m), *H = malloc((size_t)m->nt * abut_packed_size(4) * sizeof *H);
    double time[2], E;
    if (abut_elastic_init(&e, m, NULL)) exit(1);
    for (int what = 0; what < 2; what++) {
        const double start = now();
        double n = 0;
        for (; now() - start < 1e9 * seconds; n += m->nt)
            if (what) abut_elastic_hessian(&e, x, 1, H);
            else if (elastic_energy(&e, x, &E, &scratch, NULL)) exit(1);
        time[what] = (now() - start) / n;
    }
    report(1, 1, 4, 1, time[0], time[1]);
    free(x), free(H);
    abut_elastic_clear(&e);
    abut_arena_clear(&scratch);
}

static void order_k(const abut_model *m, int order, int map, double seconds)
{
    abut_elastic_high e;
    abut_arena scratch = { 0 };
    const int nodes = abut_tet_nodes(order);
    double *x = moved(m), *H = malloc(abut_packed_size(nodes) * sizeof *H), time[2], E;
    if (abut_elastic_high_init(&e, m, order, NULL, NULL)) exit(1);
    double *f = malloc(3 * (size_t)e.n * (size_t)nodes * sizeof *f);
    for (int what = 0; what < 2; what++) {
        const double start = now();
        double n = 0;
        for (; now() - start < 1e9 * seconds; n += e.n) {
            for (size_t t = 0; what && t < (size_t)e.n; t++) abut_elastic_high_hessian(&e, x, 1, t, t + 1, H);
            if (!what && abut_elastic_high_evaluate(&e, x, &E, f, &scratch, NULL)) exit(1);
        }
        time[what] = (now() - start) / n;
    }
    report(order, map, nodes, e.table[e.degree[0]].n, time[0], time[1]);
    free(x), free(H), free(f);
    abut_elastic_high_clear(&e);
    abut_arena_clear(&scratch);
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? atof(argv[1]) : 0.5;
    abut_threads_set(1);
    puts("order\tmap\tpoints\tenergy_ns\tmatrix_ns\tflops\tflops_per_ns");
    for (int order = 1; order <= 4; order++)
        for (int map = 1; map <= order; map += order > 1 ? order - 1 : 1) {
            high_box b;
            high_box_build(&b, 4, 0.1, 0.1, 1, map, map > 1 ? 0.01 : 0, order);
            if (order == 1) order_1(&b.model, seconds);
            else order_k(&b.model, order, map, seconds);
            high_box_free(&b);
        }
    return 0;
}
