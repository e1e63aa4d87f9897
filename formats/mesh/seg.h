/* Segment files (.seg: "v x y z", "s i j" counted from 1) and point files (.pt: "v x y z" or "x y z" per line). */
#ifndef ABUT_FORMATS_MESH_SEG_H
#define ABUT_FORMATS_MESH_SEG_H

#include "formats/mesh/scan.h"
#include "mesh/mesh.h"

/** Fails  ABUT_E_FORMAT with file and line */
ABUT_MUST_USE abut_status abut_seg_read(const abut_bytes *in, abut_mesh *out, abut_err *err);
/** Every vertex is an isolated point. */
ABUT_MUST_USE abut_status abut_pt_read(const abut_bytes *in, abut_mesh *out, abut_err *err);

#endif
