#include "energy/hinge.h"

#include "energy/material/two_modes.h"

#include <math.h>

#include "math/forms_lanes.h"

#include "energy/hinge_forms.h"

#include "math/forms_end.h"

ABUT_LANES_CLONES
static void theta_lanes(const abut_lanes *x, abut_lanes *theta, abut_lanes *grad)
{
    abut_hinge_lanes H;
    abut_hinge_open_lanes(x, &H);
    *theta = H.theta;
    abut_hinge_closed_to_lanes(&H, NAN, theta);
    abut_hinge_gradients_lanes(&H, grad);
}

ABUT_LANES_CLONES
void abut_hinge_energy_lanes(const abut_lanes *k, const abut_lanes *rest, const abut_lanes *x, abut_lanes *energy)
{
    abut_hinge_lanes H;
    abut_lanes d;
    abut_hinge_open_lanes(x, &H);
    abut_hinge_bent_lanes(&H, rest, &d);
    *energy = *k * d * d;
    abut_hinge_closed_to_lanes(&H, INFINITY, energy);
}

ABUT_LANES_CLONES
void abut_hinge_gradient_lanes(const abut_lanes *k, const abut_lanes *rest, const abut_lanes *x, abut_lanes *g)
{
    abut_hinge_lanes H;
    abut_lanes d;
    abut_hinge_open_lanes(x, &H);
    abut_hinge_bent_lanes(&H, rest, &d);
    abut_hinge_gradients_lanes(&H, g);
    for (int i = 0; i < 12; i++) {
        g[i] = 2 * *k * d * g[i];
        abut_hinge_closed_to_lanes(&H, 0, &g[i]);
    }
}

ABUT_LANES_CLONES
void abut_hinge_squares_lanes(const abut_lanes *k, const abut_lanes *rest, const abut_lanes *x, abut_lanes *v)
{
    abut_hinge_lanes H;
    abut_hinge_mode_lanes m[4];
    abut_hinge_open_lanes(x, &H);
    abut_hinge_modes_lanes(k, rest, &H, m);
    for (int i = 0; i < 4; i++) abut_hinge_positive_lanes(&m[i], v + 12 * i);
    for (int i = 0; i < 48; i++) abut_hinge_closed_to_lanes(&H, 0, &v[i]);
}

void abut_hinge_hessian_as_is(double k, double rest, const double x[12], double *H)
{
    const abut_lanes stiffness = ABUT_LANES_ALL(k), angle = ABUT_LANES_ALL(rest);
    abut_hinge_lanes hinge;
    abut_hinge_mode_lanes m[4];
    abut_lanes at[12];
    for (int i = 0; i < 12; i++) at[i] = ABUT_LANES_ALL(x[i]);
    abut_hinge_open_lanes(at, &hinge);
    abut_hinge_modes_lanes(&stiffness, &angle, &hinge, m);
    for (int i = 0; i < 4 && hinge.open[0]; i++) {
        double u[12], w[12];
        for (int j = 0; j < 12; j++) u[j] = m[i].u[j][0], w[j] = m[i].w[j][0];
        abut_two_modes_add(4, m[i].d[0], m[i].o[0], u, w, H);
    }
}

double abut_hinge_theta(const double x[12], double *grad)
{
    abut_lanes at[12], g[12], theta;
    for (int i = 0; i < 12; i++) at[i] = ABUT_LANES_ALL(x[i]);
    theta_lanes(at, &theta, g);
    for (int i = 0; i < 12 && grad && !isnan(theta[0]); i++) grad[i] = g[i][0];
    return theta[0];
}
