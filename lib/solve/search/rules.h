/* Decisions of a minimisation that depend on numbers alone. */
#ifndef ABUT_SOLVE_SEARCH_RULES_H
#define ABUT_SOLVE_SEARCH_RULES_H

/** Returns the largest value of the objective that a step of length alpha may reach: start + noise - part alpha slope (Armijo
 * 1966).  The start has the given value and rounding; the objective falls along the direction by `slope` at first.  part 0: it
 * must not grow. */
double abut_rule_ceiling(double start, double noise, double part, double alpha, double slope);

/** Returns 1 if a line ends before its minimum or not far beyond it.  from, to: slopes by which the objective falls at its start
 * and end.  Approximate condition of Wolfe (Hager and Zhang 2005, 4.1): to >= -(1 - 2 delta) from, delta 0.1. */
int abut_rule_not_beyond(double from, double to);

/** Returns the fraction of a direction that moves no point further than half of dhat, m, if alpha of it moves one by `motion`, m:
 * pairs that are dhat apart or more cannot meet on it.  Infinite if nothing moves. */
double abut_rule_cfl(double dhat, double alpha, double motion);

/** Returns the distance to a minimum, m/s, after a direction of `speed`, if the next one by the same matrix has `next`:
 * directions shrink by next / speed, and this is the sum of all to come (Deuflhard 2004, 2.1); infinite if they do not
 * shrink. */
double abut_rule_error(double speed, double next);
/** Returns 1 if that distance is small enough, m/s: at most ABUT_NEAR times the tolerance after a short direction of Newton's,
 * whose next ones shrink ever faster (shrinks 1); an ABUT_NEARER-th of the tolerance after others. */
int abut_rule_near(double left, double tolerance, int shrinks);
enum { ABUT_NEAR = 4, ABUT_NEARER = 10 };
/** Returns 1 if a long direction of `speed`, after one of `last`, may be the last: the next one, shorter by the same factor,
 * would be short.  Newton's shrink faster. */
int abut_rule_may_be_last(double last, double speed, double tolerance);

/** Returns 1 if forces balance: the residual `left`, N, is at most `tolerance` times the largest, N.  tolerance 0: always. */
int abut_rule_balanced(double left, double largest, double tolerance);

/** Returns 1 if a sticking friction contact, slid by less than the threshold, m, would slide after a direction that takes it to
 * `then`: it is about to slide, for any length of the direction. */
int abut_rule_lets_go(double slid, double then, double threshold);

/* Iterations without progress of a quantity towards 0.  Zero-filled is the start of a minimisation. */
typedef struct abut_rule_stall {
    double best;    /* the smallest value that counted as progress; 0: none yet */
    int since;      /* iterations without progress */
} abut_rule_stall;

/** Notes `left` after an iteration; returns 1 if it was not halved in ABUT_STALL_ITERATIONS iterations. */
int abut_rule_stalls(abut_rule_stall *s, double left);
enum { ABUT_STALL_ITERATIONS = 10 };

/** Returns 1 if the speed of a direction, m/s, is within the tolerance. */
int abut_rule_is_short(double speed, double tolerance);

/** Returns the curvature along a direction, over that of the matrix, by a full step: the objective fell along it by `slope` at
 * first, and from start to reached in all.  1 if its rounding, `noise`, hides it. */
double abut_rule_curvature(double slope, double start, double reached, double noise);
/** Returns the factor by which a direction of that curvature was too short: a power of 2, so that scaling is exact.  A projected
 * Hessian is stiffer than the true one, which may even be indefinite: near a buckling point many directions in a row are equal
 * and much too short.  A direction below the tolerance (is_short) is lengthened only for a large factor. */
double abut_rule_length(double curvature, int is_short);

/* Directions to wait before another try after a failure: 1, then three times as many each time.  Zero-filled: none. */
typedef struct abut_rule_wait {
    int left, patience;     /* still to wait; waited last time, 0: the last try was good */
} abut_rule_wait;
/** Counts a direction, and returns 1 if a try is due. */
int abut_rule_is_due(abut_rule_wait *w);
/** Notes a try, good or not; the next waits for at most `longest` directions. */
void abut_rule_tried(abut_rule_wait *w, int good, int longest);

/* Scripted motion without progress.  Zero-filled is the start. */
typedef struct abut_rule_blocked {
    double fraction;        /* of the scripted motion that was done at its last progress */
    int updates;            /* since then */
} abut_rule_blocked;
/** Notes the fraction of the motion that is done at an update of the augmented Lagrangian, with all else settled; returns 1 after
 * ABUT_BLOCKED_UPDATES of them without progress. */
int abut_rule_is_blocked(abut_rule_blocked *b, double fraction);
enum { ABUT_BLOCKED_UPDATES = 200 };

/* Iterations without progress.  Zero-filled is the start of a minimisation. */
typedef struct abut_rule_stagnation {
    double speed;           /* of the shortest direction that counted as progress, m/s; 0: none yet */
    int since;              /* iterations since there was progress, and of these: */
    double went, fell;      /* step lengths, together; by how much the objective fell, kg m^2 */
} abut_rule_stagnation;
/** Notes an iteration along a direction of `speed`, m/s (or another measure that is 0 at the end), of which `went` was taken, and
 * the objective fell by `fell`; returns the number of iterations since the last progress.  Progress is a direction shorter by a
 * tenth than the shortest that counted before; or steps of one whole direction together, in which the objective fell by more
 * than its rounding, `noise`. */
int abut_rule_stagnates(abut_rule_stagnation *s, double speed, double went, double fell, double noise);
/** Returns how many of them are too many if `most` iterations are allowed: a fifth, and at least ABUT_STAGNATION.  Steps of equal
 * length that would arrive within `most` iterations make progress more often. */
int abut_rule_patience(int most);
enum { ABUT_STAGNATION = 2000 };

#endif
