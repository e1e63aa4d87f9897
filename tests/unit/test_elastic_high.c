/* Elements of order 1 to 4: against differences, invariance, closed forms, and elements of order 1. */
#include "base/par.h"
#include "energy/elastic.h"
#include "energy/elastic_high.h"
#include "math/mat3.h"
#include "sparse/packed_inline.h"

#include "check.h"
#include "elastic_gradient.h"
#include "high_box.h"

#include <float.h>

/* rest places under x -> A x + b, then moved at random */
static double *moved(const abut_model *m, const double A[9], double jitter, uint64_t seed)
{
    abut_rng r = { seed };
    double *x = malloc(sizeof *x * 3 * (size_t)m->nv);
    for (int32_t i = 0; i < m->nv; i++)
        for (int d = 0; d < 3; d++)
            x[3 * i + d] = A[3 * d] * m->X[3 * i] + A[3 * d + 1] * m->X[3 * i + 1] + A[3 * d + 2] * m->X[3 * i + 2] + d +
                           abut_rng_real(&r, -jitter, jitter);
    return x;
}

static const double SHEARED[9] = { 1.1, 0.2, 0, -0.1, 0.9, 0.1, 0, 0.05, 1.05 };

typedef struct world {
    high_box box;
    abut_elastic_high e;
    abut_arena scratch;
    double *f;
} world;

static void open_world(world *w, int cells, int nm, int g, int k)
{
    *w = (world){ 0 };
    high_box_build(&w->box, cells, 0.1, 0.15, nm, g, g > 1 ? 0.02 : 0, k);
    abut_err err = { 0 };
    if (abut_elastic_high_init(&w->e, &w->box.model, k, NULL, &err)) printf("# %s\n", err.msg);
    CHECK(w->e.n == w->box.model.nt);
    w->f = malloc(3 * sizeof *w->f * (size_t)w->e.n * (size_t)w->e.nodes);
}

static void close_world(world *w)
{
    abut_elastic_high_clear(&w->e);
    high_box_free(&w->box);
    abut_arena_clear(&w->scratch);
    free(w->f);
}

static double energy(world *w, const double *x)
{
    double E = NAN;
    CHECK(!abut_elastic_high_evaluate(&w->e, x, &E, w->f, &w->scratch, NULL));
    return E;
}

static void gradient(world *w, const double *x, double *g)
{
    memset(g, 0, 3 * (size_t)w->box.model.nv * sizeof *g);
    (void)energy(w, x);
    abut_elastic_high_gather(&w->e, w->f, 1, g);
}

TEST(gradient_is_the_derivative_of_the_energy_for_all_orders_and_materials)
{
    for (int k = 2; k <= 4; k++)
        for (int g = 1; g <= k; g++) {
            world w;
            open_world(&w, 1, 6, g, k);
            const int32_t n3 = 3 * w.box.model.nv;
            double *x = moved(&w.box.model, SHEARED, 1e-3, 1), *grad = malloc(sizeof *grad * (size_t)n3), most = 0, size = 0;
            gradient(&w, x, grad);
            for (int32_t i = 0; i < n3; i += 1 + i % 3) {
                const double at = x[i], h = 3e-6;
                double sum = 0;
                const double weight[4] = { 8, -8, -1, 1 }, step[4] = { h, -h, 2 * h, -2 * h };
                for (int s = 0; s < 4; s++) x[i] = at + step[s], sum += weight[s] * energy(&w, x);
                x[i] = at;
                most = fmax(most, fabs(sum / (12 * h) - grad[i]));
                size = fmax(size, fabs(grad[i]));
            }
            if (!(most <= 1e-8 * size)) printf("# k %d g %d: %g of %g\n", k, g, most, size);
            CHECK(most <= 1e-8 * size);
            free(x), free(grad);
            close_world(&w);
        }
}

/* K u of one tet with a packed matrix. */
static void packed_product(int nodes, const double *H, const double *u, double *f)
{
    memset(f, 0, 3 * (size_t)nodes * sizeof *f);
    for (int a = 0; a < nodes; a++)
        for (int b = a; b < nodes; b++, H += 9)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    f[3 * a + i] += H[3 * i + j] * u[3 * b + j];
                    if (a != b) f[3 * b + j] += H[3 * i + j] * u[3 * a + i];
                }
}

/* Near rest no material has an eigenvalue that projection would change but for the rotation of a stress that is nearly zero: the
 * matrix is the derivative of the gradient. */
TEST(hessian_is_the_derivative_of_the_gradient_where_it_is_positive)
{
    const double larger[9] = { 1.1, 0, 0, 0, 1.1, 0, 0, 0, 1.1 };   /* under tension rotations cost energy */
    for (int k = 2; k <= 4; k++)
        for (int g = 1; g <= k; g += 1 + (k == 4)) {
            world w;
            open_world(&w, 1, 6, g, k);
            const int32_t n3 = 3 * w.box.model.nv;
            const int nodes = w.e.nodes;
            const size_t size = abut_packed_size(nodes), all = (size_t)n3 * sizeof(double);
            double *x = moved(&w.box.model, larger, 1e-4, 3), *p = moved(&w.box.model, larger, 1, 4), *y = malloc(all);
            double *up = malloc(all), *Kp = calloc((size_t)n3, sizeof *Kp), *H = malloc(size * sizeof *H * (size_t)w.e.n);
            double u[105], f[105], most = 0, largest = 0, *fd = calloc((size_t)n3, sizeof *fd);
            abut_elastic_high_hessian(&w.e, x, 1, 0, (size_t)w.e.n, H);
            for (int32_t t = 0; t < w.e.n; t++) {
                const int32_t *node = w.e.node + t * nodes;
                for (int i = 0; i < 3 * nodes; i++) u[i] = p[3 * node[i / 3] + i % 3];
                packed_product(nodes, H + size * (size_t)t, u, f);
                for (int i = 0; i < 3 * nodes; i++) Kp[3 * node[i / 3] + i % 3] += f[i];
            }
            const double h = 1e-5, weight[4] = { 8, -8, -1, 1 }, step[4] = { h, -h, 2 * h, -2 * h };
            for (int s = 0; s < 4; s++) {
                for (int32_t i = 0; i < n3; i++) y[i] = x[i] + step[s] * p[i];
                gradient(&w, y, up);
                for (int32_t i = 0; i < n3; i++) fd[i] += weight[s] * up[i] / (12 * h);
            }
            for (int32_t i = 0; i < n3; i++) most = fmax(most, fabs(fd[i] - Kp[i])), largest = fmax(largest, fabs(Kp[i]));
            if (!(most <= 1e-6 * largest)) printf("# k %d g %d: %g of %g\n", k, g, most, largest);
            CHECK(most <= 1e-6 * largest);
            free(x), free(p), free(y), free(up), free(Kp), free(H), free(fd);
            close_world(&w);
        }
}
