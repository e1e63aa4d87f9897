#include "solve/direction/matrix.h"

#include "base/par.h"
#include "base/timer.h"
#include "energy/attachment.h"
#include "math/mat3.h"
#include "sparse/packed_lanes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

abut_status abut_newton_matrix_init(abut_newton_matrix *d, const abut_problem *p, unsigned without, abut_err *err)
{
    const size_t nt = (size_t)p->model->nt, nv = (size_t)p->model->nv, na = (size_t)p->model->na, nsp = (size_t)p->model->nsp;
    const size_t nc = abut_codim_of(&p->terms)->n;
    *d = (abut_newton_matrix){ .majorant = !(without & ABUT_WITHOUT_MAJORANT) };
    d->tet_row = malloc((4 * nt + 1) * sizeof(int32_t));
    d->codim_H = calloc(nc * abut_packed_size(4) + 1, sizeof(double));     /* unused corners stay 0 */
    d->codim_row = malloc((4 * nc + 1) * sizeof(int32_t));
    d->attach_row = malloc((5 * na + 1) * sizeof(int32_t));
    d->attach_H = malloc((na * abut_packed_size(5) + 1) * sizeof(double));
    d->spring_row = malloc((2 * nsp + 1) * sizeof(int32_t));
    d->spring_H = malloc((nsp * abut_packed_size(2) + 1) * sizeof(double));
    d->diag = malloc((nv + 1) * sizeof(double));
    if (d->spring_row && d->spring_H && d->attach_row && d->attach_H && d->codim_H && d->codim_row && d->tet_row && d->diag)
        return ABUT_OK;
    abut_newton_matrix_clear(d);
    return abut_fail(err, ABUT_E_NOMEM, "Newton direction: %zu tets, %zu nodes", nt, nv);
}

void abut_newton_matrix_clear(abut_newton_matrix *d)
{
    abut_bsr_clear(&d->A);
    free(d->tet_row);
    free(d->codim_H);
    free(d->codim_row);
    free(d->attach_row);
    free(d->attach_H);
    free(d->spring_row);
    free(d->spring_H);
    free(d->contacts.node);
    free(d->contacts.row);
    abut_row_map_clear(&d->contacts.map);
    free(d->contacts.H);
    free(d->diag);
    *d = (abut_newton_matrix){ 0 };
}

static abut_status contacts_reserve(struct abut_contact_hessians *t, size_t n, abut_err *err)
{
    if (t->cap && n <= t->cap) return ABUT_OK;
    const size_t cap = n + n / 2 + 64;
    free(t->node);
    free(t->row);
    free(t->H);
    t->node = malloc(4 * cap * sizeof *t->node);
    t->row = malloc(4 * cap * sizeof *t->row);
    t->H = malloc(cap * ABUT_PACKED * sizeof *t->H);
    t->cap = t->node && t->row && t->H ? cap : 0;
    return t->cap ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "Newton direction: %zu contact Hessians", n);
}

void abut_newton_matrix_majorise(const abut_newton_matrix *d, const abut_problem *p, const abut_iterate *at, const double *dir)
{
    const abut_at here = { at->x, at->x, at->y, at->pairs, &p->step };
    if (d->majorant) abut_objective_majorant_learn(p, &here, dir);
}

static void rows_of(const abut_problem *p, size_t n, const int32_t *node, int32_t *row)
{
    #pragma omp parallel for schedule(static) if (n >= 8 * ABUT_PAR_MIN)
    for (size_t i = 0; i < n; i++) row[i] = node[i] < 0 ? -1 : p->row[node[i]];
}

abut_status abut_newton_matrix_contacts(abut_newton_matrix *d, const abut_problem *p, const abut_iterate *at, abut_elements *set,
                                        abut_err *err)
{
    const abut_pairs *pairs = at->pairs;
    const size_t n_contact = pairs->n + pairs->n_plane;
    const abut_stiction law = abut_problem_stiction(p);
    struct abut_contact_hessians *t = &d->contacts;
    abut_friction_state *f = abut_friction_state_of(&p->terms);
    abut_status rc = contacts_reserve(t, n_contact + f->lag.n, err);
    if (!rc) rc = abut_friction_reserve(f, err);
    if (rc) return rc;
    d->exact = abut_objective_majorant_is_exact(p);
    t->n = n_contact + f->lag.n;
    abut_barrier_hessian(&p->cm, pairs, at->y, abut_barrier_state_of(&p->terms)->kappa, t->node, t->H);
    abut_friction_hessian(&f->lag, &law, at->x, p->still, f->above, t->node + 4 * n_contact, t->H + ABUT_PACKED * n_contact);
    *set = (abut_elements){ .name = "contacts", .corners = 4, .n = t->n, .val = t->H };
    return abut_collmesh_map_set(&p->cm, p->row, p->nrow, t->node, t->row, &t->map, set, err);
}

/* Where the Hessians of the tets are taken, and their weight. */
typedef struct tets_at {
    const abut_problem *p;
    const double *z;
    double scale;
} tets_at;

static void tet_hessians(void *ctx, size_t lo, size_t hi, double *H)
{
    const tets_at *t = ctx;
    const abut_damping *damping = abut_damping_of(&t->p->terms);
    abut_elastic_hessian_some(abut_elastic_of(&t->p->terms), t->z, t->scale, lo, hi, H);
    if (damping) abut_damping_tet_hessian(damping, lo, hi, t->p->w.damping, H);
}

static void sets_of(const abut_newton_matrix *d, const abut_problem *p, tets_at *at, abut_elements *sets)
{
    const abut_model *m = p->model;
    sets[SET_TETS] = (abut_elements){ .name = "tets", .corners = 4, .lasting = 1, .n = (size_t)m->nt, .row = d->tet_row,
                                      .make = tet_hessians, .ctx = at };
    sets[SET_ATTACHMENTS] = (abut_elements){ .name = "attachments", .corners = 5, .lasting = 1, .n = (size_t)m->na,
                                             .row = d->attach_row, .val = d->attach_H };
    sets[SET_SPRINGS] = (abut_elements){ .name = "springs", .corners = 2, .lasting = 1, .n = (size_t)m->nsp,
                                         .row = d->spring_row, .val = d->spring_H };
    sets[SET_CODIM] = (abut_elements){ .name = "codimensional elements", .corners = 4, .lasting = 1,
                                       .n = abut_codim_of(&p->terms)->n, .row = d->codim_row, .val = d->codim_H };
}

abut_status abut_newton_matrix_sum(abut_newton_matrix *d, abut_ordering *order, const abut_problem *p,
                                   const abut_iterate *iterate, abut_report *rep, abut_err *err)
{
    const double *x = iterate->x;
    const abut_model *m = p->model;
    tets_at at = { p, abut_problem_elastic_point(p, x), p->w.psi * p->w.share * p->w.share };
    abut_elements sets[SETS];
    double clock = abut_time_wall();

    abut_status rc = abut_newton_matrix_contacts(d, p, iterate, &sets[SET_CONTACTS], err);
    if (rc) return rc;
    rows_of(p, 4 * (size_t)m->nt, m->tet, d->tet_row);
    abut_attachment_hessian(m, at.scale, d->attach_H);
    rows_of(p, 5 * (size_t)m->na, m->attach_node, d->attach_row);
    if (m->nsp) abut_spring_hessian(abut_springs_of(&p->terms), at.z, at.scale, d->spring_H);
    rows_of(p, 2 * (size_t)m->nsp, m->spring, d->spring_row);
    abut_objective_codim_hessian(p, x, abut_codim_state_of(&p->terms)->tension, d->codim_H);
    const abut_damping *damping = abut_damping_of(&p->terms);
    if (damping) abut_damping_codim_hessian(damping, abut_codim_of(&p->terms), p->w.damping, d->codim_H);
    rows_of(p, 4 * abut_codim_of(&p->terms)->n, abut_codim_of(&p->terms)->node, d->codim_row);
    rep->seconds.hessian += abut_time_lap(&clock);

    sets_of(d, p, &at, sets);
    rc = abut_ordering_pattern(order, &d->A, p, x, sets, SETS, SETS_THAT_LAST, err);
    rep->seconds.analyse += abut_time_lap(&clock);
    if (rc) return rc;
    abut_problem_diagonal(p, d->diag);
    abut_bsr_assemble(&d->A, d->diag, sets, SETS);
    rep->seconds.assemble += abut_time_lap(&clock);
    return ABUT_OK;
}

int32_t abut_newton_matrix_node_of_row(const abut_problem *p, int32_t row)
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

int32_t abut_newton_matrix_worst_node(const abut_newton_matrix *d, const abut_problem *p)
{
    double least = INFINITY;
    int32_t row = -1;
    for (int32_t j = 0; j < d->A.n && d->A.n == p->nrow && d->A.val; j++) {
        const double r = roundness(d->A.val + 9 * d->A.ptr[j]);
        if (r < least) least = r, row = j;
    }
    return abut_newton_matrix_node_of_row(p, row);
}
