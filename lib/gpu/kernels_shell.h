/* Arguments of the kernels of shells and hinges. */
#ifndef ABUT_GPU_KERNELS_SHELL_H
#define ABUT_GPU_KERNELS_SHELL_H

#include <stddef.h>
#include <stdint.h>

/* Elements: `shells` of them first, then hinges, n in all.  Arrays of an element have one number of all together: node[4][n] (-1:
 * unused), B[4][shells].  law: 7 numbers of each material (energy/membrane_inline.h), model: its constitutive model,
 * ABUT_PLANE_WOVEN of a fabric, ABUT_PLANE_BARAFF_WITKIN.  limit[4][shells]: rows of shell/stretch-limit, NULL: none; kappa, Pa:
 * their stiffness, k: what stiffens bounds of strain.
 *
 * shell_energy of shell i, hinge_energy of hinge i: energy[element] in joules, +inf where it is no number; force[12 element + ..]
 * its derivative at the corners, 0 at an unused one.
 * shell_hessian of shell i, hinge_hessian of hinge i: H[90 element + ..] = scale d2E/dx2, packed and projected; 0 at an unused
 * corner.
 * shell_bound: bound[i] = how far shell i may follow p before it has `slack` of what is left to its bounds.
 * shell_room: bound[i] = what is left to shell i of its bounds, as abut_codim_stretch has it. */
typedef struct abut_shell_args {
    const int32_t *node, *material, *model;
    const double *B, *volume, *law;
    const double *stiffness, *angle;    /* of hinges: J, rad */
    const double *x, *p;
    double *energy, *force, *H, *bound;
    const double *limit;
    double k, kappa, scale, slack;
    size_t shells, n;
} abut_shell_args;

#define ABUT_KERNELS_SHELL(K) \
    K(shell_energy, abut_shell_args) \
    K(shell_hessian, abut_shell_args) \
    K(shell_bound, abut_shell_args) \
    K(shell_room, abut_shell_args) \
    K(hinge_energy, abut_shell_args) \
    K(hinge_hessian, abut_shell_args)

#endif
