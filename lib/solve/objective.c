#include "solve/objective.h"

#include "base/order.h"
#include "energy/barrier.h"
#include "energy/elastic.h"
#include "energy/joint.h"
#include "energy/mass.h"
#include "math/rigid.h"
#include "model/motion.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- element sets ---- */

/* A set that is made while a matrix is summed. */
typedef struct fused {
    const abut_objective *o;
    int owner;
} fused;

struct abut_term_sets {
    int owner[ABUT_SETS_MAX];   /* term that has `elements` */
    fused fused[ABUT_SETS_MAX];
    abut_at at;                 /* the last point */
    double *node;               /* [nv] the diagonal, by nodes */
    int32_t *row;               /* of all sets, one after the other */
    double *val;                /* of sets that are not fused */
    size_t row_cap, val_cap;
    const double *H[ABUT_SETS_MAX]; /* values at the last point */
    abut_row_map W;             /* of the collision mesh, to rows of unknowns; empty where that selects */
};

static int is_lasting(const abut_term_ops *ops) { return (ops->set_is & ABUT_SET_LASTS) != 0; }

/* Makes o->sets, o->nsets, o->lasting for the terms of o. */
static abut_status sets_new(abut_objective *o, abut_err *err)
{
    struct abut_term_sets *s = o->sets = calloc(1, sizeof *s);
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "element sets");
    s->node = malloc(((size_t)o->model->nv + 1) * sizeof *s->node);
    if (!s->node) return abut_fail(err, ABUT_E_NOMEM, "element sets: %d nodes", o->model->nv);
    for (int pass = 0; pass < 3; pass++) {      /* those that last, those of contacts, the others */
        for (int i = 0; i < o->terms.n; i++) {
            const abut_term_ops *ops = o->terms.term[i].ops;
            const int of_pass = is_lasting(ops) ? 0 : ops->kind == ABUT_TERM_CONTACT ? 1 : 2;
            if (!ops->elements || of_pass != pass) continue;
            if (o->nsets == ABUT_SETS_MAX)
                return abut_fail(err, ABUT_E_ARG, "term %s: more than %d element sets", ops->name, (int)ABUT_SETS_MAX);
            s->fused[o->nsets] = (fused){ o, i };
            s->owner[o->nsets++] = i;
        }
        if (pass == 0) o->lasting = o->nsets;
    }
    return ABUT_OK;
}

static void sets_free(abut_objective *o)
{
    if (!o->sets) return;
    ABUT_FREE(o->sets->node, o->sets->row, o->sets->val);
    abut_row_map_clear(&o->sets->W);
    free(o->sets);
    o->sets = NULL;
}

/* ---- construction ---- */

static abut_status allocate(abut_objective *o, abut_err *err)
{
    const size_t nv = (size_t)o->model->nv;
    double **const field[] = { &o->xn, &o->xhat, &o->target, &o->still, &o->z };
    int missing = 0;
    for (int i = 0; i < 5; i++) missing |= !(*field[i] = calloc(3 * nv, sizeof(double)));
    missing |= !(o->held = calloc(nv, 1));
    missing |= !(o->row = calloc(nv, sizeof(int32_t)));
    return missing ? abut_fail(err, ABUT_E_NOMEM, "step: %d nodes", o->model->nv) : ABUT_OK;
}

/* Sets o->stiffness and o->object.  An object that is a point has the length of the scene. */
static abut_status measure_objects(abut_objective *o, abut_err *err)
{
    const abut_model *m = o->model;
    const size_t no = (size_t)m->no;
    struct abut_object_sizes *s = &o->object;
    double (*mean)[4] = calloc(no + 1, sizeof *mean);
    s->stiffness = calloc(4 * no + 1, sizeof *s->stiffness);
    if (!mean || !s->stiffness) return free(mean), abut_fail(err, ABUT_E_NOMEM, "sizes of %zu objects", no);
    s->length = s->stiffness + no, s->mass = s->length + no, s->kappa_part = s->mass + no;
    for (size_t i = 0; i < (size_t)m->nv; i++) {
        for (size_t k = 0; k < 3; k++) mean[m->body[i]][k] += m->X[3 * i + k];
        mean[m->body[i]][3]++;
        s->mass[m->body[i]] += m->role[i] == ABUT_NODE_OBSTACLE ? 0 : m->mass[i];
    }
    for (size_t i = 0; i < (size_t)m->nv; i++) {
        const double *of = mean[m->body[i]];
        const abut_vec3 r = abut_v3_sub(abut_v3_get(m->X + 3 * i), abut_v3_scale(1 / of[3], abut_v3_get(of)));
        s->length[m->body[i]] = fmax(s->length[m->body[i]], 2 * abut_v3_norm(r));
    }
    for (size_t b = 0; b < no; b++) s->length[b] = s->length[b] > 0 ? s->length[b] : m->length[0], s->kappa_part[b] = 1;
    free(mean);
    for (const abut_term *t = o->terms.term; t < o->terms.term + o->terms.n; t++)
        if (t->ops->stiffness) o->stiffness += t->ops->stiffness(t->self, s->stiffness);
    return ABUT_OK;
}

abut_status abut_objective_init(abut_objective *o, const abut_model *model, const abut_own_term *own, abut_err *err)
{
    *o = (abut_objective){ .model = model };
    abut_status rc = abut_elastic_check(model, err);    /* names tets as they were given */
    if (!rc) rc = abut_contact_check(model, 1, err);
    if (!rc) rc = abut_reordered_new(&o->reordered, model, err);
    if (!rc) o->model = model = &o->reordered->model;
    if (!rc) rc = abut_collmesh_init(&o->cm, model, err);
    const abut_term_world world = { .model = model, .reordered = o->reordered, .cm = &o->cm };
    if (!rc) rc = abut_terms_init(&o->terms, &world, own, err);
    if (!rc) rc = allocate(o, err);
    if (!rc) rc = sets_new(o, err);
    if (!rc) rc = measure_objects(o, err);
    if (rc) {
        abut_objective_clear(o);
        return rc;
    }
    abut_objective_weigh(o, abut_integrator_weights(model, ABUT_FIRST_SCHEME));
    return ABUT_OK;
}

void abut_objective_clear(abut_objective *o)
{
    sets_free(o);
    abut_terms_clear(&o->terms);
    abut_collmesh_clear(&o->cm);
    ABUT_FREE(o->xn, o->xhat, o->target, o->still, o->z, o->held, o->object.stiffness, o->row);
    abut_reordered_free(&o->reordered);     /* last: the others borrow it */
    *o = (abut_objective){ 0 };
}

int abut_objective_has(const abut_objective *o, abut_term_kind kind)
{
    for (int i = 0; i < o->terms.n; i++)
        if (o->terms.term[i].ops->kind == kind) return 1;
    return 0;
}

/* ---- a step ---- */

void abut_objective_weigh(abut_objective *o, abut_weights w)
{
    o->w = w;
    o->step = (abut_term_step){ .x0 = o->xn, .x_hat = o->xhat, .x_ref = o->still, .x_damp = w.share < 1 ? o->xn : o->still,
                                .target = o->target, .held = o->held, .h_force = w.h_force,
                                .damp_time = w.smooth / w.damping, .damping = w.damping, .reach = w.share,
                                .weight_z2 = w.psi * w.share * w.share, .eps_v = w.eps_v, .inertia = w.inertia,
                                .shift = w.shift, .ranks = o->step.ranks };
}

void abut_objective_rotate(const abut_objective *p, double *v)
{
    assert(p && v);
    const abut_model *m = p->model;
    const double h = m->h[0];
    const abut_joints *joints = abut_joints_of(&p->terms);
    for (int32_t t = 0; t < m->nt && m->rigid_range; t++) {
        const int32_t *node = m->tet + 4 * (size_t)t;
        if (!(m->rigid_range[2 * (size_t)m->body[*node]] > 0)) continue;
        abut_rigid motion = abut_rigid_part(4, node, m->mass, p->xn, v);
        int held = 0;
        for (int k = 0; k < 4; k++) held |= p->held[node[k]] || abut_joints_have(joints, node[k]);
        for (int k = 0; k < 3; k++) motion.shift[k] *= h, motion.spin[k] *= h;
        for (int k = 0; k < 4 && !held; k++) {
            double *of = v + 3 * (size_t)node[k], to[3] = { h * of[0], h * of[1], h * of[2] };
            abut_rigid_rotate(&motion, p->xn + 3 * (size_t)node[k], to, to);
            for (int d = 0; d < 3; d++) of[d] = to[d] / h;
        }
    }
}

abut_status abut_objective_load(abut_objective *o, const abut_frame *f, const abut_term_frame *as, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (const abut_term *t = o->terms.term; t < o->terms.term + o->terms.n && !rc; t++)
        if (t->ops->load) rc = t->ops->load(t->self, f, as, err);
    return rc || as->pending ? rc : abut_objective_part(o, f->kappa_part, err);
}

abut_status abut_objective_store(const abut_objective *o, const abut_term_frame *as, abut_arrays *out, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (const abut_term *t = o->terms.term; t < o->terms.term + o->terms.n && !rc; t++)
        if (t->ops->store) rc = t->ops->store(t->self, as, out, err);
    if (rc || as->pending || !o->cm.scale.part) return rc;
    double *part = abut_frame_put(out, "object/kappa-part", o->model->no, err);
    if (!part) return err->code;
    memcpy(part, o->object.kappa_part, (size_t)o->model->no * sizeof *part);
    abut_arrays_find(out, "object/kappa-part")->flags |= ABUT_A_REQUIRED;
    return ABUT_OK;
}

abut_status abut_objective_begin(abut_objective *o, double time, abut_err *err)
{
    assert(o);
    o->step.time = time;
    o->step.load_time = abut_motion_load_time(o->model, time);
    abut_status rc = ABUT_OK;
    for (const abut_term *t = o->terms.term; t < o->terms.term + o->terms.n; t++)
        if (!rc && t->ops->begin) rc = t->ops->begin(t->self, &o->step, err);
    return rc;
}

void abut_objective_number(abut_objective *o)
{
    const int pushed = abut_lagrangian_of(&o->terms)->on;
    o->nrow = 0;
    o->changes++;
    for (int32_t k = 0; k < o->model->nv; k++) {
        const int32_t i = o->reordered->node[k];
        o->row[i] = o->held[i] && !pushed ? -1 : o->nrow++;
    }
}

abut_at abut_objective_at(const abut_objective *o, const double *x, const double *y, const abut_pairs *pairs)
{
    const double reach = o->w.share;
    if (reach == 1) return (abut_at){ x, x, y, pairs, &o->step };
    for (int32_t i = 0; i < 3 * o->model->nv; i++) o->z[i] = o->xn[i] + reach * (x[i] - o->xn[i]);
    return (abut_at){ x, o->z, y, pairs, &o->step };
}

/* ---- sums over terms ---- */

double abut_objective_weight(const abut_objective *o, const abut_term_ops *ops, int order)
{
    const abut_weights *w = &o->w;
    if (ops->weight == ABUT_TERM_AT_X) return w->smooth;
    if (ops->weight == ABUT_TERM_WEIGHED) return 1;
    return order == 0 ? w->psi : order == 1 ? w->psi * w->share : w->psi * w->share * w->share;
}

abut_status abut_objective_energy(const abut_objective *o, const abut_at *at, abut_energy *e, abut_arena *scratch, abut_err *err)
{
    abut_energy out = { .sum = 0 };
    for (int i = 0; i < o->terms.n; i++) {
        const abut_term *t = &o->terms.term[i];
        const abut_status rc = t->ops->energy(t->self, at, abut_objective_weight(o, t->ops, 0), &out.e[i], scratch, err);
        if (rc) return rc;
    }
    abut_objective_sum(o, &out);
    *e = out;
    return ABUT_OK;
}

abut_status abut_objective_energy_of(const abut_objective *o, const abut_at *at, int kinds, double *sum, abut_arena *scratch,
                                     abut_err *err)
{
    double e[ABUT_TERMS_MAX] = { 0 };
    for (int i = 0; i < o->terms.n; i++) {
        const abut_term *t = &o->terms.term[i];
        if (!(kinds & 1 << t->ops->kind)) continue;
        const abut_status rc = t->ops->energy(t->self, at, abut_objective_weight(o, t->ops, 0), &e[i], scratch, err);
        if (rc) return rc;
    }
    *sum = abut_sum(e, (size_t)o->terms.n);
    return ABUT_OK;
}

void abut_objective_sum(const abut_objective *o, abut_energy *e)
{
    double size = o->w.psi * o->stiffness;
    for (int i = 0; i < o->terms.n; i++) size += fabs(e->e[i]);
    e->sum = abut_sum(e->e, (size_t)o->terms.n);
    e->noise = 4 * DBL_EPSILON * size;
}

void abut_objective_put(const abut_objective *o, abut_energy *e, const char *term, double value)
{
    e->e[abut_terms_number(&o->terms, term)] = value;
}

abut_status abut_objective_gradient_add(const abut_objective *o, const abut_at *at, int kinds, double *g, abut_arena *scratch,
                                        abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (const abut_term *t = o->terms.term; t < o->terms.term + o->terms.n; t++)
        if (!rc && kinds & 1 << t->ops->kind)
            rc = t->ops->gradient(t->self, at, abut_objective_weight(o, t->ops, 1), g, scratch, err);
    return rc;
}

static void clear_fixed(const abut_objective *o, double *g)
{
    #pragma omp parallel for schedule(static) if ((size_t)o->model->nv >= 8 * ABUT_PAR_MIN)
    for (int32_t i = 0; i < o->model->nv; i++)
        if (o->row[i] < 0) g[3 * i] = g[3 * i + 1] = g[3 * i + 2] = 0;
    abut_locks_keep(o->model, NULL, NULL, g);
}

abut_status abut_objective_gradient(const abut_objective *o, const abut_at *at, int kinds, double *g, abut_arena *scratch,
                                    abut_err *err)
{
    memset(g, 0, 3 * (size_t)o->model->nv * sizeof *g);
    const abut_status rc = abut_objective_gradient_add(o, at, kinds, g, scratch, err);
    if (!rc) clear_fixed(o, g);
    return rc;
}

abut_status abut_objective_potential(const abut_objective *o, const double *x, double *psi, abut_arena *scratch, abut_err *err)
{
    const abut_at at = { x, x, NULL, NULL, &o->step };
    double e[ABUT_TERMS_MAX] = { 0 };
    *psi = 0;
    for (int i = 0; i < o->terms.n; i++) {
        const abut_term *t = &o->terms.term[i];
        if (!(ABUT_KINDS_POTENTIAL & 1 << t->ops->kind)) continue;
        const abut_status rc = t->ops->energy(t->self, &at, 1, &e[i], scratch, err);
        if (rc) return rc;
    }
    *psi = abut_sum(e, (size_t)o->terms.n);
    return ABUT_OK;
}

abut_status abut_objective_potential_gradient(const abut_objective *o, const abut_at *at, double scale, double *g,
                                              abut_arena *scratch, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (const abut_term *t = o->terms.term; t < o->terms.term + o->terms.n; t++)
        if (!rc && ABUT_KINDS_POTENTIAL & 1 << t->ops->kind) rc = t->ops->gradient(t->self, at, scale, g, scratch, err);
    return rc;
}

abut_status abut_objective_damping_force(const abut_objective *o, const double *v, double *f, abut_arena *scratch, abut_err *err)
{
    /* minus the gradient where x - x_damp is v and takes a second */
    const size_t n3 = 3 * (size_t)o->model->nv;
    const abut_mark mark = abut_arena_mark(scratch);
    double *rest = ABUT_NEW(scratch, double, n3);
    if (!rest) return abut_fail(err, ABUT_E_NOMEM, "damping: %zu numbers", n3);
    abut_term_step step = o->step;
    step.x_damp = rest;
    step.damping = -1;
    const abut_at at = { v, v, NULL, NULL, &step };
    const abut_status rc = abut_objective_gradient_add(o, &at, 1 << ABUT_TERM_DAMPING, f, scratch, err);
    abut_arena_release(scratch, mark);
    return rc;
}

/* ---- bounds and models ---- */

void abut_objective_limit(const abut_objective *o, const abut_at *at, const double *p, abut_limit *lim)
{
    for (int i = 0; i < o->terms.n; i++) {
        const abut_term *t = &o->terms.term[i];
        const double before = lim->alpha;
        if (t->ops->limit) t->ops->limit(t->self, at, p, lim);
        if (lim->alpha < before) lim->term = t->ops->name;
    }
}

int abut_objective_outside(const abut_objective *o, const double *x, abut_bound_words *w)
{
    for (const abut_term *t = o->terms.term; t < o->terms.term + o->terms.n; t++)
        if (t->ops->outside && t->ops->outside(t->self, x, w)) return 1;
    return 0;
}

void abut_objective_start(const abut_objective *o)
{
    for (const abut_term *t = o->terms.term; t < o->terms.term + o->terms.n; t++)
        if (t->ops->start) t->ops->start(t->self);
}

void abut_objective_majorant_forget(const abut_objective *o)
{
    for (const abut_term *t = o->terms.term; t < o->terms.term + o->terms.n; t++)
        if (t->ops->majorant_forget) t->ops->majorant_forget(t->self);
}

void abut_objective_majorant_learn(const abut_objective *o, const abut_at *at, const double *p)
{
    for (const abut_term *t = o->terms.term; t < o->terms.term + o->terms.n; t++)
        if (t->ops->majorant_learn) t->ops->majorant_learn(t->self, at, p);
}

int abut_objective_majorant_is_exact(const abut_objective *o)
{
    int exact = 1;
    for (const abut_term *t = o->terms.term; t < o->terms.term + o->terms.n; t++)
        if (t->ops->majorant_is_exact) exact &= t->ops->majorant_is_exact(t->self);
    return exact;
}

int abut_objective_ahead(const abut_objective *o, const abut_at *at, const double *p)
{
    int any = 0;
    for (const abut_term *t = o->terms.term; t < o->terms.term + o->terms.n; t++)
        if (t->ops->ahead) any |= t->ops->ahead(t->self, at, p);
    return any;
}

void abut_objective_ahead_forget(const abut_objective *o)
{
    for (const abut_term *t = o->terms.term; t < o->terms.term + o->terms.n; t++)
        if (t->ops->ahead_forget) t->ops->ahead_forget(t->self);
}

void abut_objective_ahead_gradient(const abut_objective *o, const abut_at *at, double *g)
{
    for (const abut_term *t = o->terms.term; t < o->terms.term + o->terms.n; t++)
        if (t->ops->ahead_gradient) t->ops->ahead_gradient(t->self, at, abut_objective_weight(o, t->ops, 1), g);
}

void abut_objective_forecast_start(const abut_objective *o, const abut_at *at)
{
    for (const abut_term *t = o->terms.term; t < o->terms.term + o->terms.n; t++)
        if (t->ops->forecast_start) t->ops->forecast_start(t->self, at);
}

void abut_objective_forecast_step(const abut_objective *o, const abut_at *from, const double *to, double alpha)
{
    for (const abut_term *t = o->terms.term; t < o->terms.term + o->terms.n; t++)
        if (t->ops->forecast_step) t->ops->forecast_step(t->self, from, to, alpha);
}

int abut_objective_forecast_is_fair(const abut_objective *o, const abut_at *at)
{
    int fair = 1;
    for (const abut_term *t = o->terms.term; t < o->terms.term + o->terms.n; t++)
        if (t->ops->forecast_is_fair) fair &= t->ops->forecast_is_fair(t->self, at);
    return fair;
}

abut_status abut_objective_stiffen(abut_objective *o, const abut_at *from, const abut_at *to, abut_arena *scratch, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (const abut_term *t = o->terms.term; t < o->terms.term + o->terms.n && !rc; t++) {
        int raised = 0;
        if (t->ops->stiffen) rc = t->ops->stiffen(t->self, from, to, &raised, scratch, err);
        o->changes += raised;
    }
    return rc;
}

/* ---- the stiffness of the barrier ---- */

abut_status abut_objective_balance(const abut_objective *o, const abut_at *at, double *kappa, abut_arena *scratch, abut_err *err)
{
    const size_t n3 = 3 * (size_t)o->model->nv;
    *kappa = 0;
    const abut_mark mark = abut_arena_mark(scratch);
    double *gc = ABUT_NEW(scratch, double, n3), *ge = ABUT_NEW(scratch, double, n3);
    if (!gc || !ge) return abut_fail(err, ABUT_E_NOMEM, "barrier stiffness: %zu numbers", 2 * n3);
    abut_status rc = abut_barrier_unit_gradient(abut_barrier_state_of(&o->terms), at, gc, scratch, err);
    if (!rc) rc = abut_objective_gradient(o, at, ABUT_KINDS_SMOOTH, ge, scratch, err);
    if (!rc) {
        abut_acc ce = { 0, 0 }, cc = { 0, 0 };
        for (size_t i = 0; i < n3; i++) {
            if (o->held[i / 3]) continue;
            abut_acc_add(&ce, gc[i] * ge[i]);
            abut_acc_add(&cc, gc[i] * gc[i]);
        }
        *kappa = cc.hi > 0 ? -(ce.hi + ce.lo) / (cc.hi + cc.lo) : 0;
    }
    abut_arena_release(scratch, mark);
    return rc;
}

/* Returns 1 if clusters of bodies have a stiffness each. */
static int by_cluster(const abut_objective *o)
{
    const abut_model *m = o->model;
    return m->obj_node_mass && m->obj_length && !o->cm.area && m->kappa_max[0] > m->kappa_min[0];
}

/* Sets root[no] to the cluster of each object, -1: it has no contact. */
static void find_clusters(const abut_objective *o, const abut_pairs *p, int32_t *root)
{
    const abut_model *m = o->model;
    const int apart = by_cluster(o);
    for (int32_t b = 0; b < m->no; b++) root[b] = m->no + b;        /* no contact yet */
    for (size_t i = 0; i < p->n + p->n_plane; i++) {
        const int plane = i >= p->n;
        const int32_t *v = plane ? p->plane_vert + (i - p->n) : p->vert[i];
        const int32_t w = plane ? *v : v[abut_stencil_second((abut_stencil)p->kind[i])];
        int32_t a = abut_collmesh_object(&o->cm, *v), b = abut_collmesh_object(&o->cm, w);
        if (o->cm.obstacle[*v]) a = b;
        if (o->cm.obstacle[w]) b = a;
        if (root[a] >= m->no) root[a] = a;
        if (root[b] >= m->no) root[b] = b;
        abut_set_join(root, a, b);
    }
    for (int32_t b = 0; b < m->no; b++) root[b] = !apart ? 0 : root[b] < m->no ? abut_set_root(root, b) : -1;
}

/* Sums of a cluster over its free nodes, and the least and the largest mean mass of a node of its bodies. */
typedef struct cluster {
    abut_acc ce, cc;
    double light, heavy;
} cluster;

/* Fills of[no] for the clusters, and of[no] for the scene, which has no sums. */
static void sum_clusters(const abut_objective *o, const int32_t *root, const double *gc, const double *ge, cluster *of)
{
    const abut_model *m = o->model;
    for (int32_t b = 0; b <= m->no; b++) of[b] = (cluster){ .light = INFINITY };
    for (size_t i = 0; i < (gc ? 3 * (size_t)m->nv : 0); i++) {
        const int32_t c = root[m->body[i / 3]];
        if (o->held[i / 3] || c < 0) continue;
        abut_acc_add(&of[c].ce, gc[i] * ge[i]);
        abut_acc_add(&of[c].cc, gc[i] * gc[i]);
    }
    for (int32_t b = 0; b < (by_cluster(o) ? m->no : 0); b++) {
        const double mass = m->obj_node_mass[b];
        cluster *const in[] = { &of[m->no], &of[root[b] < 0 ? m->no : root[b]] };
        for (int k = 0; k < 2 && mass > 0; k++) in[k]->light = fmin(in[k]->light, mass), in[k]->heavy = fmax(in[k]->heavy, mass);
    }
}

abut_status abut_objective_set_kappa(abut_objective *o, const abut_pairs *pairs, const double *gc, const double *ge, int *changed,
                                     abut_arena *scratch, abut_err *err)
{
    const abut_model *m = o->model;
    const int keeps = !abut_scheme_is(abut_scheme_of(m), ABUT_SCHEME_PLAIN);
    const double by_area = o->cm.area ? m->pressure[0] * (o->w.h_force * o->w.h_force) : 0;
    const double fixed = o->cm.area ? abut_barrier_start_by_area(abut_barrier_state_of(&o->terms), by_area, keeps,
                                                                 pairs->n + pairs->n_plane) : 0;
    const double least = fixed > 0 ? fixed : m->kappa_min[0], most = fixed > 0 ? fixed : m->kappa_max[0];
    const abut_mark mark = abut_arena_mark(scratch);
    const size_t no = (size_t)m->no;
    int32_t *root = ABUT_NEW(scratch, int32_t, no);
    cluster *of = ABUT_NEW(scratch, cluster, no + 1);
    double *part = ABUT_NEW(scratch, double, no), *kappa = &abut_barrier_state_of(&o->terms)->kappa, largest = least;
    if (!root || !of || !part) return abut_fail(err, ABUT_E_NOMEM, "barrier stiffness: %zu objects", no);
    find_clusters(o, pairs, root);
    sum_clusters(o, root, gc, ge, of);
    for (size_t b = 0; b < no; b++) {
        const cluster *c = &of[root[b] < 0 ? m->no : root[b]];
        part[b] = least;
        if (root[b] < 0 || pairs->n + pairs->n_plane == 0) continue;
        const double balance = c->cc.hi > 0 ? -(c->ce.hi + c->ce.lo) / (c->cc.hi + c->cc.lo) : 0;
        /* the upper bound of the scene grows with the ratio of its masses (scene/build_parameters.c) */
        const double high = c->heavy > 0 ? fmax(least, most * (c->heavy / c->light / (of[no].heavy / of[no].light))) : most;
        part[b] = fmin(high, fmax(least, gc ? balance : *kappa * o->object.kappa_part[b]));
        largest = fmax(largest, part[b]);
    }
    *changed = 0;
    for (size_t b = 0; b < no; b++) {
        part[b] = by_cluster(o) && m->obj_node_mass[b] > 0 ? part[b] / largest : 1;
        *changed |= part[b] != o->object.kappa_part[b];
    }
    *kappa = largest;
    const abut_status rc = *changed ? abut_objective_part(o, part, err) : ABUT_OK;
    abut_arena_release(scratch, mark);
    return rc;
}

abut_status abut_objective_part(abut_objective *o, const double *part, abut_err *err)
{
    o->changes++;
    for (int32_t b = 0; b < o->model->no; b++) o->object.kappa_part[b] = part ? part[b] : 1;
    return abut_collmesh_part(&o->cm, part, err);
}

/* ---- rows of element sets ---- */

static abut_status reserve(struct abut_term_sets *s, size_t rows, size_t values, abut_err *err)
{
    if (rows > s->row_cap) {
        free(s->row);
        s->row_cap = rows + rows / 2;
        s->row = malloc(s->row_cap * sizeof *s->row);
        if (!s->row) s->row_cap = 0;
    }
    if (values > s->val_cap) {
        free(s->val);
        s->val_cap = values + values / 2;
        s->val = calloc(s->val_cap, sizeof *s->val);    /* unused corners are not written */
        if (!s->val) s->val_cap = 0;
    }
    if (rows <= s->row_cap && values <= s->val_cap) return ABUT_OK;
    return abut_fail(err, ABUT_E_NOMEM, "element matrices: %zu numbers", values);
}

/* set->row: rows of unknowns in place of nodes, or of the map to those in place of that to nodes */
static abut_status rows_of(const abut_objective *o, abut_elements *set, int32_t *row, abut_err *err)
{
    const size_t n = set->n * (size_t)set->corners;
    const int32_t *node = set->row;
    if (set->map) return abut_collmesh_map_set(&o->cm, o->row, o->nrow, node, row, &o->sets->W, set, err);
    #pragma omp parallel for schedule(static) if (n >= 8 * ABUT_PAR_MIN)
    for (size_t i = 0; i < n; i++) row[i] = node[i] < 0 ? -1 : o->row[node[i]];
    set->row = row;
    return ABUT_OK;
}

/* ---- their values ---- */

/* what all terms of a set have of its elements [lo, hi) */
static void hessians(const abut_objective *o, int owner, size_t lo, size_t hi, double *val)
{
    const abut_term *first = &o->terms.term[owner];
    const abut_at *at = &o->sets->at;
    first->ops->hessian(first->self, at, abut_objective_weight(o, first->ops, 2), lo, hi, val);
    for (int i = 0; i < o->terms.n; i++) {
        const abut_term *t = &o->terms.term[i];
        if (i == owner || !t->ops->set || !t->ops->hessian || strcmp(t->ops->set, first->ops->set)) continue;
        t->ops->hessian(t->self, at, abut_objective_weight(o, t->ops, 2), lo, hi, val);
    }
}

static void make_fused(void *ctx, size_t lo, size_t hi, double *val)
{
    const fused *f = ctx;
    hessians(f->o, f->owner, lo, hi, val);
}

/* the sets from number `first` on, neighbours of one shape as one; returns how many there are in all */
static int join(abut_elements *sets, int first, int n)
{
    int last = first;
    for (int k = first + 1; k < n; k++) {
        abut_elements *e = &sets[last];
        if (e->val && sets[k].val && e->corners == sets[k].corners && e->rank == sets[k].rank && e->map == sets[k].map)
            e->n += sets[k].n;
        else sets[++last] = sets[k];
    }
    return first < n ? last + 1 : n;
}

abut_status abut_objective_sets(const abut_objective *o, const abut_at *at, int first, abut_elements *sets, int *n, abut_err *err)
{
    struct abut_term_sets *s = o->sets;
    size_t rows = 1, values = 1;
    abut_status rc = ABUT_OK;
    s->at = *at;
    for (int k = first; k < o->nsets && !rc; k++) {
        const abut_term *t = &o->terms.term[s->owner[k]];
        sets[k] = (abut_elements){ .name = t->ops->set, .lasting = is_lasting(t->ops) };
        rc = t->ops->elements(t->self, &s->at, &sets[k], err);
        rows += (size_t)sets[k].corners * sets[k].n;
        values += t->ops->set_is & ABUT_SET_FUSED ? 0 : sets[k].n * abut_element_size(&sets[k]);
    }
    if (!rc) rc = reserve(s, rows, values, err);
    if (rc) return rc;
    int32_t *row = s->row;
    double *val = s->val;
    memset(s->H, 0, sizeof s->H);
    for (int k = first; k < o->nsets && !rc; k++) {
        const int is_fused = (o->terms.term[s->owner[k]].ops->set_is & ABUT_SET_FUSED) != 0;
        rc = rows_of(o, &sets[k], row, err);
        row += (size_t)sets[k].corners * sets[k].n;
        if (is_fused) {
            sets[k].make = make_fused;
            sets[k].ctx = &s->fused[k];
            continue;
        }
        if (sets[k].n) hessians(o, s->owner[k], 0, sets[k].n, val);
        s->H[k] = sets[k].val = val;
        val += sets[k].n * abut_element_size(&sets[k]);
    }
    *n = join(sets, o->lasting, o->nsets);
    return rc;
}

void abut_objective_diagonal(const abut_objective *o, double *diag)
{
    double *node = o->sets->node;
    memset(node, 0, (size_t)o->model->nv * sizeof *node);
    for (int i = 0; i < o->terms.n; i++) {
        const abut_term *t = &o->terms.term[i];
        if (t->ops->diagonal) t->ops->diagonal(t->self, &o->step, abut_objective_weight(o, t->ops, 2), node);
    }
    for (int32_t i = 0; i < o->model->nv; i++)
        if (o->row[i] >= 0) diag[o->row[i]] = node[i];
}

abut_status abut_objective_correction(const abut_objective *o, const abut_at *at, const double *d, const double *meant, double *g,
                                      double *cost, abut_arena *scratch, abut_err *err)
{
    abut_status rc = ABUT_OK;
    *cost = 0;
    for (int k = 0; k < o->nsets && !rc; k++) {
        const abut_term *t = &o->terms.term[o->sets->owner[k]];
        if (t->ops->correction) rc = t->ops->correction(t->self, at, d, meant, o->sets->H[k], g, cost, scratch, err);
    }
    return rc;
}

/* ---- points ---- */

abut_status abut_point_init(abut_point *p, const abut_objective *o, int which, abut_err *err)
{
    assert(o);
    const size_t nv3 = 3 * (size_t)o->model->nv;
    *p = (abut_point){ .stamp = (uint64_t)which, .e = { .sum = INFINITY } };
    if (ABUT_ARRAYS(ABUT_ZEROS(p->x, nv3), ABUT_ZEROS(p->z, nv3), ABUT_ZEROS(p->g, nv3),
                    ABUT_ZEROS(p->y, 3 * (size_t)o->model->nc))) return ABUT_OK;
    abut_point_clear(p);
    return abut_fail(err, ABUT_E_NOMEM, "step: %d nodes", o->model->nv);
}

void abut_point_clear(abut_point *p)
{
    ABUT_FREE(p->x, p->z, p->g, p->y);
    abut_pairs_clear(&p->pairs);
    *p = (abut_point){ 0 };
}

void abut_point_set(abut_point *p, const abut_objective *o, const double *from, double alpha, const double *d)
{
    const size_t n3 = 3 * (size_t)o->model->nv;
    if (d) {
        double *const x = p->x;
        #pragma omp parallel for schedule(static) if (n3 >= 8 * ABUT_PAR_MIN)
        for (size_t i = 0; i < n3; i++) x[i] = from[i] + alpha * d[i];
    } else if (from != p->x) {
        memcpy(p->x, from, n3 * sizeof *p->x);
    }
    const double reach = o->w.share, *x = p->x, *x0 = o->xn;
    double *const z = p->z;
    #pragma omp parallel for schedule(static) if (n3 >= 8 * ABUT_PAR_MIN)
    for (size_t i = 0; i < (reach == 1 ? 0 : n3); i++) z[i] = x0[i] + reach * (x[i] - x0[i]);
    abut_collmesh_positions(&o->cm, p->x, p->y);
    p->stamp += ABUT_POINTS;
    p->has = 0;
}

unsigned abut_point_missing(abut_point *p, const abut_objective *o, unsigned what)
{
    if (p->version != (uint64_t)o->changes && !(p->has & ABUT_IS_TOUCHING)) p->has &= ABUT_HAS_CONTACTS;
    p->version = (uint64_t)o->changes;
    return what & ~p->has;
}

void abut_point_put_energy(abut_point *p, const abut_energy *e)
{
    p->e = e ? *e : (abut_energy){ .sum = INFINITY };
    if (isnan(p->e.sum)) p->e.sum = INFINITY;
    p->has |= ABUT_HAS_ENERGY | (e ? 0 : ABUT_HAS_CONTACTS | ABUT_IS_TOUCHING);
}

abut_status abut_point_contacts(abut_point *p, const abut_objective *o, const abut_candidates *cand, abut_err *err)
{
    if (p->has & ABUT_HAS_CONTACTS) return ABUT_OK;
    const abut_status rc = abut_pairs_find(&o->cm, cand, p->y, o->cm.obstacle, &p->pairs, err);
    if (!rc) p->has |= ABUT_HAS_CONTACTS;
    return rc;
}

abut_status abut_point_evaluate(abut_point *p, const abut_objective *o, unsigned what, const abut_candidates *cand,
                                abut_arena *scratch, abut_err *err)
{
    const unsigned missing = abut_point_missing(p, o, what);
    const abut_at at = abut_point_at(p, o);
    abut_status rc = missing && cand ? abut_point_contacts(p, o, cand, err) : ABUT_OK;
    if (rc == ABUT_E_GEOM) {
        abut_point_put_energy(p, NULL);
        return ABUT_OK;
    }
    if (!rc && missing & ABUT_HAS_ENERGY) {
        abut_energy e;
        rc = abut_objective_energy(o, &at, &e, scratch, err);
        if (!rc) abut_point_put_energy(p, &e);
    }
    if (!rc && missing & ABUT_HAS_GRADIENT && !(p->has & ABUT_IS_TOUCHING)) {
        rc = abut_objective_gradient(o, &at, ABUT_KINDS_ALL, p->g, scratch, err);
        p->has |= rc ? 0 : ABUT_HAS_GRADIENT;
    }
    return rc;
}

abut_at abut_point_at(const abut_point *p, const abut_objective *o)
{
    return (abut_at){ p->x, o->w.share == 1 ? p->x : p->z, p->y, &p->pairs, &o->step };
}

void abut_point_swap(abut_point *a, abut_point *b)
{
    const abut_point c = *a;
    *a = *b;
    *b = c;
}
