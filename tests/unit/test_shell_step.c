/* Shells in time: hanging, pulled, in contact; every frame judged by its stretches and by exact arithmetic. */
#include "scene_world.h"

#include "base/par.h"
#include "energy/codim.h"
#include "energy/mass.h"
#include "energy/elastic.h"
#include "energy/membrane.h"
#include "term_calls.h"

/* The largest singular value over all shells, from the arrays alone. */
static double largest_stretch(const world *w, double *smallest)
{
    const abut_model *m = &w->model;
    const double *x = get(w, "node/x");
    double high = 0, low = INFINITY;
    for (int32_t t = 0; t < m->nsh; t++) {
        const int32_t *v = m->shell + 3 * t;
        const double *R = m->shell_rest + 4 * t, det = R[0] * R[3] - R[1] * R[2];
        double c[3] = { 0, 0, 0 };
        for (int i = 0; i < 3; i++) {
            const double a = x[3 * v[1] + i] - x[3 * v[0] + i], b = x[3 * v[2] + i] - x[3 * v[0] + i];
            const double p = (a * R[3] - b * R[2]) / det, q = (b * R[0] - a * R[1]) / det;
            c[0] += p * p, c[1] += p * q, c[2] += q * q;
        }
        const double mean = 0.5 * (c[0] + c[2]), off = hypot(0.5 * (c[0] - c[2]), c[1]);
        high = fmax(high, sqrt(mean + off));
        low = fmin(low, sqrt(fmax(mean - off, 0)));
    }
    if (smallest) *smallest = low;
    return high;
}

/* a sheet that hangs from two corners, 0.4 m, limited to `limit` */
static fixture *hanging(int n, double limit)
{
    fixture *f = fixture_new();
    f->young = 8e3, f->poisson = 0.243;
    f->material = ABUT_STVK;
    f->h = 0.04;
    f->tol = 1e-3;
    f->shell_thick = 0.318e-3;
    f->limit[2] = limit > 0 ? 1 : 0, f->limit[3] = limit;
    fixture_sheet(f, 0, 0, 0, 0.4, 0.4, n, n);
    fixture_pin(f, 0, (double[]){ 0, 0, 0 });
    fixture_pin(f, n, (double[]){ 0, 0, 0 });
    return f;
}

TEST(a_hanging_sheet_stays_below_its_limit)
{
    static const double limit[] = { 1.1, 1.01, 1.001 };
    for (int k = 0; k < 3; k++) {
        world w;
        int newton = 0;
        world_open(&w, hanging(6, limit[k]), NULL);
        for (int i = 0; i < 7; i++) {
            CHECK(!world_judged(&w, 1));
            CHECK(largest_stretch(&w, NULL) < limit[k]);
            newton += w.rep.newton;
        }
        printf("# limit %g: %d iterations, room %g, kappa %g\n", limit[k], newton, w.rep.stretch_room, w.rep.strain_kappa);
        world_close(&w);
    }
}

/* Swings a sheet 8 steps, every one judged, and counts iterations; x[3 nv] where it ends. */
static int swing(unsigned without, double tolerance, double *x)
{
    world w;
    int newton = 0;
    fixture *f = hanging(8, 1.01);
    f->tol = tolerance;
    world_open(&w, f, NULL);
    world_without(&w, without);
    for (int i = 0; i < 8; i++) {
        CHECK(!world_judged(&w, 1));
        CHECK(largest_stretch(&w, NULL) < 1.01);
        newton += w.rep.newton;
    }
    memcpy(x, get(&w, "node/x"), 3 * 81 * sizeof *x);
    world_close(&w);
    return newton;
}

TEST(steps_beyond_the_bounds_of_straight_ones_lead_to_the_same_minima_in_fewer_iterations)
{
    static double far[3 * 81], near[3 * 81];
    double apart = 0;
    (void)swing(0, 1e-7, far), (void)swing(ABUT_WITHOUT_BEYOND, 1e-7, near);
    for (int i = 0; i < 3 * 81; i++) apart = fmax(apart, fabs(far[i] - near[i]));
    const int few = swing(0, 1e-2, far), many = swing(ABUT_WITHOUT_BEYOND, 1e-2, near);
    printf("# swing of 8 steps: %d iterations, %d within the bounds of straight steps, minima %g m apart\n", few, many, apart);
    CHECK(apart < 1e-7);
    CHECK(5 * few < 4 * many);
}

/* all interior nodes off their places, rest edges with them */
static void jitter(fixture *f, int n, double by)
{
    for (int i = 1; i < n; i++)
        for (int k = 1; k < n; k++) {
            double *X = f->X + 3 * (i * (n + 1) + k);
            X[0] += by * sin(3 * i + 5 * k), X[2] += by * cos(7 * i - 2 * k);
        }
    for (int32_t t = 0; t < f->nshell; t++)
        for (int c = 0; c < 2; c++)
            for (int d = 0; d < 2; d++) {
                const int32_t *v = f->shell + 3 * t;
                f->shell_rest[4 * t + 2 * d + c] = f->X[3 * v[1 + c] + 2 * d] - f->X[3 * v[0] + 2 * d];
            }
}

TEST(uniform_stretch_of_an_irregular_sheet_is_in_balance)
{
    enum { N = 6 };
    fixture *f = fixture_new();
    world w;
    f->material = ABUT_STVK;
    f->young = 5e4, f->poisson = 0.3;
    f->limit[2] = 1, f->limit[3] = 1.1;
    fixture_sheet(f, 0, 0, 0, 0.4, 0.4, N, N);
    jitter(f, N, 0.01);
    world_open(&w, f, NULL);
    const abut_codim *t = abut_codim_of(&w.st.solver.prob.terms);
    double *x = malloc(3 * (size_t)f->nv * sizeof *x), *g = calloc(3 * (size_t)f->nv, sizeof *g), edge = 0, psi = NAN;
    const double s = 1.05, kappa = 1e3, mu = f->young / (2 * 1.3), lambda = f->young * 0.3 / (1 - 0.09);
    for (int32_t i = 0; i < f->nv; i++) {       /* stretched along x, turned about it */
        x[3 * i] = s * f->X[3 * i];
        x[3 * i + 1] = 0.6 * f->X[3 * i + 2];
        x[3 * i + 2] = 0.8 * f->X[3 * i + 2];
    }
    CHECK(!abut_codim_energy(t, x, ABUT_CODIM_ALL, kappa, &psi, &w.st.solver.scratch, NULL));
    CHECK(!abut_codim_gradient(t, x, ABUT_CODIM_ALL, kappa, 1, g, &w.st.solver.scratch, NULL));
    /* by hand: y = -1/2, e = (s^2 - 1)/2 */
    const double e = 0.5 * (s * s - 1), b = 0.25 * log(2), db = (log(2) + 0.5) / 0.1;
    const double density = (mu + 0.5 * lambda) * e * e + kappa * b, stress = (2 * mu + lambda) * e * s + kappa * db;
    CHECK_NEAR(psi, 0.16 * f->shell_thick * density, 1e-10 * psi);
    for (int i = 0; i <= N; i++)
        for (int k = 0; k <= N; k++) {
            const double *force = g + 3 * (i * (N + 1) + k);
            if (i == N) edge += force[0];
            for (int d = 0; d < 3 && i > 0 && i < N && k > 0 && k < N; d++) CHECK_NEAR(force[d], 0, 1e-12 * stress);
        }
    CHECK_NEAR(edge, 0.4 * f->shell_thick * stress, 1e-10 * edge);
    free(x), free(g);
    world_close(&w);
}

TEST(a_start_outside_the_limits_is_refused_by_name)
{
    world w;
    world_open(&w, hanging(4, 1.05), NULL);
    double *x = abut_arrays_find(&w.frame, "node/x")->data;
    x[3 * 24] += 0.01;      /* the far corner: its cell is 0.1 m wide */
    CHECK(world_run(&w, 1) == ABUT_E_GEOM);
    CHECK(!strcmp(w.err.msg, "frame 0: shell 30 of object 0 (nodes 18, 23, 24): largest stretch 1.05124922, "
                             "expected less than 1.05, at the start"));
    world_close(&w);
}

/* A frame with another stiffness of the stretch limits. */
static void set_strain_kappa(world *w, double kappa)
{
    double *at = abut_frame_put(&w->frame, "strain/kappa", 1, &w->err);
    CHECK(at != NULL);
    if (at) *at = kappa;
}

TEST(stiffness_doubles_while_a_shell_stays_close_to_its_limit)
{
    world w;
    world_open(&w, hanging(4, 1.02), NULL);
    set_strain_kappa(&w, 1e-3);     /* far too soft for its weight */
    for (int i = 0; i < 6; i++) {
        const double before = *get(&w, "strain/kappa");
        CHECK(!world_judged(&w, 1));
        const double now = *get(&w, "strain/kappa"), doublings = log2(now / before);
        CHECK(now >= before && now <= ABUT_STRAIN_KAPPA_MAX && doublings == floor(doublings));
        CHECK(largest_stretch(&w, NULL) < 1.02);
    }
    CHECK(*get(&w, "strain/kappa") > 1e-3);
    printf("# stiffness %g, room %g\n", *get(&w, "strain/kappa"), w.rep.stretch_room);
    world_close(&w);

    world_open(&w, hanging(4, 1.02), NULL);     /* stiff enough from the start: it stays */
    CHECK(!world_judged(&w, 3));
    CHECK(*get(&w, "strain/kappa") == ABUT_STRAIN_KAPPA_MIN);
    world_close(&w);
}

TEST(every_scheme_keeps_the_limits_and_restarts_with_the_same_bytes)
{
    for (int scheme = 0; scheme < LOW_SCHEMES; scheme++) {
        world w[2];
        for (int k = 0; k < 2; k++) {
            fixture *f = hanging(4, 1.03);
            f->scheme = scheme;
            f->damp_stiffness = 1e-3;
            world_open(&w[k], f, NULL);
            set_strain_kappa(&w[k], 1);
        }
        for (int i = 0; i < 4; i++) {
            CHECK(!world_judged(&w[0], 1));
            CHECK(largest_stretch(&w[0], NULL) < 1.03);
        }
        CHECK(!world_judged(&w[1], 2));
        world_forget(&w[1]);
        CHECK(!world_judged(&w[1], 2));
        CHECK(same_frames(&w[0].frame, &w[1].frame));
        for (int k = 0; k < 2; k++) world_close(&w[k]);
    }
}

/* the same of cloth, whose strains stay below bound; moduli that its weight is a match for, times `soft` */
static const double BOUND[3] = { 0.02, 0.03, 0.025 };

static fixture *hanging_cloth(int scheme, double soft)
{
    fixture *f = hanging(4, 0);
    f->scheme = scheme;
    f->membrane = ABUT_MEMBRANE_CLOTH;
    memcpy(f->strain, BOUND, sizeof BOUND);
    memcpy(f->fabric, (double[]){ soft * 3e4, soft * 2e4, soft * 5e3, soft * 1e4 }, sizeof f->fabric);
    return f;
}

/* most[3]: the largest share of a bound that a strain has */
static void largest_strains(const world *w, double most[3])
{
    const double *x = get(w, "node/x");
    for (int32_t t = 0; t < w->model.nsh; t++) {
        const int32_t *v = w->model.shell + 3 * t;
        const double *R = w->model.shell_rest + 4 * t, det = R[0] * R[3] - R[1] * R[2];
        double e[3] = { -0.5, -0.5, 0 };
        for (int k = 0; k < 3; k++) {
            const double a = x[3 * v[1] + k] - x[3 * v[0] + k], b = x[3 * v[2] + k] - x[3 * v[0] + k];
            const double p = (a * R[3] - b * R[2]) / det, q = (b * R[0] - a * R[1]) / det;
            e[0] += 0.5 * p * p, e[1] += 0.5 * q * q, e[2] += 0.5 * p * q;
        }
        for (int k = 0; k < 3; k++) most[k] = fmax(most[k], fabs(e[k]) / BOUND[k]);
    }
}

TEST(hanging_cloth_keeps_its_strains_in_every_scheme)
{
    for (int scheme = 0; scheme < LOW_SCHEMES; scheme++) {
        world w;
        world_open(&w, hanging_cloth(scheme, 1), NULL);
        double most[3] = { 0 };
        for (int i = 0; i < 5; i++) {
            CHECK(!world_judged(&w, 1));
            largest_strains(&w, most);
            for (int k = 0; k < 3; k++) CHECK(most[k] < 1);
        }
        CHECK(most[0] > 0.3 || most[1] > 0.3);      /* and they are needed */
        world_close(&w);
    }
}

/* The bounds alone carry it: what they are stiffened to stands in the frame. */
TEST(cloth_far_too_soft_for_its_weight_is_stiffened_and_restarts_with_the_same_bytes)
{
    for (int scheme = 0; scheme < LOW_SCHEMES; scheme++) {
        world w[2];
        double most[3] = { 0 };
        for (int k = 0; k < 2; k++) world_open(&w[k], hanging_cloth(scheme, 0.01), NULL);
        int newton = 0;
        for (int i = 0; i < 6; i++) {
            CHECK(!world_judged(&w[0], 1));
            largest_strains(&w[0], most);
            newton += w[0].rep.newton;
        }
        for (int k = 0; k < 3; k++) CHECK(most[k] < 1);
        CHECK(*get(&w[0], "strain/kappa") > ABUT_STRAIN_KAPPA_MIN && *get(&w[0], "strain/kappa") <= ABUT_STRAIN_KAPPA_MAX);
        CHECK(w[0].rep.stretch_room > 0.01);        /* far from its bounds again */
        printf("# scheme %d: %d iterations, kappa %g, room %g\n", scheme, newton, w[0].rep.strain_kappa, w[0].rep.stretch_room);
        CHECK(!world_judged(&w[1], 4));
        world_forget(&w[1]);
        CHECK(!world_judged(&w[1], 2));
        CHECK(same_frames(&w[0].frame, &w[1].frame));
        for (int k = 0; k < 2; k++) world_close(&w[k]);
    }
}

TEST(a_limited_sheet_comes_to_lie_on_a_block)
{
    world w;
    fixture *f = fixture_new();
    f->material = ABUT_NEO_HOOKEAN;
    f->young = 2e4, f->poisson = 0.3;
    f->h = 0.02;
    f->mu = 0.3;
    f->limit[2] = 1, f->limit[3] = 1.02;
    fixture_sheet(f, 0, 0, 0, 0.4, 0.4, 6, 6);
    fixture_box(f, 0.13, -0.11, 0.13, 0.14, 0.1, 0.14, 1, 1, 1, 1);
    world_open(&w, f, NULL);
    int touched = 0;
    for (int i = 0; i < 8; i++) {
        CHECK(!world_judged(&w, 1));
        CHECK(largest_stretch(&w, NULL) < 1.02);
        touched += w.rep.contacts > 0;
    }
    CHECK(touched > 2);
    world_close(&w);
}

/* Equilibrium of a sheet that hangs from a border, with hinges and a stretch limit that its weight activates: found from the
 * level position as an equilibrium, and as the end of a strongly damped motion. */
TEST(the_equilibrium_of_a_sheet_is_where_a_damped_one_comes_to_rest)
{
    static const char *const text =
        "time: {step: 0.04, scheme: %s}\ntolerance: 1e-7 m/s\ndamping: {mass: %g}\n"
        "materials: {m: {model: stvk, density: 470, young: 8 kPa, poisson: 0.24, bending-young: 8 MPa}}\n"
        "objects: {s: {generate: {cloth: {size: [0.4, 0.3], cells: [4, 2]}}, shell: {thickness: 0.3 mm, stretch-limit: 1.1}}}\n"
        "motion: [{select: {object: s, relative-box: [[0, 0, 0], [0, 1, 1]]}, fix: true}]\n";
    world still, moving;
    world_scene(&still, text, "quasi-static", 0.0);
    world_scene(&moving, text, "implicit-euler", 10.0);
    CHECK(!world_judged(&still, 1));
    CHECK(!world_judged(&moving, 80));
    for (int32_t i = 0; i < 3 * still.model.nv; i++) CHECK_NEAR(get(&still, "node/x")[i], get(&moving, "node/x")[i], 1e-6);
    const double stretch = largest_stretch(&still, NULL);
    printf("# stretched to %g of 1.1, without its limit to about %g\n", stretch, 1 + 470 * 9.81 * 0.4 / 8e3);
    CHECK(stretch > 1.015 && stretch < 1.05 && get(&still, "node/x")[3 * (still.model.nv - 1) + 1] < -0.39);
    CHECK(*get(&still, "strain/kappa") == ABUT_STRAIN_KAPPA_MIN);   /* both have the same barrier */
    CHECK(*get(&moving, "strain/kappa") == ABUT_STRAIN_KAPPA_MIN);
    world_close(&still);
    world_close(&moving);
}

/* Stress at the stretch s of a sheet without Poisson's ratio under tension, with a limit of 1.1 and kappa = 1 kPa, Pa. */
static double tension(double young, double s)
{
    double db;
    (void)abut_stretch_barrier(s, 1, 1.1, &db, NULL);
    return young * 0.5 * (s * s - 1) * s + 1e3 * db;
}

/* How long a sheet of length L hangs that carries its own weight: every cross-section what is below it. */
static double hanging_length(double L, double young, double weight)
{
    enum { N = 400 };
    double sum = 0;
    for (int i = 0; i < N; i++) {
        double lo = 1, hi = 1.1;
        for (int k = 0; k < 60; k++) {
            const double mid = 0.5 * (lo + hi);
            if (tension(young, mid) < weight * (i + 0.5) / N) lo = mid;
            else hi = mid;
        }
        sum += lo * L / N;
    }
    return sum;
}

/* A barrier that summed over triangles instead of over their volume would stiffen with their number. */
TEST(a_hanging_sheet_with_a_limit_is_as_long_as_theory_says_on_any_mesh)
{
    const double want = hanging_length(0.4, 2e4, 2000 * 9.81 * 0.4);
    double off[3] = { 0 };
    for (int k = 0; k < 3; k++) {
        world w;
        world_scene(&w, "time: {step: 0.04, scheme: quasi-static}\ntolerance: 1e-9 m/s\n"
                    "materials: {m: {model: stvk, density: 2000, young: 20 kPa, poisson: 0}}\n"
                    "objects: {s: {generate: {cloth: {size: [0.4, 0.1], cells: [%d, 2]}},\n"
                    "              rotate: {axis: [0, 0, 1], angle: -90 deg}, shell: {thickness: 0.3 mm, stretch-limit: 1.1}}}\n"
                    "motion: [{select: {object: s, relative-box: [[0, 0.999, 0], [1, 1, 1]]}, fix: true}]\n", 2 << k);
        CHECK(!world_judged(&w, 1));
        double low = INFINITY, high = -INFINITY;
        for (int32_t i = 0; i < w.model.nv; i++) {
            low = fmin(low, get(&w, "node/x")[3 * i + 1]);
            high = fmax(high, get(&w, "node/x")[3 * i + 1]);
        }
        off[k] = high - low - want;
        printf("# %d cells: %.6f m, off by %.2g\n", 2 << k, high - low, off[k]);
        CHECK(*get(&w, "strain/kappa") == ABUT_STRAIN_KAPPA_MIN && largest_stretch(&w, NULL) > 1.03);
        world_close(&w);
    }
    CHECK(fabs(off[2]) < 2e-4 && fabs(off[1]) < 0.5 * fabs(off[0]) && fabs(off[2]) < 0.5 * fabs(off[1]));
}

/* A rod on a sheet with a limit on a ball: point k of the sheet is number (k a + b) mod n, its elements are mixed likewise and
 * their corners turned round. */
static void mixed_scene(world *w, int a, int b)
{
    enum { N = 5, NODES = N * N, TRIS = 2 * (N - 1) * (N - 1) };
    static char text[4096];
    int at[NODES], n = 0, tri[TRIS][3], nt = 0;
    for (int i = 0; i < NODES; i++) at[(i * a + b) % NODES] = i;
    for (int i = 0; i + 1 < N; i++)
        for (int k = 0; k + 1 < N; k++) {
            const int v = N * i + k, quad[4] = { v, v + N, v + N + 1, v + 1 };
            for (int t = 0; t < 2; t++)
                for (int c = 0; c < 3; c++) tri[nt + t][c] = quad[c == 0 ? (i + k) % 2 : ((i + k) % 2 + c + t) % 4];
            nt += 2;
        }
    n += snprintf(text + n, sizeof text - (size_t)n, "time: {step: 0.01}\ntolerance: 1e-9 m/s\n"
                  "contact: {dhat: 2 mm, friction: {mu: 0.3, eps_v: 1e-2 m/s}}\n"
                  "materials: {m: {model: stvk, density: 470, young: 8 kPa, poisson: 0.24, bending-young: 0.8 MPa}}\n"
                  "objects:\n  sheet:\n    shell: {thickness: 0.5 mm, stretch-limit: 1.05}\n    contact-thickness: 1 mm\n"
                  "    generate:\n      explicit:\n        points: [");
    for (int j = 0; j < NODES; j++)
        n += snprintf(text + n, sizeof text - (size_t)n, "[%g, 0, %g],", 0.05 * (at[j] / N) - 0.1, 0.05 * (at[j] % N) - 0.1);
    n += snprintf(text + n, sizeof text - (size_t)n, "]\n        triangles: [");
    for (int j = 0; j < TRIS; j++) {
        const int *v = tri[(j * 5 * a + b) % TRIS];
        int w3[3];
        for (int c = 0; c < 3; c++) w3[c] = (v[(c + j * a * b) % 3] * a + b) % NODES;
        n += snprintf(text + n, sizeof text - (size_t)n, "[%d, %d, %d],", w3[0], w3[1], w3[2]);
    }
    n += snprintf(text + n, sizeof text - (size_t)n, "]\n"
                  "  hair: {generate: {rod: {length: 0.09, cells: 4}}, rod: {radius: 1 mm}, contact-thickness: 2 mm,\n"
                  "         rotate: {axis: [0, 1, 0], angle: 35 deg}, translate: [0, 2.3 mm, 0]}\n"
                  "  ball: {generate: {icosphere: {radius: 3 cm, divisions: 2}}, obstacle: true,\n"
                  "         translate: [3 mm, -31 mm, 2 mm]}\n");
    if (n >= (int)sizeof text) printf("# the scene is too long\n"), abort();
    world_scene(w, "%s", text);
}

TEST(the_order_of_nodes_and_elements_does_not_matter)
{
    enum { NODES = 25 };
    world plain, mixed;
    const int a = 7, b = 11;
    mixed_scene(&plain, 1, 0);
    mixed_scene(&mixed, a, b);
    CHECK(!world_judged(&plain, 6));
    CHECK(!world_judged(&mixed, 6));
    CHECK(plain.rep.contacts > 5);
    for (int32_t i = 0; i < plain.model.nv; i++) {
        const int32_t j = i < NODES ? (i * a + b) % NODES : i;
        for (int d = 0; d < 3; d++) CHECK_NEAR(get(&plain, "node/x")[3 * i + d], get(&mixed, "node/x")[3 * j + d], 1e-9);
    }
    world_close(&plain);
    world_close(&mixed);
}

TEST(a_free_sheet_keeps_its_momenta)
{
    world w;
    fixture *f = fixture_new();
    f->gravity[1] = 0;
    f->material = ABUT_STVK;
    f->tol = 1e-10;
    f->limit[2] = 1, f->limit[3] = 1.2;
    fixture_sheet(f, 0, 0, 0, 0.4, 0.3, 4, 3);
    world_open(&w, f, (double[]){ 0.3, -0.2, 0.1 });
    double *v = abut_arrays_find(&w.frame, "node/v")->data, p[3], q[3];
    for (int32_t i = 0; i < f->nv; i++) v[3 * i] += 2 * f->X[3 * i + 2], v[3 * i + 1] += 3 * f->X[3 * i];
    abut_linear_momentum(&(abut_mass){ .model = &w.model }, v, p);
    CHECK(!world_judged(&w, 3));
    abut_linear_momentum(&(abut_mass){ .model = &w.model }, get(&w, "node/v"), q);
    for (int k = 0; k < 3; k++) CHECK_NEAR(p[k], q[k], 1e-9 * fabs(p[0]));
    world_close(&w);
}

TEST(damping_of_shells_is_the_derivative_of_its_energy)
{
    world w;
    fixture *f = hanging(3, 1.2);
    f->damp_stiffness = 1e-2;
    world_open(&w, f, NULL);
    abut_objective *p = &w.st.solver.prob;
    abut_damping *damping = abut_damping_of(&p->terms);
    const int32_t n = 3 * f->nv;
    double *x = malloc((size_t)n * sizeof *x), *g = calloc((size_t)n, sizeof *g), size = 0;
    for (int32_t i = 0; i < n; i++) x[i] = f->X[i] * 1.03 + 1e-3 * sin(5 * i);
    CHECK(!abut_term_damping.begin(damping, &(abut_term_step){ .x0 = x }, NULL));
    damping_gradient(damping, x, f->X, 2, g);
    for (int32_t i = 0; i < n; i++) size = fmax(size, fabs(g[i]));
    CHECK(size > 0);
    for (int32_t i = 0; i < n; i++) {
        double e[2];
        const double xi = x[i], h = 1e-4;
        for (int k = 0; k < 2; k++) {
            x[i] = k ? xi - h : xi + h;
            e[k] = damping_energy(damping, 0, x, f->X, 2) + damping_energy(damping, 1, x, f->X, 2);
        }
        x[i] = xi;
        CHECK_NEAR((e[0] - e[1]) / (2 * h), g[i], 1e-9 * size);     /* quadratic: no error but rounding */
    }
    /* a rigid motion of the shape at which it was frozen is not opposed */
    memset(g, 0, (size_t)n * sizeof *g);
    double *y = malloc((size_t)n * sizeof *y);
    for (int32_t i = 0; i < n; i++) y[i] = x[i] + 0.1 * (i % 3);
    damping_gradient(damping, y, x, 2, g);
    for (int32_t i = 0; i < n; i++) CHECK_NEAR(g[i], 0, 1e-12 * size);
    free(x), free(g), free(y);
    world_close(&w);
}

TEST(the_books_balance_when_the_stiffness_changes)
{
    world w;
    fixture *f = hanging(4, 1.02);
    world_open(&w, f, NULL);
    set_strain_kappa(&w, 1e-3);
    double before = NAN;
    int changed = 0;
    for (int i = 0; i < 5; i++) {
        const double kappa = *get(&w, "strain/kappa");
        CHECK(!world_run(&w, 1));
        const double now = *get(&w, "energy/kinetic") + *get(&w, "energy/elastic") + *get(&w, "energy/gravity");
        const double work = *get(&w, "work/reaction") + *get(&w, "work/stiffness") + *get(&w, "work/numerical");
        if (i > 0) CHECK_NEAR(now - before, work, 1e-10);
        changed += i > 0 && *get(&w, "strain/kappa") != kappa && *get(&w, "work/stiffness") > 0;
        before = now;
    }
    printf("# stiffness changed in %d steps\n", changed);
    world_close(&w);
}
