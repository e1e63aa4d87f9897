/* The .node and .ele files of TetGen and Triangle-like programs. */
#ifndef ABUT_FORMATS_MESH_TETGEN_FILES_H
#define ABUT_FORMATS_MESH_TETGEN_FILES_H

#include "formats/mesh/scan.h"
#include "mesh/mesh.h"

/** Reads points from `node`, tets from `ele`; numbers begin with that of the first point, 0 or 1; attributes and markers are
 * ignored.  The format fixes no orientation: if every tet is negative, all are flipped.
 * Fails  ABUT_E_FORMAT with file and line */
ABUT_MUST_USE abut_status abut_tetgen_files_read(const abut_bytes *node, const abut_bytes *ele, abut_mesh *out,
                                                 abut_err *err);

#endif
