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
