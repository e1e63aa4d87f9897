/* Densities that give a coarse body the mass and the centre of another. */
#include "mesh/generate/generate.h"
#include "mesh/mesh.h"
#include "mesh/surface.h"
#include "mesh/tet_nodes.h"
#include "check.h"

static void make(abut_mesh *m, int32_t cells)
{
    const double size[3] = { 1, 2, 3 };
    const int32_t n[3] = { cells, cells, cells };
    CHECK(!abut_generate_box(size, n, m, NULL));
}

TEST(volume_and_center_of_tets_of_a_surface_and_of_curved_tets_are_those_of_the_shape)
{
    abut_mesh m = { 0 }, s = { 0 };
    double V, c[3];
    const double I[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, b[3] = { 4, 5, 6 };
    int32_t *tri = NULL, n = 0;
    make(&m, 2);
    abut_mesh_transform(&m, I, b);
    CHECK(!abut_mesh_volume(&m, &V, c, NULL));
    CHECK_NEAR(V, 6, 1e-12);
    for (int d = 0; d < 3; d++) CHECK_NEAR(c[d], 4 + d, 1e-12);
    CHECK(!abut_surface_triangles(m.tet, m.nt, &tri, &n, NULL));
    for (int32_t i = 0; i < m.nv; i++) CHECK(!abut_mesh_add_vertex(&s, m.x + 3 * i, NULL));
    for (int32_t t = 0; t < n; t++) CHECK(!abut_mesh_add_tri(&s, tri[3 * t], tri[3 * t + 1], tri[3 * t + 2], NULL));
    CHECK(!abut_mesh_volume(&s, &V, c, NULL));
    CHECK_NEAR(V, 6, 1e-12);
    CHECK_NEAR(c[2], 6, 1e-12);
    abut_mesh_flip(&s);
    CHECK(abut_mesh_volume(&s, &V, c, NULL) == ABUT_E_GEOM);
    /* x -> x + x^2/100 about 0 of a box of tets of order 2: exact, with det = 1 + x/50 */
    CHECK(!abut_mesh_set_order(&m, 2, NULL));
    for (int32_t i = 0; i < m.nv; i++) m.x[3 * i] += m.x[3 * i] * m.x[3 * i] / 100;
    CHECK(!abut_mesh_volume(&m, &V, c, NULL));
    const double lo = 3.5 + 3.5 * 3.5 / 100, hi = 4.5 + 4.5 * 4.5 / 100;
    CHECK_NEAR(V, (hi - lo) * 6, 1e-12);
    CHECK_NEAR(c[0], 0.5 * (lo + hi), 1e-12);
    free(tri);
    abut_mesh_clear(&m), abut_mesh_clear(&s);
}

enum { TETS = 162 };

/* The box in tets: their volumes and centres. */
static void pieces(double *V, double (*c)[3])
{
    abut_mesh m = { 0 };
    make(&m, 3);
    CHECK(m.nt == TETS);
    for (int32_t t = 0; t < m.nt; t++) {
        const double centroid[4] = { .25, .25, .25, .25 }, one = 1;
        double X[ABUT_TET_NODES_MAX][3];
        abut_mesh_tet_places(&m, t, X);
        abut_tet_moments(1, (const double(*)[3])X, centroid, &one, 1, &V[t], c[t]);
    }
    abut_mesh_clear(&m);
}

static void check_sums(const double *V, double (*c)[3], const double *f, double total, const double at[3])
{
    double sum = 0, moment[3] = { 0 };
    for (int t = 0; t < TETS; t++) {
        sum += V[t] * f[t];
        for (int d = 0; d < 3; d++) moment[d] += V[t] * f[t] * (c[t][d] - at[d]);
    }
    CHECK_NEAR(sum, total, 1e-12);
    for (int d = 0; d < 3; d++) CHECK_NEAR(moment[d], 0, 1e-12);
}

/* x -= its part along b, weighed by V. */
static void remove_part(const double *V, const double *b, double *x)
{
    double xb = 0, bb = 0;
    for (int t = 0; t < TETS; t++) xb += V[t] * x[t] * b[t], bb += V[t] * b[t] * b[t];
    for (int t = 0; t < TETS; t++) x[t] -= xb / bb * b[t];
}

TEST(factors_give_the_mass_and_the_center_and_are_the_nearest_to_1)
{
    double V[TETS], c[TETS][3], f[TETS];
    const double at[3] = { 0.03, -0.1, 0.2 };
    pieces(V, c);
    CHECK(!abut_match_mass(TETS, V, (const double(*)[3])c, 5.5, at, 0.05, f, NULL));
    check_sums(V, c, f, 5.5, at);
    for (int t = 0; t < TETS; t++) CHECK(f[t] > 0.05);
    /* any change that keeps the sums costs more: a random one, less its part along the conditions */
    double basis[4][TETS];
    for (int i = 0; i < 4; i++) {
        for (int t = 0; t < TETS; t++) basis[i][t] = i ? c[t][i - 1] : 1;
        for (int j = 0; j < i; j++) remove_part(V, basis[j], basis[i]);
    }
    for (int k = 0; k < 20; k++) {
        double change[TETS], before = 0, after = 0;
        for (int t = 0; t < TETS; t++) change[t] = sin(12.9898 * t + 78.233 * k);
        for (int i = 0; i < 4; i++) remove_part(V, basis[i], change);
        for (int t = 0; t < TETS; t++) {
            const double g = f[t] + 1e-3 * change[t];
            before += V[t] * (f[t] - 1) * (f[t] - 1), after += V[t] * (g - 1) * (g - 1);
        }
        CHECK(after > before);
    }
}

TEST(tets_with_centers_in_a_plane_move_the_center_within_it_alone)
{
    abut_mesh m = { 0 };
    double V[6], c[6][3], f[6];
    const double in[3] = { 0.05, -0.1, 0.1 / 1.2 }, across[3] = { 0.05, 0.05, 0.05 };
    make(&m, 1);
    for (int32_t t = 0; t < 6; t++) {
        const double centroid[4] = { .25, .25, .25, .25 }, one = 1;
        double X[ABUT_TET_NODES_MAX][3];
        abut_mesh_tet_places(&m, t, X);
        abut_tet_moments(1, (const double(*)[3])X, centroid, &one, 1, &V[t], c[t]);
    }
    /* centres of the six tets along a diagonal: x + y/2 + z/3 is the same for all */
    const double plane = c[0][0] + c[0][1] / 2 + c[0][2] / 3;
    for (int t = 0; t < 6; t++) CHECK_NEAR(c[t][0] + c[t][1] / 2 + c[t][2] / 3, plane, 1e-12);
    const double at[3] = { in[0], in[1], 3 * (plane - in[0] - in[1] / 2) };
    double sum = 0, moment[3] = { 0 };
    CHECK(!abut_match_mass(6, V, (const double(*)[3])c, 6.5, at, 0.01, f, NULL));
    for (int t = 0; t < 6; t++) {
        sum += V[t] * f[t];
        for (int d = 0; d < 3; d++) moment[d] += V[t] * f[t] * (c[t][d] - at[d]);
    }
    CHECK_NEAR(sum, 6.5, 1e-9);
    for (int d = 0; d < 3; d++) CHECK_NEAR(moment[d], 0, 1e-9);
    CHECK(abut_match_mass(6, V, (const double(*)[3])c, 6, across, 0.01, f, NULL) == ABUT_E_GEOM);
    abut_mesh_clear(&m);
}

TEST(factors_stay_above_their_bound_and_what_cannot_be_is_refused)
{
    double V[TETS], c[TETS][3], f[TETS];
    int low = 0;
    const double far[3] = { 0.1, 0.2, 0.8 }, outside[3] = { 0, 0, 2 };
    abut_err err = { 0 };
    pieces(V, c);
    CHECK(!abut_match_mass(TETS, V, (const double(*)[3])c, 6, far, 0.1, f, NULL));
    check_sums(V, c, f, 6, far);
    for (int t = 0; t < TETS; t++) {
        CHECK(f[t] >= 0.1);
        low += f[t] <= 0.1;
    }
    CHECK(low > 5);
    CHECK(abut_match_mass(TETS, V, (const double(*)[3])c, 6, outside, 0.1, f, &err) == ABUT_E_GEOM);
    CHECK(strstr(err.msg, "expected tets around it") != NULL);
    CHECK(!abut_match_mass(1, V, (const double(*)[3])c, 2 * V[0], c[0], 0.1, f, NULL));
    CHECK_NEAR(f[0], 2, 1e-15);
}
