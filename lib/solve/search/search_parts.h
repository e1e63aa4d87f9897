/* What the files of the minimiser share: search.c finds how far a direction may be followed and where the objective falls on
 * it, turn.c corrects steps that turn shells and rods, scripted.c carries prescribed nodes,
 * coast.c starts a step, newton.c iterates.
 *
 * Trial points are s->xt with s->yt; the contacts there are s->trial, found among s->cand, those of the last sweep: they must
 * lie on its line.  Whatever the objective does not exist at counts as infinite.  While a device serves (solve/device/device.h),
 * all of these are there, and the functions below act on them there. */
#ifndef ABUT_SOLVE_SEARCH_SEARCH_PARTS_H
#define ABUT_SOLVE_SEARCH_SEARCH_PARTS_H

#include "contact/impacts.h"
#include "solve/search/minimise.h"

/** |s->p|_inf / h, m/s; infinite when s->p is not finite. */
double abut_newton_speed(const abut_solver *s);

/* ---- search.c ---- */

/** Contacts at s->x, s->y among the candidates of the way from there to y1[3 nc] (NULL: of s->x alone). */
ABUT_MUST_USE abut_status abut_search_contacts(abut_solver *s, const double *y1, abut_report *rep, abut_err *err);

/** s->cand for the line from s->x to s->x + alpha s->p. */
ABUT_MUST_USE abut_status abut_search_candidates(abut_solver *s, double alpha, abut_report *rep, abut_err *err);

/** As abut_solver_bound, of which it is the whole: the share `first` of s->p is swept first, which may save sweeping it all;
 * *reached (NULL to skip): the share that s->cand is for. */
ABUT_MUST_USE abut_status abut_search_bound(abut_solver *s, double first, double most, abut_limit *lim, double *reached,
                                            abut_report *rep, abut_err *err);

/** The first sweep that the last direction, and what bounded it, suggest for one of this speed, m/s. */
double abut_search_first(const abut_solver *s, double speed);
/** The one that a bound suggests for a direction that takes it into account. */
double abut_search_further(const abut_limit *lim);

/** The longest step along s->p, whose speed is given: without inertia a body that nothing holds goes as far as it is let, one
 * length of the scene at a time. */
double abut_search_longest(const abut_solver *s, double speed);

/** s->xt = s->x + alpha s->p. */
void abut_search_point(abut_solver *s, double alpha);

/** Energy at the trial point; *sum is its sum. */
ABUT_MUST_USE abut_status abut_search_energy(abut_solver *s, abut_energy *e, double *sum, abut_report *rep, abut_err *err);

/** The same at s->x + alpha s->p, which becomes the trial point; counted in *it and the report. */
ABUT_MUST_USE abut_status abut_search_try(abut_solver *s, double alpha, abut_energy *e, double *sum, abut_iteration *it,
                                          abut_report *rep, abut_err *err);

/** Backtracking from the bound until the objective does not grow beyond rounding; *now: its terms here, then there.
 * *moved 0: no such step. */
ABUT_MUST_USE abut_status abut_search_backtrack(abut_solver *s, double bound, abut_energy *now, abut_iteration *it, int *moved,
                                                abut_report *rep, abut_err *err);

/** Exchanges the trial point, with its contacts, and the one that is kept. */
void abut_search_keep(abut_solver *s);

/** After a step from the objective `start` as far as a bound of a shell allows: halves it while that lowers the objective.
 * Barriers there are so soft that near a bound, where they have long turned the slope, the objective is still below its start;
 * steps that stop at the bound again and again would end in it.  Not tried where the decrease is as large as that of an
 * objective that still falls there. */
ABUT_MUST_USE abut_status abut_search_draw_back(abut_solver *s, double start, abut_energy *now, abut_iteration *it,
                                                abut_report *rep, abut_err *err);

/** -s->g . s->p: how fast the objective falls along s->p. */
double abut_search_slope(const abut_solver *s);

/** The curvature along s->p as a full step from the objective `start` has shown it, over that of the matrix; 1 when the
 * objective's rounding hides it.  slope: abut_search_slope. */
double abut_search_curvature(const abut_solver *s, double slope, double start, const abut_energy *reached);

/** After a full step from the objective `start`: makes s->p longer when its curvature says that it was too short. */
ABUT_MUST_USE abut_status abut_search_lengthen(abut_solver *s, double start, abut_energy *now, abut_iteration *it,
                                               abut_report *rep, abut_err *err);

/** The trial point becomes the iterate. */
ABUT_MUST_USE abut_status abut_search_accept(abut_solver *s, abut_err *err);

/** The next direction shall be exact. */
void abut_search_require_exact(abut_solver *s);

/** The iterate joins the path of the step. */
ABUT_MUST_USE abut_status abut_search_record(abut_solver *s, abut_err *err);

/* ---- turn.c ---- */

ABUT_MUST_USE abut_status abut_turn_init(struct abut_turn *turn, const abut_model *model, abut_err *err);
void abut_turn_clear(struct abut_turn *turn);

/** Whether there are shells or rods, and a direction whose matrix can be used again. */
int abut_turn_serves(const abut_solver *s);

/** As abut_search_backtrack, with steps corrected where turns stretch, which may go further than a bound of a shell lets the
 * straight one: s->turn.taken says whether the one that was found is, s->turn.meant where it would have led. */
ABUT_MUST_USE abut_status abut_turn_search(abut_solver *s, double bound, abut_energy *now, abut_iteration *it, int *moved,
                                           abut_report *rep, abut_err *err);

/** As abut_search_lengthen, after abut_turn_search; the longer step is corrected, too. */
ABUT_MUST_USE abut_status abut_turn_lengthen(abut_solver *s, double start, abut_energy *now, abut_iteration *it,
                                             abut_report *rep, abut_err *err);

/* ---- scripted.c ---- */

/** Prescribed nodes are no longer pushed, but stay where they are. */
void abut_script_stop(abut_solver *s);

enum { ABUT_SCRIPT_DONE, ABUT_SCRIPT_WAITS, ABUT_SCRIPT_BLOCKED };

/** One update of the augmented Lagrangian after an iteration (Li 2020, App. E, which waits for a residual of 1e-2 l per second:
 * that depends on the unit of time, so here the scripted speed is the measure).  *script: ABUT_SCRIPT_WAITS while targets are
 * out of reach, ABUT_SCRIPT_BLOCKED when they will stay so. */
ABUT_MUST_USE abut_status abut_script_update(abut_solver *s, double residual, int *script, abut_report *rep, abut_err *err);

#endif
