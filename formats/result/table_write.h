/* A table with one row per frame: time, energies, momenta, contact, positions of objects, forces and works that step wrote,
 * numbers of other stages.  As CSV (empty cell: unknown) or JSON ({"columns": [...], "rows": [{...}, ...]}, null: unknown).
 * EXPORT.md names the columns. */
#ifndef ABUT_FORMATS_RESULT_TABLE_WRITE_H
#define ABUT_FORMATS_RESULT_TABLE_WRITE_H

#include "formats/result/frame_view.h"

#include <stdio.h>

/* Columns appear as frames bring them; a row without a column has no value there.  Zero-filled is empty. */
typedef struct abut_table {
    char (*column)[2 * ABUT_PART_NAME];
    int n_columns, cap_columns;
    struct abut_table_row {
        double *cell;       /* [n]; NaN: not known */
        int n;
    } *row;
    int n_rows, cap_rows;
} abut_table;

/** Adds the row of one frame; uses the totals and contacts of its fields.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_table_frame(abut_table *t, const abut_shot *s, abut_err *err);
void abut_table_csv(const abut_table *t, FILE *f);
void abut_table_json(const abut_table *t, FILE *f);
/** Writes a row as a JSON object. */
void abut_table_row_json(const abut_table *t, int row, FILE *f);
void abut_table_clear(abut_table *t);

#endif
