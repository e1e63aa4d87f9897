#include "solve/direction/initial.h"

#include "base/par.h"
#include "base/timer.h"
#include "energy/stiffness_fit.h"
#include "math/mat3.h"
#include "graph/graph.h"
#include "solve/direction/newton_parts.h"
#include "solve/direction/initial_laplacian.h"

#include <stdlib.h>
#include <string.h>

/* Nodes of a part where nobody says how many parts.  With a coarse space the iterations hardly depend on it, so the parts of dot
 * are small: their factors and what joins them then cost about the same. */
#define NODES_PER_DOMAIN 250
#define NODES_PER_PART 1500
/* rows in contact are few: no more than this part of all, and than this, whose dense factor costs what a sparse one does */
#define FEW_OF 8
#define FEW 500

static abut_status no_memory(const abut_problem *p, abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "initial matrix: %d unknowns", 3 * p->nrow);
}

void abut_initial_clear(abut_initial *s)
{
    free(s->part);
    abut_subdomains_free(&s->domains);
    abut_coarse_space_free(&s->rigid);
    free(s->where);
    free(s->rest);
    abut_ichol_clear(&s->ic);
    free(s->inverse);
    abut_linear_solver_clear(&s->constant.factor);
    free(s->constant.node_row);
    abut_woodbury_clear(&s->patched);
    abut_chol_free(&s->touching);
    *s = (abut_initial){ .kind = s->kind, .given = s->given, .parts = s->parts, .one_level = s->one_level };
}

/* ---- subdomains ---- */

static int32_t parts_wanted(const abut_initial *s, int32_t rows)
{
    const int32_t many = s->kind == ABUT_SOLVE_DOT && !s->one_level ? NODES_PER_DOMAIN : NODES_PER_PART;
    const int32_t k = s->parts ? s->parts : (rows + many - 1) / many;
    return k < 1 ? 1 : k < rows ? k : rows;
}

/* A partition of the tets: the one of the stream, or one of its own. */
static abut_status partition_tets(abut_initial *s, const abut_problem *p, abut_partition *out, abut_err *err)
{
    const abut_model *m = p->model;
    if (!m->nt) return abut_fail(err, ABUT_E_ARG, "dot: the model has no tetrahedra to cut into subdomains; lbfgs-jh cuts nodes");
    if (!s->part) {
        abut_partition_stats stats;
        abut_status rc = ABUT_OK;
        s->part = malloc((size_t)m->nt * sizeof *s->part);
        if (!s->part) return no_memory(p, err);
        if (s->given.part) {
            s->k = s->given.k;
            for (int32_t t = 0; t < m->nt; t++) s->part[t] = s->given.part[abut_problem_tet(p, t)];
        } else {
            /* by the mesh alone: what is held changes from step to step, and a restart has not seen the steps before */
            s->k = parts_wanted(s, m->nv < m->nt ? m->nv : m->nt);
            rc = abut_partition_tets(m->nv, m->nt, m->tet, s->k, s->part, &stats, err);
        }
        if (rc) return free(s->part), s->part = NULL, rc;
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
    free(l->first);
    free(l->row);
}

static int by_number(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* order[nt]: tets by part; at[k + 1] */
static void sort_tets(const abut_partition *cut, int32_t nt, int32_t *at, int32_t *order)
{
    memset(at, 0, ((size_t)cut->k + 1) * sizeof *at);
    for (int32_t t = 0; t < nt; t++) at[cut->part[t] + 1]++;
    for (int32_t j = 0; j < cut->k; j++) at[j + 1] += at[j];
    for (int32_t t = 0; t < nt; t++) order[at[cut->part[t]]++] = t;
    for (int32_t j = cut->k; j > 0; j--) at[j] = at[j - 1];
    at[0] = 0;
}

/* Rows of the nodes of each part, ascending; parts without any are left out; rows of no tet make one more list.
 * mark[nrow], at[k + 1], order[nt] are scratch. */
static void fill_lists(const abut_problem *p, const abut_partition *cut, lists *l, int32_t *mark, int32_t *at, int32_t *order)
{
    const abut_model *m = p->model;
    int32_t n = 0;
    sort_tets(cut, m->nt, at, order);
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
        qsort(l->row + l->first[l->k], (size_t)(n - l->first[l->k]), sizeof *l->row, by_number);
        l->k += n > l->first[l->k];
    }
    l->first[l->k] = n;
    for (int32_t i = 0; i < p->nrow; i++)
        if (mark[i] < 0) l->row[n++] = i;
    if (n > l->first[l->k]) l->first[++l->k] = n;
}

static abut_status lists_of_tets(const abut_problem *p, const abut_partition *cut, lists *l, abut_err *err)
{
    const size_t nt = (size_t)p->model->nt, k = (size_t)cut->k, nrow = (size_t)p->nrow;
    *l = (lists){ 0, malloc((k + 2) * sizeof *l->first), malloc((4 * nt + nrow + 1) * sizeof *l->row) };
    int32_t *mark = malloc((nrow + 1) * sizeof *mark), *at = malloc((k + 1) * sizeof *at),
        *order = malloc((nt + 1) * sizeof *order);
    const int ok = l->first && l->row && mark && at && order;
    if (ok) fill_lists(p, cut, l, mark, at, order);
    free(mark);
    free(at);
    free(order);
    return ok ? ABUT_OK : no_memory(p, err);
}

/* A row that joins a list, for it touches one of its rows. */
typedef struct guest {
    int32_t list, row;
} guest;

static int by_list(const void *a, const void *b)
{
    const guest *x = a, *y = b;
    if (x->list != y->list) return x->list < y->list ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

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
    return bsearch(&row, l->row + l->first[j], (size_t)(l->first[j + 1] - l->first[j]), sizeof row, by_number) != NULL;
}

/* Guests of all lists, some more than once; out NULL: counts them only. */
static size_t find_guests(const lists *l, const int32_t *at, const int32_t *of, const abut_elements *touch, guest *out)
{
    size_t n = 0;
    const size_t c = (size_t)touch->corners;
    for (size_t i = 0; i < c * c * touch->n; i++) {     /* a stencil, one of its rows, another */
        const int32_t here = touch->row[i / c], there = touch->row[i / (c * c) * c + i % c];
        if (here < 0 || there < 0 || here == there) continue;
        for (int32_t o = at[here]; o < at[here + 1]; o++) {
            if (has_row(l, of[o], there)) continue;
            if (out) out[n] = (guest){ of[o], there };
            n++;
        }
    }
    return n;
}

/* The lists with their guests, ascending again. */
static abut_status seat_guests(const abut_problem *p, lists *l, guest *g, size_t n, abut_err *err)
{
    qsort(g, n, sizeof *g, by_list);
    int32_t *first = malloc(((size_t)l->k + 2) * sizeof *first),
            *row = malloc(((size_t)l->first[l->k] + n + 1) * sizeof *row), m = 0;
    if (!first || !row) return free(first), free(row), no_memory(p, err);
    size_t next = 0;
    for (int32_t j = 0; j < l->k; j++) {
        const int32_t own = l->first[j + 1] - l->first[j];
        first[j] = m;
        memcpy(row + m, l->row + l->first[j], (size_t)own * sizeof *row);
        m += own;
        for (; next < n && g[next].list == j; next++)
            if (!next || by_list(&g[next], &g[next - 1])) row[m++] = g[next].row;
        qsort(row + first[j], (size_t)(m - first[j]), sizeof *row, by_number);
    }
    first[l->k] = m;
    lists_clear(l);
    l->first = first;
    l->row = row;
    return ABUT_OK;
}

static abut_status invite_guests(const abut_problem *p, const abut_elements *touch, lists *l, abut_err *err)
{
    int32_t *at = calloc((size_t)p->nrow + 1, sizeof *at), *of = malloc(((size_t)l->first[l->k] + 1) * sizeof *of);
    guest *g = NULL;
    size_t n = 0;
    if (at && of) {
        lists_by_row(l, p->nrow, at, of);
        n = find_guests(l, at, of, touch, NULL);
        g = malloc((n + 1) * sizeof *g);
        if (g) (void)find_guests(l, at, of, touch, g);
    }
    const abut_status rc = g ? n ? seat_guests(p, l, g, n, err) : ABUT_OK : no_memory(p, err);
    free(at);
    free(of);
    free(g);
    return rc;
}

/* Disjoint lists: the rows of A cut along few blocks. */
static abut_status lists_of_rows(const abut_initial *s, const abut_problem *p, const abut_bsr *A, lists *l, abut_err *err)
{
    const int32_t k = parts_wanted(s, A->n);
    *l = (lists){ k, calloc((size_t)k + 2, sizeof *l->first), malloc(((size_t)A->n + 1) * sizeof *l->row) };
    int32_t *part = malloc(((size_t)A->n + 1) * sizeof *part);
    abut_status rc = l->first && l->row && part ? abut_graph_cut(abut_bsr_graph(A), k, part, err) : no_memory(p, err);
    if (!rc) {
        for (int32_t i = 0; i < A->n; i++) l->first[part[i] + 2]++;
        for (int32_t j = 0; j < k; j++) l->first[j + 1] += l->first[j];
        for (int32_t i = 0; i < A->n; i++) l->row[l->first[part[i] + 1]++] = i;
    }
    free(part);
    return rc;
}

/* The rigid motions of the subdomains l, as they stand at x. */
static abut_status coarse_make(abut_initial *s, const abut_problem *p, const abut_bsr *A, const lists *l, const double *x,
                               abut_err *err)
{
    const size_t n3 = 3 * (size_t)A->n;
    if (A->n > s->room) {
        free(s->where);
        free(s->rest);
        s->where = malloc(n3 * sizeof *s->where);
        s->rest = malloc(n3 * sizeof *s->rest);
        s->room = s->where && s->rest ? A->n : 0;
        if (!s->room) return no_memory(p, err);
    }
    for (int32_t i = 0; i < p->model->nv; i++)
        if (p->row[i] >= 0) memcpy(s->where + 3 * (size_t)p->row[i], x + 3 * (size_t)i, 3 * sizeof *x);
    const abut_status rc = abut_coarse_space_analyse(&s->rigid, A, l->k, l->first, l->row, err);
    return rc ? rc : abut_coarse_space_factor(s->rigid, A, s->where, err);
}

static abut_status domains_make(abut_initial *s, const abut_problem *p, const abut_bsr *A, const abut_elements *touch,
                                const double *x, abut_err *err)
{
    const int dot = s->kind == ABUT_SOLVE_DOT;
    abut_partition cut = { 0 };
    lists l = { 0 };
    abut_status rc = dot ? partition_tets(s, p, &cut, err) : lists_of_rows(s, p, A, &l, err);
    if (!rc && dot) rc = lists_of_tets(p, &cut, &l, err);
    if (!rc && dot && !s->one_level) rc = invite_guests(p, touch, &l, err);
    if (!rc) rc = abut_subdomains_analyse(&s->domains, A, l.k, l.first, l.row, err);
    if (!rc) rc = abut_subdomains_factor_single(s->domains, A, err);
    if (!rc && dot && !s->one_level) rc = coarse_make(s, p, A, &l, x, err);
    lists_clear(&l);
    return rc;
}

static abut_status domains_mean(void *of, const double *r, double *z, abut_err *err)
{
    const abut_initial *s = of;
    memset(z, 0, 3 * (size_t)abut_subdomains_rows(s->domains) * sizeof *z);
    return abut_subdomains_add(s->domains, ABUT_JOIN_MEAN, r, z, err);
}

static abut_status domains_even(void *of, const double *r, double *z, abut_err *err)
{
    const abut_initial *s = of;
    const size_t n3 = 3 * (size_t)abut_subdomains_rows(s->domains);
    memset(z, 0, n3 * sizeof *z);
    if (!s->rigid) return abut_subdomains_add(s->domains, ABUT_JOIN_EVEN, r, z, err);
    abut_status rc = abut_coarse_space_project(s->rigid, r, s->rest, err);
    if (!rc) rc = abut_subdomains_add(s->domains, ABUT_JOIN_EVEN, s->rest, z, err);
    return rc ? rc : abut_coarse_space_correct(s->rigid, r, z, err);
}

/* ---- the diagonal ---- */

static abut_status diagonal_make(abut_initial *s, const abut_problem *p, const abut_bsr *A, abut_err *err)
{
    if (A->n > s->cap) {
        free(s->inverse);
        s->inverse = malloc(9 * (size_t)A->n * sizeof *s->inverse);
        s->cap = s->inverse ? A->n : 0;
        if (!s->inverse) return no_memory(p, err);
    }
    s->rows = A->n;
    for (int32_t i = 0; i < A->n; i++)
        if (!(abut_m3_inverse(s->inverse + 9 * (size_t)i, A->val + 9 * A->ptr[i]) > 0))
            return abut_fail(err, ABUT_E_NUMERIC, "initial matrix: diagonal block %d is not positive definite", i);
    return ABUT_OK;
}

static abut_status diagonal_apply(void *of, const double *r, double *z, abut_err *err)
{
    (void)err;
    const abut_initial *s = of;
    #pragma omp parallel for schedule(static) if ((size_t)s->rows >= ABUT_PAR_MIN)
    for (int32_t i = 0; i < s->rows; i++) {
        const double *I = s->inverse + 9 * (size_t)i, *b = r + 3 * (size_t)i;
        for (int k = 0; k < 3; k++) z[3 * (size_t)i + (size_t)k] = I[3 * k] * b[0] + I[3 * k + 1] * b[1] + I[3 * k + 2] * b[2];
    }
    return ABUT_OK;
}

/* ---- the Laplacian ---- */

/* The factor of the elements alone lasts while the numbering and the scheme do; that of an augmented Lagrangian is made anew. */
static abut_status constant_make(abut_initial *s, const abut_problem *p, abut_err *err)
{
    struct abut_constant *c = &s->constant;
    const size_t bytes = (size_t)p->model->nv * sizeof *c->node_row;
    if (c->factor.ops && !p->al.on && c->psi == p->w.psi && !memcmp(c->node_row, p->row, bytes)) return ABUT_OK;
    if (!c->node_row) c->node_row = malloc(bytes + 1);
    if (!c->node_row) return no_memory(p, err);
    const abut_status rc = abut_laplacian_factor(p, ABUT_FIT_LOW, ABUT_FIT_HIGH, &c->factor, NULL, err);
    c->psi = p->al.on ? -1 : p->w.psi;
    memcpy(c->node_row, p->row, bytes);
    return rc;
}

/* With what touches: the Laplacian and those Hessians, in blocks. */
static abut_status touching_make(abut_initial *s, const abut_problem *p, const abut_elements *touch, int threads, abut_err *err)
{
    abut_bsr A = { 0 };
    const abut_model *m = p->model;
    double *k = malloc(((size_t)m->nm + 1) * sizeof *k);
    int32_t *perm = malloc(((size_t)p->nrow + 1) * sizeof *perm);
    abut_status rc = k && perm ? ABUT_OK : no_memory(p, err);
    if (!rc && m->nt) rc = abut_stiffness_fit_materials(&p->elastic, ABUT_FIT_LOW, ABUT_FIT_HIGH, k, err);
    if (!rc) rc = abut_laplacian(p, k, touch, &A, err);
    if (!rc) rc = abut_graph_order_nested_dissection(abut_bsr_graph(&A), perm, err);
    if (!rc) rc = s->touching ? abut_chol_renew(s->touching, &A, perm, err) : abut_chol_new(&s->touching, &A, perm, threads, err);
    if (!rc) rc = abut_chol_factor(s->touching, &A, err);
    abut_bsr_clear(&A);
    free(k);
    free(perm);
    return rc;
}

/* ---- public ---- */

/* lbfgs-pd */
static abut_status laplacian_make(abut_direction *d, const abut_problem *p, const double *x, const double *y,
                                  const abut_pairs *pairs, abut_err *err)
{
    abut_initial *s = &d->initial;
    abut_elements touch;
    int32_t rows = 0;
    s->touches = ABUT_TOUCHES_NOTHING;
    if (pairs->n + pairs->n_plane + p->lag.n == 0) return constant_make(s, p, err);
    abut_status rc = abut_direction_touching(d, p, x, y, pairs, &touch, err);
    if (!rc) rc = abut_woodbury_count(p->nrow, &touch, &rows, err);
    if (rc) return rc;
    s->touches = rows <= FEW && rows <= p->nrow / FEW_OF ? ABUT_TOUCHES_FEW : ABUT_TOUCHES_MANY;
    if (s->touches == ABUT_TOUCHES_MANY) return touching_make(s, p, &touch, d->threads, err);
    rc = constant_make(s, p, err);
    return rc ? rc : abut_woodbury_make(&s->patched, &s->constant.factor, p->nrow, &touch, err);
}

/* of lbfgs-pd */
static abut_precond laplacian_precond(abut_direction *d)
{
    abut_initial *s = &d->initial;
    switch (s->touches) {
    case ABUT_TOUCHES_MANY: return abut_chol_precond(s->touching);
    case ABUT_TOUCHES_FEW: return abut_woodbury_precond(&s->patched);
    default: return abut_linear_precond(&s->constant.factor);
    }
}

abut_status abut_initial_make(abut_direction *d, const abut_problem *p, const double *x, const double *y, const abut_pairs *pairs,
                              abut_report *rep, abut_err *err)
{
    abut_initial *s = &d->initial;
    rep->initial_matrices++;
    if (s->kind == ABUT_SOLVE_LBFGS_PD) {
        const double clock = abut_time_wall();
        const abut_status rc = laplacian_make(d, p, x, y, pairs, err);
        rep->seconds.factor += abut_time_wall() - clock;
        return rc;
    }
    abut_status rc = abut_direction_matrix(d, p, x, y, pairs, rep, err);
    if (!rc && s->kind == ABUT_SOLVE_LBFGS_H) return abut_direction_factor_coarse(d, p, &s->coarse, rep, err);
    const double clock = abut_time_wall();
    if (!rc && s->kind == ABUT_SOLVE_LBFGS_IC) rc = abut_ichol_factor(&s->ic, &d->A, err);
    else if (!rc && s->kind == ABUT_SOLVE_GRADIENT) rc = diagonal_make(s, p, &d->A, err);
    else if (!rc) rc = domains_make(s, p, &d->A, &(abut_elements){ .corners = 4, .n = d->touch.n, .row = d->touch.row }, x, err);
    rep->seconds.factor += abut_time_wall() - clock;
    return rc;
}

abut_precond abut_initial_precond(abut_direction *d, int symmetric)
{
    abut_initial *s = &d->initial;
    switch (s->kind) {
    case ABUT_SOLVE_LBFGS_PD: return laplacian_precond(d);
    case ABUT_SOLVE_LBFGS_IC: return abut_ichol_precond(&s->ic);
    case ABUT_SOLVE_GRADIENT: return (abut_precond){ diagonal_apply, s, s->rows };
    case ABUT_SOLVE_LBFGS_H: return abut_linear_precond(&d->linear);
    default: return (abut_precond){ symmetric || s->rigid ? domains_even : domains_mean, s, abut_subdomains_rows(s->domains) };
    }
}

abut_status abut_initial_refine(abut_direction *d, const abut_problem *p, abut_report *rep, abut_err *err)
{
    d->initial.coarse = 0;
    return abut_direction_factor(d, p, rep, err);
}

void abut_initial_stats(const abut_direction *d, abut_report *rep)
{
    const abut_initial *s = &d->initial;
    const double number = sizeof(double);
    if (s->kind == ABUT_SOLVE_LBFGS_H) {
        abut_direction_report_factor(d, rep);
    } else if (s->kind == ABUT_SOLVE_LBFGS_PD && s->touches == ABUT_TOUCHES_MANY) {
        const abut_chol_stats c = abut_chol_get_stats(s->touching);
        rep->factor_nnz = c.factor_nnz, rep->factor_flops = c.factor_flops, rep->factor_bytes = (double)c.bytes;
    } else if (s->kind == ABUT_SOLVE_LBFGS_PD) {
        const abut_linear_stats c = abut_linear_get_stats(&s->constant.factor);
        const double m = s->touches ? s->patched.m : 0;
        rep->factor_nnz = c.nnz + 10 * m * m, rep->factor_flops = c.flops + 9 * m * m * m;
        rep->factor_bytes = number * rep->factor_nnz;
    } else if (s->kind == ABUT_SOLVE_LBFGS_IC) {
        rep->factor_nnz = 9 * (double)s->ic.L.nnz, rep->factor_flops = 0, rep->factor_bytes = number * rep->factor_nnz;
    } else if (s->kind == ABUT_SOLVE_GRADIENT) {
        rep->factor_nnz = 9 * (double)s->rows, rep->factor_flops = 0, rep->factor_bytes = number * rep->factor_nnz;
    } else {
        const abut_subdomains_stats c = abut_subdomains_get_stats(s->domains);
        rep->factor_nnz = c.factor_nnz, rep->factor_flops = c.factor_flops, rep->factor_bytes = (double)c.bytes;
        if (!s->rigid) return;
        const abut_coarse_space_stats z = abut_coarse_space_get_stats(s->rigid);
        rep->factor_nnz += z.factor_nnz, rep->factor_flops += z.factor_flops, rep->factor_bytes += (double)z.bytes;
    }
}
