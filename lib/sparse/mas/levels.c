#include "sparse/mas/levels.h"

#include "math/hilbert.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static abut_status no_memory(abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "multilevel Schwarz preconditioner: out of memory");
}

static void *new_array(int32_t n)
{
    return malloc(((size_t)n + 1) * sizeof(int32_t));
}

void abut_mas_levels_clear(abut_mas_levels *s)
{
    for (int l = 0; l < ABUT_MAS_LEVELS; l++) {
        free(s->level[l].up);
        free(s->level[l].first);
        free(s->level[l].child);
    }
    free(s->row);
    free(s->place);
    *s = (abut_mas_levels){ 0 };
}

/* ---- level 0 ---- */

static abut_status order_rows(abut_mas_levels *s, const double *where, abut_err *err)
{
    s->row = new_array(s->n);
    s->place = new_array(s->n);
    if (!s->row || !s->place) return no_memory(err);
    for (int32_t k = 0; k < s->n; k++) s->row[k] = k;
    abut_status rc = ABUT_OK;
    if (where) {
        int32_t *group = calloc((size_t)s->n + 1, sizeof *group);
        rc = group ? abut_curve_order((size_t)s->n, where, group, 1, s->row, err) : no_memory(err);
        free(group);
    }
    for (int32_t k = 0; k < s->n && !rc; k++) s->place[s->row[k]] = k;
    return rc;
}

/* ---- the next level ---- */

/* Sets of nodes of the last level that are joined within a domain; the lowest node of a set is its root. */
typedef struct joining {
    const abut_mas_levels *s;
    int last;               /* the level */
    int32_t *root;
} joining;

static int32_t root_of(int32_t *root, int32_t i)
{
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
}

static void join(joining *j, int32_t row, int32_t other)
{
    int32_t p = j->s->place[row], q = j->s->place[other];
    for (int l = 0; l < j->last; l++) p = j->s->level[l].up[p], q = j->s->level[l].up[q];
    if (p / ABUT_MAS_ROWS != q / ABUT_MAS_ROWS) return;
    p = root_of(j->root, p), q = root_of(j->root, q);
    if (p < q) j->root[q] = p;
    else j->root[p] = q;
}

static void join_elements(void *ctx, const abut_operator_elements *e)
{
    const size_t corners = (size_t)e->corners;
    const abut_row_map *W = e->map;
    for (size_t k = 0; k < e->n; k++) {
        int32_t before = -1;        /* all columns of an element are joined */
        for (size_t a = 0; a < corners; a++) {
            const int32_t r = e->row[corners * k + a];
            for (int32_t i = !W || r < 0 ? 0 : W->first[r]; r >= 0 && i < (W ? W->first[r + 1] : 1); i++) {
                const int32_t col = W ? W->col[i] : r;
                if (col >= 0 && before >= 0) join(ctx, before, col);
                if (col >= 0) before = col;
            }
        }
    }
}

static void join_blocks(void *ctx, const abut_bsr *M)
{
    for (int32_t c = 0; c < M->n; c++)
        for (size_t b = M->ptr[c] + 1; b < M->ptr[c + 1]; b++) join(ctx, c, M->row[b]);
}

static abut_status join_all(joining *j, const abut_operator *A, abut_err *err)
{
    const abut_operator_reader to = { .elements = join_elements, .ctx = j, .matrix = join_blocks };
    if (!A->matrix) return A->read(A->self, 0, &to, err);
    join_blocks(j, A->matrix);
    return ABUT_OK;
}

/* Numbers the sets in the order of their roots: up of the nodes.  Returns how many. */
static int32_t number_sets(int32_t *root, int32_t n, int32_t *up)
{
    int32_t sets = 0;
    for (int32_t i = 0; i < n; i++) {
        const int32_t r = root_of(root, i);
        up[i] = r == i ? sets++ : up[r];
    }
    return sets;
}

static abut_status list_children(abut_mas_level *to, const int32_t *up, int32_t n, abut_err *err)
{
    to->first = calloc((size_t)to->n + 1, sizeof *to->first);
    to->child = new_array(n);
    if (!to->first || !to->child) return no_memory(err);
    for (int32_t i = 0; i < n; i++) to->first[up[i] + 1]++;
    for (int32_t g = 0; g < to->n; g++) to->first[g + 1] += to->first[g];
    for (int32_t i = 0; i < n; i++) to->child[to->first[up[i]]++] = i;
    for (int32_t g = to->n; g > 0; g--) to->first[g] = to->first[g - 1];
    to->first[0] = 0;
    return ABUT_OK;
}

/* The level above the last, unless it would have as many nodes. */
static abut_status add_level(abut_mas_levels *s, const abut_operator *A, int *added, abut_err *err)
{
    abut_mas_level *last = &s->level[s->levels - 1], *next = last + 1;
    joining j = { s, s->levels - 1, new_array(last->n) };
    int32_t *up = new_array(last->n);
    abut_status rc = j.root && up ? ABUT_OK : no_memory(err);
    for (int32_t i = 0; i < last->n && !rc; i++) j.root[i] = i;
    if (!rc) rc = join_all(&j, A, err);
    if (!rc) next->n = number_sets(j.root, last->n, up);
    *added = !rc && next->n < last->n;
    if (*added) rc = list_children(next, up, last->n, err);
    if (*added) last->up = up, s->levels++;
    else free(up);
    free(j.root);
    return rc;
}

abut_status abut_mas_levels_make(abut_mas_levels *s, const abut_operator *A, int most, abut_err *err)
{
    assert(s && A);
    abut_mas_levels_clear(s);
    if (most < 1 || most > ABUT_MAS_LEVELS)
        return abut_fail(err, ABUT_E_ARG, "multilevel Schwarz preconditioner: %d levels, want 1 .. %d", most,
                         (int)ABUT_MAS_LEVELS);
    if (!A->matrix && !A->read)
        return abut_fail(err, ABUT_E_ARG, "multilevel Schwarz preconditioner: an operator without a matrix and without elements");
    s->n = s->level[0].n = abut_operator_rows(A);
    s->levels = 1;
    abut_status rc = order_rows(s, A->where, err);
    for (int added = 1; !rc && added && s->levels < most && s->level[s->levels - 1].n > ABUT_MAS_ROWS;)
        rc = add_level(s, A, &added, err);
    if (rc) abut_mas_levels_clear(s);
    return rc;
}
