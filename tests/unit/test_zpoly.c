/* Real roots of integer polynomials: products of known factors, whose roots and signs are known too. */
#include "base/rng.h"
#include "check.h"
#include "geom/exact/zpoly.h"

#include <float.h>

/* p *= c[0] + c[1] t + c[2] t^2 */
static void times(abut_zpoly *p, long c0, long c1, long c2)
{
    abut_zpoly f, product;
    abut_zpoly_init(&f);
    abut_zpoly_init(&product);
    mpz_set_si(f.c[0], c0), mpz_set_si(f.c[1], c1), mpz_set_si(f.c[2], c2);
    f.deg = c2 ? 2 : c1 ? 1 : 0;
    abut_zpoly_addmul(&product, 1, p, &f);
    abut_zpoly_set(p, &product);
    abut_zpoly_clear(&f);
    abut_zpoly_clear(&product);
}

static void one(abut_zpoly *p)
{
    abut_zpoly_init(p);
    mpz_set_si(p->c[0], 1);
    p->deg = 0;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

TEST(roots_of_a_product_are_those_of_its_factors_once_each)
{
    abut_rng r = { 51 };
    int many = 0;
    for (int it = 0, runs = check_runs(3000, 150000); it < runs; it++) {
        abut_zpoly p;
        double want[6], got[6];
        int n = 0;
        one(&p);
        /* up to six factors d t - k, some outside [0, 1], some equal; a factor t^2 + 1 without roots */
        const int factors = 1 + (int)abut_rng_below(&r, 6), complex = factors <= 4 && it % 3 == 0;
        for (int i = 0; i < factors; i++) {
            const long d = 1 + (long)abut_rng_below(&r, it % 2 ? 7 : 1000000), k = (long)abut_rng_below(&r, (uint32_t)d + 2) - 1;
            times(&p, -k, d, 0);
            int known = k < 0 || k > d;
            for (int j = 0; j < n; j++) known |= want[j] == (double)k / (double)d;
            if (!known) want[n++] = (double)k / (double)d;
        }
        if (complex) times(&p, 1, 0, 1);
        abut_roots roots;
        abut_roots_find(&roots, &p);
        CHECK(roots.n == n);
        for (int i = 0; i < roots.n; i++) {
            double lo, hi;
            CHECK(abut_roots_sign(&roots, i, &p) == 0);
            abut_roots_bracket(&roots, i, &lo, &hi);
            CHECK(0 <= lo && lo <= hi && hi <= 1 && hi - lo <= 2 * DBL_EPSILON);
            got[i] = (lo + hi) / 2;
        }
        qsort(want, (size_t)n, sizeof *want, by_value);
        qsort(got, (size_t)roots.n, sizeof *got, by_value);
        for (int i = 0; i < n && roots.n == n; i++) CHECK_NEAR(got[i], want[i], 2 * DBL_EPSILON);
        many += n >= 4;
        abut_roots_clear(&roots);
        abut_zpoly_clear(&p);
    }
    CHECK(many > 300);
}

/* 2 t^2 - 1 at t = sqrt(1/2): zero at that root, and the sign of others follows from squares */
TEST(sign_at_an_irrational_root_is_exact_next_to_it)
{
    abut_zpoly p, q;
    abut_roots r;
    one(&p);
    times(&p, -1, 0, 2);
    abut_roots_find(&r, &p);
    CHECK(r.n == 1 && !r.root[0].dyadic);
    /* convergents a/b of sqrt(1/2): 2 a^2 - b^2 = +-1, so the sign of b t - a there is that of b^2 - 2 a^2 */
    long a = 1, b = 1;
    for (int i = 0; i < 40; i++) {
        one(&q);
        times(&q, -a, b, 0);
        const int want = (b * b > 2 * a * a) - (b * b < 2 * a * a);
        if (b < 1L << 31) CHECK(abut_roots_sign(&r, 0, &q) == want);
        times(&q, -1, 0, 2);
        CHECK(abut_roots_sign(&r, 0, &q) == 0);     /* a common factor makes it zero, however near the other root is */
        abut_zpoly_clear(&q);
        const long next = a + b;
        b = next + a;
        a = next;
        if (b > 1L << 31) break;
    }
    abut_roots_clear(&r);
    abut_zpoly_clear(&p);
}

TEST(roots_closer_than_any_double_are_separated)
{
    abut_zpoly p;
    one(&p);
    times(&p, -1, 3, 0);
    mpz_t big;
    mpz_init(big);
    abut_zpoly near;    /* 3 2^200 t - (2^200 + 1): 2^-200 / 3 beside 1/3 */
    one(&near);
    mpz_set_ui(big, 1);
    mpz_mul_2exp(big, big, 200);
    mpz_add_ui(near.c[0], big, 1);
    mpz_neg(near.c[0], near.c[0]);
    mpz_mul_ui(near.c[1], big, 3);
    near.deg = 1;
    abut_zpoly both;
    abut_zpoly_init(&both);
    abut_zpoly_addmul(&both, 1, &p, &near);
    abut_roots r;
    abut_roots_find(&r, &both);
    CHECK(r.n == 2);
    const int s[2] = { abut_roots_sign(&r, 0, &p), abut_roots_sign(&r, 1, &p) };
    CHECK(s[0] * s[1] == 0 && s[0] + s[1] == 1);    /* one is 1/3, the other above it */
    abut_roots_clear(&r);
    mpz_clear(big);
    abut_zpoly_clear(&both);
    abut_zpoly_clear(&near);
    abut_zpoly_clear(&p);
}
