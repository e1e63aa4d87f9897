/* Constitutive models by number. */
#ifndef ABUT_MODEL_MATERIAL_INLINE_H
#define ABUT_MODEL_MATERIAL_INLINE_H

#include "base/fn.h"

/* Constitutive models; formulas in energy/material/density.h.  The numbers stand in streams: append only. */
enum { ABUT_NEO_HOOKEAN = 0, ABUT_FIXED_COROTATED = 1, ABUT_STABLE_NEO_HOOKEAN = 2, ABUT_STVK = 3, ABUT_ARAP = 4,
       ABUT_LINEAR_COROTATED = 5, ABUT_POLYNOMIAL = 6, ABUT_SPLINE = 7,
       ABUT_MATERIAL_MODELS = 8 /* how many */ };

/** 1 when the energy goes to infinity as an element collapses, so that the inversion filter keeps it positive. */
ABUT_FN int abut_material_injective(int model) { return model == ABUT_NEO_HOOKEAN; }

#endif
