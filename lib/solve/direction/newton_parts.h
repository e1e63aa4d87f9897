/* What the files of Newton's direction share: direction_matrix.c sums the matrix from its elements, direction_order.c keeps its
 * pattern, the order of its unknowns and their analysis, direction_solve.c factors and solves, direction.c asks them.  All is of
 * one abut_direction and its problem (solve/direction/newton.h). */
#ifndef ABUT_SOLVE_DIRECTION_NEWTON_PARTS_H
#define ABUT_SOLVE_DIRECTION_NEWTON_PARTS_H

#include "solve/direction/newton.h"

/* Element sets of the matrix: those that stay come first. */
enum { SET_TETS, SET_ATTACHMENTS, SET_SPRINGS, SET_CODIM, SET_TOUCH, SETS, SETS_THAT_STAY = SET_TOUCH };

/* ---- direction_order.c ---- */

/** Whether the method factors the whole matrix. */
int abut_direction_is_whole(const abut_direction *d);
void abut_direction_forget_pattern(abut_direction *d);

/** The pattern of d->A for sets[SETS], with what the method makes of it, unless d->touch has the rows that it had last.
 * Fails  as abut_bsr_pattern, abut_graph_order_nested_dissection, abut_linear_analyse; d is then reset */
ABUT_MUST_USE abut_status abut_direction_analyse(abut_direction *d, const abut_problem *p, const double *x,
                                                 const abut_elements *sets, abut_err *err);
/** d->linear analysed for d->A in the order at hand. */
ABUT_MUST_USE abut_status abut_direction_symbolic(abut_direction *d, abut_err *err);
/** The same before A is factored in earnest: contacts that come make a factor in an order without them dearer, and once the
 * factors have cost as much more as an ordering does, A is ordered anew, by minimum degree as long as that is better than what
 * there is. */
ABUT_MUST_USE abut_status abut_direction_analyse_to_factor(abut_direction *d, abut_err *err);

/* ---- direction_solve.c ---- */

/** d->sol = A^-1 d->rhs, by iterations or by a factor: the one that there is, one in single precision or one in double, the
 * first that is good enough. */
ABUT_MUST_USE abut_status abut_direction_solve(abut_direction *d, const abut_problem *p, abut_report *rep, abut_err *err);
/** The same with the matrix of the last solve. */
ABUT_MUST_USE abut_status abut_direction_solve_again(abut_direction *d, const abut_problem *p, abut_report *rep,
                                                     abut_err *err);
/** What the factor weighs, into the report. */
void abut_direction_report_factor(const abut_direction *d, abut_report *rep);

#endif
