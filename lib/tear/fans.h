/* The elements of a torn model as cells, and its nodes split where those that remain no longer hold together (tear/tear.h).
 *
 * Cells have up to four corners: tets first, then triangles; those are shells, or the contact triangles of a model that has
 * neither tets nor shells.  At a node the cells that stay form fans: tets joined by faces, others by edges. */
#ifndef ABUT_TEAR_FANS_H
#define ABUT_TEAR_FANS_H

#include "model/model.h"

typedef struct abut_tear_cells {
    int32_t n, nt;          /* all; tets among them */
    int32_t *node;          /* [4 n] -1 unused; as they were */
    int32_t *now;           /* [4 n] the same with copies */
    uint8_t *gone;          /* [n] */
    uint8_t *touched;       /* [nv] by one that is gone */
    uint8_t *kept;          /* [nv] is never split */
    int32_t *first, *inc;   /* [nv + 1] cells at each node: inc[first[i] .. first[i + 1]) */
} abut_tear_cells;

typedef struct abut_tearing {
    const abut_model *m;
    const uint8_t *gone;    /* as in abut_tear_find */
    const uint8_t *no_rod;  /* [nrd] its rods */
    uint8_t *no_bend;       /* [nbd] bends that go with them */
    abut_tear_cells c;
    int32_t ncopies, cap;
    struct abut_tear_copy {
        int32_t from;       /* node it was */
        double share;       /* of the mass */
    } *copy;
    double *draw;           /* [3 (nv + copies)] m, where a part of a node draws to, from the node */
} abut_tearing;

/** The cells of a model, every node whole.  gone: as abut_tear_find has it, stays; *triangles counts contact triangles that
 * go with springs.
 * Fails  ABUT_E_NOMEM; w is then to be cleared all the same */
ABUT_MUST_USE abut_status abut_tearing_init(abut_tearing *w, const abut_model *m, const uint8_t *gone, int32_t *triangles,
                                            abut_err *err);
void abut_tearing_clear(abut_tearing *w);

/** Splits the nodes of what is removed at x[3 nv]: the first fan keeps the node, each other one gets a copy with the share of the
 * mass that its cells have of the rest volume (or area) there.  w->draw: from each part to the middle of its cells.
 * Fails  ABUT_E_FORMAT a node has more than 512 cells (names it); ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_tearing_split(abut_tearing *w, const double *x, abut_err *err);

/** Whether some corner of a contact triangle, v[3] vertices, is of a body. */
int abut_tear_simulated(const abut_model *m, const int32_t *v);

#endif
