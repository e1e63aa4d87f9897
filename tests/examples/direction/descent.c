/* Scaled gradient descent: p = -D^-1 g, D the diagonal blocks of the Newton matrix.  Where p is short, or has led nowhere,
 * Newton's direction is taken: it alone tells how far the minimum is. */
#include "math/mat3.h"
#include "solve/direction/matrix.h"
#include "solve/direction.h"

#include <math.h>
#include <stdlib.h>

typedef struct descent {
    const abut_objective *p;
    abut_newton_matrix matrix;
    abut_ordering order;
    abut_direction newton;
    int required;           /* the next direction shall be Newton's */
} descent;

static void release(void *self)
{
    descent *d = self;
    abut_newton_matrix_clear(&d->matrix);
    abut_ordering_clear(&d->order);
    abut_direction_clear(&d->newton);
    free(d);
}

static abut_status make(void **self, const abut_objective *p, const abut_direction_options *opt, abut_err *err)
{
    descent *d = calloc(1, sizeof *d);
    if (!d) return abut_fail(err, ABUT_E_NOMEM, "gradient descent");
    d->p = p;
    abut_status rc = abut_newton_matrix_init(&d->matrix, p, opt->user->search.without, err);
    if (!rc) rc = abut_ordering_init(&d->order, p->model->nv, NULL, err);
    if (!rc) rc = abut_direction_make(&d->newton, &abut_direction_newton, p, opt, err);
    if (rc) release(d);
    else *self = d;
    return rc;
}

static void begin_step(void *self)
{
    descent *d = self;
    abut_ordering_begin_step(&d->order, &d->matrix.A);
    d->newton.ops->begin_step(d->newton.self);
}

static void require_exact(void *self)
{
    ((descent *)self)->required = 1;
}

static abut_status find(void *self, const abut_point *at, double *dir, abut_direction_info *info, abut_report *rep,
                        abut_err *err)
{
    descent *d = self;
    const abut_objective *p = d->p;
    double longest = 0, inverse[9];
    *info = (abut_direction_info){ .bad_node = -1 };
    const abut_status rc = abut_newton_matrix_sum(&d->matrix, &d->order, p, at, rep, err);
    for (int32_t i = 0; i < p->model->nv && !rc; i++) {
        const double *block = p->row[i] < 0 ? NULL : d->matrix.A.val + 9 * d->matrix.A.ptr[p->row[i]];
        if (block && !(abut_m3_inverse(inverse, block) > 0)) d->required = 1;
        for (int k = 0; k < 3; k++) {
            const double *r = inverse + 3 * k, *g = at->g + 3 * i;
            dir[3 * i + k] = block ? -(r[0] * g[0] + r[1] * g[1] + r[2] * g[2]) : 0;
            longest = fmax(longest, fabs(dir[3 * i + k]));
        }
    }
    if (rc || !(d->required || longest <= p->model->h[0] * p->model->tolerance[0])) return rc;
    d->required = 0;
    d->newton.ops->require_exact(d->newton.self);
    return d->newton.ops->find(d->newton.self, at, dir, info, rep, err);
}

const abut_direction_ops abut_direction_descent = {
    .name = "descent", .make = make, .begin_step = begin_step, .find = find, .require_exact = require_exact, .free = release,
};
