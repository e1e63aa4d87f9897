/* A scene ready to be drawn: triangles with normals and colours, planes, a camera; and the drawing itself, off screen, by
 * OpenGL (draw_gl.c, the only file that includes its headers, linked into the program picture alone). */
#ifndef ABUT_FORMATS_PICTURE_DRAW_H
#define ABUT_FORMATS_PICTURE_DRAW_H

#include "formats/picture/image.h"

enum { ABUT_DRAW_VERTEX = 9 };  /* floats: position m, unit normal, linear colour */

/* Perspective from eye along -back; right, up, back are orthonormal. */
typedef struct abut_camera {
    float eye[3], right[3], up[3], back[3];
    float tan_x, tan_y;         /* of half the angle of view */
} abut_camera;

/* Borrows all arrays. */
typedef struct abut_draw {
    const float *vertex;        /* [ABUT_DRAW_VERTEX n_vertex] */
    const uint32_t *tri;        /* [3 n_tri] */
    size_t n_vertex, n_tri;
    size_t n_edged;             /* the first triangles, whose edges --wireframe shows */
    const float *plane;         /* [6 n_plane] half-spaces: point, unit normal */
    int n_plane;
    abut_camera camera;
    float up[3];                /* of the world */
    float center[3], radius;    /* sphere around what casts shadows, m */
    float grid;                 /* distance of the lines on planes, m */
    int wireframe;
} abut_draw;

typedef struct abut_painter abut_painter;

/** Opens an off-screen OpenGL context for pictures of w x h pixels.
 * Fails  ABUT_E_IO naming the Debian packages that are missing; ABUT_E_ARG the size is too large */
ABUT_MUST_USE abut_status abut_painter_open(int w, int h, abut_painter **p, abut_err *err);
/** Draws into im, made here with the painter's size.  Fails  ABUT_E_IO OpenGL reports an error; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_painter_draw(abut_painter *p, const abut_draw *d, abut_image *im, abut_err *err);
void abut_painter_free(abut_painter **p);

#endif
