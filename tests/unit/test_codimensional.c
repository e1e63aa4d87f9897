/* Contact of every dimension with thickness: candidates, contacts and step bounds against plain loops over all pairs. */
#include "projected_barrier.h"
#include "base/par.h"
#include "check.h"
#include "contact/step_bound.h"
#include "contact_twin.h"
#include "energy/barrier.h"
#include "geom/ccd/ccd.h"
#include "thicket.h"

static const char *const kind_name[] = { "vertex-vertex", "vertex-edge", "vertex-triangle", "edge-edge" };

static int has(const abut_pair_list *l, int32_t i, int32_t j)
{
    for (size_t k = 0; k < l->n; k++)
        if (l->ij[k][0] == i && l->ij[k][1] == j) return 1;
    return 0;
}

static const abut_pair_list *list_of(const abut_candidates *c, abut_stencil s)
{
    return s == ABUT_PT ? &c->vt : s == ABUT_EE ? &c->ee : s == ABUT_PE ? &c->ve : &c->vv;
}

static void between(const thicket *t, double at, double *y)
{
    for (int i = 0; i < 3 * t->model.nc; i++) y[i] = (1 - at) * t->X[i] + at * t->y1[i];
}

TEST(lower_dimensions_are_told_from_surfaces)
{
    thicket t;
    thicket_make(&t, 1, 0.01, 0.02, 0, 0.03, 0.01, 0);
    CHECK(t.cm.n_loose == 3 * THICKET_ROD + THICKET_PART + 2 * THICKET_NEEDLE + THICKET_BARE);
    CHECK(t.cm.n_seg == 2 * THICKET_ROD + THICKET_NEEDLE && t.cm.n_point == THICKET_PART + THICKET_BARE);
    for (int32_t i = 0; i < t.cm.n_loose; i++) CHECK(!t.in_tri[t.cm.loose[i]] && (!i || t.cm.loose[i] > t.cm.loose[i - 1]));
    for (int32_t i = 0; i < t.cm.n_seg; i++) CHECK(!t.is_side[t.cm.seg[i]]);
    for (int32_t i = 0; i < t.cm.n_point; i++) CHECK(!t.in_edge[t.cm.point[i]]);
    for (int32_t v = 0; v < t.cm.nc; v++) CHECK_NEAR(t.cm.xi[v], t.thick[t.body[v]], 0);
    abut_collmesh_clear(&t.cm);
    /* an edge between two triangles that is no side of either */
    t.edge[2 * t.model.nce] = 0, t.edge[2 * t.model.nce++ + 1] = 3;
    for (int o = 0; o < THICKET_OBJECTS; o++) t.thick[o] = 0;
    CHECK(!abut_collmesh_init(&t.cm, &t.model, NULL));
    CHECK(t.cm.n_seg == 2 * THICKET_ROD + THICKET_NEEDLE + 1 && t.cm.seg[t.cm.n_seg - 1] == t.model.nce - 1);
    CHECK(t.cm.n_loose == 3 * THICKET_ROD + THICKET_PART + 2 * THICKET_NEEDLE + THICKET_BARE && !t.cm.xi);
    abut_collmesh_clear(&t.cm);
}

/* pairs of a kind within reach of their thickness at y that the candidates lack; *near counts all */
static size_t missed(const thicket *t, const abut_candidates *c, abut_stencil s, const double *y, double reach, size_t *near)
{
    size_t miss = 0;
    for (int32_t i = 0; i < thicket_rows(t, s, 0); i++)
        for (int32_t j = 0; j < thicket_rows(t, s, 1); j++) {
            int32_t v[4];
            double x[12], d2;
            if (!thicket_pair(t, s, i, j, v) || thicket_all_fixed(t, v)) continue;
            thicket_points(y, s, v, x);
            abut_nearest(s, x, &d2);
            if (!(sqrt(d2) <= reach + thicket_xi(t, s, v))) continue;
            miss += !has(list_of(c, s), i, j);
            ++*near;
        }
    return miss;
}

TEST(candidates_of_every_kind_hold_all_pairs_that_come_near)
{
    abut_candidates c = { 0 }, around = { 0 }, again = { 0 };
    abut_candidate_search kept = { .nc = 0 };
    double y[3 * THICKET_MAX];
    size_t seen[4] = { 0 };
    for (uint64_t seed = 0; seed < 6; seed++) {
        thicket t;
        thicket_make(&t, seed, 0.02, seed % 2 ? 0.05 : 0, 0.08, 0.01, 0.02, 0.1);
        CHECK(!abut_candidates_find(&t.cm, t.X, t.y1, t.dhat, t.fixed, &c, NULL));
        for (int k = 0; k <= 10; k++) {
            between(&t, 0.1 * k, y);
            for (abut_stencil s = ABUT_PP; s <= ABUT_EE; s++) CHECK(missed(&t, &c, s, y, t.dhat, &seen[s]) == 0);
        }
        for (int k = 0; k < ABUT_CANDIDATE_LISTS; k++) {
            const abut_stencil s = abut_candidates_kind(k);
            const abut_pair_list *l = abut_candidates_list(&c, k);
            CHECK(l == list_of(&c, s));
            for (size_t i = 0; i < l->n; i++) {
                int32_t v[4], w[4];
                CHECK(thicket_pair(&t, s, l->ij[i][0], l->ij[i][1], v) && !thicket_all_fixed(&t, v));
                abut_candidate_vertices(&t.cm, s, l->ij[i], w);
                CHECK(!memcmp(v, w, sizeof v));
                CHECK_NEAR(abut_candidate_xi(&t.cm, s, l->ij[i]), thicket_xi(&t, s, v), 1e-18);
                CHECK(!i || l->ij[i - 1][0] < l->ij[i][0] || (l->ij[i - 1][0] == l->ij[i][0] && l->ij[i - 1][1] < l->ij[i][1]));
            }
        }
        /* with trees that have served other motions, the same */
        between(&t, 0.5, y);
        CHECK(!abut_candidates_around(&t.cm, t.X, t.y1, t.dhat, t.fixed, &around, NULL));
        CHECK(!abut_candidates_again(&t.cm, y, t.y1, t.dhat, t.fixed, &kept, &again, NULL));
        CHECK(!abut_candidates_again(&t.cm, t.X, t.y1, t.dhat, t.fixed, &kept, &again, NULL));
        for (int k = 0; k < ABUT_CANDIDATE_LISTS; k++) {
            const abut_pair_list *a = abut_candidates_list(&c, k), *b = abut_candidates_list(&again, k);
            CHECK(a->n == b->n && (!a->n || !memcmp(a->ij, b->ij, a->n * sizeof *a->ij)));
            CHECK(a->n <= abut_candidates_list(&around, k)->n);
        }
        abut_collmesh_clear(&t.cm);
    }
    for (int s = 0; s < 4; s++) CHECK(seen[s] > 50);
    abut_candidate_search_clear(&kept);
    abut_candidates_clear(&around);
    abut_candidates_clear(&again);
    abut_candidates_clear(&c);
}

/* ---- contacts ---- */

static int twin_of(const thicket *t, abut_stencil s, int32_t i, int32_t j, const double *y, contact_twin *w)
{
    int32_t v[4];
    double x[12];
    if (!thicket_pair(t, s, i, j, v) || thicket_all_fixed(t, v)) return 0;
    thicket_points(y, s, v, x);
    const double eps = s == ABUT_EE ? abut_mollify_eps(t->cm.rest2[i], t->cm.rest2[j]) : 0;
    return contact_twin_of(s, x, v, eps, t->dhat + thicket_xi(t, s, v), w);
}

static size_t brute_force(const thicket *t, const double *y, contact_twin *list)
{
    size_t m = 0;
    for (abut_stencil s = ABUT_PP; s <= ABUT_EE; s++)
        for (int32_t i = 0; i < thicket_rows(t, s, 0); i++)
            for (int32_t j = 0; j < thicket_rows(t, s, 1); j++) m += (size_t)twin_of(t, s, i, j, y, &list[m]);
    return contact_twin_merge(list, m);
}

TEST(contacts_of_every_kind_are_those_of_brute_force_with_their_multiplicities)
{
    static contact_twin want[20000];
    abut_candidates c = { 0 };
    abut_pairs p = { 0 };
    size_t seen[4] = { 0 }, twice = 0;
    for (uint64_t seed = 10; seed < 16; seed++) {
        thicket t;
        thicket_make(&t, seed, 0.02, seed % 2 ? 0.05 : 0, 0.08, 0.01, 0.01, 0);
        t.dhat = 0.1;
        const size_t n = brute_force(&t, t.X, want);
        CHECK(!abut_candidates_find(&t.cm, t.X, NULL, t.dhat, t.fixed, &c, NULL));
        CHECK(!abut_pairs_find(&t.cm, &c, t.X, t.fixed, &p, NULL) && p.n == n);
        double least = INFINITY;
        for (size_t i = 0; i < p.n && i < n; i++) {
            contact_twin got = { i >= p.n_plain, p.kind[i], { 0 }, p.mult[i], p.dist2[i] };
            memcpy(got.v, p.vert[i], sizeof got.v);
            CHECK(!contact_twin_order(&got, &want[i]) && fabs(got.mult - want[i].mult) <= 0);
            CHECK_NEAR(got.dist2, want[i].dist2, 1e-14);
            const double xi = thicket_xi(&t, (abut_stencil)got.kind, got.v), gap = abut_pairs_gap(&t.cm, &p, i);
            CHECK_NEAR(abut_pairs_xi(&t.cm, &p, i), xi, 1e-18);
            CHECK_NEAR(gap, sqrt(got.dist2) - xi, 1e-15);
            least = fmin(least, gap);
            seen[p.kind[i]]++, twice += p.mult[i] > 1;
        }
        CHECK_NEAR(abut_pairs_smallest_gap(&t.cm, &p, NULL), least, 0);
        CHECK(least > 0.01);
        abut_collmesh_clear(&t.cm);
    }
    for (int s = 0; s < 4; s++) CHECK(seen[s] > 20);
    CHECK(twice > 50);
    abut_pairs_clear(&p);
    abut_candidates_clear(&c);
}

TEST(what_is_within_its_thickness_is_an_error_that_says_so)
{
    static const struct {
        abut_stencil s;
        int32_t a, b;       /* first vertices of the two primitives */
    } put[] = { { ABUT_PP, 0, 1 }, { ABUT_PE, 0, 2 }, { ABUT_PT, 0, 4 }, { ABUT_EE, 2, 7 } };
    for (int k = 0; k < 4; k++) {
        /* two particles, a rod, a triangle, another rod, far apart; then two of them 1.9 mm apart, thickness 2 mm each */
        double X[] = { 0, 5, 0, 0, 9, 0, 1, 0, 0, 2, 0, 0, 0, 0, 5, 1, 0, 5, 0, 1, 5, 0, -3, 0, 0, -3, 1 };
        const double near = 1.9e-3, thick = 2e-3, dhat = 1e-3;
        if (put[k].s == ABUT_PP) X[1] = 9 + near;
        if (put[k].s == ABUT_PE) X[0] = 1.5, X[1] = near;
        if (put[k].s == ABUT_PT) X[0] = 0.3, X[1] = 0.3, X[2] = 5 + near;
        if (put[k].s == ABUT_EE) X[21] = X[24] = 1.5, X[22] = X[25] = near, X[23] = -0.5, X[26] = 0.5;
        const int32_t node[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 }, body[9] = { 0 };
        const int32_t edge[] = { 2, 3, 4, 5, 4, 6, 5, 6, 7, 8 }, tri[] = { 4, 5, 6 };
        abut_model m = { .nv = 9,
                         .nc = 9,
                         .nce = 5,
                         .nct = 1,
                         .no = 1,
                         .X = X,
                         .coll_node = node,
                         .coll_edge = edge,
                         .coll_tri = tri,
                         .body = body,
                         .obj_thick = &thick,
                         .dhat = &dhat };
        abut_collmesh cm;
        abut_candidates c = { 0 };
        abut_pairs p = { 0 };
        abut_err err = { 0 };
        abut_limit lim = { .alpha = 1 };
        double y1[27];
        CHECK(!abut_collmesh_init(&cm, &m, NULL));
        CHECK(!abut_candidates_find(&cm, X, NULL, dhat, NULL, &c, NULL));
        CHECK(abut_pairs_find(&cm, &c, X, NULL, &p, &err) == ABUT_E_GEOM && p.n == 0);
        CHECK(strstr(err.msg, "distance 0.0019 m") && strstr(err.msg, "0.002 m"));
        for (int i = 0; i < 27; i++) y1[i] = X[i] + 1e-4 * (i % 5);
        CHECK(abut_limit_ccd(&cm, &c, X, y1, 0.2, &lim, &err) == ABUT_E_GEOM && strstr(err.msg, "thickness of 0.002 m"));
        CHECK(strncmp(err.msg, "collision: ", 11) == 0 && lim.kind == ABUT_LIMIT_NONE);
        abut_pairs_clear(&p);
        abut_candidates_clear(&c);
        abut_collmesh_clear(&cm);
    }
}

/* ---- barrier sums ---- */

static double barrier_at(const thicket *t, const double *y, double kappa, double *g)
{
    abut_candidates c = { 0 };
    abut_pairs p = { 0 };
    abut_arena scratch = { 0 };
    double E = NAN;
    CHECK(!abut_candidates_find(&t->cm, y, NULL, t->dhat, t->fixed, &c, NULL) &&
          !abut_pairs_find(&t->cm, &c, y, t->fixed, &p, NULL));
    CHECK(!abut_barrier_energy(&t->cm, &p, y, kappa, &E, &scratch, NULL));
    if (g) CHECK(!abut_barrier_gradient(&t->cm, &p, y, kappa, g, &scratch, NULL));
    abut_arena_clear(&scratch);
    abut_pairs_clear(&p);
    abut_candidates_clear(&c);
    return E;
}

TEST(forces_of_mixed_thickness_are_the_derivative_of_the_energy)
{
    thicket t;
    const double kappa = 1e4, h = 1e-7;
    double g[3 * THICKET_MAX] = { 0 }, big = 0;
    thicket_make(&t, 31, 0.02, 0.05, 0.08, 0.01, 0.02, 0);
    t.dhat = 0.1;
    CHECK(barrier_at(&t, t.X, kappa, g) > 0);
    for (int i = 0; i < 3 * t.model.nc; i++) big = fmax(big, fabs(g[i]));
    for (int i = 0; i < 3 * t.model.nc; i += 3) {
        const int at = i + i / 3 % 3;
        const double was = t.X[at];
        t.X[at] = was + h;
        const double up = barrier_at(&t, t.X, kappa, NULL);
        t.X[at] = was - h;
        const double down = barrier_at(&t, t.X, kappa, NULL);
        t.X[at] = was;
        CHECK_NEAR((up - down) / (2 * h), g[at], 1e-6 * big);
    }
    abut_collmesh_clear(&t.cm);
}

TEST(hessians_of_mixed_thickness_are_those_of_the_single_contacts)
{
    thicket t;
    abut_candidates c = { 0 };
    abut_pairs p = { 0 };
    const double kappa = 7;
    int changes = 0;
    thicket_make(&t, 32, 0.02, 0.05, 0.08, 0.01, 0.02, 0);
    t.dhat = 0.1;
    CHECK(!abut_candidates_find(&t.cm, t.X, NULL, t.dhat, t.fixed, &c, NULL) &&
          !abut_pairs_find(&t.cm, &c, t.X, t.fixed, &p, NULL));
    double *H = calloc(p.n, ABUT_PACKED * sizeof *H);
    int32_t *node = malloc(4 * p.n * sizeof *node);
    projected_barrier(&t.cm, &p, t.X, kappa, node, H);
    for (size_t i = 0; i < p.n; i++) {
        double x[1][12], one[ABUT_PACKED] = { 0 };
        const abut_stencil s = abut_pairs_get(&p, i, t.X, x[0]);
        const abut_barrier_law law = abut_barrier_law_of(t.dhat, ABUT_BARRIER_IPC, thicket_xi(&t, s, p.vert[i]));
        const double scale = kappa * p.mult[i];
        if (p.eps_x[i] > 0) abut_pair_mollified_hess(&law, 1, (const double (*)[12])x, &p.eps_x[i], &scale, one);
        else abut_pair_barrier_hess(&law, s, 1, (const double (*)[12])x, &scale, one);
        CHECK(!memcmp(one, H + ABUT_PACKED * i, sizeof one));
        changes += i > 0 && p.kind[i] == p.kind[i - 1] && fabs(thicket_xi(&t, s, p.vert[i - 1]) - law.xi) > 0;
    }
    CHECK(changes > 20);    /* several in one run of lanes */
    free(H);
    free(node);
    abut_pairs_clear(&p);
    abut_candidates_clear(&c);
    abut_collmesh_clear(&t.cm);
}

TEST(energy_force_and_stiffness_above_a_half_space_are_one_function_of_the_gap)
{
    const double X[] = { 0, 2.4e-3, 0 }, point[] = { 0, 0, 0 }, normal[] = { 0, 1, 0 }, thick = 4e-3, dhat = 1e-3, kappa = 3e5,
                 e = 1e-9, h = 0.01;
    const int32_t node = 0, body = 0;
    const abut_model m = { .nv = 1,
                           .nc = 1,
                           .nh = 1,
                           .no = 1,
                           .X = X,
                           .coll_node = &node,
                           .body = &body,
                           .obj_thick = &thick,
                           .dhat = &dhat,
                           .hs_point = point,
                           .hs_normal = normal };
    abut_collmesh cm;
    abut_candidates none = { 0 };
    abut_pairs p = { 0 };
    abut_arena scratch = { 0 };
    double E[3], g[3][3] = { { 0 } }, H[ABUT_PACKED] = { 0 };
    int32_t nodes[4];
    CHECK(!abut_collmesh_init(&cm, &m, NULL));
    for (int k = 2; k >= 0; k--) {
        const double y[] = { 0, 2.4e-3 + (k == 1 ? e : k == 2 ? -e : 0), 0 };
        CHECK(!abut_pairs_find(&cm, &none, y, NULL, &p, NULL) && p.n_plane == 1);
        CHECK(!abut_barrier_energy(&cm, &p, y, kappa, &E[k], &scratch, NULL) &&
              !abut_barrier_gradient(&cm, &p, y, kappa, g[k], &scratch, NULL));
        projected_barrier(&cm, &p, y, kappa, nodes, H);
    }
    CHECK_NEAR((E[1] - E[2]) / (2 * e) / g[0][1], 1, 1e-6);
    CHECK_NEAR((g[1][1] - g[2][1]) / (2 * e) / H[4], 1, 1e-6);
    CHECK_NEAR(abut_barrier_force(&cm, &p, X, kappa, h, 0) / (-g[0][1] / (h * h)), 1, 1e-14);
    CHECK_NEAR(abut_pairs_gap(&cm, &p, 0), 0.4e-3, 1e-18);
    const double near[] = { 0, 2e-3, 0 }, far[] = { 0, 3.0001e-3, 0 };
    abut_err err = { 0 };
    CHECK(abut_pairs_find(&cm, &none, near, NULL, &p, &err) == ABUT_E_GEOM && strstr(err.msg, "want > 0.002"));
    CHECK(!abut_pairs_find(&cm, &none, far, NULL, &p, NULL) && p.n_plane == 0);
    /* a step towards it keeps its share of what is beyond the thickness */
    const double down[] = { 0, 0, 0 };
    abut_limit lim = { .alpha = 1 };
    abut_limit_planes(&cm, X, down, NULL, 0.1, &lim);
    CHECK_NEAR(lim.alpha, 0.9 * 0.4e-3 / 2.4e-3, 1e-11);
    abut_pairs_clear(&p);
    abut_arena_clear(&scratch);
    abut_collmesh_clear(&cm);
}

/* ---- step bound ---- */

/* Random motions are bound by rods and particles too seldom. */
static void only_rods(thicket *t)
{
    for (int i = 0; i < 3 * t->model.nc; i++)
        t->y1[i] = t->X[i] + (t->body[i / 3] == THICKET_RODS ? 5 : 0) * (t->y1[i] - t->X[i]);
}

static void only_two_particles(thicket *t)
{
    double least = INFINITY;
    int32_t a = -1, b = -1;
    for (int32_t i = 0; i < t->model.nc; i++)
        for (int32_t j = 0; j < i; j++) {
            const double *p = t->X + 3 * i, *q = t->X + 3 * j;
            const double d2 = (p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2]);
            if (t->body[i] != THICKET_GRAINS || t->body[j] != THICKET_GRAINS || d2 >= least) continue;
            least = d2, a = i, b = j;
        }
    memcpy(t->y1, t->X, sizeof t->X);
    memcpy(t->y1 + 3 * a, t->X + 3 * b, 3 * sizeof *t->X);
}

TEST(the_bound_of_every_kind_is_that_of_all_pairs_and_keeps_slack_of_every_gap)
{
    const double slack = 0.2;
    abut_candidates c = { 0 };
    double y[3 * THICKET_MAX];
    int named[4] = { 0 };
    for (uint64_t seed = 20; seed < 50; seed++) {
        thicket t;
        thicket_make(&t, seed, 0.005, 0.03, 0.06, 0.01, 0.005, 0.05);
        double least = 1;
        abut_limit lim = { .alpha = 1 };
        if (seed % 3 == 1) only_rods(&t);
        if (seed % 3 == 2) only_two_particles(&t);
        for (abut_stencil s = ABUT_PP; s <= ABUT_EE; s++)
            for (int32_t i = 0; i < thicket_rows(&t, s, 0); i++)
                for (int32_t j = 0; j < thicket_rows(&t, s, 1); j++) {
                    int32_t v[4];
                    double x0[12], x1[12], toi;
                    if (!thicket_pair(&t, s, i, j, v) || thicket_all_fixed(&t, v)) continue;
                    thicket_points(t.X, s, v, x0), thicket_points(t.y1, s, v, x1);
                    abut_ccd_additive(s, x0, x1, thicket_xi(&t, s, v), slack, 1, &toi);
                    least = fmin(least, toi);
                }
        CHECK(!abut_candidates_find(&t.cm, t.X, t.y1, 0, t.fixed, &c, NULL));
        CHECK(!abut_limit_ccd(&t.cm, &c, t.X, t.y1, slack, &lim, NULL));
        CHECK_NEAR(lim.alpha, least, 1e-15);
        const int s = abut_limit_stencil(lim.kind);
        CHECK((s >= 0) == (least < 1));
        if (s >= 0) {
            double x0[12], x1[12], toi;
            thicket_points(t.X, (abut_stencil)s, lim.node, x0), thicket_points(t.y1, (abut_stencil)s, lim.node, x1);
            abut_ccd_additive((abut_stencil)s, x0, x1, thicket_xi(&t, (abut_stencil)s, lim.node), slack, 1, &toi);
            CHECK_NEAR(toi, lim.alpha, 0);
            named[s]++;
        }
        for (int k = 0; k <= 5; k++) {     /* and all the way every pair keeps its slack */
            between(&t, 0.2 * k * lim.alpha, y);
            CHECK(thicket_gap(&t, y, 0) > 0);
        }
        abut_collmesh_clear(&t.cm);
    }
    for (int s = 0; s < 4; s++)
        if (!named[s]) printf("# no bound by %s\n", kind_name[s]);
    CHECK(named[ABUT_PP] && named[ABUT_PE] && named[ABUT_PT] && named[ABUT_EE]);
    abut_candidates_clear(&c);
}

TEST(bits_do_not_depend_on_the_thread_count)
{
    thicket t;
    thicket_make(&t, 77, 0.005, 0.03, 0.06, 0.01, 0.005, 0.05);
    t.dhat = 0.3;
    abut_candidates one = { 0 }, c = { 0 };
    abut_pairs p = { 0 }, q = { 0 };
    for (int k = 0; k < 3; k++) {
        abut_limit lim = { .alpha = 1 }, lim1 = { .alpha = 1 };
        abut_threads_set(1);
        CHECK(!abut_candidates_find(&t.cm, t.X, t.y1, t.dhat, t.fixed, &one, NULL) &&
              !abut_pairs_find(&t.cm, &one, t.X, t.fixed, &p, NULL));
        CHECK(!abut_limit_ccd(&t.cm, &one, t.X, t.y1, 0.2, &lim1, NULL));
        abut_threads_set((int[]){ 1, 2, 7 }[k]);
        CHECK(!abut_candidates_find(&t.cm, t.X, t.y1, t.dhat, t.fixed, &c, NULL) &&
              !abut_pairs_find(&t.cm, &c, t.X, t.fixed, &q, NULL));
        CHECK(!abut_limit_ccd(&t.cm, &c, t.X, t.y1, 0.2, &lim, NULL));
        CHECK(p.n == q.n && p.n > 500 && !memcmp(p.dist2, q.dist2, p.n * sizeof *p.dist2) &&
              !memcmp(p.vert, q.vert, p.n * sizeof *p.vert));
        CHECK(!memcmp(&lim.alpha, &lim1.alpha, sizeof lim.alpha) && !memcmp(lim.node, lim1.node, sizeof lim.node));
    }
    abut_threads_set(2);
    abut_pairs_clear(&p);
    abut_pairs_clear(&q);
    abut_candidates_clear(&one);
    abut_candidates_clear(&c);
    abut_collmesh_clear(&t.cm);
}

SETUP
{
    abut_threads_set(2);
}
