#include "tools/ccd-check/verdict.h"
#include "base/words.h"
#include "model/naming.h"
#include "tools/ccd-check/files.h"

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

/* The name without quotes of a point's object; "" without one. */
static void name_object(const abut_model *m, int32_t point, char *name, size_t size)
{
    const int32_t node = point < m->nv ? point : abut_model_contact_node(m, point - m->nv);
    abut_text_line(&m->object_name, m->body[node], name, size);
    if (!strcmp(name, "?")) *name = 0;
}

abut_status abut_verdict_model(abut_verdict *v, const abut_model *m, abut_err *err)
{
    free(v->node_number);
    free(v->tet_number);
    v->model = NULL;
    v->node_number = malloc(((size_t)m->nv + 1) * sizeof *v->node_number);
    v->tet_number = malloc(((size_t)m->nt + 1) * sizeof *v->tet_number);
    if (!v->node_number || !v->tet_number) return abut_fail(err, ABUT_E_NOMEM, "numbers of %d nodes", m->nv);
    abut_status rc = abut_node_numbers(m, v->node_number, err);
    if (!rc) rc = abut_element_numbers(m, m->tet, 4, m->nt, v->tet_number, err);
    if (!rc) v->model = m;
    return rc;
}

abut_finding abut_finding_make(const abut_verdict *v, const abut_hit *hit, abut_place from, abut_place to, const double *x0,
                               const double *x1)
{
    const abut_model *m = v->model;
    abut_finding f = { .hit = *hit, .from = from, .to = to, .item = hit->item };
    int first;
    const int n = abut_hit_nodes(hit->kind, &first);
    f.vertices = m && hit->node[0] >= m->nv;
    for (int i = 0; i < n; i++) {
        f.number[i] = !m ? hit->node[i] : f.vertices ? hit->node[i] - m->nv : v->node_number[hit->node[i]];
        for (int k = 0; k < 3; k++) {
            const size_t at = 3 * (size_t)hit->node[i] + (size_t)k;
            f.x[i][k] = (1 - hit->t_lo) * x0[at] + hit->t_lo * x1[at];
        }
    }
    if (!m) return f;
    name_object(m, hit->node[0], f.object[0], sizeof f.object[0]);
    if (first < n) name_object(m, hit->node[first], f.object[1], sizeof f.object[1]);
    if (hit->kind == ABUT_HIT_PLANE) {
        char name[ABUT_OBJECT_WORDS];
        abut_half_space_words(m, hit->item, f.plane);
        snprintf(f.object[1], sizeof f.object[1], "%.*s", (int)sizeof f.object[1] - 1, abut_half_space_name(m, hit->item, name));
    }
    if (hit->kind == ABUT_HIT_POINT_BODY) abut_text_line(&m->object_name, hit->item, f.object[1], sizeof f.object[1]);
    if (hit->kind == ABUT_HIT_INVERTED) f.item = v->tet_number[hit->item];
    return f;
}

static abut_status keep(abut_verdict *v, const abut_finding *f, abut_err *err)
{
    if (v->n == v->cap) {
        const size_t cap = v->cap ? 2 * v->cap : 16;
        abut_finding *more = realloc(v->finding, cap * sizeof *more);
        if (!more) return abut_fail(err, ABUT_E_NOMEM, "a list of %zu collisions", cap);
        v->finding = more;
        v->cap = cap;
    }
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

/* Says how far the curved boundary penetrates, which contact does not resolve: no part of the answer. */
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

abut_status abut_verdict_end(abut_verdict *v, abut_err *err)
{
    if (v->contact_off)
        abut_cli_say(v->cli, "contact is off in this scene: what passes through what was not judged, inverted tets were");
    if (v->bodies_pass)
        abut_cli_say(v->cli, "contact.bodies is off in this scene: bodies were judged against obstacles and half-spaces, not "
                     "against bodies");
    if (v->inverted_allowed)
        abut_cli_say(v->cli, "%lld inverted tet%s over all frames, which their materials allow", (long long)v->inverted_allowed,
                     abut_s(v->inverted_allowed));
    char pending[80] = "";
    if (v->pending) snprintf(pending, sizeof pending, " (%lld of them PENDING candidates)", (long long)v->pending);
    if (v->not_judged)
        abut_cli_say(v->cli, "%lld %s not judged (--all judges them)",
                     (long long)v->not_judged,
                     abut_plural(v->not_judged, "frame after the first collision was", "frames after the first collision were"));
    abut_cli_say(v->cli, "%lld configuration%s%s, %lld motion%s, %zu pair%s, method %s: %s", (long long)v->frames,
                 abut_s(v->frames), pending, (long long)v->motions, abut_s(v->motions), v->pairs, abut_s(v->pairs),
                 abut_method_name(v->opts.method),
                 v->collisions == 0 ? "no collision" : v->all ? "collisions" : "a collision");
    if (v->want_gap && isfinite(v->gap.gap)) {
        char where[256];
        print_place(where, sizeof where, &v->gap_at);
        abut_cli_say(v->cli, "smallest gap %.9g m: %s, %s of %s %d of %s", v->gap.gap, where, abut_hit_name(v->gap.at.kind),
                     v->gap_found.vertices ? "vertex" : "node", v->gap_found.number[0], v->gap_found.object[0]);
    } else if (v->want_gap) {
        abut_cli_say(v->cli, "smallest gap: above dhat in every frame");
    }
    if (v->curved) say_curved(v);
    abut_status rc = v->json ? abut_verdict_json(v, v->json, err) : ABUT_OK;
    if (!rc && v->obj) rc = abut_verdict_obj(v, v->obj, err);
    return rc;
}

void abut_verdict_clear(abut_verdict *v)
{
    free(v->finding);
    free(v->node_number);
    free(v->tet_number);
    v->finding = NULL;
    v->node_number = v->tet_number = NULL;
    v->n = v->cap = 0;
}
