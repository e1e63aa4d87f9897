/* First iterates of a step, compared with other computations. */
#include "solve/search/search_ops.h"
#include "solve/step/step_parts.h"
#include "world.h"

static const double velocity[3] = { 1, 2, -0.5 };

/* A box that falls, stretched by a tenth along x, so that it pulls itself together. */
static void stretched(world *w, double h)
{
    fixture *f = fixture_new();
    f->h = h;
    f->tol = 1e-8;
    fixture_box(f, 0, 0, 0, 0.3, 0.2, 0.2, 3, 2, 2, 0);
    world_open(w, f, velocity);
    for (int32_t i = 0; i < w->model.nv; i++) get(w, "node/x")[3 * i] *= 1.1;
}

static void guess(world *w, int rule, double *v)
{
    int none = 1;
    w->o.search.guess = rule;
    CHECK(!abut_step_guess(&w->st, v, &none, &w->rep, &w->err));
    CHECK(none == (rule == ABUT_GUESS_START));
}

/* A very short step shows the acceleration of the nodes at the start. */
TEST(guesses_lead_where_velocities_loads_and_forces_say)
{
    enum { MOST = 3 * 64 };
    const double h = 0.01, tiny = 1e-6;
    double v[MOST];
    world w, brief;
    stretched(&brief, tiny);
    CHECK(!world_run(&brief, 1));
    stretched(&w, h);
    CHECK(3 * w.model.nv <= MOST);
    CHECK(!abut_step_begin(&w.st, &w.frame, w.at, &w.rep, &w.err));
    const double *v0 = velocity, *v1 = get(&brief, "node/v");
    double pull = 0;
    for (int rule = ABUT_GUESS_COAST; rule <= ABUT_GUESS_ACCELERATED; rule++) {
        if (rule == ABUT_GUESS_START) continue;
        guess(&w, rule, v);
        for (int32_t i = 0; i < 3 * w.model.nv; i++) {
            const double g = i % 3 == 1 ? -9.81 : 0, a = (v1[i] - v0[i % 3]) / tiny;
            const double part[] = { [ABUT_GUESS_COAST] = 0, [ABUT_GUESS_INERTIA] = g, [ABUT_GUESS_SYMPLECTIC] = a,
                                    [ABUT_GUESS_ACCELERATED] = a / 2 };
            CHECK_NEAR(v[i], v0[i % 3] + h * part[rule], 1e-4 * (1 + fabs(h * a)));
            pull = fmax(pull, fabs(a - g));
        }
    }
    CHECK(pull > 100);      /* m/s^2: it is stretched indeed */
    guess(&w, ABUT_GUESS_START, v);
    world_close(&w);
    world_close(&brief);
}

/* One iteration of Jacobi's method: the gradient's change, by differences of node i's own coordinates, takes its value away. */
TEST(jacobis_guess_solves_the_equations_of_each_node_alone)
{
    enum { MOST = 3 * 64 };
    double v[MOST], g[MOST], x[MOST];
    world w;
    stretched(&w, 0.01);
    CHECK(!abut_step_begin(&w.st, &w.frame, w.at, &w.rep, &w.err));
    abut_search *s = &w.st.solver;
    guess(&w, ABUT_GUESS_JACOBI, v);
    const size_t bytes = 3 * (size_t)w.model.nv * sizeof *g;
    memcpy(g, s->here.g, bytes);
    memcpy(x, s->here.x, bytes);
    const double d = 1e-6;
    for (int32_t i = 0; i < w.model.nv; i += 7) {
        double change[3] = { 0 };
        for (int sign = -1; sign <= 1; sign += 2) {
            double moved[MOST];
            memcpy(moved, x, bytes);
            for (int k = 0; k < 3; k++) moved[3 * i + k] += sign * d * 0.01 * v[3 * i + k];
            abut_point_set(&s->trial, &s->prob, moved, 0, NULL);
            CHECK(!abut_point_evaluate(&s->trial, &s->prob, ABUT_HAS_GRADIENT, &s->cand, &s->scratch, &w.err));
            for (int k = 0; k < 3; k++) change[k] += sign * s->trial.g[3 * i + k] / (2 * d);
        }
        const double size = fabs(g[3 * i]) + fabs(g[3 * i + 1]) + fabs(g[3 * i + 2]);
        for (int k = 0; k < 3; k++) CHECK_NEAR(change[k], -g[3 * i + k], 1e-3 * size);
    }
    world_close(&w);
}

/* A guess is tried, not trusted. */
TEST(a_guess_that_would_raise_the_objective_is_left)
{
    world w;
    stretched(&w, 10);      /* a symplectic step of 10 s throws it far beyond itself */
    w.o.search.guess = ABUT_GUESS_SYMPLECTIC;
    CHECK(!abut_step_begin(&w.st, &w.frame, w.at, &w.rep, &w.err));
    CHECK(!memcmp(w.st.solver.here.x, get(&w, "node/x"), 3 * (size_t)w.model.nv * sizeof(double)));
    w.o.search.guess = ABUT_GUESS_INERTIA;
    CHECK(!abut_step_begin(&w.st, &w.frame, w.at, &w.rep, &w.err));
    CHECK_NEAR(w.st.solver.here.x[1] - get(&w, "node/x")[1], 10 * velocity[1] - 981, 1e-9);
    world_close(&w);
}
