/* The .node and .ele files of TetGen and Triangle-like programs. */
#ifndef ABUT_FORMATS_MESH_TETGEN_FILES_H
#define ABUT_FORMATS_MESH_TETGEN_FILES_H

#include "formats/mesh/scan.h"
#include "mesh/mesh.h"

/** Points from `node`, tets from `ele`; numbering from 0 or 1 as the first point says; attributes and markers mean nothing
 * here.  The format fixes no orientation: when every tet is negative, all are flipped.
 * Fails  ABUT_E_FORMAT with file and line */
ABUT_MUST_USE abut_status abut_tetgen_files_read(const abut_bytes *node, const abut_bytes *ele, abut_mesh *out,
                                                 abut_err *err);

#endif
