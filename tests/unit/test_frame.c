/* A body as one affine frame: closed forms of boxes, moments that four points have, surfaces that go with them. */
#include "base/rng.h"
#include "mesh/mesh.h"
#include "mesh/proxy.h"
#include "mesh/generate/generate.h"
#include "mesh/surface.h"
#include "check.h"

#include <math.h>
#include <string.h>

/* A box of 3 x 2 x 1 m, deformed: x -> A x + b and, where curly, a sine on top. */
static void make(abut_mesh *m, int curly)
{
    const double size[3] = { 3, 2, 1 }, A[9] = { 0.8, -0.3, 0.1, 0.2, 1.1, 0.4, -0.1, 0.3, 0.9 }, b[3] = { 7, -4, 2 };
    const int32_t n[3] = { 6, 5, 4 };
    CHECK(!abut_generate_box(size, n, m, NULL));
    for (int32_t i = 0; i < m->nv && curly; i++) m->x[3 * i] += 0.2 * sin(2 * m->x[3 * i + 1]) + 0.1 * m->x[3 * i + 2];
    abut_mesh_transform(m, A, b);
}

/* The boundary as a mesh of its own, all points kept. */
static void shell_of(const abut_mesh *m, abut_mesh *s)
{
    int32_t *tri = NULL, n = 0;
    CHECK(!abut_surface_triangles(m->tet, m->nt, &tri, &n, NULL));
    for (int32_t i = 0; i < m->nv; i++) CHECK(!abut_mesh_add_vertex(s, m->x + 3 * i, NULL));
    for (int32_t t = 0; t < n; t++) CHECK(!abut_mesh_add_tri(s, tri[3 * t], tri[3 * t + 1], tri[3 * t + 2], NULL));
    free(tri);
}

TEST(moments_of_a_box_have_their_closed_form_and_a_surface_has_those_of_its_tets)
{
    const double size[3] = { 3, 2, 1 }, I[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, b[3] = { 40, 50, -60 };
    const int32_t n[3] = { 2, 3, 1 };
    abut_mesh m = { 0 }, s = { 0 };
    double V, c[3], S[9], V2, c2[3], S2[9];
    CHECK(!abut_generate_box(size, n, &m, NULL));
    abut_mesh_transform(&m, I, b);
    CHECK(!abut_mesh_moments(&m, &V, c, S, NULL));
    CHECK_NEAR(V, 6, 1e-12);
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR(c[i], b[i], 1e-12);
        for (int j = 0; j < 3; j++) CHECK_NEAR(S[3 * i + j], i == j ? size[i] * size[i] / 12 : 0, 1e-12);
    }
    abut_mesh_clear(&m);
    make(&m, 1);
    shell_of(&m, &s);
    CHECK(!abut_mesh_moments(&m, &V, c, S, NULL));
    CHECK(!abut_mesh_moments(&s, &V2, c2, S2, NULL));
    CHECK_NEAR(V, V2, 1e-12);
    for (int i = 0; i < 3; i++) CHECK_NEAR(c[i], c2[i], 1e-12);
    for (int i = 0; i < 9; i++) CHECK_NEAR(S[i], S2[i], 1e-12);
    abut_mesh_flip(&s);
    CHECK(abut_mesh_moments(&s, &V2, c2, S2, NULL) == ABUT_E_GEOM);
    abut_mesh_clear(&m);
    abut_mesh_clear(&s);
}

TEST(a_quarter_of_the_mass_at_each_point_has_the_moments_of_the_body)
{
    abut_mesh m = { 0 }, f = { 0 }, s = { 0 };
    double V, c[3], S[9], fill, tet, tc[3], tS[9];
    make(&m, 1);
    CHECK(!abut_mesh_moments(&m, &V, c, S, NULL));
    CHECK(!abut_mesh_frame(&m, &f, &s, &fill, NULL));
    CHECK(f.nv == 4 && f.nt == 1 && !f.nf);
    for (int i = 0; i < 3; i++) {
        double sum = 0;
        for (int k = 0; k < 4; k++) sum += f.x[3 * k + i] / 4;
        CHECK_NEAR(sum, c[i], 1e-13 * 8);
        for (int j = 0; j < 3; j++) {
            double moment = 0;
            for (int k = 0; k < 4; k++) moment += (f.x[3 * k + i] - c[i]) * (f.x[3 * k + j] - c[j]) / 4;
            CHECK_NEAR(moment, S[3 * i + j], 1e-13);
        }
    }
    CHECK(!abut_mesh_moments(&f, &tet, tc, tS, NULL));      /* positive */
    CHECK_NEAR(fill * tet, V, 1e-12);
    abut_mesh_clear(&m), abut_mesh_clear(&f), abut_mesh_clear(&s);
}

TEST(the_surface_is_the_boundary_and_goes_through_every_affine_motion_with_the_points)
{
    abut_rng rng = { 3 };
    abut_mesh m = { 0 }, f = { 0 }, s = { 0 }, all = { 0 };
    abut_proxy p;
    abut_embedding facts;
    double fill, worst = 0, A[9], b[3];
    make(&m, 1);
    shell_of(&m, &all);
    CHECK(!abut_mesh_frame(&m, &f, &s, &fill, NULL));
    CHECK(s.nf == all.nf && s.nv < m.nv);
    for (int32_t i = 0; i < 3 * s.nf; i++) CHECK(!memcmp(s.x + 3 * s.tri[i], m.x + 3 * all.tri[i], 3 * sizeof *s.x));
    CHECK(!abut_proxy_embed(&f, &s, 1e3, &p, &facts, NULL));
    for (int i = 0; i < 9; i++) A[i] = abut_rng_real(&rng, -2, 2);
    for (int i = 0; i < 3; i++) b[i] = abut_rng_real(&rng, -5, 5);
    for (int32_t v = 0; v < p.nv; v++)
        for (int i = 0; i < 3; i++) {
            double want = b[i], got = 0;
            for (int d = 0; d < 3; d++) want += A[3 * i + d] * s.x[3 * v + d];
            for (int32_t e = p.first[v]; e < p.first[v + 1]; e++) {
                const double *X = f.x + 3 * p.point[e];
                got += p.weight[e] * (b[i] + A[3 * i] * X[0] + A[3 * i + 1] * X[1] + A[3 * i + 2] * X[2]);
            }
            worst = fmax(worst, fabs(got - want));
        }
    printf("# off by %g m\n", worst);
    CHECK(worst < 1e-12);
    abut_proxy_clear(&p);
    abut_mesh_clear(&m), abut_mesh_clear(&f), abut_mesh_clear(&s), abut_mesh_clear(&all);
}

TEST(a_flat_body_and_one_turned_inside_out_are_refused)
{
    const double squash[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1e-9 }, b[3] = { 0, 0, 0 };
    abut_mesh m = { 0 }, f = { 0 }, s = { 0 };
    abut_err err = { 0 };
    double fill;
    make(&m, 0);
    abut_mesh_transform(&m, squash, b);
    CHECK(abut_mesh_frame(&m, &f, &s, &fill, &err) == ABUT_E_GEOM && strstr(err.msg, "a flat body"));
    abut_mesh_flip(&m);
    abut_mesh_clear(&f), abut_mesh_clear(&s);
    CHECK(abut_mesh_frame(&m, &f, &s, &fill, &err) == ABUT_E_GEOM && strstr(err.msg, "normals outward"));
    abut_mesh_clear(&m), abut_mesh_clear(&f), abut_mesh_clear(&s);
}
