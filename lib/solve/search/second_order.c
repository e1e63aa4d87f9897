/* A direction that turns thin elements, stiff rods above all, stretches them by the square of the turn, and a search that must
 * not let the objective rise would take a small part of every turn.  That stretch is taken back by a second solution with the
 * same factor, whose right-hand side is made of the excess after the step and the elements as they are before it (a second-order
 * correction: Nocedal and Wright 2006, 18.3).  The step is then straight again, from here to the corrected point, and bounded
 * and judged like any other.
 *
 * Bounds of shells, too, stop a direction for what its turns stretch, not for what it means: a sheet that swings would go a
 * third of its way, overstretched, and relax for the rest of the step.  Where a bound of a shell is what stops the straight
 * step, a longer one that is corrected until it is stretched as it was meant is tried first.  It is taken only if shells do not
 * bound it at all: one that ends halfway to a limit leads to directions that are bounded at a hundredth.
 *
 * What tips over is held by a matrix that does not know how little keeps it: after a full step that was too short the corrected
 * step of the length that suits its curvature is tried. */

#include "solve/search/search_parts.h"

#include "energy/codim_bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORTH_CORRECTING 0.1    /* of the decrease that the quadratic model promises: what turns cost */
#define CORRECTIONS 3           /* of one step at most, each by what is left of the one before */
#define MOST_LONGER 4.          /* times a full step that was too short */
#define OF_BOUND 0.5            /* of a bound on a step that is tried because a full one was too short */

/* steps beyond the bounds of shells */
#define AS_MEANT 1e-3           /* of the promised decrease that turns may cost in the end */
#define HOPELESS 1.             /* of it that they may cost before the first correction */
#define CONVERGES 0.5           /* what is left after a correction, at most */
#define LONG_CORRECTIONS 4
#define SHORTER 0.7             /* the next length to be tried */
#define WORTH_TRYING 1.5        /* times the straight step, or the full one */
#define LONGEST_WAIT 27

abut_status abut_turn_init(struct abut_turn *turn, const abut_model *model, abut_err *err)
{
    const size_t bytes = 3 * (size_t)model->nv * sizeof(double);
    double **field[] = { &turn->meant, &turn->p, &turn->full_meant, &turn->full, &turn->q, &turn->g };
    if (!model->nrd && !model->nsh) return ABUT_OK;
    for (int i = 0; i < 6; i++)
        if (!(*field[i] = malloc(bytes))) return abut_fail(err, ABUT_E_NOMEM, "step: %d nodes", model->nv);
    return ABUT_OK;
}

void abut_turn_clear(struct abut_turn *turn)
{
    free(turn->meant);
    free(turn->p);
    free(turn->full_meant);
    free(turn->full);
    free(turn->q);
    free(turn->g);
    *turn = (struct abut_turn){ 0 };
}

int abut_turn_serves(const abut_solver *s)
{
    const int wanted = s->turn.p && !(s->opt.without & ABUT_WITHOUT_SECOND_ORDER);
    return wanted && s->dir.ops->resolve && !abut_device_serves(s);
}

/* What the turns of the step turn->p cost, and in turn->g what takes them back. */
static abut_status cost(abut_solver *s, double *costs, abut_err *err)
{
    struct abut_turn *turn = &s->turn;
    memset(turn->g, 0, 3 * (size_t)s->prob.model->nv * sizeof *turn->g);
    const abut_at at = abut_objective_at(&s->prob, s->x, s->y, &s->pairs);
    return abut_objective_correction(&s->prob, &at, turn->p, turn->meant, turn->g, costs, &s->scratch, err);
}

/* One correction of turn->p; *costs: what is left of the cost. */
static abut_status correct_once(abut_solver *s, double *costs, abut_report *rep, abut_err *err)
{
    struct abut_turn *turn = &s->turn;
    const abut_status rc = s->dir.ops->resolve(s->dir.self, turn->g, turn->q, rep, err);
    if (rc) return rc;
    for (size_t i = 0; i < 3 * (size_t)s->prob.model->nv; i++) turn->p[i] += turn->q[i];
    return cost(s, costs, err);
}

/* Corrects turn->p until its turns cost less than `enough`, *costs. */
static abut_status correct(abut_solver *s, double enough, double *costs, abut_report *rep, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int k = 0; k < CORRECTIONS && *costs > enough && !rc; k++)
        rc = correct_once(s, costs, rep, err);
    return rc;
}

static void swap(double **a, double **b)
{
    double *c = *a;
    *a = *b;
    *b = c;
}

/* Tries turn->p as far as it is free, no more than `most` of it, or where it is bounded so much of the bound. */
static abut_status go_there(abut_solver *s, double most, double of_bound, double *share, abut_energy *e, double *sum,
                            abut_iteration *it, abut_report *rep, abut_err *err)
{
    abut_limit lim;
    *sum = INFINITY;
    swap(&s->p, &s->turn.p);
    abut_status rc = abut_search_bound(s, 1, most, &lim, NULL, rep, err);
    if (lim.alpha < 1) lim.alpha *= of_bound;
    *share = lim.alpha;
    if (rc == ABUT_E_GEOM) rc = ABUT_OK;    /* a gap too small to move along this one */
    else if (!rc) rc = abut_search_try(s, lim.alpha, e, sum, it, rep, err);
    swap(&s->p, &s->turn.p);
    return rc;
}

/* The share of the step of length alpha is taken; there the energy is *e. */
static void arrive(abut_solver *s, double alpha, double share, const abut_energy *e, abut_energy *now, abut_iteration *it,
                   int *moved)
{
    double *meant = s->turn.meant;
    it->alpha = alpha * share;
    for (size_t i = 0; i < 3 * (size_t)s->prob.model->nv; i++) meant[i] = s->x[i] + share * meant[i];
    *moved = 1;
    *now = *e;
}

/* Makes turn->p the step of length alpha, corrected until it is stretched as it was meant; *clear: it is, and shells do not
 * bound it. */
static abut_status bend(abut_solver *s, double alpha, double promised, double noise, int *clear, abut_report *rep,
                        abut_err *err)
{
    struct abut_turn *turn = &s->turn;
    const size_t n3 = 3 * (size_t)s->prob.model->nv;
    const double enough = fmax(AS_MEANT * promised, noise);
    double costs, before = HOPELESS * promised / CONVERGES;
    abut_limit lim = { .alpha = 1 };
    *clear = 0;
    for (size_t i = 0; i < n3; i++) turn->p[i] = turn->meant[i] = alpha * s->p[i];
    abut_status rc = cost(s, &costs, err);
    for (int k = 0; k < LONG_CORRECTIONS && !rc && costs > enough && costs < CONVERGES * before; k++) {
        before = costs;
        rc = correct_once(s, &costs, rep, err);
    }
    if (rc || costs > enough) return rc;
    abut_limit_stretch(abut_codim_of(&s->prob.terms), s->x, turn->p, ABUT_STRETCH_LEFT, &lim);
    *clear = lim.alpha == 1;
    return ABUT_OK;
}

/* Whether to try steps beyond the bounds of shells: after such that failed again only 1, 3, 9, 27 directions later, and not
 * while something touches, where other bounds follow (a sheet on a ball, limit 1.01: 27.6 iterations a step, not 25.4). */
static int is_due(struct abut_turn *turn, const abut_solver *s, double bound)
{
    if ((s->opt.without & ABUT_WITHOUT_BEYOND) || s->pairs.n + s->pairs.n_plane) return 0;
    if (s->failed.limit.kind != ABUT_LIMIT_STRETCH || WORTH_TRYING * bound > 1) return 0;
    return turn->wait ? turn->wait--, 0 : 1;
}

/* The longest corrected step that shells do not bound; *moved 0: none that is worth it, or none that lowers the objective. */
static abut_status search_beyond(abut_solver *s, double bound, double slope, abut_energy *now, abut_iteration *it, int *moved,
                                 abut_report *rep, abut_err *err)
{
    struct abut_turn *turn = &s->turn;
    const double start = abut_energy_sum(now), noise = abut_energy_noise(&s->prob, now);
    for (double alpha = abut_search_longest(s, it->residual); alpha >= WORTH_TRYING * bound; alpha *= SHORTER) {
        double share = 0, sum;
        abut_energy e;
        int clear;
        abut_status rc = bend(s, alpha, alpha * (1 - 0.5 * alpha) * slope, noise, &clear, rep, err);
        if (!rc && clear) rc = go_there(s, 1, 1, &share, &e, &sum, it, rep, err);
        if (rc) return rc;
        if (share * alpha > bound && sum <= start + noise) {
            arrive(s, alpha, share, &e, now, it, moved);
            turn->taken = 1;
            turn->wait = turn->patience = 0;
            return ABUT_OK;
        }
    }
    turn->wait = turn->patience = turn->patience ? (int)fmin(3 * turn->patience, LONGEST_WAIT) : 1;
    return ABUT_OK;
}

abut_status abut_turn_search(abut_solver *s, double bound, abut_energy *now, abut_iteration *it, int *moved, abut_report *rep,
                             abut_err *err)
{
    struct abut_turn *turn = &s->turn;
    const size_t n3 = 3 * (size_t)s->prob.model->nv;
    const double start = abut_energy_sum(now), noise = abut_energy_noise(&s->prob, now);
    const double slope = abut_search_slope(s);
    double share = 1, sum;
    abut_energy e;
    *moved = turn->taken = 0;
    if (is_due(turn, s, bound)) {
        abut_status rc = search_beyond(s, bound, slope, now, it, moved, rep, err);
        if (!rc && !*moved) rc = abut_search_candidates(s, bound, rep, err);    /* another line was the last one */
        if (rc || *moved) return rc;
    }
    for (double alpha = bound; alpha > bound * 0x1p-60; alpha /= 2) {
        for (size_t i = 0; i < n3; i++) turn->p[i] = turn->meant[i] = alpha * s->p[i];
        const double promised = alpha * (1 - 0.5 * alpha) * slope;
        const double enough = fmax(WORTH_CORRECTING * promised, noise);
        double costs;
        abut_status rc = cost(s, &costs, err);
        turn->taken = costs > enough;
        if (!rc && turn->taken) rc = correct(s, enough, &costs, rep, err);
        if (!rc && turn->taken && !(costs < promised)) continue;    /* turned too far to be taken back */
        if (!rc && (turn->taken || alpha < bound)) rc = go_there(s, 1, 1, &share, &e, &sum, it, rep, err);
        else if (!rc) rc = abut_search_try(s, alpha, &e, &sum, it, rep, err);
        if (rc) return rc;
        if (sum <= start + noise) {
            arrive(s, alpha, share, &e, now, it, moved);
            return ABUT_OK;
        }
    }
    return ABUT_OK;
}

/* The corrected step of so many times s->p in place of the full one: taken, and *longer, when the objective is lower there. */
static abut_status try_longer(abut_solver *s, double length, double slope, int *longer, abut_energy *now, abut_iteration *it,
                              abut_report *rep, abut_err *err)
{
    struct abut_turn *turn = &s->turn;
    const double promised = 0.5 * length * slope, enough = fmax(WORTH_CORRECTING * promised, abut_energy_noise(&s->prob, now));
    double costs, share = 0, sum = INFINITY;
    abut_energy e;
    *longer = 0;
    for (size_t i = 0; i < 3 * (size_t)s->prob.model->nv; i++) turn->p[i] = turn->meant[i] = length * s->p[i];
    abut_status rc = cost(s, &costs, err);
    if (!rc) rc = correct(s, enough, &costs, rep, err);
    if (!rc && costs < promised)
        rc = go_there(s, abut_search_longest(s, length * it->residual), OF_BOUND, &share, &e, &sum, it, rep, err);
    if (rc || share * length <= 1 || !(sum < abut_energy_sum(now))) return rc;
    arrive(s, length, share, &e, now, it, longer);
    return ABUT_OK;
}

abut_status abut_turn_lengthen(abut_solver *s, double start, abut_energy *now, abut_iteration *it, abut_report *rep,
                               abut_err *err)
{
    struct abut_turn *turn = &s->turn;
    const double slope = abut_search_slope(s);
    int longer;
    const double curvature = abut_search_curvature(s, slope, start, now);
    const double length = curvature * MOST_LONGER > 1 ? 1 / curvature : MOST_LONGER;
    if (length < WORTH_TRYING) return ABUT_OK;
    abut_search_keep(s);
    swap(&turn->p, &turn->full);
    swap(&turn->meant, &turn->full_meant);
    const abut_status rc = try_longer(s, length, slope, &longer, now, it, rep, err);
    if (longer) {
        turn->taken = 1;
        return ABUT_OK;
    }
    swap(&turn->p, &turn->full);
    swap(&turn->meant, &turn->full_meant);
    it->alpha = 1;
    abut_search_keep(s);
    return rc;
}
