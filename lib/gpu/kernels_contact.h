/* Arguments of the kernels of contact: broad phase, CCD bound, contact list, barrier, friction.
 *
 * y0, y1, y are positions of collision vertices, [3 nc]; xi [nc] their thickness, NULL: 0; fixed [nc] which of them are
 * prescribed, NULL: none. */
#ifndef ABUT_GPU_KERNELS_CONTACT_H
#define ABUT_GPU_KERNELS_CONTACT_H

#include "contact/pair_scale_inline.h"

#include <stddef.h>
#include <stdint.h>

/* ---- broad phase ---- */

/* box[18 i ..]: box of the motion of vertex i (geom/broad_phase.h); size[i]: its largest coordinate. */
typedef struct abut_boxes_args {
    const double *y0, *y1;
    const double *xi;
    double reach;
    float *box;
    double *size;
} abut_boxes_args;

/* side[i + c n] = coordinate c of vertex i, side[i + (3 + c) n] the same with its sign changed. */
typedef struct abut_sides_args {
    const double *y;
    double *side;
    size_t n;
} abut_sides_args;

/* key[i]: place of primitive i along a curve through the box whose sides are the `least` of sides; order[i] = i.
 * A primitive has k vertices, vert[k i ..]; vert NULL: it is vertex i. */
typedef struct abut_curve_args {
    const double *y;
    const double *least;        /* [6 * 2]: value, number */
    const int32_t *vert;
    uint32_t k;
    uint64_t *key;
    uint32_t *order;
} abut_curve_args;

/* A row of a tree: 18 numbers of a box, the largest extent of a primitive in it, 1 when one of them moves (else 0). */
enum { ABUT_TREE_EXTENT = 18, ABUT_TREE_MOVES = 19, ABUT_TREE_ROW = 20, ABUT_TREE_WIDE = 4, ABUT_TREE_LEVELS = 16 };

/* row[i] of primitive order[i]. */
typedef struct abut_leaf_args {
    const float *box;           /* of vertices */
    const int32_t *vert;
    uint32_t k;
    const uint32_t *order;
    const uint8_t *fixed;
    float *row;
} abut_leaf_args;

/* row[i] over rows WIDE i .. of n below. */
typedef struct abut_level_args {
    const float *below;
    uint32_t n;
    float *row;
} abut_level_args;

/* Primitives in the order of a curve, and the rows of the levels over them, one after the other. */
typedef struct abut_tree_view {
    const float *row;
    const uint32_t *order;
    const int32_t *vert;
    uint32_t n, k, levels;
    uint32_t first[ABUT_TREE_LEVELS];   /* row at which a level begins; level 0 is the primitives */
} abut_tree_view;

/* Query i against a tree: primitive order[i] (order NULL: i) of k vertices.  same: both sets are one, and the smaller primitive
 * of a pair finds it.  first NULL: writes count[i] and the first ABUT_WALK_KEPT primitives found, kept[k n + i].  Else writes the
 * keys of the pairs from key[first[i]] on, without another search if all were kept: number of the first primitive << shift |
 * number of the second one. */
enum { ABUT_WALK_KEPT = 8 };
typedef struct abut_walk_args {
    abut_tree_view tree;
    const int32_t *vert;
    const uint32_t *order;
    const float *box;
    const double *y0, *xi;
    const uint8_t *fixed;
    const uint8_t *passes;      /* NULL, or [nc]: primitives of such vertices are not paired with each other */
    double reach, rounding, times;
    float times2;
    uint32_t k, same, shift;
    uint32_t *count, *kept;
    size_t n;
    const uint32_t *first;
    uint64_t *key;
} abut_walk_args;

/* ij[2 i ..] of key[i], under the names of the two sets (NULL: their numbers). */
typedef struct abut_unpack_args {
    const uint64_t *key;
    uint32_t shift;
    const int32_t *name_first, *name_second;
    int32_t *ij;
} abut_unpack_args;

/* ---- candidates ---- */

/* All lists of candidates as one: list l (contact/candidates.h) ends before candidate end[l]. */
enum { ABUT_NEAR_LISTS = 4 };
typedef struct abut_near_view {
    const int32_t *ij[ABUT_NEAR_LISTS];
    uint32_t end[ABUT_NEAR_LISTS];
    const int32_t *edge, *tri;
    const double *xi;
} abut_near_view;

/* ---- CCD bound ---- */

/* Motions of open pairs (geom/ccd/ccd_inline.h), by the members of each. */
typedef struct abut_motions_view {
    uint32_t *pair;     /* candidate */
    double *t, *target, *enough;
} abut_motions_view;

/* ccd_first: toi[i] of candidate i: -1 when it is BAD, +inf when clear or open[i].
 * ccd_enter: those that are open to their places first[i] of `to`. */
typedef struct abut_ccd_args {
    abut_near_view near;
    const double *y0, *y1;
    double slack, t_max;
    double *toi;
    uint32_t *open;
    const uint32_t *first;
    abut_motions_view to;
} abut_ccd_args;

/* ccd_steps: makes `steps` more steps of motion i; at its end writes toi of its pair and open[i] = 0.  A pair beyond the best
 * time so far, best[0] (if above 0), ends, too.
 * ccd_keep: copies open motions to their places first[i] of `to`. */
typedef struct abut_steps_args {
    abut_near_view near;
    const double *y0, *y1;
    double t_max;
    const double *best;
    int32_t steps, last;        /* last: no motion stays open */
    abut_motions_view from, to;
    double *toi;
    uint32_t *open;
    const uint32_t *first;
} abut_steps_args;

/* bound[nh v + h] of vertex v against half-space h; item nh v + h. */
typedef struct abut_plane_bound_args {
    const double *y0, *y1;
    const double *xi;
    const uint8_t *fixed;
    const double *point, *normal;
    uint32_t nh;
    double slack;
    double *bound;
} abut_plane_bound_args;

/* ---- contact list ---- */

/* Contacts before they are sorted. */
typedef struct abut_raw_view {
    int32_t *vert;      /* [4 m] */
    uint32_t *class_;   /* stencil, or 4: mollified */
    double *dist2, *eps_x;
} abut_raw_view;

/* contact_classify: hit[i], and gap[i] of candidate i: m beyond its thickness, +inf when it is no contact, -1 when it touches.
 * contact_raw: hits to their places first[i], with the lower half of their key and their number. */
typedef struct abut_contact_args {
    abut_near_view near;
    const double *y, *rest2;
    abut_pair_scale scale;
    uint32_t *hit;
    double *gap;
    const uint32_t *first;
    abut_raw_view raw;
    uint64_t *key;
    uint32_t *order;
    uint32_t bits;      /* of a vertex number plus one */
} abut_contact_args;

/* contact_key: key[i] = upper half of the key of raw order[i].
 * contact_head: head[i] = 1 when raw order[i] is not the same plain stencil as the one before it.
 * contact_start: start[k] = i for head k.
 * contact_write: contact i of *n, to kind .. eps_x; *n_plain = the first mollified one, where there is one. */
typedef struct abut_merge_args {
    abut_raw_view raw;
    const uint32_t *order;
    uint64_t *key;
    uint32_t bits, m;
    uint32_t *head;
    const uint32_t *first;  /* of heads; first[m] is how many */
    uint32_t *start;
    abut_pair_scale scale;
    const double *xi;
    uint8_t *kind;
    int32_t *vert;
    double *mult, *dist2, *eps_x;
    uint32_t *n_plain;
} abut_merge_args;

/* plane_classify: hit[j], gap[j] of item j = nh v + h, as contact_classify.
 * plane_write: hits to their places. */
typedef struct abut_plane_args {
    const double *y, *xi;
    const uint8_t *fixed;
    const double *point, *normal;
    uint32_t nh;
    abut_pair_scale scale;
    uint32_t *hit;
    double *gap;
    const uint32_t *first;
    int32_t *plane_vert, *plane;
    double *plane_dist, *plane_mult;
} abut_plane_args;

/* ---- barrier ---- */

/* Contact i of n, or half-space contact i - n.
 * hessian: ABUT_HESSIAN_* (energy/barrier_law_inline.h).
 * barrier_energy: out[i].  barrier_push: out[12 i ..] its gradient.  barrier_hess: out[90 i ..] its projected Hessian;
 * barrier_gn: that by Gauss and Newton with `least` (energy/barrier.h).
 * barrier_nodes: to[4 i ..] its nodes, -1 unused. */
typedef struct abut_barrier_args {
    uint32_t n;
    const uint8_t *kind;
    const int32_t *vert;
    const double *mult, *dist2, *eps_x;
    const int32_t *plane_vert, *plane;
    const double *plane_dist, *plane_mult, *normal;
    const double *y, *xi;
    abut_pair_scale scale;
    const int32_t *node;        /* of collision vertices */
    double kappa, least;
    int32_t continuity, hessian;
    double *out;
    int32_t *to;
} abut_barrier_args;

/* ---- friction ---- */

/* Frozen contact i (energy/friction.h).  friction_energy: out[i].  friction_push: out[12 i ..].  friction_hess: out[90 i ..].
 * friction_kink: above[i], of a step p. */
typedef struct abut_friction_args {
    const int32_t *node;
    const double *weight, *basis, *force, *mu;
    const double *x, *xn, *p;
    double h, w;                /* w = eps_v h */
    int32_t smoothing;
    uint8_t *above;             /* NULL: none is */
    double *out;
} abut_friction_args;

/* ---- slots of nodes ---- */

/* slot_key: key[s] = node of slot s, nv where it has none or one that is dropped; order[s] = s.
 * slot_first: first[r], r <= nv: where the slots of node r begin among n sorted ones. */
typedef struct abut_slots_args {
    const int32_t *node;
    const uint8_t *drop;        /* [nv] */
    uint32_t nv, n;
    uint64_t *key;
    uint32_t *order, *first;
} abut_slots_args;

#define ABUT_KERNELS_CONTACT(K) \
    K(vertex_boxes, abut_boxes_args) K(vertex_sides, abut_sides_args) K(tree_curve, abut_curve_args) \
    K(tree_leaf, abut_leaf_args) K(tree_level, abut_level_args) K(tree_walk, abut_walk_args) K(pair_unpack, abut_unpack_args) \
    K(ccd_first, abut_ccd_args) K(ccd_enter, abut_ccd_args) K(ccd_steps, abut_steps_args) K(ccd_keep, abut_steps_args) \
    K(plane_bound, abut_plane_bound_args) K(contact_classify, abut_contact_args) K(contact_raw, abut_contact_args) \
    K(contact_key, abut_merge_args) K(contact_head, abut_merge_args) K(contact_start, abut_merge_args) \
    K(contact_write, abut_merge_args) \
    K(plane_classify, abut_plane_args) K(plane_write, abut_plane_args) \
    K(barrier_energy, abut_barrier_args) K(barrier_push, abut_barrier_args) K(barrier_hess, abut_barrier_args) \
    K(barrier_gn, abut_barrier_args) K(barrier_nodes, abut_barrier_args) \
    K(friction_energy, abut_friction_args) K(friction_push, abut_friction_args) K(friction_hess, abut_friction_args) \
    K(friction_kink, abut_friction_args) \
    K(slot_key, abut_slots_args) K(slot_first, abut_slots_args)

#endif
