/* The way of a step against brute force: every pair of primitives on every line, by exact arithmetic. */
#include "base/rng.h"
#include "contact/intersect.h"
#include "fixture.h"
#include "geom/ccd/ccd.h"
#include "solve/search/path.h"

#include <math.h>

typedef struct pair_of_boxes {
    fixture *f;
    abut_arrays set, frame;
    abut_model model;
    abut_collmesh cm;
} pair_of_boxes;

static void boxes_open(pair_of_boxes *b)
{
    abut_err err = { 0 };
    *b = (pair_of_boxes){ .f = fixture_new() };
    fixture_box(b->f, 0, 0, 0, 1, 1, 1, 2, 2, 2, 0);
    fixture_box(b->f, 0, 0, 0, 1, 1, 1, 2, 2, 2, 0);
    for (int32_t i = 0; i < b->f->nv; i++)
        if (b->f->body[i]) b->f->X[3 * i] += 3;
    fixture_build(b->f, &b->set, &b->frame, NULL);
    CHECK(!abut_model_view(&b->set, &b->model, &err));
    CHECK(!abut_collmesh_init(&b->cm, &b->model, &err));
}

static void boxes_close(pair_of_boxes *b)
{
    abut_collmesh_clear(&b->cm);
    abut_arrays_clear(&b->set);
    abut_arrays_clear(&b->frame);
    free(b->f);
}

/* x[3 nv]: both boxes carried by `drift`, the second at `at` from the first and turned about y */
static void place(const pair_of_boxes *b, const double drift[3], const double at[3], double turn, double *x)
{
    for (int32_t i = 0; i < b->model.nv; i++) {
        double r[3];
        for (int k = 0; k < 3; k++) r[k] = b->model.X[3 * i + k];
        if (b->model.body[i]) {
            const double u = r[0] - 3.5, v = r[2] - 0.5;
            r[0] = cos(turn) * u + sin(turn) * v + at[0];
            r[1] += at[1];
            r[2] = cos(turn) * v - sin(turn) * u + at[2];
        }
        for (int k = 0; k < 3; k++) x[3 * i + k] = r[k] + drift[k];
    }
}

static int meets(const pair_of_boxes *b, abut_stencil kind, const int32_t v[4], const double *x0, const double *x1)
{
    double a0[12], a1[12];
    for (int k = 0; k < 12; k++) {
        const int32_t at = 3 * b->cm.W.col[v[k / 3]] + k % 3;
        a0[k] = x0[at], a1[k] = x1[at];
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            if (v[i] == v[j]) return 0;
    return abut_ccd_exact(kind, a0, a1, NULL, NULL);
}

static int line_meets(const pair_of_boxes *b, const double *x0, const double *x1)
{
    const abut_collmesh *cm = &b->cm;
    int any = 0;
    for (int32_t i = 0; i < cm->nc && !any; i++)
        for (int32_t t = 0; t < cm->nt && !any; t++) {
            const int32_t *c = cm->tri + 3 * t;
            any = meets(b, ABUT_PT, (int32_t[]){ i, c[0], c[1], c[2] }, x0, x1);
        }
    for (int32_t i = 0; i < cm->ne && !any; i++)
        for (int32_t j = 0; j < i && !any; j++) {
            const int32_t *e = cm->edge + 2 * i, *f = cm->edge + 2 * j;
            any = meets(b, ABUT_EE, (int32_t[]){ e[0], e[1], f[0], f[1] }, x0, x1);
        }
    return any;
}

/* The second box on a turn around the first, in n points x, while both drift along. */
static void orbit(const pair_of_boxes *b, double radius, double turn, double spin, double fast, int n, double **x)
{
    for (int k = 0; k < n; k++) {
        const double w = turn * k / (n - 1), drift[3] = { fast * k, -fast * k, 0 };
        x[k] = malloc(3 * (size_t)b->model.nv * sizeof *x[k]);
        place(b, drift, (double[]){ 0.5 + radius * cos(w), 0.1, 0.5 + radius * sin(w) }, spin * w, x[k]);
    }
}

/* Starts a way at x[0], or goes on to x[k]. */
static void go(abut_path *path, const pair_of_boxes *b, double *const *x, int k, abut_candidate_search *near)
{
    abut_err err = { 0 };
    CHECK(!(k ? abut_path_add(path, &b->cm, NULL, x[k], near, &err) : abut_path_start(path, &b->cm, x[k], &err)));
}

/* A quarter of a turn around the first box, while both drift along: points are dropped exactly where lines are free. */
TEST(points_stay_where_no_free_line_bridges_them)
{
    enum { N = 20 };
    pair_of_boxes b;
    boxes_open(&b);
    const size_t n3 = 3 * (size_t)b.model.nv;
    double *x[N];
    int stayed = 0, dropped = 0;
    for (int trial = 0; trial < 12; trial++) {
        abut_rng r = { (uint64_t)trial + 1 };
        abut_path path = { 0 };
        abut_candidate_search near = { 0 };
        abut_err err = { 0 };
        const double radius = abut_rng_real(&r, 1.25, 2.2), fast = abut_rng_real(&r, 0, 20), spin = abut_rng_real(&r, -1, 1);
        orbit(&b, radius, 1.5, spin, fast, N, x);
        for (int k = 0; k < N; k++) go(&path, &b, x, k, &near);
        CHECK(!abut_path_shorten(&path, &b.cm, NULL, &near, &err));
        int at = 0;   /* the greedy walk over all points */
        int kept = 1;
        const int whole = !line_meets(&b, x[0], x[N - 1]);
        for (int next = 1; next + 1 < N && !whole; next++)
            if (line_meets(&b, x[at], x[next + 1])) {
                CHECK(kept < path.n && !memcmp(path.point[kept], x[next], n3 * sizeof *x[next]));
                at = next;
                kept++;
            }
        CHECK(path.n == kept + 1 && path.proven == whole);
        stayed += kept - 1, dropped += N - 1 - kept;
        for (int k = 0; k < N; k++) free(x[k]);
        abut_path_clear(&path);
        abut_candidate_search_clear(&near);
    }
    CHECK(stayed > 3 && dropped > 3);
    printf("# %d points stay, %d dropped\n", stayed, dropped);
    boxes_close(&b);
}

/* A leap equals adding all points and shortening if the whole line is free; else it changes nothing. */
TEST(a_leap_goes_straight_or_not_at_all)
{
    enum { N = 8 };
    pair_of_boxes b;
    boxes_open(&b);
    double *x[N];
    int leapt = 0, stayed = 0;
    for (int trial = 0; trial < 12; trial++) {
        abut_rng r = { (uint64_t)trial + 1 };
        abut_path path = { 0 };
        abut_candidate_search near = { 0 };
        abut_err err = { 0 };
        int is_free = -1;
        const double radius = abut_rng_real(&r, 1.25, 2.2), fast = abut_rng_real(&r, 0, 20), spin = abut_rng_real(&r, -1, 1);
        orbit(&b, radius, 1.5, spin, fast, N, x);
        const int between = trial % 3, whole = !line_meets(&b, x[0], x[N - 1]);
        for (int k = 0; k <= between; k++) go(&path, &b, x, k, &near);
        CHECK(!abut_path_leap(&path, &b.cm, NULL, x[N - 1], &near, &is_free, &err));
        CHECK(is_free == whole && path.proven == whole && path.n == (whole ? 2 : between + 1));
        CHECK(!memcmp(path.point[path.n - 1], x[whole ? N - 1 : between], 3 * (size_t)b.model.nv * sizeof(double)));
        leapt += whole, stayed += !whole;
        for (int k = 0; k < N; k++) free(x[k]);
        abut_path_clear(&path);
        abut_candidate_search_clear(&near);
    }
    CHECK(leapt > 2 && stayed > 2);
    boxes_close(&b);
}

/* A turn in two steps, the first of which is not written: each keeps the other's points, and joining them bridges two single
 * lines. */
TEST(steps_shorten_their_own_part_and_are_joined_as_one)
{
    enum { N = 9, HALF = 4 };
    pair_of_boxes b;
    boxes_open(&b);
    const size_t n3 = 3 * (size_t)b.model.nv;
    double *x[N];
    int fewer = 0, whole = 0;
    for (int trial = 0; trial < 12; trial++) {
        abut_rng r = { (uint64_t)trial + 1 };
        abut_path path = { 0 };
        abut_candidate_search near = { 0 };
        abut_err err = { 0 };
        const double radius = abut_rng_real(&r, 1.25, 2.2), turn = abut_rng_real(&r, 0.8, 2);
        orbit(&b, radius, turn, 1, 0, N, x);
        for (int k = 0; k < N; k++) {
            go(&path, &b, x, k, &near);
            if (k != HALF) continue;
            CHECK(!abut_path_shorten(&path, &b.cm, NULL, &near, &err));
            CHECK(path.proven == !line_meets(&b, x[0], x[HALF]));
            CHECK(!abut_path_next_step(&path, &b.cm, NULL, &err) && !path.proven && path.step == path.n - 1);
        }
        const int first = path.step;
        CHECK(!abut_path_shorten(&path, &b.cm, NULL, &near, &err));
        CHECK(path.step == first && !memcmp(path.point[first], x[HALF], n3 * sizeof *x[HALF]));
        CHECK(path.proven == !line_meets(&b, x[HALF], x[N - 1]));
        const int before = path.n, lines = first == 1 && before == 3;
        CHECK(!abut_path_join(&path, &b.cm, NULL, &err) && path.step == 0 && before - path.n <= 1);
        CHECK(!memcmp(path.point[0], x[0], n3 * sizeof *x[0]) && !memcmp(path.point[path.n - 1], x[N - 1], n3 * sizeof *x[0]));
        for (int k = 1, at = 0, next; k < path.n; k++, at = next) {     /* neighbours are taken at their word */
            for (next = at + 1; next < N - 1 && memcmp(path.point[k], x[next], n3 * sizeof *x[next]);) next++;
            CHECK(next == at + 1 || !line_meets(&b, path.point[k - 1], path.point[k]));
        }
        CHECK((path.n == 2) == (lines && !line_meets(&b, x[0], x[N - 1])));
        fewer += path.n < before, whole += path.n == 2;
        for (int k = 0; k < N; k++) free(x[k]);
        abut_path_clear(&path);
        abut_candidate_search_clear(&near);
    }
    CHECK(fewer > 3 && whole > 0 && whole < 12);
    printf("# of 12 ways of two steps %d become shorter when joined, %d straight\n", fewer, whole);
    boxes_close(&b);
}

/* A way over many steps of which none is written: the points are few at any time, stand where they stood, and between two that
 * are left a line is free. */
static void go_far(const pair_of_boxes *b, double radius, double turn, int n, int *most, int *left)
{
    const size_t n3 = 3 * (size_t)b->model.nv;
    double **x = malloc((size_t)n * sizeof *x);
    abut_path path = { 0 };
    abut_candidate_search near = { 0 };
    abut_err err = { 0 };
    *most = 0;
    orbit(b, radius, turn, 1, 0.001, n, x);
    go(&path, b, x, 0, &near);
    for (int k = 1; k < n; k++) {
        if (k > 1) CHECK(!abut_path_next_step(&path, &b->cm, NULL, &err));
        go(&path, b, x, k, &near);
        CHECK(!abut_path_shorten(&path, &b->cm, NULL, &near, &err));
        CHECK(path.step == path.n - 2 && !memcmp(path.point[path.step], x[k - 1], n3 * sizeof **x));
        *most = path.n > *most ? path.n : *most;
    }
    CHECK(!abut_path_join(&path, &b->cm, NULL, &err) && path.step == 0);
    *left = path.n;
    for (int k = 0, at = 0; k < path.n; k++, at++) {
        const int from = at;
        while (at < n - 1 && memcmp(path.point[k], x[at], n3 * sizeof **x)) at++;
        CHECK(!memcmp(path.point[k], x[at], n3 * sizeof **x));
        CHECK(k == 0 || at == from || !line_meets(b, path.point[k - 1], path.point[k]));
    }
    CHECK(!memcmp(path.point[path.n - 1], x[n - 1], n3 * sizeof **x));
    for (int k = 0; k < n; k++) free(x[k]);
    free(x);
    abut_path_clear(&path);
    abut_candidate_search_clear(&near);
}

TEST(a_way_over_many_steps_has_few_points_at_any_time)
{
    pair_of_boxes b;
    int most, left;
    boxes_open(&b);
    go_far(&b, 3, 0, 700, &most, &left);            /* nothing but a drift */
    CHECK(left == 2 && most <= 3 * 7 + 3);
    go_far(&b, 1.3, 40, 500, &most, &left);         /* six times around, so near that few steps are bridged at once */
    CHECK(left >= 100 && left <= 300 && most <= left + 8);
    printf("# six turns in 500 steps: %d points at most, %d in the end\n", most, left);
    boxes_close(&b);
}

TEST(a_way_is_full_by_the_memory_of_its_points)
{
    CHECK(!abut_path_is_full(&(abut_path){ .n = 50, .n3 = 150000 }));
    CHECK(!abut_path_is_full(&(abut_path){ .n = 30, .n3 = 3000000 }));
    CHECK(abut_path_is_full(&(abut_path){ .n = 60, .n3 = 150000 }));
}

/* The second box goes to a random place, often into the first, by way of another. */
TEST(a_way_proven_from_a_start_without_crossings_ends_without_any)
{
    pair_of_boxes b;
    boxes_open(&b);
    const size_t n3 = 3 * (size_t)b.model.nv;
    double *x[3], *y = malloc((3 * (size_t)b.cm.nc + 1) * sizeof *y);
    int proven = 0, crosses = 0;
    abut_rng r = { 7 };
    for (int k = 0; k < 3; k++) x[k] = malloc(n3 * sizeof *x[k]);
    for (int trial = 0; trial < 60; trial++) {
        abut_path path = { 0 };
        abut_candidate_search near = { 0 };
        abut_err err = { 0 };
        size_t found;
        for (int k = 0; k < 3; k++) {
            const double far = k ? 2 : 2.5,
                         at[3] = { 0.5 + (k ? abut_rng_real(&r, -far, far) : far), abut_rng_real(&r, -far, far), 0.5 };
            place(&b, (double[]){ 0, 0, 0 }, at, abut_rng_real(&r, -1, 1), x[k]);
            go(&path, &b, x, k, &near);
        }
        CHECK(!abut_path_shorten(&path, &b.cm, NULL, &near, &err));
        CHECK(path.proven == !line_meets(&b, x[0], x[2]));
        abut_collmesh_positions(&b.cm, x[0], y);
        CHECK(!abut_intersections_find(&b.cm, y, NULL, 0, NULL, &found, &err) && !found);
        abut_collmesh_positions(&b.cm, x[2], y);
        CHECK(!abut_intersections_find(&b.cm, y, NULL, 0, NULL, &found, &err));
        CHECK(!(path.proven && found));
        proven += path.proven, crosses += found > 0;
        const int was = path.proven;
        CHECK(!abut_path_add(&path, &b.cm, NULL, x[1], &near, &err) && !path.proven && (was ? path.n == 3 : path.n == 4));
        abut_path_clear(&path);
        abut_candidate_search_clear(&near);
    }
    CHECK(proven > 10 && crosses > 10);
    printf("# %d of 60 ways proven, %d ends cross\n", proven, crosses);
    for (int k = 0; k < 3; k++) free(x[k]);
    free(y);
    boxes_close(&b);
}
