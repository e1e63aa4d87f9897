#include "tools/ccd-check/verdict.h"

#include "base/words.h"
#include "formats/result/out_file.h"
#include "model/naming.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const method_names[] = { [ABUT_JUDGE_EXACT] = "exact", [ABUT_JUDGE_TIGHT] = "tight",
                                            [ABUT_JUDGE_ADDITIVE] = "additive" };

const char *abut_method_name(abut_judge_method m) { return method_names[m]; }

int abut_method_parse(const char *text, abut_judge_method *m)
{
    for (int i = 0; i < 3; i++)
        if (!strcmp(text, method_names[i])) {
            *m = (abut_judge_method)i;
            return 1;
        }
    return 0;
}

const char *abut_separation_json(double min_sep, char *buf, size_t size)
{
    if (min_sep < 0) snprintf(buf, size, "\"thickness\"");
    else snprintf(buf, size, "%.17g", min_sep);
    return buf;
}

int abut_verdict_done(const abut_verdict *v) { return v->collisions > 0 && !v->all; }

/* Writes the name of a point's object, without quotes; "" if it has none. */
static void name_object(const abut_model *m, int32_t point, char *name, size_t size)
{
    const int32_t node = point < m->nv ? point : abut_model_contact_node(m, point - m->nv);
    abut_text_line(&m->object_name, m->body[node], name, size);
    if (!strcmp(name, "?")) *name = 0;
}

abut_status abut_verdict_model(abut_verdict *v, const abut_model *m, abut_err *err)
{
    ABUT_FREE(v->node_number, v->tet_number);
    v->model = NULL;
    if (!ABUT_ARRAYS(ABUT_ITEMS(v->node_number, m->nv), ABUT_ITEMS(v->tet_number, m->nt)))
        return abut_fail(err, ABUT_E_NOMEM, "numbers of %d nodes", m->nv);
    abut_status rc = abut_node_numbers(m, v->node_number, err);
    if (!rc) rc = abut_element_numbers(m, m->tet, 4, m->nt, v->tet_number, err);
    if (!rc) v->model = m;
    return rc;
}

/* Names both primitives of a finding of n points, the first `split` of them those of the first primitive. */
static void name_primitives(const abut_model *m, int n, int split, abut_finding *f)
{
    const abut_hit *hit = &f->hit;
    name_object(m, hit->node[0], f->object[0], sizeof f->object[0]);
    if (split < n) name_object(m, hit->node[split], f->object[1], sizeof f->object[1]);
    if (hit->kind == ABUT_HIT_PLANE) {
        char name[ABUT_OBJECT_WORDS];
        abut_half_space_words(m, hit->item, f->plane);
        snprintf(f->object[1], sizeof f->object[1], "%.*s", (int)sizeof f->object[1] - 1,
                 abut_half_space_name(m, hit->item, name));
    }
    if (hit->kind == ABUT_HIT_POINT_BODY) abut_text_line(&m->object_name, hit->item, f->object[1], sizeof f->object[1]);
}

abut_finding abut_finding_make(const abut_verdict *v, const abut_hit *hit, abut_place from, abut_place to, const double *x0,
                               const double *x1)
{
    const abut_model *m = v->model;
    abut_finding f = { .hit = *hit, .from = from, .to = to, .item = hit->item };
    int split;
    const int n = abut_hit_nodes(hit->kind, &split);
    f.vertices = m && hit->node[0] >= m->nv;
    for (int i = 0; i < n; i++) {
        f.number[i] = !m ? hit->node[i] : f.vertices ? hit->node[i] - m->nv : v->node_number[hit->node[i]];
        for (int k = 0; k < 3; k++) {
            const size_t at = 3 * (size_t)hit->node[i] + (size_t)k;
            f.x[i][k] = (1 - hit->t_lo) * x0[at] + hit->t_lo * x1[at];
        }
    }
    if (m && hit->kind == ABUT_HIT_INVERTED) f.item = v->tet_number[hit->item];
    if (m) name_primitives(m, n, split, &f);
    return f;
}

static abut_status keep(abut_verdict *v, const abut_finding *f, abut_err *err)
{
    if (!ABUT_GROW(v->finding, v->n + 1, v->cap)) return abut_fail(err, ABUT_E_NOMEM, "a list of %zu collisions", v->n + 1);
    v->finding[v->n++] = *f;
    return ABUT_OK;
}

static int print_place(char *s, size_t size, const abut_place *p)
{
    return p->file ? snprintf(s, size, "%s", p->file)
                   : snprintf(s, size, "%sstep %lld (%.6g s)", p->pending ? "the PENDING candidate of the step after " : "",
                              (long long)p->step, p->time);
}

static int print_nodes(char *s, size_t size, const abut_finding *f, int lo, int hi, int which)
{
    int n = 0;
    for (int i = lo; i < hi && n < (int)size; i++)
        n += snprintf(s + n, size - (size_t)n, "%s%d", i > lo ? " " : "", f->number[i]);
    if (f->object[which][0] && n < (int)size) n += snprintf(s + n, size - (size_t)n, " of %s", f->object[which]);
    return n;
}

static void say(const abut_verdict *v, const abut_finding *f)
{
    char where[600], from[256], first[160], second[160] = "";
    int split;
    const int n = abut_hit_nodes(f->hit.kind, &split);
    print_place(from, sizeof from, &f->from);
    const int moving = f->from.step != f->to.step || f->from.file != f->to.file || f->from.pending != f->to.pending;
    if (moving) {
        char to[256];
        print_place(to, sizeof to, &f->to);
        char leg[48] = "";
        if (f->to.leg) snprintf(leg, sizeof leg, ", leg %lld of the path", (long long)f->to.leg);
        snprintf(where, sizeof where, "%s to %s%s, %.9g of the way", from, to, leg, f->hit.t_lo);
    } else {
        snprintf(where, sizeof where, "%s", from);
    }
    print_nodes(first, sizeof first, f, 0, split, 0);
    if (split < n) print_nodes(second, sizeof second, f, split, n, 1);
    if (f->hit.kind == ABUT_HIT_PLANE) snprintf(second, sizeof second, "%s", f->plane);
    if (f->hit.kind == ABUT_HIT_POINT_BODY) snprintf(second, sizeof second, "the inside of %s", f->object[1]);
    if (f->hit.kind == ABUT_HIT_INVERTED) snprintf(second, sizeof second, "tet %d", f->item);
    abut_cli_say(v->cli, "%s: %s: %s %s%s%s, at (%.9g, %.9g, %.9g)", where, abut_hit_name(f->hit.kind),
                 f->vertices ? "vertices" : "nodes", first,
                 !second[0] ? "" : f->hit.kind == ABUT_HIT_INVERTED ? ", " : " and ", second, f->x[0][0], f->x[0][1], f->x[0][2]);
}

abut_status abut_verdict_add(abut_verdict *v, const abut_hits *hits, abut_place from, abut_place to, const double *x0,
                             const double *x1, abut_err *err)
{
    v->pairs += hits->pairs;
    for (size_t i = 0; i < hits->n; i++) {
        if (abut_verdict_done(v)) break;
        const abut_finding f = abut_finding_make(v, &hits->hit[i], from, to, x0, x1);
        const abut_status rc = keep(v, &f, err);
        if (rc) return rc;
        v->collisions++;
        say(v, &f);
    }
    return ABUT_OK;
}

/* ---- files ---- */

static abut_status open_file(abut_out_file *w, const char *path, const abut_cli *cli, abut_err *err)
{
    const abut_status rc = abut_out_open(w, path, cli->no_clobber, err);
    w->synced = !cli->no_sync;
    return rc;
}

static void put_place(FILE *f, const char *key, const abut_place *p)
{
    fprintf(f, ", \"%s\": ", key);
    if (p->file) abut_json_string(f, p->file);
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
    const char *second = d->hit.kind == ABUT_HIT_PLANE ? "half_space" : d->hit.kind == ABUT_HIT_POINT_BODY ? "inside_of" : NULL;
    if (second) {
        fprintf(f, ", \"%s\": ", second);
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

/* Writes a JSON object: method, counts, and the collisions with kind, places, nodes, objects, time of impact, positions. */
static abut_status write_json(const abut_verdict *v, const char *path, abut_err *err)
{
    abut_out_file w;
    const abut_status rc = open_file(&w, path, v->cli, err);
    if (rc) return rc;
    char sep[40];
    fprintf(w.f, "{\n  \"tool\": \"ccd-check\", \"version\": \"%s\",\n  \"method\": \"%s\", \"min_separation\": %s,\n",
            ABUT_VERSION, abut_method_name(v->opts.method), abut_separation_json(v->opts.min_sep, sep, sizeof sep));
    fprintf(w.f, "  \"configurations\": %lld, \"pending\": %lld, \"not_judged\": %lld,\n", (long long)v->frames,
            (long long)v->pending, (long long)v->not_judged);
    fprintf(w.f, "  \"motions\": %lld, \"pairs\": %zu, \"excluded_pairs\": %lld, \"inverted_allowed\": %lld,\n",
            (long long)v->motions,
            v->pairs, (long long)v->excluded, (long long)v->inverted_allowed);
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

/* Writes points lo .. hi of a finding as a point, a line, a triangle or the faces of a tet; base: OBJ index of point 0. */
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

/* Writes the primitives of all findings at their times of impact as a Wavefront OBJ, one object a finding. */
static abut_status write_obj(const abut_verdict *v, const char *path, abut_err *err)
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

/* ---- the end ---- */

/* Says how far the curved boundary penetrates: it is no finding, because contact acts on flat triangles. */
static void say_curved(const abut_verdict *v)
{
    char where[256];
    print_place(where, sizeof where, &v->deepest_at);
    if (!v->deepest.samples) abut_cli_say(v->cli, "--curved %d: no curved tets", v->curved);
    else if (!(v->deepest.depth > 0))
        abut_cli_say(v->cli, "--curved %d: the true boundary is in nothing, %zu sample%s of a frame", v->curved,
                     v->deepest.samples, abut_s(v->deepest.samples));
    else
        abut_cli_say(v->cli, "--curved %d: the true boundary is in what it touches by up to %.6g m: %s, %s, at (%.6g, %.6g, "
                     "%.6g)", v->curved, v->deepest.depth, where, v->deepest_words, v->deepest.at[0], v->deepest.at[1],
                     v->deepest.at[2]);
}

/* Says what was not judged. */
static void say_left_out(const abut_verdict *v)
{
    if (v->contact_off)
        abut_cli_say(v->cli, "contact is off in this scene: what passes through what was not judged, inverted tets were");
    if (v->bodies_pass)
        abut_cli_say(v->cli, "contact.bodies is off in this scene: bodies were judged against obstacles and half-spaces, not "
                     "against bodies");
    if (v->excluded)
        abut_cli_say(v->cli, "%lld pair%s of objects that do not meet (groups, joints) left out", (long long)v->excluded,
                     abut_s(v->excluded));
    if (v->inverted_allowed)
        abut_cli_say(v->cli, "%lld inverted tet%s over all frames, which their materials allow", (long long)v->inverted_allowed,
                     abut_s(v->inverted_allowed));
    if (v->not_judged)
        abut_cli_say(v->cli, "%lld %s not judged (--all judges them)", (long long)v->not_judged,
                     abut_plural(v->not_judged, "frame after the first collision was", "frames after the first collision were"));
}

static void say_gap(const abut_verdict *v)
{
    char where[256];
    if (!isfinite(v->gap.gap)) {
        abut_cli_say(v->cli, "smallest gap: above dhat in every frame");
        return;
    }
    print_place(where, sizeof where, &v->gap_at);
    abut_cli_say(v->cli, "smallest gap %.9g m: %s, %s of %s %d of %s", v->gap.gap, where, abut_hit_name(v->gap.at.kind),
                 v->gap_found.vertices ? "vertex" : "node", v->gap_found.number[0], v->gap_found.object[0]);
}

abut_status abut_verdict_end(abut_verdict *v, abut_err *err)
{
    char pending[80] = "";
    say_left_out(v);
    if (v->pending) snprintf(pending, sizeof pending, " (%lld of them PENDING candidates)", (long long)v->pending);
    abut_cli_say(v->cli, "%lld configuration%s%s, %lld motion%s, %zu pair%s, method %s: %s", (long long)v->frames,
                 abut_s(v->frames), pending, (long long)v->motions, abut_s(v->motions), v->pairs, abut_s(v->pairs),
                 abut_method_name(v->opts.method),
                 v->collisions == 0 ? "no collision" : v->all ? "collisions" : "a collision");
    if (v->want_gap) say_gap(v);
    if (v->curved) say_curved(v);
    abut_status rc = v->json ? write_json(v, v->json, err) : ABUT_OK;
    if (!rc && v->obj) rc = write_obj(v, v->obj, err);
    return rc;
}

void abut_verdict_clear(abut_verdict *v)
{
    ABUT_FREE(v->finding, v->node_number, v->tet_number);
    v->finding = NULL;
    v->node_number = v->tet_number = NULL;
    v->n = v->cap = 0;
}
