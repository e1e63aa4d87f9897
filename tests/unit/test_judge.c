/* The judge against all pairs, decided one by one, without boxes, trees or lists; and what it makes of a model. */
#include "base/par.h"
#include "base/rng.h"
#include "check.h"
#include "judge/judge.h"
#include "geom/ccd/ccd.h"
#include "geom/exact/predicates.h"

enum { NV = 40, NF = 8, NS = 4, NP = 4 };   /* 24 nodes in triangles, 8 in segments, 4 points, 4 unused */

/* A soup: triangles, segments, points; with `grid` on few coordinates, so that much touches */
static abut_mesh soup(abut_rng *r, int grid, double *x1, double speed)
{
    abut_mesh m = { 0 };
    abut_err err = { 0 };
    int bad = 0, n = 0;
    for (int i = 0; i < NV; i++) {
        double x[3];
        for (int k = 0; k < 3; k++) {
            x[k] = grid ? (int)abut_rng_below(r, 6) : abut_rng_real(r, 0, 3);
            x1[3 * i + k] = grid ? (int)abut_rng_below(r, 6) : x[k] + abut_rng_real(r, -speed, speed);
        }
        bad |= abut_mesh_add_vertex(&m, x, &err) != ABUT_OK;
    }
    for (int i = 0; i < NF; i++, n += 3) bad |= abut_mesh_add_tri(&m, n, n + 1, n + 2, &err) != ABUT_OK;
    for (int i = 0; i < NS; i++, n += 2) bad |= abut_mesh_add_seg(&m, n, n + 1, &err) != ABUT_OK;
    for (int i = 0; i < NP; i++, n++) bad |= abut_mesh_add_point(&m, n, &err) != ABUT_OK;
    /* a segment and a triangle that hang together with others */
    bad |= abut_mesh_add_seg(&m, 0, 25, &err) != ABUT_OK || abut_mesh_add_tri(&m, 0, 1, 5, &err) != ABUT_OK;
    CHECK(!bad);
    return m;
}

static int edge_of(const abut_mesh *m, int i, int32_t e[2])
{
    if (i < m->ns) return memcpy(e, m->seg + 2 * i, 2 * sizeof *e), 1;
    i -= m->ns;
    if (i >= 3 * m->nf) return 0;
    e[0] = m->tri[i], e[1] = m->tri[i % 3 == 2 ? i - 2 : i + 1];
    /* a side that an earlier triangle has too is the same edge */
    for (int j = 0; j < i; j++) {
        const int32_t a = m->tri[j], b = m->tri[j % 3 == 2 ? j - 2 : j + 1];
        if ((a == e[0] && b == e[1]) || (a == e[1] && b == e[0])) return -1;
    }
    return 1;
}

static int share(const int32_t *a, int na, const int32_t *b, int nb)
{
    for (int i = 0; i < na; i++) for (int j = 0; j < nb; j++) if (a[i] == b[j]) return 1;
    return 0;
}

static int collide(const abut_judge_shape *shape, abut_stencil s, const int32_t *a, int na, const int32_t *b, int nb,
                   const double *x0, const double *x1, double sep)
{
    double p[12], q[12];
    for (int i = 0; i < na + nb; i++) {
        const int32_t n = i < na ? a[i] : b[i - na];
        memcpy(p + 3 * i, x0 + 3 * n, 24), memcpy(q + 3 * i, x1 + 3 * n, 24);
    }
    const int still = shape->still[*a] + shape->still[*b];
    if (share(a, na, b, nb) || still == 2 || (shape->bodies_pass && !still)) return 0;
    return sep > 0 ? abut_ccd_exact_within(s, p, q, sep, NULL, NULL) : abut_ccd_exact(s, p, q, NULL, NULL);
}

/* collisions of each kind by testing everything against everything */
static void brute_motion(const abut_judge_shape *s, const double *x1, double sep, const abut_mesh *m, size_t count[4])
{
    memset(count, 0, 4 * sizeof *count);
    const int ne = m->ns + 3 * m->nf;
    for (int32_t v = 0; v < NV - 4; v++)
        for (int f = 0; f < m->nf; f++)
            count[ABUT_PT] += (size_t)collide(s, ABUT_PT, &v, 1, m->tri + 3 * f, 3, m->x, x1, sep);
    for (int i = 0; i < ne; i++) {
        int32_t e[2], g[2];
        if (edge_of(m, i, e) < 1) continue;
        for (int j = 0; j < i; j++)
            if (edge_of(m, j, g) == 1) count[ABUT_EE] += (size_t)collide(s, ABUT_EE, e, 2, g, 2, m->x, x1, sep);
        for (int p = 0; p < m->np; p++) count[ABUT_PE] += (size_t)collide(s, ABUT_PE, m->point + p, 1, e, 2, m->x, x1, sep);
    }
    for (int p = 0; p < m->np; p++)
        for (int q = 0; q < p; q++)
            count[ABUT_PP] += (size_t)collide(s, ABUT_PP, m->point + p, 1, m->point + q, 1, m->x, x1, sep);
}

static size_t count_kind(const abut_hits *h, abut_hit_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < h->n; i++) n += h->hit[i].kind == kind;
    return n;
}

/* Every other piece of the soup is an obstacle: nodes 0 to 5, 24 and 25 hang together. */
static void make_obstacles(abut_judge_shape *s)
{
    for (int i = 0; i < NV; i++) s->still[i] = i < 24 ? i / 3 > 1 && i / 3 % 2 : i < 32 ? i > 25 && i / 2 % 2 : i % 2;
}

TEST(motion_of_a_soup_equals_all_pairs_for_every_kind_of_primitive_less_those_of_obstacles_and_of_bodies_that_do_not_meet)
{
    abut_rng r = { 41 };
    size_t total[4] = { 0 };
    for (int it = 0; it < 70; it++) {
        double x1[3 * NV];
        abut_mesh m = soup(&r, it % 3 == 0, x1, it % 2 ? 0.3 : 2);
        abut_judge_shape s;
        abut_hits hits = { 0 };
        abut_err err = { 0 };
        abut_judge_opts o = abut_judge_defaults();
        o.min_sep = it % 8 == 1 ? 0.1 : 0;
        CHECK(!abut_judge_shape_mesh(&s, &m, &err));
        if (it % 5 > 2) make_obstacles(&s);
        s.bodies_pass = it % 5 == 4;
        CHECK(!abut_judge_motion(&s, m.x, x1, &o, &hits, &err));
        size_t want[4];
        brute_motion(&s, x1, o.min_sep, &m, want);
        CHECK(hits.n <= hits.pairs && hits.pairs <= NV * NV * NV);
        for (int k = 0; k < 4; k++) {
            CHECK(count_kind(&hits, (abut_hit_kind)k) == want[k]);
            total[k] += want[k];
        }
        for (size_t i = 1; i < hits.n; i++) CHECK(hits.hit[i - 1].t_lo <= hits.hit[i].t_lo);
        abut_hits_clear(&hits);
        abut_judge_shape_clear(&s);
        abut_mesh_clear(&m);
    }
    CHECK(total[ABUT_PP] > 0 && total[ABUT_PE] > 3 && total[ABUT_PT] > 30 && total[ABUT_EE] > 30);
}

TEST(a_list_of_any_length_is_sorted_by_time_then_kind_then_nodes_then_item)
{
    /* eight digits of two values each: time, kind, five nodes, item */
    abut_hits h = { 0 };
    for (int i = 0; i < 256; i++) {
        const int k = 37 * i % 256;
        const abut_hit hit = { (abut_hit_kind)(ABUT_HIT_EDGE_EDGE + (k >> 6 & 1)),
                               { k >> 5 & 1, k >> 4 & 1, k >> 3 & 1, k >> 2 & 1, k >> 1 & 1 }, k & 1, 0.25 * (k >> 7), k };
        CHECK(!abut_hits_add(&h, &hit, NULL));
    }
    CHECK(h.n == 256);
    abut_hits_sort(&h);
    for (int i = 0; i < 256; i++) CHECK(h.hit[i].t_hi == i);
    abut_hits_clear(&h);
    CHECK(h.n == 0 && h.cap == 0);
    abut_hits_sort(&h);
}

TEST(a_kind_of_hit_has_the_nodes_of_its_two_primitives)
{
    static const struct { abut_hit_kind kind; const char *name; int nodes, first; } of[] = {
        { ABUT_HIT_POINT_POINT, "vertex-vertex", 1 + 1, 1 }, { ABUT_HIT_POINT_EDGE, "vertex-edge", 1 + 2, 1 },
        { ABUT_HIT_POINT_TRI, "vertex-triangle", 1 + 3, 1 }, { ABUT_HIT_EDGE_EDGE, "edge-edge", 2 + 2, 2 },
        { ABUT_HIT_EDGE_TRI, "edge-triangle", 2 + 3, 2 },    { ABUT_HIT_POINT_TET, "vertex in tet", 1 + 4, 1 },
        { ABUT_HIT_POINT_BODY, "vertex in body", 1, 1 },     { ABUT_HIT_PLANE, "vertex-half-space", 1, 1 },
        { ABUT_HIT_FOLD, "folded triangles", 2 + 1 + 1, 2 }, { ABUT_HIT_DUPLICATE, "duplicate triangle", 3, 3 },
        { ABUT_HIT_INVERTED, "inverted tet", 4, 4 },         { ABUT_HIT_FLAT_TRI, "triangle without area", 3, 3 },
        { ABUT_HIT_FLAT_EDGE, "edge without length", 2, 2 },
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        int first = 0;
        CHECK(of[i].kind == (abut_hit_kind)i && !strcmp(abut_hit_name(of[i].kind), of[i].name));
        CHECK(abut_hit_nodes(of[i].kind, &first) == of[i].nodes && first == of[i].first);
    }
}

TEST(a_pair_alone_has_no_thickness_and_collides_at_its_separation_by_every_method)
{
    const double side[] = { 0, 0, 0, 1, 0, 0, 0, 1, 0 };
    double x0[12] = { 0.25, 0.25, 1 }, x1[12] = { 0.25, 0.25, -1 };
    abut_arena scratch = { 0 };
    memcpy(x0 + 3, side, sizeof side), memcpy(x1 + 3, side, sizeof side);
    for (int method = ABUT_JUDGE_EXACT; method <= ABUT_JUDGE_ADDITIVE; method++)
        for (int k = 0; k < 3; k++) {
            abut_judge_opts o = abut_judge_defaults();
            o.method = (abut_judge_method)method;
            o.min_sep = (double[]){ -1, 0, 0.125 }[k];
            x1[2] = -1;
            CHECK(abut_judge_pair(ABUT_PT, x0, x1, &o, &scratch) == 1);
            x1[2] = 0.25;
            CHECK(abut_judge_pair(ABUT_PT, x0, x1, &o, &scratch) == 0);
            x1[2] = 0.125;
            CHECK(abut_judge_pair(ABUT_PT, x0, x1, &o, &scratch) == (k == 2));
            x1[2] = 0.124;
            CHECK(abut_judge_pair(ABUT_PT, x0, x1, &o, &scratch) == (k == 2));
        }
    abut_arena_clear(&scratch);
}

TEST(conservative_methods_find_whatever_the_exact_one_finds)
{
    abut_rng r = { 42 };
    for (int it = 0; it < 20; it++) {
        double x1[3 * NV];
        abut_mesh m = soup(&r, it % 2, x1, 1);
        abut_judge_shape s;
        abut_hits exact = { 0 }, other = { 0 };
        abut_err err = { 0 };
        abut_judge_opts o = abut_judge_defaults();
        CHECK(!abut_judge_shape_mesh(&s, &m, &err) && !abut_judge_motion(&s, m.x, x1, &o, &exact, &err));
        for (o.method = ABUT_JUDGE_TIGHT; o.method <= ABUT_JUDGE_ADDITIVE; o.method++) {
            CHECK(!abut_judge_motion(&s, m.x, x1, &o, &other, &err));
            CHECK(other.n >= exact.n && other.pairs == exact.pairs);
            for (size_t i = 0; i < exact.n; i++) {
                size_t j = 0;
                while (j < other.n && (other.hit[j].kind != exact.hit[i].kind
                                       || memcmp(other.hit[j].node, exact.hit[i].node, sizeof other.hit[j].node)))
                    j++;
                CHECK(j < other.n && other.hit[j].t_lo <= exact.hit[i].t_hi);
            }
        }
        abut_hits_clear(&exact);
        abut_hits_clear(&other);
        abut_judge_shape_clear(&s);
        abut_mesh_clear(&m);
    }
}

/* Do any two primitives without a common node have a common point?  From the motion's machinery, standing still */
TEST(static_check_finds_a_touch_exactly_when_a_motion_without_movement_does)
{
    abut_rng r = { 43 };
    int yes = 0, no = 0;
    for (int it = 0; it < 600; it++) {
        double x1[3 * NV];
        abut_mesh m = soup(&r, it % 4 == 0, x1, 1);
        for (int i = 0; i < NV && it % 4; i++) m.x[3 * i] += 4 * (i / 3);   /* apart, mostly */
        abut_judge_shape s;
        abut_hits moving = { 0 }, still = { 0 };
        abut_err err = { 0 };
        const abut_judge_opts o = abut_judge_defaults();
        CHECK(!abut_judge_shape_mesh(&s, &m, &err) && !abut_judge_motion(&s, m.x, m.x, &o, &moving, &err));
        CHECK(!abut_judge_static(&s, m.x, &still, &err));
        const size_t folds = count_kind(&still, ABUT_HIT_FOLD);
        size_t crossing = 0;    /* standing still the motion sees vertex-triangle and edge-edge, not a pierced face */
        for (size_t i = 0; i < still.n; i++) {
            const int32_t *const n = still.hit[i].node;
            if (still.hit[i].kind != ABUT_HIT_EDGE_TRI) continue;
            const double *p[5];
            for (int k = 0; k < 5; k++) p[k] = m.x + 3 * n[k];
            crossing += !abut_touch_point_tri(p[0], p[2], p[3], p[4]) && !abut_touch_point_tri(p[1], p[2], p[3], p[4])
                     && !abut_touch_edge_edge(p[0], p[1], p[2], p[3]) && !abut_touch_edge_edge(p[0], p[1], p[3], p[4])
                     && !abut_touch_edge_edge(p[0], p[1], p[4], p[2]);
        }
        CHECK(moving.n == 0 || still.n > 0);
        CHECK(still.n <= folds + crossing || moving.n > 0);
        yes += moving.n > 0, no += moving.n == 0;
        abut_hits_clear(&moving);
        abut_hits_clear(&still);
        abut_judge_shape_clear(&s);
        abut_mesh_clear(&m);
    }
    CHECK(yes > 20 && no > 20);
}

/* field by field: padding may differ */
static int same_hits(const abut_hits *a, const abut_hits *b)
{
    if (a->n != b->n) return 0;
    for (size_t i = 0; i < a->n; i++) {
        const abut_hit *const p = &a->hit[i], *const q = &b->hit[i];
        if (p->kind != q->kind || p->item != q->item || memcmp(p->node, q->node, sizeof p->node) || p->t_lo != q->t_lo
            || p->t_hi != q->t_hi)
            return 0;
    }
    return 1;
}

TEST(the_list_has_the_same_bytes_for_every_thread_count)
{
    abut_rng r = { 44 };
    double x1[3 * NV];
    abut_mesh m = soup(&r, 0, x1, 3);
    abut_judge_shape s;
    abut_hits one = { 0 }, many = { 0 };
    abut_err err = { 0 };
    const abut_judge_opts o = abut_judge_defaults();
    const int threads = abut_threads();
    abut_threads_set(1);
    CHECK(!abut_judge_shape_mesh(&s, &m, &err) && !abut_judge_motion(&s, m.x, x1, &o, &one, &err));
    CHECK(one.n > 10);
    for (int t = 2; t <= 7; t += 5) {
        abut_threads_set(t);
        CHECK(!abut_judge_motion(&s, m.x, x1, &o, &many, &err));
        CHECK(same_hits(&one, &many));
    }
    abut_threads_set(threads);
    abut_hits_clear(&one);
    abut_hits_clear(&many);
    abut_judge_shape_clear(&s);
    abut_mesh_clear(&m);
}

/* a triangle with a segment from its first corner to (x, y, z) */
static size_t hanging(double x, double y, double z, abut_hit_kind kind)
{
    abut_mesh m = { 0 };
    abut_err err = { 0 };
    abut_judge_shape s;
    abut_hits h = { 0 };
    const double p[4][3] = { { 0, 0, 0 }, { 4, 0, 0 }, { 0, 4, 0 }, { x, y, z } };
    for (int i = 0; i < 4; i++) CHECK(!abut_mesh_add_vertex(&m, p[i], &err));
    CHECK(!abut_mesh_add_tri(&m, 0, 1, 2, &err) && !abut_mesh_add_seg(&m, 0, 3, &err));
    CHECK(!abut_judge_shape_mesh(&s, &m, &err) && !abut_judge_static(&s, m.x, &h, &err));
    const size_t n = count_kind(&h, kind);
    CHECK(n == h.n);
    abut_hits_clear(&h);
    abut_judge_shape_clear(&s);
    abut_mesh_clear(&m);
    return n;
}

TEST(rod_that_hangs_on_a_triangle_touches_it_with_its_end_or_across_the_far_side)
{
    CHECK(hanging(1, 1, 1, ABUT_HIT_POINT_TRI) == 0 && hanging(-1, -1, 0, ABUT_HIT_POINT_TRI) == 0);
    CHECK(hanging(1, 1, 0, ABUT_HIT_POINT_TRI) == 1);
    CHECK(hanging(3, 3, 0, ABUT_HIT_EDGE_EDGE) == 1 && hanging(3, 3, 1e-9, ABUT_HIT_EDGE_EDGE) == 0);
}

TEST(pairs_beyond_their_boxes_but_within_the_separation_are_found)
{
    abut_mesh m = { 0 };
    abut_err err = { 0 };
    abut_judge_shape s;
    abut_hits h = { 0 };
    for (int i = 0; i < 3; i++) CHECK(!abut_mesh_add_vertex(&m, (double[3]){ i == 2 ? 0 : i, i == 2, 0 }, &err));
    CHECK(!abut_mesh_add_vertex(&m, (double[3]){ .25, .25, .5 }, &err));
    CHECK(!abut_mesh_add_tri(&m, 0, 1, 2, &err) && !abut_mesh_add_point(&m, 3, &err));
    CHECK(!abut_judge_shape_mesh(&s, &m, &err));
    for (int i = 0; i < 9; i++) {
        abut_judge_opts o = { (abut_judge_method)(i % 3), (double[]){ 0, .4375, .53125 }[i / 3], 1e-6, 1000 };
        CHECK(!abut_judge_motion(&s, m.x, m.x, &o, &h, &err));
        CHECK(h.n == (o.min_sep > .5));
    }
    abut_hits_clear(&h);
    abut_judge_shape_clear(&s);
    abut_mesh_clear(&m);
}

TEST(shape_of_a_mesh_has_the_boundary_of_its_tets_even_when_one_is_inverted)
{
    abut_mesh m = { 0 };
    abut_err err = { 0 };
    abut_judge_shape s;
    abut_hits h = { 0 };
    const double x[5][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { 1, 1, 1 } };
    for (int i = 0; i < 5; i++) CHECK(!abut_mesh_add_vertex(&m, x[i], &err));
    CHECK(!abut_mesh_add_tet(&m, 0, 1, 2, 3, &err) && !abut_mesh_add_tet(&m, 1, 2, 3, 4, &err));
    CHECK(!abut_judge_shape_mesh(&s, &m, &err));
    CHECK(s.tri.n == 6 && s.edge.n == 9 && s.vert.n == 5 && s.point.n == 0 && s.rod.n == 0);
    CHECK(!abut_judge_inverted(&s, m.x, 0, &h, &err) && h.n == 0);
    abut_judge_shape_clear(&s);
    m.tet[4] = 2, m.tet[5] = 1;
    CHECK(!abut_judge_shape_mesh(&s, &m, &err));
    CHECK(s.tri.n == 6);
    CHECK(!abut_judge_inverted(&s, m.x, 0, &h, &err) && h.n == 1 && h.hit[0].item == 1);
    for (int k = 0; k < 4; k++) CHECK(h.hit[0].node[k] == m.tet[4 + k]);
    h.n = 0;
    CHECK(!abut_judge_inverted(&s, m.x, 1, &h, &err) && h.n == 0);
    CHECK(!abut_judge_static(&s, m.x, &h, &err) && h.n == 0);
    abut_hits_clear(&h);
    abut_judge_shape_clear(&s);
    abut_mesh_clear(&m);
}

TEST(a_half_space_is_kept_away_from_whatever_its_normal_and_the_time_is_bracketed)
{
    abut_rng r = { 47 };
    for (int it = 0; it < 60; it++) {
        abut_mesh m = { 0 };
        abut_judge_shape s;
        abut_hits h = { 0 };
        abut_judge_opts o = abut_judge_defaults();
        double *p = malloc(3 * sizeof *p), *n = malloc(3 * sizeof *n), x1[3], length = 0;
        for (int k = 0; k < 3; k++) {
            p[k] = abut_rng_real(&r, -1, 1);
            n[k] = it < 3 ? k == it : abut_rng_real(&r, -1, 1);
            length += n[k] * n[k];
        }
        for (int k = 0; k < 3; k++) n[k] /= sqrt(length);
        /* from the height 1 down to a little above, or below, the separation; what is along the plane does not count */
        o.min_sep = it % 2 ? 0.3 : 0;
        const int below = it / 2 % 2;
        const double end = o.min_sep + (below ? -1e-3 : 1e-9), way[3] = { n[1] - n[2], n[2] - n[0], n[0] - n[1] };
        double x0[3];
        for (int k = 0; k < 3; k++) x0[k] = p[k] + n[k], x1[k] = p[k] + end * n[k] + 5 * way[k];
        CHECK(!abut_mesh_add_vertex(&m, x0, NULL) && !abut_mesh_add_point(&m, 0, NULL) && !abut_judge_shape_mesh(&s, &m, NULL));
        s.n_plane = 1, s.plane_point = p, s.plane_normal = n;
        CHECK(!abut_judge_motion(&s, m.x, x1, &o, &h, NULL));
        CHECK(h.n == (size_t)below && (!below || h.hit[0].kind == ABUT_HIT_PLANE));
        const double time = (1 - o.min_sep) / (1 - end);
        CHECK(!below || (h.hit[0].t_lo <= time && time <= h.hit[0].t_hi && h.hit[0].t_hi - h.hit[0].t_lo < 1e-12));
        abut_hits_clear(&h);
        abut_judge_shape_clear(&s);
        abut_mesh_clear(&m);
    }
}

/* Grains 0, 1, 2, of which 2 is an obstacle; above the floor and before a wall. */
static void grains(abut_mesh *m, abut_judge_shape *s)
{
    static const double x[3][3] = { { 0, 0, 1 }, { 9, 0, 0.5 }, { 20, 0, -1 } };
    static double point[6] = { 0, 0, 0, 10, 0, 0 }, normal[6] = { 0, 0, 1, -1, 0, 0 };
    for (int i = 0; i < 3; i++) CHECK(!abut_mesh_add_vertex(m, x[i], NULL) && !abut_mesh_add_point(m, i, NULL));
    CHECK(!abut_judge_shape_mesh(s, m, NULL));
    free(s->plane_point), free(s->plane_normal);
    s->plane_point = malloc(sizeof point), s->plane_normal = malloc(sizeof normal);
    memcpy(s->plane_point, point, sizeof point), memcpy(s->plane_normal, normal, sizeof normal);
    s->n_plane = 2, s->still[2] = 1;
}

TEST(each_half_space_stops_each_grain_that_is_no_obstacle)
{
    abut_mesh m = { 0 };
    abut_judge_shape s;
    abut_hits h = { 0 };
    abut_judge_opts o = abut_judge_defaults();
    grains(&m, &s);
    const double x1[9] = { 0, 0, -1, 13, 0, 0.5, 20, 0, -1 };
    CHECK(!abut_judge_motion(&s, m.x, x1, &o, &h, NULL));
    CHECK(h.n == 2 && h.pairs == 4);                            /* two grains, two half-spaces */
    CHECK(h.hit[0].kind == ABUT_HIT_PLANE && h.hit[0].item == 1 && h.hit[0].node[0] == 1 && h.hit[0].node[1] == -1);
    CHECK(h.hit[1].kind == ABUT_HIT_PLANE && h.hit[1].item == 0 && h.hit[1].node[0] == 0 && h.hit[1].node[1] == -1);
    CHECK(h.hit[0].t_lo <= 0.25 && 0.25 <= h.hit[0].t_hi && h.hit[0].t_hi - h.hit[0].t_lo < 1e-13);
    CHECK(h.hit[1].t_lo <= 0.5 && 0.5 <= h.hit[1].t_hi && h.hit[1].t_hi - h.hit[1].t_lo < 1e-13);
    /* down to the plane, and up from it: at the end, and at the start */
    const double on[9] = { 0, 0, 0, 9, 0, 0.5, 20, 0, -1 };
    CHECK(!abut_judge_motion(&s, m.x, on, &o, &h, NULL) && h.n == 1);
    CHECK(h.hit[0].t_hi == 1 && h.hit[0].t_lo > 1 - 1e-13);
    CHECK(!abut_judge_motion(&s, on, m.x, &o, &h, NULL) && h.n == 1 && h.hit[0].t_lo == 0 && h.hit[0].t_hi == 0);
    o.min_sep = 0.5;
    CHECK(!abut_judge_motion(&s, m.x, m.x, &o, &h, NULL) && h.n == 1 && h.hit[0].node[0] == 1 && h.hit[0].item == 0);
    o.min_sep = 0.5 - 1e-12;
    CHECK(!abut_judge_motion(&s, m.x, m.x, &o, &h, NULL) && h.n == 0);
    abut_hits_clear(&h);
    abut_judge_shape_clear(&s);
    abut_mesh_clear(&m);
}

TEST(the_smallest_gap_is_of_the_half_space_and_the_grain_that_have_it_or_there_is_none_within_reach)
{
    abut_mesh m = { 0 };
    abut_judge_shape s;
    abut_judge_gap g;
    abut_judge_opts o = abut_judge_defaults();
    grains(&m, &s);
    CHECK(!abut_judge_smallest_gap(&s, m.x, 1, &o, &g, NULL));
    CHECK_NEAR(g.gap, 0.5, 1e-14);
    CHECK(g.gap <= 0.5 && g.at.kind == ABUT_HIT_PLANE && g.at.item == 0 && g.at.node[0] == 1 && g.at.node[1] == -1);
    CHECK(!abut_judge_smallest_gap(&s, m.x, 0.5 - 1e-12, &o, &g, NULL) && g.gap == INFINITY);
    o.min_sep = 0.125;
    CHECK(!abut_judge_smallest_gap(&s, m.x, 0.5, &o, &g, NULL));
    CHECK_NEAR(g.gap, 0.375, 1e-14);
    m.x[3] = 9.75;                                              /* now the wall is nearer */
    CHECK(!abut_judge_smallest_gap(&s, m.x, 0.5, &o, &g, NULL) && g.at.item == 1 && g.at.node[0] == 1);
    CHECK_NEAR(g.gap, 0.125, 1e-14);
    s.still[2] = 0;
    CHECK(!abut_judge_smallest_gap(&s, m.x, 0.5, &o, &g, NULL) && g.at.node[0] == 2 && g.at.item == 1);
    CHECK_NEAR(g.gap, -10.125, 1e-13);
    abut_judge_shape_clear(&s);
    abut_mesh_clear(&m);
}

TEST(nothing_is_near_unless_a_separation_is_asked_for_and_what_is_near_is_appended)
{
    abut_mesh m = { 0 };
    abut_judge_shape s;
    abut_hits h = { 0 };
    abut_judge_opts o = abut_judge_defaults();
    for (int i = 0; i < 2; i++) CHECK(!abut_mesh_add_vertex(&m, (double[3]){ 0 }, NULL) && !abut_mesh_add_point(&m, i, NULL));
    CHECK(!abut_judge_shape_mesh(&s, &m, NULL));
    for (int k = 0; k < 2; k++, o.min_sep = 0) CHECK(!abut_judge_near(&s, m.x, &o, &h, NULL) && h.n == 0 && h.pairs == 0);
    o.min_sep = 1e-3;
    for (size_t k = 1; k < 3; k++) CHECK(!abut_judge_near(&s, m.x, &o, &h, NULL) && h.n == k && h.pairs == k);
    abut_hits_clear(&h);
    abut_judge_shape_clear(&s);
    abut_mesh_clear(&m);
}

/* Grains in the box of a tilted triangle, sqrt(3) / 4 m from it on either side; all 1 m thick. */
TEST(a_separation_of_zero_leaves_thickness_aside)
{
    static const double x[5][3] = { { 3, 0, 0 }, { 0, 3, 0 }, { 0, 0, 3 }, { 0.75, 0.75, 0.75 }, { 1.25, 1.25, 1.25 } };
    abut_mesh m = { 0 };
    abut_judge_shape s;
    abut_judge_gap g;
    abut_hits h = { 0 };
    abut_judge_opts o = abut_judge_defaults();
    for (int i = 0; i < 5; i++) CHECK(!abut_mesh_add_vertex(&m, x[i], NULL) && (i < 3 || !abut_mesh_add_point(&m, i, NULL)));
    CHECK(!abut_mesh_add_tri(&m, 0, 1, 2, NULL) && !abut_judge_shape_mesh(&s, &m, NULL));
    s.thick = malloc(5 * sizeof *s.thick);
    for (int i = 0; i < 5; i++) s.thick[i] = 1;
    CHECK(!abut_judge_motion(&s, m.x, m.x, &o, &h, NULL) && count_kind(&h, ABUT_HIT_POINT_TRI) == 2);
    o.min_sep = 0;
    CHECK(!abut_judge_motion(&s, m.x, m.x, &o, &h, NULL) && h.n == 0);
    CHECK(!abut_judge_smallest_gap(&s, m.x, 1, &o, &g, NULL) && g.at.kind == ABUT_HIT_POINT_TRI);
    CHECK_NEAR(g.gap, sqrt(3) / 4, 1e-14);
    abut_hits_clear(&h);
    abut_judge_shape_clear(&s);
    abut_mesh_clear(&m);
}

/* Triangles on few nodes with small integer coordinates, so that plain arithmetic decides exactly. */
enum { CORNERS = 9, LEAVES = 14 };

static void crumple(abut_rng *r, int flat, abut_mesh *m)
{
    abut_err err = { 0 };
    int bad = 0;
    for (int i = 0; i < CORNERS; i++) {
        double x[3];
        for (int k = 0; k < 3; k++) x[k] = flat && k == 2 ? 0 : (int)abut_rng_below(r, 3);
        bad |= abut_mesh_add_vertex(m, x, &err) != ABUT_OK;
    }
    for (int i = 0; i < LEAVES; i++) {
        int32_t v[3];
        do for (int k = 0; k < 3; k++) v[k] = (int32_t)abut_rng_below(r, CORNERS);
        while (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]);
        bad |= abut_mesh_add_tri(m, v[0], v[1], v[2], &err) != ABUT_OK;
    }
    CHECK(!bad);
}

/* (b - a) x (c - a) */
static void normal_of(const abut_mesh *m, int32_t a, int32_t b, int32_t c, double n[3])
{
    const double *p = m->x + 3 * a, *q = m->x + 3 * b, *s = m->x + 3 * c;
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        n[k] = (q[i] - p[i]) * (s[j] - p[j]) - (q[j] - p[j]) * (s[i] - p[i]);
    }
}

static int is_zero(const double n[3]) { return n[0] == 0 && n[1] == 0 && n[2] == 0; }

TEST(flat_elements_are_those_without_length_or_area)
{
    abut_rng r = { 45 };
    size_t edges = 0, tris = 0;
    for (int it = 0; it < 200; it++) {
        abut_mesh m = { 0 };
        abut_judge_shape s;
        abut_hits h = { 0 };
        size_t want[2] = { 0, 0 };
        crumple(&r, it % 2, &m);
        CHECK(!abut_judge_shape_mesh(&s, &m, NULL) && !abut_judge_flat(&s, m.x, &h, NULL));
        for (int i = 0; i < 3 * LEAVES; i++) {
            int32_t e[2];
            if (edge_of(&m, i, e) == 1) want[0] += !memcmp(m.x + 3 * e[0], m.x + 3 * e[1], 3 * sizeof(double));
        }
        for (int i = 0; i < LEAVES; i++) {
            double n[3];
            normal_of(&m, m.tri[3 * i], m.tri[3 * i + 1], m.tri[3 * i + 2], n);
            want[1] += is_zero(n) != 0;
        }
        CHECK(count_kind(&h, ABUT_HIT_FLAT_EDGE) == want[0] && count_kind(&h, ABUT_HIT_FLAT_TRI) == want[1]);
        CHECK(h.n == want[0] + want[1]);
        edges += want[0], tris += want[1];
        abut_hits_clear(&h);
        abut_judge_shape_clear(&s);
        abut_mesh_clear(&m);
    }
    CHECK(edges > 50 && tris > 100);
}

TEST(folds_and_duplicates_are_those_of_all_pairs_of_triangles)
{
    abut_rng r = { 46 };
    size_t folds = 0, twice = 0;
    for (int it = 0; it < 400; it++) {
        abut_mesh m = { 0 };
        abut_judge_shape s;
        abut_hits h = { 0 };
        size_t want[2] = { 0, 0 };
        int area = 1;
        crumple(&r, it % 2, &m);
        for (int i = 0; i < LEAVES; i++) {
            double n[3];
            normal_of(&m, m.tri[3 * i], m.tri[3 * i + 1], m.tri[3 * i + 2], n);
            area &= !is_zero(n);
        }
        for (int i = 0; i < LEAVES && area; i++)
            for (int j = 0; j < i; j++) {
                const int32_t *t = m.tri + 3 * i, *u = m.tri + 3 * j;
                int32_t common[3], n = 0, c = -1, d = -1;
                for (int k = 0; k < 3; k++)
                    if (share(t + k, 1, u, 3)) common[n++] = t[k];
                    else c = t[k];
                for (int k = 0; k < 3; k++) d = share(u + k, 1, t, 3) ? d : u[k];
                want[1] += n == 3;
                if (n != 2) continue;
                double a[3], b[3], cross = 0, dot = 0;
                normal_of(&m, common[0], common[1], c, a);
                normal_of(&m, common[0], common[1], d, b);
                for (int k = 0; k < 3; k++) {
                    cross += fabs(a[k] * b[(k + 1) % 3] - a[(k + 1) % 3] * b[k]);
                    dot += a[k] * b[k];
                }
                want[0] += cross == 0 && dot > 0;   /* in one plane, on one side of the common side */
            }
        if (area) {
            CHECK(!abut_judge_shape_mesh(&s, &m, NULL) && !abut_judge_folds(&s, m.x, &h, NULL));
            CHECK(count_kind(&h, ABUT_HIT_FOLD) == want[0] && count_kind(&h, ABUT_HIT_DUPLICATE) == want[1]);
            CHECK(h.n == want[0] + want[1]);
            abut_judge_shape_clear(&s);
        }
        folds += want[0], twice += want[1];
        abut_hits_clear(&h);
        abut_mesh_clear(&m);
    }
    printf("# %zu folds, %zu duplicates\n", folds, twice);
    CHECK(folds > 30 && twice > 10);
}

SETUP
{
    abut_threads_set(1);    /* tiny loads: idle threads would only spin */
}
