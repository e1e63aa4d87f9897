/* Barriers, friction laws and materials: a row each, in the order of their numbers, which stand in streams: append only.
 *
 * A row has the last part of the name of its operations (abut_barrier_law_ID and abut_friction_law_ID of energy/contact_laws.h,
 * abut_material_ID of energy/material/materials.h), its name in scenes, and for a material what is true of it.  Included
 * for tables and declarations of the operations alone: few files depend on a row. */
#ifndef ABUT_MODEL_LAWS_TABLE_H
#define ABUT_MODEL_LAWS_TABLE_H

#include "model/laws.h"

#define ABUT_BARRIER_LAWS(LAW) \
    LAW(ipc_c0, "ipc-c0") \
    LAW(ipc_c1, "ipc-c1") \
    LAW(ipc, "ipc") \
    LAW(log2, "log2") \
    /* append here */

#define ABUT_FRICTION_LAWS(LAW) \
    LAW(c0, "c0") \
    LAW(c1, "c1") \
    LAW(c2, "c2") \
    /* append here */

#define ABUT_MATERIALS(MATERIAL) \
    MATERIAL(neo_hookean, "neo-hookean", ABUT_MATERIAL_INJECTIVE | ABUT_MATERIAL_PLANE | ABUT_MATERIAL_LAMBDA) \
    MATERIAL(fixed_corotated, "fixed-corotated", ABUT_MATERIAL_PLANE | ABUT_MATERIAL_LAMBDA) \
    MATERIAL(stable_neo_hookean, "stable-neo-hookean", 0) \
    MATERIAL(stvk, "stvk", ABUT_MATERIAL_PLANE) \
    MATERIAL(arap, "arap", 0) \
    MATERIAL(linear_corotated, "linear-corotated", 0) \
    MATERIAL(polynomial, "polynomial", 0) \
    MATERIAL(spline, "spline", 0) \
    MATERIAL(mooney_rivlin, "mooney-rivlin", ABUT_MATERIAL_INJECTIVE | ABUT_MATERIAL_SEVENTH) \
    MATERIAL(orthogonal, "orthogonal", ABUT_MATERIAL_INJECTIVE) \
    /* append here */

#endif
