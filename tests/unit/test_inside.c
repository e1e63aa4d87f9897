/* Vertices inside of contact surfaces whose vertices are sums of nodes: against exact tets and against solid angles. */
#include "base/rng.h"
#include "geom/exact/predicates.h"
#include "judge/judge.h"
#include "mesh/proxy.h"
#include "mesh/tet_nodes.h"
#include "mesh/generate/generate.h"
#include "mesh/triangle_tree.h"
#include "check.h"

/* A body of tets, object 0, with its boundary divided, and n points, object 1. */
typedef struct scene {
    abut_mesh mesh;
    abut_proxy proxy;
    abut_model model;
    int32_t n, *body, *role, *first, *node, *injective, *mat;
    double *weight, *x, *y;     /* nodes; vertices */
} scene;

static void build(scene *s, abut_mesh mesh, int segments, int32_t n)
{
    const abut_rest_shape own = { 0, NULL };
    *s = (scene){ .mesh = mesh, .n = n };
    const abut_mesh *m = &s->mesh;
    CHECK(!abut_proxy_upsample(m, own, segments, &s->proxy, NULL));
    const abut_proxy *p = &s->proxy;
    const int32_t nw = p->first[p->nv], nv = m->nv + n, nc = p->nv + n;
    s->body = calloc((size_t)nv, sizeof *s->body), s->role = calloc((size_t)nv, sizeof *s->role);
    s->first = calloc(2 * (size_t)nc, sizeof *s->first), s->node = calloc((size_t)(nw + n), sizeof *s->node);
    s->weight = calloc((size_t)(nw + n), sizeof *s->weight), s->x = calloc(3 * (size_t)nv, sizeof *s->x);
    s->y = calloc(3 * (size_t)p->nv, sizeof *s->y);
    s->injective = calloc(1, sizeof *s->injective), s->mat = calloc((size_t)m->nt, sizeof *s->mat);
    memcpy(s->x, m->x, 3 * (size_t)m->nv * sizeof *s->x);
    memcpy(s->node, p->point, (size_t)nw * sizeof *s->node);
    memcpy(s->weight, p->weight, (size_t)nw * sizeof *s->weight);
    for (int32_t v = 0; v < p->nv; v++) s->first[2 * v] = p->first[v], s->first[2 * v + 1] = p->first[v + 1];
    for (int32_t i = 0; i < n; i++) {
        s->body[m->nv + i] = 1;
        s->first[2 * (p->nv + i)] = nw + i, s->first[2 * (p->nv + i) + 1] = nw + i + 1;
        s->node[nw + i] = m->nv + i, s->weight[nw + i] = 1;
    }
    s->model = (abut_model){ .nv = nv, .nt = m->nt, .no = 2, .nc = nc, .nct = p->nf, .nmap = nw + n, .nm = 1, .X = s->x,
                             .tet = m->tet, .body = s->body, .role = s->role, .coll_tri = p->tri, .map_first = s->first,
                             .map_node = s->node, .map_weight = s->weight, .mat_model = s->injective, .tet_mat = s->mat };
}

static void discard(scene *s)
{
    abut_mesh_clear(&s->mesh);
    abut_proxy_clear(&s->proxy);
    free(s->body), free(s->role), free(s->first), free(s->node), free(s->injective), free(s->mat);
    free(s->weight), free(s->x), free(s->y);
}

/* inside[n] of the points by the judge; how many hits there are of this kind. */
static int32_t judged(scene *s, uint8_t *inside)
{
    abut_judge_shape shape;
    abut_hits hits = { 0 };
    const double *at;
    int32_t count = 0;
    memset(inside, 0, (size_t)s->n);
    CHECK(!abut_judge_shape_model(&shape, &s->model, NULL));
    double *room = malloc(3 * (size_t)shape.nv * sizeof *room);
    CHECK(!abut_judge_points(&shape, s->x, room, &at, NULL));
    CHECK(!abut_judge_static(&shape, at, &hits, NULL));
    memcpy(s->y, at + 3 * (size_t)s->model.nv, 3 * (size_t)s->proxy.nv * sizeof *s->y);
    for (size_t i = 0; i < hits.n; i++) {
        if (hits.hit[i].kind != ABUT_HIT_POINT_BODY) continue;
        const int32_t v = hits.hit[i].node[0] - s->model.nv - s->proxy.nv;
        CHECK(hits.hit[i].item == 0 && v >= 0 && v < s->n);
        if (v < 0 || v >= s->n) continue;
        CHECK(!inside[v]);
        inside[v] = 1;
        count++;
    }
    free(room);
    abut_hits_clear(&hits);
    abut_judge_shape_clear(&shape);
    return count;
}

static int on_surface(const scene *s, const double *p)
{
    for (int32_t f = 0; f < s->proxy.nf; f++) {
        const int32_t *v = s->proxy.tri + 3 * (size_t)f;
        if (abut_touch_point_tri(p, s->y + 3 * (size_t)v[0], s->y + 3 * (size_t)v[1], s->y + 3 * (size_t)v[2])) return 1;
    }
    return 0;
}

static int in_tets(const scene *s, const double *p)
{
    const double *c[4];
    for (int32_t t = 0; t < s->mesh.nt; t++) {
        for (int k = 0; k < 4; k++) c[k] = s->x + 3 * (size_t)s->mesh.tet[4 * (size_t)t + (size_t)k];
        if (abut_touch_point_tet(p, c[0], c[1], c[2], c[3])) return 1;
    }
    return 0;
}

/* All coordinates are multiples of 1/8: columns meet sides and corners of triangles, and upright ones. */
TEST(on_a_lattice_the_surface_holds_what_the_tets_hold)
{
    enum { SIDE = 13 };
    const double size[3] = { 1, 1, 1 };
    const int32_t cells[3] = { 2, 2, 2 };
    abut_mesh m = { 0 };
    scene s;
    int32_t in = 0, on = 0;
    static uint8_t inside[SIDE * SIDE * SIDE];
    CHECK(!abut_generate_box(size, cells, &m, NULL));
    for (int32_t i = 0; i < m.nv; i++) {            /* a step in the box: its top is no plane */
        double *x = m.x + 3 * (size_t)i;
        if (x[0] > 0.25 && x[2] > 0.25) x[2] += 0.25, x[1] += 0.125;
        if (x[0] < -0.25 && x[2] < -0.25) x[0] -= 0.25;
    }
    build(&s, m, 2, SIDE * SIDE * SIDE);
    for (int32_t i = 0; i < s.n; i++) {
        double *x = s.x + 3 * (size_t)(s.mesh.nv + i);
        x[0] = (i % SIDE - 6) / 8., x[1] = (i / SIDE % SIDE - 6) / 8., x[2] = (i / SIDE / SIDE - 6) / 8.;
    }
    const int32_t count = judged(&s, inside);
    for (int32_t i = 0; i < s.n; i++) {
        const double *p = s.x + 3 * (size_t)(s.mesh.nv + i);
        const int touches = on_surface(&s, p), holds = in_tets(&s, p);
        CHECK(touches ? holds : inside[i] == holds);
        on += touches, in += holds && !touches;
    }
    CHECK(in > 300 && on > 300 && count >= in && count <= in + on);
    discard(&s);
}

TEST(of_a_curved_body_the_surface_holds_what_it_winds_around)
{
    enum { N = 400 };
    abut_rng r = { 4 };
    abut_mesh m = { 0 };
    scene s;
    uint8_t inside[N], again[N];
    CHECK(!abut_generate_sphere(1, 2, &m, NULL));
    CHECK(!abut_mesh_set_order(&m, 3, NULL));
    for (int32_t i = 0; i < m.nv; i++) m.x[3 * (size_t)i] += 0.2 * m.x[3 * (size_t)i + 1] * m.x[3 * (size_t)i + 1];
    build(&s, m, 3, N);
    for (int32_t i = 0; i < 3 * N; i++) s.x[3 * (size_t)s.mesh.nv + (size_t)i] = abut_rng_real(&r, -1.2, 1.2);
    const int32_t count = judged(&s, inside);
    abut_triangle_tree *tree;
    CHECK(!abut_triangle_tree_new(&tree, s.y, s.proxy.tri, s.proxy.nf, NULL));
    for (int32_t i = 0; i < N; i++)
        CHECK(inside[i] == abut_triangles_inside(tree, abut_v3_get(s.x + 3 * (size_t)(s.mesh.nv + i))));
    abut_triangle_tree_free(&tree);
    CHECK(count > 60 && count < N - 60);

    /* with its normals inward it winds around the same in the other direction */
    for (int32_t f = 0; f < s.proxy.nf; f++) {
        int32_t *v = s.proxy.tri + 3 * (size_t)f, a = v[0];
        v[0] = v[1], v[1] = a;
    }
    CHECK(judged(&s, again) == count && !memcmp(inside, again, N));
    /* an obstacle's points are judged, an obstacle in an obstacle is not, nor bodies that do not meet */
    for (int32_t i = 0; i < N; i++) s.role[s.mesh.nv + i] = ABUT_NODE_OBSTACLE;
    CHECK(judged(&s, again) == count);
    for (int32_t i = 0; i < s.mesh.nv; i++) s.role[i] = ABUT_NODE_OBSTACLE;
    CHECK(judged(&s, again) == 0);
    memset(s.role, 0, (size_t)s.model.nv * sizeof *s.role);
    int32_t meet = 0;
    s.model.bodies_meet = &meet;
    CHECK(judged(&s, again) == 0);
    s.model.bodies_meet = NULL;
    /* a surface with a hole holds nothing */
    s.model.nct--;
    CHECK(judged(&s, again) == 0);
    s.model.nct++;
    CHECK(judged(&s, again) == count);
    discard(&s);
}

/* ---- depth of the true boundary ---- */

/* A tet of order 2 and one of order 1 that holds the middle of its face z = 0, of two objects. */
typedef struct pair_of_tets {
    double x[3 * 14];
    int32_t tet[8], order[2], first[2], more[6], body[14], role[14], node[8], tri[24];
    abut_model m;
} pair_of_tets;

static void two_tets(pair_of_tets *p, const double move[3])
{
    static const int32_t face[4][3] = { { 1, 2, 3 }, { 0, 3, 2 }, { 0, 1, 3 }, { 0, 2, 1 } };
    static const double corner[4][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    memset(p, 0, sizeof *p);
    for (int k = 0; k < 12; k++) p->x[k] = corner[k / 3][k % 3], p->x[30 + k] = 4 * corner[k / 3][k % 3] + move[k % 3];
    for (int k = 0; k < 4; k++) p->tet[k] = p->node[k] = k, p->tet[4 + k] = p->node[4 + k] = 10 + k, p->body[10 + k] = 1;
    static const int side[6][2] = { { 0, 1 }, { 1, 2 }, { 2, 0 }, { 3, 0 }, { 3, 2 }, { 3, 1 } };
    for (int e = 0; e < 6; e++) {
        p->more[e] = 4 + e;
        for (int c = 0; c < 3; c++) p->x[3 * (4 + e) + c] = 0.5 * (corner[side[e][0]][c] + corner[side[e][1]][c]);
    }
    p->order[0] = 2, p->order[1] = 1, p->first[1] = 6;
    for (int i = 0; i < 24; i++) p->tri[i] = 4 * (i / 12) + face[i / 3 % 4][i % 3];
    p->m = (abut_model){ .nv = 14, .nt = 2, .no = 2, .nc = 8, .nct = 8, .nmore = 6, .X = p->x, .tet = p->tet,
                         .tet_order = p->order, .tet_first = p->first, .tet_more = p->more, .body = p->body, .role = p->role,
                         .coll_node = p->node, .coll_tri = p->tri };
}

/* The middle of the side 0 1 hangs down by a quarter: at t of it the boundary is t (1 - t) deep. */
TEST(a_bulge_is_as_deep_in_what_it_meets_as_its_deepest_sample)
{
    pair_of_tets p;
    abut_boundary_depth d;
    two_tets(&p, (double[3]){ -1, -1, 0 });
    for (int k = 0; k < 4; k++) p.x[30 + 3 * k + 2] = k == 3 ? -8 : 0;      /* below z = 0 */
    const int32_t swapped = p.tet[5];
    p.tet[5] = p.tet[6], p.tet[6] = swapped;
    for (int i = 12; i < 24; i += 3) {
        const int32_t v = p.tri[i];
        p.tri[i] = p.tri[i + 1], p.tri[i + 1] = v;
    }
    CHECK(!abut_judge_boundary(&p.m, p.x, NULL, 4, &d, NULL));
    CHECK(d.depth == 0 && d.tet == -1 && d.object == -1 && d.plane == -1 && d.samples == 4 * 15);
    for (int e = 4; e < 10; e++)
        if (p.x[3 * e] == 0.5 && p.x[3 * e + 1] == 0 && p.x[3 * e + 2] == 0) p.x[3 * e + 2] = -0.25;
    static const double most[] = { 0, 0, 0.25, 2 / 9., 0.25, 0.24 };
    for (int n = 2; n < 6; n++) {
        CHECK(!abut_judge_boundary(&p.m, p.x, NULL, n, &d, NULL));
        CHECK_NEAR(d.depth, most[n], 1e-14);
        CHECK(d.tet == 0 && d.object == 1 && d.plane == -1 && d.samples == (size_t)(4 * (n + 1) * (n + 2) / 2));
        CHECK(d.at[1] == 0 && fabs(d.at[2] + most[n]) < 1e-14);
        CHECK_NEAR(d.at[0] * (1 - d.at[0]), most[n], 1e-14);
    }
    CHECK(!abut_judge_boundary(&p.m, p.x, NULL, 1, &d, NULL) && d.depth == 0 && d.samples == 4 * 3);
    /* obstacles may meet, bodies where they are said to; a hull with a hole holds nothing */
    for (int i = 0; i < 14; i++) p.role[i] = ABUT_NODE_OBSTACLE;
    CHECK(!abut_judge_boundary(&p.m, p.x, NULL, 2, &d, NULL) && d.depth == 0);
    for (int i = 0; i < 10; i++) p.role[i] = ABUT_NODE_FREE;
    CHECK(!abut_judge_boundary(&p.m, p.x, NULL, 2, &d, NULL) && d.object == 1);
    const int32_t meet = 0;
    p.m.bodies_meet = &meet;
    CHECK(!abut_judge_boundary(&p.m, p.x, NULL, 2, &d, NULL) && d.object == 1);
    for (int i = 10; i < 14; i++) p.role[i] = ABUT_NODE_FREE;
    CHECK(!abut_judge_boundary(&p.m, p.x, NULL, 2, &d, NULL) && d.depth == 0);
    p.m.bodies_meet = NULL, p.m.nct--;
    CHECK(!abut_judge_boundary(&p.m, p.x, NULL, 2, &d, NULL) && d.depth == 0);
    /* the deepest in two half-spaces; an obstacle may be under them */
    const double point[6] = { 0, 0, 0, 0, 0, -0.125 }, normal[6] = { 0, 1, 0, 0, 0, 1 };
    p.m.nh = 2, p.m.hs_point = point, p.m.hs_normal = normal;
    CHECK(!abut_judge_boundary(&p.m, p.x, NULL, 2, &d, NULL));
    CHECK(d.depth == 0.125 && d.plane == 1 && d.object == -1 && d.tet == 0 && d.at[0] == 0.5 && d.at[2] == -0.25);
    for (int i = 0; i < 10; i++) p.role[i] = ABUT_NODE_OBSTACLE;
    CHECK(!abut_judge_boundary(&p.m, p.x, NULL, 2, &d, NULL) && d.depth == 0);
}
