#include "solve/loads.h"

#include "energy/pressure.h"
#include "model/motion.h"

#include <string.h>

void abut_loads_explicit(const abut_objective *p, double time, double *acc, double *room)
{
    const abut_model *m = p->model;
    const abut_air *air = abut_air_of(&p->terms);
    const double at = abut_motion_load_time(m, time);
    abut_motion_acceleration(m, time, at, acc);
    if (abut_motion_load(m, time, at, room))
        for (int32_t i = 0; i < 3 * m->nv; i++)
            if (m->role[i / 3] != ABUT_NODE_OBSTACLE) acc[i] += room[i] / m->mass[i / 3];
    if (!air || !air->open) return;
    memset(room, 0, 3 * (size_t)m->nv * sizeof *room);
    abut_air_load(air, p->xn, room);
    for (int32_t i = 0; i < 3 * m->nv; i++)
        if (m->role[i / 3] != ABUT_NODE_OBSTACLE) acc[i] += room[i] / m->mass[i / 3];
}
