#include "formats/mesh/ply.h"
#include "base/words.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef enum ply_type { P_I8, P_U8, P_I16, P_U16, P_I32, P_U32, P_F32, P_F64, P_NONE } ply_type;
static const struct {
    const char *name, *other;
    size_t size;
} TYPES[] = { { "char", "int8", 1 },   { "uchar", "uint8", 1 },   { "short", "int16", 2 }, { "ushort", "uint16", 2 },
              { "int", "int32", 4 },   { "uint", "uint32", 4 },   { "float", "float32", 4 }, { "double", "float64", 8 } };

/* Use of a property. */
enum { USE_SKIP, USE_X, USE_Y, USE_Z, USE_FACE, USE_EDGE_A, USE_EDGE_B };
enum { MAX_ELEMENTS = 16, MAX_PROPERTIES = 64 };

typedef struct ply_property {
    ply_type type, count;   /* count P_NONE: one number; otherwise a list */
    int use;
} ply_property;

typedef struct ply_element {
    char kind;              /* 'v', 'f', 'e'; 0: skipped */
    int64_t n;
    int first, nprops;      /* its rows of prop[] */
} ply_element;

typedef struct ply {
    abut_scan s;
    int binary, swap;
    ply_element elem[MAX_ELEMENTS];
    ply_property prop[MAX_PROPERTIES];
    int nelems, nprops;
    int64_t row, vertices;  /* row within the element; number of vertices in the head */
    abut_mesh mesh;
} ply;

static ply_type type_of(abut_word w)
{
    for (int i = 0; i < P_NONE; i++)
        if (abut_word_is(w, TYPES[i].name) || abut_word_is(w, TYPES[i].other)) return (ply_type)i;
    return P_NONE;
}

static int use_of(char kind, abut_word name)
{
    if (kind == 'v' && name.n == 1 && *name.s >= 'x' && *name.s <= 'z') return USE_X + (*name.s - 'x');
    if (kind == 'f' && (abut_word_is(name, "vertex_indices") || abut_word_is(name, "vertex_index"))) return USE_FACE;
    if (kind == 'e' && abut_word_is(name, "vertex1")) return USE_EDGE_A;
    if (kind == 'e' && abut_word_is(name, "vertex2")) return USE_EDGE_B;
    return USE_SKIP;
}

static abut_status head_format(ply *p, abut_err *err)
{
    const abut_word f = abut_scan_word(&p->s);
    if (abut_word_is(f, "ascii")) p->binary = 0;
    else if (abut_word_is(f, "binary_little_endian") || abut_word_is(f, "binary_big_endian")) p->binary = 1;
    else return abut_scan_fail(&p->s, err, "format '%.*s': expected ascii, binary_little_endian or binary_big_endian",
                               (int)(f.n < 40 ? f.n : 40), f.s);
    const uint16_t one = 1;
    const int host_is_big = *(const uint8_t *)&one == 0;
    p->swap = p->binary && abut_word_is(f, "binary_big_endian") != host_is_big;
    return ABUT_OK;
}

static abut_status head_element(ply *p, abut_err *err)
{
    const abut_word name = abut_scan_word(&p->s);
    if (p->nelems == MAX_ELEMENTS) return abut_scan_fail(&p->s, err, "more than %d elements", MAX_ELEMENTS);
    ply_element *e = &p->elem[p->nelems];
    const abut_status rc = abut_scan_int(&p->s, abut_scan_word(&p->s), "the element's count", 0, INT32_MAX, &e->n, err);
    if (rc) return rc;
    e->kind = abut_word_is(name, "vertex") ? 'v' : abut_word_is(name, "face") ? 'f' : abut_word_is(name, "edge") ? 'e' : 0;
    if (abut_word_is(name, "tristrips")) return abut_scan_fail(&p->s, err, "triangle strips: expected faces");
    for (int i = 0; i < p->nelems; i++)
        if (e->kind && p->elem[i].kind == e->kind) return abut_scan_fail(&p->s, err, "a second element of this name");
    e->first = p->nprops;
    p->nelems++;
    return ABUT_OK;
}

static abut_status head_property(ply *p, abut_err *err)
{
    if (!p->nelems) return abut_scan_fail(&p->s, err, "a property before any element");
    if (p->nprops == MAX_PROPERTIES) return abut_scan_fail(&p->s, err, "more than %d properties", MAX_PROPERTIES);
    ply_element *e = &p->elem[p->nelems - 1];
    ply_property *q = &p->prop[p->nprops];
    abut_word w = abut_scan_word(&p->s);
    q->count = P_NONE;
    if (abut_word_is(w, "list")) {
        q->count = type_of(abut_scan_word(&p->s));
        if (q->count >= P_F32) return abut_scan_fail(&p->s, err, "a list's length must have an integer type");
        w = abut_scan_word(&p->s);
    }
    q->type = type_of(w);
    if (q->type == P_NONE)
        return abut_scan_fail(&p->s, err, "type '%.*s': expected char, uchar, short, ushort, int, uint, float or double",
                              (int)(w.n < 40 ? w.n : 40), w.s);
    q->use = use_of(e->kind, abut_scan_word(&p->s));
    if (q->use && (q->use == USE_FACE) != (q->count != P_NONE))
        return abut_scan_fail(&p->s, err, "coordinates are numbers and faces are lists");
    for (int i = e->first; i < p->nprops; i++)
        if (q->use && p->prop[i].use == q->use) return abut_scan_fail(&p->s, err, "a second property of this name");
    p->nprops++, e->nprops++;
    return ABUT_OK;
}

static abut_status head(ply *p, abut_err *err)
{
    int has_format = 0;
    if (!abut_word_is(abut_scan_word(&p->s), "ply")) return abut_scan_fail(&p->s, err, "not a PLY file: expected 'ply'");
    while (abut_scan_next_line(&p->s)) {
        abut_status rc = ABUT_OK;
        const abut_word w = abut_scan_word(&p->s);
        if (abut_word_is(w, "end_header")) {
            if (!has_format) return abut_scan_fail(&p->s, err, "no format line before end_header");
            abut_scan_next_line(&p->s);
            return ABUT_OK;
        }
        if (abut_word_is(w, "format")) rc = head_format(p, err), has_format = 1;
        else if (abut_word_is(w, "element")) rc = head_element(p, err);
        else if (abut_word_is(w, "property")) rc = head_property(p, err);
        else if (w.n && !abut_word_is(w, "comment") && !abut_word_is(w, "obj_info"))
            rc = abut_scan_fail(&p->s, err, "'%.*s': expected format, element, property or end_header",
                                (int)(w.n < 40 ? w.n : 40), w.s);
        if (rc) return rc;
    }
    return abut_scan_fail(&p->s, err, "the header has no end_header");
}

static double raw_value(ply_type type, const void *b)
{
    union { int8_t i8; uint8_t u8; int16_t i16; uint16_t u16; int32_t i32; uint32_t u32; float f; double d; } v;
    memcpy(&v, b, TYPES[type].size);
    switch (type) {
    case P_I8: return v.i8;
    case P_U8: return v.u8;
    case P_I16: return v.i16;
    case P_U16: return v.u16;
    case P_I32: return v.i32;
    case P_U32: return v.u32;
    case P_F32: return (double)v.f;
    default: return v.d;
    }
}

static abut_status take(ply *p, ply_type type, const char *what, double *out, abut_err *err)
{
    if (!p->binary) return abut_scan_real(&p->s, abut_scan_token(&p->s), what, out, err);
    char b[8];
    const size_t size = TYPES[type].size;
    const abut_status rc = abut_scan_raw(&p->s, b, size, size, p->swap, what, err);
    if (!rc) *out = raw_value(type, b);
    return rc;
}

/* A number that was just taken, as a whole one below `end`. */
static abut_status to_index(const ply *p, ply_type type, double v, int64_t end, const char *what, int32_t *out, abut_err *err)
{
    if (v >= 0 && v < (double)end && v == floor(v)) return *out = (int32_t)v, ABUT_OK;
    if (!p->binary)
        return abut_scan_fail(&p->s, err, "%s is %g: expected an integer from 0 to %lld", what, v, (long long)end - 1);
    return abut_fail(err, ABUT_E_FORMAT, "%s: byte %zu, row %lld of its element: %s is %g: expected an integer from 0 to %lld",
                     p->s.name, (size_t)(p->s.p - p->s.start) - TYPES[type].size, (long long)p->row, what, v, (long long)end - 1);
}

static abut_status take_list(ply *p, const ply_property *q, abut_err *err)
{
    double v = 0;
    int32_t n = 0, first = 0, last = 0, now = 0;
    abut_status rc = take(p, q->count, "the length of a list", &v, err);
    if (!rc) rc = to_index(p, q->count, v, INT32_MAX, "the length of a list", &n, err);
    if (!rc && q->use == USE_FACE && n < 3)
        rc = abut_scan_fail(&p->s, err, "a face of %d %s: expected at least 3", n, abut_plural(n, "vertex", "vertices"));
    for (int32_t k = 0; k < n && !rc; k++) {
        rc = take(p, q->type, "an entry of a list", &v, err);
        if (rc || q->use != USE_FACE) continue;
        rc = to_index(p, q->type, v, p->vertices, "a vertex index", &now, err);
        if (!rc && k >= 2) rc = abut_mesh_add_tri(&p->mesh, first, last, now, err);
        if (k == 0) first = now;
        last = now;
    }
    return rc;
}

static abut_status row(ply *p, const ply_element *e, abut_err *err)
{
    double x[3] = { 0 }, v = 0;
    int32_t end[2] = { 0 };
    abut_status rc = ABUT_OK;
    for (int i = e->first; i < e->first + e->nprops && !rc; i++) {
        const ply_property *q = &p->prop[i];
        if (q->count != P_NONE) {
            rc = take_list(p, q, err);
            continue;
        }
        rc = take(p, q->type, "a property", &v, err);
        if (q->use >= USE_X && q->use <= USE_Z) x[q->use - USE_X] = v;
        if (!rc && (q->use == USE_EDGE_A || q->use == USE_EDGE_B))
            rc = to_index(p, q->type, v, p->vertices, q->use == USE_EDGE_A ? "vertex1" : "vertex2", &end[q->use - USE_EDGE_A],
                          err);
    }
    if (!rc && e->kind == 'v') rc = abut_mesh_add_vertex(&p->mesh, x, err);
    return rc || e->kind != 'e' ? rc : abut_mesh_add_seg(&p->mesh, end[0], end[1], err);
}

/* Checks the required properties of an element. */
static abut_status need(const ply *p, const ply_element *e, abut_err *err)
{
    unsigned have = 0;
    for (int i = e->first; i < e->first + e->nprops; i++) have |= 1u << p->prop[i].use;
    const unsigned xyz = 1u << USE_X | 1u << USE_Y | 1u << USE_Z, ab = 1u << USE_EDGE_A | 1u << USE_EDGE_B;
    if (e->kind == 'v' && (have & xyz) != xyz) return abut_scan_fail(&p->s, err, "element vertex lacks x, y or z");
    if (e->kind == 'f' && !(have & 1u << USE_FACE)) return abut_scan_fail(&p->s, err, "element face lacks vertex_indices");
    if (e->kind == 'e' && (have & ab) != ab) return abut_scan_fail(&p->s, err, "element edge lacks vertex1 or vertex2");
    if (!e->nprops) return abut_scan_fail(&p->s, err, "an element has no property");
    return abut_scan_left(&p->s, e->n, (size_t)e->nprops, "elements", err);
}

abut_status abut_ply_read(const abut_bytes *in, abut_mesh *out, abut_err *err)
{
    ply p = { 0 };
    abut_scan_init(&p.s, in);
    abut_status rc = head(&p, err);
    for (int i = 0; i < p.nelems; i++) p.vertices += p.elem[i].kind == 'v' ? p.elem[i].n : 0;
    for (int i = 0; i < p.nelems && !rc; i++) {
        rc = need(&p, &p.elem[i], err);
        for (p.row = 0; p.row < p.elem[i].n && !rc; p.row++) rc = row(&p, &p.elem[i], err);
    }
    abut_mesh *m = &p.mesh;
    if (!rc && !m->nv) rc = abut_fail(err, ABUT_E_FORMAT, "%s: no vertex in it", in->name);
    if (!rc && !m->nf && !m->ns)
        for (int32_t i = 0; i < m->nv && !rc; i++) rc = abut_mesh_add_point(m, i, err);
    if (!rc && (rc = abut_mesh_check(m, err))) abut_wrap(err, "%s", in->name);
    if (rc) abut_mesh_clear(m);
    else *out = *m;
    return rc;
}
