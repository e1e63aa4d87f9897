/* The initial matrices of quasi-Newton directions, as dense ones: the properties in their header. */
#include "base/rng.h"
#include "energy/friction.h"
#include "math/mat3.h"
#include "energy/elastic.h"
#include "scene_world.h"
#include "newton_system.h"
#include "solve/baselines/baselines.h"
#include "solve/direction/initial_laplacian.h"
#include "sparse/schwarz/coarse_space.h"
#include "sparse/packed_lanes.h"
#include "sparse/woodbury.h"

#include "check.h"

#include <float.h>

/* Two blocks, one over the other and over the floor, after two steps; the lower one is held at a side. */
static const char *const PILE =
    "time: {step: 10 ms}\ntolerance: 1e-4 m/s\n"
    "contact: {dhat: 5 mm, kappa-scale: 0.5, barrier: {stiffen-below: 0.5 mm}, friction: {mu: 0.4}}\n"
    "materials: {m: {model: fixed-corotated, young: 4e4}}\n"
    "objects:\n"
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n"
    "  low: {generate: {box: {size: [0.3, 0.1, 0.3], cells: [%d, 1, %d]}}, material: m, translate: [0, %g, 0]}\n"
    "  high: {generate: {box: {size: [%g, %g, %g], cells: [1, 1, 1]}}, material: m, translate: [0.01, %g, 0.02],\n"
    "         velocity: [0.2, 0, 0]}\n"
    "motion: [{select: {object: low, relative-box: [[0, 0, 0], [0.01, 1, 1]]}, fix: true}]\n";

typedef struct setup {
    world w;
    abut_objective *p;
    abut_search *s;
    newton_system d;
    const abut_initial_ops *ops;
    void *initial;
    size_t n;               /* unknowns */
    double *A, *B;          /* [n * n] the Newton matrix; the approximate inverse */
} setup;

static const abut_direction_options ONE = { .user = &abut_solve_defaults };

static double *square(size_t n) { return calloc(n * n, sizeof(double)); }

/* The lower block has cells x cells, and when these are many the upper one is small; gaps to the floor and between them, m. */
static void *instance(const abut_initial_ops *ops, const abut_direction_options *opt)
{
    void *self = calloc(1, ops->size);
    if (ops->make) ops->make(self, opt);
    return self;
}

static void instance_free(const abut_initial_ops *ops, void *self)
{
    if (ops->clear) ops->clear(self);
    free(self);
}

static void setup_make(setup *q, const abut_initial_ops *ops, const abut_direction_options *opt, int cells, double floor,
                       double gap)
{
    const double side = cells > 2 ? 0.04 : 0.1;
    *q = (setup){ 0 };
    world_scene(&q->w, PILE, cells, cells, 0.05 + floor, side, side, side, 0.1 + floor + gap + side / 2);
    CHECK(!world_judged(&q->w, 2));
    CHECK(!abut_step_begin(&q->w.st, &q->w.frame, q->w.at, &q->w.rep, &q->w.err));
    q->s = &q->w.st.solver;
    q->p = &q->s->prob;
    q->n = 3 * (size_t)q->p->nrow;
    newton_system_open(&q->d, q->p, 0, (ops->needs & ABUT_NEEDS_FACTOR) != 0);
    q->ops = ops;
    q->initial = instance(ops, opt);
    q->A = square(q->n), q->B = square(q->n);
}

static void setup_free(setup *q)
{
    instance_free(q->ops, q->initial);
    newton_system_close(&q->d);
    free(q->A), free(q->B);
    world_close(&q->w);
}

static void dense_of(const abut_bsr *A, double *D)
{
    const size_t n = 3 * (size_t)A->n;
    double *e = calloc(n, sizeof *e), *c = malloc(n * sizeof *c);
    for (size_t j = 0; j < n; j++) {
        e[j] = 1;
        abut_bsr_multiply(A, e, c);
        for (size_t i = 0; i < n; i++) D[n * i + j] = c[i];
        e[j] = 0;
    }
    free(e), free(c);
}

static void make(setup *q)
{
    const abut_initial_at where = { q->p, &q->s->here, &q->d.matrix, &q->d.solve };
    if (q->ops->needs & ABUT_NEEDS_MATRIX) CHECK(!newton_system_sum(&q->d, q->s, &q->w.rep, &q->w.err));
    CHECK(!q->ops->factor(q->initial, &where, &q->w.rep, &q->w.err));
    if (q->d.matrix.A.n) dense_of(&q->d.matrix.A, q->A);
}

static void apply_all(setup *q, int symmetric, double *B)
{
    const abut_precond D = q->ops->precond(q->initial, symmetric);
    double *e = calloc(q->n, sizeof *e), *c = malloc(q->n * sizeof *c);
    CHECK(D.rows == q->p->nrow);
    for (size_t j = 0; j < q->n; j++) {
        e[j] = 1;
        CHECK(!D.apply(D.of, e, c, &q->w.err));
        for (size_t i = 0; i < q->n; i++) B[q->n * i + j] = c[i];
        e[j] = 0;
    }
    free(e), free(c);
}

/* X = M^-1 by Gauss and Jordan, with pivots */
static void inverse(size_t n, const double *M, double *X)
{
    double *W = malloc(n * n * sizeof *W);
    memcpy(W, M, n * n * sizeof *W);
    memset(X, 0, n * n * sizeof *X);
    for (size_t i = 0; i < n; i++) X[n * i + i] = 1;
    for (size_t k = 0; k < n; k++) {
        size_t at = k;
        for (size_t i = k; i < n; i++)
            if (fabs(W[n * i + k]) > fabs(W[n * at + k])) at = i;
        for (size_t j = 0; j < n; j++) {
            const double w = W[n * k + j], x = X[n * k + j];
            W[n * k + j] = W[n * at + j], X[n * k + j] = X[n * at + j];
            W[n * at + j] = w, X[n * at + j] = x;
        }
        const double pivot = 1 / W[n * k + k];
        for (size_t j = 0; j < n; j++) W[n * k + j] *= pivot, X[n * k + j] *= pivot;
        for (size_t i = 0; i < n; i++) {
            const double f = W[n * i + k];
            for (size_t j = 0; j < n && i != k && f != 0; j++) W[n * i + j] -= f * W[n * k + j], X[n * i + j] -= f * X[n * k + j];
        }
    }
    free(W);
}

static double largest(const double *M, size_t n)
{
    double big = 0;
    for (size_t i = 0; i < n * n; i++) big = fmax(big, fabs(M[i]));
    return big;
}

/* the largest difference, over the largest of N */
static double apart(const double *M, const double *N, size_t n)
{
    double worst = 0;
    for (size_t i = 0; i < n * n; i++) worst = fmax(worst, fabs(M[i] - N[i]));
    return worst / largest(N, n);
}

/* inverses of subdomains are made in single precision */
#define SINGLE (8 * (double)FLT_EPSILON)

/* want = sum over k sets of rows of W R^T (R A R^T)^-1 R W, W = copies^(-left), copies^(-right); in[k * nrow] */
static void of_sets(const setup *q, int k, const uint8_t *in, double left, double right, double *want)
{
    const int32_t nrow = q->p->nrow;
    const size_t n = q->n;
    memset(want, 0, n * n * sizeof *want);
    for (int s = 0; s < k; s++) {
        size_t m = 0, *at = malloc(n * sizeof *at);
        for (size_t i = 0; i < n; i++)
            if (in[(size_t)s * (size_t)nrow + i / 3]) at[m++] = i;
        double *M = square(m), *X = square(m);
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < m; j++) M[m * i + j] = q->A[n * at[i] + at[j]];
        inverse(m, M, X);
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < m; j++) {
                double ci = 0, cj = 0;
                for (size_t t = 0; t < (size_t)k; t++) {
                    ci += in[t * (size_t)nrow + at[i] / 3];
                    cj += in[t * (size_t)nrow + at[j] / 3];
                }
                want[n * at[i] + at[j]] += pow(ci, -left) * X[m * i + j] * pow(cj, -right);
            }
        free(at), free(M), free(X);
    }
}

TEST(lbfgs_h_starts_from_the_newton_matrix_and_gradient_from_its_diagonal_blocks)
{
    setup q;
    setup_make(&q, &abut_initial_hessian, &ONE, 2, 1e-3, 1e-3);
    make(&q);
    CHECK(q.s->here.pairs.n > 0 && q.s->here.pairs.n_plane > 0 && abut_lag_of(&q.p->terms)->n > 0);
    apply_all(&q, 0, q.B);
    double *want = square(q.n);
    inverse(q.n, q.A, want);
    CHECK_NEAR(apart(q.B, want, q.n), 0, 1e-9);
    setup_free(&q);

    setup_make(&q, &abut_initial_diagonal, &ONE, 2, 1e-3, 1e-3);
    make(&q);
    apply_all(&q, 0, q.B);
    uint8_t *in = calloc((size_t)q.p->nrow * (size_t)q.p->nrow, 1);
    for (int32_t i = 0; i < q.p->nrow; i++) in[i * q.p->nrow + i] = 1;
    of_sets(&q, q.p->nrow, in, 0, 0, want);
    CHECK_NEAR(apart(q.B, want, q.n), 0, 1e-12);
    free(in), free(want);
    setup_free(&q);
}

TEST(lbfgs_jh_is_block_jacobi_on_as_many_disjoint_sets_as_were_asked_for)
{
    for (int parts = 1; parts < 5; parts += 3) {
        setup q;
        abut_solve_options user = abut_solve_defaults;
        user.quasi.parts = parts;
        setup_make(&q, &abut_initial_blocks, &(abut_direction_options){ .user = &user }, 2, 1e-3, 1e-3);
        make(&q);
        apply_all(&q, 0, q.B);
        /* the sets: what a unit vector reaches */
        const int32_t nrow = q.p->nrow;
        uint8_t *in = calloc((size_t)parts * (size_t)nrow, 1), *seen = calloc((size_t)nrow, 1);
        int k = 0;
        for (int32_t i = 0; i < nrow; i++) {
            if (seen[i]) continue;
            for (int32_t j = 0; j < nrow && k < parts; j++)
                if (q.B[q.n * 3 * (size_t)j + 3 * (size_t)i] != 0) in[k * nrow + j] = seen[j] = 1;
            k++;
        }
        CHECK(k == parts);
        double *want = square(q.n);
        of_sets(&q, parts, in, 0, 0, want);
        CHECK_NEAR(apart(q.B, want, q.n), 0, SINGLE);
        free(in), free(seen), free(want);
        setup_free(&q);
    }
}

/* M = A B + scale C of [n * n] */
static void multiply(size_t n, const double *A, const double *B, double scale, const double *C, double *M)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = scale * C[n * i + j];
            for (size_t k = 0; k < n; k++) sum += A[n * i + k] * B[n * k + j];
            M[n * i + j] = sum;
        }
}

/* The coarse space of the rigid motions of k sets of rows, in[k * nrow]. */
static abut_coarse_space *rigid_motions(setup *q, int32_t k, const uint8_t *in)
{
    const int32_t nrow = q->p->nrow;
    abut_coarse_space *c = NULL;
    int32_t *first = calloc((size_t)k + 1, sizeof *first), *row = malloc((size_t)k * (size_t)nrow * sizeof *row), m = 0;
    double *where = malloc(q->n * sizeof *where);
    for (int32_t j = 0; j < k; j++) {
        for (int32_t i = 0; i < nrow; i++)
            if (in[j * nrow + i]) row[m++] = i;
        first[j + 1] = m;
    }
    abut_rows_gather(q->p, q->s->here.x, 1, where);
    CHECK(!abut_coarse_space_analyse(&c, &(abut_operator){ .matrix = &q->d.matrix.A }, k, first, row, &q->w.err));
    CHECK(!abut_coarse_space_factor(c, &(abut_operator){ .matrix = &q->d.matrix.A }, where, &q->w.err));
    free(first), free(row), free(where);
    return c;
}

/* The coarse space on top of S, which want is: C + (I - C A) S (I - A C). */
static void corrected(setup *q, int32_t k, const uint8_t *in, double *want)
{
    const size_t n = q->n;
    abut_coarse_space *rigid = rigid_motions(q, k, in);
    double *C = square(n), *R = square(n), *T = square(n), *e = calloc(n, sizeof *e), *z = calloc(n, sizeof *z);
    for (size_t j = 0; j < n; j++) {
        e[j] = 1;
        memset(z, 0, n * sizeof *z);
        CHECK(!abut_coarse_space_add(rigid, e, z, &q->w.err));
        for (size_t i = 0; i < n; i++) C[n * i + j] = z[i];
        e[j] = 0;
    }
    multiply(n, q->A, C, 0, C, T);
    multiply(n, want, T, -1, want, R);
    for (size_t i = 0; i < n * n; i++) R[i] = -R[i];
    multiply(n, q->A, R, 0, R, T);
    for (size_t i = 0; i < n * n; i++) T[i] = -T[i];
    for (size_t i = 0; i < n; i++) T[n * i + i] += 1;
    multiply(n, C, T, 1, R, want);
    free(C), free(R), free(T), free(e), free(z);
    abut_coarse_space_free(&rigid);
}

/* The sets with the rows that contact or friction joins with theirs. */
static uint8_t *with_contacts(const setup *q, size_t k, const uint8_t *in)
{
    const size_t nrow = (size_t)q->p->nrow;
    const abut_elements *contacts = &q->d.matrix.sets[q->p->lasting];
    uint8_t *more = malloc(k * nrow);
    memcpy(more, in, k * nrow);
    for (size_t s = 0; s < k; s++)
        for (size_t t = 0; t < contacts->n; t++) {
            const int32_t *r = contacts->row + 4 * t;
            int joins = 0;
            for (int c = 0; c < 4; c++) joins |= r[c] >= 0 && in[s * nrow + (size_t)r[c]];
            for (int c = 0; c < 4; c++)
                if (joins && r[c] >= 0) more[s * nrow + (size_t)r[c]] = 1;
        }
    return more;
}

enum { K = 3 };

/* The lower block in two halves, the upper one: part[nt], and the rows of each, in[K * nrow]. */
static void cut_in_three(const setup *q, int32_t *part, uint8_t *in)
{
    const abut_model *m = &q->w.model;
    for (int32_t t = 0; t < m->nt; t++) {
        double x = 0;
        for (int c = 0; c < 4; c++) x += m->X[3 * m->tet[4 * t + c]];
        part[t] = m->body[m->tet[4 * t]] != m->body[m->tet[0]] ? 2 : x > 0;
        for (int c = 0; c < 4; c++)
            if (q->p->row[m->tet[4 * t + c]] >= 0) in[part[t] * q->p->nrow + q->p->row[m->tet[4 * t + c]]] = 1;
    }
}

TEST(dot_is_the_mean_of_subdomains_with_completed_interfaces_and_exact_on_their_rigid_motions)
{
    for (int levels = 1; levels < 3; levels++) {
        setup q;
        int32_t *part = calloc(4096, sizeof *part);
        abut_solve_options user = abut_solve_defaults;
        const abut_direction_options o = { .user = &user, .cut = { K, part } };
        user.quasi.levels = levels;
        setup_make(&q, &abut_initial_subdomains, &o, 2, 1e-3, 1e-3);
        uint8_t *in = calloc(K * (size_t)q.p->nrow, 1);
        CHECK(q.w.model.nt <= 4096);
        cut_in_three(&q, part, in);
        make(&q);
        uint8_t *more = with_contacts(&q, K, in);
        CHECK(memcmp(more, in, K * (size_t)q.p->nrow));
        double *want = square(q.n);
        for (int symmetric = 0; symmetric < 2; symmetric++) {
            apply_all(&q, symmetric, q.B);
            const int even = symmetric || levels == 2;
            of_sets(&q, K, levels == 1 ? in : more, even ? 0.5 : 1, even ? 0.5 : 0, want);
            if (levels == 2) corrected(&q, K, more, want);
            CHECK_NEAR(apart(q.B, want, q.n), 0, SINGLE);
        }
        free(part), free(in), free(more), free(want);
        setup_free(&q);
    }
}

/* Rows that a unit vector at row i reaches: those of the subdomains that i is in. */
static void reach(const setup *q, int32_t i, uint8_t *to)
{
    for (int32_t j = 0; j < q->p->nrow; j++) to[j] = q->B[q->n * 3 * (size_t)j + 3 * (size_t)i] != 0;
}

static int is_inside(const uint8_t *a, const uint8_t *b, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (a[i] && !b[i]) return 0;
    return 1;
}

TEST(dot_cuts_as_many_subdomains_of_its_own_as_are_asked_for)
{
    setup q;
    abut_solve_options user = abut_solve_defaults;
    const abut_direction_options o = { .user = &user };
    user.quasi.parts = 3, user.quasi.levels = 1;
    setup_make(&q, &abut_initial_subdomains, &o, 2, 1e-3, 1e-3);
    make(&q);
    apply_all(&q, 1, q.B);
    for (size_t i = 0; i < q.n; i++) CHECK(q.B[q.n * i + i] > 0);
    /* a subdomain is a smallest set that a row reaches */
    const int32_t n = q.p->nrow;
    uint8_t *to = malloc((size_t)n * (size_t)n);
    for (int32_t i = 0; i < n; i++) reach(&q, i, to + i * n);
    int sets = 0;
    for (int32_t i = 0; i < n; i++) {
        int smallest = 1;
        for (int32_t j = 0; j < n; j++) {
            const int within = is_inside(to + j * n, to + i * n, n), around = is_inside(to + i * n, to + j * n, n);
            if (within && (!around || j < i)) smallest = 0;
        }
        sets += smallest;
    }
    CHECK(sets == 3);
    free(to);
    setup_free(&q);
}

TEST(lbfgs_ic_agrees_with_the_newton_matrix_on_its_pattern)
{
    setup q;
    setup_make(&q, &abut_initial_ichol, &ONE, 2, 1e-3, 1e-3);
    make(&q);
    apply_all(&q, 0, q.B);
    double *M = square(q.n), inside = 0, fill = 0;
    inverse(q.n, q.B, M);
    for (size_t i = 0; i < q.n; i++)
        for (size_t j = 0; j < q.n; j++) {
            const double off = fabs(M[q.n * i + j] - q.A[q.n * i + j]);
            if (q.A[q.n * i + j] != 0) inside = fmax(inside, off);
            else fill = fmax(fill, off);
        }
    CHECK(inside < 1e-12 * largest(q.A, q.n) && fill > 1e-4 * largest(q.A, q.n));
    free(M);
    setup_free(&q);
}

enum { CONTACTS_NONE, CONTACTS_FEW, CONTACTS_MANY };
static const double FIT[2] = { ABUT_FIT_LOW, ABUT_FIT_HIGH };

/* lbfgs-pd against a dense Laplacian with contacts; what its factors weigh tells how they came about. */
static void check_laplacian(setup *q, int how)
{
    abut_elements contacts = { 0 };
    abut_bsr L = { 0 };
    abut_linear_solver constant = { 0 };
    int32_t m = 0;
    q->n = 3 * (size_t)q->p->nrow;
    double *want = square(q->n), *M = square(q->n);
    make(q);
    apply_all(q, 1, q->B);
    CHECK(!abut_newton_matrix_contacts(&q->d.matrix, q->p, &q->s->here, &contacts, &q->w.err));
    CHECK(!abut_laplacian(q->p, FIT, &contacts, &L, &q->w.err));
    CHECK((contacts.n > 0) == (how != CONTACTS_NONE));
    dense_of(&L, M);
    inverse(q->n, M, want);
    CHECK_NEAR(apart(q->B, want, q->n), 0, 1e-9);

    CHECK(!abut_laplacian_factor(q->p, FIT, &constant, NULL, &q->w.err));
    CHECK(!abut_woodbury_count(q->p->nrow, &contacts, &m, &q->w.err));
    q->ops->stats(q->initial, &q->w.rep);
    const double patched = abut_linear_get_stats(&constant).nnz + 10. * m * m;
    CHECK((how == CONTACTS_MANY) == (fabs(q->w.rep.factor_nnz - patched) > 0));
    abut_linear_solver_clear(&constant);
    abut_bsr_clear(&L);
    free(want), free(M);
}

/* D[n * n] += scale times the Hessian of the tets at x, in J/m^2 times psi. */
static void add_tets(setup *q, const double *x, double scale, double *D)
{
    const abut_objective *p = q->p;
    const abut_elastic *e = abut_elastic_of(&p->terms);
    const size_t nt = (size_t)p->model->nt;
    double *H = malloc((nt * ABUT_PACKED + 1) * sizeof *H), *T = square(q->n);
    int32_t *row = malloc((4 * nt + 1) * sizeof *row);
    abut_bsr A = { 0 };
    for (size_t c = 0; c < 4 * nt; c++) row[c] = p->row[p->model->tet[c]];
    const abut_elements tets = { .corners = 4, .n = nt, .row = row, .val = H };
    abut_elastic_hessian(e, x, p->w.psi, H);
    CHECK(!abut_bsr_pattern(&A, p->nrow, &tets, 1, &q->w.err));
    abut_bsr_assemble(&A, NULL, &tets, 1);
    dense_of(&A, T);
    for (size_t i = 0; i < q->n * q->n; i++) D[i] += scale * T[i];
    abut_bsr_clear(&A);
    free(H), free(T), free(row);
}

/* D's rows and columns of each node turned by its rotation, which Newton's iteration finds from the mean deformation. */
static void turn_nodes(setup *q, double *D)
{
    const abut_elastic *e = abut_elastic_of(&q->p->terms);
    const size_t n = q->n;
    double *Q = square(n), *T = square(n);
    for (int32_t i = 0; i < q->p->model->nv; i++) {
        double R[9] = { 0 }, F[9], inverse[9];
        if (q->p->row[i] < 0) continue;
        for (int32_t t = 0; t < q->p->model->nt; t++)
            for (int c = 0; c < 4; c++) {
                if (q->p->model->tet[4 * t + c] != i) continue;
                (void)abut_elastic_deformation(e, q->s->here.x, t, F);
                for (int k = 0; k < 9; k++) R[k] += e->vol[t] * F[k];
            }
        for (int k = 0; k < 60; k++) {
            CHECK(abut_m3_inverse(inverse, R) != 0);
            if (k == 0) {
                const double det = cbrt(abut_m3_det(R));
                for (int j = 0; j < 9; j++) R[j] /= det, inverse[j] *= det;
            }
            for (int j = 0; j < 9; j++) R[j] = 0.5 * (R[j] + inverse[3 * (j % 3) + j / 3]);
        }
        const size_t at = 3 * (size_t)q->p->row[i];
        for (size_t j = 0; j < 9; j++) Q[n * (at + j / 3) + at + j % 3] = R[j];
    }
    multiply(n, Q, D, 0, D, T);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t k = 0; k < n; k++) sum += T[n * i + k] * Q[n * j + k];
            D[n * i + j] = sum;
        }
    free(Q), free(T);
}

TEST(lbfgs_rest_is_the_newton_matrix_with_tets_at_rest_and_lbfgs_warped_that_with_them_turned)
{
    for (int warped = 0; warped < 2; warped++)
        for (int touches = 0; touches < 2; touches++) {
            setup q;
            const double gap = touches ? 1e-3 : 0.03;
            setup_make(&q, warped ? &abut_initial_warped : &abut_initial_rest, &ONE, 2, gap, gap);
            CHECK((q.s->here.pairs.n + q.s->here.pairs.n_plane > 0) == touches);
            CHECK(!newton_system_sum(&q.d, q.s, &q.w.rep, &q.w.err));
            dense_of(&q.d.matrix.A, q.A);
            double *E = square(q.n), *want = square(q.n);
            add_tets(&q, q.s->here.x, -1, q.A);
            add_tets(&q, q.p->model->X, 1, E);
            if (warped) turn_nodes(&q, E);
            for (size_t i = 0; i < q.n * q.n; i++) q.A[i] += E[i];
            for (int twice = 0; twice < 2; twice++) {   /* with the factor of before */
                const abut_initial_at where = { q.p, &q.s->here, &q.d.matrix, &q.d.solve };
                CHECK(!q.ops->factor(q.initial, &where, &q.w.rep, &q.w.err));
                apply_all(&q, 0, q.B);
                inverse(q.n, q.A, want);
                CHECK_NEAR(apart(q.B, want, q.n), 0, 1e-9);
            }
            free(E), free(want);
            setup_free(&q);
        }
}

/* A body that turns as a whole: Newton's matrix turns with it, and so does the warped one, which is that of rest again. */
TEST(lbfgs_warped_is_the_newton_matrix_of_a_body_that_has_turned_and_lbfgs_rest_is_not)
{
    for (int warped = 0; warped < 2; warped++) {
        setup q;
        setup_make(&q, warped ? &abut_initial_warped : &abut_initial_rest, &ONE, 2, 0.03, 0.03);
        double *x = malloc(q.n * sizeof *x + 3 * sizeof *x * (size_t)q.p->model->nv), *want = square(q.n);
        for (int32_t i = 0; i < q.p->model->nv; i++) {
            const double *X = q.p->model->X + 3 * i;
            x[3 * i] = 0.6 * X[0] - 0.8 * X[1], x[3 * i + 1] = 5 + 0.8 * X[0] + 0.6 * X[1], x[3 * i + 2] = X[2];
        }
        abut_search_place(q.s, x);
        CHECK(!abut_search_contacts(q.s, &q.w.rep, &q.w.err) && q.s->here.pairs.n == 0 && abut_lag_of(&q.p->terms)->n == 0);
        make(&q);
        CHECK(!newton_system_sum(&q.d, q.s, &q.w.rep, &q.w.err));
        dense_of(&q.d.matrix.A, q.A);
        apply_all(&q, 0, q.B);
        inverse(q.n, q.A, want);
        if (warped) CHECK_NEAR(apart(q.B, want, q.n), 0, 1e-9);
        else CHECK(apart(q.B, want, q.n) > 1e-3);
        free(x), free(want);
        setup_free(&q);
    }
}

TEST(lbfgs_id_is_what_the_newest_pair_says_and_before_it_the_mean_of_the_laplacian)
{
    setup q;
    setup_make(&q, &abut_initial_identity, &ONE, 2, 1e-3, 1e-3);
    make(&q);
    abut_bsr L = { 0 };
    double sum = 0;
    CHECK(!abut_laplacian(q.p, FIT, NULL, &L, &q.w.err));
    for (int32_t i = 0; i < L.n; i++) sum += L.val[9 * L.ptr[i]];
    for (int pair = 0; pair < 3; pair++) {
        const double want = pair == 1 ? 3.0 / 7 : L.n / sum;
        q.ops->learn(q.initial, pair == 1 ? 3 : 0, pair == 1 ? 7 : 0);
        apply_all(&q, 0, q.B);
        for (size_t i = 0; i < q.n; i++)
            for (size_t j = 0; j < q.n; j++) CHECK_NEAR(q.B[q.n * i + j], i == j ? want : 0, 1e-14 * want);
    }
    abut_bsr_clear(&L);
    setup_free(&q);
}

/* As midpoint steps are, of which implicit Euler takes some: psi is the same, the weight of Hessians is not. */
static void halve_share(abut_objective *p)
{
    abut_weights w = p->w;
    w.share = 0.5;
    abut_objective_weigh(p, w);
}

/* Other nodes are held, as many as before. */
static void hold_others(abut_objective *p)
{
    int32_t i = 0;
    while (!p->held[i]) i++;
    p->held[i] = 0;
    for (i = p->model->nv - 1; p->held[i]; i--);
    p->held[i] = 1;
    abut_objective_number(p);
}

TEST(a_matrix_that_outlives_a_step_is_that_of_its_scheme_and_of_its_unknowns)
{
    const abut_initial_ops *const all[] = { &abut_initial_laplacian, &abut_initial_identity, &abut_initial_rest,
                                            &abut_initial_warped };
    for (int k = 0; k < 8; k++) {
        setup q;
        setup_make(&q, all[k / 2], &ONE, 2, 0.03, 0.03);
        make(&q);
        apply_all(&q, 0, q.A);
        if (k % 2) hold_others(q.p);
        else halve_share(q.p);
        make(&q);
        apply_all(&q, 0, q.B);
        CHECK(apart(q.B, q.A, q.n) > 1e-6);
        void *kept = q.initial;
        q.initial = instance(q.ops, &ONE);
        make(&q);
        apply_all(&q, 0, q.A);
        CHECK(!memcmp(q.A, q.B, q.n * q.n * sizeof *q.A));
        instance_free(q.ops, kept);
        setup_free(&q);
    }
}

/* u . L u of the field u = (a . X) e, e unit: the masses' part and psi V times the stiffness along a; *k: of the material. */
static double quadratic(const char *fibre, double mass[1], double *psi_volume, double *k)
{
    static const double a[3] = { 0.3, -1, 0.5 };
    world w;
    world_scene(&w, "materials: {m: {model: fixed-corotated%s}}\nobjects:\n"
                "  b: {generate: {box: {size: [1, 2, 0.5], cells: [2, 3, 2]}}}\n", fibre);
    CHECK(!abut_step_begin(&w.st, &w.frame, w.at, &w.rep, &w.err));
    const abut_objective *p = &w.st.solver.prob;
    abut_bsr L = { 0 };
    CHECK(!abut_stiffness_fit_materials(abut_elastic_of(&p->terms), FIT[0], FIT[1], k, &w.err) && *k > 0);
    CHECK(!abut_laplacian(p, FIT, NULL, &L, &w.err) && p->nrow == w.model.nv);
    double *u = calloc(6 * (size_t)p->nrow, sizeof *u), *Lu = u + 3 * p->nrow, sum = 0;
    *mass = 0;
    for (int32_t i = 0; i < w.model.nv; i++) {
        const double *X = w.model.X + 3 * i, v = a[0] * X[0] + a[1] * X[1] + a[2] * X[2];
        u[3 * p->row[i] + 1] = 0.6 * v, u[3 * p->row[i] + 2] = 0.8 * v;
        *mass += w.model.mass[i] * v * v;
    }
    abut_bsr_multiply(&L, u, Lu);
    for (int32_t i = 0; i < 3 * p->nrow; i++) sum += u[i] * Lu[i];
    *psi_volume = p->w.psi * 1 * 2 * 0.5;
    free(u);
    abut_bsr_clear(&L);
    world_close(&w);
    return sum;
}

TEST(the_laplacian_of_a_linear_field_is_that_of_the_continuum_with_fibres_or_without)
{
    double mass, volume, k;
    const double a2 = 0.3 * 0.3 + 1 + 0.25, plain = quadratic("", &mass, &volume, &k);
    CHECK_NEAR(plain, mass + volume * k * a2, 1e-11 * plain);
    /* along (1, 2, 2) / 3: a . f = (0.3 - 2 + 1) / 3 */
    const double along = -0.7 / 3, stiff = quadratic(", fibre: {direction: [1, 2, 2], stiffness: 9000}", &mass, &volume, &k);
    CHECK_NEAR(stiff, mass + volume * (k * a2 + 9000 * along * along), 1e-11 * stiff);
}

TEST(lbfgs_pd_is_the_laplacian_and_contacts_whether_they_patch_the_factor_or_not)
{
    for (int k = CONTACTS_NONE; k <= CONTACTS_MANY; k++) {
        setup q;
        setup_make(&q, &abut_initial_laplacian, &ONE, k == CONTACTS_FEW ? 7 : 2, k == CONTACTS_MANY ? 1e-3 : 0.03,
                   k == CONTACTS_NONE ? 0.03 : 1e-3);
        check_laplacian(&q, k);
        q.p->held[q.w.model.nv - 1] = 1;    /* the factor that is kept is for another numbering */
        abut_objective_number(q.p);
        check_laplacian(&q, k);
        setup_free(&q);
    }
}
