/* A table with one row per frame: time, energies, momenta, contact, positions of objects, poses of rigid ones, forces and works
 * that step wrote, numbers of other stages.  As CSV (empty cell: unknown) or JSON ({"columns": [...], "rows": [{...}, ...]},
 * null: unknown).  EXPORT.md names the columns. */
#ifndef ABUT_FORMATS_RESULT_TABLE_WRITE_H
#define ABUT_FORMATS_RESULT_TABLE_WRITE_H

#include "formats/result/shots.h"

#include <stdio.h>

/* Columns appear as frames bring them; a row without a column has no value there.  Zero-filled is empty. */
typedef struct abut_table {
    char (*column)[2 * ABUT_PART_NAME];
    int n_columns;
    size_t cap_columns;
    struct abut_table_row {
        double *cell;       /* [n]; NaN: not known */
        int n;
    } *row;
    int n_rows;
    size_t cap_rows;
} abut_table;

/** Adds the row of one frame; uses the totals and contacts of its fields.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_table_frame(abut_table *t, const abut_shot *s, abut_err *err);
void abut_table_csv(const abut_table *t, FILE *f);
void abut_table_json(const abut_table *t, FILE *f);
/** Writes a row as a JSON object. */
void abut_table_row_json(const abut_table *t, int row, FILE *f);
void abut_table_clear(abut_table *t);

/* Summary of a stream, in a page of text.  Zero-filled: nothing seen yet. */
typedef struct abut_summary {
    int model_index;            /* of the frames counted */
    int n;                      /* frames of that model so far */
    abut_frame_head first, last;
    double force_residual;      /* the largest of the frames that have one; negative: none has */
    char *arrays;               /* of the last frame: names and shapes */
} abut_summary;

/** The history of the stream: one line per stage. */
void abut_summary_history(FILE *f, const abut_prov *prov, int n);
/** Counts a frame; with the first frame of a model its objects, materials and parameters are written.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_summary_frame(abut_summary *s, FILE *f, const abut_shot *shot, abut_err *err);
/** Writes what was counted since the last model. */
void abut_summary_end(abut_summary *s, FILE *f);
void abut_summary_clear(abut_summary *s);

/** Writes a table of nodes, DIR/nodes_0012.csv: a row for every node of the chosen objects, in the order of the stream.
 * Position, velocity and the forces that the frame has; then every array of another program that has a row of numbers per node.
 * EXPORT.md names the columns.  Fails  ABUT_E_IO, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_node_table_write(const char *dir, int keep, const abut_shot *s, abut_err *err);

#endif
