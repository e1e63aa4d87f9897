/* Patterns and orders of some rows of a matrix, and orders of all from these. */
#include "check.h"

#include "base/rng.h"
#include "box_tets.h"
#include "linalg/chol.h"
#include "part/extend.h"
#include "part/graph.h"

typedef struct mesh {
    box_tets box;
    abut_bsr A;
    int32_t *number, n; /* of the rows that are kept */
} mesh;

/* Rows that `held` says are left out. */
static mesh mesh_make(int nx, int ny, int nz, int (*held)(int32_t i, int32_t nv))
{
    mesh m = { .box = box_tets_make(nx, ny, nz, 3) };
    CHECK(!abut_bsr_pattern(&m.A, m.box.nv, &(abut_elems){ (size_t)m.box.nt, m.box.tet, NULL }, 1, NULL));
    m.number = malloc((size_t)m.box.nv * sizeof *m.number);
    for (int32_t i = 0; i < m.box.nv; i++) m.number[i] = held(i, m.box.nv) ? -1 : m.n++;
    return m;
}

static void mesh_free(mesh *m)
{
    free(m->number);
    abut_bsr_clear(&m->A);
    box_tets_free(&m->box);
}

static int scattered(int32_t i, int32_t nv) { return i % 5 == 2 || i == nv - 1; }
static int thick_ends(int32_t i, int32_t nv) { return i < nv / 4 || i >= nv - nv / 9; }
static int thin_sides(int32_t i, int32_t nv) { return i < nv / 15 || i >= nv - nv / 31; }
static int all_but_one(int32_t i, int32_t nv) { return i != nv / 2; }

TEST(the_pattern_of_a_part_is_that_of_its_elements)
{
    int (*const held[])(int32_t, int32_t) = { scattered, thick_ends, all_but_one };
    for (int k = 0; k < 3; k++) {
        mesh m = mesh_make(5, 6, 7, held[k]);
        int32_t *row = malloc(4 * (size_t)m.box.nt * sizeof *row);
        abut_bsr want = { 0 }, part;
        for (int32_t i = 0; i < 4 * m.box.nt; i++) row[i] = m.number[m.box.tet[i]];
        CHECK(!abut_bsr_pattern(&want, m.n, &(abut_elems){ (size_t)m.box.nt, row, NULL }, 1, NULL));
        CHECK(!abut_part_pattern(&m.A, m.number, &part, NULL));
        CHECK(part.n == want.n && part.nnz == want.nnz && !memcmp(part.row, want.row, want.nnz * sizeof *want.row));
        CHECK(!memcmp(part.ptr, want.ptr, ((size_t)want.n + 1) * sizeof *want.ptr));
        free(row);
        abut_bsr_clear(&want);
        abut_bsr_clear(&part);
        mesh_free(&m);
    }
}

static int are_neighbours(const abut_bsr *A, int32_t a, int32_t b)
{
    const int32_t c = a < b ? a : b, r = a < b ? b : a;
    for (size_t k = A->ptr[c]; k < A->ptr[c + 1]; k++)
        if (A->row[k] == r) return 1;
    return 0;
}

/* Distances from the numbered rows, one path at a time, and the row that each is sent before. */
static void check_extended(const mesh *m, const int32_t *order, const int32_t *perm)
{
    const int32_t n = m->A.n;
    int32_t *at = malloc((size_t)n * sizeof *at), *far = malloc((size_t)n * sizeof *far);
    int32_t *before = malloc((size_t)n * sizeof *before), kept = 0;
    for (int32_t k = 0; k < n; k++) at[perm[k]] = -1;
    for (int32_t k = 0; k < n; k++) {
        CHECK(at[perm[k]] < 0);
        at[perm[k]] = k;
        if (m->number[perm[k]] >= 0) CHECK(m->number[perm[k]] == order[kept++]);
    }
    CHECK(kept == m->n);
    for (int32_t i = 0; i < n; i++) far[i] = m->number[i] < 0 ? n : 0, before[i] = m->number[i] < 0 ? -1 : at[i];
    for (int32_t d = 1; d < n; d++)
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; far[i] >= d && j < n; j++)
                if (far[j] == d - 1 && are_neighbours(&m->A, i, j)) {
                    far[i] = d;
                    if (before[j] > before[i]) before[i] = before[j];
                }
    /* between the numbered row before and its own, the farthest first */
    for (int32_t k = 0; k < n; k++) CHECK(far[perm[k]] < n && before[perm[k]] >= k);
    for (int32_t k = 1; k < n; k++) {
        const int32_t a = perm[k - 1], b = perm[k];
        CHECK(before[a] <= before[b] && (before[a] < before[b] || far[a] > far[b] || (far[a] == far[b] && a < b)));
    }
    free(at);
    free(far);
    free(before);
}

TEST(rows_left_out_go_before_what_they_lie_on_layer_by_layer)
{
    int (*const held[])(int32_t, int32_t) = { scattered, thick_ends, all_but_one };
    for (int k = 0; k < 3; k++) {
        mesh m = mesh_make(4, 4, 9, held[k]);
        int32_t *order = malloc((size_t)m.n * sizeof *order), *perm = malloc((size_t)m.A.n * sizeof *perm);
        int all = 0;
        for (int32_t j = 0; j < m.n; j++) order[j] = (int32_t)((7 * (int64_t)j + 3) % m.n);
        for (int32_t j = 0; m.n % 7 == 0 && j < m.n; j++) order[j] = m.n - 1 - j;
        CHECK(!abut_part_extend(&m.A, m.number, order, perm, &all, NULL) && all);
        check_extended(&m, order, perm);
        free(order);
        free(perm);
        mesh_free(&m);
    }
}

/* Two tets that do not touch, one of them without numbers. */
TEST(rows_that_hang_on_nothing_are_told)
{
    const int32_t row[8] = { 0, 1, 2, 3, 4, 5, 6, 7 }, number[8] = { 0, 1, -1, 2, -1, -1, -1, -1 }, order[3] = { 2, 0, 1 };
    int32_t perm[8];
    int all = 1;
    abut_bsr A = { 0 };
    CHECK(!abut_bsr_pattern(&A, 8, &(abut_elems){ 2, row, NULL }, 1, NULL));
    CHECK(!abut_part_extend(&A, number, order, perm, &all, NULL) && !all);
    abut_bsr_clear(&A);
}

/* A chain of elements of which the first end alone has a number: its layers are counted, and not more of them than are of use. */
TEST(rows_farther_away_than_the_layers_are_told)
{
    enum { MOST = ABUT_EXTEND_LAYERS + 2 };
    for (int32_t n = MOST - 1; n <= MOST; n++) {    /* n rows: n - 1 layers */
        int32_t row[4 * MOST], number[MOST], perm[MOST];
        const int32_t order[1] = { 0 };
        int all = -1;
        abut_bsr A = { 0 };
        for (int32_t k = 0; k + 1 < n; k++) {
            const int32_t tet[4] = { k, k + 1, -1, -1 };
            memcpy(row + 4 * k, tet, sizeof tet);
        }
        for (int32_t k = 0; k < n; k++) number[k] = k ? -1 : 0;
        CHECK(!abut_bsr_pattern(&A, n, &(abut_elems){ (size_t)n - 1, row, NULL }, 1, NULL));
        CHECK(!abut_part_extend(&A, number, order, perm, &all, NULL));
        CHECK(all == (n < MOST));
        for (int32_t k = 0; all && k < n; k++) CHECK(perm[k] == n - 1 - k);
        abut_bsr_clear(&A);
    }
}

static double flops_of(const abut_bsr *A, const int32_t *perm)
{
    abut_chol *c = NULL;
    CHECK(!abut_chol_new(&c, A, perm, 1, NULL));
    const double flops = abut_chol_get_stats(c).factor_flops;
    abut_chol_free(&c);
    return flops;
}

/* A layer on two sides, as handles have them, and many. */
TEST(an_order_made_longer_is_about_as_good_as_one_of_all_rows)
{
    int (*const held[])(int32_t, int32_t) = { thin_sides, thick_ends };
    for (int k = 0; k < 2; k++) {
        mesh m = mesh_make(11, 11, 30, held[k]);
        abut_bsr part;
        int32_t *order = malloc((size_t)m.n * sizeof *order), *perm = malloc((size_t)m.A.n * sizeof *perm), all = 0;
        CHECK(!abut_part_pattern(&m.A, m.number, &part, NULL) && !abut_graph_order(&part, order, NULL));
        CHECK(!abut_part_extend(&m.A, m.number, order, perm, &all, NULL) && all);
        const double longer = flops_of(&m.A, perm);
        CHECK(!abut_graph_order(&m.A, perm, NULL));
        printf("# %.3g operations, ordered as a whole %.3g\n", longer, flops_of(&m.A, perm));
        CHECK(longer < (k ? 2.5 : 1.5) * flops_of(&m.A, perm));
        free(order);
        free(perm);
        abut_bsr_clear(&part);
        mesh_free(&m);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    RUN(the_pattern_of_a_part_is_that_of_its_elements);
    RUN(rows_left_out_go_before_what_they_lie_on_layer_by_layer);
    RUN(rows_that_hang_on_nothing_are_told);
    RUN(rows_farther_away_than_the_layers_are_told);
    RUN(an_order_made_longer_is_about_as_good_as_one_of_all_rows);
    return check_done();
}
