#include "formats/mesh/tetgen_files.h"

#include "geom/tet.h"

/* The next word outside comments, which run from # to the end of the line. */
static abut_word next(abut_scan *s)
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
        const abut_status rc = abut_scan_real(s, next(s), "an attribute", &v, err);
        if (rc) return rc;
    }
    return ABUT_OK;
}

static abut_status nodes(abut_scan *s, abut_mesh *m, int64_t *base, abut_err *err)
{
    int64_t n, dim, attributes, marker, id;
    *base = 0;
    abut_status rc = abut_scan_int(s, next(s), "the number of points", 1, INT32_MAX, &n, err);
    if (!rc) rc = abut_scan_int(s, next(s), "the dimension", 3, 3, &dim, err);
    if (!rc) rc = abut_scan_int(s, next(s), "the number of attributes", 0, 1000, &attributes, err);
    if (!rc) rc = abut_scan_int(s, next(s), "the number of markers", 0, 1, &marker, err);
    if (!rc) rc = abut_scan_left(s, n, 8, "points", err);
    for (int64_t i = 0; i < n && !rc; i++) {
        double x[3];
        rc = i ? abut_scan_int(s, next(s), "a point's number", *base + i, *base + i, &id, err)
               : abut_scan_int(s, next(s), "the first point's number", 0, 1, base, err);
        for (int k = 0; k < 3 && !rc; k++) rc = abut_scan_real(s, next(s), "a coordinate", &x[k], err);
        if (!rc) rc = skip_numbers(s, attributes + marker, err);
        if (!rc) rc = abut_mesh_add_vertex(m, x, err);
    }
    return rc;
}

static abut_status tets(abut_scan *s, abut_mesh *m, int64_t base, abut_err *err)
{
    int64_t n, corners, attributes, id, v[4];
    abut_status rc = abut_scan_int(s, next(s), "the number of tets", 1, INT32_MAX, &n, err);
    if (!rc) rc = abut_scan_int(s, next(s), "the corners of a tet", 4, 4, &corners, err);
    if (!rc) rc = abut_scan_int(s, next(s), "the number of attributes", 0, 1000, &attributes, err);
    if (!rc) rc = abut_scan_left(s, n, 10, "tets", err);
    for (int64_t i = 0; i < n && !rc; i++) {
        rc = abut_scan_int(s, next(s), "a tet's number", base + i, base + i, &id, err);
        for (int k = 0; k < 4 && !rc; k++)
            rc = abut_scan_int(s, next(s), "a tet's point", base, base + m->nv - 1, &v[k], err);
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
    if (!rc && (rc = abut_mesh_check(&m, err))) abut_wrap(err, "%s", ele->name);
    if (!rc) {
        int32_t negative = 0;
        for (int32_t t = 0; t < m.nt; t++) negative += abut_tet_volume6(m.x, m.tet + 4 * (size_t)t) < 0;
        if (negative == m.nt) abut_mesh_flip(&m);
    }
    if (rc) abut_mesh_clear(&m);
    else *out = m;
    return rc;
}
