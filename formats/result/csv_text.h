/* Cells of a CSV file (RFC 4180). */
#ifndef ABUT_FORMATS_RESULT_CSV_TEXT_H
#define ABUT_FORMATS_RESULT_CSV_TEXT_H

#include <stdio.h>

/** Writes a text, in quotes when it holds a comma, a quote or a line end. */
void abut_csv_text(FILE *f, const char *s);
/** Writes a number that reads back to the same double; nothing for NaN: not known. */
void abut_csv_number(FILE *f, double v);

#endif
