/* Meshes of tets of order 1 to 4: numbering, shapes, surfaces put onto what they stand for. */
#include "base/rng.h"
#include "check.h"
#include "geom/jacobian.h"
#include "geom/quadrature.h"
#include "mesh/generate/generate.h"
#include "mesh/surface.h"
#include "mesh/tet_nodes.h"

#define PI 3.14159265358979323846

static const double (*places(const abut_mesh *m, int32_t t, double X[ABUT_TET_NODES_MAX][3]))[3]
{
    abut_mesh_tet_places(m, t, X);
    return (const double(*)[3])X;
}

static double volume_of(const abut_mesh *m)
{
    abut_quadrature q = { 0 };
    double sum = 0;
    CHECK(!abut_quadrature_tet(3 * (abut_mesh_order(m) - 1), &q, NULL));
    for (int32_t t = 0; t < m->nt; t++) {
        double X[ABUT_TET_NODES_MAX][3], J[9];
        for (int i = 0; i < q.n; i++)
            sum += q.w[i] / 6 * abut_tet_point(abut_mesh_order(m), places(m, t, X), q.L + 4 * i, NULL, J);
    }
    abut_quadrature_clear(&q);
    return sum;
}

/* Least det J over mean det J of a tet of that order, at samples; *volume grows by that of the tet. */
static double ratio_of(int order, const double X[][3], const abut_quadrature *q, double *volume)
{
    enum { N = 12 };
    double J[9], mean = 0, least = INFINITY;
    for (int i = 0; i < q->n; i++) mean += q->w[i] * abut_tet_point(order, X, q->L + 4 * i, NULL, J);
    for (int i = 0; i <= N; i++)
        for (int j = 0; i + j <= N; j++)
            for (int k = 0; i + j + k <= N; k++) {
                const double L[4] = { (double)i / N, (double)j / N, (double)k / N, (double)(N - i - j - k) / N };
                least = fmin(least, abut_tet_point(order, X, L, NULL, J));
            }
    *volume += mean / 6;
    CHECK(abut_jacobian_least(order, X, NULL) <= least * (1 + 1e-12));
    return least / mean;
}

static double least_ratio(const abut_mesh *m)
{
    abut_quadrature q = { 0 };
    double least = INFINITY, volume = 0;
    const int order = abut_mesh_order(m);
    CHECK(!abut_quadrature_tet(3 * (order - 1), &q, NULL));
    for (int32_t t = 0; t < m->nt; t++) {
        double X[ABUT_TET_NODES_MAX][3];
        least = fmin(least, ratio_of(order, places(m, t, X), &q, &volume));
    }
    abut_quadrature_clear(&q);
    return least;
}

/* Every two nodes at one place are one node, and no node is at two: all pairs, by where they lie in a straight mesh. */
static void compare_by_place(const abut_mesh *m)
{
    const int order = abut_mesh_order(m);
    for (int32_t a = 0; a < m->nv; a++)
        for (int32_t b = 0; b < a; b++) {
            double d = 0;
            for (int k = 0; k < 3; k++) d += fabs(m->x[3 * a + k] - m->x[3 * b + k]);
            CHECK(d > 1e-6);
        }
    for (int32_t t = 0; t < m->nt; t++) {
        int32_t node[ABUT_TET_NODES_MAX];
        const int n = abut_mesh_tet_nodes(m, t, node);
        CHECK(n == abut_tet_nodes(order));
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 3; k++) {
                double x = 0;
                for (int c = 0; c < 4; c++) x += abut_tet_lattice(order)[i][c] * m->x[3 * node[c] + k] / order;
                CHECK_NEAR(m->x[3 * node[i] + k], x, 1e-14);
            }
    }
}

TEST(a_raised_mesh_has_the_nodes_that_all_pairs_of_places_give)
{
    const int32_t cells[3] = { 2, 1, 2 }, count[5] = { 0, 18, 75, 196, 405 };      /* (a k + 1)(b k + 1)(c k + 1) */
    for (int order = 1; order <= 4; order++) {
        abut_mesh m = { 0 };
        CHECK(!abut_generate_box((const double[3]){ 1, 0.7, 1.3 }, cells, &m, NULL));
        CHECK(!abut_mesh_set_order(&m, order, NULL) && abut_mesh_order(&m) == order && m.nv == count[order]);
        compare_by_place(&m);
        CHECK(!abut_mesh_conforming(&m, NULL) && !abut_mesh_check(&m, NULL));
        CHECK_NEAR(volume_of(&m), 0.91, 1e-14);
        abut_mesh_clear(&m);
    }
}

TEST(new_nodes_follow_all_points_those_of_edges_then_faces_then_insides_by_their_keys)
{
    abut_mesh m = { 0 };
    CHECK(!abut_generate_box((const double[3]){ 1, 1, 1 }, (const int32_t[3]){ 2, 2, 1 }, &m, NULL));
    const int32_t corners = m.nv;
    CHECK(!abut_mesh_set_order(&m, 4, NULL));
    abut_node_key *key = calloc((size_t)m.nv, sizeof *key);
    for (int32_t t = 0; t < m.nt; t++) {
        int32_t node[ABUT_TET_NODES_MAX];
        const int n = abut_mesh_tet_nodes(&m, t, node);
        for (int i = 0; i < n; i++) key[node[i]] = abut_node_key_of(node, abut_tet_lattice(4)[i]);
    }
    for (int32_t i = 1; i < m.nv; i++) CHECK(abut_node_key_compare(&key[i - 1], &key[i]) < 0);
    CHECK(abut_node_key_size(&key[corners - 1]) == 1 && abut_node_key_size(&key[corners]) == 2);
    CHECK(abut_node_key_size(&key[m.nv - 1]) == 4);
    free(key);
    abut_mesh_clear(&m);
}

static void permute(int k, int32_t v[4])
{
    int32_t left[4] = { v[0], v[1], v[2], v[3] };
    for (int n = 4, div = 6; n > 0; n--) {
        const int i = k / div;
        k %= div;
        v[4 - n] = left[i];
        for (int j = i; j < n - 1; j++) left[j] = left[j + 1];
        if (n > 1) div /= n - 1 > 0 ? n - 1 : 1;
    }
}

TEST(t4_two_tets_share_the_nodes_of_their_face_in_every_order_of_their_corners)
{
    static const double x[5][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { 1, 1, 1 } };
    for (int order = 2; order <= 4; order++) {
        const int32_t face = abut_triangle_nodes(order), want = 2 * abut_tet_nodes(order) - face;
        for (int p = 0; p < 24; p++)
            for (int q = 0; q < 24; q++) {
                abut_mesh m = { 0 };
                int32_t a[4] = { 0, 1, 2, 3 }, b[4] = { 4, 3, 2, 1 };
                permute(p, a), permute(q, b);
                for (int i = 0; i < 5; i++) CHECK(!abut_mesh_add_vertex(&m, x[i], NULL));
                CHECK(!abut_mesh_add_tet(&m, a[0], a[1], a[2], a[3], NULL));
                CHECK(!abut_mesh_add_tet(&m, b[0], b[1], b[2], b[3], NULL));
                CHECK(!abut_mesh_set_order(&m, order, NULL) && m.nv == want && !abut_mesh_conforming(&m, NULL));
                if (p + q == 0) compare_by_place(&m);
                abut_mesh_clear(&m);
            }
    }
}

static abut_mesh ball_of(int cells, int order, abut_curved *c)
{
    abut_mesh m = { 0 };
    abut_snap s = { .kind = ABUT_SNAP_SPHERE, .radius = 1 };
    abut_err err = { 0 };
    CHECK(!abut_generate_sphere(1, cells, &m, NULL));
    CHECK(!abut_mesh_curve(&m, &s, order, c, &err));
    return m;
}

TEST(a_lowered_mesh_interpolates_the_shape_and_leaves_out_the_nodes_that_nobody_names)
{
    abut_curved c;
    for (int order = 2; order <= 4; order++)
        for (int low = 1; low < order; low++) {
            abut_mesh m = ball_of(2, order, &c), straight = { 0 };
            const abut_mesh was = m;
            CHECK(!abut_generate_sphere(1, 2, &straight, NULL) && !abut_mesh_set_order(&straight, low, NULL));
            double X[ABUT_TET_NODES_MAX][3], Y[ABUT_TET_NODES_MAX][3], x[3], L[4];
            abut_mesh_tet_places(&was, 5, X);
            CHECK(!abut_mesh_set_order(&m, low, NULL) && abut_mesh_order(&m) == low && m.nv == straight.nv);
            CHECK(!abut_mesh_conforming(&m, NULL) && !abut_mesh_check(&m, NULL));
            abut_mesh_tet_places(&m, 5, Y);
            for (int i = 0; i < abut_tet_nodes(low); i++) {
                for (int k = 0; k < 4; k++) L[k] = (double)abut_tet_lattice(low)[i][k] / low;
                abut_tet_point(order, (const double(*)[3])X, L, x, NULL);
                for (int k = 0; k < 3; k++) CHECK_NEAR(Y[i][k], x[k], 1e-14);
            }
            /* up again it is the same polynomial: the volume of the lower order */
            const double low_volume = volume_of(&m);
            CHECK(!abut_mesh_set_order(&m, 4, NULL));
            CHECK_NEAR(volume_of(&m), low_volume, 1e-13);
            abut_mesh_clear(&m);
            abut_mesh_clear(&straight);
        }
}

TEST(meshes_of_two_orders_do_not_join_and_mirrored_ones_stay_positive)
{
    abut_curved c;
    abut_err err = { 0 };
    abut_mesh a = ball_of(2, 3, &c), b = ball_of(2, 2, &c), all = { 0 };
    CHECK(abut_mesh_append(&a, &b, &err) == ABUT_E_FORMAT && strstr(err.msg, "tets of order 2 after others of order 3"));
    CHECK(!abut_mesh_append(&all, &a, NULL) && !abut_mesh_append(&all, &a, NULL) && all.nv == 2 * a.nv && all.nt == 2 * a.nt);
    CHECK(!abut_mesh_conforming(&all, NULL));
    CHECK_NEAR(volume_of(&all), 2 * volume_of(&a), 1e-13);
    const double mirror[9] = { 0, 1, 0, 1, 0, 0, 0, 0, 2 }, shift[3] = { 1, 2, 3 };
    const double before = volume_of(&a);
    abut_mesh_transform(&a, mirror, shift);
    CHECK_NEAR(volume_of(&a), 2 * before, 1e-13);
    CHECK(least_ratio(&a) > 0.7 && !abut_mesh_conforming(&a, NULL));
    a.more[3] = a.more[4];
    CHECK(abut_mesh_conforming(&a, &err) == ABUT_E_FORMAT && strstr(err.msg, "at two places"));
    abut_mesh_clear(&a), abut_mesh_clear(&b), abut_mesh_clear(&all);
}

/* ---- the ball: volumes and radii of an independent computation ---- */

/* Tets from the middle over a triangulated unit sphere; a node with L0 at the middle lies at 1 - L0 times the direction of the
 * weighted sum of its other corners. */
static abut_mesh star(int level, int order)
{
    abut_mesh m = { 0 };
    CHECK(!abut_generate_star(1, level + 1, &m, NULL));
    CHECK(!abut_mesh_set_order(&m, order, NULL));
    for (int32_t t = 0; t < m.nt; t++) {
        int32_t node[ABUT_TET_NODES_MAX];
        const int n = abut_mesh_tet_nodes(&m, t, node);
        for (int i = 4; i < n; i++) {
            const signed char *a = abut_tet_lattice(order)[i];
            double p[3] = { 0 }, size = 0;
            for (int c = 1; c < 4; c++)
                for (int k = 0; k < 3; k++) p[k] += a[c] * m.x[3 * node[c] + k];
            for (int k = 0; k < 3; k++) size += p[k] * p[k];
            for (int k = 0; k < 3; k++) m.x[3 * node[i] + k] = (1 - (double)a[0] / order) * p[k] / sqrt(size);
        }
    }
    return m;
}

/* At the lattice points of 20 segments of each face, as the reference has it: the largest of all points is up to 4 % larger. */
static double radius_error(const abut_mesh *m)
{
    enum { N = 20 };
    double most = 0;
    for (int32_t t = 0; t < m->nt; t++) {
        double X[ABUT_TET_NODES_MAX][3];
        for (int i = 0; i <= N; i++)
            for (int j = 0; i + j <= N; j++) {
                const double L[4] = { 0, (double)i / N, (double)j / N, (double)(N - i - j) / N };
                double x[3];
                abut_tet_point(abut_mesh_order(m), places(m, t, X), L, x, NULL);
                most = fmax(most, fabs(sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) - 1));
            }
    }
    return most;
}

/* a is b to the n digits that b has in a table; one that was rounded twice may be off by a twentieth more than half a digit. */
#define CHECK_DIGITS(a, b, n) CHECK_NEAR(a, b, 0.551 * pow(10, floor(log10(fabs(b))) - (n) + 1))

TEST(t8_a_ball_over_an_icosahedron_has_the_volumes_and_radii_of_the_reference)
{
    static const struct {
        int order, level, nodes;
        double volume, radius;
    } row[] = { { 1, 0, 13, 1.65, 0.205 },      { 2, 0, 55, 0.126, 0.0192 },     { 3, 0, 147, 0.0384, 0.0102 },
                { 4, 0, 309, 7.10e-3, 1.64e-3 }, { 1, 1, 43, 0.530, 0.0657 },     { 2, 1, 205, 9.26e-3, 1.72e-3 },
                { 3, 1, 567, 3.29e-3, 1.01e-3 }, { 4, 1, 1209, 1.39e-4, 4.31e-5 } };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        abut_mesh m = star(row[i].level, row[i].order);
        CHECK(m.nv == row[i].nodes && m.nt == (row[i].level ? 80 : 20));
        CHECK_DIGITS(fabs(volume_of(&m) - 4 * PI / 3), row[i].volume, 3);
        CHECK_DIGITS(radius_error(&m), row[i].radius, 3);
        CHECK(least_ratio(&m) > 0);
        abut_mesh_clear(&m);
    }
}

/* p with |p|_2 = r |q|_inf over the marked axes -> q, the lattice that it was rounded off from; and back. */
static void square(double *p, const int radial[3], double r)
{
    double big = 0, norm2 = 0;
    for (int k = 0; k < 3; k++)
        if (radial[k]) big = fmax(big, fabs(p[k])), norm2 += p[k] * p[k];
    for (int k = 0; k < 3; k++)
        if (radial[k] && big > 0) p[k] *= sqrt(norm2) / (big * r);
}

static void round_off(double *p, const int radial[3], double r)
{
    double big = 0, norm2 = 0;
    for (int k = 0; k < 3; k++)
        if (radial[k]) big = fmax(big, fabs(p[k])), norm2 += p[k] * p[k];
    for (int k = 0; k < 3; k++)
        if (radial[k]) p[k] *= norm2 > 0 ? r * big / sqrt(norm2) : 0;
}

/* The generator's own map at all nodes of the lattice, by the corners that it has. */
static void map_directly(abut_mesh *m, const int radial[3], int order)
{
    for (int32_t i = 0; i < m->nv; i++) square(m->x + 3 * i, radial, 1);
    CHECK(!abut_mesh_set_order(m, order, NULL));
    for (int32_t i = 0; i < m->nv; i++) round_off(m->x + 3 * i, radial, 1);
}

TEST(the_maps_of_ball_and_cylinder_at_the_nodes_of_their_lattice_have_the_volumes_of_the_reference)
{
    static const struct {
        int order, cells;
        double ball, ball_least, cylinder, cylinder_least;
    } row[] = { { 1, 2, -2.2e-1, 1, -1.0e-1, 1 },         { 1, 4, -6.8e-2, 1, -2.8e-2, 1 },
                { 2, 2, -1.3e-2, 0.44, -4.1e-3, 0.65 },   { 2, 4, -9.0e-4, 0.34, -2.3e-4, 0.58 },
                { 3, 2, -1.0e-3, 0.29, 1.3e-4, 0.52 },    { 3, 4, 6.6e-5, 0.29, 4.2e-5, 0.52 },
                { 4, 2, 1.5e-4, 0.33, 1.0e-4, 0.55 },     { 4, 4, 4.4e-6, 0.33, 1.3e-6, 0.55 } };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        abut_mesh ball = { 0 }, tube = { 0 };
        const int n = row[i].cells;
        CHECK(!abut_generate_sphere(1, n, &ball, NULL) && !abut_generate_cylinder(1, 2, n, n, &tube, NULL));
        map_directly(&ball, (const int[3]){ 1, 1, 1 }, row[i].order);
        map_directly(&tube, (const int[3]){ 1, 0, 1 }, row[i].order);
        CHECK_DIGITS(volume_of(&ball) / (4 * PI / 3) - 1, row[i].ball, 2);
        CHECK_DIGITS(volume_of(&tube) / (2 * PI) - 1, row[i].cylinder, 2);
        CHECK_DIGITS(least_ratio(&ball), row[i].ball_least, row[i].order == 1 ? 9 : 2);
        CHECK_DIGITS(least_ratio(&tube), row[i].cylinder_least, row[i].order == 1 ? 9 : 2);
        abut_mesh_clear(&ball), abut_mesh_clear(&tube);
    }
}

/* A place of the lattice of a torus, from unwrapped coordinates of its lattice. */
static void torus_place(const double u[3], int around, int across, double *x)
{
    double p[3] = { 0, (2 * u[1] - across) / across, (2 * u[2] - across) / across };
    const double turn = 2 * PI * u[0] / around;
    round_off(p, (const int[3]){ 0, 1, 1 }, 0.3);
    x[0] = (1 + p[1]) * cos(turn), x[1] = p[2], x[2] = (1 + p[1]) * sin(turn);
}

/* Volume and least ratio of the map of a torus of radii 1 and 0.3 with 4 n cells around, tet by tet. */
static double torus_volume(int n, int order, double *least)
{
    const int around = 4 * n;
    abut_mesh m = { 0 };
    abut_quadrature q = { 0 };
    double volume = 0;
    CHECK(!abut_generate_torus(1, 0.3, around, n, &m, NULL) && m.nt == 6 * around * n * n);
    CHECK(!abut_quadrature_tet(3 * (order - 1), &q, NULL));
    *least = INFINITY;
    for (int32_t t = 0; t < m.nt; t++) {
        double u[4][3], X[ABUT_TET_NODES_MAX][3];
        int first = 0, last = 0;
        for (int c = 0; c < 4; c++) first |= m.tet[4 * t + c] % around == 0, last |= m.tet[4 * t + c] % around == around - 1;
        for (int c = 0; c < 4; c++) {
            const int v = m.tet[4 * t + c], i = v % around;
            u[c][0] = first && last && i == 0 ? around : i;
            u[c][1] = v / around % (n + 1), u[c][2] = v / around / (n + 1);
        }
        for (int i = 0; i < abut_tet_nodes(order); i++) {
            double at[3] = { 0 };
            for (int c = 0; c < 4; c++)
                for (int k = 0; k < 3; k++) at[k] += abut_tet_lattice(order)[i][c] * u[c][k] / order;
            torus_place(at, around, n, X[i]);
        }
        *least = fmin(*least, ratio_of(order, (const double(*)[3])X, &q, &volume));
    }
    abut_quadrature_clear(&q);
    abut_mesh_clear(&m);
    return volume;
}

TEST(the_map_of_a_torus_has_the_volumes_of_the_reference)
{
    static const struct { int order, n; double volume, least; } row[] = {
        { 1, 2, -1.9e-1, 1 },    { 2, 2, -5.9e-3, 0.53 }, { 3, 2, 3.6e-4, 0.44 }, { 4, 2, 1.2e-4, 0.48 },
        { 1, 4, -5.3e-2, 1 },    { 2, 4, -3.6e-4, 0.54 }, { 3, 4, 6.1e-5, 0.48 }, { 4, 4, 1.7e-6, 0.52 } };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        double least;
        const double volume = torus_volume(row[i].n, row[i].order, &least);
        CHECK_DIGITS(volume / (2 * PI * PI * 0.09) - 1, row[i].volume, 2);
        CHECK_DIGITS(least, row[i].least, row[i].order == 1 ? 9 : 2);
    }
}

TEST(cylinders_and_tori_put_onto_their_shapes_converge_to_their_volumes)
{
    static const double most[5][2] = { { 0 }, { 0.11, 0.15 }, { 9e-4, 3.5e-3 }, { 1.2e-3, 1.5e-3 }, { 2e-5, 9e-5 } };
    for (int order = 1; order <= 4; order++) {
        abut_mesh m = { 0 };
        abut_curved c;
        abut_snap s = { .kind = ABUT_SNAP_CYLINDER, .radius = 1, .size = 2 };
        CHECK(!abut_generate_cylinder(1, 2, 2, 2, &m, NULL) && !abut_mesh_curve(&m, &s, order, &c, NULL));
        const double cylinder = fabs(volume_of(&m) / (2 * PI) - 1);
        CHECK(cylinder < most[order][0] && c.least > 0.4);
        for (int32_t i = 0; i < m.nv; i++) CHECK(fabs(m.x[3 * i + 1]) <= 1 && hypot(m.x[3 * i], m.x[3 * i + 2]) < 1 + 1e-12);
        abut_mesh_clear(&m);
        s = (abut_snap){ .kind = ABUT_SNAP_TORUS, .radius = 1, .size = 0.3 };
        CHECK(!abut_generate_torus(1, 0.3, 12, 2, &m, NULL) && !abut_mesh_curve(&m, &s, order, &c, NULL));
        const double torus = fabs(volume_of(&m) / (2 * PI * PI * 0.09) - 1);
        CHECK(torus < most[order][1] && c.least > 0.3);
        abut_mesh_clear(&m);
    }
}

TEST(a_coarse_ball_goes_onto_a_fine_surface_of_triangles_and_stops_where_that_is_a_crease)
{
    abut_mesh fine = { 0 }, m = { 0 };
    abut_snap s = { .kind = ABUT_SNAP_MESH };
    abut_curved c;
    CHECK(!abut_generate_icosphere(1, 24, &fine, NULL));
    s.mesh = fine;
    CHECK(!abut_snap_begin(&s, NULL));
    for (int order = 1; order <= 4; order++) {
        CHECK(!abut_generate_sphere(0.97, 3, &m, NULL) && !abut_mesh_curve(&m, &s, order, &c, NULL));
        CHECK(c.corners == 56 && c.held == 0 && c.eased == 0);          /* 4^3 points, 2^3 of them inside */
        CHECK(order == 1 || fabs(volume_of(&m) / (4 * PI / 3) - 1) < 5e-3);
        CHECK(c.gap < (order == 1 ? 0.2 : 0.01));
        abut_mesh_clear(&m);
    }
    abut_snap_clear(&s);
}

TEST(where_a_shape_would_turn_a_tet_over_its_surface_moves_less_and_every_tet_is_proven)
{
    /* one tet in its sphere: at its edges two faces of it would lie in one plane */
    static const double x[4][3] = { { 1, 1, 1 }, { -1, 1, -1 }, { 1, -1, -1 }, { -1, -1, 1 } };
    for (int order = 2; order <= 4; order++) {
        abut_mesh m = { 0 };
        abut_snap s = { .kind = ABUT_SNAP_SPHERE, .radius = order == 4 ? 0.5 : 1.5 };
        abut_curved c;
        for (int i = 0; i < 4; i++) CHECK(!abut_mesh_add_vertex(&m, x[i], NULL));
        CHECK(!abut_mesh_add_tet(&m, 0, 1, 2, 3, NULL));
        CHECK(!abut_mesh_curve(&m, &s, order, &c, NULL));
        CHECK(c.eased == (order > 2) && c.first == (order > 2 ? 0 : -1) && c.corners == 4 && (c.held > 0) == (order == 4));
        CHECK(c.least > 0);
        CHECK(c.gap > 0.1);
        for (int32_t t = 0; t < m.nt; t++) {
            double X[ABUT_TET_NODES_MAX][3];
            CHECK(abut_jacobian_check(order, places(&m, t, X), NULL) == ABUT_JACOBIAN_POSITIVE);
        }
        CHECK(!abut_mesh_conforming(&m, NULL));
        abut_mesh_clear(&m);
    }
}

TEST(the_nearest_of_all_triangles_is_that_of_the_tree_and_inside_is_inside)
{
    abut_mesh m = { 0 };
    abut_triangle_tree *t = NULL;
    abut_rng rng = { 7 };
    CHECK(!abut_generate_icosphere(1, 6, &m, NULL) && !abut_triangle_tree_new(&t, m.x, m.tri, m.nf, NULL));
    for (int i = 0; i < 400; i++) {
        double at[3];
        for (int k = 0; k < 3; k++) at[k] = abut_rng_real(&rng, -1.5, 1.5);
        const abut_vec3 p = abut_v3_get(at), up = abut_v3(0, 1, 0);
        abut_vec3 y, z;
        double best = INFINITY;
        for (int32_t k = 0; k < m.nf; k++) {
            abut_triangle_tree *one = NULL;
            CHECK(!abut_triangle_tree_new(&one, m.x, m.tri + 3 * k, 1, NULL));
            if (abut_triangle_nearest(one, p, &up, 1, 0.5, INFINITY, &z) >= 0)
                best = fmin(best, abut_v3_norm(abut_v3_sub(z, p)));
            abut_triangle_tree_free(&one);
        }
        CHECK(abut_triangle_nearest(t, p, &up, 1, 0.5, INFINITY, &y) >= 0);
        CHECK_NEAR(abut_v3_norm(abut_v3_sub(y, p)), best, 1e-14);
        CHECK(abut_triangle_nearest(t, p, &up, 1, 0.5, best * 0.999, &y) == -1);
        if (fabs(abut_v3_norm(p) - 0.98) > 0.05) CHECK(abut_triangles_inside(t, p) == (abut_v3_norm(p) < 0.98));
    }
    abut_triangle_tree_free(&t);
    abut_mesh_clear(&m);
}

TEST(a_ball_put_onto_its_sphere_is_better_than_its_map_and_no_tet_gives_way)
{
    static const struct {
        int order, cells;
        double least, volume;
    } row[] = { { 2, 2, 0.79, 6.4e-3 }, { 3, 2, 0.78, 2.8e-3 }, { 4, 2, 0.74, 1.7e-4 },
                { 2, 4, 0.85, 5.8e-4 }, { 3, 4, 0.84, 2.6e-4 }, { 4, 4, 0.84, 5.2e-6 } };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        abut_curved c;
        abut_mesh m = ball_of(row[i].cells, row[i].order, &c);
        CHECK(c.eased == 0 && c.corners == 0 && c.first == -1);
        CHECK_DIGITS(c.least, row[i].least, 2);
        CHECK_DIGITS(least_ratio(&m), row[i].least, 2);
        CHECK_DIGITS(fabs(volume_of(&m) / (4 * PI / 3) - 1), row[i].volume, 2);
        CHECK(c.gap > 0 && c.gap < 0.02);
        abut_mesh_clear(&m);
    }
}
