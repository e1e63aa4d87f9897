#include "energy/rod.h"

#include "energy/material/two_modes.h"
#include "energy/rod_inline.h"

static const double PI = 3.14159265358979323846;

double abut_rod_stretch_stiffness(double young, double radius, double rest)
{
    return 0.5 * PI * radius * radius * rest * young;
}

double abut_rod_stretch_energy(double w, double rest, const double x[6])
{
    double g[6];
    return abut_rod_stretch_of(w, rest, x, g);
}

void abut_rod_stretch_gradient(double w, double rest, const double x[6], double g[6])
{
    (void)abut_rod_stretch_of(w, rest, x, g);
}

double abut_rod_tension(double w, double rest, const double x[6]) { return abut_rod_tension_of(w, rest, x); }

void abut_rod_stretch_hessian(double w, double rest, double tension, const double x[6], double *H)
{
    abut_rod_stretch_hessian_of(w, rest, tension, x, H);
}

double abut_rod_bend_energy(double k, const double x[9])
{
    double g[9];
    return abut_rod_bend_of(k, x, g);
}

void abut_rod_bend_gradient(double k, const double x[9], double g[9]) { (void)abut_rod_bend_of(k, x, g); }

void abut_rod_bend_hessian(double k, const double x[9], int project, double *H)
{
    void (*const add)(int, double, double, const double *, const double *, double *) =
        project ? abut_two_modes_add_positive : abut_two_modes_add;
    abut_rod_modes m;
    if (!abut_rod_modes_of(k, x, &m)) return;
    for (int i = 0; i < 4; i++) add(3, m.d[i], m.o[i], m.u[i], m.w[i], H);
}
