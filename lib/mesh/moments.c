/* Moments of bodies: volume, centre of mass and second moments; frames that have them, densities that keep them. */
#include "mesh/mesh.h"

#include "geom/quadrature.h"
#include "math/spd_inline.h"
#include "math/vec3.h"
#include "mesh/surface.h"
#include "mesh/tet_nodes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double abut_frame_corners[4][3] = { { 1, 1, 1 }, { -1, 1, -1 }, { 1, -1, -1 }, { -1, -1, 1 } };

#define FLAT 1e-12          /* of the largest diagonal entry of S: a smaller pivot is none */

/* Sums over cells, relative to the middle of the mesh's box. */
typedef struct moments { double volume, first[3], second[9]; } moments;

static abut_vec3 middle(const abut_mesh *m)
{
    double lo[3], hi[3];
    abut_mesh_bounds(m, lo, hi);
    return abut_v3_scale(0.5, abut_v3_add(abut_v3_get(lo), abut_v3_get(hi)));
}

/* Adds a cell with n corners at a, of volume V: V/n sum x, V/(n (n + 1)) (sum x sum x^T + sum x x^T). */
static void add_cell(int n, const abut_vec3 *a, double V, moments *all)
{
    double sum[3] = { 0 }, x[4][3];
    for (int k = 0; k < n; k++) {
        abut_v3_put(x[k], a[k]);
        for (int d = 0; d < 3; d++) sum[d] += x[k][d];
    }
    all->volume += V;
    for (int i = 0; i < 3; i++) {
        all->first[i] += V / n * sum[i];
        for (int j = 0; j < 3; j++) {
            double own = sum[i] * sum[j];
            for (int k = 0; k < n; k++) own += x[k][i] * x[k][j];
            all->second[3 * i + j] += V / (n * (n + 1)) * own;
        }
    }
}

static void add_tet(const abut_vec3 a[4], moments *all)
{
    const abut_vec3 normal = abut_v3_cross(abut_v3_sub(a[2], a[0]), abut_v3_sub(a[3], a[0]));
    add_cell(4, a, abut_v3_dot(abut_v3_sub(a[1], a[0]), normal) / 6, all);
}

/* Volume, centre and S of sums relative to `mid`. */
static void moments_about_center(const moments *all, abut_vec3 mid, double *volume, double center[3], double S[9])
{
    const double V = *volume = all->volume;
    for (int i = 0; i < 9; i++) S[i] = all->second[i] / V - all->first[i / 3] / V * (all->first[i % 3] / V);
    for (int d = 0; d < 3; d++) center[d] = all->first[d] / V;
    abut_v3_put(center, abut_v3_add(abut_v3_get(center), mid));
}

abut_status abut_mesh_moments(const abut_mesh *m, double *volume, double center[3], double S[9], abut_err *err)
{
    const abut_vec3 mid = middle(m);
    moments all = { 0 };
    for (int32_t t = 0; t < (m->nt ? m->nt : m->nf); t++) {
        abut_vec3 a[4] = { { 0, 0, 0 } };       /* of a triangle: with the middle of the box */
        for (int k = 0; k < (m->nt ? 4 : 3); k++) {
            const int32_t v = m->nt ? m->tet[4 * (size_t)t + (size_t)k] : m->tri[3 * (size_t)t + (size_t)k];
            a[m->nt ? k : k + 1] = abut_v3_sub(abut_v3_get(m->x + 3 * (size_t)v), mid);
        }
        add_tet(a, &all);
    }
    if (!(all.volume > 0))
        return abut_fail(err, ABUT_E_GEOM, "a volume of %.6g m^3: expected tets, or a closed surface with its normals outward",
                         all.volume);
    moments_about_center(&all, mid, volume, center, S);
    return ABUT_OK;
}

abut_status abut_mesh_solid_check(const abut_mesh *m, abut_err *err)
{
    double volume, center[3], S[9];
    const abut_status rc = m->nt ? ABUT_OK : abut_closed_surface_check(m->x, m->nv, m->tri, m->nf, err);
    return rc ? rc : abut_mesh_moments(m, &volume, center, S, err);
}

/* L of S = L L^T; 0: S is flat. */
static int factor(const double S[9], double L[9])
{
    const double most = fmax(S[0], fmax(S[4], S[8]));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double s = S[3 * i + j];
            for (int k = 0; k < j; k++) s -= L[3 * i + k] * L[3 * j + k];
            if (i == j && !(s > FLAT * most)) return 0;
            L[3 * i + j] = j > i ? 0 : i == j ? sqrt(s) : s / L[4 * j];
        }
    return 1;
}

/* The surface for contact: the boundary of tets, or all triangles; segments, points; and the points that these have. */
static abut_status boundary(const abut_mesh *m, abut_mesh *surface, abut_err *err)
{
    int32_t *made = NULL, n = 0, *number = malloc(((size_t)m->nv + 1) * sizeof *number);
    abut_status rc = number ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "surface of %d points", m->nv);
    if (!rc && m->nt) rc = abut_surface_triangles(m->tet, m->nt, &made, &n, err);
    const struct { size_t n, corners; const int32_t *of; } cells[4] = {
        { (size_t)n, 3, made }, { (size_t)m->nf, 3, m->tri }, { (size_t)m->ns, 2, m->seg }, { (size_t)m->np, 1, m->point } };
    for (int32_t i = 0; i < m->nv && !rc; i++) number[i] = -1;
    for (int q = 0; q < 4 && !rc; q++)
        for (size_t i = 0; i < cells[q].corners * cells[q].n; i++) number[cells[q].of[i]] = 0;
    for (int32_t i = 0; i < m->nv && !rc; i++) {
        if (number[i] < 0) continue;
        number[i] = surface->nv;
        rc = abut_mesh_add_vertex(surface, m->x + 3 * (size_t)i, err);
    }
    for (int q = 0; q < 4; q++)
        for (size_t t = 0; t < cells[q].n && !rc; t++) {
            const int32_t *v = cells[q].of + cells[q].corners * t;
            if (q < 2) rc = abut_mesh_add_tri(surface, number[v[0]], number[v[1]], number[v[2]], err);
            else if (q == 2) rc = abut_mesh_add_seg(surface, number[v[0]], number[v[1]], err);
            else rc = abut_mesh_add_point(surface, number[v[0]], err);
        }
    free(made);
    free(number);
    return rc;
}

/* The four points of a body of these moments, and its surface. */
static abut_status frame_of(const abut_mesh *m, double volume, const double center[3], const double S[9], abut_mesh *frame,
                            abut_mesh *surface, double *fill, abut_err *err)
{
    const double(*s)[3] = abut_frame_corners;
    double L[9];
    abut_status rc = factor(S, L) ? ABUT_OK : abut_fail(err, ABUT_E_GEOM, "a flat body: expected an extent in every direction");
    for (int k = 0; k < 4 && !rc; k++) {
        double x[3];
        for (int i = 0; i < 3; i++) x[i] = center[i] + L[3 * i] * s[k][0] + L[3 * i + 1] * s[k][1] + L[3 * i + 2] * s[k][2];
        rc = abut_mesh_add_vertex(frame, x, err);
    }
    if (!rc) rc = abut_mesh_add_tet(frame, 0, 1, 2, 3, err);
    if (rc) return rc;
    *fill = volume / (8. / 3 * L[0] * L[4] * L[8]);
    return boundary(m, surface, err);
}

abut_status abut_mesh_frame(const abut_mesh *m, abut_mesh *frame, abut_mesh *surface, double *fill, abut_err *err)
{
    double volume, center[3], S[9];
    abut_status rc = abut_mesh_solid_check(m, err);
    if (!rc) rc = abut_mesh_moments(m, &volume, center, S, err);
    return rc ? rc : frame_of(m, volume, center, S, frame, surface, fill, err);
}

/* Moments of all cells: triangles with their own across the thickness, or as the surface of a solid, segments, points, tets. */
static abut_status all_moments(const abut_mesh *m, const abut_body *b, double *volume, double center[3], double S[9],
                               abut_err *err)
{
    const abut_vec3 mid = middle(m);
    moments all = { 0 };
    const int solid = m->nf && !(b->thickness > 0);
    const abut_status rc = solid ? abut_closed_surface_check(m->x, m->nv, m->tri, m->nf, err) : ABUT_OK;
    if (rc) return rc;
    const struct { int n, corners; const int32_t *of; } kind[4] = { { m->nf, 3, m->tri },
        { b->section > 0 ? m->ns : 0, 2, m->seg }, { b->point > 0 ? m->np : 0, 1, m->point }, { m->nt, 4, m->tet } };
    for (int q = 0; q < 4; q++)
        for (int32_t t = 0; t < kind[q].n; t++) {
            abut_vec3 a[4] = { { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 } };     /* the last: the middle of the box */
            for (int k = 0; k < kind[q].corners; k++)
                a[k] = abut_v3_sub(abut_v3_get(m->x + 3 * (size_t)kind[q].of[kind[q].corners * (size_t)t + (size_t)k]), mid);
            if (q == 3) add_tet(a, &all);
            if (q == 2) add_cell(1, a, b->point, &all);
            if (q == 1) add_cell(2, a, b->section * abut_v3_norm(abut_v3_sub(a[1], a[0])), &all);
            if (q != 0) continue;
            if (solid) {
                add_tet((const abut_vec3[4]){ a[3], a[0], a[1], a[2] }, &all);
                continue;
            }
            double n[3];
            const abut_vec3 area = abut_v3_scale(0.5, abut_v3_cross(abut_v3_sub(a[1], a[0]), abut_v3_sub(a[2], a[0])));
            const double A = abut_v3_norm(area), d = b->thickness;
            add_cell(3, a, A * d, &all);
            abut_v3_put(n, area);
            for (int i = 0; i < 9 && A > 0; i++) all.second[i] += d * d * d / 12 / A * n[i / 3] * n[i % 3];
        }
    if (!(all.volume > 0))
        return abut_fail(err, ABUT_E_GEOM, "no mass: expected tets, a closed surface, or a thickness of shell, rod or particle");
    moments_about_center(&all, mid, volume, center, S);
    return ABUT_OK;
}

#define LEAST_MOMENT 1e-6   /* of the largest: S of a body that is thinner is raised to that */

/* Raises small eigenvalues of S; a body with none of them keeps its bits. */
static abut_status raise_small(double S[9], abut_err *err)
{
    double w[3], Q[9];
    abut_sym_eigen(3, S, w, Q);
    const double most = fmax(w[0], fmax(w[1], w[2]));
    if (!(most > 0)) return abut_fail(err, ABUT_E_GEOM, "a single point: expected a body with an extent, or a particle");
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 9 && w[k] < LEAST_MOMENT * most; i++)
            S[i] += (LEAST_MOMENT * most - w[k]) * Q[3 * k + i / 3] * Q[3 * k + i % 3];
    return ABUT_OK;
}

/* Ascending eigenvalues. */
static void principal_moments(const double I[9], double w[3])
{
    double Q[9], v[3];
    abut_sym_eigen(3, I, v, Q);
    w[0] = fmin(v[0], fmin(v[1], v[2])), w[2] = fmax(v[0], fmax(v[1], v[2]));
    w[1] = v[0] + v[1] + v[2] - w[0] - w[2];
}

/* S of a given tensor I and mass: (tr I/2 - I)/mass; ratio: of its principal moments to those of the mesh, unless S is NULL. */
static abut_status given_inertia(const double I[9], double mass, const double *of_mesh, double S[9], double *ratio, abut_err *err)
{
    double given[3], own[9], other[3];
    const double half = 0.5 * (I[0] + I[4] + I[8]);
    principal_moments(I, given);
    if (given[0] + given[1] - given[2] < -2e-6 * half)  /* twice the least eigenvalue of mass S, whose trace is half */
        return abut_fail(err, ABUT_E_FORMAT, "an inertia that no body has: %.6g + %.6g < %.6g kg m^2", given[0], given[1],
                         given[2]);
    for (int i = 0; of_mesh && i < 9; i++)
        own[i] = mass * ((i % 4 ? 0 : of_mesh[0] + of_mesh[4] + of_mesh[8]) - of_mesh[i]);
    if (of_mesh) principal_moments(own, other);
    for (int k = 0; of_mesh && k < 3; k++) *ratio = fmax(*ratio, fmax(given[k] / other[k], other[k] / given[k]));
    for (int i = 0; i < 9; i++) S[i] = ((i % 4 ? 0 : half) - I[i]) / mass;
    return ABUT_OK;
}

abut_status abut_mesh_stiff_frame(const abut_mesh *m, const abut_body *b, abut_mesh *frame, abut_mesh *surface, double *fill,
                                  double *ratio, abut_err *err)
{
    const int given = b->has_mass && b->has_center && b->has_inertia;
    const int solid = (m->nt || m->nf) && !(b->thickness > 0 || b->section > 0 || b->point > 0);
    double volume = 0, center[3], S[9];
    *ratio = 1;
    abut_status rc = solid ? abut_mesh_solid_check(m, given ? NULL : err) : ABUT_OK;
    if (!rc) rc = solid ? abut_mesh_moments(m, &volume, center, S, given ? NULL : err)
                        : all_moments(m, b, &volume, center, S, given ? NULL : err);
    const int known = !rc;
    if (rc && !given) return rc;
    if (b->has_mass) volume = b->mass / b->density;
    if (b->has_center) memcpy(center, b->center, sizeof center);
    rc = b->has_inertia ? given_inertia(b->inertia, b->density * volume, known ? S : NULL, S, ratio, err) : ABUT_OK;
    if (!rc) rc = raise_small(S, err);
    return rc ? rc : frame_of(m, volume, center, S, frame, surface, fill, err);
}

void abut_tet_moments(int order, const double (*X)[3], const double *L, const double *w, int n, double *volume, double center[3])
{
    *volume = center[0] = center[1] = center[2] = 0;
    for (int q = 0; q < n; q++) {
        double x[3], J[9];
        const double v = w[q] / 6 * abut_tet_point(order, X, L + 4 * q, x, J);
        *volume += v;
        for (int d = 0; d < 3; d++) center[d] += v * x[d];
    }
    for (int d = 0; d < 3; d++) center[d] /= *volume;
}

static abut_status tets_volume(const abut_mesh *m, double *volume, double moment[3], abut_err *err)
{
    abut_quadrature q = { 0 };
    const int order = abut_mesh_order(m);
    const abut_status rc = abut_quadrature_tet(4 * order - 3, &q, err);
    for (int32_t t = 0; t < m->nt && !rc; t++) {
        double X[ABUT_TET_NODES_MAX][3], v, c[3];
        abut_mesh_tet_places(m, t, X);
        abut_tet_moments(order, (const double(*)[3])X, q.L, q.w, q.n, &v, c);
        *volume += v;
        for (int d = 0; d < 3; d++) moment[d] += v * c[d];
    }
    abut_quadrature_clear(&q);
    return rc;
}

abut_status abut_mesh_volume(const abut_mesh *m, double *volume, double center[3], abut_err *err)
{
    double lo[3], hi[3], moment[3] = { 0 };
    abut_status rc = ABUT_OK;
    *volume = 0;
    abut_mesh_bounds(m, lo, hi);
    if (m->nt) rc = tets_volume(m, volume, moment, err);
    for (int32_t t = 0; t < (m->nt ? 0 : m->nf); t++) {     /* tets between triangles and the middle of the box */
        abut_vec3 x[3], mid = abut_v3_scale(0.5, abut_v3_add(abut_v3_get(lo), abut_v3_get(hi)));
        for (int k = 0; k < 3; k++) x[k] = abut_v3_sub(abut_v3_get(m->x + 3 * (size_t)m->tri[3 * (size_t)t + (size_t)k]), mid);
        const double v = abut_v3_dot(x[0], abut_v3_cross(x[1], x[2])) / 6;
        const abut_vec3 c = abut_v3_add(mid, abut_v3_scale(0.25, abut_v3_add(x[0], abut_v3_add(x[1], x[2]))));
        *volume += v;
        moment[0] += v * c.x, moment[1] += v * c.y, moment[2] += v * c.z;
    }
    if (!rc && !(*volume > 0))
        rc = abut_fail(err, ABUT_E_GEOM, "a volume of %.6g m^3: expected tets, or a closed surface with its normals outward",
                       *volume);
    for (int d = 0; d < 3; d++) center[d] = moment[d] / *volume;
    return rc;
}

/* Solves A y = b for a symmetric positive semidefinite matrix of 4 rows by Cholesky, y in place of b.  A pivot of 0 makes its y
 * 0: centres in a plane do not determine the direction across it.  Returns 0 if there is no solution. */
static int solve4(double A[4][4], double b[4])
{
    const double size = A[0][0] + A[1][1] + A[2][2] + A[3][3];
    double B[4][4], left[4], most = 0;
    memcpy(B, A, sizeof B), memcpy(left, b, sizeof left);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j <= i; j++) {
            double s = A[i][j];
            for (int k = 0; k < j; k++) s -= A[i][k] * A[j][k];
            if (i == j) A[i][j] = s > 1e-12 * size ? sqrt(s) : INFINITY;
            else A[i][j] = s / A[j][j];
        }
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < i; k++) b[i] -= A[i][k] * b[k];
        b[i] /= A[i][i];
    }
    for (int i = 3; i >= 0; i--) {
        for (int k = i + 1; k < 4; k++) b[i] -= A[k][i] * b[k];
        b[i] /= A[i][i];
    }
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) left[i] -= B[i][j] * b[j];
        most = fmax(most, fabs(left[i]));
    }
    return most <= 1e-9 * size;
}

/* Row of the conditions for one tet, lengths in units of `unit`. */
static void row_of(const double *center, const double at[3], double unit, double a[4])
{
    a[0] = 1;
    for (int d = 0; d < 3; d++) a[d + 1] = (center[d] - at[d]) / unit;
}

abut_status abut_match_mass(int32_t n, const double *volume, const double (*center)[3], double total, const double at[3],
                            double least, double *factor, abut_err *err)
{
    unsigned char *low = calloc((size_t)n + 1, 1);
    double unit = 0;
    if (!low) return abut_fail(err, ABUT_E_NOMEM, "densities of %d tets", n);
    for (int32_t e = 0; e < n; e++)
        for (int d = 0; d < 3; d++) unit = fmax(unit, fabs(center[e][d] - at[d]));
    if (unit == 0) unit = 1;
    for (int again = 1; again;) {
        double A[4][4] = { { 0 } }, b[4] = { total, 0, 0, 0 }, a[4];
        for (int32_t e = 0; e < n; e++) {
            row_of(center[e], at, unit, a);
            for (int i = 0; i < 4; i++) {
                b[i] -= volume[e] * a[i] * (low[e] ? least : 1);
                for (int j = 0; j < 4 && !low[e]; j++) A[i][j] += volume[e] * a[i] * a[j];
            }
        }
        if (!solve4(A, b)) {
            free(low);
            return abut_fail(err, ABUT_E_GEOM, "no densities of %d tets, all at least %g of the material's, give the volume %.6g "
                             "m^3 with its centre at (%.6g, %.6g, %.6g): expected tets around it", n, least, total, at[0], at[1],
                             at[2]);
        }
        again = 0;
        for (int32_t e = 0; e < n; e++) {
            row_of(center[e], at, unit, a);
            factor[e] = low[e] ? least : 1 + a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
            if (!(factor[e] >= least)) low[e] = 1, again = 1;
        }
    }
    free(low);
    return ABUT_OK;
}
