/* Strands that grow out of a ball: straight, frizzy or curled, all edges of one length. */
#ifndef ABUT_MESH_GENERATE_HAIR_H
#define ABUT_MESH_GENERATE_HAIR_H

#include "mesh/mesh.h"

/* A helix about the normal of the ball, wound up from nothing: at the height z above the root
 *     rho S((z - l)/ramp) (cos(q z + phi), sin(q z + phi)),   q = 2 pi / wavelength,   S(s) = s^2 (3 - 2 s), 0 below 0, 1 above 1
 * so that the first edge, of length l, is along the normal.  Lengths in m. */
typedef struct abut_hair {
    int32_t count;              /* strands */
    int whole;                  /* roots on all of the ball; 0: on the half above y = 0 */
    double radius, offset;      /* of the ball; of the roots from its surface */
    double length;              /* of a strand, along its edges */
    int32_t cells;              /* edges of a strand */
    double curl, wavelength, ramp;  /* rho; 0: straight */
    double vary;                /* rho, wavelength and ramp of a strand are those times 1 - vary .. 1 + vary; 0 to 0.9 */
    double phase;               /* phi of a strand is 0 .. 2 pi phase; 0 to 1 */
    int32_t seed;               /* a strand does not depend on how many there are */
} abut_hair;

/** The roots are Fibonacci points, about 2.2 R / sqrt(count) apart or more (on the half ball); the root of strand k is point
 * k (cells + 1).  Fails  ABUT_E_ARG a size or number out of range, fewer than six edges a wavelength; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_generate_hair(const abut_hair *h, abut_mesh *m, abut_err *err);

#endif
