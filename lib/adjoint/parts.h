/* Declarations shared by the files of the backward pass: adjoint.c goes from frame to frame, pass.c through one minimisation,
 * passes.c takes friction passes from a frame, replay.c solves them again, refine.c improves the balance of forces at ends of
 * steps, air.c has pressure and wind, finish.c sums over elements, refuse.c rejects what is not differentiated. */
#ifndef ABUT_ADJOINT_PARTS_H
#define ABUT_ADJOINT_PARTS_H

#include "adjoint/adjoint.h"
#include "adjoint/forces.h"
#include "adjoint/lag.h"
#include "adjoint/recur.h"
#include "adjoint/system.h"
#include "solve/step/options.h"
#include "solve/step/step_parts.h"

enum { ABUT_ADJOINT_PASSES = 9 /* later ones are relaxed */ };

/* One minimisation of a step: its end, its stiffnesses, and the positions at which its friction was frozen. */
typedef struct abut_adjoint_pass {
    double *x;              /* [3 nv] m */
    double kappa, strain_kappa;
    const double *from;     /* [3 nv] m: x of the pass before, or of the start; x itself if friction has converged */
    double from_kappa;      /* of the barrier at `from` */
} abut_adjoint_pass;

struct abut_adjoint {
    abut_adjoint_options opt;
    const abut_model *model;
    abut_step_model with;   /* the model with the tolerance of replays */
    abut_stepper s;
    abut_report report;     /* scratch for the stepper; its contents are ignored */
    abut_adjoint_system system;
    abut_adjoint_forces forces;
    abut_frozen_list frozen;
    abut_parameter_bar bars;
    abut_recur recur;
    struct abut_adjoint_work {
        abut_state_bar start;           /* bars of the start of the step */
        double *end, *next, *acc, *target;  /* [3 nv] bars of x', of the pass before, of accelerations, of targets */
        double *p, *g, *u;              /* [3 nv] adjoint, scratch */
        double *q;                      /* [3 nv] derivative of Newmark's a' by gradients of contact, times the bar of a' */
    } work;
    struct abut_adjoint_passes {
        int n;                          /* of this step */
        int again;                      /* 1: they were solved again, because the frame does not have them */
        abut_adjoint_pass of[ABUT_ADJOINT_PASSES];
    } passes;
};

/** Loads the step from frame `start` to frame `end`: f0 becomes its start, and a->passes the passes that led to the end. */
ABUT_MUST_USE abut_status abut_adjoint_begin(abut_adjoint *a, const abut_arrays *start, abut_instant at, const abut_arrays *end,
                                             abut_frame *f0, abut_err *err);
/** Sets the objective to the end of a pass, with the stiffnesses and contacts there: *at, and its gradient F in work.g. */
ABUT_MUST_USE abut_status abut_adjoint_arrive(abut_adjoint *a, const abut_adjoint_pass *pass, abut_at *at, abut_err *err);
/** Moves the ends of a->passes so that forces balance better. */
ABUT_MUST_USE abut_status abut_adjoint_closer(abut_adjoint *a, abut_err *err);
/** Goes back through one pass: from work.end, bar of its end, to work.next, bar of the positions at which its friction was
 * frozen; adds to the other bars.  converged: its friction was frozen at its own end. */
ABUT_MUST_USE abut_status abut_adjoint_pass_back(abut_adjoint *a, const abut_adjoint_pass *pass, int converged,
                                                 abut_adjoint_report *rep, abut_err *err);
/** Freezes friction contacts at `from` with that stiffness, for the objective and in a->frozen. */
ABUT_MUST_USE abut_status abut_adjoint_freeze(abut_adjoint *a, const double *from, double kappa, abut_err *err);
/** Solves the step from `start` again, with its passes; the last of them must end as the frame `end` does.
 * Fails  ABUT_E_FORMAT it does not: by how much, at which node; more passes than ABUT_ADJOINT_PASSES */
ABUT_MUST_USE abut_status abut_adjoint_replay(abut_adjoint *a, const abut_arrays *start, abut_instant at, const abut_frame *end,
                                              int most, abut_err *err);
/** Takes a->passes from the frame `end` (pass/), for a run of at most `most`; kappa: stiffness at which the first was frozen.
 * Fails  ABUT_E_FORMAT the frame has more passes than `most`, or than ABUT_ADJOINT_PASSES */
ABUT_MUST_USE abut_status abut_adjoint_take_passes(abut_adjoint *a, const abut_frame *end, int most, double kappa, abut_err *err);
/** Returns the end of a step as its last pass, with the stiffnesses of the frame; fills x[3 nv]. */
abut_adjoint_pass abut_adjoint_last_pass(abut_adjoint *a, const abut_frame *end, double *x);
/** bars of the pressures of objects, and of their factors at load_time, += scale q^T d(dPsi/dx)/dp at z[3 nv]. */
void abut_adjoint_pressure_back(const abut_model *m, double load_time, const double *z, const double *q, double scale,
                                abut_parameter_bar *bars);
/** Adds to bars of x, v, masses, forces and loads through a = acc - M^-1 dPsi/dx(x) - damping.mass v of nodes that are no
 * obstacles, under loads at that time; bar->a becomes 0.  Overwrites work.p, g, acc.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_adjoint_acceleration_back(abut_adjoint *a, const double *x, const double *v, double time,
                                                         abut_state_bar *bar, abut_err *err);
/** Sums bars of elements to bars of materials and objects; x_bar[3 nv]: bar of the start. */
void abut_adjoint_sum(abut_adjoint *a, const double *x_bar);
/** Damping, w p.C u with C = a M + b K and K taken at x_n: bars of a, b, masses, moduli, and of x_n through K.
 * u[3 nv] = x' - x_damp.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_adjoint_damping_back(abut_adjoint *a, const double *u, abut_err *err);
/** Fails  ABUT_E_FORMAT the model has a feature that is not differentiated (names it) */
ABUT_MUST_USE abut_status abut_adjoint_refuse(const abut_model *m, const abut_terms *terms, abut_err *err);

#endif
