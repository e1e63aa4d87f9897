/* Points at which the objective is evaluated: their cached values, when these expire, and their use in a search. */
#include "world.h"

#include "solve/search/search_ops.h"

#include "check.h"

#include <math.h>

/* A block over a floor and another over it, everything near enough to touch; a step is begun. */
static abut_search *touching(world *w)
{
    fixture *f = fixture_new();
    f->plane = 1;
    fixture_box(f, 0, 5e-4, 0, 0.2, 0.1, 0.2, 2, 1, 2, 0);
    fixture_box(f, 0.02, 0.101, 0.02, 0.1, 0.1, 0.1, 1, 1, 1, 0);
    world_open(w, f, NULL);
    CHECK(!abut_step_begin(&w->st, &w->frame, w->at, &w->rep, &w->err));
    CHECK(!abut_search_contacts(&w->st.solver, &w->rep, &w->err));
    return &w->st.solver;
}

static void evaluate(abut_search *s, abut_point *p, unsigned what)
{
    abut_err err;
    CHECK(!abut_point_evaluate(p, &s->prob, what, &s->cand, &s->scratch, &err));
}

TEST(what_is_known_is_not_computed_again)
{
    world w;
    abut_search *s = touching(&w);
    abut_point *p = &s->trial;
    abut_point_set(p, &s->prob, s->here.x, 0, NULL);
    const uint64_t stamp = p->stamp;
    CHECK(p->has == 0 && stamp != s->here.stamp && stamp != s->kept.stamp);
    evaluate(s, p, ABUT_HAS_ENERGY | ABUT_HAS_GRADIENT);
    CHECK(p->has == (ABUT_HAS_CONTACTS | ABUT_HAS_ENERGY | ABUT_HAS_GRADIENT) && p->stamp == stamp);
    CHECK(p->pairs.n > 0 && p->pairs.n_plane > 0 && isfinite(p->e.sum) && p->e.noise > 0);
    /* marks that another computation would remove */
    const double sum = p->e.sum, g0 = p->g[0];
    p->e.sum = -7, p->g[0] = 8;
    evaluate(s, p, ABUT_HAS_CONTACTS | ABUT_HAS_ENERGY | ABUT_HAS_GRADIENT);
    CHECK(p->e.sum == -7 && p->g[0] == 8 && p->stamp == stamp);
    /* a change of the objective takes energies and gradient, but not the contacts */
    p->pairs.n_plane--;
    s->prob.changes++;
    CHECK(abut_point_missing(p, &s->prob, ABUT_HAS_CONTACTS | ABUT_HAS_ENERGY) == ABUT_HAS_ENERGY);
    p->pairs.n_plane++;
    evaluate(s, p, ABUT_HAS_ENERGY);
    CHECK(p->e.sum == sum && p->g[0] == 8);
    evaluate(s, p, ABUT_HAS_GRADIENT);
    CHECK(p->e.sum == sum && p->g[0] == g0);
    /* other positions take everything, also when the same numbers are set */
    abut_point_set(p, &s->prob, p->x, 0, NULL);
    CHECK(p->has == 0 && p->stamp != stamp);
    evaluate(s, p, ABUT_HAS_ENERGY);
    CHECK(p->e.sum == sum && p->has == (ABUT_HAS_CONTACTS | ABUT_HAS_ENERGY));
    world_close(&w);
}

TEST(a_point_on_a_line_is_where_it_should_be_and_so_are_its_vertices)
{
    world w;
    abut_search *s = touching(&w);
    const int32_t n3 = 3 * w.model.nv;
    for (int32_t i = 0; i < n3; i++) s->p[i] = sin(i);
    abut_point_set(&s->trial, &s->prob, s->here.x, 0.25, s->p);
    for (int32_t i = 0; i < n3; i++) CHECK(s->trial.x[i] == s->here.x[i] + 0.25 * s->p[i]);
    for (int32_t v = 0; v < w.model.nc; v++)
        for (int k = 0; k < 3; k++) CHECK(s->trial.y[3 * v + k] == s->trial.x[3 * abut_collmesh_node(&s->prob.cm, v) + k]);
    world_close(&w);
}

TEST(points_that_are_exchanged_keep_what_they_have)
{
    world w;
    abut_search *s = touching(&w);
    for (int32_t i = 0; i < 3 * w.model.nv; i++) s->p[i] = i % 3 == 1 ? 1e-4 : 0;
    evaluate(s, &s->here, ABUT_HAS_ENERGY | ABUT_HAS_GRADIENT);
    abut_point_set(&s->trial, &s->prob, s->here.x, 1, s->p);
    evaluate(s, &s->trial, ABUT_HAS_ENERGY);
    const abut_point here = s->here, trial = s->trial;
    CHECK(here.e.sum != trial.e.sum && here.stamp != trial.stamp);
    abut_point_swap(&s->here, &s->trial);
    CHECK(s->here.x == trial.x && s->here.y == trial.y && s->here.g == trial.g && s->here.stamp == trial.stamp);
    CHECK(s->here.e.sum == trial.e.sum && s->here.has == trial.has && s->here.pairs.vert == trial.pairs.vert);
    CHECK(s->trial.e.sum == here.e.sum && s->trial.has == here.has && s->trial.pairs.n == here.pairs.n);
    /* none of it has to be computed again */
    s->trial.g[0] = 9;
    evaluate(s, &s->trial, ABUT_HAS_ENERGY | ABUT_HAS_GRADIENT);
    CHECK(s->trial.g[0] == 9 && s->trial.e.sum == here.e.sum);
    world_close(&w);
}

TEST(a_trial_that_touches_is_infinite_and_no_failure)
{
    world w;
    abut_search *s = touching(&w);
    for (int32_t i = 0; i < 3 * w.model.nv; i++) s->p[i] = i % 3 == 1 ? -1 : 0;
    s->ops->points.try_at(s, 1);        /* everything below the floor */
    CHECK(!s->ops->bound.candidates(s, 1, &w.rep, &w.err));
    CHECK(!s->ops->points.evaluate(s, &s->trial, ABUT_HAS_ENERGY, &w.rep, &w.err));
    CHECK(s->trial.e.sum == INFINITY && s->trial.has & ABUT_IS_TOUCHING);
    s->prob.changes++;                  /* it touches under every objective */
    CHECK(!s->ops->points.evaluate(s, &s->trial, ABUT_HAS_ENERGY | ABUT_HAS_GRADIENT, &w.rep, &w.err));
    CHECK(s->trial.e.sum == INFINITY && !(s->trial.has & ABUT_HAS_GRADIENT));
    CHECK(isfinite(s->here.x[0]) && s->here.has & ABUT_HAS_CONTACTS);
    /* an element that is turned inside out is infinite, too, where nothing touches */
    for (int32_t i = 0; i < 3 * w.model.nv; i++) s->p[i] = i % 3 == 1 ? 1 - 2 * s->here.x[i] : 0;
    CHECK(!s->ops->bound.candidates(s, 1, &w.rep, &w.err));
    CHECK(!s->ops->points.evaluate(s, &s->trial, ABUT_HAS_ENERGY, &w.rep, &w.err));
    CHECK(s->trial.e.sum == INFINITY);
    s->ops->points.try_at(s, 1e-9);
    CHECK(!s->ops->points.evaluate(s, &s->trial, ABUT_HAS_ENERGY, &w.rep, &w.err));
    CHECK(isfinite(s->trial.e.sum) && !(s->trial.has & ABUT_IS_TOUCHING));
    world_close(&w);
}

/* Counts the evaluations of a minimisation, by a table of operations of its own. */
static int evaluations, computed, gradients;
static uint64_t last_stamp;

static abut_status count(abut_search *s, abut_point *at, unsigned what, abut_report *rep, abut_err *err)
{
    const unsigned missing = abut_point_missing(at, &s->prob, what);
    evaluations++;
    computed += (missing & ABUT_HAS_ENERGY) != 0;
    gradients += (missing & ABUT_HAS_GRADIENT) != 0;
    if (at == &s->here) last_stamp = at->stamp;
    return abut_search_processor.points.evaluate(s, at, what, rep, err);
}

TEST(a_minimisation_computes_the_energy_of_an_iterate_once_and_its_gradient_once)
{
    world w;
    abut_search *s = touching(&w);
    abut_search_ops counting = abut_search_processor;
    counting.points.evaluate = count;
    s->ops = &counting;
    w.rep.newton = w.rep.trials = 0;
    CHECK(!abut_search_minimise(s, &w.rep, &w.err));
    CHECK(w.rep.newton > 2);
    CHECK(computed == w.rep.trials + 1);        /* of the trial points, and of the start */
    CHECK(gradients <= w.rep.newton + 1);       /* of the iterates; the rule looks at that of the end */
    CHECK(evaluations > computed && last_stamp == s->here.stamp);
    CHECK(s->ops == &abut_search_processor);
    world_close(&w);
}

TEST(the_motion_of_a_trial_is_that_of_its_fastest_vertex)
{
    world w;
    abut_search *s = touching(&w);
    double most = 0;
    for (int32_t i = 0; i < 3 * w.model.nv; i++) s->p[i] = 1e-5 * sin(2 * i);
    for (int32_t i = 0; i < w.model.nv; i++) most = fmax(most, hypot(hypot(s->p[3 * i], s->p[3 * i + 1]), s->p[3 * i + 2]));
    s->ops->points.try_at(s, 0.25);
    CHECK_NEAR(s->ops->bound.motion(s), 0.25 * most, 1e-15);
    world_close(&w);
}
