#include "formats/obj.h"

#include <string.h>

/* Words that carry no geometry of ours. */
static const char *const IGNORED[] = { "vt", "vn", "vp", "g", "o", "s", "usemtl", "mtllib", "usemap", "maplib", "lod" };

/* The next word of a statement; a lone backslash at the end of a line continues it on the next one. */
static abut_word next(abut_scan *s)
{
    abut_word w = abut_scan_word(s);
    while (w.n == 1 && *w.s == '\\' && abut_scan_next_line(s)) w = abut_scan_word(s);
    return w;
}

static abut_status vertex(abut_scan *s, abut_mesh *m, abut_err *err)
{
    static const char *const what[3] = { "x of a vertex", "y of a vertex", "z of a vertex" };
    double x[3];
    for (int k = 0; k < 3; k++) {
        const abut_status rc = abut_scan_real(s, next(s), what[k], &x[k], err);
        if (rc) return rc;
    }
    return abut_mesh_add_vertex(m, x, err);     /* a weight or colours may follow */
}

/* "7", "7/1", "7//3", "-1/2/3": the vertex index comes first. */
static abut_status corner(const abut_scan *s, abut_word w, const abut_mesh *m, int32_t *out, abut_err *err)
{
    const char *slash = memchr(w.s, '/', w.n);
    const abut_word v = { w.s, slash ? (size_t)(slash - w.s) : w.n };
    int64_t i;
    const abut_status rc = abut_scan_int(s, v, "a vertex index", -(int64_t)m->nv, INT32_MAX, &i, err);
    if (rc) return rc;
    if (i == 0) return abut_scan_fail(s, err, "vertex index 0: indices start at 1");
    *out = (int32_t)(i > 0 ? i - 1 : m->nv + i);
    return ABUT_OK;
}

/* All corners of one statement: a polygon, a polyline or points. */
static abut_status element(abut_scan *s, char kind, abut_mesh *m, abut_err *err)
{
    int32_t first = -1, last = -1;
    int n = 0;
    for (abut_word w = next(s); w.n && *w.s != '#'; w = next(s), n++) {
        int32_t v = 0;
        abut_status rc = corner(s, w, m, &v, err);
        if (!rc && kind == 'f' && n >= 2) rc = abut_mesh_add_tri(m, first, last, v, err);
        if (!rc && kind == 'l' && n >= 1) rc = abut_mesh_add_seg(m, last, v, err);
        if (!rc && kind == 'p') rc = abut_mesh_add_point(m, v, err);
        if (rc) return rc;
        if (n == 0) first = v;
        last = v;
    }
    const int least = kind == 'f' ? 3 : kind == 'l' ? 2 : 1;
    return n >= least ? ABUT_OK : abut_scan_fail(s, err, "'%c' with %d vertices: expected at least %d", kind, n, least);
}

static int is_ignored(abut_word w)
{
    for (size_t i = 0; i < sizeof IGNORED / sizeof *IGNORED; i++)
        if (abut_word_is(w, IGNORED[i])) return 1;
    return 0;
}

static abut_status statement(abut_scan *s, abut_mesh *m, abut_err *err)
{
    const abut_word w = abut_scan_word(s);
    if (!w.n || *w.s == '#' || is_ignored(w)) return ABUT_OK;
    if (abut_word_is(w, "v")) return vertex(s, m, err);
    if (w.n == 1 && strchr("flp", *w.s)) return element(s, *w.s, m, err);
    return abut_scan_fail(s, err, "'%.*s': expected v, f, l, p or another word of OBJ", (int)(w.n < 40 ? w.n : 40), w.s);
}

abut_status abut_obj_read(const abut_bytes *in, abut_mesh *out, abut_err *err)
{
    abut_mesh m = { 0 };
    abut_scan s;
    abut_status rc;
    abut_scan_init(&s, in);
    do rc = statement(&s, &m, err);
    while (!rc && abut_scan_next_line(&s));
    if (!rc && !m.nv) rc = abut_fail(err, ABUT_E_FORMAT, "%s: no vertex in it", in->name);
    if (!rc && !m.nf && !m.ns && !m.np)
        for (int32_t i = 0; i < m.nv && !rc; i++) rc = abut_mesh_add_point(&m, i, err);
    if (!rc && (rc = abut_mesh_check(&m, err))) abut_wrap(err, "%s", in->name);
    if (rc) abut_mesh_clear(&m);
    else *out = m;
    return rc;
}
