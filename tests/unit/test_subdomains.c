#include "base/par.h"
#include "box_tets.h"
#include "sparse/schwarz/schwarz.h"
#include "sparse/pcg.h"

#include "check.h"

/* A box of springs and domains of its tets: nodes of slabs of tets, so that nodes on interfaces have several copies. */
typedef struct fixture {
    box_tets box;
    abut_bsr A;
    size_t n;
    int32_t k, *first, *row;
    double *dense;      /* [n * n] */
} fixture;

static void add_rows(fixture *f, int32_t j, int32_t at)
{
    const int32_t lo = j * f->box.nt / f->k, hi = (j + 1) * f->box.nt / f->k;
    f->first[j] = at;
    for (int32_t v = 0; v < f->box.nv; v++)
        for (int32_t i = 4 * lo; i < 4 * hi; i++)
            if (f->box.tet[i] == v) {
                f->row[at++] = v;
                break;
            }
    f->first[j + 1] = at;
}

static fixture fixture_make(int32_t k)
{
    fixture f = { .box = box_tets_make(3, 2, 4, 31), .k = k };
    const abut_elements set = { .corners = 4, .n = (size_t)f.box.nt, .row = f.box.tet, .val = f.box.val };
    f.n = 3 * (size_t)f.box.nv;
    double *diag = malloc((size_t)f.box.nv * sizeof *diag), *e = calloc(f.n, sizeof *e);
    for (int32_t i = 0; i < f.box.nv; i++) diag[i] = 0.3 + 0.01 * i;
    if (abut_bsr_pattern(&f.A, f.box.nv, &set, 1, NULL)) abort();
    abut_bsr_assemble(&f.A, diag, &set, 1);
    f.first = calloc((size_t)k + 1, sizeof *f.first);
    f.row = malloc((size_t)k * (size_t)f.box.nv * sizeof *f.row);
    for (int32_t j = 0; j < k; j++) add_rows(&f, j, f.first[j]);
    f.dense = calloc(f.n * f.n, sizeof *f.dense);
    for (size_t j = 0; j < f.n; j++) {
        e[j] = 1;
        abut_bsr_multiply(&f.A, e, f.dense + j * f.n);
        e[j] = 0;
    }
    free(diag), free(e);
    return f;
}

static void fixture_free(fixture *f)
{
    box_tets_free(&f->box);
    abut_bsr_clear(&f->A);
    free(f->first), free(f->row), free(f->dense);
}

static abut_subdomains *domains_of(const fixture *f)
{
    abut_subdomains *d = NULL;
    abut_err err = { 0 };
    if (abut_subdomains_analyse(&d, &f->A, f->k, f->first, f->row, &err) || abut_subdomains_factor(d, &f->A, ABUT_DOUBLE, &err))
        printf("# %s\n", err.msg), abort();
    return d;
}

/* x = D^-1 b by Gauss elimination; D[m * m] is positive definite and lost */
static void dense_solve(double *D, double *b, size_t m)
{
    for (size_t c = 0; c < m; c++)
        for (size_t i = c + 1; i < m; i++) {
            const double l = D[i * m + c] / D[c * m + c];
            for (size_t j = c; j < m; j++) D[i * m + j] -= l * D[c * m + j];
            b[i] -= l * b[c];
        }
    for (size_t i = m; i-- > 0;) {
        for (size_t j = i + 1; j < m; j++) b[i] -= D[i * m + j] * b[j];
        b[i] /= D[i * m + i];
    }
}

static int copies(const fixture *f, int32_t v)
{
    int n = 0;
    for (int32_t i = 0; i < f->first[f->k]; i++) n += f->row[i] == v;
    return n;
}

/* z = sum_j R_j^T W A_j^-1 W' R_j r with dense matrices */
static void dense_twin(const fixture *f, abut_subdomains_join join, const double *r, double *z)
{
    memset(z, 0, f->n * sizeof *z);
    for (int32_t j = 0; j < f->k; j++) {
        const int32_t *row = f->row + f->first[j];
        const size_t m = 3 * (size_t)(f->first[j + 1] - f->first[j]);
        double *D = malloc(m * m * sizeof *D), *b = malloc(m * sizeof *b);
        for (size_t a = 0; a < m; a++) {
            const size_t ra = 3 * (size_t)row[a / 3] + a % 3;
            for (size_t c = 0; c < m; c++) D[a * m + c] = f->dense[ra * f->n + 3 * (size_t)row[c / 3] + c % 3];
            b[a] = r[ra] / (join == ABUT_JOIN_EVEN ? sqrt(copies(f, row[a / 3])) : 1);
        }
        dense_solve(D, b, m);
        for (size_t a = 0; a < m; a++) {
            const double n = copies(f, row[a / 3]);
            z[3 * (size_t)row[a / 3] + a % 3] += b[a] / (join == ABUT_JOIN_SUM ? 1 : join == ABUT_JOIN_MEAN ? n : sqrt(n));
        }
        free(D), free(b);
    }
}

static double *random_vector(size_t n, uint64_t seed)
{
    abut_rng rng = { seed };
    double *v = malloc(n * sizeof *v);
    for (size_t i = 0; i < n; i++) v[i] = abut_rng_real(&rng, -1, 1);
    return v;
}

TEST(every_join_is_the_sum_of_dense_subdomain_solutions)
{
    for (int32_t k = 1; k <= 5; k += 2) {
        fixture f = fixture_make(k);
        abut_subdomains *d = domains_of(&f);
        double *r = random_vector(f.n, 7), *z = malloc(f.n * sizeof *z), *want = malloc(f.n * sizeof *want);
        for (abut_subdomains_join join = ABUT_JOIN_SUM; join <= ABUT_JOIN_EVEN; join++) {
            dense_twin(&f, join, r, want);
            for (size_t i = 0; i < f.n; i++) z[i] = 2;
            CHECK(!abut_subdomains_add(d, join, r, z, NULL));
            for (size_t i = 0; i < f.n; i++) CHECK_NEAR(z[i], 2 + want[i], 1e-10);
        }
        CHECK(k == 1 || abut_subdomains_get_stats(d).copies > f.box.nv);
        CHECK(abut_subdomains_rows(d) == f.box.nv);
        free(r), free(z), free(want);
        abut_subdomains_free(&d);
        fixture_free(&f);
    }
}

/* The literal interface completion of Li 2020, eq. 3.6 - 3.9: the matrix of the tets of one part alone, plus on its interface
 * what the whole matrix has more. */
TEST(a_principal_submatrix_is_the_part_alone_with_its_interface_completed)
{
    fixture f = fixture_make(3);
    for (int32_t j = 0; j < f.k; j++) {
        const int32_t lo = j * f.box.nt / f.k, hi = (j + 1) * f.box.nt / f.k;
        const abut_elements own = { .corners = 4, .n = (size_t)(hi - lo), .row = f.box.tet + 4 * lo,
                                    .val = f.box.val + (size_t)ABUT_PACKED * (size_t)lo };
        abut_bsr B = { 0 };
        double *diag = malloc((size_t)f.box.nv * sizeof *diag), *e = calloc(f.n, sizeof *e), *col = malloc(f.n * sizeof *col);
        for (int32_t i = 0; i < f.box.nv; i++) diag[i] = 0.3 + 0.01 * i;
        CHECK(!abut_bsr_pattern(&B, f.box.nv, &own, 1, NULL));
        abut_bsr_assemble(&B, diag, &own, 1);
        size_t completed = 0;
        for (int32_t c = f.first[j]; c < f.first[j + 1]; c++)
            for (size_t q = 0; q < 3; q++) {
                const size_t at = 3 * (size_t)f.row[c] + q;
                e[at] = 1;
                abut_bsr_multiply(&B, e, col);
                e[at] = 0;
                for (int32_t i = f.first[j]; i < f.first[j + 1]; i++) {
                    if (copies(&f, f.row[i]) > 1 && copies(&f, f.row[c]) > 1) {
                        completed++;
                        continue;
                    }
                    for (size_t s = 0; s < 3; s++)
                        CHECK_NEAR(col[3 * (size_t)f.row[i] + s], f.dense[at * f.n + 3 * (size_t)f.row[i] + s], 1e-13);
                }
            }
        CHECK(completed > 0);
        free(diag), free(e), free(col);
        abut_bsr_clear(&B);
    }
    fixture_free(&f);
}

TEST(the_even_join_is_symmetric_and_the_mean_is_not)
{
    fixture f = fixture_make(5);
    abut_subdomains *d = domains_of(&f);
    double *a = random_vector(f.n, 1), *b = random_vector(f.n, 2), part[8];
    double asym[3];
    for (abut_subdomains_join join = ABUT_JOIN_SUM; join <= ABUT_JOIN_EVEN; join++) {
        double *za = calloc(f.n, sizeof *za), *zb = calloc(f.n, sizeof *zb);
        CHECK(!abut_subdomains_add(d, join, a, za, NULL) && !abut_subdomains_add(d, join, b, zb, NULL));
        asym[join] = fabs(abut_dot(b, za, f.n, part) - abut_dot(a, zb, f.n, part));
        CHECK(abut_dot(a, za, f.n, part) > 0);
        free(za), free(zb);
    }
    CHECK(asym[ABUT_JOIN_SUM] < 1e-10 && asym[ABUT_JOIN_EVEN] < 1e-10);
    CHECK(asym[ABUT_JOIN_MEAN] > 1e-6);
    free(a), free(b);
    abut_subdomains_free(&d);
    fixture_free(&f);
}

TEST(thread_counts_and_repeated_analyses_give_the_same_bits)
{
    const int threads[3] = { 1, 2, 7 }, before = abut_threads();
    fixture f = fixture_make(5);
    double *r = random_vector(f.n, 3), *z[3];
    abut_subdomains *d = NULL;
    for (int t = 0; t < 3; t++) {
        abut_threads_set(threads[t]);
        z[t] = calloc(f.n, sizeof *z[t]);
        CHECK(!abut_subdomains_analyse(&d, &f.A, f.k, f.first, f.row, NULL));
        CHECK(!abut_subdomains_factor(d, &f.A, ABUT_DOUBLE, NULL));
        CHECK(!abut_subdomains_add(d, ABUT_JOIN_MEAN, r, z[t], NULL));
        CHECK(!memcmp(z[0], z[t], f.n * sizeof *r));
    }
    abut_threads_set(before);
    free(r), free(z[0]), free(z[1]), free(z[2]);
    abut_subdomains_free(&d);
    fixture_free(&f);
}

TEST(factors_in_single_precision_are_near_those_in_double_at_half_the_memory)
{
    fixture f = fixture_make(4);
    abut_subdomains *d = domains_of(&f);
    double *r = random_vector(f.n, 3), *z = calloc(f.n, sizeof *z), *single = calloc(f.n, sizeof *z), off = 0, big = 0;
    const size_t bytes = abut_subdomains_get_stats(d).bytes;
    CHECK(!abut_subdomains_add(d, ABUT_JOIN_EVEN, r, z, NULL));
    CHECK(!abut_subdomains_factor(d, &f.A, ABUT_SINGLE, NULL));
    CHECK(!abut_subdomains_add(d, ABUT_JOIN_EVEN, r, single, NULL));
    for (size_t i = 0; i < f.n; i++) off = fmax(off, fabs(z[i] - single[i])), big = fmax(big, fabs(z[i]));
    CHECK(off > 0 && off < 1e-4 * big);
    CHECK((double)abut_subdomains_get_stats(d).bytes < 0.65 * (double)bytes);
    free(r), free(z), free(single);
    abut_subdomains_free(&d);
    fixture_free(&f);
}

/* Two rows that floats cannot tell apart; all others stand alone. */
TEST(a_domain_that_floats_make_indefinite_is_factored_in_double)
{
    fixture f = fixture_make(1);
    abut_subdomains *d = NULL;
    int32_t col = 0;
    memset(f.A.val, 0, 9 * f.A.nnz * sizeof *f.A.val);
    for (int32_t i = 0; i < f.A.n; i++)
        for (size_t k = 0; k < 9; k += 4) f.A.val[9 * f.A.ptr[i] + k] = 1;
    while (f.A.ptr[col + 1] - f.A.ptr[col] < 2) col++;
    f.A.val[9 * (f.A.ptr[col] + 1)] = 1 - 1e-9;
    double *r = random_vector(f.n, 3), *z = calloc(f.n, sizeof *z), *back = calloc(f.n, sizeof *z);
    CHECK(!abut_subdomains_analyse(&d, &f.A, f.k, f.first, f.row, NULL));
    CHECK(!abut_subdomains_factor(d, &f.A, ABUT_SINGLE, NULL));
    CHECK(!abut_subdomains_add(d, ABUT_JOIN_SUM, r, z, NULL));
    abut_bsr_multiply(&f.A, z, back);
    for (size_t i = 0; i < f.n; i++) CHECK_NEAR(back[i], r[i], 1e-6);
    free(r), free(z), free(back);
    abut_subdomains_free(&d);
    fixture_free(&f);
}

TEST(bad_lists_and_indefinite_domains_are_refused)
{
    fixture f = fixture_make(3);
    abut_subdomains *d = NULL;
    abut_err err = { 0 };
    const int32_t last = f.row[f.first[3] - 1];
    f.row[f.first[3] - 1] = f.row[f.first[3] - 2];
    CHECK(abut_subdomains_analyse(&d, &f.A, 3, f.first, f.row, &err) == ABUT_E_ARG && !d && strstr(err.msg, "domain 2"));
    f.row[f.first[3] - 1] = f.A.n;
    CHECK(abut_subdomains_analyse(&d, &f.A, 3, f.first, f.row, &err) == ABUT_E_ARG && !d);
    CHECK(strstr(err.msg, "want ascending ones in 0 ..") != NULL);
    const int32_t front = f.row[1];
    const int before = abut_threads();
    f.row[1] = f.row[0];
    for (int k = 0; k < 3; k++) {       /* the first of two wrong domains, on every thread */
        abut_threads_set((int[]){ 1, 2, 7 }[k]);
        CHECK(abut_subdomains_analyse(&d, &f.A, 3, f.first, f.row, &err) == ABUT_E_ARG && !d && strstr(err.msg, "domain 0"));
    }
    abut_threads_set(before);
    f.row[1] = front;
    f.row[f.first[3] - 1] = last;
    CHECK(abut_subdomains_analyse(&d, &f.A, 1, f.first, f.row, &err) == ABUT_E_ARG && !d && strstr(err.msg, "is in none"));
    int32_t none[2] = { 0, 0 };
    CHECK(abut_subdomains_analyse(&d, &f.A, 1, none, f.row, &err) == ABUT_E_ARG && strstr(err.msg, "empty"));
    CHECK(!abut_subdomains_analyse(&d, &f.A, 3, f.first, f.row, &err));
    double *r = random_vector(f.n, 3), *z = calloc(f.n, sizeof *z);
    CHECK(abut_subdomains_add(d, ABUT_JOIN_SUM, r, z, &err) == ABUT_E_ARG);
    f.A.val[9 * f.A.ptr[last] + 4] = -1;
    CHECK(abut_subdomains_factor(d, &f.A, ABUT_DOUBLE, &err) == ABUT_E_NUMERIC && strstr(err.msg, "part "));
    free(r), free(z);
    abut_subdomains_free(&d);
    fixture_free(&f);
}

TEST(the_counts_of_domains_are_the_sums_of_those_of_their_factors)
{
    fixture f = fixture_make(3);
    abut_subdomains *d = domains_of(&f);
    abut_subdomains_stats s = abut_subdomains_get_stats(d);
    int32_t most = 0;
    for (int32_t j = 0; j < 3; j++) most = f.first[j + 1] - f.first[j] > most ? f.first[j + 1] - f.first[j] : most;
    CHECK(s.domains == 3 && s.largest == most && s.copies == f.first[3]);
    abut_subdomains_free(&d);
    /* every row a domain of its own: triangles of three rows, and one of them has so many bytes */
    const int32_t nv = f.box.nv;
    int32_t *first = malloc(((size_t)nv + 1) * sizeof *first), *row = malloc((size_t)nv * sizeof *row);
    for (int32_t i = 0; i < nv; i++) first[i] = row[i] = i;
    first[nv] = nv;
    CHECK(!abut_subdomains_analyse(&d, &f.A, nv, first, row, NULL) && !abut_subdomains_factor(d, &f.A, ABUT_DOUBLE, NULL));
    s = abut_subdomains_get_stats(d);
    CHECK(s.domains == nv && s.largest == 1 && s.copies == nv);
    CHECK_NEAR(s.factor_nnz, 6.0 * nv, 0);
    CHECK_NEAR(s.factor_flops, (1 + 4 + 9.0) * nv, 0);
    CHECK(s.bytes > 9 * sizeof(double) * (size_t)nv && s.bytes % (size_t)nv == 0);
    abut_subdomains_free(&d);
    free(first), free(row);
    fixture_free(&f);
}

TEST(no_domains_too_many_blocks_and_other_matrices_are_refused_with_their_numbers)
{
    fixture f = fixture_make(2);
    abut_subdomains *d = NULL;
    abut_err err = { 0 };
    CHECK(abut_subdomains_analyse(&d, &f.A, 0, f.first, f.row, &err) == ABUT_E_ARG && !d && strstr(err.msg, "domains: 0 of "));
    const abut_bsr many = { .n = f.A.n, .nnz = (size_t)UINT32_MAX + 1 };
    CHECK(abut_subdomains_analyse(&d, &many, 2, f.first, f.row, &err) == ABUT_E_ARG && strstr(err.msg, "2 of 4294967296 blocks"));
    d = domains_of(&f);
    abut_bsr other = f.A;
    other.nnz--;
    CHECK(abut_subdomains_factor(d, &other, ABUT_DOUBLE, &err) == ABUT_E_ARG && strstr(err.msg, "were analysed"));
    other = f.A, other.n--;
    CHECK(abut_subdomains_factor(d, &other, ABUT_DOUBLE, &err) == ABUT_E_ARG && strstr(err.msg, "matrix of 59 rows"));
    abut_subdomains_free(&d);
    fixture_free(&f);
}
