#include "formats/scene/scene_parts.h"

#include "mesh/generate/generate.h"
#include "mesh/generate/sheets.h"

#include <math.h>
#include <stdlib.h>

enum { CELLS_MOST = 4096 };

static const char *const LAYOUTS[] = { "grid", "rows", NULL };

/* `cells`, or `edge`: the number of cells of about that size. */
static abut_status read_cells(const abut_tree *t, const double size[2], int layout, int32_t cells[2], abut_err *err)
{
    const abut_tree *n = abut_tree_find(t, "cells"), *e = abut_tree_find(t, "edge");
    double edge = 0;
    if (!n == !e) return abut_tree_fail(t, err, "%s: expected one of 'cells' and 'edge'", t->key);
    if (n) return abut_tree_ints(n, "cells", 2, 1, CELLS_MOST, cells, err);
    const abut_status rc = abut_tree_positive(e, "edge", ABUT_Q_LENGTH, &edge, NULL, err);
    if (rc) return rc;
    abut_sheet_cells(size, edge, layout, cells);
    if (cells[0] <= CELLS_MOST && cells[1] <= CELLS_MOST) return ABUT_OK;
    return abut_tree_fail(e, err, "edge is '%s': a side of %g m would have more than %d cells", e->text, fmax(size[0], size[1]),
                          (int)CELLS_MOST);
}

static abut_status read_layout(const abut_tree *t, int *layout, abut_err *err)
{
    const abut_tree *l = abut_tree_find(t, "layout");
    return l ? abut_tree_choice(l, "layout", LAYOUTS, layout, err) : ABUT_OK;
}

static abut_status read_seed(const abut_tree *t, int32_t *seed, abut_err *err)
{
    const abut_tree *s = abut_tree_find(t, "seed");
    *seed = 1;
    return s ? abut_tree_int(s, "seed", 0, INT32_MAX, seed, err) : ABUT_OK;
}

/* Rolls or folds a flat sheet, or bends it along a curve. */
static abut_status bend(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    const abut_tree *roll = abut_tree_find(t, "roll"), *fold = abut_tree_find(t, "fold"),
                    *along = abut_tree_find(t, "along");
    double a = 0, b = 0, *curve = NULL;
    int32_t n = 0;
    abut_status rc = ABUT_OK;
    if ((roll != NULL) + (fold != NULL) + (along != NULL) > 1)
        return abut_tree_fail(t, err, "%s: expected one of 'roll', 'fold' and 'along'", t->key);
    if (along) {
        rc = abut_scene_rows(along, "along [x, y]", 2, &curve, &n, err);
        if (!rc) rc = abut_scene_placed(along, abut_sheet_follow(m, curve, n, err), err);
        free(curve);
        return rc;
    }
    const abut_tree *shape = roll ? roll : fold;
    if (!shape) return ABUT_OK;
    const char *const first = roll ? "radius" : "length";
    rc = abut_scene_need(shape, (const char *const[]){ first, "gap", NULL }, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(shape, first), first, ABUT_Q_LENGTH, &a, NULL, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(shape, "gap"), "gap", ABUT_Q_LENGTH, &b, NULL, err);
    return rc ? rc : abut_scene_placed(shape, roll ? abut_sheet_roll(m, a, b, err) : abut_sheet_fold(m, a, b, err), err);
}

abut_status abut_scene_make_cloth(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    static const char *const keys[] = { "size", "cells", "edge", "layout", "jitter", "seed", "roll", "fold", "along", NULL };
    abut_sheet s = { 0 };
    abut_status rc = abut_tree_keys(t, t->key, keys, err);
    if (!rc) rc = abut_scene_all_there(t, (const char *const[]){ "size", NULL }, err);
    if (!rc) rc = abut_tree_vector(abut_tree_find(t, "size"), "size", ABUT_Q_LENGTH, 2, s.size, err);
    if (!rc) rc = read_layout(t, &s.layout, err);
    if (!rc) rc = read_cells(t, s.size, s.layout, s.cells, err);
    if (!rc) rc = read_seed(t, &s.seed, err);
    const abut_tree *jitter = rc ? NULL : abut_tree_find(t, "jitter");
    if (jitter) rc = abut_tree_real(jitter, "jitter", ABUT_Q_PURE, &s.jitter, NULL, err);
    if (!rc) rc = abut_scene_placed(t, abut_generate_sheet(&s, m, err), err);
    return rc ? rc : bend(t, m, err);
}

abut_status abut_scene_make_tube(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    static const char *const keys[] = { "radius", "height", "cells", "edge", "layout", NULL };
    double radius = 0, height = 0;
    int32_t cells[2] = { 0 };
    int layout = ABUT_LAYOUT_GRID;
    abut_status rc = abut_tree_keys(t, t->key, keys, err);
    if (!rc) rc = abut_scene_all_there(t, (const char *const[]){ "radius", "height", NULL }, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "radius"), "radius", ABUT_Q_LENGTH, &radius, NULL, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "height"), "height", ABUT_Q_LENGTH, &height, NULL, err);
    if (!rc) rc = read_layout(t, &layout, err);
    if (!rc) rc = read_cells(t, (double[2]){ 6.28318530717958648 * radius, height }, layout, cells, err);
    return rc ? rc : abut_scene_placed(t, abut_generate_tube(radius, height, cells, layout, m, err), err);
}

abut_status abut_scene_make_icosphere(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    double radius = 0;
    int32_t divisions = 0;
    abut_status rc = abut_scene_need(t, (const char *const[]){ "radius", "divisions", NULL }, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "radius"), "radius", ABUT_Q_LENGTH, &radius, NULL, err);
    if (!rc) rc = abut_tree_int(abut_tree_find(t, "divisions"), "divisions", 1, 500, &divisions, err);
    return rc ? rc : abut_scene_placed(t, abut_generate_icosphere(radius, divisions, m, err), err);
}

abut_status abut_scene_make_bowl(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    double radius = 0, opening = 1.57079632679489662;
    int32_t cells[2] = { 0 };
    abut_status rc = abut_tree_keys(t, t->key, (const char *const[]){ "radius", "cells", "opening", NULL }, err);
    if (!rc) rc = abut_scene_all_there(t, (const char *const[]){ "radius", "cells", NULL }, err);
    const abut_tree *o = rc ? NULL : abut_tree_find(t, "opening");
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "radius"), "radius", ABUT_Q_LENGTH, &radius, NULL, err);
    if (!rc) rc = abut_tree_ints(abut_tree_find(t, "cells"), "cells [around, along]", 2, 1, 4096, cells, err);
    if (!rc && o) rc = abut_tree_positive(o, "opening", ABUT_Q_ANGLE, &opening, NULL, err);
    return rc ? rc : abut_scene_placed(t, abut_generate_bowl(radius, opening, cells[0], cells[1], m, err), err);
}

abut_status abut_scene_make_strands(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    static const char *const keys[] = { "count", "spacing", "length", "cells", "lean", "seed", NULL };
    double spacing = 0, length = 0, lean = 0;
    int32_t count[2] = { 0 }, cells = 0, seed = 0;
    abut_status rc = abut_tree_keys(t, t->key, keys, err);
    if (!rc) rc = abut_scene_all_there(t, (const char *const[]){ "count", "spacing", "length", "cells", NULL }, err);
    const abut_tree *l = rc ? NULL : abut_tree_find(t, "lean");
    if (!rc) rc = abut_tree_ints(abut_tree_find(t, "count"), "count", 2, 1, 4096, count, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "spacing"), "spacing", ABUT_Q_LENGTH, &spacing, NULL, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "length"), "length", ABUT_Q_LENGTH, &length, NULL, err);
    if (!rc) rc = abut_tree_int(abut_tree_find(t, "cells"), "cells", 1, 4096, &cells, err);
    if (!rc && l) rc = abut_tree_real(l, "lean", ABUT_Q_LENGTH, &lean, NULL, err);
    if (!rc) rc = read_seed(t, &seed, err);
    return rc ? rc : abut_scene_placed(t, abut_generate_strands(count, spacing, length, cells, lean, seed, m, err), err);
}

abut_status abut_scene_make_net(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    double spacing = 0, offset = 0;
    int32_t count[2] = { 0 }, cells = 0;
    abut_status rc = abut_scene_need(t, (const char *const[]){ "count", "spacing", "offset", "cells", NULL }, err);
    if (!rc) rc = abut_tree_ints(abut_tree_find(t, "count"), "count", 2, 1, 4096, count, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "spacing"), "spacing", ABUT_Q_LENGTH, &spacing, NULL, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "offset"), "offset", ABUT_Q_LENGTH, &offset, NULL, err);
    if (!rc) rc = abut_tree_int(abut_tree_find(t, "cells"), "cells", 1, 4096, &cells, err);
    return rc ? rc : abut_scene_placed(t, abut_generate_net(count, spacing, offset, cells, m, err), err);
}

abut_status abut_scene_make_sprinkles(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    static const char *const keys[] = { "count", "spacing", "length", "tilt", "seed", NULL };
    double spacing[3] = { 0 }, length = 0, tilt = 0;
    int32_t count[3] = { 0 }, seed = 0;
    abut_status rc = abut_tree_keys(t, t->key, keys, err);
    if (!rc) rc = abut_scene_all_there(t, (const char *const[]){ "count", "spacing", "length", NULL }, err);
    const abut_tree *lean = rc ? NULL : abut_tree_find(t, "tilt");
    if (!rc) rc = abut_tree_ints(abut_tree_find(t, "count"), "count", 3, 1, 4096, count, err);
    if (!rc) rc = abut_tree_vector(abut_tree_find(t, "spacing"), "spacing", ABUT_Q_LENGTH, 3, spacing, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "length"), "length", ABUT_Q_LENGTH, &length, NULL, err);
    if (!rc && lean) rc = abut_tree_real(lean, "tilt", ABUT_Q_ANGLE, &tilt, NULL, err);
    if (!rc) rc = read_seed(t, &seed, err);
    return rc ? rc : abut_scene_placed(t, abut_generate_sprinkles(count, spacing, length, tilt, seed, m, err), err);
}

abut_status abut_scene_make_particles(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    double size[3] = { 0 }, jitter = 0;
    int32_t count[3] = { 0 }, seed = 0;
    abut_status rc = abut_tree_keys(t, t->key, (const char *const[]){ "size", "count", "jitter", "seed", NULL }, err);
    if (!rc) rc = abut_scene_all_there(t, (const char *const[]){ "size", "count", NULL }, err);
    const abut_tree *j = rc ? NULL : abut_tree_find(t, "jitter");
    if (!rc) rc = abut_tree_vector(abut_tree_find(t, "size"), "size", ABUT_Q_LENGTH, 3, size, err);
    if (!rc) rc = abut_tree_ints(abut_tree_find(t, "count"), "count", 3, 1, 4096, count, err);
    if (!rc && j) rc = abut_tree_positive(j, "jitter", ABUT_Q_LENGTH, &jitter, NULL, err);
    if (!rc) rc = read_seed(t, &seed, err);
    if (!rc) rc = abut_scene_placed(t, abut_generate_particles(size, count, m, err), err);
    if (!rc && j) abut_mesh_jitter(m, jitter, seed);
    return rc;
}
