/* Settings of the solvers.  A row of the table declares a member of abut_solve_options with its default, and says how programs
 * read, refuse, record and explain it.  A setting is a row and the lines that act on it.
 *
 *     F(group, type, member, default, name, KIND, for, flags, unit, help)
 *
 * group   of members that one room reads, through a const pointer, under their names here
 * KIND    FLAG; WHOLE(least, most), most 0: any; POSITIVE(below), 0: any; CHOICE(names); SET(names); WORD(read): by a function;
 *         NAMED(read, names): by a function that knows more words than `names`
 * for     solvers that understand it: ABUT_FOR_* of solve/solvers.h without the prefix, ALL: every one
 * flags   SHAPES: the result, so the history of the stream has it;  USUAL: --help has it, not --help all alone
 * help    TEXT(words), lines after the first are a table; TABLE(describe): made of another table */
#ifndef ABUT_SOLVE_OPTIONS_H
#define ABUT_SOLVE_OPTIONS_H

#include "base/err.h"
#include "model/model.h"
#include "sparse/linear_solver.h"

#include <stddef.h>

struct abut_barrier_hessian_ops;    /* energy/barrier.h */
struct abut_search_ops;     /* solve/search/search_ops.h */
struct abut_watch;          /* gpu/machine.h */
struct abut_own_term;       /* energy/term.h */
struct abut_ranks;          /* base/par.h */

/* Rules that end a minimisation (solve/search/minimise.h). */
enum { ABUT_STOP_NEWTON, ABUT_STOP_PUBLISHED, ABUT_STOP_CHARACTERISTIC, ABUT_STOP_GRADIENT, ABUT_STOP_STEP, ABUT_STOPS };
/* Bounds of directions against intersections (solve/search/line.c). */
enum { ABUT_CCD_FULL, ABUT_CCD_CFL };
/* First iterates of a time step (solve/step/motion.c); the public code of Li 2020 numbers them 1, 0, 2, 3, 4, 5. */
enum { ABUT_GUESS_COAST, ABUT_GUESS_START, ABUT_GUESS_INERTIA, ABUT_GUESS_SYMPLECTIC, ABUT_GUESS_ACCELERATED, ABUT_GUESS_JACOBI };
/* Treatment of contact in steppers without a barrier: models that could touch anything are refused unless one is chosen. */
enum { ABUT_CONTACT_REFUSED = -1, ABUT_CONTACT_IGNORE, ABUT_CONTACT_BY_SPRINGS };
/* Repair of a step of hard contact that the judge refuses. */
enum { ABUT_REPAIR_BARRIER, ABUT_REPAIR_NONE };
/* Line searches of sqp along the solution of a program. */
enum { ABUT_SEARCH_PENALTY, ABUT_SEARCH_NONE };
/* Features that a solver can do without: ablations of experiments, and reference variants of tests.  Every step ends by the same
 * rule on the same objective, so its end differs within the tolerance, and its iterations show the value of a feature. */
enum {
    ABUT_WITHOUT_LOOK_AHEAD = 1,    /* stretch limits of shells that directions run into */
    ABUT_WITHOUT_SECOND_ORDER = 2,  /* correction of the stretch of rotating shells and rods */
    ABUT_WITHOUT_LENGTHEN = 4,      /* longer steps after full ones whose curvature shows that they were too short */
    ABUT_WITHOUT_REUSE = 8,         /* directions by older factors and by factors in single precision */
    ABUT_WITHOUT_WARM_START = 16,   /* iterations that start at x + h v */
    ABUT_WITHOUT_MAJORANT = 32,     /* majorising friction Hessian if a direction crosses stick-slip */
    ABUT_WITHOUT_BEYOND = 64,       /* corrected steps beyond the bounds of shells on straight ones */
    ABUT_WITHOUT_ROTATIONS = 128,   /* steps of stiff bodies along their rotations */
    ABUT_WITHOUT_SCALE = 256,       /* scale of constant matrices by the last step */
    ABUT_WITHOUT_PAIRS = 512,       /* curvature of the last steps in slow ends of Newton's method */
    ABUT_WITHOUT_BLOCKED = 1024     /* curvature of contacts that bound many directions */
};
/* Names of ABUT_CONSTRAINT_* and ABUT_ACTIVE_* (model/model.h), NULL at the end. */
extern const char *const abut_constraint_names[ABUT_CONSTRAINTS + 1], *const abut_active_set_names[ABUT_ACTIVE_SETS + 1];

/* Computing device of a step: the processor, a GPU, or its twin on the processor. */
typedef enum abut_device_kind { ABUT_DEVICE_CPU, ABUT_DEVICE_TWIN, ABUT_DEVICE_GPU } abut_device_kind;

/* Device of minimisations and its number among several; ops NULL: the processor. */
typedef struct abut_device_place {
    abut_device_kind kind;
    int number;
    const struct abut_search_ops *ops;
} abut_device_place;
typedef double abut_interval[2];    /* low, high */

/* Solutions of Newton's equation (solve/direction/newton.h). */
#define ABUT_LINEAR_OPTIONS(F) \
    F(linear, const abut_linear_solver_ops *, solver, NULL /* by the solver */, "linear-solver", WORD(read_linear), \
      FACTORS, SHAPES, "NAME", TABLE(describe_linear)) \
    F(linear, double, cg_tolerance, 0 /* as the search needs */, "cg-tolerance", POSITIVE(1), NEWTON, SHAPES, "X", \
      TEXT("tolerance of conjugate gradients (newton-cg, newton with an iterative --linear-solver): squared residual in the " \
           "norm of the preconditioner, a fraction of the first, 0 < X < 1 (GIPC: 1e-4). Default: until the error of the " \
           "direction is a fifth of its length, or a twentieth of the tolerance of the step")) \
    F(linear, const struct abut_barrier_hessian_ops *, hessian, NULL /* projected */, "barrier-hessian", WORD(read_hessian), \
      NEWTON, SHAPES, "NAME", TABLE(describe_hessians)) \
    F(linear, int, threads, 1, "factor-threads", WHOLE(1, 0), ALL, 0, "N", \
      TEXT("threads of the factorisation (default: -j); the bytes are the same for any number"))

/* Minimisations on a device, in programs that are linked with devices (abut_device_parse). */
#define ABUT_DEVICE_OPTIONS(F) \
    F(device, abut_device_place, place, { 0 }, "device", WORD(read_device), NEWTON, SHAPES | USUAL, "NAME", \
      TEXT("cpu (default); gpu or gpu:N: Newton iterations on a GPU, for tetrahedra, shells, rods and springs; twin: the " \
           "algorithm of gpu on the processor, slower than cpu, for tests. gpu and twin write the same bytes, cpu writes " \
           "others")) \
    F(device, int, precond, 0 /* ABUT_DEVICE_JACOBI */, "precond", WORD(read_precond), NEWTON, SHAPES, "NAME", \
      TEXT("preconditioner of conjugate gradients on gpu and twin: jacobi (default), clusters (of 16 nodes), rigid (clusters " \
           "and the rigid motions of parts, for stiff bodies)"))

/* Steps that need not converge, nor see contact (solve/local_global/local_global.h). */
#define ABUT_REAL_TIME_OPTIONS(F) \
    F(real_time, int, iterations, -1 /* the solver's; 0: until a minimisation converges */, "iterations", \
      WORD(read_iterations), BARRIER | CONSTANT, SHAPES, "N", \
      TEXT("fixed number of iterations, for real time, or 'converged'. Default: 10 for pd, mass-springs and admm-* " \
           "('converged' with --tolerance), 'converged' for solvers with the barrier, which keep all other promises. " \
           "Converged steps of pd, mass-springs and admm-* balance forces to 0.001, or are given up after 100000 iterations")) \
    F(real_time, int, contact, ABUT_CONTACT_REFUSED, "contact", CHOICE(contact_names), CONSTANT, SHAPES, "WHAT", \
      TEXT("contact in pd, mass-springs and admm-*, which do not prevent it: ignore, or springs (admm-dd: ignore alone)"))

/* Quasi-Newton directions and constant matrices (solve/direction/initial.h, solve/local_global). */
#define ABUT_QUASI_OPTIONS(F) \
    F(quasi, int, history, -1 /* the solver's */, "history", WHOLE(0, 0), HISTORY, SHAPES, "N", \
      TEXT("iterations that L-BFGS remembers: dot, lbfgs-*, gradient (default 5); pd, mass-springs (default 0, or 5 with " \
           "--iterations converged)")) \
    F(quasi, abut_interval, fit, FIT_DEFAULT, "fit-interval", WORD(read_fit), FIT, SHAPES, "LOW:HIGH", \
      TEXT("stretches over which the constant matrix of pd, admm-pd, lbfgs-pd and lbfgs-id fits a stiffness to each material, " \
           "0 < LOW < 1 < HIGH (default 0.5:1.5)")) \
    F(quasi, int, parts, 0 /* the model's, or by the number of nodes */, "parts", WHOLE(0, 0), PARTS, SHAPES, "N", \
      TEXT("subdomains of dot, admm-dd and lbfgs-jh. Default: for dot and admm-dd the partition of decompose if there is one; " \
           "else one part for about 250 nodes (dot) or 1500 (admm-dd, lbfgs-jh)")) \
    F(quasi, int, levels, 2, "levels", WHOLE(1, 2), LEVELS, SHAPES, "N", \
      TEXT("2 (default): dot with the rigid motions of its subdomains as a coarse space; 1: dot without them, as published"))

/* Minimisations (solve/search/minimise.h). */
#define ABUT_SEARCH_OPTIONS(F) \
    F(search, int, stop, ABUT_STOP_NEWTON, "stop", NAMED(read_stop, stop_names), \
      BARRIER | INEQUALITIES | CONSTANT, SHAPES, "RULE", \
      TEXT("rule that ends a step:" \
           "\nnewton\tNewton direction below the tolerance, sum of all later ones below 4 times it, forces balance (default)" \
           "\npublished\tNewton direction below the tolerance" \
           "\nstep\tNewton direction after the first below the tolerance; it is not taken (GIPC)" \
           "\ngradient\tunbalanced forces below the tolerance times the length of the scene" \
           "\ncharacteristic\tcharacteristic norm of the gradient below the tolerance; for comparisons without contact")) \
    F(search, double, tolerance, 0 /* the model's, or the rule's */, "tolerance", POSITIVE(0), \
      BARRIER | INEQUALITIES | CONSTANT, SHAPES | USUAL, "X", \
      TEXT("tolerance of --stop: m/s for newton, published and step (default: the scene's), a number for characteristic " \
           "(default 1e-5), N/m for gradient (default 0.03)")) \
    F(search, double, armijo, 0, "armijo", POSITIVE(1), BARRIER, SHAPES, "C", \
      TEXT("a step must lower the objective by C times the decrease that its slope predicts, 0 < C < 1 (default: the " \
           "objective must not grow beyond rounding)")) \
    F(search, int, ccd, ABUT_CCD_FULL, "ccd", CHOICE(ccd_names), BARRIER, SHAPES, "RULE", \
      TEXT("bound of directions: full (default): by collisions of all pairs; cfl: of pairs nearer than dhat, at most half of " \
           "dhat if they allow no more than dhat; else of all pairs, at least half of dhat (GIPC)")) \
    F(search, int, guess, ABUT_GUESS_COAST, "guess", CHOICE(guess_names), BARRIER, SHAPES, "POINT", \
      TEXT("start of the iterations of a step, if the line to it meets nothing and the objective is lower there than at x:" \
           "\ncoast\tx + h v (default)\nstart\tx\ninertia\tthe point to which inertia and loads lead" \
           "\nsymplectic\tx + h (v + h a), a: acceleration of a body without contact\naccelerated\tx + h v + h^2 a / 2" \
           "\njacobi\tx after an iteration of Jacobi's method")) \
    F(search, double, force_tolerance, 0 /* the model's */, "force-tolerance", POSITIVE(0), BARRIER, SHAPES | USUAL, "X", \
      TEXT("tolerance of the force balance with --stop newton: unbalanced force on a body, a fraction of the largest force on " \
           "it (default: the scene's); a step above 10 times this is given up")) \
    F(search, unsigned, without, 0 /* ABUT_WITHOUT_* */, "without", SET(without_names), BARRIER, SHAPES, "LIST", \
      TEXT("features of the solver to switch off, comma separated, for experiments (formats/REPORT.md):" \
           "\nlook-ahead\tdirections of shells that anticipate stretch limits" \
           "\nsecond-order\tsteps of shells and rods that follow rotations\nlengthen\textended full steps" \
           "\nreuse\tolder factors, factors in single precision\nwarm-start\titerations that start at x + h v" \
           "\nmajorant\tmajorising friction Hessian if a step crosses stick-slip" \
           "\nbeyond\tcorrected steps beyond the bounds of straight steps of shells" \
           "\nrotations\tsteps of stiff bodies along rotations\nscale\tscaled constant matrix of lbfgs-pd" \
           "\npairs\tcurvature of the last steps in slow ends" \
           "\nblocked\tcurvature of contacts that bound many directions")) \
    F(search, int, max_newton, 10000, "max-newton", WHOLE(1, 0), BARRIER | INEQUALITIES, 0, "N", \
      TEXT("Newton iterations before a step is given up (default 10000)"))

/* Friction passes of a step (solve/step/passes.c). */
#define ABUT_PASSES_OPTIONS(F) \
    F(passes, int, lags, -1 /* the model's; 0: until they converge */, "lags", WORD(read_lags), BARRIER, SHAPES | USUAL, "N", \
      TEXT("friction lag iterations per step at most, or 'converged': until they converge, with halved steps if necessary " \
           "(default: the scene's)")) \
    F(passes, int, keep, 0, "keep-passes", FLAG, BARRIER, SHAPES, NULL, \
      TEXT("write the results of all friction passes but the last into the frames (pass/), for runs with 2 or more that need " \
           "not converge; adjoint reads them and does not solve the steps again"))

/* Steps without a barrier that are judged (solve/nodal/failsafe.h, solve/baselines/sqp.h). */
#define ABUT_HARD_OPTIONS(F) \
    F(hard, int, repair, ABUT_REPAIR_BARRIER, "repair", CHOICE(repair_names), NODAL, SHAPES, "HOW", \
      TEXT("nodal: after a step that the judge still refuses after five more rounds of detection, or that leaves forces " \
           "unbalanced: barrier (default): --solver newton takes the step again; none: the run ends with exit code 4")) \
    F(hard, int, strict, 0, "strict", FLAG, NODAL | INEQUALITIES, SHAPES, NULL, \
      TEXT("give up a step at once: nodal, if its iterations leave forces unbalanced or end above nodal.tolerance; sqp and " \
           "qp, if it intersects or inverts something")) \
    F(hard, int, lenient, 0, "lenient", FLAG, NODAL | INEQUALITIES, SHAPES, NULL, \
      TEXT("keep the steps that --strict gives up and say how many they are (default for sqp, qp, and nodal with " \
           "nodal.integrator: admm)"))

/* Quadratic programs (solve/baselines/sqp.h). */
#define ABUT_INEQUALITIES_OPTIONS(F) \
    F(inequalities, int, form, -1 /* the model's */, "constraints", CHOICE(abut_constraint_names), INEQUALITIES, SHAPES, \
      "FORM", \
      TEXT("constraint on a pair in sqp and qp: gap (default): its projected gap is not negative; volume: its tetrahedron is " \
           "not negative; impact: its gap along the normal of its impact is not negative")) \
    F(inequalities, int, active_set, -1 /* the model's */, "active-set", CHOICE(abut_active_set_names), INEQUALITIES, SHAPES, \
      "WHICH", TEXT("pairs with a constraint in sqp and qp: impacts: found by continuous collision detection on the step; " \
                    "near: closer than the offset and dhat; both (default)")) \
    F(inequalities, double, offset, -1 /* the model's */, "offset", POSITIVE(0), INEQUALITIES, SHAPES, "M", \
      TEXT("gap that constraints of sqp and qp keep beyond the thickness (default: the scene's, else dhat)")) \
    F(inequalities, int, line_search, ABUT_SEARCH_PENALTY, "line-search", CHOICE(line_search_names), PENALTY, SHAPES, "RULE", \
      TEXT("sqp: penalty (default): a step must not raise the exact penalty function of objective and constraints; none: full " \
           "steps at which the objective is finite"))

/* The table; history and help have this order. */
#define ABUT_SOLVE_OPTIONS(F) \
    ABUT_LINEAR_OPTIONS(F) ABUT_DEVICE_OPTIONS(F) ABUT_REAL_TIME_OPTIONS(F) ABUT_QUASI_OPTIONS(F) ABUT_SEARCH_OPTIONS(F) \
    ABUT_PASSES_OPTIONS(F) ABUT_HARD_OPTIONS(F) ABUT_INEQUALITIES_OPTIONS(F)

#define ABUT_OPTION_MEMBER(group, type, member, ...) type member;
typedef struct abut_linear_options { ABUT_LINEAR_OPTIONS(ABUT_OPTION_MEMBER) } abut_linear_options;
typedef struct abut_device_options {
    ABUT_DEVICE_OPTIONS(ABUT_OPTION_MEMBER)
    const struct abut_watch *watch;     /* of buffers, for tests; NULL: none */
    const struct abut_ranks *ranks;     /* processes that divide the work; NULL: this one does it */
} abut_device_options;
typedef struct abut_real_time_options { ABUT_REAL_TIME_OPTIONS(ABUT_OPTION_MEMBER) } abut_real_time_options;
typedef struct abut_quasi_options { ABUT_QUASI_OPTIONS(ABUT_OPTION_MEMBER) } abut_quasi_options;
typedef struct abut_search_options { ABUT_SEARCH_OPTIONS(ABUT_OPTION_MEMBER) } abut_search_options;
typedef struct abut_passes_options { ABUT_PASSES_OPTIONS(ABUT_OPTION_MEMBER) } abut_passes_options;
typedef struct abut_hard_options { ABUT_HARD_OPTIONS(ABUT_OPTION_MEMBER) } abut_hard_options;
typedef struct abut_inequalities_options { ABUT_INEQUALITIES_OPTIONS(ABUT_OPTION_MEMBER) } abut_inequalities_options;

/* Steppers and searches borrow it: it must outlive them. */
typedef struct abut_solve_options {
    abut_linear_options linear;
    abut_device_options device;
    abut_real_time_options real_time;
    abut_quasi_options quasi;
    abut_search_options search;
    abut_passes_options passes;
    abut_hard_options hard;
    abut_inequalities_options inequalities;
    const struct abut_own_term *terms;  /* the caller's own terms; NULL: none */
    const abut_arrays *names;   /* the arrays of the model, for names in messages and the partition; NULL: without */
} abut_solve_options;
extern const abut_solve_options abut_solve_defaults;

/** Reads a device: "twin", "gpu" or "gpu:N".  lib/solve/device defines it, in the library libabut_gpu.a, which programs with
 * devices are linked with; without it the pointer is NULL.
 * Fails  ABUT_E_ARG another name */
__attribute__((weak)) ABUT_MUST_USE abut_status abut_device_parse(const char *text, abut_device_place *place, abut_err *err);

enum { ABUT_LBFGS_PAIRS = 5 /* of L-BFGS by default, where steps converge by it */ };

/** Returns the bound of a rule on gradients: epsilon of the characteristic norm, or N/m; 0 for other rules. */
double abut_stop_norm(const abut_search_options *o);
/** Returns the fixed number of iterations of a minimisation with the barrier; 0: until it converges. */
static inline int abut_fixed_iterations(const abut_solve_options *o)
{
    return o->real_time.iterations > 0 ? o->real_time.iterations : 0;
}
/** *out = m with the tolerances, passes and inequalities of the options.  Borrows both. */
void abut_solve_view(abut_model *out, const abut_model *m, const abut_solve_options *o);

/* ---- the rows ---- */

typedef enum abut_option_kind {
    ABUT_OPTION_FLAG,       /* int: 1 when given */
    ABUT_OPTION_WHOLE,      /* int, from least to most; most 0: any */
    ABUT_OPTION_REAL,       /* double */
    ABUT_OPTION_POSITIVE,   /* double above 0, and below most; most 0: any */
    ABUT_OPTION_CHOICE,     /* int: place of the word among `names` */
    ABUT_OPTION_SET,        /* unsigned: a bit for each of `names`, comma separated; it may be given again */
    ABUT_OPTION_WORD,       /* by `read` */
    ABUT_OPTION_TEXT,       /* const char *, borrowed */
    ABUT_OPTION_OUTPUT,     /* the same: a file that a program writes, */
    ABUT_OPTION_OUTPUT_AFTER    /* after all input is read */
} abut_option_kind;
enum { ABUT_OPTION_SHAPES = 1, ABUT_OPTION_USUAL = 2, ABUT_OPTION_SAID = 200 /* size of a word for the history */ };

typedef struct abut_option {
    const char *name;
    abut_option_kind kind;
    size_t at;              /* of the member, in abut_solve_options or in the structure of a program; not with `read` */
    double least, most;
    const char *const *names;
    /** Reads a word into the whole structure.  said: the word; becomes the text for the history, "": as if it was not given. */
    abut_status (*read)(void *to, const char *word, char said[ABUT_OPTION_SAID], abut_err *err);
    unsigned solvers;       /* ABUT_FOR_*: solvers with one of these understand it; 0: every solver does */
    int flags;              /* ABUT_OPTION_SHAPES, ABUT_OPTION_USUAL */
    char letter;            /* 0: none */
    const char *unit, *help;
    void (*describe)(char *text, size_t size);  /* writes the help; NULL: it is `help` */
} abut_option;

#define ABUT_OPTION_NUMBER(group, type, member, ...) ABUT_OPTION_##group##_##member,
/* Places in the table, as ABUT_OPTION_search_tolerance. */
enum { ABUT_SOLVE_OPTIONS(ABUT_OPTION_NUMBER) ABUT_SOLVE_OPTIONS_COUNT };
extern const abut_option abut_solve_table[ABUT_SOLVE_OPTIONS_COUNT];

/** Reads a number (flags: 1), or a word, into the member of *to that the row describes; said: the text for the history.
 * Fails  ABUT_E_ARG naming the option, its value and what was expected */
ABUT_MUST_USE abut_status abut_option_number(const abut_option *row, void *to, double value, char said[ABUT_OPTION_SAID],
                                             abut_err *err);
ABUT_MUST_USE abut_status abut_option_word(const abut_option *row, void *to, const char *word, char said[ABUT_OPTION_SAID],
                                           abut_err *err);
/** Adds the bits of a list of names to *set; said[ABUT_OPTION_SAID]: the names of all, in their order (NULL to skip).
 * Fails  ABUT_E_ARG naming the option and the unknown word, and all known ones */
ABUT_MUST_USE abut_status abut_set_read(const char *option, const char *list, const char *const *names, unsigned *set,
                                        char *said, abut_err *err);
/** Appends ,"name":said to the history of a stage, JSON, if the option shapes the result. */
void abut_option_note(const abut_option *row, const char *said, char *notes, size_t size);
/** Fails  ABUT_E_ARG a number of the options is out of its range */
ABUT_MUST_USE abut_status abut_solve_options_check(const abut_solve_options *o, abut_err *err);

/** Reads a number of friction passes: -1 for NULL (the scene's), 0 for "converged", else the number.
 * Fails  ABUT_E_ARG naming the option */
ABUT_MUST_USE abut_status abut_lags_parse(const char *option, const char *text, int *lags, abut_err *err);
/** Writes lags for the history: 0 for the scene's, "converged" in quotes, or the number.  buf[16]; returns buf */
const char *abut_lags_json(int lags, char *buf);

#endif
