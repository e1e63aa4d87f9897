/* Work divided among ranks, which are threads here: their common result equals that of one process. */
#include "box_tets.h"
#include "contact/step_bound.h"
#include "energy/barrier.h"
#include "ranks_of_threads.h"
#include "sheets.h"
#include "solve/direction/newton.h"
#include "solve/search/path.h"
#include "solve/search/search_ops.h"
#include "sparse/schwarz/schwarz.h"
#include "world.h"

/* ---- joins ---- */

typedef struct joined {
    int lies, agrees;
    size_t n, count;
    int32_t part[11], *list;
} joined;

static void join(const abut_ranks *r, void *ctx)
{
    joined *j = ctx;
    abut_err err = { 0 };
    const abut_range mine = abut_ranks_part(r, 11);
    for (size_t i = mine.lo; i < mine.hi; i++) j->part[i] = (int32_t)(100 + i);
    abut_ranks_join(r, j->part, 11, sizeof *j->part);
    void *list = malloc(sizeof *j->list * 8);
    j->n = (size_t)r->rank;     /* rank 0 has none */
    for (size_t i = 0; i < j->n; i++) ((int32_t *)list)[i] = r->rank;
    CHECK(!abut_ranks_join_list(r, &list, &j->n, sizeof *j->list, &err));
    j->list = list;
    CHECK(!abut_ranks_count(r, (size_t)r->rank, &j->count, &err));
    const uint64_t mark = abut_ranks_mark(0, j->part, sizeof j->part) + (uint64_t)j->lies;
    j->agrees = !abut_ranks_agree(r, mark, "numbers", &err);
    if (!j->agrees) CHECK(err.code == ABUT_E_NUMERIC && strstr(err.msg, "ranks 0 and 2 no longer have the same bits of numbers"));
}

TEST(parts_and_lists_of_all_ranks_are_known_to_each_and_a_rank_that_differs_is_found)
{
    for (int size = 1; size <= RANKS_MOST; size++) {
        joined j[RANKS_MOST] = { { 0 } };
        void *ctx[RANKS_MOST];
        for (int k = 0; k < size; k++) ctx[k] = &j[k];
        if (size > 2) j[2].lies = size % 2;
        (void)on_ranks(size, join, ctx);
        for (int k = 0; k < size; k++) {
            int right = j[k].n == (size_t)(size * (size - 1) / 2) && j[k].count == j[k].n;
            for (int32_t i = 0; i < 11; i++) right &= j[k].part[i] == 100 + i;
            for (int r = 0, at = 0; r < size && right; r++)
                for (int i = 0; i < r; i++) right &= j[k].list[at++] == r;
            CHECK(right);
            CHECK(j[k].agrees == !(size > 2 && size % 2));
            free(j[k].list);
        }
    }
}

/* ---- contact ---- */

typedef struct contact {
    const sheets *s;
    double at;              /* of the motion: where contacts are looked for */
    abut_candidates cand;
    abut_candidate_search search;
    abut_pairs pairs, own;  /* of all; those that this rank's candidates have alone */
    abut_limit lim;
    int leaps, shortened;
    abut_err err;
} contact;

static void go_along(contact *c)
{
    const sheets *s = c->s;
    abut_path path = { 0 };
    int straight;
    CHECK(!abut_path_start(&path, &s->cm, s->X, NULL));
    for (int k = 1; k <= 6; k++) {
        double *x = malloc(3 * (size_t)s->cm.nc * sizeof *x);
        const double far = 0.05 * c->lim.alpha * k * k;
        for (int32_t i = 0; i < 3 * s->cm.nc; i++) x[i] = s->X[i] + far * (s->y1[i] - s->X[i]) / (1 + i % 3);
        CHECK(!abut_path_leap(&path, &s->cm, s->fixed, x, &c->search, &straight, NULL));
        c->leaps = 2 * c->leaps + straight;
        CHECK(!abut_path_add(&path, &s->cm, s->fixed, x, &c->search, NULL));
        free(x);
    }
    CHECK(!abut_path_shorten(&path, &s->cm, s->fixed, &c->search, NULL));
    c->shortened = path.n;
    abut_path_clear(&path);
}

static void touch(const abut_ranks *r, void *ctx)
{
    contact *c = ctx;
    const sheets *s = c->s;
    double *y = malloc(3 * (size_t)s->cm.nc * sizeof *y);
    c->search.ranks = r;
    c->lim = (abut_limit){ .alpha = 1 };
    CHECK(!abut_candidates_again(&s->cm, s->X, s->y1, s->dhat, s->fixed, &c->search, &c->cand, &c->err));
    for (int32_t i = 0; i < 3 * s->cm.nc; i++) y[i] = s->X[i] + c->at * (s->y1[i] - s->X[i]);
    CHECK(!abut_pairs_find(&s->cm, &c->cand, y, s->fixed, &c->pairs, &c->err));
    c->cand.ranks = NULL;
    CHECK(!abut_pairs_find(&s->cm, &c->cand, y, s->fixed, &c->own, &c->err));
    c->cand.ranks = r;
    CHECK(!abut_limit_ccd(&s->cm, &c->cand, s->X, s->y1, 0.2, &c->lim, &c->err));
    go_along(c);
    free(y);
}

static void contact_drop(contact *c)
{
    abut_candidates_clear(&c->cand);
    abut_candidate_search_clear(&c->search);
    abut_pairs_clear(&c->pairs);
    abut_pairs_clear(&c->own);
}

static int by_both(const void *p, const void *q)
{
    const int32_t *a = p, *b = q;
    return a[0] != b[0] ? (a[0] > b[0]) - (a[0] < b[0]) : (a[1] > b[1]) - (a[1] < b[1]);
}

/* The lists of all ranks together are those of one process, each pair once. */
static int same_candidates(const contact *one, const contact *c, int size)
{
    int same = 1;
    for (int l = 0; l < ABUT_CANDIDATE_LISTS; l++) {
        const abut_pair_list *want = abut_candidates_list(&one->cand, l);
        int32_t (*all)[2] = malloc((want->n + 1) * sizeof *all);
        size_t n = 0;
        for (int k = 0; k < size; k++) {
            const abut_pair_list *has = abut_candidates_list(&c[k].cand, l);
            same &= n + has->n <= want->n && c[k].cand.total == one->cand.total;
            if (same && has->n) memcpy(all + n, has->ij, has->n * sizeof *all);
            n += has->n;
        }
        if (same) qsort(all, n, sizeof *all, by_both);
        same &= n == want->n && (!n || !memcmp(all, want->ij, n * sizeof *all));
        free(all);
    }
    return same;
}

static int same_pairs(const abut_pairs *a, const abut_pairs *b)
{
    return a->n == b->n && a->n_plain == b->n_plain &&
           (!a->n || (!memcmp(a->kind, b->kind, a->n * sizeof *a->kind) && !memcmp(a->vert, b->vert, a->n * sizeof *a->vert) &&
                      !memcmp(a->mult, b->mult, a->n * sizeof *a->mult) && !memcmp(a->dist2, b->dist2, a->n * sizeof *a->dist2) &&
                      !memcmp(a->eps_x, b->eps_x, a->n * sizeof *a->eps_x)));
}

/* How many plain contacts of one process are seen by three ranks and more. */
static int shared_by_three(const contact *one, const contact *c, int size)
{
    int shared = 0;
    for (size_t i = 0; i < one->pairs.n_plain; i++) {
        int seen = 0;
        for (int k = 0; k < size; k++)
            for (size_t j = 0; j < c[k].own.n_plain; j++)
                seen += c[k].own.kind[j] == one->pairs.kind[i] &&
                        !memcmp(c[k].own.vert[j], one->pairs.vert[i], sizeof *one->pairs.vert);
        shared += seen >= 3;
    }
    return shared;
}

TEST(candidates_contacts_bounds_and_paths_of_ranks_are_those_of_one_process)
{
    int shared = 0, idle = 0, bent = 0;
    for (uint64_t seed = 0; seed < 5; seed++) {
        const int cells[] = { 1, 4, 7, 9, 6 };
        sheets s = sheets_make(seed, 2 + (int)seed % 3, cells[seed], 0.04, seed == 3 ? 0 : 0.3, 0.03);
        s.dhat = 0.06;
        CHECK(sheets_init(&s));
        contact one = { .s = &s, .at = 0.001 };
        touch(NULL, &one);
        for (int size = 1; size <= RANKS_MOST; size++) {
            contact c[RANKS_MOST];
            void *ctx[RANKS_MOST];
            for (int k = 0; k < size; k++) c[k] = (contact){ .s = &s, .at = 0.001 }, ctx[k] = &c[k];
            (void)on_ranks(size, touch, ctx);
            CHECK(same_candidates(&one, c, size));
            for (int k = 0; k < size; k++) {
                CHECK(same_pairs(&one.pairs, &c[k].pairs));
                CHECK(c[k].lim.alpha == one.lim.alpha && c[k].lim.kind == one.lim.kind);
                CHECK(!memcmp(c[k].lim.node, one.lim.node, sizeof one.lim.node));
                CHECK(c[k].leaps == one.leaps && c[k].shortened == one.shortened);
                idle += !abut_candidates_count(&c[k].cand);
            }
            shared += shared_by_three(&one, c, size);
            for (int k = 0; k < size; k++) contact_drop(&c[k]);
        }
        bent += one.shortened > 2;
        CHECK(one.pairs.n > 0 && one.lim.alpha < 1);
        contact_drop(&one);
        sheets_free(&s);
    }
    CHECK(shared > 10);     /* contacts of three ranks, */
    CHECK(idle > 5);        /* and ranks without any candidate */
    printf("# %d contacts seen by three ranks, %d ranks without candidates, %d bent paths\n", shared, idle, bent);
}

static void fail_there(const abut_ranks *r, void *ctx)
{
    contact *c = ctx;
    const sheets *s = c->s;
    abut_err late = { 0 };
    c->search.ranks = r;
    c->lim = (abut_limit){ .alpha = 1 };
    CHECK(!abut_candidates_again(&s->cm, s->X, s->y1, s->dhat, NULL, &c->search, &c->cand, &c->err));
    CHECK(abut_pairs_find(&s->cm, &c->cand, s->X, NULL, &c->pairs, &c->err) == ABUT_E_GEOM);
    CHECK(abut_limit_ccd(&s->cm, &c->cand, s->X, s->y1, 0.2, &c->lim, &late) == ABUT_E_GEOM);
}

TEST(what_touches_is_named_alike_by_all_ranks)
{
    sheets s = sheets_make(7, 3, 6, 0.04, 0.3, 0.01);
    CHECK(sheets_init(&s));
    memcpy(s.X + 3 * 60, s.X + 3 * 5, 3 * sizeof *s.X);     /* a vertex of one sheet at one of another */
    contact one = { .s = &s };
    fail_there(NULL, &one);
    for (int size = 2; size <= 5; size++) {
        contact c[RANKS_MOST];
        void *ctx[RANKS_MOST];
        for (int k = 0; k < size; k++) c[k] = (contact){ .s = &s }, ctx[k] = &c[k];
        (void)on_ranks(size, fail_there, ctx);
        for (int k = 0; k < size; k++) {
            CHECK(!strcmp(c[k].err.msg, one.err.msg));
            contact_drop(&c[k]);
        }
    }
    contact_drop(&one);
    sheets_free(&s);
}

/* ---- the objective and its matrix ---- */

enum { VECTORS = 5 };
typedef struct problem {
    const abut_model *model;
    const double *x, *b;    /* [3 nv]; [VECTORS][3 nv] */
    abut_search s;
    abut_newton_matrix A;
    abut_newton_solve solve;
    abut_solve_options user;
    double *y;              /* [VECTORS][3 nrow] A b by rows */
    size_t blocks;
    abut_err err;
} problem;

static void evaluate(const abut_ranks *r, void *ctx)
{
    problem *p = ctx;
    abut_report rep = { 0 };
    p->user = abut_solve_defaults;
    p->user.device.ranks = r;
    CHECK(!abut_search_init(&p->s, p->model, NULL, &p->user, &p->err));
    abut_objective *prob = &p->s.prob;
    memcpy(prob->xn, p->x, 3 * (size_t)p->model->nv * sizeof *p->x);
    memcpy(prob->xhat, p->model->X, 3 * (size_t)p->model->nv * sizeof *p->x);
    abut_objective_weigh(prob, abut_integrator_weights(p->model, ABUT_IMPLICIT_EULER));
    CHECK(prob->step.ranks == r);
    CHECK(!abut_objective_begin(prob, 0, &p->err));
    abut_objective_number(prob);
    abut_barrier_state_of(&prob->terms)->kappa = 1e3;
    abut_search_place(&p->s, p->x);
    CHECK(!abut_search_contacts(&p->s, &rep, &p->err));
    CHECK(!p->s.ops->points.evaluate(&p->s, &p->s.here, ABUT_HAS_ENERGY | ABUT_HAS_GRADIENT, &rep, &p->err));
    abut_direction_options opt = { .user = &p->user, .linear = &abut_linear_own };
    CHECK(!abut_newton_matrix_init(&p->A, prob, 0, &p->err));
    CHECK(!abut_newton_solve_init(&p->solve, prob, &opt, 0, &p->err));
    CHECK(!abut_newton_matrix_sum(&p->A, &p->solve.order, prob, &p->s.here, &rep, &p->err));
    const size_t n3 = 3 * (size_t)prob->nrow;
    p->y = malloc(VECTORS * n3 * sizeof *p->y);
    for (size_t k = 0; k < VECTORS; k++) {
        abut_bsr_multiply(&p->A.A, p->b + k * 3 * (size_t)p->model->nv, p->y + k * n3);
        abut_ranks_join(r, p->y + k * n3, (size_t)prob->nrow, 3 * sizeof *p->y);
    }
    p->blocks = p->A.A.nnz;
    abut_report_clear(&rep);
}

static void problem_drop(problem *p)
{
    abut_newton_solve_clear(&p->solve);
    abut_newton_matrix_clear(&p->A);
    abut_search_clear(&p->s);
    free(p->y);
}

TEST(energy_and_forces_of_ranks_have_the_bits_of_one_process_and_products_with_the_matrix_are_equal)
{
    fixture *f = fixture_new();
    world w;
    f->plane = 1;
    f->dhat = 0.02;
    fixture_box(f, 0, 0.01, 0, 1, 0.4, 1, 9, 5, 9, 0);
    fixture_box(f, 0.3, 0.42, 0.2, 1, 0.4, 1, 6, 3, 6, 0);
    fixture_box(f, 4, 0.015, 0, 1, 1, 1, 1, 1, 1, 0);
    world_open(&w, f, NULL);
    const size_t nv3 = 3 * (size_t)w.model.nv;
    double *x = malloc(nv3 * sizeof *x), *b = malloc(VECTORS * nv3 * sizeof *b);
    for (size_t i = 0; i < nv3; i++) x[i] = w.model.X[i] + 1e-3 * sin(13. * (double)i);
    for (size_t i = 0; i < VECTORS * nv3; i++) b[i] = sin(7. * (double)i);
    problem one = { .model = &w.model, .x = x, .b = b };
    evaluate(NULL, &one);
    const size_t n3 = 3 * (size_t)one.s.prob.nrow;
    double largest = 0;
    for (size_t i = 0; i < VECTORS * n3; i++) largest = fmax(largest, fabs(one.y[i]));
    CHECK(one.s.here.pairs.n > 20 && one.s.here.pairs.n_plane > 20 && one.s.here.e.sum < INFINITY);
    for (int size = 1; size <= 6; size++) {
        problem p[RANKS_MOST];
        void *ctx[RANKS_MOST];
        for (int k = 0; k < size; k++) p[k] = (problem){ .model = &w.model, .x = x, .b = b }, ctx[k] = &p[k];
        CHECK(on_ranks(size, evaluate, ctx) > 8);
        for (int k = 0; k < size; k++) {
            double off = 0;
            CHECK(p[k].s.here.e.sum == one.s.here.e.sum);
            CHECK(!memcmp(p[k].s.here.e.e, one.s.here.e.e, sizeof one.s.here.e.e));
            CHECK(!memcmp(p[k].s.here.g, one.s.here.g, nv3 * sizeof *one.s.here.g));
            for (size_t i = 0; i < VECTORS * n3; i++) off = fmax(off, fabs(p[k].y[i] - one.y[i]));
            CHECK(off <= 1e-14 * largest);
            CHECK(size == 1 || p[k].blocks < one.blocks * (size == 2 ? 0.8 : 0.7));
            problem_drop(&p[k]);
        }
    }
    problem_drop(&one);
    free(x), free(b);
    world_close(&w);
}

/* ---- parts of rows ---- */

typedef struct strong {
    const box_tets *box;
    const double *val;      /* packed, of the tets and then of `links` */
    size_t links;
    const int32_t *link;    /* [2 links] rows */
    abut_strong_parts parts;
    abut_err err;
} strong;

static void cut_strong(const abut_ranks *r, void *ctx)
{
    strong *s = ctx;
    const size_t nt = (size_t)s->box->nt;
    abut_elements sets[] = { { .name = "tets", .corners = 4, .n = nt, .row = s->box->tet, .val = s->val },
                             { .name = "links", .corners = 2, .n = s->links, .row = s->link, .val = s->val + 90 * nt } };
    abut_owned_elements own = { 0 };
    abut_bsr A = { 0 };
    double *diag = calloc((size_t)s->box->nv, sizeof *diag);
    if (r) CHECK(!abut_owned_elements_take(&own, r, s->box->nv, sets, 2, &s->err));
    CHECK(!abut_bsr_pattern(&A, s->box->nv, sets, 2, &s->err));
    abut_bsr_assemble(&A, diag, sets, 2);
    CHECK(!abut_strong_parts_cut(&s->parts, &(abut_operator){ .matrix = &A, .ranks = r }, &s->err));
    abut_bsr_clear(&A);
    abut_owned_elements_clear(&own);
    free(diag);
}

/* Links that lead from one part of rows to another. */
static size_t links_between(const strong *s)
{
    size_t n = 0;
    int32_t *of = malloc((size_t)s->box->nv * sizeof *of);
    for (int32_t p = 0; p < s->parts.k; p++)
        for (int32_t i = s->parts.first[p]; i < s->parts.first[p + 1]; i++) of[s->parts.row[i]] = p;
    for (size_t k = 0; k < s->links; k++) n += of[s->link[2 * k]] != of[s->link[2 * k + 1]];
    free(of);
    return n;
}

TEST(parts_of_rows_are_those_of_one_process_have_each_row_once_and_are_not_cut_where_rows_are_joined_firmly)
{
    enum { LINKS = 150 };
    box_tets box = box_tets_make(15, 9, 15, 1);
    const size_t nt = (size_t)box.nt;
    double *val = calloc(90 * nt + 27 * LINKS, sizeof *val);
    int32_t link[2 * LINKS];
    memcpy(val, box.val, 90 * nt * sizeof *val);
    for (int32_t k = 0; k < LINKS; k++) link[2 * k] = k, link[2 * k + 1] = box.nv - 1 - 3 * k;    /* far from each other */
    size_t between[2];
    for (int firm = 0; firm < 2; firm++) {
        const double stiff = firm ? 1e4 : 1e-9;
        for (size_t k = 0; k < LINKS; k++)
            for (size_t d = 0; d < 3; d++) {
                double *b = val + 90 * nt + 27 * k + 4 * d;
                b[0] = b[18] = stiff, b[9] = -stiff;
            }
        strong one = { .box = &box, .val = val, .links = LINKS, .link = link };
        cut_strong(NULL, &one);
        CHECK(one.parts.n == box.nv && one.parts.k == (box.nv + 199) / 200 && one.parts.first[one.parts.k] == box.nv);
        char *seen = calloc((size_t)box.nv, 1);
        int right = 1;
        for (int32_t p = 0; p < one.parts.k; p++)
            for (int32_t i = one.parts.first[p]; i < one.parts.first[p + 1]; i++) {
                right &= !seen[one.parts.row[i]] && (i == one.parts.first[p] || one.parts.row[i] > one.parts.row[i - 1]);
                seen[one.parts.row[i]] = 1;
            }
        CHECK(right);
        free(seen);
        between[firm] = links_between(&one);
        for (int size = 1; size <= 5; size++) {
            strong s[RANKS_MOST];
            void *ctx[RANKS_MOST];
            for (int k = 0; k < size; k++) {
                s[k] = (strong){ .box = &box, .val = val, .links = LINKS, .link = link };
                ctx[k] = &s[k];
            }
            (void)on_ranks(size, cut_strong, ctx);
            for (int k = 0; k < size; k++) {
                CHECK(s[k].parts.k == one.parts.k);
                CHECK(!memcmp(s[k].parts.first, one.parts.first, ((size_t)one.parts.k + 1) * sizeof *one.parts.first));
                CHECK(!memcmp(s[k].parts.row, one.parts.row, (size_t)box.nv * sizeof *one.parts.row));
                abut_strong_parts_clear(&s[k].parts);
            }
        }
        abut_strong_parts_clear(&one.parts);
    }
    printf("# of %d links between parts: %zu weak ones, %zu firm ones\n", LINKS, between[0], between[1]);
    CHECK(between[0] > LINKS / 2 && between[1] < LINKS / 15);
    free(val);
    box_tets_free(&box);
}
