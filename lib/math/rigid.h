/* The rigid part of a motion of weighted points. */
#ifndef ABUT_MATH_RIGID_H
#define ABUT_MATH_RIGID_H

#include <stddef.h>
#include <stdint.h>

/* A point at x moves by shift + spin x (x - centre). */
typedef struct abut_rigid {
    double centre[3];   /* m: of mass */
    double shift[3];    /* m: of the centre */
    double spin[3];     /* rad: axis times angle; 0 where the points lie on a line or have no mass */
} abut_rigid;

/** The rigid motion with the momenta of p (the nearest one by masses): n points i = node[k] with mass mass[i], kg, position
 * x[3 i] and motion p[3 i], m. */
abut_rigid abut_rigid_part(size_t n, const int32_t *node, const double *mass, const double *x, const double *p);

/** q[3]: the motion p[3] of a point at x[3] with its rigid part r as a rotation R by the angle |spin|, the rest rotated with it:
 * shift + (R - 1)(x - centre) + R (p - shift - spin x (x - centre)).  To first order in p it is p. */
void abut_rigid_rotate(const abut_rigid *r, const double *x, const double *p, double *q);

#endif
