/* Loss of a run: a scalar L of its positions and velocities, with its derivatives by them, read from a table.
 *
 * Targets are a CSV file whose first line names its columns:
 *     step or time   the frame, by its number, or by its time to 1e-6 of a time step
 *     node           a node, or
 *     object         an object by its name or number: the mean of its nodes, with equal weights
 *     x, y, z        m: the target; an empty cell leaves the coordinate free
 *     weight         1 where the column is missing
 * L is the sum of weight/2 times the squared distances.
 *
 * Derivatives of a user's own loss are a CSV file with the columns step (or time), node, dx, dy, dz and perhaps dvx, dvy, dvz, in
 * 1/m and s/m times the unit of L; derivatives not listed are 0.  L is then unknown, and set to 0.
 *
 * Lines that begin with # and empty lines are left out. */
#ifndef ABUT_FORMATS_RESULT_GRADIENT_H
#define ABUT_FORMATS_RESULT_GRADIENT_H

#include "adjoint/bars.h"
#include "model/model.h"

#include <stdio.h>

typedef struct abut_loss_row {
    int64_t step;           /* -1: by time */
    double time;            /* s */
    int32_t node, object;   /* one of them, the other -1 */
    double x[3], v[3];      /* targets (NaN: free), or derivatives */
    double weight;
} abut_loss_row;

/* Owns its rows.  Zero-filled is empty. */
typedef struct abut_loss {
    abut_loss_row *row;
    size_t n, cap;
    int given;              /* 1: rows are derivatives; 0: targets */
} abut_loss;

/** Reads a file; object names are those of the model.
 * Fails  ABUT_E_FORMAT with the line, the cell found and what was expected; ABUT_E_IO, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_loss_read(abut_loss *loss, const char *path, int given, const abut_model *m, abut_err *err);
void abut_loss_clear(abut_loss *loss);
/** Every row is of a frame from `first` to `last`: else its number, and what was expected. */
ABUT_MUST_USE abut_status abut_loss_check(const abut_loss *loss, int64_t first, double first_time, int64_t last, double h,
                                          abut_err *err);
/** *L += that of a frame, its derivatives added to x_bar[3 nv] and v_bar[3 nv]; x[3 nv]. */
void abut_loss_frame(const abut_loss *loss, const abut_model *m, int64_t step, double time, const double *x, double *L,
                     double *x_bar, double *v_bar);

/* Derivatives of a run as a table: array,row,column,name,value,derivative,error.
 *
 * array       of the MODEL, or of frame 0 (node/x, node/v), or one like them (lib/adjoint/bars.h)
 * name        of the row's object, material or motion, if it has one
 * value       entry of the array; empty if the MODEL has no such array
 * derivative  of L by the value
 * error       of the derivative by the tolerance of the run, to first order; empty if not estimated
 * The first two lines are `loss,0,0,,L,,` and `loss/correction,0,0,,E,,`: L at exact ends of the
 * steps is L + E to first order.  Borrows everything. */
typedef struct abut_gradient_table {
    const abut_arrays *model_set, *first;   /* frame 0 */
    const abut_model *model;
    double loss, correction;
    const abut_state_bar *state;            /* of frame 0 */
    abut_parameter_bar *parameters;
    const struct abut_gradient_table *other;    /* the same of a run that differs by the error alone; NULL: not estimated */
    const char *const *by;                  /* [n] patterns of arrays (fnmatch); none: all with a row for each object, material,
                                             * motion, class or the scene */
    int n;
} abut_gradient_table;

/** Checks that each pattern matches an array that has derivatives in this model.
 * Fails  ABUT_E_ARG one matches none: the message lists the arrays, or says why there are none */
ABUT_MUST_USE abut_status abut_gradient_check(const abut_gradient_table *t, abut_err *err);
void abut_gradient_csv(const abut_gradient_table *t, FILE *f);
void abut_gradient_json(const abut_gradient_table *t, FILE *f);
/** Puts gradient/NAME, and gradient-error/NAME if estimated, of every array, and loss/value and loss/correction into the MODEL;
 * those of node/x and node/v into frame 0.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_gradient_arrays(const abut_gradient_table *t, abut_arrays *model, abut_arrays *frame,
                                               abut_err *err);

#endif
