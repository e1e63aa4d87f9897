/* What a quasi-Newton direction knows of a minimisation: its last pairs, and how its initial matrix does.  When contacts have
 * changed since that was found, or the curvature along the last step was not the one that it has, it becomes stale once its
 * directions bring little. */
#ifndef ABUT_SOLVE_DIRECTION_QUASI_H
#define ABUT_SOLVE_DIRECTION_QUASI_H

#include "solve/direction.h"
#include "sparse/lbfgs.h"

/* Zero-filled is empty; history and proves are set by whoever makes it. */
typedef struct abut_quasi {
    int history;            /* pairs kept */
    int proves;             /* short directions are checked against Newton's */
    int started;            /* there is an initial matrix */
    int required;           /* the next direction shall be Newton's: this one led nowhere */
    int changes;            /* of the objective that it knows: abut_objective */
    int32_t nrow;
    struct abut_contacts_seen {  /* contacts that this initial matrix has seen */
        uint64_t key;       /* of their vertices */
        double gap;         /* m: the smallest */
    } contacts;
    int age, mark_age;      /* iterations with this initial matrix, those of them before the last progress */
    double mark_slope;      /* kg m^2, there */
    double curvature;       /* kg: that the initial matrix has along the last direction, for a squared length; 0: not known */
    double bend;            /* what the last step has met over that */
    double trust;           /* a quasi-Newton direction is at least this part of Newton's, as far as it has been seen */
    abut_lbfgs pairs;
    int has_last;           /* x0, g0 are the iterate before */
    double *x0, *g0, *x1, *g1;  /* [3 nrow] */
    size_t cap;
} abut_quasi;

void abut_quasi_clear(abut_quasi *q);
/** A minimisation begins. */
void abut_quasi_begin(abut_quasi *q);
/** Takes in the iterate: what the step to it has taught, unless the objective is another one since, which leaves q->started 0.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_quasi_learn(abut_quasi *q, const abut_objective *p, const abut_point *at, abut_report *rep,
                                           abut_err *err);
/** There is a new initial matrix, of the iterate with these contacts. */
void abut_quasi_renew(abut_quasi *q, const abut_objective *p, const abut_pairs *pairs);
/** Contacts or curvature have changed too much for the initial matrix, going by what its directions bring: slope = g B g, kg m^2,
 * is twice the decrease that they promise.  Once for each iterate. */
int abut_quasi_is_stale(abut_quasi *q, const abut_objective *p, const abut_pairs *pairs, double slope);

#endif
