/* step --dump-stuck: a step that was given up, as a stream of its own. */
#ifndef ABUT_TOOLS_STEP_STUCK_FILE_H
#define ABUT_TOOLS_STEP_STUCK_FILE_H

#include "formats/stream/pass.h"
#include "tools/cli/stream.h"

/** Whether the file could be made now; leaves none.  Fails  ABUT_E_IO naming it; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_stuck_file_try(const char *path, abut_err *err);

/** Writes history and MODEL of s, the frame that the step started from, and the stuck PENDING frame; the file appears when
 * it is whole.  Fails  ABUT_E_IO naming it; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_stuck_file_write(const char *path, const abut_stream *s, const char *history,
                                                const abut_last *start, const abut_arrays *stuck, abut_err *err);

#endif
