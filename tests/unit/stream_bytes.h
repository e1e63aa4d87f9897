/* State streams in memory: bytes to build them from, to compare, and to have refused. */
#ifndef ABUT_TESTS_STREAM_BYTES_H
#define ABUT_TESTS_STREAM_BYTES_H

#include "check.h"
#include "formats/stream/state_io.h"

typedef struct bytes {
    unsigned char *p;
    size_t n;
} bytes;

static inline void bytes_free(bytes *b)
{
    free(b->p);
    *b = (bytes){ 0 };
}

static inline bytes slurp(FILE *f)
{
    const long n = (fflush(f), ftell(f));
    bytes b = { malloc((size_t)n + 1), (size_t)n };
    rewind(f);
    if (!b.p || fread(b.p, 1, b.n, f) != b.n) abort();
    fclose(f);
    return b;
}

static inline FILE *as_file(const unsigned char *p, size_t n)
{
    return n ? fmemopen((void *)p, n, "rb") : fopen("/dev/null", "rb");
}

/* The contents of a stream as one hash-free text of bytes, to compare streams. */
typedef struct content {
    bytes all;
    int items, prov;
} content;

static inline void append(bytes *b, const void *p, size_t n)
{
    unsigned char *grown = realloc(b->p, b->n + n + 1);
    if (!grown) abort();
    b->p = grown;
    memcpy(grown + b->n, p, n);
    b->n += n;
}

static inline void append_set(bytes *b, const abut_arrays *s)
{
    for (int i = 0; i < s->n; i++) {
        const abut_array *a = &s->a[i];
        append(b, a->name, strlen(a->name) + 1);
        append(b, a->unit, strlen(a->unit) + 1);
        append(b, &a->type, sizeof a->type);
        append(b, &a->flags, sizeof a->flags);
        append(b, a->shape, sizeof *a->shape * (size_t)a->rank);
        append(b, a->data, abut_array_bytes(a));
    }
}

/* Reads until the end mark or an error; what arrived before an error is in c too. */
static inline abut_status read_all(const unsigned char *p, size_t n, content *c, abut_err *err)
{
    *c = (content){ 0 };
    FILE *f = as_file(p, n);
    abut_reader *r;
    abut_arrays s = { 0 };
    abut_item item = ABUT_ITEM_MODEL;
    abut_frame_head h = { 0 };
    abut_status rc = abut_reader_open(f, "test", &r, err);
    if (!rc) {
        const abut_prov *prov = abut_reader_prov(r, &c->prov);
        for (int i = 0; i < c->prov; i++) {
            append(&c->all, prov[i].tool, strlen(prov[i].tool) + 1);
            append(&c->all, prov[i].options, strlen(prov[i].options) + 1);
        }
    }
    while (!rc && !(rc = abut_reader_next(r, &item, &h, &s, err)) && item != ABUT_ITEM_END) {
        if (item == ABUT_ITEM_FRAME) {
            append(&c->all, &h.step, sizeof h.step);
            append(&c->all, &h.time, sizeof h.time);
            append(&c->all, &h.phase, sizeof h.phase);
        }
        append_set(&c->all, &s);
        c->items++;
    }
    abut_arrays_clear(&s);
    abut_reader_free(&r);
    fclose(f);
    return rc;
}

static inline void refused_with(const bytes *b, const char *why)
{
    content c;
    abut_err err = { 0 };
    const abut_status rc = read_all(b->p, b->n, &c, &err);
    if (rc != ABUT_E_FORMAT || !strstr(err.msg, why)) {
        CHECK(!"refused for another reason");
        printf("# expected '%s' in: %s\n", why, err.msg);
    }
    bytes_free(&c.all);
}

#endif
