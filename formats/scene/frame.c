/* `frame` of an object: a body that moves as one affine frame. */
#include "formats/scene/scene_parts.h"

#include "base/words.h"
#include "mesh/moments.h"
#include "scene/orders.h"

#include <stdlib.h>
#include <string.h>

#define OUTSIDE 1e3         /* coordinates of the surface in the tet of a frame are exact, however far outside it is */

static abut_status check(const abut_tree *object, const abut_tree *t, const abut_scene_object *o, abut_err *err)
{
    static const char *const others[] = { "tetrahedralize", "proxy", "match-mass", "shell", "rod", "particle", "rest", NULL };
    const abut_tree *copies = abut_tree_find(object, "repeat");
    for (int i = 0; others[i]; i++)
        if (abut_tree_find(object, others[i]))
            return abut_tree_fail_key(t, err, "frame: a body of four control points has its own surface and mass: expected no %s",
                                      others[i]);
    if (o->obstacle) return abut_tree_fail_key(t, err, "frame: of a body; an obstacle moves as its motion says");
    if (abut_scene_order_of(o) > 1) return abut_tree_fail_key(t, err, "frame: expected tets of order 1, these have order %d",
                                                              abut_scene_order_of(o));
    if (o->fill) return abut_tree_fail_key(t, err, "frame: a cage is partly solid: expected the surface that it is around");
    if (copies && !abut_tree_find(copies, "objects"))
        return abut_tree_fail_key(copies, err, "repeat: of a frame: expected objects: true");
    if ((o->mesh.nt != 0) == (o->mesh.nf != 0) || o->mesh.ns || o->mesh.np)
        return abut_tree_fail_key(
            t, err,
            "frame: expected tets alone or triangles alone, this mesh has %d tet%s, %d triangle%s, %d segment%s, %d point%s",
            o->mesh.nt, abut_s(o->mesh.nt), o->mesh.nf, abut_s(o->mesh.nf), o->mesh.ns, abut_s(o->mesh.ns), o->mesh.np,
            abut_s(o->mesh.np));
    return ABUT_OK;
}

abut_status abut_scene_read_frame(const abut_tree *object, abut_scene_object *o, abut_err *err)
{
    const abut_tree *t = abut_tree_find(object, "frame");
    int is_frame = 0;
    if (!t) return ABUT_OK;
    abut_status rc = abut_tree_flag(t, "frame", &is_frame, err);
    if (rc || !is_frame) return rc;
    rc = check(object, t, o, err);
    if (rc) return rc;
    abut_mesh frame = { 0 };
    if (!(o->fill = malloc(sizeof *o->fill))) return abut_fail(err, ABUT_E_NOMEM, "frame: no memory");
    rc = abut_scene_placed(t, abut_mesh_frame(&o->mesh, &frame, &o->proxy.surface, o->fill, err), err);
    if (rc) return abut_mesh_clear(&frame), rc;
    abut_mesh_clear(&o->mesh);
    o->mesh = frame;
    o->is_frame = 1;
    o->proxy.extrapolation = OUTSIDE;
    abut_scene_from(t, o->proxy.from);
    return ABUT_OK;
}
