#include "formats/stream/state_io.h"

#include "base/arena.h"
#include "formats/stream/state_wire.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

enum { MODL_BYTES = 8, FRAM_BYTES = 24, ENDS_BYTES = 32, PROV_FIXED_BYTES = 8 };
static const uint64_t KEPT_MOST = (uint64_t)1 << 32;
enum { ARRAYS_MAX = 4096, OPTIONS_MAX = 1 << 20 };

/* Counts that the end mark repeats. */
typedef struct counts {
    uint64_t sections, models, frames, arrays;
} counts;

typedef struct kept {
    abut_section section;
    unsigned char *payload;
} kept;

struct abut_reader {
    abut_source source;
    counts seen;
    abut_prov *prov;
    int nprov;
    kept *kept;         /* sections for the next abut_writer_kept */
    int nkept;
    char note[160], note_told[160];
    int pending;        /* source.section is read and not handled yet */
    int foreign;        /* an undamaged section is not understood */
    abut_status bad;    /* a failed reader stays failed */
    abut_err why;
};

struct abut_writer {
    abut_sink sink;
    counts written;
    int level, bad;
    abut_prov last;     /* provenance record */
};

static int tag_is(const abut_section *s, const char *tag) { return !strcmp(s->tag, tag); }

static void prov_clear(abut_prov *p)
{
    free(p->options);
    *p = (abut_prov){ 0 };
}

/* ---- reading ---- */

static abut_status next_section(abut_reader *r, abut_err *err)
{
    if (r->pending) return ABUT_OK;
    const abut_status rc = abut_source_section(&r->source, err);
    if (!rc) r->pending = 1;
    return rc;
}

/* Whether the section that is not understood is as it was written: its checksum is right, else damage is the reason. */
static abut_status check_foreign(abut_reader *r, abut_err *err)
{
    const abut_status rc = abut_source_skip(&r->source, err);
    r->foreign = !rc;
    return rc;
}

/* A section of a kind we know: our version, and handled from here on. */
static abut_status accept(abut_reader *r, abut_err *err)
{
    const abut_section *s = &r->source.section;
    r->pending = 0;
    if (s->version == ABUT_SECTION_VERSION) return ABUT_OK;
    const abut_status rc = check_foreign(r, err);
    if (rc) return rc;
    return abut_source_fail(&r->source, err, "version %u of the section, this program reads %d", s->version,
                            ABUT_SECTION_VERSION);
}

static abut_status end_section(abut_reader *r, abut_err *err)
{
    const abut_status rc = abut_source_section_end(&r->source, err);
    if (!rc) r->seen.sections++;
    return rc;
}

/* n bytes of text without 0; to has room for one more */
static abut_status read_text(abut_reader *r, char *to, size_t n, abut_err *err)
{
    const abut_status rc = abut_source_bytes(&r->source, to, n, err);
    if (rc) return rc;
    to[n] = 0;
    return strlen(to) == n ? ABUT_OK : abut_source_fail(&r->source, err, "a 0 byte in a text");
}

static abut_status read_prov(abut_reader *r, abut_err *err)
{
    unsigned char b[PROV_FIXED_BYTES];
    abut_prov p = { 0 };
    abut_status rc = accept(r, err);
    if (rc || (rc = abut_source_bytes(&r->source, b, sizeof b, err))) return rc;
    const size_t noptions = (size_t)abut_get_le(b + 4, 4);
    if (b[0] >= sizeof p.tool || b[1] >= sizeof p.version || noptions > OPTIONS_MAX)
        return abut_source_fail(&r->source, err, "texts of %d, %d and %zu bytes, at most 31, 31 and %d", b[0], b[1], noptions,
                                OPTIONS_MAX);
    p.options = malloc(noptions + 1);
    if (!p.options || !ABUT_RESIZE(r->prov, r->nprov + 1)) {
        free(p.options);
        return abut_fail(err, ABUT_E_NOMEM, "%s: no memory for its history", r->source.name);
    }
    if ((rc = read_text(r, p.tool, b[0], err)) || (rc = read_text(r, p.version, b[1], err)) ||
        (rc = read_text(r, p.options, noptions, err)) || (rc = end_section(r, err))) {
        free(p.options);
        return rc;
    }
    r->prov[r->nprov++] = p;
    return ABUT_OK;
}

static abut_status keep(abut_reader *r, abut_err *err)
{
    kept k = { .section = r->source.section };
    if (k.section.length > KEPT_MOST)
        return abut_source_fail(&r->source, err, "a section of %llu bytes to be kept, expected at most %llu",
                                (unsigned long long)k.section.length, (unsigned long long)KEPT_MOST);
    abut_status rc = abut_source_block(&r->source, k.section.length, &k.payload, err);
    if (rc) return rc;
    rc = end_section(r, err);
    if (!rc && !ABUT_RESIZE(r->kept, r->nkept + 1))
        rc = abut_fail(err, ABUT_E_NOMEM, "%s: no memory for section %s", r->source.name, k.section.tag);
    if (rc) {
        free(k.payload);
        return rc;
    }
    r->kept[r->nkept++] = k;
    return ABUT_OK;
}

static abut_status read_unknown(abut_reader *r, abut_err *err)
{
    const abut_section *s = &r->source.section;
    r->pending = 0;
    if (tag_is(s, "ARRY")) return abut_source_fail(&r->source, err, "an array outside of a MODL or FRAM");
    if (s->flags & ABUT_SECTION_KEEP && !(s->flags & ABUT_SECTION_REQUIRED)) return keep(r, err);
    const abut_status rc = s->flags & ABUT_SECTION_REQUIRED ? check_foreign(r, err) : abut_source_skip(&r->source, err);
    if (rc) return rc;
    if (s->flags & ABUT_SECTION_REQUIRED)
        return abut_source_fail(&r->source, err, "a section that must be understood, and this program does not know it");
    r->seen.sections++;
    snprintf(r->note, sizeof r->note, "%.80s: left out section %s (%llu bytes), which this program does not know",
             r->source.name, s->tag, (unsigned long long)s->length);
    return ABUT_OK;
}

static abut_status read_arrays(abut_reader *r, uint32_t n, abut_arrays *set, abut_err *err)
{
    for (uint32_t i = 0; i < n; i++) {
        abut_status rc = next_section(r, err);
        if (rc) return rc;
        if (!tag_is(&r->source.section, "ARRY")) return abut_source_fail(&r->source, err, "expected array %u of %u", i + 1, n);
        if ((rc = accept(r, err)) || (rc = abut_array_read(&r->source, set, err))) return rc;
        r->seen.sections++;
        r->seen.arrays++;
    }
    return ABUT_OK;
}

static abut_status check_array_count(abut_reader *r, uint64_t n, abut_err *err)
{
    if (n <= ARRAYS_MAX) return ABUT_OK;
    return abut_source_fail(&r->source, err, "%llu arrays, at most %d", (unsigned long long)n, ARRAYS_MAX);
}

static abut_status read_model(abut_reader *r, abut_arrays *set, abut_err *err)
{
    unsigned char b[MODL_BYTES];
    abut_status rc;
    if ((rc = accept(r, err)) || (rc = abut_source_bytes(&r->source, b, sizeof b, err)) || (rc = end_section(r, err))) return rc;
    r->seen.models++;
    const uint32_t n = (uint32_t)abut_get_le(b, 4);
    rc = check_array_count(r, n, err);
    return rc ? rc : read_arrays(r, n, set, err);
}

static abut_status read_frame(abut_reader *r, abut_frame_head *head, abut_arrays *set, abut_err *err)
{
    unsigned char b[FRAM_BYTES];
    abut_status rc;
    if ((rc = accept(r, err)) || (rc = abut_source_bytes(&r->source, b, sizeof b, err)) || (rc = end_section(r, err))) return rc;
    if (!r->seen.models) return abut_source_fail(&r->source, err, "a FRAME before the MODEL");
    r->seen.frames++;
    const uint64_t step = abut_get_le(b, 8), phase = abut_get_le(b + 16, 4);
    const abut_frame_head h = { (int64_t)step, abut_double_of(abut_get_le(b + 8, 8)), (abut_phase)phase };
    if (step > (uint64_t)ABUT_STEP_MOST || !isfinite(h.time) || phase > ABUT_PENDING)
        return abut_source_fail(&r->source, err, "step %llu, time %g, phase %llu, expected a step of at most 2^53, a finite "
                                "time and phase 0 or 1", (unsigned long long)step, h.time, (unsigned long long)phase);
    const uint32_t n = (uint32_t)abut_get_le(b + 20, 4);
    if ((rc = check_array_count(r, n, err)) || (rc = read_arrays(r, n, set, err))) return rc;
    *head = h;
    return ABUT_OK;
}

static abut_status read_end(abut_reader *r, abut_err *err)
{
    unsigned char b[ENDS_BYTES];
    abut_status rc;
    const counts *c = &r->seen;
    if ((rc = accept(r, err)) || (rc = abut_source_bytes(&r->source, b, sizeof b, err)) ||
        (rc = abut_source_section_end(&r->source, err)))
        return rc;
    if (abut_get_le(b, 8) != c->sections || abut_get_le(b + 8, 8) != c->models || abut_get_le(b + 16, 8) != c->frames ||
        abut_get_le(b + 24, 8) != c->arrays)
        return abut_source_fail(&r->source, err, "the end mark counts other sections than there are");
    if (!c->models) return abut_source_fail(&r->source, err, "the stream ends without a MODEL");
    return abut_source_at_end(&r->source, err);
}

static abut_status open_source(abut_reader *r, abut_err *err)
{
    abut_status rc = abut_source_head(&r->source, ABUT_STATE_MAJOR, err);
    while (!rc && !(rc = next_section(r, err))) {
        const abut_section *s = &r->source.section;
        if (tag_is(s, "PROV")) rc = read_prov(r, err);
        else if (tag_is(s, "MODL") || tag_is(s, "FRAM") || tag_is(s, "ENDS")) break;
        else rc = read_unknown(r, err);
    }
    return rc;
}

abut_status abut_reader_open(FILE *f, const char *name, abut_reader **r, abut_err *err)
{
    abut_reader *fresh = calloc(1, sizeof *fresh);
    char *own_name = malloc(strlen(name) + 1);
    *r = NULL;
    if (!fresh || !own_name) {
        ABUT_FREE(fresh, own_name);
        return abut_fail(err, ABUT_E_NOMEM, "%s: no memory", name);
    }
    strcpy(own_name, name);
    fresh->source = (abut_source){ .f = f, .name = own_name };
    const abut_status rc = open_source(fresh, err);
    if (rc) abut_reader_free(&fresh);
    *r = fresh;
    return rc;
}

const abut_prov *abut_reader_prov(const abut_reader *r, int *n)
{
    *n = r->nprov;
    return r->prov;
}

/* Reads an item into an empty set. */
static abut_status read_item(abut_reader *r, abut_item *item, abut_frame_head *head, abut_arrays *set, abut_err *err)
{
    for (;;) {
        abut_status rc = next_section(r, err);
        if (rc) return rc;
        const abut_section *s = &r->source.section;
        if (tag_is(s, "MODL")) {
            *item = ABUT_ITEM_MODEL;
            return read_model(r, set, err);
        }
        if (tag_is(s, "FRAM")) {
            *item = ABUT_ITEM_FRAME;
            return read_frame(r, head, set, err);
        }
        if (tag_is(s, "ENDS")) {
            *item = ABUT_ITEM_END;
            return read_end(r, err);
        }
        if (tag_is(s, "PROV")) return abut_source_fail(&r->source, err, "provenance after the MODEL");
        if ((rc = read_unknown(r, err))) return rc;
    }
}

abut_status abut_reader_next(abut_reader *r, abut_item *item, abut_frame_head *head, abut_arrays *set, abut_err *err)
{
    abut_item what = ABUT_ITEM_END;
    abut_frame_head h = { 0 };
    abut_arrays fresh = { 0 };
    abut_arrays_clear(set);
    if (!r->bad) r->bad = read_item(r, &what, &h, &fresh, &r->why);
    if (r->bad) {
        abut_arrays_clear(&fresh);
        return abut_fail(err, r->bad, "%s", r->why.msg);
    }
    if (what == ABUT_ITEM_END) r->bad = abut_fail(&r->why, ABUT_E_ARG, "%s: a read after the end mark", r->source.name);
    *item = what;
    if (what == ABUT_ITEM_FRAME && head) *head = h;
    *set = fresh;
    return ABUT_OK;
}

abut_stream_place abut_reader_place(const abut_reader *r) { return (abut_stream_place){ r->source.at, r->source.crc }; }

abut_status abut_reader_go(abut_reader *r, abut_stream_place to, abut_err *err)
{
    assert(r);
    if (fseeko(r->source.f, (off_t)to.at - (off_t)r->source.at, SEEK_CUR))
        return abut_fail(err, ABUT_E_IO, "%s: cannot go to byte %llu", r->source.name, (unsigned long long)to.at);
    r->source.at = to.at;
    r->source.crc = to.crc;
    r->source.section = (abut_section){ 0 };
    r->pending = 0;
    r->bad = ABUT_OK;
    return ABUT_OK;
}

const char *abut_reader_note(abut_reader *r)
{
    if (!r->note[0]) return NULL;
    memcpy(r->note_told, r->note, sizeof r->note);
    r->note[0] = 0;
    return r->note_told;
}

abut_cut abut_reader_cut(const abut_reader *r, uint64_t *at)
{
    if (at) *at = r->source.at;
    if (r->bad != ABUT_E_FORMAT || r->foreign) return ABUT_CUT_NOT;
    return r->source.ended ? ABUT_CUT_ENDS : ABUT_CUT_DAMAGED;
}

static void kept_clear(abut_reader *r)
{
    for (int i = 0; i < r->nkept; i++) free(r->kept[i].payload);
    r->nkept = 0;
}

void abut_reader_free(abut_reader **r)
{
    if (!*r) return;
    for (int i = 0; i < (*r)->nprov; i++) prov_clear(&(*r)->prov[i]);
    kept_clear(*r);
    ABUT_FREE((*r)->prov, (*r)->kept, (char *)(*r)->source.name, *r);
    *r = NULL;
}

/* ---- writing ---- */

abut_status abut_writer_open(FILE *f, int level, abut_writer **w, abut_err *err)
{
    *w = NULL;
    if (level < 0 || level > 9) return abut_fail(err, ABUT_E_ARG, "compression level %d, expected 0 to 9", level);
    abut_writer *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return abut_fail(err, ABUT_E_NOMEM, "output: no memory");
    fresh->sink.f = f;
    fresh->level = level;
    const abut_status rc = abut_sink_head(&fresh->sink, ABUT_STATE_MAJOR, ABUT_STATE_MINOR, err);
    if (rc) abut_writer_free(&fresh);
    *w = fresh;
    return rc;
}

/* A stream that misses a part must not get an end mark: w->bad until the call has succeeded. */
static abut_status begin(abut_writer *w, int in_order, const char *what, abut_err *err)
{
    if (w->bad) return abut_fail(err, ABUT_E_ARG, "output: %s after a failed write", what);
    if (!in_order) return abut_fail(err, ABUT_E_ARG, "output: %s is out of order", what);
    w->bad = 1;
    return ABUT_OK;
}

static abut_status write_section(abut_writer *w, const char *tag, const void *payload, size_t n, abut_err *err)
{
    abut_status rc = abut_sink_section(&w->sink, tag, ABUT_SECTION_VERSION, ABUT_SECTION_REQUIRED, n, err);
    if (rc || (rc = abut_sink_bytes(&w->sink, payload, n, err)) || (rc = abut_sink_section_end(&w->sink, err))) return rc;
    w->written.sections++;
    return ABUT_OK;
}

abut_status abut_writer_prov(abut_writer *w, const char *tool, const char *version, const char *options, abut_err *err)
{
    const size_t nt = strlen(tool), nv = strlen(version), no = strlen(options);
    if (nt >= sizeof w->last.tool || nv >= sizeof w->last.version || no > OPTIONS_MAX)
        return abut_fail(err, ABUT_E_ARG, "provenance of '%.80s': a text is too long", tool);
    abut_status rc = begin(w, !w->written.models, "provenance", err);
    if (rc) return rc;
    const abut_prov *last = &w->last;
    if (last->options && !strcmp(last->tool, tool) && !strcmp(last->version, version) && !strcmp(last->options, options)) {
        w->bad = 0;
        return ABUT_OK;
    }
    unsigned char *b = calloc(1, PROV_FIXED_BYTES + nt + nv + no);
    char *copy = malloc(no + 1);
    if (!b || !copy) {
        ABUT_FREE(b, copy);
        return abut_fail(err, ABUT_E_NOMEM, "output: no memory for provenance");
    }
    b[0] = (unsigned char)nt;
    b[1] = (unsigned char)nv;
    abut_put_le(b + 4, no, 4);
    memcpy(b + PROV_FIXED_BYTES, tool, nt);
    memcpy(b + PROV_FIXED_BYTES + nt, version, nv);
    memcpy(b + PROV_FIXED_BYTES + nt + nv, options, no);
    rc = write_section(w, "PROV", b, PROV_FIXED_BYTES + nt + nv + no, err);
    ABUT_FREE(b, w->last.options);
    strcpy(copy, options);
    w->last.options = copy;
    strcpy(w->last.tool, tool);
    strcpy(w->last.version, version);
    w->bad = rc != ABUT_OK;
    return rc;
}

static abut_status write_arrays(abut_writer *w, const abut_arrays *set, abut_err *err)
{
    for (int i = 0; i < set->n; i++) {
        const abut_status rc = abut_array_write(&w->sink, &set->a[i], w->level, err);
        if (rc) return rc;
        w->written.sections++;
        w->written.arrays++;
    }
    const abut_status rc = abut_sink_flush(&w->sink, err);
    w->bad = rc != ABUT_OK;
    return rc;
}

abut_status abut_writer_model(abut_writer *w, const abut_arrays *set, abut_err *err)
{
    unsigned char b[MODL_BYTES] = { 0 };
    abut_status rc = begin(w, set->n <= ARRAYS_MAX, "a MODEL", err);
    if (rc) return rc;
    abut_put_le(b, (uint64_t)set->n, 4);
    if ((rc = write_section(w, "MODL", b, sizeof b, err))) return rc;
    w->written.models++;
    return write_arrays(w, set, err);
}

abut_status abut_writer_frame(abut_writer *w, const abut_frame_head *head, const abut_arrays *set, abut_err *err)
{
    unsigned char b[FRAM_BYTES];
    if (head->step < 0 || head->step > ABUT_STEP_MOST || !isfinite(head->time))
        return abut_fail(err, ABUT_E_ARG, "output: a FRAME of step %lld at %g s", (long long)head->step, head->time);
    abut_status rc = begin(w, w->written.models && set->n <= ARRAYS_MAX, "a FRAME", err);
    if (rc) return rc;
    abut_put_le(b, (uint64_t)head->step, 8);
    abut_put_le(b + 8, abut_bits_of(head->time), 8);
    abut_put_le(b + 16, (uint64_t)head->phase, 4);
    abut_put_le(b + 20, (uint64_t)set->n, 4);
    if ((rc = write_section(w, "FRAM", b, sizeof b, err))) return rc;
    w->written.frames++;
    return write_arrays(w, set, err);
}

abut_status abut_writer_kept(abut_writer *w, abut_reader *r, abut_err *err)
{
    abut_status rc = begin(w, 1, "a kept section", err);
    if (rc) return rc;
    for (int i = 0; i < r->nkept; i++) {
        const abut_section *s = &r->kept[i].section;
        if ((rc = abut_sink_section(&w->sink, s->tag, s->version, s->flags, s->length, err)) ||
            (rc = abut_sink_bytes(&w->sink, r->kept[i].payload, (size_t)s->length, err)) ||
            (rc = abut_sink_section_end(&w->sink, err)))
            return rc;
        w->written.sections++;
    }
    kept_clear(r);
    w->bad = 0;
    return ABUT_OK;
}

abut_status abut_writer_close(abut_writer *w, abut_err *err)
{
    unsigned char b[ENDS_BYTES];
    const counts *c = &w->written;
    abut_status rc = begin(w, c->models > 0, "the end mark", err);
    if (rc) return rc;
    abut_put_le(b, c->sections, 8);
    abut_put_le(b + 8, c->models, 8);
    abut_put_le(b + 16, c->frames, 8);
    abut_put_le(b + 24, c->arrays, 8);
    if ((rc = write_section(w, "ENDS", b, sizeof b, err))) return rc;
    return abut_sink_flush(&w->sink, err);   /* w->bad stays: nothing may follow */
}

void abut_writer_free(abut_writer **w)
{
    if (!*w) return;
    prov_clear(&(*w)->last);
    free(*w);
    *w = NULL;
}
