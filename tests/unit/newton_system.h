/* Newton's equation of a stepper at its iterate, apart from the direction of its search: what tests of the matrix, of orderings
 * and of initial matrices share. */
#ifndef ABUT_TESTS_NEWTON_SYSTEM_H
#define ABUT_TESTS_NEWTON_SYSTEM_H

#include "solve/direction/newton.h"
#include "solve/search/minimise.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct newton_system {
    const abut_objective *p;
    abut_newton_matrix matrix;
    abut_newton_solve solve;
    abut_solve_options user;
} newton_system;

/** orders: 1 when the matrix is to be factored. */
static inline void newton_system_open(newton_system *n, const abut_objective *p, unsigned without, int orders)
{
    const abut_direction_options o = { .user = &n->user };
    abut_err err = { 0 };
    n->user = abut_solve_defaults;
    n->user.search.without = without;
    n->p = p;
    if (abut_newton_matrix_init(&n->matrix, p, without, &err) || abut_newton_solve_init(&n->solve, p, &o, orders, &err))
        printf("# %s\n", err.msg), abort();
}

static inline void newton_system_close(newton_system *n)
{
    abut_newton_solve_clear(&n->solve);
    abut_newton_matrix_clear(&n->matrix);
}

/** The matrix at the iterate of s. */
static inline abut_status newton_system_sum(newton_system *n, const abut_search *s, abut_report *rep, abut_err *err)
{
    return abut_newton_matrix_sum(&n->matrix, &n->solve.order, n->p, &s->here, rep, err);
}

/** p[3 nv] = -H^-1 s->here.g there. */
static inline abut_status newton_system_solve(newton_system *n, const abut_search *s, double *p, abut_report *rep, abut_err *err)
{
    abut_status rc = newton_system_sum(n, s, rep, err);
    abut_rows_gather(n->p, s->here.g, -1, n->solve.rhs);
    if (!rc) rc = abut_newton_solve_first(&n->solve, &n->matrix, n->p, rep, err);
    if (!rc) abut_rows_scatter(n->p, n->solve.sol, 1, p);
    return rc;
}

#endif
