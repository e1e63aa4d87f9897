/* Tets around a surface: the generator `cage`. */
#include "formats/scene/scene_parts.h"

#include "mesh/generate/cage.h"

#include <stdlib.h>

static abut_status lattice(const abut_tree *t, const abut_mesh *s, abut_mesh *m, abut_err *err)
{
    const abut_tree *cell = abut_tree_find(t, "cell"), *more = abut_tree_find(t, "inflate");
    double size = 0, inflate = 0;
    abut_status rc = abut_tree_positive(cell, "cell", ABUT_Q_LENGTH, &size, NULL, err);
    inflate = size / 20;
    if (!rc && more) rc = abut_tree_not_negative(more, "inflate", ABUT_Q_LENGTH, &inflate, err);
    return rc ? rc : abut_scene_placed(t, abut_generate_cage(s, size, inflate, m, err), err);
}

abut_status abut_scene_cage(const abut_scene_reader *r, const abut_tree *object, const abut_tree *t, abut_scene_object *o,
                            abut_err *err)
{
    static const char *const keys[] = { "mesh", "cell", "inflate", "solid", NULL };
    static const char *const solids[] = { "icosahedron", "octahedron", NULL };
    abut_status rc = abut_tree_keys(t, "cage", keys, err);
    const abut_tree *mesh = rc ? NULL : abut_tree_find(t, "mesh"), *solid = rc ? NULL : abut_tree_find(t, "solid");
    const abut_tree *copies = abut_tree_find(object, "repeat");
    abut_mesh s = { 0 };
    int which = 0;
    if (rc) return rc;
    if (!mesh || (solid != NULL) == (abut_tree_find(t, "cell") != NULL))
        return abut_tree_fail(t, err, "cage: expected {mesh: file, cell: length} or {mesh: file, solid: icosahedron or "
                              "octahedron}");
    if (o->obstacle) return abut_tree_fail_key(t, err, "cage: an obstacle is its surface, and needs none");
    if (copies && !abut_tree_find(copies, "objects"))
        return abut_tree_fail_key(copies, err, "repeat: of a cage: expected objects: true");
    rc = abut_scene_load(r, mesh, &s, err);
    if (!rc && (!s.nf || s.nt))
        rc = abut_tree_fail(mesh, err, "mesh: expected triangles alone, this one has %d tets, %d triangles", s.nt, s.nf);
    if (!rc && solid && !(rc = abut_tree_choice(solid, "solid", solids, &which, err)))
        rc = abut_scene_placed(t, abut_generate_round_cage(&s, which ? 8 : 20, &o->mesh, err), err);
    else if (!rc) rc = lattice(t, &s, &o->mesh, err);
    if (!rc && !(o->fill = malloc(((size_t)o->mesh.nt + 1) * sizeof *o->fill)))
        rc = abut_fail(err, ABUT_E_NOMEM, "cage: no memory for %d tets", o->mesh.nt);
    if (!rc) rc = abut_scene_placed(t, abut_cage_fill(&o->mesh, &s, o->fill, err), err);
    abut_mesh_clear(&s);
    return rc;
}
