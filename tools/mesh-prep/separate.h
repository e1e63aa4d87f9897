/* mesh-prep --separate: the initial state moved to one without intersections. */
#ifndef ABUT_TOOLS_MESH_PREP_SEPARATE_H
#define ABUT_TOOLS_MESH_PREP_SEPARATE_H

#include "base/array.h"
#include "base/arena.h"
#include "model/naming.h"
#include "tools/cli/cli.h"

/* The two options as given: numbers with their unit; NULL: not given. */
typedef struct abut_prep_separate {
    const char *gap, *max_move;
    double gap_value, move_value;   /* m, or in units of l */
    int gap_per_length, move_per_length;
} abut_prep_separate;

/** Understands the numbers.  Fails  ABUT_E_ARG naming the option and what was expected */
ABUT_MUST_USE abut_status abut_prep_separate_parse(abut_prep_separate *s, abut_arena *arena, abut_err *err);

/** Moves free nodes of the frame (node/x) until every distance is at least the gap and the thickness of the pair, and reports
 * the moves.  The rest shape stays: bodies that the repair makes longer or thinner are strained.
 *
 * bad    out: names of primitives that could not be separated
 * Fails  ABUT_E_GEOM some could not be separated: the frame is unchanged */
ABUT_MUST_USE abut_status abut_prep_separate_run(const abut_prep_separate *s, abut_cli *cli, const abut_arrays *model,
                                                 abut_arrays *frame, abut_offenders *bad, abut_err *err);

#endif
