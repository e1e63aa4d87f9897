/* The files that ccd-check writes about what it found. */
#ifndef ABUT_TOOLS_JUDGE_FILES_H
#define ABUT_TOOLS_JUDGE_FILES_H

#include "tools/judge_verdict.h"

/** One JSON object: method, counts, and the collisions with kind, places, nodes, objects, time of impact, positions. */
ABUT_MUST_USE abut_status abut_verdict_json(const abut_verdict *v, const char *path, abut_err *err);
/** The primitives of all findings at their times of impact as a Wavefront OBJ, one object a finding. */
ABUT_MUST_USE abut_status abut_verdict_obj(const abut_verdict *v, const char *path, abut_err *err);

#endif
