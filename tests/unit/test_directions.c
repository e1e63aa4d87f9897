/* Every row of the table of directions, at a point with contact and friction: what solve/direction.h promises of it. */
#include "base/par.h"
#include "base/rng.h"
#include "energy/friction.h"
#include "newton_system.h"
#include "rows.h"
#include "scene_world.h"

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

TEST(resolve_solves_with_the_matrix_of_the_last_direction)
{
    world w;
    abut_search *s = amid_step(&w);
    abut_rng rng = { 3 };
    double g[N3_MOST], p[N3_MOST];
    int resolve = 0;
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
        abut_direction_clear(&d);
    }
    CHECK(resolve > 0);
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

/* Compares the diagonal blocks of the matrix before and after, as products and as a sum. */
TEST(shifts_of_a_matrix_replace_each_other_and_add_their_share_of_its_diagonal)
{
    world w;
    abut_search *s = amid_step(&w);
    newton_system n;
    abut_linear_solver linear;
    const abut_linear_solver_ops *const *ops = abut_linear_solvers;
    while (!((*ops)->can & ABUT_CAN_MATRIX_FREE)) ops++;
    const size_t rows = (size_t)s->prob.nrow;
    double *D = malloc(9 * rows * sizeof *D), *to = malloc(9 * rows * sizeof *to), *whole = malloc(3 * rows * sizeof *whole);
    for (int products = 0; products < 2; products++) {
        newton_system_open(&n, &s->prob, 0, 0);
        CHECK(!abut_linear_solver_init(&linear, *ops, 1, &w.err));
        CHECK(!(products ? abut_newton_matrix_products(&n.matrix, &linear, &s->prob, &s->here, &w.rep, &w.err)
                         : newton_system_sum(&n, s, &w.rep, &w.err)));
        const abut_operator A = abut_newton_matrix_operator(&n.matrix, NULL);
        CHECK((size_t)abut_operator_rows(&A) == rows);
        abut_operator_diagonal(&A, D);
        for (int k = 0; k < 2; k++) {
            const double shift = k ? 0.25 : 4;
            CHECK(!abut_newton_matrix_shift(&n.matrix, shift, !k, whole, &w.err));
            abut_operator_diagonal(&A, to);
            for (size_t j = 0; j < rows; j++) {
                const double *d = D + 9 * j, big = fmax(fabs(d[0]), fmax(fabs(d[4]), fabs(d[8])));
                for (int i = 0; i < 9; i++) {
                    const double more = i % 4 ? 0 : shift * (products ? big : fabs(d[i]));
                    CHECK_NEAR(to[9 * j + (size_t)i], d[i] + more, 1e-14 * (1 + shift) * big);
                }
            }
        }
        newton_system_close(&n);
        abut_linear_solver_clear(&linear);
    }
    free(D), free(to), free(whole);
    world_close(&w);
}
