/* A step that fails says the cause: every kind of failure, provoked. */
#include "rows.h"
#include "scene_world.h"

#include "energy/barrier.h"
#include "energy/mass.h"

#include <math.h>

static const char *const NAMES = "left\nright\nwall\n";

/* checks that the message contains all these texts */
static void reads(const world *w, const char *const *text)
{
    for (; *text; text++) {
        const int found = strstr(w->err.msg, *text) != NULL;
        if (!found) printf("# expected '%s' in: %s\n", *text, w->err.msg);
        CHECK(found);
    }
}
#define READS(w, ...) reads(w, (const char *const[]){ __VA_ARGS__, NULL })
/* and no frame came of the first step */
#define SAYS(w, ...) \
    do { \
        READS(w, __VA_ARGS__); \
        CHECK((w)->next.n == 0); \
    } while (0)

static void name_objects(world *w)
{
    CHECK(!abut_arrays_put_text(&w->model_set, "object/name", NAMES, &w->err));
    CHECK(!abut_model_view(&w->model_set, &w->model, &w->err));
    w->o.names = &w->model_set;
}

/* two boxes, the right one thrown at the left one; the node numbers of the second start at 0 again */
static void meeting_damped(world *w, double damp_mass)
{
    fixture *f = fixture_new();
    f->damp_mass = damp_mass;
    f->gravity[1] = 0;
    f->tol = 1e-6;
    fixture_box(f, 0, 0, 0, 0.3, 0.3, 0.3, 1, 1, 1, 0);
    fixture_box(f, 0.301, 0.05, 0.1, 0.3, 0.3, 0.3, 1, 1, 1, 0);
    const double v0[6] = { 0, 0, 0, -5, 0, 0 };
    world_open(w, f, v0);
    name_objects(w);
}

static void meeting(world *w) { meeting_damped(w, 0); }

TEST(the_iteration_limit_names_the_pair_that_bounds_the_step)
{
    world w;
    meeting(&w);
    w.o.search.max_newton = 1;
    CHECK(world_run(&w, 1) == ABUT_E_NUMERIC);
    const abut_failure *f = &w.st.solver.failed;
    CHECK(f->kind == ABUT_FAILED_ITERATIONS && f->iterations == 1);
    CHECK(f->alpha < 1 && (f->limit.kind == ABUT_LIMIT_VT || f->limit.kind == ABUT_LIMIT_EE));
    SAYS(&w, "step 1 (t = 0 s)", "not converged after 1 Newton iteration", "want 1e-06", "of 'left'", "of 'right'", "(gap ",
         "kappa", "may help");
    /* global node numbers go up to 15, those within an object to 7 */
    for (int n = 8; n < 16; n++) {
        char number[24];
        snprintf(number, sizeof number, "node %d of", n);
        CHECK(!strstr(w.err.msg, number));
    }
    CHECK(w.rep.newton == 1);
    world_close(&w);
}

TEST(the_report_of_a_failed_step_has_the_contacts_and_the_stiffness_where_it_got_stuck)
{
    world w;
    meeting(&w);
    w.o.search.max_newton = 2;
    w.rep.min_gap = -1;
    CHECK(world_run(&w, 1) == ABUT_E_NUMERIC);
    const abut_search *s = &w.st.solver;
    size_t which;
    CHECK(s->here.pairs.n > 0 && w.rep.contacts == (int32_t)s->here.pairs.n);
    CHECK(w.rep.min_gap > 0 && w.rep.min_gap == abut_pairs_smallest_gap(&s->prob.cm, &s->here.pairs, &which));
    CHECK(w.rep.kappa > 0 && w.rep.kappa == abut_barrier_state_of(&s->prob.terms)->kappa);
    CHECK(w.rep.eta == 1 && w.rep.min_jacobian > 0 && w.rep.min_jacobian_tet >= 0 && w.rep.time == w.model.h[0]);
    world_close(&w);
}

TEST(the_rule_that_was_not_met_is_the_one_that_was_asked_for)
{
    world w;
    meeting(&w);
    w.o.search.max_newton = 1;
    w.o.search.stop = ABUT_STOP_CHARACTERISTIC;
    CHECK(world_run(&w, 1) == ABUT_E_NUMERIC);
    SAYS(&w, "; characteristic norm ", ", want 1e-05; step length ");
    CHECK(!strstr(w.err.msg, "residual") && w.st.solver.failed.norm > 1e-5 && w.st.solver.failed.norm == w.rep.norm);
    world_close(&w);
}

TEST(the_gap_in_the_message_is_that_of_the_pair)
{
    world w;
    meeting(&w);
    w.o.search.max_newton = 1;
    CHECK(world_run(&w, 1) == ABUT_E_NUMERIC);
    const abut_search *s = &w.st.solver;
    const char *at = strstr(w.err.msg, "(gap ");
    double x[12], d2;
    for (int k = 0; k < 4; k++) memcpy(x + 3 * k, s->here.x + 3 * s->failed.limit.node[k], 3 * sizeof *x);
    abut_nearest(s->failed.limit.kind == ABUT_LIMIT_VT ? ABUT_PT : ABUT_EE, x, &d2);
    CHECK(at != NULL);
    if (at) CHECK_NEAR(strtod(at + 5, NULL), sqrt(d2), 0.01 * sqrt(d2));
    world_close(&w);
}

TEST(without_names_objects_have_numbers)
{
    world w;
    meeting(&w);
    w.o.names = NULL;
    w.o.search.max_newton = 2;
    CHECK(world_run(&w, 1) == ABUT_E_NUMERIC);
    SAYS(&w, "of object 0", "of object 1");
    world_close(&w);
}

TEST(a_handle_driven_into_the_floor_is_blocked)
{
    fixture *f = fixture_new();
    f->plane = 1;
    fixture_box(f, 0, 0.01, 0, 0.2, 0.2, 0.2, 1, 1, 1, 0);
    fixture_move(f, 0, 1, 0, 0.011, (double[]){ 0, -2, 0 }, (double[]){ 0, 0, 0 });
    world w;
    world_open(&w, f, NULL);
    name_objects(&w);
    CHECK(world_run(&w, 1) == ABUT_E_NUMERIC);
    CHECK(w.st.solver.failed.kind == ABUT_FAILED_BLOCKED);
    CHECK(w.st.solver.failed.iterations < 1000);        /* not only when all iterations are spent */
    SAYS(&w, "scripted motion is blocked", "half-space 0", "of 'left' is 0.01 m short", "scripted motion 0.5 done");
    SAYS(&w, "step length 1; of");      /* nothing bounds it, so no bound is named */
    world_close(&w);
}

TEST(an_element_that_would_invert_is_named)
{
    /* one end of a bar is driven through the other: no neo-Hookean element lets that happen */
    fixture *f = fixture_new();
    f->gravity[1] = 0;
    fixture_box(f, 0, 0, 0, 0.2, 0.1, 0.1, 2, 1, 1, 0);
    fixture_move(f, 0, 0, -1e-6, 1e-6, (double[]){ 30, 0, 0 }, (double[]){ 0, 0, 0 });
    fixture_move(f, 0, 0, 0.2 - 1e-6, 0.2 + 1e-6, (double[]){ 0, 0, 0 }, (double[]){ 0, 0, 0 });
    world w;
    world_open(&w, f, NULL);
    name_objects(&w);
    w.o.search.max_newton = 3;
    CHECK(world_run(&w, 1) == ABUT_E_NUMERIC);
    CHECK(w.st.solver.failed.limit.kind == ABUT_LIMIT_TET);
    SAYS(&w, "element ", " of 'left' (", "of its rest volume left)", "of 'left' is ");
    world_close(&w);
}

TEST(a_shell_at_its_limit_is_named_with_its_stretches)
{
    world w;
    world_scene(&w, "time: {step: 0.01}\ngravity: [2000, 0, 0]\nobjects:\n"
                "  pad: {generate: {cloth: {size: [1, 1], cells: [2, 2]}}, shell: {thickness: 1 mm}, translate: [0, 5, 0]}\n"
                "  flag: {generate: {explicit: {points: [[0, 0, 0], [0.1, 0, 0], [0, 0, 0.1], [-0.1, 0, 0]],\n"
                "    triangles: [[0, 3, 2], [0, 2, 1]]}}, shell: {thickness: 1 mm, stretch-limit: 1.1}}\n"
                "motion: [{select: {object: flag, nodes: [0, 2, 3]}, fix: true}]\n");
    w.o.names = &w.model_set;
    w.o.search.max_newton = 1;
    CHECK(world_run(&w, 1) == ABUT_E_NUMERIC);
    CHECK(w.st.solver.failed.limit.kind == ABUT_LIMIT_STRETCH && w.st.solver.failed.limit.tet == 9);
    /* the second triangle of the flag, whose third corner slides along its warp */
    char words[80];
    snprintf(words, sizeof words, "shell 1 of 'flag' (stretched to 1 and %.6g)", w.st.solver.here.x[3 * (9 + 1)] / 0.1);
    SAYS(&w, "not converged after 1 Newton iteration", words);
    world_close(&w);
}

TEST(a_floor_that_bounds_the_step_is_named)
{
    fixture *f = fixture_new();
    f->plane = 1;
    f->tol = 1e-6;
    fixture_box(f, 0, 0.001, 0, 0.2, 0.2, 0.2, 1, 1, 1, 0);
    world w;
    world_open(&w, f, (double[]){ 0, -5, 0 });
    name_objects(&w);
    w.o.search.max_newton = 1;
    CHECK(world_run(&w, 1) == ABUT_E_NUMERIC);
    CHECK(w.st.solver.failed.limit.kind == ABUT_LIMIT_PLANE);
    SAYS(&w, "bounded", "of 'left' against half-space 0", "(gap ");
    world_close(&w);
}

TEST(a_search_that_finds_no_decrease_has_stalled)
{
    world w;
    meeting(&w);
    w.st.solver.prob.stiffness = -1e30;     /* asks for more decrease than any step gives */
    CHECK(world_run(&w, 1) == ABUT_E_NUMERIC);
    CHECK(w.st.solver.failed.kind == ABUT_FAILED_STALLED && w.st.solver.failed.alpha == 0);
    SAYS(&w, "Newton iteration 1: no step along the direction lowers the objective", "step length 0, bounded at 0.",
         "of 'right'");
    world_close(&w);
}

static const char HOUR[] =
    "time: {step: 1 h}\nforce-tolerance: 1e-3\ncontact: {friction: {mu: 0.4}}\n"
    "materials: {rubber: {model: neo-hookean, density: 1000, young: 1e5, poisson: 0.4}}\nobjects:\n"
    "  top: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, translate: [0.02, 0.2, 0]}\n"
    "  bottom: {generate: {box: {size: [0.2, 0.1, 0.2], cells: [2, 1, 2]}}, translate: [0, 0.06, 0]}\n"
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}, mu: 0.5}\n";

/* boxes above a floor that meet: contact has the keys of `contact` */
static void thrown(world *w, const char *contact, const char *velocity)
{
    world_scene(w, "time: {step: 0.01}\ncontact: {%s}\nobjects:\n"
                "  left: {generate: {box: {size: [0.3, 0.3, 0.3], cells: [1, 1, 1]}}, translate: [0, 0.2, 0]}\n"
                "  right: {generate: {box: {size: [0.3, 0.3, 0.3], cells: [1, 1, 1]}}, translate: [0.305, 0.25, 0.1], "
                "velocity: [%s]}\n"
                "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n"
                "materials: {rubber: {model: neo-hookean, density: 1000, young: 1e5, poisson: 0.4}}\n", contact, velocity);
    w->o.names = &w->model_set;
}

TEST(forces_that_are_ten_times_further_from_balance_than_asked_for_give_the_step_up)
{
    world w;
    thrown(&w, "dhat: 1 mm", "0, 0, 0");
    CHECK(!world_run(&w, 1) && w.rep.force_residual > 0);
    world_close(&w);
    /* inertia of an hour: rounding of the objective hides the weights, 1e-7 of it */
    world_scene(&w, HOUR);
    w.o.names = &w.model_set;
    CHECK(world_run(&w, 1) == ABUT_E_NUMERIC);
    const abut_failure *f = &w.st.solver.failed;
    CHECK(f->kind == ABUT_FAILED_UNBALANCED && f->unbalanced == w.rep.force_residual && f->unbalanced > 0.01);
    SAYS(&w, "step 1 (t = 0 s)", "forces on '", "' do not balance after ", "; forces balance to ", ", want 0.001, accepted up to "
         "0.01", "a smaller time.step may help; a larger force-tolerance accepts what is left");
    /* other rules, and a number of iterations, do not ask for balance */
    for (int k = 0; k < 2; k++) {
        if (k) w.o.search.stop = ABUT_STOP_NEWTON, w.o.real_time.iterations = 5;
        else w.o.search.stop = ABUT_STOP_PUBLISHED;
        CHECK(!world_run(&w, 1));
    }
    world_close(&w);
}

SLOW_TEST(iterations_that_cycle_end_early_and_say_that_they_stagnate)
{
    world w;
    thrown(&w, "barrier: {law: ipc-c0}", "0, -1, 0");
    CHECK(world_run(&w, 40) == ABUT_E_NUMERIC);
    const abut_failure *f = &w.st.solver.failed;
    CHECK(f->kind == ABUT_FAILED_STAGNATES && f->idle.n == 2000 && f->iterations >= 2000 && f->iterations < 3000);
    CHECK(f->idle.went < 1 && w.rep.newton == f->iterations);
    READS(&w, "it stagnates after 20", "none of the last 2000 made directions shorter by a tenth", "of one direction",
         "where this barrier law is not smooth: contact.barrier.law ipc or log2 is");
    CHECK(!strstr(w.err.msg, "a higher limit"));
    world_close(&w);
    /* a limit below the window is one, and a higher one may help */
    thrown(&w, "barrier: {law: ipc-c0}", "0, -1, 0");
    w.o.search.max_newton = 500;
    CHECK(world_run(&w, 40) == ABUT_E_NUMERIC);
    CHECK(w.st.solver.failed.kind == ABUT_FAILED_ITERATIONS);
    READS(&w, "not converged after 500 Newton iterations", "a higher limit");
    world_close(&w);
}

TEST(a_barrier_too_soft_for_its_load_is_what_the_advice_is_about)
{
    world w;
    thrown(&w, "barrier: {fixed-kappa: 1e-6}", "-3, -1, 0");
    CHECK(world_run(&w, 40) == ABUT_E_NUMERIC);
    READS(&w, "gaps are tiny against dhat", "a larger fixed-kappa, or none");
    abut_search *s = &w.st.solver;
    abut_failure f = s->failed;
    const abut_failure_view view = { .prob = &s->prob, .here = &s->here, .names = &w.model_set, .progress = 1 };
    f.kind = ABUT_FAILED_STAGNATES;
    f.idle = (struct abut_failure_idle){ 1000, 20 };
    f.residual = 0.5 * w.model.tolerance[0];
    f.unbalanced = 0.25;
    CHECK(abut_failure_say(&f, &view, &w.err) == ABUT_E_NUMERIC);
    READS(&w, "lowered the objective by no more than its rounding", "forces balance to 0.25, want 0.1",
         "a larger fixed-kappa, or none");
    s->here.pairs.n = s->here.pairs.n_plane = 0;    /* the same where nothing touches */
    CHECK(abut_failure_say(&f, &view, &w.err) == ABUT_E_NUMERIC);
    READS(&w, "it is the forces that do not balance: a larger force-tolerance");
    f.unbalanced = 0;
    CHECK(abut_failure_say(&f, &view, &w.err) == ABUT_E_NUMERIC);
    READS(&w, "a larger tolerance may help: rounding");
    CHECK(!strstr(w.err.msg, "forces balance"));
    world_close(&w);
}

TEST(a_dhat_that_is_tiny_against_the_scene_is_what_the_advice_is_about)
{
    world w;
    meeting(&w);
    w.o.search.max_newton = 2;
    CHECK(world_run(&w, 1) == ABUT_E_NUMERIC);
    const abut_search *s = &w.st.solver;
    abut_model *m = (abut_model *)s->prob.model;
    CHECK(s->here.pairs.n > 0);
    const abut_failure_view view = { .prob = &s->prob, .here = &s->here, .names = &w.model_set, .progress = 1 };
    for (int kind = ABUT_FAILED_STALLED; kind <= ABUT_FAILED_STAGNATES; kind += ABUT_FAILED_STAGNATES - ABUT_FAILED_STALLED) {
        abut_failure f = s->failed;
        f.kind = (abut_failure_kind)kind;
        const double *length = m->length;
        CHECK(abut_failure_say(&f, &view, &w.err) == ABUT_E_NUMERIC);
        CHECK(!strstr(w.err.msg, "a larger contact.dhat"));
        m->length = (double[]){ 1.01e6 * m->dhat[0] };
        CHECK(abut_failure_say(&f, &view, &w.err) == ABUT_E_NUMERIC);
        SAYS(&w, "dhat is tiny against the scene and its barrier steep: a larger contact.dhat (default 1e-3 l)");
        m->length = length;
    }
    world_close(&w);
}

/* equilibria of two bars that two forces stretch, one of which is held, to a tolerance below the rounding of free motions */
static abut_failure_kind stretch(world *w, int max_newton)
{
    world_scene(w, "time: {step: 1, scheme: quasi-static}\ngravity: [0, 0, 0]\ntolerance: 1e-15 m/s\nobjects:\n"
                "  held: {generate: {box: {size: [0.5, 0.1, 0.1], cells: [5, 1, 1]}}, translate: [0, 1, 0]}\n"
                "  loose: {generate: {box: {size: [0.5, 0.1, 0.1], cells: [10, 2, 2]}}}\n"
                "materials: {rubber: {model: neo-hookean, density: 1000, young: 1e3, poisson: 0.45}}\n"
                "motion:\n"
                "  - {select: {object: held, relative-box: [[0, 0, 0], [0.01, 1, 1]]}, fix: true}\n"
                "  - {select: {object: loose, relative-box: [[0, 0, 0], [0.01, 1, 1]]}, force: [-0.5, 0, 0]}\n"
                "  - {select: {object: loose, relative-box: [[0.99, 0, 0], [1, 1, 1]]}, force: [0.5, 0, 0]}\n");
    w->o.names = &w->model_set;
    w->o.search.max_newton = max_newton;
    CHECK(world_run(w, 1) == ABUT_E_NUMERIC);
    return w->st.solver.failed.kind;
}

TEST(what_nothing_holds_in_an_equilibrium_is_named_where_rounding_moves_it)
{
    static const char advice[] = "'loose' moves as a whole, as what nothing holds is moved by rounding: a larger tolerance, "
                                 "damping.mass, or a node of it that is fixed";
    world w;
    CHECK(stretch(&w, 10000) == ABUT_FAILED_STAGNATES);
    SAYS(&w, "it stagnates", "lowered the objective by no more than its rounding", advice);
    world_close(&w);
    CHECK(stretch(&w, 300) == ABUT_FAILED_ITERATIONS);
    SAYS(&w, "not converged after 300 Newton iterations", advice);
    world_close(&w);
    CHECK(stretch(&w, 3) == ABUT_FAILED_ITERATIONS);    /* it is the load that moves it */
    SAYS(&w, "a higher limit");
    CHECK(!strstr(w.err.msg, "as a whole"));
    world_close(&w);
}

TEST(an_indefinite_matrix_is_named_by_the_node_of_its_pivot)
{
    world w;
    meeting_damped(&w, 1);
    abut_damping_of(&w.st.solver.prob.terms)->mass = -1e9;   /* takes all mass away and more */
    CHECK(world_run(&w, 1) == ABUT_E_NUMERIC);
    CHECK(w.st.solver.failed.kind == ABUT_FAILED_INDEFINITE && w.st.solver.failed.node >= 0);
    SAYS(&w, "no shift of the diagonal makes the matrix of 48 unknowns positive definite", "the pivot that fails is at node ",
         " of '");
    world_close(&w);
}

TEST(an_indefinite_matrix_of_any_direction_names_a_node)
{
    for (const abut_direction_ops *const *ops = all_directions(); *ops; ops++) {
        world w;
        meeting_damped(&w, 1);
        w.row.direction = *ops;
        world_renew(&w);
        abut_damping_of(&w.st.solver.prob.terms)->mass = -1e9;
        CHECK(world_run(&w, 1) == ABUT_E_NUMERIC);
        CHECK(w.st.solver.failed.kind == ABUT_FAILED_INDEFINITE && w.st.solver.failed.node >= 0);
        SAYS(&w, "positive definite", " is at node ", " of '", "look for extreme moduli, masses or gaps");
        world_close(&w);
    }
}

TEST(a_direction_that_is_not_finite_is_no_step)
{
    world w;
    meeting(&w);
    CHECK(!abut_step_begin(&w.st, &w.frame, w.at, &w.rep, &w.err));
    w.st.solver.prob.xhat[5] = NAN;
    CHECK(abut_step_solve(&w.st, &w.rep, &w.err) == ABUT_E_NUMERIC);
    CHECK(w.st.solver.failed.kind == ABUT_FAILED_NOT_FINITE);
    SAYS(&w, "the direction is not finite");
    world_close(&w);
}

TEST(a_gap_at_the_limit_of_double_precision_is_a_failure_of_the_solver)
{
    fixture *f = fixture_new();
    f->gravity[1] = 0;
    fixture_box(f, 1e6, 0, 0, 0.3, 0.3, 0.3, 1, 1, 1, 0);
    fixture_box(f, 1e6 + 0.3, 0.05, 0.1, 0.3, 0.3, 0.3, 1, 1, 1, 0);
    for (int32_t i = 8; i < 16; i++) f->X[3 * i] += 4e-10;
    const double v0[6] = { 0, 0, 0, -5, 0, 0 };
    world w;
    world_open(&w, f, v0);
    name_objects(&w);
    CHECK(world_run(&w, 1) == ABUT_E_NUMERIC);
    CHECK(w.st.solver.failed.kind == ABUT_FAILED_TOUCHING);
    SAYS(&w, "too small for double precision", "of 'left'", "of 'right'");
    world_close(&w);
}

TEST(a_report_keeps_the_first_and_the_last_iterations)
{
    abut_report r = { 0 };
    const int n = 3 * ABUT_HISTORY + 7;
    for (int i = 0; i < n; i++) {
        abut_iteration *it = abut_report_iteration(&r);
        CHECK(it != NULL);
        it->residual = i;
        const int rows = abut_report_rows(&r);
        CHECK(rows == (i < ABUT_HISTORY ? i + 1 : ABUT_HISTORY));
        CHECK(abut_report_row(&r, rows - 1)->residual == i);
    }
    CHECK(r.newton == n && r.it_cap == ABUT_HISTORY);
    for (int i = 0; i < ABUT_HISTORY; i++)
        CHECK(abut_report_row(&r, i)->residual == (i < ABUT_HISTORY / 2 ? i : n - ABUT_HISTORY + i));
    abut_report_clear(&r);
}

TEST(an_iteration_says_what_bounded_it)
{
    world w;
    meeting(&w);
    int bounded = 0;
    CHECK(!world_run(&w, 1));
    double fell = 0;
    for (int i = 0; i < abut_report_rows(&w.rep); i++) {
        const abut_iteration *it = abut_report_row(&w.rep, i);
        const char *by = abut_iteration_bounded_by(it);
        if (it->alpha < it->bound) CHECK(!strcmp(by, "decrease"));
        else CHECK((it->alpha == 1) == !strcmp(by, "none"));
        bounded += !strcmp(by, "vertex-triangle") || !strcmp(by, "edge-edge");
        fell += it->decrease;
    }
    CHECK(bounded > 0 && fell > 0);
    world_close(&w);
}

/* The words of numbers set by hand. */
static const char *words_of(world *w, const abut_failure *f)
{
    const abut_search *s = &w->st.solver;
    const abut_failure_view view = { .prob = &s->prob, .here = &s->here, .names = w->o.names, .progress = 1 };
    CHECK(abut_failure_say(f, &view, &w->err) == ABUT_E_NUMERIC);
    return w->err.msg;
}

TEST(contacts_are_counted_and_the_closest_and_what_floats_are_named)
{
    world w;
    fixture *f = fixture_new();
    f->plane = 1;
    fixture_box(f, 0, 5e-4, 0, 0.2, 0.1, 0.2, 2, 1, 2, 0);
    fixture_box(f, 1, 1, 1, 0.2, 0.1, 0.2, 1, 1, 1, 0);
    world_open(&w, f, NULL);
    name_objects(&w);
    CHECK(!abut_step_begin(&w.st, &w.frame, w.at, &w.rep, &w.err) && !abut_search_contacts(&w.st.solver, &w.rep, &w.err));
    abut_failure bad = { .kind = ABUT_FAILED_ITERATIONS, .iterations = 3, .residual = 1, .bound = 1, .alpha = 0.5, .node = -1 };
    CHECK(w.st.solver.here.pairs.n == 0 && w.st.solver.here.pairs.n_plane == 9);
    CHECK(strstr(words_of(&w, &bad), "; of 9 contacts the closest is node ") && strstr(w.err.msg, " of 'left' "));
    CHECK(strstr(w.err.msg, "half-space 0 (gap 0.000") && !strstr(w.err.msg, "bounded"));
    bad.limit = (abut_limit){ .alpha = 0.5, .kind = ABUT_LIMIT_CFL }, bad.bound = 0.5;
    CHECK(strstr(words_of(&w, &bad), ", bounded at 0.5 by half of dhat for a point"));
    bad.limit.kind = ABUT_LIMIT_LENGTH;
    CHECK(strstr(words_of(&w, &bad), ", bounded at 0.5 by the length of the scene"));
    bad = (abut_failure){ .kind = ABUT_FAILED_FLOATING, .iterations = 1, .bound = 1, .node = 18 };
    CHECK(strstr(words_of(&w, &bad), "'right' floats: nothing holds it against its load, after 1 Newton iteration"));
    CHECK(!strstr(w.err.msg, "iterations"));
    world_close(&w);
}
