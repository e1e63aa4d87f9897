#include "solve/directions.h"

#include <stddef.h>

const abut_direction_ops *const abut_directions[] = {
    &abut_direction_newton,
    &abut_direction_lbfgs_h,
    &abut_direction_lbfgs_pd,
    &abut_direction_lbfgs_jh,
    &abut_direction_lbfgs_ic,
    &abut_direction_dot,
    &abut_direction_gradient,
    &abut_direction_lbfgs_rest,
    &abut_direction_lbfgs_warped,
    &abut_direction_lbfgs_id,
    NULL,
};
