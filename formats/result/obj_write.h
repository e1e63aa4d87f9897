/* Wavefront OBJ, one file per frame: DIR/frame_0012.obj.
 *
 * Every chosen object is a group `o name`; triangles are `f`, segments `l`, isolated points `p`; indices count from 1
 * through the whole file.  Coordinates are in metres and read back to the same doubles. */
#ifndef ABUT_FORMATS_RESULT_OBJ_WRITE_H
#define ABUT_FORMATS_RESULT_OBJ_WRITE_H

#include "formats/result/frame_view.h"

/** Writes one frame into folder dir, which must exist.  Fails  ABUT_E_IO */
ABUT_MUST_USE abut_status abut_obj_write(const char *dir, int keep, const abut_shot *s, abut_err *err);

#endif
