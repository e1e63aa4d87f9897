/* Repair of initial states, judged by predicates and distances that know nothing of how it was done. */
#include "check.h"

#include "base/par.h"
#include "base/rng.h"
#include "contact/intersect.h"
#include "repair/separate.h"
#include "formats/mesh/mesh_io.h"
#include "geom/dist.h"
#include "mesh/generate/generate.h"
#include "mesh/surface.h"

/* A model made of one mesh, with the arrays that contact looks at; gone with scene_clear. */
typedef struct scene {
    abut_mesh mesh;
    abut_model m;
    abut_collmesh cm;
    int32_t *tri, *edge, *node, *role, *body;
    double *mass, length, *x, thick[4];
    abut_separate_report report;
    abut_err err;
} scene;

/* Masses of 1 kg; nodes of `role` FREE.  Takes the mesh. */
static void scene_make(scene *s, abut_mesh *mesh)
{
    *s = (scene){ .mesh = *mesh };
    *mesh = (abut_mesh){ 0 };
    const abut_mesh *g = &s->mesh;
    int32_t nt = 0, ne = 0;
    CHECK(!abut_surface_triangles(g->tet, g->nt, &s->tri, &nt, &s->err));
    s->tri = realloc(s->tri, 3 * (size_t)(nt + g->nf + 1) * sizeof *s->tri);
    if (g->nf) memcpy(s->tri + 3 * nt, g->tri, 3 * (size_t)g->nf * sizeof *s->tri);
    nt += g->nf;
    CHECK(!abut_surface_edges(s->tri, nt, g->seg, g->ns, &s->edge, &ne, &s->err));
    s->node = malloc((size_t)g->nv * sizeof *s->node), s->role = calloc((size_t)g->nv, sizeof *s->role);
    s->mass = malloc((size_t)g->nv * sizeof *s->mass), s->x = malloc(3 * (size_t)g->nv * sizeof *s->x);
    for (int32_t i = 0; i < g->nv; i++) s->node[i] = i, s->mass[i] = 1;
    double lo[3], hi[3];
    abut_mesh_bounds(g, lo, hi);
    s->length = sqrt((hi[0] - lo[0]) * (hi[0] - lo[0]) + (hi[1] - lo[1]) * (hi[1] - lo[1]) + (hi[2] - lo[2]) * (hi[2] - lo[2]));
    s->m = (abut_model){ .nv = g->nv, .nt = g->nt, .nc = g->nv, .nce = ne, .nct = nt, .X = g->x, .mass = s->mass, .role = s->role,
                         .tet = g->tet, .coll_node = s->node, .coll_edge = s->edge, .coll_tri = s->tri, .length = &s->length };
    CHECK(!abut_collmesh_init(&s->cm, &s->m, &s->err));
}

/* Nodes from first[k] on are an object of thickness xi[k], m. */
static void scene_thicken(scene *s, int n, const int32_t *first, const double *xi)
{
    s->body = calloc((size_t)s->m.nv, sizeof *s->body);
    for (int k = 0; k < n; k++) {
        s->thick[k] = xi[k];
        for (int32_t i = first[k]; i < s->m.nv; i++) s->body[i] = k;
    }
    s->m.no = n, s->m.body = s->body, s->m.obj_thick = s->thick;
    abut_collmesh_clear(&s->cm);
    CHECK(!abut_collmesh_init(&s->cm, &s->m, &s->err));
}

static void scene_clear(scene *s)
{
    abut_collmesh_clear(&s->cm);
    free(s->tri), free(s->edge), free(s->node), free(s->role), free(s->mass), free(s->x), free(s->body);
    abut_mesh_clear(&s->mesh);
}

static void separate(scene *s, double gap, double max_move)
{
    abut_separate_opts o = abut_separate_defaults(&s->m, gap);
    if (max_move > 0) o.max_move = max_move;
    CHECK(!abut_separate(&s->cm, s->mesh.x, &o, s->x, &s->report, &s->err));
}

static void move(abut_mesh *m, double x, double y, double z)
{
    const double one[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, b[3] = { x, y, z };
    abut_mesh_transform(m, one, b);
}

static void turn(abut_mesh *m, double angle_x, double angle_z)
{
    const double c = cos(angle_x), s = sin(angle_x), d = cos(angle_z), e = sin(angle_z), zero[3] = { 0, 0, 0 };
    const double X[9] = { 1, 0, 0, 0, c, -s, 0, s, c }, Z[9] = { d, -e, 0, e, d, 0, 0, 0, 1 };
    abut_mesh_transform(m, X, zero), abut_mesh_transform(m, Z, zero);
}

static void add(abut_mesh *a, abut_mesh *b)
{
    abut_err err = { 0 };
    CHECK(!abut_mesh_append(a, b, &err));
    abut_mesh_clear(b);
}

static abut_mesh box(double x, double y, double z, int n)
{
    abut_mesh m = { 0 };
    abut_err err = { 0 };
    const double size[3] = { x, y, z };
    const int32_t cells[3] = { n, n, n };
    CHECK(!abut_generate_box(size, cells, &m, &err));
    return m;
}

static abut_mesh cloth(double x, double z, int n)
{
    abut_mesh m = { 0 };
    abut_err err = { 0 };
    const double size[2] = { x, z };
    const int32_t cells[2] = { n, n };
    CHECK(!abut_generate_cloth(size, cells, &m, &err));
    return m;
}

/* The corners of primitive i of dimension d. */
static int corners(const scene *s, int d, int32_t i, int32_t v[3])
{
    for (int k = 0; k <= d; k++) v[k] = d == 0 ? i : d == 1 ? s->edge[2 * i + k] : s->tri[3 * i + k];
    return d + 1;
}

/* Smallest distance less the mean of the two thicknesses over all pairs without a common vertex, one by one. */
static double brute_gap(const scene *s, const double *y)
{
    static const struct { int a, b; abut_stencil kind; } pair[] = { { 0, 2, ABUT_PT }, { 1, 1, ABUT_EE }, { 0, 1, ABUT_PE },
                                                                    { 0, 0, ABUT_PP } };
    const int32_t count[3] = { s->cm.nc, s->cm.ne, s->cm.nt };
    double least = INFINITY;
    for (int k = 0; k < 4; k++)
        for (int32_t i = 0; i < count[pair[k].a]; i++)
            for (int32_t j = pair[k].a == pair[k].b ? i + 1 : 0; j < count[pair[k].b]; j++) {
                int32_t v[4], common = 0, fixed = 1;
                double x[12], d2;
                const int na = corners(s, pair[k].a, i, v), n = na + corners(s, pair[k].b, j, v + na);
                for (int p = 0; p < n; p++) {
                    for (int q = 0; q < p; q++) common |= v[p] == v[q];
                    fixed &= s->role[v[p]] != ABUT_NODE_FREE;
                    memcpy(x + 3 * p, y + 3 * v[p], 3 * sizeof *x);
                }
                if (common || fixed) continue;
                abut_nearest(pair[k].kind, x, &d2);
                const double xi = s->body ? 0.5 * (s->thick[s->body[v[0]]] + s->thick[s->body[v[na]]]) : 0;
                least = fmin(least, sqrt(d2) - xi);
            }
    return least;
}

/* Checks the conditions on every repaired state. */
static void check_separated(scene *s, double gap)
{
    abut_intersection list[4];
    size_t found = 1;
    CHECK(s->report.done && s->report.n_left == 0 && s->report.residual == 0 && s->report.intersections_end == 0);
    CHECK(!abut_intersections_find(&s->cm, s->x, NULL, 4, list, &found, &s->err) && found == 0);
    CHECK(brute_gap(s, s->x) >= gap * (1 - 1e-9));
    CHECK(abut_inverted_find(&s->m, s->x, 0) == -1);
    for (int32_t i = 0; i < 3 * s->m.nv; i++) CHECK(s->role[i / 3] == ABUT_NODE_FREE || s->x[i] == s->mesh.x[i]);
    CHECK(s->report.move_max <= s->report.limit && s->report.move_rms <= s->report.move_max);
}

static size_t crossings(const scene *s, const double *y)
{
    abut_intersection list[1];
    abut_err err = { 0 };
    size_t found = 0;
    CHECK(!abut_intersections_find(&s->cm, y, NULL, 1, list, &found, &err));
    return found;
}

TEST(a_state_that_is_fine_is_returned_bit_by_bit)
{
    abut_mesh a = box(1, 1, 1, 2), b = box(1, 1, 1, 2);
    move(&b, 1.1, 0.1, 0.2);
    add(&a, &b);
    scene s;
    scene_make(&s, &a);
    separate(&s, 0.05, 0);
    CHECK(s.report.done && s.report.rounds == 0 && s.report.move_max == 0 && s.report.move_node == -1);
    CHECK(!memcmp(s.x, s.mesh.x, 3 * (size_t)s.m.nv * sizeof *s.x));
    scene_clear(&s);
}

/* A triangle, and height above it the corner of an upright one, which has four times the mass of the others. */
static void point_over_triangle(scene *s, double height)
{
    abut_mesh a = { 0 };
    abut_err err = { 0 };
    const double p[6][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { .25, .25, height }, { .25, .25, 1 }, { .5, .25, 1 } };
    for (int i = 0; i < 6; i++) CHECK(!abut_mesh_add_vertex(&a, p[i], &err));
    CHECK(!abut_mesh_add_tri(&a, 0, 1, 2, &err) && !abut_mesh_add_tri(&a, 3, 5, 4, &err));
    scene_make(s, &a);
    s->mass[3] = 4;
}

/* The closed form of the smallest mass-weighted displacement. */
TEST(a_close_point_and_triangle_part_by_the_smallest_displacement)
{
    scene s;
    point_over_triangle(&s, 0.01);
    separate(&s, 0.03, 0);
    check_separated(&s, 0.03);
    /* weights (1, -1/2, -1/4, -1/4), inverse masses (1/4, 1, 1, 1): the multiplier shares out what is missing */
    const double missing = 0.03 * 1.001 - 0.01, lambda = missing / (0.25 + 0.25 + 2 * 0.0625);
    CHECK_NEAR(s.x[11] - .01, lambda / 4, 1e-4 * missing);
    CHECK_NEAR(s.x[2], -lambda / 2, 1e-4 * missing);
    CHECK_NEAR(s.x[5], -lambda / 4, 1e-4 * missing);
    CHECK_NEAR(s.report.gap_start, 0.01, 1e-12);
    CHECK(s.x[12] == .25 && s.x[14] == 1);
    scene_clear(&s);
}

/* Objects 2 mm and 4 mm thick are separated by 3 mm more. */
TEST(thickness_comes_before_the_gap)
{
    scene s;
    point_over_triangle(&s, 0.001);
    scene_thicken(&s, 2, (int32_t[]){ 0, 3 }, (double[]){ 0.002, 0.004 });
    const double point[3] = { 0, 0, 0.999 }, normal[3] = { 0, 0, -1 };     /* which keeps off by half a thickness */
    s.m.nh = 1, s.m.hs_point = point, s.m.hs_normal = normal;
    separate(&s, 0.003, 0);
    check_separated(&s, 0.003);
    const double missing = 0.006 * 1.001 - 0.001, lambda = missing / (0.25 + 0.25 + 2 * 0.0625);
    CHECK_NEAR(s.x[11] - .001, lambda / 4, 1e-3 * missing);
    CHECK_NEAR(s.x[2], -lambda / 2, 1e-3 * missing);
    CHECK_NEAR(s.x[14], 0.999 - 0.005 * 1.001, 1e-6);
    CHECK_NEAR(s.report.gap_start, -0.002, 1e-12);      /* of either: what is under a half-space counts as touching it */
    scene_clear(&s);
}

/* A cloth, rods that cross it and each other, grains between them, some of them at the same place. */
TEST(rods_grains_and_thick_cloth_are_separated_by_their_thickness)
{
    abut_rng r = { 11 };
    for (int i = 0; i < 6; i++) {
        abut_mesh a = cloth(1, 1, 6);
        abut_err err = { 0 };
        int32_t first[3] = { 0, a.nv, 0 };
        for (int k = 0; k < 8; k++) {       /* rods of two segments, lying on the cloth, steep ones through it */
            const double at[3] = { abut_rng_real(&r, -0.3, 0.3), abut_rng_real(&r, 0.02, 0.05), abut_rng_real(&r, -0.3, 0.3) };
            const double along[3] = { abut_rng_real(&r, -0.1, 0.1), k < 6 ? 0.005 * k : 0.04, abut_rng_real(&r, -0.1, 0.1) };
            for (int p = -1; p < 2; p++) {
                const double x[3] = { at[0] + p * along[0], at[1] + p * along[1], at[2] + p * along[2] };
                CHECK(!abut_mesh_add_vertex(&a, x, &err));
            }
            for (int p = -3; p < -1; p++) CHECK(!abut_mesh_add_seg(&a, a.nv + p, a.nv + p + 1, &err));
        }
        first[2] = a.nv;
        for (int k = 0; k < 20; k++) {
            double x[3] = { abut_rng_real(&r, -0.2, 0.2), abut_rng_real(&r, 0.03, 0.15), abut_rng_real(&r, -0.2, 0.2) };
            if (k % 5 == 0) memcpy(x, a.x + 3 * (first[2] + k / 2 - 1), sizeof x);      /* at the place of another */
            CHECK(!abut_mesh_add_vertex(&a, x, &err));
        }
        scene s;
        scene_make(&s, &a);
        scene_thicken(&s, 3, first, (double[]){ 0.01, 0.02, 0.03 });
        const double before = brute_gap(&s, s.mesh.x);
        separate(&s, 1e-3, 0);
        if (!s.report.done) printf("# %d left, residual %g\n", s.report.n_left, s.report.residual);
        CHECK(before <= -0.025 + 1e-12 && s.report.gap_start <= 0);
        check_separated(&s, 1e-3);
        scene_clear(&s);
    }
}

TEST(overlapping_boxes_part_and_share_the_way)
{
    abut_mesh a = box(1, 1, 1, 3), b = box(0.6, 0.6, 0.6, 3);
    move(&b, 0.011, 0.79, 0.017);                   /* 0.01 deep in the upper face, away from its edges */
    add(&a, &b);
    scene s;
    scene_make(&s, &a);
    CHECK(crossings(&s, s.mesh.x) > 0);
    separate(&s, 1e-3, 0);
    CHECK(s.report.intersections_start > 0 && s.report.gap_start == 0);
    check_separated(&s, 1e-3);
    CHECK(s.report.move_max < 0.0115 && s.report.move_max > 0.004);
    scene_clear(&s);
}

TEST(an_obstacle_stays_where_it_is)
{
    abut_mesh a = box(1, 1, 1, 2), b = box(0.5, 0.5, 0.5, 2);
    const int32_t first = a.nv;
    turn(&b, 0.7, 0.5);                             /* a corner goes in */
    move(&b, 0.03, 0.5 + 0.38, 0.02);
    add(&a, &b);
    scene s;
    scene_make(&s, &a);
    for (int32_t i = 0; i < first; i++) s.role[i] = ABUT_NODE_OBSTACLE;
    CHECK(crossings(&s, s.mesh.x) > 0);
    separate(&s, 2e-3, 0);
    check_separated(&s, 2e-3);
    scene_clear(&s);
}

TEST(crossing_ridges_are_pushed_over_each_other)
{
    abut_mesh a = box(1, 1, 1, 1), b = box(1, 1, 1, 1);
    const double quarter = atan(1);
    turn(&a, quarter, 0);                           /* a roof along x */
    turn(&b, quarter, 0);                           /* a roof along x, then along z: ridge on ridge, crosswise */
    const double y[9] = { 0, 0, 1, 0, 1, 0, -1, 0, 0 }, up[3] = { 0.013, 2 * sqrt(0.5) - 0.02, 0.007 };
    abut_mesh_transform(&b, y, up);
    add(&a, &b);
    scene s;
    scene_make(&s, &a);
    CHECK(crossings(&s, s.mesh.x) > 0);
    separate(&s, 1e-3, 0);
    check_separated(&s, 1e-3);
    CHECK(s.report.move_max < 0.05);
    scene_clear(&s);
}

TEST(a_cloth_that_pokes_through_a_cloth_comes_back)
{
    abut_mesh a = cloth(1, 1, 8), b = cloth(0.7, 0.7, 7);
    turn(&b, 1.2, 0.6);
    double lo[3], hi[3];
    abut_mesh_bounds(&b, lo, hi);
    move(&b, 0.031, -lo[1] - 0.03, 0.017);          /* lowest corner 0.03 under the first cloth */
    add(&a, &b);
    scene s;
    scene_make(&s, &a);
    CHECK(crossings(&s, s.mesh.x) > 0);
    separate(&s, 1e-3, 0);
    check_separated(&s, 1e-3);
    CHECK(s.report.move_max < 0.04);
    scene_clear(&s);
}

TEST(balls_in_a_pile_are_separated_without_inverting)
{
    abut_mesh a = { 0 };
    abut_err err = { 0 };
    for (int i = 0; i < 3; i++) {
        abut_mesh b = { 0 };
        CHECK(!abut_generate_sphere(0.5, 6, &b, &err));
        turn(&b, 0.3 * i, 0.7 * i);
        move(&b, 0.96 * (i % 2), 0.9 * (i / 2), 0.5 * (i == 2));
        add(&a, &b);
    }
    scene s;
    scene_make(&s, &a);
    CHECK(crossings(&s, s.mesh.x) > 0);
    separate(&s, 2e-3, 0);
    check_separated(&s, 2e-3);
    scene_clear(&s);
}

/* Two random bodies, the second pushed into the first by a known depth: most come apart, and then it is verified; the
 * others say so and do not move. */
TEST(random_shallow_overlaps_are_separated_or_reported)
{
    abut_rng r = { 7 };
    int done = 0, crossed = 0;
    const int n = 60;
    for (int i = 0; i < n; i++) {
        abut_mesh part[2] = { { 0 }, { 0 } };
        abut_err err = { 0 };
        for (int k = 0; k < 2; k++) {
            const uint32_t what = abut_rng_below(&r, 3);
            if (what == 0) part[k] = box(1, 0.7, 0.5, 3);
            else if (what == 1) part[k] = cloth(1, 0.8, 6);
            else CHECK(!abut_generate_sphere(0.5, 4, &part[k], &err));
            turn(&part[k], abut_rng_real(&r, 0, 6), abut_rng_real(&r, 0, 6));
        }
        /* the lowest point of the second goes below the highest of the first */
        const double *top = part[0].x, *low = part[1].x, depth = abut_rng_real(&r, 0.01, 0.1);
        for (int32_t v = 0; v < part[0].nv; v++) if (part[0].x[3 * v + 1] > top[1]) top = part[0].x + 3 * v;
        for (int32_t v = 0; v < part[1].nv; v++) if (part[1].x[3 * v + 1] < low[1]) low = part[1].x + 3 * v;
        move(&part[1], top[0] - low[0] + abut_rng_real(&r, -0.05, 0.05), top[1] - low[1] - depth,
             top[2] - low[2] + abut_rng_real(&r, -0.05, 0.05));
        add(&part[0], &part[1]);
        scene s;
        scene_make(&s, &part[0]);
        separate(&s, 2e-3, 0);
        crossed += s.report.intersections_start > 0;
        done += s.report.done;
        if (s.report.done) check_separated(&s, 2e-3);
        else CHECK(s.report.n_left > 0 && !memcmp(s.x, s.mesh.x, 3 * (size_t)s.m.nv * sizeof *s.x));
        scene_clear(&s);
    }
    CHECK(crossed > n / 3 && done >= n - 2);
}

TEST(a_half_space_is_a_wall_with_the_same_gap)
{
    abut_mesh a = box(1, 1, 1, 2);
    scene s;
    scene_make(&s, &a);
    const double point[3] = { 0, -0.49, 0 }, normal[3] = { 0, 1, 0 };
    s.m.nh = 1, s.m.hs_point = point, s.m.hs_normal = normal;
    separate(&s, 5e-3, 0);
    CHECK(s.report.done && s.report.gap_start == 0);
    for (int32_t i = 0; i < s.m.nv; i++) CHECK(s.x[3 * i + 1] >= -0.485 - 1e-15);
    CHECK_NEAR(s.report.move_max, 0.015, 1e-4);
    scene_clear(&s);
}

TEST(each_of_two_half_spaces_is_a_wall_with_the_same_gap_along_its_own_normal)
{
    abut_mesh a = box(1, 1, 1, 2);
    scene s;
    turn(&a, 0, 0.1);
    scene_make(&s, &a);
    double face[6] = { 0, 1, 0, -cos(0.1), -sin(0.1), 0 }, low[2] = { INFINITY, INFINITY };
    for (int32_t i = 0; i < s.m.nv; i++)
        for (int h = 0; h < 2; h++) {
            double d = 0;
            for (int k = 0; k < 3; k++) d += face[3 * h + k] * s.mesh.x[3 * i + k];
            low[h] = fmin(low[h], d);
        }
    /* both 10 mm inside of the box, and the gap is 5 mm */
    double on[6];
    for (int k = 0; k < 6; k++) on[k] = (low[k / 3] + 0.01) * face[k];
    s.m.nh = 2, s.m.hs_point = on, s.m.hs_normal = face;
    separate(&s, 5e-3, 0);
    CHECK(s.report.done && s.report.gap_start == 0);
    for (int h = 0; h < 2; h++) {
        double least = INFINITY;
        for (int32_t i = 0; i < s.m.nv; i++) {
            double d = 0;
            for (int k = 0; k < 3; k++) d += face[3 * h + k] * (s.x[3 * i + k] - on[3 * h + k]);
            least = fmin(least, d);
        }
        CHECK(least >= 5e-3 - 1e-15);
        CHECK_NEAR(least, 5e-3, 1e-4);
    }
    scene_clear(&s);
}

TEST(what_cannot_be_separated_is_named_and_nothing_moves)
{
    abut_mesh a = cloth(1, 1, 1), b = cloth(0.2, 0.2, 1), c = cloth(1, 1, 1);
    move(&b, 0.1, 0.004, 0.05);
    move(&c, 0, 0.008, 0);                          /* two walls 0.008 apart, a cloth between, a gap of 0.006 asked for */
    const int32_t n = a.nv, nb = b.nv;
    add(&a, &b), add(&a, &c);
    scene s;
    scene_make(&s, &a);
    for (int32_t i = 0; i < s.m.nv; i++) s.role[i] = i < n || i >= n + nb ? ABUT_NODE_OBSTACLE : ABUT_NODE_FREE;
    separate(&s, 6e-3, 0);
    CHECK(!s.report.done && s.report.n_left > 0 && s.report.residual > 1e-3);
    CHECK(s.report.left[0].kind == ABUT_LEFT_VT && s.report.left[0].lacking > 1e-3);
    CHECK(!memcmp(s.x, s.mesh.x, 3 * (size_t)s.m.nv * sizeof *s.x));
    scene_clear(&s);
}

TEST(a_limit_on_the_way_is_kept)
{
    abut_mesh a = box(1, 1, 1, 2), b = box(0.6, 0.6, 0.6, 2);
    move(&b, 0.011, 0.75, 0.017);
    add(&a, &b);
    scene s;
    scene_make(&s, &a);
    separate(&s, 1e-3, 1e-3);
    CHECK(!s.report.done && s.report.n_left > 0 && s.report.limit == 1e-3);
    CHECK(!memcmp(s.x, s.mesh.x, 3 * (size_t)s.m.nv * sizeof *s.x));
    scene_clear(&s);
}

TEST(options_and_states_out_of_range_are_refused)
{
    abut_mesh a = box(1, 1, 1, 1);
    scene s;
    scene_make(&s, &a);
    abut_separate_opts o = abut_separate_defaults(&s.m, 0);
    CHECK(abut_separate(&s.cm, s.mesh.x, &o, s.x, &s.report, &s.err) == ABUT_E_ARG && strstr(s.err.msg, "gap"));
    static const struct { double gap, move, volume; int rounds; const char *says; } of[] = {
        { -1, 1, 0.2, 1, "the gap is -1 m" },           { INFINITY, 1, 0.2, 1, "the gap is inf m" },
        { 1e-3, 0, 0.2, 1, "the largest move is 0 m" }, { 1e-3, 1, 1, 1, "volume fraction 1 " },
        { 1e-3, 1, 0, 1, "volume fraction 0 " },        { 1e-3, 1, 0.2, 0, "0 rounds" },
    };
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        o = (abut_separate_opts){ of[k].gap, of[k].move, of[k].volume, of[k].rounds };
        CHECK(abut_separate(&s.cm, s.mesh.x, &o, s.x, &s.report, &s.err) == ABUT_E_ARG && strstr(s.err.msg, of[k].says));
    }
    o = abut_separate_defaults(&s.m, 1e-3);
    for (int k = 0; k < 3; k++) s.mesh.x[k] += 5;   /* one corner through the opposite one */
    CHECK(abut_separate(&s.cm, s.mesh.x, &o, s.x, &s.report, &s.err) == ABUT_E_GEOM && strstr(s.err.msg, "tet"));
    scene_clear(&s);
}

/* Two cloths in one plane: more crossings than a first guess has room for. */
TEST(any_number_of_crossings_is_counted)
{
    abut_mesh a = cloth(1, 1, 8), b = cloth(1, 1, 8);
    move(&b, 0.013, 0, 0.017);
    add(&a, &b);
    scene s;
    scene_make(&s, &a);
    const size_t all = crossings(&s, s.mesh.x);
    abut_separate_opts o = abut_separate_defaults(&s.m, 1e-3);
    o.max_rounds = 1;
    CHECK(!abut_separate(&s.cm, s.mesh.x, &o, s.x, &s.report, &s.err));
    CHECK(all > 300 && s.report.intersections_start == all && s.report.rounds == 1);
    scene_clear(&s);
}

TEST(the_result_has_the_same_bits_for_every_thread_count)
{
    double *first = NULL;
    for (int j = 1; j <= 3; j++) {
        abut_mesh a = box(1, 1, 1, 3), b = box(0.6, 0.6, 0.6, 3);
        move(&b, 0.011, 0.79, 0.017);
        add(&a, &b);
        scene s;
        scene_make(&s, &a);
        abut_threads_set(j);
        separate(&s, 1e-3, 0);
        const size_t bytes = 3 * (size_t)s.m.nv * sizeof *s.x;
        if (j == 1) first = malloc(bytes), memcpy(first, s.x, bytes);
        else CHECK(!memcmp(first, s.x, bytes));
        scene_clear(&s);
    }
    free(first);
    abut_threads_set(1);
}

TEST(public_intersecting_cubes_are_separated)
{
    const char *data = getenv("ABUT_DATA");
    char path[1000];
    abut_mesh m = { 0 };
    abut_err err = { 0 };
    snprintf(path, sizeof path, "%s/ipc-toolkit/two-cubes-intersecting.ply", data ? data : "../shared/data");
    FILE *f = fopen(path, "rb");
    if (!f) SKIP("no %s", path);
    fclose(f);
    CHECK(!abut_mesh_load(path, &m, &err));
    scene s;
    scene_make(&s, &m);
    CHECK(crossings(&s, s.mesh.x) > 0);
    separate(&s, 1e-3 * s.length, 0);
    check_separated(&s, 1e-3 * s.length);
    scene_clear(&s);
}

SETUP
{
    abut_threads_set(1);    /* meshes this small only make threads wait for each other */
}
