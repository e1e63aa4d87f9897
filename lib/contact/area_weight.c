#include "contact/area.h"

#include "base/par.h"

#include <math.h>
#include <string.h>

/* ---- reach ---- */

#define PI 3.14159265358979323846
#define REACH_OF_EDGES 0.5      /* over the mean length of edges */

double abut_area_vertex_reach(const abut_collmesh *cm, int32_t p, int32_t q)
{
    const abut_area *a = cm->area;
    const double dhat = abut_collmesh_dhat(cm, ABUT_PP, (const int32_t[2]){ p, q });
    return a->vertex_reach && a->part[p] == a->part[q] ? fmin(dhat, a->vertex_reach[p]) : dhat;
}

/* 1: edge e is a side of no triangle: of a rod. */
static int is_thin(const abut_area *a, int32_t e) { return a->wing[e][0] < 0; }

/* The reach of edges of the parts of vertices p and q, m. */
static double crossing_reach(const abut_collmesh *cm, int32_t p, int32_t q)
{
    const abut_area *a = cm->area;
    const double dhat = abut_collmesh_dhat(cm, ABUT_PP, (const int32_t[2]){ p, q });
    return fmin(dhat, REACH_OF_EDGES * fmin(a->length[a->part[p]], a->length[a->part[q]]));
}

double abut_area_edge_reach(const abut_collmesh *cm, int32_t e, int32_t other)
{
    const abut_area *a = cm->area;
    const int32_t p = cm->edge[2 * e], q = cm->edge[2 * other];
    const int rod = is_thin(a, e) || is_thin(a, other);
    const double r = rod ? abut_collmesh_dhat(cm, ABUT_PP, (const int32_t[2]){ p, q }) : crossing_reach(cm, p, q);
    return a->edge_reach && a->part[p] == a->part[q] ? fmin(r, fmin(a->edge_reach[e], a->edge_reach[other])) : r;
}

/* ---- the factor of two edges ---- */

#define BEFORE_END 0.01         /* M is 1 from there on: D' - D = BEFORE_END D + z^2, */
#define NEAR_END 2.0            /* 1 / z^2 = 1 / (ZONE l)^2 + sin(phi)^2 / (NEAR_END^2 D), l the shorter edge (contact/area.h) */
#define ZONE 0.05
#define MEAN_OF_M ((1 - ZONE * 2 / 3) * (1 - ZONE * 2 / 3))    /* at small distances, between edges of one length */
#define LEADS_TO 0.5            /* gamma is 0 where n.t/|t| is above */

typedef double point[3];

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static void diff(const double *a, const double *b, double *d) { for (int k = 0; k < 3; k++) d[k] = a[k] - b[k]; }
static void cross(const double *a, const double *b, double *c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

enum { NUMBERS = 3 * ABUT_AREA_CORNERS, OF_WING = 15 };

/* A product of factors with its gradient and Hessian in the corners. */
typedef struct product {
    double value, g[NUMBERS];
    double *H;          /* [NUMBERS^2], or NULL */
    int varies;
} product;

/* Multiplies by a factor with the gradient g of `points` points, corners idx, and the Hessian H, if p has one. */
static void multiply(product *p, double factor, const double *g, const double *H, int points, const int *idx)
{
    for (int k = 0; k < (p->H ? NUMBERS * NUMBERS : 0); k++) p->H[k] *= factor;
    for (int k = 0; k < (p->H ? 3 * points : 0); k++) {
        const int row = 3 * idx[k / 3] + k % 3;
        for (int l = 0; l < 3 * points; l++)
            p->H[NUMBERS * row + 3 * idx[l / 3] + l % 3] += p->value * H[3 * points * k + l];
        for (int l = 0; l < NUMBERS; l++) {
            p->H[NUMBERS * row + l] += g[k] * p->g[l];
            p->H[NUMBERS * l + row] += g[k] * p->g[l];
        }
    }
    for (int k = 0; k < 3 * ABUT_AREA_CORNERS; k++) p->g[k] *= factor;
    for (int k = 0; k < 3 * points; k++) p->g[3 * idx[k / 3] + k % 3] += p->value * g[k];
    p->value *= factor;
    p->varies |= factor < 1;
}

/* A cubic spline that rises from 0 at -LEADS_TO to 1 at 0, C2 (Huang et al. 2025, GCP). */
static double rise(double x, double *slope, double *curvature)
{
    const double z = 3 * x / LEADS_TO;
    *slope = *curvature = 0;
    if (z <= -3) return 0;
    if (z >= 0) return 1;
    *curvature = 9 / (LEADS_TO * LEADS_TO) * (z <= -2 ? 3 + z : z <= -1 ? -(2 * z + 3) : z);
    *slope = 3 / LEADS_TO * (z <= -2 ? (3 + z) * (3 + z) / 2 : z <= -1 ? -(z * z + 3 * z + 1.5) : z * z / 2);
    return z <= -2 ? (3 + z) * (3 + z) * (3 + z) / 6 : z <= -1 ? (3 - 9 * z - 9 * z * z - 2 * z * z * z) / 6 : 1 + z * z * z / 6;
}

/* The unit vector n from the first edge to the second, s u x v / |u x v|. */
typedef struct normal {
    double n[3], u[3], v[3], size, sign;
} normal;

/* g[12] of corners a0 a1 b0 b1: the gradient of n.w for a constant w. */
static void normal_slope(const normal *c, const double w[3], double g[12])
{
    double along[3], gu[3], gv[3];
    const double in_n = dot(c->n, w);
    for (int k = 0; k < 3; k++) along[k] = c->sign * (w[k] - in_n * c->n[k]) / c->size;
    cross(c->v, along, gu);     /* d (u x v).along = du.(v x along) + dv.(along x u) */
    cross(along, c->u, gv);
    for (int k = 0; k < 3; k++) g[k] = -gu[k], g[3 + k] = gu[k], g[6 + k] = -gv[k], g[9 + k] = gv[k];
}

/* ---- second derivatives ----
 *
 * Numbers made of at most four vectors, with their derivatives by these: exact, by the rules of sums, products and powers. */

enum { OF_JET = 12 };
typedef struct jet {
    double v, g[OF_JET], h[OF_JET][OF_JET];
} jet;

/* The three numbers of vector k; k -1: of a constant. */
static void jet_vector(const double x[3], int k, jet out[3])
{
    for (int d = 0; d < 3; d++) {
        out[d] = (jet){ .v = x[d] };
        if (k >= 0) out[d].g[3 * k + d] = 1;
    }
}

/* c += by a b */
static void jet_add_product(double by, const jet *a, const jet *b, jet *c)
{
    c->v += by * a->v * b->v;
    for (int i = 0; i < OF_JET; i++) {
        c->g[i] += by * (a->v * b->g[i] + b->v * a->g[i]);
        for (int j = 0; j < OF_JET; j++)
            c->h[i][j] += by * (a->v * b->h[i][j] + b->v * a->h[i][j] + a->g[i] * b->g[j] + b->g[i] * a->g[j]);
    }
}

static void jet_times(jet *a, const jet *b)
{
    const jet was = *a;
    *a = (jet){ 0 };
    jet_add_product(1, &was, b, a);
}

static jet jet_dot(const jet a[3], const jet b[3])
{
    jet c = { 0 };
    for (int d = 0; d < 3; d++) jet_add_product(1, a + d, b + d, &c);
    return c;
}

static void jet_cross(const jet a[3], const jet b[3], jet c[3])
{
    for (int d = 0; d < 3; d++) {
        c[d] = (jet){ 0 };
        jet_add_product(1, a + (d + 1) % 3, b + (d + 2) % 3, c + d);
        jet_add_product(-1, a + (d + 2) % 3, b + (d + 1) % 3, c + d);
    }
}

/* a becomes f(a), from the value and the derivatives of f there. */
static void jet_chain(jet *a, double f, double slope, double curvature)
{
    for (int i = 0; i < OF_JET; i++)
        for (int j = 0; j < OF_JET; j++) a->h[i][j] = slope * a->h[i][j] + curvature * a->g[i] * a->g[j];
    for (int i = 0; i < OF_JET; i++) a->g[i] *= slope;
    a->v = f;
}

static void jet_power(jet *a, double p)
{
    const double f = pow(a->v, p);
    jet_chain(a, f, p * f / a->v, p * (p - 1) * f / (a->v * a->v));
}

/* H[(3 points)^2] of points, of which vector k is the sum of of[k][i] times point i. */
static void jet_to_points(const jet *a, int vectors, int points, const signed char of[4][ABUT_AREA_CORNERS], double *H)
{
    for (int k = 0; k < 9 * points * points; k++) {
        const int i = k / (3 * points), j = k % (3 * points);
        H[k] = 0;
        for (int m = 0; m < vectors; m++)
            for (int n = 0; n < vectors; n++)
                H[k] += of[m][i / 3] * of[n][j / 3] * a->h[3 * m + i % 3][3 * n + j % 3];
    }
}

/* g[3 points]: the gradient by the points, whose combinations `of` are the vectors of the jet. */
static void jet_slope(const jet *a, int vectors, int points, const signed char of[4][ABUT_AREA_CORNERS], double *g)
{
    for (int k = 0; k < 3 * points; k++) {
        g[k] = 0;
        for (int m = 0; m < vectors; m++) g[k] += of[m][k / 3] * a->g[3 * m + k % 3];
    }
}

/* H[OF_WING^2] of gamma(q), q = s (u x v).w |e| / (|u x v| |e x w|), e: u or v. */
static void wing_hessian(const normal *c, const double w[3], int e, double s, double slope, double curvature, double *H)
{
    static const signed char of[2][4][ABUT_AREA_CORNERS] = {
        { { -1, 1 }, { 0, 0, -1, 1 }, { -1, 0, 0, 0, 1 } }, { { -1, 1 }, { 0, 0, -1, 1 }, { 0, 0, -1, 0, 1 } } };
    jet u[3], v[3], to[3], n[3], across[3], q, f;
    jet_vector(c->u, 0, u);
    jet_vector(c->v, 1, v);
    jet_vector(w, 2, to);
    jet_cross(u, v, n);
    jet_cross(e ? v : u, to, across);
    q = jet_dot(n, n);
    f = jet_dot(across, across);
    jet_times(&q, &f);
    jet_power(&q, -0.5);
    f = jet_dot(e ? v : u, e ? v : u);
    jet_power(&f, 0.5);
    jet_times(&q, &f);
    f = jet_dot(n, to);
    jet_times(&q, &f);
    jet_chain(&q, 0, s * slope, curvature);
    jet_to_points(&q, 3, 5, of[e != 0], H);
}

/* ---- the factor of two edges, gathered ---- */

/* Returns n.t/|t| of wing `corner` of the edge of corners e, e + 1, with its gradient; w[3] leads to it from corner e; out: 1 the
 * normal leads away from that edge, -1 to it.  Above 0 the wing leads towards the other edge. */
static double wing_lead(const double *x, const normal *c, int e, int corner, double out, double w[3], double g[OF_WING])
{
    const double *u = e ? c->v : c->u;
    double t[3];
    diff(x + 3 * corner, x + 3 * e, w);
    const double tau = dot(w, u) / dot(u, u);
    for (int k = 0; k < 3; k++) t[k] = w[k] - tau * u[k];
    const double height = sqrt(dot(t, t)), q = out * dot(c->n, w) / height;
    normal_slope(c, w, g);
    for (int k = 0; k < 12; k++) g[k] *= out / height;
    for (int k = 0; k < 3; k++) {
        const double dn = out * c->n[k] / height, dt = q * t[k] / (height * height);
        g[3 * e + k] += -dn + (1 - tau) * dt;
        g[3 * e + 3 + k] += tau * dt;
        g[12 + k] = dn - dt;
    }
    return height > 0 ? q : -1;
}

/* gamma of that wing. */
static void multiply_wing(product *p, const double *x, const normal *c, int e, int corner, double out)
{
    double w[3], g[OF_WING], H[OF_WING * OF_WING], slope, curvature;
    const double value = rise(-wing_lead(x, c, e, corner, out, w, g), &slope, &curvature);
    if (value >= 1) return;
    for (int k = 0; k < OF_WING; k++) g[k] *= -slope;
    if (p->H) wing_hessian(c, w, e, -out * c->sign, slope, curvature, H);
    multiply(p, value, g, H, 5, (const int[5]){ 0, 1, 2, 3, corner });
}

/* The square of the sine by which a surface falls away from an edge, 0 if it leads towards the other; 1 without a triangle. */
typedef struct fall {
    double square, g[OF_WING], H[OF_WING * OF_WING];
    int corner;     /* its wing, -1: none */
} fall;

/* The fall of the other edge on the side of corner k, an end. */
static void fall_beside(const double *x, int wings, const normal *c, int k, int has_H, fall *f)
{
    const int other = k < 2 ? 2 : 0;
    const double out = other ? -1 : 1;
    double across[3], r[3], w[3], g[OF_WING];
    cross(c->n, other ? c->v : c->u, across);
    diff(x + 3 * k, x + 3 * other, r);
    *f = (fall){ .square = 1, .corner = -1 };
    for (int wing = 4 + other; wing < 6 + other; wing++) {
        diff(x + 3 * wing, x + 3 * other, w);
        if (!(wings >> (wing - 4) & 1) || !(dot(w, across) * dot(r, across) > 0)) continue;
        const double q = fmin(wing_lead(x, c, other, wing, out, w, g), 0);
        if (!(q * q < f->square)) continue;
        f->square = q * q, f->corner = wing;
        for (int i = 0; i < OF_WING; i++) f->g[i] = 2 * q * g[i];
        if (has_H) wing_hessian(c, w, other, out * c->sign, 2 * q, q < 0 ? 2 : 0, f->H);
    }
}

/* M of an end of one edge against the other edge: corners idx of the stencil PE; D, gD[12], HD[144] of the nearest points;
 * zone2 m^2. */
static void multiply_end(product *p, const double *x, const int idx[3], double D, const double gD[12], const double *HD,
                         double zone2, const fall *by)
{
    double e[9], d2, g[9], h[81], dz[OF_WING] = { 0 }, dW[OF_WING] = { 0 }, H[OF_WING * OF_WING];
    const double near2 = NEAR_END * NEAR_END * D, S = by->square, sum = near2 + zone2 * S, Q = zone2 > 0 ? near2 / sum : 0;
    const double width = BEFORE_END * D + zone2 * Q;
    for (int k = 0; k < 9; k++) e[k] = x[3 * idx[k / 3] + k % 3];
    const abut_feature near = abut_nearest(ABUT_PE, e, &d2);
    const double z = fmax(d2 - D, 0) / width;
    if (z >= 1 || !(p->value > 0)) return;
    const int n = abut_stencil_size(near.kind);
    double ends[9];
    for (int k = 0; k < 3 * n; k++) ends[k] = e[3 * near.idx[k / 3] + k % 3];
    (void)abut_dist2_all(near.kind, ends, NULL, g, p->H ? h : NULL);
    /* derivatives of the width by D and S */
    const double by_D = BEFORE_END + zone2 * Q * zone2 * S / (sum * D), by_S = -zone2 * Q * zone2 / sum;
    const double by_DD = -2 * zone2 * Q * zone2 * S * near2 / (sum * sum * D * D), by_SS = -2 * by_S * zone2 / sum;
    const double by_DS = zone2 * Q * zone2 * (near2 - zone2 * S) / (sum * sum * D);
    for (int k = 0; k < OF_WING; k++) dW[k] = (k < 12 ? by_D * gD[k] : 0) + by_S * by->g[k];
    for (int k = 0; k < 12; k++) dz[k] = -gD[k];
    for (int k = 0; k < 3 * n; k++) dz[3 * idx[near.idx[k / 3]] + k % 3] += g[k];
    for (int k = 0; k < OF_WING; k++) dz[k] = (dz[k] - z * dW[k]) / width;
    for (int k = 0; k < (p->H ? OF_WING * OF_WING : 0); k++) {
        const int i = k / OF_WING, j = k % OF_WING, in = i < 12 && j < 12;
        const double gi = i < 12 ? gD[i] : 0, gj = j < 12 ? gD[j] : 0;
        const double HW = (in ? by_D * HD[12 * i + j] : 0) + by_S * by->H[k] + by_DD * gi * gj + by_SS * by->g[i] * by->g[j] +
                          by_DS * (gi * by->g[j] + by->g[i] * gj);
        H[k] = -((in ? HD[12 * i + j] : 0) + z * HW + dz[i] * dW[j] + dW[i] * dz[j]) / width;
    }
    for (int k = 0; k < (p->H ? 9 * n * n : 0); k++) {
        const int i = k / (3 * n), j = k % (3 * n);
        H[OF_WING * (3 * idx[near.idx[i / 3]] + i % 3) + 3 * idx[near.idx[j / 3]] + j % 3] += h[k] / width;
    }
    /* of M = z (2 - z) */
    for (int k = 0; k < (p->H ? OF_WING * OF_WING : 0); k++)
        H[k] = 2 * (1 - z) * H[k] - 2 * dz[k / OF_WING] * dz[k % OF_WING];
    for (int k = 0; k < OF_WING; k++) dz[k] *= 2 * (1 - z);
    multiply(p, z * (2 - z), dz, H, 5, (const int[5]){ 0, 1, 2, 3, by->corner < 0 ? 4 : by->corner });
}

/* ---- the factor of a patch ---- */

#define OF_TIP 0.01             /* S of a tip, at least */
/* (n.N)^2 where S and T rise to 1 */
#define S_FROM 0.05
#define S_TO 0.5
#define T_FROM 0.7
#define T_TO 0.95

static double step(double q, double from, double to, double *slope, double *curvature)
{
    const double z = fmin(fmax((q - from) / (to - from), 0), 1), by = 6 / (to - from);
    *slope = by * z * (1 - z);
    *curvature = z > 0 && z < 1 ? by * (1 - 2 * z) / (to - from) : 0;
    return z * z * (3 - 2 * z);
}

/* S of q, of a patch of vertex p. */
static double facing(const abut_area *a, int32_t p, double q, double *slope, double *curvature)
{
    const double least = a->tip[p] ? OF_TIP : 0, S = step(q, S_FROM, S_TO, slope, curvature);
    *slope *= 1 - least, *curvature *= 1 - least;
    return least + (1 - least) * S;
}

/* (n.N)^2 of the unit vector n at p and the patch p, a, b; gn[3]: its gradient by n, g[9] by p, a, b without that. */
static double patch_factor(const double n[3], const double *p, const double *a, const double *b, double gn[3], double g[9])
{
    double u[3], v[3], N[3], c[3], ga[3], gb[3];
    diff(a, p, u);
    diff(b, p, v);
    cross(u, v, N);
    const double size = sqrt(dot(N, N)), along = size > 0 ? dot(n, N) / size : 1;
    const double by = size > 0 ? 2 * along / size : 0;
    for (int k = 0; k < 3; k++) gn[k] = by * N[k], c[k] = size > 0 ? by * (n[k] - along * N[k] / size) : 0;
    cross(v, c, ga);
    cross(c, u, gb);
    for (int k = 0; k < 3; k++) g[k] = -ga[k] - gb[k], g[3 + k] = ga[k], g[6 + k] = gb[k];
    return along * along;
}

/* q = (m.N)^2 / (|m|^2 |N|^2), N the cross product of vectors 2 and 3, m that of 0 and 1; a constant vector 0 of half-spaces. */
static jet facing_of(int is_plane, double x[4][3])
{
    jet r[4][3], m[3], N[3], q, f;
    for (int k = 0; k < 4; k++) jet_vector(x[k], is_plane && !k ? -1 : k, r[k]);
    memcpy(m, r[0], sizeof m);
    if (!is_plane) jet_cross(r[0], r[1], m);
    jet_cross(r[2], r[3], N);
    q = jet_dot(m, m);
    f = jet_dot(N, N);
    jet_times(&q, &f);
    jet_power(&q, -1);
    f = jet_dot(m, N);
    jet_times(&q, &f);
    jet_times(&q, &f);
    return q;
}

/* share S of q, with its derivatives. */
static void jet_of_patch(const abut_area *a, int32_t p, jet *q, double share)
{
    double slope, curvature;
    const double S = facing(a, p, q->v, &slope, &curvature);
    jet_chain(q, share * S, share * slope, share * curvature);
}

/* ---- the share of two edges ---- */

#define ZONE_OF_SHARP 0.1       /* over the reach: a vertex beside the end of an edge is within reach before M is small */

/* Two edges of surfaces.  Corners of both and of their wings: x; which wings there are: bit k, corner 4 + k. */
typedef struct crossing {
    double x[NUMBERS];
    int wings;
    double eps_x;           /* threshold of e(c), m^4, 0: e = 1 */
    double length, reach;   /* of the shorter edge at rest; of the contact; m */
    int sharp[2];
    double eta, bears[2];   /* eta_AB; theta of either edge */
} crossing;

/* 1 - T of the faces of the edge of corners e and e + 1: 0 where n is the normal of one. */
static void take_faces(const crossing *c, int e, product *p)
{
    static const signed char of[2][4][ABUT_AREA_CORNERS] = {
        { { -1, 1 }, { 0, 0, -1, 1 }, { -1, 1 }, { -1, 0, 0, 0, 1 } },
        { { -1, 1 }, { 0, 0, -1, 1 }, { 0, 0, -1, 1 }, { 0, 0, -1, 0, 1 } } };
    for (int k = e; k < e + 2; k++) {
        if (!(c->wings >> k & 1) || !(p->value > 0)) continue;
        const int idx[5] = { 0, 1, 2, 3, 4 + k };
        double r[4][3] = { { 0 } }, g[OF_WING] = { 0 }, H[OF_WING * OF_WING] = { 0 }, m[3], N[3], slope, curvature;
        for (int i = 0; i < 60; i++) r[i / 15][i % 3] += of[e != 0][i / 15][i / 3 % 5] * c->x[3 * idx[i / 3 % 5] + i % 3];
        cross(r[0], r[1], m);
        cross(r[2], r[3], N);
        const double q = dot(m, N) * dot(m, N) / (dot(m, m) * dot(N, N)), T = step(q, T_FROM, T_TO, &slope, &curvature);
        if (T == 0) continue;
        if (slope > 0) {
            jet away = facing_of(0, r);
            jet_chain(&away, 1 - T, -slope, -curvature);
            jet_slope(&away, 4, 5, of[e != 0], g);
            if (p->H) jet_to_points(&away, 4, 5, of[e != 0], H);
        }
        multiply(p, 1 - T, g, H, 5, idx);
    }
}

/* p becomes what sharp edges bear beyond eta where n leads away from their faces. */
static void take_share(const crossing *c, product *p)
{
    double HA[NUMBERS * NUMBERS], HB[NUMBERS * NUMBERS];
    product A = { .H = p->H ? HA : NULL }, B = { .H = p->H ? HB : NULL };
    for (int k = 0; k < (p->H ? NUMBERS * NUMBERS : 0); k++) HA[k] = HB[k] = 0;
    if (c->sharp[0]) A.value = 1, take_faces(c, 0, &A);
    if (c->sharp[1]) B.value = 1, take_faces(c, 2, &B);
    const double by = 1 - c->bears[0] - c->bears[1] + c->eta;
    const double per_A = c->bears[0] - c->eta + by * B.value, per_B = c->bears[1] - c->eta + by * A.value;
    p->value = (c->bears[0] - c->eta) * A.value + per_B * B.value;
    p->varies = A.value > 0 || B.value > 0;
    for (int k = 0; k < NUMBERS; k++) p->g[k] = per_A * A.g[k] + per_B * B.g[k];
    for (int k = 0; k < (p->H ? NUMBERS * NUMBERS : 0); k++) {
        const int i = k / NUMBERS, j = k % NUMBERS;
        p->H[k] = per_A * HA[k] + per_B * HB[k] + by * (A.g[i] * B.g[j] + B.g[i] * A.g[j]);
    }
}

/* F of two edges whose nearest points are inside, in [0, 1]; g[NUMBERS], H[NUMBERS^2] (NULL to skip): its gradient, 1/m, and
 * Hessian, 1/m^2; *bends: 1 if F is not constant around x. */
static double crossing_factor(const crossing *two, double *g, double *H, int *bends)
{
    const double *x = two->x, end = fmin(ZONE * two->length, ZONE_OF_SHARP * two->reach);
    const double zone2[2] = { ZONE * two->length * (ZONE * two->length), end * end };
    double gD[12], HD[144], gc[12], Hc[144], H_sharp[NUMBERS * NUMBERS], r[3], de, dde, N[3];
    product p[2] = { { .value = 1, .H = H }, { .H = H ? H_sharp : NULL } };
    normal c;
    for (int k = 0; k < (H ? NUMBERS * NUMBERS : 0); k++) H[k] = 0;
    const double D = abut_dist2_all(ABUT_EE, x, NULL, gD, H ? HD : NULL);
    diff(x + 3, x, c.u);
    diff(x + 9, x + 6, c.v);
    diff(x + 6, x, r);
    cross(c.u, c.v, N);
    c.size = sqrt(dot(N, N)), c.sign = dot(N, r) < 0 ? -1 : 1;
    for (int k = 0; k < 3; k++) c.n[k] = c.sign * N[k] / c.size;
    take_share(two, &p[1]);
    const double e = two->eps_x > 0 ? abut_mollify(abut_cross2(x, gc, H ? Hc : NULL), two->eps_x, &de, &dde) : 1;
    if (e < 1) {
        for (int k = 0; k < (H ? 144 : 0); k++) Hc[k] = de * Hc[k] + dde * gc[k / 12] * gc[k % 12];
        for (int k = 0; k < 12; k++) gc[k] *= de;
    }
    for (int i = 0; i < 2; i++)
        if (p[i].value > 0 && e < 1) multiply(&p[i], e, gc, Hc, 4, (const int[4]){ 0, 1, 2, 3 });
    for (int k = 0; k < 4; k++) {
        fall by;
        fall_beside(x, two->wings, &c, k, H != NULL, &by);
        for (int i = 0; i < 2; i++)
            multiply_end(&p[i], x, (const int[3]){ k, k < 2 ? 2 : 0, k < 2 ? 3 : 1 }, D, gD, HD, zone2[i], &by);
    }
    for (int k = 0; k < 4; k++)
        if (two->wings >> k & 1) multiply_wing(&p[0], x, &c, k < 2 ? 0 : 2, 4 + k, k < 2 ? 1 : -1);
    for (int k = 0; k < (g ? NUMBERS : 0); k++) g[k] = two->eta * p[0].g[k] + p[1].g[k];
    for (int k = 0; k < (H ? NUMBERS * NUMBERS : 0); k++) H[k] = two->eta * H[k] + H_sharp[k];
    *bends = p[0].varies || p[1].varies;
    return two->eta * p[0].value + p[1].value;
}

/* ---- weights ---- */

/* m: beta over b for a pair of thickness xi that acts within reach (energy/barrier_pair.h). */
static double over_law(double reach, double xi)
{
    const double Dhat = (2 * xi + reach) * reach;
    return reach / (Dhat * Dhat);
}

/* eta of the parts of vertices p and q: less where one mesh is coarser, whose few edges stand for wide strips. */
static double edge_share(const abut_area *a, int32_t p, int32_t q)
{
    const double l = a->length[a->part[p]], m = a->length[a->part[q]];
    return a->eta * (l < m ? l / m : m / l);
}

/* The share of vertex p in contact with what is at q: all of it where that has no vertices that meet p; on a sharp edge of an
 * obstacle at least that of its own area. */
static double share(const abut_area *a, int32_t p, int32_t q)
{
    const double own = a->mean[a->part[p]], theirs = a->mean[a->part[q]];
    const double s = a->thin[p] && !a->thin[q] ? 1 : theirs > 0 ? theirs * theirs / (own * own + theirs * theirs) : 0;
    return a->on_edge[p] && theirs > 0 ? fmax(s, theirs / (a->vertex[p] + theirs)) : s;
}

/* Area of vertex p, and width of edge e: bare points and edges of obstacles take those of what they meet. */
static double area_at(const abut_area *a, int32_t p, int32_t q) { return a->vertex[p] > 0 ? a->vertex[p] : a->mean[a->part[q]]; }
static double width_at(const abut_area *a, int32_t e, int32_t q)
{
    return a->width[e] > 0 ? a->width[e] : sqrt(a->mean[a->part[q]]);
}

/* The vertex that contact i, no EE, meets beside the one whose area it has. */
static int32_t other_of(const abut_pairs *p, size_t i)
{
    const int32_t *v = p->vert[i];
    return p->kind[i] == ABUT_PP && p->of[i][0] == v[1] ? v[0] : v[1];
}

/* The weight of two edges over the product of their widths and their factor, first vertices p and q. */
static double edges_part(const abut_area *a, int32_t e, int32_t f, int32_t p, int32_t q)
{
    const int thin = is_thin(a, e);
    if (thin && is_thin(a, f)) return 1;
    if (!thin && !is_thin(a, f)) return (a->sharp[e] || a->sharp[f] ? 1 : edge_share(a, p, q)) * (PI / 2) / MEAN_OF_M;
    const double l = a->length[a->part[thin ? p : q]], of_surface = a->length[a->part[thin ? q : p]];
    return fmin(1, a->eta * l / of_surface) * (PI / 2);
}

/* Its weight over F, 1/m as mult; net: the integer of a vertex's contact. */
static double area_weight(const abut_collmesh *cm, const abut_pairs *p, size_t i, double net)
{
    const abut_area *a = cm->area;
    const double over = over_law(p->reach[i], abut_pairs_xi(cm, p, i));
    int32_t e, f;
    if (abut_area_edges(p, i, &e, &f)) {
        const int32_t v = cm->edge[2 * e], w = cm->edge[2 * f];
        return edges_part(a, e, f, v, w) * width_at(a, e, w) * width_at(a, f, v) * over;
    }
    const int32_t other = other_of(p, i);
    const int whole = f == ABUT_AREA_GUARD || a->thin[e] || crossing_reach(cm, e, other) < p->reach[i];
    const double area = f >= 0 ? a->patch[f] : share(a, e, other) * area_at(a, e, other);
    return net * (whole ? 1 : 1 - edge_share(a, e, other)) * area * over;
}

double abut_area_inner(const abut_collmesh *cm, const abut_pairs *p, size_t i, double *part)
{
    *part = 0;
    if (p->kind[i] == ABUT_EE || p->of[i][1] <= ABUT_AREA_GUARD) return 0;
    const int32_t other = other_of(p, i);
    const double r = crossing_reach(cm, p->of[i][0], other), xi = abut_pairs_xi(cm, p, i);
    if (r < p->reach[i] && !cm->area->thin[p->of[i][0]])
        *part = edge_share(cm->area, p->of[i][0], other) * over_law(r, xi) / over_law(p->reach[i], xi);
    return r;
}

/* The share that a sharp edge e bears beside a smooth surface at vertex q: all where its own vertices are far apart. */
static double bears(const abut_area *a, double rest2, int32_t q, double eta)
{
    return fmax(eta, fmin(1, a->eta * sqrt(rest2) / a->length[a->part[q]]));
}

static double edges_factor(const abut_collmesh *cm, const abut_pairs *p, size_t i, const double *y,
                           int32_t v[ABUT_AREA_CORNERS], double *g, double *H, int *bends)
{
    const abut_area *a = cm->area;
    const int32_t e = p->of[i][0], f = p->of[i][1], *mollifier = cm->model->mollifier;
    const int has_e = !mollifier || *mollifier;
    memcpy(v, cm->edge + 2 * (size_t)e, 2 * sizeof *v);
    memcpy(v + 2, cm->edge + 2 * (size_t)f, 2 * sizeof *v);
    memcpy(v + 4, a->wing[e], 2 * sizeof *v);
    memcpy(v + 6, a->wing[f], 2 * sizeof *v);
    crossing c = { .eps_x = has_e ? abut_mollify_eps(cm->rest2[e], cm->rest2[f]) : 0, .eta = 1, .bears = { 1, 1 },
                   .length = sqrt(fmin(cm->rest2[e], cm->rest2[f])), .reach = p->reach[i],
                   .sharp = { a->sharp[e], a->sharp[f] } };
    if (a->sharp[e] || a->sharp[f]) {
        c.eta = edge_share(a, v[0], v[2]);
        c.bears[0] = bears(a, cm->rest2[e], v[2], c.eta), c.bears[1] = bears(a, cm->rest2[f], v[0], c.eta);
    }
    for (int k = 0; k < ABUT_AREA_CORNERS; k++)
        if (v[k] >= 0) {
            memcpy(c.x + 3 * k, y + 3 * (size_t)v[k], 3 * sizeof *c.x);
            c.wings |= k >= 4 ? 1 << (k - 4) : 0;
        }
    return crossing_factor(&c, g, H, bends);
}

/* The share of the one patch of vertex p, a corner of a rim: vertices of the other part may be far apart, so all of it counts,
 * of the area of one of theirs at most. */
static double share_of_rim(const abut_area *a, int32_t p, int32_t patch, int32_t q)
{
    const double s = share(a, p, q), theirs = a->mean[a->part[q]];
    return s + (1 - s) * (theirs > 0 ? fmin(1, theirs / a->patch[patch]) : 1);
}

/* Unit normal of the triangle of points p, a, b; 0 if it has no area. */
static void unit_normal(const double *p, const double *a, const double *b, double n[3])
{
    double u[3], v[3];
    diff(a, p, u);
    diff(b, p, v);
    cross(u, v, n);
    const double size = sqrt(dot(n, n));
    for (int k = 0; k < 3; k++) n[k] = size > 0 ? n[k] / size : 0;
}

double abut_area_faces(const abut_collmesh *cm, int32_t owner, int32_t patch, int32_t face, const double *y)
{
    const int32_t *t = cm->tri + 3 * (size_t)face, *corner = cm->area->normal[patch];
    double n[3], gn[3], g[9], slope, curvature;
    unit_normal(y + 3 * (size_t)t[0], y + 3 * (size_t)t[1], y + 3 * (size_t)t[2], n);
    const double q = patch_factor(n, y + 3 * (size_t)owner, y + 3 * (size_t)corner[0], y + 3 * (size_t)corner[1], gn, g);
    return facing(cm->area, owner, q, &slope, &curvature);
}

/* Corners: those of the contact, then those of the face that are none of a PT contact, and of the patch. */
static double vertex_factor(const abut_collmesh *cm, const abut_pairs *p, size_t i, const double *y,
                            int32_t v[ABUT_AREA_CORNERS], double *g, double *H, int *bends)
{
    static const signed char of[3][4][ABUT_AREA_CORNERS] = {
        { { 0, 0, 0, -1, 1 }, { 0, 0, 0, -1, 0, 0, 0, 1 }, { -1, 0, 0, 0, 0, 1 }, { -1, 0, 0, 0, 0, 0, 1 } },
        { { 0, -1, 1 }, { 0, -1, 0, 1 }, { -1, 0, 0, 0, 0, 1 }, { -1, 0, 0, 0, 0, 0, 1 } },
        { { 0, 0, 0, -1, 1 }, { 0, 0, 0, -1, 0, 0, 0, 1 }, { 0, -1, 0, 0, 0, 1 }, { 0, -1, 0, 0, 0, 0, 1 } } };
    const abut_area *a = cm->area;
    const int32_t owner = p->of[i][0], patch = p->of[i][1], face = p->of[i][2], other = other_of(p, i);
    for (int k = 0; k < ABUT_AREA_CORNERS; k++) v[k] = k < 4 ? p->vert[i][k] : -1;
    if (face < 0) {
        memset(g, 0, g ? NUMBERS * sizeof *g : 0);
        memset(H, 0, H ? NUMBERS * NUMBERS * sizeof *H : 0);
        return share_of_rim(a, owner, patch, other);
    }
    const int32_t *t = cm->tri + 3 * (size_t)face;
    const int at = p->kind[i] == ABUT_PP && owner == p->vert[i][1], is_face = p->kind[i] == ABUT_PT;
    const int first[3] = { is_face ? 1 : 3, is_face ? 2 : 4, is_face ? 3 : 7 };
    for (int k = 0; k < 3; k++) v[first[k]] = is_face ? v[first[k]] : t[k];
    v[5] = a->normal[patch][0], v[6] = a->normal[patch][1];
    const double *x[ABUT_AREA_CORNERS], by = share(a, owner, other);
    double n[3], N[3], gn[3], gt[9], gp[9], slope, curvature;
    for (int k = 0; k < ABUT_AREA_CORNERS; k++) x[k] = y + 3 * (size_t)(v[k] < 0 ? owner : v[k]);
    unit_normal(x[first[0]], x[first[1]], x[first[2]], n);
    unit_normal(x[at], x[5], x[6], N);
    const double q = patch_factor(n, x[at], x[5], x[6], gn, gp), F = by * facing(a, owner, q, &slope, &curvature);
    *bends = slope > 0;
    if (g) {
        (void)patch_factor(N, x[first[0]], x[first[1]], x[first[2]], gn, gt);
        memset(g, 0, NUMBERS * sizeof *g);
        for (int k = 0; k < 9; k++) {
            g[3 * first[k / 3] + k % 3] += by * slope * gt[k];
            g[3 * (k < 3 ? at : 4 + k / 3) + k % 3] += by * slope * gp[k];
        }
    }
    if (H) {
        const int which = is_face ? 1 : at ? 2 : 0;
        double r[4][3] = { { 0 } };
        for (int k = 0; k < 4 * ABUT_AREA_CORNERS * 3; k++) {
            const int row = k / (3 * ABUT_AREA_CORNERS), c = k / 3 % ABUT_AREA_CORNERS;
            r[row][k % 3] += of[which][row][c] * x[c][k % 3];
        }
        jet f = facing_of(0, r);
        jet_of_patch(a, owner, &f, by);
        jet_to_points(&f, 4, ABUT_AREA_CORNERS, of[which], H);
    }
    return F;
}

double abut_area_factor_of(const abut_collmesh *cm, const abut_pairs *p, size_t i, const double *y,
                           int32_t v[ABUT_AREA_CORNERS], double *g, double *H, int *bends)
{
    int varies = 0;
    const double F = p->of[i][1] < 0         ? 1
                     : p->kind[i] == ABUT_EE ? edges_factor(cm, p, i, y, v, g, H, &varies)
                                             : vertex_factor(cm, p, i, y, v, g, H, &varies);
    if (bends) *bends = varies;
    return F;
}

double abut_area_plane_weight(const abut_collmesh *cm, int32_t v, int32_t patch)
{
    return (patch < 0 ? cm->area->vertex[v] : cm->area->patch[patch]) *
           over_law(abut_collmesh_plane_dhat(cm, v), abut_collmesh_plane_xi(cm, v));
}

double abut_area_plane_factor(const abut_collmesh *cm, int32_t v, int32_t patch, const double n[3], const double *y, double *g,
                              double *H)
{
    static const signed char of[4][ABUT_AREA_CORNERS] = { { 0 }, { 0 }, { -1, 1 }, { -1, 0, 1 } };
    double gn[3], own[9], r[4][3] = { { n[0], n[1], n[2] } }, slope, curvature;
    if (patch < 0) return 1;
    const int32_t *corner = cm->area->normal[patch];
    const double *p = y + 3 * (size_t)v, *a = y + 3 * (size_t)corner[0], *b = y + 3 * (size_t)corner[1];
    diff(a, p, r[2]);
    diff(b, p, r[3]);
    if (H) {
        jet F = facing_of(1, r);
        jet_of_patch(cm->area, v, &F, 1);
        jet_to_points(&F, 4, 3, of, H);
    }
    const double S = facing(cm->area, v, patch_factor(n, p, a, b, gn, own), &slope, &curvature);
    for (int k = 0; k < (g ? 9 : 0); k++) g[k] = slope * own[k];
    return S;
}

/* Factors of edges above each other, and of crossings at the ends of edges, are 0 but for rounding. */
#define NEGLIGIBLE 1e-12

void abut_area_weigh(const abut_collmesh *cm, const double *y, abut_pairs *p)
{
    #pragma omp parallel for schedule(static) if (p->n >= ABUT_PAR_MIN)
    for (size_t i = 0; i < p->n; i++) {
        int32_t v[ABUT_AREA_CORNERS];
        int bends;
        const double F = abut_area_factor_of(cm, p, i, y, v, NULL, NULL, &bends);
        p->mult[i] = F > NEGLIGIBLE ? F * area_weight(cm, p, i, p->mult[i]) : 0;
        p->bent[i] = bends;
    }
    size_t n = 0;
    p->n_plain = p->n_bent = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (p->mult[i] == 0) continue;
        p->kind[n] = p->kind[i], p->mult[n] = p->mult[i], p->dist2[n] = p->dist2[i], p->reach[n] = p->reach[i];
        memmove(p->vert[n], p->vert[i], sizeof *p->vert);
        memmove(p->of[n], p->of[i], sizeof *p->of);
        if (p->bent[i]) p->bent[p->n_bent++] = (int32_t)n;      /* no further than i */
        p->eps_x[n++] = p->eps_x[i];
        if (!(p->eps_x[i] > 0)) p->n_plain = n;
    }
    p->n = n;
}
