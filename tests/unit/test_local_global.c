/* Solvers with a constant matrix: their matrix, what one iteration does, and where the iterations lead, against Newton. */
#include "curtain.h"
#include "world.h"

#include "base/par.h"
#include "base/rng.h"
#include "energy/elastic.h"
#include "math/mat3.h"
#include "math/svd3.h"
#include "solve/local_global/admm.h"
#include "solve/baselines/baselines.h"
#include "sparse/packed_lanes.h"

/* ---- a curtain ---- */

static void curtain(world *w, int n, double k, double tolerance)
{
    *w = (world){ 0 };
    curtain_arrays(n, k, tolerance, &w->model_set, &w->frame);
    w->o = abut_solve_defaults;
    if (abut_model_view(&w->model_set, &w->model, &w->err) || abut_stepper_init(&w->st, &w->model, &w->row, &w->o, &w->err))
        printf("# %s\n", w->err.msg), abort();
}

/* A method, and the settings of its runs. */
typedef struct lg_choice {
    const abut_lg_method *method;
    abut_solve_options user;
} lg_choice;

static lg_choice method(const abut_lg_method *which, int iterations)
{
    lg_choice o = { which, abut_solve_defaults };
    o.user.real_time.iterations = iterations;
    o.user.real_time.contact = ABUT_CONTACT_IGNORE;
    o.user.quasi.history = 0;
    return o;
}

/* The next step. */
static abut_status advance(abut_local_global *s, const abut_arrays *frame, abut_instant *at, abut_arrays *out, abut_report *rep,
                           abut_err *err)
{
    int written = 1;
    return abut_stepper_advance(&abut_lg_stepper_ops, s, frame, 0, at, &written, 0, out, rep, err);
}

/* E(s->x), kg m^2; +inf where it is not defined */
static abut_status objective_of(abut_local_global *s, double *sum, abut_err *err)
{
    abut_energy e;
    const abut_at at = abut_objective_at(&s->objective, s->x, NULL, &s->none);
    const abut_status rc = abut_objective_energy(&s->objective, &at, &e, &s->scratch, err);
    if (!rc) *sum = e.sum + abut_collision_springs_energy(&s->collisions, &s->objective, s->x);
    if (!rc && isnan(*sum)) *sum = INFINITY;
    return rc;
}

/* Relative errors (E(x_k) - E*) / (E(xhat) - E*) of the 15th step.  The numbers come from an implementation of its own, in
 * another language, of the same scene. */
TEST(fast_mass_springs_have_the_errors_of_an_independent_implementation)
{
    static const int at[5] = { 1, 2, 5, 10, 20 };
    static const double want[3][5] = { { 2.09e-2, 6.75e-3, 1.24e-3, 6.83e-4, 4.09e-4 },
                                       { 2.21e-2, 7.83e-3, 8.05e-4, 1.42e-4, 8.11e-5 },
                                       { 2.29e-2, 7.96e-3, 7.93e-4, 9.03e-5, 1.47e-5 } };
    for (int c = 0; c < 3; c++) {
        world w;
        abut_local_global s;
        double start, least, now, speed;
        const lg_choice o = method(&abut_lg_springs, 10);
        curtain(&w, 21, c == 0 ? 100 : c == 1 ? 1000 : 10000, 1e-9);
        CHECK(w.model.nsp == 1640);
        CHECK(!world_run(&w, 14));
        CHECK(!abut_lg_init(&s, &w.model, o.method, &o.user, &w.err));
        CHECK(!abut_lg_begin(&s, &w.frame, w.at, &w.rep, &w.err));
        double *begin = malloc(3 * 441 * sizeof *begin);
        memcpy(begin, s.x, 3 * 441 * sizeof *begin);
        CHECK(!objective_of(&s, &start, &w.err));
        CHECK(!world_run(&w, 1));
        memcpy(s.x, get(&w, "node/x"), 3 * 441 * sizeof *begin);
        CHECK(!objective_of(&s, &least, &w.err));
        memcpy(s.x, begin, 3 * 441 * sizeof *begin);
        for (int k = 1, i = 0; k <= 20; k++) {
            CHECK(!abut_lg_iterate(&s, &speed, &w.rep, &w.err));
            if (k != at[i]) continue;
            CHECK(!objective_of(&s, &now, &w.err));
            const double error = (now - least) / (start - least);
            printf("# k %g N/m, %d iterations: %.3e\n", w.model.spring_stiffness[0], k, error);
            CHECK_NEAR(error, want[c][i], (k <= 10 ? 0.02 : 0.1) * want[c][i]);
            i++;
        }
        free(begin);
        abut_lg_clear(&s);
        world_close(&w);
    }
}

/* ---- the matrix ---- */

TEST(the_matrix_is_the_masses_on_rigid_shifts_and_bounds_the_hessian_which_it_meets_in_pure_stretch)
{
    fixture *f = fixture_new();
    f->material = ABUT_ARAP;
    f->young = 3e4;
    fixture_box(f, 0, 0, 0, 1, 0.5, 0.5, 3, 2, 2, 0);
    world w;
    world_open(&w, f, NULL);
    abut_objective p;
    abut_bsr A = { 0 };
    abut_rng r = { 12 };
    const double fit[2] = { 0.5, 1.5 };
    double k = 0;
    CHECK(!abut_objective_init(&p, &w.model, NULL, &w.err));
    abut_objective_number(&p);
    CHECK(!abut_stiffness_fit_materials(abut_elastic_of(&p.terms), fit[0], fit[1], &k, &w.err));
    CHECK(!abut_laplacian(&p, fit, NULL, &A, &w.err));
    const size_t n3 = 3 * (size_t)w.model.nv, nt = (size_t)w.model.nt;
    double *u = malloc(n3 * sizeof *u), *Au = malloc(n3 * sizeof *u), *Hu = malloc(n3 * sizeof *u),
           *H = malloc(nt * ABUT_PACKED * sizeof *H), *diag = malloc(n3 * sizeof *u);
    abut_bsr full = { 0 };
    int32_t *row = malloc(4 * nt * sizeof *row);
    for (size_t c = 0; c < 4 * nt; c++) row[c] = p.row[p.model->tet[c]];
    const int32_t *node = p.reordered->node;     /* of each row: nothing is held */
    const abut_elements tets = { .corners = 4, .n = nt, .row = row, .val = H };
    abut_elastic_hessian(abut_elastic_of(&p.terms), w.model.X, p.w.psi, H);
    abut_objective_diagonal(&p, diag);
    CHECK(!abut_bsr_pattern(&full, w.model.nv, &tets, 1, &w.err));
    abut_bsr_assemble(&full, diag, &tets, 1);
    for (int round = 0; round < 30; round++) {
        double S[9], ua = 0, uh = 0, um = 0;
        for (int i = 0; i < 9; i++) S[i] = abut_rng_real(&r, -1, 1);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < i; j++) S[3 * i + j] = S[3 * j + i];
        for (size_t i = 0; i < n3; i++) {
            const double *X = w.model.X + 3 * node[i / 3], *s = S + 3 * (i % 3);
            u[i] = round == 0 ? 1 : round < 10 ? s[0] * X[0] + s[1] * X[1] + s[2] * X[2] : abut_rng_real(&r, -1, 1);
        }
        abut_bsr_multiply(&A, u, Au);
        abut_bsr_multiply(&full, u, Hu);
        for (size_t i = 0; i < n3; i++) ua += u[i] * Au[i], uh += u[i] * Hu[i], um += w.model.mass[node[i / 3]] * u[i] * u[i];
        if (round == 0)
            for (size_t i = 0; i < n3; i++) CHECK_NEAR(Au[i], w.model.mass[node[i / 3]], 1e-12 * k * p.w.psi);
        else if (round < 10) CHECK_NEAR(ua - um, uh - um, 1e-10 * ua);
        else CHECK(uh - um < 0.95 * (ua - um));
    }
    abut_bsr_clear(&A);
    abut_bsr_clear(&full);
    abut_objective_clear(&p);
    free(u);
    free(Au);
    free(Hu);
    free(H);
    free(diag);
    free(row);
    world_close(&w);
}

/* ---- one iteration ---- */

/* a turned and stretched shape, nodes shaken */
static void disturb(abut_rng *r, int32_t nv, const double *X, double by, double *x)
{
    const double c = cos(0.7), s = sin(0.7);
    for (int32_t i = 0; i < nv; i++) {
        x[3 * i] = 1.2 * (c * X[3 * i] - s * X[3 * i + 1]) + abut_rng_real(r, -by, by);
        x[3 * i + 1] = s * X[3 * i] + c * X[3 * i + 1] + abut_rng_real(r, -by, by);
        x[3 * i + 2] = 0.9 * X[3 * i + 2] + abut_rng_real(r, -by, by);
    }
}

/* (M + h^2 L) x' = M xhat + h^2 J p with p the projections: written out element by element from the definition */
static double local_global_defect(abut_local_global *s, const double *before, const double *after)
{
    const abut_model *m = s->objective.model;
    const double h2 = m->h[0] * m->h[0];
    double *left = calloc(3 * (size_t)m->nv, sizeof *left), worst = 0, size = 0;
    for (int32_t i = 0; i < 3 * m->nv; i++) left[i] = m->mass[i / 3] * (after[i] - s->objective.xhat[i]);
    for (int32_t e = 0; e < m->nsp; e++) {
        const int32_t a = 3 * m->spring[2 * e], b = 3 * m->spring[2 * e + 1];
        double d[3], l = 0;
        for (int k = 0; k < 3; k++) d[k] = before[a + k] - before[b + k], l += d[k] * d[k];
        for (int k = 0; k < 3; k++) {
            const double f = h2 * m->spring_stiffness[e] * (after[a + k] - after[b + k] - m->spring_length[e] * d[k] / sqrt(l));
            left[a + k] += f, left[b + k] -= f;
            size = fmax(size, fabs(f));
        }
    }
    for (int32_t e = 0; e < m->na; e++) {
        CHECK(m->attach_node[5 * e + 1] < 0);
        for (int k = 0; k < 3; k++)
            left[3 * m->attach_node[5 * e] + k] +=
                h2 * m->attach_stiffness[e] * (after[3 * m->attach_node[5 * e] + k] - m->tie_offset[3 * e + k]);
    }
    for (int32_t t = 0; t < m->nt; t++) {
        double F[9], U[9], V[9], R[9], sv[3], G[9], D[9];
        const abut_elastic *e = abut_elastic_of(&s->objective.terms);
        const double *B = e->B + 9 * t, w = h2 * 2 * e->lame[2 * t] * e->vol[t];
        abut_elastic_deformation(e, before, t, F);
        abut_svd3(F, U, sv, V);
        abut_m3_mul_nt(R, U, V);
        abut_elastic_deformation(e, after, t, D);
        for (int i = 0; i < 9; i++) D[i] = w * (D[i] - R[i]);
        abut_m3_mul_nt(G, D, B);    /* column a: force at corner a + 1 */
        for (int a = 0; a < 3; a++)
            for (int k = 0; k < 3; k++) {
                left[3 * m->tet[4 * t + a + 1] + k] += G[3 * k + a];
                left[3 * m->tet[4 * t] + k] -= G[3 * k + a];
                size = fmax(size, fabs(G[3 * k + a]));
            }
    }
    for (int32_t i = 0; i < 3 * m->nv; i++) worst = fmax(worst, s->objective.held[i / 3] ? 0 : fabs(left[i]));
    free(left);
    return worst / size;
}

TEST(an_iteration_is_the_local_and_the_global_step_and_never_raises_the_objective)
{
    for (int tets = 0; tets < 2; tets++) {
        world w;
        abut_local_global s;
        abut_rng r = { 21 };
        const lg_choice o = method(&abut_lg_projective, 10);
        if (tets) {
            fixture *f = fixture_new();
            f->material = ABUT_ARAP;
            fixture_box(f, 0, 0, 0, 1, 0.5, 0.5, 3, 2, 2, 0);
            world_open(&w, f, NULL);
        } else {
            curtain(&w, 11, 200, 1e-6);
        }
        CHECK(!abut_lg_init(&s, &w.model, o.method, &o.user, &w.err) && s.exact);
        CHECK(!abut_lg_begin(&s, &w.frame, w.at, &w.rep, &w.err));
        double *before = malloc(3 * (size_t)w.model.nv * sizeof *before);
        for (int round = 0; round < 40; round++) {
            double was, is, speed;
            disturb(&r, w.model.nv, w.model.X, round < 20 ? 0.02 : 0.5, s.x);
            for (int k = 0; k < 5; k++) {
                memcpy(before, s.x, 3 * (size_t)w.model.nv * sizeof *before);
                CHECK(!objective_of(&s, &was, &w.err));
                CHECK(!abut_lg_iterate(&s, &speed, &w.rep, &w.err));
                CHECK(!objective_of(&s, &is, &w.err));
                CHECK(is < was);
                CHECK_NEAR(local_global_defect(&s, before, s.x), 0, 1e-10);
            }
        }
        CHECK(w.rep.trials == 0);
        free(before);
        abut_lg_clear(&s);
        world_close(&w);
    }
}

/* ---- where it leads ---- */

/* furthest distance of a coordinate after n steps each, by Newton and by the constant matrix run to the same tolerance */
static double newton_and_pd_differ(world *w, const lg_choice *o, int n)
{
    abut_local_global s;
    abut_instant at = w->at;
    abut_arrays here = { 0 }, next = { 0 };
    double far = 0;
    for (int i = 0; i < w->frame.n; i++) CHECK(!abut_arrays_copy(&here, &w->frame.a[i], &w->err));
    CHECK(!abut_lg_init(&s, &w->model, o->method, &o->user, &w->err));
    CHECK(!world_run(w, n));
    for (int k = 0; k < n; k++) {
        abut_report rep = { 0 };
        const abut_status rc = advance(&s, &here, &at, &next, &rep, &w->err);
        if (rc) printf("# %s\n", w->err.msg);
        CHECK(!rc);
        CHECK(rep.contact == (w->model.nc ? ABUT_CONTACT_IGNORED : ABUT_CONTACT_OFF));
        printf("# step %d: %d iterations, %d trials\n", k + 1, rep.newton, rep.trials);
        const abut_arrays swap = here;
        here = next;
        next = swap;
        abut_report_clear(&rep);
        if (rc) break;
    }
    CHECK(at.step == w->at.step && at.time == w->at.time);
    for (int q = 0; q < 2; q++) {
        const double *a = get(w, q ? "node/v" : "node/x"), *b = abut_arrays_find(&here, q ? "node/v" : "node/x")->data;
        const double unit = q ? w->model.h[0] : 1;
        for (int32_t i = 0; i < 3 * w->model.nv; i++) far = fmax(far, unit * fabs(a[i] - b[i]));
    }
    abut_lg_clear(&s);
    abut_arrays_clear(&here);
    abut_arrays_clear(&next);
    return far;
}

TEST(converged_iterations_end_where_newton_does)
{
    static const int material[] = { ABUT_ARAP, ABUT_LINEAR_COROTATED, ABUT_NEO_HOOKEAN, ABUT_STVK, ABUT_POLYNOMIAL };
    for (size_t c = 0; c <= sizeof material / sizeof *material; c++) {
        world w;
        const lg_choice o = method(&abut_lg_projective, 0);
        if (c) {
            fixture *f = fixture_new();
            f->material = material[c - 1];
            f->young = 2e4;
            f->tol = 1e-10;
            f->gravity[0] = 20;
            fixture_box(f, 0, 0, 0, 0.6, 0.2, 0.2, 3, 1, 1, 0);
            /* one end turns, and takes the rest along */
            f->nmo = 1;
            for (int32_t i = 0; i < f->nv; i++)
                if (f->X[3 * i] == 0) f->mo_nodes[f->n_mo_nodes++] = i, f->role[i] = ABUT_NODE_HANDLE;
            f->mo_first[1] = f->n_mo_nodes;
            f->mo_angular[0] = 3;
            world_open(&w, f, NULL);
        } else {
            curtain(&w, 9, 300, 1e-11);
        }
        const double far = newton_and_pd_differ(&w, &o, 5);
        printf("# %s: %.2g m\n", c ? abut_material_names[material[c - 1]] : "springs", far);
        CHECK(far < 1e-9);
        world_close(&w);
    }
}

TEST(the_error_shrinks_with_the_iterations_and_few_of_them_keep_momentum)
{
    double last = INFINITY;
    for (int iterations = 1; iterations <= 256; iterations *= 4) {
        world w;
        const lg_choice o = method(&abut_lg_springs, iterations);
        curtain(&w, 9, 300, 1e-10);
        const double far = newton_and_pd_differ(&w, &o, 8);
        printf("# %d iterations a step: %.3g m off after 8 steps\n", iterations, far);
        CHECK(far < 0.7 * last);
        last = far;
        world_close(&w);
    }
    /* without ties and gravity, however few the iterations, every element's forces balance */
    world w;
    abut_local_global s;
    abut_rng r = { 31 };
    const lg_choice o = method(&abut_lg_springs, 2);
    curtain(&w, 9, 300, 1e-10);
    abut_arrays_remove(&w.model_set, "attachment/node");
    abut_arrays_remove(&w.model_set, "attachment/weight");
    abut_arrays_remove(&w.model_set, "attachment/offset");
    abut_arrays_remove(&w.model_set, "attachment/stiffness");
    memset(abut_arrays_find(&w.model_set, "world/gravity")->data, 0, 24);
    CHECK(!abut_model_view(&w.model_set, &w.model, &w.err));
    disturb(&r, w.model.nv, w.model.X, 0.03, get(&w, "node/x"));
    CHECK(!abut_lg_init(&s, &w.model, o.method, &o.user, &w.err));
    for (int k = 0; k < 20; k++) {
        abut_report rep = { 0 };
        CHECK(!advance(&s, &w.frame, &w.at, &w.next, &rep, &w.err));
        for (int d = 0; d < 3; d++) CHECK_NEAR(rep.momentum[d], 0, 1e-12);
        world_go_on(&w);
        CHECK(rep.kinetic > 1e-6);
        abut_report_clear(&rep);
    }
    abut_lg_clear(&s);
    world_close(&w);
}

TEST(no_thread_count_changes_a_bit)
{
    abut_arrays first = { 0 };
    for (int threads = 1; threads <= 5; threads += 2) {
        world w;
        abut_local_global s;
        const lg_choice o = method(&abut_lg_springs, 5);
        abut_threads_set(threads);
        curtain(&w, 60, 1000, 1e-6);
        CHECK(!abut_lg_init(&s, &w.model, o.method, &o.user, &w.err));
        for (int k = 0; k < 3; k++) {
            CHECK(!advance(&s, &w.frame, &w.at, &w.next, &w.rep, &w.err));
            world_go_on(&w);
        }
        if (threads == 1) {
            first = w.frame;
            w.frame = (abut_arrays){ 0 };
        } else {
            CHECK(same_frames(&first, &w.frame));
        }
        abut_lg_clear(&s);
        world_close(&w);
    }
    abut_threads_set(1);
    abut_arrays_clear(&first);
}

TEST(what_it_cannot_do_is_refused_with_what_was_found)
{
    world w;
    abut_local_global s;
    lg_choice o = method(&abut_lg_springs, 5);
    fixture *f = fixture_new();
    fixture_box(f, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0);
    world_open(&w, f, NULL);
    CHECK(abut_lg_init(&s, &w.model, o.method, &o.user, &w.err) == ABUT_E_FORMAT);
    CHECK(strstr(w.err.msg, "6 tets, 0 shells and 0 rods"));
    o = method(&abut_lg_projective, 5);
    o.user.real_time.contact = ABUT_CONTACT_REFUSED;
    CHECK(abut_lg_init(&s, &w.model, o.method, &o.user, &w.err) == ABUT_E_FORMAT);
    CHECK(strstr(w.err.msg, "8 collision vertices and 0 half-spaces"));
    o.user.real_time.contact = ABUT_CONTACT_IGNORE;
    const int32_t scheme = ABUT_BDF2;
    const double damping = 0.5;
    abut_model m = w.model;
    m.scheme = &scheme;
    CHECK(abut_lg_init(&s, &m, o.method, &o.user, &w.err) == ABUT_E_FORMAT && strstr(w.err.msg, "time scheme bdf2"));
    m = w.model;
    m.damp_stiffness = &damping;
    CHECK(abut_lg_init(&s, &m, o.method, &o.user, &w.err) == ABUT_E_FORMAT && strstr(w.err.msg, "0.5 s"));
    static const double fibre[1] = { 1 }, limit[4] = { 0, 0, 1, 1.1 };
    m = w.model;
    m.mat_fibre = fibre;
    o.method = &abut_lg_admm;
    CHECK(abut_lg_init(&s, &m, o.method, &o.user, &w.err) == ABUT_E_FORMAT);
    CHECK(strstr(w.err.msg, "solver admm-pd: shells, rods or fibres"));
    m = w.model;
    m.shell_limit = limit;
    o.method = &abut_lg_projective;
    CHECK(abut_lg_init(&s, &m, o.method, &o.user, &w.err) == ABUT_E_FORMAT && strstr(w.err.msg, "solver pd: shells with limits"));
    o.user.real_time.iterations = 0;
    f->tol = 1e-12;
    memcpy(abut_arrays_find(&w.model_set, "solve/tolerance")->data, &f->tol, 8);
    CHECK(!abut_lg_init(&s, &w.model, o.method, &o.user, &w.err));
    s.how.most = 2;
    for (int32_t i = 0; i < 3 * w.model.nv; i++) get(&w, "node/x")[i] *= 1.5;
    CHECK(advance(&s, &w.frame, &w.at, &w.next, &w.rep, &w.err) == ABUT_E_NUMERIC);
    CHECK(strstr(w.err.msg, "after 2 iterations: residual"));
    abut_lg_clear(&s);
    o.user.search.stop = ABUT_STOP_CHARACTERISTIC, o.user.search.tolerance = 1e-12;
    CHECK(!abut_lg_init(&s, &w.model, o.method, &o.user, &w.err));
    s.how.most = 2;
    CHECK(advance(&s, &w.frame, &w.at, &w.next, &w.rep, &w.err) == ABUT_E_NUMERIC);
    CHECK(strstr(w.err.msg, "after 2 iterations: characteristic norm ") && strstr(w.err.msg, ", want 1e-12"));
    abut_lg_clear(&s);
    world_close(&w);
}

/* A block on a floor: what holds it up are springs, and the deeper it sinks the harder they push. */
TEST(collision_springs_hold_a_block_near_the_floor_and_let_it_go_again)
{
    world w;
    abut_local_global s;
    lg_choice o = method(&abut_lg_projective, 20);
    fixture *f = fixture_new();
    f->material = ABUT_ARAP;
    f->young = 1e5;
    f->plane = 1;
    fixture_box(f, 0, 0.001, 0, 0.2, 0.2, 0.2, 2, 2, 2, 0);
    world_open(&w, f, NULL);
    o.user.real_time.contact = ABUT_CONTACT_BY_SPRINGS;
    CHECK(!abut_lg_init(&s, &w.model, o.method, &o.user, &w.err) && !s.exact);
    double lowest = 0, total = 0;
    for (int32_t i = 0; i < w.model.nv; i++) total += w.model.mass[i];
    for (int k = 0; k < 100; k++) {
        abut_report rep = { 0 };
        const abut_status rc = advance(&s, &w.frame, &w.at, &w.next, &rep, &w.err);
        if (rc) printf("# %s\n", w.err.msg);
        CHECK(!rc);
        if (rc) break;
        CHECK(rep.contact == ABUT_CONTACT_SPRINGS);
        world_go_on(&w);
        lowest = INFINITY;
        for (int32_t i = 0; i < w.model.nv; i++) lowest = fmin(lowest, get(&w, "node/x")[3 * i + 1]);
        abut_report_clear(&rep);
    }
    /* at rest nine nodes share the weight */
    const double depth = total * 9.81 / (9 * s.collisions.stiffness);
    printf("# lowest %g m, %g m of depth would carry it\n", lowest, depth);
    CHECK(lowest < 0 && lowest > -4 * depth);
    /* gravity turned around lifts it off: nothing pulls it back */
    ((double *)abut_arrays_find(&w.model_set, "world/gravity")->data)[1] = 9.81;
    for (int k = 0; k < 30; k++) {
        CHECK(!advance(&s, &w.frame, &w.at, &w.next, &w.rep, &w.err));
        world_go_on(&w);
    }
    CHECK(mean(&w, "node/v", 1, 0) > 0.8 * 9.81 * 0.3);
    abut_lg_clear(&s);
    world_close(&w);
}

/* one block thrown at another: springs between vertices and triangles part them, and no momentum is lost */
TEST(collision_springs_between_bodies_keep_momentum_and_limit_the_depth)
{
    double depth[2];
    for (int springs = 0; springs < 2; springs++) {
        world w;
        abut_local_global s;
        lg_choice o = method(&abut_lg_projective, 20);
        fixture *f = fixture_new();
        f->material = ABUT_ARAP;
        f->young = 1e5;
        f->gravity[1] = 0;
        fixture_box(f, 0, 0, 0, 0.2, 0.2, 0.2, 2, 2, 2, 0);
        fixture_box(f, 0.03, 0.21, 0.02, 0.2, 0.2, 0.2, 3, 2, 3, 0);
        world_open(&w, f, (const double[]){ 0, 0, 0, 0, -1, 0 });
        if (springs) o.user.real_time.contact = ABUT_CONTACT_BY_SPRINGS;
        CHECK(!abut_lg_init(&s, &w.model, o.method, &o.user, &w.err));
        double before[3];
        abut_linear_momentum(&(abut_mass){ .model = &w.model }, get(&w, "node/v"), before);
        depth[springs] = INFINITY;
        for (int k = 0; k < 12; k++) {
            abut_report rep = { 0 };
            CHECK(!advance(&s, &w.frame, &w.at, &w.next, &rep, &w.err));
            world_go_on(&w);
            for (int d = 0; d < 3; d++) CHECK_NEAR(rep.momentum[d], before[d], 1e-10);
            abut_report_clear(&rep);
        }
        depth[springs] = mean(&w, "node/x", 1, 1) - mean(&w, "node/x", 1, 0);
        abut_lg_clear(&s);
        world_close(&w);
    }
    printf("# centres apart: %g m without springs, %g m with them\n", depth[0], depth[1]);
    CHECK_NEAR(depth[0], 0.31 - 0.1 - 0.12, 1e-3);
    CHECK(depth[1] > 0.14);
}

/* ---- ADMM ---- */

TEST(the_local_step_of_admm_finds_the_least_of_a_brute_force_search)
{
    static const int material[] = { ABUT_ARAP, ABUT_FIXED_COROTATED, ABUT_NEO_HOOKEAN, ABUT_STVK };
    abut_rng r = { 51 };
    for (size_t c = 0; c < sizeof material / sizeof *material; c++) {
        world w;
        fixture *f = fixture_new();
        f->material = material[c];
        fixture_box(f, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0);
        world_open(&w, f, NULL);
        abut_elastic e;
        double k;
        CHECK(!abut_elastic_init(&e, &w.model, &w.err) && !abut_stiffness_fit_materials(&e, 0.5, 1.5, &k, &w.err));
        for (int round = 0; round < 20; round++) {
            const double s0[3] = { abut_rng_real(&r, 1, 1.6), abut_rng_real(&r, 0.8, 1), abut_rng_real(&r, 0.5, 0.8) };
            double s[3], best = INFINITY, at[3] = { s0[0], s0[1], s0[2] }, reach = 0.5, found = INFINITY;
            abut_principal q;
            CHECK(abut_admm_project(&e, 0, k, s0, s));
            abut_lanes from[3], to[3], ks = ABUT_LANES_ALL(k);
            for (int d = 0; d < 3; d++)      /* four at a time: other starts in the other lanes, one of them inverted */
                from[d] = (abut_lanes){ 1.2 - 0.3 * d, s0[d], d == 2 ? -0.1 : 1.0 + d, 0.3 + 0.1 * d };
            CHECK(abut_admm_project_lanes(&e, 0, 4, &ks, from, to) == 4);
            for (int d = 0; d < 3; d++) CHECK_NEAR(to[d][1], s[d], 1e-9);
            for (int l = 0; l < 4; l++) {       /* no slope is left in any */
                const double at_l[3] = { to[0][l], to[1][l], to[2][l] };
                abut_principal q_l;
                abut_elastic_principal(&e, 0, at_l, &q_l);
                for (int d = 0; d < 3; d++) CHECK_NEAR(q_l.d[d] + k * (to[d][l] - from[d][l]), 0, 1e-6 * k);
            }
            for (int level = 0; level < 12; level++, reach /= 3) {
                const double mid[3] = { at[0], at[1], at[2] };
                for (int i = 0; i < 11 * 11 * 11; i++) {
                    const double t[3] = { mid[0] + reach * (i % 11 - 5) / 5, mid[1] + reach * (i / 11 % 11 - 5) / 5,
                                          mid[2] + reach * (i / 121 - 5) / 5 };
                    if (!(t[0] > 0.05 && t[1] > 0.05 && t[2] > 0.05)) continue;
                    abut_elastic_principal(&e, 0, t, &q);
                    double v = q.psi;
                    for (int d = 0; d < 3; d++) v += 0.5 * k * (t[d] - s0[d]) * (t[d] - s0[d]);
                    if (v < best) best = v, memcpy(at, t, sizeof at);
                }
            }
            abut_elastic_principal(&e, 0, s, &q);
            found = q.psi;
            for (int d = 0; d < 3; d++) found += 0.5 * k * (s[d] - s0[d]) * (s[d] - s0[d]);
            CHECK(found <= best + 1e-9 * k);
        }
        abut_elastic_clear(&e);
        world_close(&w);
    }
}

TEST(admm_that_converges_ends_where_newton_does)
{
    static const int material[] = { ABUT_ARAP, ABUT_FIXED_COROTATED, ABUT_NEO_HOOKEAN };
    for (size_t c = 0; c < sizeof material / sizeof *material; c++) {
        world w;
        lg_choice o = method(&abut_lg_admm, 0);
        fixture *f = fixture_new();
        f->material = material[c];
        f->young = 1e5;
        f->tol = 1e-10;
        f->gravity[0] = 20;
        fixture_box(f, 0, 0, 0, 0.6, 0.2, 0.2, 3, 1, 1, 0);
        world_open(&w, f, NULL);
        for (int32_t i = 0; i < 3 * w.model.nv; i += 3) get(&w, "node/x")[i] *= 1.1;
        o.user.search.stop = ABUT_STOP_CHARACTERISTIC, o.user.search.tolerance = 1e-11;
        const double far = newton_and_pd_differ(&w, &o, 3);
        printf("# %s: %.2g m\n", abut_material_names[material[c]], far);
        CHECK(far < 1e-9);
        world_close(&w);
    }
    world w;
    const lg_choice o = method(&abut_lg_admm, 0);
    curtain(&w, 9, 300, 1e-10);
    const double far = newton_and_pd_differ(&w, &o, 3);
    printf("# springs: %.2g m\n", far);
    CHECK(far < 1e-8);    /* some 3000 iterations a step, each a thousandth nearer */
    world_close(&w);
}

static abut_status strange_make(void **self, const abut_term_world *w, abut_err *err)
{
    (void)err;
    *self = w->own;
    return ABUT_OK;
}

TEST(a_term_that_its_matrix_does_not_have_is_refused_by_name)
{
    static const abut_term_ops ops = { .name = "strange", .make = strange_make };
    const abut_lg_method *const which[] = { &abut_lg_projective, &abut_lg_admm };
    for (int i = 0; i < 2; i++) {
        fixture *f = fixture_new();
        f->material = ABUT_ARAP;
        fixture_box(f, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0);
        world w;
        world_open(&w, f, NULL);
        abut_local_global s;
        lg_choice o = method(which[i], 1);
        const abut_own_term own[] = { { &ops, &w }, { NULL, NULL } };
        CHECK(!abut_lg_init(&s, &w.model, o.method, &o.user, &w.err));
        abut_lg_clear(&s);
        o.user.terms = own;
        CHECK(abut_lg_init(&s, &w.model, o.method, &o.user, &w.err) == ABUT_E_FORMAT && strstr(w.err.msg, "the term 'strange'"));
        world_close(&w);
    }
}
