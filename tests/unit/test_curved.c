/* Tets of order 2 and more do not invert anywhere: the bound of a step, the proofs of a path and the judge. */
#include "base/rng.h"
#include "check.h"
#include "contact/intersect.h"
#include "contact/step_bound.h"
#include "geom/jacobian.h"
#include "geom/quadrature.h"
#include "high_box.h"
#include "judge/judge.h"
#include "model/tets.h"

/* Least det dx/dxi / det dX/dxi of a tet, at the points of a rule or at random ones. */
static double least_at(const abut_model *m, int32_t t, const double *x, const abut_quadrature *q, int random)
{
    double at[ABUT_TET_NODES_MAX][3], X[ABUT_TET_NODES_MAX][3], least = INFINITY;
    abut_rng r = { 3 };
    const int order = abut_tet_gather(m, t, x, at), n = q ? q->n : random;
    abut_tet_gather(m, t, m->X, X);
    for (int i = 0; i < n; i++) {
        double L[4], sum = 0, J[9];
        for (int c = 0; c < 4; c++) sum += L[c] = q ? q->L[4 * i + c] : -log(abut_rng_real(&r, 1e-9, 1));
        for (int c = 0; c < 4; c++) L[c] /= sum;
        const double now = abut_tet_point(order, (const double(*)[3])at, L, NULL, J);
        least = fmin(least, now / abut_tet_point(order, (const double(*)[3])X, L, NULL, J));
    }
    return least;
}

static double least_of_all(const abut_model *m, const double *x, const abut_quadrature *q, int random)
{
    double least = INFINITY;
    for (int32_t t = 0; t < m->nt; t++) least = fmin(least, least_at(m, t, x, q, random));
    return least;
}

/* A bent box of that order, neo-Hookean; x: somewhat deformed. */
static void world(high_box *b, int order, double **x, uint64_t seed)
{
    abut_rng r = { seed };
    high_box_build(b, 2, 1, 0.1, 1, order, 0.06 / (order * order), order);
    *x = malloc(3 * (size_t)b->model.nv * sizeof **x);
    for (int32_t i = 0; i < 3 * b->model.nv; i++) (*x)[i] = b->model.X[i] + abut_rng_real(&r, -0.02, 0.02) / (order * order);
}

static abut_limit limit_of(const abut_model *m, const double *x, const double *p, double slack)
{
    abut_limit lim = { .alpha = 1, .tet = -1 };
    abut_limit_inversion(m, x, p, slack, &lim);
    return lim;
}

TEST(a_step_is_bounded_where_no_quadrature_point_would_bound_it)
{
    int between = 0;
    for (int order = 2; order <= 3; order++) {
        high_box b;
        double *x;
        abut_quadrature q = { 0 };
        world(&b, order, &x, 1);
        const abut_model *m = &b.model;
        CHECK(!abut_quadrature_tet(abut_degree_elastic(order, order), &q, NULL));
        double *p = malloc(3 * (size_t)m->nv * sizeof *p), *y = malloc(3 * (size_t)m->nv * sizeof *y);
        abut_rng r = { 11 };
        for (int k = 0; k < 30; k++) {
            for (int32_t i = 0; i < 3 * m->nv; i++) p[i] = abut_rng_real(&r, -0.3, 0.3);
            const abut_limit lim = limit_of(m, x, p, 0.2);
            CHECK(lim.alpha > 0 && lim.alpha < 1 && lim.kind == ABUT_LIMIT_TET && lim.tet >= 0);
            for (int32_t i = 0; i < 3 * m->nv; i++) y[i] = x[i] + lim.alpha * p[i];
            CHECK(abut_inverted_find(m, y, 1) < 0 && abut_inverting_find(m, x, y) < 0);
            CHECK(least_of_all(m, y, NULL, 200) > 0);
            /* the same bound at quadrature points alone: as far as those are positive */
            double far = lim.alpha;
            for (int s = 1; s <= 60; s++) {
                const double a = lim.alpha * (1 + s / 20.);
                for (int32_t i = 0; i < 3 * m->nv; i++) y[i] = x[i] + a * p[i];
                if (least_of_all(m, y, &q, 0) < 0.2) break;
                far = a;
            }
            for (int32_t i = 0; i < 3 * m->nv; i++) y[i] = x[i] + far * p[i];
            between += least_of_all(m, y, NULL, 400) <= 0;
            if (least_of_all(m, y, NULL, 400) <= 0) {
                CHECK(abut_inverted_find(m, y, 1) >= 0);
                CHECK(abut_inverting_find(m, x, y) >= 0);
            }
        }
        abut_quadrature_clear(&q);
        free(p), free(y), free(x);
        high_box_free(&b);
    }
    CHECK(between > 10);
}

TEST(the_smallest_jacobian_is_a_close_lower_bound)
{
    for (int order = 1; order <= 4; order++) {
        high_box b;
        double *x;
        int32_t tet = -1;
        world(&b, order, &x, 5);
        const double J = abut_smallest_jacobian(&b.model, x, &tet), seen = least_of_all(&b.model, x, NULL, 2000);
        CHECK(J > 0 && J <= seen * (1 + 1e-12) && J > 0.85 * seen);
        CHECK(tet >= 0 && tet < b.model.nt);
        CHECK_NEAR(abut_smallest_jacobian(&b.model, b.model.X, NULL), 1, 0.02);
        free(x);
        high_box_free(&b);
    }
}

TEST(the_judge_and_the_proof_of_a_path_agree)
{
    int inverted = 0, passing = 0;
    for (int order = 1; order <= 3; order++) {
        high_box b;
        double *x;
        abut_judge_shape shape;
        abut_hits hits = { 0 };
        world(&b, order, &x, 9);
        abut_model *m = &b.model;
        int32_t *role = calloc((size_t)m->nv, sizeof *role);
        m->role = role;
        CHECK(!abut_judge_shape_model(&shape, m, NULL));
        double *y = malloc(3 * (size_t)m->nv * sizeof *y);
        abut_rng r = { 2 };
        for (int k = 0; k < 40; k++) {
            const double by = 0.4 * (k + 1) / 40 / order;
            for (int32_t i = 0; i < 3 * m->nv; i++) y[i] = x[i] + abut_rng_real(&r, -by, by);
            hits.n = 0;
            CHECK(!abut_judge_inverted(&shape, y, 1, &hits, NULL));
            const int32_t first = abut_inverted_find(m, y, 1);
            CHECK(first < 0 ? hits.n == 0 : hits.n > 0 && hits.hit[0].item == first);
            inverted += first >= 0;
            hits.n = 0;
            CHECK(!abut_judge_inverting(&shape, x, y, 1, &hits, NULL));
            CHECK((abut_inverting_find(m, x, y) >= 0) == (hits.n > 0));
            for (size_t i = 0; i < hits.n; i++) CHECK(hits.hit[i].t_lo > 0 && hits.hit[i].t_hi <= 1);
            passing += hits.n > 0;
        }
        abut_hits_clear(&hits);
        abut_judge_shape_clear(&shape);
        free(y), free(x), free(role);
        high_box_free(&b);
    }
    CHECK(inverted > 20 && passing >= inverted && passing < 119);
}
