#include "energy/friction_laws.h"

#define ROW(id, name) &abut_friction_law_##id,
const abut_friction_law_ops *const abut_friction_laws[] = { ABUT_FRICTION_LAWS(ROW) };
