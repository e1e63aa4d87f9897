/* Candidates: pairs of collision primitives that may come close.  One broad phase per Newton iteration serves the contact
 * sets of every trial of its line search, the CCD bound and the intersection test.
 *
 * Surfaces need vertices against triangles and edges against edges.  An edge pair of parallel rods has no force (geom/dist.h),
 * and particles have no edge: so vertices of no triangle also go against edges of no triangle, and vertices of no edge against
 * each other.  The sides of triangles need no such pairs, because the triangle covers them. */
#ifndef ABUT_CONTACT_CANDIDATES_H
#define ABUT_CONTACT_CANDIDATES_H

#include "contact/collision_mesh.h"
#include "geom/broad_phase.h"
#include "math/lanes.h"

#include <string.h>

/* Memory of a search for the next search of the same collision mesh.  Zero-filled is empty.  Does not change results. */
typedef struct abut_candidate_search {
    abut_broad_phase broad;
    abut_broad_trees *of_vertices, *of_edges, *of_triangles, *of_loose, *of_segs, *of_points;
    int32_t nc, n_seg;
    int32_t *self, *seg;    /* [nc] 0, 1, 2, ...; [2 n_seg] ends of the edges cm->seg */
    const abut_ranks *ranks;    /* ranks that divide the search, set by the owner; NULL: none */
    int by_area;            /* set by the owner.  1: contacts are weighed by area, if they are (contact/area.h): pairs within flat
                             * parts of a surface that have neither a contact nor a collision are left out */
    struct abut_flat_room *flat;
} abut_candidate_search;

/* Zero-filled is empty.  Keeps its memory from call to call. */
typedef struct abut_candidates {
    abut_pair_list vt;      /* vertex, triangle */
    abut_pair_list ee;      /* edge, edge, i < j */
    abut_pair_list ve;      /* vertex of no triangle, edge of no triangle */
    abut_pair_list vv;      /* vertices of no edge, i < j */
    abut_candidate_search search;
    const abut_ranks *ranks;    /* the lists are the part of this rank; NULL: they are complete */
    size_t total;           /* pairs of all ranks */
    struct abut_cand_motion {   /* motion of the lists if abut_candidates_again has made them */
        double *y;          /* [6 nc] start, then end */
        double reach;       /* m; below 0: nothing */
        size_t cap;
    } of;
} abut_candidates;

enum { ABUT_CANDIDATE_LISTS = 4 };
/** Stencil of the pairs of list k; loops over all candidates take the lists in this order. */
static inline abut_stencil abut_candidates_kind(int k)
{
    return k == 0 ? ABUT_PT : k == 1 ? ABUT_EE : k == 2 ? ABUT_PE : ABUT_PP;
}
static inline const abut_pair_list *abut_candidates_list(const abut_candidates *c, int k)
{
    return k == 0 ? &c->vt : k == 1 ? &c->ee : k == 2 ? &c->ve : &c->vv;
}
static inline size_t abut_candidates_count(const abut_candidates *c) { return c->vt.n + c->ee.n + c->ve.n + c->vv.n; }

/** *v: the vertices of the first primitive of a pair, or of the second; returns how many. */
static inline int abut_candidate_first(const abut_collmesh *cm, abut_stencil s, const int32_t ij[2], const int32_t **v)
{
    *v = s == ABUT_EE ? cm->edge + 2 * (size_t)ij[0] : ij;
    return s == ABUT_EE ? 2 : 1;
}
static inline int abut_candidate_second(const abut_collmesh *cm, abut_stencil s, const int32_t ij[2], const int32_t **v)
{
    *v = s == ABUT_PT ? cm->tri + 3 * (size_t)ij[1] : s == ABUT_PP ? ij + 1 : cm->edge + 2 * (size_t)ij[1];
    return s == ABUT_PT ? 3 : s == ABUT_PP ? 1 : 2;
}
/** v[4]: the vertices of both primitives, -1 unused. */
static inline void abut_candidate_vertices(const abut_collmesh *cm, abut_stencil s, const int32_t ij[2], int32_t v[4])
{
    const int32_t *a, *b;
    const int na = abut_candidate_first(cm, s, ij, &a), nb = abut_candidate_second(cm, s, ij, &b);
    memcpy(v, a, (size_t)na * sizeof *v);
    memcpy(v + na, b, (size_t)nb * sizeof *v);
    for (int k = na + nb; k < 4; k++) v[k] = -1;
}

/** Thickness of a pair, m. */
static inline double abut_candidate_xi(const abut_collmesh *cm, abut_stencil s, const int32_t ij[2])
{
    const int32_t *a, *b;
    if (!cm->xi) return 0;
    (void)abut_candidate_first(cm, s, ij, &a);
    (void)abut_candidate_second(cm, s, ij, &b);
    return 0.5 * (cm->xi[*a] + cm->xi[*b]);
}

/* Up to four candidates of one list that follow each other. */
typedef struct abut_candidate_four {
    size_t n;
    int32_t v[ABUT_LANES][4];   /* vertices, -1 unused; from n on the first candidate again */
    double xi[ABUT_LANES];      /* m */
} abut_candidate_four;

/** Takes candidates [k, hi) of a list, at most four; s is a literal in fast loops. */
static inline __attribute__((always_inline)) void abut_candidates_take(const abut_collmesh *cm, abut_stencil s,
                                                                       const abut_pair_list *list, size_t k, size_t hi,
                                                                       abut_candidate_four *f)
{
    f->n = hi - k < ABUT_LANES ? hi - k : ABUT_LANES;
    for (size_t l = 0; l < ABUT_LANES; l++) {
        const int32_t *ij = list->ij[l < f->n ? k + l : k];
        abut_candidate_vertices(cm, s, ij, f->v[l]);
        f->xi[l] = abut_candidate_xi(cm, s, ij);
    }
}

/** Fails  ABUT_E_GEOM a coordinate is not finite, or too large for a search (names the node) */
ABUT_MUST_USE abut_status abut_candidates_check(const abut_collmesh *cm, const double *y, abut_err *err);
/** Finds every pair that comes within `reach` (m) of its thickness anywhere along the straight motion y0 -> y1 (y1 NULL: at y0),
 * except pairs with a common vertex, pairs whose vertices are all fixed, and pairs that pass through each other.
 * fixed[nc] (NULL: none): prescribed vertices.
 * All vertices move along their lines in the same time: configurations beside this motion may have other pairs.
 * Sorted; a superset is allowed, a miss is not.  On failure the lists are empty.
 * Fails  ABUT_E_GEOM a position is not finite (names the node), ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_candidates_find(const abut_collmesh *cm, const double *y0, const double *y1, double reach,
                                               const uint8_t *fixed, abut_candidates *out, abut_err *err);
/** abut_candidates_find for vertices that may be anywhere in the box of their line: many more pairs. */
ABUT_MUST_USE abut_status abut_candidates_around(const abut_collmesh *cm, const double *y0, const double *y1, double reach,
                                                 const uint8_t *fixed, abut_candidates *out, abut_err *err);
/** abut_candidates_find with trees that several lists share; each of kept->ranks finds a part.  Does nothing if it has made `out`
 * for the same y0, y1 and reach.  `kept` serves one collision mesh and one set of fixed vertices. */
ABUT_MUST_USE abut_status abut_candidates_again(const abut_collmesh *cm, const double *y0, const double *y1, double reach,
                                                const uint8_t *fixed, abut_candidate_search *kept, abut_candidates *out,
                                                abut_err *err);

/** abut_candidates_again for at most `most` pairs: if there are more, the lists are empty and *too_many is 1, else 0. */
ABUT_MUST_USE abut_status abut_candidates_few(const abut_collmesh *cm, const double *y0, const double *y1, double reach,
                                              const uint8_t *fixed, size_t most, abut_candidate_search *kept,
                                              abut_candidates *out, int *too_many, abut_err *err);

void abut_candidate_search_clear(abut_candidate_search *s);
void abut_candidates_clear(abut_candidates *c);

/* Candidates of motions with the same start and similar ends, such as the motions of the iterations of a step.
 *
 * One search finds the pairs of all motions whose vertices end in boxes, a box for each vertex.  If a motion ends in the boxes,
 * its pairs are among these.  A vertex that leaves its box gets a larger box, and the search is repeated for the primitives of
 * such vertices.  abut_candidate_test decides for each pair whether a search for one motion alone finds it. */

/* Zero-filled is empty.  Serves one collision mesh. */
typedef struct abut_repeated_search {
    abut_candidates wide;       /* of all motions that end in the boxes */
    double *start, *low, *high; /* [3 nc] m: start of the motions; boxes of their ends; NULL: none yet */
    uint8_t *fixed;             /* [nc] fixed vertices of the search */
    uint8_t *changed;           /* [nc] scratch: vertices whose boxes grow */
    int known;                  /* 1: `wide` and the boxes are valid for start and fixed */
} abut_repeated_search;

/** Computes s->wide, which contains the candidates of y0 -> y1 with `reach`, m, that of all calls for one y0.
 * fixed   [nc]
 * margin  m: boxes are enlarged by this on each side, or by half the distance by which an end has left its box
 * Fails   as abut_candidates_find */
ABUT_MUST_USE abut_status abut_repeated_search_find(abut_repeated_search *s, const abut_collmesh *cm, const double *y0,
                                                    const double *y1, double reach, const uint8_t *fixed, double margin,
                                                    abut_err *err);
/** Test of single pairs: does abut_candidates_find find them? */
typedef struct abut_candidate_test {
    abut_motion motion;
    double rounding;
} abut_candidate_test;
abut_candidate_test abut_candidate_test_of(const abut_collmesh *cm, const double *y0, const double *y1, double reach);
/** 1: it finds the pair of s->wide of that kind with vertices v[4]. */
int abut_candidate_test_has(const abut_candidate_test *t, abut_stencil kind, const int32_t v[4]);
/** Returns the trees of s, for another search of the same collision mesh; drops the boxes and pairs of s. */
abut_candidate_search *abut_repeated_search_lend(abut_repeated_search *s);
void abut_repeated_search_clear(abut_repeated_search *s);

#endif
