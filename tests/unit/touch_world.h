/* A collision mesh that moves, on the machine of machine_open.h and beside it: what both find and compute is compared. */
#ifndef ABUT_TESTS_TOUCH_WORLD_H
#define ABUT_TESTS_TOUCH_WORLD_H

#include "check.h"
#include "energy/barrier.h"
#include "geom/dist.h"
#include "gpu/touch.h"
#include "machine_open.h"
#include "projected_barrier.h"

#include <string.h>

static abut_err err;

/* A collision mesh that moves, on the machine and beside it. */
typedef struct world {
    const abut_collmesh *cm;
    const uint8_t *fixed;
    const double *x;
    double *p, *y1, reach;
    size_t n3;
    abut_queue q;
    abut_gpu_touch c;
    abut_gpu_contacts set;
    abut_buffer dx, dp, out, g;
    abut_candidates cand;
    abut_pairs pairs;
    abut_arena scratch;
} world;

/* y1 is x + share p with p = x1 - x, as the machine has it. */
static inline void world_open(world *w, const abut_collmesh *cm, const uint8_t *fixed, const double *x, const double *x1,
                              double share)
{
    *w = (world){ .cm = cm, .fixed = fixed, .x = x, .reach = *cm->model->dhat, .n3 = 3 * (size_t)cm->nc };
    w->p = malloc(w->n3 * sizeof *w->p);
    w->y1 = malloc(w->n3 * sizeof *w->y1);
    for (size_t i = 0; i < w->n3; i++) w->p[i] = x1[i] - x[i], w->y1[i] = x[i] + share * w->p[i];
    CHECK(!machine_open(&w->q, &err));
    CHECK(!abut_gpu_touch_init(&w->c, &w->q, cm, fixed, &err));
    CHECK(!abut_buffer_put(&w->q, &w->dx, "x", x, w->n3, sizeof *x, &err));
    CHECK(!abut_buffer_put(&w->q, &w->dp, "p", w->p, w->n3, sizeof *x, &err));
    CHECK(!abut_buffer_need(&w->q, &w->out, "out", 1, sizeof(double), &err));
    CHECK(!abut_buffer_need(&w->q, &w->g, "g", w->n3, sizeof(double), &err));
}

static inline void world_close(world *w)
{
    abut_gpu_touch_clear(&w->c);
    abut_gpu_contacts_clear(&w->q, &w->set);
    abut_buffer *all[] = { &w->dx, &w->dp, &w->out, &w->g };
    for (size_t i = 0; i < 4; i++) abut_buffer_clear(&w->q, all[i]);
    CHECK(w->q.bytes == 0);     /* all is given back */
    abut_queue_close(&w->q);
    abut_candidates_clear(&w->cand);
    abut_pairs_clear(&w->pairs);
    abut_arena_clear(&w->scratch);
    free(w->p);
    free(w->y1);
}

/* n items of the machine's differ from the host's. */
static inline int differs(world *w, const abut_buffer *b, const void *host, size_t n, size_t size)
{
    void *got = malloc(n * size + 1);
    CHECK(!n || !w->q.on->get(&w->q, got, b->at, n * size, &err));
    const int differ = n && memcmp(got, host, n * size);
    free(got);
    return differ;
}

static inline size_t lists_differ(world *w)
{
    size_t bad = 0;
    for (int l = 0; l < ABUT_CANDIDATE_LISTS; l++) {
        const abut_pair_list *list = abut_candidates_list(&w->cand, l);
        bad += w->c.n[l] != list->n || differs(w, &w->c.list[l], list->ij, list->n, sizeof *list->ij);
    }
    return bad;
}

static inline size_t contacts_differ(world *w)
{
    const abut_pairs *p = &w->pairs;
    const abut_gpu_contacts *s = &w->set;
    if (s->n != p->n || s->n_plain != p->n_plain || s->n_plane != p->n_plane) return 1;
    abut_pairs got = { 0 };
    CHECK(!abut_gpu_contacts_get(&w->q, s, &got, &err));
    const size_t n = p->n, m = p->n_plane;
    size_t bad = got.n != n || got.n_plain != p->n_plain || got.n_plane != m;
    bad += n && memcmp(got.kind, p->kind, n * sizeof *p->kind);
    bad += n && memcmp(got.vert, p->vert, n * sizeof *p->vert);
    bad += n && memcmp(got.mult, p->mult, n * sizeof *p->mult);
    bad += n && memcmp(got.dist2, p->dist2, n * sizeof *p->dist2);
    bad += n && memcmp(got.eps_x, p->eps_x, n * sizeof *p->eps_x);
    bad += m && memcmp(got.plane_vert, p->plane_vert, m * sizeof *p->plane_vert);
    bad += m && memcmp(got.plane, p->plane, m * sizeof *p->plane);
    bad += m && memcmp(got.plane_dist, p->plane_dist, m * sizeof *p->plane_dist);
    abut_pairs_clear(&got);
    return bad;
}

static inline void candidates(world *w, double share)
{
    CHECK(!abut_candidates_find(w->cm, w->x, w->y1, w->reach, w->fixed, &w->cand, &err));
    CHECK(!abut_gpu_touch_candidates(&w->c, ABUT_AT(w->dx, double), ABUT_AT(w->dp, double), share, w->reach, &err));
}
/* ---- barrier ---- */

static inline double scalar(world *w)
{
    double v = NAN;
    CHECK(!w->q.on->get(&w->q, &v, w->out.at, sizeof v, &err));
    return v;
}

static inline double norm(const double *v, size_t n)
{
    double s = 0;
    for (size_t i = 0; i < n; i++) s += v[i] * v[i];
    return sqrt(s);
}

/* Numbers of the blocks of corners that an element has. */
static inline size_t used(const int32_t *node, double *val)
{
    size_t n = 0;
    for (int p = 0, at = 0; p < 4; p++)
        for (int q = p; q < 4; q++, at += 9)
            for (int k = 0; k < 9 && node[p] >= 0 && node[q] >= 0; k++) val[n++] = val[at + k];
    return n;
}

/* Relative rounding error of the matrix of contact i.  For edges u and v, |u x v| and the distance have the rounding error over
 * the sine between them; the barrier has that error over the remaining fraction of its reach. */
static inline double rounding(const world *w, size_t i)
{
    if (i >= w->pairs.n || !(w->pairs.eps_x[i] > 0)) return 0;
    double x[12];
    for (int k = 0; k < 12; k++) x[k] = w->x[3 * w->pairs.vert[i][k / 3] + k % 3];
    const abut_vec3 u = abut_v3_diff(x + 3, x), v = abut_v3_diff(x + 9, x + 6);
    const double sine = sqrt(abut_cross2(x, NULL, NULL) / (abut_v3_dot(u, u) * abut_v3_dot(v, v)));
    return fmin(1e-13 / (sine * (1 - w->pairs.dist2[i] / (w->reach * w->reach))), 1);
}

/* Element matrices that differ by more than a share of their size, or are at other nodes; more: and what rounding may change. */
static inline size_t blocks_differ(world *w, const abut_gpu_blocks *b, const int32_t *node, double *H, size_t n, double share,
                                   int more)
{
    size_t bad = b->n != n;
    if (bad || !n) return bad;
    int32_t *at = malloc(4 * n * sizeof *at);
    double *val = malloc(ABUT_PACKED * n * sizeof *val);
    CHECK(!w->q.on->get(&w->q, at, b->node, 4 * n * sizeof *at, &err));
    CHECK(!w->q.on->get(&w->q, val, b->val, ABUT_PACKED * n * sizeof *val, &err));
    bad += memcmp(at, node, 4 * n * sizeof *at) != 0;
    for (size_t i = 0; i < n; i++) {
        double *u = val + ABUT_PACKED * i, *v = H + ABUT_PACKED * i;
        const size_t m = used(node + 4 * i, u);
        (void)used(node + 4 * i, v);
        const double size = norm(v, m);
        for (size_t k = 0; k < m; k++) u[k] -= v[k];
        bad += !(norm(u, m) <= (more ? share + rounding(w, i) : share) * size);
    }
    free(at);
    free(val);
    return bad;
}

/* Adds |g| of every element at every node, from gradients of one contact at a time: what sums may err by a share of. */
static inline double gradient_differs(world *w, const double *want)
{
    double *g = malloc(w->n3 * sizeof *g), worst = 0;
    CHECK(!w->q.on->get(&w->q, g, w->g.at, w->n3 * sizeof *g, &err));
    for (size_t i = 0; i < w->n3; i++) {
        if (w->fixed && w->fixed[i / 3]) {
            CHECK(g[i] == 0);
            continue;
        }
        worst = fmax(worst, fabs(g[i] - want[i]));
    }
    free(g);
    return worst;
}

/* The packed matrix of one contact: what a row of the table of Hessians writes as a sum of rank one. */
static inline void dense_rank_one(const double *val, size_t terms, double *H)
{
    for (size_t t = 0; t < terms; t++, val += ABUT_RANK_ONE)
        for (int a = 0, at = 0; a < 4; a++)
            for (int b = a; b < 4; b++)
                for (int k = 0; k < 9; k++, at++) H[at] += val[0] * val[1 + 3 * a + k / 3] * val[1 + 3 * b + k % 3];
}

/* The Hessians by the row `name`, whose curvature is at least that at `least`, of the contacts at hand. */
static inline void check_gauss_newton(world *w, const char *name, double least)
{
    const double kappa = 2.5;
    abut_barrier_curvature by = { NULL, least };
    abut_gpu_blocks blocks;
    CHECK(!abut_barrier_hessian_find(name, NULL, &by.ops, &err) && by.ops->rank == 1);
    const size_t n = w->pairs.n + w->pairs.n_plane, elements = abut_barrier_elements(&by, &w->pairs);
    double *val = calloc(ABUT_RANK_ONE * elements, sizeof *val), *H = calloc(ABUT_PACKED * n, sizeof *H), *from = val;
    int32_t *slot = malloc(4 * elements * sizeof *slot), *node = malloc(4 * n * sizeof *node), *of = slot;
    abut_barrier_hessian_by(w->cm, &w->pairs, &by, w->x, kappa, val);
    abut_barrier_slots(w->cm, &w->pairs, &by, slot);
    for (size_t i = 0; i < n; i++) {
        const size_t terms = i >= w->pairs.n_plain && i < w->pairs.n ? 2 : 1;
        dense_rank_one(from, terms, H + ABUT_PACKED * i);
        memcpy(node + 4 * i, of, 4 * sizeof *node);
        from += ABUT_RANK_ONE * terms;
        of += 4 * terms;
    }
    w->c.hessian = by.ops->kernel;
    w->c.least = least;
    CHECK(!abut_gpu_barrier_hessian(&w->c, ABUT_AT(w->dx, double), &w->set, kappa, &blocks, &err));
    CHECK(blocks_differ(w, &blocks, node, H, n, 1e-11, 1) == 0);
    w->c.hessian = ABUT_HESSIAN_PROJECTED;
    free(val), free(H), free(slot), free(node);
}

static inline void check_barrier(world *w, double share)
{
    const double kappa = 2.5;
    double energy, *want = calloc(w->n3, sizeof *want), most = 0;
    abut_gpu_blocks blocks;
    candidates(w, share);
    CHECK(!abut_pairs_find(w->cm, &w->cand, w->x, w->fixed, &w->pairs, &err));
    CHECK(!abut_gpu_touch_find(&w->c, ABUT_AT(w->dx, double), &w->set, &err));
    const double *x = ABUT_AT(w->dx, double);

    CHECK(!abut_barrier_energy(w->cm, &w->pairs, w->x, kappa, &energy, &w->scratch, &err));
    CHECK(!abut_gpu_barrier_energy(&w->c, x, &w->set, kappa, ABUT_AT(w->out, double), &err));
    CHECK_NEAR(scalar(w), energy, 1e-13 * energy);
    CHECK(energy > 0);

    CHECK(!abut_barrier_gradient(w->cm, &w->pairs, w->x, kappa, want, &w->scratch, &err));
    CHECK(!w->q.on->fill(&w->q, w->g.at, 0, w->n3 * sizeof(double), &err));
    CHECK(!abut_gpu_barrier_gradient(&w->c, x, &w->set, kappa, ABUT_AT(w->g, double), &err));
    for (size_t i = 0; i < w->n3; i++) most = fmax(most, fabs(want[i]));
    CHECK(gradient_differs(w, want) <= 1e-13 * most);

    const size_t n = w->pairs.n + w->pairs.n_plane;
    int32_t *node = malloc(4 * n * sizeof *node);
    double *H = calloc(ABUT_PACKED * n, sizeof *H);
    projected_barrier(w->cm, &w->pairs, w->x, kappa, node, H);
    CHECK(!abut_gpu_barrier_hessian(&w->c, x, &w->set, kappa, &blocks, &err));
    CHECK(blocks_differ(w, &blocks, node, H, n, 1e-11, 0) == 0);
    for (int k = 0; k < 2; k++) {
        check_gauss_newton(w, "gn", k * 0.3 * w->reach);
        check_gauss_newton(w, "ipc-gn", k * 0.3 * w->reach);
    }
    free(node), free(H), free(want);
}

#endif
