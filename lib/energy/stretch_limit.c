#include "energy/stretch_limit.h"

#include <math.h>

#define LIMIT_FN static
#define LIMIT(name) name##_here
#define LN(v) log(v)
#define LN1P(v) log1p(v)
#include "energy/stretch_limit_forms.h"

double abut_stretch_barrier(double s, double begins, double limit, double *db, double *d2b)
{
    double d = NAN, dd = NAN;
    const double b = abut_stretch_barrier_here(s, begins, limit, &d, &dd);
    if (db && b < INFINITY) *db = d;
    if (d2b && b < INFINITY) *d2b = dd;
    return b;
}

void abut_stretch_limit_add(const double row[4], double kappa, const double s[2], abut_plane_principal *p)
{
    abut_stretch_limit_add_here(row, kappa, s, p);
}

double abut_stretch_room(const double row[4], const double s[2])
{
    return abut_stretch_room_of(row, s[0], s[1]);
}
