#include "energy/barrier_laws.h"

#define ROW(id, name) &abut_barrier_law_##id,
const abut_barrier_law_ops *const abut_barrier_laws[] = { ABUT_BARRIER_LAWS(ROW) };
