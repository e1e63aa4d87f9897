/* Energies of a program as terms (energy/element_energy.h), over a cloud of points: against sums, differences, eigenvalues. */
#include "check.h"

#include "base/par.h"
#include "base/rng.h"
#include "energy/element_energy.h"
#include "energy/term.h"
#include "math/spd_inline.h"

enum { NV = 900, N = 3000 };

static double x[3 * NV], weight[N];
static int32_t node[4 * N];
static abut_model model = { .nv = NV };

SETUP
{
    abut_rng rng = { 11 };
    for (int i = 0; i < 3 * NV; i++) x[i] = abut_rng_real(&rng, -1, 1);
    for (int e = 0; e < N; e++) {
        weight[e] = abut_rng_real(&rng, 0.5, 2);
        for (int k = 0; k < 4; k++) node[4 * e + k] = (int32_t)(((size_t)e * 7 + (size_t)k * 211 + (size_t)(e / 450)) % NV);
    }
}

/* w (|x1 - x0|^2 - 1)^2: its second derivatives are indefinite where the length is below 1 */
static double length(const void *own, int32_t e, const double *p, double *g, double *H)
{
    const double w = ((const double *)own)[e], d[3] = { p[3] - p[0], p[4] - p[1], p[5] - p[2] };
    const double c = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] - 1;
    for (int i = 0; i < 3 && g; i++) g[3 + i] = 4 * w * c * d[i], g[i] = -g[3 + i];
    for (int i = 0; i < 9 && H; i++) {
        const double h = w * (8 * d[i / 3] * d[i % 3] + (i % 4 ? 0 : 4 * c));
        const int at = 6 * (i / 3) + i % 3;
        H[at] = H[at + 21] = h, H[at + 3] = H[at + 18] = -h;
    }
    return w * c * c;
}

/* the square of six times the volume of a tet */
static double volume(const void *own, int32_t e, const double *p, double *g, double *H)
{
    double a[3][3], c[3][3], v = 0;
    for (int k = 0; k < 9; k++) a[k / 3][k % 3] = p[3 + k] - p[k % 3];
    for (int k = 0; k < 9; k++) {
        const int i = k / 3, j = k % 3;
        const double *u = a[(i + 1) % 3], *w = a[(i + 2) % 3];
        c[i][j] = u[(j + 1) % 3] * w[(j + 2) % 3] - u[(j + 2) % 3] * w[(j + 1) % 3];
        if (i == 0) v += a[0][j] * c[0][j];
    }
    for (int k = 0; k < 9 && g; k++) g[3 + k] = 2 * v * c[k / 3][k % 3], g[k % 3] -= g[3 + k];
    (void)own, (void)e, (void)H;
    return v * v;
}

static const abut_element_energy lengths = { "lengths", 2, N, node, length, weight },
                                 volumes = { "volumes", 4, N / 2, node, volume, NULL };

typedef struct term {
    abut_term_ops ops;
    abut_own_term row;
    void *self;
    abut_arena scratch;
    abut_err err;
} term;

static abut_status term_open(term *t, const abut_element_energy *e)
{
    *t = (term){ 0 };
    abut_element_term(e, &t->ops, &t->row);
    const abut_term_world w = { .model = &model, .own = t->row.own };
    return t->ops.make(&t->self, &w, &t->err);
}

static void term_close(term *t)
{
    t->ops.free(t->self);
    abut_arena_clear(&t->scratch);
}

static double energy_at(term *t, const double *z)
{
    const abut_at at = { .x = z, .z = z };
    double e = -1;
    CHECK(!t->ops.energy(t->self, &at, 3, &e, &t->scratch, &t->err));
    return e;
}

static void check_gradient(const abut_element_energy *e, double size)
{
    term t;
    abut_rng rng = { 3 };
    const abut_at at = { .x = x, .z = x };
    double *g = calloc(3 * NV, sizeof *g), *z = malloc(sizeof x), *p = malloc(sizeof x), slope = 0, h = 1e-5;
    CHECK(!term_open(&t, e));
    g[5] = 1;       /* it is added to */
    CHECK(!t.ops.gradient(t.self, &at, 3, g, &t.scratch, &t.err));
    g[5] -= 1;
    for (int i = 0; i < 3 * NV; i++) slope += g[i] * (p[i] = abut_rng_real(&rng, -1, 1));
    for (int i = 0; i < 3 * NV; i++) z[i] = x[i] + h * p[i];
    const double up = energy_at(&t, z);
    for (int i = 0; i < 3 * NV; i++) z[i] = x[i] - h * p[i];
    CHECK_NEAR((up - energy_at(&t, z)) / (2 * h), slope, 1e-6 * size);
    CHECK(fabs(slope) > 1e-3 * size);
    term_close(&t);
    free(g), free(z), free(p);
}

TEST(the_gradient_is_the_slope_of_the_energy)
{
    check_gradient(&lengths, 1e4);
    check_gradient(&volumes, 1e4);
}

TEST(the_energy_is_the_sum_over_the_elements)
{
    term t;
    double sum = 0;
    CHECK(!term_open(&t, &lengths));
    for (int32_t e = 0; e < N; e++) {
        double p[6];
        for (int k = 0; k < 6; k++) p[k] = x[3 * node[2 * e + k / 3] + k % 3];
        sum += length(weight, e, p, NULL, NULL);
    }
    CHECK_NEAR(energy_at(&t, x), 3 * sum, 1e-12 * sum);
    term_close(&t);
}

TEST(element_matrices_are_the_projected_second_derivatives_in_packed_blocks)
{
    term t;
    abut_elements set = { 0 };
    const abut_at at = { .x = x, .z = x };
    CHECK(!term_open(&t, &lengths));
    CHECK(!t.ops.elements(t.self, &at, &set, &t.err));
    CHECK(set.corners == 2 && set.n == N && set.row == node);
    double *val = malloc(27 * (size_t)N * sizeof *val);
    t.ops.hessian(t.self, &at, 2, 0, N, val);
    int changed = 0;
    for (int32_t i = 0; i < N; i++) {
        double p[6], g[6] = { 0 }, H[36] = { 0 }, full[36], w[6], Q[36];
        for (int k = 0; k < 6; k++) p[k] = x[3 * node[2 * i + k / 3] + k % 3];
        length(weight, i, p, g, H);
        for (int a = 0; a < 2; a++)
            for (int b = 0; b < 2; b++)
                for (int k = 0; k < 9; k++) {
                    const double *block = val + 27 * i + (a + b == 0 ? 0 : a + b == 2 ? 18 : 9);
                    full[6 * (3 * a + k / 3) + 3 * b + k % 3] = a <= b ? block[k] : block[3 * (k % 3) + k / 3];
                }
        abut_sym_eigen(6, full, w, Q);
        for (int k = 0; k < 6; k++) CHECK(w[k] > -1e-12 * 100);
        double apart = 0, least = 0;
        for (int k = 0; k < 36; k++) apart = fmax(apart, fabs(full[k] - 2 * H[k]));
        abut_sym_eigen(6, H, w, Q);
        for (int k = 0; k < 6; k++) least = fmin(least, w[k]);
        /* the nearest one: no further than the negative eigenvalues, and where there are none the same */
        CHECK(apart <= -2 * least * 2 + 1e-12 * 100);
        changed += least < -1e-6;
    }
    CHECK(changed > N / 20 && changed < N);
    free(val);
    term_close(&t);
}

TEST(bits_do_not_depend_on_threads)
{
    double sum[3], *g[3];
    const int threads[] = { 1, 2, 7 }, before = abut_threads();
    const abut_at at = { .x = x, .z = x };
    for (int k = 0; k < 3; k++) {
        term t;
        abut_threads_set(threads[k]);
        CHECK(!term_open(&t, &lengths));
        sum[k] = energy_at(&t, x);
        g[k] = calloc(3 * NV, sizeof **g);
        CHECK(!t.ops.gradient(t.self, &at, 1, g[k], &t.scratch, &t.err));
        CHECK(!memcmp(&sum[k], &sum[0], sizeof *sum) && !memcmp(g[k], g[0], sizeof x));
        term_close(&t);
    }
    abut_threads_set(before);
    for (int k = 0; k < 3; k++) free(g[k]);
}

static double wall(const void *own, int32_t e, const double *p, double *g, double *H)
{
    (void)e, (void)g, (void)H;
    return p[0] < *(const double *)own ? INFINITY : p[0] > 10 ? NAN : 0;
}

TEST(an_infinite_energy_is_no_failure_and_one_that_is_not_a_number_is)
{
    term t;
    double at_most = 2, e;
    const abut_element_energy walls = { "wall", 1, N, node, wall, &at_most };
    CHECK(!term_open(&t, &walls));
    CHECK(isinf(energy_at(&t, x)));
    at_most = -2;
    CHECK(energy_at(&t, x) == 0);
    const double kept = x[3 * node[0]];
    const abut_at at = { .x = x, .z = x };
    x[3 * node[0]] = 11;
    CHECK(t.ops.energy(t.self, &at, 1, &e, &t.scratch, &t.err) == ABUT_E_NUMERIC);
    CHECK(strstr(t.err.msg, "energy 'wall' is not a number"));
    x[3 * node[0]] = kept;
    term_close(&t);
}

/* its gradient is 0/0 where the distance of the two is 0, the value is not */
static double slope_of_nothing(const void *own, int32_t e, const double *p, double *g, double *H)
{
    const double d = p[3] - p[0];
    (void)own, (void)e, (void)H;
    if (g) g[0] = -d / fabs(d), g[3] = -g[0];
    return fabs(d);
}

TEST(a_gradient_that_is_not_a_number_is_said_with_its_element)
{
    term t;
    const int32_t pairs[] = { 0, 1, 2, 3 };
    const abut_element_energy gap = { "gap", 2, 2, pairs, slope_of_nothing, NULL };
    CHECK(!term_open(&t, &gap));
    double g[3 * NV] = { 0 };
    const double kept = x[9];
    const abut_at at = { .x = x, .z = x };
    CHECK(!t.ops.gradient(t.self, &at, 1, g, &t.scratch, &t.err));
    x[9] = x[6];
    CHECK(t.ops.gradient(t.self, &at, 1, g, &t.scratch, &t.err) == ABUT_E_NUMERIC);
    CHECK(strstr(t.err.msg, "energy 'gap', element 1: its gradient is not a number"));
    x[9] = kept;
    term_close(&t);
}

static void refused(abut_element_energy e, const char *why)
{
    term t;
    CHECK(term_open(&t, &e) == ABUT_E_ARG && !t.self);
    if (!strstr(t.err.msg, why)) check_bad++, printf("# %s\n", t.err.msg);
}

TEST(what_cannot_be_an_energy_is_refused_by_name_and_number)
{
    refused((abut_element_energy){ "odd", 5, N, node, length, weight }, "energy 'odd': elements of 5 nodes, expected 1 to 4");
    refused((abut_element_energy){ "odd", 0, N, node, length, weight }, "elements of 0 nodes");
    refused((abut_element_energy){ "odd", 2, -1, node, length, weight }, "-1 elements");
    refused((abut_element_energy){ "odd", 2, 3, NULL, length, weight }, "3 elements without nodes");
    refused((abut_element_energy){ "odd", 2, N, node, NULL, weight }, "no function");
    const int32_t wrong[] = { 0, 1, 2, NV };
    refused((abut_element_energy){ "odd", 2, 2, wrong, length, weight }, "element 1 has node 900, expected 0 to 899");
    const int32_t twice[] = { 0, 1, 7, 7 };
    refused((abut_element_energy){ "odd", 2, 2, twice, length, weight }, "element 1 has node 7 twice");
    term t;
    const abut_element_energy none = { "none", 2, 0, NULL, length, NULL };
    CHECK(!term_open(&t, &none));
    CHECK(energy_at(&t, x) == 0);
    term_close(&t);
}
