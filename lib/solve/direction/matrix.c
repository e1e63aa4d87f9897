#include "solve/direction/matrix.h"

#include "base/order.h"
#include "base/timer.h"
#include "energy/joint.h"
#include "math/mat3.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

abut_status abut_newton_matrix_init(abut_newton_matrix *d, const abut_objective *p, unsigned without, abut_err *err)
{
    assert(d && p);
    *d = (abut_newton_matrix){ .without_majorant = (without & ABUT_WITHOUT_MAJORANT) != 0 };
    d->diag = malloc(((size_t)p->model->nv + 1) * sizeof(double));
    return d->diag ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "Newton direction: %d nodes", p->model->nv);
}

void abut_newton_matrix_clear(abut_newton_matrix *d)
{
    abut_bsr_clear(&d->A);
    abut_owned_elements_clear(&d->owned);
    abut_product_free(&d->products.product);
    ABUT_FREE(d->products.where, d->diag, d->apart);
    *d = (abut_newton_matrix){ 0 };
}

abut_status abut_newton_matrix_contacts(abut_newton_matrix *d, const abut_objective *p, const abut_point *at, abut_elements *set,
                                        abut_err *err)
{
    const abut_at here = abut_point_at(at, p);
    const abut_status rc = abut_objective_sets(p, &here, p->lasting, d->sets, &d->nsets, err);
    d->exact = abut_objective_majorant_is_exact(p);
    if (rc) return rc;
    *set = d->nsets > p->lasting ? d->sets[p->lasting] : (abut_elements){ .corners = 4 };
    if (d->nsets <= p->lasting + 1) return ABUT_OK;
    return abut_fail(err, ABUT_E_ARG, "elements of %s are not of the shape of those of %s: no set for both",
                     d->sets[p->lasting + 1].name, set->name);
}

void abut_newton_matrix_majorise(const abut_newton_matrix *d, const abut_objective *p, const abut_point *at, const double *dir)
{
    const abut_at here = abut_point_at(at, p);
    if (!d->without_majorant) abut_objective_majorant_learn(p, &here, dir);
}

/* ---- locks: A becomes P A P + s N N^T, N the locked combinations, P = 1 - N N^T, s the mean of the body's diagonal ---- */

enum { LOCKED = 12 };       /* numbers of the four nodes of a body */

/* The locked combinations of one body, and the block rows of its nodes. */
typedef struct locked {
    const double *N;        /* [n * 12] */
    int n;
    int32_t row[4];
} locked;

/* The block of rows a and b, *transposed 1: it is stored as that of b and a; NULL: it is zero. */
static double *block_at(const abut_bsr *A, int32_t a, int32_t b, int *transposed)
{
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    const int32_t *first = A->row + A->ptr[low];
    const int32_t *found = bsearch(&high, first, A->ptr[low + 1] - A->ptr[low], sizeof high, abut_by_one);
    *transposed = a < b;
    return found ? A->val + 9 * (A->ptr[low] + (size_t)(found - first)) : NULL;
}

/* B[12 * 3]: the blocks of the body's rows and row j; back 1: writes them.  Returns 0 if a block that is not stored is not
 * zero. */
static int blocks_of(const abut_bsr *A, const locked *l, int32_t j, int back, double *B)
{
    int fits = 1;
    for (int k = 0; k < 4; k++) {
        int transposed;
        double *block = block_at(A, l->row[k], j, &transposed), *of = B + 9 * k;
        for (int e = 0; e < 9; e++) {
            const int at = transposed ? 3 * (e % 3) + e / 3 : e;
            if (!back) of[e] = block ? block[at] : 0;
            else if (block) block[at] = of[e];
            else fits &= of[e] == 0;
        }
    }
    return fits;
}

/* B[12 * width] -= N N^T B */
static void without_locked(const locked *l, int width, double *B)
{
    for (int r = 0; r < l->n; r++) {
        const double *n = l->N + LOCKED * r;
        for (int c = 0; c < width; c++) {
            double sum = 0;
            for (int i = 0; i < LOCKED; i++) sum += n[i] * B[width * i + c];
            for (int i = 0; i < LOCKED; i++) B[width * i + c] -= sum * n[i];
        }
    }
}

/* The rows and columns of the body itself. */
static void lock_own(const abut_bsr *A, const locked *l)
{
    double D[LOCKED * LOCKED], T[LOCKED * LOCKED], B[LOCKED * 3], mean = 0;
    for (int k = 0; k < 4; k++) {
        (void)blocks_of(A, l, l->row[k], 0, B);
        for (int i = 0; i < LOCKED; i++) memcpy(D + LOCKED * i + 3 * k, B + 3 * i, 3 * sizeof *D);
    }
    for (int i = 0; i < LOCKED; i++) mean += D[(LOCKED + 1) * i] / LOCKED;
    without_locked(l, LOCKED, D);
    for (int i = 0; i < LOCKED * LOCKED; i++) T[i] = D[LOCKED * (i % LOCKED) + i / LOCKED];
    without_locked(l, LOCKED, T);
    for (int i = 0; i < LOCKED; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0.5 * (T[LOCKED * i + j] + T[LOCKED * j + i]);
            for (int r = 0; r < l->n; r++) sum += mean * l->N[LOCKED * r + i] * l->N[LOCKED * r + j];
            D[LOCKED * i + j] = D[LOCKED * j + i] = sum;
        }
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < LOCKED; i++) memcpy(B + 3 * i, D + LOCKED * i + 3 * k, 3 * sizeof *D);
        (void)blocks_of(A, l, l->row[k], 1, B);
    }
}

/* Block rows that have a block with the body, without its own: room[], whose number is returned. */
static size_t neighbours_of(const abut_bsr *A, const locked *l, int32_t *room)
{
    const struct abut_bsr_plan *plan = A->plan;
    size_t n = 0, kept = 0;
    for (int k = 0; k < 4; k++) {
        const size_t r = (size_t)l->row[k];
        for (size_t e = A->ptr[r]; e < A->ptr[r + 1]; e++) room[n++] = A->row[e];
        for (size_t e = plan->tptr[r]; e < plan->tptr[r + 1]; e++) room[n++] = plan->tcol[e];
    }
    qsort(room, n, sizeof *room, abut_by_one);
    for (size_t i = 0; i < n; i++) {
        int own = kept && room[kept - 1] == room[i];
        for (int k = 0; k < 4; k++) own |= room[i] == l->row[k];
        if (!own) room[kept++] = room[i];
    }
    return kept;
}

static abut_status lock_body(const abut_bsr *A, const abut_model *m, const locked *l, int32_t first, int32_t *room, abut_err *err)
{
    const size_t n = neighbours_of(A, l, room);
    int fits = 1;
    for (size_t i = 0; i < n; i++) {
        double B[LOCKED * 3];
        (void)blocks_of(A, l, room[i], 0, B);
        without_locked(l, 3, B);
        fits &= blocks_of(A, l, room[i], 1, B);
    }
    lock_own(A, l);
    if (fits) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT,
                     "array 'lock/node' row %d: something is tied to one node of %s alone; expected locks of a "
                     "body that others meet by its contact surface", first,
                     abut_object_words(m, m->body[m->lock_node[4 * (size_t)first]], (char[ABUT_OBJECT_WORDS]){ 0 }));
}

static abut_status lock_bodies(const abut_bsr *A, const abut_objective *p, abut_err *err)
{
    const abut_model *m = p->model;
    int32_t *room = m->nlk ? malloc((8 * (size_t)A->n + 1) * sizeof *room) : NULL;
    abut_status rc = room || !m->nlk ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "locks: %d rows", A->n);
    for (int32_t k = 0, next; k < m->nlk && !rc; k = next) {
        const int32_t *node = m->lock_node + 4 * (size_t)k;
        locked l = { .N = m->lock_row + LOCKED * (size_t)k };
        for (next = k; next < m->nlk && !memcmp(node, m->lock_node + 4 * (size_t)next, 4 * sizeof *node); next++) l.n++;
        for (int i = 0; i < 4; i++) l.row[i] = p->row[node[i]];
        rc = lock_body(A, m, &l, k, room, err);
    }
    free(room);
    return rc;
}

/* ---- joints: A becomes A + rho C^T C ---- */

/* Adds rho C^T C of joint j, rho far above every diagonal entry of its nodes, so that few passes close it. */
static void join(const abut_bsr *A, const abut_objective *p, const abut_joints *t, int32_t j)
{
    const abut_model *m = p->model;
    const int32_t *node = m->joint_node + ABUT_JOINT_NODES * (size_t)j;
    for (int a = 0; a < ABUT_JOINT_NODES; a++)
        for (int b = 0; b < ABUT_JOINT_NODES; b++) {
            int transposed;
            if (node[a] < 0 || node[b] < 0 || p->row[node[b]] < 0 || p->row[node[a]] < p->row[node[b]]) continue;
            double *to = block_at(A, p->row[node[a]], p->row[node[b]], &transposed);
            for (int32_t r = m->joint_first[2 * j]; r < m->joint_first[2 * j + 1]; r++) {
                const double *C = t->C + ABUT_JOINT_WIDTH * (size_t)r;
                for (int e = 0; e < 9; e++) to[e] += t->rho[j] * C[3 * a + e / 3] * C[3 * b + e % 3];
            }
        }
}

static abut_status join_bodies(abut_newton_matrix *d, const abut_objective *p, const double *x, abut_err *err)
{
    abut_joints *t = abut_joints_of(&p->terms);
    const abut_bsr *A = &d->A;
    if (!t) return ABUT_OK;
    abut_joints_set(t, x);
    if (!ABUT_RESIZE(d->apart, 9 * A->nnz)) return abut_fail(err, ABUT_E_NOMEM, "joints: a matrix of %zu blocks", A->nnz);
    memcpy(d->apart, A->val, 9 * A->nnz * sizeof *A->val);
    for (int32_t j = 0; j < p->model->njo; j++) {
        double most = 0;
        int transposed;
        for (int k = 0; k < ABUT_JOINT_NODES; k++) {
            const int32_t node = p->model->joint_node[ABUT_JOINT_NODES * (size_t)j + (size_t)k];
            for (int e = 0; e < 3 && node >= 0 && p->row[node] >= 0; e++)
                most = fmax(most, block_at(A, p->row[node], p->row[node], &transposed)[4 * e]);
        }
        t->rho[j] = ABUT_JOINT_RHO * most;
    }
    for (int32_t j = 0; j < p->model->njo; j++) join(A, p, t, j);
    return ABUT_OK;
}

abut_status abut_newton_matrix_sum(abut_newton_matrix *d, abut_ordering *order, const abut_objective *p, const abut_point *at,
                                   abut_report *rep, abut_err *err)
{
    const abut_at here = abut_point_at(at, p);
    double clock = abut_time_wall();
    abut_status rc = abut_objective_sets(p, &here, 0, d->sets, &d->nsets, err);
    if (rc) return rc;
    d->exact = abut_objective_majorant_is_exact(p);
    d->ranks = p->step.ranks;
    if (d->ranks) rc = abut_owned_elements_take(&d->owned, d->ranks, p->nrow, d->sets, d->nsets, err);
    rep->seconds.hessian += abut_time_lap(&clock);
    if (rc) return rc;

    rc = abut_ordering_pattern(order, &d->A, p, at->x, d->sets, d->nsets, p->lasting, err);
    rep->seconds.analyse += abut_time_lap(&clock);
    if (rc) return rc;
    abut_objective_diagonal(p, d->diag);
    abut_bsr_assemble(&d->A, d->diag, d->sets, d->nsets);
    rc = join_bodies(d, p, at->x, err);
    if (!rc) rc = lock_bodies(&d->A, p, err);
    rep->seconds.assemble += abut_time_lap(&clock);
    return rc;
}

int32_t abut_newton_matrix_node_of_row(const abut_objective *p, int32_t row)
{
    for (int32_t i = 0; i < p->model->nv && row >= 0; i++)
        if (p->row[i] == row) return i;
    return -1;
}

/* det of a symmetric 3x3 block over the product of its diagonal: at most 1 (Hadamard), 0 or less when not positive definite */
static double roundness(const double *a)
{
    const double det = abut_m3_det(a);
    const double ratio = a[0] > 0 && a[4] > 0 && a[8] > 0 ? det / (a[0] * a[4] * a[8]) : -1;
    return ratio <= 1 ? ratio : -1;     /* not finite */
}

int32_t abut_newton_matrix_worst_node(const abut_newton_matrix *d, const abut_objective *p)
{
    const abut_operator A = abut_newton_matrix_operator(d, NULL);
    const int32_t n = abut_operator_rows(&A);
    const int is_known = n == p->nrow && !d->ranks && (d->products.product || d->A.val);
    double least = INFINITY, *D = is_known ? malloc((9 * (size_t)n + 1) * sizeof *D) : NULL;
    int32_t row = -1;
    if (D) abut_operator_diagonal(&A, D);
    for (int32_t j = 0; j < n && D; j++) {
        const double r = roundness(D + 9 * (size_t)j);
        if (r < least) least = r, row = j;
    }
    free(D);
    return abut_newton_matrix_node_of_row(p, row);
}

/* ---- as products ---- */

void abut_newton_matrix_begin_step(abut_newton_matrix *d, abut_ordering *order)
{
    abut_ordering_begin_step(order, &d->A);
    d->products.analysed = 0;
}

abut_operator abut_newton_matrix_operator(const abut_newton_matrix *d, const double *where)
{
    const struct abut_newton_products *s = &d->products;
    if (!s->product) return (abut_operator){ .matrix = &d->A, .where = where, .ranks = d->ranks };
    abut_operator A = abut_product_operator(s->product);
    A.where = s->where;
    return A;
}

/* Rows in space, where they are when a step begins. */
static abut_status place_rows(struct abut_newton_products *s, const abut_objective *p, const double *x, abut_err *err)
{
    free(s->where);
    s->where = malloc((3 * (size_t)p->nrow + 1) * sizeof *s->where);
    if (!s->where) return abut_fail(err, ABUT_E_NOMEM, "Newton direction: %d rows", p->nrow);
    for (int32_t i = 0; i < p->model->nv; i++)
        if (p->row[i] >= 0) memcpy(s->where + 3 * (size_t)p->row[i], x + 3 * (size_t)i, 3 * sizeof *x);
    return ABUT_OK;
}

abut_status abut_newton_matrix_products(abut_newton_matrix *d, abut_linear_solver *linear, const abut_objective *p,
                                        const abut_point *at, abut_report *rep, abut_err *err)
{
    struct abut_newton_products *s = &d->products;
    const abut_at here = abut_point_at(at, p);
    double clock = abut_time_wall();
    int lasted;
    abut_status rc = abut_objective_sets(p, &here, 0, d->sets, &d->nsets, err);
    if (rc) return rc;
    d->exact = abut_objective_majorant_is_exact(p);
    rep->seconds.hessian += abut_time_lap(&clock);

    rc = abut_product_renew(&s->product, p->nrow, d->sets, d->nsets, p->lasting, &lasted, err);
    rep->seconds.analyse += abut_time_lap(&clock);
    if (rc) return rc;
    abut_objective_diagonal(p, d->diag);
    abut_product_set(s->product, d->diag, d->sets);
    rep->seconds.assemble += abut_time_lap(&clock);

    if (!lasted || !s->analysed) rc = place_rows(s, p, at->x, err);
    const abut_operator A = abut_newton_matrix_operator(d, NULL);
    if (!rc) rc = abut_linear_analyse(linear, &A, NULL, err);
    s->analysed = !rc;
    rep->seconds.analyse += abut_time_lap(&clock);
    return rc;
}

/* Shift of a matrix of products: adds to each diagonal block shift times its largest entry, times the identity. */
static abut_status shift_products(abut_newton_matrix *d, double shift, int first, double *whole, abut_err *err)
{
    const abut_operator A = abut_newton_matrix_operator(d, NULL);
    double *D = first ? malloc((9 * (size_t)A.n + 1) * sizeof *D) : NULL;
    if (first && !D) return abut_fail(err, ABUT_E_NOMEM, "Newton direction: %d rows", A.n);
    if (first) abut_operator_diagonal(&A, D);
    for (int32_t j = 0; j < A.n; j++) {
        double *w = whole + 3 * (size_t)j;      /* diagonal without shift, and its increment for a unit of shift */
        if (first) w[0] = d->diag[j], w[1] = fmax(fabs(D[9 * j]), fmax(fabs(D[9 * j + 4]), fabs(D[9 * j + 8])));
        d->diag[j] = w[0] + shift * w[1];
    }
    free(D);
    abut_product_set(d->products.product, d->diag, d->sets);
    return ABUT_OK;
}

abut_status abut_newton_matrix_shift(abut_newton_matrix *d, double shift, int first, double *whole, abut_err *err)
{
    abut_bsr *A = &d->A;
    if (d->products.product) return shift_products(d, shift, first, whole, err);
    for (int32_t j = 0; j < A->n; j++)
        for (int k = 0; k < 3; k++) {
            double *entry = A->val + 9 * A->ptr[j] + 4 * (size_t)k;
            if (first) whole[3 * j + k] = *entry;
            *entry = (whole[3 * j + k] < 0 ? 1 - shift : 1 + shift) * whole[3 * j + k];
        }
    return ABUT_OK;
}
