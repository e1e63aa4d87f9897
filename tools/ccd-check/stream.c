#include "model/model.h"
#include "base/words.h"
#include "model/naming.h"
#include "tools/cli/stream.h"
#include "tools/ccd-check/modes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
        if (s->item == ABUT_ITEM_MODEL)
            rc = new_model(j, s, err);
        else if (!abut_verdict_done(j->v))
            rc = judge_frame(j, s, err);
        else
            j->v->not_judged++;
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
