/* Factor of a load over time: `ramp`, or `factor` with its times and values. */
#include "formats/scene/scene_parts.h"

#include <stdlib.h>

static abut_status new_table(int32_t n, abut_scene_table *out, abut_err *err)
{
    out->time = malloc((size_t)n * sizeof *out->time);
    out->value = malloc((size_t)n * sizeof *out->value);
    if (!out->time || !out->value) return abut_fail(err, ABUT_E_NOMEM, "no memory for a table of %d times", n);
    out->n = n;
    return ABUT_OK;
}

static abut_status read_table(const abut_tree *t, abut_scene_table *out, abut_err *err)
{
    abut_status rc = abut_scene_need(t, (const char *const[]){ "times", "values", NULL }, err);
    if (rc) return rc;
    const abut_tree *times = abut_tree_find(t, "times"), *values = abut_tree_find(t, "values");
    const abut_tree *const list[2] = { times, values };
    for (int k = 0; k < 2; k++)
        if (list[k]->kind != ABUT_TREE_LIST || !list[k]->n)
            return abut_tree_fail(list[k], err, "%s: expected a list of one number or more", k ? "values" : "times");
    if (times->n != values->n)
        return abut_tree_fail(values, err, "values: %d for %d times: expected as many", values->n, times->n);
    rc = new_table(times->n, out, err);
    int32_t i = 0;
    for (const abut_tree *a = times->child, *b = values->child; a && !rc; a = a->next, b = b->next, i++) {
        rc = abut_tree_not_negative(a, "times", ABUT_Q_TIME, &out->time[i], err);
        if (!rc) rc = abut_tree_real(b, "values", ABUT_Q_PURE, &out->value[i], NULL, err);
        if (!rc && i && !(out->time[i] > out->time[i - 1]))
            rc = abut_tree_fail(a, err, "times: %g s after %g s: expected ascending times", out->time[i], out->time[i - 1]);
    }
    return rc;
}

abut_status abut_scene_factor(const abut_tree *map, abut_scene_table *out, abut_err *err)
{
    const abut_tree *ramp = abut_tree_find(map, "ramp"), *factor = abut_tree_find(map, "factor");
    if (ramp && factor) return abut_tree_fail_key(factor, err, "factor: expected one of ramp and factor");
    if (factor) return read_table(factor, out, err);
    if (!ramp) return ABUT_OK;
    abut_status rc = new_table(2, out, err);
    if (!rc) rc = abut_tree_positive(ramp, "ramp", ABUT_Q_TIME, &out->time[1], NULL, err);
    if (!rc) out->time[0] = out->value[0] = 0, out->value[1] = 1;
    return rc;
}
