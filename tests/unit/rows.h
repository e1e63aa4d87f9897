/* Rows of both tables of solvers, baselines after those to choose, and what they bring: each once, NULL at the end. */
#ifndef ABUT_TESTS_ROWS_H
#define ABUT_TESTS_ROWS_H

#include "solve/baselines/baselines.h"

enum { ROWS_MOST = 64 };

static inline const abut_solver_row *const *all_solvers(void)
{
    static const abut_solver_row *list[ROWS_MOST];
    int n = 0;
    for (int k = 0; abut_solver_tables[k]; k++)
        for (const abut_solver_row *r = abut_solver_tables[k]; r->name; r++) list[n++] = r;
    return list;
}

static inline const abut_direction_ops *const *all_directions(void)
{
    static const abut_direction_ops *list[ROWS_MOST];
    int n = 0;
    for (const abut_solver_row *const *r = all_solvers(); *r; r++) {
        int k = 0;
        while (k < n && list[k] != (*r)->direction) k++;
        if ((*r)->direction && k == n) list[n++] = (*r)->direction;
    }
    return list;
}

static inline const abut_barrier_hessian_ops *const *all_hessians(void)
{
    static const abut_barrier_hessian_ops *list[ROWS_MOST];
    int n = 0;
    for (int k = 0; abut_barrier_hessians[k]; k++) list[n++] = abut_barrier_hessians[k];
    for (int k = 0; abut_baseline_hessians[k]; k++) list[n++] = abut_baseline_hessians[k];
    return list;
}

#endif
