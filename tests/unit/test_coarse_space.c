#include "base/par.h"
#include "box_tets.h"
#include "dense.h"
#include "sparse/schwarz/coarse_space.h"

#include "check.h"

enum { MOTIONS = 6 };

/* A box of springs and slabs of its tets: nodes on interfaces are in two sets. */
typedef struct fixture {
    box_tets box;
    abut_elements set;
    abut_bsr A;
    size_t n;
    double *x, *diag, *r, *z;
    int32_t k, *first, *row;
} fixture;

static fixture fixture_make(int32_t k)
{
    fixture f = { .box = box_tets_make(3, 2, 4, 31), .k = k };
    const int32_t nv = f.box.nv;
    f.n = 3 * (size_t)nv;
    f.set = (abut_elements){ .corners = 4, .n = (size_t)f.box.nt, .row = f.box.tet, .val = f.box.val };
    f.x = calloc(f.n, sizeof *f.x), f.r = calloc(f.n, sizeof *f.r), f.z = calloc(f.n, sizeof *f.z);
    f.diag = calloc((size_t)nv, sizeof *f.diag);
    f.first = calloc((size_t)k + 1, sizeof *f.first);
    f.row = calloc((size_t)k * (size_t)nv, sizeof *f.row);
    abut_rng rng = { 32 };
    for (int32_t i = 0; i < nv; i++) {
        f.diag[i] = 0.3 + 0.01 * i;
        for (int d = 0; d < 3; d++) {
            const int32_t cell[3] = { i % 4, i / 4 % 3, i / 12 };
            f.x[3 * i + d] = cell[d] + abut_rng_real(&rng, -0.1, 0.1);
            f.r[3 * i + d] = abut_rng_real(&rng, -1, 1);
            f.z[3 * i + d] = abut_rng_real(&rng, -1, 1);
        }
    }
    for (int32_t j = 0; j < k; j++) {
        f.first[j + 1] = f.first[j];
        for (int32_t v = nv - 1; v >= 0; v--) {     /* in any order */
            int in = 0;
            for (int32_t c = 4 * (j * f.box.nt / k); c < 4 * ((j + 1) * f.box.nt / k); c++) in |= f.box.tet[c] == v;
            if (in) f.row[f.first[j + 1]++] = v;
        }
    }
    CHECK(!abut_bsr_pattern(&f.A, nv, &f.set, 1, NULL));
    abut_bsr_assemble(&f.A, f.diag, &f.set, 1);
    return f;
}

static void fixture_free(fixture *f)
{
    box_tets_free(&f->box);
    abut_bsr_clear(&f->A);
    free(f->x), free(f->diag), free(f->r), free(f->z), free(f->first), free(f->row);
}

static abut_coarse_space *coarse_of(const fixture *f)
{
    abut_coarse_space *c = NULL;
    const abut_operator A = { .matrix = &f->A };
    CHECK(!abut_coarse_space_analyse(&c, &A, f->k, f->first, f->row, NULL) && !abut_coarse_space_factor(c, &A, f->x, NULL));
    return c;
}

/* Translations, and rotations about the origin, which span the same space, each row by its share; [6 k][n] */
static double *motions(const fixture *f)
{
    double *Z = calloc(MOTIONS * (size_t)f->k * f->n, sizeof *Z), *copies = calloc(f->n, sizeof *copies);
    for (int32_t e = 0; e < f->first[f->k]; e++) copies[f->row[e]]++;
    for (int32_t j = 0; j < f->k; j++)
        for (int32_t e = f->first[j]; e < f->first[j + 1]; e++)
            for (size_t d = 0; d < 3; d++) {
                const size_t i = 3 * (size_t)f->row[e], p = MOTIONS * (size_t)j, d1 = (d + 1) % 3, d2 = (d + 2) % 3;
                const double w = 1 / copies[f->row[e]];
                Z[(p + d) * f->n + i + d] = w;
                Z[(p + 3 + d) * f->n + i + d1] = -w * f->x[i + d2];
                Z[(p + 3 + d) * f->n + i + d2] = w * f->x[i + d1];
            }
    free(copies);
    return Z;
}

/* r - A z */
static void residual(const fixture *f, const double *z, double *q)
{
    abut_bsr_multiply(&f->A, z, q);
    for (size_t i = 0; i < f->n; i++) q[i] = f->r[i] - q[i];
}

static void check_same(const double *a, const double *b, size_t n)
{
    double big = 0;
    for (size_t i = 0; i < n; i++) big = fmax(big, fabs(b[i]));
    for (size_t i = 0; i < n; i++) CHECK_NEAR(a[i], b[i], 1e-7 * big);
}

TEST(it_solves_exactly_on_the_rigid_motions_of_its_sets)
{
    for (int32_t k = 1; k < 6; k += 2) {
        fixture f = fixture_make(k);
        abut_coarse_space *c = coarse_of(&f);
        double *D = dense_of(&f.A), *Z = motions(&f);
        double *want = calloc(f.n, sizeof *want), *got = calloc(f.n, sizeof *got), *q = calloc(f.n, sizeof *q);
        add_subspace(D, Z, MOTIONS * (size_t)k, f.n, f.r, want);
        CHECK(!abut_coarse_space_add(c, f.r, got, NULL));
        check_same(got, want, f.n);

        residual(&f, want, q);
        CHECK(!abut_coarse_space_project(c, f.r, got, NULL));
        check_same(got, q, f.n);

        residual(&f, f.z, q);
        memcpy(want, f.z, f.n * sizeof *want);
        memcpy(got, f.z, f.n * sizeof *got);
        add_subspace(D, Z, MOTIONS * (size_t)k, f.n, q, want);
        CHECK(!abut_coarse_space_correct(c, f.r, got, NULL));
        check_same(got, want, f.n);
        free(D), free(Z), free(want), free(got), free(q);
        abut_coarse_space_free(&c);
        fixture_free(&f);
    }
}

TEST(a_rigid_motion_of_the_whole_is_found_at_once)
{
    fixture f = fixture_make(4);
    abut_coarse_space *c = coarse_of(&f);
    double *want = calloc(f.n, sizeof *want), *got = calloc(f.n, sizeof *got);
    for (size_t i = 0; i < f.n; i += 3) {
        const double *x = f.x + i, w[3] = { 0.3, -0.2, 0.5 };
        for (size_t d = 0; d < 3; d++) {
            const size_t d1 = (d + 1) % 3, d2 = (d + 2) % 3;
            want[i + d] = 0.1 * (double)d + w[d1] * x[d2] - w[d2] * x[d1];
        }
    }
    abut_bsr_multiply(&f.A, want, f.r);
    CHECK(!abut_coarse_space_add(c, f.r, got, NULL));
    check_same(got, want, f.n);
    free(want), free(got);
    abut_coarse_space_free(&c);
    fixture_free(&f);
}

TEST(a_new_analysis_gives_the_bits_of_a_fresh_one)
{
    fixture a = fixture_make(5), b = fixture_make(3);
    abut_coarse_space *fresh = coarse_of(&b), *c = coarse_of(&a);
    for (int again = 0; again < 2; again++) {       /* of another number of sets, of the same */
        const abut_operator A = { .matrix = &b.A };
        CHECK(!abut_coarse_space_analyse(&c, &A, b.k, b.first, b.row, NULL) && !abut_coarse_space_factor(c, &A, b.x, NULL));
        memset(a.z, 0, a.n * sizeof *a.z), memset(b.z, 0, b.n * sizeof *b.z);
        CHECK(!abut_coarse_space_add(fresh, b.r, b.z, NULL) && !abut_coarse_space_add(c, b.r, a.z, NULL));
        CHECK(!memcmp(a.z, b.z, b.n * sizeof *b.z));
    }
    const abut_coarse_space_stats s = abut_coarse_space_get_stats(c);
    CHECK(s.factor_nnz > 0 && s.factor_flops > 0 && s.bytes > 18 * sizeof(double) * (size_t)b.box.nv);
    abut_coarse_space_free(&fresh), abut_coarse_space_free(&c);
    fixture_free(&a), fixture_free(&b);
}

TEST(it_has_the_same_bits_at_1_2_and_7_threads)
{
    fixture f = fixture_make(5);
    const int threads[] = { 1, 2, 7 }, before = abut_threads();
    double *first = calloc(f.n, sizeof *first), *z = calloc(f.n, sizeof *z), *q = calloc(f.n, sizeof *q);
    for (int t = 0; t < 3; t++) {
        abut_threads_set(threads[t]);
        abut_coarse_space *c = coarse_of(&f);
        memcpy(z, f.z, f.n * sizeof *z);
        CHECK(!abut_coarse_space_project(c, f.r, q, NULL) && !abut_coarse_space_correct(c, q, z, NULL));
        if (t == 0) memcpy(first, z, f.n * sizeof *z);
        CHECK(!memcmp(first, z, f.n * sizeof *z));
        abut_coarse_space_free(&c);
    }
    abut_threads_set(before);
    free(first), free(z), free(q);
    fixture_free(&f);
}

TEST(sets_in_a_line_have_one_too_and_an_indefinite_matrix_has_none)
{
    fixture f = fixture_make(3);
    for (size_t i = 0; i < f.n; i++) f.x[i] = i % 3 ? 0 : (double)i;
    abut_coarse_space *c = coarse_of(&f);
    for (int d = 0; d < 9; d += 4) f.A.val[9 * f.A.ptr[5] + (size_t)d] = -1e3;
    abut_err err = { 0 };
    const abut_operator A = { .matrix = &f.A };
    CHECK(abut_coarse_space_factor(c, &A, f.x, &err) == ABUT_E_NUMERIC && strstr(err.msg, "pivot"));
    CHECK(abut_coarse_space_add(c, f.r, f.z, &err) == ABUT_E_ARG && strstr(err.msg, "without a factor"));
    abut_coarse_space_free(&c);
    fixture_free(&f);
}
