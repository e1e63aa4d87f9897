/* The path of a step proves that a motion without collisions and inversions joins two frames.
 *
 * A line is free if nothing touches on it and no tet whose material forbids inversion loses its positive volume.  Every accepted
 * iterate is reached from the one before along a free straight line, by the bounds of the search.  The straight line from the
 * start of the step to its end need not be free: bodies that slide or rotate together pass around each other, and a body that
 * tips over would pass through itself.  So the iterates are kept, and at the end of a pass those are dropped that a free straight
 * line bridges; mostly none remains.  The others are in the frame (step/waypoints), and a judge follows them.
 *
 * Over frames that are not written the path continues.  Each step shortens its own part; then those of several steps are joined,
 * then several such parts, and so on, like carries of a counter.  A line over n steps is tried once in n steps, and given up at
 * more than n times a fixed number of pairs, so omitted frames cost less than a search for pairs in each step. */
#ifndef ABUT_SOLVE_SEARCH_PATH_H
#define ABUT_SOLVE_SEARCH_PATH_H

#include "contact/candidates.h"
/* A pair of primitives that met on a line tried before: its kind and vertices. */
typedef struct abut_path_hit {
    abut_stencil kind;
    int32_t v[4];           /* -1 unused */
} abut_path_hit;
enum { ABUT_PATH_HITS = 16 };

/* Points of 3 nv numbers: the start, iterates, the present end.  Zero-filled is empty. */
typedef struct abut_path {
    double **point;
    int n;
    size_t cap;
    int *steps;             /* [cap] number of steps that the line to a point from the point before bridges; negative: as many,
                             * and no line crosses the point */
    int step;               /* the point from which the present step starts */
    size_t n3;              /* numbers of a point */
    abut_candidates cand;
    double *y0, *y1;        /* [3 nc] a line */
    abut_path_hit hit[ABUT_PATH_HITS];  /* last one first: lines are tried on these before all others, which changes no answer */
    int n_hit;
    int32_t tet;            /* the tet that inverted on a line tried before, plus 1; 0: none has */
    int proven;             /* the step's start and end are joined by one straight line that exact arithmetic has found free */
} abut_path;

/** Starts a new path at x[3 nv]. */
ABUT_MUST_USE abut_status abut_path_start(abut_path *p, const abut_collmesh *cm, const double *x, abut_err *err);
/** Starts the next step at the end of the path; joins the parts before if that is due. */
ABUT_MUST_USE abut_status abut_path_next_step(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed, abut_err *err);
/** Drops all points of the present step but its start, for another path from there. */
void abut_path_back(abut_path *p);
/** Continues to x along a free straight line. */
ABUT_MUST_USE abut_status abut_path_add(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed, const double *x,
                                        abut_candidate_search *near, abut_err *err);
/** Continues to x and drops all points of the present step between, if the straight line from its start to x is free: *is_free;
 * else nothing changes. */
ABUT_MUST_USE abut_status abut_path_leap(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed, const double *x,
                                         abut_candidate_search *near, int *is_free, abut_err *err);
/** Drops every point of the present step that a free straight line bridges, by exact decisions; its start and end stay.
 * fixed[nc] as in contact/candidates.h; near: scratch of searches. */
ABUT_MUST_USE abut_status abut_path_shorten(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed,
                                            abut_candidate_search *near, abut_err *err);
/** Tests by exact decisions whether every straight line of the present step is free: *hit is the end of the first that is not, 0:
 * all are.  For a path of unknown origin. */
ABUT_MUST_USE abut_status abut_path_prove(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed,
                                          abut_candidate_search *near, int *hit, abut_err *err);
/** Joins all steps to one, by lines that are free and cheap to test. */
ABUT_MUST_USE abut_status abut_path_join(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed, abut_err *err);
/** Returns 1 if the points take so much memory that the next frame should be written. */
int abut_path_is_full(const abut_path *p);
void abut_path_clear(abut_path *p);

#endif
