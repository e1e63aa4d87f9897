/* The path of a step: what proves that two frames are joined by a motion without collisions and inversions.
 *
 * A line is free when nothing touches on it and no tet whose material forbids inversion loses its positive volume.  Every
 * accepted iterate is reached from the one before along a straight line that the bounds of the search keep free.  The straight
 * line from the start of the step to its end need not be free: bodies that slide or rotate together go around each other, and one
 * that tips over would go through itself.  So the iterates are kept, and at the end of a pass all those are dropped that a free
 * straight line bridges; mostly none is left.  The others are in the frame (step/waypoints), and a judge follows them.  Over
 * frames that are not written the path continues: each step shortens its own part, then those of several steps are joined, then
 * several such parts, and so on, as digits carry when a number is counted up.  A line over so many steps is tried once in so
 * many steps, and given up when it has more than so many times a fixed number of pairs to look at: leaving frames out costs less
 * than a search for pairs in each step. */
#ifndef ABUT_SOLVE_SEARCH_PATH_H
#define ABUT_SOLVE_SEARCH_PATH_H

#include "contact/candidates.h"
/* A pair of primitives that met on a line tried before: vertices, and what they are. */
typedef struct abut_path_hit {
    abut_stencil kind;
    int32_t v[4];           /* -1 unused */
} abut_path_hit;
enum { ABUT_PATH_HITS = 16 };

/* Points of 3 nv numbers: the start, iterates, the present end.  Zero-filled is empty. */
typedef struct abut_path {
    double **point;
    int n, cap;
    int *steps;             /* [cap] of a point: how many steps the line to it from the point before bridges; below 0: so many,
                             * and no line bridges this point and the next */
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
/** The next step starts where the path ends; the parts before are joined where it is due. */
ABUT_MUST_USE abut_status abut_path_next_step(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed, abut_err *err);
/** Drops all of the present step but its start, from which another one of it goes. */
void abut_path_back(abut_path *p);
/** Goes on to x along a free straight line. */
ABUT_MUST_USE abut_status abut_path_add(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed, const double *x,
                                        abut_candidate_search *near, abut_err *err);
/** Goes on to x and drops all points between the start of the present step and it, if a free straight line leads there from that
 * start: *is_free says so.  If none does nothing changes. */
ABUT_MUST_USE abut_status abut_path_leap(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed, const double *x,
                                         abut_candidate_search *near, int *is_free, abut_err *err);
/** Drops every point of the present step that a free straight line bridges, by exact decisions; its start and end stay.
 * fixed[nc] as in contact/candidates.h; near: what searches keep. */
ABUT_MUST_USE abut_status abut_path_shorten(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed,
                                            abut_candidate_search *near, abut_err *err);
/** Whether every straight line of the present step is free, by exact decisions: *hit is the first point that is not reached so,
 * 0 when all are.  For a path of unknown origin. */
ABUT_MUST_USE abut_status abut_path_prove(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed,
                                          abut_candidate_search *near, int *hit, abut_err *err);
/** Joins all steps to one, as far as lines that cost little are free. */
ABUT_MUST_USE abut_status abut_path_join(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed, abut_err *err);
/** Whether the points take so much memory that the next frame should be written. */
int abut_path_is_full(const abut_path *p);
void abut_path_clear(abut_path *p);

#endif
