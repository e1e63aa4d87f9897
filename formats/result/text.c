#define _GNU_SOURCE     /* fopencookie */
#include "formats/result/text.h"

#include "formats/stream/dump.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void abut_json_string(FILE *f, const char *text)
{
    fputc('"', f);
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') fprintf(f, "\\%c", c);
        else if (c < 0x20) fprintf(f, "\\u%04x", c);
        else fputc(c, f);
    }
    fputc('"', f);
}

void abut_json_number(FILE *f, double v)
{
    char text[ABUT_NUMBER_MAX];
    fputs(isfinite(v) ? abut_print_f64(text, v) : "null", f);
}

void abut_csv_text(FILE *f, const char *s)
{
    if (!strpbrk(s, ",\"\r\n")) {
        fputs(s, f);
        return;
    }
    fputc('"', f);
    for (; *s; s++) {
        if (*s == '"') fputc('"', f);
        fputc(*s, f);
    }
    fputc('"', f);
}

void abut_csv_number(FILE *f, double v)
{
    char text[ABUT_NUMBER_MAX];
    if (!isnan(v)) fputs(abut_print_f64(text, v), f);
}

void abut_base64(FILE *f, const uint8_t *p, size_t n)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char line[4 * 256];
    size_t at = 0;
    for (size_t i = 0; i < n; i += 3) {
        const size_t left = n - i;
        const uint32_t v = (uint32_t)p[i] << 16 | (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) | (left > 2 ? p[i + 2] : 0);
        line[at++] = digit[v >> 18];
        line[at++] = digit[v >> 12 & 63];
        line[at++] = left > 1 ? digit[v >> 6 & 63] : '=';
        line[at++] = left > 2 ? digit[v & 63] : '=';
        if (at == sizeof line) {
            fwrite(line, 1, at, f);
            at = 0;
        }
    }
    fwrite(line, 1, at, f);
}

/* 0 tells stdio that nothing was written: the stream is in error from then on. */
static ssize_t take(void *of, const char *from, size_t n)
{
    abut_text_file *t = of;
    if (n >= t->room - t->size) {
        const size_t want = 2 * t->room + n + 1;
        char *grown = n < SIZE_MAX / 4 && t->room < SIZE_MAX / 4 ? realloc(t->text, want) : NULL;
        if (!grown) {
            errno = ENOMEM;
            return 0;
        }
        t->text = grown;
        t->room = want;
    }
    memcpy(t->text + t->size, from, n);
    t->size += n;
    t->text[t->size] = 0;
    return (ssize_t)n;
}

abut_status abut_text_file_open(abut_text_file *t, abut_err *err)
{
    *t = (abut_text_file){ .text = calloc(1, 1), .room = 1 };
    t->f = t->text ? fopencookie(t, "w", (cookie_io_functions_t){ .write = take }) : NULL;
    if (t->f) return ABUT_OK;
    abut_text_file_clear(t);
    return abut_fail(err, ABUT_E_NOMEM, "no memory for a text");
}

abut_status abut_text_file_end(abut_text_file *t, const char *what, abut_err *err)
{
    const int lost = fflush(t->f) | ferror(t->f), closed = fclose(t->f);
    t->f = NULL;
    if (!lost && !closed) return ABUT_OK;
    abut_text_file_clear(t);
    return abut_fail(err, ABUT_E_NOMEM, "no memory for %s", what);
}

void abut_text_file_clear(abut_text_file *t)
{
    if (t->f) fclose(t->f);
    free(t->text);
    *t = (abut_text_file){ 0 };
}
