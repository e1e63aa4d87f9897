/* Steps with thickness and in every dimension of contact against closed forms; every motion is judged. */
#include "base/par.h"
#include "energy/barrier.h"
#include "energy/barrier_pair.h"
#include "energy/barrier.h"
#include "energy/barrier_pair.h"
#include "scene_world.h"

#define ONE "generate: {particles: {size: [1, 1, 1], count: [1, 1, 1]}}"
#define GRAIN ONE ", particle: {radius: 1 mm}, material: sand, contact-thickness: 2 mm"

/* Gap at which one contact of stiffness k = kappa / h^2 (N/m^3) carries a load (N): -k b'(D) 2 (xi + gap) = load. */
static double gap_under(double load, double k, double xi, double dhat)
{
    double lo = 0, hi = dhat;
    for (int i = 0; i < 200; i++) {
        const double gap = 0.5 * (lo + hi), D = (2 * xi + gap) * gap, Dhat = (2 * xi + dhat) * dhat;
        const double db = (Dhat - D) * (2 * log(D / Dhat) - Dhat / D + 1);
        if (-k * db * 2 * (xi + gap) > load) lo = gap;
        else hi = gap;
    }
    return 0.5 * (lo + hi);
}

/* The world of a scene with the barrier stiffness k h^2 throughout. */
static void world_stiff(world *w, const char *text, double k)
{
    *w = (world){ 0 };
    scene_arrays(text, &w->model_set, &w->frame);
    const double h = *(const double *)abut_arrays_find(&w->model_set, "time/step")->data, kappa = k * h * h;
    memcpy(abut_arrays_find(&w->model_set, "contact/kappa-min")->data, &kappa, sizeof kappa);
    memcpy(abut_arrays_find(&w->model_set, "contact/kappa-max")->data, &kappa, sizeof kappa);
    world_start(w);
}

static int32_t object(const world *w, const char *name)
{
    char row[64];
    for (int32_t i = 0; i < w->model.no; i++)
        if (!strcmp(abut_text_row(&w->model_set, "object/name", i, row, sizeof row), name)) return i;
    abort();
}

static int32_t node_of(const world *w, const char *name, int32_t k)
{
    const int32_t o = object(w, name);
    for (int32_t i = 0; i < w->model.nv; i++)
        if (w->model.body[i] == o && k-- == 0) return i;
    abort();
}

static double height(const world *w, const char *name, int32_t k) { return get(w, "node/x")[3 * node_of(w, name, k) + 1]; }

TEST(a_grain_rests_on_a_triangle_at_the_tabulated_gap)
{
    static const double row[][2] = { { 1e3, 3.836600e-4 }, { 1e4, 7.798839e-4 }, { 1e6, 9.775232e-4 } };
    for (int i = 0; i < 3; i++) {
        world w;
        /* two grains, so that the scene has a length; m g = 6.568023e-5 N */
        world_stiff(&w,
                    "time: {step: 0.01}\ngravity: [0, -9.8, 0]\ncontact: {dhat: 1 mm}\ntolerance: 1e-9 m/s\n"
                    "materials: {sand: {density: 1600}}\n"
                    "objects:\n  one: {" GRAIN ", translate: [0, 2.8 mm, 0]}\n  two: {" GRAIN ", translate: [0.1, 2.8 mm, 0.1]}\n"
                    "  plate: {generate: {explicit: {points: [[-1, 0, -1], [2, 0, -1], [0, 0, 2]], triangles: [[0, 2, 1]]}}, "
                    "obstacle: true, "
                    "contact-thickness: 2 mm}\n",
                    row[i][0]);
        CHECK(!world_judged(&w, 40));
        CHECK_NEAR(w.model.mass[node_of(&w, "one", 0)] * 9.8 / 6.568023041e-5, 1, 1e-6);
        for (int k = 0; k < 2; k++) CHECK_NEAR(height(&w, k ? "one" : "two", 0) - 2e-3, row[i][1], 1e-9);
        CHECK_NEAR(w.rep.min_gap, row[i][1], 1e-9);
        CHECK_NEAR(gap_under(6.568023041e-5, row[i][0], 2e-3, 1e-3), row[i][1], 1e-9);
        world_close(&w);
    }
}

/* one thing of each dimension on another, thickness from object to object; see the comments for the pair's */
static const char *const everything =
    "time: {step: 0.01}\ngravity: [0, -10, 0]\ncontact: {dhat: 1 mm}\ntolerance: 1e-9 m/s\n"
    "length: bounding-box\nmaterials: {sand: {density: 1600}}\n"
    "objects:\n"
    "  g0: {" GRAIN ", translate: [0, 1.8 mm, 0]}\n  g1: {" GRAIN ", translate: [1, 2.3 mm, 0]}\n"
    "  g2: {" GRAIN ", translate: [2, 2.8 mm, 0]}\n  g3: {" GRAIN ", translate: [3, -0.9982, 0]}\n"
    "  over: {generate: {explicit: {points: [[4, 3.3 mm, 0], [5, 3.3 mm, 0]], segments: [[0, 1]]}}, rod: {radius: 1 mm}, "
    "contact-thickness: 4 mm}\n"
    "  along: {generate: {explicit: {points: [[7, 3.3 mm, 0], [8, 3.3 mm, 0]], segments: [[0, 1]]}}, rod: {radius: 1 mm}, "
    "contact-thickness: 4 mm}\n"
    "  pin: {" ONE ", obstacle: true}\n"
    "  needle: {generate: {explicit: {points: [[1, 0, -1], [1, 0, 1], [4.25, 0, -1], [4.25, 0, 1], [4.75, 0, -1], [4.75, 0, 1], "
    "[6, 0, 0], [9, 0, 0]], "
    "segments: [[0, 1], [2, 3], [4, 5], [6, 7]]}}, obstacle: true, contact-thickness: 1 mm}\n"
    "  plate: {generate: {explicit: {points: [[1.5, 0, -1], [3, 0, -1], [2, 0, 1]], triangles: [[0, 2, 1]]}}, obstacle: true, "
    "contact-thickness: 2 mm}\n"
    "  floor: {half-space: {point: [0, -1, 0], normal: [0, 1, 0]}}\n";

TEST(every_kind_of_contact_carries_its_load_at_the_gap_of_the_scalar_law)
{
    static const struct {
        const char *object;
        int node;
        double xi, ground;
    } row[] = { { "g0", 0, 1e-3, 0 } /* point */, { "g1", 0, 1.5e-3, 0 } /* segment */, { "g2", 0, 2e-3, 0 } /* triangle */,
                { "g3", 0, 1e-3, -1 } /* half-space */, { "over", 0, 2.5e-3, 0 } /* crossing two segments at its quarters */,
                { "over", 1, 2.5e-3, 0 }, { "along", 0, 2.5e-3, 0 } /* parallel to a segment: its ends alone carry it */,
                { "along", 1, 2.5e-3, 0 } };
    for (int k = 0; k < 2; k++) {
        const double stiffness = k ? 1e9 : 3e4;
        world w;
        world_stiff(&w, everything, stiffness);
        CHECK(!world_judged(&w, 60));
        for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
            const double load = 10 * w.model.mass[node_of(&w, row[i].object, row[i].node)];
            const double gap = height(&w, row[i].object, row[i].node) - row[i].ground - row[i].xi;
            const double want = gap_under(load, stiffness, row[i].xi, 1e-3);
            CHECK_NEAR(gap, want, row[i].ground < 0 ? 1e-14 + 1e-8 * want : 1e-8 * want);
            CHECK(want > 1e-5 && want < 0.9999e-3);
        }
        CHECK(w.st.solver.here.pairs.n_plain >= 7 && w.st.solver.here.pairs.n_plane == 1);
        world_close(&w);
    }
}

TEST(friction_slows_every_kind_of_contact_by_mu_g)
{
    const double mu = 0.3, g = 10, h = 0.01, k = 1e9;
    char text[4096];
    /* the same with speed, along x: what slides over the ends of a needle or off a pin is left out */
    snprintf(text, sizeof text, "%s", everything);
    char *at = strstr(text, "contact: {dhat: 1 mm}");
    snprintf(at, sizeof text - (size_t)(at - text), "contact: {dhat: 1 mm, friction: {mu: 0.3, eps_v: 1e-5 m/s}}%s",
             strstr(everything, "contact: {dhat: 1 mm}") + strlen("contact: {dhat: 1 mm}"));
    world w;
    world_stiff(&w, text, k);
    static const struct {
        const char *object;
        int node;
        double xi;
    } slides[] = { { "g2", 0, 2e-3 }, { "g3", 0, 1e-3 }, { "along", 0, 2.5e-3 }, { "along", 1, 2.5e-3 } };
    double *x = get(&w, "node/x"), *v = get(&w, "node/v");
    for (int i = 0; i < 4; i++) {
        const int32_t n = node_of(&w, slides[i].object, slides[i].node);
        x[3 * n + 1] = (i == 1 ? -1 : 0) + slides[i].xi + gap_under(g * w.model.mass[n], k, slides[i].xi, 1e-3);
        v[3 * n] = 0.8;
    }
    CHECK(!world_judged(&w, 20));
    v = get(&w, "node/v");
    for (int i = 0; i < 4; i++)
        CHECK_NEAR((0.8 - v[3 * node_of(&w, slides[i].object, slides[i].node)]) / (mu * g * 20 * h), 1, 0.01);
    CHECK(!world_judged(&w, 12));    /* 0.267 s: they stand */
    v = get(&w, "node/v");
    for (int i = 0; i < 4; i++) CHECK_NEAR(v[3 * node_of(&w, slides[i].object, slides[i].node)], 0, 1e-5);
    world_close(&w);
}

TEST(a_grain_on_a_thick_slope_sticks_below_mu_and_slides_above)
{
    for (int above = 0; above < 2; above++) {
        const double mu = 0.4, tangent = mu * (above ? 1.05 : 0.95), c = 1 / sqrt(1 + tangent * tangent), s = tangent * c,
                     k = 1e9;
        char text[1024];
        world w;
        snprintf(text, sizeof text,
                 "time: {step: 0.01}\ngravity: [%.17g, %.17g, 0]\ncontact: {dhat: 1 mm, friction: {mu: 0.4, eps_v: 1e-5 m/s}}\n"
                 "tolerance: 1e-9 m/s\nmaterials: {sand: {density: 1600}}\nobjects:\n"
                 "  one: {" GRAIN ", translate: [0, %.17g, 0]}\n  two: {" GRAIN ", translate: [0.1, %.17g, 0.1]}\n"
                 "  plate: {generate: {explicit: {points: [[-1, 0, -1], [2, 0, -1], [0, 0, 2]], triangles: [[0, 2, 1]]}}, "
                 "obstacle: true, "
                 "contact-thickness: 1 mm}\n",
                 9.81 * s, -9.81 * c, 1.5e-3 + gap_under(6.702064e-6 * 9.81 * c, k, 1.5e-3, 1e-3),
                 1.5e-3 + gap_under(6.702064e-6 * 9.81 * c, k, 1.5e-3, 1e-3));
        world_stiff(&w, text, k);
        CHECK(!world_judged(&w, 30));
        const double speed = get(&w, "node/v")[3 * node_of(&w, "one", 0)], want = 9.81 * (s - mu * c) * 0.3;
        if (above) CHECK_NEAR(speed / want, 1, 0.02);
        else CHECK(fabs(speed) < 1e-5);
        world_close(&w);
    }
}

/* A pile of four layers over one that is fixed, let go 0.2 mm above where contact begins; returns its height.  Grains on top of
 * each other stand by friction: without it rounding topples them. */
static double pile(const char *even, const char *odd, const char *base, double xi, double dhat, const char *side)
{
    static const char *const name[] = { "a", "b", "c", "d" };
    char text[4000];
    int n =
        snprintf(text, sizeof text,
                 "time: {step: 0.005}\ncontact: {dhat: %g mm, friction: {mu: 0.5, eps_v: 1e-3 m/s}}\ntolerance: 1e-5 m/s\n"
                 "materials: {m: {young: 1e6, density: 400}}\nobjects:\n  base: {%s, obstacle: true, contact-thickness: %g mm}\n",
                 1e3 * dhat, base, 1e3 * xi);
    for (int i = 0; i < 4; i++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "  %s: {%s, material: m, contact-thickness: %g mm, translate: [%s, %.9g, %s]}\n", name[i],
                      i % 2 ? odd : even, 1e3 * xi, i % 2 ? side : "0", (i + 1) * (xi + dhat + 2e-4), i % 2 ? "0" : side);
    world w;
    world_scene(&w, "%s", text);
    CHECK(!world_judged(&w, 60));
    double below = 0;
    for (int i = 0; i < 4; i++) {   /* sheets sway a little: their mean heights are compared */
        const double here = mean(&w, "node/x", 1, object(&w, name[i]));
        CHECK(here - below > xi && here - below < xi + dhat);
        below = here;
    }
    CHECK(below > 4 * xi && below < 4 * (xi + dhat));
    CHECK(w.rep.min_gap > 0 && w.rep.min_gap < dhat);
    world_close(&w);
    return below;
}

TEST(piles_of_sheets_rods_and_grains_are_as_high_as_their_thickness_says)
{
    static const char *const sheet = "generate: {cloth: {size: [0.08, 0.08], cells: [4, 4]}}, shell: {thickness: 0.5 mm}";
    static const char *const grains = ONE ", particle: {radius: 1 mm}";
    (void)pile(sheet, sheet, "generate: {cloth: {size: [0.2, 0.2], cells: [2, 2]}}", 1e-3, 5e-4, "0");
    /* a log pile: two rods along x, two along z, ... */
    (void)pile(
        "generate: {rod: {length: 0.05, cells: 1}}, repeat: {count: [1, 1, 2], spacing: [0, 0, 0.03]}, rod: {radius: 1 mm}",
        "generate: {rod: {length: 0.05, cells: 1}}, rotate: {axis: [0, 1, 0], angle: 90 deg}, repeat: {count: [2, 1, 1], "
        "spacing: [0.03, 0, 0]}, "
        "rod: {radius: 1 mm}",
        "generate: {rod: {length: 0.2, cells: 1}}, rotate: {axis: [0, 1, 0], angle: 90 deg}, translate: [-0.015, 0, 0], "
        "repeat: {count: [2, 1, 1], spacing: [0.03, 0, 0]}",
        2e-3, 1e-3, "-0.015");
    const char *const board = "generate: {cloth: {size: [0.5, 0.5], cells: [1, 1]}}";
    const double low = pile(grains, grains, board, 2e-3, 5e-4, "0"), high = pile(grains, grains, board, 2e-3, 2e-3, "0");
    printf("# %g m with dhat 0.5 mm, %g m with 2 mm\n", low, high);
    CHECK(high > 1.01 * low);       /* contact that reaches further carries the same weight at larger gaps */
}

/* 45 grains of 4 mm fall into a bowl and come to rest: all inside it by the thickness of the pair, and their volume, each with
 * half of dhat around it, fills a share of the bowl below the highest of them that spheres can fill: less than Kepler's
 * pi / sqrt 18, and not much less than what loose heaps do. */
TEST(a_bowl_fills_to_the_volume_of_its_grains)
{
    const double R = 0.016, xi = 4e-3, bowl = 1e-3, dhat = 5e-4, apart = 0.5 * (xi + bowl);
    world w;
    world_scene(&w, "time: {step: 0.01}\ncontact: {dhat: 0.5 mm, friction: {mu: 0.1, eps_v: 1e-3 m/s}}\ntolerance: 1e-3 m/s\n"
                "damping: {mass: 2}\nmaterials: {sand: {density: 1600}}\nobjects:\n"
                "  bowl: {generate: {bowl: {radius: 16 mm, cells: [16, 6]}}, obstacle: true, contact-thickness: 1 mm}\n"
                "  sand: {generate: {particles: {size: [11 mm, 20 mm, 11 mm], count: [3, 5, 3], jitter: 0.3 mm}},\n"
                "         translate: [0, 6 mm, 0], material: sand, particle: {radius: 2 mm}, contact-thickness: 4 mm}\n");
    CHECK(!world_judged(&w, 60));
    double top = -INFINITY, fastest = 0;
    int grains = 0;
    for (int32_t i = 0; i < w.model.nv; i++) {
        const double *x = get(&w, "node/x") + 3 * i, *v = get(&w, "node/v") + 3 * i;
        if (w.model.body[i] != object(&w, "sand")) continue;
        grains++;
        top = fmax(top, x[1]);
        CHECK(sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) < R - apart && x[1] < 0);
        for (int d = 0; d < 3; d++) fastest = fmax(fastest, fabs(v[d]));
    }
    const double r = 0.5 * (xi + dhat), pi = acos(-1), room = R - apart + r, h = room + top + r;
    const double filled = grains * 4 * pi / 3 * r * r * r / (pi * h * h * (room - h / 3));
    printf("# %d grains fill %.3f of %.3g m^3\n", grains, filled, pi * h * h * (room - h / 3));
    CHECK(grains == 45 && fastest < 2e-3);
    CHECK(filled > 0.35 && filled < pi / sqrt(18));
    world_close(&w);
}

TEST(a_body_keeps_half_the_thickness_of_the_cloth_it_lies_on)
{
    world w;
    world_scene(&w, "time: {step: 0.005}\ncontact: {dhat: 1 mm}\ntolerance: 1e-5 m/s\nobjects:\n"
                    "  block: {generate: {box: {size: [0.1, 0.05, 0.1], cells: [1, 1, 1]}}, translate: [0, 0.0283, 0]}\n"
                    "  cloth: {generate: {cloth: {size: [1, 1], cells: [2, 2]}}, obstacle: true, contact-thickness: 4 mm}\n");
    /* its lower side is 3.3 mm above the cloth: contact begins at 3 mm, half of 4 and dhat */
    CHECK(!world_judged(&w, 1) && w.rep.contacts == 0);
    CHECK(!world_judged(&w, 30) && w.rep.contacts > 0);
    double low = INFINITY;
    for (int32_t i = 0; i < w.model.nv; i++)
        if (w.model.body[i] == object(&w, "block")) low = fmin(low, get(&w, "node/x")[3 * i + 1]);
    CHECK(low > 2e-3 && low < 3e-3);
    CHECK_NEAR(w.rep.min_gap, low - 2e-3, 1e-6);
    world_close(&w);
}

TEST(a_start_within_the_thickness_is_no_step)
{
    world w;
    world_scene(&w, "contact: {dhat: 1 mm}\nobjects:\n  one: {" ONE
                    ", particle: {radius: 1 mm}, contact-thickness: 2 mm, translate: [0, 1.9 mm, 0]}\n"
                    "  two: {" ONE ", particle: {radius: 1 mm}, contact-thickness: 2 mm, translate: [1, 1, 0]}\n"
                    "  plate: {generate: {cloth: {size: [1, 1], cells: [1, 1]}}, obstacle: true, contact-thickness: 2 mm}\n");
    CHECK(abut_step_advance(&w.st, &w.frame, 0, &w.at, 0, &w.next, &w.rep, &w.err) == ABUT_E_GEOM);
    CHECK(strstr(w.err.msg, "distance 0.0019 m, expected more than the thickness, 0.002 m"));
    world_close(&w);
}

/* Frames come from any program: what they must not hold is found before the first step. */
TEST(a_frame_under_a_half_space_or_inverted_is_refused_at_the_start)
{
    for (int k = 0; k < 3; k++) {
        world w;
        world_scene(&w, "objects:\n  a: {generate: {box: {size: [1, 1, 1], cells: [2, 2, 2]}}, translate: [0, 0.6, 0]}\n"
                    "  b: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [3, 1, 0]}\n"
                    "  floor: {half-space: {normal: [0, 1, 0]}}\n");
        double *x = get(&w, "node/x");
        int32_t lowest = 0, middle = 0;
        for (int32_t i = 0; i < 27; i++) {
            if (x[3 * i + 1] < x[3 * lowest + 1]) lowest = i;
            if (hypot(hypot(x[3 * i], x[3 * i + 1] - 0.6), x[3 * i + 2]) < 1e-9) middle = i;
        }
        if (k == 0) x[3 * lowest + 1] = 0;                  /* on it */
        if (k == 1) x[3 * middle] = 0.7;                    /* inside, seen by no surface */
        for (int32_t i = 27; i < w.model.nv && k == 2; i++) x[3 * i] -= 2.3;
        char node[80];
        snprintf(node, sizeof node, "node %d of 'a' lies on or under half-space 'floor' at the start", lowest);
        CHECK(abut_step_advance(&w.st, &w.frame, 0, &w.at, 0, &w.next, &w.rep, &w.err) == ABUT_E_GEOM);
        const char *const said = k == 0 ? node : k == 1 ? "is inverted at the start" : "of 'a' touches triangle 0 3 1 of 'b'";
        if (!strstr(w.err.msg, said)) printf("# %s\n", w.err.msg);
        CHECK(strstr(w.err.msg, said) && strstr(w.err.msg, "frame 0") && strstr(w.err.msg, "at the start") && !w.next.n);
        world_close(&w);
    }
}

TEST(thickness_zero_has_the_bytes_of_no_thickness)
{
    static const char *const scene = "time: {step: 0.01}\ncontact: {dhat: 2 mm, friction: {mu: 0.3}}\nobjects:\n"
                                     "  block: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}}, translate: [0, "
                                     "0.053, 0], velocity: [0.3, -1, 0.1]}\n"
                                     "  plate: {generate: {cloth: {size: [1, 1], cells: [2, 2]}}, obstacle: true}\n  floor: "
                                     "{half-space: {point: [0, -0.01, 0], normal: [0, 1, 0]}}\n";
    world w[2] = { { 0 }, { 0 } };
    for (int k = 0; k < 2; k++) {
        scene_arrays(scene, &w[k].model_set, &w[k].frame);
        if (k)
            CHECK(abut_model_put(&w[k].model_set, "object/thickness",
                                 abut_arrays_find(&w[k].model_set, "object/friction")->shape[0], NULL) != NULL);
        world_start(&w[k]);
        CHECK(!k == !w[k].model.obj_thick);
        CHECK(!world_judged(&w[k], 12));
    }
    CHECK(w[0].rep.contacts > 0 && same_frames(&w[0].frame, &w[1].frame));
    world_close(&w[0]);
    world_close(&w[1]);
}

SETUP
{
    abut_threads_set(1);
}

/* ---- dhat and stiffness of a pair ---- */

TEST(a_pair_has_the_smaller_dhat_and_the_stiffness_of_its_smaller_length_and_larger_mass)
{
    /* l, m: small 0.1 sqrt(3), 1/8 kg; heavy the same, 3/8 kg; large sqrt(3), 125 kg.  Gaps: small and floor 0.3 mm, beyond its
     * dhat of 0.173 mm; large and floor 1 mm, within its 1.73 mm; heavy over small 0.1 mm, large over heavy 0.1 mm. */
    static const char *const text =
        "materials: {a: {density: 1000}, b: {density: 3000}}\nobjects:\n"
        "  small: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, material: a, translate: [0, 0.0503, 0]}\n"
        "  heavy: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, material: b, translate: [0.01, 0.1504, 0.02]}\n"
        "  over: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, material: a, translate: [0, 0.7005, 0]}\n"
        "  beside: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, material: a, translate: [2, 0.501, 0]}\n"
        "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n";
    const double l[] = { 0.1 * sqrt(3), sqrt(3) }, scene = abut_kappa_min(l[0], abut_barrier_law_of(1e-3 * l[0], 0, 0), 0.125);
    abut_arrays set = { 0 }, frame = { 0 };
    abut_model m;
    abut_frame f;
    abut_collmesh cm;
    abut_candidates cand = { 0 };
    abut_pairs p = { 0 };
    abut_err err = { 0 };
    abut_arena scratch = { 0 };
    scene_arrays(text, &set, &frame);
    CHECK(!abut_model_view(&set, &m, &err) && !abut_frame_view(&frame, &m, &f, &err) && !abut_collmesh_init(&cm, &m, &err));
    CHECK_NEAR(m.length[0], l[0], 1e-15);
    CHECK_NEAR(m.dhat[0], 1e-3 * l[1], 1e-17);
    CHECK_NEAR(abut_least_dhat(&m), 1e-3 * l[0], 1e-17);
    CHECK_NEAR(m.kappa_min[0], 2 * scene, 1e-9 * scene);
    double *y = malloc(3 * (size_t)cm.nc * sizeof *y), *g = calloc(3 * (size_t)m.nv, sizeof *g);
    abut_collmesh_positions(&cm, f.x, y);
    CHECK(!abut_candidates_find(&cm, y, NULL, m.dhat[0], cm.obstacle, &cand, &err));
    CHECK(!abut_pairs_find(&cm, &cand, y, NULL, &p, &err));
    CHECK(p.n_plane == 4 && p.n > 2);
    for (size_t i = 0; i < p.n_plane; i++) {
        CHECK(abut_collmesh_object(&cm, p.plane_vert[i]) == 3);
        const double weight = abut_kappa_min(l[1], abut_barrier_law_of(1e-3 * l[1], 0, 0), 125) / scene;
        CHECK_NEAR(p.plane_mult[i], weight, 1e-6 * weight);
        CHECK_NEAR(abut_pairs_plane_dhat(&cm, &p, i), 1e-3 * l[1], 1e-17);
    }
    int seen[2] = { 0, 0 };
    for (size_t i = 0; i < p.n; i++) {
        const int32_t a = abut_collmesh_object(&cm, p.vert[i][0]);
        const int32_t b = abut_collmesh_object(&cm, p.vert[i][abut_stencil_second(p.kind[i])]);
        const int large = a == 2 || b == 2;
        const double weight = abut_kappa_min(l[0], abut_barrier_law_of(1e-3 * l[0], 0, 0), large ? 125 : 0.375) / scene;
        const double times = p.mult[i] / weight;
        CHECK(a != b && times > 0.9 && fabs(times - round(times)) < 1e-6);
        CHECK_NEAR(abut_pairs_dhat(&cm, &p, i), 1e-3 * l[0], 1e-17);
        seen[large]++;
    }
    CHECK(seen[0] > 0 && seen[1] > 0);
    /* forces are the derivatives of the energy: along y for all nodes of one object */
    CHECK(!abut_barrier_gradient(&cm, &p, y, 1, g, &scratch, &err));
    for (int32_t o = 0; o < 4; o++) {
        double along = 0, E[2];
        for (int32_t i = 0; i < m.nv; i++) along += m.body[i] == o ? g[3 * i + 1] : 0;
        for (int side = 0; side < 2; side++) {
            abut_pairs q = { 0 };
            for (int32_t v = 0; v < cm.nc; v++) y[3 * v + 1] += abut_collmesh_object(&cm, v) == o ? (side ? 2e-9 : -1e-9) : 0;
            CHECK(!abut_pairs_find(&cm, &cand, y, NULL, &q, &err));
            CHECK(!abut_barrier_energy(&cm, &q, y, 1, &E[side], &scratch, &err));
            abut_pairs_clear(&q);
        }
        for (int32_t v = 0; v < cm.nc; v++) y[3 * v + 1] -= abut_collmesh_object(&cm, v) == o ? 1e-9 : 0;
        CHECK_NEAR((E[1] - E[0]) / 2e-9, along, 1e-6 * fabs(g[0]) + 1e-5 * fabs(along));
    }
    free(y), free(g);
    abut_pairs_clear(&p);
    abut_candidates_clear(&cand);
    abut_collmesh_clear(&cm);
    abut_arena_clear(&scratch);
    abut_arrays_clear(&set);
    abut_arrays_clear(&frame);
}
