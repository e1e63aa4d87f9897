#include "geom/exact/zpoly.h"

#include <assert.h>
#include <limits.h>
#include <stdint.h>

/* -- doubles as big integers --------------------------------------------------------------------------------------- */

/* v = m 2^e with m odd; v finite and not zero */
static int64_t odd_mantissa(double v, int *e)
{
    int64_t m = (int64_t)ldexp(frexp(v, e), 53);
    *e -= 53;
    while (!(m & 1)) {
        m /= 2;
        ++*e;
    }
    return m;
}

int abut_big_exponent(const double *v, int n)
{
    int low = INT_MAX;
    for (int i = 0; i < n; i++) {
        int e;
        if (v[i] == 0) continue;
        odd_mantissa(v[i], &e);
        if (e < low) low = e;
    }
    return low == INT_MAX ? 0 : low;
}

void abut_big_set(mpz_t z, double v, int e)
{
    if (v == 0) {
        mpz_set_ui(z, 0);
        return;
    }
    int own;
    const int64_t m = odd_mantissa(v, &own);
    assert(own >= e);
    mpz_set_si(z, m);
    mpz_mul_2exp(z, z, (mp_bitcnt_t)(own - e));
}

/* -- polynomials and their roots ----------------------------------------------------------------------------------- */

void abut_zpoly_init(abut_zpoly *p)
{
    p->deg = -1;
    for (int i = 0; i <= ABUT_ZPOLY_MAX; i++) mpz_init(p->c[i]);
}

void abut_zpoly_clear(abut_zpoly *p)
{
    for (int i = 0; i <= ABUT_ZPOLY_MAX; i++) mpz_clear(p->c[i]);
}

/* the degree is at most n, and coefficients above the true degree are zero */
static void trim(abut_zpoly *p, int n)
{
    while (n >= 0 && mpz_sgn(p->c[n]) == 0) n--;
    p->deg = n;
}

void abut_zpoly_set(abut_zpoly *p, const abut_zpoly *q)
{
    for (int i = 0; i <= ABUT_ZPOLY_MAX; i++) mpz_set(p->c[i], q->c[i]);
    p->deg = q->deg;
}

void abut_zpoly_addmul(abut_zpoly *p, int s, const abut_zpoly *q, const abut_zpoly *r)
{
    assert(q->deg + r->deg <= ABUT_ZPOLY_MAX);
    for (int i = 0; i <= q->deg; i++)
        for (int j = 0; j <= r->deg; j++) (s > 0 ? mpz_addmul : mpz_submul)(p->c[i + j], q->c[i], r->c[j]);
    trim(p, ABUT_ZPOLY_MAX);
}

void abut_zpoly_sub(abut_zpoly *p, const abut_zpoly *q, const abut_zpoly *r)
{
    for (int i = 0; i <= ABUT_ZPOLY_MAX; i++) mpz_sub(p->c[i], q->c[i], r->c[i]);
    trim(p, ABUT_ZPOLY_MAX);
}

void abut_zpoly_primitive(abut_zpoly *p)
{
    if (p->deg < 0) return;
    mpz_t g;
    mpz_init_set(g, p->c[p->deg]);
    for (int i = p->deg - 1; i >= 0 && mpz_cmpabs_ui(g, 1) > 0; i--) mpz_gcd(g, g, p->c[i]);
    mpz_abs(g, g);
    if (mpz_sgn(p->c[p->deg]) < 0) mpz_neg(g, g);
    if (mpz_cmp_ui(g, 1) != 0)
        for (int i = 0; i <= p->deg; i++) mpz_divexact(p->c[i], p->c[i], g);
    mpz_clear(g);
}

int abut_zpoly_equal(const abut_zpoly *p, const abut_zpoly *q)
{
    if (p->deg != q->deg) return 0;
    for (int i = 0; i <= p->deg; i++)
        if (mpz_cmp(p->c[i], q->c[i])) return 0;
    return 1;
}

/* Sign of p(a / 2^k). */
static int zpoly_sign(const abut_zpoly *p, const mpz_t a, mp_bitcnt_t k)
{
    if (p->deg < 0) return 0;
    mpz_t v, t;
    mpz_init_set(v, p->c[p->deg]);
    mpz_init(t);
    for (int i = p->deg - 1; i >= 0; i--) {   /* Horner on sum c_i a^i 2^(k (deg - i)) */
        mpz_mul(v, v, a);
        mpz_mul_2exp(t, p->c[i], k * (mp_bitcnt_t)(p->deg - i));
        mpz_add(v, v, t);
    }
    const int sign = mpz_sgn(v);
    mpz_clears(v, t, NULL);
    return sign;
}

/* p becomes a multiple of p modulo q, deg p < deg q, without content */
static void remainder_of(abut_zpoly *p, const abut_zpoly *q)
{
    mpz_t lead;
    mpz_init(lead);
    while (p->deg >= q->deg) {
        const int shift = p->deg - q->deg;
        mpz_set(lead, p->c[p->deg]);
        for (int i = 0; i <= p->deg; i++) mpz_mul(p->c[i], p->c[i], q->c[q->deg]);
        for (int i = 0; i <= q->deg; i++) mpz_submul(p->c[i + shift], lead, q->c[i]);
        trim(p, p->deg);
        abut_zpoly_primitive(p);
    }
    mpz_clear(lead);
}

/* g = gcd(p, q), primitive; p and q not both zero */
static void gcd_of(abut_zpoly *g, const abut_zpoly *p, const abut_zpoly *q)
{
    abut_zpoly rest, swap;
    abut_zpoly_init(&rest);
    abut_zpoly_init(&swap);
    abut_zpoly_set(g, p->deg >= q->deg ? p : q);
    abut_zpoly_set(&rest, p->deg >= q->deg ? q : p);
    abut_zpoly_primitive(g);
    abut_zpoly_primitive(&rest);
    while (rest.deg >= 0) {
        remainder_of(g, &rest);
        abut_zpoly_set(&swap, g);
        abut_zpoly_set(g, &rest);
        abut_zpoly_set(&rest, &swap);
    }
    abut_zpoly_clear(&rest);
    abut_zpoly_clear(&swap);
}

/* p becomes p / q for primitive p, q with q | p over the rationals, hence over the integers (Gauss) */
static void divide_exact(abut_zpoly *p, const abut_zpoly *q)
{
    abut_zpoly quotient;
    abut_zpoly_init(&quotient);
    const int top = p->deg - q->deg;
    for (int shift = top; shift >= 0; shift--) {
        mpz_divexact(quotient.c[shift], p->c[shift + q->deg], q->c[q->deg]);
        for (int i = 0; i <= q->deg; i++) mpz_submul(p->c[i + shift], quotient.c[shift], q->c[i]);
    }
    trim(&quotient, top);
    abut_zpoly_set(p, &quotient);
    abut_zpoly_clear(&quotient);
}

/* p /= 2^k t - a, a root of p in lowest terms or (k = 0) an integer one */
static void divide_root(abut_zpoly *p, const mpz_t a, mp_bitcnt_t k)
{
    abut_zpoly linear;
    abut_zpoly_init(&linear);
    mpz_neg(linear.c[0], a);
    mpz_set_ui(linear.c[1], 1);
    mpz_mul_2exp(linear.c[1], linear.c[1], k);
    linear.deg = 1;
    divide_exact(p, &linear);
    abut_zpoly_clear(&linear);
}

static void square_free(abut_zpoly *f)
{
    if (f->deg < 2) return;
    abut_zpoly slope, g;
    abut_zpoly_init(&slope);
    abut_zpoly_init(&g);
    for (int i = 1; i <= f->deg; i++) mpz_mul_ui(slope.c[i - 1], f->c[i], (unsigned long)i);
    slope.deg = f->deg - 1;
    gcd_of(&g, f, &slope);
    if (g.deg > 0) divide_exact(f, &g);
    abut_zpoly_clear(&slope);
    abut_zpoly_clear(&g);
}

/* w: positive multiples of the Bernstein coefficients of p on [a, a + 1] / 2^k: a Taylor shift by a, then the substitution
 * s = u / (1 + u), both by repeated addition */
static void bernstein(const abut_zpoly *p, const mpz_t a, mp_bitcnt_t k, abut_zpoly *w)
{
    const int n = w->deg = p->deg;
    for (int i = 0; i <= n; i++) mpz_mul_2exp(w->c[i], p->c[i], k * (mp_bitcnt_t)(n - i));
    for (int i = 0; i < n; i++)
        for (int j = n - 1; j >= i; j--) mpz_addmul(w->c[j], a, w->c[j + 1]);
    for (int i = 0; i < n; i++)
        for (int j = 1; j <= n - i; j++) mpz_add(w->c[j], w->c[j], w->c[j - 1]);
}

static int sign_changes(const abut_zpoly *w)
{
    int changes = 0, last = 0;
    for (int i = 0; i <= w->deg; i++) {
        const int s = mpz_sgn(w->c[i]);
        if (s && last && s != last) changes++;
        if (s) last = s;
    }
    return changes;
}

static void record(abut_roots *r, int dyadic, const mpz_t a, mp_bitcnt_t k)
{
    abut_root *const t = &r->root[r->n++];
    t->dyadic = dyadic;
    mpz_init_set(t->a, a);
    t->k = k;
}

/* Records 0 and 1 and takes them out of f, so that f is not zero at the ends of any interval searched later */
static void record_ends(abut_roots *r)
{
    mpz_t a;
    mpz_init(a);
    for (unsigned long end = 0; end <= 1; end++) {
        mpz_set_ui(a, end);
        if (r->f.deg < 1 || zpoly_sign(&r->f, a, 0)) continue;
        record(r, 1, a, 0);
        divide_root(&r->f, a, 0);
    }
    mpz_clear(a);
}

/* Both halves of the open interval (a, a + 1) / 2^k; a root in the middle is recorded and taken out of f */
static void bisect(abut_roots *r, mpz_t left, mpz_t right, mp_bitcnt_t k)
{
    mpz_mul_2exp(left, left, 1);
    mpz_add_ui(right, left, 1);
    if (zpoly_sign(&r->f, right, k + 1) == 0) {
        record(r, 1, right, k + 1);
        divide_root(&r->f, right, k + 1);
    }
}

void abut_roots_find(abut_roots *r, const abut_zpoly *p)
{
    assert(p->deg >= 0);
    r->n = 0;
    abut_zpoly_init(&r->f);
    abut_zpoly_set(&r->f, p);
    abut_zpoly_primitive(&r->f);
    square_free(&r->f);
    record_ends(r);

    /* Level by level (Descartes, Vincent, Collins-Akritas).  Sign changes never grow under subdivision, so at most deg / 2
     * intervals of a level have two or more; the halves of each fit in the lists. */
    enum { CAP = ABUT_ZPOLY_MAX + 2 };
    mpz_t now[CAP], next[CAP];
    abut_zpoly w;
    int n = 1;
    for (int i = 0; i < CAP; i++) mpz_inits(now[i], next[i], NULL);
    abut_zpoly_init(&w);
    for (mp_bitcnt_t k = 0; n > 0; k++) {
        int m = 0;
        for (int i = 0; i < n; i++) {
            if (r->f.deg < 1) break;
            bernstein(&r->f, now[i], k, &w);
            const int changes = sign_changes(&w);
            if (changes == 1) record(r, 0, now[i], k);
            if (changes < 2) continue;
            mpz_set(next[m], now[i]);
            bisect(r, next[m], next[m + 1], k);
            m += 2;
        }
        for (int i = 0; i < m; i++) mpz_swap(now[i], next[i]);
        n = m;
    }
    for (int i = 0; i < CAP; i++) mpz_clears(now[i], next[i], NULL);
    abut_zpoly_clear(&w);
}

void abut_roots_clear(abut_roots *r)
{
    for (int i = 0; i < r->n; i++) mpz_clear(r->root[i].a);
    abut_zpoly_clear(&r->f);
    r->n = 0;
}

/* Halves the interval of a root that is not known as a dyadic number */
static void refine(const abut_zpoly *f, abut_root *t)
{
    const int left = zpoly_sign(f, t->a, t->k);
    mpz_mul_2exp(t->a, t->a, 1);
    mpz_add_ui(t->a, t->a, 1);
    t->k++;
    const int mid = zpoly_sign(f, t->a, t->k);
    if (mid == 0)
        t->dyadic = 1;
    else if (mid != left)
        mpz_sub_ui(t->a, t->a, 1);
}

/* sign of q on the whole open interval if its Bernstein coefficients show it, else 0 */
static int sign_inside(const abut_zpoly *q, const abut_root *t, abut_zpoly *w)
{
    int low = 0, high = 0;
    bernstein(q, t->a, t->k, w);
    for (int i = 0; i <= w->deg; i++) {
        low |= mpz_sgn(w->c[i]) < 0;
        high |= mpz_sgn(w->c[i]) > 0;
    }
    return high - low;
}

/* does the root of f in the interval belong to q too?  Then their common divisor changes sign across it */
static int common_root(const abut_zpoly *f, const abut_zpoly *q, const abut_root *t)
{
    abut_zpoly g;
    abut_zpoly_init(&g);
    gcd_of(&g, f, q);
    int common = 0;
    if (g.deg > 0) {
        mpz_t right;
        mpz_init(right);
        mpz_add_ui(right, t->a, 1);
        common = zpoly_sign(&g, t->a, t->k) != zpoly_sign(&g, right, t->k);
        mpz_clear(right);
    }
    abut_zpoly_clear(&g);
    return common;
}

int abut_roots_sign(abut_roots *r, int i, const abut_zpoly *q)
{
    abut_root *const t = &r->root[i];
    if (q->deg <= 0) return q->deg < 0 ? 0 : mpz_sgn(q->c[0]);
    if (t->dyadic) return zpoly_sign(q, t->a, t->k);
    abut_zpoly w;
    abut_zpoly_init(&w);
    int sign = sign_inside(q, t, &w);
    if (!sign && !common_root(&r->f, q, t)) {
        while (!sign) {
            refine(&r->f, t);
            sign = t->dyadic ? zpoly_sign(q, t->a, t->k) : sign_inside(q, t, &w);
        }
    }
    abut_zpoly_clear(&w);
    return sign;
}

/* largest double <= a / 2^k for a >= 0 (0 where that would be subnormal); *exact: is it equal? */
static double below(const mpz_t a, mp_bitcnt_t k, int *exact)
{
    long e;
    const double m = mpz_get_d_2exp(&e, a);   /* truncates */
    const long shift = e - (long)k;
    *exact = mpz_sgn(a) == 0 || (shift > -1000 && mpz_sizeinbase(a, 2) - mpz_scan1(a, 0) <= 53);
    return shift > -1000 ? ldexp(m, (int)shift) : 0;
}

void abut_roots_bracket(abut_roots *r, int i, double *lo, double *hi)
{
    abut_root *const t = &r->root[i];
    /* until the ends agree in 55 leading bits, or the root is below all normal doubles */
    while (!t->dyadic && t->k < 1100 && mpz_sizeinbase(t->a, 2) < 55) refine(&r->f, t);
    int exact;
    *lo = below(t->a, t->k, &exact);
    if (t->dyadic && exact) {
        *hi = *lo;
        return;
    }
    mpz_t right;
    mpz_init(right);
    mpz_add_ui(right, t->a, 1);
    const double top = below(right, t->k, &exact);
    *hi = top == 0 ? 0x1p-900 : exact ? top : nextafter(top, 2);
    if (*hi > 1) *hi = 1;
    mpz_clear(right);
}

/* -- the earliest instant ------------------------------------------------------------------------------------------ */

void abut_first_time_take(abut_first_time *a, abut_roots *r, int i)
{
    double lo = 0, hi = 1;
    if (a->want_time) abut_roots_bracket(r, i, &lo, &hi);
    a->lo = a->hit ? fmin(a->lo, lo) : lo;
    a->hi = a->hit ? fmin(a->hi, hi) : hi;
    a->hit = 1;
}

int abut_first_time_give(const abut_first_time *a, double *t_lo, double *t_hi)
{
    if (a->hit && t_lo) *t_lo = a->lo;
    if (a->hit && t_hi) *t_hi = a->hi;
    return a->hit;
}

void abut_zpoly_ends(abut_zpoly *p)
{
    abut_zpoly_init(p);
    mpz_set_si(p->c[1], -1);
    mpz_set_si(p->c[2], 1);
    p->deg = 2;
}
