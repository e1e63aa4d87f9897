/* Wavefront OBJ: v, f (polygons become fans of triangles), l (polylines become segments), p (points). */
#ifndef ABUT_FORMATS_MESH_OBJ_H
#define ABUT_FORMATS_MESH_OBJ_H

#include "formats/mesh/scan.h"
#include "mesh/mesh.h"

/** Reads positions and elements; places in a texture (vt) become the pattern of the mesh when every
 * corner of every triangle has one; normals, groups, materials and comments mean nothing here; negative indices count from
 * the last vertex.  A file of vertices alone holds isolated points.  A line may end in a backslash.
 * Fails  ABUT_E_FORMAT with file and line */
ABUT_MUST_USE abut_status abut_obj_read(const abut_bytes *in, abut_mesh *out, abut_err *err);

#endif
