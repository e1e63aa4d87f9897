/* Shells in time: what hangs, what is pulled, what touches; every frame judged by its stretches and by exact arithmetic. */
#include "scene_world.h"

#include "base/par.h"
#include "energy/stretch_limit.h"

/* The largest singular value over all shells, from the arrays alone. */
static double largest_stretch(const world *w, double *smallest)
{
    const abut_model *m = &w->model;
    const double *x = get(w, "node/x");
    double high = 0, low = INFINITY;
    for (int32_t t = 0; t < m->nsh; t++) {
        const int32_t *v = m->shell + 3 * t;
        const double *R = m->shell_rest + 4 * t, det = R[0] * R[3] - R[1] * R[2];
        double c[3] = { 0, 0, 0 };
        for (int i = 0; i < 3; i++) {
            const double a = x[3 * v[1] + i] - x[3 * v[0] + i], b = x[3 * v[2] + i] - x[3 * v[0] + i];
            const double p = (a * R[3] - b * R[2]) / det, q = (b * R[0] - a * R[1]) / det;
            c[0] += p * p, c[1] += p * q, c[2] += q * q;
        }
        const double mean = 0.5 * (c[0] + c[2]), off = hypot(0.5 * (c[0] - c[2]), c[1]);
        high = fmax(high, sqrt(mean + off));
        low = fmin(low, sqrt(fmax(mean - off, 0)));
    }
    if (smallest) *smallest = low;
    return high;
}

/* a sheet that hangs from two corners, 0.4 m, limited to `limit` */
static fixture *hanging(int n, double limit)
{
    fixture *f = fixture_new();
    f->young = 8e3, f->poisson = 0.243;
    f->material = ABUT_STVK;
    f->h = 0.04;
    f->tol = 1e-3;
    f->shell_thick = 0.318e-3;
    f->limit[2] = limit > 0 ? 1 : 0, f->limit[3] = limit;
    fixture_sheet(f, 0, 0, 0, 0.4, 0.4, n, n);
    fixture_pin(f, 0, (double[]){ 0, 0, 0 });
    fixture_pin(f, n, (double[]){ 0, 0, 0 });
    return f;
}

TEST(a_hanging_sheet_stays_below_its_limit)
{
    static const double limit[] = { 1.1, 1.01, 1.001 };
    for (int k = 0; k < 3; k++) {
        world w;
        int newton = 0;
        world_open(&w, hanging(8, limit[k]), NULL);
        for (int i = 0; i < 12; i++) {
            CHECK(!world_judged(&w, 1));
            CHECK(largest_stretch(&w, NULL) < limit[k]);
            newton += w.rep.newton;
        }
        printf("# limit %g: %d iterations, room %g, kappa %g\n", limit[k], newton, w.rep.stretch_room, w.rep.strain_kappa);
        world_close(&w);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    RUN(a_hanging_sheet_stays_below_its_limit);
    return check_done();
}
