/* The Newton matrix: masses, and the projected Hessians of all elements, summed into 3x3 blocks.
 *
 * Terms may have a majorant in the matrix, where the last direction led over a kink (energy/friction_term.h).  The solution of
 * such a matrix is a descent direction, but too short to tell how far the minimum is: a minimisation ends with the exact one. */
#ifndef ABUT_SOLVE_DIRECTION_MATRIX_H
#define ABUT_SOLVE_DIRECTION_MATRIX_H

#include "solve/direction.h"
#include "solve/direction/ordering.h"

/* Element sets of the matrix: those that last come first. */
enum { SET_TETS, SET_ATTACHMENTS, SET_SPRINGS, SET_CODIM, SET_CONTACTS, SETS, SETS_THAT_LAST = SET_CONTACTS };

/* Zero-filled is empty. */
typedef struct abut_newton_matrix {
    abut_bsr A;
    int32_t *tet_row;
    double *codim_H;        /* Hessians of codimensional elements, packed */
    int32_t *codim_row;
    int32_t *attach_row;    /* attachments: rows, Hessians */
    double *attach_H;
    int32_t *spring_row;
    double *spring_H;
    struct abut_contact_hessians {  /* contacts, half-spaces and friction: nodes, rows, Hessians */
        size_t n, cap;
        int32_t *node, *row;
        double *H;
        abut_row_map map;   /* of the set, where its rows are vertices */
    } contacts;
    int majorant;           /* 1: terms may have one */
    int exact;              /* the last matrix has no majorant */
    double *diag;           /* [nrow] */
} abut_newton_matrix;

/** without: of ABUT_WITHOUT_* the majorant. */
ABUT_MUST_USE abut_status abut_newton_matrix_init(abut_newton_matrix *d, const abut_problem *p, unsigned without, abut_err *err);
void abut_newton_matrix_clear(abut_newton_matrix *d);

/** d->A at the iterate, in the pattern that `order` keeps. */
ABUT_MUST_USE abut_status abut_newton_matrix_sum(abut_newton_matrix *d, abut_ordering *order, const abut_problem *p,
                                                 const abut_iterate *at, abut_report *rep, abut_err *err);
/** The Hessians of contact and friction alone, in arrays of d. */
ABUT_MUST_USE abut_status abut_newton_matrix_contacts(abut_newton_matrix *d, const abut_problem *p, const abut_iterate *at,
                                                      abut_elements *set, abut_err *err);

/** Terms learn that dir[3 nv] is the direction at the iterate: the next matrix may have majorants. */
void abut_newton_matrix_majorise(const abut_newton_matrix *d, const abut_problem *p, const abut_iterate *at, const double *dir);

/** The node whose diagonal block is the least positive definite for its size: where to look when a matrix fails as a whole.  -1
 * when there is no matrix of these unknowns. */
int32_t abut_newton_matrix_worst_node(const abut_newton_matrix *d, const abut_problem *p);
int32_t abut_newton_matrix_node_of_row(const abut_problem *p, int32_t row);

#endif
