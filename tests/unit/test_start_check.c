/* The check of a start: against all pairs, its measures and messages. */
#include "scene_made.h"

#include "base/rng.h"
#include "geom/exact/predicates.h"

static int brute_touch(const abut_model *m, const double *x)
{
    for (int32_t e = 0; e < m->nce; e++)
        for (int32_t t = 0; t < m->nct; t++) {
            int32_t v[5];
            for (int k = 0; k < 5; k++) v[k] = m->coll_node[k < 2 ? m->coll_edge[2 * e + k] : m->coll_tri[3 * t + k - 2]];
            if (v[0] == v[2] || v[0] == v[3] || v[0] == v[4] || v[1] == v[2] || v[1] == v[3] || v[1] == v[4]) continue;
            if (m->role[v[0]] == ABUT_NODE_OBSTACLE && m->role[v[2]] == ABUT_NODE_OBSTACLE) continue;
            if (abut_touch_edge_tri(x + 3 * v[0], x + 3 * v[1], x + 3 * v[2], x + 3 * v[3], x + 3 * v[4])) return 1;
        }
    for (int32_t i = 0; i < m->nc; i++)
        for (int32_t t = 0; t < m->nt; t++) {
            const int32_t v = m->coll_node[i], *p = m->tet + 4 * t;
            if (v == p[0] || v == p[1] || v == p[2] || v == p[3]) continue;
            if (abut_touch_point_tet(x + 3 * v, x + 3 * p[0], x + 3 * p[1], x + 3 * p[2], x + 3 * p[3])) return 1;
        }
    return 0;
}

TEST(the_start_check_agrees_with_all_pairs)
{
    abut_rng rng = { 11 };
    int touching = 0;
    for (int round = 0; round < 60; round++) {
        char text[900];
        double at[9];
        for (int k = 0; k < 9; k++) at[k] = (double)(int)abut_rng_real(&rng, -6, 6) / 4;     /* many exact touches */
        snprintf(text, sizeof text,
                 "objects:\n  a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}\n"
                 "  b: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [%g, %g, %g]}\n"
                 "  c: {generate: {rod: {length: 1, cells: 2}}, obstacle: true, translate: [%g, %g, %g]}\n"
                 "  d: {generate: {particles: {size: [1, 1, 1], count: [1, 1, 1]}}, obstacle: true, translate: [%g, %g, %g]}\n",
                 at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7], at[8]);
        made s;
        abut_start_gap gap;
        CHECK(made_well(&s, text));
        const abut_status rc = abut_start_check(&s.m, &s.model_set, s.f.x, 0.1, &s.bad, &gap, &s.err);
        const int want = brute_touch(&s.m, s.f.x);
        touching += want;
        CHECK(rc == (want ? ABUT_E_GEOM : ABUT_OK) && (s.bad.total > 0) == want);
        drop(&s);
    }
    CHECK(touching > 6 && touching < 54);
}

TEST(the_smallest_gap_is_measured)
{
    made s;
    abut_start_gap gap;
    CHECK(made_well(&s,
                    "objects:\n" BOX "  b: {generate: {rod: {length: 1, cells: 1}}, obstacle: true, translate: [0, 0.503, 0]}\n"
                    "  f: {half-space: {point: [0, -0.502, 0], normal: [0, 1, 0]}}\n"));
    CHECK(!abut_start_check(&s.m, &s.model_set, s.f.x, 0.1, &s.bad, &gap, &s.err));
    CHECK_NEAR(gap.gap, 0.002, 1e-15);
    CHECK(strstr(gap.text, "half-space 'f'"));
    drop(&s);
    CHECK(made_well(&s, "objects:\n" BOX
                        "  b: {generate: {rod: {length: 1, cells: 1}}, obstacle: true, translate: [0, 0.503, 0]}\n"));
    CHECK(!abut_start_check(&s.m, &s.model_set, s.f.x, 0.1, &s.bad, &gap, &s.err));
    CHECK_NEAR(gap.gap, 0.003, 1e-15);
    CHECK(strstr(gap.text, "'b'") && strstr(gap.text, "'a'"));
    CHECK(!abut_start_check(&s.m, &s.model_set, s.f.x, 0.001, &s.bad, &gap, &s.err) && isinf(gap.gap));
    drop(&s);
}

/* two particles (object 0 and, half as thick, 1), a rod and a triangle of object 2, at distance d from each other in turn */
static abut_status thick_check(int pair, double d, abut_offenders *bad, abut_start_gap *gap, abut_err *err)
{
    double X[] = { 0, 5, 0, 0, 9, 0, 1, 0, 0, 2, 0, 0, 0, 0, 5, 1, 0, 5, 0, 1, 5, 7, 7, 7 };
    if (pair == 0) X[1] = 9 + d;                            /* particle, particle */
    if (pair == 1) X[0] = 1.5, X[1] = d;                    /* particle, rod */
    if (pair == 2) X[0] = 0.25, X[1] = 0.25, X[2] = 5 + d;  /* particle, triangle */
    if (pair == 3) X[21] = 0.25, X[22] = 0.5, X[23] = -2 + d;   /* particle, half-space z >= -2 */
    const int32_t node[] = { 0, 1, 2, 3, 4, 5, 6, 7 }, body[] = { 0, 1, 2, 2, 2, 2, 2, 0 }, role[8] = { 0 };
    const int32_t edge[] = { 2, 3, 4, 5, 4, 6, 5, 6 }, tri[] = { 4, 5, 6 };
    const double thick[] = { 2e-3, 1e-3, 4e-3 }, dhat = 1e-3, point[] = { 0, 0, -2 }, normal[] = { 0, 0, 1 };
    const abut_model m = { .nv = 8,
                           .nc = 8,
                           .nce = 4,
                           .nct = 1,
                           .no = 3,
                           .nh = pair == 3,
                           .X = X,
                           .coll_node = node,
                           .coll_edge = edge,
                           .coll_tri = tri,
                           .body = body,
                           .role = role,
                           .obj_thick = thick,
                           .dhat = &dhat,
                           .hs_point = point,
                           .hs_normal = normal };
    abut_arrays set = { 0 };
    CHECK(!abut_arrays_put_text(&set, "object/name", "grain\ndust\nstuff\n", NULL));
    CHECK(!abut_arrays_put_text(&set, "half-space/name", "wall\n", NULL));
    const abut_status rc = abut_start_check(&m, &set, X, dhat, bad, gap, err);
    abut_arrays_clear(&set);
    return rc;
}

TEST(a_start_within_the_thickness_is_refused_with_names_and_numbers)
{
    static const double xi[] = { 1.5e-3, 3e-3, 3e-3, 1e-3 };
    static const char *const who[] = { "point of 'dust'", "edge of 'stuff'", "triangle of 'stuff'", "half-space 'wall'" };
    for (int pair = 0; pair < 4; pair++) {
        abut_offenders bad = { 0 };
        abut_start_gap gap;
        abut_err err = { 0 };
        char far[40], want[40];
        CHECK(thick_check(pair, xi[pair] - 1e-7, &bad, &gap, &err) == ABUT_E_GEOM && bad.total == 1);
        snprintf(far, sizeof far, "is %.6g m", xi[pair] - 1e-7);
        snprintf(want, sizeof want, "thickness, %.6g m", xi[pair]);
        CHECK(strstr(bad.item[0].text, "point of 'grain'") && strstr(bad.item[0].text, who[pair]));
        CHECK(strstr(bad.item[0].text, far) && strstr(bad.item[0].text, want));
        CHECK(strstr(err.msg, "more than the thickness of the pair"));
        if (!strstr(bad.item[0].text, want)) printf("# %s\n", bad.item[0].text);
        abut_offenders_clear(&bad);
        CHECK(!thick_check(pair, xi[pair] + 1e-7, &bad, &gap, &err) && bad.total == 0);
        CHECK_NEAR(gap.gap, 1e-7, 1e-15);
        CHECK(strstr(gap.text, "'grain'") && gap.fine == 0);
        CHECK(!thick_check(pair, xi[pair] + 1.001e-3, &bad, &gap, &err) && isinf(gap.gap));
        abut_offenders_clear(&bad);
    }
}

TEST(a_mesh_finer_than_its_own_contact_is_remarked)
{
    /* a strip of four triangles; the nearest pairs of it are 0.01 apart */
    const double X[] = { 0, 0, 0, 0.01, 0, 0, 0.02, 0, 0, 0, 0.01, 0, 0.01, 0.01, 0, 0.02, 0.01, 0 }, dhat = 2e-3;
    const int32_t node[] = { 0, 1, 2, 3, 4, 5 }, body[6] = { 0 }, role[6] = { 0 }, tri[] = { 0, 1, 4, 0, 4, 3, 1, 2, 5, 1, 5, 4 };
    const int32_t edge[] = { 0, 1, 1, 2, 3, 4, 4, 5, 0, 3, 1, 4, 2, 5, 0, 4, 1, 5 };
    double thick = 0;
    abut_model m = { .nv = 6, .nc = 6, .nce = 9, .nct = 4, .no = 1, .nsh = 4, .X = X, .coll_node = node, .coll_edge = edge,
                     .coll_tri = tri, .body = body, .role = role, .obj_thick = &thick, .dhat = &dhat };
    abut_arrays set = { 0 };
    abut_offenders bad = { 0 };
    abut_start_gap gap;
    CHECK(!abut_start_check(&m, &set, X, dhat, &bad, &gap, NULL) && gap.fine == 0);
    thick = 6e-3;
    CHECK(!abut_start_check(&m, &set, X, dhat, &bad, &gap, NULL) && gap.fine > 0);
    CHECK_NEAR(gap.fine_gap, 0.01 / sqrt(2) - 6e-3, 1e-12);
    thick = 8e-3;
    CHECK(abut_start_check(&m, &set, X, dhat, &bad, &gap, NULL) == ABUT_E_GEOM && bad.total > 0);
    abut_offenders_clear(&bad);
}

/* A particle on the side that two triangles share; two rods that cross once. */
TEST(one_place_that_touches_in_several_ways_is_listed_once)
{
    const double X[] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0.5, 0.5, 0, 9, -1, 0, 9, 1, 0, 8, 0, 0, 10, 0, 0 };
    const int32_t node[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 }, body[] = { 0, 0, 0, 0, 1, 2, 2, 3, 3 }, role[9] = { 0 };
    const int32_t tri[] = { 0, 1, 2, 1, 3, 2 }, edge[] = { 0, 1, 0, 2, 1, 2, 1, 3, 2, 3, 5, 6, 7, 8 };
    const double thick[4] = { 0 }, dhat = 1e-3;
    const abut_model m = { .nv = 9, .nc = 9, .nce = 7, .nct = 2, .no = 4, .X = X, .coll_node = node, .coll_edge = edge,
                           .coll_tri = tri, .body = body, .role = role, .obj_thick = thick, .dhat = &dhat };
    abut_arrays set = { 0 };
    abut_offenders bad = { 0 };
    abut_start_gap gap;
    abut_err err = { 0 };
    CHECK(!abut_arrays_put_text(&set, "object/name", "sheet\ngrain\nrod\nbar\n", NULL));
    CHECK(abut_start_check(&m, &set, X, dhat, &bad, &gap, &err) == ABUT_E_GEOM && bad.total == 2 && bad.n == 2);
    CHECK(strstr(bad.item[0].text, "point of 'grain' (node 0) at (0.5, 0.5, 0) touches triangle of 'sheet'"));
    CHECK(strstr(bad.item[1].text, "edge of 'rod' (nodes 0, 1) at (9, -1, 0) touches edge of 'bar' (nodes 0, 1) at (8, 0, 0)"));
    CHECK(strstr(err.msg, "2 contacts at the start without a gap; expected every distance to be more than 0"));
    CHECK(isinf(gap.gap) && !gap.text[0] && !gap.is_short);
    abut_offenders_clear(&bad);
    abut_arrays_clear(&set);
}

/* A rod and a bar of two segments each, a sheet of one triangle, of that thickness; the places of the bar and of the sheet. */
static int64_t count_listed(double thickness, const double bar[9], const double sheet[9])
{
    double X[27] = { 0, -1, 0, 0, 0, 0, 0, 1, 0 };
    const int32_t node[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 }, body[] = { 0, 0, 0, 1, 1, 1, 2, 2, 2 }, role[9] = { 0 };
    const int32_t edge[] = { 0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 6, 8, 7, 8 }, tri[] = { 6, 7, 8 };
    const double thick[3] = { thickness, thickness, thickness }, dhat = 1e-3;
    const abut_model m = { .nv = 9, .nc = 9, .nce = 7, .nct = 1, .no = 3, .X = X, .coll_node = node, .coll_edge = edge,
                           .coll_tri = tri, .body = body, .role = role, .obj_thick = thick, .dhat = &dhat };
    abut_arrays set = { 0 };
    abut_offenders bad = { 0 };
    abut_start_gap gap;
    memcpy(X + 9, bar, 9 * sizeof *X);
    memcpy(X + 18, sheet, 9 * sizeof *X);
    CHECK(!abut_arrays_put_text(&set, "object/name", "rod\nbar\nsheet\n", NULL));
    const abut_status rc = abut_start_check(&m, &set, X, dhat, &bad, &gap, NULL);
    const int64_t total = bad.total;
    CHECK(rc == (total ? ABUT_E_GEOM : ABUT_OK));
    abut_offenders_clear(&bad);
    abut_arrays_clear(&set);
    return total;
}

TEST(a_vertex_that_touches_or_is_within_the_thickness_is_listed_once_with_the_edges_and_triangles_that_end_there)
{
    static const double far_bar[9] = { 0, 0, 70, 1, 0, 70, 2, 0, 70 }, far_sheet[9] = { 50, 0, 0, 60, 0, 0, 50, 10, 0 };
    CHECK(count_listed(0, far_bar, far_sheet) == 0);
    /* the inner vertex of the rod in a segment of the bar; at the inner vertex of the bar; the end of the bar in the rod */
    CHECK(count_listed(0, (double[9]){ -0.5, 0, 0, 1, 0, 0, 2, 0, 1 }, far_sheet) == 1);
    CHECK(count_listed(0, (double[9]){ -1, 0, 0, 0, 0, 0, 1, 0, 1 }, far_sheet) == 1);
    CHECK(count_listed(0, (double[9]){ 0, 0.5, 0, 1, 0.5, 0, 2, 0, 1 }, far_sheet) == 1);
    /* the same within a thickness; two places count twice */
    for (int k = 0; k < 2; k++) {
        const double x = k ? -0.3 : 0.01, z = k ? 0.05 : 0;
        CHECK(count_listed(0.1, (double[9]){ x, 0, z, x + 1, 0, z, x + 2, 0, z }, far_sheet) == 1);
    }
    CHECK(count_listed(0.1, (double[9]){ 0.05, -0.8, 0, 1, 0, 0, 0.05, 0.8, 0 }, far_sheet) == 2);
    /* a corner of the sheet beside the end of the rod, as near as both sides of the corner */
    CHECK(count_listed(0.1, far_bar, (double[9]){ 0, 1.05, 0, 3, 4, 0, -3, 4, 0 }) == 1);
}

/* A tet, object 1, inside of a large one, object 0, which comes after it. */
typedef struct nested {
    double X[24], weight[8], dhat, thick[2];
    int32_t tet[8], body[8], role[8], node[8], first[16], edge[24], tri[24], meet;
    abut_model m;
} nested;

static void nest(nested *n)
{
    static const double unit[12] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    static const int32_t face[12] = { 1, 2, 3, 0, 3, 2, 0, 1, 3, 0, 2, 1 }, side[12] = { 0, 1, 0, 2, 0, 3, 1, 2, 1, 3, 2, 3 };
    *n = (nested){ .dhat = 1e-3 };
    for (int k = 0; k < 12; k++) n->X[k] = 1 + unit[k], n->X[12 + k] = 9 * unit[k];
    for (int v = 0; v < 8; v++)
        n->tet[v] = n->node[v] = v, n->body[v] = v < 4, n->first[2 * v] = v, n->first[2 * v + 1] = v + 1, n->weight[v] = 1;
    for (int k = 0; k < 24; k++) n->tri[k] = face[k % 12] + k / 12 * 4, n->edge[k] = side[k % 12] + k / 12 * 4;
    n->m = (abut_model){ .nv = 8, .nt = 2, .nc = 8, .nce = 12, .nct = 8, .no = 2, .X = n->X, .tet = n->tet, .body = n->body,
                         .role = n->role, .coll_node = n->node, .coll_edge = n->edge, .coll_tri = n->tri, .dhat = &n->dhat,
                         .obj_thick = n->thick };
}

static abut_status nest_check(const nested *n, abut_offenders *bad)
{
    abut_arrays set = { 0 };
    abut_start_gap gap;
    *bad = (abut_offenders){ 0 };
    CHECK(!abut_arrays_put_text(&set, "object/name", "shell\nkernel\n", NULL));
    const abut_status rc = abut_start_check(&n->m, &set, n->X, n->dhat, bad, &gap, NULL);
    CHECK(isinf(gap.gap));
    abut_arrays_clear(&set);
    return rc;
}

TEST(every_vertex_inside_of_another_body_is_listed_once_with_the_tet_or_the_surface_around_it)
{
    for (int sums = 0; sums < 2; sums++) {
        nested n;
        abut_offenders bad;
        nest(&n);
        if (sums) n.m.coll_node = NULL, n.m.map_first = n.first, n.m.map_node = n.node, n.m.map_weight = n.weight, n.m.nmap = 8;
        CHECK(nest_check(&n, &bad) == ABUT_E_GEOM && bad.total == 4 && bad.n == 4);
        const abut_offender *last = &bad.item[3];
        CHECK(strstr(last->text, sums ? "point of 'kernel' (vertex 3) at (1, 1, 2) is inside of object 0"
                                      : "point of 'kernel' (node 3) at (1, 1, 2) is inside tet 0 of 'shell' (nodes 0, 1, 2, 3)"));
        CHECK(last->size[0] == 1 && last->size[1] == (sums ? 0 : 4) && !memcmp(last->x, n.X + 9, 3 * sizeof *n.X));
        CHECK(sums || !memcmp(last->x + 3, n.X + 12, 12 * sizeof *n.X));
        abut_offenders_clear(&bad);
        for (int v = 0; v < 4; v++) n.role[v] = ABUT_NODE_OBSTACLE;
        n.m.bodies_meet = &n.meet;              /* bodies pass through bodies, not through obstacles */
        CHECK(nest_check(&n, &bad) == ABUT_E_GEOM && bad.total == 4);
        abut_offenders_clear(&bad);
        for (int v = 0; v < 4; v++) n.role[v] = ABUT_NODE_FREE;
        CHECK(!nest_check(&n, &bad) && bad.total == 0);
        n.m.bodies_meet = NULL;
        for (int k = 0; k < 12; k++) n.X[k] += k % 3 == 0 ? 10 : 0;      /* beside it */
        CHECK(!nest_check(&n, &bad) && bad.total == 0);
    }
    nested n;
    abut_offenders bad;
    nest(&n);
    n.m.coll_node = NULL, n.m.map_first = n.first, n.m.map_node = n.node, n.m.map_weight = n.weight, n.m.nmap = 8;
    n.m.nct--;                                  /* a surface with a hole holds nothing */
    CHECK(!nest_check(&n, &bad) && bad.total == 0);
}

/* Segments of 3, 1 and 1 m in a row, and one of 0.5 m without a neighbour. */
TEST(the_first_of_the_shortest_edges_with_a_neighbour_is_named_if_its_thickness_is_no_less)
{
    double X[18] = { 0, 0, 0, 3, 0, 0, 4, 0, 0, 5, 0, 0, 0, 9, 0, 0.5, 9, 0 }, thick = 1, dhat = 1e-3;
    const int32_t node[6] = { 0, 1, 2, 3, 4, 5 }, body[6] = { 0 }, role[6] = { 0 }, edge[8] = { 0, 1, 1, 2, 2, 3, 4, 5 };
    const abut_model m = { .nv = 6, .nc = 6, .nce = 4, .no = 1, .X = X, .coll_node = node, .coll_edge = edge, .body = body,
                           .role = role, .obj_thick = &thick, .dhat = &dhat };
    abut_arrays set = { 0 };
    abut_collmesh cm;
    char text[480];
    CHECK(!abut_arrays_put_text(&set, "object/name", "rod\n", NULL) && !abut_collmesh_init(&cm, &m, NULL));
    CHECK(abut_start_short_edge(&cm, &set, X, text, sizeof text) == 1);
    CHECK(!strncmp(text, "edge of 'rod' (nodes 1, 2) at (3, 0, 0) is 1 m long, no more than the contact thickness, 1 m,", 93));
    X[9] = 4.75;
    CHECK(abut_start_short_edge(&cm, &set, X, text, sizeof text) == 1);
    CHECK(!strncmp(text, "edge of 'rod' (nodes 2, 3) at (4, 0, 0) is 0.75 m long,", 55));
    abut_collmesh_clear(&cm);
    thick = 0.74;
    CHECK(!abut_collmesh_init(&cm, &m, NULL) && !abut_start_short_edge(&cm, &set, X, text, sizeof text) && !*text);
    abut_collmesh_clear(&cm);
    thick = 0;
    CHECK(!abut_collmesh_init(&cm, &m, NULL) && !abut_start_short_edge(&cm, &set, X, text, sizeof text) && !*text);
    abut_collmesh_clear(&cm);
    abut_arrays_clear(&set);
}

TEST(all_vertices_inside_are_counted_and_the_first_thousand_kept)
{
    enum { MANY = ABUT_OFFENDERS_KEPT + 20, NODES = MANY + 4 };
    static double X[3 * NODES];
    static int32_t body[NODES], role[NODES], node[NODES];
    const int32_t tet[4] = { MANY, MANY + 1, MANY + 2, MANY + 3 };
    const double dhat = 1e-3, thick[2] = { 0 };
    abut_arrays set = { 0 };
    abut_offenders bad = { 0 };
    abut_start_gap gap;
    for (int v = 0; v < NODES; v++) node[v] = v, body[v] = v < MANY;
    for (int v = 0; v < MANY; v++)
        X[3 * v] = 1 + 0.125 * (v % 16), X[3 * v + 1] = 1 + 0.125 * (v / 16 % 16), X[3 * v + 2] = 1 + v / 256;
    for (int k = 0; k < 3; k++) X[3 * (MANY + 1 + k) + k] = 99;
    const abut_model m = { .nv = NODES, .nt = 1, .nc = NODES, .no = 2, .X = X, .tet = tet, .body = body, .role = role,
                           .coll_node = node, .obj_thick = thick, .dhat = &dhat };
    CHECK(!abut_arrays_put_text(&set, "object/name", "shell\ndust\n", NULL));
    CHECK(abut_start_check(&m, &set, X, dhat, &bad, &gap, NULL) == ABUT_E_GEOM);
    CHECK(bad.total == MANY && bad.n == ABUT_OFFENDERS_KEPT && abut_offenders_full(&bad));
    abut_offenders_clear(&bad);
    abut_arrays_clear(&set);
}
