/* ADMM over hard contact: solve/nodal/coulomb.h, on what has closed forms. */
#include "check.h"

#include "nodal_springs.h"

#define PI 3.14159265358979323846

/* ---- a block of four nodes on a slope ---- */

static double slope_normal[3];

static double slope_gap(const double *x, int k, double normal[3])
{
    (void)k;
    memcpy(normal, slope_normal, sizeof slope_normal);
    return x[0] * normal[0] + x[1] * normal[1] + x[2] * normal[2];
}

/* Axes of the slope: along it, across, away from it. */
static void block(springs *e, double tangent, double mu)
{
    const double c = 1 / sqrt(1 + tangent * tangent), s = tangent * c;
    const double along[3] = { c, -s, 0 }, across[3] = { 0, 0, 1 };
    springs_defaults(e);
    memcpy(slope_normal, (double[3]){ s, c, 0 }, sizeof slope_normal);
    e->n = 4;
    e->walls = 1;
    e->gap = slope_gap;
    e->mu = mu;
    for (int i = 0; i < 4; i++) {
        e->mass[i] = 0.25;
        for (int d = 0; d < 3; d++) e->x[3 * i + d] = 0.1 * ((i & 1) * along[d] + (i >> 1) * across[d]);
        e->load[3 * i + 1] = -9.81 * e->mass[i];
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++) springs_add(e, i, j, 1e5);
}

TEST(a_block_on_a_slope_stays_to_the_last_digit_or_slides_as_coulomb_says)
{
    static const double degrees[] = { 10, 20, 30, 40 };
    for (int a = 0; a < 4; a++)
        for (int m = 0; m < 3; m++) {
            const double angle = degrees[a] * PI / 180, tangent = tan(angle);
            const double mu = m == 0 ? 0.2 : m == 1 ? 1.02 * tangent : 0.98 * tangent;
            springs e;
            block(&e, tangent, mu);
            double start[12];
            int most = 0;
            memcpy(start, e.x, sizeof start);
            for (int k = 0; k < 100; k++) {
                springs_step(&e, 2);
                most = e.iterations > most ? e.iterations : most;
                CHECK(e.delta < 1e-12);
            }
            double v = 0, drift = 0;
            for (int i = 0; i < 12; i++) {
                v += i % 3 == 0 ? e.v[i] / 4 : 0;
                drift = fmax(drift, fabs(e.x[i] - start[i]));
            }
            const double expected = fmax(0, 9.81 * 0.2 * (sin(angle) - mu * cos(angle))), speed = v / cos(angle);
            if (tangent <= mu) {
                CHECK(drift < 1e-13);
                CHECK(fabs(speed) < 1e-13);
            } else {
                CHECK_NEAR(speed / expected, 1, 1e-6);
            }
            printf("# %g degrees, mu %.4f: speed %.9g, expected %.9g, drift %.3g, at most %d iterations\n", degrees[a], mu, speed,
                   expected, drift, most);
            springs_clear(&e);
        }
}

/* Any direction of the slide: friction is against it, no facet shows. */
TEST(a_block_slides_straight_in_every_direction)
{
    for (int k = 0; k < 24; k++) {
        const double a = 2 * PI * k / 24 + 0.013;
        springs e;
        block(&e, 0, 0.3);
        for (int i = 0; i < 4; i++) {
            e.v[3 * i] = 2 * cos(a);
            e.v[3 * i + 2] = 2 * sin(a);
        }
        for (int n = 0; n < 100; n++) springs_step(&e, 2);
        const double vx = (e.v[0] + e.v[3] + e.v[6] + e.v[9]) / 4, vz = (e.v[2] + e.v[5] + e.v[8] + e.v[11]) / 4;
        CHECK_NEAR(atan2(vz, vx), atan2(sin(a), cos(a)), 1e-10);
        CHECK_NEAR(hypot(vx, vz), 2 - 0.3 * 9.81 * 0.2, 1e-6);
        springs_clear(&e);
    }
}

TEST(a_push_moves_a_block_when_it_is_more_than_friction_can_hold)
{
    for (int k = 0; k < 2; k++) {
        const double push = (k ? 1.001 : 0.999) * 0.5 * 9.81;
        springs e;
        block(&e, 0, 0.5);
        for (int i = 0; i < 4; i++) e.load[3 * i] = push / 4;
        for (int n = 0; n < 50; n++) springs_step(&e, 2);
        CHECK((fabs(e.v[0]) > 1e-5) == k);
        if (!k) CHECK(fabs(e.v[0]) < 1e-12);
        springs_clear(&e);
    }
}

/* ---- a rope over half a cylinder ---- */

enum { WRAP = 13, TAIL = 6, ROPE = WRAP + 2 * TAIL };
static const double RADIUS = 0.1;

static double pole_gap(const double *x, int k, double normal[3])
{
    (void)k;
    const double r = hypot(x[0], x[1]);
    normal[0] = x[0] / r;
    normal[1] = x[1] / r;
    normal[2] = 0;
    return x[1] < -1e-9 ? 1 : r - RADIUS;    /* the half above the middle alone is touched */
}

/* The force that the rope carries on one side over that on the other before it slides. */
static double threshold(double mu)
{
    const double d = PI / (WRAP - 1), one = (1 + mu * tan(d / 2)) / (1 - mu * tan(d / 2)),
                 end = (1 + mu * tan(d / 4)) / (1 - mu * tan(d / 4));
    return pow(one, WRAP - 2) * end * end;
}

static void rope(springs *e, double mu)
{
    const double step = 2 * RADIUS * sin(PI / (WRAP - 1) / 2);
    springs_defaults(e);
    e->n = ROPE;
    e->walls = 1;
    e->gap = pole_gap;
    e->mu = mu;
    e->o.tolerance = 1e-8;
    for (int i = 0; i < ROPE; i++) {
        const int k = i - TAIL, tail = k < 0 ? -k : k >= WRAP ? k - WRAP + 1 : 0;
        const double angle = k < 0 ? PI : k >= WRAP ? 0 : PI * (1 - (double)k / (WRAP - 1));
        e->x[3 * i] = RADIUS * cos(angle);
        e->x[3 * i + 1] = tail ? -tail * step : k == 0 || k == WRAP - 1 ? 0 : RADIUS * sin(angle);
        e->mass[i] = 1e-3;
    }
    for (int i = 0; i + 1 < ROPE; i++) springs_add(e, i, i + 1, 1e4);
}

/* How far the rope moves in 0.1 s under that ratio of forces; *mean: iterations of a step on average. */
static double slide(springs *e, double ratio, double *mean, int *worst)
{
    double settled = 0, total = 0;
    *worst = 0;
    for (int i = 0; i < ROPE; i++) e->load[3 * i + 1] = 0;
    for (int k = 0; k < 110; k++) {
        const double part = k < 30 ? (k + 1) / 30. : 1;     /* the forces grow together, then rest */
        e->load[1] = -part;
        e->load[3 * (ROPE - 1) + 1] = -part * ratio;
        springs_step(e, 2);
        if (k == 59) settled = e->x[3 * (ROPE - 1) + 1];
        total += e->iterations;
        *worst = e->iterations > *worst ? e->iterations : *worst;
    }
    *mean = total / 220;
    return fabs(e->x[3 * (ROPE - 1) + 1] - settled);
}

TEST(a_rope_over_a_cylinder_holds_and_slides_where_the_polyline_says)
{
    static const struct { double mu, known; } row[] = { { 0.3, 2.5806 }, { 0.5, 4.8618 } };
    for (int m = 0; m < 2; m++) {
        CHECK_NEAR(threshold(row[m].mu), row[m].known, 5e-5);
        static const double part[] = { 0.8, 0.95, 1.1, 1.2 };
        for (int k = 0; k < 4; k++) {
            double mean;
            int worst;
            springs e;
            rope(&e, row[m].mu);
            const double moved = slide(&e, part[k] * threshold(row[m].mu), &mean, &worst);
            printf("# mu %g, %g of the threshold: moved %.3g m, %.1f iterations a linearisation\n", row[m].mu, part[k], moved,
                   mean);
            if (part[k] < 1) CHECK(moved < 1e-5);
            else CHECK(moved > 1e-3);
            springs_clear(&e);
        }
    }
}

SLOW_TEST(weights_change_how_fast_it_converges_and_nothing_else)
{
    static const double betas[] = { 0.1, 1, 5, 25, 1e9 };
    double mean[5][2], quick = 0;
    for (int accelerated = 0; accelerated < 2; accelerated++)
        for (int k = 0; k < 5; k++) {
            int worst;
            springs e;
            rope(&e, 0.3);
            e.beta = betas[k];
            e.everywhere = 1;
            e.o.accelerated = accelerated;
            const double moved = slide(&e, 0.9 * threshold(0.3), &mean[k][accelerated], &worst);
            printf("# beta %g%s: %.1f iterations, at most %d\n", betas[k], accelerated ? ", accelerated" : "",
                   mean[k][accelerated], worst);
            CHECK(moved < 1e-5);
            springs_clear(&e);
        }
    CHECK(mean[0][0] > 3 * mean[3][0]);
    CHECK(fabs(mean[4][0] / mean[3][0] - 1) < 0.5);
    CHECK(mean[0][1] < mean[0][0]);
    springs e;
    int worst;
    rope(&e, 0.3);
    (void)slide(&e, 0.9 * threshold(0.3), &quick, &worst);
    printf("# weights of contacts alone: %.1f iterations\n", quick);
    springs_clear(&e);
}

/* Weights that follow the iterations: the same end from weights that are far too light or too heavy, about as soon. */
TEST(weights_that_follow_the_iterations_hardly_depend_on_where_they_begin)
{
    static const double betas[] = { 25, 1e-3, 0.1, 1e9 };
    double mean[2][4], x[3 * ROPE];
    for (int fits = 0; fits < 2; fits++)
        for (int k = 0; k < 4; k++) {
            int worst;
            springs e;
            rope(&e, 0.3);
            e.beta = betas[k];
            e.fits = fits;
            e.o.accelerated = 1;
            e.o.tolerance = 1e-9;
            e.o.iterations = 5000;
            (void)slide(&e, 0.9 * threshold(0.3), &mean[fits][k], &worst);
            printf("# beta %g%s: %.1f iterations, at most %d\n", betas[k], fits ? ", weights fit" : "", mean[fits][k], worst);
            for (int i = 0; i < 3 * ROPE && fits && k; i++) CHECK_NEAR(e.x[i], x[i], 1e-6);
            if (fits && !k) memcpy(x, e.x, sizeof x);
            springs_clear(&e);
        }
    CHECK(mean[0][1] > 2 * mean[0][0]);
    for (int k = 0; k < 4; k++) CHECK(mean[1][k] < 1.2 * mean[1][0]);
}

/* Impulses that begin where the last step ended: the same step, sooner; also where the weights are others than then. */
SLOW_TEST(impulses_of_the_last_step_save_iterations_and_change_nothing)
{
    int iterations[3];
    double x[3][3 * ROPE];
    for (int k = 0; k < 3; k++) {
        double mean;
        int worst;
        springs e;
        rope(&e, 0.3);
        e.o.tolerance = 1e-9;
        e.o.iterations = 5000;
        (void)slide(&e, 0.9 * threshold(0.3), &mean, &worst);
        e.cold = k == 1;
        e.beta = k == 2 ? 5 : 25;
        springs_step(&e, 1);
        iterations[k] = e.iterations;
        memcpy(x[k], e.x, sizeof x[k]);
        springs_clear(&e);
    }
    printf("# warm %d, cold %d, warm with other weights %d iterations\n", iterations[0], iterations[1], iterations[2]);
    CHECK(iterations[0] < iterations[1]);
    CHECK(iterations[2] < iterations[1]);
    for (int i = 0; i < 3 * ROPE; i++) {
        CHECK_NEAR(x[1][i], x[0][i], 1e-9);
        CHECK_NEAR(x[2][i], x[0][i], 1e-9);
    }
}

/* ---- what residuals are compared with ---- */

static double floor_gap(const double *x, int k, double normal[3])
{
    (void)k;
    normal[0] = normal[2] = 0;
    normal[1] = 1;
    return x[1];
}

TEST(residuals_of_what_sticks_are_parts_of_all_that_its_contacts_bear)
{
    for (int k = 0; k < 2; k++) {
        springs e;
        springs_defaults(&e);
        e.n = e.walls = 1;
        e.gap = floor_gap;
        e.mass[0] = 1;
        e.load[0] = 3, e.load[1] = -2;
        e.mu = 0.5;
        e.cohesion = k ? 0.1 : 0;
        e.beta = 0.1;
        e.o = (abut_coulomb_options){ .iterations = 1, .sweeps = 1, .balance = 1e-9, .rough = 1 };
        e.cold = 1;
        springs_step(&e, 1);
        double off = 0, impulse = 0;
        for (int d = 0; d < 3; d++) {
            off += (e.s.v[d] - e.s.p[d]) * (e.s.v[d] - e.s.p[d]);
            impulse += e.s.lambda[d] * e.s.lambda[d];
        }
        CHECK(off > 0);
        CHECK_NEAR(e.s.unbalanced * (e.w[0] * sqrt(impulse) + e.cohesion), e.w[0] * sqrt(off), 1e-12);
        springs_clear(&e);
    }
}

/* ---- a node between walls that close ---- */

static double press_gap(const double *x, int k, double normal[3])
{
    normal[0] = k ? -1 : 1;
    normal[1] = normal[2] = 0;
    return k ? -x[0] : x[0];
}

static void pinch(springs *e, double give)
{
    springs_defaults(e);
    e->n = 1;
    e->walls = 2;
    e->gap = press_gap;
    e->mass[0] = 1e-3;
    e->wall_v[0][0] = 0.1;
    e->wall_v[1][0] = -0.1;
    e->give = give;
    e->o.iterations = 25;
}

TEST(a_small_residual_hides_a_pinch_and_the_penetration_shows_it)
{
    springs e;
    pinch(&e, 0);
    springs_step(&e, 1);
    CHECK(e.delta < 1e-12);
    CHECK(e.s.iterations <= 4);
    CHECK(e.quality.penetration > 0.099);
    springs_clear(&e);
    pinch(&e, 1 / 10e-3);   /* 10 g each */
    e.o.sweeps = 100;
    springs_step(&e, 1);
    CHECK(e.quality.residual < 1e-9);
    CHECK_NEAR(e.v[0], 0, 1e-9);
    springs_clear(&e);
}

/* Walls that close on a node ask for impulses without bound; walls that stand on both sides of it, or yield, do not. */
TEST(laws_that_exclude_each_other_are_found_and_others_are_not)
{
    static const struct { double speed, give; int contradict; } walls[] = { { 0.1, 0, 1 }, { 0.1, 1 / 10e-3, 0 }, { 0, 0, 0 } };
    for (int k = 0; k < 3; k++) {
        springs e;
        pinch(&e, walls[k].give);
        e.wall_v[0][0] = walls[k].speed;
        e.wall_v[1][0] = -walls[k].speed;
        e.v[0] = 0.02;
        e.o.balance = 3e-4;
        e.o.tolerance = 0;
        e.o.iterations = 1000;
        springs_step(&e, 1);
        printf("# walls at %g m/s, give %g 1/kg: %d iterations, contradict %d\n", walls[k].speed, walls[k].give, e.s.iterations,
               e.s.laws.contradict);
        CHECK(e.s.laws.contradict == walls[k].contradict);
        CHECK(abut_coulomb_converged(&e.s, &e.o) == !walls[k].contradict);
        CHECK(e.s.iterations <= 64);
        springs_clear(&e);
    }
}

/* ---- energy ---- */

TEST(without_elasticity_contacts_only_take_energy)
{
    springs e;
    block(&e, 0, 0.4);
    e.ns = 0;
    double last = INFINITY;
    for (int i = 0; i < 4; i++) {
        e.load[3 * i + 1] = 0;
        e.v[3 * i] = 1 + 0.1 * i;
        e.v[3 * i + 1] = -0.5 * (i & 1);
        e.v[3 * i + 2] = -0.3 * i;
    }
    for (int n = 0; n < 100; n++) {
        springs_step(&e, 2);
        double kinetic = 0;
        for (int i = 0; i < 12; i++) kinetic += e.mass[i / 3] * e.v[i] * e.v[i] / 2;
        CHECK(kinetic <= last);
        CHECK(e.quality.friction_work <= 0);
        last = kinetic;
    }
    springs_clear(&e);
}

/* ---- weights ---- */

TEST(the_smallest_eigenvalue_of_a_block_has_its_closed_form)
{
    static const double A[9] = { 2, 0, 0, 0, 5, 0, 0, 0, 3 }, one[9] = { 4, 0, 0, 0, 4, 0, 0, 0, 4 };
    CHECK_NEAR(abut_smallest_eigenvalue3(A), 2, 1e-14);
    CHECK_NEAR(abut_smallest_eigenvalue3(one), 4, 0);
    for (int k = 0; k < 100; k++) {     /* R diag(1, a, b) R^T */
        const double a = 1 + 0.3 * k, b = 2 + 7. * k, c = cos(0.1 * k), s = sin(0.1 * k), p = cos(1.7 * k), q = sin(1.7 * k);
        const double R[9] = { c, -s, 0, s * p, c * p, -q, s * q, c * q, p }, d[3] = { a, 1, b };
        double B[9] = { 0 };
        for (int i = 0; i < 9; i++)
            for (int j = 0; j < 3; j++) B[i] += R[3 * (i / 3) + j] * d[j] * R[3 * (i % 3) + j];
        CHECK_NEAR(abut_smallest_eigenvalue3(B), 1, 1e-7 * (a + b));
        CHECK_NEAR(abut_nodal_weight(B, 0.5, INFINITY, 25, 1e-3), 1, 1e-7 * (a + b));
        CHECK_NEAR(abut_nodal_weight(B, 0.01, INFINITY, 25, 1e-3), 0.25, 1e-15);
    }
}
