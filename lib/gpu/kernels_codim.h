/* Arguments of the kernels of shells, hinges, rod segments and bends. */
#ifndef ABUT_GPU_KERNELS_CODIM_H
#define ABUT_GPU_KERNELS_CODIM_H

#include <stddef.h>
#include <stdint.h>

/* Elements in the order of energy/codim.h: `shells` shells, then hinges, segments from number `rods` on, bends from number
 * `bends` on, n in all.  Arrays of an element have one number of all together: node[4][n] (-1:
 * unused), B[4][shells].  law: 7 numbers of each material (energy/membrane_inline.h), model: its constitutive model,
 * ABUT_PLANE_WOVEN of a fabric, ABUT_PLANE_BARAFF_WITKIN.  limit[4][shells]: rows of shell/stretch-limit, NULL: none; kappa, Pa:
 * their stiffness, k: what stiffens bounds of strain.
 *
 * tension[i], N: of segment i in the Hessian; NULL: its tension at x.
 *
 * shell_energy of shell i, and so on: energy[element] in joules, +inf where it is no number; force[12 element + ..]
 * its derivative at the corners, 0 at an unused one.
 * shell_hessian of shell i, and so on: H[90 element + ..] = scale d2E/dx2, packed and projected; 0 at an unused
 * corner.
 * shell_bound: bound[i] = largest step along p that leaves shell i the fraction `slack` of the distance to its bounds.
 * rod_tension: tension[i] at x.  rod_forecast: tension[i] of the next iterate, after the fraction `taken` of a direction led from
 * `from` to `to`; elasticity moves by `reach` times the step (energy/codim.h).  rod_fairness: bound[i] < 0 if segment i may
 * shorten a direction; inertia and weight as in abut_term_step.
 * shell_room: bound[i] = remaining fraction of the bounds of shell i (abut_codim_stretch). */
typedef struct abut_codim_args {
    const int32_t *node, *material, *model;
    const double *B, *volume, *law;
    const double *stiffness, *angle;    /* of hinges: J, rad */
    const double *x, *p;
    double *energy, *force, *H, *bound;
    const double *limit;
    const double *rod_stiffness, *rod_length, *bend_stiffness;
    double *tension;
    const double *from, *to, *mass;
    double reach, taken, inertia, weight;
    double k, kappa, scale, slack;
    size_t shells, rods, bends, n;
} abut_codim_args;

#define ABUT_KERNELS_CODIM(K) \
    K(shell_energy, abut_codim_args) \
    K(shell_hessian, abut_codim_args) \
    K(shell_bound, abut_codim_args) \
    K(shell_room, abut_codim_args) \
    K(hinge_energy, abut_codim_args) \
    K(hinge_hessian, abut_codim_args) \
    K(rod_energy, abut_codim_args) \
    K(rod_hessian, abut_codim_args) \
    K(rod_tension, abut_codim_args) \
    K(rod_forecast, abut_codim_args) \
    K(rod_fairness, abut_codim_args) \
    K(bend_energy, abut_codim_args) \
    K(bend_hessian, abut_codim_args)

#endif
