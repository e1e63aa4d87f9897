/* From the text of a scene to the arrays of a model; damaged text gives an error, never a crash. */
#include "scene_made.h"

#include "base/rng.h"
#include "formats/ipc/script.h"
#include "mesh/generate/generate.h"
#include "model/motion.h"
#include "bytes.h"

static const char *const FULL =
    "abut: 1\n"
    "time: {step: 20 ms, end: 1.5 s}\n"
    "gravity: [0, -5, 1]\n"
    "contact: {dhat: 1e-3 l, friction: {mu: 0.3, eps_v: 2 m/s, lags: 4, pairs: [{between: [box, floor], mu: 0.9}]}}\n"
    "tolerance: 1e-2 l/s\n"
    "materials:\n"
    "  soft: {young: 3 kPa, density: 600}\n"
    "  hard: {model: fixed-corotated, young: 1 GPa, poisson: 0.1}\n"
    "objects:\n"
    "  box: {generate: {box: {size: [2, 1, 1], cells: [2, 1, 1]}}, material: soft, velocity: [1, 2, 3],\n"
    "        angular-velocity: {axis: [0, 0, 2], rate: 90 deg/s}}\n"
    "  wall: {generate: {box: {size: [1, 1, 1], cells: [3, 3, 3]}}, obstacle: true, translate: [5, 0, 0], velocity: [0, 1, 0]}\n"
    "  floor: {half-space: {point: [0, -3, 0], normal: [0, 2, 0]}, mu: 0.5}\n"
    "  ball: {generate: {sphere: {radius: 1, cells: 4}}, material: hard, translate: [-4, 0, 0], mu: 0.1}\n"
    "selections:\n"
    "  left: {object: box, relative-box: [[0, 0, 0], [0.1, 1, 1]]}\n"
    "motion:\n"
    "  - {select: left, rotate: {axis: [1, 0, 0], rate: 1 rad/s}, translate: [0, 0, 7], until: 2 s}\n"
    "  - {select: {object: ball, surface: true, sphere: {center: [-5, 0, 0], radius: 0.2}}, force: [10, 0, 0], from: 500 ms}\n"
    "  - {select: {}, acceleration: [0, 3, 0]}\n";

TEST(a_scene_becomes_the_arrays_it_says)
{
    made s;
    CHECK(made_well(&s, FULL));
    const abut_model *m = &s.m;
    CHECK(*m->h == 0.02 && *m->eps_v == 2 && *m->lags == 4);
    CHECK(m->gravity[1] == -5 && m->gravity[2] == 1);
    const abut_array *end = abut_arrays_find(&s.model_set, "time/end");
    CHECK(end && *(const double *)end->data == 1.5);
    /* simulated: the box [-1, 1] x [-.5, .5]^2, of extent sqrt(6), and the ball of radius 1 */
    CHECK_NEAR(*m->length, 2, 1e-14);
    CHECK_NEAR(*m->dhat, 1e-3 * sqrt(6), 1e-18);
    CHECK_NEAR(*m->dhat * m->obj_dhat[2], 2e-3, 1e-17);
    CHECK_NEAR(*m->tolerance, 1e-2 * *m->length, 1e-17);
    CHECK(m->no == 3 && m->nh == 1 && m->nm == 2 && m->nmo == 4);
    CHECK(m->mat_young[0] == 3000 && m->mat_density[0] == 600 && m->mat_model[1] == ABUT_FIXED_COROTATED);
    CHECK(m->hs_normal[1] == 1 && m->hs_point[1] == -3);
    char name[64];
    CHECK(!strcmp(abut_text_row(&s.model_set, "object/name", 2, name, sizeof name), "ball"));
    CHECK(!strcmp(abut_text_row(&s.model_set, "half-space/name", 0, name, sizeof name), "floor"));
    drop(&s);
}

/* Two scenes that say the same in other units, %s in place of each number of the list. */
static void same_in_other_units(const char *const said[][2])
{
    static const char scene[] =
        "time: {step: %s}\ngravity: [0, %s, 0]\ncontact: {dhat: %s, friction: {eps_v: %s}}\ntolerance: %s\n"
        "materials:\n  m: {young: %s, density: %s, poisson: 0.3}\n"
        "objects:\n  a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, material: m, velocity: [%s, %s, 0]}\n"
        "  k: {generate: {cloth: {size: [2, 2], cells: [1, 1]}}, obstacle: true, translate: [0, 0.6, 0]}\n"
        "motion:\n  - {select: {object: a}, force: [%s, %s, 0]}\n"
        "  - {select: {object: k}, rotate: {axis: [0, 1, 0], rate: %s}}\n"
        "attachments:\n  - {from: {object: a}, to: {object: k}, within: 15 cm, stiffness: %s}\n"
        "  - {from: {object: a}, to: {object: k}, within: 15 cm, stiffness: %s}\n";
    made s[2];
    int reals = 0;
    for (int k = 0; k < 2; k++) {
        char text[2048];
        (void)snprintf(text, sizeof text, scene, said[0][k], said[1][k], said[2][k], said[3][k], said[4][k], said[5][k],
                       said[6][k], said[7][k], said[8][k], said[9][k], said[10][k], said[13][k], said[11][k],
                       said[12][k]);
        CHECK(made_well(&s[k], text));
    }
    for (int set = 0; set < 2; set++) {
        const abut_arrays *p = set ? &s[0].frame_set : &s[0].model_set, *q = set ? &s[1].frame_set : &s[1].model_set;
        CHECK(p->n == q->n);
        for (int i = 0; i < p->n && i < q->n; i++) {
            const double *a = p->a[i].data, *b = q->a[i].data;
            const size_t n = abut_array_bytes(&p->a[i]);
            CHECK(!strcmp(p->a[i].name, q->a[i].name) && abut_array_bytes(&q->a[i]) == n);
            for (size_t k = 0; k < (p->a[i].type == ABUT_F64 ? n / sizeof *a : 0); k++, reals++)
                CHECK(a[k] == b[k] || fabs(a[k] - b[k]) <= 4e-16 * fabs(a[k]));
        }
    }
    CHECK(reals > 100);
    for (int k = 0; k < 2; k++) drop(&s[k]);
}

TEST(units_are_factors_of_si_units)
{
    static const char *const said[][2] = {
        { "0.01", "10000 us" },     { "-9.81", "-9810 mm/s^2" }, { "0.001 m", "1000 um" },  { "0.001 m/s", "1 mm/s" },
        { "2e-5 m/s", "20 um/s" },  { "1e5", "0.1 N/mm^2" },     { "1000", "1 g/cm^3" },    { "0.2", "20 cm/s" },
        { "0.2", "200 mm/s" },      { "2", "2000 mN" },          { "2", "0.002 kN" },       { "3e3", "3 N/mm" },
        { "3e3", "3 kN/m" },        { "180 deg/s", "3.141592653589793 rad/s" },
    }, *const more[][2] = {
        { "0.6", "0.01 min" },      { "-9.81", "-9810 mm/s^2" }, { "0.001 m", "1000000 nm" }, { "0.001 m/s", "1 mm/s" },
        { "2e-5 m/s", "20 um/s" },  { "1e5", "1 bar" },          { "1000", "1e-9 t/mm^3" },  { "10", "36 km/h" },
        { "-2", "-7.2 km/h" },      { "2", "2000 mN" },          { "2", "0.002 kN" },       { "3e3", "3 N/mm" },
        { "3e3", "3 kN/m" },        { "180 deg/s", "30 rpm" },
    };
    same_in_other_units(said);
    same_in_other_units(more);
}

TEST(masses_are_lumped_and_obstacles_have_the_least_mean_of_a_body)
{
    made s;
    CHECK(made_well(&s, FULL));
    double box = 0, ball = 0;
    int n = 0;
    for (int32_t i = 0; i < s.m.nv; i++) {
        if (s.m.body[i] == 0) box += s.m.mass[i];
        if (s.m.body[i] == 2) ball += s.m.mass[i], n++;
    }
    CHECK(ball / n < box / 12);
    CHECK_NEAR(box, 2 * 600, 1e-9);
    CHECK_NEAR(s.built.object[0].mass, 1200, 1e-9);
    for (int32_t i = 0; i < s.m.nv; i++)
        if (s.m.role[i] == ABUT_NODE_OBSTACLE) CHECK_NEAR(s.m.mass[i], ball / n, 1e-9);
    drop(&s);
}

TEST(only_the_surface_of_an_obstacle_enters_the_model)
{
    made s;
    CHECK(made_well(&s, FULL));
    CHECK(s.built.object[1].nodes == 64 - 8 && s.built.object[1].dropped == 8 && s.built.object[1].tets == 0);
    CHECK(s.m.nt == 6 * 2 + 6 * 64);
    /* box 2x1x1: 20 triangles; wall 3^3: 108; ball 4^3: 192; closed surfaces: 3/2 edges */
    CHECK(s.m.nct == 20 + 108 + 192 && s.m.nce == 3 * s.m.nct / 2 && s.m.nc == 12 + 56 + 98);
    for (int32_t i = 0; i < s.m.nc; i++) CHECK(i == 0 || s.m.coll_node[i] > s.m.coll_node[i - 1]);
    drop(&s);
}

TEST(velocities_are_linear_plus_spin_about_the_middle_and_of_handles_those_of_their_motion)
{
    made s;
    CHECK(made_well(&s, FULL));
    const double w = 1.5707963267948966;
    for (int32_t i = 0; i < s.m.nv; i++) {
        const double *x = s.f.x + 3 * i, *v = s.f.v + 3 * i;
        CHECK(!memcmp(x, s.m.X + 3 * i, 24));
        if (s.m.body[i] != 0) CHECK(v[0] == 0 && v[1] == 0 && v[2] == 0);
        else if (s.m.role[i] == ABUT_NODE_HANDLE) CHECK_NEAR(fabs(v[0]) + fabs(v[1] + x[2]) + fabs(v[2] - 7 - x[1]), 0, 1e-14);
        else CHECK_NEAR(fabs(v[0] - (1 - w * x[1])) + fabs(v[1] - (2 + w * x[0])) + fabs(v[2] - 3), 0, 1e-14);
    }
    drop(&s);
}

TEST(motions_select_their_nodes_and_say_what_they_do)
{
    made s;
    CHECK(made_well(&s, FULL));
    const abut_model *m = &s.m;
    /* 0: the wall keeps its velocity */
    CHECK(m->mo_kind[0] == ABUT_MOTION_MOVE && m->mo_linear[1] == 1 && m->mo_first[1] - m->mo_first[0] == 56);
    CHECK(isinf(m->mo_window[1]));
    /* 1: the left face of the box, about its middle */
    CHECK(m->mo_first[3] - m->mo_first[2] == 4 && m->mo_window[3] == 2 && m->mo_linear[5] == 7 && m->mo_angular[3] == 1);
    CHECK_NEAR(m->mo_center[3], -1, 1e-15);
    for (int32_t i = m->mo_first[2]; i < m->mo_first[3]; i++) CHECK(m->role[m->mo_node[i]] == ABUT_NODE_HANDLE);
    /* 2: 10 N on the foremost node of the ball, as an acceleration */
    CHECK(m->mo_kind[2] == ABUT_MOTION_FORCE && m->mo_first[5] - m->mo_first[4] == 1);
    const int32_t tip = m->mo_node[m->mo_first[4]];
    CHECK_NEAR(m->X[3 * tip], -5, 1e-15);
    CHECK_NEAR(m->mo_linear[6] * m->mass[tip], 10, 1e-12);
    CHECK(m->mo_window[4] == 0.5 && m->role[tip] == ABUT_NODE_FREE);
    /* 3: all simulated nodes */
    CHECK(m->mo_first[7] - m->mo_first[6] == 12 + 125 && m->mo_linear[10] == 3);
    CHECK(s.built.handles == 4);
    drop(&s);
}

/* mu of the objects (or of an object and the half-space, b = -1) through the classes of the model */
static double mu_of(const abut_model *m, int a, int b)
{
    const int32_t ca = m->obj_friction[a], cb = b < 0 ? m->hs_friction[0] : m->obj_friction[b];
    return m->mu[ca * m->ng + cb];
}

TEST(friction_follows_pair_then_own_then_scene)
{
    made s;
    CHECK(made_well(&s, FULL));
    CHECK(mu_of(&s.m, 0, -1) == 0.9);       /* the explicit pair */
    CHECK(mu_of(&s.m, 0, 0) == 0.3);        /* the scene's */
    CHECK(mu_of(&s.m, 0, 1) == 0.3);
    CHECK(mu_of(&s.m, 0, 2) == 0.1);        /* the one that has its own */
    CHECK(mu_of(&s.m, 1, -1) == 0.5);
    CHECK(mu_of(&s.m, 2, -1) == 0.3);       /* both have: (0.1 + 0.5) / 2 */
    CHECK(mu_of(&s.m, 2, 2) == 0.1);
    drop(&s);
}

static const char *const TABLE =
    "contact: {barrier: {continuity: c0}, friction: {mu: 0.3, smoothing: c2, lags: converged, pairs: [\n"
    "  {materials: [rubber, steel], mu: 0.8}, {materials: [steel, steel], mu: 0.15}, {between: [pad, plate], mu: 0.7}]}}\n"
    "materials: {rubber: {}, steel: {}, wood: {}}\n"
    "objects:\n"
    "  ball:   {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, material: rubber, mu: 0.05}\n"
    "  anvil:  {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, material: steel, translate: [3, 0, 0], mu: 0.25}\n"
    "  pad:    {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, material: rubber, translate: [6, 0, 0]}\n"
    "  plate:  {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, obstacle: true, material: steel, translate: [9, 0, 0]}\n"
    "  post:   {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, obstacle: true, translate: [12, 0, 0]}\n"
    "  log:    {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, material: wood, translate: [15, 0, 0]}\n"
    "  floor:  {half-space: {point: [0, -3, 0], normal: [0, 1, 0]}, material: steel}\n";

TEST(friction_of_materials_stands_between_that_of_objects_and_their_own)
{
    enum { BALL, ANVIL, PAD, PLATE, POST, LOG, FLOOR = -1 };
    made s;
    CHECK(made_well(&s, TABLE));
    static const struct { int a, b; double mu; } want[] = {
        { BALL, ANVIL, 0.8 }, { BALL, PLATE, 0.8 }, { BALL, FLOOR, 0.8 },   /* rubber on steel, although the ball has its own */
        { PAD, ANVIL, 0.8 }, { PAD, PLATE, 0.7 },                           /* those two by name */
        { ANVIL, ANVIL, 0.15 }, { ANVIL, PLATE, 0.15 }, { ANVIL, FLOOR, 0.15 },
        { BALL, BALL, 0.05 }, { BALL, PAD, 0.05 }, { PAD, PAD, 0.3 },       /* rubber on rubber is not in the table */
        { ANVIL, POST, 0.25 }, { PAD, POST, 0.3 },                          /* the post has no material */
        { LOG, LOG, 0.3 }, { LOG, PLATE, 0.3 }, { LOG, BALL, 0.05 }, { LOG, FLOOR, 0.3 } };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        CHECK_NEAR(mu_of(&s.m, want[i].a, want[i].b), want[i].mu, 0);
        if (want[i].b >= 0) CHECK_NEAR(mu_of(&s.m, want[i].b, want[i].a), want[i].mu, 0);
    }
    CHECK(s.m.ng == 6);     /* only the post and the log are alike: of no pair and without their own */
    CHECK(s.m.obj_friction[POST] == s.m.obj_friction[LOG]);
    CHECK(s.m.continuity && *s.m.continuity == ABUT_BARRIER_IPC_C0);
    CHECK(s.m.smoothing && *s.m.smoothing == ABUT_FRICTION_C2 && *s.m.lags == 0);
    CHECK(abut_arrays_find(&s.model_set, "contact/friction-smoothing")->flags & ABUT_A_REQUIRED);
    CHECK(abut_arrays_find(&s.model_set, "contact/barrier-continuity")->flags & ABUT_A_REQUIRED);
    drop(&s);
}

/* 1: the array, absent when the law is the published one, has the number of the law. */
static int has_law(const abut_arrays *model, const char *array, int number, int published)
{
    const abut_array *a = abut_arrays_find(model, array);
    return number == published ? !a : a && *(const int32_t *)a->data == number && (a->flags & ABUT_A_REQUIRED);
}

/* `log` is `ipc`; the filter is an array of its own; bounds of the stiffness by the curvature of ipc differ by 2 (1 - L). */
TEST(barriers_of_gipc_have_a_filter_and_a_choice_of_bounds)
{
    static const char *const text = "contact: {dhat: 1e-3 l, barrier: {law: %s}}\n"
                                    "objects: {box: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}}\n";
    static const char *const words[] = { "log", "log2", "log2, kappa: ipc", "log2, filter: 0.1", "log2, mollifier: off" };
    double kappa[5];
    for (int i = 0; i < 5; i++) {
        char scene[300];
        made s;
        snprintf(scene, sizeof scene, text, words[i]);
        CHECK(made_well(&s, scene));
        CHECK(has_law(&s.model_set, "contact/barrier-continuity", i ? ABUT_BARRIER_LOG2 : ABUT_BARRIER_IPC, ABUT_BARRIER_IPC));
        CHECK(!s.m.barrier_filter == (i != 3) && (i != 3 || *s.m.barrier_filter == 0.1));
        CHECK(!s.m.mollifier == (i < 4) && (i < 4 || *s.m.mollifier == 0));
        kappa[i] = *s.m.kappa_min;
        drop(&s);
    }
    CHECK(kappa[2] == kappa[0] && kappa[3] == kappa[1]);
    CHECK_NEAR(kappa[0] / kappa[1], 2 * (1 - log(1e-10)), 1e-3);
}

TEST(every_law_of_the_tables_is_a_word_of_scenes_and_a_number_of_streams)
{
    static const char *const text = "contact: {barrier: {law: %s}, friction: {smoothing: %s}}\n"
                                    "materials: {own: {model: %s%s}}\n"
                                    "objects: {box: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}}\n";
    const int b = abut_names_count(abut_barrier_names), f = abut_names_count(abut_friction_names);
    for (int i = 0; abut_material_names[i] || i < b || i < f; i++) {
        char scene[600];
        made s;
        const int k = i % abut_names_count(abut_material_names);
        snprintf(scene, sizeof scene, text, abut_barrier_names[i % b], abut_friction_names[i % f], abut_material_names[k],
                 k == ABUT_SPLINE ? ", spline: {stretch: [0.5, 1, 2], a: [-1, 0, 1], b: [0, 0, 0], c: [-1, 0, 1]}" : "");
        CHECK(made_well(&s, scene));
        CHECK(has_law(&s.model_set, "contact/barrier-continuity", i % b, ABUT_BARRIER_IPC));
        CHECK(has_law(&s.model_set, "contact/friction-smoothing", i % f, ABUT_FRICTION_C1));
        CHECK(s.m.mat_model[0] == k);
        CHECK(*s.m.kappa_min == s.built.kappa_min && *s.m.kappa_max == 100 * s.built.kappa_min && s.built.kappa_min > 0);
        drop(&s);
    }
}

TEST(a_friction_table_that_cannot_be_meant_is_refused)
{
#define REST                                                                                                                     \
    "materials: {rubber: {}, steel: {}}\nobjects:\n  a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, material: "       \
    "steel}\n"
    CHECK(refused("contact: {friction: {pairs: [{materials: [rubber, stel], mu: 1}]}}\n" REST, ABUT_E_FORMAT,
                  "no material is called 'stel'; did you mean 'steel'?"));
    CHECK(
        refused("contact: {friction: {pairs: [{materials: [rubber, steel], mu: 1}, {materials: [steel, rubber], mu: 1}]}}\n" REST,
                ABUT_E_FORMAT, "the same two as in"));
    CHECK(refused("contact: {friction: {pairs: [{between: [a, a], mu: 1}, {between: [a, a], mu: 0.5}]}}\n" REST, ABUT_E_FORMAT,
                  "the same two as in"));
    CHECK(refused("contact: {friction: {pairs: [{materials: [rubber, steel], between: [a, a], mu: 1}]}}\n" REST, ABUT_E_FORMAT,
                  "expected {between: "));
    CHECK(refused("contact: {friction: {pairs: [{materials: [rubber, steel], mu: -1}]}}\n" REST, ABUT_E_FORMAT, "mu is '-1'"));
    CHECK(refused("contact: {friction: {pairs: [{materials: [rubber], mu: 1}]}}\n" REST, ABUT_E_FORMAT,
                  "materials is a list of 1: expected a list of 2, [rubber, steel]"));
    CHECK(refused("contact: {friction: {smoothing: c3}}\n" REST, ABUT_E_FORMAT, "contact.friction.smoothing"));
    CHECK(refused("contact: {barrier: {continuity: 2}}\n" REST, ABUT_E_FORMAT, "contact.barrier.continuity"));
    CHECK(refused("contact: {barrier: {law: ipcc}}\n" REST, ABUT_E_FORMAT, "contact.barrier.law is 'ipcc'; did you mean 'ipc'?"));
    CHECK(refused("contact: {barrier: {filter: 1}}\n" REST, ABUT_E_FORMAT,
                  "contact.barrier.filter is '1': expected 0 or more and less than 1"));
    CHECK(refused("contact: {barrier: {filter: -0.1}}\n" REST, ABUT_E_FORMAT, "contact.barrier.filter is '-0.1'"));
    CHECK(refused("contact: {barrier: {kappa: log}}\n" REST, ABUT_E_FORMAT, "contact.barrier.kappa"));
    CHECK(refused("contact: {barrier: {law: ipc, continuity: c2}}\n" REST, ABUT_E_FORMAT, "contact.barrier.law is there"));
    CHECK(refused("contact: {friction: {lags: 0}}\n" REST, ABUT_E_FORMAT, "'converged'"));
    CHECK(refused("materials: {rubber: {}}\nobjects:\n  a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}\n"
                  "  f: {half-space: {normal: [0, 1, 0]}, material: ruber}\n", ABUT_E_FORMAT, "no material is called 'ruber'"));
#undef REST
}

TEST(meshes_are_scaled_then_turned_then_moved_then_repeated)
{
    made s;
    CHECK(made_well(&s,
                    "objects:\n"
                    "  a: {generate: {box: {size: [2, 4, 6], cells: [1, 1, 1]}}, scale: [-1, 1, 0.5],\n"
                    "      rotate: [{axis: [0, 0, 1], angle: 90 deg}, {axis: [1, 0, 0], angle: 90 deg}], translate: [10, 0, 0],\n"
                    "      repeat: {count: [1, 2, 1], spacing: [0, 9, 0]}}\n"));
    /* half sizes 1 2 1.5; about z: 2 1 1.5; about x: 2 1.5 1 */
    const abut_object_facts *f = &s.built.object[0];
    CHECK(f->lo[0] == 8 && f->hi[0] == 12 && f->lo[1] == -1.5 && f->hi[1] == 10.5 && f->lo[2] == -1 && f->hi[2] == 1);
    CHECK(f->nodes == 16 && f->tets == 12);
    CHECK_NEAR(f->volume, 2 * 2 * 4 * 3, 1e-12);    /* positive although mirrored */
    drop(&s);
}

TEST(fit_scales_the_longest_side_and_starts_at_the_origin)
{
    made s;
    CHECK(make(&s, "fit: 6\nobjects:\n  a: {generate: {box: {size: [1, 2, 1], cells: [1, 1, 1]}}}\n"
                   "  b: {generate: {rod: {length: 1, cells: 1}}, obstacle: true, translate: [3, 0, 0]}\n") == ABUT_OK);
    drop(&s);
    memset(&s, 0, sizeof s);
    s.scene = abut_scene_defaults();
    s.scene.fit = 8;
    CHECK(!abut_scene_rows(&s.scene.material, &s.scene.nmaterials, 1, sizeof *s.scene.material, &s.err));
    CHECK(!abut_scene_rows(&s.scene.object, &s.scene.nobjects, 2, sizeof *s.scene.object, &s.err));
    CHECK(!abut_generate_box((double[3]){ 1, 2, 1 }, (int32_t[3]){ 1, 1, 1 }, &s.scene.object[0].mesh, &s.err));
    CHECK(!abut_generate_rod(7, 1, &s.scene.object[1].mesh, &s.err));       /* x from -3.5 to 3.5 at y = z = 0 */
    abut_scene_place(&s.scene);
    double lo[3], hi[3];
    abut_mesh_bounds(&s.scene.object[0].mesh, lo, hi);
    CHECK_NEAR(lo[0], 3.0 * 8 / 7, 1e-14);
    CHECK_NEAR(hi[1], 2.0 * 8 / 7, 1e-14);
    CHECK(lo[1] == 0 && lo[2] == 0);
    abut_mesh_bounds(&s.scene.object[1].mesh, lo, hi);
    CHECK(lo[0] == 0);
    CHECK_NEAR(hi[0], 8, 1e-14);
    drop(&s);
}

/* A box 1 x 2 x 1 and a rod of length 7 along x, turned so that the rod stands up, fitted to 8, raised by half of l. */
TEST(a_scene_is_rotated_then_fitted_then_raised_but_for_what_stays)
{
    made s = { 0 };
    double lo[3], hi[3];
    s.scene = abut_scene_defaults();
    s.scene.fit = 8;
    s.scene.is_rotated = 1;
    memcpy(s.scene.rotation, (double[9]){ 0, -1, 0, 1, 0, 0, 0, 0, 1 }, sizeof s.scene.rotation);      /* 90 degrees about z */
    s.scene.lift = (abut_param){ 0.5, 1, "" };
    CHECK(!abut_scene_rows(&s.scene.material, &s.scene.nmaterials, 1, sizeof *s.scene.material, &s.err));
    CHECK(!abut_scene_rows(&s.scene.object, &s.scene.nobjects, 3, sizeof *s.scene.object, &s.err));
    CHECK(!abut_generate_box((double[3]){ 1, 2, 1 }, (int32_t[3]){ 1, 1, 1 }, &s.scene.object[0].mesh, &s.err));
    CHECK(!abut_generate_rod(7, 1, &s.scene.object[1].mesh, &s.err));
    CHECK(!abut_generate_rod(100, 1, &s.scene.object[2].mesh, &s.err));
    s.scene.object[1].obstacle = s.scene.object[2].obstacle = s.scene.object[2].in_place = 1;
    abut_scene_place(&s.scene);
    const double c = 8.0 / 7, rise = 0.5 * sqrt(6) * c;         /* the box alone is simulated: 2 x 1 x 1 after the turn */
    abut_mesh_bounds(&s.scene.object[0].mesh, lo, hi);
    CHECK_NEAR(lo[0], 0, 1e-14);
    CHECK_NEAR(hi[0], 2 * c, 1e-14);
    CHECK_NEAR(lo[1], 3 * c + rise, 1e-14);
    CHECK_NEAR(hi[1], 4 * c + rise, 1e-14);
    abut_mesh_bounds(&s.scene.object[1].mesh, lo, hi);
    CHECK_NEAR(lo[1], rise, 1e-14);
    CHECK_NEAR(hi[1], 8 + rise, 1e-14);
    CHECK_NEAR(lo[0], c, 1e-14);
    abut_mesh_bounds(&s.scene.object[2].mesh, lo, hi);
    CHECK(lo[0] == -50 && hi[0] == 50 && lo[1] == 0 && hi[1] == 0);
    drop(&s);
}

TEST(a_sequence_passes_through_every_position)
{
    enum { POINTS = 401, NV = 8 + POINTS };     /* more than any list has room for at first */
    made s;
    memset(&s, 0, sizeof s);
    s.scene = abut_scene_defaults();
    CHECK(!abut_scene_rows(&s.scene.material, &s.scene.nmaterials, 1, sizeof *s.scene.material, &s.err));
    CHECK(!abut_scene_rows(&s.scene.object, &s.scene.nobjects, 2, sizeof *s.scene.object, &s.err));
    s.scene.material[0] = (abut_scene_material){ .name = "m", .density = 1000, .young = 1e5, .poisson = 0.4 };
    abut_scene_object *o = s.scene.object;
    CHECK(!abut_generate_box((double[3]){ 1, 1, 1 }, (int32_t[3]){ 1, 1, 1 }, &o[0].mesh, &s.err));
    CHECK(!abut_generate_rod(1, POINTS - 1, &o[1].mesh, &s.err));
    o[1].obstacle = 1, o[1].material = -1, o[1].path.n = 5;
    o[1].path.time = malloc(5 * sizeof(double));
    double *x = o[1].path.x = malloc(5 * 3 * POINTS * sizeof(double));
    abut_rng rng = { 5 };
    for (int k = 0; k < 5; k++) o[1].path.time[k] = 0.25 * k;
    for (int i = 0; i < 5 * 3 * POINTS; i++) x[i] = i < 3 * POINTS ? o[1].mesh.x[i] : abut_rng_real(&rng, -1, 1);
    s.scene.step.value = 0.125;
    CHECK(!build(&s));
    CHECK(s.m.nmo == 1 && s.m.mo_kind[0] == ABUT_MOTION_PATH && s.m.nk == 5 && s.m.npx == 5 * POINTS);
    double at[3 * NV], to[3 * NV];
    uint8_t held[NV];
    CHECK(s.m.nv == NV);
    memcpy(at, s.f.x, 3 * NV * sizeof *at);
    for (int k = 0; k < 10; k++) {          /* two steps from key to key, and two after the last */
        abut_motion_targets(&s.m, 0.125 * k, at, to, held);
        memcpy(at, to, 3 * NV * sizeof *at);
        const int a = k < 8 ? (k + 1) / 2 : 4, b = k < 8 ? (k + 2) / 2 : 4;
        for (int i = 0; i < 3 * POINTS; i++)
            CHECK_NEAR(at[24 + i], 0.5 * (x[3 * POINTS * a + i] + x[3 * POINTS * b + i]), 1e-15);
        CHECK(!held[0] && held[8] && at[0] == s.m.X[0]);
    }
    drop(&s);
}

TEST(what_cannot_be_simulated_is_refused)
{
    CHECK(refused("objects: {}\n", ABUT_E_FORMAT, "nothing to simulate"));
    CHECK(refused("objects:\n  a: {generate: {cloth: {size: [1, 1], cells: [1, 1]}}}\n", ABUT_E_FORMAT,
                  "test.yaml:2:6: body 'a' has 2 triangles: expected shell: {thickness: length}"));
    CHECK(refused("objects:\n" BOX
                  "motion:\n  - {select: {object: a}, fix: true}\n  - {select: {}, translate: [1, 0, 0], from: 3 s}\n",
                  ABUT_E_FORMAT,
                  "test.yaml:5:5: node 0 of 'a' is moved by another motion (test.yaml:4:5) at the same time, from 3 s"));
    CHECK(refused("objects:\n" BOX "motion:\n  - {select: {object: a}, fix: true, force: [1, 0, 0]}\n", ABUT_E_FORMAT,
                  "expected one of translate and rotate and scale, keyframes, sequence, fix, acceleration, "
                  "force, torque, force-density, traction, pressure; found 2"));
    CHECK(refused("objects:\n" BOX "motion:\n  - {select: {box: [[1, 0, 0], [0, 1, 1]]}, fix: true}\n", ABUT_E_FORMAT,
                  "box: from 1 to 0 along axis 0"));
    CHECK(refused("objects:\n  a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, flip: true}\n", ABUT_E_GEOM,
                  "object 'a': all 6 tets are inverted: the mesh is stored inside out, and `flip: true` turns it over"));
    CHECK(refused("materials: {a: {}, b: {}}\nobjects:\n" BOX, ABUT_E_FORMAT, "object 'a' names no material, and there are 2"));
    CHECK(refused("objects:\n" BOX "  b: {generate: {rod: {length: 1, cells: 2}}, obstacle: true}\nmotion:\n"
                  "  - {select: {object: b}, force: [1, 0, 0]}\n", ABUT_E_FORMAT, "a force on an obstacle"));
    CHECK(refused("objects:\n" BOX "motion:\n  - {select: {object: a, sphere: {center: [9, 9, 9], radius: 1}}, fix: true}\n",
                  ABUT_E_FORMAT, "this motion selects no node: none of the 8 nodes of a satisfies"));
}

#define SHEET(more) "objects:\n  a: {generate: {cloth: {size: [1, 1], cells: [2, 2]" more "}}, shell: {thickness: 1 mm}}\n"

TEST(what_is_said_wrongly_is_refused_with_what_was_expected)
{
    static const struct { const char *text, *part; } bad[] = {
        { "materials: [rubber]\nobjects:\n" BOX, "test.yaml:1:12: materials is a list of 1: expected a map" },
        { "contact: {friction: {pairs: 3}}\nobjects:\n" BOX, "contact.friction.pairs is '3': expected a list, [{between: " },
        { "objects:\n  a: {velocity: [0, 1, 0]}\n", "object 'a': expected one of mesh, generate, union, sequence, half-space" },
        { "objects:\n  a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, mu: -0.1}\n",
          "mu is '-0.1': expected 0 or more" },
        { "objects:\n  123456789012345678901234567890123456789012345678901234567890123456789012345678901: {}\n",
          "a name of 81 letters: expected 1 to" },
        { "objects:\n  '': {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}\n", "a name of 0 letters: expected 1 to" },
        { "objects:\n" BOX "motion: [{select: {object: a, box: 3}, fix: true}]\n",
          "box is '3': expected [[x, y, z], [x, y, z]]" },
        { "objects:\n" BOX "motion: [{select: {object: a, half-space: {point: [0, 0, 0], normal: [0, 0, 0]}}, fix: true}]\n",
          "normal: expected a vector that is not zero" },
        { "objects:\n" BOX "motion: [{select: {object: a, cylinder: {axis: [0, 1, 0], radius: 1}}, fix: true}]\n",
          "axis is a list of 3: expected a list of 2, [[0, 0, 0], [0, 1, 0]]" },
        { "objects:\n" BOX "motion: [{select: {object: a}, fix: true, from: 2 s, until: 1 s}]\n",
          "from 2 s until 1 s: expected 'from' before 'until'" },
        { "objects:\n" BOX "motion: [{select: {object: b}, fix: true}]\n", "no object is called 'b'" },
        { SHEET(", roll: {radius: 0.1, gap: 0.01}, fold: {length: 0.1, gap: 0.01}"),
          "expected one of 'roll', 'fold' and 'along'" },
        { SHEET(", roll: {radius: 0.1}"), "gap" },
        { SHEET(", fold: {length: -1, gap: 0.01}"), "length is '-1': expected more than 0" },
        { SHEET(", jitter: 0.5"), "jitter 0.5: expected 0 to 0.3 of a cell" },
        { "materials: {m: {fibre: {direction: [1, 0, 0], stiffness: 1}}}\n" SHEET(""),
          "material 'm' has fibre, volume, stretch or quadrature, which are of tets: expected none of them for shells" },
        { "objects:\n  a: {generate: {icosphere: {radius: 1, divisions: 501}}, shell: {thickness: 1 mm}}\n",
          "divisions is '501': expected an integer from 1 to 500" },
        { "objects:\n  a: {generate: {strands: {count: [1, 1], spacing: 1, length: 1, cells: 1, lean: -1}}, rod: {radius: 1 "
          "mm}}\n",
          "lean -1 m: expected 0 or more" },
        { "objects:\n  a: {generate: {sprinkles: {count: [1, 1, 1], spacing: [1, 1, 1], length: 1, tilt: 200 deg}},\n"
          "    rod: {radius: 1 mm}}\n", "expected 0 to half a turn" },
        { "objects:\n  a: {generate: {blob: {capsules: [{from: [0, 0, 0], radius: 0.1}], cell: 0.05, blend: -1}}}\n", "blend" },
        { "objects:\n  a: {generate: {explicit: {points: [[0, 0, 0]]}}}\n", "explicit: expected tets, triangles or segments" },
        { "objects: {a: {mesh: no.such}}\n", "no.such" },
        { "objects:\n  a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, scale: [1, 0, 1]}\n",
          "scale: expected numbers that are not 0" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) CHECK(refused(bad[i].text, ABUT_E_FORMAT, bad[i].part));
}

/* Optional arrays cost every program that reads the stream. */
TEST(what_a_scene_does_not_say_is_not_in_its_stream)
{
    static const char *const absent[] = { "damping/mass", "damping/stiffness", "time/scheme", "world/wind", "material/fibre",
                                          "material/volume", "material/stretch", "material/spline", "tet/fibre",
                                          "object/thickness", "object/pressure", "object/drag", "material/membrane",
                                          "motion/kind", "half-space/point", "attachment/node",
                                          "contact/barrier-continuity", "contact/friction-smoothing" };
    made s;
    CHECK(made_well(&s, "objects:\n" BOX));
    for (size_t k = 0; k < sizeof absent / sizeof *absent; k++) {
        const int there = abut_arrays_find(&s.model_set, absent[k]) != NULL;
        if (there) printf("# %s\n", absent[k]);
        CHECK(!there);
    }
    drop(&s);
}

TEST(a_range_of_stretches_may_begin_at_0)
{
    made s;
    CHECK(made_well(&s, "materials: {m: {stretch: {range: [0, 1.2], stiffness: 7}}}\nobjects:\n" BOX));
    const abut_array *a = abut_arrays_find(&s.model_set, "material/stretch");
    CHECK(a && !memcmp(a->data, (double[3]){ 7, 0, 1.2 }, 3 * sizeof(double)));
    drop(&s);
}

TEST(motions_that_follow_one_another_are_fine)
{
    made s;
    CHECK(made_well(&s, "objects:\n" BOX "motion:\n  - {select: {object: a}, fix: true, until: 3 s}\n"
                        "  - {select: {}, translate: [1, 0, 0], from: 3 s}\n"));
    CHECK(s.m.nmo == 2);
    drop(&s);
}

/* The way is found here node by node, along an oblique motion and against a turned wall. */
TEST(a_motion_ends_at_its_gap_to_an_object)
{
    static const double v[3] = { 3, -2, 0.5 };
    const double speed = sqrt(9 + 4 + 0.25);
    made s;
    CHECK(made_well(&s, "objects:\n" BOX "  wall: {generate: {box: {size: [1, 2, 3], cells: [2, 2, 2]}}, obstacle: true,\n"
                        "         translate: [20, -9, 1], rotate: {axis: [1, 1, 0], angle: 30 deg}}\n"
                        "motion:\n  - {select: {object: a, surface: true}, translate: [3, -2, 0.5], from: 0.5 s,\n"
                        "     until: {gap: 0.25 l, to: wall}}\n"));
    double front = -INFINITY, wall = INFINITY;
    for (int32_t i = 0; i < s.m.nv; i++) {
        const double *x = s.f.x + 3 * i, along = (x[0] * v[0] + x[1] * v[1] + x[2] * v[2]) / speed;
        if (s.m.body[i] == 0) front = fmax(front, along);
        else wall = fmin(wall, along);
    }
    CHECK(s.m.nmo == 1 && s.m.mo_window[0] == 0.5);
    CHECK_NEAR(s.m.mo_window[1], 0.5 + (wall - front - 0.25 * s.built.length) / speed, 1e-13);
    drop(&s);
}

TEST(the_nearest_name_is_found_and_far_ones_are_not)
{
    static const char *const names[] = { "friction", "gravity", "time", "tolerance", NULL };
    CHECK(!strcmp(abut_name_nearest("frictoin", names), "friction"));
    CHECK(!strcmp(abut_name_nearest("tim", names), "time"));
    CHECK(!strcmp(abut_name_nearest("tolerence", names), "tolerance"));
    CHECK(!abut_name_nearest("colour", names));
}

/* ---- hostile text ---- */

TEST(damaged_scenes_and_scripts_never_crash)
{
    static const char *const script =
        "energy FCR\nsize 1\ntime 5 0.025\nshapes input 2\ninput/a.msh 0 3 0  0 0 90  1 1 1 material 1 2 0.3 DBC 0 0 0 1 1 1 0 0 "
        "0 0 0 9 1 2\n"
        "input/b.seg 0 1 0  0 0 0  1 1 1 \\\n angularVelocity 1 2 3\nground 0.1 0\nsection QP\nx\nsection end\ntuning "
        "3\n0\n1\n2\nzoom 1\n"
        "meshCO input/c.obj 0 0 0 1 50 0.5 rotate 0 0 90\nrotateModel 0 0 1 40\nhandleRatio 0.02\nshape input input/d.msh\n"
        "timeIntegration NM 0.25 0.5\ndampingRatio 0.1\nkappaMinMultiplier 1e10\nuseAbsParameters\ntol 2\n1\n1\n"
        "script DCOBallHitWall 1 67\n";
    abut_rng rng = { 21 };
    char text[4096];
    for (int round = 0; round < 1500; round++) {
        const char *from = round % 2 ? FULL : script;
        const size_t n = strlen(from);
        memcpy(text, from, n + 1);
        for (int k = 0; k <= round % 4; k++) {
            const size_t at = abut_rng_below(&rng, (uint32_t)n);
            if (round % 3) text[at] = "{}[]:,-\n xl#\\"[abut_rng_below(&rng, 13)];
            else memmove(text + at, text + at + 1, strlen(text + at));
        }
        made s = { 0 };
        abut_bytes in = { 0 };
        abut_ipc_notes notes;
        if (round % 2) {
            const abut_status rc = make(&s, text);
            CHECK(rc ? s.err.msg[0] != 0 : s.m.nv > 0);
        } else if (!bytes_copy("test.txt", text, strlen(text), &in, &s.err)) {
            const abut_status rc = abut_ipc_script_read(&s.arena, &in, "", &s.tree, &notes, &s.err);
            CHECK(rc ? s.err.msg[0] != 0 : s.tree != NULL);
        }
        drop(&s);
        abut_bytes_clear(&in);
    }
}

/* ---- robots ---- */

/* Writes a robot, and reads the scene of it with so many bytes for its tree, of one chunk of the arena; 0: any. */
static abut_status make_robot(made *s, const char *text, size_t size, size_t left)
{
    static const char *const scene = "robots: {r: {urdf: test_scene.urdf, base: fixed, position: {a: 1 rad}}}\n";
    const abut_tree *notes;
    FILE *f = fopen("test_scene.urdf", "wb");
    const int written = f && fwrite(text, 1, size, f) == size;
    memset(s, 0, sizeof *s);
    s->arena.limit = left ? 1 << 20 : 0;
    if (left) CHECK(abut_arena_alloc(&s->arena, (1 << 20) - left, 1) != NULL);
    if (f) fclose(f);
    if (!written) return abut_fail(&s->err, ABUT_E_IO, "test_scene.urdf: cannot be written");
    abut_status rc = abut_yaml_read(&s->arena, "test.yaml", scene, strlen(scene), &s->tree, &s->err);
    if (!rc) rc = abut_scene_robots(&s->arena, s->tree, "", &notes, &s->err);
    if (!rc) rc = abut_scene_read(s->tree, "", &s->scene, &s->err);
    return rc ? rc : build(s);
}

TEST(robots_are_read_whole_or_refused_whatever_is_damaged_and_however_little_memory_there_is)
{
#define SHAPE "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>" \
    "<collision><geometry><box size='.1 .1 .1'/></geometry></collision>"
    static const char *const robot =
        "<?xml version='1.0'?><robot name='r'><!-- two --><link name='x'>" SHAPE "</link><link name='y'>" SHAPE "</link>"
        "<link name='z'>" SHAPE "</link><joint name='a' type='revolute'><parent link='x'/><child link='y'/>"
        "<origin xyz='1 0 0' rpy='0 0 1'/><axis xyz='0 1 0'/><limit lower='-2' upper='2'/></joint><gazebo/>"
        "<joint name='b' type='continuous'><parent link='x'/><child link='z'/><origin xyz='-1 0 0'/>"
        "<mimic joint='a' multiplier='&#x9;2'/></joint></robot>";
    const size_t n = strlen(robot);
    char text[4096], good[4096];
    abut_rng rng = { 5 };
    made s;
    CHECK(make_robot(&s, robot, n, 0) == ABUT_E_FORMAT && strstr(s.err.msg, "'&': expected &lt;"));
    drop(&s);
    memcpy(good, robot, n + 1);
    memmove(strstr(good, "&#x9;"), strstr(good, "&#x9;") + 5, strlen(strstr(good, "&#x9;") + 5) + 1);
    CHECK(!make_robot(&s, good, n - 5, 0) && s.m.njo == 3);
    drop(&s);
    int refused = 0;
    for (size_t left = 64;; left += 320, refused++) {
        const abut_status rc = make_robot(&s, good, n - 5, left);
        drop(&s);
        CHECK(rc == ABUT_E_NOMEM || !rc);
        if (!rc) break;
    }
    CHECK(refused > 100);
    for (int round = 0; round < 1500; round++) {
        size_t left = n - 5;
        memcpy(text, good, left + 1);
        for (int k = 0; k <= round % 3; k++) {
            const size_t at = abut_rng_below(&rng, (uint32_t)left);
            if (round % 4) text[at] = "<>/'=&; x-.9\0!?"[abut_rng_below(&rng, 15)];
            else memmove(text + at, text + at + 1, left-- - at);
        }
        const abut_status rc = make_robot(&s, text, left, 0);
        CHECK(rc ? s.err.msg[0] != 0 : s.m.nv > 0);
        drop(&s);
    }
    remove("test_scene.urdf");
    CHECK(make(&s, "objects: {}\nrobots: {r: {urdf: x}}\n") == ABUT_E_FORMAT && strstr(s.err.msg, "robots: expected a scene"));
    drop(&s);
}
