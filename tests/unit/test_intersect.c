#include "base/par.h"
#include "check.h"
#include "contact/intersect.h"
#include "geom/exact/predicates.h"
#include "sheets.h"

/* A hand-made collision mesh: positions, triangles and edges as given. */
struct scene {
    abut_model model;
    abut_collmesh cm;
    int32_t node[16];
};

static void scene_make(struct scene *s, const double *X, int32_t nv, const int32_t *edge, int32_t ne, const int32_t *tri,
                       int32_t nt)
{
    for (int32_t i = 0; i < 16; i++) s->node[i] = i;
    s->model = (abut_model){ .nv = nv, .nc = nv, .nce = ne, .nct = nt, .X = X, .coll_node = s->node, .coll_edge = edge,
                             .coll_tri = tri };
    if (abut_collmesh_init(&s->cm, &s->model, NULL)) abort();
}

static size_t count(struct scene *s, const double *y, const uint8_t *fixed)
{
    abut_intersection list[4];
    size_t found = 99;
    CHECK(!abut_intersections_find(&s->cm, y, fixed, 4, list, &found, NULL));
    return found;
}

TEST(an_edge_that_meets_a_triangle_in_one_point_is_found_and_one_ulp_off_is_not)
{
    const int32_t edge[2] = { 3, 4 }, tri[3] = { 0, 1, 2 };
    struct scene s;
    double y[15] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0.25, 0.25, 1, 0.25, 0.25, -1 };
    scene_make(&s, y, 5, edge, 1, tri, 1);
    CHECK(count(&s, y, NULL) == 1);                             /* through the inside */
    y[14] = 0;
    CHECK(count(&s, y, NULL) == 1);                             /* its end on the face */
    y[14] = 0x1p-60;
    CHECK(count(&s, y, NULL) == 0);
    y[9] = y[12] = y[10] = y[13] = 0.5, y[14] = -1;
    CHECK(count(&s, y, NULL) == 1);                             /* on the long side */
    y[9] = y[12] = nextafter(0.5, 1);
    CHECK(count(&s, y, NULL) == 0);
    y[9] = y[12] = 1, y[10] = y[13] = 0;
    CHECK(count(&s, y, NULL) == 1);                             /* on a corner */
    const uint8_t fixed[5] = { 1, 1, 1, 1, 1 }, some[5] = { 1, 1, 1, 1, 0 };
    CHECK(count(&s, y, fixed) == 0 && count(&s, y, some) == 1);
    abut_collmesh_clear(&s.cm);
}

TEST(coplanar_pairs_are_judged_in_their_plane)
{
    const int32_t edge[2] = { 3, 4 }, tri[3] = { 0, 1, 2 };
    struct scene s;
    double y[15] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0.1, 0.1, 0, 0.2, 0.1, 0 };
    scene_make(&s, y, 5, edge, 1, tri, 1);
    CHECK(count(&s, y, NULL) == 1);                             /* inside */
    y[9] = -1, y[12] = 2;
    CHECK(count(&s, y, NULL) == 1);                             /* across */
    y[10] = y[13] = 1;
    CHECK(count(&s, y, NULL) == 1);                             /* past one corner */
    y[10] = y[13] = nextafter(1, 2);
    CHECK(count(&s, y, NULL) == 0);
    y[9] = 0.6, y[10] = 0.6, y[12] = 0.9, y[13] = 0.9;
    CHECK(count(&s, y, NULL) == 0);                             /* beside, boxes overlap */
    abut_collmesh_clear(&s.cm);
}

TEST(triangles_with_a_common_vertex_are_judged_by_their_opposite_edges)
{
    const int32_t edge[12] = { 0, 1, 0, 2, 1, 2, 0, 3, 0, 4, 3, 4 }, tri[6] = { 0, 1, 2, 0, 3, 4 };
    struct scene s;
    double y[15] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, -1, 0, 1, 0, -1, 1 };
    scene_make(&s, y, 5, edge, 6, tri, 2);
    CHECK(count(&s, y, NULL) == 0);
    memcpy(y + 9, (double[6]){ 0.2, 0.2, 1, 0.2, 0.2, -1 }, 6 * sizeof *y);
    CHECK(count(&s, y, NULL) == 1);                             /* edge 3 4 through triangle 0 1 2 */
    abut_intersection list[1];
    size_t found;
    CHECK(!abut_intersections_find(&s.cm, y, NULL, 1, list, &found, NULL) && list[0].edge == 5 && list[0].tri == 0);
    memcpy(y + 9, (double[6]){ 2, 2, 1, 2, 2, -1 }, 6 * sizeof *y);
    CHECK(count(&s, y, NULL) == 1);                             /* edge 1 2 through triangle 0 3 4 */
    CHECK(!abut_intersections_find(&s.cm, y, NULL, 1, list, &found, NULL) && list[0].edge == 2 && list[0].tri == 1);
    abut_collmesh_clear(&s.cm);
}

TEST(the_list_is_that_of_all_pairs_cut_at_max_and_the_same_for_every_thread_count)
{
    sheets s = sheets_make(4, 4, 7, 0.01, 1.0, 0);
    CHECK(sheets_init(&s));
    size_t want = 0, cap = 20000;
    abut_intersection *all = malloc(cap * sizeof *all), *got = malloc(cap * sizeof *got);
    for (int32_t e = 0; e < s.cm.ne; e++)
        for (int32_t t = 0; t < s.cm.nt; t++) {
            const int32_t *i = s.edge + 2 * e, *j = s.tri + 3 * t;
            int skip = s.fixed[i[0]] && s.fixed[i[1]] && s.fixed[j[0]] && s.fixed[j[1]] && s.fixed[j[2]];
            for (int k = 0; k < 6; k++) skip |= i[k / 3] == j[k % 3];
            const double *X = s.X;
            if (!skip && abut_touch_edge_tri(X + 3 * i[0], X + 3 * i[1], X + 3 * j[0], X + 3 * j[1], X + 3 * j[2]) && want < cap)
                all[want++] = (abut_intersection){ e, t, -1, -1 };
        }
    CHECK(want > 100 && want < cap);
    for (int threads = 1; threads <= 7; threads += 3) {
        size_t found;
        abut_threads_set(threads);
        CHECK(!abut_intersections_find(&s.cm, s.X, s.fixed, cap, got, &found, NULL));
        CHECK(found == want && !memcmp(all, got, want * sizeof *all));
        memset(got, 0, cap * sizeof *got);
        CHECK(!abut_intersections_find(&s.cm, s.X, s.fixed, 7, got, &found, NULL));
        CHECK(found == want && !memcmp(all, got, 7 * sizeof *all) && got[7].vert == 0);
    }
    abut_threads_set(2);
    free(all);
    free(got);
    sheets_free(&s);
}

TEST(vertices_on_and_under_half_spaces_are_listed_last)
{
    const double point[3] = { 0, 0, 0 }, normal[3] = { 0, 0, 1 };
    const int32_t edge[2] = { 3, 4 }, tri[3] = { 0, 1, 2 };
    struct scene s;
    const double y[15] = { 0, 0, 0, 1, 0, 1, 0, 1, 0x1p-1000, 0.1, 0.1, 1, 0.1, 0.1, -1 };
    scene_make(&s, y, 5, edge, 1, tri, 1);
    s.model.nh = 1, s.model.hs_point = point, s.model.hs_normal = normal;
    abut_intersection list[4];
    size_t found;
    CHECK(!abut_intersections_find(&s.cm, y, NULL, 4, list, &found, NULL) && found == 3);
    CHECK(list[0].edge == 0 && list[0].tri == 0 && list[0].plane == -1);
    CHECK(list[1].vert == 0 && list[1].plane == 0 && list[1].edge == -1 && list[2].vert == 4);
    const uint8_t fixed[5] = { 1, 0, 0, 0, 0 };
    CHECK(count(&s, y, fixed) == 2);
    abut_collmesh_clear(&s.cm);
}

TEST(tets_without_positive_volume_and_the_smallest_jacobian_are_found)
{
    enum { N = 2000 };
    abut_rng r = { 5 };
    double *X = malloc(12 * N * sizeof *X), *x = malloc(12 * N * sizeof *x);
    int32_t tet[4 * N], which;
    for (int t = 0; t < N; t++) {
        const double scale = abut_rng_real(&r, 0.3, 2), unit[12] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1 };
        for (int k = 0; k < 12; k++) X[12 * t + k] = unit[k] + t, x[12 * t + k] = scale * unit[k] - t;
        for (int k = 0; k < 4; k++) tet[4 * t + k] = 4 * t + k;
    }
    const abut_model m = { .nv = 4 * N, .nt = N, .tet = tet, .X = X };
    CHECK(abut_inverted_find(&m, x, 0) == -1);
    for (int k = 0; k < 12; k++) x[12 * 777 + k] = 0.1 * (X[12 * 777 + k] - 777);
    memcpy(x + 12 * 1500, x + 12 * 777, 12 * sizeof *x);
    for (int threads = 1; threads <= 7; threads += 3) {
        abut_threads_set(threads);
        CHECK_NEAR(abut_smallest_jacobian(&m, x, &which), 1e-3, 1e-15);
        CHECK(which == 777);
    }
    x[12 * 1200 + 11] = x[12 * 1200 + 2];                       /* flat */
    x[12 * 1700 + 11] = x[12 * 1700 + 2] - 1;                   /* turned over */
    CHECK(abut_inverted_find(&m, x, 0) == 1200);
    CHECK(abut_smallest_jacobian(&m, x, &which) < 0 && which == 1700);
    x[12 * 1200 + 11] = nextafter(x[12 * 1200 + 2], INFINITY);  /* the thinnest there is */
    CHECK(abut_inverted_find(&m, x, 0) == 1700);
    abut_threads_set(2);
    const abut_model none = { .nv = 0 };
    CHECK(abut_inverted_find(&none, x, 0) == -1 && isinf(abut_smallest_jacobian(&none, x, NULL)));
    free(X);
    free(x);
}

SETUP
{
    abut_threads_set(2);
}
