/* The Newton matrix: masses, and the projected Hessians of all elements, summed into 3x3 blocks.
 *
 * Friction: where a direction leads over the kink between sticking and sliding, which the second derivative of the law does not
 * know, the line search goes back again and again.  A contact that the last direction led over its kink is stiffer in the next
 * matrix (energy/friction.h: the majorant).  The solution of such a matrix is a descent direction, but too short to tell how far
 * the minimum is: a minimisation ends with the exact one. */
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
    struct abut_majorant {  /* friction contacts */
        uint8_t *on;        /* [cap] the next matrix has the majorant */
        size_t n, cap;      /* n 0: none has, whatever there is */
        int never;          /* friction always by its second derivative */
    } majorant;
    int exact;              /* the last matrix has the second derivative of every friction contact */
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

/** Whether the next matrix has the majorant of any friction contact. */
int abut_newton_matrix_has_majorant(const abut_newton_matrix *d);
/** It has not. */
void abut_newton_matrix_drop_majorant(abut_newton_matrix *d);
/** The next matrix has the majorant of the contacts that dir[3 nv] leads over their kinks. */
void abut_newton_matrix_majorise(abut_newton_matrix *d, const abut_problem *p, const double *x, const double *dir);

/** The node whose diagonal block is the least positive definite for its size: where to look when a matrix fails as a whole.  -1
 * when there is no matrix of these unknowns. */
int32_t abut_newton_matrix_worst_node(const abut_newton_matrix *d, const abut_problem *p);
int32_t abut_newton_matrix_node_of_row(const abut_problem *p, int32_t row);

#endif
