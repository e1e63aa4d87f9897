/* Mesh files: any of them by its extension, and the reader of each kind, which fails as abut_mesh_load, with file and line (byte
 * offset for binary data).  A mesh is checked (abut_mesh_check) before it leaves a reader. */
#ifndef ABUT_FORMATS_MESH_MESH_IO_H
#define ABUT_FORMATS_MESH_MESH_IO_H

#include "formats/mesh/scan.h"
#include "mesh/mesh.h"

/* All that abut_mesh_load knows. */
#define ABUT_MESH_KINDS ".msh .vtk .obj .ply .stl .node .ele .seg .pt"

/** Reads path: .msh (Gmsh 2.2, 4.0, 4.1), .vtk (legacy), .obj, .ply, .stl, .node or .ele (both must be in one folder), .seg, .pt.
 * Fails  ABUT_E_FORMAT the file is not there, has another extension, or its reader refuses it; ABUT_E_IO; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_mesh_load(const char *path, abut_mesh *out, abut_err *err);

/** Whether abut_mesh_load knows the extension of path. */
int abut_mesh_is_file(const char *path);

/** Gmsh MSH files, versions 2.2, 4.0 and 4.1, text and binary of either byte order.  Points, segments, triangles, quadrangles (as
 * two triangles), tets of one order from 1 to 4 (types 4, 11, 29, 30) and isolated points; node tags may have gaps.  Elements
 * that only mark the boundary of others are dropped (abut_mesh_drop_markers), as are segments and triangles of order 2 to 4.
 * Fails  ABUT_E_FORMAT another version, element types that are no tets (hexahedra, ...) or of order 5, tets of two orders,
 *        nodes that tets do not share, counts that the file cannot hold, unknown or repeated tags */
ABUT_MUST_USE abut_status abut_msh_read(const abut_bytes *in, abut_mesh *out, abut_err *err);

/** Legacy VTK files of unstructured grids, text and binary, file versions 1.0 to 5.1.  Reads POINTS (of any number type), CELLS
 * (a count before the points of each cell; from version 5 on OFFSETS and CONNECTIVITY) and CELL_TYPES; skips FIELD and METADATA,
 * and does not read what is behind POINT_DATA or CELL_DATA.  Cells: vertices (1), lines (3), triangles (5), quads (9, as two
 * triangles) and tets (10).  Elements that only mark the boundary of others are dropped (abut_mesh_drop_markers).  Binary data is
 * big-endian.
 * Fails  ABUT_E_FORMAT another data set, other cells (hexahedra, ...) by name, counts that the file cannot hold or that
 *        contradict each other, a missing section */
ABUT_MUST_USE abut_status abut_vtk_read(const abut_bytes *in, abut_mesh *out, abut_err *err);

/** Wavefront OBJ: v, f (polygons become fans of triangles), l (polylines become segments), p (points).  Places in a texture (vt)
 * become the pattern of the mesh when every corner of every triangle has one; normals, groups, materials and comments mean
 * nothing here; negative indices count from the last vertex.  A file of vertices alone holds isolated points.  A line may end in
 * a backslash. */
ABUT_MUST_USE abut_status abut_obj_read(const abut_bytes *in, abut_mesh *out, abut_err *err);

/** Stanford PLY: text, binary little and big endian.  Reads element vertex (x, y, z of any number type), face (vertex_indices or
 * vertex_index; polygons become fans) and edge (vertex1, vertex2); skips other elements and properties.  Vertices alone are
 * isolated points. */
ABUT_MUST_USE abut_status abut_ply_read(const abut_bytes *in, abut_mesh *out, abut_err *err);

/** STL: triangle soups, text and binary (little endian).  Corners with exactly equal coordinates become one vertex; normals and
 * attributes are ignored.  A file whose size fits its binary triangle count is binary, even if its first word is `solid`. */
ABUT_MUST_USE abut_status abut_stl_read(const abut_bytes *in, abut_mesh *out, abut_err *err);

/** Segment files: "v x y z", "s i j" counted from 1. */
ABUT_MUST_USE abut_status abut_seg_read(const abut_bytes *in, abut_mesh *out, abut_err *err);
/** Point files: "v x y z" or "x y z" per line; every vertex is an isolated point. */
ABUT_MUST_USE abut_status abut_pt_read(const abut_bytes *in, abut_mesh *out, abut_err *err);

/** Reads points from `node`, tets from `ele`, files of TetGen and Triangle-like programs; numbers begin with that of the first
 * point, 0 or 1; attributes and markers are ignored.  The format fixes no orientation: tets that are all negative are flipped. */
ABUT_MUST_USE abut_status abut_tetgen_files_read(const abut_bytes *node, const abut_bytes *ele, abut_mesh *out, abut_err *err);

/** Ends a reader that has returned rc: moves the checked mesh m to *out, or clears it.  Returns rc, or the fault that the check
 * finds, with the name of the file. */
ABUT_MUST_USE abut_status abut_mesh_read_end(abut_status rc, const abut_bytes *in, abut_mesh *m, abut_mesh *out, abut_err *err);
/** Checks that m has a vertex, and makes all of them isolated points if `alone`.  Fails  ABUT_E_FORMAT, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_mesh_read_vertices(const abut_bytes *in, int alone, abut_mesh *m, abut_err *err);

#endif
