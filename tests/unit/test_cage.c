/* Cages: coarse tets around fine surfaces. */
#include "check.h"
#include "geom/lagrange.h"
#include "mesh/generate/generate.h"
#include "mesh/surface.h"
#include "mesh/tet_nodes.h"

static double tet_volume(const abut_mesh *m, int32_t t)
{
    double X[ABUT_TET_NODES_MAX][3], J[9];
    abut_mesh_tet_places(m, t, X);
    return abut_tet_point(1, (const double(*)[3])X, (const double[4]){ 0.25, 0.25, 0.25, 0.25 }, NULL, J) / 6;
}

/* Volume inside of a closed surface: the sum of tets from the origin. */
static double enclosed(const abut_mesh *s)
{
    double sum = 0;
    for (int32_t t = 0; t < s->nf; t++) {
        const double *a = s->x + 3 * s->tri[3 * t], *b = s->x + 3 * s->tri[3 * t + 1], *c = s->x + 3 * s->tri[3 * t + 2];
        sum += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0])) / 6;
    }
    return sum;
}

/* The largest of the least barycentric coordinates of p over all tets: 0 or more inside of one. */
static double depth(const abut_mesh *m, const double *p)
{
    double best = -INFINITY;
    for (int32_t t = 0; t < m->nt; t++) {
        const double whole = tet_volume(m, t);
        double least = INFINITY;
        for (int c = 0; c < 4; c++) {
            abut_mesh one = { .nv = 4, .nt = 1 };
            double x[12];
            int32_t v[4] = { 0, 1, 2, 3 };
            for (int k = 0; k < 4; k++) memcpy(x + 3 * k, k == c ? p : m->x + 3 * m->tet[4 * t + k], 3 * sizeof *x);
            one.x = x, one.tet = v;
            least = fmin(least, tet_volume(&one, 0) / whole);
        }
        best = fmax(best, least);
    }
    return best;
}

/* sampled: what the fills may be off by before they are matched */
static void holds_to(const abut_mesh *cage, const abut_mesh *s, double sampled)
{
    double *fill = malloc((size_t)cage->nt * sizeof *fill), solid = 0;
    int32_t *tri = NULL, n = 0;
    for (int32_t t = 0; t < cage->nt; t++) CHECK(tet_volume(cage, t) > 0);
    for (int32_t i = 0; i < s->nv; i++) CHECK(depth(cage, s->x + 3 * i) >= -1e-12);
    CHECK(!abut_mesh_check(cage, NULL) && !abut_surface_triangles(cage->tet, cage->nt, &tri, &n, NULL) && n > 0);
    CHECK(!abut_cage_fill(cage, s, fill, NULL));
    for (int32_t t = 0; t < cage->nt; t++) {
        CHECK(fill[t] >= 0 && fill[t] <= 1);
        solid += fill[t] * tet_volume(cage, t);
    }
    CHECK_NEAR(solid, enclosed(s), sampled * enclosed(s));
    CHECK(!abut_cage_fill_match(cage, s, fill, NULL));
    solid = 0;
    for (int32_t t = 0; t < cage->nt; t++) {
        CHECK(fill[t] >= 0 && fill[t] <= 1);
        solid += fill[t] * tet_volume(cage, t);
    }
    CHECK_NEAR(solid, enclosed(s), 1e-9 * enclosed(s));
    free(fill), free(tri);
}
static void holds(const abut_mesh *cage, const abut_mesh *s) { holds_to(cage, s, 0.01); }

TEST(a_lattice_of_cells_holds_a_ball_a_tube_and_a_ring_and_their_volumes)
{
    abut_mesh s[3] = { { 0 }, { 0 }, { 0 } }, ring = { 0 };
    CHECK(!abut_generate_icosphere(1, 4, &s[0], NULL));
    const double bottle[] = { 0, -1, 0.5, -1, 0.5, 0.2, 0.2, 0.5, 0.2, 1, 0, 1 };
    CHECK(!abut_generate_revolution(bottle, 6, 12, 2, &s[1], NULL));
    CHECK(!abut_generate_torus(1, 0.3, 12, 2, &ring, NULL));
    int32_t *tri = NULL, n = 0;
    CHECK(!abut_surface_triangles(ring.tet, ring.nt, &tri, &n, NULL));
    for (int32_t i = 0; i < ring.nv; i++) CHECK(!abut_mesh_add_vertex(&s[2], ring.x + 3 * i, NULL));
    for (int32_t t = 0; t < n; t++) CHECK(!abut_mesh_add_tri(&s[2], tri[3 * t], tri[3 * t + 1], tri[3 * t + 2], NULL));
    for (int k = 0; k < 3; k++) {
        static const double cell[3] = { 0.7, 0.35, 0.45 };
        abut_mesh cage = { 0 };
        abut_err err = { 0 };
        CHECK(!abut_generate_cage(&s[k], cell[k], cell[k] / 20, &cage, &err));
        if (err.code) printf("# %s\n", err.msg);
        CHECK(cage.nt > 5 && cage.nt % 6 == 0 && cage.nt < 2000);
        holds(&cage, &s[k]);
        abut_mesh_clear(&cage), abut_mesh_clear(&s[k]);
    }
    abut_mesh_clear(&ring), free(tri);
}

TEST(round_bodies_fit_into_an_icosahedron_or_an_octahedron)
{
    for (int k = 0; k < 2; k++) {
        abut_mesh s = { 0 }, cage = { 0 };
        const double A[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, b[3] = { 3, -2, 1 };
        CHECK(!abut_generate_icosphere(0.5, 5, &s, NULL));
        abut_mesh_transform(&s, A, b);
        CHECK(!abut_generate_round_cage(&s, k ? 8 : 20, &cage, NULL) && cage.nt == (k ? 8 : 20) && cage.nv == (k ? 7 : 13));
        double moved[3] = { 0 };        /* volumes of the fills are about the origin: back there */
        for (int d = 0; d < 3; d++) moved[d] = -b[d];
        abut_mesh_transform(&s, A, moved), abut_mesh_transform(&cage, A, moved);
        holds(&cage, &s);
        abut_mesh_clear(&s), abut_mesh_clear(&cage);
    }
}

static double volume_of(const abut_mesh *m)
{
    double sum = 0;
    for (int32_t t = 0; t < m->nt; t++) sum += tet_volume(m, t);
    return sum;
}

/* An icosphere stretched to the given half axes. */
static void ellipsoid(double a, double b, double c, abut_mesh *s)
{
    CHECK(!abut_generate_icosphere(1, 4, s, NULL));
    abut_mesh_transform(s, (const double[9]){ a, 0, 0, 0, b, 0, 0, 0, c }, (const double[3]){ 0 });
}

TEST(a_star_holds_bodies_of_any_proportions_in_less_than_a_solid_takes)
{
    for (int divisions = 1; divisions <= 3; divisions++) {
        static const double axes[3][3] = { { 1, 1, 1 }, { 1, 0.5, 0.3 }, { 2, 0.4, 0.4 } };
        for (int k = 0; k < (divisions < 3 ? 3 : 1); k++) {
            abut_mesh s = { 0 }, cage = { 0 }, solid = { 0 };
            ellipsoid(axes[k][0], axes[k][1], axes[k][2], &s);
            CHECK(!abut_generate_star_cage(&s, divisions, &cage, NULL) && cage.nt == 20 * divisions * divisions);
            CHECK(!abut_generate_round_cage(&s, 20, &solid, NULL));
            holds_to(&cage, &s, 0.1);
            CHECK(volume_of(&cage) < (k ? 0.5 : 1.0001) * volume_of(&solid));
            if (k == 0 && divisions == 3) CHECK(volume_of(&cage) < 1.15 * enclosed(&s));
            abut_mesh_clear(&s), abut_mesh_clear(&cage), abut_mesh_clear(&solid);
        }
    }
    /* about another centre, all that it is made of moves along */
    abut_mesh s = { 0 }, a = { 0 }, b = { 0 };
    ellipsoid(1, 0.5, 0.25, &s);
    CHECK(!abut_generate_star_cage(&s, 2, &a, NULL));
    static const double moved[3] = { 8, -4, 2 };
    abut_mesh_transform(&s, (const double[9]){ 1, 0, 0, 0, 1, 0, 0, 0, 1 }, moved);
    CHECK(!abut_generate_star_cage(&s, 2, &b, NULL));
    for (int32_t i = 0; i < 3 * a.nv; i++) CHECK_NEAR(b.x[i], a.x[i] + moved[i % 3], 1e-9);
    abut_mesh_clear(&s), abut_mesh_clear(&a), abut_mesh_clear(&b);
}

SLOW_TEST(a_lattice_that_is_fit_holds_the_same_in_less_and_keeps_its_tets)
{
    static const double cell[3] = { 0.7, 0.3, 0.3 }, inflate[3] = { 0.035, 0.015, 0 };
    for (int k = 0; k < 3; k++) {
        abut_mesh s = { 0 }, cage = { 0 }, rest = { 0 };
        if (k < 2) ellipsoid(1, k ? 0.4 : 1, k ? 0.4 : 1, &s);
        else CHECK(!abut_generate_icosphere(0.5, 3, &s, NULL));
        CHECK(!abut_generate_cage(&s, cell[k], inflate[k], &cage, NULL) && !abut_mesh_append(&rest, &cage, NULL));
        CHECK(!abut_cage_fit(&cage, &s, inflate[k], NULL));
        holds_to(&cage, &s, 0.1);
        printf("# volumes: surface %.3f, lattice %.3f, fit %.3f\n", enclosed(&s), volume_of(&rest), volume_of(&cage));
        CHECK(volume_of(&cage) < 0.85 * volume_of(&rest) && cage.nt == rest.nt);
        for (int32_t t = 0; t < cage.nt; t++) CHECK(tet_volume(&cage, t) >= 0.15 * tet_volume(&rest, t));
        abut_mesh_clear(&s), abut_mesh_clear(&cage), abut_mesh_clear(&rest);
    }
}

TEST(a_star_with_more_directions_than_triangles_holds_no_cube)
{
    const double x[] = { 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1 };
    const int32_t quad[] = { 0, 3, 2, 1, 4, 5, 6, 7, 0, 1, 5, 4, 1, 2, 6, 5, 2, 3, 7, 6, 3, 0, 4, 7 };
    abut_mesh s = { 0 };
    abut_err err = { 0 };
    for (int i = 0; i < 8; i++) CHECK(!abut_mesh_add_vertex(&s, x + 3 * i, NULL));
    for (int f = 0; f < 6; f++) {
        const int32_t *q = quad + 4 * f;
        CHECK(!abut_mesh_add_tri(&s, q[0], q[1], q[2], NULL) && !abut_mesh_add_tri(&s, q[0], q[2], q[3], NULL));
    }
    for (int divisions = 1; divisions <= 6; divisions++) {
        abut_mesh cage = { 0 };
        double fill[20 * 36];
        CHECK(!abut_generate_star_cage(&s, divisions, &cage, NULL) && !abut_cage_fill(&cage, &s, fill, NULL));
        CHECK(!abut_cage_fill_match(&cage, &s, fill, &err) == (divisions == 1));
        abut_mesh_clear(&cage);
    }
    CHECK(strstr(err.msg, "m^3 of the 1 m^3 that the surface encloses: expected smaller triangles, or fewer divisions"));
    abut_mesh_clear(&s);
}

TEST(cages_that_cannot_be_are_refused)
{
    abut_mesh s = { 0 }, two = { 0 }, cage = { 0 };
    abut_err err = { 0 };
    CHECK(abut_generate_star_cage(&s, 2, &cage, &err) == ABUT_E_ARG && strstr(err.msg, "without triangles"));
    CHECK(abut_generate_cage(&s, 0.1, 0, &cage, &err) == ABUT_E_ARG && strstr(err.msg, "without triangles"));
    CHECK(abut_generate_round_cage(&s, 8, &cage, &err) == ABUT_E_ARG && strstr(err.msg, "without triangles"));
    CHECK(!abut_generate_icosphere(0.3, 1, &s, NULL));
    CHECK(abut_generate_cage(&s, 0, 0, &cage, &err) == ABUT_E_ARG && strstr(err.msg, "cell 0 m"));
    CHECK(abut_generate_cage(&s, 1e-4, 0, &cage, &err) == ABUT_E_ARG && strstr(err.msg, "expected larger ones"));
    CHECK(abut_generate_star_cage(&s, 7, &cage, &err) == ABUT_E_ARG && strstr(err.msg, "star 7: expected 1 to 6"));
    CHECK(!abut_mesh_append(&two, &s, NULL));
    abut_mesh_transform(&s, (const double[9]){ 1, 0, 0, 0, 1, 0, 0, 0, 1 }, (const double[3]){ 5, 0, 0 });
    CHECK(!abut_mesh_append(&two, &s, NULL));
    CHECK(abut_generate_cage(&two, 0.5, 0, &cage, &err) == ABUT_E_GEOM && strstr(err.msg, "joined to the others by no face"));
    CHECK(cage.nt == 0 && cage.nv == 0);
    CHECK(!abut_generate_cage(&s, 0.5, 0, &cage, NULL));    /* s is beside it after this */
    abut_mesh_transform(&s, (const double[9]){ 1, 0, 0, 0, 1, 0, 0, 0, 1 }, (const double[3]){ 5, 0, 0 });
    CHECK(abut_cage_fit(&cage, &s, 0.02, &err) == ABUT_E_GEOM && strstr(err.msg, "points of the surface are outside"));
    abut_mesh_clear(&s), abut_mesh_clear(&two), abut_mesh_clear(&cage);
}
