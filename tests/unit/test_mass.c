/* Mass matrices of tets of order 2 to 4: totals, integrals, solutions, and what they do in time steps. */
#include "energy/mass.h"
#include "geom/quadrature.h"
#include "math/mat3.h"
#include "model/motion.h"
#include "solve/step/measures.h"

#include "check.h"
#include "high_box.h"
#include "scene_world.h"

typedef struct body {
    high_box box;
    abut_mass M;
    int32_t *role;
    double *mass;
} body;

static void open_body(body *b, int g, double bend, int k)
{
    abut_err err = { 0 };
    *b = (body){ 0 };
    high_box_build(&b->box, 1, 0.5, 0.1, 2, g, bend, k);
    b->box.straight.density[0] = 700, b->box.straight.density[1] = 1900;
    b->role = calloc((size_t)b->box.model.nv, sizeof *b->role);
    b->mass = malloc((size_t)b->box.model.nv * sizeof *b->mass);
    for (int32_t i = 0; i < b->box.model.nv; i++) b->mass[i] = 1;
    b->box.model.role = b->role, b->box.model.mass = b->mass;
    CHECK(!abut_mass_init(&b->M, &b->box.model, &err));
}

static void close_body(body *b)
{
    abut_mass_clear(&b->M);
    high_box_free(&b->box);
    free(b->role), free(b->mass);
}

/* The integral over all tets of density times f, by the conical product of a degree that is far too high. */
static double integral(const body *b, double (*f)(const double x[3]))
{
    abut_quadrature q;
    abut_err err = { 0 };
    double sum = 0;
    CHECK(!abut_quadrature_tet(16, &q, &err));
    for (int32_t t = 0; t < b->box.model.nt; t++) {
        double X[35][3], x[3], J[9];
        abut_mesh_tet_places(&b->box.mesh, t, X);
        const int order = abut_mesh_order(&b->box.mesh);
        for (int i = 0; i < q.n; i++) {
            const double det = abut_tet_point(order, (const double(*)[3])X, q.L + 4 * i, x, J);
            sum += b->box.straight.density[b->box.model.tet_mat[t]] * q.w[i] * det / 6 * f(x);
        }
    }
    abut_quadrature_clear(&q);
    return sum;
}

static double one(const double x[3]) { return (void)x, 1; }
static double product_of_fields(const double x[3]) { return (x[0] + 2 * x[1] - 1) * (3 * x[2] - x[0]); }

TEST(products_of_fields_are_their_integrals_on_straight_and_curved_tets)
{
    for (int k = 2; k <= 4; k++)
        for (int g = 1; g <= k; g++) {
            body b;
            open_body(&b, g, g > 1 ? 0.03 : 0, k);
            const abut_model *m = &b.box.model;
            double *u = malloc(3 * sizeof *u * (size_t)m->nv), *f = malloc(3 * sizeof *f * (size_t)m->nv), sum[3], work = 0;
            for (int32_t i = 0; i < m->nv; i++) {
                const double *x = m->X + 3 * i;
                u[3 * i] = 1, u[3 * i + 1] = x[0] + 2 * x[1] - 1, u[3 * i + 2] = 3 * x[2] - x[0];
            }
            abut_mass_total(&b.M, u, sum);
            const double total = integral(&b, one), want = integral(&b, product_of_fields);
            CHECK_NEAR(sum[0], total, 1e-13 * total);
            abut_mass_multiply(&b.M, u, f);
            for (int32_t i = 0; i < m->nv; i++) work += u[3 * i + 1] * f[3 * i + 2];
            CHECK_NEAR(work, want, 1e-12 * total);
            free(u), free(f);
            close_body(&b);
        }
}

TEST(a_row_is_symmetric_and_as_wide_as_the_tets_around)
{
    body b;
    open_body(&b, 3, 0.03, 3);
    const abut_model *m = &b.box.model;
    for (int32_t i = 0; i < m->nv; i++) {
        CHECK(b.M.order[i] == 3 && b.M.first[i + 1] > b.M.first[i]);
        for (int32_t k = b.M.first[i]; k < b.M.first[i + 1]; k++) {
            const int32_t j = b.M.col[k];
            int found = 0;
            CHECK(k == b.M.first[i] || b.M.col[k - 1] < j);
            for (int32_t l = b.M.first[j]; l < b.M.first[j + 1]; l++) found += b.M.col[l] == i && b.M.val[l] == b.M.val[k];
            CHECK(found == 1);
        }
    }
    close_body(&b);
}

TEST(a_solution_multiplied_is_the_right_side_with_and_without_known_nodes)
{
    abut_rng r = { 9 };
    for (int k = 2; k <= 4; k++) {
        body b;
        open_body(&b, k, 0.02, k);
        const size_t n3 = 3 * (size_t)b.box.model.nv;
        double *f = malloc(n3 * sizeof *f), *x = malloc(n3 * sizeof *x), *y = malloc(n3 * sizeof *y);
        uint8_t *known = calloc(n3, 1);
        abut_arena scratch = { 0 };
        for (int fixed = 0; fixed < 2; fixed++) {
            double most = 0, size = 0;
            for (size_t i = 0; i < n3; i++) x[i] = f[i] = abut_rng_real(&r, -1, 1);
            for (size_t i = 0; i < n3 / 3 && fixed; i += 3) known[i] = 1;
            CHECK(!abut_mass_solve(&b.M, fixed ? known : NULL, x, &scratch, NULL));
            abut_mass_multiply(&b.M, x, y);
            for (size_t i = 0; i < n3; i++) {
                if (known[i / 3]) CHECK(x[i] == f[i]);
                else most = fmax(most, fabs(y[i] - f[i]));
                size = fmax(size, fabs(f[i]));
            }
            CHECK_NEAR(most, 0, 1e-12 * size);
        }
        abut_arena_clear(&scratch);
        free(f), free(x), free(y), free(known);
        close_body(&b);
    }
}

TEST(a_degree_of_quadrature_below_that_of_the_mass_is_refused)
{
    body b;
    abut_err err = { 0 };
    const int32_t degrees[4] = { 0, 0, 0, 5 };
    open_body(&b, 3, 0.03, 3);
    abut_mass_clear(&b.M);
    b.box.model.mat_quadrature = degrees;
    CHECK(abut_mass_init(&b.M, &b.box.model, &err) == ABUT_E_FORMAT);
    CHECK(strstr(err.msg, "degree 5") && strstr(err.msg, "at least 6") && !b.M.order);
    close_body(&b);
}

/* ---- in time steps ---- */

static const char BALL[] = "sphere: {radius: 0.1, cells: 2}", BOX[] = "box: {size: [0.3, 0.1, 0.1], cells: [2, 1, 1]}";
static const char *const FLIGHT =
    "{time: {step: 10 ms, scheme: %s}, gravity: [%s], tolerance: 1e-10 m/s, contact: {dhat: 1 mm},\n"
    " materials: {m: {density: 1000, young: 1e5, poisson: 0.4}},\n"
    " objects: {a: {generate: {%s}, order: %d, velocity: [1, 2, 3]%s}}}\n";

TEST(masses_of_nodes_are_positive_and_sum_to_that_of_the_body)
{
    for (int k = 2; k <= 4; k++) {
        world w;
        world_scene(&w, FLIGHT, "implicit-euler", "0, 0, 0", BALL, k, "");
        const abut_mass *M = abut_mass_of(&w.st.solver.prob.terms);
        double sum = 0, total[3], *ones = malloc(3 * sizeof *ones * (size_t)w.model.nv);
        for (int32_t i = 0; i < w.model.nv; i++) {
            CHECK(w.model.mass[i] > 0);
            sum += w.model.mass[i];
            for (int d = 0; d < 3; d++) ones[3 * i + d] = 1;
        }
        abut_mass_total(M, ones, total);
        for (int d = 0; d < 3; d++) CHECK_NEAR(total[d], sum, 1e-13 * sum);
        free(ones);
        world_close(&w);
    }
}

TEST(t15_a_body_in_free_fall_moves_by_the_recurrence_of_the_scheme_and_does_not_deform)
{
    for (int k = 2; k <= 4; k++) {
        world w;
        world_scene(&w, FLIGHT, "implicit-euler", "0, -9.81, 0", BALL, k, "");
        CHECK(!world_judged(&w, 1) && !world_run(&w, 5));
        const double *x = get(&w, "node/x"), h = 0.01;
        double v = 2, fall = 0, most = 0;
        for (int n = 0; n < 6; n++) v -= 9.81 * h, fall += h * v;
        for (int32_t i = 0; i < w.model.nv; i++) {
            const double *X = w.model.X + 3 * i;
            most = fmax(most, fabs(x[3 * i] - X[0] - 0.06));
            most = fmax(most, fabs(x[3 * i + 1] - X[1] - fall));
            most = fmax(most, fabs(x[3 * i + 2] - X[2] - 0.18));
        }
        CHECK_NEAR(most, 0, 1e-12);
        world_close(&w);
    }
}

/* Elastic forces have no torque on the positions at which they act; the midpoint rule takes them in the middle of a step, where
 * it keeps both momenta. */
TEST(t14_a_spinning_body_keeps_both_momenta_over_a_hundred_steps_of_the_midpoint_rule)
{
    world w;
    world_scene(&w, FLIGHT, "midpoint", "0, 0, 0", BOX, 3, ", angular-velocity: {axis: [0, 3, 0.5], rate: 2 rad/s}");
    const abut_mass *M = abut_mass_of(&w.st.solver.prob.terms);
    double p[2][3], l[2][3];
    for (int end = 0; end < 2; end++) {
        abut_linear_momentum(M, get(&w, "node/v"), p[end]);
        abut_angular_momentum(M, get(&w, "node/x"), get(&w, "node/v"), l[end]);
        if (!end) CHECK(!world_run(&w, 100));
    }
    for (int d = 0; d < 3; d++) {
        CHECK_NEAR(p[1][d], p[0][d], 1e-10 * fabs(p[0][2]));
        CHECK_NEAR(l[1][d], l[0][d], 1e-10 * fabs(l[0][1]));
    }
    CHECK(fabs(l[0][1]) > 0.01);
    world_close(&w);
}

/* One step with its forces recorded: sums along z of the reactions and of damping, and the change of momentum over h. */
static void recorded_step(world *w, double *reaction, double *damping, double *change)
{
    const abut_mass *M = abut_mass_of(&w->st.solver.prob.terms);
    abut_arrays out = { 0 };
    double before[3], after[3];
    abut_linear_momentum(M, get(w, "node/v"), before);
    CHECK(!abut_step_begin(&w->st, &w->frame, w->at, &w->rep, &w->err) && !abut_step_solve(&w->st, &w->rep, &w->err));
    CHECK(!abut_step_commit(&w->st, &w->frame, ABUT_WITH_FORCES, &out, &w->at, &w->rep, &w->err));
    const abut_array *r = abut_arrays_find(&out, "node/reaction-force"), *d = abut_arrays_find(&out, "node/damping-force");
    CHECK(r && d);
    *reaction = *damping = 0;
    for (int32_t i = 0; i < w->model.nv; i++) {
        *reaction += ((const double *)r->data)[3 * i + 2];
        *damping += ((const double *)d->data)[3 * i + 2];
    }
    abut_linear_momentum(M, abut_arrays_find(&out, "node/v")->data, after);
    *change = (after[2] - before[2]) / w->model.h[0];
    abut_arrays_clear(&out);
}

/* The change of momentum is the weight, damping and what holds the prescribed nodes, at the end of a step of implicit Euler; at
 * rest that is the weight alone. */
TEST(reactions_of_prescribed_nodes_balance_weight_and_inertia)
{
    const double weight = 3 * 9.81;     /* 0.003 m^3 */
    for (int still = 0; still < 2; still++)
        for (int k = 2; k <= 4; k++) {
            world w;
            double reaction, damping, change;
            world_scene(&w, "{time: {step: 10 ms, scheme: %s}, gravity: [0, 0, -9.81], tolerance: 1e-9 m/s,\n"
                        " contact: {dhat: 1 mm}, damping: {mass: 3, stiffness: 1 ms},\n"
                        " materials: {m: {density: 1000, young: 1e6, poisson: 0.3}},\n"
                        " objects: {a: {generate: {box: {size: [0.3, 0.1, 0.1], cells: [3, 1, 1]}}, order: %d}},\n"
                        " motion: [{select: {object: a, relative-box: [[0, 0, 0], [0.001, 1, 1]]}, translate: [0, 0, %g]}]}\n",
                        still ? "quasi-static" : "implicit-euler", k, still ? 0 : 0.05);
            CHECK(!world_judged(&w, 1));
            recorded_step(&w, &reaction, &damping, &change);
            CHECK_NEAR(reaction + damping - weight, still ? 0 : change, 1e-6 * weight);
            CHECK(still || (fabs(damping) > 0.01 && fabs(change) > 0.1));
            world_close(&w);
        }
}

/* ---- loads on faces ---- */

/* The load of pressure p on a closed surface has no resultant, and its virial is that of the volume inside: sum f.X = -3 p V. */
TEST(pressure_on_a_curved_surface_has_no_resultant_and_the_virial_of_its_volume)
{
    for (int k = 2; k <= 4; k++) {
        world w;
        world_scene(&w, "{time: {step: 10 ms}, gravity: [0, 0, 0], contact: {dhat: 1 mm},\n"
                    " materials: {m: {density: 1000, young: 1e6}},\n"
                    " objects: {a: {generate: {sphere: {radius: 0.1, cells: 2}}, order: %d}},\n"
                    " motion: [{select: {object: a}, pressure: 500}]}\n", k);
        double *f = malloc(3 * sizeof *f * (size_t)w.model.nv), sum[3] = { 0 }, virial = 0, total[3], size = 0;
        CHECK(abut_motion_load(&w.model, 0, 0, f));
        for (int32_t i = 0; i < 3 * w.model.nv; i++) {
            sum[i % 3] += f[i], virial += f[i] * w.model.X[i];
            size += fabs(f[i]);
        }
        for (int32_t i = 0; i < 3 * w.model.nv; i++) f[i] = 1;
        abut_mass_total(abut_mass_of(&w.st.solver.prob.terms), f, total);
        CHECK_NEAR(virial, -3 * 500 * total[0] / 1000, 1e-12 * fabs(virial));
        for (int d = 0; d < 3; d++) CHECK_NEAR(sum[d], 0, 1e-13 * size);
        free(f);
        world_close(&w);
    }
}

/* A dead load of the same traction on both ends of a bar: every point has the same F. */
TEST(a_bar_under_traction_is_stretched_evenly)
{
    for (int k = 2; k <= 4; k++) {
        world w;
        world_scene(&w, "{time: {step: 1 s, scheme: quasi-static}, gravity: [0, 0, 0], tolerance: 1e-10 m/s,\n"
                    " contact: {dhat: 1 mm}, damping: {mass: 0.1}, materials: {m: {density: 1000, young: 1e5, poisson: 0.3}},\n"
                    " objects: {a: {generate: {box: {size: [0.3, 0.1, 0.1], cells: [2, 1, 1]}}, order: %d}},\n"
                    " motion: [{select: {object: a, relative-box: [[0.999, 0, 0], [1, 1, 1]]}, traction: [2e4, 0, 0]},\n"
                    "          {select: {object: a, relative-box: [[0, 0, 0], [0.001, 1, 1]]}, traction: [-2e4, 0, 0]}]}\n", k);
        CHECK(!world_judged(&w, 6));
        const double *x = get(&w, "node/x"), *X = w.model.X;
        double F[9], worst = 0;
        int32_t corner[4] = { 0 };     /* the first tet tells F */
        double D[9], E[9], Ei[9];
        memcpy(corner, w.model.tet, sizeof corner);
        for (int c = 0; c < 3; c++)
            for (int d = 0; d < 3; d++) {
                D[3 * d + c] = x[3 * corner[c + 1] + d] - x[3 * corner[0] + d];
                E[3 * d + c] = X[3 * corner[c + 1] + d] - X[3 * corner[0] + d];
            }
        (void)abut_m3_inverse(Ei, E);
        abut_m3_mul(F, D, Ei);
        for (int32_t i = 0; i < w.model.nv; i++)
            for (int d = 0; d < 3; d++) {
                double at = x[3 * corner[0] + d];
                for (int c = 0; c < 3; c++) at += F[3 * d + c] * (X[3 * i + c] - X[3 * corner[0] + c]);
                worst = fmax(worst, fabs(at - x[3 * i + d]));
            }
        /* P e_x = traction: mu F_00 + (lambda ln J - mu)/F_00 (Ferguson et al. 2023, 4.3) */
        const double mu = 1e5 / 2.6, lambda = 1e5 * 0.3 / (1.3 * 0.4), J = abut_m3_det(F);
        CHECK_NEAR(mu * F[0] + (lambda * log(J) - mu) / F[0], 2e4, 2e4 * 1e-6);
        CHECK_NEAR(worst, 0, 1e-9);
        CHECK(F[0] > 1.1);
        world_close(&w);
    }
}
