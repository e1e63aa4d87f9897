#include "all_terms.h"

#include "base/par.h"
#include "check.h"
#include "energy/barrier.h"
#include "energy/elastic.h"
#include "solve/step/step_parts.h"

/* Every row of the table of terms, one by one, at a point where all are at work. */

typedef struct setup {
    world w;
    abut_search *s;
    const abut_objective *o;
    int32_t n3;
    double *x;          /* [n3] the point */
} setup;

static void setup_open(setup *q, int scheme, abut_rng *rng)
{
    q->s = amid(&q->w, scheme, rng);
    q->o = &q->s->prob;
    q->n3 = 3 * q->w.model.nv;
    q->x = malloc((size_t)q->n3 * sizeof *q->x);
    memcpy(q->x, q->s->here.x, (size_t)q->n3 * sizeof *q->x);
}

static void setup_close(setup *q)
{
    free(q->x);
    world_close(&q->w);
}

/* The terms see x + t d. */
static abut_at point(setup *q, double t, const double *d)
{
    for (int32_t i = 0; i < q->n3; i++) q->s->here.x[i] = q->x[i] + (d ? t * d[i] : 0);
    CHECK(!abut_search_contacts(q->s, &q->w.rep, &q->w.err));
    return abut_objective_at(q->o, q->s->here.x, q->s->here.y, &q->s->here.pairs);
}

/* what a term weighs in energy (order 0), gradient, Hessian: its own is 1 */
static double weight(const setup *q, const abut_term *t, int order)
{
    const double s = t->ops->weight == ABUT_TERM_AT_Z ? q->o->w.share : 1;
    return order == 0 ? 1 : order == 1 ? s : s * s;
}

static double energy(setup *q, const abut_term *t, double along, const double *d)
{
    const abut_at at = point(q, along, d);
    double e = NAN;
    CHECK(!t->ops->energy(t->self, &at, 1, &e, &q->s->scratch, &q->w.err));
    return e;
}

static void gradient(setup *q, const abut_term *t, double along, const double *d, double *g)
{
    const abut_at at = point(q, along, d);
    memset(g, 0, (size_t)q->n3 * sizeof *g);
    CHECK(!t->ops->gradient(t->self, &at, weight(q, t, 1), g, &q->s->scratch, &q->w.err));
}

static double dot(const double *a, const double *b, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* in equilibria drag is a load; bounds are a term of their own where elasticity is taken elsewhere than at the iterate */
static int is_silent(const setup *q, const abut_term *t)
{
    return (!strcmp(t->ops->name, "drag") && !q->o->w.inertia) || (!strcmp(t->ops->name, "codim bounds") && q->o->w.share == 1);
}

TEST(every_row_is_a_term_of_the_scene_under_a_name_of_its_own)
{
    abut_rng rng = { 3 };
    setup q;
    int rows = 0, made = 0;
    setup_open(&q, 0, &rng);
    for (; abut_term_table[rows]; rows++) {
        const abut_term_ops *ops = abut_term_table[rows];
        if (!strcmp(ops->name, "barrier factors")) continue;        /* of contact by area: test_area */
        if (strstr(ops->name, "joints")) continue;      /* of rigid bodies, which not all schemes take: test_joints */
        CHECK(q.o->terms.term[made].ops == ops && q.o->terms.term[made].self);
        CHECK(abut_terms_number(&q.o->terms, ops->name) == made++);     /* the first of that name */
        CHECK(ops->energy && ops->gradient && ops->make);
        CHECK(!ops->set == !ops->hessian && (!ops->elements || ops->set));
        CHECK(!ops->set_is || ops->elements);
    }
    CHECK(q.o->terms.n == made && rows <= ABUT_TERMS_MAX);
    CHECK(abut_terms_number(&q.o->terms, "no such term") == -1 && !abut_terms_find(&q.o->terms, "no such term"));
    setup_close(&q);
}

TEST(the_gradient_of_every_term_is_the_derivative_of_its_energy)
{
    abut_rng rng = { 11 };
    for (int k = 0; k < NSCHEMES; k++) {
        setup q;
        setup_open(&q, k, &rng);
        double *g = malloc((size_t)q.n3 * sizeof *g), *d = malloc((size_t)q.n3 * sizeof *d);
        double *each = malloc((size_t)q.o->model->no * sizeof *each);
        for (int i = 0; i < q.o->terms.n; i++) {
            const abut_term *t = &q.o->terms.term[i];
            const double h = 2e-7;
            for (int32_t j = 0; j < q.n3; j++) d[j] = abut_rng_real(&rng, -1, 1);
            gradient(&q, t, 0, NULL, g);
            const double slope = dot(g, d, q.n3), size = sqrt(dot(g, g, q.n3) * dot(d, d, q.n3));
            const double e[4] = { energy(&q, t, -2 * h, d), energy(&q, t, -h, d), energy(&q, t, h, d), energy(&q, t, 2 * h, d) };
            /* rounding of numbers of that size in a difference over h */
            memset(each, 0, (size_t)q.o->model->no * sizeof *each);
            const double own = t->ops->stiffness ? t->ops->stiffness(t->self, each) : 0, noise = 1e-16 * (own + fabs(e[0])) / h;
            const double difference = (e[0] - e[3] + 8 * (e[2] - e[1])) / (12 * h);
            if (!(fabs(difference - slope) <= 1e-7 * size + 4 * noise))
                check_bad++, printf("# %s, %s: %g, difference %g of %g\n", SCHEMES[k], t->ops->name, slope, difference, size);
            if (!is_silent(&q, t) && !(size > 100 * noise))
                check_bad++, printf("# %s, %s: too small for this test\n", SCHEMES[k], t->ops->name);
        }
        free(g), free(d), free(each);
        setup_close(&q);
    }
}

/* The set of term i at a point, its corners nodes, with the matrices of that term alone in *val. */
static int hessians(setup *q, int i, const abut_at *at, abut_elements *set, double **val)
{
    const abut_term *t = &q->o->terms.term[i];
    if (!t->ops->set) return 0;
    int owner = 0;
    while (!q->o->terms.term[owner].ops->elements || strcmp(q->o->terms.term[owner].ops->set, t->ops->set)) owner++;
    const abut_term *first = &q->o->terms.term[owner];
    *set = (abut_elements){ .name = t->ops->set };
    CHECK(!first->ops->elements(first->self, at, set, &q->w.err));
    CHECK(set->n > 0 && !set->map && !set->rank);
    *val = calloc(set->n * abut_element_size(set) + 1, sizeof **val);
    t->ops->hessian(t->self, at, weight(q, t, 2), 0, set->n, *val);
    return 1;
}

/* Hv[n3] += of one set, *least: the smallest v.H v of an element over its size */
static void product(const abut_elements *set, const double *val, const double *v, double *Hv, double *least)
{
    for (size_t e = 0; e < set->n; e++) {
        double work = 0, size = 0;
        for (int a = 0; a < set->corners; a++)
            for (int b = a; b < set->corners; b++) {
                const double *B = val + e * abut_element_size(set) + 9 * abut_packed_block(set->corners, a, b);
                const int32_t na = set->row[e * (size_t)set->corners + (size_t)a],
                              nb = set->row[e * (size_t)set->corners + (size_t)b];
                for (int i = 0; i < 3 && na >= 0 && nb >= 0; i++)
                    for (int j = 0; j < 3; j++) {
                        if (a == b) CHECK(fabs(B[3 * i + j] - B[3 * j + i]) <= 1e-9 * (fabs(B[4 * i]) + fabs(B[4 * j])));
                        const double add = B[3 * i + j] * v[3 * na + i] * v[3 * nb + j];
                        Hv[3 * na + i] += B[3 * i + j] * v[3 * nb + j];
                        if (a != b) Hv[3 * nb + j] += B[3 * i + j] * v[3 * na + i];
                        work += a == b ? add : 2 * add;
                        size += fabs(add);
                    }
            }
        if (size > 0) *least = fmin(*least, work / size);
    }
}

/* quadratic, or convex without projection: the Hessian is the derivative of the gradient */
static int is_exact(const char *name)
{
    static const char *const exact[] = { "inertia", "lagrangian", "attachment", "friction", "damping", "codim damping", "drag",
                                         "inertia of order 2", "inertia of order 3", "inertia of order 4", "damping of order 2",
                                         "damping of order 3", "damping of order 4" };
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        if (!strcmp(name, exact[i])) return 1;
    return 0;
}

TEST(the_hessian_of_every_term_is_semidefinite_and_no_less_than_the_derivative_of_the_gradient)
{
    abut_rng rng = { 17 };
    for (int k = 0; k < NSCHEMES; k++) {
        setup q;
        setup_open(&q, k, &rng);
        const size_t bytes = (size_t)q.n3 * sizeof(double);
        double *g[2] = { malloc(bytes), malloc(bytes) }, *v = malloc(bytes), *Hv = malloc(bytes), *diag = malloc(bytes);
        for (int i = 0; i < q.o->terms.n; i++) {
            const abut_term *t = &q.o->terms.term[i];
            const double h = 1e-7;
            double least = 0;
            abut_elements set;
            double *val = NULL;
            for (int32_t j = 0; j < q.n3; j++) v[j] = abut_rng_real(&rng, -1, 1);
            for (int side = 0; side < 2; side++) gradient(&q, t, side ? h : -h, v, g[side]);
            abut_at at = point(&q, 0, NULL);
            if (t->ops->forecast_start) t->ops->forecast_start(t->self, &at);
            memset(Hv, 0, bytes);
            memset(diag, 0, bytes);
            if (hessians(&q, i, &at, &set, &val)) product(&set, val, v, Hv, &least);
            if (t->ops->diagonal) t->ops->diagonal(t->self, &q.o->step, 1, diag);
            const double shift = t->ops->diagonal && t->ops->kind == ABUT_TERM_INERTIA ? q.o->w.shift : 0;
            double size = 0, short_of = 0, apart = 0;
            for (int32_t j = 0; j < q.n3; j++) {
                Hv[j] += (diag[j / 3] - (q.o->held[j / 3] ? 0 : shift * q.w.model.mass[j / 3])) * v[j];
                const double dg = (g[1][j] - g[0][j]) / (2 * h);
                size = fmax(size, fabs(Hv[j]));
                apart = fmax(apart, fabs(Hv[j] - dg));
                short_of += v[j] * (dg - Hv[j]);
            }
            if (!(least >= -1e-9)) check_bad++, printf("# %s, %s: an element has %g\n", SCHEMES[k], t->ops->name, least);
            if (is_exact(t->ops->name) && !(apart <= 1e-6 * size))
                check_bad++, printf("# %s, %s: %g off of %g\n", SCHEMES[k], t->ops->name, apart, size);
            /* that of pressures is the true one but at rims, projected: not comparable on an open sheet; that of curved rods
             * is of Gauss and Newton (tests/unit/test_curved_rod.c) */
            if (strcmp(t->ops->name, "pressure") && strcmp(t->ops->name, "curved rods") && !(short_of <= 1e-5 * size * q.n3))
                check_bad++, printf("# %s, %s: %g less than the derivative\n", SCHEMES[k], t->ops->name, short_of / size);
            free(val);
        }
        free(g[0]), free(g[1]), free(v), free(Hv), free(diag);
        setup_close(&q);
    }
}

/* Whether the matrix is another than the derivative even so: that of pressure is of closed shells (test_pressure), that of curved
 * rods of Gauss and Newton (test_curved_rod), that of tets of order 2 and more is projected at each point of quadrature. */
static int is_approximate(const char *name)
{
    static const char *const of[] = { "pressure", "curved rods", "elastic of order 2", "elastic of order 3",
                                      "elastic of order 4" };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (!strcmp(name, of[i])) return 1;
    return 0;
}

TEST(without_projection_the_hessian_of_every_term_is_the_derivative_of_its_gradient)
{
    abut_rng rng = { 19 };
    for (int k = 0; k < NSCHEMES; k++) {
        setup q;
        setup_open(&q, k, &rng);
        const size_t bytes = (size_t)q.n3 * sizeof(double);
        double *g[4], *v = malloc(bytes), *Hv = malloc(bytes), least = 0;
        for (int side = 0; side < 4; side++) g[side] = malloc(bytes);
        abut_barrier_state *b = abut_barrier_state_of(&q.o->terms);
        CHECK(!abut_barrier_hessian_find("full", NULL, &b->curvature.ops, NULL));
        q.s->prob.step.as_is = 1;
        for (int i = 0; i < q.o->terms.n; i++) {
            const abut_term *t = &q.o->terms.term[i];
            const double h = 1e-7;
            abut_elements set;
            double *val = NULL, size = 0, apart = 0;
            if (!t->ops->set || t->ops->diagonal || is_approximate(t->ops->name)) continue;
            for (int32_t j = 0; j < q.n3; j++) v[j] = abut_rng_real(&rng, -1, 1);
            for (int side = 0; side < 4; side++) gradient(&q, t, h * (side < 2 ? side - 2 : side - 1), v, g[side]);
            const abut_at at = point(&q, 0, NULL);
            memset(Hv, 0, bytes);
            if (hessians(&q, i, &at, &set, &val)) product(&set, val, v, Hv, &least);
            for (int32_t j = 0; j < q.n3; j++) {
                const double dg = (g[0][j] - g[3][j] + 8 * (g[2][j] - g[1][j])) / (12 * h);
                size = fmax(size, fabs(Hv[j]));
                apart = fmax(apart, fabs(Hv[j] - dg));
            }
            const int is_nothing = is_silent(&q, t) || (t->ops->kind == ABUT_TERM_INERTIA && !q.o->w.inertia);
            if (!(apart <= 2e-6 * size) || (size > 0) == is_nothing)
                check_bad++, printf("# %s, %s: %g off of %g\n", SCHEMES[k], t->ops->name, apart, size);
            free(val);
        }
        for (int side = 0; side < 4; side++) free(g[side]);
        free(v), free(Hv);
        setup_close(&q);
    }
}

TEST(every_term_has_the_same_bits_for_every_number_of_threads)
{
    static const int threads[] = { 1, 2, 7 };
    abut_rng rng = { 23 };
    setup q;
    setup_open(&q, 3, &rng);
    for (int i = 0; i < q.o->terms.n; i++) {
        const abut_term *t = &q.o->terms.term[i];
        double e[3], *g[3], *val[3] = { NULL };
        size_t numbers = 0;
        for (int k = 0; k < 3; k++) {
            abut_elements set = { 0 };
            abut_threads_set(threads[k]);
            g[k] = malloc((size_t)q.n3 * sizeof *g[k]);
            e[k] = energy(&q, t, 0, NULL);
            gradient(&q, t, 0, NULL, g[k]);
            const abut_at at = point(&q, 0, NULL);
            if (hessians(&q, i, &at, &set, &val[k])) numbers = set.n * abut_element_size(&set);
        }
        for (int k = 1; k < 3; k++) {
            CHECK(!memcmp(&e[k], &e[0], sizeof e[0]) && !memcmp(g[k], g[0], (size_t)q.n3 * sizeof *g[0]));
            CHECK(!numbers || !memcmp(val[k], val[0], numbers * sizeof *val[0]));
        }
        for (int k = 0; k < 3; k++) free(g[k]), free(val[k]);
    }
    abut_threads_set(1);
    setup_close(&q);
}

TEST(the_sets_of_the_objective_are_the_sums_of_its_terms_and_the_lasting_ones_come_first)
{
    abut_rng rng = { 29 };
    setup q;
    setup_open(&q, 0, &rng);
    abut_elements sets[ABUT_SETS_MAX];
    const abut_at at = point(&q, 0, NULL);
    int n = 0;
    CHECK(!abut_objective_sets(q.o, &at, 0, sets, &n, &q.w.err));
    CHECK(n == q.o->lasting + 1 && q.o->nsets == n + 1);    /* contacts and friction are of one shape */
    for (int k = 0; k < n; k++) {
        CHECK(sets[k].lasting == (k < q.o->lasting) && sets[k].n > 0);
        const size_t size = abut_element_size(&sets[k]) * sets[k].n;
        double *sum = calloc(size, sizeof *sum), *made = malloc(size * sizeof *made), big = 0;
        size_t before = 0;      /* of the elements: sets that were joined */
        for (int i = q.o->terms.n; i-- > 0;) {      /* barrier before friction */
            const abut_term *t = &q.o->terms.term[i];
            const int loose = t->ops->elements && !(t->ops->set_is & ABUT_SET_LASTS);
            if (!t->ops->set || (k < q.o->lasting ? strcmp(t->ops->set, sets[k].name) != 0 : !loose)) continue;
            const abut_weights *w = &q.o->w;
            const int weight_of = t->ops->weight;
            const double force = w->h_force * w->h_force, scale = weight_of == ABUT_TERM_AT_Z   ? w->psi
                                                                  : weight_of == ABUT_TERM_AT_X ? force
                                                                                                : 1;
            abut_elements set;
            double *val = NULL;
            CHECK(hessians(&q, i, &at, &set, &val));
            const size_t m = abut_element_size(&set) * set.n;
            for (size_t c = 0; c < set.n * (size_t)set.corners; c++) {
                const int32_t node = set.row[c];
                CHECK(sets[k].row[before * (size_t)set.corners + c] == (node < 0 ? -1 : q.o->row[node]));
            }
            for (size_t c = 0; c < m; c++) sum[before * abut_element_size(&set) + c] += scale * val[c];
            if (loose) before += set.n;
            free(val);
        }
        if (sets[k].make) sets[k].make(sets[k].ctx, 0, sets[k].n, made);
        else memcpy(made, sets[k].val, size * sizeof *made);
        for (size_t c = 0; c < size; c++) big = fmax(big, fabs(sum[c]));
        CHECK(big > 0);
        for (size_t e = 0; e < sets[k].n; e++)
            for (int a = 0; a < sets[k].corners; a++)
                for (int b = a; b < sets[k].corners; b++)
                    for (size_t c = 0; c < 9; c++) {
                        const size_t corner = e * (size_t)sets[k].corners,
                                     j = e * abut_element_size(&sets[k]) + 9 * abut_packed_block(sets[k].corners, a, b) + c;
                        if (sets[k].row[corner + (size_t)a] < 0 || sets[k].row[corner + (size_t)b] < 0) continue;
                        CHECK_NEAR(made[j], sum[j], 1e-12 * big);
                    }
        free(sum), free(made);
    }
    setup_close(&q);
}

TEST(the_constant_elements_of_a_term_are_semidefinite_multiples_of_the_identity)
{
    static const double fit[2] = { 0.5, 1.5 };
    abut_rng rng = { 41 };
    setup q;
    setup_open(&q, 0, &rng);
    double *v = malloc((size_t)q.n3 * sizeof *v), *Hv = malloc((size_t)q.n3 * sizeof *Hv);
    int terms = 0;
    for (int i = 0; i < q.o->terms.n; i++) {
        const abut_term *t = &q.o->terms.term[i];
        if (!t->ops->constant) continue;
        const abut_at at = point(&q, 0, NULL);
        abut_elements set = { 0 };
        CHECK(t->ops->elements && !t->ops->elements(t->self, &at, &set, &q.w.err) && set.n > 0);
        const size_t size = abut_element_size(&set) * set.n;
        double *val = calloc(2 * size, sizeof *val), least = 0;
        CHECK(!t->ops->constant(t->self, fit, 1, val, &q.w.err) && !t->ops->constant(t->self, fit, 4, val + size, &q.w.err));
        for (size_t k = 0; k < size; k++) {
            CHECK(val[size + k] == 4 * val[k]);
            CHECK(k % 9 % 4 ? val[k] == 0 : val[k] == val[k - k % 9]);
        }
        for (int32_t j = 0; j < q.n3; j++) v[j] = abut_rng_real(&rng, -1, 1), Hv[j] = 0;
        product(&set, val, v, Hv, &least);
        CHECK(least >= -1e-9 && dot(v, Hv, q.n3) > 0);
        terms++;
        free(val);
    }
    CHECK(terms >= 4);
    free(v), free(Hv);
    setup_close(&q);
}

/* ---- what outlives a step ---- */

/* Arrays that the terms keep in a frame, both kinds, with the numbers of all but indices, directions, parts and points in tets
 * times `factor`. */
static void keep(const setup *q, double factor, abut_arrays *out)
{
    abut_err err = { 0 };
    double *x = abut_frame_put(out, "node/x", q->n3 / 3, &err), *v = abut_frame_put(out, "node/v", q->n3 / 3, &err);
    CHECK(x && v);
    memcpy(x, q->x, (size_t)q->n3 * sizeof *x);
    for (int pending = 0; pending < 2; pending++) {
        const abut_term_frame as = { .pending = pending, .weight = 1 };
        CHECK(!abut_objective_store(q->o, &as, out, &err));
    }
    for (int i = 2; i < out->n; i++) {
        const abut_array *a = &out->a[i];
        if (a->type != ABUT_F64 || !strcmp(a->name, "lag/basis") || !strcmp(a->name, "rod/frame") ||
            !strcmp(a->name, "object/kappa-part"))
            continue;
        if (!strcmp(a->name, "step/jacobian-point")) {      /* another corner first */
            if (factor != 1)
                for (double *L = a->data; L < (double *)a->data + abut_array_count(a); L += 4) L[1] += L[0], L[0] = 0;
            continue;
        }
        for (int64_t k = 0; k < abut_array_count(a); k++) ((double *)a->data)[k] *= factor;
    }
}

static void restore(setup *q, const abut_arrays *from)
{
    abut_frame f;
    CHECK(!abut_frame_view(from, q->o->model, &f, &q->w.err));
    for (int pending = 0; pending < 2; pending++) {
        const abut_term_frame as = { .pending = pending, .weight = 1 };
        CHECK(!abut_objective_load(&q->s->prob, &f, &as, &q->w.err));
    }
}

/* how many arrays of two sets differ */
static int different(const abut_arrays *a, const abut_arrays *b)
{
    int n = 0;
    CHECK(a->n == b->n);
    for (int i = 0; i < a->n && i < b->n; i++)
        n += strcmp(a->a[i].name, b->a[i].name) || memcmp(a->a[i].data, b->a[i].data, abut_array_bytes(&a->a[i]));
    return n;
}

TEST(a_term_that_is_stored_and_loaded_continues_with_the_same_bits)
{
    int keepers = 0, felt[ABUT_TERMS_MAX] = { 0 }, n_felt = 0;
    for (int scheme = 0; scheme < NSCHEMES; scheme++) {
        abut_rng rng = { 31 };
        setup q;
        setup_open(&q, scheme, &rng);
        const size_t bytes = (size_t)q.n3 * sizeof(double);
        double *g[3] = { malloc(bytes), malloc(bytes), malloc(bytes) }, e[3];
        abut_arrays was = { 0 }, other = { 0 }, loaded = { 0 };
        const abut_arrays *const from[3] = { &was, &other, &was };
        keep(&q, 1, &was);
        keep(&q, 1.25, &other);
        CHECK(different(&was, &other) >= 5);
        keepers = 0;
        for (int i = 0; i < q.o->terms.n; i++) {
            const abut_term *t = &q.o->terms.term[i];
            CHECK(!t->ops->load == !t->ops->store);
            if (!t->ops->load) continue;
            /* the rod is straight: it has no use for its frame; no object is rigid: tets have no stiffness of their own */
            keepers += strcmp(t->ops->name, "curved rods") && strcmp(t->ops->name, "elastic");
            for (int k = 0; k < 3; k++) {
                restore(&q, from[k]);
                e[k] = energy(&q, t, 0, NULL);
                gradient(&q, t, 0, NULL, g[k]);
            }
            CHECK(!memcmp(&e[0], &e[2], sizeof e[0]) && !memcmp(g[0], g[2], bytes));
            felt[i] |= memcmp(g[0], g[1], bytes) != 0;
        }
        for (int k = 0; k < 2; k++) {       /* what was loaded is stored again */
            restore(&q, from[1 - k]);
            abut_arrays_clear(&loaded);
            keep(&q, 1, &loaded);
            CHECK(different(&loaded, from[1 - k]) == 0);
        }
        abut_arrays_clear(&was), abut_arrays_clear(&other), abut_arrays_clear(&loaded);
        free(g[0]), free(g[1]), free(g[2]);
        setup_close(&q);
    }
    for (int i = 0; i < ABUT_TERMS_MAX; i++) n_felt += felt[i];
    CHECK(keepers >= 4 && n_felt == keepers);   /* what each keeps matters to it */
}

TEST(state_that_outlives_a_step_is_apart_from_that_of_a_step_and_frames_have_it_in_the_order_of_the_table)
{
    abut_rng rng = { 31 };
    setup q;
    setup_open(&q, 0, &rng);
    abut_arrays lasting = { 0 };
    const abut_term_frame as = { .weight = 3 };
    abut_err err = { 0 };
    memcpy(abut_frame_put(&lasting, "node/x", q.n3 / 3, &err), q.x, (size_t)q.n3 * sizeof *q.x);
    CHECK(!abut_objective_store(q.o, &as, &lasting, &err) && !abut_arrays_find(&lasting, "step/penalty"));
    abut_frame_sort(&lasting, 0);
    static const char *const names[] = { "node/x",   "contact/kappa", "object/kappa-part", "strain/kappa",     "rod/frame",
                                         "lag/node", "lag/weight",    "lag/basis",         "lag/normal-force", "lag/mu" };
    CHECK(lasting.n == 10);
    for (int i = 0; i < 10 && i < lasting.n; i++) CHECK(!strcmp(lasting.a[i].name, names[i]));
    /* a stiffness has the weight of the frame, in and out */
    const double kappa = abut_barrier_state_of(&q.o->terms)->kappa;
    CHECK(*(const double *)lasting.a[1].data == 3 * kappa && kappa > 0);
    abut_arrays_clear(&lasting);
    setup_close(&q);
}

/* All at half its size has an eighth of its volume; det F of tets of higher order is bounded from below. */
TEST(a_tet_that_bounds_a_step_is_said_with_the_volume_that_is_left)
{
    abut_rng rng = { 41 };
    setup q;
    setup_open(&q, 0, &rng);
    double *half = malloc((size_t)q.n3 * sizeof *half);
    for (int32_t i = 0; i < q.n3; i++) half[i] = 0.5 * q.w.model.X[i];
    const abut_term *t = &q.o->terms.term[abut_terms_number(&q.o->terms, "elastic")];
    const abut_model *m = abut_elastic_of(&q.o->terms)->model;
    for (int32_t tet = 0; tet < m->nt; tet++) {
        const abut_limit lim = { .kind = ABUT_LIMIT_TET, .tet = tet };
        abut_bound_words w = { .what = NULL };
        t->ops->limit_words(t->self, half, &lim, &w);
        CHECK(!strcmp(w.what, "element") && w.object == m->body[m->tet[4 * tet]] && w.number >= 0 && w.number < 6);
        CHECK(!strcmp(w.detail, m->tet_order[tet] > 1 ? "det F at least 0.125" : "0.125 of its rest volume left"));
    }
    free(half);
    setup_close(&q);
}

TEST(a_bound_that_is_not_kept_is_named)
{
    abut_rng rng = { 37 };
    setup q;
    setup_open(&q, 0, &rng);
    double *far = malloc((size_t)q.n3 * sizeof *far);
    abut_bound_words w = { .what = NULL };
    int bounded = 0;
    for (int32_t i = 0; i < q.n3; i++) far[i] = 7 * q.x[i];
    CHECK(!abut_objective_outside(q.o, q.x, &w) && !w.what);
    for (int i = 0; i < q.o->terms.n; i++) {
        const abut_term *t = &q.o->terms.term[i];
        if (!t->ops->outside) continue;
        bounded++;
        w = (abut_bound_words){ .object = -1 };
        CHECK(!t->ops->outside(t->self, q.x, &w) && t->ops->outside(t->self, far, &w));
        CHECK(w.what && w.number >= 0 && w.object >= 0 && w.object < q.w.model.no && strstr(w.detail, "expected"));
        CHECK(w.corners >= 0 && w.corners <= 4);
        for (int k = 0; k < w.corners; k++) CHECK(q.w.model.body[w.node[k]] == w.object);
        abut_bound_words first;
        if (bounded == 1) CHECK(abut_objective_outside(q.o, far, &first) && !strcmp(first.detail, w.detail));
    }
    CHECK(bounded > 0);
    /* and a step says so */
    abut_point_set(&q.s->here, q.o, far, 0, NULL);
    const abut_status rc = abut_step_check(q.o, &q.s->here, 1, ABUT_E_NUMERIC, "after the step", &q.w.err);
    CHECK(rc == ABUT_E_NUMERIC && strstr(q.w.err.msg, ", expected") && strstr(q.w.err.msg, ", after the step"));
    free(far);
    setup_close(&q);
}

/* ---- terms of a program ---- */

static abut_status own_make(void **self, const abut_term_world *w, abut_err *err)
{
    *self = w->own;
    return w->own || !w->model ? ABUT_OK : abut_fail(err, ABUT_E_ARG, "nothing of its own");
}

/* that of node 0, which weighs *self newtons */
static abut_status own_energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    (void)scratch, (void)err;
    *e = scale * *(const double *)self * at->x[1];
    return ABUT_OK;
}

static abut_status own_gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    (void)at, (void)scratch, (void)err;
    g[1] += scale * *(const double *)self;
    return ABUT_OK;
}

static const abut_term_ops own_ops = { .name = "own", .kind = ABUT_TERM_POTENTIAL, .weight = ABUT_TERM_AT_X, .make = own_make,
                                       .energy = own_energy, .gradient = own_gradient };

TEST(a_term_of_a_program_is_the_last_and_counts_as_those_of_the_table)
{
    abut_rng rng = { 5 };
    setup q;
    setup_open(&q, 0, &rng);
    double weight_of = 3, psi[2] = { 0 };
    abut_objective o;
    const abut_own_term own[] = { { &own_ops, &weight_of }, { NULL, NULL } };
    CHECK(!abut_objective_init(&o, &q.w.model, own, &q.w.err));
    const int n = q.o->terms.n;
    CHECK(o.terms.n == n + 1 && o.terms.term[n].ops == &own_ops && o.terms.term[n].self == &weight_of);
    const double lifted = q.x[1];
    CHECK(!abut_objective_potential(&o, q.x, &psi[1], &q.s->scratch, &q.w.err));
    abut_objective plain;
    CHECK(!abut_objective_init(&plain, &q.w.model, NULL, &q.w.err) && plain.terms.n == n);
    CHECK(!abut_objective_potential(&plain, q.x, &psi[0], &q.s->scratch, &q.w.err));
    CHECK_NEAR(psi[1] - psi[0], 3 * lifted, 1e-12 * fabs(psi[0]));
    CHECK(fabs(lifted) > 1e-3);
    double *g = calloc(2 * (size_t)q.n3, sizeof *g);
    const abut_at at = abut_objective_at(&o, q.x, NULL, NULL);
    const int kinds = 1 << ABUT_TERM_POTENTIAL;
    CHECK(!abut_objective_gradient_add(&o, &at, kinds, g, &q.s->scratch, &q.w.err));
    CHECK(!abut_objective_gradient_add(&plain, &at, kinds, g + q.n3, &q.s->scratch, &q.w.err));
    const double h = o.w.h_force;
    for (int32_t i = 0; i < q.n3; i++) CHECK_NEAR(g[i] - g[q.n3 + i], i == 1 ? 3 * h * h : 0, 1e-12 * h * h);
    free(g);
    abut_objective_clear(&o);
    abut_objective_clear(&plain);
    setup_close(&q);
}

TEST(a_term_of_a_program_needs_a_name_of_its_own_and_may_fail)
{
    abut_rng rng = { 5 };
    setup q;
    setup_open(&q, 0, &rng);
    double some = 1;
    abut_objective o;
    abut_err *err = &q.w.err;
    const abut_own_term twice[] = { { &own_ops, &some }, { &own_ops, &some }, { NULL, NULL } };
    CHECK(abut_objective_init(&o, &q.w.model, twice, err) == ABUT_E_ARG && strstr(err->msg, "term 'own' is there twice"));
    abut_term_ops like = own_ops;
    const abut_own_term taken[] = { { &like, &some }, { NULL, NULL } };
    abut_model bare = q.w.model;    /* springs are a row that it lacks */
    bare.nsp = 0;
    CHECK(!abut_objective_init(&o, &bare, NULL, err) && !abut_terms_find(&o.terms, "spring"));
    abut_objective_clear(&o);
    for (int i = 0; abut_term_table[i]; i++) {
        like.name = abut_term_table[i]->name;
        CHECK(abut_objective_init(&o, &bare, taken, err) == ABUT_E_ARG && strstr(err->msg, like.name));
    }
    const abut_own_term nothing[] = { { &own_ops, NULL }, { NULL, NULL } };
    CHECK(abut_objective_init(&o, &q.w.model, nothing, err) == ABUT_E_ARG && !strcmp(err->msg, "nothing of its own"));
    setup_close(&q);
}

/* state of a program's term: in the frame under a name that no table has */
static abut_status own_load(void *self, const abut_frame *f, const abut_term_frame *as, abut_err *err)
{
    const abut_array *a = as->arrays ? abut_arrays_find(as->arrays, "own/weight") : NULL;
    (void)f, (void)err;
    if (a && !as->pending) *(double *)self = *(const double *)a->data;
    return ABUT_OK;
}

static abut_status own_store(const void *self, const abut_term_frame *as, abut_arrays *out, abut_err *err)
{
    return as->pending ? ABUT_OK : abut_arrays_put_f64(out, "own/weight", *(const double *)self, "N", err);
}

TEST(a_term_of_a_program_keeps_state_in_frames_under_a_name_of_its_own)
{
    abut_rng rng = { 5 };
    setup q;
    setup_open(&q, 0, &rng);
    abut_term_ops keeps = own_ops;
    keeps.load = own_load, keeps.store = own_store;
    double weight_of = 3;
    const abut_own_term own[] = { { &keeps, &weight_of }, { NULL, NULL } };
    abut_objective o;
    abut_frame f;
    abut_arrays set = { 0 };
    double *x, *v;
    CHECK(!abut_objective_init(&o, &q.w.model, own, &q.w.err));
    CHECK((x = abut_frame_put(&set, "node/x", q.n3 / 3, &q.w.err)) && (v = abut_frame_put(&set, "node/v", q.n3 / 3, &q.w.err)));
    const abut_term_frame out = { .weight = 1 }, in = { .weight = 1, .arrays = &set };
    CHECK(!abut_objective_store(&o, &out, &set, &q.w.err));
    abut_frame_sort(&set, 2);
    CHECK(!strcmp(set.a[set.n - 1].name, "own/weight"));    /* behind those of the table */
    weight_of = 5;
    abut_arrays_remove(&set, "rod/frame");      /* of a step that has not begun */
    CHECK(!abut_frame_view(&set, &q.w.model, &f, &q.w.err) && !abut_objective_load(&o, &f, &in, &q.w.err));
    CHECK(weight_of == 3);
    abut_arrays_clear(&set);
    abut_objective_clear(&o);
    setup_close(&q);
}
