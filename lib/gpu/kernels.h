/* Arguments of all kernels, and their lists: contact, elements and inertia of nodes, linear algebra. */
#ifndef ABUT_GPU_KERNELS_H
#define ABUT_GPU_KERNELS_H

#include "contact/pair_scale_inline.h"

#include <stddef.h>
#include <stdint.h>

/* ---- contact ----
 *
 * y0, y1, y are positions of collision vertices, [3 nc]; xi [nc] their thickness, NULL: 0; fixed [nc] which of them are
 * prescribed, NULL: none. */

/* -- broad phase -- */

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

/* -- candidates -- */

/* All lists of candidates as one: list l (contact/candidates.h) ends before candidate end[l]. */
enum { ABUT_NEAR_LISTS = 4 };
typedef struct abut_near_view {
    const int32_t *ij[ABUT_NEAR_LISTS];
    uint32_t end[ABUT_NEAR_LISTS];
    const int32_t *edge, *tri;
    const double *xi;
} abut_near_view;

/* -- CCD bound -- */

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

/* -- contact list -- */

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

/* -- barrier -- */

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

/* -- friction -- */

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

/* -- slots of nodes -- */

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

/* ---- elements and the inertia of nodes ---- */

/* -- tets; arrays of a tet have one number of all tets together: B[9][nt], node[4][nt] -- */

/* tet_energy: energy[i] = volume psi in joules, +inf where it is no number; force[12 i + ..] its gradient at the corners.
 * tet_hessian, of tet first + i: H[90 i + ..] = scale volume d2psi/dx2, packed and projected.
 * tet_bound: bound[i] = how far the tet may follow p before it has `slack` of its volume; 1 for a material that may invert. */
typedef struct abut_tet_args {
    const int32_t *node;
    const double *B, *volume, *mu, *lambda;
    const int32_t *model;
    const double *x, *p;
    double *energy, *force, *H, *bound;
    double scale, slack;
    size_t nt, first;
} abut_tet_args;

/* node_energy: out[i] = what abut_objective counts as inertia of node i, 0 of held ones; inertia 0: the work of its load.
 * node_gradient: out[3 i + k] = its derivative. */
typedef struct abut_node_args {
    const double *mass, *x, *xn, *xhat;
    const uint8_t *held;
    double *out;
    int inertia;
} abut_node_args;

/* out[3 i + k] = 0 of held nodes */
typedef struct abut_hold_args {
    const uint8_t *held;
    double *out;
} abut_hold_args;

/* -- shells, hinges, rod segments and bends -- */

/* Elements in the order of energy/codim.h: `shells` shells, then hinges, segments from number `rods` on, bends from number
 * `bends` on, n in all.  Arrays of an element have one number of all together: node[4][n] (-1:
 * unused), B[4][shells].  law: 7 numbers of each material (energy/membrane_inline.h), model: its constitutive model,
 * ABUT_PLANE_WOVEN of a fabric, ABUT_PLANE_BARAFF_WITKIN.  limit[4][shells]: rows of shell/stretch-limit, NULL: none; kappa, Pa:
 * their stiffness, k: what stiffens bounds of strain.
 *
 * tension[i], N: of segment i in the Hessian; NULL: its tension at x.
 *
 * shell_energy of shell i, and so on: energy[element] in joules, +inf where it is no number; force[12 element + ..]
 * its derivative at the corners, 0 at an unused one.
 * shell_hessian of shell i, and so on: H[90 element + ..] = scale d2E/dx2, packed and projected; 0 at an unused
 * corner.
 * shell_bound: bound[i] = largest step along p that leaves shell i the fraction `slack` of the distance to its bounds.
 * rod_tension: tension[i] at x.  rod_forecast: tension[i] of the next iterate, after the fraction `taken` of a direction led from
 * `from` to `to`; elasticity moves by `reach` times the step (energy/codim.h).  rod_fairness: bound[i] < 0 if segment i may
 * shorten a direction; inertia and weight as in abut_term_step.
 * shell_room: bound[i] = remaining fraction of the bounds of shell i (abut_codim_stretch). */
typedef struct abut_codim_args {
    const int32_t *node, *material, *model;
    const double *B, *volume, *law;
    const double *stiffness, *angle;    /* of hinges: J, rad */
    const double *x, *p;
    double *energy, *force, *H, *bound;
    const double *limit;
    const double *rod_stiffness, *rod_length, *bend_stiffness;
    double *tension;
    const double *from, *to, *mass;
    double reach, taken, inertia, weight;
    double k, kappa, scale, slack;
    size_t shells, rods, bends, n;
} abut_codim_args;

/* -- springs, attachments and damping -- */

/* Springs, node[2 n], and attachments (energy/spring.c), node[5 n], -1 unused, weight[4 n], offset[3 n].
 * spring_energy, tie_energy: energy[i], force[6 i + ..] or force[15 i + ..] its derivative at the corners, 0 at an unused one.
 * spring_hessian, tie_hessian: H[27 i + ..] or H[135 i + ..] = scale d2E/dx2, packed and projected. */
typedef struct abut_tie_args {
    const int32_t *node;
    const double *weight, *offset, *stiffness, *length, *x;
    double *energy, *force, *H;
    double scale;
} abut_tie_args;

/* Damping (energy/damping.c) by matrices K[90 n] of elements node[4][n], -1 unused, and by masses: u = x - from.
 * damp_element: energy[i] = u^T K u / 2, force[12 i + ..] = K u.
 * damp_node: energy[i] = rate mass u^2 / 2; damp_push: out[3 i + k] += rate mass u_k. */
typedef struct abut_damp_args {
    const int32_t *node;
    const double *K, *mass, *x, *from;
    double *energy, *force, *out;
    double rate;
    size_t n;
} abut_damp_args;

#define ABUT_KERNELS_ELEMENTS(K) \
    K(tet_energy, abut_tet_args) K(tet_hessian, abut_tet_args) K(tet_bound, abut_tet_args) \
    K(node_energy, abut_node_args) K(node_gradient, abut_node_args) K(hold, abut_hold_args) \
    K(shell_energy, abut_codim_args) K(shell_hessian, abut_codim_args) K(shell_bound, abut_codim_args) \
    K(shell_room, abut_codim_args) K(hinge_energy, abut_codim_args) K(hinge_hessian, abut_codim_args) \
    K(rod_energy, abut_codim_args) K(rod_hessian, abut_codim_args) K(rod_tension, abut_codim_args) \
    K(rod_forecast, abut_codim_args) K(rod_fairness, abut_codim_args) K(bend_energy, abut_codim_args) \
    K(bend_hessian, abut_codim_args) \
    K(spring_energy, abut_tie_args) K(spring_hessian, abut_tie_args) K(tie_energy, abut_tie_args) K(tie_hessian, abut_tie_args) \
    K(damp_element, abut_damp_args) K(damp_node, abut_damp_args) K(damp_push, abut_damp_args)

/* ---- linear algebra ---- */

/* -- arrays of numbers -- */

/* out[i] = x[i] + scale * (*scale_at) * y[i]; scale_at NULL: 1 */
typedef struct abut_axpy_args {
    const double *x, *y;
    double *out;
    double scale;
    const double *scale_at;
} abut_axpy_args;

/* out[i] = from[i] + share (to[i] - from[i]) */
typedef struct abut_between_args {
    const double *from, *to;
    double *out;
    double share;
} abut_between_args;

/* out[width i + c] = (add ? out[width i + c] : 0) + scale * sum over k in [first[i], first[i + 1]) of in[width at[k] + c], one
 * item for every number out[j], j = width i + c.  Rows are added in pieces of 64, each from 0 in order, then the pieces in
 * order.  at NULL: at[k] = k. */
typedef struct abut_gather_args {
    const uint32_t *first, *at;
    const double *in;
    double *out;
    double scale;
    uint32_t width;
    uint32_t add;
} abut_gather_args;

/* out[3 i + k] = in[3 at[i] + k] */
typedef struct abut_pick_args {
    const int32_t *at;
    const double *in;
    double *out;
} abut_pick_args;

/* out[i] = in[i] rounded to single */
typedef struct abut_narrow_args {
    const double *in;
    float *out;
} abut_narrow_args;

/* v[i] *= by */
typedef struct abut_scale_args {
    double *v;
    double by;
} abut_scale_args;

/* Predicted positions: held nodes at target, others at x + h v. */
typedef struct abut_coast_args {
    const double *x, *v, *target;
    const uint8_t *held;
    double *out;
    double h;
} abut_coast_args;

/* Step of held nodes: p[i] = target - x, 0 for others; move: x[i] = target if alpha is 1, else x + alpha p. */
typedef struct abut_carry_args {
    const double *target;
    const uint8_t *held;
    double *x, *p;
    double alpha;
} abut_carry_args;

/* The augmented Lagrangian of held nodes short of their targets (Li 2020, App. E, eq. 4).  lagrangian: out[i] = that of node i, 0
 * of others; lagrangian_push: out[3 i + k] += its derivative. */
typedef struct abut_lagrangian_args {
    const double *x, *target, *lam, *mass;
    const uint8_t *held;
    double *out;
    double kap;
} abut_lagrangian_args;

/* -- operator: rows in chunks of 32; block k of row 32 c + l is col[(first[c] + k) 32 + l] and
 *      val[((first[c] + k) 9 + d) 32 + l], d < 9 -- */

/* Item 9 j + d: number d of what part j of a piece adds to its block, val[at[j]], and to the one across, val[mirror[j]]:
 * items first[j] .. first[j + 1], each 2 (10 tet of the piece + pair) + (1: transposed). */
typedef struct abut_assemble_args {
    const uint32_t *first, *item;
    const uint32_t *at, *mirror;
    const double *H;
    double *val;
} abut_assemble_args;

/* Adds diag[node[i]] to the diagonal block of row i, which is at[i]. */
typedef struct abut_diagonal_args {
    const int32_t *node;
    const uint32_t *at;
    const double *diag;
    double *val;
} abut_diagonal_args;

/* y = A x + sums of touch_gather (pieces 0: none); items of 32 rows: their numbers 0, then 1, then 2.  stop not NULL: does
 * nothing while *stop is not 0 */
typedef struct abut_multiply_args {
    const uint32_t *first, *length;
    const int32_t *col;
    const double *val, *x;
    double *y;
    const float *val_single, *x_single;
    float *y_single;
    size_t n;
    size_t pieces;
    const uint32_t *piece_first;
    const double *sum;
    const float *sum_single;
    const uint32_t *stop;
} abut_multiply_args;

/* Element matrices of two sets, numbered through; n[0] and n[1] of them.
 * touch_key: key[i] = row of corner i % 4 of element i / 4, or `rows`; slot[i] = i; row[i % 4][i / 4] = row or -1.
 * touch_first: first[r] = how many of key[count], ascending, are below r.
 * touch_narrow: single[90][n] of element i, 0 for corners without a row.
 * touch_pieces: pieces[r] = how many pieces of at most 16 the elements of row r make; touch_piece: piece_row[p] = r of the
 * pieces p from piece_first[r] on.
 * touch_multiply: item corner n + element: t[3 corner + k][element] = row k of that corner of H x.
 * touch_gather: item k n_pieces + p: sum[k][p] = what the elements of piece p have left in t. */
typedef struct abut_touch_args {
    size_t n[2];
    const int32_t *node[2];
    const double *val[2];
    const int32_t *row_of;      /* of a node */
    uint64_t *key;
    uint32_t *slot, *first;
    int32_t *row;
    uint32_t rows;
    size_t count;
    float *single;
    const double *x;
    const float *x_single;
    double *t;
    float *t_single;
    uint32_t *pieces, *piece_first;
    int32_t *piece_row;
    size_t n_pieces;
    double *sum;
    float *sum_single;
    const uint32_t *stop;
} abut_touch_args;

/* Row i: its diagonal block, with those of the element matrices, inverted, into inverse[9][n]; block[9 i]: itself, or NULL */
typedef struct abut_jacobi_args {
    const uint32_t *at;
    const double *val;
    abut_touch_args touch;
    float *inverse;
    double *block;
    size_t n;
} abut_jacobi_args;

/* -- rows and nodes -- */

/* out[3 i + k] = row_of[i] < 0 ? 0 : scale in[3 row_of[i] + k] */
typedef struct abut_spread_args {
    const int32_t *row_of;
    const double *in;
    double *out;
    double scale;
} abut_spread_args;

/* -- conjugate gradients: scalars on the machine; iteration k reads those at k % 2 and writes the others -- */

typedef struct abut_cg_scalars {
    double sum[2][3];       /* r . z, z . A z and r . r */
    double alpha[2];
    double goal;            /* of r . r */
    uint32_t state[2];      /* ABUT_CG_* */
    uint32_t iterations, unused;
} abut_cg_scalars;

enum { ABUT_CG_RUNS = 0, ABUT_CG_DONE = 1, ABUT_CG_BROKEN = 2 /* p . A p is not positive, or no number */ };

/* Item: a row; q = A z.
 * cg_begin: x = p = ap = 0, r = scale from, z = inverse r (inverse NULL: not).
 * cg_step: p = z + b p, ap = q + b ap, x += a p, r -= a ap, z = inverse r; item 0 sees to the scalars (Chronopoulos and Gear
 * 1989, algorithm 2.2: the sums of an iteration come together).
 * A kernel whose name ends in _single takes the vectors whose names do. */
typedef struct abut_cg_args {
    abut_cg_scalars *s;
    uint32_t odd;           /* k % 2 */
    const double *from;
    double scale;
    const float *inverse;   /* [9][n] */
    double *x, *r, *z, *p, *q, *ap;
    float *x_single, *r_single, *z_single, *p_single, *q_single, *ap_single;
    size_t n;
} abut_cg_args;

/* -- clusters of 16 rows: slot 16 c + l of cluster c holds row row[16 c + l], or none (-1), which come last -- */

/* cluster_key: key[i] = place of row i along a curve through space that keeps near ones together (48 bits), row[i] = i.
 * cluster_slot: slot[row[i]] = i.
 * cluster_rows: rows of slot i in the matrices of clusters [lo, ..), matrix[48][48] each; identity where there is no row.
 * cluster_invert: group i: inverse of cluster lo + i, symmetric, in single precision; where it is not positive definite, that of
 * its diagonal blocks, and fallen[lo + i] = 1.
 * cluster_apply: item 48 c + k: z of number k of the rows of cluster c = its inverse r, + the motions w of their part. */
typedef struct abut_cluster_args {
    int32_t *row, *slot;
    uint64_t *key;
    const double *x;            /* of nodes */
    const int32_t *node;        /* of a row */
    double origin[3], unit;     /* the curve goes through cubes of this edge, 2^16 along each side of a cube about the origin */
    abut_multiply_args A;
    abut_touch_args touch;
    size_t lo;
    double *matrix;
    const float *jacobi;        /* [9][n] inverted diagonal blocks */
    float *inverse;
    uint32_t *fallen;
    const double *r;
    double *z;
    const float *r_single;
    float *z_single;
    const int32_t *part;        /* [n] of a row; NULL: no motions */
    const float *arm, *w;
    const uint32_t *stop;
} abut_cluster_args;

/* -- rigid motions of parts (sparse/schwarz/coarse_space.h): of row i, [1, w x arm[i]] -- */

/* E = Z^T A Z is kept as a matrix of `wide` rows, a multiple of 48, of which 6 parts count; pairs of parts by number
 * parts p + q.
 * rigid_arms: group: a part: arms of its rows, from their mean, over the largest distance from it.
 * rigid_key: key[16 e + 4 a + b] = pair of the parts of corners a and b of element matrix e, the first not below the second, or
 * parts^2; slot the same.
 * rigid_matrix: group: a pair: its block of E.
 * rigid_pivot, rigid_panel, rigid_update: step `step` of E = E^-1, by blocks of 48 numbers.
 * rigid_narrow: item: a number of E^-1 in single precision, symmetric; 0 when E was not positive definite.
 * rigid_restrict: group: a part: v = Z^T r.  rigid_solve: group: a row: w = E^-1 v. */
typedef struct abut_rigid_args {
    uint32_t parts, wide, step;
    const uint32_t *first;              /* [parts + 1] of member */
    const int32_t *member, *part;
    const double *x;
    const int32_t *node;                /* of a row */
    float *arm;
    const uint32_t *pair_first;         /* [parts^2 + 1] of the blocks of each pair: where in val, row, column */
    const uint32_t *block_at;
    const int32_t *block_row, *block_col;
    const double *val;
    abut_touch_args touch;
    uint64_t *key;
    uint32_t *slot;
    size_t count;
    double *E, *pivot, *across, *down;
    uint32_t *bad;
    float *inverse;
    float *v, *w;
    const double *r;
    const float *r_single;
    const uint32_t *stop;
} abut_rigid_args;

/* out[i] += scale in[i] */
typedef struct abut_widen_args {
    const float *in;
    double *out;
    double scale;
} abut_widen_args;

#define ABUT_KERNELS_LINEAR(K) \
    K(axpy, abut_axpy_args) K(between, abut_between_args) K(gather, abut_gather_args) K(pick, abut_pick_args) \
    K(narrow, abut_narrow_args) K(scale, abut_scale_args) K(coast, abut_coast_args) K(carry_direction, abut_carry_args) \
    K(carry_move, abut_carry_args) K(lagrangian, abut_lagrangian_args) K(lagrangian_push, abut_lagrangian_args) \
    K(assemble, abut_assemble_args) K(diagonal, abut_diagonal_args) K(multiply, abut_multiply_args) \
    K(multiply_single, abut_multiply_args) \
    K(touch_key, abut_touch_args) K(touch_first, abut_touch_args) K(touch_narrow, abut_touch_args) \
    K(touch_pieces, abut_touch_args) K(touch_piece, abut_touch_args) K(touch_multiply, abut_touch_args) \
    K(touch_multiply_single, abut_touch_args) K(touch_gather, abut_touch_args) K(touch_gather_single, abut_touch_args) \
    K(jacobi, abut_jacobi_args) K(spread, abut_spread_args) \
    K(cg_begin, abut_cg_args) K(cg_begin_single, abut_cg_args) K(cg_step, abut_cg_args) K(cg_step_single, abut_cg_args) \
    K(widen, abut_widen_args) \
    K(cluster_key, abut_cluster_args) K(cluster_slot, abut_cluster_args) K(cluster_rows, abut_cluster_args) \
    K(cluster_invert, abut_cluster_args) K(cluster_apply, abut_cluster_args) K(cluster_apply_single, abut_cluster_args) \
    K(rigid_arms, abut_rigid_args) K(rigid_key, abut_rigid_args) K(rigid_matrix, abut_rigid_args) \
    K(rigid_pivot, abut_rigid_args) K(rigid_panel, abut_rigid_args) K(rigid_update, abut_rigid_args) \
    K(rigid_narrow, abut_rigid_args) K(rigid_restrict, abut_rigid_args) K(rigid_restrict_single, abut_rigid_args) \
    K(rigid_solve, abut_rigid_args)

#endif
