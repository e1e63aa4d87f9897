/* STL: triangle soups, text and binary (little endian). */
#ifndef ABUT_FORMATS_MESH_STL_H
#define ABUT_FORMATS_MESH_STL_H

#include "formats/mesh/scan.h"
#include "mesh/mesh.h"

/** Reads triangles; corners with exactly equal coordinates become one vertex; normals and attributes are ignored.
 * A file whose size fits its binary triangle count is binary, even if its first word is `solid`.
 * Fails  ABUT_E_FORMAT with file and line */
ABUT_MUST_USE abut_status abut_stl_read(const abut_bytes *in, abut_mesh *out, abut_err *err);

#endif
