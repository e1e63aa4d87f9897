/* Time integrators as minimisations: inertial target, weights of forces, velocities after the step.
 *
 *     E(x) = 1/2 |x - xhat|^2_M + psi Psi(x_n + share (x - x_n)) + barrier(x) + friction(x)
 *
 *     scheme                          xhat                        psi       share  s_I   velocity after the step
 *     implicit Euler                  x + h v + h^2 g             h^2       1      1     (x' - x) / h
 *     implicit Newmark (B, G)         x + h v + h^2 ((1/2-B) a + B g)   B h^2   1   B    (G/B) (x' - c) / h
 *         (1/4, 1/2), B = G/2         x + h v + h^2/4 (a + g)     h^2/4     1      1/2   2 (x' - x) / h - v
 *     BDF2                            xt + 2h/3 vt + 4h^2/9 g     4h^2/9    1      4/9   3 (x' - xt) / (2h)
 *     BDF of order q, 3 to 6          xt + b h vt + b^2 h^2 g     b^2 h^2   1      b^2   (x' - xt) / (b h)
 *     implicit midpoint               x + h v + h^2/2 g           h^2       1/2    1/2   2 (x' - x) / h - v
 *     quasi-static                    x + T^2 g                   T^2       1      -     0
 *
 * with Newmark's B = beta, G = gamma, a' = (x' - xhat) / (B h^2) + g,
 * c = x + h v + h^2 (1/2-B) a - (B/G) (h v + h^2 (1-G) a),
 * and xt = (4 x - x1)/3, vt = (4 v - v1)/3 from the step before the last one, and the sums a_0 x + a_1 x1 + ... of
 *     q    b        a_0, ...
 *     3    6/11     18, -9, 2                        / 11
 *     4    12/25    48, -36, 16, -3                  / 25
 *     5    60/137   300, -300, 200, -75, 12          / 137
 *     6    20/49    360, -450, 400, -225, 72, -10    / 147
 * dE/dx = M (x - xhat) - s_I h^2 f, so
 * minus the gradient of barrier or friction over s_I h^2 is a force in newtons; both act at the end of the step.
 * With B = G/2 Newmark's a and a' are the accelerations by all forces but those of contact, f: the mean over both ends of a step
 * would create energy in contacts that last about a step.  f acts at the end of the step (Kane et al. 2000),
 *     x' = x + h v + h^2 ((1/2-B) a + B a') + h^2/2 M^-1 f,   v' = v + h ((1-G) a + G a') + h M^-1 f,
 * so a' = (x' - xhat) / (B h^2) + g - M^-1 f / G.  Then x' - x = h (v + v')/2: f adds f.(x' - x) to the kinetic energy, at
 * most the loss of a convex barrier, and v' is still that multiple of x' - c.  With B above G/2 it is not, and f is in a and a'.
 *
 * The velocity after the step is always rate (x' - c) / h; friction opposes it.  (If it opposed (x' - x)/h, a contact that
 * sticks would leave Newmark and midpoint with v' = -v, step after step.)  Damping opposes it too; in midpoint, whose smooth
 * forces are those of the middle, damping opposes (x' - x)/h.
 *
 * Quasi-static: the equilibrium under the loads and the scripted positions of the end of the step,
 *     E(x) = -T^2 (M g)^T (x - x_n) + T^2 Psi(x) + barrier(x) + friction(x):
 * no inertia, and minus the gradient over T^2 is a force in newtons.  T depends on the mesh, not on the load, so the objective,
 * and the answer under a given load, do not depend on the time step.  Masses, which scale the bounds of kappa and the
 * penalty of the augmented Lagrangian, have the size of elastic stiffnesses.  Only speeds depend on h:
 * friction sticks up to a slide of eps_v h within one step, damping opposes (x - x_n) / h, the tolerance is a motion of h
 * times tolerance.
 * shift M is added to the Hessian, never to E: nodes without stiffness get a direction, and the minimum stays.
 *
 * Rows of model/schemes.h have the numbers; a form of equations that none of them has is a case of each switch in integrator.c,
 * and solve/step/record.c writes the arrays that it reads of a frame besides x and v.
 * Sources: Li 2020, 2.1 and 5.3 (Euler, the family); Newmark 1959; Hairer and Wanner 1996, III.1 (BDF), II.1. */
#ifndef ABUT_SOLVE_INTEGRATOR_H
#define ABUT_SOLVE_INTEGRATOR_H

#include "model/schemes.h"

/* Weights of the objective of one step, by its scheme. */
typedef struct abut_weights {
    int scheme;
    int inertia;        /* 0: quasi-static, the first term of E is -M (xhat - x_n)^T (x - x_n) */
    double shift;       /* of the Hessian by this times M */
    double psi;         /* s^2: weight of the elastic energy */
    double smooth;      /* s^2: a force of f N at x is smooth f in the gradient of E; a contact force is h_force^2 f */
    double share;       /* the elastic energy is that at x_n + share (x - x_n) */
    double h_force;     /* s: h sqrt(s_I), as the barrier and friction take it */
    double damping;     /* s: weight of 1/2 u^T C u; u = x - c, for midpoint x - x_n */
    double eps_v;       /* m/s: eps_v h_force is the |x - c| at the stiction speed */
    double late;        /* weight of forces at the end of a step, of 1 with those at its start: Newmark's gamma, else 1 */
    double late_contact;    /* `late` of contact and friction: 1 unless beta of Newmark differs from gamma/2 */
} abut_weights;

/** Returns the scheme of the step that starts (COMMITTED) or goes on (PENDING) at a frame.  It is the model's, with two
 * exceptions: BDF takes the highest order that the past in the frame allows, implicit Euler at first; steps to be damped are by
 * implicit Euler (solve/step/energy.c). */
int abut_integrator_scheme(const abut_model *m, const abut_frame *f);
/** Returns 1 if implicit Euler took the step from a frame to the next, of a model that rebounds. */
int abut_integrator_damped(const abut_frame *from, const abut_frame *to);
/** Returns 1 if implicit Euler takes some steps of the model, after elasticity has created energy. */
int abut_integrator_rebounds(const abut_model *m);
/** Fails  ABUT_E_FORMAT the model has a scheme that is not plain, which a solver has no step for (names both) */
ABUT_MUST_USE abut_status abut_integrator_plain(const abut_model *m, const char *solver, abut_err *err);
/** Lists the states of a frame before its own, newest first, each [3 nv]; returns their number. */
int abut_integrator_past_of(const abut_frame *f, const double *x[ABUT_PAST], const double *v[ABUT_PAST]);
/** Returns the first multistep scheme that reads `past` states before the start; 0: implicit Euler. */
int abut_integrator_bdf(int past);
abut_weights abut_integrator_weights(const abut_model *m, int scheme);
/** s_I of the schemes with inertia. */
double abut_integrator_step_weight(const abut_model *m, int scheme);
/** s_I h^2, or T^2, s^2: kappa dB/dx of a frame divided by it is minus a force in N. */
double abut_integrator_force_scale(const abut_model *m, const abut_frame *f);

/* State at the start of a step; each [3 nv].  a is for Newmark, the past for BDF. */
typedef struct abut_start {
    const double *x, *v;        /* m, m/s */
    const double *acc;          /* m/s^2: gravity and scripted forces */
    const double *a;            /* m/s^2: acceleration by all forces, in Newmark of beta = gamma/2 but contact */
    double *const *past_x, *const *past_v;  /* m, m/s: one step earlier, ... */
} abut_start;

/** h times the acceleration that a step gives component i of the velocities: v' - v, in BDF (v' - vt)/b; m/s. */
double abut_integrator_change(int scheme, const double *v1, const double *v0, double *const *past_v, size_t i);

/** xhat[3 nv], m. */
void abut_integrator_predict(const abut_model *m, int scheme, const abut_start *at, double *xhat);
/** c[3 nv], m: end position of a node that is at rest after the step; prescribed nodes (held[nv]) move towards target. */
void abut_integrator_still(const abut_model *m, int scheme, const abut_start *at, const uint8_t *held, const double *target,
                           double *c);
/** Computes velocities v[3 nv] (and accelerations a[3 nv], Newmark; NULL otherwise) after a step to x.  Prescribed nodes get the
 * mean velocity of the step in every scheme, and keep their a.  a includes contact, which the caller subtracts. */
void abut_integrator_finish(const abut_model *m, int scheme, const abut_start *at, const uint8_t *held, const double *xhat,
                            const double *x, double *v, double *a);

#endif
