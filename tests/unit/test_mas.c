/* The multilevel Schwarz preconditioner against dense sums, and what it is for. */
#include "base/par.h"
#include "box_tets.h"
#include "dense.h"
#include "sparse/mas/mas.h"
#include "sparse/pcg.h"
#include "sparse/operator.h"
#include "sparse/schwarz/coarse_space.h"

#include "check.h"

/* A box of springs on a lattice, with contacts of rank one between rows far apart, and springs of vertices W x. */
typedef struct fixture {
    box_tets box;
    abut_row_map W;
    abut_elements set[3];
    int32_t *touch, *link;
    double *term, *spring;
    abut_bsr A;
    abut_product *product;
    size_t n;
    double *x, *diag, *r, *z, *other;
} fixture;

enum { TOUCH = 40, LINKS = 12 };

static void give_springs(void *ctx, size_t lo, size_t hi, double *val)
{
    const fixture *f = ctx;
    memcpy(val, f->spring + ABUT_PACKED * lo, ABUT_PACKED * (hi - lo) * sizeof *val);
}

static void contacts_make(fixture *f, abut_rng *rng)
{
    const uint32_t nv = (uint32_t)f->box.nv;
    f->touch = malloc(4 * TOUCH * sizeof *f->touch);
    f->term = malloc(13 * TOUCH * sizeof *f->term);
    for (int k = 0; k < 4 * TOUCH; k++) f->touch[k] = (int32_t)abut_rng_below(rng, nv);
    for (int k = 0; k < 13 * TOUCH; k++) f->term[k] = k % 13 ? abut_rng_real(rng, -1, 1) : abut_rng_real(rng, 0, 5);
    f->set[1] = (abut_elements){ .corners = 4, .rank = 1, .n = TOUCH, .row = f->touch, .val = f->term };
    f->W = (abut_row_map){ .rows = 4 * LINKS, .cols = f->box.nv };
    f->W.first = malloc((4 * LINKS + 1) * sizeof *f->W.first);
    f->W.col = malloc(8 * LINKS * sizeof *f->W.col);
    f->W.weight = malloc(8 * LINKS * sizeof *f->W.weight);
    f->link = malloc(4 * LINKS * sizeof *f->link);
    f->spring = malloc(ABUT_PACKED * LINKS * sizeof *f->spring);
    for (int i = 0; i <= 4 * LINKS; i++) f->W.first[i] = 2 * i;
    for (int i = 0; i < 4 * LINKS; i++) f->link[i] = i;
    for (int i = 0; i < 8 * LINKS; i++) f->W.col[i] = (int32_t)abut_rng_below(rng, nv), f->W.weight[i] = 0.5;
    for (int e = 0; e < LINKS; e++) spring_matrix(rng, f->spring + ABUT_PACKED * e);
    if (abut_row_map_transpose(&f->W, NULL)) abort();
}

static fixture *fixture_make(int nx, int ny, int nz, double mass)
{
    fixture *f = calloc(1, sizeof *f);
    abut_rng rng = { 52 };
    f->box = box_tets_make(nx, ny, nz, 51);
    f->n = 3 * (size_t)f->box.nv;
    f->set[0] = (abut_elements){ .corners = 4, .n = (size_t)f->box.nt, .row = f->box.tet, .val = f->box.val };
    contacts_make(f, &rng);
    f->set[2] = (abut_elements){ .corners = 4, .n = LINKS, .row = f->link, .make = give_springs, .ctx = f, .map = &f->W };
    double **v[] = { &f->x, &f->diag, &f->r, &f->z, &f->other };
    for (int k = 0; k < 5; k++) *v[k] = calloc(f->n, sizeof **v[k]);
    for (size_t i = 0; i < f->n; i++) f->diag[i] = mass, f->r[i] = abut_rng_real(&rng, -1, 1);
    for (int32_t i = 0; i < f->box.nv; i++) {
        f->x[3 * i] = i % (nx + 1);
        f->x[3 * i + 1] = i / (nx + 1) % (ny + 1);
        f->x[3 * i + 2] = i / ((nx + 1) * (ny + 1));
    }
    if (abut_bsr_pattern(&f->A, f->box.nv, f->set, 3, NULL)) abort();
    abut_bsr_assemble(&f->A, f->diag, f->set, 3);
    if (abut_product_make(&f->product, f->box.nv, f->set, 3, 0, NULL)) abort();
    return f;
}

/* The first sets are summed. */
static void product_renew(fixture *f, int summed)
{
    abut_product_free(&f->product);
    if (abut_product_make(&f->product, f->box.nv, f->set, 3, summed, NULL)) abort();
}

static void fixture_free(fixture *f)
{
    box_tets_free(&f->box);
    abut_bsr_clear(&f->A);
    abut_product_free(&f->product);
    abut_row_map_clear(&f->W);
    free(f->touch), free(f->term), free(f->link), free(f->spring);
    free(f->x), free(f->diag), free(f->r), free(f->z), free(f->other), free(f);
}

static abut_operator matrix_of(const fixture *f)
{
    return (abut_operator){ .matrix = &f->A, .where = f->x };
}

static abut_operator product_of(const fixture *f)
{
    abut_operator A = abut_product_set(f->product, f->diag, f->set);
    A.where = f->x;
    return A;
}

static abut_mas *mas_of(const abut_operator *A, abut_mas_opts opts)
{
    abut_mas *m = NULL;
    abut_err err = { 0 };
    if (abut_mas_make(&m, A, opts, &err) || abut_mas_factor(m, A, &err)) printf("# %s\n", err.msg), abort();
    return m;
}

static void apply_to(abut_mas *m, const double *r, double *z)
{
    const abut_precond M = abut_mas_precond(m);
    CHECK(!M.apply(M.of, r, z, NULL));
}

static double largest_difference(const double *a, const double *b, size_t n)
{
    double d = 0;
    for (size_t i = 0; i < n; i++) d = fmax(d, fabs(a[i] - b[i]));
    return d;
}

/* ---- levels ---- */

TEST(rows_of_a_level_are_joined_within_domains_until_one_domain_is_left)
{
    fixture *f = fixture_make(9, 8, 7, 1);
    const abut_operator A = matrix_of(f), P = product_of(f);
    abut_mas_levels s = { 0 }, t = { 0 };
    CHECK(!abut_mas_levels_make(&s, &A, ABUT_MAS_LEVELS, NULL) && !abut_mas_levels_make(&t, &P, ABUT_MAS_LEVELS, NULL));
    CHECK(s.levels == 3 && s.level[2].n <= ABUT_MAS_ROWS && s.level[1].n >= abut_mas_domains(s.n));
    CHECK(t.levels == s.levels && !memcmp(s.row, t.row, (size_t)s.n * sizeof *s.row));
    for (int32_t k = 0; k < s.n; k++) CHECK(s.place[s.row[k]] == k);
    for (int l = 0; l + 1 < s.levels; l++) {
        CHECK(!memcmp(s.level[l].up, t.level[l].up, (size_t)s.level[l].n * sizeof *s.level[l].up));
        const abut_mas_level *up = &s.level[l + 1];
        CHECK(up->first[up->n] == s.level[l].n);
        for (int32_t g = 0; g < up->n; g++)
            for (int32_t k = up->first[g]; k < up->first[g + 1]; k++) {
                CHECK(s.level[l].up[up->child[k]] == g && (k == up->first[g] || up->child[k] > up->child[k - 1]));
                CHECK(up->child[k] / ABUT_MAS_ROWS == up->child[up->first[g]] / ABUT_MAS_ROWS);
            }
    }
    CHECK(!s.level[s.levels - 1].up);
    abut_mas_levels_clear(&s), abut_mas_levels_clear(&t);
    abut_mas_levels_clear(&s);
    fixture_free(f);
}

TEST(bodies_in_one_domain_are_nodes_apart)
{
    enum { BODIES = 12 };       /* tets, of which a domain holds several */
    int32_t tet[4 * BODIES];
    double val[ABUT_PACKED * BODIES] = { 0 };
    for (int i = 0; i < 4 * BODIES; i++) tet[i] = i % 4 * BODIES + i / 4;   /* the rows of a body lie apart */
    const abut_elements set = { .corners = 4, .n = BODIES, .row = tet, .val = val };
    double x[12 * BODIES];
    for (int i = 0; i < 4 * BODIES; i++) x[3 * i] = i % BODIES, x[3 * i + 1] = 0.1 * (i / BODIES), x[3 * i + 2] = 0;
    abut_bsr M = { 0 };
    CHECK(!abut_bsr_pattern(&M, 4 * BODIES, &set, 1, NULL));
    const abut_operator A = { .matrix = &M, .where = x };
    abut_mas_levels s = { 0 };
    CHECK(!abut_mas_levels_make(&s, &A, ABUT_MAS_LEVELS, NULL) && s.levels >= 2);
    for (int32_t g = 0; s.levels >= 2 && g < s.level[1].n; g++)
        for (int32_t k = s.level[1].first[g]; k < s.level[1].first[g + 1]; k++)
            CHECK(s.row[s.level[1].child[k]] % BODIES == s.row[s.level[1].child[s.level[1].first[g]]] % BODIES);
    abut_mas_levels_clear(&s);
    abut_bsr_clear(&M);
}

/* ---- the preconditioner ---- */

/* z += P B^-1 P^T r of one level: at[n] the node of each row */
static void add_level(const double *D, size_t n, const int32_t *at, int32_t nodes, const double *r, double *z)
{
    for (int32_t lo = 0; lo < nodes; lo += ABUT_MAS_ROWS) {
        const int32_t hi = lo + ABUT_MAS_ROWS < nodes ? lo + ABUT_MAS_ROWS : nodes;
        const size_t m = 3 * (size_t)(hi - lo);
        double *B = calloc(m * n, sizeof *B);
        for (size_t i = 0; i < n; i++)
            if (at[i / 3] >= lo && at[i / 3] < hi) B[(3 * (size_t)(at[i / 3] - lo) + i % 3) * n + i] = 1;
        add_subspace(D, B, m, n, r, z);
        free(B);
    }
}

TEST(the_levels_sum_to_the_dense_sum_of_domains_and_one_level_is_block_jacobi_of_domains)
{
    fixture *f = fixture_make(5, 4, 6, 0.1);
    abut_operator A = matrix_of(f);
    double *D = dense_of(&f->A);
    for (int levels = 1; levels <= 3; levels++) {
        abut_mas_levels s = { 0 };
        abut_mas *m = mas_of(&A, (abut_mas_opts){ .levels = levels });
        CHECK(!abut_mas_levels_make(&s, &A, levels, NULL));
        CHECK(s.levels == (levels < 3 ? levels : 2 + (s.level[1].n > ABUT_MAS_ROWS)));
        int32_t *at = malloc((size_t)s.n * sizeof *at);
        memcpy(at, s.place, (size_t)s.n * sizeof *at);
        memset(f->z, 0, f->n * sizeof *f->z);
        for (int l = 0; l < s.levels; l++) {
            add_level(D, f->n, at, s.level[l].n, f->r, f->z);
            for (int32_t i = 0; i < s.n && l + 1 < s.levels; i++) at[i] = s.level[l].up[at[i]];
        }
        apply_to(m, f->r, f->other);
        CHECK_NEAR(largest_difference(f->z, f->other, f->n), 0, 2e-6 * abut_largest(f->z, f->n));
        free(at);
        abut_mas_levels_clear(&s);
        abut_mas_free(&m);
    }
    A.where = NULL;             /* rows 0 .. 15, 16 .. 31, and so on */
    abut_mas *m = mas_of(&A, (abut_mas_opts){ .levels = 1 });
    int32_t *at = malloc(f->n * sizeof *at);
    for (int32_t i = 0; i < f->A.n; i++) at[i] = i;
    memset(f->z, 0, f->n * sizeof *f->z);
    add_level(D, f->n, at, f->A.n, f->r, f->z);
    apply_to(m, f->r, f->other);
    CHECK_NEAR(largest_difference(f->z, f->other, f->n), 0, 2e-6 * abut_largest(f->z, f->n));
    free(at), free(D);
    abut_mas_free(&m);
    fixture_free(f);
}

TEST(it_is_symmetric_and_positive_definite)
{
    fixture *f = fixture_make(4, 3, 4, 0.01);
    const abut_operator A = matrix_of(f);
    for (int rigid = 0; rigid < 2; rigid++) {
        abut_mas *m = mas_of(&A, (abut_mas_opts){ .rigid = rigid });
        double *D = calloc(f->n * f->n, sizeof *D), size = 0;
        memset(f->z, 0, f->n * sizeof *f->z);
        for (size_t i = 0; i < f->n; i++) {
            f->z[i] = 1;
            apply_to(m, f->z, D + i * f->n);
            f->z[i] = 0;
            size = fmax(size, D[i * f->n + i]);
        }
        for (size_t i = 0; i < f->n; i++)
            for (size_t j = 0; j < i; j++) CHECK_NEAR(D[i * f->n + j], D[j * f->n + i], 1e-12 * size);
        for (size_t k = 0; k < f->n; k++) {             /* elimination without pivots: all of them positive */
            CHECK(D[k * f->n + k] > 0);
            for (size_t i = k + 1; i < f->n; i++) {
                const double l = D[i * f->n + k] / D[k * f->n + k];
                for (size_t j = k; j < f->n; j++) D[i * f->n + j] -= l * D[k * f->n + j];
            }
        }
        free(D);
        abut_mas_free(&m);
    }
    fixture_free(f);
}

/* Before any rounding to single precision. */
static void same_sums(const fixture *f, const abut_operator *A, const abut_operator *P)
{
    abut_mas_levels s = { 0 };
    abut_mas_sums sum[2];
    double *M[2] = { malloc(ABUT_MAS_GROUP * sizeof(double)), malloc(ABUT_MAS_GROUP * sizeof(double)) };
    CHECK(!abut_mas_levels_make(&s, A, ABUT_MAS_LEVELS, NULL));
    for (int k = 0; k < 2; k++) CHECK(!abut_mas_sums_make(&sum[k], &s, k ? P : A, NULL));
    for (int l = 0; l < s.levels; l++)
        for (int32_t g = 0; g < abut_mas_groups(s.level[l].n); g++) {
            for (int k = 0; k < 2; k++) abut_mas_sums_load(&sum[k], &s, l, g, M[k]);
            CHECK_NEAR(largest_difference(M[0], M[1], ABUT_MAS_GROUP), 0, 1e-13 * abut_largest(M[0], ABUT_MAS_GROUP));
        }
    for (int k = 0; k < 2; k++) abut_mas_sums_clear(&sum[k]), free(M[k]);
    abut_mas_levels_clear(&s);
    (void)f;
}

TEST(a_matrix_its_element_sets_and_some_of_them_summed_give_the_same_preconditioner)
{
    fixture *f = fixture_make(12, 11, 10, 0.1);
    const abut_operator A = matrix_of(f);
    for (int summed = 0; summed < 3; summed++) {
        product_renew(f, summed);
        const abut_operator P = product_of(f);
        for (int rigid = 0; rigid < 2; rigid++) {
            abut_mas *m = mas_of(&A, (abut_mas_opts){ .rigid = rigid }), *p = mas_of(&P, (abut_mas_opts){ .rigid = rigid });
            CHECK(abut_mas_get_stats(m).levels == 3 && abut_mas_get_stats(p).levels == 3 && abut_mas_get_stats(m).fallen == 0);
            apply_to(m, f->r, f->z);
            apply_to(p, f->r, f->other);
            CHECK_NEAR(largest_difference(f->z, f->other, f->n), 0, 1e-6 * abut_largest(f->z, f->n));
            abut_mas_free(&m), abut_mas_free(&p);
        }
        same_sums(f, &A, &P);
    }
    fixture_free(f);
}

TEST(it_has_the_same_bits_at_1_2_4_and_7_threads)
{
    fixture *f = fixture_make(19, 17, 13, 0.1);
    static const int threads[4] = { 1, 2, 4, 7 };
    for (int way = 0; way < 6; way++)
        for (int k = 0; k < 4; k++) {
            abut_threads_set(threads[k]);
            product_renew(f, way % 3 == 2);
            const abut_operator of = way % 3 ? product_of(f) : matrix_of(f);
            abut_mas *m = mas_of(&of, (abut_mas_opts){ .rigid = way > 2 });
            apply_to(m, f->r, k ? f->other : f->z);
            CHECK(!k || !memcmp(f->z, f->other, f->n * sizeof *f->z));
            abut_mas_free(&m);
        }
    abut_threads_set(1);
    fixture_free(f);
}

TEST(rigid_motions_are_added_to_the_levels)
{
    fixture *f = fixture_make(9, 8, 7, 0.1);
    const abut_operator A = matrix_of(f);
    abut_mas *rigid = mas_of(&A, (abut_mas_opts){ .levels = 1, .rigid = 1 }), *m = mas_of(&A, (abut_mas_opts){ .levels = 1 });
    abut_mas_levels s = { 0 };
    abut_coarse_space *c = NULL;
    CHECK(!abut_mas_levels_make(&s, &A, 1, NULL));
    int32_t first[7] = { 0 };
    for (int p = 0; p < 6; p++) first[p + 1] = p < 5 ? (p + 1) * ABUT_MAS_PART : f->A.n;
    CHECK(f->A.n == 720 && !abut_coarse_space_analyse(&c, &A, 6, first, s.row, NULL));
    CHECK(!abut_coarse_space_factor(c, &A, f->x, NULL));
    apply_to(rigid, f->r, f->z);
    apply_to(m, f->r, f->other);
    CHECK(largest_difference(f->z, f->other, f->n) > 1e-3 * abut_largest(f->z, f->n));
    CHECK(!abut_coarse_space_add(c, f->r, f->other, NULL));
    CHECK_NEAR(largest_difference(f->z, f->other, f->n), 0, 1e-12 * abut_largest(f->z, f->n));
    abut_coarse_space_free(&c);
    abut_mas_levels_clear(&s);
    abut_mas_free(&m), abut_mas_free(&rigid);
    fixture_free(f);
}

/* ---- its use ---- */

static int iterations(const fixture *f, const abut_mas_opts *opts)
{
    const abut_operator A = matrix_of(f);
    abut_mas *m = opts ? mas_of(&A, *opts) : NULL;
    const abut_precond M = m ? abut_mas_precond(m) : (abut_precond){ 0 };
    abut_arena scratch = { 0 };
    abut_pcg_report rep;
    memset(f->z, 0, f->n * sizeof *f->z);
    CHECK(!abut_pcg_solve(&A, m ? &M : NULL, f->r, f->z, (abut_pcg_opts){ 1e-6, 5000 }, &rep, &scratch, NULL) && rep.converged);
    abut_arena_clear(&scratch);
    abut_mas_free(&m);
    return rep.iterations;
}

TEST(iterations_grow_slower_with_the_size_than_those_of_diagonal_blocks)
{
    const abut_mas_opts levels = { 0 }, one = { .levels = 1 }, rigid = { .levels = 1, .rigid = 1 };
    fixture *small = fixture_make(7, 7, 7, 1e-4), *large = fixture_make(23, 23, 23, 1e-4);
    const int jacobi[2] = { iterations(small, NULL), iterations(large, NULL) };
    const int mas[2] = { iterations(small, &levels), iterations(large, &levels) };
    const int domains = iterations(large, &one), motions = iterations(large, &rigid);
    CHECK(mas[0] < jacobi[0] && 2 * mas[1] < jacobi[1]);
    CHECK((double)mas[1] / mas[0] < 0.9 * jacobi[1] / jacobi[0]);
    CHECK(mas[1] < domains && motions < domains);
    if (check_bad)
        printf("# jacobi %d %d, mas %d %d, one level %d, rigid %d\n", jacobi[0], jacobi[1], mas[0], mas[1], domains, motions);
    fixture_free(small), fixture_free(large);
}

/* Rows joined much more than rounding in double precision lets a pivot see: the domain has its diagonal blocks. */
TEST(a_domain_that_rounding_leaves_indefinite_falls_back_to_its_diagonal_blocks_and_is_counted)
{
    fixture *f = fixture_make(3, 3, 3, 1);
    const abut_operator A = matrix_of(f);
    const int32_t row = 5;
    double *B = f->A.val + 9 * (f->A.ptr[row] + 1);
    CHECK(abs(f->A.row[f->A.ptr[row] + 1] / ABUT_MAS_ROWS - row / ABUT_MAS_ROWS) == 0);
    for (int i = 0; i < 9; i++) B[i] += i % 4 ? 0 : 1e4;
    abut_operator natural = A;
    natural.where = NULL;
    abut_mas *m = mas_of(&natural, (abut_mas_opts){ .levels = 1 });
    CHECK(abut_mas_get_stats(m).fallen == 1);
    apply_to(m, f->r, f->z);
    double D[9], b[3];
    for (int i = 0; i < 9; i++) D[i] = f->A.val[9 * f->A.ptr[row] + (size_t)i];
    memcpy(b, f->r + 3 * row, sizeof b);
    dense_solve(D, b, 3);
    for (int i = 0; i < 3; i++) CHECK_NEAR(f->z[3 * row + i], b[i], 1e-6 * fabs(b[i]) + 1e-6);
    abut_err err = { 0 };
    f->A.val[9 * f->A.ptr[row]] = -1;
    CHECK(abut_mas_factor(m, &natural, &err) == ABUT_E_NUMERIC && strstr(err.msg, "diagonal block of level 0"));
    const abut_precond M = abut_mas_precond(m);
    CHECK(M.apply(M.of, f->r, f->z, &err) == ABUT_E_ARG && strstr(err.msg, "no factors"));
    f->A.val[9 * f->A.ptr[row]] = NAN;
    CHECK(abut_mas_factor(m, &natural, &err) == ABUT_E_NUMERIC);
    abut_mas_free(&m);
    fixture_free(f);
}

TEST(its_counts_are_those_of_all_domains_of_all_levels_and_of_the_coarse_space)
{
    fixture *f = fixture_make(12, 11, 10, 0.1);
    const abut_operator A = matrix_of(f);
    abut_mas_levels s = { 0 };
    CHECK(!abut_mas_levels_make(&s, &A, ABUT_MAS_LEVELS, NULL) && s.levels == 3);
    abut_mas_stats one = { 0 };
    for (int levels = 1; levels <= 3; levels += 2) {
        abut_mas *m = mas_of(&A, (abut_mas_opts){ .levels = levels });
        const abut_mas_stats has = abut_mas_get_stats(m);
        int32_t domains = 0, groups = 0;
        for (int l = 0; l < levels; l++) {
            domains += (s.level[l].n + 15) / 16;
            groups += ((s.level[l].n + 15) / 16 + 7) / 8;      /* eight domains side by side */
        }
        CHECK(has.levels == levels && has.domains == domains && !has.fallen);
        CHECK(has.bytes == (size_t)groups * 8 * (48 * 49 / 2) * sizeof(float));
        CHECK_NEAR(has.nnz, groups * 8.0 * (48 * 49 / 2), 0);
        CHECK_NEAR(has.flops, groups * 8.0 * 48 * 48 * 48 / 3, 0);
        if (levels == 1) one = has;
        abut_mas_free(&m);
    }
    abut_mas *m = mas_of(&A, (abut_mas_opts){ .levels = 1, .rigid = 1 });
    const abut_mas_stats rigid = abut_mas_get_stats(m);
    CHECK(rigid.domains == one.domains && rigid.nnz > one.nnz && rigid.flops > one.flops && rigid.bytes > one.bytes);
    abut_mas_free(&m);
    abut_mas_levels_clear(&s);
    fixture_free(f);
}

TEST(operators_that_give_no_elements_other_rows_and_levels_out_of_range_are_refused)
{
    fixture *f = fixture_make(3, 3, 3, 1), *g = fixture_make(4, 3, 3, 1);
    abut_operator A = matrix_of(f), P = product_of(f), B = matrix_of(g);
    abut_err err = { 0 };
    abut_mas *m = mas_of(&A, (abut_mas_opts){ 0 });
    CHECK(abut_mas_factor(m, &B, &err) == ABUT_E_ARG && strstr(err.msg, "80 rows, made for 64"));
    abut_mas_free(&m);
    CHECK(abut_mas_make(&m, &A, (abut_mas_opts){ .levels = 9 }, &err) == ABUT_E_ARG && strstr(err.msg, "9 levels") && !m);
    A.where = P.where = NULL;
    CHECK(abut_mas_make(&m, &A, (abut_mas_opts){ .rigid = 1 }, &err) == ABUT_E_ARG && strstr(err.msg, "positions") && !m);
    CHECK(abut_mas_make(&m, &P, (abut_mas_opts){ .rigid = 1 }, &err) == ABUT_E_ARG && strstr(err.msg, "positions") && !m);
    P.read = NULL;
    CHECK(abut_mas_make(&m, &P, (abut_mas_opts){ 0 }, &err) == ABUT_E_ARG && strstr(err.msg, "without elements") && !m);
    fixture_free(f), fixture_free(g);
}
