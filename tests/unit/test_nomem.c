/* The n-th allocation of a computation fails, for every n: it says so, gives back all memory, and crashes nowhere. */
#include "base/par.h"
#include "box_tets.h"
#include "failing_malloc.h"
#include "geom/boxes.h"
#include "geom/broad_phase.h"
#include "geom/quadrature.h"
#include "graph/graph.h"
#include "solve/baselines/ichol.h"
#include "sparse/lbfgs.h"
#include "sparse/linear_solver.h"
#include "sparse/operator.h"
#include "solve/baselines/qp.h"
#include "sparse/schwarz/schwarz.h"
#include "sparse/woodbury.h"

#include "check.h"

#ifdef ALLOCATOR_STAYS
TEST(every_failing_allocation_is_reported_and_nothing_leaks) { SKIP("the allocator cannot be replaced here"); }
#else

enum { MOST_NODES = 343, BOXES = 300 };

/* A box of springs, and boxes that overlap. */
static struct {
    box_tets box;
    abut_elements set;
    abut_bsr A;
    double diag[MOST_NODES], b[3 * MOST_NODES], x[3 * MOST_NODES], where[3 * MOST_NODES];
    int32_t part[6 * MOST_NODES], node[6 * MOST_NODES], vert[BOXES];
    abut_box aabb[BOXES];
} w;

static abut_operator operator_of(void) { return (abut_operator){ .matrix = &w.A, .where = w.where }; }

SETUP
{
    abut_rng r = { 3 };
    abut_threads_set(1);
    w.box = box_tets_make(6, 6, 6, 4);
    w.set = (abut_elements){ .corners = 4, .n = (size_t)w.box.nt, .row = w.box.tet, .val = w.box.val };
    for (int i = 0; i < 3 * MOST_NODES; i++) w.b[i] = abut_rng_real(&r, -1, 1), w.where[i] = abut_rng_real(&r, 0, 1);
    for (int i = 0; i < MOST_NODES; i++) w.diag[i] = abut_rng_real(&r, 0.5, 1);
    if (abut_bsr_pattern(&w.A, w.box.nv, &w.set, 1, NULL)) abort();
    abut_bsr_assemble(&w.A, w.diag, &w.set, 1);
    for (int i = 0; i < BOXES; i++) {
        w.vert[i] = i;
        for (int d = 0; d < 3; d++) w.aabb[i].lo[d] = abut_rng_real(&r, 0, 1), w.aabb[i].hi[d] = w.aabb[i].lo[d] + 0.4;
    }
}

TEARDOWN
{
    abut_bsr_clear(&w.A);
    box_tets_free(&w.box);
}

static void exhaust(const char *name, abut_status (*compute)(abut_err *err))
{
    abut_err err = { 0 };
    CHECK(!compute(&err));      /* makes all that is made once in a process */
    if (err.code) printf("# %s: %s\n", name, err.msg);
    int n = 0, wrong = 0;
    for (int more = 1; more && wrong < 5; n += more) {
        err = (abut_err){ 0 };
        const int before = live;
        failed = 0, countdown = n;
        const abut_status rc = compute(&err);
        countdown = -1;
        more = failed;
        if (rc == (more ? ABUT_E_NOMEM : ABUT_OK) && err.code == rc && (!rc || *err.msg) && live == before) continue;
        printf("# %s, allocation %d: status %d, %d left, %s\n", name, n, rc, live - before, err.msg);
        wrong++;
    }
    printf("# %s: %d allocations\n", name, n);
    CHECK(n > 0 && !wrong);
}
#define EXHAUST(compute) exhaust(#compute, compute)

/* ---- geometry ---- */

static abut_status boxes(abut_err *err)
{
    const abut_items all = { BOXES, 1, w.vert, NULL, w.aabb }, half = { BOXES / 2, 1, w.vert + BOXES / 2, NULL, w.aabb };
    abut_pair_list out = { 0 };
    abut_status rc = abut_box_pairs(&all, &all, &out, err);
    const size_t n = out.n;
    CHECK(rc ? !n : n > 1024);      /* more than a thread keeps at first */
    if (!rc) rc = abut_box_pairs(&all, &half, &out, err);
    abut_pair_list_clear(&out);
    return rc;
}

static abut_status moving_boxes(abut_err *err)
{
    const abut_prims points = { BOXES, 1, w.vert }, tets = { BOXES, 3, w.box.tet };
    const abut_motion m = { .nv = MOST_NODES, .y0 = w.where, .y1 = w.b, .reach = 0.1 };
    abut_broad_phase s = { 0 };
    abut_broad_trees *ta = NULL, *tb = NULL;
    abut_pair_list out = { 0 };
    abut_status rc = abut_broad_init(&s, &m, err);
    if (!rc) rc = abut_broad_pairs(&s, &points, &ta, &tets, &tb, &out, err);
    CHECK(rc ? !out.n : out.n > 0);
    abut_broad_trees_free(&ta);
    abut_broad_trees_free(&tb);
    abut_pair_list_clear(&out);
    abut_broad_clear(&s);
    return rc;
}

static abut_status rules(abut_err *err)
{
    abut_quadrature q;
    abut_status rc = abut_quadrature_tet(4, &q, err);
    abut_quadrature_clear(&q);
    if (!rc) rc = abut_quadrature_triangle(30, &q, err);
    abut_quadrature_clear(&q);
    return rc;
}

TEST(searches_and_quadratures_report_every_failing_allocation_and_leave_nothing)
{
    EXHAUST(boxes);
    EXHAUST(moving_boxes);
    EXHAUST(rules);
}

/* ---- graphs ---- */

static abut_status curve(abut_err *err)
{
    memset(w.part, 0, sizeof w.part);
    return abut_curve_order(MOST_NODES, w.where, w.part, 1, w.node, err);
}

static abut_status neighbours(abut_err *err)
{
    size_t *first;
    int32_t *next;
    const abut_status rc = abut_graph_neighbours(abut_bsr_graph(&w.A), &first, &next, err);
    CHECK(!rc == (first != NULL) && !rc == (next != NULL));
    free(first), free(next);
    return rc;
}

static abut_status least_degree(abut_err *err)
{
    abut_graph_fill fill;
    return abut_graph_order_amd(abut_bsr_graph(&w.A), w.node, &fill, err);
}

static abut_status nested(abut_err *err)
{
    return abut_graph_order_nested_dissection(abut_bsr_graph(&w.A), w.node, err);
}

static abut_status parts_of_rows(abut_err *err)
{
    int32_t *weight = malloc((w.A.nnz + 1) * sizeof *weight);
    for (size_t k = 0; weight && k < w.A.nnz; k++) weight[k] = 1 + (int32_t)(k % 9);
    const abut_status rc = !weight ? abut_fail(err, ABUT_E_NOMEM, "weights")
                                   : abut_graph_cut(abut_bsr_graph(&w.A), weight, 5, w.part, err);
    free(weight);
    return rc;
}

static abut_status parts_of_tets(abut_err *err)
{
    const abut_cut_opts whole = { .weight = w.where }, by_nodes = { .by_nodes = 1, .weight = w.diag };
    abut_partition_stats stats;
    const abut_status rc = abut_partition_mesh(w.box.nv, 1000, w.box.tet, 4, &whole, w.part, NULL, &stats, err);
    return rc ? rc : abut_partition_mesh(w.box.nv, w.box.nt, w.box.tet, 4, &by_nodes, w.part, NULL, &stats, err);
}

static abut_status dual(abut_err *err)
{
    abut_dual d = { 0 };
    abut_status rc = abut_dual_make(&d, w.box.nv, w.box.nt, w.box.tet, err);
    for (int32_t t = 0; t < w.box.nt; t++) w.part[t] = t % 7 == 0;
    if (!rc) rc = abut_dual_mend(&d, 2, w.part, err);
    abut_dual_clear(&d);
    return rc;
}

TEST(orders_and_parts_of_graphs_and_meshes_report_every_failing_allocation_and_leave_nothing)
{
    EXHAUST(curve);
    EXHAUST(neighbours);
    EXHAUST(least_degree);
    EXHAUST(nested);
    EXHAUST(parts_of_rows);
    EXHAUST(parts_of_tets);
    EXHAUST(dual);
}

/* ---- matrices ---- */

static abut_status patterns(abut_err *err)
{
    int32_t col[6 * MOST_NODES];
    for (int i = 0; i < w.box.nv; i++) col[i] = i / 2;
    const abut_row_map select = { .rows = w.box.nv, .cols = w.box.nv, .col = col };
    abut_elements sets[2] = { w.set, w.set };
    sets[1].map = &select;
    abut_bsr A = { 0 };
    abut_product *p = NULL;
    abut_status rc = abut_bsr_pattern(&A, w.box.nv, sets, 2, err);
    int changed;
    if (!rc) rc = abut_bsr_update(&A, sets, 1, 1, 0, &changed, err);
    if (!rc) rc = abut_product_make(&p, w.box.nv, sets, 2, 1, err);
    if (!rc) rc = abut_product_renew(&p, w.box.nv, sets, 2, 1, &changed, err);
    if (!rc) rc = abut_product_renew(&p, w.box.nv, sets, 2, 0, &changed, err);
    CHECK(!rc == (p != NULL));
    abut_product_free(&p);
    abut_bsr_clear(&A);
    return rc;
}

static abut_status maps(abut_err *err)
{
    int32_t first[3] = { 0, 1, 3 }, col[3] = { 0, 0, 1 };
    double weight[3] = { 1, 0.5, 0.5 };
    abut_row_map W = { .rows = 2, .cols = 2, .first = first, .col = col, .weight = weight };
    const abut_status rc = abut_row_map_transpose(&W, err);
    CHECK(!rc == (W.back_first && W.back_row && W.back_weight));
    free(W.back_first), free(W.back_row), free(W.back_weight);
    return rc;
}

static abut_status incomplete(abut_err *err)
{
    abut_bsr B = { 0 };
    abut_ichol f = { 0 };
    abut_status rc = abut_band_order(&w.A, w.node, err);
    if (!rc) rc = abut_band_permuted(&w.A, w.node, &B, err);
    CHECK(!rc == (B.val != NULL));
    if (!rc) rc = abut_ichol_factor(&f, &B, err);
    abut_bsr_clear(&B);
    abut_ichol_clear(&f);
    return rc;
}

static abut_status patched(abut_err *err)
{
    const abut_operator scalar = { .matrix = &w.A, .scalar = 1 };
    abut_elements few = w.set;
    few.n = 5;
    abut_linear_solver base = { 0 };
    abut_woodbury s = { 0 };
    int32_t m;
    abut_status rc = abut_linear_solver_init(&base, &abut_linear_cholmod, 1, err);
    if (!rc) rc = abut_linear_analyse(&base, &scalar, NULL, err);
    if (!rc) rc = abut_linear_factor(&base, &scalar, ABUT_DOUBLE, err);
    if (!rc) rc = abut_woodbury_count(w.box.nv, &few, &m, err);
    if (!rc) rc = abut_woodbury_make(&s, &base, w.box.nv, &few, err);
    CHECK(!rc == (s.row != NULL));
    abut_woodbury_clear(&s);
    abut_linear_solver_clear(&base);
    return rc;
}

static abut_status pairs(abut_err *err)
{
    abut_lbfgs l = { 0 };
    abut_status rc = abut_lbfgs_size(&l, 100, 3, err);
    CHECK(!rc == (l.s != NULL));
    if (!rc) rc = abut_lbfgs_size(&l, 200, 3, err);
    abut_lbfgs_clear(&l);
    return rc;
}

static abut_status program(abut_err *err)
{
    static const int32_t row[8] = { 0, 1, -1, -1, 2, -1, -1, -1 };
    double a[24] = { 1, 0, 0, 0, 1 }, c[2] = { -0.1, 0.1 }, lambda[2], none[90 * 2] = { 0 };
    a[12] = 1;
    const abut_elements sets[2] = { w.set, { .corners = 4, .n = 2, .row = row, .val = none } };
    const abut_qp_rows rows = { 2, row, a, c };
    abut_bsr H = { 0 };
    abut_linear_solver s = { 0 };
    abut_qp_result result;
    abut_status rc = abut_bsr_pattern(&H, w.box.nv, sets, 2, err);
    if (!rc) abut_bsr_assemble(&H, w.diag, sets, 2);
    const abut_operator of = { .matrix = &H };
    if (!rc) rc = abut_linear_solver_init(&s, &abut_linear_own, 1, err);
    if (!rc) rc = abut_linear_analyse(&s, &of, NULL, err);
    if (!rc) rc = abut_qp_solve(&H, w.b, w.diag, &rows, &(abut_qp_options){ 1e-6, 1e4, 30 }, &s, w.x, lambda, &result, err);
    abut_linear_solver_clear(&s);
    abut_bsr_clear(&H);
    return rc;
}

TEST(matrices_and_what_is_made_of_them_report_every_failing_allocation_and_leave_nothing)
{
    EXHAUST(patterns);
    EXHAUST(maps);
    EXHAUST(incomplete);
    EXHAUST(patched);
    EXHAUST(pairs);
    EXHAUST(program);
}

/* ---- linear solvers ---- */

static const abut_linear_solver_ops *ops;

static abut_status solution(abut_err *err)
{
    const abut_operator A = operator_of();
    const abut_solve_goal goal = { .far = 1e-6, .close = 1e-6 };
    abut_linear_solver s = { 0 };
    abut_status rc = abut_linear_solver_init(&s, ops, 1, err);
    abut_linear_begin_step(&s);
    for (int again = 0; again < 2 && !rc; again++) {
        rc = abut_linear_analyse(&s, &A, NULL, err);
        if (!rc) rc = abut_linear_factor(&s, &A, ABUT_DOUBLE, err);
        if (!rc) rc = abut_linear_solve(&s, &A, w.b, &goal, w.x, err);
    }
    abut_linear_solver_clear(&s);
    return rc;
}

TEST(solvers_of_the_table_report_every_failing_allocation_and_leave_nothing)
{
    for (int k = 0; abut_linear_solvers[k]; k++) {
        ops = abut_linear_solvers[k];
        if (!strncmp(ops->name, "petsc", 5)) continue;
        exhaust(ops->name, solution);
    }
}

#endif
