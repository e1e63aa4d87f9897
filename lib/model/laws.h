/* Laws that a MODEL names by number: barriers, friction laws, materials.  Formulas: energy/contact_laws.h and
 * energy/material/materials.h. */
#ifndef ABUT_MODEL_LAWS_H
#define ABUT_MODEL_LAWS_H

#include "base/fn.h"

#include <stddef.h>

/* Laws by number: those that have forms for four at a time and for a device (_FORMS: how many).  Others are functions of one
 * number.  The numbers stand in streams. */
enum { ABUT_BARRIER_IPC_C0 = 0, ABUT_BARRIER_IPC_C1 = 1, ABUT_BARRIER_IPC = 2, ABUT_BARRIER_LOG2 = 3, ABUT_BARRIER_FORMS = 4 };
enum { ABUT_FRICTION_C0 = 0, ABUT_FRICTION_C1 = 1, ABUT_FRICTION_C2 = 2, ABUT_FRICTION_FORMS = 3 };
enum { ABUT_NEO_HOOKEAN = 0, ABUT_FIXED_COROTATED = 1, ABUT_STABLE_NEO_HOOKEAN = 2, ABUT_STVK = 3, ABUT_ARAP = 4,
       ABUT_LINEAR_COROTATED = 5, ABUT_POLYNOMIAL = 6, ABUT_MATERIAL_FORMS = 7, ABUT_SPLINE = 7,
       ABUT_ORTHOGONAL = 9 };

/** abut_material_injective of a material that has forms. */
ABUT_FN int abut_form_injective(int model) { return model == ABUT_NEO_HOOKEAN; }

/* Names in scenes and reports, by number; NULL at the end. */
extern const char *const abut_barrier_names[], *const abut_friction_names[], *const abut_material_names[];
/** Number of names. */
int abut_names_count(const char *const *names);

/* Traits of a material, by its number. */
enum {
    ABUT_MATERIAL_INJECTIVE = 1,    /* no element collapses, an inverted one is refused; the energy goes to infinity, or jumps */
    ABUT_MATERIAL_PLANE = 2,        /* an isotropic shell can be of it (energy/membrane.h) */
    ABUT_MATERIAL_SEVENTH = 8,      /* no lower bound with a Poisson's ratio below 1/7: lambda < 2/5 mu */
    ABUT_MATERIAL_LAMBDA = 4        /* no lower bound with a negative Poisson's ratio, which makes lambda negative: lambda/2
                                     * (ln J)^2 goes to -infinity as an element collapses, lambda/2 (J - 1)^2 as it grows, where
                                     * an energy has to go to +infinity (Ciarlet, Mathematical Elasticity I, 1988, 4.6) */
};
extern const unsigned char abut_material_traits[];

static inline int abut_material_is(int model, unsigned trait) { return (abut_material_traits[model] & trait) != 0; }
static inline int abut_material_injective(int model) { return abut_material_is(model, ABUT_MATERIAL_INJECTIVE); }

/** The least Poisson's ratio with which the energy has a lower bound; -1: any has. */
static inline double abut_material_least_poisson(int model)
{
    return abut_material_is(model, ABUT_MATERIAL_SEVENTH) ? 1. / 7 : abut_material_is(model, ABUT_MATERIAL_LAMBDA) ? 0 : -1;
}
static inline int abut_material_bounded(int model, double poisson) { return poisson >= abut_material_least_poisson(model); }
/* A format of that number. */
#define ABUT_MATERIAL_UNBOUNDED "%.4g or more for this model: with less its energy has no lower bound; stable-neo-hookean, " \
                                "stvk and linear-corotated have one"

/** text[n]: "stvk, neo-hookean or ...", the names of all materials with a trait. */
const char *abut_materials_with(unsigned trait, char *text, size_t n);

#endif
