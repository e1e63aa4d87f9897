/* Frames of a curtain of n x n nodes by fast mass-springs: TSV of nodes, springs, iterations, milliseconds of processor and of
 * wall clock a frame (mean of the frames), those of gradient and solve, entries of the factor, seconds to set up.
 *     bench_local [n] [iterations] [frames] [threads] */
#define CHECK_OWN_MAIN
#include "../unit/curtain.h"

#include "base/par.h"
#include "base/timer.h"
#include "solve/local_global/local_global.h"

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 100, iterations = argc > 2 ? atoi(argv[2]) : 10;
    const int frames = argc > 3 ? atoi(argv[3]) : 60, threads = argc > 4 ? atoi(argv[4]) : 1;
    abut_arrays model_set = { 0 }, now = { 0 }, next = { 0 };
    abut_model model;
    abut_local_global s;
    abut_solve_options o = abut_solve_defaults;
    abut_instant at = { 0 };
    abut_err err = { 0 };
    double cpu = 0, wall = 0, gradient = 0, solve = 0, setup = 0, nnz = 0;
    o.real_time.iterations = iterations;
    abut_threads_set(threads);
    curtain_arrays(n, 50.0 * (n - 1), 1e-6, &model_set, &now);
    if (abut_model_view(&model_set, &model, &err) || abut_lg_init(&s, &model, &abut_lg_springs, &o, &err))
        return printf("%s\n", err.msg), 1;
    for (int k = -1; k < frames; k++) {     /* the first frame factors */
        abut_report rep = { 0 };
        int written = 1;
        if (abut_stepper_advance(&abut_lg_stepper_ops, &s, &now, 0, &at, &written, 0, &next, &rep,
                                 &err)) return printf("%s\n", err.msg), 1;
        const abut_arrays swap = now;
        now = next;
        next = swap;
        if (k < 0) {
            setup = rep.seconds.factor;
        } else {
            cpu += rep.cpu, wall += rep.seconds.total, gradient += rep.seconds.gradient, solve += rep.seconds.solve;
        }
        nnz = rep.factor_nnz;
        abut_report_clear(&rep);
    }
    printf("nodes\tsprings\titerations\tthreads\tcpu_ms\twall_ms\tgradient_ms\tsolve_ms\tfactor_nnz\tsetup_s\n");
    printf("%d\t%d\t%d\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.0f\t%.3f\n", model.nv, model.nsp, iterations, threads, 1e3 * cpu / frames,
           1e3 * wall / frames, 1e3 * gradient / frames, 1e3 * solve / frames, nnz, setup);
    abut_lg_clear(&s);
    abut_arrays_clear(&model_set);
    abut_arrays_clear(&now);
    abut_arrays_clear(&next);
    return 0;
}
