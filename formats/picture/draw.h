/* A scene ready to be drawn: a camera that sees all of it, triangles with normals and colours, planes; and the drawing itself,
 * off screen, by OpenGL (draw_gl.c, the only file that includes its headers, linked into the program picture alone). */
#ifndef ABUT_FORMATS_PICTURE_DRAW_H
#define ABUT_FORMATS_PICTURE_DRAW_H

#include "formats/picture/image.h"
#include "formats/result/object_parts.h"

enum { ABUT_DRAW_VERTEX = 9 };  /* floats: position m, unit normal, linear colour */

/* Perspective from eye along -back; right, up, back are orthonormal. */
typedef struct abut_camera {
    float eye[3], right[3], up[3], back[3];
    float tan_x, tan_y;         /* of half the angle of view */
} abut_camera;

/* Direction of the camera, seen from the scene. */
typedef struct abut_view {
    double yaw;     /* degrees around the up axis; 0: from the front (+z when up is y, -y when up is z) */
    double pitch;   /* degrees above the horizon, -89 to 89 */
    double zoom;    /* 1: everything just fits; 2: twice as large */
} abut_view;

/* The four planes that hold every point so far in the field of view: fits exactly, in one pass over the points. */
typedef struct abut_fit {
    abut_camera camera;     /* all but the eye */
    double most[4];         /* x + tx z, -x + tx z, y + ty z, -y + ty z of the points, in camera axes */
    double front;           /* largest z */
    int any;
} abut_fit;

/** Starts with a direction.  up_axis, up_sign: as abut_up_axis gives them;  aspect: width / height. */
void abut_fit_begin(abut_fit *f, const abut_view *v, int up_axis, double up_sign, double aspect);
void abut_fit_add(abut_fit *f, const float p[3]);
/** The camera, zoomed. */
abut_camera abut_fit_end(const abut_fit *f, double zoom);

/** Reads "yaw,pitch" or "yaw,pitch,zoom".  Fails  ABUT_E_ARG */
ABUT_MUST_USE abut_status abut_view_parse(const char *text, abut_view *v, abut_err *err);

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

/* The triangles of one frame: skins of the objects, tubes along segments, balls at points. */

/* One object, constant over the frames.  Owns its arrays. */
typedef struct abut_draw_part {
    abut_shading_mesh skin;
    size_t first;               /* its first point in a record */
    int32_t npoint;
    int obstacle;
    float thick;                /* m: radius of its tubes and balls; 0: as all */
    float rgb[3];               /* sRGB */
    int32_t nseg, nball;
    int32_t *seg, *ball;        /* points */
} abut_draw_part;

/* Zero-filled is empty. */
typedef struct abut_draw_mesh {
    abut_draw_part *part;
    int32_t n;
    size_t npoint;              /* of all parts together */
    size_t n_vertex, n_tri, n_edged;
    float *vertex;
    uint32_t *tri;
    float *normal;              /* scratch */
} abut_draw_mesh;

/** Takes the parts of a model and makes room for their triangles.  X: rest positions by node; thick [parts->n], m: radius of
 * tubes and balls of each part, 0: unknown (NULL: all unknown).  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_draw_mesh_make(abut_draw_mesh *m, const abut_parts *parts, const double *X, const double *thick,
                                              abut_err *err);

/** Fills vertex for one frame.
 * x      [3 npoint] positions;  value [npoint] of the colour scale, NULL: colours of the objects
 * range  of the scale;  thick  m: radius of tubes, and of balls at their ends, where a part has none; isolated points are half
 *        as large again.  No part is drawn with less than a third of it */
void abut_draw_mesh_fill(abut_draw_mesh *m, const float *x, const float *value, const double range[2], double thick);
void abut_draw_mesh_clear(abut_draw_mesh *m);

#endif
