/* The pattern of a Newton matrix, the order in which its unknowns are eliminated, and their analysis by a linear solver.
 *
 * It lives for one time step, but for state that a new process would recompute to the byte: the ordering of the elements without
 * contacts, their part of the pattern, the analysis of an equal pattern in an equal order, and the order of minimum degree that
 * the first factor of a pattern gets.  So a restart from any frame has the same pivots and gives the same
 * bytes.
 *
 * A factor is expensive if that of the elements alone takes more operations per row than conjugate gradients do: in bodies that
 * are thick in all directions, from some ten thousand nodes on.  Contacts do not count. */
#ifndef ABUT_SOLVE_DIRECTION_ORDERING_H
#define ABUT_SOLVE_DIRECTION_ORDERING_H

#include "model/tets.h"
#include "solve/objective.h"
#include "sparse/linear_solver.h"

/* Zero-filled is empty. */
typedef struct abut_ordering {
    abut_linear_solver *linear; /* borrowed: the solver that is analysed; NULL: only patterns are kept */
    abut_linear_solver *instead;    /* borrowed: iterates in steps whose factor by linear would be expensive; NULL: none */
    int by_iterations;      /* this is such a step: known from its first pattern on */
    double *where;          /* [3 n] positions of the rows; NULL: no linear solver needs them */
    int analysed;           /* linear is for the pattern that the matrix has now, ordered by perm */
    int32_t *perm;          /* [n_perm] elimination order of this step's unknowns */
    int32_t n_perm;
    struct abut_element_order { /* order without contacts, with attachments: of the model and its held nodes; outlives a
                                 * step.  [1]: with the nodes that an augmented Lagrangian moves */
        int32_t *node_row;  /* [nv] the numbering that it is for */
        int32_t *perm;      /* [n] */
        int32_t n;
        double cost;        /* of its factor: abut_factor_cost */
    } elements[2];
    double ordered_cost;    /* of the factor of the pattern that perm was found for */
    double overspent;       /* sum over the factors since then of their cost beyond ordered_cost */
    struct abut_degree_order {  /* by minimum degree: of the last pattern whose first factor after a begin was better so */
        int on;             /* 1: every analysis by abut_ordering_analyse_to_factor is followed by a factor; set by the user */
        int first;          /* the analysis at hand is in the elements' order, and the next factor is the first one */
        int single;         /* abut_factor_may_be_single of it */
        size_t *ptr;        /* [n + 1] the graph of the pattern (graph/graph.h) */
        int32_t *col;       /* [ptr[n]] */
        int32_t *perm;      /* [n] */
        int32_t n;          /* 0: none is kept */
        double cost;        /* of the factor: abut_factor_cost */
    } degree;
    int by_degree;          /* the next order is one of minimum degree: 0 after one that was no better */
    int32_t *planned;       /* [nv] the numbering of the pattern */
    struct abut_seen_rows { /* of the sets of that pattern that do not last, one after the other */
        int32_t *row;
        size_t n[ABUT_SETS_MAX], cap;   /* elements of each; all rows */
        int32_t nrow;
    } seen;
} abut_ordering;

/** linear: borrowed, one that factors or iterates; NULL: none, only the pattern is kept. */
ABUT_MUST_USE abut_status abut_ordering_init(abut_ordering *o, int32_t nv, abut_linear_solver *linear, abut_err *err);
/** Sets the iterative solver, borrowed, of steps whose factor by o->linear is expensive.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_ordering_iterate_instead(abut_ordering *o, int32_t nv, abut_linear_solver *instead, abut_err *err);
/** Returns the cost of a factor of the elements alone, in a step by iterations (abut_factor_cost). */
double abut_ordering_spared(const abut_ordering *o);
/** Changes a step by iterations to factors for its rest: analyses o->linear for A. */
ABUT_MUST_USE abut_status abut_ordering_factor_after_all(abut_ordering *o, const abut_bsr *A, abut_err *err);
void abut_ordering_clear(abut_ordering *o);
/** Forgets the state of one time step; A: the matrix whose pattern it keeps. */
void abut_ordering_begin_step(abut_ordering *o, abut_bsr *A);

/** Makes the pattern of A for sets[nsets] and its analysis by the linear solver, unless the sets from number
 * `lasting` on have the rows that they had last.  Sets before `lasting` are of elements that last.
 * x[3 nv]: positions of nodes.
 * Fails  as abut_bsr_pattern, abut_graph_order_nested_dissection, abut_linear_analyse; o is then as at the begin of a step */
ABUT_MUST_USE abut_status abut_ordering_pattern(abut_ordering *o, abut_bsr *A, const abut_objective *p, const double *x,
                                                const abut_elements *sets, int nsets, int lasting, abut_err *err);
/** Analyses the linear solver for A in the order at hand. */
ABUT_MUST_USE abut_status abut_ordering_analyse(abut_ordering *o, const abut_bsr *A, abut_err *err);
/** Analyses A, if it is not, before it is factored.  Later contacts make factors in an older order more expensive.  Once these
 * extra costs add up to the cost of an ordering, A gets a new one: by minimum degree, as long as that improves on the order at
 * hand. */
ABUT_MUST_USE abut_status abut_ordering_analyse_to_factor(abut_ordering *o, const abut_bsr *A, abut_err *err);

/* Parts of the tets of an objective: the given ones, or parts by the mesh alone.  They must not depend on held nodes, which
 * change from step to step: a restart does not know the steps before. */

/** Makes *part[nt], in 0 .. k-1, of p->model; the caller frees it.
 *
 * given    of the tets in the given order, with k parts; none: k parts are made
 * Fails    ABUT_E_NOMEM; as abut_partition_tets.  *part is then NULL */
ABUT_MUST_USE abut_status abut_tet_parts(const abut_objective *p, const abut_partition *given, int32_t k, int32_t **part,
                                         abut_err *err);
/** order[nt]: tets by part, ascending in each; at[k + 1]: first index of each part in it. */
void abut_tets_by_part(const abut_partition *cut, int32_t nt, int32_t *at, int32_t *order);

#endif
