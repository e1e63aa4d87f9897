/* The methods of solve/local_global/local_global.h, and each as a stepper. */
#include "solve/local_global/local_global.h"
#include "base/words.h"

#include <stdlib.h>

/* ---- the methods ---- */

static abut_status only_springs(const abut_model *m, abut_err *err)
{
    if (!m->nt && !m->nsh && !m->nrd) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT,
                     "the model has %d tet%s, %d shell%s and %d rod%s, expected springs and attachments alone (pd takes all)",
                     m->nt, abut_s(m->nt), m->nsh, abut_s(m->nsh), m->nrd, abut_s(m->nrd));
}

static abut_status no_shells(const abut_model *m, abut_err *err)
{
    if (!m->nsh && !m->nrd && !m->mat_fibre) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT, "shells, rods or fibres, expected tets and springs without them");
}

static abut_status admm_init(abut_local_global *s, abut_err *err)
{
    const double *fit = s->how.user->quasi.fit;
    return abut_admm_init(&s->split.admm, &s->objective, fit[0], fit[1], err);
}

static abut_status admm_start(abut_local_global *s, abut_report *rep, abut_err *err)
{
    (void)rep, (void)err;
    abut_admm_start(&s->split.admm, &s->objective, s->x);
    return ABUT_OK;
}

static abut_status admm_step(abut_local_global *s, abut_report *rep, abut_err *err)
{
    (void)rep;
    return abut_admm_step(&s->split.admm, &s->objective, s->x, s->dx, &s->scratch, err);
}

static abut_status consensus_init(abut_local_global *s, abut_err *err)
{
    const abut_solve_options *o = s->how.user;
    const char *name = s->how.method->name;
    abut_partition cut = { 0 };
    if (o->real_time.contact == ABUT_CONTACT_BY_SPRINGS)
        return abut_fail(err, ABUT_E_ARG, "solver %s: its parts have no springs of collisions, expected --contact ignore", name);
    const int given = o->names && !o->quasi.parts;
    abut_status rc = given ? abut_partition_view(o->names, s->objective.model->nt, &cut, err) : ABUT_OK;
    if (rc) return rc;
    rc = abut_consensus_new(&s->split.parts, &s->objective, &cut, o->quasi.parts, err);
    return rc ? abut_wrap(err, "solver %s", name), rc : ABUT_OK;
}

static abut_status consensus_start(abut_local_global *s, abut_report *rep, abut_err *err)
{
    return abut_consensus_start(s->split.parts, &s->objective, s->x, rep, err);
}

static abut_status consensus_step(abut_local_global *s, abut_report *rep, abut_err *err)
{
    return abut_consensus_step(s->split.parts, &s->objective, s->x, s->dx, rep, &s->scratch, err);
}

const abut_lg_method abut_lg_projective = { .name = "pd" };
const abut_lg_method abut_lg_springs = { .name = "mass-springs", .check = only_springs };
const abut_lg_method abut_lg_admm = { "admm-pd", no_shells, admm_init, admm_start, admm_step, 0 };
const abut_lg_method abut_lg_consensus = { "admm-dd", NULL, consensus_init, consensus_start, consensus_step, 1 };

/* ---- as steppers ---- */

/* An instance; the solver comes first. */
typedef struct local {
    abut_local_global solver;
    abut_model model;       /* as the options change it */
} local;

static abut_status make(void **self, const abut_model *m, const abut_solve_options *o, const abut_lg_method *method,
                        abut_err *err)
{
    local *l = calloc(1, sizeof *l);
    if (!l) return abut_fail(err, ABUT_E_NOMEM, "solver %s", method->name);
    abut_solve_view(&l->model, m, o);
    const abut_status rc = abut_lg_init(&l->solver, &l->model, method, o, err);
    if (rc) free(l);
    else *self = l;
    return rc;
}

static abut_status make_projective(void **self, const abut_model *m, const struct abut_solver_row *row,
                                   const abut_solve_options *o, abut_err *err)
{
    (void)row;
    return make(self, m, o, &abut_lg_projective, err);
}

static abut_status make_springs(void **self, const abut_model *m, const struct abut_solver_row *row, const abut_solve_options *o,
                                abut_err *err)
{
    (void)row;
    return make(self, m, o, &abut_lg_springs, err);
}

static abut_status make_admm(void **self, const abut_model *m, const struct abut_solver_row *row, const abut_solve_options *o,
                             abut_err *err)
{
    (void)row;
    return make(self, m, o, &abut_lg_admm, err);
}

static abut_status make_parts(void **self, const abut_model *m, const struct abut_solver_row *row, const abut_solve_options *o,
                              abut_err *err)
{
    (void)row;
    return make(self, m, o, &abut_lg_consensus, err);
}

static abut_status name_step(const abut_local_global *s, abut_status rc, abut_err *err)
{
    return rc ? abut_wrap(err, "step %lld (t = %g s)", (long long)s->at.step + 1, s->at.time), rc : ABUT_OK;
}

static abut_status begin(void *self, const abut_arrays *frame, abut_instant at, int *written, abut_report *rep, abut_err *err)
{
    abut_local_global *s = self;
    (void)written;
    s->at = at;
    return name_step(s, abut_lg_begin(s, frame, at, rep, err), err);
}

static abut_status solve(void *self, abut_report *rep, abut_err *err)
{
    return name_step(self, abut_lg_solve(self, rep, err), err);
}

static abut_status commit(void *self, const abut_arrays *carry, int record, abut_arrays *out, abut_instant *at, abut_report *rep,
                          abut_err *err)
{
    abut_local_global *s = self;
    (void)record;
    abut_status rc = abut_lg_put_frame(s, carry, out, err);
    if (!rc) rc = abut_lg_report(s, rep, err);
    if (rc) return name_step(s, rc, err);
    *at = abut_instant_next(s->at, s->objective.model->h[0]);
    rep->step = at->step;
    rep->time = at->time;
    return ABUT_OK;
}

static void free_it(void *self)
{
    abut_lg_clear(self);
    free(self);
}

#define OPERATIONS .begin = begin, .solve = solve, .commit = commit, .free = free_it
const abut_stepper_ops abut_pd_stepper_ops = { .make = make_projective, OPERATIONS };
const abut_stepper_ops abut_mass_springs_stepper_ops = { .make = make_springs, OPERATIONS };
const abut_stepper_ops abut_admm_stepper_ops = { .make = make_admm, OPERATIONS };
const abut_stepper_ops abut_admm_dd_stepper_ops = { .make = make_parts, OPERATIONS };
