/* Tets of order 2 to 4 in a model: nodes by an accessor, and everything that may be wrong with their arrays. */
#include "check.h"
#include "mesh/generate/generate.h"
#include "mesh/tet_nodes.h"
#include "model/tets.h"
#include "sample.h"

#define NODES(set, name) ((int32_t *)abut_arrays_find((set), (name))->data)

static void *put(abut_arrays *s, const char *name, int64_t rows)
{
    void *p = abut_model_put(s, name, rows, NULL);
    if (!p) abort();
    return p;
}

/* The sample with the tets of a mesh in place of its own; its obstacle follows them as a second object. */
static void model_of(const abut_mesh *m, abut_arrays *s)
{
    static const char *const gone[] = { "node/X", "node/mass", "node/role", "node/object", "tet/node", "tet/material",
                                        "contact/node", "contact/edge", "contact/triangle", "motion/kind", "motion/window",
                                        "motion/linear", "motion/angular", "motion/center", "motion/first", "motion/node" };
    const int32_t nv = m->nv + 3;
    const int order = abut_mesh_order(m), more = abut_mesh_more(m);
    sample_model(s);
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) abut_arrays_remove(s, gone[i]);
    double *X = put(s, "node/X", nv), *mass = put(s, "node/mass", nv);
    int32_t *role = put(s, "node/role", nv), *object = put(s, "node/object", nv), *tet = put(s, "tet/node", m->nt);
    int32_t *orders = put(s, "tet/order", m->nt), *first = put(s, "tet/first", m->nt);
    put(s, "tet/material", m->nt);
    memcpy(X, m->x, 3 * (size_t)m->nv * sizeof *X);
    memcpy(tet, m->tet, 4 * (size_t)m->nt * sizeof *tet);
    for (int32_t i = 0; i < nv; i++) mass[i] = i < m->nv, role[i] = i < m->nv ? 0 : 2, object[i] = i >= m->nv;
    for (int32_t t = 0; t < m->nt; t++) orders[t] = order, first[t] = more * t;
    if (more) memcpy(put(s, "tet/more", (int64_t)more * m->nt), m->more, (size_t)more * (size_t)m->nt * sizeof *tet);
}

static void box_model(int order, abut_arrays *s)
{
    abut_mesh m = { 0 };
    CHECK(!abut_generate_box((const double[3]){ 1, 1, 1 }, (const int32_t[3]){ 1, 1, 1 }, &m, NULL));
    CHECK(!abut_mesh_set_order(&m, order, NULL));
    model_of(&m, s);
    abut_mesh_clear(&m);
}

TEST(the_nodes_of_a_tet_are_its_corners_and_its_rows_of_the_others)
{
    for (int order = 1; order <= 4; order++) {
        abut_arrays s = { 0 };
        abut_model m;
        abut_err err = { 0 };
        int32_t node[ABUT_TET_NODES_MAX];
        double X[3 * ABUT_TET_NODES_MAX];
        box_model(order, &s);
        CHECK(!abut_model_view(&s, &m, &err));
        if (err.code) printf("# %s\n", err.msg);
        CHECK(m.nt == 6 && m.nmore == 6 * (abut_tet_nodes(order) - 4) && abut_model_order(&m) == order);
        for (int32_t t = 0; t < m.nt; t++) {
            CHECK(abut_tet_corners(&m, t, node) == abut_tet_nodes(order) && abut_tet_order(&m, t) == order);
            CHECK(abut_tet_geometry(&m, t, X) == abut_tet_nodes(order) && abut_tet_geometry_order(&m, t) == order);
            for (int i = 0; i < abut_tet_nodes(order); i++)
                for (int k = 0; k < 3; k++) {
                    double x = 0;
                    for (int c = 0; c < 4; c++) x += (double)abut_tet_lattice(order)[i][c] / order * m.X[3 * node[c] + k];
                    CHECK_NEAR(m.X[3 * node[i] + k], x, 1e-15);
                    CHECK_NEAR(X[3 * i + k], x, 1e-15);
                }
        }
        abut_status rc = abut_linear_tets(&m, "solver pd", &err);
        CHECK(order == 1 ? !rc : rc == ABUT_E_FORMAT && strstr(err.msg, "solver pd: tets of order") &&
                                 strstr(err.msg, "expected order 1"));
        abut_arrays_clear(&s);
    }
}

TEST(a_rest_shape_of_a_higher_order_has_nodes_of_its_own)
{
    abut_arrays s = { 0 };
    abut_model m;
    abut_err err = { 0 };
    double X[3 * ABUT_TET_NODES_MAX];
    box_model(2, &s);
    int32_t *order = put(&s, "geometry/order", 6), *first = put(&s, "geometry/first", 6);
    double *x = put(&s, "geometry/X", 2 * 35);
    for (int t = 0; t < 6; t++) order[t] = t == 1 || t == 4 ? 4 : t == 0 ? 1 : 2, first[t] = t < 2 ? 0 : t < 5 ? 35 : 70;
    for (int i = 0; i < 210; i++) x[i] = i;
    CHECK(!abut_model_view(&s, &m, &err));
    CHECK(abut_tet_geometry_order(&m, 1) == 4 && abut_tet_geometry_order(&m, 0) == 2 && m.ngx == 70);
    CHECK(abut_tet_geometry(&m, 4, X) == 35 && X[0] == 105 && X[104] == 209);
    CHECK(abut_tet_geometry(&m, 5, X) == 10 && X[0] == m.X[3 * m.tet[20]]);
    abut_arrays_clear(&s);
}

/* The displacement is affine: for every order it is that of the corners at each place of the shape. */
TEST(a_shape_of_a_higher_order_moves_as_its_displacement)
{
    static const double A[9] = { 0.9, 0.2, 0, -0.1, 1.1, 0.3, 0.25, 0, 1.2 }, b[3] = { 3, -2, 5 };
    double out[ABUT_TET_NODES_MAX][3], x[90];
    abut_arrays s = { 0 };
    abut_model m;
    box_model(2, &s);
    int32_t *order = put(&s, "geometry/order", 6), *first = put(&s, "geometry/first", 6);
    double *own = put(&s, "geometry/X", 35);
    for (int t = 0; t < 6; t++) order[t] = t == 1 ? 4 : 2, first[t] = t < 2 ? 0 : 35;
    for (int i = 0; i < 105; i++) own[i] = i % 7 - 0.125 * i;
    CHECK(!abut_model_view(&s, &m, NULL) && m.nv == 30);
    for (int i = 0; i < 90; i++) {
        x[i] = m.X[i] + b[i % 3];
        for (int k = 0; k < 3; k++) x[i] += A[3 * (i % 3) + k] * m.X[i - i % 3 + k];
    }
    CHECK(abut_tet_shape(&m, 1, x, out) == 4);
    for (int j = 0; j < 35; j++) {
        double at[3] = { 0 };
        for (int c = 0; c < 4; c++)
            for (int k = 0; k < 3; k++) at[k] += abut_tet_lattice(4)[j][c] / 4. * m.X[3 * m.tet[4 + c] + k];
        for (int k = 0; k < 3; k++) {
            const double moved = A[3 * k] * at[0] + A[3 * k + 1] * at[1] + A[3 * k + 2] * at[2] + b[k];
            CHECK_NEAR(out[j][k], own[3 * j + k] + moved, 2e-13);
        }
    }
    CHECK(abut_tet_shape(&m, 0, x, out) == 2);
    for (int k = 0; k < 3; k++) CHECK(out[3][k] == x[3 * m.tet[3] + k] && out[9][k] == x[3 * m.tet_more[5] + k]);
    CHECK(abut_tet_motion(&m, 0, x, out) == 2 && out[9][0] == x[3 * m.tet_more[5]]);
    abut_arrays_clear(&s);
}

/* A model of order 2 after one change is refused with both texts. */
static void refused(abut_arrays *s, const char *array, const char *why)
{
    abut_model m = { .nv = 77 };
    abut_err err = { 0 };
    CHECK(abut_model_view(s, &m, &err) == ABUT_E_FORMAT && m.nv == 77);
    if (!strstr(err.msg, array) || !strstr(err.msg, why)) {
        check_bad++;
        printf("# expected '%s' and '%s' in: %s\n", array, why, err.msg);
    }
    abut_arrays_clear(s);
}

TEST(what_is_wrong_with_the_arrays_of_tets_is_named)
{
    static const struct { const char *array; int at, value; const char *named, *why; } bad[] = {
        { "tet/order", 2, 0, "tet/order", "row 2: 0, expected an order from 1 to 4" },
        { "tet/order", 2, 5, "tet/order", "row 2: 5" },
        { "tet/order", 2, 3, "tet/first", "row 3: 18, expected 28" },
        { "tet/order", 5, 3, "tet/more", "has 36 rows, expected 46" },
        { "tet/first", 0, 1, "tet/first", "row 0: 1, expected 0" },
        { "tet/first", 4, 23, "tet/first", "row 4: 23, expected 24" },
        { "tet/more", 7, -1, "tet/more", "row 7: -1, expected 0 <= value < 30" },
        { "tet/more", 7, 30, "tet/more", "row 7: 30" },
        { "tet/more", 7, 28, "tet/more", "row 7: node 28 of object 1, expected one of object 0" },
        { "tet/more", 0, 0, "tet/more", "node 0 is at two places" },
        { "node/object", 20, 1, "tet/more", "node 20 of object 1" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        abut_arrays s = { 0 };
        box_model(2, &s);
        NODES(&s, bad[i].array)[bad[i].at] = bad[i].value;
        refused(&s, bad[i].named, bad[i].why);
    }
    for (int k = 0; k < 3; k++) {
        static const char *const name[] = { "tet/order", "tet/first", "tet/more" };
        abut_arrays s = { 0 };
        box_model(2, &s);
        abut_arrays_remove(&s, name[k]);
        refused(&s, name[k], k < 2 ? "is missing" : "has 0 rows, expected 36");
    }
}

TEST(tets_of_one_object_have_one_order)
{
    abut_arrays s = { 0 };
    box_model(2, &s);
    abut_arrays_remove(&s, "tet/more");
    int32_t *more = put(&s, "tet/more", 46);
    for (int i = 0; i < 46; i++) more[i] = 8 + i % 19;
    NODES(&s, "tet/order")[5] = 3;
    refused(&s, "tet/order", "row 5: 3, expected 2 as other tets of object 0");
}

TEST(a_node_that_two_tets_do_not_share_is_a_crack_and_is_refused)
{
    abut_arrays s = { 0 };
    box_model(2, &s);
    int32_t *more = NODES(&s, "tet/more");
    int32_t used[30] = { 0 }, twice = -1;
    for (int i = 0; i < 36; i++) used[more[i]]++;
    for (int i = 0; i < 30; i++)
        if (used[i] > 1) twice = i;
    for (int i = 0; i < 36; i++)
        if (more[i] == twice) {
            for (int k = 0; k < 30; k++)
                if (used[k] == 1) {
                    /* swaps a node of one tet alone with one that two have, in this tet */
                    int at = 0;
                    while (more[at] != k) at++;
                    more[i] = k, more[at] = twice;
                    i = 36, k = 30;
                }
        }
    refused(&s, "tet/more", "two places");
}

TEST(a_place_has_one_node)
{
    abut_arrays s = { 0 };
    abut_mesh m = { 0 };
    static const double x[5][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { 1, 1, 1 } };
    for (int i = 0; i < 5; i++) CHECK(!abut_mesh_add_vertex(&m, x[i], NULL));
    CHECK(!abut_mesh_add_tet(&m, 0, 1, 2, 3, NULL) && !abut_mesh_add_tet(&m, 4, 3, 2, 1, NULL));
    CHECK(!abut_mesh_set_order(&m, 2, NULL) && m.nv == 14);
    CHECK(!abut_mesh_add_vertex(&m, x[4], NULL));
    int at = -1;
    for (int i = 0; i < 6; i++)
        for (int k = 6; k < 12; k++)
            if (m.more[i] == m.more[k]) at = k;
    CHECK(at >= 0);
    m.more[at] = 14;        /* a node that both have: one of them gets a copy */
    model_of(&m, &s);
    refused(&s, "tet/more", "at one place of what they have in common");
    abut_mesh_clear(&m);
}

TEST(factors_and_degrees_have_their_domains)
{
    static const struct { const char *array; double value; const char *why; } bad[] = {
        { "tet/density-scale", 0, "row 3: 0, expected more than 0" }, { "tet/fill", 0, "row 3: 0, expected more than 0" },
        { "tet/fill", INFINITY, "row 3: inf" } };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        abut_arrays s = { 0 };
        box_model(2, &s);
        double *v = put(&s, bad[i].array, 6);
        for (int t = 0; t < 6; t++) v[t] = t == 3 ? bad[i].value : 1;
        refused(&s, bad[i].array, bad[i].why);
    }
    static const struct { int value; const char *why; } degree[] = {
        { -1, "a degree from 0 to" },
        { 41, "a degree from 0 to" },
        { 1, "row 0: 1 for elastic energy, expected 0, or 2 or more" },
    };
    for (size_t i = 0; i < sizeof degree / sizeof *degree; i++) {
        abut_arrays s = { 0 };
        box_model(2, &s);
        int32_t *v = put(&s, "material/quadrature", 1);
        v[0] = degree[i].value, v[1] = 4;
        refused(&s, "material/quadrature", degree[i].why);
    }
    abut_arrays s = { 0 };
    box_model(2, &s);
    int32_t *v = put(&s, "material/quadrature", 1);
    v[0] = 2, v[1] = 3;
    refused(&s, "material/quadrature", "row 0: 3 for mass, expected 0, or 4 or more");
    box_model(2, &s);
    int32_t *order = put(&s, "geometry/order", 6), *first;
    for (int t = 0; t < 6; t++) order[t] = 2;
    refused(&s, "geometry/first", "is missing");
    box_model(2, &s);
    order = put(&s, "geometry/order", 6), put(&s, "geometry/first", 6), put(&s, "geometry/X", 20);
    for (int t = 0; t < 6; t++) order[t] = t ? 2 : 3;
    refused(&s, "geometry/first", "row 1: 0, expected 20");
    box_model(1, &s);
    order = put(&s, "geometry/order", 6), first = put(&s, "geometry/first", 6), put(&s, "geometry/X", 60);
    for (int t = 0; t < 6; t++) order[t] = 2, first[t] = 10 * t;
    refused(&s, "geometry/order", "row 0: 2, expected 1 for a tet of order 1");
}
