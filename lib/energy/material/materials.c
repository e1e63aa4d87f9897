#include "energy/material/materials.h"

#define ROW(id, name, traits) &abut_material_##id,
const abut_material_ops *const abut_materials[] = { ABUT_MATERIALS(ROW) };
