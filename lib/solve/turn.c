/* A direction that turns thin elements, stiff rods above all, stretches them by the square of the turn, and a search that must
 * not let the objective rise would take a small part of every turn.  That stretch is taken back by a second solution with the
 * same factor, whose right-hand side is made of the excess after the step and the elements as they are before it (a second-order
 * correction: Nocedal and Wright 2006, 18.3).  The step is then straight again, from here to the corrected point, and bounded
 * and judged like any other. */

#include "solve/newton_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORTH_CORRECTING 0.1    /* of the decrease that the quadratic model promises: what turns cost */
#define CORRECTIONS 3           /* of one step at most, each by what is left of the one before */

abut_status abut_turn_init(struct abut_turn *turn, const abut_model *model, abut_err *err)
{
    const size_t bytes = 3 * (size_t)model->nv * sizeof(double);
    double **field[] = { &turn->meant, &turn->p, &turn->q, &turn->g };
    if (!model->nrd && !model->nsh) return ABUT_OK;
    for (int i = 0; i < 4; i++)
        if (!(*field[i] = malloc(bytes))) return abut_fail(err, ABUT_E_NOMEM, "step: %d nodes", model->nv);
    return ABUT_OK;
}

void abut_turn_clear(struct abut_turn *turn)
{
    free(turn->meant);
    free(turn->p);
    free(turn->q);
    free(turn->g);
    *turn = (struct abut_turn){ 0 };
}

int abut_turn_serves(const abut_solver *s)
{
    return s->turn.p && !s->turn.off && s->dir.method <= ABUT_SOLVE_CG;
}

/* What the turns of the step turn->p cost, and in turn->g what takes them back. */
static abut_status cost(abut_solver *s, double *costs, abut_err *err)
{
    struct abut_turn *turn = &s->turn;
    memset(turn->g, 0, 3 * (size_t)s->prob.model->nv * sizeof *turn->g);
    return abut_problem_turn(&s->prob, s->x, turn->p, turn->meant, s->dir.thin_H, turn->g, costs, &s->scratch, err);
}

/* Corrects turn->p until its turns cost less than `enough`, *costs. */
static abut_status correct(abut_solver *s, double enough, double *costs, abut_report *rep, abut_err *err)
{
    struct abut_turn *turn = &s->turn;
    abut_status rc = ABUT_OK;
    for (int k = 0; k < CORRECTIONS && *costs > enough && !rc; k++) {
        rc = abut_direction_again(&s->dir, &s->prob, turn->g, turn->q, rep, err);
        if (rc) return rc;
        for (size_t i = 0; i < 3 * (size_t)s->prob.model->nv; i++) turn->p[i] += turn->q[i];
        rc = cost(s, costs, err);
    }
    return rc;
}

static void swap(double **a, double **b)
{
    double *c = *a;
    *a = *b;
    *b = c;
}

/* Tries turn->p as far as it is free. */
static abut_status go_there(abut_solver *s, double *share, abut_energy *e, double *sum, abut_iteration *it, abut_report *rep,
                            abut_err *err)
{
    abut_limit lim;
    *sum = INFINITY;
    swap(&s->p, &s->turn.p);
    abut_status rc = abut_search_bound(s, 1, 1, &lim, rep, err);
    *share = lim.alpha;
    if (rc == ABUT_E_GEOM) rc = ABUT_OK;    /* a gap too small to move along this one */
    else if (!rc) rc = abut_search_try(s, lim.alpha, e, sum, it, rep, err);
    swap(&s->p, &s->turn.p);
    return rc;
}

abut_status abut_turn_search(abut_solver *s, double bound, abut_energy *now, abut_iteration *it, int *moved, abut_report *rep,
                             abut_err *err)
{
    struct abut_turn *turn = &s->turn;
    const size_t n3 = 3 * (size_t)s->prob.model->nv;
    const double start = abut_energy_sum(now), noise = abut_energy_noise(&s->prob, now);
    double slope = 0, share = 1, sum;
    abut_energy e;
    *moved = turn->taken = 0;
    for (size_t i = 0; i < n3; i++) slope -= s->g[i] * s->p[i];
    for (double alpha = bound; alpha > bound * 0x1p-60; alpha /= 2) {
        for (size_t i = 0; i < n3; i++) turn->p[i] = turn->meant[i] = alpha * s->p[i];
        const double promised = alpha * (1 - 0.5 * alpha) * slope;
        const double enough = fmax(WORTH_CORRECTING * promised, noise);
        double costs;
        abut_status rc = cost(s, &costs, err);
        turn->taken = costs > enough;
        if (!rc && turn->taken) rc = correct(s, enough, &costs, rep, err);
        if (!rc && turn->taken && !(costs < promised)) continue;    /* turned too far to be taken back */
        if (!rc && (turn->taken || alpha < bound)) rc = go_there(s, &share, &e, &sum, it, rep, err);
        else if (!rc) rc = abut_search_try(s, alpha, &e, &sum, it, rep, err);
        if (rc) return rc;
        if (sum <= start + noise) {
            it->alpha = alpha * share;
            for (size_t i = 0; i < n3; i++) turn->meant[i] = s->x[i] + share * turn->meant[i];
            *moved = 1;
            *now = e;
            return ABUT_OK;
        }
    }
    return ABUT_OK;
}
