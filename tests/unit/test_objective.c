#include "base/rng.h"
#include "energy/friction.h"
#include "energy/pressure.h"
#include "energy/barrier.h"
#include "all_terms.h"

#include "newton_system.h"
#include "check.h"

enum { TERMS = ABUT_TERMS_MAX };

static void terms_at(world *w, abut_search *s, double v[TERMS])
{
    abut_energy e;
    CHECK(!abut_search_contacts(s, &w->rep, &w->err));
    const abut_at at = abut_objective_at(&s->prob, s->here.x, s->here.y, &s->here.pairs);
    CHECK(!abut_objective_energy(&s->prob, &at, &e, &s->scratch, &w->err));
    memcpy(v, e.e, sizeof e.e);
}

/* in equilibria drag is a load; bounds are a term of their own where elasticity is taken elsewhere */
static int is_silent(const abut_search *s, int t)
{
    const char *name = s->prob.terms.term[t].ops->name;
    return (!strcmp(name, "drag") && !s->prob.w.inertia) || (!strcmp(name, "codim bounds") && s->prob.w.share == 1);
}

/* slope[t]: the derivative of term t at x along d. */
static void differences_of_terms(world *w, abut_search *s, const double *x, const double *d, double slope[TERMS])
{
    const double h = 2e-7, at[4] = { -2 * h, -h, h, 2 * h };
    double e[4][TERMS];
    for (int q = 0; q < 4; q++) {
        for (int32_t i = 0; i < 3 * w->model.nv; i++) s->here.x[i] = x[i] + at[q] * d[i];
        terms_at(w, s, e[q]);
    }
    for (int t = 0; t < TERMS; t++) slope[t] = (e[0][t] - e[3][t] + 8 * (e[2][t] - e[1][t])) / (12 * h);
}

TEST(the_gradient_is_the_derivative_of_every_term_in_every_scheme)
{
    abut_rng rng = { 5 };
    for (int k = 0; k < NSCHEMES; k++) {
        world w;
        abut_search *s = amid(&w, k, &rng);
        const int32_t n = 3 * w.model.nv;
        const size_t bytes = (size_t)n * sizeof(double);
        double *x = malloc(bytes), *g = malloc(bytes), *d = malloc(bytes), part[TERMS], seen[TERMS] = { 0 }, most = 0;
        memcpy(x, s->here.x, bytes);
        CHECK(s->here.pairs.n > 0 && s->here.pairs.n_plane > 0 && abut_lag_of(&s->prob.terms)->n > 0);
        const abut_at at = abut_objective_at(&s->prob, s->here.x, s->here.y, &s->here.pairs);
        CHECK(!abut_objective_gradient(&s->prob, &at, ABUT_KINDS_ALL, g, &s->scratch, &w.err));
        for (int trial = 0; trial < 4; trial++) {
            double slope = 0, sum = 0, big = 0;
            for (int i = 0; i < n; i++) d[i] = abut_rng_real(&rng, -1, 1), slope += g[i] * d[i];
            differences_of_terms(&w, s, x, d, part);
            for (int t = 0; t < TERMS; t++) {
                sum += part[t];
                big = fmax(big, fabs(part[t]));
                seen[t] = fmax(seen[t], fabs(part[t]));
            }
            CHECK_NEAR(sum, slope, 1e-8 * big);
            most = fmax(most, big);
        }
        int rows = 0;
        for (int t = 0; abut_term_table[t]; t++)      /* contact by area: test_area; rigid bodies: test_joints */
            rows += strcmp(abut_term_table[t]->name, "barrier factors") != 0 && !strstr(abut_term_table[t]->name, "joints");
        CHECK(s->prob.terms.n == rows);
        for (int t = 0; t < rows; t++)      /* large enough for a wrong one to be seen */
            if (!(seen[t] > 1e-6 * most) && !is_silent(s, t))
                check_bad++, printf("# %s: %s is too small for this test: %g of %g\n", SCHEMES[k],
                                    s->prob.terms.term[t].ops->name, seen[t], most);
        free(x), free(g), free(d);
        world_close(&w);
    }
}

/* Hv[3 nrow]: the derivative of the gradient at x along v, in rows of unknowns. */
static void difference_of_gradients(world *w, abut_search *s, const double *x, const double *v, double *Hv)
{
    const int32_t n3 = 3 * w->model.nv, *row = s->prob.row;
    const double h = 1e-7;
    double *g = malloc((size_t)n3 * sizeof *g);
    memset(Hv, 0, 3 * (size_t)s->prob.nrow * sizeof *Hv);
    for (int side = -1; side <= 1; side += 2) {
        for (int32_t i = 0; i < n3; i++) s->here.x[i] = x[i] + (row[i / 3] < 0 ? 0 : side * h * v[3 * row[i / 3] + i % 3]);
        CHECK(!abut_search_contacts(s, &w->rep, &w->err));
        const abut_at at = abut_objective_at(&s->prob, s->here.x, s->here.y, &s->here.pairs);
        CHECK(!abut_objective_gradient(&s->prob, &at, ABUT_KINDS_ALL, g, &s->scratch, &w->err));
        for (int32_t i = 0; i < n3; i++)
            if (row[i / 3] >= 0) Hv[3 * row[i / 3] + i % 3] += side * g[i] / (2 * h);
    }
    free(g);
}

/* Moves the step to a state in which all elements are stretched and only the floor is touched: no Hessian has a negative part.
 * Pressure is off: its Hessian is indefinite everywhere. */
static void stretch(world *w, abut_search *s, abut_rng *rng)
{
    const abut_objective *p = &s->prob;
    memcpy(p->xn, w->model.X, 3 * (size_t)w->model.nv * sizeof *p->xn);
    for (int32_t i = 0; i < 3 * w->model.nv; i++) {
        const double lift = i % 3 == 1 && w->model.X[i] > 0.103 ? 0.01 : 0;     /* the upper block */
        const double z = 1.03 * w->model.X[i] + lift + abut_rng_real(rng, -1e-5, 1e-5);
        s->here.x[i] = p->xn[i] + (z - p->xn[i]) / p->w.share;
    }
    abut_air_of(&s->prob.terms)->presses = 0;
    const abut_at at = abut_objective_at(p, s->here.x, s->here.y, &s->here.pairs);
    abut_objective_forecast_start(p, &at);
    abut_objective_majorant_forget(p);
    CHECK(!abut_search_contacts(s, &w->rep, &w->err));
    CHECK(s->here.pairs.n == 0 && s->here.pairs.n_plane > 0 && abut_lag_of(&p->terms)->n > 0);
}

TEST(the_matrix_of_newton_is_the_derivative_of_the_gradient_where_nothing_is_projected)
{
    abut_rng rng = { 6 };
    for (int k = 0; k < NSCHEMES; k++) {
        world w;
        abut_search *s = amid(&w, k, &rng);
        const size_t bytes = 3 * (size_t)w.model.nv * sizeof(double);
        double *x = malloc(bytes), *v = malloc(bytes), *Hv = malloc(bytes), *Av = malloc(bytes);
        stretch(&w, s, &rng);
        memcpy(x, s->here.x, bytes);
        newton_system n;
        newton_system_open(&n, &s->prob, 0, 0);
        CHECK(!newton_system_sum(&n, s, &w.rep, &w.err));
        for (int trial = 0; trial < 3; trial++) {
            double big = 0;
            for (int32_t i = 0; i < 3 * s->prob.nrow; i++) v[i] = abut_rng_real(&rng, -1, 1);
            difference_of_gradients(&w, s, x, v, Hv);
            abut_bsr_multiply(&n.matrix.A, v, Av);
            for (int32_t i = 0; i < 3 * s->prob.nrow; i++) big = fmax(big, fabs(Hv[i]));
            for (int32_t i = 0; i < 3 * s->prob.nrow; i++) CHECK_NEAR(Av[i], Hv[i], 1e-7 * big);
        }
        free(x), free(v), free(Hv), free(Av);
        newton_system_close(&n);
        world_close(&w);
    }
}

/* T^2 = mean density * mean squared edge / mean modulus, by volume, of what is known of each mesh: its mean squared edge and
 * modulus are those of every element. */
TEST(equilibria_are_weighed_by_the_time_in_which_a_wave_crosses_an_element)
{
    world w;
    world_scene(&w, "time: {scheme: quasi-static}\ngravity: [0, 0, 0]\n"
                    "materials: {a: {density: 900, young: 3e4, poisson: 0.25}, b: {density: 400, young: 5e4, poisson: 0},\n"
                    "            c: {density: 700, young: 2e4, poisson: 0.3}}\n"
                    "objects:\n"
                    "  box: {generate: {box: {size: [0.2, 0.2, 0.2], cells: [2, 2, 2]}}, material: a}\n"
                    "  cloth: {generate: {cloth: {size: [0.3, 0.6], cells: [3, 3]}}, material: b, shell: {thickness: 2 cm},\n"
                    "          translate: [0, 1, 0]}\n"
                    "  rod: {generate: {rod: {length: 0.8, cells: 2}}, material: c, rod: {radius: 3 cm},\n"
                    "        translate: [0, 2, 0]}\n");
    const double lame = 3e4 / 2.5 + 3e4 * 0.25 / (1.25 * 0.5);
    const double volume[3] = { 0.008, 0.3 * 0.6 * 0.02, acos(-1) * 9e-4 * 0.8 }, density[3] = { 900, 400, 700 };
    /* a cube of side 0.1: three sides, two diagonals of faces, one of the cube; half a rectangle of 0.1 and 0.2; a segment */
    const double edge2[3] = { (3 + 2 * 2 + 3) * 0.01 / 6, (0.01 + 0.04 + 0.05) / 3, 0.16 }, modulus[3] = { lame, 2.5e4, 2e4 };
    double V = 0, mass = 0, a2 = 0, E = 0;
    for (int i = 0; i < 3; i++) {
        V += volume[i];
        mass += volume[i] * density[i];
        a2 += volume[i] * edge2[i];
        E += volume[i] * modulus[i];
    }
    const double T2 = mass * a2 / (E * V);
    const abut_weights q = abut_integrator_weights(&w.model, ABUT_QUASI_STATIC);
    CHECK_NEAR(q.psi, T2, 1e-13 * T2);
    CHECK_NEAR(q.h_force * q.h_force, T2, 1e-13 * T2);
    world_close(&w);
}

/* Two rods that are nearly parallel: moved along their common normal neither their angle, and with it the mollifier, nor the
 * feature changes, so that the force is the slope of the energy. */
TEST(the_normal_force_of_nearly_parallel_edges_is_the_slope_of_their_energy)
{
    world w;
    world_scene(&w, "contact: {dhat: 5 mm}\nobjects:\n  a: {generate: {rod: {length: 1, cells: 1}}, rod: {radius: 1 mm}}\n"
                "  b: {generate: {rod: {length: 1, cells: 1}}, rod: {radius: 1 mm}, rotate: {axis: [0, 1, 0], angle: 1 deg},\n"
                "    translate: [0, 3 mm, 0]}\n");
    CHECK(!abut_step_begin(&w.st, &w.frame, w.at, &w.rep, &w.err));
    abut_search *s = &w.st.solver;
    const double kappa = 2e4, h = 0.02, step = 1e-7;
    double at[12], energy[2];
    memcpy(at, get(&w, "node/x"), sizeof at);
    memcpy(s->here.x, at, sizeof at);
    CHECK(!abut_search_contacts(s, &w.rep, &w.err));
    CHECK(s->here.pairs.n == 1 && s->here.pairs.n_plain == 0 && s->here.pairs.eps_x[0] > 0);
    const double force = abut_barrier_force(&s->prob.cm, &s->here.pairs, s->here.y, kappa, h, 0);
    for (int k = 0; k < 2; k++) {
        for (int i = 2; i < 4; i++) s->here.x[3 * i + 1] = at[3 * i + 1] + (k ? -step : step);
        CHECK(!abut_search_contacts(s, &w.rep, &w.err) && s->here.pairs.n == 1);
        CHECK(!abut_barrier_energy(&s->prob.cm, &s->here.pairs, s->here.y, kappa, &energy[k], &s->scratch, &w.err));
    }
    const double want = (energy[1] - energy[0]) / (2 * step) / (h * h);
    CHECK(want > 0);
    CHECK_NEAR(force / want, 1, 1e-6);
    world_close(&w);
}
