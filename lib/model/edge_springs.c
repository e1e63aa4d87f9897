#include "model/edge_springs.h"

#include "model/naming.h"
#include "model/tets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two nodes, the lower one first, and what they are to each other. */
typedef struct pair {
    int32_t a, b;
    int32_t corner;         /* of a triangle: opposite to the edge a b; -1: none */
    int across;
} pair;

typedef struct pairs {
    pair *v;
    size_t n, cap;
} pairs;

static int add(pairs *p, int32_t a, int32_t b, int32_t corner, int across)
{
    if (p->n == p->cap) {
        const size_t cap = p->cap ? 2 * p->cap : 1024;
        pair *v = realloc(p->v, cap * sizeof *v);
        if (!v) return 0;
        p->v = v;
        p->cap = cap;
    }
    p->v[p->n++] = (pair){ a < b ? a : b, a < b ? b : a, corner, across };
    return 1;
}

static int by_nodes(const void *x, const void *y)
{
    const pair *p = x, *q = y;
    if (p->a != q->a) return p->a < q->a ? -1 : 1;
    if (p->b != q->b) return p->b < q->b ? -1 : 1;
    if (p->across != q->across) return p->across - q->across;
    return (p->corner > q->corner) - (p->corner < q->corner);
}

static int collect(const abut_model *m, int across, pairs *all)
{
    int ok = 1;
    for (int32_t t = 0; t < m->nt; t++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < i; j++) ok = ok && add(all, m->tet[4 * t + i], m->tet[4 * t + j], -1, 0);
    for (int32_t t = 0; t < m->nsh; t++)
        for (int i = 0; i < 3; i++)
            ok = ok && add(all, m->shell[3 * t + i], m->shell[3 * t + (i + 1) % 3], m->shell[3 * t + (i + 2) % 3], 0);
    for (int32_t r = 0; r < m->nrd; r++) ok = ok && add(all, m->rod[2 * r], m->rod[2 * r + 1], -1, 0);
    for (int32_t b = 0; across && b < m->nbd; b++) ok = ok && add(all, m->bend[3 * b], m->bend[3 * b + 2], -1, 1);
    if (!ok) return 0;
    if (all->n) qsort(all->v, all->n, sizeof *all->v, by_nodes);
    /* an edge of exactly two shells: their far corners */
    for (size_t lo = 0, n = all->n, hi; across && ok && lo < n; lo = hi) {
        int32_t corner[2] = { -1, -1 };
        int found = 0;
        for (hi = lo; hi < n && all->v[hi].a == all->v[lo].a && all->v[hi].b == all->v[lo].b; hi++)
            if (all->v[hi].corner >= 0) {
                if (found < 2) corner[found] = all->v[hi].corner;
                found++;
            }
        if (found == 2 && corner[0] != corner[1]) ok = add(all, corner[0], corner[1], -1, 1);
    }
    if (ok && all->n) qsort(all->v, all->n, sizeof *all->v, by_nodes);
    return ok;
}

/* The first of each pair of nodes; an edge of an element comes before one across. */
static void unique(const abut_model *m, pairs *all)
{
    size_t kept = 0;
    for (size_t i = 0; i < all->n; i++) {
        const pair p = all->v[i];
        if (kept && all->v[kept - 1].a == p.a && all->v[kept - 1].b == p.b) continue;
        if (m->role[p.a] == ABUT_NODE_OBSTACLE && m->role[p.b] == ABUT_NODE_OBSTACLE) continue;
        all->v[kept++] = p;
    }
    all->n = kept;
}

static double rest_length(const abut_model *m, const pair *p)
{
    double s = 0;
    for (int d = 0; d < 3; d++) s += pow(m->X[3 * (size_t)p->a + (size_t)d] - m->X[3 * (size_t)p->b + (size_t)d], 2);
    return sqrt(s);
}

static void remove_elements(abut_arrays *set)
{
    static const char *const prefix[] = { "tet/", "shell/", "hinge/", "rod/", "bend/", "part/", "material/fibre" };
    for (int i = set->n - 1; i >= 0; i--)
        for (size_t k = 0; k < sizeof prefix / sizeof *prefix; k++) {
            char name[ABUT_NAME_MAX + 1];
            if (strncmp(set->a[i].name, prefix[k], strlen(prefix[k]))) continue;
            memcpy(name, set->a[i].name, sizeof name);
            abut_arrays_remove(set, name);
            break;
        }
}

/* The springs that are there, and then the new ones. */
static abut_status put(abut_arrays *set, const abut_model *m, const abut_edge_springs_opts *o, const pairs *all, abut_err *err)
{
    const size_t old = (size_t)m->nsp, n = old + all->n;
    int32_t *node = malloc((2 * n + 1) * sizeof *node);
    double *length = malloc((n + 1) * sizeof *length), *stiffness = malloc((n + 1) * sizeof *stiffness);
    abut_status rc = node && length && stiffness ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "%zu springs", n);
    if (!rc && old) {
        memcpy(node, m->spring, 2 * old * sizeof *node);
        memcpy(length, m->spring_length, old * sizeof *length);
        memcpy(stiffness, m->spring_stiffness, old * sizeof *stiffness);
    }
    for (size_t i = 0; i < all->n && !rc; i++) {
        const pair *p = &all->v[i];
        node[2 * (old + i)] = p->a;
        node[2 * (old + i) + 1] = p->b;
        length[old + i] = rest_length(m, p);
        stiffness[old + i] = p->across ? o->across : o->stiffness;
        if (!(length[old + i] > 0)) rc = abut_fail(err, ABUT_E_FORMAT, "%s has no length",
                                             abut_nodes_words(m, (int32_t[]){ p->a, p->b }, 2, (char[ABUT_NODES_WORDS]){ 0 }));
    }
    static const char *const name[3] = { "spring/node", "spring/length", "spring/stiffness" };
    const void *const from[3] = { node, length, stiffness };
    for (int k = 0; k < 3 && !rc; k++) {
        void *to = abut_model_put(set, name[k], (int64_t)n, err);
        if (!to) rc = err->code;
        else memcpy(to, from[k], abut_array_bytes(abut_arrays_find(set, name[k])));
        if (!rc) abut_arrays_find(set, name[k])->flags |= ABUT_A_REQUIRED;
    }
    free(node);
    free(length);
    free(stiffness);
    return rc;
}

abut_status abut_edge_springs_add(abut_arrays *set, const abut_edge_springs_opts *o, int32_t *added, abut_err *err)
{
    abut_model m;
    pairs all = { 0 };
    *added = 0;
    abut_status rc = abut_model_view(set, &m, err);
    if (!rc) rc = abut_linear_tets(&m, "springs along edges", err);
    if (rc) return rc;
    if (!collect(&m, o->across > 0, &all)) rc = abut_fail(err, ABUT_E_NOMEM, "springs along %zu edges", all.n);
    if (!rc) unique(&m, &all);
    if (!rc && !all.n) rc = abut_fail(err, ABUT_E_FORMAT, "the model has no edges of tets, shells or rods to put springs on");
    if (!rc && all.n > INT32_MAX / 8)
        rc = abut_fail(err, ABUT_E_FORMAT, "%zu edges, at most %d can be springs", all.n, INT32_MAX / 8);
    if (!rc) rc = put(set, &m, o, &all, err);
    if (!rc) *added = (int32_t)all.n;
    if (!rc && o->replace) remove_elements(set);
    free(all.v);
    return rc;
}
