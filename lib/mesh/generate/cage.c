
#include "base/arena.h"
#include "base/words.h"
#include "math/vec3.h"
#include "mesh/generate/generate.h"
#include "mesh/surface.h"
#include "mesh/triangle_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 14, CELLS_MOST = 2000000, DIVISIONS_MOST = 6, SWEEPS = 12, SHORTENED = 40, MATCHES = 20 };

#define SHORTEST 0.1        /* radius over the largest one */
#define KEPT 0.15           /* of the volume of a tet */
#define SHORTER 0.9         /* a move, each time that it is too long */
#define NEGLIGIBLE 1e-9     /* of the sum of coordinates: a point on the side of a cone */
#define MATCHED 1e-3        /* of the volume of the body: what its tets may be off by */
#define MARGIN 2e-8         /* of a radius: more than what that leaves out */

/* ---- a lattice ---- */

/* Cells i, j, k from lo, of size `cell`. */
typedef struct cells {
    double lo[3], cell;
    int32_t n[3];
    unsigned char *full;
} cells;

static size_t cell_at(const cells *c, int32_t i, int32_t j, int32_t k)
{
    return ((size_t)k * (size_t)c->n[1] + (size_t)j) * (size_t)c->n[0] + (size_t)i;
}

static abut_vec3 middle(const cells *c, int32_t i, int32_t j, int32_t k)
{
    return abut_v3(c->lo[0] + (i + 0.5) * c->cell, c->lo[1] + (j + 0.5) * c->cell, c->lo[2] + (k + 0.5) * c->cell);
}

static int apart(abut_vec3 axis, const abut_vec3 p[3], double half)
{
    const double r = half * (fabs(axis.x) + fabs(axis.y) + fabs(axis.z));
    const double a = abut_v3_dot(axis, p[0]), b = abut_v3_dot(axis, p[1]), c = abut_v3_dot(axis, p[2]);
    return fmin(a, fmin(b, c)) > r || fmax(a, fmax(b, c)) < -r;
}

/* A triangle and the cube of half edge `half` about the origin have a point in common (T. Akenine-Moeller, "Fast 3D triangle-box
 * overlap testing", 2001: separating axes). */
static int meets(const abut_vec3 p[3], double half)
{
    const abut_vec3 unit[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    const abut_vec3 e[3] = { abut_v3_sub(p[1], p[0]), abut_v3_sub(p[2], p[1]), abut_v3_sub(p[0], p[2]) };
    for (int i = 0; i < 3; i++)
        if (apart(unit[i], p, half)) return 0;
    if (apart(abut_v3_cross(e[0], e[1]), p, half)) return 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            if (apart(abut_v3_cross(unit[i], e[k]), p, half)) return 0;
    return 1;
}

static int32_t clamp(double v, int32_t n)
{
    return v < 0 ? 0 : v > n - 1 ? n - 1 : (int32_t)v;
}

static void fill_near(cells *c, const abut_mesh *s, double inflate)
{
    for (int32_t t = 0; t < s->nf; t++) {
        abut_vec3 p[3];
        int32_t from[3], to[3];
        for (int k = 0; k < 3; k++) p[k] = abut_v3_get(s->x + 3 * (size_t)s->tri[3 * (size_t)t + (size_t)k]);
        for (int d = 0; d < 3; d++) {
            double lo = INFINITY, hi = -INFINITY;
            for (int k = 0; k < 3; k++) {
                const double v = s->x[3 * (size_t)s->tri[3 * (size_t)t + (size_t)k] + (size_t)d];
                lo = fmin(lo, v), hi = fmax(hi, v);
            }
            from[d] = clamp(floor((lo - inflate - c->lo[d]) / c->cell), c->n[d]);
            to[d] = clamp(floor((hi + inflate - c->lo[d]) / c->cell), c->n[d]);
        }
        for (int32_t k = from[2]; k <= to[2]; k++)
            for (int32_t j = from[1]; j <= to[1]; j++)
                for (int32_t i = from[0]; i <= to[0]; i++) {
                    const abut_vec3 o = middle(c, i, j, k);
                    const abut_vec3 q[3] = { abut_v3_sub(p[0], o), abut_v3_sub(p[1], o), abut_v3_sub(p[2], o) };
                    if (meets(q, 0.5 * c->cell + inflate)) c->full[cell_at(c, i, j, k)] = 1;
                }
    }
}

static void fill_inside(cells *c, const abut_triangle_tree *tree)
{
    for (int32_t k = 0; k < c->n[2]; k++)
        for (int32_t j = 0; j < c->n[1]; j++)
            for (int32_t i = 0; i < c->n[0]; i++) {
                const size_t at = cell_at(c, i, j, k);
                if (!c->full[at]) c->full[at] = (unsigned char)abut_triangles_inside(tree, middle(c, i, j, k));
            }
}

/* Marks what faces join to the first full cell with 2; returns how many full cells are left with 1. */
static int64_t flood(cells *c, size_t *stack)
{
    const size_t total = (size_t)c->n[0] * (size_t)c->n[1] * (size_t)c->n[2];
    const size_t stride[3] = { 1, (size_t)c->n[0], (size_t)c->n[0] * (size_t)c->n[1] };
    size_t first = 0, n = 0;
    int64_t left = 0;
    while (first < total && !c->full[first]) first++;
    if (first < total) c->full[first] = 2, stack[n++] = first;
    while (n) {
        const size_t at = stack[--n];
        const size_t ijk[3] = { at % stride[1], at / stride[1] % (size_t)c->n[1], at / stride[2] };
        for (int d = 0; d < 3; d++)
            for (int side = 0; side < 2; side++) {
                if (side ? ijk[d] + 1 >= (size_t)c->n[d] : ijk[d] == 0) continue;
                const size_t next = side ? at + stride[d] : at - stride[d];
                if (c->full[next] == 1) c->full[next] = 2, stack[n++] = next;
            }
    }
    for (size_t i = 0; i < total; i++) left += c->full[i] == 1;
    return left;
}

/* Returns the point of corner i, j, k of the cells; makes it at the first call. */
static abut_status corner_of(const cells *c, int32_t i, int32_t j, int32_t k, int32_t *number, abut_mesh *m, int32_t *v,
                             abut_err *err)
{
    int32_t *at = number + ((size_t)k * (size_t)(c->n[1] + 1) + (size_t)j) * (size_t)(c->n[0] + 1) + i;
    abut_status rc = ABUT_OK;
    if (*at < 0) {
        const double x[3] = { c->lo[0] + i * c->cell, c->lo[1] + j * c->cell, c->lo[2] + k * c->cell };
        rc = abut_mesh_add_vertex(m, x, err);
        *at = m->nv - 1;
    }
    *v = *at;
    return rc;
}

static abut_status cell_tets(const cells *c, int32_t i, int32_t j, int32_t k, int32_t *number, abut_mesh *m, abut_err *err)
{
    int corner[6][4];
    int32_t v[8];
    abut_status rc = ABUT_OK;
    abut_kuhn_cell((int[3]){ 0, 0, 0 }, corner);
    for (int b = 0; b < 8 && !rc; b++) rc = corner_of(c, i + (b & 1), j + (b >> 1 & 1), k + (b >> 2), number, m, &v[b], err);
    for (int q = 0; q < 6 && !rc; q++)
        rc = abut_mesh_add_tet(m, v[corner[q][0]], v[corner[q][1]], v[corner[q][2]], v[corner[q][3]], err);
    return rc;
}

static abut_status mesh_of(const cells *c, abut_mesh *m, abut_err *err)
{
    const size_t points = (size_t)(c->n[0] + 1) * (size_t)(c->n[1] + 1) * (size_t)(c->n[2] + 1);
    int32_t *number = malloc(points * sizeof *number);
    if (!number) return abut_fail(err, ABUT_E_NOMEM, "cage: no memory for %zu points", points);
    memset(number, -1, points * sizeof *number);
    abut_status rc = ABUT_OK;
    for (int32_t k = 0; k < c->n[2]; k++)
        for (int32_t j = 0; j < c->n[1]; j++)
            for (int32_t i = 0; i < c->n[0] && !rc; i++)
                if (c->full[cell_at(c, i, j, k)]) rc = cell_tets(c, i, j, k, number, m, err);
    free(number);
    return rc;
}

static abut_status frame(const abut_mesh *s, double cell, double inflate, cells *c, abut_err *err)
{
    double lo[3], hi[3], total = 1;
    if (!(cell > 0 && isfinite(cell) && inflate >= 0 && isfinite(inflate)))
        return abut_fail(err, ABUT_E_ARG, "cage: cell %g m, inflate %g m: expected more than 0, and 0 or more", cell, inflate);
    c->cell = cell;
    abut_mesh_bounds(s, lo, hi);
    for (int d = 0; d < 3; d++) {
        const double n = ceil((hi[d] - lo[d] + 2 * inflate) / cell);
        total *= fmax(n, 1);
        if (!(total <= CELLS_MOST))
            return abut_fail(err, ABUT_E_ARG, "cage: cells of %g m: expected larger ones, for at most %d around the surface",
                            cell, (int)CELLS_MOST);
        c->n[d] = n < 1 ? 1 : (int32_t)n;
        c->lo[d] = 0.5 * (lo[d] + hi[d] - c->n[d] * cell);
    }
    return ABUT_OK;
}

abut_status abut_generate_cage(const abut_mesh *surface, double cell, double inflate, abut_mesh *m, abut_err *err)
{
    cells c = { 0 };
    abut_triangle_tree *tree = NULL;
    size_t *stack = NULL;
    abut_status rc = abut_triangle_tree_new(&tree, surface->x, surface->tri, surface->nf, err);
    if (!rc) rc = frame(surface, cell, inflate, &c, err);
    const size_t total = rc ? 0 : (size_t)c.n[0] * (size_t)c.n[1] * (size_t)c.n[2];
    if (!rc) {
        if (!ABUT_ARRAYS(ABUT_ZEROS(c.full, total), ABUT_ITEMS(stack, total)))
            rc = abut_fail(err, ABUT_E_NOMEM, "cage: no memory for %zu cells", total);
    }
    if (!rc) {
        fill_near(&c, surface, inflate);
        fill_inside(&c, tree);
        const int64_t left = flood(&c, stack);
        if (left)
            rc = abut_fail(err, ABUT_E_GEOM,
                           "cage: %lld %s joined to the others by no face: expected larger cells, or more inflate",
                           (long long)left, abut_plural(left, "cell is", "cells are"));
    }
    if (!rc) rc = mesh_of(&c, m, err);
    abut_triangle_tree_free(&tree);
    free(c.full), free(stack);
    if (rc) abut_mesh_clear(m);
    return rc;
}

static abut_status octahedron(double radius, abut_mesh *m, abut_err *err)
{
    abut_status rc = abut_mesh_add_vertex(m, (double[3]){ 0 }, err);
    for (int d = 0; d < 6 && !rc; d++) {
        double x[3] = { 0 };
        x[d / 2] = d % 2 ? -radius : radius;
        rc = abut_mesh_add_vertex(m, x, err);
    }
    for (int f = 0; f < 8 && !rc; f++) {
        const int32_t x = 1 + (f & 1), y = 3 + (f >> 1 & 1), z = 5 + (f >> 2);
        const int odd = ((f & 1) + (f >> 1 & 1) + (f >> 2)) & 1;
        rc = abut_mesh_add_tet(m, 0, x, odd ? z : y, odd ? y : z, err);
    }
    return rc;
}

abut_status abut_generate_round_cage(const abut_mesh *surface, int faces, abut_mesh *m, abut_err *err)
{
    static const double I[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    const double inscribed = faces == 8 ? 0.57735026918962576 : 0.79465447229176612;   /* over the circumscribed radius */
    double lo[3], hi[3], center[3], most2 = 0;
    if (!surface->nf) return abut_fail(err, ABUT_E_ARG, "cage: a surface without triangles: expected one or more");
    abut_mesh_bounds(surface, lo, hi);
    for (int d = 0; d < 3; d++) center[d] = 0.5 * (lo[d] + hi[d]);
    for (size_t i = 0; i < 3 * (size_t)surface->nf; i++)
        most2 = fmax(most2, abut_v3_norm2(abut_v3_diff(surface->x + 3 * (size_t)surface->tri[i], center)));
    const double radius = (1 + 1e-9) * sqrt(most2) / inscribed;
    const abut_status rc = faces == 8 ? octahedron(radius, m, err) : abut_generate_star(radius, 1, m, err);
    if (rc) abut_mesh_clear(m);
    else abut_mesh_transform(m, I, center);
    return rc;
}

abut_status abut_cage_fill(const abut_mesh *m, const abut_mesh *surface, double *fill, abut_err *err)
{
    abut_triangle_tree *tree = NULL;
    const abut_status rc = abut_triangle_tree_new(&tree, surface->x, surface->tri, surface->nf, err);
    for (int32_t t = 0; t < m->nt && !rc; t++) {
        int inside = 0;
        /* the tet as the sixth 1 >= x >= y >= z >= 0 of a cube of SAMPLES^3 cells: a middle counts for all its permutations */
        for (int i = 0; i < SAMPLES; i++)
            for (int j = 0; j <= i; j++)
                for (int k = 0; k <= j; k++) {
                    const double a = (i + 0.5) / SAMPLES, b = (j + 0.5) / SAMPLES, c = (k + 0.5) / SAMPLES;
                    const double L[4] = { 1 - a, a - b, b - c, c };
                    abut_vec3 x = abut_v3(0, 0, 0);
                    for (int v = 0; v < 4; v++)
                        x = abut_v3_axpy(x, L[v], abut_v3_get(m->x + 3 * (size_t)m->tet[4 * (size_t)t + (size_t)v]));
                    if (abut_triangles_inside(tree, x)) inside += i == k ? 1 : i == j || j == k ? 3 : 6;
                }
        fill[t] = (double)inside / (SAMPLES * SAMPLES * SAMPLES);
    }
    abut_triangle_tree_free(&tree);
    return rc;
}

/* ---- a star ---- */

/* Points about the centre of a star, each in the cone of a tet: as a sum of its unit edges from the centre. */
typedef struct cones {
    const abut_mesh *star;
    int32_t n, *cone;       /* [n] tet of each point */
    double *at;             /* [n][3] m */
    double *radius;         /* [nv] m, of the points of the star; the centre is the first */
} cones;

/* The cone that a point lies in: that of the largest least coordinate. */
static void find_cone(const cones *c, int32_t i, abut_vec3 p)
{
    double best = -INFINITY;
    for (int32_t t = 0; t < c->star->nt; t++) {
        abut_vec3 u[3];
        double at[3], least = INFINITY;
        for (int k = 0; k < 3; k++) u[k] = abut_v3_get(c->star->x + 3 * (size_t)c->star->tet[4 * t + k + 1]);
        const double det = abut_v3_dot(u[0], abut_v3_cross(u[1], u[2]));
        for (int k = 0; k < 3; k++) {
            at[k] = abut_v3_dot(p, abut_v3_cross(u[(k + 1) % 3], u[(k + 2) % 3])) / det;
            least = fmin(least, at[k]);
        }
        if (!(least > best)) continue;
        best = least;
        c->cone[i] = t;
        for (int k = 0; k < 3; k++) c->at[3 * (size_t)i + (size_t)k] = fmax(at[k], 0);
    }
}

/* Least radius of point v of the star that keeps the points about it inside, with the other radii unchanged: a triangle with
 * radii r contains a point `at` if sum at / r <= 1.  alone: all radii of a triangle are equal. */
static double least_radius(const cones *c, int32_t v, int alone)
{
    double least = 0;
    for (int32_t i = 0; i < c->n; i++) {
        const double *at = c->at + 3 * (size_t)i;
        const int32_t *corner = c->star->tet + 4 * (size_t)c->cone[i] + 1;
        for (int k = 0; k < 3; k++) {
            if (corner[k] != v) continue;
            const int a = (k + 1) % 3, b = (k + 2) % 3;
            const double rest = alone ? 0 : at[a] / c->radius[corner[a]] + at[b] / c->radius[corner[b]];
            const double sum = at[0] + at[1] + at[2];
            if (!(at[k] > NEGLIGIBLE * sum)) continue;
            least = fmax(least, alone ? sum : rest < 1 ? at[k] / (1 - rest) : c->radius[v]);
        }
    }
    return least;
}

/* Fits radii with all points inside: starts from sufficient ones and lowers each in turn, half of the way. */
static void fit_radii(const cones *c)
{
    double most = 0;
    for (int32_t v = 1; v < c->star->nv; v++) most = fmax(most, c->radius[v] = least_radius(c, v, 1));
    for (int32_t v = 1; v < c->star->nv; v++) c->radius[v] = fmax(c->radius[v], SHORTEST * most);
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int32_t v = 1; v < c->star->nv; v++) {
            const double least = fmax(least_radius(c, v, 0), SHORTEST * most);
            c->radius[v] = fmin(c->radius[v], 0.5 * (c->radius[v] + least));
        }
}

static abut_status make_star(const abut_mesh *surface, abut_mesh *m, abut_err *err)
{
    static const double I[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    const size_t n = (size_t)surface->nv;
    double lo[3], hi[3], center[3];
    cones c = { .star = m, .n = surface->nv, .cone = malloc(n * sizeof *c.cone), .at = malloc(3 * n * sizeof *c.at),
                .radius = calloc((size_t)m->nv, sizeof *c.radius) };
    const abut_status rc = c.cone && c.at && c.radius ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "cage: %d points", surface->nv);
    abut_mesh_bounds(surface, lo, hi);
    for (int d = 0; d < 3; d++) center[d] = 0.5 * (lo[d] + hi[d]);
    for (int32_t i = 0; i < c.n && !rc; i++) find_cone(&c, i, abut_v3_diff(surface->x + 3 * (size_t)i, center));
    if (!rc) fit_radii(&c);
    for (size_t i = 3; i < 3 * (size_t)m->nv && !rc; i++) m->x[i] *= (1 + MARGIN) * c.radius[i / 3];
    if (!rc) abut_mesh_transform(m, I, center);
    free(c.cone), free(c.at), free(c.radius);
    return rc;
}

abut_status abut_generate_star_cage(const abut_mesh *surface, int divisions, abut_mesh *m, abut_err *err)
{
    if (!surface->nf) return abut_fail(err, ABUT_E_ARG, "cage: a surface without triangles: expected one or more");
    if (divisions < 1 || divisions > DIVISIONS_MOST)
        return abut_fail(err, ABUT_E_ARG, "cage: star %d: expected 1 to %d", divisions, (int)DIVISIONS_MOST);
    abut_status rc = abut_generate_star(1, divisions, m, err);
    if (!rc) rc = make_star(surface, m, err);
    if (rc) abut_mesh_clear(m);
    return rc;
}

/* ---- outer points of a lattice ---- */

typedef struct fit {
    abut_mesh *m;
    const abut_mesh *surface;
    int32_t *tri, n;        /* outer triangles of m */
    double *rest, *move;    /* [3 nv] m */
    unsigned char *mark;    /* [nv] moves too far */
} fit;

/* Outer points go straight towards the nearest point of the surface, until `inflate` is left. */
static abut_status aim(fit *f, double inflate, abut_err *err)
{
    abut_triangle_tree *tree = NULL;
    const abut_status rc = abut_triangle_tree_new(&tree, f->surface->x, f->surface->tri, f->surface->nf, err);
    for (int32_t i = 0; i < 3 * f->n && !rc; i++) {
        const size_t v = (size_t)f->tri[i];
        const abut_vec3 x = abut_v3_get(f->rest + 3 * v);
        abut_vec3 y;
        if (f->mark[v]) continue;
        f->mark[v] = 1;
        if (abut_triangle_nearest(tree, x, NULL, 0, 0, INFINITY, &y) < 0) continue;
        const abut_vec3 to = abut_v3_sub(y, x);
        const double far = abut_v3_norm(to);
        if (far > inflate) abut_v3_put(f->move + 3 * v, abut_v3_scale(1 - inflate / far, to));
    }
    abut_triangle_tree_free(&tree);
    return rc;
}

static double volume6(const double *x, const int32_t *v)
{
    const double *a = x + 3 * (size_t)v[0];
    const abut_vec3 b = abut_v3_diff(x + 3 * (size_t)v[1], a), c = abut_v3_diff(x + 3 * (size_t)v[2], a);
    return abut_v3_dot(abut_v3_cross(b, c), abut_v3_diff(x + 3 * (size_t)v[3], a));
}

/* Marks the points of tets that are too flat; returns how many tets. */
static int32_t mark_flat(fit *f)
{
    int32_t bad = 0;
    for (int32_t t = 0; t < f->m->nt; t++) {
        const int32_t *v = f->m->tet + 4 * (size_t)t;
        if (volume6(f->m->x, v) >= KEPT * volume6(f->rest, v)) continue;
        bad++;
        for (int k = 0; k < 4; k++) f->mark[v[k]] = 1;
    }
    return bad;
}

/* Marks the points of the outer triangles that are nearest to points of the surface outside of them; *bad: of these points. */
static abut_status mark_outside(fit *f, int32_t *bad, abut_err *err)
{
    abut_triangle_tree *tree = NULL;
    const abut_status rc = abut_triangle_tree_new(&tree, f->m->x, f->tri, f->n, err);
    *bad = 0;
    for (int32_t i = 0; i < f->surface->nv && !rc; i++) {
        const abut_vec3 p = abut_v3_get(f->surface->x + 3 * (size_t)i);
        abut_vec3 y;
        if (abut_triangles_inside(tree, p)) continue;
        const int32_t t = abut_triangle_nearest(tree, p, NULL, 0, 0, INFINITY, &y);
        *bad += 1;
        for (int k = 0; k < 3 && t >= 0; k++) f->mark[f->tri[3 * (size_t)t + (size_t)k]] = 1;
    }
    abut_triangle_tree_free(&tree);
    return rc;
}

/* Shortens the moves of points that are marked, each once a round, until none is; the lattice itself needs none. */
static abut_status settle(fit *f, abut_err *err)
{
    const size_t n3 = 3 * (size_t)f->m->nv;
    abut_status rc = ABUT_OK;
    int32_t bad = 1;
    for (int round = 0; bad && !rc; round++) {
        memset(f->mark, 0, (size_t)f->m->nv);
        for (size_t i = 0; i < n3; i++) f->m->x[i] = f->rest[i] + f->move[i];
        bad = mark_flat(f);
        if (!bad) rc = mark_outside(f, &bad, err);
        for (size_t i = 0; i < n3; i++)
            if (f->mark[i / 3]) f->move[i] = round < SHORTENED ? SHORTER * f->move[i] : 0;
        if (bad && round > 4 * SHORTENED + f->m->nv)
            return abut_fail(err, ABUT_E_GEOM, "cage: %d %s outside: expected more inflate", bad,
                             abut_plural(bad, "point of the surface is", "points of the surface are"));
    }
    return rc;
}

abut_status abut_cage_fit(abut_mesh *m, const abut_mesh *surface, double inflate, abut_err *err)
{
    const size_t n3 = 3 * (size_t)m->nv;
    fit f = { .m = m, .surface = surface };
    abut_status rc = abut_surface_triangles(m->tet, m->nt, &f.tri, &f.n, err);
    if (rc) return rc;
    f.rest = malloc(n3 * sizeof *f.rest + 1);
    f.move = calloc(n3 + 1, sizeof *f.move);
    f.mark = calloc((size_t)m->nv + 1, 1);
    if (!f.rest || !f.move || !f.mark) rc = abut_fail(err, ABUT_E_NOMEM, "cage: no memory for %d points", m->nv);
    if (!rc) {
        memcpy(f.rest, m->x, n3 * sizeof *f.rest);
        rc = aim(&f, inflate, err);
    }
    if (!rc) rc = settle(&f, err);
    free(f.tri), free(f.rest), free(f.move), free(f.mark);
    return rc;
}

/* ---- what is inside ---- */

static double enclosed6(const abut_mesh *surface)
{
    double sum = 0;
    for (int32_t t = 0; t < surface->nf; t++) {
        abut_vec3 p[3];
        for (int k = 0; k < 3; k++) p[k] = abut_v3_diff(surface->x + 3 * (size_t)surface->tri[3 * t + k], surface->x);
        sum += abut_v3_dot(p[0], abut_v3_cross(p[1], p[2]));
    }
    return sum;
}

abut_status abut_cage_fill_match(const abut_mesh *m, const abut_mesh *surface, double *fill, abut_err *err)
{
    const double want = enclosed6(surface);
    double full = 0, part = 0;      /* of tets that are full already, and of the others */
    for (int round = 0; round <= MATCHES; round++) {
        full = part = 0;
        for (int32_t t = 0; t < m->nt; t++) *(fill[t] < 1 ? &part : &full) += fill[t] * volume6(m->x, m->tet + 4 * (size_t)t);
        if (!(part > 0 && want > full) || round == MATCHES) break;
        for (int32_t t = 0; t < m->nt; t++)
            if (fill[t] < 1) fill[t] = fmin(1, fill[t] * (want - full) / part);
    }
    if (fabs(full + part - want) <= MATCHED * want) return ABUT_OK;
    return abut_fail(err, ABUT_E_GEOM, "cage: its tets hold %.6g m^3 of the %.6g m^3 that the surface encloses: expected smaller "
                     "triangles, or fewer divisions of a star", (full + part) / 6, want / 6);
}
