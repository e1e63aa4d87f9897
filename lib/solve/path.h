/* The way of a step: what proves that two frames are joined by a motion without collisions.
 *
 * Every accepted iterate is reached from the one before along a straight line that the CCD bound keeps free.  The straight
 * line from the start of the step to its end need not be free: bodies that slide or turn together go around each other.  So
 * the iterates are kept, and at the end of a pass all those are dropped that a free straight line bridges; mostly none is
 * left.  The others go into the frame (step/way), and a judge follows them.  Over frames that are not written the way goes on:
 * each step shortens its own part, and all parts are joined once, for the frame that is. */
#ifndef ABUT_SOLVE_PATH_H
#define ABUT_SOLVE_PATH_H

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
    int step;               /* the point from which the present step starts */
    size_t n3;              /* numbers of a point */
    abut_candidates cand;
    double *y0, *y1;        /* [3 nc] a line */
    abut_path_hit hit[ABUT_PATH_HITS];  /* last one first: lines are tried on these before all others, which changes no answer */
    int n_hit;
    int proven;             /* the step's start and end are joined by one straight line that exact arithmetic has found free */
} abut_path;

/** Starts a way of its own at x[3 nv]. */
ABUT_MUST_USE abut_status abut_path_start(abut_path *p, const abut_collmesh *cm, const double *x, abut_err *err);
/** The next step starts where the way ends. */
ABUT_MUST_USE abut_status abut_path_next_step(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed,
                                              abut_candidate_search *near, abut_err *err);
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
/** The same for all steps as one. */
ABUT_MUST_USE abut_status abut_path_join(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed,
                                         abut_candidate_search *near, abut_err *err);
void abut_path_clear(abut_path *p);

#endif
