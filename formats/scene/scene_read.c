/* A scene from its tree: the maps of the top level, with materials, contact and the parameters of solvers. */
#include "formats/scene/scene_read.h"

#include "formats/scene/keys.h"
#include "geom/quadrature.h"
#include "model/schemes.h"
#include "solve/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows of scene.h. */
#define REAL(type, member, key, quantity, interval, value, label) { ABUT_NUMBER(abut_scene, key, member, quantity, interval) },
#define WORD(type, member, key, list, value, label) { ABUT_WORD(abut_scene, key, member, list) },
#define LATER(k, words) { .name = k, .kind = ABUT_KEY_LATER, .form = words }

/* ---- materials ---- */

/* {stretch: [..], a: [..], b: [..], c: [..]}: knots, and the slopes there, Pa */
static const abut_key SPLINE_KEYS[] = { LATER("stretch", "[number, ...]"), LATER("a", "[Pa, ...]"), LATER("b", "[Pa, ...]"),
                                        LATER("c", "[Pa, ...]"), { 0 } };
static const abut_keys SPLINE = { "spline", NULL, SPLINE_KEYS, 4, NULL };

static abut_status read_spline(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    abut_scene_material *const m = to;
    abut_status rc = ABUT_OK;
    (void)r;
    const abut_tree *knots = abut_tree_find(t, "stretch");
    const int n = knots->kind == ABUT_TREE_LIST ? knots->n : 0;
    if (n < 2) return abut_tree_fail_kind(knots, "spline.stretch", err, "a list of two numbers or more, [0.5, 1, 2]");
    double *value = malloc((size_t)n * sizeof *value);
    m->knot = malloc((size_t)n * sizeof *m->knot);
    m->slope = malloc(3 * (size_t)n * sizeof *m->slope);
    m->nknots = n;
    if (!value || !m->knot || !m->slope) rc = abut_fail(err, ABUT_E_NOMEM, "no memory for a spline of %d knots", n);
    if (!rc) rc = abut_tree_vector(knots, "spline.stretch", ABUT_Q_PURE, n, m->knot, err);
    for (int k = 1; k < n && !rc; k++)
        if (!(m->knot[k - 1] < m->knot[k]))
            rc = abut_tree_fail(knots, err, "spline.stretch: %g after %g: expected ascending numbers", m->knot[k],
                                m->knot[k - 1]);
    for (int q = 0; q < 3 && !rc; q++) {
        const char *const key = SPLINE_KEYS[1 + q].name;
        rc = abut_tree_vector(abut_tree_find(t, key), key, ABUT_Q_PRESSURE, n, value, err);
        for (int k = 0; k < n && !rc; k++) m->slope[3 * k + q] = value[k];
    }
    free(value);
    return rc;
}

#define MATERIAL(k, m, Q, r) { ABUT_NUMBER(abut_scene_material, k, m, Q, r) }
static const abut_key FIBRE_KEYS[] = { MATERIAL("direction", fibre_direction, PURE, NULL),
                                       MATERIAL("stiffness", fibre, PRESSURE, "(0,)"), { 0 } };
static const abut_keys FIBRE = { "fibre", "fibre.", FIBRE_KEYS, 2, NULL };

static abut_status check_fibre(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    double *const d = ((abut_scene_material *)to)->fibre_direction, n = abut_tree_norm(d, 3);
    (void)r;
    for (int k = 0; k < 3 && n > 0; k++) d[k] /= n;
    return abut_scene_nonzero(t, "fibre.direction", d, err);
}

static const abut_key STRETCH_KEYS[] = {
    { .name = "range", .kind = ABUT_KEY_NUMBER, .at = offsetof(abut_scene_material, stretch[1]), .size = 2 * sizeof(double) },
    MATERIAL("stiffness", stretch[0], PRESSURE, "(0,)"), { 0 }
};
static const abut_keys STRETCH = { "stretch", "stretch.", STRETCH_KEYS, 2, NULL };

static abut_status check_stretch(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    const double *const range = ((abut_scene_material *)to)->stretch + 1;
    (void)r;
    if (range[0] >= 0 && range[0] <= 1 && range[1] >= 1) return ABUT_OK;
    return abut_tree_fail(abut_tree_find(t, "range"), err, "stretch.range: %g, %g: expected 0 <= low <= 1 <= high", range[0],
                          range[1]);
}

/* Moduli of fabrics, and limits of cloth. */
static const abut_key FABRIC_KEYS[] = { MATERIAL("warp", fabric[0], PRESSURE, NULL), MATERIAL("weft", fabric[1], PRESSURE, NULL),
                                        MATERIAL("coupling", fabric[2], PRESSURE, NULL),
                                        MATERIAL("shear", fabric[3], PRESSURE, NULL), { 0 } };
static const abut_key WITKIN_KEYS[] = { MATERIAL("warp", fabric[0], PRESSURE, "(0,)"),
                                        MATERIAL("weft", fabric[1], PRESSURE, "(0,)"),
                                        MATERIAL("shear", fabric[3], PRESSURE, "(0,)"),
                                        MATERIAL("compression", compression, PURE, "(0,1]"), { 0 } };
static const abut_key STRAIN_KEYS[] = { MATERIAL("warp", strain_limit[0], PURE, "(0,)"),
                                        MATERIAL("weft", strain_limit[1], PURE, "(0,)"),
                                        MATERIAL("shear", strain_limit[2], PURE, "(0,)"), { 0 } };
static const abut_keys FABRIC = { "fabric", NULL, FABRIC_KEYS, 4, NULL };
static const abut_keys STRAIN = { "strain-limit", "strain-limit.", STRAIN_KEYS, 3, NULL };
static const abut_keys WITKIN = { "fabric", NULL, WITKIN_KEYS, 3, NULL };
static const char *const MEMBRANES[] = { "isotropic", "orthotropic", "cloth", "baraff-witkin", NULL };

/* After the membrane. */
static abut_status read_fabric(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    abut_scene_material *const m = to;
    const double *const a = m->fabric;
    if (m->membrane == ABUT_MEMBRANE_BARAFF_WITKIN) return abut_keys_read(r, &WITKIN, t, m, err);
    const abut_status rc = abut_keys_read(r, &FABRIC, t, m, err);
    if (rc || (a[0] > 0 && a[1] > 0 && a[3] > 0 && a[2] * a[2] < a[0] * a[1])) return rc;
    return abut_tree_fail(t, err, "fabric: warp %g, weft %g, coupling %g, shear %g Pa: expected warp, weft and shear more than "
                          "0, and coupling^2 less than warp times weft", a[0], a[1], a[2], a[3]);
}

static const abut_key MATERIAL_KEYS[] = {
    { ABUT_WORD(abut_scene_material, "model", model, abut_material_names), .as = "material model", .fallback = "neo-hookean" },
    { ABUT_NUMBER(abut_scene_material, "density", density, DENSITY, "(0,)"), .fallback = "1000" },
    { ABUT_NUMBER(abut_scene_material, "young", young, PRESSURE, "(0,)"), .fallback = "1e5" },
    { ABUT_NUMBER(abut_scene_material, "poisson", poisson, PURE, "(-1,0.5)"), .fallback = "0.4" },
    MATERIAL("bending-young", bending_young, PRESSURE, "(0,)"),
    { ABUT_WORD(abut_scene_material, "membrane", membrane, MEMBRANES), .fallback = "isotropic" },
    { .name = "fabric", .kind = ABUT_KEY_READ, .read = read_fabric, .keys = &FABRIC },
    { ABUT_MAP("strain-limit", &STRAIN) },
    { ABUT_CHECKED("spline", &SPLINE, read_spline) },
    { ABUT_CHECKED("fibre", &FIBRE, check_fibre) },
    MATERIAL("volume", volume, PRESSURE, "(0,)"),
    { ABUT_CHECKED("stretch", &STRETCH, check_stretch) },
    { ABUT_WHOLE(abut_scene_material, "quadrature", quadrature, "[1,40]") },
    { 0 }
};
_Static_assert(ABUT_QUADRATURE_MAX == 40, "the range of quadrature");
static const abut_keys ONE_MATERIAL = { "material", NULL, MATERIAL_KEYS, 0, NULL };
static const abut_key NAME_KEYS[] = { { .name = "NAME", .kind = ABUT_KEY_LATER, .keys = &ONE_MATERIAL }, { 0 } };
static const abut_keys MATERIALS = { .row = NAME_KEYS };

/* Keys that only some models and membranes have, and need. */
static abut_status check_material(const abut_tree *t, const abut_scene_material *m, abut_err *err)
{
    const abut_tree *spline = abut_tree_find(t, "spline"), *fabric = abut_tree_find(t, "fabric");
    const abut_tree *limit = abut_tree_find(t, "strain-limit"), *membrane = abut_tree_find(t, "membrane");
    if (!abut_material_bounded(m->model, m->poisson))
        return abut_tree_fail(abut_tree_find(t, "poisson"), err, "poisson is %g: expected " ABUT_MATERIAL_UNBOUNDED, m->poisson,
                              abut_material_least_poisson(m->model));
    if (!spline != (m->model != ABUT_SPLINE))
        return abut_tree_fail_key(spline ? spline : t, err,
                                  spline ? "spline: of a material whose model is %s"
                                         : "model %s needs spline: {stretch: [..], a: [..], b: [..], c: [..]}",
                                  abut_material_names[m->model]);
    if ((m->membrane != ABUT_MEMBRANE_ISOTROPIC) != (fabric != NULL))
        return abut_tree_fail_key(fabric ? fabric : membrane, err,
                                  fabric ? "fabric: of a membrane that is %s; expected orthotropic, cloth or baraff-witkin"
                                  : m->membrane == ABUT_MEMBRANE_BARAFF_WITKIN
                                      ? "membrane: %s needs fabric: {warp: .., weft: .., shear: ..}"
                                      : "membrane: %s needs fabric: {warp: .., weft: .., coupling: .., shear: ..}",
                                  MEMBRANES[m->membrane]);
    if ((m->membrane != ABUT_MEMBRANE_CLOTH) != (limit != NULL)) return ABUT_OK;
    return abut_tree_fail_key(limit ? limit : membrane, err,
                              limit ? "strain-limit: of a membrane that is %s; expected cloth"
                                    : "membrane: %s needs strain-limit: {warp: .., weft: .., shear: ..}", MEMBRANES[m->membrane]);
}

/* One material called default, unless the scene has some. */
static abut_status read_materials(const abut_scene_reader *r, const abut_tree *t, abut_err *err)
{
    abut_scene *const s = r->scene;
    const int32_t n = t && t->n ? t->n : 1;
    if (t && t->kind != ABUT_TREE_MAP)
        return abut_tree_fail_kind(t, "materials", err, "a map of names, {rubber: {young: 1 MPa}, ...}");
    abut_status rc = abut_scene_rows(&s->material, &s->nmaterials, n, sizeof *s->material, err);
    const abut_tree *c = t ? t->child : NULL;
    for (int32_t i = 0; i < n && !rc; i++) {
        abut_scene_material *const m = &s->material[i];
        *m = (abut_scene_material){ .name = "default", .model = ABUT_NEO_HOOKEAN, .density = 1000, .young = 1e5, .poisson = 0.4,
                                    .compression = 1, .stretch = { 0, 0, 1 }, .from = "default" };
        if (!c) break;
        rc = abut_scene_name(c, m->name, err);
        abut_scene_copy_place(c, m->from);
        if (!rc) rc = abut_keys_read(r, &ONE_MATERIAL, c, m, err);
        if (!rc) rc = check_material(c, m, err);
        c = c->next;
    }
    return rc;
}

/* ---- pairs of objects: friction and cohesion ---- */

static int same_two(int32_t a, int32_t b, int32_t c, int32_t d)
{
    return (a == c && b == d) || (a == d && b == c);
}

static const abut_key PAIR_KEYS[] = {
    LATER("between", "[object, object]"), LATER("materials", "[material, material]"),
    { ABUT_NUMBER(abut_scene_pair, "mu", mu, PURE, "[0,)") }, { 0 }
};
static const abut_keys PAIR = { "contact.friction.pairs", NULL, PAIR_KEYS, 0, NULL };

/* After the objects, whose names it uses. */
static abut_status read_pair(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    abut_scene_pair *const p = to;
    const abut_tree *things = abut_tree_find(t, "between"), *materials = abut_tree_find(t, "materials");
    const abut_tree *two = things ? things : materials;
    abut_status rc = abut_keys_read(r, &PAIR, t, p, err);
    if (rc) return rc;
    if (!two || (things && materials) || !abut_tree_find(t, "mu"))
        return abut_tree_fail(t, err, "contact.friction.pairs: expected {between: [object, object], mu: number} or "
                              "{materials: [material, material], mu: number}");
    rc = abut_tree_list(two, two->key, 2, materials ? "[rubber, steel]" : "[ball, floor]", err);
    p->of_materials = materials != NULL;
    abut_scene_copy_place(t, p->from);
    for (int k = 0; k < 2 && !rc; k++) {
        const abut_tree *name = abut_tree_at(two, k);
        int32_t *const row = k ? &p->b : &p->a;
        rc = materials ? abut_scene_find_material(r, name, row, err) : abut_scene_find_object(r, name, 1, row, err);
    }
    for (const abut_scene_pair *q = r->scene->pair; q < p && !rc; q++)
        if (q->of_materials == p->of_materials && same_two(q->a, q->b, p->a, p->b))
            rc = abut_tree_fail(t, err, "contact.friction.pairs: the same two as in %s", q->from);
    return rc;
}

static const abut_key COHESION_KEYS[] = {
    LATER("between", "[object, object]"), { ABUT_NUMBER(abut_scene_cohesion, "force", force, FORCE, "(0,)") },
    { ABUT_NUMBER(abut_scene_cohesion, "range", range, LENGTH, "(0,)") }, { 0 }
};
static const abut_keys COHESION = { "contact.cohesion", "contact.cohesion.", COHESION_KEYS, 3,
                                    "{between: [object, object], force: N, range: m}" };

static abut_status read_cohesion(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    abut_scene_cohesion *const c = to;
    abut_status rc = abut_keys_read(r, &COHESION, t, c, err);
    const abut_tree *two = abut_tree_find(t, "between");
    abut_scene_copy_place(t, c->from);
    if (!rc) rc = abut_tree_list(two, "between", 2, "[ball, floor]", err);
    if (!rc) rc = abut_scene_find_object(r, two->child, 1, &c->a, err);
    if (!rc) rc = abut_scene_find_object(r, two->child->next, 1, &c->b, err);
    for (const abut_scene_cohesion *q = r->scene->cohesion; q < c && !rc; q++)
        if (same_two(q->a, q->b, c->a, c->b)) rc = abut_tree_fail(t, err, "contact.cohesion: the same two as in %s", q->from);
    return rc;
}

/* ---- time ---- */

static const abut_key NEWMARK_KEYS[] = { ABUT_NEWMARK_KEYS(REAL) { 0 } };
static const abut_keys NEWMARK = { "time.newmark", "time.newmark.", NEWMARK_KEYS, 0, NULL };

/* Newmark's parameters must be stable for steps of any length: smaller ones let unresolved oscillations grow. */
static abut_status check_newmark(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    const abut_scene *const s = to;
    const double beta = s->newmark_beta.value, gamma = s->newmark_gamma.value;
    (void)r;
    if (!abut_scheme_is(s->scheme, ABUT_SCHEME_BETA_GAMMA))
        return abut_tree_fail_key(t, err, "time.newmark: expected time.scheme to be %s",
                                  abut_scheme_names[abut_scheme_with(ABUT_SCHEME_BETA_GAMMA)]);
    if (gamma < 0.5)
        return abut_tree_fail_key(t, err, "time.newmark.gamma is %g: expected at least 0.5, below steps are unstable", gamma);
    if (beta >= 0.5 * gamma) return ABUT_OK;
    return abut_tree_fail_key(t, err, "time.newmark.beta is %g: expected at least gamma / 2 = %g, below long steps are unstable",
                              beta, 0.5 * gamma);
}

static const abut_key TIME_KEYS[] = { ABUT_TIME_KEYS(REAL, WORD) { ABUT_CHECKED("newmark", &NEWMARK, check_newmark) }, { 0 } };
static const abut_keys TIME = { "time", "time.", TIME_KEYS, 0, NULL };

/* Equilibria need a smaller tolerance: dynamic steps may leave a residual to the next one. */
static abut_status tighten(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    abut_scene *const s = to;
    (void)r, (void)t, (void)err;
    if (abut_scheme_is(s->scheme, ABUT_SCHEME_INERTIA)) return ABUT_OK;
    s->tolerance = (abut_param){ 1e-6 / s->step.value, 1, "" };
    s->force_tolerance = (abut_param){ 1e-3, 0, "" };
    snprintf(s->tolerance.from, ABUT_SCENE_FROM, "default of %s: 1e-6 l in a time step", abut_scheme_names[s->scheme]);
    snprintf(s->force_tolerance.from, ABUT_SCENE_FROM, "default of %s", abut_scheme_names[s->scheme]);
    return ABUT_OK;
}

static const abut_key DAMPING_KEYS[] = { ABUT_DAMPING_KEYS(REAL) { 0 } };
static const abut_keys DAMPING = { "damping", "damping.", DAMPING_KEYS, 0, NULL };

/* ---- contact ---- */

/* A number of passes, or "converged": 0. */
static abut_status read_lags(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    abut_param *const lags = to;
    int32_t n = 0;
    (void)r;
    abut_scene_copy_place(t, lags->from);
    if (t->kind == ABUT_TREE_TEXT && !strcmp(t->text, "converged")) return lags->value = 0, ABUT_OK;
    const abut_status rc = abut_tree_int(t, "contact.friction.lags (a number, or 'converged')", 1, 1000000, &n, err);
    lags->value = n;
    return rc;
}

static const abut_key FRICTION_KEYS[] = {
    ABUT_FRICTION_KEYS(REAL, WORD)
    { ABUT_READ(abut_scene, "lags", lags, read_lags), .form = "integer, or converged", .fallback = "1" },
    { .name = "pairs", .kind = ABUT_KEY_LATER, .keys = &PAIR, .form = "a list of maps" },
    { 0 }
};
static const abut_keys FRICTION = { "contact.friction", "contact.friction.", FRICTION_KEYS, 0, NULL };

/* Reads the name of a barrier law; "log" is the name in Huang et al. 2024 of the law of Li 2020. */
static abut_status read_law(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    int *const law = to;
    (void)r;
    if (t->kind == ABUT_TREE_TEXT && !strcmp(t->text, "log")) return *law = ABUT_BARRIER_IPC, ABUT_OK;
    return abut_tree_choice(t, "contact.barrier.law", abut_barrier_names, law, err);
}

static const abut_key BARRIER_KEYS[] = {
    { ABUT_READ(abut_scene, "law", barrier_law, read_law), .form = "name of a law", .fallback = "ipc" },
    { ABUT_WORD(abut_scene, "continuity", barrier_law, ABUT_WORDS("c0", "c1", "c2")) }, /* in the order of the published laws */
    ABUT_BARRIER_KEYS(REAL, WORD)
    { 0 }
};
static const abut_keys BARRIER = { "contact.barrier", "contact.barrier.", BARRIER_KEYS, 0, NULL };

static const abut_key CONTACT_KEYS[] = {
    ABUT_CONTACT_KEYS(REAL, WORD)
    { ABUT_MAP("barrier", &BARRIER) },
    { ABUT_MAP("friction", &FRICTION) },
    { .name = "cohesion", .kind = ABUT_KEY_LATER, .keys = &COHESION, .form = "a list of maps" },
    { 0 }
};
static const abut_keys CONTACT = { "contact", "contact.", CONTACT_KEYS, 0, NULL };

static const abut_key CONTACT_OFF = { ABUT_WORD(abut_scene, "contact", contact_off, ABUT_WORDS("on", "off")), .as = "contact" };

/* Returns the key of a scene; NULL: the map is NULL or has none, or the reader of a script assumes its value. */
static const abut_tree *key_of(const abut_tree *map, const char *key)
{
    const abut_tree *t = map ? abut_tree_find(map, key) : NULL;
    return t && t->line > 0 ? t : NULL;
}

/* Refuses keys of the formulation that the scene does not have.  Contact weighed by area is soft where it begins, and what
 * presses on it lightly is left above its balance: the default of the force tolerance is smaller. */
static abut_status check_formulation(abut_scene *s, const abut_tree *contact, abut_err *err)
{
    static const struct formulation_key {
        const char *map, *key;
        int area;
    } rows[] = { { "", "kappa-scale", 0 }, { "", "kappa-range", 0 }, { "barrier.", "kappa", 0 }, { "barrier.", "fixed-kappa", 0 },
                 { "barrier.", "stiffen-below", 0 }, { "", "edge-share", 1 }, { "", "reach", 1 }, { "barrier.", "pressure", 1 } };
    const abut_tree *barrier = abut_tree_find(contact, "barrier");
    if (s->formulation == ABUT_CONTACT_AREA && s->force_tolerance.value > 0.01) {
        s->force_tolerance.value = 0.01;
        snprintf(s->force_tolerance.from, ABUT_SCENE_FROM, "default of contact.formulation area");
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const abut_tree *key = key_of(*rows[i].map ? barrier : contact, rows[i].key);
        if (!key || rows[i].area == (s->formulation == ABUT_CONTACT_AREA)) continue;
        return abut_tree_fail_key(key, err, "contact.%s%s: contact.formulation is %s, expected %s", rows[i].map, rows[i].key,
                                  rows[i].area ? "ipc" : "area, whose stiffness is contact.barrier.pressure",
                                  rows[i].area ? "area" : "ipc");
    }
    return ABUT_OK;
}

/* Refuses two keys of which each excludes the other. */
static abut_status check_contact(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    abut_scene *const s = to;
    const abut_tree *barrier = abut_tree_find(t, "barrier"), *scale = abut_tree_find(t, "kappa-scale");
    const abut_tree *kappa = key_of(barrier, "kappa"), *below = key_of(barrier, "stiffen-below");
    const abut_tree *other = kappa ? kappa : below ? below : scale;
    (void)r;
    if (barrier && abut_tree_find(barrier, "law") && abut_tree_find(barrier, "continuity"))
        return abut_tree_fail_key(abut_tree_find(barrier, "continuity"), err,
                                  "contact.barrier.continuity: contact.barrier.law is there; expected one of them");
    if (!(s->fixed_kappa.value > 0) || !other) return check_formulation(s, t, err);
    return abut_tree_fail_key(other, err, "contact.%s%s: contact.barrier.fixed-kappa is there, which has no bounds; expected one "
                              "of them", other == scale ? "" : "barrier.", other->key);
}

/* ---- other solvers ---- */

#define NODAL(type, member, key, Q, interval, array) { ABUT_NUMBER(struct abut_scene_nodal, key, member, Q, interval) },
#define NODAL_WORD(type, member, key, list, array) { ABUT_WORD(struct abut_scene_nodal, key, member, list) },
#define NODAL_WHOLE(type, member, key, interval, array) { ABUT_WHOLE(struct abut_scene_nodal, key, member, interval) },
#define SQP_REAL(type, member, key, Q, interval, array) { ABUT_NUMBER(struct abut_scene_sqp, key, member, Q, interval) },
#define SQP_WORD(type, member, key, list, array) { ABUT_WORD(struct abut_scene_sqp, key, member, list) },
static const abut_key NODAL_KEYS[] = { ABUT_NODAL_KEYS(NODAL, NODAL_WORD, NODAL_WHOLE) { 0 } };
static const abut_key SQP_KEYS[] = { ABUT_SQP_KEYS(SQP_REAL, SQP_WORD, ) { 0 } };
_Static_assert(ABUT_NODAL_MOST == 100000, "the range of numbers of iterations");
static const abut_keys NODAL_MAP = { "nodal", "nodal.", NODAL_KEYS, 0, NULL }, SQP_MAP = { "sqp", "sqp.", SQP_KEYS, 0, NULL };

/* ---- the top level ---- */

static abut_status read_rotate(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    abut_scene *const s = to;
    s->is_rotated = 1;
    s->rotation[0] = s->rotation[4] = s->rotation[8] = 1;
    return abut_scene_rotation(r, t, s->rotation, err);
}

static abut_status read_version(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    int32_t version;
    (void)r, (void)to;
    return abut_tree_int(t, "abut (the version of the scene language)", 1, 1, &version, err);
}

static abut_status read_source(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    const char *words;
    (void)r, (void)to;
    return abut_tree_word(t, "mesh-source", "make-ball.sh makes ball.msh", &words, err);
}

static abut_status refuse_robots(const abut_scene_reader *r, const abut_tree *t, void *to, abut_err *err)
{
    (void)r, (void)to;
    return abut_tree_fail_key(t, err, "robots: expected a scene in which their objects and joints stand for them");
}

#define HERE(k, f) .name = k, .kind = ABUT_KEY_READ, .read = f
#define LISTED(k, map, words) { .name = k, .kind = ABUT_KEY_LATER, .keys = map, .form = words }
static const abut_key TOP_KEYS[] = {
    { HERE("abut", read_version), .form = "1", .fallback = "1" },
    { ABUT_CHECKED("time", &TIME, tighten) },
    { HERE("mesh-source", read_source), .form = "text" },
    { ABUT_NUMBER(abut_scene, "gravity", gravity, ACCELERATION, NULL), .fallback = "[0, -9.81, 0]" },
    { ABUT_NUMBER(abut_scene, "wind", wind, SPEED, NULL), .fallback = "[0, 0, 0]" },
    { ABUT_MAP("damping", &DAMPING) },
    { ABUT_CHECKED("contact", &CONTACT, check_contact), .instead = &CONTACT_OFF, .form = "map, on or off" },
    ABUT_TOP_KEYS(REAL, WORD)
    { HERE("rotate", read_rotate), .keys = &abut_scene_angle, .form = "map, or a list of maps" },
    { ABUT_MAP("nodal", &NODAL_MAP), .at = offsetof(abut_scene, nodal) },
    { ABUT_MAP("sqp", &SQP_MAP), .at = offsetof(abut_scene, sqp) },
    LISTED("materials", &MATERIALS, NULL),
    LISTED("objects", &abut_scene_object_names, NULL),
    { HERE("robots", refuse_robots), .keys = &abut_scene_robot_names },
    LISTED("selections", &abut_scene_selection_names, NULL),
    LISTED("joints", &abut_scene_joint_names, NULL),
    LISTED("motors", &abut_scene_motor_keys, "a list of maps"),
    LISTED("motion", &abut_scene_motion_keys, "a list of maps"),
    LISTED("attachments", &abut_scene_attachment_keys, "a list of maps"),
    LISTED("seams", &abut_scene_seam_keys, "a list of maps"),
    { 0 }
};
static const abut_keys TOP = { "scene", NULL, TOP_KEYS, 0, NULL };

void abut_scene_keys_write(FILE *f)
{
    const abut_scene s = abut_scene_defaults();
    abut_keys_write(f, "", &TOP, &s);
}

/* Lists that become rows of the scene, in the order of reading: objects are there by then. */
#define ROWS(key, map, what, entry, read, member, count) \
    { key, map, what, entry, read, sizeof *((abut_scene *)NULL)->member, offsetof(abut_scene, member), \
      offsetof(abut_scene, count) }
static const struct list {
    const char *key;
    int map;                /* 0: the root; 1: contact; 2: contact.friction */
    const char *what, *entry;
    abut_key_read *read;
    size_t size, rows, count;
} PAIRS[] = {
    ROWS("pairs", 2, "contact.friction.pairs", "{between: [ball, floor], mu: 0.3}", read_pair, pair, npairs),
    ROWS("cohesion", 1, "contact.cohesion", "{between: [ball, floor], force: 1 N, range: 1 mm}", read_cohesion, cohesion,
         ncohesions),
}, MOTIONS[] = {
    ROWS("motors", 0, "motors", "{joint: elbow, rate: 60 rpm}", abut_scene_read_motor, motor, nmotors),
    ROWS("motion", 0, "motion", "{select: {object: ball}, fix: true}", abut_scene_read_motion, motion, nmotions),
    ROWS("attachments", 0, "attachments", "{from: {object: ball}, to: {object: wall}, stiffness: 10 N/m}",
         abut_scene_read_attachment, attachment, nattachments),
    ROWS("seams", 0, "seams", "{from: {object: front}, to: {object: back}}", abut_scene_read_seam, seam, nseams),
};

static abut_status read_lists(const abut_scene_reader *r, const struct list *l, int n, abut_err *err)
{
    const abut_tree *const contact = abut_tree_find(r->root, "contact");
    const abut_tree *const maps[] = { r->root, contact, contact ? abut_tree_find(contact, "friction") : NULL };
    char *const s = (char *)r->scene;
    abut_status rc = ABUT_OK;
    for (; n-- && !rc; l++) {
        const abut_tree *t = maps[l->map] ? abut_tree_find(maps[l->map], l->key) : NULL;
        if (t) rc = abut_scene_list(r, t, l->what, l->entry, l->read, l->size, s + l->rows, (int32_t *)(s + l->count), err);
    }
    return rc;
}

abut_status abut_scene_read(const abut_tree *root, const char *base, abut_scene *out, abut_err *err)
{
    abut_scene s = abut_scene_defaults();
    const abut_scene_reader r = { root, base, &s };
    abut_status rc = abut_keys_read(&r, &TOP, root, &s, err);
    if (!rc) rc = read_materials(&r, abut_tree_find(root, "materials"), err);
    if (!rc) rc = abut_scene_objects(&r, abut_tree_find(root, "objects"), err);
    if (!rc) rc = abut_scene_joints(&r, err);
    if (!rc) rc = read_lists(&r, PAIRS, sizeof PAIRS / sizeof *PAIRS, err);
    if (!rc) rc = abut_scene_selections(&r, err);
    if (!rc) rc = read_lists(&r, MOTIONS, sizeof MOTIONS / sizeof *MOTIONS, err);
    if (rc) abut_scene_clear(&s);
    else *out = s;
    return rc;
}
