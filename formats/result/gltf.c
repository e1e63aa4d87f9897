#define _GNU_SOURCE     /* fopencookie */
/* glTF 2.0: one file with a mesh per object and the animation in it, for Blender, three.js and system viewers; binary, or,
 * where its name ends in .gltf, JSON with the buffer in base64.
 *
 * A mesh holds triangles with normals (split at sharp edges), lines and points as it has them.  Objects that move get
 * one morph target per frame after the first (positions and normals) and share one animation of their weights, so that
 * players blend from frame to frame.  Half-spaces become squares.  Scenes whose up is not +y hang under a rotated root.
 *
 * The buffer has four views, in this order:
 *   indices   u32, of all meshes
 *   base      float3: of each mesh positions and normals of its skin, positions of its loose points; then half-spaces
 *   morph     float3, frame after frame: the three lists of each moving mesh, as differences from the base
 *   animation float: times [n], weights [n * (n - 1)] */
#include "formats/result/results.h"

#include "base/arena.h"
#include "formats/result/object_parts.h"
#include "formats/result/point_fields.h"
#include "model/naming.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const double CREASE = 0.7;   /* rad: sharper edges stay sharp */

/* One object. */
typedef struct gltf_mesh {
    char name[ABUT_PART_NAME];
    int32_t object;
    int obstacle, open;     /* open: shown from both sides */
    size_t first;           /* its first point in a record of the spool */
    int32_t npoint;         /* its points there */
    abut_shading_mesh skin;
    int32_t n_loose, nseg, nvert;
    int32_t *loose;         /* [n_loose] points that segments and isolated points use */
    int32_t *seg, *vert;    /* [2 nseg], [nvert] places in loose */
    int moves;
    abut_bounds skin_box, loose_box;            /* of the base positions */
    abut_bounds *skin_morph, *loose_morph;      /* [frames - 1] of the differences */
} gltf_mesh;

typedef struct gltf_doc {
    int32_t n_mesh, n_plane;
    gltf_mesh *mesh;
    double *plane;          /* [12 n_plane] corners */
    double *plane_normal;   /* [3 n_plane] */
    char (*plane_name)[ABUT_OBJECT_WORDS];      /* [n_plane] */
    int up_axis;
    double up_sign;
    size_t n;               /* frames */
    double *time;           /* [n] s, from 0 */
} gltf_doc;

/* ---- the document ---- */

enum { INDICES, BASE, MORPH, ANIMATION, VIEWS };
enum { U32 = 5125, F32 = 5126, POINTS = 0, LINES = 1, TRIANGLES = 4, VEC3 = 12 };

/* The sections of the document that grow together. */
typedef struct sections {
    FILE *accessors, *meshes, *nodes, *materials, *channels;    /* of text, in that order */
    abut_text_file text[5];
    int accessor, node;
    int times, weights;     /* accessors of the animation */
} sections;

static size_t mesh_rows(const gltf_mesh *g) { return 2 * (size_t)g->skin.nv + (size_t)g->n_loose; }

/* Bytes of the four views. */
static void find_sizes(const gltf_doc *d, size_t size[4])
{
    size_t index = 0, base = 0, morph = 0;
    for (int32_t i = 0; i < d->n_mesh; i++) {
        const gltf_mesh *g = &d->mesh[i];
        index += 3 * (size_t)g->skin.ntri + 2 * (size_t)g->nseg + (size_t)g->nvert;
        base += mesh_rows(g);
        if (g->moves) morph += mesh_rows(g);
    }
    size[INDICES] = 4 * (index + 6 * (size_t)d->n_plane);
    size[BASE] = VEC3 * (base + 8 * (size_t)d->n_plane);
    size[MORPH] = d->n > 1 ? VEC3 * morph * (d->n - 1) : 0;
    size[ANIMATION] = morph && d->n > 1 ? 4 * (d->n + d->n * (d->n - 1)) : 0;
}

static void put_triple(FILE *f, const char *key, const float v[3])
{
    fprintf(f, ",\"%s\":[%.9g,%.9g,%.9g]", key, (double)v[0], (double)v[1], (double)v[2]);
}

/* Writes an accessor and returns its number; *at is its place in the view and moves past it. */
static int put_accessor(sections *s, int view, size_t *at, int type, const char *shape, size_t count, const abut_bounds *box)
{
    fprintf(s->accessors, "%s{\"bufferView\":%d,\"byteOffset\":%zu,\"componentType\":%d,\"type\":\"%s\",\"count\":%zu",
            s->accessor ? ",\n" : "", view, *at, type, shape, count);
    if (box) {
        put_triple(s->accessors, "min", box->lo);
        put_triple(s->accessors, "max", box->hi);
    }
    fputc('}', s->accessors);
    *at += count * (shape[0] == 'V' ? VEC3 : 4);
    return s->accessor++;
}

/* ---- meshes ---- */

/* Offsets of a mesh in its views. */
typedef struct offsets {
    size_t index, base, morph;  /* bytes; morph: inside one frame */
} offsets;

static void put_targets(sections *s, const gltf_doc *d, const gltf_mesh *g, size_t morph, size_t frame_bytes, int loose)
{
    if (!g->moves) return;
    fputs(",\"targets\":[", s->meshes);
    for (size_t k = 0; k + 1 < d->n; k++) {
        size_t at = k * frame_bytes + morph;
        if (loose) {
            at += 2 * (size_t)g->skin.nv * VEC3;
            fprintf(s->meshes, "%s{\"POSITION\":%d}", k ? "," : "",
                    put_accessor(s, MORPH, &at, F32, "VEC3", (size_t)g->n_loose, &g->loose_morph[k]));
        } else {
            const int pos = put_accessor(s, MORPH, &at, F32, "VEC3", (size_t)g->skin.nv, &g->skin_morph[k]);
            fprintf(s->meshes, "%s{\"POSITION\":%d,\"NORMAL\":%d}", k ? "," : "", pos,
                    put_accessor(s, MORPH, &at, F32, "VEC3", (size_t)g->skin.nv, NULL));
        }
    }
    fputs("]", s->meshes);
}

static void put_primitive_end(sections *s, int indices, int mode, int32_t material)
{
    fprintf(s->meshes, "},\"indices\":%d,\"mode\":%d,\"material\":%d", indices, mode, material);
}

static void put_mesh(sections *s, const gltf_doc *d, int32_t i, offsets at, size_t frame_bytes)
{
    const gltf_mesh *g = &d->mesh[i];
    size_t base = at.base;
    int parts = 0;
    fprintf(s->meshes, "%s{\"name\":", i ? ",\n" : "");
    abut_json_string(s->meshes, g->name);
    fputs(",\"primitives\":[", s->meshes);
    if (g->skin.ntri) {
        const int pos = put_accessor(s, BASE, &base, F32, "VEC3", (size_t)g->skin.nv, &g->skin_box);
        const int normal = put_accessor(s, BASE, &base, F32, "VEC3", (size_t)g->skin.nv, NULL);
        const int index = put_accessor(s, INDICES, &at.index, U32, "SCALAR", 3 * (size_t)g->skin.ntri, NULL);
        fprintf(s->meshes, "{\"attributes\":{\"POSITION\":%d,\"NORMAL\":%d", pos, normal);
        put_primitive_end(s, index, TRIANGLES, i);
        put_targets(s, d, g, at.morph, frame_bytes, 0);
        fputc('}', s->meshes);
        parts++;
    }
    const int pos = g->n_loose ? put_accessor(s, BASE, &base, F32, "VEC3", (size_t)g->n_loose, &g->loose_box) : -1;
    for (int lines = 1; lines >= 0; lines--) {
        const size_t n = lines ? 2 * (size_t)g->nseg : (size_t)g->nvert;
        if (!n) continue;
        const int index = put_accessor(s, INDICES, &at.index, U32, "SCALAR", n, NULL);
        fprintf(s->meshes, "%s{\"attributes\":{\"POSITION\":%d", parts++ ? "," : "", pos);
        put_primitive_end(s, index, lines ? LINES : POINTS, i);
        put_targets(s, d, g, at.morph, frame_bytes, 1);
        fputc('}', s->meshes);
    }
    fputc(']', s->meshes);
    if (g->moves) {
        fputs(",\"weights\":[", s->meshes);
        for (size_t k = 0; k + 1 < d->n; k++) fputs(k ? ",0" : "0", s->meshes);
        fputc(']', s->meshes);
    }
    fputc('}', s->meshes);
}

static void put_material(sections *s, const char *name, int32_t i, const float srgb[3], double roughness, int both_sides)
{
    float c[3];
    for (int d = 0; d < 3; d++) c[d] = abut_srgb_to_linear(srgb[d]);
    fprintf(s->materials, "%s{\"name\":", i ? ",\n" : "");
    abut_json_string(s->materials, name);
    fprintf(s->materials, ",\"pbrMetallicRoughness\":{\"baseColorFactor\":[%.4f,%.4f,%.4f,1],\"metallicFactor\":0,"
            "\"roughnessFactor\":%g}%s}", (double)c[0], (double)c[1], (double)c[2], roughness,
            both_sides ? ",\"doubleSided\":true" : "");
}

static void put_node(sections *s, const char *name, int32_t mesh)
{
    fprintf(s->nodes, ",\n{\"name\":");
    abut_json_string(s->nodes, name);
    fprintf(s->nodes, ",\"mesh\":%d}", mesh);
    s->node++;
}

static void put_plane(sections *s, const gltf_doc *d, int32_t i, size_t *index, size_t *base)
{
    abut_bounds box = abut_bounds_empty();
    for (int k = 0; k < 4; k++) {
        const double *c = d->plane + 12 * i + 3 * k;
        abut_bounds_add(&box, (float[3]){ (float)c[0], (float)c[1], (float)c[2] });
    }
    const char *name = d->plane_name[i];
    const int pos = put_accessor(s, BASE, base, F32, "VEC3", 4, &box);
    const int normal = put_accessor(s, BASE, base, F32, "VEC3", 4, NULL);
    const int order = put_accessor(s, INDICES, index, U32, "SCALAR", 6, NULL);
    fprintf(s->meshes, "%s{\"name\":", d->n_mesh + i ? ",\n" : "");
    abut_json_string(s->meshes, name);
    fprintf(s->meshes, ",\"primitives\":[{\"attributes\":{\"POSITION\":%d,\"NORMAL\":%d", pos, normal);
    put_primitive_end(s, order, TRIANGLES, d->n_mesh + i);
    fputs("}]}", s->meshes);
    put_material(s, name, d->n_mesh + i, (float[3]){ 0.82f, 0.83f, 0.85f }, 0.9, 1);
    put_node(s, name, d->n_mesh + i);
}

static void put_bodies(sections *s, const gltf_doc *d, size_t frame_bytes)
{
    offsets at = { 0 };
    int channels = 0;
    for (int32_t i = 0; i < d->n_mesh; i++) {
        const gltf_mesh *g = &d->mesh[i];
        float rgb[3];
        abut_palette_object(g->object, g->obstacle, rgb);
        put_mesh(s, d, i, at, frame_bytes);
        put_material(s, g->name, i, rgb, 0.6, g->open);
        put_node(s, g->name, i);
        if (g->moves)
            fprintf(s->channels, "%s{\"sampler\":0,\"target\":{\"node\":%d,\"path\":\"weights\"}}", channels++ ? "," : "",
                    s->node - 1);
        at.index += 4 * (3 * (size_t)g->skin.ntri + 2 * (size_t)g->nseg + (size_t)g->nvert);
        at.base += VEC3 * mesh_rows(g);
        if (g->moves) at.morph += VEC3 * mesh_rows(g);
    }
    for (int32_t i = 0; i < d->n_plane; i++) put_plane(s, d, i, &at.index, &at.base);
}

/* ---- all of it ---- */

/* The root rotates the scene so that up is +y, as glTF wants. */
static void put_root(FILE *f, const gltf_doc *d, int n_nodes)
{
    fputs("{\"name\":\"abut\"", f);
    const char *half = d->up_sign > 0 ? "" : "-", *other = d->up_sign > 0 ? "-" : "";
    if (d->up_axis == 0) fprintf(f, ",\"rotation\":[0,0,%s0.70710678118654752,0.70710678118654752]", half);
    if (d->up_axis == 1 && d->up_sign < 0) fputs(",\"rotation\":[1,0,0,0]", f);
    if (d->up_axis == 2) fprintf(f, ",\"rotation\":[%s0.70710678118654752,0,0,0.70710678118654752]", other);
    fputs(",\"children\":[", f);
    for (int i = 1; i < n_nodes; i++) fprintf(f, "%s%d", i > 1 ? "," : "", i);
    fputs("]}", f);
}

static void put_views(FILE *f, const size_t size[4])
{
    size_t at = 0;
    fputs("\"bufferViews\":[", f);
    for (int v = 0; v < VIEWS; v++) {
        if (!size[v]) continue;
        fprintf(f, "%s{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu", v ? ",\n" : "", at, size[v]);
        if (v == INDICES) fputs(",\"target\":34963", f);
        if (v == BASE || v == MORPH) fputs(",\"byteStride\":12,\"target\":34962", f);
        fputc('}', f);
        at += size[v];
    }
    fprintf(f, "],\n\"buffers\":[{\"byteLength\":%zu}]", at);
}

/* Times and weights; the channels go into the document when they are whole. */
static void put_animation(sections *s, const gltf_doc *d)
{
    size_t at = 0;
    const float first = 0, last = (float)d->time[d->n - 1];
    const int times = s->accessor++;
    fprintf(s->accessors,
            ",\n{\"bufferView\":%d,\"componentType\":%d,\"type\":\"SCALAR\",\"count\":%zu,\"min\":[%.9g],\"max\":[%.9g]}",
            ANIMATION, F32, d->n, (double)first, (double)last);
    at = 4 * d->n;
    s->times = times;
    s->weights = put_accessor(s, ANIMATION, &at, F32, "SCALAR", d->n * (d->n - 1), NULL);
}

static void put_channels(const sections *s, FILE *f)
{
    fprintf(f,
            "\"animations\":[{\"name\":\"simulation\",\"samplers\":[{\"input\":%d,\"output\":%d,\"interpolation\":\"LINEAR\"}],"
            "\"channels\":[%s]}],\n", s->times, s->weights, s->text[4].text);
}

static abut_status sections_open(sections *s, abut_err *err)
{
    FILE **f[5] = { &s->accessors, &s->meshes, &s->nodes, &s->materials, &s->channels };
    for (int i = 0; i < 5; i++) {
        const abut_status rc = abut_text_file_open(&s->text[i], err);
        if (rc) return rc;
        *f[i] = s->text[i].f;
    }
    return ABUT_OK;
}

static abut_status sections_end(sections *s, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int i = 0; i < 5 && !rc; i++) rc = abut_text_file_end(&s->text[i], "the glTF document", err);
    return rc;
}

static abut_status write_document(const gltf_doc *d, FILE *f, abut_err *err)
{
    sections s = { .node = 1 };
    size_t size[4];
    abut_status rc = sections_open(&s, err);
    find_sizes(d, size);
    if (!rc) {
        fputs("{\"asset\":{\"version\":\"2.0\",\"generator\":\"abut " ABUT_VERSION
              "\"},\n\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\n", f);
        put_bodies(&s, d, d->n > 1 ? size[MORPH] / (d->n - 1) : 0);
        if (size[ANIMATION]) put_animation(&s, d);
        rc = sections_end(&s, err);
    }
    if (!rc) {
        if (size[ANIMATION]) put_channels(&s, f);
        fputs("\"nodes\":[", f);
        put_root(f, d, s.node);
        fprintf(f, "%s],\n\"meshes\":[%s],\n\"materials\":[%s],\n\"accessors\":[%s],\n", s.text[2].text, s.text[1].text,
                s.text[3].text, s.text[0].text);
        put_views(f, size);
        fputs("}", f);
    }
    for (int i = 0; i < 5; i++) abut_text_file_clear(&s.text[i]);
    return rc;
}

/* ---- a file ---- */

struct abut_gltf {
    abut_out_file out;
    int model_index;        /* -1 before the first frame */
    gltf_doc doc;
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

int abut_gltf_count(const abut_gltf *w) { return (int)w->doc.n; }

/* ---- the first frame: meshes ---- */

/* Points of segments and isolated points, numbered in the order they come. */
static abut_status take_loose(const abut_part *p, gltf_mesh *g, abut_err *err)
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
    gltf_doc *d = &w->doc;
    abut_status rc = ABUT_OK;
    size_t most = 1;
    if (!ABUT_ARRAYS(ABUT_ZEROS(d->mesh, s->parts->n), ABUT_ITEMS(w->hs_point, 3 * (size_t)m->nh),
                     ABUT_ITEMS(w->hs_normal, 3 * (size_t)m->nh), ABUT_ITEMS(d->plane_name, m->nh)))
        return abut_fail(err, ABUT_E_NOMEM, "no memory for the meshes");
    for (int32_t k = 0; k < s->parts->n && !rc; k++) {
        const abut_part *p = &s->parts->part[k];
        if (!p->nv) continue;
        gltf_mesh *g = &d->mesh[d->n_mesh++];
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
    if (!ABUT_ARRAYS(ABUT_ITEMS(w->base, w->width), ABUT_ITEMS(w->now, w->width), ABUT_ITEMS(w->vec, 6 * most)))
        return abut_fail(err, ABUT_E_NOMEM, "no memory for the meshes");
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
    gltf_doc *d = &w->doc;
    if (d->n == ABUT_GLTF_FRAMES_MAX)
        return abut_fail(err, ABUT_E_ARG, "glTF: more than %d frames; choose fewer with --frames", ABUT_GLTF_FRAMES_MAX);
    if (!ABUT_GROW(d->time, d->n + 1, w->cap)) return abut_fail(err, ABUT_E_NOMEM, "glTF: no memory for %zu frames", d->n + 1);
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
    gltf_doc *d = &w->doc;
    for (int32_t k = 0, i = 0; k < s->parts->n; k++) {
        const abut_part *p = &s->parts->part[k];
        if (!p->nv) continue;
        gltf_mesh *g = &d->mesh[i++];
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

static size_t list_make(const gltf_mesh *g, const float *record, int list, float *out)
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
static size_t list_difference(abut_gltf *w, const gltf_mesh *g, int list)
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
    gltf_doc *d = &w->doc;
    for (int32_t i = 0; i < d->n_mesh; i++) {
        gltf_mesh *g = &d->mesh[i];
        g->skin_box = list_bounds(w->vec, list_make(g, w->base, SKIN, w->vec));
        g->loose_box = list_bounds(w->vec, list_make(g, w->base, LOOSE, w->vec));
        if (!ABUT_ARRAYS(ABUT_ITEMS(g->skin_morph, d->n), ABUT_ITEMS(g->loose_morph, d->n)))
            return abut_fail(err, ABUT_E_NOMEM, "no memory for %zu frames", d->n);
    }
    for (size_t k = 1; k < d->n; k++) {
        const abut_status rc = abut_spool_get(&w->spool, k, w->now, err);
        if (rc) return rc;
        for (int32_t i = 0; i < d->n_mesh; i++) {
            gltf_mesh *g = &d->mesh[i];
            if (!g->moves) continue;
            g->skin_morph[k - 1] = list_bounds(w->vec, list_difference(w, g, SKIN));
            g->loose_morph[k - 1] = list_bounds(w->vec, list_difference(w, g, LOOSE));
        }
    }
    return ABUT_OK;
}

static abut_status make_planes(abut_gltf *w, abut_err *err)
{
    gltf_doc *d = &w->doc;
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

static void put_planes(FILE *f, const gltf_doc *d)
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
    const gltf_doc *d = &w->doc;
    static const int32_t square[6] = { 0, 1, 2, 0, 2, 3 };
    for (int32_t i = 0; i < d->n_mesh; i++) {
        const gltf_mesh *g = &d->mesh[i];
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
    const gltf_doc *d = &w->doc;
    for (size_t k = 1; k < d->n; k++) {
        const abut_status rc = abut_spool_get(&w->spool, k, w->now, err);
        if (rc) return rc;
        for (int32_t i = 0; i < d->n_mesh; i++)
            for (int list = 0; list < LISTS && d->mesh[i].moves; list++)
                put_f32(f, w->vec, list_difference(w, &d->mesh[i], list));
    }
    return ABUT_OK;
}

static void put_weights(FILE *f, const gltf_doc *d)
{
    for (size_t i = 0; i < d->n; i++) put_f32(f, &(float){ (float)d->time[i] }, 1);
    for (size_t i = 0; i < d->n; i++)
        for (size_t k = 1; k < d->n; k++) put_f32(f, &(float){ i == k }, 1);
}

static size_t binary_size(const gltf_doc *d)
{
    size_t size[4];
    find_sizes(d, size);
    return size[0] + size[1] + size[2] + size[3];
}

static abut_status put_binary(abut_gltf *w, FILE *f, abut_err *err)
{
    size_t size[4];
    find_sizes(&w->doc, size);
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
    gltf_doc *d = &w->doc;
    if (!d->n) return abut_fail(err, ABUT_E_FORMAT, "glTF: no frame to write");
    if (!d->n_mesh && !w->nh) return abut_fail(err, ABUT_E_FORMAT, "glTF: the chosen objects have no surface");
    const double start = d->time[0];
    for (size_t i = 0; i < d->n; i++) d->time[i] -= start;
    abut_status rc = find_bounds(w, err);
    if (!rc) rc = make_planes(w, err);
    if (rc) return rc;
    abut_text_file json;
    rc = abut_text_file_open(&json, err);
    if (!rc) rc = write_document(d, json.f, err);
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
        gltf_mesh *g = &w->doc.mesh[i];
        abut_shading_mesh_clear(&g->skin);
        ABUT_FREE(g->loose, g->seg, g->vert, g->skin_morph, g->loose_morph);
    }
    ABUT_FREE(w->doc.mesh, w->doc.plane, w->doc.time, w->base, w->now, w->vec, w->hs_point, w->hs_normal, w->doc.plane_name);
    abut_spool_clear(&w->spool);
    abut_out_drop(&w->out);
    free(w);
    *pw = NULL;
}
