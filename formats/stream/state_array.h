/* One array as an ARRY section of a state stream.  For state_io.c. */
#ifndef ABUT_FORMATS_STREAM_STATE_ARRAY_H
#define ABUT_FORMATS_STREAM_STATE_ARRAY_H

#include "base/array.h"
#include "formats/stream/state_wire.h"

/** Reads the payload and end of an ARRY section, whose head is s->section, and adds the array to set.
 * Fails  ABUT_E_FORMAT damaged, or the description contradicts the length; ABUT_E_IO; ABUT_E_NOMEM; set is unchanged */
ABUT_MUST_USE abut_status abut_array_read(abut_source *s, abut_arrays *set, abut_err *err);

/** Writes an array as one section; level 0 stores, 1..9 compresses where that makes it smaller. */
ABUT_MUST_USE abut_status abut_array_write(abut_sink *s, const abut_array *a, int level, abut_err *err);

#endif
