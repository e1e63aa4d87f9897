#include "tools/strain-limit/audit.h"

#include "base/words.h"
#include "formats/result/object_parts.h"
#include "formats/result/out_file.h"
#include "model/naming.h"
#include "model/tets.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_REMARKS = 20, ELEMENT = 160 };

/* An extreme stretch and its element. */
typedef struct extreme {
    double value;
    char kind;              /* 't' tet, 's' shell, 0 none */
    int32_t row;
} extreme;

const char *abut_strain_shell_name(const abut_stream *s, int32_t shell, char *buf, size_t size)
{
    char object[64];
    const int32_t *n = s->model.shell + 3 * (size_t)shell;
    abut_text_row(&s->model_set, "object/name", s->model.body[n[0]], object, sizeof object);
    const abut_model *m = &s->model;
    snprintf(buf, size, "shell %d of '%s' (nodes %d, %d, %d)", abut_element_number(m, m->shell, 3, shell), object,
             abut_node_number(m, n[0]), abut_node_number(m, n[1]), abut_node_number(m, n[2]));
    return buf;
}

static const char *describe(const abut_stream *s, extreme e, char *buf, size_t size)
{
    char object[64];
    if (e.kind == 's') return abut_strain_shell_name(s, e.row, buf, size);
    const int32_t *n = s->model.tet + 4 * (size_t)e.row;
    abut_text_row(&s->model_set, "object/name", s->model.body[n[0]], object, sizeof object);
    const abut_model *m = &s->model;
    snprintf(buf, size, "tet %d of '%s' (nodes %d, %d, %d, %d)", abut_element_number(m, m->tet, 4, e.row), object,
             abut_node_number(m, n[0]), abut_node_number(m, n[1]), abut_node_number(m, n[2]), abut_node_number(m, n[3]));
    return buf;
}

static void remark(const abut_strain_audit *a, const abut_stream *s, extreme e, const char *side, double limit)
{
    char element[ELEMENT];
    if (a->outside > MOST_REMARKS) return;
    abut_cli_say(abut_stream_cli(s), "step %" PRId64 ", %g s: stretch %.6g of %s is %s the limit %.9g", s->head.step,
                 s->head.time, e.value, describe(s, e, element, sizeof element), side, limit);
}

/* ---- JSON: one object per frame, one line each ---- */

static void write_extreme(FILE *f, const abut_stream *s, const char *key, extreme e)
{
    char element[ELEMENT];
    fprintf(f, ", \"%s\": %.17g, \"%s_element\": ", key, e.value, key);
    if (e.kind) abut_json_string(f, describe(s, e, element, sizeof element));
    else fputs("null", f);
}

static void write_shells(FILE *f, const abut_shell_span *s)
{
    fprintf(f, ", \"shells\": {\"count\": %d, \"max\": %.17g, \"max_row\": %d, \"min\": %.17g, \"min_row\": %d, \"room\": %.17g, "
            "\"room_row\": %d, \"outside\": %d, \"histogram\": {\"from\": %.17g, \"width\": %.17g, \"counts\": [", s->n, s->max,
            s->max_row, s->min, s->min_row, s->room, s->room_row, s->outside, s->from, s->width);
    for (int k = 0; k < ABUT_SPAN_BINS; k++) fprintf(f, "%s%" PRId64, k ? ", " : "", s->bin[k]);
    fputs("]}", f);
    if (s->strain_row[0] >= 0)
        fprintf(f, ", \"strain_share\": {\"warp\": %.17g, \"weft\": %.17g, \"shear\": %.17g}", s->strain[0], s->strain[1],
                s->strain[2]);
    fputc('}', f);
}

static abut_status write_json(const abut_strain_audit *a, const abut_stream *s, const extreme e[2], const abut_shell_span *span,
                              int outside, abut_err *err)
{
    if (!a->json) return ABUT_OK;
    fprintf(a->json, "{\"step\": %" PRId64 ", \"time\": %.17g", s->head.step, s->head.time);
    write_extreme(a->json, s, "max", e[1]);
    write_extreme(a->json, s, "min", e[0]);
    fprintf(a->json, ", \"outside\": %s", outside ? "true" : "false");
    if (span->n) write_shells(a->json, span);
    fputs("}\n", a->json);
    return ferror(a->json) ? abut_fail(err, ABUT_E_IO, "%s: %s", a->json_name, strerror(errno)) : ABUT_OK;
}

/* ---- one frame ---- */

/* Smallest and largest stretch of tets and chosen shells. */
static void join(const abut_stretch *tets, const abut_shell_span *shells, extreme e[2])
{
    e[0] = (extreme){ tets->min, tets->min_tet < 0 ? 0 : 't', tets->min_tet };
    e[1] = (extreme){ tets->max, tets->max_tet < 0 ? 0 : 't', tets->max_tet };
    if (shells->n && (!e[0].kind || shells->min < e[0].value)) e[0] = (extreme){ shells->min, 's', shells->min_row };
    if (shells->n && (!e[1].kind || shells->max > e[1].value)) e[1] = (extreme){ shells->max, 's', shells->max_row };
}

/* Remarks on shells beyond the limits of the model, in addition to the requested limits. */
static void remark_shells(const abut_strain_audit *a, const abut_stream *s, const abut_shell_span *span)
{
    static const char *const along[] = { "along warp", "along weft", "in shear" };
    char element[ELEMENT];
    if (a->outside > MOST_REMARKS) return;
    if (!(span->room > 0)) {
        const double *r = a->rows + 4 * (size_t)span->room_row;
        double F[6], sigma[2];
        abut_shell_deformation(&a->codim, s->frame.x, span->room_row, F, sigma);
        const int above = r[ABUT_STRETCH_HIGH] > 0 && fmax(sigma[0], sigma[1]) >= r[ABUT_STRETCH_HIGH];
        remark(a, s, (extreme){ above ? fmax(sigma[0], sigma[1]) : fmin(sigma[0], sigma[1]), 's', span->room_row },
               above ? "at or above" : "at or below", r[above ? ABUT_STRETCH_HIGH : ABUT_STRETCH_LOW]);
    }
    for (int k = 0; k < 3; k++)
        if (span->strain_row[k] >= 0 && !(span->strain[k] < 1))
            abut_cli_say(abut_stream_cli(s), "step %" PRId64 ", %g s: strain %s of %s is %.6g times its limit", s->head.step,
                         s->head.time, along[k], abut_strain_shell_name(s, span->strain_row[k], element, sizeof element),
                         span->strain[k]);
}

/* *tets: those of order 2 and more, too, by the numbers of the stream. */
static void span_high(const abut_strain_audit *a, const double *x, abut_stretch *tets)
{
    const int32_t *number = a->ordered ? a->ordered->number : NULL;
    if (number && tets->min_tet >= 0) tets->min_tet = number[tets->min_tet], tets->max_tet = number[tets->max_tet];
    for (const abut_elastic_high *e = a->high; e < a->high + 3; e++)
        for (int32_t t = 0; t < e->n; t++) {
            double least, largest;
            abut_elastic_high_stretch(e, x, t, &least, &largest);
            if (tets->min_tet < 0 || least < tets->min) tets->min = least, tets->min_tet = number[e->first + t];
            if (tets->max_tet < 0 || largest > tets->max) tets->max = largest, tets->max_tet = number[e->first + t];
        }
}

abut_status abut_strain_audit_frame(abut_strain_audit *a, const abut_stream *s, abut_err *err)
{
    abut_stretch tets = { 1, 1, -1, -1 };
    abut_shell_span span;
    extreme e[2];
    abut_status rc = a->all ? abut_stretch_find(&a->elastic, s->frame.x, &tets, &a->scratch, err) : ABUT_OK;
    if (rc) return rc;
    if (a->all) span_high(a, s->frame.x, &tets);
    const double half = a->limits.upper > 1 ? 1.25 * (a->limits.upper - 1) : 0.25;
    abut_shell_span_find(&a->codim, s->frame.x, a->rows, a->all ? NULL : a->chosen, half, &span);
    join(&tets, &span, e);
    const int above = e[1].kind == 't' && e[1].value > a->limits.upper;     /* false for a limit that is NAN */
    const int below = e[0].kind == 't' && e[0].value < a->limits.lower;
    const int outside = above || below || span.outside > 0;
    a->outside += outside;
    if (above) remark(a, s, e[1], "above", a->limits.upper);
    if (below) remark(a, s, e[0], "below", a->limits.lower);
    if (span.outside) remark_shells(a, s, &span);
    if (outside && a->outside == MOST_REMARKS)
        abut_cli_say(abut_stream_cli(s), "further frames outside the limits are only counted");
    if (a->frames == 0 || e[1].value > a->max) a->max = e[1].value, a->max_step = s->head.step;
    if (a->frames == 0 || e[0].value < a->min) a->min = e[0].value, a->min_step = s->head.step;
    if (a->frames == 0 || span.room < a->room) a->room = span.room;
    a->frames++;
    abut_cli_progress(abut_stream_cli(s), "step %" PRId64 ": stretch %.4g to %.4g", s->head.step, e[0].value, e[1].value);
    return write_json(a, s, e, &span, outside, err);
}

static void clear_elements(abut_strain_audit *a)
{
    abut_elastic_clear(&a->elastic);
    for (int k = 0; k < 3; k++) abut_elastic_high_clear(&a->high[k]);
    abut_reordered_free(&a->ordered);
    abut_codim_clear(&a->codim);
}

/* Fails if a chosen object has no shells, which alone have limits. */
static abut_status expect_shells(const abut_strain_audit *a, const abut_stream *s, abut_err *err)
{
    const abut_model *m = &s->model;
    for (int32_t o = 0; o < m->no && !a->all; o++) {
        int found = !a->chosen[o];
        for (int32_t k = 0; k < m->nsh && !found; k++) found = m->body[m->shell[3 * (size_t)k]] == o;
        if (found) continue;
        char name[64];
        abut_text_row(&s->model_set, "object/name", o, name, sizeof name);
        return abut_fail(err, ABUT_E_ARG, "--object %s: it has no shells, which alone have limits", name);
    }
    return ABUT_OK;
}

abut_status abut_strain_audit_model(abut_strain_audit *a, const abut_stream *s, abut_err *err)
{
    const abut_model *m = &s->model;
    clear_elements(a);
    free(a->rows), free(a->chosen);
    a->all = a->objects->n == 0;
    a->rows = malloc((4 * (size_t)m->nsh + 1) * sizeof *a->rows);
    a->chosen = malloc((size_t)m->no + 1);
    if (!a->rows || !a->chosen) return abut_fail(err, ABUT_E_NOMEM, "no memory for the limits of %d shells", m->nsh);
    abut_status rc = abut_objects_choose(&s->model_set, m->no, a->objects->item, a->objects->n, a->chosen, err);
    if (!rc) rc = expect_shells(a, s, err);
    if (rc) return rc;
    const abut_strain_limits *l = &a->limits;
    abut_shell_limits(m, a->chosen, l->lower, l->lower_begins, l->upper_begins, l->upper, a->rows);
    if (m->nt + m->nsh == 0)
        abut_cli_say(abut_stream_cli(s), "this model has neither tetrahedra nor shells: nothing in it has a stretch");
    if (abut_model_order(m) > 1) rc = abut_reordered_new(&a->ordered, m, err);
    if (!rc) rc = abut_elastic_init(&a->elastic, a->ordered ? &a->ordered->model : m, err);
    for (int k = 0; k < 3 && a->ordered && !rc; k++)
        rc = abut_elastic_high_init(&a->high[k], &a->ordered->model, k + 2, a->ordered->number, err);
    return rc ? rc : abut_codim_init(&a->codim, m, err);
}

void abut_strain_audit_say(const abut_strain_audit *a, abut_cli *cli)
{
    if (a->frames == 0) {
        abut_cli_say(cli, "the stream has no frames");
        return;
    }
    abut_cli_say(
        cli, "%" PRId64 " frame%s: stretch %.6g (step %" PRId64 ") to %.6g (step %" PRId64 "); %" PRId64 " outside the limits",
        a->frames, abut_s(a->frames), a->min, a->min_step, a->max, a->max_step, a->outside);
    if (a->room < 0.9999) abut_cli_say(cli, "least room before a limit: %.3g of a barrier's width", a->room);
}

void abut_strain_audit_clear(abut_strain_audit *a)
{
    clear_elements(a);
    abut_arena_clear(&a->scratch);
    free(a->rows), free(a->chosen);
}
