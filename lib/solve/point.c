#include "solve/point.h"

#include "base/par.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

abut_status abut_point_init(abut_point *p, const abut_objective *o, int which, abut_err *err)
{
    assert(o);
    const size_t nv3 = 3 * (size_t)o->model->nv;
    *p = (abut_point){ .stamp = (uint64_t)which, .e = { .sum = INFINITY } };
    p->x = calloc(nv3, sizeof *p->x);
    p->z = calloc(nv3, sizeof *p->z);
    p->g = calloc(nv3, sizeof *p->g);
    p->y = calloc(3 * (size_t)o->model->nc + 1, sizeof *p->y);
    if (p->x && p->z && p->g && p->y) return ABUT_OK;
    abut_point_clear(p);
    return abut_fail(err, ABUT_E_NOMEM, "step: %d nodes", o->model->nv);
}

void abut_point_clear(abut_point *p)
{
    free(p->x);
    free(p->z);
    free(p->g);
    free(p->y);
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
