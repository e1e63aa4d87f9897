/* Decisions of a minimisation by numbers, and the table of the rules that stop it (solve/search/minimise.h). */
#include "solve/search/rules.h"

#include "base/par.h"
#include "base/timer.h"
#include "energy/friction.h"
#include "energy/elastic.h"
#include "model/tets.h"
#include "solve/search/equilibrium.h"
#include "solve/search/search_parts.h"
#include "sparse/pcg.h"

#include <math.h>

/* ---- decisions ---- */

#define LONGEST 8           /* times a direction that turns out too short */
#define MUCH_LONGER 4       /* least factor that lengthens a short direction */
#define CLEAR_OF_NOISE 1e3  /* times the rounding of the objective: least decrease that shows a curvature */
#define HALF_OF_DHAT (0.5 * (1 - 1e-9)) /* clear of the rounding of positions */
#define SHORTER 0.9         /* times the shortest direction before: progress */
#define BEYOND 0.8          /* of the slope at the start: 1 - 2 delta */
#define BLOCKED_GAIN 1e-6   /* of the scripted motion: less is nothing */

double abut_rule_ceiling(double start, double noise, double part, double alpha, double slope)
{
    return part > 0 ? start + noise - part * alpha * slope : start + noise;
}

int abut_rule_not_beyond(double from, double to) { return to >= -BEYOND * from; }

double abut_rule_cfl(double dhat, double alpha, double motion)
{
    return motion > 0 ? HALF_OF_DHAT * dhat * alpha / motion : INFINITY;
}

double abut_rule_error(double speed, double next)
{
    return next < speed ? next / (1 - next / speed) : next > 0 ? INFINITY : 0;
}

int abut_rule_near(double left, double tolerance, int shrinks)
{
    return left <= (shrinks ? ABUT_NEAR : 1. / ABUT_NEARER) * tolerance;
}

int abut_rule_may_be_last(double last, double speed, double tolerance)
{
    return speed < last && speed * (speed / last) <= tolerance;
}

int abut_rule_balanced(double left, double largest, double tolerance)
{
    return !(tolerance > 0) || left <= tolerance * largest;
}

int abut_rule_lets_go(double slid, double then, double threshold) { return slid < threshold && then >= threshold; }

int abut_rule_stalls(abut_rule_stall *s, double left)
{
    const int better = !(s->best > 0) || left < 0.5 * s->best;
    if (better) s->best = left;
    s->since = better ? 0 : s->since + 1;
    return s->since >= ABUT_STALL_ITERATIONS;
}

int abut_rule_is_short(double speed, double tolerance) { return speed <= tolerance; }

double abut_rule_curvature(double slope, double start, double reached, double noise)
{
    const double curvature = 2 * (reached - start + slope);
    return slope > CLEAR_OF_NOISE * noise ? curvature / slope : 1;
}

double abut_rule_length(double curvature, int is_short)
{
    double length = 1;
    while (length < LONGEST && 2 * length * curvature <= 1) length *= 2;
    return is_short && length < MUCH_LONGER ? 1 : length;
}

int abut_rule_is_due(abut_rule_wait *w) { return w->left ? w->left--, 0 : 1; }

void abut_rule_tried(abut_rule_wait *w, int good, int longest)
{
    if (good) w->patience = 0;
    else w->patience = w->patience ? (int)fmin(3 * w->patience, longest) : 1;
    w->left = w->patience;
}

int abut_rule_is_blocked(abut_rule_blocked *b, double fraction)
{
    if (fraction > b->fraction + BLOCKED_GAIN) *b = (abut_rule_blocked){ .fraction = fraction };
    else b->updates++;
    return b->updates >= ABUT_BLOCKED_UPDATES;
}

int abut_rule_stagnates(abut_rule_stagnation *s, double speed, double went, double fell, double noise)
{
    s->went += went;
    s->fell += fell;
    const int shorter = !(s->speed > 0) || speed < SHORTER * s->speed, falls = s->went >= 1 && s->fell > noise;
    if (shorter) s->speed = speed;
    if (shorter || falls) s->went = s->fell = s->since = 0;
    else s->since++;
    return s->since;
}

int abut_rule_patience(int most) { return most / 5 > ABUT_STAGNATION ? most / 5 : ABUT_STAGNATION; }

/* ---- stopping rules ---- */

/* exact directions in a row within rounding that do not halve the norm, after which it cannot be reached */
#define LONG_BALANCED 1e-3  /* of the largest force on a body, which forces lack at most if a long direction ends a step */
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
    const double asked = m->force_tolerance ? m->force_tolerance[0] : 0;
    *stop = abut_rule_near(left, m->tolerance[0], is_short && s->dir.ops->resolve) || idle;
    if (!*stop || (is_short && !(asked > 0))) return ABUT_OK;
    rc = fetch(s, err);
    const double clock = abut_time_wall();
    if (!rc) rc = abut_equilibrium_find(&s->prob, &s->here, NULL, &e, NULL, &s->scratch, err);
    rep->seconds.gradient += abut_time_wall() - clock;
    if (rc) return rc;
    if (!is_short) {
        *stop = abut_rule_balanced(e.left, e.largest, asked > 0 ? fmin(asked, LONG_BALANCED) : LONG_BALANCED);
        if (*stop) s->failed.residual = rep->residual = next;
        return ABUT_OK;
    }
    const int stalls = abut_rule_stalls(&now->forces, e.left) && now->stalled;
    *stop = abut_rule_balanced(e.left, e.largest, asked) || stalls;
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
    *stop = rep->norm <= abut_stop_norm(&s->opt->search);
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
    *stop = rep->gradient <= abut_stop_norm(&s->opt->search);
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
    if (abut_fixed_iterations(s->opt)) return &none;
    const int rule = s->opt->search.stop;
    return &rules[rule == ABUT_STOP_NEWTON && s->pass.others_follow ? ABUT_STOP_PUBLISHED : rule];
}
