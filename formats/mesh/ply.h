/* Stanford PLY: text, binary little and big endian. */
#ifndef ABUT_FORMATS_MESH_PLY_H
#define ABUT_FORMATS_MESH_PLY_H

#include "formats/mesh/scan.h"
#include "mesh/mesh.h"

/** Reads element vertex (x, y, z of any number type), face (vertex_indices or vertex_index; polygons become fans) and
 * edge (vertex1, vertex2); skips other elements and properties.  Vertices alone are isolated points.
 * Fails  ABUT_E_FORMAT with file and line, or byte offset for binary data */
ABUT_MUST_USE abut_status abut_ply_read(const abut_bytes *in, abut_mesh *out, abut_err *err);

#endif
