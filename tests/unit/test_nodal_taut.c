/* Taut rods that bend easily under --solver nodal: without contact the steps of the barrier's solver, the closed form of a
 * string, the capstan; and failed steps with their reports. */
#include "run_made.h"

#include "energy/element_energy.h"
#include "energy/term.h"
#include "solve/nodal/nodal.h"

/* 0.5 m of nylon along y, whose node 0 a force of 1 N pulls down; the last one is fixed. */
static const char *hanging(int cells, const char *gravity, const char *bending, const char *more)
{
    static char text[1200];
    snprintf(text, sizeof text,
             "abut: 1\ntime: {step: 0.01 s}\ngravity: [0, %s, 0]\ncontact: off\ntolerance: 1e-9 m/s\n"
             "materials: {nylon: {density: 1000, young: 1e7, poisson: 0.3, bending-young: %s}}\n"
             "objects:\n  rope: {generate: {rod: {length: 0.5, cells: %d}}, rod: {radius: 2 mm},\n"
             "         rotate: {axis: [0, 0, 1], angle: 90 deg}}\n%s"
             "motion:\n  - {select: {object: rope, nodes: [0]}, force: [0, -1, 0]}\n"
             "  - {select: {object: rope, nodes: [%d]}, fix: true}\n", gravity, bending, cells, more, cells);
    return text;
}

static double furthest(const run *a, const run *b)
{
    double most = 0;
    for (int32_t i = 0; i < 3 * a->scene.m.nv; i++) most = fmax(most, fabs(a->f.x[i] - b->f.x[i]));
    return most;
}

/* Adds velocities across the rod: a half wave along it, and a zigzag. */
static void shake(run *r, double half_wave, double zigzag)
{
    double *v = (double *)r->f.v;   /* of r->now */
    const int32_t n = r->scene.m.nv - 1;
    for (int32_t i = 0; i < n; i++) v[3 * i + 2] += half_wave * sin(acos(-1) * i / n) + (i % 2 ? zigzag : -zigzag);
}

TEST(without_contact_taut_rods_take_the_steps_of_newton)
{
    static const int cells[] = { 1, 2, 5, 20, 50 };
    abut_solve_options o = abut_solve_defaults;
    o.hard.repair = ABUT_REPAIR_NONE;
    for (size_t c = 0; c < sizeof cells / sizeof *cells; c++) {
        const char *text = hanging(cells[c], "-9.81", "1e4", "");
        run hard, newton;
        double off = 0, energy = 0, balance = 0;
        open_run_of(&hard, text, "nodal", &o);
        open_run_of(&newton, text, "newton", &o);
        for (int k = 0; k < 40; k++) {
            if (k == 20) shake(&hard, 0.03, 0.003), shake(&newton, 0.03, 0.003);
            steps(&hard, 1);
            steps(&newton, 1);
            off = fmax(off, furthest(&hard, &newton));
            energy = fmax(energy, fabs(hard.rep.elastic / newton.rep.elastic - 1));
            balance = fmax(balance, hard.rep.nodal.balance_residual);
        }
        printf("# %d segments: %.3g m off, elastic energy by %.3g, balance %.3g\n", cells[c], off, energy, balance);
        CHECK(off < 1e-8);
        CHECK(energy < 1e-5);
        CHECK(balance < 1e-4);
        close_run(&hard);
        close_run(&newton);
    }
}

/* n segments of length l under the tension T, nodes of mass m, half of it at the end that is free across: from that end on, node
 * j has z = q cos(k pi j / (2 n)), k odd, omega^2 = 4 T / (m l) sin^2(k pi / (4 n)), and implicit Euler gives
 * (1 + (h omega)^2) v' = v - h omega^2 q, q' = q + h v'. */
TEST(small_waves_of_a_taut_string_are_those_of_its_closed_form)
{
    enum { N = 50 };
    static const int k_of[] = { 1, 5, 25, 61, 99 };
    for (size_t c = 0; c < sizeof k_of / sizeof *k_of; c++) {
        run r;
        const double pi = acos(-1);
        double q = 0, v = 1e-6, off = 0, size = 0;
        open_run(&r, hanging(N, "0", "1e-3", ""));
        steps(&r, 60);
        const double h = r.scene.m.h[0], l = fabs(r.f.x[3 * N + 1] - r.f.x[1]) / N, half = sin(k_of[c] * pi / (4 * N));
        const double omega2 = 4 / (r.scene.m.mass[1] * l) * half * half;
        for (int j = 0; j < N; j++) ((double *)r.f.v)[3 * j + 2] = v * cos(k_of[c] * pi * j / (2. * N));
        CHECK_NEAR(r.scene.m.mass[0] / r.scene.m.mass[1], 0.5, 1e-12);
        for (int k = 0; k < 15; k++) {
            steps(&r, 1);
            v = (v - h * omega2 * q) / (1 + h * h * omega2);
            q += h * v;
            for (int j = 0; j <= N; j++)
                off = fmax(off, fabs(r.f.x[3 * j + 2] - q * cos(k_of[c] * pi * j / (2. * N))));
            size = fmax(size, fabs(q));
        }
        printf("# k = %d, omega h = %.3g: largest %.3g m, off by %.3g of it\n", k_of[c], h * sqrt(omega2), size, off / size);
        CHECK(off < 1e-5 * size);
        close_run(&r);
    }
}

/* ---- the capstan ---- */

enum { FREE = 16, ARC = 68, ALL = ARC + 2 * FREE, PART = 8 };

/* A rope of 100 segments over half a cylinder, 1 N at one end. */
static void capstan(char *text, size_t size, double force)
{
    const double pi = acos(-1), r = 0.1045, l = pi * r / ARC;
    size_t at = (size_t)snprintf(text, size,
        "abut: 1\nsolver: nodal\ntime: {step: 4 ms}\ngravity: [0, 0, 0]\ndamping: {mass: 20}\n"
        "contact: {dhat: 1 mm, friction: {mu: 0.3}}\nnodal: {iterations: 400, sweeps: 10, tolerance: 1e-6 mm}\n"
        "materials: {rope: {density: 1000, young: 50 MPa, bending-young: 0.05 MPa, poisson: 0.3}}\n"
        "objects:\n  rope:\n    material: rope\n    rod: {radius: 2 mm}\n    contact-thickness: 4 mm\n"
        "    generate: {explicit: {points: [");
    for (int k = 0; k <= ALL; k++) {
        const double a = pi - pi * (k - FREE) / ARC, x = k < FREE ? -r : k > FREE + ARC ? r : r * cos(a);
        const double y = k < FREE ? l * (k - FREE) : k > FREE + ARC ? l * (FREE + ARC - k) : r * sin(a);
        at += (size_t)snprintf(text + at, size - at, "%s[%.9g, %.9g, 0]", k ? ", " : "", x, y);
    }
    at += (size_t)snprintf(text + at, size - at, "], segments: [");
    for (int k = 0; k < ALL; k++) at += (size_t)snprintf(text + at, size - at, "%s[%d, %d]", k ? ", " : "", k, k + 1);
    at += (size_t)snprintf(text + at, size - at,
        "]}}\n  pole: {generate: {revolution: {profile: [[0.1, -0.05], [0.1, 0.05]], cells: [90, 1]}}, obstacle: true,\n"
        "         rotate: {axis: [1, 0, 0], angle: 90 deg}, contact-thickness: 4 mm}\n"
        "motion:\n  - {select: {object: rope, nodes: [0]}, force: [0, -1, 0]}\n"
        "  - {select: {object: rope, nodes: [%d]}, force: [0, -%g, 0]}\n", ALL, force);
    CHECK(at < size);
}

/* N, of segment k. */
static double tension(const run *r, int k)
{
    const double *x = r->f.x + 3 * k;
    const double l = sqrt(pow(x[3] - x[0], 2) + pow(x[4] - x[1], 2) + pow(x[5] - x[2], 2));
    return 50e6 * acos(-1) * 4e-6 * (l / r->scene.m.rod_length[k] - 1);
}

TEST(a_capstan_of_100_segments_holds_below_exp_mu_pi_and_slides_above_it)
{
    static const double force[] = { 2.3, 3 };       /* N; exp(0.3 pi) = 2.566 */
    static char text[16000];
    for (int c = 0; c < 2; c++) {
        run r;
        double most = 0, local = 0, turned = 0;
        capstan(text, sizeof text, force[c]);
        open_run(&r, text);
        steps(&r, c ? 6 : 25);
        for (int k = 0; k < ALL; k++) most = fmax(most, tension(&r, k));
        for (int32_t i = 0; i <= ALL; i++) turned = fmax(turned, fabs(r.f.v[3 * i]) + fabs(r.f.v[3 * i + 1]));
        /* ln(T'/T) over mu a between segments a part of the arc apart; what holds them is on their halves and between */
        for (int k = FREE; k + PART <= FREE + ARC; k++)
            local = fmax(local, fabs(log(tension(&r, k + PART) / tension(&r, k))) / (0.3 * acos(-1) * (PART + 1) / ARC));
        printf("# %g N: from %.6g to %.6g N, at most %.6g; moves at %.3g m/s; %.3g of Coulomb's law\n", force[c],
               tension(&r, 0), tension(&r, ALL - 1), most, turned, local);
        CHECK_NEAR(tension(&r, 0), 1, 1e-3);
        CHECK_NEAR(tension(&r, ALL - 1), force[c], 1e-3);
        if (c == 0) {
            CHECK(turned < 1e-3);
            CHECK(local > 0.9 && local < 1.02);
            CHECK(most < 1.01 * force[c]);
        } else {
            CHECK(turned > 0.1);
        }
        close_run(&r);
    }
}

/* ---- failed steps, and reports ---- */

/* J; the objective without contact of the step from r->next to r->now, with coordinate i moved by d. */
static double moved(abut_nodal *s, const run *r, int32_t i, double d)
{
    abut_arena scratch = { 0 };
    abut_energy e;
    abut_err err = { 0 };
    double *x = malloc(3 * (size_t)r->scene.m.nv * sizeof *x);
    memcpy(x, r->f.x, 3 * (size_t)r->scene.m.nv * sizeof *x);
    x[i] += d;
    const abut_pairs none = { 0 };
    const abut_at at = abut_objective_at(&s->objective, x, NULL, &none);
    CHECK(!abut_objective_energy(&s->objective, &at, &e, &scratch, &err));
    abut_arena_clear(&scratch);
    free(x);
    return e.sum;
}

TEST(the_balance_that_is_reported_is_what_differences_of_the_energy_say)
{
    /* one linearisation where a rod is hit across ends in no balance, twelve do */
    static const char *const more[] = { "nodal: {newton: 1}\n", "nodal: {newton: 12}\n" };
    for (int c = 0; c < 2; c++) {
        run r;
        abut_nodal s;
        double left = 0, size = 0;
        open_run(&r, hanging(5, "-9.81", "1e4", more[c]));
        steps(&r, 30);
        shake(&r, 5, 0);
        steps(&r, 1);
        const double h = r.scene.m.h[0];
        const abut_nodal_options o = abut_nodal_defaults();
        CHECK(!abut_nodal_init(&s, &r.scene.m, &o, &r.scene.err));
        CHECK(!abut_nodal_begin(&s, &r.next, (abut_instant){ .step = r.at.step - 1, .time = r.at.time - h }, &r.scene.err));
        for (int32_t i = 0; i < 15; i++) {      /* all but those of the last node, which is held */
            const double slope = (moved(&s, &r, i, 1e-7) - moved(&s, &r, i, -1e-7)) / 2e-7 / h, m = r.scene.m.mass[i / 3];
            const double inertia = m * (r.f.x[i] - s.objective.xhat[i]) / h;
            const double part[] = { inertia, slope - inertia, m * r.f.v[i], m * s.of.v0[i] };
            left = fmax(left, fabs(slope));
            for (int k = 0; k < 4; k++) size = fmax(size, fabs(part[k]));
        }
        const double said = r.rep.nodal.balance_residual;
        printf("# %s# %.6g N s of %.6g are left: %.6g, reported %.6g\n", more[c], left, size, left / size, said);
        CHECK_NEAR(said, left / size, 1e-6 * said + 1e-7);
        if (c == 0) CHECK(said > 1e-2);
        else CHECK(said < 1e-9);
        abut_nodal_clear(&s);
        close_run(&r);
    }
}

/* Half of k |x|^2, whose second derivatives are withheld. */
static double withheld(const void *own, int32_t element, const double *x, double *g, double *H)
{
    const double k = *(const double *)own;
    (void)element, (void)H;
    for (int d = 0; d < 3 && g; d++) g[d] = k * x[d];
    return k / 2 * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

TEST(a_step_that_leads_to_more_energy_is_refused_and_says_so)
{
    static const int32_t node[] = { 0 };
    static const double stiffness[] = { 0.3, 300 };     /* N/m, beside a mass of 1.3e-4 kg over h^2 and 1 N */
    for (int c = 0; c < 2; c++) {
        run r;
        const abut_element_energy pull = { "pull", 1, 1, node, withheld, &stiffness[c] };
        abut_term_ops ops;
        abut_own_term own[] = { { NULL, NULL }, { NULL, NULL } };
        abut_element_term(&pull, &ops, &own[0]);
        abut_solve_options o = abut_solve_defaults;
        o.hard.repair = ABUT_REPAIR_NONE;
        o.terms = own;
        open_run_of(&r, hanging(2, "0", "1e4", ""), "nodal", &o);
        shake(&r, 1, 0);
        ((double *)r.f.v)[2] = 1;
        const abut_status rc = advance_run(&r);
        printf("# %g N/m: status %d, rising %d, %d linearisations: %s\n", stiffness[c], rc, r.rep.nodal.rising,
               r.rep.nodal.linearisations, rc ? r.scene.err.msg : "taken");
        CHECK(r.rep.nodal.rising == c);
        CHECK(rc == (c ? ABUT_E_NUMERIC : ABUT_OK));
        CHECK(!c || strstr(r.scene.err.msg, "still leads to more energy"));
        close_run(&r);
    }
}
