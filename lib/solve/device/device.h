/* Minimisations on a GPU, or on its twin (gpu/machine.h): a table of the operations of solve/search/search_ops.h.  The iterate,
 * its contacts, the matrix and the direction live there; the search stays on the processor and sees numbers.
 *
 * From enter to leave the device has the positions of the points here and trial, the direction p and the gradient of the search;
 * the search's own arrays do not follow, but here.x does while an augmented Lagrangian moves prescribed nodes. */
#ifndef ABUT_SOLVE_DEVICE_DEVICE_H
#define ABUT_SOLVE_DEVICE_DEVICE_H

#include "solve/search/search_ops.h"

/* Computing device of a step: the processor, a GPU, or its twin on the processor. */
typedef enum abut_device_kind { ABUT_DEVICE_CPU, ABUT_DEVICE_TWIN, ABUT_DEVICE_GPU } abut_device_kind;

/* Preconditioners of its conjugate gradients (gpu/operator.h), in the order there. */
typedef enum abut_device_precond { ABUT_DEVICE_JACOBI, ABUT_DEVICE_CLUSTERS, ABUT_DEVICE_RIGID } abut_device_precond;

/** "cpu", "twin", "gpu" or "gpu:N".
 * Fails  ABUT_E_ARG another name */
ABUT_MUST_USE abut_status abut_device_parse(const char *text, abut_device_place *place, abut_err *err);

/* Operations of a search on a twin or a GPU, by the device of the options. */
extern const abut_search_ops abut_device_ops;

#endif
