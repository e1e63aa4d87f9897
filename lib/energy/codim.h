/* Thin elements: shells, hinges between them, rod segments, bends between segments.  One list of stencils of up to four nodes,
 * in that order; the energy of an element is in joules.
 *
 * A shell is a triangle with F = [x1 - x0, x2 - x0] R^-1, R = shell/rest, and the volume V = area thickness.  It stores
 * V psi(F), psi its membrane, and V times the barrier of its stretch limits (energy/membrane.h).  The
 * solver chooses the stiffness kappa of that barrier; a larger kappa also stiffens the strain bounds of cloth.  Hinges: see
 * energy/hinge.h; rod segments and bends: see energy/rod_inline.h.
 *
 * Two kinds of terms, because some time schemes take elasticity in the middle of a step, and bounds at its end: */
#ifndef ABUT_ENERGY_CODIM_H
#define ABUT_ENERGY_CODIM_H

#include "base/arena.h"
#include "energy/membrane.h"

enum { ABUT_CODIM_ELASTIC = 1 /* without bounds */, ABUT_CODIM_BOUNDED = 2 /* stretch limits; cloth */, ABUT_CODIM_ALL = 3 };

/* Kinds of elements, in the order of the list. */
enum { ABUT_CODIM_SHELL, ABUT_CODIM_HINGE, ABUT_CODIM_ROD, ABUT_CODIM_BEND, ABUT_CODIM_KINDS };

/* Rest shapes, precomputed; owned here.  Borrows the model.  Zero-filled is empty. */
typedef struct abut_codim {
    const abut_model *model;
    size_t n;                               /* elements */
    size_t first[ABUT_CODIM_KINDS + 1];      /* elements of kind k are first[k] .. first[k + 1] - 1 */
    int32_t *node;                          /* [4 n] -1 for unused corners, which come last */
    int32_t *inc_first, *inc;               /* [nv + 1], corners (4 * element + corner) at each node, ascending */
    double *B;                              /* [4 nsh] inverse of shell/rest */
    double *vol;                            /* [nsh] m^3 */
    abut_membrane *membrane;                /* [nm] of the materials that shells have */
    int bounded;                            /* some element has a bounded term */
} abut_codim;

/** Fails  ABUT_E_FORMAT a material that no membrane is made of; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_codim_init(abut_codim *t, const abut_model *m, abut_err *err);
void abut_codim_clear(abut_codim *t);

/** Sum of the terms of `parts`, J, at x[3 nv]; kappa, Pa: stiffness of the stretch limits.  +inf if a bound is reached, a shell
 * has no area or a number is not finite (no failure: x is infeasible).  scratch: one double per block. */
ABUT_MUST_USE abut_status abut_codim_energy(const abut_codim *t, const double *x, int parts, double kappa, double *energy,
                                           abut_arena *scratch, abut_err *err);
/** g[3 nv] += scale * dE/dx, at an x of finite energy; same bits for any thread count.  scratch: 12 doubles per element. */
ABUT_MUST_USE abut_status abut_codim_gradient(const abut_codim *t, const double *x, int parts, double kappa, double scale,
                                             double *g, abut_arena *scratch, abut_err *err);
/** g[3 nv] += f[12 n], forces of the corners of each element, gathered by nodes. */
void abut_codim_gather(const abut_codim *t, const double *f, double *g);
/** H[n * ABUT_PACKED] (sparse/elements.h) += scale * d2E/dx2 of each element of t->node, projected to positive semidefinite;
 * blocks of unused corners are not written.  scale >= 0, x of finite energy. */
void abut_codim_hessian(const abut_codim *t, const double *x, int parts, double kappa, double scale, double *H);

struct abut_stretch_ahead;
/** H = scale * d2E/dx2 as above, with tension[nrd], N, as the tension of the rod segments, and with the stretch limits that a
 * direction meets (energy/stretch.h); NULL: limits at x.
 *
 * A direction that rotates the segments of a stiff rod also stretches them, by the square of the angle.  The tension at its end
 * therefore differs much from the tension in balance, and as a stiffness across the segments it would shorten later directions.
 * Newton's method with tensions as additional unknowns uses the tension that the last direction predicts to first order.  Its
 * gradient and the rest of its matrix are unchanged (Tournier et al. 2015). */
void abut_codim_hessian_ahead(const abut_codim *t, const double *x, int parts, double kappa, double scale, const double *tension,
                              const struct abut_stretch_ahead *limits, double *H);
/** tension[nrd] at x, N. */
void abut_codim_tension(const abut_codim *t, const double *x, double *tension);
/** Updates tension[nrd] to the forecast of a step x0 -> x1, which is the part `share` <= 1 of a direction: (1 - share) of its old
 * value, share of the tension at z, and the first-order change of the tension if z moves by `reach` times the step. */
void abut_codim_tension_forecast(const abut_codim *t, const double *z, const double *x0, const double *x1, double reach,
                                double share, double *tension);

/** g[3 nv] += H u, u the correction of the edges of shells and rod segments (energy/codim_elements.h): it undoes the stretch by
 * a displacement d beyond the first order of `meant`.  H[n * ABUT_PACKED]: Hessians of all elements.  *cost: sum of u.H u / 2,
 * the energy of that stretch in the units of H.
 *
 * z, d, meant [3 nv] m: z moves by reach d where x moves by d (0 < reach <= 1), and H is for x.  Same bits for any thread count.
 * scratch: 12 doubles per element. */
ABUT_MUST_USE abut_status abut_codim_turn(const abut_codim *t, const double *z, const double *d, const double *meant,
                                          double reach,
                                         const double *H, double *g, double *cost, abut_arena *scratch, abut_err *err);

/** F of a shell, 3x2 row major: linear in x, so of a direction p it is the derivative. */
void abut_shell_gradient_of(const abut_codim *t, const double *x, size_t shell, double F[6]);
/** Computes F of a shell and its singular values s[2], in no order. */
void abut_shell_deformation(const abut_codim *t, const double *x, int32_t shell, double F[6], double s[2]);

/* Tangents of one shell: axis, a unit vector of its rest plane; d2b and db, additions to the second and first derivative of b by
 * stretch along the axis [0] and across it [1]. */
typedef struct abut_stretch_tangent {
    double axis[2];
    double d2b[2], db[2];
} abut_stretch_tangent;

/* Zero-filled is empty. */
typedef struct abut_stretch_ahead {
    abut_stretch_tangent *of;   /* [nsh] */
    int any;                    /* 0: all barriers are those at the iterate; `of` is not read */
} abut_stretch_ahead;

/* Codimensional elements as terms.  "codim" has all their energy if the time scheme takes elasticity at the iterate.  Else the
 * energy of their bounds, which must hold at the iterate, is the term "codim bounds". */

struct abut_terms;

/* State that both terms share. */
typedef struct abut_codim_state {
    abut_codim t;
    double strain_kappa;    /* Pa: stiffness of the stretch limits */
    int near_limit;         /* successive iterations that left a shell close to a limit */
    double *tension;        /* [nrd] N: forecast of the tension of rod segments, for the Hessian */
    abut_stretch_ahead ahead;   /* stretch limits that the next direction meets */
} abut_codim_state;

/** Counts an iterate whose shells have `room` (abut_codim_stretch) left to their bounds.  1: a shell was close to its bound in
 * two successive iterates, and the bounds have been stiffened (Li 2020, 5.4.1). */
int abut_codim_stiffen(abut_codim_state *s, double room);

/** Returns the state of the list, which every model has, perhaps without elements. */
abut_codim_state *abut_codim_state_of(const struct abut_terms *terms);
abut_codim *abut_codim_of(const struct abut_terms *terms);

#endif
