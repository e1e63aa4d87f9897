/* Laws by number: those that have forms for four at a time and for a device (_FORMS: how many).  Others are functions of one
 * number (model/laws_table.h).  The numbers stand in streams. */
#ifndef ABUT_MODEL_LAWS_INLINE_H
#define ABUT_MODEL_LAWS_INLINE_H

#include "base/fn.h"

enum { ABUT_BARRIER_IPC_C0 = 0, ABUT_BARRIER_IPC_C1 = 1, ABUT_BARRIER_IPC = 2, ABUT_BARRIER_LOG2 = 3,
       ABUT_BARRIER_FORMS = 4 };
enum { ABUT_FRICTION_C0 = 0, ABUT_FRICTION_C1 = 1, ABUT_FRICTION_C2 = 2, ABUT_FRICTION_FORMS = 3 };
enum { ABUT_NEO_HOOKEAN = 0, ABUT_FIXED_COROTATED = 1, ABUT_STABLE_NEO_HOOKEAN = 2, ABUT_STVK = 3, ABUT_ARAP = 4,
       ABUT_LINEAR_COROTATED = 5, ABUT_POLYNOMIAL = 6, ABUT_MATERIAL_FORMS = 7, ABUT_SPLINE = 7 };

/** abut_material_injective (model/laws.h) of a material that has forms. */
ABUT_FN int abut_form_injective(int model) { return model == ABUT_NEO_HOOKEAN; }

#endif
