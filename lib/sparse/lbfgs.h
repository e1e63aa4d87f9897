/* Limited-memory BFGS: an inverse Hessian made of a start operator D and the last few steps (Nocedal 1980; Nocedal and
 * Wright 2006, algorithm 7.4).  With V_a = I - y_a s_a^T / (y_a . s_a), a = 1 .. n from the oldest pair to the newest,
 *
 *     B_0 = D,    B_a = V_a^T B_(a-1) V_a + s_a s_a^T / (y_a . s_a),    r = B_n q.
 *
 * Pairs with y . s <= 1e-12 |y| |s| would make B indefinite, or are rounding: they are not kept.  The same bits for every
 * thread count. */
#ifndef ABUT_SPARSE_LBFGS_H
#define ABUT_SPARSE_LBFGS_H

#include "sparse/operator.h"

#include <stddef.h>

/* Zero-filled is empty. */
typedef struct abut_lbfgs {
    size_t size;        /* numbers in a vector */
    int most;           /* pairs kept: the youngest */
    int n, newest;      /* pairs there are; place of the youngest */
    double *s, *y;      /* [most * size] steps and the changes of the gradient over them */
    double *ys;         /* [most] y . s */
    double *part;       /* scratch of sums */
    size_t cap;         /* numbers in s, in y */
} abut_lbfgs;

/** Room for the pairs; the history is empty then.  most >= 0: with 0 the operator is D.  What it held before is lost. */
ABUT_MUST_USE abut_status abut_lbfgs_size(abut_lbfgs *l, size_t size, int most, abut_err *err);
void abut_lbfgs_clear(abut_lbfgs *l);
/** Forgets all pairs. */
void abut_lbfgs_forget(abut_lbfgs *l);
/** Takes the pair s = x1 - x0, y = g1 - g0; each [size].  Returns 0 when it is not kept. */
int abut_lbfgs_push(abut_lbfgs *l, const double *x0, const double *x1, const double *g0, const double *g1);
/** r = B q; q is lost.  size = 3 D->rows.  Fails as D does. */
ABUT_MUST_USE abut_status abut_lbfgs_apply(const abut_lbfgs *l, const abut_precond *D, double *q, double *r, abut_err *err);

#endif
