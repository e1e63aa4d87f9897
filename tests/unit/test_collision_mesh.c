#include "projected_barrier.h"
#include "base/par.h"
#include "base/rng.h"
#include "contact/collision_mesh.h"
#include "energy/barrier.h"
#include "energy/friction.h"
#include "sparse/bsr.h"
#include "sparse/packed_lanes.h"

#include "check.h"

/* Two tets, one above the other, nodes 0-3 and 4-7; each has a contact surface four times as fine as its own, of sums of two to
 * four of its nodes.  Above a half-space. */
enum { NV = 8, DIM = 3 * NV, PER = 10, NC = 2 * PER, TRIS = 16, EDGES = 24, MOST = 4 };

typedef struct world {
    abut_model m;
    abut_collmesh cm;
    double X[DIM], x[DIM], xn[DIM], weight[MOST * NC], offset[3 * NC], dhat;
    int32_t body[NV], role[NV], first[2 * NC], node[MOST * NC], edge[4 * EDGES], tri[6 * TRIS], continuity;
    double W[NC][NV];       /* the same, dense */
} world;

static const double MU[] = { 0.3 }, HS_POINT[] = { 0, -0.25, 0 }, HS_NORMAL[] = { 0, 1, 0 }, H = 0.02, KAPPA = 40;
static const int32_t CLASSES[] = { 0, 0 }, HS_CLASS[] = { 0 };
static const int SIDES[6][2] = { { 0, 1 }, { 0, 2 }, { 0, 3 }, { 1, 2 }, { 1, 3 }, { 2, 3 } };  /* vertices 4 to 9 halve them */

static int middle(int a, int b)
{
    for (int e = 0; e < 6; e++)
        if ((SIDES[e][0] == a && SIDES[e][1] == b) || (SIDES[e][0] == b && SIDES[e][1] == a)) return 4 + e;
    return -1;
}

static void surface(world *w)
{
    static const int faces[4][3] = { { 0, 2, 1 }, { 0, 1, 3 }, { 0, 3, 2 }, { 1, 2, 3 } };
    int t = 0, e = 0;
    for (int b = 0; b < 2; b++)
        for (int f = 0; f < 4; f++) {
            const int *v = faces[f], ab = middle(v[0], v[1]), bc = middle(v[1], v[2]), ca = middle(v[2], v[0]);
            const int four[4][3] = { { v[0], ab, ca }, { ab, v[1], bc }, { ca, bc, v[2] }, { ab, bc, ca } };
            for (int k = 0; k < 12; k++) w->tri[t++] = PER * b + four[k / 3][k % 3];
        }
    for (int i = 0; i < t; i++) {
        const int32_t p = w->tri[i], q = w->tri[i % 3 == 2 ? i - 2 : i + 1], a = p < q ? p : q, b = p < q ? q : p;
        int known = 0;
        for (int k = 0; k < e; k++) known |= w->edge[2 * k] == a && w->edge[2 * k + 1] == b;
        if (!known) w->edge[2 * e] = a, w->edge[2 * e++ + 1] = b;
    }
    w->m.nct = t / 3;
    w->m.nce = e;
}

/* Vertices near the corners and the middles of the sides of their tet; extra: how many more nodes take part. */
static void rows(world *w, abut_rng *r)
{
    int32_t k = 0;
    for (int v = 0; v < NC; v++) {
        const int32_t body = v / PER, u = v % PER;
        double all[4] = { 0 };
        if (u < 4) all[u] = 0.9;
        else all[SIDES[u - 4][0]] = 0.45, all[SIDES[u - 4][1]] = 0.45;
        for (int extra = 1 + (int)abut_rng_below(r, 3), n = extra; n > 0; n--) all[abut_rng_below(r, 4)] += 0.1 / extra;
        w->first[2 * v] = k;
        for (int32_t c = 0; c < 4; c++) {
            w->W[v][4 * body + c] = all[c];
            if (all[c] > 0) w->node[k] = 4 * body + c, w->weight[k++] = all[c];
        }
        w->first[2 * v + 1] = k;
        for (int d = 0; d < 3; d++) w->offset[3 * v + d] = body ? 0.01 * (d + 1) : 0;
    }
    w->m.nmap = k;
}

/* offsets: 1 with y0; plane: 1 with the half-space */
static void world_make(world *w, uint64_t seed, int offsets, int plane)
{
    static const double rest[DIM] = { 0,   0,   0,   1,   0,   0,   0.4, 0.9, 0.3, 0.1, 0.1, 1,
                                      0.1, 1.1, 0.2, 1.1, 1.2, 0.1, 0.4, 2,   0.5, 0.3, 1.3, 1.2 };
    abut_rng r = { seed };
    *w = (world){ .dhat = 0.6, .continuity = ABUT_BARRIER_IPC };
    w->m = (abut_model){ .nv = NV, .no = 2, .nc = NC, .ng = 1, .nh = plane, .X = w->X, .body = w->body, .role = w->role,
                         .obj_friction = CLASSES, .map_first = w->first, .map_node = w->node, .map_weight = w->weight,
                         .map_offset = offsets ? w->offset : NULL, .coll_edge = w->edge, .coll_tri = w->tri, .mu = MU,
                         .hs_point = HS_POINT, .hs_normal = HS_NORMAL, .hs_friction = HS_CLASS, .dhat = &w->dhat,
                         .continuity = &w->continuity };
    for (int i = 0; i < DIM; i++) {
        w->X[i] = rest[i];
        w->x[i] = rest[i] + abut_rng_real(&r, -0.03, 0.03);
        w->xn[i] = w->x[i] + abut_rng_real(&r, -2e-3, 2e-3);
    }
    for (int32_t i = 0; i < NV; i++) w->body[i] = i / 4;
    surface(w);
    rows(w, &r);
    abut_err err = { 0 };
    if (abut_collmesh_init(&w->cm, &w->m, &err)) check_bad++, printf("# %s\n", err.msg);
}

static void find(const world *w, const double *x, double y[3 * NC], abut_pairs *pairs)
{
    abut_candidates cand = { 0 };
    abut_err err = { 0 };
    abut_collmesh_positions(&w->cm, x, y);
    if (abut_candidates_find(&w->cm, y, NULL, w->dhat, NULL, &cand, &err) ||
        abut_pairs_find(&w->cm, &cand, y, NULL, pairs, &err))
        check_bad++, printf("# %s\n", err.msg);
    abut_candidates_clear(&cand);
}

/* Barrier and friction at x; g NULL: the energy alone. */
static double contact(const world *w, const abut_lag *lag, const double *x, double *g)
{
    const abut_stiction law = { H, 0.05, ABUT_FRICTION_C1 };
    double y[3 * NC], B = NAN, D = NAN;
    abut_arena a = { 0 };
    abut_pairs pairs = { 0 };
    find(w, x, y, &pairs);
    CHECK(!abut_barrier_energy(&w->cm, &pairs, y, KAPPA, &B, &a, NULL));
    CHECK(!abut_friction_energy(lag, &law, x, w->xn, &D, &a, NULL));
    if (g) {
        memset(g, 0, DIM * sizeof *g);
        CHECK(!abut_barrier_gradient(&w->cm, &pairs, y, KAPPA, g, &a, NULL));
        CHECK(!abut_friction_gradient(lag, &law, NV, x, w->xn, g, &a, NULL));
    }
    abut_pairs_clear(&pairs);
    abut_arena_clear(&a);
    return B + D;
}

static void freeze(const world *w, abut_lag *lag)
{
    double y[3 * NC];
    abut_pairs pairs = { 0 };
    find(w, w->x, y, &pairs);
    CHECK(!abut_lag_freeze(&w->cm, &pairs, y, KAPPA, H, lag, NULL));
    CHECK(lag->n > 20 && lag->map == &w->cm.W);
    abut_pairs_clear(&pairs);
}

TEST(vertices_are_sums_of_nodes_and_their_offset)
{
    world w;
    world_make(&w, 1, 1, 1);
    double y[3 * NC], Y[3 * NC], q[3];
    int few = 0, many = 0;
    abut_collmesh_positions(&w.cm, w.x, y);
    abut_collmesh_positions(&w.cm, w.X, Y);
    for (int32_t v = 0; v < NC; v++) {
        int32_t best = 0;
        abut_collmesh_motion(&w.cm, w.xn, v, q);
        for (int d = 0; d < 3; d++) {
            double want = w.offset[3 * v + d], moved = 0;
            for (int i = 0; i < NV; i++) want += w.W[v][i] * w.x[3 * i + d], moved += w.W[v][i] * w.xn[3 * i + d];
            CHECK_NEAR(y[3 * v + d], want, 1e-15);
            CHECK_NEAR(q[d], moved, 1e-15);
        }
        for (int32_t i = 1; i < NV; i++)
            if (w.W[v][i] > w.W[v][best]) best = i;
        CHECK(abut_collmesh_node(&w.cm, v) == best && abut_collmesh_object(&w.cm, v) == v / PER);
        few += w.first[2 * v + 1] - w.first[2 * v] == 2;
        many += w.first[2 * v + 1] - w.first[2 * v] == 4;
    }
    CHECK(few && many && !abut_collmesh_selects(&w.cm));
    /* rounding of positions is within its bound, which is small */
    double far = 0;
    for (int i = 0; i < DIM; i++) far = fmax(far, fabs(w.x[i]));
    for (int32_t v = 0; v < NC; v++)
        for (int d = 0; d < 3; d++) {
            long double exact = w.offset[3 * v + d];
            for (int32_t k = w.first[2 * v]; k < w.first[2 * v + 1]; k++)
                exact += (long double)w.weight[k] * w.x[3 * w.node[k] + d];
            CHECK(fabsl(exact - y[3 * v + d]) <= w.cm.rounding * far);
        }
    CHECK(w.cm.rounding > 0 && w.cm.rounding < 1e-14);
    for (int32_t e = 0; e < w.cm.ne; e++) {
        double l2 = 0;
        for (int d = 0; d < 3; d++) l2 += pow(Y[3 * w.edge[2 * e + 1] + d] - Y[3 * w.edge[2 * e] + d], 2);
        CHECK_NEAR(w.cm.rest2[e], l2, 1e-15);
    }
    CHECK(w.cm.n_loose == 0 && w.cm.n_seg == 0);
    abut_collmesh_clear(&w.cm);
}

TEST(t10_forces_on_nodes_are_the_derivative_of_the_energy_of_vertices)
{
    for (uint64_t seed = 0; seed < 6; seed++) {
        world w;
        abut_lag lag = { 0 };
        double g[DIM], x[DIM], size = 0;
        world_make(&w, seed, seed & 1, 1);
        freeze(&w, &lag);
        memcpy(x, w.x, sizeof x);
        CHECK(isfinite(contact(&w, &lag, x, g)));
        for (int i = 0; i < DIM; i++) size = fmax(size, fabs(g[i]));
        CHECK(size > 1e-3);
        for (int i = 0; i < DIM; i++) {
            const double h = 1e-6;
            x[i] = w.x[i] + h;
            const double up = contact(&w, &lag, x, NULL);
            x[i] = w.x[i] - h;
            const double down = contact(&w, &lag, x, NULL);
            x[i] = w.x[i];
            CHECK_NEAR((up - down) / (2 * h), g[i], 2e-7 * size);
        }
        abut_lag_clear(&lag);
        abut_collmesh_clear(&w.cm);
    }
}

TEST(t10_contact_forces_of_vertices_balance_on_nodes)
{
    for (uint64_t seed = 0; seed < 6; seed++) {
        world w;
        abut_lag lag = { 0 };
        double g[DIM], sum[3] = { 0 }, turn[3] = { 0 }, size = 0;
        world_make(&w, seed, 0, 0);
        freeze(&w, &lag);
        (void)contact(&w, &lag, w.x, g);
        abut_lag none = { 0 };
        for (int i = 0; i < DIM; i++) sum[i % 3] += g[i], size = fmax(size, fabs(g[i]));
        for (int d = 0; d < 3; d++) CHECK_NEAR(sum[d], 0, 1e-13 * size);
        (void)contact(&w, &none, w.x, g);   /* friction acts in its frozen planes: it has a moment of its own */
        for (int i = 0; i < NV; i++)
            for (int d = 0; d < 3; d++)
                turn[d] += w.x[3 * i + (d + 1) % 3] * g[3 * i + (d + 2) % 3] - w.x[3 * i + (d + 2) % 3] * g[3 * i + (d + 1) % 3];
        for (int d = 0; d < 3; d++) CHECK_NEAR(turn[d], 0, 1e-12 * size);
        abut_lag_clear(&lag);
        abut_collmesh_clear(&w.cm);
    }
}

/* dense[DIM][DIM] += W^T D W for packed elements on vertices */
static void add_dense(const world *w, size_t n, const int32_t *vertex, const double *P, double dense[DIM][DIM])
{
    for (size_t i = 0; i < n; i++)
        for (int a = 0; a < 4; a++)
            for (int b = a; b < 4; b++, P += 9)
                for (int p = 0; p < NV; p++)
                    for (int q = 0; q < NV; q++) {
                        const int32_t va = vertex[4 * i + (size_t)a], vb = vertex[4 * i + (size_t)b];
                        if (va < 0 || vb < 0) continue;
                        for (int k = 0; k < 9; k++) {
                            const double h = w->W[va][p] * P[k] * w->W[vb][q];
                            dense[3 * p + k / 3][3 * q + k % 3] += h;
                            if (a != b) dense[3 * q + k % 3][3 * p + k / 3] += h;
                        }
                    }
}

TEST(t10_contact_hessians_are_added_to_a_matrix_of_nodes_as_the_dense_product)
{
    static const int32_t row[NV] = { 3, 0, -1, 6, 5, 1, 2, 4 };
    static double dense[DIM][DIM];
    world w;
    abut_lag lag = { 0 };
    abut_pairs pairs = { 0 };
    double y[3 * NC], size = 0, worst = 0;
    world_make(&w, 3, 1, 1);
    freeze(&w, &lag);
    find(&w, w.x, y, &pairs);
    const abut_stiction law = { H, 0.05, ABUT_FRICTION_C1 };
    const size_t nb = pairs.n + pairs.n_plane, n = nb + lag.n;
    int32_t *slot = malloc(4 * n * sizeof *slot), *rows = malloc(4 * n * sizeof *rows);
    double *P = calloc(n * ABUT_PACKED, sizeof *P);
    abut_row_map map = { 0 };
    abut_bsr A = { 0 };
    abut_elements set = { .name = "contacts", .corners = 4, .n = n, .val = P };
    projected_barrier(&w.cm, &pairs, y, KAPPA, slot, P);
    abut_friction_hessian(&lag, &law, w.x, w.xn, NULL, slot + 4 * nb, P + ABUT_PACKED * nb);
    add_dense(&w, n, slot, P, dense);
    for (int again = 0; again < 2; again++) {
        CHECK(!abut_collmesh_map_set(&w.cm, row, NV - 1, slot, rows, &map, &set, NULL) && set.map == &map && set.row == rows);
        CHECK(!abut_bsr_pattern(&A, NV - 1, &set, 1, NULL));
        abut_bsr_assemble(&A, NULL, &set, 1);
    }
    for (int i = 0; i < NV; i++)
        for (int j = 0; j < NV; j++) {
            if (row[i] < 0 || row[j] < 0 || row[i] < row[j]) continue;
            double block[9] = { 0 };
            for (size_t k = A.ptr[row[j]]; k < A.ptr[row[j] + 1]; k++)
                if (A.row[k] == row[i]) memcpy(block, A.val + 9 * k, sizeof block);
            for (int k = 0; k < 9; k++) {
                const double want = dense[3 * i + k / 3][3 * j + k % 3];
                size = fmax(size, fabs(want));
                worst = fmax(worst, fabs(want - block[k]));
            }
        }
    CHECK(size > 1 && worst <= 1e-13 * size);
    free(slot), free(rows), free(P);
    abut_row_map_clear(&map);
    abut_bsr_clear(&A);
    abut_pairs_clear(&pairs);
    abut_lag_clear(&lag);
    abut_collmesh_clear(&w.cm);
}

TEST(rows_of_one_node_and_weight_1_are_what_the_selection_of_it_is)
{
    enum { N = 7 };
    static const int32_t first[2 * N] = { 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7 }, node[N] = { 6, 2, 4, 0, 1, 5, 3 },
                         body[N] = { 0 }, role[N] = { 0, 2, 0, 0, 2, 0, 0 };
    static const double one[N] = { 1, 1, 1, 1, 1, 1, 1 };
    double x[3 * N], y[2][3 * N], f[3 * N], g[2][3 * N] = { { 0 } };
    abut_rng r = { 5 };
    for (int i = 0; i < 3 * N; i++) x[i] = abut_rng_real(&r, -1, 1), f[i] = abut_rng_real(&r, -1, 1);
    for (int mapped = 0; mapped < 2; mapped++) {
        abut_model m = { .nv = N, .nc = N, .no = 1, .X = x, .body = body, .role = role };
        if (mapped) m.map_first = first, m.map_node = node, m.map_weight = one, m.nmap = N;
        else m.coll_node = node;
        abut_collmesh cm;
        abut_arena a = { 0 };
        CHECK(!abut_collmesh_init(&cm, &m, NULL) && abut_collmesh_selects(&cm) == !mapped);
        CHECK(mapped ? cm.rounding > 0 : !(cm.rounding > 0));
        abut_collmesh_positions(&cm, x, y[mapped]);
        double *to = abut_collmesh_sum_begin(&cm, g[mapped], &a);
        CHECK((to == g[mapped]) == !mapped);
        for (int32_t v = 0; v < N; v++) {
            CHECK(abut_collmesh_node(&cm, v) == node[v] && cm.obstacle[v] == (role[node[v]] == ABUT_NODE_OBSTACLE));
            CHECK(abut_collmesh_slot(&cm, v) == (mapped ? v : node[v]));
            for (int d = 0; d < 3; d++) to[3 * abut_collmesh_slot(&cm, v) + d] += f[3 * v + d];
        }
        CHECK(abut_collmesh_slot(&cm, -1) == -1);
        abut_collmesh_sum_end(&cm, to, g[mapped]);
        abut_err err = { 0 };
        CHECK(abut_collmesh_expect_nodes(&cm, "a test", &err) == (mapped ? ABUT_E_FORMAT : ABUT_OK));
        CHECK(!mapped || strstr(err.msg, "a test: the contact surface is a map of nodes"));
        abut_arena_clear(&a);
        abut_collmesh_clear(&cm);
    }
    CHECK(!memcmp(y[0], y[1], sizeof y[0]) && !memcmp(g[0], g[1], sizeof g[0]));
}

/* A triangle, a rod of two edges that hangs on its last corner, a rod of its own and two particles. */
TEST(what_no_triangle_has_is_listed_and_what_no_edge_has)
{
    const double P[27] = { 0 };
    const int32_t node[9] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 }, tri[3] = { 2, 0, 1 };
    const int32_t edge[12] = { 0, 1, 5, 6, 0, 2, 4, 3, 1, 2, 2, 3 };
    const abut_model m = { .nv = 9, .nc = 9, .nce = 6, .nct = 1, .X = P, .coll_node = node, .coll_edge = edge, .coll_tri = tri };
    abut_collmesh cm;
    CHECK(!abut_collmesh_init(&cm, &m, NULL));
    CHECK(cm.n_loose == 6 && !memcmp(cm.loose, node + 3, 6 * sizeof *node));
    CHECK(cm.n_seg == 3 && cm.seg[0] == 1 && cm.seg[1] == 3 && cm.seg[2] == 5);
    CHECK(cm.n_point == 2 && cm.point[0] == 7 && cm.point[1] == 8);
    abut_collmesh_clear(&cm);
}

/* Objects 0 and 2 are bodies, 1 an obstacle: it has no length, and no part in the least of all. */
TEST(a_pair_goes_by_the_sizes_of_its_bodies_and_an_obstacle_has_the_largest)
{
    const double P[9] = { 0 }, dhat = 0x1p-10, part[3] = { 0.5, 0.25, 3 }, length[3] = { 4, 0, 5 }, mass[3] = { 7, 0, 6 };
    const int32_t node[3] = { 0, 1, 2 }, object[3] = { 0, 1, 2 };
    abut_model m = { .nv = 3, .nc = 3, .no = 3, .X = P, .coll_node = node, .body = object, .dhat = &dhat, .obj_dhat = part,
                     .obj_length = length, .obj_node_mass = mass };
    abut_collmesh cm;
    CHECK(!abut_collmesh_init(&cm, &m, NULL));
    CHECK(cm.scale.dhat == 0.5 * dhat && cm.scale.length == 4 && cm.scale.mass == 6 && abut_least_dhat(&m) == 0.5 * dhat);
    const double want[9] = { 0.5 * dhat, 4, 7, 0.25 * dhat, 5, 0, 3 * dhat, 5, 6 };
    CHECK(cm.scale.of && !memcmp(cm.scale.of, want, sizeof want));
    CHECK(abut_collmesh_plane_dhat(&cm, 2) == 3 * dhat && abut_collmesh_dhat(&cm, ABUT_PP, (int32_t[4]){ 2, 0 }) == 0.5 * dhat);
    abut_collmesh_clear(&cm);
    /* where all bodies are alike there is nothing to keep; dhat is no more than the model's */
    const double twos[3] = { 2, 2, 2 };
    m.obj_dhat = m.obj_length = m.obj_node_mass = twos;
    CHECK(!abut_collmesh_init(&cm, &m, NULL));
    CHECK(!cm.scale.of && cm.scale.dhat == dhat && cm.scale.length == 2 && cm.scale.mass == 2 && abut_least_dhat(&m) == dhat);
    abut_collmesh_clear(&cm);
    /* one of the three that differs is enough */
    for (int k = 0; k < 3; k++) {
        const double *of[3] = { twos, twos, twos };
        of[k] = (const double[3]){ 2, 2, 2.5 };
        m.obj_dhat = of[0], m.obj_length = of[1], m.obj_node_mass = of[2];
        CHECK(!abut_collmesh_init(&cm, &m, NULL) && cm.scale.of && cm.scale.of[6 + k] == (k ? 2.5 : 2.5 * dhat));
        abut_collmesh_clear(&cm);
    }
    m.obj_dhat = NULL, m.obj_length = length, m.obj_node_mass = mass;
    CHECK(abut_least_dhat(&m) == dhat && !abut_collmesh_init(&cm, &m, NULL));
    for (int v = 0; v < 3; v++) CHECK(cm.scale.of[3 * v] == dhat);
    abut_collmesh_clear(&cm);
}

TEST(sums_of_nodes_are_named_by_their_own_numbers_and_nodes_by_theirs)
{
    world w;
    char buf[ABUT_NODES_WORDS];
    const int32_t v[3] = { 12, 11, 19 };
    world_make(&w, 1, 0, 0);
    CHECK(!strncmp(abut_collmesh_words(&w.cm, v, 1, buf), "vertex 12 of ", 13));
    CHECK(!strncmp(abut_collmesh_words(&w.cm, v, 2, buf), "edge of vertices 12 11 of ", 26));
    CHECK(!strncmp(abut_collmesh_words(&w.cm, v, 3, buf), "triangle of vertices 12 11 19 of ", 33));
    CHECK(abut_collmesh_expect_nodes(&w.cm, "repair", NULL) == ABUT_E_FORMAT);
    abut_collmesh_clear(&w.cm);
}

TEST(positions_and_sums_of_many_rows_have_the_same_bits_for_every_thread_count)
{
    enum { N = 9000, M = 5000, ENTRIES = 3 };
    static int32_t first[2 * N], node[ENTRIES * N], body[M], role[M];
    static double weight[ENTRIES * N], x[3 * M], y[2][3 * N], g[2][3 * M], f[3 * N];
    static const int threads[] = { 1, 2, 7 };
    abut_rng r = { 9 };
    for (int i = 0; i < 3 * M; i++) x[i] = abut_rng_real(&r, -1, 1);
    for (int i = 0; i < 3 * N; i++) f[i] = abut_rng_real(&r, -1, 1);
    for (int v = 0; v < N; v++) {
        first[2 * v] = ENTRIES * v, first[2 * v + 1] = ENTRIES * v + 1 + (int32_t)abut_rng_below(&r, ENTRIES);
        for (int k = ENTRIES * v; k < ENTRIES * v + ENTRIES; k++)
            node[k] = (int32_t)abut_rng_below(&r, M), weight[k] = abut_rng_real(&r, -1, 1);
    }
    const abut_model m = { .nv = M, .nc = N, .no = 1, .nmap = ENTRIES * N, .X = x, .body = body, .role = role,
                           .map_first = first, .map_node = node, .map_weight = weight };
    abut_collmesh cm;
    CHECK(!abut_collmesh_init(&cm, &m, NULL));
    for (int i = 0; i < 3; i++) {
        const int k = i > 0;
        abut_threads_set(threads[i]);
        memset(g[k], 0, sizeof g[k]);
        abut_collmesh_positions(&cm, x, y[k]);
        abut_collmesh_sum_end(&cm, f, g[k]);
        CHECK(!i || (!memcmp(y[0], y[1], sizeof y[0]) && !memcmp(g[0], g[1], sizeof g[0])));
    }
    double virtual[2] = { 0 };      /* f . W x = W^T f . x */
    for (int i = 0; i < 3 * N; i++) virtual[0] += f[i] * y[0][i];
    for (int i = 0; i < 3 * M; i++) virtual[1] += g[0][i] * x[i];
    CHECK(fabs(virtual[0]) > 1);
    CHECK_NEAR(virtual[0], virtual[1], 1e-10);
    abut_collmesh_clear(&cm);
}
