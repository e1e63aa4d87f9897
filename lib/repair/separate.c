#include "repair/separate.h"

#include "geom/ccd/ccd.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SWEEPS 100
#define PATIENCE 12     /* rounds without fewer intersections before the state counts as too entangled */

typedef struct run {
    const abut_collmesh *cm;
    const abut_separate_opts *opt;
    const double *x0;
    double *x, *base, *u;       /* [3 nv] positions, where displacements count from, displacement of a round */
    double *y;                  /* [3 nc] */
    double *weight;             /* [nv] inverse masses, 0 where fixed */
    double *volume;             /* [nt] six volumes at the start */
    uint8_t *fixed;             /* [nc] */
    abut_wrong_side wrong;
    abut_candidates cand;
    abut_constraints constraints, last;     /* of this round and the one before */
    size_t *active;
    abut_intersection *hits;
    size_t n_hits, cap_hits;    /* intersections of triangles; half-spaces have constraints of their own */
    double reach;               /* pairs nearer than this beyond their thickness have constraints */
    double thickest;            /* m: the largest thickness */
    int base_kept;              /* displacements still count from x0: multipliers carry over */
} run;

abut_separate_opts abut_separate_defaults(const abut_model *m, double gap)
{
    return (abut_separate_opts){ .gap = gap, .max_move = 0.1 * *m->length, .min_volume = 0.2, .max_rounds = 100 };
}

static double volume6(const abut_model *m, const double *x, int32_t t, abut_vec3 g[4])
{
    abut_vec3 p[4];
    for (int i = 0; i < 4; i++) p[i] = abut_v3_get(x + 3 * (size_t)m->tet[4 * (size_t)t + (size_t)i]);
    const abut_vec3 a = abut_v3_sub(p[1], p[0]), b = abut_v3_sub(p[2], p[0]), c = abut_v3_sub(p[3], p[0]);
    g[1] = abut_v3_cross(b, c), g[2] = abut_v3_cross(c, a), g[3] = abut_v3_cross(a, b);
    g[0] = abut_v3_scale(-1, abut_v3_add(g[1], abut_v3_add(g[2], g[3])));
    return abut_v3_dot(a, g[1]);
}

/* -- faults at x -------------------------------------------------------------------------------------------------- */

static void put_points(const run *s, abut_stencil kind, const int32_t ij[2], int32_t vert[4], double x[12])
{
    abut_candidate_vertices(s->cm, kind, ij, vert);
    for (int i = 0; i < abut_stencil_size(kind); i++) memcpy(x + 3 * i, s->y + 3 * (size_t)vert[i], 3 * sizeof *x);
}

static double plane_height(const abut_model *m, const double *y, int32_t v, int32_t h)
{
    return abut_v3_dot(abut_v3_get(m->hs_normal + 3 * (size_t)h),
                       abut_v3_sub(abut_v3_get(y + 3 * (size_t)v), abut_v3_get(m->hs_point + 3 * (size_t)h)));
}

static void name_left(abut_separate_report *r, abut_left_kind kind, int32_t i, int32_t j, double lacking)
{
    if (r->n_left < ABUT_LEFT_MAX) r->left[r->n_left++] = (abut_left){ kind, { i, j }, lacking };
}

/* Smallest certified distance less thickness that is below the required gap; name: list for such pairs, NULL: none. */
static double smallest_gap(run *s, abut_separate_report *name)
{
    static const abut_left_kind left[ABUT_CANDIDATE_LISTS] = { ABUT_LEFT_VT, ABUT_LEFT_EE, ABUT_LEFT_VE, ABUT_LEFT_VV };
    const double gap = s->opt->gap;
    double least = INFINITY;
    for (int k = 0; k < ABUT_CANDIDATE_LISTS; k++) {
        const abut_pair_list *list = abut_candidates_list(&s->cand, k);
        const abut_stencil kind = abut_candidates_kind(k);
        for (size_t i = 0; i < list->n; i++) {
            int32_t vert[4];
            double x[12], d2;
            put_points(s, kind, list->ij[i], vert, x);
            const double xi = abut_collmesh_xi(s->cm, kind, vert), want = xi + gap;
            abut_nearest(kind, x, &d2);
            if (d2 > 1.0001 * want * want) continue;        /* clearly beyond; near it the certified value decides */
            const double d = abut_separation(kind, x);
            if (d >= want) continue;
            if (d - xi < least) least = d - xi;
            if (name) name_left(name, left[k], list->ij[i][0], list->ij[i][1], want - d);
        }
    }
    const abut_model *m = s->cm->model;
    for (int32_t v = 0; v < s->cm->nc; v++)
        for (int32_t h = 0; h < m->nh && !s->fixed[v]; h++) {
            const double xi = abut_collmesh_plane_xi(s->cm, v), d = plane_height(m, s->y, v, h);
            if (d >= xi + gap) continue;
            least = fmin(least, fmax(d, 0) - xi);
            if (name) name_left(name, ABUT_LEFT_PLANE, v, h, xi + gap - d);
        }
    return least;
}

/* Gathers, finds intersections and candidates at x. */
static abut_status look(run *s, abut_err *err)
{
    size_t found = 0;
    abut_collmesh_positions(s->cm, s->x, s->y);
    abut_status rc = abut_intersections_find(s->cm, s->y, s->fixed, s->cap_hits, s->hits, &found, err);
    if (!rc && found > s->cap_hits) {
        if (!ABUT_GROW(s->hits, found, s->cap_hits))
            return abut_fail(err, ABUT_E_NOMEM, "separation: no memory for %zu intersections", found);
        rc = abut_intersections_find(s->cm, s->y, s->fixed, s->cap_hits, s->hits, &found, err);
    }
    if (rc) return rc;
    for (s->n_hits = 0; s->n_hits < found && s->hits[s->n_hits].tri >= 0;) s->n_hits++;
    return abut_candidates_find(s->cm, s->y, NULL, s->reach, s->fixed, &s->cand, err);
}

/* -- the constraints of a round ------------------------------------------------------------------------------------- */

/* A direction of separation for primitives at distance 0: normal to both edges, or to the one. */
static void any_direction(abut_stencil kind, const double x[12], double n[3])
{
    abut_vec3 e[2] = { { 0, 0, 0 }, { 0, 0, 0 } };
    const int second = abut_stencil_second(kind);
    if (kind == ABUT_EE) e[0] = abut_v3_sub(abut_v3_get(x + 3), abut_v3_get(x));
    if (kind != ABUT_PP) e[1] = abut_v3_sub(abut_v3_get(x + 3 * second + 3), abut_v3_get(x + 3 * second));
    abut_vec3 direction = abut_v3_cross(e[0], e[1]);
    const abut_vec3 along = abut_v3_norm2(e[0]) > abut_v3_norm2(e[1]) ? e[0] : e[1];
    const abut_vec3 other = fabs(along.x) < fabs(along.y) ? abut_v3(1, 0, 0) : abut_v3(0, 1, 0);
    if (!(abut_v3_norm2(direction) > 0)) direction = abut_v3_cross(along, other);
    if (!(abut_v3_norm2(direction) > 0)) direction = abut_v3(0, 0, 1);
    abut_v3_put(n, abut_v3_scale(1 / abut_v3_norm(direction), direction));
}

/* 1: the pair is part of an intersection, which has other constraints. */
static int is_crossed(const run *s, abut_stencil kind, const int32_t ij[2], const int32_t vert[4])
{
    const abut_wrong_side *t = &s->wrong;
    int involved = (kind == ABUT_EE && t->cut[ij[0]]) || ((kind == ABUT_EE || kind == ABUT_PE) && t->cut[ij[1]]);
    for (int p = 0; p < abut_stencil_size(kind); p++) involved |= t->beyond[vert[p]];
    return involved;
}

/* Adds constraints that keep pairs without an intersection apart along their separation. */
static abut_status gap_constraints(run *s, abut_err *err)
{
    static const abut_constraint_kind as[ABUT_CANDIDATE_LISTS] = { ABUT_CONSTRAINT_VT, ABUT_CONSTRAINT_EE, ABUT_CONSTRAINT_VE,
                                                                   ABUT_CONSTRAINT_VV };
    abut_status rc = ABUT_OK;
    for (int k = 0; k < ABUT_CANDIDATE_LISTS; k++) {
        const abut_pair_list *list = abut_candidates_list(&s->cand, k);
        const abut_stencil kind = abut_candidates_kind(k);
        for (size_t i = 0; i < list->n && !rc; i++) {
            const int32_t *ij = list->ij[i];
            int32_t vert[4];
            double x[12], w[4], n[3] = { 0, 0, 0 };
            put_points(s, kind, ij, vert, x);
            if (is_crossed(s, kind, ij, vert)) continue;
            const double xi = abut_collmesh_xi(s->cm, kind, vert), d = sqrt(abut_closest(kind, x, w));
            if (!(d < xi + s->reach)) continue;
            for (int p = 1; p < abut_stencil_size(kind) && d > 0; p++)
                for (int c = 0; c < 3; c++) n[c] += w[p] * (x[3 * p + c] - x[c]) / d;
            if (!(d > 0)) any_direction(kind, x, n);
            const abut_constraint r =
                abut_constraint_apart(as[k], ij[0], ij[1], vert, w, n, s->y, ABUT_SEPARATE_AIM * (xi + s->opt->gap));
            rc = abut_constraints_add(&s->constraints, &r, err);
        }
    }
    return rc;
}

static abut_status plane_constraints(run *s, abut_err *err)
{
    const abut_model *m = s->cm->model;
    abut_status rc = ABUT_OK;
    for (int32_t v = 0; v < s->cm->nc && !rc; v++)
        for (int32_t h = 0; h < m->nh && !s->fixed[v] && !rc; h++) {
            const double xi = abut_collmesh_plane_xi(s->cm, v), d = plane_height(m, s->y, v, h);
            if (d >= xi + s->reach) continue;
            abut_constraint r = { .kind = ABUT_CONSTRAINT_PLANE, .id = { v, h }, .node = { v, -1, -1, -1 },
                           .b = ABUT_SEPARATE_AIM * (xi + s->opt->gap) - d };
            memcpy(r.a[0], m->hs_normal + 3 * (size_t)h, sizeof r.a[0]);
            rc = abut_constraints_add(&s->constraints, &r, err);
        }
    return rc;
}

/* Constraints so far are about collision vertices and changes from y: now of nodes and displacements from the base. */
static void to_nodes(run *s)
{
    for (size_t i = 0; i < s->constraints.n; i++) {
        abut_constraint *r = &s->constraints.constraint[i];
        for (int p = 0; p < 4 && r->node[p] >= 0; p++) {
            r->node[p] = abut_collmesh_node(s->cm, r->node[p]);
            const size_t o = 3 * (size_t)r->node[p];
            for (int c = 0; c < 3; c++) r->b += r->a[p][c] * (s->x[o + (size_t)c] - s->base[o + (size_t)c]);
        }
    }
}

/* Adds constraints that keep the required fraction of volume, for tets that lost much of it. */
static abut_status tet_constraints(run *s, abut_err *err)
{
    const abut_model *m = s->cm->model;
    const double keep = s->opt->min_volume, watch = 0.5 * (1 + keep);
    abut_status rc = ABUT_OK;
    for (int32_t t = 0; t < m->nt && !rc; t++) {
        abut_vec3 g[4];
        const double v = volume6(m, s->x, t, g);
        if (v >= watch * s->volume[t]) continue;
        double scale = 0;
        for (int i = 0; i < 4; i++) scale = fmax(scale, abut_v3_norm(g[i]));
        if (!(scale > 0)) continue;
        abut_constraint r = { .kind = ABUT_CONSTRAINT_TET, .id = { t, -1 }, .b = (keep * s->volume[t] - v) / scale };
        for (int i = 0; i < 4; i++) {
            r.node[i] = m->tet[4 * (size_t)t + (size_t)i];
            const size_t o = 3 * (size_t)r.node[i];
            abut_v3_put(r.a[i], abut_v3_scale(1 / scale, g[i]));
            for (int c = 0; c < 3; c++) r.b += r.a[i][c] * (s->x[o + (size_t)c] - s->base[o + (size_t)c]);
        }
        rc = abut_constraints_add(&s->constraints, &r, err);
    }
    return rc;
}

static abut_status step(run *s, abut_err *err)
{
    const int32_t nv = s->cm->model->nv;
    const abut_constraints other = s->last;
    s->last = s->constraints, s->constraints = other;
    s->constraints.n = 0;
    abut_wrong_side_find(&s->wrong, s->hits, s->n_hits);
    abut_status rc = abut_wrong_side_constraints(&s->wrong, s->hits, s->n_hits, s->y, s->opt->gap, &s->last,
                                                 &s->constraints, err);
    if (!rc) rc = gap_constraints(s, err);
    if (!rc) rc = plane_constraints(s, err);
    if (rc) return rc;
    to_nodes(s);
    if ((rc = tet_constraints(s, err))) return rc;
    abut_constraints_sort(&s->constraints);
    size_t *more = realloc(s->active, (s->constraints.n + 1) * sizeof *more);
    if (!more) return abut_fail(err, ABUT_E_NOMEM, "separation: no memory for %zu conditions", s->constraints.n);
    s->active = more;
    if (s->base_kept) abut_constraints_warm(&s->constraints, &s->last);
    abut_constraints_solve(&s->constraints, s->weight, nv, SWEEPS, 1e-4 * s->opt->gap, s->active, s->u);

    /* contradictory constraints can require any distance: no round moves further than a quarter of the limit */
    double change = 0;
    for (size_t i = 0; i < 3 * (size_t)nv; i++) change = fmax(change, fabs(s->base[i] + s->u[i] - s->x[i]));
    const double part = change > 0.25 * s->opt->max_move ? 0.25 * s->opt->max_move / change : 1;
    for (size_t i = 0; i < 3 * (size_t)nv; i++) {
        const double x = s->base[i] + s->u[i];
        s->x[i] = part < 1 ? s->x[i] + part * (x - s->x[i]) : x;
    }
    change *= part;
    /* candidates for the next round; later ones are found again */
    s->reach = fmin(fmax(2 * s->opt->gap, 3 * change), 30 * s->opt->gap + s->thickest);
    return ABUT_OK;
}

/* -- the whole ---------------------------------------------------------------------------------------------------- */

static double displacement(const run *s, double *rms, int32_t *node)
{
    const abut_model *m = s->cm->model;
    double most = 0, sum = 0, mass = 0;
    *node = -1;
    for (int32_t i = 0; i < m->nv; i++) {
        double d2 = 0;
        for (size_t c = 3 * (size_t)i; c < 3 * (size_t)i + 3; c++) d2 += (s->x[c] - s->x0[c]) * (s->x[c] - s->x0[c]);
        if (sqrt(d2) > most) most = sqrt(d2), *node = i;
        if (s->weight[i] > 0) sum += m->mass[i] * d2, mass += m->mass[i];
    }
    *rms = mass > 0 ? sqrt(sum / mass) : 0;
    return most;
}

static void run_clear(run *s)
{
    double *const arrays[] = { s->base, s->u, s->y, s->weight, s->volume };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    ABUT_FREE(s->fixed, s->hits);
    abut_wrong_side_clear(&s->wrong);
    abut_candidates_clear(&s->cand);
    abut_constraints_clear(&s->constraints);
    abut_constraints_clear(&s->last);
    free(s->active);
}

static abut_status run_init(run *s, abut_err *err)
{
    const abut_model *m = s->cm->model;
    const size_t nv = (size_t)m->nv + 1, nc = (size_t)s->cm->nc + 1;
    s->base = malloc(3 * nv * sizeof(double)), s->u = malloc(3 * nv * sizeof(double));
    s->y = malloc(3 * nc * sizeof(double)), s->weight = malloc(nv * sizeof(double));
    s->volume = malloc(((size_t)m->nt + 1) * sizeof(double)), s->fixed = malloc(nc);
    s->cap_hits = 256;
    s->hits = malloc(s->cap_hits * sizeof *s->hits);
    if (!s->base || !s->u || !s->y || !s->weight || !s->volume || !s->fixed || !s->hits)
        return abut_fail(err, ABUT_E_NOMEM, "separation: no memory for %d nodes", m->nv);
    for (int32_t i = 0; i < m->nv; i++) s->weight[i] = m->role[i] == ABUT_NODE_FREE ? 1 / m->mass[i] : 0;
    for (int32_t v = 0; v < s->cm->nc; v++) s->fixed[v] = !(s->weight[abut_collmesh_node(s->cm, v)] > 0);
    for (int32_t t = 0; t < m->nt; t++) {
        abut_vec3 g[4];
        s->volume[t] = volume6(m, s->x0, t, g);
    }
    const int32_t bad = abut_inverted_find(m, s->x0, 0);
    if (bad >= 0) return abut_fail(err, ABUT_E_GEOM, "separation: tet %d has no positive volume at the start", bad);
    memcpy(s->base, s->x0, 3 * (size_t)m->nv * sizeof(double));
    memcpy(s->x, s->x0, 3 * (size_t)m->nv * sizeof(double));
    for (int32_t v = 0; v < s->cm->nc && s->cm->xi; v++) s->thickest = fmax(s->thickest, s->cm->xi[v]);
    s->reach = 2 * s->opt->gap;
    return abut_wrong_side_init(&s->wrong, s->cm, err);
}

/* Intersections, gaps, volumes and displacements of the state reached. */
static void conclude(run *s, abut_separate_report *r)
{
    const abut_model *m = s->cm->model;
    r->intersections_end = s->n_hits;
    r->n_left = 0;
    for (size_t i = 0; i < s->n_hits; i++) name_left(r, ABUT_LEFT_INTERSECTION, s->hits[i].edge, s->hits[i].tri, 0);
    r->move_max = displacement(s, &r->move_rms, &r->move_node);
    if (r->move_max > s->opt->max_move) name_left(r, ABUT_LEFT_MOVE, r->move_node, -1, r->move_max - s->opt->max_move);
    const int32_t bad = abut_inverted_find(m, s->x, 0);
    if (bad >= 0) name_left(r, ABUT_LEFT_TET, bad, -1, 0);
    r->gap_end = smallest_gap(s, r);
    if (s->n_hits) r->gap_end = 0;
    r->residual = r->gap_end < s->opt->gap ? s->opt->gap - r->gap_end : 0;
    r->done = r->n_left == 0;
}

/* Counts the rounds since the number of intersections last fell by a twentieth. */
static int stalled(const run *s, size_t *fewest, int *since)
{
    if (s->n_hits == 0 || (double)s->n_hits < 0.95 * (double)*fewest) *fewest = s->n_hits ? s->n_hits : SIZE_MAX, *since = 0;
    else ++*since;
    return *since > PATIENCE;
}

static abut_status iterate(run *s, abut_separate_report *r, abut_err *err)
{
    const size_t bytes = 3 * (size_t)s->cm->model->nv * sizeof(double);
    size_t fewest = SIZE_MAX;
    int since = 0;
    for (r->rounds = 0;; r->rounds++) {
        const abut_status rc = look(s, err);
        if (rc) return rc;
        const double gap = smallest_gap(s, NULL);
        if (r->rounds == 0) r->intersections_start = s->n_hits, r->gap_start = s->n_hits ? 0 : gap;
        double rms;
        int32_t node;
        const int free = s->n_hits == 0 && gap == INFINITY && abut_inverted_find(s->cm->model, s->x, 0) < 0;
        if (free || r->rounds == s->opt->max_rounds || stalled(s, &fewest, &since)) return ABUT_OK;
        if (displacement(s, &rms, &node) > 4 * s->opt->max_move) return ABUT_OK;
        /* rounds that undo each other, or many of them: displacements count from the state at hand, which is no longer
         * the smallest, but settles */
        s->base_kept = since < PATIENCE / 4 && 2 * r->rounds < s->opt->max_rounds;
        if (!s->base_kept) memcpy(s->base, s->x, bytes);
        const abut_status done = step(s, err);
        if (done) return done;
    }
}

abut_status abut_separate(const abut_collmesh *cm, const double *x0, const abut_separate_opts *opt, double *x,
                          abut_separate_report *report, abut_err *err)
{
    assert(opt);
    if (!(opt->gap > 0 && opt->gap < INFINITY))
        return abut_fail(err, ABUT_E_ARG, "separation: the gap is %g m, it must be positive", opt->gap);
    if (!(opt->max_move > 0))
        return abut_fail(err, ABUT_E_ARG, "separation: the largest move is %g m, it must be positive", opt->max_move);
    if (!(opt->min_volume > 0 && opt->min_volume < 1) || opt->max_rounds < 1)
        return abut_fail(err, ABUT_E_ARG, "separation: volume fraction %g (in (0, 1)), %d rounds (at least 1)",
                         opt->min_volume, opt->max_rounds);
    abut_status rc = abut_collmesh_expect_nodes(cm, "separation", err);
    if (rc) return rc;
    run s = { .cm = cm, .opt = opt, .x0 = x0, .x = x };
    abut_separate_report r = { .limit = opt->max_move, .move_node = -1 };
    rc = run_init(&s, err);
    if (!rc) rc = iterate(&s, &r, err);
    if (!rc) {
        conclude(&s, &r);
        *report = r;
    }
    if (rc || !r.done) memcpy(x, x0, 3 * (size_t)cm->model->nv * sizeof *x);
    run_clear(&s);
    return rc;
}
