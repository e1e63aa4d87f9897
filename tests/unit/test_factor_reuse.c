/* Steps with factor reuse, and the orders of the factors. */
#include "graph/graph.h"
#include "sparse/own/cholesky.h"
#include "sparse/reuse.h"
#include "world.h"
#include "newton_system.h"

#include "check.h"

/* A soft slab spins on the floor, with friction.  Every step is taken twice from the same frame, once with a factor in double
 * precision for every direction: the same point within the tolerance. */
SLOW_TEST(steps_with_old_and_coarse_factors_end_where_those_with_exact_ones_end)
{
    fixture *f = fixture_new();
    f->plane = 1;
    f->mu = 0.8;
    f->tol = 1e-6;
    f->young = 1e3;
    fixture_box(f, 0, 5e-4, 0, 0.4, 0.05, 0.3, 16, 3, 12, 0);
    double v[3 * 1024] = { 0 };
    for (int32_t i = 0; i < f->nv; i++) {
        v[3 * i] = 8 * (f->X[3 * i + 2] - 0.15);
        v[3 * i + 2] = -8 * (f->X[3 * i] - 0.2);
    }
    world w;
    world_open(&w, f, v);
    CHECK(!world_run(&w, 3));
    double worst = 0;
    int newton[2] = { 0, 0 }, factors = 0, exact = 0, contacts = 0;
    for (int k = 0; k < 8; k++) {
        world twin;
        world_twin(&twin, &w);
        world_without(&twin, ABUT_WITHOUT_REUSE);
        CHECK(!abut_step_advance(&twin.st, &w.frame, 0, &twin.at, 0, &twin.next, &twin.rep, &twin.err));
        CHECK(!world_run(&w, 1));
        newton[0] += w.rep.newton, newton[1] += twin.rep.newton;
        factors += w.rep.factorisations, exact += w.rep.factorisations_double, contacts += w.rep.contacts + w.rep.planes;
        CHECK(twin.rep.cg_iterations == 0 && twin.rep.factorisations >= twin.rep.newton);
        CHECK(twin.rep.factorisations_double == twin.rep.factorisations);
        const double *x = get(&w, "node/x"), *y = abut_arrays_find(&twin.next, "node/x")->data;
        CHECK(w.rep.kappa == twin.rep.kappa);   /* the same objective */
        for (int32_t i = 0; i < 3 * w.model.nv; i++) worst = fmax(worst, fabs(x[i] - y[i]));
        world_twin_close(&twin);
    }
    CHECK(contacts > 100);
    CHECK(worst <= f->h * f->tol);
    CHECK(factors < newton[0] && exact < newton[0] / 4);
    CHECK(abs(newton[0] - newton[1]) <= newton[1] / 4);
    printf("# %d iterations, %d factors, %d of them double; %d iterations by exact directions; %.2g of the tolerance apart\n",
           newton[0], factors, exact, newton[1], worst / (f->h * f->tol));
    world_close(&w);
}

/* A column on a slab: contacts join what the ordering of the elements keeps apart. */
static void column_on_slab(world *w, newton_system *n, fixture *f)
{
    fixture_box(f, 0, 0, 0, 0.4, 0.05, 0.3, 16, 2, 12, 0);
    fixture_box(f, 0.11, 0.0509, 0.11, 0.05, 0.3, 0.05, 2, 12, 2, 0);
    world_open(w, f, NULL);
    world_without(w, ABUT_WITHOUT_REUSE);
    CHECK(!world_run(w, 1));
    CHECK(w->st.solver.here.pairs.n > 50);
    for (int32_t i = 0; i < 3 * w->model.nv; i++) w->st.solver.here.g[i] = sin(i);
    newton_system_open(n, &w->st.solver.prob, ABUT_WITHOUT_REUSE, 1);
}

static int newton(world *w, newton_system *n, double *p)
{
    return newton_system_solve(n, &w->st.solver, p, &w->rep, NULL) == ABUT_OK;
}

/* The factor of the matrix at hand in an order of AMD. */
static double cost_by_degree(const abut_bsr *A)
{
    int32_t *perm = malloc((size_t)A->n * sizeof *perm);
    abut_graph_fill fill;
    abut_chol *c = NULL;
    CHECK(!abut_graph_order_amd(abut_bsr_graph(A), perm, &fill, NULL));
    CHECK(!abut_chol_new(&c, A, perm, 1, NULL));
    const abut_chol_stats stats = abut_chol_get_stats(c);
    const double cost = abut_factor_cost_of(stats.factor_nnz, stats.factor_flops);
    abut_chol_free(&c);
    free(perm);
    return cost;
}

TEST(an_ordering_is_made_when_the_factors_in_that_of_the_elements_have_cost_as_much_more)
{
    fixture *f = fixture_new();
    world w;
    newton_system n;
    column_on_slab(&w, &n, f);
    abut_ordering *d = &n.solve.order;
    double *p = malloc(6 * (size_t)w.model.nv * sizeof *p), *q = p + 3 * w.model.nv, big = 0, off = 0;
    CHECK(newton(&w, &n, p));
    const double cost = abut_factor_cost(d->linear), more = cost - d->elements[0].cost;
    CHECK(more > 0 && d->by_degree && d->ordered_cost == d->elements[0].cost);
    CHECK(d->overspent == more);
    d->by_degree = 0;
    d->overspent = 4e4 * (double)n.matrix.A.nnz - 1.5 * more;
    CHECK(newton(&w, &n, q));
    CHECK(abut_factor_cost(d->linear) == cost && !memcmp(p, q, 3 * (size_t)w.model.nv * sizeof *p));
    CHECK(newton(&w, &n, q));
    CHECK(abut_factor_cost(d->linear) < cost && d->ordered_cost == abut_factor_cost(d->linear) && d->overspent == 0);
    for (int32_t i = 0; i < 3 * w.model.nv; i++) big = fmax(big, fabs(p[i])), off = fmax(off, fabs(p[i] - q[i]));
    CHECK(big > 0 && off < 1e-6 * big);
    abut_ordering_begin_step(d, &n.matrix.A);    /* the next step begins in the order of the elements */
    CHECK(newton(&w, &n, q));
    CHECK(d->by_degree && abut_factor_cost(d->linear) == cost && !memcmp(p, q, 3 * (size_t)w.model.nv * sizeof *p));
    free(p);
    newton_system_close(&n);
    world_close(&w);
}

TEST(an_order_of_minimum_degree_is_tried_first_and_taken_where_its_factor_costs_less)
{
    fixture *f = fixture_new();
    world w;
    newton_system n;
    column_on_slab(&w, &n, f);
    abut_ordering *d = &n.solve.order;
    double *p = malloc(3 * (size_t)w.model.nv * sizeof *p);
    CHECK(newton(&w, &n, p));
    const double cost = abut_factor_cost(d->linear), by_degree = cost_by_degree(&n.matrix.A);
    CHECK(!(by_degree <= cost && by_degree >= cost));
    printf("# in the order of the elements %.3g, by degree %.3g\n", cost, by_degree);
    d->overspent = 1e4 * (double)n.matrix.A.nnz;
    CHECK(newton(&w, &n, p));
    CHECK(abut_factor_cost(d->linear) == fmin(cost, by_degree));
    CHECK(d->by_degree == (by_degree < cost));
    free(p);
    newton_system_close(&n);
    world_close(&w);
}

/* A step that begins with a pattern seen before gets at once the order that the first factor of it has got; with another pattern
 * it finds out. */
TEST(the_order_of_a_pattern_that_comes_again_is_that_which_a_new_process_would_find)
{
    fixture *f = fixture_new();
    world w;
    newton_system n;
    column_on_slab(&w, &n, f);
    abut_ordering *d = &n.solve.order;
    const size_t bytes = 3 * (size_t)w.model.nv * sizeof(double);
    double *p = malloc(3 * bytes), *q = p + 3 * w.model.nv, *r = q + 3 * w.model.nv;
    d->degree.on = 1;
    CHECK(newton(&w, &n, p) && d->degree.n == 0);
    d->elements[0].cost -= 2e4 * (double)n.matrix.A.nnz;     /* as if contacts made the order of the elements so much dearer */
    for (int k = 0; k < 3; k++) {
        abut_ordering_begin_step(d, &n.matrix.A);
        if (k == 1) d->degree.cost *= 2;        /* which shows that it is used */
        if (k == 2) d->degree.col[0] = -1;      /* of another pattern */
        CHECK(newton(&w, &n, k == 0 ? p : k == 1 ? q : r));
        CHECK(d->degree.n == n.matrix.A.n && d->by_degree && d->overspent == 0 && !d->degree.first);
        CHECK(d->ordered_cost == (k == 1 ? 2 : 1) * abut_factor_cost(d->linear));
        CHECK(d->degree.cost == d->ordered_cost && d->degree.col[0] == 0);
    }
    CHECK(!memcmp(p, q, bytes) && !memcmp(p, r, bytes));
    free(p);
    newton_system_close(&n);
    world_close(&w);
}
