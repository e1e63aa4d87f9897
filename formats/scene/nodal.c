/* Parameters of hard contact: the map `nodal`, and cohesion. */
#include "formats/scene/scene_parts.h"
#include "model/check.h"

#include <string.h>

/* Reads a value of the kind of its key. */
static abut_status read_value(const abut_tree *t, const abut_scene_nodal_key *k, abut_param *p, abut_err *err)
{
    static const char *const returns[] = { "feasible", "elastic", NULL }, *const integrators[] = { "newton", "admm", NULL };
    char what[32] = "nodal.";
    int32_t whole = 0;
    int flag = 0;
    abut_status rc = ABUT_OK;
    strncat(what, k->key, sizeof what - 7);
    abut_scene_from(t, p->from);
    switch (k->kind) {
    case ABUT_NODAL_WHOLE: rc = abut_tree_int(t, what, 1, ABUT_NODAL_MOST, &whole, err); p->value = whole; break;
    case ABUT_NODAL_RETURN: rc = abut_tree_choice(t, what, returns, &flag, err); p->value = flag; break;
    case ABUT_NODAL_INTEGRATOR: rc = abut_tree_choice(t, what, integrators, &flag, err); p->value = flag; break;
    case ABUT_NODAL_FLAG: rc = abut_tree_flag(t, what, &flag, err); p->value = flag; break;
    case ABUT_NODAL_LENGTH: rc = abut_tree_positive(t, what, ABUT_Q_LENGTH_OR_L, &p->value, &p->per_length, err); break;
    case ABUT_NODAL_REAL: rc = abut_tree_positive(t, what, ABUT_Q_PURE, &p->value, NULL, err); break;
    case ABUT_NODAL_SHARE: rc = abut_tree_not_negative(t, what, ABUT_Q_PURE, &p->value, err); break;
    case ABUT_NODAL_STIFFNESS: rc = abut_tree_positive(t, what, ABUT_Q_STIFFNESS, &p->value, NULL, err); break;
    }
    return rc;
}

abut_status abut_scene_nodal(const abut_scene_reader *r, const abut_tree *t, abut_err *err)
{
    const char *keys[ABUT_NODAL_KEYS + 1] = { NULL };
    for (int i = 0; i < ABUT_NODAL_KEYS; i++) keys[i] = abut_scene_nodal_keys[i].key;
    abut_status rc = abut_tree_keys(t, "nodal", keys, err);
    for (int i = 0; i < ABUT_NODAL_KEYS && !rc; i++) {
        const abut_tree *c = abut_tree_find(t, keys[i]);
        if (c) rc = read_value(c, &abut_scene_nodal_keys[i], &r->scene->nodal[i], err);
    }
    return rc;
}

static abut_status read_cohesion(const abut_scene_reader *r, const abut_tree *t, abut_scene_cohesion *c, abut_err *err)
{
    static const char *const keys[] = { "between", "force", "range", NULL };
    abut_status rc = abut_tree_keys(t, "contact.cohesion", keys, err);
    if (rc) return rc;
    const abut_tree *two = abut_tree_find(t, "between");
    abut_scene_from(t, c->from);
    if (t->n != 3) return abut_tree_fail(t, err, "contact.cohesion: expected {between: [object, object], force: N, range: m}");
    rc = abut_tree_list(two, "between", 2, "[ball, floor]", err);
    if (!rc) rc = abut_scene_find(r, two->child, 1, &c->a, err);
    if (!rc) rc = abut_scene_find(r, two->child->next, 1, &c->b, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "force"), "contact.cohesion.force", ABUT_Q_FORCE, &c->force, NULL, err);
    return rc ? rc
              : abut_tree_positive(abut_tree_find(t, "range"), "contact.cohesion.range", ABUT_Q_LENGTH, &c->range, NULL, err);
}

static int same_two(const abut_scene_cohesion *p, const abut_scene_cohesion *q)
{
    return (p->a == q->a && p->b == q->b) || (p->a == q->b && p->b == q->a);
}

abut_status abut_scene_cohesions(const abut_scene_reader *r, const abut_tree *list, abut_err *err)
{
    if (!list) return ABUT_OK;
    abut_status rc = abut_tree_list(list, "contact.cohesion", 0, "{between: [ball, floor], force: 1 N, range: 1 mm}", err);
    if (!rc) rc = abut_scene_reserve_cohesions(r->scene, list->n, err);
    int32_t i = 0;
    for (const abut_tree *t = list->child; t && !rc; t = t->next, i++) {
        abut_scene_cohesion *const all = r->scene->cohesion;
        rc = read_cohesion(r, t, &all[i], err);
        for (int32_t k = 0; k < i && !rc; k++)
            if (same_two(&all[k], &all[i]))
                rc = abut_tree_fail(t, err, "contact.cohesion: the same two as in %s", all[k].from);
    }
    return rc;
}
