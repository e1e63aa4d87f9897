/* The barrier between two bodies acts within a distance, and has a stiffness, that follow from their sizes and masses. */
#ifndef ABUT_CONTACT_PAIR_SCALE_INLINE_H
#define ABUT_CONTACT_PAIR_SCALE_INLINE_H

#include "base/fn.h"

#include <stddef.h>
#include <stdint.h>

typedef struct abut_pair_scale {
    const double *of;           /* [3 nc] of the body of a vertex: dhat and length, m, mean mass of its nodes, kg; an obstacle has
                                 * the largest dhat and length, and no mass.  NULL: all bodies are alike, dhat is the model's */
    double dhat, length, mass;  /* of the pair whose stiffness is kappa: the smallest of each; mass 0: all pairs have kappa */
    const double *part;         /* [nc] object/kappa-part of the body of a vertex, 0: an obstacle; NULL: 1 everywhere */
} abut_pair_scale;

/** The distance within which contact of vertices a and b acts, m: the smaller dhat of their bodies.  b -1: a half-space. */
ABUT_FN double abut_pair_dhat(const abut_pair_scale *s, int32_t a, int32_t b)
{
    if (!s->of) return s->dhat;
    const double p = s->of[3 * (size_t)a], q = b < 0 ? p : s->of[3 * (size_t)b];
    return p < q ? p : q;
}

/** Returns the larger part of its two bodies. */
ABUT_FN double abut_pair_part(const abut_pair_scale *s, int32_t a, int32_t b)
{
    if (!s->part) return 1;
    const double p = s->part[a], q = b < 0 ? p : s->part[b];
    return p > q ? p : q;
}

/** Stiffness of that contact over kappa: the lower bound (energy/barrier_pair.h) of its pair over the lower bound of the pair of
 * kappa, with the smaller length of its bodies and the larger mean mass, times its part; xi: thickness of the pair, m.  b'' is
 * taken as Dhat^2 / D^2, its value at gaps of 1e-8 lengths. */
ABUT_FN double abut_pair_weight(const abut_pair_scale *s, int32_t a, int32_t b, double xi)
{
    if (!s->of || !(s->mass > 0)) return abut_pair_part(s, a, b);
    const double *p = s->of + 3 * (size_t)a, *q = b < 0 ? p : s->of + 3 * (size_t)b;
    const double dhat = abut_pair_dhat(s, a, b), length = p[1] < q[1] ? p[1] : q[1], mass = p[2] > q[2] ? p[2] : q[2];
    const double of = length / s->length * ((2 * xi + s->dhat) * s->dhat / ((2 * xi + dhat) * dhat));
    return mass / s->mass * (of * of) * abut_pair_part(s, a, b);
}

#endif
