#include "formats/picture/picture.h"

#include "formats/result/out_file.h"
#include "formats/result/point_fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- legends: the time, the colour scale ---- */

static const uint8_t ink[3] = { 52, 60, 72 };

/* Dots of the font: 1 pixel on thumbnails, 2 on usual pictures. */
static int font_scale(const abut_image *im)
{
    const int s = im->h / 300;
    return s < 1 ? 1 : s;
}

/* "t = 0.25 s" in the upper left corner. */
static void put_time(abut_image *im, double time, int decimals)
{
    char text[48];
    const int s = font_scale(im);
    snprintf(text, sizeof text, "t = %.*f s", decimals, time);
    abut_image_text(im, 7 * s, 7 * s, s, text, ink);
}

/* A colour bar with its ends and its name along the lower edge; stress in the unit that suits the range. */
static void put_scale(abut_image *im, const abut_point_field *field, const double range[2])
{
    const int s = font_scale(im), w = im->w / 3, h = 5 * s, x = 7 * s, y = im->h - 7 * s - h;
    const char *unit = field->unit;
    double scale = 1;
    if (!strcmp(unit, "Pa")) {
        unit = range[1] >= 1e9 ? "GPa" : range[1] >= 1e6 ? "MPa" : range[1] >= 1e3 ? "kPa" : "Pa";
        scale = range[1] >= 1e9 ? 1e-9 : range[1] >= 1e6 ? 1e-6 : range[1] >= 1e3 ? 1e-3 : 1;
    }
    for (int i = 0; i < w; i++) {
        float c[3];
        abut_palette_scale((i + 0.5) / w, c);
        abut_image_fill(im, x + i, y, 1, h,
                        (uint8_t[3]){ (uint8_t)(255 * c[0] + 0.5f), (uint8_t)(255 * c[1] + 0.5f), (uint8_t)(255 * c[2] + 0.5f) },
                        1);
    }
    char text[96];
    const int above = y - 4 * s - abut_image_text_height(s);
    snprintf(text, sizeof text, "%.3g", scale * range[0]);
    abut_image_text(im, x, above, s, text, ink);
    snprintf(text, sizeof text, "%.3g%s%s", scale * range[1], *unit ? " " : "", unit);
    abut_image_text(im, x + w - abut_image_text_width(text, s), above, s, text, ink);
    abut_image_text(im, x, above - 4 * s - abut_image_text_height(s), s, field->label ? field->label : field->name, ink);
}

/* ---- pictures ---- */

enum { BINS = 4096, PANELS_ALL = 12, PANELS = 5, COLUMNS = 6, GAP = 6 };

struct abut_picture {
    abut_picture_opts opt;
    abut_painter *painter;
    abut_out_file strip_file;
    abut_film *film;
    abut_image strip;
    int drawn;                  /* pictures; those of dir and film come first, then the panels of the strip */
    int model_index;            /* -1 before the first frame */
    abut_draw_mesh mesh;
    int32_t *node;              /* [mesh.npoint] */
    float *record;              /* positions of all points; with a colour scale also their values */
    float *plane;
    int n_plane, up_axis;
    double up_sign;
    abut_spool spool;
    struct taken {
        double time;
        int index;
    } *taken;                   /* [spool.n] */
    size_t cap;
    abut_point_field field;     /* of the colour scale */
    double *value;              /* [parts->n_points] of it */

    abut_bounds box;            /* of bodies over all frames, then of all that the camera must hold */
    abut_camera camera, strip_camera;
    double range[2];
    int decimals;               /* of times */
};

abut_picture_opts abut_picture_defaults(void)
{
    return (abut_picture_opts){ .w = 960, .h = 720, .strip_w = 360, .strip_h = 360, .view = { 30, 18, 1 }, .range = { NAN, NAN },
                                .per_second = NAN, .label = 1 };
}

int abut_picture_want(const abut_picture_opts *opt) { return opt->field ? abut_point_field_want(opt->field) : 0; }

abut_status abut_size_parse(const char *text, int *w, int *h, abut_err *err)
{
    char *end;
    const long a = strtol(text, &end, 10);
    const long b = end != text && *end == 'x' ? strtol(end + 1, &end, 10) : 0;
    if (a < 16 || b < 16 || a > 8192 || b > 8192 || *end)
        return abut_fail(err, ABUT_E_ARG, "'%.40s': expected WxH with 16 to 8192 pixels each, as 1280x720", text);
    *w = (int)a;
    *h = (int)b;
    return ABUT_OK;
}

/* Whether pictures of the full size are wanted. */
static int has_full(const abut_picture *p) { return p->opt.dir || p->opt.film; }

abut_status abut_picture_open(const abut_picture_opts *opt, abut_picture **out, abut_err *err)
{
    abut_picture *p = calloc(1, sizeof *p);
    if (!p) return abut_fail(err, ABUT_E_NOMEM, "no memory for pictures");
    p->opt = *opt;
    p->model_index = -1;
    p->box = abut_bounds_empty();
    const int full = has_full(p);
    abut_status rc = opt->film ? abut_film_check(opt->film, err) : ABUT_OK;
    if (!rc) rc = abut_painter_open(full ? opt->w : opt->strip_w, full ? opt->h : opt->strip_h, &p->painter, err);
    if (!rc && opt->dir) rc = abut_out_folder(opt->dir, err);
    if (!rc && opt->strip) rc = abut_out_open(&p->strip_file, opt->strip, opt->keep, err);
    if (rc) abut_picture_free(&p);
    *out = p;
    return rc;
}

void abut_picture_free(abut_picture **pp)
{
    abut_picture *p = *pp;
    if (!p) return;
    abut_painter_free(&p->painter);
    abut_film_free(&p->film);
    abut_out_drop(&p->strip_file);
    abut_image_clear(&p->strip);
    abut_draw_mesh_clear(&p->mesh);
    abut_spool_clear(&p->spool);
    ABUT_FREE(p->node, p->record, p->plane, p->taken, p->value, p);
    *pp = NULL;
}

/* ---- frames come in ---- */

static abut_status take_model(abut_picture *p, const abut_shot *s, abut_err *err)
{
    const abut_model *m = s->model;
    double *thick = malloc(((size_t)s->parts->n + 1) * sizeof *thick);
    if (!thick) return abut_fail(err, ABUT_E_NOMEM, "no memory to draw %d objects", s->parts->n);
    for (int32_t k = 0; k < s->parts->n; k++) thick[k] = abut_object_radius(m, s->parts->part[k].object);
    abut_status rc = abut_draw_mesh_make(&p->mesh, s->parts, s->X, thick, err);
    free(thick);
    if (rc) return rc;
    const size_t width = p->mesh.npoint * (p->opt.field ? 4 : 3);
    if (!ABUT_ARRAYS(ABUT_ITEMS(p->node, p->mesh.npoint), ABUT_ITEMS(p->record, width), ABUT_ITEMS(p->plane, 6 * (size_t)m->nh),
                     ABUT_ITEMS(p->value, s->parts->n_points)))
        return abut_fail(err, ABUT_E_NOMEM, "no memory for pictures of %zu points", p->mesh.npoint);
    int32_t *node = p->node;
    for (int32_t k = 0; k < s->parts->n; k++)
        for (int32_t i = 0; i < s->parts->part[k].nv; i++) *node++ = s->parts->part[k].node[i];
    p->n_plane = s->parts->n_plane;
    for (int32_t i = 0; i < 3 * p->n_plane; i++) {
        const int32_t from = 3 * s->parts->plane[i / 3] + i % 3;
        p->plane[i / 3 * 6 + i % 3] = (float)m->hs_point[from];
        p->plane[i / 3 * 6 + 3 + i % 3] = (float)m->hs_normal[from];
    }
    p->up_axis = abut_up_axis(m, &p->up_sign);
    p->model_index = s->model_index;
    return abut_spool_open(&p->spool, width, err);
}

static abut_status keep_time(abut_picture *p, const abut_shot *s, abut_err *err)
{
    if (!ABUT_GROW(p->taken, p->spool.n + 1, p->cap))
        return abut_fail(err, ABUT_E_NOMEM, "no memory for pictures of %zu frames", p->spool.n + 1);
    p->taken[p->spool.n] = (struct taken){ s->head->time, s->index };
    return ABUT_OK;
}

abut_status abut_picture_frame(abut_picture *p, const abut_shot *s, abut_err *err)
{
    abut_status rc = ABUT_OK;
    if (p->model_index < 0) {
        if (p->opt.field) rc = abut_point_field_find(s, p->opt.field, &p->field, err);
        if (!rc) rc = take_model(p, s, err);
    } else if (p->model_index != s->model_index)
        rc = abut_fail(err, ABUT_E_FORMAT, "pictures: the model changes at frame %d; choose frames of one model with --frames",
                       s->index);
    if (!rc) rc = keep_time(p, s, err);
    if (rc) return rc;
    if (p->opt.field) rc = abut_point_field_values(s, &p->field, p->value, err);
    if (rc) return rc;
    for (size_t i = 0; i < p->mesh.npoint; i++) {
        for (size_t d = 0; d < 3; d++) p->record[3 * i + d] = (float)s->x[3 * (size_t)p->node[i] + d];
        const int obstacle = s->model->role[s->parts->lead[p->node[i]]] == ABUT_NODE_OBSTACLE;
        if (p->opt.field) p->record[3 * p->mesh.npoint + i] = (float)(obstacle ? NAN : p->value[p->node[i]]);
    }
    return abut_spool_add(&p->spool, p->record, err);
}

/* ---- what holds for all frames ---- */

/* Joins the points of bodies, or of obstacles that are inside `limit`, over all frames. */
static abut_status join_points(abut_picture *p, int obstacles, const abut_bounds *limit, abut_bounds *box, abut_err *err)
{
    for (size_t k = 0; k < p->spool.n; k++) {
        const abut_status rc = abut_spool_get(&p->spool, k, p->record, err);
        if (rc) return rc;
        for (int32_t i = 0; i < p->mesh.n; i++) {
            const abut_draw_part *part = &p->mesh.part[i];
            if (part->obstacle != obstacles) continue;
            for (size_t v = part->first; v < part->first + (size_t)part->npoint; v++) {
                const float *x = p->record + 3 * v;
                int inside = 1;
                for (int d = 0; limit && d < 3; d++) inside &= x[d] >= limit->lo[d] && x[d] <= limit->hi[d];
                if (inside) abut_bounds_add(box, x);
            }
        }
    }
    return ABUT_OK;
}

/* Bodies count in full; of obstacles (a large floor, a far wall) only what is near them. */
static abut_status find_box(abut_picture *p, abut_err *err)
{
    abut_status rc = join_points(p, 0, NULL, &p->box, err);
    if (rc) return rc;
    const double size = abut_bounds_diagonal(&p->box);
    if (size == 0) return join_points(p, 1, NULL, &p->box, err);
    abut_bounds near = p->box;
    for (int d = 0; d < 3; d++) {
        near.lo[d] -= (float)(0.4 * size);
        near.hi[d] += (float)(0.4 * size);
    }
    return join_points(p, 1, &near, &p->box, err);
}

static abut_status fit_cameras(abut_picture *p, abut_err *err)
{
    abut_fit fit, strip;
    abut_fit_begin(&fit, &p->opt.view, p->up_axis, p->up_sign, (double)p->opt.w / p->opt.h);
    abut_fit_begin(&strip, &p->opt.view, p->up_axis, p->up_sign, (double)p->opt.strip_w / p->opt.strip_h);
    for (size_t k = 0; k < p->spool.n; k++) {
        const abut_status rc = abut_spool_get(&p->spool, k, p->record, err);
        if (rc) return rc;
        for (size_t v = 0; v < p->mesh.npoint; v++) {
            const float *x = p->record + 3 * v;
            int inside = 1;
            for (int d = 0; d < 3; d++) inside &= x[d] >= p->box.lo[d] && x[d] <= p->box.hi[d];
            if (!inside) continue;
            abut_fit_add(&fit, x);
            abut_fit_add(&strip, x);
        }
    }
    p->camera = abut_fit_end(&fit, p->opt.view.zoom);
    p->strip_camera = abut_fit_end(&strip, p->opt.view.zoom);
    return ABUT_OK;
}

/* The scale ends where all but one value in 200 end, so that a single tet does not darken the picture. */
static abut_status find_range(abut_picture *p, abut_err *err)
{
    const size_t n = p->mesh.npoint;
    double lo = INFINITY, hi = -INFINITY;
    size_t *bin = calloc(BINS, sizeof *bin), total = 0;
    if (!bin) return abut_fail(err, ABUT_E_NOMEM, "no memory for a colour scale");
    abut_status rc = ABUT_OK;
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < p->spool.n && !rc; k++) {
            rc = abut_spool_get(&p->spool, k, p->record, err);
            for (size_t i = 0; i < n && !rc; i++) {
                const double v = p->record[3 * n + i];
                if (!isfinite(v)) continue;
                if (pass == 0) {
                    lo = fmin(lo, v);
                    hi = fmax(hi, v);
                } else if (hi > lo && hi - lo < INFINITY) {
                    bin[(int)((v - lo) / (hi - lo) * (BINS - 1))]++;
                    total++;
                }
            }
        }
    size_t below = 0, above = 0;
    int first = 0, last = BINS - 1;
    while (first < last && (below += bin[first]) <= total / 200) first++;
    while (last > first && (above += bin[last]) <= total / 200) last--;
    p->range[0] = p->field.from_zero ? 0 : lo + (hi - lo) * first / (BINS - 1);
    p->range[1] = hi > lo ? lo + (hi - lo) * (last + 1) / (BINS - 1) : hi;
    if (!isfinite(lo)) p->range[0] = p->range[1] = 0;
    for (int i = 0; i < 2; i++)
        if (!isnan(p->opt.range[i])) p->range[i] = p->opt.range[i];
    free(bin);
    return rc;
}

/* Digits after the point that tell the times apart without tails. */
static int find_decimals(const abut_picture *p)
{
    for (int n = 1; n < 4; n++) {
        const double unit = pow(10, n);
        int fits = 1;
        for (size_t k = 0; k < p->spool.n && fits; k++) {
            const double t = p->taken[k].time * unit;
            fits = fabs(t - round(t)) <= 1e-6 * (1 + fabs(t));
        }
        if (fits) return n;
    }
    return 4;
}

/* ---- drawing ---- */

/* 1, 2 or 5 times a power of ten, the largest not above x. */
static double round_down(double x)
{
    const double ten = pow(10, floor(log10(x)));
    return ten * (x < 2 * ten ? 1 : x < 5 * ten ? 2 : 5);
}

static abut_status draw_frame(abut_picture *p, size_t k, const abut_camera *camera, abut_image *im, abut_err *err)
{
    const size_t n = p->mesh.npoint;
    abut_status rc = abut_spool_get(&p->spool, k, p->record, err);
    if (rc) return rc;
    double size = abut_bounds_diagonal(&p->box), center[3];
    if (!(size > 0)) size = 1;
    abut_bounds_center(&p->box, center);
    abut_draw_mesh_fill(&p->mesh, p->record, p->opt.field ? p->record + 3 * n : NULL, p->range, 0.0025 * size);
    abut_draw d = { .vertex = p->mesh.vertex, .tri = p->mesh.tri, .n_vertex = p->mesh.n_vertex, .n_tri = p->mesh.n_tri,
                    .n_edged = p->mesh.n_edged, .plane = p->plane, .n_plane = p->n_plane, .camera = *camera,
                    .radius = (float)(0.55 * size), .grid = (float)round_down(0.08 * size), .wireframe = p->opt.wireframe };
    d.up[p->up_axis] = (float)p->up_sign;
    for (int c = 0; c < 3; c++) d.center[c] = (float)center[c];
    return abut_painter_draw(p->painter, &d, im, err);
}

/* Draws a picture with the time and, if wanted, the scale. */
static abut_status draw_labelled(abut_picture *p, size_t k, const abut_camera *camera, int scale, abut_image *im, abut_err *err)
{
    const abut_status rc = draw_frame(p, k, camera, im, err);
    if (rc || !p->opt.label) return rc;
    put_time(im, p->taken[k].time, p->decimals);
    if (scale && p->opt.field) put_scale(im, &p->field, p->range);
    return ABUT_OK;
}

static abut_status write_file(const abut_picture *p, size_t k, const abut_image *im, abut_err *err)
{
    abut_out_file o;
    abut_status rc = abut_out_open_numbered(&o, p->opt.dir, "frame", p->taken[k].index, ".png", p->opt.keep, err);
    if (rc) return rc;
    rc = abut_image_png(im, o.f, err);
    if (rc) abut_out_drop(&o);
    else rc = abut_out_close(&o, err);
    return rc;
}

/* Pictures a second: as wanted, or so that time runs as it does. */
static double film_rate(const abut_picture *p)
{
    const double span = p->taken[p->spool.n - 1].time - p->taken[0].time;
    const double rate = span > 0 ? (double)(p->spool.n - 1) / span : 0;
    return p->opt.per_second > 0 ? p->opt.per_second : rate >= 5 && rate <= 60 ? rate : 25;
}

static abut_status add_to_film(abut_picture *p, size_t k, const abut_image *im, abut_err *err)
{
    abut_status rc = p->film ? ABUT_OK : abut_film_open(p->opt.film, p->opt.keep, im->w, im->h, film_rate(p), &p->film, err);
    if (!rc) rc = abut_film_picture(p->film, im, err);
    return !rc && k + 1 == p->spool.n ? abut_film_close(p->film, err) : rc;
}

static abut_status draw_full(abut_picture *p, size_t k, abut_err *err)
{
    abut_image im = { 0 };
    abut_status rc = draw_labelled(p, k, &p->camera, 1, &im, err);
    if (!rc && p->opt.dir) rc = write_file(p, k, &im, err);
    if (!rc && p->opt.film) rc = add_to_film(p, k, &im, err);
    abut_image_clear(&im);
    return rc;
}

static int panel_count(const abut_picture *p)
{
    const size_t n = p->spool.n;
    const size_t want = p->opt.panels > 0 ? (size_t)p->opt.panels : n <= PANELS_ALL ? n : PANELS;
    return !p->opt.strip ? 0 : (int)(want < n ? want : n);
}

static abut_status begin_strip(abut_picture *p, int rows, int columns, abut_err *err)
{
    static const uint8_t white[3] = { 255, 255, 255 };
    if (has_full(p)) {  /* the painter has the other size */
        abut_painter_free(&p->painter);
        const abut_status rc = abut_painter_open(p->opt.strip_w, p->opt.strip_h, &p->painter, err);
        if (rc) return rc;
    }
    return abut_image_make(&p->strip, columns * (p->opt.strip_w + GAP) - GAP, rows * (p->opt.strip_h + GAP) - GAP, white, err);
}

static abut_status draw_panel(abut_picture *p, int i, abut_err *err)
{
    const int n = panel_count(p), rows = (n + COLUMNS - 1) / COLUMNS, columns = (n + rows - 1) / rows;
    const size_t k = n > 1 ? (size_t)i * (p->spool.n - 1) / (size_t)(n - 1) : p->spool.n - 1;
    abut_image im = { 0 };
    abut_status rc = i ? ABUT_OK : begin_strip(p, rows, columns, err);
    if (!rc) rc = draw_labelled(p, k, &p->strip_camera, i == n - 1, &im, err);
    if (!rc) abut_image_paste(&p->strip, &im, i % columns * (p->opt.strip_w + GAP), i / columns * (p->opt.strip_h + GAP));
    abut_image_clear(&im);
    if (rc || i < n - 1) return rc;
    rc = abut_image_png(&p->strip, p->strip_file.f, err);
    return rc ? rc : abut_out_close(&p->strip_file, err);
}

/* Camera, world and scale of all frames. */
static abut_status prepare(abut_picture *p, abut_err *err)
{
    if (!p->spool.n) return abut_fail(err, ABUT_E_FORMAT, "pictures: no frame to draw");
    abut_status rc = find_box(p, err);
    if (!rc) rc = fit_cameras(p, err);
    if (!rc && p->opt.field) rc = find_range(p, err);
    p->decimals = find_decimals(p);
    return rc;
}

abut_status abut_picture_draw(abut_picture *p, int *left, abut_err *err)
{
    abut_status rc = p->drawn ? ABUT_OK : prepare(p, err);
    if (rc) return rc;
    const int files = has_full(p) ? (int)p->spool.n : 0;
    rc = p->drawn < files ? draw_full(p, (size_t)p->drawn, err) : draw_panel(p, p->drawn - files, err);
    p->drawn++;
    *left = files + panel_count(p) - p->drawn;
    return rc;
}
