/* Contact weighed by area (contact/area.h), against what it is a quadrature of.  Values of folds: tables of an own program. */
#include "base/order.h"
#include "base/par.h"
#include "check.h"
#include "contact/area.h"
#include "contact/step_bound.h"
#include "energy/barrier.h"
#include "sheets.h"

#define PI 3.14159265358979323846

static int32_t weighed_by_area[1] = { ABUT_CONTACT_AREA }, no_reach[1] = { 1 };

/* A surface of given vertices and triangles, all of one object, that moves. */
static sheets surface(int32_t nc, const double *X, int32_t nt, const int32_t *tri, double dhat)
{
    sheets s = { .dhat = dhat };
    s.X = malloc(3 * (size_t)nc * sizeof *s.X), s.y1 = malloc(3 * (size_t)nc * sizeof *s.y1);
    s.node = malloc((size_t)nc * sizeof *s.node), s.body = calloc((size_t)nc, sizeof *s.body), s.fixed = calloc((size_t)nc, 1);
    s.tri = malloc(3 * (size_t)nt * sizeof *s.tri);
    memcpy(s.X, X, 3 * (size_t)nc * sizeof *X);
    memcpy(s.tri, tri, 3 * (size_t)nt * sizeof *tri);
    for (int32_t v = 0; v < nc; v++) s.node[v] = v;
    s.model = (abut_model){ .nv = nc, .nc = nc, .nct = nt, .X = s.X };
    sheets_edges(&s);
    return s;
}

static int by_area(sheets *s, int reach)
{
    s->model.formulation = weighed_by_area;
    s->model.fixed_reach = reach ? NULL : no_reach;
    return sheets_init(s);
}

/* A flat sheet of n x n cells of size 1 about the origin: inner vertices are moved in the plane by `noise`; bumps. */
static void flat(int n, double noise, double bump, abut_rng *r, double *X, int32_t *tri)
{
    for (int i = 0, v = 0; i <= n; i++)
        for (int j = 0; j <= n; j++, v++) {
            const int inner = i && j && i < n && j < n;
            X[3 * v] = i - 0.5 * n + (inner ? noise * abut_rng_real(r, -1, 1) : 0);
            X[3 * v + 1] = bump * abut_rng_real(r, -1, 1);
            X[3 * v + 2] = j - 0.5 * n + (inner ? noise * abut_rng_real(r, -1, 1) : 0);
            if (i == n || j == n) continue;
            const int32_t t[6] = { v, v + 1, v + n + 1, v + n + 1, v + 1, v + n + 2 };
            memcpy(tri + 6 * (i * n + j), t, sizeof t);
        }
}

/* The contacts at y, dhat apart at most. */
static int contacts(const sheets *s, const double *y, abut_pairs *p)
{
    abut_candidates c = { 0 };
    const int ok = !abut_candidates_find(&s->cm, y, NULL, s->dhat, NULL, &c, NULL) &&
                   !abut_pairs_find(&s->cm, &c, y, NULL, p, NULL);
    abut_candidates_clear(&c);
    return ok;
}

static double energy(const sheets *s, const double *y, abut_pairs *p)
{
    abut_arena scratch = { 0 };
    double e = NAN;
    if (contacts(s, y, p)) CHECK(!abut_barrier_energy(&s->cm, p, y, 1, &e, &scratch, NULL));
    abut_arena_clear(&scratch);
    return e;
}

/* beta(d), m. */
static double beta(double d, double dhat)
{
    const double D = d * d, Dhat = dhat * dhat;
    return d < dhat ? -dhat / (Dhat * Dhat) * (D - Dhat) * (D - Dhat) * log(D / Dhat) : 0;
}

static abut_barrier_law law_of(const sheets *s, const abut_pairs *p, size_t i)
{
    abut_barrier_law law = abut_barrier_law_of(p->reach[i], ABUT_BARRIER_IPC, 0);
    const double r = abut_area_inner(&s->cm, p, i, &law.inner_part);
    law.inner2 = r * r;
    return law;
}

/* The part that edges leave to the vertices of a pair of parts of edges of mean lengths a and b. */
static double rest_of(double d, double dhat, double a, double b)
{
    const double r = fmin(dhat, 0.5 * fmin(a, b));
    return beta(d, dhat) - 0.1 * fmin(a, b) / fmax(a, b) * beta(d, r);
}

/* The part of the energy that is of the area of vertex p, over what its share of its area gives for beta = 1; *n contacts. */
static double of_vertex(const sheets *s, const double *y, int32_t p, double share, int *n)
{
    abut_pairs pairs = { 0 };
    double sum = 0;
    *n = 0;
    CHECK(contacts(s, y, &pairs));
    for (size_t i = 0; i < pairs.n; i++) {
        if (pairs.kind[i] == ABUT_EE || pairs.of[i][0] != p) continue;
        sum += pairs.mult[i] * abut_barrier(law_of(s, &pairs, i), pairs.dist2[i], NULL, NULL);
        (*n)++;
    }
    abut_pairs_clear(&pairs);
    return sum / (share * s->cm.area->vertex[p]);
}

/* A sheet and a triangle that stands on its tip, the last three vertices, tip first; the tip at (a, height, b). */
static sheets sheet_and_tip(int n, double noise, double dhat, abut_rng *r)
{
    const int32_t nc = (n + 1) * (n + 1) + 3, nt = 2 * n * n + 1;
    double *X = malloc(3 * (size_t)nc * sizeof *X);
    int32_t *tri = malloc(3 * (size_t)nt * sizeof *tri);
    flat(n, noise, 0, r, X, tri);
    const double tip[9] = { 0, 1, 0, -1, 100, 0, 1, 100, 0 };
    memcpy(X + 3 * (nc - 3), tip, sizeof tip);
    for (int k = 0; k < 3; k++) tri[3 * (nt - 1) + k] = nc - 3 + k;
    sheets s = surface(nc, X, nt, tri, dhat);
    free(X);
    free(tri);
    return s;
}

TEST(euler_coefficients_are_those_of_their_definition)
{
    /* a book of three pages: triangles at the edge 0 1; a closed tet; a sheet */
    const double book[15] = { 0, 0, 0, 0, 0, 1, 1, 0, 0, -1, 1, 0, -1, -1, 0 };
    const int32_t pages[9] = { 0, 1, 2, 0, 1, 3, 0, 1, 4 };
    const double corner[12] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    const int32_t sides[12] = { 0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3 };
    double X[75];
    int32_t tri[96];
    abut_rng r = { 5 };
    flat(4, 0.1, 0, &r, X, tri);
    sheets s[3] = { surface(5, book, 3, pages, 0.1), surface(4, corner, 4, sides, 0.1), surface(25, X, 32, tri, 0.1) };
    for (int k = 0; k < 3; k++) {
        CHECK(by_area(&s[k], 1));
        const abut_area *a = s[k].cm.area;
        int32_t sum = s[k].cm.nt;
        for (int32_t e = 0; e < s[k].cm.ne; e++) sum += a->of_edge[e];
        for (int32_t v = 0; v < s[k].cm.nc; v++) sum += a->of_vertex[v];
        CHECK(sum == (k == 1 ? 2 : 1));     /* Euler characteristic */
        CHECK(a->parts == 1);
        double area = 0, strips = 0;
        for (int32_t v = 0; v < s[k].cm.nc; v++) area += a->vertex[v];
        for (int32_t e = 0; e < s[k].cm.ne; e++) strips += a->width[e] * sqrt(s[k].cm.rest2[e]);
        if (k == 2) CHECK_NEAR(strips, area, 1e-14 * area);
        if (k == 2) CHECK_NEAR(area, 16, 1e-13);
        CHECK(a->first[s[k].cm.nc] == (k == 0 ? 9 : k == 1 ? 12 : 4));     /* patches; corners of rims */
    }
    for (int32_t e = 0; e < s[0].cm.ne; e++) {
        const int spine = s[0].edge[2 * e] == 0 && s[0].edge[2 * e + 1] == 1;
        CHECK(s[0].cm.area->of_edge[e] == (spine ? -2 : 0));
    }
    for (int32_t e = 0; e < s[1].cm.ne; e++) CHECK(s[1].cm.area->of_edge[e] == -1);
    for (int32_t v = 0; v < 4; v++) CHECK(s[1].cm.area->of_vertex[v] == 1);
    for (int32_t v = 0; v < 25; v++) {
        const int inner = v / 5 % 4 && v % 5 % 4;
        CHECK(s[2].cm.area->of_vertex[v] == inner);
    }
    for (int k = 0; k < 3; k++) sheets_free(&s[k]);
}

/* The share of a tip that leads away from its own triangle: where its part has less, as much as one vertex of the other part. */
static double share_of_tip(const sheets *s, int32_t tip)
{
    const double *a = s->cm.area->mean, own = a[0] * a[0] / (a[0] * a[0] + a[1] * a[1]);
    return own + (1 - own) * fmin(1, a[0] / s->cm.area->vertex[tip]);
}

TEST(over_a_flat_sheet_a_vertex_has_one_contact_and_the_barrier_of_its_height)
{
    abut_rng r = { 3 };
    for (int k = 0; k < 4; k++) {
        const double dhat = (double[4]){ 0.5, 1, 2, 4 }[k];
        sheets s = sheet_and_tip(16, 0.2, dhat, &r);
        CHECK(by_area(&s, 1));
        const int32_t tip = s.cm.nc - 3;
        const double share = share_of_tip(&s, tip);
        for (int trial = 0; trial < 25; trial++) {
            int n;
            double *x = s.X + 3 * tip;
            x[0] = abut_rng_real(&r, -2, 2), x[1] = dhat * abut_rng_real(&r, 0.01, 0.99), x[2] = abut_rng_real(&r, -2, 2);
            const double *l = s.cm.area->length, want = rest_of(x[1], dhat, l[0], l[1]);
            const double got = of_vertex(&s, s.X, tip, share, &n);
            CHECK(n == 1);
            CHECK_NEAR(got, want, 1e-12 * want);
        }
        sheets_free(&s);
    }
}

/* Whether x is within dhat of the cell of n vertices v, and its foot inside. */
static int foot_inside(const sheets *s, const int32_t *v, int n, const double *x)
{
    const abut_stencil kind = n == 3 ? ABUT_PT : n == 2 ? ABUT_PE : ABUT_PP;
    double to[12] = { x[0], x[1], x[2] }, dist2;
    for (int k = 0; k < n; k++) memcpy(to + 3 * (k + 1), s->X + 3 * v[k], 3 * sizeof *x);
    return abut_nearest(kind, to, &dist2).kind == kind && dist2 < s->dhat * s->dhat;
}

/* Whether x, whose foot on the cell of n vertices v is f, is in its normal cone: above a triangle; (x - f).(f - q) >= 0
 * for each opposite vertex q, f its foot on the line of an edge, and for the neighbours q of a vertex.  -1: x is in the opposite
 * cone of a vertex, where its distance is largest. */
static int in_cone(const sheets *s, const int32_t *v, int n, const double *x)
{
    int in = 1, out = n == 1;
    const double *a = s->X + 3 * v[0], *b = s->X + 3 * v[n == 2];
    for (int32_t t = 0; t < s->cm.nt && n < 3; t++) {
        const int32_t *w = s->tri + 3 * t;
        int common = 0;
        for (int k = 0; k < 3; k++) common += w[k] == v[0] || (n == 2 && w[k] == v[1]);
        if (common < n) continue;
        for (int k = 0; k < 3; k++) {
            const double *q = s->X + 3 * w[k];
            double along[2] = { 0 }, bb = 0, dot = 0;
            if (w[k] == v[0] || (n == 2 && w[k] == v[1])) continue;
            for (int d = 0; d < 3; d++) {
                along[0] += (x[d] - a[d]) * (b[d] - a[d]), along[1] += (q[d] - a[d]) * (b[d] - a[d]);
                bb += (b[d] - a[d]) * (b[d] - a[d]);
            }
            for (int d = 0; d < 3; d++) {
                const double e = n == 2 ? (b[d] - a[d]) / bb : 0;
                dot += (x[d] - a[d] - along[0] * e) * (a[d] + along[1] * e - q[d]);
            }
            in &= dot >= 0, out &= dot < 0;
        }
    }
    return in - out;
}

/* Offset geometric contact (Chen et al. 2025) counts minima of the distance, by cones that know no coefficients. */
TEST(what_counts_of_a_rough_sheet_are_its_minima_and_maxima_less_its_saddles)
{
    enum { N = 16, TIP = (N + 1) * (N + 1) };
    int32_t seen[3] = { 0 };
    abut_rng r = { 12 };
    for (int k = 0; k < 5; k++) {
        const double bump = (double[5]){ 0, 0.1, 0.2, 0.4, 0.8 }[k];
        sheets s = sheet_and_tip(N, 0.2, 1.5, &r);
        for (int32_t v = 0; v < TIP; v++) s.X[3 * v + 1] = bump * abut_rng_real(&r, -1, 1);
        CHECK(by_area(&s, 0));
        for (int trial = 0; trial < 50; trial++) {
            double *x = s.X + 3 * TIP;
            x[0] = abut_rng_real(&r, -2, 2), x[1] = abut_rng_real(&r, 0.01, 1.4), x[2] = abut_rng_real(&r, -2, 2);
            abut_pairs p = { 0 };
            int minima = 0, cones = 0, saddles = 0, maxima = 0;
            CHECK(contacts(&s, s.X, &p));
            for (size_t i = 0; i < p.n; i++) {
                if (p.kind[i] == ABUT_EE || p.of[i][0] != TIP) continue;
                int32_t v[3];
                int n = 0;
                for (int j = 0; j < 4; j++)
                    if (p.vert[i][j] >= 0 && p.vert[i][j] != TIP) v[n++] = p.vert[i][j];
                const int in = in_cone(&s, v, n, x);
                CHECK(p.mult[i] > 0 ? in != 0 : in != 1);
                minima += in > 0, maxima += p.mult[i] > 0 && in < 0, saddles += p.mult[i] < 0;
            }
            /* every cell whose foot is inside and whose cone has x, by brute force */
            for (int32_t t = 0; t < s.cm.nt - 1; t++) cones += foot_inside(&s, s.tri + 3 * t, 3, x);
            for (int32_t e = 0; e < s.cm.ne; e++)
                if (s.edge[2 * e] < TIP && s.edge[2 * e + 1] < TIP)
                    cones += foot_inside(&s, s.edge + 2 * e, 2, x) && in_cone(&s, s.edge + 2 * e, 2, x) > 0;
            for (int32_t v = 0; v < TIP; v++) cones += foot_inside(&s, &v, 1, x) && in_cone(&s, &v, 1, x) > 0;
            CHECK(cones == minima && (k || minima == 1));
            seen[0] += minima, seen[1] += saddles, seen[2] += maxima;
            abut_pairs_clear(&p);
        }
        sheets_free(&s);
    }
    CHECK(seen[0] > 300 && seen[1] > 50 && seen[2] > 2);
}

/* A wedge of two half-planes of opening angle `open` about the z axis, large against the reach. */
TEST(in_a_wedge_a_vertex_has_both_faces_less_their_edge)
{
    for (int k = 0; k < 14; k++) {
        const double open = PI * (40 + 10 * k) / 180, c = cos(open / 2), d = sin(open / 2), far = 50;
        const double X[27] = { 0, 0, -far, 0, 0, far, far * c, far * d, -far, far * c, far * d, far, far * c, -far * d, -far,
                               far * c, -far * d, far, 1, 0, 0, 2 * far, 1, 0, 2 * far, -1, 1 };
        const int32_t tri[15] = { 0, 1, 2, 2, 1, 3, 0, 4, 1, 4, 5, 1, 6, 7, 8 };
        sheets s = surface(9, X, 5, tri, 1.3);
        CHECK(by_area(&s, 0));
        int n;
        const double got = of_vertex(&s, s.X, 6, share_of_tip(&s, 6), &n);
        const double *l = s.cm.area->length, want = 2 * rest_of(d, 1.3, l[0], l[1]) - rest_of(1, 1.3, l[0], l[1]);
        CHECK_NEAR(got, want, 1e-12);
        CHECK(n == 3);
        sheets_free(&s);
    }
}

/* A surface at rest does nothing to itself, however large dhat is. */
TEST(flat_bumpy_and_bent_sheets_do_not_repel_themselves)
{
    abut_rng r = { 8 };
    for (int kind = 0; kind < 3; kind++)
        for (int k = 0; k < 3; k++) {
            double X[3 * 169];
            int32_t tri[6 * 144];
            flat(12, 0.2, kind == 1 ? 0.1 : 0, &r, X, tri);
            for (int v = 0; v < 169 && kind == 2; v++) {
                const double at = X[3 * v] / 4;
                X[3 * v] = 4 * sin(at), X[3 * v + 1] = 4 * cos(at);
            }
            sheets s = surface(169, X, 288, tri, (double[3]){ 1, 2, 4 }[kind == 2 ? k % 2 : k]);
            CHECK(by_area(&s, 0));
            abut_pairs p = { 0 };
            CHECK(contacts(&s, s.X, &p));
            CHECK(p.n == 0);
            abut_pairs_clear(&p);
            sheets_free(&s);
        }
}

/* ---- searches that leave out the neighbours of flat parts ---- */

enum { CELLS = 20, PLACES = (CELLS + 1) * (CELLS + 1) };

/* Outlines of a sheet of cells of size 1: a rectangle, a hole, a slit, an L, a disc, a strip; the last has
 * cells three times as long, whose rims are longer than the mean of its edges. */
static int is_cut(int outline, int i, int j)
{
    const int x = i - CELLS / 2, y = j - CELLS / 2;
    return outline == 1   ? x >= -2 && x < 2 && y >= -1 && y < 1
           : outline == 2 ? x == 0 && y > -6
           : outline == 3 ? x > 1 && y > 2
           : outline == 4 ? (2 * x + 1) * (2 * x + 1) + (2 * y + 1) * (2 * y + 1) > 289
           : outline == 5 ? y < -2 || y > 1
                          : 0;
}

static sheets outlined(int outline, double noise, double turn, double dhat, abut_rng *r)
{
    double *X = malloc(3 * PLACES * sizeof *X);
    int32_t *tri = malloc(6 * CELLS * CELLS * sizeof *tri), nt = 0, name[PLACES], nc = 0;
    flat(CELLS, noise, 0, r, X, tri);
    for (int k = 0; k < CELLS * CELLS; k++) {
        if (is_cut(outline, k / CELLS, k % CELLS)) continue;
        memmove(tri + 3 * nt, tri + 6 * k, 6 * sizeof *tri);
        nt += 2;
    }
    for (int v = 0; v < PLACES; v++) name[v] = -1;
    for (int32_t k = 0; k < 3 * nt; k++) name[tri[k]] = 0;
    for (int32_t v = 0; v < PLACES; v++) {
        if (name[v] < 0) continue;
        const double x = (outline == 6 ? 3 : 1) * X[3 * v], z = X[3 * v + 2];
        name[v] = nc;
        double *to = X + 3 * nc++;
        to[0] = cos(turn) * x - sin(turn) * z, to[1] = 0.3 * x * sin(turn), to[2] = sin(turn) * x + cos(turn) * z;
    }
    for (int32_t k = 0; k < 3 * nt; k++) tri[k] = name[tri[k]];
    sheets s = surface(nc, X, nt, tri, dhat);
    free(X);
    free(tri);
    return s;
}

/* Shapes of a flat sheet: flat, stretched, bent to a radius, rolled to a spiral of layers `gap` apart, folded over, twisted. */
static void shape(int kind, double radius, double gap, const double *X, double *y)
{
    const double x = X[0], z = X[2], a = x / radius, R = radius + gap * a / (2 * PI);
    y[0] = x, y[1] = X[1], y[2] = z;
    if (kind == 1) y[0] = 1.2 * x + 0.1 * z, y[2] = 0.9 * z;
    if (kind == 2) y[0] = radius * sin(a), y[1] += radius * cos(a);
    if (kind == 3) y[0] = R * sin(a), y[1] += R * cos(a);
    if (kind == 4 && x > 0) y[0] = x < PI * gap / 2 ? gap / 2 * sin(2 * x / gap) : PI * gap / 2 - x,
                            y[1] += x < PI * gap / 2 ? gap / 2 * (1 - cos(2 * x / gap)) : gap;
    if (kind == 5) y[1] += sin(a) * z, y[2] = cos(a) * z;
    if (kind == 6) y[1] += gap * sin(x) * sin(z);
}

/* 1: both find the same contacts at y, to the bit. */
static int same_contacts(const sheets *s, const double *y, const abut_candidates c[2], size_t *n)
{
    abut_pairs p[2] = { { 0 } };
    const int failed[2] = { abut_pairs_find(&s->cm, &c[0], y, NULL, &p[0], NULL) != ABUT_OK,
                            abut_pairs_find(&s->cm, &c[1], y, NULL, &p[1], NULL) != ABUT_OK };
    int same = failed[0] == failed[1] && p[0].n == p[1].n && p[0].n_bent == p[1].n_bent && p[0].n_plain == p[1].n_plain;
    same = same && !memcmp(p[0].kind, p[1].kind, p[0].n) && !memcmp(p[0].vert, p[1].vert, p[0].n * sizeof *p[0].vert) &&
           !memcmp(p[0].mult, p[1].mult, p[0].n * sizeof *p[0].mult) && !memcmp(p[0].of, p[1].of, p[0].n * sizeof *p[0].of) &&
           !memcmp(p[0].dist2, p[1].dist2, p[0].n * sizeof *p[0].dist2) &&
           !memcmp(p[0].reach, p[1].reach, p[0].n * sizeof *p[0].reach) &&
           !memcmp(p[0].bent, p[1].bent, p[0].n_bent * sizeof *p[0].bent);
    *n += p[0].n;
    abut_pairs_clear(&p[0]);
    abut_pairs_clear(&p[1]);
    return same;
}

/* Candidates of the motion y -> y1, with and without flat parts: contacts on the way and the bound of the step are the same.
 * Counts candidates and contacts. */
static int same_motion(const sheets *s, const double *y, const double *y1, size_t count[2], size_t *contacts_met)
{
    abut_candidates c[2] = { { .of = { .y = NULL } }, { .search = { .by_area = 1 } } };
    abut_limit limit[2] = { { .alpha = 1, .tet = -1 }, { .alpha = 1, .tet = -1 } };
    double *at = malloc(3 * (size_t)s->cm.nc * sizeof *at);
    abut_status failed[2];
    for (int k = 0; k < 2; k++) {
        CHECK(!abut_candidates_find(&s->cm, y, y1, s->dhat, NULL, &c[k], NULL));
        count[k] += abut_candidates_count(&c[k]);
        failed[k] = abut_limit_ccd(&s->cm, &c[k], y, y1, 0.2, &limit[k], NULL);
    }
    int same = failed[0] == failed[1] && !memcmp(&limit[0].alpha, &limit[1].alpha, sizeof limit[0].alpha) &&
               limit[0].kind == limit[1].kind;
    for (int t = 0; t < 3 && same; t++) {
        for (int32_t i = 0; i < 3 * s->cm.nc; i++) at[i] = y[i] + 0.5 * t * limit[0].alpha * (y1[i] - y[i]);
        same &= same_contacts(s, at, c, contacts_met);
    }
    free(at);
    abut_candidates_clear(&c[0]);
    abut_candidates_clear(&c[1]);
    return same;
}

SLOW_TEST(what_a_search_leaves_out_of_a_flat_part_has_neither_a_contact_nor_a_bound)
{
    abut_rng r = { 31 };
    size_t met = 0;
    const double radius[3] = { 60, 25, 5 }, dhats[4] = { 1, 2, 3, 0.5 };
    size_t most[2] = { 0 };
    for (int outline = 0; outline < 7; outline++)
        for (int kind = 0; kind < 7; kind++)
            for (int trial = 0; trial < 4; trial++) {
                sheets s = outlined(outline, 0.15 * (trial % 2), 0.4 * (trial / 2), dhats[(trial + kind) % 4], &r);
                double thickness = 0.1;
                s.model.no = 1;
                if (trial == 3) s.model.obj_thick = &thickness;
                CHECK(by_area(&s, trial % 2));
                CHECK(s.cm.area->flat != NULL);
                const size_t n3 = 3 * (size_t)s.cm.nc;
                double *y = malloc(n3 * sizeof *y), *y1 = malloc(n3 * sizeof *y1);
                const double rough = (double[5]){ 0, 0.01, 0.02, 0, 0.2 }[(trial + 2 * outline + kind) % 5];
                const double fast = (double[3]){ 0, 0.03, 0.4 }[(trial + 3 * kind + outline) % 4 % 3];
                const double c = cos(fast), d = sin(fast);
                size_t count[2] = { 0 };
                for (size_t v = 0; v < n3; v += 3) {
                    shape(kind, radius[(trial + outline) % 3], 0.7, s.X + v, y + v);
                    for (size_t k = v; k < v + 3; k++) y[k] += rough * abut_rng_real(&r, -1, 1);
                    y1[v] = c * y[v] - d * y[v + 1], y1[v + 1] = d * y[v] + c * y[v + 1], y1[v + 2] = y[v + 2];
                    for (size_t k = v; k < v + 3; k++) y1[k] += 1.5 * fast * abut_rng_real(&r, -1, 1);
                }
                CHECK(same_motion(&s, y, fast > 0 ? y1 : y, count, &met));
                for (int k = 0; k < 2; k++) most[k] += !outline && kind < 2 && !trial ? count[k] : 0;
                free(y);
                free(y1);
                sheets_free(&s);
            }
    CHECK(met > 5000);
    CHECK(most[0] > 0 && 23 * most[1] < most[0]);
}

TEST(a_fold_repels_itself_beyond_a_right_angle)
{
    const double want[6] = { 0, 0.1976, 1.1328, 3.5964, 5.1372, 0 }, angle[5] = { 90, 120, 150, 178, 179.8 };
    for (int k = 0; k < 5; k++) {
        const double X[12] = { 0, 0, 0, 0, 2, 0, -1, 1, 0, 1.5, 1, 0 };
        const int32_t tri[6] = { 0, 1, 2, 1, 0, 3 };
        sheets s = surface(4, X, 2, tri, 2);
        double eta = 1e-300;
        s.model.edge_share = &eta;
        CHECK(by_area(&s, 0));
        for (int32_t t = 0; t <= s.cm.nt; t++) s.cm.area->guard_first[t] = 0;
        const double a = PI * angle[k] / 180;
        double y[12];
        memcpy(y, X, sizeof y);
        y[6] = -cos(a), y[8] = sin(a);
        abut_pairs p = { 0 };
        const double got = energy(&s, y, &p);
        CHECK_NEAR(got, want[k], 2e-4);
        abut_pairs_clear(&p);
        sheets_free(&s);
    }
}

/* Two flat sheets of unlike meshes, gap apart, turned by an angle. */
static sheets two_sheets(int n, int m, double size, double gap, double turn, double noise, double dhat, uint64_t seed)
{
    abut_rng r = { seed };
    const int32_t nv[2] = { (n + 1) * (n + 1), (m + 1) * (m + 1) }, nt[2] = { 2 * n * n, 2 * m * m };
    double *X = malloc(3 * (size_t)(nv[0] + nv[1]) * sizeof *X);
    int32_t *tri = malloc(3 * (size_t)(nt[0] + nt[1]) * sizeof *tri);
    flat(n, noise, 0, &r, X, tri);
    flat(m, noise, 0, &r, X + 3 * nv[0], tri + 3 * nt[0]);
    for (int32_t k = 0; k < 3 * nt[1]; k++) tri[3 * nt[0] + k] += nv[0];
    for (int32_t v = 0; v < nv[0] + nv[1]; v++) {
        const int up = v >= nv[0];
        const double h = size / (up ? m : n) * (up ? 1.0 : 1.3), x = h * X[3 * v], z = h * X[3 * v + 2], a = up ? turn : 0;
        X[3 * v] = cos(a) * x - sin(a) * z, X[3 * v + 2] = sin(a) * x + cos(a) * z, X[3 * v + 1] = up ? gap : 0;
    }
    sheets s = surface(nv[0] + nv[1], X, nt[0] + nt[1], tri, dhat);
    free(X);
    free(tri);
    return s;
}

/* Gradient at y for kappa = 1: g[3 nc]. */
static int gradient(const sheets *s, const double *y, double *g, abut_pairs *p)
{
    abut_arena scratch = { 0 };
    memset(g, 0, 3 * (size_t)s->cm.nc * sizeof *g);
    const int ok = contacts(s, y, p) && !abut_barrier_gradient(&s->cm, p, y, 1, g, &scratch, NULL);
    abut_arena_clear(&scratch);
    return ok;
}

/* Mean pressure on vertices of the upper sheet away from its rim, over that of the gap, and its standard deviation. */
static void pressures(const sheets *s, int32_t from, double inside, double want, double *mean, double *deviation)
{
    double *g = malloc(3 * (size_t)s->cm.nc * sizeof *g), sum = 0, square = 0, area = 0;
    abut_pairs p = { 0 };
    CHECK(gradient(s, s->X, g, &p));
    for (int32_t v = from; v < s->cm.nc; v++) {
        const double *x = s->X + 3 * v, A = s->cm.area->vertex[v], q = -g[3 * v + 1] / A / want;
        if (x[0] * x[0] + x[2] * x[2] > inside * inside) continue;
        sum += A * q, square += A * q * q, area += A;
    }
    *mean = sum / area, *deviation = sqrt(fmax(0, square / area - *mean * *mean));
    abut_pairs_clear(&p);
    free(g);
}

TEST(between_parallel_sheets_the_pressure_is_that_of_the_gap_for_any_two_meshes)
{
    for (int k = 0; k < 12; k++) {
        const int n = 16, m = (int[4]){ 16, 24, 32, 48 }[k % 4];
        const double dhat = (double[3]){ 0.0125, 0.0625, 0.2 }[k / 4], turn = (double[3]){ 0.3, 0, 0.8 }[k / 4], h = 1e-4 * dhat;
        sheets s = two_sheets(n, m, 1, 0.5 * dhat, turn, 0.1, dhat, 77 + (uint64_t)k);
        double mean, deviation;
        CHECK(by_area(&s, 1));
        const double want = (beta(0.5 * dhat - h, dhat) - beta(0.5 * dhat + h, dhat)) / (2 * h);
        pressures(&s, (n + 1) * (n + 1), 0.3, want, &mean, &deviation);
        CHECK_NEAR(mean, 1, 0.015);
        CHECK(deviation < 0.15);
        sheets_free(&s);
    }
}

/* Crumpled sheets close together, so that factors of all kinds are between 0 and 1. */
static sheets crumpled(uint64_t seed)
{
    sheets s = two_sheets(6, 9, 1, 0.06, 0.4, 0.2, 0.12, seed);
    abut_rng r = { seed };
    for (int32_t v = 0; v < s.model.nc; v++) s.X[3 * v + 1] += 0.02 * abut_rng_real(&r, -1, 1);
    return s;
}

/* The Hessian of the factors of contacts, times a direction, against the difference of their gradients; how many. */
static size_t factors_agree(const sheets *s, const abut_pairs *p, const double *y, const double *to)
{
    enum { N = 3 * ABUT_AREA_CORNERS };
    const size_t n = 3 * (size_t)s->cm.nc;
    double *z = malloc(n * sizeof *z), g[2][N], H[N * N];
    for (size_t k = 0; k < p->n_bent; k++) {
        int32_t v[ABUT_AREA_CORNERS];
        double size = 0;
        for (int side = 0; side < 2; side++) {
            for (size_t i = 0; i < n; i++) z[i] = y[i] + (side ? 1e-7 : -1e-7) * to[i];
            (void)abut_area_factor_of(&s->cm, p, (size_t)p->bent[k], z, v, g[side], NULL, NULL);
        }
        (void)abut_area_factor_of(&s->cm, p, (size_t)p->bent[k], y, v, z, H, NULL);
        for (int i = 0; i < N * N; i++) size = fmax(size, fabs(H[i]));
        for (int i = 0; i < N; i++) {
            double along = 0;
            for (int j = 0; j < N; j++) {
                along += v[j / 3] < 0 ? 0 : H[N * i + j] * to[3 * v[j / 3] + j % 3];
                CHECK_NEAR(H[N * i + j], H[N * j + i], 1e-12 * size);
            }
            CHECK_NEAR(along, (g[1][i] - g[0][i]) / 2e-7, 1e-5 * size);
        }
    }
    free(z);
    return p->n_bent;
}

TEST(forces_are_the_derivative_of_the_energy_and_balance)
{
    size_t bent = 0, negative = 0, seen[4] = { 0 };
    for (uint64_t seed = 1; seed < 9; seed++) {
        sheets s = crumpled(seed);
        CHECK(by_area(&s, 0));
        abut_rng r = { seed };
        const int32_t n = 3 * s.cm.nc;
        double *g = malloc((size_t)n * sizeof *g), *to = malloc((size_t)n * sizeof *to), *y = malloc((size_t)n * sizeof *y);
        double sum[6] = { 0 }, size = 0, along = 0, want = 0;
        abut_pairs p = { 0 };
        for (int32_t i = 0; i < n; i++) y[i] = s.X[i] + 0.004 * abut_rng_real(&r, -1, 1), to[i] = abut_rng_real(&r, -1, 1);
        CHECK(gradient(&s, y, g, &p));
        bent += factors_agree(&s, &p, y, to);
        for (size_t i = 0; i < p.n; i++) negative += p.mult[i] < 0, seen[p.kind[i]]++;
        for (int32_t i = 0; i < n; i++) {
            along += g[i] * to[i], size = fmax(size, fabs(g[i])), sum[i % 3] += g[i];
        }
        for (int32_t v = 0; v < s.cm.nc; v++)
            for (int a = 0; a < 3; a++) {
                const int b = (a + 1) % 3, c = (a + 2) % 3;
                sum[3 + a] += y[3 * v + b] * g[3 * v + c] - y[3 * v + c] * g[3 * v + b];
            }
        for (int a = 0; a < 6; a++) CHECK_NEAR(sum[a], 0, 1e-11 * size);
        const double h = 1e-7;
        for (int k = 0; k < 2; k++) {
            const double e = k ? -1. : 1.;
            for (int32_t i = 0; i < n; i++) y[i] += (k ? -2 : 1) * h * to[i];
            want += e * energy(&s, y, &p) / (2 * h);
        }
        CHECK_NEAR(along, want, 1e-6 * fabs(want));
        free(g), free(to), free(y);
        abut_pairs_clear(&p);
        sheets_free(&s);
    }
    CHECK(bent > 100 && negative > 50);
    for (int k = 0; k < 4; k++) CHECK(seen[k] > 5);
}

/* d^T M d of the projected Hessian of contact i, in the corners of the contact. */
static double curvature_of(const sheets *s, const abut_pairs *p, const double *y, size_t i, const double d[12])
{
    const abut_barrier_curvature c = { .ops = abut_barrier_hessians[0] };
    double *val = malloc(abut_barrier_elements(&c, p) * abut_packed_size(4) * sizeof *val), sum = 0;
    const int corners = abut_stencil_size((abut_stencil)p->kind[i]);
    abut_barrier_hessian_by(&s->cm, p, &c, y, 1, val);
    const double *of = val + i * abut_packed_size(4);
    for (int a = 0; a < corners; a++)
        for (int b = a; b < corners; b++)
            for (int q = 0; q < 9; q++)
                sum += (a == b ? 1 : 2) * d[3 * a + q / 3] * d[3 * b + q % 3] * of[9 * abut_packed_block(4, a, b) + (size_t)q];
    free(val);
    return sum;
}

/* w b d^T H d, H the Hessian of F; d is the direction in the contact's corners of the largest curvature found. */
static double curvature_of_factor(const sheets *s, const abut_pairs *p, const double *y, size_t i, abut_rng *r, double d[12])
{
    enum { N = 3 * ABUT_AREA_CORNERS };
    double g[N], H[N * N], next[12];
    int32_t v[ABUT_AREA_CORNERS];
    const int n = 3 * abut_stencil_size((abut_stencil)p->kind[i]);
    const double F = abut_area_factor_of(&s->cm, p, i, y, v, g, H, NULL), wb = p->mult[i] / F *
                     abut_barrier(law_of(s, p, i), p->dist2[i], NULL, NULL);
    double trace = 0, largest = 0;
    for (int k = 0; k < n; k++) trace += fabs(wb * H[N * k + k]), d[k] = abut_rng_real(r, -1, 1);
    for (int times = 0; times < 200; times++) {     /* iterations with H + trace, whose largest eigenvalue is that of H */
        double size = 0;
        for (int k = 0; k < n; k++) {
            next[k] = 10 * trace * d[k];
            for (int j = 0; j < n; j++) next[k] += wb * H[N * k + j] * d[j];
            size += next[k] * next[k];
        }
        for (int k = 0; k < n; k++) d[k] = next[k] / sqrt(size);
    }
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++) largest += wb * H[N * k + j] * d[k] * d[j];
    return largest;
}

SLOW_TEST(matrices_of_crossings_at_ends_of_edges_have_the_curvature_of_their_factor)
{
    int large = 0;
    for (uint64_t seed = 1; seed < 9; seed++) {
        sheets s = crumpled(seed);
        CHECK(by_area(&s, 0));
        abut_rng r = { seed };
        abut_pairs p = { 0 };
        CHECK(contacts(&s, s.X, &p));
        for (size_t k = 0; k < p.n_bent; k++) {
            const size_t i = (size_t)p.bent[k];
            double d[12] = { 0 };
            if (p.kind[i] != ABUT_EE) continue;
            const double of_factor = curvature_of_factor(&s, &p, s.X, i, &r, d), all = curvature_of(&s, &p, s.X, i, d);
            double db, ddb;
            (void)abut_barrier(law_of(&s, &p, i), p.dist2[i], &db, &ddb);
            if (of_factor < 3 * p.mult[i] * 4 * p.dist2[i] * ddb) continue;
            CHECK(all > (1 - 1e-6) * of_factor);
            large++;
        }
        abut_pairs_clear(&p);
        sheets_free(&s);
    }
    CHECK(large > 5);
}

/* The triangles of a cube whose vertex is at the bits of its number. */
static const int32_t face[36] = { 0, 1, 3, 0, 3, 2, 4, 6, 7, 4, 7, 5, 0, 4, 5, 0, 5, 1,
                                  2, 3, 7, 2, 7, 6, 0, 2, 6, 0, 6, 4, 1, 5, 7, 1, 7, 3 };

/* Cubes of edge 1 near each other's corners, edges and faces; every fourth one is thin, with two tips. */
TEST(forces_at_sharp_edges_are_the_derivative_of_the_energy)
{
    size_t bent = 0, tips = 0, seen[4] = { 0 };
    for (uint64_t seed = 1; seed < 300; seed++) {
        abut_rng r = { seed };
        double X[48], y[48], g[48], to[48], q[4], size = 0, along = 0, want = 0;
        int32_t tri[72];
        for (int k = 0; k < 4; k++) q[k] = abut_rng_real(&r, -1, 1), size += q[k] * q[k];
        for (int k = 0; k < 4; k++) q[k] /= sqrt(size);
        const double u[3] = { abut_rng_real(&r, -1.2, 1.2), abut_rng_real(&r, -1.2, 1.2), abut_rng_real(&r, -1.2, 1.2) };
        for (int v = 0; v < 16; v++) {
            double x[3], c[3];
            for (int d = 0; d < 3; d++) x[d] = (v >> d & 1) - 0.5 + 0.02 * abut_rng_real(&r, -1, 1);
            const double middle = (x[0] + x[1] + x[2]) / 3;
            for (int d = 0; d < 3 && v < 8 && seed % 4 == 0; d++) x[d] = middle + 0.2 * (x[d] - middle);
            for (int d = 0; d < 3; d++) {
                const int e = (d + 1) % 3, f = (d + 2) % 3;
                c[d] = q[e] * x[f] - q[f] * x[e] + q[3] * x[d];
            }
            for (int d = 0; d < 3; d++) {
                const int e = (d + 1) % 3, f = (d + 2) % 3;
                X[3 * v + d] = v < 8 ? x[d] : x[d] + 2 * (q[e] * c[f] - q[f] * c[e]) + u[d];
            }
        }
        for (int k = 0; k < 72; k++) tri[k] = face[k % 36] + (k < 36 ? 0 : 8);
        sheets s = surface(16, X, 24, tri, 0.3);
        CHECK(by_area(&s, 1));
        abut_pairs p = { 0 };
        memcpy(y, X, sizeof y);
        for (int i = 0; i < 48; i++) y[i] += 0.05 * abut_rng_real(&r, -1, 1), to[i] = abut_rng_real(&r, -1, 1);
        if (gradient(&s, y, g, &p) && p.n) {
            bent += factors_agree(&s, &p, y, to);
            for (size_t i = 0; i < p.n; i++) {
                seen[p.kind[i]]++;
                tips += p.kind[i] != ABUT_EE && p.of[i][1] >= 0 && s.cm.area->tip[p.of[i][0]];
            }
            size = 0;
            for (int i = 0; i < 48; i++) along += g[i] * to[i], size = fmax(size, fabs(g[i]));
            for (int k = 0; k < 2; k++) {
                for (int i = 0; i < 48; i++) y[i] += (k ? -2 : 1) * 3e-8 * to[i];
                want += (k ? -1. : 1.) * energy(&s, y, &p) / 6e-8;
            }
            CHECK_NEAR(along, want, 1e-6 * fmax(fabs(want), size));
        }
        abut_pairs_clear(&p);
        sheets_free(&s);
    }
    CHECK(bent > 100 && tips > 20);
    for (int k = 0; k < 4; k++) CHECK(seen[k] > 20);
}

TEST(the_floor_of_a_box_has_the_area_of_its_lower_face)
{
    double X[24], normal[3] = { 0, 1, 0 }, point[3] = { 0, -0.05, 0 }, g[24], sum = 0;
    for (int k = 0; k < 24; k++) X[k] = (k / 3 >> k % 3 & 1) * (k % 3 == 1 ? 5 : 1);
    sheets s = surface(8, X, 12, face, 0.1);
    s.model.nh = 1, s.model.hs_normal = normal, s.model.hs_point = point;
    CHECK(by_area(&s, 1));
    abut_pairs p = { 0 };
    CHECK(gradient(&s, X, g, &p));
    for (int v = 0; v < 8; v++) sum += g[3 * v + 1];
    CHECK(p.n_plane == 4 && p.n == 0);
    CHECK_NEAR(-sum, (beta(0.05 - 1e-7, 0.1) - beta(0.05 + 1e-7, 0.1)) / 2e-7, 1e-6);
    /* the derivative where it stands on an edge */
    abut_rng r = { 9 };
    double to[24], y[24], along = 0, want = 0;
    normal[0] = 0.6, normal[1] = 0.8, point[0] = -0.6 * 0.05, point[1] = -0.8 * 0.05;
    for (int k = 0; k < 24; k++) y[k] = X[k] + 0.004 * abut_rng_real(&r, -1, 1), to[k] = abut_rng_real(&r, -1, 1);
    CHECK(gradient(&s, y, g, &p) && p.n_plane == 4);
    for (int k = 0; k < 24; k++) along += g[k] * to[k];
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 24; i++) y[i] += (k ? -2 : 1) * 1e-7 * to[i];
        want += (k ? -1. : 1.) * energy(&s, y, &p) / 2e-7;
    }
    CHECK_NEAR(along, want, 1e-6 * fabs(want));
    abut_pairs_clear(&p);
    sheets_free(&s);
}

/* s_AB A + s_BA B = (A B^2 + B A^2) / (A^2 + B^2) for cross-sections A and B. */
TEST(two_particles_have_the_barrier_of_their_gap_on_both_of_their_shares)
{
    const double r[3] = { 0.2, 0.3, 0.5 }, X[9] = { 0, 0, 0, 5, 0, 0, 10, 0, 0 };
    const int32_t particle[3] = { 0, 1, 2 };
    sheets s = surface(3, X, 0, particle, 0.25);
    s.model.np = 3, s.model.particle = particle, s.model.particle_radius = r, s.model.nct = s.model.nce = 0;
    for (int v = 0; v < 3; v++) s.body[v] = v;
    s.model.no = 3;
    CHECK(by_area(&s, 1));
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < a; b++) {
            const double A = PI * r[a] * r[a], B = PI * r[b] * r[b], d = 0.0625 * (1 + a + b);
            double y[9];
            abut_pairs p = { 0 };
            memcpy(y, X, sizeof y);
            for (int k = 0; k < 3; k++) y[3 * b + k] = y[3 * a + k] + (k == 1 ? d : 0);
            const double want = (A * B * B + B * A * A) / (A * A + B * B) * beta(d, 0.25);
            CHECK_NEAR(energy(&s, y, &p), want, 1e-13 * A);
            CHECK(p.n == (d < 0.25 ? 2 : 0));
            abut_pairs_clear(&p);
            y[3 * b + 1] = y[3 * a + 1];
            CHECK(!contacts(&s, y, &p));
            abut_pairs_clear(&p);
        }
    sheets_free(&s);
}

/* The largest change of the slope of the energy between samples of a straight path of the vertices from v on, over its size. */
static double change_of_slope(const sheets *s, int32_t v, const double to[3], int samples)
{
    const int32_t n = 3 * s->cm.nc;
    double *g = malloc((size_t)n * sizeof *g), *y = malloc((size_t)n * sizeof *y), change = 0, size = 0, last = 0;
    abut_pairs p = { 0 };
    for (int k = 0; k <= samples; k++) {
        double slope = 0;
        for (int32_t i = 0; i < n; i++) y[i] = s->X[i] + (i < 3 * v ? 0 : to[i % 3] * k / samples);
        CHECK(gradient(s, y, g, &p));
        for (int32_t i = 3 * v; i < n; i++) slope += to[i % 3] * g[i];
        if (k) change = fmax(change, fabs(slope - last));
        size = fmax(size, fabs(slope)), last = slope;
    }
    free(g), free(y);
    abut_pairs_clear(&p);
    return change / size;
}

/* ---- sharp vertices, by brute force ---- */

/* A cube, turned and with vertex 0 at `at`, above nt triangles of nc vertices X, tri. */
static sheets cube_and_surface(const double at[3], abut_rng *r, int32_t nc, const double *X, int32_t nt, const int32_t *tri,
                               double dhat)
{
    double *x = malloc(3 * (size_t)(nc + 8) * sizeof *x), q[4], size = 0;
    int32_t *t = malloc((3 * (size_t)nt + 36) * sizeof *t);
    for (int k = 0; k < 4; k++) q[k] = abut_rng_real(r, -1, 1), size += q[k] * q[k];
    for (int v = 0; v < 8; v++) {
        double c[3], p[3];
        for (int d = 0; d < 3; d++) p[d] = v >> d & 1;
        for (int d = 0; d < 3; d++) c[d] = q[(d + 1) % 3] * p[(d + 2) % 3] - q[(d + 2) % 3] * p[(d + 1) % 3] + q[3] * p[d];
        for (int d = 0; d < 3; d++)
            x[3 * v + d] = at[d] + p[d] + 2 * (q[(d + 1) % 3] * c[(d + 2) % 3] - q[(d + 2) % 3] * c[(d + 1) % 3]) / size;
    }
    memcpy(x + 24, X, 3 * (size_t)nc * sizeof *x);
    for (int k = 0; k < 36 + 3 * nt; k++) t[k] = k < 36 ? face[k] : 8 + tri[k - 36];
    sheets s = surface(nc + 8, x, nt + 12, t, dhat);
    free(x), free(t);
    return s;
}

static void normal_at(const double *y, int32_t p, int32_t a, int32_t b, double n[3])
{
    double u[3], v[3], size = 0;
    for (int d = 0; d < 3; d++) u[d] = y[3 * a + d] - y[3 * p + d], v[d] = y[3 * b + d] - y[3 * p + d];
    for (int d = 0; d < 3; d++) n[d] = u[(d + 1) % 3] * v[(d + 2) % 3] - u[(d + 2) % 3] * v[(d + 1) % 3], size += n[d] * n[d];
    for (int d = 0; d < 3; d++) n[d] /= sqrt(size);
}

static double distance_to(const double *y, int32_t p, const int32_t *v, int n)
{
    double x[12], d2 = 0;
    for (int d = 0; d < 3; d++) x[d] = y[3 * p + d];
    for (int k = 0; k < 3 * n; k++) x[3 + k] = y[3 * v[k / 3] + k % 3];
    if (n == 1) return sqrt(abut_dist2(ABUT_PP, x, NULL));
    (void)abut_nearest(n == 2 ? ABUT_PE : ABUT_PT, x, &d2);
    return sqrt(d2);
}

/* Sum of c(sigma) beta over the triangles beyond the cube whose S is at least `level`, a surface of its own. */
static double sum_above(const sheets *s, const double *S, double level)
{
    const double *l = s->cm.area->length;
    const int32_t nt = s->cm.nt, nc = s->cm.nc;
    int32_t *of_vertex = calloc((size_t)nc, sizeof *of_vertex);
    double sum = 0;
    for (int32_t t = 12; t < nt; t++) {
        if (S[t] < level) continue;
        sum += rest_of(distance_to(s->X, 0, s->tri + 3 * t, 3), s->dhat, l[0], l[1]);
        for (int k = 0; k < 3; k++) of_vertex[s->tri[3 * t + k]]++;
    }
    for (int32_t e = 0; e < s->cm.ne; e++) {
        const int32_t *v = s->edge + 2 * e;
        int around = 0;
        for (int32_t t = 12; t < nt; t++) {
            int has = 0;
            for (int k = 0; k < 3; k++) has += s->tri[3 * t + k] == v[0] || s->tri[3 * t + k] == v[1];
            around += has == 2 && S[t] >= level;
        }
        if (!around) continue;
        sum += (1 - around) * rest_of(distance_to(s->X, 0, v, 2), s->dhat, l[0], l[1]);
        for (int k = 0; k < 2; k++) of_vertex[v[k]] += 1 - around;
    }
    for (int32_t v = 8; v < nc; v++) {
        int touched = 0;
        for (int32_t t = 12; t < nt; t++)
            for (int k = 0; k < 3; k++) touched |= s->tri[3 * t + k] == v && S[t] >= level;
        if (touched) sum += (1 - of_vertex[v]) * rest_of(distance_to(s->X, 0, &v, 1), s->dhat, l[0], l[1]);
    }
    free(of_vertex);
    return sum;
}


/* Sum over the patches of vertex 0 of the cube of the integral over the levels of S. */
static double by_levels(const sheets *s)
{
    const abut_area *a = s->cm.area;
    double S[200], level[200], sum = 0;
    CHECK(s->cm.nt < 200);
    for (int32_t k = a->first[0]; k < a->first[1]; k++) {
        double N[3];
        normal_at(s->X, 0, a->normal[k][0], a->normal[k][1], N);
        for (int32_t t = 12; t < s->cm.nt; t++) {
            double n[3], q = 0;
            normal_at(s->X, s->tri[3 * t], s->tri[3 * t + 1], s->tri[3 * t + 2], n);
            for (int d = 0; d < 3; d++) q += n[d] * N[d];
            const double z = fmin(fmax((q * q - 0.05) / 0.45, 0), 1);
            S[t] = level[t] = z * z * (3 - 2 * z);
        }
        qsort(level + 12, (size_t)s->cm.nt - 12, sizeof *level, abut_by_double);
        for (int32_t t = 12; t < s->cm.nt; t++) {
            const double below = t > 12 ? level[t - 1] : 0;
            if (level[t] > below) sum += a->patch[k] * (level[t] - below) * sum_above(s, S, level[t]);
        }
    }
    const double own = a->mean[0] * a->mean[0], theirs = a->mean[1] * a->mean[1];
    return theirs / (own + theirs) * sum;
}

TEST(a_sharp_vertex_meets_the_surfaces_that_its_patches_face)
{
    int many = 0;
    for (uint64_t seed = 1; seed < 25; seed++) {
        abut_rng r = { seed };
        double X[3 * 49];
        int32_t tri[3 * 72];
        const double at[3] = { abut_rng_real(&r, -0.5, 0.5), abut_rng_real(&r, 0.6, 1.2), abut_rng_real(&r, -0.5, 0.5) };
        flat(6, 0.2, seed % 2 ? 0.5 : 0, &r, X, tri);
        sheets s = cube_and_surface(at, &r, 49, X, 72, tri, 1.3);
        int n;
        CHECK(by_area(&s, 0));
        const double got = of_vertex(&s, s.X, 0, 1 / s.cm.area->vertex[0], &n), want = by_levels(&s);
        CHECK_NEAR(got, want, 1e-9 * fmax(fabs(want), 1e-3));
        many += n > 3;
        sheets_free(&s);
    }
    CHECK(many > 5);
}

/* A corner of a cube on its way into the fold of two half-planes, along the bisector: both faces push it back, whichever of its
 * patches they face. */
TEST(a_sharp_vertex_is_not_drawn_into_a_fold)
{
    for (uint64_t seed = 1; seed < 40; seed++) {
        abut_rng r = { seed };
        const double open = PI * (30 + 3. * (double)seed) / 180, c = cos(open / 2), h = sin(open / 2), far = 50;
        const double X[18] = { 0, 0, -far, 0, 0, far, far * c, far * h, -far, far * c, far * h, far, far * c, -far * h, -far,
                               far * c, -far * h, far };
        const int32_t tri[12] = { 0, 1, 2, 2, 1, 3, 0, 4, 1, 4, 5, 1 };
        double last = 0;
        for (int k = 0; k < 6; k++) {
            const double at[3] = { pow(0.1, k), 0, 0 };
            abut_rng turn = r;
            sheets s = cube_and_surface(at, &turn, 6, X, 4, tri, 1.3);
            int n;
            CHECK(by_area(&s, 0));
            s.cm.area->mean[1] = s.cm.area->mean[0];
            const double now = of_vertex(&s, s.X, 0, 1, &n);
            CHECK(now > last);
            last = now;
            sheets_free(&s);
        }
    }
}

/* M of an edge whose end is s beyond a ridge of slope `fall` on either side, d above it; *want by its formula. */
static double end_beyond_a_ridge(double s_end, double d, double fall, double *want)
{
    const double X[21] = { 0, 0, -0.5, 0, 0, 0.5, -1, -fall, 0, 1, -fall, 0, -s_end, d, 0, 0.6, d, 0, 0.2, 3, 0.3 };
    const int32_t tri[9] = { 0, 1, 2, 1, 0, 3, 4, 5, 6 };
    sheets s = surface(7, X, 3, tri, 0.04);
    abut_pairs p = { 0 };
    double F = 0;
    CHECK(by_area(&s, 1) && contacts(&s, s.X, &p));
    for (int32_t e = 0; e < s.cm.ne; e++) s.cm.area->sharp[e] = 0;     /* M alone */
    for (size_t i = 0; i < p.n; i++) {
        const int32_t *v = p.vert[i];
        int32_t corner[ABUT_AREA_CORNERS];
        if (p.kind[i] == ABUT_EE && v[0] + v[1] == 1 && v[2] + v[3] == 9)
            F = abut_area_factor_of(&s.cm, &p, i, s.X, corner, NULL, NULL, NULL);
    }
    const double zone = 0.05 * (0.6 + s_end), S = fall * fall / (1 + fall * fall);
    const double z = fmin(1, s_end * s_end / (0.01 * d * d + zone * zone * 4 * d * d / (4 * d * d + zone * zone * S)));
    *want = z * (2 - z);
    abut_pairs_clear(&p);
    sheets_free(&s);
    return F;
}

TEST(a_crossing_counts_where_its_end_is_further_away)
{
    double want;
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < 4; j++)
            for (int i = 0; i < 3; i++) {
                const double fall = (double[4]){ 0, 0.1, 0.3, 0.45 }[k], d = 0.02 * pow(0.1, i), far = 0.002 * (1 << 2 * j);
                const double F = end_beyond_a_ridge(far, d, fall, &want);
                CHECK_NEAR(F, want, 1e-9);
                if (far * fall > 2.2 * d) CHECK_NEAR(F, 1, 1e-9);
            }
    CHECK(end_beyond_a_ridge(0.002, 2e-4, 0, &want) < 0.01);
}

/* Cubes, which two triangles join far away or not: one moves past edges and corners of the other. */
SLOW_TEST(sharp_vertices_have_forces_without_jumps)
{
    for (uint64_t seed = 1; seed < 13; seed++) {
        const int joined = seed < 7;
        abut_rng r = { seed };
        double X[54] = { [24] = -30, 20, -30, -30, 20, -31 }, q[4], size = 0, low = 1e9;
        int32_t tri[78], top = 10;
        for (int k = 0; k < 4; k++) q[k] = abut_rng_real(&r, -1, 1), size += q[k] * q[k];
        for (int v = 0; v < 18; v++) {
            double x[3], c[3];
            if (v == 8 || v == 9) continue;
            for (int d = 0; d < 3; d++) x[d] = ((v < 8 ? v : v - 10) >> d & 1) - 0.5;
            for (int d = 0; d < 3; d++) c[d] = q[(d + 1) % 3] * x[(d + 2) % 3] - q[(d + 2) % 3] * x[(d + 1) % 3] + q[3] * x[d];
            for (int d = 0; d < 3; d++) {
                const double turn = 2 * (q[(d + 1) % 3] * c[(d + 2) % 3] - q[(d + 2) % 3] * c[(d + 1) % 3]) / size;
                X[3 * v + d] = x[d] + (v < 8 ? 0 : turn);
            }
            if (v > 9) low = fmin(low, X[3 * v + 1]), top = X[3 * v + 1] > X[3 * top + 1] ? v : top;
        }
        for (int v = 10; v < 18; v++) X[3 * v] -= 0.6, X[3 * v + 1] += 0.6 - low, X[3 * v + 2] += 0.6;
        const int32_t joint[6] = { 0, 8, 9, top, 9, 8 };
        for (int k = 0; k < 78; k++) tri[k] = k < 72 ? face[k % 36] + (k < 36 ? 0 : 10) : joint[k - 72];
        sheets s = surface(18, X, joined ? 26 : 24, tri, 0.3);
        CHECK(by_area(&s, 0));
        CHECK(joined ? s.cm.area->parts == 1 && s.cm.area->first[18] > 40 : s.cm.area->part[0] != s.cm.area->part[10]);
        const double to[3] = { 1.4, 0, 0.3 }, coarse = change_of_slope(&s, 10, to, 200);
        const double fine = change_of_slope(&s, 10, to, joined ? 1600 : 3200);
        CHECK(fine < 0.4 * coarse && fine < 0.05);
        sheets_free(&s);
    }
}

/* The energy along straight paths is C1: between samples four times as close its slope changes less than half as much. */
TEST(the_energy_has_a_continuous_derivative_along_every_path)
{
    for (uint64_t seed = 20; seed < 22; seed++) {
        sheets s = crumpled(seed);
        CHECK(by_area(&s, 1));
        const int32_t n = 3 * s.cm.nc;
        double *g = malloc((size_t)n * sizeof *g), *y = malloc((size_t)n * sizeof *y), jump[2] = { 0 }, last = 0;
        abut_pairs p = { 0 };
        for (int fine = 0; fine < 2; fine++) {
            const int steps = fine ? 400 : 100;
            for (int k = 0; k <= steps; k++) {
                double slope = 0;
                memcpy(y, s.X, (size_t)n * sizeof *y);
                for (int32_t v = 49; v < s.cm.nc; v++) y[3 * v] += 0.2 * k / steps, y[3 * v + 2] += 0.13 * k / steps;
                if (!gradient(&s, y, g, &p)) break;
                for (int32_t v = 49; v < s.cm.nc; v++) slope += 0.2 * g[3 * v] + 0.13 * g[3 * v + 2];
                if (k) jump[fine] = fmax(jump[fine], fabs(slope - last));
                last = slope;
            }
        }
        CHECK(jump[1] < 0.5 * jump[0] && jump[0] > 0);
        free(g), free(y);
        abut_pairs_clear(&p);
        sheets_free(&s);
    }
}

TEST(a_vertex_that_runs_into_the_opposite_edge_of_its_triangle_is_held)
{
    const double X[12] = { 0, 0, 0, 0, 2, 0, -1, 1, 0, 1.5, 1, 0 };
    const int32_t tri[6] = { 0, 1, 2, 1, 0, 3 };
    double last = 0;
    for (int k = 0; k < 5; k++) {
        sheets s = surface(4, X, 2, tri, 0.5);
        CHECK(by_area(&s, 1));
        double y[12];
        memcpy(y, X, sizeof y);
        y[6] = -(double[5]){ 0.5, 0.2501, 0.1, 1e-3, 1e-6 }[k];
        abut_pairs p = { 0 };
        const double e = energy(&s, y, &p);
        CHECK(k < 2 ? e == 0 : e > last + 0.01);
        last = e;
        abut_pairs_clear(&p);
        sheets_free(&s);
    }
}

TEST(a_rest_shape_may_be_below_a_half_space)
{
    double normal[3] = { 0, 1, 0 }, point[3] = { 0, 2, 0 };
    sheets s = surface(8, (double[24]){ 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1 }, 12, face, 0.1);
    s.model.nh = 1, s.model.hs_normal = normal, s.model.hs_point = point;
    CHECK(by_area(&s, 1));
    sheets_free(&s);
}

/* A sheet folded back over itself at a distance below dhat does not part its sides; nearer than half of that it does. */
TEST(sides_of_one_surface_meet_within_half_their_distance_at_rest)
{
    double X[3 * 169], radius = 2 / PI;
    int32_t tri[6 * 144];
    abut_rng r = { 4 };
    flat(12, 0.1, 0, &r, X, tri);
    for (int v = 0; v < 169; v++) {
        double *x = X + 3 * v;
        const double u = x[0], a = PI / 2 * (u + 1);
        x[1] = u < -1 ? 0 : u > 1 ? 2 * radius : radius * (1 - cos(a));
        x[0] = u < -1 ? u : u > 1 ? -u : -1 + radius * sin(a);
    }
    sheets s = surface(169, X, 288, tri, 2);
    CHECK(by_area(&s, 1));
    for (int k = 0; k < 2; k++) {
        abut_pairs p = { 0 };
        CHECK(contacts(&s, X, &p));
        CHECK((p.n > 0) == k);
        for (int v = 0; v < 169; v++) X[3 * v + 1] *= 0.45;
        abut_pairs_clear(&p);
    }
    sheets_free(&s);
}

TEST(bytes_of_areas_do_not_depend_on_the_thread_count)
{
    abut_pairs p[3] = { 0 };
    sheets s = two_sheets(30, 41, 1, 0.006, 0.4, 0.2, 0.04, 5);
    CHECK(by_area(&s, 1));
    for (int k = 0; k < 3; k++) {
        abut_threads_set((int[]){ 1, 2, 7 }[k]);
        CHECK(contacts(&s, s.X, &p[k]));
        CHECK(p[k].n == p[0].n && p[k].n > 1000 && p[k].n_bent == p[0].n_bent && p[k].n_bent > 0);
        CHECK(!memcmp(p[k].vert, p[0].vert, p[0].n * sizeof *p[0].vert) && !memcmp(p[k].of, p[0].of, p[0].n * sizeof *p[0].of));
        CHECK(!memcmp(p[k].mult, p[0].mult, p[0].n * sizeof *p[0].mult));
        CHECK(!memcmp(p[k].bent, p[0].bent, p[0].n_bent * sizeof *p[0].bent));
    }
    abut_threads_set(2);
    for (int k = 0; k < 3; k++) abut_pairs_clear(&p[k]);
    sheets_free(&s);
}

/* A blade of rim length l in the plane of n, or flat, and an edge of a small sheet above it: F of the crossing. */
static double rim_under_an_edge(double l, int is_flat, double *eta)
{
    const double X[21] = { 0, 0, -0.1, 0, 0, 0.1, -0.15, 0, 0, 0.15, 0, 0,
                           -l / 2, -0.02, 0.01, l / 2, -0.02, 0.01, 0, is_flat ? -0.02 : -3, is_flat ? 3 : 0.01 };
    const int32_t tri[9] = { 0, 1, 2, 1, 0, 3, 4, 5, 6 };
    sheets s = surface(7, X, 3, tri, 0.04);
    abut_pairs p = { 0 };
    double F = 0;
    CHECK(by_area(&s, 1) && contacts(&s, s.X, &p));
    const double *length = s.cm.area->length;
    *eta = 0.1 * fmin(length[0], length[1]) / fmax(length[0], length[1]);
    for (size_t i = 0; i < p.n; i++) {
        const int32_t *v = p.vert[i];
        int32_t corner[ABUT_AREA_CORNERS];
        if (p.kind[i] == ABUT_EE && v[0] + v[1] == 1 && v[2] + v[3] == 9)
            F = abut_area_factor_of(&s.cm, &p, i, s.X, corner, NULL, NULL, NULL);
    }
    abut_pairs_clear(&p);
    sheets_free(&s);
    return F;
}

TEST(a_rim_bears_what_no_vertex_is_near)
{
    double eta;
    for (int k = 1; k < 4; k++) {
        const double l = 0.6 * k, mean = (0.2 + 4 * sqrt(0.1 * 0.1 + 0.15 * 0.15)) / 5;
        const double F = rim_under_an_edge(l, 0, &eta);
        CHECK_NEAR(F, fmin(1, 0.1 * l / mean), 1e-12);
        CHECK(F > 5 * eta);
        CHECK_NEAR(rim_under_an_edge(l, 1, &eta), eta, 1e-12);
    }
}

/* A rod with a kink above a sheet of an obstacle with bumps of `bump`: sideways over upward force on the rod. */
static double sideways(double bump, int *n)
{
    enum { N = 8, SHEET = (N + 1) * (N + 1), ALL = SHEET + 5 };
    double X[3 * ALL], g[3 * ALL], sum[3] = { 0 };
    int32_t tri[6 * N * N], role[ALL], rod[8];
    const double radius[4] = { 0.01, 0.01, 0.01, 0.01 };
    abut_rng r = { 4 };
    abut_pairs p = { 0 };
    flat(N, 0.3, bump, &r, X, tri);
    for (int k = 0; k < 5; k++) {
        const double at[3] = { -2.2 + 1.1 * k, 0.06 + 0.01 * (k % 2), 0.13 - 0.3 * k };
        memcpy(X + 3 * (SHEET + k), at, sizeof at);
    }
    for (int v = 0; v < ALL; v++) role[v] = v < SHEET ? ABUT_NODE_OBSTACLE : ABUT_NODE_FREE;
    for (int k = 0; k < 8; k++) rod[k] = SHEET + (k + 1) / 2;
    sheets s = surface(ALL, X, 2 * N * N, tri, 0.1);
    s.edge = realloc(s.edge, (2 * (size_t)s.model.nce + 8) * sizeof *s.edge);
    memcpy(s.edge + 2 * s.model.nce, rod, sizeof rod);
    s.model.nce += 4, s.model.nrd = 4, s.model.rod = rod, s.model.rod_radius = radius, s.model.role = role;
    CHECK(by_area(&s, 0));
    CHECK(gradient(&s, s.X, g, &p));
    for (int k = 3 * SHEET; k < 3 * ALL; k++) sum[k % 3] -= g[k];
    *n = (int)p.n;
    abut_pairs_clear(&p);
    sheets_free(&s);
    return hypot(sum[0], sum[2]) / sum[1];
}

TEST(a_rod_feels_no_edge_inside_a_plane_face_of_an_obstacle)
{
    int of_flat, of_bumps;
    CHECK_NEAR(sideways(0, &of_flat), 0, 1e-12);
    CHECK(of_flat == 5);
    CHECK(sideways(1e-3, &of_bumps) > 1e-5);
    CHECK(of_bumps > 10);
}

/* The energy of an edge that crosses the rim of an obstacle at x, 0.01 m above it; the rim has vertices each 0.1 m. */
static double energy_over_rim(double x)
{
    enum { N = 9, ALL = 2 * (N + 1) + 3 };
    double X[3 * ALL];
    int32_t tri[6 * N + 3], role[ALL];
    for (int k = 0; k <= N; k++)
        for (int far = 0; far < 2; far++) {
            const double at[3] = { 0.1 * (k - 4.5), far ? -1 : 0, 0 };
            memcpy(X + 3 * (2 * k + far), at, sizeof at);
        }
    for (int k = 0; k < N; k++)
        memcpy(tri + 6 * k, (int32_t[6]){ 2 * k, 2 * k + 1, 2 * k + 2, 2 * k + 2, 2 * k + 1, 2 * k + 3 }, 6 * sizeof *tri);
    const double above[9] = { x, 0.01, -0.1, x, 0.01, 0.1, x, 0.3, 0 };
    memcpy(X + 3 * (ALL - 3), above, sizeof above);
    for (int k = 0; k < 3; k++) tri[6 * N + k] = ALL - 3 + k;
    for (int v = 0; v < ALL; v++) role[v] = v < ALL - 3 ? ABUT_NODE_OBSTACLE : ABUT_NODE_FREE;
    sheets s = surface(ALL, X, 2 * N + 1, tri, 0.04);
    abut_pairs p = { 0 };
    s.model.role = role;
    CHECK(by_area(&s, 0));
    const double e = energy(&s, s.X, &p);
    abut_pairs_clear(&p);
    sheets_free(&s);
    return e;
}

TEST(an_edge_that_crosses_the_rim_of_an_obstacle_at_a_vertex_is_held)
{
    const double between = energy_over_rim(0);
    CHECK(between > 0);
    for (int k = 0; k <= 100; k++) {
        const double e = energy_over_rim(0.0005 * k) / between;
        CHECK(e > 0.4 && e < 2);
    }
}

/* Grids whose vertices, edges and diagonals lie above each other, turned by an angle that rounds. */
TEST(ties_of_regular_grids_have_few_contacts)
{
    for (int k = 0; k < 8; k++) {
        const double turn = (double[4]){ 0, 0.3, 1.1, 2.3 }[k % 4];
        sheets s = two_sheets(13, k < 4 ? 20 : 26, 1, 0.006, 0, 0, 0.01, 1);
        for (int32_t v = 0; v < s.model.nc; v++) {
            double *x = s.X + 3 * v, a = x[0], b = x[2];
            x[0] = cos(turn) * a - sin(turn) * b, x[2] = sin(turn) * a + cos(turn) * b;
        }
        abut_pairs p = { 0 };
        CHECK(by_area(&s, 1) && contacts(&s, s.X, &p));
        size_t of_edges = 0;
        int32_t *n = calloc((size_t)s.cm.nc, sizeof *n), twice = 0;
        for (size_t i = 0; i < p.n; i++) {
            if (p.kind[i] == ABUT_EE) of_edges++;
            else twice += ++n[p.of[i][0]] > 1;
        }
        CHECK(twice == 0);
        CHECK(k < 4 ? of_edges == 0 : of_edges > 1000);
        free(n);
        abut_pairs_clear(&p);
        sheets_free(&s);
    }
}
