#include "contact/area.h"

#include "base/par.h"
#include "math/vec3.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_NUMBERS = 12, SMALL = 4, LARGE = 8 };      /* sides of squares, in cells */

#define PLANE 1e-7              /* over the mean length of edges: heights, and turns of a rim inward */
#define APART 1e-4              /* over it: what is nearer at rest touches */
#define MOST_CELLS 16           /* for each vertex */
#define SHARP_APART 1.4f        /* over it: sharp edges that are further apart at rest have no contact */

/* Flat parts at rest.  u[2] of a vertex: its place in the plane of its part. */
typedef struct abut_flat {
    int32_t columns, rows;
    int32_t (*cell)[2];         /* [nc] column -1: of no flat part */
    float (*place)[2];          /* [nc] u over the mean length of edges */
    size_t n;
    int32_t *tri;               /* [n] triangles of flat parts */
    double (*inverse)[4];       /* [n] 1/m, F = (x1 - x0, x2 - x0) times it */
    int32_t *first, *at;        /* [cells + 1]; numbers among tri of the triangles that meet a cell */
    int32_t n_whole;
    struct whole {
        int32_t part, low[2], high[2];  /* its cells: low <= cell < high */
        float least;                    /* least sine of an angle; 0: it is not convex */
    } *whole;                   /* [n_whole] flat parts */
    float *least[2];            /* [cells] least sine of an angle in the small, in the large square that begins at a cell; 0:
                                 * never certified */
} abut_flat;

typedef struct abut_flat_room {
    float (*of_tri)[CELL_NUMBERS], (*of_cell)[CELL_NUMBERS];   /* least entries of F, and least of -F */
    uint8_t *side, *whole;      /* [parts] 1: the motion of the whole part is certified */
    abut_quiet quiet;
} abut_flat_room;

static abut_status no_memory(const abut_collmesh *cm, abut_err *err)
{
    return abut_fail(err, ABUT_E_NOMEM, "contact: no memory for the flat parts of %d triangles", cm->nt);
}

int abut_flat_has(const abut_area *a, int32_t p, int32_t q)
{
    return a->flat && a->flat->cell[p][0] >= 0 && a->flat->cell[q][0] >= 0 && a->part[p] == a->part[q];
}

static size_t cells(const abut_flat *f) { return (size_t)f->columns * (size_t)f->rows; }

/* ---- parts that are plane ---- */

typedef struct sheet {
    int is_plane;
    abut_vec3 origin, t[2], n;
    double low[2], high[2], size;       /* of u; of a cell; m */
    int32_t at[2];                      /* its first cell */
} sheet;

/* Axes in the plane of a triangle; the first is as near to an axis of the world as can be. */
static void frame_of(const double *a, const double *b, const double *c, sheet *s)
{
    s->origin = abut_v3_get(a);
    s->n = abut_v3_cross(abut_v3_diff(b, a), abut_v3_diff(c, a));
    const double size = abut_v3_norm(s->n);
    s->is_plane = size > 0;
    if (!s->is_plane) return;
    s->n = abut_v3_scale(1 / size, s->n);
    const double x = fabs(s->n.x), y = fabs(s->n.y), z = fabs(s->n.z);
    const abut_vec3 e = x <= y && x <= z ? abut_v3(1, 0, 0) : y <= z ? abut_v3(0, 1, 0) : abut_v3(0, 0, 1);
    const abut_vec3 t = abut_v3_axpy(e, -abut_v3_dot(e, s->n), s->n);
    s->t[0] = abut_v3_scale(1 / abut_v3_norm(t), t);
    s->t[1] = abut_v3_cross(s->n, s->t[0]);
}

/* The part of c across b - a, times |b - a|. */
static double beside(const double *a, const double *b, const double *c)
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/* Places of all vertices, and which parts are plane, of surfaces that move, whose triangles lie beside each other. */
static void lay_out(const abut_collmesh *cm, const double *Y, sheet *s, double (*u)[2])
{
    const abut_area *a = cm->area;
    for (int32_t t = cm->nt - 1; t >= 0; t--) {
        const int32_t *v = cm->tri + 3 * (size_t)t;
        frame_of(Y + 3 * (size_t)v[0], Y + 3 * (size_t)v[1], Y + 3 * (size_t)v[2], &s[a->part[v[0]]]);
    }
    for (int32_t v = 0; v < cm->nc; v++) {
        sheet *of = &s[a->part[v]];
        const abut_vec3 r = abut_v3_sub(abut_v3_get(Y + 3 * (size_t)v), of->origin);
        u[v][0] = abut_v3_dot(r, of->t[0]), u[v][1] = abut_v3_dot(r, of->t[1]);
        for (int d = 0; d < 2; d++) of->low[d] = fmin(of->low[d], u[v][d]), of->high[d] = fmax(of->high[d], u[v][d]);
        if (a->thin[v] || cm->obstacle[v] || !(fabs(abut_v3_dot(r, of->n)) < PLANE * a->length[a->part[v]])) of->is_plane = 0;
    }
    for (int32_t e = 0; e < cm->ne; e++) {
        const int32_t *v = cm->edge + 2 * (size_t)e, *w = a->wing[e], c = a->of_edge[e];
        if (c == -1 && beside(u[v[0]], u[v[1]], u[w[0]]) * beside(u[v[0]], u[v[1]], u[w[1]]) < 0) continue;
        if (c != 0 || w[0] < 0) s[a->part[v[0]]].is_plane = 0;
    }
}

/* Leaves out the parts of which two places nearly touch at rest. */
static abut_status leave_touching(const abut_collmesh *cm, const double *Y, sheet *s, abut_err *err)
{
    const abut_area *a = cm->area;
    abut_candidates cand = { 0 };
    double apart = 0;
    for (int32_t p = 0; p < a->parts; p++)
        if (s[p].is_plane) apart = fmax(apart, APART * a->length[p]);
    if (!(apart > 0)) return ABUT_OK;
    const abut_status rc = abut_candidates_find(cm, Y, NULL, apart, NULL, &cand, err);
    for (int k = 0; k < 2 && !rc; k++) {
        const abut_stencil kind = abut_candidates_kind(k);
        const abut_pair_list *list = abut_candidates_list(&cand, k);
        for (size_t i = 0; i < list->n; i++) {
            int32_t v[4];
            double x[12], d2;
            abut_candidate_vertices(cm, kind, list->ij[i], v);
            const int32_t part = a->part[v[0]];
            if (part != a->part[v[abut_stencil_second(kind)]] || !s[part].is_plane) continue;
            abut_raw_points(Y, v, 4, x);
            (void)abut_nearest(kind, x, &d2);
            if (sqrt(d2) <= abut_candidate_xi(cm, kind, list->ij[i]) + APART * a->length[part]) s[part].is_plane = 0;
        }
    }
    abut_candidates_clear(&cand);
    return rc;
}

/* ---- cells ---- */

/* Cells of one size for a part, so large that most packs near each other share a large square; the parts lie beside each other,
 * further apart than that. */
static void place_parts(const abut_collmesh *cm, sheet *s, abut_flat *f)
{
    const abut_area *a = cm->area;
    int32_t at[2] = { 0, 0 }, tall = 0;
    f->columns = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t p = 0; p < a->parts; p++) {
            if (!s[p].is_plane) continue;
            s[p].size = a->length[p] + cm->model->dhat[0] / (LARGE - 1);
            const double wide = (s[p].high[0] - s[p].low[0]) / s[p].size, high = (s[p].high[1] - s[p].low[1]) / s[p].size;
            if (!(wide * high < MOST_CELLS * (double)cm->nc) || !(wide + high < MOST_CELLS * (double)cm->nc)) {
                s[p].is_plane = 0;
                continue;
            }
            const int32_t w = (int32_t)wide + 1 + LARGE, h = (int32_t)high + 1 + LARGE;
            if (!pass && w > f->columns) f->columns = w;
            if (!pass) continue;
            if (at[0] + w > f->columns) at[0] = 0, at[1] += tall, tall = 0;
            if ((double)f->columns * (at[1] + h) > (double)MOST_CELLS * cm->nc + 4 * LARGE * LARGE) {
                s[p].is_plane = 0;
                continue;
            }
            memcpy(s[p].at, at, sizeof at);
            at[0] += w, tall = h > tall ? h : tall;
            f->rows = at[1] + tall;
        }
}

static int32_t cell_of(const sheet *s, double u, int d) { return s->at[d] + (int32_t)((u - s->low[d]) / s->size); }

/* The cells that meet the box of n points: low, high. */
static void cells_meet(const sheet *s, const double (*u)[2], const int32_t *v, int n, int32_t low[2], int32_t high[2])
{
    for (int d = 0; d < 2; d++) {
        double lo = u[v[0]][d], hi = lo;
        for (int k = 1; k < n; k++) lo = fmin(lo, u[v[k]][d]), hi = fmax(hi, u[v[k]][d]);
        low[d] = cell_of(s, fmax(lo - 1e-6 * s->size, s->low[d]), d), high[d] = cell_of(s, hi + 1e-6 * s->size, d);
    }
}

/* Least sine of an angle of a triangle; 0 where its thickness is more than a third of its least height. */
static double least_sine(const abut_collmesh *cm, const double (*u)[2], const int32_t *v)
{
    const double twice = fabs(beside(u[v[0]], u[v[1]], u[v[2]])), xi = cm->xi ? cm->xi[v[0]] : 0;
    double l[3], most = 0, sine = 1;
    for (int k = 0; k < 3; k++) {
        const double *b = u[v[(k + 1) % 3]], *c = u[v[(k + 2) % 3]];
        l[k] = hypot(c[0] - b[0], c[1] - b[1]);
        most = fmax(most, l[k]);
    }
    for (int k = 0; k < 3; k++) sine = fmin(sine, twice / (l[(k + 1) % 3] * l[(k + 2) % 3]));
    return twice > 3 * xi * most ? sine : 0;
}

/* The flat parts with their cells, and the least sines there. */
static void find_whole(const abut_collmesh *cm, const sheet *s, abut_flat *f)
{
    for (int32_t p = 0; p < cm->area->parts; p++) {
        if (!s[p].is_plane) continue;
        struct whole *w = &f->whole[f->n_whole++];
        *w = (struct whole){ .part = p, .low = { s[p].at[0], s[p].at[1] }, .least = 1 };
        for (int d = 0; d < 2; d++) w->high[d] = cell_of(&s[p], s[p].high[d] + 1e-6 * s[p].size, d) + 1;
        for (int32_t r = w->low[1]; r < w->high[1]; r++)
            for (int32_t c = w->low[0]; c < w->high[0]; c++)
                w->least = fminf(w->least, f->least[0][(size_t)r * (size_t)f->columns + (size_t)c]);
    }
}

/* Triangles with the inverse of their sides, and the cells they meet. */
static abut_status fill_cells(const abut_collmesh *cm, const sheet *s, const double (*u)[2], abut_flat *f, abut_err *err)
{
    const size_t n = cells(f);
    const int32_t *part = cm->area->part;
    f->first = calloc(n + 2, sizeof *f->first);
    f->tri = malloc(((size_t)cm->nt + 1) * sizeof *f->tri), f->inverse = malloc(((size_t)cm->nt + 1) * sizeof *f->inverse);
    for (int k = 0; k < 2; k++) f->least[k] = malloc((n + 1) * sizeof *f->least[k]);
    f->whole = malloc(((size_t)cm->area->parts + 1) * sizeof *f->whole);
    f->place = malloc(((size_t)cm->nc + 1) * sizeof *f->place);
    if (!f->first || !f->tri || !f->inverse || !f->least[0] || !f->least[1] || !f->whole || !f->place) return no_memory(cm, err);
    for (size_t c = 0; c < n; c++) f->least[0][c] = 1;
    for (int32_t v = 0; v < cm->nc; v++)
        for (int d = 0; d < 2; d++) {
            f->cell[v][d] = s[part[v]].is_plane ? cell_of(&s[part[v]], u[v][d], d) : -1;
            f->place[v][d] = s[part[v]].is_plane ? (float)((u[v][d] - s[part[v]].low[d]) / cm->area->length[part[v]]) : 0;
        }
    for (int fill = 0; fill < 2; fill++) {
        f->n = 0;
        for (int32_t t = 0; t < cm->nt; t++) {
            const int32_t *v = cm->tri + 3 * (size_t)t;
            int32_t low[2], high[2];
            if (!s[part[v[0]]].is_plane) continue;
            cells_meet(&s[part[v[0]]], u, v, 3, low, high);
            const float sine = (float)least_sine(cm, u, v);
            for (int32_t r = low[1]; r <= high[1]; r++)
                for (int32_t c = low[0]; c <= high[0]; c++) {
                    const size_t at = (size_t)r * (size_t)f->columns + (size_t)c;
                    if (fill) f->at[f->first[at + 1]++] = (int32_t)f->n;
                    else f->first[at + 2]++, f->least[0][at] = fminf(f->least[0][at], sine);
                }
            const double a = u[v[1]][0] - u[v[0]][0], b = u[v[2]][0] - u[v[0]][0];
            const double c = u[v[1]][1] - u[v[0]][1], d = u[v[2]][1] - u[v[0]][1], by = 1 / (a * d - b * c);
            const double inverse[4] = { d * by, -b * by, -c * by, a * by };
            f->tri[f->n] = t;
            memcpy(f->inverse[f->n++], inverse, sizeof inverse);
        }
        for (size_t c = 0; c < n && !fill; c++) f->first[c + 2] += f->first[c + 1];
        if (!fill) find_whole(cm, s, f);
        if (!fill) f->at = malloc(((size_t)f->first[n + 1] + 1) * sizeof *f->at);
        if (!f->at) return no_memory(cm, err);
    }
    return ABUT_OK;
}

/* ---- squares in which a part is convex ---- */

/* 1: all triangles of a cell lie on the side of a wing of the rim e, or on its line. */
static int is_support(const abut_collmesh *cm, const abut_flat *f, const double (*u)[2], double far, int32_t e, size_t cell)
{
    const int32_t *v = cm->edge + 2 * (size_t)e;
    const double *a = u[v[0]], *b = u[v[1]], sign = beside(a, b, u[cm->area->wing[e][0]]) > 0 ? 1 : -1;
    const double least = -far * hypot(b[0] - a[0], b[1] - a[1]);
    for (int32_t i = f->first[cell]; i < f->first[cell + 1]; i++)
        for (int k = 0; k < 3; k++)
            if (sign * beside(a, b, u[cm->tri[3 * (size_t)f->tri[f->at[i]] + (size_t)k]]) < least) return 0;
    return 1;
}

static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }
static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

/* The squares of one side that meet both cells [low, high] and cell `at` are never certified. */
static void leave_squares(abut_flat *f, int k, const int32_t low[2], const int32_t high[2], const int32_t at[2])
{
    const int32_t side = k ? LARGE : SMALL;
    for (int32_t r = larger(0, larger(low[1], at[1]) - side + 1); r <= smaller(high[1], at[1]); r++)
        for (int32_t c = larger(0, larger(low[0], at[0]) - side + 1); c <= smaller(high[0], at[0]); c++)
            f->least[k][(size_t)r * (size_t)f->columns + (size_t)c] = 0;
}

/* Squares in which rims turn inward are never certified, nor are parts: a connected set that is convex around each of its points
 * is convex (Tietze).  Squares of a part meet no others: there are free cells between. */
static void find_convex(const abut_collmesh *cm, const sheet *s, const double (*u)[2], abut_flat *f)
{
    for (int32_t e = 0; e < cm->ne; e++) {
        const int32_t *v = cm->edge + 2 * (size_t)e, part = cm->area->part[v[0]];
        int32_t low[2], high[2], at[2];
        if (!s[part].is_plane || cm->area->of_edge[e] != 0) continue;
        cells_meet(&s[part], u, v, 2, low, high);
        for (at[1] = larger(0, low[1] - LARGE + 1); at[1] < smaller(f->rows, high[1] + LARGE); at[1]++)
            for (at[0] = larger(0, low[0] - LARGE + 1); at[0] < smaller(f->columns, high[0] + LARGE); at[0]++) {
                const size_t cell = (size_t)at[1] * (size_t)f->columns + (size_t)at[0];
                if (is_support(cm, f, u, PLANE * cm->area->length[part], e, cell)) continue;
                for (int32_t k = 0; k < f->n_whole; k++) f->whole[k].least *= f->whole[k].part != part;
                leave_squares(f, 0, low, high, at);
                leave_squares(f, 1, low, high, at);
            }
    }
}

/* x of a square twice as wide is the least x of four squares; n numbers each. */
static void twice_as_wide(const abut_flat *f, int32_t side, size_t n, float *x)
{
    for (int32_t r = 0; r < f->rows; r++)
        for (int32_t c = 0; c < f->columns; c++)
            for (int q = 1; q < 4; q++) {
                const int32_t row = r + (q >> 1) * side, column = c + (q & 1) * side;
                if (row >= f->rows || column >= f->columns) continue;
                float *to = x + n * ((size_t)r * (size_t)f->columns + (size_t)c);
                const float *of = x + n * ((size_t)row * (size_t)f->columns + (size_t)column);
                for (size_t k = 0; k < n; k++) to[k] = of[k] < to[k] ? of[k] : to[k];
            }
}

abut_status abut_flat_init(abut_collmesh *cm, const double *Y, abut_err *err)
{
    abut_area *a = cm->area;
    sheet *s = calloc((size_t)a->parts + 1, sizeof *s);
    double (*u)[2] = malloc(((size_t)cm->nc + 1) * sizeof *u);
    abut_flat *f = calloc(1, sizeof *f);
    int any = 0;
    if (f) f->cell = malloc(((size_t)cm->nc + 1) * sizeof *f->cell);
    abut_status rc = s && u && f && f->cell ? ABUT_OK : no_memory(cm, err);
    if (!rc) {
        lay_out(cm, Y, s, u);
        rc = leave_touching(cm, Y, s, err);
    }
    if (!rc) place_parts(cm, s, f);
    for (int32_t p = 0; p < a->parts && !rc; p++) any |= s[p].is_plane;
    if (!rc && any) rc = fill_cells(cm, s, (const double (*)[2])u, f, err);
    if (!rc && any) {
        for (int32_t side = 1; side < SMALL; side *= 2) twice_as_wide(f, side, 1, f->least[0]);
        memcpy(f->least[1], f->least[0], cells(f) * sizeof *f->least[1]);
        twice_as_wide(f, SMALL, 1, f->least[1]);
        find_convex(cm, s, (const double (*)[2])u, f);
        a->flat = f;
    } else {
        abut_flat_free(&f);
    }
    free(u);
    free(s);
    return rc;
}

void abut_flat_free(abut_flat **of)
{
    abut_flat *f = *of;
    if (f) ABUT_FREE(f->cell, f->tri, f->inverse, f->first, f->at, f->least[0], f->least[1], f->whole, f->place);
    free(f);
    *of = NULL;
}

/* ---- certificates of a motion ---- */

#define ROUNDING 1e-6           /* of entries of F as floats, m / m */

static double squares(const double h[3], abut_vec3 t)
{
    const double d = fabs(t.x) * h[0] + fabs(t.y) * h[1] + fabs(t.z) * h[2];
    return d * d;
}

/* 1: triangles whose F lie in a box, and whose angles have a sine of `sine` at least, are certified. */
static int is_certified(const float low[CELL_NUMBERS], double sine)
{
    double A[2][3], h[2][3];
    for (int k = 0; k < 6; k++) {
        A[k / 3][k % 3] = 0.5 * ((double)low[k] - (double)low[6 + k]);
        h[k / 3][k % 3] = -0.5 * ((double)low[k] + (double)low[6 + k]) + ROUNDING;
    }
    const abut_vec3 a = abut_v3_get(A[0]), b = abut_v3_get(A[1]), c = abut_v3_cross(a, b);
    const double aa = abut_v3_norm2(a), bb = abut_v3_norm2(b), ab = abut_v3_dot(a, b), cc = abut_v3_norm2(c);
    const double mean = 0.5 * (aa + bb), s1 = mean + hypot(0.5 * (aa - bb), ab), s2 = cc / s1;  /* squares */
    if (!(s2 > 0.5) || !(s1 < 16)) return 0;
    const abut_vec3 n = abut_v3_scale(1 / sqrt(cc), c), t = abut_v3_scale(1 / sqrt(aa), a), w = abut_v3_cross(n, t);
    const double p2 = squares(h[0], t) + squares(h[1], t) + squares(h[0], w) + squares(h[1], w);
    const double q2 = squares(h[0], n) + squares(h[1], n), d = (2 * sqrt(s1 * p2) + p2 + q2) / s2;
    return d < 0.24 && 2 * d * sqrt(s1 / s2) < 0.95 * sine;
}

/* Entries of F of triangle k at y and their negatives, where they are less than those in low. */
static void take_gradient(const abut_collmesh *cm, const abut_flat *f, size_t k, const double *y, float low[CELL_NUMBERS])
{
    const int32_t *v = cm->tri + 3 * (size_t)f->tri[k];
    const double *m = f->inverse[k], *x = y + 3 * (size_t)v[0], *x1 = y + 3 * (size_t)v[1], *x2 = y + 3 * (size_t)v[2];
    for (int d = 0; d < 3; d++) {
        const double p = x1[d] - x[d], q = x2[d] - x[d];
        const float F[2] = { (float)(p * m[0] + q * m[2]), (float)(p * m[1] + q * m[3]) };
        for (int j = 0; j < 2; j++) {
            low[3 * j + d] = F[j] < low[3 * j + d] ? F[j] : low[3 * j + d];
            low[6 + 3 * j + d] = -F[j] < low[6 + 3 * j + d] ? -F[j] : low[6 + 3 * j + d];
        }
    }
}

static void fill_squares(const abut_collmesh *cm, const abut_flat *f, const double *y0, const double *y1, abut_flat_room *r)
{
    const size_t n = cells(f);
    #pragma omp parallel for schedule(static) if (f->n >= ABUT_PAR_MIN)
    for (size_t k = 0; k < f->n; k++) {
        for (int i = 0; i < CELL_NUMBERS; i++) r->of_tri[k][i] = FLT_MAX;
        take_gradient(cm, f, k, y0, r->of_tri[k]);
        if (y1) take_gradient(cm, f, k, y1, r->of_tri[k]);
    }
    #pragma omp parallel for schedule(static) if (f->n >= ABUT_PAR_MIN)
    for (size_t c = 0; c < n; c++) {
        float *low = r->of_cell[c];
        for (int i = 0; i < CELL_NUMBERS; i++) low[i] = FLT_MAX;
        for (int32_t k = f->first[c]; k < f->first[c + 1]; k++)
            for (int i = 0; i < CELL_NUMBERS; i++) {
                const float x = r->of_tri[f->at[k]][i];
                low[i] = x < low[i] ? x : low[i];
            }
    }
    for (int32_t side = 1; side < SMALL; side *= 2) twice_as_wide(f, side, CELL_NUMBERS, r->of_cell[0]);
}

/* 1: the motion of the whole part is certified. */
static int is_whole(const abut_flat *f, const struct whole *w, float (*of_cell)[CELL_NUMBERS])
{
    float low[CELL_NUMBERS];
    for (int k = 0; k < CELL_NUMBERS; k++) low[k] = FLT_MAX;
    for (int32_t r = w->low[1]; r < (w->least > 0 ? w->high[1] : w->low[1]); r++)
        for (int32_t c = w->low[0]; c < w->high[0]; c++) {
            const float *of = of_cell[(size_t)r * (size_t)f->columns + (size_t)c];
            for (int k = 0; k < CELL_NUMBERS; k++) low[k] = of[k] < low[k] ? of[k] : low[k];
        }
    return w->least > 0 && is_certified(low, w->least);
}

/* The side of the square that is certified from column c and row r on: a large one, a small one, or 0. */
static uint8_t certify(const abut_flat *f, int32_t r, int32_t c, float (*of_cell)[CELL_NUMBERS])
{
    const size_t at = (size_t)r * (size_t)f->columns + (size_t)c;
    float low[CELL_NUMBERS];
    if (!(f->least[0][at] > 0) || !(of_cell[at][0] < FLT_MAX)) return 0;
    memcpy(low, of_cell[at], sizeof low);
    for (int q = 1; q < 4; q++) {
        const int32_t row = r + (q >> 1) * SMALL, column = c + (q & 1) * SMALL;
        if (row >= f->rows || column >= f->columns) continue;
        const float *of = of_cell[(size_t)row * (size_t)f->columns + (size_t)column];
        for (int k = 0; k < CELL_NUMBERS; k++) low[k] = of[k] < low[k] ? of[k] : low[k];
    }
    if (is_certified(low, f->least[1][at])) return LARGE;
    return is_certified(of_cell[at], f->least[0][at]) ? SMALL : 0;
}

static abut_status room_make(const abut_collmesh *cm, abut_flat_room **room, abut_err *err)
{
    const abut_flat *f = cm->area->flat;
    const size_t n = cells(f);
    abut_flat_room *r = *room = calloc(1, sizeof *r);
    if (!r) return no_memory(cm, err);
    r->of_tri = malloc(f->n * sizeof *r->of_tri), r->of_cell = malloc(n * sizeof *r->of_cell), r->side = malloc(n);
    r->whole = calloc((size_t)cm->area->parts + 1, 1);
    r->quiet = (abut_quiet){ (const int32_t (*)[2])f->cell, f->columns, r->side, cm->area->sharp, (const float (*)[2])f->place,
                             SHARP_APART, cm->area->part, r->whole };
    if (r->of_tri && r->of_cell && r->side && r->whole) return ABUT_OK;
    abut_flat_room_free(room);
    return no_memory(cm, err);
}

abut_status abut_flat_certify(const abut_collmesh *cm, const double *y0, const double *y1, abut_flat_room **room,
                              const abut_quiet **quiet, abut_err *err)
{
    const abut_flat *f = cm->area->flat;
    *quiet = NULL;
    if (!f) return ABUT_OK;
    const abut_status rc = *room ? ABUT_OK : room_make(cm, room, err);
    if (rc) return rc;
    fill_squares(cm, f, y0, y1, *room);
    #pragma omp parallel for schedule(static) if (f->n >= ABUT_PAR_MIN)
    for (int32_t r = 0; r < f->rows; r++)
        for (int32_t c = 0; c < f->columns; c++)
            (*room)->side[(size_t)r * (size_t)f->columns + (size_t)c] = certify(f, r, c, (*room)->of_cell);
    for (int32_t k = 0; k < f->n_whole; k++)
        (*room)->whole[f->whole[k].part] = (uint8_t)is_whole(f, &f->whole[k], (*room)->of_cell);
    *quiet = &(*room)->quiet;
    return ABUT_OK;
}

void abut_flat_room_free(abut_flat_room **room)
{
    if (*room) ABUT_FREE((*room)->of_tri, (*room)->of_cell, (*room)->side, (*room)->whole);
    free(*room);
    *room = NULL;
}
