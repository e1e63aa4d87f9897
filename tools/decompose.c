/* decompose: cuts the tetrahedra of each MODEL into connected parts along few faces; frames pass through.
 *
 * Adds part/element (i32 [nt], the part of each tet) and part/count (i32) to the MODEL; by nodes part/node (i32 [nv]), too. */
#include "base/arena.h"
#include "base/words.h"
#include "graph/graph.h"
#include "model/tets.h"
#include "tools/cli/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS_DEFAULT = 8 };

typedef struct request {
    int parts;              /* 0: not given */
    int target_size;        /* 0: not given */
    const char *method, *by, *weights;
    abut_cut_opts how;
    const char *json_name;
    FILE *json;
} request;

static abut_status request_check(request *r, int parts_given, int size_given, abut_err *err)
{
    if (parts_given && size_given) return abut_fail(err, ABUT_E_ARG, "-k and --target-size exclude each other");
    if (parts_given && r->parts < 1) return abut_fail(err, ABUT_E_ARG, "-k %d: want at least 1 part", r->parts);
    if (size_given && r->target_size < 1)
        return abut_fail(err, ABUT_E_ARG, "--target-size %d: want at least 1 node", r->target_size);
    r->how.recursive = !strcmp(r->method, "recursive");
    if (!r->how.recursive && strcmp(r->method, "kway"))
        return abut_fail(err, ABUT_E_ARG, "--method %s: know kway and recursive", r->method);
    r->how.by_nodes = !strcmp(r->by, "nodes");
    if (!r->how.by_nodes && strcmp(r->by, "elements"))
        return abut_fail(err, ABUT_E_ARG, "--by %s: know elements and nodes", r->by);
    return ABUT_OK;
}

/* Nodes that belong to some tet. */
static abut_status count_tet_nodes(const abut_model *m, int32_t *count, abut_err *err)
{
    unsigned char *seen = calloc((size_t)m->nv + 1, 1);
    if (!seen) return abut_fail(err, ABUT_E_NOMEM, "no memory for %d nodes", m->nv);
    *count = 0;
    for (size_t i = 0; i < 4 * (size_t)m->nt; i++) {
        *count += !seen[m->tet[i]];
        seen[m->tet[i]] = 1;
    }
    free(seen);
    return ABUT_OK;
}

/* The number of parts that the request means for this model. */
static int32_t choose_parts(const request *r, int32_t nt, int32_t nodes)
{
    if (r->parts) return r->parts;
    const int32_t k = r->target_size ? (nodes - 1) / r->target_size + 1 : PARTS_DEFAULT;
    return k < nt ? k : nt;
}

static void say(abut_cli *cli, int32_t k, int32_t nt, int32_t nodes, const abut_partition_stats *s)
{
    abut_cli_say(cli, "%d part%s of %d tet%s: %d to %d each, largest %.3f of the mean", k, abut_s(k), nt, abut_s(nt), s->smallest,
                 s->largest, s->balance);
    abut_cli_say(cli, "%" PRId64 " of %" PRId64 " shared face%s cut (%.1f %%), %d of %d nodes on interfaces (%.1f %%)", s->cut,
                 s->faces, abut_s(s->faces), s->faces ? 100.0 * (double)s->cut / (double)s->faces : 0, s->interface_nodes, nodes,
                 100.0 * s->interface_nodes / nodes);
    if (s->split) abut_cli_say(cli, "%d %s separate bodies", s->split, abut_plural(s->split, "part holds", "parts hold"));
}

/* Writes a JSON object per MODEL, each on one line. */
static abut_status write_json(const request *r, int32_t k, int32_t nt, int32_t nodes, const abut_partition_stats *s,
                              abut_err *err)
{
    if (!r->json) return ABUT_OK;
    const int n = fprintf(r->json, "{\"parts\": %d, \"tets\": %d, \"nodes\": %d, \"smallest\": %d, \"largest\": %d, "
                          "\"balance\": %.17g, \"faces\": %" PRId64 ", \"cut\": %" PRId64 ", \"interface_nodes\": %d, "
                          "\"split_parts\": %d}\n", k, nt, nodes, s->smallest, s->largest, s->balance, s->faces, s->cut,
                          s->interface_nodes, s->split);
    if (n < 0) return abut_fail(err, ABUT_E_IO, "%s: %s", r->json_name, strerror(errno));
    return ABUT_OK;
}

/* The weights: an array of the MODEL with a number for each tet, or node; NULL when none are asked for, or on failure. */
static double *weights_of(const abut_stream *st, const request *r, int32_t n, abut_err *err)
{
    if (!r->weights) return NULL;
    const abut_array *a = abut_arrays_find(&st->model_set, r->weights);
    const char *const what = r->how.by_nodes ? "node" : "tet";
    if (!a || a->type == ABUT_TEXT || a->rank != 1 || a->shape[0] != n) {
        (void)abut_fail(err, ABUT_E_ARG, "--weights %s: the MODEL has no such array with one number for each %s (%d)",
                        r->weights, what, n);
        return NULL;
    }
    double *w = malloc(((size_t)n + 1) * sizeof *w);
    if (!w) (void)abut_fail(err, ABUT_E_NOMEM, "no memory for %d weights", n);
    for (int32_t i = 0; w && i < n; i++) w[i] = abut_array_real(a, i);
    return w;
}

static abut_status put_parts(abut_stream *st, const char *name, const int32_t *part, int32_t n, abut_err *err)
{
    int32_t *to = abut_arrays_put_rows(&st->model_set, name, ABUT_I32, n, 0, "", err);
    if (!to) return err->code;
    memcpy(to, part, (size_t)n * sizeof *part);
    return ABUT_OK;
}

/* Partitions as abut_partition_mesh into at most k non-empty parts, or exactly into the number that the request sets.  Tets are
 * cut in the order of the solvers: parts equal those of step --parts. */
static abut_status cut(const request *r, const abut_model *m, const double *weight, int32_t *k, int32_t *part, int32_t *node,
                       abut_partition_stats *stats, abut_err *err)
{
    const size_t nt = (size_t)m->nt;
    const int by_tets = weight && !r->how.by_nodes;
    abut_reordered *o = NULL;
    int32_t *of = malloc(nt * sizeof *of);
    double *w = by_tets ? malloc(nt * sizeof *w) : NULL;
    abut_cut_opts how = r->how;
    how.weight = by_tets ? w : weight;
    abut_status rc = of && (w || !by_tets) ? abut_reordered_new(&o, m, err)
                                           : abut_fail(err, ABUT_E_NOMEM, "no memory for %d tets", m->nt);
    for (size_t t = 0; t < nt && by_tets && !rc; t++) w[t] = weight[o->number[t]];
    for (int more = !rc; more;) {
        rc = abut_partition_mesh(m->nv, m->nt, o->model.tet, *k, &how, of, node, stats, err);
        more = rc == ABUT_E_ARG && !r->parts && !r->weights && *k > 1;
        if (more) *err = (abut_err){ 0 }, --*k;
    }
    for (size_t t = 0; t < nt && !rc; t++) part[o->number[t]] = of[t];
    abut_reordered_free(&o);
    ABUT_FREE(of, w);
    return rc;
}

/* Partitions the model that the stream holds and adds the arrays. */
static abut_status decompose(abut_stream *st, const request *r, abut_err *err)
{
    const abut_model m = st->model;
    if (m.nt == 0) return abut_fail(err, ABUT_E_FORMAT, "%s: the model has no tetrahedra to cut", st->io.in_name);
    int32_t nodes = 0;
    abut_status rc = count_tet_nodes(&m, &nodes, err);
    if (rc) return rc;
    int32_t k = choose_parts(r, m.nt, nodes);
    int32_t *part = malloc((size_t)m.nt * sizeof *part), *node = malloc(((size_t)m.nv + 1) * sizeof *node);
    abut_partition_stats stats = { 0 };
    double *weight = weights_of(st, r, r->how.by_nodes ? m.nv : m.nt, err);
    rc = r->weights && !weight ? err->code : part && node ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "no memory for %d tets", m.nt);
    if (!rc) rc = cut(r, &m, weight, &k, part, node, &stats, err);
    if (!rc) {
        say(abut_stream_cli(st), k, m.nt, nodes, &stats);
        rc = write_json(r, k, m.nt, nodes, &stats, err);
    }
    if (!rc) rc = abut_arrays_put_i32(&st->model_set, "part/count", k, err);
    if (!rc) rc = put_parts(st, "part/element", part, m.nt, err);
    if (!r->how.by_nodes) abut_arrays_remove(&st->model_set, "part/node");
    if (!rc && r->how.by_nodes) rc = put_parts(st, "part/node", node, m.nv, err);
    ABUT_FREE(part, node, weight);
    return rc;
}

static abut_status run(abut_stream *st, abut_cli *cli, const request *r, abut_err *err)
{
    char options[200];
    size_t n = r->target_size ? (size_t)snprintf(options, sizeof options, "{\"target-size\": %d", r->target_size)
                              : (size_t)snprintf(options, sizeof options, "{\"parts\": %d", r->parts ? r->parts : PARTS_DEFAULT);
    if (r->how.recursive) n += (size_t)snprintf(options + n, sizeof options - n, ", \"method\": \"recursive\"");
    if (r->how.by_nodes) n += (size_t)snprintf(options + n, sizeof options - n, ", \"by\": \"nodes\"");
    if (r->weights) n += (size_t)snprintf(options + n, sizeof options - n, ", \"weights\": \"%.63s\"", r->weights);
    snprintf(options + n, sizeof options - n, "}");
    abut_status rc = abut_stream_open(st, cli, options, err);
    while (!rc && !(rc = abut_stream_next(st, err)) && st->item != ABUT_ITEM_END) {
        if (st->item == ABUT_ITEM_MODEL) rc = decompose(st, r, err);
        if (!rc) rc = abut_stream_write(st, err);
    }
    return rc ? rc : abut_stream_close(st, err);
}

static abut_status close_json(request *r, abut_status rc, abut_err *err)
{
    if (r->json && fclose(r->json) && !rc) rc = abut_fail(err, ABUT_E_IO, "%s: %s", r->json_name, strerror(errno));
    return rc;
}

int main(int argc, char **argv)
{
    request r = { .parts = ABUT_NOT_GIVEN, .target_size = ABUT_NOT_GIVEN, .method = "kway", .by = "elements" };
    const abut_opt opts[] = {
        { 'k', "parts", ABUT_OPT_INT, &r.parts, "N", "number of parts (default 8, or one per tet if there are fewer)" },
        { 0, "target-size", ABUT_OPT_INT, &r.target_size, "N", "instead: as many parts as give each about N nodes" },
        { 0, "method", ABUT_OPT_TEXT, &r.method, "NAME", "kway (default), or recursive: by repeated bisection" },
        { 0, "by", ABUT_OPT_TEXT, &r.by, "WHAT",
          "cut elements (default), or nodes: tets go where most of their nodes are, and the MODEL "
          "gets part/node" },
        { 0, "weights", ABUT_OPT_TEXT, &r.weights, "NAME",
          "parts of equal weight: an array of the MODEL with one number for each tet (--by nodes: "
          "node)" },
        { 0, "json", ABUT_OPT_OUTPUT, &r.json_name, "FILE", "write the figures as one JSON object per model" },
        { 0 }
    };
    abut_cli cli;
    abut_err err = { 0 };
    abut_cli_begin(&cli, argc, argv, "Cuts the tetrahedra of a model into connected parts along few faces.", "[FILE]", opts,
                   ABUT_CLI_IN | ABUT_CLI_OUT);
    const int parts_given = r.parts != ABUT_NOT_GIVEN, size_given = r.target_size != ABUT_NOT_GIVEN;
    abut_status rc = request_check(&r, parts_given, size_given, &err);
    if (!parts_given) r.parts = 0;
    if (!size_given) r.target_size = 0;
    abut_stream st = { 0 };
    if (!rc && r.json_name && !(r.json = abut_cli_create(&cli, r.json_name, &err))) rc = err.code;
    if (!rc) rc = run(&st, &cli, &r, &err);
    close_json(&r, rc, &err);
    abut_stream_clear(&st);
    return abut_cli_end(&cli, 0, &err);
}
