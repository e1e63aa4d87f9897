/* Failures of a step: the numbers that a minimisation leaves behind, and their words. */
#ifndef ABUT_SOLVE_FAILURE_H
#define ABUT_SOLVE_FAILURE_H

#include "contact/step_bound.h"
#include "solve/objective.h"

typedef enum abut_failure_kind {
    ABUT_FAILED_NOT = 0,
    ABUT_FAILED_STALLED,        /* no step along the direction lowers the objective */
    ABUT_FAILED_ITERATIONS,     /* the limit was reached */
    ABUT_FAILED_STAGNATES,      /* many iterations have brought no progress, and more would not either */
    ABUT_FAILED_BLOCKED,        /* scripted motion gets no further, however large its penalty */
    ABUT_FAILED_INDEFINITE,     /* no shift of the diagonal makes the matrix positive definite, or iterations do not solve it */
    ABUT_FAILED_NOT_FINITE,     /* the direction is not finite */
    ABUT_FAILED_TOUCHING,       /* a gap has become too small for double precision */
    ABUT_FAILED_UNBALANCED,     /* the step ends, and its forces are too far from balance */
    ABUT_FAILED_FLOATING        /* quasi-static: a body has loads and nothing that holds it */
} abut_failure_kind;

/* A step fails if its forces are further from balance than this many times the tolerance. */
enum { ABUT_UNBALANCED = 10 };

/* Kept up to date during a minimisation; kind tells whether it failed. */
typedef struct abut_failure {
    abut_failure_kind kind;
    int iterations;             /* of this minimisation */
    double residual;            /* m/s, of the last direction; NAN before the first */
    double norm;                /* of the gradient at the last iterate, for stopping rules that read it; else 0 */
    double bound, alpha;        /* of the last step: feasible and accepted length; accepted 0: none */
    abut_limit limit;           /* limit that set the bound */
    int32_t node;               /* INDEFINITE: of the pivot; FLOATING, UNBALANCED: of the body; otherwise -1 */
    int guessed;                /* INDEFINITE: the matrix failed as a whole, and node has the worst diagonal block */
    int shifted;                /* INDEFINITE: shifts of the diagonal were tried */
    struct abut_failure_idle {  /* STAGNATES: of the iterations without progress */
        int n;
        double went;            /* their step lengths together */
    } idle;
    double unbalanced;          /* residual force over the largest force, if that kept the step from its end; else 0 */
} abut_failure;

/* State at the failure, for its words.  Borrowed. */
typedef struct abut_failure_view {
    const abut_objective *prob;
    const abut_point *here;     /* the iterate, with its contacts */
    const abut_arrays *names;   /* the arrays of the model; NULL: objects have numbers */
    struct abut_failure_norm {  /* of the gradient, for stopping rules that read it: words (NULL: others), unit, bound */
        const char *words, *unit;
        double want;
    } norm;
    const double *p;            /* [3 nv] m: the last direction; NULL: unknown */
    double progress;            /* fraction of the scripted motion that is done */
} abut_failure_view;

/** Writes f in words into err: what failed and where, the pair of primitives or the element that bounds the step, gap, barrier
 * stiffness, residual and tolerance, step length, iterations, scripted motion, and what may help.  Objects are named; nodes and
 * elements are counted within their object from 0.  Returns ABUT_E_NUMERIC. */
abut_status abut_failure_say(const abut_failure *f, const abut_failure_view *at, abut_err *err);

#endif
