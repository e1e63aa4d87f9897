#include "base/par.h"
#include "box_tets.h"
#include "dense.h"
#include "sparse/pcg.h"
#include "sparse/schwarz/coarse_space.h"
#include "sparse/schwarz/schwarz.h"
#include "graph/graph.h"

#include "check.h"

#define OF(A) &(abut_operator){ .matrix = (A) }

/* A box of springs, its rows cut into parts. */
typedef struct fixture {
    box_tets box;
    abut_elements set;
    abut_bsr A;
    size_t n;
    double *x, *diag, *r, *z;
    int32_t *part;              /* [n] of each row */
    abut_strong_parts parts;    /* the same by parts */
} fixture;

/* Sorts the rows by part, k of them. */
static void sort_parts(fixture *f, int32_t k)
{
    abut_strong_parts *p = &f->parts;
    int32_t m = 0;
    abut_strong_parts_clear(p);
    *p = (abut_strong_parts){ f->box.nv, k, calloc((size_t)k + 1, sizeof *p->first), calloc(f->n, sizeof *p->row) };
    for (int32_t j = 0; j < k; j++) {
        for (int32_t i = 0; i < f->box.nv; i++)
            if (f->part[i] == j) p->row[m++] = i;
        p->first[j + 1] = m;
    }
}

static void cut(fixture *f, int32_t k)
{
    if (abut_graph_cut(abut_bsr_graph(&f->A), NULL, k, f->part, NULL)) abort();
    sort_parts(f, k);
}

static fixture fixture_make(int nx, int ny, int nz, int32_t k, double mass)
{
    fixture f = { .box = box_tets_make(nx, ny, nz, 31) };
    f.n = 3 * (size_t)f.box.nv;
    f.set = (abut_elements){ .corners = 4, .n = (size_t)f.box.nt, .row = f.box.tet, .val = f.box.val };
    f.x = calloc(f.n, sizeof *f.x);
    f.diag = calloc(f.n, sizeof *f.diag);
    f.r = calloc(f.n, sizeof *f.r);
    f.z = calloc(f.n, sizeof *f.z);
    f.part = calloc(f.n, sizeof *f.part);
    abut_rng rng = { 32 };
    for (size_t i = 0; i < f.n; i++) f.diag[i] = mass, f.r[i] = abut_rng_real(&rng, -1, 1);
    for (int32_t i = 0; i < f.box.nv; i++) {
        f.x[3 * i] = i % (nx + 1);
        f.x[3 * i + 1] = i / (nx + 1) % (ny + 1);
        f.x[3 * i + 2] = i / ((nx + 1) * (ny + 1));
    }
    if (abut_bsr_pattern(&f.A, f.box.nv, &f.set, 1, NULL)) abort();
    abut_bsr_assemble(&f.A, f.diag, &f.set, 1);
    cut(&f, k);
    return f;
}

static void fixture_free(fixture *f)
{
    box_tets_free(&f->box);
    abut_bsr_clear(&f->A);
    abut_strong_parts_clear(&f->parts);
    free(f->x), free(f->diag), free(f->r), free(f->z), free(f->part);
}

static abut_schwarz *schwarz_of(const fixture *f)
{
    abut_schwarz *s = NULL;
    abut_err err = { 0 };
    if (abut_schwarz_analyse(&s, &f->A, &f->parts, f->x, &err) || abut_schwarz_factor(s, &f->A, &err))
        printf("# %s\n", err.msg), abort();
    return s;
}

/* ---- dense twin ---- */

/* z += the exact solution for r on the rows of each part. */
static void dense_parts(const fixture *f, const double *D, const double *r, double *z)
{
    const size_t n = f->n;
    double *B = calloc(n * n, sizeof *B);
    for (int32_t p = 0; p < f->parts.k; p++) {
        size_t m = 0;
        memset(B, 0, n * n * sizeof *B);
        for (size_t i = 0; i < n; i++)
            if (f->part[i / 3] == p) B[m++ * n + i] = 1;
        add_subspace(D, B, m, n, r, z);
    }
    free(B);
}

/* z += the exact solution for r on the rigid motions, about the origin, of the halves of each part. */
static void dense_motions(const fixture *f, const double *D, const double *r, double *z)
{
    const size_t n = f->n;
    const int32_t *first = f->parts.first;
    double *B = calloc(n * n, sizeof *B), *b = B;
    for (int32_t p = 0; p < f->parts.k; p++)
        for (int32_t q = 0, rows = first[p + 1] - first[p]; q < 2; q++, b += 6 * n)
            for (int32_t m = rows * q / 2; m < rows * (q + 1) / 2; m++) {
                const size_t i = 3 * (size_t)f->parts.row[first[p] + m];
                for (size_t d = 0; d < 3; d++) {
                    const size_t d1 = (d + 1) % 3, d2 = (d + 2) % 3;
                    b[d * n + i + d] = 1;
                    b[(3 + d) * n + i + d1] = -f->x[i + d2];
                    b[(3 + d) * n + i + d2] = f->x[i + d1];
                }
            }
    add_subspace(D, B, (size_t)(b - B) / n, n, r, z);
    free(B);
}

static void take_product(const double *D, const double *z, size_t n, double *r)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) r[i] -= D[i * n + j] * z[j];
}

/* Motions, parts, motions, each for what the ones before leave. */
static void dense_schwarz(const fixture *f, const double *D, double *z)
{
    double *r = calloc(f->n, sizeof *r);
    for (int stage = 0; stage < 3; stage++) {
        memcpy(r, f->r, f->n * sizeof *r);
        take_product(D, z, f->n, r);
        (stage == 1 ? dense_parts : dense_motions)(f, D, r, z);
    }
    free(r);
}

TEST(it_solves_exactly_on_the_rigid_motions_on_the_parts_and_again_on_the_motions)
{
    fixture f = fixture_make(5, 4, 3, 4, 0.1);
    abut_rng rng = { 33 };
    for (size_t i = 0; i < f.n; i++) f.x[i] += abut_rng_real(&rng, -0.3, 0.3);     /* no piece lies on a line */
    abut_schwarz *s = schwarz_of(&f);
    const abut_precond M = abut_schwarz_precond(s);
    double *D = dense_of(&f.A), *z = calloc(f.n, sizeof *z);
    dense_schwarz(&f, D, z);
    CHECK(M.rows == f.box.nv && M.apply(M.of, f.r, f.z, NULL) == ABUT_OK);
    double off = 0, size = 0;
    for (size_t i = 0; i < f.n; i++) off += (f.z[i] - z[i]) * (f.z[i] - z[i]), size += z[i] * z[i];
    printf("# off by %.2g of its length\n", sqrt(off / size));
    CHECK(sqrt(off / size) <= 1e-5);    /* parts are factored in single precision */
    free(D), free(z);
    abut_schwarz_free(&s);
    fixture_free(&f);
}

static int iterations(const fixture *f, const abut_precond *M)
{
    abut_arena scratch = { 0 };
    abut_pcg_report rep;
    memset(f->z, 0, f->n * sizeof *f->z);
    CHECK(abut_pcg_solve(OF(&f->A), M, f->r, f->z, (abut_pcg_opts){ 1e-8, 5000 }, &rep, &scratch, NULL) == ABUT_OK);
    CHECK(rep.converged);
    abut_arena_clear(&scratch);
    return rep.iterations;
}

TEST(iterations_grow_less_with_the_mesh_than_those_of_the_diagonal)
{
    int with[2], without[2];
    for (int size = 0; size < 2; size++) {
        fixture f = fixture_make(4, 4, size ? 80 : 20, size ? 32 : 8, 1e-6);
        abut_schwarz *s = schwarz_of(&f);
        const abut_precond M = abut_schwarz_precond(s);
        with[size] = iterations(&f, &M);
        without[size] = iterations(&f, NULL);
        CHECK(abut_schwarz_get_stats(s).parts == f.parts.k);
        abut_schwarz_free(&s);
        fixture_free(&f);
    }
    printf("# %d -> %d iterations, diagonal %d -> %d\n", with[0], with[1], without[0], without[1]);
    CHECK(2 * with[1] <= 3 * with[0]);
    CHECK(5 * with[1] < without[1] && 2 * without[0] < without[1]);
}

TEST(a_new_analysis_of_another_pattern_gives_the_bits_of_a_fresh_one)
{
    fixture a = fixture_make(6, 5, 4, 5, 0.1), b = fixture_make(6, 5, 4, 5, 0.1);
    const int32_t row[4] = { 3, a.box.nv - 2, -1, -1 };     /* a contact between two corners */
    double H[ABUT_PACKED] = { 0 };
    for (int i = 0; i < 3; i++) H[4 * i] = H[36 + 4 * i] = 100, H[9 + 4 * i] = -100;
    const abut_elements sets[2] = { b.set, { .corners = 4, .n = 1, .row = row, .val = H } };
    abut_bsr_clear(&b.A);
    CHECK(abut_bsr_pattern(&b.A, b.box.nv, sets, 2, NULL) == ABUT_OK);
    abut_bsr_assemble(&b.A, b.diag, sets, 2);
    abut_schwarz *fresh = schwarz_of(&b), *s = schwarz_of(&a);
    abut_precond M = abut_schwarz_precond(fresh);
    CHECK(M.apply(M.of, b.r, b.z, NULL) == ABUT_OK);
    CHECK(abut_schwarz_analyse(&s, &b.A, &b.parts, b.x, NULL) == ABUT_OK && abut_schwarz_factor(s, &b.A, NULL) == ABUT_OK);
    M = abut_schwarz_precond(s);
    CHECK(M.apply(M.of, b.r, a.z, NULL) == ABUT_OK);
    CHECK(memcmp(a.z, b.z, b.n * sizeof *b.z) == 0);
    abut_schwarz_free(&fresh);
    for (int32_t k = 3; k < 9; k += 5) {        /* other numbers of parts, fewer and more */
        cut(&b, k);
        fresh = schwarz_of(&b);
        M = abut_schwarz_precond(fresh);
        CHECK(M.apply(M.of, b.r, b.z, NULL) == ABUT_OK);
        CHECK(!abut_schwarz_analyse(&s, &b.A, &b.parts, b.x, NULL) && !abut_schwarz_factor(s, &b.A, NULL));
        M = abut_schwarz_precond(s);
        CHECK(M.apply(M.of, b.r, a.z, NULL) == ABUT_OK && !memcmp(a.z, b.z, b.n * sizeof *b.z));
        CHECK(abut_schwarz_get_stats(s).parts == k);
        abut_schwarz_free(&fresh);
    }
    abut_schwarz_free(&s);
    fixture_free(&a), fixture_free(&b);
}

TEST(it_has_the_same_bits_at_1_2_and_7_threads)
{
    fixture f = fixture_make(9, 8, 7, 6, 0.01);
    const int threads[] = { 1, 2, 7 }, before = abut_threads();
    double *first = calloc(f.n, sizeof *first);
    for (int t = 0; t < 3; t++) {
        abut_threads_set(threads[t]);
        abut_schwarz *s = schwarz_of(&f);
        const abut_precond M = abut_schwarz_precond(s);
        CHECK(M.apply(M.of, f.r, f.z, NULL) == ABUT_OK);
        if (t == 0) memcpy(first, f.z, f.n * sizeof *first);
        CHECK(memcmp(first, f.z, f.n * sizeof *first) == 0);
        abut_schwarz_free(&s);
    }
    abut_threads_set(before);
    free(first);
    fixture_free(&f);
}

TEST(what_cannot_be_is_refused_by_name)
{
    fixture f = fixture_make(3, 3, 3, 3, 0.1);
    abut_schwarz *s = NULL;
    abut_err err = { 0 };
    f.parts.row[f.parts.first[1]] = f.box.nv;
    CHECK(abut_schwarz_analyse(&s, &f.A, &f.parts, f.x, &err) == ABUT_E_ARG && !s && strstr(err.msg, "Schwarz preconditioner"));
    sort_parts(&f, 4);
    CHECK(abut_schwarz_analyse(&s, &f.A, &f.parts, f.x, &err) == ABUT_E_ARG && strstr(err.msg, "empty"));
    f.parts.n--;
    CHECK(abut_schwarz_analyse(&s, &f.A, &f.parts, f.x, &err) == ABUT_E_ARG && strstr(err.msg, "want 64 rows"));
    memset(f.part, 0, (size_t)f.box.nv * sizeof *f.part);
    sort_parts(&f, 1);
    CHECK(abut_schwarz_analyse(&s, &f.A, &f.parts, f.x, &err) == ABUT_OK);
    abut_bsr other = f.A;
    other.nnz--;
    CHECK(abut_schwarz_factor(s, &other, &err) == ABUT_E_ARG && strstr(err.msg, "matrix of 64 rows"));
    f.A.val[9 * f.A.ptr[5]] = -1e3;
    CHECK(abut_schwarz_factor(s, &f.A, &err) == ABUT_E_NUMERIC && strstr(err.msg, "Schwarz"));
    const abut_precond M = abut_schwarz_precond(s);
    CHECK(M.apply(M.of, f.r, f.z, &err) == ABUT_E_ARG && strstr(err.msg, "without a factor"));
    abut_schwarz_free(&s);
    for (int32_t k = 0; k <= 65; k += 65) CHECK(abut_graph_cut(abut_bsr_graph(&f.A), NULL, k, f.part, &err) == ABUT_E_ARG);
    fixture_free(&f);
}

TEST(rows_in_a_line_and_parts_of_one_row_have_a_coarse_space_too)
{
    fixture f = fixture_make(3, 2, 2, 1, 0.1);
    cut(&f, f.box.nv);
    for (size_t i = 0; i < f.n; i++) f.x[i] = i % 3 ? 0 : (double)i;
    abut_schwarz *s = schwarz_of(&f);
    const abut_precond M = abut_schwarz_precond(s);
    CHECK(iterations(&f, &M) > 0);
    abut_schwarz_free(&s);
    cut(&f, 2);
    s = schwarz_of(&f);
    const abut_precond two = abut_schwarz_precond(s);
    CHECK(iterations(&f, &two) > 0);
    abut_schwarz_free(&s);
    fixture_free(&f);
}

TEST(its_counts_are_those_of_its_parts_and_its_coarse_space_together)
{
    fixture f = fixture_make(4, 3, 3, 3, 0.1);
    abut_schwarz *s = schwarz_of(&f);
    abut_subdomains *d = NULL;
    abut_coarse_space *c = NULL;
    const abut_operator A = { .matrix = &f.A };
    int32_t half[7], most = 0;
    for (int32_t p = 0; p < 3; p++) {
        const int32_t *first = f.parts.first + p, rows = first[1] - first[0];
        half[2 * p] = first[0], half[2 * p + 1] = first[0] + rows / 2;
        most = rows > most ? rows : most;
    }
    half[6] = f.box.nv;
    CHECK(!abut_subdomains_analyse(&d, &f.A, 3, f.parts.first, f.parts.row, NULL));
    CHECK(!abut_subdomains_factor(d, &f.A, ABUT_SINGLE, NULL));
    CHECK(!abut_coarse_space_analyse(&c, &A, 6, half, f.parts.row, NULL) && !abut_coarse_space_factor(c, &A, f.x, NULL));
    const abut_schwarz_stats all = abut_schwarz_get_stats(s);
    const abut_subdomains_stats parts = abut_subdomains_get_stats(d);
    const abut_coarse_space_stats coarse = abut_coarse_space_get_stats(c);
    CHECK(all.parts == 3 && all.largest == most && all.bytes == parts.bytes + coarse.bytes);
    CHECK_NEAR(all.factor_nnz, parts.factor_nnz + coarse.factor_nnz, 0);
    CHECK_NEAR(all.factor_flops, parts.factor_flops + coarse.factor_flops, 0);
    abut_schwarz_free(&s), abut_subdomains_free(&d), abut_coarse_space_free(&c);
    fixture_free(&f);
}
