/* Many contacts of one kind on a machine, and many at one place, against the processor's. */
#include "base/par.h"
#include "sheets.h"
#include "touch_world.h"

enum { CELLS = 16, CELLS_GPU = 40, MANY = 100000 /* frozen contacts at one node */ };

/* Flat grids above each other, 0.7 dhat apart: each edge is over one that is parallel to it, exactly or but for `lean`. */
static sheets parallel_sheets(double lean)
{
    sheets s = sheets_make(3, 3, getenv("ABUT_GPU") ? CELLS_GPU : CELLS, 0.035, 0, 0.001);
    abut_rng r = { 17 };
    s.dhat = 0.05;
    for (int32_t i = 0; i < 3 * s.model.nc; i++) s.X[i] += lean * abut_rng_real(&r, -1, 1);
    return s;
}

/* energies, gradients and Hessians of all of them, with every law; what is not a number is no agreement */
static void check_parallel(double lean, int fixed)
{
    sheets s = parallel_sheets(lean);
    for (int32_t law = 0; law < ABUT_BARRIER_FORMS; law++) {
        world w;
        CHECK(sheets_init(&s));
        s.model.continuity = &law;
        world_open(&w, &s.cm, fixed ? s.fixed : NULL, s.X, s.y1, 1);
        check_barrier(&w, 1);
        CHECK(contacts_differ(&w) == 0);
        CHECK(w.pairs.n - w.pairs.n_plain > 3000 && w.pairs.n_plain > 200);
        world_close(&w);
        abut_collmesh_clear(&s.cm);
    }
    sheets_free(&s);
}

TEST(thousands_of_parallel_edges_are_as_without_a_machine)
{
    check_parallel(0, 0);
}

SLOW_TEST(thousands_of_nearly_parallel_edges_are_as_without_a_machine)
{
    check_parallel(1e-9, 1);
    check_parallel(1e-4, 0);
}

/* n contacts, every one at node 0 and at others or none */
static void star_make(abut_lag *lag, int32_t nv, size_t n)
{
    abut_rng r = { 5 };
    *lag = (abut_lag){ .n = n, .node = malloc(n * sizeof *lag->node), .weight = malloc(n * sizeof *lag->weight),
                       .basis = malloc(n * sizeof *lag->basis), .force = malloc(n * sizeof *lag->force),
                       .mu = malloc(n * sizeof *lag->mu) };
    for (size_t i = 0; i < n; i++) {
        const double a = abut_rng_real(&r, 0, 6), P[6] = { cos(a), sin(a), 0, 0, 0, 1 };
        for (size_t c = 0; c < 4; c++) {
            lag->node[i][c] = !c ? 0 : c > i % 4 ? -1 : 1 + (int32_t)((i + c * c) % (size_t)(nv - 1));
            lag->weight[i][c] = abut_rng_real(&r, 0, 1);
        }
        memcpy(lag->basis[i], P, sizeof P);
        lag->force[i] = abut_rng_real(&r, 0, 10);
        lag->mu[i] = 0.5;
    }
}

TEST(a_hundred_thousand_contacts_at_one_node_are_as_without_a_machine)
{
    world w;
    abut_lag lag;
    const abut_stiction law = { 0.01, 2, ABUT_FRICTION_C1 };
    double most = 0, energy;
    sheets s = sheets_make(3, 2, 6, 0.05, 0.1, 0.02);
    CHECK(sheets_init(&s));
    star_make(&lag, s.model.nv, MANY);
    world_open(&w, &s.cm, NULL, s.X, s.y1, 1);
    double *want = calloc(w.n3, sizeof *want), *one = malloc(w.n3 * sizeof *one), *got = malloc(w.n3 * sizeof *got);
    const double *at = ABUT_AT(w.dp, double), *from = ABUT_AT(w.dx, double);    /* slides from x to p */
    CHECK(!abut_gpu_friction_set(&w.c, &lag, &law, from, &err));
    CHECK(!abut_friction_energy(&lag, &law, w.p, w.x, &energy, &w.scratch, &err));
    CHECK(!abut_gpu_friction_energy(&w.c, at, ABUT_AT(w.out, double), &err));
    CHECK_NEAR(scalar(&w), energy, 1e-13 * energy);
    CHECK(!abut_friction_gradient(&lag, &law, s.model.nv, w.p, w.x, want, &w.scratch, &err));
    for (size_t i = 0; i < w.n3; i++) most = fmax(most, fabs(want[i]));
    for (int k = 0; k < 3; k++) {       /* and in any order of items */
        w.q.shuffle = k == 1 ? 4711 : 0;
        CHECK(!w.q.on->fill(&w.q, w.g.at, 0, w.n3 * sizeof *got, &err));
        CHECK(!abut_gpu_friction_gradient(&w.c, at, ABUT_AT(w.g, double), &err));
        CHECK(gradient_differs(&w, want) <= 1e-13 * most);
        CHECK(!w.q.on->get(&w.q, k ? got : one, w.g.at, w.n3 * sizeof *got, &err));
        CHECK(!k || !memcmp(got, one, w.n3 * sizeof *got));
    }
    free(want), free(one), free(got);
    abut_lag_clear(&lag);
    world_close(&w);
    sheets_free(&s);
}
