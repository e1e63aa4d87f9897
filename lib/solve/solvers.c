#include "solve/solvers.h"

#include "base/words.h"
#include "energy/barrier_hessians.h"
#include "solve/directions.h"
#include "sparse/linear_solvers.h"
#include "solve/local_global/local_global.h"
#include "solve/nodal/failsafe.h"
#include "solve/sqp/sqp.h"
#include "solve/step/barrier_stepper.h"
#include "solve/step/options.h"

#include <assert.h>

enum {
    BARRIER = ABUT_OPTION_ONE_PASS | ABUT_OPTION_LAGS | ABUT_OPTION_RECORD | ABUT_OPTION_MAX_NEWTON |
              ABUT_OPTION_FORCE_TOLERANCE | ABUT_OPTION_DUMP_STUCK | ABUT_OPTION_WITHOUT | ABUT_OPTION_ARMIJO |
              ABUT_OPTION_CCD | ABUT_OPTION_ITERATIONS | ABUT_OPTION_KEEP_PASSES | ABUT_OPTION_GUESS | ABUT_OPTION_STOP |
              ABUT_OPTION_TOLERANCE,
    ON_DEVICE = ABUT_OPTION_DEVICE | ABUT_OPTION_PRECOND,
    INEQUALITIES = ABUT_OPTION_CONSTRAINTS | ABUT_OPTION_ACTIVE_SET | ABUT_OPTION_OFFSET | ABUT_OPTION_MAX_NEWTON |
                   ABUT_OPTION_LINEAR | ABUT_OPTION_STRICT | ABUT_OPTION_STOP | ABUT_OPTION_TOLERANCE,
    CONSTANT = ABUT_OPTION_ITERATIONS | ABUT_OPTION_CONTACT | ABUT_OPTION_STOP | ABUT_OPTION_TOLERANCE,
    EVERY_RULE = (1 << ABUT_STOPS) - 1,
    DEVICE_RULES = 1 << ABUT_STOP_NEWTON | 1 << ABUT_STOP_PUBLISHED,
    CONSTANT_RULES = 1 << ABUT_STOP_NEWTON | 1 << ABUT_STOP_CHARACTERISTIC,
    EVERY_PROMISE = (1 << ABUT_PROMISES) - 1,
    REPEATS = ABUT_KEEPS_RESTART | ABUT_KEEPS_BITS
};

const char *const abut_promise_names[ABUT_PROMISES] = { "intersections", "inversions", "convergence", "restarts",
                                                        "any number of threads" };

#define BARRIER_ROW .stepper = &abut_barrier_stepper_ops, .stops = EVERY_RULE, .promises = EVERY_PROMISE
#define CONSTANT_ROW .stops = CONSTANT_RULES, .promises = REPEATS

const abut_solver_row abut_solver_table[] = {
    { "newton", "any scene", "Newton's method; direct or iterative --linear-solver", BARRIER_ROW,
      .direction = &abut_direction_newton, .options = BARRIER | ON_DEVICE | ABUT_OPTION_LINEAR | ABUT_OPTION_HESSIAN |
      ABUT_OPTION_CG_TOLERANCE },
    { "newton-cg", "large solid bodies, less memory", "Newton's method by conjugate gradients, two-level Schwarz preconditioner",
      BARRIER_ROW, .direction = &abut_direction_newton, .linear =  "cg-schwarz", .options = BARRIER | ON_DEVICE |
      ABUT_OPTION_HESSIAN | ABUT_OPTION_CG_TOLERANCE },
    { "lbfgs-h", "solid bodies with few contacts", "L-BFGS on the Hessian of the step's first iterate", BARRIER_ROW,
      .direction = &abut_direction_lbfgs_h, .linear_can = ABUT_CAN_PRECONDITION, .options = BARRIER | ABUT_OPTION_HISTORY |
      ABUT_OPTION_LINEAR },
    { "dot", "large bodies with few contacts", "L-BFGS on Hessians of subdomains, completed at their interfaces", BARRIER_ROW,
      .direction = &abut_direction_dot, .options = BARRIER | ABUT_OPTION_HISTORY | ABUT_OPTION_PARTS | ABUT_OPTION_LEVELS },
    { "lbfgs-pd", "short runs at moderate strain", "L-BFGS on a constant Laplacian", BARRIER_ROW,
      .direction = &abut_direction_lbfgs_pd, .options = BARRIER | ABUT_OPTION_HISTORY | ABUT_OPTION_FIT },
    { "lbfgs-jh", "preconditioners", "L-BFGS on diagonal blocks of the Hessian", BARRIER_ROW,
      .direction = &abut_direction_lbfgs_jh, .compared = 1, .options = BARRIER | ABUT_OPTION_HISTORY | ABUT_OPTION_PARTS },
    { "lbfgs-ic", "preconditioners", "L-BFGS on an incomplete Cholesky factor of the Hessian", BARRIER_ROW,
      .direction = &abut_direction_lbfgs_ic, .compared = 1, .options = BARRIER | ABUT_OPTION_HISTORY },
    { "gradient", "preconditioners", "L-BFGS on the diagonal of the Hessian", BARRIER_ROW, .direction = &abut_direction_gradient,
      .compared = 1, .options = BARRIER | ABUT_OPTION_HISTORY },
    { "lbfgs-rest", "preconditioners", "L-BFGS on the Hessian at rest", BARRIER_ROW, .direction = &abut_direction_lbfgs_rest,
      .compared = 1, .options = BARRIER | ABUT_OPTION_HISTORY },
    { "lbfgs-warped", "preconditioners", "L-BFGS on the Hessian at rest, rotated with the nodes", BARRIER_ROW,
      .direction = &abut_direction_lbfgs_warped, .compared = 1, .options = BARRIER | ABUT_OPTION_HISTORY },
    { "lbfgs-id", "preconditioners", "L-BFGS on a multiple of the identity", BARRIER_ROW, .direction = &abut_direction_lbfgs_id,
      .compared = 1, .options = BARRIER | ABUT_OPTION_HISTORY | ABUT_OPTION_FIT },
    { "nodal", "exact Coulomb friction", "hard contact without a barrier; every step is judged before it is written",
      .stepper = &abut_failsafe_stepper_ops, .stops = 1 << ABUT_STOP_NEWTON, .promises = EVERY_PROMISE, .coheres = 1,
      .options = ABUT_OPTION_RECORD | ABUT_OPTION_RECORD_CONTACTS | ABUT_OPTION_DUMP_STUCK | ABUT_OPTION_LINEAR |
      ABUT_OPTION_REPAIR | ABUT_OPTION_STRICT },
    { "sqp", "contact as inequalities",
      "sequential quadratic programming; frictionless, may intersect, stops if a program has no solution",
      .stepper = &abut_sqp_stepper_ops, .linear_can = ABUT_CAN_PRECONDITION, .stops = 1 << ABUT_STOP_NEWTON, .promises = REPEATS |
      ABUT_KEEPS_CONVERGED, .compared = 1, .options = INEQUALITIES | ABUT_OPTION_LINE_SEARCH },
    { "qp", "contact as inequalities", "one quadratic program a step; frictionless, may intersect",
      .stepper = &abut_qp_stepper_ops, .linear_can = ABUT_CAN_PRECONDITION, .stops = 1 << ABUT_STOP_NEWTON, .promises = REPEATS,
      .compared = 1, .options = INEQUALITIES },
    { "pd", "real time", "projective dynamics; does not prevent contact (--contact)", .stepper = &abut_pd_stepper_ops,
      CONSTANT_ROW, .options = CONSTANT | ABUT_OPTION_HISTORY | ABUT_OPTION_FIT },
    { "mass-springs", "real time, springs alone", "projective dynamics of springs; does not prevent contact (--contact)",
      .stepper = &abut_mass_springs_stepper_ops, CONSTANT_ROW, .options = CONSTANT | ABUT_OPTION_HISTORY },
    { "admm-pd", "local/global methods", "ADMM on elements; does not prevent contact (--contact)",
      .stepper = &abut_admm_stepper_ops, CONSTANT_ROW, .compared = 1, .options = CONSTANT | ABUT_OPTION_FIT },
    { "admm-dd", "domain decomposition", "ADMM on the subdomains of dot; does not prevent contact (--contact)",
      .stepper = &abut_admm_dd_stepper_ops, CONSTANT_ROW, .compared = 1, .options = CONSTANT | ABUT_OPTION_PARTS },
    { 0 }
};

/* Names of the bits ABUT_OPTION_*, in their order. */
static const char *const option_name[ABUT_OPTIONS] = { "one-pass", "lags", "with", "max-newton", "history", "parts", "levels",
                                           "force-tolerance", "dump-stuck", "iterations", "contact", "linear-solver", "without",
                                           "device", "precond", "barrier-hessian", "armijo", "ccd", "repair",
                                           "strict or --lenient", "cg-tolerance", "fit-interval", "constraints", "active-set",
                                           "offset", "line-search",
                                           "keep-passes", "guess", "stop", "tolerance", "with contacts" };
enum { ROWS = sizeof abut_solver_table / sizeof *abut_solver_table };

const char *const abut_scene_solvers[ABUT_SOLVED_BY] = { "newton", "nodal", "sqp", "qp" };

/* Writes the names of the rows that support an option. */
static const char *understand(unsigned option, char *text, size_t size)
{
    const char *names[ROWS] = { NULL };
    int n = 0;
    for (const abut_solver_row *r = abut_solver_table; r->name; r++)
        if (r->options & option) names[n++] = r->name;
    return abut_names_join(names, text, size);
}

const abut_solver_row *abut_solver_find(const char *name, unsigned given, abut_err *err)
{
    const char *names[ROWS] = { NULL };
    char text[200];
    int at, k = 0;
    for (int i = 0; i < ROWS; i++) names[i] = abut_solver_table[i].name;
    if (abut_name_find("--solver", name, names, &at, err)) return NULL;
    const abut_solver_row *row = &abut_solver_table[at];
    const unsigned unknown = given & ~row->options;
    if (!unknown) return row;
    while (k < ABUT_OPTIONS - 1 && !(unknown & 1u << k)) k++;
    const int brings = row->linear && unknown & ABUT_OPTION_LINEAR;
    abut_fail(err, ABUT_E_ARG, "--%s: for --solver %s, not for %s%s%s", option_name[k], understand(1u << k, text, sizeof text),
              name, brings ? ", which has " : "", brings ? row->linear : "");
    return NULL;
}

static abut_status needs_other(const abut_solver_row *row, const abut_linear_solver_ops *linear, abut_err *err)
{
    enum { MOST = 16 };
    const char *names[MOST + 1] = { NULL };
    char text[160];
    int n = 0;
    for (int i = 0; abut_linear_solvers[i] && n < MOST; i++)
        if ((abut_linear_solvers[i]->can & row->linear_can) == row->linear_can) names[n++] = abut_linear_solvers[i]->name;
    return abut_fail(err, ABUT_E_ARG, "--linear-solver %s: --solver %s needs a factor: know %s", linear->name, row->name,
                     abut_names_join(names, text, sizeof text));
}

static abut_status check_cg_tolerance(const abut_solver_row *row, const abut_step_options *o, abut_err *err)
{
    if (o->cg_tolerance >= 1) return abut_fail(err, ABUT_E_ARG, "--cg-tolerance %g: want less than 1", o->cg_tolerance);
    if (o->device.kind) return abut_fail(err, ABUT_E_ARG, "--device: has iterations of its own, not --cg-tolerance");
    const abut_linear_solver_ops *linear = o->linear ? o->linear : abut_linear_solvers[0];
    if (row->linear || linear->can & ABUT_IS_ITERATIVE) return ABUT_OK;
    return abut_fail(err, ABUT_E_ARG, "--cg-tolerance: --linear-solver %s is direct, expected one that iterates, as ic-rigid or "
                     "mas", linear->name);
}

/* A fixed number of iterations has no test of convergence. */
static abut_status check_iterations(const abut_step_options *o, abut_err *err)
{
    const char *with = o->stop != ABUT_STOP_NEWTON ? "stop" : o->tolerance > 0 ? "tolerance" :
                       o->force_tolerance > 0 ? "force-tolerance" :
                       o->max_newton != abut_step_defaults().max_newton ? "max-newton" : NULL;
    if (!with) return ABUT_OK;
    return abut_fail(err, ABUT_E_ARG, "--%s does not go with --iterations %d: no test ends the iterations then", with,
                     o->iterations);
}

unsigned abut_solver_promises(const abut_solver_row *row, const abut_step_options *o)
{
    return o->iterations > 0 || o->hard.lenient ? row->promises & ~(unsigned)ABUT_KEEPS_CONVERGED : row->promises;
}

abut_status abut_solver_check(const abut_solver_row *row, const abut_step_options *o, abut_err *err)
{
    assert(row && o);
    const char *stop = abut_stop_names[o->stop];
    if (!(row->stops & 1u << o->stop))
        return abut_fail(err, ABUT_E_ARG, "--stop %s does not go with --solver %s", stop, row->name);
    if (o->iterations > 0) {
        const abut_status rc = check_iterations(o, err);
        if (rc) return rc;
    }
    if (o->force_tolerance > 0 && o->stop != ABUT_STOP_NEWTON)
        return abut_fail(err, ABUT_E_ARG, "--force-tolerance does not go with --stop %s", stop);
    if (o->line.armijo >= 1)
        return abut_fail(err, ABUT_E_ARG, "--armijo %g: want less than 1", o->line.armijo);
    if (o->linear && (o->linear->can & row->linear_can) != row->linear_can) return needs_other(row, o->linear, err);
    if (o->cg_tolerance > 0) {
        const abut_status rc = check_cg_tolerance(row, o, err);
        if (rc) return rc;
    }
    if (!o->device.kind) return ABUT_OK;
    if (!(DEVICE_RULES & 1u << o->stop))
        return abut_fail(err, ABUT_E_ARG, "--device: takes --stop newton and published, not %s", stop);
    if (o->line.ccd != ABUT_CCD_FULL)
        return abut_fail(err, ABUT_E_ARG, "--device: takes --ccd full, not %s", abut_ccd_rule_names[o->line.ccd]);
    if (o->line.guess != ABUT_GUESS_COAST)
        return abut_fail(err, ABUT_E_ARG, "--device: takes --guess coast, not %s", abut_guess_names[o->line.guess]);
    if (o->linear) return abut_fail(err, ABUT_E_ARG, "--device: has a linear solver of its own, not %s", o->linear->name);
    if (o->hessian && !o->hessian->kernel)
        return abut_fail(err, ABUT_E_ARG, "--device: has projected, gn and ipc-gn Hessians of contacts, not --barrier-hessian %s",
                         o->hessian->name);
    return ABUT_OK;
}

abut_status abut_solver_make(void **self, const abut_model *m, const abut_solver_row *row, const abut_step_options *o,
                             abut_err *err)
{
    const size_t pairs = m->cohesion_force ? (size_t)m->ng * (size_t)m->ng : 0;
    for (size_t i = 0; i < pairs && !row->coheres; i++)
        if (m->cohesion_force[i] > 0)
            return abut_fail(err, ABUT_E_FORMAT, "solver %s: cohesion of %g N (contact.cohesion), expected none: only hard "
                             "contact, --solver nodal, has it", row->name, m->cohesion_force[i]);
    return row->stepper->make(self, m, row, o, err);
}
