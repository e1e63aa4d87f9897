/* What `step --solver pd`, `mass-springs` and `admm-pd` take from the command line. */
#ifndef ABUT_TOOLS_STEP_LOCAL_H
#define ABUT_TOOLS_STEP_LOCAL_H

#include "solve/local_global/local_global.h"

typedef struct abut_local_words {
    const char *solver, *iterations, *contact;  /* NULL: not given */
    const char *stop;       /* newton, cn */
    double tolerance;       /* of cn; NaN: not given */
    int barrier_options;    /* some option was given that only solvers with the barrier know */
} abut_local_words;

/** *is_local: the solver is one of solve/local_global/local_global.h, and *o says what it shall do.
 * Fails  ABUT_E_ARG an option that the solver does not know, or its value */
ABUT_MUST_USE abut_status abut_local_parse(const abut_local_words *w, int *is_local, abut_lg_opts *o, abut_err *err);

#endif
