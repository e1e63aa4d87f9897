#include "formats/scene/scene_parts.h"

#include <math.h>

/* {object: name}, where it is nearest, or {point: [x, y, z]} */
static abut_status read_target(const abut_scene_reader *r, const abut_tree *t, abut_scene_attachment *a, abut_err *err)
{
    abut_status rc = abut_tree_keys(t, "to", (const char *const[]){ "object", "point", NULL }, err);
    const abut_tree *object = rc ? NULL : abut_tree_find(t, "object"), *point = rc ? NULL : abut_tree_find(t, "point");
    if (rc) return rc;
    if (!object == !point) return abut_tree_fail(t, err, "to: expected {object: name} or {point: [x, y, z]}");
    a->to = -1;
    return object ? abut_scene_find(r, object, 0, &a->to, err) : abut_tree_vector(point, "point", ABUT_Q_LENGTH, 3, a->point,
                                                                                  err);
}

static abut_status read_attachment(const abut_scene_reader *r, const abut_tree *t, abut_scene_attachment *a, abut_err *err)
{
    static const char *const keys[] = { "from", "to", "stiffness", "within", NULL };
    abut_status rc = abut_tree_keys(t, "attachment", keys, err);
    if (rc) return rc;
    const abut_tree *from = abut_tree_find(t, "from"), *to = abut_tree_find(t, "to"), *k = abut_tree_find(t, "stiffness");
    const abut_tree *within = abut_tree_find(t, "within");
    if (!from || !to || !k) return abut_tree_fail(t, err, "attachment: expected {from: conditions, to: {object: name} or "
                                                  "{point: [x, y, z]}, stiffness: number}");
    abut_scene_from(t, a->from);
    a->within = INFINITY;
    rc = abut_read_scene_select(r, from, &a->select, err);
    if (!rc) rc = read_target(r, to, a, err);
    if (!rc) rc = abut_tree_positive(k, "stiffness", ABUT_Q_STIFFNESS, &a->stiffness, NULL, err);
    if (!rc && within) rc = abut_tree_positive(within, "within", ABUT_Q_LENGTH, &a->within, NULL, err);
    if (rc || a->to < 0) return rc;
    if (a->select.object < 0) return abut_tree_fail(from, err, "from: expected one object, whose nodes are tied to another one");
    if (a->select.object == a->to)
        return abut_tree_fail(to, err, "to: object '%s' is tied to itself: expected another one", r->scene->object[a->to].name);
    return ABUT_OK;
}

abut_status abut_scene_attachments(abut_scene_reader *r, const abut_tree *attachments, abut_err *err)
{
    int32_t i = 0;
    if (!attachments) return ABUT_OK;
    static const char entry[] = "{from: {object: ball}, to: {object: wall}, stiffness: 10 N/m}";
    abut_status rc = abut_tree_list(attachments, "attachments", 0, entry, err);
    if (!rc) rc = abut_scene_reserve_attachments(r->scene, attachments->n, err);
    for (const abut_tree *c = attachments->child; c && !rc; c = c->next, i++)
        rc = read_attachment(r, c, &r->scene->attachment[i], err);
    return rc;
}
