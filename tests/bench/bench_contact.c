/* One Newton iteration's worth of contact work on the cloth-ball motion: TSV of threads, phase, count, CPU and wall
 * milliseconds (best of the repeats).  bench_contact [most threads] [repeats] */
#include "../unit/projected_barrier.h"
#include "base/par.h"
#include "base/timer.h"
#include "contact/intersect.h"
#include "contact/step_bound.h"
#include "contact/pairs.h"
#include "energy/barrier.h"
#include "sparse/bsr.h"
#include "ply_mesh.h"

enum { FIND, PAIRS, LIMIT, PAIRS_TRIAL, CROSS, HESSIAN, ASSEMBLE, N_PHASE };
static const char *phase_name[N_PHASE] = { "candidates_find", "pairs_find", "limit_ccd", "pairs_find_trial", "cross_find",
                                           "barrier_hessian", "assemble" };

struct clock { double wall, cpu; };
struct result { double wall, cpu; size_t count; };

static struct clock now(void) { return (struct clock){ abut_time_wall(), abut_time_cpu() }; }

static void record(struct result *r, struct clock since, size_t count)
{
    const double wall = abut_time_wall() - since.wall, cpu = abut_time_cpu() - since.cpu;
    if (r->wall <= 0 || wall < r->wall) r->wall = wall;
    if (r->cpu <= 0 || cpu < r->cpu) r->cpu = cpu;
    r->count = count;
}

/* Projected barrier Hessians of the contacts at y, and their sum into a block matrix whose pattern is known */
static int barrier_work(const abut_collmesh *cm, const double *y, const abut_pairs *pairs, struct result res[N_PHASE])
{
    int32_t *node = malloc(4 * (pairs->n + 1) * sizeof *node);
    double *H = malloc(ABUT_PACKED * (pairs->n + 1) * sizeof *H);
    abut_bsr A = { 0 };
    abut_err err = { 0 };
    if (!node || !H) return 0;
    struct clock t = now();
    projected_barrier(cm, pairs, y, 1, node, H);
    record(&res[HESSIAN], t, pairs->n);
    const abut_elements set = { .corners = 4, .n = pairs->n, .row = node, .val = H };
    const int bad = abut_bsr_pattern(&A, cm->nc, &set, 1, &err);
    t = now();
    if (!bad) abut_bsr_assemble(&A, NULL, &set, 1);
    record(&res[ASSEMBLE], t, pairs->n);
    abut_bsr_clear(&A);
    free(node);
    free(H);
    return !bad;
}

static int iteration(const abut_collmesh *cm, const double *y0, const double *y1, abut_candidates *cand, abut_pairs *pairs,
                     double *yt, struct result res[N_PHASE])
{
    abut_err err = { 0 };
    const double reach = *cm->model->dhat;
    abut_limit lim = { .alpha = 1 };
    size_t found = 0;
    struct clock t = now();
    int bad = abut_candidates_find(cm, y0, y1, reach, NULL, cand, &err);
    record(&res[FIND], t, cand->vt.n + cand->ee.n);
    t = now();
    bad = bad || abut_pairs_find(cm, cand, y0, NULL, pairs, &err);
    record(&res[PAIRS], t, pairs->n);
    bad = bad || !barrier_work(cm, y0, pairs, res);
    t = now();
    bad = bad || abut_limit_ccd(cm, cand, y0, y1, 0.2, &lim, &err);
    record(&res[LIMIT], t, cand->vt.n + cand->ee.n);
    for (int32_t i = 0; i < 3 * cm->nc; i++) yt[i] = y0[i] + lim.alpha * (y1[i] - y0[i]);
    t = now();
    bad = bad || abut_pairs_find(cm, cand, yt, NULL, pairs, &err);
    record(&res[PAIRS_TRIAL], t, pairs->n);
    t = now();
    bad = bad || abut_intersections_find(cm, yt, NULL, 0, NULL, &found, &err);
    record(&res[CROSS], t, found);
    if (bad) fprintf(stderr, "%s\n", err.msg);
    return !bad;
}

int main(int argc, char **argv)
{
    const char *data = getenv("ABUT_DATA") ? getenv("ABUT_DATA") : "../shared/data";
    const int most = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 2, repeat = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 3;
    char path[1000];
    ply_mesh m[2];
    for (int k = 0; k < 2; k++) {
        snprintf(path, sizeof path, "%s/ipc-toolkit/cloth_ball9%d.ply", data, 2 + k);
        if (!ply_load(path, &m[k])) return fprintf(stderr, "skipped: no %s\n", path), 0;
    }
    int32_t *node = malloc((size_t)m[0].nv * sizeof *node);
    for (int32_t i = 0; i < m[0].nv; i++) node[i] = i;
    const double dhat = 1e-3;
    const abut_model model = { .nv = m[0].nv, .nc = m[0].nv, .nce = m[0].ne, .nct = m[0].nt, .X = m[0].x, .coll_node = node,
                               .coll_edge = m[0].edge, .coll_tri = m[0].tri, .dhat = &dhat };
    abut_collmesh cm;
    abut_candidates cand = { 0 };
    abut_pairs pairs = { 0 };
    double *yt = malloc(3 * (size_t)m[0].nv * sizeof *yt);
    if (abut_collmesh_init(&cm, &model, NULL)) return 1;
    printf("threads\tphase\tcount\twall_ms\tcpu_ms\n");
    for (int threads = 1; threads <= most; threads++) {
        struct result res[N_PHASE] = { 0 };
        abut_threads_set(threads);
        for (int r = 0; r < repeat; r++)
            if (!iteration(&cm, m[0].x, m[1].x, &cand, &pairs, yt, res)) return 1;
        for (int k = 0; k < N_PHASE; k++)
            printf("%d\t%s\t%zu\t%.2f\t%.2f\n", threads, phase_name[k], res[k].count, 1e3 * res[k].wall, 1e3 * res[k].cpu);
    }
    abut_candidates_clear(&cand);
    abut_pairs_clear(&pairs);
    abut_collmesh_clear(&cm);
    for (int k = 0; k < 2; k++) ply_free(&m[k]);
    free(node);
    free(yt);
    return 0;
}
