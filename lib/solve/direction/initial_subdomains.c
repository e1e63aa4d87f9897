/* The Newton matrix A on overlapping subdomains as an initial matrix: dot (Li 2020, 3.3).
 *
 * A subdomain has the nodes of the elements of one part.  Nodes on interfaces are in several subdomains, with the entries of
 * elements of neighbours too.  So a subdomain has the principal submatrix of A on its nodes.  z is the mean over the copies of
 * the subdomain solutions (Li 2020, eq. 3.6-3.13), in single precision.  Entries of A between nodes of different subdomains are
 * dropped.
 *
 * Two additions to the source: a coarse space C (sparse/schwarz/coarse_space.h) of the rigid motions of the subdomains,
 * z = S (r - A C r), z + C (r - A z), with S the symmetric mean of the subdomain solutions (Toselli and Widlund 2005, 6.2),
 * bounds the iterations for many subdomains; and a subdomain includes nodes that a contact couples with its own.
 *
 * A partition depends on the mesh alone and outlives a step. */
#include "solve/direction/initial.h"

#include "base/order.h"
#include "solve/direction/ordering.h"
#include "sparse/schwarz/coarse_space.h"
#include "sparse/schwarz/schwarz.h"

#include <stdlib.h>
#include <string.h>

/* Nodes of a part if the options give no number of parts.  With a coarse space the iterations hardly depend on it, so the parts
 * are small: their factors then cost about as much as the coarse space. */
#define NODES_PER_DOMAIN 250
#define NODES_PER_PART 1500     /* without a coarse space */

typedef struct subdomains {
    abut_partition given;   /* borrowed */
    const abut_quasi_options *user;
    int32_t k, *part;       /* own partition of the tets, once there is one */
    abut_subdomains *domains;
    abut_coarse_space *rigid;   /* rigid motions of the subdomains */
    double *where, *rest;   /* [3 room] positions of rows; scratch */
    int32_t room;
} subdomains;

static void make(void *self, const abut_direction_options *opt)
{
    *(subdomains *)self = (subdomains){ .given = opt->cut, .user = &opt->user->quasi };
}

static void clear(void *self)
{
    subdomains *s = self;
    abut_subdomains_free(&s->domains);
    abut_coarse_space_free(&s->rigid);
    ABUT_FREE(s->part, s->where, s->rest);
}

static int32_t parts_wanted(const subdomains *s, int32_t rows)
{
    const int32_t many = s->user->levels == 1 ? NODES_PER_PART : NODES_PER_DOMAIN;
    const int32_t k = s->user->parts ? s->user->parts : (rows + many - 1) / many;
    return k < 1 ? 1 : k < rows ? k : rows;
}

/* Partition of the tets: the given one, or its own. */
static abut_status partition_tets(subdomains *s, const abut_objective *p, abut_partition *out, abut_err *err)
{
    const abut_model *m = p->model;
    if (!m->nt)
        return abut_fail(err, ABUT_E_FORMAT, "dot: the model has no tetrahedra to cut into subdomains; lbfgs-jh cuts nodes");
    if (!s->part) {
        s->k = s->given.part ? s->given.k : parts_wanted(s, m->nv < m->nt ? m->nv : m->nt);
        const abut_status rc = abut_tet_parts(p, &s->given, s->k, &s->part, err);
        if (rc) return rc;
    }
    *out = (abut_partition){ s->k, s->part };
    return ABUT_OK;
}

/* Lists of rows: those of list j are row[first[j] .. first[j+1]). */
typedef struct lists {
    int32_t k, *first, *row;
} lists;

static void lists_clear(lists *l)
{
    ABUT_FREE(l->first, l->row);
}

/* Rows of the nodes of each part, ascending; parts without any are left out; rows of no tet make one more list.
 * mark[nrow], at[k + 1], order[nt] are scratch. */
static void fill_lists(const abut_objective *p, const abut_partition *cut, lists *l, int32_t *mark, int32_t *at, int32_t *order)
{
    const abut_model *m = p->model;
    int32_t n = 0;
    abut_tets_by_part(cut, m->nt, at, order);
    for (int32_t i = 0; i < p->nrow; i++) mark[i] = -1;
    l->k = 0;
    for (int32_t j = 0; j < cut->k; j++) {
        l->first[l->k] = n;
        for (int32_t i = 4 * at[j]; i < 4 * at[j + 1]; i++) {
            const int32_t row = p->row[m->tet[4 * order[i / 4] + i % 4]];
            if (row < 0 || mark[row] == j) continue;
            mark[row] = j;
            l->row[n++] = row;
        }
        qsort(l->row + l->first[l->k], (size_t)(n - l->first[l->k]), sizeof *l->row, abut_by_one);
        l->k += n > l->first[l->k];
    }
    l->first[l->k] = n;
    for (int32_t i = 0; i < p->nrow; i++)
        if (mark[i] < 0) l->row[n++] = i;
    if (n > l->first[l->k]) l->first[++l->k] = n;
}

static abut_status lists_of_tets(const abut_objective *p, const abut_partition *cut, lists *l, abut_err *err)
{
    const size_t nt = (size_t)p->model->nt, k = (size_t)cut->k, nrow = (size_t)p->nrow;
    *l = (lists){ 0, malloc((k + 2) * sizeof *l->first), malloc((4 * nt + nrow + 1) * sizeof *l->row) };
    int32_t *mark = malloc((nrow + 1) * sizeof *mark), *at = malloc((k + 1) * sizeof *at),
        *order = malloc((nt + 1) * sizeof *order);
    const int ok = l->first && l->row && mark && at && order;
    if (ok) fill_lists(p, cut, l, mark, at, order);
    ABUT_FREE(mark, at, order);
    return ok ? ABUT_OK : abut_initial_no_memory(p, err);
}

/* A row to add to a list: a contact couples it with a row of that list. */
typedef struct overlap {
    int32_t list, row;
} overlap;

/* The lists that each row is in: of[at[i] .. at[i+1]); at[nrow + 1], zero on entry. */
static void lists_by_row(const lists *l, int32_t nrow, int32_t *at, int32_t *of)
{
    for (int32_t e = 0; e < l->first[l->k]; e++) at[l->row[e] + 1]++;
    for (int32_t i = 0; i < nrow; i++) at[i + 1] += at[i];
    for (int32_t j = 0; j < l->k; j++)
        for (int32_t e = l->first[j]; e < l->first[j + 1]; e++) of[at[l->row[e]]++] = j;
    for (int32_t i = nrow; i > 0; i--) at[i] = at[i - 1];
    at[0] = 0;
}

static int has_row(const lists *l, int32_t j, int32_t row)
{
    return bsearch(&row, l->row + l->first[j], (size_t)(l->first[j + 1] - l->first[j]), sizeof row, abut_by_one) != NULL;
}

/* Finds such rows of all lists, some more than once, and returns their number; out NULL: only counts. */
static size_t find_overlap(const lists *l, const int32_t *at, const int32_t *of, const abut_elements *contacts, overlap *out)
{
    size_t n = 0;
    const size_t c = (size_t)contacts->corners;
    for (size_t i = 0; i < c * c * contacts->n; i++) {        /* a contact, one of its rows, another */
        const int32_t here = contacts->row[i / c], there = contacts->row[i / (c * c) * c + i % c];
        if (here < 0 || there < 0 || here == there) continue;
        for (int32_t o = at[here]; o < at[here + 1]; o++) {
            if (has_row(l, of[o], there)) continue;
            if (out) out[n] = (overlap){ of[o], there };
            n++;
        }
    }
    return n;
}

/* Adds these rows to the lists, ascending again. */
static abut_status merge_overlap(const abut_objective *p, lists *l, overlap *g, size_t n, abut_err *err)
{
    qsort(g, n, sizeof *g, abut_by_two);
    int32_t *first = malloc(((size_t)l->k + 2) * sizeof *first),
            *row = malloc(((size_t)l->first[l->k] + n + 1) * sizeof *row), m = 0;
    if (!first || !row) return free(first), free(row), abut_initial_no_memory(p, err);
    size_t next = 0;
    for (int32_t j = 0; j < l->k; j++) {
        const int32_t own = l->first[j + 1] - l->first[j];
        first[j] = m;
        memcpy(row + m, l->row + l->first[j], (size_t)own * sizeof *row);
        m += own;
        for (; next < n && g[next].list == j; next++)
            if (!next || abut_by_two(&g[next], &g[next - 1])) row[m++] = g[next].row;
        qsort(row + first[j], (size_t)(m - first[j]), sizeof *row, abut_by_one);
    }
    first[l->k] = m;
    lists_clear(l);
    l->first = first;
    l->row = row;
    return ABUT_OK;
}

/* Such rows for all sets that do not last, except sets with a map, whose rows are vertices. */
static size_t find_overlaps(const abut_objective *p, const abut_newton_matrix *m, const lists *l, const int32_t *at,
                            const int32_t *of, overlap *out)
{
    size_t n = 0;
    for (int k = p->lasting; k < m->nsets; k++)
        if (!m->sets[k].map) n += find_overlap(l, at, of, &m->sets[k], out ? out + n : NULL);
    return n;
}

static abut_status add_overlap(const abut_objective *p, const abut_newton_matrix *m, lists *l, abut_err *err)
{
    int32_t *at = calloc((size_t)p->nrow + 1, sizeof *at), *of = malloc(((size_t)l->first[l->k] + 1) * sizeof *of);
    overlap *g = NULL;
    size_t n = 0;
    if (at && of) {
        lists_by_row(l, p->nrow, at, of);
        n = find_overlaps(p, m, l, at, of, NULL);
        g = malloc((n + 1) * sizeof *g);
        if (g) (void)find_overlaps(p, m, l, at, of, g);
    }
    const abut_status rc = g ? n ? merge_overlap(p, l, g, n, err) : ABUT_OK : abut_initial_no_memory(p, err);
    ABUT_FREE(at, of, g);
    return rc;
}

/* The rigid motions of the subdomains l, as they stand at x. */
static abut_status coarse_make(subdomains *s, const abut_objective *p, const abut_bsr *A, const lists *l, const double *x,
                               abut_err *err)
{
    const size_t n3 = 3 * (size_t)A->n;
    if (A->n > s->room) {
        ABUT_FREE(s->where, s->rest);
        s->where = malloc(n3 * sizeof *s->where);
        s->rest = malloc(n3 * sizeof *s->rest);
        s->room = s->where && s->rest ? A->n : 0;
        if (!s->room) return abut_initial_no_memory(p, err);
    }
    for (int32_t i = 0; i < p->model->nv; i++)
        if (p->row[i] >= 0) memcpy(s->where + 3 * (size_t)p->row[i], x + 3 * (size_t)i, 3 * sizeof *x);
    const abut_status rc = abut_coarse_space_analyse(&s->rigid, &(abut_operator){ .matrix = A }, l->k, l->first, l->row, err);
    return rc ? rc : abut_coarse_space_factor(s->rigid, &(abut_operator){ .matrix = A }, s->where, err);
}

static abut_status factor(void *self, const abut_initial_at *at, abut_report *rep, abut_err *err)
{
    (void)rep;
    subdomains *s = self;
    const abut_objective *p = at->p;
    const abut_bsr *A = &at->matrix->A;
    abut_partition cut = { 0 };
    lists l = { 0 };
    abut_status rc = partition_tets(s, p, &cut, err);
    if (!rc) rc = lists_of_tets(p, &cut, &l, err);
    if (!rc && s->user->levels == 2) rc = add_overlap(p, at->matrix, &l, err);
    if (!rc) rc = abut_subdomains_analyse(&s->domains, A, l.k, l.first, l.row, err);
    if (!rc) rc = abut_subdomains_factor(s->domains, A, ABUT_SINGLE, err);
    if (!rc && s->user->levels == 2) rc = coarse_make(s, p, A, &l, at->at->x, err);
    lists_clear(&l);
    return rc;
}

static abut_status apply_mean(void *self, const double *r, double *z, abut_err *err)
{
    const subdomains *s = self;
    memset(z, 0, 3 * (size_t)abut_subdomains_rows(s->domains) * sizeof *z);
    return abut_subdomains_add(s->domains, ABUT_JOIN_MEAN, r, z, err);
}

static abut_status apply_even(void *self, const double *r, double *z, abut_err *err)
{
    const subdomains *s = self;
    const size_t n3 = 3 * (size_t)abut_subdomains_rows(s->domains);
    memset(z, 0, n3 * sizeof *z);
    if (!s->rigid) return abut_subdomains_add(s->domains, ABUT_JOIN_EVEN, r, z, err);
    abut_status rc = abut_coarse_space_project(s->rigid, r, s->rest, err);
    if (!rc) rc = abut_subdomains_add(s->domains, ABUT_JOIN_EVEN, s->rest, z, err);
    return rc ? rc : abut_coarse_space_correct(s->rigid, r, z, err);
}

/* Returns the preconditioner; without a coarse space the mean of the copies, which need not be symmetric. */
static abut_precond precond(void *self, int symmetric)
{
    const subdomains *s = self;
    return (abut_precond){ symmetric || s->rigid ? apply_even : apply_mean, self, abut_subdomains_rows(s->domains), NULL };
}

static void stats(const void *self, abut_report *rep)
{
    const subdomains *s = self;
    const abut_subdomains_stats c = abut_subdomains_get_stats(s->domains);
    rep->factor_nnz = c.factor_nnz, rep->factor_flops = c.factor_flops, rep->factor_bytes = (double)c.bytes;
    if (!s->rigid) return;
    const abut_coarse_space_stats z = abut_coarse_space_get_stats(s->rigid);
    rep->factor_nnz += z.factor_nnz, rep->factor_flops += z.factor_flops, rep->factor_bytes += (double)z.bytes;
}

const abut_initial_ops abut_initial_subdomains = { .needs = ABUT_NEEDS_MATRIX, .size = sizeof(subdomains), .make = make,
                                                   .factor = factor, .precond = precond, .stats = stats, .clear = clear };
