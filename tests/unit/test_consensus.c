/* ADMM on parts of a mesh: the parts, the progress of an iteration, and the limit of the iterations, against Newton. */
#include "world.h"

#include "base/par.h"
#include "solve/baselines/consensus.h"
#include "solve/baselines/baselines.h"

enum { PARTS = 4 };

/* A bar of 12 x 2 x 2 cells, 1 m long, both ends driven apart and against each other. */
static void bar_open(world *w, int material)
{
    fixture *f = fixture_new();
    f->material = material;
    f->young = 1e5;
    f->tol = 1e-10;
    f->gravity[1] = -10;
    fixture_box(f, 0, 0, 0, 1, 0.2, 0.2, 12, 2, 2, 0);
    fixture_move(f, 0, 0, -0.01, 0.01, (double[3]){ -0.5, 0.3, 0 }, (double[3]){ 1, 0, 0 });
    fixture_move(f, 0, 0, 0.99, 1.01, (double[3]){ 0.5, 0, 0.3 }, (double[3]){ -1, 0, 0 });
    world_open(w, f, NULL);
}

/* A method, and the settings of its runs. */
typedef struct lg_choice {
    const abut_lg_method *method;
    abut_solve_options user;
} lg_choice;

static lg_choice in_parts(double norm)
{
    lg_choice o = { &abut_lg_consensus, abut_solve_defaults };
    o.user.real_time.contact = ABUT_CONTACT_IGNORE;
    o.user.search.stop = ABUT_STOP_CHARACTERISTIC, o.user.search.tolerance = norm;
    o.user.quasi.parts = PARTS;
    return o;
}

/* Parts by the middle of a tet along the bar. */
static int32_t *cut_along(const abut_model *m)
{
    int32_t *part = malloc((size_t)m->nt * sizeof *part);
    for (int32_t t = 0; t < m->nt; t++) {
        double x = 0;
        for (int c = 0; c < 4; c++) x += m->X[3 * (size_t)m->tet[4 * t + c]] / 4;
        part[t] = (int32_t)(PARTS * x);
    }
    return part;
}

static int has_node(const abut_model *m, int32_t t, int32_t node)
{
    for (int c = 0; c < 4; c++)
        if (m->tet[4 * t + c] == node) return 1;
    return 0;
}

/* A node of a tet of that part, by all of them. */
static int is_in(const abut_model *m, const int32_t *part, int32_t node, int32_t j)
{
    for (int32_t t = 0; t < m->nt; t++)
        if (part[t] == j && has_node(m, t, node)) return 1;
    return 0;
}

TEST(nodes_have_a_copy_in_each_part_that_they_are_in_with_their_mass_divided)
{
    world w;
    abut_objective p;
    abut_copies c;
    bar_open(&w, ABUT_FIXED_COROTATED);
    CHECK(!abut_objective_init(&p, &w.model, NULL, &w.err));
    int32_t *part = cut_along(p.model), several = 0;
    CHECK(!abut_copies_init(&c, &p, PARTS, part, &w.err));
    for (int32_t i = 0; i < p.model->nv; i++) {
        double mass = 0;
        int32_t copies = 0;
        for (int32_t j = 0; j < PARTS; j++) copies += is_in(p.model, part, i, j);
        CHECK(c.at[i + 1] - c.at[i] == copies);
        for (int32_t e = c.at[i]; e < c.at[i + 1]; e++) {
            CHECK(c.node[c.of[e]] == i && is_in(p.model, part, i, c.part[c.of[e]]));
            mass += c.model.mass[c.of[e]];
        }
        several += copies > 1;
        CHECK_NEAR(mass, p.model->mass[i], 1e-15 * p.model->mass[i]);
    }
    CHECK(several == 3 * 9);
    for (int32_t i = 0; i < 4 * p.model->nt; i++)
        CHECK(c.node[c.tet[i]] == p.model->tet[i] && c.part[c.tet[i]] == part[i / 4]);
    free(part);
    abut_copies_clear(&c);
    abut_objective_clear(&p);
    world_close(&w);
}

TEST(what_completes_a_part_is_every_tet_of_another_one_with_a_node_of_it)
{
    world w;
    abut_objective p;
    abut_copies c;
    bar_open(&w, ABUT_FIXED_COROTATED);
    CHECK(!abut_objective_init(&p, &w.model, NULL, &w.err));
    int32_t *part = cut_along(p.model);
    size_t want = 0;
    CHECK(!abut_copies_init(&c, &p, PARTS, part, &w.err));
    for (int32_t t = 0; t < p.model->nt; t++)
        for (int32_t j = 0; j < PARTS; j++) {
            int met = 0;
            for (int k = 0; k < 4; k++) met |= is_in(p.model, part, p.model->tet[4 * t + k], j);
            want += met && part[t] != j;
        }
    CHECK(want > 0 && c.beside == want);
    for (size_t e = 0; e < c.beside; e++) {
        const int32_t t = c.beside_tet[e];
        int32_t j = -1;
        for (int k = 0; k < 4; k++)
            if (c.beside_copy[4 * e + (size_t)k] >= 0) j = c.part[c.beside_copy[4 * e + (size_t)k]];
        CHECK(j >= 0 && j != part[t]);
        for (int k = 0; k < 4; k++) {
            const int32_t copy = c.beside_copy[4 * e + (size_t)k], node = p.model->tet[4 * t + k];
            CHECK(copy < 0 ? !is_in(p.model, part, node, j) : c.node[copy] == node && c.part[copy] == j);
        }
    }
    free(part);
    abut_copies_clear(&c);
    abut_objective_clear(&p);
    world_close(&w);
}

/* The furthest coordinate from that of Newton after n steps each. */
static double differs_from_newton(world *w, const lg_choice *o, int n)
{
    abut_local_global s;
    abut_instant at = w->at;
    abut_arrays here = { 0 }, next = { 0 };
    double far = 0;
    int written = 1;
    for (int i = 0; i < w->frame.n; i++) CHECK(!abut_arrays_copy(&here, &w->frame.a[i], &w->err));
    CHECK(!abut_lg_init(&s, &w->model, o->method, &o->user, &w->err));
    CHECK(!world_run(w, n));
    for (int k = 0; k < n; k++) {
        abut_report rep = { 0 };
        CHECK(!abut_stepper_advance(&abut_lg_stepper_ops, &s, &here, 0, &at, &written, 0, &next, &rep, &w->err));
        CHECK(rep.newton > 1 && rep.norm <= o->user.search.tolerance);
        const abut_arrays swap = here;
        here = next, next = swap;
        abut_report_clear(&rep);
    }
    const double *a = get(w, "node/x"), *b = abut_arrays_find(&here, "node/x")->data;
    for (int32_t i = 0; i < 3 * w->model.nv; i++) far = fmax(far, fabs(a[i] - b[i]));
    abut_lg_clear(&s);
    abut_arrays_clear(&here);
    abut_arrays_clear(&next);
    return far;
}

TEST(a_bar_in_four_parts_ends_where_newton_does)
{
    static const int material[] = { ABUT_FIXED_COROTATED, ABUT_NEO_HOOKEAN };
    for (int k = 0; k < 2; k++) {
        world w;
        bar_open(&w, material[k]);
        const lg_choice o = in_parts(1e-10);
        const double far = differs_from_newton(&w, &o, 3);
        printf("# %s: %.2g m\n", abut_material_names[material[k]], far);
        CHECK(far < 1e-7);
        world_close(&w);
    }
}

/* |grad E| at s->x, kg m */
static double residual_of(abut_local_global *s, abut_err *err)
{
    const size_t n = 3 * (size_t)s->objective.model->nv;
    double sum = 0, *g = calloc(n, sizeof *g);
    const abut_at at = abut_objective_at(&s->objective, s->x, NULL, &s->none);
    CHECK(!abut_objective_gradient(&s->objective, &at, ABUT_KINDS_SMOOTH, g, &s->scratch, err));
    for (size_t i = 0; i < n; i++) sum += g[i] * g[i];
    free(g);
    return sqrt(sum);
}

TEST(residuals_fall_over_the_iterations_and_more_parts_take_more_of_them)
{
    int took[2];
    for (int k = 0; k < 2; k++) {
        world w;
        abut_local_global s;
        double speed;
        bar_open(&w, ABUT_FIXED_COROTATED);
        lg_choice o = in_parts(1e-9);
        o.user.quasi.parts = k ? 2 * PARTS : 2;
        CHECK(!abut_lg_init(&s, &w.model, o.method, &o.user, &w.err));
        CHECK(!abut_lg_begin(&s, &w.frame, w.at, &w.rep, &w.err));
        const double first = residual_of(&s, &w.err);
        double last = first;
        for (took[k] = 0; last > 1e-6 * first && took[k] < 1000; took[k] += 10) {
            for (int i = 0; i < 10; i++) CHECK(!abut_lg_iterate(&s, &speed, &w.rep, &w.err));
            const double now = residual_of(&s, &w.err);
            CHECK(now < last);
            last = now;
        }
        printf("# %d parts: %d iterations to %.2g of the first residual\n", o.user.quasi.parts, took[k], last / first);
        CHECK(took[k] < 1000);
        abut_lg_clear(&s);
        world_close(&w);
    }
    CHECK(took[0] < took[1]);
}

TEST(one_part_needs_no_agreement)
{
    world w;
    bar_open(&w, ABUT_FIXED_COROTATED);
    lg_choice o = in_parts(1e-10);
    o.user.quasi.parts = 1;
    CHECK(differs_from_newton(&w, &o, 2) < 1e-7);
    world_close(&w);
}

TEST(the_same_bytes_for_every_number_of_threads)
{
    static const int threads[3] = { 1, 2, 7 };
    const int before = abut_threads();
    double *x[3];
    size_t bytes = 0;
    for (int k = 0; k < 3; k++) {
        world w;
        abut_local_global s;
        double speed;
        abut_threads_set(threads[k]);
        bar_open(&w, ABUT_FIXED_COROTATED);
        const lg_choice o = in_parts(1e-9);
        CHECK(!abut_lg_init(&s, &w.model, o.method, &o.user, &w.err));
        CHECK(!abut_lg_begin(&s, &w.frame, w.at, &w.rep, &w.err));
        for (int i = 0; i < 12; i++) CHECK(!abut_lg_iterate(&s, &speed, &w.rep, &w.err));
        bytes = 3 * (size_t)w.model.nv * sizeof *s.x;
        x[k] = malloc(bytes);
        memcpy(x[k], s.x, bytes);
        abut_lg_clear(&s);
        world_close(&w);
    }
    abut_threads_set(before);
    CHECK(!memcmp(x[0], x[1], bytes) && !memcmp(x[0], x[2], bytes));
    for (int k = 0; k < 3; k++) free(x[k]);
}

TEST(what_parts_do_not_have_is_refused_by_name)
{
    world w;
    abut_local_global s;
    bar_open(&w, ABUT_FIXED_COROTATED);
    lg_choice o = in_parts(1e-9);
    const double damping = 0.5;
    abut_model m = w.model;
    m.damp_mass = &damping;
    CHECK(abut_lg_init(&s, &m, o.method, &o.user, &w.err) == ABUT_E_FORMAT);
    CHECK(strstr(w.err.msg, "solver admm-dd: its parts do not have the term 'damping'"));
    o.user.real_time.contact = ABUT_CONTACT_BY_SPRINGS;
    CHECK(abut_lg_init(&s, &w.model, o.method, &o.user, &w.err) == ABUT_E_ARG && strstr(w.err.msg, "--contact ignore"));
    world_close(&w);
}
