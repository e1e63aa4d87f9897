/* Legacy VTK files of unstructured grids, text and binary, file versions 1.0 to 5.1. */
#ifndef ABUT_FORMATS_MESH_VTK_H
#define ABUT_FORMATS_MESH_VTK_H

#include "formats/mesh/scan.h"
#include "mesh/mesh.h"

/** Reads POINTS (of any number type), CELLS (a count before the points of each cell; from version 5 on OFFSETS and
 * CONNECTIVITY) and CELL_TYPES; skips FIELD and METADATA, and does not read what is behind POINT_DATA or CELL_DATA.  Cells:
 * vertices (1), lines (3), triangles (5), quads (9, as two triangles) and tets (10).  Elements that only mark the boundary of
 * others are dropped (abut_mesh_drop_markers).  Binary data is big-endian.
 * Fails  ABUT_E_FORMAT with file and line, or byte offset for binary data: another data set, other cells (hexahedra, ...) by
 *        name, counts that the file cannot hold or that contradict each other, a missing section */
ABUT_MUST_USE abut_status abut_vtk_read(const abut_bytes *in, abut_mesh *out, abut_err *err);

#endif
