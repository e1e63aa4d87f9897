/* What the bounds of shells allow: where they stand, and how far a direction may be followed (Li 2020, 5.4).
 *
 * Bounds are the stretch limits, the strains of cloth, and for a neo-Hookean membrane that its area is not 0. */
#ifndef ABUT_ENERGY_CODIM_BOUND_H
#define ABUT_ENERGY_CODIM_BOUND_H

#include "contact/step_bound.h"
#include "energy/codim.h"

#define ABUT_STRETCH_LEFT 0.5   /* of what is left to a bound: what a step leaves */

/* A bound that a shell is at or beyond. */
typedef struct abut_codim_excess {
    int32_t shell;
    const char *what;       /* "largest stretch", "smallest stretch", "strain along warp", "strain along weft", "shear strain" */
    double value, limit;
    int below;              /* the limit is one from below */
} abut_codim_excess;

/** 1 when some shell is not strictly inside its bounds at x, or has no area (smallest stretch 0); *out is the first of them. */
int abut_codim_outside(const abut_codim *t, const double *x, abut_codim_excess *out);

/* Principal stretches over all shells, and the shells that have them (the lowest number where several do). */
typedef struct abut_codim_stretch {
    double min, max;            /* 1, 1 without shells */
    int32_t min_shell, max_shell;   /* -1 without shells */
    double room; /* least share of a stretch barrier's width, or of a strain bound, that is left: 1 where none acts */
    int32_t room_shell;         /* -1 where none acts */
} abut_codim_stretch;

/** Same bits for any thread count.  scratch: one abut_codim_stretch per block of shells. */
ABUT_MUST_USE abut_status abut_codim_stretch_find(const abut_codim *t, const double *x, abut_codim_stretch *out,
                                                 abut_arena *scratch, abut_err *err);

/** Lowers lim->alpha to the largest step along x -> x + alpha p that leaves every shell `slack` (in (0, 1)) of what is left to
 * each of its bounds now, as the functions of contact/step_bound.h do; lim->tet is the shell.  Short of it by up to a hundredth.
 * */
void abut_limit_stretch(const abut_codim *t, const double *x, const double *p, double slack, abut_limit *lim);

#endif
