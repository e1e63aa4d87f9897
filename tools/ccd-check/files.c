#include "tools/ccd-check/files.h"

#include "formats/result/out_file.h"

#include <math.h>

static abut_status open_file(abut_out_file *w, const char *path, const abut_cli *cli, abut_err *err)
{
    const abut_status rc = abut_out_open(w, path, cli->no_clobber, err);
    w->synced = !cli->no_sync;
    return rc;
}

static void put_place(FILE *f, const char *key, const abut_place *p)
{
    fprintf(f, ", \"%s\": ", key);
    if (p->file)
        abut_json_string(f, p->file);
    else
        fprintf(f, "{\"step\": %lld, \"time\": %.17g%s}", (long long)p->step, p->time, p->pending ? ", \"pending\": true" : "");
}

static const char *points_key(const abut_finding *d) { return d->vertices ? "vertices" : "nodes"; }

static void put_primitive(FILE *f, const abut_finding *d, int lo, int hi, int which)
{
    fprintf(f, "{\"object\": ");
    abut_json_string(f, d->object[which]);
    fprintf(f, ", \"%s\": [", points_key(d));
    for (int i = lo; i < hi; i++) fprintf(f, "%s%d", i > lo ? ", " : "", d->number[i]);
    fprintf(f, "], \"positions\": [");
    for (int i = lo; i < hi; i++)
        fprintf(f, "%s[%.17g, %.17g, %.17g]", i > lo ? ", " : "", d->x[i][0], d->x[i][1], d->x[i][2]);
    fprintf(f, "]}");
}

static void put_finding(FILE *f, const abut_finding *d)
{
    int split;
    const int n = abut_hit_nodes(d->hit.kind, &split);
    fprintf(f, "    {\"kind\": \"%s\"", abut_hit_name(d->hit.kind));
    put_place(f, "from", &d->from);
    put_place(f, "to", &d->to);
    if (d->to.leg) fprintf(f, ", \"leg\": %lld", (long long)d->to.leg);
    fprintf(f, ", \"toi\": [%.17g, %.17g], \"primitives\": [", d->hit.t_lo, d->hit.t_hi);
    put_primitive(f, d, 0, split, 0);
    if (split < n) {
        fprintf(f, ", ");
        put_primitive(f, d, split, n, 1);
    }
    putc(']', f);
    if (d->hit.kind == ABUT_HIT_PLANE) {
        fprintf(f, ", \"half_space\": ");
        abut_json_string(f, d->object[1]);
    }
    if (d->hit.kind == ABUT_HIT_POINT_BODY) {
        fprintf(f, ", \"inside_of\": ");
        abut_json_string(f, d->object[1]);
    }
    if (d->hit.kind == ABUT_HIT_INVERTED) fprintf(f, ", \"tet\": %d", d->item);
    putc('}', f);
}

static void put_gap(FILE *f, const abut_verdict *v)
{
    const abut_finding *const d = &v->gap_found;
    int first;
    if (!isfinite(v->gap.gap)) {
        fputs("  \"smallest_gap\": null,\n", f);
        return;
    }
    fprintf(f, "  \"smallest_gap\": {\"m\": %.17g, \"step\": %lld, \"kind\": \"%s\", \"%s\": [", v->gap.gap,
            (long long)v->gap_at.step, abut_hit_name(v->gap.at.kind), points_key(d));
    const int n = abut_hit_nodes(v->gap.at.kind, &first);
    for (int i = 0; i < n; i++) fprintf(f, "%s%d", i ? ", " : "", d->number[i]);
    fputs("], \"objects\": [", f);
    abut_json_string(f, d->object[0]);
    fputs(", ", f);
    abut_json_string(f, d->object[1]);
    fputs("]},\n", f);
}

abut_status abut_verdict_json(const abut_verdict *v, const char *path, abut_err *err)
{
    abut_out_file w;
    const abut_status rc = open_file(&w, path, v->cli, err);
    if (rc) return rc;
    char sep[40];
    fprintf(w.f, "{\n  \"tool\": \"ccd-check\", \"version\": \"%s\",\n  \"method\": \"%s\", \"min_separation\": %s,\n",
            ABUT_VERSION, abut_method_name(v->opts.method), abut_separation_json(v->opts.min_sep, sep, sizeof sep));
    fprintf(w.f, "  \"configurations\": %lld, \"pending\": %lld, \"not_judged\": %lld,\n", (long long)v->frames,
            (long long)v->pending, (long long)v->not_judged);
    fprintf(w.f, "  \"motions\": %lld, \"pairs\": %zu, \"inverted_allowed\": %lld,\n", (long long)v->motions, v->pairs,
            (long long)v->inverted_allowed);
    if (v->want_gap) put_gap(w.f, v);
    fprintf(w.f, "  \"clean\": %s, \"all\": %s,\n  \"collisions\": [", v->collisions ? "false" : "true",
            v->all ? "true" : "false");
    for (size_t i = 0; i < v->n; i++) {
        fputs(i ? ",\n" : "\n", w.f);
        put_finding(w.f, &v->finding[i]);
    }
    fprintf(w.f, "%s]\n}\n", v->n ? "\n  " : "");
    return abut_out_close(&w, err);
}

abut_status abut_scores_json(const abut_cli *cli, const abut_score *s, int n, const char *const *files, int n_files,
                             const char *path, abut_err *err)
{
    abut_out_file w;
    const abut_status rc = open_file(&w, path, cli, err);
    if (rc) return rc;
    fprintf(w.f, "{\n  \"tool\": \"ccd-check\", \"version\": \"%s\",\n  \"files\": [", ABUT_VERSION);
    for (int i = 0; i < n_files; i++) {
        if (i) fputs(", ", w.f);
        abut_json_string(w.f, files[i]);
    }
    fputs("],\n  \"methods\": [", w.f);
    for (int i = 0; i < n; i++) {
        const size_t all = s[i].hits + s[i].clears + s[i].false_hits + s[i].false_clears;
        fprintf(w.f, "%s\n    {\"method\": \"%s\", \"queries\": %zu, \"true_positive\": %zu, \"true_negative\": %zu, "
                "\"false_positive\": %zu, \"false_negative\": %zu, \"us_per_query\": %.3f}", i ? "," : "",
                abut_method_name(s[i].method), all, s[i].hits, s[i].clears, s[i].false_hits, s[i].false_clears,
                all ? 1e6 * s[i].seconds / (double)all : 0);
    }
    fputs("\n  ]\n}\n", w.f);
    return abut_out_close(&w, err);
}

/* points lo .. hi of a finding as a point, a line, a triangle or the faces of a tet; base is the OBJ index of point 0 */
static void put_element(FILE *f, size_t base, int lo, int hi)
{
    const size_t b = base + (size_t)lo;
    switch (hi - lo) {
    case 1: fprintf(f, "p %zu\n", b); break;
    case 2: fprintf(f, "l %zu %zu\n", b, b + 1); break;
    case 3: fprintf(f, "f %zu %zu %zu\n", b, b + 1, b + 2); break;
    default:
        fprintf(f, "f %zu %zu %zu\nf %zu %zu %zu\nf %zu %zu %zu\nf %zu %zu %zu\n", b, b + 2, b + 1, b, b + 1, b + 3, b + 1,
                b + 2, b + 3, b + 2, b, b + 3);
    }
}

abut_status abut_verdict_obj(const abut_verdict *v, const char *path, abut_err *err)
{
    abut_out_file w;
    const abut_status rc = open_file(&w, path, v->cli, err);
    if (rc) return rc;
    fprintf(w.f, "# ccd-check: %zu findings\n", v->n);
    size_t base = 1;
    for (size_t i = 0; i < v->n; i++) {
        const abut_finding *const d = &v->finding[i];
        int split;
        const int n = abut_hit_nodes(d->hit.kind, &split);
        fprintf(w.f, "o hit-%zu\n# %s, toi %.17g\n", i + 1, abut_hit_name(d->hit.kind), d->hit.t_lo);
        for (int k = 0; k < n; k++) fprintf(w.f, "v %.17g %.17g %.17g\n", d->x[k][0], d->x[k][1], d->x[k][2]);
        if (d->hit.kind == ABUT_HIT_FOLD) {   /* the common edge with each apex */
            fprintf(w.f, "f %zu %zu %zu\nf %zu %zu %zu\n", base, base + 1, base + 2, base, base + 1, base + 3);
        } else {
            put_element(w.f, base, 0, split);
            if (split < n) put_element(w.f, base, split, n);
        }
        base += (size_t)n;
    }
    return abut_out_close(&w, err);
}
