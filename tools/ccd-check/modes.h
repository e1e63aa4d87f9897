/* The inputs of ccd-check: a state stream, mesh files, CCD queries. */
#ifndef ABUT_TOOLS_CCD_CHECK_MODES_H
#define ABUT_TOOLS_CCD_CHECK_MODES_H

#include "tools/ccd-check/files.h"

/** Judges the committed frames of the stream in cli->in and passes the stream on to cli->out (NULL: nowhere).
 * options  JSON object for the history of the stream */
ABUT_MUST_USE abut_status abut_judge_stream(abut_verdict *v, const char *options, abut_err *err);

/** Judges mesh files as configurations of one mesh: the first (or, with `apart`, each) alone, then the straight motions from
 * each to the next.  The elements may come in any order.  Fails ABUT_E_FORMAT when those of two files differ. */
ABUT_MUST_USE abut_status abut_judge_meshes(abut_verdict *v, const char *const *files, int n, int apart, abut_err *err);

/** Runs a method over CSV files of queries (formats/mesh/ccd_csv.h).
 * kind  ABUT_PT, ABUT_EE for all of them, or -1: by "vertex-face" or "edge-edge" in the path
 * Fails  ABUT_E_ARG the kind is not known; as abut_ccd_csv_next */
ABUT_MUST_USE abut_status abut_judge_queries(const abut_judge_opts *o, const char *const *files, int n, int kind,
                                             abut_score *score, abut_err *err);

#endif
