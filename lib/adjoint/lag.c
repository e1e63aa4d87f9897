/* Derivative of frozen friction (energy/friction.h) by the positions and parameters from which it was frozen.
 *
 * A contact with points x_i, closest-point weights w_i, normal n, distance d, normal force lambda, all at the positions xL at
 * which it was frozen, has in the objective the term D = mu lambda h^2 f0(|t|), t = (I - n n^T) sum w_i u_i, u = x' - c.  With
 * an adjoint p, y = |t|, phi = f0'/y, m = mu lambda h^2 and q = sum w_i p_i
 *
 *     S = p.dD/dx' = m phi t.q,     bar of lambda = S/lambda,     of mu = S/mu
 *     bt = m ((phi'/y) (t.q) t + phi q),   bq = m phi t,   br = (I - n n^T) bt,   bn = -((n.r) bt + (n.bt) r),   r = sum w_i u_i
 *     bar of w_i = br.u_i + bq.p_i
 *
 * The basis of the plane is a gauge and needs no derivative.  At xL, with beta_k the free closest-point coordinates, w_i,k their
 * constant weights, s = sum w_i x_i of length d, a_k = sum w_i,k x_i, G_kl = a_k.a_l:
 *
 *     (c_k)_i = d beta_k/dx_i = -sum_l (G^-1)_kl (w_i,l s + w_i a_l),     Q = (I - n n^T) bn/d
 *     z_k = sum_i (bar of w_i) w_i,k
 *     bar of xL_j += (bar of lambda) dlambda/dD 2 w_j s + w_j Q + sum_k (z_k + a_k.Q) (c_k)_j
 *
 * lambda is -kappa times 2 d b'(D) over the force scale, so dlambda/dD = lambda (b''/b' + 1/(2 d^2)), d^2 beyond the thickness
 * being D.  Of contact by area lambda has a factor F of the positions, too: bar of xL_j += (S/F) dF/dx_j at its corners.
 * The normal and the weights at a half-space are constants.  Derived for this library; checked against differences. */
#include "adjoint/adjoint_parts.h"

#include "base/words.h"
#include "energy/barrier_inline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- freezing ---- */

/* lambda of a contact, and its derivatives over lambda, from kind, x, w, d */
static void force_of(abut_frozen *f, abut_barrier_law law, double dhat, double scale)
{
    const double D = abut_beyond2(f->d * f->d, law.xi);
    double db, ddb;
    (void)abut_barrier(law, D, &db, &ddb);
    f->lambda = -scale * db * 2 * f->d;
    f->per_D = db < 0 ? ddb / db + 1 / (2 * f->d * f->d) : 0;
    /* no law has its derivative by Dhat: a central difference, over the same */
    double more, less;
    const double step = ABUT_DHAT_STEP * law.dhat2;
    abut_barrier_law wide = law, narrow = law;
    wide.dhat2 += step, narrow.dhat2 -= step;
    (void)abut_barrier(wide, D, &more, NULL);
    (void)abut_barrier(narrow, D, &less, NULL);
    f->per_dhat = db < 0 ? (more - less) / (2 * step) / db * 2 * (law.xi + dhat) : 0;
}

static void take_pair(const abut_collmesh *cm, const abut_pairs *pairs, const double *y, size_t i, double scale, abut_frozen *f)
{
    const abut_model *m = cm->model;
    f->kind = abut_pairs_get(pairs, i, y, f->x);
    memcpy(f->vert, pairs->vert[i], sizeof f->vert);
    f->d = sqrt(abut_dist2(f->kind, f->x, f->w));
    double s[3] = { 0, 0, 0 };
    for (int j = 0; j < abut_stencil_size(f->kind); j++)
        for (int d = 0; d < 3; d++) s[d] += f->w[j] * f->x[3 * j + d];
    for (int d = 0; d < 3; d++) f->n[d] = s[d] / f->d;
    const double dhat = abut_pairs_dhat(cm, pairs, i);
    force_of(f, abut_barrier_law_of_contact(cm, pairs, i), dhat, scale * pairs->mult[i]);
    f->per_dhat *= dhat / m->dhat[0];
    if (!cm->area) return;
    const double F = abut_area_factor_of(cm, pairs, i, y, f->corner, f->per_F, NULL, &f->bends);
    for (int k = 0; k < (f->bends ? 3 * ABUT_AREA_CORNERS : 0); k++) f->per_F[k] /= F;
}

static void take_plane(const abut_collmesh *cm, const abut_pairs *pairs, const double *y, size_t i, double scale, abut_frozen *f)
{
    static const double alone[4] = { 1, 0, 0, 0 };
    const abut_model *m = cm->model;
    f->plane = 1;
    f->vert[0] = pairs->plane_vert[i];
    f->vert[1] = f->vert[2] = f->vert[3] = -1;
    memcpy(f->w, alone, sizeof alone);
    memcpy(f->n, m->hs_normal + 3 * (size_t)pairs->plane[i], sizeof f->n);
    f->d = pairs->plane_dist[i];
    const double dhat = abut_pairs_plane_dhat(cm, pairs, i);
    force_of(f, abut_model_barrier(m, dhat, abut_pairs_plane_xi(cm, pairs, i)), dhat, scale * pairs->plane_mult[i]);
    f->per_dhat *= dhat / m->dhat[0];
    const int32_t patch = cm->area ? pairs->plane_patch[i] : -1;
    if (patch < 0) return;
    const double F = abut_area_plane_factor(cm, f->vert[0], patch, f->n, y, f->per_F, NULL);
    f->bends = 1;
    for (int k = 0; k < ABUT_AREA_CORNERS; k++) f->corner[k] = k == 0 ? f->vert[0] : k < 3 ? cm->area->normal[patch][k - 1] : -1;
    for (int k = 0; k < 9; k++) f->per_F[k] /= F;
}

/* an entry of contact/mu and its mirror image */
static void put_classes(const abut_model *m, size_t at, abut_frozen *f)
{
    const size_t ng = (size_t)m->ng;
    f->classes[0] = at;
    f->classes[1] = at % ng * ng + at / ng;
    f->mu = m->mu[at];
}

abut_status abut_frozen_take(abut_frozen_list *list, const abut_collmesh *cm, const abut_pairs *pairs, const double *y,
                             double kappa, double h, abut_err *err)
{
    const size_t most = pairs->n_plain + pairs->n_plane;
    list->n = 0;
    if (most > list->cap) {
        abut_frozen_clear(list);
        list->of = malloc(2 * most * sizeof *list->of);
        if (!list->of) return abut_fail(err, ABUT_E_NOMEM, "friction: %zu frozen contacts", most);
        list->cap = 2 * most;
    }
    for (size_t i = 0; i < most; i++) {
        const int plane = i >= pairs->n_plain;
        const size_t k = plane ? i - pairs->n_plain : i;
        const int32_t *v = plane ? NULL : pairs->vert[k];
        const size_t at = plane ? abut_collmesh_plane_classes(cm, pairs->plane_vert[k], pairs->plane[k])
                                : abut_collmesh_classes(cm, v[0], v[abut_stencil_second((abut_stencil)pairs->kind[k])]);
        abut_frozen f = { .plane = 0 };
        put_classes(cm->model, at, &f);
        if (f.mu == 0 || !(plane || pairs->mult[k] > 0)) continue;
        if (plane) take_plane(cm, pairs, y, k, kappa / (h * h), &f);
        else take_pair(cm, pairs, y, k, kappa / (h * h), &f);
        list->of[list->n++] = f;
    }
    return ABUT_OK;
}

void abut_frozen_clear(abut_frozen_list *list)
{
    free(list->of);
    *list = (abut_frozen_list){ 0 };
}

static int close_to(double a, double b) { return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b)) + 1e-300; }

abut_status abut_frozen_agree(const abut_frozen_list *list, const abut_collmesh *cm, const abut_lag *lag, abut_err *err)
{
    if (list->n != lag->n)
        return abut_fail(err, ABUT_E_FORMAT, "%zu friction contact%s, expected the %zu that touch where they were frozen", lag->n,
                         abut_s(lag->n), list->n);
    for (size_t i = 0; i < list->n; i++) {
        const abut_frozen *f = list->of + i;
        int same = close_to(f->mu, lag->mu[i]);
        for (int c = 0; c < 4; c++)
            same &= abut_collmesh_slot(cm, f->vert[c]) == lag->node[i][c] && fabs(f->w[c] - lag->weight[i][c]) <= 1e-9;
        if (!same) return abut_fail(err, ABUT_E_FORMAT, "friction contact %zu is not the one that touches there", i);
        if (!close_to(f->lambda, lag->force[i]))
            return abut_fail(err, ABUT_E_FORMAT, "friction contact %zu has the normal force %.9g N, expected %.9g N", i,
                             lag->force[i], f->lambda);
    }
    return ABUT_OK;
}

/* ---- backwards ---- */

/* Bars of one contact: of its normal and weights, S. */
typedef struct contact_bars {
    double S, bt[3], bn[3], bw[4];
    abut_vec3 u[4], p[4];
} contact_bars;

static abut_vec3 sum_of(const double w[4], const abut_vec3 v[4])
{
    abut_vec3 s = { 0, 0, 0 };
    for (int i = 0; i < 4; i++) s = abut_v3_axpy(s, w[i], v[i]);
    return s;
}

static abut_vec3 flat(abut_vec3 v, abut_vec3 n) { return abut_v3_axpy(v, -abut_v3_dot(n, v), n); }

/* the law at the slide of a contact; *per_W: dS/dW over m t.q */
static void bars_of(const abut_frozen *f, const abut_stiction *law, contact_bars *b, double *per_W)
{
    const double W = law->eps_v * law->h, m = f->mu * f->lambda * law->h * law->h;
    const abut_vec3 n = abut_v3_get(f->n), r = sum_of(f->w, b->u), t = flat(r, n), q = sum_of(f->w, b->p);
    const double y = abut_v3_norm(t), tq = abut_v3_dot(t, q);
    double phi, f2;
    (void)abut_friction_f0(law->smoothing, y, W, &phi, &f2);
    const double bend = y > 0 ? (f2 - phi) / (y * y) : 0;   /* phi'/y */
    const abut_vec3 bt = abut_v3_axpy(abut_v3_scale(m * bend * tq, t), m * phi, q), br = flat(bt, n);
    const abut_vec3 bn = abut_v3_scale(-1, abut_v3_axpy(abut_v3_scale(abut_v3_dot(n, r), bt), abut_v3_dot(n, bt), r));
    b->S = m * phi * tq;
    *per_W = y < W ? -m * tq * f2 / W : 0;
    abut_v3_put(b->bn, bn);
    for (int i = 0; i < 4; i++) b->bw[i] = abut_v3_dot(br, b->u[i]) + m * phi * abut_v3_dot(t, b->p[i]);
}

/* (G^-1) of the free closest-point coordinates, k of them */
static void invert(int k, const abut_vec3 a[2], double G[2][2])
{
    const double aa = abut_v3_dot(a[0], a[0]), ab = abut_v3_dot(a[0], a[1]), bb = abut_v3_dot(a[1], a[1]);
    const double det = k == 2 ? aa * bb - ab * ab : aa;
    G[0][0] = k == 2 ? bb / det : 1 / det;
    G[0][1] = G[1][0] = k == 2 ? -ab / det : 0;
    G[1][1] = k == 2 ? aa / det : 0;
}

/* xb[4] of the points where the contact was frozen */
static void to_points(const abut_frozen *f, const contact_bars *b, abut_vec3 xb[4])
{
    const int size = abut_stencil_size(f->kind), k = f->kind == ABUT_PP ? 0 : f->kind == ABUT_PE ? 1 : 2;
    const abut_vec3 n = abut_v3_get(f->n), s = abut_v3_scale(f->d, n);
    const double by_D = 2 * b->S * f->per_D;
    if (f->plane) {
        xb[0] = abut_v3_scale(by_D, s);
        return;
    }
    const abut_vec3 Q = abut_v3_scale(1 / f->d, flat(abut_v3_get(b->bn), n));
    for (int j = 0; j < size; j++) xb[j] = abut_v3_scale(f->w[j], abut_v3_axpy(Q, by_D, s));
    if (!k) return;
    abut_vec3 a[2] = { { 0, 0, 0 }, { 0, 0, 0 } };
    double dw[2][4] = { { 0 } }, G[2][2], bbeta[2];
    for (int l = 0; l < k; l++) {
        const int plus = abut_beta_plus(f->kind, l), minus = abut_beta_minus(f->kind, l);
        dw[l][plus] = 1, dw[l][minus] = -1;
        a[l] = abut_v3_sub(abut_v3_get(f->x + 3 * plus), abut_v3_get(f->x + 3 * minus));
        bbeta[l] = b->bw[plus] - b->bw[minus] + abut_v3_dot(a[l], Q);
    }
    invert(k, a, G);
    for (int l = 0; l < k; l++) {
        const double g = G[0][l] * bbeta[0] + (k == 2 ? G[1][l] * bbeta[1] : 0);
        for (int j = 0; j < size; j++) xb[j] = abut_v3_axpy(abut_v3_axpy(xb[j], -g * dw[l][j], s), -g * f->w[j], a[l]);
    }
}

static void motions_of(const abut_frozen *f, const abut_collmesh *cm, const double *u, const double *p, contact_bars *b)
{
    double q[3];
    for (int i = 0; i < 4; i++) {
        b->u[i] = b->p[i] = (abut_vec3){ 0, 0, 0 };
        if (f->vert[i] < 0) continue;
        abut_collmesh_motion(cm, u, f->vert[i], q);
        b->u[i] = abut_v3_get(q);
        abut_collmesh_motion(cm, p, f->vert[i], q);
        b->p[i] = abut_v3_get(q);
    }
}

abut_status abut_frozen_back(const abut_frozen_list *list, const abut_collmesh *cm, const abut_stiction *law, double eps_v,
                             const double *u, const double *p, abut_frozen_bars *bars, abut_arena *scratch, abut_err *err)
{
    const abut_mark mark = abut_arena_mark(scratch);
    double *to = bars->x ? abut_collmesh_sum_begin(cm, bars->x, scratch) : NULL;
    if (bars->x && !to) return abut_fail(err, ABUT_E_NOMEM, "friction: %d vertices", cm->nc);
    for (size_t i = 0; i < list->n; i++) {
        const abut_frozen *f = list->of + i;
        contact_bars b;
        abut_vec3 xb[4];
        double per_W;
        motions_of(f, cm, u, p, &b);
        bars_of(f, law, &b, &per_W);
        bars->acting += f->lambda > 0;
        bars->mu[f->classes[0]] += b.S / f->mu;
        if (f->classes[1] != f->classes[0]) bars->mu[f->classes[1]] += b.S / f->mu;
        bars->eps_v += per_W * law->eps_v * law->h / eps_v;
        if (!bars->x) continue;
        bars->kappa += b.S;
        bars->dhat += b.S * f->per_dhat;
        to_points(f, &b, xb);
        for (int j = 0; j < 4 && f->vert[j] >= 0; j++) {
            double *at = to + 3 * (size_t)abut_collmesh_slot(cm, f->vert[j]);
            at[0] += xb[j].x, at[1] += xb[j].y, at[2] += xb[j].z;
        }
        for (int j = 0; j < 3 * ABUT_AREA_CORNERS && f->bends; j++)
            if (f->corner[j / 3] >= 0) to[3 * abut_collmesh_slot(cm, f->corner[j / 3]) + j % 3] += b.S * f->per_F[j];
    }
    if (to) abut_collmesh_sum_end(cm, to, bars->x);
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}
