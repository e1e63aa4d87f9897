/* Joints: their rows on motions that they allow, a dense system with multipliers, closed forms of chains and pendulums. */
#include "dense.h"
#include "newton_system.h"
#include "scene_world.h"

#include "energy/joint.h"
#include "math/mat3.h"
#include "math/vec3.h"

/* Two boxes that are rotated and apart, and a joint between a and b. */
#define TWO \
    "time: {step: 5 ms, scheme: bdf2}\ngravity: [0, 0, 0]\ncontact: {dhat: 1 mm}\nobjects:\n" \
    "  a: {generate: {box: {size: [0.3, 0.2, 0.1], cells: [1, 1, 1]}}, rigid: true, rotate: {axis: [1, 2, 3], angle: 50 deg},\n" \
    "      angular-velocity: {axis: [1, 2, 3], rate: 4.6 rad/s}}\n" \
    "  b: {generate: {box: {size: [0.1, 0.2, 0.4], cells: [1, 1, 1]}}, rigid: true, rotate: {axis: [3, 1, -1], angle: 9 deg},\n" \
    "      translate: [0.6, 0.1, -0.2], angular-velocity: {axis: [1, 2, 3], rate: 4.6 rad/s, center: [0, 0, 0]}}\n"
static const double O[3] = { 0.3, 0.1, -0.05 }, TO[3] = { 0.5, 0.2, 0.1 };
static const double T[3] = { 2 / 3., -1 / 3., 2 / 3. }, S[3] = { 1 / 3., -2 / 3., -2 / 3. };
#define AT "{at: [0.3, 0.1, -0.05], "
static const struct kind {
    const char *form;
    int rank;               /* equations between rigid bodies */
} KINDS[] = {
    [ABUT_JOINT_BALL] = { "ball: {at: [0.3, 0.1, -0.05]}", 3 },
    [ABUT_JOINT_HINGE] = { "hinge: " AT "direction: [2, -1, 2]}", 5 },
    [ABUT_JOINT_FIXED] = { "fixed: {}", 6 },
    [ABUT_JOINT_CYLINDER] = { "cylinder: {axis: [[-0.3, 0.4, -0.65], [0.9, -0.2, 0.55]]}", 4 },
    [ABUT_JOINT_SLIDER] = { "slider: " AT "direction: [2, -1, 2]}", 5 },
    [ABUT_JOINT_PLANAR] = { "planar: " AT "normal: [2, -1, 2]}", 3 },
    [ABUT_JOINT_PIN_SLOT] = { "pin-slot: " AT "direction: [2, -1, 2]}", 2 },
    [ABUT_JOINT_UNIVERSAL] = { "universal: " AT "first: [2, -1, 2], second: [1, -2, -2]}", 4 },
    [ABUT_JOINT_DISTANCE] = { "distance: {from: [0.3, 0.1, -0.05], to: [0.5, 0.2, 0.1]}", 1 },
};

static double number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53 * 2 - 1;
}

/* A rotation about an axis through c, and a shift: x -> c + R (x - c) + d. */
typedef struct motion {
    double R[9], c[3], d[3];
} motion;

static void about(const double axis[3], double angle, double R[9])
{
    const double n = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]), s = sin(angle), c = cos(angle);
    const double u[3] = { axis[0] / n, axis[1] / n, axis[2] / n };
    const double skew[9] = { 0, -u[2], u[1], u[2], 0, -u[0], -u[1], u[0], 0 };
    for (int i = 0; i < 9; i++) R[i] = c * (i % 4 == 0) + (1 - c) * u[i / 3] * u[i % 3] + s * skew[i];
}

static void turn_at_random(uint64_t *seed, double R[9])
{
    const double axis[3] = { number(seed), number(seed), number(seed) };
    about(axis, 3 * number(seed), R);
}

static void apply(const motion *by, double x[3])
{
    double y[3];
    for (int i = 0; i < 3; i++) {
        y[i] = by->c[i] + by->d[i];
        for (int k = 0; k < 3; k++) y[i] += by->R[3 * i + k] * (x[k] - by->c[k]);
    }
    memcpy(x, y, sizeof y);
}

/* A motion of b that the joint allows while a stays. */
static motion allowed(int kind, uint64_t *seed)
{
    motion m = { .R = { 1, 0, 0, 0, 1, 0, 0, 0, 1 } };
    double first[9], second[9];
    memcpy(m.c, O, sizeof m.c);
    for (int k = 0; k < 3; k++) {
        const double along = T[k] * number(&(uint64_t){ *seed });
        if (kind == ABUT_JOINT_CYLINDER || kind == ABUT_JOINT_SLIDER || kind == ABUT_JOINT_PIN_SLOT) m.d[k] = along;
        if (kind == ABUT_JOINT_PLANAR) m.d[k] = 0.7 * S[k];
    }
    switch (kind) {
    case ABUT_JOINT_BALL:
    case ABUT_JOINT_PIN_SLOT: turn_at_random(seed, m.R); break;
    case ABUT_JOINT_HINGE:
    case ABUT_JOINT_CYLINDER:
    case ABUT_JOINT_PLANAR: about(T, 3 * number(seed), m.R); break;
    case ABUT_JOINT_UNIVERSAL:
        about(T, 3 * number(seed), first);
        about(S, 3 * number(seed), second);
        abut_m3_mul(m.R, first, second);
        break;
    case ABUT_JOINT_DISTANCE: {
        double to[3];
        memcpy(to, TO, sizeof to);
        memcpy(m.c, TO, sizeof m.c);
        turn_at_random(seed, m.R);
        turn_at_random(seed, first);
        const motion around = { .R = { first[0], first[1], first[2], first[3], first[4], first[5], first[6], first[7], first[8] },
                                .c = { O[0], O[1], O[2] } };
        apply(&around, to);
        for (int k = 0; k < 3; k++) m.d[k] = to[k] - TO[k];
        break;
    }
    default: break;
    }
    return m;
}

/* Rank of A[rows * 12] by elimination with full pivoting. */
static int rank_of(double *A, int rows)
{
    int rank = 0;
    double first = 0;
    for (; rank < rows && rank < 12; rank++) {
        int pr = rank, pc = rank;
        for (int i = rank; i < rows; i++)
            for (int j = rank; j < 12; j++)
                if (fabs(A[12 * i + j]) > fabs(A[12 * pr + pc])) pr = i, pc = j;
        for (int j = 0; j < 12; j++) {
            const double t = A[12 * rank + j];
            A[12 * rank + j] = A[12 * pr + j], A[12 * pr + j] = t;
        }
        for (int i = 0; i < rows; i++) {
            const double t = A[12 * i + rank];
            A[12 * i + rank] = A[12 * i + pc], A[12 * i + pc] = t;
        }
        const double pivot = A[12 * rank + rank];
        first = fmax(first, fabs(pivot));
        if (fabs(pivot) <= 1e-9 * first) break;
        for (int i = rank + 1; i < rows; i++) {
            const double l = A[12 * i + rank] / pivot;
            for (int j = rank; j < 12; j++) A[12 * i + j] -= l * A[12 * rank + j];
        }
    }
    return rank;
}

TEST(rows_are_0_on_all_motions_that_a_joint_allows_have_its_rank_and_constant_second_derivatives)
{
    for (int kind = 0; kind < ABUT_JOINT_GEAR; kind++) {
        world w;
        uint64_t seed = 7 + (uint64_t)kind;
        double A[12 * 12] = { 0 }, C[ABUT_JOINT_WIDTH], d[24], x[4][24];
        world_scene(&w, TWO "joints: {j: {%s, between: [a, b]}}\n", KINDS[kind].form);
        const abut_model *m = &w.model;
        CHECK(m->njo == 1 && m->nv == 8 && m->joint_kind[0] == kind && m->nex == 1);
        for (int time = 0; time < 50; time++) {
            motion all = { .c = { 0, 0, 0 } };
            const motion relative = allowed(kind, &seed);
            turn_at_random(&seed, all.R);
            for (int k = 0; k < 3; k++) all.d[k] = number(&seed);
            memcpy(*x, m->X, sizeof *x);
            for (int i = 0; i < 8; i++) {
                if (i >= 4) apply(&relative, *x + 3 * i);
                apply(&all, *x + 3 * i);
            }
            CHECK_NEAR(abut_joint_gap(m, 0, *x), 0, 1e-14);
        }
        for (int i = 0; i < 24; i++) d[i] = number(&seed);
        for (int32_t r = 0; r < m->njr; r++) {
            double g[4], difference[2];
            (void)abut_joint_row(m, 0, r, *x, C);
            for (int k = 0; k < 24; k++) {
                const int body = k / 12;
                for (int e = 0; e < 3; e++) A[12 * r + 6 * body + e] += e == k % 3 ? C[k] : 0;
                const double *at = *x + 3 * (k / 3);
                A[12 * r + 6 * body + 3] += k % 3 == 1 ? -C[k] * at[2] : k % 3 == 2 ? C[k] * at[1] : 0;
                A[12 * r + 6 * body + 4] += k % 3 == 2 ? -C[k] * at[0] : k % 3 == 0 ? C[k] * at[2] : 0;
                A[12 * r + 6 * body + 5] += k % 3 == 0 ? -C[k] * at[1] : k % 3 == 1 ? C[k] * at[0] : 0;
            }
            double slope = 0;
            for (int i = 0; i < 24; i++) slope += C[i] * d[i];
            for (int s = 0; s < 4; s++) {
                for (int i = 0; i < 24; i++) x[1][i] = x[0][i] + (s - 1) * d[i];
                g[s] = abut_joint_row(m, 0, r, x[1], NULL);
            }
            difference[0] = (g[2] - g[0]) / 2 - slope;          /* exact for what is quadratic */
            difference[1] = g[3] - 3 * g[2] + 3 * g[1] - g[0];
            CHECK_NEAR(difference[0], 0, 1e-12 * (1 + fabs(g[3])));
            CHECK_NEAR(difference[1], 0, 1e-12 * (1 + fabs(g[3])));
        }
        CHECK(rank_of(A, m->njr) == KINDS[kind].rank);
        world_close(&w);
    }
}

/* A hinge and a slider that hang from the world, over a floor: contacts, locks, one open row. */
TEST(a_direction_with_joints_is_that_of_the_dense_system_with_multipliers)
{
    world w;
    world_scene(&w, "time: {step: 10 ms}\ncontact: {dhat: 5 mm, friction: {mu: 0.1}}\nobjects:\n"
                "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n"
                "  a: {generate: {box: {size: [0.3, 0.1, 0.1], cells: [1, 1, 1]}}, rigid: true, translate: [0, 0.052, 0]}\n"
                "  b: {generate: {box: {size: [0.1, 0.3, 0.2], cells: [1, 1, 1]}}, rigid: true, translate: [0.21, 0.3, 0.02],\n"
                "      velocity: [0.1, 0, 0.3]}\n"
                "  c: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, rigid: true, translate: [0.5, 0.3, 0.02],\n"
                "      lock: {translate: [false, false, true]}}\n"
                "joints:\n  j: {hinge: {at: [0.15, 0.1, 0], direction: [1, 0, 2]}, between: [a, b]}\n"
                "  k: {slider: {at: [0.3, 0.3, 0], direction: [1, 1, 0]}, between: [b, c]}\n"
                "  l: {pin-slot: {at: [0.5, 0.35, 0], direction: [0, 1, 0]}, between: [world, c]}\n");
    CHECK(!world_judged(&w, 2));
    CHECK(!abut_step_begin(&w.st, &w.frame, w.at, &w.rep, &w.err));
    abut_search *s = &w.st.solver;
    const abut_objective *p = &s->prob;
    const abut_model *m = p->model;
    const abut_joints *t = abut_joints_of(&p->terms);
    const size_t rows = (size_t)m->njr, n = 3 * (size_t)p->nrow, all = n + rows + 1;
    CHECK(rows == 6 + 5 + 2 && m->nlk == 1 && s->here.pairs.n_plane > 0);
    double *x = malloc(n * sizeof *x), *K = calloc(all * all, sizeof *K), *b = calloc(all, sizeof *b), *d = calloc(n, sizeof *d);
    memcpy(x, s->here.x, n * sizeof *x);
    for (int i = 12; i < 24; i++) x[i] += 1e-4 * (i % 5);       /* joints of b are open */
    abut_search_place(s, x);
    CHECK(!abut_search_contacts(s, &w.rep, &w.err));
    newton_system of;
    newton_system_open(&of, p, 0, 0);
    CHECK(!abut_point_evaluate(&s->here, p, ABUT_HAS_ENERGY | ABUT_HAS_GRADIENT, NULL, &s->scratch, &w.err));
    CHECK(!newton_system_sum(&of, s, &w.rep, &w.err));
    abut_bsr H = of.matrix.A;
    H.val = of.matrix.apart;
    double *D = dense_of(&H), before[13], worst = 0, most = 0, open = 0, lock = 0;
    memcpy(before, t->newtons, rows * sizeof *before);
    abut_rows_gather(p, s->here.g, -1, b);
    for (size_t i = 0; i < n; i++) memcpy(K + i * all, D + i * n, n * sizeof *K);
    for (size_t k = 0; k <= rows; k++) {
        for (size_t i = 0; i < (k < rows ? ABUT_JOINT_WIDTH : 12u); i++) {
            const int32_t j = k < 6 ? 0 : k < 11 ? 1 : 2;
            const int32_t node = k < rows ? m->joint_node[8 * j + (int32_t)i / 3] : m->lock_node[i / 3];
            if (node < 0) continue;
            const size_t at = 3 * (size_t)p->row[node] + i % 3;
            K[at * all + n + k] = K[(n + k) * all + at] = k < rows ? t->C[ABUT_JOINT_WIDTH * k + i] : m->lock_row[i];
        }
        b[n + k] = k < rows ? -t->g[k] : 0;
        open = fmax(open, fabs(b[n + k]));
    }
    dense_solve(K, b, all);
    abut_direction_info info;
    CHECK(!s->dir.ops->find(s->dir.self, &s->here, d, &info, &w.rep, &w.err));
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(d[i]));
        worst = fmax(worst, fabs(d[i] - b[3 * (size_t)p->row[i / 3] + i % 3]));
    }
    for (size_t i = 0; i < 12; i++) lock += m->lock_row[i] * d[3 * (size_t)m->lock_node[i / 3] + i % 3];
    CHECK(open > 1e-5 && most > 1e-5 && info.exact);
    CHECK_NEAR(worst / most, 0, 1e-9);
    CHECK_NEAR(lock / most, 0, 1e-14);
    double closed = 0, force = 0, off = 0;
    const double newton = p->step.h_force * p->step.h_force;
    for (int32_t j = 0; j < m->njo; j++)
        for (int32_t r = m->joint_first[2 * j]; r < m->joint_first[2 * j + 1]; r++) {
            double sum = t->g[r];
            for (int i = 0; i < ABUT_JOINT_WIDTH; i++)
                if (m->joint_node[8 * j + i / 3] >= 0)
                    sum += t->C[ABUT_JOINT_WIDTH * (size_t)r + (size_t)i] * d[3 * m->joint_node[8 * j + i / 3] + i % 3];
            closed = fmax(closed, fabs(sum));
            force = fmax(force, fabs(b[n + (size_t)r] / newton));
            off = fmax(off, fabs(t->newtons[r] - before[r] - b[n + (size_t)r] / newton));
        }
    CHECK_NEAR(closed, 0, 1e-16);
    CHECK_NEAR(off / force, 0, 1e-6);
    newton_system_close(&of);
    free(x), free(K), free(b), free(d), free(D);
    world_close(&w);
}

TEST(all_kinds_stay_closed_and_keep_momentum)
{
    for (int kind = 0; kind < ABUT_JOINT_GEAR; kind++) {
        world w;
        double before[3], after[3], gap = 0;
        world_scene(&w, TWO "joints: {j: {%s, between: [a, b]}}\n", KINDS[kind].form);
        for (int k = 0; k < 3; k++) {
            before[k] = after[k] = 0;
            for (int i = 0; i < 8; i++) before[k] += w.model.mass[i] * get(&w, "node/v")[3 * i + k];
        }
        for (int n = 0; n < 40; n++) {
            CHECK(!world_run(&w, 1));
            gap = fmax(gap, abut_joint_gap(&w.model, -1, get(&w, "node/x")));
        }
        CHECK_NEAR(gap, 0, 1e-10);
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < 8; i++) after[k] += w.model.mass[i] * get(&w, "node/v")[3 * i + k];
            CHECK_NEAR(after[k], before[k], 1e-10 * fabs(before[0]));
        }
        world_close(&w);
    }
}

/* Angle of object o about z since the start. */
static double angle_of(const world *w, int32_t o)
{
    const double *x = get(w, "node/x"), *X = w->model.X;
    double sine = 0, cosine = 0;
    for (int i = 4 * o + 1; i < 4 * o + 4; i++) {
        const double a[2] = { X[3 * i] - X[12 * o], X[3 * i + 1] - X[12 * o + 1] };
        const double b[2] = { x[3 * i] - x[12 * o], x[3 * i + 1] - x[12 * o + 1] };
        sine += a[0] * b[1] - a[1] * b[0], cosine += a[0] * b[0] + a[1] * b[1];
    }
    return atan2(sine, cosine);
}

/* Largest error of the angles of the double pendulum from 90, 90 degrees at 0.5 s: two boxes of 1 m and 10 kg, whose rigid
 * equations have been solved to 1e-12. */
static double pendulum_error(double h)
{
    world w;
    const double right = acos(0);
    world_scene(&w, "time: {step: %.17g, scheme: bdf2}\ncontact: off\nobjects:\n"
                "  upper: {generate: {box: {size: [1, 0.1, 0.1], cells: [1, 1, 1]}}, rigid: true, translate: [0.5, 0, 0]}\n"
                "  lower: {generate: {box: {size: [1, 0.1, 0.1], cells: [1, 1, 1]}}, rigid: true, translate: [1.5, 0, 0]}\n"
                "joints:\n  first: {hinge: {axis: [[0, 0, -0.1], [0, 0, 0.1]]}, between: [world, upper]}\n"
                "  second: {hinge: {at: [1, 0, 0], direction: [0, 0, 1]}, between: [upper, lower]}\n", h);
    CHECK(!world_run(&w, (int)lround(0.5 / h)));
    const double error[2] = { right + angle_of(&w, 0) - 0.447992788, right + angle_of(&w, 1) - 1.044122030 };
    double angle, position;
    abut_joint_coordinates(&w.model, 1, get(&w, "node/x"), &angle, &position);
    CHECK_NEAR(angle, angle_of(&w, 1) - angle_of(&w, 0), 1e-6);     /* what the strain of the loads makes of it */
    CHECK(isnan(position));
    CHECK_NEAR(abut_joint_gap(&w.model, -1, get(&w, "node/x")), 0, 1e-14);
    world_close(&w);
    return fmax(fabs(error[0]), fabs(error[1]));
}

TEST(a_double_pendulum_swings_as_its_equations_say_with_an_error_of_second_order)
{
    const double coarse = pendulum_error(5e-3), fine = pendulum_error(2.5e-3);
    CHECK(fine < 1e-4 && coarse > 3 * fine);
}

/* Boxes of 0.18 m hang from the world, each by a ball; once they rest, a joint bears all that is under it. */
TEST(joints_of_a_hanging_chain_bear_the_weight_under_them)
{
    enum { LINKS = 12 };
    static const double G = 0.05 * 0.05 * 0.18 * 1000 * 9.81;
    char text[4000];
    int n = snprintf(text, sizeof text, "time: {step: 10 ms}\nobjects:\n");
    for (int i = 0; i < LINKS; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "  l%d: {generate: {box: {size: [0.05, 0.18, 0.05], cells: [1, 1, 1]}}, "
                      "rigid: true, translate: [0, %g, 0]}\n", i, -0.1 - 0.2 * i);
    n += snprintf(text + n, sizeof text - (size_t)n, "joints:\n");
    for (int i = 0; i < LINKS; i++) {
        char above[12] = "world";
        if (i) snprintf(above, sizeof above, "l%d", i - 1);
        n += snprintf(text + n, sizeof text - (size_t)n, "  j%d: {ball: {at: [0, %g, 0]}, between: [%s, l%d]}\n", i, -0.2 * i,
                      above, i);
    }
    world w;
    world_scene(&w, "%s", text);
    CHECK(w.model.nex == LINKS - 1);
    CHECK(!world_judged(&w, 60));
    for (int32_t j = 0; j < LINKS; j++) {
        double f[3], torque[3];
        abut_joint_reaction(&w.model, j, get(&w, "node/x"), get(&w, "joint/multiplier"), f, torque);
        CHECK_NEAR(f[1] / ((LINKS - j) * G), 1, 1e-9);
        for (int k = 0; k < 3; k++) CHECK_NEAR(torque[k], 0, 1e-9);
        CHECK_NEAR(fabs(f[0]) + fabs(f[2]), 0, 1e-9);
    }
    world_close(&w);
}

/* A beam that a hinge across it holds: the moment at rest is m g times the arm. */
TEST(a_slider_bears_force_and_moment_of_a_cantilever)
{
    world w;
    double f[3], torque[3];
    world_scene(&w, "time: {step: 10 ms}\ncontact: off\nobjects:\n"
                "  beam: {generate: {box: {size: [1, 0.1, 0.1], cells: [1, 1, 1]}}, rigid: true, translate: [0.5, 0, 0]}\n"
                "joints: {j: {slider: {at: [0, 0, 0], direction: [1, 0, 0]}, between: [world, beam]}}\n");
    CHECK(!world_run(&w, 60));
    abut_joint_reaction(&w.model, 0, get(&w, "node/x"), get(&w, "joint/multiplier"), f, torque);
    CHECK_NEAR(f[1] / 98.1, 1, 1e-9);
    CHECK_NEAR(torque[2] / (98.1 * 0.5), 1, 1e-9);
    CHECK_NEAR(f[0], 0, 1e-6);
    world_close(&w);
}

/* Four hinges of parallel axes: rows that repeat each other. */
TEST(a_closed_loop_of_hinges_stays_closed_and_turns)
{
    world w;
    double angle, position, gap = 0;
    world_scene(&w, "time: {step: 5 ms, scheme: bdf2}\ncontact: {dhat: 1 mm}\nobjects:\n"
                "  crank: {generate: {box: {size: [0.1, 0.02, 0.02], cells: [1, 1, 1]}}, rigid: true, translate: [0.05, 0, 0]}\n"
                "  rod: {generate: {box: {size: [0.02, 0.3, 0.02], cells: [1, 1, 1]}}, rigid: true,\n"
                "        translate: [0.1, 0.15, 0.04]}\n"
                "  rocker: {generate: {box: {size: [0.3, 0.02, 0.02], cells: [1, 1, 1]}}, rigid: true,\n"
                "           translate: [0.25, 0.3, 0]}\n"
                "joints:\n  a: {hinge: {at: [0, 0, 0], direction: [0, 0, 1]}, between: [world, crank]}\n"
                "  b: {hinge: {at: [0.1, 0, 0], direction: [0, 0, 1]}, between: [crank, rod]}\n"
                "  c: {hinge: {at: [0.1, 0.3, 0], direction: [0, 0, 1]}, between: [rod, rocker]}\n"
                "  d: {hinge: {at: [0.4, 0.3, 0], direction: [0, 0, 1]}, between: [world, rocker]}\n");
    for (int n = 0; n < 100; n++) {
        CHECK(!world_run(&w, 1));
        gap = fmax(gap, abut_joint_gap(&w.model, -1, get(&w, "node/x")));
    }
    CHECK_NEAR(gap, 0, 1e-10);
    abut_joint_coordinates(&w.model, 0, get(&w, "node/x"), &angle, &position);
    CHECK(fabs(angle) > 1);
    world_close(&w);
}

/* Gradients of both terms against differences of their energies, matrices of drives against those of gradients, with all of the
 * forces 0 that the matrix leaves out. */
TEST(gradients_of_joints_and_drives_are_derivatives_of_their_energies)
{
    for (int slides = 0; slides < 2; slides++) {
        world w;
        uint64_t seed = 5;
        static const char *const name[] = { "joints", "drives of joints" };
        world_scene(&w, TWO "joints: {j: {%s, between: [a, b], spring: {stiffness: 3, rest: %s}, damper: 0.01, load: 2,\n"
                    "             friction: 0.5, limits: [%s]}}\nmotors: [{joint: j, rate: %s, stiffness: 2, damper: 0.02}]\n",
                    KINDS[slides ? ABUT_JOINT_SLIDER : ABUT_JOINT_HINGE].form,
                    slides ? "20 cm" : "40 deg", slides ? "-1 m, 1 m" : "-160 deg, 160 deg",
                    slides ? "1 m/s" : "10 rpm");
        CHECK(!world_run(&w, 3));
        CHECK(!abut_step_begin(&w.st, &w.frame, w.at, &w.rep, &w.err));
        abut_search *s = &w.st.solver;
        const abut_objective *p = &s->prob;
        abut_joints *t = abut_joints_of(&p->terms);
        for (int32_t r = 0; r < w.model.njr; r++) t->newtons[r] += number(&seed);
        t->sigma[0] = 3;
        for (int which = 0; which < 2; which++) {
            const abut_term *term = &p->terms.term[abut_terms_number(&p->terms, name[which])];
            double x[24], at_x[24], g[24] = { 0 }, other[2], e[2], val[324], d[24], pushed[2][24] = { { 0 } };
            memcpy(at_x, s->here.x, sizeof at_x);
            for (int i = 0; i < 24; i++) at_x[i] += 1e-3 * number(&seed), d[i] = number(&seed);
            abut_at at = { at_x, at_x, NULL, NULL, &p->step };
            CHECK(!term->ops->gradient(term->self, &at, 1, g, &s->scratch, &w.err));
            for (int side = 0; side < 2; side++) {
                for (int i = 0; i < 24; i++) x[i] = at_x[i] + (side ? 1e-6 : -1e-6) * d[i];
                at.x = at.z = x;
                CHECK(!term->ops->energy(term->self, &at, 1, &e[side], &s->scratch, &w.err));
                CHECK(!term->ops->gradient(term->self, &at, 1, pushed[side], &s->scratch, &w.err));
            }
            other[0] = other[1] = 0;
            for (int i = 0; i < 24; i++) other[0] += g[i] * d[i], other[1] += fabs(g[i] * d[i]);
            CHECK(other[1] > 0.01);
            CHECK_NEAR((e[1] - e[0]) / 2e-6, other[0], 1e-6 * other[1]);
            if (!which) continue;
            at.x = at.z = at_x;
            term->ops->hessian(term->self, &at, 1, 0, 1, val);
            double curve = 0, C = 0;
            for (int a = 0, k = 0; a < 8; a++)
                for (int b = a; b < 8; b++, k += 9)
                    for (int i = 0; i < 9; i++) curve += (1 + (a != b)) * val[k + i] * d[3 * a + i / 3] * d[3 * b + i % 3];
            /* g = V' C: the matrix is V'' C C^T, V'' = k + c/t */
            double x2[2];
            for (int side = 0; side < 2; side++) {
                double angle, position;
                for (int i = 0; i < 24; i++) x[i] = at_x[i] + (side ? 1e-6 : -1e-6) * d[i];
                abut_joint_coordinates(&w.model, 0, x, &angle, &position);
                x2[side] = slides ? position : angle;
            }
            C = (x2[1] - x2[0]) / 2e-6;
            CHECK_NEAR(curve / ((5 + 0.03 / p->step.damp_time) * C * C), 1, 1e-6);     /* friction slides */
        }
        world_close(&w);
    }
}

/* A wheel of inertia I under a torque with a damper c: rate (torque/c) (1 - exp(-c t/I)), some turns of it. */
TEST(a_wheel_with_a_load_and_a_damper_turns_as_its_equation_says_and_counts_its_turns)
{
    static const double t = 1.5, torque = 2, c = 0.05;
    const double I = 3.75 * (0.5 * 0.5 + 0.3 * 0.3) / 12;      /* 0.5 x 0.3 x 0.1 m, 250 kg/m^3 */
    world w;
    world_scene(&w, "time: {step: 5 ms, scheme: bdf2}\ncontact: off\ngravity: [0, 0, 0]\nmaterials: {m: {density: 250}}\n"
                "objects:\n  wheel: {generate: {box: {size: [0.5, 0.3, 0.1], cells: [1, 1, 1]}}, rigid: true}\n"
                "joints: {j: {hinge: {at: [0, 0, 0], direction: [0, 0, 1]}, between: [world, wheel], load: 2 N m,\n"
                "             damper: 0.05 N m s/rad}}\n");
    const abut_status rc = world_run(&w, 300);
    CHECK(!rc);
    const double found = get(&w, "joint/coordinate")[0], want = torque / c * (t - I / c * (1 - exp(-c * t / I)));
    CHECK(want > 4 * acos(-1));
    CHECK_NEAR(found / want, 1, 0.01);
    world_close(&w);
}

/* 2 kg on a slider under gravity with a spring and a damper: exactly the steps of implicit Euler, near the closed form. */
TEST(a_slider_with_a_spring_and_a_damper_moves_as_its_equation_says)
{
    static const double h = 1e-3, m = 2, k = 200, c = 8, g = 9.81;
    static const struct { int step; double x; } exact[] = { { 100, 0.039733813 }, { 200, 0.110606224 }, { 500, 0.098643911 } };
    world w;
    double x = 0, v = 0, angle, position;
    int at = 0;
    world_scene(&w, "time: {step: 1 ms}\ncontact: off\ntolerance: 1e-8 m/s\nmaterials: {m: {density: 2000}}\n"
                "objects:\n  block: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, rigid: true}\n"
                "joints: {j: {slider: {at: [0, 0, 0], direction: [0, -1, 0]}, between: [world, block],\n"
                "             spring: {stiffness: 200 N/m}, damper: 8 N s/m}}\n");
    for (int n = 1; n <= 500 && !world_run(&w, 1); n++) {
        v = (v + h * (g - k / m * x)) / (1 + h * c / m + h * h * k / m);
        x += h * v;
        abut_joint_coordinates(&w.model, 0, get(&w, "node/x"), &angle, &position);
        if (n != exact[at].step) continue;
        CHECK_NEAR(position, x, 1e-9);
        CHECK_NEAR(position / exact[at++].x, 1, 0.02);
    }
    CHECK(at == 3);
    world_close(&w);
}

/* A bar that swings down onto a stop at 30 degrees, and a block that slides down onto one at 20 cm. */
TEST(stops_are_never_passed_and_bear_what_falls_onto_them)
{
    world w;
    double angle[2], position[2], lowest = 0, furthest = 0;
    world_scene(&w, "time: {step: 5 ms}\ncontact: off\nobjects:\n"
                "  bar: {generate: {box: {size: [1, 0.1, 0.1], cells: [1, 1, 1]}}, rigid: true, translate: [0.5, 0, 0]}\n"
                "  block: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, rigid: true, translate: [3, 0, 0]}\n"
                "joints:\n  h: {hinge: {at: [0, 0, 0], direction: [0, 0, 1]}, between: [world, bar], limits: [-30 deg, 5 deg]}\n"
                "  s: {slider: {at: [3, 0, 0], direction: [0, -1, 0]}, between: [world, block], limits: [-1 cm, 20 cm]}\n");
    for (int n = 0; n < 160; n++) {
        CHECK(!world_run(&w, 1));
        for (int j = 0; j < 2; j++) abut_joint_coordinates(&w.model, j, get(&w, "node/x"), &angle[j], &position[j]);
        lowest = fmin(lowest, angle[0]), furthest = fmax(furthest, position[1]);
    }
    const double degree = acos(-1) / 180;
    CHECK(lowest > -30 * degree && furthest < 0.2);
    CHECK_NEAR(angle[0], -30 * degree, 1.01 * degree);
    CHECK_NEAR(position[1], 0.2, 1.01e-3 * 0.1);
    world_close(&w);
}

/* ---- motors and friction ---- */

/* r 0.1 m, l 0.3 m, a slider of 0.5 kg, the rest light: places, and after the start rates, accelerations and torques, of the
 * closed form x = r cos + sqrt(l^2 - r^2 sin^2). */
TEST(a_motor_turns_a_slider_crank_exactly_with_the_torque_that_moves_the_slider)
{
    static const double r = 0.1, l = 0.3, m = 0.5, h = 1 / 600.;
    const double w = 4 * acos(0);
    world o;
    world_scene(&o, "time: {step: %.17g, scheme: bdf2}\ngravity: [0, 0, 0]\ncontact: {dhat: 1 mm}\ntolerance: 1e-7 m/s\n"
                "materials: {heavy: {density: 2000}, light: {density: 0.01}}\nobjects:\n"
                "  crank: {material: light, generate: {box: {size: [0.1, 0.02, 0.02], cells: [1, 1, 1]}}, rigid: true,\n"
                "          translate: [0.05, 0, 0]}\n"
                "  rod: {material: light, generate: {box: {size: [0.3, 0.02, 0.02], cells: [1, 1, 1]}}, rigid: true,\n"
                "        translate: [0.25, 0, 0.06]}\n"
                "  slider: {material: heavy, generate: {box: {size: [0.1, 0.05, 0.05], cells: [1, 1, 1]}}, rigid: true,\n"
                "           translate: [0.4, 0, 0]}\n"
                "joints:\n  main: {hinge: {at: [0, 0, 0], direction: [0, 0, 1]}, between: [world, crank]}\n"
                "  pin: {hinge: {at: [0.1, 0, 0], direction: [0, 0, 1]}, between: [crank, rod]}\n"
                "  head: {hinge: {at: [0.4, 0, 0], direction: [0, 0, 1]}, between: [rod, slider]}\n"
                "  way: {slider: {at: [0.4, 0, 0], direction: [1, 0, 0]}, between: [world, slider]}\n"
                "motors: [{joint: main, rate: 60 rpm}]\n", h);
    double most = 0, place = 0, speed = 0, torque = 0, largest = 0, gap = 0;
    for (int n = 1; n <= 600; n++) {
        double angle, position, rate, v;
        CHECK(!(n % 100 ? world_run(&o, 1) : world_judged(&o, 1)));
        const double phi = w * h * n, s = sin(phi), c = cos(phi), root = sqrt(l * l - r * r * s * s);
        const double dx = -r * s - r * r * s * c / root;
        const double ddx = -r * c - r * r * ((c * c - s * s) / root + r * r * s * s * c * c / (root * root * root));
        abut_joint_coordinates(&o.model, 0, get(&o, "node/x"), &angle, &position);
        most = fmax(most, fabs(get(&o, "joint/coordinate")[0] - phi));
        CHECK_NEAR(remainder(angle - phi, w), 0, 1e-9);
        CHECK_NEAR(get(&o, "joint/target")[0], phi, 1e-12);
        gap = fmax(gap, abut_joint_gap(&o.model, -1, get(&o, "node/x")));
        if (n < 60) continue;                       /* it starts at rest */
        abut_joint_coordinates(&o.model, 3, get(&o, "node/x"), &angle, &position);
        place = fmax(place, fabs(position + 0.4 - (r * c + root)));
        abut_joint_rates(&o.model, 3, get(&o, "node/x"), get(&o, "node/v"), &rate, &v);
        speed = fmax(speed, fabs(v - w * dx));
        abut_joint_rates(&o.model, 0, get(&o, "node/x"), get(&o, "node/v"), &rate, &v);
        CHECK_NEAR(rate, w, 1e-3);
        CHECK(isnan(v));
        torque = fmax(torque, fabs(get(&o, "joint/effort")[0] - m * w * w * ddx * dx));
        largest = fmax(largest, fabs(m * w * w * ddx * dx));
    }
    CHECK_NEAR(most, 0, 1e-9);
    CHECK_NEAR(gap, 0, 1e-10);
    CHECK_NEAR(place, 0, 1e-5);
    CHECK_NEAR(speed, 0, 1e-3);
    CHECK_NEAR(torque / largest, 0, 1e-2);
    world_close(&o);
}

#define WHEEL "contact: off\ngravity: [0, 0, 0]\ntolerance: 1e-8 m/s\nmaterials: {m: {density: %.17g}}\nobjects:\n" \
    "  wheel: {generate: {box: {size: [0.3, 0.3, 0.1], cells: [1, 1, 1]}}, rigid: true%s}\n" \
    "joints: {j: {hinge: {at: [0, 0, 0], direction: [0, 0, 1]}, between: [world, wheel]%s}}\n"
static double density_of(double I) { return I / (0.3 * 0.3 * 0.1 * (0.3 * 0.3 + 0.3 * 0.3) / 12); }

static double torque_to(double q, double v, double most) { return fmax(-most, fmin(most, 8 * (1 - q) - 0.3 * v)); }

/* To a target of 1 rad: angles of the closed form, and with a bound those of the equation in a thousand steps for each. */
TEST(a_motor_with_a_stiffness_and_a_damper_goes_to_its_target_with_no_more_than_its_torque)
{
    static const double I = 0.02;
    static const struct { int step; double angle; } exact[] = { { 50, 0.365105123 }, { 100, 0.948550051 }, { 200, 1.236714734 },
                                                                { 500, 1.021773249 } };
    for (int clipped = 0; clipped < 2; clipped++) {
        world w;
        const double most = clipped ? 2 : INFINITY;
        double q = 0, v = 0, saturated = 0;
        int at = 0;
        world_scene(&w, "time: {step: 1 ms, scheme: bdf2}\n" WHEEL
                    "motors: [{joint: j, target: 1 rad, stiffness: 8 N m/rad, damper: 0.3 N m s/rad%s}]\n", density_of(I), "", "",
                    clipped ? ", max: 2 N m" : "");
        for (int n = 1; n <= 500; n++) {
            CHECK(!world_run(&w, 1));
            for (int i = 0; i < 1000; i++) {
                const double half = v + 0.5e-6 * torque_to(q, v, most) / I;
                q += 1e-6 * half, v = half + 0.5e-6 * torque_to(q, half, most) / I;
            }
            const double torque = torque_to(q, v, most), effort = get(&w, "joint/effort")[0];
            saturated += fabs(torque) == most;
            CHECK_NEAR(get(&w, "joint/coordinate")[0], q, 1e-3);
            CHECK(fabs(effort) <= most);
            CHECK_NEAR(effort, torque, 0.02 * 8);
            if (clipped || at == 4 || n != exact[at].step) continue;
            CHECK_NEAR(get(&w, "joint/coordinate")[0] / exact[at++].angle, 1, 0.01);
        }
        CHECK(clipped ? saturated > 50 && saturated < 400 : at == 4);
        world_close(&w);
    }
}

/* A wheel with a torque for some time, then without: w = T t / I. */
TEST(a_torque_acts_within_its_time_and_changes_in_it)
{
    world w;
    world_scene(&w, "time: {step: 2 ms, scheme: bdf2}\n" WHEEL
                "motors: [{joint: j, torque: {times: [0, 0.5 s], values: [0, 2]}, from: 0.2 s, until: 1.2 s}]\n",
                density_of(0.1), "", "");
    double rate, speed;
    for (int n = 1; n <= 700; n++) {
        CHECK(!world_run(&w, 1));
        abut_joint_rates(&w.model, 0, get(&w, "node/x"), get(&w, "node/v"), &rate, &speed);
        if (n <= 100) CHECK_NEAR(rate, 0, 1e-9);
        if (n > 350 && n <= 600) CHECK_NEAR(get(&w, "joint/effort")[0], 2, 1e-12);
    }
    CHECK_NEAR(rate / ((0.5 * 2 * 0.5 + 2 * 0.5) / 0.1), 1, 5e-3);
    CHECK_NEAR(get(&w, "joint/effort")[0], 0, 0);
    world_close(&w);
}

/* Two free bodies and a motor between them: no momentum arises, and the target is smooth. */
TEST(a_motor_between_free_bodies_is_exact_and_makes_no_momentum)
{
    for (int slides = 0; slides < 2; slides++) {
        world w;
        world_scene(&w, "time: {step: 5 ms}\ngravity: [0, 0, 0]\ncontact: {dhat: 1 mm}\ntolerance: 1e-8 m/s\nobjects:\n"
                    "  a: {generate: {box: {size: [0.3, 0.2, 0.1], cells: [1, 1, 1]}}, rigid: true}\n"
                    "  b: {generate: {box: {size: [0.1, 0.2, 0.4], cells: [1, 1, 1]}}, rigid: true,\n"
                    "      translate: [0.6, 0.1, -0.2]}\n"
                    "joints: {j: {%s, between: [a, b]}}\n"
                    "motors: [{joint: j, interpolation: smooth, target: {times: [0, 0.4 s], values: [%s]}}]\n",
                    KINDS[slides ? ABUT_JOINT_SLIDER : ABUT_JOINT_HINGE].form, slides ? "0, 30 cm" : "0 deg, 70 deg");
        for (int n = 1; n <= 100; n++) {
            double p[3] = { 0 }, angle, position;
            CHECK(!(n % 20 ? world_run(&w, 1) : world_judged(&w, 1)));
            const double u = fmin(1, n * 5e-3 / 0.4), want = u * u * (3 - 2 * u) * (slides ? 0.3 : 70 * acos(0) / 90);
            abut_joint_coordinates(&w.model, 0, get(&w, "node/x"), &angle, &position);
            CHECK_NEAR(slides ? position : angle, want, 1e-9);
            CHECK_NEAR(abut_joint_gap(&w.model, -1, get(&w, "node/x")), 0, 1e-10);
            for (int i = 0; i < 24; i++) p[i % 3] += w.model.mass[i / 3] * get(&w, "node/v")[i];
            for (int k = 0; k < 3; k++) CHECK_NEAR(p[k], 0, 1e-9);
        }
        world_close(&w);
    }
}

/* Wheels of 0.1 and 0.3 kg m^2 and a rack of 9 kg: the angles and the way are in exact ratio for some turns, and a torque on the
 * first accelerates I_1 + I_2 / r^2 + m / s^2, of which the gear bears the part of the rest. */
TEST(gears_keep_their_ratio_and_bear_the_torque_that_their_inertia_takes)
{
    static const double r = -2.5, s = 4;    /* angle of the first over that of the second; over the way of the rack */
    static const double I1 = 0.1, I2 = 0.3, m = 9, t = 1.2;
    world w;
    world_scene(&w, "time: {step: 2 ms, scheme: bdf2}\ngravity: [0, 0, 0]\ncontact: {dhat: 1 mm}\ntolerance: 1e-8 m/s\n"
                "materials: {one: {density: %.17g}, two: {density: %.17g}, rack: {density: 1000}}\nobjects:\n"
                "  one: {material: one, generate: {box: {size: [0.3, 0.3, 0.1], cells: [1, 1, 1]}}, rigid: true}\n"
                "  two: {material: two, generate: {box: {size: [0.3, 0.3, 0.1], cells: [1, 1, 1]}}, rigid: true,\n"
                "        translate: [0.5, 0, 0]}\n"
                "  rack: {material: rack, generate: {box: {size: [0.3, 0.3, 0.1], cells: [1, 1, 1]}}, rigid: true,\n"
                "         translate: [0, 0.5, 0]}\n"
                "joints:\n  both: {gear: {of: [a, b], ratio: %g}}\n"
                "  a: {hinge: {at: [0, 0, 0], direction: [0, 0, 1]}, between: [world, one]}\n"
                "  b: {hinge: {at: [0.5, 0, 0], direction: [0, 0, 1]}, between: [world, two]}\n"
                "  c: {slider: {at: [0, 0.5, 0], direction: [1, 0, 0]}, between: [world, rack]}\n"
                "  way: {gear: {of: [a, c], ratio: %g}}\n"
                "motors: [{joint: a, torque: 10 N m}]\n", density_of(I1), density_of(I2), r, s);
    CHECK(w.model.nex == 2);
    const double I = I1 + I2 / (r * r) + m / (s * s);
    for (int n = 1; n <= (int)lround(t / 2e-3); n++) {
        CHECK(!(n % 100 ? world_run(&w, 1) : world_judged(&w, 1)));
        const double *q = get(&w, "joint/coordinate");
        CHECK_NEAR(q[1] - r * q[2], 0, 1e-9);
        CHECK_NEAR(q[1] - s * q[3], 0, 1e-9);
        CHECK_NEAR(abut_joint_gap(&w.model, -1, get(&w, "node/x")), 0, 1e-10);
    }
    CHECK(get(&w, "joint/coordinate")[1] > 2 * acos(-1.0));
    CHECK_NEAR(get(&w, "joint/coordinate")[1] / (0.5 * 10 / I * t * t), 1, 0.01);
    const double *newtons = get(&w, "joint/multiplier");
    const double torque[2] = { -newtons[0] * w.model.joint_ratio[1], -newtons[w.model.joint_first[8]] * w.model.joint_ratio[9] };
    CHECK_NEAR(torque[0] / (-10 * I2 / (r * r) / I), 1, 0.01);
    CHECK_NEAR(torque[1] / (-10 * m / (s * s) / I), 1, 0.01);
    world_close(&w);
    /* a belt along an arm: it turns the hand against the arm as fast as the arm turns */
    world_scene(&w, "time: {step: 5 ms}\ncontact: {dhat: 1 mm}\nobjects:\n"
                "  arm: {generate: {box: {size: [0.5, 0.1, 0.1], cells: [1, 1, 1]}}, rigid: true, translate: [0.25, 0, 0]}\n"
                "  hand: {generate: {box: {size: [0.2, 0.1, 0.1], cells: [1, 1, 1]}}, rigid: true, translate: [0.65, 0, 0]}\n"
                "joints:\n  a: {hinge: {at: [0, 0, 0], direction: [0, 0, 1]}, between: [world, arm]}\n"
                "  b: {hinge: {at: [0.5, 0, 0], direction: [0, 0, 1]}, between: [arm, hand]}\n"
                "  belt: {gear: {of: [a, b], ratio: -1}}\n");
    for (int n = 0; n < 60; n++) CHECK(!world_run(&w, 1));
    CHECK(get(&w, "joint/coordinate")[0] < -0.3);
    CHECK_NEAR(get(&w, "joint/coordinate")[0] + get(&w, "joint/coordinate")[1], 0, 1e-9);
    CHECK_NEAR(angle_of(&w, 1), 0, 1e-5);
    world_close(&w);
}

/* Crank 0.1 m, coupler 0.3, rocker 0.25, ground 0.35: angles of the open branch, degrees. */
TEST(a_motor_turns_a_four_bar_linkage_through_the_angles_of_its_closed_form)
{
    static const struct { int phi; double coupler, rocker; } exact[] = {
        { 60, 32.046511404, 100.536323137 }, { 150, 26.671275730, 132.383858391 }, { 270, 58.841458687, 141.179203026 },
        { 360, 53.130102354, 106.260204708 } };
    const double degree = acos(-1.0) / 180;
    world w;
    int at = 0;
    world_scene(&w, "time: {step: 10 ms}\ngravity: [0, 0, 0]\ncontact: {dhat: 1 mm}\nobjects:\n"
                "  crank: {generate: {box: {size: [0.1, 0.02, 0.02], cells: [1, 1, 1]}}, rigid: true, translate: [0.05, 0, 0]}\n"
                "  coupler: {generate: {box: {size: [0.3, 0.02, 0.02], cells: [1, 1, 1]}}, rigid: true,\n"
                "            rotate: {axis: [0, 0, 1], angle: 53.130102354156 deg}, translate: [0.19, 0.12, 0.04]}\n"
                "  rocker: {generate: {box: {size: [0.25, 0.02, 0.02], cells: [1, 1, 1]}}, rigid: true,\n"
                "           rotate: {axis: [0, 0, 1], angle: 106.260204708312 deg}, translate: [0.315, 0.12, 0.08]}\n"
                "joints:\n  a: {hinge: {at: [0, 0, 0], direction: [0, 0, 1]}, between: [world, crank]}\n"
                "  b: {hinge: {at: [0.1, 0, 0], direction: [0, 0, 1]}, between: [crank, coupler]}\n"
                "  c: {hinge: {at: [0.28, 0.24, 0], direction: [0, 0, 1]}, between: [coupler, rocker]}\n"
                "  d: {hinge: {at: [0.35, 0, 0], direction: [0, 0, 1]}, between: [world, rocker]}\n"
                "motors: [{joint: a, rate: 20 rpm}]\n");
    for (int n = 1; n <= 300; n++) {
        CHECK(!(n % 40 ? world_run(&w, 1) : world_judged(&w, 1)));
        CHECK_NEAR(get(&w, "joint/coordinate")[0], 1.2 * n * degree, 1e-9);
        CHECK_NEAR(abut_joint_gap(&w.model, -1, get(&w, "node/x")), 0, 1e-10);
        if (at == 4 || n * 12 != exact[at].phi * 10) continue;
        CHECK_NEAR(angle_of(&w, 1) / degree + 53.130102354, exact[at].coupler, 1e-3);
        CHECK_NEAR(angle_of(&w, 2) / degree + 106.260204708, exact[at].rocker, 1e-3);
        at++;
    }
    CHECK(at == 4);
    world_close(&w);
}

/* Shafts bent by 30 degrees: tan out = tan in / cos 30, from an input arm in their plane. */
TEST(a_motor_turns_a_bent_shaft_through_a_universal_joint_as_its_closed_form_says)
{
    const double degree = acos(-1.0) / 180, c = cos(30 * degree), s = sin(30 * degree);
    world w;
    world_scene(&w, "time: {step: 10 ms}\ngravity: [0, 0, 0]\ncontact: off\nobjects:\n"
                "  in: {generate: {box: {size: [0.4, 0.05, 0.05], cells: [1, 1, 1]}}, rigid: true, translate: [-0.25, 0, 0]}\n"
                "  out: {generate: {box: {size: [0.4, 0.05, 0.05], cells: [1, 1, 1]}}, rigid: true,\n"
                "        rotate: {axis: [0, 0, 1], angle: 30 deg}, translate: [%.17g, %.17g, 0]}\n"
                "joints:\n  a: {hinge: {at: [-0.25, 0, 0], direction: [1, 0, 0]}, between: [world, in]}\n"
                "  u: {universal: {at: [0, 0, 0], first: [0, 1, 0], second: [0, 0, 1]}, between: [in, out]}\n"
                "  b: {hinge: {at: [%.17g, %.17g, 0], direction: [%.17g, %.17g, 0]}, between: [world, out]}\n"
                "motors: [{joint: a, rate: 15 rpm}]\n", 0.25 * c, 0.25 * s, 0.25 * c, 0.25 * s, c, s);
    for (int n = 1; n <= 300; n++) {
        double in, out, position;
        CHECK(!world_run(&w, 1));
        abut_joint_coordinates(&w.model, 0, get(&w, "node/x"), &in, &position);
        abut_joint_coordinates(&w.model, 2, get(&w, "node/x"), &out, &position);
        CHECK_NEAR(remainder(in - 0.9 * n * degree, 360 * degree), 0, 1e-9);
        CHECK_NEAR(remainder(out - atan2(sin(in), cos(in) * c), 360 * degree), 0, 1e-5);    /* strained at the start */
    }
    world_close(&w);
}

/* A soft block under a plate that swings from a hinge: welded nodes follow exactly, and bear its weight, 1 kg, in the end. */
TEST(welds_hold_nodes_of_a_soft_body_to_a_rigid_one_exactly_and_bear_it)
{
    world w;
    world_scene(&w, "time: {step: 10 ms}\ncontact: {dhat: 1 mm}\n"
                "materials: {steel: {density: 2000}, rubber: {density: 1000, young: 2e5, poisson: 0.4}}\nobjects:\n"
                "  plate: {generate: {box: {size: [0.2, 0.02, 0.2], cells: [1, 1, 1]}}, material: steel, rigid: true,\n"
                "          translate: [0, 0.06, 0]}\n"
                "  pad: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}}, material: rubber}\n"
                "joints:\n  hold: {hinge: {at: [0.05, 0.07, 0], direction: [0, 0, 1]}, between: [world, plate],\n"
                "         damper: 0.2 N m s/rad}\n"
                "  glue: {weld: {select: {box: [[-1, 0.049, -1], [1, 1, 1]]}}, between: [plate, pad]}\n");
    CHECK(w.model.njo == 10 && w.model.nex == 1);
    double lowest = 0, angle, position, f[3], torque[3], sum = 0, all = 0;
    for (int n = 0; n < 500; n++) {
        CHECK(!(n % 50 ? world_run(&w, 1) : world_judged(&w, 1)));
        CHECK_NEAR(abut_joint_gap(&w.model, -1, get(&w, "node/x")), 0, 1e-10);
        abut_joint_coordinates(&w.model, 0, get(&w, "node/x"), &angle, &position);
        lowest = fmax(lowest, fabs(angle));
    }
    CHECK(lowest > 0.1);
    for (int32_t j = 0; j < w.model.njo; j++) {
        const int32_t *node = w.model.joint_node + 8 * j;
        abut_joint_reaction(&w.model, j, get(&w, "node/x"), get(&w, "joint/multiplier"), f, torque);
        if (w.model.joint_kind[j] != ABUT_JOINT_WELD) all = f[1];
        else sum += f[1];
        if (w.model.joint_kind[j] != ABUT_JOINT_WELD) continue;
        CHECK(w.model.joint_weld[j] == 1 && node[5] < 0);
        CHECK_NEAR(w.model.X[3 * node[4] + 1], 0.05, 1e-12);
    }
    CHECK_NEAR(sum / 9.81, 1, 1e-4);
    CHECK_NEAR(all / (9.81 * 2.6), 1, 1e-4);
    world_close(&w);
}

/* A bead on a rod that a motion turns: r = r0 cosh(w t), pressed sideways by 2 m w r'. */
TEST(a_bead_on_a_rod_that_a_motion_turns_goes_outwards_as_its_equation_says)
{
    static const double w = 2, r0 = 0.2, m = 0.125;
    world o;
    world_scene(&o, "time: {step: 5 ms, scheme: bdf2}\ngravity: [0, 0, 0]\ncontact: {dhat: 1 mm}\nobjects:\n"
                "  rod: {generate: {box: {size: [0.2, 0.05, 0.05], cells: [1, 1, 1]}}, rigid: true}\n"
                "  bead: {generate: {box: {size: [0.05, 0.05, 0.05], cells: [1, 1, 1]}}, rigid: true, translate: [0.2, 0, 0],\n"
                "         angular-velocity: {axis: [0, 0, 1], rate: 2 rad/s, center: [0, 0, 0]}}\n"
                "joints: {s: {slider: {at: [0.2, 0, 0], direction: [1, 0, 0]}, between: [rod, bead]}}\n"
                "motion: [{select: {object: rod}, rotate: {axis: [0, 0, 1], rate: 2 rad/s, center: [0, 0, 0]}}]\n");
    double angle, position, f[3], torque[3];
    for (int n = 1; n <= 200; n++) {
        CHECK(!(n % 50 ? world_run(&o, 1) : world_judged(&o, 1)));
        abut_joint_coordinates(&o.model, 0, get(&o, "node/x"), &angle, &position);
        CHECK_NEAR((r0 + position) / (r0 * cosh(w * n * 5e-3)), 1, 1e-3);
        CHECK_NEAR(abut_joint_gap(&o.model, -1, get(&o, "node/x")), 0, 1e-10);
        CHECK_NEAR(angle_of(&o, 1), w * n * 5e-3, 1e-6);
    }
    abut_joint_reaction(&o.model, 0, get(&o, "node/x"), get(&o, "joint/multiplier"), f, torque);
    CHECK_NEAR((-sin(2.0) * f[0] + cos(2.0) * f[1]) / (2 * m * w * w * r0 * sinh(2.0)), 1, 0.01);
    CHECK_NEAR(cos(2.0) * f[0] + sin(2.0) * f[1], 0, 1e-3);
    world_close(&o);
}

/* A wheel that dry friction stops at I w / T after I w^2 / 2T, and that then sticks; a bar that it holds. */
TEST(dry_friction_of_a_hinge_stops_a_wheel_when_it_must_and_holds_what_is_lighter)
{
    static const double h = 2e-3, I = 0.1, most = 0.5, w0 = 4;
    world w;
    double stopped = 0, rate, speed, last = 0;
    world_scene(&w, "time: {step: 2 ms, scheme: bdf2}\n" WHEEL, density_of(I),
                ", angular-velocity: {axis: [0, 0, 1], rate: 4 rad/s}",
                ", friction: 0.5 N m");
    for (int n = 1; n <= 600; n++) {
        CHECK(!world_run(&w, 1));
        abut_joint_rates(&w.model, 0, get(&w, "node/x"), get(&w, "node/v"), &rate, &speed);
        if (rate > 1e-3) stopped = n * h;
        if (n == 500) last = get(&w, "joint/coordinate")[0];
    }
    CHECK_NEAR(stopped / (I * w0 / most), 1, 0.01);
    CHECK_NEAR(get(&w, "joint/coordinate")[0] / (I * w0 * w0 / (2 * most)), 1, 0.01);
    CHECK_NEAR(get(&w, "joint/coordinate")[0], last, 1e-4);
    world_close(&w);
    /* 10 kg at 0.5 m: 49.05 N m */
    for (int holds = 0; holds < 2; holds++) {
        world_scene(&w, "time: {step: 5 ms}\ncontact: off\nobjects:\n"
                    "  bar: {generate: {box: {size: [1, 0.1, 0.1], cells: [1, 1, 1]}}, rigid: true, translate: [0.5, 0, 0]}\n"
                    "joints: {j: {hinge: {at: [0, 0, 0], direction: [0, 0, 1]}, between: [world, bar], friction: %d N m}}\n",
                    holds ? 51 : 47);
        CHECK(!world_run(&w, 100));
        const double angle = get(&w, "joint/coordinate")[0];
        CHECK(holds ? angle <= 0 && angle > -1e-4 : angle < -1e-3);
        world_close(&w);
    }
}

TEST(joints_are_refused_by_name_where_they_mean_nothing)
{
#define BODIES "objects:\n  a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, rigid: true}\n" \
               "  b: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, rigid: true, translate: [3, 0, 0]}\n" \
               "  soft: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [6, 0, 0]}\n"
    static const struct {
        const char *text, *says;
    } CASES[] = {
        { BODIES "joints: {j: {ball: {at: [0, 0, 0]}, between: [a, soft]}}\n", "'soft' is not rigid" },
        { BODIES "joints: {j: {ball: {at: [0, 0, 0]}, between: [a, a]}}\n", "'a' twice" },
        { BODIES "joints: {j: {ball: {at: [0, 0, 0]}, between: [a, world]}}\n", "world" },
        { BODIES "joints: {j: {between: [a, b]}}\n", "expected one of ball, hinge" },
        { BODIES "joints: {j: {ball: {at: [0, 0, 0]}, fixed: {}, between: [a, b]}}\n", "found 2" },
        { BODIES "joints: {j: {hinge: {at: [0, 0, 0]}, between: [a, b]}}\n", "expected {axis: [point, point]}" },
        { BODIES "joints: {j: {hinge: {at: [0, 0, 0], direction: [0, 0, 0]}, between: [a, b]}}\n", "of length 0" },
        { BODIES "joints: {j: {universal: {at: [0, 0, 0], first: [1, 0, 0], second: [1, 1, 0]}, between: [a, b]}}\n",
          "perpendicular" },
        { BODIES "joints: {j: {distance: {from: [0, 0, 0], to: [0, 0, 0]}, between: [a, b]}}\n", "one point" },
        { BODIES "joints: {j: {ball: {at: [0, 0, 0]}, between: [a, b]}}\n"
          "motion: [{select: {object: [a, b]}, translate: [1, 0, 0]}]\n", "'j' joins 'b', which a motion moves, to another" },
        { BODIES "joints: {j: {ball: {at: [0, 0, 0]}, between: [world, b]}}\n"
          "motion: [{select: {object: b}, translate: [1, 0, 0]}]\n", "'j' joins 'b', which a motion moves, to the world" },
        { BODIES "joints: [1]\n", "a map of names" },
        { BODIES "joints: {j: {ball: {at: [0, 0, 0]}, between: [a, b], load: 1}}\n", "of a hinge or a slider" },
        { BODIES "joints: {j: {hinge: {at: [0, 0, 0], direction: [1, 0, 0]}, between: [a, b], limits: [5 deg, 9 deg]}}\n",
          "expected one below and one above the start" },
        { BODIES "joints: {j: {hinge: {at: [0, 0, 0], direction: [1, 0, 0]}, between: [a, b], spring: {stiffness: 3 N/m}}}\n",
          "N m/rad" },
        { BODIES "joints: {j: {ball: {at: [0, 0, 0]}, between: [a, b], friction: 1}}\n", "of a hinge or a slider" },
#define MOTOR(with) BODIES "joints: {j: {hinge: {at: [0, 0, 0], direction: [1, 0, 0]}, between: [a, b]}, s: {slider: {at: " \
    "[0, 0, 0], direction: [1, 0, 0]}, between: [a, b]}, p: {ball: {at: [0, 0, 0]}, between: [a, b]}}\nmotors: [" with "]\n"
#define WELD(between, with) BODIES "joints: {j: {weld: {select: {" with "}}, between: [" between "]}}\n"
        { WELD("world, soft", "surface: true"), "expected a rigid object and one that deforms" },
        { WELD("a, b", "surface: true"), "expected a rigid object and one that deforms" },
        { WELD("soft, b", "surface: true"), "'soft' is not rigid" },
        { WELD("a, soft", "object: b"), "selects nodes of other objects than 'soft'" },
        { WELD("a, soft", "box: [[90, 90, 90], [91, 91, 91]]"), "selects no node" },
        { WELD("a, soft", "surface: true") "motion: [{select: {object: soft}, fix: true}]\n", "which a motion moves" },
#define GEAR(with) BODIES "joints: {j: {hinge: {at: [0, 0, 0], direction: [1, 0, 0]}, between: [world, a]}, k: {hinge: {at: [" \
    "3, 0, 0], direction: [1, 0, 0]}, between: [world, b]}, p: {ball: {at: [3, 0, 0]}, between: [a, b]}, g: {" with "}}\n"
        { GEAR("gear: {of: [j, q], ratio: 2}"), "no joint is called 'q'" },
        { GEAR("gear: {of: [j, p], ratio: 2}"), "'p' is no hinge and no slider" },
        { GEAR("gear: {of: [j, j], ratio: 2}"), "the joints have 1 body beside" },
        { GEAR("gear: {of: [j, k], ratio: 0}"), "ratio: 0" },
        { GEAR("gear: {of: [j, k], ratio: 2}, between: [a, b]"), "a gear has the bodies of its joints" },
        { GEAR("gear: {of: [j, k]}"), "ratio" },
        { MOTOR("{joint: q, rate: 1 rpm}"), "no joint is called 'q'" },
        { MOTOR("{joint: p, rate: 1 rpm}"), "'p' is no hinge and no slider" },
        { MOTOR("{joint: j, rate: 1 rpm}, {joint: j, torque: 1}"), "'j' has a motor" },
        { MOTOR("{joint: j}"), "expected one of target, rate, torque, force; found 0" },
        { MOTOR("{joint: j, rate: 1 rpm, torque: 2}"), "found 2" },
        { MOTOR("{joint: j, force: 2}"), "'j' is a hinge" },
        { MOTOR("{joint: s, torque: 2}"), "'s' is a slider" },
        { MOTOR("{joint: s, rate: 2 rpm}"), "m/s" },
        { MOTOR("{joint: j, torque: 1, damper: 2}"), "of a motor with a target or a rate" },
        { MOTOR("{joint: j, target: 0 deg, damper: 2}"), "expected `stiffness` too" },
        { MOTOR("{joint: j, rate: 1 rpm, max: 2}"), "expected `stiffness` too, or `damper`" },
        { MOTOR("{joint: j, target: 9 deg}"), "expected 0 there, or `stiffness`" },
        { MOTOR("{joint: j, target: {times: [0, 1 s], values: [0 deg]}}"), "expected as many" },
        { MOTOR("{joint: j, rate: 1 rpm, from: 2, until: 1}"), "expected 'from' before 'until'" },
        { MOTOR("{joint: j, rate: 2000 rpm}"), "turns it by 2.09 rad in a time step" },
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        CHECK(scene_refused(CASES[i].text, ABUT_E_FORMAT, CASES[i].says, "test.yaml:"));
}
