/* The files that ccd-check writes about what it found. */
#ifndef ABUT_TOOLS_CCD_CHECK_FILES_H
#define ABUT_TOOLS_CCD_CHECK_FILES_H

#include "tools/ccd-check/verdict.h"

/** Writes a JSON object: method, counts, and the collisions with kind, places, nodes, objects, time of impact, positions. */
ABUT_MUST_USE abut_status abut_verdict_json(const abut_verdict *v, const char *path, abut_err *err);
/* Score of a method on queries with known truth */
typedef struct abut_score {
    abut_judge_method method;
    size_t hits, clears, false_hits, false_clears;
    double seconds;     /* CPU */
} abut_score;

/** The scores of n methods over these files of queries. */
ABUT_MUST_USE abut_status abut_scores_json(const abut_cli *cli, const abut_score *s, int n, const char *const *files, int n_files,
                                           const char *path, abut_err *err);
/** The primitives of all findings at their times of impact as a Wavefront OBJ, one object a finding. */
ABUT_MUST_USE abut_status abut_verdict_obj(const abut_verdict *v, const char *path, abut_err *err);

#endif
