#include "energy/attachment.h"

#include "base/par.h"
#include "energy/spring_inline.h"
#include "energy/term.h"
#include "sparse/elements.h"

static void stretch(const abut_model *m, int32_t a, const double *x, double r[3])
{
    const size_t at = (size_t)a;
    abut_attachment_stretch(m->attach_node + 5 * at, m->attach_weight + 4 * at, m->tie_offset + 3 * at, x, r);
}

double abut_attachment_energy(const abut_model *m, const double *x)
{
    abut_acc sum = { 0, 0 };
    for (int32_t a = 0; a < m->na; a++) {
        double r[3];
        stretch(m, a, x, r);
        abut_acc_add(&sum, 0.5 * m->attach_stiffness[a] * (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]));
    }
    return sum.hi + sum.lo;
}

void abut_attachment_gradient(const abut_model *m, const double *x, double scale, double *g)
{
    for (int32_t a = 0; a < m->na; a++) {
        const int32_t *v = m->attach_node + 5 * (size_t)a;
        const double k = scale * m->attach_stiffness[a];
        double r[3];
        stretch(m, a, x, r);
        for (int d = 0; d < 3; d++) {
            g[3 * (size_t)v[0] + (size_t)d] += k * r[d];
            for (int j = 0; j < 4; j++)
                if (v[1 + j] >= 0) g[3 * (size_t)v[1 + j] + (size_t)d] -= k * m->attach_weight[4 * (size_t)a + (size_t)j] * r[d];
        }
    }
}

void abut_attachment_hessian(const abut_model *m, double scale, double *H)
{
    for (size_t a = 0; a < (size_t)m->na; a++)
        abut_attachment_hessian_one(m->attach_node + 5 * a, m->attach_weight + 4 * a, scale * m->attach_stiffness[a],
                                    H + abut_packed_size(5) * a);
}

/* ---- as a term ---- */

static abut_status make(void **self, const abut_term_world *w, abut_err *err)
{
    return w->model->na ? abut_term_make_plain(self, w, err) : ABUT_OK;
}

static abut_status energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    (void)scratch, (void)err;
    *e = scale * abut_attachment_energy(((const abut_term_world *)self)->model, at->z);
    return ABUT_OK;
}

static abut_status gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    (void)scratch, (void)err;
    abut_attachment_gradient(((const abut_term_world *)self)->model, at->z, scale, g);
    return ABUT_OK;
}

static abut_status elements(void *self, const abut_at *at, abut_elements *set, abut_err *err)
{
    const abut_model *m = ((const abut_term_world *)self)->model;
    (void)at, (void)err;
    set->corners = 5, set->n = (size_t)m->na, set->row = m->attach_node;
    return ABUT_OK;
}

static void hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    (void)at, (void)lo, (void)hi;
    abut_attachment_hessian(((const abut_term_world *)self)->model, scale, val);
}

static abut_status constant(void *self, const double fit[2], double scale, double *val, abut_err *err)
{
    (void)fit, (void)err;
    abut_attachment_hessian(((const abut_term_world *)self)->model, scale, val);
    return ABUT_OK;
}

const abut_term_ops abut_term_attachment = { .name = "attachment", .kind = ABUT_TERM_POTENTIAL, .weight = ABUT_TERM_AT_Z,
                                             .make = make, .energy = energy, .gradient = gradient,
                                             .set = "attachments", .set_is = ABUT_SET_LASTS, .elements = elements,
                                             .hessian = hessian, .constant = constant, .free = free };
