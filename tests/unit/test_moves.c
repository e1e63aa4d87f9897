/* The moves of the minimiser along a direction: a search of one node whose objective, collisions and stretch are closed forms. */
#include "check.h"

#include "solve/search/search_parts.h"

#define DHAT 0.1

/* The node goes along the first axis.  E = -push x + stiff x^2 / 2 + hard (y + bend x^2)^2 / 2: moving along x stretches what
 * moving along y by -bend x^2 takes back. */
typedef struct track {
    abut_search s;          /* first: operations know the search alone */
    abut_solve_options user;
    abut_model model;
    abut_iteration it;
    abut_report rep;
    abut_err err;
    double h, length, tolerance, dhat;
    double push, stiff, hard, bend;
    double takes;           /* part of the stretch that a correction takes back */
    double ends;            /* at this x and beyond the objective is infinite */
    double least;           /* value of the objective */
    double plane;           /* largest fraction of a direction, by what is no pair */
    double wall, post;      /* x that pairs stop at: near ones, and those that a sweep of no length does not find */
    abut_status fails;      /* of tests of pairs */
    double swept[16];       /* fractions whose candidates were sought */
    int sweeps, slopes, resolves;
    int pairs_of_sweep;     /* the last sweep has a length */
    abut_status no_solution;    /* of corrections */
} track;

static track *of(abut_search *s) { return (track *)s; }

static double energy(const track *t, const double *x)
{
    const double stretch = x[1] + t->bend * x[0] * x[0];
    if (!(x[0] < t->ends)) return INFINITY;
    return fmax(-t->push * x[0] + 0.5 * t->stiff * x[0] * x[0] + 0.5 * t->hard * stretch * stretch, t->least);
}

static abut_status evaluate(abut_search *s, abut_point *at, unsigned what, abut_report *rep, abut_err *err)
{
    (void)rep, (void)err;
    if (what & ABUT_HAS_ENERGY) at->e.sum = energy(of(s), at->x);
    at->e.noise = 1e-12;
    return ABUT_OK;
}

static size_t count(const abut_search *s) { return (void)s, 0; }

static void try_at(abut_search *s, double alpha)
{
    for (int i = 0; i < 3; i++) s->trial.x[i] = s->here.x[i] + alpha * s->p[i];
    s->trial.e.sum = -INFINITY;     /* not known: what takes it for a value is found out */
}

static double falls_along(const track *t, const double *x, const double *p) { return (t->push - t->stiff * x[0]) * p[0]; }

static double slope(const abut_search *s) { return falls_along((const track *)s, s->here.x, s->p); }

static abut_status slopes(abut_search *s, double *here, double *trial, abut_report *rep, abut_err *err)
{
    const double d[3] = { s->trial.x[0] - s->here.x[0] };
    (void)rep, (void)err;
    of(s)->slopes++;
    *here = falls_along(of(s), s->here.x, d);
    *trial = falls_along(of(s), s->trial.x, d);
    return ABUT_OK;
}

static void scale(abut_search *s, double by)
{
    for (int i = 0; i < 3; i++) s->p[i] *= by;
}

static int can(const abut_search *s) { return ((const track *)s)->hard > 0; }

static abut_status excess(abut_search *s, const double *d, const double *linear_step, double *g, double *cost, abut_err *err)
{
    const track *t = of(s);
    const double stretch = d[1] + t->bend * linear_step[0] * linear_step[0];
    (void)err;
    g[1] += t->hard * stretch;
    *cost = 0.5 * t->hard * stretch * stretch;
    return ABUT_OK;
}

static abut_status resolve(abut_search *s, const double *g, double *q, abut_report *rep, abut_err *err)
{
    (void)rep, (void)err;
    of(s)->resolves++;
    for (int i = 0; i < 3; i++) q[i] = -of(s)->takes * g[i] / of(s)->hard;
    return of(s)->no_solution;
}

static abut_status limits(abut_search *s, abut_limit *lim, abut_report *rep, abut_err *err)
{
    (void)rep, (void)err;
    try_at(s, 1);
    if (of(s)->plane < lim->alpha) lim->alpha = of(s)->plane, lim->kind = ABUT_LIMIT_PLANE;
    return ABUT_OK;
}

static abut_status candidates(abut_search *s, double fraction, abut_report *rep, abut_err *err)
{
    track *t = of(s);
    (void)rep, (void)err;
    if (t->sweeps < 16) t->swept[t->sweeps] = fraction;
    t->sweeps++;
    t->pairs_of_sweep = fraction > 0;
    try_at(s, fraction);
    return ABUT_OK;
}

static abut_status ccd(abut_search *s, abut_limit *lim, abut_report *rep, abut_err *err)
{
    const track *t = of(s);
    const double way = s->trial.x[0] - s->here.x[0], stop = t->pairs_of_sweep ? fmin(t->wall, t->post) : t->wall;
    (void)rep, (void)err;
    if (s->trial.x[0] > stop) lim->alpha = (stop - s->here.x[0]) / way, lim->kind = ABUT_LIMIT_VT;
    return t->fails;
}

static double motion(const abut_search *s) { return fabs(s->trial.x[0] - s->here.x[0]); }

static const abut_search_ops on_a_track = {
    .points = { .count = count, .evaluate = evaluate, .try_at = try_at },
    .aim = { .slope = slope, .slopes = slopes, .scale = scale },
    .correct = { .can = can, .resolve = resolve, .excess = excess },
    .bound = { .limits = limits, .candidates = candidates, .ccd = ccd, .motion = motion },
};

static void room(double **a) { *a = calloc(3, sizeof **a); }

/* Nothing bounds a direction of 1 along x, whose full step reaches the minimum, at -1/2. */
static track *lay(void)
{
    track *t = calloc(1, sizeof *t);
    abut_search *s = &t->s;
    t->user = abut_solve_defaults;
    t->h = 0.1, t->length = 1e3, t->tolerance = 1e-3, t->dhat = DHAT;
    t->model = (abut_model){ .nv = 1, .h = &t->h, .length = &t->length, .tolerance = &t->tolerance, .dhat = &t->dhat };
    t->push = t->stiff = t->takes = 1;
    t->plane = t->wall = t->post = t->ends = INFINITY;
    t->least = -INFINITY;
    s->opt = &t->user;
    s->ops = &on_a_track;
    s->prob.model = &t->model;
    s->prob.w.inertia = 1;
    s->aim.speed = 10;
    s->progress.speed = INFINITY, s->progress.bound = 1;
    s->pass.lengthens = 1;
    double **const all[] = { &s->here.x, &s->trial.x, &s->kept.x, &s->p, &s->second_order.linear_step, &s->second_order.p,
                             &s->second_order.full_linear, &s->second_order.full, &s->second_order.q, &s->second_order.g };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) room(all[i]);
    s->p[0] = 1;
    CHECK(!evaluate(s, &s->here, ABUT_HAS_ENERGY, &t->rep, &t->err));
    t->it.residual = 10;
    return t;
}

static void lift(track *t)
{
    free(t->s.here.x), free(t->s.trial.x), free(t->s.kept.x), free(t->s.p);
    abut_second_order_clear(&t->s.second_order);
    free(t);
}

/* Without shells and rods. */
static void straighten(track *t) { abut_second_order_clear(&t->s.second_order); }

/* The bound of p, of which `first` is swept first. */
static abut_limit bound(track *t, double first, double most)
{
    abut_limit lim;
    t->sweeps = 0;
    CHECK(!abut_search_bound(&t->s, first, most, &lim, &t->rep, &t->err));
    return lim;
}

static int swept(const track *t, int n, const double *want)
{
    for (int i = 0; i < n && i < t->sweeps; i++)
        if (!(fabs(t->swept[i] - want[i]) <= 1e-14)) return 0;
    return t->sweeps == n;
}
#define SWEPT(t, ...) \
    CHECK(swept(t, (int)(sizeof (double[]){ __VA_ARGS__ } / sizeof(double)), (const double[]){ __VA_ARGS__ }))

/* ---- bounds ---- */

TEST(sweeps_grow_fourfold_up_to_the_first_collision_or_the_bound_of_the_others)
{
    track *t = lay();
    abut_limit lim = bound(t, 0, 1);
    CHECK(lim.alpha == 1 && lim.kind == ABUT_LIMIT_NONE && lim.node[0] == -1 && lim.tet == -1);
    SWEPT(t, 1);
    lim = bound(t, 0.05, 1);
    CHECK(lim.alpha == 1);
    SWEPT(t, 0.05, 0.2, 0.8, 1);
    t->plane = 0.9;
    lim = bound(t, 0.05, 1);
    CHECK(lim.alpha == 0.9 && lim.kind == ABUT_LIMIT_PLANE);
    SWEPT(t, 0.05, 0.2, 0.8, 0.9);
    lim = bound(t, 3, 1);
    SWEPT(t, 0.9);
    t->wall = 0.5;
    lim = bound(t, 0.05, 1);
    CHECK(lim.kind == ABUT_LIMIT_VT);
    CHECK_NEAR(lim.alpha, 0.5, 1e-15);
    SWEPT(t, 0.05, 0.2, 0.8);
    lim = bound(t, 0, 0.25);
    CHECK(lim.alpha == 0.25 && lim.kind == ABUT_LIMIT_LENGTH);
    t->fails = ABUT_E_GEOM;
    CHECK(abut_search_bound(&t->s, 0, 1, &lim, &t->rep, &t->err) == ABUT_E_GEOM);
    lift(t);
}

TEST(a_direction_is_swept_first_to_four_times_the_length_that_the_last_one_was_bounded_at)
{
    track *t = lay();
    abut_limit lim;
    t->wall = 0.01;
    CHECK(!abut_search_bound_direction(&t->s, &lim, &t->rep, &t->err));
    CHECK_NEAR(lim.alpha, 0.01, 1e-16);
    SWEPT(t, 1);
    t->wall = INFINITY;
    for (int k = 0; k < 3; k++) {   /* as long as the last; four times, which is no longer; five times */
        const double times[] = { 1, 4, 5 }, first[] = { 0.04, 0.04, 0.04 / 5 };
        t->sweeps = 0;
        t->s.progress.bound = 0.01, t->s.progress.speed = 10, t->s.aim.speed = 10 * times[k];
        CHECK(!abut_search_bound_direction(&t->s, &lim, &t->rep, &t->err) && lim.alpha == 1);
        CHECK_NEAR(t->swept[0], first[k], 1e-16);
        CHECK(t->s.progress.bound == 1 && t->s.progress.speed == 10 * times[k]);
    }
    lift(t);
}

TEST(without_inertia_a_step_is_no_longer_than_the_scene)
{
    track *t = lay();
    t->length = 2;
    CHECK(abut_search_longest(&t->s, 80) == 1);
    t->s.prob.w.inertia = 0;
    CHECK(abut_search_longest(&t->s, 20) == 1);
    CHECK_NEAR(abut_search_longest(&t->s, 80), 0.25, 1e-15);
    abut_limit lim;
    t->s.aim.speed = 80;
    CHECK(!abut_search_bound_direction(&t->s, &lim, &t->rep, &t->err) && lim.kind == ABUT_LIMIT_LENGTH);
    CHECK_NEAR(lim.alpha, 0.25, 1e-15);
    lift(t);
}

/* p is 1 long, pairs dhat apart: they cannot meet before dhat / 2. */
TEST(the_cfl_rule_bounds_short_directions_by_half_of_dhat_and_long_ones_by_all_pairs_but_not_below_that)
{
    static const struct { double p, wall, post, alpha; abut_limit_kind kind; int sweeps; double last; } row[] = {
        { DHAT / 4, INFINITY, INFINITY, 1, ABUT_LIMIT_NONE, 2, 1 },                  /* short */
        { DHAT * 0.8, INFINITY, INFINITY, 0.5 / 0.8, ABUT_LIMIT_CFL, 2, 0.5 / 0.8 },    /* up to dhat all pairs are not asked */
        { DHAT * 0.8, INFINITY, DHAT * 0.7, 0.5 / 0.8, ABUT_LIMIT_CFL, 2, 0.5 / 0.8 },
        { DHAT * 0.8, DHAT * 0.3, INFINITY, 0.3 / 0.8, ABUT_LIMIT_VT, 2, 0.3 / 0.8 },
        { 1, INFINITY, INFINITY, 1, ABUT_LIMIT_NONE, 2, 1 },                         /* long: and nothing in the way */
        { 1, INFINITY, 0.7, 0.7, ABUT_LIMIT_VT, 2, 1 },
        { 1, INFINITY, DHAT / 4, DHAT / 2, ABUT_LIMIT_CFL, 2, 1 },
        { 1, 0.5, 0.7, 0.5, ABUT_LIMIT_VT, 2, 0.5 },
        { 1, 0.5, 0.3, 0.3, ABUT_LIMIT_VT, 2, 0.5 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        track *t = lay();
        abut_limit lim;
        t->user.search.ccd = ABUT_CCD_CFL;
        t->s.p[0] = row[i].p;
        t->wall = row[i].wall, t->post = row[i].post;
        CHECK(!abut_search_bound_direction(&t->s, &lim, &t->rep, &t->err));
        CHECK_NEAR(lim.alpha, row[i].alpha, 1e-8);
        CHECK(lim.kind == row[i].kind && t->sweeps == row[i].sweeps && t->swept[0] == 0);
        CHECK_NEAR(t->swept[1], row[i].last, 1e-8);
        if (lim.kind == ABUT_LIMIT_CFL) CHECK(lim.node[0] == -1 && lim.tet == -1 && lim.alpha * row[i].p < DHAT / 2);
        lift(t);
    }
    track *t = lay();
    abut_limit lim;
    t->user.search.ccd = ABUT_CCD_CFL;
    t->s.prob.w.inertia = 0, t->length = 0.25;
    CHECK(!abut_search_bound_direction(&t->s, &lim, &t->rep, &t->err) && lim.kind == ABUT_LIMIT_LENGTH);
    t->plane = 0.125;
    CHECK(!abut_search_bound_direction(&t->s, &lim, &t->rep, &t->err) && lim.kind == ABUT_LIMIT_PLANE && lim.alpha == 0.125);
    t->fails = ABUT_E_GEOM;
    CHECK(abut_search_bound_direction(&t->s, &lim, &t->rep, &t->err) == ABUT_E_GEOM);
    lift(t);
    t = lay();      /* twice the bound is not much further yet */
    t->user.search.ccd = ABUT_CCD_CFL;
    t->dhat = 1, t->s.p[0] = 1 - 1e-9;
    CHECK(!abut_search_bound_direction(&t->s, &lim, &t->rep, &t->err) && lim.kind == ABUT_LIMIT_CFL && lim.alpha == 0.5);
    t->s.p[0] /= 2;     /* and a direction of half of dhat is not bounded */
    CHECK(!abut_search_bound_direction(&t->s, &lim, &t->rep, &t->err) && lim.kind == ABUT_LIMIT_NONE && lim.alpha == 1);
    t->dhat = 0.5, t->s.p[0] = 1, t->post = 0.25 * (1 - 1e-9);
    CHECK(!abut_search_bound_direction(&t->s, &lim, &t->rep, &t->err) && lim.kind == ABUT_LIMIT_VT && lim.alpha == t->post);
    t->post = INFINITY, t->wall = 0.2, t->plane = 0.8;      /* near pairs bound a part of the direction */
    CHECK(!abut_search_bound_direction(&t->s, &lim, &t->rep, &t->err) && lim.kind == ABUT_LIMIT_VT);
    CHECK_NEAR(lim.alpha, 0.2, 1e-15);
    lift(t);
}

/* ---- trials ---- */

TEST(a_trial_along_another_line_leaves_the_direction_alone_and_goes_a_part_of_its_bound)
{
    track *t = lay();
    double fraction, *p = t->s.p, *q = t->s.second_order.p;
    q[0] = 2;
    t->wall = 1.5;
    CHECK(!abut_search_try_along(&t->s, &t->s.second_order.p, 1, 0.5, &fraction, &t->it, &t->rep, &t->err));
    CHECK(t->s.p == p && t->s.second_order.p == q && p[0] == 1);
    CHECK_NEAR(fraction, 0.5 * 0.75, 1e-15);
    CHECK(t->it.alpha == 0 && t->it.trials == 1 && t->rep.trials == 1);    /* it is no step yet */
    CHECK_NEAR(t->s.trial.e.sum, -0.75 + 0.5 * 0.75 * 0.75, 1e-15);
    t->wall = INFINITY;
    CHECK(!abut_search_try_along(&t->s, &t->s.second_order.p, 1, 0.5, &fraction, &t->it, &t->rep, &t->err));
    CHECK(fraction == 1 && t->s.trial.x[0] == 2 && t->it.trials == 2);
    CHECK(!abut_search_try_along(&t->s, &t->s.second_order.p, 0.5, 0.5, &fraction, &t->it, &t->rep, &t->err));
    CHECK(fraction == 0.25);
    t->fails = ABUT_E_GEOM;     /* no trial, and no failure */
    CHECK(!abut_search_try_along(&t->s, &t->s.second_order.p, 1, 0.5, &fraction, &t->it, &t->rep, &t->err));
    CHECK(t->s.trial.e.sum == INFINITY && t->s.p == p && t->it.trials == 3);
    t->fails = ABUT_E_NOMEM;
    CHECK(abut_search_try_along(&t->s, &t->s.second_order.p, 1, 0.5, &fraction, &t->it, &t->rep, &t->err) == ABUT_E_NOMEM);
    CHECK(t->s.p == p && t->it.trials == 3);
    lift(t);
}

/* Whether the objective falls from 0 to x by the rule of the search, along a direction of this speed. */
static int falls(track *t, double x, double speed)
{
    int yes = -1;
    t->s.aim.speed = speed;
    t->s.p[0] = x;
    CHECK(!abut_search_try(&t->s, 1, &t->it, &t->rep, &t->err));
    CHECK(!abut_search_falls(&t->s, 1, &yes, &t->rep, &t->err));
    return yes;
}

TEST(a_change_within_rounding_is_judged_by_slopes_if_the_direction_is_long)
{
    track *t = lay();
    CHECK(falls(t, 1, 10) && falls(t, 1.99, 10) && !falls(t, 2.01, 10) && t->slopes == 0);
    CHECK(!falls(t, 2, 10) && t->slopes == 1);          /* as high as at the start, behind the minimum */
    CHECK(falls(t, 1e-13, 10) && t->slopes == 2);
    CHECK(falls(t, 2, t->tolerance) && t->slopes == 2);  /* short: rounding decides nothing */
    t->s.here.e.noise = 0.5;    /* the full step falls by no more */
    CHECK(falls(t, 1, 10) && t->slopes == 3);
    t->s.here.e.noise = 1e-12;
    t->user.search.armijo = 0.25;                       /* x - x^2/2 >= x/4 up to 1.5 */
    CHECK(falls(t, 1.49, 10) && !falls(t, 1.51, 10));
    lift(t);
}

TEST(a_step_starts_at_the_bound_and_is_halved_sixty_times_at_most)
{
    track *t = lay();
    abut_move m = { .it = &t->it, .lim = { .alpha = 0.5 } };
    t->s.p[0] = 16;             /* the objective is lower up to 2 */
    CHECK(!abut_move_backtrack(&t->s, &m, &t->rep, &t->err));
    CHECK(m.searched && m.moved && !m.corrected && t->it.alpha == 0.0625 && t->it.trials == 4 && t->s.trial.x[0] == 1);
    CHECK(!abut_move_backtrack(&t->s, &m, &t->rep, &t->err) && t->it.trials == 4);  /* it has been searched */
    m = (abut_move){ .it = &t->it, .lim = { .alpha = 0.5 } };
    t->push = -1, t->it.trials = 0;     /* uphill */
    t->s.p[0] = 1e30;
    CHECK(!abut_move_backtrack(&t->s, &m, &t->rep, &t->err));
    CHECK(m.searched && !m.moved && t->it.trials == 60);
    lift(t);
}

/* ---- longer directions ---- */

/* A full step of the given search has been taken. */
static abut_move full_step(track *t)
{
    CHECK(!abut_search_try(&t->s, 1, &t->it, &t->rep, &t->err));
    t->it.alpha = 1, t->it.trials = 1;
    t->sweeps = 0;
    return (abut_move){ .it = &t->it, .lim = { .alpha = 1 }, .searched = 1, .moved = 1 };
}

TEST(full_steps_alone_are_lengthened_and_short_ones_not_where_they_end_the_step)
{
    for (int k = 0; k < 8; k++) {
        track *t = lay();
        abut_move m = full_step(t);
        if (k == 1) t->s.pass.lengthens = 0;
        if (k == 2) m.moved = 0;
        if (k == 3) t->it.alpha = 0.5;
        if (k >= 4) t->it.residual = t->tolerance;  /* short */
        if (k == 5 || k == 6) t->user.search.stop = ABUT_STOP_PUBLISHED;
        if (k >= 6) straighten(t);
        CHECK(abut_move_may_lengthen(&t->s, &m) == (k == 0 || k == 7));
        lift(t);
    }
}

TEST(a_direction_that_was_too_short_is_lengthened_as_its_curvature_says)
{
    for (int k = 0; k < 9; k++) {
        track *t = lay();
        if (k == 7) t->hard = 1;            /* corrected steps are lengthened by their own move */
        else straighten(t);
        t->stiff = k == 6 ? 1 : 0.25;       /* the minimum is at 1 or 4 */
        if (k == 8) t->least = -0.875;      /* the full step has it already */
        if (k == 1) t->wall = 3;            /* half of what is left to the wall, of the longer direction: 1.5 */
        if (k == 2) t->wall = 2;            /* that is where the full step is */
        if (k == 3) t->fails = ABUT_E_GEOM;
        if (k == 4) t->ends = 3;            /* no lower there */
        abut_move m = full_step(t);
        if (k == 5) m.rotated = 1;
        const double full = t->s.trial.e.sum;
        CHECK(!abut_move_lengthen(&t->s, &m, &t->rep, &t->err));
        const double at = k == 0 ? 4 : k == 1 ? 1.5 : 1;
        CHECK_NEAR(t->s.trial.x[0], at, 1e-15);
        CHECK_NEAR(t->it.alpha, at, 1e-15);
        CHECK_NEAR(t->s.trial.e.sum, energy(t, t->s.trial.x), 1e-15);
        CHECK(m.moved && (at > 1 ? t->s.trial.e.sum < full && t->s.kept.x[0] == 1 : t->s.p[0] == 1));
        CHECK(t->it.trials == (k < 2 || k == 4 || k == 8 ? 2 : 1) && (t->sweeps > 0) == (k < 5 || k == 8));
        lift(t);
    }
    track *t = lay();
    straighten(t);
    t->stiff = 0.25, t->fails = ABUT_E_NOMEM;
    abut_move m = full_step(t);
    CHECK(abut_move_lengthen(&t->s, &m, &t->rep, &t->err) == ABUT_E_NOMEM);
    lift(t);
}

/* ---- second-order corrections ---- */

/* Steps that stretch, by moves with corrections.  A step of x costs hard (bend x^2)^2 / 2. */
static abut_move correct(track *t, double at_most)
{
    abut_move m = { .it = &t->it, .lim = { .alpha = at_most } };
    t->it.trials = 0;
    CHECK(!abut_move_second_order(&t->s, &m, &t->rep, &t->err));
    return m;
}

TEST(a_step_whose_rotation_costs_a_tenth_of_what_it_promises_is_corrected)
{
    for (int k = 0; k < 2; k++) {
        track *t = lay();
        t->hard = k ? 1 : 0.1, t->bend = k ? sqrt(2 * 0.0501) : 1;      /* the full step promises 1/2 */
        const abut_move m = correct(t, 1);
        CHECK(m.searched && m.moved && m.corrected == k && t->resolves == k && t->it.trials == 1 && t->it.alpha == 1);
        CHECK(t->s.trial.x[0] == 1);
        CHECK_NEAR(t->s.trial.x[1], k ? -t->bend : 0, 1e-15);
        CHECK_NEAR(t->s.trial.e.sum, -0.5 + (k ? 0 : 0.05), 1e-15);
        CHECK(t->s.second_order.linear_step[0] == 1 && t->s.second_order.linear_step[1] == 0);
        lift(t);
    }
}

TEST(corrections_stop_after_three_and_steps_that_still_cost_more_than_they_promise_are_halved)
{
    track *t = lay();
    t->hard = 1, t->bend = 8, t->takes = 0.5;   /* of x = 1 the stretch is 8, then 4, 2, 1, of which 1/2 is not less than 1/2 */
    abut_move m = correct(t, 1);
    /* of x = 1/2 it is 2, 1, 1/2, 1/4, which costs 1/32: 3/8 are promised, and a tenth is 3/80 */
    CHECK(t->resolves == 6 && t->it.trials == 1 && m.moved && m.corrected && t->it.alpha == 0.5);
    CHECK(t->s.trial.x[0] == 0.5 && t->s.trial.x[1] == -1.75 && t->s.second_order.linear_step[0] == 0.5);
    lift(t);
    t = lay();
    t->hard = 1, t->bend = 8, t->takes = 0;     /* x = 1/4: 1/8 of 7/32; up to 1/8 more than a tenth */
    m = correct(t, 1);
    CHECK(t->resolves == 9 && m.moved && m.corrected && t->it.alpha == 0.25 && t->s.trial.x[1] == 0);
    lift(t);
}

TEST(a_corrected_step_has_a_bound_of_its_own_and_one_without_correction_that_of_the_direction)
{
    track *t = lay();
    t->hard = 1, t->bend = 1;
    t->s.here.x[2] = 0.5;
    t->wall = 0.25;
    abut_move m = correct(t, 1);
    CHECK(m.moved && m.corrected && t->it.alpha == 0.25 && t->s.trial.x[0] == 0.25 && t->s.trial.x[1] == -0.25);
    /* the end without correction, of the part that was taken, from where the step starts */
    CHECK(t->s.second_order.linear_step[0] == 0.25 && t->s.second_order.linear_step[2] == 0.5);
    lift(t);
    t = lay();
    t->hard = 1e-6;             /* costs nothing */
    t->s.p[0] = 16, t->stiff = 1;
    m = correct(t, 0.5);
    /* the bound is that of the direction, swept before: only what is shorter is bounded again */
    CHECK(m.moved && !m.corrected && t->it.alpha == 0.0625 && t->it.trials == 4 && t->sweeps == 3);
    CHECK(t->s.trial.x[0] == 1 && t->s.second_order.linear_step[0] == 1);
    lift(t);
    t = lay();
    t->hard = 1e-6, t->push = -1;
    m = correct(t, 1);
    CHECK(m.searched && !m.moved && t->it.trials == 60);
    lift(t);
}

TEST(moves_with_corrections_leave_a_search_alone_that_has_none_or_has_been_made)
{
    for (int k = 0; k < 4; k++) {
        track *t = lay();
        abut_move m = { .it = &t->it, .lim = { .alpha = 1 } };
        t->hard = k == 0 ? 0 : 1;
        if (k == 1) straighten(t);
        if (k == 2) t->user.search.without = ABUT_WITHOUT_SECOND_ORDER;
        if (k == 3) m.searched = 1;
        CHECK(!abut_move_second_order(&t->s, &m, &t->rep, &t->err));
        CHECK(m.searched == (k == 3) && !m.moved && t->it.trials == 0);
        if (k < 3) {
            t->stiff = 0.25;
            m = full_step(t);
            CHECK(!abut_move_lengthen_second_order(&t->s, &m, &t->rep, &t->err) && t->it.trials == 1 && t->s.trial.x[0] == 1);
        }
        lift(t);
    }
}

/* The full step is corrected, then the one of the length that its curvature says. */
TEST(a_corrected_step_that_was_too_short_is_lengthened_or_stays_as_it_was)
{
    enum { TAKEN, AT_MOST, WALL, NEAR_WALL, TOUCHES, NO_LOWER, HARDLY, AS_LOW, KINDS };
    for (int k = 0; k < KINDS; k++) {
        track *t = lay();
        const int near = k == NEAR_WALL;
        t->hard = 1, t->bend = near ? sqrt(2 * 0.0501) : 0.5;
        t->stiff = near ? 1. / 3 : k == AT_MOST ? 0.125 : k == HARDLY ? 0.7 : 0.5;      /* the minimum is at 1 / stiff */
        abut_move m = correct(t, 1);
        CHECK(m.moved && m.corrected && t->it.alpha == 1 && t->it.trials == 1);
        if (k == WALL) t->wall = 1.5;           /* of a step of 2 three quarters: half of them is less than the full step */
        if (near) t->wall = 2.9;                /* half of that of a step of 3 */
        if (k == TOUCHES) t->fails = ABUT_E_GEOM;
        if (k == NO_LOWER) t->ends = 1.75;
        if (k == AS_LOW) t->least = -0.75;      /* as low as the full step */
        const double full = t->s.trial.e.sum;
        t->resolves = 0;
        CHECK(!abut_move_lengthen_second_order(&t->s, &m, &t->rep, &t->err));
        const int longer = k == TAKEN || k == AT_MOST || near;
        const double at = k == TAKEN ? 2 : k == AT_MOST ? 4 : near ? 1.45 : 1, tried = near ? 3 : at;
        CHECK_NEAR(t->s.trial.x[0], at, 1e-14);
        CHECK_NEAR(t->s.trial.x[1], -t->bend * at * tried, 1e-14);
        CHECK_NEAR(t->it.alpha, at, 1e-14);
        CHECK(m.moved && m.corrected && t->s.trial.e.sum == (longer ? energy(t, t->s.trial.x) : full));
        CHECK(!longer || t->s.trial.e.sum < full);
        CHECK_NEAR(t->s.second_order.linear_step[0], at, 1e-14);
        CHECK_NEAR(t->s.second_order.p[1], -t->bend * tried * tried, 1e-14);
        CHECK((t->resolves > 0) == (k != HARDLY));
        lift(t);
    }
}

TEST(corrections_that_fail_and_tests_that_fail_end_the_search)
{
    track *t = lay();
    abut_move m = { .it = &t->it, .lim = { .alpha = 1 } };
    t->hard = 1, t->bend = 1;
    t->no_solution = ABUT_E_NUMERIC;
    CHECK(abut_move_second_order(&t->s, &m, &t->rep, &t->err) == ABUT_E_NUMERIC && !m.moved && t->it.trials == 0);
    t->no_solution = ABUT_OK, t->fails = ABUT_E_NOMEM;
    m.searched = 0;
    CHECK(abut_move_second_order(&t->s, &m, &t->rep, &t->err) == ABUT_E_NOMEM && !m.moved && t->it.trials == 0);
    t->fails = ABUT_OK;
    t->stiff = 0.5, t->bend = 0.5;
    m = correct(t, 1);
    CHECK(m.moved && t->it.alpha == 1);
    t->no_solution = ABUT_E_NUMERIC;
    CHECK(abut_move_lengthen_second_order(&t->s, &m, &t->rep, &t->err) == ABUT_E_NUMERIC);
    CHECK(t->it.alpha == 1 && t->s.trial.x[0] == 1 && t->s.second_order.p[1] == -0.5);
    m.moved = 0, t->no_solution = ABUT_OK, t->it.trials = 0;    /* and without a full step there is none longer */
    CHECK(!abut_move_lengthen_second_order(&t->s, &m, &t->rep, &t->err) && t->it.trials == 0);
    lift(t);
}

TEST(the_stretch_that_is_corrected_is_that_of_one_step_alone)
{
    track *t = lay();
    t->hard = 1, t->bend = 1;
    t->s.second_order.g[0] = t->s.second_order.g[1] = t->s.second_order.g[2] = 7;     /* of another step */
    const abut_move m = correct(t, 1);
    CHECK(m.moved && t->s.trial.x[0] == 1 && t->s.trial.x[1] == -1 && t->s.trial.x[2] == 0);
    lift(t);
}
