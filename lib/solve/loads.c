#include "solve/loads.h"

#include "energy/mass.h"
#include "energy/pressure.h"
#include "model/motion.h"

#include <string.h>

abut_status abut_loads_explicit(const abut_objective *p, double time, double *acc, double *room, abut_arena *scratch,
                                abut_err *err)
{
    const abut_air *air = abut_air_of(&p->terms);
    const abut_mass *M = abut_mass_of(&p->terms);
    const double at = abut_motion_load_time(p->model, time);
    abut_motion_acceleration(p->model, time, at, acc);
    abut_status rc = ABUT_OK;
    if (abut_motion_load(p->model, time, at, room)) rc = abut_mass_accelerate(M, room, acc, scratch, err);
    if (rc || !air || !air->open) return rc;
    memset(room, 0, 3 * (size_t)p->model->nv * sizeof *room);
    abut_air_load(air, p->xn, room);
    return abut_mass_accelerate(M, room, acc, scratch, err);
}
