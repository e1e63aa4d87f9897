/* Rods and shells in the solver against the theories of strings, beams, plates and membranes. */
#include "slender.h"

#include "base/rng.h"
#include "energy/codim.h"
#include "sparse/bsr.h"
#include "sparse/packed_lanes.h"

#define PI 3.14159265358979323846

/* ---- sums ---- */

static double codim_energy(world *w, const double *x)
{
    double E = NAN;
    CHECK(!abut_codim_energy(abut_codim_of(&w->st.solver.prob.terms), x, ABUT_CODIM_ALL, 1e3, &E, &w->st.solver.scratch, NULL));
    return E;
}

TEST(thin_elements_of_all_kinds_add_up)
{
    world w;
    double x[48], g[48] = { 0 }, by_hand = 0;
    crumpled_world(&w, x);
    const abut_model *m = &w.model;
    CHECK(m->nsh == 8 && m->nhg == 7 && m->nrd == 5 && m->nbd == 4);
    /* without the shells: a model of the same nodes */
    abut_model bare = *m;
    abut_codim codim;
    double E = NAN;
    bare.nsh = 0;
    CHECK(!abut_codim_init(&codim, &bare, NULL));
    CHECK(!abut_codim_energy(&codim, x, ABUT_CODIM_ALL, 0, &E, &w.st.solver.scratch, NULL));
    for (int32_t i = 0; i < m->nhg; i++) {
        const double bent = remainder(slender_theta(x, m->hinge + 4 * i) - m->hinge_angle[i], 2 * PI);
        by_hand += m->hinge_stiffness[i] * bent * bent;
    }
    for (int32_t i = 0; i < m->nrd; i++) {
        const double *a = x + 3 * m->rod[2 * i], *b = x + 3 * m->rod[2 * i + 1];
        const double l = abut_v3_norm(abut_v3_sub(abut_v3_get(a), abut_v3_get(b))), strain = l / m->rod_length[i] - 1;
        by_hand += 0.5 * m->mat_young[0] * PI * m->rod_radius[i] * m->rod_radius[i] * m->rod_length[i] * strain * strain;
    }
    for (int32_t i = 0; i < m->nbd; i++) {
        abut_vec3 e[2];
        for (int k = 0; k < 2; k++)
            e[k] = abut_v3_sub(abut_v3_get(x + 3 * m->bend[3 * i + k + 1]), abut_v3_get(x + 3 * m->bend[3 * i + k]));
        const double t = 2 * tan(0.5 * atan2(abut_v3_norm(abut_v3_cross(e[0], e[1])), abut_v3_dot(e[0], e[1])));
        by_hand += m->bend_stiffness[i] * t * t;
    }
    CHECK_NEAR(E, by_hand, 1e-13 * by_hand);
    CHECK(by_hand > 0.01);
    /* and nothing of it is bounded */
    CHECK(!abut_codim_energy(&codim, x, ABUT_CODIM_BOUNDED, 0, &E, &w.st.solver.scratch, NULL));
    CHECK(E == 0);
    abut_codim_clear(&codim);

    CHECK(!abut_codim_gradient(abut_codim_of(&w.st.solver.prob.terms), x, ABUT_CODIM_ALL, 1e3, 0.5, g, &w.st.solver.scratch,
                              NULL));
    double size = 0;
    for (int i = 0; i < 48; i++) size = fmax(size, fabs(g[i]));
    for (int i = 0; i < 48; i++) {
        const double at = x[i], t = 1e-7;
        x[i] = at + t;
        const double more = codim_energy(&w, x);
        x[i] = at - t;
        CHECK_NEAR(0.5 * (more - codim_energy(&w, x)) / (2 * t), g[i], 1e-7 * size);
        x[i] = at;
    }
    world_close(&w);
}

TEST(the_hessian_of_thin_elements_is_semidefinite_and_the_true_one_at_rest)
{
    world w;
    double x[48], y[48], column[48];
    abut_rng r = { 18 };
    abut_bsr A = { 0 };
    crumpled_world(&w, x);
    const abut_codim *thin = abut_codim_of(&w.st.solver.prob.terms);
    double *H = calloc(thin->n * ABUT_PACKED, sizeof *H);
    const abut_elements set = { .corners = 4, .n = thin->n, .row = thin->node, .val = H };
    CHECK(!abut_bsr_pattern(&A, w.model.nv, &set, 1, NULL));
    for (int flat = 0; flat < 2; flat++) {
        const double *at = flat ? w.model.X : x;
        memset(H, 0, thin->n * ABUT_PACKED * sizeof *H);
        abut_codim_hessian(thin, at, ABUT_CODIM_ALL, 1e3, 0.5, H);
        abut_bsr_assemble(&A, NULL, &set, 1);
        for (int k = 0; k < 100; k++) {
            double curvature = 0, size = 0;
            for (int i = 0; i < 48; i++) y[i] = abut_rng_real(&r, -1, 1);
            abut_bsr_multiply(&A, y, column);
            for (int i = 0; i < 48; i++) curvature += y[i] * column[i], size += fabs(y[i] * column[i]);
            CHECK(curvature >= -1e-12 * size);
        }
    }
    for (int i = 0; i < 48; i++) {      /* the rest shape: A is still that of it */
        double more[48] = { 0 }, less[48] = { 0 }, e[48] = { 0 };
        const double t = 1e-6;
        memcpy(y, w.model.X, sizeof y);
        e[i] = 1;
        abut_bsr_multiply(&A, e, column);
        y[i] = w.model.X[i] + t;
        CHECK(!abut_codim_gradient(thin, y, ABUT_CODIM_ALL, 1e3, 0.5, more, &w.st.solver.scratch, NULL));
        y[i] = w.model.X[i] - t;
        CHECK(!abut_codim_gradient(thin, y, ABUT_CODIM_ALL, 1e3, 0.5, less, &w.st.solver.scratch, NULL));
        for (int k = 0; k < 48; k++) CHECK_NEAR((more[k] - less[k]) / (2 * t), column[k], 1e-6 * 1e3);
    }
    abut_bsr_clear(&A);
    free(H);
    world_close(&w);
}

/* ---- rods ---- */

/* A cantilever along x of length 1 from the middle of its first segment, which is held: there the discrete rod is clamped, and
 * the sum over its bends is the midpoint rule.  P at the free end, along -y. */
static const double ROD_YOUNG = 1e8, ROD_RADIUS = 2e-3;
static double rod_stiffness(void) { return ROD_YOUNG * PI * pow(ROD_RADIUS, 4) / 4; }

static void cantilever(world *w, int n, double P)
{
    slender *s = slender_new();
    const double l = 1 / (n - 0.5);
    s->young = ROD_YOUNG;
    s->radius = ROD_RADIUS;
    for (int i = 0; i <= n; i++) (void)slender_node(s, (i - 0.5) * l, 0, 0);
    slender_rod(s, 0, n);
    s->held[s->n_held++] = 0;
    s->held[s->n_held++] = 1;
    s->loaded[s->n_loaded++] = n;
    s->load[1] = -P / s->mass[n];
    slender_open(w, s);
}

static const double *end_node(const world *w) { return get(w, "node/x") + 3 * (w->model.nv - 1); }

TEST(a_clamped_rod_deflects_like_a_beam)
{
    double off[2];
    for (int k = 0; k < 2; k++) {
        world w;
        cantilever(&w, 25 << k, 3e-4 * rod_stiffness());
        CHECK(!world_judged(&w, 1));
        off[k] = 1 + end_node(&w)[1] / 1e-4;
        world_close(&w);
    }
    printf("# off by %.2g with 25 segments, by %.2g with 50\n", off[0], off[1]);
    CHECK_NEAR(off[1], 0, 1e-3);
    CHECK_NEAR(off[0] / off[1], 4, 0.3);
}

/* EI theta'' = -P cos theta, theta(0) = 0, theta'(1) = 0, by shooting with Runge and Kutta's method; theta counted downwards.
 * end: x and y of the free end. */
static double elastica_shot(double load, double curvature, double end[2])
{
    enum { STEPS = 2000 };
    const double h = 1. / STEPS;
    double y[4] = { 0, curvature, 0, 0 };   /* theta, theta', x, depth */
    for (int i = 0; i < STEPS; i++) {
        double k[4][4], at[4];
        for (int r = 0; r < 4; r++) {
            for (int c = 0; c < 4; c++) at[c] = y[c] + (r == 0 ? 0 : (r == 3 ? h : h / 2) * k[r - 1][c]);
            k[r][0] = at[1];
            k[r][1] = -load * cos(at[0]);
            k[r][2] = cos(at[0]);
            k[r][3] = sin(at[0]);
        }
        for (int c = 0; c < 4; c++) y[c] += h / 6 * (k[0][c] + 2 * k[1][c] + 2 * k[2][c] + k[3][c]);
    }
    end[0] = y[2];
    end[1] = -y[3];
    return y[1];
}

static void elastica(double load, double end[2])
{
    double lo = 0, hi = load + 1;
    for (int i = 0; i < 60; i++) {
        const double mid = (lo + hi) / 2;
        *(elastica_shot(load, mid, end) < 0 ? &lo : &hi) = mid;
    }
}

TEST(a_cantilever_under_a_large_load_is_the_elastica)
{
    for (int load = 1; load <= 10; load *= 10) {        /* the free end goes down by 0.30 and 0.81 of the length */
        double end[2];
        world w;
        elastica(load, end);
        cantilever(&w, 60, load * rod_stiffness());
        CHECK(!world_judged(&w, 1));
        const double *x = end_node(&w);
        printf("# load %d: end at %.5f, %.5f, the elastica's at %.5f, %.5f; %d iterations\n", load, x[0], x[1], end[0], end[1],
               w.rep.newton);
        CHECK_NEAR(x[0], end[0], 1e-3);
        CHECK_NEAR(x[1], end[1], 1e-3);
        world_close(&w);
    }
}

TEST(a_straight_rod_stretches_by_hooke)
{
    for (int k = 0; k < 2; k++) {
        const double strain = k ? 0.5 : 0.01;
        slender *s = slender_new();
        world w;
        for (int i = 0; i <= 10; i++) (void)slender_node(s, 0, 0.1 * i, 0);
        slender_rod(s, 0, 10);
        s->held[s->n_held++] = 0;
        s->loaded[s->n_loaded++] = 10;
        s->load[1] = strain * s->young * PI * s->radius * s->radius / s->mass[10];
        slender_open(&w, s);
        CHECK(!world_judged(&w, 1));
        for (int i = 0; i <= 10; i++) CHECK_NEAR(get(&w, "node/x")[3 * i + 1], 0.1 * i * (1 + strain), 1e-9);
        CHECK_NEAR(w.rep.elastic, 0.5 * 1e6 * PI * 1e-6 * strain * strain, 1e-12);
        world_close(&w);
    }
}

/* ---- plates ---- */

/* An equilateral triangle of height 1 in the plane y = 0, simply supported, n cells on a side: w(centre) = q a^4 / (972 D) under
 * its own weight q (Woinowsky-Krieger 1933). */
static double plate_centre(int n)
{
    slender *s = slender_new();
    const double L = 2 / sqrt(3) / n, D = s->young * pow(s->thick, 3) / (12 * (1 - s->poisson * s->poisson));
    const double exact = 0.01 * s->thick;    /* so little that the membrane has no part in it */
    world w;
    s->tol = 1e-13;
    s->gravity[1] = -972 * D * exact / (s->density * s->thick);
    for (int j = 0; j <= n; j++)
        for (int i = 0; i <= n - j; i++) {
            const int32_t v = slender_node(s, L * (i + 0.5 * j), 0, -L * sqrt(0.75) * j);
            if (i == 0 || j == 0 || i + j == n) s->held[s->n_held++] = v;
        }
#define AT(i, j) ((j) * (n + 1) - (j) * ((j) - 1) / 2 + (i))
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n - j; i++) {
            slender_shell(s, AT(i, j), AT(i + 1, j), AT(i, j + 1));
            if (i + j < n - 1) slender_shell(s, AT(i + 1, j), AT(i + 1, j + 1), AT(i, j + 1));
        }
    slender_hinges(s, 1);
    slender_open(&w, s);
    CHECK(!world_judged(&w, 1));
    const double y = get(&w, "node/x")[3 * AT(n / 3, n / 3) + 1];
#undef AT
    world_close(&w);
    return -y / exact;
}

TEST(a_plate_bends_as_kirchhoff_says)
{
    const int finest = check_runs(24, 48);
    double before = 0, off = 0;
    for (int n = 6; n <= finest; n *= 2) {
        before = off;
        off = plate_centre(n) - 1;
        printf("# %d cells: off by %.3g\n", n, off);
        CHECK(n == 6 || fabs(off) < fabs(before) / 2);
    }
    CHECK_NEAR(off, 0, 0.02);
}

/* A strip of equilateral triangles, `rows` of them across and twelve times as long, clamped at one end, sinks under its own
 * weight q.  At a third of its length it is bent by the moment q l^2 / 2 of what hangs beyond, l; a plate of the Poisson ratio
 * nu' of hinges (energy/hinge.h) is bent across by -nu' of that, and lengthwise by the moment over D' (1 - nu'^2).  across: its
 * curvature there over that lengthwise; along: that over the latter. */
static void strip_curvatures(int rows, double *across, double *along)
{
    slender *s = slender_new();
    const int n = (int)lround(12 * rows * sqrt(0.75));
    const double L = 0.01, D = 3 * s->young * pow(s->thick, 3) / (12 * (1 - s->poisson * s->poisson));
    world w;
    s->tol = 1e-14;
    s->gravity[1] = -1e-9;
    const double q = s->density * s->thick * s->gravity[1];
    for (int j = 0; j <= rows; j++)     /* rows alternate; a half cell at either end makes it ragged there */
        for (int i = 0; i <= n; i++) {
            const int32_t v = slender_node(s, L * (i + (j % 2 ? 0.5 : 0)), 0, -L * sqrt(0.75) * j);
            if (i < 2) s->held[s->n_held++] = v;
        }
    for (int j = 0; j < rows; j++)
        for (int i = 0; i < n; i++) {
            const int32_t a = j * (n + 1) + i, b = a + n + 1;
            slender_shell(s, a, a + 1, j % 2 ? b + 1 : b);
            slender_shell(s, j % 2 ? a : a + 1, b + 1, b);
        }
    slender_hinges(s, 0);
    slender_open(&w, s);
    CHECK(!world_judged(&w, 1));
    const double *x = get(&w, "node/x");
    const int mid = rows / 2, at = n / 3;
#define Y(i, j) x[3 * ((j) * (n + 1) + (i)) + 1]
    const double Kx = (Y(at + 1, mid) - 2 * Y(at, mid) + Y(at - 1, mid)) / (L * L);
    const double Kz = (Y(at, mid + 2) - 2 * Y(at, mid) + Y(at, mid - 2)) / (3 * L * L);
#undef Y
    const double beyond = L * (n + 0.25 - at - (mid % 2 ? 0.5 : 0));
    *across = Kz / Kx;
    *along = Kx / (0.5 * q * beyond * beyond / (D * (1 - 1. / 9)));
    world_close(&w);
}

TEST(a_bent_strip_of_equilateral_triangles_bends_across_a_third_as_much)
{
    double across, along;
    strip_curvatures(4, &across, &along);
    printf("# across %.4f of lengthwise, that %.4f of the closed form\n", across, along);
    CHECK_NEAR(across, 1. / 3, 0.005);
    CHECK_NEAR(along, 1, 0.003);
}

/* ---- motion ---- */

/* rows of near-equilateral triangles in the plane y = 0; returns the node at the end of the first row */
static int32_t sheet(slender *s, int cells, double edge)
{
    for (int j = 0; j <= cells; j++)
        for (int i = 0; i <= cells; i++) (void)slender_node(s, edge * (i + (j % 2 ? 0.5 : 0)), 0, -edge * sqrt(0.75) * j);
    for (int j = 0; j < cells; j++)
        for (int i = 0; i < cells; i++) {
            const int32_t a = j * (cells + 1) + i, b = a + cells + 1;
            slender_shell(s, a, a + 1, j % 2 ? b + 1 : b);
            slender_shell(s, j % 2 ? a : a + 1, b + 1, b);
        }
    slender_hinges(s, 0);
    return cells;
}

/* sum m (v' - v), and sum m z x (v' - v) with z where the scheme takes the elastic forces */
static void change(const world *w, const double *x0, const double *v0, double share, double p[3], double l[3])
{
    const double *x = get(w, "node/x"), *v = get(w, "node/v");
    memset(p, 0, 3 * sizeof *p);
    memset(l, 0, 3 * sizeof *l);
    for (int32_t i = 0; i < w->model.nv; i++) {
        const abut_vec3 start = abut_v3_get(x0 + 3 * i), step = abut_v3_sub(abut_v3_get(x + 3 * i), start);
        const abut_vec3 z = abut_v3_axpy(start, share, step);
        const abut_vec3 dp = abut_v3_scale(w->model.mass[i], abut_v3_sub(abut_v3_get(v + 3 * i), abut_v3_get(v0 + 3 * i)));
        abut_v3_put(p, abut_v3_add(abut_v3_get(p), dp));
        abut_v3_put(l, abut_v3_add(abut_v3_get(l), abut_v3_cross(z, dp)));
    }
}

TEST(a_sheet_and_a_rod_in_flight_keep_their_momentum)
{
    for (int k = 0; k < 4; k++) {
        slender *s = slender_new();
        world w;
        abut_rng r = { 31 };
        s->scheme = k % 2 ? ABUT_MIDPOINT : ABUT_IMPLICIT_EULER;
        s->h = 2e-3;
        s->tol = 1e-11;
        if (k < 2) {
            (void)sheet(s, 3, 0.05);
        } else {
            for (int i = 0; i <= 12; i++) (void)slender_node(s, 0.02 * i, 0, 0);
            slender_rod(s, 0, 12);
        }
        for (int i = 0; i < 3 * s->nv; i++) s->v[i] = 2 * (i % 3 == 0) + abut_rng_real(&r, -1, 1);
        const size_t bytes = 3 * (size_t)s->nv * sizeof(double);
        slender_open(&w, s);
        double *x0 = malloc(bytes), *v0 = malloc(bytes), p[3], l[3], size = 0, turn = 0;
        const double share = k % 2 ? 0.5 : 1;
        for (int32_t i = 0; i < w.model.nv; i++) {
            const abut_vec3 q = abut_v3_scale(w.model.mass[i], abut_v3_get(get(&w, "node/v") + 3 * i));
            size += abut_v3_norm(q);
            turn += abut_v3_norm(abut_v3_cross(abut_v3_get(w.model.X + 3 * i), q));
        }
        for (int n = 0; n < 5; n++) {
            memcpy(x0, get(&w, "node/x"), bytes);
            memcpy(v0, get(&w, "node/v"), bytes);
            CHECK(!world_judged(&w, 1));
            change(&w, x0, v0, share, p, l);
            for (int d = 0; d < 3; d++) {
                CHECK_NEAR(p[d], 0, 1e-9 * size);
                CHECK_NEAR(l[d], 0, 1e-9 * turn);
            }
        }
        CHECK(w.rep.elastic > 1e-6);
        free(x0);
        free(v0);
        world_close(&w);
    }
}

TEST(a_hanging_sheet_loses_energy_in_every_step_of_implicit_euler)
{
    slender *s = slender_new();
    world w;
    s->scheme = ABUT_IMPLICIT_EULER;
    s->h = 0.02;
    s->tol = 1e-6;
    s->gravity[1] = -9.81;
    s->thick = 3e-4;
    s->held[s->n_held++] = 0;
    s->held[s->n_held++] = sheet(s, 6, 0.04);
    slender_open(&w, s);
    double before = 0, fastest = 0;
    for (int n = 0; n < 60; n++) {
        CHECK(!world_judged(&w, 1));
        const double E = *get(&w, "energy/kinetic") + *get(&w, "energy/elastic") + *get(&w, "energy/gravity") +
                         *get(&w, "energy/barrier");
        CHECK(n == 0 || E <= before + 1e-9);
        before = E;
        fastest = fmax(fastest, *get(&w, "energy/kinetic"));
    }
    CHECK(*get(&w, "energy/kinetic") < 0.2 * fastest);
    CHECK(get(&w, "node/x")[3 * (w.model.nv - 1) + 1] < -0.15);     /* it has swung down */
    world_close(&w);
}
