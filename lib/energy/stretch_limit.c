#include "energy/stretch_limit.h"

#include <math.h>

/* share of the width that is left at which a difference quotient of b' is no better than its derivative */
#define SAME 1e-4

double abut_stretch_barrier(double s, double begins, double limit, double *db, double *d2b)
{
    const double w = limit - begins, q = limit - s, y = (begins - s) / w;     /* on the lower side w, q change sign */
    if (!(y < 0)) {
        if (db) *db = 0;
        if (d2b) *d2b = 0;
        return 0;
    }
    if (!(q / w > 0)) return INFINITY;
    const double l = y > -0.5 ? log1p(y) : log(q / w), r = y * w / q;    /* r = (t - s)/(u - s) */
    if (db) *db = (2 * y * l + y * r) / w;
    if (d2b) *d2b = (-2 * l - 4 * r + r * r) / (w * w);
    return -y * y * l;
}

/* b of both stretches on one side */
static void add_side(double begins, double limit, double kappa, const double s[2], abut_plane_principal *p)
{
    double b[2], d[2], dd[2], mid = 0;
    for (int i = 0; i < 2; i++) {
        b[i] = abut_stretch_barrier(s[i], begins, limit, &d[i], &dd[i]);
        if (!isfinite(b[i])) {
            p->psi = INFINITY;
            return;
        }
    }
    if (b[0] == 0 && b[1] == 0) return;
    const double apart = s[0] - s[1], left = fmin(fabs(limit - s[0]), fabs(limit - s[1]));
    if (fabs(apart) > SAME * left) mid = (d[0] - d[1]) / apart;
    else (void)abut_stretch_barrier(0.5 * (s[0] + s[1]), begins, limit, NULL, &mid);
    p->psi += kappa * (b[0] + b[1]);
    for (int i = 0; i < 2; i++) {
        p->d[i] += kappa * d[i];
        p->A[2 * i] += kappa * dd[i];
    }
    p->flip += kappa * mid;
    p->twist += kappa * (d[0] + d[1]) / (s[0] + s[1]);
}

static int has(double a, double b) { return a != 0 || b != 0; }

void abut_stretch_limit_add(const double row[4], double kappa, const double s[2], abut_plane_principal *p)
{
    if (has(row[2], row[3])) add_side(row[ABUT_STRETCH_HIGH_BEGINS], row[ABUT_STRETCH_HIGH], kappa, s, p);
    if (has(row[0], row[1])) add_side(row[ABUT_STRETCH_LOW_BEGINS], row[ABUT_STRETCH_LOW], kappa, s, p);
}

double abut_stretch_room(const double row[4], const double s[2])
{
    const double big = fmax(s[0], s[1]), small = fmin(s[0], s[1]);
    double room = 1;
    if (has(row[2], row[3])) room = fmin(room, (row[3] - big) / (row[3] - row[2]));
    if (has(row[0], row[1])) room = fmin(room, (small - row[0]) / (row[1] - row[0]));
    return room;
}
