#include "solve/search/equilibrium.h"

#include "energy/mass.h"

#include <math.h>
#include <string.h>

#define FAINT 1e-9  /* of the force that strains a body by 1, or moves it by its length */

/* the kinds of nodal forces that are summed up by object; nodes whose forces are taken at a time */
enum { LEFT, CONTACT, LOAD, WEIGHT, PRESSURE, HOLD, ROUNDING, KINDS, AT_ONCE = 1 << 16 };

/* Gradients of the terms that each is of; load: xhat less x, NULL: masses are diagonal; near: all, a rounding away, or NULL. */
typedef struct forces {
    const double *g, *contact, *pressure, *elastic, *load, *near;
} forces;

static double magnitude(const double *f) { return sqrt(abut_v3_norm2(abut_v3_get(f))); }

/* Magnitudes of the forces of node i. */
static void node_sizes(const abut_objective *p, const double *x, int32_t i, const forces *of, double size[KINDS])
{
    const abut_model *m = p->model;
    const size_t at = 3 * (size_t)i;
    memset(size, 0, KINDS * sizeof *size);
    size[CONTACT] = magnitude(of->contact + at);
    if (p->held[i]) {
        size[HOLD] = magnitude(of->elastic + at) / p->w.late;   /* the objective weighs the forces of both ends */
        return;
    }
    size[LEFT] = magnitude(of->g + at);
    if (of->near) size[ROUNDING] = abut_v3_norm(abut_v3_diff(of->g + at, of->near + at)) / m->force_tolerance[0];
    if (of->load) {
        double f[3];
        abut_mass_row(abut_mass_of(&p->terms), of->load, i, f);
        size[LOAD] = magnitude(f);
    } else {
        const double *from = p->w.inertia ? x + at : p->xn + at;
        const double d[3] = { p->xhat[at] - from[0], p->xhat[at + 1] - from[1], p->xhat[at + 2] - from[2] };
        size[LOAD] = m->mass[i] * magnitude(d);
    }
    size[WEIGHT] = m->mass[i] * magnitude(m->gravity) * p->w.h_force * p->w.h_force;
    size[PRESSURE] = magnitude(of->pressure + at) / p->w.late;
}

/* sum[no] += the magnitudes of all nodes, in their order. */
static abut_status add_sizes(const abut_objective *p, const double *x, const forces *of, double (*sum)[KINDS],
                             abut_arena *scratch, abut_err *err)
{
    const abut_model *m = p->model;
    const int32_t most = m->nv < AT_ONCE ? m->nv : AT_ONCE;
    double (*size)[KINDS] = (double (*)[KINDS])ABUT_ROOM(scratch, double, KINDS * (size_t)most + 1);
    if (!size) return abut_fail(err, ABUT_E_NOMEM, "balance of forces: %d nodes", m->nv);
    for (int32_t lo = 0; lo < m->nv; lo += most) {
        const int32_t n = m->nv - lo < most ? m->nv - lo : most;
        #pragma omp parallel for schedule(static) if ((size_t)n >= ABUT_PAR_MIN)
        for (int32_t i = 0; i < n; i++) node_sizes(p, x, lo + i, of, size[i]);
        for (int32_t i = 0; i < n; i++)
            for (int k = 0; k < KINDS; k++) sum[m->body[lo + i]][k] += size[i][k];
    }
    return ABUT_OK;
}

/* Returns the force on object b, N, below which its positions cannot be distinguished from rounding; by inertia without
 * elasticity; 0: an obstacle. */
static double faint_force(const abut_objective *p, int32_t b)
{
    const struct abut_object_sizes *o = &p->object;
    if (o->stiffness[b] > 0) return FAINT * o->stiffness[b] / o->length[b];
    return FAINT * o->mass[b] * o->length[b] / (p->w.h_force * p->w.h_force);
}

static void largest_sums(const abut_objective *p, const double (*sum)[KINDS], abut_equilibrium *e, double *each)
{
    const double scale = p->w.h_force * p->w.h_force;
    *e = (abut_equilibrium){ .left = 0 };
    for (int32_t b = 0; b < p->model->no; b++) {
        const double left = sum[b][LEFT] / scale;
        double largest = faint_force(p, b);
        for (int k = CONTACT; k < KINDS; k++) largest = fmax(largest, sum[b][k] / scale);
        e->of_all = fmax(e->of_all, largest);
        if (each) each[b] = largest;
        if (e->largest > 0 && !(left * e->largest > e->left * largest)) continue;
        e->left = left, e->largest = largest;
        e->object = b;
    }
}

abut_status abut_equilibrium_find(const abut_objective *p, const abut_point *point, const abut_point *near, abut_equilibrium *e,
                                  double *each, abut_arena *scratch, abut_err *err)
{
    const abut_model *m = p->model;
    const size_t n3 = 3 * (size_t)m->nv;
    const abut_mark mark = abut_arena_mark(scratch);
    double *contact = ABUT_NEW(scratch, double, n3), *elastic = ABUT_NEW(scratch, double, n3);
    double *pressure = ABUT_NEW(scratch, double, n3);
    double *load = abut_mass_of(&p->terms)->order ? ABUT_NEW(scratch, double, n3) : NULL;
    double (*sum)[KINDS] = (double (*)[KINDS])ABUT_NEW(scratch, double, KINDS * (size_t)m->no);
    if (!contact || !elastic || !pressure || !sum || (!load && abut_mass_of(&p->terms)->order))
        return abut_fail(err, ABUT_E_NOMEM, "balance of forces: %d nodes", m->nv);
    const abut_at at = abut_point_at(point, p);
    for (size_t i = 0; i < n3 && load; i++) load[i] = p->xhat[i] - (p->w.inertia ? at.x : p->xn)[i];
    abut_status rc = abut_objective_gradient_add(p, &at, 1 << ABUT_TERM_CONTACT, contact, scratch, err);
    if (!rc) rc = abut_objective_gradient_add(p, &at, ABUT_KINDS_POTENTIAL, elastic, scratch, err);
    if (!rc) rc = abut_objective_gradient_add(p, &at, 1 << ABUT_TERM_FOLLOWER, pressure, scratch, err);
    const forces of = { point->g, contact, pressure, elastic, load, near ? near->g : NULL };
    if (!rc) rc = add_sizes(p, at.x, &of, sum, scratch, err);
    if (!rc) largest_sums(p, (const double (*)[KINDS])sum, e, each);
    abut_arena_release(scratch, mark);
    return rc;
}
