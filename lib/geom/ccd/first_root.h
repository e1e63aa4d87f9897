/* The earliest instant of a motion at which something holds, gathered from the roots of polynomials in t. */
#ifndef ABUT_GEOM_CCD_FIRST_ROOT_H
#define ABUT_GEOM_CCD_FIRST_ROOT_H

#include "geom/exact/zpoly.h"

/* The answer so far, and an enclosure of the earliest instant found; { 0, want_time, 0, 1 } at first. */
typedef struct abut_first_time {
    int hit;
    int want_time;      /* 0: whether suffices */
    double lo, hi;
} abut_first_time;

/** 1 when no further root changes the answer. */
static inline int abut_first_time_done(const abut_first_time *a) { return a->hit && (!a->want_time || a->lo == 0); }
/** It holds at root i: the smallest of several enclosures encloses the smallest time. */
void abut_first_time_take(abut_first_time *a, abut_roots *r, int i);
/** Writes the enclosure (NULL: not wanted) of a hit; returns hit. */
int abut_first_time_give(const abut_first_time *a, double *t_lo, double *t_hi);
/** p = t^2 - t, initialised: its roots are the ends of the motion. */
void abut_zpoly_ends(abut_zpoly *p);

#endif
