#include "mesh/frame.h"

#include "math/vec3.h"
#include "mesh/closed_surface.h"
#include "mesh/surface.h"

#include <math.h>
#include <stdlib.h>

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
