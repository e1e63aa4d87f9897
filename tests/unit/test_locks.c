/* Locks of frames against a dense system with multipliers, closed forms of rails and hinges; torques; objects that do not
 * meet. */
#include "dense.h"
#include "newton_system.h"
#include "scene_world.h"

#include "contact/candidates.h"
#include "math/mat3.h"
#include "math/vec3.h"
#include "model/motion.h"

/* Two boxes that touch, both locked, and a floor: on a rail with one turn free, and free to slide alone. */
static const char *const LOCKED =
    "time: {step: 10 ms}\ntolerance: 1e-4 m/s\ncontact: {dhat: 5 mm, friction: {mu: 0.1}}\n"
    "materials: {m: {model: fixed-corotated, young: 4e5}}\nobjects:\n"
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n"
    "  low: {generate: {box: {size: [0.3, 0.1, 0.3], cells: [1, 1, 1]}}, translate: [0, 0.051, 0], frame: true,\n"
    "        angular-velocity: {axis: [0, 1, 0], rate: 1 rad/s},\n"
    "        lock: {translate: [true, false, false], rotate: [true, false, true]}}\n"
    "  high: {generate: {box: {size: [0.1, 0.12, 0.15], cells: [1, 1, 1]}}, translate: [0.01, 0.162, 0.02], frame: true,\n"
    "         velocity: [0.9, -0.1, 0.5], lock: {rotate: [true, true, true]}}\n"
    "  loose: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, translate: [0.02, 0.274, 0.02], frame: true}\n";

/* The model of an objective without its locks. */
static void hide_locks(const abut_objective *p, int32_t n) { ((abut_model *)(uintptr_t)p->model)->nlk = n; }

TEST(a_direction_with_locks_is_that_of_the_dense_system_with_multipliers)
{
    world w;
    world_scene(&w, "%s", LOCKED);
    CHECK(!world_judged(&w, 2));
    CHECK(!abut_step_begin(&w.st, &w.frame, w.at, &w.rep, &w.err));
    abut_search *s = &w.st.solver;
    const abut_objective *p = &s->prob;
    const abut_model *m = p->model;
    const int32_t locks = m->nlk;
    const size_t n = 3 * (size_t)p->nrow, all = n + (size_t)locks;
    CHECK(locks == 4 + 9 && s->here.pairs.n > 0);
    double *g = calloc(n, sizeof *g), *K = calloc(all * all, sizeof *K), *b = calloc(all, sizeof *b);
    double *d = calloc(3 * (size_t)m->nv, sizeof *d);
    newton_system free_of, with;
    const abut_at at = abut_objective_at(p, s->here.x, s->here.y, &s->here.pairs);
    hide_locks(p, 0);
    newton_system_open(&free_of, p, 0, 0);
    CHECK(!abut_objective_gradient(p, &at, ABUT_KINDS_ALL, s->here.g, &s->scratch, &w.err));
    CHECK(!newton_system_sum(&free_of, s, &w.rep, &w.err));
    abut_rows_gather(p, s->here.g, -1, g);
    double *D = dense_of(&free_of.matrix.A);
    hide_locks(p, locks);
    memcpy(b, g, n * sizeof *b);
    for (size_t i = 0; i < n; i++) memcpy(K + i * all, D + i * n, n * sizeof *K);
    for (size_t k = 0; k < (size_t)locks; k++)
        for (size_t i = 0; i < 12; i++) {
            const size_t row = 3 * (size_t)p->row[m->lock_node[4 * k + i / 3]] + i % 3;
            K[row * all + n + k] = K[(n + k) * all + row] = m->lock_row[12 * k + i] * D[0];
        }
    dense_solve(K, b, all);
    CHECK(!abut_objective_gradient(p, &at, ABUT_KINDS_ALL, s->here.g, &s->scratch, &w.err));
    newton_system_open(&with, p, 0, 1);
    CHECK(!newton_system_solve(&with, s, d, &w.rep, &w.err));
    double most = 0, off = 0, held = 0;
    for (int32_t i = 0; i < 3 * m->nv; i++) {
        most = fmax(most, fabs(d[i]));
        if (p->row[i / 3] >= 0) off = fmax(off, fabs(d[i] - b[3 * p->row[i / 3] + i % 3]));
    }
    for (size_t k = 0; k < (size_t)locks; k++) {
        double sum = 0;
        for (size_t i = 0; i < 12; i++) sum += m->lock_row[12 * k + i] * d[3 * (size_t)m->lock_node[4 * k + i / 3] + i % 3];
        held = fmax(held, fabs(sum));
    }
    CHECK(most > 1e-7);
    CHECK_NEAR(off / most, 0, 1e-7);
    CHECK_NEAR(held / most, 0, 1e-15);
    newton_system_close(&with);
    newton_system_close(&free_of);
    free(g), free(K), free(b), free(d), free(D);
    world_close(&w);
}

/* Centre of the four nodes of object o, and where its axis k, of unit length at rest, is: sum of x_k (L^-T s_k) / 4. */
static void pose_of(const world *w, int32_t o, double center[3], double axis[9])
{
    static const double s[4][3] = { { 1, 1, 1 }, { -1, 1, -1 }, { 1, -1, -1 }, { -1, -1, 1 } };
    const double *x = get(w, "node/x");
    double L[9] = { 0 }, now[9] = { 0 }, inverse[9];
    int32_t first = 0;
    while (w->model.body[first] != o) first++;
    memset(center, 0, 3 * sizeof *center);
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 3; i++) {
            center[i] += 0.25 * x[3 * (first + k) + i];
            for (int j = 0; j < 3; j++) {
                L[3 * i + j] += 0.25 * w->model.X[3 * (first + k) + i] * s[k][j];
                now[3 * i + j] += 0.25 * x[3 * (first + k) + i] * s[k][j];
            }
        }
    abut_m3_inverse(inverse, L);
    abut_m3_mul(axis, now, inverse);
}

TEST(what_is_locked_stays_to_rounding_through_contact_and_the_rest_moves)
{
    world w;
    double c[3], A[9], c0[3], A0[9];
    world_scene(&w, "%s", LOCKED);
    pose_of(&w, 1, c0, A0);
    CHECK(!world_judged(&w, 40));
    pose_of(&w, 0, c, A);
    CHECK_NEAR(c[0], 0, 1e-15);
    for (int i = 0; i < 3; i++) CHECK_NEAR(A[3 * i + 1], i == 1, 1e-14);     /* the axis y, about which it turns */
    CHECK(fabs(A[2]) > 1e-3);
    pose_of(&w, 1, c, A);
    for (int i = 0; i < 9; i++) CHECK_NEAR(A[i], A0[i], 1e-14);
    CHECK(fabs(c[0] - c0[0]) > 1e-2 && fabs(c[2] - c0[2]) > 1e-3);
    world_close(&w);
}

TEST(a_body_on_a_rail_falls_along_it_and_one_on_a_hinge_turns_as_its_tensor_says)
{
    world w;
    double c[3], A[9];
    world_scene(&w, "time: {step: 10 ms}\ngravity: [1, -9, 2]\ntolerance: 1e-9 m/s\ncontact: off\n"
                "materials: {m: {model: fixed-corotated, young: 1e9, density: 1000}}\nobjects:\n"
                "  rail: {generate: {box: {size: [1, 2, 3], cells: [1, 1, 1]}}, frame: true,\n"
                "         lock: {translate: [false, true, true], rotate: [true, true, true]}}\n"
                "  hinge: {generate: {box: {size: [1, 2, 3], cells: [1, 1, 1]}}, frame: true, translate: [9, 0, 0],\n"
                "          lock: {translate: [true, true, true], rotate: [true, true, false]}}\n"
                "  all: {generate: {box: {size: [1, 2, 3], cells: [1, 1, 1]}}, frame: true, translate: [-9, 0, 0], lock: all}\n"
                "motion: [{select: {object: hinge}, torque: [0, 5 kN m, 25 N m]}]\n");
    CHECK(!world_run(&w, 20));
    pose_of(&w, 0, c, A);
    CHECK_NEAR(c[0], 1e-4 * 20 * 21 / 2, 1e-10);
    CHECK_NEAR(c[1], 0, 1e-15);
    CHECK_NEAR(c[2], 0, 1e-15);
    pose_of(&w, 1, c, A);
    /* m = 6000 kg, I = m (1 + 4) / 12 about z, T h^2 n (n + 1) / 2 over it */
    CHECK_NEAR(atan2(A[3], A[0]), 25 / 2500. * 1e-4 * 210, 1e-10);
    for (int i = 0; i < 3; i++) CHECK_NEAR(c[i], i ? 0 : 9, 1e-14);
    for (int i = 0; i < 3; i++) CHECK_NEAR(A[3 * i + 2], i == 2, 1e-14);
    pose_of(&w, 2, c, A);
    for (int i = 0; i < 9; i++) CHECK_NEAR(A[i], i % 4 == 0, 1e-15);
    for (int i = 0; i < 3; i++) CHECK_NEAR(c[i], i ? 0 : -9, 1e-14);
    world_close(&w);
}

TEST(a_torque_has_its_moment_no_force_and_no_stretch_and_the_tensor_of_a_box)
{
    world w;
    double F[3] = { 0 }, M[3] = { 0 };
    world_scene(&w, "gravity: [0, 0, 0]\ncontact: off\nmaterials: {m: {density: 700}}\nobjects:\n"
                "  a: {generate: {box: {size: [1, 2, 3], cells: [1, 1, 1]}}, frame: true, translate: [4, 5, 6],\n"
                "      rotate: {axis: [1, 2, 3], angle: 40 deg}}\n"
                "  b: {generate: {box: {size: [1, 2, 3], cells: [2, 3, 4]}}}\n"
                "motion: [{select: {object: a}, torque: [3, -2, 700 mN m], from: 0.2 s},\n"
                "         {select: {object: b}, torque: [0, 4, 0]}]\n");
    double *acc = malloc(3 * (size_t)w.model.nv * sizeof *acc);
    abut_motion_acceleration(&w.model, 0, w.model.X, 0, acc);
    for (int i = 0; i < 12; i++) CHECK(acc[i] == 0);        /* not yet */
    abut_motion_acceleration(&w.model, 0.3, w.model.X, 0.31, acc);
    for (int i = 0; i < 4; i++) {
        const abut_vec3 f = abut_v3_scale(w.model.mass[i], abut_v3_get(acc + 3 * i)), x = abut_v3_get(w.model.X + 3 * i);
        const abut_vec3 l = abut_v3_cross(x, f);
        abut_v3_put(F, abut_v3_add(abut_v3_get(F), f));
        abut_v3_put(M, abut_v3_add(abut_v3_get(M), l));
        for (int k = 0; k < i; k++) {
            const abut_vec3 d = abut_v3_sub(x, abut_v3_get(w.model.X + 3 * k));
            CHECK_NEAR(abut_v3_dot(d, abut_v3_sub(abut_v3_get(acc + 3 * i), abut_v3_get(acc + 3 * k))), 0, 1e-15);
        }
    }
    static const double T[3] = { 3, -2, 0.7 };
    for (int k = 0; k < 3; k++) CHECK_NEAR(F[k], 0, 1e-12);
    for (int k = 0; k < 3; k++) CHECK_NEAR(M[k], T[k], 1e-12);
    /* lumped masses of the box turn about y at 4 N m over their own moment */
    double I = 0;
    for (int32_t i = 4; i < w.model.nv; i++)
        I += w.model.mass[i] * (w.model.X[3 * i] * w.model.X[3 * i] + w.model.X[3 * i + 2] * w.model.X[3 * i + 2]);
    double spin = 0;
    for (int32_t i = 4; i < w.model.nv; i++)
        spin += w.model.mass[i] * (w.model.X[3 * i + 2] * acc[3 * i] - w.model.X[3 * i] * acc[3 * i + 2]);
    CHECK_NEAR(spin, 4, 1e-12);
    CHECK(I > 0);
    free(acc);
    world_close(&w);
}

/* Candidates of a heap of boxes, those of excluded objects left out by hand. */
TEST(pairs_of_objects_in_a_group_are_no_candidates_and_all_others_are)
{
    world all, some;
    static const char *const heap =
        "contact: {dhat: 5 cm}\nobjects:\n"
        "  a: {generate: {box: {size: [1, 1, 1], cells: [2, 2, 2]}}%s}\n"
        "  b: {generate: {box: {size: [1, 1, 1], cells: [1, 2, 1]}}, translate: [1.02, 0.1, 0]%s}\n"
        "  c: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 2]}}, translate: [1.02, 1.12, 0]%s}\n"
        "  d: {generate: {box: {size: [3, 1, 1], cells: [3, 1, 1]}}, translate: [0.5, 2.15, 0], obstacle: true%s}\n"
        "  e: {generate: {rod: {length: 2, cells: 4}}, translate: [0.5, 1.63, 0.53], rod: {radius: 1 mm}%s}\n"
        "  f: {generate: {particles: {size: [2, 1, 1], count: [4, 2, 2]}}, translate: [0.2, 1.2, 1.1],\n"
        "      particle: {radius: 1 mm}%s}\n";
    world_scene(&all, heap, "", "", "", "", "", "");
    world_scene(&some, heap, ", groups: [one]", ", groups: [one, two]", ", groups: [two, three]", ", groups: [three]",
                ", groups: [three]", ", groups: [three, one]");
    /* one: a b f; two: b c; three: c d e f */
    static const int32_t pairs[10][2] = { { 0, 1 }, { 0, 5 }, { 1, 2 }, { 1, 5 }, { 2, 3 }, { 2, 4 }, { 2, 5 },
                                          { 3, 4 }, { 3, 5 }, { 4, 5 } };
    CHECK(some.model.nex == 10 && !memcmp(some.model.excluded, pairs, sizeof pairs));
    const abut_collmesh *cm = &all.st.solver.prob.cm;
    double *y = malloc(3 * (size_t)cm->nc * sizeof *y);
    abut_candidates a = { .of = { .y = NULL } }, b = { .of = { .y = NULL } };
    abut_collmesh_positions(cm, all.model.X, y);
    CHECK(!abut_candidates_find(cm, y, NULL, 0.3, NULL, &a, NULL));
    CHECK(!abut_candidates_find(&some.st.solver.prob.cm, y, NULL, 0.3, NULL, &b, NULL));
    size_t dropped = 0;
    for (int k = 0; k < ABUT_CANDIDATE_LISTS; k++) {
        const abut_pair_list *from = abut_candidates_list(&a, k), *left = abut_candidates_list(&b, k);
        size_t n = 0;
        for (size_t i = 0; i < from->n; i++) {
            const int32_t *u, *v;
            (void)abut_candidate_first(cm, abut_candidates_kind(k), from->ij[i], &u);
            (void)abut_candidate_second(cm, abut_candidates_kind(k), from->ij[i], &v);
            const int32_t p = abut_collmesh_object(cm, *u), q = abut_collmesh_object(cm, *v);
            int is_out = 0;
            for (int e = 0; e < 10; e++)
                is_out |= (pairs[e][0] == p && pairs[e][1] == q) || (pairs[e][0] == q && pairs[e][1] == p);
            dropped += is_out;
            if (is_out) continue;
            CHECK(n < left->n && !memcmp(left->ij[n], from->ij[i], sizeof *from->ij));
            n++;
        }
        CHECK(n == left->n);
    }
    CHECK(dropped > 20);
    abut_candidates_clear(&a);
    abut_candidates_clear(&b);
    free(y);
    world_close(&all);
    world_close(&some);
}

TEST(locks_torques_and_groups_are_refused_by_name_where_they_mean_nothing)
{
#define BODY "objects:\n  a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}"
    static const struct {
        const char *text, *says;
    } CASES[] = {
        { BODY ", lock: all}\n", "of a body with `frame` or `rigid: true`" },
        { BODY ", frame: true, lock: {rotate: [true, false, false]}}\n",
          "one rotation alone is no linear condition" },
        { BODY ", frame: true, velocity: [0, 1, 0], lock: all}\n",
          "velocity along y, which is locked" },
        { BODY ", frame: true,\n"
          "      angular-velocity: {axis: [1, 1, 0], rate: 1 rad/s}, lock: {rotate: [false, true, true]}}\n",
          "angular-velocity about y, which is locked" },
        { BODY ", frame: true, lock: {translate: [true, true, true]}}\n"
          "motion: [{select: {object: a}, translate: [1, 0, 0]}]\n", "'a' has a lock, and a motion moves it" },
        { BODY "}\n"
          "motion: [{select: {box: [[-1, -1, -1], [1, 1, 1]]}, torque: [1, 0, 0]}]\n", "turns one body: expected 'object'" },
        { "objects:\n  a: {generate: {rod: {length: 1, cells: 3}}, rod: {radius: 1 mm}}\n"
          "motion: [{select: {object: a}, torque: [1, 0, 0]}]\n", "on one line: expected three" },
        { BODY ", order: 2}\n"
          "motion: [{select: {object: a}, torque: [1, 0, 0]}]\n", "whose tets have order 2" },
        { BODY ", groups: one}\n", "groups" },
        { BODY "}\nmotion: [{select: {object: a}, torque: [1 N, 0, 0]}]\n",
          "2 N m" },
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        CHECK(scene_refused(CASES[i].text, ABUT_E_FORMAT, CASES[i].says, "test.yaml:"));
}
