/* The factors of contact by area that vary: E = kappa w F b, F of all corners of a contact and its neighbours (contact/area.h).
 * The barrier has the part F b'' of the second derivative, with w F as its multiplicity; the rest is here. */
#include "base/arena.h"
#include "base/order.h"
#include "contact/area.h"
#include "energy/barrier.h"
#include "energy/term.h"
#include "math/spd_inline.h"
#include "sparse/packed_inline.h"

#include <stdlib.h>
#include <string.h>

enum { BENT_NUMBERS = 3 * ABUT_AREA_CORNERS };  /* the first four corners are those of the contact */

static void add_corners(const abut_collmesh *cm, int n, const int32_t *v, double by, const double *g, double *f)
{
    for (int c = 0; c < n; c++)
        for (int d = 0; d < (v[c] < 0 ? 0 : 3); d++) f[3 * abut_collmesh_slot(cm, v[c]) + d] += by * g[3 * c + d];
}

void abut_barrier_factors_gradient(const abut_collmesh *cm, const abut_pairs *pairs, const double *y, double kappa, double *f)
{
    int32_t v[ABUT_AREA_CORNERS];
    double g[BENT_NUMBERS];
    for (size_t k = 0; k < pairs->n_bent; k++) {
        const size_t i = (size_t)pairs->bent[k];
        const abut_barrier_law law = abut_barrier_law_of_contact(cm, pairs, i);
        const double F = abut_area_factor_of(cm, pairs, i, y, v, g, NULL, NULL);
        const double b = abut_barrier(law, abut_beyond2(pairs->dist2[i], law.xi), NULL, NULL);
        add_corners(cm, ABUT_AREA_CORNERS, v, kappa * b * pairs->mult[i] / F, g, f);
    }
    for (size_t i = 0; i < pairs->n_plane; i++) {
        const int32_t patch = pairs->plane_patch[i];
        if (patch < 0) continue;
        double D;
        const abut_barrier_law law = abut_barrier_law_of_plane(cm, pairs, i, &D);
        const double *normal = cm->model->hs_normal + 3 * (size_t)pairs->plane[i];
        const double F = abut_area_plane_factor(cm, pairs->plane_vert[i], patch, normal, y, g, NULL);
        const int32_t corner[3] = { pairs->plane_vert[i], cm->area->normal[patch][0], cm->area->normal[patch][1] };
        add_corners(cm, 3, corner, kappa * abut_barrier(law, D, NULL, NULL) * pairs->plane_mult[i] / F, g, f);
    }
}

/* Returns the multiplicity over F of bent contact k, of a half-space if k >= n_bent; its corners v; g, H of F; b and the
 * gradient gb of b in the corners; 0: there is no factor. */
static double bent_contact(const abut_collmesh *cm, const abut_pairs *p, const double *y, size_t k, int32_t v[ABUT_AREA_CORNERS],
                           double *g, double *H, double *b, double gb[BENT_NUMBERS])
{
    double x[12], D, db;
    for (int c = 0; c < ABUT_AREA_CORNERS; c++) v[c] = -1;
    memset(gb, 0, BENT_NUMBERS * sizeof *gb);
    if (k < p->n_bent) {
        const size_t i = (size_t)p->bent[k];
        const abut_barrier_law law = abut_barrier_law_of_contact(cm, p, i);
        const double F = abut_area_factor_of(cm, p, i, y, v, g, H, NULL);
        const abut_stencil kind = (abut_stencil)p->kind[i];
        for (int c = 0; c < 3 * abut_stencil_size(kind); c++) x[c] = y[3 * (size_t)v[c / 3] + (size_t)(c % 3)];
        const double d2 = abut_dist2_all(kind, x, NULL, gb, NULL);
        *b = abut_barrier(law, abut_beyond2(d2, law.xi), &db, NULL);
        for (int c = 0; c < BENT_NUMBERS; c++) gb[c] *= db;
        return p->mult[i] / F;
    }
    const size_t i = k - p->n_bent;
    const int32_t patch = p->plane_patch[i];
    if (patch < 0) return 0;
    const double *normal = cm->model->hs_normal + 3 * (size_t)p->plane[i];
    double H9[81];
    const abut_barrier_law law = abut_barrier_law_of_plane(cm, p, i, &D);
    const double F = abut_area_plane_factor(cm, p->plane_vert[i], patch, normal, y, g, H9);
    v[0] = p->plane_vert[i], v[1] = cm->area->normal[patch][0], v[2] = cm->area->normal[patch][1];
    for (int r = 0; r < 9; r++) memcpy(H + BENT_NUMBERS * r, H9 + 9 * r, 9 * sizeof *H);
    *b = abut_barrier(law, D, &db, NULL);
    for (int d = 0; d < 3; d++) gb[d] = db * 2 * p->plane_dist[i] * normal[d];
    return p->plane_mult[i] / F;
}

/* 1: b grad F grad F^T / F, about the size of b times the Hessian of F, is larger than F times the curvature of b along n. */
static int factor_bends_more(const abut_collmesh *cm, const abut_pairs *p, const double *y, size_t k)
{
    const size_t i = (size_t)p->bent[k];
    const abut_barrier_law law = abut_barrier_law_of_contact(cm, p, i);
    int32_t v[ABUT_AREA_CORNERS];
    double g[BENT_NUMBERS], db, ddb, gg = 0;
    const double F = abut_area_factor_of(cm, p, i, y, v, g, NULL, NULL);
    const double b = abut_barrier(law, abut_beyond2(p->dist2[i], law.xi), &db, &ddb);
    for (int q = 0; q < 3 * abut_stencil_size((abut_stencil)p->kind[i]); q++) gg += g[q] * g[q];
    return b * gg > F * F * 4 * p->dist2[i] * ddb;
}

/* With the other corners of F, and with grad b grad F^T, there are as many iterations, and more entries of the matrix. */
void abut_barrier_factors_hessian(const abut_collmesh *cm, const abut_pairs *p, const abut_barrier_curvature *c, const double *y,
                                  double kappa, abut_range r, double *val)
{
    const int32_t lo = (int32_t)r.lo;
    size_t k = abut_place_of(&lo, p->bent, p->n_bent, sizeof lo, abut_by_one);
    for (; k < p->n_bent && (size_t)p->bent[k] < r.hi; k++) {
        const size_t i = (size_t)p->bent[k];
        const int corners = abut_stencil_size((abut_stencil)p->kind[i]), n = 3 * corners;
        double *to = val + abut_barrier_element_size(c) * abut_barrier_element_of(c, p, i);
        int32_t v[ABUT_AREA_CORNERS];
        double g[BENT_NUMBERS], H[BENT_NUMBERS * BENT_NUMBERS], b, gb[BENT_NUMBERS], A[144];
        if (!factor_bends_more(cm, p, y, k)) continue;
        const double w = kappa * bent_contact(cm, p, y, k, v, g, H, &b, gb);
        for (int q = 0; q < n * n; q++) A[q] = w * b * H[BENT_NUMBERS * (q / n) + q % n];
        (void)abut_psd_project(n, A);
        for (int a = 0; a < corners; a++)
            for (int d = a; d < corners; d++)
                for (int q = 0; q < 9; q++)
                    to[9 * abut_packed_block(4, a, d) + (size_t)q] += A[n * (3 * a + q / 3) + 3 * d + q % 3];
    }
}

/* ---- as a term ---- */

typedef struct bent_state {
    const abut_barrier_state *barrier;
    int32_t *slot;          /* [ABUT_AREA_CORNERS cap] */
    size_t cap;
} bent_state;

static abut_status bent_make(void **self, const abut_term_world *w, abut_err *err)
{
    if (!w->cm->area) return ABUT_OK;
    bent_state *b = *self = calloc(1, sizeof *b);
    if (!b) return abut_fail(err, ABUT_E_NOMEM, "barrier");
    b->barrier = abut_barrier_state_of(w->before);
    return ABUT_OK;
}

/* The barrier has them. */
static abut_status bent_energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    (void)self, (void)at, (void)scale, (void)scratch, (void)err;
    return *e = 0, ABUT_OK;
}

static abut_status bent_gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    (void)self, (void)at, (void)scale, (void)g, (void)scratch, (void)err;
    return ABUT_OK;
}

static abut_status bent_elements(void *self, const abut_at *at, abut_elements *set, abut_err *err)
{
    bent_state *s = self;
    const abut_collmesh *cm = s->barrier->cm;
    const abut_pairs *p = at->pairs;
    const size_t n = p && s->barrier->bends ? p->n_bent + p->n_plane : 0;
    double g[BENT_NUMBERS], H[BENT_NUMBERS * BENT_NUMBERS], b, gb[BENT_NUMBERS];
    if (n > s->cap) {
        free(s->slot);
        s->cap = n + n / 2;
        s->slot = malloc(ABUT_AREA_CORNERS * s->cap * sizeof *s->slot);
        if (!s->slot) return s->cap = 0, abut_fail(err, ABUT_E_NOMEM, "barrier: %zu contacts", n);
    }
    for (size_t k = 0; k < n; k++) {
        int32_t v[ABUT_AREA_CORNERS];
        (void)bent_contact(cm, p, at->y, k, v, g, H, &b, gb);
        for (int c = 0; c < ABUT_AREA_CORNERS; c++) s->slot[ABUT_AREA_CORNERS * k + (size_t)c] = abut_collmesh_slot(cm, v[c]);
    }
    set->corners = ABUT_AREA_CORNERS, set->n = n, set->row = s->slot;
    set->map = abut_collmesh_selects(cm) ? NULL : &cm->W;
    return ABUT_OK;
}

static void bent_hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    const bent_state *s = self;
    const double kappa = scale * s->barrier->kappa;
    memset(val, 0, (hi - lo) * abut_packed_size(ABUT_AREA_CORNERS) * sizeof *val);
    for (size_t k = lo; k < (at->step->as_is ? hi : lo); k++) {     /* positive definite without it */
        int32_t v[ABUT_AREA_CORNERS];
        double g[BENT_NUMBERS], H[BENT_NUMBERS * BENT_NUMBERS], b, gb[BENT_NUMBERS];
        const double w = kappa * bent_contact(s->barrier->cm, at->pairs, at->y, k, v, g, H, &b, gb);
        double *to = val + abut_packed_size(ABUT_AREA_CORNERS) * (k - lo);
        for (int c = 0; c < ABUT_AREA_CORNERS; c++)
            for (int d = c; d < ABUT_AREA_CORNERS; d++, to += 9)
                for (int e = 0; e < (v[c] < 0 || v[d] < 0 ? 0 : 9); e++) {
                    const int i = 3 * c + e / 3, j = 3 * d + e % 3;
                    to[e] = w * (gb[i] * g[j] + g[i] * gb[j] + b * H[BENT_NUMBERS * i + j]);
                }
    }
}

static void bent_destroy(void *self)
{
    ABUT_FREE(((bent_state *)self)->slot, self);
}

const abut_term_ops abut_term_barrier_factors = { .name = "barrier factors", .kind = ABUT_TERM_CONTACT,
                                                  .weight = ABUT_TERM_WEIGHED, .make = bent_make, .energy = bent_energy,
                                                  .gradient = bent_gradient, .set = "factors of contacts",
                                                  .elements = bent_elements, .hessian = bent_hessian, .free = bent_destroy };
