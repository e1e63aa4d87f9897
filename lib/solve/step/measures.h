/* Measures of a state and of a step: energies, momenta, forces in newtons, work.
 *
 * A force in newtons is minus a gradient of the objective divided by s_I h^2 (quasi-static: T^2) (solve/integrator.h), so it is
 * the same quantity in every time scheme.  All but the elastic force of the midpoint rule act at the end of the step; in Newmark
 * smooth forces act at both ends. */
#ifndef ABUT_SOLVE_STEP_MEASURES_H
#define ABUT_SOLVE_STEP_MEASURES_H

#include "energy/mass.h"
#include "solve/objective.h"
#include "solve/report.h"

/* ---- a state: x[3 nv] m, v[3 nv] m/s; obstacles have no part in it ---- */

double abut_kinetic_energy(const abut_mass *M, const double *v);    /* 1/2 v^T M v, J */
double abut_gravity_energy(const abut_mass *M, const double *x);    /* -sum g.(M x), J */
void abut_linear_momentum(const abut_mass *M, const double *v, double p[3]);    /* sum M v, kg m/s */
/** sum x cross (M v), kg m^2/s, about the origin. */
void abut_angular_momentum(const abut_mass *M, const double *x, const double *v, double l[3]);
/** sum M x / sum m, m; the origin when nothing is simulated. */
void abut_mass_center(const abut_mass *M, const double *x, double c[3]);

/** *taken: the fraction of the angular momentum of objects about their centres that implicit Euler takes in the step from p->xn
 * and v to v1, each [3 nv].  Their sum changes by the moment of forces at the end of the step and by h sum v1 cross (M v),
 * exactly.  Objects count that mostly rotate, with more energy than `least` J, and have no prescribed node.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_spin_taken(const abut_objective *p, const double *v, const double *v1, double least, double *taken,
                                          abut_arena *scratch, abut_err *err);

/* ---- a step that is solved ---- */

/* Borrows everything. */
typedef struct abut_solved {
    const abut_objective *objective;       /* start xn, weights, held nodes, terms with the friction that acted */
    const abut_pairs *pairs;        /* contacts at the end */
    const double *x, *y;            /* [3 nv], [3 nc] the end */
    const double *v0, *v;           /* [3 nv] velocities at the start and at the end */
    double *const *past_v;          /* [3 nv] each, BDF: one step before the start, ... */
    const double *acc0, *acc;       /* [3 nv] m/s^2, gravity, scripted forces, air: in the step before (Newmark), in this one */
    const double *air;              /* [3 nv] N, or NULL */
    double force_residual;          /* residual force over the largest (solve/search/equilibrium.h) */
    int first;                      /* the first step of the simulation, which Newmark starts without contact and friction */
} abut_solved;

/* Forces of the time scheme in a step, each [3 nv], N; Newmark uses means of them and of those one step before (w.late,
 * w.late_contact of its objective). */
typedef struct abut_forces {
    double *contact;    /* of the barrier; obstacles feel theirs */
    double *friction;   /* of the frozen contacts */
    double *damping;    /* -C v; none on obstacles */
    double *elastic;    /* -dPsi/dx: elasticity, attachments and thin elements, pressure */
} abut_forces;

/** Each overwrites all of f.  Fail  ABUT_E_NOMEM */
/** Force of the terms of a kind, except ABUT_TERM_POTENTIAL and its follower, at the end of the step. */
ABUT_MUST_USE abut_status abut_force(const abut_solved *s, abut_term_kind kind, double *f, abut_arena *scratch, abut_err *err);
/** Friction force on each half-space, f[3 nh]; opposite to the sum on the nodes in contact with it. */
void abut_force_friction_half_spaces(const abut_solved *s, double *f);
/** Force of damping with the velocities at the start of the step. */
ABUT_MUST_USE abut_status abut_force_damping_start(const abut_solved *s, double *f, abut_arena *scratch, abut_err *err);
/** Elastic force at the end x[3 nv] of a step, as the scheme evaluates it. */
ABUT_MUST_USE abut_status abut_force_elastic(const abut_solved *s, const double *x, double *f, abut_arena *scratch,
                                             abut_err *err);

/** Residual of the momentum balance at every node, N: M dv/h less all forces.  dv = v' - v, in BDF a sum over more steps
 * (abut_integrator_change), without inertia 0.  At prescribed nodes it is the reaction force of the constraint, in Newmark its
 * mean over the step; at free nodes, the residual of the solver.  Obstacles have no inertia: their reaction balances contacts
 * and ties.
 * last: the forces one step before; read by Newmark alone. */
ABUT_MUST_USE abut_status abut_balance(const abut_solved *s, const abut_forces *now, const abut_forces *last, double *f,
                                       abut_arena *scratch, abut_err *err);

/** Returns the work of a force in the step, J: sum f.(x' - x), f = late now + (1 - late) last, of w.late or w.late_contact. */
double abut_work(const abut_solved *s, double late, const double *now, const double *last);
/** *work: that of scripted accelerations and of the loads of the air, J: all loads but gravity. */
ABUT_MUST_USE abut_status abut_work_load(const abut_solved *s, double *work, abut_arena *scratch, abut_err *err);
/** *work: of the moments on clamps of curved rods in the step to x[3 nv], J. */
ABUT_MUST_USE abut_status abut_work_clamps(const abut_objective *p, const double *x, double *work, abut_err *err);

/** Elastic energy at x and energy of the barrier with the stiffness of this step, J.  pairs: contacts at x (y = W x). */
ABUT_MUST_USE abut_status abut_potentials(const abut_solved *s, const double *x, const double *y, const abut_pairs *pairs,
                                          double *elastic, double *barrier, abut_arena *scratch, abut_err *err);

/* Sliding speeds of the friction contacts.  Smoothed friction holds a contact by letting it creep slower than eps_v. */
typedef struct abut_creep {
    int32_t sticking, sliding;      /* slower than eps_v, and the others */
    double max, mean;               /* m/s, of sticking contacts; 0 without any */
} abut_creep;
abut_creep abut_creep_find(const abut_objective *p, const double *x);
/** Returns how many of them stick at x[3 nv] and slide at `to` (solve/search/rules.h: abut_rule_lets_go). */
int32_t abut_creep_about_to_slide(const abut_objective *p, const double *x, const double *to);

/** Reports the end of a step, x, v [3 nv]: kinetic energy and that of gravity, momenta.
 * plain: also the flattest tet, what a step of one pass without lagged friction has, and the memory. */
void abut_report_motion(const abut_objective *p, const double *x, const double *v, abut_report *rep);
void abut_report_plain(const abut_objective *p, const double *x, const double *v, abut_report *rep);

/* ---- energy that grows (formats/REPORT.md) ---- */

/* Kept from step to step.  Zero-filled: no step was watched. */
typedef struct abut_energy_watch {
    int on, driven;     /* a step was watched; number of next steps not judged, because loads or motions have worked */
    int learns;         /* number of next steps that only find `most`, after a start from a later frame */
    int64_t step;       /* number of the frame of the watched step */
    double end;         /* J: total energy there */
    double most, motion;    /* J: largest total energy; without gravity then, less energy created */
    double lately, lately_motion;   /* J: these two over the last steps, all below `most` */
    int below;          /* number of these steps */
} abut_energy_watch;

/* A step that has ended.  Borrows everything. */
typedef struct abut_watched {
    const abut_objective *objective;
    int64_t step;               /* number of the frame that it starts from */
    const double *v, *acc, *x;  /* [3 nv] velocities at the start; m/s^2, all loads that are no term; the end */
    int driven;                 /* 1: something else has worked, too */
    int hard;                   /* 1: contacts have no energy, but do work */
    double opened;              /* J: that of contacts which open gaps that were too small */
    int keeps;                  /* 1: a step need not converge, so it is kept */
} abut_watched;

/** Begins to watch a step from the frame of that number; resumes 1: of a PENDING frame, which is not judged. */
void abut_watch_begin(abut_energy_watch *w, int64_t step, int resumes);
/** Reports whether the energies of rep have grown without work of loads and motions.  Fails  ABUT_E_NUMERIC by a tenth */
ABUT_MUST_USE abut_status abut_watch_energy(abut_energy_watch *w, const abut_watched *of, abut_report *rep, abut_arena *scratch,
                                            abut_err *err);
/** Returns the energy of motion, J, below which motion is the residual of the solver. */
double abut_step_least_motion(const abut_model *m);

/* ---- records ---- */

/* A frame may hold more than the state: the forces on every node, the balance of energy and momentum (`step --with
 * forces,energies`; formats/STATE.md describes each array).
 *
 * The balance of one step: with E the sum of kinetic, elastic, gravity and barrier energy,
 *     E' - E = friction + damping + reaction + load + stiffness + numerical      (work/..., J),
 * with numerical the remainder: energy added by the time scheme, the frozen friction and the tolerance of the solver.  In
 * implicit Euler it is
 *     -1/2 sum m |v' - v|^2 - [dU/dx(x').(x' - x) - (U(x') - U(x))],   U = elastic and barrier energy,
 * negative if U is convex along the step: numerical damping.
 *
 * Sums over steps (work/...-total) continue those of the frame before, 0 if it has none.  Newmark takes the forces of the last
 * step from there; if a frame other than the first of a simulation lacks them, the step uses its own instead. */
enum { ABUT_WITH_FORCES = 1, ABUT_WITH_ENERGIES = 2, ABUT_WITH_CONTACTS = 4 /* of hard contact: touch/ */ };
extern const char *const abut_with_names[];     /* in the order of the bits, NULL at the end */

/** Copies into a PENDING frame the arrays that the records read from the frame before the step. */
ABUT_MUST_USE abut_status abut_record_keep(const abut_arrays *before, abut_arrays *out, abut_err *err);

#endif
