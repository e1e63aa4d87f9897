/* Generators and surface extraction. */
#include "check.h"

#include "base/rng.h"
#include "mesh/generate/generate.h"
#include "mesh/surface.h"

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
        CHECK(!abut_surface_triangles(m.tet, m.nt, &tri, &n, &err));
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

/* An edge of two triangles that run along it opposite ways, all around; and every point that a triangle has is the tip of
 * one fan, so the surface is a manifold.  Returns the Euler characteristic V - E + F. */
static int euler_of_manifold(const int32_t *tri, int32_t n, int32_t nv)
{
    int32_t *next = calloc((size_t)nv, sizeof *next), used = 0;
    int32_t *fan = calloc(3 * (size_t)n, sizeof *fan), *start = calloc((size_t)nv + 1, sizeof *start);
    for (int32_t i = 0; i < 3 * n; i++) start[tri[i] + 1]++;
    for (int32_t v = 0; v < nv; v++) used += start[v + 1] > 0, start[v + 1] += start[v];
    for (int32_t i = 0; i < 3 * n; i++) fan[start[tri[i]] + next[tri[i]]++] = i;
    for (int32_t v = 0; v < nv; v++) {
        const int32_t lo = start[v], hi = start[v + 1];
        int32_t at = lo, met = 0;               /* walk from the triangle v, a, b to the one v, b, c */
        if (lo == hi) continue;
        do {
            const int32_t i = fan[at], b = tri[i - i % 3 + (i + 2) % 3];
            int32_t found = 0;
            for (int32_t k = lo; k < hi; k++)
                if (tri[fan[k] - fan[k] % 3 + (fan[k] + 1) % 3] == b) at = k, found++;
            CHECK(found == 1);
            if (found != 1) break;
            met++;
        } while (at != lo && met <= hi - lo);
        CHECK(met == hi - lo);
    }
    free(next), free(fan), free(start);
    return used - 3 * n / 2 + n;
}

/* The boundary of the tets: its Euler characteristic; it encloses the volume of the tets. */
static int euler_of_boundary(const abut_mesh *m, double flat)
{
    int32_t *tri = NULL, n = 0;
    abut_err err = { 0 };
    CHECK(!abut_surface_triangles(m->tet, m->nt, &tri, &n, &err));
    const int euler = euler_of_manifold(tri, n, m->nv);
    const double sum = volume_sum(m, flat);
    CHECK_NEAR(enclosed(m, tri, n), sum, 1e-12 * sum);
    free(tri);
    return euler;
}

TEST(a_ball_fills_its_sphere_without_flat_tets)
{
    double off[4];
    const int32_t cells[4] = { 8, 16, 11, 22 };
    for (int k = 0; k < 4; k++) {
        abut_mesh m = { 0 };
        abut_err err = { 0 };
        int32_t *tri = NULL, n = 0;
        CHECK(!abut_generate_sphere(2, cells[k], &m, &err));
        CHECK(m.nv == (cells[k] + 1) * (cells[k] + 1) * (cells[k] + 1) && m.nt == 6 * cells[k] * cells[k] * cells[k]);
        CHECK(!abut_surface_triangles(m.tet, m.nt, &tri, &n, &err));
        for (int32_t i = 0; i < 3 * n; i++) {
            const double *p = m.x + 3 * tri[i];
            CHECK_NEAR(p[0] * p[0] + p[1] * p[1] + p[2] * p[2], 4, 1e-14);
        }
        const double exact = 4.0 / 3 * 3.14159265358979 * 8, got = volume_sum(&m, 0.05);
        off[k] = 1 - got / exact;
        CHECK(off[k] > 0);
        CHECK(euler_of_boundary(&m, 0.05) == 2);
        free(tri);
        abut_mesh_clear(&m);
    }
    CHECK(off[1] < 0.3 * off[0]);       /* second order in the cell size */
    CHECK(off[3] < 0.3 * off[2]);
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

TEST(a_torus_closes_on_itself_with_the_counts_of_the_literature)
{
    const double pi = 3.14159265358979;
    double off[2];
    for (int k = 0; k < 2; k++) {
        abut_mesh m = { 0 };
        abut_err err = { 0 };
        CHECK(!abut_generate_torus(0.4, 0.1, k ? 80 : 20, k ? 8 : 2, &m, &err));
        if (!k) CHECK(m.nv == 180 && m.nt == 480);
        CHECK(euler_of_boundary(&m, 0.03) == 0);
        off[k] = 1 - volume_sum(&m, 0.03) / (2 * pi * pi * 0.4 * 0.01);
        for (int32_t i = 0; i < m.nv; i++) {
            const double out = hypot(m.x[3 * i], m.x[3 * i + 2]) - 0.4;
            CHECK(hypot(out, m.x[3 * i + 1]) <= 0.1 + 1e-15);
        }
        abut_mesh_clear(&m);
    }
    CHECK(off[0] > 0 && off[1] > 0 && off[1] < 0.1 * off[0]);
}

/* Volume that the surface encloses with the discs across its two ends, whose triangles meet the axis in a point. */
static double enclosed_with_ends(const abut_mesh *m, int32_t around)
{
    double v = enclosed(m, m->tri, m->nf);
    for (int end = 0; end < 2; end++)
        for (int32_t i = 0; i < around; i++) {
            const int32_t first = end ? m->nv - around : 0, p = first + i, q = first + (i + 1) % around;
            const double *a = m->x + 3 * (end ? p : q), *b = m->x + 3 * (end ? q : p), h = m->x[3 * first + 1];
            v += h * (a[2] * b[0] - a[0] * b[2]) / 6;       /* (a x b) . (0, h, 0) */
        }
    return v;
}

TEST(a_revolution_is_a_tube_or_a_closed_surface)
{
    const double pi = 3.14159265358979;
    const double tube[4] = { 0.5, -1, 0.5, 2 }, cone[6] = { 0, -1, 1, -1, 0, 1 }, reversed[4] = { 0.5, 2, 0.5, -1 };
    abut_mesh m = { 0 };
    abut_err err = { 0 };
    CHECK(!abut_generate_revolution(tube, 2, 12, 5, &m, &err));
    CHECK(m.nv == 12 * 6 && m.nf == 2 * 12 * 5 && !m.nt);
    const double section = 0.5 * 12 * sin(2 * pi / 12) * 0.25;
    CHECK_NEAR(enclosed_with_ends(&m, 12), 3 * section, 1e-14);
    abut_mesh_clear(&m);
    CHECK(!abut_generate_revolution(reversed, 2, 7, 1, &m, &err));
    CHECK(enclosed(&m, m.tri, m.nf) < 0);
    abut_mesh_clear(&m);
    for (int32_t along = 1; along < 4; along++) {
        CHECK(!abut_generate_revolution(cone, 3, 9, along, &m, &err));
        CHECK(m.nv == 2 + 9 * (2 * along - 1) && m.nf == 9 * 2 * (2 * along - 1));
        CHECK(euler_of_manifold(m.tri, m.nf, m.nv) == 2);
        CHECK_NEAR(enclosed(&m, m.tri, m.nf), 0.5 * 9 * sin(2 * pi / 9) * 2 / 3, 1e-14);
        abut_mesh_clear(&m);
    }
}

TEST(a_blob_has_the_volume_of_its_shape_and_a_closed_surface)
{
    const double pi = 3.14159265358979, r = 0.3, length = 1.1;
    const abut_capsule c = { { -0.4, 0.1, 0 }, { 0.7, 0.1, 0 }, r };
    const double exact = pi * r * r * length + 4.0 / 3 * pi * r * r * r;
    for (int snap = 0; snap < 2; snap++) {
        double off[2];
        for (int k = 0; k < 2; k++) {
            abut_mesh m = { 0 };
            abut_err err = { 0 };
            CHECK(!abut_generate_blob(&c, 1, 0, k ? 0.04 : 0.08, snap, &m, &err));
            CHECK(euler_of_boundary(&m, 0.05) == 2);
            off[k] = fabs(volume_sum(&m, 0.05) / exact - 1);
            abut_mesh_clear(&m);
        }
        CHECK(off[0] < 0.12 && off[1] < (snap ? 0.015 : 0.12));
        if (snap) CHECK(off[1] < 0.4 * off[0]);         /* second order; the steps alone are of first order at best */
    }
}

TEST(blobs_at_random_are_manifolds_without_inverted_elements)
{
    abut_rng rng = { 11 };
    int mended = 0, made = 0;
    for (int run = 0; run < check_runs(60, 2000); run++) {
        abut_capsule c[6];
        for (int i = 0; i < 6; i++) {
            for (int k = 0; k < 3; k++) c[i].a[k] = i ? c[i - 1].b[k] : 0, c[i].b[k] = abut_rng_real(&rng, -0.5, 0.5);
            c[i].radius = abut_rng_real(&rng, 0.05, 0.15);
        }
        abut_mesh m = { 0 };
        abut_err err = { 0 };
        const int snap = run & 1;
        const abut_status rc = abut_generate_blob(c, 6, run % 3 ? 0.03 : 0, 0.07, snap, &m, &err);
        if (rc) {
            CHECK(rc == ABUT_E_ARG && strstr(err.msg, "pieces") && !m.nv);
            continue;
        }
        made++;
        CHECK(euler_of_boundary(&m, 0.02) <= 2);
        for (int32_t t = 0; t < m.nt; t++) CHECK(volume(&m, t) >= 0.149 * 0.07 * 0.07 * 0.07 / 6);
        if (!snap) {
            CHECK(m.nt % 6 == 0);
            for (int32_t t = 0; t < m.nt; t += 6) { /* was this cell filled to mend the surface?  its centre is outside */
                double least = INFINITY, p[3] = { 0 };
                const int32_t a = m.tet[4 * t];
                for (int k = 0; k < 3; k++) p[k] = m.x[3 * a + k] + 0.035;
                for (int i = 0; i < 6; i++) {
                    double along = 0, length2 = 0, d2 = 0;
                    for (int k = 0; k < 3; k++) {
                        along += (p[k] - c[i].a[k]) * (c[i].b[k] - c[i].a[k]);
                        length2 += (c[i].b[k] - c[i].a[k]) * (c[i].b[k] - c[i].a[k]);
                    }
                    const double s = fmin(fmax(along / length2, 0), 1);
                    for (int k = 0; k < 3; k++) d2 += pow(p[k] - c[i].a[k] - s * (c[i].b[k] - c[i].a[k]), 2);
                    least = fmin(least, sqrt(d2) - c[i].radius);
                }
                mended += !(run % 3) && least >= 0;
            }
        }
        abut_mesh_clear(&m);
    }
    CHECK(made > 30 && mended > 0);
}

TEST(a_ball_with_tendrils_is_one_piece_without_handles)
{
    abut_mesh m = { 0 };
    abut_err err = { 0 };
    CHECK(!abut_generate_tendrils(0.02, 0.02, 0.006, 40, 0.003, &m, &err));
    CHECK(euler_of_boundary(&m, 0.02) == 2);
    double far = 0;
    for (int32_t i = 0; i < m.nv; i++)
        far = fmax(far, sqrt(m.x[3 * i] * m.x[3 * i] + m.x[3 * i + 1] * m.x[3 * i + 1] + m.x[3 * i + 2] * m.x[3 * i + 2]));
    CHECK_NEAR(far, 0.04, 0.0015);      /* half a cell: where a tet forbids the rest of the way */
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
    CHECK(abut_generate_sphere(1, 0, &m, &err) == ABUT_E_ARG);
    CHECK(abut_generate_torus(1, 1, 9, 2, &m, &err) == ABUT_E_ARG && strstr(err.msg, "expected less than the radius"));
    CHECK(abut_generate_torus(1, 0.5, 2, 2, &m, &err) == ABUT_E_ARG && strstr(err.msg, "expected 3 or more"));
    CHECK(abut_generate_revolution((double[6]){ 1, 0, 0, 1, 1, 2 }, 3, 9, 1, &m, &err) == ABUT_E_ARG);
    CHECK(strstr(err.msg, "point 1 of the profile has radius 0 m"));
    CHECK(abut_generate_revolution((double[2]){ 1, 0 }, 1, 9, 1, &m, &err) == ABUT_E_ARG);
    enum { POINTS = 3000 };
    double profile[2 * POINTS];
    for (int i = 0; i < POINTS; i++) profile[2 * i] = 1, profile[2 * i + 1] = i;
    CHECK(abut_generate_revolution(profile, POINTS, 1000, 4000, &m, &err) == ABUT_E_ARG);
    CHECK(strstr(err.msg, "revolution: 1.1996001e+10 points: expected at most 2e+07"));
    abut_hair hair = { .count = 1000000, .cells = 1000000, .radius = 1, .offset = 0.1, .length = 1 };
    CHECK(abut_generate_hair(&hair, &m, &err) == ABUT_E_ARG && strstr(err.msg, "hair: 1.000001e+12 points: expected at most"));
    CHECK(abut_generate_blob(NULL, 0, 0, 1, 0, &m, &err) == ABUT_E_ARG && strstr(err.msg, "no capsules"));
    const abut_capsule two[2] = { { { 0, 0, 0 }, { 0, 0, 0 }, 1 }, { { 5, 0, 0 }, { 5, 0, 0 }, 1 } };
    CHECK(abut_generate_blob(two, 2, 0, 0.2, 0, &m, &err) == ABUT_E_ARG && strstr(err.msg, "2 pieces"));
    CHECK(abut_generate_blob(two, 1, 0, 1e-9, 0, &m, &err) == ABUT_E_ARG && strstr(err.msg, "expected larger ones"));
    CHECK(abut_generate_blob(two, 1, 0, 10, 0, &m, &err) == ABUT_E_ARG && strstr(err.msg, "expected smaller ones"));
    const abut_capsule far = { { 1e12, 0, 0 }, { 1e12, 0, 0 }, 1 };
    CHECK(abut_generate_blob(&far, 1, 0, 0.2, 0, &m, &err) == ABUT_E_ARG);
    CHECK(strstr(err.msg, "expected less than 1000000000 cells from the origin"));
    CHECK(abut_generate_tendrils(1, 1, 0, 9, 0.1, &m, &err) == ABUT_E_ARG);
    CHECK(abut_generate_tendrils(1, 1, 2.1, 9, 0.1, &m, &err) == ABUT_E_ARG);
    CHECK(strstr(err.msg, "thickness 2.1 m: expected at most the diameter of the ball, 2 m"));
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
    CHECK(!abut_surface_triangles(m.tet, m.nt, &tri, &n, &err));
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
    CHECK(!abut_surface_edges(tri, n, seg, 2, &edge, &ne, &err));
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
    CHECK(abut_surface_triangles(three, 3, &tri, &n, &err) == ABUT_E_GEOM && strstr(err.msg, "face 0 1 2"));
    CHECK(abut_surface_triangles(side, 2, &tri, &n, &err) == ABUT_E_GEOM && strstr(err.msg, "tets 0 and 1"));
    CHECK(!tri);
}

/* x, y of corner i of block k: bit 0 along the arch, bit 1 outward, bit 2 along z */
static const double *corner(const abut_mesh *m, int32_t k, int i)
{
    return m->x + 3 * (8 * (size_t)k + (size_t)i);
}

TEST(an_arch_is_cut_across_a_weighted_catenary_in_equal_lengths)
{
    enum { N = 25 };
    const double span = 60, height = 60, gap = 0.01, thick[2] = { 10, 7 };
    abut_mesh m = { 0 };
    abut_err err = { 0 };
    CHECK(!abut_generate_arch(span, height, thick, 10, N, gap, &m, &err));
    CHECK(m.nv == 8 * N && m.nt == 6 * N);
    CHECK(euler_of_boundary(&m, 0.1) == 2 * N);
    double length = 0;
    for (int32_t k = 0; k < N; k++) {
        double mid[2][2], across[2];
        for (int e = 0; e < 2; e++) {
            const double *in = corner(&m, k, e), *out = corner(&m, k, 2 + e);
            for (int d = 0; d < 2; d++) mid[e][d] = 0.5 * (in[d] + out[d]);
            across[e] = hypot(out[0] - in[0], out[1] - in[1]);
        }
        length = fmax(length, hypot(mid[1][0] - mid[0][0], mid[1][1] - mid[0][1]));
        for (int i = 0; i < 8; i++) {   /* mirror images, left and right */
            const double *p = corner(&m, k, i), *q = corner(&m, N - 1 - k, i ^ 1);
            for (int d = 0; d < 3; d++) CHECK_NEAR(p[d], d ? q[d] : -q[d], 1e-12);
        }
        if (k == N - 1) break;
        /* the next block stands `gap` away along the normal of the face; the upper one is thinner, and in the middle */
        const double *p = corner(&m, k, 1), *q = corner(&m, k, 3), *r = corner(&m, k + 1, 0);
        const double n[2] = { (q[1] - p[1]) / across[1], -(q[0] - p[0]) / across[1] }, r0 = r[0] - p[0], r1 = r[1] - p[1];
        const double *u = corner(&m, k + 1, 2), next = hypot(u[0] - r[0], u[1] - r[1]);
        CHECK_NEAR(r0 * n[0] + r1 * n[1], gap, 1e-12);
        CHECK_NEAR(r1 * n[0] - r0 * n[1], 0.5 * (across[1] - next), 1e-12);
        CHECK(k < N / 2 ? next < across[1] : next > across[1]);
        CHECK_NEAR(across[0], across[1], 1e-12);
        /* the middle of the cut lies on the curve, the cut is normal to it, its thickness linear in y; the differential
         * equation of the weighted catenary, y'' = -k^2 (b + height - y), says so without the formula of the generator */
        const double x = mid[1][0] + 0.5 * gap * n[0], y = mid[1][1] + 0.5 * gap * n[1];
        const double ratio = 100. / 49, c = log(ratio + sqrt(ratio * ratio - 1)), b = height / (ratio - 1);
        const double want = height + b - b * 0.5 * (exp(2 * c * x / span) + exp(-2 * c * x / span)), f = c / 30;
        CHECK_NEAR(y, want, 1e-11);
        CHECK_NEAR(n[1] / n[0], -copysign(f * sqrt((b + height - y) * (b + height - y) - b * b), x), 1e-6);
        CHECK_NEAR(fmin(across[1], next), 7 + 3 * (1 - y / height), 1e-11);
    }
    CHECK_NEAR(length, 5.61, 0.01);     /* chords: 25 of them, the straight ones as long as the arcs */
    abut_mesh_clear(&m);

    CHECK(!abut_generate_arch(2, 1, (double[2]){ 0.1, 0.1 }, 1, 2, 0, &m, &err));      /* a parabola, cut at its crown */
    CHECK_NEAR(0.5 * (corner(&m, 0, 1)[1] + corner(&m, 0, 3)[1]), 1, 1e-14);
    CHECK_NEAR(corner(&m, 0, 2)[0] - corner(&m, 0, 0)[0], -0.1 * 2 / sqrt(5), 1e-14);   /* slope 2 at the feet */
    abut_mesh_clear(&m);
    abut_mesh_clear(&m);
    CHECK(!abut_generate_arch(2, 1, (double[2]){ 0.1, 0.1 }, 1, 12, 0, &m, &err) && m.nv == 96);
    for (int32_t i = 0; i < m.nv; i++) {        /* along y = 1 - x^2, half a thickness from it; the joints of blocks are chords */
        const double x = m.x[3 * i], y = m.x[3 * i + 1];
        CHECK_NEAR(fabs(y - (1 - x * x)) / sqrt(1 + 4 * x * x), 0.05, 5e-3);
    }
    abut_mesh_clear(&m);
    CHECK(abut_generate_arch(2, 1, (double[2]){ 0.1, 0.2 }, 1, 2, 0, &m, &err) == ABUT_E_ARG && !m.nv);
    CHECK(abut_generate_arch(2, 1, (double[2]){ 0.1, 0.1 }, 1, 0, 0, &m, &err) == ABUT_E_ARG);
    CHECK(abut_generate_arch(2, 1, (double[2]){ 0.1, 0.1 }, 1, 2, -1, &m, &err) == ABUT_E_ARG);
    CHECK(abut_generate_arch(2, 0, (double[2]){ 0.1, 0.1 }, 1, 2, 0, &m, &err) == ABUT_E_ARG);
}

/* ---- sheets, strands, grains ---- */

static double tri_area(const abut_mesh *m, int32_t t, double n[3])
{
    const double *p = m->x + 3 * m->tri[3 * t], *q = m->x + 3 * m->tri[3 * t + 1], *r = m->x + 3 * m->tri[3 * t + 2];
    const double a[3] = { q[0] - p[0], q[1] - p[1], q[2] - p[2] }, b[3] = { r[0] - p[0], r[1] - p[1], r[2] - p[2] };
    for (int k = 0; k < 3; k++) n[k] = 0.5 * (a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3]);
    return sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
}

TEST(sheets_cover_their_rectangle_once_with_normals_up)
{
    for (int layout = 0; layout < 2; layout++)
        for (int jitter = 0; jitter < 2; jitter++) {
            abut_sheet s = { { 1.3, 0.9 }, { 0 }, layout, 0.3 * jitter, 7 };
            abut_mesh m = { 0 };
            abut_err err = { 0 };
            double area = 0, n[3], least = INFINITY, most = 0;
            abut_sheet_cells(s.size, 0.1, layout, s.cells);
            CHECK(s.cells[0] == 13 && s.cells[1] == (layout ? 10 : 9));
            CHECK(!abut_generate_sheet(&s, &m, &err));
            CHECK(m.nv == (layout ? 11 * 14 + 5 : 14 * 10) && m.nf == (layout ? 10 * 27 : 2 * 13 * 9));
            for (int32_t t = 0; t < m.nf; t++) {
                const double a = tri_area(&m, t, n);
                CHECK(n[1] > 0 && n[0] == 0 && n[2] == 0);
                area += a, least = fmin(least, a), most = fmax(most, a);
            }
            CHECK_NEAR(area, 1.3 * 0.9, 1e-13);
            CHECK(least > (jitter ? 0.05 : 0.49) * most);
            abut_mesh_clear(&m);
        }
}

/* Largest and smallest ratio of an edge to its place in the pattern, over all edges of all triangles. */
static void edge_ratios(const abut_mesh *m, double *least, double *most)
{
    *least = INFINITY, *most = 0;
    for (int32_t i = 0; i < 3 * m->nf; i++) {
        const int32_t j = i - i % 3 + (i + 1) % 3;
        const double *p = m->x + 3 * m->tri[i], *q = m->x + 3 * m->tri[j], *u = m->uv + 2 * i, *v = m->uv + 2 * j;
        const double ratio = hypot(hypot(p[0] - q[0], p[1] - q[1]), p[2] - q[2]) / hypot(u[0] - v[0], u[1] - v[1]);
        *least = fmin(*least, ratio), *most = fmax(*most, ratio);
    }
}

TEST(a_tube_is_rolled_from_its_pattern_without_strain)
{
    for (int layout = 0; layout < 2; layout++) {
        abut_mesh m = { 0 };
        abut_err err = { 0 };
        double least, most, n[3];
        CHECK(!abut_generate_tube(0.5, 1.1, (int32_t[2]){ 9, 5 }, layout, &m, &err));
        CHECK(m.nv == 9 * 6 && m.nf == 2 * 9 * 5);
        edge_ratios(&m, &least, &most);
        CHECK_NEAR(least, 1, 1e-14);
        CHECK_NEAR(most, 1, 1e-14);
        for (int32_t t = 0; t < m.nf; t++) {
            const double *p = m.x + 3 * m.tri[3 * t];
            tri_area(&m, t, n);
            CHECK(n[0] * p[0] + n[2] * p[2] > 0);
        }
        abut_mesh_clear(&m);
    }
}

TEST(bent_sheets_are_no_longer_than_their_pattern_and_apart)
{
    for (int kind = 0; kind < 3; kind++) {
        abut_mesh m = { 0 };
        abut_err err = { 0 };
        double least, most;
        const double curve[8] = { 0, 0, 0.3, 0, 0.6, 0.4, 1.6, 0.4 };
        CHECK(!abut_generate_sheet(&(abut_sheet){ .size = { 1, 0.2 }, .cells = { 60, 8 }, .layout = 1 }, &m, &err));
        if (kind == 0) CHECK(!abut_sheet_roll(&m, 0.05, 0.01, &err));
        if (kind == 1) CHECK(!abut_sheet_fold(&m, 0.2, 0.04, &err));
        if (kind == 2) CHECK(!abut_sheet_follow(&m, curve, 4, &err));
        edge_ratios(&m, &least, &most);
        CHECK(most <= 1 + 1e-12 && least > 0.85);
        abut_mesh_clear(&m);
    }
    abut_mesh m = { 0 };
    abut_err err = { 0 };
    /* legs of 0.2 m that lie close on each other: five of them and four turns are a metre */
    CHECK(!abut_generate_sheet(&(abut_sheet){ .size = { 1, 0.2 }, .cells = { 100, 2 } }, &m, &err));
    CHECK(!abut_sheet_fold(&m, 0.2, 0.004, &err));
    double lo[3], hi[3];
    abut_mesh_bounds(&m, lo, hi);
    for (int d = 0; d < 2; d++) hi[d] -= lo[d];
    CHECK(hi[0] > 0.2 && hi[0] <= 0.204 + 1e-12);
    CHECK_NEAR(hi[1], 4 * 0.004, 1e-12);
    abut_mesh_clear(&m);
    CHECK(!abut_generate_sheet(&(abut_sheet){ .size = { 1, 0.2 }, .cells = { 6, 2 } }, &m, &err));
    CHECK(abut_sheet_follow(&m, (const double[4]){ 0, 0, 0.5, 0 }, 2, &err) == ABUT_E_ARG && m.nv == 0);
    CHECK(strstr(err.msg, "curve: 0.5 m long, the sheet 1 m") != NULL);
}

TEST(an_icosphere_is_a_closed_manifold_on_its_sphere)
{
    for (int32_t d = 1; d <= 7; d += 2) {
        abut_mesh m = { 0 };
        abut_err err = { 0 };
        double n[3];
        CHECK(!abut_generate_icosphere(0.3, d, &m, &err));
        CHECK(m.nv == 10 * d * d + 2 && m.nf == 20 * d * d);
        CHECK(euler_of_manifold(m.tri, m.nf, m.nv) == 2);
        for (int32_t i = 0; i < m.nv; i++) CHECK_NEAR(hypot(hypot(m.x[3 * i], m.x[3 * i + 1]), m.x[3 * i + 2]), 0.3, 1e-15);
        for (int32_t t = 0; t < m.nf; t++) {
            const double *p = m.x + 3 * m.tri[3 * t];
            tri_area(&m, t, n);
            CHECK(n[0] * p[0] + n[1] * p[1] + n[2] * p[2] > 0);
        }
        abut_mesh_clear(&m);
    }
}

TEST(strands_nets_and_sprinkles_stand_where_they_should)
{
    abut_mesh m = { 0 };
    abut_err err = { 0 };
    CHECK(!abut_generate_strands((int32_t[2]){ 3, 2 }, 0.1, 0.5, 4, 0.01, 3, &m, &err));
    CHECK(m.nv == 30 && m.ns == 24);
    for (int32_t s = 0; s < 6; s++) {           /* straight, leaning by no more than asked */
        const double *a = m.x + 15 * s, *b = a + 12, *c = a + 6;
        CHECK_NEAR(a[0], 0.1 * (s % 3 - 1), 1e-15);
        CHECK(fabs(b[0] - a[0]) <= 0.01 && fabs(b[2] - a[2]) <= 0.01 && b[0] != a[0]);
        for (int k = 0; k < 3; k++) CHECK_NEAR(c[k], 0.5 * (a[k] + b[k]), 1e-15);
    }
    abut_mesh_clear(&m);
    CHECK(!abut_generate_net((int32_t[2]){ 4, 3 }, 0.1, 0.02, 4, &m, &err));
    CHECK(m.nv == 4 * 13 + 3 * 17 && m.ns == 4 * 12 + 3 * 16);
    for (int32_t k = 0; k < 3; k++)             /* at the crossings: above and below in turn */
        for (int32_t i = 0; i < 4; i++) {
            const double *p = m.x + 3 * (4 * 13 + 17 * k + 2 + 4 * i);
            CHECK_NEAR(p[0], 0.1 * (i - 1.5), 1e-15);
            CHECK_NEAR(p[1], (i + k) % 2 ? -0.02 : 0.02, 1e-15);
        }
    abut_mesh_clear(&m);
    CHECK(abut_generate_net((int32_t[2]){ 4, 3 }, 0.1, 0.02, 1, &m, &err) == ABUT_E_ARG && m.nv == 0);
    CHECK(!abut_generate_sprinkles((int32_t[3]){ 2, 3, 4 }, (double[3]){ 1, 2, 3 }, 0.6, 0.5, 9, &m, &err));
    CHECK(m.nv == 48 && m.ns == 24);
    for (int32_t s = 0; s < 24; s++) {
        const double *a = m.x + 6 * s, *b = a + 3;
        const double d[3] = { b[0] - a[0], b[1] - a[1], b[2] - a[2] };
        CHECK_NEAR(hypot(hypot(d[0], d[1]), d[2]), 0.6, 1e-15);
        CHECK(d[1] >= 0.6 * cos(0.5) - 1e-15);
        CHECK_NEAR(0.5 * (a[0] + b[0]), s % 2 - 0.5, 1e-15);
    }
    abut_mesh_clear(&m);
    double sum[2] = { 0 }, apart = 0;           /* they lean to all sides alike: 4000 of them, six standard deviations */
    CHECK(!abut_generate_sprinkles((int32_t[3]){ 20, 10, 20 }, (double[3]){ 1, 1, 1 }, 0.6, 0.5, 9, &m, &err));
    for (int32_t s = 0; s < 4000; s++) {
        const double *a = m.x + 6 * s, x = a[3] - a[0], z = a[5] - a[2];
        sum[0] += x / hypot(x, z), sum[1] += z / hypot(x, z);
        apart += hypot(x, z) > 0.6 * sin(0.25);
    }
    CHECK(hypot(sum[0], sum[1]) < 6 * sqrt(4000 / 2.) && fabs(apart - 2000) < 6 * sqrt(4000 / 4.));
    abut_mesh_clear(&m);
    CHECK(abut_generate_strands((int32_t[2]){ 3, 0 }, 0.1, 0.5, 4, 0, 3, &m, &err) == ABUT_E_ARG && m.nv == 0);
    CHECK(strstr(err.msg, "strands: 0: expected 1 to") != NULL);
    CHECK(!abut_generate_bowl(0.5, 1.5707963267948966, 12, 4, &m, &err));
    CHECK(m.nv == 1 + 12 * 4 && m.nf == 12 + 3 * 24);
    for (int32_t i = 0; i < m.nv; i++) CHECK_NEAR(hypot(hypot(m.x[3 * i], m.x[3 * i + 1]), m.x[3 * i + 2]), 0.5, 1e-15);
    abut_mesh_clear(&m);
}
