/* How far shells may move inside their bounds, against marching along the way. */
#include "check.h"

#include "base/rng.h"
#include "energy/stretch.h"
#include "math/svd3.h"
#include "sparse/packed_inline.h"

static void values(const double F[6], const double G[6], double a, double *low, double *high)
{
    abut_lanes f[6], U[6], s[2], V[4];
    for (int i = 0; i < 6; i++) f[i] = ABUT_LANES_ALL(F[i] + a * G[i]);
    abut_svd32_lanes(f, U, s, V);
    *low = fmin(s[0][0], s[1][0]);
    *high = fmax(s[0][0], s[1][0]);
}

static void draw(abut_rng *r, double F[6], double G[6])
{
    const double size = pow(10, abut_rng_real(r, -3, 1));
    for (int i = 0; i < 6; i++) {
        F[i] = (i == 0 || i == 3) + abut_rng_real(r, -0.3, 0.3);
        G[i] = abut_rng_real(r, -size, size);
    }
}

/* the first of n points of the way where high > most, or 1 */
static double marched(const double F[6], const double G[6], double most, int n)
{
    for (int k = 1; k <= n; k++) {
        double low, high;
        values(F, G, (double)k / n, &low, &high);
        if (high > most) return (double)k / n;
    }
    return 1;
}

TEST(the_step_to_the_upper_limit_is_safe_and_nearly_all_there_is)
{
    abut_rng r = { 1 };
    int bounded = 0;
    for (int k = 0; k < check_runs(2000, 100000); k++) {
        double F[6], G[6], low, high, there;
        draw(&r, F, G);
        values(F, G, 0, &low, &high);
        const double most = high + pow(10, abut_rng_real(&r, -6, 0));
        const double a = abut_stretch_high_of(F, G, most);
        CHECK(a > 0 && a <= 1);
        for (int q = 0; q <= 20; q++) {
            values(F, G, a * q / 20, &low, &there);
            CHECK(there <= most * (1 + 1e-14));
        }
        if (a < 1) {
            values(F, G, fmin(1, 1.0102 * a), &low, &there);
            CHECK(there > most);
            bounded++;
        } else {
            CHECK(marched(F, G, most * (1 + 1e-14), 50) == 1);
        }
    }
    CHECK(bounded > 300);
    const double F[6] = { 1, 0, 0, 1, 0, 0 }, G[6] = { 1 };
    CHECK(abut_stretch_high_of(F, G, 0.9) == 0);
    CHECK_NEAR(abut_stretch_high_of(F, G, 1.25), 0.25, 1e-2 * 0.25);
}

TEST(the_step_to_the_lower_limit_is_safe)
{
    abut_rng r = { 2 };
    int bounded = 0, free_ = 0;
    for (int k = 0; k < check_runs(2000, 100000); k++) {
        double F[6], G[6], low, high, start;
        draw(&r, F, G);
        values(F, G, 0, &start, &high);
        const double least = start * abut_rng_real(&r, 0, 1), a = abut_stretch_low_of(F, G, least);
        CHECK(a > 0 && a <= 1);
        for (int q = 0; q <= 40; q++) {
            values(F, G, a * q / 40, &low, &high);
            CHECK(low >= least * (1 - 1e-13));
        }
        bounded += a < 1;
        free_ += a == 1;
    }
    printf("# %d bounded, %d free\n", bounded, free_);
    CHECK(bounded > 100 && free_ > 300);
    /* straight at it: all of the way but a hundredth of the gap */
    const double F[6] = { 1, 0, 0, 1, 0, 0 }, G[6] = { 0, 0, 0, -1, 0, 0 };
    CHECK_NEAR(abut_stretch_low_of(F, G, 0.4), 0.6, 0.01 * 0.6);
    CHECK(abut_stretch_low_of(F, G, 1.1) == 0);
}

/* One shell whose edges are the columns of F. */
typedef struct tile {
    abut_model m;
    double rest[4], thick, young, poisson, fabric[4], strain[3], limit[4];
    int32_t shell[3], mat, model, membrane;
    abut_codim t;
} tile;

static void tile_open(tile *p, int model, int membrane, const double limit[4])
{
    *p = (tile){ .rest = { 1, 0, 0, 1 }, .thick = 1, .young = 300, .poisson = 0.3, .fabric = { 245, 366, 61, 38 },
                 .strain = { 0.45, 0.4, 0.35 }, .shell = { 0, 1, 2 }, .model = model, .membrane = membrane };
    if (limit) memcpy(p->limit, limit, sizeof p->limit);
    p->m = (abut_model){ .nv = 3, .nm = 1, .nsh = 1, .shell = p->shell, .shell_mat = &p->mat, .shell_thick = &p->thick,
                         .shell_rest = p->rest, .shell_limit = limit ? p->limit : NULL, .mat_model = &p->model,
                         .mat_young = &p->young, .mat_poisson = &p->poisson, .mat_membrane = &p->membrane,
                         .mat_fabric = p->fabric, .mat_strain = p->strain };
    if (abut_codim_init(&p->t, &p->m, NULL)) abort();
}

static void corners(const double F[6], double x[9])
{
    for (int i = 0; i < 3; i++) {
        x[i] = 0;
        x[3 + i] = F[2 * i];
        x[6 + i] = F[2 * i + 1];
    }
}

TEST(cloth_is_bounded_by_its_strains_along_the_way)
{
    abut_rng r = { 3 };
    int bounded[3] = { 0 }, tried = 0;
    tile p;
    tile_open(&p, ABUT_STVK, ABUT_MEMBRANE_CLOTH, NULL);
    for (int k = 0; k < check_runs(3000, 100000); k++) {
        double F[6], G[6], x[9], d[9], y[9];
        abut_codim_excess e;
        draw(&r, F, G);
        corners(F, x);
        corners(G, d);
        if (abut_codim_outside(&p.t, x, &e)) continue;
        tried++;
        abut_limit lim = { .alpha = 1 };
        abut_limit_stretch(&p.t, x, d, 0.2, &lim);
        CHECK(lim.alpha > 0 && (lim.alpha == 1) == (lim.kind == ABUT_LIMIT_NONE));
        for (int q = 0; q <= 20; q++) {
            for (int i = 0; i < 9; i++) y[i] = x[i] + lim.alpha * q / 20 * d[i];
            CHECK(!abut_codim_outside(&p.t, y, &e));
        }
        if (lim.alpha == 1) continue;
        CHECK(lim.kind == ABUT_LIMIT_STRETCH && lim.tet == 0 && lim.node[2] == 2 && lim.node[3] == -1);
        /* some strain has used four fifths of what was left to it */
        int which = -1;
        for (int c = 0; c < 3; c++) {
            double e0 = c < 2 ? -0.5 : 0, e1 = e0;
            for (int i = 0; i < 3; i++) {
                const int a = c == 1, b = c > 0;
                e0 += 0.5 * x[3 + 3 * a + i] * x[3 + 3 * b + i];
                e1 += 0.5 * y[3 + 3 * a + i] * y[3 + 3 * b + i];
            }
            if (fabs(fabs(e1) - (p.strain[c] - 0.2 * (p.strain[c] - fabs(e0)))) < 1e-8) which = c;
        }
        CHECK(which >= 0);
        if (which >= 0) bounded[which]++;
    }
    CHECK(tried > 500 && bounded[0] > 20 && bounded[1] > 20 && bounded[2] > 20);
    abut_codim_clear(&p.t);
}

TEST(a_step_leaves_its_share_of_the_room)
{
    abut_rng r = { 4 };
    const double limit[4] = { 0.6, 0.9, 1, 1.4 };
    tile p;
    int upper = 0, lower = 0;
    tile_open(&p, ABUT_STVK, ABUT_MEMBRANE_ISOTROPIC, limit);
    for (int k = 0; k < check_runs(3000, 100000); k++) {
        double F[6], G[6], x[9], d[9], low, high, low1, high1;
        abut_codim_excess e;
        draw(&r, F, G);
        corners(F, x);
        corners(G, d);
        if (abut_codim_outside(&p.t, x, &e)) continue;
        abut_limit lim = { .alpha = 1 };
        abut_limit_stretch(&p.t, x, d, 0.2, &lim);
        values(F, G, 0, &low, &high);
        values(F, G, lim.alpha, &low1, &high1);
        CHECK(limit[3] - high1 >= 0.2 * (limit[3] - high) * (1 - 1e-12));
        CHECK(low1 - limit[0] >= 0.2 * (low - limit[0]) * (1 - 1e-12));
        if (lim.alpha == 1) continue;
        const int up = limit[3] - high1 < 0.25 * (limit[3] - high), down = low1 - limit[0] < 0.25 * (low - limit[0]);
        upper += up;
        lower += down;
    }
    CHECK(upper > 100 && lower > 20);
    abut_codim_clear(&p.t);
}

TEST(a_neo_hookean_shell_is_not_crushed_to_a_line)
{
    const double F[6] = { 1, 0, 0, 1, 0, 0 }, G[6] = { 0, 0, 0, -3, 0, 0 };
    double x[9], d[9];
    corners(F, x);
    corners(G, d);
    for (int model = 0; model < 2; model++) {
        tile p;
        tile_open(&p, model ? ABUT_STVK : ABUT_NEO_HOOKEAN, ABUT_MEMBRANE_ISOTROPIC, NULL);
        abut_limit lim = { .alpha = 1 };
        abut_limit_stretch(&p.t, x, d, 0.2, &lim);
        if (model) CHECK(lim.alpha == 1 && lim.kind == ABUT_LIMIT_NONE);
        else CHECK_NEAR(lim.alpha, 0.8 / 3, 0.01);
        abut_codim_clear(&p.t);
    }
}

TEST(what_is_outside_is_named)
{
    const double limit[4] = { 0.6, 0.9, 1, 1.4 };
    static const struct {
        double F[6];
        const char *what;
        double value, limit;
        int below;
    } out[] = { { { 1.5, 0, 0, 1, 0, 0 }, "largest stretch", 1.5, 1.4, 0 },
                { { 1, 0, 0, 0.5, 0, 0 }, "smallest stretch", 0.5, 0.6, 1 },
                { { 1, 1, 0, 0, 0, 0 }, "smallest stretch", 0, 0, 1 } };
    for (int k = 0; k < 3; k++) {
        tile p;
        double x[9];
        abut_codim_excess e;
        tile_open(&p, ABUT_STVK, ABUT_MEMBRANE_ISOTROPIC, k < 2 ? limit : NULL);
        corners(out[k].F, x);
        CHECK(abut_codim_outside(&p.t, x, &e) && e.shell == 0 && !strcmp(e.what, out[k].what) && e.below == out[k].below);
        CHECK_NEAR(e.value, out[k].value, 1e-12);
        CHECK_NEAR(e.limit, out[k].limit, 1e-12);
        abut_codim_clear(&p.t);
    }
    tile p;
    double x[9] = { 0, 0, 0, sqrt(0.05), 0, 0, 0, 1, 0 };
    abut_codim_excess e;
    tile_open(&p, ABUT_STVK, ABUT_MEMBRANE_CLOTH, NULL);
    CHECK(abut_codim_outside(&p.t, x, &e) && !strcmp(e.what, "strain along warp") && e.below);
    CHECK_NEAR(e.value, -0.475, 1e-12);
    CHECK_NEAR(e.limit, -0.45, 1e-12);
    abut_codim_clear(&p.t);
}

/* ---- limits that a direction meets ---- */

enum { PACKED = 90 };    /* numbers of a Hessian of four corners */

/* u.H u of the tile. */
static double form(const double H[PACKED], const double u[9])
{
    double sum = 0;
    for (int a = 0; a < 3; a++)
        for (int b = a; b < 3; b++) {
            const double *h = H + 9 * abut_packed_block(4, a, b);
            for (int i = 0; i < 9; i++) sum += (a == b ? 1 : 2) * u[3 * a + i / 3] * h[i] * u[3 * b + i % 3];
        }
    return sum;
}

static double energy_at(const tile *p, const double x[9], double a, const double d[9], abut_arena *scratch)
{
    double y[9], e = 0;
    for (int i = 0; i < 9; i++) y[i] = x[i] + a * d[i];
    CHECK(!abut_codim_energy(&p->t, y, ABUT_CODIM_ALL, 1e12, &e, scratch, NULL));
    return e;
}

/* of a rotated diag(s) */
static void stretched(double s, double t, double angle, double F[6])
{
    const double c = cos(angle), n = sin(angle), A[6] = { c * s, -n * t, n * s, c * t, 0, 0 };
    memcpy(F, A, sizeof A);
}

TEST(limits_ahead_are_the_slope_of_the_barriers_where_a_direction_leads)
{
    /* slack: a twentieth of the barrier beyond its begin; in the barrier: two fifths of what is left to the limit */
    static const struct { double s, t, ds, dt, c; } cases[] = {
        { 0.95, 0.7, 0.2, 0, 1.0005 }, { 1.003, 0.7, 0.2, 0, 1.0058 }, { 0.7, 0.95, 0, 0.2, 1.0005 },
        { 0.95, 0.95, 0.2, 0.2, 1.0005 },
    };
    const double limit[4] = { 0, 0, 1, 1.01 };
    abut_arena scratch = { 0 };
    tile p;
    tile_open(&p, ABUT_STVK, ABUT_MEMBRANE_ISOTROPIC, limit);
    abut_stretch_ahead ahead;
    CHECK(!abut_stretch_ahead_init(&ahead, &p.m, NULL));
    for (int k = 0; k < 4; k++) {
        double F[6], G[6], x[9], d[9], g[9] = { 0 }, H[PACKED] = { 0 }, slope = 0;
        stretched(cases[k].s, cases[k].t, 0.4, F);
        stretched(cases[k].ds, cases[k].dt, 0.4, G);
        corners(F, x);
        corners(G, d);
        CHECK(abut_stretch_ahead_take(&ahead, &p.t, x, d) && ahead.any);
        CHECK(!abut_codim_gradient(&p.t, x, ABUT_CODIM_ALL, 1e12, 1, g, &scratch, NULL));
        abut_stretch_ahead_gradient(&ahead, &p.t, x, 1e12, 1, g);
        abut_codim_hessian_ahead(&p.t, x, ABUT_CODIM_ALL, 1e12, 1, NULL, &ahead, H);
        const double from = fmax(cases[k].ds > 0 ? cases[k].s : 0, cases[k].dt > 0 ? cases[k].t : 0);
        const double a = (cases[k].c - from) / 0.2;
        for (int i = 0; i < 9; i++) slope += g[i] * d[i];
        const double there = (energy_at(&p, x, a + 1e-6, d, &scratch) - energy_at(&p, x, a - 1e-6, d, &scratch)) / 2e-6;
        CHECK(there > 1e6);
        CHECK_NEAR((slope + a * form(H, d)) / there, 1, 1e-5);
    }
    abut_arena_clear(&scratch);
    abut_stretch_ahead_clear(&ahead);
    abut_codim_clear(&p.t);
}

TEST(directions_that_lead_no_shell_far_beyond_its_limit_leave_the_hessian_as_it_is)
{
    const double limit[4] = { 0, 0, 1, 1.01 };
    double F[6], G[6], x[9], d[9], H[2][PACKED] = { { 0 }, { 0 } };
    tile p;
    tile_open(&p, ABUT_STVK, ABUT_MEMBRANE_ISOTROPIC, limit);
    abut_stretch_ahead ahead;
    CHECK(!abut_stretch_ahead_init(&ahead, &p.m, NULL));
    stretched(0.95, 0.9, 1.1, F);
    stretched(2 * 0.0505 * 0.99, 0, 1.1, G);    /* 1.0005 - 0.95 is how far it may lead */
    corners(F, x);
    corners(G, d);
    CHECK(!abut_stretch_ahead_take(&ahead, &p.t, x, d) && !ahead.any);
    abut_codim_hessian_ahead(&p.t, x, ABUT_CODIM_ALL, 1e3, 1, NULL, &ahead, H[0]);
    abut_codim_hessian_ahead(&p.t, x, ABUT_CODIM_ALL, 1e3, 1, NULL, NULL, H[1]);
    CHECK(!memcmp(H[0], H[1], sizeof H[0]));
    for (int i = 0; i < 9; i++) d[i] *= 1.03;
    CHECK(abut_stretch_ahead_take(&ahead, &p.t, x, d));
    abut_codim_hessian_ahead(&p.t, x, ABUT_CODIM_ALL, 1e3, 1, NULL, &ahead, H[0]);
    CHECK(form(H[0], d) > form(H[1], d));
    /* no upper limit, no room for tangents */
    const double lower[4] = { 0.5, 0.6, 0, 0 };
    tile q;
    tile_open(&q, ABUT_STVK, ABUT_MEMBRANE_ISOTROPIC, lower);
    abut_stretch_ahead none;
    CHECK(!abut_stretch_ahead_init(&none, &q.m, NULL) && !none.of);
    CHECK(!abut_stretch_ahead_take(&none, &q.t, x, d));
    abut_stretch_ahead_clear(&ahead);
    abut_codim_clear(&p.t);
    abut_codim_clear(&q.t);
}
