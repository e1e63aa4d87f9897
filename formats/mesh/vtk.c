#include "formats/mesh/vtk.h"

#include "base/words.h"
#include "formats/mesh/mesh_io.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef enum vtk_type { V_I8, V_U8, V_I16, V_U16, V_I32, V_U32, V_I64, V_U64, V_F32, V_F64, V_NONE } vtk_type;
static const struct {
    const char *name;
    vtk_type type;
    size_t size;
} TYPES[] = {
    { "char", V_I8, 1 },         { "signed_char", V_I8, 1 },    { "unsigned_char", V_U8, 1 },  { "short", V_I16, 2 },
    { "unsigned_short", V_U16, 2 }, { "int", V_I32, 4 },        { "unsigned_int", V_U32, 4 },  { "vtkidtype", V_I32, 4 },
    { "long", V_I64, 8 },        { "unsigned_long", V_U64, 8 }, { "vtktypeint64", V_I64, 8 },  { "vtktypeuint64", V_U64, 8 },
    { "float", V_F32, 4 },       { "double", V_F64, 8 },
};
typedef struct vtk_kind {
    vtk_type type;
    size_t size;
} vtk_kind;
static const vtk_kind INT = { V_I32, 4 };

static const struct cell_type {
    int type, corners;          /* 0: refused */
    const char *name;
} CELLS[] = {
    { 1, 1, "vertex" },     { 3, 2, "line" },          { 5, 3, "triangle" },      { 9, 4, "quad" },   { 10, 4, "tet" },
    { 2, 0, "poly-vertex" }, { 4, 0, "poly-line" },    { 6, 0, "triangle strip" }, { 7, 0, "polygon" }, { 8, 0, "pixel" },
    { 11, 0, "voxel" },     { 12, 0, "hexahedron" },   { 13, 0, "wedge" },        { 14, 0, "pyramid" },
    { 21, 0, "line of order 2" }, { 22, 0, "triangle of order 2" }, { 24, 0, "tet of order 2" },
    { 25, 0, "hexahedron of order 2" },
    { 42, 0, "polyhedron" }, { 71, 0, "tet of higher order" }, { 72, 0, "hexahedron of higher order" },
};

typedef struct vtk {
    abut_scan s;
    int binary, swap, by_offsets;       /* of the file; by_offsets: version 5 */
    int64_t ncells, ncorners;
    int64_t *offset, *corner;           /* [ncells + 1], [ncorners]; NULL before CELLS */
    int has_points, has_types;
    abut_mesh mesh;
} vtk;

static int is(abut_word w, const char *text)
{
    return strlen(text) == w.n && !strncasecmp(w.s, text, w.n);
}

static int shown(abut_word w)
{
    return (int)(w.n < 40 ? w.n : 40);
}

/* ---- numbers ---- */

static abut_status kind_of(const vtk *v, abut_word w, vtk_kind *out, abut_err *err)
{
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (is(w, TYPES[i].name)) {
            *out = (vtk_kind){ TYPES[i].type, TYPES[i].size };
            return ABUT_OK;
        }
    return abut_scan_fail(&v->s, err, "data type '%.*s': expected char, short, int, long, float, double or their unsigned forms",
                          shown(w), w.s);
}

static abut_status take_real(vtk *v, vtk_kind kind, const char *what, double *out, abut_err *err)
{
    if (!v->binary) return abut_scan_real(&v->s, abut_scan_token(&v->s), what, out, err);
    union {
        int8_t i8; uint8_t u8; int16_t i16; uint16_t u16; int32_t i32; uint32_t u32; int64_t i64; uint64_t u64; float f; double d;
    } b;
    const abut_status rc = abut_scan_raw(&v->s, &b, kind.size, kind.size, v->swap, what, err);
    if (rc) return rc;
    switch (kind.type) {
    case V_I8: *out = b.i8; break;
    case V_U8: *out = b.u8; break;
    case V_I16: *out = b.i16; break;
    case V_U16: *out = b.u16; break;
    case V_I32: *out = b.i32; break;
    case V_U32: *out = b.u32; break;
    case V_I64: *out = (double)b.i64; break;
    case V_U64: *out = (double)b.u64; break;
    case V_F32: *out = (double)b.f; break;
    default: *out = b.d;
    }
    return ABUT_OK;
}

static abut_status take_int(vtk *v, vtk_kind kind, const char *what, int64_t lo, int64_t hi, int64_t *out, abut_err *err)
{
    if (!v->binary) return abut_scan_int(&v->s, abut_scan_token(&v->s), what, lo, hi, out, err);
    double x = 0;       /* exact: lo and hi are below 2^53 */
    const abut_status rc = take_real(v, kind, what, &x, err);
    if (rc) return rc;
    if (!(x >= (double)lo && x <= (double)hi) || x != (double)(int64_t)x)
        return abut_fail(err, ABUT_E_FORMAT, "%s: byte %zu: %s is %.17g: expected an integer from %lld to %lld", v->s.name,
                         (size_t)(v->s.p - v->s.start) - kind.size, what, x, (long long)lo, (long long)hi);
    *out = (int64_t)x;
    return ABUT_OK;
}

/* The count that follows a keyword on its line. */
static abut_status take_count(vtk *v, const char *what, int64_t *out, abut_err *err)
{
    return abut_scan_int(&v->s, abut_scan_word(&v->s), what, 0, INT32_MAX, out, err);
}

/* Whether n numbers can follow; the data begins on the next line. */
static abut_status data_begins(vtk *v, int64_t n, vtk_kind kind, const char *what, abut_err *err)
{
    abut_scan_next_line(&v->s);
    return abut_scan_left(&v->s, n, v->binary ? kind.size : 2, what, err);
}

static abut_status new_array(const vtk *v, int64_t n, int64_t **out, abut_err *err)
{
    *out = malloc(((size_t)n + 1) * sizeof **out);
    return *out ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "%s: no memory for %lld numbers", v->s.name, (long long)n);
}

/* ---- sections ---- */

static abut_status points(vtk *v, abut_err *err)
{
    int64_t n;
    vtk_kind kind;
    if (v->has_points) return abut_scan_fail(&v->s, err, "a second POINTS");
    abut_status rc = take_count(v, "the number of points", &n, err);
    if (!rc) rc = kind_of(v, abut_scan_word(&v->s), &kind, err);
    if (!rc) rc = data_begins(v, 3 * n, kind, "coordinates of points", err);
    for (int64_t i = 0; i < n && !rc; i++) {
        double x[3];
        for (int k = 0; k < 3 && !rc; k++) rc = take_real(v, kind, "a coordinate of a point", &x[k], err);
        if (!rc) rc = abut_mesh_add_vertex(&v->mesh, x, err);
    }
    v->has_points = 1;
    return rc;
}

/* The largest number of a point: where POINTS come after CELLS, only the mesh as a whole can tell. */
static int64_t last_point(const vtk *v) { return v->has_points && v->mesh.nv ? v->mesh.nv - 1 : INT32_MAX; }

/* Reads cells: the number of corners, then the corners. */
static abut_status cells_by_count(vtk *v, int64_t size, abut_err *err)
{
    abut_status rc = data_begins(v, size, INT, "numbers of cells", err);
    v->ncorners = size - v->ncells;
    if (!rc) rc = new_array(v, v->ncells, &v->offset, err);
    if (!rc) rc = new_array(v, v->ncorners, &v->corner, err);
    int64_t at = 0, n;
    for (int64_t c = 0; c < v->ncells && !rc; c++) {
        v->offset[c] = at;
        rc = take_int(v, INT, "the number of points of a cell", 0, v->ncorners - at, &n, err);
        for (int64_t k = 0; k < n && !rc; k++)
            rc = take_int(v, INT, "a point of a cell", 0, last_point(v), &v->corner[at++], err);
    }
    if (rc) return rc;
    v->offset[v->ncells] = at;
    if (at != v->ncorners)
        return abut_scan_fail(&v->s, err, "CELLS announces %lld number%s and its %lld %s %lld", (long long)size, abut_s(size),
                              (long long)v->ncells, abut_plural(v->ncells, "cell has", "cells have"),
                              (long long)(at + v->ncells));
    return ABUT_OK;
}

/* Reads one of the two arrays of version 5, with its keyword. */
static abut_status listed(vtk *v, const char *keyword, int64_t n, int64_t most, int64_t **out, abut_err *err)
{
    vtk_kind kind;
    const abut_word w = abut_scan_token(&v->s);
    if (!is(w, keyword)) return abut_scan_fail(&v->s, err, "'%.*s': expected %s", shown(w), w.s, keyword);
    abut_status rc = kind_of(v, abut_scan_word(&v->s), &kind, err);
    if (!rc) rc = data_begins(v, n, kind, keyword, err);
    if (!rc) rc = new_array(v, n, out, err);
    for (int64_t i = 0; i < n && !rc; i++) rc = take_int(v, kind, keyword, 0, most, &(*out)[i], err);
    return rc;
}

static abut_status cells_by_offsets(vtk *v, int64_t noffsets, int64_t ncorners, abut_err *err)
{
    v->ncells = noffsets ? noffsets - 1 : 0;
    v->ncorners = ncorners;
    abut_status rc = listed(v, "OFFSETS", noffsets, ncorners, &v->offset, err);
    if (!rc) rc = listed(v, "CONNECTIVITY", ncorners, last_point(v), &v->corner, err);
    if (rc) return rc;
    if (!noffsets) v->offset[0] = 0;
    for (int64_t c = 0; c < v->ncells; c++)
        if (v->offset[c + 1] < v->offset[c]) return abut_scan_fail(&v->s, err, "OFFSETS decrease behind cell %lld", (long long)c);
    if (v->offset[0] || v->offset[v->ncells] != ncorners)
        return abut_scan_fail(&v->s, err, "OFFSETS are from %lld to %lld: expected 0 to %lld", (long long)v->offset[0],
                              (long long)v->offset[v->ncells], (long long)ncorners);
    return ABUT_OK;
}

static abut_status cells(vtk *v, abut_err *err)
{
    int64_t n, size;
    if (v->corner) return abut_scan_fail(&v->s, err, "a second CELLS");
    abut_status rc = take_count(v, "the number of cells", &n, err);
    if (!rc) rc = take_count(v, "the size of CELLS", &size, err);
    if (rc) return rc;
    if (v->by_offsets) return cells_by_offsets(v, n, size, err);
    if (size < n)
        return abut_scan_fail(&v->s, err, "CELLS has %lld cell%s and %lld number%s", (long long)n, abut_s(n), (long long)size,
                              abut_s(size));
    v->ncells = n;
    return cells_by_count(v, size, err);
}

static abut_status refused(const vtk *v, int64_t c, int64_t type, const char *name, abut_err *err)
{
    return abut_scan_fail(&v->s, err, "cell %lld has type %lld (%s): expected vertices (1), lines (3), triangles (5), "
                          "quads (9) or tets (10)", (long long)c, (long long)type, name);
}

static abut_status add_cell(vtk *v, int64_t c, int64_t type, abut_err *err)
{
    const struct cell_type *t = NULL;
    for (size_t i = 0; i < sizeof CELLS / sizeof *CELLS; i++)
        if (CELLS[i].type == type) t = &CELLS[i];
    if (!t || !t->corners) return refused(v, c, type, t ? t->name : "unknown", err);
    const int64_t n = v->offset[c + 1] - v->offset[c], *p = v->corner + v->offset[c];
    if (n != t->corners)
        return abut_scan_fail(&v->s, err, "cell %lld, a %s, has %lld point%s: expected %d", (long long)c, t->name, (long long)n,
                              abut_s(n), t->corners);
    int32_t a[4] = { 0 };
    for (int k = 0; k < t->corners; k++) a[k] = (int32_t)p[k];
    abut_mesh *m = &v->mesh;
    abut_status rc;
    switch (type) {
    case 1: return abut_mesh_add_point(m, a[0], err);
    case 3: return abut_mesh_add_seg(m, a[0], a[1], err);
    case 5: return abut_mesh_add_tri(m, a[0], a[1], a[2], err);
    case 9:
        rc = abut_mesh_add_tri(m, a[0], a[1], a[2], err);
        return rc ? rc : abut_mesh_add_tri(m, a[0], a[2], a[3], err);
    default: return abut_mesh_add_tet(m, a[0], a[1], a[2], a[3], err);
    }
}

static abut_status cell_types(vtk *v, abut_err *err)
{
    int64_t n, type;
    if (!v->corner) return abut_scan_fail(&v->s, err, "CELL_TYPES before CELLS");
    if (v->has_types) return abut_scan_fail(&v->s, err, "a second CELL_TYPES");
    abut_status rc = take_count(v, "the number of cell types", &n, err);
    if (!rc && n != v->ncells)
        return abut_scan_fail(&v->s, err, "%lld cell type%s: expected one for each of %lld cell%s", (long long)n, abut_s(n),
                              (long long)v->ncells, abut_s(v->ncells));
    if (!rc) rc = data_begins(v, n, INT, "cell types", err);
    for (int64_t c = 0; c < n && !rc; c++) {
        rc = take_int(v, INT, "a cell type", 0, 255, &type, err);
        if (!rc) rc = add_cell(v, c, type, err);
    }
    v->has_types = 1;
    return rc;
}

/* FIELD name n, then n arrays: name, components, tuples, type, numbers. */
static abut_status skip_field(vtk *v, abut_err *err)
{
    int64_t arrays, width, rows;
    abut_scan_word(&v->s);
    abut_status rc = take_count(v, "the number of arrays of a field", &arrays, err);
    for (int64_t i = 0; i < arrays && !rc; i++) {
        vtk_kind kind;
        double x;
        abut_scan_token(&v->s);
        rc = take_count(v, "the components of a field's array", &width, err);
        if (!rc) rc = take_count(v, "the tuples of a field's array", &rows, err);
        if (!rc) rc = kind_of(v, abut_scan_word(&v->s), &kind, err);
        if (!rc && width && rows > INT32_MAX / width) return abut_scan_fail(&v->s, err, "a field's array is too large");
        if (!rc) rc = data_begins(v, width * rows, kind, "numbers of a field", err);
        for (int64_t k = 0; k < width * rows && !rc; k++) rc = take_real(v, kind, "a number of a field", &x, err);
    }
    return rc;
}

static abut_status head(vtk *v, abut_err *err)
{
    double version;
    const abut_word hash = abut_scan_word(&v->s), vtk_word = abut_scan_word(&v->s), file = abut_scan_word(&v->s);
    if (hash.n && *hash.s == '<')
        return abut_scan_fail(&v->s, err, "is XML VTK, as .vtu and .vtp files are: expected legacy VTK, '# vtk DataFile Version' "
                              "(or one of " ABUT_MESH_KINDS ")");
    if (!is(hash, "#") || !is(vtk_word, "vtk") || !is(file, "DataFile") || !is(abut_scan_word(&v->s), "Version"))
        return abut_scan_fail(&v->s, err, "not a legacy VTK file: expected '# vtk DataFile Version'");
    abut_status rc = abut_scan_real(&v->s, abut_scan_word(&v->s), "the version", &version, err);
    if (rc) return rc;
    if (version < 1 || version >= 6) return abut_scan_fail(&v->s, err, "VTK version %g: expected 1.0 to 5.1", version);
    v->by_offsets = version >= 5;
    abut_scan_next_line(&v->s);         /* the title */
    abut_scan_next_line(&v->s);
    const abut_word form = abut_scan_word(&v->s);
    v->binary = is(form, "BINARY");
    if (!v->binary && !is(form, "ASCII"))
        return abut_scan_fail(&v->s, err, "'%.*s': expected ASCII or BINARY", shown(form), form.s);
    const uint16_t one = 1;
    v->swap = *(const uint8_t *)&one == 1;
    if (!is(abut_scan_token(&v->s), "DATASET")) return abut_scan_fail(&v->s, err, "expected DATASET");
    const abut_word set = abut_scan_word(&v->s);
    if (!is(set, "UNSTRUCTURED_GRID"))
        return abut_scan_fail(&v->s, err, "data set '%.*s': expected UNSTRUCTURED_GRID", shown(set), set.s);
    return ABUT_OK;
}

static abut_status sections(vtk *v, abut_err *err)
{
    abut_status rc = ABUT_OK;
    while (!rc) {
        const abut_word w = abut_scan_token(&v->s);
        if (!w.n || is(w, "POINT_DATA") || is(w, "CELL_DATA")) break;
        if (is(w, "POINTS")) rc = points(v, err);
        else if (is(w, "CELLS")) rc = cells(v, err);
        else if (is(w, "CELL_TYPES")) rc = cell_types(v, err);
        else if (is(w, "FIELD")) rc = skip_field(v, err);
        else if (is(w, "METADATA"))
            while (abut_scan_next_line(&v->s) && abut_scan_rest(&v->s).n) continue;
        else return abut_scan_fail(&v->s, err, "'%.*s': expected POINTS, CELLS, CELL_TYPES, FIELD or METADATA", shown(w), w.s);
    }
    if (!rc && !(v->has_points && v->has_types))
        return abut_scan_fail(&v->s, err, "the file has no %s", !v->has_points ? "POINTS" : v->corner ? "CELL_TYPES" : "CELLS");
    return rc;
}

abut_status abut_vtk_read(const abut_bytes *in, abut_mesh *out, abut_err *err)
{
    vtk v = { 0 };
    abut_scan_init(&v.s, in);
    abut_status rc = head(&v, err);
    if (!rc) rc = sections(&v, err);
    if (!rc && (rc = abut_mesh_check(&v.mesh, err))) abut_wrap(err, "%s", in->name);
    if (!rc) rc = abut_mesh_drop_markers(&v.mesh, err);
    free(v.offset);
    free(v.corner);
    if (rc) abut_mesh_clear(&v.mesh);
    else *out = v.mesh;
    return rc;
}
