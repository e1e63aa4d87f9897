/* Candidates: step bounds by additive CCD in rounds (geom/ccd/ccd_inline.h) and of half-spaces; contacts (contact/pairs.h),
 * classified, sorted, merged; their slots at nodes. */
#include "energy/barrier_inline.h"
#include "energy/friction_inline.h"
#include "geom/ccd/ccd_inline.h"
#include "geom/dist_inline.h"
#include "gpu/kernel.h"
#include "math/elementary_inline.h"

/* ---- one pair: the tests of contact/candidates.h and contact/pairs.h ---- */

/** Vertices of a pair of primitives, -1 unused. */
ABUT_FN void abut_near_vertices(abut_stencil s, const int32_t *edge, const int32_t *tri, int32_t i, int32_t j, int32_t v[4])
{
    const int32_t *b = s == ABUT_PT ? tri + 3 * (size_t)j : edge + 2 * (size_t)j;
    v[0] = s == ABUT_EE ? edge[2 * (size_t)i] : i;
    v[1] = s == ABUT_EE ? edge[2 * (size_t)i + 1] : s == ABUT_PP ? j : b[0];
    v[2] = s == ABUT_PP ? -1 : s == ABUT_EE ? b[0] : b[1];
    v[3] = s == ABUT_EE ? b[1] : s == ABUT_PT ? b[2] : -1;
}

/** Thickness of a stencil: the mean of its two primitives'. */
ABUT_FN double abut_near_xi(abut_stencil s, const double *xi, const int32_t *v)
{
    return xi ? 0.5 * (xi[v[0]] + xi[v[abut_stencil_second(s)]]) : 0;
}

/** Points of a stencil; unused points are not written. */
ABUT_FN void abut_near_points(const double *y, const int32_t *v, int n, double x[12])
{
    for (int k = 0; k < n; k++)
        for (int c = 0; c < 3; c++) x[3 * k + c] = y[3 * (size_t)v[k] + (size_t)c];
}

/* Classes of contacts: plain stencils of each kind, then mollified edge pairs. */
enum { ABUT_TOUCH_MOLLIFIED = 4, ABUT_TOUCH_CLASSES = 5 };

/* A contact before merging. */
typedef struct abut_touch {
    int32_t v[4];
    int touch_class;
    double dist2, eps_x;
} abut_touch;

ABUT_FN void touch_swap_if_less(int32_t *a, int32_t *b)
{
    if (*b >= *a) return;
    const int32_t t = *a;
    *a = *b;
    *b = t;
}

/* The active feature f of points x, vertices v, in its one canonical order, so that equal stencils are equal to the bit wherever
 * they come from. */
ABUT_FN void touch_reduce(const abut_feature *f, const int32_t *v, const double *x, double d2, abut_touch *c)
{
    const int k = abut_stencil_size(f->kind);
    for (int i = 0; i < 4; i++) c->v[i] = i < k ? v[f->idx[i]] : -1;
    if (f->kind == ABUT_PP) touch_swap_if_less(&c->v[0], &c->v[1]);
    c->touch_class = (int)f->kind;
    c->dist2 = d2;
    c->eps_x = 0;
    if (f->kind != ABUT_PE || c->v[1] < c->v[2]) return;
    double y[9];
    touch_swap_if_less(&c->v[1], &c->v[2]);
    for (int i = 0; i < 9; i++) y[i] = x[3 * f->idx[i < 3 ? 0 : i < 6 ? 2 : 1] + i % 3];
    c->dist2 = abut_dist2_all_fn(ABUT_PE, y, NULL, NULL, NULL);
}

/** A candidate of kind s, vertices v at points x: 1: a contact, in c; 0: none; -1: the primitives are no further apart than their
 * thickness.  eps_x: mollifier threshold of an edge pair.  The kind is a literal. */
ABUT_FN_LITERAL int abut_touch_of(abut_stencil s, const int32_t *v, const double *x, double xi, double dhat, double eps_x,
                                  abut_touch *c)
{
    double d2;
    const abut_feature f = abut_nearest_fn(s, x, &d2);
    const double D = abut_beyond2(d2, xi);
    if (!(D < (2 * xi + dhat) * dhat)) return 0;
    if (!(D > 0)) return -1;
    if (s == ABUT_EE && abut_cross2_fn(x, NULL, NULL) < eps_x) {
        for (int k = 0; k < 4; k++) c->v[k] = v[k];
        c->touch_class = ABUT_TOUCH_MOLLIFIED;
        c->dist2 = d2;
        c->eps_x = eps_x;
    } else {
        touch_reduce(&f, v, x, d2, c);
    }
    return abut_beyond2(c->dist2, xi) > 0 ? 1 : -1;
}

/** Height of a point above a half-space, m. */
ABUT_FN double abut_near_height(const double *p, const double *o, const double *n)
{
    return n[0] * (p[0] - o[0]) + n[1] * (p[1] - o[1]) + n[2] * (p[2] - o[2]);
}

/** The fraction of the path from p to q that leaves `slack` of a point's height over its thickness; 0 when it is below. */
ABUT_FN double abut_near_plane_bound(const double *p, const double *q, double xi, const double *o, const double *n, double slack)
{
    double d = 0, move = 0;
    for (int k = 0; k < 3; k++) d += n[k] * (p[k] - o[k]), move += n[k] * (q[k] - p[k]);
    d -= xi;
    if (d > 0 && move < 0) return (1 - slack) * (1 - 1e-12) * d / -move;
    return d > 0 ? 1 : 0;
}

/* ---- candidates ---- */

typedef struct abut_near_pair {
    abut_stencil kind;
    int32_t i, j, v[4];
    double xi;
} abut_near_pair;

ABUT_FN abut_near_pair abut_near_at(const abut_near_view *n, size_t i)
{
    abut_near_pair p;
    uint32_t l = 0;
    while (l + 1 < ABUT_NEAR_LISTS && i >= n->end[l]) l++;
    const int32_t *ij = n->ij[l] + 2 * (i - (l ? n->end[l - 1] : 0));
    p.kind = l == 0 ? ABUT_PT : l == 1 ? ABUT_EE : l == 2 ? ABUT_PE : ABUT_PP;     /* as abut_candidates_kind */
    p.i = ij[0];
    p.j = ij[1];
    abut_near_vertices(p.kind, n->edge, n->tri, p.i, p.j, p.v);
    p.xi = abut_near_xi(p.kind, n->xi, p.v);
    return p;
}

/* ---- step bounds ---- */

/* Points of a pair at both ends of its motion. */
ABUT_FN_LITERAL void pair_points(const double *y0, const double *y1, const int32_t *v, int n, double x0[12], double x1[12])
{
    abut_near_points(y0, v, n, x0);
    abut_near_points(y1, v, n, x1);
}

/* 0 when the pair is BAD; the kind is a literal. */
ABUT_FN_LITERAL int start_of_kind(abut_stencil s, const abut_ccd_args *a, const abut_near_pair *p, abut_ccd_motion *w)
{
    double x0[12], x1[12];
    pair_points(a->y0, a->y1, p->v, abut_stencil_size(s), x0, x1);
    return abut_ccd_start(s, x0, x1, p->xi, a->slack, w);
}

ABUT_FN int pair_start(const abut_ccd_args *a, const abut_near_pair *p, abut_ccd_motion *w)
{
    return ABUT_OF_KIND(p->kind, start_of_kind, a, p, w);
}

ABUT_KERNEL(ccd_first, abut_ccd_args)
{
    const abut_near_pair p = abut_near_at(&a->near, i);
    abut_ccd_motion w;
    const int good = pair_start(a, &p, &w);
    a->open[i] = good && w.t < a->t_max;
    a->toi[i] = good ? (double)INFINITY : -1;
}

ABUT_FN void motion_put(const abut_motions_view *to, size_t at, uint32_t pair, const abut_ccd_motion *w)
{
    to->pair[at] = pair;
    to->t[at] = w->t;
    to->target[at] = w->target;
    to->enough[at] = w->enough;
}

ABUT_FN abut_ccd_motion motion_get(const abut_motions_view *from, size_t at)
{
    abut_ccd_motion w;
    w.t = from->t[at];
    w.target = from->target[at];
    w.enough = from->enough[at];
    return w;
}

ABUT_KERNEL(ccd_enter, abut_ccd_args)
{
    if (!a->open[i]) return;
    const abut_near_pair p = abut_near_at(&a->near, i);
    abut_ccd_motion w;
    (void)pair_start(a, &p, &w);
    motion_put(&a->to, a->first[i], (uint32_t)i, &w);
}

ABUT_FN_LITERAL int steps_of_kind(abut_stencil s, const abut_steps_args *a, const abut_near_pair *p, double t_max,
                                  abut_ccd_motion *w)
{
    double x0[12], x1[12];
    pair_points(a->y0, a->y1, p->v, abut_stencil_size(s), x0, x1);
    return abut_ccd_steps(s, x0, x1, p->xi, t_max, a->steps, w);
}

ABUT_KERNEL(ccd_steps, abut_steps_args)
{
    const uint32_t pair = a->from.pair[i];
    const abut_near_pair p = abut_near_at(&a->near, pair);
    abut_ccd_motion w = motion_get(&a->from, i);
    /* a pair that ends just at the best time is still wanted: it may be the first one */
    const double best = *a->best, above = best > 0 && best < a->t_max ? abut_from_bits(abut_bits(best) + 1) : a->t_max;
    const double t_max = above < a->t_max ? above : a->t_max;
    const int open = ABUT_OF_KIND(p.kind, steps_of_kind, a, &p, t_max, &w);
    a->open[i] = open && !a->last;
    a->from.t[i] = w.t;
    if (!a->open[i] && w.t < t_max) a->toi[pair] = w.t > 0 ? w.t : -1;
}

ABUT_KERNEL(ccd_keep, abut_steps_args)
{
    if (!a->open[i]) return;
    const abut_ccd_motion w = motion_get(&a->from, i);
    motion_put(&a->to, a->first[i], a->from.pair[i], &w);
}

ABUT_KERNEL(plane_bound, abut_plane_bound_args)
{
    const size_t v = i / a->nh, h = i % a->nh;
    const double xi = a->xi ? 0.5 * a->xi[v] : 0;
    a->bound[i] = a->fixed && a->fixed[v] ? (double)INFINITY
                  : abut_near_plane_bound(a->y0 + 3 * v, a->y1 + 3 * v, xi, a->point + 3 * h, a->normal + 3 * h, a->slack);
}

/* ---- the contact list ---- */

ABUT_FN_LITERAL int touch_of_kind(abut_stencil s, const abut_contact_args *a, const abut_near_pair *p, abut_touch *c)
{
    double x[12];
    const double eps_x = s == ABUT_EE ? abut_mollify_eps_fn(a->rest2[p->i], a->rest2[p->j]) : 0;
    abut_near_points(a->y, p->v, abut_stencil_size(s), x);
    const double dhat = abut_pair_dhat(&a->scale, p->v[0], p->v[abut_stencil_second(s)]);
    return abut_touch_of(s, p->v, x, p->xi, dhat, eps_x, c);
}

ABUT_FN int touch_at(const abut_contact_args *a, const abut_near_pair *p, abut_touch *c)
{
    return ABUT_OF_KIND(p->kind, touch_of_kind, a, p, c);
}

ABUT_KERNEL(contact_classify, abut_contact_args)
{
    abut_touch c;
    const abut_near_pair p = abut_near_at(&a->near, i);
    const int hit = touch_at(a, &p, &c);
    a->hit[i] = hit > 0;
    a->gap[i] = hit > 0 ? abut_beyond(c.dist2, p.xi) : hit < 0 ? -1 : (double)INFINITY;
}

ABUT_KERNEL(contact_raw, abut_contact_args)
{
    if (!a->hit[i]) return;
    abut_touch c;
    const abut_near_pair p = abut_near_at(&a->near, i);
    (void)touch_at(a, &p, &c);
    const size_t to = a->first[i];
    for (int k = 0; k < 4; k++) a->raw.vert[4 * to + k] = c.v[k];
    a->raw.class_[to] = (uint32_t)c.touch_class;
    a->raw.dist2[to] = c.dist2;
    a->raw.eps_x[to] = c.eps_x;
    a->key[to] = (uint64_t)(c.v[2] + 1) << a->bits | (uint64_t)(c.v[3] + 1);
    a->order[to] = (uint32_t)to;
}

ABUT_KERNEL(contact_key, abut_merge_args)
{
    const size_t r = a->order[i];
    const int32_t *v = a->raw.vert + 4 * r;
    a->key[i] = ((uint64_t)a->raw.class_[r] << a->bits | (uint64_t)(v[0] + 1)) << a->bits | (uint64_t)(v[1] + 1);
}

ABUT_KERNEL(contact_head, abut_merge_args)
{
    const size_t r = a->order[i], before = i ? a->order[i - 1] : r;
    int same = i > 0 && a->raw.class_[r] != ABUT_TOUCH_MOLLIFIED && a->raw.class_[r] == a->raw.class_[before];
    for (int k = 0; k < 4; k++) same &= a->raw.vert[4 * r + k] == a->raw.vert[4 * before + k];
    a->head[i] = !same;
}

ABUT_KERNEL(contact_start, abut_merge_args)
{
    if (a->head[i]) a->start[a->first[i]] = (uint32_t)i;
}

ABUT_KERNEL(contact_write, abut_merge_args)
{
    const uint32_t n = a->first[a->m], k = (uint32_t)i;
    if (k >= n) return;
    const uint32_t at = a->start[k], end = k + 1 < n ? a->start[k + 1] : a->m;
    const size_t r = a->order[at];
    const uint32_t c = a->raw.class_[r];
    a->kind[k] = (uint8_t)(c == ABUT_TOUCH_MOLLIFIED ? ABUT_EE : c);
    for (int d = 0; d < 4; d++) a->vert[4 * i + d] = a->raw.vert[4 * r + d];
    const int32_t *v = a->raw.vert + 4 * r, *w = v + abut_stencil_second((abut_stencil)a->kind[k]);
    a->mult[k] = (end - at) * abut_pair_weight(&a->scale, *v, *w, abut_near_xi((abut_stencil)a->kind[k], a->xi, v));
    a->dist2[k] = a->raw.dist2[r];
    a->eps_x[k] = a->raw.eps_x[r];
    if (c == ABUT_TOUCH_MOLLIFIED && (k == 0 || a->raw.class_[a->order[a->start[k - 1]]] != c)) *a->n_plain = k;
}

ABUT_KERNEL(plane_classify, abut_plane_args)
{
    const size_t v = i / a->nh, h = i % a->nh;
    const double xi = a->xi ? 0.5 * a->xi[v] : 0, d = abut_near_height(a->y + 3 * v, a->point + 3 * h, a->normal + 3 * h);
    const int near = !(a->fixed && a->fixed[v]) && d - xi < abut_pair_dhat(&a->scale, (int32_t)v, -1);
    a->hit[i] = near;
    a->gap[i] = !near ? (double)INFINITY : d > xi ? d - xi : -1;
}

ABUT_KERNEL(plane_write, abut_plane_args)
{
    if (!a->hit[i]) return;
    const size_t v = i / a->nh, h = i % a->nh, to = a->first[i];
    a->plane_vert[to] = (int32_t)v;
    a->plane[to] = (int32_t)h;
    a->plane_dist[to] = abut_near_height(a->y + 3 * v, a->point + 3 * h, a->normal + 3 * h);
    a->plane_mult[to] = abut_pair_weight(&a->scale, (int32_t)v, -1, a->xi ? 0.5 * a->xi[v] : 0);
}

/* ---- slots at nodes ---- */

ABUT_KERNEL(slot_key, abut_slots_args)
{
    const int32_t node = a->node[i];
    a->key[i] = node >= 0 && !(a->drop && a->drop[node]) ? (uint64_t)node : a->nv;
    a->order[i] = (uint32_t)i;
}

ABUT_KERNEL(slot_first, abut_slots_args)
{
    a->first[i] = (uint32_t)abut_keys_below(a->key, a->n, i);
}

/* ---- energies ---- */

/* Energy, gradient and Hessian of each contact: barrier (energy/barrier.h) and lagged friction (energy/friction.h). */

ABUT_FN abut_barrier_law plane_law(const abut_barrier_args *a, size_t j)
{
    const int32_t v = a->plane_vert[j];
    return abut_barrier_law_of(abut_pair_dhat(&a->scale, v, -1), a->continuity, a->xi ? 0.5 * a->xi[v] : 0);
}

/* Half-space contact j: b and its derivatives. */
ABUT_FN double plane_barrier(const abut_barrier_args *a, size_t j, double *db, double *ddb)
{
    const abut_barrier_law law = plane_law(a, j);
    const double d = a->plane_dist[j], D = d > law.xi ? (d - law.xi) * (d + law.xi) : 0;
    return abut_barrier_fn(law, D, db, ddb);
}

ABUT_FN abut_barrier_law law_at(const abut_barrier_args *a, size_t i)
{
    const abut_stencil kind = (abut_stencil)a->kind[i];
    const int32_t *v = a->vert + 4 * i;
    return abut_barrier_law_of(abut_pair_dhat(&a->scale, v[0], v[abut_stencil_second(kind)]), a->continuity,
                               abut_near_xi(kind, a->xi, v));
}

ABUT_KERNEL(barrier_energy, abut_barrier_args)
{
    double x[12], db, ddb;
    if (i >= a->n) {
        a->out[i] = a->kappa * (a->plane_mult[i - a->n] * plane_barrier(a, i - a->n, &db, &ddb));
        return;
    }
    const abut_barrier_law law = law_at(a, i);
    double b = abut_barrier_fn(law, abut_beyond2(a->dist2[i], law.xi), &db, &ddb);
    if (a->eps_x[i] > 0 && b > 0 && b <= DBL_MAX) {
        abut_near_points(a->y, a->vert + 4 * i, 4, x);
        b = abut_mollify_fn(abut_cross2_fn(x, NULL, NULL), a->eps_x[i], NULL, NULL) * b;
    }
    a->out[i] = a->kappa * (a->mult[i] * b);
}

ABUT_KERNEL(barrier_push, abut_barrier_args)
{
    double x[12], db, ddb, g[12], *out = a->out + 12 * i;
    if (i >= a->n) {
        const size_t j = i - a->n;
        const double *normal = a->normal + 3 * (size_t)a->plane[j];
        (void)plane_barrier(a, j, &db, &ddb);
        for (int c = 0; c < 3; c++) out[c] = a->kappa * a->plane_mult[j] * db * 2 * a->plane_dist[j] * normal[c];
        return;
    }
    const abut_stencil kind = (abut_stencil)a->kind[i];
    abut_near_points(a->y, a->vert + 4 * i, abut_stencil_size(kind), x);
    abut_pair_barrier_grad_fn(law_at(a, i), kind, x, a->eps_x[i], g);
    for (int k = 0; k < 3 * abut_stencil_size(kind); k++) out[k] = a->kappa * a->mult[i] * g[k];
}

ABUT_KERNEL(barrier_hess, abut_barrier_args)
{
    double x[12], db, ddb, *H = a->out + 90 * i;
    if (i >= a->n) {    /* only the normal direction has curvature: (4 d^2 b'' + 2 b') n n^T */
        const size_t j = i - a->n;
        const double d2 = a->plane_dist[j] * a->plane_dist[j], *normal = a->normal + 3 * (size_t)a->plane[j];
        (void)plane_barrier(a, j, &db, &ddb);
        const double scale = a->kappa * a->plane_mult[j] * (4 * d2 * ddb + 2 * db);
        for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++) H[3 * p + q] = scale * (normal[p] * normal[q]);
        return;
    }
    const abut_stencil kind = (abut_stencil)a->kind[i];
    abut_near_points(a->y, a->vert + 4 * i, abut_stencil_size(kind), x);
    if (a->eps_x[i] > 0) abut_pair_mollified_hess_fn(law_at(a, i), x, a->eps_x[i], a->kappa * a->mult[i], H);
    else abut_pair_barrier_hess_fn(law_at(a, i), kind, x, a->kappa * a->mult[i], H);
}

ABUT_KERNEL(barrier_gn, abut_barrier_args)
{
    const int squared = a->hessian == ABUT_HESSIAN_IPC_GN;
    double x[12], *H = a->out + 90 * i;
    if (i >= a->n) {
        const size_t j = i - a->n;
        const double d = a->plane_dist[j], *normal = a->normal + 3 * (size_t)a->plane[j];
        const abut_barrier_law law = plane_law(a, j);
        const double along = abut_barrier_along_fn(law, d * d, a->least, squared);
        for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++) H[3 * p + q] = a->kappa * a->plane_mult[j] * along * (normal[p] * normal[q]);
        return;
    }
    const abut_stencil kind = (abut_stencil)a->kind[i];
    abut_near_points(a->y, a->vert + 4 * i, abut_stencil_size(kind), x);
    const double scale = a->kappa * a->mult[i];
    if (a->eps_x[i] > 0) abut_pair_mollified_gn_fn(law_at(a, i), a->least, squared, x, a->eps_x[i], scale, H);
    else abut_pair_gn_fn(law_at(a, i), a->least, squared, kind, x, scale, H);
}

ABUT_KERNEL(barrier_nodes, abut_barrier_args)
{
    for (size_t c = 0; c < 4; c++) {
        const int32_t v = i < a->n ? a->vert[4 * i + c] : c ? -1 : a->plane_vert[i - a->n];
        a->to[4 * i + c] = v < 0 ? -1 : a->node[v];
    }
}

/* ---- friction ---- */

/* u: sliding displacement of a contact at x; returns mu lambda h^2. */
ABUT_FN double slide_at(const abut_friction_args *a, size_t i, const double *x, const double *xn, double u[2])
{
    abut_friction_slide(a->node + 4 * i, a->weight + 4 * i, a->basis + 6 * i, x, xn, u);
    return a->mu[i] * a->force[i] * a->h * a->h;
}

ABUT_KERNEL(friction_energy, abut_friction_args)
{
    double u[2], c, s;
    const double f = slide_at(a, i, a->x, a->xn, u);
    a->out[i] = f * abut_friction_f0_fn(a->smoothing, abut_friction_polar(u, &c, &s), a->w, NULL, NULL);
}

ABUT_KERNEL(friction_push, abut_friction_args)
{
    double u[2], c, s, f1_over_y;
    const double f = slide_at(a, i, a->x, a->xn, u), *P = a->basis + 6 * i;
    (void)abut_friction_f0_fn(a->smoothing, abut_friction_polar(u, &c, &s), a->w, &f1_over_y, NULL);
    for (size_t k = 0; k < 4; k++)
        for (size_t d = 0; d < 3 && a->node[4 * i + k] >= 0; d++)
            a->out[12 * i + 3 * k + d] = a->weight[4 * i + k] * (f * f1_over_y * (P[d] * u[0] + P[3 + d] * u[1]));
}

ABUT_KERNEL(friction_hess, abut_friction_args)
{
    double u[2], K[9], *H = a->out + 90 * i;
    const double f = slide_at(a, i, a->x, a->xn, u), *weight = a->weight + 4 * i;
    const int32_t *node = a->node + 4 * i;
    abut_friction_stiffness(a->basis + 6 * i, u, a->smoothing, a->w, a->above && a->above[i], K);
    for (int p = 0; p < 4; p++)
        for (int q = p; q < 4; q++, H += 9) {
            if (node[p] < 0 || node[q] < 0) continue;
            const double ww = f * (weight[p] * weight[q]);
            for (int k = 0; k < 9; k++) H[k] = ww * K[k];
        }
}

ABUT_KERNEL(friction_kink, abut_friction_args)
{
    double u[2], v[2];
    (void)slide_at(a, i, a->x, a->xn, u);
    (void)slide_at(a, i, a->p, NULL, v);
    a->above[i] = (uint8_t)abut_friction_kink(a->smoothing, a->w, u, v);
}
