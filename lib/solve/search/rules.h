/* The decisions of a minimisation that are functions of numbers alone: whoever iterates takes them from here. */
#ifndef ABUT_SOLVE_SEARCH_RULES_H
#define ABUT_SOLVE_SEARCH_RULES_H

/** What is left to a minimum, m/s, at the end of a direction of `speed` when the same matrix has a direction of `next` from
 * there: directions shrink by next / speed, and this is the sum of all to come (Deuflhard 2004, 2.1); infinite when they do not
 * shrink. */
double abut_rule_error(double speed, double next);
/** Whether that is near enough: at most ABUT_NEAR times the tolerance, m/s. */
int abut_rule_near(double left, double tolerance);
enum { ABUT_NEAR = 4 };

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

#endif
