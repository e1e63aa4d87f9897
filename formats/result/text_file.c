#define _GNU_SOURCE     /* fopencookie */

#include "formats/result/text_file.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
