#define GL_GLEXT_PROTOTYPES
#include "formats/picture/draw.h"

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Shaders.
 *
 * Light: a sun with a soft shadow, and a sky of LAMPS directions over the upper hemisphere, each with a small shadow map of
 * its own, so that crevices and the ground under bodies darken as in daylight (ambient occlusion). */

/* Lamps, the tiles of their maps in one texture, pixels of a tile and of the sun's map: known to both sides. */
#define LAMPS 40
#define TILES_X 8
#define TILES_Y 5
#define TILE 144
#define SUN 2048

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define GLSL \
    "#version 330 core\n" \
    "const int LAMPS = " TEXT(LAMPS) ", TILES_X = " TEXT(TILES_X) ", TILES_Y = " TEXT(TILES_Y) ", SUN = " TEXT(SUN) ";\n"

_Static_assert(TILES_X * TILES_Y >= LAMPS, "a tile for every lamp");

/* Depth from one lamp: rows of its frame as vec4, position -> [-1, 1]^3. */
static const char depth_vertex[] = GLSL
    "layout(location = 0) in vec3 pos;\n"
    "uniform vec4 frame[3];\n"
    "void main() { vec4 p = vec4(pos, 1); gl_Position = vec4(dot(frame[0], p), dot(frame[1], p), dot(frame[2], p), 1); }\n";
static const char depth_fragment[] = GLSL "void main() {}\n";

/* The two surface programs are the same but for where the albedo comes from. */
static const char body_vertex[] = GLSL
    "layout(location = 0) in vec3 pos;\n"
    "layout(location = 1) in vec3 normal;\n"
    "layout(location = 2) in vec3 color;\n"
    "uniform mat4 view;\n"
    "out vec3 p; out vec3 n; out vec3 albedo;\n"
    "void main() { p = pos; n = normal; albedo = color; gl_Position = view * vec4(pos, 1); }\n";

#define LIGHT \
    "uniform vec4 lamp_row[3 * LAMPS];\n" \
    "uniform vec4 sun_row[3];\n" \
    "uniform vec3 lamp_dir[LAMPS];\n" \
    "uniform vec3 sun_dir, up, eye;\n" \
    "uniform float radius;\n" \
    "uniform sampler2DShadow lamp_map;\n" \
    "uniform sampler2DShadow sun_map;\n" \
    "float sun(vec3 q) {\n" \
    "    vec4 h = vec4(q, 1);\n" \
    "    vec3 s = vec3(dot(sun_row[0], h), dot(sun_row[1], h), dot(sun_row[2], h)) * 0.5 + 0.5;\n" \
    "    if (any(lessThan(s, vec3(0))) || any(greaterThan(s, vec3(1)))) return 1.0;\n" \
    "    float sum = 0.0;\n" \
    "    for (int i = 0; i < 12; i++) {\n" \
    "        float a = 2.39996 * float(i), r = 4.5 * sqrt((float(i) + 0.5) / 12.0);\n" \
    "        sum += texture(sun_map, vec3(s.xy + r / float(SUN) * vec2(cos(a), sin(a)), s.z));\n" \
    "    }\n" \
    "    return sum / 12.0;\n" \
    "}\n" \
    "float sky(vec3 q, vec3 n) {\n" \
    "    float sum = 0.0, most = 0.0;\n" \
    "    for (int i = 0; i < LAMPS; i++) {\n" \
    "        float w = max(dot(n, lamp_dir[i]), 0.0);\n" \
    "        if (w == 0.0) continue;\n" \
    "        vec4 h = vec4(q, 1);\n" \
    "        vec3 s = vec3(dot(lamp_row[3 * i], h), dot(lamp_row[3 * i + 1], h), dot(lamp_row[3 * i + 2], h)) * 0.5 + 0.5;\n" \
    "        float seen = 1.0;\n" \
    "        if (all(greaterThan(s, vec3(0.004))) && all(lessThan(s, vec3(0.996)))) {\n" \
    "            vec2 tile = vec2(float(i % TILES_X), float(i / TILES_X));\n" \
    "            seen = texture(lamp_map, vec3((tile + s.xy) / vec2(TILES_X, TILES_Y), s.z));\n" \
    "        }\n" \
    "        sum += w * seen;\n" \
    "    }\n" \
    "    return sum * 2.0 / float(LAMPS);\n" \
    "}\n" \
    "vec3 shade(vec3 p, vec3 n, vec3 albedo, float gloss) {\n" \
    "    vec3 v = normalize(eye - p);\n" \
    "    float facing = dot(n, sun_dir);\n" \
    "    vec3 q = p + n * radius * 0.006;\n" \
    "    float lit = facing > 0.0 ? sun(q) : 0.0;\n" \
    "    float high = 0.5 + 0.5 * dot(n, up);\n" \
    "    vec3 day = vec3(0.90, 0.96, 1.05) * 0.62 * sky(p + n * radius * 0.020, n);\n" \
    "    vec3 bounce = vec3(1.0, 0.97, 0.93) * (0.20 * (1.0 - high) + 0.06);\n" \
    "    vec3 h = normalize(v + sun_dir);\n" \
    "    float shine = gloss * pow(max(dot(n, h), 0.0), 40.0) * lit;\n" \
    "    float rim = gloss * 0.5 * pow(1.0 - max(dot(n, v), 0.0), 4.0);\n" \
    "    return albedo * (day + bounce + vec3(1.05, 1.0, 0.93) * 0.78 * max(facing, 0.0) * lit) + shine + rim * day;\n" \
    "}\n" \
    "vec3 encode(vec3 c) {\n" \
    "    c = c / (1.0 + 0.12 * c);\n" \
    "    return mix(12.92 * c, 1.055 * pow(max(c, vec3(0.0)), vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c));\n" \
    "}\n"

static const char body_fragment[] = GLSL
    "in vec3 p; in vec3 n; in vec3 albedo;\n"
    "out vec4 color;\n"
    "uniform float line;\n" LIGHT
    "void main() {\n"
    "    vec3 m = normalize(n);\n"
    "    if (!gl_FrontFacing) m = -m;\n"
    "    color = line > 0.0 ? vec4(albedo * 0.15, line) : vec4(encode(shade(p, m, albedo, 0.10)), 1);\n"
    "}\n";

/* A half-space: a large square, its grid in the two directions u and w, fading with the distance from the centre. */
static const char plane_vertex[] = GLSL
    "layout(location = 0) in vec3 pos;\n"
    "uniform mat4 view;\n"
    "out vec3 p;\n"
    "void main() { p = pos; gl_Position = view * vec4(pos, 1); }\n";
static const char plane_fragment[] = GLSL
    "in vec3 p;\n"
    "out vec4 color;\n"
    "uniform vec3 normal, center, u, w;\n"
    "uniform float grid;\n" LIGHT
    "float lines(float x, float width) {\n"
    "    float d = fwidth(x), t = abs(fract(x - 0.5) - 0.5);\n"
    "    return (1.0 - smoothstep(0.0, 1.0, t / d - width)) * clamp(0.35 / d, 0.0, 1.0);\n"
    "}\n"
    "void main() {\n"
    "    vec2 g = vec2(dot(p, u), dot(p, w)) / grid;\n"
    "    float fine = max(lines(g.x, 0.0), lines(g.y, 0.0)), coarse = max(lines(g.x / 5.0, 0.3), lines(g.y / 5.0, 0.3));\n"
    "    vec3 albedo = vec3(0.80) * (1.0 - 0.10 * fine - 0.14 * coarse);\n"
    "    float away = length(p - center) / radius;\n"
    "    color = vec4(encode(shade(p, normal, albedo, 0.0)), 1.0 - smoothstep(1.3, 3.4, away));\n"
    "}\n";

/* The background: one triangle over all. */
static const char sky_vertex[] = GLSL
    "out float y;\n"
    "void main() { vec2 p = vec2(gl_VertexID == 1 ? 3 : -1, gl_VertexID == 2 ? 3 : -1); y = p.y * 0.5 + 0.5;\n"
    "    gl_Position = vec4(p, 0.9999999, 1); }\n";
static const char sky_fragment[] = GLSL
    "in float y;\n"
    "out vec4 color;\n"
    "void main() { color = vec4(mix(vec3(0.945, 0.950, 0.958), vec3(0.800, 0.842, 0.890), clamp(y, 0.0, 1.0)), 1); }\n";

#ifdef __SANITIZE_ADDRESS__
/* Drivers of OpenGL keep what they allocate until the process ends. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }
#endif

enum { SAMPLES = 4 /* of the edges, per pixel */, SIZE_MAX_PX = 8192 };

struct abut_painter {
    int w, h;
    EGLDisplay display;
    EGLContext context;
    GLuint depth_program, body_program, plane_program, sky_program;
    GLuint frame, color, depth;             /* render targets, several samples a pixel */
    GLuint plain_frame, plain_color;        /* their mean */
    GLuint map_frame, lamp_map, sun_map;
    GLuint array, vertices, indices;
    GLuint square_array, square;
    uint8_t *pixels;
};

/* An orthographic view along -dir that holds a sphere: rows that take (p, 1) to [-1, 1]. */
typedef struct lamp {
    float dir[3], row[3][4];
} lamp;

static float dot3(const float a[3], const float b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross3(const float a[3], const float b[3], float c[3])
{
    for (int i = 0; i < 3; i++) c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static void unit3(float a[3])
{
    const float s = 1 / sqrtf(dot3(a, a));
    for (int d = 0; d < 3; d++) a[d] *= s;
}

/* Two unit vectors across n. */
static void across(const float n[3], float u[3], float w[3])
{
    int axis = 0;
    for (int d = 1; d < 3; d++)
        if (fabsf(n[d]) < fabsf(n[axis])) axis = d;
    cross3(n, (float[3]){ axis == 0, axis == 1, axis == 2 }, u);
    unit3(u);
    cross3(n, u, w);
}

static void lamp_make(lamp *l, const float dir[3], const float center[3], float radius)
{
    float axis[3][3];
    memcpy(l->dir, dir, sizeof l->dir);
    across(dir, axis[0], axis[1]);
    for (int d = 0; d < 3; d++) axis[2][d] = -dir[d];
    for (int k = 0; k < 3; k++) {
        for (int d = 0; d < 3; d++) l->row[k][d] = axis[k][d] / radius;
        l->row[k][3] = -dot3(axis[k], center) / radius;
    }
}

/* ---- the context ---- */

static abut_status no_context(const char *what, abut_err *err)
{
    return abut_fail(err, ABUT_E_IO, "pictures: %s (EGL error 0x%04x); off-screen OpenGL needs the packages libegl-mesa0 and "
                     "libgl1-mesa-dri", what, (unsigned)eglGetError());
}

static abut_status open_context(abut_painter *p, abut_err *err)
{
    static const EGLint want[] = { EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE };
    static const EGLint core[] = { EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 3, EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                   EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE };
    EGLConfig config;
    EGLint n = 0;
    p->display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    if (p->display == EGL_NO_DISPLAY || !eglInitialize(p->display, NULL, NULL)) {
        p->display = EGL_NO_DISPLAY;
        return no_context("there is no surfaceless display", err);
    }
    if (!eglBindAPI(EGL_OPENGL_API) || !eglChooseConfig(p->display, want, &config, 1, &n) || n < 1)
        return no_context("the display offers no OpenGL", err);
    p->context = eglCreateContext(p->display, config, EGL_NO_CONTEXT, core);
    if (p->context == EGL_NO_CONTEXT || !eglMakeCurrent(p->display, EGL_NO_SURFACE, EGL_NO_SURFACE, p->context))
        return no_context("OpenGL 3.3 cannot be had", err);
    return ABUT_OK;
}

static GLuint compile(GLenum kind, const char *text, char *log, GLsizei size)
{
    const GLuint s = glCreateShader(kind);
    GLint ok = 0;
    glShaderSource(s, 1, &text, NULL);
    glCompileShader(s);
    glGetShaderiv(s, GL_COMPILE_STATUS, &ok);
    if (!ok) glGetShaderInfoLog(s, size, NULL, log);
    return s;
}

static abut_status link(const char *vertex, const char *fragment, GLuint *program, abut_err *err)
{
    char log[200] = "";
    const GLuint v = compile(GL_VERTEX_SHADER, vertex, log, sizeof log),
                 f = compile(GL_FRAGMENT_SHADER, fragment, log, sizeof log);
    GLint ok = 0;
    *program = glCreateProgram();
    glAttachShader(*program, v);
    glAttachShader(*program, f);
    glLinkProgram(*program);
    glDeleteShader(v);
    glDeleteShader(f);
    glGetProgramiv(*program, GL_LINK_STATUS, &ok);
    if (!ok && !*log) glGetProgramInfoLog(*program, sizeof log, NULL, log);
    return ok ? ABUT_OK : abut_fail(err, ABUT_E_IO, "pictures: OpenGL refuses a shader: %s", log);
}

static GLuint depth_texture(int w, int h)
{
    GLuint t;
    glGenTextures(1, &t);
    glBindTexture(GL_TEXTURE_2D, t);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_DEPTH_COMPONENT24, w, h, 0, GL_DEPTH_COMPONENT, GL_UNSIGNED_INT, NULL);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_FUNC, GL_LEQUAL);
    return t;
}

static GLuint buffer(int samples, GLenum format, int w, int h)
{
    GLuint b;
    glGenRenderbuffers(1, &b);
    glBindRenderbuffer(GL_RENDERBUFFER, b);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, format, w, h);
    return b;
}

static abut_status make_targets(abut_painter *p, abut_err *err)
{
    GLint most = 0, samples = 0;
    glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &most);
    glGetIntegerv(GL_MAX_SAMPLES, &samples);
    if (p->w > most || p->h > most)
        return abut_fail(err, ABUT_E_ARG, "pictures of %d x %d: this OpenGL can do %d x %d", p->w, p->h, most, most);
    if (samples > SAMPLES) samples = SAMPLES;
    p->color = buffer(samples, GL_RGBA8, p->w, p->h);
    p->depth = buffer(samples, GL_DEPTH_COMPONENT24, p->w, p->h);
    p->plain_color = buffer(0, GL_RGBA8, p->w, p->h);
    glGenFramebuffers(1, &p->frame);
    glBindFramebuffer(GL_FRAMEBUFFER, p->frame);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, p->color);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, p->depth);
    int complete = glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
    glGenFramebuffers(1, &p->plain_frame);
    glBindFramebuffer(GL_FRAMEBUFFER, p->plain_frame);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, p->plain_color);
    complete &= glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
    p->lamp_map = depth_texture(TILE * TILES_X, TILE * TILES_Y);
    p->sun_map = depth_texture(SUN, SUN);
    glGenFramebuffers(1, &p->map_frame);
    p->pixels = malloc((size_t)p->w * (size_t)p->h * 4);
    if (!p->pixels) return abut_fail(err, ABUT_E_NOMEM, "no memory for a picture of %d x %d", p->w, p->h);
    return complete ? ABUT_OK : abut_fail(err, ABUT_E_IO, "pictures: OpenGL cannot draw on %d x %d pixels", p->w, p->h);
}

static void make_arrays(abut_painter *p)
{
    glGenVertexArrays(1, &p->array);
    glGenBuffers(1, &p->vertices);
    glGenBuffers(1, &p->indices);
    glBindVertexArray(p->array);
    glBindBuffer(GL_ARRAY_BUFFER, p->vertices);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, p->indices);
    for (GLuint k = 0; k < 3; k++) {
        glEnableVertexAttribArray(k);
        const uintptr_t offset = 3 * k * sizeof(float);
        glVertexAttribPointer(k, 3, GL_FLOAT, GL_FALSE, ABUT_DRAW_VERTEX * sizeof(float), (const void *)offset);
    }
    glGenVertexArrays(1, &p->square_array);
    glGenBuffers(1, &p->square);
    glBindVertexArray(p->square_array);
    glBindBuffer(GL_ARRAY_BUFFER, p->square);
    glEnableVertexAttribArray(0);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, NULL);
}

abut_status abut_painter_open(int w, int h, abut_painter **out, abut_err *err)
{
    *out = NULL;
    if (w < 1 || h < 1 || w > SIZE_MAX_PX || h > SIZE_MAX_PX)
        return abut_fail(err, ABUT_E_ARG, "pictures of %d x %d: want 1 to %d pixels each way", w, h, SIZE_MAX_PX);
    abut_painter *p = calloc(1, sizeof *p);
    if (!p) return abut_fail(err, ABUT_E_NOMEM, "no memory for pictures");
    p->w = w;
    p->h = h;
    abut_status rc = open_context(p, err);
    if (!rc) rc = link(depth_vertex, depth_fragment, &p->depth_program, err);
    if (!rc) rc = link(body_vertex, body_fragment, &p->body_program, err);
    if (!rc) rc = link(plane_vertex, plane_fragment, &p->plane_program, err);
    if (!rc) rc = link(sky_vertex, sky_fragment, &p->sky_program, err);
    if (!rc) rc = make_targets(p, err);
    if (!rc) make_arrays(p);
    if (rc) abut_painter_free(&p);
    *out = p;
    return rc;
}

void abut_painter_free(abut_painter **p)
{
    if (!*p) return;
    if ((*p)->display != EGL_NO_DISPLAY) {
        eglMakeCurrent((*p)->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
        if ((*p)->context != EGL_NO_CONTEXT) eglDestroyContext((*p)->display, (*p)->context);   /* and all that lives in it */
        eglTerminate((*p)->display);
    }
    free((*p)->pixels);
    free(*p);
    *p = NULL;
}

/* ---- light ---- */

/* Points spread evenly over the upper hemisphere (Fibonacci spiral). */
static void make_lamps(const abut_draw *d, lamp lamps[LAMPS], lamp *sun)
{
    float u[3], w[3], dir[3], side[3];
    across(d->up, u, w);
    for (int i = 0; i < LAMPS; i++) {
        const float z = ((float)i + 0.5f) / LAMPS, r = sqrtf(1 - z * z), a = 2.3999632f * (float)i;
        for (int k = 0; k < 3; k++) dir[k] = z * d->up[k] + r * (cosf(a) * u[k] + sinf(a) * w[k]);
        unit3(dir);
        lamp_make(&lamps[i], dir, d->center, d->radius);
    }
    /* the sun is behind the left shoulder of the camera */
    cross3(d->up, d->camera.right, side);
    for (int k = 0; k < 3; k++) dir[k] = 0.92f * d->up[k] - 0.58f * d->camera.right[k] - 0.35f * side[k];
    unit3(dir);
    lamp_make(sun, dir, d->center, d->radius);
}

static void draw_depth(abut_painter *p, const abut_draw *d, const lamp *l)
{
    glUniform4fv(glGetUniformLocation(p->depth_program, "frame"), 3, l->row[0]);
    glDrawElements(GL_TRIANGLES, (GLsizei)(3 * d->n_tri), GL_UNSIGNED_INT, NULL);
}

static void draw_maps(abut_painter *p, const abut_draw *d, const lamp lamps[LAMPS], const lamp *sun)
{
    glBindFramebuffer(GL_FRAMEBUFFER, p->map_frame);
    glDrawBuffer(GL_NONE);
    glReadBuffer(GL_NONE);
    glUseProgram(p->depth_program);
    glBindVertexArray(p->array);
    glEnable(GL_DEPTH_TEST);
    glEnable(GL_DEPTH_CLAMP);       /* objects between the sphere and the lamp cast shadows, too */
    glDisable(GL_BLEND);
    glDepthMask(GL_TRUE);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, p->lamp_map, 0);
    glViewport(0, 0, TILE * TILES_X, TILE * TILES_Y);
    glClear(GL_DEPTH_BUFFER_BIT);
    glEnable(GL_SCISSOR_TEST);
    for (int i = 0; i < LAMPS; i++) {
        glViewport(i % TILES_X * TILE, i / TILES_X * TILE, TILE, TILE);
        glScissor(i % TILES_X * TILE, i / TILES_X * TILE, TILE, TILE);
        draw_depth(p, d, &lamps[i]);
    }
    glDisable(GL_SCISSOR_TEST);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, p->sun_map, 0);
    glViewport(0, 0, SUN, SUN);
    glClear(GL_DEPTH_BUFFER_BIT);
    draw_depth(p, d, sun);
    glDisable(GL_DEPTH_CLAMP);
}

static void set_light(GLuint program, const abut_draw *d, const lamp lamps[LAMPS], const lamp *sun)
{
    float dir[3 * LAMPS], row[12 * LAMPS];
    for (int i = 0; i < LAMPS; i++) {
        memcpy(dir + 3 * i, lamps[i].dir, sizeof lamps[i].dir);
        memcpy(row + 12 * i, lamps[i].row, sizeof lamps[i].row);
    }
    glUniform4fv(glGetUniformLocation(program, "lamp_row"), 3 * LAMPS, row);
    glUniform4fv(glGetUniformLocation(program, "sun_row"), 3, sun->row[0]);
    glUniform3fv(glGetUniformLocation(program, "lamp_dir"), LAMPS, dir);
    glUniform3fv(glGetUniformLocation(program, "sun_dir"), 1, sun->dir);
    glUniform3fv(glGetUniformLocation(program, "up"), 1, d->up);
    glUniform3fv(glGetUniformLocation(program, "eye"), 1, d->camera.eye);
    glUniform1f(glGetUniformLocation(program, "radius"), d->radius);
    glUniform1i(glGetUniformLocation(program, "lamp_map"), 0);
    glUniform1i(glGetUniformLocation(program, "sun_map"), 1);
}

/* ---- the picture ---- */

/* Column major, as OpenGL wants it. */
static void view_matrix(const abut_draw *d, float m[16])
{
    const abut_camera *c = &d->camera;
    const float *axis[3] = { c->right, c->up, c->back };
    float to[3] = { d->center[0] - c->eye[0], d->center[1] - c->eye[1], d->center[2] - c->eye[2] };
    const float away = -dot3(to, c->back), far = away + 8 * d->radius;
    const float near = fmaxf(away - 4 * d->radius, far / 2000);
    const float scale[3] = { 1 / c->tan_x, 1 / c->tan_y, -(far + near) / (far - near) };
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++) {
            const int k = i == 3 ? 2 : i;
            const float v = j < 3 ? axis[k][j] : -dot3(axis[k], c->eye);
            m[4 * j + i] = i == 3 ? -v : scale[i] * v;
        }
    m[14] -= 2 * far * near / (far - near);
}

static void draw_sky(abut_painter *p)
{
    glDisable(GL_DEPTH_TEST);
    glUseProgram(p->sky_program);
    glBindVertexArray(p->square_array);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glEnable(GL_DEPTH_TEST);
}

static void draw_bodies(abut_painter *p, const abut_draw *d, const float view[16], const lamp lamps[LAMPS], const lamp *sun)
{
    glUseProgram(p->body_program);
    set_light(p->body_program, d, lamps, sun);
    glUniformMatrix4fv(glGetUniformLocation(p->body_program, "view"), 1, GL_FALSE, view);
    glBindVertexArray(p->array);
    const GLint line = glGetUniformLocation(p->body_program, "line");
    glUniform1f(line, 0);
    /* faces seen from behind are moved back a little, so that they do not shine through along silhouettes; the lines of a
     * wireframe get room in front of their faces by it */
    glEnable(GL_POLYGON_OFFSET_FILL);
    glEnable(GL_CULL_FACE);
    for (int back = 1; back >= 0; back--) {
        const float offset = (float)back + (d->wireframe ? 1 : 0);
        glPolygonOffset(offset, offset);
        glCullFace(back ? GL_FRONT : GL_BACK);
        glDrawElements(GL_TRIANGLES, (GLsizei)(3 * d->n_tri), GL_UNSIGNED_INT, NULL);
    }
    glDisable(GL_CULL_FACE);
    glDisable(GL_POLYGON_OFFSET_FILL);
    if (!d->wireframe) return;
    glUniform1f(line, 0.45f);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
    glDrawElements(GL_TRIANGLES, (GLsizei)(3 * d->n_edged), GL_UNSIGNED_INT, NULL);
    glPolygonMode(GL_FRONT_AND_BACK, GL_FILL);
    glDisable(GL_BLEND);
}

static void draw_plane(abut_painter *p, const abut_draw *d, const float point[3], const float normal[3])
{
    const abut_camera *c = &d->camera;
    float u[3], w[3], foot[3], corner[12], high = 0, deep = 0;
    for (int k = 0; k < 3; k++) {
        high += (c->eye[k] - point[k]) * normal[k];
        deep += (d->center[k] - point[k]) * normal[k];
    }
    if (high <= 0) return;              /* from inside of the solid it would hide everything */
    across(normal, u, w);
    for (int k = 0; k < 3; k++) foot[k] = d->center[k] - deep * normal[k];
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++)
            corner[3 * i + k] =
                foot[k] + 4 * d->radius * ((i == 1 || i == 3 ? 1.0f : -1.0f) * u[k] + (i > 1 ? 1.0f : -1.0f) * w[k]);
    glUniform3fv(glGetUniformLocation(p->plane_program, "normal"), 1, normal);
    glUniform3fv(glGetUniformLocation(p->plane_program, "center"), 1, foot);
    glUniform3fv(glGetUniformLocation(p->plane_program, "u"), 1, u);
    glUniform3fv(glGetUniformLocation(p->plane_program, "w"), 1, w);
    glBindBuffer(GL_ARRAY_BUFFER, p->square);
    glBufferData(GL_ARRAY_BUFFER, sizeof corner, corner, GL_STREAM_DRAW);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

static void draw_planes(abut_painter *p, const abut_draw *d, const float view[16], const lamp lamps[LAMPS], const lamp *sun)
{
    glUseProgram(p->plane_program);
    set_light(p->plane_program, d, lamps, sun);
    glUniformMatrix4fv(glGetUniformLocation(p->plane_program, "view"), 1, GL_FALSE, view);
    glUniform1f(glGetUniformLocation(p->plane_program, "grid"), d->grid);
    glBindVertexArray(p->square_array);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    for (int i = 0; i < d->n_plane; i++) draw_plane(p, d, d->plane + 6 * i, d->plane + 6 * i + 3);
    glDisable(GL_BLEND);
}

/* Resolves the samples and reads the picture, from bottom-up to top-down. */
static void read_picture(const abut_painter *p, abut_image *im)
{
    glBindFramebuffer(GL_READ_FRAMEBUFFER, p->frame);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, p->plain_frame);
    glBlitFramebuffer(0, 0, p->w, p->h, 0, 0, p->w, p->h, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, p->plain_frame);
    glReadPixels(0, 0, p->w, p->h, GL_RGBA, GL_UNSIGNED_BYTE, p->pixels);
    const size_t w = (size_t)p->w, h = (size_t)p->h;
    for (size_t y = 0; y < h; y++)
        for (size_t x = 0; x < w; x++) memcpy(im->rgb + 3 * (y * w + x), p->pixels + 4 * ((h - 1 - y) * w + x), 3);
}

abut_status abut_painter_draw(abut_painter *p, const abut_draw *d, abut_image *im, abut_err *err)
{
    lamp lamps[LAMPS], sun;
    float view[16];
    const abut_status rc = abut_image_make(im, p->w, p->h, (uint8_t[3]){ 0 }, err);
    if (rc) return rc;
    make_lamps(d, lamps, &sun);
    view_matrix(d, view);
    glBindVertexArray(p->array);
    glBindBuffer(GL_ARRAY_BUFFER, p->vertices);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(d->n_vertex * ABUT_DRAW_VERTEX * sizeof(float)), d->vertex, GL_STREAM_DRAW);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, (GLsizeiptr)(3 * d->n_tri * sizeof(uint32_t)), d->tri, GL_STREAM_DRAW);
    draw_maps(p, d, lamps, &sun);

    glBindFramebuffer(GL_FRAMEBUFFER, p->frame);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, p->lamp_map);
    glActiveTexture(GL_TEXTURE1);
    glBindTexture(GL_TEXTURE_2D, p->sun_map);
    glViewport(0, 0, p->w, p->h);
    glEnable(GL_MULTISAMPLE);
    glClear(GL_DEPTH_BUFFER_BIT);
    draw_sky(p);
    draw_bodies(p, d, view, lamps, &sun);
    draw_planes(p, d, view, lamps, &sun);
    read_picture(p, im);
    const GLenum bad = glGetError();
    if (bad) {
        abut_image_clear(im);
        return abut_fail(err, ABUT_E_IO, "pictures: OpenGL error 0x%04x", (unsigned)bad);
    }
    return ABUT_OK;
}
