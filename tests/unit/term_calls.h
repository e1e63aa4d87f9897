/* Terms of the table called by their operations, at x for both of their points. */
#ifndef TEST_TERM_CALLS_H
#define TEST_TERM_CALLS_H

#include "energy/term.h"

#include "check.h"

#define DECLARED(name) extern const abut_term_ops abut_term_##name;
DECLARED(attachment) DECLARED(codim_damping) DECLARED(curved_rods) DECLARED(damping)
DECLARED(drag) DECLARED(pressure) DECLARED(spring)

static inline void *term_make(const abut_term_ops *ops, const abut_model *m)
{
    void *self = NULL;
    const abut_term_world w = { .model = m };
    CHECK(!ops->make(&self, &w, NULL) && self);
    return self;
}

/** The energy, J; NAN: it fails. */
static inline double term_energy(const abut_term_ops *ops, const void *self, const double *x)
{
    abut_arena scratch = { 0 };
    double e = NAN;
    const abut_term_step step = { .inertia = 1, .reach = 1 };
    CHECK(!ops->energy((void *)self, &(abut_at){ .x = x, .z = x, .step = &step }, 1, &e, &scratch, NULL));
    abut_arena_clear(&scratch);
    return e;
}

/** g[3 nv] += scale times the gradient. */
static inline void term_gradient(const abut_term_ops *ops, const void *self, const double *x, double scale, double *g)
{
    abut_arena scratch = { 0 };
    const abut_term_step step = { .inertia = 1, .reach = 1 };
    CHECK(!ops->gradient((void *)self, &(abut_at){ .x = x, .z = x, .step = &step }, scale, g, &scratch, NULL));
    abut_arena_clear(&scratch);
}

/** H: scale times the matrices of n elements, or added to them, as the operation says. */
static inline void term_hessian(const abut_term_ops *ops, const void *self, const double *x, double scale, int as_is, size_t n,
                                double *H)
{
    const abut_term_step step = { .inertia = 1, .reach = 1, .as_is = as_is };
    ops->hessian((void *)self, &(abut_at){ .x = x, .z = x, .step = &step }, scale, 0, n, H);
}

/** The energy at x of the damping of masses and tets, k 0, or of thin elements, k 1, in a step from c of this weight.
 * damping  the instance of both terms */
static inline double damping_energy(void *damping, int k, const double *x, const double *c, double weight)
{
    abut_arena scratch = { 0 };
    double e = NAN;
    const abut_term_step step = { .x_damp = c, .damping = weight };
    const abut_at at = { .x = x, .z = x, .step = &step };
    CHECK(!(k ? abut_term_codim_damping : abut_term_damping).energy(damping, &at, 1, &e, &scratch, NULL));
    abut_arena_clear(&scratch);
    return e;
}

/** g[3 nv] += the gradient of both. */
static inline void damping_gradient(void *damping, const double *x, const double *c, double weight, double *g)
{
    abut_arena scratch = { 0 };
    const abut_term_step step = { .x_damp = c, .damping = weight };
    const abut_at at = { .x = x, .z = x, .step = &step };
    CHECK(!abut_term_damping.gradient(damping, &at, 1, g, &scratch, NULL));
    CHECK(!abut_term_codim_damping.gradient(damping, &at, 1, g, &scratch, NULL));
    abut_arena_clear(&scratch);
}

#endif
