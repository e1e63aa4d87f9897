/* Numbers of elements as numbers of nodes. */
#ifndef ABUT_FORMATS_RESULT_NODE_MEANS_H
#define ABUT_FORMATS_RESULT_NODE_MEANS_H

#include "base/err.h"

#include <stdint.h>

/* n elements of `width` nodes; the number of element e is value[stride * e]. */
typedef struct abut_node_elements {
    int32_t n;
    int width;
    const int32_t *node;    /* [width n] */
    int stride;
} abut_node_elements;

/** mean[nv]: the mean over the elements that have the node; NaN where none has.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_node_means(const abut_node_elements *e, const double *value, int32_t nv, double *mean,
                                          abut_err *err);

#endif
