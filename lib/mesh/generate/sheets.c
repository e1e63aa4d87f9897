
#include "base/order.h"
#include "base/rng.h"
#include "base/words.h"
#include "mesh/generate/generate.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_MAX = 4096 };

static const double PI = 3.14159265358979323846, ROW = 0.86602540378443864676; /* height of an equilateral triangle */

static abut_status need_positive(const char *what, const double *v, int n, abut_err *err)
{
    for (int k = 0; k < n; k++)
        if (!(v[k] > 0 && isfinite(v[k]))) return abut_fail(err, ABUT_E_ARG, "%s: length %g m: expected more than 0", what, v[k]);
    return ABUT_OK;
}

/* Counts within reason, and their product. */
static abut_status need_counts(const char *what, const int32_t *n, int dims, abut_err *err)
{
    double total = 1;
    for (int k = 0; k < dims; k++) {
        if (n[k] < 1 || n[k] > CELLS_MAX) return abut_fail(err, ABUT_E_ARG, "%s: %d: expected 1 to %d", what, n[k], CELLS_MAX);
        total *= n[k] + 1.0;
    }
    return total <= 5e6 ? ABUT_OK : abut_fail(err, ABUT_E_ARG, "%s: %.3g points: expected at most 5e6", what, total);
}

static abut_status done(abut_status rc, abut_mesh *m)
{
    if (rc) abut_mesh_clear(m);
    return rc;
}

/* ---- sheets ---- */

static int is_shifted(const abut_sheet *s, int32_t row)
{
    return s->layout == ABUT_LAYOUT_ROWS && row % 2;
}

/* Points of a row: a shifted one has its first and last half an edge from the next. */
static int32_t row_points(const abut_sheet *s, int32_t row)
{
    return s->cells[0] + 1 + is_shifted(s, row);
}

/* Place of point i of a row, in edges from the left border. */
static double row_place(const abut_sheet *s, int32_t row, int32_t i)
{
    const int32_t n = s->cells[0];
    if (!is_shifted(s, row)) return i;
    return i == 0 ? 0 : i == n + 1 ? n : i - 0.5;
}

static abut_status sheet_points(const abut_sheet *s, abut_mesh *m, abut_err *err)
{
    abut_rng rng = { (uint64_t)s->seed };
    const double dx = s->size[0] / s->cells[0], dz = s->size[1] / s->cells[1];
    abut_status rc = ABUT_OK;
    for (int32_t k = 0; k <= s->cells[1]; k++)
        for (int32_t i = 0, n = row_points(s, k); i < n && !rc; i++) {
            double p[3] = { s->size[0] * (row_place(s, k, i) / s->cells[0] - 0.5), 0,
                            s->size[1] * ((double)k / s->cells[1] - 0.5) };
            const double r[2] = { abut_rng_real(&rng, -1, 1), abut_rng_real(&rng, -1, 1) };
            const int end = i == 0 || i == n - 1, side = k == 0 || k == s->cells[1];
            if (!end) p[0] += s->jitter * dx * r[0] * (is_shifted(s, k) && (i == 1 || i == n - 2) ? 0.5 : 1);
            if (!side) p[2] += s->jitter * dz * r[1];
            rc = abut_mesh_add_vertex(m, p, err);
        }
    return rc;
}

/* Triangles between two rows of points, a at smaller z: always the shorter diagonal, of equal ones that to the left in even
 * and to the right in odd cells, as the squares of a grid alternate. */
static abut_status strip(const abut_mesh *m, int32_t a, int32_t na, int32_t b, int32_t nb, int32_t row, abut_mesh *out,
                         abut_err *err)
{
    int32_t i = 0, k = 0;
    abut_status rc = ABUT_OK;
    while (!rc && (i < na - 1 || k < nb - 1)) {
        const double *pa = m->x + 3 * (size_t)(a + i), *pb = m->x + 3 * (size_t)(b + k);
        const double up = i < na - 1 ? hypot(pa[3] - pb[0], pa[5] - pb[2]) : INFINITY;
        const double down = k < nb - 1 ? hypot(pb[3] - pa[0], pb[5] - pa[2]) : INFINITY;
        const int along_a = fabs(up - down) > 1e-9 * fmin(up, down) ? up < down : i > k || (i == k && (i + row) % 2);
        rc = along_a ? abut_mesh_add_tri(out, a + i, b + k, a + i + 1, err)
                     : abut_mesh_add_tri(out, a + i, b + k, b + k + 1, err);
        if (along_a)
            i++;
        else
            k++;
    }
    return rc;
}

abut_status abut_generate_sheet(const abut_sheet *s, abut_mesh *m, abut_err *err)
{
    assert(s);
    abut_status rc = need_positive("sheet", s->size, 2, err);
    if (!rc) rc = need_counts("sheet", s->cells, 2, err);
    if (!rc && !(s->jitter >= 0 && s->jitter <= 0.3))
        rc = abut_fail(err, ABUT_E_ARG, "sheet: jitter %g: expected 0 to 0.3 of a cell", s->jitter);
    if (!rc && s->layout == ABUT_LAYOUT_GRID && s->jitter == 0) return abut_generate_cloth(s->size, s->cells, m, err);
    if (!rc) rc = sheet_points(s, m, err);
    for (int32_t k = 0, a = 0; k < s->cells[1] && !rc; k++) {
        const int32_t na = row_points(s, k), nb = row_points(s, k + 1);
        rc = strip(m, a, na, a + na, nb, k, m, err);
        a += na;
    }
    return done(rc, m);
}

static int32_t parts_of(double length, double part)
{
    const double n = floor(length / part + 0.5);
    return n < 1 ? 1 : n > CELLS_MAX ? CELLS_MAX + 1 : (int32_t)n;
}

void abut_sheet_cells(const double size[2], double edge, int layout, int32_t cells[2])
{
    cells[0] = parts_of(size[0], edge);
    cells[1] = parts_of(size[1], layout == ABUT_LAYOUT_ROWS ? ROW * edge : edge);
}

/* ---- bent sheets ---- */

/* The pattern: the sheet as it lies now. */
static abut_status keep_pattern(abut_mesh *m, abut_err *err)
{
    m->uv = malloc((6 * (size_t)m->nf + 1) * sizeof *m->uv);
    if (!m->uv) return abut_fail(err, ABUT_E_NOMEM, "no memory for the pattern of %d triangles", m->nf);
    for (size_t i = 0; i < 3 * (size_t)m->nf; i++)
        for (size_t k = 0; k < 2; k++)
            m->uv[2 * i + k] = m->x[3 * (size_t)m->tri[i] + 2 * k];
    return ABUT_OK;
}

/* Lengths of the lines of a curve, summed up: arc[n]. */
static abut_status measure_curve(const double *curve, int32_t n, double *arc, abut_err *err)
{
    arc[0] = 0;
    for (int32_t i = 1; i < n; i++) {
        arc[i] = arc[i - 1] + hypot(curve[2 * i] - curve[2 * i - 2], curve[2 * i + 1] - curve[2 * i - 1]);
        if (!(arc[i] > arc[i - 1])) return abut_fail(err, ABUT_E_ARG, "curve: line %d has no length", i - 1);
    }
    return ABUT_OK;
}

/* The point of the curve after the length s. */
static void on_curve(const double *curve, const double *arc, int32_t n, double s, double p[2])
{
    const size_t hi = 1 + abut_count_at_most(arc + 1, (size_t)n - 2, s), lo = hi - 1;
    const double f = (s - arc[lo]) / (arc[hi] - arc[lo]);
    for (int k = 0; k < 2; k++)
        p[k] = curve[2 * lo + k] + f * (curve[2 * hi + k] - curve[2 * lo + k]);
}

abut_status abut_sheet_follow(abut_mesh *m, const double *curve, int32_t n, abut_err *err)
{
    double lo[3], hi[3];
    abut_mesh_bounds(m, lo, hi);
    if (n < 2) return done(abut_fail(err, ABUT_E_ARG, "curve: %d point%s: expected 2 or more", n, abut_s(n)), m);
    double *arc = malloc((size_t)n * sizeof *arc);
    abut_status rc =
        arc ? measure_curve(curve, n, arc, err) : abut_fail(err, ABUT_E_NOMEM, "no memory for a curve of %d points", n);
    if (!rc && arc[n - 1] < (hi[0] - lo[0]) * (1 - 1e-12))
        rc = abut_fail(err, ABUT_E_ARG, "curve: %.9g m long, the sheet %.9g m: expected no less", arc[n - 1], hi[0] - lo[0]);
    if (!rc) rc = keep_pattern(m, err);
    for (int32_t i = 0; i < m->nv && !rc; i++) {
        double *x = m->x + 3 * (size_t)i;
        on_curve(curve, arc, n, fmin(x[0] - lo[0], arc[n - 1]), x);
    }
    free(arc);
    return done(rc, m);
}

/* Appends a point to a curve of known room. */
static void curve_add(double *curve, int32_t *n, double x, double y)
{
    curve[2 * *n] = x, curve[2 * *n + 1] = y;
    ++*n;
}

abut_status abut_sheet_roll(abut_mesh *m, double radius, double gap, abut_err *err)
{
    double lo[3], hi[3], size[2] = { radius, gap };
    abut_mesh_bounds(m, lo, hi);
    abut_status rc = need_positive("roll", size, 2, err);
    /* r = radius + gap t / 2 pi, in steps of 3 degrees; the length along it exceeds radius t */
    const double step = PI / 60, length = hi[0] - lo[0];
    const double steps = rc ? 0 : ceil(length / (radius * step)) + 2;
    if (!rc && steps > 1e7)
        rc = abut_fail(err, ABUT_E_ARG, "roll: a radius of %g m for a sheet of %g m: expected more", radius, length);
    double *curve = rc ? NULL : malloc(2 * ((size_t)steps + 1) * sizeof *curve);
    if (!rc && !curve) rc = abut_fail(err, ABUT_E_NOMEM, "no memory for a curve");
    int32_t n = 0;
    for (int32_t i = 0; curve && i <= (int32_t)steps; i++) {
        const double t = i * step, r = radius + gap * t / (2 * PI);
        curve_add(curve, &n, r * cos(t), r * sin(t));
    }
    rc = rc ? done(rc, m) : abut_sheet_follow(m, curve, n, err);
    free(curve);
    return rc;
}

abut_status abut_sheet_fold(abut_mesh *m, double length, double gap, abut_err *err)
{
    enum { TURN = 24 }; /* parts of a half circle */
    double lo[3], hi[3], size[2] = { length, gap };
    abut_mesh_bounds(m, lo, hi);
    abut_status rc = need_positive("fold", size, 2, err);
    const double legs = rc ? 0 : ceil((hi[0] - lo[0]) / length) + 1;
    if (!rc && legs > 1e5) rc = abut_fail(err, ABUT_E_ARG, "fold: %g parts: expected fewer", legs);
    double *curve = rc ? NULL : malloc(2 * ((size_t)legs + 1) * (TURN + 1) * sizeof *curve);
    if (!rc && !curve) rc = abut_fail(err, ABUT_E_NOMEM, "no memory for a curve");
    int32_t n = 0;
    if (curve) curve_add(curve, &n, 0, 0);
    for (int32_t k = 0; curve && k < (int32_t)legs; k++) {
        const double side = k % 2 ? -1 : 1, x = k % 2 ? 0 : length;
        for (int32_t i = 0; i <= TURN; i++) {
            const double t = PI * i / TURN;
            curve_add(curve, &n, x + side * 0.5 * gap * sin(t), gap * (k + 0.5 - 0.5 * cos(t)));
        }
    }
    rc = rc ? done(rc, m) : abut_sheet_follow(m, curve, n, err);
    free(curve);
    return rc;
}

/* ---- tubes ---- */

/* Corners of a triangle of a tube: ring and place in it, the place beyond the last point where the pattern continues past the
 * cut. */
static abut_status tube_triangle(const int32_t ring[3], const double place[3], int32_t around, const double step[2],
                                 const int32_t at[3], abut_mesh *m, abut_err *err)
{
    double *uv = m->uv + 6 * (size_t)m->nf;
    for (int k = 0; k < 3; k++)
        uv[2 * k] = place[k] * step[0], uv[2 * k + 1] = ring[k] * step[1];
    return abut_mesh_add_tri(m, ring[0] * around + at[0] % around, ring[1] * around + at[1] % around,
                             ring[2] * around + at[2] % around, err);
}

/* Two triangles of cell i between the rings k and k + 1.  Of shifted rows the upper point of cell i is half a place
 * further or behind, so that the diagonal leads there; of a grid they alternate. */
static abut_status tube_cell(int32_t k, int32_t i, int32_t around, const double step[2], int layout, abut_mesh *m, abut_err *err)
{
    const double s0 = layout == ABUT_LAYOUT_ROWS && k % 2 ? 0.5 : 0, s1 = layout == ABUT_LAYOUT_ROWS && k % 2 == 0 ? 0.5 : 0;
    const int falling = layout == ABUT_LAYOUT_ROWS ? s1 > s0 : (i + k) % 2; /* the diagonal from above here to below next */
    const double a = i + s0, b = i + 1 + s0, c = i + s1, d = i + 1 + s1;
    abut_status rc;
    if (falling) {
        rc = tube_triangle((int32_t[3]){ k, k, k + 1 }, (double[3]){ a, b, c }, around, step, (int32_t[3]){ i, i + 1, i }, m,
                           err);
        return rc ? rc
                  : tube_triangle((int32_t[3]){ k, k + 1, k + 1 }, (double[3]){ b, d, c }, around, step,
                                  (int32_t[3]){ i + 1, i + 1, i }, m, err);
    }
    rc = tube_triangle((int32_t[3]){ k, k, k + 1 }, (double[3]){ a, b, d }, around, step, (int32_t[3]){ i, i + 1, i + 1 }, m,
                       err);
    return rc ? rc
              : tube_triangle((int32_t[3]){ k, k + 1, k + 1 }, (double[3]){ a, d, c }, around, step,
                              (int32_t[3]){ i, i + 1, i }, m, err);
}

abut_status abut_generate_tube(double radius, double height, const int32_t cells[2], int layout, abut_mesh *m, abut_err *err)
{
    const int32_t around = cells[0], along = cells[1];
    abut_status rc = need_positive("tube", (double[2]){ radius, height }, 2, err);
    if (!rc) rc = need_counts("tube", cells, 2, err);
    if (!rc && around < 3) rc = abut_fail(err, ABUT_E_ARG, "tube: %d cell%s around: expected 3 or more", around, abut_s(around));
    if (rc) return rc;
    /* a chord, and the height of a row, which for shifted rows leads from the middle of a chord to a point on the circle */
    const double sagitta = layout == ABUT_LAYOUT_ROWS ? radius * (1 - cos(PI / around)) : 0;
    const double step[2] = { 2 * radius * sin(PI / around), hypot(height / along, sagitta) };
    m->uv = malloc(12 * (size_t)around * (size_t)along * sizeof *m->uv);
    if (!m->uv) return abut_fail(err, ABUT_E_NOMEM, "no memory for the pattern of a tube");
    for (int32_t k = 0; k <= along; k++)
        for (int32_t i = 0; i < around && !rc; i++) {
            const double t = 2 * PI * (i + (layout == ABUT_LAYOUT_ROWS && k % 2 ? 0.5 : 0)) / around;
            rc = abut_mesh_add_vertex(
                m, (double[3]){ radius * cos(t), height * ((double)k / along - 0.5), -radius * sin(t) }, err);
        }
    for (int32_t k = 0; k < along; k++)
        for (int32_t i = 0; i < around && !rc; i++)
            rc = tube_cell(k, i, around, step, layout, m, err);
    return done(rc, m);
}

/* ---- surfaces for obstacles ---- */

/* Corner k of the icosahedron: (0, +-1, +-phi) and its cyclic permutations. */
static void ico_corner(int k, double x[3])
{
    static const double PHI = 1.61803398874989484820;
    const int axis = k / 4;
    x[axis] = 0, x[(axis + 1) % 3] = k & 1 ? -1 : 1, x[(axis + 2) % 3] = k & 2 ? -PHI : PHI;
}

/* Whether a and b are joined: edges of the icosahedron have length 2, the next longer diagonals 2 phi. */
static int is_ico_edge(int a, int b)
{
    double p[3], q[3], d2 = 0;
    ico_corner(a, p), ico_corner(b, q);
    for (int k = 0; k < 3; k++)
        d2 += (p[k] - q[k]) * (p[k] - q[k]);
    return d2 > 1 && d2 < 5;
}

/* Corners of a face in counter-clockwise order seen from outside. */
static void outward(int f[3])
{
    double p[3][3];
    for (int k = 0; k < 3; k++)
        ico_corner(f[k], p[k]);
    const double det = p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) -
                       p[0][1] * (p[1][0] * p[2][2] - p[1][2] * p[2][0]) + p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
    const int swap = f[1];
    if (det < 0) f[1] = f[2], f[2] = swap;
}

typedef struct ico {
    int face[20][3], edge[12][12]; /* edge: number, from 0 */
    int32_t d;                     /* divisions */
} ico;

static void ico_make(ico *g, int32_t d)
{
    int faces = 0, edges = 0;
    g->d = d;
    for (int a = 0; a < 12; a++)
        for (int b = a + 1; b < 12; b++) {
            if (!is_ico_edge(a, b)) continue;
            g->edge[a][b] = g->edge[b][a] = edges++;
            for (int c = b + 1; c < 12; c++)
                if (is_ico_edge(a, c) && is_ico_edge(b, c)) {
                    const int f[3] = { a, b, c };
                    memcpy(g->face[faces], f, sizeof f);
                    outward(g->face[faces++]);
                }
        }
}

/* Number of the point with the weights w (sum d) of the corners of a face: corners first, then points of edges, then of
 * faces. */
static int32_t ico_point(const ico *g, int face, const int32_t w[3])
{
    const int *f = g->face[face];
    for (int k = 0; k < 3; k++)
        if (w[k] == g->d) return f[k];
    for (int k = 0; k < 3; k++) {
        const int a = f[(k + 1) % 3], b = f[(k + 2) % 3];
        if (w[k]) continue;
        return 12 + g->edge[a][b] * (g->d - 1) + (a < b ? w[(k + 2) % 3] : w[(k + 1) % 3]) - 1;
    }
    const int32_t inside = (g->d - 1) * (g->d - 2) / 2, row = w[0] - 1;
    return 12 + 30 * (g->d - 1) + face * inside + row * (g->d - 1) - row * (row + 1) / 2 + w[1] - 1;
}

/* Position of a point of a face: the weighted mean of its corners, moved onto the sphere. */
static void ico_place(const ico *g, int face, const int32_t w[3], double radius, double x[3])
{
    double p[3], r2 = 0;
    memset(x, 0, 3 * sizeof *x);
    for (int k = 0; k < 3; k++) {
        ico_corner(g->face[face][k], p);
        for (int d = 0; d < 3; d++)
            x[d] += w[k] * p[d];
    }
    for (int d = 0; d < 3; d++)
        r2 += x[d] * x[d];
    for (int d = 0; d < 3; d++)
        x[d] *= radius / sqrt(r2);
}

static abut_status ico_face(const ico *g, int face, double radius, abut_mesh *m, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int32_t a = 0; a <= g->d; a++)
        for (int32_t b = 0; a + b <= g->d && !rc; b++) {
            const int32_t w[3] = { a, b, g->d - a - b };
            const int32_t i = ico_point(g, face, w);
            ico_place(g, face, w, radius, m->x + 3 * (size_t)i);
            if (w[2] == 0) continue;
            const int32_t u = ico_point(g, face, (int32_t[3]){ a + 1, b, w[2] - 1 });
            const int32_t v = ico_point(g, face, (int32_t[3]){ a, b + 1, w[2] - 1 });
            rc = abut_mesh_add_tri(m, i, u, v, err);
            if (!rc && w[2] > 1) rc = abut_mesh_add_tri(m, u, ico_point(g, face, (int32_t[3]){ a + 1, b + 1, w[2] - 2 }), v, err);
        }
    return rc;
}

abut_status abut_generate_icosphere(double radius, int32_t divisions, abut_mesh *m, abut_err *err)
{
    ico g;
    abut_status rc = need_positive("icosphere", &radius, 1, err);
    if (!rc && (divisions < 1 || divisions > 500))
        rc = abut_fail(err, ABUT_E_ARG, "icosphere: %d divisions: expected 1 to 500", divisions);
    if (rc) return rc;
    ico_make(&g, divisions);
    for (int32_t i = 0; i < 10 * divisions * divisions + 2 && !rc; i++)
        rc = abut_mesh_add_vertex(m, (double[3]){ 0 }, err);
    for (int f = 0; f < 20 && !rc; f++)
        rc = ico_face(&g, f, radius, m, err);
    return done(rc, m);
}

abut_status abut_generate_bowl(double radius, double opening, int32_t around, int32_t along, abut_mesh *m, abut_err *err)
{
    abut_status rc = need_positive("bowl", (double[2]){ radius, opening }, 2, err);
    if (!rc) rc = need_counts("bowl", (int32_t[2]){ around, along }, 2, err);
    if (!rc && !(opening < PI)) rc = abut_fail(err, ABUT_E_ARG, "bowl: opening %g: expected less than half a turn", opening);
    double *profile = rc ? NULL : malloc(2 * ((size_t)along + 1) * sizeof *profile);
    if (!rc && !profile) rc = abut_fail(err, ABUT_E_NOMEM, "no memory for a bowl");
    int32_t n = 0;
    for (int32_t i = 0; profile && i <= along; i++) {
        const double t = opening * i / along;
        curve_add(profile, &n, radius * sin(t), -radius * cos(t));
    }
    if (!rc) rc = abut_generate_revolution(profile, n, around, 1, m, err);
    free(profile);
    return rc;
}

/* ---- strands and grains ---- */

static double centred(int32_t i, int32_t n, double spacing)
{
    return spacing * (i - 0.5 * (n - 1));
}

/* A polyline from a to b in `cells` segments. */
static abut_status add_line(const double a[3], const double b[3], int32_t cells, abut_mesh *m, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i <= cells && !rc; i++) {
        const double f = (double)i / cells;
        rc = abut_mesh_add_vertex(
            m, (double[3]){ a[0] + f * (b[0] - a[0]), a[1] + f * (b[1] - a[1]), a[2] + f * (b[2] - a[2]) }, err);
        if (!rc && i) rc = abut_mesh_add_seg(m, m->nv - 2, m->nv - 1, err);
    }
    return rc;
}

abut_status abut_generate_strands(const int32_t count[2], double spacing, double length, int32_t cells, double lean,
                                  int32_t seed, abut_mesh *m, abut_err *err)
{
    abut_rng rng = { (uint64_t)seed };
    abut_status rc = need_positive("strands", (double[2]){ spacing, length }, 2, err);
    if (!rc) rc = need_counts("strands", (int32_t[3]){ count[0], count[1], cells }, 3, err);
    if (!rc && !(lean >= 0 && isfinite(lean))) rc = abut_fail(err, ABUT_E_ARG, "strands: lean %g m: expected 0 or more", lean);
    for (int32_t k = 0; !rc && k < count[1]; k++)
        for (int32_t i = 0; i < count[0] && !rc; i++) {
            const double x = centred(i, count[0], spacing), z = centred(k, count[1], spacing);
            const double u = abut_rng_real(&rng, -lean, lean), v = abut_rng_real(&rng, -lean, lean);
            rc = add_line((double[3]){ x, -0.5 * length, z }, (double[3]){ x + u, 0.5 * length, z + v }, cells, m, err);
        }
    return done(rc, m);
}

abut_status abut_generate_net(const int32_t count[2], double spacing, double offset, int32_t cells, abut_mesh *m, abut_err *err)
{
    abut_status rc = need_positive("net", (double[2]){ spacing, offset }, 2, err);
    if (!rc) rc = need_counts("net", (int32_t[3]){ count[0], count[1], cells }, 3, err);
    if (!rc && cells < 2)
        rc = abut_fail(err, ABUT_E_ARG, "net: %d cell%s between crossings: expected 2 or more", cells, abut_s(cells));
    const double half[2] = { 0.5 * spacing * count[0], 0.5 * spacing * count[1] };
    for (int32_t i = 0; i < count[0] && !rc; i++) {
        const double x = centred(i, count[0], spacing);
        rc = add_line((double[3]){ x, 0, -half[1] }, (double[3]){ x, 0, half[1] }, cells * count[1], m, err);
    }
    for (int32_t k = 0; k < count[1] && !rc; k++) {
        const double z = centred(k, count[1], spacing);
        const int32_t first = m->nv;
        rc = add_line((double[3]){ -half[0], 0, z }, (double[3]){ half[0], 0, z }, cells * count[0], m, err);
        /* up and down like a cosine with its extremes at the crossings */
        for (int32_t i = first; i < m->nv && !rc; i++)
            m->x[3 * (size_t)i + 1] = (k % 2 ? -offset : offset) * cos(PI * ((double)(i - first) / cells - 0.5));
    }
    return done(rc, m);
}

abut_status abut_generate_sprinkles(const int32_t count[3], const double spacing[3], double length, double tilt,
                                    int32_t seed, abut_mesh *m, abut_err *err)
{
    abut_rng rng = { (uint64_t)seed };
    abut_status rc = need_positive("sprinkles", &length, 1, err);
    if (!rc) rc = need_positive("sprinkles", spacing, 3, err);
    if (!rc) rc = need_counts("sprinkles", count, 3, err);
    if (!rc && !(tilt >= 0 && tilt <= PI)) rc = abut_fail(err, ABUT_E_ARG, "sprinkles: tilt %g: expected 0 to half a turn", tilt);
    for (int32_t i = 0; !rc && i < count[0] * count[1] * count[2]; i++) {
        const int32_t at[3] = { i % count[0], i / count[0] % count[1], i / count[0] / count[1] };
        const double lean = abut_rng_real(&rng, 0, tilt), angle = abut_rng_real(&rng, 0, 2 * PI);
        const double u[3] = { sin(lean) * cos(angle), cos(lean), sin(lean) * sin(angle) };
        double a[3], b[3];
        for (int k = 0; k < 3; k++) {
            const double c = centred(at[k], count[k], spacing[k]);
            a[k] = c - 0.5 * length * u[k], b[k] = c + 0.5 * length * u[k];
        }
        rc = add_line(a, b, 1, m, err);
    }
    return done(rc, m);
}

void abut_mesh_jitter(abut_mesh *m, double jitter, int32_t seed)
{
    abut_rng rng = { (uint64_t)seed };
    for (size_t i = 0; i < 3 * (size_t)m->nv; i++)
        m->x[i] += abut_rng_real(&rng, -jitter, jitter);
}
