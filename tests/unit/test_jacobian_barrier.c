/* The barrier of det F: against a closed form, differences, points of a lattice, and rotations. */
#include "base/par.h"
#include "energy/elastic.h"
#include "energy/elastic_high.h"
#include "math/mat3.h"
#include "model/tets.h"
#include "sparse/packed_inline.h"

#include "check.h"
#include "high_box.h"

#define HAT ABUT_JACOBIAN_HAT

TEST(the_barrier_is_its_closed_form_twice_differentiable_at_jhat_and_infinite_at_zero)
{
    for (double J = 1e-6; J < HAT; J *= 1.4) {
        const double h = 1e-5 * J;
        double d[2], at[4][2], e[4];
        const double u = J / HAT, b = abut_jacobian_barrier(J, d);
        CHECK_NEAR(b, -(1 - u) * (1 - u) * log(u), 1e-15 * fmax(1, b));
        if (J + 2 * h >= HAT) continue;
        for (int k = 0; k < 4; k++) e[k] = abut_jacobian_barrier(J + (k < 2 ? k - 2 : k - 1) * h, at[k]);
        CHECK_NEAR((e[0] - e[3] + 8 * (e[2] - e[1])) / (12 * h), d[0], 1e-7 * fabs(d[0]) + 1e-9 / J);
        CHECK_NEAR((at[0][0] - at[3][0] + 8 * (at[2][0] - at[1][0])) / (12 * h), d[1], 1e-7 * d[1] + 1e-9 / (J * J));
        CHECK(d[0] < 0 && d[1] > 0);
    }
    double d[2];
    const double below = abut_jacobian_barrier(HAT * (1 - 1e-6), d);
    CHECK(below < 1e-17 && d[0] > -1e-10 && d[1] < 1e-3);
    CHECK(abut_jacobian_barrier(1e-300, NULL) > 600);
}

/* ---- in tets ---- */

typedef struct world {
    high_box box;
    abut_elastic_high tets;
    abut_jacobian_barriers b;
    double *x;
    int32_t n3;
} world;

/* A neo-Hookean box of order k on a shape of order g, pressed to the part `pressed` of its height, its nodes moved by up to
 * `jitter` m. */
static void open_world(world *w, int g, int k, double pressed, double jitter)
{
    abut_rng r = { 7 };
    *w = (world){ 0 };
    high_box_build(&w->box, 1, 0.1, 0.1, 1, g, g > 1 ? 0.01 : 0, k);
    CHECK(!abut_elastic_high_init(&w->tets, &w->box.model, k, NULL, NULL));
    CHECK(!abut_jacobian_barriers_init(&w->b, &w->tets, NULL));
    w->n3 = 3 * w->box.model.nv;
    w->x = malloc((size_t)w->n3 * sizeof *w->x);
    for (int32_t i = 0; i < w->n3; i++)
        w->x[i] = w->box.model.X[i] * (i % 3 == 1 ? pressed : 1 + 0.1 * (i % 3)) + abut_rng_real(&r, -jitter, jitter);
}

static void close_world(world *w)
{
    abut_jacobian_barriers_clear(&w->b);
    abut_elastic_high_clear(&w->tets);
    high_box_free(&w->box);
    free(w->x);
}

/* det F of tet t at L as a ratio of volumes */
static double ratio_at(const abut_model *m, int32_t t, const double *x, const double L[4])
{
    double at[ABUT_TET_NODES_MAX][3], X[ABUT_TET_NODES_MAX][3], J[9];
    const int order = abut_tet_gather(m, t, x, at);
    abut_tet_gather(m, t, m->X, X);
    return abut_tet_point(order, (const double(*)[3])at, L, NULL, J) / abut_tet_point(order, (const double(*)[3])X, L, NULL, J);
}

static int32_t look(world *w)
{
    int32_t added = -1;
    CHECK(!abut_jacobian_barriers_look(&w->b, w->x, &added, NULL));
    return added;
}

TEST(energies_are_sums_over_points_and_do_not_change_under_rotation)
{
    static const double R[9] = { 0.36, 0.48, -0.8, -0.8, 0.6, 0, 0.48, 0.64, 0.6 };
    for (int k = 2; k <= 4; k++)
        for (int g = 1; g <= k; g++) {
            world w;
            open_world(&w, g, k, 0.15, 1e-4);
            const abut_model *m = &w.box.model;
            const int32_t added = look(&w);
            CHECK(added == m->nt && w.b.n == added);
            double sum = 0, *turned = malloc((size_t)w.n3 * sizeof *turned);
            for (int32_t q = 0; q < w.b.n; q++) {
                const abut_jacobian_point *p = &w.b.point[q];
                const double *lame = w.tets.laws.lame + 2 * m->tet_mat[p->tet];
                const double J = ratio_at(m, p->tet, w.x, p->L), V = abut_elastic_high_volume(&w.tets, p->tet);
                CHECK(J > 0.05 && J < 0.25);
                CHECK_NEAR(p->weight, 0.01 * V * (lame[0] + lame[1]), 1e-12 * p->weight);
                sum += p->weight * abut_jacobian_barrier(J, NULL);
            }
            const double E = abut_jacobian_barriers_energy(&w.b, w.x);
            CHECK_NEAR(E, sum, 1e-11 * sum);
            for (int32_t i = 0; i < w.n3; i++) {
                const double *row = R + 3 * (i % 3), *x = w.x + i - i % 3;
                turned[i] = row[0] * x[0] + row[1] * x[1] + row[2] * x[2];
            }
            CHECK_NEAR(abut_jacobian_barriers_energy(&w.b, turned), E, 1e-11 * E);
            CHECK(!(abut_jacobian_barriers_energy(&w.b, m->X) > 0));
            for (int32_t i = 0; i < w.n3; i++) turned[i] = i % 3 ? w.x[i] : -w.x[i];
            CHECK(isinf(abut_jacobian_barriers_energy(&w.b, turned)));
            free(turned);
            close_world(&w);
        }
}

TEST(the_gradient_is_the_derivative_of_the_energy)
{
    abut_rng r = { 9 };
    for (int k = 2; k <= 4; k++)
        for (int g = 1; g <= k; g += k - 1) {
            world w;
            open_world(&w, g, k, 0.15, 1e-4);
            CHECK(look(&w) > 0);
            const size_t bytes = (size_t)w.n3 * sizeof(double);
            double *grad = calloc(bytes, 1), *d = malloc(bytes), *y = malloc(bytes), e[4], slope = 0;
            abut_jacobian_barriers_gradient(&w.b, w.x, 3, grad);
            for (int32_t i = 0; i < w.n3; i++) d[i] = abut_rng_real(&r, -1, 1), slope += grad[i] * d[i];
            const double h = 2e-7, step[4] = { -2 * h, -h, h, 2 * h };
            for (int s = 0; s < 4; s++) {
                for (int32_t i = 0; i < w.n3; i++) y[i] = w.x[i] + step[s] * d[i];
                e[s] = 3 * abut_jacobian_barriers_energy(&w.b, y);
            }
            const double difference = (e[0] - e[3] + 8 * (e[2] - e[1])) / (12 * h);
            CHECK_NEAR(difference, slope, 1e-7 * fabs(slope) + 1e-8 * e[0] / 1e-3);
            CHECK(fabs(slope) > 0);
            free(grad), free(d), free(y);
            close_world(&w);
        }
}

/* Hv[n3] of packed matrices; returns v.H v */
static double product(const abut_elastic_high *e, const double *H, const double *v, double *Hv)
{
    double work = 0;
    for (int32_t t = 0; t < e->n; t++)
        for (int a = 0; a < e->nodes; a++)
            for (int b = a; b < e->nodes; b++, H += 9) {
                const size_t na = 3 * (size_t)e->node[t * e->nodes + a], nb = 3 * (size_t)e->node[t * e->nodes + b];
                for (size_t i = 0; i < 3; i++)
                    for (size_t j = 0; j < 3; j++) {
                        Hv[na + i] += H[3 * i + j] * v[nb + j];
                        work += v[na + i] * H[3 * i + j] * v[nb + j] * (a == b ? 1 : 2);
                        if (a != b) Hv[nb + j] += H[3 * i + j] * v[na + i];
                    }
            }
    return work;
}

TEST(the_hessian_is_the_derivative_of_the_gradient_or_projected_no_less)
{
    abut_rng r = { 11 };
    for (int k = 2; k <= 4; k++) {
        world w;
        open_world(&w, k, k, 0.15, 1e-4);
        CHECK(look(&w) > 0);
        const size_t bytes = (size_t)w.n3 * sizeof(double), size = abut_packed_size(w.tets.nodes) * (size_t)w.tets.n;
        double *H = calloc(size, sizeof *H), *P = calloc(size, sizeof *P), *d = malloc(bytes), *y = malloc(bytes);
        double *g[2] = { calloc(bytes, 1), calloc(bytes, 1) }, *Hd = calloc(bytes, 1), *Pd = calloc(bytes, 1);
        for (int32_t i = 0; i < w.n3; i++) d[i] = abut_rng_real(&r, -1, 1);
        /* two halves of the tets are all of them */
        const size_t half = (size_t)w.tets.n / 2, all = (size_t)w.tets.n, one = abut_packed_size(w.tets.nodes);
        abut_jacobian_barriers_hessian(&w.b, w.x, 2, 1, 0, half, H);
        abut_jacobian_barriers_hessian(&w.b, w.x, 2, 1, half, all, H + one * half);
        abut_jacobian_barriers_hessian(&w.b, w.x, 2, 0, 0, all, P);
        for (int side = 0; side < 2; side++) {
            for (int32_t i = 0; i < w.n3; i++) y[i] = w.x[i] + (side ? 1e-7 : -1e-7) * d[i];
            abut_jacobian_barriers_gradient(&w.b, y, 2, g[side]);
        }
        const double work = product(&w.tets, H, d, Hd), projected = product(&w.tets, P, d, Pd);
        double most = 0, largest = 0;
        for (int32_t i = 0; i < w.n3; i++) {
            most = fmax(most, fabs((g[1][i] - g[0][i]) / 2e-7 - Hd[i]));
            largest = fmax(largest, fabs(Hd[i]));
        }
        if (!(most <= 1e-5 * largest)) printf("# k %d: %g of %g\n", k, most, largest);
        CHECK(most <= 1e-5 * largest);
        CHECK(projected >= work - 1e-9 * fabs(work) && projected >= 0);
        free(H), free(P), free(d), free(y), free(g[0]), free(g[1]), free(Hd), free(Pd);
        close_world(&w);
    }
}

/* The least det F of a tet at the points of a lattice. */
static double least_of_lattice(const abut_model *m, int32_t t, const double *x, int cells)
{
    double least = INFINITY;
    for (int i = 0; i <= cells; i++)
        for (int j = 0; i + j <= cells; j++)
            for (int k = 0; i + j + k <= cells; k++) {
                const int a[4] = { i, j, k, cells - i - j - k };
                double L[4];
                for (int c = 0; c < 4; c++) L[c] = (double)a[c] / cells;
                least = fmin(least, ratio_at(m, t, x, L));
            }
    return least;
}

TEST(a_look_adds_the_point_of_the_least_value_of_each_tet_below_jhat_once_and_again_where_it_fell)
{
    int32_t below = 0, above = 0, again = 0;
    for (int k = 2; k <= 4; k++) {
        world w;
        open_world(&w, 1, k, 0.36, 0.008 / (k * k));
        const abut_model *m = &w.box.model;
        double *least = malloc((size_t)m->nt * sizeof *least);
        int32_t due = 0, sure = 0;
        for (int32_t t = 0; t < m->nt; t++) {
            least[t] = least_of_lattice(m, t, w.x, 20);
            due += least[t] < HAT;
            sure += least[t] < 0.98 * HAT || least[t] > 1.1 * HAT;
        }
        const int32_t added = look(&w);
        CHECK(added >= due && (sure < m->nt || added == due));
        below += due, above += m->nt - added;
        CHECK(look(&w) == 0);
        for (int32_t q = 0; q < w.b.n; q++) {
            const abut_jacobian_point *p = &w.b.point[q];
            const double J = ratio_at(m, p->tet, w.x, p->L);
            CHECK(J <= least[p->tet] + 0.011 * fabs(least[p->tet]));
            CHECK(!q || w.b.point[q - 1].tet < p->tet);
        }
        /* bent further: minima elsewhere, or clearly lower ones */
        abut_rng r = { 21 };
        const int32_t before = w.b.n;
        for (int32_t i = 0; i < w.n3; i++) w.x[i] += abut_rng_real(&r, -0.006, 0.006) / (k * k);
        again += look(&w);
        CHECK(w.b.n >= before);
        for (int32_t t = 0; t < m->nt; t++) {
            double seen = HAT;
            for (int32_t q = 0; q < w.b.n; q++)
                if (w.b.point[q].tet == t) seen = fmin(seen, ratio_at(m, t, w.x, w.b.point[q].L));
            const double now = least_of_lattice(m, t, w.x, 20);
            CHECK(now >= (seen > 0 ? 0.88 : 1.2) * seen);
        }
        free(least);
        close_world(&w);
    }
    CHECK(below > 3 && above > 3 && again > 0);
}

TEST(materials_that_may_invert_have_no_barrier)
{
    world w;
    high_box_build(&w.box, 1, 0.1, 0, 6, 1, 0, 2);
    const abut_model *m = &w.box.model;
    int32_t injective = 0, added = 0;
    w.b = (abut_jacobian_barriers){ 0 };
    CHECK(!abut_elastic_high_init(&w.tets, m, 2, NULL, NULL) && !abut_jacobian_barriers_init(&w.b, &w.tets, NULL));
    w.x = malloc(3 * (size_t)m->nv * sizeof *w.x);
    for (int32_t i = 0; i < 3 * m->nv; i++) w.x[i] = 0.5 * m->X[i];
    for (int32_t t = 0; t < m->nt; t++) injective += abut_material_injective(m->mat_model[m->tet_mat[t]]);
    CHECK(!abut_jacobian_barriers_look(&w.b, w.x, &added, NULL));
    CHECK(added == injective && injective > 0 && injective < m->nt);
    close_world(&w);
}

TEST(points_are_the_same_for_every_number_of_threads)
{
    abut_jacobian_point *first = NULL;
    int32_t n = 0;
    for (int j = 1; j <= 7; j += j) {
        world w;
        abut_threads_set(j);
        open_world(&w, 1, 3, 0.36, 2e-3);
        CHECK(look(&w) > 0);
        if (j == 1) {
            n = w.b.n;
            first = malloc((size_t)n * sizeof *first);
            memcpy(first, w.b.point, (size_t)n * sizeof *first);
        }
        CHECK(w.b.n == n && !memcmp(first, w.b.point, (size_t)n * sizeof *first));
        close_world(&w);
    }
    free(first);
    abut_threads_set(1);
}
