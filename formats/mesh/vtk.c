#include "formats/mesh/mesh_io.h"

#include "base/words.h"
#include "formats/stream/state_wire.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    abut_number type;
} TYPES[] = {
    { "char", ABUT_INT8 },          { "signed_char", ABUT_INT8 },     { "unsigned_char", ABUT_UINT8 }, { "short", ABUT_INT16 },
    { "unsigned_short", ABUT_UINT16 }, { "int", ABUT_INT32 },         { "unsigned_int", ABUT_UINT32 },
    { "vtkidtype", ABUT_INT32 },
    { "long", ABUT_INT64 },         { "unsigned_long", ABUT_UINT64 }, { "vtktypeint64", ABUT_INT64 },
    { "vtktypeuint64", ABUT_UINT64 }, { "float", ABUT_FLOAT32 },      { "double", ABUT_FLOAT64 },
};

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

static int is(abut_word w, const char *text) { return strlen(text) == w.n && !strncasecmp(w.s, text, w.n); }

/* ---- numbers ---- */

static abut_status type_of(const vtk *v, abut_word w, abut_number *out, abut_err *err)
{
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (is(w, TYPES[i].name)) return *out = TYPES[i].type, ABUT_OK;
    return abut_scan_expected(&v->s, "data type ", w, "char, short, int, long, float, double or their unsigned forms", err);
}

static abut_status take_real(vtk *v, abut_number type, const char *what, double *out, abut_err *err)
{
    return v->binary ? abut_scan_number(&v->s, type, v->swap, what, out, err)
                     : abut_scan_real(&v->s, abut_scan_token(&v->s), what, out, err);
}

static abut_status take_int(vtk *v, abut_number type, const char *what, int64_t lo, int64_t hi, int64_t *out, abut_err *err)
{
    if (!v->binary) return abut_scan_int(&v->s, abut_scan_token(&v->s), what, lo, hi, out, err);
    double x = 0;       /* exact: lo and hi are below 2^53 */
    const abut_status rc = take_real(v, type, what, &x, err);
    if (rc) return rc;
    if (!(x >= (double)lo && x <= (double)hi) || x != (double)(int64_t)x)
        return abut_fail(err, ABUT_E_FORMAT, "%s: byte %zu: %s is %.17g: expected an integer from %lld to %lld", v->s.name,
                         (size_t)(v->s.p - v->s.start) - abut_number_size(type), what, x, (long long)lo, (long long)hi);
    *out = (int64_t)x;
    return ABUT_OK;
}

/* The count that follows a keyword on its line. */
static abut_status take_count(vtk *v, const char *what, int64_t *out, abut_err *err)
{
    return abut_scan_int(&v->s, abut_scan_word(&v->s), what, 0, INT32_MAX, out, err);
}

/* Whether n numbers can follow; the data begins on the next line. */
static abut_status data_begins(vtk *v, int64_t n, abut_number type, const char *what, abut_err *err)
{
    abut_scan_next_line(&v->s);
    return abut_scan_left(&v->s, n, v->binary ? abut_number_size(type) : 2, what, err);
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
    abut_number type;
    if (v->has_points) return abut_scan_fail(&v->s, err, "a second POINTS");
    abut_status rc = take_count(v, "the number of points", &n, err);
    if (!rc) rc = type_of(v, abut_scan_word(&v->s), &type, err);
    if (!rc) rc = data_begins(v, 3 * n, type, "coordinates of points", err);
    for (int64_t i = 0; i < n && !rc; i++) {
        double x[3];
        for (int k = 0; k < 3 && !rc; k++) rc = take_real(v, type, "a coordinate of a point", &x[k], err);
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
    abut_status rc = data_begins(v, size, ABUT_INT32, "numbers of cells", err);
    v->ncorners = size - v->ncells;
    if (!rc) rc = new_array(v, v->ncells, &v->offset, err);
    if (!rc) rc = new_array(v, v->ncorners, &v->corner, err);
    int64_t at = 0, n;
    for (int64_t c = 0; c < v->ncells && !rc; c++) {
        v->offset[c] = at;
        rc = take_int(v, ABUT_INT32, "the number of points of a cell", 0, v->ncorners - at, &n, err);
        for (int64_t k = 0; k < n && !rc; k++)
            rc = take_int(v, ABUT_INT32, "a point of a cell", 0, last_point(v), &v->corner[at++], err);
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
    abut_number type;
    const abut_word w = abut_scan_token(&v->s);
    if (!is(w, keyword)) return abut_scan_expected(&v->s, "", w, keyword, err);
    abut_status rc = type_of(v, abut_scan_word(&v->s), &type, err);
    if (!rc) rc = data_begins(v, n, type, keyword, err);
    if (!rc) rc = new_array(v, n, out, err);
    for (int64_t i = 0; i < n && !rc; i++) rc = take_int(v, type, keyword, 0, most, &(*out)[i], err);
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
    if (!rc) rc = data_begins(v, n, ABUT_INT32, "cell types", err);
    for (int64_t c = 0; c < n && !rc; c++) {
        rc = take_int(v, ABUT_INT32, "a cell type", 0, 255, &type, err);
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
        abut_number type;
        double x;
        abut_scan_token(&v->s);
        rc = take_count(v, "the components of a field's array", &width, err);
        if (!rc) rc = take_count(v, "the tuples of a field's array", &rows, err);
        if (!rc) rc = type_of(v, abut_scan_word(&v->s), &type, err);
        if (!rc && width && rows > INT32_MAX / width) return abut_scan_fail(&v->s, err, "a field's array is too large");
        if (!rc) rc = data_begins(v, width * rows, type, "numbers of a field", err);
        for (int64_t k = 0; k < width * rows && !rc; k++) rc = take_real(v, type, "a number of a field", &x, err);
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
    if (!v->binary && !is(form, "ASCII")) return abut_scan_expected(&v->s, "", form, "ASCII or BINARY", err);
    v->swap = !ABUT_HOST_BIG_ENDIAN;
    if (!is(abut_scan_token(&v->s), "DATASET")) return abut_scan_fail(&v->s, err, "expected DATASET");
    const abut_word set = abut_scan_word(&v->s);
    if (!is(set, "UNSTRUCTURED_GRID")) return abut_scan_expected(&v->s, "data set ", set, "UNSTRUCTURED_GRID", err);
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
        else return abut_scan_expected(&v->s, "", w, "POINTS, CELLS, CELL_TYPES, FIELD or METADATA", err);
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
    free(v.offset);
    free(v.corner);
    rc = abut_mesh_read_end(rc, in, &v.mesh, out, err);
    if (!rc && (rc = abut_mesh_drop_markers(out, err))) abut_mesh_clear(out);
    return rc;
}
