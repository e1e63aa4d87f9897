/* Limits on shells from the side of those who judge: spans, limits by object, the projection of the classical splitting. */
#include "scene_world.h"

#include "energy/stretch.h"
#include "solve/step/barrier_stepper.h"

static const char *const ONE =
    "time: {step: 0.01}\n"
    "gravity: [0, -9.81, 0]\n"
    "contact: {dhat: 1 mm}\n"
    "tolerance: 1e-9 m/s\n"
    "materials: {m: {young: 10 kPa, density: 500, poisson: 0.3}}\n"
    "objects: {t: {generate: {explicit: {points: [[0, 0, 0], [0.1, 0, 0], [0, 0, 0.1]], triangles: [[0, 2, 1]]}},\n"
    "  shell: {thickness: 1 mm, stretch-limit: 1.1}}}\n"
    "motion: [{select: {object: t, nodes: [0, 2]}, fix: true}]\n";

/* d/dx of 1/2 m (x - x~)^2 + h^2 kappa V b(x / L), the objective of a triangle whose one free corner moves along its warp. */
static double slope(double x, double to, double m, double hkV, double L)
{
    double db, d2b;
    abut_stretch_barrier(x / L, 1, 1.1, &db, &d2b);
    return m * (x - to) + hkV * db / L;
}

/* Data of a projection beside the scene: its model, a predictor (the scene's frame until it is moved), its result. */
typedef struct projection {
    abut_arrays set, predictor, out;
    abut_model model;
    abut_stepper st;
    abut_err err;
} projection;

static void projection_open(projection *p, const world *w)
{
    *p = (projection){ 0 };
    CHECK(!abut_split_model(&w->model_set, &p->set, &p->err));
    CHECK(!abut_model_view(&p->set, &p->model, &p->err));
    CHECK(!abut_stepper_init(&p->st, &p->model, NULL, &abut_solve_defaults, &p->err));
    for (int i = 0; i < w->frame.n; i++) CHECK(!abut_arrays_copy(&p->predictor, &w->frame.a[i], &p->err));
}

static void projection_make(projection *p, const world *w)
{
    abut_report rep = { .lag_residual = -1, .min_gap = -1, .min_jacobian_tet = -1 };
    CHECK(!abut_split_project(&p->st, &w->frame, (abut_instant){ 0, 0 }, &p->predictor, &p->out, &rep, &p->err));
    abut_report_clear(&rep);
}

static void projection_close(projection *p)
{
    abut_arrays_clear(&p->set), abut_arrays_clear(&p->predictor), abut_arrays_clear(&p->out);
    abut_stepper_clear(&p->st);
}

TEST(the_projection_is_the_minimum_of_its_objective)
{
    world w;
    world_scene(&w, "%s", ONE);
    projection p;
    projection_open(&p, &w);
    double *x = abut_arrays_find(&p.predictor, "node/x")->data;
    const double to[3] = { 0.102, 0.13, 0.3 };
    for (int k = 0; k < 3; k++) {
        x[3] = to[k];
        projection_make(&p, &w);
        const double *got = abut_arrays_find(&p.out, "node/x")->data, *v = abut_arrays_find(&p.out, "node/v")->data;
        const abut_array *grown = abut_arrays_find(&p.out, "strain/kappa");
        const double kappa = grown ? *(const double *)grown->data : ABUT_STRAIN_KAPPA_MIN;
        double lo = 0.1, hi = 0.11 * (1 - 1e-13);
        for (int i = 0; i < 200; i++) {
            const double mid = 0.5 * (lo + hi);
            if (slope(mid, to[k], p.model.mass[1], 1e-4 * kappa * 0.005 * 0.001, 0.1) > 0) hi = mid;
            else lo = mid;
        }
        CHECK_NEAR(got[3], lo, 1e-9);
        CHECK(got[3] < 0.11 && got[4] == 0);
        CHECK_NEAR(v[3], (got[3] - 0.1) / 0.01, 1e-9);
    }
    projection_close(&p);
    world_close(&w);
}

/* A free sheet that a predictor has stretched and turned: forces between its nodes cannot move its centre or turn it. */
TEST(the_projection_keeps_the_momentum_of_a_free_sheet)
{
    world w;
    world_scene(
        &w, "time: {step: 0.01}\ncontact: {dhat: 1 mm}\ntolerance: 1e-7 m/s\n"
            "objects: {t: {generate: {cloth: {size: [1, 1], edge: 0.2, layout: rows, jitter: 0.2}}, shell: {thickness: 1 mm,\n"
            "  stretch-limit: {upper: 1.05, lower: 0.9}}}}\n");
    projection p;
    projection_open(&p, &w);
    CHECK(p.model.nhg == 0 && p.model.nsh == w.model.nsh && p.model.gravity[1] == 0);
    double *x = abut_arrays_find(&p.predictor, "node/x")->data;
    for (int32_t i = 0; i < p.model.nv; i++) {
        const double a = x[3 * i], b = x[3 * i + 2];
        x[3 * i] = 1.2 * a, x[3 * i + 1] = 0.1 * a * b, x[3 * i + 2] = 0.85 * b + 0.1 * a;
    }
    projection_make(&p, &w);
    const double *y = abut_arrays_find(&p.out, "node/x")->data;
    for (int k = 0; k < 3; k++) {
        double shift = 0, twist = 0;
        for (int32_t i = 0; i < p.model.nv; i++) {
            const double *from = x + 3 * i, *q = y + 3 * i, m = p.model.mass[i];
            const int a = (k + 1) % 3, b = (k + 2) % 3;
            shift += m * (q[k] - from[k]);
            twist += m * (q[a] * (q[b] - from[b]) - q[b] * (q[a] - from[a]));     /* forces m (y - x~)/h^2 act at y */
        }
        CHECK_NEAR(shift, 0, 1e-9);
        CHECK_NEAR(twist, 0, 1e-9);
    }
    abut_codim codim;
    abut_shell_span span;
    CHECK(!abut_codim_init(&codim, &p.model, &p.err));
    abut_shell_span_find(&codim, x, p.model.shell_limit, NULL, 0.25, &span);
    CHECK(span.outside > 0 && span.max > 1.15);
    abut_shell_span_find(&codim, y, p.model.shell_limit, NULL, 0.25, &span);
    CHECK(span.outside == 0 && span.max < 1.05 && span.min > 0.9 && span.room > 0 && span.room < 1);
    abut_codim_clear(&codim);
    projection_close(&p);
    world_close(&w);
}

TEST(a_span_has_the_extremes_the_room_and_every_stretch_in_its_bin)
{
    world w;
    world_scene(
        &w,
        "materials: {c: {membrane: cloth, fabric: {warp: 2 kPa, weft: 1 kPa, coupling: 0, shear: 1 kPa},\n"
        "  strain-limit: {warp: 0.4, weft: 0.5, shear: 0.3}}, m: {}}\n"
        "objects:\n"
        "  a: {generate: {cloth: {size: [1, 1], cells: [2, 2]}}, shell: {thickness: 1 mm}, material: m}\n"
        "  b: {generate: {cloth: {size: [1, 1], cells: [2, 2]}}, shell: {thickness: 1 mm}, material: c, translate: [0, 1, 0]}\n");
    abut_codim t;
    abut_shell_span s;
    abut_err err = { 0 };
    double x[3 * 18], rows[4 * 16];
    CHECK(!abut_codim_init(&t, &w.model, &err));
    /* warp 1.3, weft 0.8; of a alone a limit of 1.4 from 1.2 on, and 0.72 from 0.9 on, which leaves less */
    for (int i = 0; i < 18; i++) {
        const double *p = get(&w, "node/x") + 3 * i;
        x[3 * i] = 1.3 * p[0], x[3 * i + 1] = p[1], x[3 * i + 2] = 0.8 * p[2];
    }
    abut_shell_limits(&w.model, (const uint8_t[2]){ 1, 0 }, 0.72, 0.9, 1.2, 1.4, rows);
    CHECK(rows[0] == 0.72 && rows[3] == 1.4 && rows[4 * 8] == 0 && rows[4 * 8 + 3] == 0);
    abut_shell_span_find(&t, x, rows, NULL, 0.5, &s);
    CHECK(s.n == 16 && s.outside == 0 && s.max_row == 0);
    CHECK_NEAR(s.max, 1.3, 1e-14);
    CHECK_NEAR(s.min, 0.8, 1e-14);
    CHECK_NEAR(s.room, 0.08 / 0.18, 1e-13);
    CHECK_NEAR(s.strain[0], (1.69 - 1) / 2 / 0.4, 1e-14);
    CHECK_NEAR(s.strain[1], (1 - 0.64) / 2 / 0.5, 1e-14);
    CHECK_NEAR(s.strain[2], 0, 1e-14);
    int64_t all = 0;
    for (int k = 0; k < ABUT_SPAN_BINS; k++) all += s.bin[k];
    CHECK(all == 32 && s.bin[5] + s.bin[6] == 16 && s.bin[15] + s.bin[16] == 16); /* 0.8 and 1.3 on the edge of bins of 0.05 */
    abut_shell_span_find(&t, x, NULL, (const uint8_t[2]){ 0, 1 }, 0.5, &s);
    CHECK(s.n == 8 && s.max_row >= 8 && s.room == 1);
    for (int i = 0; i < 18; i++) x[3 * i] *= 1.4 / 1.3;
    abut_shell_span_find(&t, x, rows, NULL, 0.5, &s);
    CHECK(s.outside == 16 && !(s.room > 1e-13) && s.strain[0] > 1);
    for (int i = 0; i < 18; i++) {      /* sheared by 0.2: E11 = 0, E22 = 0.2^2 / 2, E12 = 0.1 */
        const double *p = get(&w, "node/x") + 3 * i;
        x[3 * i] = p[0] - 0.2 * p[2], x[3 * i + 2] = p[2];
    }
    abut_shell_span_find(&t, x, NULL, NULL, 0.5, &s);
    CHECK_NEAR(s.strain[0], 0, 1e-14);
    CHECK_NEAR(s.strain[1], 0.02 / 0.5, 1e-14);
    CHECK_NEAR(s.strain[2], 0.1 / 0.3, 1e-14);
    abut_codim_clear(&t);
    world_close(&w);
}

/* Within its limits no force resists the deformation of a projected sheet, of any fabric. */
TEST(the_model_of_a_projection_has_no_fabric)
{
    world w;
    world_scene(&w, "materials: {m: {membrane: orthotropic, fabric: {warp: 2e6, weft: 1e6, coupling: 3e5, shear: 5e5}}}\n"
                "objects: {t: {generate: {cloth: {size: [1, 1], cells: [2, 2]}},\n"
                "  shell: {thickness: 1 mm, stretch-limit: 1.1}}}\n");
    projection p;
    projection_open(&p, &w);
    double *x = abut_arrays_find(&p.predictor, "node/x")->data, psi[2];
    for (int32_t i = 0; i < p.model.nv; i++) x[3 * i] *= 0.98, x[3 * i + 2] *= 0.99;   /* below every limit */
    CHECK(!abut_objective_potential(&w.st.solver.prob, x, &psi[0], &w.st.solver.scratch, &w.err));
    CHECK(!abut_objective_potential(&p.st.solver.prob, x, &psi[1], &p.st.solver.scratch, &p.err));
    CHECK(psi[0] > 1e-2 && fabs(psi[1]) < 1e-15);
    projection_close(&p);
    world_close(&w);
}
