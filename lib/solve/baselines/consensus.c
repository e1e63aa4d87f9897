#include "solve/baselines/consensus.h"

#include "base/order.h"
#include "base/timer.h"
#include "base/words.h"
#include "energy/elastic.h"
#include "solve/direction/newton.h"
#include "solve/direction/ordering.h"
#include "sparse/lbfgs.h"
#include "sparse/pcg.h"
#include "sparse/schwarz/schwarz.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the mesh cut along the borders of its parts ---- */

void abut_copies_clear(abut_copies *c)
{
    ABUT_FREE(c->node, c->part, c->at, c->of, c->beside_tet, c->beside_copy, c->X, c->mass, c->role, c->body, c->tet);
    *c = (abut_copies){ 0 };
}

static abut_status copies_no_memory(const abut_model *m, abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "copies of %d nodes in parts", m->nv);
}

/* Numbers the copies in the order of the tets, part after part; last[nv], first[k + 1], order[nt] are scratch.  Returns their
 * number. */
static int32_t number_copies(abut_copies *c, const abut_model *m, const int32_t *part, int32_t *last, int32_t *first,
                             int32_t *order)
{
    int32_t n = 0;
    abut_tets_by_part(&(abut_partition){ c->k, part }, m->nt, first, order);
    for (int32_t i = 0; i < m->nv; i++) last[i] = -1;
    for (int32_t j = 0; j < c->k; j++) {
        const int32_t begin = n;
        for (int32_t i = 4 * first[j]; i < 4 * first[j + 1]; i++) {
            const size_t corner = 4 * (size_t)order[i / 4] + (size_t)(i % 4);
            const int32_t node = m->tet[corner];
            if (last[node] < begin) last[node] = n, c->node[n] = node, c->part[n] = j, n++;
            c->tet[corner] = last[node];
        }
    }
    return n;
}

/* Returns the copy of a node in a part; -1: the part does not have it. */
static int32_t copy_in(const abut_copies *c, int32_t node, int32_t part)
{
    for (int32_t e = c->at[node]; e < c->at[node + 1]; e++)
        if (c->part[c->of[e]] == part) return c->of[e];
    return -1;
}

/* Masses of the n copies: a node divides its mass in proportion to the tets of its parts.  bring[n]: zero on entry. */
static void divide_masses(abut_copies *c, const abut_objective *p, int32_t n, double *bring)
{
    const abut_model *m = p->model;
    const double *vol = abut_elastic_of(&p->terms)->vol;
    for (size_t i = 0; i < 4 * (size_t)m->nt; i++) {
        const size_t t = i / 4;
        bring[c->tet[i]] += vol[t] * m->mat_density[m->tet_mat[t]] * (m->tet_density ? m->tet_density[t] : 1);
    }
    for (int32_t i = 0; i < n; i++) {
        const int32_t v = c->node[i];
        double all = 0;
        for (int32_t e = c->at[v]; e < c->at[v + 1]; e++) all += bring[c->of[e]];
        c->mass[i] = c->at[v + 1] - c->at[v] == 1 ? m->mass[v] : m->mass[v] * (bring[i] / all);
        memcpy(c->X + 3 * (size_t)i, m->X + 3 * (size_t)v, 3 * sizeof *c->X);
        c->role[i] = m->role[v], c->body[i] = m->body[v];
    }
}

/* Adds to n the parts beside tet t, and writes them, unless c->beside_tet is NULL.  Returns the sum. */
static size_t tets_beside(abut_copies *c, const abut_model *m, int32_t t, size_t n)
{
    const int32_t *corner = m->tet + 4 * (size_t)t, own = c->part[c->tet[4 * (size_t)t]];
    for (int a = 0; a < 4; a++)
        for (int32_t e = c->at[corner[a]]; e < c->at[corner[a] + 1]; e++) {
            const int32_t other = c->part[c->of[e]];
            int met = other == own;
            for (int b = 0; b < a; b++) met |= copy_in(c, corner[b], other) >= 0;
            if (met) continue;
            for (size_t b = 0; b < 4 && c->beside_tet; b++) c->beside_copy[4 * n + b] = copy_in(c, corner[b], other);
            if (c->beside_tet) c->beside_tet[n] = t;
            n++;
        }
    return n;
}

static abut_status find_beside(abut_copies *c, const abut_model *m, abut_err *err)
{
    size_t n = 0;
    for (int32_t t = 0; t < m->nt; t++) n = tets_beside(c, m, t, n);
    c->beside = n;
    if (!ABUT_ARRAYS(ABUT_ITEMS(c->beside_copy, 4 * n), ABUT_ITEMS(c->beside_tet, n))) return copies_no_memory(m, err);
    n = 0;
    for (int32_t t = 0; t < m->nt; t++) n = tets_beside(c, m, t, n);
    return ABUT_OK;
}

#define NONE(count) to->count = 0;
/* Makes the model: the given one with tets alone, and these nodes. */
static void make_model(abut_copies *c, const abut_model *m, int32_t n)
{
    abut_model *to = &c->model;
    *to = *m;
    ABUT_MODEL_COUNTS(NONE)
    to->nv = n, to->nt = m->nt, to->nm = m->nm, to->no = m->no, to->ng = m->ng, to->nkn = m->nkn;
    to->X = c->X, to->mass = c->mass, to->role = c->role, to->body = c->body, to->tet = c->tet;
}

static abut_status check_copies(const abut_copies *c, const abut_model *m, abut_err *err)
{
    for (int32_t i = 0; i < m->nv; i++)
        if (c->at[i] == c->at[i + 1] && m->role[i] != ABUT_NODE_OBSTACLE)
            return abut_fail(err, ABUT_E_FORMAT, "node %d is of no tet, expected every node that moves to be of one", i);
    return ABUT_OK;
}

abut_status abut_copies_init(abut_copies *c, const abut_objective *p, int32_t k, const int32_t *part, abut_err *err)
{
    const abut_model *m = p->model;
    const size_t most = 4 * (size_t)m->nt + 1, nv = (size_t)m->nv + 1;
    assert(k > 0 && m->nt);
    *c = (abut_copies){ .k = k, .node = malloc(most * sizeof *c->node), .part = malloc(most * sizeof *c->part),
                        .tet = malloc(most * sizeof *c->tet), .at = calloc(nv + 1, sizeof *c->at) };
    int32_t *last = malloc(nv * sizeof *last), *first = malloc(((size_t)k + 1) * sizeof *first),
            *order = malloc(most * sizeof *order), n = 0;
    int ok = c->node && c->part && c->tet && c->at && last && first && order;
    if (ok) n = number_copies(c, m, part, last, first, order);
    ABUT_FREE(last, first, order);
    const size_t room = (size_t)n + 1;
    double *bring = calloc(room, sizeof *bring);
    c->of = malloc(room * sizeof *c->of), c->X = malloc(3 * room * sizeof *c->X), c->mass = malloc(room * sizeof *c->mass);
    c->role = malloc(room * sizeof *c->role), c->body = malloc(room * sizeof *c->body);
    ok = ok && bring && c->of && c->X && c->mass && c->role && c->body;
    if (ok) abut_list_groups(c->node, (size_t)n, m->nv, c->at, c->of), divide_masses(c, p, n, bring), make_model(c, m, n);
    free(bring);
    abut_status rc = ok ? check_copies(c, m, err) : copies_no_memory(m, err);
    if (!rc) rc = find_beside(c, m, err);
    if (rc) abut_copies_clear(c);
    return rc;
}

/* ---- ADMM ---- */

#define NODES_PER_PART 1500     /* as dot has them without a coarse space */
#define HISTORY 5
/* The parts are minimised until their gradient has fallen to this fraction; largest number of iterations for that. */
#define ENOUGH 0.1
#define ITERATIONS 10
#define DECREASE 1e-4           /* Armijo's constant */

/* A matrix of element sets. */
typedef struct summed {
    abut_bsr A;
    double *diag;           /* [rows] */
    abut_elements sets[2];
    int n;
} summed;

struct abut_consensus {
    abut_copies cut;
    abut_objective parts;   /* the sum of E_j */
    abut_pairs none;        /* no contacts */
    struct consensus_borders {
        int32_t n;          /* nodes that move and have several copies */
        int32_t *number;    /* [nv] of each; -1 */
    } borders;
    struct consensus_rows { /* of the matrices, for the held nodes */
        uint8_t *held;      /* [copies] */
        int known;
        int32_t *tet, *beside, *border;     /* of tets, of tets beside parts in rows of copies and of nodes on borders */
        int32_t *first, *list;              /* [k + 1], [copies] rows of each part with any */
        int32_t k;
    } rows;
    struct consensus_values {
        double *tet, *beside;   /* Hessians of the tets; of the tets beside parts */
    } values;
    struct consensus_matrices {
        summed H, K, C;     /* of all parts; their completion; sum of K over the copies of each node */
    } of;
    abut_subdomains *domains;
    abut_linear_solver middle;  /* C */
    abut_lbfgs pairs;
    double *x, *xt;         /* [3 copies] */
    double *u, *apart, *pull;   /* [3 rows] multipliers; copies - nodes + u; K times that */
    double *g, *q, *d;      /* [3 rows] gradient, scratch, direction */
    struct consensus_last {
        double *x, *g;      /* [3 rows] the iterate before, and the gradient there */
    } last;
    double *y;              /* [3 borders] */
};

/* ---- construction ---- */

static void summed_clear(summed *s)
{
    abut_bsr_clear(&s->A);
    free(s->diag);
    *s = (summed){ 0 };
}

void abut_consensus_free(abut_consensus **out)
{
    abut_consensus *c = *out;
    if (!c) return;
    double *of[] = { c->values.tet, c->values.beside, c->x, c->xt, c->u, c->apart, c->pull, c->g, c->q, c->d, c->last.x,
                     c->last.g, c->y };
    int32_t *rows[] = { c->borders.number, c->rows.tet, c->rows.beside, c->rows.border, c->rows.first, c->rows.list };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) free(of[i]);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) free(rows[i]);
    free(c->rows.held);
    summed_clear(&c->of.H);
    summed_clear(&c->of.K);
    summed_clear(&c->of.C);
    abut_subdomains_free(&c->domains);
    abut_linear_solver_clear(&c->middle);
    abut_lbfgs_clear(&c->pairs);
    abut_objective_clear(&c->parts);
    abut_copies_clear(&c->cut);
    free(c);
    *out = NULL;
}

static abut_status no_memory(const abut_consensus *c, abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "ADMM: %d copies of nodes", c->cut.model.nv);
}

/* Refuses models whose E is not inertia and elasticity of tets of order 1; contact is in no E_j. */
static abut_status check(const abut_objective *p, abut_err *err)
{
    static const char *const known[] = { "inertia", "lagrangian", "elastic", "codim", NULL };
    const abut_model *m = p->model;
    if (!m->nt || m->nsh || m->nrd)
        return abut_fail(err, ABUT_E_FORMAT, "%d tet%s, %d shell%s and %d rod%s, expected tets alone", m->nt, abut_s(m->nt),
                         m->nsh, abut_s(m->nsh), m->nrd, abut_s(m->nrd));
    for (int i = 0; i < p->terms.n; i++) {
        const abut_term_ops *ops = p->terms.term[i].ops;
        int found = ops->kind == ABUT_TERM_CONTACT || ops->kind == ABUT_TERM_FRICTION;
        for (int k = 0; known[k]; k++) found |= !strcmp(ops->name, known[k]);
        if (!found) return abut_fail(err, ABUT_E_FORMAT, "its parts do not have the term '%s' of the model", ops->name);
    }
    return ABUT_OK;
}

static abut_status allocate(abut_consensus *c, const abut_model *m, abut_err *err)
{
    const size_t n = (size_t)c->cut.model.nv + 1, nt = (size_t)m->nt, nb = c->cut.beside, packed = abut_packed_size(4);
    double **const of[] = { &c->x, &c->xt, &c->u, &c->apart, &c->pull, &c->g, &c->q, &c->d, &c->last.x, &c->last.g, &c->y,
                            &c->of.H.diag, &c->of.K.diag, &c->of.C.diag };
    int ok = 1;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) ok &= (*of[i] = calloc(3 * n, sizeof **of[i])) != NULL;
    c->values.tet = malloc((packed * nt + 1) * sizeof *c->values.tet);
    c->values.beside = malloc((packed * nb + 1) * sizeof *c->values.beside);
    c->borders.number = malloc(((size_t)m->nv + 1) * sizeof *c->borders.number);
    c->rows = (struct consensus_rows){ .held = malloc(n), .tet = malloc((4 * nt + 1) * sizeof(int32_t)),
                                       .beside = malloc((4 * nb + 1) * sizeof(int32_t)),
                                       .border = malloc((4 * nb + 1) * sizeof(int32_t)),
                                       .first = malloc(((size_t)c->cut.k + 1) * sizeof(int32_t)),
                                       .list = malloc(n * sizeof(int32_t)) };
    ok &= c->values.tet && c->values.beside && c->borders.number && c->rows.held && c->rows.tet && c->rows.beside;
    return ok && c->rows.border && c->rows.first && c->rows.list ? ABUT_OK : no_memory(c, err);
}

static abut_status make(abut_consensus *c, const abut_objective *p, const abut_partition *given, int parts, abut_err *err)
{
    const abut_model *m = p->model;
    int32_t *part = NULL;
    abut_status rc = check(p, err);
    if (rc) return rc;
    const int32_t many = parts ? parts : (m->nv + NODES_PER_PART - 1) / NODES_PER_PART,
                  k = given->part ? given->k : many < m->nt ? many : m->nt;
    rc = abut_tet_parts(p, given, k, &part, err);
    if (!rc) rc = abut_copies_init(&c->cut, p, k, part, err);
    free(part);
    if (!rc) rc = abut_objective_init(&c->parts, &c->cut.model, NULL, err);
    return rc ? rc : allocate(c, m, err);
}

abut_status abut_consensus_new(abut_consensus **out, const abut_objective *p, const abut_partition *given, int parts,
                               abut_err *err)
{
    assert(p && given);
    abut_consensus *c = *out = calloc(1, sizeof *c);
    if (!c) return abut_fail(err, ABUT_E_NOMEM, "ADMM: %d nodes", p->model->nv);
    const abut_status rc = make(c, p, given, parts, err);
    if (rc) abut_consensus_free(out);
    return rc;
}

/* ---- matrices ---- */

/* Rows of tets, borders and parts, for the held nodes. */
static void number_rows(abut_consensus *c, const abut_model *m)
{
    const abut_copies *cut = &c->cut;
    struct consensus_rows *r = &c->rows;
    const int32_t *row = c->parts.row;
    abut_objective_number(&c->parts);
    c->borders.n = 0;
    for (int32_t i = 0; i < m->nv; i++) {
        const int moves = cut->at[i + 1] - cut->at[i] > 1 && row[cut->of[cut->at[i]]] >= 0;
        c->borders.number[i] = moves ? c->borders.n++ : -1;
    }
    for (size_t i = 0; i < 4 * (size_t)m->nt; i++) r->tet[i] = row[cut->tet[i]];
    for (size_t i = 0; i < 4 * cut->beside; i++) {
        const int32_t copy = cut->beside_copy[i];
        r->beside[i] = copy < 0 ? -1 : row[copy];
        r->border[i] = copy < 0 ? -1 : c->borders.number[cut->node[copy]];
    }
}

/* Rows of the parts that have any, ascending. */
static void list_rows(abut_consensus *c)
{
    struct consensus_rows *r = &c->rows;
    const int32_t n = c->cut.model.nv;
    int32_t at = 0;
    r->k = 0;
    for (int32_t i = 0; i < n;) {
        const int32_t part = c->cut.part[i], from = at;
        for (; i < n && c->cut.part[i] == part; i++)
            if (c->parts.row[i] >= 0) r->list[at++] = c->parts.row[i];
        qsort(r->list + from, (size_t)(at - from), sizeof *r->list, abut_by_one);
        if (at > from) r->first[r->k++] = from;
    }
    r->first[r->k] = at;
}

/* Analyses the matrices: their patterns, and the solvers of H and C. */
static abut_status analyse(abut_consensus *c, const abut_model *m, abut_err *err)
{
    const abut_elements tets = { .name = "tets", .corners = 4, .n = (size_t)m->nt, .row = c->rows.tet, .val = c->values.tet };
    abut_elements beside = { .name = "tets beside", .corners = 4, .n = c->cut.beside, .row = c->rows.beside,
                             .val = c->values.beside };
    c->of.H.sets[0] = tets, c->of.H.sets[1] = c->of.K.sets[0] = beside;
    beside.row = c->rows.border;
    c->of.C.sets[0] = beside;
    c->of.H.n = 2, c->of.K.n = c->of.C.n = 1;
    abut_status rc = abut_bsr_pattern(&c->of.H.A, c->parts.nrow, c->of.H.sets, 2, err);
    if (!rc) rc = abut_bsr_pattern(&c->of.K.A, c->parts.nrow, c->of.K.sets, 1, err);
    if (!rc) rc = abut_subdomains_analyse(&c->domains, &c->of.H.A, c->rows.k, c->rows.first, c->rows.list, err);
    if (rc || !c->borders.n) return rc;
    int32_t *order = malloc((size_t)c->borders.n * sizeof *order);
    if (!order) return no_memory(c, err);
    rc = abut_bsr_pattern(&c->of.C.A, c->borders.n, c->of.C.sets, 1, err);
    if (!rc) rc = abut_graph_order_nested_dissection(abut_bsr_graph(&c->of.C.A), order, err);
    abut_linear_solver_clear(&c->middle);
    if (!rc) rc = abut_linear_solver_init(&c->middle, &abut_linear_own, 1, err);
    if (!rc) rc = abut_linear_analyse(&c->middle, &(abut_operator){ .matrix = &c->of.C.A }, order, err);
    free(order);
    return rc;
}

/* Sums values at the start of the step, and factors. */
static abut_status factor(abut_consensus *c, const abut_objective *p, abut_err *err)
{
    const size_t packed = abut_packed_size(4);
    const abut_copies *cut = &c->cut;
    abut_elastic_hessian(abut_elastic_of(&p->terms), p->xn, p->w.psi, c->values.tet);
    for (size_t e = 0; e < cut->beside; e++)
        memcpy(c->values.beside + packed * e, c->values.tet + packed * (size_t)cut->beside_tet[e], packed * sizeof(double));
    memset(c->of.C.diag, 0, (size_t)c->borders.n * sizeof *c->of.C.diag);
    for (int32_t i = 0; i < cut->model.nv; i++) {
        const int32_t row = c->parts.row[i], node = cut->node[i];
        if (row < 0) continue;
        c->of.H.diag[row] = p->model->mass[node];
        c->of.K.diag[row] = p->model->mass[node] - cut->mass[i];
        if (c->borders.number[node] >= 0) c->of.C.diag[c->borders.number[node]] += c->of.K.diag[row];
    }
    abut_bsr_assemble(&c->of.H.A, c->of.H.diag, c->of.H.sets, c->of.H.n);
    abut_bsr_assemble(&c->of.K.A, c->of.K.diag, c->of.K.sets, c->of.K.n);
    abut_status rc = abut_subdomains_factor(c->domains, &c->of.H.A, ABUT_SINGLE, err);
    if (rc || !c->borders.n) return rc;
    abut_bsr_assemble(&c->of.C.A, c->of.C.diag, c->of.C.sets, c->of.C.n);
    return abut_linear_factor(&c->middle, &(abut_operator){ .matrix = &c->of.C.A }, ABUT_DOUBLE, err);
}

/* Copies the step of p to the parts. */
static abut_status begin(abut_consensus *c, const abut_objective *p, abut_err *err)
{
    abut_objective *o = &c->parts;
    double *const to[] = { o->xn, o->xhat, o->target, o->still }, *const from[] = { p->xn, p->xhat, p->target, p->still };
    for (int32_t i = 0; i < o->model->nv; i++) {
        const size_t at = 3 * (size_t)c->cut.node[i];
        for (int f = 0; f < 4; f++) memcpy(to[f] + 3 * (size_t)i, from[f] + at, 3 * sizeof(double));
        o->held[i] = p->held[at / 3];
    }
    abut_objective_weigh(o, p->w);
    return abut_objective_begin(o, p->step.time, err);
}

abut_status abut_consensus_start(abut_consensus *c, const abut_objective *p, const double *x, abut_report *rep, abut_err *err)
{
    const size_t n = (size_t)c->cut.model.nv;
    double clock = abut_time_wall();
    abut_status rc = begin(c, p, err);
    if (!rc && !(c->rows.known && !memcmp(c->rows.held, c->parts.held, n))) {
        c->rows.known = 0;
        number_rows(c, p->model);
        list_rows(c);
        if (c->rows.k) rc = analyse(c, p->model, err);
        c->rows.known = !rc;
        memcpy(c->rows.held, c->parts.held, n);
    }
    rep->seconds.analyse += abut_time_lap(&clock);
    if (!rc && c->rows.k) rc = factor(c, p, err);
    rep->seconds.factor += abut_time_lap(&clock);
    for (size_t i = 0; i < n; i++) memcpy(c->x + 3 * i, x + 3 * (size_t)c->cut.node[i], 3 * sizeof *x);
    memset(c->u, 0, 3 * n * sizeof *c->u);
    return rc ? rc : abut_lbfgs_size(&c->pairs, 3 * (size_t)c->parts.nrow, HISTORY, err);
}

abut_linear_stats abut_consensus_stats(const abut_consensus *c)
{
    abut_linear_stats all = { 0 };
    if (c->borders.n) all = abut_linear_get_stats(&c->middle);
    if (!c->domains) return all;
    const abut_subdomains_stats s = abut_subdomains_get_stats(c->domains);
    all.nnz += s.factor_nnz, all.flops += s.factor_flops, all.bytes += s.bytes;
    return all;
}

/* ---- the parts ---- */

/* c->apart = copies at x - nodes y + u, on borders, and c->pull = K of it. */
static void find_pull(abut_consensus *c, const double *x, const double *y)
{
    for (int32_t i = 0; i < c->cut.model.nv; i++) {
        const int32_t row = c->parts.row[i], node = c->cut.node[i];
        for (size_t d = 0; d < 3 && row >= 0; d++) {
            const size_t at = 3 * (size_t)row + d;
            c->apart[at] = c->borders.number[node] < 0 ? 0 : x[3 * (size_t)i + d] - y[3 * (size_t)node + d] + c->u[at];
        }
    }
    abut_bsr_multiply(&c->of.K.A, c->apart, c->pull);
}

static double dot(const abut_consensus *c, const double *a, const double *b)
{
    return abut_dot(a, b, 3 * (size_t)c->parts.nrow, c->pairs.part);
}

/* *sum: objective of the parts at x; *noise: its rounding. */
static abut_status evaluate(abut_consensus *c, const double *x, const double *y, double *sum, double *noise, abut_arena *scratch,
                            abut_err *err)
{
    abut_energy e;
    const abut_at at = abut_objective_at(&c->parts, x, NULL, &c->none);
    const abut_status rc = abut_objective_energy(&c->parts, &at, &e, scratch, err);
    find_pull(c, x, y);
    const double pull = 0.5 * dot(c, c->apart, c->pull);
    *sum = isfinite(e.sum) ? e.sum + pull : INFINITY;
    *noise = e.noise + 1e-15 * pull;
    return rc;
}

/* c->g at c->x, after evaluate there. */
static abut_status find_gradient(abut_consensus *c, abut_arena *scratch, abut_err *err)
{
    const size_t n = 3 * (size_t)c->cut.model.nv;
    const abut_mark mark = abut_arena_mark(scratch);
    double *g = ABUT_NEW(scratch, double, n + 1);
    if (!g) return no_memory(c, err);
    const abut_at at = abut_objective_at(&c->parts, c->x, NULL, &c->none);
    const abut_status rc = abut_objective_gradient(&c->parts, &at, ABUT_KINDS_SMOOTH, g, scratch, err);
    abut_rows_gather(&c->parts, g, 1, c->g);
    for (size_t i = 0; i < 3 * (size_t)c->parts.nrow; i++) c->g[i] += c->pull[i];
    abut_arena_release(scratch, mark);
    return rc;
}

static abut_status apply_factors(void *of, const double *r, double *z, abut_err *err)
{
    abut_consensus *c = of;
    memset(z, 0, 3 * (size_t)c->parts.nrow * sizeof *z);
    return abut_subdomains_add(c->domains, ABUT_JOIN_SUM, r, z, err);
}

/* -c->d is the direction, *slope = c->d . c->g. */
static abut_status find_direction(abut_consensus *c, double *slope, abut_report *rep, abut_err *err)
{
    const abut_precond D = { apply_factors, c, c->parts.nrow, NULL };
    abut_status rc = ABUT_OK;
    *slope = 0;
    for (int tries = 0; !rc && !(*slope > 0) && tries < 2; tries++) {
        if (tries) abut_lbfgs_forget(&c->pairs), rep->not_descending++;
        memcpy(c->q, c->g, 3 * (size_t)c->parts.nrow * sizeof *c->q);
        rc = abut_lbfgs_apply(&c->pairs, &D, c->q, c->d, err);
        if (!rc) *slope = dot(c, c->d, c->g);
    }
    return rc;
}

/* Moves c->x along the direction until the sum falls below *sum; *moved 0: it never does. */
static abut_status search(abut_consensus *c, const double *y, double slope, double *sum, int *moved, abut_report *rep,
                          abut_arena *scratch, abut_err *err)
{
    abut_status rc = ABUT_OK;
    *moved = 0;
    for (double alpha = 1; !rc && !*moved && alpha > 0x1p-40; alpha /= 2) {
        double there, noise;
        for (int32_t i = 0; i < c->cut.model.nv; i++) {
            const int32_t row = c->parts.row[i];
            for (size_t d = 0; d < 3; d++)
                c->xt[3 * (size_t)i + d] = c->x[3 * (size_t)i + d] - (row < 0 ? 0 : alpha * c->d[3 * (size_t)row + d]);
        }
        rc = evaluate(c, c->xt, y, &there, &noise, scratch, err);
        rep->trials++;
        if (rc || !(there <= *sum - DECREASE * alpha * slope + noise)) continue;
        double *x = c->x;
        c->x = c->xt, c->xt = x;
        *sum = there;
        *moved = 1;
    }
    return rc;
}

/* Solves the first problem by L-BFGS: c->x. */
static abut_status minimise_parts(abut_consensus *c, const double *y, abut_report *rep, abut_arena *scratch, abut_err *err)
{
    const size_t bytes = 3 * (size_t)c->parts.nrow * sizeof(double);
    double sum, noise, first = 0, slope = 0;
    int moved = 1;
    abut_status rc = evaluate(c, c->x, y, &sum, &noise, scratch, err);
    for (int k = 0; !rc && moved && k <= ITERATIONS; k++) {
        rc = find_gradient(c, scratch, err);
        if (rc) break;
        const double size = sqrt(dot(c, c->g, c->g));
        abut_rows_gather(&c->parts, c->x, 1, c->q);
        if (k) (void)abut_lbfgs_push(&c->pairs, c->last.x, c->q, c->last.g, c->g);
        else first = size;
        if (!(size > ENOUGH * first) || k == ITERATIONS) break;
        memcpy(c->last.x, c->q, bytes);
        memcpy(c->last.g, c->g, bytes);
        rc = find_direction(c, &slope, rep, err);
        if (!rc) rc = search(c, y, slope, &sum, &moved, rep, scratch, err);
    }
    return rc;
}

/* ---- an iteration ---- */

/* Solves the second problem: c->y, the motion of the nodes on borders. */
static abut_status agree(abut_consensus *c, const double *y, abut_err *err)
{
    find_pull(c, c->x, y);
    memset(c->y, 0, 3 * (size_t)c->borders.n * sizeof *c->y);
    for (int32_t i = 0; i < c->cut.model.nv; i++) {
        const int32_t row = c->parts.row[i], border = c->borders.number[c->cut.node[i]];
        for (size_t d = 0; d < 3 && row >= 0 && border >= 0; d++)
            c->y[3 * (size_t)border + d] += c->pull[3 * (size_t)row + d];
    }
    if (!c->borders.n) return ABUT_OK;
    return abut_linear_solve(&c->middle, &(abut_operator){ .matrix = &c->of.C.A }, c->y, NULL, c->y, err);
}

abut_status abut_consensus_step(abut_consensus *c, const abut_objective *p, const double *x, double *dx, abut_report *rep,
                                abut_arena *scratch, abut_err *err)
{
    double clock = abut_time_wall();
    memset(dx, 0, 3 * (size_t)p->model->nv * sizeof *dx);
    if (!c->rows.k) return ABUT_OK;
    abut_status rc = minimise_parts(c, x, rep, scratch, err);
    rep->seconds.gradient += abut_time_lap(&clock);
    if (!rc) rc = agree(c, x, err);
    rep->seconds.solve += abut_time_lap(&clock);
    for (int32_t i = 0; i < c->cut.model.nv && !rc; i++) {
        const int32_t row = c->parts.row[i], node = c->cut.node[i], border = c->borders.number[node];
        for (size_t d = 0; d < 3 && row >= 0; d++) {
            const size_t to = 3 * (size_t)node + d;
            dx[to] = border < 0 ? c->x[3 * (size_t)i + d] - x[to] : c->y[3 * (size_t)border + d];
            if (border >= 0) c->u[3 * (size_t)row + d] = c->apart[3 * (size_t)row + d] - dx[to];
        }
    }
    return rc;
}
