/* Every row of the table of directions, at a point with contact and friction: what solve/direction.h promises of it. */
#include "base/par.h"
#include "base/rng.h"
#include "energy/friction.h"
#include "newton_system.h"
#include "rows.h"
#include "scene_world.h"
#include "solve/direction/look_ahead.h"

#include "check.h"

#include <omp.h>

/* Two blocks, one over the other and over the floor, after two steps; the lower one is held at a side. */
static const char *const PILE =
    "time: {step: 10 ms}\ntolerance: 1e-4 m/s\n"
    "contact: {dhat: 5 mm, kappa-scale: 0.5, barrier: {stiffen-below: 0.5 mm}, friction: {mu: 0.4}}\n"
    "materials: {m: {model: fixed-corotated, young: 4e4}}\n"
    "objects:\n"
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n"
    "  low: {generate: {box: {size: [0.3, 0.1, 0.3], cells: [3, 1, 3]}}, material: m, translate: [0, 0.051, 0]}\n"
    "  high: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}}, material: m, translate: [0.01, 0.152, 0.02],\n"
    "         velocity: [0.2, 0, 0]}\n"
    "motion: [{select: {object: low, relative-box: [[0, 0, 0], [0.01, 1, 1]]}, fix: true}]\n";

enum { N3_MOST = 3 * 512 };

static const abut_direction_options OPT = { .user = &abut_solve_defaults, .proves = 1 };

/* A stepper at a point of a step, where the gradient is s->here.g. */
static abut_search *amid_step(world *w)
{
    world_scene(w, "%s", PILE);
    CHECK(!world_judged(w, 2));
    CHECK(!abut_step_begin(&w->st, &w->frame, w->at, &w->rep, &w->err));
    abut_search *s = &w->st.solver;
    CHECK(s->here.pairs.n > 0 && s->here.pairs.n_plane > 0 && abut_lag_of(&s->prob.terms)->n > 0 && 3 * w->model.nv <= N3_MOST);
    const abut_at at = abut_objective_at(&s->prob, s->here.x, s->here.y, &s->here.pairs);
    CHECK(!abut_objective_gradient(&s->prob, &at, ABUT_KINDS_ALL, s->here.g, &s->scratch, &w->err));
    return s;
}

static double dot(const double *a, const double *b, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* |A p + g|_2 over |g|_2 with the Newton matrix of the point. */
static double unsolved(world *w, const abut_search *s, const double *g, const double *p)
{
    newton_system n;
    const int32_t rows = 3 * s->prob.nrow;
    double *v = calloc((size_t)(3 * rows), sizeof *v), *Av = v + rows, *b = Av + rows;
    newton_system_open(&n, &s->prob, 0, 0);
    CHECK(!newton_system_sum(&n, s, &w->rep, &w->err));
    abut_rows_gather(&s->prob, p, 1, v);
    abut_rows_gather(&s->prob, g, 1, b);
    abut_bsr_multiply(&n.matrix.A, v, Av);
    const double all = dot(b, b, rows);
    for (int32_t i = 0; i < rows; i++) Av[i] += b[i];
    const double left = dot(Av, Av, rows);
    newton_system_close(&n);
    free(v);
    return sqrt(left / all);
}

TEST(the_rows_have_names_and_what_every_direction_must_have)
{
    CHECK(!strcmp(all_directions()[0]->name, "newton"));
    for (int k = 0; all_directions()[k]; k++) {
        const abut_direction_ops *ops = all_directions()[k];
        CHECK(ops->name && ops->make && ops->begin_step && ops->find && ops->require_exact && ops->free);
        for (int l = 0; l < k; l++) CHECK(strcmp(all_directions()[l]->name, ops->name));
    }
}

TEST(every_direction_descends_at_a_point_with_contact_and_leaves_nodes_that_do_not_move)
{
    world w;
    abut_search *s = amid_step(&w);
    for (const abut_direction_ops *const *ops = all_directions(); *ops; ops++) {
        abut_direction d;
        abut_direction_info info = { .bad_node = 7 };
        double p[N3_MOST];
        int still = 0;
        CHECK(!abut_direction_make(&d, *ops, &s->prob, &OPT, &w.err));
        d.ops->begin_step(d.self);
        for (int k = 0; k < 3; k++) {       /* the first, and such that remember it */
            for (int i = 0; i < N3_MOST; i++) p[i] = NAN;
            CHECK(!d.ops->find(d.self, &s->here, p, &info, &w.rep, &w.err));
            CHECK(dot(p, s->here.g, 3 * w.model.nv) < 0 && info.bad_node == -1 && !info.guessed);
            for (int32_t i = 0; i < w.model.nv; i++)
                if (s->prob.row[i] < 0) still += p[3 * i] == 0 && p[3 * i + 1] == 0 && p[3 * i + 2] == 0;
        }
        CHECK(still == 3 * (w.model.nv - s->prob.nrow) && still > 0);
        abut_direction_clear(&d);
        CHECK(!d.ops && !d.self);
    }
    world_close(&w);
}

/* Conjugate gradients of quasi-Newton directions leave a thousandth of the gradient. */
TEST(a_direction_that_is_required_to_be_exact_is_newtons_and_so_is_each_that_says_so)
{
    world w;
    abut_search *s = amid_step(&w);
    int others = 0;
    for (const abut_direction_ops *const *ops = all_directions(); *ops; ops++) {
        abut_direction d;
        abut_direction_info info;
        double p[N3_MOST];
        CHECK(!abut_direction_make(&d, *ops, &s->prob, &OPT, &w.err));
        d.ops->begin_step(d.self);
        for (int k = 0; k < 4; k++) {
            if (k == 2) d.ops->require_exact(d.self);
            CHECK(!d.ops->find(d.self, &s->here, p, &info, &w.rep, &w.err));
            CHECK(k != 2 || info.exact);
            if (info.exact) CHECK(unsolved(&w, s, s->here.g, p) < 1.001e-3);
            others += !info.exact;
        }
        abut_direction_clear(&d);
    }
    CHECK(others > 0);
    world_close(&w);
}

TEST(resolve_solves_with_the_matrix_of_the_last_direction_and_so_does_its_factor)
{
    world w;
    abut_search *s = amid_step(&w);
    abut_rng rng = { 3 };
    double g[N3_MOST], p[N3_MOST];
    int resolve = 0, factors = 0;
    for (int i = 0; i < N3_MOST; i++) g[i] = abut_rng_real(&rng, -1, 1);
    for (const abut_direction_ops *const *ops = all_directions(); *ops; ops++) {
        abut_direction d;
        abut_direction_info info;
        if (!(*ops)->resolve) continue;
        CHECK(!abut_direction_make(&d, *ops, &s->prob, &OPT, &w.err));
        d.ops->begin_step(d.self);
        d.ops->require_exact(d.self);
        CHECK(!d.ops->find(d.self, &s->here, p, &info, &w.rep, &w.err) && info.exact && !info.approximate);
        CHECK(!d.ops->resolve(d.self, g, p, &w.rep, &w.err));
        CHECK(unsolved(&w, s, g, p) < 1e-9);
        resolve++;
        abut_operator A;
        abut_linear_solver *linear = d.ops->factor ? d.ops->factor(d.self, &A) : NULL;
        if (linear) {
            double b[N3_MOST], q[N3_MOST];
            abut_rows_gather(&s->prob, g, -1, b);
            CHECK(A.matrix->n == s->prob.nrow && !abut_linear_solve(linear, &A, b, NULL, b, &w.err));
            abut_rows_scatter(&s->prob, b, 1, q);
            CHECK(!memcmp(p, q, 3 * (size_t)w.model.nv * sizeof *p));
            factors++;
        }
        abut_direction_clear(&d);
    }
    CHECK(resolve > 0 && factors > 0);
    world_close(&w);
}

TEST(a_direction_has_the_same_bits_for_every_number_of_threads)
{
    static const int threads[] = { 1, 2, 7 };
    const int before = omp_get_max_threads();
    world w;
    abut_search *s = amid_step(&w);
    for (const abut_direction_ops *const *ops = all_directions(); *ops; ops++) {
        double p[3][2][N3_MOST];
        for (int k = 0; k < 3; k++) {
            abut_direction_options o = OPT;
            abut_direction d;
            abut_direction_info info;
            abut_solve_options user = abut_solve_defaults;
            user.linear.threads = threads[k];
            o.user = &user;
            omp_set_num_threads(threads[k]);
            CHECK(!abut_direction_make(&d, *ops, &s->prob, &o, &w.err));
            d.ops->begin_step(d.self);
            CHECK(!d.ops->find(d.self, &s->here, p[k][0], &info, &w.rep, &w.err));
            d.ops->require_exact(d.self);
            CHECK(!d.ops->find(d.self, &s->here, p[k][1], &info, &w.rep, &w.err));
            abut_direction_clear(&d);
            for (int j = 0; j < 2; j++) CHECK(!memcmp(p[k][j], p[0][j], 3 * (size_t)w.model.nv * sizeof(double)));
        }
    }
    omp_set_num_threads(before);
    world_close(&w);
}

TEST(look_ahead_passes_on_what_its_direction_answers_and_changes_nothing_that_contact_does_not_bound)
{
    world w;
    abut_search *s = amid_step(&w);
    for (const abut_direction_ops *const *ops = all_directions(); *ops; ops++) {
        if (!(*ops)->factor) continue;
        abut_direction plain, d, inner;
        abut_direction_info info[2];
        double p[2][N3_MOST], q[2][N3_MOST];
        CHECK(!abut_direction_make(&plain, *ops, &s->prob, &OPT, &w.err));
        CHECK(!abut_direction_make(&inner, *ops, &s->prob, &OPT, &w.err));
        CHECK(!abut_look_ahead_make(&d, &inner, &s->prob, &w.err) && !inner.ops);
        const abut_direction both[2] = { plain, d };
        for (int k = 0; k < 2; k++) {
            const abut_direction *a = &both[k];
            a->ops->begin_step(a->self);
            if (a->ops->begin_minimisation) a->ops->begin_minimisation(a->self);
            CHECK(!a->ops->find(a->self, &s->here, p[k], &info[k], &w.rep, &w.err));
            CHECK(!a->ops->resolve == !plain.ops->resolve);
            if (a->ops->resolve) CHECK(!a->ops->resolve(a->self, s->here.x, q[k], &w.rep, &w.err));
            abut_operator A;
            CHECK(a->ops->factor(a->self, &A) != NULL && A.matrix->n == s->prob.nrow);
        }
        const size_t bytes = 3 * (size_t)w.model.nv * sizeof(double);
        CHECK(!strcmp(d.ops->name, plain.ops->name) && !memcmp(p[0], p[1], bytes) && !memcmp(q[0], q[1], bytes));
        CHECK(info[0].exact == info[1].exact);
        int changed = 1;
        const abut_direction_bound bound = { { .alpha = 0.01, .kind = ABUT_LIMIT_TET }, 1, 0.2, &s->cand };
        CHECK(!d.ops->refine(d.self, &s->here, &bound, p[1], &changed, &w.rep, &w.err) && !changed && !memcmp(p[0], p[1], bytes));
        abut_direction_clear(&plain);
        abut_direction_clear(&d);
    }
    world_close(&w);
}

/* A direction far into the floor: look-ahead answers it, and gives Newton's back when the search cannot bound the answer. */
TEST(look_ahead_descends_where_contact_bounds_and_gives_up_a_direction_that_cannot_be_bounded)
{
    world w;
    abut_search *s = amid_step(&w);
    const size_t n3 = 3 * (size_t)w.model.nv, bytes = n3 * sizeof(double);
    abut_direction d, inner;
    abut_direction_info info;
    double g[N3_MOST], newton[N3_MOST], p[N3_MOST];
    for (size_t i = 0; i < n3; i++) g[i] = i % 3 == 1 ? w.model.mass[i / 3] : 0;
    abut_point at = s->here;    /* with another gradient */
    at.g = g;
    CHECK(!abut_direction_make(&inner, &abut_direction_newton, &s->prob, &OPT, &w.err));
    CHECK(!abut_look_ahead_make(&d, &inner, &s->prob, &w.err));
    d.ops->begin_step(d.self);
    d.ops->begin_minimisation(d.self);
    const double then[3] = { 1, 0, -1 };    /* followed whole, not at all, and not to be told */
    for (int k = 0; k < 3; k++) {
        const int blocked = then[k] < 0;
        int changed = 0;
        d.ops->begin_minimisation(d.self);
        CHECK(!d.ops->find(d.self, &at, newton, &info, &w.rep, &w.err));
        memcpy(p, newton, bytes);
        abut_direction_bound bound = { { .alpha = 0.01, .kind = ABUT_LIMIT_PLANE }, 1, 0.2, &s->cand };
        CHECK(!d.ops->refine(d.self, &at, &bound, p, &changed, &w.rep, &w.err) && changed);
        CHECK(dot(p, g, (int32_t)n3) < 0 && memcmp(p, newton, bytes));
        bound.limit.alpha = then[k];
        CHECK(!d.ops->refine(d.self, &at, &bound, p, &changed, &w.rep, &w.err) && changed == blocked);
        CHECK(blocked == !memcmp(p, newton, bytes));
        if (!blocked) continue;
        bound.limit.alpha = 0.01;
        CHECK(!d.ops->refine(d.self, &at, &bound, p, &changed, &w.rep, &w.err) && !changed && !memcmp(p, newton, bytes));
        /* the next one is left out, as it was not worth it */
        CHECK(!d.ops->find(d.self, &at, p, &info, &w.rep, &w.err));
        CHECK(!d.ops->refine(d.self, &at, &bound, p, &changed, &w.rep, &w.err) && !changed);
    }
    abut_direction_clear(&d);
    world_close(&w);
}
