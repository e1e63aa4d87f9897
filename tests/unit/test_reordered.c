#include "base/rng.h"
#include "graph/graph.h"
#include "math/elementary_inline.h"
#include "model/tets.h"
#include "solve/objective.h"

#include "fixture.h"

TEST(a_hilbert_curve_goes_through_every_cell_once_from_neighbour_to_neighbour)
{
    enum { SIDE = 8, BITS = 3, CELLS = SIDE * SIDE * SIDE };
    int32_t at[CELLS];
    for (int k = 0; k < CELLS; k++) at[k] = -1;
    for (uint32_t x = 0; x < SIDE; x++)
        for (uint32_t y = 0; y < SIDE; y++)
            for (uint32_t z = 0; z < SIDE; z++) {
                const uint64_t place = abut_hilbert((const uint32_t[]){ x, y, z }, BITS);
                CHECK(place < CELLS && at[place] < 0);
                if (place < CELLS) at[place] = (int32_t)(x + SIDE * (y + SIDE * z));
            }
    for (int k = 1; k < CELLS; k++) {
        int steps = 0;
        for (int d = 0, a = at[k - 1], b = at[k]; d < 3; d++, a /= SIDE, b /= SIDE) steps += abs(a % SIDE - b % SIDE);
        CHECK(steps == 1);
    }
}

TEST(points_are_ordered_by_group_and_those_of_one_place_stay_as_they_were)
{
    enum { N = 3000, GROUPS = 3 };
    static double x[3 * N];
    static int32_t group[N], order[N];
    abut_rng rng = { 3 };
    for (int i = 0; i < N; i++) {
        group[i] = (int32_t)abut_rng_below(&rng, GROUPS);
        for (int d = 0; d < 3; d++) x[3 * i + d] = group[i] == 2 ? 5 : abut_rng_real(&rng, -1, 1);    /* the last: one place */
    }
    CHECK(!abut_curve_order(N, x, group, GROUPS, order, NULL));
    double way = 0;
    for (int i = 1; i < N; i++) {
        const int32_t a = order[i - 1], b = order[i];
        CHECK(group[a] <= group[b] && (group[a] != 2 || a < b));
        if (group[a] == group[b])
            way += sqrt(pow(x[3 * a] - x[3 * b], 2) + pow(x[3 * a + 1] - x[3 * b + 1], 2) + pow(x[3 * a + 2] - x[3 * b + 2], 2));
    }
    CHECK(way < 0.25 * 2 * N / 3 * 1.32);   /* two points of such a cube are 1.32 apart on the average */
}

TEST(points_of_more_groups_than_one_digit_counts_are_ordered_by_all_digits_of_their_group)
{
    enum { N = 80000, GROUPS = 40000 };     /* two points of each, in one place */
    double *x = calloc(3 * N, sizeof *x);
    int32_t *group = malloc(N * sizeof *group), *order = malloc(N * sizeof *order);
    for (int32_t i = 0; i < N; i++) group[i] = (int32_t)(7919ll * i % GROUPS);      /* 7919 is a prime */
    CHECK(!abut_curve_order(N, x, group, GROUPS, order, NULL));
    int bad = 0;
    for (int32_t k = 0; k < N; k++) bad += group[order[k]] != k / 2 || (k % 2 && order[k] != order[k - 1] + GROUPS);
    CHECK(!bad);
    free(x), free(group), free(order);
}

/* a box whose tets come in no order */
static void shuffled_box(fixture *f)
{
    fixture_box(f, 0, 0, 0, 1, 1, 1, 8, 8, 8, 0);
    abut_rng rng = { 5 };
    for (int32_t t = f->nt - 1; t > 0; t--) {
        const int32_t s = (int32_t)abut_rng_below(&rng, (uint32_t)t + 1);
        for (int k = 0; k < 4; k++) {
            const int32_t swap = f->tet[4 * t + k];
            f->tet[4 * t + k] = f->tet[4 * s + k];
            f->tet[4 * s + k] = swap;
        }
    }
}

static double nodes_of(const int32_t *tet, int32_t nt, int32_t nv)
{
    enum { RUN = 256 };
    int32_t *seen = calloc((size_t)nv, sizeof *seen), n = 0, runs = 0;
    for (int32_t lo = 0; lo + RUN <= nt; lo += RUN, runs++)
        for (int32_t c = 4 * lo; c < 4 * (lo + RUN); c++)
            if (seen[tet[c]] != runs + 1) seen[tet[c]] = runs + 1, n++;
    free(seen);
    return (double)n / runs;
}

TEST(an_arranged_model_has_the_same_tets_close_together_and_knows_their_numbers)
{
    fixture *f = fixture_new();
    shuffled_box(f);
    abut_arrays set = { 0 }, frame = { 0 };
    abut_model m;
    abut_reordered *a = NULL;
    fixture_build(f, &set, &frame, NULL);
    CHECK(!abut_model_view(&set, &m, NULL));
    int32_t *material = malloc((size_t)m.nt * sizeof *material);    /* of each tet its own: 5 materials, any fibre */
    double *fibre = malloc(3 * (size_t)m.nt * sizeof *fibre);
    for (int32_t t = 0; t < m.nt; t++) material[t] = t % 5;
    for (int32_t k = 0; k < 3 * m.nt; k++) fibre[k] = k;
    CHECK(!abut_reordered_new(&a, &m, NULL) && !a->model.tet_fibre);
    abut_reordered_free(&a);
    m.tet_mat = material, m.tet_fibre = fibre;
    CHECK(!abut_reordered_new(&a, &m, NULL));
    CHECK(a->model.nt == m.nt && a->model.nv == m.nv && a->model.X == m.X);
    uint8_t *met = calloc((size_t)(m.nt > m.nv ? m.nt : m.nv), 1);
    for (int32_t t = 0; t < m.nt; t++) {
        const int32_t from = a->number[t];
        CHECK(!met[from] && !memcmp(a->model.tet + 4 * t, m.tet + 4 * from, 4 * sizeof *m.tet));
        CHECK(a->model.tet_mat[t] == from % 5);
        for (int d = 0; d < 3; d++) CHECK(a->model.tet_fibre[3 * t + d] == 3 * from + d);
        met[from] = 1;
    }
    memset(met, 0, (size_t)m.nv);
    for (int32_t i = 0; i < m.nv; i++) {
        CHECK(!met[a->node[i]]);
        met[a->node[i]] = 1;
    }
    CHECK(nodes_of(m.tet, m.nt, m.nv) > 400);
    CHECK(nodes_of(a->model.tet, m.nt, m.nv) < 150);
    free(met), free(material), free(fibre);
    abut_reordered_free(&a);
    abut_reordered_free(&a);
    abut_arrays_clear(&set);
    abut_arrays_clear(&frame);
    free(f);
}

TEST(a_problem_numbers_unknowns_along_its_tets_and_names_tets_as_they_were_given)
{
    fixture *f = fixture_new();
    shuffled_box(f);
    abut_arrays set = { 0 }, frame = { 0 };
    abut_model m;
    abut_objective p;
    abut_err err = { 0 };
    fixture_build(f, &set, &frame, NULL);
    CHECK(!abut_model_view(&set, &m, NULL) && !abut_objective_init(&p, &m, NULL, &err));
    abut_objective_number(&p);
    int32_t most = -1;
    for (int32_t c = 0; c < 4 * m.nt; c++) {    /* a corner has been met before, or has the next row */
        CHECK(p.row[p.model->tet[c]] <= most + 1);
        most = most > p.row[p.model->tet[c]] ? most : p.row[p.model->tet[c]];
    }
    CHECK(most == m.nv - 1 && p.nrow == m.nv && abut_objective_tet(&p, -1) == -1);
    abut_objective_clear(&p);

    int32_t *tet = abut_arrays_find(&set, "tet/node")->data, swap = tet[4 * 77];
    tet[4 * 77] = tet[4 * 77 + 1];
    tet[4 * 77 + 1] = swap;
    CHECK(abut_objective_init(&p, &m, NULL, &err) == ABUT_E_GEOM);
    CHECK(strstr(err.msg, "tet 77: rest volume") != NULL);
    abut_arrays_clear(&set);
    abut_arrays_clear(&frame);
    free(f);
}
