/* The objective of one time step: what is minimised, and nothing about how.
 *
 *     E(x) = 1/2 |x - xhat|^2_M + psi Psi(z(x)) + kappa B(x) + D(x) + R(x) + A(x)          kg m^2
 *
 * inertia (quasi-static: minus the work of the loads), elasticity (springs, attachments and thin elements with it), contact
 * barrier, lagged friction, Rayleigh damping and the drag of wind, and the augmented Lagrangian of prescribed nodes that could
 * not be moved to their targets at once (Li 2020, 3.3, 4.5, 4.15, App. E).  xhat, psi and z depend on the time scheme
 * (solve/integrator.h); implicit Euler: xhat = x_n + h v_n + h^2 g, psi = h^2, z = x.  Terms of thin elements that keep bounds
 * are taken at x like the barrier, whatever the scheme: the bounds are to hold there. */
#ifndef ABUT_SOLVE_PROBLEM_H
#define ABUT_SOLVE_PROBLEM_H

#include "contact/pairs.h"
#include "energy/pressure.h"
#include "energy/barrier.h"
#include "energy/damping.h"
#include "energy/elastic.h"
#include "energy/friction.h"
#include "energy/spring.h"
#include "energy/codim.h"
#include "model/reordered.h"
#include "solve/integrator.h"

/* Augmented Lagrangian for prescribed nodes on their way (Li 2020, App. E, eq. 4). */
typedef struct abut_lagrangian {
    int on;
    double kap;         /* dimensionless, 1e6 .. 1e8 */
    double *lam;        /* [3 nv] kg^(1/2) m */
} abut_lagrangian;

typedef struct abut_problem {
    abut_reordered *reordered;    /* of the model that was given */
    const abut_model *model;    /* that one, its tets in an order of the solver's own: abut_problem_tet */
    abut_collmesh cm;
    abut_elastic elastic;
    abut_springs springs;
    abut_codim codim;
    abut_air air;
    abut_damping damping;
    const uint8_t *obstacle;    /* that of cm */

    abut_weights w;             /* of the scheme of this step */
    double kappa;               /* kg/m^2 */
    double strain_kappa;        /* Pa: of the stretch limits */
    double *xn, *xhat;          /* [3 nv] start and inertial target of the step */
    double *still;              /* [3 nv] where a node is that has come to rest: friction opposes x - still */
    double *target;             /* [3 nv] where prescribed nodes shall be */
    uint8_t *held;              /* [nv] prescribed in this step */
    abut_lagrangian al;
    abut_lag lag;               /* frozen friction contacts */

    int changes;                /* of the objective within a step, counted: what was learnt of the one before is void */
    int32_t *row;               /* [nv] unknown of a node, -1 when it does not move */
    int32_t nrow;
    double stiffness;           /* J: rounding level of the elastic sum, over the machine precision */
    double *tension;            /* [nrd] N: what the Hessian takes for that of rod segments (energy/codim.h) */
    double *z;                  /* [3 nv] where the elastic energy is taken, when that is not x */
    abut_elastic_memo *memo;    /* of the tets, at the last such point */
} abut_problem;

/* The terms of the objective, kg m^2. */
typedef struct abut_energy {
    double inertia /* quasi-static: of the loads */, elastic, damping, barrier, friction, lagrangian, attachment, spring, codim,
           pressure, drag;
} abut_energy;

ABUT_MUST_USE abut_status abut_problem_init(abut_problem *p, const abut_model *model, abut_err *err);
void abut_problem_clear(abut_problem *p);

/** The number that tet t of p->model has in the model that was given; -1 for -1. */
static inline int32_t abut_problem_tet(const abut_problem *p, int32_t t) { return t < 0 ? -1 : p->reordered->number[t]; }
/** The number of tet t of p->model within its object, in the order of the model that was given. */
int32_t abut_problem_tet_number(const abut_problem *p, int32_t t);

/** Renumbers the unknowns, along the tets: free nodes, and prescribed ones too while the augmented Lagrangian is on. */
void abut_problem_number(abut_problem *p);

/** How friction is smoothed in this step. */
abut_stiction abut_problem_stiction(const abut_problem *p);

/** Where the elastic energy is taken for an iterate x: x itself, or p->z, filled. */
const double *abut_problem_elastic_point(const abut_problem *p, const double *x);
/** Psi(x), J: what depends on the positions alone: elasticity, springs, attachments, thin elements, pressures.  +inf when x is
 * infeasible. */
ABUT_MUST_USE abut_status abut_problem_potential(const abut_problem *p, const double *x, double *psi, abut_arena *scratch,
                                                 abut_err *err);
/** g[3 nv] += scale dPsi/dx as the scheme of this step takes it for an iterate x (elasticity at the elastic point), of every
 * node, prescribed or not. */
ABUT_MUST_USE abut_status abut_problem_potential_gradient(const abut_problem *p, const double *x, double scale, double *g,
                                                          abut_arena *scratch, abut_err *err);

/** H[thin.n * ABUT_PACKED]: what thin elements, pressures on them and their drag add to the Hessian of the objective at x,
 * projected. tension: p->tension, or NULL for the true ones. */
void abut_problem_codim_hessian(const abut_problem *p, const double *x, const double *tension, double *H);
/** p->tension as it is at x: where a minimisation starts. */
void abut_problem_tension(abut_problem *p, const double *x);
/** What it is to be after a step from x to `to`, share alpha of a direction. */
void abut_problem_tension_forecast(abut_problem *p, const double *x, const double *to, double alpha);
/** What a displacement d from x stretches thin elements by beyond the first order of another, meant: its cost, kg m^2, and
 * g[3 nv] += what takes it back, kg m (energy/codim.h).  H: as abut_problem_codim_hessian gives them at x. */
ABUT_MUST_USE abut_status abut_problem_turn(const abut_problem *p, const double *x, const double *d, const double *meant,
                                            const double *H, double *g, double *cost, abut_arena *scratch, abut_err *err);
/** 1 when p->tension makes no segment much stiffer across than it is at x: then a small direction tells of a minimum nearby. */
int abut_problem_tension_fair(const abut_problem *p, const double *x);

/** Where a node would be that damping does not oppose, c: the velocity that it opposes, and so does drag, is (x - c)/tau. */
const double *abut_problem_undamped(const abut_problem *p);
/** tau of that, s. */
double abut_problem_damped_time(const abut_problem *p);
/** 1 when drag is a term of the objective; in equilibria it is a load. */
int abut_problem_drags(const abut_problem *p);

/** All terms at x (y = W x, pairs the contacts there).  Sum is +inf when x is infeasible. */
ABUT_MUST_USE abut_status abut_problem_energy(const abut_problem *p, const double *x, const double *y,
                                              const abut_pairs *pairs, abut_energy *e, abut_arena *scratch, abut_err *err);
double abut_energy_sum(const abut_energy *e);
/** Below this difference two values of the objective are equal in double precision, kg m^2. */
double abut_energy_noise(const abut_problem *p, const abut_energy *e);

/* Which terms a gradient takes. */
enum { ABUT_TERM_SMOOTH = 1 /* all but the barrier */, ABUT_TERM_BARRIER = 2, ABUT_TERM_ALL = 3 };
/** g[3 nv], kg m; rows of nodes that do not move are zero. */
ABUT_MUST_USE abut_status abut_problem_gradient(const abut_problem *p, const double *x, const double *y,
                                                const abut_pairs *pairs, int terms, double *g, abut_arena *scratch,
                                                abut_err *err);
/** Diagonal part of the Hessian: diag[nrow] kg (mass, or the penalty of the augmented Lagrangian). */
void abut_problem_diagonal(const abut_problem *p, double *diag);

/** Stiffness for the start of a step: balances barrier and other forces on the free nodes, inside its bounds
 * (Li 2020, App. F). */
ABUT_MUST_USE abut_status abut_problem_kappa(const abut_problem *p, const double *x, const double *y,
                                             const abut_pairs *pairs, double *kappa, abut_arena *scratch, abut_err *err);

#endif
