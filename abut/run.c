#include "abut/run.h"

#include "base/par.h"
#include "energy/term.h"
#include "formats/stream/pass.h"
#include "solve/solvers.h"

#include <math.h>
#include <stdlib.h>

struct abut_run {
    abut_stream s;
    abut_last now;
    abut_arrays next;
    abut_term_ops ops[ABUT_RUN_ENERGIES];
    abut_own_term own[ABUT_RUN_ENERGIES + 1];
    abut_solve_options options;
    const char *asked, *history;    /* until it is open */
    const abut_option *given[3];    /* what the program has chosen itself, NULL at the end, and for the history: */
    char chosen[48];
    const abut_solver_row *solver;
    void *stepper;
    abut_run_state where;
    char note[1024];            /* JSON */
};

static abut_status take_energies(abut_run *r, const abut_run_options *o, abut_err *err)
{
    if (o->energies < 0 || o->energies > ABUT_RUN_ENERGIES || (o->energies && !o->energy))
        return abut_fail(err, ABUT_E_ARG, "%d energies%s, expected 0 to %d", o->energies, o->energy ? "" : " at NULL",
                         ABUT_RUN_ENERGIES);
    for (int i = 0; i < o->energies; i++) {
        if (!o->energy[i].name) return abut_fail(err, ABUT_E_ARG, "energy %d has no name", i);
        abut_element_term(&o->energy[i], &r->ops[i], &r->own[i]);
    }
    r->options.terms = r->own;
    return ABUT_OK;
}

static abut_status choose(abut_run *r, int setting, double value, abut_err *err)
{
    char said[ABUT_OPTION_SAID];
    const abut_option *row = r->given[r->given[0] != NULL] = &abut_solve_table[setting];
    const abut_status rc = abut_option_number(row, &r->options, value, said, err);
    if (!rc) abut_option_note(row, said, r->chosen, sizeof r->chosen);
    return rc;
}

static abut_status take_options(abut_run *r, const abut_run_options *o, abut_err *err)
{
    abut_status rc = ABUT_OK;
    r->options = abut_solve_defaults;
    r->options.linear.threads = abut_threads();
    r->asked = o->solver;
    r->history = o->history;
    if (!(o->tolerance >= 0 && o->tolerance < INFINITY) || o->max_newton < 0)
        return abut_fail(err, ABUT_E_ARG, "tolerance %g, max_newton %d: expected 0 or more", o->tolerance, o->max_newton);
    if (o->tolerance > 0) rc = choose(r, ABUT_OPTION_search_tolerance, o->tolerance, err);
    if (!rc && o->max_newton) rc = choose(r, ABUT_OPTION_search_max_newton, o->max_newton, err);
    return rc ? rc : take_energies(r, o, err);
}

/* The solver, once the scene is known, and what the history says. */
static abut_status choose_solver(void *ctx, const abut_model *m, const char **options, abut_err *err)
{
    abut_run *r = ctx;
    const char *name = r->asked ? r->asked : abut_scene_solvers[m->solver ? m->solver[0] : ABUT_SOLVED_BY_BARRIER];
    r->solver = abut_solver_find(name, r->given, err);
    const abut_status rc = r->solver ? abut_solver_check(r->solver, &r->options, err) : ABUT_E_ARG;
    if (rc) return rc;
    const int n = snprintf(r->note, sizeof r->note, "{\"solver\":\"%s\"%s%s%s}", name, r->chosen, r->history ? ",\"own\":" : "",
                           r->history ? r->history : "");
    if (n < 0 || (size_t)n >= sizeof r->note)
        return abut_fail(err, ABUT_E_ARG, "the history of %d characters is longer than %zu", n, sizeof r->note);
    *options = r->note;
    return ABUT_OK;
}

static abut_status open_run(abut_run *r, FILE *in, FILE *out, const abut_run_options *o, abut_err *err)
{
    const abut_stream_io io = { .in = in, .out = out, .in_name = o->in_name ? o->in_name : "standard input",
                                .tool = o->program ? o->program : "abut_run",
                                .version = o->version ? o->version : ABUT_VERSION };
    abut_status rc = take_options(r, o, err);
    if (!rc) rc = abut_stream_start(&r->s, &io, NULL, err);
    if (rc) return rc;
    abut_stream_ask(&r->s, choose_solver, r);
    rc = abut_last_read(&r->now, &r->s, -1, err);
    if (rc) return rc;
    r->options.names = &r->s.model_set;
    r->where = (abut_run_state){ .step = r->now.head.step, .time = r->now.head.time, .min_gap = -1 };
    return abut_solver_make(&r->stepper, &r->s.model, r->solver, &r->options, err);
}

abut_status abut_run_open(abut_run **run, FILE *in, FILE *out, const abut_run_options *o, abut_err *err)
{
    static const abut_run_options none = { 0 };
    abut_run *r = *run = calloc(1, sizeof *r);
    if (!r) return abut_fail(err, ABUT_E_NOMEM, "a run");
    const abut_status rc = open_run(r, in, out, o ? o : &none, err);
    if (rc) abut_run_free(run);
    return rc;
}

const abut_arrays *abut_run_model(const abut_run *r)
{
    return &r->s.model_set;
}

const abut_arrays *abut_run_frame(const abut_run *r)
{
    return &r->now.set;
}

abut_run_state abut_run_where(const abut_run *r)
{
    return r->where;
}

abut_status abut_run_check(const abut_run *r, abut_err *err)
{
    const abut_array *x = abut_arrays_find(&r->now.set, "node/x");
    abut_status rc = x ? ABUT_OK : abut_fail(err, ABUT_E_FORMAT, "the frame has no node/x");
    for (int i = 0; i < ABUT_RUN_ENERGIES && r->own[i].own && !rc; i++)
        rc = abut_element_check(r->own[i].own, x->data, err);
    return rc;
}

abut_status abut_run_step(abut_run *r, abut_err *err)
{
    abut_instant at = { r->now.head.step, r->now.head.time };
    abut_report rep = { .lag_residual = -1, .min_gap = -1, .min_jacobian_tet = -1, .max_stretch_shell = -1 };
    int written = 1;
    if (at.step >= ABUT_STEP_MOST)
        return abut_fail(err, ABUT_E_FORMAT, "no step can follow step %lld: the largest number is 2^53", (long long)at.step);
    const abut_status rc = abut_stepper_advance(r->solver->stepper, r->stepper, &r->now.set, r->now.head.phase == ABUT_PENDING,
                                                &at, &written, 0, &r->next, &rep, err);
    if (!rc) {
        const abut_arrays before = r->now.set;
        r->now.set = r->next;
        r->now.head = (abut_frame_head){ at.step, at.time, ABUT_COMMITTED };
        r->next = before;
        r->where = (abut_run_state){ at.step, at.time, rep.newton, rep.contacts + rep.planes, rep.min_gap, rep.seconds.total };
    }
    abut_report_clear(&rep);
    return rc ? rc : abut_stream_write_frame(&r->s, &r->now.head, &r->now.set, err);
}

abut_status abut_run_close(abut_run *r, abut_err *err)
{
    return abut_stream_close(&r->s, err);
}

void abut_run_free(abut_run **run)
{
    abut_run *r = *run;
    if (!r) return;
    if (r->stepper) r->solver->stepper->free(r->stepper);
    abut_last_clear(&r->now);
    abut_arrays_clear(&r->next);
    abut_stream_clear(&r->s);
    free(r);
    *run = NULL;
}
