#include "formats/mesh/mesh_io.h"

#include "formats/mesh/msh.h"
#include "formats/mesh/obj.h"
#include "formats/mesh/ply.h"
#include "formats/mesh/seg.h"
#include "formats/mesh/stl.h"
#include "formats/mesh/tetgen_files.h"
#include "formats/mesh/vtk.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct mesh_kind {
    const char *extension;
    abut_status (*read)(const abut_bytes *in, abut_mesh *out, abut_err *err);   /* NULL: two files */
} KINDS[] = {
    { ".msh", abut_msh_read }, { ".obj", abut_obj_read }, { ".ply", abut_ply_read }, { ".stl", abut_stl_read },
    { ".seg", abut_seg_read }, { ".pt", abut_pt_read },   { ".vtk", abut_vtk_read }, { ".node", NULL },
    { ".ele", NULL },
};

static const struct mesh_kind *kind_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof KINDS / sizeof *KINDS; i++)
        if (!strcasecmp(dot, KINDS[i].extension)) return &KINDS[i];
    return NULL;
}

int abut_mesh_is_file(const char *path)
{
    return kind_of(path) != NULL;
}

/* name.node and name.ele, whichever of the two was named. */
static abut_status load_pair(const char *path, abut_mesh *out, abut_err *err)
{
    const size_t stem = (size_t)(strrchr(path, '.') - path);
    const int is_upper = isupper((unsigned char)path[stem + 1]);
    char *name = malloc(stem + 6);
    abut_bytes node = { 0 }, ele = { 0 };
    if (!name) return abut_fail(err, ABUT_E_NOMEM, "%s: no memory for a name", path);
    memcpy(name, path, stem);
    memcpy(name + stem, is_upper ? ".NODE" : ".node", 6);
    abut_status rc = abut_bytes_load(name, &node, err);
    memcpy(name + stem, is_upper ? ".ELE" : ".ele", 5);
    if (!rc) rc = abut_bytes_load(name, &ele, err);
    if (!rc) rc = abut_tetgen_files_read(&node, &ele, out, err);
    abut_bytes_clear(&node);
    abut_bytes_clear(&ele);
    free(name);
    return rc;
}

abut_status abut_mesh_load(const char *path, abut_mesh *out, abut_err *err)
{
    const struct mesh_kind *kind = kind_of(path);
    if (!kind)
        return abut_fail(err, ABUT_E_FORMAT, "%s: expected a mesh file: " ABUT_MESH_KINDS, path);
    if (!kind->read) return load_pair(path, out, err);
    abut_bytes in = { 0 };
    abut_status rc = abut_bytes_load(path, &in, err);
    if (!rc) rc = kind->read(&in, out, err);
    abut_bytes_clear(&in);
    return rc;
}
