/* Candidates: pairs of collision primitives that may come close.  One broad phase per Newton iteration serves the contact
 * sets of every trial of its line search, the CCD bound and the intersection test. */
#ifndef ABUT_CONTACT_CANDIDATES_H
#define ABUT_CONTACT_CANDIDATES_H

#include "contact/collision_mesh.h"
#include "geom/bvh.h"

/* Zero-filled is empty.  Keeps its memory from call to call. */
typedef struct abut_candidates {
    abut_pair_list vt;      /* vertex, triangle */
    abut_pair_list ee;      /* edge, edge, i < j */
    struct abut_cand_boxes {
        abut_box *box;      /* the last boxes: vertices, then edges, then triangles */
        uint8_t *still;     /* the same rows: all vertices fixed */
        size_t cap;
    } boxes;
} abut_candidates;

/** Every pair that comes within `reach` (m) anywhere along the straight motion y0 -> y1 (y1 NULL: at y0), except pairs
 * with a common vertex and pairs whose vertices are all fixed.  fixed[nc] (NULL: none): prescribed vertices.
 * Sorted; a superset is allowed, a miss is not.  On failure the lists are empty.
 * Fails  ABUT_E_GEOM a position is not finite (names the node), ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_candidates_find(const abut_collmesh *cm, const double *y0, const double *y1, double reach,
                                               const uint8_t *fixed, abut_candidates *out, abut_err *err);

/** Drops the candidates whose boxes along a shorter motion y0 -> y1 (y1 NULL: at y0), grown for `reach`, do not overlap:
 * after the CCD bound, the trials of the line search need no others.  Keeps the order; y0, reach as in the call that
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
} abut_nearby;

/** What abut_candidates_find gives for y0 -> y1, to the byte: culled from the wide search where the boxes of all vertices
 * lie inside those of that search, else from a new one.
 *
 * y_from   NULL, or positions [nc] from which a motion to the neighbourhood of y1 is to be expected too: a new search is
 *          made wide enough to hold them
 * Fails    as abut_candidates_find */
ABUT_MUST_USE abut_status abut_candidates_near(const abut_collmesh *cm, const double *y_from, const double *y0,
                                               const double *y1, double reach, const uint8_t *fixed, abut_nearby *near,
                                               abut_candidates *out, abut_err *err);

void abut_nearby_clear(abut_nearby *near);
void abut_candidates_clear(abut_candidates *c);

#endif
