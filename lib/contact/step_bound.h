/* How far a direction may be followed: collisions, half-spaces, inversions (Li 2020, 4.4.4, App. D); energy/stretch.h has the
 * bounds of shells. */
#ifndef ABUT_CONTACT_STEP_BOUND_H
#define ABUT_CONTACT_STEP_BOUND_H

#include "base/arena.h"
#include "base/par.h"
#include "contact/candidates.h"
#include "geom/ccd/ccd.h"
#include "geom/jacobian.h"
#include "model/tets.h"

#include <math.h>
#include <string.h>

/* Bound of a step, and the nodes that set it.  The caller starts with alpha = 1 and the rest zero.  If its bound is smaller, a
 * function below lowers alpha and sets the rest; else it changes nothing.  Of equal bounds the lowest index is named. */
typedef enum abut_limit_kind { ABUT_LIMIT_NONE = 0, ABUT_LIMIT_VT, ABUT_LIMIT_EE, ABUT_LIMIT_PLANE, ABUT_LIMIT_TET,
                               ABUT_LIMIT_LENGTH /* of a step, by the solver */, ABUT_LIMIT_VE, ABUT_LIMIT_VV,
                               ABUT_LIMIT_STRETCH /* of a shell */, ABUT_LIMIT_TERM /* any other term of the objective */,
                               ABUT_LIMIT_CFL /* of the motion of a point, by the solver */,
                               ABUT_LIMIT_KINDS /* how many */ } abut_limit_kind;
typedef struct abut_limit {
    double alpha;           /* the bound, in (0, 1]; 0 only when a half-space, a tet or a shell is violated at the start */
    abut_limit_kind kind;
    int32_t node[4];        /* vertex, triangle | edge, edge | vertex, edge | vertex, vertex | node, plane | tet corners |
                             * shell corners; -1 unused */
    int32_t tet;            /* for ABUT_LIMIT_TET, the shell for ABUT_LIMIT_STRETCH, an element for ABUT_LIMIT_TERM; else -1 */
    const char *term;       /* name of the term that sets the bound (energy/term.h); NULL: none */
} abut_limit;

/** Lowers lim->alpha to the largest step along y -> y + alpha (y1 - y) that keeps `slack` (in (0, 1)) of every candidate's
 * gap, distance less thickness, by additive CCD.  If vertices are sums of nodes, the gap is reduced by the rounding of those
 * sums, because the vertices of x + alpha p lie on the line only to rounding.  The same bits and the same pair for any thread
 * count.
 * Fails  ABUT_E_GEOM the gap of a pair is zero, or too small for double precision to move it at all (names the pair) */
ABUT_MUST_USE abut_status abut_limit_ccd(const abut_collmesh *cm, const abut_candidates *cand, const double *y,
                                         const double *y1, double slack, abut_limit *lim, abut_err *err);
/** Lowers lim so that vertices that are not fixed keep `slack` of their gap to half-spaces (fixed NULL: none is fixed). */
void abut_limit_planes(const abut_collmesh *cm, const double *y, const double *y1, const uint8_t *fixed, double slack,
                       abut_limit *lim);
/** Lowers lim so that every tet of an injective material (neo-Hookean) keeps `slack` of its current volume; a tet of order 2 or
 * more keeps `slack` of det F at every point.
 * x, p [3 nv]: node positions and direction. */
void abut_limit_inversion(const abut_model *m, const double *x, const double *p, double slack, abut_limit *lim);

/** The limit that pair ij of kind s sets; the failure of abut_limit_ccd for such a pair: ABUT_E_GEOM. */
abut_limit abut_limit_by_pair(const abut_collmesh *cm, abut_stencil s, const int32_t ij[2], double alpha);
ABUT_MUST_USE abut_status abut_limit_too_close(const abut_collmesh *cm, abut_stencil s, const int32_t ij[2], const double *y,
                                               abut_err *err);
/** The abut_stencil of a limit by mesh primitives, -1 for the others. */
int abut_limit_stencil(abut_limit_kind kind);

/* Tets of order 2 to 4 that must not invert: det F > 0 everywhere in them, by certificates (geom/jacobian.h).  Called for such
 * tets by abut_limit_inversion and by the functions of contact/intersect.h. */

/** 1 when tet t, or its rest shape, has order 2 or more. */
static inline int abut_is_curved(const abut_model *m, int32_t t) { return abut_tet_geometry_order(m, t) > 1; }
/** 1 when det F > 0 is not proven at x, and on the straight motion x0 -> x1. */
int abut_curved_inverted(const abut_model *m, int32_t t, const double *x);
int abut_curved_inverting(const abut_model *m, int32_t t, const double *x0, const double *x1);
/** Lower bound of det F over the tet; enough, at: of abut_jacobian_least_ratio, where `det` is det F. */
double abut_curved_jacobian(const abut_model *m, int32_t t, const double *x, double enough, abut_jacobian_at *at);

/* All collisions along a straight motion, not the first alone. */
/* A pair of primitives that does not keep its slack, or a vertex and a half-space. */
typedef struct abut_impact {
    double toi;             /* time up to which it keeps its slack, in [0, 1) */
    abut_stencil kind;      /* of the primitives; ABUT_PP with half-spaces */
    int32_t vert[4];        /* collision vertices, -1 unused */
    int32_t plane;          /* half-space, -1: none */
} abut_impact;

/** Finds the pairs among the candidates, and of vertices with half-spaces, that along y -> y1 lose more than `1 - slack` of their
 * gap (as in abut_limit_ccd) before `until` <= 1.  Half-spaces do not meet fixed vertices (NULL: none is fixed).  The same for
 * every thread count.
 *
 * out      *out[*n] in scratch, ascending in time
 * Fails    ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_impacts_all(const abut_collmesh *cm, const abut_candidates *cand, const double *y,
                                           const double *y1, double slack, double until, const uint8_t *fixed,
                                           abut_impact **out, size_t *n, abut_arena *scratch, abut_err *err);

/* A straight motion of a whole collision mesh, and the test before a CCD: candidates that the first slab clears. */
typedef struct abut_sweep {
    const double *y, *y1;   /* [3 nc] start, end */
    double slack;           /* fraction of the start gap that must be left */
    double round;           /* m: bound on the effect of rounding of y0 + W x on a gap, at both ends; 0 if W selects */
    double tiny;            /* m: smaller gaps, of which rounding is a visible part, are left to the CCD */
} abut_sweep;

static inline abut_sweep abut_sweep_of(const abut_collmesh *cm, const double *y, const double *y1, double slack)
{
    const size_t n = 3 * (size_t)cm->nc;
    double most = 0;
    #pragma omp parallel for schedule(static) reduction(max : most) if (n >= 8 * ABUT_PAR_MIN)
    for (size_t i = 0; i < n; i++) {
        const double a = fabs(y[i]), b = fabs(y1[i]);
        most = a > most ? a : most;
        most = b > most ? b : most;
    }
    return (abut_sweep){ y, y1, slack, 4 * cm->rounding * most, 0x1p-43 * most };
}

/** Returns a bit for each of four candidates, set if the first slab proves that it keeps its slack up to t_max. */
static inline int abut_sweep_clear(abut_stencil s, const abut_candidate_four *f, const abut_sweep *m, double t_max)
{
    double xi[ABUT_LANES];
    for (int l = 0; l < ABUT_LANES; l++) xi[l] = f->xi[l] + m->round;
    return abut_slab_clear_lanes(s, m->y, m->y1, (const int32_t (*)[4])f->v, xi, m->slack, m->tiny, t_max);
}

static inline void abut_sweep_gather(const double *y, const int32_t *v, int n, double *x)
{
    for (int k = 0; k < n; k++) memcpy(x + 3 * k, y + 3 * (size_t)v[k], 3 * sizeof *x);
}

#endif
