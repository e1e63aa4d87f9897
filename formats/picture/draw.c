#include "formats/picture/draw.h"

#include "base/arena.h"
#include "formats/result/point_fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a camera that sees all of it ---- */

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
    if (n < 2 || n > 3 || *s) return abut_fail(err, ABUT_E_ARG, "'%.60s': expected yaw,pitch or yaw,pitch,zoom", text);
    if (!isfinite(number[0]) || !(fabs(number[1]) <= 89))
        return abut_fail(err, ABUT_E_ARG, "'%.60s': yaw must be finite and pitch between -89 and 89 degrees", text);
    if (!(number[2] >= 0.01 && number[2] <= 1000))
        return abut_fail(err, ABUT_E_ARG, "'%.60s': zoom must be between 0.01 and 1000", text);
    *v = (abut_view){ number[0], number[1], number[2] };
    return ABUT_OK;
}

/* ---- the triangles of one frame ---- */

enum {
    SIDES = 8,
    RINGS = 5 /* of a ball, poles included */,
    BALL_VERTICES = RINGS * SIDES,
    BALL_TRIANGLES = (RINGS - 1) * SIDES * 2,
    TUBE_VERTICES = 2 * SIDES,
    TUBE_TRIANGLES = 2 * SIDES
};

/* ---- once for a model ---- */

/* Segments, and a ball at every end of one and at every isolated point. */
static abut_status take_lines(const abut_part *p, abut_draw_part *d, abut_err *err)
{
    uint8_t *seen = calloc((size_t)p->nv + 1, 1);
    d->seg = malloc((2 * (size_t)p->nseg + 1) * sizeof *d->seg);
    d->ball = malloc(((size_t)p->nv + 1) * sizeof *d->ball);
    if (!seen || !d->seg || !d->ball) {
        free(seen);
        return abut_fail(err, ABUT_E_NOMEM, "object '%s': no memory to draw it", p->name);
    }
    memcpy(d->seg, p->seg, 2 * (size_t)p->nseg * sizeof *d->seg);
    d->nseg = p->nseg;
    for (int32_t i = 0; i < 2 * p->nseg; i++) seen[p->seg[i]] = 1;
    for (int32_t i = 0; i < p->npoint; i++) seen[p->point[i]] = 1;
    for (int32_t i = 0; i < p->nv; i++)
        if (seen[i]) d->ball[d->nball++] = i;
    free(seen);
    return ABUT_OK;
}

static void count(abut_draw_mesh *m)
{
    for (int32_t i = 0; i < m->n; i++) {
        m->n_vertex += (size_t)m->part[i].skin.nv;
        m->n_tri += (size_t)m->part[i].skin.ntri;
    }
    m->n_edged = m->n_tri;
    for (int32_t i = 0; i < m->n; i++) {
        const size_t tubes = (size_t)m->part[i].nseg, balls = (size_t)m->part[i].nball;
        m->n_vertex += TUBE_VERTICES * tubes + BALL_VERTICES * balls;
        m->n_tri += TUBE_TRIANGLES * tubes + BALL_TRIANGLES * balls;
    }
}

/* A strip of quadrilaterals around: ring `a` and ring `b`, SIDES vertices each. */
static uint32_t *put_ring(uint32_t *t, uint32_t a, uint32_t b)
{
    for (uint32_t k = 0; k < SIDES; k++) {
        const uint32_t next = (k + 1) % SIDES;
        const uint32_t quad[6] = { a + k, a + next, b + next, a + k, b + next, b + k };
        memcpy(t, quad, sizeof quad);
        t += 6;
    }
    return t;
}

/* Triangles never change: skins of all parts first, then tubes and balls part by part, in the order of the vertices. */
static void put_triangles(abut_draw_mesh *m)
{
    uint32_t *t = m->tri, first = 0;
    for (int32_t i = 0; i < m->n; i++) {
        const abut_shading_mesh *s = &m->part[i].skin;
        for (int32_t k = 0; k < 3 * s->ntri; k++) *t++ = first + (uint32_t)s->tri[k];
        first += (uint32_t)s->nv;
    }
    for (int32_t i = 0; i < m->n; i++) {
        for (int32_t k = 0; k < m->part[i].nseg; k++, first += TUBE_VERTICES) t = put_ring(t, first, first + SIDES);
        for (int32_t k = 0; k < m->part[i].nball; k++, first += BALL_VERTICES)
            for (uint32_t r = 0; r + 1 < RINGS; r++) t = put_ring(t, first + r * SIDES, first + (r + 1) * SIDES);
    }
}

abut_status abut_draw_mesh_make(abut_draw_mesh *m, const abut_parts *parts, const double *X, const double *thick, abut_err *err)
{
    static const double crease = 0.7;   /* rad: sharper edges stay sharp */
    size_t most = 1;
    abut_status rc = ABUT_OK;
    *m = (abut_draw_mesh){ .part = calloc((size_t)parts->n + 1, sizeof *m->part) };
    if (!m->part) return abut_fail(err, ABUT_E_NOMEM, "no memory to draw %d objects", parts->n);
    for (int32_t k = 0; k < parts->n && !rc; k++) {
        const abut_part *p = &parts->part[k];
        abut_draw_part *d = &m->part[m->n++];
        *d = (abut_draw_part){ .first = m->npoint, .npoint = p->nv, .obstacle = p->obstacle,
                                .thick = thick ? (float)thick[k] : 0 };
        m->npoint += (size_t)p->nv;
        abut_palette_object(p->object, p->obstacle, d->rgb);
        rc = abut_shading_mesh_make(p, X, crease, &d->skin, err);
        if (!rc) rc = take_lines(p, d, err);
        if ((size_t)d->skin.nv > most) most = (size_t)d->skin.nv;
    }
    if (!rc) {
        count(m);
        if (!ABUT_ARRAYS(ABUT_ITEMS(m->vertex, (m->n_vertex + 1) * ABUT_DRAW_VERTEX), ABUT_ITEMS(m->tri, 3 * m->n_tri),
                         ABUT_ITEMS(m->normal, 3 * most)))
            rc = abut_fail(err, ABUT_E_NOMEM, "no memory to draw %zu triangles", m->n_tri);
        else if (m->n_vertex > INT32_MAX / 3 || m->n_tri > INT32_MAX / 3)
            rc = abut_fail(err, ABUT_E_ARG, "pictures: %zu triangles are too many; choose objects with --object", m->n_tri);
    }
    if (rc) abut_draw_mesh_clear(m);
    else put_triangles(m);
    return rc;
}

void abut_draw_mesh_clear(abut_draw_mesh *m)
{
    for (int32_t i = 0; i < m->n; i++) {
        abut_shading_mesh_clear(&m->part[i].skin);
        ABUT_FREE(m->part[i].seg, m->part[i].ball);
    }
    ABUT_FREE(m->part, m->vertex, m->tri, m->normal);
    *m = (abut_draw_mesh){ 0 };
}

/* ---- for every frame ---- */

/* Linear colour of a point. */
static void paint(const abut_draw_part *p, const float *value, const double range[2], float out[3])
{
    memcpy(out, p->rgb, sizeof p->rgb);
    if (value && !isnan(*value)) {
        const double span = range[1] - range[0];
        abut_palette_scale(span > 0 ? (*value - range[0]) / span : 0.5, out);
    }
    for (int d = 0; d < 3; d++) out[d] = abut_srgb_to_linear(out[d]);
}

static float *put_vertex(float *v, const float pos[3], const float normal[3], const float rgb[3])
{
    memcpy(v, pos, 3 * sizeof *v);
    memcpy(v + 3, normal, 3 * sizeof *v);
    memcpy(v + 6, rgb, 3 * sizeof *v);
    return v + ABUT_DRAW_VERTEX;
}

static float *put_tube(float *v, const float *a, const float *b, float r, const float ca[3], const float cb[3])
{
    float t[3], u[3], w[3], len2 = 0;
    for (int d = 0; d < 3; d++) {
        t[d] = b[d] - a[d];
        len2 += t[d] * t[d];
    }
    for (int d = 0; d < 3; d++) t[d] = len2 > 0 ? t[d] / sqrtf(len2) : d == 0;
    int axis = 0;
    for (int d = 1; d < 3; d++)
        if (fabsf(t[d]) < fabsf(t[axis])) axis = d;
    const float e[3] = { axis == 0, axis == 1, axis == 2 };
    for (int d = 0; d < 3; d++) u[d] = t[(d + 1) % 3] * e[(d + 2) % 3] - t[(d + 2) % 3] * e[(d + 1) % 3];
    const float s = 1 / sqrtf(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    for (int d = 0; d < 3; d++) u[d] *= s;
    for (int d = 0; d < 3; d++) w[d] = t[(d + 1) % 3] * u[(d + 2) % 3] - t[(d + 2) % 3] * u[(d + 1) % 3];
    for (int end = 0; end < 2; end++)
        for (int k = 0; k < SIDES; k++) {
            const float c = cosf(6.2831853f * (float)k / SIDES), sn = sinf(6.2831853f * (float)k / SIDES);
            float n[3], pos[3];
            for (int d = 0; d < 3; d++) {
                n[d] = c * u[d] + sn * w[d];
                pos[d] = (end ? b : a)[d] + r * n[d];
            }
            v = put_vertex(v, pos, n, end ? cb : ca);
        }
    return v;
}

static float *put_ball(float *v, const float *center, float r, const float rgb[3])
{
    for (int ring = 0; ring < RINGS; ring++) {
        const float polar = 3.14159265f * (float)ring / (RINGS - 1);
        for (int k = 0; k < SIDES; k++) {
            const float a = 6.2831853f * (float)k / SIDES;
            const float n[3] = { sinf(polar) * cosf(a), cosf(polar), sinf(polar) * sinf(a) };
            const float pos[3] = { center[0] + r * n[0], center[1] + r * n[1], center[2] + r * n[2] };
            v = put_vertex(v, pos, n, rgb);
        }
    }
    return v;
}

static float *fill_skin(abut_draw_mesh *m, const abut_draw_part *p, const float *x, const float *value, const double range[2],
                        float *v)
{
    abut_shading_mesh_normals(&p->skin, x, m->normal);
    for (int32_t i = 0; i < p->skin.nv; i++) {
        const int32_t point = p->skin.point[i];
        float rgb[3];
        paint(p, value ? value + point : NULL, range, rgb);
        v = put_vertex(v, x + 3 * point, m->normal + 3 * i, rgb);
    }
    return v;
}

static float *fill_lines(const abut_draw_part *p, const float *x, const float *value, const double range[2], float usual,
                         float *v)
{
    float ca[3], cb[3];
    const float thick = p->thick > 0 ? fmaxf(p->thick, usual / 3) : usual;
    for (int32_t i = 0; i < p->nseg; i++) {
        const int32_t a = p->seg[2 * i], b = p->seg[2 * i + 1];
        paint(p, value ? value + a : NULL, range, ca);
        paint(p, value ? value + b : NULL, range, cb);
        v = put_tube(v, x + 3 * a, x + 3 * b, thick, ca, cb);
    }
    for (int32_t i = 0; i < p->nball; i++) {
        paint(p, value ? value + p->ball[i] : NULL, range, ca);
        v = put_ball(v, x + 3 * p->ball[i], (p->nseg || p->thick > 0 ? 1.0f : 1.5f) * thick, ca);
    }
    return v;
}

void abut_draw_mesh_fill(abut_draw_mesh *m, const float *x, const float *value, const double range[2], double thick)
{
    float *v = m->vertex;
    for (int32_t i = 0; i < m->n; i++) {
        const size_t first = m->part[i].first;
        v = fill_skin(m, &m->part[i], x + 3 * first, value ? value + first : NULL, range, v);
    }
    for (int32_t i = 0; i < m->n; i++) {
        const size_t first = m->part[i].first;
        v = fill_lines(&m->part[i], x + 3 * first, value ? value + first : NULL, range, (float)thick, v);
    }
}
