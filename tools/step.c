/* step: advances the state.  Frames already in the stream pass through; new ones follow. */
#include "base/timer.h"
#include "formats/result/step_report.h"
#include "formats/scene/tree.h"
#include "solve/device/device.h"
#include "solve/step/stuck.h"
#include "tools/cli/with.h"
#include "tools/step/local.h"
#include "tools/step/stuck_file.h"

#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_GIVEN = -0x7fffffff };
#define NORM_DEFAULT 1e-5   /* characteristic norm: Li 2020, 3.5.2 */

typedef struct options {
    int steps, every, from, one_pass, blas_threads, max_newton, with, method, history, parts, levels;
    int lags;           /* -1 the scene's, 0 until they converge */
    double until;
    double tolerance;   /* NAN: the default of the rule */
    double force_tolerance; /* NAN: the scene's */
    int by_norm, plain; /* the stopping rule: cn, published */
    const char *report, *with_text, *dump_stuck, *max_lags, *solver, *linear, *stop, *iterations, *contact;
    const char *device_name, *precond_name, *without_text;
    unsigned without;
    int precond, device_number;
    abut_device_kind device;
    const abut_linear_solver_ops *linear_ops;   /* of `linear`; NULL: the default */
    int is_local;       /* a solver with a constant matrix and without the barrier */
    abut_lg_opts local;
} options;

/* Everything the run owns. */
typedef struct run {
    abut_stream s;
    abut_last now;
    abut_arrays next;
    abut_stepper stepper;
    abut_local_global local;
    FILE *report;
    char history[512];      /* this stage, in the stream */
    int more_frames;            /* written beyond --every, for the path to them */
    int steps, unsettled;       /* made, and of those the steps whose friction passes ended before they converged */
    int damped;                 /* steps of the midpoint scheme that implicit Euler took */
    double worst_lag;           /* m/s: their largest lag residual */
    double worst_balance;       /* the largest force residual of a step */
    int unbalanced;             /* steps whose forces rounding kept from balancing */
} run;

static void progress(abut_cli *cli, const abut_report *rep, int64_t goal, int64_t done, double t0)
{
    const double left = done ? (abut_time_wall() - t0) / (double)done * (double)(goal - rep->step) : 0;
    char gap[32] = "-";
    if (rep->min_gap >= 0) snprintf(gap, sizeof gap, "%.2g m", rep->min_gap);
    abut_cli_progress(cli, "frame %lld/%lld  t %.4g s  newton %d  contacts %d  gap %s  left %.0f s", (long long)rep->step,
                      (long long)goal, rep->time, rep->newton, rep->contacts + rep->planes, gap, left);
}

static abut_status advance_one(run *r, const options *o, abut_report *rep, abut_err *err)
{
    abut_instant at = { r->now.head.step, r->now.head.time };
    const int pending = r->now.head.phase == ABUT_PENDING;
    abut_frame_head head = r->now.head;
    abut_status rc;
    if (o->is_local) {
        rc = pending ? abut_fail(err, ABUT_E_FORMAT, "frame %lld is PENDING: solver %s does not go on from there",
                                 (long long)at.step, o->solver)
                     : abut_lg_advance(&r->local, &r->now.set, &at, &r->next, rep, err);
        head = (abut_frame_head){ at.step, at.time, ABUT_COMMITTED };
    } else if (o->one_pass) {
        rc = pending ? abut_step_resume(&r->stepper, &r->now.set, at, rep, err)
                     : abut_step_begin(&r->stepper, &r->now.set, at, rep, err);
        if (!rc) rc = abut_step_solve(&r->stepper, rep, err);
        if (!rc) rc = abut_step_suspend(&r->stepper, &r->now.set, &r->next, err);
        head.phase = ABUT_PENDING;
    } else {
        rc = abut_step_advance(&r->stepper, &r->now.set, pending, &at, o->with, &r->next, rep, err);
        head = (abut_frame_head){ at.step, at.time, ABUT_COMMITTED };
    }
    if (rc) return rc;
    const abut_arrays swap = r->now.set;
    r->now.set = r->next;
    r->now.head = head;
    r->next = swap;
    return ABUT_OK;
}

/* The report of a failed step shows why; a failure to write it comes second. */
static abut_status write_report(const run *r, const abut_report *rep, abut_status rc, abut_err *err)
{
    if (!r->report) return rc;
    abut_err late = { 0 };
    const abut_status wrote = abut_report_write(rep, &r->s.model, r->report, &late);
    if (rc || !wrote) return rc;
    *err = late;
    return wrote;
}

/* The state of a step that was given up.  That it could not be written is said after why the step was given up. */
static void dump_stuck(run *r, const options *o, const abut_report *rep, abut_cli *cli, abut_err *err)
{
    abut_err late = { 0 };
    if (!o->dump_stuck || !r->stepper.solver.failed.kind) return;
    abut_status rc = abut_step_stuck(&r->stepper, &r->now.set, rep, err->msg, &r->next, &late);
    if (!rc) rc = abut_stuck_file_write(o->dump_stuck, &r->s, r->history, &r->now, &r->next, &late);
    if (!rc) {
        abut_cli_say(cli, "%s keeps the stuck state; step goes on from it", o->dump_stuck);
        return;
    }
    const size_t used = strlen(err->msg);
    snprintf(err->msg + used, sizeof err->msg - used, "; the stuck state is not kept: %.300s", late.msg);
}

static void count_forces(run *r, const options *o, const abut_report *rep)
{
    const double *want = r->s.model.force_tolerance;
    r->worst_balance = fmax(r->worst_balance, rep->force_residual);
    r->unbalanced += want && !o->by_norm && !o->plain && rep->force_residual > *want;
}

static void count_lags(run *r, const abut_report *rep)
{
    r->steps++;
    r->damped += rep->damped;
    if (!(rep->lag_residual > r->s.model.tolerance[0])) return;
    r->unsettled++;
    r->worst_lag = fmax(r->worst_lag, rep->lag_residual);
}

/* How many steps to make: *n, 0 or less when the time of --until has passed. */
static abut_status count_steps(const run *r, const options *o, int64_t *n, abut_err *err)
{
    const abut_frame_head *now = &r->now.head;
    const double left = ceil((o->until - now->time) / r->s.model.h[0] - 1e-9);
    *n = o->one_pass ? 1 : o->steps;
    if (isfinite(o->until) && left > (double)(ABUT_STEP_MOST - now->step))
        return abut_fail(err, ABUT_E_ARG, "--until %g s is %.3g steps of %g s from step %lld at %g s: expected a time before "
                         "step 2^53", o->until, left, r->s.model.h[0], (long long)now->step, now->time);
    if (isfinite(o->until)) *n = left > 0 ? (int64_t)left : 0;
    if (*n <= ABUT_STEP_MOST - now->step) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT, "%s: no %lld steps can follow step %lld: the largest number is 2^53", r->s.cli->in_name,
                     (long long)*n, (long long)now->step);
}

static abut_status simulate(run *r, const options *o, abut_cli *cli, abut_err *err)
{
    const double t0 = abut_time_wall();
    int64_t n;
    abut_status rc = count_steps(r, o, &n, err);
    if (rc) return rc;
    if (n < 1 && isfinite(o->until))
        abut_cli_say(cli, "--until %g s: the stream is at %g s already, no step was made", o->until, r->now.head.time);
    const int64_t goal = r->now.head.step + n;
    for (int64_t k = 1; k <= n && !rc; k++) {
        abut_report rep = { .step = r->now.head.step + 1, .lag_residual = -1, .min_gap = -1, .min_jacobian_tet = -1,
                            .max_stretch_shell = -1 };
        const int due = o->one_pass || (r->now.head.step + 1) % o->every == 0 || k == n;
        const int write = due || abut_path_is_full(&r->stepper.solver.path);
        r->stepper.skips_frame = !write;
        r->more_frames += write && !due;
        rc = advance_one(r, o, &rep, err);
        if (rc == ABUT_E_NUMERIC) dump_stuck(r, o, &rep, cli, err);
        rc = write_report(r, &rep, rc, err);
        if (!rc) count_lags(r, &rep);
        if (!rc) count_forces(r, o, &rep);
        if (!rc && write) rc = abut_stream_write_frame(&r->s, &r->now.head, &r->now.set, err);
        if (!rc && !o->one_pass) progress(cli, &rep, goal, k, t0);
        abut_report_clear(&rep);
    }
    if (r->unbalanced)
        abut_cli_say(cli, "rounding kept the forces of %d of %d steps from balancing: up to %.3g of the largest on a body is "
                     "left (want %.3g)", r->unbalanced, r->steps, r->worst_balance, r->s.model.force_tolerance[0]);
    else if (r->steps && (o->with & ABUT_WITH_FORCES))
        abut_cli_say(cli, "forces balance to %.2g of the largest on a body, or better", r->worst_balance);
    if (r->more_frames)
        abut_cli_say(cli, "%d frames more than --every asks for: the path to the next one had too many waypoints",
                     r->more_frames);
    if (r->unsettled)
        abut_cli_say(cli, "friction had not converged in %d of %d steps after %d passes: lag residual up to %.3g m/s (want %.3g)",
                     r->unsettled, r->steps, r->s.model.lags[0], r->worst_lag, r->s.model.tolerance[0]);
    if (r->damped)
        abut_cli_say(cli, "implicit Euler took %d of %d steps of the midpoint scheme, which created energy or let volumes swing: "
                     "%g s is too long for it here", r->damped, r->steps, r->s.model.h[0]);
    return rc;
}

/* The solvers that guarantee nothing say so. */
static abut_status local_work(run *r, const options *o, abut_cli *cli, abut_err *err)
{
    abut_status rc = abut_lg_init(&r->local, &r->s.model, &o->local, err);
    if (!rc) rc = simulate(r, o, cli, err);
    if (!rc && o->local.contact)
        abut_cli_say(cli, "contact was %s: nothing guarantees that these frames are free of intersections",
                     o->local.contact == ABUT_LG_IGNORE ? "ignored" : "answered by springs");
    return rc ? rc : abut_stream_close(&r->s, err);
}

/* What of the solver shapes the result, for the history of the stream. */
static void say_solver(const options *o, char *text, size_t size)
{
    size_t n = (size_t)snprintf(text, size, "\"solver\":\"%s\"", o->solver);
    if (o->linear) n += (size_t)snprintf(text + n, size - n, ",\"linear_solver\":\"%s\"", o->linear);
    if (o->history >= 0) n += (size_t)snprintf(text + n, size - n, ",\"history\":%d", o->history);
    if (o->parts) n += (size_t)snprintf(text + n, size - n, ",\"parts\":%d", o->parts);
    if (o->levels != 2) n += (size_t)snprintf(text + n, size - n, ",\"levels\":%d", o->levels);
    if (o->by_norm || o->plain) n += (size_t)snprintf(text + n, size - n, ",\"stop\":\"%s\"", o->stop);
    if (o->precond) n += (size_t)snprintf(text + n, size - n, ",\"precond\":\"%s\"", abut_device_precond_names[o->precond]);
    const char *device = o->device == ABUT_DEVICE_TWIN ? "twin" : "gpu";
    if (o->device) n += (size_t)snprintf(text + n, size - n, ",\"device\":\"%s\"", device);
    if (o->tolerance > 0) n += (size_t)snprintf(text + n, size - n, ",\"tolerance\":%g", o->tolerance);
    if (o->force_tolerance > 0) n += (size_t)snprintf(text + n, size - n, ",\"force_tolerance\":%g", o->force_tolerance);
    char words[ABUT_WITHOUT_WORDS];
    if (o->without) n += (size_t)snprintf(text + n, size - n, ",\"without\":\"%s\"", abut_without_words(o->without, words));
    if (o->is_local) snprintf(text + n, size - n, ",\"iterations\":%d,\"contact\":%d", o->local.iterations, o->local.contact);
}

/* A parameter of the model that an option replaces; NAN: none does. */
static abut_status replace(run *r, const char *name, double value, abut_err *err)
{
    if (isnan(value)) return ABUT_OK;
    double *to = abut_model_put(&r->s.model_set, name, 1, err);
    if (!to) return err->code;
    *to = value;
    return abut_model_view(&r->s.model_set, &r->s.model, err);
}

static abut_status work(run *r, const options *o, abut_cli *cli, abut_err *err)
{
    char lags_said[16], shaped[384];
    say_solver(o, shaped, sizeof shaped);
    snprintf(r->history, sizeof r->history, "{%s,\"lags\":%s,\"one_pass\":%s,\"forces\":%s,\"energies\":%s}",
             shaped, abut_lags_json(o->lags, lags_said), o->one_pass ? "true" : "false",
             o->with & ABUT_WITH_FORCES ? "true" : "false",
             o->with & ABUT_WITH_ENERGIES ? "true" : "false");
    abut_status rc = abut_stream_open(&r->s, cli, r->history, err);
    if (!rc) rc = abut_last_read(&r->now, &r->s, o->from, err);
    if (rc) return rc;
    if (o->lags >= 0) {
        int32_t *lags = abut_model_put(&r->s.model_set, "contact/lags", 1, err);
        if (!lags) return err->code;
        *lags = o->lags;
        if ((rc = abut_model_view(&r->s.model_set, &r->s.model, err))) return rc;
    }
    if (o->is_local) return local_work(r, o, cli, err);
    rc = replace(r, "solve/tolerance", o->by_norm ? NAN : o->tolerance, err);
    if (!rc) rc = replace(r, "solve/force-tolerance", o->force_tolerance, err);
    if (rc) return rc;
    abut_search_opts so = abut_search_defaults();
    if (o->history >= 0) so.history = o->history;
    if (o->by_norm) so.norm = o->tolerance > 0 ? o->tolerance : NORM_DEFAULT;
    so.plain = o->plain;
    so.without = o->without;
    so.parts = o->parts;
    so.one_level = o->levels == 1;
    if (!o->parts) rc = abut_partition_view(&r->s.model_set, r->s.model.nt, &so.cut, err);
    if (rc) return abut_wrap(err, "%s: MODEL", cli->in_name), rc;
    so.threads = o->blas_threads;
    so.method = o->method;
    so.linear = o->linear_ops;
    so.max_newton = o->max_newton;
    abut_device_choose(&so, o->device, o->device_number);
    so.device.precond = o->precond;
    so.names = &r->s.model_set;
    rc = abut_stepper_init(&r->stepper, &r->s.model, &so, err);
    if (rc == ABUT_E_FORMAT || rc == ABUT_E_GEOM) abut_wrap(err, "%s: MODEL", cli->in_name);
    if (!rc) rc = simulate(r, o, cli, err);
    return rc ? rc : abut_stream_close(&r->s, err);
}

static abut_status find_method(const char *name, int *method, abut_err *err)
{
    char known[160] = "";
    if (!strcmp(name, "newton-cg")) return *method = ABUT_SOLVE_NEWTON, ABUT_OK;
    for (*method = 0; abut_solve_names[*method]; ++*method) {
        if (!strcmp(name, abut_solve_names[*method])) return ABUT_OK;
        strcat(strcat(known, *method ? ", " : ""), abut_solve_names[*method]);
    }
    const char *names[ABUT_SOLVES + ABUT_LGS + 2] = { 0 };
    memcpy(names, abut_solve_names, ABUT_SOLVES * sizeof *names);
    memcpy(names + ABUT_SOLVES, abut_lg_names, ABUT_LGS * sizeof *names);
    names[ABUT_SOLVES + ABUT_LGS] = "newton-cg";
    const char *near = abut_name_nearest(name, names);
    return abut_fail(err, ABUT_E_ARG, "--solver %.80s: %s%s%sexpected newton-cg, %s, pd, mass-springs and admm-pd", name,
                     near ? "did you mean " : "", near ? near : "", near ? "? " : "", known);
}

/* o->linear_ops of --linear-solver; newton-cg is newton with the solver cg-schwarz. */
static abut_status find_linear(options *o, abut_err *err)
{
    const int by_cg = !strcmp(o->solver, "newton-cg");
    if (by_cg && o->linear)
        return abut_fail(err, ABUT_E_ARG, "--linear-solver %s: --solver newton-cg has cg-schwarz; want --solver newton",
                         o->linear);
    if (by_cg) return abut_linear_solver_find("cg-schwarz", &o->linear_ops, err);
    if (!o->linear) return ABUT_OK;
    if (o->method != ABUT_SOLVE_NEWTON && o->method != ABUT_SOLVE_LBFGS_H)
        return abut_fail(err, ABUT_E_ARG, "--linear-solver %s: --solver %s factors no Newton matrix; newton and lbfgs-h do",
                         o->linear, o->solver);
    const abut_status rc = abut_linear_solver_find(o->linear, &o->linear_ops, err);
    if (rc) return abut_wrap(err, "--linear-solver"), rc;
    if (o->method == ABUT_SOLVE_LBFGS_H && !(o->linear_ops->can & ABUT_CAN_PRECONDITION))
        return abut_fail(err, ABUT_E_ARG, "--linear-solver %s: --solver lbfgs-h wants a factor: own or cholmod", o->linear);
    return ABUT_OK;
}

static abut_status find_rule(options *o, abut_err *err)
{
    o->by_norm = !strcmp(o->stop, "cn");
    o->plain = !strcmp(o->stop, "published");
    if (o->by_norm || o->plain || !strcmp(o->stop, "newton")) return ABUT_OK;
    return abut_fail(err, ABUT_E_ARG, "--stop %s: know newton, published and cn", o->stop);
}

/* A device has directions of its own, by conjugate gradients, and the Newton rule. */
static abut_status find_device(options *o, abut_err *err)
{
    abut_status rc = abut_device_parse(o->device_name, &o->device, &o->device_number, err);
    if (rc) return rc;
    if (!o->device && o->precond_name)
        return abut_fail(err, ABUT_E_ARG, "--precond %s: is for --device twin and gpu", o->precond_name);
    for (const char *const *name = abut_device_precond_names; o->precond_name && strcmp(o->precond_name, name[o->precond]);)
        if (!name[++o->precond])
            return abut_fail(err, ABUT_E_ARG, "--precond %s: know jacobi, clusters and rigid", o->precond_name);
    if (!o->device) return ABUT_OK;
    if (o->is_local || (strcmp(o->solver, "newton") && strcmp(o->solver, "newton-cg")))
        return abut_fail(err, ABUT_E_ARG, "--device %s: takes newton and newton-cg, not --solver %s", o->device_name, o->solver);
    if (o->by_norm) return abut_fail(err, ABUT_E_ARG, "--device %s: takes --stop newton and published, not cn", o->device_name);
    if (o->linear) return abut_fail(err, ABUT_E_ARG, "--device %s: has a linear solver of its own", o->device_name);
    return ABUT_OK;
}

static abut_status check_options(options *o, const abut_cli *cli, abut_err *err)
{
    if (o->steps < 0) return abut_fail(err, ABUT_E_ARG, "-n %d: want 0 or more steps", o->steps);
    if (o->every < 1) return abut_fail(err, ABUT_E_ARG, "--every %d: want 1 or more", o->every);
    if (o->max_newton < 1) return abut_fail(err, ABUT_E_ARG, "--max-newton %d: want 1 or more", o->max_newton);
    if (o->from != NOT_GIVEN && o->from < 0) return abut_fail(err, ABUT_E_ARG, "--from %d: want 0 or more", o->from);
    if (o->blas_threads != NOT_GIVEN && o->blas_threads < 1)
        return abut_fail(err, ABUT_E_ARG, "--blas-threads %d: want 1 or more", o->blas_threads);
    if (o->dump_stuck && cli->out_path && !strcmp(o->dump_stuck, cli->out_path))
        return abut_fail(err, ABUT_E_ARG, "--dump-stuck %s: is the output, too", o->dump_stuck);
    if (o->parts < 0) return abut_fail(err, ABUT_E_ARG, "--parts %d: want 0 or more", o->parts);
    if (o->levels != 1 && o->levels != 2) return abut_fail(err, ABUT_E_ARG, "--levels %d: want 1 or 2", o->levels);
    if (o->history != NOT_GIVEN && o->history < 0) return abut_fail(err, ABUT_E_ARG, "--history %d: want 0 or more", o->history);
    if (!isnan(o->tolerance) && !(o->tolerance > 0 && isfinite(o->tolerance)))
        return abut_fail(err, ABUT_E_ARG, "--tolerance %g: want more than 0", o->tolerance);
    if (!isnan(o->force_tolerance) && !(o->force_tolerance > 0 && isfinite(o->force_tolerance)))
        return abut_fail(err, ABUT_E_ARG, "--force-tolerance %g: want more than 0", o->force_tolerance);
    if (!isnan(o->force_tolerance) && strcmp(o->stop, "newton"))
        return abut_fail(err, ABUT_E_ARG, "--force-tolerance does not go with --stop %s", o->stop);
    const abut_local_words words = { o->solver, o->iterations, o->contact, o->stop, o->tolerance, o->one_pass || o->max_lags ||
                                     o->with_text || o->history >= 0 || o->parts || o->levels != 2 || o->max_newton != 10000 ||
                                         o->dump_stuck || o->linear || o->without_text };
    abut_status rc = abut_local_parse(&words, &o->is_local, &o->local, err);
    if (!rc && !o->is_local) rc = find_method(o->solver, &o->method, err);
    if (!rc && !o->is_local) rc = find_linear(o, err);
    if (!rc) rc = find_rule(o, err);
    if (!rc && o->is_local && o->plain)
        rc = abut_fail(err, ABUT_E_ARG, "--stop published does not go with --solver %s", o->solver);
    if (!rc) rc = find_device(o, err);
    if (!rc) rc = abut_with_parse(o->with_text, &o->with, err);
    if (!rc && (rc = abut_without_parse(o->without_text, &o->without, err))) abut_wrap(err, "--without");
    if (o->blas_threads == NOT_GIVEN) o->blas_threads = cli->threads;
    if (!rc) rc = abut_lags_parse("--lags", o->max_lags, &o->lags, err);
    return !rc && o->dump_stuck ? abut_stuck_file_try(o->dump_stuck, err) : rc;
}

/* The same large arrays come and go every iteration: handed back to the system in between, each page of them would have to
 * be faulted in and cleared anew. */
static void keep_memory(void)
{
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_THRESHOLD, 64 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 512 << 20);
#endif
}

int main(int argc, char **argv)
{
    keep_memory();
    options o = { .steps = 1, .every = 1, .from = NOT_GIVEN, .blas_threads = NOT_GIVEN, .max_newton = 10000, .solver = "newton",
                  .stop = "newton", .device_name = "cpu", .tolerance = NAN, .force_tolerance = NAN, .history = NOT_GIVEN,
                  .levels = 2,
                  .until = INFINITY };
    const abut_opt opts[] = {
        { 'n', "steps", ABUT_OPT_INT, &o.steps, "N", "time steps to make (default 1)" },
        { 0, "until", ABUT_OPT_REAL, &o.until, "s", "go on to this time instead" },
        { 0, "from", ABUT_OPT_INT, &o.from, "STEP", "start again from this frame; later ones are dropped" },
        { 0, "every", ABUT_OPT_INT, &o.every, "N",
          "write every N-th frame, and the last; one in between where the path to the next has more than 32 waypoints and "
          "they take more than 64 MB" },
        { 0, "with", ABUT_OPT_TEXT, &o.with_text, "WHAT", ABUT_WITH_HELP },
        { 0, "solver", ABUT_OPT_TEXT, &o.solver, "NAME",
          "newton (default: sparse Cholesky); newton-cg: conjugate gradients with a "
          "two-level Schwarz preconditioner, for large scenes; lbfgs-h: L-BFGS on the Hessian of the step's first iterate; dot: "
          "on that of "
          "subdomains, completed at their interfaces; lbfgs-pd: on a constant Laplacian; for comparison lbfgs-jh (block Jacobi), "
          "lbfgs-ic "
          "(incomplete Cholesky), gradient (the diagonal); without the barrier and its guarantees, for real time: pd "
          "(projective dynamics), mass-springs; for comparison admm-pd" },
        { 0, "linear-solver", ABUT_OPT_TEXT, &o.linear, "NAME",
          "newton, lbfgs-h: what solves with their matrices: own (default: supernodal Cholesky); cholmod (SuiteSparse's); newton "
          "alone: cg-schwarz (conjugate gradients with a two-level Schwarz preconditioner), cg (with inverted diagonal blocks)" },
        { 0, "device", ABUT_OPT_TEXT, &o.device_name, "NAME",
          "cpu (default); gpu, gpu:N: Newton's iterations on a GPU, for tetrahedra and for shells without bounds of stretch "
          "or strain; twin: the same algorithm on the processor, slower than cpu, for tests. The bytes of gpu and twin are the "
          "same, those of cpu are others" },
        { 0, "precond", ABUT_OPT_TEXT, &o.precond_name, "NAME",
          "gpu, twin: preconditioner of the conjugate gradients: jacobi (default), clusters (of 16 nodes), rigid (clusters, and "
          "the rigid motions of parts: for stiff bodies)" },
        { 0, "iterations", ABUT_OPT_TEXT, &o.iterations, "N",
          "pd, mass-springs, admm-pd: iterations of each step (default 10), or as many as "
          "it takes to be 'converged'" },
        { 0, "contact", ABUT_OPT_TEXT, &o.contact, "WHAT",
          "likewise: what becomes of contact, which they do not prevent: ignore, or springs" },
        { 0, "history", ABUT_OPT_INT, &o.history, "N", "lbfgs-*: iterations that they remember (default 5)" },
        { 0, "parts", ABUT_OPT_INT, &o.parts, "N",
          "dot, lbfgs-jh: subdomains (default: dot takes the partition of decompose if there is "
          "one, else one part for about 250 nodes; lbfgs-jh one for 1500)" },
        { 0, "levels", ABUT_OPT_INT, &o.levels, "N",
          "dot: 2 (default): with the rigid motions of its subdomains as a coarse space; 1: without, as published" },
        { 0, "stop", ABUT_OPT_TEXT, &o.stop, "RULE",
          "newton (default): when no Newton direction would move a node faster than the tolerance, what is left after it is not "
          "much more, and forces balance; published: the first of that alone; "
          "cn: when the characteristic norm of the gradient is below it, for comparing solvers without contact" },
        { 0, "tolerance", ABUT_OPT_REAL, &o.tolerance, "X",
          "of that rule: m/s for newton (default: the scene's), a number for cn (default 1e-5)" },
        { 0, "force-tolerance", ABUT_OPT_REAL, &o.force_tolerance, "X",
          "newton: what may be left of the forces on a body, as a share of the largest on any (default: the scene's)" },
        { 0, "without", ABUT_OPT_TEXT, &o.without_text, "LIST",
          "switches features of the solver off, comma separated, to see what each is worth: look-ahead, second-order, lengthen, "
          "reuse, warm-start, majorant, beyond (formats/REPORT.md)" },
        { 0, "lags", ABUT_OPT_TEXT, &o.max_lags, "N",
          "friction lag iterations per step at most, or as many as it takes to be 'converged' "
          "(default: the scene's)" },
        { 0, "one-pass", ABUT_OPT_FLAG, &o.one_pass, NULL, "solve once and leave the step PENDING for friction-lag" },
        { 0, "report", ABUT_OPT_TEXT, &o.report, "FILE", "one line of JSON for every step" },
        { 0, "max-newton", ABUT_OPT_INT, &o.max_newton, "N", "Newton iterations before giving up (default 10000)" },
        { 0, "dump-stuck", ABUT_OPT_TEXT, &o.dump_stuck, "FILE",
          "if a step has to be given up, write a stream that holds the "
          "frame before and the stuck iterate: step goes on from it" },
        { 0, "blas-threads", ABUT_OPT_INT, &o.blas_threads, "N",
          "threads of the factorisation (default: -j); the bytes "
          "are the same for any number" },
        { 0 }
    };
    abut_cli cli;
    abut_cli_begin(&cli, argc, argv, "Advances the state by implicit time steps without intersections.", "[FILE]", opts,
                   ABUT_CLI_IN | ABUT_CLI_OUT);
    run r = { 0 };
    abut_err err = { 0 };
    if (!check_options(&o, &cli, &err)) {
        if (o.report && !(r.report = fopen(o.report, "w")))
            abut_fail(&err, ABUT_E_IO, "%s: %s", o.report, strerror(errno));
        else if (work(&r, &o, &cli, &err) == ABUT_OK)
            err = (abut_err){ 0 };
    }
    if (r.report && fclose(r.report) && !err.code) abut_fail(&err, ABUT_E_IO, "%s: %s", o.report, strerror(errno));
    abut_stepper_clear(&r.stepper);
    abut_lg_clear(&r.local);
    abut_last_clear(&r.now);
    abut_arrays_clear(&r.next);
    abut_stream_clear(&r.s);
    return abut_cli_end(&cli, 0, &err);
}
