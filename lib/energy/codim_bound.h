/* Bounds of shells: which are reached, and how far a direction may be followed (Li 2020, 5.4).
 *
 * Bounds are the stretch limits, the strains of cloth, and for a neo-Hookean membrane that its area is not 0. */
#ifndef ABUT_ENERGY_CODIM_BOUND_H
#define ABUT_ENERGY_CODIM_BOUND_H

#include "contact/step_bound.h"
#include "energy/codim.h"

#define ABUT_STRETCH_LEFT 0.5   /* fraction of the distance to a bound that a step leaves */

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
    double room; /* smallest remaining fraction of a stretch barrier's width or of a strain bound; 1: none is active */
    int32_t room_shell;         /* -1: none is active */
} abut_codim_stretch;

/** Same bits for any thread count.  scratch: one abut_codim_stretch per block of shells. */
ABUT_MUST_USE abut_status abut_codim_stretch_find(const abut_codim *t, const double *x, abut_codim_stretch *out,
                                                 abut_arena *scratch, abut_err *err);

/** Lowers lim->alpha to the largest step along x -> x + alpha p that leaves every shell the fraction `slack`, in (0, 1), of its
 * distance to each bound at x, as contact/step_bound.h does; lim->tet is the shell.  May be too small by up to 1 %. */
void abut_limit_stretch(const abut_codim *t, const double *x, const double *p, double slack, abut_limit *lim);

#endif
