/* One discrete Coulomb friction problem, by ADMM (Daviet 2020, 5.1, algorithm 2, appendix C):
 *
 *     A v = f + B^T (r - xi n),   u = B v + k,   (u_c, r_c) of the law of Signorini and Coulomb for every contact c
 *
 *     repeat   p: projection of q (solve/nodal/project.h), lambda = p - q;   v: (A + W) v = f + W (p + lambda);   q += v - p
 *
 * W, one number for each node of a contact, changes how fast this converges, never to what.  W lambda = B^T r is the impulse of
 * all contacts on each node; p keeps the law up to what the sweeps leave, and v balances those impulses up to W (v - p), N s,
 * since A v - f - B^T r is that.  p, where the step ends, balances them up to (A + W) (p - v).  So iterations end by a part of
 * the impulses themselves: what they sum to on each node at v, and on the affine motions of each body at p, unless both lead to
 * the same place as far as contacts tell it.
 *
 * The map of q is averaged, linear while no contact changes its state, and its slow modes are few (a body that follows its
 * contacts as a whole), so Anderson's mixing of the last iterations finds them (Anderson 1965; Fu, Zhang, Boyd 2020). */
#ifndef ABUT_SOLVE_NODAL_COULOMB_SOLVE_H
#define ABUT_SOLVE_NODAL_COULOMB_SOLVE_H

#include "solve/nodal/project.h"

enum { ABUT_MIXED = 10 };       /* iterations whose q are mixed */
enum { ABUT_COULOMB_ALL = 2 };  /* iterations in which v of all nodes is solved for: as many as there are copies of v */

typedef struct abut_node_list {
    int32_t n, *node;       /* [n] ascending */
} abut_node_list;

/* What is solved.  Borrowed. */
typedef struct abut_coulomb_system {
    int32_t nodes;
    double h;               /* s: lengths are velocities times this */
    const double *f;        /* [3 nodes] N s */
    const double *w, *inv_w;    /* [nodes] kg, 1/kg; both 0: no contact has the node, p = v */
    const double *x;        /* [3 nodes] m: where forces act, beside `multiply` */
    const int32_t *body;    /* [nodes] numbers below `bodies` of what balances apart; NULL: all is one body */
    int32_t bodies;
    const abut_node_list *awake;    /* nodes that the weights are connected with, `append` changes it; NULL: all, as where
                                     * there is `local` */
    /** (A + W) v = rhs at the nodes that move; v stays where they do not.  After ABUT_COULOMB_ALL iterations v of
     * nodes that are not awake is there already. */
    abut_status (*solve)(void *ctx, const double *rhs, double *v, abut_err *err);
    double near;            /* m: v and p of the contacts of a body lead to one place if no further apart, beside `multiply` */
    /** out = (A + W) d at the nodes that move, 0 elsewhere, where there are `body` and `awake`; NULL: momentum is asked at v
     * alone. */
    void (*multiply)(void *ctx, const double *d, double *out);
    /** Appends contacts that the motion by v meets, and gives their nodes weights; NULL: none come. */
    abut_status (*append)(void *ctx, const double *v, int round, abut_touching *t, abut_err *err);
    /** Other constraints of the same iterations, before v is solved for: writes f for where v leads; *left, m: what they are off.
     * NULL: f stays. */
    abut_status (*local)(void *ctx, const double *v, double *left, abut_err *err);
    void *ctx;
} abut_coulomb_system;

typedef struct abut_coulomb_options {
    int iterations, sweeps; /* at most; of each projection */
    double balance;         /* residual `unbalanced` that ends the iterations; 0: they do not ask for it */
    double tolerance;       /* m: residual delta that ends them, where both are given both; 0: they do not ask for it */
    double freeze;          /* contacts that change by less than this part of the residual sleep; 0: none does */
    int accelerated;        /* 1: q are mixed */
    int refresh;            /* iterations from one append to the next; 0: none is asked for */
} abut_coulomb_options;

/* Owns its arrays.  Zero-filled is empty. */
typedef struct abut_coulomb_state {
    int32_t nodes;
    double *v, *p;          /* [3 nodes] m/s: of the dynamics, of the law */
    double *lambda;         /* [3 nodes] m/s; 0 where no contact has the node */
    double *v_old, *rhs, *q, *next;     /* [3 nodes] */
    int32_t *moved, n_moved;    /* [nodes] those with weights, ascending */
    abut_projection projection;
    double delta, delta_2;  /* m: h (|v - v_old| + |v - p|), largest and root mean square, `left` on top of the first; NAN before
                               the first iteration */
    double unbalanced;      /* of momentum and of the law of contact, summed over a body, of the impulses of its contacts; of the
                               body where it is the most; NAN: not known */
    double left;            /* m: what `local` of the system said last; 0 */
    int times;              /* as many sweeps as the options say: doubled where they are what the law lacks */
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

/** Room for so many nodes.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_coulomb_state_init(abut_coulomb_state *s, int32_t nodes, abut_err *err);
void abut_coulomb_state_clear(abut_coulomb_state *s);

/** From q = s->v - s->lambda. */
void abut_coulomb_begin(abut_coulomb_state *s);
/** Iterations until the residuals that the options name are below their bounds, or as many as the options say; may be called
 * again, with more contacts, to go on.  t: settled with y->inv_w.  The same bits for every thread count if y->solve and
 * y->append have them.  Fails  as y->solve, y->append, abut_project */
ABUT_MUST_USE abut_status abut_coulomb_iterate(abut_coulomb_state *s, const abut_coulomb_system *y, abut_touching *t,
                                               const abut_coulomb_options *o, abut_err *err);

/** Whether that was so. */
int abut_coulomb_converged(const abut_coulomb_state *s, const abut_coulomb_options *o);

/* What the law and the dynamics lack at some velocities. */
typedef struct abut_coulomb_quality {
    double penetration;     /* m/s: the largest -u_N */
    double residual;        /* m/s: the largest abut_coulomb_residual */
    size_t open, stick, slide;
    double friction_work, normal_work;  /* J: sums of r_T . u_T and r_N u_N */
} abut_coulomb_quality;
/** Of the contacts at p[3 nodes] with the impulses that t has. */
abut_coulomb_quality abut_coulomb_quality_at(const abut_touching *t, const double *p);

#endif
