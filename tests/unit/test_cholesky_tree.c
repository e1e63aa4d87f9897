#include "sparse/own/tree.h"

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
