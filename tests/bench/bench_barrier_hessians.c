/* The Hessians of contacts and of their friction, made and projected: TSV of kind, rows of the matrix, choice, law, contacts,
 * ns a contact on one thread (best of the repeats).  bench_barrier_hessians [most contacts] [repeats]
 *
 * "expanded": the terms of rank one as packed blocks; "dense eigen": the Hessian projected by its eigenvectors, all rows. */
#include "../unit/rows.h"
#include "base/par.h"
#include "base/rng.h"
#include "base/timer.h"
#include "energy/barrier.h"
#include "energy/friction.h"
#include "math/spd_inline.h"
#include "sparse/elements.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEEP = 64 };  /* matrices that are written one over the other, so that caches hold them */
static const double DHAT = 1e-3;

typedef struct bench {
    abut_stencil kind;
    size_t n;
    int repeats;
    double (*x)[12];
    abut_barrier_law law[ABUT_LANES];
    double *val, *room;
} bench;

/* points of a stencil of about unit size that is its own active feature, within dhat */
static void one_contact(abut_rng *r, abut_stencil kind, double *x)
{
    const double d = DHAT * abut_rng_real(r, 0.05, 0.95), a = abut_rng_real(r, 0.2, 0.5), b = abut_rng_real(r, 0.2, 0.45);
    const double pt[12] = { a, b, d, 0, 0, 0, 1, 0.1, 0, 0.2, 1, 0 }, ee[12] = { a, -b, d, a, 1, d, 0, 0, 0, 1, 0.1, 0 };
    memset(x, 0, 12 * sizeof *x);
    if (kind == ABUT_PT || kind == ABUT_EE) memcpy(x, kind == ABUT_PT ? pt : ee, sizeof pt);
    else if (kind == ABUT_PE) memcpy(x, (double[9]){ a, 0.6 * d, 0.8 * d, 0, 0, 0, 1, 0, 0 }, 9 * sizeof *x);
    else memcpy(x, (double[6]){ d / 3, 2 * d / 3, 2 * d / 3, 0, 0, 0 }, 6 * sizeof *x);
}

static void expanded(const double *term, size_t n, double *room)
{
    const abut_elements set = { .corners = 4, .rank = 1, .n = n, .val = term };
    (void)abut_elements_packed(&set, 0, n, room);
}

/* One pass over all contacts; ops NULL: by eigenvectors. */
static void pass(const bench *b, const abut_barrier_hessian_ops *ops, int expand)
{
    static const double scale[ABUT_LANES] = { 1, 1, 1, 1 };
    const size_t size = ops && ops->rank ? (size_t)ops->rank * ABUT_RANK_ONE : ABUT_PACKED;
    const int rows = 3 * abut_stencil_size(b->kind);
    for (size_t i = 0; i < b->n; i += ABUT_LANES) {
        const double (*x)[12] = (const double (*)[12])b->x + i;
        double *to = b->val + size * (i % KEEP);
        if (ops) ops->plain(b->law, 0, b->kind, ABUT_LANES, x, scale, to);
        if (expand) expanded(to, ABUT_LANES, b->room);
        for (size_t l = 0; l < ABUT_LANES && !ops; l++) {
            double g[12], *H = b->room, db, ddb;
            const double d2 = abut_dist2_all(b->kind, x[l], NULL, g, H);
            (void)abut_barrier(b->law[l], d2, &db, &ddb);
            for (int k = 0; k < rows * rows; k++) H[k] = ddb * (g[k / rows] * g[k % rows]) + db * H[k];
            (void)abut_psd_project(rows, H);
        }
    }
}

static void measure(const bench *b, const abut_barrier_hessian_ops *ops, int expand)
{
    double best = 0;
    for (int r = 0; r < b->repeats; r++) {
        const double start = abut_time_cpu();
        pass(b, ops, expand);
        const double took = abut_time_cpu() - start;
        if (best <= 0 || took < best) best = took;
    }
    static const char *const kind[] = { "point, point", "point, edge", "point, triangle", "edge, edge" };
    printf("%s\t%d\t%s%s\t%s\t%zu\t%.1f\n", kind[b->kind], 3 * abut_stencil_size(b->kind), ops ? ops->name : "dense eigen",
           expand ? ", expanded" : "", abut_barrier_names[b->law[0].number], b->n, 1e9 * best / (double)b->n);
}

/* Friction of the same four points, by its closed form and projected by eigenvectors. */
static void measure_friction(size_t n, int repeats, double *room)
{
    int32_t (*node)[4] = malloc(n * sizeof *node);
    double (*weight)[4] = malloc(n * sizeof *weight), (*basis)[6] = malloc(n * sizeof *basis), *x = malloc(12 * n * sizeof *x);
    double *one = malloc(n * sizeof *one), *H = malloc(n * ABUT_PACKED * sizeof *H), *still = calloc(12 * n, sizeof *still);
    const abut_stiction law = { 0.01, 1e-3, ABUT_FRICTION_C1 };
    abut_rng r = { 1 };
    for (size_t i = 0; node && weight && basis && x && one && H && still && i < n; i++) {
        const double a = abut_rng_real(&r, 0.2, 0.5), b = abut_rng_real(&r, 0.2, 0.45);
        const double w[4] = { 1, -a, -b, a + b - 1 }, P[6] = { 1, 0, 0, 0, 0, 1 };
        for (int c = 0; c < 4; c++) node[i][c] = (int32_t)(4 * i) + c;
        memcpy(weight[i], w, sizeof w), memcpy(basis[i], P, sizeof P);
        for (int k = 0; k < 12; k++) x[12 * i + (size_t)k] = abut_rng_real(&r, -2e-5, 2e-5);
        one[i] = 1;
    }
    const abut_lag lag = { n, n, node, weight, basis, one, one, NULL };
    for (int dense = 0; dense < 2 && H; dense++) {
        double best = 0;
        for (int k = 0; k < repeats; k++) {
            const double start = abut_time_cpu();
            abut_friction_hessian(&lag, &law, x, still, NULL, NULL, H);
            for (size_t i = 0; dense && i < n; i++) {
                for (int a = 0, at = 0; a < 4; a++)
                    for (int b = a; b < 4; b++, at += 9)
                        for (int e = 0; e < 9; e++)
                            room[12 * (3 * a + e / 3) + 3 * b + e % 3] = room[12 * (3 * b + e % 3) + 3 * a + e / 3] =
                                H[ABUT_PACKED * i + (size_t)(at + e)];
                (void)abut_psd_project(12, room);
            }
            const double took = abut_time_cpu() - start;
            if (best <= 0 || took < best) best = took;
        }
        const char *how = dense ? "closed form, dense eigen" : "closed form";
        printf("friction\t12\t%s\tc1\t%zu\t%.1f\n", how, n, 1e9 * best / (double)n);
    }
    free(node), free(weight), free(basis), free(x), free(one), free(H), free(still);
}

int main(int argc, char **argv)
{
    const size_t most = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 100000;
    bench b = { .repeats = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 5 };
    b.x = malloc(most * sizeof *b.x);
    b.val = malloc(KEEP * ABUT_PACKED * sizeof *b.val);
    b.room = malloc(ABUT_ELEMENTS_ROOM * sizeof *b.room);
    if (!b.x || !b.val || !b.room) return 5;
    abut_threads_set(1);
    printf("contact\trows\thessian\tlaw\tcontacts\tns a contact\n");
    for (b.kind = ABUT_PP; b.kind <= ABUT_EE; b.kind++) {
        abut_rng r = { 1 };
        for (size_t i = 0; i < most; i++) one_contact(&r, b.kind, b.x[i]);
        for (int number = ABUT_BARRIER_IPC; number <= ABUT_BARRIER_LOG2; number++) {
            for (int l = 0; l < ABUT_LANES; l++) b.law[l] = abut_barrier_law_of(DHAT, number, 0);
            for (b.n = 1000; b.n <= most; b.n *= 100) {
                measure(&b, NULL, 0);
                for (int i = 0; all_hessians()[i]; i++) {
                    const abut_barrier_hessian_ops *ops = all_hessians()[i];
                    if (!strcmp(ops->name, "gn-j")) continue;       /* the same of plain contacts */
                    measure(&b, ops, 0);
                    if (ops->rank == 1) measure(&b, ops, 1);
                }
            }
        }
    }
    for (b.n = 1000; b.n <= most; b.n *= 100) measure_friction(b.n, b.repeats, b.room);
    free(b.x);
    free(b.val);
    free(b.room);
    return 0;
}
