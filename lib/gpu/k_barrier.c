/* Energy, gradient and Hessian of each contact: barrier (energy/barrier.h) and lagged friction (energy/friction.h). */
#include "contact/near_inline.h"
#include "energy/barrier_inline.h"
#include "energy/friction_inline.h"
#include "gpu/kernel.h"

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
