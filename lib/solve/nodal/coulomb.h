/* One discrete Coulomb friction problem, by ADMM (Daviet 2020, 5.1, algorithm 2, appendix C):
 *
 *     A v = f + B^T (r - xi n),   u = B v + k,   (u_c, r_c) of the law of Signorini and Coulomb for every contact c
 *
 *     repeat   p: projection of q (abut_project), lambda = p - q;   v: (A + W) v = f + W (p + lambda);   q += v - p
 *
 * W, one number for each node of a contact, changes how fast this converges, but not the solution.  W lambda = B^T r is the
 * impulse of all contacts on each node.  p satisfies the law up to the error of the sweeps.  v balances these impulses up to
 * W (v - p) = A v - f - B^T r, N s; p, the end of the step, up to (A + W) (p - v).  Iterations end if these residuals are a small
 * part of the impulses: summed over each node at v, and over the affine motions of each body at p, unless v and p of its
 * contacts lead to equal positions.
 *
 * The map of q is averaged, and linear while no contact changes its state.  Its slow modes are few (a body that follows its
 * contacts as a whole), so Anderson's mixing of the last iterations finds them (Anderson 1965; Fu, Zhang, Boyd 2020).
 *
 * Iterations are fewest where W is the inertia of the dynamics on the modes that they move, between the least and the largest:
 * changes dF of F = A v - f and dv of v from one iteration to the next have sum dF^2/w = sum w dv^2 there.  So the weights of a
 * body are multiplied by the root of the quotient of these sums where it is far from 1 (residual balancing in the metric of W;
 * He, Yang, Wang 2000; Xu, Figueiredo, Goldstein 2017). */
#ifndef ABUT_SOLVE_NODAL_COULOMB_H
#define ABUT_SOLVE_NODAL_COULOMB_H

#include "contact/touching.h"

/* The diagonal W of ADMM in place of A: the effective inertia of each node (Daviet 2020, 6.2.6).
 *
 *     w = min(M/2, max(sigma eta, min(beta m, eta))),   eta the smallest eigenvalue of the 3x3 block of A at the node, m its mass
 *
 * eta alone is too large for nodes tied to each other; inertia alone is too small for nodes tied to a place.
 *
 * M/2: a node has at most the inertia of its rigid body, whose inverse mass at the distance d from its centre is
 * 1/M 1 - [d] I^-1 [d].  A third of its trace, averaged over the masses of the nodes, is 2/M for any body, since
 * sum m [d][d] = -I.  So both sides of a contact are as heavy as their bodies, for any stiffness, and the four nodes of a frame
 * have half of its mass each. */

/** The smallest eigenvalue of a symmetric 3x3 matrix, row major, in closed form (Smith 1961), to 1e-7 of the largest. */
double abut_smallest_eigenvalue3(const double A[9]);
/** w, kg, above 0 for m > 0 and a positive definite A.  body: M, at least m; INFINITY: not known. */
double abut_nodal_weight(const double A[9], double mass, double body, double beta, double sigma);

/* The projection of velocities onto the law of contact: Gauss-Seidel over the contacts, without a matrix, in scaled impulses
 * (Daviet 2020, 5.2.3 and algorithm 1).
 *
 *     find p, r:  W p = W v + B^T (r - xi n),   u = B p + k,   (u_c, r_c) of the law of Signorini and Coulomb for every c
 *
 * A visit of contact c gathers u, removes its own impulse (ustar = u - rbar), computes its new u by the law, and scatters
 * the difference.  The contacts of one colour have no node in common, so no bit depends on which thread visits which. */

typedef struct abut_project_options {
    int sweeps;
    const double *less;     /* [3 nodes] m/s: v less this is projected; NULL: v */
    const int32_t *moved;   /* [n_moved] the nodes of contacts, ascending, each once: others are not read; NULL: all nodes */
    int32_t n_moved;
    double asleep;      /* m/s: a contact whose visit changes u by less is not visited again in this projection; 0: all are */
} abut_project_options;

/* Memory of projections, kept between them.  Zero-filled is empty. */
typedef struct abut_projection {
    double *p;          /* [4 nodes], aligned to 32 bytes: p of a node, m/s, and its 1/w, 1/kg; nodes never change */
    void *block;        /* allocation of p */
    uint8_t *asleep;    /* [cap] */
    size_t cap;
    size_t visits, skipped;     /* contacts visited, and those not because they slept, since the counters were set to 0 */
} abut_projection;

/** p[3 nodes] = the projection of v[3 nodes] (which may be p) at the nodes that o names, after so many sweeps.  t has the first
 * impulses before and the last ones afterwards, with which W p = W v + B^T (r - xi n) up to rounding.  The same bits for every
 * thread count.
 *
 * t        settled with inv_w
 * inv_w    [nodes] 1/kg
 * Fails    ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_project(abut_projection *q, abut_touching *t, const double *inv_w, const double *v,
                                       const abut_project_options *o, double *p, abut_err *err);
void abut_projection_clear(abut_projection *q);

enum { ABUT_MIXED = 10 };       /* iterations whose q are mixed */
enum { ABUT_COULOMB_ALL = 2 };  /* iterations in which v of all nodes is solved for: as many as there are copies of v */

typedef struct abut_node_list {
    int32_t n, *node;       /* [n] ascending */
} abut_node_list;

/* The linear dynamics that the problem is for.  Borrowed. */
typedef struct abut_coulomb_system {
    int32_t nodes;
    double h;               /* s: lengths are velocities times this */
    const double *f;        /* [3 nodes] N s */
    const double *w, *inv_w;    /* [nodes] kg, 1/kg; both 0: no contact has the node, p = v */
    const double *times;    /* [bodies] what `reweigh` has multiplied the weights by so far; NULL: 1 */
    const double *x;        /* [3 nodes] m: points where forces act; with `multiply` */
    const int32_t *body;    /* [nodes] numbers below `bodies`: each body balances by itself; NULL: all is one body */
    int32_t bodies;
    const abut_node_list *awake;    /* nodes that the weights are connected with, `append` changes it; NULL: all, always
                                     * with `local` */
    /** Solves (A + W) v = rhs at the nodes that move; v of others stays.  After ABUT_COULOMB_ALL iterations, v of
     * nodes that are not awake is final. */
    abut_status (*solve)(void *ctx, const double *rhs, double *v, abut_err *err);
    double near;            /* m: v and p of the contacts of a body lead to one place within this; with `multiply` */
    /** out = (A + W) d at the nodes that move, 0 elsewhere; needs `body` and `awake`.  NULL: momentum is tested at v
     * alone. */
    void (*multiply)(void *ctx, const double *d, double *out);
    /** Appends contacts that the motion by v meets, and gives their nodes weights; NULL: none come. */
    abut_status (*append)(void *ctx, const double *v, int round, abut_touching *t, abut_err *err);
    /** Multiplies the weights of body b by times[b], which it makes 1 where they may not change, and factors anew if one has
     * changed; NULL: weights stay. */
    abut_status (*reweigh)(void *ctx, double *times, int *changed, abut_err *err);
    /** Applies other constraints before v is solved for: writes f for the motion by v; *left, m: their residual.  NULL: f
     * stays. */
    abut_status (*local)(void *ctx, const double *v, double *left, abut_err *err);
    void *ctx;
} abut_coulomb_system;

typedef struct abut_coulomb_options {
    int iterations, sweeps; /* at most; of each projection */
    double balance;         /* residual `unbalanced` that ends the iterations; 0: not tested */
    int rough;              /* 1: `unbalanced` is of momentum at v alone */
    double tolerance;       /* m: residual delta that ends them; 0: not tested.  Both have to hold if both are given */
    double freeze;          /* contacts that change by less than this part of the residual sleep; 0: none does */
    int accelerated;        /* 1: q are mixed */
    int refresh;            /* iterations from one append to the next; 0: append is not called */
} abut_coulomb_options;

/* Owns its arrays.  Zero-filled is empty. */
typedef struct abut_coulomb_state {
    int32_t nodes;
    double *v, *p;          /* [3 nodes] m/s: of the dynamics, of the law */
    double *lambda;         /* [3 nodes] m/s; 0 where no contact has the node */
    double *v_old, *rhs, *q, *next;     /* [3 nodes] */
    abut_node_list moved;   /* with weights */
    abut_projection projection;
    double delta, delta_2;  /* m: h (|v - v_old| + |v - p|), largest and root mean square, `left` on top of the first; NAN before
                               the first iteration */
    double unbalanced;      /* residual of momentum and the law of contact, summed over a body, over the impulses of its contacts;
                               largest of all bodies; NAN: not known */
    double left;            /* m: *left of the last `local`; 0 without */
    struct abut_laws {
        int times;          /* factor of the options' sweeps: doubled if too few sweeps limit the residual of the law */
        int contradict;     /* 1: the laws of some contacts exclude each other, which has ended the iterations */
        double impulses;    /* N s: sum of all contacts, at iteration 32, 64, 128, ... */
    } laws;
    struct abut_fit {
        double *pull;       /* [3 nodes] N s: A v - f at the last iteration */
        double *sum;        /* [2 nodes] kg m^2/s^2: of dF^2/w and w dv^2, for each body */
        int changes, next;  /* in the sums; as many as the weights are compared after */
    } fit;
    int projected;          /* p and lambda are of a projection of q, onto all contacts */
    struct abut_mixing {
        int n, next;        /* columns, and the one that is written next */
        double *dq, *df;    /* [ABUT_MIXED][3 nodes] changes of q, and of its residual f = v - p */
        double *q, *f;      /* [3 nodes] the last ones */
        double gram[ABUT_MIXED][ABUT_MIXED], size;      /* kg m^2/s^2: products of df, and of f with itself, by W */
    } mix;
    int iterations;         /* since abut_coulomb_begin */
    struct abut_coulomb_seconds {
        double local, solve, project, append;
    } seconds;
} abut_coulomb_state;

/** Allocates the state for `nodes`.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_coulomb_state_init(abut_coulomb_state *s, int32_t nodes, abut_err *err);
void abut_coulomb_state_clear(abut_coulomb_state *s);

/** Begins at q = s->v - s->lambda. */
void abut_coulomb_begin(abut_coulomb_state *s);
/** Iterates until the residuals that the options name are below their bounds, or as often as the options say; may be called
 * again, with more contacts, to go on.  t: settled with y->inv_w.  The same bits for every thread count if y->solve and
 * y->append have them.  Fails  as y->solve, y->append, abut_project */
ABUT_MUST_USE abut_status abut_coulomb_iterate(abut_coulomb_state *s, const abut_coulomb_system *y, abut_touching *t,
                                               const abut_coulomb_options *o, abut_err *err);

/** Returns the contact of the largest impulse; -1 without contacts. */
ptrdiff_t abut_coulomb_strongest(const abut_touching *t);

/** Returns 1 if those residuals are below their bounds. */
int abut_coulomb_converged(const abut_coulomb_state *s, const abut_coulomb_options *o);

/* Residuals of the law at some velocities, states of the contacts, and their work. */
typedef struct abut_coulomb_quality {
    double penetration;     /* m/s: the largest -u_N */
    double residual;        /* m/s: the largest abut_coulomb_residual */
    size_t open, stick, slide;
    double friction_work, normal_work;  /* J: sums of r_T . u_T and r_N u_N */
} abut_coulomb_quality;
/** Returns them for the contacts at p[3 nodes] with the impulses of t. */
abut_coulomb_quality abut_coulomb_quality_at(const abut_touching *t, const double *p);

#endif
