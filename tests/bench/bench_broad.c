/* Broad phase of the cloth-ball motion, boxes grown by 1e-3: TSV of threads, pairs, milliseconds (best of 5). */
#include "base/par.h"
#include "base/timer.h"
#include "geom/boxes.h"
#include "ply_mesh.h"

struct pass { double wall, cpu; size_t vt, ee; };

static int pass_run(const ply_mesh *m, const double *x1, abut_box *box[3], abut_pair_list out[2], struct pass *p)
{
    const double cpu = abut_time_cpu(), wall = abut_time_wall();
    abut_err err = { 0 };
    const int32_t n[3] = { m->nv, m->ne, m->nt };
    #pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < m->nv; i++) box[0][i] = abut_box_points(m->x, x1, &i, 1, 1e-3);
    for (int k = 1; k < 3; k++) {
        const int32_t *vert = k == 1 ? m->edge : m->tri;
        #pragma omp parallel for schedule(static)
        for (int32_t i = 0; i < n[k]; i++) box[k][i] = abut_box_points(m->x, x1, vert + (k + 1) * i, k + 1, 1e-3);
    }
    int32_t *self = malloc((size_t)m->nv * sizeof *self);
    for (int32_t i = 0; i < m->nv; i++) self[i] = i;
    const abut_items v = { (size_t)m->nv, 1, self, NULL, box[0] }, e = { (size_t)m->ne, 2, m->edge, NULL, box[1] },
                     t = { (size_t)m->nt, 3, m->tri, NULL, box[2] };
    const int bad = abut_box_pairs(&v, &t, &out[0], &err) || abut_box_pairs(&e, &e, &out[1], &err);
    if (bad) fprintf(stderr, "%s\n", err.msg);
    free(self);
    *p = (struct pass){ abut_time_wall() - wall, abut_time_cpu() - cpu, out[0].n, out[1].n };
    return !bad;
}

int main(int argc, char **argv)
{
    const char *data = getenv("ABUT_DATA") ? getenv("ABUT_DATA") : "../shared/data";
    const int most = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 2, repeat = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 5;
    char path[2][1000];
    ply_mesh m[2];
    for (int k = 0; k < 2; k++) {
        snprintf(path[k], sizeof path[k], "%s/ipc-toolkit/cloth_ball9%d.ply", data, 2 + k);
        if (!ply_load(path[k], &m[k])) return fprintf(stderr, "skipped: no %s\n", path[k]), 0;
    }
    abut_box *box[3] = { malloc((size_t)m[0].nv * sizeof **box), malloc((size_t)m[0].ne * sizeof **box),
                         malloc((size_t)m[0].nt * sizeof **box) };
    abut_pair_list out[2] = { 0 };
    printf("threads\tvt\tee\tpairs\twall_ms\tcpu_ms\n");
    for (int threads = 1; threads <= most; threads++) {
        abut_threads_set(threads);
        struct pass best = { 0 };
        for (int r = 0; r < repeat; r++) {
            struct pass p;
            if (!pass_run(&m[0], m[1].x, box, out, &p)) return 1;
            if (!r || p.wall < best.wall) best.wall = p.wall;
            if (!r || p.cpu < best.cpu) best.cpu = p.cpu;
            best.vt = p.vt, best.ee = p.ee;
        }
        printf("%d\t%zu\t%zu\t%zu\t%.1f\t%.1f\n", threads, best.vt, best.ee, best.vt + best.ee, 1e3 * best.wall, 1e3 * best.cpu);
    }
    for (int k = 0; k < 3; k++) free(box[k]);
    for (int k = 0; k < 2; k++) abut_pair_list_clear(&out[k]), ply_free(&m[k]);
    return 0;
}
