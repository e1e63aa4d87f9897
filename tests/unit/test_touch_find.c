/* Contacts of a step for hard contact against plain loops over all pairs of primitives. */
#include "base/par.h"
#include "contact/intersect.h"
#include "contact/touch_find.h"
#include "contact_twin.h"
#include "failing_malloc.h"
#include "geom/ccd/ccd.h"
#include "thicket.h"

#include "check.h"

enum { MOST = 20000 };

/* A thicket above a half-space; its obstacles move, too. */
typedef struct grove {
    thicket t;
    double mu[4], plane_point[3], plane_normal[3], v[3 * THICKET_MAX], h;
    int32_t friction[THICKET_OBJECTS], plane_friction;
    abut_touch_step step;
} grove;

static void grove_make(grove *g, uint64_t seed, double speed, double reserve)
{
    abut_rng r = { seed + 99 };
    abut_collmesh_clear(&g->t.cm);      /* of the grove before, which is zero-filled at first */
    thicket_make(&g->t, seed, 2e-3, 4e-3, 3e-3, 1e-3, 1e-3, speed);
    g->h = 0.01;
    for (int i = 0; i < 4; i++) g->mu[i] = 0.1 * (1 + i / 2 + i % 2);
    for (int i = 0; i < THICKET_OBJECTS; i++) g->friction[i] = i == THICKET_RODS;
    g->plane_friction = 1;
    double low = 0;
    for (int32_t i = 0; i < g->t.model.nc; i++) low = fmin(low, g->t.X[3 * i + 1]);
    memcpy(g->plane_point, (double[]){ 0, low - 0.01, 0 }, sizeof g->plane_point);
    memcpy(g->plane_normal, (double[]){ 0, 1, 0 }, sizeof g->plane_normal);
    abut_model *m = &g->t.model;
    m->ng = 2, m->mu = g->mu, m->obj_friction = g->friction;
    m->nh = 1, m->hs_point = g->plane_point, m->hs_normal = g->plane_normal, m->hs_friction = &g->plane_friction;
    for (int i = 0; i < 3 * m->nc; i++) {
        if (g->t.fixed[i / 3]) g->t.y1[i] = g->t.X[i] + 0.3 * speed * abut_rng_real(&r, -1, 1);
        g->v[i] = (g->t.y1[i] - g->t.X[i]) / g->h;
    }
    g->step = (abut_touch_step){ .cm = &g->t.cm, .y = g->t.X, .held = g->t.fixed, .v_held = g->v, .h = g->h, .reserve = reserve };
}

/* How far the separation of a stencil leaves its cones at time toi. */
static double turn_of(const grove *g, const abut_rings *rings, abut_stencil s, const int32_t v[4], double toi)
{
    double x[12], x1[12], w[4], r[3] = { 0 };
    thicket_points(g->t.X, s, v, x);
    thicket_points(g->t.y1, s, v, x1);
    for (int k = 0; k < 3 * abut_stencil_size(s); k++) x[k] += toi * (x1[k] - x[k]);
    (void)abut_closest(s, x, w);
    for (int k = 0; k < 3 * abut_stencil_size(s); k++) r[k % 3] += w[k / 3] * x[k];
    return abut_cone_turn(rings, &g->t.cm, &(abut_moving){ g->t.X, g->t.y1, toi }, s, v, w, r);
}

/* The plain loops: every contact that near ones have to have, sorted and merged; reach of them. */
static size_t near_by_loop(const grove *g, contact_twin *list)
{
    const thicket *t = &g->t;
    size_t n = 0;
    for (abut_stencil s = ABUT_PP; s <= ABUT_EE; s++)
        for (int32_t i = 0; i < thicket_rows(t, s, 0); i++)
            for (int32_t j = 0; j < thicket_rows(t, s, 1); j++) {
                int32_t v[4];
                double x[12], w[4], end[12], r[3] = { 0 }, r1[3] = { 0 };
                if (!thicket_pair(t, s, i, j, v) || thicket_all_fixed(t, v)) continue;
                const double xi = thicket_xi(t, s, v), reserve = g->step.reserve;
                const double eps = s == ABUT_EE ? abut_mollify_eps(t->cm.rest2[i], t->cm.rest2[j]) : 0;
                thicket_points(t->X, s, v, x);
                if (!contact_twin_of(s, x, v, eps, xi + (1 + ABUT_TOUCH_REACH) * reserve, &list[n])) continue;
                (void)abut_closest(s, x, w);
                thicket_points(t->y1, s, v, end);
                for (int k = 0; k < 3 * abut_stencil_size(s); k++)
                    r[k % 3] += w[k / 3] * x[k], r1[k % 3] += w[k / 3] * end[k];
                const double d = sqrt(list[n].dist2), then = (r[0] * r1[0] + r[1] * r1[1] + r[2] * r1[2]) / d;
                n += d - xi < 2 * reserve || then - xi < 2 * reserve;
                CHECK(n < MOST);
            }
    n = contact_twin_merge(list, n);
    /* without those whose separation leaves the cones of their features far */
    abut_rings rings;
    size_t kept = 0;
    CHECK(!abut_rings_init(&rings, &t->cm, NULL));
    for (size_t i = 0; i < n; i++)
        if (turn_of(g, &rings, (abut_stencil)list[i].kind, list[i].v, 0) <= ABUT_TOUCH_TURN) list[kept++] = list[i];
    abut_rings_clear(&rings);
    return kept;
}

/* Whether contact c of the set says the gap at the end of the motion: h u_N, u = B v + k, for the v that leads there. */
static int says_gap(const grove *g, const abut_touching *t, size_t c)
{
    const abut_touch_key *key = &t->key[c];
    const thicket *th = &g->t;
    double u[3], end[12], w[4], r[3] = { 0 }, start = 0, d = 0, h0[3] = { 0 }, x[12];
    abut_touching_velocity(t, c, g->v, u);
    const double un = u[0] * t->normal[3 * c] + u[1] * t->normal[3 * c + 1] + u[2] * t->normal[3 * c + 2];
    if (key->plane >= 0) {
        const double low = g->plane_point[1] + th->thick[th->body[key->vert[0]]] / 2 + g->step.reserve;
        const double gap = th->X[3 * key->vert[0] + 1] - low, move = th->y1[3 * key->vert[0] + 1] - low - gap;
        return fabs(fmax(gap, -g->step.reserve / 4) + move - un * g->h) < 1e-12;
    }
    const abut_stencil s = (abut_stencil)key->kind;
    thicket_points(th->X, s, key->vert, x);
    thicket_points(th->y1, s, key->vert, end);
    const double xi = thicket_xi(th, s, key->vert);
    double z[12];
    for (int k = 0; k < 12; k++) z[k] = x[k] + key->toi * (end[k] - x[k]);
    (void)abut_closest(s, z, w);
    for (int k = 0; k < 3 * abut_stencil_size(s); k++) r[k % 3] += w[k / 3] * end[k], h0[k % 3] += w[k / 3] * x[k];
    for (int k = 0; k < 3; k++) d += r[k] * t->normal[3 * c + k], start += h0[k] * t->normal[3 * c + k];
    const double held = fmax(start - xi - g->step.reserve, -g->step.reserve / 4) - (start - xi - g->step.reserve);
    return start > 0 && fabs(d - xi - g->step.reserve + held - un * g->h) < 1e-12;
}

static double mu_of(const grove *g, const abut_touch_key *k)
{
    const int a = g->friction[g->t.body[k->vert[0]]];
    const int b = k->plane >= 0 ? 1 : g->friction[g->t.body[k->vert[k->kind == ABUT_EE ? 2 : 1]]];
    return g->mu[2 * a + b];
}

/* Weights of vertices, held or not: 1 in all on the first primitive, -1 on the second; those of nodes that move are b. */
static int weighs(const grove *g, const abut_touching *t, size_t c)
{
    const abut_touch_key *key = &t->key[c];
    const int second = key->plane >= 0 ? 1 : abut_stencil_second((abut_stencil)key->kind);
    double sum[2] = { 0, 0 }, moved[4] = { 0 };
    for (int i = 0; i < 4 && key->vert[i] >= 0; i++) {
        sum[i >= second] += t->w[c][i];
        for (int32_t e = t->first[c]; e < t->first[c + 1]; e++)
            if (t->node[e] == key->vert[i]) moved[i] += t->b[e];
        if (!(fabs(moved[i] - (g->t.fixed[key->vert[i]] ? 0 : t->w[c][i])) < 1e-15)) return 0;
    }
    return fabs(sum[0] - 1) < 1e-14 && fabs(sum[1] + (key->plane < 0)) < 1e-14;
}

TEST(near_contacts_are_those_of_brute_force_and_say_the_gap_at_the_end_for_any_thread_count)
{
    static grove g;
    static contact_twin want[MOST];
    abut_touch_search s = { 0 };
    abut_touching t = { 0 };
    const int before = abut_threads();
    size_t seen = 0, planes = 0, moving = 0;
    for (int k = 0; k < 6; k++) {
        grove_make(&g, (uint64_t)k / 3, 0.05, 0.035);
        abut_threads_set((int[]){ 1, 2, 7 }[k % 3]);
        const size_t n = near_by_loop(&g, want);
        CHECK(!abut_touching_begin(&t, g.t.model.nv, NULL));
        CHECK(!abut_touch_find_near(&s, &g.step, g.t.y1, &t, NULL));
        CHECK(t.n >= n);
        for (size_t c = 0; c < t.n; c++) {
            const abut_touch_key *key = &t.key[c];
            double sum = 0;
            CHECK(key->toi == 0 && key->round == 0 && says_gap(&g, &t, c) && weighs(&g, &t, c));
            CHECK_NEAR(t.mu[c], mu_of(&g, key), 1e-15);
            if (c >= n) {
                CHECK(key->plane == 0 && !g.t.fixed[key->vert[0]]);
                planes++;
                continue;
            }
            CHECK(key->kind == want[c].kind && !memcmp(key->vert, want[c].v, sizeof key->vert));
            for (int32_t e = t.first[c]; e < t.first[c + 1]; e++) sum += t.b[e], moving += g.t.fixed[t.node[e]];
            int held = 0;
            for (int i = 0; i < 4 && key->vert[i] >= 0; i++) held += g.t.fixed[key->vert[i]];
            if (!held) CHECK_NEAR(sum, 0, 1e-14);
            seen += held > 0;
        }
        for (int32_t v = 0; v < g.t.model.nc; v++) {
            const double low = g.plane_point[1] + g.t.thick[g.t.body[v]] / 2 + 2 * g.step.reserve;
            planes -= !g.t.fixed[v] && (g.t.X[3 * v + 1] < low || g.t.y1[3 * v + 1] < low);
        }
        CHECK(n > 50);
    }
    CHECK(seen > 10 && moving == 0 && planes == 0);
    abut_threads_set(before);
    abut_touching_clear(&t);
    abut_touch_search_clear(&s);
}

TEST(every_pair_that_meets_on_the_motion_becomes_a_contact_that_stops_it)
{
    static grove g;
    abut_touch_search s = { 0 };
    abut_touching t = { 0 }, again = { 0 };
    const int before = abut_threads();
    int met = 0, passed = 0, later = 0, clean = 0;
    for (int k = 0; k < 9; k++) {
        grove_make(&g, 7 + (uint64_t)k, 0.4, 1e-3);
        size_t n, m;
        CHECK(!abut_touching_begin(&t, g.t.model.nv, NULL) && !abut_touching_begin(&again, g.t.model.nv, NULL));
        abut_threads_set(1);
        CHECK(!abut_touch_find_hits(&s, &g.step, g.t.y1, 5, &t, &n, NULL));
        abut_threads_set(7);
        CHECK(!abut_touch_find_hits(&s, &g.step, g.t.y1, 5, &again, &m, NULL));
        CHECK(n == m && t.n == again.n && !memcmp(t.key, again.key, t.n * sizeof *t.key));
        CHECK(!memcmp(t.k, again.k, 3 * t.n * sizeof *t.k) && !memcmp(t.b, again.b, t.m * sizeof *t.b));
        for (size_t c = 0; c < t.n; c++) CHECK(t.key[c].round == 5 && says_gap(&g, &t, c) && weighs(&g, &t, c));
        /* every pair that exact arithmetic sees meet has a contact of its vertices, closed at its time of impact, or later if
         * others are nearer then, or none if they are nearer at the end; the first to meet has one */
        abut_rings rings;
        double soonest = 1;
        int soonest_has = 0;
        size_t pierced;         /* edges through triangles at the start: then the first to meet may be the other side of one */
        CHECK(!abut_intersections_find(&g.t.cm, g.t.X, NULL, 0, NULL, &pierced, NULL));
        CHECK(!abut_rings_init(&rings, &g.t.cm, NULL));
        for (abut_stencil st = ABUT_PP; st <= ABUT_EE; st++)
            for (int32_t i = 0; i < thicket_rows(&g.t, st, 0); i++)
                for (int32_t j = 0; j < thicket_rows(&g.t, st, 1); j++) {
                    int32_t v[4];
                    double x0[12], x1[12], toi;
                    if (!thicket_pair(&g.t, st, i, j, v) || thicket_all_fixed(&g.t, v)) continue;
                    thicket_points(g.t.X, st, v, x0);
                    thicket_points(g.t.y1, st, v, x1);
                    const double xi = thicket_xi(&g.t, st, v);
                    if (!abut_ccd_exact_within(st, x0, x1, xi, NULL, NULL)) continue;
                    CHECK(abut_ccd_additive(st, x0, x1, xi, ABUT_TOUCH_SLACK, 1, &toi) == ABUT_CCD_HIT);
                    double late, end;
                    CHECK(abut_ccd_additive(st, x0, x1, xi, ABUT_TOUCH_SLACK / 100, 1, &late) == ABUT_CCD_HIT);
                    CHECK(abut_ccd_additive(st, x0, x1, xi, 1e-6, 1, &end) == ABUT_CCD_HIT);
                    const int early = turn_of(&g, &rings, st, v, toi) <= ABUT_TOUCH_TURN;
                    int has = 0;
                    for (size_t c = 0; c < t.n; c++) {
                        int all = t.key[c].plane < 0 && fabs(t.key[c].toi - (early ? toi : late)) < 1e-12;
                        for (int a = 0; a < 4 && t.key[c].vert[a] >= 0; a++) {
                            int in = 0;
                            for (int b = 0; b < 4; b++) in |= v[b] == t.key[c].vert[a];
                            all &= in;
                        }
                        has |= all;
                    }
                    CHECK(has == (early || turn_of(&g, &rings, st, v, late) <= ABUT_TOUCH_TURN));
                    if (end < soonest) soonest = end, soonest_has = has;
                    met += has;
                    passed += !has;
                    later += has && !early;
                }
        CHECK(soonest < 1 && (soonest_has || pierced));
        clean += !pierced;
        abut_rings_clear(&rings);
    }
    printf("# %d met, %d of them later, %d passed\n", met, later, passed);
    CHECK(met > 180 && later > 2 && passed > 20 && clean > 2);
    abut_threads_set(before);
    abut_touching_clear(&t);
    abut_touching_clear(&again);
    abut_touch_search_clear(&s);
}

/* One search serves all iterations of a step, and finds the contacts of a new search in each. */
TEST(contacts_of_one_search_for_a_step_are_those_of_a_search_for_each_iteration)
{
    static grove g;
    abut_touch_search s = { 0 };
    abut_touching t = { 0 }, alone = { 0 };
    abut_rng r = { 12 };
    size_t n, m, all = 0;
    for (uint64_t k = 0; k < 3; k++) {
        grove_make(&g, 20 + k, 0.3, 2e-3);
        for (int round = 1; round < 12; round++) {
            abut_touch_search fresh = { 0 };
            const int32_t nv = g.t.model.nv;
            CHECK(!abut_touching_begin(&t, nv, NULL) && !abut_touching_begin(&alone, nv, NULL));
            CHECK(!abut_touch_find_near(&s, &g.step, g.t.y1, &t, NULL));
            CHECK(!abut_touch_find_hits(&s, &g.step, g.t.y1, round, &t, &n, NULL));
            CHECK(!abut_touch_find_near(&fresh, &g.step, g.t.y1, &alone, NULL));
            CHECK(!abut_touch_find_hits(&fresh, &g.step, g.t.y1, round, &alone, &m, NULL));
            CHECK(n == m && t.n == alone.n && t.m == alone.m && s.opening == fresh.opening);
            CHECK(!memcmp(t.key, alone.key, t.n * sizeof *t.key) && !memcmp(t.b, alone.b, t.m * sizeof *t.b));
            CHECK(!memcmp(t.k, alone.k, 3 * t.n * sizeof *t.k) && !memcmp(t.normal, alone.normal, 3 * t.n * sizeof *t.k));
            all += n;
            for (int32_t v = 0; v < nv; v++)
                for (int d = 0; d < 3 && !g.t.fixed[v]; d++)
                    g.t.y1[3 * v + d] += (v % 9 == round % 9 ? 0.1 : 1e-3) * abut_rng_real(&r, -1, 1);
            abut_touch_search_clear(&fresh);
        }
        abut_collmesh_clear(&g.t.cm);
    }
    CHECK(all > 500);
    abut_touching_clear(&t);
    abut_touching_clear(&alone);
    abut_touch_search_clear(&s);
}

/* Vertices that are sums of nodes: a contact of two such vertices with a node in common, and one that is held. */
TEST(vertices_that_are_sums_of_nodes_give_each_node_its_part_once)
{
    const double y[6] = { 0, 0, 0, 0, 0.01, 0 };
    int32_t first[3] = { 0, 3, 6 }, col[6] = { 0, 1, 2, 1, 2, 3 }, body[4] = { 0, 0, 0, 0 }, node[2] = { 0, 1 }, friction = 0;
    double weight[6] = { 0.2, 0.3, 0.5, 0.6, 0.3, 0.1 }, mu = 0.4;
    const uint8_t held[4] = { 0, 0, 0, 1 };
    const double v[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -7, 0 };
    uint8_t obstacle[2] = { 0, 0 };
    const abut_model m = { .nv = 4, .nc = 2, .ng = 1, .mu = &mu, .obj_friction = &friction, .body = body, .coll_node = node };
    abut_collmesh cm = { .model = &m, .nc = 2, .W = { .rows = 2, .cols = 4, .first = first, .col = col, .weight = weight },
                         .obstacle = obstacle };
    const abut_touch_step step = { .cm = &cm, .y = y, .held = held, .v_held = v, .h = 0.01, .reserve = 1e-3 };
    abut_touch_search s = { 0 };
    abut_touching t = { 0 };
    CHECK(!abut_touching_begin(&t, 4, NULL));
    CHECK(!abut_touch_find_one(&s, &step, y, ABUT_PP, (int32_t[]){ 1, 0, -1, -1 }, 0.5, 1, &t, NULL));
    CHECK(t.n == 1 && t.m == 3 && t.key[0].vert[0] == 0 && t.key[0].vert[1] == 1);
    CHECK_NEAR(t.normal[1], -1, 1e-15);
    const double want[3] = { 0.2, -0.3, 0.2 };
    for (int i = 0; i < 3; i++) {
        CHECK(t.node[i] == i);
        CHECK_NEAR(t.b[i], want[i], 1e-15);
    }
    CHECK_NEAR(t.k[1], 0.7 - (0.01 - 1e-3) / 0.01, 1e-13);     /* -0.1 of -7 m/s; the gap along -y */
    abut_touching_clear(&t);
    abut_touch_search_clear(&s);
}

TEST(a_start_within_the_thickness_is_refused_and_one_within_the_reserve_opens_gently)
{
    static grove g;
    abut_touch_search s = { 0 };
    abut_touching t = { 0 };
    abut_err err = { 0 };
    grove_make(&g, 3, 0.01, 0.15);
    int gentle = 0;
    CHECK(!abut_touching_begin(&t, g.t.model.nv, NULL));
    CHECK(!abut_touch_find_near(&s, &g.step, g.t.X, &t, NULL));
    for (size_t c = 0; c < t.n; c++) {
        const double *k = t.k + 3 * c, *n = t.normal + 3 * c;
        int held = 0;
        for (int i = 0; i < 4 && t.key[c].vert[i] >= 0; i++) held |= g.t.fixed[t.key[c].vert[i]];
        if (held) continue;
        const double open = k[0] * n[0] + k[1] * n[1] + k[2] * n[2];
        CHECK(open >= -g.step.reserve / 4 / g.h - 1e-12);
        gentle += open < -g.step.reserve / 4 / g.h + 1e-12;
    }
    CHECK(gentle > 20);
    g.plane_point[1] += 1;
    CHECK(abut_touch_find_near(&s, &g.step, g.t.X, &t, &err) == ABUT_E_GEOM);
    CHECK(strstr(err.msg, "above half-space"));
    abut_touching_clear(&t);
    abut_touch_search_clear(&s);
}

/* Two points of an obstacle and of a body that come together by script. */
TEST(contacts_attract_across_their_gap_and_yield_where_scripts_or_a_gap_close_them)
{
    const double y[6] = { 0, 0, 0, 0, 0.01, 0 }, v[6] = { 0, 0, 0, 0, -3, 0 };
    const double force[4] = { 0, 2, 2, 0 }, range[4] = { 0, 0.05, 0.05, 0 };
    const uint8_t held[2] = { 0, 1 };
    int32_t node[2] = { 0, 1 }, body[2] = { 0, 1 }, friction[2] = { 0, 1 }, point[2] = { 0, 1 };
    uint8_t obstacle[2] = { 0, 1 };
    double mu[4] = { 0, 0.3, 0.3, 0 };
    const abut_model m = { .nv = 2, .nc = 2, .ng = 2, .mu = mu, .obj_friction = friction, .body = body, .coll_node = node,
                           .cohesion_force = force, .cohesion_range = range };
    abut_collmesh cm = { .model = &m, .nc = 2, .n_point = 2, .point = point, .n_loose = 2, .loose = point,
                         .W = { .rows = 2, .cols = 2, .col = node }, .obstacle = obstacle };
    abut_touch_step step = { .cm = &cm, .y = y, .held = held, .v_held = v, .h = 0.01, .reserve = 1e-3, .compliance = 500 };
    const double closing[3] = { 3, 0.95, 0.85 };
    abut_touch_search s = { 0 };
    abut_touching t = { 0 };
    for (int k = 0; k < 3; k++) {
        const double slow[6] = { 0, 0, 0, 0, -closing[k], 0 };
        step.v_held = slow;
        CHECK(!abut_touching_begin(&t, 2, NULL));
        CHECK(!abut_touch_find_near(&s, &step, y, &t, NULL));
        CHECK(t.n == 1 && t.m == 1 && s.opening == 0);      /* 9 reserves away, but within the range of cohesion */
        CHECK_NEAR(t.cohesion[0], 0.01 * 2 * (1 - 0.009 / 0.05), 1e-15);
        CHECK_NEAR(t.mu[0], 0.3, 1e-15);
        /* closing less gap over h: 3 - 0.9 and 0.95 - 0.9 m/s are above 0, 0.85 - 0.9 is not */
        CHECK(t.key[0].yields == (k < 2));
        CHECK_NEAR(t.give[0], k < 2 ? 1 / (500 * 1e-4) : 0, 1e-12);
        CHECK_NEAR(fabs(t.k[1]), fabs(0.9 - closing[k]), 1e-12);
    }
    /* classes without cohesion, and within the reserve */
    friction[1] = 0;
    step.v_held = v;
    step.reserve = 0.02;
    CHECK(!abut_touching_begin(&t, 2, NULL) && !abut_touch_find_near(&s, &step, y, &t, NULL));
    CHECK(t.n == 1 && t.cohesion[0] == 0 && s.opening == 1);
    /* 10 mm of a gap of 20 mm: a spring has all that is missing, a rigid contact opens by a quarter of the reserve at most */
    const double still[6] = { 0 };
    step.v_held = still;
    for (int rigid = 0; rigid < 2; rigid++) {
        step.compliance = rigid ? 0 : 500;
        CHECK(!abut_touching_begin(&t, 2, NULL) && !abut_touch_find_near(&s, &step, y, &t, NULL));
        CHECK(t.n == 1 && t.key[0].yields == !rigid);
        CHECK_NEAR(fabs(t.k[1]), rigid ? 0.005 / 0.01 : 0.01 / 0.01, 1e-12);
    }
    abut_touching_clear(&t);
    abut_touch_search_clear(&s);
}

TEST(every_failing_allocation_of_a_search_is_reported_and_the_next_search_finds_the_same)
{
#ifdef ALLOCATOR_STAYS
    SKIP("the allocator cannot be replaced here");
#else
    static grove g;
    abut_touching want = { 0 };
    abut_touch_search all = { 0 };
    grove_make(&g, 5, 0.01, 0.02);
    const int threads = abut_threads();
    abut_threads_set(1);
    CHECK(!abut_touching_begin(&want, g.t.model.nv, NULL));
    CHECK(!abut_touch_find_near(&all, &g.step, g.t.X, &want, NULL) && want.n > 20);
    int n = 0;
    for (int more = 1; more; n += more) {
        abut_touch_search s = { 0 };
        abut_touching t = { 0 };
        abut_err err = { 0 };
        CHECK(!abut_touching_begin(&t, g.t.model.nv, NULL));
        const int before = live;
        failed = 0, countdown = n;
        const abut_status rc = abut_touch_find_near(&s, &g.step, g.t.X, &t, &err);
        countdown = -1;
        more = failed;
        CHECK(rc == (more ? ABUT_E_NOMEM : ABUT_OK) && err.code == rc);
        if (more) {
            CHECK(n > 2 || live == before);     /* of the three arrays of the start: none stays */
            CHECK(!abut_touching_begin(&t, g.t.model.nv, NULL) && !abut_touch_find_near(&s, &g.step, g.t.X, &t, NULL));
        }
        CHECK(t.n == want.n && t.m == want.m && !memcmp(t.normal, want.normal, 3 * t.n * sizeof *t.normal));
        abut_touching_clear(&t);
        abut_touch_search_clear(&s);
        CHECK(n < 1000);
    }
    printf("# %d allocations\n", n);
    CHECK(n > 5);
    abut_touching_clear(&want);
    abut_touch_search_clear(&all);
    abut_threads_set(threads);
#endif
}
