#include "solve/local_global/copies.h"

#include "energy/elastic.h"
#include "model/tets.h"
#include "solve/direction/tet_parts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void abut_copies_clear(abut_copies *c)
{
    free(c->node);
    free(c->part);
    free(c->at);
    free(c->of);
    free(c->beside_tet);
    free(c->beside_copy);
    free(c->X);
    free(c->mass);
    free(c->role);
    free(c->body);
    free(c->tet);
    *c = (abut_copies){ 0 };
}

static abut_status no_memory(const abut_model *m, abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "copies of %d nodes in parts", m->nv);
}

/* ---- copies ---- */

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

/* c->at, c->of of n copies. */
static void list_copies(abut_copies *c, const abut_model *m, int32_t n)
{
    for (int32_t i = 0; i < n; i++) c->at[c->node[i] + 1]++;
    for (int32_t i = 0; i < m->nv; i++) c->at[i + 1] += c->at[i];
    for (int32_t i = 0; i < n; i++) c->of[c->at[c->node[i]]++] = i;
    for (int32_t i = m->nv; i > 0; i--) c->at[i] = c->at[i - 1];
    c->at[0] = 0;
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

/* ---- tets beside parts ---- */

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
    c->beside_copy = malloc((4 * n + 1) * sizeof *c->beside_copy);
    c->beside_tet = malloc((n + 1) * sizeof *c->beside_tet);
    if (!c->beside_copy || !c->beside_tet) return no_memory(m, err);
    n = 0;
    for (int32_t t = 0; t < m->nt; t++) n = tets_beside(c, m, t, n);
    return ABUT_OK;
}

/* ---- the model ---- */

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

static abut_status check(const abut_copies *c, const abut_model *m, abut_err *err)
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
    free(last);
    free(first);
    free(order);
    const size_t room = (size_t)n + 1;
    double *bring = calloc(room, sizeof *bring);
    c->of = malloc(room * sizeof *c->of), c->X = malloc(3 * room * sizeof *c->X), c->mass = malloc(room * sizeof *c->mass);
    c->role = malloc(room * sizeof *c->role), c->body = malloc(room * sizeof *c->body);
    ok = ok && bring && c->of && c->X && c->mass && c->role && c->body;
    if (ok) list_copies(c, m, n), divide_masses(c, p, n, bring), make_model(c, m, n);
    free(bring);
    abut_status rc = ok ? check(c, m, err) : no_memory(m, err);
    if (!rc) rc = find_beside(c, m, err);
    if (rc) abut_copies_clear(c);
    return rc;
}
