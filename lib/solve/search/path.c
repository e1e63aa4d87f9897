#include "solve/search/path.h"

#include "contact/intersect.h"
#include "contact/step_bound.h"
#include "geom/ccd/ccd.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Points of one step are kept up to this many bytes; then they are shortened in between. */
#define MOST_BYTES ((size_t)256 << 20)
/* Most points, and their bytes, of steps whose frames are not written. */
#define FULL_BYTES ((size_t)64 << 20)
#define FULL 32
/* Most pairs of a line, for each collision vertex and each step that it bridges, counting at most LONG steps. */
#define PAIRS_A_STEP 2
#define LONG 16
#define FEW 1000            /* vertices whose pairs cost little */
#define GROUP 8             /* number of lines, of equally many steps each, that are joined at once */

static void forget(abut_path *p)
{
    for (int i = 0; i < p->n; i++) free(p->point[i]);
    p->n = p->step = p->proven = 0;
}

void abut_path_clear(abut_path *p)
{
    forget(p);
    ABUT_FREE(p->point, p->steps, p->y0, p->y1);
    abut_candidates_clear(&p->cand);
    *p = (abut_path){ 0 };
}

static abut_status append(abut_path *p, const double *x, abut_err *err)
{
    size_t points = p->cap;
    if (!ABUT_GROW(p->point, p->n + 1, points) || !ABUT_GROW(p->steps, p->n + 1, p->cap))
        return abut_fail(err, ABUT_E_NOMEM, "path of a step: %d points", p->n + 1);
    double *copy = malloc(p->n3 * sizeof *copy);
    if (!copy) return abut_fail(err, ABUT_E_NOMEM, "path of a step: %zu numbers", p->n3);
    memcpy(copy, x, p->n3 * sizeof *copy);
    p->steps[p->n] = 1;
    p->point[p->n++] = copy;
    p->proven = 0;
    return ABUT_OK;
}

abut_status abut_path_start(abut_path *p, const abut_collmesh *cm, const double *x, abut_err *err)
{
    const size_t nc3 = 3 * (size_t)cm->nc + 1;
    forget(p);
    p->n3 = 3 * (size_t)cm->model->nv;
    if (!p->y0) p->y0 = malloc(nc3 * sizeof *p->y0);
    if (!p->y1) p->y1 = malloc(nc3 * sizeof *p->y1);
    if (!p->y0 || !p->y1) return abut_fail(err, ABUT_E_NOMEM, "path of a step: %d vertices", cm->nc);
    return append(p, x, err);
}

static int is_large(const abut_path *p)
{
    return (size_t)(p->n - p->step) * p->n3 * sizeof(double) > MOST_BYTES;
}

int abut_path_is_full(const abut_path *p)
{
    return p->n > FULL && (size_t)p->n * p->n3 * sizeof(double) > FULL_BYTES;
}

abut_status abut_path_add(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed, const double *x,
                          abut_candidate_search *near, abut_err *err)
{
    const abut_status rc = is_large(p) ? abut_path_shorten(p, cm, fixed, near, err) : ABUT_OK;
    return rc ? rc : append(p, x, err);
}

/* A pair that keeps this part of its gap all along is proved free by a slab (geom/ccd/slab.h), a proof like any other: most
 * pairs of a long line are neighbours that move alike. */
#define KEPT 1e-3

/* Returns 1 if the primitives touch, or come within their thickness of each other, on the line. */
static int pair_touches(const abut_path *p, const abut_collmesh *cm, const abut_path_hit *pair)
{
    double x0[12], x1[12];
    for (int k = 0; k < abut_stencil_size(pair->kind); k++) {
        memcpy(x0 + 3 * k, p->y0 + 3 * (size_t)pair->v[k], 3 * sizeof *x0);
        memcpy(x1 + 3 * k, p->y1 + 3 * (size_t)pair->v[k], 3 * sizeof *x1);
    }
    const double xi = abut_collmesh_xi(cm, pair->kind, pair->v);
    return xi > 0 ? abut_ccd_exact_within(pair->kind, x0, x1, xi, NULL, NULL) : abut_ccd_exact(pair->kind, x0, x1, NULL, NULL);
}

static abut_path_hit candidate(const abut_path *p, const abut_collmesh *cm, int list, size_t i)
{
    abut_path_hit c = { .kind = abut_candidates_kind(list) };
    abut_candidate_vertices(cm, c.kind, abut_candidates_list(&p->cand, list)->ij[i], c.v);
    return c;
}

/* Returns the first of candidates r of a list that touches, searched while *hit is n; n: none. */
static size_t block_touches(const abut_path *p, const abut_collmesh *cm, const abut_sweep *m, int list, abut_range r,
                            const atomic_size_t *hit, size_t n)
{
    const abut_pair_list *pairs = abut_candidates_list(&p->cand, list);
    const abut_stencil s = abut_candidates_kind(list);
    abut_candidate_four four;
    for (size_t i = r.lo; i < r.hi && atomic_load_explicit(hit, memory_order_relaxed) == n; i += ABUT_LANES) {
        abut_candidates_take(cm, s, pairs, i, r.hi, &four);
        const int clear = abut_sweep_clear(s, &four, m, 1);
        for (size_t l = 0; l < four.n; l++) {
            if (clear >> l & 1) continue;
            const abut_path_hit c = candidate(p, cm, list, i + l);
            if (pair_touches(p, cm, &c)) return i + l;
        }
    }
    return n;
}

/* Puts a hit before all others. */
static void remember(abut_path *p, abut_path_hit hit, int was_at)
{
    if (was_at == p->n_hit && p->n_hit < ABUT_PATH_HITS) p->n_hit++;
    if (was_at == ABUT_PATH_HITS) was_at--;
    memmove(p->hit + 1, p->hit, (size_t)was_at * sizeof *p->hit);
    p->hit[0] = hit;
}

static int old_hit_touches(abut_path *p, const abut_collmesh *cm)
{
    for (int i = 0; i < p->n_hit; i++) {
        if (!pair_touches(p, cm, &p->hit[i])) continue;
        remember(p, p->hit[i], i);
        return 1;
    }
    return 0;
}

static int list_touches(const abut_path *p, const abut_collmesh *cm, const abut_sweep *m, int list, abut_path_hit *hits)
{
    const size_t n = abut_candidates_list(&p->cand, list)->n, nb = abut_blocks(n);
    atomic_size_t hit = n;   /* the answer does not depend on the thread that finds it */
    #pragma omp parallel for schedule(dynamic, 1) if (nb > 2)
    for (size_t b = 0; b < nb; b++) {
        const size_t found = block_touches(p, cm, m, list, abut_block(n, b), &hit, n);
        if (found < n) atomic_store(&hit, found);
    }
    if (hit < n) *hits = candidate(p, cm, list, hit);
    return hit < n;
}

/* Returns 1 if a candidate of this rank touches: *hit. */
static int any_touches(const abut_path *p, const abut_collmesh *cm, const abut_sweep *m, abut_path_hit *hit)
{
    *hit = (abut_path_hit){ .v = { -1, -1, -1, -1 } };
    for (int l = 0; l < ABUT_CANDIDATE_LISTS; l++)
        if (list_touches(p, cm, m, l, hit)) return 1;
    return 0;
}

/* *is_free: no candidate of any rank touches; all ranks remember the first pair found. */
static abut_status hit_of_ranks(abut_path *p, int touches, abut_path_hit hit, int *is_free, abut_err *err)
{
    const abut_ranks *r = p->cand.ranks;
    if (r) {
        void *all;
        const abut_status rc = abut_ranks_each(r, &hit, sizeof hit, &all, err);
        if (rc) return rc;
        const abut_path_hit *each = all;
        for (int k = r->size - 1; k >= 0; k--)
            if (each[k].v[0] >= 0) hit = each[k], touches = 1;
        free(all);
    }
    if (touches) remember(p, hit, p->n_hit);
    *is_free = !touches;
    return ABUT_OK;
}

static int tet_inverts(abut_path *p, const abut_model *m, const double *x0, const double *x1)
{
    if (p->tet && p->tet <= m->nt && abut_inverting_tet(m, x0, x1, p->tet - 1)) return 1;
    const int32_t tet = abut_inverting_find(m, x0, x1);
    if (tet >= 0) p->tet = tet + 1;
    return tet >= 0;
}

/* *free_: the line is free.  Half-spaces need no test: both ends are above them by their thickness, and so is the line.  most: a
 * line with more pairs counts as not free; 0: no limit, with `near` as scratch. */
static abut_status line_is_free(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed, int from, int to, size_t most,
                                abut_candidate_search *near, int *free_, abut_err *err)
{
    int too_many = 0;
    abut_collmesh_positions(cm, p->point[from], p->y0);
    abut_collmesh_positions(cm, p->point[to], p->y1);
    *free_ = 0;
    if (old_hit_touches(p, cm) || tet_inverts(p, cm->model, p->point[from], p->point[to])) return ABUT_OK;
    const abut_status rc = most ? abut_candidates_few(cm, p->y0, p->y1, 0, fixed, most, &p->cand.search, &p->cand, &too_many, err)
                                : abut_candidates_again(cm, p->y0, p->y1, 0, fixed, near, &p->cand, err);
    *free_ = !rc && !too_many;
    const abut_sweep m = abut_sweep_of(cm, p->y0, p->y1, KEPT);
    if (rc || !*free_) return rc;
    abut_path_hit hit;
    const int touches = any_touches(p, cm, &m, &hit);
    return hit_of_ranks(p, touches, hit, free_, err);
}

static void drop(abut_path *p, int from, int to)
{
    for (int i = from; i < to; i++) free(p->point[i]);
    memmove(p->point + from, p->point + to, (size_t)(p->n - to) * sizeof *p->point);
    memmove(p->steps + from, p->steps + to, (size_t)(p->n - to) * sizeof *p->steps);
    p->n -= to - from;
}

void abut_path_back(abut_path *p)
{
    drop(p, p->step + 1, p->n);
    p->proven = 0;
}

/* *reach: the furthest point up to `end` that a free straight line from `base` was found to reach.  The next point is always
 * reached.  The first try is *stride points on, the last success; then twice as far after a free line, and half as far after
 * another. */
static abut_status reach_from(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed, int base, int end, int *stride,
                              abut_candidate_search *near, int *reach, abut_err *err)
{
    int lo = base + 1, beyond = end + 1, is_free;
    while (beyond - lo > 1) {
        const int known = beyond <= end, at = known ? lo + (beyond - lo) / 2 : lo + *stride < end ? lo + *stride : end;
        const abut_status rc = line_is_free(p, cm, fixed, base, at, 0, near, &is_free, err);
        if (rc) return rc;
        if (is_free) {
            lo = at;
            *stride *= 2;
        } else {
            beyond = at;
        }
    }
    *reach = lo;
    *stride = lo - base > 1 ? lo - base - 1 : 1;
    return ABUT_OK;
}

/* Drops points from the first-th on that a free straight line bridges: all between, or some. */
static abut_status bridge(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed, int first, abut_candidate_search *near,
                          abut_err *err)
{
    int is_free = 0, stride = 1;
    if (p->n - first < 2) return ABUT_OK;
    abut_status rc = line_is_free(p, cm, fixed, first, p->n - 1, 0, near, &is_free, err);
    if (rc || is_free) {
        if (!rc) drop(p, first + 1, p->n - 1);
        p->proven = !rc;
        return rc;
    }
    for (int base = first; base + 2 < p->n && !rc; base++) {
        int reach = base + 1;
        rc = reach_from(p, cm, fixed, base, base == first ? p->n - 2 : p->n - 1, &stride, near, &reach, err);
        drop(p, base + 1, reach);
    }
    return rc;
}

abut_status abut_path_leap(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed, const double *x,
                           abut_candidate_search *near, int *is_free, abut_err *err)
{
    const int proven = p->proven;
    *is_free = 0;
    abut_status rc = append(p, x, err);
    if (rc) return rc;
    rc = line_is_free(p, cm, fixed, p->step, p->n - 1, 0, near, is_free, err);
    if (rc) *is_free = 0;
    if (*is_free) drop(p, p->step + 1, p->n - 1);
    else drop(p, p->n - 1, p->n);
    p->proven = *is_free || proven;
    return rc;
}

abut_status abut_path_prove(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed, abut_candidate_search *near, int *hit,
                            abut_err *err)
{
    int is_free = 1;
    *hit = 0;
    for (int i = p->step; i + 1 < p->n; i++) {
        const abut_status rc = line_is_free(p, cm, fixed, i, i + 1, 0, near, &is_free, err);
        if (rc) return rc;
        if (!is_free) return *hit = i + 1, ABUT_OK;
    }
    return ABUT_OK;
}

abut_status abut_path_shorten(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed,
                              abut_candidate_search *near, abut_err *err)
{
    return bridge(p, cm, fixed, p->step, near, err);
}

/* ---- over steps whose frames are not written ---- */

/* *free_: a line from one point to another is free and cheap to test; *both: the number of steps that it bridges. */
static abut_status bridges(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed, int first, int last, int *both,
                           int *free_, abut_err *err)
{
    *both = 0;
    for (int i = first + 1; i <= last; i++) *both += abs(p->steps[i]);
    const size_t most = PAIRS_A_STEP * (size_t)(*both < LONG ? *both : LONG) * ((size_t)cm->nc + FEW);
    return line_is_free(p, cm, fixed, first, last, most, NULL, free_, err);
}

/* Drops points between two points that free lines bridge: all by one line, or recursively by lines over halves.  *last: the new
 * index of the second of the two. */
static abut_status bridge_between(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed, int first, int *last,
                                  abut_err *err)
{
    int both, is_free, mid = (first + *last) / 2;
    if (*last - first < 2) return ABUT_OK;
    abut_status rc = bridges(p, cm, fixed, first, *last, &both, &is_free, err);
    if (rc) return rc;
    if (is_free) {
        p->steps[*last] = p->steps[*last] < 0 ? -both : both;
        drop(p, first + 1, *last);
        *last = first + 1;
        return ABUT_OK;
    }
    rc = bridge_between(p, cm, fixed, mid, last, err);
    const int from_mid = *last - mid;
    p->steps[mid] = -abs(p->steps[mid]);
    if (!rc) rc = bridge_between(p, cm, fixed, first, &mid, err);
    *last = mid + from_mid;
    return rc;
}

/* Settles points before `last`, back to one that stays: each is dropped or stays. */
static abut_status settle(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed, int last, abut_err *err)
{
    int first = last - 1;
    while (first > 0 && p->steps[first] > 0) first--;
    return last > 0 ? bridge_between(p, cm, fixed, first, &last, err) : ABUT_OK;
}

/* Returns 1 if the last lines are a group: of equally many steps each, with no point between them that stays. */
static int is_group(const abut_path *p)
{
    const int end = p->n - 1;
    if (end < GROUP) return 0;
    for (int i = 1; i < GROUP; i++)
        if (p->steps[end - i] != abs(p->steps[end])) return 0;
    return 1;
}

/* Replaces each group at the end by a line.  A group that cannot be replaced is bridged by as few lines as possible, and no later
 * line crosses it. */
static abut_status join_groups(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed, abut_err *err)
{
    abut_status rc = ABUT_OK;
    while (is_group(p) && !rc) {
        int last = p->n - 1;
        const int first = last - GROUP;
        rc = bridge_between(p, cm, fixed, first, &last, err);
        if (!rc && last > first + 1) return settle(p, cm, fixed, first + 1, err);
    }
    return rc;
}

/* Keeps the remaining points of the present step, and joins the lines before it: all, or those that are due. */
static abut_status close_step(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed, int all, abut_err *err)
{
    const int one = p->n - 1 - p->step == 1;
    for (int i = p->step + 1; i < p->n - 1; i++) p->steps[i] = -abs(p->steps[i]);
    return all || !one ? settle(p, cm, fixed, p->step + 1, err) : join_groups(p, cm, fixed, err);
}

abut_status abut_path_next_step(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed, abut_err *err)
{
    const abut_status rc = close_step(p, cm, fixed, 0, err);
    p->step = p->n - 1;
    p->proven = 0;
    return rc;
}

abut_status abut_path_join(abut_path *p, const abut_collmesh *cm, const uint8_t *fixed, abut_err *err)
{
    const abut_status rc = p->step ? close_step(p, cm, fixed, 1, err) : ABUT_OK;
    p->step = 0;
    return rc;
}
