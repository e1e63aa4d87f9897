/* A scene from its tree: the maps of the top level, with materials, contact and the parameters of solvers. */
#include "formats/scene/scene_read.h"

#include "base/words.h"
#include "formats/scene/scene_parts.h"
#include "geom/quadrature.h"
#include "model/check.h"
#include "model/laws.h"
#include "model/schemes.h"
#include "solve/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- contact as linearised inequalities: the map `sqp` ---- */

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

static abut_status read_sqp(const abut_scene_reader *r, const abut_tree *t, abut_err *err)
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

/* ---- hard contact: the map `nodal`, and cohesion ---- */

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

static abut_status read_nodal(const abut_scene_reader *r, const abut_tree *t, abut_err *err)
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

/* Reads the list `contact.cohesion`, after the objects (NULL: none). */
static abut_status read_cohesions(const abut_scene_reader *r, const abut_tree *list, abut_err *err)
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

/* ---- materials of tets beside moduli: splines, fibres, squared distances, a degree of quadrature ---- */

/* {stretch: [..], a: [..], b: [..], c: [..]}: knots, and the slopes there, Pa */
static abut_status read_spline(const abut_tree *t, abut_scene_material *m, abut_err *err)
{
    static const char *const keys[] = { "stretch", "a", "b", "c", NULL };
    abut_status rc = abut_scene_need(t, keys, err);
    if (rc) return rc;
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
            rc =
                abut_tree_fail(knots, err, "spline.stretch: %g after %g: expected ascending numbers", m->knot[k], m->knot[k - 1]);
    for (int q = 0; q < 3 && !rc; q++) {
        rc = abut_tree_vector(abut_tree_find(t, keys[1 + q]), keys[1 + q], ABUT_Q_PRESSURE, n, value, err);
        for (int k = 0; k < n && !rc; k++) m->slope[3 * k + q] = value[k];
    }
    free(value);
    return rc;
}

static abut_status read_fibre(const abut_tree *t, abut_scene_material *m, abut_err *err)
{
    static const char *const keys[] = { "direction", "stiffness", NULL };
    double *d = m->fibre_direction;
    abut_status rc = abut_scene_need(t, keys, err);
    if (!rc) rc = abut_tree_vector(abut_tree_find(t, "direction"), "fibre.direction", ABUT_Q_PURE, 3, d, err);
    if (!rc) rc = abut_tree_positive(abut_tree_find(t, "stiffness"), "fibre.stiffness", ABUT_Q_PRESSURE, &m->fibre, NULL, err);
    const double n = rc ? 1 : abut_tree_norm(d, 3);
    if (!(n > 0)) return abut_tree_fail(t, err, "fibre.direction: expected a vector that is not zero");
    for (int k = 0; k < 3; k++) d[k] /= n;
    return rc;
}

static abut_status read_stretch(const abut_tree *t, abut_scene_material *m, abut_err *err)
{
    static const char *const keys[] = { "range", "stiffness", NULL };
    abut_status rc = abut_scene_need(t, keys, err);
    if (!rc) rc = abut_tree_vector(abut_tree_find(t, "range"), "stretch.range", ABUT_Q_PURE, 2, m->stretch + 1, err);
    if (!rc && !(m->stretch[1] >= 0 && m->stretch[1] <= 1 && m->stretch[2] >= 1))
        rc = abut_tree_fail(abut_tree_find(t, "range"), err, "stretch.range: %g, %g: expected 0 <= low <= 1 <= high",
                            m->stretch[1], m->stretch[2]);
    return rc ? rc
              : abut_tree_positive(abut_tree_find(t, "stiffness"), "stretch.stiffness", ABUT_Q_PRESSURE, &m->stretch[0], NULL,
                                   err);
}

static abut_status read_terms(const abut_tree *t, abut_scene_material *m, abut_err *err)
{
    const abut_tree *spline = abut_tree_find(t, "spline"), *fibre = abut_tree_find(t, "fibre");
    const abut_tree *volume = abut_tree_find(t, "volume"), *stretch = abut_tree_find(t, "stretch");
    const abut_tree *degree = abut_tree_find(t, "quadrature");
    m->stretch[2] = 1;
    if (!spline != (m->model != ABUT_SPLINE))
        return abut_tree_fail_key(spline ? spline : t, err,
                                  spline ? "spline: of a material whose model is %s"
                                         : "model %s needs spline: {stretch: [..], a: [..], b: [..], c: [..]}",
                                  abut_material_names[m->model]);
    abut_status rc = spline ? read_spline(spline, m, err) : ABUT_OK;
    if (!rc && fibre) rc = read_fibre(fibre, m, err);
    if (!rc && volume) rc = abut_tree_positive(volume, "volume", ABUT_Q_PRESSURE, &m->volume, NULL, err);
    if (!rc && degree) rc = abut_tree_int(degree, "quadrature", 1, ABUT_QUADRATURE_MAX, &m->quadrature, err);
    return rc || !stretch ? rc : read_stretch(stretch, m, err);
}

/* ---- names, time and contact ---- */

void abut_scene_from(const abut_tree *t, char from[ABUT_SCENE_FROM])
{
    abut_tree_place(t, from, ABUT_SCENE_FROM);
}

abut_status abut_scene_name(const abut_tree *t, char name[ABUT_SCENE_NAME], abut_err *err)
{
    const size_t n = strlen(t->key);
    if (n == 0 || n >= ABUT_SCENE_NAME)
        return abut_tree_fail_key(t, err, "a name of %zu letter%s: expected 1 to %d", n, abut_s(n), ABUT_SCENE_NAME - 1);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)t->key[i] < ' ') return abut_tree_fail_key(t, err, "a name with a control character");
    memcpy(name, t->key, n + 1);
    return ABUT_OK;
}

abut_status abut_scene_find(const abut_scene_reader *r, const abut_tree *t, int planes, int32_t *row, abut_err *err)
{
    const abut_scene *s = r->scene;
    const char *word = NULL;
    const abut_status rc = abut_tree_word(t, t->key ? t->key : "the name of an object",
                                          s->nobjects ? s->object[0].name : "ball", &word, err);
    if (rc) return rc;
    const int32_t n = s->nobjects + (planes ? s->nplanes : 0);
    const char **names = calloc((size_t)n + 1, sizeof *names);
    if (!names) return abut_fail(err, ABUT_E_NOMEM, "no memory for %d names", n);
    *row = -1;
    for (int32_t i = 0; i < n; i++) {
        names[i] = i < s->nobjects ? s->object[i].name : s->plane[i - s->nobjects].name;
        if (!strcmp(names[i], word)) *row = i;
    }
    const char *near = *row < 0 ? abut_name_nearest(word, names) : NULL;
    char there[240];
    abut_names_join(names, there, sizeof there);
    free(names);
    if (*row >= 0) return ABUT_OK;
    for (int32_t i = 0; i < s->nplanes; i++)
        if (!strcmp(s->plane[i].name, word))
            return abut_tree_fail(t, err, "'%s' is a half-space, which has no nodes and never moves: expected a body or an "
                                  "obstacle with a mesh", word);
    if (near) return abut_tree_fail(t, err, "no object is called '%s'; did you mean '%s'?", word, near);
    return abut_tree_fail(t, err, "no object is called '%s': expected one of %s", word, there);
}

/* Reads a positive parameter; an absent one keeps its default. */
static abut_status parameter(const abut_tree *map, const char *key, const char *what, abut_quantity q, int per_length,
                             abut_param *p, abut_err *err)
{
    const abut_tree *t = abut_tree_find(map, key);
    if (!t) return ABUT_OK;
    int l = 0;
    const abut_status rc = abut_tree_positive(t, what, q, &p->value, per_length ? &l : NULL, err);
    p->per_length = l;
    abut_scene_from(t, p->from);
    return rc;
}

/* Reads Newmark's parameters, which must be stable for steps of any length: smaller ones let unresolved oscillations grow. */
static abut_status read_newmark(abut_scene_reader *r, const abut_tree *t, abut_err *err)
{
    static const char *const keys[] = { "beta", "gamma", NULL };
    abut_param *beta = &r->scene->newmark_beta, *gamma = &r->scene->newmark_gamma;
    if (!abut_scheme_is(r->scene->scheme, ABUT_SCHEME_BETA_GAMMA))
        return abut_tree_fail_key(t, err, "time.newmark: expected time.scheme to be %s",
                                  abut_scheme_names[abut_scheme_with(ABUT_SCHEME_BETA_GAMMA)]);
    abut_status rc = abut_tree_keys(t, "time.newmark", keys, err);
    if (!rc) rc = parameter(t, "beta", "time.newmark.beta", ABUT_Q_PURE, 0, beta, err);
    if (!rc) rc = parameter(t, "gamma", "time.newmark.gamma", ABUT_Q_PURE, 0, gamma, err);
    if (!rc && gamma->value < 0.5)
        rc = abut_tree_fail_key(t, err, "time.newmark.gamma is %g: expected at least 0.5, below steps are unstable",
                                gamma->value);
    if (!rc && beta->value < 0.5 * gamma->value)
        rc = abut_tree_fail_key(t, err, "time.newmark.beta is %g: expected at least gamma / 2 = %g, below long steps are "
                                "unstable", beta->value, 0.5 * gamma->value);
    return rc;
}

static abut_status read_time(abut_scene_reader *r, const abut_tree *t, abut_err *err)
{
    static const char *const keys[] = { "step", "end", "scheme", "newmark", NULL };
    abut_status rc = abut_tree_keys(t, "time", keys, err);
    if (!rc) rc = parameter(t, "step", "time.step", ABUT_Q_TIME, 0, &r->scene->step, err);
    if (!rc) rc = parameter(t, "end", "time.end", ABUT_Q_TIME, 0, &r->scene->end, err);
    const abut_tree *s = abut_tree_find(t, "scheme");
    if (!rc && s) rc = abut_tree_choice(s, "time.scheme", abut_scheme_names, &r->scene->scheme, err);
    const abut_tree *newmark = abut_tree_find(t, "newmark");
    if (!rc && newmark) rc = read_newmark(r, newmark, err);
    /* equilibria need a smaller tolerance: dynamic steps may leave a residual to the next one */
    if (!rc && !abut_scheme_is(r->scene->scheme, ABUT_SCHEME_INERTIA)) {
        abut_param *motion = &r->scene->tolerance, *force = &r->scene->force_tolerance;
        const char *name = abut_scheme_names[r->scene->scheme];
        *motion = (abut_param){ 1e-6 / r->scene->step.value, 1, "" };
        *force = (abut_param){ 1e-3, 0, "" };
        snprintf(motion->from, sizeof motion->from, "default of %s: 1e-6 l in a time step", name);
        snprintf(force->from, sizeof force->from, "default of %s", name);
    }
    return rc;
}

/* A friction coefficient: >= 0. */
static abut_status coefficient(const abut_tree *t, const char *what, double *mu, abut_err *err)
{
    const abut_status rc = abut_tree_real(t, what, ABUT_Q_PURE, mu, NULL, err);
    if (rc || *mu >= 0) return rc;
    return abut_tree_fail(t, err, "%s is %g: expected 0 or more", what, *mu);
}

/* Rayleigh damping: coefficients of mass and of stiffness, 0 or more. */
static abut_status read_damping(abut_scene_reader *r, const abut_tree *t, abut_err *err)
{
    static const char *const keys[] = { "mass", "stiffness", NULL };
    abut_param *const p[2] = { &r->scene->damp_mass, &r->scene->damp_stiffness };
    abut_status rc = abut_tree_keys(t, "damping", keys, err);
    for (int i = 0; i < 2 && !rc; i++) {
        const abut_tree *c = abut_tree_find(t, keys[i]);
        if (!c) continue;
        rc = abut_tree_real(c, i ? "damping.stiffness" : "damping.mass", i ? ABUT_Q_TIME : ABUT_Q_PER_TIME, &p[i]->value, NULL,
                            err);
        abut_scene_from(c, p[i]->from);
        if (!rc && !(p[i]->value >= 0)) rc = abut_tree_fail(c, err, "damping.%s is %g: expected 0 or more", keys[i], p[i]->value);
    }
    return rc;
}

static abut_status read_pair(abut_scene_reader *r, const abut_tree *t, abut_scene_pair *p, abut_err *err)
{
    static const char *const keys[] = { "between", "materials", "mu", NULL };
    abut_status rc = abut_tree_keys(t, "contact.friction.pairs", keys, err);
    if (rc) return rc;
    const abut_tree *things = abut_tree_find(t, "between"), *materials = abut_tree_find(t, "materials"),
                    *mu = abut_tree_find(t, "mu"), *two = things ? things : materials;
    if (!two || (things && materials) || !mu)
        return abut_tree_fail(t, err, "contact.friction.pairs: expected {between: [object, object], mu: number} or "
                              "{materials: [material, material], mu: number}");
    rc = abut_tree_list(two, two->key, 2, materials ? "[rubber, steel]" : "[ball, floor]", err);
    if (rc) return rc;
    p->of_materials = materials != NULL;
    abut_scene_from(t, p->from);
    int32_t *row[2] = { &p->a, &p->b };
    const abut_tree *name = two->child;
    for (int k = 0; k < 2 && !rc; k++, name = name->next)
        rc = materials ? abut_read_scene_material(r, name, row[k], err) : abut_scene_find(r, name, 1, row[k], err);
    return rc ? rc : coefficient(mu, "mu", &p->mu, err);
}

static int same_pair(const abut_scene_pair *p, const abut_scene_pair *q)
{
    return p->of_materials == q->of_materials && ((p->a == q->a && p->b == q->b) || (p->a == q->b && p->b == q->a));
}

/* Reads pairs with their friction; after the objects, whose names it uses. */
static abut_status read_pairs(abut_scene_reader *r, const abut_tree *pairs, abut_err *err)
{
    abut_status rc = ABUT_OK;
    int32_t i = 0;
    for (const abut_tree *c = pairs ? pairs->child : NULL; c && !rc; c = c->next, i++) {
        abut_scene_pair *const pair = r->scene->pair;
        rc = read_pair(r, c, &pair[i], err);
        for (int32_t k = 0; k < i && !rc; k++)
            if (same_pair(&pair[k], &pair[i]))
                rc = abut_tree_fail(c, err, "contact.friction.pairs: the same two as in %s", pair[k].from);
    }
    return rc;
}

/* A number of passes, or "converged": 0. */
static abut_status read_lags(const abut_tree *t, abut_param *lags, abut_err *err)
{
    int32_t n = 0;
    abut_scene_from(t, lags->from);
    if (t->kind == ABUT_TREE_TEXT && !strcmp(t->text, "converged")) return lags->value = 0, ABUT_OK;
    const abut_status rc = abut_tree_int(t, "contact.friction.lags (a number, or 'converged')", 1, 1000000, &n, err);
    lags->value = n;
    return rc;
}

static abut_status read_friction(abut_scene_reader *r, const abut_tree *t, abut_err *err)
{
    static const char *const keys[] = { "mu", "eps_v", "smoothing", "lags", "pairs", NULL };
    abut_scene *s = r->scene;
    abut_status rc = abut_tree_keys(t, "contact.friction", keys, err);
    if (!rc) rc = parameter(t, "eps_v", "contact.friction.eps_v", ABUT_Q_SPEED_OR_L, 1, &s->eps_v, err);
    if (rc) return rc;
    const abut_tree *mu = abut_tree_find(t, "mu"), *lags = abut_tree_find(t, "lags"), *pairs = abut_tree_find(t, "pairs");
    const abut_tree *law = abut_tree_find(t, "smoothing");
    if (mu) {
        rc = coefficient(mu, "contact.friction.mu", &s->mu.value, err);
        abut_scene_from(mu, s->mu.from);
    }
    if (!rc && law) rc = abut_tree_choice(law, "contact.friction.smoothing", abut_friction_names, &s->friction_law, err);
    if (!rc && lags) rc = read_lags(lags, &s->lags, err);
    if (!rc && pairs) rc = abut_tree_list(pairs, "contact.friction.pairs", 0, "{between: [ball, floor], mu: 0.3}", err);
    return rc;
}

/* Reads the name of a barrier law; "log" is the name in Huang et al. 2024 of the law of Li 2020. */
static abut_status read_barrier_law(const abut_tree *t, int *law, abut_err *err)
{
    if (t->kind == ABUT_TREE_TEXT && !strcmp(t->text, "log")) return *law = ABUT_BARRIER_IPC, ABUT_OK;
    return abut_tree_choice(t, "contact.barrier.law", abut_barrier_names, law, err);
}

static abut_status read_filter(const abut_tree *t, abut_param *filter, abut_err *err)
{
    abut_status rc = abut_tree_real(t, "contact.barrier.filter", ABUT_Q_PURE, &filter->value, NULL, err);
    abut_scene_from(t, filter->from);
    if (!rc && !(filter->value >= 0 && filter->value < 1))
        rc = abut_tree_fail(t, err, "contact.barrier.filter is %.6g: expected a fraction of dhat, 0 or more and less than 1",
                            filter->value);
    return rc;
}

static abut_status read_barrier(abut_scene_reader *r, const abut_tree *t, abut_err *err)
{
    static const char *const keys[] = { "law", "continuity", "filter", "kappa", "fixed-kappa", "mollifier", "stiffen-below",
                                        NULL };
    static const char *const words[] = { "on", "off", NULL };
    static const char *const kappas[] = { "own", "ipc", NULL };
    static const char *const smooth[] = { "c0", "c1", "c2", NULL };     /* in the order of the published laws */
    abut_status rc = abut_tree_keys(t, "contact.barrier", keys, err);
    if (!rc)
        rc = parameter(t, "stiffen-below", "contact.barrier.stiffen-below", ABUT_Q_LENGTH_OR_L, 1, &r->scene->stiffen_below, err);
    const abut_tree *law = abut_tree_find(t, "law"), *c = abut_tree_find(t, "continuity");
    const abut_tree *filter = abut_tree_find(t, "filter"), *kappa = abut_tree_find(t, "kappa");
    const abut_tree *mollifier = abut_tree_find(t, "mollifier");
    if (!rc && law && c)
        rc = abut_tree_fail_key(c, err, "contact.barrier.continuity: contact.barrier.law is there; expected one of them");
    if (!rc && law) rc = read_barrier_law(law, &r->scene->barrier_law, err);
    if (!rc && c) rc = abut_tree_choice(c, "contact.barrier.continuity", smooth, &r->scene->barrier_law, err);
    if (!rc && filter) rc = read_filter(filter, &r->scene->barrier_filter, err);
    if (!rc && kappa) rc = abut_tree_choice(kappa, "contact.barrier.kappa", kappas, &r->scene->barrier_kappa, err);
    if (!rc) rc = parameter(t, "fixed-kappa", "contact.barrier.fixed-kappa", ABUT_Q_PURE, 0, &r->scene->fixed_kappa, err);
    const abut_tree *fixed = abut_tree_find(t, "fixed-kappa"), *below = abut_tree_find(t, "stiffen-below");
    if (!rc && fixed && (kappa || below))
        rc = abut_tree_fail_key(kappa ? kappa : below, err, "%s: contact.barrier.fixed-kappa is there, which has no bounds; "
                                "expected one of them", kappa ? "contact.barrier.kappa" : "contact.barrier.stiffen-below");
    if (!rc && mollifier) rc = abut_tree_choice(mollifier, "contact.barrier.mollifier", words, &r->scene->mollifier_off, err);
    return rc;
}

/* A map, or a word. */
static abut_status read_contact(abut_scene_reader *r, const abut_tree *t, abut_err *err)
{
    static const char *const words[] = { "on", "off", NULL };
    if (t->kind == ABUT_TREE_TEXT) return abut_tree_choice(t, "contact", words, &r->scene->contact_off, err);
    static const char *const keys[] = { "dhat", "kappa-scale", "kappa-range", "barrier", "friction", "bodies", "cohesion",
                                        "start", NULL };
    static const char *const starts[] = { "apart", "pressed", NULL };
    const abut_tree *bodies = abut_tree_find(t, "bodies"), *start = abut_tree_find(t, "start");
    abut_status rc = abut_tree_keys(t, "contact", keys, err);
    if (!rc && bodies) rc = abut_tree_choice(bodies, "contact.bodies", words, &r->scene->bodies_off, err);
    if (!rc && start) rc = abut_tree_choice(start, "contact.start", starts, &r->scene->start_pressed, err);
    if (!rc) rc = parameter(t, "dhat", "contact.dhat", ABUT_Q_LENGTH_OR_L, 1, &r->scene->dhat, err);
    if (!rc) rc = parameter(t, "kappa-scale", "contact.kappa-scale", ABUT_Q_PURE, 0, &r->scene->kappa_scale, err);
    if (!rc) rc = parameter(t, "kappa-range", "contact.kappa-range", ABUT_Q_PURE, 0, &r->scene->kappa_range, err);
    const double range = r->scene->kappa_range.value;
    if (!rc && !(range >= 1)) rc = abut_tree_fail(abut_tree_find(t, "kappa-range"), err,
                                                  "contact.kappa-range is %g: expected at least 1", range);
    const abut_tree *barrier = rc ? NULL : abut_tree_find(t, "barrier");
    if (barrier) rc = read_barrier(r, barrier, err);
    const abut_tree *scale = abut_tree_find(t, "kappa-scale");
    if (!rc && scale && r->scene->fixed_kappa.value > 0)
        rc = abut_tree_fail_key(scale, err, "contact.kappa-scale: contact.barrier.fixed-kappa is there, which has no bounds; "
                                "expected one of them");
    const abut_tree *f = abut_tree_find(t, "friction");
    return rc || !f ? rc : read_friction(r, f, err);
}

static abut_status read_material(const abut_tree *t, abut_scene_material *m, abut_err *err)
{
    static const char *const keys[] = { "model", "density", "young", "poisson", "bending-young", "membrane", "fabric",
                                        "strain-limit", "spline", "fibre", "volume", "stretch", "quadrature", NULL };
    abut_status rc = abut_tree_keys(t, "material", keys, err);
    if (!rc) rc = abut_scene_name(t, m->name, err);
    if (rc) return rc;
    const abut_tree *model = abut_tree_find(t, "model"), *density = abut_tree_find(t, "density"),
                    *young = abut_tree_find(t, "young"), *poisson = abut_tree_find(t, "poisson");
    abut_scene_from(t, m->from);
    if (model) rc = abut_tree_choice(model, "material model", abut_material_names, &m->model, err);
    if (!rc && density) rc = abut_tree_positive(density, "density", ABUT_Q_DENSITY, &m->density, NULL, err);
    if (!rc && young) rc = abut_tree_positive(young, "young", ABUT_Q_PRESSURE, &m->young, NULL, err);
    if (!rc && poisson) rc = abut_tree_real(poisson, "poisson", ABUT_Q_PURE, &m->poisson, NULL, err);
    if (!rc && !(m->poisson > -1 && m->poisson < 0.5))
        rc = abut_tree_fail(poisson, err, "poisson is %g: expected more than -1 and less than 0.5", m->poisson);
    if (!rc && !abut_material_bounded(m->model, m->poisson))
        rc = abut_tree_fail(poisson, err, "poisson is %g: expected " ABUT_MATERIAL_UNBOUNDED, m->poisson,
                            abut_material_least_poisson(m->model));
    if (!rc) rc = read_terms(t, m, err);
    return rc ? rc : abut_scene_fabric(t, m, err);
}

static abut_scene_material default_material(void)
{
    return (abut_scene_material){ .name = "default", .model = ABUT_NEO_HOOKEAN, .density = 1000, .young = 1e5, .poisson = 0.4,
                                  .stretch = { 0, 0, 1 },
                                  .from = "default" };
}

static abut_status read_materials(abut_scene_reader *r, const abut_tree *t, abut_err *err)
{
    abut_scene *s = r->scene;
    abut_status rc = ABUT_OK;
    int32_t i = 0;
    for (i = 0; i < s->nmaterials; i++) s->material[i] = default_material();
    i = 0;
    for (const abut_tree *c = t ? t->child : NULL; c && !rc; c = c->next, i++) rc = read_material(c, &s->material[i], err);
    return rc;
}

static int children_of(const abut_tree *t)
{
    return t ? t->n : 0;
}

enum { OBJECTS_MOST = 1000000 };

/* Counts everything, so that each table is made once. */
static abut_status reserve(abut_scene_reader *r, abut_err *err)
{
    const abut_tree *objects = abut_tree_find(r->root, "objects"), *materials = abut_tree_find(r->root, "materials");
    const abut_tree *motion = abut_tree_find(r->root, "motion"), *contact = abut_tree_find(r->root, "contact");
    const abut_tree *friction = contact ? abut_tree_find(contact, "friction") : NULL;
    const abut_tree *pairs = friction ? abut_tree_find(friction, "pairs") : NULL;
    int planes = 0, nobjects = 0;
    if (!objects) return abut_tree_fail(r->root, err, "expected 'objects: {name: {...}, ...}'");
    if (objects->kind != ABUT_TREE_MAP)
        return abut_tree_fail_kind(objects, "objects", err, "a map of names, {ball: {mesh: ball.msh}, ...}");
    if (materials && materials->kind != ABUT_TREE_MAP)
        return abut_tree_fail_kind(materials, "materials", err, "a map of names, {rubber: {young: 1 MPa}, ...}");
    abut_status rc = motion ? abut_tree_list(motion, "motion", 0, "{select: {object: ball}, fix: true}", err) : ABUT_OK;
    if (rc) return rc;
    for (const abut_tree *c = objects->child; c; c = c->next) {
        const int is_plane = abut_tree_find(c, "half-space") != NULL;
        int32_t copies = 0;
        rc = is_plane || c->kind != ABUT_TREE_MAP ? ABUT_OK : abut_scene_copies(c, &copies, err);
        if (rc) return rc;
        planes += is_plane;
        nobjects += is_plane ? 0 : copies ? copies : 1;
        if (nobjects > OBJECTS_MOST)
            return abut_tree_fail_key(c, err, "objects: %d up to '%s': expected at most %d", nobjects, c->key, OBJECTS_MOST);
    }
    const int nmaterials = children_of(materials) ? children_of(materials) : 1;
    return abut_scene_reserve(r->scene, nmaterials, nobjects, planes, children_of(motion), children_of(pairs),
                              err);
}

/* Turned before fit, raised after it. */
static abut_status read_place(abut_scene_reader *r, abut_err *err)
{
    static const double I[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    const abut_tree *rotate = abut_tree_find(r->root, "rotate"), *lift = abut_tree_find(r->root, "lift");
    abut_scene *s = r->scene;
    abut_status rc = ABUT_OK;
    if (rotate) {
        memcpy(s->rotation, I, sizeof I);
        s->is_rotated = 1;
        rc = abut_scene_rotation(rotate, s->rotation, err);
    }
    if (rc || !lift) return rc;
    abut_scene_from(lift, s->lift.from);
    return abut_tree_real(lift, "lift", ABUT_Q_LENGTH_OR_L, &s->lift.value, &s->lift.per_length, err);
}

static abut_status read_top(abut_scene_reader *r, abut_err *err)
{
    static const char *const keys[] = { "abut", "time", "gravity", "damping", "contact", "tolerance", "force-tolerance", "rotate",
                                        "fit", "lift", "length", "materials", "objects", "selections", "motion",
                                        "attachments", "seams", "wind", "solver", "nodal", "sqp",
                                        "mesh-source", NULL };
    static const char *const solvers[] = { "newton", "nodal", "sqp", "qp", NULL };
    abut_scene *s = r->scene;
    int32_t version;
    abut_status rc = abut_tree_keys(r->root, "scene", keys, err);
    if (rc) return rc;
    const abut_tree *abut = abut_tree_find(r->root, "abut"), *time = abut_tree_find(r->root, "time");
    const abut_tree *gravity = abut_tree_find(r->root, "gravity"), *contact = abut_tree_find(r->root, "contact");
    const abut_tree *fit = abut_tree_find(r->root, "fit"), *tolerance = abut_tree_find(r->root, "tolerance");
    const abut_tree *damping = abut_tree_find(r->root, "damping"), *wind = abut_tree_find(r->root, "wind");
    const abut_tree *source = abut_tree_find(r->root, "mesh-source");
    const abut_tree *length = abut_tree_find(r->root, "length");
    static const char *const lengths[] = { "bodies", "bounding-box", NULL };
    const char *words;
    if (length) rc = abut_tree_choice(length, "length", lengths, &s->length_of_box, err);
    if (!rc && source) rc = abut_tree_word(source, "mesh-source", "make-ball.sh makes ball.msh", &words, err);
    if (!rc && abut) rc = abut_tree_int(abut, "abut (the version of the scene language)", 1, 1, &version, err);
    if (!rc && time) rc = read_time(r, time, err);
    if (!rc && gravity) rc = abut_tree_vector(gravity, "gravity", ABUT_Q_ACCELERATION, 3, s->gravity, err);
    if (!rc && wind) rc = abut_tree_vector(wind, "wind", ABUT_Q_SPEED, 3, s->wind, err);
    if (!rc && damping) rc = read_damping(r, damping, err);
    if (!rc && contact) rc = read_contact(r, contact, err);
    if (!rc && tolerance)
        rc = parameter(r->root, "tolerance", "tolerance", ABUT_Q_SPEED_OR_L, 1, &s->tolerance, err);
    if (!rc) rc = parameter(r->root, "force-tolerance", "force-tolerance", ABUT_Q_PURE, 0, &s->force_tolerance, err);
    const abut_tree *solver = abut_tree_find(r->root, "solver"), *nodal = abut_tree_find(r->root, "nodal");
    const abut_tree *sqp = abut_tree_find(r->root, "sqp");
    if (!rc && solver) rc = abut_tree_choice(solver, "solver", solvers, &s->solver, err);
    if (!rc && nodal) rc = read_nodal(r, nodal, err);
    if (!rc && sqp) rc = read_sqp(r, sqp, err);
    if (!rc && fit) rc = abut_tree_positive(fit, "fit", ABUT_Q_LENGTH, &s->fit, NULL, err);
    return rc ? rc : read_place(r, err);
}

abut_status abut_scene_read(const abut_tree *root, const char *base, abut_scene *out, abut_err *err)
{
    abut_scene s = abut_scene_defaults();
    abut_scene_reader r = { root, base, &s };
    const abut_tree *contact = abut_tree_find(root, "contact");
    abut_status rc = read_top(&r, err);
    if (!rc) rc = reserve(&r, err);
    if (!rc) rc = read_materials(&r, abut_tree_find(root, "materials"), err);
    if (!rc) rc = abut_scene_objects(&r, abut_tree_find(root, "objects"), err);
    const abut_tree *friction = !rc && contact ? abut_tree_find(contact, "friction") : NULL;
    if (friction) rc = read_pairs(&r, abut_tree_find(friction, "pairs"), err);
    if (!rc && contact) rc = read_cohesions(&r, abut_tree_find(contact, "cohesion"), err);
    if (!rc) rc = abut_scene_selections(&r, err);
    if (!rc) rc = abut_scene_motions(&r, abut_tree_find(root, "motion"), err);
    if (!rc) rc = abut_scene_attachments(&r, abut_tree_find(root, "attachments"), err);
    if (!rc) rc = abut_scene_seams(&r, abut_tree_find(root, "seams"), err);
    if (rc) abut_scene_clear(&s);
    else *out = s;
    return rc;
}
