#include "energy/barrier_pair.h"

#include "base/order.h"
#include "energy/barrier_inline.h"
#include "energy/contact_laws.h"
#include "geom/dist_lanes.h"
#include "sparse/packed_inline.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define INLINE ABUT_LANES_INLINE

#include "math/forms_lanes.h"
#define DIST2(kind, x, w, r, d2) abut_dist2_lanes(kind, x, w, r, d2)
#define SUB3(a, b, d) abut_lanes3_sub(a, b, d)
#define CROSS3(a, b, c) abut_lanes3_cross(a, b, c)
#define DOT3(a, b) ABUT_LANES_DOT(a, b)
#define PROJECT9(S) abut_psd_project9_lanes(S)

#include "energy/contact_forms.h"

#include "math/forms_end.h"

/* ---- the barrier ---- */

double abut_barrier(abut_barrier_law law, double D, double *db, double *ddb)
{
    double b, first, second;
    if (!(D > 0)) b = INFINITY, first = -INFINITY, second = INFINITY;
    else if (D >= law.dhat2) b = first = second = 0;
    else b = abut_barrier_laws[law.number]->value(D, law.dhat2, &first, &second);
    if (law.inner_part > 0 && D > 0 && D < law.inner2) {
        double inner_first, inner_second;
        b -= law.inner_part * abut_barrier_laws[law.number]->value(D, law.inner2, &inner_first, &inner_second);
        first -= law.inner_part * inner_first, second -= law.inner_part * inner_second;
    }
    if (db) *db = first;
    if (ddb) *ddb = second;
    return b;
}

double abut_barrier_along(abut_barrier_law law, double d, double least, int squared)
{
    double db, ddb;
    const double at = fmax(d, law.xi + least);
    (void)abut_barrier(law, (at - law.xi) * (at + law.xi), &db, &ddb);
    return 4 * at * at * ddb + (squared ? 0 : 2 * db);
}

double abut_kappa_min(double length, abut_barrier_law law, double mean_mass)
{
    const double xi = law.xi, D = 2 * xi * (1e-8 * length) + 1e-16 * length * length;
    double ddb;
    (void)abut_barrier(law, D, NULL, &ddb);
    return 1e11 * mean_mass / (4 * (xi * xi + D) * ddb);
}

abut_status abut_kappa_min_of(double length, double dhat, int law, double mean_mass, const double *xi, int32_t n,
                              int half_spaces, double *kappa, abut_err *err)
{
    assert(n >= 0);
    const size_t room = (size_t)n + 1;
    double *each = malloc(room * sizeof *each);
    if (!each) return abut_fail(err, ABUT_E_NOMEM, "barrier stiffness: thickness of %d objects", n);
    size_t m = 0, distinct = 0;
    for (int32_t i = 0; i < (xi ? n : 0); i++) each[m++] = xi[i];
    if (half_spaces || !m) each[m++] = 0;
    qsort(each, m, sizeof *each, abut_by_double);
    for (size_t i = 0; i < m; i++)
        if (!i || each[i] > each[distinct - 1]) each[distinct++] = each[i];
    *kappa = 0;
    for (size_t i = 0; i < distinct; i++)
        for (size_t j = i; j < distinct; j++)
            *kappa = fmax(*kappa, abut_kappa_min(length, abut_barrier_law_of(dhat, law, 0.5 * (each[i] + each[j])), mean_mass));
    free(each);
    return ABUT_OK;
}

/* ---- four plain contacts at a time ---- */

/* Lane after lane: of a law without forms.  Apart, so that the numbers of the others stay in registers. */
__attribute__((noinline, cold)) static void one_by_one(int number, const double at[2 * ABUT_LANES], double out[3 * ABUT_LANES])
{
    for (int l = 0; l < ABUT_LANES; l++)
        out[l] = abut_barrier((abut_barrier_law){ .dhat2 = at[l], .number = number }, at[ABUT_LANES + l], &out[ABUT_LANES + l],
                              &out[2 * ABUT_LANES + l]);
}

INLINE void barrier_of(int number, const abut_lanes *Dhat, const abut_lanes *D, abut_lanes *b, abut_lanes *db, abut_lanes *ddb)
{
    if (number < ABUT_BARRIER_FORMS) {
        abut_barrier_of_lanes(number, Dhat, D, b, db, ddb);
        return;
    }
    double at[2 * ABUT_LANES], out[3 * ABUT_LANES];
    for (int l = 0; l < ABUT_LANES; l++) at[l] = (*Dhat)[l], at[ABUT_LANES + l] = (*D)[l];
    one_by_one(number, at, out);
    for (int l = 0; l < ABUT_LANES; l++) {
        (*b)[l] = out[l];
        (*db)[l] = out[ABUT_LANES + l];
        (*ddb)[l] = out[2 * ABUT_LANES + l];
    }
}

/* Takes off what the laws of n <= ABUT_LANES contacts leave to others (energy/barrier_law_inline.h). */
INLINE void take_inner(const abut_barrier_law *law, size_t n, const abut_lanes *D, abut_lanes *b, abut_lanes *db, abut_lanes *ddb)
{
    abut_lanes part, Dhat, in, din, ddin;
    double most = 0;
    for (size_t l = 0; l < ABUT_LANES; l++) {
        const abut_barrier_law *of = law + (l < n ? l : 0);
        part[l] = of->inner_part, Dhat[l] = of->inner_part > 0 ? of->inner2 : of->dhat2;
        most = of->inner_part > most ? of->inner_part : most;
    }
    if (!(most > 0)) return;
    barrier_of(law->number, &Dhat, D, &in, &din, &ddin);
    *b = *b - part * in, *db = *db - part * din, *ddb = *ddb - part * ddin;
}

ABUT_LANES_CLONES
void abut_barrier_four(const abut_barrier_law law[ABUT_LANES], const double D[ABUT_LANES], double b[ABUT_LANES])
{
    const abut_lanes at = { D[0], D[1], D[2], D[3] }, Dhat = { law[0].dhat2, law[1].dhat2, law[2].dhat2, law[3].dhat2 };
    abut_lanes value, db, ddb;
    barrier_of(law[0].number, &Dhat, &at, &value, &db, &ddb);
    take_inner(law, ABUT_LANES, &at, &value, &db, &ddb);
    for (int l = 0; l < ABUT_LANES; l++) b[l] = value[l];
}

/* ---- contacts ---- */

/* Points p[4][3] of n <= ABUT_LANES contacts x, with the first one again in lanes without one; the kind is a literal. */
INLINE void load(abut_stencil kind, size_t n, const double (*x)[12], abut_lanes p[4][3])
{
    const double *at[ABUT_LANES];
    const int points = kind == ABUT_PP ? 2 : kind == ABUT_PE ? 3 : 4;
    for (int k = 0; k < points; k++) {
        for (size_t l = 0; l < ABUT_LANES; l++) at[l] = x[l < n ? l : 0] + 3 * k;
        abut_lanes_gather3(at, p[k]);
    }
}

/* b' and b'' of the same contacts at squared distances d2. */
INLINE void slopes(const abut_barrier_law *law, size_t n, const abut_lanes *d2, abut_lanes *db, abut_lanes *ddb)
{
    abut_lanes D, Dhat, b;
    for (size_t l = 0; l < ABUT_LANES; l++) {
        const size_t i = l < n ? l : 0;
        D[l] = abut_beyond2((*d2)[l], law[i].xi);
        Dhat[l] = law[i].dhat2;
    }
    barrier_of(law->number, &Dhat, &D, &b, db, ddb);
    take_inner(law, n, &D, &b, db, ddb);
}

/* b' times grad d^2, 2 w_i r at point i. */
INLINE void grad_of(abut_stencil kind, const abut_barrier_law *law, size_t n, const double (*x)[12], double (*g)[12])
{
    const int points = kind == ABUT_PP ? 2 : kind == ABUT_PE ? 3 : 4;
    abut_lanes p[4][3], w[4], r[3], G[12], d2, db, ddb;
    load(kind, n, x, p);
    abut_dist2_lanes(kind, p, w, r, &d2);
    slopes(law, n, &d2, &db, &ddb);
    for (int i = 0; i < 12; i++) G[i] = i < 3 * points ? db * (2 * w[i / 3] * r[i % 3]) : ABUT_LANES_ALL(0.);
    for (size_t l = 0; l < n; l++)
        for (int i = 0; i < 3 * points; i++) g[l][i] = G[i][l];
}

ABUT_LANES_CLONES
void abut_pair_barrier_grads(const abut_barrier_law *law, abut_stencil kind, size_t n, const double (*x)[12], double (*g)[12])
{
    ABUT_OF_KIND(kind, grad_of, law, n, x, g);
}

/* K of q + 1 points += `across` w w^T along the directions that are normal to n and to the feature: the last line of the closed
 * form (energy/contact_forms.h), which is positive where the scale is negative. */
INLINE void add_across(int q, int m, const abut_contact_frame_lanes *f, const abut_lanes *across, abut_packed_lanes K)
{
    const abut_lanes w2 = *across * f->w_norm * f->w_norm;
    for (int c = 0; c < 9; c++) {
        abut_lanes P = ABUT_LANES_ALL(c % 4 ? 0. : 1.) - f->n[c / 3] * f->n[c % 3];
        for (int j = 0; j < m; j++) P -= f->t[j][c / 3] * f->t[j][c % 3];
        for (int a = 0; a <= q; a++)
            for (int b = a; b <= q; b++) {
                abut_lanes *to = &K[9 * abut_packed_block(4, a, b) + (size_t)c];
                *to = ABUT_LANES_PICK(*across > 0, *to + w2 * f->what[a] * f->what[b] * P, *to);
            }
    }
}

/* n <= ABUT_LANES contacts of one kind; their small matrices are projected together */
INLINE void hess_of(abut_stencil kind, const abut_barrier_law *law, size_t n, const double (*x)[12], const double *scale,
                    double *H)
{
    const int q = kind == ABUT_PP ? 1 : kind == ABUT_PE ? 2 : 3, m = q - 1;
    abut_lanes p[4][3], S[25], weight, db, ddb;
    abut_packed_lanes K;
    abut_contact_frame_lanes f;
    load(kind, n, x, p);
    abut_contact_frame_of_lanes(kind, q, m, p, &f);
    slopes(law, n, &f.d2, &db, &ddb);
    for (size_t l = 0; l < ABUT_LANES; l++) weight[l] = scale[l < n ? l : 0];
    const abut_lanes normal = weight * (4 * f.d2 * ddb + 2 * db), beta = -2 * weight * db;
    const abut_lanes least = ABUT_LANES_PICK(normal > 0, normal, ABUT_LANES_ALL(0.));
    const abut_lanes alpha = m ? ABUT_LANES_PICK(weight < 0, normal, least) : least;
    int negative = 0;
    if (m == 0) abut_contact_point_pair_lanes(&f, &alpha, K);
    else {
        abut_contact_small_lanes(&f, q, m, &alpha, &beta, S);
        if (m == 2) abut_psd_project5_lanes(S);
        else abut_psd_project3_lanes(S);
        abut_contact_expand_lanes(kind, &f, q, m, S, K);
    }
    for (size_t l = 0; l < n; l++) negative |= scale[l] < 0;
    if (negative && m < 2) {
        const abut_lanes across = ABUT_LANES_PICK(beta < 0, -beta, ABUT_LANES_ALL(0.));
        add_across(q, m, &f, &across, K);
    }
    abut_packed_spread_corners(K, q + 1, n, H);
}

/* the part along the normal: the gradient of the distance and the curvature there */
INLINE void rank_one_of(abut_stencil kind, const abut_barrier_law *law, double least, int squared, size_t n,
                        const double (*x)[12], const double *scale, double *val)
{
    const int points = kind == ABUT_PP ? 2 : kind == ABUT_PE ? 3 : 4;
    abut_lanes p[4][3], w[4], r[3], d2, at2, d, db, ddb, s, weight, v[12];
    load(kind, n, x, p);
    abut_dist2_lanes(kind, p, w, r, &d2);
    at2 = d = d2;
    abut_lanes_sqrt(&d);
    for (size_t l = 0; l < ABUT_LANES; l++) {
        const double at = law[l < n ? l : 0].xi + least;
        weight[l] = scale[l < n ? l : 0];
        if (least > 0 && d2[l] < at * at) at2[l] = at * at;
    }
    slopes(law, n, &at2, &db, &ddb);
    s = weight * (4 * at2 * ddb + (squared ? ABUT_LANES_ALL(0.) : 2 * db));
    for (int c = 0; c < 3; c++) r[c] = r[c] / d;
    for (int i = 0; i < 12; i++) v[i] = i < 3 * points ? w[i / 3] * r[i % 3] : ABUT_LANES_ALL(0.);
    for (size_t l = 0; l < n; l++, val += ABUT_RANK_ONE) {
        val[0] = s[l];
        for (int i = 0; i < 12; i++) val[1 + i] = v[i][l];
    }
}

ABUT_LANES_CLONES
void abut_pair_barrier_rank_one(const abut_barrier_law *law, double least, int squared, abut_stencil kind, size_t n,
                                const double (*x)[12], const double *scale, double *val)
{
    ABUT_OF_KIND(kind, rank_one_of, law, least, squared, n, x, scale, val);
}

ABUT_LANES_CLONES
void abut_pair_barrier_hess(const abut_barrier_law *law, abut_stencil kind, size_t n, const double (*x)[12], const double *scale,
                            double *H)
{
    ABUT_OF_KIND(kind, hess_of, law, n, x, scale, H);
}

/* ---- mollified edge pairs ---- */

/* scale times the matrices of n <= ABUT_LANES edge pairs, projected and packed */
ABUT_LANES_CLONES
static void project_dense(size_t n, const double (*D)[144], const double *scale, double *H)
{
    abut_lanes A[144], weight;
    abut_packed_lanes K;
    for (int k = 0; k < 144; k += 4) {
        abut_lanes v[ABUT_LANES];
        for (size_t l = 0; l < ABUT_LANES; l++) v[l] = *(const abut_lanes_anywhere *)(D[l < n ? l : 0] + k);
        abut_lanes_transpose(v, A + k);
    }
    for (size_t l = 0; l < ABUT_LANES; l++) weight[l] = scale[l < n ? l : 0];
    abut_edges_project_lanes(A, &weight, K);
    abut_packed_spread(K, n, H);
}

void abut_pair_mollified_full(abut_barrier_law law, const double *x, double eps_x, double *H)
{
    double g[12], db, ddb;
    const double d2 = abut_edges_dist2(x, g, H), b = abut_barrier(law, abut_beyond2(d2, law.xi), &db, &ddb);
    abut_mollified_dense(x, eps_x, b, db, ddb, g, H);
}

void abut_pair_mollified_hess(const abut_barrier_law *law, size_t n, const double (*x)[12], const double *eps_x,
                              const double *scale, double *H)
{
    double D[ABUT_LANES][144];
    for (size_t i = 0; i < n; i++) abut_pair_mollified_full(law[i], x[i], eps_x[i], D[i]);
    project_dense(n, (const double (*)[144])D, scale, H);
}

/* ---- gradient of one contact ---- */

void abut_pair_barrier_grad(abut_barrier_law law, abut_stencil kind, const double *x, double eps_x, double *g)
{
    double db;
    if (!(eps_x > 0)) {
        (void)abut_barrier(law, abut_beyond2(abut_dist2_all(kind, x, NULL, g, NULL), law.xi), &db, NULL);
        for (int i = 0; i < 3 * abut_stencil_size(kind); i++) g[i] *= db;
        return;
    }
    double gc[12], de;
    const double b = abut_barrier(law, abut_beyond2(abut_edges_dist2(x, g, NULL), law.xi), &db, NULL);
    const double e = abut_mollify(abut_cross2(x, gc, NULL), eps_x, &de, NULL);
    for (int i = 0; i < 12; i++) g[i] = e * db * g[i] + b * de * gc[i];
}

/* ---- Gauss-Newton matrix of a mollified pair ---- */

void abut_mollified_gn_of(abut_barrier_law law, double least, int squared, const double *x, double eps_x, abut_mollified_gn *m)
{
    double e[3], db;
    *m = (abut_mollified_gn){ .dhat = sqrt(law.dhat2 + law.xi * law.xi) - law.xi };
    const double c = abut_cross2(x, m->a, NULL), d2 = abut_edges_dist2(x, m->v, NULL);
    e[0] = abut_mollify(c, eps_x, &e[1], &e[2]);
    const double b = abut_barrier(law, abut_beyond2(d2, law.xi), &db, NULL);
    abut_gn_put(x, c, d2, e, b, db, abut_barrier_along(law, sqrt(d2), least, squared), m);
}

void abut_mollified_gn_in_space(const abut_mollified_gn *m, double mu[2], double z[2][12])
{
    abut_gn_in_space(1, m, mu, z);
}

void abut_mollified_gn_in_variables(const abut_mollified_gn *m, double mu[2], double z[2][12])
{
    double co, si;
    abut_gn_eigen2(1, m->m11, m->m12 * m->dhat, m->m22 * m->dhat * m->dhat, mu, &co, &si);
    for (int i = 0; i < 12; i++) {
        z[0][i] = co * m->a[i] + si * m->v[i] / m->dhat;
        z[1][i] = -si * m->a[i] + co * m->v[i] / m->dhat;
    }
    for (int k = 0; k < 2; k++) mu[k] = fmax(mu[k], 0);
}
