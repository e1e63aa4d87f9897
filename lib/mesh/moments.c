#include "mesh/moments.h"

#include "geom/quadrature.h"
#include "math/vec3.h"
#include "mesh/surface.h"
#include "mesh/tet_nodes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FLAT 1e-12          /* of the largest diagonal entry of S: a smaller pivot is none */

/* Adds the tet of these corners, relative to `from`: its volume, and its parts of int x and int x x^T. */
static void add_tet(const abut_vec3 a[4], double *volume, double first[3], double second[9])
{
    const double V = abut_v3_dot(abut_v3_sub(a[1], a[0]), abut_v3_cross(abut_v3_sub(a[2], a[0]), abut_v3_sub(a[3], a[0]))) / 6;
    double sum[3] = { 0 }, x[4][3];
    for (int k = 0; k < 4; k++) {
        abut_v3_put(x[k], a[k]);
        for (int d = 0; d < 3; d++) sum[d] += x[k][d];
    }
    *volume += V;
    for (int i = 0; i < 3; i++) {
        first[i] += V / 4 * sum[i];
        for (int j = 0; j < 3; j++) {
            double own = sum[i] * sum[j];
            for (int k = 0; k < 4; k++) own += x[k][i] * x[k][j];
            second[3 * i + j] += V / 20 * own;
        }
    }
}

abut_status abut_mesh_moments(const abut_mesh *m, double *volume, double center[3], double S[9], abut_err *err)
{
    double lo[3], hi[3], first[3] = { 0 }, second[9] = { 0 };
    *volume = 0;
    abut_mesh_bounds(m, lo, hi);
    const abut_vec3 mid = abut_v3_scale(0.5, abut_v3_add(abut_v3_get(lo), abut_v3_get(hi)));
    for (int32_t t = 0; t < (m->nt ? m->nt : m->nf); t++) {
        abut_vec3 a[4] = { { 0, 0, 0 } };       /* of a triangle: with the middle of the box */
        for (int k = 0; k < (m->nt ? 4 : 3); k++) {
            const int32_t v = m->nt ? m->tet[4 * (size_t)t + (size_t)k] : m->tri[3 * (size_t)t + (size_t)k];
            a[m->nt ? k : k + 1] = abut_v3_sub(abut_v3_get(m->x + 3 * (size_t)v), mid);
        }
        add_tet(a, volume, first, second);
    }
    if (!(*volume > 0))
        return abut_fail(err, ABUT_E_GEOM, "a volume of %.6g m^3: expected tets, or a closed surface with its normals outward",
                         *volume);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) S[3 * i + j] = second[3 * i + j] / *volume - first[i] / *volume * (first[j] / *volume);
    for (int d = 0; d < 3; d++) center[d] = first[d] / *volume;
    abut_v3_put(center, abut_v3_add(abut_v3_get(center), mid));
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

/* The boundary: points that a triangle has, in their order. */
static abut_status boundary(const abut_mesh *m, abut_mesh *surface, abut_err *err)
{
    int32_t *made = NULL, n = m->nf, *number = malloc(((size_t)m->nv + 1) * sizeof *number);
    const int32_t *tri = m->tri;
    abut_status rc = number ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "surface of %d points", m->nv);
    if (!rc && m->nt) rc = abut_surface_triangles(m->tet, m->nt, m->nv, &made, &n, err);
    if (made) tri = made;
    for (int32_t i = 0; i < m->nv && !rc; i++) number[i] = -1;
    for (size_t i = 0; i < 3 * (size_t)n && !rc; i++) number[tri[i]] = 0;
    for (int32_t i = 0; i < m->nv && !rc; i++) {
        if (number[i] < 0) continue;
        number[i] = surface->nv;
        rc = abut_mesh_add_vertex(surface, m->x + 3 * (size_t)i, err);
    }
    for (int32_t t = 0; t < n && !rc; t++)
        rc = abut_mesh_add_tri(surface, number[tri[3 * t]], number[tri[3 * t + 1]], number[tri[3 * t + 2]], err);
    free(made);
    free(number);
    return rc;
}

abut_status abut_mesh_frame(const abut_mesh *m, abut_mesh *frame, abut_mesh *surface, double *fill, abut_err *err)
{
    static const double s[4][3] = { { 1, 1, 1 }, { -1, 1, -1 }, { 1, -1, -1 }, { -1, -1, 1 } };
    double volume, center[3], S[9], L[9];
    abut_status rc = abut_mesh_solid_check(m, err);
    if (!rc) rc = abut_mesh_moments(m, &volume, center, S, err);
    if (!rc && !factor(S, L)) rc = abut_fail(err, ABUT_E_GEOM, "a flat body: expected an extent in every direction");
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
