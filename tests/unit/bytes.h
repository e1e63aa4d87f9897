/* Text and bytes of tests as a file that was read. */
#ifndef ABUT_TESTS_BYTES_H
#define ABUT_TESTS_BYTES_H

#include "formats/mesh/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline abut_status bytes_copy(const char *name, const void *data, size_t size, abut_bytes *out, abut_err *err)
{
    *out = (abut_bytes){ .data = malloc(size + 1), .size = size };
    if (!out->data) return abut_fail(err, ABUT_E_NOMEM, "%s: no memory for %zu bytes", name, size);
    snprintf(out->name, sizeof out->name, "%s", name);
    if (size) memcpy(out->data, data, size);
    out->data[size] = 0;
    return ABUT_OK;
}

#endif
