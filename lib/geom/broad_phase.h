/* Pairs of primitives that may come close to each other while all vertices move along straight lines.
 *
 * Primitives that move alike are no pair: if their distance is 1.5 times their relative motion, a pair is dropped, however far
 * both move.  So each primitive, each pack of a tree and each node has three boxes: of its start, of the displacements of its
 * vertices, and of all its motion.  Boxes are floats rounded outward.  A pair is decided by the boxes of its two primitives, then
 * in double by the slab along the line of their centroids (geom/ccd/slab.h): the result does not depend on the trees. */
#ifndef ABUT_GEOM_BROAD_PHASE_H
#define ABUT_GEOM_BROAD_PHASE_H

#include "base/par.h"
#include "geom/boxes.h"
#include "geom/broad_phase_inline.h"

#include <stdatomic.h>

/* Limit of the pairs of all searches together: they give up if n exceeds `most`, else n counts the pairs.  Whether they give up
 * depends on the pairs alone. */
typedef struct abut_pair_budget {
    size_t most;
    atomic_size_t n;
} abut_pair_budget;

/* Flat parts of surfaces whose neighbours are of no interest.  Their vertices have cells of one grid.  Two packs whose
 * vertices all lie in one certified square of cells, or in one certified part, are not searched, but for pairs
 * of a primitive that is kept, whose places are not `apart`.  Borrowed. */
typedef struct abut_quiet {
    const int32_t (*cell)[2];   /* [nv] column and row; column -1: of no flat part */
    int32_t columns;
    const uint8_t *side;        /* [cells] side of a certified square that begins at this cell, 0: none */
    const uint8_t *kept;        /* [edges] 1: kept */
    const float (*place)[2];    /* [nv] in the plane of its part; cells are at least half of `apart` wide */
    float apart;
    const int32_t *part;        /* [nv] */
    const uint8_t *whole;       /* [parts] 1: certified */
} abut_quiet;

/* Vertices in motion.  Borrowed. */
typedef struct abut_motion {
    size_t nv;
    const double *y0, *y1;  /* [3 nv] m, finite, below DBL_MAX / 16; y1 NULL: at rest */
    const double *y2;       /* [3 nv] m or NULL: vertices end anywhere between y1 and y2, each coordinate by itself */
    double reach;           /* m, >= 0: pairs that come this close are found */
    const double *xi;       /* [nv] m thickness of each vertex, the same for all of a primitive, or NULL: 0; a pair has the mean
                             * of its two */
    const uint8_t *fixed;   /* [nv] or NULL: primitives of such vertices alone are not paired with each other */
    const uint8_t *changed; /* [nv] or NULL.  Vertices whose boxes this motion enlarges.  All other boxes, and the trees without
                             * these vertices, are reused from the last search; the result has all pairs of these vertices */
    abut_pair_budget *budget;   /* NULL: any number of pairs */
    const abut_quiet *quiet;    /* NULL: all pairs are searched */
    const abut_ranks *ranks;    /* ranks that divide the pairs; each pair is found by one rank; NULL: all pairs are found */
    int anywhere;           /* 1: a vertex may be anywhere in the box of its motion at any time, independent of the others */
} abut_motion;

/* Boxes of fixed vertices in an earlier search: if they are equal again, their trees are reused.  Mostly, searches of two kinds
 * with different reach alternate. */
enum { ABUT_BROAD_STILLS = 2 };
typedef struct abut_broad_still {
    float (*box)[ABUT_ROWS];    /* [n] of fixed vertices in their order */
    size_t n;
    uint64_t stamp;             /* identifies these boxes; 0: none */
} abut_broad_still;

/* Zero-filled is empty; keeps its memory from call to call. */
typedef struct abut_broad_phase {
    abut_motion m;
    float (*box)[ABUT_ROWS];    /* [nv] of vertices, grown by their halves of reach and thickness */
    double rounding;            /* m: bound on rounding errors of positions during the motion */
    size_t cap;
    abut_broad_still still[ABUT_BROAD_STILLS];  /* the present boxes first; empty if no vertex is fixed */
    uint64_t stamps;            /* given so far */
} abut_broad_phase;

/** Boxes of all vertices.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_broad_init(abut_broad_phase *a, const abut_motion *m, abut_err *err);
void abut_broad_clear(abut_broad_phase *a);

/* One side of a search: n primitives of k vertices, 1 and 3, 2 and 2, 1 and 2, or 1 and 1 against each other. */
typedef struct abut_prims {
    size_t n;
    int k;
    const int32_t *vert;        /* [n * k] */
} abut_prims;

/* Trees over one side, kept for the next search of the same abut_broad_phase: neighbours mostly stay neighbours.  NULL: none yet.
 * They are rebuilt if the number of primitives or the fixed vertices have changed, or neighbours have moved apart. */
typedef struct abut_broad_trees abut_broad_trees;
/** Sets NULL. */
void abut_broad_trees_free(abut_broad_trees **trees);

/** Finds every pair (i of a, j of b) without a common vertex that comes within reach of its thickness during the motion.  Also
 * finds every pair that loses two thirds of its distance and whose motions come within reach, and some others.  Sorted; a == b
 * (the same pointer, tb is ignored): i < j.  The same bytes for every thread count and for all earlier trees.  On failure, and
 * beyond the budget, out is empty.  Each rank gets the pairs that its packs find.
 * Fails  ABUT_E_NOMEM; ABUT_E_NUMERIC the trees of ranks differ */
ABUT_MUST_USE abut_status abut_broad_pairs(const abut_broad_phase *s, const abut_prims *a, abut_broad_trees **ta,
                                              const abut_prims *b, abut_broad_trees **tb, abut_pair_list *out,
                                              abut_err *err);

/** Returns the bound on rounding errors of positions during the motion, m, as abut_broad_init computes it. */
double abut_broad_rounding_of(const abut_motion *m);
/** 1: abut_broad_pairs finds the pair of primitives v[0 .. ka - 1] and v[ka .. ka + kb - 1] for m.  The pair must come from a
 * search for ends between some y1 and y2 that include the ends of m.  rounding: abut_broad_rounding_of(m). */
int abut_broad_finds(const abut_motion *m, double rounding, int ka, int kb, const int32_t *v);

#endif
