#define _GNU_SOURCE     /* fopencookie */

#include "formats/result/gltf_write.h"

#include "formats/result/text.h"
#include "formats/result/gltf_json.h"
#include "formats/result/out_file.h"
#include "formats/stream/spool.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const double CREASE = 0.7;   /* rad: sharper edges stay sharp */

struct abut_gltf {
    abut_out_file out;
    int model_index;        /* -1 before the first frame */
    abut_gltf_doc doc;
    size_t width;           /* floats in a record: positions of all points of all meshes */
    float *base, *now;      /* first and current record */
    float *vec;             /* room for one list of one mesh, twice */
    abut_spool spool;
    size_t cap;
    abut_bounds box;
    int32_t nh;
    double *hs_point, *hs_normal;
};

abut_status abut_gltf_open(const char *path, int keep, abut_gltf **out, abut_err *err)
{
    abut_gltf *w = calloc(1, sizeof *w);
    if (!w) return abut_fail(err, ABUT_E_NOMEM, "%s: no memory", path);
    w->model_index = -1;
    w->box = abut_bounds_empty();
    const abut_status rc = abut_out_open(&w->out, path, keep, err);
    if (rc) abut_gltf_free(&w);
    else *out = w;
    return rc;
}

int abut_gltf_count(const abut_gltf *w)
{
    return (int)w->doc.n;
}

/* ---- the first frame: meshes ---- */

/* Points of segments and isolated points, numbered in the order they come. */
static abut_status take_loose(const abut_part *p, abut_gltf_mesh *g, abut_err *err)
{
    int32_t *place = malloc(((size_t)p->nv + 1) * sizeof *place);
    g->loose = malloc(((size_t)p->nv + 1) * sizeof *g->loose);
    g->seg = malloc((2 * (size_t)p->nseg + 1) * sizeof *g->seg);
    g->vert = malloc(((size_t)p->npoint + 1) * sizeof *g->vert);
    if (!place || !g->loose || !g->seg || !g->vert) {
        free(place);
        return abut_fail(err, ABUT_E_NOMEM, "object '%s': no memory for its mesh", p->name);
    }
    for (int32_t i = 0; i < p->nv; i++) place[i] = -1;
    for (int32_t i = 0; i < 2 * p->nseg + p->npoint; i++) {
        const int32_t v = i < 2 * p->nseg ? p->seg[i] : p->point[i - 2 * p->nseg];
        if (place[v] < 0) {
            place[v] = g->n_loose;
            g->loose[g->n_loose++] = v;
        }
        if (i < 2 * p->nseg) g->seg[i] = place[v];
        else g->vert[i - 2 * p->nseg] = place[v];
    }
    g->nseg = p->nseg;
    g->nvert = p->npoint;
    free(place);
    return ABUT_OK;
}

static abut_status take_model(abut_gltf *w, const abut_shot *s, abut_err *err)
{
    const abut_model *m = s->model;
    abut_gltf_doc *d = &w->doc;
    abut_status rc = ABUT_OK;
    size_t most = 1;
    d->mesh = calloc((size_t)s->parts->n + 1, sizeof *d->mesh);
    w->hs_point = malloc((3 * (size_t)m->nh + 1) * sizeof *w->hs_point);
    w->hs_normal = malloc((3 * (size_t)m->nh + 1) * sizeof *w->hs_normal);
    d->plane_name = malloc(((size_t)m->nh + 1) * sizeof *d->plane_name);
    if (!d->mesh || !w->hs_point || !w->hs_normal || !d->plane_name)
        return abut_fail(err, ABUT_E_NOMEM, "no memory for the meshes");
    for (int32_t k = 0; k < s->parts->n && !rc; k++) {
        const abut_part *p = &s->parts->part[k];
        if (!p->nv) continue;
        abut_gltf_mesh *g = &d->mesh[d->n_mesh++];
        memcpy(g->name, p->name, sizeof g->name);
        g->object = p->object;
        g->obstacle = p->obstacle;
        g->open = !p->solid;
        g->first = w->width / 3;
        g->npoint = p->nv;
        w->width += 3 * (size_t)p->nv;
        rc = abut_shading_mesh_make(p, s->X, CREASE, &g->skin, err);
        if (!rc) rc = take_loose(p, g, err);
        if ((size_t)g->skin.nv > most) most = (size_t)g->skin.nv;
        if ((size_t)p->nv > most) most = (size_t)p->nv;
    }
    if (rc) return rc;
    w->base = malloc((w->width + 1) * sizeof *w->base);
    w->now = malloc((w->width + 1) * sizeof *w->now);
    w->vec = malloc(6 * most * sizeof *w->vec);
    if (!w->base || !w->now || !w->vec) return abut_fail(err, ABUT_E_NOMEM, "no memory for the meshes");
    d->up_axis = abut_up_axis(m, &d->up_sign);
    w->nh = s->parts->n_plane;
    for (int32_t i = 0; i < w->nh; i++) {
        const int32_t h = s->parts->plane[i];
        memcpy(w->hs_point + 3 * i, m->hs_point + 3 * h, 3 * sizeof *w->hs_point);
        memcpy(w->hs_normal + 3 * i, m->hs_normal + 3 * h, 3 * sizeof *w->hs_normal);
        abut_half_space_name(m, h, d->plane_name[i]);
    }
    w->model_index = s->model_index;
    return abut_spool_open(&w->spool, w->width, err);
}

/* ---- every frame ---- */

static abut_status take_time(abut_gltf *w, const abut_shot *s, abut_err *err)
{
    abut_gltf_doc *d = &w->doc;
    if (d->n == ABUT_GLTF_FRAMES_MAX)
        return abut_fail(err, ABUT_E_ARG, "glTF: more than %d frames; choose fewer with --frames", ABUT_GLTF_FRAMES_MAX);
    if (d->n == w->cap) {
        const size_t cap = w->cap ? 2 * w->cap : 128;
        double *grown = realloc(d->time, cap * sizeof *grown);
        if (!grown) return abut_fail(err, ABUT_E_NOMEM, "glTF: no memory for %zu frames", cap);
        d->time = grown;
        w->cap = cap;
    }
    if (d->n && !((float)(s->head->time - d->time[0]) > (float)(d->time[d->n - 1] - d->time[0])))
        return abut_fail(err, ABUT_E_FORMAT, "glTF: frame %d is at %g s, not after the frame before it (%g s); choose frames "
                         "with rising times with --frames", s->index, s->head->time, d->time[d->n - 1]);
    d->time[d->n] = s->head->time;
    return ABUT_OK;
}

abut_status abut_gltf_frame(abut_gltf *w, const abut_shot *s, abut_err *err)
{
    abut_status rc = ABUT_OK;
    if (w->model_index < 0) rc = take_model(w, s, err);
    else if (w->model_index != s->model_index)
        rc = abut_fail(err, ABUT_E_FORMAT, "glTF: the model changes at frame %d; choose frames of one model with --frames",
                       s->index);
    if (!rc) rc = take_time(w, s, err);
    if (rc) return rc;
    abut_gltf_doc *d = &w->doc;
    for (int32_t k = 0, i = 0; k < s->parts->n; k++) {
        const abut_part *p = &s->parts->part[k];
        if (!p->nv) continue;
        abut_gltf_mesh *g = &d->mesh[i++];
        float *at = w->now + 3 * g->first;
        for (int32_t v = 0; v < p->nv; v++) {
            for (int c = 0; c < 3; c++) at[3 * v + c] = (float)s->x[3 * p->node[v] + c];
            if (!g->obstacle) abut_bounds_add(&w->box, at + 3 * v);
        }
        if (d->n && memcmp(at, w->base + 3 * g->first, 3 * (size_t)p->nv * sizeof *at)) g->moves = 1;
    }
    if (!d->n) memcpy(w->base, w->now, w->width * sizeof *w->base);
    d->n++;
    return abut_spool_add(&w->spool, w->now, err);
}

/* ---- the lists of one mesh at one record ---- */

enum { SKIN, NORMAL, LOOSE, LISTS };

static size_t list_make(const abut_gltf_mesh *g, const float *record, int list, float *out)
{
    const float *x = record + 3 * g->first;
    if (list == NORMAL) {
        abut_shading_mesh_normals(&g->skin, x, out);
        return 3 * (size_t)g->skin.nv;
    }
    const int32_t n = list == SKIN ? g->skin.nv : g->n_loose, *point = list == SKIN ? g->skin.point : g->loose;
    for (int32_t i = 0; i < n; i++) memcpy(out + 3 * i, x + 3 * point[i], 3 * sizeof *out);
    return 3 * (size_t)n;
}

/* The list minus the same list at the base record. */
static size_t list_difference(abut_gltf *w, const abut_gltf_mesh *g, int list)
{
    const size_t n = list_make(g, w->now, list, w->vec);
    list_make(g, w->base, list, w->vec + n);
    for (size_t i = 0; i < n; i++) w->vec[i] -= w->vec[n + i];
    return n;
}

static abut_bounds list_bounds(const float *v, size_t n)
{
    abut_bounds b = abut_bounds_empty();
    for (size_t i = 0; i < n; i += 3) abut_bounds_add(&b, v + i);
    return b;
}

/* ---- the end ---- */

static abut_status find_bounds(abut_gltf *w, abut_err *err)
{
    abut_gltf_doc *d = &w->doc;
    for (int32_t i = 0; i < d->n_mesh; i++) {
        abut_gltf_mesh *g = &d->mesh[i];
        g->skin_box = list_bounds(w->vec, list_make(g, w->base, SKIN, w->vec));
        g->loose_box = list_bounds(w->vec, list_make(g, w->base, LOOSE, w->vec));
        g->skin_morph = malloc(d->n * sizeof *g->skin_morph);
        g->loose_morph = malloc(d->n * sizeof *g->loose_morph);
        if (!g->skin_morph || !g->loose_morph) return abut_fail(err, ABUT_E_NOMEM, "no memory for %zu frames", d->n);
    }
    for (size_t k = 1; k < d->n; k++) {
        const abut_status rc = abut_spool_get(&w->spool, k, w->now, err);
        if (rc) return rc;
        for (int32_t i = 0; i < d->n_mesh; i++) {
            abut_gltf_mesh *g = &d->mesh[i];
            if (!g->moves) continue;
            g->skin_morph[k - 1] = list_bounds(w->vec, list_difference(w, g, SKIN));
            g->loose_morph[k - 1] = list_bounds(w->vec, list_difference(w, g, LOOSE));
        }
    }
    return ABUT_OK;
}

static abut_status make_planes(abut_gltf *w, abut_err *err)
{
    abut_gltf_doc *d = &w->doc;
    const abut_model m = { .nh = w->nh, .hs_point = w->hs_point, .hs_normal = w->hs_normal };
    double center[3];
    d->plane = malloc((12 * (size_t)w->nh + 1) * sizeof *d->plane);
    if (!d->plane) return abut_fail(err, ABUT_E_NOMEM, "no memory for half-spaces");
    if (w->box.lo[0] > w->box.hi[0]) w->box = list_bounds(w->base, w->width);
    const double size = abut_bounds_diagonal(&w->box);
    abut_bounds_center(&w->box, center);
    for (int32_t i = 0; i < w->nh; i++) abut_half_space_square(&m, i, center, size > 0 ? size : 1, d->plane + 12 * i);
    d->plane_normal = w->hs_normal;
    d->n_plane = w->nh;
    return ABUT_OK;
}

static void put_u32(FILE *f, uint32_t v)
{
    fwrite((uint8_t[4]){ (uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24) }, 1, 4, f);
}

static void put_f32(FILE *f, const float *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, v + i, 4);
        put_u32(f, bits);
    }
}

static void put_indices(FILE *f, const int32_t *v, size_t n)
{
    for (size_t i = 0; i < n; i++) put_u32(f, (uint32_t)v[i]);
}

static void put_planes(FILE *f, const abut_gltf_doc *d)
{
    for (int32_t i = 0; i < d->n_plane; i++)
        for (int normal = 0; normal < 2; normal++)
            for (int k = 0; k < 12; k++) {
                const float v = (float)(normal ? d->plane_normal[3 * i + k % 3] : d->plane[12 * i + k]);
                put_f32(f, &v, 1);
            }
}

static void put_constant(abut_gltf *w, FILE *f)
{
    const abut_gltf_doc *d = &w->doc;
    static const int32_t square[6] = { 0, 1, 2, 0, 2, 3 };
    for (int32_t i = 0; i < d->n_mesh; i++) {
        const abut_gltf_mesh *g = &d->mesh[i];
        put_indices(f, g->skin.tri, 3 * (size_t)g->skin.ntri);
        put_indices(f, g->seg, 2 * (size_t)g->nseg);
        put_indices(f, g->vert, (size_t)g->nvert);
    }
    for (int32_t i = 0; i < d->n_plane; i++) put_indices(f, square, 6);
    for (int32_t i = 0; i < d->n_mesh; i++)
        for (int list = 0; list < LISTS; list++) put_f32(f, w->vec, list_make(&d->mesh[i], w->base, list, w->vec));
    put_planes(f, d);
}

static abut_status put_morphs(abut_gltf *w, FILE *f, abut_err *err)
{
    const abut_gltf_doc *d = &w->doc;
    for (size_t k = 1; k < d->n; k++) {
        const abut_status rc = abut_spool_get(&w->spool, k, w->now, err);
        if (rc) return rc;
        for (int32_t i = 0; i < d->n_mesh; i++)
            for (int list = 0; list < LISTS && d->mesh[i].moves; list++)
                put_f32(f, w->vec, list_difference(w, &d->mesh[i], list));
    }
    return ABUT_OK;
}

static void put_weights(FILE *f, const abut_gltf_doc *d)
{
    for (size_t i = 0; i < d->n; i++) put_f32(f, &(float){ (float)d->time[i] }, 1);
    for (size_t i = 0; i < d->n; i++)
        for (size_t k = 1; k < d->n; k++) put_f32(f, &(float){ i == k }, 1);
}

static size_t binary_size(const abut_gltf_doc *d)
{
    size_t size[4];
    abut_gltf_sizes(d, size);
    return size[0] + size[1] + size[2] + size[3];
}

static abut_status put_binary(abut_gltf *w, FILE *f, abut_err *err)
{
    size_t size[4];
    abut_gltf_sizes(&w->doc, size);
    put_constant(w, f);
    const abut_status rc = size[2] ? put_morphs(w, f, err) : ABUT_OK;
    if (!rc && size[3]) put_weights(f, &w->doc);
    return rc;
}

static abut_status write_glb(abut_gltf *w, const char *json, size_t json_size, abut_err *err)
{
    FILE *f = w->out.f;
    const size_t padded = (json_size + 3) & ~(size_t)3, bin = binary_size(&w->doc);
    const uint64_t total = 12 + 8 + (uint64_t)padded + 8 + (uint64_t)bin;
    if (total > UINT32_MAX)
        return abut_fail(err, ABUT_E_ARG, "glTF: %zu frames make %.1f GiB, a .glb holds 4; choose fewer with --frames", w->doc.n,
                         (double)total / (1 << 30));
    fwrite("glTF", 1, 4, f);
    put_u32(f, 2);
    put_u32(f, (uint32_t)total);
    put_u32(f, (uint32_t)padded);
    fwrite("JSON", 1, 4, f);
    fwrite(json, 1, json_size, f);
    fwrite("   ", 1, padded - json_size, f);
    put_u32(f, (uint32_t)bin);
    fwrite("BIN\0", 1, 4, f);
    return put_binary(w, f, err);
}

/* Bytes on their way to base64, which takes three at a time. */
typedef struct sextets {
    FILE *f;
    size_t n;
    uint8_t byte[3 * 1024];
} sextets;

static ssize_t take(void *of, const char *from, size_t n)
{
    sextets *s = of;
    for (size_t at = 0, part; at < n; at += part) {
        part = sizeof s->byte - s->n < n - at ? sizeof s->byte - s->n : n - at;
        memcpy(s->byte + s->n, from + at, part);
        s->n += part;
        if (s->n == sizeof s->byte) abut_base64(s->f, s->byte, s->n), s->n = 0;
    }
    return (ssize_t)n;
}

/* The document alone, its one buffer within it. */
static abut_status write_json(abut_gltf *w, const char *json, abut_err *err)
{
    static const char before[] = "\"buffers\":[{";
    FILE *f = w->out.f;
    sextets s = { .f = f };
    const char *at = strstr(json, before);      /* in strings quotes are escaped */
    if (binary_size(&w->doc) > UINT32_MAX)
        return abut_fail(err, ABUT_E_ARG, "glTF: %zu frames make more than 4 GiB; choose fewer with --frames", w->doc.n);
    FILE *bytes = fopencookie(&s, "w", (cookie_io_functions_t){ .write = take });
    if (!bytes) return abut_fail(err, ABUT_E_NOMEM, "no memory for the glTF document");
    at += sizeof before - 1;
    fwrite(json, 1, (size_t)(at - json), f);
    fputs("\"uri\":\"data:application/octet-stream;base64,", f);
    const abut_status rc = put_binary(w, bytes, err);
    fclose(bytes);
    abut_base64(f, s.byte, s.n);
    fprintf(f, "\",%s\n", at);
    return rc;
}

abut_status abut_gltf_close(abut_gltf *w, abut_err *err)
{
    abut_gltf_doc *d = &w->doc;
    if (!d->n) return abut_fail(err, ABUT_E_FORMAT, "glTF: no frame to write");
    if (!d->n_mesh && !w->nh) return abut_fail(err, ABUT_E_FORMAT, "glTF: the chosen objects have no surface");
    const double start = d->time[0];
    for (size_t i = 0; i < d->n; i++) d->time[i] -= start;
    abut_status rc = find_bounds(w, err);
    if (!rc) rc = make_planes(w, err);
    if (rc) return rc;
    abut_text_file json;
    rc = abut_text_file_open(&json, err);
    if (!rc) rc = abut_gltf_json(d, json.f, err);
    if (!rc) rc = abut_text_file_end(&json, "the glTF document", err);
    const size_t name = strlen(w->out.path);
    if (!rc && name >= 5 && !strcasecmp(w->out.path + name - 5, ".gltf")) rc = write_json(w, json.text, err);
    else if (!rc) rc = write_glb(w, json.text, json.size, err);
    abut_text_file_clear(&json);
    return rc ? rc : abut_out_close(&w->out, err);
}

void abut_gltf_free(abut_gltf **pw)
{
    abut_gltf *w = *pw;
    if (!w) return;
    for (int32_t i = 0; i < w->doc.n_mesh; i++) {
        abut_gltf_mesh *g = &w->doc.mesh[i];
        abut_shading_mesh_clear(&g->skin);
        free(g->loose);
        free(g->seg);
        free(g->vert);
        free(g->skin_morph);
        free(g->loose_morph);
    }
    free(w->doc.mesh);
    free(w->doc.plane);
    free(w->doc.time);
    free(w->base);
    free(w->now);
    free(w->vec);
    free(w->hs_point);
    free(w->hs_normal);
    free(w->doc.plane_name);
    abut_spool_clear(&w->spool);
    abut_out_drop(&w->out);
    free(w);
    *pw = NULL;
}
