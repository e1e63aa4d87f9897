#include "formats/picture/camera.h"

#include <math.h>
#include <stdlib.h>

static const double PI = 3.14159265358979323846;
static const double HALF_ANGLE = 0.24;      /* rad, vertical: a moderate telephoto */
static const double MARGIN = 0.92;          /* fraction of the picture that the scene may fill */

void abut_fit_begin(abut_fit *f, const abut_view *v, int up_axis, double up_sign, double aspect)
{
    const double yaw = v->yaw * PI / 180, pitch = v->pitch * PI / 180;
    const int right_axis = (up_axis + (up_axis == 1 ? 2 : 1)) % 3;  /* x for up y and z, y for up x */
    double up[3] = { 0 }, right[3] = { 0 }, back[3];
    *f = (abut_fit){ 0 };
    up[up_axis] = up_sign;
    right[right_axis] = 1;
    for (int d = 0; d < 3; d++) {
        const int a = (d + 1) % 3, b = (d + 2) % 3;
        back[d] = right[a] * up[b] - right[b] * up[a];
    }
    for (int d = 0; d < 3; d++) {
        const double level = sin(yaw) * right[d] + cos(yaw) * back[d];
        f->camera.right[d] = (float)(cos(yaw) * right[d] - sin(yaw) * back[d]);
        f->camera.back[d] = (float)(cos(pitch) * level + sin(pitch) * up[d]);
        f->camera.up[d] = (float)(cos(pitch) * up[d] - sin(pitch) * level);
    }
    f->camera.tan_y = (float)tan(HALF_ANGLE);
    f->camera.tan_x = (float)(tan(HALF_ANGLE) * aspect);
    for (int k = 0; k < 4; k++) f->most[k] = -INFINITY;
    f->front = -INFINITY;
}

static double along(const float axis[3], const float p[3])
{
    return (double)axis[0] * p[0] + (double)axis[1] * p[1] + (double)axis[2] * p[2];
}

void abut_fit_add(abut_fit *f, const float p[3])
{
    const abut_camera *c = &f->camera;
    const double x = along(c->right, p), y = along(c->up, p), z = along(c->back, p);
    const double tx = MARGIN * c->tan_x, ty = MARGIN * c->tan_y;
    const double side[4] = { x + tx * z, -x + tx * z, y + ty * z, -y + ty * z };
    for (int k = 0; k < 4; k++)
        if (side[k] > f->most[k]) f->most[k] = side[k];
    if (z > f->front) f->front = z;
    f->any = 1;
}

abut_camera abut_fit_end(const abut_fit *f, double zoom)
{
    abut_camera c = f->camera;
    const double tx = MARGIN * c.tan_x, ty = MARGIN * c.tan_y;
    const double *m = f->most;
    double x = 0, y = 0, z = 10;
    if (f->any) {
        x = 0.5 * (m[0] - m[1]);
        y = 0.5 * (m[2] - m[3]);
        const double wide = (m[0] + m[1]) / (2 * tx), tall = (m[2] + m[3]) / (2 * ty);
        z = wide > tall ? wide : tall;
        const double least = f->front + 0.05 * fabs(z - f->front) + 1e-6 * (1 + fabs(f->front));
        if (z < least) z = least;
    }
    for (int d = 0; d < 3; d++) c.eye[d] = (float)(x * c.right[d] + y * c.up[d] + z * c.back[d]);
    c.tan_x = (float)(c.tan_x / zoom);
    c.tan_y = (float)(c.tan_y / zoom);
    return c;
}

abut_status abut_view_parse(const char *text, abut_view *v, abut_err *err)
{
    double number[3] = { 0, 0, 1 };
    int n = 0;
    const char *s = text;
    for (char *end; n < 3; s = end + 1) {
        number[n++] = strtod(s, &end);
        if (end == s) n = 4;
        s = end;
        if (*end != ',') break;
    }
    if (n < 2 || n > 3 || *s)
        return abut_fail(err, ABUT_E_ARG, "'%.60s': expected yaw,pitch or yaw,pitch,zoom", text);
    if (!isfinite(number[0]) || !(fabs(number[1]) <= 89))
        return abut_fail(err, ABUT_E_ARG, "'%.60s': yaw must be finite and pitch between -89 and 89 degrees", text);
    if (!(number[2] >= 0.01 && number[2] <= 1000))
        return abut_fail(err, ABUT_E_ARG, "'%.60s': zoom must be between 0.01 and 1000", text);
    *v = (abut_view){ number[0], number[1], number[2] };
    return ABUT_OK;
}
