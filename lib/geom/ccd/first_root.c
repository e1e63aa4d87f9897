#include "geom/ccd/first_root.h"

#include <math.h>

void abut_first_time_take(abut_first_time *a, abut_roots *r, int i)
{
    double lo = 0, hi = 1;
    if (a->want_time) abut_roots_bracket(r, i, &lo, &hi);
    a->lo = a->hit ? fmin(a->lo, lo) : lo;
    a->hi = a->hit ? fmin(a->hi, hi) : hi;
    a->hit = 1;
}

int abut_first_time_give(const abut_first_time *a, double *t_lo, double *t_hi)
{
    if (a->hit && t_lo) *t_lo = a->lo;
    if (a->hit && t_hi) *t_hi = a->hi;
    return a->hit;
}

void abut_zpoly_ends(abut_zpoly *p)
{
    abut_zpoly_init(p);
    mpz_set_si(p->c[1], -1);
    mpz_set_si(p->c[2], 1);
    p->deg = 2;
}
