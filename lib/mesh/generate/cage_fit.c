/* Cages that follow their surface: a star of tets from its centre, and a lattice whose outer points move towards it. */
#include "mesh/generate/cage.h"

#include "base/words.h"
#include "math/vec3.h"
#include "mesh/generate/generate.h"
#include "mesh/surface.h"
#include "mesh/triangle_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIVISIONS_MOST = 6, SWEEPS = 12, SHORTENED = 40, MATCHES = 20 };

#define SHORTEST 0.1        /* radius over the largest one */
#define KEPT 0.15           /* of the volume of a tet */
#define SHORTER 0.9         /* a move, each time that it is too long */
#define NEGLIGIBLE 1e-9     /* of the sum of coordinates: a point on the side of a cone */
#define MATCHED 1e-3        /* of the volume of the body: what its tets may be off by */
#define MARGIN 2e-8         /* of a radius: more than what that leaves out */

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
    abut_status rc = abut_surface_triangles(m->tet, m->nt, m->nv, &f.tri, &f.n, err);
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
