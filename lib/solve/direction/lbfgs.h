/* Quasi-Newton directions by an initial matrix (solve/direction/initial.h), and their state in a minimisation: the last pairs,
 * and the age and quality of the matrix.  It is stale if its directions bring little, and contacts have changed since it was
 * found, or the curvature along the last step differed from the one that it has. */
#ifndef ABUT_SOLVE_DIRECTION_LBFGS_H
#define ABUT_SOLVE_DIRECTION_LBFGS_H

#include "solve/direction/initial.h"
#include "sparse/lbfgs.h"

/* Zero-filled is empty; the owner sets history and proves. */
typedef struct abut_quasi {
    int history;            /* pairs kept */
    int proves;             /* short directions are checked against Newton's */
    int started;            /* there is an initial matrix */
    int required;           /* the next direction shall be Newton's: the last one brought no progress */
    int changes;            /* of the objective that it knows: abut_objective */
    int32_t nrow;
    struct abut_contacts_seen {  /* contacts that this initial matrix has seen */
        uint64_t key;       /* of their vertices */
        double gap;         /* m: the smallest */
    } contacts;
    int age, mark_age;      /* iterations with this initial matrix; until the last progress */
    double mark_slope;      /* kg m^2, there */
    double curvature;       /* kg: of the initial matrix along the last direction, per squared length; 0: not known */
    double bend;            /* curvature of the last step over `curvature` */
    double trust;           /* ratio of a quasi-Newton direction to Newton's in the last comparison, less a margin */
    abut_lbfgs pairs;
    int has_last;           /* x0, g0 are the iterate before */
    double *x0, *g0, *x1, *g1;  /* [3 nrow] */
    size_t cap;
} abut_quasi;

void abut_quasi_clear(abut_quasi *q);
/** Begins a minimisation. */
void abut_quasi_begin(abut_quasi *q);
/** Takes in the iterate, and learns from the step to it; an objective that has changed since sets q->started to 0 instead.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_quasi_learn(abut_quasi *q, const abut_objective *p, const abut_point *at, abut_report *rep,
                                           abut_err *err);

/* Operations of every quasi-Newton direction (solve/direction/lbfgs.c; solve/direction.h), and the direction by one matrix. */
ABUT_MUST_USE abut_status abut_lbfgs_make(void **self, const abut_initial_ops *ops, const abut_objective *p,
                                          const abut_direction_options *opt, abut_err *err);
void abut_lbfgs_begin_step(void *self);
ABUT_MUST_USE abut_status abut_lbfgs_find(void *self, const abut_point *at, double *dir, abut_direction_info *info,
                                          abut_report *rep, abut_err *err);
void abut_lbfgs_require_exact(void *self);
ABUT_MUST_USE abut_status abut_lbfgs_resolve_exact(void *self, const double *g, double *dir, abut_report *rep, abut_err *err);
void abut_lbfgs_free(void *self);
#define ABUT_LBFGS_DIRECTION(id, text, matrix) \
    static abut_status make_##id(void **self, const abut_objective *p, const abut_direction_options *opt, abut_err *err) \
    { \
        return abut_lbfgs_make(self, &matrix, p, opt, err); \
    } \
    const abut_direction_ops abut_direction_##id = { \
        .name = text, .make = make_##id, .begin_step = abut_lbfgs_begin_step, .find = abut_lbfgs_find, \
        .require_exact = abut_lbfgs_require_exact, .resolve_exact = abut_lbfgs_resolve_exact, .free = abut_lbfgs_free }

#endif
