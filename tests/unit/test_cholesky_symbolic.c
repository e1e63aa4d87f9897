/* Our analysis against CHOLMOD's of the same graph in the same order, and against a factor that is filled in entry by entry. */
#include "check.h"

#include "base/rng.h"
#include "box_tets.h"
#include "sparse/own/tree.h"

#include <cholmod.h>
#include <string.h>

/* Elements between random rows near each other and some far apart; `loose` rows have none. */
static abut_bsr random_matrix(abut_rng *r, int32_t n, int32_t loose, size_t elems)
{
    int32_t *row = malloc((4 * elems + 1) * sizeof *row);
    abut_bsr A = { 0 };
    for (size_t e = 0; e < elems; e++) {
        const int32_t at = (int32_t)abut_rng_below(r, (uint32_t)(n - loose)), far = abut_rng_below(r, 20) == 0;
        for (int k = 0; k < 4; k++) {
            const int32_t near = at + (int32_t)abut_rng_below(r, 6);
            row[4 * e + (size_t)k] = far ? (int32_t)abut_rng_below(r, (uint32_t)(n - loose)) : near < n - loose ? near : -1;
        }
    }
    CHECK(!abut_bsr_pattern(&A, n, &(abut_elements){ .corners = 4, .n = elems, .row = row }, 1, NULL));
    free(row);
    return A;
}

static int32_t *random_order(abut_rng *r, int32_t n)
{
    int32_t *perm = malloc(((size_t)n + 1) * sizeof *perm);
    for (int32_t k = 0; k < n; k++) {
        const int32_t j = (int32_t)abut_rng_below(r, (uint32_t)k + 1);
        perm[k] = perm[j];
        perm[j] = k;
    }
    return perm;
}

static cholmod_sparse *graph_of(const abut_bsr *A, cholmod_common *com)
{
    cholmod_sparse *G = cholmod_allocate_sparse((size_t)A->n, (size_t)A->n, A->nnz, 1, 1, -1, CHOLMOD_PATTERN, com);
    int *p = G->p, *i = G->i;
    for (int32_t c = 0; c <= A->n; c++) p[c] = (int)A->ptr[c];
    memcpy(i, A->row, A->nnz * sizeof *i);
    return G;
}

static int same(const int32_t *a, const int *b, size_t n) { return !memcmp(a, b, n * sizeof *a); }

static void check_against_cholmod(const abut_bsr *A, const int32_t *perm)
{
    cholmod_common com;
    abut_chol_symbolic s;
    cholmod_start(&com);
    com.nmethods = 1;
    com.method[0].ordering = CHOLMOD_GIVEN;
    com.supernodal = CHOLMOD_SUPERNODAL;
    com.nrelax[0] = 2, com.nrelax[1] = 6, com.nrelax[2] = 16;
    cholmod_sparse *G = graph_of(A, &com);
    cholmod_factor *L = cholmod_analyze_p(G, (int *)(uintptr_t)perm, NULL, 0, &com);
    CHECK(L && !abut_chol_symbolic_make(&s, A, perm, NULL));
    CHECK(s.n == A->n && s.count == (int32_t)L->nsuper && same(s.perm, L->Perm, L->n));
    CHECK(same(s.super, L->super, L->nsuper + 1) && same(s.rptr, L->pi, L->nsuper + 1));
    CHECK((size_t)s.rptr[s.count] == L->ssize && same(s.row, L->s, L->ssize));
    abut_chol_symbolic_clear(&s);
    cholmod_free_factor(&L, &com);
    cholmod_free_sparse(&G, &com);
    cholmod_finish(&com);
}

TEST(analyses_of_random_graphs_are_those_of_cholmod)
{
    abut_rng r = { 12 };
    for (int k = 0; k < 300; k++) {
        const int32_t n = 1 + (int32_t)abut_rng_below(&r, k < 250 ? 60 : 2000), loose = (int32_t)abut_rng_below(&r, 3) % n;
        abut_bsr A = random_matrix(&r, n, loose, abut_rng_below(&r, 3 * (uint32_t)n));
        int32_t *perm = random_order(&r, n);
        for (int32_t j = 0; k % 3 == 0 && j < n; j++) perm[j] = j;
        check_against_cholmod(&A, perm);
        free(perm);
        abut_bsr_clear(&A);
    }
}

TEST(analyses_of_meshes_are_those_of_cholmod)
{
    abut_rng r = { 13 };
    for (int k = 0; k < 3; k++) {
        box_tets box = box_tets_make(k == 1 ? 40 : 9, k == 1 ? 2 : 9, k == 2 ? 60 : 9, 1);
        abut_bsr A = { 0 };
        int32_t *shuffled = random_order(&r, box.nv), *perm = malloc((size_t)box.nv * sizeof *perm);
        CHECK(!abut_bsr_pattern(&A, box.nv, &(abut_elements){ .corners = 4, .n = (size_t)box.nt, .row = box.tet }, 1, NULL));
        for (int32_t j = 0; j < box.nv; j++) perm[j] = j;
        check_against_cholmod(&A, perm);
        if (k == 0) check_against_cholmod(&A, shuffled);
        free(shuffled);
        free(perm);
        abut_bsr_clear(&A);
        box_tets_free(&box);
    }
}

/* Every entry of the factor, column by column, lies in the rows of its supernode; rows without one are there for relaxation. */
TEST(supernodes_hold_what_elimination_fills_in)
{
    enum { N = 40 };
    abut_rng r = { 14 };
    for (int k = 0; k < 200; k++) {
        abut_bsr A = random_matrix(&r, N, k % 4, 10 + abut_rng_below(&r, 40));
        int32_t *perm = random_order(&r, N), place[N];
        uint8_t full[N][N] = { { 0 } }, held[N][N] = { { 0 } };
        abut_chol_symbolic s;
        CHECK(!abut_chol_symbolic_make(&s, &A, perm, NULL));
        for (int32_t j = 0; j < N; j++) place[s.perm[j]] = j;
        for (int32_t c = 0; c < N; c++)
            for (size_t p = A.ptr[c]; p < A.ptr[c + 1]; p++)
                full[place[c]][place[A.row[p]]] = full[place[A.row[p]]][place[c]] = 1;
        for (int32_t j = 0; j < N; j++)
            for (int32_t a = j + 1; a < N; a++)
                for (int32_t b = j + 1; b < N; b++) full[a][b] |= full[a][j] & full[b][j];
        for (int32_t t = 0; t < s.count; t++)
            for (int32_t c = s.super[t]; c < s.super[t + 1]; c++)
                for (int32_t p = s.rptr[t]; p < s.rptr[t + 1]; p++) {
                    CHECK(p == s.rptr[t] || s.row[p] > s.row[p - 1]);
                    CHECK(p - s.rptr[t] >= s.super[t + 1] - s.super[t] || s.row[p] == s.super[t] + p - s.rptr[t]);
                    held[s.row[p]][c] = 1;
                }
        for (int32_t j = 0; j < N; j++)
            for (int32_t i = j; i < N; i++) CHECK(held[i][j] >= full[i][j]);
        free(perm);
        abut_chol_symbolic_clear(&s);
        abut_bsr_clear(&A);
    }
}

TEST(nothing_is_analysed_as_nothing)
{
    abut_bsr A = { 0 };
    abut_chol_symbolic s;
    const int32_t none[1] = { 0 };
    CHECK(!abut_bsr_pattern(&A, 0, NULL, 0, NULL) && !abut_chol_symbolic_make(&s, &A, none, NULL));
    CHECK(s.count == 0 && s.super[0] == 0 && s.rptr[0] == 0);
    abut_chol_symbolic_clear(&s);
    abut_bsr_clear(&A);
}
