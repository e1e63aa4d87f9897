/* Contact on a machine: candidates, CCD bound, contacts, barrier and friction of one collision mesh.  The lists are those of
 * contact/candidates.h and contact/pairs.h, byte for byte; energies and forces those of energy/barrier.h and energy/friction.h,
 * but for the order of sums.
 *
 * x, p, g are positions, a direction, a gradient of nodes, [3 nv], the machine's. */
#ifndef ABUT_GPU_TOUCH_H
#define ABUT_GPU_TOUCH_H

#include "contact/step_bound.h"
#include "contact/pairs.h"
#include "energy/friction.h"
#include "gpu/operator.h"

/* The contacts at one configuration, in the order of abut_pairs.  Zero-filled is empty. */
typedef struct abut_gpu_contacts {
    size_t n, n_plain, n_plane;
    abut_buffer kind, vert, mult, dist2, eps_x;     /* [n] uint8_t, int32_t * 4, double, double, double */
    abut_buffer plane_vert, plane, plane_dist, plane_mult;      /* [n_plane] int32_t, int32_t, double */
    double smallest_gap;        /* m: distance less thickness, +inf without contacts */
} abut_gpu_contacts;

/* A tree over primitives, kept from search to search. */
typedef struct abut_gpu_tree {
    abut_buffer order, row;
    size_t n;               /* primitives in order; 0: not made yet */
    uint32_t levels, first[ABUT_TREE_LEVELS];
} abut_gpu_tree;

/* Zero-filled is empty. */
typedef struct abut_gpu_touch {
    abut_queue *q;
    const abut_collmesh *cm;
    abut_buffer node, edge, tri, xi, scale, part, rest2, seg_edge, loose, seg, point, fixed, passes, drop, hs_point, hs_normal;

    /* the motion that the candidates are of */
    abut_buffer xt, y0, y1, box, size;
    int moves;
    int answers;            /* 1: obstacles answer forces like any other node */
    int hessian;            /* of contacts: ABUT_HESSIAN_GN, ABUT_HESSIAN_IPC_GN, all else is projected */
    double least;           /* m: of these (energy/barrier.h) */
    unsigned searches;
    abut_gpu_tree of_tri, of_edge, of_seg, of_point;
    abut_buffer list[ABUT_CANDIDATE_LISTS];     /* int32_t * 2 */
    size_t n[ABUT_CANDIDATE_LISTS];

    abut_buffer side, pulse, y, key, order, count, first, walked, value;    /* scratch */
    abut_buffer motion[2][4];
    abut_buffer raw[4], head, start;
    abut_buffer node_of, slots, blocks;         /* of the set that gradient or Hessian were asked for last */
    abut_buffer slot_first;

    struct abut_gpu_lag {
        size_t n;
        double h, w;
        int smoothing, kinks;
        const double *xn;
        abut_buffer node, weight, basis, force, mu, above, blocks;
    } lag;
} abut_gpu_touch;

/** obstacle [nc]: prescribed vertices, NULL: none; host.  cm is borrowed, with its model.
 * Fails  ABUT_E_NOMEM; ABUT_E_ARG more than 2^29 vertices */
ABUT_MUST_USE abut_status abut_gpu_touch_init(abut_gpu_touch *c, abut_queue *q, const abut_collmesh *cm, const uint8_t *obstacle,
                                              abut_err *err);
/** passes [nc], host: vertices of objects that pass through each other, of a primitive all or none: two of them are no pair. */
ABUT_MUST_USE abut_status abut_gpu_touch_pass(abut_gpu_touch *c, const uint8_t *passes, abut_err *err);
/** Takes scale.part of cm, for contacts found from now on.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_gpu_touch_part(abut_gpu_touch *c, abut_err *err);
void abut_gpu_touch_clear(abut_gpu_touch *c);
void abut_gpu_contacts_clear(abut_queue *q, abut_gpu_contacts *set);

/** The lists of abut_candidates_find along y -> y + share W p (p NULL: at y), y = W x.  On failure they are empty.
 * Fails  as abut_candidates_find; ABUT_E_NOMEM 2^31 pairs or more, too */
ABUT_MUST_USE abut_status abut_gpu_touch_candidates(abut_gpu_touch *c, const double *x, const double *p, double share,
                                                    double reach, abut_err *err);
static inline size_t abut_gpu_candidates_count(const abut_gpu_touch *c) { return c->n[0] + c->n[1] + c->n[2] + c->n[3]; }
/** abut_limit_ccd along that motion: of its length, not of p. */
ABUT_MUST_USE abut_status abut_gpu_touch_ccd(abut_gpu_touch *c, double slack, abut_limit *lim, abut_err *err);
/** abut_limit_planes along x -> x + p. */
ABUT_MUST_USE abut_status abut_gpu_touch_planes(abut_gpu_touch *c, const double *x, const double *p, double slack,
                                                abut_limit *lim, abut_err *err);
/** abut_pairs_find at x among those candidates.  Fails as that; the set is empty then. */
ABUT_MUST_USE abut_status abut_gpu_touch_find(abut_gpu_touch *c, const double *x, abut_gpu_contacts *set, abut_err *err);

/** The set as the host has it; arrays of out grow where they must.  Fails  ABUT_E_NOMEM: out is empty then */
ABUT_MUST_USE abut_status abut_gpu_contacts_get(abut_queue *q, const abut_gpu_contacts *set, abut_pairs *out, abut_err *err);

/** *out (the machine's) = E of abut_barrier_energy; not finite when something is at its thickness. */
ABUT_MUST_USE abut_status abut_gpu_barrier_energy(abut_gpu_touch *c, const double *x, const abut_gpu_contacts *set, double kappa,
                                                  double *out, abut_err *err);
/** g += gradient of that energy, 0 at nodes of obstacles. */
ABUT_MUST_USE abut_status abut_gpu_barrier_gradient(abut_gpu_touch *c, const double *x, const abut_gpu_contacts *set,
                                                    double kappa, double *g, abut_err *err);
/** *out: Hessians by c->hessian, of contacts, then of half-space contacts; valid until the next call. */
ABUT_MUST_USE abut_status abut_gpu_barrier_hessian(abut_gpu_touch *c, const double *x, const abut_gpu_contacts *set, double kappa,
                                                   abut_gpu_blocks *out, abut_err *err);

/** Copies lagged contacts; sliding is measured from xn, which is borrowed.  Forgets all kinks. */
ABUT_MUST_USE abut_status abut_gpu_friction_set(abut_gpu_touch *c, const abut_lag *lag, const abut_stiction *law,
                                                const double *xn, abut_err *err);
/** As abut_friction_energy, _gradient, _hessian and _kinks; the Hessian uses the kinks found until the next set.  out of the
 * energy is the machine's; the gradient adds nothing at nodes of obstacles. */
ABUT_MUST_USE abut_status abut_gpu_friction_energy(abut_gpu_touch *c, const double *x, double *out, abut_err *err);
ABUT_MUST_USE abut_status abut_gpu_friction_gradient(abut_gpu_touch *c, const double *x, double *g, abut_err *err);
ABUT_MUST_USE abut_status abut_gpu_friction_hessian(abut_gpu_touch *c, const double *x, abut_gpu_blocks *out, abut_err *err);
ABUT_MUST_USE abut_status abut_gpu_friction_kinks(abut_gpu_touch *c, const double *x, const double *p, abut_err *err);

/** y[3 nc] = W x. */
ABUT_MUST_USE abut_status abut_gpu_gather(abut_gpu_touch *c, const double *x, double *y, abut_err *err);
/** Sizes and masses of bodies, on the device. */
abut_pair_scale abut_gpu_scale(const abut_gpu_touch *c);

#endif
