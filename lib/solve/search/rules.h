/* The decisions of a minimisation that are functions of numbers alone: whoever iterates takes them from here. */
#ifndef ABUT_SOLVE_SEARCH_RULES_H
#define ABUT_SOLVE_SEARCH_RULES_H

/* The rules that end a minimisation (solve/search/minimise.h). */
enum { ABUT_STOP_NEWTON, ABUT_STOP_PUBLISHED, ABUT_STOP_CHARACTERISTIC, ABUT_STOP_GRADIENT, ABUT_STOP_STEP, ABUT_STOPS };

/* Where the iterations of a time step begin (solve/step/guess.c); the public code of Li 2020 numbers them 1, 0, 2, 3, 4, 5. */
enum { ABUT_GUESS_COAST, ABUT_GUESS_START, ABUT_GUESS_INERTIA, ABUT_GUESS_SYMPLECTIC, ABUT_GUESS_ACCELERATED, ABUT_GUESS_JACOBI,
       ABUT_GUESSES };

/** The largest value of the objective that a step of length alpha may reach, from a start with the given value and rounding,
 * where the objective falls along the direction by `slope` at first (Armijo 1966): start + noise - part alpha slope.  part 0: it
 * must not grow. */
double abut_rule_ceiling(double start, double noise, double part, double alpha, double slope);

/** Whether a line ends before its minimum or not far beyond it, by how fast the objective falls at its start and its end: the
 * approximate condition of Wolfe (Hager and Zhang 2005, 4.1), `to` >= -(1 - 2 delta) `from` with delta 0.1. */
int abut_rule_not_beyond(double from, double to);

/** The fraction of a direction that moves no point further than half of dhat, m, where alpha of it moves one by `motion`, m:
 * pairs that are dhat apart or more cannot meet on it.  Infinite where nothing moves. */
double abut_rule_cfl(double dhat, double alpha, double motion);

/** What is left to a minimum, m/s, at the end of a direction of `speed` when the same matrix has a direction of `next` from
 * there: directions shrink by next / speed, and this is the sum of all to come (Deuflhard 2004, 2.1); infinite when they do not
 * shrink. */
double abut_rule_error(double speed, double next);
/** Whether that is near enough: at most ABUT_NEAR times the tolerance, m/s, after a short direction in a row of Newton's, which
 * shrink ever faster; an ABUT_NEARER-th of it after others. */
int abut_rule_near(double left, double tolerance, int shrinks);
enum { ABUT_NEAR = 4, ABUT_NEARER = 10 };
/** Whether a direction of `speed`, after one of `last`, may be the last though it is long: a next one, as much shorter again,
 * would be short.  Newton's shrink faster. */
int abut_rule_may_be_last(double last, double speed, double tolerance);

/** Whether forces balance: what is left of them, N, is at most `tolerance` of the largest, N.  tolerance 0: nobody asks. */
int abut_rule_balanced(double left, double largest, double tolerance);

/** Whether a friction contact that sticks, slid by less than the threshold, m, would slide after a direction that takes it to
 * `then`: friction then has yet to let go, however short the direction is. */
int abut_rule_lets_go(double slid, double then, double threshold);

/* Iterations that no longer bring something nearer to 0.  Zero-filled is the start of a minimisation. */
typedef struct abut_rule_stall {
    double best;    /* the smallest rest that counted as progress; 0: none yet */
    int since;      /* iterations without progress */
} abut_rule_stall;

/** After an iteration that leaves `left`: 1 when the rest has not been halved for ABUT_STALL_ITERATIONS of them. */
int abut_rule_stalls(abut_rule_stall *s, double left);
enum { ABUT_STALL_ITERATIONS = 10 };

/** Whether a direction of that speed, m/s, moves nothing beyond the tolerance. */
int abut_rule_is_short(double speed, double tolerance);

/** The curvature along a direction, over that of the matrix, as a full step has shown it: the objective fell along it by
 * `slope` at first, and from start to reached in the end.  1 when its rounding, `noise`, hides it. */
double abut_rule_curvature(double slope, double start, double reached, double noise);
/** How many times longer a direction of that curvature should have been: a power of 2, so that scaling is exact.  The projected
 * Hessian is stiffer than the true one, which may even be indefinite: near a buckling point many directions in a row are the same
 * and much too short.  One that is short has to ask for much more. */
double abut_rule_length(double curvature, int is_short);

/* Directions to wait before something that failed is tried again: 1, then three times as many each time.  Zero-filled: none. */
typedef struct abut_rule_wait {
    int left, patience;     /* to wait still, and how many they were last time; 0: it was good */
} abut_rule_wait;
/** Whether it is time; counts. */
int abut_rule_is_due(abut_rule_wait *w);
/** It was tried, and was good or not; no more than `longest` directions are waited for. */
void abut_rule_tried(abut_rule_wait *w, int good, int longest);

/* Scripted motion that comes no further.  Zero-filled is the start. */
typedef struct abut_rule_blocked {
    double fraction;        /* of the scripted motion that was done when it last got on */
    int updates;            /* since then */
} abut_rule_blocked;
/** After an update of the augmented Lagrangian that finds so much done: 1 when ABUT_BLOCKED_UPDATES have brought nothing, though
 * all else had settled each time. */
int abut_rule_is_blocked(abut_rule_blocked *b, double fraction);
enum { ABUT_BLOCKED_UPDATES = 200 };

/* Iterations that come no closer to an end.  Zero-filled is the start of a minimisation. */
typedef struct abut_rule_stagnation {
    double speed;           /* of the shortest direction that counted as progress, m/s; 0: none yet */
    int since;              /* iterations since there was progress, and of these: */
    double went, fell;      /* step lengths, together; by how much the objective fell, kg m^2 */
} abut_rule_stagnation;
/** After an iteration along a direction of `speed`, m/s (or another measure that is 0 at the end), of which `went` was taken
 * while the objective fell by `fell`: the iterations since there was progress.  Progress is a direction shorter by a tenth than
 * the shortest that counted before; or steps of one whole direction together, in which the objective fell by more than its
 * rounding, `noise`. */
int abut_rule_stagnates(abut_rule_stagnation *s, double speed, double went, double fell, double noise);
/** How many of them are too many where `most` iterations are allowed: a fifth, and at least ABUT_STAGNATION.  Steps of one length
 * that would arrive within `most` iterations make progress so often. */
int abut_rule_patience(int most);
enum { ABUT_STAGNATION = 2000 };

#endif
