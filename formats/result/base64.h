/* Bytes as base64 (RFC 4648). */
#ifndef ABUT_FORMATS_RESULT_BASE64_H
#define ABUT_FORMATS_RESULT_BASE64_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** Write errors stay with f. */
void abut_base64(FILE *f, const uint8_t *p, size_t n);

#endif
