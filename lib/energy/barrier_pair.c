#include "energy/barrier_pair.h"

#include "energy/barrier_inline.h"
#include "energy/barrier_laws.h"
#include "geom/dist_lanes.h"
#include "geom/dist.h"
#include "sparse/packed_lanes.h"
#include "math/spd_lanes.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double abut_barrier(abut_barrier_law law, double D, double *db, double *ddb)
{
    double b, first, second;
    if (!(D > 0)) b = INFINITY, first = -INFINITY, second = INFINITY;
    else if (D >= law.dhat2) b = first = second = 0;
    else b = abut_barrier_laws[law.number]->value(D, law.dhat2, &first, &second);
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

static int by_size(const void *p, const void *q)
{
    const double a = *(const double *)p, b = *(const double *)q;
    return (a > b) - (a < b);
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
    qsort(each, m, sizeof *each, by_size);
    for (size_t i = 0; i < m; i++)
        if (!i || each[i] > each[distinct - 1]) each[distinct++] = each[i];
    *kappa = 0;
    for (size_t i = 0; i < distinct; i++)
        for (size_t j = i; j < distinct; j++)
            *kappa =
                fmax(*kappa, abut_kappa_min(length, abut_barrier_law_of(dhat, law, 0.5 * (each[i] + each[j])), mean_mass));
    free(each);
    return ABUT_OK;
}

/* ---- mollified edge pairs ---- */

#include "math/forms_lanes.h"
#define DIST2(kind, x, w, r, d2) abut_dist2_lanes(kind, x, w, r, d2)
#define SUB3(a, b, d) abut_lanes3_sub(a, b, d)
#define CROSS3(a, b, c) abut_lanes3_cross(a, b, c)
#define DOT3(a, b) ABUT_LANES_DOT(a, b)
#define PROJECT9(S) abut_psd_project9_lanes(S)

#include "energy/contact_forms.h"

#include "math/forms_end.h"

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

double abut_pair_edges_dist2(const double *x, double g[12]) { return abut_edges_dist2(x, g, NULL); }

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

/* ---- gradient ---- */

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
