/* The exact contact decision against constructions whose answer is known, and against a subdivision that works in another
 * way: on small integers every corner of every box it looks at is an exact double. */
#include "base/rng.h"
#include "check.h"
#include "geom/ccd/ccd.h"
#include "geom/ccd/filter.h"

#include <float.h>

typedef struct query {
    abut_stencil s;
    double x0[12], x1[12];
} query;

static int exact(const query *q) { return abut_ccd_exact(q->s, q->x0, q->x1, NULL, NULL); }

/* answer and time agree with the known ones; the filter alone never contradicts them */
static int agrees(const query *q, int want, double time)
{
    double lo = -1, hi = -1;
    const int quick = abut_ccd_filter(q->s, q->x0, q->x1, NULL);
    if (quick >= 0 && quick != want) return 0;
    if (exact(q) != want || abut_ccd_exact(q->s, q->x0, q->x1, &lo, &hi) != want) return 0;
    return !want || (0 <= lo && lo <= time && time <= hi && hi <= 1 && hi - lo <= 4 * DBL_EPSILON);
}

static query face_query(double wx, double wy, double z0, double z1)
{
    return (query){ ABUT_PT, { wx, wy, z0, 0, 0, 0, 1, 0, 0, 0, 1, 0 }, { wx, wy, z1, 0, 0, 0, 1, 0, 0, 0, 1, 0 } };
}

static query edge_query(double x, double z0, double z1)
{
    return (query){ ABUT_EE, { 0, 0, 0, 1, 0, 0, x, -1, z0, x, 1, z0 }, { 0, 0, 0, 1, 0, 0, x, -1, z1, x, 1, z1 } };
}

static query collinear_query(double shift)
{
    return (query){ ABUT_EE, { 0, 0, 0, 1, 0, 0, 3, 0, 0, 4, 0, 0 }, { 0, 0, 0, 1, 0, 0, 3 + shift, 0, 0, 4 + shift, 0, 0 } };
}

TEST(reference_cases_have_their_known_answers)
{
    const double bit = 0x1p-30;
    query q = face_query(.25, .25, 1, -1);
    CHECK(agrees(&q, 1, .5));
    q = face_query(.5, .5, 1, -1);
    CHECK(agrees(&q, 1, .5));
    q = face_query(.5 + bit, .5, 1, -1);
    CHECK(agrees(&q, 0, 0));
    q = edge_query(1, 1, -1);
    CHECK(agrees(&q, 1, .5));
    q = edge_query(1 + bit, 1, -1);
    CHECK(agrees(&q, 0, 0));
    q = face_query(1, 1, 0, 0);             /* nothing moves, one plane */
    CHECK(agrees(&q, 0, 0));
    q = face_query(0, .5, 0, 0);
    CHECK(agrees(&q, 1, 0));
    q = collinear_query(-2);
    CHECK(agrees(&q, 1, 1));
    q = collinear_query(-2 + 0x1p-40);
    CHECK(agrees(&q, 0, 0));
    q = face_query(.25, .25, 1, 0);
    CHECK(agrees(&q, 1, 1));
    q = face_query(.25, .25, 1, DBL_TRUE_MIN);
    CHECK(agrees(&q, 0, 0));
}

TEST(points_and_edges_without_a_face_are_decided)
{
    const query meet = { ABUT_PP, { 0, 0, 0, 2, 0, 0 }, { 2, 0, 0, 0, 0, 0 } };
    const query pass = { ABUT_PP, { 0, 0, 0, 2, 0, 0 }, { 2, 0, 0x1p-60, 0, 0, 0 } };
    const query rest = { ABUT_PP, { 1, 2, 3, 1, 2, 3 }, { 1, 2, 3, 1, 2, 3 } };
    CHECK(agrees(&meet, 1, .5) && agrees(&pass, 0, 0) && agrees(&rest, 1, 0));
    const query on = { ABUT_PE, { 0.5, 1, 0, 0, 0, 0, 1, 0, 0 }, { 0.5, -3, 0, 0, 0, 0, 1, 0, 0 } };
    const query end = { ABUT_PE, { 1, 1, 0, 0, 0, 0, 1, 0, 0 }, { 1, -3, 0, 0, 0, 0, 1, 0, 0 } };
    const query off = { ABUT_PE, { 1 + DBL_EPSILON, 1, 0, 0, 0, 0, 1, 0, 0 }, { 1 + DBL_EPSILON, -3, 0, 0, 0, 0, 1, 0, 0 } };
    const query point = { ABUT_PE, { 1, 1, 0, 1, 0, 0, 1, 0, 0 }, { 1, -3, 0, 1, 0, 0, 1, 0, 0 } };
    CHECK(agrees(&on, 1, .25) && agrees(&end, 1, .25) && agrees(&off, 0, 0) && agrees(&point, 1, .25));
}

/* Two edges turn and touch without crossing: d has a double root at 1/2 */
static query graze(double c)
{
    const double t0 = -.5, t1 = .5;
    return (query){ ABUT_EE, { t0, -1, -t0, t0, 1, t0, t0 - 1, t0, c, t0 + 1, t0, c },
                    { t1, -1, -t1, t1, 1, t1, t1 - 1, t1, c, t1 + 1, t1, c } };
}

TEST(graze_without_crossing_is_contact_and_an_ulp_away_is_none)
{
    query q = graze(0);
    CHECK(agrees(&q, 1, .5));
    for (int e = 10; e <= 70; e += 10) {
        q = graze(-ldexp(1, -e));
        CHECK(agrees(&q, 0, 0));
        q = graze(ldexp(1, -e));
        CHECK(exact(&q));
    }
}

/* The subdivision twin: boxes of (t, u, v) whose corner values miss zero on an axis are dropped.  1 something is left at
 * width 2^-13; 0 nothing; -1 too many boxes.  Exact for coordinates that are small multiples of 2^-3. */
typedef struct twin {
    const query *q;
    long budget;
} twin;

static double corner(const query *q, double t, double u, double v, int k)
{
    double p[4];
    for (int i = 0; i < 4; i++) p[i] = q->x0[3 * i + k] + t * (q->x1[3 * i + k] - q->x0[3 * i + k]);
    return q->s == ABUT_EE ? p[0] + u * (p[1] - p[0]) - p[2] - v * (p[3] - p[2])
                           : p[0] - p[1] - u * (p[2] - p[1]) - v * (p[3] - p[1]);
}

static int box_has_zero(const query *q, const double lo[3], double const w[3])
{
    for (int k = 0; k < 3; k++) {
        int neg = 0, pos = 0;
        for (int c = 0; c < 8; c++) {
            const double f = corner(q, lo[0] + (c & 1) * w[0], lo[1] + (c >> 1 & 1) * w[1], lo[2] + (c >> 2) * w[2], k);
            neg |= f <= 0, pos |= f >= 0;
        }
        if (!neg || !pos) return 0;
    }
    return 1;
}

static int subdivide(twin *s, const double lo[3], const double w[3], int level)
{
    if (s->q->s == ABUT_PT && lo[1] + lo[2] > 1) return 0;
    if (!box_has_zero(s->q, lo, w)) return 0;
    if (level == 39) return 1;
    if (--s->budget < 0) return -1;
    double half[3] = { w[0], w[1], w[2] }, right[3] = { lo[0], lo[1], lo[2] };
    half[level % 3] /= 2;
    right[level % 3] += half[level % 3];
    const int left = subdivide(s, lo, half, level + 1);
    return left ? left : subdivide(s, right, half, level + 1);
}

static int subdivision(const query *q)
{
    twin s = { q, 200000 };
    return subdivide(&s, (const double[3]){ 0, 0, 0 }, (const double[3]){ 1, 1, 1 }, 0);
}

/* small integers: free, in a plane, on a line, with repeated points, without motion, in a moving plane */
static query small_query(abut_rng *r, int it)
{
    query q = { it & 1 ? ABUT_EE : ABUT_PT, { 0 }, { 0 } };
    const int range = 1 + it / 2 % 3, shape = it / 6 % 6;
    for (int i = 0; i < 12; i++) {
        q.x0[i] = (int)abut_rng_below(r, (uint32_t)(2 * range + 1)) - range;
        q.x1[i] = (int)abut_rng_below(r, (uint32_t)(2 * range + 1)) - range;
    }
    for (int i = 0; i < 4; i++) {
        double *const a = q.x0 + 3 * i, *const b = q.x1 + 3 * i;
        if (shape == 1) a[2] = b[2] = 0;
        if (shape == 2) a[1] = a[2] = b[1] = b[2] = 1;
        if (shape == 3 && i) memcpy(a, q.x0 + 3 * (int)abut_rng_below(r, 2), 24);
        if (shape == 4) memcpy(b, a, 24);
        if (shape == 5) a[2] = a[0] + a[1], b[2] = 3 * b[0] - b[1];
    }
    return q;
}

TEST(small_integer_queries_equal_a_subdivision_that_never_misses)
{
    abut_rng r = { 11 };
    int yes = 0, no = 0, open = 0;
    for (int it = 0, runs = check_runs(6000, 300000); it < runs; it++) {
        const query q = small_query(&r, it);
        const int got = exact(&q), quick = abut_ccd_filter(q.s, q.x0, q.x1, NULL), twin_says = subdivision(&q);
        CHECK(quick < 0 || quick == got);
        if (twin_says < 0) {
            open++;
            continue;
        }
        if (got != twin_says) printf("# query %d: exact %d, subdivision %d\n", it, got, twin_says);
        CHECK(got == twin_says);
        yes += got, no += !got;
    }
    CHECK(yes > 1000 && no > 1000 && open < 30);
}

/* the motion up to t, exact for small integers and dyadic t */
static query part(const query *q, double t)
{
    query p = *q;
    for (int i = 0; i < 12; i++) p.x1[i] = q->x0[i] + t * (q->x1[i] - q->x0[i]);
    return p;
}

TEST(first_time_is_first_no_contact_before_it_and_contact_at_it)
{
    abut_rng r = { 12 };
    int inside = 0;
    for (int it = 0, runs = check_runs(6000, 300000); it < runs; it++) {
        const query q = small_query(&r, it);
        double lo, hi;
        if (!abut_ccd_exact(q.s, q.x0, q.x1, &lo, &hi)) continue;
        CHECK(0 <= lo && lo <= hi && hi <= 1 && hi - lo <= 4 * DBL_EPSILON);
        const double grid = 0x1p40, before = (ceil(lo * grid) - 1) / grid, after = ceil(hi * grid) / grid;
        const query early = part(&q, before), late = part(&q, after);
        if (before > 0) CHECK(!exact(&early));
        CHECK(exact(&late));
        inside += lo != hi;
    }
    CHECK(inside > 300);    /* irrational or at least not dyadic */
}

/* All of these meet at t = sqrt(1/2): a line of slope t, and a point at (t, 1/2).  In three dimensions the face lies in the
 * plane z = t x and the vertex at height 1/2: the coplanarity cubic and the polynomial of the side share a factor. */
TEST(irrational_contact_time_is_decided_and_bracketed)
{
    const double time = sqrt(0.5), bit = 0x1p-40;
    for (int off = -1; off <= 1; off++) {
        const double y = .5 + off * bit;
        const query rim = { ABUT_PT, { 0, y, .5, -1, 0, 0, 2, 0, 0, 0, -5, 0 }, { 1, y, .5, -1, -1, -1, 2, 2, 2, 0, -5, 0 } };
        CHECK(agrees(&rim, off <= 0, time));
        const query end = { ABUT_EE, { -1, 0, 0, 2, 0, 0, 0, off * bit, .5, 0, 1, .5 },
                            { -1, 0, -1, 2, 0, 2, 1, off * bit, .5, 1, 1, .5 } };
        CHECK(agrees(&end, off <= 0, time));
        const query edge = { ABUT_PE,
                             { 0, .5, 0, -1, 0, off * bit, 2, 0, off * bit },
                             { 1, .5, 0, -1, -1, off * bit, 2, 2, off * bit } };
        CHECK(agrees(&edge, off == 0, time));
    }
    const query flat = { ABUT_PT, { 0, .5, 0, -1, 0, 0, 2, 0, 0, 0, -5, 0 }, { 1, .5, 0, -1, -1, 0, 2, 2, 0, 0, -5, 0 } };
    CHECK(agrees(&flat, 1, time));
    const query inside = { ABUT_PT, { 0, 0, .5, -1, -1, 0, 3, -1, 0, 0, 2, 0 }, { 1, 0, .5, -1, -1, -1, 3, -1, 3, 0, 2, 0 } };
    CHECK(agrees(&inside, 1, time));
}

TEST(touch_of_side_corner_and_end_is_contact_and_one_ulp_off_is_none)
{
    abut_rng r = { 13 };
    for (int it = 0, runs = check_runs(4000, 200000); it < runs; it++) {
        const double o = it % 3 == 0 ? 0 : it % 3 == 1 ? 1024 : 1048576, ulp = nextafter(o + 4, 1e9) - (o + 4);
        const double s = ldexp((int)abut_rng_below(&r, 257), -8);   /* place on the side, the corners too */
        const double z0 = 1 + (int)abut_rng_below(&r, 4), z1 = -(double)abut_rng_below(&r, 4);   /* the end, too */
        for (int off = -1; off <= 1; off++) {
            /* face (0,0) (4,0) (0,4): the point s of the way along the hypotenuse, then outwards or inwards */
            query q = { ABUT_PT,
                        { 4 - 4 * s, 4 * s, z0, 0, 0, 0, 4, 0, 0, 0, 4, 0 },
                        { 4 - 4 * s, 4 * s, z1, 0, 0, 0, 4, 0, 0, 0, 4, 0 } };
            /* edge b ends at s on edge a, or short of it */
            query e = { ABUT_EE,
                        { 0, 0, 0, 4, 0, 0, 4 * s, 0, z0, 4 * s, 3, z0 },
                        { 0, 0, 0, 4, 0, 0, 4 * s, 0, z1, 4 * s, 3, z1 } };
            for (int i = 0; i < 12; i++) q.x0[i] += o, q.x1[i] += o, e.x0[i] += o, e.x1[i] += o;
            q.x0[0] += off * ulp, q.x1[0] += off * ulp;
            e.x0[7] += off * ulp, e.x1[7] += off * ulp;
            const double time = z0 / (z0 - z1);
            CHECK(agrees(&q, off <= 0 && !(off < 0 && s == 1), time));
            CHECK(agrees(&e, off <= 0, time));
        }
    }
}

/* one transformation of a query that contact does not see */
static query transformed(const query *q, int how, abut_rng *r)
{
    query p = *q;
    const int shear = (int)abut_rng_below(r, 5) - 2;
    for (int i = 0; i < 4; i++) {
        double *const a = p.x0 + 3 * i, *const b = p.x1 + 3 * i;
        for (int k = 0; k < 3; k++) {
            if (how == 0) a[k] = q->x1[3 * i + k], b[k] = q->x0[3 * i + k];
            if (how == 1) a[k] = ldexp(a[k], 20 * k - 30), b[k] = ldexp(b[k], 20 * k - 30);
            if (how == 2) a[k] += 1048576.125 * (k + 1), b[k] += 1048576.125 * (k + 1);
            if (how == 3) b[k] += 7 * k - 5;
            if (how == 4) a[k] = q->x0[3 * i + (k + 1) % 3], b[k] = q->x1[3 * i + (k + 1) % 3];
            if (how == 5) a[k] = -a[k], b[k] = -b[k];
        }
        if (how == 6) a[0] += shear * a[1], b[0] += shear * b[1];
    }
    for (int t = 0; t < 2 && how >= 7; t++) {
        double *const x = t ? p.x1 : p.x0;
        const double *const y = t ? q->x1 : q->x0;
        static const int swap[4][2][4] = { { { 0, 2, 3, 1 }, { 1, 0, 2, 3 } }, { { 0, 1, 3, 2 }, { 0, 1, 3, 2 } },
                                           { { 0, 3, 2, 1 }, { 2, 3, 0, 1 } }, { { 0, 2, 1, 3 }, { 3, 2, 1, 0 } } };
        for (int i = 0; i < 4; i++) memcpy(x + 3 * i, y + 3 * swap[how - 7][q->s == ABUT_EE][i], 24);
    }
    return p;
}

TEST(answer_does_not_change_under_symmetries_and_affine_maps)
{
    abut_rng r = { 14 };
    for (int it = 0, runs = check_runs(1500, 75000); it < runs; it++) {
        const query q = small_query(&r, it);
        const int want = exact(&q);
        for (int how = 0; how < 11; how++) {
            const query p = transformed(&q, how, &r);
            if (exact(&p) != want) printf("# query %d, transformation %d: %d, not %d\n", it, how, !want, want);
            CHECK(exact(&p) == want);
        }
        const query first = part(&q, .5);
        query second = q;
        memcpy(second.x0, first.x1, sizeof second.x0);
        CHECK((exact(&first) || exact(&second)) == want);
    }
}

TEST(random_doubles_filter_and_integers_agree)
{
    abut_rng r = { 15 };
    int decided[ABUT_FILTER_STAGES] = { 0 };
    for (int it = 0, runs = check_runs(6000, 300000); it < runs; it++) {
        query q = { it & 1 ? ABUT_EE : ABUT_PT, { 0 }, { 0 } };
        const double size = ldexp(1, -(int)abut_rng_below(&r, 40)), offset = it % 3 ? 0 : 1e6;
        for (int i = 0; i < 12; i++) {
            q.x0[i] = offset + abut_rng_real(&r, -1, 1);
            q.x1[i] = q.x0[i] + size * abut_rng_real(&r, -1, 1);
            if (it % 4 == 0 && i % 3 == 2) q.x0[i] = offset + (i < 3 ? size : 0), q.x1[i] = offset - (i < 3 ? size : 0);
        }
        int stage;
        double lo, hi;
        const int quick = abut_ccd_filter(q.s, q.x0, q.x1, &stage);
        /* asking for the time of a contact goes past the filter's yes; a reversed query has other roundings */
        const int timed = abut_ccd_exact(q.s, q.x0, q.x1, &lo, &hi);
        const query back = transformed(&q, 0, &r);
        CHECK(quick < 0 || quick == timed);
        CHECK(exact(&back) == timed);
        decided[stage]++;
    }
    for (int i = ABUT_FILTER_BOX; i < ABUT_FILTER_STAGES; i++) CHECK(decided[i] > 100);
}

/* A point well through the middle of a triangle, an edge well through that of another, in every direction. */
TEST(clear_crossings_are_certified_in_every_direction_and_one_end_of_their_time_is_that_of_both)
{
    abut_rng r = { 25 };
    for (int it = 0; it < 288; it++) {
        query q = it & 1 ? edge_query(.5, .5, -1) : face_query(.3, .3, .5, -1);      /* at t = 1/3 */
        double R[3][3], shift[3];
        for (int i = 0; i < 3; i++)             /* rows near those of a permutation and signs, of full rank */
            for (int k = 0; k < 3; k++)
                R[i][k] = ((it / 2 % 3 + i) % 3 == k ? (it / 6 >> i & 1 ? -1 : 1) : 0) + abut_rng_real(&r, -0.3, 0.3);
        for (int k = 0; k < 3; k++) shift[k] = abut_rng_real(&r, -1, 1);
        query m = { q.s, { 0 }, { 0 } };
        for (int i = 0; i < 12; i++)
            for (int k = 0; k < 3; k++) {
                m.x0[i] += R[i % 3][k] * q.x0[i / 3 * 3 + k] + shift[k] / 3;
                m.x1[i] += R[i % 3][k] * q.x1[i / 3 * 3 + k] + shift[(k + 1) % 3] / 3;
            }
        int stage = -1;
        double lo = -1, hi = -1, low = -1, high = -1;
        CHECK(abut_ccd_filter(m.s, m.x0, m.x1, &stage) == 1 && stage == ABUT_FILTER_CROSS);
        CHECK(abut_ccd_exact(m.s, m.x0, m.x1, &lo, &hi) == 1 && lo <= hi && fabs(lo - 1 / 3.) < 1e-12 && hi - lo < 1e-15);
        CHECK(abut_ccd_exact(m.s, m.x0, m.x1, &low, NULL) == 1 && abut_ccd_exact(m.s, m.x0, m.x1, NULL, &high) == 1);
        CHECK(low == lo && high == hi);
        low = high = -1;
        CHECK(abut_ccd_exact_within(m.s, m.x0, m.x1, 1e-3, &lo, &hi) == 1 && lo <= hi && hi < 1 / 3.);
        CHECK(abut_ccd_exact_within(m.s, m.x0, m.x1, 1e-3, &low, NULL) == 1);
        CHECK(abut_ccd_exact_within(m.s, m.x0, m.x1, 1e-3, NULL, &high) == 1 && low == lo && high == hi);
    }
    /* a tet whose corner goes through the opposite face at t = 1/2 */
    const double x0[12] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1 }, x1[12] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, -1 };
    double lo = -1, hi = -1;
    CHECK(abut_ccd_exact_inverts(x0, x1, &lo, NULL) && lo == 0.5);
    CHECK(abut_ccd_exact_inverts(x0, x1, NULL, &hi) && hi == 0.5);
    CHECK(abut_ccd_exact_inverts(x0, x1, NULL, NULL));
}

/* Motions in a plane that slopes, but for rounding: every determinant is of the size of its error, and every sign is in doubt.
 * Every third goes across an edge, but for rounding, at t = 1/2, or straight down along it all the way: the plane is crossed for
 * sure, at a place in doubt. */
TEST(where_rounding_decides_the_filter_says_nothing_that_the_integers_do_not)
{
    abut_rng r = { 16 };
    int yes = 0, no = 0;
    for (int it = 0, runs = check_runs(4000, 200000); it < runs; it++) {
        query q = { it & 1 ? ABUT_EE : ABUT_PT, { 0 }, { 0 } };
        const double a = abut_rng_real(&r, -1, 1), b = abut_rng_real(&r, -1, 1), far = it % 4 < 2 ? 0 : 3;
        const double noise = it % 8 < 4 ? 0 : 0x1p-52;
        for (int t = 0; t < 2; t++)
            for (int i = 0; i < 4; i++) {
                double *const x = (t ? q.x1 : q.x0) + 3 * i;
                x[0] = far + abut_rng_real(&r, -1, 1), x[1] = far + abut_rng_real(&r, -1, 1);
                x[2] = a * x[0] + b * x[1] + noise * abut_rng_real(&r, -1, 1);
            }
        const int e = q.s == ABUT_EE ? 6 : 3;       /* the edge that point 0 meets */
        const double part = abut_rng_real(&r, 0, 1);
        for (int k = 0; k < 3 && it % 3 == 0; k++) {
            for (int i = 0; i < 4; i++) q.x0[3 * i + k] = abut_rng_real(&r, -1, 1), q.x1[3 * i + k] = abut_rng_real(&r, -1, 1);
            const double from = (q.x0[e + k] + q.x1[e + k]) / 2, to = (q.x0[e + 3 + k] + q.x1[e + 3 + k]) / 2;
            q.x1[k] = 2 * (from + part * (to - from)) - q.x0[k];
        }
        if (it % 12 < 6 && it % 3 == 0) {
            memcpy(q.x1, q.x0, sizeof q.x1);
            for (int k = 0; k < 2; k++) q.x0[k] = q.x1[k] = q.x0[e + k] + part * (q.x0[e + 3 + k] - q.x0[e + k]);
            for (int i = 2; i < e; i += 3) q.x0[i] = 2, q.x1[i] = -2;
        }
        const int quick = abut_ccd_filter(q.s, q.x0, q.x1, NULL);
        double lo, hi;
        const int timed = abut_ccd_exact(q.s, q.x0, q.x1, &lo, &hi);    /* goes past the filter's yes */
        const query back = transformed(&q, 0, &r);
        CHECK(quick < 0 || quick == timed);
        CHECK(exact(&back) == timed);
        yes += timed, no += !timed;
    }
    CHECK(yes > 500 && no > 500);
}

TEST(hostile_coordinates_give_a_contact_or_the_exact_answer)
{
    query q = face_query(.25, .25, 1, -1);
    q.x1[2] = NAN;
    CHECK(exact(&q));
    q.x1[2] = INFINITY;
    CHECK(exact(&q));
    q = face_query(.25, .25, DBL_TRUE_MIN, -DBL_TRUE_MIN);
    CHECK(agrees(&q, 1, .5));
    q = face_query(.25, .25, 1e300, -1e300);
    CHECK(exact(&q));
    q = face_query(.25, .25, DBL_MAX, DBL_TRUE_MIN);
    CHECK(!exact(&q));
    q = face_query(.25, .25, DBL_MAX, 0);
    CHECK(agrees(&q, 1, 1));
    q = face_query(-0.0, .25, -0.0, -0.0);
    CHECK(agrees(&q, 1, 0));
    /* contact at t = 2^-1100 or so: not a double, but above zero and below the smallest normal one */
    q = face_query(.25, .25, DBL_TRUE_MIN, -1e300);
    double lo, hi;
    CHECK(abut_ccd_exact(q.s, q.x0, q.x1, &lo, &hi) && lo >= 0 && hi > 0 && hi < 1e-200);
}
