/* Geometry kernels on one thread: TSV of name, calls, nanoseconds of CPU a call (best of `repeat`), and what came out.
 * usage: bench_geom [repeat [name]]   a name runs only the rows that contain it */
#include "base/rng.h"
#include "base/timer.h"
#include "geom/boxes.h"
#include "geom/ccd/ccd.h"
#include "geom/dist.h"
#include "geom/jacobian.h"
#include "ply_mesh.h"
#include "tests/unit/query_files.h"

#include <math.h>

static const char *filter;
static int repeat = 3;

static int wanted(const char *name) { return !filter || strstr(name, filter); }

static void row(const char *name, size_t n, double best, const char *what, double value)
{
    printf("%s\t%zu\t%.1f\t%s %g\n", name, n, 1e9 * best / (double)n, what, value);
    fflush(stdout);
}

/* -- distances ---------------------------------------------------------------------------------------------------- */

enum { STENCILS = 1024, ROUNDS = 200 };

static void bench_stencils(void)
{
    static double x[STENCILS][12];
    abut_rng r = { 1 };
    for (int i = 0; i < STENCILS; i++)
        for (int k = 0; k < 12; k++) x[i][k] = abut_rng_real(&r, -1, 1);
    static const char *const names[4][2] = { { "nearest PP", "dist2+grad+hess PP" }, { "nearest PE", "dist2+grad+hess PE" },
                                             { "nearest PT", "dist2+grad+hess PT" }, { "nearest EE", "dist2+grad+hess EE" } };
    for (int s = 0; s < 4; s++)
        for (int what = 0; what < 2; what++) {
            double best = INFINITY, sum = 0, g[12], H[144], d2;
            if (!wanted(names[s][what])) continue;
            for (int rep = 0; rep < repeat; rep++) {
                const double t = abut_time_cpu();
                for (int round = 0; round < ROUNDS; round++)
                    for (int i = 0; i < STENCILS; i++) {
                        if (what) sum += abut_dist2_all((abut_stencil)s, x[i], NULL, g, H) + g[1] + H[1];
                        else abut_nearest((abut_stencil)s, x[i], &d2), sum += d2;
                    }
                const double dt = abut_time_cpu() - t;
                best = dt < best ? dt : best;
            }
            row(names[s][what], (size_t)STENCILS * ROUNDS, best, "sum", sum);
        }
}

/* -- additive CCD over the pairs of the cloth-ball motion --------------------------------------------------------- */

static int cloth_pairs(const ply_mesh *m, const double *x1, abut_pair_list out[2])
{
    abut_err err = { 0 };
    const int32_t n[3] = { m->nv, m->ne, m->nt };
    const int32_t *vert[3] = { NULL, m->edge, m->tri };
    int32_t *self = malloc((size_t)m->nv * sizeof *self);
    abut_box *box[3];
    for (int32_t i = 0; i < m->nv; i++) self[i] = i;
    vert[0] = self;
    for (int k = 0; k < 3; k++) {
        box[k] = malloc((size_t)n[k] * sizeof **box);
        for (int32_t i = 0; i < n[k]; i++) box[k][i] = abut_box_points(m->x, x1, vert[k] + (k + 1) * i, k + 1, 1e-3);
    }
    const abut_items v = { (size_t)m->nv, 1, self, NULL, box[0] }, e = { (size_t)m->ne, 2, m->edge, NULL, box[1] },
                     t = { (size_t)m->nt, 3, m->tri, NULL, box[2] };
    const int bad = abut_box_pairs(&v, &t, &out[0], &err) || abut_box_pairs(&e, &e, &out[1], &err);
    if (bad) fprintf(stderr, "%s\n", err.msg);
    free(self);
    for (int k = 0; k < 3; k++) free(box[k]);
    return !bad;
}

static void put_points(const double *x, const int32_t *a, int na, const int32_t *b, int nb, double *y)
{
    for (int i = 0; i < na; i++) memcpy(y + 3 * i, x + 3 * (size_t)a[i], 3 * sizeof *y);
    for (int i = 0; i < nb; i++) memcpy(y + 3 * (na + i), x + 3 * (size_t)b[i], 3 * sizeof *y);
}

static void bench_cloth(const char *data)
{
    static const char *const names[2] = { "additive cloth-ball PT", "additive cloth-ball EE" };
    char path[2][1000];
    ply_mesh m[2] = { { 0 }, { 0 } };
    abut_pair_list pairs[2] = { { 0 }, { 0 } };
    if (!wanted(names[0]) && !wanted(names[1])) return;
    for (int k = 0; k < 2; k++) {
        snprintf(path[k], sizeof path[k], "%s/ipc-toolkit/cloth_ball9%d.ply", data, 2 + k);
        if (!ply_load(path[k], &m[k])) {
            printf("# skipped: no %s\n", path[k]);
            return;
        }
    }
    if (!cloth_pairs(&m[0], m[1].x, pairs)) return;
    for (int kind = 0; kind < 2; kind++) {
        double best = INFINITY, least = 1;
        size_t answers[3] = { 0 };
        if (!wanted(names[kind])) continue;
        for (int rep = 0; rep < repeat; rep++) {
            const double t = abut_time_cpu();
            memset(answers, 0, sizeof answers);
            for (size_t i = 0; i < pairs[kind].n; i++) {
                const int32_t a = pairs[kind].ij[i][0], b = pairs[kind].ij[i][1];
                const int32_t *va = kind ? m[0].edge + 2 * a : &pairs[kind].ij[i][0],
                              *vb = kind ? m[0].edge + 2 * b : m[0].tri + 3 * b;
                double x0[12], x1[12], toi;
                put_points(m[0].x, va, kind ? 2 : 1, vb, kind ? 2 : 3, x0);
                put_points(m[1].x, va, kind ? 2 : 1, vb, kind ? 2 : 3, x1);
                answers[abut_ccd_additive(kind ? ABUT_EE : ABUT_PT, x0, x1, 0, 0.1, 1, &toi)]++;
                if (toi < least) least = toi;
            }
            const double dt = abut_time_cpu() - t;
            best = dt < best ? dt : best;
        }
        row(names[kind], pairs[kind].n, best, "least toi", least);
        printf("# clear %zu, hit %zu, bad %zu\n", answers[0], answers[1], answers[2]);
    }
    for (int k = 0; k < 2; k++) abut_pair_list_clear(&pairs[k]), ply_free(&m[k]);
}

/* -- the public queries ------------------------------------------------------------------------------------------- */

static int ask(int method, abut_stencil s, const abut_ccd_query *q, abut_arena *scratch)
{
    double toi;
    if (method == 0) return abut_ccd_additive(s, q->x0, q->x1, 0, 0.1, 1, &toi) != ABUT_CCD_CLEAR;
    if (method == 1) return abut_ccd_inclusion(s, q->x0, q->x1, 0, 1e-6, 1, 1000000, &toi, scratch) != ABUT_CCD_CLEAR;
    return abut_ccd_exact(s, q->x0, q->x1, NULL, NULL);
}

static void bench_queries(const char *data)
{
    static const char *const names[3] = { "queries additive", "queries inclusion", "queries exact" };
    char folder[1000];
    query_set set = { 0 };
    abut_arena scratch = { 0 };
    snprintf(folder, sizeof folder, "%s/ccd-queries", data);
    query_set_load(&set, folder, 4);
    if (!set.n) printf("# skipped: no queries under %s\n", folder);
    for (int method = 0; method < 3 && set.n; method++) {
        size_t missed = 0, extra = 0;
        if (!wanted(names[method])) continue;
        const double t = abut_time_cpu();
        for (size_t i = 0; i < set.n; i++) {
            const int yes = ask(method, set.kind[i], &set.q[i], &scratch);
            missed += set.q[i].truth && !yes;
            extra += !set.q[i].truth && yes;
        }
        row(names[method], set.n, abut_time_cpu() - t, "extra", (double)extra);
        printf("# missed %zu\n", missed);
    }
    abut_arena_clear(&scratch);
    query_set_clear(&set);
}

/* -- certified Jacobians ------------------------------------------------------------------------------------------ */

/* Tets of order k, somewhat curved, and a direction. */
static void curved_tet(int order, abut_rng *r, double x[ABUT_TET_NODES_MAX][3], double p[ABUT_TET_NODES_MAX][3])
{
    const double by = 0.1 / (order * order);
    for (int i = 0; i < abut_tet_nodes(order); i++)
        for (int d = 0; d < 3; d++) {
            x[i][d] = (double)abut_tet_lattice(order)[i][d + 1] / order + abut_rng_real(r, -by, by);
            p[i][d] = abut_rng_real(r, -by, by);
        }
}

static double certify(int what, int order, double (*x)[3], double (*p)[3], double (*y)[3])
{
    typedef const double (*places)[3];
    if (what == 0) return abut_jacobian_check(order, (places)x, NULL);
    if (what == 1) return abut_jacobian_check_motion(order, (places)x, (places)y, NULL);
    return abut_jacobian_max_step(order, (places)x, (places)p, 0.2);
}

static void bench_jacobian(void)
{
    enum { TETS = 200 };
    static double x[TETS][ABUT_TET_NODES_MAX][3], p[TETS][ABUT_TET_NODES_MAX][3], y[TETS][ABUT_TET_NODES_MAX][3];
    static const char *const names[] = { "det J > 0, order", "det J > 0 on a motion, order", "step that keeps det J, order" };
    abut_rng r = { 1 };
    for (int order = 2; order <= ABUT_ORDER_MAX; order++) {
        for (int t = 0; t < TETS; t++) {
            curved_tet(order, &r, x[t], p[t]);
            for (int i = 0; i < 3 * ABUT_TET_NODES_MAX; i++) y[t][i / 3][i % 3] = x[t][i / 3][i % 3] + 0.5 * p[t][i / 3][i % 3];
        }
        for (int what = 0; what < 3; what++) {
            double best = INFINITY, sum = 0;
            char name[64];
            snprintf(name, sizeof name, "%s %d", names[what], order);
            if (!wanted(name)) continue;
            for (int rep = 0; rep < repeat; rep++) {
                const double start = abut_time_cpu();
                sum = 0;
                for (int t = 0; t < TETS; t++) sum += certify(what, order, x[t], p[t], y[t]);
                best = fmin(best, abut_time_cpu() - start);
            }
            row(name, TETS, best, "sum", sum);
        }
    }
}

int main(int argc, char **argv)
{
    const char *data = getenv("ABUT_DATA") ? getenv("ABUT_DATA") : "../shared/data";
    if (argc > 1) repeat = (int)strtol(argv[1], NULL, 10);
    if (argc > 2) filter = argv[2];
    printf("kernel\tcalls\tns\tresult\n");
    bench_stencils();
    bench_jacobian();
    bench_queries(data);
    bench_cloth(data);
    return 0;
}
