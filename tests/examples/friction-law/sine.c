/* A friction law of one's own: the force grows as a sine until sliding begins.  It goes to lib/energy; rows.diff names it in the
 * table. */
#include "energy/contact_laws.h"

#include <math.h>

static double sine(double y, double w, double *f1_over_y, double *f2)
{
    const double k = acos(0) / w, slides = y >= w;
    *f1_over_y = slides ? 1 / y : y > 0 ? sin(k * y) / y : k;
    *f2 = slides ? 0 : k * cos(k * y);
    return slides ? y : w - cos(k * y) / k;
}

const abut_friction_law_ops abut_friction_law_sine = { "sin(pi/2 y/w), 1 from w on", sine };
