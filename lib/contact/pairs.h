/* Contacts: stencils closer than dhat to their thickness at one configuration (Li 2020, 4.4.6, 5.5, App. G).
 * Equal stencils that several primitive pairs reduce to are merged with a multiplicity; edge pairs under the mollifier
 * keep their four vertices and stay single. */
#ifndef ABUT_CONTACT_PAIRS_H
#define ABUT_CONTACT_PAIRS_H

#include "contact/candidates.h"
#include "geom/dist.h"

#include <stdlib.h>
#include <string.h>

/* n contacts, arrays owned here, sorted by (mollified, kind, vertices).  Zero-filled is empty; the memory is kept from call
 * to call. */
typedef struct abut_pairs {
    size_t n, cap;
    size_t n_plain;         /* the first n_plain are plain stencils; the others are mollified edge pairs */
    uint8_t *kind;          /* [n] abut_stencil; ABUT_EE for mollified ones */
    int32_t (*vert)[4];     /* [n] collision vertices, -1 unused; PP: a < b; PE: e0 < e1 */
    double *mult;           /* [n] multiplicity, times the weight of the pair (abut_pair_weight) */
    double *dist2;          /* [n] m^2; plain: the bits of abut_dist2; mollified: nearest distance of the two edges */
    double *eps_x;          /* [n] m^4 mollifier threshold; 0 for plain stencils */
    /* of contacts weighed by area (contact/area.h), whose mult has either sign */
    double *reach;          /* [n] m: dhat of the contact */
    int32_t (*of)[3];       /* [n] EE: its edges; else the vertex whose area it has, and its patch and a triangle that this
                             * faces, -1: none (contact/area.h) */
    int32_t *bent;          /* [n_bent] EE contacts whose factor varies */
    size_t n_bent;

    size_t n_plane, cap_plane;
    int32_t *plane_vert;    /* [n_plane] collision vertex, ascending, not fixed */
    int32_t *plane;         /* [n_plane] half-space, ascending for one vertex */
    double *plane_dist;     /* [n_plane] m, height less thickness is < dhat */
    double *plane_mult;     /* [n_plane] weight of the pair */
    int32_t *plane_patch;   /* [n_plane] patch of a vertex whose contact is weighed by area, -1: none */
} abut_pairs;

/** The contacts at y among the candidates: distance < dhat + thickness, both of the pair.  Order and bits do not depend on the
 * thread count.  If ranks have divided the candidates, each rank tests its own, and every rank gets all contacts.
 * An edge pair is mollified if c = |u x v|^2 < eps_x at y, for every feature that carries its distance (Li 2020, 4.24).
 * On failure out is empty.
 * Fails  ABUT_E_GEOM a pair, or a vertex above a half-space, is at its thickness (default 0) or nearer, or a position is not
 *        finite (names it);
 *        ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_pairs_find(const abut_collmesh *cm, const abut_candidates *cand, const double *y,
                                          const uint8_t *fixed, abut_pairs *out, abut_err *err);
/** Thickness of contact i, of a half-space contact i, m. */
static inline double abut_pairs_xi(const abut_collmesh *cm, const abut_pairs *p, size_t i)
{
    return abut_collmesh_xi(cm, (abut_stencil)p->kind[i], p->vert[i]);
}
static inline double abut_pairs_plane_xi(const abut_collmesh *cm, const abut_pairs *p, size_t i)
{
    return abut_collmesh_plane_xi(cm, p->plane_vert[i]);
}
/** dhat of contact i, of half-space contact i, m. */
static inline double abut_pairs_dhat(const abut_collmesh *cm, const abut_pairs *p, size_t i)
{
    return cm->area ? p->reach[i] : abut_collmesh_dhat(cm, (abut_stencil)p->kind[i], p->vert[i]);
}
static inline double abut_pairs_plane_dhat(const abut_collmesh *cm, const abut_pairs *p, size_t i)
{
    return abut_collmesh_plane_dhat(cm, p->plane_vert[i]);
}
/** Distance less thickness of contact i, m; i >= n: of half-space contact i - n. */
double abut_pairs_gap(const abut_collmesh *cm, const abut_pairs *p, size_t i);
/** The smallest gap, +inf without contacts; which (NULL to skip): the first contact with it, pairs before half-spaces. */
double abut_pairs_smallest_gap(const abut_collmesh *cm, const abut_pairs *p, size_t *which);

/** The vertices of the active feature f of a stencil of vertices v[4] in the order of contacts: one feature has one order,
 * wherever it comes from.  Returns 1 where two ends of an edge have changed places. */
int abut_pairs_order(const abut_feature *f, const int32_t v[4], int32_t out[4]);
/** Copies the points of contact i to x[12] and returns its kind. */
abut_stencil abut_pairs_get(const abut_pairs *p, size_t i, const double *y, double x[12]);
void abut_pairs_clear(abut_pairs *p);
/** Allocates n contacts and n_plane half-space contacts; old contacts are lost.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_pairs_reserve(abut_pairs *p, size_t n, size_t n_plane, abut_err *err);

/* Why abut_pairs_find fails, ABUT_E_GEOM each: pair ij of kind s is at its thickness or nearer; so is vertex v, d above
 * half-space h; a coordinate is not finite. */
ABUT_MUST_USE abut_status abut_pairs_too_close(const abut_collmesh *cm, abut_stencil s, const int32_t ij[2], const double *y,
                                              abut_err *err);
ABUT_MUST_USE abut_status abut_pairs_plane_too_close(const abut_collmesh *cm, int32_t v, int32_t h, double d, abut_err *err);
ABUT_MUST_USE abut_status abut_pairs_check(const abut_collmesh *cm, const double *y, abut_err *err);

/* ---- between the finders of contacts and pairs.c, which sorts and merges them ---- */

enum { ABUT_RAW_MOLLIFIED = 4, ABUT_RAW_CLASSES = 5 };      /* classes 0..3 are the plain stencils of that kind */

/* A contact before merging.  Weighed by area, v[2] of a PP stencil is the vertex whose area it has, v[3] of a PE stencil the
 * guard that it is, -1: none. */
typedef struct abut_raw {
    int32_t v[4];
    int32_t class;
    int32_t face;           /* the triangle that the patch faces, -1: none */
    double dist2;
    union {
        double eps_x;
        int32_t of[2];      /* weighed by area: net integer and patch of a vertex's contact; edges of an EE contact */
    };
} abut_raw;

/* A set of cells with a number each: open addressing, emptied by the list of its members (contact/area_find.c). */
typedef struct abut_tally {
    int32_t *id, *count;    /* [cap] -1: free */
    size_t *member;         /* [n] places */
    size_t n, cap;
} abut_tally;
static inline void abut_tally_clear(abut_tally *t) { free(t->id), free(t->count), free(t->member); }

/* A triangle near a vertex with patches, with the nearest features of it and of its sides (contact/area_find.c). */
typedef struct abut_near_face {
    int32_t t, of[4][2];    /* kind and cell of each feature: of the sides, then of the triangle */
    double d2[4];
    double facing;          /* S of one patch */
    int32_t like;           /* the first near triangle with that S */
} abut_near_face;
/* The net integer of one feature for the triangles of one S. */
typedef struct abut_share_of_face {
    int32_t kind, cell, like, count;
    double d2;
} abut_share_of_face;

/* Contacts that one thread found, with its scratch, and the place of the contacts of a block of candidates. */
typedef struct abut_finds {
    abut_raw *c;
    size_t n, cap;
    int full;
    abut_tally edges, vertices;     /* cells near one vertex */
    abut_near_face *face;
    abut_share_of_face *share;
    size_t n_face, cap_face, n_share;   /* room for 7 shares of each face */
} abut_finds;
typedef struct abut_spot {
    size_t at;
    int32_t n, thread;
    int32_t bad;            /* first candidate of the block at distance 0, -1: none */
} abut_spot;

static inline void abut_raw_points(const double *y, const int32_t v[4], int n, double x[12])
{
    for (int k = 0; k < n; k++) memcpy(x + 3 * k, y + 3 * (size_t)v[k], 3 * sizeof *x);
}
/** Stores the active feature in its one canonical order: equal stencils are equal to the bit wherever they come from. */
void abut_raw_reduce(const abut_feature *f, const int32_t v[4], const double *y, double d2, abut_raw *c);
/** Returns 1 with room for `more` contacts; 0, with f->full set, if memory is missing. */
int abut_finds_reserve(abut_finds *f, size_t more);

#endif
