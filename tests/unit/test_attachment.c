/* Attachments: derivatives, invariance, closed forms of hanging and swinging bodies, refusals. */
#include "scene_world.h"

#include "base/rng.h"
#include "sparse/bsr.h"
#include "term_calls.h"

/* Three springs on ten nodes: carried by four nodes, by three with an offset, by none. */
static const int32_t NODE[15] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, -1, 9, -1, -1, -1, -1 };
static const double WEIGHT[12] = { 1.7, -0.4, 0.2, -0.5, 0.25, 0.25, 0.5, 0, 0, 0, 0, 0 };
static const double OFFSET[9] = { 0, 0, 0, 0.1, -0.2, 0.3, 1, 2, 3 }, STIFFNESS[3] = { 10, 300, 7 };

static abut_model springs(void)
{
    return (abut_model){ .nv = 10, .na = 3, .attach_node = NODE, .attach_weight = WEIGHT, .tie_offset = OFFSET,
                        .attach_stiffness = STIFFNESS };
}

static double energy(const abut_model *m, const double *x)
{
    return term_energy(&abut_term_attachment, &(abut_term_world){ .model = m }, x);
}

static void gradient(const abut_model *m, const double *x, double scale, double *g)
{
    term_gradient(&abut_term_attachment, &(abut_term_world){ .model = m }, x, scale, g);
}

static void somewhere(abut_rng *rng, double x[30])
{
    for (int i = 0; i < 30; i++) x[i] = abut_rng_real(rng, -1, 1);
}

TEST(the_gradient_is_the_derivative_of_the_energy)
{
    const abut_model m = springs();
    abut_rng rng = { 3 };
    double x[30];
    for (int round = 0; round < 5; round++) {
        double g[30] = { 0 };
        somewhere(&rng, x);
        gradient(&m, x, 2, g);
        for (int i = 0; i < 30; i++) {
            const double at = x[i], t = 1e-4;
            x[i] = at + t;
            const double more = energy(&m, x);
            x[i] = at - t;
            CHECK_NEAR(2 * (more - energy(&m, x)) / (2 * t), g[i], 1e-7);   /* quadratic: rounding alone */
            x[i] = at;
        }
    }
}

/* The matrix of all attachments, assembled as the solver does. */
static void matrix(const abut_model *m, double scale, abut_bsr *A)
{
    double H[3 * 135];
    term_hessian(&abut_term_attachment, &(abut_term_world){ .model = m }, m->X, scale, 0, 3, H);
    const abut_elements set = { .corners = 5, .n = 3, .row = m->attach_node, .val = H };
    CHECK(!abut_bsr_pattern(A, m->nv, &set, 1, NULL));
    abut_bsr_assemble(A, NULL, &set, 1);
}

TEST(the_hessian_is_the_derivative_of_the_gradient_and_positive_semidefinite)
{
    const abut_model m = springs();
    abut_rng rng = { 4 };
    double x[30], e[30] = { 0 }, column[30];
    abut_bsr A = { 0 };
    matrix(&m, 0.5, &A);
    somewhere(&rng, x);
    for (int i = 0; i < 30; i++) {
        double more[30] = { 0 }, less[30] = { 0 };
        e[i] = 1;
        abut_bsr_multiply(&A, e, column);
        e[i] = 0;
        x[i] += 0.5;
        gradient(&m, x, 0.5, more);
        x[i] -= 1;
        gradient(&m, x, 0.5, less);
        x[i] += 0.5;
        for (int k = 0; k < 30; k++) CHECK_NEAR(more[k] - less[k], column[k], 1e-12 * 300);
    }
    for (int round = 0; round < 50; round++) {
        double curvature = 0;
        somewhere(&rng, x);
        abut_bsr_multiply(&A, x, column);
        for (int i = 0; i < 30; i++) curvature += x[i] * column[i];
        CHECK(curvature >= -1e-12);
    }
    abut_bsr_clear(&A);
}

/* Two blocks, 0.2 m apart, the lower one tied to the upper one by the four nodes of its top. */
#define HANGING(more) \
    "materials: {stiff: {model: fixed-corotated, young: 1 GPa}}\nobjects:\n" \
    "  a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [0.1, 1.2, 0]}\n" \
    "  b: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}\n" more
#define TIED(k) "attachments: [{from: {object: b, relative-box: [[0, 0.9, 0], [1, 1, 1]]}, to: {object: a}, stiffness: " k "}]\n"

TEST(nothing_pulls_at_the_start_nor_after_a_turn_of_both)
{
    world w;
    world_scene(&w, HANGING(TIED("1e4 N/m")));
    CHECK(w.model.na == 4);
    const double s = sin(1.1), c = cos(1.1);
    double *x = get(&w, "node/x"), g[48] = { 0 };
    for (int32_t i = 0; i < w.model.nv; i++) {
        const double *X = w.model.X + 3 * i;
        x[3 * i] = c * X[0] - s * X[1] + 5;
        x[3 * i + 1] = s * X[0] + c * X[1];
        x[3 * i + 2] = X[2] - 3;
    }
    CHECK_NEAR(energy(&w.model, w.model.X), 0, 1e-25 * 1e4);
    CHECK_NEAR(energy(&w.model, x), 0, 1e-25 * 1e4);
    /* and the forces of the springs balance, in sum and in moment */
    for (int32_t i = 0; i < w.model.nv; i++) x[3 * i + (w.model.body[i] ? 0 : 2)] += 0.3 * (w.model.X[3 * i + 1] + 1);
    gradient(&w.model, x, 1, g);
    double force[3] = { 0 }, moment[3] = { 0 }, size = 0;
    for (int i = 0; i < w.model.nv; i++)
        for (int k = 0; k < 3; k++) {
            force[k] += g[3 * i + k];
            moment[k] += x[3 * i + (k + 1) % 3] * g[3 * i + (k + 2) % 3] - x[3 * i + (k + 2) % 3] * g[3 * i + (k + 1) % 3];
            size += fabs(g[3 * i + k]);
        }
    CHECK(size > 100);
    for (int k = 0; k < 3; k++) CHECK_NEAR(force[k], 0, 1e-13 * size);
    /* a spring acts along its length, so it has no moment: what is left is what the carriers' weights do not balance */
    for (int k = 0; k < 3; k++) CHECK_NEAR(moment[k], 0, 1e-12 * size);
    world_close(&w);
}

/* A rod of two segments over a block: each top node is tied to the place right above it, in the middle of one of them. */
TEST(a_rod_carries_the_nearest_place_of_any_of_its_segments)
{
    world w;
    world_scene(&w, "objects:\n  b: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}\n"
                "  r: {generate: {rod: {length: 2, cells: 2}}, rod: {radius: 1 mm}, translate: [0, 0.7, 0]}\n"
                "attachments: [{from: {object: b, relative-box: [[0, 0.9, 0], [1, 1, 1]]}, to: {object: r}, stiffness: 3}]\n");
    CHECK(w.model.na == 4);
    for (int32_t a = 0; a < w.model.na; a++) {
        const int32_t *v = w.model.attach_node + 5 * a;
        const double *X = w.model.X, *from = X + 3 * v[0], *weight = w.model.attach_weight + 4 * a;
        double place[3] = { 0 };
        for (int k = 0; k < 4; k++) {
            if (v[1 + k] < 0) continue;
            CHECK_NEAR(weight[k], 0.5, 1e-15);
            for (int d = 0; d < 3; d++) place[d] += weight[k] * X[3 * v[1 + k] + d];
        }
        CHECK_NEAR(place[0], from[0], 1e-15);
        CHECK_NEAR(place[1], 0.7, 1e-15);
        CHECK_NEAR(place[2], 0, 1e-15);
    }
    world_close(&w);
}

/* m g / (4 k), and the weight itself in the springs */
TEST(a_block_hangs_as_far_down_as_its_springs_say)
{
    world w;
    world_scene(&w, "time: {step: 0.2}\ntolerance: 1e-7 l/s\n"
                HANGING("motion: [{select: {object: a}, fix: true}]\n" TIED("1e4 N/m")));
    CHECK(!world_judged(&w, 120));
    const double *x = get(&w, "node/x");
    double pull = 0;
    for (int32_t a = 0; a < w.model.na; a++) {
        const int32_t *v = w.model.attach_node + 5 * a;
        pull += 1e4 * (w.model.X[3 * v[0] + 1] - x[3 * v[0] + 1]);      /* the carriers stand still */
        CHECK_NEAR(x[3 * v[0] + 1], 0.5 - 1000 * 9.81 / 4e4, 1e-3);
    }
    CHECK_NEAR(pull, 1000 * 9.81, 1000 * 9.81 * 1e-5);
    CHECK_NEAR(w.rep.elastic, 0.5 * 1000 * 9.81 * 1000 * 9.81 / 4e4, 1);
    world_close(&w);
}

/* y = -(1 - cos(2 pi t)) g / (2 pi)^2 for 4 k = m (2 pi)^2, in the schemes that do not damp it */
TEST(a_block_swings_on_its_springs_with_their_frequency)
{
    static const char *const scheme[] = { "implicit-newmark", "bdf2", "midpoint" };
    for (int k = 0; k < 3; k++) {
        world w;
        world_scene(&w, "time: {step: 0.01, scheme: %s}\ntolerance: 1e-6 l/s\n"
                    HANGING("motion: [{select: {object: a}, fix: true}]\n" TIED("9869.604401089358 N/m")), scheme[k]);
        for (int n = 1; n <= 100; n++) {
            CHECK(!world_run(&w, 1));
            if (n % 10) continue;
            const double t = w.at.time, pi = 3.141592653589793;
            CHECK_NEAR(mean(&w, "node/x", 1, 1), -(1 - cos(2 * pi * t)) * 9.81 / (4 * pi * pi), k == 1 ? 4e-3 : 1.5e-3);
        }
        world_close(&w);
    }
}

TEST(a_body_follows_the_obstacle_or_the_point_it_is_tied_to)
{
    world w;
    world_scene(&w, "gravity: [0, 0, 0]\ntime: {step: 0.1}\ntolerance: 1e-4 l/s\nmaterials: {stiff: {model: fixed-corotated, "
                "young: 1 GPa}}\n"
                "objects:\n  b: {generate: {box: {size: [1, 1, 1], cells: [2, 2, 2]}}}\n"
                "  c: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [0, 5, 0]}\n"
                "  k: {generate: {cloth: {size: [2, 2], cells: [1, 1]}}, obstacle: true, translate: [0, 0.6, 0]}\n"
                "  p: {generate: {particles: {size: [1, 1, 1], count: [1, 1, 1]}}, obstacle: true, translate: [0.7, 4.5, 0]}\n"
                "motion:\n  - {select: {object: k}, translate: [0, 0.5, 1], until: 0.4 s}\n"
                "attachments:\n"
                "  - {from: {object: b}, to: {object: k}, within: 15 cm, stiffness: 1e6 N/m}\n"
                "  - {from: {object: c, nodes: [0]}, to: {object: p}, stiffness: 1e4 N/m}\n"
                "  - {from: {object: c, nodes: [7]}, to: {point: [0.5, 5.7, 0.5]}, stiffness: 1e4 N/m}\n");
    CHECK(w.model.na == 9 + 2);
    CHECK_NEAR(energy(&w.model, w.model.X), 0.5 * 1e4 * 0.04, 1e-9);
    CHECK(!world_judged(&w, 100));
    CHECK_NEAR(mean(&w, "node/x", 1, 0), 0.2, 1e-3);
    CHECK_NEAR(mean(&w, "node/x", 2, 0), 0.4, 1e-3);
    /* c has turned until both its springs lie on its diagonal, sqrt(3), and share what that lacks to the other end */
    const double lacking = sqrt(2 + 1.2 * 1.2) - sqrt(3);
    CHECK_NEAR(energy(&w.model, get(&w, "node/x")), 0.25 * 1e4 * lacking * lacking, 0.02 * 0.25 * 1e4 * lacking *
               lacking);
    world_close(&w);
}

TEST(a_restart_with_attachments_gives_the_same_bytes)
{
    world a, b;
#define BOTH "time: {scheme: bdf2}\n" \
             HANGING("motion: [{select: {object: a}, rotate: {axis: [0, 0, 1], rate: 200 deg/s}}]\n" TIED("1e4 N/m"))
    world_scene(&a, BOTH);
    world_scene(&b, BOTH);
    CHECK(!world_run(&a, 8) && !world_run(&b, 3));
    abut_stepper_clear(&b.st);
    world_start(&b);
    CHECK(!world_run(&b, 5));
    CHECK(same_frames(&a.frame, &b.frame));
    world_close(&a);
    world_close(&b);
}

static int refused(const char *attachment, const char *part)
{
    char text[2000];
    snprintf(text, sizeof text, HANGING("  k: {generate: {rod: {length: 1, cells: 2}}, obstacle: true, translate: [5, 0, 0]}\n"
                                        "  g: {half-space: {point: [0, -9, 0], normal: [0, 1, 0]}}\n"
                                        "attachments: %s\n"), attachment);
    return scene_refused(text, ABUT_E_FORMAT, part, "test.yaml:7:");
}

TEST(what_an_attachment_must_not_say_is_refused_by_name)
{
    CHECK(refused("{from: a}", "attachments is a map with the key 'from': expected a list, [{from: "));
    CHECK(refused("[{from: {object: b}, to: {object: a}}]", "attachment: expected {from"));
    CHECK(refused("[{from: {object: b}, to: {object: a}, stiffness: 1 N}]", "stiffness is '1 N': expected a number, if it has a "
                  "unit one of N/m"));
    CHECK(refused("[{from: {object: b}, to: {object: a}, stiffness: -1}]", "stiffness is '-1': expected more than 0"));
    CHECK(refused("[{from: {object: b}, to: {object: a, point: [0, 0, 0]}, stiffness: 1}]",
                  "to: expected {object: name} or {point"));
    CHECK(refused("[{from: {object: b}, to: {object: b}, stiffness: 1}]", "object 'b' is tied to itself"));
    CHECK(refused("[{from: {object: b}, to: {object: g}, stiffness: 1}]", "'g' is a half-space, which has no nodes"));
    CHECK(refused("[{from: {}, to: {object: b}, stiffness: 1}]", "from: expected one object, whose nodes are tied"));
    CHECK(refused("[{from: {object: k}, to: {object: b}, stiffness: 1}]", "is of an obstacle: expected a body"));
    CHECK(refused("[{from: {object: b}, to: {object: a}, within: 1 cm, stiffness: 1}]",
                  "ties no node: the nearest of 8 is 0.2 m away, expected one within 0.01 m"));
    CHECK(refused("[{from: {object: b, nodes: [3], box: [[9, 9, 9], [10, 10, 10]]}, to: {object: a}, stiffness: 1}]",
                  "this attachment selects no node: none of the 8 nodes of b satisfies test.yaml:7:"));
    CHECK(refused("[{from: {object: b}, to: {object: a}, stiffness: 1, stiff: 3}]", "unknown key 'stiff'"));
}
