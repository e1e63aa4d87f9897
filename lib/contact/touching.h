/* The set of contacts with Signorini's and Coulomb's laws: each is a linear combination of nodes with a normal.
 *
 *     u_c = sum_j b_cj v_j + k_c          relative velocity of contact c, from its second primitive to its first, m/s
 *     k_c = kinematic part + (gap / h) n_c, so that u_N >= 0 says: no gap at the end of a step of h
 *     (u_c, r_c):  0 <= u_N perp r_N >= 0,  |r_T| <= mu r_N,  r_T against u_T where that is not 0
 *
 * (Daviet 2020, 4.1 to 4.3).  r_c is the impulse on the first primitive, N s.  With weights w_j of nodes, kg, s_c = sum_j
 * b_cj^2 / w_j + give_c is the local Delassus scalar; sweeps store rbar_c = s_c r_c.
 *
 * Contacts are appended, then settled: sorted, made unique, coloured.  From then on contacts of one colour are neighbours in
 * the arrays and have no node in common; sweeps visit colours in ascending order.  A settled set does not depend on the order in
 * which contacts were appended, nor on the thread count.  Contacts appended later do not remove settled ones, but move them. */
#ifndef ABUT_CONTACT_TOUCHING_H
#define ABUT_CONTACT_TOUCHING_H

#include "geom/dist.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { ABUT_TOUCH_COLOURS = 64 };   /* contacts that none of these colours fits are swept after all of them, in order */
/* The nearest of two normals of the same primitives: beyond this cosine the later contact is the same one. */
#define ABUT_TOUCH_SAME 0.5

/* Key of a contact: its place in the order of contacts, and its primitives (kind, vert, plane). */
typedef struct abut_touch_key {
    double toi;             /* 0: near at the start; else time of impact in (0, 1) of the motion on which it was found */
    int32_t vert[4];        /* collision vertices, -1 unused, as geom/dist.h numbers those of a stencil */
    int32_t plane;          /* half-space, -1: none; then kind is ABUT_PP and vert[0] alone is used */
    int16_t round;          /* 0: found before the first iteration; the iteration that appended it, at most INT16_MAX */
    uint8_t kind;           /* abut_stencil */
    uint8_t yields;         /* 1: `give` is above 0 by the rule of compliance, for reports */
} abut_touch_key;

/* One contact to append.  Borrowed. */
typedef struct abut_touch {
    abut_touch_key key;
    int n;                  /* nodes that move; nodes with prescribed velocity are part of k */
    const int32_t *node;    /* [n] all different */
    const double *b;        /* [n] coefficients, not all 0 */
    double w[4];            /* of key.vert, whether they move or not: 1 in all on the first primitive, -1 on the second */
    double normal[3];       /* unit, from the second primitive to the first */
    double k[3];            /* m/s */
    double mu;
    double cohesion;        /* xi, N s: impulse that holds the primitives together; 0 */
    double give;            /* 1/w_slack, 1/kg: 0 rigid */
} abut_touch;

/* Owns its arrays.  Zero-filled is empty; the memory is kept from step to step. */
typedef struct abut_touching {
    size_t n, cap;          /* contacts */
    size_t m, cap_m;        /* nodes of all contacts */
    size_t settled;         /* the first `settled` contacts are settled; the others have s and rbar 0 */
    int32_t *first;         /* [n + 1] */
    int32_t *node;          /* [m] */
    double *b;              /* [m] */
    double (*w)[4];         /* [n] coefficients of key.vert */
    double *normal, *k;     /* [3 n], [3 n] m/s */
    double *mu;             /* [n] */
    double *s;              /* [n] 1/kg */
    double *rbar;           /* [3 n] s_c r_c, m/s */
    double *cohesion, *give;    /* [n] N s, [n] 1/kg */
    abut_touch_key *key;    /* [n] */
    uint8_t *colour;        /* [n] ABUT_TOUCH_COLOURS: none fitted */
    size_t start[ABUT_TOUCH_COLOURS + 2];   /* contacts of colour k: start[k] .. start[k + 1] */
    uint64_t *taken;        /* [nodes] colours that each node has a contact of */
    int32_t nodes;
} abut_touching;

/** Empties the set and keeps its memory.  nodes: number of nodes.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_touching_begin(abut_touching *t, int32_t nodes, abut_err *err);
/** Appends a contact with rbar 0; one thread at a time.  Contacts without a node that moves are skipped.
 * Fails  ABUT_E_NOMEM; then t is unchanged */
ABUT_MUST_USE abut_status abut_touching_append(abut_touching *t, const abut_touch *c, abut_err *err);
/** Settles the contacts appended since the last call, in the order of (round, toi, half-spaces last, kind, vertices).  Of
 * contacts of the same primitives the first stays, and one other with a normal beyond ABUT_TOUCH_SAME.  Computes s from inv_w.
 * Contacts that were settled keep their colours.
 *
 * inv_w   [nodes] 1/kg, above 0 for nodes of contacts
 * Fails   ABUT_E_NOMEM; then t is empty */
ABUT_MUST_USE abut_status abut_touching_settle(abut_touching *t, const double *inv_w, abut_err *err);
/** Settles as abut_touching_settle, but a contact found again takes weights, normal and k of the new one, because the old ones
 * did not suffice.  r stays. */
ABUT_MUST_USE abut_status abut_touching_renew(abut_touching *t, const double *inv_w, abut_err *err);
/** Sets new weights of a settled set: computes s, and rbar so that r stays. */
void abut_touching_weigh(abut_touching *t, const double *inv_w);
/** The number of colours in use. */
int abut_touching_colours(const abut_touching *t);

/** u[3], m/s: relative velocity of contact c for velocities v[3 nodes] of nodes, without its give. */
void abut_touching_velocity(const abut_touching *t, size_t c, const double *v, double u[3]);
/** r[3], N s: all that contact c exerts on its first primitive, cohesion included. */
void abut_touching_impulse(const abut_touching *t, size_t c, double r[3]);
/** f[3 nodes] += B^T r, N s, r as abut_touching_impulse; the same bits for every thread count. */
void abut_touching_forces(const abut_touching *t, double *f);
void abut_touching_clear(abut_touching *t);

#endif
