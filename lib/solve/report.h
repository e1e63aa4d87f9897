/* Report of one time step: whether it is stuck or slow, and which pair or element causes that. */
#ifndef ABUT_SOLVE_REPORT_H
#define ABUT_SOLVE_REPORT_H

#include "contact/step_bound.h"

#include <stddef.h>
#include <stdint.h>

/* Phases of a step, in the order of the report. */
#define ABUT_PHASES(F) \
    F(predict) F(candidates) F(pairs) F(gradient) F(hessian) F(assemble) F(analyse) F(factor) F(solve) F(ccd) \
    F(line_search) F(check) F(friction) F(total)

typedef struct abut_phase_seconds {
#define ABUT_PHASE_MEMBER(name) double name;
    ABUT_PHASES(ABUT_PHASE_MEMBER)
#undef ABUT_PHASE_MEMBER
} abut_phase_seconds;

/* One Newton iteration. */
typedef struct abut_iteration {
    double residual;        /* m/s: |p|_inf / h before the search */
    double bound, alpha;    /* feasible and accepted step length; accepted 0: none, above 1: lengthened */
    double decrease;        /* kg m^2: by how much the objective fell; below 0 within rounding */
    abut_limit_kind limit;  /* limit that set the bound */
    const char *term;       /* its name if that is ABUT_LIMIT_TERM */
    int32_t contacts;       /* stencils and half-space contacts at the new point */
    int trials;             /* evaluations of the objective */
} abut_iteration;

/* Causes that hold an iteration up; an iteration without one takes its whole direction. */
typedef enum abut_hold {
    ABUT_HOLD_SCRIPT,       /* contacts are in the way of prescribed nodes, which a penalty pushes */
    ABUT_HOLD_CONTACT, ABUT_HOLD_ELEMENT,   /* a contact, an element bounds the direction */
    ABUT_HOLD_RISE,         /* the objective rises further along it */
    ABUT_HOLD_STIFF,        /* the direction was lengthened: its matrix is stiffer than the objective, as of bodies that fold */
    ABUT_HOLDS
} abut_hold;
extern const char *const abut_hold_names[ABUT_HOLDS];

/* Iterations that a report keeps: of a longer solve the first and the last half of this number. */
enum { ABUT_HISTORY = 1024 };

/* Treatment of contact.  The barrier guarantees that bodies never meet; ignored contact and springs guarantee nothing. */
enum { ABUT_CONTACT_BARRIER = 0, ABUT_CONTACT_IGNORED = 1, ABUT_CONTACT_SPRINGS = 2, ABUT_CONTACT_OFF = 3,
       ABUT_CONTACT_NOT_BODIES = 4, ABUT_CONTACT_HARD = 5 /* laws of contact, and a judge of every step */,
       ABUT_CONTACT_LINEARISED = 6 /* inequalities, which guarantee nothing */ };
extern const char *const abut_contact_names[ABUT_CONTACT_LINEARISED + 1];

/* Figures of a step on a device. */
typedef struct abut_device_report {
    const char *name;           /* of the chip, or "twin"; NULL: the processor alone */
    size_t waits, launches;     /* times the processor waited for the device; kernels */
    size_t bytes, bytes_peak;   /* of its memory */
    int corrections, cg_double; /* of solutions in single precision; solutions that double precision had to find */
    double transfer;            /* s: of positions, both ways */
} abut_device_report;

/* Figures of a step of hard contact (solve/nodal). */
typedef struct abut_nodal_report {
    int solved;                 /* 1: this is one */
    int linearisations, iterations, rounds; /* of Newton; of ADMM; of detection after the judge refused */
    size_t visits, asleep;      /* of contacts by sweeps; visits saved by sleeping contacts */
    size_t contacts, appended;  /* at the end; of them, found on the motion */
    int colours;
    double delta_elastic;       /* m: part of delta_inf by split elements (solve/nodal/nodal.h); with linearisations, length of
                                 * the last one */
    double delta_inf, delta_2;  /* m: h (change of v + distance of v and p) in the last iteration, largest and mean square */
    double unbalanced;          /* residual of momentum and the law of contact at the end of the iterations, over the contact
                                 * forces of a body; largest of all bodies; 0: no contact, NAN: not known */
    int unconverged;            /* 1: the iterations ended without convergence */
    double penetration;         /* m: max of -h u_N with the velocity returned */
    double coulomb_residual;    /* m/s: of the laws of contact, with that velocity */
    double balance_residual;    /* of momentum at the end of the step, over its largest part; NAN: the barrier's step */
    int rising;                 /* 1: the merit rises along the last linearisation, so the solution is no step */
    size_t sticking, sliding, yielding; /* contacts */
    size_t opening;             /* that were within the reserve at the start */
    int repaired;               /* 0: none, 1: more rounds, 2: the barrier's step */
    int twist_iterations;
    double detect, project, judge;  /* s */
} abut_nodal_report;

/* Answer of a quadratic program (solve/baselines/qp.h). */
typedef enum abut_qp_answer {
    ABUT_QP_SOLVED,
    ABUT_QP_INFEASIBLE,     /* no p with |p_i| < far keeps all inequalities: lambda is the certificate */
    ABUT_QP_LIMIT           /* the residuals are still too large */
} abut_qp_answer;

typedef struct abut_qp_result {
    abut_qp_answer answer;
    int iterations;
    double stationary;      /* m: max |H p + g - A^T lambda| / w */
    double feasible;        /* m: max of -(c_i + a_i p) / |a_i| */
    double complementary;   /* m: max of min(s_i / |a_i|, lambda_i |a_i| sum (|a_ik| / |a_i|)^2 / w_k) */
    double reach;           /* m: INFEASIBLE: every p that keeps the inequalities has an entry of this size or more */
} abut_qp_result;

/* Figures of a step by linearised inequalities (solve/baselines/sqp.h). */
typedef struct abut_sqp_report {
    int solved;                 /* 1: this is one */
    int programs, qp_iterations;    /* quadratic programs, and the iterations of all of them */
    size_t pairs;               /* of the active set at the end */
    double violation;           /* of their inequalities: the largest -c, m, or of volumes m^3 */
    size_t hits;                /* pairs that meet and elements that invert, as the judge finds them */
    abut_qp_result last;        /* of the last program */
} abut_sqp_report;

/* Parts of the error of contact forces (solve/step/report_fill.c). */
enum { ABUT_ERROR_BALANCE, ABUT_ERROR_PASSES, ABUT_ERROR_NEWTON, ABUT_ERRORS };
extern const char *const abut_error_names[ABUT_ERRORS];
static inline double abut_error_sum(const double part[ABUT_ERRORS]) { return part[0] + part[1] + part[2]; }

/* Zero-filled is empty; clear frees the iterations. */
typedef struct abut_report {
    int64_t step;               /* number of the frame that the step made */
    double time;                /* s, of that frame */
    int passes;                 /* friction lag iterations */
    double lag_residual;        /* m/s; negative when not measured */
    struct abut_lag_report {    /* how normal forces and friction change as the end of the step refreshes them; 0 without any */
        double change, largest; /* N: the largest change of a normal force; the largest of these forces */
        double friction;        /* N: the largest change of the friction on a body */
        double speed;           /* m/s: by how much that changes the velocity of a body in a step; quasi-static 0 */
        int parts;              /* steps that this one was divided into, because its passes did not converge; 0: none */
    } lags;
    int newton, trials;
    int fixed_iterations;       /* of each minimisation, that no test of convergence ended; 0: a test did */
    int cg_iterations;          /* of all Newton iterations together */
    int iterations_given_up;    /* solutions by iterations that cost more than the factor that they spared, or failed */
    int factorisations;         /* of Newton matrices; in double precision */
    int factorisations_double;
    int newton_solves;          /* quasi-Newton: iterations that took Newton's direction */
    int not_descending, pairs_skipped;  /* quasi-Newton: directions replaced; steps without a new pair */
    int initial_matrices;       /* quasi-Newton: made in the step */
    double norm, gradient;      /* of the gradient at the end, for stopping rules that read them: characteristic; the largest
                                 * entry as a force for each metre of the scene, N/m.  Else 0 */
    int shifts;                 /* factorisations that needed a larger diagonal */
    abut_iteration *it;         /* kept iterations: abut_report_row */
    size_t it_cap;

    unsigned promises;          /* ABUT_KEEPS_* of the solver (solve/solvers.h) */
    int contact;                /* ABUT_CONTACT_* */
    int32_t contacts, mollified, planes;  /* at the end */
    int32_t sticking, sliding;  /* friction contacts slower than eps_v, and the others */
    double creep_max, creep_mean;  /* m/s, of sticking contacts; 0 without any */
    double min_gap;             /* m, distance less thickness; negative without contacts */
    int32_t gap_node[4];        /* nodes of that contact; plane: node, -1, -1, half-space */
    double min_jacobian;
    int32_t min_jacobian_tet;   /* -1 without tets */
    double max_stretch, min_stretch;    /* principal stretches of the shells */
    int32_t max_stretch_shell;  /* -1 without shells */
    double stretch_room;        /* smallest remaining fraction of a stretch barrier's width, or of a strain bound; 1: none acts */
    double strain_kappa;        /* Pa */
    double rigid_strain;        /* largest |stretch - 1| of rigid objects; 0: there are none */
    int stiffened;              /* times that the step was repeated with a larger stiffness of rigid objects */
    double residual;            /* m/s: last |p|_inf / h */
    double force_residual, force_largest;   /* solve/search/equilibrium.h: left / largest; largest, N; 0: not measured */
    double contact_error[ABUT_ERRORS];  /* of the contact forces on a body, over the largest force on it; 0: not estimated */
    double kappa;               /* kg/m^2 */
    int damped;                 /* implicit Euler took a step of midpoint or Newmark */
    int waypoints;              /* between this frame and the one before; 0: the straight line is free */
    double eta;                 /* share of the scripted motion that was covered, 1 = all */
    int held[ABUT_HOLDS];       /* iterations that each held up */
    abut_limit limit;           /* the tightest bound on a step length */
    int limit_iteration;        /* 1-based; 0 when nothing bounded */

    double kinetic, elastic, gravity, barrier;  /* J */
    double energy_growth;       /* their sum over the most that it was before, without work of loads or motions; 0: not judged */
    int energy_grows;           /* 1: by more than rounding, the tolerance and the truncation of a resolved motion explain */
    double spin_taken;          /* implicit Euler without contacts: fraction of the angular momentum of rotating bodies */
    double momentum[3];         /* kg m/s, of all simulated nodes */
    double angular[3];          /* kg m^2/s about the origin */

    double factor_nnz, factor_flops, factor_bytes;
    size_t memory_peak;         /* bytes */
    size_t candidates;          /* pairs of the last sweep */
    double cpu;                 /* s, of all threads; seconds.total is wall clock */
    abut_phase_seconds seconds;
    abut_device_report device;
    abut_nodal_report nodal;
    abut_sqp_report sqp;
} abut_report;

/** Returns one more iteration, zero-filled and counted in newton; NULL: out of memory. */
abut_iteration *abut_report_iteration(abut_report *r);
/** Number of iterations kept, and the i-th of them (0-based), oldest first.  Omitted iterations lie between the first half of
 * ABUT_HISTORY and the others. */
int abut_report_rows(const abut_report *r);
const abut_iteration *abut_report_row(const abut_report *r, int i);
/** Returns the reason of the accepted step length: "none" (it is 1), "decrease" (the search shortened it), or the kind of its
 * bound: "vertex-triangle", "edge-edge", "half-space", "inversion", "length", "stretch". */
const char *abut_iteration_bounded_by(const abut_iteration *it);
/** Counts what held up an iteration that has its step; script: prescribed nodes are on their way. */
void abut_report_hold(abut_report *r, const abut_iteration *it, int script);
const char *abut_limit_name(abut_limit_kind kind, const char *term);
void abut_report_clear(abut_report *r);

#endif
