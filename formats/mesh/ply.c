#include "formats/mesh/mesh_io.h"

#include "base/words.h"
#include "formats/stream/state_wire.h"

#include <math.h>
#include <stdint.h>

static const struct {
    const char *name, *other;
    abut_number type;
} TYPES[] = { { "char", "int8", ABUT_INT8 },       { "uchar", "uint8", ABUT_UINT8 },    { "short", "int16", ABUT_INT16 },
              { "ushort", "uint16", ABUT_UINT16 }, { "int", "int32", ABUT_INT32 },      { "uint", "uint32", ABUT_UINT32 },
              { "float", "float32", ABUT_FLOAT32 }, { "double", "float64", ABUT_FLOAT64 } };

/* Use of a property. */
enum { USE_SKIP, USE_X, USE_Y, USE_Z, USE_FACE, USE_EDGE_A, USE_EDGE_B };
enum { MAX_ELEMENTS = 16, MAX_PROPERTIES = 64 };

typedef struct ply_property {
    abut_number type, count;   /* count ABUT_NO_NUMBER: one number; otherwise a list */
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

static abut_number type_of(abut_word w)
{
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (abut_word_is(w, TYPES[i].name) || abut_word_is(w, TYPES[i].other)) return TYPES[i].type;
    return ABUT_NO_NUMBER;
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
    else return abut_scan_expected(&p->s, "format ", f, "ascii, binary_little_endian or binary_big_endian", err);
    p->swap = p->binary && abut_word_is(f, "binary_big_endian") != ABUT_HOST_BIG_ENDIAN;
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
    q->count = ABUT_NO_NUMBER;
    if (abut_word_is(w, "list")) {
        q->count = type_of(abut_scan_word(&p->s));
        if (q->count >= ABUT_FLOAT32) return abut_scan_fail(&p->s, err, "a list's length must have an integer type");
        w = abut_scan_word(&p->s);
    }
    q->type = type_of(w);
    if (q->type == ABUT_NO_NUMBER)
        return abut_scan_expected(&p->s, "type ", w, "char, uchar, short, ushort, int, uint, float or double", err);
    q->use = use_of(e->kind, abut_scan_word(&p->s));
    if (q->use && (q->use == USE_FACE) != (q->count != ABUT_NO_NUMBER))
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
            rc = abut_scan_expected(&p->s, "", w, "format, element, property or end_header", err);
        if (rc) return rc;
    }
    return abut_scan_fail(&p->s, err, "the header has no end_header");
}

static abut_status take(ply *p, abut_number type, const char *what, double *out, abut_err *err)
{
    return p->binary ? abut_scan_number(&p->s, type, p->swap, what, out, err)
                     : abut_scan_real(&p->s, abut_scan_token(&p->s), what, out, err);
}

/* A number that was just taken, as a whole one below `end`. */
static abut_status to_index(const ply *p, abut_number type, double v, int64_t end, const char *what, int32_t *out, abut_err *err)
{
    if (v >= 0 && v < (double)end && v == floor(v)) return *out = (int32_t)v, ABUT_OK;
    if (!p->binary)
        return abut_scan_fail(&p->s, err, "%s is %g: expected an integer from 0 to %lld", what, v, (long long)end - 1);
    return abut_fail(err, ABUT_E_FORMAT, "%s: byte %zu, row %lld of its element: %s is %g: expected an integer from 0 to %lld",
                     p->s.name, (size_t)(p->s.p - p->s.start) - abut_number_size(type), (long long)p->row, what, v,
                     (long long)end - 1);
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
        if (q->count != ABUT_NO_NUMBER) {
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
    if (!rc) rc = abut_mesh_read_vertices(in, !m->nf && !m->ns, m, err);
    return abut_mesh_read_end(rc, in, m, out, err);
}
