#include "formats/mesh/mesh_io.h"

#include "base/arena.h"
#include "base/words.h"

#include <stdlib.h>
#include <string.h>

/* Words that carry no geometry of ours. */
static const char *const IGNORED[] = { "vn", "vp", "g", "o", "s", "usemtl", "mtllib", "usemap", "maplib", "lod" };

/* Places in a texture, and those of the corners of the triangles: the pattern, if every corner has one. */
typedef struct texture {
    double *uv;             /* [n * 2] */
    int32_t n;
    int32_t *corner;        /* [corners], rows of uv; -1: none */
    int32_t corners;
    size_t cap, corner_cap;
} texture;

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

/* "vt u v w": a line of a texture needs no v, and w is of solids. */
static abut_status texture_place(abut_scan *s, texture *t, abut_err *err)
{
    double p[2] = { 0 };
    abut_status rc = abut_scan_real(s, next(s), "u of a texture", &p[0], err);
    const abut_word v = rc ? (abut_word){ 0 } : next(s);
    if (v.n && *v.s != '#') rc = abut_scan_real(s, v, "v of a texture", &p[1], err);
    if (!rc && (t->n >= INT32_MAX / 4 || !ABUT_GROW(t->uv, 2 * (size_t)(t->n + 1), t->cap)))
        rc = abut_fail(err, ABUT_E_NOMEM, "no memory for %d places of a texture", t->n);
    if (rc) return rc;
    memcpy(t->uv + 2 * (size_t)t->n++, p, sizeof p);
    return ABUT_OK;
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

/* The second index, of the texture, from 0; -1: there is none. */
static abut_status corner_texture(const abut_scan *s, abut_word w, const texture *t, int32_t *out, abut_err *err)
{
    const char *slash = memchr(w.s, '/', w.n), *end = w.s + w.n;
    *out = -1;
    if (!slash || slash + 1 == end || slash[1] == '/') return ABUT_OK;
    const char *stop = memchr(slash + 1, '/', (size_t)(end - slash - 1));
    const abut_word v = { slash + 1, (size_t)((stop ? stop : end) - slash - 1) };
    int64_t i;
    const abut_status rc = abut_scan_int(s, v, "a texture index", -(int64_t)t->n, INT32_MAX, &i, err);
    if (rc) return rc;
    if (i == 0) return abut_scan_fail(s, err, "texture index 0: indices start at 1");
    *out = (int32_t)(i > 0 ? i - 1 : t->n + i);
    return ABUT_OK;
}

static abut_status add_corners(texture *t, const int32_t at[3], abut_err *err)
{
    if (t->corners >= INT32_MAX / 4 || !ABUT_GROW(t->corner, t->corners + 3, t->corner_cap))
        return abut_fail(err, ABUT_E_NOMEM, "no memory for %d places of a texture", t->corners);
    memcpy(t->corner + t->corners, at, 3 * sizeof *at);
    t->corners += 3;
    return ABUT_OK;
}

/* All corners of one statement: a polygon, a polyline or points. */
static abut_status element(abut_scan *s, char kind, abut_mesh *m, texture *t, abut_err *err)
{
    int32_t first = -1, last = -1, tex[3] = { 0 };     /* places of first, last and this corner */
    int n = 0;
    for (abut_word w = next(s); w.n && *w.s != '#'; w = next(s), n++) {
        int32_t v = 0;
        abut_status rc = corner(s, w, m, &v, err);
        if (!rc) rc = corner_texture(s, w, t, &tex[2], err);
        if (!rc && kind == 'f' && n >= 2) rc = abut_mesh_add_tri(m, first, last, v, err);
        if (!rc && kind == 'f' && n >= 2) rc = add_corners(t, tex, err);
        if (!rc && kind == 'l' && n >= 1) rc = abut_mesh_add_seg(m, last, v, err);
        if (!rc && kind == 'p') rc = abut_mesh_add_point(m, v, err);
        if (rc) return rc;
        if (n == 0) first = v, tex[0] = tex[2];
        last = v, tex[1] = tex[2];
    }
    const int least = kind == 'f' ? 3 : kind == 'l' ? 2 : 1;
    return n >= least ? ABUT_OK
                      : abut_scan_fail(s, err, "'%c' with %d %s: expected at least %d", kind, n,
                                       abut_plural(n, "vertex", "vertices"), least);
}

/* The corners of one statement, all of whose indices must be among the vertices and texture places of the whole file. */
static abut_status check_element(abut_scan *s, int32_t nv, int32_t nt, abut_err *err)
{
    enum { FAR = INT32_MAX / 4 };
    for (abut_word w = next(s); w.n && *w.s != '#'; w = next(s)) {
        const abut_mesh whole = { .nv = INT32_MAX / 2 };    /* indices that count back are tested: they come out above FAR */
        const texture places = { .n = INT32_MAX / 2 };
        int32_t v = 0, at = -1;
        abut_status rc = corner(s, w, &whole, &v, err);
        if (!rc) rc = corner_texture(s, w, &places, &at, err);
        if (!rc && v >= nv && v < FAR)
            rc = abut_scan_fail(s, err, "vertex index %d: the file has %d %s", v + 1, nv, abut_plural(nv, "vertex", "vertices"));
        if (!rc && at >= nt && at < FAR)
            rc = abut_scan_fail(s, err, "texture index %d: the file has %d place%s", at + 1, nt, abut_s(nt));
        if (rc) return rc;
    }
    return ABUT_OK;
}

/* Indices may run ahead of what they name, so that only the end of a file tells which are too large: this finds the first line
 * with one. */
static abut_status check_indices(const abut_bytes *in, int32_t nv, int32_t nt, abut_err *err)
{
    abut_scan s;
    abut_status rc = ABUT_OK;
    abut_scan_init(&s, in);
    do {
        const abut_word w = abut_scan_word(&s);
        if (w.n == 1 && strchr("flp", *w.s)) rc = check_element(&s, nv, nt, err);
    } while (!rc && abut_scan_next_line(&s));
    return rc;
}

static int is_ignored(abut_word w)
{
    for (size_t i = 0; i < sizeof IGNORED / sizeof *IGNORED; i++)
        if (abut_word_is(w, IGNORED[i])) return 1;
    return 0;
}

static abut_status statement(abut_scan *s, abut_mesh *m, texture *t, abut_err *err)
{
    const abut_word w = abut_scan_word(s);
    if (!w.n || *w.s == '#' || is_ignored(w)) return ABUT_OK;
    if (abut_word_is(w, "v")) return vertex(s, m, err);
    if (abut_word_is(w, "vt")) return texture_place(s, t, err);
    if (w.n == 1 && strchr("flp", *w.s)) return element(s, *w.s, m, t, err);
    return abut_scan_expected(s, "", w, "v, f, l, p or another word of OBJ", err);
}

/* The pattern, where every corner of every triangle has its place. */
static abut_status put_pattern(abut_mesh *m, const texture *t, abut_err *err)
{
    for (int32_t i = 0; i < t->corners; i++) {
        if (t->corner[i] < 0) return ABUT_OK;
        if (t->corner[i] >= t->n)
            return abut_fail(err, ABUT_E_FORMAT, "triangle %d: place %d of the texture, of %d", i / 3, t->corner[i] + 1, t->n);
    }
    if (!m->nf) return ABUT_OK;
    m->uv = malloc(6 * (size_t)m->nf * sizeof *m->uv);
    if (!m->uv) return abut_fail(err, ABUT_E_NOMEM, "no memory for the pattern of %d triangles", m->nf);
    for (int32_t i = 0; i < t->corners; i++) memcpy(m->uv + 2 * (size_t)i, t->uv + 2 * (size_t)t->corner[i], 2 * sizeof *m->uv);
    return ABUT_OK;
}

abut_status abut_obj_read(const abut_bytes *in, abut_mesh *out, abut_err *err)
{
    abut_mesh m = { 0 };
    texture t = { 0 };
    abut_scan s;
    abut_status rc;
    abut_scan_init(&s, in);
    do rc = statement(&s, &m, &t, err);
    while (!rc && abut_scan_next_line(&s));
    if (!rc) rc = abut_mesh_read_vertices(in, !m.nf && !m.ns && !m.np, &m, err);
    if (!rc) {
        rc = abut_mesh_check(&m, err);
        if (!rc) rc = put_pattern(&m, &t, err);
        if (rc) abut_wrap(err, "%s", in->name);
        abut_err better = { 0 };
        if (rc == ABUT_E_FORMAT && check_indices(in, m.nv, t.n, &better)) *err = better;
    }
    free(t.uv), free(t.corner);
    if (rc) abut_mesh_clear(&m);
    else *out = m;
    return rc;
}
