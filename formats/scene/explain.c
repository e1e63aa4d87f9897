#include "formats/scene/keys.h"
#include "formats/scene/scene_read.h"

#include "energy/contact_laws.h"
#include "energy/material/materials.h"
#include "model/schemes.h"
#include "solve/options.h"

#include <math.h>
#include <string.h>

static void line(FILE *f, const char *name, double value, const char *unit, const char *why)
{
    fprintf(f, "  %-16s %-14.9g %-8s %s\n", name, value, unit, why);
}

/* A law: its name in scenes, and its formula. */
static void law(FILE *f, const char *what, const char *name, const char *help)
{
    fprintf(f, "  %-16s %-23s %s\n", what, name, help);
}

/* Writes a parameter that may be a fraction of l: its value in the scene, and its place. */
static void said(FILE *f, const char *name, double value, const char *unit, const abut_param *p)
{
    char why[200];
    if (p->per_length) snprintf(why, sizeof why, "%g l (%s)", p->value, p->from);
    else snprintf(why, sizeof why, "%s", p->from);
    line(f, name, value, unit, why);
}

static double metres(const abut_param *p, const abut_built *b) { return p->per_length ? p->value * b->length : p->value; }

/* Writes the value of a row of scene.h with the SI unit of its quantity. */
static void said_in(FILE *f, const char *label, abut_quantity q, const abut_param *p, const abut_built *b)
{
    char units[128];
    abut_unit_names(q, units, sizeof units);
    units[strcspn(units, ",")] = 0;
    said(f, label, metres(p, b), units, p);
}

/* Writes the parameters of solvers without a barrier that the scene sets. */
static void nodal(FILE *f, const abut_scene *s, const abut_built *b)
{
    static const char *const solver[ABUT_SOLVED_BY] = { "newton", "nodal", "sqp", "qp" };
    if (s->solver) fprintf(f, "  %-16s %s\n", "solver", solver[s->solver]);
#define WHOLE(type, member, key, range, array) if (s->nodal.member.from[0]) \
        said(f, array, s->nodal.member.value, "", &s->nodal.member);
#define WORD(type, member, key, words, array) WHOLE(type, member, key, "", array)
#define REAL(type, member, key, q, range, array) if (s->nodal.member.from[0]) \
        said_in(f, array, ABUT_Q_##q, &s->nodal.member, b);
    ABUT_NODAL_KEYS(REAL, WORD, WHOLE)
#undef WORD
#undef REAL
#define WORD(type, member, key, words, array) if (s->sqp.member.from[0]) \
        fprintf(f, "  %-16s %s (%s)\n", array, (words)[(int)s->sqp.member.value], s->sqp.member.from);
#define REAL(type, member, key, q, range, array) if (s->sqp.member.from[0]) \
        said_in(f, array, ABUT_Q_##q, &s->sqp.member, b);
    ABUT_SQP_KEYS(REAL, WORD, )
#undef WHOLE
#undef WORD
#undef REAL
    for (const abut_scene_cohesion *c = s->cohesion; c < s->cohesion + s->ncohesions; c++)
        fprintf(f, "  %-16s %-14.9g %-8s up to a gap of %.9g m (%s)\n", "cohesion", c->force, "N", c->range, c->from);
}

/* l, dhat and mean mass of each body, where there is more than one. */
static void bodies(FILE *f, const abut_scene *s, const abut_built *b)
{
    int n = 0;
    for (int32_t i = 0; i < s->nobjects; i++) n += b->object[i].extent > 0;
    for (int32_t i = 0; i < s->nobjects && n > 1 && !s->contact_off; i++)
        if (b->object[i].extent > 0)
            fprintf(f, "  %-16s l %.9g m, dhat %.9g m, mean mass of a node %.9g kg\n", s->object[i].name, b->object[i].extent,
                    b->object[i].dhat, b->object[i].node_mass);
}

static void length(FILE *f, const abut_scene *s, const abut_built *b)
{
    char why[160] = "diagonal of the bounding box of the simulated bodies at rest";
    if (!s->length_of_box && b->smallest < 0)
        snprintf(why, sizeof why, "largest distance of two nodes: no body has two");
    else if (!s->length_of_box)
        snprintf(why, sizeof why, "largest distance of two nodes of '%s', the smallest body", s->object[b->smallest].name);
    line(f, "l", b->length, "m", why);
}

/* A speed that the scene may leave to be derived: as a part of l in a time step or of the speed of the scene. */
static void speed(FILE *f, const char *name, double value, const abut_param *p, const abut_scene *s, const abut_built *b)
{
    static const char *const of[] = { "sqrt(gravity l)", "the largest speed at the start, %.4g m/s",
                                      "a hundredth of the speed of sound, sqrt(young / density)" };
    char what[100], why[200];
    if (p->value > 0) {
        said(f, name, value, "m/s", p);
        return;
    }
    snprintf(what, sizeof what, of[b->speed_of], b->speed);
    if (b->is_bounded) snprintf(why, sizeof why, "%.3g of %s (default)", value / b->speed, what);
    else snprintf(why, sizeof why, "%.3g l in a time step (default)", value * s->step.value / b->length);
    line(f, name, value, "m/s", why);
}

/* Rows of scene.h that have a label, and a value other than the default. */
#define SAID_double(member, q, usual, label)
#define SAID_abut_param(member, q, usual, label) do { \
        const char *const name = label; \
        if (name && s->member.value != (usual)) said_in(f, name, ABUT_Q_##q, &s->member, b); \
    } while (0);
#define SAID(type, member, key, q, range, usual, label) SAID_##type(member, q, usual, label)
#define SAID_WORD(type, member, key, words, usual, label) do { \
        const char *const name = label; \
        if (name && s->member != (usual)) fprintf(f, "  %-16s %s\n", name, (words)[s->member]); \
    } while (0);

static void parameters(FILE *f, const abut_scene *s, const abut_built *b)
{
    fprintf(f, "parameters\n");
    said(f, "time step", s->step.value, "s", &s->step);
    ABUT_TIME_KEYS(SAID, SAID_WORD)
    fprintf(f, "  %-16s %s\n", "time scheme", abut_scheme_names[s->scheme]);
    if (abut_scheme_is(s->scheme, ABUT_SCHEME_BETA_GAMMA)) {
        said(f, "Newmark's beta", s->newmark_beta.value, "", &s->newmark_beta);
        said(f, "Newmark's gamma", s->newmark_gamma.value, "", &s->newmark_gamma);
    }
    ABUT_DAMPING_KEYS(SAID)
    fprintf(f, "  %-16s %.9g, %.9g, %.9g m/s^2\n", "gravity", s->gravity[0], s->gravity[1], s->gravity[2]);
    length(f, s, b);
    if (s->contact_off) fprintf(f, "  %-16s off: everything passes through everything\n", "contact");
    if (s->nexcluded) fprintf(f, "  %-16s %d pair%s of objects that do not meet\n", "groups", s->nexcluded, abut_s(s->nexcluded));
    if (s->bodies_off) fprintf(f, "  %-16s off: they pass through themselves and each other\n", "bodies");
    if (s->start_pressed) fprintf(f, "  %-16s pressed: the barrier may part bodies at any speed\n", "start");
    said(f, "dhat", b->dhat, "m", &s->dhat);
    bodies(f, s, b);
    law(f, "barrier", abut_barrier_names[s->barrier_law], abut_barrier_laws[s->barrier_law]->help);
    if (s->barrier_filter.value > 0) said(f, "barrier filter", s->barrier_filter.value, "dhat", &s->barrier_filter);
    if (s->mollifier_off) fprintf(f, "  %-16s off: forces of nearly parallel edges may jump\n", "mollifier");
    speed(f, "eps_v", b->eps_v, &s->eps_v, s, b);
    speed(f, "tolerance", b->tolerance, &s->tolerance, s, b);
    if (s->force_tolerance.value > 0) said(f, "force tolerance", s->force_tolerance.value, "", &s->force_tolerance);
    said(f, "mu", s->mu.value, "", &s->mu);
    if (s->wind[0] != 0 || s->wind[1] != 0 || s->wind[2] != 0)
        fprintf(f, "  %-16s %.9g, %.9g, %.9g m/s\n", "wind", s->wind[0], s->wind[1], s->wind[2]);
    law(f, "friction", abut_friction_names[s->friction_law], abut_friction_laws[s->friction_law]->help);
    if (s->lags.value > 0) said(f, "friction lags", s->lags.value, "", &s->lags);
    else fprintf(f, "  %-16s until they converge; %s\n", "friction lags", s->lags.from);
    line(f, "mean mass", b->mean_mass, "kg", s->length_of_box ? "of a simulated node; obstacles' nodes get it too"
                                                         : "of a node of the lightest body; obstacles' nodes get it too");
    ABUT_CONTACT_KEYS(SAID, SAID_WORD)
    const char *derived = "stiffness of contact weighed by area: a tenth of the least Young's modulus; without tets at most "
                          "100 times the weight of the heaviest object on its area";
    if (s->formulation == ABUT_CONTACT_AREA)
        line(f, "contact pressure", b->pressure, "Pa", s->pressure.value > 0 ? s->pressure.from : derived);
    else if (s->fixed_kappa.value > 0) said(f, "fixed kappa", s->fixed_kappa.value, "kg/m^2", &s->fixed_kappa);
    else line(f, "kappa min", b->kappa_min, "kg/m^2",
         s->length_of_box ? s->barrier_kappa ? "1e11 mean mass / (4e-16 l^2 b''(1e-16 l^2)) of the law ipc: Huang 2024"
                                             : "1e11 mean mass / (4e-16 l^2 b''(1e-16 l^2)): Li 2020, App. F"
                          : "2e11 mean mass / (4e-16 l^2 b''(1e-16 l^2)) of this l, mass and dhat; of other pairs by theirs");
    if (b->stiffen_below > 0 && s->stiffen_below.value > 0) said(f, "stiffen below", b->stiffen_below, "m", &s->stiffen_below);
    else if (b->stiffen_below > 0) line(f, "stiffen below", b->stiffen_below, "m", "a tenth of dhat (default)");
    char times[64];
    const int is_mixed = b->heavy_mass > (1 + 1e-9) * b->mean_mass && s->kappa_range.value > 1;
    snprintf(times, sizeof times, "%.9g kappa min%s", s->kappa_range.value, is_mixed ? " of the heaviest body" : "");
    if (!(s->fixed_kappa.value > 0) && s->formulation == ABUT_CONTACT_IPC) line(f, "kappa max", b->kappa_max, "kg/m^2", times);
    ABUT_BARRIER_KEYS(SAID, SAID_WORD)
    ABUT_FRICTION_KEYS(SAID, SAID_WORD)
    ABUT_TOP_KEYS(SAID, SAID_WORD)
    nodal(f, s, b);
}

/* The explicit pairs; the rule for all others is that of formats/SCENE.md. */
static void friction(FILE *f, const abut_scene *s)
{
    for (const abut_scene_pair *p = s->pair; p < s->pair + s->npairs; p++) {
        const char *name[2];
        const int32_t row[2] = { p->a, p->b };
        for (int k = 0; k < 2; k++)
            name[k] = p->of_materials ? s->material[row[k]].name
                      : row[k] < s->nobjects ? s->object[row[k]].name : s->plane[row[k] - s->nobjects].name;
        fprintf(f, "  %-16s %-14.9g %-8s %s %s and %s (%s)\n", "mu", p->mu, "", p->of_materials ? "materials" : "objects",
                name[0], name[1], p->from);
    }
}

/* Writes the factor of a load over time, which is measured from `start`. */
static void table(FILE *f, const abut_scene_table *t, double start)
{
    for (int32_t i = 0; i < t->n; i++) fprintf(f, "  %-16s %.9g s: %.9g\n", "factor", start + t->time[i], t->value[i]);
}

/* Writes the shells, rods and particles of a body. */
static void thin(FILE *f, const abut_scene_object *o, const abut_scene_material *m, const abut_object_facts *a)
{
    static const char *const membrane[ABUT_MEMBRANES] = { "isotropic, in plane stress", "orthotropic", "cloth",
                                                            "stretch and shear (Baraff-Witkin)" };
    const double *s = o->shell.limit, *k = m->fabric, *e = m->strain_limit;
    if (a->shells) {
        fprintf(f, "  %-16s %d triangle%s, %d hinge%s; %s; %s; rest: %s, angles %s\n", "shell", a->shells, abut_s(a->shells),
                a->hinges, abut_s(a->hinges), membrane[m->membrane],
                o->shell.plate ? "bends like a plate" : "bends three times as stiffly as a plate",
                o->shell.has_pattern ? "a pattern" : "a mesh", o->shell.flat ? "0" : "of the mesh");
        line(f, "thickness", o->shell.thickness, "m", "of the material; contact does not see it");
        line(f, "area", a->area, "m^2", "at rest");
        if (s[3] > 0) fprintf(f, "  %-16s less than %.9g; the barrier begins at %.9g\n", "largest stretch", s[3], s[2]);
        if (s[1] > 0) fprintf(f, "  %-16s more than %.9g; the barrier begins at %.9g\n", "smallest stretch", s[0], s[1]);
        if (m->membrane == ABUT_MEMBRANE_BARAFF_WITKIN)
            fprintf(f, "  %-16s %g, %g, %g Pa: warp, weft, shear; %g of warp and weft in compression\n", "fabric", k[0], k[1],
                    k[3], m->compression);
        else if (m->membrane)
            fprintf(f, "  %-16s %g, %g, %g, %g Pa: warp, weft, coupling, shear\n", "fabric", k[0], k[1], k[2], k[3]);
        if (m->membrane == ABUT_MEMBRANE_CLOTH)
            fprintf(f, "  %-16s less than %g, %g, %g: warp, weft, shear\n", "Green strain", e[0], e[1], e[2]);
        if (o->shell.pressure != 0) line(f, "pressure", o->shell.pressure, "Pa", "along the normals, which turn with the shell");
        table(f, &o->shell.factor, 0);
        if (o->shell.drag > 0) line(f, "drag", o->shell.drag, "kg/m^3", "half the density of air times the coefficient");
    }
    if (a->rods) {
        fprintf(f, "  %-16s %d segment%s, %d bend%s\n", "rods", a->rods, abut_s(a->rods), a->bends, abut_s(a->bends));
        line(f, "radius", o->rod_radius, "m", "of the material; contact does not see it");
        line(f, "length", a->length, "m", "of all segments at rest");
    }
    if (a->particles) {
        fprintf(f, "  %-16s %d\n", "particles", a->particles);
        line(f, "radius", o->particle_radius, "m", "of the material; contact does not see it");
    }
    if (m->bending_young > 0 && (a->hinges || a->bends))
        line(f, "bending modulus", m->bending_young, "Pa", "of hinges and bends");
}

/* Orders of tets, and what became of their surface. */
static void curved(FILE *f, const abut_scene_object *o, const abut_object_facts *a)
{
    const abut_curved *c = &o->order.facts;
    fprintf(f, "  %-16s %d on a shape of order %d; %d %s no corners\n", "order", a->order, a->shape, a->inner,
            abut_plural(a->inner, "node is", "nodes are"));
    line(f, "least det J", a->least_ratio, "", "over its mean in the tet, anywhere in a tet at rest; 1: straight");
    if (a->shape > a->order)
        fprintf(f, "  %-16s rigid rotations store energy, as the shape has a higher order than displacement\n", "warning");
    if (!o->order.curved) return;
    line(f, "surface gap", c->gap, "m", "to the shape that it stands for, the largest of samples");
    if (c->corners) fprintf(f, "  %-16s %d moved onto it, %d of them less than all the way\n", "corners", c->corners, c->held);
    if (c->eased)
        fprintf(f, "  %-16s %d tet%s, the first is %d: their surface is less curved, so that det J > 0\n", "eased", c->eased,
                abut_s(c->eased), c->first);
}

/* The surface that contact sees, where it is one of its own. */
static void proxy(FILE *f, const abut_scene_object *o, const abut_object_facts *a)
{
    const abut_proxy_facts *p = &a->proxy;
    const abut_embedding *e = &p->embedding;
    if (!p->vertices) return;
    fprintf(f, "  %-16s %d %s, ", "contact surface", p->vertices, abut_plural(p->vertices, "vertex", "vertices"));
    if (p->segments)
        fprintf(f, "the boundary with %d segment%s on a side (%s)\n", p->segments, abut_s(p->segments),
                *o->proxy.from ? o->proxy.from : "by the order, dhat/4 and the altitudes");
    else fprintf(f, "of a surface in the tets (%s)\n", o->proxy.from);
    if (p->segments) line(f, "chord", p->chord.measured, "m", "of the boundary from its flat triangles, the largest of samples");
    if (p->segments) line(f, "chord bound", p->chord.bound, "m", "no point of the boundary is further from its flat one");
    if (isfinite(p->altitude)) line(f, "least altitude", p->altitude, "m", !p->low ? "of its triangles; more than dhat"
                                                : "of its triangles: no more than dhat, neighbours push each other at rest");
    if (p->segments) return;
    fprintf(f, "  %-16s %d %s, by at most %.6g (sum of negative barycentric coordinates)\n", "outside", e->outside,
            abut_plural(e->outside, "vertex", "vertices"), e->extrapolation);
    line(f, "residual", e->residual, "m", "of the inverse of the tets' maps");
    line(f, "largest offset", e->offset, "m", "added to W x; does not rotate with the body");
}

/* The stiffness of a rigid body, and what loads will strain it. */
static void rigid(FILE *f, const abut_scene_object *o, const abut_rigid_facts *r)
{
    line(f, "stiffness K", r->stiffness, "J", o->rigid.stiffness > 0 ? "of K |F^T F - 1|^2; of the scene"
                                                                     : "of K |F^T F - 1|^2, by the loads; steps may raise it");
    line(f, "largest K", r->most, "J", "1e9 times the largest second moment of the mass over 8 h^2");
    line(f, "kappa", r->kappa, "Pa", "K over the volume");
    line(f, "strain bound", o->rigid.strain, "", "of every step: the largest change of a length over that length");
    line(f, "strain by spin", r->spin, "", "expected, of the rate at the start or of a script");
    line(f, "strain by weight", r->weight, "", "expected, on a support at the largest distance from the centre");
    line(f, "strain by a stop", r->stop, "", "expected, from the largest speed that bodies may meet at, in a time step");
    if (r->angle > 0) line(f, "angle in a step", r->angle, "rad", "by the rate at the start, or of scripts");
    if (o->rigid.ratio > 1) line(f, "inertia ratio", o->rigid.ratio, "", "of given principal moments to the mesh's, or inverse");
}

static void object(FILE *f, const abut_scene *s, const abut_scene_object *o, const abut_object_facts *a)
{
    fprintf(f, "%s %s (%s)\n", o->obstacle ? "obstacle" : "body", o->name, o->from);
    fprintf(f, "  %-16s %d node%s, %d tet%s; surface: %d triangle%s, %d edge%s, %d isolated point%s\n", "mesh", a->nodes,
            abut_s(a->nodes), a->tets, abut_s(a->tets), a->triangles, abut_s(a->triangles), a->edges, abut_s(a->edges), a->points,
            abut_s(a->points));
    fprintf(f, "  %-16s [%.6g, %.6g, %.6g] to [%.6g, %.6g, %.6g] m\n", "from, to", a->lo[0], a->lo[1], a->lo[2], a->hi[0],
            a->hi[1], a->hi[2]);
    if (a->dropped)
        fprintf(f, "  %-16s %d point%s of the mesh %s\n", "left out", a->dropped, abut_s(a->dropped),
                o->obstacle ? "inside the obstacle, or in no element" : "in no tet");
    if (a->shape > 1) curved(f, o, a);
    proxy(f, o, a);
    if (a->edges) line(f, "shortest edge", a->least_edge, "m", "of the surface");
    if (o->path.n)
        fprintf(f, "  %-16s %d positions, from %g s to %g s\n", "sequence", o->path.n, o->path.time[0],
                o->path.time[o->path.n - 1]);
    if (o->has_mu) line(f, "mu", o->mu, "", "its own; of two objects with their own, the mean");
    if (o->material >= 0 && o->obstacle) fprintf(f, "  %-16s %s, for friction\n", "material", s->material[o->material].name);
    if (o->contact_thickness > 0)
        line(f, "contact thickness", o->contact_thickness, "m", "two things keep the mean of theirs apart");
    if (o->obstacle) return;
    const abut_scene_material *m = &s->material[o->rigid.is ? o->rigid.material : o->material];
    if (o->rigid.is) fprintf(f, "  %-16s %s: %g kg/m^3 (%s)\n", "material", m->name, m->density, m->from);
    else fprintf(f, "  %-16s %s: %s, %g kg/m^3, E %g Pa, nu %g (%s)\n", "material", m->name, abut_material_names[m->model],
                 m->density, m->young, m->poisson, m->from);
    thin(f, o, m, a);
    line(f, "mass", a->mass, "kg", o->rigid.has_mass ? "of the scene" : a->density[1] > 0 ?
         "that of another mesh, and its centre" : "density times volume");
    if (a->density[1] > 0)
        fprintf(f, "  %-16s %.6g to %.6g of the material's in the tets\n", "densities", a->density[0], a->density[1]);
    if (!a->tets) return;
    law(f, "energy density", abut_material_names[m->model], abut_materials[m->model]->help);
    if (o->rigid.is) {
        rigid(f, o, &a->rigid);
        return;
    }
    line(f, "volume", a->volume, "m^3", "");
    line(f, "smallest tet", a->least_volume, "m^3", "");
}

/* A vector that is not zero. */
static void vector(FILE *f, const char *name, const double v[3], const char *unit)
{
    if (v[0] != 0 || v[1] != 0 || v[2] != 0) fprintf(f, "  %-16s %.9g, %.9g, %.9g %s\n", name, v[0], v[1], v[2], unit);
}

/* Until when, of a motion that its surroundings stop. */
static void stop(FILE *f, const abut_scene *s, const abut_scene_motion *m)
{
    fprintf(f, "  %-16s %.9g s until ", "when", m->window[0]);
    if (m->stop == ABUT_STOP_GAP)
        fprintf(f, "%.9g %s before %s", m->gap.value, m->gap.per_length ? "l" : "m", s->object[m->to].name);
    if (m->stop == ABUT_STOP_PAST) fprintf(f, "%.9g of the way past %s is done", m->gap.value, s->object[m->to].name);
    if (m->stop == ABUT_STOP_AT) fprintf(f, "the foremost node is at the coordinate %.9g m", m->gap.value);
    if (m->stop == ABUT_STOP_WITH) fprintf(f, "motion %d ends", m->to);
    fputs(m->hold ? ", then held\n" : "\n", f);
}

static void motion(FILE *f, const abut_scene *s, const abut_scene_motion *m, int32_t nodes)
{
    static const char *const act[] = { "prescribed velocity", "acceleration", "force", "keyframes", "sequence", "force density",
                                      "traction", "pressure", "torque" };
    static const char *const unit[] = { "m/s", "m/s^2", "N, shared out by mass", "", "", "N/m^3", "Pa", "Pa, inwards",
                                       "N m about the centre of mass" };
    char words[160];
    const int keys = m->act == ABUT_ACT_KEYS, path = m->act == ABUT_ACT_PATH;
    const double length = keys ? m->pose[m->nposes - 1].time : path ? m->path.time[m->path.n - 1] : 0;
    const double until = keys || path ? m->window[0] + length : m->window[1];
    const double rate[9] = { m->linear[0], m->linear[1], m->linear[2], m->angular[0], m->angular[1], m->angular[2], m->scale[0],
                            m->scale[1], m->scale[2] };
    int fixed = m->act == ABUT_ACT_MOVE;
    for (int k = 0; k < 9; k++) fixed &= rate[k] == 0;
    fprintf(f, "motion (%s)\n  %-16s %d of %s (%s)\n", m->from, "nodes", nodes,
            abut_scene_select_words(s, &m->select, words, sizeof words), m->select.from);
    fprintf(f, "  %-16s %s\n", "what", fixed ? "fixed: the nodes stay where they are" : act[m->act]);
    if (m->stop) stop(f, s, m);
    else if (!isfinite(until)) fprintf(f, "  %-16s from %.9g s on\n", "when", m->window[0]);
    else fprintf(f, "  %-16s %.9g s to %.9g s%s\n", "when", m->window[0], until,
                 !abut_act_moves(m->act) ? "" : m->hold ? ", then held" : ", then let go (obstacles rest)");
    vector(f, m->act == ABUT_ACT_MOVE ? "translate" : "value", m->linear, unit[m->act]);
    vector(f, "rotate", m->angular, "rad/s");
    vector(f, "scale", m->scale, "1/s");
    for (int32_t k = 0; k < m->nposes; k++) {
        const abut_scene_pose *p = &m->pose[k];
        const double *q = p->rotation;
        fprintf(f, "  %-16s %.9g s: shift %.6g, %.6g, %.6g m; rotation %.9g, %.9g, %.9g, %.9g; scale %.6g, %.6g, %.6g\n", "pose",
                m->window[0] + p->time, p->shift[0], p->shift[1], p->shift[2], q[0], q[1], q[2], q[3],
                p->scale[0], p->scale[1], p->scale[2]);
    }
    if (path) fprintf(f, "  %-16s %d meshes\n", "sequence", m->path.n);
    table(f, &m->factor, m->window[0]);
    if (keys || path || m->factor.n) fprintf(f, "  %-16s %s\n", "in between", m->smooth ? "smooth" : "linear");
}

void abut_explain_write(FILE *f, const abut_scene *s, const abut_built *b, const abut_explain *e)
{
    parameters(f, s, b);
    fprintf(f, "model\n  %-16s %d node%s, %d tet%s; contact: %d %s, %d edge%s, %d triangle%s\n", "size", b->nodes,
            abut_s(b->nodes), b->tets, abut_s(b->tets), b->collision_vertices,
            abut_plural(b->collision_vertices, "vertex", "vertices"), b->edges, abut_s(b->edges), b->triangles,
            abut_s(b->triangles));
    if (b->shells)
        fprintf(f, "  %-16s %d triangle%s, %d hinge%s\n", "shells", b->shells, abut_s(b->shells), b->hinges, abut_s(b->hinges));
    if (b->rods) fprintf(f, "  %-16s %d segment%s, %d bend%s\n", "rods", b->rods, abut_s(b->rods), b->bends, abut_s(b->bends));
    if (b->particles) fprintf(f, "  %-16s %d\n", "particles", b->particles);
    fprintf(f, "  %-16s %d motion%s, %d handle node%s; %d friction %s\n", "scripts", b->motions, abut_s(b->motions), b->handles,
            abut_s(b->handles), b->friction_classes, abut_plural(b->friction_classes, "class", "classes"));
    friction(f, s);
    if (s->is_rotated) fprintf(f, "  %-16s about the origin, before fit\n", "rotated");
    if (s->fit > 0) line(f, "fit", s->fit, "m", "longest side of the scene, its lower corner at the origin");
    if (s->lift.value != 0) line(f, "lift", s->lift.value, s->lift.per_length ? "l" : "m", s->lift.from);
    if (isfinite(e->gap)) line(f, "start gap", e->gap, "m", e->closest);
    else fprintf(f, "  %-16s more than %.9g m everywhere\n", "start gap", e->reach);
    for (int32_t i = 0; i < s->nobjects; i++) object(f, s, &s->object[i], &b->object[i]);
    for (int32_t i = 0; i < s->nmotions; i++) motion(f, s, &s->motion[i], b->selected[i]);
    for (int32_t i = 0; i < s->njoints; i++) {
        const abut_scene_joint *j = &s->joint[i];
        fprintf(f, "joint %s (%s)\n  %-16s %s to %s%s\n", j->name, j->from, abut_joint_names[j->kind], s->object[j->body[1]].name,
                j->body[0] < 0 ? "the world" : s->object[j->body[0]].name, j->contact ? ", which meet" : "");
    }
    for (int32_t i = 0; i < s->nmotors; i++) {
        const abut_scene_motor *m = &s->motor[i];
        static const char *const asks[] = { "", "target", "rate", "effort" };
        fprintf(f, "motor of %s (%s)\n  %-16s %s of %d key%s%s\n", s->joint[m->joint].name, m->from, "asks", asks[m->kind],
                m->value.n, abut_s(m->value.n), m->kind == ABUT_MOTOR_EFFORT || m->stiffness + m->damper > 0 ? "" : ", exactly");
    }
    for (int32_t i = 0; i < s->nattachments; i++) {
        const abut_scene_attachment *a = &s->attachment[i];
        fprintf(f, "attachment (%s)\n", a->from);
        fprintf(f, "  %-16s %d, from %s (%s) to %s\n", "springs", b->attached[i], s->object[a->select.object].name,
                a->select.from, a->to < 0 ? "a point" : s->object[a->to].name);
        line(f, "stiffness", a->stiffness, "N/m", "of each spring");
        if (isfinite(a->within)) line(f, "within", a->within, "m", "of the object or point");
    }
    for (int32_t i = 0; i < s->nseams; i++) {
        const abut_scene_seam *a = &s->seam[i];
        fprintf(f, "seam (%s)\n  %-16s %d, from a line of %s to one of %s\n", a->from, "springs", b->sewn[i],
                s->object[a->side[0].object].name, s->object[a->side[1].object].name);
        if (a->stiffness > 0) line(f, "stiffness", a->stiffness, "N/m", "of each spring");
        else fprintf(f, "  %-16s Young's modulus times thickness of %s\n", "stiffness", s->object[a->side[0].object].name);
    }
    for (int32_t i = 0; i < s->nplanes; i++) {
        const abut_scene_plane *p = &s->plane[i];
        fprintf(f, "half-space %s (%s)\n  %-16s %.6g, %.6g, %.6g m, normal %.6g, %.6g, %.6g\n", p->name, p->from, "point",
                p->point[0], p->point[1], p->point[2], p->normal[0], p->normal[1], p->normal[2]);
        if (p->has_mu) line(f, "mu", p->mu, "", "its own; of two objects with their own, the mean");
        if (p->material >= 0) fprintf(f, "  %-16s %s, for friction\n", "material", s->material[p->material].name);
    }
}
