/* Quasi-Newton directions: p = -B g, B the limited-memory BFGS operator (sparse/lbfgs.h) of the last iterations on an initial
 * matrix that is made at the first iterate of the minimisation and kept (Li 2020, 3.4; Liu 2018, 7.2):
 * solve/direction/initial.h has them.  When contacts have changed since, or the curvature along the last step was not the one
 * that it has, it is made anew once its directions bring little.
 *
 * The objective decides what is remembered: when it changes (barrier stiffness, augmented Lagrangian) the pairs are forgotten
 * and the initial matrix is made anew.  All of it ends with the minimisation, so a restart from a frame gives the same bytes.
 *
 * A short quasi-Newton direction does not prove that a minimum is near.  Where the stopping rule is the Newton direction, one is
 * computed when p is short, by conjugate gradients with the initial matrix as preconditioner; it is taken, and alone can end
 * the minimisation; how short is learnt from those that could not. */
#ifndef ABUT_SOLVE_DIRECTION_LBFGS_H
#define ABUT_SOLVE_DIRECTION_LBFGS_H

#include "base/arena.h"
#include "sparse/lbfgs.h"
#include "solve/problem.h"
#include "solve/report.h"

/* Lives for one minimisation.  Zero-filled is empty. */
typedef struct abut_quasi {
    int history;            /* pairs kept */
    int proves;             /* short directions are checked against Newton's */
    int started;            /* there is an initial matrix */
    int insist;             /* the next direction shall be Newton's: this one led nowhere */
    int changes;            /* of the objective that it knows: abut_problem */
    int32_t nrow;
    struct abut_touched {   /* contacts that this initial matrix has seen */
        uint64_t key;       /* of their vertices */
        double gap;         /* m: the smallest */
    } touched;
    int age, mark_age;      /* iterations with this initial matrix, those of them before the last progress */
    double mark_slope;      /* kg m^2, there */
    double curvature;       /* kg: that the initial matrix has along the last direction, for a squared length; 0: not known */
    double bend;            /* what the last step has met over that */
    double trust;           /* a quasi-Newton direction is at least this part of Newton's, as far as it has been seen */
    abut_lbfgs pairs;
    int has_last;           /* x0, g0 are the iterate before */
    double *x0, *g0, *x1, *g1;  /* [3 nrow] */
    size_t cap;
    abut_arena scratch;
} abut_quasi;

struct abut_direction;

void abut_quasi_reset(abut_quasi *q);
void abut_quasi_clear(abut_quasi *q);
/** dir[3 nv] as abut_direction_find; d->exact says whether it is Newton's.  A direction that would not descend is replaced by the
 * one without history, then by that of a symmetric initial matrix, then by Newton's: rep counts them. */
ABUT_MUST_USE abut_status abut_quasi_find(struct abut_direction *d, const abut_problem *p, const double *x, const double *y,
                                          const abut_pairs *pairs, const double *g, double *dir, abut_report *rep, abut_err *err);

#endif
