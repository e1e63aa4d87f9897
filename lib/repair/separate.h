/* Repair of an initial state: the smallest displacement that leaves no intersection and the requested gap. */
#ifndef ABUT_REPAIR_SEPARATE_H
#define ABUT_REPAIR_SEPARATE_H

#include "contact/collision_mesh.h"
#include "repair/constraints.h"

typedef struct abut_separate_opts {
    double gap;         /* m, > 0: how far beyond their thickness all pairs are to be apart, and above all half-spaces */
    double max_move;    /* m, > 0: no node may move further */
    double min_volume;  /* in (0, 1): a tet keeps this fraction of its volume at the start (0.2) */
    int max_rounds;     /* linearisations (100) */
} abut_separate_opts;

/** gap as given, max_move = the length of the model / 10, the other values as above. */
abut_separate_opts abut_separate_defaults(const abut_model *m, double gap);

/* Kind of a remaining fault; ids are rows of contact/vertex, edge, triangle, of half-space/ and of tet/. */
typedef enum abut_left_kind {
    ABUT_LEFT_INTERSECTION, /* edge, triangle that it touches */
    ABUT_LEFT_VT,       /* vertex, triangle nearer than the gap; the next two alike */
    ABUT_LEFT_EE,       /* edge, edge */
    ABUT_LEFT_VE,       /* vertex of no triangle, edge of no triangle */
    ABUT_LEFT_VV,       /* vertices of no edge */
    ABUT_LEFT_PLANE,    /* vertex, half-space */
    ABUT_LEFT_TET,      /* tet without positive volume, -1 */
    ABUT_LEFT_MOVE      /* node that would have to move further than max_move, -1 */
} abut_left_kind;

typedef struct abut_left {
    abut_left_kind kind;
    int32_t id[2];
    double lacking;     /* m: required distance minus distance; ABUT_LEFT_MOVE: displacement beyond the limit; else 0 */
} abut_left;

enum { ABUT_LEFT_MAX = 20 };

typedef struct abut_separate_report {
    int done;                       /* 1: no intersection, every distance >= thickness + gap, every tet positive */
    int rounds;
    size_t intersections_start, intersections_end;
    double gap_start, gap_end;      /* m: certified smallest distance less thickness among pairs nearer than required, INFINITY
                                     * without any; 0 if primitives cross */
    double limit, residual;         /* m: opt->max_move; required gap minus gap_end, 0 if reached */
    double move_max, move_rms;      /* m: largest displacement; root of the mass-weighted mean square */
    int32_t move_node;              /* node of the largest, -1 when nothing moved */
    int n_left;                     /* faults in left[], at most ABUT_LEFT_MAX, intersections first */
    abut_left left[ABUT_LEFT_MAX];
} abut_separate_report;

/** Moves free nodes of x0 as little as possible (sum of mass |dx|^2) to a state without intersections and with all
 * distances >= thickness + gap.  Every round linearises the pairs that cross or are too close (directions: repair/constraints.h)
 * and solves for the smallest displacement from x0 that satisfies all constraints.  Obstacles and handles do not move.  The
 * result is verified with exact predicates and certified distances.
 *
 * x0, x   [3 nv] m; x out: x0 plus the displacement when report->done, else x0
 * report  out, always filled when the call succeeds: a state that cannot be separated is no failure of the call
 * Fails  ABUT_E_ARG an option is out of range;  ABUT_E_FORMAT vertices of cm are no nodes;  ABUT_E_GEOM a tet of x0 is not
 *        positive, a position is not finite (names it);  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_separate(const abut_collmesh *cm, const double *x0, const abut_separate_opts *opt, double *x,
                                        abut_separate_report *report, abut_err *err);

#endif
