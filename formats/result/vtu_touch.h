/* The table of hard contacts of a frame (touch/) as a VTK grid of points. */
#ifndef ABUT_FORMATS_RESULT_VTU_TOUCH_H
#define ABUT_FORMATS_RESULT_VTU_TOUCH_H

#include "model/model.h"

#include <stdio.h>

/** A whole file: a vertex at each contact, with normal, impulse (N s), mu and state (0 open, 1 sticks, 2 slides); time in s.
 * Fails  ABUT_E_NOMEM; write errors stay with f */
ABUT_MUST_USE abut_status abut_vtu_touches(FILE *out, const abut_frame *f, double time, abut_err *err);

#endif
