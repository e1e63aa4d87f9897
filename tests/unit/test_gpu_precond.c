/* Clusters, parts and the preconditioners of a machine against dense matrices and sparse/schwarz/coarse_space.h. */
#include "base/par.h"
#include "dense.h"
#include "sparse/schwarz/coarse_space.h"
#include "operator_world.h"

enum { MOTIONS = 6, CLUSTER = 16, ROWS = 20 /* of a part */ };

/* where the rows are */
static double *places(const operator_world *w)
{
    double *x = calloc(w->n + 1, sizeof *x);
    for (size_t i = 0; i < w->nv; i++)
        for (size_t d = 0; d < 3 && w->row[i] >= 0; d++) x[3 * (size_t)w->row[i] + d] = w->x[3 * i + d];
    return x;
}

static abut_bisection bisection_of(const operator_world *w, int32_t rows, int32_t most)
{
    abut_bisection b = { 0 };
    double *x = places(w);
    CHECK(!abut_bisect(&b, &w->A.pattern, x, rows, most, &err));
    free(x);
    return b;
}

TEST(rows_are_in_one_part_each)
{
    for (int k = 0; k < 3; k++) {
        operator_world w;
        world_make(&w, 5, 0);
        world_operator(&w, 100000, 0.3);
        const int32_t n = (int32_t)(w.n / 3), most = k == 2 ? 3 : 340;
        abut_bisection b = bisection_of(&w, k ? ROWS : 1000000, most);
        int *seen = calloc((size_t)n + 1, sizeof *seen);
        CHECK(k || b.parts == 1);
        CHECK(k != 1 || b.parts == (n + ROWS - 1) / ROWS);
        CHECK(k != 2 || b.parts == 3);
        CHECK(b.first[0] == 0 && b.first[b.parts] == n);
        for (int32_t j = 0; j < b.parts; j++) {
            CHECK(b.first[j] < b.first[j + 1] && (k != 1 || b.first[j + 1] - b.first[j] <= ROWS));
            for (int32_t i = b.first[j]; i < b.first[j + 1]; i++) {
                seen[b.member[i]]++;
                CHECK(b.part[b.member[i]] == j);
            }
        }
        for (int32_t i = 0; i < n; i++) CHECK(seen[i] == 1);
        free(seen);
        abut_bisection_clear(&b);
        world_free(&w);
    }
}

/* n chains of so many rows, side by side */
static void chains_make(abut_bsr *A, int32_t n, int32_t length, double *x)
{
    int32_t *row = malloc(4 * (size_t)n * (size_t)length * sizeof *row);
    for (int32_t i = 0; i < n * length; i++) {
        const int32_t next = i % length + 1 < length ? i + 1 : i;
        memcpy(row + 4 * i, (int32_t[]){ i, next, -1, -1 }, 4 * sizeof *row);
        memcpy(x + 3 * i, (double[]){ i % length, 0, 0.1 * (i / length) }, 3 * sizeof *x);
    }
    const abut_elements set = { .corners = 4, .n = (size_t)(n * length), .row = row };
    CHECK(!abut_bsr_pattern(A, n * length, &set, 1, NULL));
    free(row);
}

TEST(what_the_matrix_does_not_join_shares_a_part_only_where_there_are_too_many)
{
    enum { N = 12, LENGTH = 10 };
    abut_bsr A = { 0 };
    abut_bisection b = { 0 };
    double x[3 * N * LENGTH];
    chains_make(&A, N, LENGTH, x);
    CHECK(!abut_bisect(&b, &A, x, 200, 340, &err));
    CHECK(b.parts == N);
    for (int32_t i = 0; i < N * LENGTH; i++) CHECK(b.part[i] == i / LENGTH);
    CHECK(!abut_bisect(&b, &A, x, 4, 340, &err));
    CHECK(b.parts == 3 * N);
    CHECK(!abut_bisect(&b, &A, x, 4, 5, &err));
    CHECK(b.parts == 5);
    abut_bisection_clear(&b);
    abut_bsr_clear(&A);
}

/* z = M^-1 r on the machine, in single precision or (wide) in double */
static void apply(operator_world *w, int wide, const double *r, double *z)
{
    float *s = malloc((w->n + 1) * sizeof *s);
    for (size_t i = 0; i < w->n; i++) s[i] = (float)r[i];
    if (wide) {
        CHECK(!w->q.on->put(&w->q, w->b.at, r, w->n * sizeof *r, &err));
        CHECK(!abut_gpu_precond_apply(&w->A, w->b.at, w->y.at, NULL, NULL, NULL, &err));
        CHECK(!w->q.on->get(&w->q, z, w->y.at, w->n * sizeof *z, &err));
    } else {
        CHECK(!w->q.on->put(&w->q, w->bs.at, s, w->n * sizeof *s, &err));
        CHECK(!abut_gpu_precond_apply(&w->A, NULL, NULL, w->bs.at, w->ys.at, NULL, &err));
        CHECK(!w->q.on->get(&w->q, s, w->ys.at, w->n * sizeof *s, &err));
        for (size_t i = 0; i < w->n; i++) z[i] = (double)s[i];
    }
    free(s);
}

/* clusters that were not positive definite when they were made last, and 1 more if E was not */
static abut_status fallen_clusters(abut_gpu_operator *A, uint32_t *count, abut_err *out)
{
    const abut_gpu_precond *m = &A->precond;
    *count = 0;
    if (m->kind == ABUT_GPU_JACOBI) return ABUT_OK;
    uint32_t *fallen = malloc((m->clusters + 1) * sizeof *fallen), bad = 0;
    if (!fallen) return abut_fail(out, ABUT_E_NOMEM, "preconditioner: %u clusters", m->clusters);
    abut_status rc = A->q->on->get(A->q, fallen, m->fallen.at, m->clusters * sizeof *fallen, out);
    if (!rc && m->kind == ABUT_GPU_RIGID) rc = A->q->on->get(A->q, &bad, m->bad.at, sizeof bad, out);
    for (uint32_t c = 0; c < m->clusters && !rc; c++) *count += fallen[c];
    *count += bad;
    free(fallen);
    return rc;
}

static void use(operator_world *w, abut_gpu_precond_kind kind)
{
    CHECK(!abut_gpu_precond_init_by(&w->A, kind, w->x, ROWS, &err));
    CHECK(!abut_gpu_operator_ready(&w->A, &err));
    uint32_t fallen = 1;
    CHECK(!fallen_clusters(&w->A, &fallen, &err));
    CHECK(fallen == 0);
}

/* row [16 clusters]: those of each cluster, -1 behind the last one; every row once, and where slot says */
static int32_t *clusters_of(operator_world *w)
{
    const size_t n = w->n / 3, slots = CLUSTER * w->A.precond.clusters;
    int32_t *row = malloc(slots * sizeof *row), *slot = malloc(n * sizeof *slot);
    CHECK(w->A.precond.clusters == (n + CLUSTER - 1) / CLUSTER);
    CHECK(!w->q.on->get(&w->q, row, w->A.precond.row.at, slots * sizeof *row, &err));
    CHECK(!w->q.on->get(&w->q, slot, w->A.precond.slot.at, n * sizeof *slot, &err));
    for (size_t s = 0; s < slots; s++) CHECK(s < n ? row[s] >= 0 && slot[row[s]] == (int32_t)s : row[s] == -1);
    free(slot);
    return row;
}

/* z += what the diagonal block of D between some rows makes of r */
static void add_cluster(const int32_t *row, const double *D, size_t n, const double *r, double *z)
{
    size_t m = 0;
    double *B = calloc(3 * CLUSTER * n, sizeof *B);
    for (int32_t s = 0; s < CLUSTER && row[s] >= 0; s++)
        for (size_t d = 0; d < 3; d++) B[m++ * n + 3 * (size_t)row[s] + d] = 1;
    add_subspace(D, B, m, n, r, z);
    free(B);
}

TEST(neighbours_on_the_curve_are_neighbours_in_space)
{
    enum { SIDE = 8, N = SIDE * SIDE * SIDE };
    abut_queue q;
    abut_buffer x = { 0 }, node = { 0 }, key = { 0 }, row = { 0 };
    double at[3 * N];
    int32_t order[N];
    CHECK(!machine_open(&q, &err));
    for (int32_t i = 0; i < N; i++) {
        order[i] = i;
        const int32_t cell[3] = { i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE };
        for (int d = 0; d < 3; d++) at[3 * i + d] = 5 + 0.1 * (cell[d] + 0.5);
    }
    CHECK(!abut_buffer_put(&q, &x, "x", at, 3 * N, sizeof *at, &err));
    CHECK(!abut_buffer_put(&q, &node, "node", order, N, sizeof *order, &err));
    CHECK(!abut_buffer_need(&q, &key, "key", N, sizeof(uint64_t), &err));
    CHECK(!abut_buffer_need(&q, &row, "row", N, sizeof *order, &err));
    const abut_cluster_args a = { .row = row.at, .key = key.at, .x = x.at, .node = node.at, .origin = { 5, 5, 5 }, .unit = 0.1 };
    CHECK(!ABUT_RUN(&q, cluster_key, &a, N, &err) && !q.on->sort(&q, key.at, row.at, N, 48, &err));
    CHECK(!q.on->get(&q, order, row.at, sizeof order, &err));
    for (int i = 1; i < N; i++) {
        double away = 0;
        for (int d = 0; d < 3; d++) away += fabs(at[3 * order[i] + d] - at[3 * order[i - 1] + d]);
        CHECK_NEAR(away, 0.1, 1e-12);
    }
    abut_buffer_clear(&q, &x), abut_buffer_clear(&q, &node), abut_buffer_clear(&q, &key), abut_buffer_clear(&q, &row);
    abut_queue_close(&q);
}

TEST(rows_of_a_cluster_lie_together)
{
    operator_world w;
    world_make(&w, 7, 0);
    world_operator(&w, 100000, 0.3);
    use(&w, ABUT_GPU_CLUSTERS);
    int32_t *row = clusters_of(&w);
    double *x = places(&w), volume = 0;
    for (uint32_t c = 0; c + 1 < w.A.precond.clusters; c++) {
        double box = 1;
        for (int d = 0; d < 3; d++) {
            double lo = INFINITY, hi = -INFINITY;
            for (uint32_t s = CLUSTER * c; s < CLUSTER * (c + 1); s++) {
                lo = fmin(lo, x[3 * row[s] + d]);
                hi = fmax(hi, x[3 * row[s] + d]);
            }
            box *= (hi - lo) / 0.1 + 1;         /* in cells: a block of 4 x 2 x 2 has 16 */
        }
        volume += box / (w.A.precond.clusters - 1);
    }
    CHECK(volume < 64);
    free(row), free(x);
    world_free(&w);
}

/* translations, and rotations about the origin, of all parts */
static void add_motions(const abut_bisection *b, const double *x, const double *D, size_t n, const double *r, double *z)
{
    const size_t m = MOTIONS * (size_t)b->parts;
    double *B = calloc(m * n, sizeof *B);
    for (size_t i = 0; i < n; i++) {
        const size_t p = MOTIONS * (size_t)b->part[i / 3], d = i % 3, d1 = (d + 1) % 3, d2 = (d + 2) % 3, row = i - d;
        B[(p + d) * n + i] = 1;
        B[(p + 3 + d) * n + row + d1] = -x[row + d2];
        B[(p + 3 + d) * n + row + d2] = x[row + d1];
    }
    add_subspace(D, B, m, n, r, z);
    free(B);
}

TEST(they_are_what_dense_matrices_say)
{
    for (int k = 0; k < 4; k++) {
        operator_world w;
        const abut_gpu_precond_kind kind = k % 2 ? ABUT_GPU_RIGID : ABUT_GPU_CLUSTERS;
        world_make(&w, 4, k / 2 ? 60 : 0);
        world_operator(&w, 100000, 0.3);
        world_matrix(&w, 0.3);
        use(&w, kind);
        abut_bisection b = bisection_of(&w, ROWS, 340);
        int32_t *row = clusters_of(&w);
        CHECK(b.parts > 3);
        double *D = dense_of(&w.matrix), *r = world_random(w.n, 3), *want = calloc(w.n, sizeof *want), *x = places(&w);
        double *z = malloc(w.n * sizeof *z);
        for (uint32_t c = 0; c < w.A.precond.clusters; c++) add_cluster(row + CLUSTER * c, D, w.n, r, want);
        if (kind == ABUT_GPU_RIGID) add_motions(&b, x, D, w.n, r, want);
        const double size = abut_largest(want, w.n);
        for (int wide = 0; wide < 2; wide++) {
            apply(&w, wide, r, z);
            for (size_t i = 0; i < w.n; i++) CHECK_NEAR(z[i], want[i], 2e-5 * size);
        }
        free(D), free(r), free(want), free(x), free(z), free(row);
        abut_bisection_clear(&b);
        world_free(&w);
    }
}

TEST(the_coarse_space_is_that_of_the_processor)
{
    operator_world w;
    abut_coarse_space *coarse = NULL;
    world_make(&w, 4, 60);
    world_operator(&w, 100000, 0.3);
    world_matrix(&w, 0.3);
    abut_bisection b = bisection_of(&w, ROWS, 340);
    double *r = world_random(w.n, 3), *want = calloc(w.n, sizeof *want), *x = places(&w);
    double *z[2] = { malloc(w.n * sizeof **z), malloc(w.n * sizeof **z) };
    const abut_operator A = { .matrix = &w.matrix };
    CHECK(!abut_coarse_space_analyse(&coarse, &A, b.parts, b.first, b.member, NULL));
    CHECK(!abut_coarse_space_factor(coarse, &A, x, NULL) && !abut_coarse_space_add(coarse, r, want, NULL));
    use(&w, ABUT_GPU_CLUSTERS);
    apply(&w, 1, r, z[0]);
    use(&w, ABUT_GPU_RIGID);
    apply(&w, 1, r, z[1]);
    const double size = abut_largest(want, w.n);
    for (size_t i = 0; i < w.n; i++) CHECK_NEAR(z[1][i] - z[0][i], want[i], 1e-5 * size);
    abut_coarse_space_free(&coarse);
    free(r), free(want), free(x), free(z[0]), free(z[1]);
    abut_bisection_clear(&b);
    world_free(&w);
}

/* Cholesky's pivots of D[n * n], which is lost, are positive */
static int is_definite(double *D, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        if (!(D[k * n + k] > 0)) return 0;
        for (size_t i = k + 1; i < n; i++)
            for (size_t j = k + 1; j <= i; j++) D[i * n + j] -= D[i * n + k] * D[j * n + k] / D[k * n + k];
    }
    return 1;
}

TEST(they_are_symmetric_and_positive_definite)
{
    for (int k = ABUT_GPU_CLUSTERS; k <= ABUT_GPU_RIGID; k++) {
        operator_world w;
        world_make(&w, 4, 60);
        world_operator(&w, 100000, 0.3);
        use(&w, (abut_gpu_precond_kind)k);
        double *M = malloc(w.n * w.n * sizeof *M), *e = calloc(w.n, sizeof *e), size = 0;
        for (size_t i = 0; i < w.n; i++) {
            e[i] = 1;
            apply(&w, 0, e, M + i * w.n);
            e[i] = 0;
            size = fmax(size, abut_largest(M + i * w.n, w.n));
        }
        for (size_t i = 0; i < w.n; i++)
            for (size_t j = 0; j < i; j++) CHECK_NEAR(M[i * w.n + j], M[j * w.n + i], 1e-6 * size);
        CHECK(is_definite(M, w.n));
        free(M), free(e);
        world_free(&w);
    }
}

/* iterations to 1e-8 */
static int iterations_of(operator_world *w, abut_gpu_precond_kind kind, double *p)
{
    abut_gpu_cg c = { 0 };
    abut_gpu_solve_report rep;
    double *b = world_random(3 * w->nv, 8);
    use(w, kind);
    CHECK(!w->q.on->put(&w->q, w->b.at, b, 3 * w->nv * sizeof *b, &err));
    CHECK(!abut_gpu_solve(&c, &w->A, w->b.at, w->y.at, 1e-10, &rep, &err));
    CHECK(rep.residual <= 1e-10 && !rep.in_double);
    CHECK(!w->q.on->get(&w->q, p, w->y.at, 3 * w->nv * sizeof *p, &err));
    abut_gpu_cg_clear(&c, &w->q);
    free(b);
    return rep.iterations;
}

TEST(iterations_fall_on_a_stiff_body_and_the_answer_stays)
{
    operator_world w;
    world_make(&w, 5, 0);
    for (size_t i = 0; i < w.nv; i++) w.row[i] = (int32_t)i;        /* nothing is held */
    w.n = 3 * w.nv;
    world_operator(&w, 100000, 3);
    double *p[3];
    int count[3];
    for (int k = 0; k < 3; k++) {
        p[k] = malloc(3 * w.nv * sizeof **p);
        count[k] = iterations_of(&w, (abut_gpu_precond_kind)k, p[k]);
    }
    printf("# iterations: %d jacobi, %d clusters, %d rigid\n", count[0], count[1], count[2]);
    CHECK(count[1] < 0.8 * count[0] && count[2] < 0.6 * count[1]);
    const double size = abut_largest(p[0], 3 * w.nv);
    for (size_t i = 0; i < 3 * w.nv; i++) {
        CHECK_NEAR(p[1][i], p[0][i], 1e-6 * size);
        CHECK_NEAR(p[2][i], p[0][i], 1e-6 * size);
    }
    for (int k = 0; k < 3; k++) free(p[k]);
    world_free(&w);
}

TEST(they_have_the_same_bytes_for_every_thread_count_and_order)
{
    operator_world w;
    const int threads = abut_threads();
    world_make(&w, 5, 100);
    double *one = malloc(3 * w.nv * sizeof *one), *got = malloc(3 * w.nv * sizeof *got);
    int count = 0;
    for (int k = 0; k < 4; k++) {
        abut_threads_set((int[]){ 1, 2, 7, 1 }[k]);
        w.q.shuffle = k == 3 ? 31 : 0;
        world_operator(&w, 500, 0.3);
        const int n = iterations_of(&w, ABUT_GPU_RIGID, k ? got : one);
        CHECK(!k || (!memcmp(one, got, 3 * w.nv * sizeof *got) && n == count));
        count = n;
    }
    abut_threads_set(threads);
    free(one), free(got);
    world_free(&w);
}

TEST(clusters_that_are_not_definite_are_counted)
{
    operator_world w;
    uint32_t fallen = 0;
    world_make(&w, 4, 0);
    w.diag[40] = -1e6;
    CHECK(w.row[40] >= 0 && !w.q.on->put(&w.q, w.ddiag.at, w.diag, w.nv * sizeof *w.diag, &err));
    world_operator(&w, 100000, 0.3);
    CHECK(!abut_gpu_precond_init_by(&w.A, ABUT_GPU_RIGID, w.x, ROWS, &err) && !abut_gpu_operator_ready(&w.A, &err));
    CHECK(!fallen_clusters(&w.A, &fallen, &err));
    CHECK(fallen == 2);         /* a cluster, and E */
    double *r = world_random(w.n, 3), *z = malloc(w.n * sizeof *z);
    apply(&w, 0, r, z);
    for (size_t i = 0; i < w.n; i++) CHECK(isfinite(z[i]));
    free(r), free(z);
    world_free(&w);
}

TEST(parts_that_rotations_do_not_move_are_no_harm)
{
    operator_world w;
    uint32_t fallen = 1;
    world_make(&w, 2, 0);
    world_operator(&w, 100000, 0.3);
    CHECK(!abut_gpu_precond_init_by(&w.A, ABUT_GPU_RIGID, w.x, 1, &err) && !abut_gpu_operator_ready(&w.A, &err));
    CHECK(w.A.precond.parts == w.n / 3);
    CHECK(!fallen_clusters(&w.A, &fallen, &err));
    CHECK(fallen == 0);
    world_free(&w);
}

TEST(a_coarse_space_that_lags_is_made_again_when_iterations_grow)
{
    operator_world w;
    world_make(&w, 4, 0);
    world_operator(&w, 100000, 0.3);
    use(&w, ABUT_GPU_RIGID);
    abut_gpu_precond *m = &w.A.precond;
    m->lags = 1;
    float before, after;
    for (int k = 0; k < 3; k++) {
        CHECK(!w.q.on->get(&w.q, &before, m->coarse.at, sizeof before, &err));
        CHECK(!abut_gpu_operator_tets(&w.A, w.dx.at, 0.5 + k, w.ddiag.at, &err));
        abut_gpu_precond_learn(&w.A, k == 1 ? 140 : 100, 1e-3);
        if (k == 2) m->made = 0;
        CHECK(!abut_gpu_operator_ready(&w.A, &err));
        CHECK(!w.q.on->get(&w.q, &after, m->coarse.at, sizeof after, &err));
        CHECK((after == before) == (k == 0));
    }
    world_free(&w);
}
