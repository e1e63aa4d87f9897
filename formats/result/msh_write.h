/* Gmsh MSH 4.1: the chosen objects of a frame, with tets of their order.
 *
 * DIR/frame_0012.msh   nodes at rest; tets (types 4, 11, 29, 30), triangles of shells and obstacles, segments, isolated points;
 *                      an entity and a physical group for each object and kind; `displacement`, `velocity` as $NodeData */
#ifndef ABUT_FORMATS_RESULT_MSH_WRITE_H
#define ABUT_FORMATS_RESULT_MSH_WRITE_H

#include "formats/result/frame_view.h"

/** binary: 1 eight-byte numbers of this machine, 0 text with 17 digits: both are exact.  Fails  ABUT_E_IO, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_msh_write(const char *dir, int keep, const abut_shot *s, int binary, abut_err *err);

#endif
