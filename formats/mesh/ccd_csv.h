/* Public CCD queries (Wang et al. 2021): CSV, eight rows a query.
 *
 * A row is one point, `xn,xd,yn,yd,zn,zd,truth`: numerators (signed) and denominators (positive) of its coordinates as
 * decimal integers of any length, and 0 or 1, the same in all rows of a query: do the primitives touch?  The rows are
 * the four points at t = 0, then at t = 1; of two edges a0 a1 b0 b1, or of a vertex and a face v f0 f1 f2.  Which of the two
 * the file does not say.  A coordinate that is not exactly a double is refused: the answer would be about other points. */
#ifndef ABUT_FORMATS_MESH_CCD_CSV_H
#define ABUT_FORMATS_MESH_CCD_CSV_H

#include "base/err.h"

#include <stdio.h>

typedef struct abut_ccd_query {
    double x0[12], x1[12];  /* four points at t = 0 and t = 1 */
    int truth;              /* 1: they touch */
} abut_ccd_query;

/* Start from { file, name for messages, 0 }; the file stays the caller's. */
typedef struct abut_ccd_csv {
    FILE *f;
    const char *name;
    long line;              /* rows read so far */
} abut_ccd_csv;

/** The next query; *more = 0 and q untouched at the end of the file.
 * Fails  ABUT_E_FORMAT with line and column: not an integer, a denominator below 1, no exact double, another truth than
 *        the rows before, an incomplete query, a row over 64 KiB;  ABUT_E_IO the file cannot be read */
ABUT_MUST_USE abut_status abut_ccd_csv_next(abut_ccd_csv *r, abut_ccd_query *q, int *more, abut_err *err);

#endif
