#include "contact/touching.h"

#include "base/arena.h"
#include "base/order.h"
#include "base/par.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

typedef struct field {
    void **array;
    size_t size;
} field;

enum { BY_CONTACT = 10, BY_NODE = 2 };
/* Lists the arrays by contacts, then the arrays by nodes of contacts; without `first`. */
static void fields_of(abut_touching *t, field f[BY_CONTACT + BY_NODE])
{
    const field all[BY_CONTACT + BY_NODE] = {
        { (void **)&t->normal, 3 * sizeof *t->normal }, { (void **)&t->k, 3 * sizeof *t->k }, { (void **)&t->mu, sizeof *t->mu },
        { (void **)&t->s, sizeof *t->s }, { (void **)&t->rbar, 3 * sizeof *t->rbar },
        { (void **)&t->cohesion, sizeof *t->cohesion }, { (void **)&t->give, sizeof *t->give },
        { (void **)&t->key, sizeof *t->key }, { (void **)&t->w, sizeof *t->w }, { (void **)&t->colour, sizeof *t->colour },
        { (void **)&t->node, sizeof *t->node }, { (void **)&t->b, sizeof *t->b }
    };
    memcpy(f, all, sizeof all);
}

void abut_touching_clear(abut_touching *t)
{
    field f[BY_CONTACT + BY_NODE];
    fields_of(t, f);
    for (int i = 0; i < BY_CONTACT + BY_NODE; i++) free(*f[i].array);
    ABUT_FREE(t->first, t->taken);
    *t = (abut_touching){ 0 };
}

static abut_status reserve(abut_touching *t, size_t n, size_t m, abut_err *err)
{
    field f[BY_CONTACT + BY_NODE];
    fields_of(t, f);
    const size_t cap = n <= t->cap ? t->cap : n + n / 4 + 64, cap_m = m <= t->cap_m ? t->cap_m : m + m / 4 + 256;
    int ok = 1;
    if (m > INT32_MAX) return abut_fail(err, ABUT_E_NOMEM, "contacts: %zu nodes of contacts, expected less than 2^31", m);
    if (cap > t->cap) {
        ok = ABUT_RESIZE(t->first, cap + 1);
        for (int i = 0; i < BY_CONTACT && ok; i++) ok = abut_resize(f[i].array, cap, f[i].size);
    }
    if (ok && cap_m > t->cap_m)
        for (int i = BY_CONTACT; i < BY_CONTACT + BY_NODE && ok; i++) ok = abut_resize(f[i].array, cap_m, f[i].size);
    if (!ok) return abut_fail(err, ABUT_E_NOMEM, "%zu contacts", n);
    t->cap = cap;
    t->cap_m = cap_m;
    return ABUT_OK;
}

/* ---- contacts come ---- */

abut_status abut_touching_begin(abut_touching *t, int32_t nodes, abut_err *err)
{
    assert(nodes >= 0);
    if (nodes != t->nodes || !t->taken) {
        free(t->taken);
        t->taken = malloc(((size_t)nodes + 1) * sizeof *t->taken);
        t->nodes = nodes;
    }
    t->n = t->m = t->settled = 0;
    memset(t->start, 0, sizeof t->start);
    if (!t->taken) return t->nodes = 0, abut_fail(err, ABUT_E_NOMEM, "contacts of %d nodes", nodes);
    memset(t->taken, 0, (size_t)nodes * sizeof *t->taken);
    const abut_status rc = reserve(t, 1, 4, err);
    if (!rc) t->first[0] = 0;
    return rc;
}

abut_status abut_touching_append(abut_touching *t, const abut_touch *c, abut_err *err)
{
    if (!c->n) return ABUT_OK;
    const abut_status rc = reserve(t, t->n + 1, t->m + (size_t)c->n, err);
    if (rc) return rc;
    const size_t i = t->n++;
    for (int j = 0; j < c->n; j++, t->m++) {
        assert(c->node[j] >= 0 && c->node[j] < t->nodes);
        t->node[t->m] = c->node[j];
        t->b[t->m] = c->b[j];
    }
    t->first[t->n] = (int32_t)t->m;
    memcpy(t->w[i], c->w, sizeof c->w);
    memcpy(t->normal + 3 * i, c->normal, sizeof c->normal);
    memcpy(t->k + 3 * i, c->k, sizeof c->k);
    memset(t->rbar + 3 * i, 0, 3 * sizeof *t->rbar);
    t->mu[i] = c->mu;
    t->s[i] = 0;
    t->cohesion[i] = c->cohesion;
    t->give[i] = c->give;
    t->key[i] = c->key;
    t->colour[i] = ABUT_TOUCH_COLOURS;
    return ABUT_OK;
}

/* ---- their order ---- */

typedef struct ordered {
    abut_touch_key key;
    int32_t number;
} ordered;

static int same_primitives(const abut_touch_key *a, const abut_touch_key *b)
{
    return a->kind == b->kind && a->plane == b->plane && !memcmp(a->vert, b->vert, sizeof a->vert);
}

static int by_key(const void *pa, const void *pb)
{
    const ordered *p = pa, *q = pb;
    const abut_touch_key *a = &p->key, *b = &q->key;
    if (a->round != b->round) return a->round < b->round ? -1 : 1;
    if (a->toi != b->toi) return a->toi < b->toi ? -1 : 1;
    if ((a->plane < 0) != (b->plane < 0)) return a->plane < 0 ? -1 : 1;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    const int by = abut_compare(a->vert, b->vert, 4);
    if (by) return by;
    if (a->plane != b->plane) return a->plane < b->plane ? -1 : 1;
    return (p->number > q->number) - (p->number < q->number);
}

static size_t slot_of(const abut_touch_key *k, size_t mask)
{
    uint64_t h = k->kind + 0x9e3779b97f4a7c15u * (uint64_t)(uint32_t)k->plane;
    for (int i = 0; i < 4; i++) h = (h ^ (uint32_t)k->vert[i]) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
    return (size_t)h & mask;
}

/* Copies weights, normal, k and give of contact i to contact c of the same primitives, if both have the same nodes. */
static void renew(abut_touching *t, int32_t c, int32_t i)
{
    const size_t n = (size_t)(t->first[c + 1] - t->first[c]);
    const int32_t *of = t->node + t->first[c], *by = t->node + t->first[i];
    if (n != (size_t)(t->first[i + 1] - t->first[i]) || memcmp(of, by, n * sizeof *of)) return;
    memcpy(t->b + t->first[c], t->b + t->first[i], n * sizeof *t->b);
    memcpy(t->w[c], t->w[i], sizeof t->w[c]);
    memcpy(t->normal + 3 * (size_t)c, t->normal + 3 * (size_t)i, 3 * sizeof *t->normal);
    memcpy(t->k + 3 * (size_t)c, t->k + 3 * (size_t)i, 3 * sizeof *t->k);
    t->give[c] = t->give[i];
    t->key[c].yields = t->key[i].yields;
    t->key[c].toi = t->key[i].toi;
}

/* 1: contact i is added to the table; 0: the table has it, or two contacts of its primitives. */
static int joins(abut_touching *t, int32_t *table, size_t mask, int32_t i, int renews)
{
    size_t at = slot_of(&t->key[i], mask);
    int found = 0;
    for (; table[at] >= 0; at = (at + 1) & mask) {
        const int32_t c = table[at];
        if (!same_primitives(&t->key[c], &t->key[i])) continue;
        const double *a = t->normal + 3 * (size_t)c, *b = t->normal + 3 * (size_t)i;
        const int same = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] > ABUT_TOUCH_SAME;
        if (same && renews) renew(t, c, i);
        if (++found > 1 || same) return 0;
    }
    table[at] = i;
    return 1;
}

/* order[n]: the settled contacts, then the new contacts that stay, in their order; *n: how many. */
static abut_status arrange(abut_touching *t, int renews, int32_t *order, size_t *n, abut_err *err)
{
    const size_t late = t->n - t->settled;
    size_t size = 16;
    while (size < 2 * t->n) size *= 2;
    ordered *o = malloc((late + 1) * sizeof *o);
    int32_t *table = malloc(size * sizeof *table);
    if (!o || !table) {
        ABUT_FREE(o, table);
        return abut_fail(err, ABUT_E_NOMEM, "the order of %zu contacts", t->n);
    }
    memset(table, -1, size * sizeof *table);
    for (size_t i = 0; i < late; i++)
        o[i] = (ordered){ t->key[t->settled + i], (int32_t)(t->settled + i) };
    qsort(o, late, sizeof *o, by_key);
    for (*n = 0; *n < t->settled; ++*n) {
        order[*n] = (int32_t)*n;
        (void)joins(t, table, size - 1, (int32_t)*n, 0);
    }
    for (size_t i = 0; i < late; i++)
        if (joins(t, table, size - 1, o[i].number, renews)) order[(*n)++] = o[i].number;
    ABUT_FREE(o, table);
    return ABUT_OK;
}

/* Gives contact c and its nodes the lowest colour that none of these nodes has (Daviet 2020, 6.2.4 has greedy stages). */
static void colour(abut_touching *t, int32_t c)
{
    uint64_t taken = 0;
    int k = 0;
    for (int32_t e = t->first[c]; e < t->first[c + 1]; e++) taken |= t->taken[t->node[e]];
    while (k < ABUT_TOUCH_COLOURS && taken >> k & 1) k++;
    t->colour[c] = (uint8_t)k;
    if (k == ABUT_TOUCH_COLOURS) return;
    for (int32_t e = t->first[c]; e < t->first[c + 1]; e++) t->taken[t->node[e]] |= (uint64_t)1 << k;
}

static int32_t least_node(const abut_touching *t, int32_t c)
{
    int32_t least = t->node[t->first[c]];
    for (int32_t e = t->first[c] + 1; e < t->first[c + 1]; e++) least = t->node[e] < least ? t->node[e] : least;
    return least;
}

/* Sorts order[n] by (colour, least node), contacts without colour last, in their order; sets t->start.  room[n + nodes + 1] */
static void by_colour(abut_touching *t, int32_t *order, size_t n, int32_t *room)
{
    int32_t *count = room + n;
    memset(count, 0, ((size_t)t->nodes + 1) * sizeof *count);
    size_t fitted = 0;
    for (size_t i = 0; i < n; i++)
        if (t->colour[order[i]] < ABUT_TOUCH_COLOURS) count[least_node(t, order[i]) + 1]++, fitted++;
    for (int32_t i = 0; i < t->nodes; i++) count[i + 1] += count[i];
    for (size_t i = 0; i < n; i++) {
        const int32_t c = order[i];
        if (t->colour[c] < ABUT_TOUCH_COLOURS) room[count[least_node(t, c)]++] = c;
        else room[fitted++] = c;
    }
    memset(t->start, 0, sizeof t->start);
    for (size_t i = 0; i < n; i++) t->start[t->colour[room[i]] + 1]++;
    for (int k = 0; k <= ABUT_TOUCH_COLOURS; k++) t->start[k + 1] += t->start[k];
    size_t at[ABUT_TOUCH_COLOURS + 1];
    memcpy(at, t->start, sizeof at);
    for (size_t i = 0; i < n; i++) order[at[t->colour[room[i]]]++] = room[i];
}

/* Array f with the contacts order[n] alone, in that order; by_node: each contact has as many as nodes. */
static int permuted(const abut_touching *t, field f, const int32_t *order, size_t n, size_t cap, int by_node)
{
    char *to = malloc(cap * f.size + 1);
    const char *from = *f.array;
    if (!to) return 0;
    for (size_t i = 0, at = 0; i < n; i++) {
        const size_t lo = by_node ? (size_t)t->first[order[i]] : (size_t)order[i];
        const size_t hi = by_node ? (size_t)t->first[order[i] + 1] : lo + 1;
        memcpy(to + at * f.size, from + lo * f.size, (hi - lo) * f.size);
        at += hi - lo;
    }
    free(*f.array);
    *f.array = to;
    return 1;
}

static abut_status permute(abut_touching *t, const int32_t *order, size_t n, abut_err *err)
{
    field f[BY_CONTACT + BY_NODE];
    fields_of(t, f);
    int ok = 1;
    for (int i = 0; i < BY_CONTACT + BY_NODE && ok; i++)
        ok = permuted(t, f[i], order, n, i < BY_CONTACT ? t->cap : t->cap_m, i >= BY_CONTACT);
    int32_t *first = ok ? malloc((t->cap + 1) * sizeof *first) : NULL;
    if (!first) return abut_fail(err, ABUT_E_NOMEM, "%zu contacts in the order of sweeps", n);
    first[0] = 0;
    for (size_t i = 0; i < n; i++) first[i + 1] = first[i] + t->first[order[i] + 1] - t->first[order[i]];
    free(t->first);
    t->first = first;
    t->n = n;
    t->m = (size_t)first[n];
    return ABUT_OK;
}

static abut_status settle(abut_touching *t, const double *inv_w, int renews, abut_err *err)
{
    if (t->n == t->settled) return ABUT_OK;
    int32_t *order = malloc((2 * t->n + (size_t)t->nodes + 1) * sizeof *order);
    size_t n = 0;
    abut_status rc = order ? arrange(t, renews, order, &n, err) : abut_fail(err, ABUT_E_NOMEM, "the order of %zu contacts", t->n);
    if (!rc) {
        for (size_t i = t->settled; i < n; i++) colour(t, order[i]);
        by_colour(t, order, n, order + t->n);
        rc = permute(t, order, n, err);
    }
    free(order);
    if (rc) {
        abut_touching_clear(t);
        return rc;
    }
    t->settled = t->n;
    abut_touching_weigh(t, inv_w);
    return ABUT_OK;
}

abut_status abut_touching_settle(abut_touching *t, const double *inv_w, abut_err *err)
{
    return settle(t, inv_w, 0, err);
}

abut_status abut_touching_renew(abut_touching *t, const double *inv_w, abut_err *err)
{
    return settle(t, inv_w, 1, err);
}

void abut_touching_weigh(abut_touching *t, const double *inv_w)
{
    #pragma omp parallel for schedule(static) if (t->settled >= ABUT_PAR_MIN)
    for (size_t c = 0; c < t->settled; c++) {
        double s = t->give[c];
        for (int32_t e = t->first[c]; e < t->first[c + 1]; e++) s += t->b[e] * t->b[e] * inv_w[t->node[e]];
        for (int d = 0; d < 3 && t->s[c] > 0; d++) t->rbar[3 * c + (size_t)d] *= s / t->s[c];
        t->s[c] = s;
    }
}

int abut_touching_colours(const abut_touching *t)
{
    int n = 0;
    for (int k = 0; k < ABUT_TOUCH_COLOURS; k++) n += t->start[k + 1] > t->start[k];
    return n;
}

/* ---- what they say ---- */

void abut_touching_velocity(const abut_touching *t, size_t c, const double *v, double u[3])
{
    memcpy(u, t->k + 3 * c, 3 * sizeof *u);
    for (int32_t e = t->first[c]; e < t->first[c + 1]; e++)
        for (int d = 0; d < 3; d++) u[d] += t->b[e] * v[3 * (size_t)t->node[e] + (size_t)d];
}

void abut_touching_impulse(const abut_touching *t, size_t c, double r[3])
{
    for (size_t d = 0; d < 3; d++) r[d] = t->rbar[3 * c + d] / t->s[c] - t->cohesion[c] * t->normal[3 * c + d];
}

void abut_touching_forces(const abut_touching *t, double *f)
{
    for (size_t c = 0; c < t->settled; c++) {
        double r[3];
        abut_touching_impulse(t, c, r);
        for (int32_t e = t->first[c]; e < t->first[c + 1]; e++)
            for (int d = 0; d < 3; d++) f[3 * (size_t)t->node[e] + (size_t)d] += t->b[e] * r[d];
    }
}
