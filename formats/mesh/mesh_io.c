#include "formats/mesh/mesh_io.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct mesh_kind {
    const char *extension;
    abut_status (*read)(const abut_bytes *in, abut_mesh *out, abut_err *err);   /* NULL: two files */
} KINDS[] = {
    { ".msh", abut_msh_read }, { ".obj", abut_obj_read }, { ".ply", abut_ply_read }, { ".stl", abut_stl_read },
    { ".seg", abut_seg_read }, { ".pt", abut_pt_read },   { ".vtk", abut_vtk_read }, { ".node", NULL },
    { ".ele", NULL },
};

static const struct mesh_kind *kind_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof KINDS / sizeof *KINDS; i++)
        if (!strcasecmp(dot, KINDS[i].extension)) return &KINDS[i];
    return NULL;
}

int abut_mesh_is_file(const char *path) { return kind_of(path) != NULL; }

/* name.node and name.ele, whichever of the two was named. */
static abut_status load_pair(const char *path, abut_mesh *out, abut_err *err)
{
    const size_t stem = (size_t)(strrchr(path, '.') - path);
    const int is_upper = isupper((unsigned char)path[stem + 1]);
    char *name = malloc(stem + 6);
    abut_bytes node = { 0 }, ele = { 0 };
    if (!name) return abut_fail(err, ABUT_E_NOMEM, "%s: no memory for a name", path);
    memcpy(name, path, stem);
    memcpy(name + stem, is_upper ? ".NODE" : ".node", 6);
    abut_status rc = abut_bytes_load(name, &node, err);
    memcpy(name + stem, is_upper ? ".ELE" : ".ele", 5);
    if (!rc) rc = abut_bytes_load(name, &ele, err);
    if (!rc) rc = abut_tetgen_files_read(&node, &ele, out, err);
    abut_bytes_clear(&node);
    abut_bytes_clear(&ele);
    free(name);
    return rc;
}

abut_status abut_mesh_load(const char *path, abut_mesh *out, abut_err *err)
{
    const struct mesh_kind *kind = kind_of(path);
    if (!kind) return abut_fail(err, ABUT_E_FORMAT, "%s: expected a mesh file: " ABUT_MESH_KINDS, path);
    if (!kind->read) return load_pair(path, out, err);
    abut_bytes in = { 0 };
    abut_status rc = abut_bytes_load(path, &in, err);
    if (!rc) rc = kind->read(&in, out, err);
    abut_bytes_clear(&in);
    return rc;
}

abut_status abut_mesh_read_end(abut_status rc, const abut_bytes *in, abut_mesh *m, abut_mesh *out, abut_err *err)
{
    if (!rc && (rc = abut_mesh_check(m, err))) abut_wrap(err, "%s", in->name);
    if (rc) abut_mesh_clear(m);
    else *out = *m;
    return rc;
}

abut_status abut_mesh_read_vertices(const abut_bytes *in, int alone, abut_mesh *m, abut_err *err)
{
    if (!m->nv) return abut_fail(err, ABUT_E_FORMAT, "%s: no vertex in it", in->name);
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; alone && i < m->nv && !rc; i++) rc = abut_mesh_add_point(m, i, err);
    return rc;
}

/* ---- segments and points ---- */

static abut_status end_of_line(abut_scan *s, abut_err *err)
{
    const abut_word w = abut_scan_word(s);
    if (!w.n || *w.s == '#') return ABUT_OK;
    return abut_scan_fail(s, err, "'%.*s' at the end of the line", (int)(w.n < 40 ? w.n : 40), w.s);
}

/* Three numbers; the first one may have been taken already. */
static abut_status vertex(abut_scan *s, const abut_word *x0, abut_mesh *m, abut_err *err)
{
    double x[3];
    abut_status rc = ABUT_OK;
    for (int k = 0; k < 3 && !rc; k++)
        rc = abut_scan_real(s, k == 0 && x0 ? *x0 : abut_scan_word(s), "a coordinate", &x[k], err);
    if (!rc) rc = end_of_line(s, err);
    return rc ? rc : abut_mesh_add_vertex(m, x, err);
}

static abut_status segment(abut_scan *s, abut_mesh *m, abut_err *err)
{
    int64_t v[2];
    abut_status rc = ABUT_OK;
    for (int k = 0; k < 2 && !rc; k++)
        rc = abut_scan_int(s, abut_scan_word(s), "a segment's vertex", 1, m->nv, &v[k], err);
    if (!rc) rc = end_of_line(s, err);
    return rc ? rc : abut_mesh_add_seg(m, (int32_t)(v[0] - 1), (int32_t)(v[1] - 1), err);
}

static abut_status statement(abut_scan *s, int bare_points, abut_mesh *m, abut_err *err)
{
    const abut_word w = abut_scan_word(s);
    if (!w.n || *w.s == '#') return ABUT_OK;
    if (abut_word_is(w, "v")) return vertex(s, NULL, m, err);
    if (bare_points) return vertex(s, &w, m, err);
    if (abut_word_is(w, "s")) return segment(s, m, err);
    return abut_scan_expected(s, "", w, "v or s", err);
}

static abut_status read_lines(const abut_bytes *in, int is_points, abut_mesh *out, abut_err *err)
{
    abut_mesh m = { 0 };
    abut_scan s;
    abut_status rc;
    abut_scan_init(&s, in);
    do rc = statement(&s, is_points, &m, err);
    while (!rc && abut_scan_next_line(&s));
    if (!rc) rc = abut_mesh_read_vertices(in, is_points, &m, err);
    if (!rc && !is_points && !m.ns) rc = abut_fail(err, ABUT_E_FORMAT, "%s: no segment in it", in->name);
    return abut_mesh_read_end(rc, in, &m, out, err);
}

abut_status abut_seg_read(const abut_bytes *in, abut_mesh *out, abut_err *err) { return read_lines(in, 0, out, err); }

abut_status abut_pt_read(const abut_bytes *in, abut_mesh *out, abut_err *err) { return read_lines(in, 1, out, err); }

/* ---- TetGen's two files ---- */

/* The next word outside comments, which run from # to the end of the line. */
static abut_word next_word(abut_scan *s)
{
    abut_word w = abut_scan_token(s);
    while (w.n && *w.s == '#') {
        abut_scan_rest(s);
        w = abut_scan_token(s);
    }
    return w;
}

static abut_status skip_numbers(abut_scan *s, int64_t n, abut_err *err)
{
    double v;
    for (int64_t i = 0; i < n; i++) {
        const abut_status rc = abut_scan_real(s, next_word(s), "an attribute", &v, err);
        if (rc) return rc;
    }
    return ABUT_OK;
}

static abut_status nodes(abut_scan *s, abut_mesh *m, int64_t *base, abut_err *err)
{
    int64_t n, dim, attributes, marker, id;
    *base = 0;
    abut_status rc = abut_scan_int(s, next_word(s), "the number of points", 1, INT32_MAX, &n, err);
    if (!rc) rc = abut_scan_int(s, next_word(s), "the dimension", 3, 3, &dim, err);
    if (!rc) rc = abut_scan_int(s, next_word(s), "the number of attributes", 0, 1000, &attributes, err);
    if (!rc) rc = abut_scan_int(s, next_word(s), "the number of markers", 0, 1, &marker, err);
    if (!rc) rc = abut_scan_left(s, n, 8, "points", err);
    for (int64_t i = 0; i < n && !rc; i++) {
        double x[3];
        rc = i ? abut_scan_int(s, next_word(s), "a point's number", *base + i, *base + i, &id, err)
               : abut_scan_int(s, next_word(s), "the first point's number", 0, 1, base, err);
        for (int k = 0; k < 3 && !rc; k++) rc = abut_scan_real(s, next_word(s), "a coordinate", &x[k], err);
        if (!rc) rc = skip_numbers(s, attributes + marker, err);
        if (!rc) rc = abut_mesh_add_vertex(m, x, err);
    }
    return rc;
}

static abut_status tets(abut_scan *s, abut_mesh *m, int64_t base, abut_err *err)
{
    int64_t n, corners, attributes, id, v[4];
    abut_status rc = abut_scan_int(s, next_word(s), "the number of tets", 1, INT32_MAX, &n, err);
    if (!rc) rc = abut_scan_int(s, next_word(s), "the corners of a tet", 4, 4, &corners, err);
    if (!rc) rc = abut_scan_int(s, next_word(s), "the number of attributes", 0, 1000, &attributes, err);
    if (!rc) rc = abut_scan_left(s, n, 10, "tets", err);
    for (int64_t i = 0; i < n && !rc; i++) {
        rc = abut_scan_int(s, next_word(s), "a tet's number", base + i, base + i, &id, err);
        for (int k = 0; k < 4 && !rc; k++)
            rc = abut_scan_int(s, next_word(s), "a tet's point", base, base + m->nv - 1, &v[k], err);
        if (!rc) rc = skip_numbers(s, attributes, err);
        if (!rc)
            rc = abut_mesh_add_tet(m, (int32_t)(v[0] - base), (int32_t)(v[1] - base), (int32_t)(v[2] - base),
                                   (int32_t)(v[3] - base), err);
    }
    return rc;
}

abut_status abut_tetgen_files_read(const abut_bytes *node, const abut_bytes *ele, abut_mesh *out, abut_err *err)
{
    abut_mesh m = { 0 };
    abut_scan s;
    int64_t base;
    abut_scan_init(&s, node);
    abut_status rc = nodes(&s, &m, &base, err);
    if (!rc) {
        abut_scan_init(&s, ele);
        rc = tets(&s, &m, base, err);
    }
    if ((rc = abut_mesh_read_end(rc, ele, &m, out, err))) return rc;
    int32_t negative = 0;
    for (int32_t t = 0; t < out->nt; t++) negative += abut_tet_volume6(out->x, out->tet + 4 * (size_t)t) < 0;
    if (negative == out->nt) abut_mesh_flip(out);
    return ABUT_OK;
}
