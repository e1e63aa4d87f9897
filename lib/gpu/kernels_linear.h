/* Arguments of the kernels of linear algebra: arrays of numbers, the operator, conjugate gradients, preconditioners. */
#ifndef ABUT_GPU_KERNELS_LINEAR_H
#define ABUT_GPU_KERNELS_LINEAR_H

#include <stddef.h>
#include <stdint.h>

/* ---- arrays of numbers ---- */

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

/* ---- operator: rows in chunks of 32; block k of row 32 c + l is col[(first[c] + k) 32 + l] and
 *      val[((first[c] + k) 9 + d) 32 + l], d < 9 ---- */

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

/* ---- rows and nodes ---- */

/* out[3 i + k] = row_of[i] < 0 ? 0 : scale in[3 row_of[i] + k] */
typedef struct abut_spread_args {
    const int32_t *row_of;
    const double *in;
    double *out;
    double scale;
} abut_spread_args;

/* ---- conjugate gradients: scalars on the machine; iteration k reads those at k % 2 and writes the others ---- */

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
 * Those that end in _single have the vectors with that name. */
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

/* ---- clusters of 16 rows: slot 16 c + l of cluster c holds row row[16 c + l], or none (-1), which come last ---- */

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

/* ---- rigid motions of parts (sparse/schwarz/coarse_space.h): of row i, [1, w x arm[i]] ---- */

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
