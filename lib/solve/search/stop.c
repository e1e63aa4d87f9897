/* The stopping rules of solve/search/minimise.h, each a row of the table below. */
#include "solve/search/search_parts.h"

#include "base/par.h"
#include "base/timer.h"
#include "energy/characteristic.h"
#include "energy/friction_term.h"
#include "sparse/pcg.h"
#include "model/tets.h"
#include "solve/search/equilibrium.h"

#include <math.h>

/* exact directions in a row within rounding that do not halve the norm, after which it cannot be reached */
#define STALLED 30

static abut_status fetch(abut_search *s, abut_err *err)
{
    return s->ops->place.fetch ? s->ops->place.fetch(s, err) : ABUT_OK;
}

/* ---- Newton ---- */

/* *next: speed of the next direction by the last matrix, m/s; infinite if friction turned on the last step, which that matrix
 * does not contain. */
static abut_status find_next(abut_search *s, double *next, abut_report *rep, abut_err *err)
{
    const abut_lag *lag = abut_lag_of(&s->prob.terms);
    const double threshold = s->prob.w.eps_v * s->prob.w.h_force;
    abut_status rc = s->ops->points.evaluate(s, &s->here, ABUT_HAS_GRADIENT, rep, err);
    if (!rc && lag->n) rc = fetch(s, err);
    *next = INFINITY;
    if (rc || (s->failed.alpha > 0 && abut_friction_turns(lag, threshold, s->prob.still, s->here.x, s->trial.x))) return rc;
    return s->ops->aim.next_speed(s, next, rep, err);
}

/* Stops if the distance to the minimum is small and forces balance to the model's tolerance.  A stalled estimate of the distance
 * ends its test at once; stalled forces, only if rounding hides the progress of iterations. */
static abut_status newton_after(abut_search *s, double speed, int *stop, abut_report *rep, abut_err *err)
{
    const abut_model *m = s->prob.model;
    abut_progress *now = &s->progress;
    const int is_short = abut_rule_is_short(speed, m->tolerance[0]);
    double next;
    abut_equilibrium e;
    abut_status rc = find_next(s, &next, rep, err);
    if (rc) return rc;
    const double left = abut_rule_error(speed, next);
    const int idle = is_short && (abut_rule_stalls(&now->error, left) || now->stalled);
    *stop = abut_rule_near(left, m->tolerance[0], is_short && s->dir.ops->resolve) || idle;
    if (*stop && !is_short) s->failed.residual = rep->residual = next;
    if (!*stop || !m->force_tolerance) return ABUT_OK;
    rc = fetch(s, err);
    const double clock = abut_time_wall();
    if (!rc) rc = abut_equilibrium_find(&s->prob, &s->here, NULL, &e, NULL, &s->scratch, err);
    rep->seconds.gradient += abut_time_wall() - clock;
    if (rc) return rc;
    const int stalls = abut_rule_stalls(&now->forces, e.left) && now->stalled;
    *stop = abut_rule_balanced(e.left, e.largest, m->force_tolerance[0]) || stalls;
    s->failed.unbalanced = *stop ? 0 : e.left / e.largest;
    return ABUT_OK;
}

static abut_status published_after(abut_search *s, double speed, int *stop, abut_report *rep, abut_err *err)
{
    (void)s, (void)speed, (void)rep, (void)err;
    *stop = 1;
    return ABUT_OK;
}

/* ---- characteristic norm ---- */

/* Sets the scale of the norm in this step. */
static abut_status norm_begin(abut_search *s, abut_err *err)
{
    const abut_model *m = s->prob.model;
    const abut_status rc = abut_linear_tets(m, "characteristic norm", err);
    if (rc) return rc;
    const abut_mark mark = abut_arena_mark(&s->scratch);
    double *node = ABUT_ROOM(&s->scratch, double, m->nv + 1), *scale = &s->progress.characteristic;
    if (!node) return abut_fail(err, ABUT_E_NOMEM, "characteristic norm: %d nodes", m->nv);
    *scale = s->prob.w.psi * abut_characteristic_force(abut_elastic_of(&s->prob.terms), s->prob.held, node);
    abut_arena_release(&s->scratch, mark);
    if (*scale > 0) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT, "characteristic norm: the model has no tetrahedra that move to measure forces by");
}

static abut_status norm_at(abut_search *s, int *stop, abut_report *rep, abut_err *err)
{
    const size_t n3 = 3 * (size_t)s->prob.model->nv;
    const abut_status rc = fetch(s, err);
    if (rc) return rc;
    const abut_mark mark = abut_arena_mark(&s->scratch);
    double *part = ABUT_ROOM(&s->scratch, double, abut_blocks(n3) + 1);
    if (!part) return abut_fail(err, ABUT_E_NOMEM, "characteristic norm: %zu numbers", n3);
    s->failed.norm = rep->norm = sqrt(abut_dot(s->here.g, s->here.g, n3, part)) / s->progress.characteristic;
    abut_arena_release(&s->scratch, mark);
    *stop = rep->norm <= s->opt.stop.tolerance;
    return ABUT_OK;
}

/* ---- largest entry of the gradient ---- */

static abut_status gradient_at(abut_search *s, int *stop, abut_report *rep, abut_err *err)
{
    const abut_model *m = s->prob.model;
    const double newton = s->prob.w.h_force * s->prob.w.h_force;
    const abut_status rc = fetch(s, err);
    if (rc) return rc;
    s->failed.norm = rep->gradient = abut_largest(s->here.g, 3 * (size_t)m->nv) / (newton * m->length[0]);
    *stop = rep->gradient <= s->opt.stop.tolerance;
    return ABUT_OK;
}

static const abut_stop_rule rules[ABUT_STOPS] = {
    [ABUT_STOP_NEWTON] = { .name = "newton", .early = 1, .after_step = newton_after },
    [ABUT_STOP_PUBLISHED] = { .name = "published", .after_step = published_after },
    [ABUT_STOP_CHARACTERISTIC] = { .name = "characteristic", .norm = "characteristic norm", .unit = "", .patience = STALLED,
                                   .begin = norm_begin, .at_iterate = norm_at },
    [ABUT_STOP_GRADIENT] = { .name = "gradient", .norm = "gradient", .unit = " N/m", .patience = STALLED,
                             .at_iterate = gradient_at },
    [ABUT_STOP_STEP] = { .name = "step", .at_direction = 1 },
};

/* The rule of a fixed number of iterations. */
static const abut_stop_rule none = { .name = "iterations" };

const abut_stop_rule *abut_search_stop_rule(const abut_search *s)
{
    if (s->opt.stop.iterations) return &none;
    const int rule = s->opt.stop.rule;
    return &rules[rule == ABUT_STOP_NEWTON && s->pass.others_follow ? ABUT_STOP_PUBLISHED : rule];
}
