/* The Newton matrix: masses, and the projected Hessians of all elements, summed into 3x3 blocks.  For linear solvers that need no
 * matrix it is a product: lasting elements are summed, in a pattern that no contact changes, and contacts are applied one by one
 * (sparse/operator.h).
 *
 * Terms may have a majorant in it, after a direction that crosses a kink (energy/friction.h).  The solution of such a matrix
 * is a descent direction, but too short to show the distance to the minimum: a minimisation ends with an exact one. */
#ifndef ABUT_SOLVE_DIRECTION_MATRIX_H
#define ABUT_SOLVE_DIRECTION_MATRIX_H

#include "solve/direction.h"
#include "solve/direction/ordering.h"
#include "sparse/elements.h"
#include "sparse/operator.h"

/* Zero-filled is empty. */
typedef struct abut_newton_matrix {
    abut_bsr A;             /* empty if there are products */
    struct abut_newton_products {
        abut_product *product;  /* NULL: A is the matrix */
        double *where;      /* [3 nrow] m: rows in space at the begin of the step */
        int analysed;       /* the linear solver knows the rows of this step */
    } products;
    abut_elements sets[ABUT_SETS_MAX];  /* of the last sum, in arrays of the objective */
    int nsets;
    const abut_ranks *ranks;    /* each sums the rows of its part; NULL: all are here */
    abut_owned_elements owned;  /* of this one */
    int without_majorant;   /* terms are not told of kinks */
    int exact;              /* the last matrix is of second derivatives alone */
    double *diag;           /* [nrow] */
    double *apart;          /* values of A without joints and locks; NULL: there are no joints */
} abut_newton_matrix;

/** without: of ABUT_WITHOUT_* the majorant. */
ABUT_MUST_USE abut_status abut_newton_matrix_init(abut_newton_matrix *d, const abut_objective *p, unsigned without,
                                                  abut_err *err);
void abut_newton_matrix_clear(abut_newton_matrix *d);

/** Sums d->A at the iterate, in the pattern that `order` keeps. */
ABUT_MUST_USE abut_status abut_newton_matrix_sum(abut_newton_matrix *d, abut_ordering *order, const abut_objective *p,
                                                 const abut_point *at, abut_report *rep, abut_err *err);
/** Sums A as products, for `linear`, which takes them and is analysed for their rows.  Fails  also as abut_linear_analyse */
ABUT_MUST_USE abut_status abut_newton_matrix_products(abut_newton_matrix *d, abut_linear_solver *linear, const abut_objective *p,
                                                      const abut_point *at, abut_report *rep, abut_err *err);
/** Returns the matrix summed last, valid until the next sum; where: positions of its rows, NULL: not known. */
abut_operator abut_newton_matrix_operator(const abut_newton_matrix *d, const double *where);
/** Adds shift times the absolute diagonal to the matrix summed last, in place of earlier shifts.  first: 1 in the first shift of
 * a sum.  whole[3 nrow]: scratch, kept between the shifts of a sum.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_newton_matrix_shift(abut_newton_matrix *d, double shift, int first, double *whole, abut_err *err);
/** Begins a step: forgets the rows that `order` and the products know from the last one. */
void abut_newton_matrix_begin_step(abut_newton_matrix *d, abut_ordering *order);
/** Sums the sets that do not last alone, as one set with its values.
 * Fails  ABUT_E_ARG sets that do not last have elements of several shapes, so they are not one set */
ABUT_MUST_USE abut_status abut_newton_matrix_contacts(abut_newton_matrix *d, const abut_objective *p, const abut_point *at,
                                                      abut_elements *set, abut_err *err);
/** Tells the terms which of their kinks dir[3 nv] crosses. */
void abut_newton_matrix_majorise(const abut_newton_matrix *d, const abut_objective *p, const abut_point *at, const double *dir);

/** Returns the node whose diagonal block is the least positive definite for its size, the suspect if a matrix fails as a whole;
 * -1: there is no matrix of these unknowns. */
int32_t abut_newton_matrix_worst_node(const abut_newton_matrix *d, const abut_objective *p);
int32_t abut_newton_matrix_node_of_row(const abut_objective *p, int32_t row);

#endif
