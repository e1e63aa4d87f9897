/* Stand-in for cuda.cu in builds without CUDA. */
#include "gpu/machine.h"

abut_status abut_queue_cuda(abut_queue *q, int which, abut_err *err)
{
    (void)which;
    *q = (abut_queue){ 0 };
    return abut_fail(err, ABUT_E_ARG, "this build has no CUDA; make GPU=1 wants nvcc 12 or later");
}
