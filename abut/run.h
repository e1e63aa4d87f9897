/* A program that takes time steps: it reads a stream to its end and passes it on, then every step adds a frame.
 *
 *     abut_run *run = NULL;
 *     abut_err err = { 0 };
 *     const abut_run_options o = { .program = "pull", .energy = &pull, .energies = 1 };
 *     abut_status rc = abut_run_open(&run, stdin, stdout, &o, &err);
 *     for (int i = 0; i < 10 && !rc; i++) rc = abut_run_step(run, &err);
 *     if (!rc) rc = abut_run_close(run, &err);
 *     abut_run_free(&run);
 *
 * Steps are those of the program step: same solvers, same promises, same bytes where no energy is added.  Two runs may be in one
 * process; one run belongs to one thread at a time.  OpenMP's settings say how many threads a step takes.  Those
 * that wait spin, which is slow where other programs have the cores: OMP_WAIT_POLICY=passive in the environment makes them sleep
 * (the programs of abut set GOMP_SPINCOUNT=5000 for themselves, which a library cannot). */
#ifndef ABUT_ABUT_RUN_H
#define ABUT_ABUT_RUN_H

#include "base/array.h"
#include "energy/element_energy.h"

#include <stdint.h>
#include <stdio.h>

ABUT_PUBLIC_BEGIN

typedef struct abut_run abut_run;

/* Zero-filled is the default of each.  Borrowed until abut_run_free, the strings until abut_run_open has returned. */
typedef struct abut_run_options {
    const char *in_name;        /* of the input, in messages; NULL: "standard input" */
    const char *program;        /* its name in the history of the stream; NULL: "abut_run" */
    const char *version;        /* its version there; NULL: that of the library */
    const char *history;        /* JSON object: what else shapes the result, a stiffness, a list of nodes; NULL: nothing */
    const abut_element_energy *energy;  /* energies of the program's own, */
    int energies;                       /* and how many: at most ABUT_RUN_ENERGIES */
    const char *solver;         /* as step --solver; NULL: what the scene asks for */
    double tolerance;           /* as step --tolerance; 0: the scene's */
    int max_newton;             /* iterations of a step at most; 0: as step */
} abut_run_options;

enum { ABUT_RUN_ENERGIES = 8 };

/* Position of a run and cost of its last step. */
typedef struct abut_run_state {
    int64_t step;       /* since the start of the simulation */
    double time;        /* s */
    int iterations;     /* of the minimisation; 0 before the first step */
    int contacts;       /* at its end */
    double min_gap;     /* m, smallest distance less thickness; negative: no contact */
    double seconds;     /* wall clock */
} abut_run_state;

/** Reads `in` to its end and passes it on to `out` (NULL: nothing is written); the last frame is where the run starts.
 * Fails  ABUT_E_FORMAT no stream, or not a whole one; ABUT_E_ARG an option or an energy, by name; ABUT_E_GEOM, ABUT_E_IO,
 *        ABUT_E_NOMEM; *run is NULL then */
ABUT_MUST_USE abut_status abut_run_open(abut_run **run, FILE *in, FILE *out, const abut_run_options *o, abut_err *err);

/** The model and the present frame, as formats/STATE.md describes their arrays: "node/x" is [nv][3], m.  Those of the model live
 * as long as the run, those of the frame until the next step. */
const abut_arrays *abut_run_model(const abut_run *run);
const abut_arrays *abut_run_frame(const abut_run *run);
abut_run_state abut_run_where(const abut_run *run);

/** Compares the derivatives of the program's energies with finite differences, for every element at the present frame: a test of
 * the program, before its first step or between two.  Where second derivatives jump (a spring that only pulls, at its rest
 * length) differences do not agree with them.
 * Fails  ABUT_E_ARG a derivative that differs: the energy, the element, its nodes and axes, both numbers */
ABUT_MUST_USE abut_status abut_run_check(const abut_run *run, abut_err *err);

/** One time step; the new frame is written.
 * Fails  ABUT_E_NUMERIC the solver gave up, and why: the run stays at the frame before; ABUT_E_GEOM the frame cannot be stepped
 *        from; ABUT_E_IO, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_run_step(abut_run *run, abut_err *err);

/** Writes the end mark.  Without it every reader refuses the stream. */
ABUT_MUST_USE abut_status abut_run_close(abut_run *run, abut_err *err);
/** The files stay open.  NULL is fine. */
void abut_run_free(abut_run **run);

ABUT_PUBLIC_END

#endif
