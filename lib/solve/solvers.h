/* The tables of solvers for `step --solver NAME`: the stepper of each, its options and its promises.  A new solver is a row of
 * solvers.c, one that others are compared with a row of baselines/baselines.c. */
#ifndef ABUT_SOLVE_SOLVERS_H
#define ABUT_SOLVE_SOLVERS_H

#include "solve/options.h"
#include "solve/stepper.h"

/* Traits of solvers, each of which brings options (solve/options.h): a barrier; Newton's method; a matrix for any linear solver;
 * pairs of L-BFGS; subdomains, with levels; a constant matrix, with a fit; hard contact; inequalities, in a penalty function. */
enum { ABUT_FOR_BARRIER = 1, ABUT_FOR_NEWTON = 2, ABUT_FOR_FACTORS = 4, ABUT_FOR_HISTORY = 8, ABUT_FOR_PARTS = 16,
       ABUT_FOR_LEVELS = 32, ABUT_FOR_CONSTANT = 64, ABUT_FOR_FIT = 128, ABUT_FOR_NODAL = 256, ABUT_FOR_INEQUALITIES = 512,
       ABUT_FOR_PENALTY = 1024 };

/* Promises of README.md.  `step` names promises that a solver does not keep on stderr and in the report. */
enum { ABUT_KEEPS_APART = 1, ABUT_KEEPS_VOLUME = 2, ABUT_KEEPS_CONVERGED = 4, ABUT_KEEPS_RESTART = 8, ABUT_KEEPS_BITS = 16,
       ABUT_PROMISES = 5 /* how many */ };
/* Subject of each promise ("intersections"), in the order of the bits. */
extern const char *const abut_promise_names[ABUT_PROMISES];

typedef struct abut_solver_row {
    const char *name, *use, *notes;     /* use: what for, at most 32 letters */
    const abut_stepper_ops *stepper;
    const struct abut_direction_ops *direction;     /* solve/direction.h; NULL: the stepper has none */
    const struct abut_lg_method *method;    /* solve/local_global/local_global.h; NULL: the stepper has none */
    const abut_linear_solver_ops *linear;   /* its own linear solver; NULL: --linear-solver, by default the first of the table */
    unsigned linear_can;    /* ABUT_CAN_* that it needs of a linear solver */
    unsigned options;       /* ABUT_FOR_*: whose options it understands */
    unsigned stops;         /* 1 << ABUT_STOP_* of the rules that it has */
    unsigned promises;      /* ABUT_KEEPS_* */
    int rigid;              /* rigid objects are kept from strain */
    int coheres;            /* contacts may attract (nodal/cohesion-force) */
} abut_solver_row;

/* Parts of rows: those with the barrier, which take a direction; those with a constant matrix, which take a method. */
#define ABUT_BARRIER_ROW \
    .stepper = &abut_barrier_stepper_ops, .rigid = 1, .stops = (1 << ABUT_STOPS) - 1, .promises = (1 << ABUT_PROMISES) - 1
#define ABUT_CONSTANT_ROW \
    .stepper = &abut_lg_stepper_ops, .stops = 1 << ABUT_STOP_NEWTON | 1 << ABUT_STOP_CHARACTERISTIC, \
    .promises = ABUT_KEEPS_RESTART | ABUT_KEEPS_BITS

/* Solvers to choose, the first by default, and baselines; name NULL ends a table, NULL the list of tables. */
extern const abut_solver_row *const abut_solver_tables[];

/* Names of the solvers that a scene may choose, by ABUT_SOLVED_BY_*. */
extern const char *const abut_scene_solvers[ABUT_SOLVED_BY];

/** Returns the row of a name, if it understands all given options (NULL at the end; NULL: none).  Else NULL, and err (ABUT_E_ARG)
 * names the option and the solvers that understand it, or all names. */
const abut_solver_row *abut_solver_find(const char *name, const abut_option *const *given, abut_err *err);
/** Returns ABUT_KEEPS_* that a row keeps with these options: steps of a fixed number of iterations need not converge. */
unsigned abut_solver_promises(const abut_solver_row *row, const abut_solve_options *o);
/** Fails  ABUT_E_ARG values of options that are out of range or cannot be combined with the solver, or with each other */
ABUT_MUST_USE abut_status abut_solver_check(const abut_solver_row *row, const abut_solve_options *o, abut_err *err);

/** *self = a stepper of the row for a model, by its stepper->make.
 * Fails  ABUT_E_FORMAT a model that the solver does not simulate, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_solver_make(void **self, const abut_model *m, const abut_solver_row *row,
                                           const abut_solve_options *o, abut_err *err);

#endif
