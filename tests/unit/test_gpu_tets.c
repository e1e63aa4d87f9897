/* Tets and the inertia of nodes on a machine against energy/elastic.h, contact/step_bound.h and solve/objective.c. */
#include "base/par.h"
#include "check.h"
#include "contact/step_bound.h"
#include "gpu/elements.h"
#include "kuhn.h"
#include "sparse/bsr.h"
#include "sparse/packed_lanes.h"
#include "machine_open.h"
#include "elastic_gradient.h"

typedef struct world {
    kuhn_box box;
    abut_elastic e;
    abut_queue q;
    abut_gpu_tets t;
    size_t nv, nt, n;
    double *x, *p;              /* [n] */
    abut_buffer dx, dp, out, scalar;
} world;

static abut_err err;

static void world_make(world *w, int cells, int materials)
{
    *w = (world){ 0 };
    kuhn_build(&w->box, cells, 0.1, 0.15, materials);
    w->nv = (size_t)w->box.model.nv, w->nt = (size_t)w->box.model.nt, w->n = 3 * w->nv;
    abut_rng r = { 5 };
    w->x = malloc(w->n * sizeof *w->x), w->p = malloc(w->n * sizeof *w->p);
    for (size_t i = 0; i < w->n; i++) {
        w->x[i] = w->box.X[i] * (i % 3 ? 1.1 : 0.95) + abut_rng_real(&r, -0.01, 0.01);
        w->p[i] = abut_rng_real(&r, -0.1, 0.1);
    }
    CHECK(!abut_elastic_init(&w->e, &w->box.model, NULL));
    CHECK(!machine_open(&w->q, &err) && !abut_gpu_tets_init(&w->t, &w->q, &w->e, &err));
    CHECK(!abut_buffer_put(&w->q, &w->dx, "x", w->x, w->n, sizeof *w->x, &err));
    CHECK(!abut_buffer_put(&w->q, &w->dp, "p", w->p, w->n, sizeof *w->p, &err));
    CHECK(!abut_buffer_need(&w->q, &w->out, "out", w->n, sizeof(double), &err));
    CHECK(!abut_buffer_need(&w->q, &w->scalar, "scalar", 1, sizeof(double), &err));
}

static void world_free(world *w)
{
    abut_gpu_tets_clear(&w->t);
    abut_buffer_clear(&w->q, &w->dx), abut_buffer_clear(&w->q, &w->dp);
    abut_buffer_clear(&w->q, &w->out), abut_buffer_clear(&w->q, &w->scalar);
    CHECK(w->q.bytes == 0);
    abut_queue_close(&w->q);
    abut_elastic_clear(&w->e);
    kuhn_free(&w->box);
    free(w->x), free(w->p);
}

static double scalar_of(world *w)
{
    double v = NAN;
    CHECK(!w->q.on->get(&w->q, &v, w->scalar.at, sizeof v, &err));
    return v;
}

static void put_x(world *w) { CHECK(!w->q.on->put(&w->q, w->dx.at, w->x, w->n * sizeof *w->x, &err)); }

TEST(energy_and_forces_are_those_of_the_processor)
{
    world w;
    abut_arena a = { 0 };
    double E = NAN, sum = 0;
    world_make(&w, 6, 6);
    double *g = calloc(w.n, sizeof *g), *h = malloc(w.n * sizeof *h);
    CHECK(!elastic_energy(&w.e, w.x, &E, &a, NULL) && !elastic_gradient(&w.e, w.x, 0.25, g, &a, NULL));
    for (size_t i = 0; i < w.n; i++) h[i] = 1 + (double)i, g[i] += h[i];
    CHECK(!w.q.on->put(&w.q, w.out.at, h, w.n * sizeof *h, &err));
    CHECK(!abut_gpu_tets_energy(&w.t, w.dx.at, w.scalar.at, &err));
    CHECK_NEAR(scalar_of(&w), E, 1e-13 * E);
    CHECK(!abut_gpu_tets_gradient(&w.t, NULL, 0.25, w.out.at, &err));
    CHECK(!w.q.on->get(&w.q, h, w.out.at, w.n * sizeof *h, &err));
    for (size_t i = 0; i < w.n; i++) sum = fmax(sum, fabs(g[i] - 1 - (double)i));
    for (size_t i = 0; i < w.n; i++) CHECK_NEAR(h[i], g[i], 1e-13 * sum + 1e-15 * (double)i);
    for (size_t i = 0; i < w.n; i++) w.x[i] = 0;        /* and at another point, without the energy first */
    CHECK(!abut_gpu_tets_gradient(&w.t, w.dx.at, -0.25, w.out.at, &err));
    CHECK(!w.q.on->get(&w.q, h, w.out.at, w.n * sizeof *h, &err));
    for (size_t i = 0; i < w.n; i++) CHECK_NEAR(h[i], 1 + (double)i, 1e-13 * sum + 1e-15 * (double)i);
    free(g), free(h);
    abut_arena_clear(&a);
    world_free(&w);
}

TEST(an_inverted_neo_hookean_tet_has_infinite_energy)
{
    world w;
    world_make(&w, 2, 1);
    w.x[3 * 13] += 0.5;
    put_x(&w);
    CHECK(!abut_gpu_tets_energy(&w.t, w.dx.at, w.scalar.at, &err));
    CHECK(isinf(scalar_of(&w)) && scalar_of(&w) > 0);
    w.x[3 * 13] = NAN;
    put_x(&w);
    CHECK(!abut_gpu_tets_energy(&w.t, w.dx.at, w.scalar.at, &err));
    CHECK(isinf(scalar_of(&w)) && scalar_of(&w) > 0);
    world_free(&w);
}

TEST(energy_that_is_no_number_is_infinite_for_every_material)
{
    for (int material = 0; material < 6; material++) {
        world w;
        world_make(&w, 1, 6);
        for (int i = 0; i < 6; i++) w.box.tet_mat[i] = material;
        abut_gpu_tets_clear(&w.t);
        CHECK(!abut_gpu_tets_init(&w.t, &w.q, &w.e, &err));
        w.x[4] = NAN;
        put_x(&w);
        CHECK(!abut_gpu_tets_energy(&w.t, w.dx.at, w.scalar.at, &err));
        CHECK(isinf(scalar_of(&w)) && scalar_of(&w) > 0);
        world_free(&w);
    }
}

TEST(hessians_have_the_bits_of_the_processor)
{
    world w;
    world_make(&w, 5, 6);
    const size_t numbers = w.nt * ABUT_PACKED;
    double *H = malloc(numbers * sizeof *H), *K = malloc(numbers * sizeof *K);
    abut_buffer dH = { 0 };
    CHECK(!abut_buffer_need(&w.q, &dH, "H", numbers, sizeof *H, &err));
    abut_elastic_hessian(&w.e, w.x, 0.3, H);
    const abut_tet_args a = { .node = w.t.node.at, .B = w.t.B.at, .volume = w.t.volume.at, .mu = w.t.mu.at,
                              .lambda = w.t.lambda.at, .model = w.t.model.at, .x = w.dx.at, .H = dH.at, .scale = 0.3,
                              .nt = w.nt, .first = 7 };
    CHECK(!ABUT_RUN(&w.q, tet_hessian, &a, w.nt - 7, &err));
    CHECK(!w.q.on->get(&w.q, K, dH.at, (numbers - 7 * ABUT_PACKED) * sizeof *K, &err));
    CHECK(!memcmp(K, H + 7 * ABUT_PACKED, (numbers - 7 * ABUT_PACKED) * sizeof *K));
    abut_buffer_clear(&w.q, &dH);
    free(H), free(K);
    world_free(&w);
}

TEST(bounds_by_inversion_are_those_of_the_processor)
{
    world w;
    world_make(&w, 5, 6);
    for (int k = 0; k < 4; k++) {
        abut_limit want = { .alpha = k == 3 ? 1e-3 : 1, .tet = -1 }, got = want;
        for (size_t i = 0; i < w.n; i++) w.p[i] *= k == 2 ? 1e-4 : 0.5;
        CHECK(!w.q.on->put(&w.q, w.dp.at, w.p, w.n * sizeof *w.p, &err));
        abut_limit_inversion(&w.box.model, w.x, w.p, 0.2, &want);
        CHECK(!abut_gpu_tets_bound(&w.t, w.dx.at, w.dp.at, 0.2, &got, &err));
        CHECK(got.alpha == want.alpha && got.kind == want.kind && got.tet == want.tet);
        CHECK(!memcmp(got.node, want.node, sizeof got.node));
        CHECK((want.kind == ABUT_LIMIT_TET) == (k < 2));
    }
    world_free(&w);
}

TEST(inertia_is_that_of_the_objective)
{
    world w;
    world_make(&w, 5, 1);
    double *mass = malloc(w.nv * sizeof *mass), *g = malloc(w.n * sizeof *g), *xn = malloc(w.n * sizeof *xn);
    uint8_t *held = malloc(w.nv);
    abut_rng r = { 6 };
    for (size_t i = 0; i < w.nv; i++) mass[i] = abut_rng_real(&r, 1e-3, 2e-3), held[i] = i % 5 == 0;
    for (size_t i = 0; i < w.n; i++) xn[i] = abut_rng_real(&r, -1, 1);
    abut_buffer dm = { 0 }, dh = { 0 }, dn = { 0 }, part = { 0 };
    CHECK(!abut_buffer_put(&w.q, &dm, "m", mass, w.nv, sizeof *mass, &err));
    CHECK(!abut_buffer_put(&w.q, &dh, "h", held, w.nv, 1, &err));
    CHECK(!abut_buffer_put(&w.q, &dn, "xn", xn, w.n, sizeof *xn, &err));
    CHECK(!abut_buffer_need(&w.q, &part, "part", w.nv, sizeof(double), &err));
    for (int inertia = 0; inertia < 2; inertia++) {
        const abut_gpu_inertia of = { dm.at, dh.at, dn.at, w.dp.at, inertia, w.nv };
        double E = 0, size = 0;
        CHECK(!abut_gpu_nodes_energy(&w.q, &of, w.dx.at, part.at, w.scalar.at, &err));
        CHECK(!abut_gpu_nodes_gradient(&w.q, &of, w.dx.at, w.out.at, &err));
        CHECK(!w.q.on->get(&w.q, g, w.out.at, w.n * sizeof *g, &err));
        for (size_t i = 0; i < w.n; i++) {
            const double m = held[i / 3] ? 0 : mass[i / 3], xhat = w.p[i];
            const double e = inertia ? 0.5 * m * (w.x[i] - xhat) * (w.x[i] - xhat) : m * (xn[i] - xhat) * (w.x[i] - xn[i]);
            E += e, size += fabs(e);
            CHECK(g[i] == m * ((inertia ? w.x[i] : xn[i]) - xhat));
        }
        CHECK_NEAR(scalar_of(&w), E, 1e-13 * size);
    }
    CHECK(!abut_gpu_nodes_hold(&w.q, dh.at, w.dx.at, w.nv, &err));
    CHECK(!w.q.on->get(&w.q, g, w.dx.at, w.n * sizeof *g, &err));
    for (size_t i = 0; i < w.n; i++) CHECK(g[i] == (held[i / 3] ? 0 : w.x[i]));
    abut_buffer_clear(&w.q, &dm), abut_buffer_clear(&w.q, &dh), abut_buffer_clear(&w.q, &dn), abut_buffer_clear(&w.q, &part);
    free(mass), free(g), free(xn), free(held);
    world_free(&w);
}

TEST(forces_have_the_same_bytes_for_every_thread_count_and_order)
{
    world w;
    const int threads = abut_threads();
    double *one = NULL, *got, E = 0;
    world_make(&w, 7, 6);
    one = malloc(w.n * sizeof *one), got = malloc(w.n * sizeof *got);
    for (int k = 0; k < 4; k++) {
        abut_threads_set((int[]){ 1, 2, 7, 1 }[k]);
        w.q.shuffle = k == 3 ? 12345 : 0;
        CHECK(!w.q.on->fill(&w.q, w.out.at, 0, w.n * sizeof *got, &err));
        CHECK(!abut_gpu_tets_energy(&w.t, w.dx.at, w.scalar.at, &err));
        CHECK(!abut_gpu_tets_gradient(&w.t, NULL, 1, w.out.at, &err));
        CHECK(!w.q.on->get(&w.q, k ? got : one, w.out.at, w.n * sizeof *got, &err));
        if (!k) E = scalar_of(&w);
        CHECK(!k || (!memcmp(one, got, w.n * sizeof *got) && scalar_of(&w) == E));
    }
    abut_threads_set(threads);
    free(one), free(got);
    world_free(&w);
}

TEST(materials_that_a_device_does_not_know_are_named)
{
    kuhn_box b;
    abut_elastic e;
    abut_queue q;
    abut_gpu_tets t;
    const double fibre[2] = { 0, 5 };
    double *along = NULL;
    kuhn_build(&b, 1, 0.1, 0, 2);
    along = calloc(3 * (size_t)b.model.nt, sizeof *along);
    b.model.mat_fibre = fibre;
    b.model.tet_fibre = along;
    CHECK(!abut_elastic_init(&e, &b.model, NULL) && !machine_open(&q, &err));
    CHECK(abut_gpu_tets_init(&t, &q, &e, &err) == ABUT_E_FORMAT);
    CHECK(strstr(err.msg, "material 1 has fibres") != NULL);
    abut_queue_close(&q);
    abut_elastic_clear(&e);
    free(along);
    kuhn_free(&b);
}
