#include "projected_barrier.h"
#include "base/par.h"
#include "base/rng.h"
#include "energy/barrier.h"
#include "energy/elastic.h"
#include "energy/friction.h"
#include "sparse/bsr.h"

#include "check.h"
#include "elastic_gradient.h"

/* Two tets in a random near-touching pose over an obstacle triangle and a half-space; dhat is large, so that most pairs
 * are contacts.  Nodes 0-3, 4-7: the tets; 8-10: the triangle. */
enum { NV = 11, DIM = 3 * NV, NE = 15, NT = 9 };

typedef struct scene {
    abut_model m;
    abut_collmesh cm;
    abut_elastic elastic;
    abut_lag lag;
    abut_stiction law;
    double X[DIM], x[DIM], dhat;
    int32_t continuity;
    int32_t body[NV], node[NV], edge[2 * NE], tri[3 * NT];
} scene;

static const int32_t TET[] = { 0, 1, 2, 3, 4, 5, 6, 7 }, TET_MAT[] = { 0, 1 },
                     MODELS[] = { ABUT_NEO_HOOKEAN, ABUT_STABLE_NEO_HOOKEAN };
static const double DENSITY[] = { 1000, 1000 }, YOUNG[] = { 2e4, 3e4 }, POISSON[] = { 0.3, 0.45 };
static const double MU[] = { 0.3, 0.2, 0.1, 0.2, 0.5, 0.4, 0.1, 0.4, 0 };
static const int32_t CLASSES[] = { 0, 1, 2 }, HS_CLASS[] = { 2 };
static const double HS_POINT[] = { 0, -0.3, 0 }, HS_NORMAL[] = { 0, 1, 0 };
static const double H = 0.02, EPS_V = 0.05, KAPPA = 40;

static void surface(scene *s)
{
    static const int32_t faces[4][3] = { { 0, 2, 1 }, { 0, 1, 3 }, { 0, 3, 2 }, { 1, 2, 3 } };
    int e = 0, t = 0;
    for (int32_t b = 0; b < 3; b++)
        for (int32_t i = 4 * b; i < (b < 2 ? 4 * b + 4 : NV); i++)
            for (int32_t j = i + 1; j < (b < 2 ? 4 * b + 4 : NV); j++) s->edge[2 * e] = i, s->edge[2 * e++ + 1] = j;
    for (int32_t b = 0; b < 2; b++)
        for (int f = 0; f < 4; f++)
            for (int c = 0; c < 3; c++) s->tri[3 * t + 3 * f + c + 12 * b] = 4 * b + faces[f][c];
    for (int c = 0; c < 3; c++) s->tri[3 * (NT - 1) + c] = 8 + c;
    for (int32_t i = 0; i < NV; i++) s->node[i] = i, s->body[i] = i / 4;
}

static void scene_build(scene *s, uint64_t seed)
{
    static const double rest[DIM] = { 0,   0,   0,   1,   0,   0,   0.4, 0.9, 0.3, 0.1,  0.1,   1,    0.1, 1.1,   0.2, 1.1, 1.2,
                                      0.1, 0.4, 2,   0.5, 0.3, 1.3, 1.2, -0.4, -0.05, -0.3, 1.6, -0.04, -0.3, 0.3, -0.06, 1.5 };
    abut_rng r = { seed };
    *s = (scene){ .dhat = 0.6,
                  .continuity = (int32_t)(seed / 3 % (unsigned)abut_names_count(abut_barrier_names)),
                  .law = { H, EPS_V, (int)(seed % (unsigned)abut_names_count(abut_friction_names)) } };
    surface(s);
    for (int i = 0; i < DIM; i++) s->X[i] = rest[i];
    for (int i = 0; i < DIM; i++) s->x[i] = rest[i] + (i < 24 ? abut_rng_real(&r, -0.03, 0.03) : 0);
    s->m = (abut_model){ .nv = NV, .nt = 2, .nm = 2, .no = 3, .nc = NV, .nce = NE, .nct = NT, .ng = 3, .nh = 1, .X = s->X,
                         .tet = TET, .tet_mat = TET_MAT, .mat_model = MODELS, .mat_density = DENSITY, .mat_young = YOUNG,
                         .mat_poisson = POISSON, .body = s->body, .obj_friction = CLASSES, .coll_node = s->node,
                         .coll_edge = s->edge, .coll_tri = s->tri, .mu = MU, .hs_point = HS_POINT, .hs_normal = HS_NORMAL,
                         .hs_friction = HS_CLASS, .dhat = &s->dhat, .continuity = &s->continuity };
    if (abut_collmesh_init(&s->cm, &s->m, NULL) || abut_elastic_init(&s->elastic, &s->m, NULL)) abort();
}

static void scene_clear(scene *s)
{
    abut_collmesh_clear(&s->cm);
    abut_elastic_clear(&s->elastic);
    abut_lag_clear(&s->lag);
}

static void find(const scene *s, const double *x, abut_pairs *pairs)
{
    abut_candidates cand = { 0 };
    abut_err err = { 0 };
    if (abut_candidates_find(&s->cm, x, NULL, s->dhat, NULL, &cand, &err) ||
        abut_pairs_find(&s->cm, &cand, x, NULL, pairs, &err))
        check_bad++, printf("# %s\n", err.msg);
    abut_candidates_clear(&cand);
}

static double energy(const scene *s, const double *x, const double *xn)
{
    abut_arena a = { 0 };
    abut_pairs pairs = { 0 };
    double E = NAN, B = NAN, D = NAN;
    find(s, x, &pairs);
    CHECK(!elastic_energy(&s->elastic, x, &E, &a, NULL));
    CHECK(!abut_barrier_energy(&s->cm, &pairs, x, KAPPA, &B, &a, NULL));
    CHECK(!abut_friction_energy(&s->lag, &s->law, x, xn, &D, &a, NULL));
    abut_pairs_clear(&pairs);
    abut_arena_clear(&a);
    return H * H * E + B + D;
}

static void gradient(const scene *s, const double *x, const double *xn, double g[DIM])
{
    abut_arena a = { 0 };
    abut_pairs pairs = { 0 };
    memset(g, 0, DIM * sizeof *g);
    find(s, x, &pairs);
    CHECK(!elastic_gradient(&s->elastic, x, H * H, g, &a, NULL));
    CHECK(!abut_barrier_gradient(&s->cm, &pairs, x, KAPPA, g, &a, NULL));
    CHECK(!abut_friction_gradient(&s->lag, &s->law, NV, x, xn, g, &a, NULL));
    abut_pairs_clear(&pairs);
    abut_arena_clear(&a);
}

/* D += packed elements, DIM x DIM */
static void add(double *D, size_t n, const int32_t *node, const double *P)
{
    for (size_t i = 0; i < n; i++)
        for (int a = 0; a < 4; a++)
            for (int b = a; b < 4; b++, P += 9)
                for (int k = 0; k < 9; k++) {
                    const int32_t na = node[4 * i + (size_t)a], nb = node[4 * i + (size_t)b];
                    if (na < 0 || nb < 0) continue;
                    D[DIM * (3 * na + k / 3) + 3 * nb + k % 3] += P[k];
                    if (a != b) D[DIM * (3 * nb + k % 3) + 3 * na + k / 3] += P[k];
                }
}

static void hessian(const scene *s, const double *x, const double *xn, double *D)
{
    abut_pairs pairs = { 0 };
    find(s, x, &pairs);
    const size_t nb = pairs.n + pairs.n_plane, most = nb + s->lag.n + 2;
    int32_t *node = malloc(4 * most * sizeof *node);
    double *P = malloc(ABUT_PACKED * most * sizeof *P);
    memset(D, 0, DIM * DIM * sizeof *D);
    abut_elastic_hessian(&s->elastic, x, H * H, P);
    add(D, 2, TET, P);
    projected_barrier(&s->cm, &pairs, x, KAPPA, node, P);
    add(D, nb, node, P);
    abut_friction_hessian(&s->lag, &s->law, x, xn, NULL, node, P);
    add(D, s->lag.n, node, P);
    free(node), free(P);
    abut_pairs_clear(&pairs);
}

TEST(sum_of_all_energies_has_the_gradient_and_a_hessian_above_the_true_one)
{
    double g[DIM], up[DIM], down[DIM], *D = malloc(DIM * DIM * sizeof *D), *N = malloc(DIM * DIM * sizeof *N);
    size_t kinds[4] = { 0 }, mollified = 0, planes = 0, lagged = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        scene s;
        scene_build(&s, seed);
        abut_pairs pairs = { 0 };
        find(&s, s.x, &pairs);
        for (size_t i = 0; i < pairs.n_plain; i++) kinds[pairs.kind[i]]++;
        mollified += pairs.n - pairs.n_plain, planes += pairs.n_plane;
        CHECK(!abut_lag_freeze(&s.cm, &pairs, s.x, KAPPA, H, &s.lag, NULL));
        lagged += s.lag.n;
        abut_pairs_clear(&pairs);

        abut_rng r = { seed + 100 };
        double x[DIM], bigg = 0, bigH = 0;
        for (int i = 0; i < DIM; i++) x[i] = s.x[i] + abut_rng_real(&r, -0.003, 0.003);   /* about the stiction threshold */
        gradient(&s, x, s.x, g);
        hessian(&s, x, s.x, D);
        for (int i = 0; i < DIM; i++) bigg = fmax(bigg, fabs(g[i]));
        for (int i = 0; i < DIM; i++) {
            const double was = x[i], h = 1e-6;
            x[i] = was + h;
            const double eu = energy(&s, x, s.x);
            gradient(&s, x, s.x, up);
            x[i] = was - h;
            const double ed = energy(&s, x, s.x);
            gradient(&s, x, s.x, down);
            x[i] = was;
            CHECK_NEAR((eu - ed) / (2 * h), g[i], 1e-7 * bigg);
            for (int j = 0; j < DIM; j++) N[DIM * j + i] = (up[j] - down[j]) / (2 * h);
        }
        for (int i = 0; i < DIM * DIM; i++) bigH = fmax(bigH, fabs(D[i]));
        for (int k = 0; k < 500; k++) {   /* projection only adds curvature */
            double v[DIM], above = 0;
            for (int i = 0; i < DIM; i++) v[i] = abut_rng_real(&r, -1, 1) * (abut_rng_below(&r, 3) == 0);
            for (int i = 0; i < DIM; i++)
                for (int j = 0; j < DIM; j++) above += v[i] * (D[DIM * i + j] - N[DIM * i + j]) * v[j];
            CHECK(above >= -1e-4 * bigH);
        }
        scene_clear(&s);
    }
    CHECK(kinds[ABUT_PP] > 10 && kinds[ABUT_PE] > 10 && kinds[ABUT_PT] > 10 && kinds[ABUT_EE] > 10);
    CHECK(planes > 10 && lagged > 50 && mollified > 0);
    free(D), free(N);
}

TEST(contact_and_friction_between_bodies_balance_and_the_barrier_has_no_torque)
{
    scene s;
    scene_build(&s, 3);
    s.m.nh = 0;
    abut_arena a = { 0 };
    abut_pairs pairs = { 0 };
    find(&s, s.x, &pairs);
    CHECK(pairs.n > 10 && pairs.n_plane == 0);
    CHECK(!abut_lag_freeze(&s.cm, &pairs, s.x, KAPPA, H, &s.lag, NULL));
    double b[DIM] = { 0 }, f[DIM] = { 0 }, x[DIM], big = 0, sum[3] = { 0 }, slip[3] = { 0 }, torque[3] = { 0 }, power = 0;
    for (int i = 0; i < DIM; i++) x[i] = s.x[i] + 0.01 * sin(i);
    CHECK(!abut_barrier_gradient(&s.cm, &pairs, s.x, KAPPA, b, &a, NULL));
    CHECK(!abut_friction_gradient(&s.lag, &s.law, NV, x, s.x, f, &a, NULL));
    for (int i = 0; i < DIM; i++) {
        const int p = i - i % 3, j = p + (i + 1) % 3, k = p + (i + 2) % 3;
        big = fmax(big, fabs(b[i]));
        sum[i % 3] += b[i], slip[i % 3] += f[i];
        torque[i % 3] += s.x[j] * b[k] - s.x[k] * b[j];
        power += f[i] * (x[i] - s.x[i]);
    }
    for (int d = 0; d < 3; d++) {
        CHECK_NEAR(sum[d], 0, 1e-12 * big);
        CHECK_NEAR(torque[d], 0, 1e-12 * big);
        CHECK_NEAR(slip[d], 0, 1e-12 * big);
    }
    CHECK(power > 0);   /* the gradient along the motion: friction takes energy out */
    abut_pairs_clear(&pairs);
    abut_arena_clear(&a);
    scene_clear(&s);
}

TEST(frozen_contacts_carry_the_force_of_the_barrier_and_the_coefficient_of_the_two_classes)
{
    scene s;
    scene_build(&s, 5);
    abut_pairs pairs = { 0 };
    find(&s, s.x, &pairs);
    CHECK(!abut_lag_freeze(&s.cm, &pairs, s.x, KAPPA, H, &s.lag, NULL));
    size_t at = 0, seen[3][3] = { { 0 } };
    for (size_t i = 0; i < pairs.n_plain + pairs.n_plane; i++) {
        const int plane = i >= pairs.n_plain;
        const size_t k = plane ? i - pairs.n_plain : i;
        int32_t lo = NV, hi = -1;
        for (int c = 0; c < 4 && !plane; c++)
            if (pairs.vert[k][c] >= 0) {
                lo = pairs.vert[k][c] < lo ? pairs.vert[k][c] : lo;
                hi = pairs.vert[k][c] > hi ? pairs.vert[k][c] : hi;
            }
        const int p = plane ? pairs.plane_vert[k] / 4 : lo / 4, q = plane ? 2 : hi / 4;
        if (p == 2 && q == 2) continue;
        seen[p][q]++;
        CHECK(at < s.lag.n && s.lag.mu[at] == MU[3 * p + q]);
        const double force = abut_barrier_force(&s.cm, &pairs, s.x, KAPPA, H, plane ? pairs.n + k : k);
        CHECK(force > 0 && s.lag.force[at] == force);
        at++;
    }
    CHECK(at == s.lag.n && seen[0][1] && seen[0][2] && !s.cm.W.col[0]);
    abut_pairs_clear(&pairs);
    scene_clear(&s);
}

TEST(a_resting_mass_on_a_half_space_is_carried_at_the_closed_form_gap)
{
    /* lambda = m g cos(slope), slope tangent 1/2, m 1 kg: 8.774331 N at a gap of 8.738039e-4 m */
    const double dhat = 1e-3, kappa = 2.5e6, h = 0.01, normal[3] = { 0, 1, 0 };
    double gap = 8.738039e-4, dist2 = 0, g[3] = { 0 };
    int32_t vert = 0, plane = 0, node = 0;
    abut_model m = { .nv = 1, .nc = 1, .nh = 1, .hs_normal = normal, .dhat = &dhat, .coll_node = &node };
    abut_collmesh cm = { .model = &m, .nc = 1, .W.col = &node };
    double one = 1;
    abut_pairs pairs = { .n_plane = 1, .plane_vert = &vert, .plane = &plane, .plane_dist = &gap,
                         .plane_mult = &one, .dist2 = &dist2 };
    abut_arena a = { 0 };
    CHECK_NEAR(abut_barrier_force(&cm, &pairs, NULL, kappa, h, 0), 8.774331, 5e-6);
    CHECK_NEAR(9.81 / sqrt(1.25), 8.774331, 5e-7);
    CHECK(!abut_barrier_gradient(&cm, &pairs, NULL, kappa, g, &a, NULL));
    CHECK_NEAR(-g[1] / (h * h), 8.774331, 5e-6);
    double E, D, P[ABUT_PACKED] = { 0 };
    int32_t nodes[4];
    projected_barrier(&cm, &pairs, NULL, kappa, nodes, P);
    CHECK(nodes[0] == 0 && nodes[1] == -1 && P[0] == 0 && P[8] == 0);
    const double e = 1e-9;   /* energy, force and stiffness of the plane are one function of the gap */
    gap += e;
    CHECK(!abut_barrier_energy(&cm, &pairs, NULL, kappa, &E, &a, NULL));
    const double up = abut_barrier_force(&cm, &pairs, NULL, kappa, h, 0);
    gap -= 2 * e;
    CHECK(!abut_barrier_energy(&cm, &pairs, NULL, kappa, &D, &a, NULL));
    const double down = abut_barrier_force(&cm, &pairs, NULL, kappa, h, 0);
    CHECK_NEAR((E - D) / (2 * e), g[1], 1e-6 * fabs(g[1]));
    CHECK_NEAR(-(up - down) / (2 * e) * h * h, P[4], 1e-6 * P[4]);
    gap = 0;
    CHECK(!abut_barrier_energy(&cm, &pairs, NULL, kappa, &E, &a, NULL) && E == INFINITY);
    abut_arena_clear(&a);
}

TEST(barrier_sums_have_the_same_bits_for_every_thread_count_and_count_multiplicity)
{
    enum { N = 2500, VERTS = 500 };
    const double dhat = 3;
    abut_rng r = { 9 };
    abut_model m = { .nv = VERTS, .dhat = &dhat };
    abut_pairs p = { .n = N, .kind = malloc(N), .vert = malloc(N * sizeof *p.vert), .mult = malloc(N * sizeof(double)),
                     .dist2 = malloc(N * sizeof(double)), .eps_x = calloc(N, sizeof(double)) };
    int32_t node[VERTS];
    double y[3 * VERTS], g[2][3 * VERTS], E[2], twice;
    double *P[2] = { calloc(N * ABUT_PACKED, sizeof(double)), calloc(N * ABUT_PACKED, sizeof(double)) };
    int32_t *nodes = malloc(4 * N * sizeof *nodes);
    for (int i = 0; i < 3 * VERTS; i++) y[i] = abut_rng_real(&r, -1, 1);
    for (int i = 0; i < VERTS; i++) node[i] = VERTS - 1 - i;
    for (size_t i = 0; i < N; i++) {
        double x[12];
        p.kind[i] = (uint8_t)(i % 4);
        p.mult[i] = 1 + (double)(i % 3);
        for (int c = 0; c < 4; c++)
            p.vert[i][c] = c < abut_stencil_size(p.kind[i]) ? (int32_t)abut_rng_below(&r, VERTS / 4) * 4 + c : -1;
        if (i >= N - 100) p.kind[i] = ABUT_EE, p.eps_x[i] = 100;   /* far below: mollified */
        for (int c = 0; c < 4 && i >= N - 100; c++) p.vert[i][c] = (int32_t)abut_rng_below(&r, VERTS / 4) * 4 + c;
        const abut_stencil kind = abut_pairs_get(&p, i, y, x);
        if (p.eps_x[i] > 0) (void)abut_nearest(kind, x, &p.dist2[i]);
        else p.dist2[i] = abut_dist2(kind, x, NULL);
    }
    p.n_plain = N - 100;
    abut_collmesh cm = { .model = &m, .nc = VERTS, .W.col = node };
    abut_arena a = { 0 };
    static const int threads[] = { 1, 2, 7 };
    for (int i = 0; i < 3; i++) {
        const int k = i > 0;
        abut_threads_set(threads[i]);
        memset(g[k], 0, sizeof g[k]);
        CHECK(!abut_barrier_energy(&cm, &p, y, 2, &E[k], &a, NULL));
        CHECK(!abut_barrier_gradient(&cm, &p, y, 2, g[k], &a, NULL));
        projected_barrier(&cm, &p, y, 2, nodes, P[k]);
        CHECK(!i || (E[0] == E[1] && !memcmp(g[0], g[1], sizeof g[0]) && !memcmp(P[0], P[1], N * ABUT_PACKED * sizeof(double))));
    }
    CHECK(isfinite(E[0]) && E[0] > 0 && nodes[0] == VERTS - 1 - p.vert[0][0]);
    for (size_t i = 0; i < N; i++) p.mult[i] *= 2;
    CHECK(!abut_barrier_energy(&cm, &p, y, 2, &twice, &a, NULL) && twice == 2 * E[0]);
    free(p.kind), free(p.vert), free(p.mult), free(p.dist2), free(p.eps_x), free(P[0]), free(P[1]), free(nodes);
    abut_arena_clear(&a);
}
