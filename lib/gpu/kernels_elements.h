/* Arguments of the kernels of elements and of the inertia of nodes. */
#ifndef ABUT_GPU_KERNELS_ELEMENTS_H
#define ABUT_GPU_KERNELS_ELEMENTS_H

#include <stddef.h>
#include <stdint.h>

/* ---- tets; arrays of a tet have one number of all tets together: B[9][nt], node[4][nt] ---- */

/* tet_energy: energy[i] = volume psi in joules, +inf where it is no number; force[12 i + ..] its gradient at the corners.
 * tet_hessian, of tet first + i: H[90 i + ..] = scale volume d2psi/dx2, packed and projected.
 * tet_bound: bound[i] = how far the tet may follow p before it has `slack` of its volume; 1 for a material that may invert. */
typedef struct abut_tet_args {
    const int32_t *node;
    const double *B, *volume, *mu, *lambda;
    const int32_t *model;
    const double *x, *p;
    double *energy, *force, *H, *bound;
    double scale, slack;
    size_t nt, first;
} abut_tet_args;

/* node_energy: out[i] = what abut_objective counts as inertia of node i, 0 of held ones; inertia 0: the work of its load.
 * node_gradient: out[3 i + k] = its derivative. */
typedef struct abut_node_args {
    const double *mass, *x, *xn, *xhat;
    const uint8_t *held;
    double *out;
    int inertia;
} abut_node_args;

/* out[3 i + k] = 0 of held nodes */
typedef struct abut_hold_args {
    const uint8_t *held;
    double *out;
} abut_hold_args;

/* ---- shells, hinges, rod segments and bends ---- */

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

/* ---- springs, attachments and damping ---- */

/* Springs, node[2 n], and attachments (energy/spring.h), node[5 n], -1 unused, weight[4 n], offset[3 n].
 * spring_energy, tie_energy: energy[i], force[6 i + ..] or force[15 i + ..] its derivative at the corners, 0 at an unused one.
 * spring_hessian, tie_hessian: H[27 i + ..] or H[135 i + ..] = scale d2E/dx2, packed and projected. */
typedef struct abut_tie_args {
    const int32_t *node;
    const double *weight, *offset, *stiffness, *length, *x;
    double *energy, *force, *H;
    double scale;
} abut_tie_args;

/* Damping (energy/damping.h) by matrices K[90 n] of elements node[4][n], -1 unused, and by masses: u = x - from.
 * damp_element: energy[i] = u^T K u / 2, force[12 i + ..] = K u.
 * damp_node: energy[i] = rate mass u^2 / 2; damp_push: out[3 i + k] += rate mass u_k. */
typedef struct abut_damp_args {
    const int32_t *node;
    const double *K, *mass, *x, *from;
    double *energy, *force, *out;
    double rate;
    size_t n;
} abut_damp_args;

#define ABUT_KERNELS_ELEMENTS(K) \
    K(tet_energy, abut_tet_args) K(tet_hessian, abut_tet_args) K(tet_bound, abut_tet_args) \
    K(node_energy, abut_node_args) K(node_gradient, abut_node_args) K(hold, abut_hold_args) \
    K(shell_energy, abut_codim_args) K(shell_hessian, abut_codim_args) K(shell_bound, abut_codim_args) \
    K(shell_room, abut_codim_args) K(hinge_energy, abut_codim_args) K(hinge_hessian, abut_codim_args) \
    K(rod_energy, abut_codim_args) K(rod_hessian, abut_codim_args) K(rod_tension, abut_codim_args) \
    K(rod_forecast, abut_codim_args) K(rod_fairness, abut_codim_args) K(bend_energy, abut_codim_args) \
    K(bend_hessian, abut_codim_args) \
    K(spring_energy, abut_tie_args) K(spring_hessian, abut_tie_args) K(tie_energy, abut_tie_args) K(tie_hessian, abut_tie_args) \
    K(damp_element, abut_damp_args) K(damp_node, abut_damp_args) K(damp_push, abut_damp_args)

#endif
