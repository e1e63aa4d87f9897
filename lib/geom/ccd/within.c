/* The set of instants with dist <= sep is closed.  If it starts at t > 0, then dist = sep there, and a nearest pair of points
 * lies inside a feature F (points, lines, plane) whose conditions hold strictly: they hold just before t too, where the
 * distance of F is above sep.  So the squared distance of F less sep^2, a polynomial, is zero at t and not everywhere: the
 * instants to test are 0 and the roots of these polynomials (1 is added, as a double that needs no isolation). */
#include "geom/ccd/ccd.h"
#include "geom/exact/zpoly.h"
#include "geom/ccd/filter.h"

enum { MAX_FEATURES = 9, MAX_CONDITIONS = 4 };

/* Two points at distance <= sep exist when every condition is > 0 and excess is <= 0 */
typedef struct feature {
    int n;
    abut_zpoly condition[MAX_CONDITIONS], excess;
} feature;

typedef struct query {
    int np, nf;
    abut_zpoly x[4][3], sep2;
    feature f[MAX_FEATURES];
} query;

typedef abut_zpoly vector[3];

static void vector_init(vector v)
{
    for (int k = 0; k < 3; k++) abut_zpoly_init(&v[k]);
}

static void vector_clear(vector v)
{
    for (int k = 0; k < 3; k++) abut_zpoly_clear(&v[k]);
}

static void between(const query *q, int i, int j, vector out)
{
    for (int k = 0; k < 3; k++) abut_zpoly_sub(&out[k], &q->x[i][k], &q->x[j][k]);
}

/* out += s u . v */
static void add_dot(abut_zpoly *out, int s, vector u, vector v)
{
    for (int k = 0; k < 3; k++) abut_zpoly_addmul(out, s, &u[k], &v[k]);
}

/* out = u x v, out new */
static void cross(vector u, vector v, vector out)
{
    for (int k = 0; k < 3; k++) {
        abut_zpoly_addmul(&out[k], 1, &u[(k + 1) % 3], &v[(k + 2) % 3]);
        abut_zpoly_addmul(&out[k], -1, &u[(k + 2) % 3], &v[(k + 1) % 3]);
    }
}

static feature *new_feature(query *q, int conditions)
{
    feature *const f = &q->f[q->nf++];
    f->n = conditions;
    abut_zpoly_init(&f->excess);
    for (int i = 0; i < MAX_CONDITIONS; i++) abut_zpoly_init(&f->condition[i]);
    return f;
}

/* |x_i - x_j|^2 - sep^2 */
static void add_points(query *q, int i, int j)
{
    feature *const f = new_feature(q, 0);
    vector r;
    vector_init(r);
    between(q, i, j, r);
    add_dot(&f->excess, 1, r, r);
    abut_zpoly_sub(&f->excess, &f->excess, &q->sep2);
    vector_clear(r);
}

/* |r x e|^2 - sep^2 |e|^2 with r = x_p - x_a, e = x_b - x_a, where 0 < r.e < |e|^2 */
static void add_point_edge(query *q, int p, int a, int b)
{
    feature *const f = new_feature(q, 2);
    vector r, e, c;
    abut_zpoly ee;
    vector_init(r), vector_init(e), vector_init(c);
    abut_zpoly_init(&ee);
    between(q, p, a, r);
    between(q, b, a, e);
    cross(r, e, c);
    add_dot(&ee, 1, e, e);
    add_dot(&f->condition[0], 1, r, e);
    add_dot(&f->condition[1], 1, e, e);
    add_dot(&f->condition[1], -1, r, e);
    add_dot(&f->excess, 1, c, c);
    abut_zpoly_addmul(&f->excess, -1, &q->sep2, &ee);
    vector_clear(r), vector_clear(e), vector_clear(c);
    abut_zpoly_clear(&ee);
}

/* excess = (n.r)^2 - sep^2 n.n */
static void plane_excess(const query *q, vector n, vector r, abut_zpoly *excess)
{
    abut_zpoly d, nn;
    abut_zpoly_init(&d);
    abut_zpoly_init(&nn);
    add_dot(&d, 1, n, r);
    add_dot(&nn, 1, n, n);
    abut_zpoly_addmul(excess, 1, &d, &d);
    abut_zpoly_addmul(excess, -1, &q->sep2, &nn);
    abut_zpoly_clear(&d);
    abut_zpoly_clear(&nn);
}

/* the foot of point 0 is inside the triangle 1 2 3: (n x side) . (p - corner) > 0 for all sides */
static void add_point_face(query *q)
{
    feature *const f = new_feature(q, 3);
    vector u, v, n;
    vector_init(u), vector_init(v), vector_init(n);
    between(q, 2, 1, u);
    between(q, 3, 1, v);
    cross(u, v, n);
    for (int i = 1; i <= 3; i++) {
        vector m;
        vector_init(m);
        between(q, 1 + i % 3, i, u);
        between(q, 0, i, v);
        cross(n, u, m);
        add_dot(&f->condition[i - 1], 1, m, v);
        vector_clear(m);
    }
    plane_excess(q, n, v, &f->excess);
    vector_clear(u), vector_clear(v), vector_clear(n);
}

/* u, v the edges, w from b0 to a0, n = u x v: the nearest points of the lines are at s = -w.(v x n) / n.n along u and
 * t = -w.(u x n) / n.n along v; both strictly between 0 and 1 */
static void add_edges(query *q)
{
    feature *const f = new_feature(q, 4);
    vector e[2], w, n;
    vector_init(e[0]), vector_init(e[1]), vector_init(w), vector_init(n);
    between(q, 1, 0, e[0]);
    between(q, 3, 2, e[1]);
    between(q, 0, 2, w);
    cross(e[0], e[1], n);
    for (int i = 0; i < 2; i++) {
        vector m;
        vector_init(m);
        cross(e[1 - i], n, m);
        add_dot(&f->condition[2 * i], -1, w, m);
        add_dot(&f->condition[2 * i + 1], 1, n, n);
        add_dot(&f->condition[2 * i + 1], 1, w, m);
        vector_clear(m);
    }
    plane_excess(q, n, w, &f->excess);
    vector_clear(e[0]), vector_clear(e[1]), vector_clear(w), vector_clear(n);
}

/* one power of two for all axes and the distance: lengths must stay comparable */
static void set_points(query *q, const double *x0, const double *x1, double sep)
{
    const int n = 3 * q->np;
    const int e0 = abut_big_exponent(x0, n), e1 = abut_big_exponent(x1, n), es = abut_big_exponent(&sep, 1);
    int e = es;
    for (int i = 0; i < n; i++) {   /* a set of zeros has no exponent of its own */
        if (x0[i] != 0 && e0 < e) e = e0;
        if (x1[i] != 0 && e1 < e) e = e1;
    }
    for (int i = 0; i < n; i++) {
        abut_zpoly *const p = &q->x[i / 3][i % 3];
        abut_zpoly_init(p);
        abut_big_set(p->c[0], x0[i], e);
        abut_big_set(p->c[1], x1[i], e);
        mpz_sub(p->c[1], p->c[1], p->c[0]);
        p->deg = mpz_sgn(p->c[1]) ? 1 : mpz_sgn(p->c[0]) ? 0 : -1;
    }
    abut_zpoly_init(&q->sep2);
    abut_big_set(q->sep2.c[0], sep, e);
    mpz_mul(q->sep2.c[0], q->sep2.c[0], q->sep2.c[0]);
    q->sep2.deg = 0;
}

static void query_init(query *q, abut_stencil s, const double *x0, const double *x1, double sep)
{
    const abut_corners *const c = abut_corners_of(s);
    q->np = c->np;
    q->nf = 0;
    set_points(q, x0, x1, sep);
    for (int i = 0; i < c->split; i++)
        for (int j = c->split; j < c->np; j++) add_points(q, i, j);
    for (int i = 0; i < c->n && s != ABUT_PP; i++) add_point_edge(q, c->at[i][0], c->at[i][1], c->at[i][2]);
    if (s == ABUT_PT) add_point_face(q);
    if (s == ABUT_EE) add_edges(q);
}

static void query_clear(query *q)
{
    for (int i = 0; i < 3 * q->np; i++) abut_zpoly_clear(&q->x[i / 3][i % 3]);
    abut_zpoly_clear(&q->sep2);
    for (int i = 0; i < q->nf; i++) {
        abut_zpoly_clear(&q->f[i].excess);
        for (int j = 0; j < MAX_CONDITIONS; j++) abut_zpoly_clear(&q->f[i].condition[j]);
    }
}

static int near_at(const query *q, abut_roots *r, int i)
{
    for (int k = 0; k < q->nf; k++) {
        const feature *const f = &q->f[k];
        int near = abut_roots_sign(r, i, &f->excess) <= 0;
        for (int j = 0; near && j < f->n; j++) near = abut_roots_sign(r, i, &f->condition[j]) > 0;
        if (near) return 1;
    }
    return 0;
}

static void test_roots(const query *q, const abut_zpoly *p, abut_first_time *a)
{
    if (p->deg < 1) return;
    abut_roots r;
    abut_roots_find(&r, p);
    for (int i = 0; i < r.n && !(a->hit && !a->want_time); i++)
        if (near_at(q, &r, i)) abut_first_time_take(a, &r, i);
    abut_roots_clear(&r);
}

static void decide(const query *q, abut_first_time *a)
{
    abut_zpoly ends;
    abut_zpoly_ends(&ends);
    test_roots(q, &ends, a);
    abut_zpoly_clear(&ends);
    for (int i = 0; i < q->nf && !abut_first_time_done(a); i++) test_roots(q, &q->f[i].excess, a);
}

int abut_ccd_exact_within(abut_stencil s, const double *x0, const double *x1, double sep, double *t_lo, double *t_hi)
{
    const size_t n = 3 * (size_t)abut_stencil_size(s);
    abut_first_time a = { 0, t_lo || t_hi, 0, 1 };
    if (!abut_all_finite(x0, n) || !abut_all_finite(x1, n)) {
        a.hit = 1;                      /* nothing can be ruled out, at any time */
    } else if (!abut_ccd_filter_apart(s, x0, x1, sep)) {
        query q;
        query_init(&q, s, x0, x1, sep);
        decide(&q, &a);
        query_clear(&q);
    }
    return abut_first_time_give(&a, t_lo, t_hi);
}
