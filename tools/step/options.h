/* The command line of `step`: a table of options, their stored values, and their part of the stream's history. */
#ifndef ABUT_TOOLS_STEP_OPTIONS_H
#define ABUT_TOOLS_STEP_OPTIONS_H

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

#endif
