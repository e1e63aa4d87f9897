#include "mesh/generate/generate.h"

#include "geom/lagrange.h"
#include "mesh/surface.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_MAX = 5000000, FARTHEST = 1000000000, PIECE_NONE = -1 };

typedef abut_capsules shape;

/* ---- the cells ---- */

/* Cell i, j, k spans (first + i) cell to (first + i + 1) cell; the outermost two layers are empty at first. */
typedef struct cells {
    int32_t first[3], n[3];
    double edge;
    unsigned char *full;
    double *f;              /* at the centres */
    int32_t *piece;
} cells;

static size_t cell_at(const cells *c, int32_t i, int32_t j, int32_t k)
{
    return ((size_t)k * (size_t)c->n[1] + (size_t)j) * (size_t)c->n[0] + (size_t)i;
}

static size_t cells_count(const cells *c)
{
    return (size_t)c->n[0] * (size_t)c->n[1] * (size_t)c->n[2];
}

static abut_status cells_frame(const shape *f, double edge, cells *c, abut_err *err)
{
    double total = 1;
    c->edge = edge;
    for (int k = 0; k < 3; k++) {
        double lo = INFINITY, hi = -INFINITY;
        for (int32_t i = 0; i < f->n; i++) {
            const abut_capsule *q = &f->capsule[i];
            lo = fmin(lo, fmin(q->a[k], q->b[k]) - q->radius), hi = fmax(hi, fmax(q->a[k], q->b[k]) + q->radius);
        }
        const double swell = f->blend * log(f->n), n = floor((hi + swell) / edge) - floor((lo - swell) / edge) + 5;
        total *= n;
        if (!(total <= CELLS_MAX))
            return abut_fail(err, ABUT_E_ARG, "blob: cells of %g m: expected larger ones, for at most %d around the body", edge,
                             (int)CELLS_MAX);
        const double first = floor((lo - swell) / edge) - 2;
        if (!(fabs(first) <= FARTHEST))
            return abut_fail(err, ABUT_E_ARG, "blob: a capsule at %g m, with cells of %g m: expected less than %d cells from the "
                             "origin", lo, edge, (int)FARTHEST);
        c->first[k] = (int32_t)first, c->n[k] = (int32_t)n;
    }
    return ABUT_OK;
}

static abut_status cells_fill(const shape *f, cells *c, abut_err *err)
{
    const size_t total = cells_count(c);
    c->full = calloc(total, 1), c->f = malloc(total * sizeof *c->f), c->piece = malloc(total * sizeof *c->piece);
    if (!c->full || !c->f || !c->piece) return abut_fail(err, ABUT_E_NOMEM, "blob: no memory for %zu cells", total);
    for (int32_t k = 0; k < c->n[2]; k++)
        for (int32_t j = 0; j < c->n[1]; j++)
            for (int32_t i = 0; i < c->n[0]; i++) {
                const size_t at = cell_at(c, i, j, k);
                double grad[3];
                const double p[3] = { (c->first[0] + i + 0.5) * c->edge, (c->first[1] + j + 0.5) * c->edge,
                                      (c->first[2] + k + 0.5) * c->edge };
                c->f[at] = abut_capsules_value(f, p, grad);
                c->full[at] = c->f[at] < 0;
            }
    return ABUT_OK;
}

/* Whether the octants of a mask (bit q: octant q) are one piece, connected by faces; 1 for none. */
static int octants_joined(unsigned mask)
{
    unsigned seen = mask & (~mask + 1), grown = 0;
    while (grown != seen) {
        grown = seen;
        for (int q = 0; q < 8; q++)
            if (grown >> q & 1)
                for (int d = 0; d < 3; d++) seen |= mask & 1u << (q ^ 1 << d);
    }
    return seen == mask;
}

/* The surface is a manifold at a lattice point when the full ones of its eight cells are one piece, and the empty ones too
 * (their border on a small sphere is then one closed curve).  Elsewhere the empty cell nearest to the body is filled, but none
 * of the outermost layer: with all others of a point full, both sides are one piece. */
static int mend_point(cells *c, int32_t i, int32_t j, int32_t k)
{
    int filled = 0;
    for (;;) {
        unsigned full = 0;
        size_t best = 0, found = 0;
        for (int q = 0; q < 8; q++) {
            const int32_t a = i + (q & 1), b = j + (q >> 1 & 1), d = k + (q >> 2);
            const int outer = !a || !b || !d || a + 1 == c->n[0] || b + 1 == c->n[1] || d + 1 == c->n[2];
            const size_t at = cell_at(c, a, b, d);
            if (c->full[at]) full |= 1u << q;
            else if (!outer && (!found++ || c->f[at] < c->f[best])) best = at;
        }
        if (octants_joined(full) && octants_joined(~full & 255)) return filled;
        c->full[best] = 1, filled = 1;
    }
}

static void cells_mend(cells *c)
{
    for (int again = 1; again;) {
        again = 0;
        for (int32_t k = 0; k + 1 < c->n[2]; k++)
            for (int32_t j = 0; j + 1 < c->n[1]; j++)
                for (int32_t i = 0; i + 1 < c->n[0]; i++) again |= mend_point(c, i, j, k);
    }
}

/* Spreads a number over the cells that are joined to `seed` by faces; stack: room for every cell. */
static int32_t spread(cells *c, size_t seed, int32_t number, size_t *stack)
{
    const size_t step[3] = { 1, (size_t)c->n[0], (size_t)c->n[0] * (size_t)c->n[1] };
    int32_t count = 0;
    size_t top = 0;
    stack[top++] = seed, c->piece[seed] = number;
    while (top) {
        const size_t at = stack[--top];
        count++;
        for (int d = 0; d < 6; d++) {           /* full cells are never in the outermost layer */
            const size_t next = d & 1 ? at + step[d / 2] : at - step[d / 2];
            if (c->full[next] && c->piece[next] == PIECE_NONE) stack[top++] = next, c->piece[next] = number;
        }
    }
    return count;
}

static abut_status check_one_piece(cells *c, abut_err *err)
{
    const size_t total = cells_count(c);
    size_t *stack = malloc(total * sizeof *stack);
    if (!stack) return abut_fail(err, ABUT_E_NOMEM, "blob: no memory for %zu cells", total);
    int32_t pieces = 0, size[2] = { 0 };
    for (size_t i = 0; i < total; i++) c->piece[i] = PIECE_NONE;
    for (size_t i = 0; i < total; i++)
        if (c->full[i] && c->piece[i] == PIECE_NONE) {
            const int32_t n = spread(c, i, pieces, stack);
            if (pieces < 2) size[pieces] = n;
            pieces++;
        }
    free(stack);
    if (pieces == 0)
        return abut_fail(err, ABUT_E_ARG, "blob: no cell of %g m has its centre inside: expected smaller ones", c->edge);
    if (pieces == 1) return ABUT_OK;
    return abut_fail(err, ABUT_E_ARG, "blob: %d pieces, of %d and %d cells the first two: expected one (smaller cells, "
                     "thicker capsules)", pieces, size[0], size[1]);
}

/* ---- the mesh: first on all points of the lattice, in the end on those that are used ---- */

/* Lattice points of a cell, numbered as the corners of abut_kuhn_cell. */
static void cell_points(const cells *c, size_t cell, int32_t v[8])
{
    const int32_t i = (int32_t)(cell % (size_t)c->n[0]), rest = (int32_t)(cell / (size_t)c->n[0]);
    const int32_t j = rest % c->n[1], k = rest / c->n[1], row = c->n[0] + 1, layer = row * (c->n[1] + 1);
    for (int b = 0; b < 8; b++) v[b] = (k + (b >> 2)) * layer + (j + (b >> 1 & 1)) * row + i + (b & 1);
}

static abut_status cells_mesh(const cells *c, abut_mesh *m, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int32_t k = 0; k <= c->n[2]; k++)
        for (int32_t j = 0; j <= c->n[1]; j++)
            for (int32_t i = 0; i <= c->n[0] && !rc; i++) {
                const double p[3] = { (c->first[0] + i) * c->edge, (c->first[1] + j) * c->edge, (c->first[2] + k) * c->edge };
                rc = abut_mesh_add_vertex(m, p, err);
            }
    int corner[6][4];
    abut_kuhn_cell((int[3]){ 0, 0, 0 }, corner);
    for (size_t cell = 0; cell < cells_count(c) && !rc; cell++) {
        int32_t v[8];
        if (!c->full[cell]) continue;
        cell_points(c, cell, v);
        for (int q = 0; q < 6 && !rc; q++)
            rc = abut_mesh_add_tet(m, v[corner[q][0]], v[corner[q][1]], v[corner[q][2]], v[corner[q][3]], err);
    }
    return rc;
}

static abut_status drop_unused(abut_mesh *m, abut_err *err)
{
    int32_t *place = calloc((size_t)m->nv, sizeof *place), used = 0;
    if (!place) return abut_fail(err, ABUT_E_NOMEM, "blob: no memory for %d lattice points", m->nv);
    for (size_t i = 0; i < 4 * (size_t)m->nt; i++) place[m->tet[i]] = 1;
    for (int32_t v = 0; v < m->nv; v++) {
        if (!place[v]) continue;
        memmove(m->x + 3 * (size_t)used, m->x + 3 * (size_t)v, 3 * sizeof *m->x);
        place[v] = used++;
    }
    for (size_t i = 0; i < 4 * (size_t)m->nt; i++) m->tet[i] = place[m->tet[i]];
    m->nv = used;
    free(place);
    return ABUT_OK;
}

/* ---- onto the shape ---- */

/* Displacement of a point onto f = 0: Newton along the gradient, then clamped to just under half a cell along each axis. */
static void snap_by(const shape *f, const double x[3], double edge, double move[3])
{
    double p[3] = { x[0], x[1], x[2] };
    for (int it = 0; it < 8; it++) {
        double g[3];
        const double value = abut_capsules_value(f, p, g), g2 = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
        if (!(g2 > 1e-12) || fabs(value) < 1e-9 * edge) break;
        for (int k = 0; k < 3; k++) p[k] -= value * g[k] / g2;
    }
    double most = 0;
    for (int k = 0; k < 3; k++) move[k] = p[k] - x[k], most = fmax(most, fabs(move[k]));
    const double s = most > 0.49 * edge ? 0.49 * edge / most : 1;
    for (int k = 0; k < 3; k++) move[k] *= s;
}

/* Cells, full or not, with a point that moves. */
static size_t moving_cells(const cells *c, const double *move, size_t *list)
{
    size_t n = 0;
    for (size_t cell = 0; cell < cells_count(c); cell++) {
        int32_t v[8];
        int moves = 0;
        cell_points(c, cell, v);
        for (int b = 0; b < 8; b++)
            for (int k = 0; k < 3; k++) moves |= move[3 * (size_t)v[b] + k] != 0;
        if (moves) list[n++] = cell;
    }
    return n;
}

/* Shortens the displacements of the points of every tet that would keep less than 0.15 of its volume, each point once a
 * round, until there is none; after 40 rounds such displacements are dropped, so it ends.  Tets of empty cells must keep 0.02:
 * as every tet of the lattice stays positive and the lattice's border does not move, the map is one to one, and the surface does
 * not intersect itself.
 *
 * x, rest, move  of all lattice points; mark  one byte for each */
static void settle(const cells *c, const size_t *list, size_t n, const double *rest, double *move, unsigned char *mark,
                   abut_mesh *m)
{
    int corner[6][4];
    abut_kuhn_cell((int[3]){ 0, 0, 0 }, corner);
    for (int round = 0, bad = 1; bad; round++) {
        bad = 0;
        memset(mark, 0, (size_t)m->nv);
        for (size_t i = 0; i < 3 * (size_t)m->nv; i++) m->x[i] = rest[i] + move[i];
        for (size_t i = 0; i < n; i++) {
            const double least = (c->full[list[i]] ? 0.15 : 0.02) * c->edge * c->edge * c->edge;
            int32_t v[8];
            cell_points(c, list[i], v);
            for (int q = 0; q < 6; q++) {
                const int *c4 = corner[q];
                const int32_t tet[4] = { v[c4[0]], v[c4[1]], v[c4[2]], v[c4[3]] };
                if (!(abut_tet_volume6(m->x, tet) >= least))
                    for (int a = 0; a < 4; a++) mark[tet[a]] = 1;
            }
        }
        for (size_t i = 0; i < 3 * (size_t)m->nv; i++)
            if (mark[i / 3]) move[i] *= round < 40 ? 0.9 : 0, bad = 1;
    }
}

static abut_status snap_surface(const shape *f, const cells *c, abut_mesh *m, abut_err *err)
{
    int32_t *tri = NULL, n = 0;
    abut_status rc = abut_surface_triangles(m->tet, m->nt, &tri, &n, err);
    if (rc) return rc;
    const size_t size = 3 * (size_t)m->nv;
    double *rest = malloc(size * sizeof *rest), *move = calloc(size, sizeof *move);
    unsigned char *mark = calloc((size_t)m->nv, 1);
    size_t *list = malloc(cells_count(c) * sizeof *list);
    if (!rest || !move || !mark || !list) rc = abut_fail(err, ABUT_E_NOMEM, "blob: no memory for %d points", m->nv);
    if (!rc) {
        memcpy(rest, m->x, size * sizeof *rest);
        for (int32_t i = 0; i < 3 * n; i++) {
            const size_t v = (size_t)tri[i];
            if (!mark[v]) snap_by(f, rest + 3 * v, c->edge, move + 3 * v);
            mark[v] = 1;
        }
        settle(c, list, moving_cells(c, move, list), rest, move, mark, m);
    }
    free(tri), free(rest), free(move), free(mark), free(list);
    return rc;
}

static abut_status check_blob(const shape *f, double edge, abut_err *err)
{
    if (f->n < 1) return abut_fail(err, ABUT_E_ARG, "blob: no capsules: expected one or more");
    if (!(edge > 0 && isfinite(edge))) return abut_fail(err, ABUT_E_ARG, "blob: cell %g m: expected more than 0", edge);
    if (!(f->blend >= 0 && isfinite(f->blend)))
        return abut_fail(err, ABUT_E_ARG, "blob: blend %g m: expected 0 or more", f->blend);
    for (int32_t i = 0; i < f->n; i++) {
        const abut_capsule *c = &f->capsule[i];
        int fine = c->radius > 0 && isfinite(c->radius);
        for (int k = 0; k < 3; k++) fine &= isfinite(c->a[k]) && isfinite(c->b[k]);
        if (!fine)
            return abut_fail(err, ABUT_E_ARG, "blob: capsule %d, radius %g m: expected finite points and more than 0", i,
                             c->radius);
    }
    return ABUT_OK;
}

abut_status abut_generate_blob(const abut_capsule *capsule, int32_t n, double blend, double cell, int snap,
                               abut_mesh *m, abut_err *err)
{
    assert(n >= 0);
    const shape f = { capsule, n, blend };
    cells c = { 0 };
    abut_status rc = check_blob(&f, cell, err);
    if (!rc) rc = cells_frame(&f, cell, &c, err);
    if (!rc) rc = cells_fill(&f, &c, err);
    if (!rc) cells_mend(&c);
    if (!rc) rc = check_one_piece(&c, err);
    if (!rc) rc = cells_mesh(&c, m, err);
    if (!rc && snap) rc = snap_surface(&f, &c, m, err);
    if (!rc) rc = drop_unused(m, err);
    free(c.full), free(c.f), free(c.piece);
    if (rc) abut_mesh_clear(m);
    return rc;
}

abut_status abut_generate_tendrils(double radius, double length, double thickness, int32_t count, double cell, abut_mesh *m,
                                   abut_err *err)
{
    if (!(radius > 0 && length > 0 && thickness > 0))
        return abut_fail(err, ABUT_E_ARG, "tendrils: radius %g m, length %g m, thickness %g m: expected more than 0", radius,
                         length, thickness);
    if (thickness > 2 * radius)
        return abut_fail(err, ABUT_E_ARG, "tendrils: thickness %g m: expected at most the diameter of the ball, %g m", thickness,
                         2 * radius);
    if (count < 1 || count > 10000) return abut_fail(err, ABUT_E_ARG, "tendrils: %d: expected 1 to 10000", count);
    abut_capsule *c = calloc((size_t)count + 1, sizeof *c);
    if (!c) return abut_fail(err, ABUT_E_NOMEM, "tendrils: no memory for %d", count);
    c[0].radius = radius;
    for (int32_t i = 0; i < count; i++) {
        const double y = 1 - (2.0 * i + 1) / count, angle = 2.399963229728653 * i;      /* pi (3 - sqrt 5) */
        const double dir[3] = { sqrt(1 - y * y) * cos(angle), y, sqrt(1 - y * y) * sin(angle) };
        for (int k = 0; k < 3; k++) c[i + 1].b[k] = (radius + length - 0.5 * thickness) * dir[k];
        c[i + 1].radius = 0.5 * thickness;
    }
    const abut_status rc = abut_generate_blob(c, count + 1, 0.25 * cell, cell, 1, m, err);
    free(c);
    return rc;
}
