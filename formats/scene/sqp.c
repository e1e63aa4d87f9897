/* Contact as linearised inequalities: the map `sqp`. */
#include "formats/scene/scene_parts.h"
#include "solve/step/options.h"

static abut_status choose(const abut_tree *t, const char *key, const char *what, const char *const *names, abut_param *p,
                          abut_err *err)
{
    const abut_tree *c = abut_tree_find(t, key);
    int value = 0;
    if (!c) return ABUT_OK;
    abut_scene_from(c, p->from);
    const abut_status rc = abut_tree_choice(c, what, names, &value, err);
    p->value = value;
    return rc;
}

abut_status abut_scene_sqp(const abut_scene_reader *r, const abut_tree *t, abut_err *err)
{
    static const char *const keys[] = { "constraints", "active-set", "offset", NULL };
    struct abut_scene_sqp *s = &r->scene->sqp;
    abut_status rc = abut_tree_keys(t, "sqp", keys, err);
    if (!rc) rc = choose(t, "constraints", "sqp.constraints", abut_constraint_names, &s->constraints, err);
    if (!rc) rc = choose(t, "active-set", "sqp.active-set", abut_active_set_names, &s->active_set, err);
    const abut_tree *offset = rc ? NULL : abut_tree_find(t, "offset");
    if (!offset) return rc;
    abut_scene_from(offset, s->offset.from);
    rc = abut_tree_real(offset, "sqp.offset", ABUT_Q_LENGTH_OR_L, &s->offset.value, &s->offset.per_length, err);
    return rc || s->offset.value >= 0 ? rc : abut_tree_fail(offset, err, "sqp.offset %g: expected 0 or more", s->offset.value);
}
