#include "formats/mesh/scan.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const size_t FILE_MOST = (size_t)4 << 30, PIPE_MOST = (size_t)1 << 30;

static void name_set(abut_bytes *b, const char *name)
{
    const size_t n = strlen(name), room = sizeof b->name - 1;
    if (n <= room) memcpy(b->name, name, n + 1);
    else snprintf(b->name, sizeof b->name, "...%s", name + (n - room + 3));
}

/* *most bytes may be read; of a file that has its size, *first as many as it has. */
static abut_status bound(FILE *f, const abut_bytes *out, size_t *first, size_t *most, abut_err *err)
{
    struct stat st;
    *first = 1 << 16;
    *most = PIPE_MOST;
    if (fstat(fileno(f), &st) || !S_ISREG(st.st_mode)) return ABUT_OK;
    *most = FILE_MOST;
    if ((uint64_t)st.st_size > FILE_MOST)
        return abut_fail(err, ABUT_E_FORMAT, "%s: %.3g GiB, expected at most %zu GiB", out->name, (double)st.st_size / (1 << 30),
                         FILE_MOST >> 30);
    *first = (size_t)st.st_size + 1;     /* the end is met with room to spare */
    return ABUT_OK;
}

static abut_status read_all(FILE *f, abut_bytes *out, abut_err *err)
{
    size_t cap, most;
    const abut_status rc = bound(f, out, &cap, &most, err);
    if (rc) return rc;
    out->data = malloc(cap + 1);
    while (out->data) {
        const size_t got = fread(out->data + out->size, 1, cap - out->size, f);
        out->size += got;
        if (got == 0) break;
        if (out->size < cap) continue;
        if (cap >= most) return abut_fail(err, ABUT_E_FORMAT, "%s: does not end within %zu GiB", out->name, most >> 30);
        cap = cap < most / 2 ? 2 * cap : most;
        char *p = realloc(out->data, cap + 1);
        if (!p) free(out->data);
        out->data = p;
    }
    if (!out->data) return abut_fail(err, ABUT_E_NOMEM, "%s: no memory for %zu bytes", out->name, cap);
    if (ferror(f)) return abut_fail(err, errno == EISDIR ? ABUT_E_FORMAT : ABUT_E_IO, "%s: %s", out->name, strerror(errno));
    out->data[out->size] = 0;
    return ABUT_OK;
}

abut_status abut_bytes_load(const char *path, abut_bytes *out, abut_err *err)
{
    abut_bytes b = { 0 };
    const int is_stdin = !strcmp(path, "-");
    name_set(&b, is_stdin ? "standard input" : path);
    FILE *f = is_stdin ? stdin : fopen(path, "rb");
    if (!f) return abut_fail(err, abut_open_status(errno), "%s: %s", b.name, strerror(errno));
    const abut_status rc = read_all(f, &b, err);
    if (!is_stdin) fclose(f);
    if (rc) abut_bytes_clear(&b);
    else *out = b;
    return rc;
}

void abut_bytes_clear(abut_bytes *b)
{
    free(b->data);
    memset(b, 0, sizeof *b);
}

void abut_scan_init(abut_scan *s, const abut_bytes *in)
{
    *s = (abut_scan){ in->name, in->data, in->data, in->data + in->size, 1 };
}

abut_status abut_scan_fail(const abut_scan *s, abut_err *err, const char *fmt, ...)
{
    char text[320];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return abut_fail(err, ABUT_E_FORMAT, "%s:%ld: %s", s->name, s->line, text);
}

static int is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

int abut_scan_next_line(abut_scan *s)
{
    const char *nl = s->p < s->end ? memchr(s->p, '\n', (size_t)(s->end - s->p)) : NULL;
    if (!nl) {
        s->p = s->end;
        return 0;
    }
    s->p = nl + 1;
    s->line++;
    return s->p < s->end;
}

abut_word abut_scan_word(abut_scan *s)
{
    while (s->p < s->end && is_space(*s->p)) s->p++;
    const char *w = s->p;
    while (s->p < s->end && *s->p != '\n' && !is_space(*s->p)) s->p++;
    return (abut_word){ w, (size_t)(s->p - w) };
}

abut_word abut_scan_token(abut_scan *s)
{
    abut_word w = abut_scan_word(s);
    while (!w.n && abut_scan_next_line(s)) w = abut_scan_word(s);
    return w;
}

abut_word abut_scan_rest(abut_scan *s)
{
    while (s->p < s->end && is_space(*s->p)) s->p++;
    const char *w = s->p;
    while (s->p < s->end && *s->p != '\n') s->p++;
    const char *e = s->p;
    while (e > w && is_space(e[-1])) e--;
    return (abut_word){ w, (size_t)(e - w) };
}

int abut_word_is(abut_word w, const char *text) { return strlen(text) == w.n && !memcmp(w.s, text, w.n); }

abut_status abut_scan_expected(const abut_scan *s, const char *what, abut_word w, const char *expected, abut_err *err)
{
    return abut_scan_fail(s, err, "%s'%.*s': expected %s", what, (int)(w.n < 40 ? w.n : 40), w.s, expected);
}

static abut_status bad_word(const abut_scan *s, abut_word w, const char *what, const char *wanted, abut_err *err)
{
    if (!w.n) return abut_scan_fail(s, err, "%s is missing: expected %s", what, wanted);
    return abut_scan_fail(s, err, "%s is '%.*s': expected %s", what, (int)(w.n < 40 ? w.n : 40), w.s, wanted);
}

abut_status abut_scan_real(const abut_scan *s, abut_word w, const char *what, double *out, abut_err *err)
{
    char *stop;
    const double v = w.n ? strtod(w.s, &stop) : 0;
    if (!w.n || stop != w.s + w.n || !isfinite(v)) return bad_word(s, w, what, "a finite number", err);
    *out = v;
    return ABUT_OK;
}

abut_status abut_scan_int(const abut_scan *s, abut_word w, const char *what, int64_t lo, int64_t hi, int64_t *out, abut_err *err)
{
    char *stop;
    errno = 0;
    const long long v = w.n ? strtoll(w.s, &stop, 10) : 0;
    if (!w.n || stop != w.s + w.n || errno || v < lo || v > hi) {
        char wanted[80];
        snprintf(wanted, sizeof wanted, "an integer from %lld to %lld", (long long)lo, (long long)hi);
        return bad_word(s, w, what, wanted, err);
    }
    *out = v;
    return ABUT_OK;
}

abut_status abut_scan_left(const abut_scan *s, int64_t n, size_t each, const char *what, abut_err *err)
{
    const size_t left = (size_t)(s->end - s->p);
    /* the last item of a text file may lack its final separator */
    if (n < 0 || (uint64_t)n > (left + 1) / each)
        return abut_scan_fail(s, err, "%lld %s are announced, but only %zu bytes follow", (long long)n, what, left);
    return ABUT_OK;
}

abut_status abut_scan_raw(abut_scan *s, void *out, size_t n, size_t unit, int swap, const char *what, abut_err *err)
{
    if (n > (size_t)(s->end - s->p))
        return abut_fail(err, ABUT_E_FORMAT, "%s: byte %zu: the file ends inside %s", s->name, (size_t)(s->p - s->start), what);
    char *to = out;
    if (!swap) memcpy(to, s->p, n);
    else
        for (size_t i = 0; i < n; i++) to[i] = s->p[(i / unit) * unit + (unit - 1 - i % unit)];
    s->p += n;
    return ABUT_OK;
}

size_t abut_number_size(abut_number type)
{
    static const size_t size[] = { 1, 1, 2, 2, 4, 4, 8, 8, 4, 8 };
    return size[type];
}

abut_status abut_scan_number(abut_scan *s, abut_number type, int swap, const char *what, double *out, abut_err *err)
{
    union {
        int8_t i8; uint8_t u8; int16_t i16; uint16_t u16; int32_t i32; uint32_t u32; int64_t i64; uint64_t u64; float f; double d;
    } b;
    const abut_status rc = abut_scan_raw(s, &b, abut_number_size(type), abut_number_size(type), swap, what, err);
    if (rc) return rc;
    switch (type) {
    case ABUT_INT8: *out = b.i8; break;
    case ABUT_UINT8: *out = b.u8; break;
    case ABUT_INT16: *out = b.i16; break;
    case ABUT_UINT16: *out = b.u16; break;
    case ABUT_INT32: *out = b.i32; break;
    case ABUT_UINT32: *out = b.u32; break;
    case ABUT_INT64: *out = (double)b.i64; break;
    case ABUT_UINT64: *out = (double)b.u64; break;
    case ABUT_FLOAT32: *out = (double)b.f; break;
    default: *out = b.d;
    }
    return ABUT_OK;
}
