#include "formats/mesh/mesh_io.h"

#include "base/words.h"
#include "mesh/tet_nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A node tag and the index of its point. */
typedef struct tag_row {
    int64_t tag;
    int32_t index;
} tag_row;

typedef struct msh {
    abut_scan s;
    int version;        /* 22, 40 or 41 */
    int binary, swap;
    tag_row *tag;       /* sorted by tag once the nodes are read */
    int32_t ntags;
    int identity;       /* tags are 1, 2, ..., n: no search needed */
    int has_elements;
    abut_mesh mesh;
} msh;

/* Use of an element type.  Curved segments and triangles mark the boundary of curved tets: they are left out. */
enum { TAKEN, LEFT_OUT, REFUSED };
static const struct elem_type {
    int type, nodes, use;
    const char *name;
} TYPES[] = {
    { 1, 2, TAKEN, "segment" },     { 2, 3, TAKEN, "triangle" },   { 3, 4, TAKEN, "quadrangle" }, { 4, 4, TAKEN, "tet" },
    { 15, 1, TAKEN, "point" },      { 5, 0, REFUSED, "hexahedron" }, { 6, 0, REFUSED, "prism" },  { 7, 0, REFUSED, "pyramid" },
    { 11, 10, TAKEN, "tet of order 2" }, { 29, 20, TAKEN, "tet of order 3" }, { 30, 35, TAKEN, "tet of order 4" },
    { 31, 0, REFUSED, "tet of order 5" }, { 8, 3, LEFT_OUT, "segment of order 2" }, { 26, 4, LEFT_OUT, "segment of order 3" },
    { 27, 5, LEFT_OUT, "segment of order 4" }, { 9, 6, LEFT_OUT, "triangle of order 2" },
    { 21, 10, LEFT_OUT, "triangle of order 3" }, { 23, 15, LEFT_OUT, "triangle of order 4" },
};

/* An integer of `bytes` bytes in a binary file, a word in a text file. */
static abut_status take_int(msh *m, size_t bytes, const char *what, int64_t lo, int64_t hi, int64_t *out, abut_err *err)
{
    if (!m->binary) return abut_scan_int(&m->s, abut_scan_token(&m->s), what, lo, hi, out, err);
    int32_t small = 0;
    int64_t big = 0;
    const abut_status rc = bytes == 4 ? abut_scan_raw(&m->s, &small, 4, 4, m->swap, what, err)
                                      : abut_scan_raw(&m->s, &big, 8, 8, m->swap, what, err);
    if (rc) return rc;
    const int64_t v = bytes == 4 ? small : big;
    if (v < lo || v > hi)
        return abut_fail(err, ABUT_E_FORMAT, "%s: byte %zu: %s is %lld: expected %lld to %lld", m->s.name,
                         (size_t)(m->s.p - m->s.start) - bytes, what, (long long)v, (long long)lo, (long long)hi);
    *out = v;
    return ABUT_OK;
}

static abut_status take_point(msh *m, double x[3], abut_err *err)
{
    if (m->binary) return abut_scan_raw(&m->s, x, 24, 8, m->swap, "a node", err);
    for (int k = 0; k < 3; k++) {
        const abut_status rc = abut_scan_real(&m->s, abut_scan_token(&m->s), "a node's coordinate", &x[k], err);
        if (rc) return rc;
    }
    return ABUT_OK;
}

static int by_tag(const void *a, const void *b)
{
    const tag_row *p = a, *q = b;
    return (p->tag > q->tag) - (p->tag < q->tag);
}

static abut_status tags_make(msh *m, int64_t n, abut_err *err)
{
    /* at least one byte per node: what is announced cannot exceed the file */
    const abut_status rc = abut_scan_left(&m->s, n, m->binary ? 24 : 6, "nodes", err);
    if (rc) return rc;
    if (m->tag) return abut_scan_fail(&m->s, err, "a second $Nodes section");
    if (n > INT32_MAX / 4) return abut_scan_fail(&m->s, err, "%lld nodes are too many", (long long)n);
    m->tag = malloc(((size_t)n + 1) * sizeof *m->tag);
    return m->tag ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "%s: no memory for %lld nodes", m->s.name, (long long)n);
}

static abut_status tags_sort(msh *m, abut_err *err)
{
    m->identity = 1;
    for (int32_t i = 0; i < m->ntags; i++) m->identity &= m->tag[i].tag == i + 1 && m->tag[i].index == i;
    if (m->identity) return ABUT_OK;
    qsort(m->tag, (size_t)m->ntags, sizeof *m->tag, by_tag);
    for (int32_t i = 1; i < m->ntags; i++)
        if (m->tag[i].tag == m->tag[i - 1].tag)
            return abut_scan_fail(&m->s, err, "node tag %lld is used twice", (long long)m->tag[i].tag);
    return ABUT_OK;
}

static abut_status tag_find(const msh *m, int64_t tag, int32_t *index, abut_err *err)
{
    if (m->identity && tag >= 1 && tag <= m->ntags) {
        *index = (int32_t)(tag - 1);
        return ABUT_OK;
    }
    const tag_row key = { tag, 0 };
    const tag_row *hit = m->ntags ? bsearch(&key, m->tag, (size_t)m->ntags, sizeof key, by_tag) : NULL;
    if (!hit) return abut_scan_fail(&m->s, err, "an element names node %lld, which is not in $Nodes", (long long)tag);
    *index = hit->index;
    return ABUT_OK;
}

static abut_status node_add(msh *m, int64_t tag, abut_err *err)
{
    double x[3];
    abut_status rc = take_point(m, x, err);
    if (!rc) {
        m->tag[m->ntags] = (tag_row){ tag, m->mesh.nv };
        m->ntags++;
        rc = abut_mesh_add_vertex(&m->mesh, x, err);
    }
    return rc;
}

static abut_status nodes2(msh *m, abut_err *err)
{
    int64_t n, tag;
    abut_status rc = abut_scan_int(&m->s, abut_scan_token(&m->s), "the number of nodes", 0, INT32_MAX, &n, err);
    if (rc) return rc;
    if (m->binary) abut_scan_next_line(&m->s);
    rc = tags_make(m, n, err);
    for (int64_t i = 0; i < n && !rc; i++) {
        rc = take_int(m, 4, "a node's number", 1, INT32_MAX, &tag, err);
        if (!rc) rc = node_add(m, tag, err);
    }
    return rc ? rc : tags_sort(m, err);
}

/* Reads the head of a block: the entity and one more integer.  A 4.0 file has the entity's tag before its dimension. */
static abut_status block4(msh *m, int64_t *dim, const char *what, int64_t lo, int64_t hi, int64_t *value, abut_err *err)
{
    int64_t tag;
    const int tag_first = m->version == 40;
    abut_status rc = tag_first ? take_int(m, 4, "the entity tag", INT32_MIN, INT32_MAX, &tag, err) : ABUT_OK;
    if (!rc) rc = take_int(m, 4, "the entity dimension", 0, 3, dim, err);
    if (!rc && !tag_first) rc = take_int(m, 4, "the entity tag", INT32_MIN, INT32_MAX, &tag, err);
    return rc ? rc : take_int(m, 4, what, lo, hi, value, err);
}

/* A node with its tag and `more` parametric coordinates behind its point. */
static abut_status node4(msh *m, int64_t tag, int64_t more, abut_err *err)
{
    abut_status rc = node_add(m, tag, err);
    for (int64_t k = 0; k < more && !rc; k++) {
        double u = 0;
        rc = m->binary ? abut_scan_raw(&m->s, &u, 8, 8, m->swap, "a parametric coordinate", err)
                       : abut_scan_real(&m->s, abut_scan_token(&m->s), "a parametric coordinate", &u, err);
    }
    return rc;
}

/* Reads a block of a 4.1 file: its tags, then its points, each with `dim` more numbers if parametric.  In a 4.0 file each tag is
 * before its point, and nodes of a volume have no more numbers. */
static abut_status nodes4_block(msh *m, int64_t total, abut_err *err)
{
    int64_t dim, parametric, n, tag;
    abut_status rc = block4(m, &dim, "the parametric mark", 0, 1, &parametric, err);
    if (!rc) rc = take_int(m, 8, "the number of nodes of the block", 0, total - m->ntags, &n, err);
    if (rc) return rc;
    const int32_t first = m->ntags;
    const int tags_first = m->version == 41;
    const int64_t more = tags_first || dim < 3 ? dim * parametric : 0;
    for (int64_t i = 0; tags_first && i < n && !rc; i++) {
        rc = take_int(m, 8, "a node tag", 1, INT64_MAX, &tag, err);
        if (!rc) m->tag[first + i] = (tag_row){ tag, 0 };
    }
    for (int64_t i = 0; i < n && !rc; i++) {
        if (tags_first) tag = m->tag[first + i].tag;
        else rc = take_int(m, 4, "a node tag", 1, INT32_MAX, &tag, err);
        if (!rc) rc = node4(m, tag, more, err);
    }
    return rc;
}

static abut_status nodes4(msh *m, abut_err *err)
{
    int64_t blocks, n, lo, hi;
    if (m->binary) abut_scan_next_line(&m->s);
    abut_status rc = take_int(m, 8, "the number of node blocks", 0, INT32_MAX, &blocks, err);
    if (!rc) rc = take_int(m, 8, "the number of nodes", 0, INT32_MAX, &n, err);
    if (!rc && m->version == 41) rc = take_int(m, 8, "the smallest node tag", 0, INT64_MAX, &lo, err);
    if (!rc && m->version == 41) rc = take_int(m, 8, "the largest node tag", 0, INT64_MAX, &hi, err);
    if (!rc) rc = tags_make(m, n, err);
    for (int64_t b = 0; b < blocks && !rc; b++) rc = nodes4_block(m, n, err);
    if (!rc && m->ntags != n)
        return abut_scan_fail(&m->s, err, "$Nodes announces %lld node%s and holds %d", (long long)n, abut_s(n), m->ntags);
    return rc ? rc : tags_sort(m, err);
}

static abut_status elem_type(const msh *m, int64_t type, const struct elem_type **out, abut_err *err)
{
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (TYPES[i].type == type) {
            *out = &TYPES[i];
            return TYPES[i].use != REFUSED ? ABUT_OK
                                           : abut_scan_fail(&m->s, err, "element type %lld (%s): expected points, segments, "
                                                            "triangles, quadrangles or tets of order 1 to 4", (long long)type,
                                                            TYPES[i].name);
        }
    return abut_scan_fail(&m->s, err, "element type %lld: expected points (15), segments (1), triangles (2), quadrangles (3) or "
                          "tets (4, 11, 29, 30)", (long long)type);
}

static abut_status add_tet(msh *m, const struct elem_type *e, const int32_t *v, abut_err *err)
{
    int order = 1;
    while (abut_tet_nodes(order) < e->nodes) order++;
    abut_err why = { 0 };
    const abut_status rc = abut_mesh_add_tet_of(&m->mesh, order, v, &why);
    if (rc == ABUT_E_FORMAT) return abut_scan_fail(&m->s, err, "%s", why.msg);
    return rc ? abut_fail(err, rc, "%s", why.msg) : ABUT_OK;
}

/* The nodes of one element, `bytes` bytes per tag. */
static abut_status elem_add(msh *m, const struct elem_type *e, size_t bytes, abut_err *err)
{
    int32_t v[ABUT_TET_NODES_MAX] = { 0 };
    for (int k = 0; k < e->nodes; k++) {
        int64_t tag;
        abut_status rc = take_int(m, bytes, "an element's node", 1, INT64_MAX, &tag, err);
        if (!rc) rc = tag_find(m, tag, &v[k], err);
        if (rc) return rc;
    }
    if (e->use == LEFT_OUT) return ABUT_OK;
    abut_status rc = ABUT_OK;
    switch (e->type) {
    case 1: return abut_mesh_add_seg(&m->mesh, v[0], v[1], err);
    case 2: return abut_mesh_add_tri(&m->mesh, v[0], v[1], v[2], err);
    case 3:
        rc = abut_mesh_add_tri(&m->mesh, v[0], v[1], v[2], err);
        return rc ? rc : abut_mesh_add_tri(&m->mesh, v[0], v[2], v[3], err);
    case 15: return abut_mesh_add_point(&m->mesh, v[0], err);
    default: return add_tet(m, e, v, err);
    }
}

/* `n` elements of a 2.2 file that share type and number of tags. */
static abut_status elements2_group(msh *m, int64_t type, int64_t n, int64_t ntags, abut_err *err)
{
    const struct elem_type *e = NULL;
    abut_status rc = elem_type(m, type, &e, err);
    for (int64_t i = 0; i < n && !rc; i++) {
        int64_t skip;
        if (m->binary) rc = take_int(m, 4, "an element's number", INT32_MIN, INT32_MAX, &skip, err);
        for (int64_t k = 0; k < ntags && !rc; k++)
            rc = take_int(m, 4, "an element's tag", INT32_MIN, INT32_MAX, &skip, err);
        if (!rc) rc = elem_add(m, e, 4, err);
    }
    return rc;
}

static abut_status elements2(msh *m, abut_err *err)
{
    int64_t total, number, type, n = 1, ntags;
    abut_status rc = abut_scan_int(&m->s, abut_scan_token(&m->s), "the number of elements", 0, INT32_MAX, &total, err);
    if (rc) return rc;
    if (m->binary) abut_scan_next_line(&m->s);
    for (int64_t done = 0; done < total && !rc; done += n) {
        if (!m->binary) rc = take_int(m, 4, "an element's number", INT32_MIN, INT32_MAX, &number, err);
        if (!rc) rc = take_int(m, 4, "an element's type", 1, 1000, &type, err);
        if (!rc && m->binary) rc = take_int(m, 4, "the number of elements of the group", 1, total - done, &n, err);
        if (!rc) rc = take_int(m, 4, "an element's number of tags", 0, 1000, &ntags, err);
        if (!rc) rc = elements2_group(m, type, n, ntags, err);
    }
    return rc;
}

/* Reads a block: elements of one type, each with its tag. */
static abut_status elements4_block(msh *m, int64_t left, int64_t *n, abut_err *err)
{
    const struct elem_type *e = NULL;
    const size_t bytes = m->version == 40 ? 4 : 8;
    int64_t dim, type, tag;
    abut_status rc = block4(m, &dim, "the element type", 1, 1000, &type, err);
    if (!rc) rc = take_int(m, 8, "the number of elements of the block", 0, left, n, err);
    if (!rc) rc = elem_type(m, type, &e, err);
    for (int64_t i = 0; !rc && i < *n; i++) {
        rc = take_int(m, bytes, "an element tag", 0, INT64_MAX, &tag, err);
        if (!rc) rc = elem_add(m, e, bytes, err);
    }
    return rc;
}

static abut_status elements4(msh *m, abut_err *err)
{
    int64_t blocks, total, tag, n, done = 0;
    if (m->binary) abut_scan_next_line(&m->s);
    abut_status rc = take_int(m, 8, "the number of element blocks", 0, INT32_MAX, &blocks, err);
    if (!rc) rc = take_int(m, 8, "the number of elements", 0, INT32_MAX, &total, err);
    if (!rc && m->version == 41) rc = take_int(m, 8, "the smallest element tag", 0, INT64_MAX, &tag, err);
    if (!rc && m->version == 41) rc = take_int(m, 8, "the largest element tag", 0, INT64_MAX, &tag, err);
    for (int64_t b = 0; b < blocks && !rc; b++) {
        rc = elements4_block(m, total - done, &n, err);
        if (!rc) done += n;
    }
    if (!rc && done != total)
        return abut_scan_fail(&m->s, err, "$Elements announces %lld element%s and holds %lld", (long long)total, abut_s(total),
                              (long long)done);
    return rc;
}

static abut_status head(msh *m, abut_err *err)
{
    double version;
    int64_t binary, size;
    if (!abut_word_is(abut_scan_token(&m->s), "$MeshFormat"))
        return abut_scan_fail(&m->s, err, "not a Gmsh file: expected $MeshFormat");
    abut_status rc = abut_scan_real(&m->s, abut_scan_token(&m->s), "the version", &version, err);
    if (!rc && version != 2.2 && version != 4.0 && version != 4.1)
        return abut_scan_fail(&m->s, err, "MSH version %g: expected 2.2, 4.0 or 4.1", version);
    if (!rc) rc = abut_scan_int(&m->s, abut_scan_token(&m->s), "the file type", 0, 1, &binary, err);
    if (!rc) rc = abut_scan_int(&m->s, abut_scan_token(&m->s), "the data size", 8, 8, &size, err);
    if (rc) return rc;
    m->version = version == 2.2 ? 22 : version == 4.0 ? 40 : 41;
    if (binary) {
        int32_t one = 0;
        abut_scan_next_line(&m->s);
        rc = abut_scan_raw(&m->s, &one, 4, 4, 0, "the byte order mark", err);
        if (rc) return rc;
        if (one != 1 && one != 0x01000000) return abut_scan_fail(&m->s, err, "the byte order mark is not 1");
        m->swap = one != 1;
    }
    if (!abut_word_is(abut_scan_token(&m->s), "$EndMeshFormat")) return abut_scan_fail(&m->s, err, "expected $EndMeshFormat");
    m->binary = (int)binary;
    return ABUT_OK;
}

/* To the line that ends section `name` ("$Foo" -> "$EndFoo"). */
static abut_status skip_section(msh *m, abut_word name, abut_err *err)
{
    char end[80];
    snprintf(end, sizeof end, "$End%.*s", (int)(name.n < 64 ? name.n - 1 : 63), name.s + 1);
    const long line = m->s.line;
    while (abut_scan_next_line(&m->s))
        if (abut_word_is(abut_scan_word(&m->s), end)) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT, "%s:%ld: section %.*s has no %s", m->s.name, line, (int)name.n, name.s, end);
}

static abut_status section(msh *m, abut_word name, abut_err *err)
{
    abut_status rc;
    const char *end;
    if (abut_word_is(name, "$Nodes")) {
        rc = m->version == 22 ? nodes2(m, err) : nodes4(m, err);
        end = "$EndNodes";
    } else if (abut_word_is(name, "$Elements")) {
        rc = m->version == 22 ? elements2(m, err) : elements4(m, err);
        end = "$EndElements";
        m->has_elements = 1;
    } else if (name.n > 1 && name.n < 64 && name.s[0] == '$' && (name.n < 4 || memcmp(name.s, "$End", 4))) {
        return skip_section(m, name, err);
    } else {
        return abut_scan_expected(&m->s, "", name, "a section ($Nodes, $Elements, ...)", err);
    }
    if (!rc && !abut_word_is(abut_scan_token(&m->s), end)) rc = abut_scan_fail(&m->s, err, "expected %s", end);
    return rc;
}

abut_status abut_msh_read(const abut_bytes *in, abut_mesh *out, abut_err *err)
{
    msh m = { 0 };
    abut_scan_init(&m.s, in);
    abut_status rc = head(&m, err);
    while (!rc) {
        const abut_word w = abut_scan_token(&m.s);
        if (!w.n) break;
        rc = section(&m, w, err);
    }
    if (!rc && !m.has_elements) rc = abut_fail(err, ABUT_E_FORMAT, "%s: no $Elements section", in->name);
    free(m.tag);
    if ((rc = abut_mesh_read_end(rc, in, &m.mesh, out, err))) return rc;
    if ((rc = abut_mesh_conforming(out, err))) abut_wrap(err, "%s", in->name);
    if (!rc) rc = abut_mesh_drop_markers(out, err);
    if (rc) abut_mesh_clear(out);
    return rc;
}
