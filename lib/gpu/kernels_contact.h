/* Arguments of the kernels of contact: broad phase, CCD bound, contact list, barrier, friction. */
#ifndef ABUT_GPU_KERNELS_CONTACT_H
#define ABUT_GPU_KERNELS_CONTACT_H

#include <stddef.h>
#include <stdint.h>

#define ABUT_KERNELS_CONTACT(K)

#endif
