/* Operations of a search on positions: on the processor, or on a device that has them (solve/device/parts.h).
 *
 * The search itself keeps the numbers of its points here, trial and kept (energies, sum, noise, `has`); a device may have their
 * positions.  Operations of one side alone are NULL on the other. */
#ifndef ABUT_SOLVE_SEARCH_SEARCH_OPS_H
#define ABUT_SOLVE_SEARCH_SEARCH_OPS_H

#include "solve/search/minimise.h"

typedef struct abut_search_ops {
    struct abut_place_ops {     /* a device; NULL on the processor */
        /** Opens the device of s->opt, s->device.  Fails  ABUT_E_FORMAT the model has something that it cannot do (names it);
         * ABUT_E_ARG, ABUT_E_IO no such device; ABUT_E_NOMEM */
        abut_status (*open)(abut_search *s, abut_err *err);
        void (*close)(abut_search *s);      /* before the search frees its arrays */
        /** Takes the step, the iterate, and v[3 nv] of the warm start (NULL: none), without contacts. */
        abut_status (*enter)(abut_search *s, const double *v, abut_err *err);
        /** Copies the iterate into the arrays of s->here, and the positions of the trial point into s->trial.x. */
        abut_status (*fetch)(abut_search *s, abut_err *err);
        /** Fetches both, writes the times of the device into the report, and returns the search to the processor. */
        abut_status (*leave)(abut_search *s, abut_report *rep, abut_err *err);
    } place;
    struct abut_points_ops {
        /** Finds the contacts of here among the candidates at it (along 0), or on the line to trial = here + p. */
        abut_status (*contacts)(abut_search *s, int along, abut_report *rep, abut_err *err);
        size_t (*count)(const abut_search *s);      /* contacts of here */
        abut_status (*kappa)(abut_search *s, int keep, abut_err *err);      /* abut_search_kappa */
        /** Computes missing values at here or trial; the contacts of trial are found among the candidates of the last sweep. */
        abut_status (*evaluate)(abut_search *s, abut_point *at, unsigned what, abut_report *rep, abut_err *err);
        void (*try_at)(abut_search *s, double alpha);               /* trial = here + alpha p */
        void (*exchange)(abut_search *s, const abut_point *with);   /* positions of trial and another point; or NULL */
        abut_status (*accepted)(abut_search *s, abut_err *err);     /* trial has become here; or NULL */
        abut_status (*record)(abut_search *s, abut_err *err);       /* here joins the path of the step */
        /** Stiffens the terms that the step from trial to here led close to their bounds, which changes the objective. */
        abut_status (*stiffen)(abut_search *s, abut_err *err);
    } points;
    struct abut_aim_ops {       /* the direction p at here, which has contacts and gradient */
        /** Finds p and s->aim.  Fails  ABUT_E_NUMERIC, with kind, node and guessed of s->failed */
        abut_status (*find)(abut_search *s, abut_report *rep, abut_err *err);
        abut_status (*find_newton)(abut_search *s, abut_report *rep, abut_err *err);    /* Newton's, in any method */
        void (*require_exact)(abut_search *s);      /* the next one shall be; or NULL: it is without majorants */
        /** *speed, m/s: of the direction by the last matrix for the gradient at here; 0: unknown. */
        abut_status (*next_speed)(abut_search *s, double *speed, abut_report *rep, abut_err *err);
        /* Forecasts of the terms (energy/term.h): they start at here; alpha of the direction leads from here to `led`, on a
         * device to trial. */
        abut_status (*forecast_start)(abut_search *s, abut_err *err);
        abut_status (*forecast_step)(abut_search *s, const double *led, double alpha, abut_err *err);
        double (*slope)(const abut_search *s);      /* -g . p: slope by which the objective falls along p */
        /** Slopes by which the objective falls along the line from here to trial, at both. */
        abut_status (*slopes)(abut_search *s, double *here, double *trial, abut_report *rep, abut_err *err);
        void (*scale)(abut_search *s, double by);   /* p */
        int32_t (*fastest)(const abut_search *s);   /* the node that p moves furthest */
    } aim;
    struct abut_correct_ops {   /* second-order corrections; NULL on a device */
        int (*can)(const abut_search *s);
        /** q[3 nv] = -H^-1 g with the matrix of the last direction. */
        abut_status (*resolve)(abut_search *s, const double *g, double *q, abut_report *rep, abut_err *err);
        /** abut_objective_correction of the displacement d for linear_step, both [3 nv]. */
        abut_status (*excess)(abut_search *s, const double *d, const double *linear_step, double *g, double *cost, abut_err *err);
    } correct;
    struct abut_bound_ops {     /* they lower lim->alpha */
        abut_status (*limits)(abut_search *s, abut_limit *lim, abut_report *rep, abut_err *err);  /* all but of mesh pairs */
        abut_status (*candidates)(abut_search *s, double fraction, abut_report *rep, abut_err *err);    /* on this part of p */
        /** Bound of mesh pairs among these candidates, as a fraction of that fraction. */
        abut_status (*ccd)(abut_search *s, abut_limit *lim, abut_report *rep, abut_err *err);
        /** Takes the contacts that bound s->p, among the candidates of the last sweep, into the matrix of the next direction
         * (energy/barrier.h); NULL on a device. */
        abut_status (*block)(abut_search *s, const abut_limit *lim, abut_err *err);
        double (*motion)(const abut_search *s);     /* m: how far the fastest vertex goes from here to trial; NULL on a device */
    } bound;
    struct abut_start_ops {     /* of a step (minimise.c); v[3 nv] as enter got it */
        /** trial: prescribed nodes at their targets, the others at x + fraction h v. */
        void (*warm)(abut_search *s, const double *v, double fraction);
        void (*aim_at_trial)(abut_search *s);       /* p = trial - here, trial = here + p */
        /** *sum: the objective with prescribed nodes at their targets and free nodes unmoved; at_least: without barriers, which
         * are never negative.  Afterwards the candidates are those along p again. */
        abut_status (*staying)(abut_search *s, const double *v, int at_least, double *sum, abut_report *rep, abut_err *err);
        abut_status (*aim_at_targets)(abut_search *s, int *moves, abut_err *err);   /* p: prescribed nodes to their targets */
        abut_status (*move_held)(abut_search *s, double alpha, abut_err *err);      /* here: alpha along that p */
    } start;
} abut_search_ops;

extern const abut_search_ops abut_search_processor;

#endif
