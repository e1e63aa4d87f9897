/* Shells and hinges on a machine against energy/codim.h and energy/stretch.h. */
#include "base/par.h"
#include "base/rng.h"
#include "check.h"
#include "energy/hinge.h"
#include "energy/membrane.h"
#include "energy/stretch.h"
#include "gpu/elements.h"
#include "math/elementary_inline.h"
#include "math/lanes.h"
#include "sparse/bsr.h"
#include "math/svd3_inline.h"
#include "math/svd3.h"
#include "sparse/packed_lanes.h"
#include "machine_open.h"

enum { LAWS = 6, CLOTH = 4 };       /* StVK, neo-Hookean, fixed corotated, orthotropic, cloth, Baraff-Witkin */

/* A square of side x side cells of two triangles, laws one after the other, hinges at diagonals and rows. */
typedef struct world {
    abut_model m;
    abut_codim codim;
    abut_queue q;
    abut_gpu_codim s;
    size_t nv, n;
    int32_t model[LAWS], membrane[LAWS];
    double young[LAWS], poisson[LAWS], fabric[4 * LAWS], strain[3 * LAWS], compression[LAWS];
    int32_t *shell, *mat, *hinge;
    double *thick, *rest, *stiffness, *angle, *limit, *x, *p;
    abut_buffer dx, dp, out, scalar;
} world;

static abut_err err;
static int limited;             /* 1: stretches have limits */
static double bw_shear = 380;   /* Pa: of Baraff and Witkin; what is not 0 is never convex */

static void materials(world *w)
{
    const int32_t model[LAWS] = { ABUT_STVK, ABUT_NEO_HOOKEAN, ABUT_FIXED_COROTATED, ABUT_STVK, ABUT_STVK, ABUT_STVK };
    const int32_t membrane[LAWS] = { 0, 0, 0, ABUT_MEMBRANE_ORTHOTROPIC, ABUT_MEMBRANE_CLOTH, ABUT_MEMBRANE_BARAFF_WITKIN };
    const double fabric[4] = { 2450, 3660, 610, 380 }, strain[3] = { 0.45, 0.4, 0.35 };
    for (int i = 0; i < LAWS; i++) {
        w->model[i] = model[i];
        w->membrane[i] = membrane[i];
        w->compression[i] = 0.1;
        w->young[i] = 3000 + 100 * i;
        w->poisson[i] = 0.3;
        memcpy(w->fabric + 4 * i, fabric, sizeof fabric);
        if (membrane[i] == ABUT_MEMBRANE_BARAFF_WITKIN) w->fabric[4 * i + 3] = bw_shear;
        memcpy(w->strain + 3 * i, strain, sizeof strain);
    }
}

static void stencils(world *w, int32_t side)
{
    abut_model *m = &w->m;
    const int32_t row = side + 1;
    for (int32_t i = 0; i < side * side; i++) {
        const int32_t a = i / side * row + i % side, b = a + 1, c = a + row, d = c + 1;
        const int32_t two[6] = { a, b, c, d, c, b }, fold[4] = { b, c, d, a };
        memcpy(w->shell + 3 * m->nsh, two, sizeof two);
        m->nsh += 2;
        memcpy(w->hinge + 4 * m->nhg++, fold, sizeof fold);
        if (i < side) continue;
        const int32_t across[4] = { a, b, c, b - row };
        memcpy(w->hinge + 4 * m->nhg++, across, sizeof across);
    }
}

static void elements(world *w, abut_rng *r)
{
    for (int32_t i = 0; i < w->m.nsh; i++) {
        const double R[4] = { 0.1, abut_rng_real(r, -0.02, 0.02), abut_rng_real(r, -0.02, 0.02), 0.1 };
        memcpy(w->rest + 4 * i, R, sizeof R);
        w->mat[i] = i % LAWS;
        w->thick[i] = abut_rng_real(r, 1e-3, 2e-3);
    }
    for (int32_t i = 0; i < w->m.nhg; i++) {
        w->stiffness[i] = abut_rng_real(r, 1e-3, 2e-3);
        w->angle[i] = abut_rng_real(r, -0.5, 0.5);
    }
}

/* rows from both sides, one and none, whose barriers begin where many a shell is */
static void limits(world *w)
{
    for (int32_t i = 0; i < w->m.nsh; i++)
        for (int32_t k = 0; k < 4; k++)
            w->limit[4 * i + k] = i / LAWS % 4 & (k < 2 ? 1 : 2) ? (const double[]){ 0.3, 1, 0.95, 1.7 }[k] : 0;
    w->m.shell_limit = w->limit;
}

static void positions(world *w, int32_t side, double stretch, double noise, abut_rng *r)
{
    for (size_t i = 0; i < w->nv; i++) {
        const size_t row = (size_t)side + 1;
        const double flat[3] = { 0.1 * stretch * (double)(i % row), 0.1 * stretch * (double)(i / row), 0 };
        for (size_t k = 0; k < 3; k++) w->x[3 * i + k] = flat[k] + abut_rng_real(r, -noise, noise);
    }
}

static void put_x(world *w) { CHECK(!w->q.on->put(&w->q, w->dx.at, w->x, w->n * sizeof *w->x, &err)); }

static void world_open(world *w)
{
    CHECK(!abut_codim_init(&w->codim, &w->m, &err));
    CHECK(!machine_open(&w->q, &err) && !abut_gpu_codim_init(&w->s, &w->q, &w->codim, &err));
    CHECK(!abut_buffer_put(&w->q, &w->dx, "x", w->x, w->n, sizeof *w->x, &err));
    CHECK(!abut_buffer_put(&w->q, &w->dp, "p", w->p, w->n, sizeof *w->p, &err));
    CHECK(!abut_buffer_need(&w->q, &w->out, "out", w->n, sizeof(double), &err));
    CHECK(!abut_buffer_need(&w->q, &w->scalar, "scalar", 1, sizeof(double), &err));
}

static void world_make(world *w, int32_t side, double stretch, double noise)
{
    const size_t cells = (size_t)(side * side);
    *w = (world){ .nv = (size_t)((side + 1) * (side + 1)), .n = 3 * (size_t)((side + 1) * (side + 1)) };
    abut_rng r = { 5 };
    w->shell = malloc(6 * cells * sizeof *w->shell), w->hinge = malloc(8 * cells * sizeof *w->hinge);
    w->mat = malloc(2 * cells * sizeof *w->mat), w->thick = malloc(2 * cells * sizeof *w->thick);
    w->rest = malloc(8 * cells * sizeof *w->rest);
    w->stiffness = malloc(2 * cells * sizeof *w->stiffness), w->angle = malloc(2 * cells * sizeof *w->angle);
    w->x = malloc(w->n * sizeof *w->x), w->p = malloc(w->n * sizeof *w->p);
    materials(w);
    w->m = (abut_model){ .nv = (int32_t)w->nv, .nm = LAWS, .shell = w->shell, .shell_mat = w->mat, .shell_thick = w->thick,
                         .shell_rest = w->rest, .mat_model = w->model, .mat_young = w->young, .mat_poisson = w->poisson,
                         .mat_membrane = w->membrane, .mat_fabric = w->fabric, .mat_strain = w->strain,
                         .mat_compression = w->compression, .hinge = w->hinge,
                         .hinge_stiffness = w->stiffness, .hinge_angle = w->angle };
    stencils(w, side);
    elements(w, &r);
    positions(w, side, stretch, noise, &r);
    for (size_t i = 0; i < w->n; i++) w->p[i] = abut_rng_real(&r, -0.1, 0.1);
    w->limit = malloc(4 * (size_t)w->m.nsh * sizeof *w->limit);
    if (limited) limits(w);
    world_open(w);
}

static void world_free(world *w)
{
    abut_gpu_codim_clear(&w->s);
    abut_buffer_clear(&w->q, &w->dx), abut_buffer_clear(&w->q, &w->dp);
    abut_buffer_clear(&w->q, &w->out), abut_buffer_clear(&w->q, &w->scalar);
    CHECK(w->q.bytes == 0);
    abut_queue_close(&w->q);
    abut_codim_clear(&w->codim);
    free(w->shell), free(w->hinge), free(w->mat), free(w->thick), free(w->rest), free(w->stiffness), free(w->angle);
    free(w->x), free(w->p), free(w->limit);
}

static double energy_of(world *w)
{
    double v = NAN;
    CHECK(!abut_gpu_codim_energy(&w->s, w->dx.at, w->scalar.at, &err));
    CHECK(!w->q.on->get(&w->q, &v, w->scalar.at, sizeof v, &err));
    return v;
}

/* sums of absolutes of the forces of elements at each node and axis */
static double *sizes_of(world *w)
{
    double *f = malloc(12 * w->s.n * sizeof *f), *sum = calloc(w->n, sizeof *sum);
    CHECK(!w->q.on->get(&w->q, f, w->s.force.at, 12 * w->s.n * sizeof *f, &err));
    for (size_t c = 0; c < 4 * w->s.n; c++)
        for (size_t k = 0; k < 3 && w->codim.node[c] >= 0; k++) sum[3 * (size_t)w->codim.node[c] + k] += fabs(f[3 * c + k]);
    free(f);
    return sum;
}

static void check_forces(void)
{
    for (int k = 0; k < 3; k++) {
        world w;
        abut_arena a = { 0 };
        double E = NAN;
        world_make(&w, 12, k == 2 ? 0.9 : 1.05, k ? 4e-3 : 1e-3);
        const double kappa = k ? ABUT_STRAIN_KAPPA_MIN + 170 : ABUT_STRAIN_KAPPA_MIN;
        if (k) w.s.kappa = kappa;
        double *g = calloc(w.n, sizeof *g), *h = malloc(w.n * sizeof *h);
        CHECK(!abut_codim_energy(&w.codim, w.x, ABUT_CODIM_ALL, kappa, &E, &a, NULL) && isfinite(E));
        CHECK(!abut_codim_gradient(&w.codim, w.x, ABUT_CODIM_ALL, kappa, 0.25, g, &a, NULL));
        CHECK_NEAR(energy_of(&w), E, 1e-13 * E);
        double *size = sizes_of(&w);
        for (int again = 0; again < 2; again++) {
            CHECK(!w.q.on->fill(&w.q, w.out.at, 0, w.n * sizeof *h, &err));
            CHECK(!abut_gpu_codim_gradient(&w.s, again ? w.dx.at : NULL, 0.25, w.out.at, &err));
            CHECK(!w.q.on->get(&w.q, h, w.out.at, w.n * sizeof *h, &err));
            for (size_t i = 0; i < w.n; i++) CHECK_NEAR(h[i], g[i], 1e-13 * size[i]);
        }
        free(g), free(h), free(size);
        abut_arena_clear(&a);
        world_free(&w);
    }
}

TEST(energy_and_forces_are_those_of_the_processor)
{
    for (limited = 0; limited < 2; limited++) check_forces();
    limited = 0;
}

/* the matrices of elements, as the machine gives them */
static double *hessians_of(world *w, double scale)
{
    double *H = malloc(ABUT_PACKED * w->s.n * sizeof *H);
    CHECK(!abut_gpu_codim_hessian(&w->s, w->dx.at, scale, 0, &err));
    CHECK(!w->q.on->get(&w->q, H, w->s.H.at, ABUT_PACKED * w->s.n * sizeof *H, &err));
    return H;
}

static void check_hessians(void)
{
    for (int k = 0; k < 2; k++) {
        world w;
        world_make(&w, 12, k ? 0.9 : 1.02, 5e-3);       /* where some are projected, in the plane and across it */
        double *want = calloc(ABUT_PACKED * w.s.n, sizeof *want), *H = hessians_of(&w, 0.3);
        abut_codim_hessian(&w.codim, w.x, ABUT_CODIM_ALL, w.s.kappa, 0.3, want);
        for (size_t e = 0; e < w.s.n; e++) {
            const double *A = want + ABUT_PACKED * e, *B = H + ABUT_PACKED * e, size = abut_largest(A, ABUT_PACKED);
            const int shell = e < w.s.shells;
            CHECK(size > 0);
            for (int i = 0; i < ABUT_PACKED; i++) CHECK_NEAR(B[i], A[i], shell ? 1e-13 * size : 0);
        }
        free(want), free(H);
        world_free(&w);
    }
}

TEST(hessians_are_those_of_the_processor)
{
    for (limited = 0; limited < 2; limited++) check_hessians();
    limited = 0;
}

/* sum of the products of matrices of elements */
static void multiply(const world *w, const double *H, const double *v, double *out)
{
    memset(out, 0, w->n * sizeof *out);
    for (size_t e = 0; e < w->s.n; e++)
        for (size_t a = 0, pair = 0; a < 4; a++)
            for (size_t b = a; b < 4; b++, pair++) {
                const int32_t p = w->codim.node[4 * e + a], q = w->codim.node[4 * e + b];
                const double *K = H + ABUT_PACKED * e + 9 * pair;
                for (size_t d = 0; d < 9 && p >= 0 && q >= 0; d++) {
                    const size_t i = 3 * (size_t)p + d / 3, j = 3 * (size_t)q + d % 3;
                    out[i] += K[d] * v[j];
                    if (a != b) out[j] += K[d] * v[i];
                }
            }
}

TEST(hessians_that_need_no_projection_are_derivatives_of_the_forces)
{
    world w;
    const double step = 1e-6;
    bw_shear = 0;
    world_make(&w, 6, 1.15, 1e-3);
    bw_shear = 380;
    for (int32_t i = 0; i < w.m.nhg; i++) {     /* no moment: nothing to project */
        double x[12];
        for (size_t c = 0; c < 12; c++) x[c] = w.x[3 * (size_t)w.hinge[4 * i + (int32_t)c / 3] + c % 3];
        w.angle[i] = abut_hinge_theta(x, NULL);
    }
    CHECK(!w.q.on->put(&w.q, w.s.angle.at, w.angle, (size_t)w.m.nhg * sizeof *w.angle, &err));
    double *H = hessians_of(&w, 1), *Hp = malloc(w.n * sizeof *Hp), *g[2], *x = malloc(w.n * sizeof *x);
    multiply(&w, H, w.p, Hp);
    memcpy(x, w.x, w.n * sizeof *x);
    for (int k = 0; k < 2; k++) {
        g[k] = malloc(w.n * sizeof *g[k]);
        for (size_t i = 0; i < w.n; i++) w.x[i] = x[i] + (k ? step : -step) * w.p[i];
        put_x(&w);
        CHECK(!w.q.on->fill(&w.q, w.out.at, 0, w.n * sizeof *x, &err));
        CHECK(!abut_gpu_codim_gradient(&w.s, w.dx.at, 1, w.out.at, &err));
        CHECK(!w.q.on->get(&w.q, g[k], w.out.at, w.n * sizeof *x, &err));
    }
    const double size = abut_largest(Hp, w.n);
    for (size_t i = 0; i < w.n; i++) CHECK_NEAR((g[1][i] - g[0][i]) / (2 * step), Hp[i], 1e-7 * size);
    free(H), free(Hp), free(g[0]), free(g[1]), free(x);
    world_free(&w);
}

TEST(what_has_no_energy_is_infinite)
{
    world w;
    world_make(&w, 4, 1.02, 1e-3);
    const double at[3] = { w.x[0], w.x[1], w.x[2] };
    CHECK(isfinite(energy_of(&w)));
    for (int k = 0; k < 3; k++) {
        if (k == 0) memcpy(w.x, w.x + 3, sizeof at);    /* the first shell is a line */
        if (k == 1) w.x[1] = NAN;
        if (k == 2) w.x[3 * 2] += 0.2;                  /* cloth is stretched too far: shells 2 to 4 have node 2 */
        put_x(&w);
        CHECK(isinf(energy_of(&w)) && energy_of(&w) > 0);
        memcpy(w.x, at, sizeof at);
    }
    world_free(&w);
}

TEST(a_hinge_whose_wing_is_a_line_is_infinite_and_without_force)
{
    world w;
    world_make(&w, 2, 1.02, 1e-3);
    const int32_t fold[4] = { 0, 1, 4, 0 };             /* its second wing has no area */
    memcpy(w.hinge, fold, sizeof fold);
    abut_gpu_codim_clear(&w.s);
    abut_codim_clear(&w.codim);
    CHECK(!abut_codim_init(&w.codim, &w.m, &err) && !abut_gpu_codim_init(&w.s, &w.q, &w.codim, &err));
    CHECK(isinf(energy_of(&w)) && energy_of(&w) > 0);
    double f[12], *H = hessians_of(&w, 1);
    CHECK(!w.q.on->get(&w.q, f, (double *)w.s.force.at + 12 * w.s.shells, sizeof f, &err));
    for (int i = 0; i < 12; i++) CHECK(f[i] == 0);
    for (size_t i = 0; i < ABUT_PACKED; i++) CHECK(H[ABUT_PACKED * w.s.shells + i] == 0);
    free(H);
    world_free(&w);
}

TEST(bounds_are_those_of_the_processor)
{
    world w;
    int bound[2] = { 0, 0 };
    world_make(&w, 12, 1.02, 2e-3);
    for (int k = 0; k < 6; k++) {
        abut_limit want = { .alpha = k == 5 ? 1e-3 : 1, .tet = -1 }, got = want;
        for (size_t i = 0; i < w.n; i++) w.p[i] *= k == 3 ? 1e-3 : 0.7;
        if (k == 2)
            for (int32_t i = 0; i < w.m.nsh; i++) w.mat[i] = w.mat[i] == CLOTH ? 1 : w.mat[i];  /* the area alone */
        CHECK(!w.q.on->put(&w.q, w.s.material.at, w.mat, (size_t)w.m.nsh * sizeof *w.mat, &err));
        CHECK(!w.q.on->put(&w.q, w.dp.at, w.p, w.n * sizeof *w.p, &err));
        abut_limit_stretch(&w.codim, w.x, w.p, 0.5, &want);
        CHECK(!abut_gpu_codim_bound(&w.s, w.dx.at, w.dp.at, 0.5, &got, &err));
        CHECK(got.alpha == want.alpha && got.kind == want.kind && got.tet == want.tet);
        CHECK(!memcmp(got.node, want.node, sizeof got.node));
        if (want.kind == ABUT_LIMIT_STRETCH) bound[w.membrane[w.mat[want.tet]] == ABUT_MEMBRANE_CLOTH]++;
    }
    CHECK(bound[0] > 0 && bound[1] > 0);
    world_free(&w);
}

TEST(all_have_the_same_bytes_for_every_thread_count_and_order)
{
    world w;
    const int threads = abut_threads();
    double *one, *got, *H[2], E = 0;
    world_make(&w, 20, 1.02, 4e-3);
    one = malloc(w.n * sizeof *one), got = malloc(w.n * sizeof *got);
    for (int k = 0; k < 4; k++) {
        abut_threads_set((int[]){ 1, 2, 7, 1 }[k]);
        w.q.shuffle = k == 3 ? 12345 : 0;
        CHECK(!w.q.on->fill(&w.q, w.out.at, 0, w.n * sizeof *got, &err));
        const double now = energy_of(&w);
        CHECK(!abut_gpu_codim_gradient(&w.s, NULL, 1, w.out.at, &err));
        CHECK(!w.q.on->get(&w.q, k ? got : one, w.out.at, w.n * sizeof *got, &err));
        H[k > 0] = hessians_of(&w, 1);
        if (!k) E = now;
        CHECK(!k || (!memcmp(one, got, w.n * sizeof *got) && now == E));
        CHECK(!k || !memcmp(H[0], H[1], ABUT_PACKED * w.s.n * sizeof **H));
        if (k) free(H[1]);
    }
    abut_threads_set(threads);
    free(one), free(got), free(H[0]);
    world_free(&w);
}

TEST(stretch_limits_bound_directions_and_have_the_room_of_the_processor)
{
    world w;
    abut_arena scratch = { 0 };
    abut_codim_stretch now;
    double room;
    int bound = 0;
    limited = 1;
    world_make(&w, 12, 1.02, 2e-3);
    for (int k = 0; k < 5; k++) {
        abut_limit want = { .alpha = 1, .tet = -1 }, got = want;
        for (size_t i = 0; i < w.n; i++) w.p[i] = k % 2 ? 0.4 * k * w.x[i] : (i * 7919 % 100 - 50.) * 1e-3 * k;
        CHECK(!w.q.on->put(&w.q, w.dp.at, w.p, w.n * sizeof *w.p, &err));
        abut_limit_stretch(&w.codim, w.x, w.p, 0.5, &want);
        CHECK(!abut_gpu_codim_bound(&w.s, w.dx.at, w.dp.at, 0.5, &got, &err));
        CHECK(got.alpha == want.alpha && got.kind == want.kind && got.tet == want.tet);
        bound += want.kind == ABUT_LIMIT_STRETCH && w.limit[4 * want.tet + 3] > 0;
        CHECK(!abut_codim_stretch_find(&w.codim, w.x, &now, &scratch, &err));
        CHECK(!abut_gpu_codim_room(&w.s, w.dx.at, &room, &err));
        CHECK(room == now.room && room < 1);
    }
    CHECK(bound > 0);
    w.x[3 * 7 + 2] += 0.3;      /* beyond a limit: nothing is left */
    put_x(&w);
    CHECK(isinf(energy_of(&w)) && !abut_gpu_codim_room(&w.s, w.dx.at, &room, &err) && room < 0);
    limited = 0;
    abut_arena_clear(&scratch);
    world_free(&w);
}

TEST(no_shells_are_nothing)
{
    world w;
    abut_gpu_codim s;
    world_make(&w, 2, 1, 0);
    const abut_codim none = { .model = &w.m };
    abut_limit lim = { .alpha = 1 };
    CHECK(!abut_gpu_codim_init(&s, &w.q, &none, &err));
    CHECK(!abut_gpu_codim_energy(&s, w.dx.at, w.scalar.at, &err) && !abut_gpu_codim_hessian(&s, w.dx.at, 1, 0, &err));
    CHECK(!abut_gpu_codim_gradient(&s, w.dx.at, 1, w.out.at, &err));
    CHECK(!abut_gpu_codim_bound(&s, w.dx.at, w.dp.at, 0.5, &lim, &err) && lim.alpha == 1);
    abut_gpu_codim_clear(&s);
    world_free(&w);
}

TEST(angles_and_singular_values_of_one_have_the_bits_of_four)
{
    abut_rng r = { 9 };
    for (int k = 0; k < 2000; k++) {
        const double special[4] = { 0., -0., 1e-300, 3 }, y = k < 16 ? special[k % 4] : abut_rng_real(&r, -1, 1);
        const double x = k < 16 ? special[k / 4] : abut_rng_real(&r, -1, 1), one = abut_atan2(y, x);
        abut_lanes angle, f[6], U[6], s[2], V[4];
        double F[6], u[6], t[2], v[4];
        abut_atan2_lanes(&ABUT_LANES_ALL(y), &ABUT_LANES_ALL(x), &angle);
        CHECK(isnan(one) ? isnan(angle[0]) : !memcmp(&one, &(double){ angle[0] }, sizeof one));
        for (int i = 0; i < 6; i++) F[i] = abut_rng_real(&r, -1, 1) * (k % 5 == 0 && i % 2 ? 1e-9 : 1);
        if (k % 7 == 0) F[1] = F[3] = F[4] = 0;         /* columns at a right angle */
        for (int i = 0; i < 6; i++) f[i] = ABUT_LANES_ALL(F[i]);
        abut_thin_svd_one(F, u, t, v);
        abut_svd32_lanes(f, U, s, V);
        for (int i = 0; i < 6; i++) CHECK(u[i] == U[i][0]);
        for (int i = 0; i < 4; i++) CHECK(v[i] == V[i][0]);
        CHECK(t[0] == s[0][0] && t[1] == s[1][0]);
    }
}
