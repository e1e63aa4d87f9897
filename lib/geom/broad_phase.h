/* Pairs of primitives that may come close to each other while all vertices move along straight lines.
 *
 * What moves alike stays apart: of two primitives as far from each other as they go relative to each other, and half as much
 * again, nothing is heard, however far both go.  So each primitive, each pack of a tree and each node has three boxes: where it
 * is at the start, by what its vertices are displaced, and all of its motion.  They are floats rounded outward, and a pair is
 * decided by those of its two primitives alone, then in double by the slab along the line of their centroids (geom/ccd/slab.h):
 * what is found depends on no tree. */
#ifndef ABUT_GEOM_BROAD_PHASE_H
#define ABUT_GEOM_BROAD_PHASE_H

#include "base/ranks.h"
#include "geom/broad_phase_inline.h"
#include "geom/bvh.h"

#include <stdatomic.h>

/* How many pairs all searches together may find before they are given up: then n is above `most`, else it counts them.  Which of
 * the two it is depends on the pairs alone. */
typedef struct abut_pair_budget {
    size_t most;
    atomic_size_t n;
} abut_pair_budget;

/* Vertices in motion.  Borrowed. */
typedef struct abut_motion {
    size_t nv;
    const double *y0, *y1;  /* [3 nv] m, finite, below DBL_MAX / 16; y1 NULL: at rest */
    const double *y2;       /* [3 nv] m or NULL: vertices end anywhere between y1 and y2, each coordinate by itself */
    double reach;           /* m, >= 0: pairs that come this close are asked for */
    const double *xi;       /* [nv] m thickness of each vertex, the same for all of a primitive, or NULL: 0; a pair has the mean
                             * of its two */
    const uint8_t *fixed;   /* [nv] or NULL: primitives of such vertices alone are not paired with each other */
    const uint8_t *changed; /* [nv] or NULL.  Vertices whose boxes this motion makes larger: those of others, and the trees but
                             * for these vertices, are those of the search before; what is found has all pairs of theirs */
    abut_pair_budget *budget;   /* NULL: any number of pairs */
    const abut_ranks *ranks;    /* each finds a part of the pairs, and each pair is found by one; NULL: all are found */
    int anywhere;           /* a vertex may be anywhere in the box of its motion at any time, and not where the others say */
} abut_motion;

/* Boxes of fixed vertices as they were in a search: trees of these need no new ones where they are the same again.  Searches
 * of two kinds, of another reach, mostly alternate. */
enum { ABUT_BROAD_STILLS = 2 };
typedef struct abut_broad_still {
    float (*box)[ABUT_ROWS];    /* [n] of fixed vertices in their order */
    size_t n;
    uint64_t stamp;             /* of these boxes alone; 0: none */
} abut_broad_still;

/* Zero-filled is empty; keeps its memory from call to call. */
typedef struct abut_broad_phase {
    abut_motion m;
    float (*box)[ABUT_ROWS];    /* [nv] of vertices, grown by their halves of reach and thickness */
    double rounding;            /* m: what positions during the motion may be off */
    size_t cap;
    abut_broad_still still[ABUT_BROAD_STILLS];  /* the present ones first; none where no vertex is fixed */
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
 * They are rebuilt when they are of another number of primitives, other vertices are fixed, or what is together has moved
 * apart. */
typedef struct abut_broad_trees abut_broad_trees;
/** Sets NULL. */
void abut_broad_trees_free(abut_broad_trees **trees);

/** Every pair (i of a, j of b) without a common vertex that comes within reach of its thickness during the motion, and of
 * those that lose two thirds of their distance all whose motions come within reach; some others.  Sorted; a == b (the same
 * pointer, tb is ignored): i < j.  The same bytes for every thread count and whatever the trees were.  On failure, and beyond
 * the budget, out is empty.  Of ranks each gets those that its packs find.
 * Fails  ABUT_E_NOMEM; ABUT_E_NUMERIC the trees of ranks differ */
ABUT_MUST_USE abut_status abut_broad_pairs(const abut_broad_phase *s, const abut_prims *a, abut_broad_trees **ta,
                                              const abut_prims *b, abut_broad_trees **tb, abut_pair_list *out,
                                              abut_err *err);

/** What abut_broad_init says that positions during the motion may be off, m. */
double abut_broad_rounding_of(const abut_motion *m);
/** Whether abut_broad_pairs finds the pair of the primitives v[ka] and v[ka ..] of kb vertices for m, where a search for ends
 * between some y1 and y2, those of m among them, has found it.  rounding: that of m. */
int abut_broad_finds(const abut_motion *m, double rounding, int ka, int kb, const int32_t *v);

#endif
