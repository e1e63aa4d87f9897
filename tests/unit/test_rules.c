/* Decisions that are functions of numbers: when the barrier is stiffened, when a step is near its end, when forces balance; and
 * what they mean for steps. */
#include "solve/search/equilibrium.h"
#include "energy/barrier.h"
#include "solve/search/rules.h"
#include "world.h"

#include <math.h>

TEST(the_barrier_is_stiffened_when_a_gap_below_the_bound_loses_more_than_a_tenth)
{
    CHECK(abut_barrier_stiffer(3, 100, 1e-9, 5e-10, 4e-10) == 6);
    CHECK(abut_barrier_stiffer(3, 5, 1e-9, 5e-10, 4e-10) == 5);              /* not beyond its upper bound */
    CHECK(abut_barrier_stiffer(3, 100, 1e-9, 5e-10, 5e-10) == 3);            /* it has not shrunk */
    CHECK(abut_barrier_stiffer(3, 100, 1e-9, 5e-10, 4.6e-10) == 3);          /* it creeps */
    CHECK(abut_barrier_stiffer(3, 100, 1e-9, 2e-9, 4e-10) == 3);             /* it was not below */
    CHECK(abut_barrier_stiffer(3, 100, 1e-9, INFINITY, 4e-10) == 3);         /* nothing touched */
    CHECK(abut_barrier_stiffer(3, 100, 1e-9, 4e-10, INFINITY) == 3);
}

TEST(what_is_left_is_the_sum_of_directions_that_shrink_by_one_ratio)
{
    CHECK_NEAR(abut_rule_error(8, 4), 4 + 2 + 1 + 0.5 + 0.25 + 0.25, 1e-12);
    CHECK(abut_rule_error(8, 8) == INFINITY && abut_rule_error(8, 9) == INFINITY);
    CHECK(abut_rule_error(8, 0) == 0 && abut_rule_error(0, 0) == 0);
    CHECK(abut_rule_near(4, 1, 1) && !abut_rule_near(4.1, 1, 1) && !abut_rule_near(INFINITY, 1, 1));
    CHECK(abut_rule_near(0.1, 1, 0) && !abut_rule_near(0.11, 1, 0) && !abut_rule_near(INFINITY, 1, 0));
    /* directions of 9, 3, 1: the one of 3 may be the last */
    CHECK(!abut_rule_may_be_last(27, 9, 1) && abut_rule_may_be_last(9, 3, 1));
    CHECK(abut_rule_may_be_last(INFINITY, 100, 1) && !abut_rule_may_be_last(1, 1.5, 1) && !abut_rule_may_be_last(1, 1, 1));
}

TEST(friction_lets_go_where_a_contact_that_sticks_would_slide)
{
    CHECK(abut_rule_lets_go(0.9, 1, 1) && abut_rule_lets_go(0, 7, 1));
    CHECK(!abut_rule_lets_go(0.9, 0.99, 1) && !abut_rule_lets_go(0, 0, 1));     /* it sticks on */
    CHECK(!abut_rule_lets_go(1, 7, 1) && !abut_rule_lets_go(7, 0.5, 1));        /* it slides already */
}

TEST(forces_balance_to_a_share_of_the_largest_and_stall_when_they_come_no_closer)
{
    CHECK(abut_rule_balanced(1, 1000, 1e-3) && !abut_rule_balanced(1.01, 1000, 1e-3));
    CHECK(abut_rule_balanced(5, 1, 0));                                 /* not tested */
    abut_rule_stall s = { 0 };
    for (int i = 0; i < 30; i++) CHECK(!abut_rule_stalls(&s, pow(0.7, i)));     /* halved in every second iteration */
    for (int i = 2; i < ABUT_STALL_ITERATIONS; i++) CHECK(!abut_rule_stalls(&s, pow(0.7, 29)));
    CHECK(abut_rule_stalls(&s, pow(0.7, 29)));
    s = (abut_rule_stall){ .best = 1, .since = ABUT_STALL_ITERATIONS - 1 };
    CHECK(abut_rule_stalls(&s, 0.5) && s.best == 1 && !abut_rule_stalls(&s, 0.49) && s.best == 0.49);     /* more than halved */
}

TEST(iterations_stagnate_while_neither_directions_nor_the_objective_say_otherwise)
{
    abut_rule_stagnation s = { 0 };
    for (int i = 0; i < 100; i++) CHECK(abut_rule_stagnates(&s, pow(0.89, i), 0, 0, 1e-9) == 0);    /* shorter by a tenth */
    const double shortest = pow(0.89, 99);
    for (int i = 1; i < 100; i++) CHECK(abut_rule_stagnates(&s, shortest * (i % 2 ? 1 : 5), 1e-3, 1, 1e-9) == i);   /* creeps */
    CHECK_NEAR(s.went, 0.099, 1e-12);
    CHECK(abut_rule_stagnates(&s, 0.91 * shortest, 0, 0, 1e-9) == 100);         /* not by a tenth */
    CHECK(abut_rule_stagnates(&s, 0.89 * shortest, 0, 0, 1e-9) == 0 && s.went == 0);
    for (int i = 1; i < 100; i++) CHECK(abut_rule_stagnates(&s, 1, 1, i % 2 ? 1e-10 : -1e-10, 1e-9) == i);  /* rounding */
    CHECK(abut_rule_stagnates(&s, 1, 1, 2e-9, 1e-9) == 0);                      /* and now the objective has fallen */
    s = (abut_rule_stagnation){ .speed = 1 };
    CHECK(abut_rule_stagnates(&s, 0.9, 0, 0, 1e-9) == 1 && abut_rule_stagnates(&s, 1, 1, 1e-9, 1e-9) == 2);    /* just not */
    CHECK(abut_rule_stagnates(&s, 1, 0, 1e-9, 1e-9) == 0);      /* a whole direction, and more than rounding */
    int most = 0;
    for (int i = 0; i < 1000; i++) most = (int)fmax(most, abut_rule_stagnates(&s, 1, 0.01, 1, 1e-9));
    CHECK(most == 99);          /* steps of a hundredth of a direction are slow, not stuck */
}

TEST(patience_is_a_fifth_of_the_limit_and_no_less_than_two_thousand)
{
    CHECK(abut_rule_patience(10000) == 2000 && abut_rule_patience(100) == 2000 && abut_rule_patience(1000000) == 200000);
    /* steps of one length that would arrive within the limit, as each takes the same part of what is left */
    for (int most = 10000; most <= 1000000; most *= 10) {
        abut_rule_stagnation s = { 0 };
        double left = 1;
        int idle = 0;
        for (int i = 0; i < most; i++) {
            idle = (int)fmax(idle, abut_rule_stagnates(&s, left, 2. / most, 1e-30, 1e-9));
            left -= 2. / most * left;
        }
        CHECK(idle > 0 && idle < abut_rule_patience(most));
    }
}

TEST(a_full_step_that_was_too_short_says_how_much_longer_it_should_be)
{
    /* f(t) = start - slope t + c/2 slope t^2 */
    for (double c = 0; c < 2; c += 0.25) CHECK_NEAR(abut_rule_curvature(4, 10, 10 - 4 + 2 * c, 1e-12), c, 1e-14);
    CHECK(abut_rule_curvature(4, 10, 6, 5e-3) == 1);            /* its rounding hides it */
    CHECK(abut_rule_curvature(1000, 10, -990, 1) == 1 && abut_rule_curvature(1001, 10, -991, 1) == 0);
    CHECK(abut_rule_length(1, 0) == 1 && abut_rule_length(0.51, 0) == 1 && abut_rule_length(0.5, 0) == 2);
    CHECK(abut_rule_length(0.25, 0) == 4 && abut_rule_length(0, 0) == 8 && abut_rule_length(-3, 0) == 8);
    CHECK(abut_rule_length(0.5, 1) == 1 && abut_rule_length(0.25, 1) == 4);     /* a short one has to ask for much */
    CHECK(abut_rule_is_short(1, 1) && !abut_rule_is_short(1.01, 1) && !abut_rule_is_short(NAN, 1));
}

TEST(a_step_has_to_bring_a_part_of_what_its_slope_promises)
{
    CHECK(abut_rule_ceiling(10, 0.5, 0, 0.25, 8) == 10.5);      /* it must not grow beyond rounding, for any slope */
    CHECK(abut_rule_ceiling(10, 0.5, 0, 0.25, INFINITY) == 10.5);
    CHECK(abut_rule_ceiling(10, 0.5, 0.1, 0.25, 8) == 10.5 - 0.1 * 0.25 * 8);
    /* of a parabola start - slope t + slope t^2 / 2 the full step brings half of what the slope promises */
    CHECK(9 - 4 <= abut_rule_ceiling(9, 0, 0.49, 1, 8) && !(9 - 4 <= abut_rule_ceiling(9, 0, 0.51, 1, 8)));
}

TEST(a_line_that_ends_far_beyond_its_minimum_is_known_by_its_slopes)
{
    /* the parabola -slope t + curvature t^2 / 2 falls at its end by slope - curvature: the minimum is at slope / curvature */
    for (double minimum = 0.25; minimum < 3; minimum += 0.25)
        CHECK(abut_rule_not_beyond(4, 4 - 4 / minimum) == (1 <= 1.8 * minimum));
    CHECK(!abut_rule_not_beyond(1, NAN) && abut_rule_not_beyond(1, -0.8) && !abut_rule_not_beyond(1, -0.81));
}

TEST(points_dhat_apart_do_not_meet_on_the_fraction_of_the_cfl_rule)
{
    CHECK(abut_rule_cfl(0.1, 1, 0) == INFINITY && abut_rule_cfl(0.1, 0, 0) == INFINITY);
    for (double motion = 1e-3; motion < 1e3; motion *= 7) {
        const double most = abut_rule_cfl(0.1, 0.5, motion), per = motion / 0.5;    /* m for the whole direction */
        CHECK(2 * most * per < 0.1 && 2 * most * per > 0.1 * (1 - 1e-8));
    }
}

TEST(what_failed_is_tried_again_after_one_then_three_then_nine_directions)
{
    abut_rule_wait w = { 0 };
    for (int pause = 0, n = 0; n < 5; n++, pause = pause ? pause < 9 ? 3 * pause : 9 : 1) {
        for (int i = 0; i < pause; i++) CHECK(!abut_rule_is_due(&w));
        CHECK(abut_rule_is_due(&w));
        abut_rule_tried(&w, 0, 9);
    }
    while (!abut_rule_is_due(&w));
    abut_rule_tried(&w, 1, 9);
    CHECK(abut_rule_is_due(&w));
    abut_rule_tried(&w, 0, 9);
    CHECK(!abut_rule_is_due(&w) && abut_rule_is_due(&w));       /* from the start again */
}

TEST(scripted_motion_is_blocked_when_many_updates_bring_nothing)
{
    abut_rule_blocked b = { 0 };
    for (int i = 1; i < 1000; i++) CHECK(!abut_rule_is_blocked(&b, 1e-3 * i));
    for (int i = 1; i < ABUT_BLOCKED_UPDATES; i++) CHECK(!abut_rule_is_blocked(&b, 0.999 + 1e-9 * i));
    CHECK(abut_rule_is_blocked(&b, 0.999));
    CHECK(!abut_rule_is_blocked(&b, 0.9991));
    b = (abut_rule_blocked){ .updates = ABUT_BLOCKED_UPDATES - 1 };
    CHECK(abut_rule_is_blocked(&b, 1e-6) && !abut_rule_is_blocked(&b, 1.01e-6));    /* a millionth is nothing */
}

/* A block without held nodes falls on the floor: the residual of its forces is m (v' - v)/h - m g - contact, summed up. */
static void fall(world *w, double tolerance, double stiffen_below)
{
    fixture *f = fixture_new();
    f->tol = tolerance;
    f->plane = 1;
    f->stiffen_below = stiffen_below;
    fixture_box(f, 0, 5e-3, 0, 0.2, 0.2, 0.2, 2, 2, 2, 0);
    const double down[3] = { 0, -2, 0 };
    world_open(w, f, down);
}

TEST(no_resultant_lacks_more_than_the_report_says)
{
    double last = INFINITY;
    for (double tolerance = 1; tolerance > 1e-7; tolerance /= 1000) {
        world w;
        fall(&w, tolerance, 0);
        CHECK(!world_run(&w, 1));
        double lack[3] = { 0 }, push = 0, weight = 0;
        for (int32_t i = 0; i < 3 * w.model.nv; i++) {
            const double m = w.model.mass[i / 3], v0 = i % 3 == 1 ? -2 : 0, f = get(&w, "node/contact-force")[i];
            lack[i % 3] += m * ((get(&w, "node/v")[i] - v0) / w.model.h[0] - w.model.gravity[i % 3]) - f;
            push += i % 3 == 1 ? f : 0;
            weight += i % 3 == 1 ? 9.81 * m : 0;
        }
        const double left = w.rep.force_residual * w.rep.force_largest;
        const double net = sqrt(lack[0] * lack[0] + lack[1] * lack[1] + lack[2] * lack[2]);
        printf("# tolerance %g m/s: %.4g N lacking, %.4g N left, push %.4g N, weight %.4g N\n", tolerance, net, left, push,
               weight);
        CHECK(net <= left * (1 + 1e-9) + 1e-9 * push && left < 60 * net + 1e-6 * push);
        CHECK(w.rep.force_largest >= push && w.rep.force_largest >= weight);
        CHECK(get(&w, "step/force-residual")[0] == w.rep.force_residual);
        CHECK(left < last);
        last = left;
        world_close(&w);
    }
}

TEST(the_published_rule_leaves_the_stiffness_alone_where_the_other_one_is_asked_to_raise_it)
{
    world plain, early;
    fall(&plain, 1e-6, 0);
    fall(&early, 1e-6, 0.5 * plain.f->dhat);
    CHECK(!world_run(&plain, 1) && !world_run(&early, 1));
    CHECK(plain.rep.min_gap > 1e-9 * plain.model.length[0]);
    CHECK(get(&plain, "contact/kappa")[0] == plain.model.kappa_min[0]);
    CHECK(get(&early, "contact/kappa")[0] > plain.model.kappa_min[0]);
    CHECK(early.rep.min_gap > plain.rep.min_gap);
    world_close(&plain);
    world_close(&early);
}
