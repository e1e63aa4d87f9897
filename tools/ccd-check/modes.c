/* Inputs of ccd-check: the frames of a stream, meshes, queries. */
#include "tools/ccd-check/verdict.h"

#include "base/order.h"
#include "base/timer.h"
#include "base/words.h"
#include "formats/mesh/ccd_csv.h"
#include "formats/mesh/mesh_io.h"
#include "model/model.h"
#include "model/naming.h"
#include "tools/cli/cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a state stream ---- */

/* The judge between two items of a stream */
typedef struct judge {
    abut_verdict *v;
    abut_judge_shape shape;
    double *x;              /* [3 shape.nv] points of the last committed frame of this MODEL; NULL before the first */
    double *here, *leg[2];  /* the same of the frame judged now, and of positions on its path; where points are more than nodes */
    abut_place at;
    abut_hits hits;
} judge;

static void forget(judge *j)
{
    abut_judge_shape_clear(&j->shape);
    free(j->x), free(j->here), free(j->leg[0]), free(j->leg[1]);
    j->x = j->here = j->leg[0] = j->leg[1] = NULL;
}

static abut_status make_room(judge *j, abut_err *err)
{
    const size_t bytes = 3 * (size_t)j->shape.nv * sizeof(double) + 1;
    if (!j->shape.map) return ABUT_OK;
    j->here = malloc(bytes), j->leg[0] = malloc(bytes), j->leg[1] = malloc(bytes);
    if (j->here && j->leg[0] && j->leg[1]) return ABUT_OK;
    return abut_fail(err, ABUT_E_NOMEM, "positions of %d points", j->shape.nv);
}

static abut_status new_model(judge *j, const abut_stream *s, abut_err *err)
{
    forget(j);
    abut_status rc = abut_contact_check(&s->model, 0, err);
    if (rc) return abut_wrap(err, "%s: MODEL", s->io.in_name), rc;
    rc = abut_judge_shape_model(&j->shape, &s->model, err);
    if (!rc) rc = make_room(j, err);
    if (!rc) rc = abut_verdict_model(j->v, &s->model, err);
    j->v->contact_off |= !rc && !j->shape.vert.n;
    j->v->bodies_pass |= !rc && j->shape.bodies_pass;
    if (!rc && s->model.nex > j->v->excluded) j->v->excluded = s->model.nex;
    return rc;
}

static abut_status report(judge *j, abut_place from, abut_place to, const double *x0, const double *x1, abut_err *err)
{
    const abut_status rc = abut_verdict_add(j->v, &j->hits, from, to, x0, x1, err);
    j->hits.n = j->hits.pairs = 0;
    return rc;
}

static abut_status judge_alone(judge *j, const double *x, abut_place here, abut_err *err)
{
    abut_status rc = abut_judge_static(&j->shape, x, &j->hits, err);
    if (!rc) rc = abut_judge_near(&j->shape, x, &j->v->opts, &j->hits, err);
    return rc ? rc : report(j, here, here, x, x, err);
}

/* Tets of a frame: an inverted one is a finding where its material forbids it, unless its path here was judged, and
 * counted where it does not */
static abut_status judge_tets(judge *j, const double *x, abut_place here, int came, abut_err *err)
{
    j->hits.n = j->hits.pairs = 0;
    abut_status rc = abut_judge_inverted(&j->shape, x, 0, &j->hits, err);
    const size_t inverted = j->hits.n;
    j->hits.n = 0;
    if (!rc && inverted) rc = abut_judge_inverted(&j->shape, x, 1, &j->hits, err);
    j->v->inverted_allowed += (int64_t)(inverted - j->hits.n);
    if (came) j->hits.n = 0;
    return rc ? rc : report(j, here, here, x, x, err);
}

/* the straight motion from the last frame to this one, or the polyline that this one says it took */
static abut_status judge_path(judge *j, const abut_stream *s, const double *x, abut_place here, abut_err *err)
{
    const double *from = j->x;
    const int64_t n = j->v->path == ABUT_PATH_STRAIGHT ? 0 : s->frame.nw / s->frame.nv;
    abut_status rc = ABUT_OK;
    for (int64_t i = 0; !rc && i <= n && !abut_verdict_done(j->v); i++) {
        const double *to = x;
        const double *point = i < n ? s->frame.waypoints + 3 * (size_t)s->model.nv * (size_t)i : NULL;
        if (point) rc = abut_judge_points(&j->shape, point, j->leg[i % 2], &to, err);
        if (rc) return rc;
        abut_place leg[2] = { j->at, here };
        if (n) leg[0].leg = leg[1].leg = i + 1;
        rc = abut_judge_motion(&j->shape, from, to, &j->v->opts, &j->hits, err);
        if (!rc) rc = abut_judge_inverting(&j->shape, from, to, 1, &j->hits, err);
        if (!rc) rc = report(j, leg[0], leg[1], from, to, err);
        j->v->motions++;
        from = to;
    }
    return rc;
}

/* the smallest gap of this frame, when it is smaller than those before */
static abut_status measure_gap(judge *j, const abut_stream *s, const double *x, abut_place here, abut_err *err)
{
    abut_judge_gap gap;
    const abut_status rc = abut_judge_smallest_gap(&j->shape, x, s->model.dhat[0], &j->v->opts, &gap, err);
    if (rc || !(gap.gap < j->v->gap.gap)) return rc;
    j->v->gap = gap;
    j->v->gap_at = here;
    if (isfinite(gap.gap)) j->v->gap_found = abut_finding_make(j->v, &gap.at, here, here, x, x);
    return ABUT_OK;
}

/* how deep the true boundary of curved tets is in something, when deeper than before */
static abut_status measure_depth(judge *j, const abut_stream *s, const double *x, abut_place here, abut_err *err)
{
    const abut_model *m = &s->model;
    abut_verdict *v = j->v;
    abut_boundary_depth d;
    char one[ABUT_OBJECT_WORDS], two[ABUT_OBJECT_WORDS];
    const abut_status rc = abut_judge_boundary(m, x, j->shape.map ? x + 3 * (size_t)m->nv : NULL, v->curved, &d, err);
    if (rc || (v->deepest.samples && !(d.depth > v->deepest.depth))) return rc;
    v->deepest = d;
    v->deepest_at = here;
    if (d.tet < 0) return ABUT_OK;
    if (d.plane >= 0) abut_half_space_words(m, d.plane, two);
    else abut_object_words(m, d.object, two);
    snprintf(v->deepest_words, sizeof v->deepest_words, "tet %d of %s in %s", v->tet_number[d.tet],
             abut_object_words(m, m->body[m->tet[4 * (size_t)d.tet]], one), two);
    return ABUT_OK;
}

static abut_status judge_frame(judge *j, const abut_stream *s, abut_err *err)
{
    const int pending = s->head.phase == ABUT_PENDING, came = j->x && j->v->path != ABUT_PATH_NONE;
    const abut_place here = { s->head.step, s->head.time, NULL, 0, pending };
    const size_t bytes = 3 * (size_t)j->shape.nv * sizeof(double);
    const int alone = !j->v->motion_only;
    const double *x;
    abut_status rc = abut_judge_points(&j->shape, s->frame.x, j->here, &x, err);
    if (!rc) rc = came ? judge_path(j, s, x, here, err) : alone ? judge_alone(j, x, here, err) : ABUT_OK;
    if (!rc && alone && !abut_verdict_done(j->v)) rc = judge_tets(j, x, here, came, err);
    if (!rc && j->v->want_gap) rc = measure_gap(j, s, x, here, err);
    if (!rc && j->v->curved) rc = measure_depth(j, s, x, here, err);
    if (rc) return abut_wrap(err, "step %lld", (long long)here.step);
    j->v->frames += alone;
    j->v->pending += pending && alone;
    if (!pending) {     /* a candidate is left behind: the next frame comes from where the step began */
        if (!j->x && !(j->x = malloc(bytes + 1))) return abut_fail(err, ABUT_E_NOMEM, "positions of %d points", j->shape.nv);
        memcpy(j->x, x, bytes);
        j->at = here;
    }
    abut_cli_progress(j->v->cli, "step %lld, %zu pair%s, %zu collision%s", (long long)here.step, j->v->pairs, abut_s(j->v->pairs),
                      j->v->collisions, abut_s(j->v->collisions));
    return ABUT_OK;
}

static abut_status judge_all(judge *j, abut_stream *s, abut_err *err)
{
    for (;;) {
        abut_status rc = abut_stream_next(s, err);
        if (rc) return rc;
        if (s->item == ABUT_ITEM_END) return abut_stream_close(s, err);
        if (s->item == ABUT_ITEM_MODEL) rc = new_model(j, s, err);
        else if (!abut_verdict_done(j->v)) rc = judge_frame(j, s, err);
        else j->v->not_judged++;
        if (!rc) rc = abut_stream_write(s, err);
        if (rc) return rc;
    }
}

abut_status abut_judge_stream(abut_verdict *v, const char *options, abut_err *err)
{
    abut_stream s = { 0 };
    judge j = { .v = v };
    abut_status rc = abut_stream_open(&s, v->cli, options, err);
    if (!rc) rc = judge_all(&j, &s, err);
    abut_stream_clear(&s);
    forget(&j);
    abut_hits_clear(&j.hits);
    return rc;
}

/* ---- mesh files ---- */

static int by_corners(const void *a, const void *b) { return abut_compare(a, b, 5); }

/* Elements of k corners in an order of their own: corners ascending, then whether that flipped a tet; rows ascending. */
static int32_t (*in_order(const int32_t *element, int32_t n, int k))[5]
{
    int32_t(*row)[5] = calloc((size_t)n + 1, sizeof *row);
    for (int32_t i = 0; row && i < n; i++) {
        int32_t *r = row[i], swaps = 0;
        memcpy(r, element + (size_t)k * (size_t)i, (size_t)k * sizeof *r);
        for (int a = 1; a < k; a++)
            for (int b = a; b > 0 && r[b - 1] > r[b]; b--, swaps++) {
                const int32_t keep = r[b];
                r[b] = r[b - 1];
                r[b - 1] = keep;
            }
        if (k == 4) r[4] = swaps % 2;
    }
    if (row) qsort(row, (size_t)n, sizeof *row, by_corners);
    return row;
}

/* 1 if a and b list equal elements, in any order, from any first corner, triangles from either side; 0 if not; -1: no memory. */
static int same(const int32_t *a, int32_t na, const int32_t *b, int32_t nb, int k)
{
    if (na != nb) return 0;
    if (na == 0 || !memcmp(a, b, (size_t)na * (size_t)k * sizeof *a)) return 1;
    int32_t(*ra)[5] = in_order(a, na, k), (*rb)[5] = in_order(b, nb, k);
    const int equal = ra && rb ? !memcmp(ra, rb, (size_t)na * sizeof *ra) : -1;
    ABUT_FREE(ra, rb);
    return equal;
}

/* motions need the same elements on the same points; those of the first file are judged */
static abut_status same_elements(const abut_mesh *a, const abut_mesh *b, const char *pa, const char *pb, abut_err *err)
{
    if (a->nv != b->nv)
        return abut_fail(err, ABUT_E_FORMAT, "%s has %d point%s, %s has %d: not one mesh in motion", pa, a->nv, abut_s(a->nv), pb,
                         b->nv);
    const int equal[4] = { same(a->tet, a->nt, b->tet, b->nt, 4), same(a->tri, a->nf, b->tri, b->nf, 3),
                           same(a->seg, a->ns, b->seg, b->ns, 2), same(a->point, a->np, b->point, b->np, 1) };
    for (int k = 0; k < 4; k++)
        if (equal[k] < 0) return abut_fail(err, ABUT_E_NOMEM, "%s: no memory to compare its elements", pb);
    if (equal[0] && equal[1] && equal[2] && equal[3]) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT, "%s and %s differ in their elements: not one mesh in motion", pa, pb);
}

static abut_status load(const char *path, abut_mesh *m, abut_err *err)
{
    abut_status rc = abut_mesh_load(path, m, err);
    if (!rc) rc = abut_mesh_check(m, err);
    if (!rc) rc = abut_mesh_drop_markers(m, err);
    return rc;
}

static abut_status judge_mesh(abut_verdict *v, const abut_judge_shape *s, const abut_mesh *m, const char *path,
                               abut_hits *hits, abut_err *err)
{
    const abut_place here = { .file = path };
    abut_status rc = abut_judge_static(s, m->x, hits, err);
    if (!rc) rc = abut_judge_near(s, m->x, &v->opts, hits, err);
    if (!rc) rc = abut_judge_inverted(s, m->x, 0, hits, err);
    if (!rc) rc = abut_judge_flat(s, m->x, hits, err);
    v->frames++;
    return rc ? rc : abut_verdict_add(v, hits, here, here, m->x, m->x, err);
}

static abut_status judge_motion(abut_verdict *v, const abut_judge_shape *s, const abut_mesh m[2], const char *const *path,
                                abut_hits *hits, abut_err *err)
{
    const abut_place from = { .file = path[0] }, to = { .file = path[1] };
    abut_status rc = same_elements(&m[0], &m[1], path[0], path[1], err);
    if (!rc) rc = abut_judge_motion(s, m[0].x, m[1].x, &v->opts, hits, err);
    if (!rc && !v->motion_only) rc = abut_judge_inverting(s, m[0].x, m[1].x, 0, hits, err);
    if (rc) return rc;
    v->motions++;
    v->frames += !v->motion_only;
    rc = abut_verdict_add(v, hits, from, to, m[0].x, m[1].x, err);
    hits->n = hits->pairs = 0;
    return rc;
}

abut_status abut_judge_meshes(abut_verdict *v, const char *const *files, int n, int apart, abut_err *err)
{
    abut_mesh m[2] = { { 0 }, { 0 } };   /* the last one and this one */
    abut_judge_shape shape = { 0 };
    abut_hits hits = { 0 };
    abut_status rc = ABUT_OK;
    for (int i = 0; i < n && !rc && !abut_verdict_done(v); i++) {
        abut_cli_progress(v->cli, "%s, %zu pair%s, %zu collision%s", files[i], v->pairs, abut_s(v->pairs), v->collisions,
                          abut_s(v->collisions));
        abut_mesh_clear(&m[0]);
        m[0] = m[1];
        m[1] = (abut_mesh){ 0 };
        rc = load(files[i], &m[1], err);
        if (!rc && (i == 0 || apart)) {
            abut_judge_shape_clear(&shape);
            rc = abut_judge_shape_mesh(&shape, &m[1], err);
            if (!rc && !v->motion_only) rc = judge_mesh(v, &shape, &m[1], files[i], &hits, err);
        } else if (!rc) {
            rc = judge_motion(v, &shape, m, files + i - 1, &hits, err);
        }
    }
    abut_hits_clear(&hits);
    abut_judge_shape_clear(&shape);
    abut_mesh_clear(&m[0]);
    abut_mesh_clear(&m[1]);
    return rc;
}

/* ---- queries ---- */

enum { BATCH = 1024 };

static int kind_of(const char *path)
{
    if (strstr(path, "edge-edge")) return ABUT_EE;
    return strstr(path, "vertex-face") ? ABUT_PT : -1;
}

/* the queries of a file in batches, so that the clock runs over the method alone */
static abut_status read_batch(abut_ccd_csv *csv, abut_ccd_query *q, int *n, abut_err *err)
{
    int more = 1;
    for (*n = 0; *n < BATCH; ++*n) {
        const abut_status rc = abut_ccd_csv_next(csv, &q[*n], &more, err);
        if (rc || !more) return rc;
    }
    return ABUT_OK;
}

static abut_status judge_file(const abut_judge_opts *o, const char *path, abut_stencil kind, abut_ccd_query *q,
                              abut_score *score, abut_arena *scratch, abut_err *err)
{
    abut_ccd_csv csv = { fopen(path, "r"), path, 0 };
    if (!csv.f) return abut_fail(err, abut_open_status(errno), "%s: %s", path, strerror(errno));
    int n = BATCH;
    abut_status rc = ABUT_OK;
    while (!rc && n == BATCH) {
        int answer[BATCH];
        if ((rc = read_batch(&csv, q, &n, err))) break;
        const double start = abut_time_cpu();
        for (int i = 0; i < n; i++) answer[i] = abut_judge_pair(kind, q[i].x0, q[i].x1, o, scratch);
        score->seconds += abut_time_cpu() - start;
        for (int i = 0; i < n; i++) {
            score->hits += answer[i] && q[i].truth;
            score->clears += !answer[i] && !q[i].truth;
            score->false_hits += answer[i] && !q[i].truth;
            score->false_clears += !answer[i] && q[i].truth;
        }
    }
    fclose(csv.f);
    return rc;
}

abut_status abut_judge_queries(const abut_judge_opts *o, const char *const *files, int n, int kind, abut_score *score,
                               abut_err *err)
{
    abut_arena scratch = { 0 };
    abut_ccd_query *q = malloc(BATCH * sizeof *q);
    abut_status rc = q ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "%d queries", (int)BATCH);
    for (int i = 0; !rc && i < n; i++) {
        const int k = kind < 0 ? kind_of(files[i]) : kind;
        if (k < 0)
            rc = abut_fail(err, ABUT_E_ARG, "%s: the path holds neither edge-edge nor vertex-face: say --kind", files[i]);
        else rc = judge_file(o, files[i], (abut_stencil)k, q, score, &scratch, err);
    }
    abut_arena_clear(&scratch);
    free(q);
    return rc;
}
