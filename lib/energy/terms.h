/* The terms of a model: a table with a row for each kind of energy, and a list of the terms that a model has. */
#ifndef ABUT_ENERGY_TERMS_H
#define ABUT_ENERGY_TERMS_H

#include "energy/term.h"

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

#endif
