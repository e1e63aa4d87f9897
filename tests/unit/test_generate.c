/* Generators and surface extraction. */
#include "check.h"

#include "base/rng.h"
#include "mesher/generate.h"
#include "model/surface.h"

static double volume(const abut_mesh *m, int32_t t)
{
    const double *p[4];
    for (int k = 0; k < 4; k++) p[k] = m->x + 3 * m->tet[4 * t + k];
    double e[3][3];
    for (int k = 0; k < 3; k++)
        for (int d = 0; d < 3; d++) e[k][d] = p[k + 1][d] - p[0][d];
    return (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
            e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) / 6;
}

/* Sum of the volumes; every one positive and none smaller than `flat` times the largest. */
static double volume_sum(const abut_mesh *m, double flat)
{
    double sum = 0, least = INFINITY, most = 0;
    for (int32_t t = 0; t < m->nt; t++) {
        const double v = volume(m, t);
        sum += v;
        least = fmin(least, v), most = fmax(most, v);
    }
    CHECK(least > flat * most);
    return sum;
}

/* Volume enclosed by outward triangles: sum of the tets to the origin (divergence theorem). */
static double enclosed(const abut_mesh *m, const int32_t *tri, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++) {
        const double *a = m->x + 3 * tri[3 * i], *b = m->x + 3 * tri[3 * i + 1], *c = m->x + 3 * tri[3 * i + 2];
        sum += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
    }
    return sum / 6;
}

TEST(a_mat_has_the_counts_of_the_literature)
{
    for (int32_t N = 3; N <= 40; N += 37) {
        abut_mesh m = { 0 };
        abut_err err = { 0 };
        int32_t *tri = NULL, n = 0;
        CHECK(!abut_generate_box((double[3]){ 1, 0.008, 1 }, (int32_t[3]){ N - 1, 1, N - 1 }, &m, &err));
        CHECK(m.nv == 2 * N * N && m.nt == 6 * (N - 1) * (N - 1));
        CHECK(!abut_surface_triangles(m.tet, m.nt, m.nv, &tri, &n, &err));
        CHECK(n == 4 * (N - 1) * (N - 1) + 8 * (N - 1));
        CHECK_NEAR(volume_sum(&m, 0.999), 0.008, 1e-15);
        CHECK_NEAR(enclosed(&m, tri, n), 0.008, 1e-15);
        double lo[3], hi[3];
        abut_mesh_bounds(&m, lo, hi);
        CHECK(lo[0] == -0.5 && hi[0] == 0.5 && lo[1] == -0.004 && hi[1] == 0.004);
        free(tri);
        abut_mesh_clear(&m);
    }
}

TEST(a_ball_fills_its_sphere_without_flat_tets)
{
    double off[2];
    for (int k = 0; k < 2; k++) {
        abut_mesh m = { 0 };
        abut_err err = { 0 };
        int32_t *tri = NULL, n = 0;
        CHECK(!abut_generate_sphere(2, k ? 16 : 8, &m, &err));
        CHECK(!abut_surface_triangles(m.tet, m.nt, m.nv, &tri, &n, &err));
        for (int32_t i = 0; i < 3 * n; i++) {
            const double *p = m.x + 3 * tri[i];
            CHECK_NEAR(p[0] * p[0] + p[1] * p[1] + p[2] * p[2], 4, 1e-14);
        }
        const double exact = 4.0 / 3 * 3.14159265358979 * 8, got = volume_sum(&m, 0.05);
        off[k] = 1 - got / exact;
        CHECK(off[k] > 0);
        CHECK_NEAR(enclosed(&m, tri, n), got, 1e-12);
        free(tri);
        abut_mesh_clear(&m);
    }
    CHECK(off[1] < 0.3 * off[0]);       /* second order in the cell size */
}

TEST(a_cylinder_fills_its_volume)
{
    abut_mesh m = { 0 };
    abut_err err = { 0 };
    CHECK(!abut_generate_cylinder(0.5, 3, 24, 7, &m, &err));
    CHECK(m.nv == 25 * 25 * 8 && m.nt == 6 * 24 * 24 * 7);
    CHECK_NEAR(volume_sum(&m, 0.05), 3.14159265358979 * 0.25 * 3, 0.01);
    abut_mesh_clear(&m);
}

TEST(a_cloth_has_its_area_and_normals_up)
{
    abut_mesh m = { 0 };
    abut_err err = { 0 };
    CHECK(!abut_generate_cloth((double[2]){ 2, 3 }, (int32_t[2]){ 4, 5 }, &m, &err));
    CHECK(m.nv == 30 && m.nf == 40);
    double area = 0;
    for (int32_t i = 0; i < m.nf; i++) {
        const double *a = m.x + 3 * m.tri[3 * i], *b = m.x + 3 * m.tri[3 * i + 1], *c = m.x + 3 * m.tri[3 * i + 2];
        const double up = ((b[2] - a[2]) * (c[0] - a[0]) - (b[0] - a[0]) * (c[2] - a[2])) / 2;
        CHECK(up > 0);
        area += up;
    }
    CHECK_NEAR(area, 6, 1e-14);
    abut_mesh_clear(&m);
}

TEST(rods_and_particles_are_where_they_should_be)
{
    abut_mesh m = { 0 };
    abut_err err = { 0 };
    CHECK(!abut_generate_rod(2, 4, &m, &err));
    CHECK(m.nv == 5 && m.ns == 4 && m.x[0] == -1 && m.x[12] == 1 && m.seg[6] == 3 && m.seg[7] == 4);
    abut_mesh_clear(&m);
    CHECK(!abut_generate_particles((double[3]){ 1, 0, 4 }, (int32_t[3]){ 2, 1, 3 }, &m, &err));
    CHECK(m.nv == 6 && m.np == 6 && m.x[0] == -0.5 && m.x[1] == 0 && m.x[2] == -2 && m.x[17] == 2);
    abut_mesh_clear(&m);
}

TEST(sizes_and_counts_out_of_range_are_refused)
{
    abut_mesh m = { 0 };
    abut_err err = { 0 };
    CHECK(abut_generate_box((double[3]){ 1, 0, 1 }, (int32_t[3]){ 1, 1, 1 }, &m, &err) == ABUT_E_ARG);
    CHECK(abut_generate_box((double[3]){ 1, 1, 1 }, (int32_t[3]){ 1, 0, 1 }, &m, &err) == ABUT_E_ARG);
    CHECK(abut_generate_box((double[3]){ 1, 1, 1 }, (int32_t[3]){ 4000, 4000, 4000 }, &m, &err) == ABUT_E_ARG);
    CHECK(abut_generate_sphere(1, 7, &m, &err) == ABUT_E_ARG && strstr(err.msg, "expected an even number"));
    CHECK(abut_generate_rod(NAN, 3, &m, &err) == ABUT_E_ARG);
    CHECK(!m.x && !m.nv);
}

static int row_compare(const void *a, const void *b)
{
    return memcmp(a, b, 3 * sizeof(int32_t));
}

static int edge_compare(const void *a, const void *b)
{
    const int32_t *p = a, *q = b;
    return p[0] != q[0] ? (p[0] > q[0]) - (p[0] < q[0]) : (p[1] > q[1]) - (p[1] < q[1]);
}

static void sort3(const int32_t *t, int32_t *s)
{
    memcpy(s, t, 12);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++)
            if (s[k] > s[k + 1]) { const int32_t x = s[k]; s[k] = s[k + 1]; s[k + 1] = x; }
}

TEST(the_boundary_equals_a_count_of_all_faces)
{
    abut_mesh m = { 0 };
    abut_err err = { 0 };
    abut_rng rng = { 3 };
    CHECK(!abut_generate_box((double[3]){ 1, 1, 1 }, (int32_t[3]){ 4, 3, 5 }, &m, &err));
    int32_t kept = 0;                   /* a random subset of the tets: holes and pinches */
    for (int32_t t = 0; t < m.nt; t++)
        if (abut_rng_below(&rng, 3)) memmove(m.tet + 4 * kept++, m.tet + 4 * t, 16);
    m.nt = kept;
    int32_t *tri = NULL, n = 0, want = 0;
    CHECK(!abut_surface_triangles(m.tet, m.nt, m.nv, &tri, &n, &err));
    int32_t (*all)[3] = malloc((size_t)m.nt * 4 * sizeof *all);
    for (int32_t t = 0; t < m.nt; t++)
        for (int k = 0; k < 4; k++) {
            const int32_t f[3] = { m.tet[4 * t + (k + 1) % 4], m.tet[4 * t + (k + 2) % 4], m.tet[4 * t + (k + 3) % 4] };
            sort3(f, all[4 * t + k]);
        }
    qsort(all, (size_t)m.nt * 4, sizeof *all, row_compare);
    for (int32_t i = 0; i < 4 * m.nt; i++)
        want += (i == 0 || row_compare(all[i], all[i - 1])) && (i == 4 * m.nt - 1 || row_compare(all[i], all[i + 1]));
    CHECK(n == want);
    for (int32_t i = 0; i < n; i++) {   /* each one occurs exactly once among all faces */
        int32_t f[3], count = 0;
        sort3(tri + 3 * i, f);
        for (int32_t k = 0; k < 4 * m.nt; k++) count += !row_compare(f, all[k]);
        CHECK(count == 1);
    }
    double sum = 0;
    for (int32_t t = 0; t < m.nt; t++) sum += volume(&m, t);
    CHECK_NEAR(enclosed(&m, tri, n), sum, 1e-14);   /* outward, all of them */

    int32_t *edge = NULL, ne = 0, seg[4] = { 7, 2, 2, 7 };
    CHECK(!abut_surface_edges(tri, n, seg, 2, m.nv, &edge, &ne, &err));
    int32_t (*list)[2] = malloc(((size_t)n * 3 + 2) * sizeof *list);
    int32_t k = 0, unique = 0;
    for (int32_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++, k++) {
            const int32_t a = tri[3 * i + c], b = tri[3 * i + (c + 1) % 3];
            list[k][0] = a < b ? a : b, list[k][1] = a < b ? b : a;
        }
    for (int c = 0; c < 2; c++, k++) list[k][0] = 2, list[k][1] = 7;
    qsort(list, (size_t)k, sizeof *list, edge_compare);
    for (int32_t i = 0; i < k; i++)
        if (i == 0 || edge_compare(list[i], list[i - 1])) {
            CHECK(unique < ne && !edge_compare(list[i], edge + 2 * unique));
            unique++;
        }
    CHECK(unique == ne);
    free(all), free(list), free(tri), free(edge);
    abut_mesh_clear(&m);
}

TEST(faces_of_three_tets_and_tets_on_one_side_are_named)
{
    const int32_t three[12] = { 0, 1, 2, 3, 0, 2, 1, 4, 0, 1, 2, 5 }, side[8] = { 0, 1, 2, 3, 0, 1, 2, 4 };
    int32_t *tri = NULL, n = 0;
    abut_err err = { 0 };
    CHECK(abut_surface_triangles(three, 3, 6, &tri, &n, &err) == ABUT_E_GEOM && strstr(err.msg, "face 0 1 2"));
    CHECK(abut_surface_triangles(side, 2, 5, &tri, &n, &err) == ABUT_E_GEOM && strstr(err.msg, "tets 0 and 1"));
    CHECK(!tri);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    RUN(a_mat_has_the_counts_of_the_literature);
    RUN(a_ball_fills_its_sphere_without_flat_tets);
    RUN(a_cylinder_fills_its_volume);
    RUN(a_cloth_has_its_area_and_normals_up);
    RUN(rods_and_particles_are_where_they_should_be);
    RUN(sizes_and_counts_out_of_range_are_refused);
    RUN(the_boundary_equals_a_count_of_all_faces);
    RUN(faces_of_three_tets_and_tets_on_one_side_are_named);
    return check_done();
}
