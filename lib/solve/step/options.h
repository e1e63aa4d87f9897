/* Options of a time stepper: how its steps are solved, by the command line of `step`. */
#ifndef ABUT_SOLVE_STEP_OPTIONS_H
#define ABUT_SOLVE_STEP_OPTIONS_H

#include "model/model.h"
#include "solve/search/rules.h"
#include "solve/without.h"
#include "sparse/linear_solver.h"

/* The names of the rules that end a minimisation (solve/search/rules.h), NULL at the end. */
extern const char *const abut_stop_names[ABUT_STOPS + 1];

/* Bounds of directions against intersections (solve/search/line.c), and their names, NULL at the end. */
enum { ABUT_CCD_FULL, ABUT_CCD_CFL, ABUT_CCD_RULES };
extern const char *const abut_ccd_rule_names[ABUT_CCD_RULES + 1];

/* The names of ABUT_GUESS_* (solve/search/rules.h), NULL at the end. */
extern const char *const abut_guess_names[ABUT_GUESSES + 1];

/* Treatment of contact in steppers without a barrier, and its names, from the second on, NULL at the end. */
enum { ABUT_CONTACT_REFUSED /* models that could touch anything */, ABUT_CONTACT_IGNORE, ABUT_CONTACT_BY_SPRINGS };
extern const char *const abut_contact_choice_names[ABUT_CONTACT_BY_SPRINGS + 1];

/* Repair of a step of hard contact that the judge refuses, and its names, NULL at the end. */
enum { ABUT_REPAIR_BARRIER, ABUT_REPAIR_NONE };
extern const char *const abut_repair_names[ABUT_REPAIR_NONE + 2];

/* Line searches of sqp along the solution of a program, and their names, NULL at the end. */
enum { ABUT_SEARCH_PENALTY, ABUT_SEARCH_NONE };
extern const char *const abut_line_search_names[ABUT_SEARCH_NONE + 2];
/* The names of ABUT_CONSTRAINT_* and ABUT_ACTIVE_* (model/model.h), NULL at the end. */
extern const char *const abut_constraint_names[ABUT_CONSTRAINTS + 1], *const abut_active_set_names[ABUT_ACTIVE_SETS + 1];

typedef struct abut_step_options {
    struct abut_step_passes {
        int lags;           /* friction passes at most; 0: until they converge; -1: the model's */
        int keep;           /* 1: frames hold the results of all passes but the last, if several may occur */
    } passes;
    int stop;               /* ABUT_STOP_* */
    double tolerance;       /* of `stop`: m/s, N/m, or of the characteristic norm; 0: the model's, 3e-2, or 1e-5 */
    double force_tolerance; /* of the force balance, a fraction of the largest force; 0: the model's */
    struct abut_step_line_rules {
        double armijo;      /* least decrease of a step, as a part of what the slope promises, < 1; 0 */
        int ccd;            /* ABUT_CCD_* */
        int guess;          /* ABUT_GUESS_* */
    } line;
    int max_newton;         /* iterations of a minimisation: reaching it is an error; 10000 */
    const abut_linear_solver_ops *linear;   /* of Newton matrices; NULL: the solver's */
    const struct abut_barrier_hessian_ops *hessian;     /* of contacts (energy/barrier_hessians.h); NULL: projected */
    int threads;            /* of factorisations; 1 */
    double cg_tolerance;    /* of the iterations of a linear solver, < 1 (sparse/linear_solver.h: drop); 0: as the search needs */
    struct abut_step_quasi {
        int history;        /* pairs that L-BFGS keeps; -1: the solver's default, 5, of pd and mass-springs 0 */
        int parts;          /* subdomains; 0: the partition of the model, or by the number of nodes */
        int levels;         /* of subdomains: 2 with a coarse space, 1 without; 2 */
        double fit[2];      /* stretches over which a constant matrix fits a material (energy/stiffness.h) */
    } quasi;
    unsigned without;       /* ABUT_WITHOUT_* */
    const struct abut_own_term *terms;  /* the caller's own terms (energy/terms.h), borrowed; NULL: none */
    struct abut_step_device {
        int kind, number, precond;  /* abut_device_kind, which of several, abut_device_precond (solve/device/device.h) */
        const struct abut_ranks *ranks; /* processes that divide the work (base/ranks.h); NULL: this one does it */
    } device;
    int iterations;         /* of each minimisation, a fixed number; 0: until it converges; -1: the solver's default */
    int contact;            /* ABUT_CONTACT_*, of steppers without a barrier */
    struct abut_step_hard {  /* of hard contact */
        int repair;         /* ABUT_REPAIR_* */
        int strict;         /* 1: a step above its tolerance fails; in sqp and qp, a step that the judge refuses */
        int lenient;        /* 1: it is kept; 0: it is repaired as one that the judge refuses */
    } hard;
    struct abut_step_inequalities {  /* of sqp and qp; -1: the model's */
        int form, active_set;   /* ABUT_CONSTRAINT_*, ABUT_ACTIVE_* */
        double offset;          /* m */
        int line_search;        /* ABUT_SEARCH_* */
    } inequalities;
    const abut_arrays *names;   /* the arrays of the model, for names in messages and the partition; NULL: without */
} abut_step_options;
abut_step_options abut_step_defaults(void);

/** Returns the bound of a rule on gradients: epsilon of the characteristic norm, or N/m; 0 for other rules. */
double abut_step_norm(const abut_step_options *o);

/* A model with the tolerances and the number of passes of the options.  Must not be moved: it points into itself. */
typedef struct abut_step_model {
    abut_model view;
    double tolerance, force_tolerance;
    int32_t lags;
} abut_step_model;
/** Makes the view.  It borrows the arrays that m borrows. */
void abut_step_model_view(abut_step_model *out, const abut_model *m, const abut_step_options *o);

#endif
