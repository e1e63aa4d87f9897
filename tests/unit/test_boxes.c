#include "base/par.h"
#include "base/rng.h"
#include "check.h"
#include "geom/boxes.h"

#include <float.h>

/* A set of items made for a test: boxes, vertices (few, so that many are shared) and still flags. */
struct set {
    abut_items items;
    abut_box *box;
    int32_t *vert;
    uint8_t *still;
};

enum shape { SPREAD, GIANT, GIANTS, OUTLIER, FAST, EQUAL, FLAT, POINTS, N_SHAPE };

static void box_make(abut_rng *r, enum shape shape, size_t i, size_t n, abut_box *b)
{
    const double size = shape == POINTS ? 0 : 0.1;
    for (int d = 0; d < 3; d++) {
        const double at = shape == POINTS ? abut_rng_below(r, 4) : abut_rng_real(r, 0, shape == FLAT && d ? 0.01 : 1);
        b->lo[d] = at;
        b->hi[d] = at + size * abut_rng_real(r, 0, 1);
        if (shape == EQUAL) b->lo[d] = 1, b->hi[d] = 2;
        if ((shape == GIANT && i == n / 2) || (shape == GIANTS && i % 5 == 0)) b->lo[d] = -50, b->hi[d] = 50;
        if (shape == OUTLIER && i == n / 3) b->lo[d] = b->hi[d] = 1e300;
        if (shape == FAST && i == n / 4 && !d) b->lo[d] = -1e6, b->hi[d] = 1e6;
    }
}

static struct set set_make(abut_rng *r, enum shape shape, size_t n, int k, int with_still)
{
    struct set s = { .box = malloc((n + 1) * sizeof *s.box), .vert = malloc((n + 1) * (size_t)k * sizeof *s.vert),
                     .still = malloc(n + 1) };
    for (size_t i = 0; i < n; i++) {
        box_make(r, shape, i, n, &s.box[i]);
        s.still[i] = (uint8_t)(abut_rng_below(r, 3) == 0);
        for (int v = 0; v < k; v++) s.vert[i * (size_t)k + (size_t)v] = (int32_t)abut_rng_below(r, (uint32_t)(n / 2 + 2));
    }
    s.items = (abut_items){ n, k, s.vert, with_still ? s.still : NULL, s.box };
    return s;
}

static void set_free(struct set *s)
{
    free(s->box);
    free(s->vert);
    free(s->still);
}

static int overlap(const abut_box *a, const abut_box *b)
{
    for (int d = 0; d < 3; d++)
        if (a->lo[d] > b->hi[d] || b->lo[d] > a->hi[d]) return 0;
    return 1;
}

static int is_pair(const abut_items *a, size_t i, const abut_items *b, size_t j)
{
    if (a->still && b->still && a->still[i] && b->still[j]) return 0;
    for (int p = 0; p < a->k; p++)
        for (int q = 0; q < b->k; q++)
            if (a->vert[i * (size_t)a->k + (size_t)p] == b->vert[j * (size_t)b->k + (size_t)q]) return 0;
    return overlap(&a->box[i], &b->box[j]);
}

/* 1 when the list holds just the pairs that two plain loops find, in their order. */
static int equals_brute_force(const abut_items *a, const abut_items *b, const abut_pair_list *got)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++)
        for (size_t j = a == b ? i + 1 : 0; j < b->n; j++) {
            if (!is_pair(a, i, b, j)) continue;
            if (n >= got->n || got->ij[n][0] != (int32_t)i || got->ij[n][1] != (int32_t)j) return 0;
            n++;
        }
    return n == got->n;
}

TEST(pairs_of_two_sets_are_those_of_brute_force)
{
    abut_rng r = { 1 };
    abut_pair_list out = { 0 };
    const size_t sizes[] = { 0, 1, 2, 3, 15, 16, 17, 40, 129, 700 };
    const int ks[][2] = { { 1, 3 }, { 2, 3 }, { 2, 2 }, { 3, 3 }, { 1, 1 }, { 1, 2 }, { 1, 4 } };
    size_t found = 0;
    for (int shape = 0; shape < N_SHAPE; shape++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int still = 0; still < 2; still++) {
                const int *k = ks[abut_rng_below(&r, 7)];
                struct set a = set_make(&r, (enum shape)shape, sizes[s], k[0], still);
                struct set b = set_make(&r, (enum shape)shape, sizes[abut_rng_below(&r, 9)], k[1], still);
                CHECK(!abut_box_pairs(&a.items, &b.items, &out, NULL));
                CHECK(equals_brute_force(&a.items, &b.items, &out));
                found += out.n;
                set_free(&a);
                set_free(&b);
            }
    CHECK(found > 10000);
    abut_pair_list_clear(&out);
}

TEST(pairs_of_one_set_are_those_of_brute_force)
{
    abut_rng r = { 2 };
    abut_pair_list out = { 0 };
    const size_t sizes[] = { 0, 1, 2, 3, 16, 17, 33, 600, 1500 };
    size_t found = 0;
    for (int shape = 0; shape < N_SHAPE; shape++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            struct set a = set_make(&r, (enum shape)shape, sizes[s], 1 + (int)abut_rng_below(&r, 3), shape & 1);
            CHECK(!abut_box_pairs(&a.items, &a.items, &out, NULL));
            CHECK(equals_brute_force(&a.items, &a.items, &out));
            found += out.n;
            set_free(&a);
        }
    CHECK(found > 10000);
    abut_pair_list_clear(&out);
}

SLOW_TEST(order_and_bytes_do_not_depend_on_the_thread_count)
{
    abut_rng r = { 3 };
    for (int shape = 0; shape < N_SHAPE; shape++) {
        struct set a = set_make(&r, (enum shape)shape, shape == EQUAL ? 800 : 9000, 2, 1);
        abut_pair_list one = { 0 };
        abut_threads_set(1);
        CHECK(!abut_box_pairs(&a.items, &a.items, &one, NULL));
        for (int t = 2; t < 8; t += 5) {
            abut_pair_list many = { 0 };
            abut_threads_set(t);
            CHECK(!abut_box_pairs(&a.items, &a.items, &many, NULL));
            CHECK(many.n == one.n && one.n > 0 && !memcmp(many.ij, one.ij, one.n * sizeof *one.ij));
            abut_pair_list_clear(&many);
        }
        abut_pair_list_clear(&one);
        set_free(&a);
    }
    abut_threads_set(2);
}

TEST(boxes_that_share_one_point_are_a_pair_and_one_ulp_apart_are_none)
{
    const int32_t vert[2] = { 0, 1 };
    abut_pair_list out = { 0 };
    const double at[] = { 0.1, 1e300, -1e-310, -7e8 };
    for (int d = 0; d < 3; d++)
        for (size_t k = 0; k < sizeof at / sizeof *at; k++)
            for (int apart = 0; apart < 2; apart++) {
                abut_box b[2] = { { { -1, -1, -1 }, { 1, 1, 1 } }, { { -1, -1, -1 }, { 1, 1, 1 } } };
                b[0].lo[d] = -1e301, b[0].hi[d] = at[k];
                b[1].lo[d] = apart ? nextafter(at[k], INFINITY) : at[k], b[1].hi[d] = 1e301;
                const abut_items one = { 1, 1, vert, NULL, b }, two = { 1, 1, vert + 1, NULL, b + 1 };
                CHECK(!abut_box_pairs(&one, &two, &out, NULL) && out.n == (size_t)!apart);
            }
    abut_pair_list_clear(&out);
}

TEST(a_box_that_is_not_finite_is_named)
{
    abut_rng r = { 4 };
    struct set a = set_make(&r, SPREAD, 1000, 2, 0), b = set_make(&r, SPREAD, 100, 3, 0);
    abut_pair_list out = { 0 };
    abut_err err = { 0 };
    const double bad[] = { NAN, INFINITY, -INFINITY };
    for (int k = 0; k < 3; k++) {
        const abut_box keep = a.box[613];
        a.box[613].hi[k] = a.box[900].lo[0] = bad[k];
        CHECK(abut_box_pairs(&a.items, &b.items, &out, &err) == ABUT_E_GEOM);
        CHECK(strstr(err.msg, "613") && strstr(err.msg, "first"));
        CHECK(abut_box_pairs(&b.items, &a.items, &out, &err) == ABUT_E_GEOM && strstr(err.msg, "second"));
        a.box[613] = keep;
    }
    abut_pair_list_clear(&out);
    set_free(&a);
    set_free(&b);
}

TEST(a_box_holds_its_points_at_both_ends_with_room_to_spare)
{
    abut_rng r = { 6 };
    const int32_t idx[3] = { 0, 1, 2 };
    for (int n = 0; n < 20000; n++) {
        double x[2][9];
        const double scale = pow(10, abut_rng_real(&r, -8, 8)), grow = n & 1 ? scale * 1e-3 : 0;
        for (int i = 0; i < 18; i++) x[i / 9][i % 9] = scale * abut_rng_real(&r, -1, 1);
        const abut_box b = abut_box_points(x[0], n % 3 ? x[1] : NULL, idx, 3, grow);
        for (int i = 0; i < (n % 3 ? 18 : 9); i++) {
            const double v = x[i / 9][i % 9], t = abut_rng_real(&r, 0, 1);
            CHECK(b.lo[i % 3] + grow <= v && v <= b.hi[i % 3] - grow);
            if (!(n % 3)) continue;
            const double p = x[1][i % 9] - x[0][i % 9], y = x[0][i % 9] + t * p;
            CHECK(b.lo[i % 3] < y - grow && y + grow < b.hi[i % 3]);
        }
        CHECK(b.hi[0] - b.lo[0] <= 2 * scale + 2 * grow + 1e-14 * scale);
    }
}

TEST(the_box_of_points_that_are_not_finite_is_not_finite)
{
    const int32_t idx[3] = { 2, 0, 1 };
    const double bad[] = { NAN, INFINITY, -INFINITY };
    for (int i = 0; i < 27; i++) {
        double x[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
        x[i % 9] = bad[i / 9];
        const abut_box b = abut_box_points(x, NULL, idx, 3, 0.5);
        CHECK(!isfinite(b.lo[0]) || !isfinite(b.hi[0]));
    }
}

SETUP
{
    abut_threads_set(2);
}
