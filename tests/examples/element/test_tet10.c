/* The term tet10 (lib/energy/tet10.c) on a box of distorted elements. */
#include "base/rng.h"
#include "check.h"
#include "energy/term.h"
#include "kuhn.h"

enum { MOST = 400, TETS = 48 };     /* 2^3 cells */

static struct world {
    kuhn_box box;
    abut_model m;
    double X[3 * MOST], x[3 * MOST], g[3 * MOST];
    int32_t row[11 * TETS], edge[MOST][2];
    abut_terms terms;
    abut_arena scratch;
    abut_err err;
} w;
extern const abut_term_ops abut_term_tet10;
static void *self;

/* the node in the middle of an edge */
static int32_t middle(int32_t a, int32_t b)
{
    const int32_t first = w.box.model.nv;
    for (int32_t i = first; i < w.m.nv; i++)
        if ((w.edge[i][0] == a && w.edge[i][1] == b) || (w.edge[i][0] == b && w.edge[i][1] == a)) return i;
    const int32_t i = w.m.nv++;
    w.edge[i][0] = a, w.edge[i][1] = b;
    for (int k = 0; k < 3; k++) w.X[3 * i + k] = (w.X[3 * a + k] + w.X[3 * b + k]) / 2;
    return i;
}

SETUP
{
    static const int edge[6][2] = { { 0, 1 }, { 1, 2 }, { 0, 2 }, { 0, 3 }, { 1, 3 }, { 2, 3 } };
    kuhn_build(&w.box, 2, 0.1, 0.1, 4);
    w.m = w.box.model;
    memcpy(w.X, w.m.X, 3 * (size_t)w.m.nv * sizeof *w.X);
    for (int t = 0; t < w.m.nt; t++) {
        const int32_t *v = w.m.tet + 4 * t;
        int32_t *row = w.row + 11 * t;
        row[0] = w.m.tet_mat[t];
        for (int a = 0; a < 4; a++) row[1 + a] = v[a];
        for (int e = 0; e < 6; e++) row[5 + e] = middle(v[edge[e][0]], v[edge[e][1]]);
    }
    w.m.X = w.X, w.m.tet10 = w.row, w.m.ntt = w.m.nt, w.m.nt = 0;
    const abut_term_world world = { .model = &w.m };
    if (abut_term_tet10.make(&self, &world, &w.err)) printf("# %s\n", w.err.msg);
}

TEARDOWN
{
    abut_term_tet10.free(self);
    abut_arena_clear(&w.scratch);
    kuhn_free(&w.box);
}

static double energy(const double *x)
{
    double e = NAN;
    CHECK(!abut_term_tet10.energy(self, &(abut_at){ x, x, NULL, NULL, NULL }, 1, &e, &w.scratch, &w.err));
    return e;
}

static void gradient(const double *x, double *g)
{
    memset(g, 0, 3 * (size_t)w.m.nv * sizeof *g);
    CHECK(!abut_term_tet10.gradient(self, &(abut_at){ x, x, NULL, NULL, NULL }, 1, g, &w.scratch, &w.err));
}

/* x = A X + noise of so many metres */
static void deform(double noise)
{
    static const double A[9] = { 1.1, 0.2, -0.1, 0.05, 0.9, 0.1, 0, -0.15, 1.05 };
    abut_rng r = { 5 };
    for (int i = 0; i < 3 * w.m.nv; i++) {
        const double *X = w.X + i / 3 * 3, *a = A + 3 * (i % 3);
        w.x[i] = a[0] * X[0] + a[1] * X[1] + a[2] * X[2] + noise * abut_rng_real(&r, -1, 1);
    }
}

/* Both corners, of 3^3, on one face of the box. */
static int on_face(int32_t a, int32_t b)
{
    int is = 0;
    for (int32_t step = 1; step < 27; step *= 3) is |= a / step % 3 == b / step % 3 && a / step % 3 != 1;
    return is;
}

TEST(patch_test_a_linear_motion_gives_no_force_inside)
{
    double inside = 0, most = 0;
    int interior = 0;
    for (int t = 0; t < w.m.ntt; t++) w.row[11 * t] = 1;    /* one material */
    deform(0);
    gradient(w.x, w.g);
    for (int i = 0; i < w.m.nv; i++) {
        const int corner = i < w.box.model.nv, within = !on_face(corner ? i : w.edge[i][0], corner ? i : w.edge[i][1]);
        interior += within;
        for (int k = 0; k < 3; k++) {
            const double f = fabs(w.g[3 * i + k]);
            most = fmax(most, f);
            if (within) inside = fmax(inside, f);
        }
    }
    CHECK(interior > 10 && most > 1);
    CHECK_NEAR(inside / most, 0, 1e-13);
    for (int t = 0; t < w.m.ntt; t++) w.row[11 * t] = t % 4;
}

TEST(gradient_is_the_difference_of_energies)
{
    for (double noise = 0; noise < 0.005; noise += 0.002) {
        double worst = 0, most = 0;
        deform(noise);
        gradient(w.x, w.g);
        for (int i = 0; i < 3 * w.m.nv; i++) {
            const double x = w.x[i], h = 1e-6;
            w.x[i] = x + h;
            const double up = energy(w.x);
            w.x[i] = x - h;
            const double down = energy(w.x);
            w.x[i] = x;
            worst = fmax(worst, fabs((up - down) / (2 * h) - w.g[i]));
            most = fmax(most, fabs(w.g[i]));
        }
        CHECK(isfinite(most) && most > 1);
        CHECK_NEAR(worst / most, 0, 1e-7);
    }
}

/* At rest nothing is projected. */
TEST(hessian_at_rest_is_the_difference_of_gradients)
{
    const size_t size = abut_packed_size(10);
    abut_elements set = { 0 };
    double *H = malloc(TETS * size * sizeof *H), up[3 * MOST], down[3 * MOST], worst = 0, most = 0;
    abut_at at = { w.X, w.X, NULL, NULL, NULL };
    CHECK(!abut_term_tet10.elements(self, &at, &set, &w.err) && set.corners == 10 && set.n == (size_t)w.m.ntt);
    abut_term_tet10.hessian(self, &at, 1, 0, set.n, H);
    memcpy(w.x, w.X, sizeof w.x);
    for (int j = 0; j < 3 * w.m.nv; j++) {
        const double h = 1e-7;
        double column[3 * MOST] = { 0 };
        w.x[j] = w.X[j] + h;
        gradient(w.x, up);
        w.x[j] = w.X[j] - h;
        gradient(w.x, down);
        w.x[j] = w.X[j];
        for (size_t e = 0; e < set.n; e++)
            for (int a = 0; a < 10; a++)
                for (int b = a; b < 10; b++) {
                    const double *K = H + e * size + 9 * abut_packed_block(10, a, b);
                    const int32_t p = set.row[10 * e + (size_t)a], q = set.row[10 * e + (size_t)b];
                    for (int k = 0; k < 3; k++) {
                        if (q == j / 3) column[3 * p + k] += K[3 * k + j % 3];
                        if (p == j / 3 && a != b) column[3 * q + k] += K[3 * (j % 3) + k];
                    }
                }
        for (int i = 0; i < 3 * w.m.nv; i++) {
            worst = fmax(worst, fabs(column[i] - (up[i] - down[i]) / (2 * h)));
            most = fmax(most, fabs(column[i]));
        }
    }
    CHECK(most > 1);
    CHECK_NEAR(worst / most, 0, 1e-6);
    free(H);
}
