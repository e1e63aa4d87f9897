/* Additive CCD with a minimum separation, against the published algorithm written out (Li 2020, algorithm 4), against times of
 * impact found by marching, and against closed forms. */
#include "base/rng.h"
#include "check.h"
#include "geom/ccd/ccd.h"

typedef struct motion {
    abut_stencil s;
    double x[12], p[12];    /* start, displacement */
    double xi;
} motion;

static double length(const double *a) { return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

/* distance less xi at x + t p */
static double gap_at(const motion *m, double t)
{
    double x[12] = { 0 }, d2;
    for (int i = 0; i < 3 * abut_stencil_size(m->s); i++) x[i] = m->x[i] + t * m->p[i];
    abut_nearest(m->s, x, &d2);
    return (d2 - m->xi * m->xi) / (sqrt(d2) + m->xi);
}

/* upper bound of the speed at which the distance falls, in the frame of the mean motion */
static double speed(const motion *m)
{
    const int n = abut_stencil_size(m->s), second = abut_stencil_second(m->s);
    double mean[3] = { 0 }, most[2] = { 0 };
    for (int i = 0; i < 3 * n; i++) mean[i % 3] += m->p[i] / n;
    for (int i = 0; i < n; i++) {
        const double q[3] = { m->p[3 * i] - mean[0], m->p[3 * i + 1] - mean[1], m->p[3 * i + 2] - mean[2] };
        most[i >= second] = fmax(most[i >= second], length(q));
    }
    return most[0] + most[1];
}

/* Algorithm 4 with its early exit: time, or 2 for none; *count: evaluations of the distance after the first. */
static double published(const motion *m, double s, int *count)
{
    const double lp = speed(m), gap0 = gap_at(m, 0), g = s * gap0;
    double t = 0, tl = (1 - s) * gap0 / lp, gap = gap0;
    *count = 0;
    while (!(gap - lp * (1 - t) >= g)) {
        gap = gap_at(m, t + tl);
        ++*count;
        if (t > 0 && gap < g) return t;
        t += tl;
        if (t > 1) return 2;
        tl = 0.9 * gap / lp;
    }
    return 2;
}

static abut_ccd_answer library(const motion *m, double s, double *t)
{
    double x1[12] = { 0 };
    for (int i = 0; i < 12; i++) x1[i] = m->x[i] + m->p[i];
    return abut_ccd_additive(m->s, m->x, x1, m->xi, s, 1, t);
}

static motion falling(double height, double by, double xi)
{
    return (motion){ ABUT_PT, { 0.25, 0.25, height, 0, 0, 0, 1, 0, 0, 0, 1, 0 }, { 0, 0, -by }, xi };
}

static motion crossing(double xi)
{
    return (motion){
        ABUT_EE, { -1, 0, 0, 1, 0, 0, 0, -1, 0.2, 0, 1, 0.2 }, { 0, 0, 0.15, 0, 0, 0.15, 0, 0, -0.15, 0, 0, -0.15 }, xi
    };
}

TEST(the_published_cases_have_their_times_and_counts_and_the_library_goes_as_far_or_further)
{
    const motion parallel = {
        ABUT_EE, { -1, 0, 0, 1, 0, 0, -1, 0, 0.01, 1, 0, 0.01 }, { 0, 0, 0, 0, 0, 0, 0.3, 0, -0.02, 0.3, 0, -0.02 }, 1e-3
    };
    const struct {
        motion m;
        double s, t;
        int count;
        double impact;      /* exact time, 2: none */
    } row[] = {
        { falling(0.1, 0.2, 0), 0.1, 0.45, 2, 0.5 },         { falling(0.1, 0.2, 1e-3), 0.1, 0.4455, 2, 0.495 },
        { falling(0.1, 0.2, 1e-2), 0.1, 0.405, 2, 0.45 },    { falling(0.1, 0.2, 5e-2), 0.1, 0.225, 2, 0.25 },
        { falling(0.1, 0.2, 0), 0.2, 0.4, 2, 0.5 },          { falling(0.1, 0.2, 1e-3), 0.2, 0.396, 2, 0.495 },
        { falling(0.1, 0.2, 1e-2), 0.2, 0.36, 2, 0.45 },     { falling(0.1, 0.2, 5e-2), 0.2, 0.2, 2, 0.25 },
        { crossing(0), 0.1, 0.6, 2, 2. / 3 },                { crossing(1e-3), 0.1, 0.597, 2, 0.199 / 0.3 },
        { crossing(0.1), 0.1, 0.3, 2, 1. / 3 },              { parallel, 0.1, 0.404163162828904, 38, 0.45 },
        { falling(3e-4 + 1e-8, 0.1, 3e-4), 0.1, 9e-8, 2, 1e-7 },
        { { ABUT_PT, { 0.25, 0.25, 2e-3, 0, 0, 0, 1, 0, 0, 0, 1, 0 }, { 0.3, 0.1, 0 }, 1e-3 }, 0.1, 2, 351, 2 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const motion *m = &row[i].m;
        int count;
        double t;
        CHECK_NEAR(published(m, row[i].s, &count) / row[i].t, 1, i == 12 ? 1e-8 : 1e-12);
        CHECK(count == row[i].count);
        const abut_ccd_answer a = library(m, row[i].s, &t);
        CHECK(a == (row[i].impact > 1 ? ABUT_CCD_CLEAR : ABUT_CCD_HIT));
        if (a != ABUT_CCD_HIT) continue;
        CHECK(t >= row[i].t * (1 - (i == 12 ? 1e-7 : 1e-12)) && t < row[i].impact);
        CHECK(gap_at(m, t) >= row[i].s * gap_at(m, 0) * (1 - 1e-6) && gap_at(m, t) <= 1.1 * row[i].s * gap_at(m, 0));
    }
}

static const double all_xi[] = { 0, 1e-4, 1e-3, 0.1 };

/* Points in a unit box; the first primitive goes up to twice its way to the second, all points with some noise. */
static motion random_motion(abut_rng *r, abut_stencil s, double xi)
{
    motion m = { .s = s, .xi = xi };
    const int n = abut_stencil_size(s), second = abut_stencil_second(s);
    const double fast = pow(10, abut_rng_real(r, -3, 0.3)), aim = abut_rng_real(r, 0, 2);
    do {
        for (int i = 0; i < 3 * abut_stencil_size(s); i++)
            m.x[i] = abut_rng_real(r, 0, 1), m.p[i] = fast * abut_rng_real(r, -1, 1);
    } while (!(gap_at(&m, 0) > 1e-3));
    for (int d = 0; d < 3; d++) {
        double way = 0;
        for (int i = 0; i < n; i++) way += m.x[3 * i + d] / (i < second ? -second : n - second);
        for (int i = 0; i < second; i++) m.p[3 * i + d] += aim * way;
    }
    return m;
}

/* The first time at which the gap is below 1e-11, marched in steps that cannot jump over it; 2: none. */
static double marched(const motion *m)
{
    const double lp = speed(m);
    double t = 0;
    for (int k = 0; k < 2000000 && t <= 1; k++) {
        const double gap = gap_at(m, t);
        if (gap < 1e-11) return t;
        t += gap / lp;
    }
    return 2;
}

TEST(it_never_goes_beyond_a_marched_impact_nor_short_of_the_lower_bound)
{
    const double s = 0.1;
    abut_rng r = { 41 };
    for (abut_stencil kind = ABUT_PP; kind <= ABUT_EE; kind++)
        for (int x = 0; x < 4; x++) {
            int hits = 0, bad = 0, late = 0, short_ = 0, missed = 0, idle = 0;
            for (int k = 0, runs = check_runs(5000, 100000); k < runs; k++) {
                const motion m = random_motion(&r, kind, all_xi[x]);
                double t;
                const abut_ccd_answer a = library(&m, s, &t);
                const double impact = marched(&m), gap0 = gap_at(&m, 0);
                bad += a == ABUT_CCD_BAD;
                missed += a == ABUT_CCD_CLEAR && impact <= 1;
                if (a != ABUT_CCD_HIT) continue;
                hits++;
                late += !(t < impact);
                short_ += !(t >= (1 - s) * gap0 / speed(&m) * (1 - 1e-9));
                idle += !(gap_at(&m, t) >= s * gap0 * (1 - 1e-9) && gap_at(&m, t) <= 10 * s * gap0);
                for (int i = 1; i < 8; i++) late += !(gap_at(&m, t * i / 8) >= s * gap0 * (1 - 1e-9));
            }
            CHECK(bad == 0 && late == 0 && short_ == 0 && missed == 0 && idle == 0);
            CHECK(hits > 100);
        }
}

TEST(it_goes_no_less_far_than_the_published_algorithm)
{
    abut_rng r = { 42 };
    int further = 0, runs = check_runs(4000, 200000);
    for (int k = 0; k < runs; k++) {
        const motion m = random_motion(&r, (abut_stencil)(k % 4), all_xi[k / 4 % 4]);
        double t;
        int count;
        const double want = published(&m, 0.1, &count);
        const abut_ccd_answer a = library(&m, 0.1, &t);
        if (want > 1) continue;     /* clear there: then the exact distance is above the goal, and the library may say either */
        CHECK(a == ABUT_CCD_CLEAR || gap_at(&m, t) <= 1.06 * 0.1 * gap_at(&m, 0) || t >= want);
        further += a == ABUT_CCD_CLEAR || t >= want;
    }
    CHECK(further > 100);
}

TEST(times_do_not_depend_on_the_unit_and_hardly_on_the_frame)
{
    abut_rng r = { 43 };
    int hits = 0;
    for (int k = 0; k < 4000; k++) {
        motion m = random_motion(&r, (abut_stencil)(k % 4), all_xi[k / 4 % 4]), big = m, moving = m;
        double t, u;
        const double by = ldexp(1, k % 41 - 20),
                     drift[3] = { abut_rng_real(&r, -1, 1), abut_rng_real(&r, -1, 1), abut_rng_real(&r, -1, 1) };
        /* the displacement is what is left of two rounded positions: make it exact, with an eye to the drift */
        for (int i = 0; i < 12; i++) m.x[i] = ldexp(floor(ldexp(m.x[i], 30)), -30), m.p[i] = ldexp(floor(ldexp(m.p[i], 30)), -30);
        for (int i = 0; i < 12; i++) big.x[i] = by * m.x[i], big.p[i] = by * m.p[i];
        big.xi = by * m.xi;
        const abut_ccd_answer a = library(&m, 0.1, &t);
        CHECK(library(&big, 0.1, &u) == a && !memcmp(&t, &u, sizeof t));
        moving = m;
        for (int i = 0; i < 3 * abut_stencil_size(m.s); i++) moving.p[i] += ldexp(floor(ldexp(drift[i % 3], 30)), -30);
        CHECK(library(&moving, 0.1, &u) == a);
        hits += a == ABUT_CCD_HIT;
        if (a == ABUT_CCD_HIT) CHECK_NEAR(u / t, 1, 1e-9);
    }
    CHECK(hits > 500);
}

TEST(sliding_at_a_thickness_is_clear_at_once_whatever_the_gap)
{
    for (int e = 3; e <= 9; e++) {
        const double gap = pow(10, -e), xi = 1e-3;
        double t;
        const motion slide = { ABUT_PT, { 0.25, 0.25, xi + gap, 0, 0, 0, 1, 0, 0, 0, 1, 0 }, { 0.3, 0.1, 0 }, xi };
        CHECK(library(&slide, 0.1, &t) == ABUT_CCD_CLEAR);
        const motion past = { ABUT_EE, { -1, 0, xi + gap, 1, 0, xi + gap, 0, -1, 0, 0, 1, 0 }, { 0.2, 0.3, 0, 0.2, 0.3, 0 }, xi };
        CHECK(library(&past, 0.1, &t) == ABUT_CCD_CLEAR);
    }
}

/* A pair of about a centimetre whose nearest points are xi + gap apart, up to the rounding of its coordinates: the first is
 * drawn up to the second.  It moves by up to `fast` towards it and aside. */
static motion close_motion(abut_rng *r, abut_stencil s, double xi, double gap, double fast)
{
    const int n = abut_stencil_size(s), second = abut_stencil_second(s);
    motion m = { .s = s, .xi = xi };
    double w[4], way[3], d;
    do {
        for (int i = 0; i < 3 * n; i++) m.x[i] = abut_rng_real(r, 0.1, 0.11);
        d = sqrt(abut_closest(s, m.x, w));
    } while (!(d > 1e-3));
    for (int k = 0; k < 3; k++) {
        way[k] = 0;
        for (int i = 0; i < n; i++) way[k] -= w[i] * m.x[3 * i + k] / d;
    }
    for (int i = 0; i < 3 * second; i++) m.x[i] += (d - xi - gap) * way[i % 3];
    const double aim = abut_rng_real(r, -0.2, 1);
    for (int i = 0; i < 3 * n; i++) m.p[i] = fast * (0.3 * abut_rng_real(r, -1, 1) + (i < 3 * second ? aim * way[i % 3] : 0));
    return m;
}

/* xi 0.1 mm, gaps of 1 to 100 nm, motions from those to a centimetre: exact arithmetic finds the thickness kept all the way. */
TEST(nanometres_at_a_tenth_of_a_millimetre_are_kept_exactly)
{
    const double xi = 1e-4, s = 0.1;
    abut_rng r = { 44 };
    for (abut_stencil kind = ABUT_PP; kind <= ABUT_EE; kind++) {
        int clear = 0, hits = 0, bad = 0, late = 0, idle = 0;
        for (int k = 0, runs = check_runs(1500, 100000); k < runs; k++) {
            const double gap = pow(10, abut_rng_real(&r, -9, -7)), fast = pow(10, abut_rng_real(&r, -8, -2));
            const motion m = close_motion(&r, kind, xi, k % 3 ? gap : 1e-8, fast);
            double t, x1[12] = { 0 };
            const double gap0 = gap_at(&m, 0);
            const abut_ccd_answer a = library(&m, s, &t);
            for (int i = 0; i < 12; i++) x1[i] = m.x[i] + t * m.p[i];
            bad += a == ABUT_CCD_BAD;
            late += abut_ccd_exact_within(kind, m.x, x1, xi, NULL, NULL);
            clear += a == ABUT_CCD_CLEAR;
            if (a != ABUT_CCD_HIT) continue;
            hits++;
            idle += !(t >= (1 - s) * gap0 / speed(&m) * (1 - 1e-6) && gap_at(&m, t) <= 1.2 * s * gap0);
        }
        CHECK(bad == 0 && late == 0 && idle == 0);
        CHECK(clear > 100 && hits > 500);
    }
}

TEST(degenerate_and_unusable_input_is_answered)
{
    const double xi = 1e-2;
    double t;
    motion still = falling(0.1, 0, xi), within = falling(0.5 * xi, 0.1, xi), at = falling(xi, 0.1, xi),
           hole = falling(0.1, 0.2, xi);
    CHECK(library(&still, 0.1, &t) == ABUT_CCD_CLEAR);
    CHECK(library(&within, 0.1, &t) == ABUT_CCD_BAD && t == 0);
    CHECK(library(&at, 0.1, &t) == ABUT_CCD_BAD);
    hole.p[2] = NAN;
    CHECK(library(&hole, 0.1, &t) == ABUT_CCD_BAD);
    const motion same = { ABUT_PP, { 1, 2, 3, 1, 2, 3 }, { 1 }, 0 };
    CHECK(library(&same, 0.1, &t) == ABUT_CCD_BAD);
    /* a triangle without area, edges without length, collinear edges: times of the segments and points that are left */
    motion line = falling(0.1, 0.2, xi), dot = falling(0.1, 0.2, xi);
    memcpy(line.x + 3, (double[9]){ 0, 0.25, 0, 1, 0.25, 0, 0.5, 0.25, 0 }, 9 * sizeof(double));
    memcpy(dot.x + 3, (double[9]){ 0.25, 0.25, 0, 0.25, 0.25, 0, 0.25, 0.25, 0 }, 9 * sizeof(double));
    const motion row = { ABUT_EE, { 0, 0, 0, 1, 0, 0, 1.1, 0, 0, 2, 0, 0 }, { 0.2, 0, 0, 0.2, 0, 0 }, xi };
    const motion points = { ABUT_EE, { 0, 0, 0, 0, 0, 0, 0.1, 0, 0, 0.1, 0, 0 }, { 0.2, 0, 0, 0.2, 0, 0 }, xi };
    const motion *flat[] = { &line, &dot, &row, &points };
    for (int i = 0; i < 4; i++) {
        CHECK(library(flat[i], 0.1, &t) == ABUT_CCD_HIT);
        CHECK(t >= 0.405 * (1 - 1e-9) && t < 0.45);
    }
}
