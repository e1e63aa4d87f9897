/* A term of the objective: an energy, as a table of operations on an instance.  Operations that are NULL do not apply.  All
 * results have the same bits for every number of threads.
 *
 * A term is evaluated at z, the point at which the time scheme takes elasticity, or at x.  Its results are multiplied by `scale`,
 * which depends on the time scheme (solve/objective.h); the term does not. */
#ifndef ABUT_ENERGY_TERM_H
#define ABUT_ENERGY_TERM_H

#include "base/arena.h"
#include "base/par.h"
#include "contact/pairs.h"
#include "contact/step_bound.h"
#include "model/model.h"
#include "model/tets.h"
#include "sparse/elements.h"

#include <stdlib.h>

/* Constants of a time step for its terms. */
typedef struct abut_term_step {
    const double *x0;       /* [3 nv] m: where the step starts */
    const double *x_hat;    /* [3 nv] m: where inertia and loads lead */
    const double *x_ref;    /* [3 nv] m: friction opposes x - x_ref */
    const double *x_damp;   /* [3 nv] m: damping and drag oppose x - x_damp, which takes damp_time */
    const double *target;   /* [3 nv] m: of prescribed nodes; NULL: no step, all nodes are at x0 */
    const uint8_t *held;    /* [nv] prescribed */
    double h_force, damp_time;  /* s: f newtons are h_force^2 f in the gradient of the objective */
    double damping;         /* s: weight of damping at x over damp_time */
    double reach;           /* dz/dx, in (0, 1] */
    double weight_z2;       /* s^2: of Hessians at z */
    double time;            /* s: where the step starts; with `target` */
    double load_time;       /* s: when loads that change in time are taken (model/motion.h) */
    double eps_v;           /* m/s: eps_v h_force is the |x - x_ref| at which friction slides */
    double inertia, shift;  /* 0: quasi-static; added to inertia in the Hessian */
    const abut_ranks *ranks;    /* ranks that divide the work; NULL: none */
    int as_is;              /* 0: Hessians are projected; 1: they are not */
} abut_term_step;

/* Point at which terms are evaluated. */
typedef struct abut_at {
    const double *x, *z;        /* [3 nv] m: the iterate; the point of elasticity, which is x in most time schemes */
    const double *y;            /* [3 nc] m: collision vertices */
    const abut_pairs *pairs;    /* contacts at y */
    const abut_term_step *step;
} abut_at;

/* In which force, energy or work a term is counted (step --with, reports). */
typedef enum abut_term_kind {
    ABUT_TERM_INERTIA, ABUT_TERM_CONSTRAINT,
    ABUT_TERM_POTENTIAL,    /* of the positions alone: elastic energy and force */
    ABUT_TERM_FOLLOWER,     /* of the positions alone, but a load in a balance of forces: pressure */
    ABUT_TERM_CONTACT, ABUT_TERM_FRICTION, ABUT_TERM_DAMPING, ABUT_TERM_LOAD
} abut_term_kind;
/* Masks of kinds. */
enum { ABUT_KINDS_ALL = -1, ABUT_KINDS_SMOOTH = ~(1 << ABUT_TERM_CONTACT),
       ABUT_KINDS_POTENTIAL = 1 << ABUT_TERM_POTENTIAL | 1 << ABUT_TERM_FOLLOWER };

/* Point of a term, z or x, and its weight in the objective: scale of energy, gradient, Hessian. */
typedef enum abut_term_weight {
    ABUT_TERM_AT_Z,         /* at z, in J: psi, psi s, psi s^2 with s = dz/dx */
    ABUT_TERM_AT_X,         /* at x, in J: the weight of forces that are not those of contact, `smooth` */
    ABUT_TERM_WEIGHED       /* at x, in the unit of the objective, kg m^2: always 1 */
} abut_term_weight;

/* A frame that terms read, or write. */
typedef struct abut_term_frame {
    int pending;        /* 0: state that outlives a step; 1: further state of a step that has not ended */
    double weight;      /* ratio of a stiffness in the frame to that stiffness in this step */
    const abut_arrays *arrays;  /* all arrays of a frame that is read; NULL: only those of the table */
} abut_term_frame;

/* Words for an element that bounds a step: "element 3 of OBJECT (0.2 of its rest volume left)", or violates a bound: "shell 3 of
 * OBJECT (nodes 1, 2, 7): largest stretch 1.3, expected less than 1.2". */
typedef struct abut_bound_words {
    const char *what;       /* "element" */
    int32_t number, object; /* number of the element within its object; the object */
    char detail[96];
    int corners;            /* how many nodes are named: node[] of the model */
    int32_t node[4];
} abut_bound_words;

struct abut_terms;
/* Input of `make`; the term borrows it for its lifetime. */
typedef struct abut_term_world {
    const abut_model *model;            /* its tets in the solver's order */
    const abut_reordered *reordered;    /* the solver's order */
    const abut_collmesh *cm;
    const struct abut_terms *before;    /* the terms of the rows before in the table */
    void *own;                          /* `own` of its abut_own_term; NULL for rows of the table */
} abut_term_world;

enum {
    ABUT_SET_LASTS = 1,     /* rows stay for the whole time step */
    ABUT_SET_FUSED = 2      /* a large set: its matrices are computed while the global matrix is summed */
};

typedef struct abut_term_ops {
    const char *name;           /* in messages and tables: "barrier" */
    abut_term_kind kind;
    abut_term_weight weight;
    const char *set;            /* name of the element set that `hessian` writes into; NULL: it has none */
    unsigned set_is;            /* ABUT_SET_*, of the term that has `elements` */
    /** *self NULL: the model has no such term. */
    abut_status (*make)(void **self, const abut_term_world *w, abut_err *err);
    /** Returns the size of the numbers whose difference is the energy, J, for its rounding, and adds that of each element to
     * each[no] of the object of its first node. */
    double (*stiffness)(const void *self, double *each);
    /** Arrays of the term in a frame.  `load` reads them before a step begins, once for each value of `pending` that applies; a
     * missing array has the value of a first frame.  `store` writes them after the step; `out` has node/x. */
    abut_status (*load)(void *self, const abut_frame *f, const abut_term_frame *as, abut_err *err);
    abut_status (*store)(const void *self, const abut_term_frame *as, abut_arrays *out, abut_err *err);
    /** A step begins. */
    abut_status (*begin)(void *self, const abut_term_step *step, abut_err *err);
    /** *e = scale E.  +inf: infeasible, which is no failure. */
    abut_status (*energy)(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err);
    /** g[3 nv] += scale dE/dx, gathered, at a point of finite energy. */
    abut_status (*gradient)(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err);
    /** The element set into which the Hessian is written: fills corners, rank, n, row and map of *set; corners are nodes, or rows
     * of the map.  Terms that name the same set write into the same matrices: the first of them has `elements`. */
    abut_status (*elements)(void *self, const abut_at *at, abut_elements *set, abut_err *err);
    /** val: matrices of elements [lo, hi) of the set, scale d2E/dx2, projected to positive semidefinite unless step->as_is.  The
     * term that has `elements` writes val, other terms of the set add.  For a `fused` set lo is a multiple of 4 and many threads
     * call at once; for other sets [lo, hi) is the whole set. */
    void (*hessian)(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val);
    /** val, filled with 0 by the caller: matrices of the set, constant in x, that replace the Hessian of a term with `elements`
     * in a constant matrix; each block is a multiple of the identity (solve/direction/initial_laplacian.h).
     * fit      stretches over which materials are fitted (energy/elastic.h) */
    abut_status (*constant)(void *self, const double fit[2], double scale, double *val, abut_err *err);
    /** diag[nv] += scale times the part of the Hessian outside elements: equal for x, y, z. */
    void (*diagonal)(const void *self, const abut_term_step *step, double scale, double *diag);
    /** Lowers lim->alpha to the largest step along p[3 nv] that leaves a fixed part of the distance to the term's bound, and then
     * sets the rest of *lim: kind ABUT_LIMIT_TERM, or one of its own.  limit_words: words for that limit. */
    void (*limit)(void *self, const abut_at *at, const double *p, abut_limit *lim);
    void (*limit_words)(const void *self, const double *x, const abut_limit *lim, abut_bound_words *w);
    /** 1: a bound is violated at x[3 nv]; w: words for the first.  Called at the start and at the end of a step. */
    int (*outside)(const void *self, const double *x, abut_bound_words *w);

    /** A minimisation begins. */
    void (*start)(void *self);

    /* Majorant in place of the second derivative at kinks that directions have crossed.  forget: drops all; learn: takes a new
     * direction p; is_exact: 1 if the next Hessian has second derivatives alone. */
    void (*majorant_forget)(void *self);
    void (*majorant_learn)(void *self, const abut_at *at, const double *p);
    int (*majorant_is_exact)(const void *self);
    /* Bounds ahead.  ahead: 1 if p leads far beyond some bound; then the Hessian has the bounds that p meets, until ahead_forget.
     * ahead_gradient: g[3 nv] += the matching change of the gradient, at the same point. */
    int (*ahead)(void *self, const abut_at *at, const double *p);
    void (*ahead_forget)(void *self);
    void (*ahead_gradient)(void *self, const abut_at *at, double scale, double *g);
    /* Forecast for Hessians.  start: begins one; step: takes a step to `to`, alpha of a direction; is_fair: 1 if a short
     * direction may indicate a minimum nearby. */
    void (*forecast_start)(void *self, const abut_at *at);
    void (*forecast_step)(void *self, const abut_at *from, const double *to, double alpha);
    int (*forecast_is_fair)(const void *self, const abut_at *at);

    /** *raised 1: a Newton direction led close to a bound, and the term has become stiffer, which changes the objective. */
    abut_status (*stiffen)(void *self, const abut_at *from, const abut_at *to, int *raised, abut_arena *scratch, abut_err *err);
    /** g[3 nv] += the correction that undoes the stretch by d beyond the first order of `meant`, *cost += its energy; H: matrices
     * of the set at `at` (solve/search/rotate.c). */
    abut_status (*correction)(void *self, const abut_at *at, const double *d, const double *meant, const double *H, double *g,
                              double *cost, abut_arena *scratch, abut_err *err);
    void (*free)(void *self);
} abut_term_ops;

/** `make` of a term that keeps no more than the world: self is a copy of it, `free` is free. */
static inline abut_status abut_term_make_plain(void **self, const abut_term_world *w, abut_err *err)
{
    abut_term_world *copy = *self = malloc(sizeof *copy);
    if (!copy) return abut_fail(err, ABUT_E_NOMEM, "a term of %d nodes", w->model->nv);
    *copy = *w;
    return ABUT_OK;
}

/* ---- the terms of a model: a table with a row for each kind of energy, and a list of the terms that a model has ---- */

/** Every term, in the order of every sum; NULL at the end. */
extern const abut_term_ops *const abut_term_table[];

/* A term that a program adds at run time: its operations, and w->own for `make`.  Lists of them end with ops NULL. */
typedef struct abut_own_term {
    const abut_term_ops *ops;
    void *own;
} abut_own_term;

enum { ABUT_TERMS_MAX = 32 };
typedef struct abut_term {
    const abut_term_ops *ops;
    void *self;
} abut_term;

/* Owns its terms.  Zero-filled is empty. */
typedef struct abut_terms {
    int n;
    abut_term term[ABUT_TERMS_MAX];
} abut_terms;

/** Makes the terms that a model has.
 *
 * w       all but `before` and `own`; borrowed for as long as the terms live
 * own     terms after those of the table; NULL: none
 * Fails   as `make` of the terms; ABUT_E_ARG more than ABUT_TERMS_MAX, two of one name, or one of `own` with a name of the table,
 *         even if the model lacks that term; terms is then empty */
ABUT_MUST_USE abut_status abut_terms_init(abut_terms *terms, const abut_term_world *w, const abut_own_term *own, abut_err *err);
void abut_terms_clear(abut_terms *terms);

/** The number of a term, -1: the model has none of that name. */
int abut_terms_number(const abut_terms *terms, const char *name);
/** The instance of the term of that name, or NULL. */
void *abut_terms_find(const abut_terms *terms, const char *name);

/* ---- energies of a program (energy/element_energy.h) as terms, and a check of their derivatives ---- */

struct abut_element_energy;

/** The term of an energy: *ops is filled and *row names it; e and *ops are borrowed for as long as the term lives.
 * Its `make` fails with ABUT_E_ARG on a number of corners, of elements or of a node that cannot be. */
void abut_element_term(const struct abut_element_energy *e, abut_term_ops *ops, abut_own_term *row);

/** Compares the gradient and the second derivatives of every element at z with central differences of its value and its gradient
 * over 1e-4 and 5e-5 of its size, extrapolated.  Tolerance: twice the difference of the two, plus rounding, plus 1e-6 of the
 * largest entry.  Elements with infinite energy are left out, and so are axes along which the energy is infinite nearby.
 *
 * z  [3 nv]  m
 * Fails  ABUT_E_ARG a derivative differs (names the element, its nodes, axes and both numbers), or is not a number */
ABUT_MUST_USE abut_status abut_element_check(const struct abut_element_energy *e, const double *z, abut_err *err);

#endif
