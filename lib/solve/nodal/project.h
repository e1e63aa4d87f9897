/* The projection of velocities onto the law of contact: Gauss-Seidel over the contacts, without a matrix, in scaled impulses
 * (Daviet 2020, 5.2.3 and algorithm 1).
 *
 *     find p, r:  W p = W v + B^T (r - xi n),   u = B p + k,   (u_c, r_c) of the law of Signorini and Coulomb for every c
 *
 * A visit of contact c gathers u, removes its own impulse (ustar = u - rbar), computes its new u by the law, and scatters
 * the difference.  The contacts of one colour have no node in common, so no bit depends on which thread visits which. */
#ifndef ABUT_SOLVE_NODAL_PROJECT_H
#define ABUT_SOLVE_NODAL_PROJECT_H

#include "contact/touching.h"

typedef struct abut_project_options {
    int sweeps;
    const double *less;     /* [3 nodes] m/s: v less this is projected; NULL: v */
    const int32_t *moved;   /* [n_moved] the nodes of contacts, ascending, each once: others are not read; NULL: all nodes */
    int32_t n_moved;
    double asleep;      /* m/s: a contact whose visit changes u by less is not visited again in this projection; 0: all are */
} abut_project_options;

/* Memory of projections, kept between them.  Zero-filled is empty. */
typedef struct abut_projection {
    double *p;          /* [4 nodes], aligned to 32 bytes: p of a node, m/s, and its 1/w, 1/kg */
    void *block;        /* allocation of p */
    int32_t nodes;
    uint8_t *asleep;    /* [cap] */
    size_t cap;
    size_t visits, skipped;     /* contacts visited, and those not because they slept, since the counters were set to 0 */
} abut_projection;

/** p[3 nodes] = the projection of v[3 nodes] (which may be p) at the nodes that o names, after so many sweeps.  t has the first
 * impulses before and the last ones afterwards, with which W p = W v + B^T (r - xi n) up to rounding.  The same bits for every
 * thread count.
 *
 * t        settled with inv_w
 * inv_w    [nodes] 1/kg
 * Fails    ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_project(abut_projection *q, abut_touching *t, const double *inv_w, const double *v,
                                       const abut_project_options *o, double *p, abut_err *err);
void abut_projection_clear(abut_projection *q);

#endif
