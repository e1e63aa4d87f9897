#include "formats/html/page_data.h"

#include "energy/barrier.h"
#include "formats/stream/state_wire.h"
#include "solve/integrator.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers of a block: codes of 16 bits, differences, bytes by significance ---- */

enum { ABUT_PLACE_MOST = 65534, ABUT_FIELD_MOST = 4095, ABUT_CODE_NONE = 65535 };

/* n numbers of `size` bytes, which are put one after another: byte k of number i at byte[k n + i]. */
typedef struct block {
    uint8_t *byte;      /* [n size] borrowed */
    size_t n, size;
    size_t at;          /* numbers put so far */
    uint32_t before;    /* the last of them in this list */
} block;

/* Histogram of the codes of a field, in 256 classes. */
typedef struct block_counts {
    size_t all, of[256];
} block_counts;

/* Begins a list; its first number is stored itself. */
static void block_restart(block *b) { b->before = 0; }

/* Puts v as its difference from the number before. */
static void block_put(block *b, uint32_t v)
{
    assert(b->at < b->n);
    const uint32_t d = v - b->before;
    for (size_t k = 0; k < b->size; k++) b->byte[k * b->n + b->at] = (uint8_t)(d >> 8 * k);
    b->at++;
    b->before = v;
}

/* A list of indices. */
static void block_indices(block *b, const int32_t *v, size_t n)
{
    block_restart(b);
    for (size_t i = 0; i < n; i++) block_put(b, (uint32_t)v[i]);
}

/* Writes n little-endian f32 and returns where they end. */
static uint8_t *block_f32(uint8_t *to, const float *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, v + i, 4);
        for (int k = 0; k < 4; k++) *to++ = (uint8_t)(bits >> 8 * k);
    }
    return to;
}

/* The nearest of most + 1 steps from lo to hi, clamped; ABUT_CODE_NONE for what is not finite. */
static uint16_t block_code(double v, double lo, double hi, int most)
{
    if (!isfinite(v)) return ABUT_CODE_NONE;
    const double u = hi > lo ? (v - lo) / (hi - lo) : 0;
    return (uint16_t)lrint(most * fmin(fmax(u, 0), 1));
}

/* Counts a code, unless it is ABUT_CODE_NONE. */
static void block_count(block_counts *c, uint16_t code)
{
    if (code == ABUT_CODE_NONE) return;
    c->all++;
    c->of[code >> 4]++;
}

/* The end, 0 to 1, of the first class that at most 1 of 200 codes is beyond; 1 where none was counted. */
static double block_top(const block_counts *c)
{
    size_t beyond = c->all;
    for (int i = 0; i < 256; i++) {
        beyond -= c->of[i];
        if (200 * beyond <= c->all) return fmin((i + 1) / 256.0, 1);
    }
    return 1;
}

/* ---- points of contact ---- */

static abut_status room(abut_contact_points *p, size_t n, abut_err *err)
{
    p->n = 0;
    if (n <= (size_t)p->cap) return ABUT_OK;
    if (n > INT32_MAX || !ABUT_RESIZE(p->at, n)) return abut_fail(err, ABUT_E_NOMEM, "no memory for %zu contacts", n);
    p->cap = (int32_t)n;
    return ABUT_OK;
}

static void add(abut_contact_points *p, abut_vec3 at, abut_vec3 force)
{
    abut_v3_put(p->at[p->n], at);
    abut_v3_put(p->at[p->n++] + 3, force);
}

static void add_pair(abut_contact_points *out, const abut_fields *f, size_t i, double newton)
{
    double x[12], w[4];
    const abut_stencil kind = abut_pairs_get(f->pairs, i, f->y, x);
    abut_vec3 middle = { 0 }, r = { 0 };
    abut_closest(kind, x, w);
    for (int k = 0; k < abut_stencil_size(kind); k++) {
        middle = abut_v3_axpy(middle, 0.5 * fabs(w[k]), abut_v3_get(x + 3 * k));
        r = abut_v3_axpy(r, w[k], abut_v3_get(x + 3 * k));
    }
    add(out, middle, abut_v3_scale(newton / abut_v3_norm(r), r));
}

static void add_plane(abut_contact_points *out, const abut_shot *s, size_t i, double newton)
{
    const abut_pairs *p = s->fields->pairs;
    const abut_vec3 n = abut_v3_get(s->model->hs_normal + 3 * p->plane[i]);
    const abut_vec3 y = abut_v3_get(s->fields->y + 3 * p->plane_vert[i]);
    add(out, abut_v3_axpy(y, -0.5 * p->plane_dist[i], n), abut_v3_scale(newton, n));
}

/* Finds them in the frame's table of hard contacts (impulses over the length of the step); without one, takes the contacts of
 * the barrier within dhat.  Needs ABUT_WANT_CONTACT.  Fails  ABUT_E_NOMEM */
static abut_status find_contacts(const abut_shot *s, abut_contact_points *out, abut_err *err)
{
    const abut_frame *f = s->frame;
    const abut_pairs *p = s->fields->pairs;
    if (f->touch_point && f->touch_impulse) {
        const abut_status rc = room(out, (size_t)f->ntc, err);
        for (int32_t i = 0; i < f->ntc && !rc; i++)
            add(out, abut_v3_get(f->touch_point + 3 * i),
                abut_v3_scale(1 / s->model->h[0], abut_v3_get(f->touch_impulse + 3 * i)));
        return rc;
    }
    const size_t n = p ? p->n + p->n_plane : 0;
    const abut_status rc = room(out, n, err);
    const double kappa = f->kappa && s->head->phase == ABUT_COMMITTED ? f->kappa[0] : NAN;
    const double h = sqrt(abut_integrator_force_scale(s->model, f));
    for (size_t i = 0; i < n && !rc; i++) {
        const double newton = abut_barrier_force(s->fields->cm, p, s->fields->y, kappa, h, i);
        if (i < p->n) add_pair(out, s->fields, i, newton);
        else add_plane(out, s, i - p->n, newton);
    }
    return rc;
}

static void clear_contacts(abut_contact_points *p)
{
    free(p->at);
    *p = (abut_contact_points){ 0 };
}

/* ---- items of a page ---- */

static const double CREASE = 0.7;   /* rad: sharper edges stay sharp */
enum { LEVEL = 9 };                 /* of compression: a page is written once */

void abut_page_item_clear(abut_page_item *item)
{
    abut_text_file_clear(&item->json);
    free(item->block);
    *item = (abut_page_item){ 0 };
}

void abut_page_data_clear(abut_page_data *d)
{
    ABUT_FREE(d->value, d->raw);
    clear_contacts(&d->contacts);
    *d = (abut_page_data){ 0 };
}

static void put_color(FILE *f, const float rgb[3])
{
    fputs("\"#", f);
    for (int d = 0; d < 3; d++) fprintf(f, "%02x", (unsigned)lrintf(255 * rgb[d]));
    fputc('"', f);
}

static void put_triple(FILE *f, const char *key, const double v[3])
{
    fprintf(f, ",\"%s\":[", key);
    for (int d = 0; d < 3; d++) {
        if (d) fputc(',', f);
        abut_json_number(f, v[d]);
    }
    fputc(']', f);
}

/* Ends a text of JSON for a page: '<', which only strings have, must not end or begin markup there. */
static abut_status end_json(abut_text_file *t, abut_err *err)
{
    abut_status rc = abut_text_file_end(t, "the data of a page", err);
    if (rc || !strchr(t->text, '<')) return rc;
    abut_text_file safe;
    rc = abut_text_file_open(&safe, err);
    if (rc) return rc;
    for (const char *c = t->text; *c; c++)
        if (*c == '<') fputs("\\u003c", safe.f);
        else fputc(*c, safe.f);
    abut_text_file_clear(t);
    rc = abut_text_file_end(&safe, "the data of a page", err);
    *t = safe;
    return rc;
}

abut_status abut_page_head(const abut_prov *prov, int n, int live, abut_text_file *json, abut_err *err)
{
    const abut_status rc = abut_text_file_open(json, err);
    if (rc) return rc;
    fprintf(json->f, "{\"abut\":\"%s\",\"live\":%s,\"scale\":[", ABUT_VERSION, live ? "true" : "false");
    for (int i = 0; i <= 10; i++) {
        float rgb[3];
        abut_palette_scale(i / 10.0, rgb);
        if (i) fputc(',', json->f);
        put_color(json->f, rgb);
    }
    fputs("],\"history\":[", json->f);
    for (int i = 0; i < n; i++) {
        fprintf(json->f, "%s{\"tool\":", i ? "," : "");
        abut_json_string(json->f, prov[i].tool);
        fputs(",\"version\":", json->f);
        abut_json_string(json->f, prov[i].version);
        fputs(",\"options\":", json->f);
        abut_json_string(json->f, prov[i].options ? prov[i].options : "");
        fputc('}', json->f);
    }
    fputs("]}", json->f);
    return end_json(json, err);
}

/* Gives a block, whose bytes end at d->raw + size, to an item as a zlib stream. */
static abut_status compress_raw(abut_page_data *d, size_t size, abut_page_item *item, abut_err *err)
{
    return abut_zlib_stream(d->raw, size, LEVEL, &item->block, &item->size, err);
}

static abut_status raw_room(abut_page_data *d, size_t bytes, abut_err *err)
{
    if (bytes <= d->raw_room) return ABUT_OK;
    free(d->raw);
    d->raw = malloc(bytes);
    d->raw_room = d->raw ? bytes : 0;
    return d->raw ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "no memory for %zu bytes of a page", bytes);
}

/* ---- models ---- */

static void put_part(FILE *f, const abut_model *m, const abut_part *p, const abut_shading_mesh *skin)
{
    float rgb[3];
    abut_palette_object(p->object, p->obstacle, rgb);
    fputs("{\"name\":", f);
    abut_json_string(f, p->name);
    fputs(",\"color\":", f);
    put_color(f, rgb);
    fputs(",\"radius\":", f);
    abut_json_number(f, abut_object_radius(m, p->object));
    fprintf(f, ",\"object\":%d,\"obstacle\":%d,\"solid\":%d,\"points\":%d,\"vertices\":%d,\"triangles\":%d,\"segments\":%d,"
            "\"dots\":%d}", p->object, p->obstacle, p->solid, p->nv, skin->nv, skin->ntri, p->nseg, p->npoint);
}

static void put_planes(FILE *f, const abut_shot *s)
{
    char name[ABUT_OBJECT_WORDS];
    fputs("],\"planes\":[", f);
    for (int32_t i = 0; i < s->parts->n_plane; i++) {
        const int32_t h = s->parts->plane[i];
        fputs(i ? ",{\"name\":" : "{\"name\":", f);
        abut_json_string(f, abut_half_space_name(s->model, h, name));
        put_triple(f, "point", s->model->hs_point + 3 * h);
        put_triple(f, "normal", s->model->hs_normal + 3 * h);
        fputc('}', f);
    }
}

static void put_fields(FILE *f, const abut_page_data *d)
{
    fputs("],\"fields\":[", f);
    for (int i = 0; i < d->n_fields; i++) {
        const abut_point_field *e = &d->field[i];
        fputs(i ? ",{\"name\":" : "{\"name\":", f);
        abut_json_string(f, e->name);
        fputs(",\"label\":", f);
        abut_json_string(f, e->label ? e->label : e->name);
        fputs(",\"unit\":", f);
        abut_json_string(f, e->unit);
        fputc('}', f);
    }
    fputc(']', f);
}

static void put_model_end(FILE *f, const abut_page_data *d, const abut_shot *s)
{
    double sign, up[3] = { 0 };
    const int axis = abut_up_axis(s->model, &sign);
    up[axis] = sign;
    put_planes(f, s);
    put_fields(f, d);
    put_triple(f, "up", up);
    fputc('}', f);
}

/* Numbers of the lists of all parts. */
static size_t mesh_numbers(const abut_parts *parts, const abut_shading_mesh *skin)
{
    size_t n = 0;
    for (int32_t k = 0; k < parts->n; k++) {
        const abut_part *p = &parts->part[k];
        n += (size_t)skin[k].nv + 3 * (size_t)skin[k].ntri + 2 * (size_t)p->nseg + (size_t)p->npoint;
    }
    return n;
}

static abut_status write_model(abut_page_data *d, const abut_shot *s, const abut_shading_mesh *skin, abut_page_item *item,
                               abut_err *err)
{
    const abut_parts *parts = s->parts;
    const size_t n = mesh_numbers(parts, skin);
    abut_status rc = raw_room(d, 4 * n + 1, err);
    if (!rc) rc = abut_text_file_open(&item->json, err);
    if (rc) return rc;
    block b = { .byte = d->raw, .n = n, .size = 4 };
    fputs("{\"parts\":[", item->json.f);
    for (int32_t k = 0; k < parts->n; k++) {
        const abut_part *p = &parts->part[k];
        if (k) fputc(',', item->json.f);
        put_part(item->json.f, s->model, p, &skin[k]);
        block_indices(&b, skin[k].point, (size_t)skin[k].nv);
        block_indices(&b, skin[k].tri, 3 * (size_t)skin[k].ntri);
        block_indices(&b, p->seg, 2 * (size_t)p->nseg);
        block_indices(&b, p->point, (size_t)p->npoint);
    }
    put_model_end(item->json.f, d, s);
    rc = end_json(&item->json, err);
    return rc ? rc : compress_raw(d, 4 * n, item, err);
}

static abut_status take_model(abut_page_data *d, const abut_shot *s, abut_page_item *item, abut_err *err)
{
    const int32_t n = s->parts->n;
    free(d->value);
    d->value = malloc(((size_t)s->parts->n_points + 1) * sizeof *d->value);
    abut_shading_mesh *skin = calloc((size_t)n + 1, sizeof *skin);
    abut_status rc = d->value && skin ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "no memory for the model of a page");
    d->n_fields = abut_point_fields(s, d->field);
    for (int32_t k = 0; k < n && !rc; k++) rc = abut_shading_mesh_make(&s->parts->part[k], s->X, CREASE, &skin[k], err);
    if (!rc) rc = write_model(d, s, skin, item, err);
    for (int32_t k = 0; k < n && skin; k++) abut_shading_mesh_clear(&skin[k]);
    free(skin);
    d->models++;
    d->model_index = s->model_index;
    return rc;
}

/* ---- frames ---- */

/* Box of the points of a part that are somewhere; the number of the others. */
static int32_t part_box(const abut_part *p, const double *x, abut_bounds *box)
{
    int32_t lost = 0;
    *box = abut_bounds_empty();
    for (int32_t i = 0; i < p->nv; i++) {
        const double *at = x + 3 * p->node[i];
        const float v[3] = { (float)at[0], (float)at[1], (float)at[2] };
        if (isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2])) abut_bounds_add(box, v);
        else lost++;
    }
    if (lost == p->nv) *box = (abut_bounds){ { 0, 0, 0 }, { 0, 0, 0 } };
    return lost;
}

static void join(abut_bounds *all, const abut_bounds *box)
{
    abut_bounds_add(all, box->lo);
    abut_bounds_add(all, box->hi);
}

/* Puts the boxes of all parts as f32; all, bodies: their common boxes.  Returns the number of points that are not finite. */
static int32_t put_boxes(abut_page_data *d, const abut_shot *s, abut_bounds *all, abut_bounds *bodies)
{
    int32_t lost = 0;
    uint8_t *to = d->raw;
    *all = *bodies = abut_bounds_empty();
    for (int32_t k = 0; k < s->parts->n; k++) {
        abut_bounds box;
        lost += part_box(&s->parts->part[k], s->x, &box);
        if (s->parts->part[k].nv) join(all, &box);
        if (s->parts->part[k].nv && !s->parts->part[k].obstacle) join(bodies, &box);
        to = block_f32(to, box.lo, 3);
        for (int a = 0; a < 3; a++) to = block_f32(to, &(float){ box.hi[a] - box.lo[a] }, 1);
    }
    if (!(all->lo[0] <= all->hi[0])) *all = (abut_bounds){ { 0, 0, 0 }, { 0, 0, 0 } };
    if (!(bodies->lo[0] <= bodies->hi[0])) *bodies = *all;
    return lost;
}

static void put_positions(block *b, const abut_shot *s)
{
    for (int32_t k = 0; k < s->parts->n; k++) {
        const abut_part *p = &s->parts->part[k];
        abut_bounds box;
        (void)part_box(p, s->x, &box);
        for (int a = 0; a < 3; a++) {
            block_restart(b);
            for (int32_t i = 0; i < p->nv; i++)
                block_put(b, block_code(s->x[3 * p->node[i] + a], box.lo[a], box.hi[a], ABUT_PLACE_MOST));
        }
    }
}

/* The values of one field over all parts, and its range as [low, high, what 199 of 200 values do not exceed]; null: none. */
static abut_status put_field(abut_page_data *d, const abut_shot *s, int i, block *b, FILE *json, abut_err *err)
{
    const abut_status rc = abut_point_field_values(s, &d->field[i], d->value, err);
    if (rc) return rc;
    double lo = INFINITY, hi = -INFINITY;
    for (int32_t k = 0; k < s->parts->n; k++)
        for (int32_t v = 0; v < s->parts->part[k].nv; v++) {
            const double value = d->value[s->parts->part[k].node[v]];
            if (isfinite(value)) lo = fmin(lo, value), hi = fmax(hi, value);
        }
    block_restart(b);
    block_counts counts = { 0 };
    for (int32_t k = 0; k < s->parts->n; k++)
        for (int32_t v = 0; v < s->parts->part[k].nv; v++) {
            const uint16_t code = block_code(d->value[s->parts->part[k].node[v]], lo, hi, ABUT_FIELD_MOST);
            block_count(&counts, code);
            block_put(b, code);
        }
    if (!(lo <= hi)) {
        fputs("null", json);
        return ABUT_OK;
    }
    fputc('[', json);
    abut_json_number(json, lo);
    fputc(',', json);
    abut_json_number(json, hi);
    fputc(',', json);
    abut_json_number(json, lo + (hi - lo) * block_top(&counts));
    fputc(']', json);
    return ABUT_OK;
}

/* Puts places and forces; returns the largest component of a force, NaN if no force is known. */
static double put_contacts(const abut_contact_points *c, const abut_bounds *all, block *b)
{
    double most = NAN;
    for (int32_t i = 0; i < c->n; i++)
        for (int a = 3; a < 6; a++)
            if (isfinite(c->at[i][a])) most = fmax(most, fabs(c->at[i][a]));
    for (int a = 0; a < 6; a++) {
        block_restart(b);
        for (int32_t i = 0; i < c->n; i++) {
            const double v = c->at[i][a];
            if (a < 3) block_put(b, block_code(v, all->lo[a], all->hi[a], ABUT_PLACE_MOST));
            else block_put(b, (uint16_t)(32767 + (isfinite(v) && most > 0 ? lrint(32767 * v / most) : 0)));
        }
    }
    return most;
}

/* Energies, contacts and the like, as the tables have them. */
static abut_status put_numbers(FILE *f, const abut_shot *s, abut_err *err)
{
    abut_table table = { 0 };
    const abut_parts none = { 0 };
    abut_shot bare = *s;
    bare.parts = &none;
    const abut_status rc = abut_table_frame(&table, &bare, err);
    if (!rc) {
        fputs(",\"numbers\":", f);
        abut_table_row_json(&table, 0, f);
    }
    abut_table_clear(&table);
    return rc;
}

static abut_status write_frame(abut_page_data *d, const abut_shot *s, size_t codes, abut_page_item *item, abut_err *err)
{
    FILE *f = item->json.f;
    const size_t boxes = 24 * (size_t)s->parts->n;
    abut_bounds all, bodies;
    const int32_t lost = put_boxes(d, s, &all, &bodies);
    block b = { .byte = d->raw + boxes, .n = codes, .size = 2 };
    abut_status rc = ABUT_OK;
    put_positions(&b, s);
    fprintf(f, "{\"model\":%d,\"index\":%d,\"step\":%lld,\"lost\":%d,\"contacts\":%d,\"box\":[%.9g,%.9g,%.9g,%.9g,%.9g,%.9g],"
            "\"ranges\":[", d->models - 1, s->index, (long long)s->head->step, lost, d->contacts.n, (double)bodies.lo[0],
            (double)bodies.lo[1], (double)bodies.lo[2], (double)bodies.hi[0], (double)bodies.hi[1], (double)bodies.hi[2]);
    for (int i = 0; i < d->n_fields && !rc; i++) {
        if (i) fputc(',', f);
        rc = put_field(d, s, i, &b, f, err);
    }
    if (rc) return rc;
    fputs("],\"force\":", f);
    abut_json_number(f, put_contacts(&d->contacts, &all, &b));
    fputs(",\"time\":", f);
    abut_json_number(f, s->head->time);
    rc = put_numbers(f, s, err);
    fputc('}', f);
    if (!rc) rc = end_json(&item->json, err);
    return rc ? rc : compress_raw(d, boxes + 2 * codes, item, err);
}

abut_status abut_page_data_frame(abut_page_data *d, const abut_shot *s, abut_page_item *model, abut_page_item *frame,
                                 abut_err *err)
{
    abut_page_item_clear(model);
    abut_page_item_clear(frame);
    abut_status rc = ABUT_OK;
    if (!d->models || d->model_index != s->model_index) rc = take_model(d, s, model, err);
    if (!rc) rc = find_contacts(s, &d->contacts, err);
    size_t points = 0;
    for (int32_t k = 0; k < s->parts->n; k++) points += (size_t)s->parts->part[k].nv;
    const size_t codes = (3 + (size_t)d->n_fields) * points + 6 * (size_t)d->contacts.n;
    if (!rc) rc = raw_room(d, 24 * (size_t)s->parts->n + 2 * codes + 1, err);
    if (!rc) rc = abut_text_file_open(&frame->json, err);
    if (!rc) rc = write_frame(d, s, codes, frame, err);
    if (rc) abut_page_item_clear(model), abut_page_item_clear(frame);
    return rc;
}

/* ---- files that every page is made of ---- */

/* Label and path of each file; scripts in the order in which they run. */
#define SCRIPTS(A) \
    A(three, "three.min.js") A(data, "viewer/data.js") A(source, "viewer/source.js") A(colors, "viewer/colors.js") \
    A(marks, "viewer/marks.js") A(stage, "viewer/stage.js") A(graph, "viewer/graph.js") A(panel, "viewer/panel.js") \
    A(main, "viewer/main.js")
#define ASSETS(A) A(style, "page.css") A(markup, "page.html") SCRIPTS(A)

/* The bytes of a file between two labels that only this file sees. */
#define EMBED(label, path) \
    __asm__(".pushsection .rodata\nabut_asset_" #label ":\n.incbin \"formats/html/" path "\"\nabut_asset_" #label \
            "_end:\n.byte 0\n.popsection\n"); \
    extern const char abut_asset_##label[], abut_asset_##label##_end[];
ASSETS(EMBED)

static void put(FILE *f, const char *begin, const char *end) { fwrite(begin, 1, (size_t)(end - begin), f); }

void abut_page_begin(FILE *f)
{
    /* the page may load nothing from elsewhere; it may request data from its own server, `watch`, alone */
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; "
          "style-src 'unsafe-inline'; img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"generator\" content=\"abut " ABUT_VERSION "\">\n<title>abut</title>\n<style>\n", f);
    put(f, abut_asset_style, abut_asset_style_end);
    fputs("</style>\n</head>\n<body>\n", f);
    put(f, abut_asset_markup, abut_asset_markup_end);
}

void abut_page_end(FILE *f)
{
#define SCRIPT(label, path) \
    fputs("<script>\n", f); \
    put(f, abut_asset_##label, abut_asset_##label##_end); \
    fputs("</script>\n", f);
    SCRIPTS(SCRIPT)
    fputs("</body>\n</html>\n", f);
}

/* ---- frames ---- */

struct abut_html {
    abut_out_file out;
    abut_page_data data;
    size_t frames;
};

abut_status abut_html_open(const char *path, int keep, const abut_prov *prov, int n, abut_html **out, abut_err *err)
{
    abut_html *h = calloc(1, sizeof *h);
    if (!h) return abut_fail(err, ABUT_E_NOMEM, "%s: no memory", path);
    abut_text_file head = { 0 };
    abut_status rc = abut_out_open(&h->out, path, keep, err);
    if (!rc) rc = abut_page_head(prov, n, 0, &head, err);
    if (rc) {
        abut_html_free(&h);
        return rc;
    }
    abut_page_begin(h->out.f);
    fprintf(h->out.f, "<script type=\"application/json\" id=\"head\">%s</script>\n", head.text);
    abut_text_file_clear(&head);
    *out = h;
    return ABUT_OK;
}

static void put_item(FILE *f, const char *what, const abut_page_item *item)
{
    fprintf(f, "<script type=\"application/json\" class=\"%s\">%s</script><script type=\"text/plain\" class=\"%s-block\">", what,
            item->json.text, what);
    abut_base64(f, item->block, item->size);
    fputs("</script>\n", f);
}

abut_status abut_html_frame(abut_html *h, const abut_shot *s, abut_err *err)
{
    abut_page_item model = { 0 }, frame = { 0 };
    const abut_status rc = abut_page_data_frame(&h->data, s, &model, &frame, err);
    if (!rc) {
        if (model.block) put_item(h->out.f, "model", &model);
        put_item(h->out.f, "frame", &frame);
        h->frames++;
    }
    abut_page_item_clear(&model);
    abut_page_item_clear(&frame);
    return rc;
}

abut_status abut_html_close(abut_html *h, abut_err *err)
{
    if (!h->frames) return abut_fail(err, ABUT_E_FORMAT, "%s: no frame to show", h->out.path);
    abut_page_end(h->out.f);
    return abut_out_close(&h->out, err);
}

void abut_html_free(abut_html **ph)
{
    abut_html *h = *ph;
    if (!h) return;
    abut_page_data_clear(&h->data);
    abut_out_drop(&h->out);
    free(h);
    *ph = NULL;
}
