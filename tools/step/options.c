#include "tools/step/options.h"

#include "base/units.h"
#include "base/words.h"
#include "energy/barrier_hessians.h"
#include "energy/friction.h"
#include "solve/device/device.h"
#include "sparse/linear_solvers.h"
#include "tools/cli/lags.h"
#include "tools/cli/options.h"
#include "tools/cli/with.h"
#include "tools/step/stuck_file.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

/* Reads *word into c; *word becomes the text for the history, NULL: none, as if the option was not given. */
typedef abut_status (*parse_word)(abut_step_command *c, const char **word, abut_err *err);

static abut_status parse_with(abut_step_command *c, const char **word, abut_err *err)
{
    static const char *const said[] = { NULL, "forces", "energies", "forces,energies", "contacts", "forces,contacts",
                                        "energies,contacts", "forces,energies,contacts" };
    int with;
    const abut_status rc = abut_with_parse(*word, &with, err);
    c->record |= with;
    *word = said[c->record];
    if (c->record & ABUT_WITH_CONTACTS) c->given |= ABUT_OPTION_RECORD_CONTACTS;
    return rc;
}

static abut_status parse_linear(abut_step_command *c, const char **word, abut_err *err)
{
    const abut_status rc = abut_linear_solver_find(*word, &c->o.linear, err);
    if (rc) return abut_wrap(err, "--linear-solver"), rc;
    if (c->o.linear->history) *word = c->o.linear->history;
    return ABUT_OK;
}

static abut_status parse_hessian(abut_step_command *c, const char **word, abut_err *err)
{
    return abut_barrier_hessian_find(*word, &c->o.hessian, err);
}

static abut_status parse_device(abut_step_command *c, const char **word, abut_err *err)
{
    abut_device_kind kind;
    const abut_status rc = abut_device_parse(*word, &kind, &c->o.device.number, err);
    if (rc) return rc;
    c->o.device.kind = (int)kind;
    *word = kind == ABUT_DEVICE_CPU ? NULL : kind == ABUT_DEVICE_TWIN ? "twin" : "gpu";
    return ABUT_OK;
}

static abut_status parse_precond(abut_step_command *c, const char **word, abut_err *err)
{
    if (!c->o.device.kind) return abut_fail(err, ABUT_E_ARG, "--precond %s: is for --device twin and gpu", *word);
    return abut_name_find("--precond", *word, abut_device_precond_names, &c->o.device.precond, err);
}

/* A whole number above 0 as JSON has it: without sign, space and zeros before it. */
static const char *as_json(const char *number) { return number + strcspn(number, "123456789"); }

static abut_status parse_iterations(abut_step_command *c, const char **word, abut_err *err)
{
    char *end;
    if (!strcmp(*word, "converged")) return c->o.iterations = 0, ABUT_OK;
    const long v = strtol(*word, &end, 10);
    if (!**word || *end || v < 1 || v > 1000000)
        return abut_fail(err, ABUT_E_ARG, "--iterations %.80s: want 1 to 1000000, or 'converged'", *word);
    c->o.iterations = (int)v;
    *word = as_json(*word);
    return ABUT_OK;
}

static abut_status parse_fit(abut_step_command *c, const char **word, abut_err *err)
{
    char *colon, *end;
    const double low = strtod(*word, &colon), high = *colon == ':' ? strtod(colon + 1, &end) : 0;
    if (colon == *word || *colon != ':' || end == colon + 1 || *end || !(low > 0 && low < 1 && high > 1 && high <= 100))
        return abut_fail(err, ABUT_E_ARG, "--fit-interval %.80s: want LOW:HIGH with 0 < LOW < 1 < HIGH <= 100, as 0.8:1.2",
                         *word);
    c->o.quasi.fit[0] = low;
    c->o.quasi.fit[1] = high;
    return ABUT_OK;
}

static abut_status parse_contact(abut_step_command *c, const char **word, abut_err *err)
{
    int choice = 0;
    const abut_status rc = abut_name_find("--contact", *word, abut_contact_choice_names, &choice, err);
    c->o.contact = ABUT_CONTACT_IGNORE + choice;
    return rc;
}

static abut_status parse_stop(abut_step_command *c, const char **word, abut_err *err)
{
    if (!strcmp(*word, "cn")) *word = "characteristic";     /* its former name */
    return abut_name_find("--stop", *word, abut_stop_names, &c->o.stop, err);
}

static abut_status parse_ccd(abut_step_command *c, const char **word, abut_err *err)
{
    return abut_name_find("--ccd", *word, abut_ccd_rule_names, &c->o.line.ccd, err);
}

static abut_status parse_guess(abut_step_command *c, const char **word, abut_err *err)
{
    return abut_name_find("--guess", *word, abut_guess_names, &c->o.line.guess, err);
}

static abut_status parse_without(abut_step_command *c, const char **word, abut_err *err)
{
    unsigned without;
    const abut_status rc = abut_without_parse(*word, &without, err);
    c->o.without |= without;
    *word = abut_without_words(c->o.without, c->without);
    return rc ? abut_wrap(err, "--without"), rc : ABUT_OK;
}

static abut_status parse_repair(abut_step_command *c, const char **word, abut_err *err)
{
    return abut_name_find("--repair", *word, abut_repair_names, &c->o.hard.repair, err);
}

static abut_status parse_constraints(abut_step_command *c, const char **word, abut_err *err)
{
    return abut_name_find("--constraints", *word, abut_constraint_names, &c->o.inequalities.form, err);
}

static abut_status parse_active_set(abut_step_command *c, const char **word, abut_err *err)
{
    return abut_name_find("--active-set", *word, abut_active_set_names, &c->o.inequalities.active_set, err);
}

static abut_status parse_line_search(abut_step_command *c, const char **word, abut_err *err)
{
    return abut_name_find("--line-search", *word, abut_line_search_names, &c->o.inequalities.line_search, err);
}

static abut_status parse_lags(abut_step_command *c, const char **word, abut_err *err)
{
    const abut_status rc = abut_lags_parse("--lags", *word, &c->o.passes.lags, err);
    if (!rc && c->o.passes.lags) *word = as_json(*word);
    return rc;
}

static abut_status parse_checkpoint(abut_step_command *c, const char **word, abut_err *err)
{
    char *end, units[96];
    const double v = strtod(*word, &end);
    end += strspn(end, " ");
    const abut_unit *u = abut_unit_find(ABUT_Q_TIME, end);
    if (u && v > 0 && isfinite(v)) return c->checkpoint = v * u->factor, ABUT_OK;
    const abut_unit *like = u ? NULL : abut_unit_like(ABUT_Q_TIME, end);
    return abut_fail(err, ABUT_E_ARG, "--checkpoint-every %.80s: expected a time above 0 and its unit, one of %s, as 10min%s%s%s",
                     *word, abut_unit_names(ABUT_Q_TIME, units, sizeof units), like ? "; did you mean '" : "",
                     like ? like->name : "", like ? "'?" : "");
}

/* ---- the table ---- */

typedef struct option {
    char letter;
    const char *name;
    abut_opt_kind kind;
    size_t at;              /* in abut_step_command; words with `parse` have no place of their own */
    parse_word parse;
    unsigned bit;           /* ABUT_OPTION_*: not every solver understands it */
    int least, most;        /* of whole numbers; most 0: any.  Of real ones least 1: only positive */
    int shapes;             /* the history of the stream says it */
    int usual;              /* --help has it; else --help all alone */
    const char *unit, *help;    /* help NULL: a former name */
    void (*describe)(char *text, size_t size);  /* help made from a table */
} option;

/* Writes a line of a table: a name and its explanation; the first is the default. */
static size_t describe(char *text, size_t size, size_t used, int first, const char *name, const char *help)
{
    const int n = snprintf(text + used, size - used, "\n%s\t%s%s", name, help, first ? " (default)" : "");
    return n > 0 && (size_t)n < size - used ? used + (size_t)n : used;
}

static void describe_solvers(char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "Solvers for --solver NAME:\n\nname\tuse it for\tnotes");
    for (int compared = 0; compared < 2; compared++) {
        if (compared)
            used = describe(text, size, used, 0, "\nBaselines that other solvers are compared with:\n\nname", "compares\tnotes");
        for (const abut_solver_row *r = abut_solver_table; r->name; r++) {
            char help[200];
            snprintf(help, sizeof help, "%s%s\t%s", r->use, r == abut_solver_table ? " (default)" : "", r->notes);
            if (r->compared == compared) used = describe(text, size, used, 0, r->name, help);
        }
    }
}

static void describe_linear(char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "linear solver of newton, lbfgs-h, nodal, sqp and qp. Without this option newton "
                                   "takes cg-schwarz if a factor is expensive (large bodies, thick in all directions), lbfgs-h "
                                   "takes cg-schwarz if no Newton direction ends a step:");
    for (int i = 0; abut_linear_solvers[i]; i++)
        used = describe(text, size, used, i == 0, abut_linear_solvers[i]->name, abut_linear_solvers[i]->help);
}

static void describe_hessians(char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "Hessian of contacts in newton and newton-cg:");
    for (int i = 0; abut_barrier_hessians[i]; i++)
        used = describe(text, size, used, i == 0, abut_barrier_hessians[i]->name, abut_barrier_hessians[i]->help);
}

#define AT(member) offsetof(abut_step_command, member)
static const option table[] = {
    { 'n', "steps", ABUT_OPT_INT, AT(steps), .unit = "N", .usual = 1, .help = "time steps to make (default 1)" },
    { 0, "until", ABUT_OPT_REAL, AT(until), .unit = "s", .usual = 1,
      .help = "step until this time; with -n until the earlier of the two" },
    { 0, "until-rest", ABUT_OPT_REAL, AT(rest), .least = 1, .unit = "m/s", .usual = 1,
      .help = "step until every free node is slower than this at the end of ten steps in a row and no motion or load is still to "
              "begin, end or change; exit code 1 if -n or --until ends the run first" },
    { 0, "from", ABUT_OPT_INT, AT(from), .unit = "STEP", .usual = 1, .help = "continue from this frame, drop later frames" },
    { 0, "every", ABUT_OPT_INT, AT(every), .least = 1, .unit = "N", .usual = 1,
      .help = "write every N-th frame and the last; also one in between if the path to the next frame has more than 32 waypoints "
              "of more than 64 MB in all" },
    { 0, "with", ABUT_OPT_LIST, .parse = parse_with, .bit = ABUT_OPTION_RECORD, .shapes = 1, .unit = "WHAT", .usual = 1,
      .help = ABUT_WITH_HELP },
    { 0, "solver", ABUT_OPT_TEXT, AT(solver_name), .unit = "NAME", .usual = 1,
      .help = "solver (default: the scene's, which is newton unless it names another); --help solvers lists all" },
    { 0, "linear-solver", ABUT_OPT_TEXT, .parse = parse_linear, .bit = ABUT_OPTION_LINEAR, .shapes = 1, .unit = "NAME",
      .describe = describe_linear },
    { 0, "cg-tolerance", ABUT_OPT_REAL, AT(o.cg_tolerance), .bit = ABUT_OPTION_CG_TOLERANCE, .least = 1, .shapes = 1, .unit = "X",
      .help = "tolerance of conjugate gradients (newton-cg, newton with an iterative --linear-solver): squared residual in the "
              "norm of the preconditioner, a fraction of the first, 0 < X < 1 (GIPC: 1e-4). Default: until the error of the "
              "direction is a fifth of its length, or a twentieth of the tolerance of the step" },
    { 0, "barrier-hessian", ABUT_OPT_TEXT, .parse = parse_hessian, .bit = ABUT_OPTION_HESSIAN, .shapes = 1, .unit = "NAME",
      .describe = describe_hessians },
    { 0, "device", ABUT_OPT_TEXT, .parse = parse_device, .bit = ABUT_OPTION_DEVICE, .shapes = 1, .unit = "NAME", .usual = 1,
      .help = "cpu (default); gpu or gpu:N: Newton iterations on a GPU, for tetrahedra, shells, rods and springs; twin: the "
              "algorithm of gpu on the processor, slower than cpu, for tests. gpu and twin write the same bytes, cpu writes "
              "others" },
    { 0, "precond", ABUT_OPT_TEXT, .parse = parse_precond, .bit = ABUT_OPTION_PRECOND, .shapes = 1, .unit = "NAME",
      .help = "preconditioner of conjugate gradients on gpu and twin: jacobi (default), clusters (of 16 nodes), rigid (clusters "
              "and the rigid motions of parts, for stiff bodies)" },
    { 0, "iterations", ABUT_OPT_TEXT, .parse = parse_iterations, .bit = ABUT_OPTION_ITERATIONS, .shapes = 1, .unit = "N",
      .help = "fixed number of iterations, for real time, or 'converged'. Default: 10 for pd, mass-springs and admm-* "
              "('converged' with --tolerance), 'converged' for solvers with the barrier, which keep all other promises. "
              "Converged steps of pd, mass-springs and admm-* balance forces to 0.001, or are given up after 100000 iterations" },
    { 0, "contact", ABUT_OPT_TEXT, .parse = parse_contact, .bit = ABUT_OPTION_CONTACT, .shapes = 1, .unit = "WHAT",
      .help = "contact in pd, mass-springs and admm-*, which do not prevent it: ignore, or springs (admm-dd: ignore alone)" },
    { 0, "history", ABUT_OPT_INT, AT(o.quasi.history), .bit = ABUT_OPTION_HISTORY, .shapes = 1, .unit = "N",
      .help = "iterations that L-BFGS remembers: dot, lbfgs-*, gradient (default 5); pd, mass-springs (default 0, or 5 with "
              "--iterations converged)" },
    { 0, "fit-interval", ABUT_OPT_TEXT, .parse = parse_fit, .bit = ABUT_OPTION_FIT, .shapes = 1, .unit = "LOW:HIGH",
      .help = "stretches over which the constant matrix of pd, admm-pd, lbfgs-pd and lbfgs-id fits a stiffness to each material, "
              "0 < LOW < 1 < HIGH (default 0.5:1.5)" },
    { 0, "parts", ABUT_OPT_INT, AT(o.quasi.parts), .bit = ABUT_OPTION_PARTS, .shapes = 1, .unit = "N",
      .help = "subdomains of dot, admm-dd and lbfgs-jh. Default: for dot and admm-dd the partition of decompose if there is one; "
              "else one part for about 250 nodes (dot) or 1500 (admm-dd, lbfgs-jh)" },
    { 0, "levels", ABUT_OPT_INT, AT(o.quasi.levels), .bit = ABUT_OPTION_LEVELS, .least = 1, .most = 2, .shapes = 1, .unit = "N",
      .help = "2 (default): dot with the rigid motions of its subdomains as a coarse space; 1: dot without them, as published" },
    { 0, "stop", ABUT_OPT_TEXT, .parse = parse_stop, .bit = ABUT_OPTION_STOP, .shapes = 1, .unit = "RULE",
      .help = "rule that ends a step:"
              "\nnewton\tNewton direction below the tolerance, sum of all later ones below 4 times it, forces balance (default)"
              "\npublished\tNewton direction below the tolerance"
              "\nstep\tNewton direction after the first below the tolerance; it is not taken (GIPC)"
              "\ngradient\tunbalanced forces below the tolerance times the length of the scene"
              "\ncharacteristic\tcharacteristic norm of the gradient below the tolerance; for comparisons without contact" },
    { 0, "tolerance", ABUT_OPT_REAL, AT(o.tolerance), .bit = ABUT_OPTION_TOLERANCE, .least = 1, .shapes = 1,
      .unit = "X", .usual = 1,
      .help = "tolerance of --stop: m/s for newton, published and step (default: the scene's), a number for characteristic "
              "(default 1e-5), N/m for gradient (default 0.03)" },
    { 0, "armijo", ABUT_OPT_REAL, AT(o.line.armijo), .bit = ABUT_OPTION_ARMIJO, .least = 1, .shapes = 1, .unit = "C",
      .help = "a step must lower the objective by C times the decrease that its slope predicts, 0 < C < 1 (default: the "
              "objective must not grow beyond rounding)" },
    { 0, "ccd", ABUT_OPT_TEXT, .parse = parse_ccd, .bit = ABUT_OPTION_CCD, .shapes = 1, .unit = "RULE",
      .help = "bound of directions: full (default): by collisions of all pairs; cfl: of pairs nearer than dhat, at most half of "
              "dhat if they allow no more than dhat; else of all pairs, at least half of dhat (GIPC)" },
    { 0, "guess", ABUT_OPT_TEXT, .parse = parse_guess, .bit = ABUT_OPTION_GUESS, .shapes = 1, .unit = "POINT",
      .help = "start of the iterations of a step, if the line to it meets nothing and the objective is lower there than at x:"
              "\ncoast\tx + h v (default)\nstart\tx\ninertia\tthe point to which inertia and loads lead"
              "\nsymplectic\tx + h (v + h a), a: acceleration of a body without contact\naccelerated\tx + h v + h^2 a / 2"
              "\njacobi\tx after an iteration of Jacobi's method" },
    { 0, "force-tolerance", ABUT_OPT_REAL, AT(o.force_tolerance), .bit = ABUT_OPTION_FORCE_TOLERANCE, .least = 1, .shapes = 1,
      .unit = "X", .usual = 1,
      .help = "tolerance of the force balance with --stop newton: unbalanced force on a body, a fraction of the largest force on "
              "it (default: the scene's); a step above 10 times this is given up" },
    { 0, "without", ABUT_OPT_LIST, .parse = parse_without, .bit = ABUT_OPTION_WITHOUT, .shapes = 1, .unit = "LIST",
      .help = "features of the solver to switch off, comma separated, for experiments (formats/REPORT.md):"
              "\nlook-ahead\tdirections that anticipate contacts and stretch limits"
              "\nsecond-order\tsteps of shells and rods that follow rotations\nlengthen\textended full steps"
              "\nreuse\tolder factors, factors in single precision\nwarm-start\titerations that start at x + h v"
              "\nmajorant\tmajorising friction Hessian if a step crosses stick-slip"
              "\nbeyond\tcorrected steps beyond the bounds of straight steps of shells"
              "\nrotations\tsteps of stiff bodies along rotations\nscale\tscaled constant matrix of lbfgs-pd" },
    { 0, "lags", ABUT_OPT_TEXT, .parse = parse_lags, .bit = ABUT_OPTION_LAGS, .shapes = 1, .unit = "N", .usual = 1,
      .help = "friction lag iterations per step at most, or 'converged': until they converge, with halved steps if necessary "
              "(default: the scene's)" },
    { 0, "keep-passes", ABUT_OPT_FLAG, AT(o.passes.keep), .bit = ABUT_OPTION_KEEP_PASSES, .shapes = 1,
      .help = "write the results of all friction passes but the last into the frames (pass/), for runs with 2 or more that need "
              "not converge; adjoint reads them and does not solve the steps again" },
    { 0, "repair", ABUT_OPT_TEXT, .parse = parse_repair, .bit = ABUT_OPTION_REPAIR, .shapes = 1, .unit = "HOW",
      .help = "nodal: after a step that the judge still refuses after five more rounds of detection, or that leaves forces "
              "unbalanced: barrier (default): --solver newton takes the step again; none: the run ends with exit code 4" },
    { 0, "strict", ABUT_OPT_FLAG, AT(o.hard.strict), .bit = ABUT_OPTION_STRICT, .shapes = 1,
      .help = "give up a step at once: nodal, if its iterations leave forces unbalanced or end above nodal.tolerance; sqp and "
              "qp, if it intersects or inverts something" },
    { 0, "lenient", ABUT_OPT_FLAG, AT(o.hard.lenient), .bit = ABUT_OPTION_STRICT, .shapes = 1,
      .help = "keep the steps that --strict gives up and say how many they are (default for sqp, qp, and nodal with "
              "nodal.integrator: admm)" },
    { 0, "constraints", ABUT_OPT_TEXT, .parse = parse_constraints, .bit = ABUT_OPTION_CONSTRAINTS, .shapes = 1, .unit = "FORM",
      .help = "constraint on a pair in sqp and qp: gap (default): its projected gap is not negative; volume: its tetrahedron is "
              "not negative; impact: its gap along the normal of its impact is not negative" },
    { 0, "active-set", ABUT_OPT_TEXT, .parse = parse_active_set, .bit = ABUT_OPTION_ACTIVE_SET, .shapes = 1, .unit = "WHICH",
      .help = "pairs with a constraint in sqp and qp: impacts: found by continuous collision detection on the step; near: closer "
              "than the offset and dhat; both (default)" },
    { 0, "offset", ABUT_OPT_REAL, AT(o.inequalities.offset), .bit = ABUT_OPTION_OFFSET, .least = 1, .shapes = 1, .unit = "M",
      .help = "gap that constraints of sqp and qp keep beyond the thickness (default: the scene's, else dhat)" },
    { 0, "line-search", ABUT_OPT_TEXT, .parse = parse_line_search, .bit = ABUT_OPTION_LINE_SEARCH, .shapes = 1, .unit = "RULE",
      .help = "sqp: penalty (default): a step must not raise the exact penalty function of objective and constraints; none: full "
              "steps at which the objective is finite" },
    { 0, "one-pass", ABUT_OPT_FLAG, AT(one_pass), .bit = ABUT_OPTION_ONE_PASS, .shapes = 1,
      .help = "solve once and leave the step PENDING for friction-lag" },
    { 0, "checkpoint-every", ABUT_OPT_TEXT, .parse = parse_checkpoint, .unit = "TIME", .usual = 1,
      .help = "wait after each such time until the disk has the written frames, so that salvage finds them after a power "
              "failure: 90 s, 10min, 2 h" },
    { 0, "dry-run", ABUT_OPT_FLAG, AT(dry), .usual = 1,
      .help = "take one step, write nothing, print its cost and an estimate for all steps: time, memory, bytes of the stream" },
    { 0, "report", ABUT_OPT_OUTPUT, AT(report), .unit = "FILE", .usual = 1,
      .help = "write a line of JSON for every step (formats/REPORT.md)" },
    { 0, "max-newton", ABUT_OPT_INT, AT(o.max_newton), .bit = ABUT_OPTION_MAX_NEWTON, .least = 1, .unit = "N",
      .help = "Newton iterations before a step is given up (default 10000)" },
    { 0, "dump-stuck", ABUT_OPT_OUTPUT_AFTER, AT(dump_stuck), .bit = ABUT_OPTION_DUMP_STUCK, .unit = "FILE", .usual = 1,
      .help = "if a step is given up, write a stream of the frame before it and the stuck iterate, from which step continues" },
    { 0, "factor-threads", ABUT_OPT_INT, AT(o.threads), .least = 1, .unit = "N",
      .help = "threads of the factorisation (default: -j); the bytes are the same for any number" },
    { 0, "blas-threads", ABUT_OPT_INT, AT(o.threads), .least = 1, .unit = "N", .help = NULL },
};
enum { OPTIONS = sizeof table / sizeof *table };

void abut_step_line_init(abut_step_line *line)
{
    int described = 0, at = 0;
    *line = (abut_step_line){ 0 };
    for (int usual = 1; usual >= 0; usual--) {
        for (int i = 0; i < OPTIONS; i++) {
            const option *o = &table[i];
            if (o->usual != usual) continue;
            char *text = o->describe ? line->help[described++] : NULL;
            if (text) o->describe(text, sizeof *line->help);
            if (o->kind == ABUT_OPT_INT) line->value[i].number = ABUT_NOT_GIVEN;
            if (o->kind == ABUT_OPT_REAL) line->value[i].real = NAN;
            line->opts[at++] = (abut_opt){ o->letter, o->name, o->kind, &line->value[i], o->unit, text ? text : o->help };
        }
        line->opts[at++] = (abut_opt){ .name = usual ? "all" : "solvers", .kind = ABUT_OPT_TOPIC,
                                       .help = usual ? NULL : line->solvers };
    }
    describe_solvers(line->solvers, sizeof line->solvers);
}

/* ---- reading ---- */

typedef struct reading {
    const abut_step_line *line;
    abut_step_command *c;
    size_t used;            /* of c->notes */
} reading;

static int is_given(const abut_step_line *line, int i)
{
    switch (table[i].kind) {
    case ABUT_OPT_INT: return line->value[i].number != ABUT_NOT_GIVEN;
    case ABUT_OPT_REAL: return !isnan(line->value[i].real);
    case ABUT_OPT_FLAG: return line->value[i].number;
    case ABUT_OPT_LIST: return line->value[i].list.n;
    default: return line->value[i].word != NULL;
    }
}

/* ,"key":value; words that are numbers go without quotes. */
static void note(reading *r, const option *o, const char *value)
{
    char *text = r->c->notes + r->used, key[32];
    const size_t size = sizeof r->c->notes - r->used;
    const char *quote = value[strspn(value, "0123456789.e+-")] && strcmp(value, "true") ? "\"" : "";
    snprintf(key, sizeof key, "%s", o->name);
    for (char *s = key; *s; s++) *s = *s == '-' ? '_' : *s;
    const int n = snprintf(text, size, ",\"%s\":%s%s%s", key, quote, value, quote);
    if (n > 0 && (size_t)n < size) r->used += (size_t)n;
}

static abut_status read_number(const option *o, int value, int *to, abut_err *err)
{
    *to = value;
    if (value >= o->least && (!o->most || value <= o->most)) return ABUT_OK;
    if (o->most) return abut_fail(err, ABUT_E_ARG, "--%s %d: want %d to %d", o->name, value, o->least, o->most);
    return abut_fail(err, ABUT_E_ARG, "--%s %d: want %d or more", o->name, value, o->least);
}

static abut_status read_real(const option *o, double value, double *to, abut_err *err)
{
    *to = value;
    return value > 0 || !o->least ? ABUT_OK : abut_fail(err, ABUT_E_ARG, "--%s %g: want more than 0", o->name, value);
}

static abut_status read_option(reading *r, int i, abut_err *err)
{
    const option *o = &table[i];
    void *to = (char *)r->c + o->at;
    char text[32] = "true";
    const char *said = text;
    abut_status rc = ABUT_OK;
    if (o->kind == ABUT_OPT_FLAG) {
        *(int *)to = 1;
    } else if (o->kind == ABUT_OPT_INT) {
        rc = read_number(o, r->line->value[i].number, to, err);
        snprintf(text, sizeof text, "%d", r->line->value[i].number);
    } else if (o->kind == ABUT_OPT_REAL) {
        rc = read_real(o, r->line->value[i].real, to, err);
        snprintf(text, sizeof text, "%.15g", r->line->value[i].real);
    } else if (o->kind == ABUT_OPT_LIST) {     /* each adds to those before */
        const abut_opt_list *list = &r->line->value[i].list;
        for (int k = 0; k < list->n && !rc; k++) said = list->item[k], rc = o->parse(r->c, &said, err);
    } else {
        said = r->line->value[i].word;
        if (o->parse) rc = o->parse(r->c, &said, err);
        else *(const char **)to = said;
    }
    if (rc || !said) return rc;
    r->c->given |= o->bit;
    if (o->shapes) note(r, o, said);
    return ABUT_OK;
}

static abut_status take_solver(abut_step_command *c, const char *name, abut_err *err)
{
    c->solver_name = name;
    c->solver = abut_solver_find(name, c->given, err);
    const abut_status rc = c->solver ? abut_solver_check(c->solver, &c->o, err) : ABUT_E_ARG;
    if (!rc) snprintf(c->history, sizeof c->history, "{\"solver\":\"%s\"%s}", name, c->notes);
    return rc;
}

/* Fails if an option has no effect beside another one. */
static abut_status check_together(const abut_step_command *c, const abut_cli *cli, abut_err *err)
{
    if (c->o.hard.strict && c->o.hard.lenient)
        return abut_fail(err, ABUT_E_ARG, "--strict gives up the steps that --lenient keeps: expected one of them");
    const struct {
        const char *name, *why;
        int is_given;
    } one[] = { { "until-rest", "a pass alone comes to no rest", c->rest > 0 },
                { "keep-passes", "the results of a pass alone are its PENDING frame", c->o.passes.keep },
                { "steps", "it makes one pass of one step", c->steps >= 0 },
                { "until", "it makes one pass of one step", isfinite(c->until) },
                { "every", "its one frame is written", c->every > 1 },
                { "with", "friction-lag adds to the frame that it commits", c->record != 0 } },
      dry[] = { { "output", "nothing is written", cli->out_path != NULL },
                { "one-pass", "nothing is written", c->one_pass },
                { "checkpoint-every", "nothing is written", c->checkpoint > 0 },
                { "compress", "nothing is written", cli->compress > 0 } };
    if (c->until < 0) return abut_fail(err, ABUT_E_ARG, "--until %g: want 0 s or more", c->until);
    for (size_t i = 0; c->one_pass && i < sizeof one / sizeof *one; i++)
        if (one[i].is_given) return abut_fail(err, ABUT_E_ARG, "--%s and --one-pass: %s", one[i].name, one[i].why);
    for (size_t i = 0; c->dry && i < sizeof dry / sizeof *dry; i++)
        if (dry[i].is_given) return abut_fail(err, ABUT_E_ARG, "--dry-run and --%s: %s", dry[i].name, dry[i].why);
    return ABUT_OK;
}

abut_status abut_step_line_read(const abut_step_line *line, const abut_cli *cli, abut_step_command *c, abut_err *err)
{
    reading r = { .line = line, .c = c };
    abut_status rc = ABUT_OK;
    *c = (abut_step_command){ .steps = -1, .every = 1, .from = -1, .until = INFINITY, .o = abut_step_defaults() };
    c->o.threads = cli->threads;
    for (int i = 0; i < OPTIONS && !rc; i++)
        if (is_given(line, i)) rc = read_option(&r, i, err);
    if (!rc) rc = check_together(c, cli, err);
    if (rc) return rc;
    c->solver_said = c->solver_name != NULL;
    rc = take_solver(c, c->solver_said ? c->solver_name : abut_scene_solvers[ABUT_SOLVED_BY_BARRIER], err);
    /* a scene may ask for another, which understands other options */
    abut_err other = { 0 };
    for (int k = 1; k < ABUT_SOLVED_BY && rc && !c->solver_said; k++)
        if (abut_solver_find(abut_scene_solvers[k], c->given, &other)) rc = ABUT_OK, *err = (abut_err){ 0 };
    return rc || !c->dump_stuck ? rc : abut_stuck_file_try(c->dump_stuck, err);
}

/* --keep-passes is for steps of several passes that need not converge. */
static abut_status check_passes(const abut_step_command *c, const abut_model *m, abut_err *err)
{
    const int lags = c->o.passes.lags >= 0 ? c->o.passes.lags : m->lags[0];
    if (!c->o.passes.keep || (lags > 1 && abut_friction_acts(m))) return ABUT_OK;
    if (!abut_friction_acts(m))
        return abut_fail(err, ABUT_E_ARG, "--keep-passes: the scene has no friction, so that steps have one pass alone");
    return abut_fail(err, ABUT_E_ARG, lags == 1 ? "--keep-passes: steps have one friction pass, expected --lags 2 or more" :
                     "--keep-passes: friction passes go on until they converge, and adjoint takes the last alone; expected a "
                     "number of them, --lags 2 or more");
}

abut_status abut_step_choose_solver(abut_step_command *c, const abut_model *m, abut_err *err)
{
    const char *name = abut_scene_solvers[m->solver ? m->solver[0] : ABUT_SOLVED_BY_BARRIER];
    const abut_status rc = c->solver_said ? ABUT_OK : take_solver(c, name, err);
    return rc ? rc : check_passes(c, m, err);
}
