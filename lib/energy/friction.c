#include "energy/friction.h"

#include "energy/barrier.h"
#include "energy/contact_laws.h"
#include "energy/friction_inline.h"
#include "energy/term.h"
#include "sparse/packed_lanes.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- lagged contacts ---- */

void abut_lag_clear(abut_lag *lag)
{
    ABUT_FREE(lag->node, lag->weight, lag->basis, lag->force, lag->mu);
    *lag = (abut_lag){ 0 };
}

/* Reserves memory for n contacts, and empties lag. */
static abut_status reserve(abut_lag *lag, size_t n, abut_err *err)
{
    lag->n = 0;
    if (n <= lag->cap) return ABUT_OK;
    abut_lag_clear(lag);
    if (!ABUT_ARRAYS(ABUT_ITEMS(lag->node, n), ABUT_ITEMS(lag->weight, n), ABUT_ITEMS(lag->basis, n), ABUT_ITEMS(lag->force, n),
                     ABUT_ITEMS(lag->mu, n))) {
        abut_lag_clear(lag);
        return abut_fail(err, ABUT_E_NOMEM, "friction: %zu frozen contacts", n);
    }
    lag->cap = n;
    return ABUT_OK;
}

/* Returns the map from slots of contacts to nodes; NULL: slots are nodes. */
static const abut_row_map *map_of(const abut_collmesh *cm) { return abut_collmesh_selects(cm) ? NULL : &cm->W; }

static void freeze_pair(const abut_collmesh *cm, const abut_pairs *pairs, const double *y, size_t i, abut_lag *lag)
{
    double x[12];
    const size_t n = lag->n;
    const abut_stencil kind = abut_pairs_get(pairs, i, y, x);
    (void)abut_dist2(kind, x, lag->weight[n]);
    abut_tangent(kind, x, lag->basis[n]);
    for (int c = 0; c < 4; c++) lag->node[n][c] = abut_collmesh_slot(cm, pairs->vert[i][c]);
}

static void freeze_plane(const abut_collmesh *cm, const abut_pairs *pairs, size_t i, abut_lag *lag)
{
    static const double alone[4] = { 1, 0, 0, 0 };
    const size_t n = lag->n;
    lag->node[n][0] = abut_collmesh_slot(cm, pairs->plane_vert[i]);
    lag->node[n][1] = lag->node[n][2] = lag->node[n][3] = -1;
    memcpy(lag->weight[n], alone, sizeof alone);
    abut_tangent_plane(cm->model->hs_normal + 3 * (size_t)pairs->plane[i], lag->basis[n]);
}

/* Returns the friction coefficient of a pair; 0 if it has no friction. */
static double pair_mu(const abut_collmesh *cm, const abut_pairs *pairs, size_t i)
{
    const int32_t *v = pairs->vert[i];
    if (!(pairs->mult[i] > 0)) return 0;
    return cm->model->mu[abut_collmesh_classes(cm, v[0], v[pairs->kind[i] == ABUT_EE ? 2 : 1])];
}

abut_status abut_lag_freeze(const abut_collmesh *cm, const abut_pairs *pairs, const double *y, double kappa, double h,
                            abut_lag *lag, abut_err *err)
{
    assert(pairs && lag);
    const abut_status rc = reserve(lag, pairs->n_plain + pairs->n_plane, err);
    if (rc) return rc;
    lag->map = map_of(cm);
    for (size_t i = 0; i < pairs->n_plain; i++) {
        const double mu = pair_mu(cm, pairs, i);
        if (mu == 0) continue;
        freeze_pair(cm, pairs, y, i, lag);
        lag->force[lag->n] = abut_barrier_force(cm, pairs, y, kappa, h, i);
        lag->mu[lag->n++] = mu;
    }
    for (size_t i = 0; i < pairs->n_plane; i++) {
        const double mu = cm->model->mu[abut_collmesh_plane_classes(cm, pairs->plane_vert[i], pairs->plane[i])];
        if (mu == 0) continue;
        freeze_plane(cm, pairs, i, lag);
        lag->force[lag->n] = abut_barrier_force(cm, pairs, y, kappa, h, pairs->n + i);
        lag->mu[lag->n++] = mu;
    }
    return ABUT_OK;
}

void abut_lag_slopes(const abut_collmesh *cm, const abut_pairs *pairs, const double *y, double kappa, double h, double (*per)[3])
{
    size_t n = 0;
    for (size_t i = 0; i < pairs->n_plain; i++) {
        if (pair_mu(cm, pairs, i) == 0) continue;
        double x[12], w[4], s[3] = { 0 };
        const abut_stencil kind = abut_pairs_get(pairs, i, y, x);
        (void)abut_dist2(kind, x, w);
        for (int k = 0; k < 3 * abut_stencil_size(kind); k++) s[k % 3] += w[k / 3] * x[k];
        const double by = abut_barrier_force_slope(cm, pairs, kappa, h, i) / sqrt(pairs->dist2[i]);
        for (int d = 0; d < 3; d++) per[n][d] = by * s[d];
        n++;
    }
    for (size_t i = 0; i < pairs->n_plane; i++) {
        if (cm->model->mu[abut_collmesh_plane_classes(cm, pairs->plane_vert[i], pairs->plane[i])] == 0) continue;
        const double by = abut_barrier_force_slope(cm, pairs, kappa, h, pairs->n + i);
        for (int d = 0; d < 3; d++) per[n][d] = by * cm->model->hs_normal[3 * (size_t)pairs->plane[i] + (size_t)d];
        n++;
    }
}

/* The name of a contact, which identifies it in other lists, and its place in its own list. */
typedef struct named {
    int32_t node[4];
    double tangents[6];     /* of a half-space; 0 for a pair */
    size_t at;
} named;

static int by_name(const void *a, const void *b)
{
    const named *p = a, *q = b;
    for (int k = 0; k < 4; k++)
        if (p->node[k] != q->node[k]) return p->node[k] < q->node[k] ? -1 : 1;
    for (int k = 0; k < 6; k++)
        if (p->tangents[k] != q->tangents[k]) return p->tangents[k] < q->tangents[k] ? -1 : 1;
    return 0;
}

static int by_name_and_place(const void *a, const void *b)
{
    const named *p = a, *q = b;
    const int order = by_name(p, q);
    return order ? order : (p->at > q->at) - (p->at < q->at);
}

static void name_all(const abut_lag *lag, named *s)
{
    for (size_t i = 0; i < lag->n; i++) {
        s[i] = (named){ .at = i };
        memcpy(s[i].node, lag->node[i], sizeof s[i].node);
        if (lag->node[i][1] < 0) memcpy(s[i].tangents, lag->basis[i], sizeof s[i].tangents);
    }
    if (lag->n) qsort(s, lag->n, sizeof *s, by_name_and_place);
}

static void copy_contact(const abut_lag *from, size_t i, double share, abut_lag *to)
{
    const size_t n = to->n++;
    memcpy(to->node[n], from->node[i], sizeof *to->node);
    memcpy(to->weight[n], from->weight[i], sizeof *to->weight);
    memcpy(to->basis[n], from->basis[i], sizeof *to->basis);
    to->force[n] = share * from->force[i];
    to->mu[n] = from->mu[i];
}

/* A contact of `before`, and the contact of `now` with its name; now->n: none. */
typedef struct pair {
    size_t before, now;
} pair;

/* Returns the pairs of all contacts of `before`, in the order of their names; NULL without memory. */
static pair *match(const abut_lag *now, const abut_lag *before, abut_err *err)
{
    named *a = malloc((now->n + 1) * sizeof *a), *b = malloc((before->n + 1) * sizeof *b);
    pair *at = malloc((before->n + 1) * sizeof *at);
    if (a && b && at) {
        name_all(now, a);
        name_all(before, b);
        for (size_t i = 0, j = 0; j < before->n; j++) {      /* two sorted lists; the same name twice pairs up in order */
            while (i < now->n && by_name(&a[i], &b[j]) < 0) i++;
            const int same = i < now->n && by_name(&a[i], &b[j]) == 0;
            at[j] = (pair){ b[j].at, same ? a[i++].at : now->n };
        }
    } else {
        (void)abut_fail(err, ABUT_E_NOMEM, "friction: %zu frozen contacts", now->n);
        free(at);
        at = NULL;
    }
    ABUT_FREE(a, b);
    return at;
}

abut_status abut_lag_relax(abut_lag *now, const abut_lag *before, double w, abut_err *err)
{
    assert(now && before);
    abut_lag both = { 0 };
    pair *at = match(now, before, err);
    const abut_status rc = at ? reserve(&both, now->n + before->n, err) : ABUT_E_NOMEM;
    if (!rc) {
        both.map = now->map;
        for (size_t i = 0; i < now->n; i++) copy_contact(now, i, w, &both);
        for (size_t j = 0; j < before->n; j++)
            if (at[j].now < now->n) both.force[at[j].now] += (1 - w) * before->force[at[j].before];
            else copy_contact(before, at[j].before, 1 - w, &both);
        const abut_lag old = *now;
        *now = both;
        both = old;
    }
    abut_lag_clear(&both);
    free(at);
    return rc;
}

abut_status abut_lag_compare(const abut_lag *now, const abut_lag *before, double *change, double *largest, abut_err *err)
{
    pair *at = match(now, before, err);
    double *was = at ? calloc(now->n + 1, sizeof *was) : NULL;
    abut_status rc = ABUT_OK;
    *change = *largest = 0;
    if (!at || !was) rc = abut_fail(err, ABUT_E_NOMEM, "friction: %zu frozen contacts", now->n);
    for (size_t j = 0; j < before->n && !rc; j++) {
        const double force = before->force[at[j].before];
        if (at[j].now < now->n) was[at[j].now] = force;
        else *change = fmax(*change, force);
        *largest = fmax(*largest, force);
    }
    for (size_t i = 0; i < now->n && !rc; i++) {
        *change = fmax(*change, fabs(now->force[i] - was[i]));
        *largest = fmax(*largest, now->force[i]);
    }
    ABUT_FREE(at, was);
    return rc;
}

abut_status abut_lag_from_frame(const abut_collmesh *cm, const abut_frame *f, abut_lag *lag, abut_err *err)
{
    const size_t n = (size_t)f->nl;
    const abut_status rc = reserve(lag, n, err);
    lag->map = map_of(cm);
    if (rc || n == 0) return rc;
    memcpy(lag->node, lag->map ? f->lag_vertex : f->lag_node, n * sizeof *lag->node);
    memcpy(lag->weight, f->lag_weight, n * sizeof *lag->weight);
    memcpy(lag->basis, f->lag_basis, n * sizeof *lag->basis);
    memcpy(lag->force, f->lag_force, n * sizeof *lag->force);
    memcpy(lag->mu, f->lag_mu, n * sizeof *lag->mu);
    lag->n = n;
    return ABUT_OK;
}

static abut_status put(abut_arrays *set, const char *name, size_t n, const void *data, size_t row, abut_err *err)
{
    void *to = abut_frame_put(set, name, (int64_t)n, err);
    if (!to) return err ? err->code : ABUT_E_NOMEM;
    if (n) memcpy(to, data, n * row);
    return ABUT_OK;
}

abut_status abut_lag_to_frame(const abut_lag *lag, abut_arrays *set, abut_err *err)
{
    abut_status rc = put(set, lag->map ? "lag/vertex" : "lag/node", lag->n, lag->node, sizeof *lag->node, err);
    if (!rc) rc = put(set, "lag/weight", lag->n, lag->weight, sizeof *lag->weight, err);
    if (!rc) rc = put(set, "lag/basis", lag->n, lag->basis, sizeof *lag->basis, err);
    if (!rc) rc = put(set, "lag/normal-force", lag->n, lag->force, sizeof *lag->force, err);
    if (!rc) rc = put(set, "lag/mu", lag->n, lag->mu, sizeof *lag->mu, err);
    return rc;
}

/* ---- the law ---- */

#include "math/forms_lanes.h"

double abut_friction_f0(int smoothing, double y, double w, double *f1_over_y, double *f2)
{
    double first, second;
    if (smoothing < ABUT_FRICTION_FORMS) return abut_friction_f0_fn(smoothing, y, w, f1_over_y, f2);
    return abut_friction_laws[smoothing]->f0(y, w, f1_over_y ? f1_over_y : &first, f2 ? f2 : &second);
}

/* Writes the relative motion of contact i, whose points are rows of a map. */
static void relative(const abut_lag *lag, size_t i, const double *x, const double *xn, double r[3])
{
    const abut_row_map *W = lag->map;
    r[0] = r[1] = r[2] = 0;
    for (int c = 0; c < 4 && lag->node[i][c] >= 0; c++)
        for (int32_t k = W->first[lag->node[i][c]]; k < W->first[lag->node[i][c] + 1]; k++) {
            const size_t at = 3 * (size_t)W->col[k];
            const double w = lag->weight[i][c] * W->weight[k];
            for (size_t d = 0; d < 3; d++) r[d] += w * (x[at + d] - (xn ? xn[at + d] : 0));
        }
}

void abut_friction_relative(const abut_lag *lag, size_t i, const double *q, double r[3])
{
    if (lag->map) {
        relative(lag, i, q, NULL, r);
        return;
    }
    r[0] = r[1] = r[2] = 0;
    for (int c = 0; c < 4 && lag->node[i][c] >= 0; c++)
        for (size_t d = 0; d < 3; d++) r[d] += lag->weight[i][c] * q[3 * (size_t)lag->node[i][c] + d];
}

static inline void slide(const abut_lag *lag, size_t i, const double *x, const double *xn, double u[2])
{
    const double *P = lag->basis[i];
    double r[3];
    if (!lag->map) {
        abut_friction_slide(lag->node[i], lag->weight[i], P, x, xn, u);
        return;
    }
    relative(lag, i, x, xn, r);
    u[0] = P[0] * r[0] + P[1] * r[1] + P[2] * r[2];
    u[1] = P[3] * r[0] + P[4] * r[1] + P[5] * r[2];
}

double abut_friction_slid(const abut_lag *lag, size_t i, const double *x, const double *xn)
{
    double u[2];
    slide(lag, i, x, xn, u);
    return sqrt(u[0] * u[0] + u[1] * u[1]);
}

int abut_friction_turns(const abut_lag *lag, double threshold, const double *still, const double *x, const double *y)
{
    for (size_t i = 0; i < lag->n; i++)
        if ((abut_friction_slid(lag, i, x, still) < threshold) != (abut_friction_slid(lag, i, y, still) < threshold)) return 1;
    return 0;
}

/* ---- four contacts at a time ---- */

/* Returns the contact of lane l: i + l, or i in the lanes from n on. */
FORM size_t in_lane(size_t i, size_t n, size_t l) { return i + (l < n ? l : 0); }

/* Weights of corner c, 0 if it is unused; bases of the tangent planes. */
FORM double weight_of(const abut_lag *lag, size_t k, int c) { return lag->node[k][c] < 0 ? 0 : lag->weight[k][c]; }
FORM void weight4(const abut_lag *lag, size_t i, size_t n, int c, abut_lanes *w)
{
    *w = (abut_lanes){ weight_of(lag, i, c), weight_of(lag, in_lane(i, n, 1), c), weight_of(lag, in_lane(i, n, 2), c),
                       weight_of(lag, in_lane(i, n, 3), c) };
}

FORM void basis4(const abut_lag *lag, size_t i, size_t n, abut_lanes P[6])
{
    const double *a = lag->basis[i], *b = lag->basis[in_lane(i, n, 1)], *c = lag->basis[in_lane(i, n, 2)],
                 *d = lag->basis[in_lane(i, n, 3)];
    for (int k = 0; k < 6; k++) P[k] = (abut_lanes){ a[k], b[k], c[k], d[k] };
}

FORM void slide4(const abut_lag *lag, size_t i, size_t n, const double *x, const double *xn, abut_lanes P[6], abut_lanes u[2])
{
    abut_lanes r[3] = { ALL(0.), ALL(0.), ALL(0.) }, at[3] = { { 0 } }, from[3] = { { 0 } }, weight = { 0 };
    const double *to[ABUT_LANES], *was[ABUT_LANES];
    for (size_t l = 0; l < ABUT_LANES && lag->map; l++) {
        double one[3];
        relative(lag, in_lane(i, n, l), x, xn, one);
        for (int d = 0; d < 3; d++) r[d][l] = one[d];
    }
    for (int c = 0; c < 4 && !lag->map; c++) {
        int used = 0;
        for (size_t l = 0; l < ABUT_LANES; l++) {
            const size_t k = in_lane(i, n, l);
            const int32_t node = lag->node[k][c];
            used |= node >= 0;
            to[l] = x + 3 * (size_t)(node < 0 ? lag->node[k][0] : node);
            was[l] = xn ? xn + (to[l] - x) : to[l];
        }
        if (!used) break;
        weight4(lag, i, n, c, &weight);
        abut_lanes_gather3(to, at);
        abut_lanes_gather3(was, from);
        for (int d = 0; d < 3; d++) r[d] += weight * (xn ? at[d] - from[d] : at[d]);
    }
    basis4(lag, i, n, P);
    u[0] = P[0] * r[0] + P[1] * r[1] + P[2] * r[2];
    u[1] = P[3] * r[0] + P[4] * r[1] + P[5] * r[2];
}

/* A law without forms, lane by lane.  Not inlined, so that numbers of laws with forms stay in registers. */
__attribute__((noinline, cold))
static void one_by_one(int smoothing, const double y[ABUT_LANES], double w, double out[3 * ABUT_LANES])
{
    for (int l = 0; l < ABUT_LANES; l++)
        out[l] = abut_friction_f0(smoothing, y[l], w, &out[ABUT_LANES + l], &out[2 * ABUT_LANES + l]);
}

/* abut_friction_f0 */
FORM void law4(int smoothing, const abut_lanes *y, double w, abut_lanes *f0, abut_lanes *f1_over_y, abut_lanes *f2)
{
    const abut_lanes q = *y / w;
    const abut_lane_mask slides = *y >= w;
    abut_lanes a, b, c;
    if (smoothing >= ABUT_FRICTION_FORMS) {
        double at[ABUT_LANES], out[3 * ABUT_LANES];
        for (int l = 0; l < ABUT_LANES; l++) at[l] = (*y)[l];
        one_by_one(smoothing, at, w, out);
        for (int l = 0; l < ABUT_LANES; l++) {
            (*f0)[l] = out[l];
            (*f1_over_y)[l] = out[ABUT_LANES + l];
            (*f2)[l] = out[2 * ABUT_LANES + l];
        }
        return;
    }
    if (smoothing == ABUT_FRICTION_C0) a = 0.5 * (q * q + 1), b = c = ALL(1.);
    else if (smoothing == ABUT_FRICTION_C2)
        a = q * q * (1.5 - q * (1 - q / 4)) + 0.25, b = 3 - q * (3 - q), c = 3 * (1 - q) * (1 - q);
    else a = q * q * (1 - q / 3) + 1.0 / 3.0, b = 2 - q, c = 2 * (1 - q);
    *f0 = PICK(slides, *y, w * a);
    *f1_over_y = PICK(slides, 1 / *y, b / w);
    *f2 = PICK(slides, ALL(0.), c / w);
}

/* Writes y = |u| and the direction (c, s) of u, (1, 0) if u = 0. */
FORM void polar4(const abut_lanes u[2], abut_lanes *y, abut_lanes *c, abut_lanes *s)
{
    *y = u[0] * u[0] + u[1] * u[1];
    abut_lanes_sqrt(y);
    *c = PICK(*y > 0, u[0] / *y, ALL(1.));
    *s = PICK(*y > 0, u[1] / *y, ALL(0.));
}

ABUT_LANES_CLONES
static double block_energy(const abut_lag *lag, const abut_stiction *law, const double *x, const double *xn, abut_range r)
{
    const double w = law->eps_v * law->h;
    double sum = 0;
    for (size_t i = r.lo; i < r.hi; i += ABUT_LANES) {
        const size_t n = r.hi - i < ABUT_LANES ? r.hi - i : ABUT_LANES;
        abut_lanes P[6] = { { 0 } }, u[2], y, c, s, f0, f1_over_y, f2;
        slide4(lag, i, n, x, xn, P, u);
        polar4(u, &y, &c, &s);
        law4(law->smoothing, &y, w, &f0, &f1_over_y, &f2);
        for (size_t l = 0; l < n; l++) sum += lag->mu[i + l] * lag->force[i + l] * f0[l];
    }
    return sum;
}

abut_status abut_friction_energy(const abut_lag *lag, const abut_stiction *law, const double *x, const double *xn, double *energy,
                                 abut_arena *scratch, abut_err *err)
{
    assert(lag);
    const size_t nb = abut_blocks(lag->n);
    const abut_mark mark = abut_arena_mark(scratch);
    double *part = ABUT_NEW(scratch, double, nb);
    if (!part) return abut_fail(err, ABUT_E_NOMEM, "friction: %zu partial sums", nb);

    #pragma omp parallel for schedule(static) if (nb > 2)
    for (size_t b = 0; b < nb; b++) part[b] = block_energy(lag, law, x, xn, abut_block(lag->n, b));
    const double total = law->h * law->h * abut_sum(part, nb);
    abut_arena_release(scratch, mark);
    *energy = isfinite(total) ? total : INFINITY;
    return ABUT_OK;
}

/* Writes dD/dr of contact i; r: its relative motion. */
static void pull_of(const abut_lag *lag, const abut_stiction *law, size_t i, const double *x, const double *xn, double pull[3])
{
    const double h = law->h, w = law->eps_v * h;
    double u[2], f1_over_y;
    slide(lag, i, x, xn, u);
    (void)abut_friction_f0(law->smoothing, sqrt(u[0] * u[0] + u[1] * u[1]), w, &f1_over_y, NULL);
    const double f = lag->mu[i] * lag->force[i] * h * h * f1_over_y;
    for (size_t d = 0; d < 3; d++) pull[d] = f * (lag->basis[i][d] * u[0] + lag->basis[i][3 + d] * u[1]);
}

abut_status abut_friction_gradient(const abut_lag *lag, const abut_stiction *law, int32_t nv, const double *x, const double *xn,
                                   double *g, abut_arena *scratch, abut_err *err)
{
    assert(lag && law && nv >= 0);
    const size_t n = lag->n;
    const abut_mark mark = abut_arena_mark(scratch);
    double *pull = ABUT_NEW(scratch, double, 3 * n), *to = lag->map ? ABUT_NEW(scratch, double, 3 * (size_t)lag->map->rows) : g;
    if (!pull || !to) return abut_fail(err, ABUT_E_NOMEM, "friction: forces of %zu contacts", n);

    #pragma omp parallel for schedule(static) if (n >= ABUT_PAR_MIN)
    for (size_t i = 0; i < n; i++) pull_of(lag, law, i, x, xn, pull + 3 * i);
    /* one thread adds them up, in their order */
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < 4 && lag->node[i][c] >= 0; c++) {
            assert(lag->node[i][c] < (lag->map ? lag->map->rows : nv));
            for (size_t d = 0; d < 3; d++) to[3 * (size_t)lag->node[i][c] + d] += lag->weight[i][c] * pull[3 * i + d];
        }
    if (lag->map) abut_row_map_apply_transposed(lag->map, to, g);
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}

/* Returns the half-space of contact i; -1: none.  A contact stores the tangents of its normal, not its number; of several half-
 * spaces with this normal, the nearest to the node is taken. */
static int32_t half_space_of(const abut_lag *lag, const abut_collmesh *cm, size_t i, const double *x, const double *y)
{
    const abut_model *m = cm->model;
    if (lag->node[i][1] >= 0) return -1;    /* a pair has two nodes or more */
    const double *at = (lag->map ? y : x) + 3 * (size_t)lag->node[i][0];
    int32_t nearest = -1;
    double least = INFINITY;
    for (int32_t k = 0; k < m->nh; k++) {
        const double *n = m->hs_normal + 3 * (size_t)k, *o = m->hs_point + 3 * (size_t)k;
        double basis[6];
        abut_tangent_plane(n, basis);
        if (memcmp(basis, lag->basis[i], sizeof basis) != 0) continue;
        const double far = fabs(n[0] * (at[0] - o[0]) + n[1] * (at[1] - o[1]) + n[2] * (at[2] - o[2]));
        if (far < least) least = far, nearest = k;
    }
    return nearest;
}

void abut_friction_gradient_half_spaces(const abut_lag *lag, const abut_collmesh *cm, const abut_stiction *law, const double *x,
                                        const double *y, const double *xn, double *g)
{
    assert(lag && cm && law);
    for (size_t i = 0; i < lag->n; i++) {
        double pull[3];
        const int32_t k = half_space_of(lag, cm, i, x, y);
        if (k < 0) continue;
        pull_of(lag, law, i, x, xn, pull);
        for (size_t d = 0; d < 3; d++) g[3 * (size_t)k + d] -= pull[d];
    }
}

/* K = P (f0'' uhat uhat^T + f0'/y vhat vhat^T) P^T with vhat normal to uhat, or f0'/y for both: sums of squares, so rounding
 * cannot make it indefinite */
FORM void sliding_stiffness(size_t i, size_t n, const abut_lanes P[6], const abut_lanes u[2], const abut_stiction *law,
                              const uint8_t *above, abut_lanes K[9])
{
    abut_lanes y, c, s, f0, f1_over_y, f2, along[3], across[3];
    polar4(u, &y, &c, &s);
    law4(law->smoothing, &y, law->eps_v * law->h, &f0, &f1_over_y, &f2);
    for (size_t l = 0; l < ABUT_LANES && above; l++)
        if (above[in_lane(i, n, l)]) f2[l] = f1_over_y[l];
    for (int d = 0; d < 3; d++) {
        along[d] = P[d] * c + P[3 + d] * s;
        across[d] = P[3 + d] * c - P[d] * s;
    }
    for (int k = 0; k < 9; k++) K[k] = f2 * (along[k / 3] * along[k % 3]) + f1_over_y * (across[k / 3] * across[k % 3]);
}

/* Writes the blocks f w_a w_b K of the first `corners` corners, a literal at each call. */
FORM void spread4(size_t n, int corners, const abut_lanes *f, const abut_lanes weight[4], const abut_lanes K[9], double *H)
{
    abut_packed_lanes all;
    for (int a = 0, block = 0; a < corners; block += 4 - a, a++)
        for (int b = a; b < corners; b++) {
            const abut_lanes ww = *f * (weight[a] * weight[b]);
            for (int k = 0; k < 9; k++) all[9 * (block + b - a) + k] = ww * K[k];
        }
    abut_packed_spread_corners(all, corners, n, H);
}

ABUT_LANES_CLONES
static void block_hessian(const abut_lag *lag, const abut_stiction *law, const double *x, const double *xn, const uint8_t *above,
                          abut_range r, double *H)
{
    const double h = law->h;
    for (size_t i = r.lo; i < r.hi; i += ABUT_LANES) {
        const size_t n = r.hi - i < ABUT_LANES ? r.hi - i : ABUT_LANES;
        double *to = H + abut_packed_size(4) * i;
        abut_lanes P[6] = { { 0 } }, u[2], K[9], weight[4] = { { 0 } }, f;
        int corners = 1;
        for (size_t l = 0; l < ABUT_LANES; l++) {
            const size_t k = in_lane(i, n, l);
            while (corners < 4 && lag->node[k][corners] >= 0) corners++;
            f[l] = lag->mu[k] * lag->force[k] * h * h;
        }
        slide4(lag, i, n, x, xn, P, u);
        sliding_stiffness(i, n, P, u, law, above, K);
        for (int a = 0; a < 4; a++) weight4(lag, i, n, a, &weight[a]);
        switch (corners) {
        case 1: spread4(n, 1, &f, weight, K, to); break;
        case 2: spread4(n, 2, &f, weight, K, to); break;
        case 3: spread4(n, 3, &f, weight, K, to); break;
        default: spread4(n, 4, &f, weight, K, to);
        }
    }
}

void abut_friction_hessian(const abut_lag *lag, const abut_stiction *law, const double *x, const double *xn, const uint8_t *above,
                           int32_t *node, double *H)
{
    const size_t nb = abut_blocks(lag->n);
    if (lag->n && node) memcpy(node, lag->node, lag->n * sizeof *lag->node);
    #pragma omp parallel for schedule(static) if (nb > 2)
    for (size_t b = 0; b < nb; b++) block_hessian(lag, law, x, xn, above, abut_block(lag->n, b), H);
}

/* Writes f0(|u|) + grad . v + 1/2 v^T H v, the second-order model of f0(|u + v|) at u. */
FORM void second_order(int smoothing, double w, const abut_lanes u[2], const abut_lanes v[2], abut_lanes *model)
{
    abut_lanes y, c, s, f0, f1_over_y, f2;
    polar4(u, &y, &c, &s);
    law4(smoothing, &y, w, &f0, &f1_over_y, &f2);
    const abut_lanes along = c * v[0] + s * v[1], across = c * v[1] - s * v[0];
    *model = f0 + f1_over_y * y * along + 0.5 * (f2 * along * along + f1_over_y * across * across);
}

ABUT_LANES_CLONES
static void block_kinks(const abut_lag *lag, const abut_stiction *law, const double *x, const double *xn, const double *p,
                        abut_range r, uint8_t *above)
{
    const double w = law->eps_v * law->h;
    for (size_t i = r.lo; i < r.hi; i += ABUT_LANES) {
        const size_t n = r.hi - i < ABUT_LANES ? r.hi - i : ABUT_LANES;
        abut_lanes P[6] = { { 0 } }, u[2], v[2], y, c, s, model, f0, f1_over_y, f2;
        slide4(lag, i, n, x, xn, P, u);
        slide4(lag, i, n, p, NULL, P, v);
        second_order(law->smoothing, w, u, v, &model);
        const abut_lanes end[2] = { u[0] + v[0], u[1] + v[1] };
        polar4(end, &y, &c, &s);
        law4(law->smoothing, &y, w, &f0, &f1_over_y, &f2);
        for (size_t l = 0; l < n; l++) above[i + l] = f0[l] > model[l] + ABUT_FRICTION_KINK * w;
    }
}

void abut_friction_kinks(const abut_lag *lag, const abut_stiction *law, const double *x, const double *xn, const double *p,
                         uint8_t *above)
{
    const size_t nb = abut_blocks(lag->n);
    #pragma omp parallel for schedule(static) if (nb > 2)
    for (size_t b = 0; b < nb; b++) block_kinks(lag, law, x, xn, p, abut_block(lag->n, b), above);
}

/* ---- term ---- */

abut_friction_state *abut_friction_state_of(const abut_terms *terms) { return abut_terms_find(terms, "friction"); }
abut_lag *abut_lag_of(const abut_terms *terms) { return &abut_friction_state_of(terms)->lag; }

void abut_lag_exchange(const abut_terms *terms, abut_lag *lag)
{
    abut_lag *mine = abut_lag_of(terms);
    const abut_lag other = *lag;
    *lag = *mine;
    *mine = other;
}

abut_stiction abut_stiction_of(const abut_model *m, const abut_term_step *step)
{
    return (abut_stiction){ step->h_force, step->eps_v, m->smoothing ? m->smoothing[0] : ABUT_FRICTION_C1 };
}

static abut_status make(void **self, const abut_term_world *w, abut_err *err)
{
    abut_friction_state *f = *self = calloc(1, sizeof *f);
    if (!f) return abut_fail(err, ABUT_E_NOMEM, "friction");
    f->model = w->model;
    f->cm = w->cm;
    return ABUT_OK;
}

static void destroy(void *self)
{
    abut_friction_state *f = self;
    abut_lag_clear(&f->lag);
    ABUT_FREE(f->above, f);
}

int abut_friction_acts(const abut_model *m)
{
    for (int32_t i = 0; i < m->ng * m->ng; i++)
        if (m->mu[i] > 0) return 1;
    return 0;
}

static abut_status load(void *self, const abut_frame *frame, const abut_term_frame *as, abut_err *err)
{
    abut_friction_state *f = self;
    return as->pending ? ABUT_OK : abut_lag_from_frame(f->cm, frame, &f->lag, err);
}

static abut_status store(const void *self, const abut_term_frame *as, abut_arrays *out, abut_err *err)
{
    const abut_friction_state *f = self;
    return as->pending || !abut_friction_acts(f->model) ? ABUT_OK : abut_lag_to_frame(&f->lag, out, err);
}

static abut_status energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    const abut_friction_state *f = self;
    const abut_stiction law = abut_stiction_of(f->model, at->step);
    assert(scale == 1);
    return abut_friction_energy(&f->lag, &law, at->x, at->step->x_ref, e, scratch, err);
}

static abut_status gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    const abut_friction_state *f = self;
    const abut_stiction law = abut_stiction_of(f->model, at->step);
    assert(scale == 1);
    return abut_friction_gradient(&f->lag, &law, f->model->nv, at->x, at->step->x_ref, g, scratch, err);
}

/* Describes the set of contacts.  Keeps a flag for each, and clears all flags if their number has changed. */
static abut_status elements(void *self, const abut_at *at, abut_elements *set, abut_err *err)
{
    abut_friction_state *f = self;
    const size_t n = f->lag.n;
    (void)at;
    set->corners = 4, set->n = n, set->row = n ? f->lag.node[0] : NULL, set->map = f->lag.map;
    if (n > f->cap) {
        free(f->above);
        f->cap = 0;
        f->above = malloc(2 * n);
        if (!f->above) return abut_fail(err, ABUT_E_NOMEM, "friction: %zu contacts", n);
        f->cap = 2 * n;
        f->n = 0;
    }
    if (f->n != n && n) memset(f->above, 0, n);
    f->n = n;
    return ABUT_OK;
}

static void hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    const abut_friction_state *f = self;
    const abut_stiction law = abut_stiction_of(f->model, at->step);
    assert(scale == 1);
    (void)lo, (void)hi;
    abut_friction_hessian(&f->lag, &law, at->x, at->step->x_ref, f->n == f->lag.n ? f->above : NULL, NULL, val);
}

static void majorant_forget(void *self) { ((abut_friction_state *)self)->n = 0; }

static void majorant_learn(void *self, const abut_at *at, const double *p)
{
    abut_friction_state *f = self;
    const abut_stiction law = abut_stiction_of(f->model, at->step);
    if (f->n && f->n == f->lag.n) abut_friction_kinks(&f->lag, &law, at->x, at->step->x_ref, p, f->above);
}

static int majorant_is_exact(const void *self)
{
    const abut_friction_state *f = self;
    return !f->n || !memchr(f->above, 1, f->n);
}

const abut_term_ops abut_term_friction = { .name = "friction", .kind = ABUT_TERM_FRICTION, .weight = ABUT_TERM_WEIGHED,
                                           .make = make, .load = load, .store = store, .energy = energy,
                                           .gradient = gradient, .set = "friction",
                                           .elements = elements, .hessian = hessian,
                                           .majorant_forget = majorant_forget, .majorant_learn = majorant_learn,
                                           .majorant_is_exact = majorant_is_exact, .free = destroy };
