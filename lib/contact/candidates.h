/* Candidates: pairs of collision primitives that may come close.  One broad phase per Newton iteration serves the contact
 * sets of every trial of its line search, the CCD bound and the intersection test.
 *
 * Surfaces need vertices against triangles and edges against edges.  Where two rods are parallel an edge pair says nothing
 * (geom/mollify.h), and particles have no edge: vertices of no triangle go against edges of no triangle too, and vertices of
 * no edge against each other.  What a vertex of no triangle could meet on a triangle, the triangle covers. */
#ifndef ABUT_CONTACT_CANDIDATES_H
#define ABUT_CONTACT_CANDIDATES_H

#include "contact/collision_mesh.h"
#include "geom/bvh.h"

#include <string.h>

/* Zero-filled is empty.  Keeps its memory from call to call. */
typedef struct abut_candidates {
    abut_pair_list vt;      /* vertex, triangle */
    abut_pair_list ee;      /* edge, edge, i < j */
    abut_pair_list ve;      /* vertex of no triangle, edge of no triangle */
    abut_pair_list vv;      /* vertices of no edge, i < j */
    struct abut_cand_boxes {
        abut_box *box;      /* the last boxes: vertices, then edges, then triangles */
        uint8_t *still;     /* the same rows: all vertices fixed */
        size_t cap;
    } boxes;
    abut_bvh_trees *of_vertices, *of_edges, *of_triangles;  /* kept for the next search */
    struct abut_cand_motion {   /* what the lists are for, where abut_candidates_near has made them */
        double *y;          /* [6 nc] start, then end */
        double reach;       /* m; below 0: nothing */
        size_t cap;
    } of;
} abut_candidates;

enum { ABUT_CANDIDATE_LISTS = 4 };
/** What the pairs of list k are, in the order in which all candidates are gone through. */
static inline abut_stencil abut_candidates_kind(int k)
{
    return k == 0 ? ABUT_PT : k == 1 ? ABUT_EE : k == 2 ? ABUT_PE : ABUT_PP;
}
static inline const abut_pair_list *abut_candidates_list(const abut_candidates *c, int k)
{
    return k == 0 ? &c->vt : k == 1 ? &c->ee : k == 2 ? &c->ve : &c->vv;
}
static inline size_t abut_candidates_count(const abut_candidates *c) { return c->vt.n + c->ee.n + c->ve.n + c->vv.n; }

/** The vertices of the two primitives of a pair, the first one's and the second one's; returns how many. */
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
/** Both in one stencil: v[4], -1 unused. */
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

/** Every pair that comes within `reach` (m) of its thickness anywhere along the straight motion y0 -> y1 (y1 NULL: at y0),
 * except pairs with a common vertex and pairs whose vertices are all fixed.  fixed[nc] (NULL: none): prescribed vertices.
 * Sorted; a superset is allowed, a miss is not.  On failure the lists are empty.
 * Fails  ABUT_E_GEOM a position is not finite (names the node), ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_candidates_find(const abut_collmesh *cm, const double *y0, const double *y1, double reach,
                                               const uint8_t *fixed, abut_candidates *out, abut_err *err);

/** Drops the candidates whose boxes along a shorter motion y0 -> y1 (y1 NULL: at y0), grown for `reach` and thickness, do not
 * overlap: after the CCD bound, the trials of the line search need no others.  Keeps the order; y0, reach as in the call that
 * found them.
 * Fails  as abut_candidates_find */
ABUT_MUST_USE abut_status abut_candidates_cull(const abut_collmesh *cm, const double *y0, const double *y1, double reach,
                                               abut_candidates *cand, abut_err *err);

/* A search whose boxes were made wider than its motion: while later motions stay inside them, their candidates are among
 * its own.  Zero-filled is empty; serves one collision mesh, one set of fixed vertices. */
typedef struct abut_nearby {
    abut_candidates wide;
    int holds;              /* wide is a finished search */
    size_t searches;        /* made so far */
    size_t vain;            /* pairs of the present one that were culled away, over all uses */
    int uses;               /* of the present one */
    int started;            /* the present one is for the first motion of a step */
    double room;            /* for later motions, over what a lone one is given: searches that serve few are made wider */
} abut_nearby;

/** What abut_candidates_find gives for y0 -> y1, to the byte: culled from the wide search where the boxes of all vertices
 * lie inside those of that search, else from a new one.
 *
 * out      serves this near alone; left as it is when it holds the answer already
 * y_from   NULL, or positions [nc] from which a motion to the neighbourhood of y1 is to be expected too: a new search is
 *          made wide enough to hold them
 * Fails    as abut_candidates_find */
ABUT_MUST_USE abut_status abut_candidates_near(const abut_collmesh *cm, const double *y_from, const double *y0,
                                               const double *y1, double reach, const uint8_t *fixed, abut_nearby *near,
                                               abut_candidates *out, abut_err *err);

void abut_nearby_clear(abut_nearby *near);
void abut_candidates_clear(abut_candidates *c);

#endif
