/* The Newton matrix: masses, and the projected Hessians of all elements, summed into 3x3 blocks.
 *
 * Terms may have a majorant in it, where a direction has led over a kink (energy/friction_term.h).  The solution of such a matrix
 * is a descent direction, but too short to tell how far the minimum is: a minimisation ends with an exact one. */
#ifndef ABUT_SOLVE_DIRECTION_MATRIX_H
#define ABUT_SOLVE_DIRECTION_MATRIX_H

#include "solve/direction.h"
#include "solve/direction/ordering.h"

/* Zero-filled is empty. */
typedef struct abut_newton_matrix {
    abut_bsr A;
    abut_elements sets[ABUT_SETS_MAX];  /* of the last sum, in arrays of the objective */
    int nsets;
    int without_majorant;   /* nobody learns of kinks */
    int exact;              /* the last matrix is of second derivatives alone */
    double *diag;           /* [nrow] */
} abut_newton_matrix;

/** without: of ABUT_WITHOUT_* the majorant. */
ABUT_MUST_USE abut_status abut_newton_matrix_init(abut_newton_matrix *d, const abut_objective *p, unsigned without,
                                                  abut_err *err);
void abut_newton_matrix_clear(abut_newton_matrix *d);

/** d->A at the iterate, in the pattern that `order` keeps. */
ABUT_MUST_USE abut_status abut_newton_matrix_sum(abut_newton_matrix *d, abut_ordering *order, const abut_objective *p,
                                                 const abut_point *at, abut_report *rep, abut_err *err);
/** The sets that do not last, as one, with its values, and nothing else of the matrix.
 * Fails  ABUT_E_ARG sets that do not last have elements of several shapes: then they are no one set */
ABUT_MUST_USE abut_status abut_newton_matrix_contacts(abut_newton_matrix *d, const abut_objective *p, const abut_point *at,
                                                      abut_elements *set, abut_err *err);
/** Terms learn of the kinks that dir[3 nv] leads over. */
void abut_newton_matrix_majorise(const abut_newton_matrix *d, const abut_objective *p, const abut_point *at, const double *dir);

/** The node whose diagonal block is the least positive definite for its size: where to look when a matrix fails as a whole.  -1
 * when there is no matrix of these unknowns. */
int32_t abut_newton_matrix_worst_node(const abut_newton_matrix *d, const abut_objective *p);
int32_t abut_newton_matrix_node_of_row(const abut_objective *p, int32_t row);

#endif
