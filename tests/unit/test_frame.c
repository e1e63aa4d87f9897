/* A body as one affine frame: closed forms of boxes, moments that four points have, surfaces that go with them. */
#include "base/rng.h"
#include "math/svd3.h"
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

/* ---- stiff frames ---- */

/* A body by quadrature of its own: sums over many weighted points. */
typedef struct moments {
    double V, first[3], second[9];
} moments;

static void add_point(moments *s, double w, const double x[3])
{
    s->V += w;
    for (int i = 0; i < 3; i++) s->first[i] += w * x[i];
    for (int i = 0; i < 9; i++) s->second[i] += w * x[i / 3] * x[i % 3];
}

/* A box of that centre, axes (columns of R) and sides, by its corners of Gauss: exact. */
static void add_box(moments *s, const double c[3], const double R[9], const double side[3])
{
    for (int k = 0; k < 8; k++) {
        double x[3];
        for (int i = 0; i < 3; i++) {
            x[i] = c[i];
            for (int j = 0; j < 3; j++) x[i] += R[3 * i + j] * (k >> j & 1 ? 0.5 : -0.5) * side[j] / sqrt(3);
        }
        add_point(s, side[0] * side[1] * side[2] / 8, x);
    }
}

static void rotation(abut_rng *r, double R[9])
{
    double A[9], s[3], V[9];
    for (int i = 0; i < 9; i++) A[i] = abut_rng_real(r, -1, 1);
    abut_svd3(A, R, s, V);
}

/* The four points with a quarter of the volume each have these moments; `raised`: within a millionth of the largest. */
static void has_moments(const abut_mesh *f, double fill, const moments *want, double tolerance)
{
    double tet, tc[3], tS[9], most = 0;
    CHECK(f->nv == 4 && f->nt == 1);
    CHECK(!abut_mesh_moments(f, &tet, tc, tS, NULL));
    CHECK_NEAR(fill * tet, want->V, 1e-12 * want->V);
    const double V = want->V, *first = want->first;
    for (int i = 0; i < 9; i += 4) most += want->second[i] / V - first[i / 3] * first[i / 3] / (V * V);
    for (int i = 0; i < 9; i++) {
        double c[3] = { 0 }, S = 0;
        for (int k = 0; k < 4; k++)
            for (int d = 0; d < 3; d++) c[d] += f->x[3 * k + d] / 4;
        for (int k = 0; k < 4; k++) S += (f->x[3 * k + i / 3] - c[i / 3]) * (f->x[3 * k + i % 3] - c[i % 3]) / 4;
        CHECK_NEAR(c[i / 3], want->first[i / 3] / want->V, 1e-12 * sqrt(most));
        CHECK_NEAR(S, want->second[i] / V - first[i / 3] * first[i % 3] / (V * V), tolerance * most);
    }
}

static abut_status stiff(const abut_mesh *m, const abut_body *b, abut_mesh *f, abut_mesh *s, double *fill, double *ratio,
                         abut_err *err)
{
    abut_mesh_clear(f), abut_mesh_clear(s);
    return abut_mesh_stiff_frame(m, b, f, s, fill, ratio, err);
}

TEST(a_stiff_frame_of_a_solid_is_its_frame_to_the_bit)
{
    abut_mesh m = { 0 }, shell = { 0 }, f = { 0 }, s = { 0 }, g = { 0 }, t = { 0 };
    const abut_body solid = { .density = 1000 };
    double fill, same, ratio;
    make(&m, 1);
    shell_of(&m, &shell);
    for (int k = 0; k < 2; k++) {
        CHECK(!abut_mesh_frame(k ? &shell : &m, &f, &s, &fill, NULL));
        CHECK(!stiff(k ? &shell : &m, &solid, &g, &t, &same, &ratio, NULL));
        CHECK(!memcmp(f.x, g.x, 12 * sizeof *f.x) && fill == same && ratio == 1 && t.nv == s.nv && t.nf == s.nf);
        abut_mesh_clear(&f), abut_mesh_clear(&s);
    }
    abut_mesh_clear(&m), abut_mesh_clear(&shell), abut_mesh_clear(&g), abut_mesh_clear(&t);
}

TEST(plates_rods_points_and_their_union_have_the_moments_of_boxes)
{
    abut_rng rng = { 5 };
    abut_mesh f = { 0 }, s = { 0 };
    double fill, ratio;
    for (int k = 0; k < 20; k++) {
        abut_mesh m = { 0 }, cube = { 0 }, shell = { 0 };
        double R[9], c[3], side[3], x[4][3];
        const double unit[3] = { 1, 1, 1 };
        moments all = { 0 }, plate = { 0 }, rod = { 0 };
        const abut_body b = { .thickness = 0.3, .section = 0.02, .point = 0.5, .density = 700 };
        rotation(&rng, R);
        for (int i = 0; i < 3; i++) c[i] = abut_rng_real(&rng, -3, 3), side[i] = abut_rng_real(&rng, 0.5, 3);
        side[2] = b.thickness;
        for (int v = 0; v < 4; v++)
            for (int i = 0; i < 3; i++)
                x[v][i] = c[i] + R[3 * i] * (v % 2 ? 0.5 : -0.5) * side[0] + R[3 * i + 1] * (v / 2 ? 0.5 : -0.5) * side[1];
        for (int v = 0; v < 4; v++) CHECK(!abut_mesh_add_vertex(&m, x[v], NULL));
        CHECK(!abut_mesh_add_tri(&m, 0, 1, 3, NULL) && !abut_mesh_add_tri(&m, 0, 3, 2, NULL));
        add_box(&plate, c, R, side);
        CHECK(!stiff(&m, &b, &f, &s, &fill, &ratio, NULL));
        has_moments(&f, fill, &plate, 1e-12);
        CHECK(s.nv == 4 && s.nf == 2);
        /* a rod along a diagonal: a box of no height, raised */
        abut_mesh line = { 0 };
        CHECK(!abut_mesh_add_vertex(&line, x[0], NULL) && !abut_mesh_add_vertex(&line, x[3], NULL));
        CHECK(!abut_mesh_add_seg(&line, 0, 1, NULL));
        double length = 0, mid[3];
        for (int i = 0; i < 3; i++) mid[i] = 0.5 * (x[0][i] + x[3][i]), length += (x[3][i] - x[0][i]) * (x[3][i] - x[0][i]);
        length = sqrt(length);
        for (int q = 0; q < 2; q++) {
            double y[3];
            for (int i = 0; i < 3; i++) y[i] = mid[i] + (q ? 0.5 : -0.5) / sqrt(3) * (x[3][i] - x[0][i]);
            add_point(&rod, 0.5 * length * b.section, y);
        }
        CHECK(!stiff(&line, &b, &f, &s, &fill, &ratio, NULL));
        has_moments(&f, fill, &rod, 1.001e-6);
        CHECK(s.nv == 2 && s.ns == 1);
        /* the plate, the rod, a point, and a cube of tets, then of a closed surface */
        CHECK(!abut_generate_box(unit, (const int32_t[3]){ 1, 1, 1 }, &cube, NULL));
        shell_of(&cube, &shell);
        const double I[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, at[3] = { 2, 3, -1 };
        abut_mesh_transform(&cube, I, at), abut_mesh_transform(&shell, I, at);
        all = plate;
        add_point(&all, b.point, x[1]);
        for (int i = 0; i < 9; i++) all.second[i] += rod.second[i];
        for (int i = 0; i < 3; i++) all.first[i] += rod.first[i];
        all.V += rod.V;
        add_box(&all, at, I, unit);
        CHECK(!abut_mesh_add_seg(&m, 0, 3, NULL) && !abut_mesh_add_point(&m, 1, NULL));
        CHECK(!abut_mesh_append(&m, &cube, NULL));
        CHECK(!stiff(&m, &b, &f, &s, &fill, &ratio, NULL));
        has_moments(&f, fill, &all, 2e-12);
        CHECK(s.nv == 12 && s.nf == 14 && s.ns == 1 && s.np == 1);
        moments solid = rod;
        add_box(&solid, at, I, unit);
        CHECK(!abut_mesh_append(&shell, &line, NULL));
        CHECK(!stiff(&shell, &(abut_body){ .section = b.section, .density = 1 }, &f, &s, &fill, &ratio, NULL));
        has_moments(&f, fill, &solid, 2e-12);
        abut_mesh_clear(&m), abut_mesh_clear(&cube), abut_mesh_clear(&shell), abut_mesh_clear(&line);
    }
    abut_mesh_clear(&f), abut_mesh_clear(&s);
}

TEST(a_given_tensor_is_that_of_the_points_and_one_that_no_body_has_is_refused)
{
    abut_rng rng = { 6 };
    abut_mesh m = { 0 }, f = { 0 }, s = { 0 };
    abut_err err = { 0 };
    double fill, ratio;
    make(&m, 0);
    for (int k = 0; k < 200; k++) {
        abut_body b = { .has_mass = 1, .has_center = 1, .has_inertia = 1, .density = 1e3 };
        double R[9], w[3], tet, c[3], S[9];
        const int flat = k % 4 == 3;
        rotation(&rng, R);
        b.mass = abut_rng_real(&rng, 0.1, 10);
        w[0] = abut_rng_real(&rng, 0.1, 1), w[1] = abut_rng_real(&rng, 0.1, 1);
        w[2] = flat ? w[0] + w[1] : abut_rng_real(&rng, fabs(w[0] - w[1]) + 1e-3, w[0] + w[1] - 1e-3);
        for (int i = 0; i < 3; i++) b.center[i] = abut_rng_real(&rng, -3, 3);
        for (int i = 0; i < 9; i++)
            for (int d = 0; d < 3; d++) b.inertia[i] += R[3 * (i / 3) + d] * w[d] * R[3 * (i % 3) + d];
        CHECK(!stiff(&m, &b, &f, &s, &fill, &ratio, NULL));
        CHECK(!abut_mesh_moments(&f, &tet, c, S, NULL));
        CHECK_NEAR(1e3 * fill * tet, b.mass, 1e-12 * b.mass);
        double got[9] = { 0 };
        for (int v = 0; v < 4; v++) {
            double d[3], d2 = 0;
            for (int i = 0; i < 3; i++) d[i] = f.x[3 * v + i] - b.center[i], d2 += d[i] * d[i];
            for (int i = 0; i < 9; i++) got[i] += b.mass / 4 * ((i % 4 ? 0 : d2) - d[i / 3] * d[i % 3]);
        }
        for (int i = 0; i < 9; i++) CHECK_NEAR(got[i], b.inertia[i], flat ? 1e-6 : 1e-12);
        b.inertia[0] += 3, b.inertia[4] += 0, b.inertia[8] += 0;
        CHECK(stiff(&m, &b, &f, &s, &fill, &ratio, &err) == ABUT_E_FORMAT && strstr(err.msg, "an inertia that no body has"));
    }
    /* of the mesh itself: no difference; a thousandth of it: a ratio of a thousand */
    double V, c[3], S[9];
    CHECK(!abut_mesh_moments(&m, &V, c, S, NULL));
    abut_body b = { .has_inertia = 1, .density = 1 };
    for (int i = 0; i < 9; i++) b.inertia[i] = V * ((i % 4 ? 0 : S[0] + S[4] + S[8]) - S[i]);
    CHECK(!stiff(&m, &b, &f, &s, &fill, &ratio, NULL));
    CHECK_NEAR(ratio, 1, 1e-12);
    for (int i = 0; i < 9; i++) b.inertia[i] *= 1e-3;
    CHECK(!stiff(&m, &b, &f, &s, &fill, &ratio, NULL));
    CHECK_NEAR(ratio, 1000, 1e-9);
    abut_mesh point = { 0 };
    CHECK(!abut_mesh_add_vertex(&point, c, NULL) && !abut_mesh_add_point(&point, 0, NULL));
    CHECK(stiff(&point, &(abut_body){ .point = 1, .density = 1 }, &f, &s, &fill, &ratio, &err) == ABUT_E_GEOM &&
          strstr(err.msg, "a single point"));
    CHECK(stiff(&point, &(abut_body){ .density = 1 }, &f, &s, &fill, &ratio, &err) == ABUT_E_GEOM);
    abut_mesh_clear(&m), abut_mesh_clear(&f), abut_mesh_clear(&s), abut_mesh_clear(&point);
}
