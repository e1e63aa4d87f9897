/* Tets of order 2 to 4 that must not invert: det F > 0 everywhere in them, by certificates (geom/jacobian.h).  Called for such
 * tets by the functions of contact/intersect.h and contact/step_bound.h. */
#ifndef ABUT_CONTACT_CURVED_H
#define ABUT_CONTACT_CURVED_H

#include "contact/step_bound.h"
#include "geom/jacobian.h"
#include "model/tets.h"

/** 1 when tet t, or its rest shape, has order 2 or more. */
static inline int abut_is_curved(const abut_model *m, int32_t t) { return abut_tet_geometry_order(m, t) > 1; }
/** 1 when det F > 0 is not proven at x, and on the straight motion x0 -> x1. */
int abut_curved_inverted(const abut_model *m, int32_t t, const double *x);
int abut_curved_inverting(const abut_model *m, int32_t t, const double *x0, const double *x1);
/** Lower bound of det F over the tet; enough, at: of abut_jacobian_least_ratio, where `det` is det F. */
double abut_curved_jacobian(const abut_model *m, int32_t t, const double *x, double enough, abut_jacobian_at *at);
/** abut_limit_inversion for tets of order 2 and more alone. */
void abut_limit_curved(const abut_model *m, const double *x, const double *p, double slack, abut_limit *lim);

#endif
