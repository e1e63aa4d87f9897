#include "solve/solvers.h"

#include "base/words.h"
#include "solve/baselines/baselines.h"
#include "solve/direction.h"
#include "solve/nodal/failsafe.h"
#include "solve/step/barrier_stepper.h"

#include <assert.h>

enum {
    BARRIER = ABUT_FOR_BARRIER, NEWTON = ABUT_FOR_NEWTON, FACTORS = ABUT_FOR_FACTORS, HISTORY = ABUT_FOR_HISTORY,
    PARTS = ABUT_FOR_PARTS, FIT = ABUT_FOR_FIT, CONSTANT = ABUT_FOR_CONSTANT,
    DEVICE_RULES = 1 << ABUT_STOP_NEWTON | 1 << ABUT_STOP_PUBLISHED,
    MOST = 32   /* solvers */
};

const char *const abut_promise_names[ABUT_PROMISES] = { "intersections", "inversions", "convergence", "restarts",
                                                        "any number of threads" };

static const abut_solver_row table[] = {
    { "newton", "any scene", "Newton's method; direct or iterative --linear-solver", ABUT_BARRIER_ROW,
      .direction = &abut_direction_newton, .options = BARRIER | NEWTON | FACTORS },
    { "newton-cg", "large solid bodies, less memory", "Newton's method by conjugate gradients, two-level Schwarz preconditioner",
      ABUT_BARRIER_ROW, .direction = &abut_direction_newton, .linear = &abut_linear_cg_schwarz, .options = BARRIER | NEWTON },
    { "lbfgs-h", "solid bodies with few contacts", "L-BFGS on the Hessian of the step's first iterate", ABUT_BARRIER_ROW,
      .direction = &abut_direction_lbfgs_h, .linear_can = ABUT_CAN_PRECONDITION, .options = BARRIER | HISTORY | FACTORS },
    { "dot", "large bodies with few contacts", "L-BFGS on Hessians of subdomains, completed at their interfaces",
      ABUT_BARRIER_ROW, .direction = &abut_direction_dot, .options = BARRIER | HISTORY | PARTS | ABUT_FOR_LEVELS },
    { "lbfgs-pd", "short runs at moderate strain", "L-BFGS on a constant Laplacian", ABUT_BARRIER_ROW,
      .direction = &abut_direction_lbfgs_pd, .options = BARRIER | HISTORY | FIT },
    { "nodal", "exact Coulomb friction", "hard contact without a barrier; every step is judged before it is written",
      .stepper = &abut_failsafe_stepper_ops, .stops = 1 << ABUT_STOP_NEWTON, .promises = (1 << ABUT_PROMISES) - 1,
      .rigid = 1, .coheres = 1, .options = ABUT_FOR_NODAL | FACTORS },
    { "pd", "real time", "projective dynamics; does not prevent contact (--contact)", ABUT_CONSTANT_ROW,
      .method = &abut_lg_projective, .options = CONSTANT | HISTORY | FIT },
    { "mass-springs", "real time, springs alone", "projective dynamics of springs; does not prevent contact (--contact)",
      ABUT_CONSTANT_ROW, .method = &abut_lg_springs, .options = CONSTANT | HISTORY },
    { 0 }
};

const abut_solver_row *const abut_solver_tables[] = { table, abut_baseline_table, NULL };

const char *const abut_scene_solvers[ABUT_SOLVED_BY] = { "newton", "nodal", "sqp", "qp" };

/* Lists all rows and their names, NULL at the end; returns how many there are. */
static int list(const abut_solver_row *row[MOST], const char *name[MOST + 1])
{
    int n = 0;
    for (int k = 0; abut_solver_tables[k]; k++)
        for (const abut_solver_row *r = abut_solver_tables[k]; r->name && n < MOST; r++) row[n] = r, name[n++] = r->name;
    name[n] = NULL;
    return n;
}

/* Writes the names of the rows that understand an option. */
static const char *understand(const abut_option *option, char *text, size_t size)
{
    const abut_solver_row *row[MOST];
    const char *name[MOST + 1];
    const int rows = list(row, name);
    int n = 0;
    for (int i = 0; i < rows; i++)
        if (row[i]->options & option->solvers) name[n++] = name[i];
    name[n] = NULL;
    return abut_names_join(name, text, size);
}

const abut_solver_row *abut_solver_find(const char *name, const abut_option *const *given, abut_err *err)
{
    const abut_solver_row *rows[MOST];
    const char *names[MOST + 1];
    char text[200];
    int at;
    (void)list(rows, names);
    if (abut_name_find("--solver", name, names, &at, err)) return NULL;
    const abut_solver_row *row = rows[at];
    while (given && *given && (!(*given)->solvers || (*given)->solvers & row->options)) given++;
    if (!given || !*given) return row;
    const int brings = row->linear && *given == &abut_solve_table[ABUT_OPTION_linear_solver];
    abut_fail(err, ABUT_E_ARG, "--%s: for --solver %s, not for %s%s%s", (*given)->name, understand(*given, text, sizeof text),
              name, brings ? ", which has " : "", brings ? row->linear->name : "");
    return NULL;
}

/* Returns the word of a choice. */
static const char *word_of(int setting, const abut_solve_options *o)
{
    const abut_option *row = &abut_solve_table[setting];
    return row->names[*(const int *)((const char *)o + row->at)];
}
#define SETTING(member) ABUT_OPTION_search_##member

static abut_status needs_other(const abut_solver_row *row, const abut_linear_solver_ops *linear, abut_err *err)
{
    const char *names[MOST + 1] = { NULL };
    char text[160];
    int n = 0;
    for (int i = 0; abut_linear_solvers[i] && n < MOST; i++)
        if ((abut_linear_solvers[i]->can & row->linear_can) == row->linear_can) names[n++] = abut_linear_solvers[i]->name;
    return abut_fail(err, ABUT_E_ARG, "--linear-solver %s: --solver %s needs a factor: know %s", linear->name, row->name,
                     abut_names_join(names, text, sizeof text));
}

static abut_status check_cg_tolerance(const abut_solver_row *row, const abut_solve_options *o, abut_err *err)
{
    if (o->device.place.kind) return abut_fail(err, ABUT_E_ARG, "--device: has iterations of its own, not --cg-tolerance");
    const abut_linear_solver_ops *linear = o->linear.solver ? o->linear.solver : abut_linear_solvers[0];
    if (row->linear || linear->can & ABUT_IS_ITERATIVE) return ABUT_OK;
    return abut_fail(err, ABUT_E_ARG, "--cg-tolerance: --linear-solver %s is direct, expected one that iterates, as ic-rigid or "
                     "mas", linear->name);
}

/* A fixed number of iterations has no test of convergence. */
static abut_status check_iterations(const abut_solve_options *o, abut_err *err)
{
    const abut_search_options *s = &o->search;
    const char *with = s->stop != ABUT_STOP_NEWTON ? "stop" : s->tolerance > 0 ? "tolerance" :
                       s->force_tolerance > 0 ? "force-tolerance" :
                       s->max_newton != abut_solve_defaults.search.max_newton ? "max-newton" : NULL;
    if (!with || !abut_fixed_iterations(o)) return ABUT_OK;
    return abut_fail(err, ABUT_E_ARG, "--%s does not go with --iterations %d: no test ends the iterations then", with,
                     o->real_time.iterations);
}

static abut_status check_device(const abut_solve_options *o, abut_err *err)
{
    const abut_search_options *s = &o->search;
    const abut_linear_options *l = &o->linear;
    if (!(DEVICE_RULES & 1u << s->stop))
        return abut_fail(err, ABUT_E_ARG, "--device: takes --stop newton and published, not %s", word_of(SETTING(stop), o));
    if (s->ccd != ABUT_CCD_FULL)
        return abut_fail(err, ABUT_E_ARG, "--device: takes --ccd full, not %s", word_of(SETTING(ccd), o));
    if (s->guess != ABUT_GUESS_COAST)
        return abut_fail(err, ABUT_E_ARG, "--device: takes --guess coast, not %s", word_of(SETTING(guess), o));
    if (l->solver) return abut_fail(err, ABUT_E_ARG, "--device: has a linear solver of its own, not %s", l->solver->name);
    if (!l->hessian || l->hessian->kernel) return ABUT_OK;
    return abut_fail(err, ABUT_E_ARG, "--device: has projected, gn and ipc-gn Hessians of contacts, not --barrier-hessian %s",
                     l->hessian->name);
}

unsigned abut_solver_promises(const abut_solver_row *row, const abut_solve_options *o)
{
    return abut_fixed_iterations(o) || o->hard.lenient ? row->promises & ~(unsigned)ABUT_KEEPS_CONVERGED : row->promises;
}

abut_status abut_solver_check(const abut_solver_row *row, const abut_solve_options *o, abut_err *err)
{
    assert(row && o);
    const abut_linear_solver_ops *linear = o->linear.solver;
    if (!(row->stops & 1u << o->search.stop))
        return abut_fail(err, ABUT_E_ARG, "--stop %s does not go with --solver %s", word_of(SETTING(stop), o), row->name);
    abut_status rc = check_iterations(o, err);
    if (!rc && o->search.force_tolerance > 0 && o->search.stop != ABUT_STOP_NEWTON)
        rc = abut_fail(err, ABUT_E_ARG, "--force-tolerance does not go with --stop %s", word_of(SETTING(stop), o));
    if (!rc && o->hard.strict && o->hard.lenient)
        rc = abut_fail(err, ABUT_E_ARG, "--strict gives up the steps that --lenient keeps: expected one of them");
    if (!rc) rc = abut_solve_options_check(o, err);
    if (!rc && linear && (linear->can & row->linear_can) != row->linear_can) rc = needs_other(row, linear, err);
    if (!rc && o->linear.cg_tolerance > 0) rc = check_cg_tolerance(row, o, err);
    return rc || !o->device.place.kind ? rc : check_device(o, err);
}

/* Newton's method alone knows locked combinations and joints, in a matrix of one process. */
static abut_status check_locks(const abut_model *m, const abut_solver_row *row, const abut_solve_options *o, abut_err *err)
{
    const abut_linear_solver_ops *linear = row->linear ? row->linear : o->linear.solver ? o->linear.solver
        : abut_linear_solvers[0];
    const char *scheme = abut_scheme_is(abut_scheme_of(m), ABUT_SCHEME_ACCELERATION) ? abut_scheme_names[abut_scheme_of(m)]
        : NULL;
    const char *what = m->nlk ? "locks (array 'lock/node')" : "joints (array 'joint/node')";
    if (!m->nlk && !m->njo) return ABUT_OK;
    if (m->njo && linear->can & ABUT_IS_ITERATIVE)
        return abut_fail(err, ABUT_E_FORMAT, "joints (array 'joint/node'): expected a linear solver that factors, not %s",
                         linear->name);
    if (row->direction != &abut_direction_newton || linear->can & ABUT_CAN_MATRIX_FREE || o->device.place.kind || o->device.ranks)
        return abut_fail(err, ABUT_E_FORMAT,
                         "%s: expected --solver newton with a linear solver that takes a matrix, on one processor without "
                         "--device", what);
    if (!scheme) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT,
                     "%s do not go with time.scheme %s, which accelerates what they hold", what, scheme);
}

abut_status abut_solver_make(void **self, const abut_model *m, const abut_solver_row *row, const abut_solve_options *o,
                             abut_err *err)
{
    const size_t pairs = m->cohesion_force ? (size_t)m->ng * (size_t)m->ng : 0;
    for (size_t i = 0; i < pairs && !row->coheres; i++)
        if (m->cohesion_force[i] > 0)
            return abut_fail(err, ABUT_E_FORMAT, "solver %s: cohesion of %g N (contact.cohesion), expected none: only hard "
                             "contact, --solver nodal, has it", row->name, m->cohesion_force[i]);
    if (m->rigid_range && !row->rigid)
        return abut_fail(err, ABUT_E_FORMAT,
                         "solver %s: rigid objects (array 'rigid/range'), expected none: it does not keep them "
                         "from strain; --solver newton and nodal do", row->name);
    const abut_status rc = check_locks(m, row, o, err);
    return rc ? rc : row->stepper->make(self, m, row, o, err);
}
