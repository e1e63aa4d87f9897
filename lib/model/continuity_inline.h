/* How often a smoothed law is continuously differentiable.  The numbers stand in streams. */
#ifndef ABUT_MODEL_CONTINUITY_INLINE_H
#define ABUT_MODEL_CONTINUITY_INLINE_H

enum { ABUT_C0 = 0, ABUT_C1 = 1, ABUT_C2 = 2, ABUT_CONTINUITIES = 3 /* how many */ };

#endif
