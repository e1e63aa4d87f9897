/* lib/base: messages, scratch memory, arrays, parallel sums, the random generator, orders. */
#include "base/arena.h"
#include "base/array.h"
#include "base/err.h"
#include "base/order.h"
#include "base/par.h"
#include "base/rng.h"
#include "base/timer.h"
#include "check.h"

#include <errno.h>

/* ---- err ---- */

TEST(a_message_is_kept_wrapped_and_cut_at_its_limit)
{
    abut_err e = { 0 };
    CHECK(abut_fail(&e, ABUT_E_GEOM, "pair %d", 7) == ABUT_E_GEOM && e.code == ABUT_E_GEOM && !strcmp(e.msg, "pair 7"));
    CHECK(abut_wrap(&e, "step %d", 3) == ABUT_E_GEOM && !strcmp(e.msg, "step 3: pair 7"));
    CHECK(abut_fail(NULL, ABUT_E_IO, "nobody asks") == ABUT_E_IO);
    for (int i = 0; i < 100; i++) CHECK(abut_wrap(&e, "a context that is rather long") == ABUT_E_GEOM);
    CHECK(strlen(e.msg) == sizeof e.msg - 1 && !strncmp(e.msg, "a context", 9));
    abut_fail(&e, ABUT_E_ARG, "%0*d", 2000, 0);
    CHECK(strlen(e.msg) == sizeof e.msg - 1);
}

TEST(contexts_of_every_length_keep_what_fits_of_a_message_and_nothing_behind_it)
{
    for (int n = 0; n < 2 * (int)sizeof ((abut_err *)0)->msg; n++) {
        struct { abut_err e; char guard[8]; } s;
        char want[1024];
        memset(&s, 'g', sizeof s);
        CHECK(abut_fail(&s.e, ABUT_E_IO, "%0*d", n / 2, 0) == ABUT_E_IO);
        CHECK(abut_wrap(&s.e, "%0*d", n, 1) == ABUT_E_IO && s.e.code == ABUT_E_IO);
        const int inner = n / 2 > 0 ? n / 2 : 1;
        snprintf(want, sizeof want, "%0*d: %.*s", n, 1, (int)sizeof s.e.msg - 1, "");
        for (int k = 0; k < inner && strlen(want) < sizeof s.e.msg - 1; k++) strcat(want, "0");
        want[sizeof s.e.msg - 1] = 0;
        CHECK(!strcmp(s.e.msg, want) && !memcmp(s.guard, "gggggggg", 8));
    }
    CHECK(abut_wrap(NULL, "no caller") == ABUT_OK);
}

TEST(a_file_that_is_not_opened_for_want_of_memory_or_by_a_broken_disk_is_no_fault_of_its_name)
{
    static const int ours[] = { ENOMEM, EMFILE, ENFILE, EIO }, names[] = { ENOENT, EACCES, EISDIR, ENOTDIR, ENAMETOOLONG };
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) CHECK(abut_open_status(ours[i]) == ABUT_E_IO);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) CHECK(abut_open_status(names[i]) == ABUT_E_FORMAT);
}

/* ---- arena ---- */

TEST(arena_memory_is_zeroed_aligned_and_distinct_in_every_order_of_use)
{
    abut_arena a = { 0 };
    abut_rng rng = { 3 };
    enum { N = 400 };
    unsigned char *p[N];
    size_t size[N];
    abut_mark mark[N];
    int n = 0;
    for (int round = 0; round < 4000; round++) {
        if (n == N || (n && abut_rng_below(&rng, 5) == 0)) {
            n = (int)abut_rng_below(&rng, (uint32_t)n);      /* give back all from n on */
            abut_arena_release(&a, mark[n]);
        }
        mark[n] = abut_arena_mark(&a);
        size[n] = abut_rng_below(&rng, 50) ? abut_rng_below(&rng, 3000) : 1 + abut_rng_below(&rng, 3 << 20);
        p[n] = abut_arena_alloc(&a, size[n], 1);
        CHECK(p[n] && (uintptr_t)p[n] % 64 == 0);
        size_t dirty = 0;
        for (size_t i = 0; i < size[n]; i += 1 + size[n] / 64) dirty += p[n][i] != 0;
        CHECK(!dirty);
        memset(p[n], n & 0xff, size[n]);
        n++;
        const int k = (int)abut_rng_below(&rng, (uint32_t)n);     /* older pieces are unchanged */
        if (size[k]) CHECK(p[k][0] == (k & 0xff) && p[k][size[k] - 1] == (k & 0xff));
    }
    abut_arena_clear(&a);
    CHECK(!a.first && !a.total);
    abut_arena_clear(&a);
}

TEST(arena_requests_that_grow_a_little_each_time_do_not_add_up)
{
    abut_arena a = { 0 };
    const size_t most = (size_t)6 << 20;
    CHECK(abut_arena_room(&a, 100, 1));
    for (size_t n = (size_t)2 << 20; n <= most; n += 20000) {
        const abut_mark before = abut_arena_mark(&a);
        unsigned char *p = abut_arena_room(&a, n, 1), *q = abut_arena_room(&a, 3000, 1);
        CHECK(p && q);
        memset(p, 1, n), memset(q, 2, 3000);
        CHECK(a.total < 2 * most);
        abut_arena_release(&a, before);
    }
    abut_arena_clear(&a);
    CHECK(a.total == 0);
}

TEST(arena_chunks_are_used_again_after_a_release)
{
    abut_arena a = { 0 };
    const abut_mark empty = abut_arena_mark(&a);
    size_t held = 0;
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 20; i++) CHECK(ABUT_NEW(&a, double, 50000) != NULL);
        if (round == 0) held = a.total;
        CHECK(a.total == held);
        abut_arena_release(&a, empty);
    }
    abut_arena_clear(&a);
}

TEST(arena_says_no_at_its_limit_and_at_absurd_sizes)
{
    abut_arena a = { .limit = 3 << 20 };
    int n = 0;
    while (abut_arena_alloc(&a, 1000, 1000)) n++;
    CHECK(n >= 2 && n <= 3 && a.total <= a.limit);
    CHECK(!abut_arena_alloc(&a, SIZE_MAX / 4, 8) && !abut_arena_alloc(&a, SIZE_MAX, 1));
    CHECK(abut_arena_alloc(&a, 0, 8) && abut_arena_alloc(&a, 10, 8));
    abut_arena_clear(&a);
    /* the spare eighth of such a request would make a small number of its bytes */
    abut_arena empty = { 0 };
    CHECK(!abut_arena_room(&empty, SIZE_MAX / 9 * 8 + 4096, 1));
    abut_arena_clear(&empty);
}

TEST(arena_pieces_of_no_bytes_are_distinct_and_one_that_fits_exactly_takes_no_other_chunk)
{
    abut_arena a = { .limit = 8 << 20 };
    char *p[4];
    for (int i = 0; i < 4; i++) p[i] = abut_arena_alloc(&a, i % 2 ? 8 : 0, i % 2 ? 0 : 8);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < i; k++) CHECK(p[i] && p[i] != p[k]);
    char *const q = abut_arena_alloc(&a, 64, 1);
    CHECK(q == p[3] + 64 && (char *)abut_arena_alloc(&a, 1, 1) == q + 64);      /* whole lines of 64, no more */
    abut_arena_clear(&a);
    for (size_t n = 1; n <= 3; n++) CHECK(abut_arena_room(&a, 1 << 20, 1) && a.total == n << 20);
    abut_arena_clear(&a);
    CHECK(a.limit == 8 << 20);
    CHECK(!abut_arena_room(&a, (8 << 20) + 1, 1) && abut_arena_room(&a, 8 << 20, 1) && a.total == 8 << 20);
    CHECK(!abut_arena_room(&a, 1, 1));
    abut_arena_clear(&a);
}

TEST(arena_marks_of_an_empty_arena_and_of_a_full_chunk_give_back_what_came_after)
{
    abut_arena a = { 0 };
    const abut_mark empty = abut_arena_mark(&a);
    CHECK(!empty.chunk);
    abut_arena_release(&a, empty);
    char *const first = abut_arena_alloc(&a, 100, 1);
    const abut_mark one = abut_arena_mark(&a);
    char *const second = abut_arena_alloc(&a, 100, 1), *const third = abut_arena_alloc(&a, 2 << 20, 1);
    CHECK(third && (third < first || third >= first + (1 << 20)));
    abut_arena_release(&a, one);
    CHECK((char *)abut_arena_alloc(&a, 1, 1) == second && (char *)abut_arena_alloc(&a, 2 << 20, 1) == third);
    abut_arena_release(&a, empty);
    CHECK((char *)abut_arena_alloc(&a, 1, 1) == first);
    abut_arena_clear(&a);
}

/* ---- array ---- */

TEST(arrays_keep_their_order_and_are_replaced_in_place)
{
    abut_arrays s = { 0 };
    char name[16];
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "a/%d", i);
        CHECK(!abut_arrays_put_i32(&s, name, i, NULL));
    }
    CHECK(!abut_arrays_put_f64(&s, "a/50", 0.5, "m", NULL) && s.n == 100);
    CHECK(s.a[50].type == ABUT_F64 && !strcmp(s.a[50].unit, "m") && *(double *)s.a[50].data == 0.5);
    abut_arrays_remove(&s, "a/0");
    abut_arrays_remove(&s, "a/0");
    CHECK(s.n == 99 && !strcmp(s.a[0].name, "a/1") && !strcmp(s.a[98].name, "a/99") && !abut_arrays_find(&s, "a/0"));
    abut_arrays t = { 0 };
    CHECK(!abut_arrays_copy(&t, &s.a[49], NULL) && *(double *)t.a[0].data == 0.5 && t.a[0].data != s.a[49].data);
    abut_arrays_clear(&t);
    abut_arrays_clear(&s);
    abut_arrays_clear(&s);
    CHECK(!s.n && !s.a);
}

TEST(array_shapes_count_elements_and_bytes)
{
    abut_arrays s = { 0 };
    CHECK(abut_arrays_put_rows(&s, "rows", ABUT_F32, 5, 3, "m", NULL) && s.a[0].rank == 2);
    CHECK(abut_array_count(&s.a[0]) == 15 && abut_array_bytes(&s.a[0]) == 60);
    CHECK(abut_arrays_put_rows(&s, "vector", ABUT_I64, 5, 0, "", NULL) && s.a[1].rank == 1);
    CHECK(abut_arrays_put(&s, "none", ABUT_F64, 3, (int64_t[]){ 4, 0, 2 }, "", 0, NULL) && !abut_array_bytes(&s.a[2]));
    CHECK(abut_arrays_put(&s, "one", ABUT_U8, 0, NULL, "", 0, NULL) && abut_array_count(&s.a[3]) == 1);
    CHECK(!abut_arrays_put_text(&s, "text", "ab\n", NULL) && abut_array_count(&s.a[4]) == 3);
    CHECK(abut_dtype_size(ABUT_I32) == 4 && !abut_dtype_size((abut_dtype)9) && !strcmp(abut_dtype_name((abut_dtype)9), "?"));
    abut_arrays_clear(&s);
}

TEST(numbers_of_every_type_are_read_as_doubles_and_those_of_a_text_are_none)
{
    abut_arrays s = { 0 };
    double *f64 = abut_arrays_put_rows(&s, "f64", ABUT_F64, 2, 0, "", NULL);
    float *f32 = abut_arrays_put_rows(&s, "f32", ABUT_F32, 2, 0, "", NULL);
    int32_t *i32 = abut_arrays_put_rows(&s, "i32", ABUT_I32, 2, 0, "", NULL);
    int64_t *i64 = abut_arrays_put_rows(&s, "i64", ABUT_I64, 2, 0, "", NULL);
    uint8_t *u8 = abut_arrays_put_rows(&s, "u8", ABUT_U8, 2, 0, "", NULL);
    CHECK(!abut_arrays_put_text(&s, "text", "12", NULL) && s.n == 6);
    f64[1] = -1.5, f32[1] = 0.25f, i32[1] = -7, i64[1] = (int64_t)1 << 40, u8[1] = 200;
    static const double value[] = { -1.5, 0.25, -7, 1099511627776., 200 };
    static const char *const name[] = { "f64", "f32", "i32", "i64", "u8", "text" };
    static const size_t size[] = { 8, 4, 4, 8, 1, 1 };
    for (int i = 0; i < 6; i++) {
        CHECK(!strcmp(abut_dtype_name(s.a[i].type), name[i]) && abut_dtype_size(s.a[i].type) == size[i]);
        if (i < 5) CHECK(abut_array_real(&s.a[i], 1) == value[i] && abut_array_real(&s.a[i], 0) == 0);
    }
    CHECK(isnan(abut_array_real(&s.a[5], 1)));
    abut_arrays_clear(&s);
}

TEST(names_units_ranks_and_flags_at_their_limits_are_kept)
{
    abut_arrays s = { 0 };
    abut_err e = { 0 };
    char name[ABUT_NAME_MAX + 2], unit[ABUT_UNIT_MAX + 2];
    memset(name, 'n', sizeof name), memset(unit, 'u', sizeof unit);
    name[ABUT_NAME_MAX + 1] = unit[ABUT_UNIT_MAX + 1] = '\0';
    CHECK(!abut_arrays_put(&s, name, ABUT_U8, 0, NULL, unit + 1, 0, &e) && e.code == ABUT_E_ARG);
    CHECK(!abut_arrays_put(&s, name + 1, ABUT_U8, 0, NULL, unit, 0, &e) && strstr(e.msg, "too long"));
    const int64_t shape[ABUT_RANK_MAX] = { 2, 3, 1, 2 };
    double *p = abut_arrays_put(&s, name + 1, ABUT_F64, ABUT_RANK_MAX, shape, unit + 1, ABUT_A_CARRY, &e);
    CHECK(p && s.n == 1 && abut_array_count(s.a) == 12 && s.a->flags == ABUT_A_CARRY);
    for (int i = 0; p && i < 12; p[i] = i, i++) CHECK(p[i] == 0);
    abut_arrays t = { 0 };
    CHECK(!abut_arrays_copy(&t, s.a, &e) && !strcmp(t.a->name, name + 1) && !strcmp(t.a->unit, unit + 1));
    CHECK(t.a->flags == ABUT_A_CARRY && t.a->rank == 4 && !memcmp(t.a->shape, shape, sizeof shape));
    CHECK(t.a->type == ABUT_F64 && !memcmp(t.a->data, p, 12 * sizeof *p));
    CHECK(!abut_arrays_put(&s, "x", ABUT_F64, -1, NULL, "", 0, &e) && strstr(e.msg, "rank -1"));
    CHECK(!abut_arrays_put(&s, "x", ABUT_F64, 2, (int64_t[]){ 1, -4 }, "", 0, &e) && strstr(e.msg, "dimension 1 is -4"));
    unsigned char *large = abut_arrays_put_rows(&t, "large", ABUT_U8, 1 << 20, 0, "", &e);
    for (int i = 0; large && i < 1 << 20; large[i++] = 1) CHECK(!large[i]);
    abut_arrays_clear(&s);
    abut_arrays_clear(&t);
}

TEST(arrays_refuse_bad_names_shapes_and_sizes_and_stay_as_they_were)
{
    abut_arrays s = { 0 };
    abut_err e = { 0 };
    CHECK(!abut_arrays_put_i32(&s, "fine", 1, &e));
    static const char *const bad[] = { "", "with blank", "line\n", "caf\xc3\xa9", "quote\"",
                                       "this-name-is-longer-than-the-limit-of-sixty-three-letters-by-one-" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) CHECK(abut_arrays_put_i32(&s, bad[i], 1, &e) == ABUT_E_ARG);
    CHECK(!abut_arrays_put(&s, "x", ABUT_F64, 1, (int64_t[]){ -1 }, "", 0, &e));
    CHECK(!abut_arrays_put(&s, "x", ABUT_F64, 2, (int64_t[]){ INT64_MAX, 2 }, "", 0, &e) && e.code == ABUT_E_ARG);
    CHECK(!abut_arrays_put(&s, "x", ABUT_F64, 5, (int64_t[]){ 1, 1, 1, 1, 1 }, "", 0, &e));
    CHECK(!abut_arrays_put(&s, "x", (abut_dtype)0, 0, NULL, "", 0, &e));
    CHECK(!abut_arrays_put(&s, "x", ABUT_F64, 0, NULL, "a unit that is long", 0, &e) && e.code == ABUT_E_ARG);
    CHECK(s.n == 1 && *(int32_t *)s.a[0].data == 1);
    abut_arrays_clear(&s);
}

TEST(a_taken_array_belongs_to_the_set_only_on_success)
{
    abut_arrays s = { 0 };
    abut_array a = { .name = "taken", .type = ABUT_I32, .rank = 1, .shape = { 2 }, .data = malloc(8) };
    if (a.data) memcpy(a.data, (int32_t[]){ 4, 5 }, 8);
    CHECK(a.data && !abut_arrays_take(&s, &a, NULL) && s.a[0].data == a.data && ((int32_t *)s.a[0].data)[1] == 5);
    abut_array bad = { .name = "not good", .type = ABUT_I32, .data = malloc(4) };
    CHECK(bad.data && abut_arrays_take(&s, &bad, NULL) == ABUT_E_ARG && s.n == 1);
    free(bad.data);
    abut_arrays_clear(&s);
}

/* ---- par ---- */

TEST(blocks_cover_every_item_once)
{
    static const size_t sizes[] = { 0, 1, ABUT_BLOCK - 1, ABUT_BLOCK, ABUT_BLOCK + 1, 10 * ABUT_BLOCK + 3 };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t next = 0;
        for (size_t b = 0; b < abut_blocks(sizes[k]); b++) {
            const abut_range r = abut_block(sizes[k], b);
            CHECK(r.lo == next && r.hi > r.lo && r.hi - r.lo <= ABUT_BLOCK);
            next = r.hi;
        }
        CHECK(next == sizes[k]);
    }
}

TEST(compensated_sums_survive_cancellation_and_length)
{
    CHECK(abut_sum((double[]){ 1, 1e100, 1, -1e100 }, 4) == 2);
    CHECK(abut_sum(NULL, 0) == 0);
    enum { N = 100000 };
    double *v = malloc(N * sizeof *v);
    if (!v) abort();
    abut_rng rng = { 11 };
    long double exact = 0;
    for (int i = 0; i < N; i++) exact += v[i] = abut_rng_real(&rng, -1, 1) * pow(10, (int)abut_rng_below(&rng, 12));
    CHECK_NEAR(abut_sum(v, N), (double)exact, 1e-15 * fabs((double)exact) + 1e-6);
    for (int i = 0; i < N; i++) v[i] = 0.1;
    CHECK_NEAR(abut_sum(v, N), 0.1 * N, 2e-12);
    free(v);
}

TEST(the_largest_absolute_value_is_found_at_every_place)
{
    double v[12] = { 9 };
    CHECK(abut_largest(v, 0) == 0);
    for (size_t n = 1; n <= 11; n++)
        for (size_t at = 0; at < n; at++) {
            for (size_t i = 0; i < 12; i++) v[i] = i >= n ? 9 : i % 2 ? -1.5 : 0.5;
            v[at] = at % 3 ? -2 : 2;
            CHECK(abut_largest(v, n) == 2);
            v[at] = at % 3 ? NAN : -INFINITY;
            CHECK(abut_largest(v, n) == INFINITY);
        }
}

static double block_sum(const double *v, size_t n, double *part)
{
    const size_t nb = abut_blocks(n);
    #pragma omp parallel for schedule(dynamic)
    for (size_t b = 0; b < nb; b++) {
        const abut_range r = abut_block(n, b);
        part[b] = abut_sum(v + r.lo, r.hi - r.lo);
    }
    return abut_sum(part, nb);
}

TEST(block_sums_have_the_same_bits_at_1_2_and_7_threads)
{
    enum { N = 20 * 512 + 77 };
    static double v[N], part[N / 512 + 1];
    abut_rng rng = { 5 };
    for (int i = 0; i < N; i++) v[i] = abut_rng_real(&rng, -1e3, 1e3);
    const int before = abut_threads();
    abut_threads_set(1);
    CHECK(abut_threads() == 1);
    const double one = block_sum(v, N, part);
    for (int t = 2; t <= 7; t += 5) {
        abut_threads_set(t);
        const double many = block_sum(v, N, part);
        CHECK(!memcmp(&one, &many, sizeof one));
    }
    abut_threads_set(before);
}

/* ---- rng ---- */

TEST(the_generator_is_splitmix64)
{
    /* the sequence published with the algorithm for seed 1234567 */
    static const uint64_t published[] = { 6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                          4593380528125082431u, 16408922859458223821u };
    abut_rng r = { 1234567 };
    for (int i = 0; i < 5; i++) CHECK(abut_rng_next(&r) == published[i]);
}

TEST(random_numbers_stay_in_their_range_and_fill_it)
{
    abut_rng r = { 9 };
    double low = 1e9, high = -1e9, sum = 0;
    int hit[7] = { 0 };
    for (int i = 0; i < 70000; i++) {
        const double x = abut_rng_real(&r, -2, 3);
        low = x < low ? x : low;
        high = x > high ? x : high;
        sum += x;
        hit[abut_rng_below(&r, 7)]++;
    }
    CHECK(low >= -2 && low < -1.999 && high < 3 && high > 2.999);
    CHECK_NEAR(sum / 70000, 0.5, 0.03);
    for (int i = 0; i < 7; i++) CHECK(hit[i] > 9500 && hit[i] < 10500);
    CHECK(abut_rng_below(&r, 1) == 0);
}

/* ---- order ---- */

/* A number that orders rows of numbers from -5 to 94 as they are ordered. */
static long value(const int32_t *v, int n)
{
    long of = 0;
    for (int k = 0; k < n; k++) of = 100 * of + v[k] + 5;
    return of;
}

TEST(rows_of_numbers_have_the_order_of_their_first_number_that_differs)
{
    abut_rng r = { 4 };
    for (int i = 0; i < 20000; i++) {
        int32_t a[4], b[4];
        for (int k = 0; k < 4; k++) a[k] = (int32_t)abut_rng_below(&r, 4) - 2, b[k] = (int32_t)abut_rng_below(&r, 4) - 2;
        for (int n = 0; n <= 4; n++) {
            const int by = (value(a, n) > value(b, n)) - (value(a, n) < value(b, n));
            CHECK(abut_compare(a, b, n) == by);
            if (n == 1) CHECK(abut_by_one(a, b) == by);
            if (n == 2) CHECK(abut_by_two(a, b) == by);
            if (n == 3) CHECK(abut_by_three(a, b) == by);
        }
    }
    const int32_t least = INT32_MIN, most = INT32_MAX;
    CHECK(abut_by_one(&least, &most) == -1 && abut_by_one(&most, &least) == 1 && abut_by_one(&most, &most) == 0);
    const int64_t low = INT64_MIN, high = INT64_MAX;
    CHECK(abut_by_int64(&low, &high) == -1 && abut_by_int64(&high, &low) == 1 && abut_by_int64(&low, &low) == 0);
}

TEST(lists_of_groups_are_ascending_leave_out_what_has_no_group_and_end_where_they_should)
{
    enum { N = 200, GROUPS = 9 };
    int32_t group[N], first[GROUPS + 3], item[N + 1];
    abut_rng r = { 8 };
    for (int round = 0; round < 20; round++) {
        const int n = round ? (int)abut_rng_below(&r, N + 1) : 0;
        for (int i = 0; i < n; i++) group[i] = (int32_t)abut_rng_below(&r, GROUPS) - 1;     /* the last group has none */
        memset(first, 0x7f, sizeof first), memset(item, 0x7f, sizeof item);
        abut_list_groups(group, (size_t)n, GROUPS, first, item);
        int at = 0;
        for (int32_t g = 0; g < GROUPS; g++) {
            CHECK(first[g] == at);
            for (int i = 0; i < n; i++)
                if (group[i] == g) CHECK(item[at++] == i);
        }
        CHECK(first[GROUPS] == at && first[GROUPS + 1] == 0x7f7f7f7f && item[at] == 0x7f7f7f7f);
    }
}

TEST(joined_sets_are_numbered_by_their_lowest_members)
{
    enum { N = 60 };
    abut_rng r = { 10 };
    for (int round = 0; round < 50; round++) {
        int32_t root[N], set[N];
        for (int32_t i = 0; i < N; i++) root[i] = set[i] = i;
        for (int k = 0; k < round; k++) {
            const int32_t i = (int32_t)abut_rng_below(&r, N), j = (int32_t)abut_rng_below(&r, N);
            abut_set_join(root, i, j);
            const int32_t low = set[i] < set[j] ? set[i] : set[j], high = set[i] < set[j] ? set[j] : set[i];
            for (int l = 0; l < N; l++)
                if (set[l] == high) set[l] = low;
            CHECK(abut_set_root(root, j) == low);
        }
        int32_t sets = 0, number[N];
        for (int i = 0; i < N; i++) number[i] = set[i] == i ? sets++ : number[set[i]];
        CHECK(abut_set_numbers(root, N) == sets && !memcmp(root, number, sizeof root));
    }
}

/* ---- timer ---- */

TEST(clocks_run_forward_and_memory_is_counted)
{
    const double w = abut_time_wall(), c = abut_time_cpu();
    double x = 1;
    while (abut_time_cpu() - c < 0.01) x = sqrt(x + 1);
    CHECK(x > 0 && abut_time_wall() > w && abut_time_cpu() >= c + 0.01);
    CHECK(abut_memory_peak() > (1 << 20));
}
