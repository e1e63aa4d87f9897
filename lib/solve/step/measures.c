#include "solve/step/measures.h"

#include "base/timer.h"
#include "contact/intersect.h"
#include "energy/curved_rod.h"
#include "energy/friction.h"
#include "energy/joint.h"
#include "solve/search/rules.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- a state ---- */

static int simulated(const abut_model *m, int32_t i) { return m->role[i] != ABUT_NODE_OBSTACLE; }
static double value(abut_acc a) { return a.hi + a.lo; }

/* u_i . (M v)_i */
static double product(const abut_mass *M, int32_t i, const double *u, const double *v)
{
    double f[3];
    abut_mass_row(M, v, i, f);
    return abut_v3_dot(abut_v3_get(f), abut_v3_get(u + 3 * (size_t)i));
}

double abut_kinetic_energy(const abut_mass *M, const double *v)
{
    const abut_model *m = M->model;
    abut_acc sum = { 0, 0 };
    for (int32_t i = 0; i < m->nv; i++) {
        if (!simulated(m, i)) continue;
        abut_acc_add(&sum, abut_mass_order(M, i) ? 0.5 * product(M, i, v, v)
                                                 : 0.5 * m->mass[i] * abut_v3_norm2(abut_v3_get(v + 3 * i)));
    }
    return value(sum);
}

double abut_gravity_energy(const abut_mass *M, const double *x)
{
    const abut_model *m = M->model;
    const abut_vec3 g = abut_v3_get(m->gravity);
    abut_acc sum = { 0, 0 };
    for (int32_t i = 0; i < m->nv; i++) {
        double f[3];
        if (!simulated(m, i)) continue;
        if (abut_mass_order(M, i)) abut_mass_row(M, x, i, f);
        abut_acc_add(&sum, abut_mass_order(M, i) ? -abut_v3_dot(g, abut_v3_get(f))
                                                 : -m->mass[i] * abut_v3_dot(g, abut_v3_get(x + 3 * i)));
    }
    return value(sum);
}

void abut_linear_momentum(const abut_mass *M, const double *v, double p[3]) { abut_mass_total(M, v, p); }

void abut_angular_momentum(const abut_mass *M, const double *x, const double *v, double l[3])
{
    const abut_model *m = M->model;
    abut_acc sum[3] = { { 0, 0 } };
    for (int32_t i = 0; i < m->nv; i++) {
        double f[3];
        if (!simulated(m, i)) continue;
        const int consistent = abut_mass_order(M, i);
        if (consistent) abut_mass_row(M, v, i, f);
        const double mass = consistent ? 1 : m->mass[i];
        const abut_vec3 c = abut_v3_cross(abut_v3_get(x + 3 * i), abut_v3_get(consistent ? f : v + 3 * i));
        abut_acc_add(&sum[0], mass * c.x);
        abut_acc_add(&sum[1], mass * c.y);
        abut_acc_add(&sum[2], mass * c.z);
    }
    for (int k = 0; k < 3; k++) l[k] = value(sum[k]);
}

void abut_mass_center(const abut_mass *M, const double *x, double c[3])
{
    const abut_model *m = M->model;
    double mass = 0;
    for (int32_t i = 0; i < m->nv; i++) mass += simulated(m, i) ? m->mass[i] : 0;
    abut_linear_momentum(M, x, c);
    for (int k = 0; k < 3; k++) c[k] = mass > 0 ? c[k] / mass : 0;
}

/* ---- rotation ---- */

#define ROTATES 0.5     /* of the angular momentum that the energy allows: vibrations have less */

/* Sums over the nodes of an object; the last three vectors are about the origin. */
typedef struct rotation {
    double mass, held, energy2, square;     /* v.(M v), x.(M x) */
    abut_vec3 p, p1, q;                     /* M v, M v1, M x */
    abut_vec3 l, change;                    /* x cross (M v), v1 cross (M v) */
} rotation;

/* (M u)_i */
static abut_vec3 row_of(const abut_mass *M, const double *u, int32_t i)
{
    double f[3];
    if (!abut_mass_order(M, i)) return abut_v3_scale(M->model->mass[i], abut_v3_get(u + 3 * (size_t)i));
    abut_mass_row(M, u, i, f);
    return abut_v3_get(f);
}

static void add_rotation(rotation *r, const abut_objective *p, const double *v, const double *v1, int32_t i)
{
    const abut_mass *M = abut_mass_of(&p->terms);
    const abut_vec3 x = abut_v3_get(p->xn + 3 * (size_t)i), mv = row_of(M, v, i), mx = row_of(M, p->xn, i);
    const abut_vec3 w = abut_v3_get(v1 + 3 * (size_t)i);
    r->mass += M->model->mass[i];
    r->held += p->held[i];
    r->energy2 += abut_v3_dot(abut_v3_get(v + 3 * (size_t)i), mv);
    r->square += abut_v3_dot(x, mx);
    r->p = abut_v3_add(r->p, mv);
    r->p1 = abut_v3_add(r->p1, row_of(M, v1, i));
    r->q = abut_v3_add(r->q, mx);
    r->l = abut_v3_add(r->l, abut_v3_cross(x, mv));
    r->change = abut_v3_add(r->change, abut_v3_cross(w, mv));
}

abut_status abut_spin_taken(const abut_objective *p, const double *v, const double *v1, double least, double *taken,
                            abut_arena *scratch, abut_err *err)
{
    const abut_model *m = p->model;
    const abut_mark mark = abut_arena_mark(scratch);
    rotation *of = ABUT_NEW(scratch, rotation, (size_t)m->no + 1);
    double had = 0, lost = 0;
    if (!of) return abut_fail(err, ABUT_E_NOMEM, "rotation of %d objects", m->no);
    for (int32_t i = 0; i < m->nv; i++)
        if (simulated(m, i)) add_rotation(of + m->body[i], p, v, v1, i);
    for (const rotation *r = of; r < of + m->no; r++) {
        if (r->held > 0 || !(r->mass > 0)) continue;
        const double by = 1 / r->mass, energy2 = r->energy2 - by * abut_v3_norm2(r->p);
        const abut_vec3 l = abut_v3_sub(r->l, abut_v3_scale(by, abut_v3_cross(r->q, r->p)));
        const abut_vec3 change = abut_v3_sub(r->change, abut_v3_scale(by, abut_v3_cross(r->p1, r->p)));
        const double inertia = r->square - by * abut_v3_norm2(r->q), size = sqrt(abut_v3_norm2(l));
        if (energy2 < 2 * least || size < ROTATES * sqrt(energy2 * inertia)) continue;
        had += size;
        lost -= m->h[0] * abut_v3_dot(change, l) / size;
    }
    *taken = had > 0 ? lost / had : 0;
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

/* ---- forces ---- */

static double force_scale(const abut_objective *p)
{
    return p->w.h_force * p->w.h_force;
}

/* Converts a gradient of the objective to a force. */
static void to_newtons(const abut_objective *p, double scale, double *f)
{
    for (int32_t i = 0; i < 3 * p->model->nv; i++) f[i] = 0 - f[i] / scale;  /* 0 stays +0 */
}

static void clear_obstacles(const abut_model *m, double *f)
{
    for (int32_t i = 0; i < m->nv; i++)
        if (!simulated(m, i)) f[3 * i] = f[3 * i + 1] = f[3 * i + 2] = 0;
}

static void zero(const abut_solved *s, double *f)
{
    memset(f, 0, 3 * (size_t)s->objective->model->nv * sizeof *f);
}

abut_status abut_force(const abut_solved *s, abut_term_kind kind, double *f, abut_arena *scratch, abut_err *err)
{
    const abut_objective *p = s->objective;
    const abut_at at = abut_objective_at(p, s->x, s->y, s->pairs);
    zero(s, f);
    const abut_status rc = abut_objective_gradient_add(p, &at, 1 << kind, f, scratch, err);
    to_newtons(p, kind == ABUT_TERM_DAMPING ? p->w.smooth : force_scale(p), f);
    if (kind == ABUT_TERM_DAMPING) clear_obstacles(p->model, f);
    return rc;
}

void abut_force_friction_half_spaces(const abut_solved *s, double *f)
{
    assert(s);
    const abut_objective *p = s->objective;
    const abut_at at = abut_objective_at(p, s->x, s->y, s->pairs);
    const abut_stiction law = abut_stiction_of(p->model, at.step);
    const size_t n = 3 * (size_t)p->model->nh;
    memset(f, 0, n * sizeof *f);
    abut_friction_gradient_half_spaces(abut_lag_of(&p->terms), &p->cm, &law, s->x, s->y, at.step->x_ref, f);
    for (size_t i = 0; i < n; i++) f[i] = 0 - f[i] / force_scale(p);
}

abut_status abut_force_damping_start(const abut_solved *s, double *f, abut_arena *scratch, abut_err *err)
{
    assert(s);
    zero(s, f);
    const abut_status rc = abut_objective_damping_force(s->objective, s->v0, f, scratch, err);
    clear_obstacles(s->objective->model, f);
    return rc;
}

abut_status abut_force_elastic(const abut_solved *s, const double *x, double *f, abut_arena *scratch, abut_err *err)
{
    zero(s, f);
    const abut_at at = abut_objective_at(s->objective, x, NULL, NULL);
    return abut_objective_potential_gradient(s->objective, &at, -1, f, scratch, err);
}

/* ---- balance and work ---- */

/* Mean of a force over the step in the scheme; late: weight of the end. */
static double mean(double late, const double *now, const double *last, int32_t i)
{
    if (late == ABUT_NEWMARK_GAMMA) return 0.5 * (last[i] + now[i]);
    return late == 1 ? now[i] : (1 - late) * last[i] + late * now[i];
}

/* Inertial part at coordinate i, m/s^2: the acceleration less that of the loads. */
static double inertial(const abut_solved *s, int32_t i)
{
    const double dv = abut_integrator_change(s->objective->w.scheme, s->v, s->v0, s->past_v, (size_t)i);
    return s->objective->w.inertia * dv / s->objective->model->h[0] - mean(s->objective->w.late, s->acc, s->acc0, i);
}

/* f[3 nv] = M a, N, with a[3 nv] by `of`; 0 on obstacles. */
static abut_status mass_force(const abut_solved *s, double (*of)(const abut_solved *s, int32_t i), double *f, abut_arena *scratch,
                              abut_err *err)
{
    const abut_mass *M = abut_mass_of(&s->objective->terms);
    const abut_model *m = M->model;
    const size_t n3 = 3 * (size_t)m->nv;
    const abut_mark mark = abut_arena_mark(scratch);
    double *a = ABUT_ROOM(scratch, double, n3 + 1);
    if (!a) return abut_fail(err, ABUT_E_NOMEM, "balance of forces: %zu numbers", n3);
    for (size_t i = 0; i < n3; i++) a[i] = simulated(m, (int32_t)(i / 3)) ? of(s, (int32_t)i) : 0;
    abut_mass_multiply(M, a, f);
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

abut_status abut_balance(const abut_solved *s, const abut_forces *now, const abut_forces *last, double *f, abut_arena *scratch,
                         abut_err *err)
{
    const abut_model *m = s->objective->model;
    const double late = s->objective->w.late, touch = s->objective->w.late_contact;
    const abut_status rc = mass_force(s, inertial, f, scratch, err);
    for (int32_t i = 0; i < 3 * m->nv && !rc; i++) {
        const double inertia = f[i];
        f[i] = -mean(touch, now->contact, last->contact, i) - mean(touch, now->friction, last->friction, i) -
               mean(late, now->elastic, last->elastic, i);
        if (simulated(m, i / 3)) f[i] += inertia - mean(late, now->damping, last->damping, i);
    }
    const abut_joints *joints = abut_joints_of(&s->objective->terms);
    const abut_at at = abut_objective_at(s->objective, s->x, s->y, s->pairs);
    const abut_mark mark = abut_arena_mark(scratch);
    double *of = joints && !rc ? ABUT_NEW(scratch, double, 3 * (size_t)m->nv) : NULL;
    if (joints && !rc && !of) return abut_fail(err, ABUT_E_NOMEM, "forces of joints: %d nodes", m->nv);
    if (of) abut_joints_force(joints, &at, of);
    for (int32_t i = 0; i < 3 * m->nv && of; i++) f[i] -= of[i];
    abut_arena_release(scratch, mark);
    return rc;
}

double abut_work(const abut_solved *s, double late, const double *now, const double *last)
{
    abut_acc sum = { 0, 0 };
    for (int32_t i = 0; i < 3 * s->objective->model->nv; i++)
        abut_acc_add(&sum, mean(late, now, last, i) * (s->x[i] - s->objective->xn[i]));
    return value(sum);
}

abut_status abut_work_clamps(const abut_objective *p, const double *x, double *work, abut_err *err)
{
    const abut_at at = abut_objective_at(p, x, NULL, NULL), start = { p->xn, p->xn, NULL, NULL, &p->step };
    double now, last = 0;
    abut_status rc = abut_curved_rods_reaction(&p->terms, &at, &now, err);
    if (!rc && p->w.late != 1) rc = abut_curved_rods_reaction(&p->terms, &start, &last, err);
    *work = p->w.late * now + (1 - p->w.late) * last;
    return rc;
}

/* All but gravity, m/s^2. */
static double scripted(const abut_solved *s, int32_t i)
{
    return mean(s->objective->w.late, s->acc, s->acc0, i) - s->objective->model->gravity[i % 3];
}

abut_status abut_work_load(const abut_solved *s, double *work, abut_arena *scratch, abut_err *err)
{
    const abut_model *m = s->objective->model;
    const abut_mark mark = abut_arena_mark(scratch);
    double *f = ABUT_ROOM(scratch, double, 3 * (size_t)m->nv + 1);
    if (!f) return abut_fail(err, ABUT_E_NOMEM, "work of loads: %d nodes", m->nv);
    const abut_status rc = mass_force(s, scripted, f, scratch, err);
    abut_acc sum = { 0, 0 };
    for (int32_t i = 0; i < 3 * m->nv && !rc; i++)
        if (simulated(m, i / 3)) abut_acc_add(&sum, f[i] * (s->x[i] - s->objective->xn[i]));
    abut_arena_release(scratch, mark);
    *work = value(sum);
    return rc;
}

abut_status abut_potentials(const abut_solved *s, const double *x, const double *y, const abut_pairs *pairs, double *elastic,
                            double *barrier, abut_arena *scratch, abut_err *err)
{
    const abut_objective *p = s->objective;
    const abut_at at = { x, x, y, pairs, &p->step };
    double b = 0;
    abut_status rc = abut_objective_potential(p, x, elastic, scratch, err);
    if (!rc) rc = abut_objective_energy_of(p, &at, 1 << ABUT_TERM_CONTACT, &b, scratch, err);
    *barrier = b / force_scale(p);
    return rc;
}

/* ---- friction contacts ---- */

abut_creep abut_creep_find(const abut_objective *p, const double *x)
{
    const abut_lag *lag = abut_lag_of(&p->terms);
    const double threshold = p->w.eps_v * p->w.h_force, speed = p->model->eps_v[0] / threshold;
    abut_creep c = { 0 };
    abut_acc sum = { 0, 0 };
    for (size_t i = 0; i < lag->n; i++) {
        const double slid = abut_friction_slid(lag, i, x, p->still);
        if (slid >= threshold) {
            c.sliding++;
            continue;
        }
        c.sticking++;
        c.max = fmax(c.max, speed * slid);
        abut_acc_add(&sum, speed * slid);
    }
    c.mean = c.sticking ? value(sum) / c.sticking : 0;
    return c;
}

int32_t abut_creep_about_to_slide(const abut_objective *p, const double *x, const double *to)
{
    const abut_lag *lag = abut_lag_of(&p->terms);
    const double threshold = p->w.eps_v * p->w.h_force;
    int32_t n = 0;
    for (size_t i = 0; i < lag->n; i++)
        n += abut_rule_lets_go(abut_friction_slid(lag, i, x, p->still), abut_friction_slid(lag, i, to, p->still), threshold);
    return n;
}

void abut_report_motion(const abut_objective *p, const double *x, const double *v, abut_report *rep)
{
    const abut_mass *mass = abut_mass_of(&p->terms);
    rep->kinetic = abut_kinetic_energy(mass, v);
    rep->gravity = abut_gravity_energy(mass, x);
    abut_linear_momentum(mass, v, rep->momentum);
    abut_angular_momentum(mass, x, v, rep->angular);
}

void abut_report_plain(const abut_objective *p, const double *x, const double *v, abut_report *rep)
{
    int32_t flattest;
    abut_report_motion(p, x, v, rep);
    rep->min_jacobian = abut_smallest_jacobian(p->model, x, &flattest);
    rep->min_jacobian_tet = abut_objective_tet(p, flattest);
    rep->passes = 1;
    rep->eta = 1;
    rep->lag_residual = -1;
    rep->memory_peak = abut_memory_peak();
}
