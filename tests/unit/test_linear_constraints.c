/* Smallest displacement under inequalities: the conditions that a minimum of a convex problem must meet, and it alone. */
#include "check.h"

#include "base/rng.h"
#include "repair/constraints.h"

enum { NODES = 12, ROWS = 20 };

static void random_rows(abut_rng *r, abut_constraints *rows)
{
    abut_err err = { 0 };
    for (int k = 0; k < ROWS; k++) {
        abut_constraint row = { .kind = ABUT_CONSTRAINT_VT,
                                .id = { k, (int32_t)abut_rng_below(r, 5) },
                                .b = abut_rng_real(r, -0.5, 1) };
        const int n = 1 + (int)abut_rng_below(r, 4);
        for (int i = 0; i < 4; i++) row.node[i] = i < n ? (int32_t)((abut_rng_below(r, 3) + 3 * (uint32_t)i) % NODES) : -1;
        for (int i = 0; i < n; i++)
            for (int c = 0; c < 3; c++) row.a[i][c] = abut_rng_real(r, -1, 1);
        CHECK(!abut_constraints_add(rows, &row, &err));
    }
    abut_constraints_sort(rows);
}

static double value(const abut_constraint *r, const double *u)
{
    double s = 0;
    for (int i = 0; i < 4 && r->node[i] >= 0; i++)
        for (int c = 0; c < 3; c++) s += r->a[i][c] * u[3 * r->node[i] + c];
    return s;
}

TEST(a_solution_meets_the_kuhn_tucker_conditions)
{
    abut_rng r = { 1 };
    int pushing = 0;
    for (int it = 0; it < 50; it++) {
        abut_constraints rows = { 0 };
        double weight[NODES], u[3 * NODES], g[3 * NODES] = { 0 };
        size_t active[ROWS];
        random_rows(&r, &rows);
        for (int i = 0; i < NODES; i++) weight[i] = i % 4 == 3 ? 0 : abut_rng_real(&r, 0.5, 2);
        if (abut_constraints_solve(&rows, weight, NODES, 2000, 1e-10, active, u) > 1e-10) {
            abut_constraints_clear(&rows);         /* random rows may contradict each other */
            continue;
        }
        for (size_t k = 0; k < rows.n; k++) {
            const abut_constraint *row = &rows.constraint[k];
            CHECK(row->lambda >= 0 && value(row, u) >= row->b - 1e-9);
            CHECK(row->lambda < 1e-7 || fabs(value(row, u) - row->b) < 1e-6);
            pushing += row->lambda > 0;
            for (int i = 0; i < 4 && row->node[i] >= 0; i++)
                for (int c = 0; c < 3; c++) g[3 * row->node[i] + c] += weight[row->node[i]] * row->lambda * row->a[i][c];
        }
        for (int i = 0; i < 3 * NODES; i++) CHECK_NEAR(u[i], g[i], 1e-9);
        abut_constraints_clear(&rows);
    }
    CHECK(pushing > 50);
}

TEST(a_warm_start_leads_to_the_same_place)
{
    abut_rng r = { 2 };
    abut_constraints rows = { 0 }, again = { 0 };
    double weight[NODES], u[3 * NODES], v[3 * NODES];
    size_t active[ROWS];
    abut_err err = { 0 };
    random_rows(&r, &rows);
    for (int i = 0; i < NODES; i++) weight[i] = 1;
    CHECK(abut_constraints_solve(&rows, weight, NODES, 100000, 1e-11, active, u) <= 1e-11);
    for (size_t k = rows.n; k-- > 0;) CHECK(!abut_constraints_add(&again, &rows.constraint[k], &err));
    abut_constraints_sort(&again);
    abut_constraints_warm(&again, &rows);
    for (size_t k = 0; k < rows.n; k++) CHECK(again.constraint[k].lambda == rows.constraint[k].lambda);
    CHECK(abut_constraints_solve(&again, weight, NODES, 2, 1e-10, active, v) <= 1e-10);
    for (int i = 0; i < 3 * NODES; i++) CHECK_NEAR(u[i], v[i], 1e-9);
    abut_constraints_clear(&rows);
    abut_constraints_clear(&again);
}

TEST(equal_keys_keep_the_first_and_all_are_found)
{
    abut_constraints rows = { 0 };
    abut_err err = { 0 };
    for (int k = 0; k < 30; k++) {
        const abut_constraint row = {
            .kind = (abut_constraint_kind)(k % 3), .id = { 7 - k % 5, k % 2 }, .node = { -1, -1, -1, -1 }, .b = k
        };
        CHECK(!abut_constraints_add(&rows, &row, &err));
    }
    CHECK(!abut_constraints_add(&rows, &(abut_constraint){ .kind = ABUT_CONSTRAINT_VT, .id = { 7, 0 }, .b = 99 }, &err));
    abut_constraints_sort(&rows);
    CHECK(rows.n == 30 && rows.constraint[0].kind == ABUT_CONSTRAINT_VT);
    CHECK(abut_constraints_find(&rows, ABUT_CONSTRAINT_VT, 7, 0)->b == 0);
    CHECK(!abut_constraints_find(&rows, ABUT_CONSTRAINT_TET, 7, 0) && !abut_constraints_find(&rows, ABUT_CONSTRAINT_VT, 8, 0));
    abut_constraints_clear(&rows);
}

TEST(many_constraints_are_sorted_by_kind_and_both_numbers_and_each_is_found)
{
    enum { MANY = 3 * 20 * 10 };
    abut_constraints rows = { 0 };
    for (int k = 0; k < MANY; k++) {
        const int i = 7 * k % MANY;         /* 7 and MANY have no common factor */
        const abut_constraint row = { .kind = (abut_constraint_kind)(i / 200), .id = { i / 10 % 20, i % 10 }, .b = i };
        CHECK(!abut_constraints_add(&rows, &row, NULL));
    }
    abut_constraints_sort(&rows);
    CHECK(rows.n == MANY);
    for (int i = 0; i < MANY; i++) {
        const abut_constraint *r = abut_constraints_find(&rows, (abut_constraint_kind)(i / 200), i / 10 % 20, i % 10);
        CHECK(r == &rows.constraint[i] && r->b == i && r->lambda == 0);
    }
    CHECK(!abut_constraints_find(&rows, ABUT_CONSTRAINT_VT, 19, 10) && !abut_constraints_find(&rows, ABUT_CONSTRAINT_VE, 20, 0));
    abut_constraints_clear(&rows);
    CHECK(!abut_constraints_find(&rows, ABUT_CONSTRAINT_VT, 0, 0));
}

TEST(a_multiplier_is_kept_by_the_same_constraint_alone)
{
    abut_constraints old = { 0 }, rows = { 0 };
    for (int k = 0; k < 10; k++) {
        if (k % 2 == 0) CHECK(!abut_constraints_add(&old, &(abut_constraint){ .id = { 3, k }, .lambda = 1 + k }, NULL));
        if (k % 3 == 0) CHECK(!abut_constraints_add(&rows, &(abut_constraint){ .id = { 3, k } }, NULL));
    }
    CHECK(!abut_constraints_add(&rows, &(abut_constraint){ .kind = ABUT_CONSTRAINT_TET, .id = { 3, 4 } }, NULL));
    abut_constraints_warm(&rows, &old);
    for (size_t i = 0; i < 4; i++) CHECK(rows.constraint[i].lambda == (i % 2 ? 0 : 1 + 3. * (double)i));
    CHECK(rows.constraint[4].lambda == 0);
    abut_constraints_clear(&old);
    abut_constraints_clear(&rows);
}

TEST(what_no_displacement_meets_is_returned)
{
    /* u >= 1 and -u >= 1 of one node miss 2 together; a node that does not move misses all */
    abut_constraints rows = { 0 };
    double weight[2] = { 2, 0 }, u[6];
    size_t active[2];
    for (int k = 0; k < 2; k++) {
        const abut_constraint row = { .id = { k, 0 }, .node = { 0, -1, -1, -1 }, .a = { { k ? -1 : 1, 0, 0 } }, .b = 1 };
        CHECK(!abut_constraints_add(&rows, &row, NULL));
    }
    const double worst = abut_constraints_solve(&rows, weight, 2, 10, 1e-9, active, u);
    CHECK(worst >= 1 && worst <= 2 + 1e-12);
    for (int i = 1; i < 6; i++) CHECK(u[i] == 0);
    rows.n = 1, rows.constraint[0].node[0] = 1, rows.constraint[0].lambda = 0;
    CHECK(abut_constraints_solve(&rows, weight, 2, 10, 1e-9, active, u) == 1);
    for (int i = 0; i < 6; i++) CHECK(u[i] == 0);
    abut_constraints_clear(&rows);
}

/* The condition on changes of positions: with the change, the stencil is the distance apart along the direction. */
TEST(a_stencil_kept_apart_lacks_the_distance_less_what_it_has)
{
    abut_rng r = { 3 };
    for (int it = 0; it < 20; it++) {
        const int n = 2 + it % 3;
        const int32_t vert[4] = { 4, 1, n > 2 ? 3 : -1, n > 3 ? 0 : -1 };
        double y[15], w[4] = { 1, 0, 0, 0 }, dir[3], has = 0, of[3] = { 0 };
        for (int i = 0; i < 15; i++) y[i] = abut_rng_real(&r, -1, 1);
        for (int c = 0; c < 3; c++) dir[c] = abut_rng_real(&r, -1, 1);
        for (int i = 1; i < n; i++) w[i] = -1. / (n - 1);
        for (int i = 0; i < n; i++)
            for (int c = 0; c < 3; c++) of[c] += w[i] * y[3 * vert[i] + c];
        for (int c = 0; c < 3; c++) has += dir[c] * of[c];
        const abut_constraint row = abut_constraint_apart(ABUT_CONSTRAINT_VE, 6, 5, vert, w, dir, y, 0.7);
        CHECK(row.kind == ABUT_CONSTRAINT_VE && row.id[0] == 6 && row.id[1] == 5 && row.lambda == 0);
        CHECK_NEAR(row.b, 0.7 - has, 1e-14);
        for (int i = 0; i < 4; i++) CHECK(row.node[i] == vert[i]);
        for (int i = 0; i < n; i++)
            for (int c = 0; c < 3; c++) CHECK(row.a[i][c] == w[i] * dir[c]);
    }
}

/* ---- wrong sides ---- */

enum { PLACES = 8, SIDES = 16 };
static const double GAP = 0.01;

/* A contact surface of nodes; its edges are the sides of its triangles as they come. */
typedef struct surface {
    int32_t node[PLACES], edge[2 * SIDES];
    abut_model m;
    abut_collmesh cm;
    abut_wrong_side sides;
} surface;

static int32_t edge_of(const surface *s, int32_t a, int32_t b)
{
    int32_t e = 0;
    while (e < s->m.nce && (s->edge[2 * e] != (a < b ? a : b) || s->edge[2 * e + 1] != (a < b ? b : a))) e++;
    return e;
}

static void surface_make(surface *s, const double *X, int32_t nv, const int32_t *tri, int32_t nt)
{
    *s = (surface){ .m = { .nv = nv, .nc = nv, .nct = nt, .X = X, .coll_node = s->node, .coll_edge = s->edge, .coll_tri = tri } };
    for (int32_t v = 0; v < nv; v++) s->node[v] = v;
    for (int32_t i = 0; i < 3 * nt; i++) {
        const int32_t a = tri[i], b = tri[i % 3 == 2 ? i - 2 : i + 1], e = edge_of(s, a, b);
        s->edge[2 * e] = a < b ? a : b, s->edge[2 * e + 1] = a < b ? b : a;
        s->m.nce += e == s->m.nce;
    }
    CHECK(!abut_collmesh_init(&s->cm, &s->m, NULL) && !abut_wrong_side_init(&s->sides, &s->cm, NULL));
}

static void surface_clear(surface *s)
{
    abut_wrong_side_clear(&s->sides);
    abut_collmesh_clear(&s->cm);
}

/* The constraints that undo n intersections. */
static void undo(surface *s, const abut_intersection *hit, size_t n, const abut_constraints *last, abut_constraints *rows)
{
    abut_constraints_clear(rows);
    abut_wrong_side_find(&s->sides, hit, n);
    CHECK(!abut_wrong_side_constraints(&s->sides, hit, n, s->m.X, GAP, last, rows, NULL));
}

/* Whether a constraint moves its first primitive by `up` along z against the second, which lacks so much. */
static int asks(const abut_constraint *r, abut_constraint_kind kind, int32_t id0, int32_t id1, double up, double missing)
{
    double sum = 0;
    int first = kind == ABUT_CONSTRAINT_EE ? 2 : 1, ok = r->kind == kind && r->id[0] == id0 && r->id[1] == id1;
    for (int i = 0; i < first; i++) sum += r->a[i][2];
    ok = ok && fabs(sum - up) < 1e-14;
    for (int i = first; i < 4; i++) sum += r->a[i][2];
    return ok && fabs(sum) < 1e-14 && fabs(r->b - (ABUT_SEPARATE_AIM * GAP + missing)) < 1e-14;
}

/* A corner of a triangle is 0.3 below a wide one. */
TEST(the_smaller_part_of_a_surface_goes_back_through_the_triangle_that_its_edges_cross)
{
    const double X[18] = { -9, -9, 0, 9, -9, 0, 0, 9, 0, -1, 0, 2, 1, 0, 2, 0, 0, -0.3 };
    const int32_t tri[6] = { 0, 1, 2, 3, 4, 5 };
    surface s;
    abut_constraints rows = { 0 }, none = { 0 };
    surface_make(&s, X, 6, tri, 2);
    const abut_intersection hit[2] = { { edge_of(&s, 4, 5), 0, -1, -1 }, { edge_of(&s, 3, 5), 0, -1, -1 } };
    undo(&s, hit, 2, &none, &rows);
    for (int32_t v = 0; v < 6; v++)
        CHECK(s.sides.whole[v] == v / 3 * 3 && s.sides.beyond[v] == (v == 5) && s.sides.region[v] == (v == 5 ? 5 : v / 3 * 3));
    CHECK(rows.n == 1 && asks(&rows.constraint[0], ABUT_CONSTRAINT_VT, 5, 0, 1, 0.3) && rows.constraint[0].node[0] == 5);
    /* nothing is beyond where nothing crosses */
    undo(&s, hit, 0, &none, &rows);
    for (int32_t v = 0; v < 6; v++) CHECK(!s.sides.beyond[v] && s.sides.region[v] == v / 3 * 3);
    CHECK(rows.n == 0);
    abut_constraints_clear(&rows);
    surface_clear(&s);
}

/* A roof, and a triangle across it whose lower side is 0.1 under the ridge: either edge goes to the far side of the other. */
TEST(an_edge_that_crosses_both_faces_of_a_ridge_goes_over_it)
{
    const double X[21] = { -1, 0, 0, 1, 0, 0, 0, -1, -1, 0, 1, -1, 0, -2, -0.1, 0, 2, -0.1, 0, 0, 5 };
    const int32_t tri[9] = { 0, 1, 3, 1, 0, 2, 4, 5, 6 };
    surface s;
    abut_constraints rows = { 0 }, none = { 0 };
    surface_make(&s, X, 7, tri, 3);
    const int32_t ridge = edge_of(&s, 0, 1), low = edge_of(&s, 4, 5);
    const abut_intersection hit[3] = { { ridge, 2, -1, -1 }, { low, 0, -1, -1 }, { low, 1, -1, -1 } };
    CHECK(ridge < low);
    undo(&s, hit, 3, &none, &rows);
    for (int32_t v = 0; v < 7; v++) CHECK(!s.sides.beyond[v]);
    CHECK(rows.n == 2);
    CHECK(asks(&rows.constraint[0], ABUT_CONSTRAINT_EE, ridge, low, -1, 0.1) && rows.constraint[0].node[0] == 0);
    CHECK(asks(&rows.constraint[1], ABUT_CONSTRAINT_EE, ridge, low, 1, 0.1) && rows.constraint[1].node[0] == 4);
    abut_constraints_clear(&rows);
    surface_clear(&s);
}

/* An edge 3 4 with one end 0.2 under, the other 0.5 over a wide triangle; node 5 joins both, so that neither end is beyond. */
TEST(without_a_ridge_the_nearer_end_goes_back_and_the_other_if_that_end_came_from_there)
{
    const double X[18] = { -9, -9, 0, 9, -9, 0, 0, 9, 0, 0, 0, -0.2, 0, 0, 0.5, 30, 0, 0 };
    const int32_t tri[6] = { 0, 1, 2, 3, 4, 5 };
    surface s;
    abut_constraints rows = { 0 }, last = { 0 };
    surface_make(&s, X, 6, tri, 2);
    const int32_t e = edge_of(&s, 3, 4);
    const abut_intersection hit = { e, 0, -1, -1 };
    undo(&s, &hit, 1, &last, &rows);
    CHECK(rows.n == 1 && asks(&rows.constraint[0], ABUT_CONSTRAINT_VT, 3, 0, 1, 0.2));
    CHECK(!abut_constraints_add(&last, &(abut_constraint){ .kind = ABUT_CONSTRAINT_VT, .id = { 3, 0 } }, NULL));
    undo(&s, &hit, 1, &last, &rows);
    CHECK(rows.n == 1 && asks(&rows.constraint[0], ABUT_CONSTRAINT_VT, 4, 0, -1, 0.5));
    /* both came: over the border */
    CHECK(!abut_constraints_add(&last, &(abut_constraint){ .kind = ABUT_CONSTRAINT_VT, .id = { 4, 0 } }, NULL));
    undo(&s, &hit, 1, &last, &rows);
    CHECK(rows.n == 1 && rows.constraint[0].kind == ABUT_CONSTRAINT_EE && rows.constraint[0].b > 3);
    abut_constraints_clear(&rows);
    surface_clear(&s);
    /* with a second triangle on the other side of it there is no border, and the nearer end goes back */
    const int32_t both[9] = { 0, 1, 2, 3, 4, 5, 0, 2, 1 };
    surface_make(&s, X, 6, both, 3);
    undo(&s, &hit, 1, &last, &rows);
    CHECK(rows.n == 1 && asks(&rows.constraint[0], ABUT_CONSTRAINT_VT, 3, 0, 1, 0.2));
    abut_constraints_clear(&rows), abut_constraints_clear(&last);
    surface_clear(&s);
}

TEST(a_triangle_without_its_side_among_the_edges_is_refused_by_name)
{
    const double X[9] = { 0, 0, 0, 1, 0, 0, 0, 1, 0 };
    const int32_t tri[3] = { 0, 1, 2 };
    surface s;
    abut_err err = { 0 };
    surface_make(&s, X, 3, tri, 1);
    abut_wrong_side_clear(&s.sides);
    s.cm.ne = 2;
    CHECK(abut_wrong_side_init(&s.sides, &s.cm, &err) == ABUT_E_FORMAT);
    CHECK(strstr(err.msg, "contact/triangle row 0: side 2 0 is not in contact/edge"));
    surface_clear(&s);
}
