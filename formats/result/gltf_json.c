#include "formats/result/gltf_json.h"

#include "formats/result/palette.h"
#include "formats/result/text.h"


enum { INDICES, BASE, MORPH, ANIMATION, VIEWS };
enum { U32 = 5125, F32 = 5126, POINTS = 0, LINES = 1, TRIANGLES = 4, VEC3 = 12 };

/* The sections of the document that grow together. */
typedef struct sections {
    FILE *accessors, *meshes, *nodes, *materials, *channels;    /* of text, in that order */
    abut_text_file text[5];
    int accessor, node;
    int times, weights;     /* accessors of the animation */
} sections;

static size_t mesh_rows(const abut_gltf_mesh *g)
{
    return 2 * (size_t)g->skin.nv + (size_t)g->n_loose;
}

void abut_gltf_sizes(const abut_gltf_doc *d, size_t size[4])
{
    size_t index = 0, base = 0, morph = 0;
    for (int32_t i = 0; i < d->n_mesh; i++) {
        const abut_gltf_mesh *g = &d->mesh[i];
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
typedef struct place {
    size_t index, base, morph;  /* bytes; morph: inside one frame */
} place;

static void put_targets(sections *s, const abut_gltf_doc *d, const abut_gltf_mesh *g, size_t morph, size_t frame_bytes,
                        int loose)
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

static void put_mesh(sections *s, const abut_gltf_doc *d, int32_t i, place at, size_t frame_bytes)
{
    const abut_gltf_mesh *g = &d->mesh[i];
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

static void put_plane(sections *s, const abut_gltf_doc *d, int32_t i, size_t *index, size_t *base)
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

static void put_bodies(sections *s, const abut_gltf_doc *d, size_t frame_bytes)
{
    place at = { 0 };
    int channels = 0;
    for (int32_t i = 0; i < d->n_mesh; i++) {
        const abut_gltf_mesh *g = &d->mesh[i];
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

/* ---- the document ---- */

/* The root rotates the scene so that up is +y, as glTF wants. */
static void put_root(FILE *f, const abut_gltf_doc *d, int n_nodes)
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
static void put_animation(sections *s, const abut_gltf_doc *d)
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
            "\"channels\":[%s]}],\n",
            s->times, s->weights, s->text[4].text);
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

abut_status abut_gltf_json(const abut_gltf_doc *d, FILE *f, abut_err *err)
{
    sections s = { .node = 1 };
    size_t size[4];
    abut_status rc = sections_open(&s, err);
    abut_gltf_sizes(d, size);
    if (!rc) {
        fputs("{\"asset\":{\"version\":\"2.0\",\"generator\":\"abut " ABUT_VERSION
              "\"},\n\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\n",
              f);
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
