#include "formats/result/shots.h"

#include "base/words.h"
#include "formats/result/surfaces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which frames ---- */

enum { FRAME_MAX = 1 << 30 };

/* Reads a whole number at *s, if there is one (*given), and moves *s past it.  Returns 0 if it is out of range. */
static int number(const char **s, int32_t *v, int *given)
{
    char *end;
    *given = **s == '-' || (**s >= '0' && **s <= '9');
    if (!*given) return 1;
    const long n = strtol(*s, &end, 10);
    if (end == *s || n > FRAME_MAX || n < -FRAME_MAX) return 0;
    *s = end;
    *v = (int32_t)n;
    return 1;
}

static int parse_range(const char **s, struct abut_pick_range *r)
{
    int given, colon;
    *r = (struct abut_pick_range){ .by = 1, .open = 1 };
    if (!number(s, &r->from, &given)) return 0;
    if (**s != ':') {
        r->single = 1;
        return given;
    }
    (*s)++;
    if (!number(s, &r->to, &given)) return 0;
    r->open = !given;
    colon = **s == ':';
    if (!colon) return 1;
    (*s)++;
    return number(s, &r->by, &given) && r->by > 0;
}

abut_status abut_pick_parse(const char *text, abut_pick *p, abut_err *err)
{
    abut_pick made = { 0 };
    for (const char *s = text;; s++) {
        const char *start = s;
        const int length = (int)strcspn(s, ",");
        if (made.n == ABUT_PICK_MAX) return abut_fail(err, ABUT_E_ARG, "'%.60s': more than %d parts", text, ABUT_PICK_MAX);
        struct abut_pick_range *r = &made.range[made.n++];
        if (!parse_range(&s, r) || s != start + length)
            return abut_fail(err, ABUT_E_ARG, "'%.60s': '%.*s' is neither a frame nor a range A:B:C with C > 0", text,
                             length > 40 ? 40 : length, start);
        if (-r->from > made.hold) made.hold = -r->from;
        if (-r->to > made.hold) made.hold = -r->to;
        if (!*s) break;
    }
    *p = made;
    return ABUT_OK;
}

int abut_pick_takes(const abut_pick *p, int32_t i, int32_t total)
{
    for (int k = 0; k < p->n; k++) {
        const struct abut_pick_range *r = &p->range[k];
        int32_t from = r->from < 0 ? r->from + total : r->from;
        if (r->single) {
            if (i == from) return 1;
            continue;
        }
        if (from < 0) from = 0;
        const int32_t to = r->open ? total : r->to < 0 ? r->to + total : r->to;
        if (i >= from && i < to && (i - from) % r->by == 0) return 1;
    }
    return p->n == 0;
}

abut_status abut_pick_check(const abut_pick *p, int32_t total, abut_err *err)
{
    int any = 0;
    if (!total) return abut_fail(err, ABUT_E_FORMAT, "the stream holds no frame");
    for (int k = 0; k < p->n; k++) {
        const struct abut_pick_range *r = &p->range[k];
        const int32_t from = r->from < 0 ? r->from + total : r->from;
        if (r->single && (from < 0 || from >= total))
            return abut_fail(err, ABUT_E_ARG, "frame %d was asked for; the stream has %d frame%s (0 to %d)", r->from, total,
                             abut_s(total), total - 1);
    }
    for (int32_t i = 0; i < total && !any; i++) any = abut_pick_takes(p, i, total);
    if (!any) return abut_fail(err, ABUT_E_ARG, "no frame was chosen: the stream has %d", total);
    return ABUT_OK;
}

/* ---- frames, one after another ---- */

/* One MODEL; kept until it is neither the last one nor that of a frame held back. */
struct abut_shot_model {
    int users, index, ready;
    abut_arrays set;
    abut_model model;
    abut_smooth shown;      /* its view is the model that parts and points belong to */
    abut_parts parts;
    abut_thick thick;       /* surfaces of the parts, if requested */
    abut_measure measure;
    abut_collmesh cm;       /* if there are points besides nodes */
    double *X, *x, *v;      /* of these points: at rest, and in the last shot */
};

struct abut_held {
    struct abut_held *next;
    struct abut_shot_model *scene;
    abut_arrays set;
    abut_frame frame;
    abut_frame_head head;
    int32_t index;
};

static void scene_leave(struct abut_shot_model *s)
{
    if (!s || --s->users > 0) return;
    abut_measure_clear(&s->measure);
    abut_collmesh_clear(&s->cm);
    free(s->X), free(s->x), free(s->v);
    abut_thick_clear(&s->thick);
    abut_parts_clear(&s->parts);
    abut_smooth_clear(&s->shown);
    abut_arrays_clear(&s->set);
    free(s);
}

static void held_free(struct abut_held *h)
{
    if (!h) return;
    scene_leave(h->scene);
    abut_arrays_clear(&h->set);
    free(h);
}

void abut_shots_open(abut_shots *q, abut_reader *reader, const abut_shots_opts *opt)
{
    *q = (abut_shots){ .reader = reader, .opt = *opt };
}

/* Writes to[3 nv + 3 nc], m: positions of nodes, then of collision vertices. */
static void positions(const struct abut_shot_model *s, const double *x, double *to)
{
    const size_t n3 = 3 * (size_t)s->model.nv;
    memcpy(to, x, n3 * sizeof *to);
    abut_collmesh_positions(&s->cm, x, to + n3);
}

static abut_status make_points(struct abut_shot_model *s, abut_err *err)
{
    const size_t bytes = 3 * (size_t)s->parts.n_points * sizeof(double) + 1;
    if (!s->shown.view.map_first) return ABUT_OK;
    s->X = malloc(bytes), s->x = malloc(bytes), s->v = malloc(bytes);
    if (!s->X || !s->x || !s->v) return abut_fail(err, ABUT_E_NOMEM, "no memory for %d points", s->parts.n_points);
    const abut_status rc = abut_collmesh_init(&s->cm, &s->shown.view, err);
    if (!rc) positions(s, s->model.X, s->X);
    return rc;
}

/* Makes `set` the model of the next frames; takes it over, also on failure. */
static abut_status take_model(abut_shots *q, abut_arrays *set, abut_err *err)
{
    struct abut_shot_model *s = calloc(1, sizeof *s);
    if (!s) {
        abut_arrays_clear(set);
        return abut_fail(err, ABUT_E_NOMEM, "no memory for a model");
    }
    s->set = *set;
    s->users = 1;
    s->index = q->n_models++;
    *set = (abut_arrays){ 0 };
    abut_status rc = abut_model_view(&s->set, &s->model, err);
    s->shown.view = s->model;
    if (!rc && q->opt.segments) rc = abut_smooth_make(&s->model, q->opt.segments, &s->shown, err);
    if (!rc) rc = abut_parts_make(&s->set, &s->shown.view, q->opt.names, q->opt.n_names, &s->parts, err);
    if (!rc) rc = make_points(s, err);
    if (!rc && q->opt.thick) rc = abut_thick_make(&s->parts, &s->shown.view, s->X ? s->X : s->model.X, &s->thick, err);
    q->smoothed |= s->shown.first != NULL;
    for (int32_t i = 0; q->opt.thick && !rc && i < s->parts.n; i++) q->thickened |= s->thick.part[i].radius > 0;
    if (!rc && q->opt.want) rc = abut_measure_init(&s->measure, &s->model, err);
    scene_leave(rc ? s : q->scene);
    if (!rc) q->scene = s;
    return rc;
}

static abut_status take_frame(abut_shots *q, const abut_frame_head *head, abut_arrays *set, abut_err *err)
{
    struct abut_held *h = calloc(1, sizeof *h);
    if (!h) {
        abut_arrays_clear(set);
        return abut_fail(err, ABUT_E_NOMEM, "no memory for a frame");
    }
    h->set = *set;
    h->head = *head;
    h->index = q->seen;
    h->scene = q->scene;
    h->scene->users++;
    *set = (abut_arrays){ 0 };
    if (abut_frame_view(&h->set, &h->scene->model, &h->frame, err)) {
        held_free(h);
        return abut_wrap(err, "frame %d", q->seen);
    }
    if (q->last) q->last->next = h;
    else q->first = h;
    q->last = h;
    q->n_held++;
    q->seen++;
    return ABUT_OK;
}

static abut_status pass_on(abut_shots *q, abut_item item, const abut_frame_head *head, const abut_arrays *set, abut_err *err)
{
    if (!q->opt.copy) return ABUT_OK;
    const abut_status rc = abut_writer_kept(q->opt.copy, q->reader, err);
    if (rc || item == ABUT_ITEM_END) return rc ? rc : abut_writer_close(q->opt.copy, err);
    return item == ABUT_ITEM_MODEL ? abut_writer_model(q->opt.copy, set, err) : abut_writer_frame(q->opt.copy, head, set, err);
}

static abut_status read_item(abut_shots *q, abut_err *err)
{
    abut_item item;
    abut_frame_head head = { 0 };
    abut_arrays set = { 0 };
    abut_status rc = abut_reader_next(q->reader, &item, &head, &set, err);
    if (!rc) rc = pass_on(q, item, &head, &set, err);
    if (rc) {
        abut_arrays_clear(&set);
        return rc;
    }
    const char *note = abut_reader_note(q->reader);
    if (note) snprintf(q->note, sizeof q->note, "%s", note);
    switch (item) {
    case ABUT_ITEM_MODEL: return take_model(q, &set, err);
    case ABUT_ITEM_FRAME: return take_frame(q, &head, &set, err);
    case ABUT_ITEM_END: q->ended = 1;
    }
    abut_arrays_clear(&set);
    return ABUT_OK;
}

/* Takes the oldest frame out of the queue. */
static struct abut_held *pop(abut_shots *q)
{
    struct abut_held *h = q->first;
    q->first = h->next;
    if (!q->first) q->last = NULL;
    q->n_held--;
    return h;
}

static abut_status give(abut_shots *q, struct abut_held *h, const abut_shot **s, abut_err *err)
{
    struct abut_shot_model *scene = h->scene;
    q->given = h;
    q->fields = (abut_fields){ 0 };
    if (q->opt.want && abut_measure_frame(&scene->measure, &h->set, &h->frame, h->head.time, q->opt.want, &q->fields, err))
        return abut_wrap(err, "frame %d", h->index);
    q->shot = (abut_shot){ .index = h->index, .model_index = scene->index, .head = &h->head, .model_set = &scene->set,
                           .frame_set = &h->set, .model = &scene->model, .frame = &h->frame, .parts = &scene->parts,
                           .fields = &q->fields, .X = scene->model.X, .x = h->frame.x, .v = h->frame.v };
    if (scene->X) {
        positions(scene, h->frame.x, scene->x);
        memcpy(scene->v, h->frame.v, 3 * (size_t)scene->model.nv * sizeof *scene->v);
        abut_row_map_apply(&scene->cm.W, h->frame.v, scene->v + 3 * (size_t)scene->model.nv);
        q->shot.X = scene->X, q->shot.x = scene->x, q->shot.v = scene->v;
    }
    if (q->opt.thick) {
        abut_thick_frame(&scene->thick, q->shot.x, q->shot.v);
        q->shot.parts = &scene->thick.parts;
        q->shot.X = scene->thick.X, q->shot.x = scene->thick.x, q->shot.v = scene->thick.v;
    }
    *s = &q->shot;
    return ABUT_OK;
}

abut_status abut_shots_next(abut_shots *q, const abut_shot **s, abut_err *err)
{
    *s = NULL;
    held_free(q->given);
    q->given = NULL;
    for (;;) {
        if (q->first && (q->ended || q->n_held > q->opt.pick.hold)) {
            struct abut_held *h = pop(q);
            if (abut_pick_takes(&q->opt.pick, h->index, q->seen)) return give(q, h, s, err);
            held_free(h);
        } else if (q->ended) {
            return abut_pick_check(&q->opt.pick, q->seen, err);
        } else {
            const abut_status rc = read_item(q, err);
            if (rc) return rc;
        }
    }
}

void abut_shots_clear(abut_shots *q)
{
    held_free(q->given);
    while (q->first) held_free(pop(q));
    scene_leave(q->scene);
    *q = (abut_shots){ 0 };
}
