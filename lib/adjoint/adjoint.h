/* The derivative of a scalar L of a run by the input of the run, backwards through its steps: a discrete adjoint.
 *
 * A recorded run is a MODEL and its COMMITTED frames 0 .. N, one for each step.  At the end x' of a step the gradient F of its
 * objective (solve/objective.h) vanishes on free nodes, and prescribed nodes are at their targets t:
 *
 *     F(x'; s, l, theta) = 0,     x' = t(x_n, theta)
 *
 * with s the state of frame n, l the frozen friction contacts, theta the parameters.  One step backwards computes the bars
 * (adjoint/bars.h) of frame n from the bars of frame n + 1:
 *
 *     1  bars of v', a', x_n, ... through the velocity formulas of the scheme into bars of x', v, a, x_n, ...
 *     2  H p = -bar of x', on free nodes; p = 0 on others.  H = dF/dx': the second derivative, not projected
 *     3  bar of t = bar of x' + (rows of prescribed nodes of H) p;  motions; bar of x_n by dt/dx_n
 *     4  bars of theta += (dF/dtheta)^T p
 *     5  bar of xhat = -M p, of c (rest positions of friction) = -D_xx p, of z: psi share Psi_xx(z) p; then into x_n, v, ... by
 *        the coefficients of xhat and c in solve/integrator.h, whose schemes are all linear in the state
 *     6  frozen friction: normal force, normal, weights of a contact at the positions at which it was frozen (adjoint/lag.c)
 *
 * H is symmetric, and positive definite if the end is a strict minimum: Cholesky factors it.  If a pivot is not positive, the
 * step ended at a saddle, or above its tolerance: then MINRES (Paige and Saunders 1975) solves, preconditioned by the factor of
 * the projected Hessian.  H is never shifted, because a shift gives another derivative.
 *
 * Friction passes.  One pass: contacts are frozen at x_n; frame n has them under lag/.  More passes: the frame has the results of
 * all but the last in pass/ if `step --keep-passes` wrote it; else the step is solved again from its start.  The passes are then
 * traversed backwards, with one solve each.
 * `converged` (lags 0): contacts are frozen at the result itself, and p solves (H + L)^T p = -bar with L = dF/dl dl/dx' by
 * iterations of a solve and a product each.
 *
 * Drag also depends on the area of its triangles at the start of the step; pressure of closed shells is a potential.
 *
 * Accuracy.  At the end of a step F is not 0, but within the tolerance.  To first order L at exact ends is L + sum p.F:
 * `correction`.  The stiffness of the barrier, chosen by the rules of a run or from masses and dhat of the scene, is constant.
 * contact/kappa-scale is the derivative by that stiffness, and `kappa` of a step its part.  Contacts that begin or end at dhat
 * are smooth if the second derivative of the law is; a change of the nearest feature is a kink of the gradient.  The time T of a
 * quasi-static step follows from masses and moduli, and only the stiffness of the barrier over T^2, N/m, has a meaning:
 * derivatives by masses and moduli hold it constant.
 *
 * Sources: Li 2020, 2.1, 4.5; Huang et al. 2024 (differentiable incremental potential contact), whose recurrences are for
 * unlagged friction. */
#ifndef ABUT_ADJOINT_ADJOINT_H
#define ABUT_ADJOINT_ADJOINT_H

#include "adjoint/bars.h"
#include "solve/stepper.h"

typedef struct abut_adjoint_options {
    int lag_constant;       /* 1: frozen contacts are numbers; to compare */
    int lags;               /* friction passes of the run; -1: the model's */
    double tolerance;       /* m/s: of the run, and of passes that are solved again; 0: the model's */
    int refined;            /* 1: the run is one of abut_adjoint_refine: its ends and lag/ are not those of the program */
    int threads;            /* of factorisations */
} abut_adjoint_options;

/* One step backwards. */
typedef struct abut_adjoint_report {
    double residual;        /* m/s: |H^-1 F|_inf / h, how far the frame is from the end of its step */
    double correction;      /* unit of L: p.F */
    double kappa;           /* unit of L: by the logarithm of the barrier stiffness of this step */
    double unreached;       /* unit of L: sum |t - x'| |bar of t| of prescribed nodes that have not arrived */
    double solve_error;     /* |H p + bar| / |bar| */
    int indefinite;         /* H has a pivot that is not positive */
    int32_t bad_node;       /* node of that pivot; -1: unknown */
    int iterations;         /* of MINRES, 0: Cholesky */
    int passes, rounds;     /* friction passes; iterations of a converged one */
    int contacts, frozen;   /* at the end; friction contacts that act */
    double seconds;
} abut_adjoint_report;

typedef struct abut_adjoint abut_adjoint;

/** Borrows m.
 * Fails  ABUT_E_FORMAT the model has a feature that is not differentiated (names it): tets of order 2 and more, rods curved at
 *        rest, pressure on open shells, drag in Newmark and in equilibria, hard contact, damping by stiffness of thin elements
 *        or in Newmark; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_adjoint_open(abut_adjoint **out, const abut_model *m, const abut_adjoint_options *o,
                                            abut_err *err);
void abut_adjoint_free(abut_adjoint **a);

/** Goes back through the step from frame `start` at the instant `at` to frame `end`.  bar of the state of `end`, to which the
 * caller has added the derivatives of L by that state, becomes bar of the state of `start`.
 * Fails  ABUT_E_FORMAT the frames are not those of one step: forces do not balance at its end, or friction is not frozen
 *        by its rules, or is that of a first frame that touches, by area;
 *        ABUT_E_NUMERIC H p = -bar is not solved; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_adjoint_step(abut_adjoint *a, const abut_arrays *start, abut_instant at, const abut_arrays *end,
                                            abut_state_bar *bar, abut_adjoint_report *rep, abut_err *err);
/** Refines a run, forwards from frame to frame, so that forces balance better at the ends of its steps.  Newton's method starts
 * at frame `recorded`, with the recorded stiffnesses and prescribed positions, and computes `end` of the step from `start`, which
 * is refined itself.  Arrays other than the state (node/, pass/x) are copied.  The backward pass through a refined run needs
 * `refined` in the options.  The change of derivatives is, to first order, the error due to the tolerance of the recorded run.
 * Fails  as abut_adjoint_step; ABUT_E_NUMERIC Newton's method does not come closer */
ABUT_MUST_USE abut_status abut_adjoint_refine(abut_adjoint *a, const abut_arrays *start, abut_instant at,
                                              const abut_arrays *recorded, abut_arrays *end, abut_err *err);
/** Finishes, after the step from the first frame: turns the bar of an acceleration that this frame does not have into bars of x,
 * v and parameters (Newmark), and sums bars of elements to bars of materials and objects. */
ABUT_MUST_USE abut_status abut_adjoint_finish(abut_adjoint *a, const abut_arrays *first, abut_instant at, abut_state_bar *bar,
                                              abut_err *err);
/** Moves the derivatives by parameters to *bars, after abut_adjoint_finish; the caller owns them; frees *a. */
void abut_adjoint_take(abut_adjoint **a, abut_parameter_bar *bars);

#endif
