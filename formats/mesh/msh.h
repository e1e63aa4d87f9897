/* Gmsh MSH files, versions 2.2, 4.0 and 4.1, text and binary of either byte order. */
#ifndef ABUT_FORMATS_MESH_MSH_H
#define ABUT_FORMATS_MESH_MSH_H

#include "formats/mesh/scan.h"
#include "mesh/mesh.h"

/** Points, segments, triangles, quadrangles (as two triangles), tets of one order from 1 to 4 (types 4, 11, 29, 30) and isolated
 * points; node tags may have gaps.  Elements that only mark the boundary of others are dropped (abut_mesh_drop_markers), as are
 * segments and triangles of order 2 to 4.
 * Fails  ABUT_E_FORMAT with file and line (byte offset for binary data): another version, element types that are no tets
 *        (hexahedra, ...) or of order 5, tets of two orders, nodes that tets do not share, counts that the file cannot hold,
 *        unknown or repeated tags */
ABUT_MUST_USE abut_status abut_msh_read(const abut_bytes *in, abut_mesh *out, abut_err *err);

#endif
