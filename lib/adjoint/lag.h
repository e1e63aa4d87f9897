/* Derivative of frozen friction (energy/friction.h) by the positions and parameters from which it was frozen.
 *
 * A contact with points x_i, closest-point weights w_i, normal n, distance d, normal force lambda, all at the positions xL at
 * which it was frozen, has in the objective the term D = mu lambda h^2 f0(|t|), t = (I - n n^T) sum w_i u_i, u = x' - c.  With
 * an adjoint p, y = |t|, phi = f0'/y, m = mu lambda h^2 and q = sum w_i p_i
 *
 *     S = p.dD/dx' = m phi t.q,     bar of lambda = S/lambda,     of mu = S/mu
 *     bt = m ((phi'/y) (t.q) t + phi q),   bq = m phi t,   br = (I - n n^T) bt,   bn = -((n.r) bt + (n.bt) r),   r = sum w_i u_i
 *     bar of w_i = br.u_i + bq.p_i
 *
 * The basis of the plane is a gauge and needs no derivative.  At xL, with beta_k the free closest-point coordinates, w_i,k their
 * constant weights, s = sum w_i x_i of length d, a_k = sum w_i,k x_i, G_kl = a_k.a_l:
 *
 *     (c_k)_i = d beta_k/dx_i = -sum_l (G^-1)_kl (w_i,l s + w_i a_l),     Q = (I - n n^T) bn/d
 *     z_k = sum_i (bar of w_i) w_i,k
 *     bar of xL_j += (bar of lambda) dlambda/dD 2 w_j s + w_j Q + sum_k (z_k + a_k.Q) (c_k)_j
 *
 * lambda is -kappa times 2 d b'(D) over the force scale, so dlambda/dD = lambda (b''/b' + 1/(2 d^2)), d^2 beyond the thickness
 * being D.  The normal and the weights at a half-space are constants.  Derived for this library; checked against differences. */
#ifndef ABUT_ADJOINT_LAG_H
#define ABUT_ADJOINT_LAG_H

#include "adjoint/bars.h"
#include "energy/friction.h"

/* Step of central differences by Dhat, m^2, as a fraction of Dhat. */
#define ABUT_DHAT_STEP 1e-5

/* One contact at the positions at which it was frozen. */
typedef struct abut_frozen {
    abut_stencil kind;      /* of a half-space: ABUT_PP, and w = (1, 0, 0, 0) */
    int plane;              /* 1: with a half-space */
    int32_t vert[4];        /* collision vertices, -1 unused */
    double x[12], w[4];
    double n[3], d;
    double lambda, mu;      /* N */
    double per_D;           /* 1/m^2: dlambda/dD over lambda */
    double per_dhat;        /* 1/m: dlambda/d dhat over lambda */
    size_t classes[2];      /* in contact/mu, the entry and its mirror image */
} abut_frozen;

/* Owns its array.  Zero-filled is empty. */
typedef struct abut_frozen_list {
    abut_frozen *of;
    size_t n, cap;
} abut_frozen_list;

/** list: the contacts that abut_lag_freeze freezes of pairs at y, in its order, with its kappa and h.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_frozen_take(abut_frozen_list *list, const abut_collmesh *cm, const abut_pairs *pairs,
                                           const double *y,
                                           double kappa, double h, abut_err *err);
void abut_frozen_clear(abut_frozen_list *list);
/** Checks that the contacts of list are those of lag: equal slots, coefficients, weights and forces to 1e-9.
 * Fails  ABUT_E_FORMAT which contact differs, and in what */
ABUT_MUST_USE abut_status abut_frozen_agree(const abut_frozen_list *list, const abut_collmesh *cm, const abut_lag *lag,
                                            abut_err *err);

/* Bars from the friction of one pass. */
typedef struct abut_frozen_bars {
    double *x;              /* [3 nv] of xL; NULL: frozen contacts are numbers */
    double *mu;             /* [ng * ng] */
    double eps_v, dhat;     /* eps_v: by the speed of the model */
    double kappa;           /* by the logarithm of the stiffness at which it was frozen */
    int32_t acting;         /* contacts that slide or stick at all */
} abut_frozen_bars;
/** Adds the bars of p.dD/dx'.  u[3 nv] = x' - c, p[3 nv]; eps_v of the model, m/s.  scratch: 3 doubles per vertex of a map.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_frozen_back(const abut_frozen_list *list, const abut_collmesh *cm, const abut_stiction *law,
                                           double eps_v, const double *u, const double *p, abut_frozen_bars *bars,
                                           abut_arena *scratch, abut_err *err);

#endif
