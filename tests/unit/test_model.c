#include "check.h"
#include "model/naming.h"
#include "sample.h"

/* The view of the sample after one change must fail with a message that contains both texts. */
static void refused(abut_arrays *s, const char *array, const char *why)
{
    abut_model m = { .nv = 77 };
    abut_err err = { 0 };
    const abut_status rc = abut_model_view(s, &m, &err);
    CHECK(rc == ABUT_E_FORMAT && err.code == rc);
    CHECK(m.nv == 77 && !m.X);
    if (!strstr(err.msg, array) || !strstr(err.msg, why)) {
        check_bad++;
        printf("# expected '%s' and '%s' in: %s\n", array, why, err.msg);
    }
    abut_arrays_clear(s);
}

TEST(a_valid_set_gives_a_view_with_all_counts)
{
    abut_arrays s = { 0 };
    abut_model m;
    abut_err err = { 0 };
    sample_model(&s);
    CHECK(!abut_model_view(&s, &m, &err));
    CHECK(m.nv == 7 && m.nt == 1 && m.nm == 1 && m.no == 2 && m.nc == 7 && m.nce == 9 && m.nct == 5 && m.ng == 2);
    CHECK(m.nh == 1 && m.nmo == 1 && m.nmn == 1);
    CHECK(m.X == f64(&s, "node/X") && *m.h == 0.01 && m.mu[1] == 0.1 && m.gravity[1] == -9.81);
    char buf[8];
    CHECK(!strcmp(abut_text_row(&s, "object/name", 1, buf, sizeof buf), "floor"));
    CHECK(!strcmp(abut_text_row(&s, "object/name", 2, buf, sizeof buf), "?"));
    CHECK(!strcmp(abut_text_row(&s, "no/such", 0, buf, sizeof buf), "?"));
    CHECK(!strcmp(abut_text_row(&s, "object/name", 0, buf, 3), "ba"));
    abut_arrays_clear(&s);
}

TEST(nodes_and_elements_are_counted_within_their_object_wherever_they_stand)
{
    abut_arrays s = { 0 };
    abut_model m;
    abut_err err = { 0 };
    char object[ABUT_OBJECT_WORDS], nodes[ABUT_NODES_WORDS];
    sample_model(&s);
    CHECK(!abut_arrays_put_text(&s, "half-space/name", "ground\n", &err) && !abut_model_view(&s, &m, &err));
    CHECK(!strcmp(abut_nodes_words(&m, (const int32_t[]){ 4, 6, 5 }, 3, nodes), "triangle 0 2 1 of 'floor'"));
    CHECK(!strcmp(abut_half_space_words(&m, 0, object), "half-space 'ground'"));
    CHECK(!strcmp(abut_half_space_name(&m, 0, object), "ground"));
    const int32_t body[7] = { 1, 0, 1, 0, 0, 1, 0 }, bar[6] = { 1, 3, 0, 2, 4, 6 }, want[7] = { 0, 0, 1, 1, 2, 2, 3 };
    int32_t number[7], of[3];
    m.body = body;      /* copies of torn nodes stand behind those of all objects */
    CHECK(!abut_node_numbers(&m, number, &err) && !abut_element_numbers(&m, bar, 2, 3, of, &err));
    for (int32_t i = 0; i < 7; i++) CHECK(number[i] == want[i] && abut_node_number(&m, i) == want[i]);
    for (int32_t i = 0; i < 3; i++) CHECK(of[i] == (i == 2) && abut_element_number(&m, bar, 2, i) == of[i]);
    CHECK(abut_node_number(&m, -1) == -1 && abut_element_number(&m, bar, 2, -1) == -1);
    m.object_name = m.half_space_name = (abut_text){ 0 };
    CHECK(!strcmp(abut_nodes_words(&m, (const int32_t[]){ 5 }, 1, nodes), "node 2 of object 1"));
    CHECK(!strcmp(abut_half_space_name(&m, 0, object), "half-space 0"));
    abut_arrays_clear(&s);
}

TEST(optional_arrays_may_be_absent_and_count_zero)
{
    abut_arrays s = { 0 };
    abut_model m;
    abut_err err = { 0 };
    sample_model(&s);
    const char *const gone[] = { "tet/node", "tet/material", "half-space/point", "half-space/normal",
                                 "half-space/friction", "contact/triangle" };
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) abut_arrays_remove(&s, gone[i]);
    CHECK(!abut_model_view(&s, &m, &err));
    CHECK(m.nt == 0 && !m.tet && m.nh == 0 && m.nct == 0 && m.nm == 1);
    abut_arrays_remove(&s, "contact/node");
    refused(&s, "contact/edge", "value < 0");
}

TEST(every_index_is_held_to_its_range)
{
    static const struct { const char *array; int at, value; const char *why; } bad[] = {
        { "node/role", 2, 3, "row 2: 3" },          { "node/object", 6, 2, "row 6: 2" },
        { "tet/node", 1, 7, "row 0: 7" },           { "tet/node", 1, 0, "0 twice" },
        { "tet/material", 0, -1, "row 0: -1" },     { "material/model", 0, 99, "row 0: 99" },
        { "object/friction", 1, 2, "row 1: 2" },    { "contact/node", 3, 7, "row 3: 7" },
        { "contact/node", 3, 2, "already" },        { "contact/edge", 1, 0, "smaller index first" },
        { "contact/edge", 0, -1, "row 0: -1" },     { "contact/edge", 3, 1, "twice" },
        { "contact/triangle", 14, 7, "row 4: 7" },  { "contact/triangle", 14, 6, "6 twice" },
        { "half-space/friction", 0, 9, "row 0: 9" }, { "motion/kind", 0, 4, "row 0: 4" },
        { "motion/first", 1, 2, "[0, 2)" },         { "motion/node", 0, 0, "node 0 is free" },
        { "motion/node", 0, 7, "row 0: 7" },        { "contact/lags", 0, -1, "row 0: -1" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        abut_arrays s = { 0 };
        sample_model(&s);
        i32(&s, bad[i].array)[bad[i].at] = bad[i].value;
        refused(&s, bad[i].array, bad[i].why);
    }
}

TEST(every_quantity_is_held_to_its_domain)
{
    static const struct { const char *array; int at; double value; const char *why; } bad[] = {
        { "node/X", 4, (double)NAN, "row 1" },       { "node/mass", 0, 0, "more than 0" },
        { "node/mass", 4, -1, "0 or more" },         { "material/density", 0, 0, "more than 0" },
        { "material/young", 0, -1, "row 0: -1" },    { "material/poisson", 0, 0.5, "less than 0.5" },
        { "material/poisson", 0, -0.1, "no lower bound" },
        { "contact/mu", 0, -0.1, "row 0" },          { "contact/mu", 2, -0.1, "row 1: -0.1" },
        { "contact/mu", 1, 0.2, "other way round" },
        { "half-space/normal", 1, 1.00001, "length" }, { "motion/window", 0, (double)NAN, "row 0" },
        { "motion/linear", 2, (double)INFINITY, "finite" }, { "time/step", 0, 0, "more than 0" },
        { "contact/dhat", 0, 0, "more than 0" },       { "contact/kappa-max", 0, 9, "'contact/kappa-min', 10, or more" },
        { "motion/window", 1, -1, "expected the start first" },
        { "world/gravity", 0, (double)NAN, "finite" }, { "solve/tolerance", 0, -1, "row 0" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        abut_arrays s = { 0 };
        sample_model(&s);
        f64(&s, bad[i].array)[bad[i].at] = bad[i].value;
        refused(&s, bad[i].array, bad[i].why);
    }
}

TEST(a_law_that_no_table_has_is_refused)
{
    static const char *const array[] = { "contact/barrier-continuity", "contact/friction-smoothing", "material/model" };
    const char *const *const names[] = { abut_barrier_names, abut_friction_names, abut_material_names };
    for (int i = 0; i < 3; i++)
        for (int beyond = 0; beyond < 2; beyond++) {
            abut_arrays s = { 0 };
            char why[40];
            sample_model(&s);
            if (i < 2) SAMPLE_PUT(model, &s, array[i], int32_t, 1, 0);
            i32(&s, array[i])[0] = beyond ? abut_names_count(names[i]) : -1;
            snprintf(why, sizeof why, "expected 0 <= value < %d", abut_names_count(names[i]));
            refused(&s, array[i], why);
        }
}

/* The motion of the sample as one that follows keys: two poses, or two positions of its node. */
static void sample_keys(abut_arrays *s, int kind)
{
    sample_model(s);
    i32(s, "motion/kind")[0] = kind;
    SAMPLE_PUT(model, s, "motion/key", int32_t, 1, 0, 2);
    SAMPLE_PUT(model, s, "motion/smooth", int32_t, 1, 0);
    SAMPLE_PUT(model, s, "motion/path", int32_t, 1, 0);
    SAMPLE_PUT(model, s, "key/time", double, 2, 0, 1);
    SAMPLE_PUT(model, s, "key/translation", double, 2, 0, 0, 0, 1, 0, 0);
    SAMPLE_PUT(model, s, "key/rotation", double, 2, 1, 0, 0, 0, 0, 1, 0, 0);
    SAMPLE_PUT(model, s, "key/scale", double, 2, 1, 1, 1, 1, 2, 1);
    SAMPLE_PUT(model, s, "path/x", double, 2, 0, 2, 0, 0, 3, 0);
}

/* Factors of a load, of a pressure. */
TEST(keys_of_loads_are_held_to_the_same)
{
    abut_arrays s = { 0 };
    abut_model m;
    static const char *const name[2] = { "motion/key", "object/pressure-key" };
    for (int pressed = 0; pressed < 2; pressed++) {
        for (int how = 0; how < 6; how++) {
            sample_keys(&s, ABUT_MOTION_FORCE);
            SAMPLE_PUT(model, &s, "key/factor", double, 2, 0, 1);
            const int32_t no = (int32_t)abut_arrays_find(&s, "object/friction")->shape[0];
            int32_t *rows = pressed ? abut_model_put(&s, "object/pressure-key", no, NULL) : i32(&s, "motion/key");
            if (pressed) memset(rows, 0, 2 * (size_t)no * sizeof *rows), rows[1] = 2;
            if (how == 1) rows[0] = 2;      /* no key: no factor */
            if (how < 2) {
                CHECK(!abut_model_view(&s, &m, NULL) && m.nk == 2 && m.key_factor[1] == 1);
                abut_arrays_clear(&s);
                continue;
            }
            if (how == 2) f64(&s, "key/time")[1] = 0;
            if (how == 3) rows[1] = 3;
            if (how == 4) rows[0] = -1;
            if (how == 5) f64(&s, "key/factor")[1] = (double)NAN;
            static const char *const why[] = { "0 s after 0 s, expected a later time", "[0, 3)", "[-1, 2)",
                                               "row 1: nan, expected a finite number" };
            refused(&s, how == 2 ? "key/time" : how == 5 ? "key/factor" : name[pressed], why[how - 2]);
        }
    }
    sample_keys(&s, ABUT_MOTION_MOVE);
    const int32_t no = (int32_t)abut_arrays_find(&s, "object/friction")->shape[0];
    int32_t *rows = abut_model_put(&s, "object/pressure-key", no, NULL);
    memset(rows, 0, 2 * (size_t)no * sizeof *rows), rows[1] = 2;
    refused(&s, "key/factor", "is missing: the pressure of object 0 has keys");
}

TEST(keys_are_held_to_their_order_and_size)
{
    abut_arrays s = { 0 };
    abut_model m;
    static const char *const gone[] = { "motion/key", "key/translation", "key/rotation", "key/scale", "motion/path" };
    for (int kind = ABUT_MOTION_KEYS; kind <= ABUT_MOTION_PATH; kind++) {
        sample_keys(&s, kind);
        CHECK(!abut_model_view(&s, &m, NULL) && m.nk == 2 && m.npx == 2);
        abut_arrays_clear(&s);
        sample_keys(&s, kind);
        f64(&s, "key/time")[1] = 0;
        refused(&s, "key/time", "0 s after 0 s, expected a later time");
        sample_keys(&s, kind);
        i32(&s, "motion/key")[1] = 3;
        refused(&s, "motion/key", "[0, 3)");
        sample_keys(&s, kind);
        i32(&s, "motion/node")[0] = 0;
        refused(&s, "motion/node", "node 0 is free");
    }
    for (int i = 0; i < 5; i++) {
        sample_keys(&s, i < 4 ? ABUT_MOTION_KEYS : ABUT_MOTION_PATH);
        abut_arrays_remove(&s, gone[i]);
        refused(&s, gone[i], "is missing");
    }
    sample_keys(&s, ABUT_MOTION_PATH);
    i32(&s, "motion/path")[0] = 1;
    refused(&s, "motion/path", "1, and 2 rows from there; path/x has 2");
    sample_keys(&s, ABUT_MOTION_KEYS);
    f64(&s, "key/rotation")[4] = 1;
    refused(&s, "key/rotation", "row 1: length");
    sample_keys(&s, ABUT_MOTION_KEYS);
    f64(&s, "key/scale")[4] = 0;
    refused(&s, "key/scale", "row 1: 0, expected more than 0");
    sample_keys(&s, ABUT_MOTION_KEYS);
    i32(&s, "motion/smooth")[0] = 2;
    refused(&s, "motion/smooth", "row 0: 2");
}

TEST(attachments_tie_nodes_of_bodies_to_others)
{
    static const struct { const char *array; int at; double value; const char *why; } bad[] = {
        { "attachment/node", 0, -1, "row 0: starts with -1, expected a node of a body" },
        { "attachment/node", 5, 5, "row 1: starts with 5" }, { "attachment/node", 3, 7, "row 0: 7" },
        { "attachment/node", 6, 1, "row 1: 1 twice" },       { "attachment/stiffness", 1, 0, "more than 0" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad + 1; i++) {
        abut_arrays s = { 0 };
        abut_model m;
        sample_model(&s);
        SAMPLE_PUT(model, &s, "attachment/node", int32_t, 2, 0, 4, 5, 6, -1, 1, -1, -1, -1, -1);
        SAMPLE_PUT(model, &s, "attachment/weight", double, 2, 0.5, 0.25, 0.25, 0, 0, 0, 0, 0);
        SAMPLE_PUT(model, &s, "attachment/offset", double, 2, 0, 4, 0, 1, 2, 3);
        SAMPLE_PUT(model, &s, "attachment/stiffness", double, 2, 1, 2);
        if (i == sizeof bad / sizeof *bad) {
            CHECK(!abut_model_view(&s, &m, NULL) && m.na == 2);
            abut_arrays_remove(&s, "attachment/offset");
            refused(&s, "attachment/offset", "missing");
            continue;
        }
        if (i < 4) i32(&s, bad[i].array)[bad[i].at] = (int32_t)bad[i].value;
        else f64(&s, bad[i].array)[bad[i].at] = bad[i].value;
        refused(&s, bad[i].array, bad[i].why);
    }
}

/* Two shells with a hinge, a bent rod, a particle; of two materials, the second a fabric. */
static void sample_codim(abut_arrays *s)
{
    sample_model(s);
    SAMPLE_PUT(model, s, "shell/node", int32_t, 2, 0, 1, 2, 1, 0, 3);
    SAMPLE_PUT(model, s, "shell/material", int32_t, 2, 0, 0);
    SAMPLE_PUT(model, s, "shell/thickness", double, 2, 1e-3, 1e-3);
    SAMPLE_PUT(model, s, "shell/rest", double, 2, 1, 0, 0, 1, 1, 0.5, 0, 1);
    SAMPLE_PUT(model, s, "shell/stretch-limit", double, 2, 0.5, 0.7, 1, 1.1, 0, 0, 0, 0);
    SAMPLE_PUT(model, s, "hinge/node", int32_t, 1, 0, 1, 2, 3);
    SAMPLE_PUT(model, s, "hinge/angle", double, 1, -4);
    SAMPLE_PUT(model, s, "hinge/stiffness", double, 1, 0);
    SAMPLE_PUT(model, s, "rod/node", int32_t, 2, 0, 1, 1, 2);
    SAMPLE_PUT(model, s, "rod/material", int32_t, 2, 0, 0);
    SAMPLE_PUT(model, s, "rod/radius", double, 2, 1e-3, 1e-3);
    SAMPLE_PUT(model, s, "rod/length", double, 2, 1, 2);
    SAMPLE_PUT(model, s, "bend/node", int32_t, 1, 0, 1, 2);
    SAMPLE_PUT(model, s, "bend/stiffness", double, 1, 1);
    SAMPLE_PUT(model, s, "particle/node", int32_t, 1, 4);
    SAMPLE_PUT(model, s, "particle/radius", double, 1, 2e-3);
}

TEST(shells_rods_and_particles_are_checked)
{
    static const struct { const char *array; int at; double value; const char *why; } bad[] = {
        { "shell/node", 0, 7, "row 0: 7" },           { "shell/node", 4, 1, "row 1: 1 twice" },
        { "shell/material", 1, 1, "row 1: 1" },       { "shell/thickness", 0, 0, "more than 0" },
        { "shell/rest", 0, 0, "row 0: determinant" }, { "shell/stretch-limit", 0, 0.8, "row 0: lower 0.8, 0.7" },
        { "shell/stretch-limit", 3, 1, "row 0: upper 1, 1" }, { "hinge/node", 3, 2, "row 0: 2 twice" },
        { "hinge/stiffness", 0, -1, "0 or more" },   { "rod/node", 3, 1, "row 1: 1 twice" },
        { "rod/material", 0, -1, "row 0: -1" },       { "rod/radius", 1, -1, "more than 0" },
        { "rod/length", 1, 0, "more than 0" },          { "bend/node", 0, 2, "row 0: 2 twice" },
        { "bend/stiffness", 0, -1, "0 or more" },    { "particle/node", 0, 9, "row 0: 9" },
        { "particle/radius", 0, 0, "more than 0" },
    };
    abut_arrays s = { 0 };
    abut_model m;
    sample_codim(&s);
    CHECK(!abut_model_view(&s, &m, NULL) && m.nsh == 2 && m.nhg == 1 && m.nrd == 2 && m.nbd == 1 && m.np == 1);
    abut_arrays_clear(&s);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sample_codim(&s);
        if (abut_arrays_find(&s, bad[i].array)->type == ABUT_I32) i32(&s, bad[i].array)[bad[i].at] = (int32_t)bad[i].value;
        else f64(&s, bad[i].array)[bad[i].at] = bad[i].value;
        refused(&s, bad[i].array, bad[i].why);
    }
}

TEST(a_collision_primitive_has_one_thickness)
{
    static const struct {
        const char *array;
        int at;
        int32_t vertex;
    } bad[] = { { "contact/edge", 2 * 6, 3 }, { "contact/triangle", 2, 6 } };
    for (int i = 0; i < 4; i++) {   /* a row across two objects is refused when their thickness differs */
        abut_arrays s = { 0 };
        abut_model m;
        sample_model(&s);
        SAMPLE_PUT(model, &s, "object/thickness", double, 2, 1e-3, i < 2 ? 2e-3 : 1e-3);
        CHECK(!abut_model_view(&s, &m, NULL) && m.obj_thick[0] > 0);
        i32(&s, bad[i % 2].array)[bad[i % 2].at] = bad[i % 2].vertex;
        if (i < 2) {
            refused(&s, bad[i].array, "its vertices are of objects of thickness 0.001");
            continue;
        }
        CHECK(!abut_model_view(&s, &m, NULL));
        f64(&s, "object/thickness")[1] = -1;
        refused(&s, "object/thickness", "0 or more");
    }
}

TEST(sizes_of_bodies_and_the_numbers_of_newmark_bound_each_other)
{
    for (int k = 0; k < 3; k++) {       /* either has both or none */
        abut_arrays s = { 0 };
        abut_model m;
        sample_model(&s);
        SAMPLE_PUT(model, &s, "object/length", double, 2, 1, k == 1 ? 1 : 0);
        SAMPLE_PUT(model, &s, "object/node-mass", double, 2, k == 2 ? 0 : 3, 0);
        if (!k) CHECK(!abut_model_view(&s, &m, NULL) && m.obj_length[0] == 1);
        if (!k) abut_arrays_clear(&s);
        else refused(&s, "object/node-mass", k == 1 ? "row 1: 0 kg, and 'object/length' 1 m, expected both above 0 or none"
                                                    : "row 0: 0 kg, and 'object/length' 1 m");
    }
    for (int k = 0; k < 4; k++) {
        abut_arrays s = { 0 };
        abut_model m;
        sample_model(&s);
        if (k > 1) SAMPLE_PUT(model, &s, "time/newmark-gamma", double, 1, 0.75);
        SAMPLE_PUT(model, &s, "time/newmark-beta", double, 1, (k > 1 ? 0.375 : 0.25) - (k % 2 ? 1e-9 : 0));
        if (k % 2) refused(&s, "time/newmark-beta", k == 1 ? "expected half of gamma, 0.25, or more" : "half of gamma, 0.375");
        else CHECK(!abut_model_view(&s, &m, NULL));
        if (!(k % 2)) abut_arrays_clear(&s);
    }
}

TEST(a_fabric_has_its_moduli)
{
    abut_arrays s = { 0 };
    abut_model m;
    sample_codim(&s);
    SAMPLE_PUT(model, &s, "material/membrane", int32_t, 1, ABUT_MEMBRANE_CLOTH);
    refused(&s, "material/fabric", "material 0 is a fabric");
    sample_codim(&s);
    SAMPLE_PUT(model, &s, "material/membrane", int32_t, 1, ABUT_MEMBRANE_CLOTH);
    SAMPLE_PUT(model, &s, "material/fabric", double, 1, 2, 2, 1, 1);
    refused(&s, "material/strain-limit", "material 0 is a fabric");
    sample_codim(&s);
    SAMPLE_PUT(model, &s, "material/membrane", int32_t, 1, ABUT_MEMBRANE_CLOTH);
    SAMPLE_PUT(model, &s, "material/fabric", double, 1, 2, 2, 1, 1);
    SAMPLE_PUT(model, &s, "material/strain-limit", double, 1, 0.06, 0, 0.1);
    refused(&s, "material/strain-limit", "row 0: 0.06, 0, 0.1, expected more than 0");
    sample_codim(&s);
    SAMPLE_PUT(model, &s, "material/membrane", int32_t, 1, ABUT_MEMBRANE_ORTHOTROPIC);
    SAMPLE_PUT(model, &s, "material/fabric", double, 1, 2, 2, 2, 1);
    refused(&s, "material/fabric", "row 0: 2, 2, 2, 1, expected a11, a22, G12 > 0");
    sample_codim(&s);
    SAMPLE_PUT(model, &s, "material/membrane", int32_t, 1, ABUT_MEMBRANE_CLOTH);
    SAMPLE_PUT(model, &s, "material/fabric", double, 1, 2, 2, 1, 1);
    SAMPLE_PUT(model, &s, "material/strain-limit", double, 1, 0.06, 0.1, 0.1);
    CHECK(!abut_model_view(&s, &m, NULL));
    abut_arrays_clear(&s);
}

TEST(stretch_and_shear_have_their_stiffness_and_what_is_left_of_it_in_compression)
{
    abut_arrays s = { 0 };
    abut_model m;
    for (int k = 0; k < 5; k++) {
        const double left[] = { 0, -0.5, 1.01, 0.01, 1 };
        sample_codim(&s);
        SAMPLE_PUT(model, &s, "material/membrane", int32_t, 1, ABUT_MEMBRANE_BARAFF_WITKIN);
        if (k == 0) refused(&s, "material/fabric", "material 0 is a fabric");
        if (k == 0) sample_codim(&s);
        SAMPLE_PUT(model, &s, "material/membrane", int32_t, 1, ABUT_MEMBRANE_BARAFF_WITKIN);
        SAMPLE_PUT(model, &s, "material/fabric", double, 1, 2, 2, 0, 1);
        if (k == 0) CHECK(abut_model_view(&s, &m, NULL) == ABUT_E_FORMAT);
        SAMPLE_PUT(model, &s, "material/compression", double, 1, left[k]);
        if (k < 3) refused(&s, "material/compression", "expected more than 0, at most 1");
        else CHECK(!abut_model_view(&s, &m, NULL) && m.mat_compression[0] == left[k]);
    }
    abut_arrays_clear(&s);
}

TEST(type_shape_unit_and_presence_are_checked)
{
    abut_arrays s = { 0 };
    sample_model(&s);
    abut_arrays_remove(&s, "node/role");
    refused(&s, "node/role", "missing");
    sample_model(&s);
    abut_arrays_remove(&s, "tet/material");
    refused(&s, "tet/material", "'tet/node' has 1 row");
    sample_model(&s);
    CHECK(abut_model_put(&s, "node/mass", 8, NULL) != NULL);
    refused(&s, "node/mass", "expected 7 (nv) as in 'node/X'");
    sample_model(&s);
    strcpy(abut_arrays_find(&s, "node/mass")->unit, "g");
    refused(&s, "node/mass", "in 'g', expected f64 [nv] in 'kg'");
    sample_model(&s);
    CHECK(abut_arrays_put_rows(&s, "node/X", ABUT_F64, 7, 2, "m", NULL) != NULL);
    refused(&s, "node/X", "[7, 2]");
    sample_model(&s);
    CHECK(abut_arrays_put_rows(&s, "node/X", ABUT_F32, 7, 3, "m", NULL) != NULL);
    refused(&s, "node/X", "f32 [7, 3]");
    sample_model(&s);
    CHECK(abut_arrays_put_rows(&s, "contact/mu", ABUT_F64, 2, 3, "", NULL) != NULL);
    refused(&s, "contact/mu", "3 columns");
    sample_model(&s);
    CHECK(abut_arrays_put_rows(&s, "time/step", ABUT_F64, 1, 0, "s", NULL) != NULL);
    refused(&s, "time/step", "[1]");
}

TEST(put_takes_names_of_its_table_only)
{
    abut_arrays s = { 0 };
    abut_err err = { 0 };
    CHECK(!abut_model_put(&s, "node/x", 3, &err) && err.code == ABUT_E_ARG && strstr(err.msg, "node/x"));
    CHECK(!abut_frame_put(&s, "node/X", 3, &err) && err.code == ABUT_E_ARG);
    CHECK(!abut_model_put(&s, "time/step", 2, &err) && !abut_model_put(&s, "world/gravity", 2, &err));
    CHECK(!abut_model_put(&s, "node/X", -1, &err));
    CHECK(abut_model_put(&s, "contact/mu", 4, &err) && abut_array_count(&s.a[0]) == 16);
    abut_arrays_clear(&s);
}

TEST(an_unknown_array_is_ignored_unless_it_must_be_understood)
{
    abut_arrays s = { 0 };
    abut_model m;
    sample_model(&s);
    CHECK(abut_arrays_put(&s, "beam/node", ABUT_I32, 1, (int64_t[]){ 3 }, "", ABUT_A_CARRY, NULL) != NULL);
    CHECK(!abut_model_view(&s, &m, NULL));
    abut_arrays_find(&s, "node/X")->flags = ABUT_A_REQUIRED;
    CHECK(!abut_model_view(&s, &m, NULL));
    abut_arrays_find(&s, "beam/node")->flags = ABUT_A_REQUIRED;
    refused(&s, "beam/node", "must be understood");
}

TEST(terms_that_add_to_a_material_are_held_to_their_domain)
{
    abut_arrays s = { 0 };
    abut_model m;
    sample_model(&s);
    CHECK(!abut_model_view(&s, &m, NULL));
    const int32_t nm = m.nm, nt = m.nt;
    double *v = abut_model_put(&s, "material/fibre", nm, NULL);
    v[nm - 1] = 3;
    refused(&s, "tet/fibre", "missing: there is 'material/fibre'");
    for (int wrong = 0; wrong < 3; wrong++) {
        sample_model(&s);
        v = abut_model_put(&s, "material/fibre", nm, NULL);
        v[nm - 1] = wrong == 1 ? -1 : 3;
        v = abut_model_put(&s, "tet/fibre", nt, NULL);
        for (int32_t t = 0; t < nt; t++) v[3 * t + 1] = 1;
        v[3 * (nt - 1)] = wrong == 2 ? 0.01 : 0;
        if (wrong == 1) refused(&s, "material/fibre", "0 or more");
        if (wrong == 2) refused(&s, "tet/fibre", "expected 1");
        if (!wrong) CHECK(!abut_model_view(&s, &m, NULL));
        abut_arrays_clear(&s);
    }
    sample_model(&s);
    v = abut_model_put(&s, "material/volume", nm, NULL);
    v[0] = (double)NAN;
    refused(&s, "material/volume", "row 0");
    static const double stretch[5][3] = { { 1, 0.9, 1.1 }, { -1, 0.9, 1.1 }, { 1, 1.1, 1.2 }, { 1, 0.8, 0.9 }, { 1, -0.1, 1 } };
    for (int k = 0; k < 5; k++) {
        sample_model(&s);
        v = abut_model_put(&s, "material/stretch", nm, NULL);
        for (int32_t i = 0; i < nm; i++) v[3 * i + 2] = 1;
        memcpy(v, stretch[k], sizeof stretch[k]);
        if (k) refused(&s, "material/stretch", "row 0");
        else CHECK(!abut_model_view(&s, &m, NULL));
        abut_arrays_clear(&s);
    }
}

TEST(a_spline_has_ascending_knots_of_its_own)
{
    static const struct { int32_t lo, hi; double second; const char *array, *why; } kind[] = {
        { 0, 2, 1.5, NULL, NULL },
        { 0, 2, 0.5, "spline/knot", "row 1: 0.5 after 0.5, expected ascending" },
        { 0, 3, 1.5, "material/spline", "row 0: 0, 3, expected two knots or more of 2" },
        { 1, 2, 1.5, "material/spline", "row 0: 1, 2" },
        { -1, 2, 1.5, "material/spline", "row 0: -1, 2" },
    };
    abut_arrays s = { 0 };
    abut_model m;
    sample_model(&s);
    i32(&s, "material/model")[0] = ABUT_SPLINE;
    refused(&s, "material/spline", "missing: material 0 is a spline");
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        sample_model(&s);
        CHECK(!abut_model_view(&s, &m, NULL));
        i32(&s, "material/model")[0] = ABUT_SPLINE;
        int32_t *rows = abut_model_put(&s, "material/spline", m.nm, NULL);
        rows[0] = kind[k].lo, rows[1] = kind[k].hi;
        SAMPLE_PUT(model, &s, "spline/knot", double, 2, 0.5, kind[k].second);
        SAMPLE_PUT(model, &s, "spline/slope", double, 2, -1, 0, 0, 1, 0, 0);
        if (kind[k].why) refused(&s, kind[k].array, kind[k].why);
        else CHECK(!abut_model_view(&s, &m, NULL));
        abut_arrays_clear(&s);
    }
}

/* The sample with vertices that are sums of nodes: two for the first, one for each of the others. */
static void sample_map(abut_arrays *s)
{
    sample_model(s);
    abut_arrays_remove(s, "contact/node");
    SAMPLE_PUT(model, s, "contact/map-first", int32_t, 7, 0, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8);
    SAMPLE_PUT(model, s, "contact/map-node", int32_t, 8, 0, 1, 1, 2, 3, 4, 5, 6);
    SAMPLE_PUT(model, s, "contact/map-weight", double, 8, 0.75, 0.25, 1, 1, 1, 1, 1, 1);
}

TEST(collision_vertices_are_nodes_or_sums_of_them)
{
    abut_arrays s = { 0 };
    abut_model m;
    sample_map(&s);
    CHECK(!abut_model_view(&s, &m, NULL) && m.nc == 7 && m.nmap == 8 && !m.coll_node && !m.map_offset);
    CHECK(abut_model_contact_node(&m, 0) == 0 && abut_model_contact_node(&m, 6) == 6);
    CHECK(abut_model_put(&s, "contact/offset", 7, NULL) && !abut_model_view(&s, &m, NULL) && m.map_offset);
    f64(&s, "contact/offset")[5] = 1e60;
    refused(&s, "contact/offset", "row 1: 1e+60");
    sample_map(&s);
    SAMPLE_PUT(model, &s, "contact/node", int32_t, 7, 0, 1, 2, 3, 4, 5, 6);
    refused(&s, "contact/map-first", "both there");
    sample_map(&s);
    abut_arrays_remove(&s, "contact/map-first");
    refused(&s, "contact/map-first", "missing: there is 'contact/map-node'");
    sample_model(&s);
    CHECK(abut_model_put(&s, "contact/offset", 7, NULL) != NULL);
    refused(&s, "contact/map-first", "missing: there is 'contact/offset'");
    sample_map(&s);
    i32(&s, "contact/map-first")[3] = 2;
    refused(&s, "contact/map-first", "row 1: [2, 2), expected at least one row");
    sample_map(&s);
    i32(&s, "contact/map-first")[13] = 9;
    refused(&s, "contact/map-first", "row 6: [7, 9)");
    sample_map(&s);
    i32(&s, "contact/map-node")[2] = 7;
    refused(&s, "contact/map-node", "row 2: 7");
    sample_map(&s);
    i32(&s, "contact/map-node")[1] = 4;
    refused(&s, "contact/map-node", "row 1: node 4 of object 1, expected one of object 0");
    sample_map(&s);
    i32(&s, "node/role")[1] = ABUT_NODE_OBSTACLE;
    refused(&s, "contact/map-node", "row 1: vertex 0 has nodes of obstacles and others");
    sample_map(&s);
    f64(&s, "contact/map-weight")[4] = (double)NAN;
    refused(&s, "contact/map-weight", "row 4");
    sample_map(&s);
    i32(&s, "contact/triangle")[0] = 7;
    refused(&s, "contact/triangle", "7");
}
