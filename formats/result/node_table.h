/* A table of nodes per frame, as CSV: DIR/nodes_0012.csv, a row for every node of the chosen objects, in the order of the
 * stream.  Position, velocity and the forces that the frame has; then every array of another program that has a row of
 * numbers per node.  EXPORT.md names the columns. */
#ifndef ABUT_FORMATS_RESULT_NODE_TABLE_H
#define ABUT_FORMATS_RESULT_NODE_TABLE_H

#include "formats/result/frame_view.h"

/** Writes one frame into folder dir, which must exist.  Fails  ABUT_E_IO */
ABUT_MUST_USE abut_status abut_node_table_write(const char *dir, int keep, const abut_shot *s, abut_err *err);

#endif
