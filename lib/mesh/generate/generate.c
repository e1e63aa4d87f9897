#include "mesh/generate/generate.h"

#include "base/rng.h"
#include "base/words.h"

#include <assert.h>
#include <float.h>
#include <math.h>

enum { CELLS_MAX = 4096 };

static abut_status check_size(const char *what, const double *size, int n, abut_err *err)
{
    for (int k = 0; k < n; k++)
        if (!(size[k] > 0 && isfinite(size[k])))
            return abut_fail(err, ABUT_E_ARG, "%s: size %g m: expected more than 0", what, size[k]);
    return ABUT_OK;
}

static abut_status check_cells(const char *what, const int32_t *cells, int n, abut_err *err)
{
    double total = 1;
    for (int k = 0; k < n; k++) {
        if (cells[k] < 1 || cells[k] > CELLS_MAX)
            return abut_fail(err, ABUT_E_ARG, "%s: %d cell%s: expected 1 to %d", what, cells[k], abut_s(cells[k]), CELLS_MAX);
        total *= cells[k] + 1.0;
    }
    if (total > 5e6) return abut_fail(err, ABUT_E_ARG, "%s: %.3g points: expected at most 5e6", what, total);
    return ABUT_OK;
}

/* A box of n[0] x n[1] x n[2] cells, x fastest.  Along the axes of `radial` the diagonals of the cells point away from the
 * middle; with `ring` the last cells along x end on the first points. */
typedef struct lattice { int32_t n[3]; int radial[3], ring; } lattice;

static int32_t lattice_row(const lattice *l)
{
    return l->n[0] + !l->ring;
}

/* Points over [-1, 1]^3. */
static abut_status lattice_points(const lattice *l, abut_mesh *m, abut_err *err)
{
    const int32_t *n = l->n;
    for (int32_t k = 0; k <= n[2]; k++)
        for (int32_t j = 0; j <= n[1]; j++)
            for (int32_t i = 0; i < lattice_row(l); i++) {
                const double p[3] = { (2.0 * i - n[0]) / n[0], (2.0 * j - n[1]) / n[1], (2.0 * k - n[2]) / n[2] };
                const abut_status rc = abut_mesh_add_vertex(m, p, err);
                if (rc) return rc;
            }
    return ABUT_OK;
}

void abut_kuhn_cell(const int flip[3], int corner[6][4])
{
    static const int PATH[6][3] = { { 0, 1, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 0, 2, 1 }, { 1, 0, 2 }, { 2, 1, 0 } };
    const int first = flip[0] | flip[1] << 1 | flip[2] << 2, mirrored = (flip[0] + flip[1] + flip[2]) & 1;
    for (int q = 0; q < 6; q++) {
        const int odd = (q >= 3) ^ mirrored;    /* the last three paths are odd permutations */
        const int second = first ^ 1 << PATH[q][0], third = second ^ 1 << PATH[q][1], last = first ^ 7;
        corner[q][0] = first, corner[q][1] = second;
        corner[q][2] = odd ? last : third, corner[q][3] = odd ? third : last;
    }
}

static abut_status cell_tets(const lattice *l, const int32_t c[3], abut_mesh *m, abut_err *err)
{
    int flip[3], corner[6][4];
    for (int k = 0; k < 3; k++) flip[k] = l->radial[k] && 2 * c[k] < l->n[k];
    abut_kuhn_cell(flip, corner);
    abut_status rc = ABUT_OK;
    for (int q = 0; q < 6 && !rc; q++) {
        int32_t v[4];
        for (int a = 0; a < 4; a++) {
            const int32_t at[3] = { c[0] + (corner[q][a] & 1), c[1] + (corner[q][a] >> 1 & 1), c[2] + (corner[q][a] >> 2) };
            v[a] = (at[2] * (l->n[1] + 1) + at[1]) * lattice_row(l) + at[0] % lattice_row(l);
        }
        rc = abut_mesh_add_tet(m, v[0], v[1], v[2], v[3], err);
    }
    return rc;
}

static abut_status lattice_mesh(const lattice *l, abut_mesh *m, abut_err *err)
{
    abut_status rc = lattice_points(l, m, err);
    for (int32_t k = 0; k < l->n[2] && !rc; k++)
        for (int32_t j = 0; j < l->n[1] && !rc; j++)
            for (int32_t i = 0; i < l->n[0] && !rc; i++) rc = cell_tets(l, (int32_t[3]){ i, j, k }, m, err);
    if (rc) abut_mesh_clear(m);
    return rc;
}

abut_status abut_generate_box(const double size[3], const int32_t cells[3], abut_mesh *m, abut_err *err)
{
    assert(m);
    abut_status rc = check_size("box", size, 3, err);
    if (!rc) rc = check_cells("box", cells, 3, err);
    if (!rc) rc = lattice_mesh(&(lattice){ .n = { cells[0], cells[1], cells[2] } }, m, err);
    for (int32_t i = 0; i < m->nv && !rc; i++)
        for (int k = 0; k < 3; k++) m->x[3 * (size_t)i + k] *= size[k] / 2;
    return rc;
}

/* p -> r p |p|max / |p|2 over the coordinates that `radial` marks. */
static void round_off(double *p, const int radial[3], double r)
{
    double big = 0, norm2 = 0;
    for (int k = 0; k < 3; k++)
        if (radial[k]) big = fmax(big, fabs(p[k])), norm2 += p[k] * p[k];
    const double s = norm2 > 0 ? r * big / sqrt(norm2) : 0;
    for (int k = 0; k < 3; k++)
        if (radial[k]) p[k] *= s;
}

abut_status abut_generate_sphere(double radius, int32_t cells, abut_mesh *m, abut_err *err)
{
    const lattice l = { .n = { cells, cells, cells }, .radial = { 1, 1, 1 } };
    abut_status rc = check_size("sphere", &radius, 1, err);
    if (!rc) rc = check_cells("sphere", l.n, 3, err);
    if (!rc) rc = lattice_mesh(&l, m, err);
    for (int32_t i = 0; i < m->nv && !rc; i++) round_off(m->x + 3 * (size_t)i, l.radial, radius);
    return rc;
}

abut_status abut_generate_cylinder(double radius, double height, int32_t across, int32_t along, abut_mesh *m, abut_err *err)
{
    const lattice l = { .n = { across, along, across }, .radial = { 1, 0, 1 } };
    abut_status rc = check_size("cylinder", (double[2]){ radius, height }, 2, err);
    if (!rc) rc = check_cells("cylinder", l.n, 3, err);
    if (!rc) rc = lattice_mesh(&l, m, err);
    for (int32_t i = 0; i < m->nv && !rc; i++) {
        round_off(m->x + 3 * (size_t)i, l.radial, radius);
        m->x[3 * (size_t)i + 1] *= height / 2;
    }
    return rc;
}

abut_status abut_generate_torus(double radius, double tube, int32_t around, int32_t across, abut_mesh *m, abut_err *err)
{
    const lattice l = { .n = { around, across, across }, .radial = { 0, 1, 1 }, .ring = 1 };
    abut_status rc = check_size("torus", (double[2]){ radius, tube }, 2, err);
    if (!rc) rc = check_cells("torus", l.n, 3, err);
    if (!rc && around < 3) rc = abut_fail(err, ABUT_E_ARG, "torus: %d cell%s around: expected 3 or more", around, abut_s(around));
    if (!rc && !(tube < radius))
        rc = abut_fail(err, ABUT_E_ARG, "torus: tube %g m: expected less than the radius %g m", tube, radius);
    if (!rc) rc = lattice_mesh(&l, m, err);
    for (int32_t i = 0; i < m->nv && !rc; i++) {
        double *p = m->x + 3 * (size_t)i;
        const double angle = 6.283185307179586 * (i % around) / around;
        round_off(p, l.radial, tube);
        const double out = radius + p[1];
        p[1] = p[2], p[0] = out * cos(angle), p[2] = out * sin(angle);
    }
    return rc;
}

static abut_status cloth_cell(const int32_t cells[2], int32_t i, int32_t k, abut_mesh *m, abut_err *err)
{
    const int32_t a = k * (cells[0] + 1) + i, b = a + 1, c = a + cells[0] + 1, d = c + 1;
    /* corners a (-,-), b (+,-), c (-,+), d (+,+) of (x, z); counter-clockwise seen from above (+y) */
    const int cut = (i + k) & 1;
    abut_status rc = abut_mesh_add_tri(m, a, c, cut ? b : d, err);
    if (!rc) rc = cut ? abut_mesh_add_tri(m, b, c, d, err) : abut_mesh_add_tri(m, a, d, b, err);
    return rc;
}

abut_status abut_generate_cloth(const double size[2], const int32_t cells[2], abut_mesh *m, abut_err *err)
{
    abut_status rc = check_size("cloth", size, 2, err);
    if (!rc) rc = check_cells("cloth", cells, 2, err);
    for (int32_t k = 0; !rc && k <= cells[1]; k++)
        for (int32_t i = 0; i <= cells[0] && !rc; i++) {
            const double p[3] = { size[0] * ((double)i / cells[0] - 0.5), 0, size[1] * ((double)k / cells[1] - 0.5) };
            rc = abut_mesh_add_vertex(m, p, err);
        }
    for (int32_t k = 0; !rc && k < cells[1]; k++)
        for (int32_t i = 0; i < cells[0] && !rc; i++) rc = cloth_cell(cells, i, k, m, err);
    if (rc) abut_mesh_clear(m);
    return rc;
}

abut_status abut_generate_rod(double length, int32_t cells, abut_mesh *m, abut_err *err)
{
    abut_status rc = check_size("rod", &length, 1, err);
    if (!rc) rc = check_cells("rod", &cells, 1, err);
    for (int32_t i = 0; !rc && i <= cells; i++) {
        const double p[3] = { length * ((double)i / cells - 0.5), 0, 0 };
        rc = abut_mesh_add_vertex(m, p, err);
        if (!rc && i) rc = abut_mesh_add_seg(m, i - 1, i, err);
    }
    if (rc) abut_mesh_clear(m);
    return rc;
}

static double grid_place(double size, int32_t count, int32_t i)
{
    return count > 1 ? size * ((double)i / (count - 1) - 0.5) : 0;
}

abut_status abut_generate_particles(const double size[3], const int32_t count[3], abut_mesh *m, abut_err *err)
{
    abut_status rc = check_cells("particles", count, 3, err);
    for (int k = 0; k < 3 && !rc; k++)
        if (count[k] > 1) rc = check_size("particles", &size[k], 1, err);
    for (int32_t k = 0; !rc && k < count[2]; k++)
        for (int32_t j = 0; j < count[1]; j++)
            for (int32_t i = 0; i < count[0] && !rc; i++) {
                const double p[3] = { grid_place(size[0], count[0], i), grid_place(size[1], count[1], j),
                                      grid_place(size[2], count[2], k) };
                rc = abut_mesh_add_vertex(m, p, err);
                if (!rc) rc = abut_mesh_add_point(m, m->nv - 1, err);
            }
    if (rc) abut_mesh_clear(m);
    return rc;
}

/* ---- surface of revolution ---- */

static abut_status check_profile(const double *profile, int32_t n, abut_err *err)
{
    if (n < 2) return abut_fail(err, ABUT_E_ARG, "revolution: %d point%s in the profile: expected 2 or more", n, abut_s(n));
    for (int32_t i = 0; i < n; i++) {
        const double r = profile[2 * i], low = i == 0 || i == n - 1 ? 0 : DBL_MIN;
        if (!(r >= low && isfinite(r) && isfinite(profile[2 * i + 1])))
            return abut_fail(err, ABUT_E_ARG, "revolution: point %d of the profile has radius %g m: expected more than 0%s", i, r,
                             low > 0 ? "" : ", or 0");
    }
    return ABUT_OK;
}

/* First vertex and number of vertices of a ring; one on the axis is a single vertex. */
typedef struct ring { int32_t first, n; } ring;

static abut_status add_ring(double r, double y, int32_t around, ring *out, abut_mesh *m, abut_err *err)
{
    *out = (ring){ m->nv, r > 0 ? around : 1 };
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i < out->n && !rc; i++) {
        const double angle = 6.283185307179586 * i / around;
        rc = abut_mesh_add_vertex(m, (double[3]){ r * cos(angle), y, -r * sin(angle) }, err);
    }
    return rc;
}

/* Triangles between two rings; those of a quad alternate like the cells of a cloth. */
static abut_status ring_triangles(ring lo, ring up, int32_t around, int32_t row, abut_mesh *m, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i < around && !rc; i++) {
        const int32_t a = lo.first + i % lo.n, b = lo.first + (i + 1) % around % lo.n;
        const int32_t c = up.first + i % up.n, d = up.first + (i + 1) % around % up.n;
        const int cut = (i + row) & 1;
        if (a != b) rc = abut_mesh_add_tri(m, a, b, cut || c == d ? c : d, err);
        if (!rc && c != d) rc = abut_mesh_add_tri(m, c, cut && a != b ? b : a, d, err);
    }
    return rc;
}

abut_status abut_generate_revolution(const double *profile, int32_t n, int32_t around, int32_t along, abut_mesh *m, abut_err *err)
{
    abut_status rc = check_profile(profile, n, err);
    if (!rc) rc = check_cells("revolution", (int32_t[2]){ around, along }, 2, err);
    if (!rc && around < 3)
        rc = abut_fail(err, ABUT_E_ARG, "revolution: %d cell%s around: expected 3 or more", around, abut_s(around));
    const double rows = (n - 1.0) * along;
    if (!rc) rc = abut_mesh_bound(around * (rows + 1), 2 * around * rows, "revolution", err);
    ring below = { 0 };
    if (!rc) rc = add_ring(profile[0], profile[1], around, &below, m, err);
    for (int32_t i = 0; i < (n - 1) * along && !rc; i++) {
        const double *a = profile + 2 * (i / along), f = (double)(i % along + 1) / along;
        ring above;
        rc = add_ring((1 - f) * a[0] + f * a[2], (1 - f) * a[1] + f * a[3], around, &above, m, err);
        if (!rc) rc = ring_triangles(below, above, around, i, m, err);
        below = above;
    }
    if (rc) abut_mesh_clear(m);
    return rc;
}

abut_status abut_generate_star(double radius, int32_t divisions, abut_mesh *m, abut_err *err)
{
    abut_mesh s = { 0 };
    abut_status rc = abut_generate_icosphere(radius, divisions, &s, err);
    if (!rc) rc = abut_mesh_add_vertex(m, (double[3]){ 0 }, err);
    for (int32_t i = 0; i < s.nv && !rc; i++) rc = abut_mesh_add_vertex(m, s.x + 3 * (size_t)i, err);
    for (int32_t t = 0; t < s.nf && !rc; t++) {
        const int32_t *v = s.tri + 3 * (size_t)t;
        rc = abut_mesh_add_tet(m, 0, 1 + v[0], 1 + v[1], 1 + v[2], err);
    }
    abut_mesh_clear(&s);
    if (rc) abut_mesh_clear(m);
    return rc;
}

/* ---- arches ---- */

/* y(x) = height - b (cosh(k x) - 1), of arc length s(x) from the crown; k = 0: the parabola height (1 - (x/half)^2) */
typedef struct curve {
    double half, height, b, k;
} curve;

static curve weighted_catenary(double span, double height, const double thickness[2])
{
    const double q = thickness[0] / thickness[1], half = 0.5 * span, c = acosh(q * q);
    return (curve){ half, height, q > 1 ? height / (q * q - 1) : 0, c / half };
}

static double curve_y(const curve *c, double x)
{
    const double q = x / c->half;
    return c->height - (c->k > 0 ? c->b * (cosh(c->k * x) - 1) : c->height * q * q);
}

static double curve_slope(const curve *c, double x)
{
    return c->k > 0 ? -c->b * c->k * sinh(c->k * x) : -2 * c->height * x / (c->half * c->half);
}

static double curve_arc(const curve *c, double x)
{
    enum { PANELS = 512 };      /* Simpson: of a smooth function to the last digits */
    const double h = x / PANELS;
    double sum = 0;
    for (int i = 0; i <= PANELS; i++) {
        const double y1 = curve_slope(c, i * h);
        sum += (i == 0 || i == PANELS ? 1 : i % 2 ? 4 : 2) * sqrt(1 + y1 * y1);
    }
    return sum * h / 3;
}

/* x with s(x) = s >= 0: s is convex, so that Newton's method from the foot comes down to it without overshooting */
static double curve_find(const curve *c, double s)
{
    double x = c->half;
    for (int i = 0; i < 60; i++) {
        const double y1 = curve_slope(c, x), step = (curve_arc(c, x) - s) / sqrt(1 + y1 * y1);
        x -= step;
        if (fabs(step) <= 1e-15 * c->half) break;
    }
    return x;
}

/* A cut through the arch: middle p, unit tangent t towards +x, thickness. */
typedef struct cut {
    double p[2], t[2], thickness;
} cut;

static cut cut_at(const curve *c, const double thickness[2], double s)
{
    const double x = copysign(curve_find(c, fabs(s)), s), y = curve_y(c, x), y1 = curve_slope(c, x), n = sqrt(1 + y1 * y1);
    return (cut){ { x, y }, { 1 / n, y1 / n }, thickness[1] + (thickness[0] - thickness[1]) * (1 - y / c->height) };
}

/* The block between two cuts, its faces `in` and `out` along their normals inside them, as thick as the lower one, so that the
 * corners of the upper neighbour lie inside its face; six tets of eight points. */
static abut_status add_block(const cut *a, const cut *b, double in, double out, double depth, abut_mesh *m, abut_err *err)
{
    static const int straight[3] = { 0, 0, 0 };
    const int32_t first = m->nv;
    const double thickness = fmax(a->thickness, b->thickness);
    int corner[6][4];
    abut_status rc = ABUT_OK;
    for (int i = 0; i < 8 && !rc; i++) {    /* bits: along the arch, outward, z */
        const cut *at = i & 1 ? b : a;
        const double along = i & 1 ? -out : in, across = (i & 2 ? 0.5 : -0.5) * thickness;
        const double p[3] = { at->p[0] + along * at->t[0] - across * at->t[1], at->p[1] + along * at->t[1] + across * at->t[0],
                              i & 4 ? 0.5 * depth : -0.5 * depth };
        rc = abut_mesh_add_vertex(m, p, err);
    }
    abut_kuhn_cell(straight, corner);
    for (int q = 0; q < 6 && !rc; q++)
        rc = abut_mesh_add_tet(m, first + corner[q][0], first + corner[q][1], first + corner[q][2], first + corner[q][3], err);
    return rc;
}

static abut_status check_arch(const double *positive, double gap, const double thickness[2], int32_t blocks, abut_err *err)
{
    for (int i = 0; i < 5; i++)
        if (!(positive[i] > 0 && isfinite(positive[i])))
            return abut_fail(err, ABUT_E_ARG, "arch: size %g m: expected more than 0", positive[i]);
    if (!(gap >= 0 && isfinite(gap))) return abut_fail(err, ABUT_E_ARG, "arch: gap %g m: expected 0 or more", gap);
    if (thickness[0] < thickness[1])
        return abut_fail(err, ABUT_E_ARG, "arch: thickness %g m at the feet, %g m at the crown: expected no less at the feet",
                         thickness[0], thickness[1]);
    if (blocks < 1 || blocks > 4096) return abut_fail(err, ABUT_E_ARG, "arch: %d blocks: expected 1 to 4096", blocks);
    return ABUT_OK;
}

abut_status abut_generate_arch(double span, double height, const double thickness[2], double depth, int32_t blocks, double gap,
                               abut_mesh *m, abut_err *err)
{
    abut_status rc = check_arch((double[5]){ span, height, thickness[0], thickness[1], depth }, gap, thickness, blocks, err);
    if (rc) return rc;
    const curve c = weighted_catenary(span, height, thickness);
    const double half = curve_arc(&c, c.half);
    if (blocks > 1 && !(gap < 2 * half / blocks))
        return abut_fail(err, ABUT_E_ARG, "arch: gap %g m: expected less than the length of a block, %g m", gap,
                         2 * half / blocks);
    cut a = cut_at(&c, thickness, -half);
    for (int32_t k = 1; k <= blocks && !rc; k++) {
        const cut b = cut_at(&c, thickness, half * (2.0 * k - blocks) / blocks);
        rc = add_block(&a, &b, k == 1 ? 0 : 0.5 * gap, k == blocks ? 0 : 0.5 * gap, depth, m, err);
        a = b;
    }
    if (rc) abut_mesh_clear(m);
    return rc;
}

/* ---- hair ---- */

#define PI 3.14159265358979323846

/* One strand: its root, the normal there and two tangents, and its own curl. */
typedef struct strand {
    abut_vec3 root, n, a, b;
    double l, rho, q, ramp, phi;
} strand;

static abut_status check(const abut_hair *h, abut_err *err)
{
    const double must[3] = { h->radius, h->offset, h->length };
    static const char *const name[3] = { "radius", "offset", "length" };
    for (int k = 0; k < 3; k++)
        if (!(must[k] > 0 && isfinite(must[k])))
            return abut_fail(err, ABUT_E_ARG, "hair: %s %g m: expected more than 0", name[k], must[k]);
    if (h->count < 1 || h->cells < 1)
        return abut_fail(err, ABUT_E_ARG, "hair: %d strand%s of %d cell%s: expected 1 or more", h->count, abut_s(h->count),
                         h->cells, abut_s(h->cells));
    const abut_status rc = abut_mesh_bound(h->count * (h->cells + 1.0), (double)h->count * h->cells, "hair", err);
    if (rc) return rc;
    if (!(h->curl >= 0 && isfinite(h->curl))) return abut_fail(err, ABUT_E_ARG, "hair: curl %g m: expected 0 or more", h->curl);
    if (!(h->vary >= 0 && h->vary <= 0.9)) return abut_fail(err, ABUT_E_ARG, "hair: vary %g: expected 0 to 0.9", h->vary);
    if (!(h->phase >= 0 && h->phase <= 1)) return abut_fail(err, ABUT_E_ARG, "hair: phase %g: expected 0 to 1", h->phase);
    if (h->curl <= 0) return ABUT_OK;
    if (!(h->wavelength > 0 && h->ramp > 0))
        return abut_fail(err, ABUT_E_ARG, "hair: wavelength %g m, ramp %g m: expected more than 0", h->wavelength, h->ramp);
    const double each = h->length / h->cells;
    if (each * 6 <= h->wavelength * (1 - h->vary) * (1 + 1e-9)) return ABUT_OK;
    return abut_fail(err, ABUT_E_ARG, "hair: edges of %g m on a wavelength of %g m: expected six or more on each", each,
                     h->wavelength * (1 - h->vary));
}

static strand strand_of(const abut_hair *h, int32_t i)
{
    abut_rng rng = { (uint64_t)h->seed * 0x9e3779b97f4a7c15u + (uint64_t)i * 0xd1b54a32d192ed03u };
    const double y = 1 - ((h->whole ? 2 * i + 1 : i + 0.5) / h->count), r = sqrt(fmax(0, 1 - y * y));
    const double angle = i * PI * (3 - sqrt(5));
    strand s = { .n = { r * cos(angle), y, r * sin(angle) }, .l = h->length / h->cells };
    const abut_vec3 e = fabs(s.n.x) > 0.9 ? (abut_vec3){ 0, 0, 1 } : (abut_vec3){ 1, 0, 0 };
    s.root = abut_v3_scale(h->radius + h->offset, s.n);
    const abut_vec3 across = abut_v3_sub(e, abut_v3_scale(abut_v3_dot(e, s.n), s.n));
    s.a = abut_v3_scale(1 / abut_v3_norm(across), across);
    s.b = abut_v3_cross(s.n, s.a);
    s.rho = h->curl * abut_rng_real(&rng, 1 - h->vary, 1 + h->vary);
    const double wave = h->wavelength * abut_rng_real(&rng, 1 - h->vary, 1 + h->vary);
    s.ramp = h->ramp * abut_rng_real(&rng, 1 - h->vary, 1 + h->vary);
    s.phi = 2 * PI * h->phase * abut_rng_real(&rng, 0, 1);
    s.q = s.rho > 0 ? 2 * PI / wave : 0;
    return s;
}

static abut_vec3 point_at(const strand *s, double z)
{
    double wound = 0;
    if (s->rho > 0) {
        const double t = fmin(1, fmax(0, (z - s->l) / s->ramp));
        wound = s->rho * t * t * (3 - 2 * t);
    }
    const double u = wound * cos(s->q * z + s->phi), v = wound * sin(s->q * z + s->phi);
    const abut_vec3 beside = abut_v3_add(abut_v3_scale(u, s->a), abut_v3_scale(v, s->b));
    return abut_v3_add(s->root, abut_v3_add(abut_v3_scale(z, s->n), beside));
}

/* The height above z at which the strand is one edge away, by bisection. */
static double next_height(const strand *s, double z)
{
    const abut_vec3 from = point_at(s, z);
    double lo = z, hi = z + s->l;
    if (!(s->rho > 0)) return hi;
    for (int k = 0; k < 200; k++) {
        const double mid = lo + (hi - lo) / 2;
        if (!(mid > lo && mid < hi)) break;
        if (abut_v3_norm(abut_v3_sub(point_at(s, mid), from)) < s->l) lo = mid;
        else hi = mid;
    }
    return hi;
}

abut_status abut_generate_hair(const abut_hair *h, abut_mesh *m, abut_err *err)
{
    assert(h && m);
    abut_status rc = check(h, err);
    for (int32_t i = 0; i < h->count && !rc; i++) {
        const strand s = strand_of(h, i);
        double z = 0, x[3];
        for (int32_t k = 0; k <= h->cells && !rc; k++) {
            if (k) z = k == 1 ? s.l : next_height(&s, z);
            abut_v3_put(x, point_at(&s, z));
            rc = abut_mesh_add_vertex(m, x, err);
            if (!rc && k) rc = abut_mesh_add_seg(m, m->nv - 2, m->nv - 1, err);
        }
    }
    if (rc) abut_mesh_clear(m);
    return rc;
}
