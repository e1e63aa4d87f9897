/* Any bytes as a mesh file, a scene or an IPC script: an error, or a mesh that is sound, or a scene that can be written and
 * read again.  The first byte chooses the reader. */
#define _POSIX_C_SOURCE 200809L     /* open_memstream */
#include "formats/ipc/script.h"
#include "formats/mesh/mesh_io.h"
#include "formats/scene/tree.h"
#include "mesh/tet_nodes.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static abut_status read_tetgen(const abut_bytes *in, abut_mesh *mesh, abut_err *err)
{
    /* .node and .ele in one input, apart at the first line "---" */
    const char *cut = strstr(in->data, "---\n");
    const size_t n = cut ? (size_t)(cut - in->data) : in->size, skip = cut ? n + 4 : n;
    abut_bytes node, ele;
    abut_status rc = bytes_copy("fuzz.node", in->data, n, &node, err);
    if (rc) return rc;
    rc = bytes_copy("fuzz.ele", in->data + skip, in->size - skip, &ele, err);
    if (!rc) {
        rc = abut_tetgen_files_read(&node, &ele, mesh, err);
        abut_bytes_clear(&ele);
    }
    abut_bytes_clear(&node);
    return rc;
}

static abut_status read_yaml(const abut_bytes *in, abut_err *err)
{
    abut_arena arena = { .limit = 64 << 20 };
    abut_tree *root;
    const abut_status rc = abut_yaml_read(&arena, in->name, in->data, in->size, &root, err);
    abut_arena_clear(&arena);
    return rc;
}

static abut_status read_ipc_script(const abut_bytes *in, abut_err *err)
{
    abut_arena arena = { .limit = 64 << 20 };
    abut_tree *root;
    abut_ipc_notes notes;
    const abut_status rc = abut_ipc_script_read(&arena, in, "", &root, &notes, err);
    if (!rc) {
        char *text = NULL;
        size_t size = 0;
        abut_tree *again;
        abut_err bad = { 0 };
        FILE *f = open_memstream(&text, &size);
        const abut_status written = f ? abut_yaml_write(f, root, &bad) : ABUT_E_IO;     /* not what is not UTF-8 */
        if (!f || fclose(f) || (written && written != ABUT_E_FORMAT)) abort();
        if (!written && abut_yaml_read(&arena, "written", text, size, &again, &bad) && bad.code != ABUT_E_NOMEM) abort();
        free(text);
    }
    abut_arena_clear(&arena);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    abut_bytes in;
    abut_mesh mesh = { 0 };
    abut_err err = { 0 };
    if (size < 1 || bytes_copy("fuzz", data + 1, size - 1, &in, &err)) return 0;
    abut_status rc;
    switch (data[0] % 10) {
    case 0: rc = abut_msh_read(&in, &mesh, &err); break;
    case 1: rc = abut_obj_read(&in, &mesh, &err); break;
    case 2: rc = abut_ply_read(&in, &mesh, &err); break;
    case 3: rc = abut_stl_read(&in, &mesh, &err); break;
    case 4: rc = abut_seg_read(&in, &mesh, &err); break;
    case 5: rc = abut_pt_read(&in, &mesh, &err); break;
    case 6: rc = read_tetgen(&in, &mesh, &err); break;
    case 7: rc = read_yaml(&in, &err); break;
    case 9: rc = abut_vtk_read(&in, &mesh, &err); break;
    default: rc = read_ipc_script(&in, &err); break;
    }
    if (rc != err.code || (rc && !err.msg[0])) abort();
    if (!rc && abut_mesh_check(&mesh, &err)) abort();
    if (!rc && data[0] % 10 == 0 && abut_mesh_conforming(&mesh, &err) && err.code != ABUT_E_NOMEM) abort();
    if (!rc && mesh.nt < 100 && abut_mesh_set_order(&mesh, abut_mesh_order(&mesh) % ABUT_ORDER_MAX + 1, &err) &&
        err.code != ABUT_E_NOMEM) abort();
    abut_mesh_clear(&mesh);
    abut_bytes_clear(&in);
    return 0;
}

static const char *const extensions[] = { ".msh", ".obj", ".ply", ".stl", ".seg", ".pt", ".tetgen", ".yaml", ".ipc", ".vtk" };

int fuzz_seed(unsigned char **data, size_t *size, const char *path)
{
    const char *dot = strrchr(path, '.');
    for (int i = 0; dot && i < 10; i++)
        if (!strcmp(dot, extensions[i])) return fuzz_load(data, size, path, (unsigned char)i);
    return 0;
}
