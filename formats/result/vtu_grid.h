/* The part of a model in one VTK file, and its elements as cells. */
#ifndef ABUT_FORMATS_RESULT_VTU_GRID_H
#define ABUT_FORMATS_RESULT_VTU_GRID_H

#include "formats/result/frame_view.h"

/* Constant over the frames of a model; owns its arrays.  Zero-filled is empty. */
typedef struct abut_vtu_grid {
    const char *stem;
    int32_t np, nc;
    int32_t *node, *lead;   /* [np] point of the model that each is, and the node that speaks for it */
    int64_t *conn, *offset; /* cells over the points */
    uint8_t *type;          /* [nc] */
    int32_t *row;           /* [nc] tet or shell of each cell; NULL in the grid of others */
} abut_vtu_grid;

/** Makes the grid of the tets, or the shells, of chosen objects, and their nodes.  stem: borrowed.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_vtu_tets(const abut_shot *s, const char *stem, abut_vtu_grid *g, abut_err *err);
ABUT_MUST_USE abut_status abut_vtu_shells(const abut_shot *s, const char *stem, abut_vtu_grid *g, abut_err *err);
/** Makes the grid of the rest: triangles of obstacles, and of contact surfaces that are no faces; segments, isolated points. */
ABUT_MUST_USE abut_status abut_vtu_others(const abut_shot *s, const char *stem, abut_vtu_grid *g, abut_err *err);
void abut_vtu_grid_clear(abut_vtu_grid *g);

#endif
