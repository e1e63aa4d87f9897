#include "formats/mesh/seg.h"

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
    return abut_scan_fail(s, err, "'%.*s': expected v or s", (int)(w.n < 40 ? w.n : 40), w.s);
}

static abut_status read_lines(const abut_bytes *in, int is_points, abut_mesh *out, abut_err *err)
{
    abut_mesh m = { 0 };
    abut_scan s;
    abut_status rc;
    abut_scan_init(&s, in);
    do rc = statement(&s, is_points, &m, err);
    while (!rc && abut_scan_next_line(&s));
    if (!rc && !m.nv) rc = abut_fail(err, ABUT_E_FORMAT, "%s: no vertex in it", in->name);
    if (!rc && !is_points && !m.ns) rc = abut_fail(err, ABUT_E_FORMAT, "%s: no segment in it", in->name);
    for (int32_t i = 0; is_points && i < m.nv && !rc; i++) rc = abut_mesh_add_point(&m, i, err);
    if (!rc && (rc = abut_mesh_check(&m, err))) abut_wrap(err, "%s", in->name);
    if (rc) abut_mesh_clear(&m);
    else *out = m;
    return rc;
}

abut_status abut_seg_read(const abut_bytes *in, abut_mesh *out, abut_err *err)
{
    return read_lines(in, 0, out, err);
}

abut_status abut_pt_read(const abut_bytes *in, abut_mesh *out, abut_err *err)
{
    return read_lines(in, 1, out, err);
}
