#include "solve/options.h"

#include "base/words.h"
#include "energy/barrier.h"
#include "energy/elastic.h"
#include "solve/baselines/baselines.h"
#include "solve/solvers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const stop_names[] = { "newton", "published", "characteristic", "gradient", "step", NULL };
static const char *const ccd_names[] = { "full", "cfl", NULL };
static const char *const guess_names[] = { "coast", "start", "inertia", "symplectic", "accelerated", "jacobi", NULL };
static const char *const precond_names[] = { "jacobi", "clusters", "rigid", NULL };
static const char *const contact_names[] = { "ignore", "springs", NULL };
/* in the order of their bits */
static const char *const without_names[] = { "look-ahead", "second-order", "lengthen", "reuse", "warm-start", "majorant",
                                             "beyond", "rotations", "scale", "pairs", "blocked", NULL };
static const char *const repair_names[] = { "barrier", "none", NULL };
static const char *const line_search_names[] = { "penalty", "none", NULL };
const char *const abut_constraint_names[ABUT_CONSTRAINTS + 1] = { "gap", "volume", "impact", NULL };
const char *const abut_active_set_names[ABUT_ACTIVE_SETS + 1] = { "both", "impacts", "near", NULL };

/* ---- what the options mean ---- */

/* default bounds of rules on gradients: Li 2020, 3.5.2; Huang et al. 2024, supplement, N/m */
static const double norm_default[ABUT_STOPS] = { [ABUT_STOP_CHARACTERISTIC] = 1e-5, [ABUT_STOP_GRADIENT] = 3e-2 };

double abut_stop_norm(const abut_search_options *o)
{
    const double usual = norm_default[o->stop];
    return usual > 0 && o->tolerance > 0 ? o->tolerance : usual;
}

void abut_solve_view(abut_model *out, const abut_model *m, const abut_solve_options *o)
{
    const abut_search_options *s = &o->search;
    const abut_inequalities_options *q = &o->inequalities;
    *out = *m;
    if (o->passes.lags >= 0) out->lags = &o->passes.lags;
    if (s->tolerance > 0 && !norm_default[s->stop]) out->tolerance = &s->tolerance;
    if (s->force_tolerance > 0) out->force_tolerance = &s->force_tolerance;
    if (q->form >= 0) out->sqp_constraints = &q->form;
    if (q->active_set >= 0) out->sqp_active_set = &q->active_set;
    if (q->offset >= 0) out->sqp_offset = &q->offset;
}

/* ---- words ---- */

static abut_status read_linear(void *to, const char *word, char said[ABUT_OPTION_SAID], abut_err *err)
{
    abut_linear_options *o = &((abut_solve_options *)to)->linear;
    const abut_status rc = abut_linear_solver_find(word, &o->solver, err);
    if (rc) return abut_wrap(err, "--linear-solver"), rc;
    if (o->solver->history) snprintf(said, ABUT_OPTION_SAID, "%s", o->solver->history);
    return ABUT_OK;
}

static abut_status read_hessian(void *to, const char *word, char said[ABUT_OPTION_SAID], abut_err *err)
{
    (void)said;
    return abut_barrier_hessian_find(word, abut_baseline_hessians, &((abut_solve_options *)to)->linear.hessian, err);
}

static abut_status read_device(void *to, const char *word, char said[ABUT_OPTION_SAID], abut_err *err)
{
    abut_device_place *place = &((abut_solve_options *)to)->device.place;
    *place = (abut_device_place){ .ops = NULL };
    if (!strcmp(word, "cpu")) return *said = 0, ABUT_OK;
    if (!abut_device_parse)
        return abut_fail(err, ABUT_E_ARG, "--device %s: this program is linked without devices; know cpu", word);
    const abut_status rc = abut_device_parse(word, place, err);
    if (place->kind == ABUT_DEVICE_GPU) snprintf(said, ABUT_OPTION_SAID, "gpu");
    return rc;
}

static abut_status read_precond(void *to, const char *word, char said[ABUT_OPTION_SAID], abut_err *err)
{
    abut_device_options *o = &((abut_solve_options *)to)->device;
    (void)said;
    if (!o->place.kind) return abut_fail(err, ABUT_E_ARG, "--precond %s: is for --device twin and gpu", word);
    return abut_name_find("--precond", word, precond_names, &o->precond, err);
}

/* Reads "converged", 0, or a number from 1 to a million, which JSON has without sign, space and zeros before it. */
static abut_status read_count(const char *word, int *to, char *said)
{
    char *end = NULL;
    *to = 0;
    if (!strcmp(word, "converged")) return ABUT_OK;
    errno = 0;
    const long n = strtol(word, &end, 10);
    if (end == word || *end || errno || n < 1 || n > 1000000) return ABUT_E_ARG;
    *to = (int)n;
    if (said) snprintf(said, ABUT_OPTION_SAID, "%s", word + strcspn(word, "123456789"));
    return ABUT_OK;
}

static abut_status read_iterations(void *to, const char *word, char said[ABUT_OPTION_SAID], abut_err *err)
{
    if (!read_count(word, &((abut_solve_options *)to)->real_time.iterations, said)) return ABUT_OK;
    return abut_fail(err, ABUT_E_ARG, "--iterations %.80s: want 1 to 1000000, or 'converged'", word);
}

static abut_status read_fit(void *to, const char *word, char said[ABUT_OPTION_SAID], abut_err *err)
{
    char *colon, *end;
    double *fit = ((abut_solve_options *)to)->quasi.fit;
    const double low = strtod(word, &colon), high = *colon == ':' ? strtod(colon + 1, &end) : 0;
    (void)said;
    if (colon == word || *colon != ':' || end == colon + 1 || *end || !(low > 0 && low < 1 && high > 1 && high <= 100))
        return abut_fail(err, ABUT_E_ARG, "--fit-interval %.80s: want LOW:HIGH with 0 < LOW < 1 < HIGH <= 100, as 0.8:1.2", word);
    fit[0] = low;
    fit[1] = high;
    return ABUT_OK;
}

static abut_status read_stop(void *to, const char *word, char said[ABUT_OPTION_SAID], abut_err *err)
{
    if (!strcmp(word, "cn")) snprintf(said, ABUT_OPTION_SAID, "characteristic");    /* its former name */
    return abut_name_find("--stop", said, stop_names, &((abut_solve_options *)to)->search.stop, err);
}

abut_status abut_lags_parse(const char *option, const char *text, int *lags, abut_err *err)
{
    *lags = -1;
    if (!text || !read_count(text, lags, NULL)) return ABUT_OK;
    return abut_fail(err, ABUT_E_ARG, "%s %s: want a number of passes, 1 or more, or 'converged'", option, text);
}

const char *abut_lags_json(int lags, char *buf)
{
    snprintf(buf, 16, lags ? "%d" : "\"converged\"", lags < 0 ? 0 : lags);
    return buf;
}

static abut_status read_lags(void *to, const char *word, char said[ABUT_OPTION_SAID], abut_err *err)
{
    if (!read_count(word, &((abut_solve_options *)to)->passes.lags, said)) return ABUT_OK;
    return abut_lags_parse("--lags", word, &(int){ 0 }, err);
}

/* ---- help made of tables ---- */

/* Writes a line: a name and its explanation; the first is the default. */
static size_t describe(char *text, size_t size, size_t used, int first, const char *name, const char *help)
{
    const int n = snprintf(text + used, size - used, "\n%s\t%s%s", name, help, first ? " (default)" : "");
    return n > 0 && (size_t)n < size - used ? used + (size_t)n : used;
}

static void describe_linear(char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "linear solver of newton, lbfgs-h, nodal, sqp and qp. Without this option newton "
                                   "takes ic-rigid if a factor is expensive (large bodies, thick in all directions), lbfgs-h "
                                   "takes ic-rigid if no Newton direction ends a step:");
    for (int i = 0; abut_linear_solvers[i]; i++)
        used = describe(text, size, used, i == 0, abut_linear_solvers[i]->name, abut_linear_solvers[i]->help);
}

static void describe_hessians(char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "Hessian of contacts in newton and newton-cg:");
    for (const abut_barrier_hessian_ops *const *h = abut_barrier_hessians; *h; h++)
        used = describe(text, size, used, h == abut_barrier_hessians, (*h)->name, (*h)->help);
    for (const abut_barrier_hessian_ops *const *h = abut_baseline_hessians; *h; h++)
        used = describe(text, size, used, 0, (*h)->name, (*h)->help);
}

/* ---- the table ---- */

enum { ALL = 0, BARRIER = ABUT_FOR_BARRIER, NEWTON = ABUT_FOR_NEWTON, FACTORS = ABUT_FOR_FACTORS, HISTORY = ABUT_FOR_HISTORY,
       FIT = ABUT_FOR_FIT, PARTS = ABUT_FOR_PARTS, LEVELS = ABUT_FOR_LEVELS, NODAL = ABUT_FOR_NODAL, PENALTY = ABUT_FOR_PENALTY,
       INEQUALITIES = ABUT_FOR_INEQUALITIES, CONSTANT = ABUT_FOR_CONSTANT,
       SHAPES = ABUT_OPTION_SHAPES, USUAL = ABUT_OPTION_USUAL };
#define FIT_DEFAULT { ABUT_FIT_LOW, ABUT_FIT_HIGH }
#define FLAG ABUT_OPTION_FLAG
#define WHOLE(from, to) ABUT_OPTION_WHOLE, .least = from, .most = to
#define POSITIVE(below) ABUT_OPTION_POSITIVE, .most = below
#define CHOICE(of) ABUT_OPTION_CHOICE, .names = of
#define WORD(by) ABUT_OPTION_WORD, .read = by
#define NAMED(by, of) ABUT_OPTION_WORD, .read = by, .names = of
#define SET(of) ABUT_OPTION_SET, .names = of
#define TEXT(words) .help = words
#define TABLE(by) .describe = by
#define DEFAULT(group, type, member, usual, ...) .group.member = usual,
#define ROW(group, type, member, usual, named, reads, by, of, value, words) \
    { named, .at = offsetof(abut_solve_options, group.member), .kind = reads, .solvers = by, .flags = of, .unit = value, words },

const abut_solve_options abut_solve_defaults = { ABUT_SOLVE_OPTIONS(DEFAULT) };
const abut_option abut_solve_table[ABUT_SOLVE_OPTIONS_COUNT] = { ABUT_SOLVE_OPTIONS(ROW) };

/* ---- reading ---- */

static abut_status check_range(const abut_option *row, double value, abut_err *err)
{
    const int whole = row->kind == ABUT_OPTION_WHOLE;
    if (whole && row->most && !(value >= row->least && value <= row->most))
        return abut_fail(err, ABUT_E_ARG, "--%s %.0f: want %.0f to %.0f", row->name, value, row->least, row->most);
    if (whole && !(value >= row->least))
        return abut_fail(err, ABUT_E_ARG, "--%s %.0f: want %.0f or more", row->name, value, row->least);
    if (row->kind != ABUT_OPTION_POSITIVE || (value > 0 && (!row->most || value < row->most))) return ABUT_OK;
    if (!(value > 0)) return abut_fail(err, ABUT_E_ARG, "--%s %g: want more than 0", row->name, value);
    return abut_fail(err, ABUT_E_ARG, "--%s %g: want less than %g", row->name, value, row->most);
}

abut_status abut_solve_options_check(const abut_solve_options *o, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int i = 0; i < ABUT_SOLVE_OPTIONS_COUNT && !rc; i++) {
        const abut_option *row = &abut_solve_table[i];
        const char *at = (const char *)o + row->at, *usual = (const char *)&abut_solve_defaults + row->at;
        if (row->kind == ABUT_OPTION_WHOLE && *(const int *)at != *(const int *)usual)
            rc = check_range(row, *(const int *)at, err);
        if (row->kind == ABUT_OPTION_POSITIVE && *(const double *)at != *(const double *)usual)
            rc = check_range(row, *(const double *)at, err);
    }
    return rc;
}

abut_status abut_option_number(const abut_option *row, void *to, double value, char said[ABUT_OPTION_SAID], abut_err *err)
{
    void *at = (char *)to + row->at;
    if (row->kind == ABUT_OPTION_REAL || row->kind == ABUT_OPTION_POSITIVE) *(double *)at = value;
    else *(int *)at = (int)value;
    if (row->kind == ABUT_OPTION_FLAG) snprintf(said, ABUT_OPTION_SAID, "true");
    else snprintf(said, ABUT_OPTION_SAID, "%.15g", value);
    return check_range(row, value, err);
}

abut_status abut_set_read(const char *option, const char *list, const char *const *names, unsigned *set, char *said,
                          abut_err *err)
{
    char known[160];
    size_t used = 0;
    for (const char *word = list; word;) {
        const size_t n = strcspn(word, ",");
        int k = 0;
        while (names[k] && (strlen(names[k]) != n || memcmp(names[k], word, n))) k++;
        if (!names[k])
            return abut_fail(err, ABUT_E_ARG, "%s %.80s: '%.*s' is unknown: know %s", option, list, n < 80 ? (int)n : 80, word,
                             abut_names_join(names, known, sizeof known));
        *set |= 1u << k;
        word = word[n] ? word + n + 1 : NULL;
    }
    for (int k = 0; said && names[k]; k++)
        if (*set & 1u << k) used += (size_t)snprintf(said + used, ABUT_OPTION_SAID - used, "%s%s", used ? "," : "", names[k]);
    return ABUT_OK;
}

abut_status abut_option_word(const abut_option *row, void *to, const char *word, char said[ABUT_OPTION_SAID], abut_err *err)
{
    void *at = (char *)to + row->at;
    char option[40];
    snprintf(said, ABUT_OPTION_SAID, "%s", word);
    if (row->read) return row->read(to, word, said, err);
    if (row->kind >= ABUT_OPTION_TEXT) return *(const char **)at = word, ABUT_OK;
    snprintf(option, sizeof option, "--%s", row->name);
    return row->kind == ABUT_OPTION_SET ? abut_set_read(option, word, row->names, at, said, err)
                                        : abut_name_find(option, word, row->names, at, err);
}

void abut_option_note(const abut_option *row, const char *said, char *notes, size_t size)
{
    const size_t used = strlen(notes);
    const char *quote = said[strspn(said, "0123456789.e+-")] && strcmp(said, "true") ? "\"" : "";
    if (!(row->flags & ABUT_OPTION_SHAPES)) return;
    const int n = snprintf(notes + used, size - used, ",\"%s\":%s%s%s", row->name, quote, said, quote);
    if (n < 0 || (size_t)n >= size - used) notes[used] = 0;
    else for (char *s = notes + used + 2; *s != '"'; s++) *s = *s == '-' ? '_' : *s;
}
