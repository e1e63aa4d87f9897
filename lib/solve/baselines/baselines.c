#include "solve/baselines/baselines.h"

#include "solve/baselines/consensus.h"
#include "solve/baselines/sqp.h"
#include "solve/local_global/admm.h"
#include "solve/step/barrier_stepper.h"

#include <stdlib.h>

/* ---- ADMM on elements ---- */

static abut_status no_shells(const abut_model *m, abut_err *err)
{
    if (!m->nsh && !m->nrd && !m->mat_fibre) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT, "shells, rods or fibres, expected tets and springs without them");
}

static abut_status admm_init(abut_local_global *s, abut_err *err)
{
    const double *fit = s->how.user->quasi.fit;
    s->own = calloc(1, sizeof(abut_admm));
    if (!s->own) return abut_fail(err, ABUT_E_NOMEM, "solver %s", s->how.method->name);
    return abut_admm_init(s->own, &s->objective, fit[0], fit[1], err);
}

static abut_status admm_start(abut_local_global *s, abut_report *rep, abut_err *err)
{
    (void)rep, (void)err;
    abut_admm_start(s->own, &s->objective, s->x);
    return ABUT_OK;
}

static abut_status admm_step(abut_local_global *s, abut_report *rep, abut_err *err)
{
    (void)rep;
    return abut_admm_step(s->own, &s->objective, s->x, s->dx, &s->scratch, err);
}

static void admm_free(void *own)
{
    abut_admm_clear(own);
    free(own);
}

const abut_lg_method abut_lg_admm = { .name = "admm-pd", .check = no_shells, .init = admm_init, .start = admm_start,
                                      .local_step = admm_step, .free = admm_free };

/* ---- ADMM on subdomains ---- */

static abut_status consensus_init(abut_local_global *s, abut_err *err)
{
    const abut_solve_options *o = s->how.user;
    const char *name = s->how.method->name;
    abut_consensus *parts = NULL;
    abut_partition cut = { 0 };
    if (o->real_time.contact == ABUT_CONTACT_BY_SPRINGS)
        return abut_fail(err, ABUT_E_ARG, "solver %s: its parts have no springs of collisions, expected --contact ignore", name);
    const int given = o->names && !o->quasi.parts;
    abut_status rc = given ? abut_partition_view(o->names, s->objective.model->nt, &cut, err) : ABUT_OK;
    if (rc) return rc;
    rc = abut_consensus_new(&parts, &s->objective, &cut, o->quasi.parts, err);
    s->own = parts;
    return rc ? abut_wrap(err, "solver %s", name), rc : ABUT_OK;
}

static abut_status consensus_start(abut_local_global *s, abut_report *rep, abut_err *err)
{
    return abut_consensus_start(s->own, &s->objective, s->x, rep, err);
}

static abut_status consensus_step(abut_local_global *s, abut_report *rep, abut_err *err)
{
    return abut_consensus_step(s->own, &s->objective, s->x, s->dx, rep, &s->scratch, err);
}

static abut_linear_stats consensus_stats(const void *own) { return abut_consensus_stats(own); }

static void consensus_free(void *own)
{
    abut_consensus *parts = own;
    abut_consensus_free(&parts);
}

const abut_lg_method abut_lg_consensus = { .name = "admm-dd", .init = consensus_init, .start = consensus_start,
                                           .local_step = consensus_step, .whole = 1, .stats = consensus_stats,
                                           .free = consensus_free };

/* ---- the table ---- */

enum { BARRIER = ABUT_FOR_BARRIER | ABUT_FOR_HISTORY, INEQUALITIES = ABUT_FOR_INEQUALITIES | ABUT_FOR_FACTORS,
       REPEATS = ABUT_KEEPS_RESTART | ABUT_KEEPS_BITS };
#define INEQUALITIES_ROW .linear_can = ABUT_CAN_PRECONDITION, .stops = 1 << ABUT_STOP_NEWTON

const abut_solver_row abut_baseline_table[] = {
    { "lbfgs-jh", "preconditioners", "L-BFGS on diagonal blocks of the Hessian", ABUT_BARRIER_ROW,
      .direction = &abut_direction_lbfgs_jh, .options = BARRIER | ABUT_FOR_PARTS },
    { "lbfgs-ic", "preconditioners", "L-BFGS on an incomplete Cholesky factor of the Hessian", ABUT_BARRIER_ROW,
      .direction = &abut_direction_lbfgs_ic, .options = BARRIER },
    { "gradient", "preconditioners", "L-BFGS on the diagonal of the Hessian", ABUT_BARRIER_ROW,
      .direction = &abut_direction_gradient, .options = BARRIER },
    { "lbfgs-rest", "preconditioners", "L-BFGS on the Hessian at rest", ABUT_BARRIER_ROW,
      .direction = &abut_direction_lbfgs_rest, .options = BARRIER },
    { "lbfgs-warped", "preconditioners", "L-BFGS on the Hessian at rest, rotated with the nodes", ABUT_BARRIER_ROW,
      .direction = &abut_direction_lbfgs_warped, .options = BARRIER },
    { "lbfgs-id", "preconditioners", "L-BFGS on a multiple of the identity", ABUT_BARRIER_ROW,
      .direction = &abut_direction_lbfgs_id, .options = BARRIER | ABUT_FOR_FIT },
    { "sqp", "contact as inequalities",
      "sequential quadratic programming; frictionless, may intersect, stops if a program has no solution", INEQUALITIES_ROW,
      .stepper = &abut_sqp_stepper_ops, .promises = REPEATS | ABUT_KEEPS_CONVERGED, .options = INEQUALITIES | ABUT_FOR_PENALTY },
    { "qp", "contact as inequalities", "one quadratic program a step; frictionless, may intersect", INEQUALITIES_ROW,
      .stepper = &abut_qp_stepper_ops, .promises = REPEATS, .options = INEQUALITIES },
    { "admm-pd", "local/global methods", "ADMM on elements; does not prevent contact (--contact)", ABUT_CONSTANT_ROW,
      .method = &abut_lg_admm, .options = ABUT_FOR_CONSTANT | ABUT_FOR_FIT },
    { "admm-dd", "domain decomposition", "ADMM on the subdomains of dot; does not prevent contact (--contact)",
      ABUT_CONSTANT_ROW, .method = &abut_lg_consensus, .options = ABUT_FOR_CONSTANT | ABUT_FOR_PARTS },
    { 0 }
};
