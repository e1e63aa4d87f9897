/* The time schemes: closed forms, order, energy, and that a newton is a newton in each. */
#include "energy/elastic.h"
#include "world.h"
#include "elastic_gradient.h"

static const char *const NAME[LOW_SCHEMES] = { "implicit Euler", "implicit Newmark", "BDF2", "midpoint" };

TEST(free_fall_is_that_of_each_formula)
{
    for (int32_t scheme = 0; scheme < LOW_SCHEMES; scheme++) {
        fixture *f = fixture_new();
        f->scheme = scheme;
        fixture_box(f, 0, 5, 0, 1, 1, 1, 1, 1, 1, 0);
        world w;
        world_open(&w, f, NULL);
        CHECK(!world_run(&w, 10));
        /* Newmark and midpoint are exact for a parabola; BDF2 keeps the error of its first step, 1/2 g h^2, and adds a
         * third of each change: 3/4 g h^2 in the end */
        const double gh2 = 9.81 * 1e-4, late[LOW_SCHEMES] = { 5 * gh2, 0, 0.75 * gh2 * (1 - pow(3, -10)), 0 };
        CHECK_NEAR(mean(&w, "node/x", 1, 0) - 5.5, -50 * gh2 - late[scheme], 1e-12);
        CHECK_NEAR(mean(&w, "node/v", 1, 0), -0.981, 1e-11);
        world_close(&w);
    }
}

/* One tet, three nodes held, the fourth above the origin: a linear oscillator along y with
 * omega^2 = volume (lambda + 2 mu) / mass, while its amplitude is small. */
static double oscillator_of(world *w, int32_t scheme, double h, double amplitude, double damp_mass, double damp_stiffness,
                            double beta, double gamma)
{
    fixture *f = fixture_new();
    f->newmark[0] = beta, f->newmark[1] = gamma;
    f->damp_mass = damp_mass;
    f->damp_stiffness = damp_stiffness;
    f->scheme = scheme;
    f->h = h;
    f->tol = 1e-11;
    f->gravity[1] = 0;
    f->dhat = 1e-4;
    f->material = ABUT_FIXED_COROTATED;
    const double X[12] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    fixture_tet(f, X);
    fixture_move(f, 0, 1, -0.5, 0.5, (double[]){ 0, 0, 0 }, (double[]){ 0, 0, 0 });
    world_open(w, f, NULL);
    get(w, "node/v")[7] = amplitude;
    double mu, lambda;
    abut_lame(f->young, 0.4, &mu, &lambda);
    return sqrt((lambda + 2 * mu) / 6 / w->model.mass[2]);
}

static double oscillator(world *w, int32_t scheme, double h, double amplitude, double damp_mass, double damp_stiffness)
{
    return oscillator_of(w, scheme, h, amplitude, damp_mass, damp_stiffness, 0, 0);
}

/* Oscillator x'' = -k x - c x' by the scheme as textbooks write it: one unknown. */
typedef struct twin {
    double x, v, a, x1, v1;
} twin;

static twin twin_step(twin q, int32_t scheme, int first, double h, double k, double c)
{
    twin n = { .x1 = q.x, .v1 = q.v };
    switch (scheme) {
    case ABUT_IMPLICIT_NEWMARK:
        n.a = -(k * (q.x + h * q.v + h * h / 4 * q.a) + c * (q.v + h / 2 * q.a)) / (1 + k * h * h / 4 + c * h / 2);
        n.x = q.x + h * q.v + h * h / 4 * (q.a + n.a);
        n.v = q.v + h / 2 * (q.a + n.a);
        return n;
    case ABUT_MIDPOINT:
        n.v = ((1 - k * h * h / 4 - c * h / 2) * q.v - k * h * q.x) / (1 + k * h * h / 4 + c * h / 2);
        n.x = q.x + h / 2 * (q.v + n.v);
        return n;
    case ABUT_BDF2:
        if (!first) {
            const double b = 2 * h / 3, xt = (4 * q.x - q.x1) / 3, vt = (4 * q.v - q.v1) / 3;
            n.v = (vt - b * k * xt) / (1 + b * b * k + b * c);
            n.x = xt + b * n.v;
            return n;
        }
        break;
    default: break;
    }
    n.v = (q.v - h * k * q.x) / (1 + h * h * k + h * c);
    n.x = q.x + h * n.v;
    return n;
}

TEST(an_oscillator_follows_the_textbook_recurrence_of_its_scheme)
{
    for (int32_t test = 0; test < 3 * LOW_SCHEMES; test++) {
        const int32_t scheme = test % LOW_SCHEMES;
        const double v0 = 1e-5, h = 0.01, mass = test < 2 * LOW_SCHEMES ? 0 : 6, stiffness = test < LOW_SCHEMES ? 0 : 4e-3;
        world w;
        const double omega = oscillator(&w, scheme, h, v0, mass, stiffness), scale = v0 / omega, k2 = omega * omega;
        twin q = { .v = v0, .a = -(mass + stiffness * k2) * v0 };
        for (int k = 0; k < 40; k++) {
            CHECK(!world_run(&w, 1));
            q = twin_step(q, scheme, k == 0, h, k2, mass + stiffness * k2);
            CHECK_NEAR(get(&w, "node/x")[7] - 1, q.x, 1e-4 * scale);
            CHECK_NEAR(get(&w, "node/v")[7], q.v, 1e-4 * v0);
        }
        world_close(&w);
    }
}

/* A scheme without a case of its own would step as implicit Euler does.  Newmark is not that of 1/4 and 1/2, which equals the
 * midpoint rule here. */
TEST(no_two_schemes_step_the_same)
{
    double x[ABUT_ALL_SCHEMES];
    for (int32_t scheme = 0; scheme < ABUT_ALL_SCHEMES; scheme++) {
        world w;
        const double v0 = 1e-5, omega = oscillator_of(&w, scheme, 0.01, v0, 0, 0, 0.3025, 0.6);
        CHECK(!world_run(&w, 10));
        x[scheme] = (get(&w, "node/x")[7] - 1) * omega / v0;
        world_close(&w);
        for (int other = 0; other < scheme; other++) CHECK(fabs(x[other] - x[scheme]) > 1e-4);
    }
}

TEST(newmark_with_other_parameters_follows_its_recurrence_and_damps_as_gamma_says)
{
    static const double BETA[] = { 0.25, 0.3025, 0.5, 0.35, 1 }, GAMMA[] = { 0.5, 0.6, 1, 0.7, 1 };
    for (int test = 0; test < 10; test++) {
        const double v0 = 1e-5, h = 0.01, beta = BETA[test % 5], gamma = GAMMA[test % 5], mass = test < 5 ? 0 : 6,
                     stiffness = test < 5 ? 0 : 4e-3;
        world w;
        const double omega = oscillator_of(&w, ABUT_IMPLICIT_NEWMARK, h, v0, mass, stiffness, beta, gamma);
        const double k = omega * omega, c = mass + stiffness * k;
        double x = 0, v = v0, a = -c * v0, e0 = 0.5 * v0 * v0;
        for (int n = 0; n < 40; n++) {
            CHECK(!world_run(&w, 1));
            const double xt = x + h * v + h * h * (0.5 - beta) * a, vt = v + h * (1 - gamma) * a;
            a = -(k * xt + c * vt) / (1 + k * beta * h * h + c * gamma * h);
            x = xt + beta * h * h * a, v = vt + gamma * h * a;
            CHECK_NEAR(get(&w, "node/x")[7] - 1, x, 1e-4 * v0 / omega);
            CHECK_NEAR(get(&w, "node/v")[7], v, 1e-4 * v0);
        }
        if (test < 5) CHECK(gamma > 0.5 ? 0.5 * (v * v + k * x * x) < 0.9 * e0 : fabs(0.5 * (v * v + k * x * x) / e0 - 1) < 1e-9);
        world_close(&w);
    }
}

/* a constant acceleration is exact for every beta and gamma */
TEST(newmark_with_other_parameters_falls_exactly)
{
    fixture *f = fixture_new();
    f->scheme = ABUT_IMPLICIT_NEWMARK;
    f->newmark[0] = 0.3025, f->newmark[1] = 0.6;
    fixture_box(f, 0, 5, 0, 1, 1, 1, 1, 1, 1, 0);
    world w;
    world_open(&w, f, NULL);
    CHECK(!world_run(&w, 10));
    CHECK_NEAR(mean(&w, "node/x", 1, 0) - 5.5, -50 * 9.81 * 1e-4, 1e-12);
    CHECK_NEAR(mean(&w, "node/v", 1, 0), -0.981, 1e-11);
    world_close(&w);
}

/* x(t) of x'' = -omega^2 x - c x', x = 0 and x' = v0 at first, while it swings (c < 2 omega) */
static double damped(double omega, double c, double v0, double t)
{
    const double w = sqrt(omega * omega - c * c / 4);
    return v0 / w * exp(-c * t / 2) * sin(w * t);
}

TEST(a_damped_oscillator_converges_to_the_closed_form_with_the_order_of_its_scheme)
{
    for (int32_t test = 0; test < 3 * LOW_SCHEMES; test++) {
        const int32_t scheme = test % LOW_SCHEMES;
        const double v0 = 1e-5, t_end = 0.24, mass = test < 2 * LOW_SCHEMES ? 6 : 0, stiffness = test < LOW_SCHEMES ? 0 : 4e-3;
        double off[2];
        for (int fine = 0; fine < 2; fine++) {
            const int n = (scheme == ABUT_IMPLICIT_EULER ? 240 : 48) << fine;
            world w;
            const double omega = oscillator(&w, scheme, t_end / n, v0, mass, stiffness), c = mass + stiffness * omega * omega;
            CHECK(!world_run(&w, n));
            off[fine] = fabs(get(&w, "node/x")[7] - 1 - damped(omega, c, v0, t_end)) / (v0 / omega);
            world_close(&w);
        }
        printf("# %s, a_M %g, b_K %g: error %.3g, %.3g of the amplitude, order %.3f\n", NAME[scheme], mass, stiffness, off[0],
               off[1], log2(off[0] / off[1]));
        CHECK_NEAR(log2(off[0] / off[1]), scheme == ABUT_IMPLICIT_EULER ? 1 : 2, 0.12);
        CHECK(off[1] < 0.05);
    }
}

TEST(newmark_and_midpoint_keep_energy_and_euler_loses_what_it_must)
{
    for (int32_t scheme = 0; scheme < LOW_SCHEMES; scheme++) {
        const double v0 = 1e-5, h = 0.02;
        const int n = 100;
        world w;
        const double omega = oscillator(&w, scheme, h, v0, 0, 0), m = w.model.mass[2], e0 = 0.5 * m * v0 * v0;
        CHECK(!world_run(&w, n));
        const double x = get(&w, "node/x")[7] - 1, v = get(&w, "node/v")[7];
        const double e = 0.5 * m * (v * v + omega * omega * x * x) / e0, left = pow(1 + h * h * omega * omega, -n);
        if (scheme == ABUT_IMPLICIT_EULER) CHECK_NEAR(e / left, 1, 1e-3);
        else if (scheme == ABUT_BDF2) CHECK(e < 0.9 && e > 1e3 * left);
        else CHECK_NEAR(e, 1, 1e-4);
        world_close(&w);
    }
}

/* ---- midpoint and Newmark where they resolve nothing ---- */

static double energy_of(world *w)
{
    double psi = 0;
    CHECK(!abut_objective_potential(&w->st.solver.prob, get(w, "node/x"), &psi, &w->st.solver.scratch, NULL));
    return abut_kinetic_energy(&(abut_mass){ .model = &w->model }, get(w, "node/v")) + psi;
}

/* A cube in flight that turns by `angle` in every step; a wave crosses it many times meanwhile. */
static void spinning_by(world *w, int32_t scheme, double beta, double gamma, double angle, double spin)
{
    fixture *f = fixture_new();
    f->scheme = scheme;
    f->newmark[0] = beta, f->newmark[1] = gamma;
    f->tol = 1e-8;
    f->h = angle / spin;
    f->young = 4e5;
    f->gravity[1] = 0;
    fixture_box(f, 0, 1, 0, 0.3, 0.3, 0.3, 2, 2, 2, 0);
    world_open(w, f, NULL);
    double *v = get(w, "node/v");
    for (int i = 0; i < 27; i++) {
        v[3 * i] = -spin * (w->model.X[3 * i + 1] - 1.15);
        v[3 * i + 1] = spin * (w->model.X[3 * i] - 0.15);
    }
}

static void spinning(world *w, int32_t scheme, double angle, double spin) { spinning_by(w, scheme, 0, 0, angle, spin); }

/* m |a|^2 */
static double square_of(const world *w, const double *a)
{
    return 2 * abut_kinetic_energy(&(abut_mass){ .model = &w->model }, a);
}

/* A body in free flight: what the stepper calls the gain of a step is that of its energy.  Of Newmark with a larger beta it is
 * that of K + Psi + h^2/2 (beta - gamma/2) a.M a, and what gamma damps. */
TEST(the_gain_of_a_step_is_what_the_energy_of_a_free_body_gains)
{
    static const struct { int32_t scheme; double beta, gamma; } of[] = {
        { ABUT_MIDPOINT, 0, 0 }, { ABUT_IMPLICIT_NEWMARK, 0, 0 }, { ABUT_IMPLICIT_NEWMARK, 0.3, 0.6 },
        { ABUT_IMPLICIT_NEWMARK, 0.4, 0.5 }, { ABUT_IMPLICIT_NEWMARK, 0.4, 0.6 } };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const double beta = of[i].beta > 0 ? of[i].beta : 0.25, gamma = of[i].beta > 0 ? of[i].gamma : 0.5;
        int gains = 0;
        world w;
        spinning_by(&w, of[i].scheme, of[i].beta, of[i].gamma, 0.12, 22);
        const double h = w.model.h[0], more = beta - gamma / 2;
        CHECK(!world_run(&w, 1));
        for (int k = 0; k < 40; k++) {
            double was[81] = { 0 }, change[81] = { 0 };
            const int newmark = of[i].scheme == ABUT_IMPLICIT_NEWMARK;
            if (newmark) memcpy(was, get(&w, "node/a"), sizeof was);
            abut_arrays_remove(&w.frame, "midpoint/gain");
            abut_arrays_remove(&w.frame, "midpoint/damped-steps");
            const double before = energy_of(&w) + h * h / 2 * more * square_of(&w, was);
            CHECK(!world_run(&w, 1));
            if (newmark) memcpy(change, get(&w, "node/a"), sizeof change);
            double gain = energy_of(&w) + h * h / 2 * more * square_of(&w, change) - before;
            for (int j = 0; j < 81; j++) change[j] -= was[j];
            gain += h * h * more * (gamma - 0.5) * square_of(&w, change);
            if (w.rep.damped) continue;     /* above a hundredth */
            CHECK_NEAR(w.st.damping.gain, fmax(0, gain), 1e-6 * before);
            gains += gain > 1e-4 * before;
        }
        printf("# scheme %d, beta %g, gamma %g: %d steps gain\n", of[i].scheme, beta, gamma, gains);
        CHECK(gains > 0);
        world_close(&w);
    }
}

static const int32_t REBOUNDS[] = { ABUT_MIDPOINT, ABUT_IMPLICIT_NEWMARK };

TEST(a_body_that_turns_far_in_a_step_never_gains_more_than_a_hundredth)
{
    for (int i = 0; i < 2; i++) {
        const int n = 60;
        int damped = 0;
        double most = 0, least = INFINITY;
        world w;
        spinning(&w, REBOUNDS[i], 0.65, 22);
        const double start = energy_of(&w);
        for (int k = 0; k < n; k++) {
            const double before = energy_of(&w);
            CHECK(!world_run(&w, 1));
            damped += w.rep.damped;
            most = fmax(most, energy_of(&w) / before);
            least = fmin(least, w.rep.min_jacobian);
        }
        printf("# %s: a step ends with up to %.3g of the energy of its start, the last with %.3g of the first, J >= %.3g, %d of "
               "%d steps damped\n", NAME[REBOUNDS[i]], most, energy_of(&w) / start, least, damped, n);
        CHECK(most < 1.011 && energy_of(&w) < 0.5 * start && least > 0.9 && damped > 0);
        world_close(&w);
    }
}

TEST(a_run_that_starts_anew_at_any_frame_is_damped_in_the_same_steps)
{
    for (int i = 0; i < 2; i++) {
        int damped = 0;
        world one, two;
        spinning(&one, REBOUNDS[i], 0.65, 22);
        spinning(&two, REBOUNDS[i], 0.65, 22);
        for (int k = 0; k < 12; k++) {
            CHECK(!world_run(&one, 1));
            world_forget(&two);
            CHECK(!world_run(&two, 1));
            CHECK(one.rep.damped == two.rep.damped);
            damped += one.rep.damped;
            CHECK(same_frames(&one.frame, &two.frame));
        }
        CHECK(damped > 0);
        world_close(&one);
        world_close(&two);
    }
}

TEST(a_body_that_is_resolved_is_never_damped_and_keeps_its_energy)
{
    for (int i = 0; i < 2; i++) {
        world w;
        spinning(&w, REBOUNDS[i], 0.02, 22);
        const double before = energy_of(&w);
        for (int k = 0; k < 200; k++) {
            CHECK(!world_run(&w, 1));
            CHECK(w.rep.damped == 0);
        }
        CHECK_NEAR(energy_of(&w) / before, 1, 1e-3);
        CHECK(!abut_arrays_find(&w.frame, "midpoint/damped-steps"));
        world_close(&w);
    }
}

/* ---- order ---- */

enum { NB = 8 };

static fixture *shaken(double h, int32_t scheme)
{
    fixture *f = fixture_new();
    f->scheme = scheme;
    f->h = h;
    f->tol = 1e-9;
    f->young = 2e4;
    f->gravity[1] = -1;
    fixture_box(f, 0, 1, 0, 0.5, 0.5, 0.5, 1, 1, 1, 0);
    return f;
}

/* stretched along x and turning about z, at rest shape */
static void shake(const abut_model *m, double *v)
{
    for (int32_t i = 0; i < NB; i++) {
        const double *X = m->X + 3 * i;
        v[3 * i] = 0.4 * (X[0] - 0.25) - 0.5 * (X[1] - 1.25);
        v[3 * i + 1] = 0.5 * (X[0] - 0.25);
        v[3 * i + 2] = 0.2 * (X[2] - 0.25);
    }
}

static void rates(const abut_model *m, const abut_elastic *el, const double *s, double *ds, abut_arena *scratch)
{
    double g[3 * NB] = { 0 };
    CHECK(!elastic_gradient(el, s, 1, g, scratch, NULL));
    for (int i = 0; i < 3 * NB; i++) {
        ds[i] = s[3 * NB + i];
        ds[3 * NB + i] = m->gravity[i % 3] - g[i] / m->mass[i / 3];
    }
}

/* classical Runge-Kutta of order 4 with tiny steps: what the schemes must converge to */
static void truth(const world *w, double t_end, double *s)
{
    abut_elastic el;
    abut_arena scratch = { 0 };
    CHECK(!abut_elastic_init(&el, &w->model, NULL));
    const int n = 1000;
    const double h = t_end / n;
    for (int k = 0; k < n; k++) {
        double d[4][6 * NB], at[6 * NB];
        rates(&w->model, &el, s, d[0], &scratch);
        for (int stage = 1; stage < 4; stage++) {
            const double c = stage == 3 ? h : h / 2;
            for (int i = 0; i < 6 * NB; i++) at[i] = s[i] + c * d[stage - 1][i];
            rates(&w->model, &el, at, d[stage], &scratch);
        }
        for (int i = 0; i < 6 * NB; i++) s[i] += h / 6 * (d[0][i] + 2 * d[1][i] + 2 * d[2][i] + d[3][i]);
    }
    abut_elastic_clear(&el);
    abut_arena_clear(&scratch);
}

static double error_of(int32_t scheme, int n)
{
    const double t_end = 0.16;
    world w;
    world_open(&w, shaken(t_end / n, scheme), NULL);
    shake(&w.model, get(&w, "node/v"));
    double s[6 * NB], worst = 0;
    memcpy(s, get(&w, "node/x"), 3 * NB * sizeof *s);
    memcpy(s + 3 * NB, get(&w, "node/v"), 3 * NB * sizeof *s);
    truth(&w, t_end, s);
    CHECK(!world_run(&w, n));
    for (int i = 0; i < 3 * NB; i++) worst = fmax(worst, fabs(get(&w, "node/x")[i] - s[i]));
    world_close(&w);
    return worst;
}

TEST(euler_converges_with_order_one_and_the_others_with_two)
{
    for (int32_t scheme = 0; scheme < LOW_SCHEMES; scheme++) {
        const double coarse = error_of(scheme, 64), fine = error_of(scheme, 128), order = log2(coarse / fine);
        const double want = scheme == ABUT_IMPLICIT_EULER ? 1 : 2;
        printf("# %s: error %.3g m, %.3g m, order %.3f\n", NAME[scheme], coarse, fine, order);
        CHECK_NEAR(order, want, 0.12);
    }
}

/* ---- BDF ---- */

static int bdf(int order) { return abut_integrator_bdf(order - 1); }

/* Three linear oscillators of the formulas alone, x'' = -omega^2 x: a step of the scheme has a closed form.  From an exact past
 * to t = 1; the distance from the exact state, in the plane of x and v/omega, where it does not swing. */
static double linear_error(int scheme, int n)
{
    static const double omega[3] = { 3, 4, 5 };
    const double h = 1.0 / n;
    double x[ABUT_PAST + 1][3], v[ABUT_PAST + 1][3], xhat[3], next[3], speed[3], none[3] = { 0 }, off = 0;
    const uint8_t held[1] = { 0 };
    const abut_model m = { .nv = 1, .h = &h };
    for (int k = 0; k <= ABUT_PAST; k++)
        for (int i = 0; i < 3; i++) x[k][i] = sin(omega[i] * -k * h), v[k][i] = omega[i] * cos(omega[i] * -k * h);
    for (int step = 0; step < n; step++) {
        double *const past_x[] = { x[1], x[2], x[3], x[4], x[5] }, *const past_v[] = { v[1], v[2], v[3], v[4], v[5] };
        const abut_start at = { x[0], v[0], none, NULL, past_x, past_v };
        abut_integrator_predict(&m, scheme, &at, xhat);
        const double s = abut_integrator_step_weight(NULL, scheme) * h * h;
        for (int i = 0; i < 3; i++) next[i] = xhat[i] / (1 + s * omega[i] * omega[i]);
        abut_integrator_finish(&m, scheme, &at, held, xhat, next, speed, NULL);
        memmove(x[1], x[0], ABUT_PAST * sizeof *x), memmove(v[1], v[0], ABUT_PAST * sizeof *v);
        memcpy(x[0], next, sizeof next), memcpy(v[0], speed, sizeof speed);
    }
    for (int i = 0; i < 3; i++) off += pow(x[0][i] - sin(omega[i]), 2) + pow(v[0][i] / omega[i] - cos(omega[i]), 2);
    return sqrt(off);
}

/* Rows of the table without numbers of their own have one step and closed forms above. */
static int is_multistep(int scheme) { return abut_schemes[scheme].form <= ABUT_FORM_BDF2; }

TEST(t14_every_multistep_scheme_has_the_order_that_its_row_says)
{
    static const int steps[] = { 0, 4000, 1000, 400, 300, 200, 100 };
    for (int scheme = 0; scheme < ABUT_ALL_SCHEMES; scheme++) {
        if (!is_multistep(scheme)) continue;
        const int order = abut_schemes[scheme].order;
        const double coarse = linear_error(scheme, steps[order]), fine = linear_error(scheme, 2 * steps[order]);
        printf("# %s: error %.3g, %.3g, order %.3f\n", abut_scheme_names[scheme], coarse, fine, log2(coarse / fine));
        CHECK_NEAR(log2(coarse / fine), order, 0.1);
    }
}

TEST(the_step_after_the_first_few_is_of_the_family_of_bdf)
{
    for (int past = 0; past <= ABUT_PAST; past++) CHECK(abut_schemes[abut_integrator_bdf(past)].order == past + 1);
    CHECK(abut_integrator_bdf(0) == ABUT_IMPLICIT_EULER && abut_scheme_is(ABUT_FIRST_SCHEME, ABUT_SCHEME_PLAIN));
}

/* How a damped oscillator, x'' = -omega^2 x - 2 d omega x', has grown after many steps with omega h = z. */
static double growth(int scheme, double d, double z)
{
    const double h = 1, b = sqrt(abut_integrator_step_weight(NULL, scheme));
    double x[ABUT_PAST + 1][3] = { { 0 } }, v[ABUT_PAST + 1][3] = { { 0 } }, none[3] = { 0 };
    double xhat[3], still[3], next[3], speed[3];
    const uint8_t held[1] = { 0 };
    const abut_model m = { .nv = 1, .h = &h };
    double early = 0, late = 0;
    v[0][0] = z;
    for (int step = 0; step < 1200; step++) {
        double *const past_x[] = { x[1], x[2], x[3], x[4], x[5] }, *const past_v[] = { v[1], v[2], v[3], v[4], v[5] };
        const abut_start at = { x[0], v[0], none, NULL, past_x, past_v };
        abut_integrator_predict(&m, scheme, &at, xhat);
        abut_integrator_still(&m, scheme, &at, held, none, still);
        for (int i = 0; i < 3; i++) next[i] = (xhat[i] + 2 * d * z * b * still[i]) / (1 + b * b * z * z + 2 * d * z * b);
        abut_integrator_finish(&m, scheme, &at, held, xhat, next, speed, NULL);
        memmove(x[1], x[0], ABUT_PAST * sizeof *x), memmove(v[1], v[0], ABUT_PAST * sizeof *v);
        memcpy(x[0], next, sizeof next), memcpy(v[0], speed, sizeof speed);
        const double size = hypot(x[0][0], v[0][0] / z);
        if (step >= 300 && step < 600) early = fmax(early, size);
        if (step >= 900) late = fmax(late, size);
    }
    return late / (early + 1e-280);
}

TEST(oscillations_grow_where_the_documents_say_that_they_do_and_nowhere_else)
{
    /* cosines of 86.0, 73.3, 51.8, 17.8 degrees */
    static const double bound[] = { [3] = 0.0693, [4] = 0.2867, [5] = 0.618, [6] = 0.952 };
    for (int scheme = 0; scheme < ABUT_ALL_SCHEMES; scheme++) {
        if (!is_multistep(scheme)) continue;
        const int order = abut_schemes[scheme].order, damps = abut_scheme_is(scheme, ABUT_SCHEME_DAMPS);
        double below = 0, above = 0;
        for (double z = 0.02; z < 40; z *= 1.02) {
            below = fmax(below, growth(scheme, damps ? 0 : 0.97 * bound[order], z));
            above = fmax(above, growth(scheme, damps ? 0 : fmin(1, 1.02 * bound[order]), z));
        }
        printf("# %s: times %.3g, %.3g in 600 steps\n", abut_scheme_names[scheme], below, above);
        CHECK(above < 1);
        CHECK(abut_scheme_is(scheme, ABUT_SCHEME_A_STABLE) == damps);
        if (!damps) CHECK(below > 1.1);
    }
}

/* A past in the frame, as exact as the start itself: the box is shaken some steps earlier, and s is the present state then. */
static void give_past(world *w, int states, double h, double *s)
{
    for (int k = states; k > 0; k--) {
        char name[24];
        for (int v = 0; v < 2; v++) {
            snprintf(name, sizeof name, "node/%c%d", v ? 'v' : 'x', k);
            double *to = abut_frame_put(&w->frame, name, NB, &w->err);
            if (!to) printf("# %s\n", w->err.msg), abort();
            memcpy(to, s + 3 * NB * v, 3 * NB * sizeof *s);
        }
        truth(w, h, s);
    }
    memcpy(get(w, "node/x"), s, 3 * NB * sizeof *s);
    memcpy(get(w, "node/v"), s + 3 * NB, 3 * NB * sizeof *s);
}

static double error_of_bdf(int order, int n, int with_past)
{
    enum { PARTS = 5 };
    const double t_end = 0.4, h = t_end / n;
    world w;
    fixture *f = shaken(h, bdf(order));
    f->tol = 1e-11;
    world_open(&w, f, NULL);
    shake(&w.model, get(&w, "node/v"));
    double s[6 * NB], off = 0;
    memcpy(s, get(&w, "node/x"), 3 * NB * sizeof *s);
    memcpy(s + 3 * NB, get(&w, "node/v"), 3 * NB * sizeof *s);
    if (with_past) give_past(&w, order - 1, h, s);
    for (int part = 0; part < PARTS; part++) {
        truth(&w, t_end / PARTS, s);
        CHECK(!world_run(&w, n / PARTS));
        for (int i = 0; i < 3 * NB; i++) off += pow(get(&w, "node/x")[i] - s[i], 2);
    }
    world_close(&w);
    return sqrt(off);
}

TEST(t14_a_body_moves_with_the_order_of_bdf_from_a_past_that_is_exact)
{
    static const int steps[] = { [2] = 200, [3] = 100, [4] = 200, [5] = 135, [6] = 135 };
    for (int order = 2; order <= 6; order++) {
        const double coarse = error_of_bdf(order, steps[order], 1), fine = error_of_bdf(order, 2 * steps[order], 1);
        printf("# BDF%d: error %.3g m, %.3g m, order %.3f\n", order, coarse, fine, log2(coarse / fine));
        CHECK_NEAR(log2(coarse / fine), order, order < 6 ? 0.1 : 0.25);     /* beyond, rounding */
    }
}

TEST(bdf_that_starts_by_lower_orders_keeps_order_two)
{
    for (int order = 3; order <= 6; order++) {
        const int n = order == 3 ? 400 : 200;
        const double coarse = error_of_bdf(order, n, 0), fine = error_of_bdf(order, 2 * n, 0);
        printf("# BDF%d: error %.3g m, %.3g m, order %.3f\n", order, coarse, fine, log2(coarse / fine));
        CHECK_NEAR(log2(coarse / fine), 2, 0.25);
    }
}

TEST(a_past_too_short_for_an_order_is_used_by_the_order_that_it_is_enough_for)
{
    double data[3] = { 0 };
    for (int32_t scheme = ABUT_BDF3; scheme <= ABUT_BDF6; scheme++) {
        const abut_model m = { .scheme = &scheme };
        const double *x[ABUT_PAST] = { NULL }, *v[ABUT_PAST];
        for (int have = 0; have <= ABUT_PAST; have++) {
            if (have) x[have - 1] = data;
            const abut_frame f = { .x1 = x[0], .v1 = x[0], .x2 = x[1], .v2 = x[1], .x3 = x[2], .v3 = x[2], .x4 = x[3],
                                   .v4 = x[3], .x5 = x[4], .v5 = x[4] };
            const int reads = abut_schemes[scheme].past, used = have < reads ? have : reads;
            const double *px[ABUT_PAST];
            CHECK(abut_integrator_past_of(&f, px, v) == have);
            CHECK(abut_integrator_scheme(&m, &f) == abut_integrator_bdf(used));
        }
        CHECK(abut_schemes[scheme].past == scheme - ABUT_BDF3 + 2);
    }
}
