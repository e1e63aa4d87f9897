/* Shared by the files of the minimiser: minimise.c starts, iterates and stops, line.c searches along a direction,
 * rotate.c has the moves that rotate, processor.c has the operations of the processor. */
#ifndef ABUT_SOLVE_SEARCH_SEARCH_PARTS_H
#define ABUT_SOLVE_SEARCH_SEARCH_PARTS_H

#include "solve/search/search_ops.h"

static inline void abut_search_swap(double **a, double **b)
{
    double *c = *a;
    *a = *b;
    *b = c;
}

/* ---- minimise.c ---- */

/** Ends the minimisation: sets s->failed.kind and writes its words.  Returns ABUT_E_NUMERIC, or the failure of doing so. */
abut_status abut_search_fail(abut_search *s, abut_failure_kind kind, abut_err *err);
/** Exchanges trial and another point. */
void abut_search_exchange(abut_search *s, abut_point *with);

/* ---- line.c: bounds ---- */

/** Finds the largest feasible step along s->p, no longer than `most` (in (0, 1]; below 1 its kind is ABUT_LIMIT_LENGTH), and the
 * candidates of that sweep in s->cand.  The fraction `first` of s->p is swept first, which may save sweeping it all; 0: all of
 * it at once. */
ABUT_MUST_USE abut_status abut_search_bound(abut_search *s, double first, double most, abut_limit *lim, abut_report *rep,
                                            abut_err *err);
/** Bounds a new direction s->p, by the rule of the options. */
ABUT_MUST_USE abut_status abut_search_bound_direction(abut_search *s, abut_limit *lim, abut_report *rep, abut_err *err);
/** Returns the longest step along s->p, whose speed is given: 1; without inertia at most the length of the scene, since nothing
 * else bounds a body that is not held. */
double abut_search_longest(const abut_search *s, double speed);

/* ---- minimise.c: stopping rules ---- */

/* A stopping rule; NULL operations do not apply. */
typedef struct abut_stop_rule {
    const char *name;
    const char *norm, *unit;    /* norm of the gradient that it reads, in words, and its unit; NULL: it reads directions */
    int patience;       /* stalled directions in a row after which the minimisation has failed; 0: any number */
    abut_status (*begin)(abut_search *s, abut_err *err);
    /** Tests the iterate, which has its gradient, before a direction is found; NULL: no test. */
    abut_status (*at_iterate)(abut_search *s, int *stop, abut_report *rep, abut_err *err);
    /** 1: a short Newton direction from the iterate, not the first of the minimisation, ends it, and is not followed. */
    int at_direction;
    /** After a step along an exact direction below the tolerance; if `early`, also after a whole one that may be the last.  NULL:
     * directions do not end it. */
    int early;
    abut_status (*after_step)(abut_search *s, double speed, int *stop, abut_report *rep, abut_err *err);
} abut_stop_rule;
/** Returns 1 if short directions end a minimisation. */
static inline int abut_stop_by_directions(const abut_stop_rule *rule) { return rule->after_step || rule->at_direction; }
const abut_stop_rule *abut_search_stop_rule(const abut_search *s);

/* ---- moves ---- */

/* One step from here along s->p, found by the moves. */
typedef struct abut_move {
    abut_limit lim;     /* of s->p */
    abut_iteration *it; /* its length and trials */
    int searched;       /* a move has tried to find it */
    int moved;          /* a move has found it: s->trial, with an objective not above that at here beyond rounding */
    int corrected;      /* trial is not on s->p; s->second_order.linear_step is */
    int rotated;        /* trial is not on s->p: rotate.c */
} abut_move;

/* Moves are tried in the order of the table in minimise.c; a move that does not apply returns at once. */
typedef abut_status (*abut_move_fn)(abut_search *s, abut_move *m, abut_report *rep, abut_err *err);
ABUT_MUST_USE abut_status abut_move_rotate(abut_search *s, abut_move *m, abut_report *rep, abut_err *err);
ABUT_MUST_USE abut_status abut_move_second_order(abut_search *s, abut_move *m, abut_report *rep, abut_err *err);
ABUT_MUST_USE abut_status abut_move_backtrack(abut_search *s, abut_move *m, abut_report *rep, abut_err *err);
ABUT_MUST_USE abut_status abut_move_lengthen_second_order(abut_search *s, abut_move *m, abut_report *rep, abut_err *err);
ABUT_MUST_USE abut_status abut_move_lengthen(abut_search *s, abut_move *m, abut_report *rep, abut_err *err);

/** Evaluates the objective at trial = here + alpha p, and counts that. */
ABUT_MUST_USE abut_status abut_search_try(abut_search *s, double alpha, abut_iteration *it, abut_report *rep, abut_err *err);
/** Tries *p, another step than s->p: *fraction: the smaller of its bound and `most`, times `of_bound` if that is
 * below 1.  s->trial has an infinite objective if gaps are too small to move along it. */
ABUT_MUST_USE abut_status abut_search_try_along(abut_search *s, double **p, double most, double of_bound, double *fraction,
                                                abut_iteration *it, abut_report *rep, abut_err *err);
/** *falls: the objective falls enough to s->trial, alpha along s->p: by Armijo's part of the slope or, if that is 0, without
 * growth beyond rounding.  A change within rounding does not tell for a long direction: then slopes decide. */
ABUT_MUST_USE abut_status abut_search_falls(abut_search *s, double alpha, int *falls, abut_report *rep, abut_err *err);
/** Returns 1 if a full step was found that may have been too short. */
int abut_move_may_lengthen(const abut_search *s, const abut_move *m);

/* ---- rotate.c ---- */

ABUT_MUST_USE abut_status abut_second_order_init(abut_second_order *so, const abut_model *model, abut_err *err);
void abut_second_order_clear(abut_second_order *so);
/** Returns 1 if the model has shells or rods, the options allow corrections, the direction's matrix can be used again, and the
 * step has unknowns. */
int abut_second_order_applies(const abut_search *s);

/** Makes the rotations of stiff bodies; *out NULL: the scene has none. */
ABUT_MUST_USE abut_status abut_rotations_make(abut_rotations **out, const abut_objective *p, abut_err *err);
void abut_rotations_free(abut_rotations *r);
/** Replaces a direction s->p that rotates bodies too far by the best one of its model that does not, and sets its speed. */
ABUT_MUST_USE abut_status abut_rotations_limit(abut_search *s, abut_report *rep, abut_err *err);

/* ---- minimise.c: the start of a step ---- */

enum { ABUT_SCRIPT_DONE, ABUT_SCRIPT_WAITS };

#endif
