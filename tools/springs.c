/* springs: puts springs on the edges of each MODEL; frames pass through. */
#include "base/arena.h"
#include "base/words.h"
#include "model/model.h"
#include "model/naming.h"
#include "model/tets.h"
#include "tools/cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct options {
    double stiffness;       /* N/m, of each edge of a tet, a shell or a rod */
    double across;          /* N/m, between the two corners that face each other across an edge of two shells, and between the far
                               ends of two segments in a row: what resists bending.  0: none */
    int replace;            /* the elements themselves go: the springs take their place */
} options;

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
    if (!ABUT_GROW(p->v, p->n + 1, p->cap)) return 0;
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
static abut_status put(abut_arrays *set, const abut_model *m, const options *o, const pairs *all, abut_err *err)
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
    ABUT_FREE(node, length, stiffness);
    return rc;
}

/* Adds a spring with the rest length of the edge (node/X) for each edge; *added: their number.  An edge whose nodes all
 * belong to obstacles gets none.  With replace the arrays of tets, shells, hinges, rods, bends, of their fibres and parts are
 * removed; masses, contact and materials stay.  Views of the set are stale afterwards.
 * Fails  ABUT_E_FORMAT no element has an edge; an edge of no length (names its nodes); ABUT_E_NOMEM */
static abut_status add_springs(abut_arrays *set, const options *o, int32_t *added, abut_err *err)
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

static abut_status check(const options *o, abut_err *err)
{
    if (!(o->stiffness > 0))
        return abut_fail(err, ABUT_E_ARG,
                         isnan(o->stiffness) ? "--stiffness N/m must be given" : "--stiffness %g: want more than 0",
                         o->stiffness);
    if (o->across < 0) return abut_fail(err, ABUT_E_ARG, "--across %g: want 0 or more", o->across);
    return ABUT_OK;
}

static abut_status run(abut_stream *s, abut_cli *cli, const options *o, abut_err *err)
{
    char history[160];
    snprintf(history, sizeof history, "{\"stiffness\":%.17g,\"across\":%.17g,\"replace\":%s}", o->stiffness, o->across,
             o->replace ? "true" : "false");
    abut_status rc = abut_stream_open(s, cli, history, err);
    while (!rc && !(rc = abut_stream_next(s, err)) && s->item != ABUT_ITEM_END) {
        int32_t added = 0;
        if (s->item == ABUT_ITEM_MODEL) {
            rc = add_springs(&s->model_set, o, &added, err);
            if (!rc) rc = abut_model_view(&s->model_set, &s->model, err);
            if (!rc)
                abut_cli_say(cli, "%d spring%s added%s", added, abut_s(added), o->replace ? ", in place of the elements" : "");
        }
        if (!rc) rc = abut_stream_write(s, err);
    }
    return rc ? rc : abut_stream_close(s, err);
}

int main(int argc, char **argv)
{
    options o = { .stiffness = NAN };
    const abut_opt opts[] = { { 0, "stiffness", ABUT_OPT_REAL, &o.stiffness, "N/m",
                                "of a spring on each edge of a tet, shell or rod; must be given" },
                              { 0, "across", ABUT_OPT_REAL, &o.across, "N/m",
                                "also springs that resist bending: between corners that face each other across the "
                                "edge of two shells, and two rod segments on (default: none)" },
                              { 0, "replace", ABUT_OPT_FLAG, &o.replace, NULL, "the elements go, their mass and contact stay" },
                              { 0 } };
    abut_cli cli;
    abut_err err = { 0 };
    abut_cli_begin(&cli, argc, argv, "Puts springs on the edges of a model.", "[FILE]", opts, ABUT_CLI_IN | ABUT_CLI_OUT);
    abut_stream s = { 0 };
    abut_status rc = check(&o, &err);
    if (!rc) rc = run(&s, &cli, &o, &err);
    abut_stream_clear(&s);
    return abut_cli_end(&cli, 0, rc ? &err : NULL);
}
