/* The table of solvers for `step --solver NAME`: the stepper of each, its options and its promises.  A new solver is a row of
 * solvers.c. */
#ifndef ABUT_SOLVE_SOLVERS_H
#define ABUT_SOLVE_SOLVERS_H

#include "solve/stepper.h"

/* Options of `step` that some solvers do not support: bits for the given ones, and for those of a row. */
enum {
    ABUT_OPTION_ONE_PASS = 1, ABUT_OPTION_LAGS = 2, ABUT_OPTION_RECORD = 4, ABUT_OPTION_MAX_NEWTON = 8, ABUT_OPTION_HISTORY = 16,
    ABUT_OPTION_PARTS = 32, ABUT_OPTION_LEVELS = 64, ABUT_OPTION_FORCE_TOLERANCE = 128, ABUT_OPTION_DUMP_STUCK = 256,
    ABUT_OPTION_ITERATIONS = 512, ABUT_OPTION_CONTACT = 1024, ABUT_OPTION_LINEAR = 2048, ABUT_OPTION_WITHOUT = 4096,
    ABUT_OPTION_DEVICE = 8192, ABUT_OPTION_PRECOND = 16384, ABUT_OPTION_HESSIAN = 32768,
    ABUT_OPTION_ARMIJO = 65536, ABUT_OPTION_CCD = 131072, ABUT_OPTION_REPAIR = 262144, ABUT_OPTION_STRICT = 524288,
    ABUT_OPTION_CG_TOLERANCE = 1048576, ABUT_OPTION_FIT = 2097152, ABUT_OPTION_CONSTRAINTS = 4194304,
    ABUT_OPTION_ACTIVE_SET = 8388608, ABUT_OPTION_OFFSET = 16777216, ABUT_OPTION_LINE_SEARCH = 33554432,
    ABUT_OPTION_KEEP_PASSES = 67108864, ABUT_OPTION_GUESS = 134217728, ABUT_OPTION_STOP = 268435456,
    ABUT_OPTION_TOLERANCE = 536870912, ABUT_OPTION_RECORD_CONTACTS = 1073741824,
    ABUT_OPTIONS = 31 /* how many */
};

/* Promises of README.md.  `step` names promises that a solver does not keep on stderr and in the report. */
enum { ABUT_KEEPS_APART = 1, ABUT_KEEPS_VOLUME = 2, ABUT_KEEPS_CONVERGED = 4, ABUT_KEEPS_RESTART = 8, ABUT_KEEPS_BITS = 16,
       ABUT_PROMISES = 5 /* how many */ };
/* Subject of each promise ("intersections"), in the order of the bits. */
extern const char *const abut_promise_names[ABUT_PROMISES];

typedef struct abut_solver_row {
    const char *name, *use, *notes;     /* use: what for, at most 32 letters */
    const abut_stepper_ops *stepper;
    const struct abut_direction_ops *direction;     /* solve/directions.h; NULL: the stepper has none */
    const char *linear;     /* name of its own linear solver; NULL: --linear-solver, by default the first of the table */
    unsigned linear_can;    /* ABUT_CAN_* that it needs of a linear solver */
    unsigned options;       /* ABUT_OPTION_* */
    unsigned stops;         /* 1 << ABUT_STOP_* of the rules that it has */
    unsigned promises;      /* ABUT_KEEPS_* */
    int coheres;            /* contacts may attract (nodal/cohesion-force) */
    int compared;           /* for comparison with other solvers alone */
} abut_solver_row;

/* The first is the default; name NULL at the end. */
extern const abut_solver_row abut_solver_table[];

/* Names of the solvers that a scene may choose, by ABUT_SOLVED_BY_*. */
extern const char *const abut_scene_solvers[ABUT_SOLVED_BY];

/** Returns the row of a name, if it supports all given options, ABUT_OPTION_*.  Else NULL, and err (ABUT_E_ARG) names the option
 * and the solvers that support it, or all names. */
const abut_solver_row *abut_solver_find(const char *name, unsigned given, abut_err *err);
/** Returns ABUT_KEEPS_* that a row keeps with these options: steps of a fixed number of iterations need not converge. */
unsigned abut_solver_promises(const abut_solver_row *row, const struct abut_step_options *o);
/** Fails  ABUT_E_ARG values of options that cannot be combined with the solver, or with each other */
ABUT_MUST_USE abut_status abut_solver_check(const abut_solver_row *row, const struct abut_step_options *o, abut_err *err);

/** *self = a stepper of the row for a model, by its stepper->make.
 * Fails  ABUT_E_FORMAT a model that the solver does not simulate, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_solver_make(void **self, const abut_model *m, const abut_solver_row *row,
                                           const struct abut_step_options *o, abut_err *err);

#endif
