/* Contact surfaces of curved tets: the boundary divided, and any surface embedded. */
#include "geom/jacobian.h"
#include "mesh/proxy.h"
#include "mesh/tet_nodes.h"
#include "mesh/generate/generate.h"
#include "mesh/surface.h"
#include "check.h"

static uint64_t state = 7;
static double random_unit(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-52 - 1;
}

static const abut_rest_shape own = { 0, NULL };

/* A ball or box of tets of that order, bent by a smooth map of all nodes. */
static abut_mesh bent(int order, int ball)
{
    abut_mesh m = { 0 };
    const double size[3] = { 1, 2, 1 };
    const int32_t cells[3] = { 2, 3, 2 };
    CHECK(!(ball ? abut_generate_sphere(1, 2, &m, NULL) : abut_generate_box(size, cells, &m, NULL)));
    CHECK(!abut_mesh_set_order(&m, order, NULL));
    for (int32_t i = 0; i < m.nv; i++) {
        double *x = m.x + 3 * (size_t)i;
        const double a = x[0], b = x[1], c = x[2];
        x[0] = a + 0.1 * sin(1.5 * b) + 0.05 * c * c;
        x[1] = b + 0.08 * a * c;
        x[2] = c + 0.1 * cos(a + b);
    }
    for (int32_t t = 0; t < m.nt; t++) {
        double X[ABUT_TET_NODES_MAX][3];
        abut_mesh_tet_places(&m, t, X);
        CHECK(abut_jacobian_check(order, (const double(*)[3])X, NULL) == ABUT_JACOBIAN_POSITIVE);
    }
    return m;
}

static double row_sum(const abut_proxy *p, int32_t v, const double *x, size_t d)
{
    double sum = 0;
    for (int32_t k = p->first[v]; k < p->first[v + 1]; k++) sum += p->weight[k] * (x ? x[3 * (size_t)p->point[k] + d] : 1);
    return sum;
}

/* Rows sum to 1, ascend, and put every vertex where it is. */
static void check_rows(const abut_proxy *p, const abut_mesh *m)
{
    for (int32_t v = 0; v < p->nv; v++) {
        CHECK_NEAR(row_sum(p, v, NULL, 0), 1, 1e-12);
        for (int32_t k = p->first[v] + 1; k < p->first[v + 1]; k++) CHECK(p->point[k - 1] < p->point[k]);
        for (size_t d = 0; d < 3; d++)
            CHECK_NEAR(row_sum(p, v, m->x, d) + (p->offset ? p->offset[3 * (size_t)v + d] : 0), p->X[3 * (size_t)v + d], 1e-12);
    }
}

/* Every side is once in each direction. */
static int is_closed(const abut_proxy *p)
{
    int32_t *edge = NULL, n = 0;
    CHECK(!abut_surface_edges(p->tri, p->nf, NULL, 0, &edge, &n, NULL));
    free(edge);
    return 2 * n == 3 * p->nf && p->nv - n + p->nf == 2;
}

static double volume(const abut_proxy *p)
{
    double sum = 0;
    for (int32_t f = 0; f < p->nf; f++) {
        const double *a = p->X + 3 * (size_t)p->tri[3 * f], *b = p->X + 3 * (size_t)p->tri[3 * f + 1],
                     *c = p->X + 3 * (size_t)p->tri[3 * f + 2];
        sum += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
    }
    return sum / 6;
}

TEST(the_boundary_divided_is_closed_and_its_rows_lead_to_its_vertices)
{
    for (int order = 1; order <= ABUT_ORDER_MAX; order++)
        for (int n = 1; n <= 9; n += n < 4 ? 1 : 5) {
            abut_mesh m = bent(order, 1);
            abut_proxy p;
            int32_t *tri = NULL, faces = 0, widest = 0;
            CHECK(!abut_proxy_upsample(&m, own, n, &p, NULL));
            CHECK(!abut_surface_triangles(m.tet, m.nt, &tri, &faces, NULL));
            CHECK(p.nf == faces * n * n && is_closed(&p) && !p.offset);
            check_rows(&p, &m);
            for (int32_t v = 0; v < p.nv; v++)
                if (p.first[v + 1] - p.first[v] > widest) widest = p.first[v + 1] - p.first[v];
            CHECK(widest <= abut_triangle_nodes(order));
            CHECK(volume(&p) > 0);
            free(tri);
            abut_proxy_clear(&p);
            abut_mesh_clear(&m);
        }
}

TEST(t1_one_segment_of_straight_tets_selects_the_points_of_the_boundary)
{
    abut_mesh m = bent(1, 0);
    abut_proxy p;
    int32_t *tri = NULL, faces = 0;
    CHECK(!abut_proxy_upsample(&m, own, 1, &p, NULL));
    CHECK(!abut_surface_triangles(m.tet, m.nt, &tri, &faces, NULL));
    for (int32_t v = 0; v < p.nv; v++) {
        CHECK(p.first[v + 1] == p.first[v] + 1);
        CHECK_NEAR(p.weight[p.first[v]], 1, 0);
    }
    for (int32_t i = 0; i < 3 * faces; i++) CHECK(p.point[p.first[p.tri[i]]] == tri[i]);
    free(tri);
    abut_proxy_clear(&p);
    abut_mesh_clear(&m);
}

/* A point of the boundary far from the lattice of segments, and the flat point that stands for it. */
static double off_lattice(const abut_mesh *m, const abut_proxy *p, int segments, int64_t face, int32_t number)
{
    const int n = segments * segments;
    const int32_t f = number * n + (int32_t)(fabs(random_unit()) * (n - 1));
    double X[ABUT_TET_NODES_MAX][3], L[4] = { 0 }, flat[3] = { 0 }, x[3], w[3] = { 0.3, 0.3, 0.4 }, far = 0;
    abut_mesh_tet_places(m, (int32_t)(face / 4), X);
    for (int k = 0; k < 3; k++) {
        double at[4];
        const double *corner = p->X + 3 * (size_t)p->tri[3 * f + k];
        abut_tet_invert(abut_mesh_order(m), (const double(*)[3])X, corner, at);
        for (int c = 0; c < 4; c++) L[c] += w[k] * at[c];
        for (int d = 0; d < 3; d++) flat[d] += w[k] * corner[d];
    }
    abut_tet_point(abut_mesh_order(m), (const double(*)[3])X, L, x, NULL);
    for (int d = 0; d < 3; d++) far += (x[d] - flat[d]) * (x[d] - flat[d]);
    return sqrt(far);
}

TEST(the_chord_is_bounded_and_falls_with_the_square_of_the_segments)
{
    for (int order = 1; order <= ABUT_ORDER_MAX; order++) {
        abut_mesh m = bent(order, 1);
        int64_t *face = NULL;
        int32_t faces = 0;
        abut_chord one, four, eight;
        CHECK(!abut_proxy_chord(&m, own, 1, &one, NULL));
        CHECK(!abut_proxy_chord(&m, own, 4, &four, NULL));
        CHECK(!abut_proxy_chord(&m, own, 8, &eight, NULL));
        CHECK(one.measured <= one.bound + 1e-15 && four.measured <= four.bound + 1e-15 && eight.measured <= eight.bound + 1e-15);
        CHECK_NEAR(one.bound, 16 * four.bound, 1e-12);
        if (order > 1) CHECK(four.measured > 2.5 * eight.measured && four.measured > 0.05 * four.bound);
        CHECK(!abut_surface_faces(m.tet, m.nt, &face, &faces, NULL));
        abut_proxy p;
        CHECK(!abut_proxy_upsample(&m, own, 4, &p, NULL));
        double seen = 0;
        for (int32_t f = 0; f < faces; f++) seen = fmax(seen, off_lattice(&m, &p, 4, face[f], f));
        CHECK(seen <= four.bound + 1e-13);
        int segments;
        CHECK(!abut_proxy_segments_for(&m, own, 1.01 * eight.measured + 1e-15, &segments, &one, NULL));
        CHECK(segments <= 8 && one.measured <= 1.01 * eight.measured + 1e-15);
        CHECK(order == 1 ? segments == 1 : segments > 5);
        free(face);
        abut_proxy_clear(&p);
        abut_mesh_clear(&m);
    }
}

TEST(t12_the_inverse_of_the_map_finds_points_of_curved_tets)
{
    for (int order = 1; order <= ABUT_ORDER_MAX; order++) {
        abut_mesh m = bent(order, 0);
        double worst = 0;
        for (int k = 0; k < 300; k++) {
            double X[ABUT_TET_NODES_MAX][3], L[4], s[3], back[4], sum = 0;
            abut_mesh_tet_places(&m, (int32_t)(fabs(random_unit()) * (m.nt - 1)), X);
            for (int c = 0; c < 4; c++) sum += L[c] = fabs(random_unit()) * fabs(random_unit());
            for (int c = 0; c < 4; c++) L[c] /= sum;
            abut_tet_point(order, (const double(*)[3])X, L, s, NULL);
            CHECK(abut_tet_invert(order, (const double(*)[3])X, s, back) < 1e-12);
            for (int c = 0; c < 4; c++) worst = fmax(worst, fabs(back[c] - L[c]));
            for (int c = 0; c < 4; c++) CHECK(back[c] > -1e-10);
        }
        CHECK(worst < 1e-9);
        abut_mesh_clear(&m);
    }
}

TEST(the_inverse_finds_most_points_outside_of_wavy_tets_though_newton_fails_from_some_starts)
{
    static const double share[ABUT_ORDER_MAX + 1] = { 0, 1, 0.99, 0.78, 0.7 };
    for (int order = 1; order <= ABUT_ORDER_MAX; order++) {
        abut_mesh m = bent(order, 0);
        int found = 0;
        for (int k = 0; k < 300; k++) {
            double X[ABUT_TET_NODES_MAX][3], L[4], s[3], back[4], x[3], extent = 0, left = 0;
            abut_mesh_tet_places(&m, (int32_t)(fabs(random_unit()) * (m.nt - 1)), X);
            for (int d = 0; d < 3; d++) extent += fabs(X[1][d] - X[0][d]);
            for (int i = 4; i < abut_tet_nodes(order); i++)
                for (int d = 0; d < 3; d++) X[i][d] += 0.05 * extent * random_unit();
            for (int c = 1; c < 4; c++) L[c] = 1.2 * random_unit();
            L[0] = 1 - L[1] - L[2] - L[3];
            abut_tet_point(order, (const double(*)[3])X, L, s, NULL);
            const double said = abut_tet_invert(order, (const double(*)[3])X, s, back);
            abut_tet_point(order, (const double(*)[3])X, back, x, NULL);
            for (int d = 0; d < 3; d++) left += (x[d] - s[d]) * (x[d] - s[d]);
            CHECK_NEAR(said, sqrt(left), 1e-12);
            found += said <= 1e-10 * extent;
        }
        CHECK(found >= 300 * share[order]);
        abut_mesh_clear(&m);
    }
}

/* The triangles of a proxy as a mesh. */
static abut_mesh surface_of(const abut_proxy *p, double scale)
{
    abut_mesh s = { 0 };
    for (int32_t v = 0; v < p->nv; v++) {
        const double *x = p->X + 3 * (size_t)v, y[3] = { scale * x[0], scale * x[1], scale * x[2] };
        CHECK(!abut_mesh_add_vertex(&s, y, NULL));
    }
    for (int32_t f = 0; f < p->nf; f++) CHECK(!abut_mesh_add_tri(&s, p->tri[3 * f], p->tri[3 * f + 1], p->tri[3 * f + 2], NULL));
    return s;
}

TEST(t13_the_boundary_embedded_has_the_rows_that_it_was_made_with)
{
    for (int order = 1; order <= ABUT_ORDER_MAX; order++) {
        abut_mesh m = bent(order, order % 2);
        abut_proxy a, b;
        abut_embedding facts;
        abut_err err = { 0 };
        CHECK(!abut_proxy_upsample(&m, own, 3, &a, NULL));
        abut_mesh s = surface_of(&a, 1);
        CHECK(!abut_proxy_embed(&m, &s, 0, &b, &facts, &err));
        CHECK(facts.outside == 0 && facts.extrapolation < 1e-9 && !b.offset);
        check_rows(&b, &m);
        double worst = 0;
        for (int32_t v = 0; v < a.nv; v++) {
            /* entries by point; those that are 0 up to rounding may be there or not */
            for (int32_t i = a.first[v]; i < a.first[v + 1]; i++) {
                double other = 0;
                for (int32_t k = b.first[v]; k < b.first[v + 1]; k++) other += b.point[k] == a.point[i] ? b.weight[k] : 0;
                worst = fmax(worst, fabs(other - a.weight[i]));
            }
        }
        CHECK(worst < 1e-10);
        abut_proxy_clear(&a), abut_proxy_clear(&b);
        abut_mesh_clear(&s), abut_mesh_clear(&m);
    }
}

TEST(a_surface_outside_of_the_tets_is_extrapolated_as_far_as_is_allowed)
{
    for (int order = 1; order <= 3; order++) {
        abut_mesh m = bent(order, 1);
        abut_proxy a, b;
        abut_embedding facts;
        abut_err err = { 0 };
        CHECK(!abut_proxy_upsample(&m, own, 2, &a, NULL));
        abut_mesh s = surface_of(&a, 1.04);
        CHECK(abut_proxy_embed(&m, &s, 0.001, &b, &facts, &err) == ABUT_E_GEOM && strstr(err.msg, "max-extrapolation"));
        CHECK(!abut_proxy_embed(&m, &s, 0.3, &b, &facts, &err));
        CHECK(facts.outside > b.nv / 3 && facts.extrapolation > 0.001 && facts.extrapolation < 0.3);
        check_rows(&b, &m);
        abut_proxy_clear(&b);
        abut_mesh_clear(&s);
        s = surface_of(&a, 30);
        CHECK(abut_proxy_embed(&m, &s, 0.3, &b, &facts, &err) == ABUT_E_GEOM);
        abut_proxy_clear(&a);
        abut_mesh_clear(&s), abut_mesh_clear(&m);
    }
}

TEST(a_rest_shape_of_higher_order_has_its_vertices_by_an_offset)
{
    abut_mesh fine = bent(4, 1), m = { 0 };
    double *rest = malloc(3 * 35 * (size_t)fine.nt * sizeof *rest);
    for (int32_t t = 0; t < fine.nt; t++) {
        double X[ABUT_TET_NODES_MAX][3];
        abut_mesh_tet_places(&fine, t, X);
        memcpy(rest + 3 * 35 * (size_t)t, X, 3 * 35 * sizeof *rest);
    }
    const abut_rest_shape shape = { 4, rest };
    CHECK(!abut_mesh_append(&m, &fine, NULL));
    CHECK(!abut_mesh_set_order(&m, 2, NULL));
    abut_proxy a, b;
    abut_chord chord, of_mesh;
    CHECK(!abut_proxy_upsample(&fine, own, 4, &a, NULL));
    CHECK(!abut_proxy_upsample(&m, shape, 4, &b, NULL));
    CHECK(a.nv == b.nv && !a.offset && b.offset);
    for (int32_t i = 0; i < 3 * a.nv; i++) CHECK_NEAR(a.X[i], b.X[i], 1e-14);
    check_rows(&b, &m);
    CHECK(!abut_proxy_chord(&m, shape, 4, &chord, NULL) && !abut_proxy_chord(&fine, own, 4, &of_mesh, NULL));
    CHECK_NEAR(chord.measured, of_mesh.measured, 1e-15);
    CHECK_NEAR(chord.bound, of_mesh.bound, 1e-15);
    free(rest);
    abut_proxy_clear(&a), abut_proxy_clear(&b);
    abut_mesh_clear(&m), abut_mesh_clear(&fine);
}

TEST(a_side_from_limb_to_limb_is_refused)
{
    abut_mesh m = { 0 };
    const double size[3] = { 4, 0.2, 0.2 };
    const int32_t cells[3] = { 40, 2, 2 };
    CHECK(!abut_generate_box(size, cells, &m, NULL));
    double lo[3], hi[3];
    abut_mesh_bounds(&m, lo, hi);
    for (int32_t i = 0; i < m.nv; i++) {       /* a ring that does not close: its ends are near each other */
        double *x = m.x + 3 * (size_t)i;
        const double angle = 6.0 * (x[0] - lo[0]) / (hi[0] - lo[0]), r = 1 + x[2];
        x[0] = r * sin(angle), x[2] = r * cos(angle);
    }
    abut_proxy a, b;
    abut_embedding facts;
    abut_err err = { 0 };
    CHECK(!abut_proxy_upsample(&m, own, 1, &a, NULL));
    abut_mesh s = surface_of(&a, 1);
    CHECK(!abut_proxy_embed(&m, &s, 0, &b, &facts, &err));
    abut_proxy_clear(&b);
    int32_t one = 0, other = 0;                  /* a triangle from one end to the other */
    for (int32_t v = 0; v < s.nv; v++) {
        const double *x = s.x + 3 * (size_t)v;
        if (atan2(x[0], x[2]) > 0 && atan2(x[0], x[2]) < 0.05) one = v;
        if (atan2(x[0], x[2]) < 0 && atan2(x[0], x[2]) > -0.32) other = v;
    }
    CHECK(!abut_mesh_add_tri(&s, one, other, s.tri[0] == one ? s.tri[1] : s.tri[0], NULL));
    CHECK(abut_proxy_embed(&m, &s, 0, &b, &facts, &err) == ABUT_E_GEOM && strstr(err.msg, "far apart"));
    abut_proxy_clear(&a);
    abut_mesh_clear(&s), abut_mesh_clear(&m);
}

/* Forces on vertices as forces on points. */
static void back(const abut_proxy *p, const double *f, double *g, int32_t nv)
{
    memset(g, 0, 3 * (size_t)nv * sizeof *g);
    for (int32_t v = 0; v < p->nv; v++)
        for (int32_t k = p->first[v]; k < p->first[v + 1]; k++)
            for (size_t d = 0; d < 3; d++) g[3 * (size_t)p->point[k] + d] += p->weight[k] * f[3 * (size_t)v + d];
}

static void totals(const double *x, const double *f, int32_t n, double force[3], double torque[3])
{
    for (int d = 0; d < 3; d++) force[d] = torque[d] = 0;
    for (int32_t i = 0; i < n; i++, x += 3, f += 3)
        for (int d = 0; d < 3; d++) {
            const int a = (d + 1) % 3, b = (d + 2) % 3;
            force[d] += f[d];
            torque[d] += x[a] * f[b] - x[b] * f[a];
        }
}

TEST(t10_t16_forces_on_vertices_keep_their_sum_and_torque_on_points_and_the_plane_that_they_are_in)
{
    for (int order = 1; order <= ABUT_ORDER_MAX; order++) {
        abut_mesh m = bent(order, 1);
        abut_proxy p;
        CHECK(!abut_proxy_upsample(&m, own, 5, &p, NULL));
        double *f = malloc(3 * (size_t)p.nv * sizeof *f), *g = malloc(3 * (size_t)m.nv * sizeof *g);
        double force[2][3], torque[2][3], size = 0;
        for (int32_t i = 0; i < 3 * p.nv; i++) size += fabs(f[i] = random_unit());
        back(&p, f, g, m.nv);
        totals(p.X, f, p.nv, force[0], torque[0]);
        totals(m.x, g, m.nv, force[1], torque[1]);
        for (int d = 0; d < 3; d++) {
            CHECK_NEAR(force[0][d], force[1][d], 1e-12 * size);
            CHECK_NEAR(torque[0][d], torque[1][d], 1e-12 * size);
        }
        /* Ferguson et al. 2023, Figure 7: forces along a plane */
        for (int32_t v = 0; v < p.nv; v++) f[3 * v + 1] = 0.5 * f[3 * v];
        back(&p, f, g, m.nv);
        for (int32_t i = 0; i < m.nv; i++) CHECK_NEAR(g[3 * i + 1], 0.5 * g[3 * i], 1e-14 * (1 + fabs(g[3 * i])));
        free(f), free(g);
        abut_proxy_clear(&p);
        abut_mesh_clear(&m);
    }
}

TEST(the_smallest_altitude_is_that_of_a_known_surface)
{
    abut_mesh m = { 0 };
    abut_proxy p;
    double longest;
    const double size[3] = { 1, 1, 1 };
    const int32_t cells[3] = { 1, 1, 1 };
    CHECK(!abut_generate_box(size, cells, &m, NULL));
    CHECK(!abut_proxy_upsample(&m, own, 4, &p, NULL));
    CHECK_NEAR(abut_proxy_altitude(&p), 0.25 * sqrt(0.5), 1e-12);
    CHECK(!abut_proxy_longest_side(&m, &longest, NULL));
    CHECK_NEAR(longest, sqrt(2), 1e-12);
    abut_proxy_clear(&p);
    abut_mesh_clear(&m);
}
