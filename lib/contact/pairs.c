#include "contact/pairs.h"

#include "base/order.h"
#include "contact/area.h"
#include "geom/dist_lanes.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>

/* ---- one candidate ---- */

static int swap_if_less(int32_t *a, int32_t *b)
{
    if (*b >= *a) return 0;
    const int32_t t = *a;
    *a = *b;
    *b = t;
    return 1;
}

int abut_pairs_order(const abut_feature *f, const int32_t v[4], int32_t out[4])
{
    const int k = abut_stencil_size(f->kind);
    for (int i = 0; i < 4; i++) out[i] = i < k ? v[f->idx[i]] : -1;
    if (f->kind == ABUT_PP) (void)swap_if_less(&out[0], &out[1]);
    return f->kind == ABUT_PE && swap_if_less(&out[1], &out[2]);
}

void abut_raw_reduce(const abut_feature *f, const int32_t v[4], const double *y, double d2, abut_raw *c)
{
    double x[12];
    const int swapped = abut_pairs_order(f, v, c->v);
    c->class = (int32_t)f->kind, c->face = -1;
    c->dist2 = d2;
    c->eps_x = 0;
    if (!swapped) return;
    abut_raw_points(y, c->v, 3, x);
    c->dist2 = abut_dist2(ABUT_PE, x, NULL);
}

/* Lane l of the four nearest features of stencils of vertices v: 1: a contact, in c; 0: none; -1: the primitives are no further
 * apart than their thickness. */
static inline __attribute__((always_inline)) int classify(const abut_collmesh *cm, abut_stencil s, const int32_t ij[2],
                                                          const int32_t v[4], const double *y, double xi,
                                                          const abut_nearest_four *near, size_t l, abut_raw *c)
{
    const double dhat = abut_collmesh_dhat(cm, s, v), D = abut_beyond2(near->dist2[l], xi);
    if (!(D < (2 * xi + dhat) * dhat)) return 0;
    if (!(D > 0)) return -1;
    const int32_t *mollifier = cm->model->mollifier;
    const double eps_x = s == ABUT_EE && (!mollifier || *mollifier) ? abut_mollify_eps(cm->rest2[ij[0]], cm->rest2[ij[1]]) : 0;
    if (s == ABUT_EE && near->cross2[l] < eps_x) {
        memcpy(c->v, v, sizeof c->v);
        c->class = ABUT_RAW_MOLLIFIED, c->face = -1;
        c->dist2 = near->dist2[l];
        c->eps_x = eps_x;
    } else {
        abut_raw_reduce(near->feature[l], v, y, near->dist2[l], c);
    }
    return abut_beyond2(c->dist2, xi) > 0 ? 1 : -1;
}

/* ---- all candidates ---- */

int abut_finds_reserve(abut_finds *f, size_t more)
{
    f->full |= !ABUT_GROW(f->c, f->n + more, f->cap);
    return !f->full;
}

/* Candidates of block b, four at a time; the kind is a literal at every call. */
static inline __attribute__((always_inline)) void block_of_kind(abut_stencil s, const abut_collmesh *cm,
                                                                const abut_pair_list *list, size_t b, const double *y,
                                                                abut_finds *f, abut_spot *spot)
{
    const abut_range r = abut_block(list->n, b);
    abut_candidate_four four;
    abut_nearest_four near;
    for (size_t k = r.lo; k < r.hi; k += ABUT_LANES) {
        abut_candidates_take(cm, s, list, k, r.hi, &four);
        abut_nearest_lanes(s, y, (const int32_t (*)[4])four.v, &near);
        for (size_t l = 0; l < four.n; l++) {
            const int hit = classify(cm, s, list->ij[k + l], four.v[l], y, four.xi[l], &near, l, &f->c[f->n]);
            if (hit < 0 && spot->bad < 0) spot->bad = (int32_t)(k + l - r.lo);
            f->n += hit > 0;
        }
    }
}

static void block_find(const abut_collmesh *cm, const abut_pair_list *list, abut_stencil s, size_t b, const double *y,
                       abut_finds *f, abut_spot *spot)
{
    const abut_range r = abut_block(list->n, b);
    *spot = (abut_spot){ .at = f->n, .thread = omp_get_thread_num(), .bad = -1 };
    if (!abut_finds_reserve(f, r.hi - r.lo)) return;
    if (cm->area) abut_area_find_block(cm, list, s, b, y, f, spot);
    else ABUT_OF_KIND(s, block_of_kind, cm, list, b, y, f, spot);
    spot->n = (int32_t)(f->n - spot->at);
}

abut_status abut_pairs_too_close(const abut_collmesh *cm, abut_stencil s, const int32_t ij[2], const double *y, abut_err *err)
{
    int32_t v[4];
    double x[12] = { 0 }, d2;
    char far[80] = "distance 0";
    char one[ABUT_NODES_WORDS], two[ABUT_NODES_WORDS];
    const int first = abut_stencil_second(s), size = abut_stencil_size(s);
    const double xi = abut_candidate_xi(cm, s, ij);
    abut_candidate_vertices(cm, s, ij, v);
    abut_raw_points(y, v, size, x);
    (void)abut_nearest(s, x, &d2);
    if (xi > 0) snprintf(far, sizeof far, "distance %.9g m, expected more than the thickness, %.9g m", sqrt(d2), xi);
    return abut_fail(err, ABUT_E_GEOM, "contact: %s touches %s, %s", abut_collmesh_words(cm, v, first, one),
                     abut_collmesh_words(cm, v + first, size - first, two), far);
}

abut_status abut_pairs_check(const abut_collmesh *cm, const double *y, abut_err *err)
{
    assert(cm);
    const size_t n = 3 * (size_t)cm->nc;
    int finite = 1;
    #pragma omp parallel for schedule(static) reduction(& : finite) if (n >= 8 * ABUT_PAR_MIN)
    for (size_t i = 0; i < n; i++) finite &= fabs(y[i]) <= DBL_MAX;
    if (finite) return ABUT_OK;
    size_t i = 0;
    while (isfinite(y[i])) i++;
    return abut_fail(err, ABUT_E_GEOM, "contact: %s has a coordinate of %g m",
                     abut_collmesh_words(cm, &(int32_t){ (int32_t)(i / 3) }, 1, (char[ABUT_NODES_WORDS]){ 0 }), y[i]);
}

/* ---- sorting and merging ---- */

static int raw_order(const void *p, const void *q)
{
    const abut_raw *a = p, *b = q;
    const int order = abut_compare(a->v, b->v, 4);
    if (!order && a->of[1] == b->of[1]) return (a->face > b->face) - (a->face < b->face);
    return order ? order : (a->of[1] > b->of[1]) - (a->of[1] < b->of[1]);
}

static void bucket_sort(abut_raw *c, size_t n)
{
    if (n > 24) {
        qsort(c, n, sizeof *c, raw_order);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        const abut_raw key = c[i];
        size_t k = i;
        for (; k > 0 && raw_order(&c[k - 1], &key) > 0; k--) c[k] = c[k - 1];
        c[k] = key;
    }
}

/* Scatters the contacts into buckets of equal (class, first vertex), then sorts each: buckets are small.
 * row[ABUT_RAW_CLASSES * nc + 1] comes zeroed and leaves as the ends of the buckets. */
static void raw_sort(const abut_collmesh *cm, const abut_finds *f, const abut_spot *spot, size_t n_spot, size_t *row,
                     abut_raw *sorted)
{
    const size_t nb = ABUT_RAW_CLASSES * (size_t)cm->nc;
    for (int fill = 0; fill < 2; fill++) {
        for (size_t s = 0; s < n_spot; s++) {
            const abut_raw *c = f[spot[s].thread].c + spot[s].at;
            for (int32_t k = 0; k < spot[s].n; k++) {
                const size_t b = (size_t)c[k].class * (size_t)cm->nc + (size_t)c[k].v[0];
                if (fill) sorted[row[b]++] = c[k];
                else row[b + 1]++;
            }
        }
        if (!fill)
            for (size_t b = 0; b < nb; b++) row[b + 1] += row[b];
    }
    #pragma omp parallel for schedule(dynamic, 4096) if (nb > 4)
    for (size_t b = 0; b < nb; b++) {
        const size_t lo = b ? row[b - 1] : 0;
        if (row[b] - lo > 1) bucket_sort(sorted + lo, row[b] - lo);
    }
}

static void merge(const abut_raw *c, size_t n, abut_pairs *out)
{
    out->n = out->n_plain = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t last = out->n - 1;
        if (i && c[i].class == c[i - 1].class && c[i].class != ABUT_RAW_MOLLIFIED && !raw_order(&c[i], &c[i - 1])) {
            out->mult[last] += 1;
            continue;
        }
        const size_t k = out->n++;
        out->kind[k] = (uint8_t)(c[i].class == ABUT_RAW_MOLLIFIED ? ABUT_EE : c[i].class);
        memcpy(out->vert[k], c[i].v, sizeof c[i].v);
        out->mult[k] = 1;
        out->dist2[k] = c[i].dist2;
        out->eps_x[k] = c[i].eps_x;
        if (c[i].class != ABUT_RAW_MOLLIFIED) out->n_plain = out->n;
    }
}

static abut_status owned_reserve(abut_pairs *p, size_t cap, abut_err *err)
{
    free(p->reach), free(p->of), free(p->bent);
    return ABUT_ARRAYS(ABUT_ITEMS(p->reach, cap), ABUT_ITEMS(p->of, cap), ABUT_ITEMS(p->bent, cap))
        ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "contact: no memory for %zu contacts", cap);
}

static abut_status pairs_reserve(abut_pairs *p, size_t n, abut_err *err)
{
    if (n <= p->cap) return ABUT_OK;
    const size_t cap = n + n / 4;
    free(p->kind), free(p->vert), free(p->mult), free(p->dist2), free(p->eps_x);
    p->kind = malloc(cap * sizeof *p->kind);
    p->vert = malloc(cap * sizeof *p->vert);
    p->mult = malloc(cap * sizeof *p->mult);
    p->dist2 = malloc(cap * sizeof *p->dist2);
    p->eps_x = malloc(cap * sizeof *p->eps_x);
    p->cap = 0;
    if (!p->kind || !p->vert || !p->mult || !p->dist2 || !p->eps_x)
        return abut_fail(err, ABUT_E_NOMEM, "contact: no memory for %zu contacts", n);
    p->cap = cap;
    return ABUT_OK;
}

static void weigh(const abut_collmesh *cm, abut_pairs *p)
{
    for (size_t i = 0; i < (cm->scale.of || cm->scale.part ? p->n : 0); i++) {
        const int32_t *v = p->vert[i], other = v[abut_stencil_second((abut_stencil)p->kind[i])];
        p->mult[i] *= abut_pair_weight(&cm->scale, v[0], other, abut_pairs_xi(cm, p, i));
    }
}

static abut_status join(const abut_collmesh *cm, const abut_finds *f, const abut_spot *spot, size_t n_spot, const double *y,
                        abut_pairs *out, abut_err *err)
{
    size_t n = 0;
    for (size_t s = 0; s < n_spot; s++) n += (size_t)spot[s].n;
    if (!n) return ABUT_OK;
    size_t *row = calloc(ABUT_RAW_CLASSES * (size_t)cm->nc + 1, sizeof *row);
    abut_raw *sorted = malloc((n + 1) * sizeof *sorted);
    abut_status rc = ABUT_OK;
    if (!row || !sorted) rc = abut_fail(err, ABUT_E_NOMEM, "contact: no memory for %zu contacts", n);
    if (!rc) rc = pairs_reserve(out, n, err);
    if (!rc && cm->area) rc = owned_reserve(out, out->cap, err);
    if (!rc) raw_sort(cm, f, spot, n_spot, row, sorted);
    if (!rc && cm->area) {
        abut_area_merge(cm, sorted, n, out);
        abut_area_weigh(cm, y, out);
    } else if (!rc) {
        merge(sorted, n, out);
        weigh(cm, out);
    }
    ABUT_FREE(row, sorted);
    return rc;
}

/* Returns the list of block b of all lists together, and *at, the number of the block in that list. */
static int list_of_block(const size_t end[ABUT_CANDIDATE_LISTS], size_t b, size_t *at)
{
    int k = 0;
    while (b >= end[k]) k++;
    *at = k ? b - end[k - 1] : b;
    return k;
}

/* A candidate at its thickness or nearer: of a list, -1: there is none; and its primitives. */
struct culprit {
    int32_t list, ij[2];
};

static int is_before(const struct culprit *a, const struct culprit *b)
{
    if (a->list < 0 || b->list < 0) return b->list < 0 && a->list >= 0;
    if (a->list != b->list) return a->list < b->list;
    return a->ij[0] != b->ij[0] ? a->ij[0] < b->ij[0] : a->ij[1] < b->ij[1];
}

/* Fails for the first candidate of all ranks that is too close. */
static abut_status check_bad(const abut_collmesh *cm, const abut_candidates *cand, const size_t end[ABUT_CANDIDATE_LISTS],
                             const abut_spot *spot, size_t n_spot, const double *y, abut_err *err)
{
    struct culprit bad = { .list = -1 };
    for (size_t b = 0; b < n_spot && bad.list < 0; b++) {
        if (spot[b].bad < 0) continue;
        size_t at;
        bad.list = list_of_block(end, b, &at);
        const abut_pair_list *list = abut_candidates_list(cand, bad.list);
        memcpy(bad.ij, list->ij[abut_block(list->n, at).lo + (size_t)spot[b].bad], sizeof bad.ij);
    }
    if (cand->ranks) {
        void *all;
        const abut_status rc = abut_ranks_each(cand->ranks, &bad, sizeof bad, &all, err);
        if (rc) return rc;
        for (int r = 0; r < cand->ranks->size; r++)
            if (is_before((struct culprit *)all + r, &bad)) bad = ((struct culprit *)all)[r];
        free(all);
    }
    return bad.list < 0 ? ABUT_OK : abut_pairs_too_close(cm, abut_candidates_kind(bad.list), bad.ij, y, err);
}

/* Collects the finds of all threads of all ranks in f[0], with one spot for all of them. */
static abut_status join_ranks(const abut_ranks *r, int threads, abut_finds *f, abut_spot *spot, size_t *n_spot, abut_err *err)
{
    if (!r) return ABUT_OK;
    abut_finds all = { .n = 0 };
    for (int t = 0; t < threads; t++) all.n += f[t].n;
    all.c = malloc((all.n + 1) * sizeof *all.c);
    if (!all.c) return abut_fail(err, ABUT_E_NOMEM, "contact: no memory for %zu contacts", all.n);
    size_t n = 0;
    for (int t = 0; t < threads; t++) {
        if (f[t].n) memcpy(all.c + n, f[t].c, f[t].n * sizeof *all.c);
        n += f[t].n;
    }
    void *list = all.c;
    abut_status rc = abut_ranks_join_list(r, &list, &all.n, sizeof *all.c, err);
    if (!rc && all.n > INT32_MAX) rc = abut_fail(err, ABUT_E_NOMEM, "contact: %zu contacts, more than %d", all.n, INT32_MAX);
    free(f[0].c);
    f[0] = all;
    f[0].c = list;
    spot[0] = (abut_spot){ .n = (int32_t)all.n };
    *n_spot = 1;
    return rc;
}

static abut_status mesh_pairs(const abut_collmesh *cm, const abut_candidates *cand, const double *y, abut_pairs *out,
                              abut_err *err)
{
    size_t end[ABUT_CANDIDATE_LISTS], n_spot = 0;
    for (int k = 0; k < ABUT_CANDIDATE_LISTS; k++) end[k] = n_spot += abut_blocks(abut_candidates_list(cand, k)->n);
    const int threads = n_spot > 4 ? abut_threads() : 1;
    abut_finds *f = calloc((size_t)threads, sizeof *f);
    abut_spot *spot = malloc((n_spot + 1) * sizeof *spot);
    abut_status rc = ABUT_OK;
    if (!f || !spot) {
        rc = abut_fail(err, ABUT_E_NOMEM, "contact: no memory for %zu blocks", n_spot);
        goto done;
    }
    #pragma omp parallel for schedule(dynamic, 4) num_threads(threads)
    for (size_t b = 0; b < n_spot; b++) {
        size_t at;
        const int k = list_of_block(end, b, &at);
        const int own = omp_get_thread_num();
        block_find(cm, abut_candidates_list(cand, k), abut_candidates_kind(k), at, y, &f[own], &spot[b]);
    }
    for (int t = 0; t < threads && !rc; t++)
        if (f[t].full) rc = abut_fail(err, ABUT_E_NOMEM, "contact: no memory, after %zu contacts of one thread", f[t].n);
    if (!rc) rc = check_bad(cm, cand, end, spot, n_spot, y, err);
    if (!rc && cm->area) abut_area_find_guards(cm, y, &f[0], &spot[n_spot++]);
    if (!rc) rc = join_ranks(cand->ranks, threads, f, spot, &n_spot, err);
    if (!rc) rc = join(cm, f, spot, n_spot, y, out, err);
done:
    for (int t = 0; f && t < threads; t++) {
        free(f[t].c), free(f[t].face), free(f[t].share);
        abut_tally_clear(&f[t].edges), abut_tally_clear(&f[t].vertices);
    }
    ABUT_FREE(f, spot);
    return rc;
}

/* ---- half-spaces ---- */

static abut_status planes_reserve(abut_pairs *p, size_t n, abut_err *err)
{
    if (n <= p->cap_plane) return ABUT_OK;
    const size_t cap = 2 * n;
    if (!ABUT_RESIZE(p->plane_vert, cap) || !ABUT_RESIZE(p->plane, cap) || !ABUT_RESIZE(p->plane_dist, cap) ||
        !ABUT_RESIZE(p->plane_mult, cap) || !ABUT_RESIZE(p->plane_patch, cap))
        return abut_fail(err, ABUT_E_NOMEM, "contact: no memory for %zu half-space contacts", n);
    p->cap_plane = cap;
    return ABUT_OK;
}

abut_status abut_pairs_plane_too_close(const abut_collmesh *cm, int32_t v, int32_t h, double d, abut_err *err)
{
    assert(cm);
    char one[ABUT_NODES_WORDS], two[ABUT_OBJECT_WORDS];
    const abut_model *m = cm->model;
    return abut_fail(err, ABUT_E_GEOM, "contact: %s is %g m above %s, want > %g", abut_collmesh_words(cm, &v, 1, one), d,
                     abut_half_space_words(m, h, two), abut_collmesh_plane_xi(cm, v));
}

static void add_plane(abut_pairs *out, int32_t v, int32_t h, double d, double mult, int32_t patch)
{
    const size_t k = out->n_plane++;
    out->plane_vert[k] = v, out->plane[k] = h, out->plane_dist[k] = d, out->plane_mult[k] = mult, out->plane_patch[k] = patch;
}

/* Each patch of a sharp vertex, or the vertex, with its area: that of a corner of a rim, too. */
static void owned_plane(const abut_collmesh *cm, int32_t v, int32_t h, double d, const double *y, abut_pairs *out)
{
    const int32_t *first = cm->area->first + v, many = first[0] + 1 < first[1];
    const int32_t lo = many ? first[0] : -1, hi = many ? first[1] : 0;
    for (int32_t k = lo; k < hi; k++) {
        const double G = abut_area_plane_factor(cm, v, k, cm->model->hs_normal + 3 * (size_t)h, y, NULL, NULL);
        if (G > 0) add_plane(out, v, h, d, G * abut_area_plane_weight(cm, v, k), k);
    }
}

static abut_status plane_pairs(const abut_collmesh *cm, const double *y, const uint8_t *fixed, abut_pairs *out, abut_err *err)
{
    const abut_model *m = cm->model;
    for (int32_t v = 0; v < (m->nh ? cm->nc : 0); v++) {
        if (fixed && fixed[v]) continue;
        const double xi = abut_collmesh_plane_xi(cm, v), dhat = abut_collmesh_plane_dhat(cm, v);
        for (int32_t h = 0; h < m->nh; h++) {
            const double *o = m->hs_point + 3 * h, *n = m->hs_normal + 3 * h, *p = y + 3 * (size_t)v;
            const double d = n[0] * (p[0] - o[0]) + n[1] * (p[1] - o[1]) + n[2] * (p[2] - o[2]);
            if (!(d - xi < dhat)) continue;
            if (!(d > xi)) return abut_pairs_plane_too_close(cm, v, h, d, err);
            const abut_status rc = planes_reserve(out, out->n_plane + (cm->area ? abut_area_shares(cm->area, v) : 1), err);
            if (rc) return rc;
            if (cm->area) owned_plane(cm, v, h, d, y, out);
            else add_plane(out, v, h, d, abut_pair_weight(&cm->scale, v, -1, xi), -1);
        }
    }
    return ABUT_OK;
}

/* ---- public ---- */

abut_status abut_pairs_reserve(abut_pairs *p, size_t n, size_t n_plane, abut_err *err)
{
    p->n = p->n_plain = p->n_plane = p->n_bent = 0;
    const abut_status rc = pairs_reserve(p, n, err);
    return rc ? rc : planes_reserve(p, n_plane, err);
}

abut_status abut_pairs_find(const abut_collmesh *cm, const abut_candidates *cand, const double *y, const uint8_t *fixed,
                            abut_pairs *out, abut_err *err)
{
    out->n = out->n_plain = out->n_plane = out->n_bent = 0;
    abut_status rc = abut_pairs_check(cm, y, err);
    if (!rc) rc = mesh_pairs(cm, cand, y, out, err);
    if (!rc) rc = plane_pairs(cm, y, fixed, out, err);
    if (rc) out->n = out->n_plain = out->n_plane = out->n_bent = 0;
    return rc;
}

double abut_pairs_gap(const abut_collmesh *cm, const abut_pairs *p, size_t i)
{
    if (i < p->n) return abut_beyond(p->dist2[i], abut_pairs_xi(cm, p, i));
    return p->plane_dist[i - p->n] - abut_pairs_plane_xi(cm, p, i - p->n);
}

double abut_pairs_smallest_gap(const abut_collmesh *cm, const abut_pairs *p, size_t *which)
{
    double least = INFINITY;
    size_t at = 0;
    for (size_t i = 0; i < p->n + p->n_plane; i++) {
        const double gap = abut_pairs_gap(cm, p, i);
        if (gap < least) least = gap, at = i;
    }
    if (which) *which = at;
    return least;
}

abut_stencil abut_pairs_get(const abut_pairs *p, size_t i, const double *y, double x[12])
{
    const abut_stencil kind = (abut_stencil)p->kind[i];
    for (int k = 0; k < abut_stencil_size(kind); k++) memcpy(x + 3 * k, y + 3 * (size_t)p->vert[i][k], 3 * sizeof *x);
    return kind;
}

void abut_pairs_clear(abut_pairs *p)
{
    ABUT_FREE(p->kind, p->vert, p->mult, p->dist2, p->eps_x, p->plane_vert, p->plane, p->plane_dist, p->plane_mult);
    free(p->reach), free(p->of), free(p->bent), free(p->plane_patch);
    *p = (abut_pairs){ 0 };
}
