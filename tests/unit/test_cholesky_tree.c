#include "sparse/own/tree.h"

#include "base/rng.h"
#include "check.h"

/* Every supernode is in exactly one subtree or at the top, and every top node has children. */
static void check_cut(const abut_chol_tree *t, const abut_chol_cut *cut)
{
    int *in = calloc((size_t)t->ns + 1, sizeof *in);
    for (int32_t i = 0; i < cut->nsub; i++)
        for (int32_t s = t->first[cut->sub[i]]; s <= cut->sub[i]; s++) {
            in[s]++;
            CHECK(s == cut->sub[i] || (t->parent[s] > s && t->parent[s] <= cut->sub[i]));
        }
    for (int32_t s = 0; s < t->ns; s++) {
        in[s] += cut->is_top[s] != 0;
        CHECK(!cut->is_top[s] || t->cptr[s + 1] > t->cptr[s]);
        CHECK(in[s] == 1);
    }
    free(in);
}

static void check_cover(const abut_chol_tree *t)
{
    check_cut(t, &t->by_work);
    check_cut(t, &t->by_size);
}

TEST(a_dense_matrix_becomes_a_chain_of_panels_each_updated_by_all_before)
{
    enum { N = 300 };
    const int32_t super[2] = { 0, N }, rptr[2] = { 0, N };
    int32_t rows[N];
    for (int32_t i = 0; i < N; i++) rows[i] = i;
    abut_chol_tree t;
    CHECK(abut_chol_tree_make(&t, N, 1, super, rptr, rows, NULL) == ABUT_OK);
    CHECK(t.ns == (N + ABUT_PANEL - 1) / ABUT_PANEL);
    size_t entries = 0, groups = 0;
    for (int32_t s = 0; s < t.ns; s++) {
        CHECK(abut_chol_cols(&t, s) <= ABUT_PANEL && abut_chol_nrows(&t, s) == N - t.col[s]);
        CHECK(t.parent[s] == (s + 1 < t.ns ? s + 1 : -1));
        CHECK(t.uptr[s + 1] - t.uptr[s] == (size_t)s);
        for (int32_t d = 0; d < s; d++) {
            const abut_chol_update u = t.upd[t.uptr[s] + (size_t)d];
            CHECK(u.d == d && u.lo == t.col[s] - t.col[d] && u.hi == t.col[s + 1] - t.col[d]);
        }
        CHECK(s + 1 == t.ns || abut_chol_cols(&t, s) % ABUT_GROUP == 0);
        groups += (size_t)(N - t.col[s] + ABUT_GROUP - 1) / ABUT_GROUP;
        entries += (size_t)(N - t.col[s] + ABUT_GROUP - 1) / ABUT_GROUP *
                   (9 * ABUT_GROUP * (size_t)abut_chol_cols(&t, s) + ABUT_GROUP_PAD);
    }
    CHECK(t.xptr[t.ns] == entries && t.gptr[t.ns] == groups && entries < 9 * N * N);
    CHECK_NEAR(t.nnz, 3.0 * N * (3 * N + 1) / 2, 0);
    CHECK_NEAR(t.flops, 3.0 * N * (3 * N + 1) * (6 * N + 1) / 6, 1);
    check_cover(&t);
    abut_chol_tree_clear(&t);
}

TEST(leaves_hang_below_their_parent_and_know_their_places_in_it)
{
    /* columns 0..1 and 2 are leaves; 3..4 is the root: rows of the first {0,1,3}, of the second {2,3,4} */
    const int32_t super[4] = { 0, 2, 3, 5 }, rptr[4] = { 0, 3, 6, 8 }, rows[8] = { 0, 1, 3, 2, 3, 4, 3, 4 };
    abut_chol_tree t;
    CHECK(abut_chol_tree_make(&t, 5, 3, super, rptr, rows, NULL) == ABUT_OK);
    CHECK(t.ns == 3 && t.parent[0] == 2 && t.parent[1] == 2 && t.parent[2] == -1);
    CHECK(t.cptr[2] == 0 && t.cptr[3] == 2 && t.child[0] == 0 && t.child[1] == 1);
    CHECK(t.inparent[2] == 0 && t.inparent[4] == 0 && t.inparent[5] == 1);
    CHECK(t.uptr[3] == 2 && t.upd[0].d == 0 && t.upd[0].lo == 2 && t.upd[0].hi == 3);
    CHECK(t.upd[1].d == 1 && t.upd[1].lo == 1 && t.upd[1].hi == 3);
    check_cover(&t);
    abut_chol_tree_clear(&t);
    abut_chol_tree_clear(&t);
}

TEST(an_empty_matrix_has_an_empty_tree)
{
    const int32_t zero[1] = { 0 };
    abut_chol_tree t;
    CHECK(abut_chol_tree_make(&t, 0, 0, zero, zero, NULL, NULL) == ABUT_OK);
    CHECK(t.ns == 0 && t.by_work.nsub == 0 && t.by_size.nsub == 0 && t.nnz == 0);
    abut_chol_tree_clear(&t);
}

/* A factor in panels, of random numbers that a diagonal of about 1 dominates, and b = L L^T x. */
static void random_factor(const abut_chol_tree *t, double *L, const double *x, double *b)
{
    const size_t n = 3 * (size_t)t->n;
    double *q = calloc(n, sizeof *q);
    abut_rng r = { 31 };
    memset(L, 0, t->xptr[t->ns] * sizeof *L);
    memset(b, 0, n * sizeof *b);
    for (int pass = 0; pass < 2; pass++)
        for (int32_t s = 0; s < t->ns; s++) {
            const size_t first = 3 * (size_t)t->col[s], cols = 3 * (size_t)abut_chol_cols(t, s);
            for (size_t j = first; j < first + cols; j++)
                for (size_t i = j; i < n; i++) {
                    const size_t row = i - first, rows = 3 * ABUT_GROUP;
                    double *to = L + t->xptr[s] + row / rows * abut_chol_group_size((int32_t)cols / 3) + (j - first) * rows +
                                 row % rows;
                    if (!pass) *to = i == j ? abut_rng_real(&r, 0.8, 1.25) : abut_rng_real(&r, -1, 1) / (double)n;
                    const double v = i == j ? 1 / *to : *to;    /* pivots are stored as their inverses */
                    if (!pass) q[j] += v * x[i];
                    else b[i] += v * q[j];
                }
        }
    free(q);
}

TEST(panels_of_half_a_million_numbers_are_substituted_by_tasks_to_the_same_bits_for_every_thread_count)
{
    enum { N = 975 };       /* the second of the panels, which has a child, is the longest that tasks share */
    const int32_t super[2] = { 0, N }, rptr[2] = { 0, N };
    int32_t rows[N];
    for (int32_t i = 0; i < N; i++) rows[i] = i;
    abut_chol_tree t;
    CHECK(!abut_chol_tree_make(&t, N, 1, super, rptr, rows, NULL));
    CHECK(t.by_size.is_top[1] && t.xptr[2] - t.xptr[1] >= (size_t)1 << 19);
    const size_t size = t.xptr[t.ns], scratch = 3 * ABUT_GROUP * t.gptr[t.ns];
    double *L = malloc(size * sizeof *L), *z = malloc(scratch * sizeof *z), x[3 * N], b[3 * N], y[3 * N], one[3 * N];
    float *Lf = malloc(size * sizeof *Lf), *zf = malloc(scratch * sizeof *zf), yf[3 * N], onef[3 * N];
    atomic_int *pending = malloc((size_t)t.ns * sizeof *pending);
    abut_rng r = { 32 };
    for (int i = 0; i < 3 * N; i++) x[i] = abut_rng_real(&r, -1, 1);
    random_factor(&t, L, x, b);
    for (size_t i = 0; i < size; i++) Lf[i] = (float)L[i];
    for (int threads = 1; threads <= 2; threads++) {
        memcpy(y, b, sizeof b);
        abut_chol_substitute(&t, L, NULL, y, z, pending, threads);
        for (int i = 0; i < 3 * N; i++) yf[i] = (float)b[i];
        abut_chol_substitute_single(&t, Lf, NULL, yf, zf, pending, threads);
        double off = 0, off_single = 0;
        for (int i = 0; i < 3 * N; i++) off = fmax(off, fabs(y[i] - x[i])), off_single = fmax(off_single, fabs(yf[i] - x[i]));
        CHECK_NEAR(off, 0, 1e-13);
        CHECK_NEAR(off_single, 0, 2e-5);
        if (threads == 1) memcpy(one, y, sizeof y), memcpy(onef, yf, sizeof yf);
        CHECK(!memcmp(one, y, sizeof y) && !memcmp(onef, yf, sizeof yf));
    }
    free(L), free(Lf), free(z), free(zf), free(pending);
    abut_chol_tree_clear(&t);
}
