/* The primitives of a machine against plain loops; the twin by default, device N with ABUT_GPU=N where there is one. */
#include "base/par.h"
#include "base/rng.h"
#include "check.h"
#include "machine_open.h"

static const size_t sizes[] = { 0, 1, 31, 32, 33, 511, 512, 513, 1025, 40000, 512 * 512 + 7 };
enum { SIZES = sizeof sizes / sizeof *sizes };

static double *numbers(size_t n, uint64_t seed)
{
    double *v = malloc((n + 1) * sizeof *v);
    for (size_t i = 0; i < n; i++) v[i] = machine_random(&seed) - 0.5;
    return v;
}

/* by the definition, one number after the other */
static double tree_sum(const double *v, size_t n)
{
    if (n > ABUT_BLOCK) {
        const size_t nb = abut_blocks(n);
        double *part = malloc(nb * sizeof *part);
        for (size_t b = 0; b < nb; b++) part[b] = tree_sum(v + abut_block(n, b).lo, abut_block(n, b).hi - abut_block(n, b).lo);
        const double s = tree_sum(part, nb);
        free(part);
        return s;
    }
    double lane[32] = { 0 };
    for (size_t i = 0; i < n; i++) lane[i % 32] += v[i];
    for (int half = 16; half; half /= 2)
        for (int l = 0; l < half; l++) lane[l] += lane[l + half];
    return lane[0];
}

static double fetch(abut_queue *q, const abut_buffer *b, abut_err *err)
{
    double v = NAN;
    CHECK(q->on->get(q, &v, b->at, sizeof v, err) == ABUT_OK);
    return v;
}

TEST(sums_and_products_follow_their_tree_to_the_bit)
{
    abut_queue q;
    abut_err err = { 0 };
    abut_buffer a = { 0 }, b = { 0 }, as = { 0 }, bs = { 0 }, cs = { 0 }, out = { 0 };
    CHECK(machine_open(&q, &err) == ABUT_OK);
    for (int s = 0; s < SIZES; s++) {
        const size_t n = sizes[s];
        double *va = numbers(n, 1), *vb = numbers(n, 2), *prod = numbers(n, 3);
        float *vs = malloc((n + 1) * sizeof *vs);
        for (size_t i = 0; i < n; i++) vs[i] = (float)va[i];
        CHECK(abut_buffer_put(&q, &a, "a", va, n, sizeof *va, &err) == ABUT_OK);
        CHECK(abut_buffer_put(&q, &b, "b", vb, n, sizeof *vb, &err) == ABUT_OK);
        CHECK(abut_buffer_put(&q, &as, "as", vs, n, sizeof *vs, &err) == ABUT_OK);
        CHECK(abut_buffer_need(&q, &out, "out", 3, sizeof(double), &err) == ABUT_OK);
        CHECK(q.on->sum(&q, a.at, n, out.at, &err) == ABUT_OK);
        CHECK(fetch(&q, &out, &err) == tree_sum(va, n));
        for (size_t i = 0; i < n; i++) prod[i] = va[i] * vb[i];
        CHECK(q.on->dot(&q, a.at, b.at, n, out.at, &err) == ABUT_OK);
        CHECK(fetch(&q, &out, &err) == tree_sum(prod, n));
        double three[3];
        float *vz = malloc((n + 1) * sizeof *vz), *vq = malloc((n + 1) * sizeof *vq);
        for (size_t i = 0; i < n; i++) vz[i] = (float)vb[i], vq[i] = (float)(va[i] - vb[i]);
        CHECK(abut_buffer_put(&q, &bs, "bs", vz, n, sizeof *vz, &err) == ABUT_OK);
        CHECK(abut_buffer_put(&q, &cs, "cs", vq, n, sizeof *vq, &err) == ABUT_OK);
        CHECK(q.on->dots_single(&q, as.at, bs.at, cs.at, n, out.at, &err) == ABUT_OK);
        CHECK(q.on->get(&q, three, out.at, sizeof three, &err) == ABUT_OK);
        const float *const pair[3][2] = { { vs, vz }, { vq, vz }, { vs, vs } };
        for (int k = 0; k < 3; k++) {
            for (size_t i = 0; i < n; i++) prod[i] = (double)pair[k][0][i] * (double)pair[k][1][i];
            CHECK(three[k] == tree_sum(prod, n));
        }
        free(vz), free(vq);
        free(va), free(vb), free(prod), free(vs);
    }
    abut_buffer_clear(&q, &a), abut_buffer_clear(&q, &b), abut_buffer_clear(&q, &as), abut_buffer_clear(&q, &bs);
    abut_buffer_clear(&q, &cs), abut_buffer_clear(&q, &out);
    abut_queue_close(&q);
}

TEST(least_and_largest_are_those_of_a_plain_loop)
{
    abut_queue q;
    abut_err err = { 0 };
    abut_buffer a = { 0 }, out = { 0 };
    CHECK(machine_open(&q, &err) == ABUT_OK);
    CHECK(abut_buffer_need(&q, &out, "out", 3, sizeof(double), &err) == ABUT_OK);
    for (int s = 0; s < SIZES; s++)
        for (int odd = 0; odd < 2; odd++) {
            const size_t n = sizes[s];
            double *v = numbers(n, 4), big = 0;
            for (size_t i = 0; i < n; i++) v[i] = floor(50 * v[i]);     /* equal ones */
            abut_least least = { INFINITY, UINT64_MAX }, got = { 0 };
            if (odd && n) v[n / 2] = NAN;
            for (size_t i = 0; i < n; i++)
                if (v[i] < least.value) least = (abut_least){ v[i], i };
            for (size_t i = 0; i < n; i++) big = fabs(v[i]) > big ? fabs(v[i]) : big;
            if (odd && n) big = INFINITY, least = (abut_least){ -INFINITY, n / 2 };
            CHECK(abut_buffer_put(&q, &a, "a", v, n, sizeof *v, &err) == ABUT_OK);
            CHECK(q.on->least(&q, a.at, n, out.at, &err) == ABUT_OK);
            CHECK(q.on->get(&q, &got, out.at, sizeof got, &err) == ABUT_OK);
            CHECK(got.value == least.value && got.number == least.number);
            CHECK(q.on->largest(&q, a.at, n, out.at, &err) == ABUT_OK);
            CHECK(fetch(&q, &out, &err) == big);
            free(v);
        }
    abut_buffer_clear(&q, &a), abut_buffer_clear(&q, &out);
    abut_queue_close(&q);
}

TEST(scans_count_and_sorts_are_stable)
{
    abut_queue q;
    abut_err err = { 0 };
    abut_buffer c = { 0 }, f = { 0 }, k = { 0 }, v = { 0 };
    CHECK(machine_open(&q, &err) == ABUT_OK);
    for (int s = 0; s < SIZES; s++) {
        const size_t n = sizes[s];
        uint64_t seed = 5, total = 0, sum = 0, *key = malloc((n + 1) * sizeof *key);
        uint32_t *count = malloc((n + 1) * sizeof *count), *first = malloc((n + 1) * sizeof *first);
        for (size_t i = 0; i < n; i++) count[i] = (uint32_t)(8 * machine_random(&seed));
        CHECK(abut_buffer_put(&q, &c, "count", count, n, sizeof *count, &err) == ABUT_OK);
        CHECK(abut_buffer_need(&q, &f, "first", n + 1, sizeof *first, &err) == ABUT_OK);
        CHECK(q.on->scan(&q, c.at, n, f.at, &total, &err) == ABUT_OK);
        CHECK(q.on->get(&q, first, f.at, (n + 1) * sizeof *first, &err) == ABUT_OK);
        int good = 1;
        for (size_t i = 0; i < n; sum += count[i++]) good &= first[i] == sum;
        CHECK(good && first[n] == sum && total == sum);

        for (size_t i = 0; i < n; i++) {
            key[i] = (uint64_t)(1e3 * machine_random(&seed)) << 33 | (uint64_t)(4 * machine_random(&seed));
            count[i] = (uint32_t)i;
        }
        for (int bits = 2; bits <= 64; bits += 62) {
            CHECK(abut_buffer_put(&q, &k, "key", key, n, sizeof *key, &err) == ABUT_OK);
            CHECK(abut_buffer_put(&q, &v, "val", count, n, sizeof *count, &err) == ABUT_OK);
            CHECK(q.on->sort(&q, k.at, v.at, n, bits, &err) == ABUT_OK);
            CHECK(q.on->get(&q, key, k.at, n * sizeof *key, &err) == ABUT_OK);
            CHECK(q.on->get(&q, first, v.at, n * sizeof *first, &err) == ABUT_OK);
            const uint64_t mask = bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;
            good = 1;
            for (size_t i = 1; i < n; i++) {
                const uint64_t before = key[i - 1] & mask, here = key[i] & mask;
                good &= before < here || (before == here && first[i - 1] < first[i]);
            }
            CHECK(good);
            for (size_t i = 0; i < n; i++) count[i] = (uint32_t)i;
        }
        free(count), free(first), free(key);
    }
    abut_buffer_clear(&q, &c), abut_buffer_clear(&q, &f), abut_buffer_clear(&q, &k), abut_buffer_clear(&q, &v);
    abut_queue_close(&q);
}

/* rows of 0, 1, .. numbers, one of them long */
static void gather_rows(abut_queue *q, double *got, size_t rows, uint32_t width)
{
    abut_err err = { 0 };
    uint32_t *first = malloc((rows + 1) * sizeof *first);
    first[0] = 0;
    for (size_t i = 0; i < rows; i++) first[i + 1] = first[i] + (uint32_t)(i == 7 ? 1000 : i % 9);
    const size_t terms = first[rows];
    uint32_t *at = malloc((terms + 1) * sizeof *at);
    double *in = numbers(width * terms, 6);
    for (size_t k = 0; k < terms; k++) at[k] = (uint32_t)((k * 7919) % terms);
    abut_buffer f = { 0 }, a = { 0 }, n = { 0 }, out = { 0 };
    CHECK(abut_buffer_put(q, &f, "first", first, rows + 1, sizeof *first, &err) == ABUT_OK);
    CHECK(abut_buffer_put(q, &a, "at", at, terms, sizeof *at, &err) == ABUT_OK);
    CHECK(abut_buffer_put(q, &n, "in", in, width * terms, sizeof *in, &err) == ABUT_OK);
    CHECK(abut_buffer_need(q, &out, "out", width * rows, sizeof(double), &err) == ABUT_OK);
    const abut_gather_args g = { f.at, a.at, n.at, out.at, 2, width, 0 };
    CHECK(ABUT_RUN(q, gather, &g, width * rows, &err) == ABUT_OK);
    CHECK(q->on->get(q, got, out.at, width * rows * sizeof(double), &err) == ABUT_OK);
    for (size_t i = 0; i < rows; i++)
        for (uint32_t c = 0; c < width; c++) {
            double total = 0;
            for (uint32_t lo = first[i]; lo < first[i + 1]; lo += 64) {
                double piece = 0;
                for (uint32_t k = lo; k < lo + 64 && k < first[i + 1]; k++) piece += in[width * at[k] + c];
                total += piece;
            }
            if (!(got[width * i + c] == 2 * total)) { CHECK(!"a row of gather"); return; }
        }
    free(first), free(at), free(in);
    abut_buffer_clear(q, &f), abut_buffer_clear(q, &a), abut_buffer_clear(q, &n), abut_buffer_clear(q, &out);
}

TEST(gathered_rows_are_the_same_for_every_order_and_thread_count)
{
    enum { ROWS = 3000, WIDE = 9 };
    abut_queue q;
    abut_err err = { 0 };
    double *one = malloc(WIDE * ROWS * sizeof *one), *got = malloc(WIDE * ROWS * sizeof *got);
    const int threads = abut_threads();
    CHECK(machine_open(&q, &err) == ABUT_OK);
    gather_rows(&q, one, ROWS, WIDE);
    for (int t = 1; t <= 7; t += 3) {
        abut_threads_set(t);
        q.shuffle = (uint64_t)t - 1;
        gather_rows(&q, got, ROWS, WIDE);
        CHECK(!memcmp(one, got, WIDE * ROWS * sizeof *got));
    }
    abut_threads_set(threads);
    free(one), free(got);
    abut_queue_close(&q);
}

TEST(memory_that_is_not_there_is_named)
{
    abut_queue q;
    abut_err err = { 0 };
    abut_buffer b = { 0 };
    CHECK(machine_open(&q, &err) == ABUT_OK);
    CHECK(abut_buffer_need(&q, &b, "candidates", 10, 8, &err) == ABUT_OK);
    void *const before = b.at;
    q.limit = q.bytes + 1000;
    CHECK(abut_buffer_need(&q, &b, "candidates", 1000, 8, &err) == ABUT_E_NOMEM);
    CHECK(strstr(err.msg, "candidates") != NULL);
    CHECK(b.at == before && b.bytes == 80);
    q.limit = q.bytes + 240;
    CHECK(abut_buffer_need(&q, &b, "candidates", 31, 8, &err) == ABUT_E_NOMEM && b.bytes == 80);
    CHECK(!abut_buffer_need(&q, &b, "candidates", 30, 8, &err) && b.bytes == 240 && q.bytes_peak >= 320);
    q.limit = 0;
    CHECK(abut_buffer_need(&q, &b, "candidates", SIZE_MAX / 8, 8, &err) == ABUT_E_NOMEM);
    abut_buffer_clear(&q, &b);
    CHECK(q.bytes_peak >= 80);
    abut_queue_close(&q);
}

TEST(time_is_counted_by_stages)
{
    abut_queue q;
    abut_err err = { 0 };
    CHECK(machine_open(&q, &err) == ABUT_OK);
    CHECK(q.on->stamp(&q, ABUT_STAGE_SOLVE, &err) == ABUT_OK);
    abut_buffer b = { 0 };
    CHECK(abut_buffer_need(&q, &b, "b", 1 << 20, 8, &err) == ABUT_OK);
    CHECK(q.on->fill(&q, b.at, 0, 8 << 20, &err) == ABUT_OK);
    CHECK(q.on->stamp(&q, ABUT_STAGE_OTHER, &err) == ABUT_OK);
    CHECK(q.on->times(&q, &err) == ABUT_OK);
    CHECK(q.seconds[ABUT_STAGE_SOLVE] > 0 && q.seconds[ABUT_STAGE_SOLVE] < 10);
    CHECK(q.seconds[ABUT_STAGE_ENERGY] == 0);
    abut_buffer_clear(&q, &b);
    abut_queue_close(&q);
}

TEST(a_kernel_that_fails_breaks_the_queue_and_is_named)
{
    abut_queue q;
    abut_err err = { 0 };
    abut_buffer y = { 0 };
    if (check_is_set("ABUT_GPU")) SKIP("the fault would outlive this test");
    CHECK(!machine_open(&q, &err) && !abut_buffer_need(&q, &y, "y", 9, sizeof(double), &err));
    const int32_t node[3] = { 2, 0, 1 };
    const double x[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    const abut_pick_args a = { node, x, y.at };
    q.faults_after = 2;
    CHECK(!ABUT_RUN(&q, pick, &a, 3, &err) && !q.broken && ((const double *)y.at)[0] == 7 && ((const double *)y.at)[8] == 6);
    CHECK(ABUT_RUN(&q, pick, &a, 3, &err) == ABUT_E_IO && q.broken);
    CHECK(strstr(err.msg, "pick: an illegal memory access was encountered"));
    abut_buffer_clear(&q, &y);
    abut_queue_close(&q);
}
