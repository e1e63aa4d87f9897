/* Freezing friction contacts, and keeping them in a frame. */
#include "energy/barrier.h"
#include "energy/friction.h"
#include "geom/dist.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void abut_lag_clear(abut_lag *lag)
{
    free(lag->node);
    free(lag->weight);
    free(lag->basis);
    free(lag->force);
    free(lag->mu);
    *lag = (abut_lag){ 0 };
}

/* memory for n contacts; lag is empty */
static abut_status make_room(abut_lag *lag, size_t n, abut_err *err)
{
    lag->n = 0;
    if (n <= lag->cap) return ABUT_OK;
    abut_lag_clear(lag);
    lag->node = malloc(n * sizeof *lag->node);
    lag->weight = malloc(n * sizeof *lag->weight);
    lag->basis = malloc(n * sizeof *lag->basis);
    lag->force = malloc(n * sizeof *lag->force);
    lag->mu = malloc(n * sizeof *lag->mu);
    if (!lag->node || !lag->weight || !lag->basis || !lag->force || !lag->mu) {
        abut_lag_clear(lag);
        return abut_fail(err, ABUT_E_NOMEM, "friction: %zu frozen contacts", n);
    }
    lag->cap = n;
    return ABUT_OK;
}

/* the map of the slots of contacts */
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

abut_status abut_lag_freeze(const abut_collmesh *cm, const abut_pairs *pairs, const double *y, double kappa, double h,
                            abut_lag *lag, abut_err *err)
{
    assert(pairs && lag);
    const abut_status rc = make_room(lag, pairs->n_plain + pairs->n_plane, err);
    if (rc) return rc;
    lag->map = map_of(cm);
    for (size_t i = 0; i < pairs->n_plain; i++) {
        const int32_t *v = pairs->vert[i];
        const double mu = cm->model->mu[abut_collmesh_classes(cm, v[0], v[pairs->kind[i] == ABUT_EE ? 2 : 1])];
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
        const int32_t *v = pairs->vert[i];
        if (cm->model->mu[abut_collmesh_classes(cm, v[0], v[pairs->kind[i] == ABUT_EE ? 2 : 1])] == 0) continue;
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

/* A contact by its nodes, with a half-space by its tangents, too, and its place in its list. */
typedef struct named {
    int32_t node[4];
    double tangents[6];     /* of a half-space; a pair has 0 */
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

/* at[before->n], contacts of before in the order of their names: the contact of now, or now->n if it has none */
typedef struct pair {
    size_t before, now;
} pair;

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
    free(a);
    free(b);
    return at;
}

abut_status abut_lag_relax(abut_lag *now, const abut_lag *before, double w, abut_err *err)
{
    assert(now && before);
    abut_lag both = { 0 };
    pair *at = match(now, before, err);
    const abut_status rc = at ? make_room(&both, now->n + before->n, err) : ABUT_E_NOMEM;
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
    free(at);
    free(was);
    return rc;
}

abut_status abut_lag_from_frame(const abut_collmesh *cm, const abut_frame *f, abut_lag *lag, abut_err *err)
{
    const size_t n = (size_t)f->nl;
    const abut_status rc = make_room(lag, n, err);
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
