#include "formats/mesh/mesh_io.h"

#include "base/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 80, RECORD = 50 };

static int32_t read_i32(const char *p)
{
    const unsigned char *b = (const unsigned char *)p;
    const uint32_t u = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    int32_t v;
    memcpy(&v, &u, 4);
    return v;
}

static abut_status binary(const abut_bytes *in, abut_mesh *soup, abut_err *err)
{
    const size_t n = (in->size - HEAD - 4) / RECORD;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 3; k++) {
            double x[3];
            for (size_t d = 0; d < 3; d++) {
                const int32_t bits = read_i32(in->data + HEAD + 4 + i * RECORD + 12 + 12 * k + 4 * d);
                float f;
                memcpy(&f, &bits, 4);
                if (!isfinite(f))
                    return abut_fail(err, ABUT_E_FORMAT, "%s: triangle %zu: a coordinate is not a finite number", in->name, i);
                x[d] = (double)f;
            }
            const abut_status rc = abut_mesh_add_vertex(soup, x, err);
            if (rc) return rc;
        }
    return ABUT_OK;
}

static abut_status expect(abut_scan *s, const char *word, abut_err *err)
{
    const abut_word w = abut_scan_token(s);
    if (abut_word_is(w, word)) return ABUT_OK;
    return abut_scan_fail(s, err, "'%.*s': expected '%s'", (int)(w.n < 40 ? w.n : 40), w.s, word);
}

static abut_status facet(abut_scan *s, abut_mesh *soup, abut_err *err)
{
    double x[3];
    abut_status rc = expect(s, "normal", err);
    for (int d = 0; d < 3 && !rc; d++)
        if (!abut_scan_token(s).n) rc = abut_scan_fail(s, err, "the file ends inside a facet");
    if (!rc) rc = expect(s, "outer", err);
    if (!rc) rc = expect(s, "loop", err);
    for (int k = 0; k < 3 && !rc; k++) {
        rc = expect(s, "vertex", err);
        for (int d = 0; d < 3 && !rc; d++) rc = abut_scan_real(s, abut_scan_token(s), "a coordinate", &x[d], err);
        if (!rc) rc = abut_mesh_add_vertex(soup, x, err);
    }
    if (!rc) rc = expect(s, "endloop", err);
    return rc ? rc : expect(s, "endfacet", err);
}

static abut_status text(const abut_bytes *in, abut_mesh *soup, abut_err *err)
{
    abut_scan s;
    abut_scan_init(&s, in);
    abut_status rc = expect(&s, "solid", err);
    if (!rc) abut_scan_rest(&s);
    while (!rc) {
        const abut_word w = abut_scan_token(&s);
        if (!w.n) return abut_scan_fail(&s, err, "the file ends without endsolid");
        if (abut_word_is(w, "endsolid")) {
            abut_scan_rest(&s);
            if (!abut_scan_token(&s).n) return ABUT_OK;
            return abut_scan_fail(&s, err, "more text after endsolid: expected one solid");
        }
        if (!abut_word_is(w, "facet")) return abut_scan_fail(&s, err, "expected facet or endsolid");
        rc = facet(&s, soup, err);
    }
    return rc;
}

typedef struct corner {
    double x[3];
    int32_t at;
} corner;

static int by_place(const void *a, const void *b)
{
    const corner *p = a, *q = b;
    for (int k = 0; k < 3; k++)
        if (p->x[k] != q->x[k]) return p->x[k] < q->x[k] ? -1 : 1;
    return (p->at > q->at) - (p->at < q->at);
}

/* Vertices keep the order of their first use. */
static abut_status merge(const abut_mesh *soup, abut_mesh *m, abut_err *err)
{
    const int32_t n = soup->nv;
    corner *c = malloc((size_t)n * sizeof *c);
    int32_t *first = malloc((size_t)n * sizeof *first);  /* first corner at the same place, then its vertex */
    abut_status rc = c && first ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "STL: no memory for %d corners", n);
    for (int32_t i = 0; i < n && !rc; i++) {
        for (int k = 0; k < 3; k++) c[i].x[k] = soup->x[3 * (size_t)i + k] + 0.0;   /* -0 becomes 0 */
        c[i].at = i;
    }
    if (!rc) qsort(c, (size_t)n, sizeof *c, by_place);
    for (int32_t i = 0; i < n && !rc; i++) {
        const int same = i && !memcmp(c[i].x, c[i - 1].x, sizeof c[i].x);
        first[c[i].at] = same ? first[c[i - 1].at] : c[i].at;
    }
    for (int32_t i = 0; i < n && !rc; i++) {
        if (first[i] == i) {
            rc = abut_mesh_add_vertex(m, soup->x + 3 * (size_t)i, err);
            first[i] = m->nv - 1;
        } else {
            first[i] = first[first[i]];
        }
        if (!rc && i % 3 == 2) rc = abut_mesh_add_tri(m, first[i - 2], first[i - 1], first[i], err);
    }
    free(c);
    free(first);
    return rc;
}

abut_status abut_stl_read(const abut_bytes *in, abut_mesh *out, abut_err *err)
{
    abut_mesh soup = { 0 }, m = { 0 };
    int is_binary = 0;
    if (in->size >= HEAD + 4) {
        const uint32_t n = (uint32_t)read_i32(in->data + HEAD);
        is_binary = (uint64_t)n * RECORD + HEAD + 4 == in->size;
        if (!is_binary && memchr(in->data, 0, in->size))    /* no text has a zero */
            return abut_fail(err, ABUT_E_FORMAT, "%s: binary STL of %u triangle%s: expected %llu bytes, the file has %zu",
                             in->name, n, abut_s(n), (unsigned long long)n * RECORD + HEAD + 4, in->size);
    }
    abut_status rc = is_binary ? binary(in, &soup, err) : text(in, &soup, err);
    if (!rc && !soup.nv) rc = abut_fail(err, ABUT_E_FORMAT, "%s: no triangle in it", in->name);
    if (!rc) rc = merge(&soup, &m, err);
    abut_mesh_clear(&soup);
    return abut_mesh_read_end(rc, in, &m, out, err);
}
