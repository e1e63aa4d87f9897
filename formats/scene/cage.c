/* Tets around a surface: the generator `cage`. */
#include "formats/scene/scene_parts.h"

#include "base/words.h"
#include "mesh/generate/cage.h"
#include "mesh/moments.h"

#include <stdlib.h>

static abut_status lattice(const abut_tree *t, const abut_mesh *s, abut_mesh *m, abut_err *err)
{
    const abut_tree *cell = abut_tree_find(t, "cell"), *more = abut_tree_find(t, "inflate"), *fit = abut_tree_find(t, "fit");
    double size = 0, inflate = 0;
    int fits = 0;
    abut_status rc = abut_tree_positive(cell, "cell", ABUT_Q_LENGTH, &size, NULL, err);
    inflate = size / 20;
    if (!rc && more) rc = abut_tree_not_negative(more, "inflate", ABUT_Q_LENGTH, &inflate, err);
    if (!rc && fit) rc = abut_tree_flag(fit, "fit", &fits, err);
    if (!rc) rc = abut_scene_placed(t, abut_generate_cage(s, size, inflate, m, err), err);
    return rc || !fits ? rc : abut_scene_placed(t, abut_cage_fit(m, s, inflate, err), err);
}

static abut_status star(const abut_tree *t, const abut_mesh *s, abut_mesh *m, abut_err *err)
{
    int32_t divisions = 0;
    const abut_status rc = abut_tree_int(t, "star", 1, 6, &divisions, err);
    return rc ? rc : abut_scene_placed(t, abut_generate_star_cage(s, divisions, m, err), err);
}

abut_status abut_scene_cage(const abut_scene_reader *r, const abut_tree *object, const abut_tree *t, abut_scene_object *o,
                            abut_err *err)
{
    static const char *const keys[] = { "mesh", "cell", "inflate", "fit", "solid", "star", NULL };
    static const char *const solids[] = { "icosahedron", "octahedron", NULL };
    abut_status rc = abut_tree_keys(t, "cage", keys, err);
    const abut_tree *mesh = rc ? NULL : abut_tree_find(t, "mesh"), *solid = rc ? NULL : abut_tree_find(t, "solid");
    const abut_tree *cell = rc ? NULL : abut_tree_find(t, "cell"), *rays = rc ? NULL : abut_tree_find(t, "star");
    const abut_tree *copies = abut_tree_find(object, "repeat");
    abut_mesh s = { 0 };
    int which = 0;
    if (rc) return rc;
    if (!mesh || (solid != NULL) + (cell != NULL) + (rays != NULL) != 1)
        return abut_tree_fail(t, err, "cage: expected {mesh: file, cell: length}, {mesh: file, solid: icosahedron or "
                              "octahedron} or {mesh: file, star: divisions}");
    if (!cell && (abut_tree_find(t, "fit") || abut_tree_find(t, "inflate")))
        return abut_tree_fail(t, err, "cage: fit and inflate are of its cells, and it has none: expected cell: length");
    if (o->obstacle) return abut_tree_fail_key(t, err, "cage: an obstacle is its surface, and needs none");
    if (copies && !abut_tree_find(copies, "objects"))
        return abut_tree_fail_key(copies, err, "repeat: of a cage: expected objects: true");
    rc = abut_scene_load(r, mesh, &s, err);
    if (!rc && (!s.nf || s.nt))
        rc = abut_tree_fail(mesh, err, "mesh: expected triangles alone, this one has %d tet%s, %d triangle%s", s.nt, abut_s(s.nt),
                            s.nf, abut_s(s.nf));
    if (!rc) rc = abut_scene_placed(mesh, abut_mesh_solid_check(&s, err), err);
    if (!rc && solid && !(rc = abut_tree_choice(solid, "solid", solids, &which, err)))
        rc = abut_scene_placed(t, abut_generate_round_cage(&s, which ? 8 : 20, &o->mesh, err), err);
    else if (!rc) rc = rays ? star(rays, &s, &o->mesh, err) : lattice(t, &s, &o->mesh, err);
    if (!rc && !(o->fill = malloc(((size_t)o->mesh.nt + 1) * sizeof *o->fill)))
        rc = abut_fail(err, ABUT_E_NOMEM, "cage: no memory for %d tets", o->mesh.nt);
    if (!rc) rc = abut_scene_placed(t, abut_cage_fill(&o->mesh, &s, o->fill, err), err);
    if (!rc) rc = abut_scene_placed(t, abut_cage_fill_match(&o->mesh, &s, o->fill, err), err);
    abut_mesh_clear(&s);
    return rc;
}
