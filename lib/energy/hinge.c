#include "energy/hinge.h"

#include "energy/material/two_modes.h"

#include <math.h>
#include <string.h>

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

ABUT_LANES_CLONES
static void modes_lanes(const abut_lanes *k, const abut_lanes *rest, const abut_lanes *x, abut_hinge_mode_lanes m[4])
{
    abut_hinge_lanes H;
    abut_hinge_open_lanes(x, &H);
    abut_hinge_modes_lanes(k, rest, &H, m);
    for (int i = 0; i < 4; i++) {
        abut_hinge_closed_to_lanes(&H, 0, &m[i].d);
        abut_hinge_closed_to_lanes(&H, 0, &m[i].o);
        for (int j = 0; j < 12; j++) abut_hinge_closed_to_lanes(&H, 0, &m[i].u[j]), abut_hinge_closed_to_lanes(&H, 0, &m[i].w[j]);
    }
}

/* ---- one hinge ---- */

/* the same in every lane */
static void spread(const double *v, int n, abut_lanes *to)
{
    for (int i = 0; i < n; i++) to[i] = ABUT_LANES_ALL(v[i]);
}

static void first(const abut_lanes *v, int n, double *to)
{
    for (int i = 0; i < n; i++) to[i] = v[i][0];
}

double abut_hinge_theta(const double x[12], double *grad)
{
    abut_lanes at[12], g[12], theta;
    spread(x, 12, at);
    theta_lanes(at, &theta, g);
    if (grad && !isnan(theta[0])) first(g, 12, grad);
    return theta[0];
}

double abut_hinge_energy(double k, double rest, const double x[12])
{
    abut_lanes at[12], energy;
    spread(x, 12, at);
    abut_hinge_energy_lanes(&ABUT_LANES_ALL(k), &ABUT_LANES_ALL(rest), at, &energy);
    return energy[0];
}

void abut_hinge_gradient(double k, double rest, const double x[12], double g[12])
{
    abut_lanes at[12], f[12];
    spread(x, 12, at);
    abut_hinge_gradient_lanes(&ABUT_LANES_ALL(k), &ABUT_LANES_ALL(rest), at, f);
    first(f, 12, g);
}

void abut_hinge_hessian(double k, double rest, const double x[12], int project, double *H)
{
    abut_lanes at[12], squares[48];
    double v[48], u[12], w[12];
    abut_hinge_mode_lanes m[4];
    spread(x, 12, at);
    if (project) {
        abut_hinge_squares_lanes(&ABUT_LANES_ALL(k), &ABUT_LANES_ALL(rest), at, squares);
        first(squares, 48, v);
        abut_add_squares4(v, H);
        return;
    }
    modes_lanes(&ABUT_LANES_ALL(k), &ABUT_LANES_ALL(rest), at, m);
    for (int i = 0; i < 4; i++) {
        first(m[i].u, 12, u);
        first(m[i].w, 12, w);
        abut_two_modes_add(4, m[i].d[0], m[i].o[0], u, w, H);
    }
}
