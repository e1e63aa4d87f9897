/* The command line of `step` (options.c), and its run (run.c): frames in, steps made, frames and reports out. */
#ifndef ABUT_TOOLS_STEP_RUN_H
#define ABUT_TOOLS_STEP_RUN_H

#include "formats/stream/pass.h"
#include "solve/solvers.h"
#include "tools/cli/cli.h"

enum { ABUT_STEP_OPTIONS_MAX = 48 };

typedef struct abut_step_command {
    int steps;                  /* -1: not given */
    int every, one_pass, dry;
    double rest;                /* m/s: until no node is faster; 0: not asked for */
    double checkpoint;          /* s of wall clock between frames that the disk has; 0: no matter */
    int from;                   /* frame to start from; -1: the last */
    unsigned record;            /* ABUT_WITH_* */
    double until;               /* s; infinite: not given */
    const char *report, *dump_stuck;    /* files; NULL: none */
    const char *solver_name;
    const abut_solver_row *solver;
    int solver_said;            /* --solver was given; else the scene may choose another */
    const abut_option *given[ABUT_STEP_OPTIONS_MAX + 1];    /* NULL at the end */
    int n_given;
    char notes[900];            /* JSON: the options given that shape the result, each after a comma */
    abut_solve_options o;
    char history[1024];         /* JSON: the solver and the options given that shape the result */
} abut_step_command;

/* Raw values of the command line, one for each option; an option not given has a value that cannot be given. */
typedef struct abut_step_line {
    union {
        int number;
        double real;
        const char *word;
        abut_opt_list list;
    } value[ABUT_STEP_OPTIONS_MAX];
    abut_opt opts[ABUT_STEP_OPTIONS_MAX + 3];   /* for abut_cli_begin; options of --help all come last */
    char help[2][1600], solvers[3200];          /* made of tables */
} abut_step_line;

void abut_step_line_init(abut_step_line *line);

/** Reads the values into *c, after abut_cli_begin.
 * Fails  ABUT_E_ARG naming the option, its value and what was expected; ABUT_E_IO --dump-stuck cannot be written */
ABUT_MUST_USE abut_status abut_step_line_read(const abut_step_line *line, const abut_cli *cli, abut_step_command *c,
                                              abut_err *err);

/** Chooses the solver of --solver, else the scene's; sets c->solver and c->history.
 * Fails  as abut_step_line_read: an option is not for that solver */
ABUT_MUST_USE abut_status abut_step_choose_solver(abut_step_command *c, const abut_model *m, abut_err *err);

/* Tally of the steps of a run, for the remarks at its end. */
typedef struct abut_step_tally {
    int steps, frames;          /* made; written */
    int64_t iterations;
    struct abut_step_longest {  /* the step of the most iterations */
        int64_t step;
        int newton, held[ABUT_HOLDS];
    } longest;
    double min_gap;             /* m, the smallest at the end of a step; infinite: no contact */
    int more_frames;            /* written beyond --every, for the path to them */
    int unsettled;              /* steps whose friction passes ended before they converged */
    double worst_lag;           /* m/s: their largest lag residual */
    int lagging, divided;       /* steps in which one pass moved friction by more than the tolerance; steps taken in parts */
    struct abut_lag_report lagged;  /* the worst of the lagging steps */
    int mended[2];              /* steps of hard contact that passed after more rounds; that the barrier took */
    int rising;                 /* steps that the barrier took because their linearisations increased the energy */
    int unconverged, replaced;  /* steps whose iterations ended before contact laws were met: kept; given to the barrier */
    double worst_law;           /* their largest violation of a contact law, over the contact forces of a body */
    int meeting;                /* steps of sqp and qp that meet or invert something */
    int balanced;               /* steps whose forces were measured */
    int cut;                    /* balanced steps that ended without a passed test of the objective's convergence */
    int damped;                 /* steps of midpoint or Newmark that implicit Euler took */
    double spin;                /* fraction of the angular momentum that implicit Euler took from bodies without contact */
    int unbalanced;             /* steps whose forces rounding kept from balancing */
    double worst_balance;       /* the largest force residual of a step */
    double error[ABUT_ERRORS];  /* of contact forces, of the step where their sum is the largest */
    int error_is_hard;          /* 1: of that error, passes are the laws of hard contact */
    double worst_momentum;      /* hard contact: the largest residual of the balance of momentum */
} abut_step_tally;

/* Owns everything but the report.  Zero-filled is empty. */
typedef struct abut_step_run {
    abut_stream s;
    abut_last now;
    abut_arrays next;
    abut_model model;           /* as the options change it */
    const abut_stepper_ops *ops;
    void *stepper;
    FILE *report;               /* NULL: none */
    abut_step_tally tally;
    int slow, rests;            /* --until-rest: steps in a row at whose end all is slow; enough of them */
    double synced;              /* s, wall clock: --checkpoint-every */
} abut_step_run;

/** Keeps freed memory in the process.  Large arrays are freed and allocated in every iteration; returned to the system, their
 * pages would be faulted in and cleared again. */
void abut_step_keep_memory(void);
/** Reads the stream, makes the steps and writes everything on.  Fails as its parts do, with the name of the input. */
ABUT_MUST_USE abut_status abut_step_run_all(abut_step_run *r, abut_step_command *c, abut_cli *cli, abut_err *err);
void abut_step_run_clear(abut_step_run *r);

#endif
