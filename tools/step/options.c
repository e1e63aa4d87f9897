#include "tools/step/run.h"

#include "base/words.h"
#include "energy/friction.h"
#include "formats/result/out_file.h"
#include "solve/step/measures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static abut_status read_checkpoint(void *to, const char *word, char said[ABUT_OPTION_SAID], abut_err *err)
{
    abut_step_command *c = to;
    char *end, units[96];
    const double v = strtod(word, &end);
    (void)said;
    end += strspn(end, " ");
    const abut_unit *u = abut_unit_find(ABUT_Q_TIME, end);
    if (u && v > 0 && isfinite(v)) return c->checkpoint = v * u->factor, ABUT_OK;
    const abut_unit *like = u ? NULL : abut_unit_like(ABUT_Q_TIME, end);
    return abut_fail(err, ABUT_E_ARG, "--checkpoint-every %.80s: expected a time above 0 and its unit, one of %s, as 10min%s%s%s",
                     word, abut_unit_names(ABUT_Q_TIME, units, sizeof units), like ? "; did you mean '" : "",
                     like ? like->name : "", like ? "'?" : "");
}

/* ---- the table ---- */

/* Writes a line of a table: a name and its explanation. */
static size_t add(char *text, size_t size, size_t used, const char *name, const char *help)
{
    const int n = snprintf(text + used, size - used, "\n%s\t%s", name, help);
    return n > 0 && (size_t)n < size - used ? used + (size_t)n : used;
}

static void describe_solvers(char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "Solvers for --solver NAME:\n\nname\tuse it for\tnotes");
    for (int table = 0; abut_solver_tables[table]; table++) {
        if (table) used = add(text, size, used, "\nBaselines that other solvers are compared with:\n\nname", "compares\tnotes");
        for (const abut_solver_row *r = abut_solver_tables[table]; r->name; r++) {
            char help[200];
            snprintf(help, sizeof help, "%s%s\t%s", r->use, r == abut_solver_tables[0] ? " (default)" : "", r->notes);
            used = add(text, size, used, r->name, help);
        }
    }
}

enum { USUAL = ABUT_OPTION_USUAL, SHAPES = ABUT_OPTION_SHAPES, STEPS = ABUT_FOR_BARRIER | ABUT_FOR_NODAL };
#define AT(member) offsetof(abut_step_command, member)
/* Options of the run, before and after those of its solver. */
static const abut_option first[] = {
    { "steps", ABUT_OPTION_WHOLE, AT(steps), .letter = 'n', .flags = USUAL, .unit = "N",
      .help = "time steps to make (default 1)" },
    { "until", ABUT_OPTION_REAL, AT(until), .flags = USUAL, .unit = "s",
      .help = "step until this time; with -n until the earlier of the two" },
    { "until-rest", ABUT_OPTION_POSITIVE, AT(rest), .flags = USUAL, .unit = "m/s",
      .help = "step until every free node is slower than this at the end of ten steps in a row and no motion or load is still to "
              "begin, end or change; exit code 1 if -n or --until ends the run first" },
    { "from", ABUT_OPTION_WHOLE, AT(from), .flags = USUAL, .unit = "STEP",
      .help = "continue from this frame, drop later frames" },
    { "every", ABUT_OPTION_WHOLE, AT(every), .least = 1, .flags = USUAL, .unit = "N",
      .help = "write every N-th frame and the last; also one in between if the path to the next frame has more than 32 waypoints "
              "of more than 64 MB in all" },
    { "with", ABUT_OPTION_SET, AT(record), .names = abut_with_names, .solvers = STEPS, .flags = SHAPES | USUAL, .unit = "WHAT",
      .help = "add to new frames, comma separated: forces and their estimated error, which takes time; energies; contacts, with "
              "--solver nodal (formats/STATE.md)" },
    { "solver", ABUT_OPTION_TEXT, AT(solver_name), .flags = USUAL, .unit = "NAME",
      .help = "solver (default: the scene's, which is newton unless it names another); --help solvers lists all" },
}, last[] = {
    { "one-pass", ABUT_OPTION_FLAG, AT(one_pass), .solvers = ABUT_FOR_BARRIER, .flags = SHAPES,
      .help = "solve once and leave the step PENDING for friction-lag" },
    { "checkpoint-every", ABUT_OPTION_WORD, .read = read_checkpoint, .flags = USUAL, .unit = "TIME",
      .help = "wait after each such time until the disk has the written frames, so that salvage finds them after a power "
              "failure: 90 s, 10min, 2 h" },
    { "dry-run", ABUT_OPTION_FLAG, AT(dry), .flags = USUAL,
      .help = "take one step, write nothing, print its cost and an estimate for all steps: time, memory, bytes of the stream" },
    { "report", ABUT_OPTION_OUTPUT, AT(report), .flags = USUAL, .unit = "FILE",
      .help = "write a line of JSON for every step (formats/REPORT.md)" },
    { "dump-stuck", ABUT_OPTION_OUTPUT_AFTER, AT(dump_stuck), .solvers = STEPS, .flags = USUAL, .unit = "FILE",
      .help = "if a step is given up, write a stream of the frame before it and the stuck iterate, from which step continues" },
    { "blas-threads", ABUT_OPTION_WHOLE, AT(o.linear.threads), .least = 1, .unit = "N" },
};
enum { FIRST = sizeof first / sizeof *first, LAST = sizeof last / sizeof *last,
       OPTIONS = FIRST + ABUT_SOLVE_OPTIONS_COUNT + LAST };

static int is_own(int i) { return i < FIRST || i >= OPTIONS - LAST; }

static const abut_option *row_of(int i)
{
    return i < FIRST ? &first[i] : is_own(i) ? &last[i - (OPTIONS - LAST)] : &abut_solve_table[i - FIRST];
}

static abut_opt_kind kind_of(int i)
{
    static const abut_opt_kind kind[] = {
        [ABUT_OPTION_FLAG] = ABUT_OPT_FLAG, [ABUT_OPTION_WHOLE] = ABUT_OPT_INT, [ABUT_OPTION_REAL] = ABUT_OPT_REAL,
        [ABUT_OPTION_POSITIVE] = ABUT_OPT_REAL, [ABUT_OPTION_CHOICE] = ABUT_OPT_TEXT, [ABUT_OPTION_WORD] = ABUT_OPT_TEXT,
        [ABUT_OPTION_SET] = ABUT_OPT_LIST, [ABUT_OPTION_TEXT] = ABUT_OPT_TEXT, [ABUT_OPTION_OUTPUT] = ABUT_OPT_OUTPUT,
        [ABUT_OPTION_OUTPUT_AFTER] = ABUT_OPT_OUTPUT_AFTER };
    return kind[row_of(i)->kind];
}

void abut_step_line_init(abut_step_line *line)
{
    int described = 0, at = 0;
    *line = (abut_step_line){ 0 };
    for (int usual = 1; usual >= 0; usual--) {
        for (int i = 0; i < OPTIONS; i++) {
            const abut_option *row = row_of(i);
            if (((row->flags & ABUT_OPTION_USUAL) != 0) != usual) continue;
            char *text = row->describe ? line->help[described++] : NULL;
            if (text) row->describe(text, sizeof *line->help);
            if (kind_of(i) == ABUT_OPT_INT) line->value[i].number = ABUT_NOT_GIVEN;
            if (kind_of(i) == ABUT_OPT_REAL) line->value[i].real = NAN;
            line->opts[at++] = (abut_opt){ row->letter, row->name, kind_of(i), &line->value[i], row->unit,
                                           text ? text : row->help };
        }
        line->opts[at++] = (abut_opt){ .name = usual ? "all" : "solvers", .kind = ABUT_OPT_TOPIC,
                                       .help = usual ? NULL : line->solvers };
    }
    describe_solvers(line->solvers, sizeof line->solvers);
}

/* ---- reading ---- */

static void give(abut_step_command *c, const abut_option *row) { c->given[c->n_given++] = row; }

/* Reads option i, if it is given: into the command, or into the settings of its solver. */
static abut_status read_option(abut_step_command *c, const abut_step_line *line, int i, abut_err *err)
{
    const abut_option *row = row_of(i);
    void *to = is_own(i) ? (void *)c : &c->o;
    char said[ABUT_OPTION_SAID] = "";
    abut_status rc = ABUT_OK;
    switch (kind_of(i)) {
    case ABUT_OPT_INT: case ABUT_OPT_FLAG: {
        const int number = line->value[i].number;
        if (number != (row->kind == ABUT_OPTION_FLAG ? 0 : ABUT_NOT_GIVEN)) rc = abut_option_number(row, to, number, said, err);
        break;
    }
    case ABUT_OPT_REAL:
        if (!isnan(line->value[i].real)) rc = abut_option_number(row, to, line->value[i].real, said, err);
        break;
    case ABUT_OPT_LIST:     /* each adds to those before */
        for (int k = 0; k < line->value[i].list.n && !rc; k++)
            rc = abut_option_word(row, to, line->value[i].list.item[k], said, err);
        break;
    default:
        if (line->value[i].word) rc = abut_option_word(row, to, line->value[i].word, said, err);
    }
    if (rc || !*said) return rc;
    give(c, row);
    abut_option_note(row, said, c->notes, sizeof c->notes);
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

/* Whether the file could be made now; leaves none. */
static abut_status try_stuck(const char *path, abut_err *err)
{
    abut_out_file f;
    const abut_status rc = abut_out_open(&f, path, 0, err);
    if (rc) return abut_wrap(err, "--dump-stuck"), rc;
    abut_out_drop(&f);
    return ABUT_OK;
}

abut_status abut_step_line_read(const abut_step_line *line, const abut_cli *cli, abut_step_command *c, abut_err *err)
{
    static const abut_option contacts = { .name = "with contacts", .solvers = ABUT_FOR_NODAL };
    abut_status rc = ABUT_OK;
    *c = (abut_step_command){ .steps = -1, .every = 1, .from = -1, .until = INFINITY, .o = abut_solve_defaults };
    c->o.linear.threads = cli->threads;
    for (int i = 0; i < OPTIONS && !rc; i++) rc = read_option(c, line, i, err);
    if (c->record & ABUT_WITH_CONTACTS) give(c, &contacts);
    if (!rc) rc = check_together(c, cli, err);
    if (rc) return rc;
    c->solver_said = c->solver_name != NULL;
    rc = take_solver(c, c->solver_said ? c->solver_name : abut_scene_solvers[ABUT_SOLVED_BY_BARRIER], err);
    /* a scene may ask for another, which understands other options */
    abut_err other = { 0 };
    for (int k = 1; k < ABUT_SOLVED_BY && rc && !c->solver_said; k++)
        if (abut_solver_find(abut_scene_solvers[k], c->given, &other)) rc = ABUT_OK, *err = (abut_err){ 0 };
    return rc || !c->dump_stuck ? rc : try_stuck(c->dump_stuck, err);
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
