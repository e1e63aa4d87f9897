/* Pieces of JSON on a FILE. */
#ifndef ABUT_FORMATS_RESULT_JSON_TEXT_H
#define ABUT_FORMATS_RESULT_JSON_TEXT_H

#include <stdio.h>

/** Writes text as a JSON string with its quotes; bytes below 0x20, '"' and '\' are escaped. */
void abut_json_string(FILE *f, const char *text);
/** Writes v with as few digits as read back to the same double; null when it is not finite, as JSON has no name for that. */
void abut_json_number(FILE *f, double v);

#endif
