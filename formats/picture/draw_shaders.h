/* Shaders of draw_gl.c.
 *
 * Light: a sun with a soft shadow, and a sky of LAMPS directions over the upper hemisphere, each with a small shadow map of
 * its own, so that crevices and the ground under bodies darken as in daylight (ambient occlusion). */
#ifndef ABUT_FORMATS_PICTURE_DRAW_SHADERS_H
#define ABUT_FORMATS_PICTURE_DRAW_SHADERS_H

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

#endif
