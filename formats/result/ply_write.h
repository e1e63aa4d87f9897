/* Stanford PLY, binary, one file per frame: DIR/frame_0012.ply.
 *
 * All chosen objects in one file.  vertex: x y z (double, m), vx vy vz (float, m/s), red green blue (uchar, the object's
 * colour), object, node (int, rows of the stream); face: vertex_indices; edge: vertex1 vertex2.  Isolated points are
 * vertices of no face and no edge. */
#ifndef ABUT_FORMATS_RESULT_PLY_WRITE_H
#define ABUT_FORMATS_RESULT_PLY_WRITE_H

#include "formats/result/frame_view.h"

/** Writes one frame into folder dir, which must exist.  Fails  ABUT_E_IO, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_ply_write(const char *dir, int keep, const abut_shot *s, abut_err *err);

#endif
