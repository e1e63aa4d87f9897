/* Rods and shells made node by node, as arrays: what the tests of thin bodies share. */
#ifndef ABUT_TESTS_SLENDER_H
#define ABUT_TESTS_SLENDER_H

#include "scene_world.h"

#include "base/rng.h"
#include "math/vec3.h"
#include "mesh/surface.h"
#include "energy/barrier_pair.h"

enum { SLENDER_NODES = 8192, SLENDER_ELEMENTS = 3 * SLENDER_NODES };

/* One object of one material.  Zero-filled and slender_new are different: the latter has usual numbers. */
typedef struct slender {
    double X[3 * SLENDER_NODES], v[3 * SLENDER_NODES], mass[SLENDER_NODES];
    int32_t shell[3 * SLENDER_ELEMENTS], hinge[4 * SLENDER_ELEMENTS], rod[2 * SLENDER_ELEMENTS], bend[3 * SLENDER_ELEMENTS];
    double hinge_angle[SLENDER_ELEMENTS], hinge_k[SLENDER_ELEMENTS], bend_k[SLENDER_ELEMENTS];
    int32_t nv, nsh, nhg, nrd, nbd;
    int32_t held[SLENDER_NODES], n_held;        /* fixed where they are */
    int32_t loaded[SLENDER_NODES], n_loaded;    /* with this acceleration added to gravity */
    double load[3];
    double young, poisson, density, thick, radius;
    double h, tol, gravity[3], pressure, drag, wind[3];
    int32_t scheme, model, lags;
} slender;

static inline slender *slender_new(void)
{
    slender *s = calloc(1, sizeof *s);
    s->young = 1e6, s->poisson = 0.3, s->density = 1000, s->thick = 1e-3, s->radius = 1e-3;
    s->h = 1, s->tol = 1e-10;
    s->scheme = ABUT_QUASI_STATIC;
    s->model = ABUT_STVK;
    s->lags = 1;
    return s;
}

static inline int32_t slender_node(slender *s, double x, double y, double z)
{
    if (s->nv == SLENDER_NODES) printf("# slender: more than %d nodes\n", SLENDER_NODES), abort();
    abut_v3_put(s->X + 3 * s->nv, abut_v3(x, y, z));
    return s->nv++;
}

static inline double slender_length(const slender *s, int32_t a, int32_t b)
{
    return abut_v3_norm(abut_v3_sub(abut_v3_get(s->X + 3 * a), abut_v3_get(s->X + 3 * b)));
}

/* Adds a rod through the nodes first .. last, straight at rest even if they are not in a line. */
static inline void slender_rod(slender *s, int32_t first, int32_t last)
{
    const double pi = acos(-1), area = pi * s->radius * s->radius;
    for (int32_t i = first; i < last; i++) {
        const double l = slender_length(s, i, i + 1), half = 0.5 * s->density * area * l;
        s->rod[2 * s->nrd] = i;
        s->rod[2 * s->nrd++ + 1] = i + 1;
        s->mass[i] += half;
        s->mass[i + 1] += half;
        if (i == first) continue;
        for (int k = 0; k < 3; k++) s->bend[3 * s->nbd + k] = i - 1 + k;
        s->bend_k[s->nbd++] = abut_bend_stiffness(s->young, s->radius, slender_length(s, i - 1, i), l);
    }
}

static inline double slender_area(const slender *s, int32_t a, int32_t b, int32_t c)
{
    const abut_vec3 A = abut_v3_get(s->X + 3 * a), e = abut_v3_sub(abut_v3_get(s->X + 3 * b), A),
                    f = abut_v3_sub(abut_v3_get(s->X + 3 * c), A);
    return 0.5 * abut_v3_norm(abut_v3_cross(e, f));
}

static inline void slender_shell(slender *s, int32_t a, int32_t b, int32_t c)
{
    int32_t *v = s->shell + 3 * s->nsh++;
    v[0] = a, v[1] = b, v[2] = c;
    const double third = s->density * s->thick * slender_area(s, a, b, c) / 3;
    for (int k = 0; k < 3; k++) s->mass[v[k]] += third;
}

/* Half-edges by their nodes, smaller first. */
typedef struct slender_side {
    int32_t lo, hi, shell, corner;
} slender_side;

static inline int slender_side_order(const void *p, const void *q)
{
    const slender_side *a = p, *b = q;
    const int32_t k[4][2] = { { a->lo, b->lo }, { a->hi, b->hi }, { a->shell, b->shell }, { a->corner, b->corner } };
    for (int i = 0; i < 4; i++)
        if (k[i][0] != k[i][1]) return (k[i][0] > k[i][1]) - (k[i][0] < k[i][1]);
    return 0;
}

/* The angle theta(x) of a hinge by the angles of its wings around the edge. */
static inline double slender_theta(const double *x, const int32_t v[4])
{
    const abut_vec3 o = abut_v3_get(x + 3 * v[0]), e = abut_v3_sub(abut_v3_get(x + 3 * v[1]), o),
                    u = abut_v3_scale(1 / abut_v3_norm(e), e);
    abut_vec3 up[2];
    for (int k = 0; k < 2; k++) {
        const abut_vec3 side = abut_v3_sub(abut_v3_get(x + 3 * v[2 + k]), o);
        up[k] = abut_v3_axpy(side, -abut_v3_dot(side, u), u);
    }
    return remainder(acos(-1) - atan2(abut_v3_dot(abut_v3_cross(up[1], up[0]), u), abut_v3_dot(up[0], up[1])), 2 * acos(-1));
}

/* Hinges over all inner edges.  plate: with the constant of a plate; else three times that. */
static inline void slender_hinges(slender *s, int plate)
{
    slender_side *side = malloc(3 * (size_t)s->nsh * sizeof *side);
    for (int32_t i = 0; i < 3 * s->nsh; i++) {
        const int32_t a = s->shell[i], b = s->shell[i - i % 3 + (i + 1) % 3];
        side[i] = (slender_side){ a < b ? a : b, a < b ? b : a, i / 3, i % 3 };
    }
    qsort(side, 3 * (size_t)s->nsh, sizeof *side, slender_side_order);
    for (int32_t i = 1; i < 3 * s->nsh; i++) {
        const slender_side *p = side + i - 1, *q = side + i;
        if (p->lo != q->lo || p->hi != q->hi) continue;
        const int32_t *t = s->shell + 3 * p->shell, *w = s->shell + 3 * q->shell;
        int32_t *v = s->hinge + 4 * s->nhg;
        v[0] = t[p->corner], v[1] = t[(p->corner + 1) % 3], v[2] = t[(p->corner + 2) % 3], v[3] = w[(q->corner + 2) % 3];
        const double l = slender_length(s, v[0], v[1]);
        const double area = slender_area(s, v[0], v[1], v[2]) + slender_area(s, v[1], v[0], v[3]);
        s->hinge_k[s->nhg] = abut_hinge_stiffness(s->young, s->poisson, s->thick, l, area, plate);
        s->hinge_angle[s->nhg++] = slender_theta(s->X, v);
    }
    free(side);
}

static inline void slender_put(abut_arrays *set, const char *name, int64_t rows, const void *src)
{
    FIXTURE_PUT(name, rows, src);
}

/* the rest shape of a triangle: edge 0-1 along the first axis */
static inline void slender_rest(const slender *s, const int32_t *v, double R[4])
{
    const abut_vec3 a = abut_v3_get(s->X + 3 * v[0]), e = abut_v3_sub(abut_v3_get(s->X + 3 * v[1]), a),
                    f = abut_v3_sub(abut_v3_get(s->X + 3 * v[2]), a);
    const double l = abut_v3_norm(e);
    R[0] = l, R[1] = abut_v3_dot(e, f) / l, R[2] = 0, R[3] = abut_v3_norm(abut_v3_cross(e, f)) / l;
}

/* Fixed nodes and loads as motions 0 and 1. */
static inline void slender_motions(const slender *s, abut_arrays *set)
{
    const int32_t kind[2] = { ABUT_MOTION_MOVE, ABUT_MOTION_FORCE }, n = 1 + (s->n_loaded > 0);
    const int32_t first[4] = { 0, s->n_held, s->n_held, s->n_held + s->n_loaded };
    const double window[4] = { 0, 1e9, 0, 1e9 }, linear[6] = { 0, 0, 0, s->load[0], s->load[1], s->load[2] }, zero[6] = { 0 };
    int32_t *node = malloc(((size_t)s->n_held + (size_t)s->n_loaded + 1) * sizeof *node);
    memcpy(node, s->held, (size_t)s->n_held * sizeof *node);
    memcpy(node + s->n_held, s->loaded, (size_t)s->n_loaded * sizeof *node);
    if (s->n_held + s->n_loaded) {
        slender_put(set, "motion/kind", n, kind);
        slender_put(set, "motion/window", n, window);
        slender_put(set, "motion/linear", n, linear);
        slender_put(set, "motion/angular", n, zero);
        slender_put(set, "motion/center", n, zero);
        slender_put(set, "motion/first", n, first);
        slender_put(set, "motion/node", s->n_held + s->n_loaded, node);
    }
    free(node);
}

static inline void slender_elements(const slender *s, abut_arrays *set)
{
    const int32_t most = s->nsh > s->nrd ? s->nsh : s->nrd;
    int32_t *zeros = calloc((size_t)most + 1, sizeof *zeros);
    double *number = malloc((4 * (size_t)most + 1) * sizeof *number);
    if (s->nsh) {
        slender_put(set, "shell/node", s->nsh, s->shell);
        slender_put(set, "shell/material", s->nsh, zeros);
        for (int32_t i = 0; i < s->nsh; i++) number[i] = s->thick;
        slender_put(set, "shell/thickness", s->nsh, number);
        for (int32_t i = 0; i < s->nsh; i++) slender_rest(s, s->shell + 3 * i, number + 4 * i);
        slender_put(set, "shell/rest", s->nsh, number);
    }
    if (s->nhg) {
        slender_put(set, "hinge/node", s->nhg, s->hinge);
        slender_put(set, "hinge/angle", s->nhg, s->hinge_angle);
        slender_put(set, "hinge/stiffness", s->nhg, s->hinge_k);
    }
    if (s->nrd) {
        slender_put(set, "rod/node", s->nrd, s->rod);
        slender_put(set, "rod/material", s->nrd, zeros);
        for (int32_t i = 0; i < s->nrd; i++) number[i] = s->radius;
        slender_put(set, "rod/radius", s->nrd, number);
        for (int32_t i = 0; i < s->nrd; i++) number[i] = slender_length(s, s->rod[2 * i], s->rod[2 * i + 1]);
        slender_put(set, "rod/length", s->nrd, number);
    }
    if (s->nbd) {
        slender_put(set, "bend/node", s->nbd, s->bend);
        slender_put(set, "bend/stiffness", s->nbd, s->bend_k);
    }
    free(zeros);
    free(number);
}

/* Surfaces: the shells with their sides, and the segments. */
static inline void slender_contact(const slender *s, abut_arrays *set)
{
    const size_t most = 3 * (size_t)s->nsh + (size_t)s->nrd + 1;
    int32_t *node = malloc((size_t)s->nv * sizeof *node), *edge = malloc(2 * most * sizeof *edge), n = 0;
    slender_side *side = malloc(most * sizeof *side);
    for (int32_t i = 0; i < s->nv; i++) node[i] = i;
    for (int32_t i = 0; i < 3 * s->nsh + s->nrd; i++) {
        const int32_t r = i - 3 * s->nsh, a = r < 0 ? s->shell[i] : s->rod[2 * r],
                      b = r < 0 ? s->shell[i - i % 3 + (i + 1) % 3] : s->rod[2 * r + 1];
        side[i] = (slender_side){ a < b ? a : b, a < b ? b : a, 0, 0 };
    }
    qsort(side, most - 1, sizeof *side, slender_side_order);
    for (size_t i = 0; i + 1 < most; i++) {
        if (n && edge[2 * n - 2] == side[i].lo && edge[2 * n - 1] == side[i].hi) continue;
        edge[2 * n] = side[i].lo;
        edge[2 * n++ + 1] = side[i].hi;
    }
    slender_put(set, "contact/node", s->nv, node);
    slender_put(set, "contact/edge", n, edge);
    if (s->nsh) slender_put(set, "contact/triangle", s->nsh, s->shell);
    free(node);
    free(edge);
    free(side);
}

/* The world of what was made; s is freed. */
static inline void slender_open(world *w, slender *s)
{
    abut_arrays *set = &w->model_set;
    double lo[3] = { 1e30, 1e30, 1e30 }, hi[3] = { -1e30, -1e30, -1e30 };
    int32_t *role = calloc((size_t)s->nv, sizeof *role), *zeros = calloc((size_t)s->nv, sizeof *zeros);
    *w = (world){ 0 };
    for (int32_t i = 0; i < s->n_held; i++) role[s->held[i]] = ABUT_NODE_HANDLE;
    for (int32_t i = 0; i < 3 * s->nv; i++) lo[i % 3] = fmin(lo[i % 3], s->X[i]), hi[i % 3] = fmax(hi[i % 3], s->X[i]);
    const double l = abut_v3_norm(abut_v3_sub(abut_v3_get(hi), abut_v3_get(lo)));
    const double dhat = 1e-4 * l, eps_v = 1e-3 * l, mu = 0;
    const abut_barrier_law law = { .dhat2 = dhat * dhat, .number = ABUT_BARRIER_IPC };
    const double kappa = abut_kappa_min(l, law, s->mass[0]), kappa_max = 100 * kappa;
    slender_put(set, "node/X", s->nv, s->X);
    slender_put(set, "node/mass", s->nv, s->mass);
    slender_put(set, "node/role", s->nv, role);
    slender_put(set, "node/object", s->nv, zeros);
    slender_put(set, "material/model", 1, &s->model);
    slender_put(set, "material/density", 1, &s->density);
    slender_put(set, "material/young", 1, &s->young);
    slender_put(set, "material/poisson", 1, &s->poisson);
    slender_put(set, "object/friction", 1, zeros);
    if (s->pressure != 0) slender_put(set, "object/pressure", 1, &s->pressure);
    if (s->drag != 0) {
        slender_put(set, "object/drag", 1, &s->drag);
        slender_put(set, "world/wind", 3, s->wind);
    }
    slender_elements(s, set);
    slender_contact(s, set);
    slender_motions(s, set);
    slender_put(set, "contact/mu", 1, &mu);
    slender_put(set, "world/gravity", 3, s->gravity);
    slender_put(set, "time/step", 1, &s->h);
    slender_put(set, "time/scheme", 1, &s->scheme);
    slender_put(set, "scene/length", 1, &l);
    slender_put(set, "contact/dhat", 1, &dhat);
    slender_put(set, "contact/eps-v", 1, &eps_v);
    slender_put(set, "contact/lags", 1, &s->lags);
    slender_put(set, "solve/tolerance", 1, &s->tol);
    slender_put(set, "contact/kappa-min", 1, &kappa);
    slender_put(set, "contact/kappa-max", 1, &kappa_max);
    double *x = abut_frame_put(&w->frame, "node/x", s->nv, &w->err), *v = abut_frame_put(&w->frame, "node/v", s->nv, &w->err);
    if (!x || !v) printf("# slender: %s\n", w->err.msg), abort();
    memcpy(get(w, "node/x"), s->X, 3 * (size_t)s->nv * sizeof *x);
    memcpy(get(w, "node/v"), s->v, 3 * (size_t)s->nv * sizeof *v);
    free(role);
    free(zeros);
    free(s);
    world_start(w);
}

/* A crumpled strip of shells with hinges, and a rod of its own. */
static inline void crumpled_world(world *w, double *x)
{
    slender *s = slender_new();
    abut_rng r = { 17 };
    for (int i = 0; i < 10; i++) (void)slender_node(s, 0.1 * (i / 2), 0, 0.1 * (i % 2));
    for (int i = 0; i < 8; i++) slender_shell(s, i, i % 2 ? i + 1 : i + 2, i % 2 ? i + 2 : i + 1);
    slender_hinges(s, 0);
    for (int i = 0; i < 6; i++) (void)slender_node(s, 0.1 * i, 1, 0);
    slender_rod(s, 10, 15);
    slender_open(w, s);
    for (int i = 0; i < 3 * w->model.nv; i++) x[i] = w->model.X[i] + abut_rng_real(&r, -0.03, 0.03);
}

#endif
