/* H p = b with the second derivative H of the objective of a step, without projection, majorant or shift. */
#include "adjoint/adjoint_parts.h"

#include "base/arena.h"
#include "base/words.h"
#include "energy/barrier.h"
#include "solve/direction/matrix.h"
#include "solve/objective.h"
#include "sparse/linear_solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

abut_status abut_adjoint_system_init(abut_adjoint_system *s, abut_objective *o, int threads, abut_err *err)
{
    const size_t nv = (size_t)o->model->nv;
    *s = (abut_adjoint_system){ .o = o, .of_run = abut_barrier_state_of(&o->terms)->curvature };
    abut_status rc = abut_linear_solver_init(&s->linear, abut_linear_solvers[0], threads, err);
    s->rows = malloc((nv + 1) * sizeof *s->rows);
    s->diag = malloc((nv + 1) * sizeof *s->diag);
    s->work = malloc((27 * nv + 1) * sizeof *s->work);
    if (!rc && !(s->rows && s->diag && s->work)) rc = abut_fail(err, ABUT_E_NOMEM, "backward pass: %zu nodes", nv);
    for (size_t i = 0; s->rows && i < nv; i++) s->rows[i] = -2;
    if (rc) abut_adjoint_system_clear(s);
    return rc;
}

void abut_adjoint_system_clear(abut_adjoint_system *s)
{
    abut_bsr_clear(&s->A);
    abut_linear_solver_clear(&s->linear);
    ABUT_FREE(s->rows, s->diag, s->work);
    *s = (abut_adjoint_system){ 0 };
}

/* ---- the matrix ---- */

/* Chooses second derivatives without projection, or projected ones with the shift of directions. */
static abut_status choose(abut_objective *o, int as_is, abut_err *err)
{
    const abut_barrier_hessian_ops *ops = abut_barrier_hessians[0];
    const abut_status rc = as_is ? abut_barrier_hessian_find("full", NULL, &ops, err) : ABUT_OK;
    if (rc) return rc;
    abut_barrier_state_of(&o->terms)->curvature = (abut_barrier_curvature){ ops, 0 };
    abut_barrier_state_of(&o->terms)->bends = 1;
    o->step.as_is = as_is;
    o->step.shift = as_is ? 0 : o->w.shift;
    return ABUT_OK;
}

void abut_adjoint_system_leave(const abut_adjoint_system *s)
{
    abut_barrier_state_of(&s->o->terms)->curvature = s->of_run;
    abut_barrier_state_of(&s->o->terms)->bends = 0;
    s->o->step.as_is = 0;
    s->o->step.shift = s->o->w.shift;
}

/* s->A at a point */
static abut_status sum(abut_adjoint_system *s, const abut_at *at, int as_is, int *changed, abut_err *err)
{
    abut_objective *o = s->o;
    abut_elements sets[ABUT_SETS_MAX];
    const size_t bytes = (size_t)o->model->nv * sizeof *s->rows;
    int n = 0;
    abut_objective_majorant_forget(o);
    abut_status rc = choose(o, as_is, err);
    if (!rc) rc = abut_objective_sets(o, at, 0, sets, &n, err);
    if (rc) return rc;
    if (s->A.n == o->nrow && s->A.nnz && !memcmp(s->rows, o->row, bytes)) {
        rc = abut_bsr_update(&s->A, sets, n, o->lasting, 1, changed, err);
    } else {
        rc = abut_bsr_pattern(&s->A, o->nrow, sets, n, err);
        *changed = 1;
        memcpy(s->rows, o->row, bytes);
    }
    if (rc) return rc;
    abut_objective_diagonal(o, s->diag);
    abut_bsr_assemble(&s->A, s->diag, sets, n);
    return ABUT_OK;
}

static abut_status factor(abut_adjoint_system *s, int changed, abut_err *err)
{
    const abut_operator A = { .matrix = &s->A, .n = s->A.n };
    abut_status rc = changed ? abut_linear_analyse(&s->linear, &A, NULL, err) : ABUT_OK;
    return rc ? rc : abut_linear_factor(&s->linear, &A, ABUT_DOUBLE, err);
}

abut_status abut_adjoint_system_take(abut_adjoint_system *s, const abut_at *at, abut_err *err)
{
    int changed = 0, again = 0;
    s->indefinite = 0;
    s->bad_node = -1;
    if (!s->o->nrow) return ABUT_OK;
    abut_err why = { 0 };
    abut_status rc = sum(s, at, 1, &changed, err);
    if (rc) return rc;
    rc = factor(s, changed, &why);
    if (rc && rc != ABUT_E_NUMERIC && err) *err = why;
    if (rc != ABUT_E_NUMERIC) return rc;
    s->indefinite = 1;
    s->bad_node = abut_newton_matrix_node_of_row(s->o, abut_linear_bad_row(&s->linear));
    if ((rc = sum(s, at, 0, &changed, err))) return rc;
    if ((rc = factor(s, changed, err))) return abut_wrap(err, "the projected second derivative"), rc;
    return sum(s, at, 1, &again, err);      /* the same pattern: the factor stays good as a preconditioner */
}

/* ---- solutions ---- */

/* r = b - A x; |r| */
static double rest(abut_adjoint_system *s, const double *b, const double *x, double *r)
{
    const size_t n = 3 * (size_t)s->A.n;
    abut_bsr_multiply(&s->A, x, r);
    for (size_t i = 0; i < n; i++) r[i] = b[i] - r[i];
    return sqrt(abut_adjoint_dot(n, r, r));
}

/* x = A^-1 b by the factor, and one step of refinement in the same precision, kept if it is better */
static abut_status direct(abut_adjoint_system *s, const double *b, double *x, double *error, abut_err *err)
{
    const size_t n = 3 * (size_t)s->A.n;
    const abut_operator A = { .matrix = &s->A, .n = s->A.n };
    double *r = s->work + 3 * n, *d = s->work + 4 * n, *better = s->work + 5 * n;
    abut_status rc = abut_linear_solve(&s->linear, &A, b, NULL, x, err);
    if (rc) return rc;
    *error = rest(s, b, x, r);
    if ((rc = abut_linear_solve(&s->linear, &A, r, NULL, d, err))) return rc;
    for (size_t i = 0; i < n; i++) better[i] = x[i] + d[i];
    const double left = rest(s, b, better, r);
    if (left < *error) memcpy(x, better, n * sizeof *x), *error = left;
    return ABUT_OK;
}

enum { MINRES_MOST = 2000, RESTARTS = 4 };

/* Adds to x the solution d of A d = r by MINRES, preconditioned by the factor (Paige and Saunders 1975, in the form of Elman,
 * Silvester and Wathen 2005, algorithm 2.4), until the norm of the preconditioned residual has fallen by `close`. */
static abut_status minres(abut_adjoint_system *s, double *r, double close, double *x, int *iterations, abut_err *err)
{
    const size_t n = 3 * (size_t)s->A.n;
    const abut_operator A = { .matrix = &s->A, .n = s->A.n };
    double *z = s->work + 4 * n, *v = r, *v_old = s->work + 5 * n, *w = s->work + 6 * n, *w_old = s->work + 7 * n,
           *q = s->work + 8 * n;
    memset(v_old, 0, n * sizeof *v);
    memset(w, 0, n * sizeof *w);
    memset(w_old, 0, n * sizeof *w);
    abut_status rc = abut_linear_solve(&s->linear, &A, v, NULL, z, err);
    double gamma_old = 1, gamma = rc ? 0 : sqrt(fmax(0, abut_adjoint_dot(n, z, v))), eta = gamma;
    double s_old = 0, sn = 0, c_old = 1, c = 1;
    const double first = gamma;
    for (int it = 0; it < MINRES_MOST && !rc && fabs(eta) > close * first && gamma > 0; it++, ++*iterations) {
        for (size_t i = 0; i < n; i++) z[i] /= gamma;
        abut_bsr_multiply(&s->A, z, q);
        const double delta = abut_adjoint_dot(n, q, z);
        for (size_t i = 0; i < n; i++) {
            const double next = q[i] - delta / gamma * v[i] - gamma / gamma_old * v_old[i];
            v_old[i] = v[i];
            v[i] = next;
        }
        const double a0 = c * delta - c_old * sn * gamma, a2 = sn * delta + c_old * c * gamma, a3 = s_old * gamma;
        for (size_t i = 0; i < n; i++) q[i] = z[i];
        if ((rc = abut_linear_solve(&s->linear, &A, v, NULL, z, err))) break;
        const double gamma_next = sqrt(fmax(0, abut_adjoint_dot(n, z, v))), a1 = hypot(a0, gamma_next);
        if (!(a1 > 0)) break;
        c_old = c, s_old = sn;
        c = a0 / a1, sn = gamma_next / a1;
        for (size_t i = 0; i < n; i++) {
            const double next = (q[i] - a3 * w_old[i] - a2 * w[i]) / a1;
            w_old[i] = w[i];
            w[i] = next;
            x[i] += c * eta * next;
        }
        eta = -sn * eta;
        gamma_old = gamma, gamma = gamma_next;
    }
    return rc;
}

static abut_status iterate(abut_adjoint_system *s, const double *b, double *x, abut_adjoint_solution *how, abut_err *err)
{
    const size_t n = 3 * (size_t)s->A.n;
    const double size = sqrt(abut_adjoint_dot(n, b, b));
    double *r = s->work + 3 * n;
    memset(x, 0, n * sizeof *x);
    how->error = size;
    for (int k = 0; k < RESTARTS && how->error > 1e-13 * size; k++) {
        (void)rest(s, b, x, r);
        const abut_status rc = minres(s, r, 1e-12, x, &how->iterations, err);
        if (rc) return rc;
        how->error = rest(s, b, x, r);
    }
    if (how->error <= 1e-8 * size) return ABUT_OK;
    return abut_fail(err, ABUT_E_NUMERIC,
        "its second derivative is indefinite, and %d %s %.3g of the right-hand side, expected at most 1e-8",
        how->iterations, abut_plural(how->iterations, "iteration leaves", "iterations leave"), how->error / size);
}

abut_status abut_adjoint_system_solve(abut_adjoint_system *s, const double *b, double *p, abut_adjoint_solution *how,
                                      abut_err *err)
{
    const abut_objective *o = s->o;
    const size_t n = 3 * (size_t)o->nrow, nv = (size_t)o->model->nv;
    double *rhs = s->work, *x = s->work + n;
    *how = (abut_adjoint_solution){ 0 };
    memset(p, 0, 3 * nv * sizeof *p);
    if (!n) return ABUT_OK;
    for (size_t i = 0; i < nv; i++)
        if (o->row[i] >= 0) memcpy(rhs + 3 * (size_t)o->row[i], b + 3 * i, 3 * sizeof *b);
    const double size = sqrt(abut_adjoint_dot(n, rhs, rhs));
    if (size == 0) return ABUT_OK;
    if (!isfinite(size)) return abut_fail(err, ABUT_E_NUMERIC, "the derivative of the loss by its end is not finite");
    const abut_status rc = s->indefinite ? iterate(s, rhs, x, how, err) : direct(s, rhs, x, &how->error, err);
    if (rc) return rc;
    how->error /= size;
    for (size_t i = 0; i < nv; i++)
        if (o->row[i] >= 0) memcpy(p + 3 * i, x + 3 * (size_t)o->row[i], 3 * sizeof *p);
    return ABUT_OK;
}

/* ---- products ---- */

/* f += H d of elements [lo, hi) with packed matrices val */
static void multiply(const abut_elements *set, size_t lo, size_t hi, const double *val, double scale, const double *d, double *f)
{
    const size_t c = (size_t)set->corners;
    for (size_t e = lo; e < hi; e++) {
        const int32_t *row = set->row + c * e;
        for (size_t a = 0; a < c; a++)
            for (size_t b = a; b < c; b++, val += 9) {
                if (row[a] < 0 || row[b] < 0) continue;
                double *fa = f + 3 * (size_t)row[a], *fb = f + 3 * (size_t)row[b];
                const double *da = d + 3 * (size_t)row[a], *db = d + 3 * (size_t)row[b];
                for (size_t i = 0; i < 3; i++)
                    for (size_t j = 0; j < 3; j++) {
                        fa[i] += scale * val[3 * i + j] * db[j];
                        if (a != b) fb[j] += scale * val[3 * i + j] * da[i];
                    }
            }
    }
}

static const abut_term *owner_of(const abut_objective *o, const char *set)
{
    for (int i = 0; i < o->terms.n; i++)
        if (o->terms.term[i].ops->elements && !strcmp(o->terms.term[i].ops->set, set)) return &o->terms.term[i];
    return NULL;
}

static abut_status multiply_term(const abut_objective *o, const abut_term *t, const abut_at *at, double scale, const double *p,
                                 double *out, abut_arena *scratch, abut_err *err)
{
    enum { AT_ONCE = 256 };
    const abut_term *owner = owner_of(o, t->ops->set);
    abut_elements set = { .name = t->ops->set };
    abut_status rc = owner->ops->elements(owner->self, at, &set, err);
    if (rc || !set.n) return rc;
    const size_t by = owner->ops->set_is & ABUT_SET_FUSED ? AT_ONCE : set.n, size = abut_packed_size(set.corners);
    const abut_mark mark = abut_arena_mark(scratch);
    double *val = ABUT_ROOM(scratch, double, by * size), *d = NULL, *f = NULL;
    if (set.map) d = ABUT_ROOM(scratch, double, 3 * (size_t)set.map->rows), f = ABUT_NEW(scratch, double,
                                                                                         3 * (size_t)set.map->rows);
    if (!val || (set.map && !(d && f))) return abut_fail(err, ABUT_E_NOMEM, "products of %zu elements", set.n);
    if (set.map) abut_row_map_apply(set.map, p, d);
    for (size_t lo = 0; lo < set.n; lo += by) {
        const size_t hi = lo + by < set.n ? lo + by : set.n;
        memset(val, 0, (hi - lo) * size * sizeof *val);
        t->ops->hessian(t->self, at, abut_objective_weight(o, t->ops, 2), lo, hi, val);
        multiply(&set, lo, hi, val, scale, set.map ? d : p, set.map ? f : out);
    }
    if (set.map) abut_row_map_apply_transposed(set.map, f, out);
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

static abut_status product(const abut_objective *o, const abut_at *at, int kinds, int weights, double scale, const double *p,
                           double *out, abut_arena *scratch, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int i = 0; i < o->terms.n && !rc; i++) {
        const abut_term *t = &o->terms.term[i];
        if (!t->ops->hessian || !(kinds & 1 << t->ops->kind) || !(weights & 1 << t->ops->weight)) continue;
        rc = multiply_term(o, t, at, scale, p, out, scratch, err);
    }
    return rc;
}

abut_status abut_adjoint_product(const abut_objective *o, const abut_at *at, int kinds, double scale, const double *p,
                                 double *out, abut_arena *scratch, abut_err *err)
{
    return product(o, at, kinds, ~0, scale, p, out, scratch, err);
}

abut_status abut_adjoint_product_at_z(const abut_objective *o, const abut_at *at, double scale, const double *p, double *out,
                                      abut_arena *scratch, abut_err *err)
{
    return product(o, at, ABUT_KINDS_POTENTIAL, 1 << ABUT_TERM_AT_Z, scale, p, out, scratch, err);
}
