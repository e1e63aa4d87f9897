/* The generator of strands that grow out of a ball. */
#include "formats/scene/scene_parts.h"
#include "mesh/generate/sheets.h"

/* {radius: m, wavelength: m, ramp: m} and what differs from strand to strand. */
static abut_status read_curl(const abut_tree *t, abut_hair *h, abut_err *err)
{
    static const char *const keys[] = { "radius", "wavelength", "ramp", "vary", "phase", NULL };
    const abut_tree *vary = abut_tree_find(t, "vary"), *phase = abut_tree_find(t, "phase");
    abut_status rc = abut_tree_keys(t, "curl", keys, err);
    if (!rc) rc = abut_scene_all_there(t, (const char *const[]){ "radius", "wavelength", "ramp", NULL }, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "radius"), "curl.radius", ABUT_Q_LENGTH, &h->curl, NULL, err);
    const abut_tree *wave = abut_tree_find(t, "wavelength");
    if (!rc) rc = abut_tree_positive(wave, "curl.wavelength", ABUT_Q_LENGTH, &h->wavelength, NULL, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "ramp"), "curl.ramp", ABUT_Q_LENGTH, &h->ramp, NULL, err);
    if (!rc && vary) rc = abut_tree_not_negative(vary, "curl.vary", ABUT_Q_PURE, &h->vary, err);
    return rc || !phase ? rc : abut_tree_not_negative(phase, "curl.phase", ABUT_Q_PURE, &h->phase, err);
}

abut_status abut_scene_make_hair(const abut_tree *t, abut_mesh *m, abut_err *err)
{
    static const char *const keys[] = { "count", "radius", "offset", "length", "cells", "whole", "curl", "seed", NULL };
    abut_hair h = { .seed = 1, .phase = 1 };
    const abut_tree *whole = abut_tree_find(t, "whole"), *curl = abut_tree_find(t, "curl"), *seed = abut_tree_find(t, "seed");
    abut_status rc = abut_tree_keys(t, t->key, keys, err);
    if (!rc) rc = abut_scene_all_there(t, (const char *const[]){ "count", "radius", "offset", "length", "cells", NULL }, err);
    if (!rc) rc = abut_tree_int(abut_tree_find(t, "count"), "count", 1, 1000000, &h.count, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "radius"), "radius", ABUT_Q_LENGTH, &h.radius, NULL, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "offset"), "offset", ABUT_Q_LENGTH, &h.offset, NULL, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "length"), "length", ABUT_Q_LENGTH, &h.length, NULL, err);
    if (!rc) rc = abut_tree_int(abut_tree_find(t, "cells"), "cells", 2, 4096, &h.cells, err);
    if (!rc && whole) rc = abut_tree_flag(whole, "whole", &h.whole, err);
    if (!rc && seed) rc = abut_tree_int(seed, "seed", 0, INT32_MAX, &h.seed, err);
    if (!rc && curl) rc = read_curl(curl, &h, err);
    return rc ? rc : abut_scene_placed(t, abut_generate_hair(&h, m, err), err);
}
