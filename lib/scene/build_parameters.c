#include "scene/build_parts.h"

#include "energy/barrier_pair.h"
#include "model/schemes.h"

#include <assert.h>
#include <math.h>

static double in_metres(const abut_param *p, double l)
{
    return p->per_length ? p->value * l : p->value;
}

/* ---- lengths and masses ---- */

/* Diagonal of the bounding box of the simulated nodes, or of all. */
static double diagonal(const abut_build *b, int all)
{
    double lo[3] = { INFINITY, INFINITY, INFINITY }, hi[3] = { -INFINITY, -INFINITY, -INFINITY }, d2 = 0;
    for (int32_t i = 0; i < b->out->nodes; i++)
        for (int k = 0; k < 3 && (all || b->role[i] != ABUT_NODE_OBSTACLE); k++) {
            lo[k] = fmin(lo[k], b->X[3 * (size_t)i + k]);
            hi[k] = fmax(hi[k], b->X[3 * (size_t)i + k]);
        }
    for (int k = 0; k < 3; k++) d2 += (hi[k] - lo[k]) * (hi[k] - lo[k]);
    return sqrt(d2);
}

/* The node of [lo, hi) that is farthest from c, and how far, m.  Without `all` obstacles do not count. */
static int32_t farthest(const abut_build *b, int32_t lo, int32_t hi, int all, abut_vec3 c, double *far)
{
    int32_t at = lo;
    *far = 0;
    for (int32_t i = lo; i < hi; i++) {
        if (!all && b->role[i] == ABUT_NODE_OBSTACLE) continue;
        const double d = abut_v3_norm(abut_v3_sub(abut_v3_get(b->X + 3 * (size_t)i), c));
        if (d > *far) *far = d, at = i;
    }
    return at;
}

/* Searches for the largest distance of two nodes of [lo, hi), m, from the node that is farthest from their mean; a rotation does
 * not change it, and a box has its diagonal. */
static double extent(const abut_build *b, int32_t lo, int32_t hi, int all)
{
    abut_vec3 mean = { 0, 0, 0 };
    double n = 0, far, most = 0;
    for (int32_t i = lo; i < hi; i++)
        if (all || b->role[i] != ABUT_NODE_OBSTACLE) mean = abut_v3_add(mean, abut_v3_get(b->X + 3 * (size_t)i)), n++;
    int32_t at = farthest(b, lo, hi, all, abut_v3_scale(1 / n, mean), &far);
    for (int grows = 1; grows;) {
        at = farthest(b, lo, hi, all, abut_v3_get(b->X + 3 * (size_t)at), &far);
        grows = far > most * (1 + 1e-12);
        most = fmax(most, far);
    }
    return most;
}

static double mean_mass(const abut_build *b, int32_t lo, int32_t hi)
{
    double mass = 0, n = 0;
    for (int32_t i = lo; i < hi; i++)
        if (b->role[i] != ABUT_NODE_OBSTACLE) n++, mass += b->mass[i];
    return mass / n;
}

/* The lengths and mean masses of bodies, and the least of each.  A body of one node has the least length, if there is one. */
static void measure_bodies(abut_build *b)
{
    abut_built *o = b->out;
    o->length = o->mean_mass = INFINITY;
    o->smallest = -1;
    for (int32_t i = 0; i < b->scene->nobjects; i++) {
        const abut_part *p = &b->part[i];
        abut_object_facts *f = &o->object[i];
        if (p->object->obstacle) continue;
        f->extent = extent(b, p->first, p->first + p->nodes, 0);
        f->node_mass = mean_mass(b, p->first, p->first + p->nodes);
        if (f->extent > 0 && f->extent < o->length) o->length = f->extent, o->smallest = i;
        o->mean_mass = fmin(o->mean_mass, f->node_mass);
        o->heavy_mass = fmax(o->heavy_mass, f->node_mass);
    }
    if (o->smallest < 0) o->length = extent(b, 0, o->nodes, 0);
    if (!(o->length > 0)) o->length = extent(b, 0, o->nodes, 1);
    o->longest = o->length;
    for (int32_t i = 0; i < b->scene->nobjects; i++) {
        abut_object_facts *f = &o->object[i];
        if (!b->part[i].object->obstacle && !(f->extent > 0)) f->extent = o->length;
        o->longest = fmax(o->longest, f->extent);
    }
}

abut_status abut_build_measure(abut_build *b, abut_err *err)
{
    abut_built *o = b->out;
    if (b->scene->length_of_box) {
        o->length = diagonal(b, 0);
        if (!(o->length > 0)) o->length = diagonal(b, 1);
        o->longest = o->length;
        o->mean_mass = o->heavy_mass = mean_mass(b, 0, o->nodes);
    } else measure_bodies(b);
    if (!(o->length > 0)) return abut_fail(err, ABUT_E_GEOM, "all nodes stand at one point: expected a scene with a size");
    for (int32_t i = 0; i < o->nodes; i++)
        if (b->role[i] == ABUT_NODE_OBSTACLE) b->mass[i] = o->mean_mass;
    o->dhat = in_metres(&b->scene->dhat, o->length);
    for (int32_t i = 0; i < b->scene->nobjects; i++) {
        abut_object_facts *f = &o->object[i];
        f->dhat = f->extent > 0 ? in_metres(&b->scene->dhat, f->extent) : o->dhat;
    }
    return ABUT_OK;
}

/* ---- time, contact and tolerances ---- */

/* Puts the length, nodal mass and part of dhat of each body, for contact; 0 for obstacles. */
static abut_status put_bodies(abut_build *b, abut_err *err)
{
    const int32_t n = b->scene->nobjects;
    if (b->scene->length_of_box || b->scene->contact_off) return ABUT_OK;
    const int weighs = !(b->scene->fixed_kappa.value > 0) && b->scene->formulation == ABUT_CONTACT_IPC;
    const int of_body = b->scene->dhat.per_length;
    double *length = weighs ? abut_build_required(b, "object/length", n, err) : NULL;
    double *mass = length ? abut_build_required(b, "object/node-mass", n, err) : NULL;
    double *dhat = of_body && (mass || !weighs) ? abut_build_required(b, "object/dhat-part", n, err) : NULL;
    if ((weighs && !mass) || (of_body && !dhat)) return err ? err->code : ABUT_E_NOMEM;
    for (int32_t i = 0; i < n; i++) {
        const abut_object_facts *f = &b->out->object[i];
        if (weighs) length[i] = f->extent, mass[i] = f->node_mass;
        if (dhat) dhat[i] = f->extent > 0 ? f->extent / b->out->longest : 1;
    }
    return ABUT_OK;
}

static abut_status put_number(abut_build *b, const char *name, double value, abut_err *err)
{
    double *p;
    const abut_status rc = abut_build_put(b->model, name, 1, &p, err);
    if (!rc) *p = value;
    return rc;
}

/* Puts choices other than undamped implicit Euler and the published barrier and friction, as required arrays: a program that
 * does not know them must refuse the model. */
static abut_status put_variants(abut_build *b, abut_err *err)
{
    const abut_scene *s = b->scene;
    const struct { const char *array; int is_there, whole; double value; } all[] = {
        { "time/scheme", s->scheme != ABUT_FIRST_SCHEME, 1, s->scheme },
        { "time/newmark-beta", s->newmark_beta.value != ABUT_NEWMARK_BETA, 0, s->newmark_beta.value },
        { "time/newmark-gamma", s->newmark_gamma.value != ABUT_NEWMARK_GAMMA, 0, s->newmark_gamma.value },
        { "contact/barrier-continuity", s->barrier_law != ABUT_BARRIER_IPC, 1, s->barrier_law },
        { "contact/friction-smoothing", s->friction_law != ABUT_FRICTION_C1, 1, s->friction_law },
        { "contact/bodies", s->bodies_off, 1, 0 }, { "contact/mollifier", s->mollifier_off, 1, 0 },
        { "damping/mass", s->damp_mass.value > 0, 0, s->damp_mass.value },
        { "damping/stiffness", s->damp_stiffness.value > 0, 0, s->damp_stiffness.value },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        void *to = all[i].is_there ? abut_build_required(b, all[i].array, 1, err) : NULL;
        if (all[i].is_there && !to) return err ? err->code : ABUT_E_NOMEM;
        if (to && all[i].whole) *(int32_t *)to = (int32_t)all[i].value;
        else if (to) *(double *)to = all[i].value;
    }
    return ABUT_OK;
}

/* Default tolerance: PART of the speed of the scene; without gravity, TOLERANCE l in a time step if that is less.  REACHED l in a
 * step is attainable in spite of rounding.  STICKS: speed that counts as sticking, as a fraction of the tolerance. */
static const double PART = 1e-3, TOLERANCE = 1e-4, REACHED = 1e-8, STICKS = 0.1, STRAIN = 0.01;

/* Speed of the scene: of a fall through half of l; without gravity, of the fastest node at the start; if no node moves, the speed
 * that strains the slowest material by STRAIN. */
static double scene_speed(const abut_build *b, abut_speed_of *of)
{
    const abut_scene *s = b->scene;
    const double g = abut_v3_norm(abut_v3_get(s->gravity)), *v = abut_arrays_find(b->frame, "node/v")->data;
    double most = 0, sound = INFINITY;
    for (int32_t i = 0; i < b->out->nodes; i++) most = fmax(most, abut_v3_norm(abut_v3_get(v + 3 * (size_t)i)));
    for (const abut_scene_object *o = s->object; o < s->object + s->nobjects; o++)
        if (!o->obstacle) sound = fmin(sound, sqrt(s->material[o->material].young / s->material[o->material].density));
    *of = g > 0 ? ABUT_SPEED_OF_FALL : most > 0 ? ABUT_SPEED_OF_START : ABUT_SPEED_OF_SOUND;
    return g > 0 ? sqrt(g * b->out->length) : most > 0 ? most : STRAIN * sound;
}

void abut_build_bound_speeds(const abut_build *b)
{
    abut_built *o = b->out;
    if (!abut_scheme_is(b->scene->scheme, ABUT_SCHEME_INERTIA)) return;
    o->speed = scene_speed(b, &o->speed_of);
    const double step = TOLERANCE * o->length / b->scene->step.value, part = PART * o->speed;
    const double bound = fmax(o->speed_of == ABUT_SPEED_OF_FALL ? part : fmin(step, part), REACHED / TOLERANCE * step);
    o->is_bounded = bound == part;
    if (!(b->scene->tolerance.value > 0)) *(double *)abut_arrays_find(b->model, "solve/tolerance")->data = o->tolerance = bound;
    if (!(b->scene->eps_v.value > 0)) *(double *)abut_arrays_find(b->model, "contact/eps-v")->data = o->eps_v = STICKS * bound;
}

abut_status abut_build_parameters(abut_build *b, abut_err *err)
{
    const abut_scene *s = b->scene;
    abut_built *o = b->out;
    double *gravity;
    int32_t *lags;
    o->eps_v = s->eps_v.value > 0 ? in_metres(&s->eps_v, o->length) : STICKS * TOLERANCE * o->length / s->step.value;
    o->tolerance = s->tolerance.value > 0 ? in_metres(&s->tolerance, o->length) : TOLERANCE * o->length / s->step.value;
    if (!s->contact_off && o->dhat > o->length)
        return abut_fail(err, ABUT_E_FORMAT, "%s: contact.dhat is %.6g m, more than the length of the scene, %.6g m: expected a "
                         "small part of it (default 1e-3 l)", s->dhat.from, o->dhat, o->length);
    abut_status rc = abut_build_put(b->model, "world/gravity", 3, &gravity, err);
    if (!rc) memcpy(gravity, s->gravity, sizeof s->gravity);
    if (!rc) rc = put_number(b, "time/step", s->step.value, err);
    if (!rc) rc = put_variants(b, err);
    if (!rc) rc = put_number(b, "scene/length", o->length, err);
    if (!rc) rc = put_number(b, "contact/dhat", in_metres(&s->dhat, o->longest), err);
    if (!rc) rc = put_bodies(b, err);
    if (!rc) rc = put_number(b, "contact/eps-v", o->eps_v, err);
    if (!rc) rc = abut_build_put(b->model, "contact/lags", 1, &lags, err);
    if (!rc) *lags = (int32_t)s->lags.value;
    if (!rc) rc = put_number(b, "solve/tolerance", o->tolerance, err);
    if (!rc && s->barrier_filter.value > 0) rc = put_number(b, "contact/barrier-filter", s->barrier_filter.value, err);
    if (!rc && s->force_tolerance.value > 0) rc = put_number(b, "solve/force-tolerance", s->force_tolerance.value, err);
    if (!rc && s->end.value > 0) rc = abut_arrays_put_f64(b->model, "time/end", s->end.value, "s", err);
    return rc;
}

/* ---- stiffness of the barrier ---- */

#define STIFFER 2   /* lower bound over the published one: gaps are wider, and sliding primitives meet fewer edges */
#define STIFFEN_BELOW 0.1   /* of dhat: the force of smaller gaps is that of 1/gap within 7 %, and gaps bound steps */

#define PRESSURE_OF_YOUNG 0.1   /* stiffness of contact weighed by area over the least Young's modulus */
#define LAYERS 100              /* over the weight of the heaviest thin object on its area: rests at 0.98 dhat, LAYERS at 0.78 */

/* Returns the largest weight of a shell, rod or particle on its contact area, Pa; +inf if an object has tets, or without gravity.
 * A thin object bends long before a tenth of Young's modulus presses on it: with that stiffness all gaps lie in the last
 * hundredth of dhat, where contacts open and close alternately. */
static double thin_weight(const abut_scene *s, const abut_built *o)
{
    double most = 0;
    for (int32_t i = 0; i < s->nobjects; i++) {
        const abut_object_facts *f = &o->object[i];
        const double r = s->object[i].particle_radius;
        const double area = f->area + 2 * s->object[i].rod_radius * f->length + 3.14159265358979 * r * r * f->particles;
        if (f->volume > 0) return INFINITY;
        if (area > 0) most = fmax(most, f->mass / area * abut_v3_norm(abut_v3_get(s->gravity)));
    }
    return most > 0 ? most : INFINITY;
}

/* Contact weighed by area: its arrays, and its stiffness in the time step of the scene as both bounds. */
static abut_status put_area(abut_build *b, abut_err *err)
{
    const abut_scene *s = b->scene;
    abut_built *o = b->out;
    double young = INFINITY;
    for (int32_t i = 0; i < s->nmaterials; i++)
        if (s->material[i].young > 0) young = fmin(young, s->material[i].young);
    o->pressure = s->pressure.value > 0 ? s->pressure.value : fmin(PRESSURE_OF_YOUNG * young, LAYERS * thin_weight(s, o));
    if (!isfinite(o->pressure))
        return abut_fail(err, ABUT_E_FORMAT, "contact.formulation is area: no material has a Young's modulus, of which the "
                         "stiffness is a tenth; expected contact.barrier.pressure");
    o->kappa_min = o->kappa_max = o->pressure * (s->step.value * s->step.value);
    abut_status rc = abut_arrays_put_i32(b->model, "contact/formulation", ABUT_CONTACT_AREA, err);
    if (!rc) rc = abut_arrays_put_f64(b->model, "contact/pressure", o->pressure, "Pa", err);
    if (!rc) rc = put_number(b, "contact/edge-share", s->edge_share.value, err);
    if (!rc && s->fixed_reach) rc = abut_arrays_put_i32(b->model, "contact/fixed-reach", 1, err);
    abut_array *a = rc ? NULL : abut_arrays_find(b->model, "contact/formulation");
    if (a) a->flags |= ABUT_A_REQUIRED;
    return rc;
}

abut_status abut_build_stiffness(abut_build *b, abut_err *err)
{
    const abut_scene *s = b->scene;
    abut_built *o = b->out;
    const abut_array *thick = abut_arrays_find(b->model, "object/thickness");
    const int law = s->barrier_kappa ? ABUT_BARRIER_IPC : s->barrier_law;
    abut_status rc = abut_kappa_min_of(o->length, o->dhat, law, o->mean_mass, thick ? thick->data : NULL, s->nobjects,
                                       abut_arrays_find(b->model, "half-space/point") != NULL, &o->kappa_min, err);
    if (rc) return rc;
    if (!isfinite(o->kappa_min) && !(s->fixed_kappa.value > 0))
        return abut_fail(err, ABUT_E_FORMAT, "%s: contact.dhat is %.6g m, %.3g of the length of the scene, %.6g m: the stiffness "
                         "of contact has no finite bound for it; expected more than 1e-8 l (default 1e-3 l)", s->dhat.from,
                         o->dhat, o->dhat / o->length, o->length);
    o->kappa_min *= s->kappa_scale.value * (s->length_of_box || !abut_scheme_is(s->scheme, ABUT_SCHEME_INERTIA) ? 1 : STIFFER);
    const double range = s->kappa_range.value;
    o->kappa_max = range * (range > 1 ? o->heavy_mass / o->mean_mass : 1) * o->kappa_min;
    if (s->fixed_kappa.value > 0) o->kappa_min = o->kappa_max = s->fixed_kappa.value;
    if (s->formulation == ABUT_CONTACT_AREA) rc = put_area(b, err);
    if (!rc) rc = put_number(b, "contact/kappa-min", o->kappa_min, err);
    if (!rc && o->kappa_max > o->kappa_min) {
        o->stiffen_below = s->stiffen_below.value > 0 ? in_metres(&s->stiffen_below, o->length) : STIFFEN_BELOW * o->dhat;
        rc = put_number(b, "contact/stiffen-below", o->stiffen_below, err);
    }
    return rc ? rc : put_number(b, "contact/kappa-max", o->kappa_max, err);
}

/* ---- solvers without a barrier ---- */

static abut_status put_solver(abut_build *b, abut_err *err)
{
    if (b->scene->solver == ABUT_SOLVED_BY_BARRIER) return ABUT_OK;
    int32_t *p = abut_build_required(b, "solve/solver", 1, err);
    if (!p) return err->code;
    *p = b->scene->solver;
    return ABUT_OK;
}

/* Keys of `nodal` and `sqp` as arrays: the place of each in the scene, and whether it is a whole number. */
#define REAL(type, member, key, q, range, array) { array, offsetof(abut_scene, MAP.member), 0 },
#define WORD(type, member, key, words, array) { array, offsetof(abut_scene, MAP.member), 1 },
#define WHOLE(type, member, key, range, array) { array, offsetof(abut_scene, MAP.member), 1 },

static abut_status put_keys(abut_build *b, abut_err *err)
{
    static const struct { const char *array; size_t at; int whole; } all[] = {
#define MAP nodal
        ABUT_NODAL_KEYS(REAL, WORD, WHOLE)
#undef MAP
#define MAP sqp
        ABUT_SQP_KEYS(REAL, WORD, WHOLE)
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const abut_param *p = (const abut_param *)((const char *)b->scene + all[i].at);
        if (!p->from[0]) continue;
        void *to = abut_model_put(b->model, all[i].array, 1, err);
        if (!to) return err->code;
        if (all[i].whole) *(int32_t *)to = (int32_t)p->value;
        else *(double *)to = in_metres(p, b->out->length);
    }
    return ABUT_OK;
}

/* The friction class of a thing. */
static int32_t class_of(const abut_build *b, int32_t thing)
{
    const int32_t n = b->scene->nobjects;
    const abut_array *a = abut_arrays_find(b->model, thing < n ? "object/friction" : "half-space/friction");
    return ((const int32_t *)a->data)[thing < n ? thing : thing - n];
}

/* Puts force and range of cohesion by pairs of friction classes; each cohesive object has its own class. */
static abut_status put_cohesion(abut_build *b, abut_err *err)
{
    const abut_scene *s = b->scene;
    const size_t ng = (size_t)b->out->friction_classes;
    if (!s->ncohesions) return ABUT_OK;
    double *force = abut_model_put(b->model, "nodal/cohesion-force", (int64_t)ng, err);
    double *range = force ? abut_model_put(b->model, "nodal/cohesion-range", (int64_t)ng, err) : NULL;
    if (!range) return err->code;
    for (int32_t i = 0; i < s->ncohesions; i++) {
        const abut_scene_cohesion *c = &s->cohesion[i];
        const size_t p = (size_t)class_of(b, c->a), q = (size_t)class_of(b, c->b);
        force[p * ng + q] = force[q * ng + p] = c->force;
        range[p * ng + q] = range[q * ng + p] = c->range;
    }
    return ABUT_OK;
}

abut_status abut_build_nodal(abut_build *b, abut_err *err)
{
    assert(b);
    abut_status rc = put_solver(b, err);
    if (!rc) rc = put_keys(b, err);
    return rc ? rc : put_cohesion(b, err);
}
