/* The exact contact decision.  Coordinates become integer polynomials of degree 1 in t (contact does not change under a
 * positive scaling of an axis or a translation); the closed test at one instant becomes a few signs of polynomials of
 * degree 2; the instants worth testing are roots of polynomials.
 *
 *   - d(t), the coplanarity cubic, is not zero everywhere: contact can happen at its roots only.
 *   - d = 0 for all t, or there is no d (points and edges): the answer at t is a Boolean function of the signs of the test's
 *     polynomials, so it is constant between neighbouring roots of theirs; the contact set is closed, so if it meets such
 *     an interval it holds its left end.  The instants are 0, 1 and those roots. */
#include "geom/ccd/ccd.h"
#include "geom/ccd/filter.h"
#include "geom/exact/zpoly.h"

typedef struct query {
    const abut_corners *corners;
    abut_zpoly x[4][3];     /* position of each point, per axis */
} query;

static void query_init(query *q, abut_stencil s, const double *x0, const double *x1)
{
    q->corners = abut_corners_of(s);
    const int np = q->corners->np;
    mpz_t origin;
    mpz_init(origin);
    for (int k = 0; k < 3; k++) {
        double axis[8];
        for (int i = 0; i < np; i++) axis[i] = x0[3 * i + k], axis[np + i] = x1[3 * i + k];
        const int e = abut_big_exponent(axis, 2 * np);
        abut_big_set(origin, axis[0], e);
        for (int i = 0; i < np; i++) {
            abut_zpoly *const p = &q->x[i][k];
            abut_zpoly_init(p);
            abut_big_set(p->c[0], axis[i], e);
            abut_big_set(p->c[1], axis[np + i], e);
            mpz_sub(p->c[1], p->c[1], p->c[0]);
            mpz_sub(p->c[0], p->c[0], origin);
            p->deg = mpz_sgn(p->c[1]) ? 1 : mpz_sgn(p->c[0]) ? 0 : -1;
        }
    }
    mpz_clear(origin);
}

static void query_clear(query *q)
{
    for (int i = 0; i < q->corners->np; i++)
        for (int k = 0; k < 3; k++) abut_zpoly_clear(&q->x[i][k]);
}

/* out = component k of (p_a - p_b) x (p_c - p_d) */
static void cross_component(const query *q, const int at[4], int k, abut_zpoly *out)
{
    abut_zpoly u[2], v[2];
    for (int i = 0; i < 2; i++) {
        const int axis = (k + 1 + i) % 3;
        abut_zpoly_init(&u[i]);
        abut_zpoly_init(&v[i]);
        abut_zpoly_sub(&u[i], &q->x[at[0]][axis], &q->x[at[1]][axis]);
        abut_zpoly_sub(&v[i], &q->x[at[2]][axis], &q->x[at[3]][axis]);
    }
    for (int i = 0; i <= ABUT_ZPOLY_MAX; i++) mpz_set_ui(out->c[i], 0);
    out->deg = -1;
    abut_zpoly_addmul(out, 1, &u[0], &v[1]);
    abut_zpoly_addmul(out, -1, &u[1], &v[0]);
    for (int i = 0; i < 2; i++) {
        abut_zpoly_clear(&u[i]);
        abut_zpoly_clear(&v[i]);
    }
}

/* out = component k of (p_x - p_r) x (p_y - p_r) at corner i */
static void corner_cross(const query *q, int i, int k, abut_zpoly *out)
{
    const int *const c = q->corners->at[i];
    const int at[4] = { c[1], c[0], c[2], c[0] };
    cross_component(q, at, k, out);
}

/* out = (p_x - p_r) . (p_y - p_r) at corner i */
static void corner_dot(const query *q, int i, abut_zpoly *out)
{
    const int *const c = q->corners->at[i];
    abut_zpoly u, v;
    abut_zpoly_init(&u);
    abut_zpoly_init(&v);
    for (int j = 0; j <= ABUT_ZPOLY_MAX; j++) mpz_set_ui(out->c[j], 0);
    out->deg = -1;
    for (int k = 0; k < 3; k++) {
        abut_zpoly_sub(&u, &q->x[c[1]][k], &q->x[c[0]][k]);
        abut_zpoly_sub(&v, &q->x[c[2]][k], &q->x[c[0]][k]);
        abut_zpoly_addmul(out, 1, &u, &v);
    }
    abut_zpoly_clear(&u);
    abut_zpoly_clear(&v);
}

/* d = det(p1 - p0, p2 - p0, p3 - p0) = sum over k of (p1 - p0)_k [(p2 - p0) x (p3 - p0)]_k */
static void coplanarity(const query *q, abut_zpoly *d)
{
    static const int at[4] = { 2, 0, 3, 0 };
    abut_zpoly edge, minor;
    abut_zpoly_init(&edge);
    abut_zpoly_init(&minor);
    for (int k = 0; k < 3; k++) {
        cross_component(q, at, k, &minor);
        abut_zpoly_sub(&edge, &q->x[1][k], &q->x[0][k]);
        abut_zpoly_addmul(d, 1, &edge, &minor);
    }
    abut_zpoly_clear(&edge);
    abut_zpoly_clear(&minor);
}

/* r on the closed segment x y at the instant: collinear, and not beyond an end */
static int on_segment(const query *q, int corner, abut_roots *r, int i)
{
    abut_zpoly p;
    abut_zpoly_init(&p);
    int on = 1;
    for (int k = 0; k < 3 && on; k++) {
        corner_cross(q, corner, k, &p);
        on = abut_roots_sign(r, i, &p) == 0;
    }
    if (on) {
        corner_dot(q, corner, &p);
        on = abut_roots_sign(r, i, &p) <= 0;
    }
    abut_zpoly_clear(&p);
    return on;
}

/* the closed test in the plane, seen along an axis k in which the normal has the sign n, not 0 */
static int meet_in_plane(const query *q, int k, int n, abut_roots *r, int i)
{
    abut_zpoly p;
    abut_zpoly_init(&p);
    int s[4] = { 0 }, meet = 1;
    for (int c = 0; c < q->corners->n && meet; c++) {
        corner_cross(q, c, k, &p);
        s[c] = abut_roots_sign(r, i, &p);
        if (q->corners->n == 3)
            meet = n * s[c] >= 0;               /* the point is on the inner side of every side of the face */
        else if (c & 1)
            meet = s[c - 1] * s[c] <= 0;        /* the ends of each edge are not on one side of the other */
    }
    abut_zpoly_clear(&p);
    return meet;
}

/* Do the primitives touch at root i of r?  Where there is a normal, d is 0 at that instant. */
static int meet_at(const query *q, abut_roots *r, int i)
{
    if (q->corners->normal[0]) {
        abut_zpoly p;
        abut_zpoly_init(&p);
        int k = 0, n = 0;
        for (; k < 3; k++) {
            cross_component(q, q->corners->normal, k, &p);
            n = abut_roots_sign(r, i, &p);
            if (n) break;
        }
        abut_zpoly_clear(&p);
        if (n) return meet_in_plane(q, k, n, r, i);
    }
    /* no face, parallel edges, or edges and faces that are segments or points now: some point lies on some segment */
    for (int c = 0; c < q->corners->n; c++)
        if (on_segment(q, c, r, i)) return 1;
    return 0;
}

/* Tests every root of p in [0, 1] */
static void test_roots(const query *q, const abut_zpoly *p, abut_first_time *a)
{
    abut_roots r;
    abut_roots_find(&r, p);
    for (int i = 0; i < r.n && !(a->hit && !a->want_time); i++)
        if (meet_at(q, &r, i)) abut_first_time_take(a, &r, i);
    abut_roots_clear(&r);
}

enum { MAX_TERMS = 3 + 4 * 4 };

/* The polynomials of meet_at that are not constant, primitive, each once */
static int terms_of(const query *q, abut_zpoly *term)
{
    int n = 0;
    const int crosses = 3 * q->corners->n, normals = q->corners->normal[0] ? 3 : 0;
    for (int i = 0; i < crosses + q->corners->n + normals; i++) {
        abut_zpoly *const p = &term[n];
        abut_zpoly_init(p);
        if (i < crosses)
            corner_cross(q, i / 3, i % 3, p);
        else if (i < crosses + q->corners->n)
            corner_dot(q, i - crosses, p);
        else
            cross_component(q, q->corners->normal, i - crosses - q->corners->n, p);
        abut_zpoly_primitive(p);
        int known = p->deg < 1;
        for (int j = 0; j < n && !known; j++) known = abut_zpoly_equal(p, &term[j]);
        if (known)
            abut_zpoly_clear(p);
        else
            n++;
    }
    return n;
}

static void test_all_instants(const query *q, abut_first_time *a)
{
    abut_zpoly ends, term[MAX_TERMS];
    abut_zpoly_ends(&ends);
    test_roots(q, &ends, a);
    abut_zpoly_clear(&ends);
    if (abut_first_time_done(a)) return;

    const int n = terms_of(q, term);
    for (int i = 0; i < n && !(a->hit && !a->want_time); i++) test_roots(q, &term[i], a);
    for (int i = 0; i < n; i++) abut_zpoly_clear(&term[i]);
}

static void decide(abut_stencil s, const double *x0, const double *x1, abut_first_time *a)
{
    query q;
    abut_zpoly d;
    query_init(&q, s, x0, x1);
    abut_zpoly_init(&d);
    if (q.corners->normal[0]) coplanarity(&q, &d);
    if (d.deg >= 0)
        test_roots(&q, &d, a);
    else
        test_all_instants(&q, a);
    abut_zpoly_clear(&d);
    query_clear(&q);
}

int abut_ccd_exact(abut_stencil s, const double *x0, const double *x1, double *t_lo, double *t_hi)
{
    abut_first_time a = { 0, t_lo || t_hi, 0, 1 };
    const int quick = abut_ccd_filter(s, x0, x1, NULL);
    if (quick == 0) return 0;
    const size_t n = 3 * (size_t)abut_stencil_size(s);
    if (!abut_all_finite(x0, n) || !abut_all_finite(x1, n))
        a.hit = 1;                          /* nothing can be ruled out, at any time */
    else if (quick == 1 && !a.want_time)
        a.hit = 1;
    else
        decide(s, x0, x1, &a);
    return abut_first_time_give(&a, t_lo, t_hi);
}

/* The cubic is a positive multiple of the volume: it is 0 at the first time at which it is not positive, unless that is t = 0. */
static void decide_volume(const double x0[12], const double x1[12], abut_first_time *a)
{
    query q;
    abut_zpoly d;
    abut_roots r;
    query_init(&q, ABUT_PT, x0, x1);
    abut_zpoly_init(&d);
    coplanarity(&q, &d);
    if (d.deg < 0 || mpz_sgn(d.c[0]) <= 0) {
        *a = (abut_first_time){ 1, a->want_time, 0, 0 };
    } else {
        abut_roots_find(&r, &d);
        for (int i = 0; i < r.n; i++) abut_first_time_take(a, &r, i);
        abut_roots_clear(&r);
    }
    abut_zpoly_clear(&d);
    query_clear(&q);
}

int abut_ccd_exact_inverts(const double x0[12], const double x1[12], double *t_lo, double *t_hi)
{
    abut_first_time a = { 0, t_lo || t_hi, 0, 1 };
    if (abut_ccd_filter_volume(x0, x1)) return 0;
    if (abut_all_finite(x0, 12) && abut_all_finite(x1, 12)) decide_volume(x0, x1, &a);
    else a.hit = 1;
    return abut_first_time_give(&a, t_lo, t_hi);
}

/* ---- within a distance ----
 *
 * The set of instants with dist <= sep is closed.  If it starts at t > 0, then dist = sep there, and a nearest pair of points
 * lies inside a feature F (points, lines, plane) whose conditions hold strictly: they hold just before t too, where the
 * distance of F is above sep.  So the squared distance of F less sep^2, a polynomial, is zero at t and not everywhere: the
 * instants to test are 0 and the roots of these polynomials (1 is added, as a double that needs no isolation). */
enum { MAX_FEATURES = 9, MAX_CONDITIONS = 4 };

/* Two points at distance <= sep exist when every condition is > 0 and excess is <= 0 */
typedef struct feature {
    int n;
    abut_zpoly condition[MAX_CONDITIONS], excess;
} feature;

typedef struct distances {
    int np, nf;
    abut_zpoly x[4][3], sep2;
    feature f[MAX_FEATURES];
} distances;

typedef abut_zpoly vector[3];

static void vector_init(vector v)
{
    for (int k = 0; k < 3; k++) abut_zpoly_init(&v[k]);
}

static void vector_clear(vector v)
{
    for (int k = 0; k < 3; k++) abut_zpoly_clear(&v[k]);
}

static void between(const distances *q, int i, int j, vector out)
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

static feature *new_feature(distances *q, int conditions)
{
    feature *const f = &q->f[q->nf++];
    f->n = conditions;
    abut_zpoly_init(&f->excess);
    for (int i = 0; i < MAX_CONDITIONS; i++) abut_zpoly_init(&f->condition[i]);
    return f;
}

/* |x_i - x_j|^2 - sep^2 */
static void add_points(distances *q, int i, int j)
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
static void add_point_edge(distances *q, int p, int a, int b)
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
static void plane_excess(const distances *q, vector n, vector r, abut_zpoly *excess)
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
static void add_point_face(distances *q)
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
static void add_edges(distances *q)
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
static void set_points(distances *q, const double *x0, const double *x1, double sep)
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

static void distances_init(distances *q, abut_stencil s, const double *x0, const double *x1, double sep)
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

static void distances_clear(distances *q)
{
    for (int i = 0; i < 3 * q->np; i++) abut_zpoly_clear(&q->x[i / 3][i % 3]);
    abut_zpoly_clear(&q->sep2);
    for (int i = 0; i < q->nf; i++) {
        abut_zpoly_clear(&q->f[i].excess);
        for (int j = 0; j < MAX_CONDITIONS; j++) abut_zpoly_clear(&q->f[i].condition[j]);
    }
}

static int near_at(const distances *q, abut_roots *r, int i)
{
    for (int k = 0; k < q->nf; k++) {
        const feature *const f = &q->f[k];
        int near = abut_roots_sign(r, i, &f->excess) <= 0;
        for (int j = 0; near && j < f->n; j++) near = abut_roots_sign(r, i, &f->condition[j]) > 0;
        if (near) return 1;
    }
    return 0;
}

static void test_near(const distances *q, const abut_zpoly *p, abut_first_time *a)
{
    if (p->deg < 1) return;
    abut_roots r;
    abut_roots_find(&r, p);
    for (int i = 0; i < r.n && !(a->hit && !a->want_time); i++)
        if (near_at(q, &r, i)) abut_first_time_take(a, &r, i);
    abut_roots_clear(&r);
}

static void decide_near(const distances *q, abut_first_time *a)
{
    abut_zpoly ends;
    abut_zpoly_ends(&ends);
    test_near(q, &ends, a);
    abut_zpoly_clear(&ends);
    for (int i = 0; i < q->nf && !abut_first_time_done(a); i++) test_near(q, &q->f[i].excess, a);
}

int abut_ccd_exact_within(abut_stencil s, const double *x0, const double *x1, double sep, double *t_lo, double *t_hi)
{
    const size_t n = 3 * (size_t)abut_stencil_size(s);
    abut_first_time a = { 0, t_lo || t_hi, 0, 1 };
    if (!abut_all_finite(x0, n) || !abut_all_finite(x1, n)) {
        a.hit = 1;                      /* nothing can be ruled out, at any time */
    } else if (!abut_ccd_filter_apart(s, x0, x1, sep)) {
        distances q;
        distances_init(&q, s, x0, x1, sep);
        decide_near(&q, &a);
        distances_clear(&q);
    }
    return abut_first_time_give(&a, t_lo, t_hi);
}
