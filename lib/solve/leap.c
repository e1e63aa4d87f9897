/* A direction that turns segments of a stiff rod stretches them by the square of the turn, which the next direction takes back.
 * Between the two the objective is higher, and a search that never lets it rise takes an eighth of every turn.  So a rise that
 * is one of the rods is let pass as long as the objective soon is lower than before it (Chamberlain et al. 1982); if it is not,
 * everything is as if nothing had happened, but for the time. */

#include "solve/newton_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* a leap has so many iterates at most, and lands at a bound on its last direction or so many halves of it */
#define LEAP_LONGEST 2
#define LEAP_TRIALS 3
#define LEAP_SHARE 0.9      /* of a rise of the objective that rods have when it is one to leap over */

abut_status abut_leap_init(struct abut_leap *leap, const abut_model *model, abut_err *err)
{
    const size_t bytes = 3 * (size_t)model->nv * sizeof(double);
    if (!model->nrd) return ABUT_OK;
    leap->x = malloc(bytes);
    leap->p = malloc(bytes);
    leap->tension = malloc((size_t)model->nrd * sizeof(double));
    if (leap->x && leap->p && leap->tension) return ABUT_OK;
    return abut_fail(err, ABUT_E_NOMEM, "step: %d nodes", model->nv);
}

void abut_leap_clear(struct abut_leap *leap)
{
    free(leap->x);
    free(leap->p);
    free(leap->tension);
    *leap = (struct abut_leap){ 0 };
}

static void leap_begin(abut_solver *s, const abut_energy *e)
{
    struct abut_leap *leap = &s->leap;
    const size_t bytes = 3 * (size_t)s->prob.model->nv * sizeof(double);
    memcpy(leap->x, s->x, bytes);
    memcpy(leap->p, s->p, bytes);
    memcpy(leap->tension, s->prob.tension, (size_t)s->prob.model->nrd * sizeof(double));
    leap->points = s->path.n;
    leap->e = *e;
}

abut_status abut_leap_back(abut_solver *s, abut_energy *e, abut_limit *lim, abut_report *rep, abut_err *err)
{
    struct abut_leap *leap = &s->leap;
    const size_t bytes = 3 * (size_t)s->prob.model->nv * sizeof(double);
    memcpy(s->x, leap->x, bytes);
    memcpy(s->p, leap->p, bytes);
    memcpy(s->prob.tension, leap->tension, (size_t)s->prob.model->nrd * sizeof(double));
    abut_path_cut(&s->path, leap->points);
    leap->length = 0;
    leap->vain = 1;
    *e = leap->e;
    const abut_status rc = abut_solver_contacts(s, rep, err);
    return rc ? rc : abut_search_bound(s, 1, abut_search_longest(s, abut_newton_speed(s)), lim, rep, err);
}

abut_status abut_leap_or_search(abut_solver *s, double bound, abut_energy *e, abut_iteration *it, int *moved, abut_report *rep,
                                abut_err *err)
{
    const struct abut_leap *leap = &s->leap;
    const double start = abut_energy_sum(e);
    if (!leap->x || leap->vain || !s->dir.exact || s->prob.al.on) return abut_search_backtrack(s, bound, e, it, moved, rep, err);
    abut_energy there;
    double sum;
    abut_status rc = abut_search_try(s, bound, &there, &sum, it, rep, err);
    if (rc) return rc;
    const double rise = sum - start;
    *moved = 1;
    if (rise <= abut_energy_noise(&s->prob, e)) {
        *e = there;
    } else if (isfinite(sum) && there.thin - e->thin > LEAP_SHARE * rise) {
        leap_begin(s, e);
        s->leap.length = 1;
        *e = there;
    } else {
        rc = abut_search_backtrack(s, bound / 2, e, it, moved, rep, err);
    }
    return rc;
}

abut_status abut_leap_on(abut_solver *s, abut_limit *lim, abut_energy *e, abut_iteration *it, int *moved, abut_report *rep,
                         abut_err *err)
{
    const double start = abut_energy_sum(&s->leap.e);
    abut_energy there;
    double sum = INFINITY, alpha = lim->alpha;
    abut_status rc = ABUT_OK;
    *moved = 1;
    for (int k = 0; k < LEAP_TRIALS && !rc; k++, alpha /= 2) {
        rc = abut_search_try(s, alpha, &there, &sum, it, rep, err);
        if (!rc && sum <= start) {
            s->leap.length = 0;
            *e = there;
            return ABUT_OK;
        }
    }
    if (!rc && s->leap.length < LEAP_LONGEST) {
        rc = abut_search_try(s, lim->alpha, &there, &sum, it, rep, err);
        if (!rc && isfinite(sum)) {
            s->leap.length++;
            *e = there;
            return ABUT_OK;
        }
    }
    if (!rc) rc = abut_leap_back(s, e, lim, rep, err);
    return rc ? rc : abut_search_backtrack(s, lim->alpha / 2, e, it, moved, rep, err);
}
