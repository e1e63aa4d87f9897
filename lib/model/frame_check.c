#include "model/frame_check.h"

#include "base/words.h"
#include "model/array_check.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

/* Positions and velocities of former states come together, and with all later ones. */
static abut_status check_past(const abut_frame *f, abut_err *err)
{
    const double *const x[] = { f->x1, f->x2, f->x3, f->x4, f->x5 }, *const v[] = { f->v1, f->v2, f->v3, f->v4, f->v5 };
    for (int k = 0; k < ABUT_PAST; k++) {
        char lacks[24], has[24];
        const int later = k > 0 && x[k] && !x[k - 1];
        if (!x[k] == !v[k] && !later) {
            snprintf(has, sizeof has, "node/x%d", k + 1);
            abut_status rc = abut_check_near(has, x[k], f->nv, err);
            has[5] = 'v';
            if (!rc) rc = abut_check_near(has, v[k], f->nv, err);
            if (rc) return rc;
            continue;
        }
        snprintf(lacks, sizeof lacks, "node/%c%d", later || v[k] ? 'x' : 'v', later ? k : k + 1);
        snprintf(has, sizeof has, "node/%c%d", x[k] ? 'x' : 'v', k + 1);
        return abut_fail(err, ABUT_E_FORMAT, "array '%s' is missing: the frame has '%s'", lacks, has);
    }
    return ABUT_OK;
}

static abut_status check_vectors(const abut_frame *f, abut_err *err)
{
    abut_status rc;
    if ((rc = abut_check_near("node/x", f->x, f->nv, err)) || (rc = abut_check_near("node/v", f->v, f->nv, err)) ||
        (rc = abut_check_near("node/a", f->a, f->nv, err)) || (rc = check_past(f, err)) ||
        (rc = abut_check_near("step/waypoints", f->waypoints, f->nw, err)) ||
        (rc = abut_check_near("node/contact-impulse", f->impulse, f->nv, err)) ||
        (rc = abut_check_near("step/x0", f->x0, f->nv, err)))
        return rc;
    return abut_check_near("step/multiplier", f->multiplier, f->nv, err);
}

/* Checks counts and stiffnesses; the penalty of a Lagrangian grows from 1e6 to about 1e8. */
static abut_status check_numbers(const abut_frame *f, abut_err *err)
{
    abut_status rc;
    enum { MOST = 1 << 30 };
    if ((f->pass && (rc = abut_check_indices("step/pass", f->pass, 1, 1, 0, MOST, err))) ||
        (f->iterations && (rc = abut_check_indices("step/iterations", f->iterations, 1, 1, 0, MOST, err))) ||
        (f->sticking && (rc = abut_check_indices("contact/sticking", f->sticking, 1, 1, 0, INT32_MAX, err))) ||
        (f->sliding && (rc = abut_check_indices("contact/sliding", f->sliding, 1, 1, 0, INT32_MAX, err))) ||
        (f->penalty && (rc = abut_check_domain("step/penalty", f->penalty, 1, 0, 0, 1e12, err))) ||
        (f->strain_kappa && (rc = abut_check_domain("strain/kappa", f->strain_kappa, 1, 0, 0, INFINITY, err))) ||
        (f->strain_kappa0 && (rc = abut_check_domain("step/strain-kappa", f->strain_kappa0, 1, 0, 0, INFINITY, err))) ||
        (f->kappa && (rc = abut_check_domain("contact/kappa", f->kappa, 1, 0, 1, INFINITY, err))))
        return rc;
    return ABUT_OK;
}

/* Frozen contacts name nodes, or collision vertices where those are no nodes. */
static abut_status check_lag(const abut_frame *f, const abut_model *m, abut_err *err)
{
    const int mapped = m->map_first != NULL;
    const int32_t *slot = mapped ? f->lag_vertex : f->lag_node;
    const char *name = mapped ? "lag/vertex" : "lag/node", *other = mapped ? "lag/node" : "lag/vertex";
    if (mapped ? f->lag_node != NULL : f->lag_vertex != NULL)
        return abut_fail(err, ABUT_E_FORMAT, "array '%s': expected '%s', as collision vertices are %s of the MODEL", other, name,
                         mapped ? "sums of nodes" : "nodes");
    if (f->nl && !slot)
        return abut_fail(err, ABUT_E_FORMAT, "array '%s' is missing: 'lag/mu' has %d row%s", name, f->nl, abut_s(f->nl));
    const abut_status rc = abut_check_indices(name, slot, f->nl, 4, -1, mapped ? m->nc : m->nv, err);
    if (rc) return rc;
    for (size_t i = 0; i < (size_t)f->nl; i++)
        if (slot[4 * i] < 0)
            return abut_fail(err, ABUT_E_FORMAT, "array '%s' row %zu: starts with %d, expected a %s", name, i, slot[4 * i],
                             mapped ? "vertex" : "node");
    for (size_t i = 0; i < 4 * (size_t)f->nl; i++)
        if (i % 4 && slot[i] >= 0 && slot[i - 1] < 0)
            return abut_fail(err, ABUT_E_FORMAT, "array '%s' row %zu: %d after -1, expected -1 in the rest of the row", name,
                             i / 4, slot[i]);
    return ABUT_OK;
}

/* Results of friction passes: of all but the last. */
static abut_status check_passes(const abut_frame *f, abut_err *err)
{
    enum { MOST = 1 << 20 };
    if (!f->passes) {
        if (!f->pass_x && !f->pass_kappa && !f->pass_strain_kappa) return ABUT_OK;
        return abut_fail(err, ABUT_E_FORMAT, "array 'pass/count' is missing: the frame has results of friction passes (pass/)");
    }
    abut_status rc = abut_check_indices("pass/count", f->passes, 1, 1, 1, MOST, err);
    if (rc) return rc;
    const int64_t n = f->passes[0] - 1;
    if (f->nix != n * f->nv)
        return abut_fail(err, ABUT_E_FORMAT, "array 'pass/x' has %d row%s, expected %lld: %d %s but the last, %d node%s", f->nix,
                         abut_s(f->nix), (long long)n * f->nv, f->passes[0], abut_plural(f->passes[0], "pass", "passes"), f->nv,
                         abut_s(f->nv));
    if (n > 0 && !f->pass_kappa)
        return abut_fail(err, ABUT_E_FORMAT, "array 'pass/kappa' is missing: 'pass/count' is %d", f->passes[0]);
    if (f->nip != n)
        return abut_fail(err, ABUT_E_FORMAT, "array '%s' has %d row%s, expected %lld: %d %s but the last",
                         f->pass_kappa ? "pass/kappa" : "pass/strain-kappa", f->nip, abut_s(f->nip), (long long)n, f->passes[0],
                         abut_plural(f->passes[0], "pass", "passes"));
    rc = abut_check_near("pass/x", f->pass_x, f->nix, err);
    if (!rc && f->pass_kappa) rc = abut_check_domain("pass/kappa", f->pass_kappa, (size_t)n, 0, 1, INFINITY, err);
    if (!rc && f->pass_strain_kappa)
        rc = abut_check_domain("pass/strain-kappa", f->pass_strain_kappa, (size_t)n, 0, 0, INFINITY, err);
    return rc;
}

/* A table of hard contacts: all of it, or nothing. */
static abut_status check_touch(const abut_frame *f, const abut_model *m, abut_err *err)
{
    const size_t n = (size_t)f->ntc;
    const void *const all[] = { f->touch_first, f->touch_node, f->touch_weight, f->touch_point, f->touch_normal,
                                f->touch_impulse, f->touch_mu, f->touch_state };
    int there = 0;
    for (int i = 0; i < 8; i++) there += all[i] != NULL;
    if (there == 0) return ABUT_OK;
    if (there < 8)
        return abut_fail(err, ABUT_E_FORMAT, "arrays 'touch/': %d of first, node, weight, point, normal, impulse, mu, state are "
                         "there, expected all or none", there);
    abut_status rc = ABUT_OK;
    for (size_t c = 0; c < n && !rc; c++) {
        const int32_t lo = f->touch_first[2 * c], hi = f->touch_first[2 * c + 1];
        if (!(0 <= lo && lo <= hi && hi <= f->ntn))
            rc = abut_fail(err, ABUT_E_FORMAT,
                           "array 'touch/first' row %zu: %d, %d, expected a range of the %d row%s of touch/node", c, lo, hi,
                           f->ntn, abut_s(f->ntn));
    }
    if (!rc) rc = abut_check_indices("touch/node", f->touch_node, f->ntn, 1, 0, m->nv, err);
    if (!rc) rc = abut_check_units("touch/normal", f->touch_normal, n, 1e-6, err);
    if (!rc) rc = abut_check_domain("touch/mu", f->touch_mu, n, 0, 1, INFINITY, err);
    return rc ? rc : abut_check_indices("touch/state", f->touch_state, f->ntc, 1, 0, 3, err);
}

/* Points in tets of order 2 and more. */
static abut_status check_points(const abut_frame *f, const abut_model *m, abut_err *err)
{
    if (!f->point_tet != !f->point_at)
        return abut_fail(err, ABUT_E_FORMAT, "array '%s' is missing: the frame has '%s'",
                         f->point_tet ? "step/jacobian-point" : "step/jacobian-tet",
                         f->point_tet ? "step/jacobian-tet" : "step/jacobian-point");
    const abut_status rc = abut_check_indices("step/jacobian-tet", f->point_tet, f->njp, 1, 0, m->nt, err);
    if (rc) return rc;
    for (size_t k = 0; k < (size_t)f->njp; k++) {
        const double *L = f->point_at + 4 * k, least = fmin(fmin(L[0], L[1]), fmin(L[2], L[3])), sum = L[0] + L[1] + L[2] + L[3];
        if (!m->tet_order || m->tet_order[f->point_tet[k]] < 2)
            return abut_fail(err, ABUT_E_FORMAT, "array 'step/jacobian-tet' row %zu: tet %d, expected one of order 2 or more", k,
                             f->point_tet[k]);
        if (!(least >= 0 && fabs(sum - 1) <= 1e-12))
            return abut_fail(err, ABUT_E_FORMAT, "array 'step/jacobian-point' row %zu: least %g, sum %.17g, expected 0 .., 1",
                             k, least, sum);
    }
    return ABUT_OK;
}

abut_status abut_frame_check(const abut_frame *f, const abut_model *m, abut_err *err)
{
    assert(f);
    abut_status rc;
    const size_t nl = (size_t)f->nl;
    if ((rc = check_vectors(f, err)) || (rc = check_numbers(f, err)) ||
        (rc = check_lag(f, m, err)) || (rc = check_passes(f, err)) || (rc = check_touch(f, m, err)) ||
        (rc = check_points(f, m, err)) ||
        (rc = abut_check_units("rod/frame", f->rod_frame, f->rod_frame ? (size_t)m->nrd : 0, 1e-6, err)) ||
        (rc = abut_check_units("lag/basis", f->lag_basis, 2 * nl, 1e-6, err)) ||
        (rc = abut_check_domain("lag/normal-force", f->lag_force, nl, 0, 1, INFINITY, err)) ||
        (rc = abut_check_domain("lag/mu", f->lag_mu, nl, 0, 1, INFINITY, err)))
        return rc;
    if ((f->gain && (rc = abut_check_domain("midpoint/gain", f->gain, 1, 0, 1, INFINITY, err))) ||
        (f->euler_left && (rc = abut_check_indices("midpoint/damped-steps", f->euler_left, 1, 1, 0, 65, err))) ||
        (f->euler_bout && (rc = abut_check_indices("midpoint/bout", f->euler_bout, 1, 1, 0, 65, err))))
        return rc;
    if (!f->penalty != !f->multiplier)
        return abut_fail(err, ABUT_E_FORMAT, "array '%s' is missing: the frame has '%s'",
                         f->penalty ? "step/multiplier" : "step/penalty", f->penalty ? "step/penalty" : "step/multiplier");
    if (f->nw % f->nv)
        return abut_fail(err, ABUT_E_FORMAT, "step/waypoints has %d row%s, expected a multiple of the %d node%s", f->nw,
                         abut_s(f->nw), f->nv, abut_s(f->nv));
    return ABUT_OK;
}
