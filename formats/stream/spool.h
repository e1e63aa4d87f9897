/* Records of equal length put aside in an unnamed temporary file and read back in any order: what a writer must know
 * of all frames before it can begin (the size of the scene, the length of a file). */
#ifndef ABUT_FORMATS_STREAM_SPOOL_H
#define ABUT_FORMATS_STREAM_SPOOL_H

#include "base/err.h"

#include <stddef.h>
#include <stdio.h>

/* Zero-filled is closed. */
typedef struct abut_spool {
    FILE *f;
    size_t width;       /* floats in a record */
    size_t n;           /* records */
} abut_spool;

/** Fails  ABUT_E_IO no temporary file can be made */
ABUT_MUST_USE abut_status abut_spool_open(abut_spool *s, size_t width, abut_err *err);
ABUT_MUST_USE abut_status abut_spool_add(abut_spool *s, const float *record, abut_err *err);
/** Reads record i < n. */
ABUT_MUST_USE abut_status abut_spool_get(abut_spool *s, size_t i, float *record, abut_err *err);
void abut_spool_clear(abut_spool *s);

#endif
