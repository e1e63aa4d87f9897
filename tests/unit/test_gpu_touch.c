/* Contact on a machine against lib/contact and lib/energy: the twin by default, device N with ABUT_GPU=N. */
#include "base/par.h"
#include "sheets.h"
#include "thicket.h"
#include "touch_world.h"

/* ---- worlds ---- */

enum { SHEETS = 4, THICKETS = 4 };

static sheets sheets_number(int k)
{
    sheets s = sheets_make((uint64_t)k, 4, 6 + k, 0.05, k % 3 * 0.25, k % 2 ? 0.4 : 0.02);
    s.dhat = 0.06;
    for (int32_t i = 0; i < 3 * s.model.nc; i++)    /* what is fixed stays; the rest flies together, far */
        s.y1[i] = s.fixed[i / 3] && k & 1 ? s.X[i] : s.y1[i] + (k & 2 ? 3 : 0);
    return s;
}

/* Calls check on each world; share: of the motion. */
static void for_all_worlds(void (*check)(world *, double), double share)
{
    for (int k = 0; k < SHEETS; k++) {
        world w;
        sheets s = sheets_number(k);
        CHECK(sheets_init(&s));
        world_open(&w, &s.cm, k & 1 ? s.fixed : NULL, s.X, s.y1, share);
        check(&w, share);
        world_close(&w);
        sheets_free(&s);
    }
    static thicket t;
    for (int k = 0; k < THICKETS; k++) {
        world w;
        const double xi = k & 1 ? 0.01 : 0;
        thicket_make(&t, (uint64_t)k, xi, 2 * xi, 0.5 * xi, xi, 0.021, k & 2 ? 0.3 : 0.05);
        world_open(&w, &t.cm, k & 2 ? t.fixed : NULL, t.X, t.y1, share);
        check(&w, share);
        world_close(&w);
        abut_collmesh_clear(&t.cm);
    }
}

/* ---- candidates ---- */

static const int thread_counts[3] = { 1, 2, 7 };

static size_t found[ABUT_CANDIDATE_LISTS];
static void check_candidates(world *w, double share)
{
    const int threads = abut_threads();
    for (int again = 0; again < 3; again++) {   /* with trees as they were, too */
        abut_threads_set(thread_counts[again]);
        candidates(w, share);
        CHECK(lists_differ(w) == 0);
    }
    abut_threads_set(threads);
    for (int l = 0; l < ABUT_CANDIDATE_LISTS; l++) found[l] += w->c.n[l];
    w->q.shuffle = 12345;
    candidates(w, share);
    CHECK(lists_differ(w) == 0);
    CHECK(!abut_candidates_find(w->cm, w->x, NULL, w->reach, w->fixed, &w->cand, &err));
    CHECK(!abut_gpu_touch_candidates(&w->c, ABUT_AT(w->dx, double), NULL, 0, w->reach, &err));
    CHECK(lists_differ(w) == 0);
}

TEST(candidates_are_those_of_the_search_without_a_machine_to_the_byte)
{
    memset(found, 0, sizeof found);
    for_all_worlds(check_candidates, 0.7);
    for (int l = 0; l < ABUT_CANDIDATE_LISTS; l++) CHECK(found[l] > 10);
}

TEST(objects_that_pass_through_each_other_are_no_pairs)
{
    world w;
    sheets s = sheets_number(1);
    const int32_t per = s.model.nc / 4;
    CHECK(sheets_init(&s));
    world_open(&w, &s.cm, NULL, s.X, s.y1, 1);
    uint8_t *passes = calloc((size_t)s.cm.nc, 1);
    for (int32_t v = 0; v < s.cm.nc; v++) passes[v] = v / per == 1 || v / per == 2;
    CHECK(!abut_gpu_touch_pass(&w.c, passes, &err));
    candidates(&w, 1);
    for (int l = 0; l < 2; l++) {   /* what is found without, less those pairs */
        abut_pair_list *list = l ? &w.cand.ee : &w.cand.vt;
        const size_t all = list->n;
        size_t n = 0;
        for (size_t i = 0; i < all; i++) {
            const int32_t *a, *b;
            (void)abut_candidate_first(w.cm, abut_candidates_kind(l), list->ij[i], &a);
            (void)abut_candidate_second(w.cm, abut_candidates_kind(l), list->ij[i], &b);
            if (!(passes[*a] && passes[*b])) memmove(list->ij[n++], list->ij[i], sizeof *list->ij);
        }
        list->n = n;
        CHECK(n > 0 && n < all);
    }
    CHECK(lists_differ(&w) == 0);
    free(passes);
    world_close(&w);
    sheets_free(&s);
}

TEST(a_position_that_is_not_finite_is_named_as_without_a_machine)
{
    world w;
    sheets s = sheets_number(0);
    abut_err mine = { 0 };
    CHECK(sheets_init(&s));
    s.X[3 * 17 + 1] = NAN;
    world_open(&w, &s.cm, NULL, s.X, s.X, 1);
    CHECK(abut_candidates_find(w.cm, w.x, NULL, w.reach, NULL, &w.cand, &err) == ABUT_E_GEOM);
    CHECK(abut_gpu_touch_candidates(&w.c, ABUT_AT(w.dx, double), NULL, 0, w.reach, &mine) == ABUT_E_GEOM);
    CHECK(!strcmp(mine.msg, err.msg) && abut_gpu_candidates_count(&w.c) == 0);
    CHECK(abut_pairs_find(w.cm, &w.cand, w.x, NULL, &w.pairs, &err) == ABUT_E_GEOM);
    CHECK(abut_gpu_touch_find(&w.c, ABUT_AT(w.dx, double), &w.set, &mine) == ABUT_E_GEOM);
    CHECK(!strcmp(mine.msg, err.msg) && w.set.n == 0);
    world_close(&w);
    sheets_free(&s);
}

/* ---- CCD bound ---- */

static size_t bounded;
static void check_bound(world *w, double share)
{
    candidates(w, share);
    for (int k = 0; k < 4; k++) {
        abut_limit a = { .alpha = k == 2 ? 0.3 : 1, .node = { -1, -1, -1, -1 }, .tet = -1 }, b = a;
        const double slack = k == 1 ? 0.8 : 0.2;
        abut_err mine = { 0 };
        w->q.shuffle = k == 3 ? 99 : 0;
        const abut_status want = abut_limit_ccd(w->cm, &w->cand, w->x, w->y1, slack, &a, &err);
        const abut_status got = abut_gpu_touch_ccd(&w->c, slack, &b, &mine);
        CHECK(want == got && (!want || !strcmp(mine.msg, err.msg)));
        CHECK(!memcmp(&a.alpha, &b.alpha, sizeof a.alpha) && a.kind == b.kind && !memcmp(a.node, b.node, sizeof a.node));
        bounded += !want && a.kind != ABUT_LIMIT_NONE;
    }
}

TEST(the_ccd_bound_has_the_bits_and_the_pair_of_that_without_a_machine)
{
    bounded = 0;
    for_all_worlds(check_bound, 0.7);
    CHECK(bounded > 10);
}

TEST(of_pairs_that_bound_alike_the_first_is_named)
{
    world w;
    sheets s = sheets_make(4, 3, 8, 0.05, 0, 0);    /* flat sheets that close in on each other: each pair like its neighbours */
    for (int32_t v = 0; v < s.model.nc; v++) s.y1[3 * v + 1] = 0.0625 * s.X[3 * v + 1];
    CHECK(sheets_init(&s));
    world_open(&w, &s.cm, NULL, s.X, s.y1, 1);
    bounded = 0;
    check_bound(&w, 1);
    CHECK(bounded == 3);
    world_close(&w);
    sheets_free(&s);
}

TEST(a_pair_too_close_to_move_is_named_as_without_a_machine)
{
    world w;
    abut_err mine = { 0 };
    abut_limit a = { .alpha = 1, .tet = -1 }, b = a;
    sheets s = sheets_number(2);
    const int32_t per = s.model.nc / 4;
    for (int k = 0; k < 3; k++)     /* a vertex into a triangle of the sheet below */
        for (int i = 0; i < 2; i++) {
            const int32_t *t = s.tri + 30 * i;
            s.X[3 * (per + 5 + 9 * i) + k] = (s.X[3 * t[0] + k] + s.X[3 * t[1] + k] + s.X[3 * t[2] + k]) / 3;
        }
    CHECK(sheets_init(&s));
    world_open(&w, &s.cm, NULL, s.X, s.y1, 1);
    candidates(&w, 1);
    CHECK(abut_limit_ccd(w.cm, &w.cand, w.x, w.y1, 0.2, &a, &err) == ABUT_E_GEOM);
    CHECK(abut_gpu_touch_ccd(&w.c, 0.2, &b, &mine) == ABUT_E_GEOM);
    CHECK(!strcmp(mine.msg, err.msg) && !memcmp(&b.alpha, &a.alpha, sizeof a.alpha));
    const abut_status want = abut_pairs_find(w.cm, &w.cand, w.x, NULL, &w.pairs, &err);
    CHECK(abut_gpu_touch_find(&w.c, ABUT_AT(w.dx, double), &w.set, &mine) == want);
    CHECK(!want || !strcmp(mine.msg, err.msg));
    world_close(&w);
    sheets_free(&s);
}

/* A vertex in the plane of a triangle of the sheet below it, at its middle: no contact has a distance of 0. */
TEST(a_contact_that_touches_is_named_as_without_a_machine)
{
    world w;
    abut_err mine = { 0 };
    sheets s = sheets_make(4, 2, 6, 0.05, 0, 0);
    const int32_t *t = s.tri, v = (s.model.nc / 2) + 20;
    for (int k = 0; k < 3; k++) s.X[3 * v + k] = 0;
    for (int k = 0; k < 9; k++) s.X[3 * v + k % 3] += (double[3]){ 0.5, 0.25, 0.25 }[k / 3] * s.X[3 * t[k / 3] + k % 3];
    CHECK(sheets_init(&s));
    world_open(&w, &s.cm, NULL, s.X, s.X, 1);
    candidates(&w, 0);
    CHECK(abut_pairs_find(w.cm, &w.cand, w.x, NULL, &w.pairs, &err) == ABUT_E_GEOM);
    CHECK(abut_gpu_touch_find(&w.c, ABUT_AT(w.dx, double), &w.set, &mine) == ABUT_E_GEOM);
    CHECK(!strcmp(mine.msg, err.msg) && strstr(err.msg, "node "));
    world_close(&w);
    sheets_free(&s);
}

/* ---- contacts ---- */

static size_t kinds[5];
static void check_contacts(world *w, double share)
{
    const int threads = abut_threads();
    candidates(w, share);
    for (int k = 0; k < 3; k++) {
        abut_threads_set(thread_counts[k]);
        w->q.shuffle = k == 1 ? 77 : 0;
        CHECK(!abut_pairs_find(w->cm, &w->cand, w->x, w->fixed, &w->pairs, &err));
        CHECK(!abut_gpu_touch_find(&w->c, ABUT_AT(w->dx, double), &w->set, &err));
        CHECK(contacts_differ(w) == 0);
        const double gap = abut_pairs_smallest_gap(w->cm, &w->pairs, NULL);
        CHECK(!memcmp(&gap, &w->set.smallest_gap, sizeof gap));
    }
    abut_threads_set(threads);
    for (size_t i = 0; i < w->pairs.n; i++) kinds[i < w->pairs.n_plain ? w->pairs.kind[i] : 4]++;
}

TEST(contacts_are_those_found_without_a_machine_to_the_byte)
{
    memset(kinds, 0, sizeof kinds);
    for_all_worlds(check_contacts, 0.5);
    for (int k = 0; k < 5; k++) CHECK(kinds[k] > 20);
}

/* ---- half-spaces ---- */

static const double plane_point[6] = { 0, -0.03, 0, -0.02, 0, 0 }, plane_normal[6] = { 0, 1, 0, 0.6, 0, 0.8 };

/* Half-spaces under the sheets, whose lowest is near them. */
static void planes_under(sheets *s)
{
    for (int32_t v = 0; v < s->model.nc; v++) {
        double low = INFINITY;
        for (int h = 0; h < 2; h++) {
            const double *o = plane_point + 3 * h, *n = plane_normal + 3 * h, *x = s->X + 3 * v;
            low = fmin(low, n[0] * (x[0] - o[0]) + n[1] * (x[1] - o[1]) + n[2] * (x[2] - o[2]));
        }
        if (!(low > 1e-3)) s->X[3 * v + 1] += 0.002 - low / 0.6;
    }
    s->model.nh = 2;
    s->model.hs_point = plane_point;
    s->model.hs_normal = plane_normal;
}

TEST(half_spaces_bound_and_touch_as_without_a_machine)
{
    for (int k = 0; k < 4; k++) {
        world w;
        sheets s = sheets_make((uint64_t)k, 3, 8, 0.05, 0.1, 0.3);
        abut_err mine = { 0 };
        CHECK((planes_under(&s), sheets_init(&s)));
        const uint8_t *fixed = k & 1 ? s.fixed : NULL;
        world_open(&w, &s.cm, fixed, s.X, s.y1, 1);
        for (int second = 0; second < 2; second++) {
            abut_limit a = { .alpha = second ? 1e-4 : 1, .node = { -1, -1, -1, -1 }, .tet = -1 }, b = a;
            abut_limit_planes(w.cm, w.x, w.y1, fixed, 0.2, &a);
            CHECK(!abut_gpu_touch_planes(&w.c, ABUT_AT(w.dx, double), ABUT_AT(w.dp, double), 0.2, &b, &err));
            CHECK(!memcmp(&a.alpha, &b.alpha, sizeof a.alpha) && a.kind == b.kind && !memcmp(a.node, b.node, sizeof a.node));
            CHECK(second || a.kind == ABUT_LIMIT_PLANE);
        }
        candidates(&w, 1);
        const abut_status want = abut_pairs_find(w.cm, &w.cand, w.x, fixed, &w.pairs, &err);
        CHECK(abut_gpu_touch_find(&w.c, ABUT_AT(w.dx, double), &w.set, &mine) == want);
        CHECK(!want && contacts_differ(&w) == 0 && w.set.n_plane > 5);
        /* the end of the motion is below */
        CHECK(abut_pairs_find(w.cm, &w.cand, w.y1, fixed, &w.pairs, &err) == ABUT_E_GEOM);
        CHECK(!w.q.on->put(&w.q, w.dx.at, w.y1, w.n3 * sizeof(double), &mine));
        CHECK(abut_gpu_touch_find(&w.c, ABUT_AT(w.dx, double), &w.set, &mine) == ABUT_E_GEOM);
        CHECK(!strcmp(mine.msg, err.msg) && w.set.n == 0 && w.set.n_plane == 0);
        world_close(&w);
        sheets_free(&s);
    }
}

/* ---- barrier ---- */

TEST(barrier_energy_gradient_and_hessians_are_those_without_a_machine)
{
    for_all_worlds(check_barrier, 0.1);
}

TEST(barrier_of_half_spaces_is_that_without_a_machine)
{
    for (int c = 0; c < ABUT_BARRIER_FORMS; c++) {
        world w;
        const int32_t continuity = c;
        sheets s = sheets_make(5, 3, 8, 0.05, 0.1, 0.3);
        CHECK((planes_under(&s), sheets_init(&s)));
        s.model.continuity = &continuity;
        world_open(&w, &s.cm, NULL, s.X, s.y1, 1);
        check_barrier(&w, 1);
        CHECK(w.set.n_plane > 5);
        world_close(&w);
        sheets_free(&s);
    }
}

/* ---- friction ---- */

/* Frozen contacts of 1 to 4 nodes, some of them met twice. */
static void lag_make(abut_lag *lag, int32_t nv, size_t n)
{
    abut_rng r = { 11 };
    *lag = (abut_lag){ .n = n, .node = malloc(n * sizeof *lag->node), .weight = malloc(n * sizeof *lag->weight),
                       .basis = malloc(n * sizeof *lag->basis), .force = malloc(n * sizeof *lag->force),
                       .mu = malloc(n * sizeof *lag->mu) };
    for (size_t i = 0; i < n; i++) {
        const int points = (int)(i % 4) + 1;
        for (int c = 0; c < 4; c++) {
            lag->node[i][c] = c < points ? (int32_t)((7 * i + 3 * (size_t)c + i * i) % (size_t)nv) : -1;
            lag->weight[i][c] = c < points ? abut_rng_real(&r, -1, 1) : 0;
        }
        const double a = abut_rng_real(&r, 0, 6), b = abut_rng_real(&r, 0, 6);
        const double P[6] = { cos(a), sin(a), 0, -sin(a) * cos(b), cos(a) * cos(b), sin(b) };
        memcpy(lag->basis[i], P, sizeof P);
        lag->force[i] = abut_rng_real(&r, 0, 100);
        lag->mu[i] = abut_rng_real(&r, 0.1, 1);
    }
}

static void check_friction(world *w, const abut_lag *lag, int smoothing)
{
    const abut_stiction law = { 0.01, 2, smoothing };   /* sticking below 0.02 m */
    const size_t n = lag->n;
    uint8_t *above = calloc(n, 1), *got = calloc(n, 1);
    double energy, most = 0, *want = calloc(w->n3, sizeof *want), *H = calloc(ABUT_PACKED * n, sizeof *H);
    int32_t *node = malloc(4 * n * sizeof *node);
    const double *xn = ABUT_AT(w->dx, double), *x = ABUT_AT(w->dp, double);     /* of the world: from x, at p */
    abut_gpu_blocks blocks;
    CHECK(!abut_gpu_friction_set(&w->c, lag, &law, xn, &err));
    CHECK(!abut_friction_energy(lag, &law, w->p, w->x, &energy, &w->scratch, &err));
    CHECK(!abut_gpu_friction_energy(&w->c, x, ABUT_AT(w->out, double), &err));
    CHECK_NEAR(scalar(w), energy, 1e-13 * energy);
    CHECK(!abut_friction_gradient(lag, &law, w->cm->nc, w->p, w->x, want, &w->scratch, &err));
    CHECK(!w->q.on->fill(&w->q, w->g.at, 0, w->n3 * sizeof(double), &err));
    CHECK(!abut_gpu_friction_gradient(&w->c, x, ABUT_AT(w->g, double), &err));
    for (size_t i = 0; i < w->n3; i++) most = fmax(most, fabs(want[i]));
    CHECK(gradient_differs(w, want) <= 1e-13 * most);
    for (int kinks = 0; kinks < 2; kinks++) {
        abut_friction_hessian(lag, &law, w->p, w->x, kinks ? above : NULL, node, H);
        CHECK(!abut_gpu_friction_hessian(&w->c, x, &blocks, &err));
        CHECK(blocks_differ(w, &blocks, node, H, n, 1e-14, 0) == 0);
        abut_friction_kinks(lag, &law, w->p, w->x, w->x, above);
        CHECK(!abut_gpu_friction_kinks(&w->c, x, xn, &err));
        CHECK(!w->q.on->get(&w->q, got, w->c.lag.above.at, n, &err));
        CHECK(!memcmp(got, above, n));
    }
    free(above), free(got), free(want), free(H), free(node);
}

TEST(friction_is_that_without_a_machine)
{
    for (int c = 0; c < ABUT_FRICTION_FORMS; c++) {
        world w;
        abut_lag lag;
        sheets s = sheets_make(3, 3, 6, 0.05, 0.1, 0.02);
        CHECK(sheets_init(&s));
        for (int32_t i = 0; i < 3 * s.model.nc; i++) s.y1[i] = 2 * s.X[i] + (i % 2 ? 0.01 : i % 7 * 0.004);   /* p is near x */
        lag_make(&lag, s.model.nv, 600);
        world_open(&w, &s.cm, c ? s.fixed : NULL, s.X, s.y1, 1);
        check_friction(&w, &lag, c);
        world_close(&w);
        abut_lag_clear(&lag);
        sheets_free(&s);
    }
}

/* ---- memory ---- */

/* Makes all contact computations of an iteration, from the start. */
static abut_status iteration(abut_queue *q, const sheets *s, const abut_lag *lag, const double *p, abut_err *e)
{
    abut_gpu_touch c = { 0 };
    abut_gpu_contacts set = { 0 };
    abut_buffer dx = { 0 }, dp = { 0 }, out = { 0 };
    abut_gpu_blocks blocks;
    const size_t n3 = 3 * (size_t)s->cm.nc;
    const abut_stiction law = { 0.01, 2, ABUT_FRICTION_C1 };
    abut_limit lim = { .alpha = 1, .tet = -1 };
    abut_status rc = abut_gpu_touch_init(&c, q, &s->cm, s->fixed, e);
    if (!rc) rc = abut_buffer_put(q, &dx, "x", s->X, n3, sizeof *p, e);
    if (!rc) rc = abut_buffer_put(q, &dp, "p", p, n3, sizeof *p, e);
    if (!rc) rc = abut_buffer_need(q, &out, "out", n3, sizeof *p, e);
    const double *x = ABUT_AT(dx, double), *step = ABUT_AT(dp, double);
    if (!rc) rc = abut_gpu_touch_candidates(&c, x, step, 0.5, s->dhat, e);
    if (!rc) rc = abut_gpu_touch_planes(&c, x, step, 0.2, &lim, e);
    if (!rc) rc = abut_gpu_touch_ccd(&c, 0.2, &lim, e);
    if (!rc) rc = abut_gpu_touch_find(&c, x, &set, e);
    if (!rc) rc = abut_gpu_barrier_energy(&c, x, &set, 1, ABUT_AT(out, double), e);
    if (!rc) rc = abut_gpu_barrier_gradient(&c, x, &set, 1, ABUT_AT(out, double), e);
    if (!rc) rc = abut_gpu_barrier_hessian(&c, x, &set, 1, &blocks, e);
    if (!rc) rc = abut_gpu_friction_set(&c, lag, &law, x, e);
    if (!rc) rc = abut_gpu_friction_energy(&c, x, ABUT_AT(out, double), e);
    if (!rc) rc = abut_gpu_friction_gradient(&c, x, ABUT_AT(out, double), e);
    if (!rc) rc = abut_gpu_friction_hessian(&c, x, &blocks, e);
    if (!rc) rc = abut_gpu_friction_kinks(&c, x, step, e);
    abut_gpu_touch_clear(&c);
    abut_gpu_contacts_clear(q, &set);
    abut_buffer_clear(q, &dx), abut_buffer_clear(q, &dp), abut_buffer_clear(q, &out);
    return rc;
}

TEST(every_allocation_that_fails_is_said_and_nothing_is_left)
{
    abut_lag lag;
    sheets s = sheets_make(1, 3, 4, 0.05, 0.1, 0.3);
    CHECK((planes_under(&s), sheets_init(&s)));
    double *p = malloc(3 * (size_t)s.cm.nc * sizeof *p);
    for (int32_t i = 0; i < 3 * s.cm.nc; i++) p[i] = s.y1[i] - s.X[i];
    lag_make(&lag, s.model.nv, 50);
    abut_status rc = ABUT_E_NOMEM;
    int n = 0;
    for (; rc && n < 1000; n++) {
        abut_queue q;
        abut_err e = { 0 };
        CHECK(!abut_queue_twin(&q, &e));
        q.fails_after = n;
        rc = iteration(&q, &s, &lag, p, &e);
        CHECK(!rc || (rc == ABUT_E_NOMEM && strstr(e.msg, "memory")));
        CHECK(q.bytes == 0);
        abut_queue_close(&q);
    }
    CHECK(!rc && n > 50);
    abut_lag_clear(&lag);
    free(p);
    sheets_free(&s);
}
