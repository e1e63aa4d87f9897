#include "base/par.h"
#include "box_tets.h"
#include "dense.h"
#include "sparse/pcg.h"
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
    int32_t k, *part;
} fixture;

static fixture fixture_make(int nx, int ny, int nz, int32_t k, double mass)
{
    fixture f = { .box = box_tets_make(nx, ny, nz, 31), .k = k };
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
    if (abut_graph_cut(abut_bsr_graph(&f.A), NULL, k, f.part, NULL)) abort();
    return f;
}

static void fixture_free(fixture *f)
{
    box_tets_free(&f->box);
    abut_bsr_clear(&f->A);
    free(f->x), free(f->diag), free(f->r), free(f->z), free(f->part);
}

static abut_schwarz *schwarz_of(const fixture *f)
{
    abut_schwarz *s = NULL;
    abut_err err = { 0 };
    if (abut_schwarz_analyse(&s, &f->A, f->k, f->part, f->x, &err) || abut_schwarz_factor(s, &f->A, &err))
        printf("# %s\n", err.msg), abort();
    return s;
}

/* ---- dense twin ---- */

static void dense_schwarz(const fixture *f, const double *D, double *z)
{
    const size_t n = f->n;
    double *B = calloc(n * n, sizeof *B);
    for (int32_t p = 0; p < f->k; p++) {        /* the part and what its rows touch */
        size_t m = 0;
        memset(B, 0, n * n * sizeof *B);
        for (size_t i = 0; i < n; i++) {
            int in = 0;
            for (size_t j = 0; j < n; j++) in |= f->part[j / 3] == p && (i / 3 == j / 3 || D[i * n + j] != 0);
            if (in) B[m++ * n + i] = 1;
        }
        add_subspace(D, B, m, n, f->r, z);
    }
    memset(B, 0, n * n * sizeof *B);            /* three translations and three rotations about the origin: the same space */
    for (size_t i = 0; i < n; i += 3)
        for (size_t d = 0; d < 3; d++) {
            const size_t p = 6 * (size_t)f->part[i / 3], d1 = (d + 1) % 3, d2 = (d + 2) % 3;
            B[(p + d) * n + i + d] = 1;
            B[(p + 3 + d) * n + i + d1] = -f->x[i + d2];
            B[(p + 3 + d) * n + i + d2] = f->x[i + d1];
        }
    add_subspace(D, B, 6 * (size_t)f->k, n, f->r, z);
    free(B);
}

TEST(it_is_the_sum_of_the_exact_solves_on_the_parts_and_on_their_rigid_motions)
{
    fixture f = fixture_make(4, 3, 2, 4, 0.1);
    abut_schwarz *s = schwarz_of(&f);
    const abut_precond M = abut_schwarz_precond(s);
    double *D = dense_of(&f.A), *z = calloc(f.n, sizeof *z);
    dense_schwarz(&f, D, z);
    CHECK(M.rows == f.box.nv && M.apply(M.of, f.r, f.z, NULL) == ABUT_OK);
    double big = 0;
    for (size_t i = 0; i < f.n; i++) big = fmax(big, fabs(z[i]));
    for (size_t i = 0; i < f.n; i++) CHECK_NEAR(f.z[i], z[i], 1e-7 * big);
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
        CHECK(abut_schwarz_get_stats(s).parts == f.k);
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
    CHECK(abut_schwarz_analyse(&s, &b.A, b.k, b.part, b.x, NULL) == ABUT_OK && abut_schwarz_factor(s, &b.A, NULL) == ABUT_OK);
    M = abut_schwarz_precond(s);
    CHECK(M.apply(M.of, b.r, a.z, NULL) == ABUT_OK);
    CHECK(memcmp(a.z, b.z, b.n * sizeof *b.z) == 0);
    abut_schwarz_free(&s), abut_schwarz_free(&fresh);
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
    f.part[7] = 3;
    CHECK(abut_schwarz_analyse(&s, &f.A, 3, f.part, f.x, &err) == ABUT_E_ARG && !s);
    CHECK(strstr(err.msg, "row 7 is in part 3, want 0 .. 2"));
    memset(f.part, 0, (size_t)f.box.nv * sizeof *f.part);
    CHECK(abut_schwarz_analyse(&s, &f.A, 3, f.part, f.x, &err) == ABUT_E_ARG && strstr(err.msg, "part 1 is empty"));
    CHECK(abut_schwarz_analyse(&s, &f.A, 1, f.part, f.x, &err) == ABUT_OK);
    f.A.val[9 * f.A.ptr[5]] = -1e3;
    CHECK(abut_schwarz_factor(s, &f.A, &err) == ABUT_E_NUMERIC && strstr(err.msg, "part 0"));
    const abut_precond M = abut_schwarz_precond(s);
    CHECK(M.apply(M.of, f.r, f.z, &err) == ABUT_E_ARG && strstr(err.msg, "without a factor"));
    abut_schwarz_free(&s);
    for (int32_t k = 0; k <= 65; k += 65) CHECK(abut_graph_cut(abut_bsr_graph(&f.A), NULL, k, f.part, &err) == ABUT_E_ARG);
    fixture_free(&f);
}

TEST(rows_in_a_line_and_parts_of_one_row_have_a_coarse_space_too)
{
    fixture f = fixture_make(3, 2, 2, 1, 0.1);
    f.k = f.box.nv;
    CHECK(abut_graph_cut(abut_bsr_graph(&f.A), NULL, f.k, f.part, NULL) == ABUT_OK);
    for (size_t i = 0; i < f.n; i++) f.x[i] = i % 3 ? 0 : (double)i;
    abut_schwarz *s = schwarz_of(&f);
    const abut_precond M = abut_schwarz_precond(s);
    CHECK(iterations(&f, &M) > 0);
    abut_schwarz_free(&s);
    f.k = 2;
    CHECK(abut_graph_cut(abut_bsr_graph(&f.A), NULL, f.k, f.part, NULL) == ABUT_OK);
    s = schwarz_of(&f);
    const abut_precond two = abut_schwarz_precond(s);
    CHECK(iterations(&f, &two) > 0);
    abut_schwarz_free(&s);
    fixture_free(&f);
}
