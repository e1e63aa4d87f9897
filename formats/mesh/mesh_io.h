/* Any mesh file by its extension. */
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

#endif
