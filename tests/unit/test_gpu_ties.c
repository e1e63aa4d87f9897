/* Rods, springs, attachments and damping on a machine against lib/energy. */
#include "base/par.h"
#include "base/rng.h"
#include "energy/codim.h"
#include "energy/term.h"
#include "gpu/elements.h"
#include "machine_open.h"
#include "sparse/packed_inline.h"
#include "sparse/bsr.h"
#include "term_calls.h"
#include "tied_scene.h"

static abut_err err;

/* The scene with its elements on a machine, at positions x that are not at rest. */
typedef struct tied {
    world w;
    abut_queue q;
    abut_gpu_tets tets;
    abut_gpu_codim codim;
    abut_gpu_ties ties;
    abut_gpu_damping damping;
    const abut_codim *of;
    abut_damping *d;
    size_t n;                   /* 3 nv */
    double *x, *from, *g, *want;
    abut_buffer dx, dfrom, dg, mass, out;
    abut_arena scratch;
} tied;

static void tied_open(tied *t)
{
    *t = (tied){ .n = 0 };
    tied_world(&t->w, "implicit-euler");
    const abut_objective *p = &t->w.st.solver.prob;
    t->of = abut_codim_of(&p->terms);
    t->d = abut_damping_of(&p->terms);
    t->n = 3 * (size_t)p->model->nv;
    abut_rng r = { 3 };
    double **const field[] = { &t->x, &t->from, &t->g, &t->want };
    for (int k = 0; k < 4; k++) *field[k] = calloc(t->n, sizeof(double));
    for (size_t i = 0; i < t->n; i++) {
        t->from[i] = p->model->X[i] + abut_rng_real(&r, -2e-3, 2e-3);
        t->x[i] = t->from[i] + abut_rng_real(&r, -2e-3, 2e-3);
    }
    CHECK(!machine_open(&t->q, &err));
    CHECK(!abut_gpu_tets_init(&t->tets, &t->q, abut_elastic_of(&p->terms), &err));
    CHECK(!abut_gpu_codim_init(&t->codim, &t->q, t->of, &err) && !abut_gpu_ties_init(&t->ties, &t->q, p->model, &err));
    CHECK(!abut_buffer_put(&t->q, &t->dx, "x", t->x, t->n, sizeof *t->x, &err));
    CHECK(!abut_buffer_put(&t->q, &t->dfrom, "from", t->from, t->n, sizeof *t->x, &err));
    CHECK(!abut_buffer_put(&t->q, &t->mass, "mass", p->model->mass, t->n / 3, sizeof *t->x, &err));
    CHECK(!abut_buffer_need(&t->q, &t->dg, "g", t->n, sizeof *t->x, &err));
    CHECK(!abut_buffer_need(&t->q, &t->out, "out", 8, sizeof *t->x, &err));
    abut_gpu_damping_init(&t->damping, &t->q, t->d, &t->tets, &t->codim, t->mass.at);
}

static void tied_close(tied *t)
{
    abut_gpu_damping_clear(&t->damping), abut_gpu_ties_clear(&t->ties), abut_gpu_codim_clear(&t->codim);
    abut_gpu_tets_clear(&t->tets);
    abut_buffer *const all[] = { &t->dx, &t->dfrom, &t->dg, &t->mass, &t->out };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) abut_buffer_clear(&t->q, all[i]);
    CHECK(t->q.bytes == 0);
    abut_queue_close(&t->q);
    free(t->x), free(t->from), free(t->g), free(t->want);
    abut_arena_clear(&t->scratch);
    world_close(&t->w);
}

static void clear_gradients(tied *t)
{
    memset(t->want, 0, t->n * sizeof *t->want);
    CHECK(!t->q.on->fill(&t->q, t->dg.at, 0, t->n * sizeof *t->g, &err));
}

/* what is in t->dg is t->want, to the rounding of sums */
static void compare_gradients(tied *t)
{
    CHECK(!t->q.on->get(&t->q, t->g, t->dg.at, t->n * sizeof *t->g, &err));
    const double size = abut_largest(t->want, t->n);
    CHECK(size > 0);
    for (size_t i = 0; i < t->n; i++) CHECK_NEAR(t->g[i], t->want[i], 1e-13 * size);
}

/* n numbers of the machine's at `from`, element matrices of which are near want */
static void compare_matrices(tied *t, const void *from, const double *want, size_t n, size_t size, double share)
{
    double *got = malloc(n * size * sizeof *got + 1);
    CHECK(!t->q.on->get(&t->q, got, from, n * size * sizeof *got, &err));
    for (size_t e = 0; e < n; e++) {
        const double most = abut_largest(want + size * e, size);
        CHECK(most > 0);
        for (size_t k = size * e; k < size * (e + 1); k++) CHECK_NEAR(got[k], want[k], share * most);
    }
    free(got);
}

TEST(rods_are_those_of_the_processor)
{
    tied t;
    tied_open(&t);
    double E, got = 0;
    CHECK(t.of->first[ABUT_CODIM_ROD + 1] - t.of->first[ABUT_CODIM_ROD] > 10 && t.of->n > t.of->first[ABUT_CODIM_BEND] + 5);
    CHECK(!abut_codim_energy(t.of, t.x, ABUT_CODIM_ALL, 0, &E, &t.scratch, &err));
    CHECK(!abut_gpu_codim_energy(&t.codim, t.dx.at, t.out.at, &err) && !t.q.on->get(&t.q, &got, t.out.at, sizeof got, &err));
    CHECK_NEAR(got, E, 1e-13 * E);
    for (int again = 0; again < 2; again++) {
        clear_gradients(&t);
        CHECK(!abut_codim_gradient(t.of, t.x, ABUT_CODIM_ALL, 0, 0.3, t.want, &t.scratch, &err));
        CHECK(!abut_gpu_codim_gradient(&t.codim, again ? t.dx.at : NULL, 0.3, t.dg.at, &err));
        compare_gradients(&t);
    }
    const size_t size = abut_packed_size(4);
    double *H = calloc(size * t.of->n, sizeof *H);
    abut_codim_hessian(t.of, t.x, ABUT_CODIM_ALL, 0, 0.3, H);
    CHECK(!abut_gpu_codim_hessian(&t.codim, t.dx.at, 0.3, 0, &err));
    compare_matrices(&t, t.codim.H.at, H, t.of->n, size, 1e-12);
    free(H);
    tied_close(&t);
}

TEST(forecasts_of_tensions_are_those_of_the_processor)
{
    tied t;
    int fair;
    tied_open(&t);
    const abut_model *m = t.of->model;
    const size_t n = (size_t)m->nrd, size = abut_packed_size(4);
    double *tension = malloc(n * sizeof *tension), *got = malloc(n * sizeof *got), *H = calloc(size * t.of->n, sizeof *H);
    abut_codim_tension(t.of, t.from, tension);
    CHECK(!abut_gpu_codim_forecast_start(&t.codim, t.dfrom.at, &err));
    CHECK(!abut_gpu_codim_forecast_is_fair(&t.codim, t.dfrom.at, t.mass.at, 1, 1e-4, &fair, &err) && fair);
    for (int k = 0; k < 3; k++) {
        abut_codim_tension_forecast(t.of, t.from, t.from, t.x, k ? 0.5 : 1, k == 2 ? 1 : 0.7, tension);
        CHECK(!abut_gpu_codim_forecast_step(&t.codim, t.dfrom.at, t.dfrom.at, t.dx.at, k ? 0.5 : 1, k == 2 ? 1 : 0.7, &err));
        CHECK(!t.q.on->get(&t.q, got, t.codim.tension.at, n * sizeof *got, &err));
        CHECK(!memcmp(got, tension, n * sizeof *got));
    }
    abut_codim_hessian_ahead(t.of, t.x, ABUT_CODIM_ALL, 0, 0.3, tension, NULL, H);
    CHECK(!abut_gpu_codim_hessian(&t.codim, t.dx.at, 0.3, 1, &err));
    compare_matrices(&t, t.codim.H.at, H, t.of->n, size, 1e-12);
    tension[3] = 1e9;       /* much more than it has, and than inertia */
    CHECK(!t.q.on->put(&t.q, t.codim.tension.at, tension, n * sizeof *tension, &err));
    CHECK(!abut_gpu_codim_forecast_is_fair(&t.codim, t.dx.at, t.mass.at, 1, 1e-4, &fair, &err) && !fair);
    free(tension), free(got), free(H);
    tied_close(&t);
}

TEST(springs_and_attachments_are_those_of_the_processor)
{
    tied t;
    double E[ABUT_GPU_TIES], got[ABUT_GPU_TIES];
    tied_open(&t);
    const abut_model *m = t.of->model;
    const abut_terms *terms = &t.w.st.solver.prob.terms;
    const void *s = abut_terms_find(terms, "spring"), *a = abut_terms_find(terms, "attachment");
    CHECK(m->nsp == 3 && m->na > 3 && s && a);
    E[ABUT_GPU_SPRINGS] = term_energy(&abut_term_spring, s, t.x);
    E[ABUT_GPU_ATTACHMENTS] = term_energy(&abut_term_attachment, a, t.x);
    CHECK(!abut_gpu_ties_energy(&t.ties, t.dx.at, t.out.at, &err) && !t.q.on->get(&t.q, got, t.out.at, sizeof got, &err));
    for (int k = 0; k < ABUT_GPU_TIES; k++) CHECK_NEAR(got[k], E[k], 1e-14 * E[k]);
    for (int again = 0; again < 2; again++) {
        clear_gradients(&t);
        term_gradient(&abut_term_spring, s, t.x, 0.3, t.want);
        term_gradient(&abut_term_attachment, a, t.x, 0.3, t.want);
        CHECK(!abut_gpu_ties_gradient(&t.ties, again ? t.dx.at : NULL, 0.3, t.dg.at, &err));
        compare_gradients(&t);
    }
    double *H = malloc(abut_packed_size(5) * (size_t)m->na * sizeof *H), *K = malloc(abut_packed_size(2) * 3 * sizeof *K);
    term_hessian(&abut_term_attachment, a, t.x, 0.3, 0, (size_t)m->na, H);
    term_hessian(&abut_term_spring, s, t.x, 0.3, 0, 3, K);
    CHECK(!abut_gpu_ties_hessian(&t.ties, t.dx.at, 0.3, &err));
    compare_matrices(&t, t.ties.set[ABUT_GPU_SPRINGS].H.at, K, 3, abut_packed_size(2), 0);
    compare_matrices(&t, t.ties.set[ABUT_GPU_ATTACHMENTS].H.at, H, (size_t)m->na, abut_packed_size(5), 0);
    free(H), free(K);
    tied_close(&t);
}

TEST(damping_is_that_of_the_processor)
{
    tied t;
    double E[2], got[ABUT_GPU_DAMPED] = { 0 };
    const double weight = 0.01;
    tied_open(&t);
    const abut_objective *p = &t.w.st.solver.prob;
    const abut_elastic *e = abut_elastic_of(&p->terms);
    CHECK(!abut_term_damping.begin(t.d, &(abut_term_step){ .x0 = t.from }, NULL));
    CHECK(!abut_gpu_damping_freeze(&t.damping, t.dfrom.at, t.dfrom.at, weight, &err));
    for (int k = 0; k < 2; k++) E[k] = damping_energy(t.d, k, t.x, t.from, weight);
    CHECK(!abut_gpu_damping_energy(&t.damping, t.dx.at, t.out.at, &err) && !t.q.on->get(&t.q, got, t.out.at, sizeof got, &err));
    CHECK(got[ABUT_GPU_DAMP_MASS] > 0 && E[0] > 0 && E[1] > 0);
    CHECK_NEAR(got[ABUT_GPU_DAMP_MASS] + got[ABUT_GPU_DAMP_TETS], E[0], 1e-12 * E[0]);
    CHECK_NEAR(got[ABUT_GPU_DAMP_CODIM], E[1], 1e-12 * E[1]);
    clear_gradients(&t);
    damping_gradient(t.d, t.x, t.from, weight, t.want);
    CHECK(!abut_gpu_damping_gradient(&t.damping, t.dx.at, t.dg.at, &err));
    compare_gradients(&t);
    const size_t size = abut_packed_size(4), n = t.of->n > (size_t)e->n ? t.of->n : (size_t)e->n;
    double *H = calloc(size * n, sizeof *H);
    const abut_term_step step = { .x_damp = t.from, .damping = weight };
    const abut_at at = { .x = t.x, .z = t.x, .step = &step };
    abut_term_damping.hessian(t.d, &at, 1, 0, (size_t)e->n, H);
    compare_matrices(&t, t.damping.K.at, H, (size_t)e->n, size, 1e-11);
    memset(H, 0, size * n * sizeof *H);
    abut_term_codim_damping.hessian(t.d, &at, 1, 0, t.of->n, H);
    compare_matrices(&t, t.damping.codim_K.at, H, t.of->n, size, 1e-11);
    free(H);
    tied_close(&t);
}

TEST(all_have_the_same_bytes_for_every_thread_count_and_order)
{
    tied t;
    const int threads = abut_threads();
    tied_open(&t);
    for (int k = 0; k < 4; k++) {
        abut_threads_set((int[]){ 1, 2, 7, 1 }[k]);
        t.q.shuffle = k == 3 ? 12345 : 0;
        CHECK(!t.q.on->fill(&t.q, t.dg.at, 0, t.n * sizeof *t.g, &err));
        CHECK(!abut_gpu_damping_freeze(&t.damping, t.dfrom.at, t.dfrom.at, 0.01, &err));
        CHECK(!abut_gpu_damping_gradient(&t.damping, t.dx.at, t.dg.at, &err));
        CHECK(!abut_gpu_ties_gradient(&t.ties, t.dx.at, 1, t.dg.at, &err));
        CHECK(!abut_gpu_codim_gradient(&t.codim, t.dx.at, 1, t.dg.at, &err));
        CHECK(!t.q.on->get(&t.q, k ? t.g : t.want, t.dg.at, t.n * sizeof *t.g, &err));
        CHECK(!k || !memcmp(t.g, t.want, t.n * sizeof *t.g));
    }
    abut_threads_set(threads);
    tied_close(&t);
}
