/* Springs and attachments (energy/spring.h) on a machine.  Vectors are the machine's, [3 nv] in the order
 * of the model's nodes. */
#ifndef ABUT_GPU_TIES_H
#define ABUT_GPU_TIES_H

#include "gpu/buffer.h"
#include "model/model.h"

enum { ABUT_GPU_SPRINGS, ABUT_GPU_ATTACHMENTS, ABUT_GPU_TIES };

/* Zero-filled is empty: it has no energy. */
typedef struct abut_gpu_ties {
    abut_queue *q;
    const abut_model *model;                /* borrowed */
    struct abut_gpu_tie_set {
        size_t n;
        int corners;
        abut_buffer node, weight, offset, stiffness, length;
        abut_buffer first, corner;          /* corners at each node */
        abut_buffer energy, force, H;       /* H[n * abut_packed_size(corners)] */
    } set[ABUT_GPU_TIES];
} abut_gpu_ties;

/** Keeps q and m.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_gpu_ties_init(abut_gpu_ties *t, abut_queue *q, const abut_model *m, abut_err *err);
void abut_gpu_ties_clear(abut_gpu_ties *t);

/** out[k] = the energy of set k at z, J; those of sets without elements are left.  out: the machine's.  Leaves the forces at z.
 * */
ABUT_MUST_USE abut_status abut_gpu_ties_energy(abut_gpu_ties *t, const double *z, double *out, abut_err *err);
/** g += scale dE/dx at z; z NULL: with the forces that were left last. */
ABUT_MUST_USE abut_status abut_gpu_ties_gradient(abut_gpu_ties *t, const double *z, double scale, double *g, abut_err *err);
/** H of both sets: scale times the projected Hessians at z, packed (sparse/elements.h). */
ABUT_MUST_USE abut_status abut_gpu_ties_hessian(abut_gpu_ties *t, const double *z, double scale, abut_err *err);

#endif
