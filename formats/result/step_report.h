/* The report of a time step as one line of JSON. */
#ifndef ABUT_FORMATS_RESULT_STEP_REPORT_H
#define ABUT_FORMATS_RESULT_STEP_REPORT_H

#include "solve/report.h"

#include <stdio.h>

/** Writes one object and a newline.  Keys are fixed (formats/REPORT.md); numbers that do not exist are null.
 * Fails  ABUT_E_IO */
ABUT_MUST_USE abut_status abut_report_write(const abut_report *r, const abut_model *m, FILE *f, abut_err *err);

#endif
