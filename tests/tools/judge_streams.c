/* Writes a small state stream with a known verdict on stdout, for the tests of ccd-check: judge_streams KIND. */
#include "formats/stream/state_io.h"
#include "model/model.h"
#include "mesh/surface.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* two tets, left and right; two obstacle triangles that cross each other; an obstacle segment; an obstacle point */
enum { LEFT = 0, RIGHT = 4, BLADES = 8, WIRE = 14, PIN = 16, NV = 17, NT = 2, NTRI = 10, NOBJ = 5 };

static const double rest[NV][3] = {
    { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 },
    { 3, 0, 0 }, { 4, 0, 0 }, { 3, 1, 0 }, { 3, 0, 1 },
    { -3, 0, 0 }, { -2, 0, 0 }, { -3, 1, 0 }, { -2.75, 0.25, -1 }, { -2.75, 0.25, 1 }, { -2.5, 1, 1 },
    { 0.25, 0.25, 5 }, { 0.25, -0.25, 5 },
    { 0.2, 0.2, -2 },
};
static const int32_t tet[NT * 4] = { 0, 1, 2, 3, 4, 5, 6, 7 };
static const int32_t tri[NTRI * 3] = { 1, 2, 3, 0, 3, 2, 0, 1, 3, 0, 2, 1,  5,  6,  7,
                                       4, 7, 6, 4, 5, 7, 4, 6, 5, 8, 9, 10, 11, 12, 13 };
static const int32_t wire[2] = { WIRE, WIRE + 1 };

static void need(int ok, const abut_err *err)
{
    if (ok) return;
    fprintf(stderr, "judge_streams: %s\n", err->msg);
    exit(5);
}

static void put(abut_arrays *set, const char *name, int64_t rows, const void *data, size_t bytes)
{
    abut_err err = { 0 };
    void *p = abut_model_put(set, name, rows, &err);
    need(p != NULL, &err);
    memcpy(p, data, bytes);
}

static void number(abut_arrays *set, const char *name, double v) { put(set, name, 1, &v, sizeof v); }

/* ntri: all triangles, or 0: contact is off */
static void contact_arrays(abut_arrays *set, int ntri)
{
    abut_err err = { 0 };
    int32_t node[NV], *edge, n;
    for (int i = 0; i < NV; i++) node[i] = i;
    need(!abut_surface_edges(tri, ntri, wire, ntri ? 1 : 0, &edge, &n, &err), &err);
    put(set, "contact/node", ntri ? NV : 0, node, ntri ? sizeof node : 0);
    put(set, "contact/edge", n, edge, 2 * (size_t)n * sizeof *edge);
    put(set, "contact/triangle", ntri, tri, 3 * (size_t)ntri * sizeof *tri);
    free(edge);
}

/* thick: all objects have a contact thickness of 1e-4 m */
static void model_arrays(abut_arrays *set, int material, int ntri, int thick)
{
    abut_err err = { 0 };
    double mass[NV];
    int32_t role[NV], body[NV], zero[NOBJ] = { 0 }, lags = 1;
    for (int i = 0; i < NV; i++) {
        mass[i] = i < BLADES ? 1 : 0;
        role[i] = i < BLADES ? ABUT_NODE_FREE : ABUT_NODE_OBSTACLE;
        body[i] = i < RIGHT ? 0 : i < BLADES ? 1 : i < WIRE ? 2 : i < PIN ? 3 : 4;
    }
    const int32_t mats[2] = { material, material };
    const double two[3][2] = { { 1000, 1000 }, { 1e5, 1e5 }, { .4, .4 } };
    const double low[3] = { 0, -1, 0 }, up[3] = { 0, 1, 0 }, gravity[3] = { 0, -9.81, 0 };
    put(set, "node/X", NV, rest, sizeof rest);
    put(set, "node/mass", NV, mass, sizeof mass);
    put(set, "node/role", NV, role, sizeof role);
    put(set, "node/object", NV, body, sizeof body);
    put(set, "tet/node", NT, tet, sizeof tet);
    put(set, "tet/material", NT, zero, 2 * sizeof *zero);
    put(set, "material/model", 2, mats, sizeof mats);
    put(set, "material/density", 2, two[0], 2 * sizeof(double));
    put(set, "material/young", 2, two[1], 2 * sizeof(double));
    put(set, "material/poisson", 2, two[2], 2 * sizeof(double));
    put(set, "object/friction", NOBJ, zero, sizeof zero);
    need(!abut_arrays_put_text(set, "object/name", "left\nright\nblades\nwire\npin\n", &err), &err);
    contact_arrays(set, ntri);
    const double xi[NOBJ] = { 1e-4, 1e-4, 1e-4, 1e-4, 1e-4 };
    if (thick) put(set, "object/thickness", NOBJ, xi, sizeof xi);
    number(set, "contact/mu", 0);
    put(set, "half-space/point", 1, low, sizeof low);
    put(set, "half-space/normal", 1, up, sizeof up);
    put(set, "half-space/friction", 1, zero, sizeof *zero);
    put(set, "world/gravity", 3, gravity, sizeof gravity);
    put(set, "contact/lags", 1, &lags, sizeof lags);
    static const char *const numbers[] = { "time/step", "scene/length", "contact/dhat", "contact/eps-v", "solve/tolerance",
                                           "contact/kappa-min", "contact/kappa-max" };
    for (int i = 0; i < 7; i++) number(set, numbers[i], i == 2 ? 1e-3 : 1);
}

static void shift(double x[NV][3], int lo, int hi, int axis, double by)
{
    for (int i = lo; i < hi; i++) x[i][axis] += by;
}

/* positions of frame f, 0 to 3: the right tet drifts up; from frame 2 on the kind does its deed */
static void positions(const char *kind, int f, double x[NV][3])
{
    const int late = f >= 2;
    memcpy(x, rest, sizeof rest);
    shift(x, RIGHT, BLADES, 1, 0.01 * f);
    if ((!strcmp(kind, "tunnel") || !strncmp(kind, "detour", 6)) && late) shift(x, RIGHT, BLADES, 0, -8);
    if (!strcmp(kind, "pierce") && late) shift(x, RIGHT, BLADES, 0, -2.5);
    if (!strcmp(kind, "start")) shift(x, RIGHT, BLADES, 0, -2.5);
    if (!strcmp(kind, "nested"))
        for (int i = RIGHT; i < BLADES; i++)
            for (int k = 0; k < 3; k++) x[i][k] = 0.1 + 0.1 * (rest[i][k] - rest[RIGHT][k]);
    if (!strcmp(kind, "invert") && late)
        for (int k = 0; k < 3; k++) x[RIGHT + 3][k] += (double[]){ 0.3, 0.3, -2 }[k];
    if (!strcmp(kind, "turn") && late)   /* positive at both ends, flat halfway and then negative for a while */
        for (int i = RIGHT; i < BLADES; i++) {
            const double dx = rest[i][0] - rest[RIGHT][0], dy = rest[i][1] - rest[RIGHT][1];
            x[i][0] -= 1.25 * dx + 0.375 * dy, x[i][1] += 1 + 0.5 * dx - 2.25 * dy;
        }
    if (!strcmp(kind, "hover")) memcpy(x, rest, sizeof rest), shift(x, RIGHT, BLADES, 1, -0.75);
    if (!strcmp(kind, "sink") && late) shift(x, RIGHT, BLADES, 1, -1.5);
    if (!strcmp(kind, "pin") && late) shift(x, PIN, NV, 2, 2.5);
    if (!strcmp(kind, "wire") && late) shift(x, WIRE, PIN, 2, -4.5);
    if (!strcmp(kind, "blades") && late) shift(x, BLADES, BLADES + 3, 0, 0.25);
    if (!strcmp(kind, "near") && late) shift(x, RIGHT, BLADES, 0, -1.9);
    /* the pin rises to its thickness below the left tet, short of it by 1e-13 m or within it by 1e-8 m, and slides along */
    if (!strncmp(kind, "thick", 5) && late) {
        x[PIN][2] = -1e-4 - (strcmp(kind, "thick-in") ? 1e-13 : -1e-8);
        x[PIN][0] += 0.3 * (f - 2);
    }
}

static void write_frame(abut_writer *w, const char *kind, int f, abut_phase phase)
{
    abut_arrays set = { 0 };
    abut_err err = { 0 };
    double (*x)[3] = abut_frame_put(&set, "node/x", NV, &err);
    need(x && abut_frame_put(&set, "node/v", NV, &err), &err);
    positions(kind, f, x);
    if (!strncmp(kind, "detour", 6) && f == 2) {   /* over the left tet, or through it */
        double (*way)[NV][3] = abut_arrays_put(&set, "step/way", ABUT_F64, 2, (int64_t[2]){ 2 * NV, 3 }, "m", 0, &err);
        need(way != NULL, &err);
        for (int i = 0; i < 2; i++) {
            memcpy(way[i], rest, sizeof rest);
            shift(way[i], RIGHT, BLADES, 0, i ? -8 : 0);
            shift(way[i], RIGHT, BLADES, 1, strcmp(kind, "detour") ? 0.5 : 3);
        }
    }
    need(!abut_arrays_put_f64(&set, "user/colour", f, "", &err), &err);   /* unknown to all programs */
    const abut_frame_head head = { f, 0.01 * f, phase };
    need(!abut_writer_frame(w, &head, &set, &err), &err);
    abut_arrays_clear(&set);
}

static void write_model(abut_writer *w, int material, int ntri, int thick)
{
    abut_arrays set = { 0 };
    abut_err err = { 0 };
    model_arrays(&set, material, ntri, thick);
    need(!abut_writer_model(w, &set, &err), &err);
    abut_arrays_clear(&set);
}

int main(int argc, char **argv)
{
    const char *kind = argc == 2 ? argv[1] : "clean";
    abut_writer *w = NULL;
    abut_err err = { 0 };
    need(!abut_writer_open(stdout, 0, &w, &err), &err);
    need(!abut_writer_prov(w, "judge_streams", "1", "{}", &err), &err);
    /* a tet alone cannot turn over without a node passing its face: these kinds have no contact */
    const int soft = !strncmp(kind, "soft", 4);
    const int hidden = soft || !strcmp(kind, "invert") || !strcmp(kind, "turn");
    write_model(w, soft ? ABUT_FIXED_COROTATED : ABUT_NEO_HOOKEAN, hidden ? 0 : NTRI, !strncmp(kind, "thick", 5));
    for (int f = 0; f < 4; f++) {
        for (int c = 1; c <= 2 && f == 2 && !strcmp(kind, "pending"); c++) write_frame(w, "tunnel", c, ABUT_PENDING);
        if (!strcmp(kind, "remodel") && f == 2) write_model(w, ABUT_NEO_HOOKEAN, NTRI, 0);
        const int restarts = !strcmp(kind, "remodel") && f >= 2;
        const char *what = !strcmp(kind, "soft") ? "invert" : !strcmp(kind, "soft-turn") ? "turn" : restarts ? "start" : kind;
        write_frame(w, what, f, ABUT_COMMITTED);
    }
    need(!abut_writer_close(w, &err), &err);
    abut_writer_free(&w);
    return fclose(stdout) ? 5 : 0;
}
