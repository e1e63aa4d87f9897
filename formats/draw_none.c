/* Stands in for draw_gl.c where pkg-config finds no EGL and OpenGL. */
#include "formats/draw.h"

#include <stddef.h>

abut_status abut_painter_open(int w, int h, abut_painter **p, abut_err *err)
{
    *p = NULL;
    return abut_fail(err, ABUT_E_IO, "%d x %d pictures: this abut was built without OpenGL; install the packages libegl-dev and "
                     "libgl-dev and build again", w, h);
}

abut_status abut_painter_draw(abut_painter *p, const abut_draw *d, abut_image *im, abut_err *err)
{
    (void)p, (void)d, (void)im;
    return abut_fail(err, ABUT_E_IO, "this abut was built without OpenGL");
}

void abut_painter_free(abut_painter **p)
{
    *p = NULL;
}
