/* A camera that sees all of it. */
#ifndef ABUT_FORMATS_PICTURE_CAMERA_H
#define ABUT_FORMATS_PICTURE_CAMERA_H

#include "formats/picture/draw.h"

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

#endif
