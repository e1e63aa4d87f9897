/* Names in messages and tables: objects and half-spaces by their name, nodes and elements by their number within their object,
 * from 0, in the order of the model.  Points of a mesh that a scene selects are numbered from 0, in its order. */
#ifndef ABUT_MODEL_NAMING_H
#define ABUT_MODEL_NAMING_H

#include "base/err.h"
#include "model/model.h"

#include <stdint.h>

enum { ABUT_OBJECT_WORDS = 72, ABUT_NODES_WORDS = 160 };    /* letters that every name fits in, with the final 0 */

/** Number of a node within its object; -1 for a node below 0.  Looks at every node before it. */
int32_t abut_node_number(const abut_model *m, int32_t node);
/** Number within its object of row `row` of a list of elements of `width` nodes (tet, shell); -1 for a row below 0. */
int32_t abut_element_number(const abut_model *m, const int32_t *element, int width, int32_t row);
/** number[nv]: the numbers of all nodes.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_node_numbers(const abut_model *m, int32_t *number, abut_err *err);
/** number[n]: those of a list of n elements of `width` nodes.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_element_numbers(const abut_model *m, const int32_t *element, int width, int32_t n, int32_t *number,
                                               abut_err *err);

/** "'ball'", or "object 3" without a name; buf[ABUT_OBJECT_WORDS]; returns buf. */
const char *abut_object_words(const abut_model *m, int32_t object, char *buf);
/** "half-space 'floor'", or "half-space 0" without a name; buf[ABUT_OBJECT_WORDS]; returns buf. */
const char *abut_half_space_words(const abut_model *m, int32_t plane, char *buf);
/** "floor", or "half-space 0" without a name: for files; buf[ABUT_OBJECT_WORDS]; returns buf. */
const char *abut_half_space_name(const abut_model *m, int32_t plane, char *buf);
/** "node 3 of 'ball'", "edge 3 4 of 'ball'", "triangle 3 4 7 of 'ball'": n nodes of one object; buf[ABUT_NODES_WORDS]; returns
 * buf. */
const char *abut_nodes_words(const abut_model *m, const int32_t *node, int n, char *buf);

/* Primitives that cannot be simulated: the fault and the position of each. */
enum { ABUT_OFFENDERS_KEPT = 1000 };

/* One element, or two primitives that touch. */
typedef struct abut_offender {
    char text[400];
    int size[2];        /* points of the first and the second primitive (0: none): 1 point, 2 edge, 3 triangle, 4 tet */
    double x[21];       /* their positions, one primitive after the other, m */
} abut_offender;

/* Zero-filled is empty.  All are counted, the first ABUT_OFFENDERS_KEPT are kept. */
typedef struct abut_offenders {
    abut_offender *item;
    int n;
    size_t cap;
    int64_t total;
} abut_offenders;

/** Whether the list is full: texts of further offenders are not kept and need not be made. */
static inline int abut_offenders_full(const abut_offenders *list) { return list->n == ABUT_OFFENDERS_KEPT; }

/** Counts one more and keeps it while there is room.  x: 3 (size0 + size1) numbers, size0 + size1 <= 7. */
ABUT_MUST_USE abut_status abut_offenders_add(abut_offenders *list, int size0, int size1, const double *x, abut_err *err,
                                             const char *fmt, ...) ABUT_PRINTF(6, 7);
void abut_offenders_clear(abut_offenders *list);

#endif
