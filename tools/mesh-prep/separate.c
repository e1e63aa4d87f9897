#include "tools/mesh-prep/separate.h"

#include "base/words.h"
#include "contact/candidates.h"
#include "contact/start_check.h"
#include "model/naming.h"
#include "model/tets.h"
#include "repair/separate.h"
#include "energy/stretch.h"
#include "formats/scene/tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct job {
    const abut_arrays *set;
    abut_collmesh cm;
    double *x, *y;          /* [3 nv] repaired positions, [3 nc] collision vertices at the start */
    abut_separate_report report;
} job;

/* A length on the command line is written as in a scene. */
static abut_status length(abut_arena *arena, const char *option, const char *text, double *value, int *per_length, abut_err *err)
{
    const abut_tree *t = abut_tree_new(arena, ABUT_TREE_TEXT, option, 0, 0, text);
    if (!t) return abut_fail(err, ABUT_E_NOMEM, "no memory for %s", option);
    const abut_status rc = abut_tree_positive(t, "the length", ABUT_Q_LENGTH_OR_L, value, per_length, err);
    return rc ? err->code = ABUT_E_ARG : ABUT_OK;
}

abut_status abut_prep_separate_parse(abut_prep_separate *s, abut_arena *arena, abut_err *err)
{
    if (s->max_move && !s->gap)
        return abut_fail(err, ABUT_E_ARG, "--max-move %s: it limits --separate, which is not given", s->max_move);
    abut_status rc = ABUT_OK;
    if (s->gap) rc = length(arena, "--separate", s->gap, &s->gap_value, &s->gap_per_length, err);
    if (s->max_move && !rc) rc = length(arena, "--max-move", s->max_move, &s->move_value, &s->move_per_length, err);
    return rc;
}

/* -- what is left ------------------------------------------------------------------------------------------------- */

static void gather(const job *j, const int32_t *v, int n, double *x)
{
    for (int k = 0; k < n; k++) memcpy(x + 3 * k, j->y + 3 * (size_t)v[k], 3 * sizeof *x);
}

/* Two primitives of a and b vertices, where they are at the start. */
static abut_status name_two(const job *j, const abut_left *l, const int32_t *va, int a, const int32_t *vb, int b,
                            abut_offenders *bad, abut_err *err)
{
    char one[ABUT_PRIMITIVE_NAME], other[ABUT_PRIMITIVE_NAME];
    double x[18];
    abut_primitive_name(&j->cm, j->set, j->y, va, a, one);
    abut_primitive_name(&j->cm, j->set, j->y, vb, b, other);
    gather(j, va, a, x);
    gather(j, vb, b, x + 3 * a);
    if (l->kind == ABUT_LEFT_INTERSECTION) return abut_offenders_add(bad, a, b, x, err, "%s still crosses %s", one, other);
    return abut_offenders_add(bad, a, b, x, err, "%s is %.3g m too near to %s", one, l->lacking, other);
}

static abut_status name_plane(const job *j, const abut_left *l, abut_offenders *bad, abut_err *err)
{
    char one[ABUT_PRIMITIVE_NAME], name[64];
    abut_primitive_name(&j->cm, j->set, j->y, l->id, 1, one);
    abut_text_row(j->set, "half-space/name", l->id[1], name, sizeof name);
    return abut_offenders_add(bad, 1, 0, j->y + 3 * (size_t)l->id[0], err, "%s is %.3g m too near to half-space '%s'", one,
                              l->lacking, name);
}

/* A node that would have to go too far, or a tet that collapses. */
static abut_status name_inside(const job *j, const abut_left *l, const double *x0, abut_offenders *bad, abut_err *err)
{
    const abut_model *m = j->cm.model;
    const int tet = l->kind == ABUT_LEFT_TET;
    const int32_t *node = tet ? m->tet + 4 * (size_t)l->id[0] : l->id;
    char object[64];
    double x[12];
    for (int k = 0; k < (tet ? 4 : 1); k++) memcpy(x + 3 * k, x0 + 3 * (size_t)node[k], 3 * sizeof *x);
    abut_text_row(j->set, "object/name", m->body[node[0]], object, sizeof object);
    if (tet)
        return abut_offenders_add(bad, 4, 0, x, err, "tet %d of '%s' (nodes %d, %d, %d, %d) would have no volume",
                                  abut_element_number(m, m->tet, 4, l->id[0]), object, abut_node_number(m, node[0]),
                                  abut_node_number(m, node[1]), abut_node_number(m, node[2]), abut_node_number(m, node[3]));
    return abut_offenders_add(bad, 1, 0, x, err,
                              "node %d of '%s' at (%.6g, %.6g, %.6g) would have to move %.3g m beyond the limit",
                              abut_node_number(m, node[0]), object, x[0], x[1], x[2], l->lacking);
}

static abut_status name_pair(const job *j, const abut_left *l, abut_stencil kind, abut_offenders *bad, abut_err *err)
{
    const int32_t *va, *vb;
    const int a = abut_candidate_first(&j->cm, kind, l->id, &va), b = abut_candidate_second(&j->cm, kind, l->id, &vb);
    return name_two(j, l, va, a, vb, b, bad, err);
}

static abut_status name_left(const job *j, const double *x0, abut_offenders *bad, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int i = 0; i < j->report.n_left && !rc; i++) {
        const abut_left *l = &j->report.left[i];
        const abut_collmesh *cm = &j->cm;
        switch (l->kind) {
        case ABUT_LEFT_INTERSECTION:
            rc = name_two(j, l, cm->edge + 2 * (size_t)l->id[0], 2, cm->tri + 3 * (size_t)l->id[1], 3, bad, err);
            break;
        case ABUT_LEFT_VT: rc = name_pair(j, l, ABUT_PT, bad, err); break;
        case ABUT_LEFT_EE: rc = name_pair(j, l, ABUT_EE, bad, err); break;
        case ABUT_LEFT_VE: rc = name_pair(j, l, ABUT_PE, bad, err); break;
        case ABUT_LEFT_VV: rc = name_pair(j, l, ABUT_PP, bad, err); break;
        case ABUT_LEFT_PLANE: rc = name_plane(j, l, bad, err); break;
        case ABUT_LEFT_TET: case ABUT_LEFT_MOVE: rc = name_inside(j, l, x0, bad, err); break;
        }
    }
    return rc;
}

/* -- the whole ---------------------------------------------------------------------------------------------------- */

/* "0 m", or that nothing is so near. */
static const char *gap_text(double gap, double asked, char *buf, size_t size)
{
    if (isfinite(gap)) snprintf(buf, size, "%.9g m", gap);
    else snprintf(buf, size, "at least %.9g m", asked);
    return buf;
}

static void say(const job *j, abut_cli *cli, double asked)
{
    const abut_separate_report *r = &j->report;
    char asked_text[48], before[48], after[48], object[64] = "", who[96] = "no node moved";
    abut_cli_say(cli, "separate: %s asked for; %zu crossing%s -> %zu; gap %s -> %s; residual %.3g m; %d round%s",
                 gap_text(asked, asked, asked_text, sizeof asked_text), r->intersections_start, abut_s(r->intersections_start),
                 r->intersections_end, gap_text(r->gap_start, asked, before, sizeof before),
                 gap_text(r->gap_end, asked, after, sizeof after), r->residual, r->rounds, abut_s(r->rounds));
    if (r->move_node >= 0) {
        abut_text_row(j->set, "object/name", j->cm.model->body[r->move_node], object, sizeof object);
        snprintf(who, sizeof who, "node %d of '%s'", abut_node_number(j->cm.model, r->move_node), object);
    }
    abut_cli_say(cli, "separate: largest move %.6g m (%s), limit %.6g m; rms %.6g m", r->move_max, who, r->limit, r->move_rms);
}

/* Shells that were parted beyond their bounds. */
static abut_status check_shells(const job *j, abut_offenders *bad, abut_err *err)
{
    const abut_model *m = j->cm.model;
    abut_codim codim;
    abut_codim_excess e;
    abut_status rc = abut_codim_init(&codim, m, err);
    if (rc || !abut_codim_outside(&codim, j->x, &e)) {
        abut_codim_clear(&codim);
        return rc;
    }
    const int32_t *v = m->shell + 3 * (size_t)e.shell;
    char object[64];
    double x[9];
    for (int k = 0; k < 3; k++) memcpy(x + 3 * k, j->x + 3 * (size_t)v[k], 3 * sizeof *x);
    abut_text_row(j->set, "object/name", m->body[v[0]], object, sizeof object);
    rc = abut_offenders_add(bad, 3, 0, x, err, "shell %d of '%s' (nodes %d, %d, %d) would have a %s of %.9g",
                            abut_element_number(m, m->shell, 3, e.shell), object, abut_node_number(m, v[0]),
                            abut_node_number(m, v[1]), abut_node_number(m, v[2]), e.what, e.value);
    abut_codim_clear(&codim);
    return rc ? rc : abut_fail(err, ABUT_E_GEOM, "--separate: a shell is brought to a bound of its own: expected %s %.9g",
                               e.below ? "more than" : "less than", e.limit);
}

static abut_status run(const abut_prep_separate *s, job *j, abut_cli *cli, const double *x0, abut_offenders *bad, abut_err *err)
{
    const abut_model *m = j->cm.model;
    const double l = *m->length;
    abut_separate_opts o = abut_separate_defaults(m, s->gap_value * (s->gap_per_length ? l : 1));
    if (s->max_move) o.max_move = s->move_value * (s->move_per_length ? l : 1);
    j->x = malloc((3 * (size_t)m->nv + 1) * sizeof *j->x);
    j->y = malloc((3 * (size_t)m->nc + 1) * sizeof *j->y);
    if (!j->x || !j->y) return abut_fail(err, ABUT_E_NOMEM, "--separate: no memory for %d nodes", m->nv);
    abut_collmesh_positions(&j->cm, x0, j->y);
    abut_status rc = abut_separate(&j->cm, x0, &o, j->x, &j->report, err);
    if (rc) return rc;
    say(j, cli, o.gap);
    if (j->report.done) return check_shells(j, bad, err);
    char text[480];
    const int is_short = abut_start_short_edge(&j->cm, j->set, j->y, text, sizeof text);
    rc = name_left(j, x0, bad, err);
    return rc ? rc
              : abut_fail(err, ABUT_E_GEOM,
                          "--separate: %zu crossing%s left, residual %.3g m of a gap of %.3g m, largest move %.3g m; expected "
                          "none, 0, and at most %.3g m%s%s",
                          j->report.intersections_end, abut_s(j->report.intersections_end), j->report.residual, o.gap,
                          j->report.move_max, o.max_move, is_short ? "; " : "", text);
}

abut_status abut_prep_separate_run(const abut_prep_separate *s, abut_cli *cli, const abut_arrays *model, abut_arrays *frame,
                                   abut_offenders *bad, abut_err *err)
{
    abut_model m;
    abut_frame f;
    job j = { .set = model };
    abut_status rc = abut_model_view(model, &m, err);
    if (!rc) rc = abut_frame_view(frame, &m, &f, err);
    if (!rc) rc = abut_linear_tets(&m, "--separate", err);
    if (!rc) rc = abut_collmesh_init(&j.cm, &m, err);
    if (!rc) rc = run(s, &j, cli, f.x, bad, err);
    if (!rc) memcpy(abut_arrays_find(frame, "node/x")->data, j.x, 3 * (size_t)m.nv * sizeof *j.x);
    abut_collmesh_clear(&j.cm);
    free(j.x), free(j.y);
    return rc;
}
