/* The objective (solve/objective.h) by its names of before, for those who still use them. */
#ifndef ABUT_SOLVE_PROBLEM_H
#define ABUT_SOLVE_PROBLEM_H

#include "energy/barrier_term.h"
#include "energy/codim_term.h"
#include "energy/damping.h"
#include "energy/elastic.h"
#include "energy/friction_term.h"
#include "energy/prescribed.h"
#include "energy/pressure.h"
#include "energy/spring.h"
#include "solve/objective.h"

typedef abut_objective abut_problem;
enum { ABUT_TERM_ALL = ABUT_KINDS_ALL, ABUT_TERM_SMOOTH = ABUT_KINDS_SMOOTH, ABUT_TERM_BARRIER = 1 << ABUT_TERM_CONTACT };

#define abut_problem_init abut_objective_init
#define abut_problem_clear abut_objective_clear
#define abut_problem_tet abut_objective_tet
#define abut_problem_number abut_objective_number
#define abut_problem_potential abut_objective_potential
#define abut_problem_diagonal abut_objective_diagonal

static inline double abut_energy_sum(const abut_energy *e) { return e->sum; }
static inline double abut_energy_noise(const abut_problem *p, const abut_energy *e) { return (void)p, e->noise; }
static inline const double *abut_problem_elastic_point(const abut_problem *p, const double *x)
{
    return abut_objective_at(p, x, NULL, NULL).z;
}
static inline abut_stiction abut_problem_stiction(const abut_problem *p) { return abut_stiction_of(p->model, &p->step); }
static inline abut_status abut_problem_energy(const abut_problem *p, const double *x, const double *y, const abut_pairs *pairs,
                                              abut_energy *e, abut_arena *scratch, abut_err *err)
{
    const abut_at at = abut_objective_at(p, x, y, pairs);
    return abut_objective_energy(p, &at, e, scratch, err);
}
static inline abut_status abut_problem_gradient(const abut_problem *p, const double *x, const double *y, const abut_pairs *pairs,
                                                int kinds, double *g, abut_arena *scratch, abut_err *err)
{
    const abut_at at = abut_objective_at(p, x, y, pairs);
    return abut_objective_gradient(p, &at, kinds, g, scratch, err);
}
static inline abut_status abut_problem_potential_gradient(const abut_problem *p, const double *x, double scale, double *g,
                                                          abut_arena *scratch, abut_err *err)
{
    const abut_at at = abut_objective_at(p, x, NULL, NULL);
    return abut_objective_potential_gradient(p, &at, scale, g, scratch, err);
}
static inline abut_status abut_problem_kappa(const abut_problem *p, const double *x, const double *y, const abut_pairs *pairs,
                                             double *kappa, abut_arena *scratch, abut_err *err)
{
    const abut_at at = abut_objective_at(p, x, y, pairs);
    return abut_objective_kappa(p, &at, kappa, scratch, err);
}

#endif
