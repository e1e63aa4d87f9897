/* strain-limit: puts limits on the stretch of shells into a stream, judges every frame against limits, or projects the
 * last frame onto them. */
#include "base/words.h"
#include "energy/elastic_high.h"
#include "energy/stretch.h"
#include "formats/result/object_parts.h"
#include "formats/result/out_file.h"
#include "model/naming.h"
#include "model/tets.h"
#include "solve/step/barrier_stepper.h"
#include "tools/cli/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Requested limits; NAN: none. */
typedef struct limits {
    double lower, lower_begins, upper_begins, upper;
} limits;

typedef struct audit {
    limits limits;
    const abut_opt_list *objects;   /* names; none: all */
    FILE *json;                     /* NULL: none */
    const char *json_name;
    abut_reordered *ordered;        /* the model in the stream; NULL where all its tets have order 1 */
    abut_elastic elastic;           /* of it */
    abut_elastic_high high[3];      /* orders 2 to 4 */
    abut_codim codim;
    abut_arena scratch;
    double *rows;                   /* [4 nsh] limits of the shells */
    uint8_t *chosen;                /* [no] */
    int all;                        /* every object is chosen */
    double max, min;                /* over all frames, and when */
    int64_t max_step, min_step, frames, outside;
    double room;                    /* least over all frames */
} audit;

/* ---- the audit: remarks and output for every frame ---- */

enum { MOST_REMARKS = 20, ELEMENT = 160 };

/* An extreme stretch and its element. */
typedef struct extreme {
    double value;
    char kind;              /* 't' tet, 's' shell, 0 none */
    int32_t row;
} extreme;

/* "shell 7 (object 'cloth', nodes 1 2 3)". */
static const char *shell_name(const abut_stream *s, int32_t shell, char *buf, size_t size)
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
    if (e.kind == 's') return shell_name(s, e.row, buf, size);
    const int32_t *n = s->model.tet + 4 * (size_t)e.row;
    abut_text_row(&s->model_set, "object/name", s->model.body[n[0]], object, sizeof object);
    const abut_model *m = &s->model;
    snprintf(buf, size, "tet %d of '%s' (nodes %d, %d, %d, %d)", abut_element_number(m, m->tet, 4, e.row), object,
             abut_node_number(m, n[0]), abut_node_number(m, n[1]), abut_node_number(m, n[2]), abut_node_number(m, n[3]));
    return buf;
}

static void remark(const audit *a, const abut_stream *s, extreme e, const char *side, double limit)
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

static abut_status write_json(const audit *a, const abut_stream *s, const extreme e[2], const abut_shell_span *span,
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
static void remark_shells(const audit *a, const abut_stream *s, const abut_shell_span *span)
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
                         s->head.time, along[k], shell_name(s, span->strain_row[k], element, sizeof element), span->strain[k]);
}

/* *tets: those of order 2 and more, too, by the numbers of the stream. */
static void span_high(const audit *a, const double *x, abut_stretch *tets)
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

/* Judges the frame of the stream; says which elements are outside the limits. */
static abut_status audit_frame(audit *a, const abut_stream *s, abut_err *err)
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

static void clear_elements(audit *a)
{
    abut_elastic_clear(&a->elastic);
    for (int k = 0; k < 3; k++) abut_elastic_high_clear(&a->high[k]);
    abut_reordered_free(&a->ordered);
    abut_codim_clear(&a->codim);
}

/* Fails if a chosen object has no shells, which alone have limits. */
static abut_status expect_shells(const audit *a, const abut_stream *s, abut_err *err)
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

/* Prepares for a MODEL of the stream: its limits, and those of the options for the chosen objects.
 * Fails  ABUT_E_ARG a name is unknown; ABUT_E_NOMEM */
static abut_status audit_model(audit *a, const abut_stream *s, abut_err *err)
{
    const abut_model *m = &s->model;
    clear_elements(a);
    free(a->rows), free(a->chosen);
    a->all = a->objects->n == 0;
    if (!ABUT_ARRAYS(ABUT_ITEMS(a->rows, 4 * (size_t)m->nsh), ABUT_ITEMS(a->chosen, m->no)))
        return abut_fail(err, ABUT_E_NOMEM, "no memory for the limits of %d shells", m->nsh);
    abut_status rc = abut_objects_choose(&s->model_set, m->no, a->objects->item, a->objects->n, a->chosen, err);
    if (!rc) rc = expect_shells(a, s, err);
    if (rc) return rc;
    const limits *l = &a->limits;
    abut_shell_limits(m, a->chosen, l->lower, l->lower_begins, l->upper_begins, l->upper, a->rows);
    if (m->nt + m->nsh == 0)
        abut_cli_say(abut_stream_cli(s), "this model has neither tetrahedra nor shells: nothing in it has a stretch");
    if (abut_model_order(m) > 1) rc = abut_reordered_new(&a->ordered, m, err);
    if (!rc) rc = abut_elastic_init(&a->elastic, a->ordered ? &a->ordered->model : m, err);
    for (int k = 0; k < 3 && a->ordered && !rc; k++)
        rc = abut_elastic_high_init(&a->high[k], &a->ordered->model, k + 2, a->ordered->number, err);
    return rc ? rc : abut_codim_init(&a->codim, m, err);
}

/* Says a line about all frames. */
static void audit_say(const audit *a, abut_cli *cli)
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

static void audit_clear(audit *a)
{
    clear_elements(a);
    abut_arena_clear(&a->scratch);
    free(a->rows), free(a->chosen);
}

/* ---- --project: the last frame becomes its projection onto the limits, from the frame before ---- */

/* Zero-filled is empty. */
typedef struct split {
    abut_arrays model_set;      /* of the projection */
    abut_model model;
    abut_solve_options solve;
    abut_stepper stepper;
    abut_arrays last, held;     /* the last frame written, and the one that may be the stream's last */
    abut_frame_head last_head, held_head;
    int frames;                 /* of this model, read so far */
    int iterations;             /* of Newton */
    double moved;               /* m: furthest that the projection moved a node */
} split;

static void split_clear(split *p)
{
    abut_stepper_clear(&p->stepper);
    abut_arrays_clear(&p->model_set);
    abut_arrays_clear(&p->last);
    abut_arrays_clear(&p->held);
    *p = (split){ 0 };
}

/* Prepares for a MODEL of the stream; its limits have been set. */
static abut_status split_model(split *p, const abut_stream *s, abut_err *err)
{
    split_clear(p);
    abut_status rc = abut_split_model(&s->model_set, &p->model_set, err);
    if (!rc) rc = abut_model_view(&p->model_set, &p->model, err);
    p->solve = abut_solve_defaults;
    p->solve.names = &p->model_set;
    p->solve.linear.threads = abut_stream_cli(s)->threads;
    return rc ? rc : abut_stepper_init(&p->stepper, &p->model, NULL, &p->solve, err);
}

static double furthest(const double *a, const double *b, int32_t nv)
{
    double most = 0;
    for (size_t i = 0; i < 3 * (size_t)nv; i++) most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

static abut_status copy(const abut_arrays *from, abut_arrays *to, abut_err *err)
{
    abut_status rc = ABUT_OK;
    abut_arrays_clear(to);
    for (int i = 0; i < from->n && !rc; i++) rc = abut_arrays_copy(to, &from->a[i], err);
    return rc;
}

/* Writes the frame that is held, if there is one: before a MODEL follows it. */
static abut_status split_release(split *p, abut_stream *s, abut_err *err)
{
    return p->frames ? abut_stream_write_frame(s, &p->held_head, &p->held, err) : ABUT_OK;
}

/* Holds the frame of the stream back, and writes the one that was held. */
static abut_status split_frame(split *p, abut_stream *s, abut_err *err)
{
    const abut_status rc = split_release(p, s, err);
    if (rc) return rc;
    if (p->frames++) {
        const abut_arrays swap = p->last;
        p->last = p->held, p->held = swap;
        p->last_head = p->held_head;
    }
    p->held_head = s->head;
    return copy(&s->frame_set, &p->held, err);
}

/* Projects the held frame at the end of the stream; it becomes the stream's frame, as if it had been read.
 * Fails  ABUT_E_FORMAT there are not two frames, or they are not one time step apart */
static abut_status split_finish(split *p, abut_stream *s, abut_err *err)
{
    abut_report rep = { .lag_residual = -1, .min_gap = -1, .min_jacobian_tet = -1 };
    const abut_frame_head *a = &p->last_head, *b = &p->held_head;
    if (p->frames < 2)
        return abut_fail(err, ABUT_E_FORMAT, "%d frame%s: the projection needs a start and its next step", p->frames,
                         abut_s(p->frames));
    if (a->phase != ABUT_COMMITTED || b->phase != ABUT_COMMITTED || b->step != a->step + 1)
        return abut_fail(err, ABUT_E_FORMAT, "step %lld after step %lld: the projection needs two in a row, COMMITTED",
                         (long long)b->step, (long long)a->step);
    abut_arrays_clear(&s->frame_set);
    const abut_instant at = { a->step, a->time };
    abut_status rc = abut_split_project(&p->stepper, &p->last, at, &p->held, &s->frame_set, &rep, err);
    p->iterations = rep.newton;
    abut_report_clear(&rep);
    if (!rc) rc = abut_frame_view(&s->frame_set, &s->model, &s->frame, err);
    if (rc) return rc;
    s->head = *b;
    const abut_array *x = abut_arrays_find(&p->held, "node/x");
    p->moved = furthest(x->data, s->frame.x, s->model.nv);
    return ABUT_OK;
}

/* ---- the program ---- */

typedef struct request {
    int audit, project;
    abut_opt_list objects;
    audit judge;
    split split;
} request;

static abut_status check_limits(const limits *l, abut_err *err)
{
    if (l->upper <= 1) return abut_fail(err, ABUT_E_ARG, "--upper %g: a largest stretch is more than 1", l->upper);
    if (l->lower >= 1 || l->lower < 0)
        return abut_fail(err, ABUT_E_ARG, "--lower %g: a smallest stretch is at least 0 and less than 1", l->lower);
    if (!(l->upper_begins >= 1) || l->upper_begins >= l->upper)
        return abut_fail(err, ABUT_E_ARG, "--upper-threshold %g: expected at least 1 and less than the limit", l->upper_begins);
    if (!(l->lower_begins <= 1) || l->lower_begins <= l->lower)
        return abut_fail(err, ABUT_E_ARG, "--lower-threshold %g: expected at most 1 and more than the limit", l->lower_begins);
    return ABUT_OK;
}

static abut_status check_request(request *r, const abut_cli *cli, abut_err *err)
{
    limits *l = &r->judge.limits;
    const char *of = isnan(l->upper) && !isnan(l->upper_begins) ? "upper" :
                     isnan(l->lower) && !isnan(l->lower_begins) ? "lower" : NULL;
    if (of) return abut_fail(err, ABUT_E_ARG, "--%s-threshold: expected --%s, whose barrier begins there", of, of);
    if (r->audit && !(isnan(l->upper_begins) && isnan(l->lower_begins)))
        return abut_fail(err, ABUT_E_ARG, "--audit and --%s-threshold: an audit has limits, and no barrier before them",
                         isnan(l->upper_begins) ? "lower" : "upper");
    if (isnan(l->upper_begins)) l->upper_begins = 1;
    if (isnan(l->lower_begins)) l->lower_begins = 1;
    if (!r->audit && isnan(l->upper) && isnan(l->lower) && !r->project)
        return abut_fail(err, ABUT_E_ARG, "nothing to do: give --audit, or limits to set (--upper, --lower)");
    if (r->audit && r->project) return abut_fail(err, ABUT_E_ARG, "--audit and --project: expected one of them");
    if (!r->audit && !cli->out)
        return abut_fail(err, ABUT_E_ARG, "limits change the stream: expected -o FILE or a pipe, or --audit");
    return check_limits(l, err);
}

/* The limits of the request become the model's. */
static abut_status set_limits(const request *r, abut_stream *s, abut_err *err)
{
    if (s->model.nsh == 0)
        return abut_fail(err, ABUT_E_FORMAT, "the model has no shells: expected some, for only shells have limits");
    const size_t bytes = 4 * (size_t)s->model.nsh * sizeof(double);
    double *rows = abut_model_put(&s->model_set, "shell/stretch-limit", s->model.nsh, err);
    if (!rows) return err->code;
    memcpy(rows, r->judge.rows, bytes);
    abut_arrays_find(&s->model_set, "shell/stretch-limit")->flags |= ABUT_A_REQUIRED;
    return abut_model_view(&s->model_set, &s->model, err);
}

/* Whether a shell of the model has a limit, of its own or of its fabric. */
static int has_limits(const abut_model *m)
{
    for (size_t k = 0; m->shell_limit && k < 4 * (size_t)m->nsh; k++)
        if (m->shell_limit[k] > 0) return 1;
    return m->mat_strain != NULL;
}

static abut_status take_model(request *r, abut_stream *s, abut_err *err)
{
    abut_status rc = split_release(&r->split, s, err);
    if (!rc) rc = audit_model(&r->judge, s, err);
    if (rc || r->audit) return rc;
    rc = set_limits(r, s, err);
    if (!rc) rc = audit_model(&r->judge, s, err);    /* of the new arrays */
    if (!rc && r->project && !has_limits(&s->model))
        rc = abut_fail(err, ABUT_E_ARG, "--project: no shell of the stream has a limit: expected --upper or --lower");
    return rc || !r->project ? rc : split_model(&r->split, s, err);
}

/* Judged, or held against the limits that the stream has from now on. */
static abut_status look(request *r, abut_stream *s, abut_err *err)
{
    const int64_t outside = r->judge.outside;
    const abut_status rc = audit_frame(&r->judge, s, err);
    if (rc || r->audit || r->judge.outside == outside) return rc;
    return abut_fail(err, ABUT_E_GEOM, "step %lld is beyond the limits: no simulation goes on from there",
                     (long long)s->head.step);
}

static abut_status take_frame(request *r, abut_stream *s, abut_err *err)
{
    if (r->project) return split_frame(&r->split, s, err);
    const abut_status rc = look(r, s, err);
    return rc ? rc : abut_stream_write(s, err);
}

static abut_status finish(request *r, abut_stream *s, abut_err *err)
{
    abut_status rc = ABUT_OK;
    if (r->project) {
        rc = split_finish(&r->split, s, err);
        if (!rc) rc = look(r, s, err);
        if (!rc) rc = abut_stream_write_frame(s, &s->head, &s->frame_set, err);
    }
    return rc ? rc : abut_stream_close(s, err);
}

/* Writes the options that shape the result, as JSON; NULL for an audit, which changes nothing. */
static const char *options_json(const request *r, char *buf, size_t size)
{
    const limits *l = &r->judge.limits;
    if (r->audit) return NULL;
    int n = snprintf(buf, size, "{\"project\": %s", r->project ? "true" : "false");
    if (!isnan(l->upper)) n += snprintf(buf + n, size - (size_t)n, ", \"upper\": [%.17g, %.17g]", l->upper_begins, l->upper);
    if (!isnan(l->lower)) n += snprintf(buf + n, size - (size_t)n, ", \"lower\": [%.17g, %.17g]", l->lower, l->lower_begins);
    snprintf(buf + n, size - (size_t)n, ", \"objects\": %d}", r->objects.n);
    return buf;
}

static abut_status run(request *r, abut_stream *s, abut_cli *cli, abut_err *err)
{
    char options[256];
    abut_status rc = abut_stream_open(s, cli, options_json(r, options, sizeof options), err);
    while (!rc && !(rc = abut_stream_next(s, err)) && s->item != ABUT_ITEM_END) {
        rc = s->item == ABUT_ITEM_MODEL ? take_model(r, s, err) : take_frame(r, s, err);
        if (!rc && s->item == ABUT_ITEM_MODEL) rc = abut_stream_write(s, err);
    }
    return rc ? rc : finish(r, s, err);
}

static void summarise(const request *r, abut_cli *cli)
{
    audit_say(&r->judge, cli);
    if (r->project)
        abut_cli_say(cli, "projected in %d Newton iteration%s; a node was moved by up to %.3g m", r->split.iterations,
                     abut_s(r->split.iterations), r->split.moved);
}

int main(int argc, char **argv)
{
    static request r = { .judge = { .limits = { NAN, NAN, NAN, NAN } } };
    limits *l = &r.judge.limits;
    const abut_opt opts[] = {
        { 0, "audit", ABUT_OPT_FLAG, &r.audit, NULL, "judge every frame; exit 1 when a stretch is outside a limit, of the "
          "stream or of this command line" },
        { 0, "project", ABUT_OPT_FLAG, &r.project, NULL, "for comparison: the last frame is the predictor of a step without "
          "limits; project it onto them, from the frame before" },
        { 0, "upper", ABUT_OPT_REAL, &l->upper, "S", "largest stretch, above 1: 1.06 is 6 % longer. Without --audit the limits "
          "become those of the stream, which step keeps" },
        { 0, "lower", ABUT_OPT_REAL, &l->lower, "S", "smallest stretch, below 1" },
        { 0, "upper-threshold", ABUT_OPT_REAL, &l->upper_begins, "S",
          "--upper: where its barrier begins (default 1)" },
        { 0, "lower-threshold", ABUT_OPT_REAL, &l->lower_begins, "S", "--lower: where its barrier begins (default 1)" },
        { 0, "object", ABUT_OPT_LIST, &r.objects, "NAME", "only the shells of this object (may be given again)" },
        { 0, "json", ABUT_OPT_OUTPUT, &r.judge.json_name, "FILE", "write the extremes of each frame, and a histogram of the "
          "stretches of shells, as one JSON object a line" },
        { 0 }
    };
    abut_cli cli;
    abut_err err = { 0 };
    abut_cli_begin(&cli, argc, argv, "Limits how far shells are stretched, or finds how far elements are.", "[FILE]", opts,
                   ABUT_CLI_IN | ABUT_CLI_OUT_MAY);
    abut_stream s = { 0 };
    r.judge.objects = &r.objects;
    abut_status rc = check_request(&r, &cli, &err);
    if (!rc && r.judge.json_name && !(r.judge.json = abut_cli_create(&cli, r.judge.json_name, &err))) rc = err.code;
    if (!rc) rc = run(&r, &s, &cli, &err);
    if (r.judge.json && fclose(r.judge.json) && !rc)
        rc = abut_fail(&err, ABUT_E_IO, "%s: %s", r.judge.json_name, strerror(errno));
    if (!rc) summarise(&r, &cli);
    audit_clear(&r.judge);
    split_clear(&r.split);
    abut_stream_clear(&s);
    return abut_cli_end(&cli, r.audit && r.judge.outside > 0, rc ? &err : NULL);
}
