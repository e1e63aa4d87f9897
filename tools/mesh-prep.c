/* mesh-prep: a scene or mesh files -> MODEL and first FRAME; refuses what cannot be simulated, and names it. */
#include "base/words.h"
#include "contact/candidates.h"
#include "contact/start_check.h"
#include "energy/stretch.h"
#include "formats/result/out_file.h"
#include "formats/scene/scene_read.h"
#include "formats/scene/tree.h"
#include "formats/stream/state_io.h"
#include "math/vec3.h"
#include "mesh/tetra.h"
#include "model/model.h"
#include "model/naming.h"
#include "model/tets.h"
#include "repair/separate.h"
#include "scene/advice.h"
#include "scene/build.h"
#include "scene/scene.h"
#include "solve/options.h"
#include "solve/solvers.h"
#include "tools/cli/cli.h"
#include "tools/mesh-prep/source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- --separate: the initial state moved to one without intersections ----------------------------------------------- */

/* The two options as given: numbers with their unit; NULL: not given. */
typedef struct separation {
    const char *gap, *max_move;
    double gap_value, move_value;   /* m, or in units of l */
    int gap_per_length, move_per_length;
} separation;

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

/* Understands the numbers.  Fails  ABUT_E_ARG naming the option and what was expected */
static abut_status separation_parse(separation *s, abut_arena *arena, abut_err *err)
{
    if (s->max_move && !s->gap)
        return abut_fail(err, ABUT_E_ARG, "--max-move %s: it limits --separate, which is not given", s->max_move);
    abut_status rc = ABUT_OK;
    if (s->gap) rc = length(arena, "--separate", s->gap, &s->gap_value, &s->gap_per_length, err);
    if (s->max_move && !rc) rc = length(arena, "--max-move", s->max_move, &s->move_value, &s->move_per_length, err);
    return rc;
}

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

/* "0 m", or that nothing is so near. */
static const char *gap_text(double gap, double asked, char *buf, size_t size)
{
    if (isfinite(gap)) snprintf(buf, size, "%.9g m", gap);
    else snprintf(buf, size, "at least %.9g m", asked);
    return buf;
}

static void say_moves(const job *j, abut_cli *cli, double asked)
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

static abut_status separate(const separation *s, job *j, abut_cli *cli, const double *x0, abut_offenders *bad, abut_err *err)
{
    const abut_model *m = j->cm.model;
    const double l = *m->length;
    abut_separate_opts o = abut_separate_defaults(m, s->gap_value * (s->gap_per_length ? l : 1));
    if (s->max_move) o.max_move = s->move_value * (s->move_per_length ? l : 1);
    if (!ABUT_ARRAYS(ABUT_ITEMS(j->x, 3 * (size_t)m->nv), ABUT_ITEMS(j->y, 3 * (size_t)m->nc)))
        return abut_fail(err, ABUT_E_NOMEM, "--separate: no memory for %d nodes", m->nv);
    abut_collmesh_positions(&j->cm, x0, j->y);
    abut_status rc = abut_separate(&j->cm, x0, &o, j->x, &j->report, err);
    if (rc) return rc;
    say_moves(j, cli, o.gap);
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

/* Moves free nodes of the frame (node/x) until every distance is at least the gap and the thickness of the pair, and reports
 * the moves.  The rest shape stays: bodies that the repair makes longer or thinner are strained.
 *
 * bad    out: names of primitives that could not be separated
 * Fails  ABUT_E_GEOM some could not be separated: the frame is unchanged */
static abut_status separation_run(const separation *s, abut_cli *cli, const abut_arrays *model, abut_arrays *frame,
                                   abut_offenders *bad, abut_err *err)
{
    abut_model m;
    abut_frame f;
    job j = { .set = model };
    abut_status rc = abut_model_view(model, &m, err);
    if (!rc) rc = abut_frame_view(frame, &m, &f, err);
    if (!rc) rc = abut_linear_tets(&m, "--separate", err);
    if (!rc) rc = abut_collmesh_init(&j.cm, &m, err);
    if (!rc) rc = separate(s, &j, cli, f.x, bad, err);
    if (!rc) memcpy(abut_arrays_find(frame, "node/x")->data, j.x, 3 * (size_t)m.nv * sizeof *j.x);
    abut_collmesh_clear(&j.cm);
    free(j.x), free(j.y);
    return rc;
}

/* -- primitives that cannot be used --------------------------------------------------------------------------------- */

enum { LISTED = 20 };

/* Writes a primitive: its points and its element; a tet as its faces. */
static void write_primitive(FILE *f, int size, const double *x, int *first)
{
    static const int FACES[4][3] = { { 1, 2, 3 }, { 0, 3, 2 }, { 0, 1, 3 }, { 0, 2, 1 } };
    for (int k = 0; k < size; k++) fprintf(f, "v %.17g %.17g %.17g\n", x[3 * k], x[3 * k + 1], x[3 * k + 2]);
    if (size == 1) fprintf(f, "p %d\n", *first);
    if (size == 2) fprintf(f, "l %d %d\n", *first, *first + 1);
    if (size == 3) fprintf(f, "f %d %d %d\n", *first, *first + 1, *first + 2);
    for (int k = 0; size == 4 && k < 4; k++)
        fprintf(f, "f %d %d %d\n", *first + FACES[k][0], *first + FACES[k][1], *first + FACES[k][2]);
    *first += size;
}

static abut_status write_obj(const abut_cli *cli, const abut_offenders *bad, const char *path, abut_err *err)
{
    FILE *f = abut_cli_create(cli, path, err);
    if (!f) return err->code;
    int first = 1;
    fprintf(f, "# %lld unusable primitives, %d listed\n", (long long)bad->total, bad->n);
    for (int i = 0; i < bad->n; i++) {
        const abut_offender *o = &bad->item[i];
        fprintf(f, "# %s\no %d\n", o->text, i + 1);
        write_primitive(f, o->size[0], o->x, &first);
        write_primitive(f, o->size[1], o->x + 3 * o->size[0], &first);
    }
    const int failed = ferror(f);
    if (fclose(f) || failed) return abut_fail(err, ABUT_E_IO, "cannot write %s", path);
    return ABUT_OK;
}

/* Lists the first 20 on stderr and writes all that were kept to `path` as an OBJ mesh (NULL: not wanted); a failure to write
 * replaces the error in err. */
static void report(const abut_cli *cli, const abut_offenders *bad, const char *path, abut_err *err)
{
    abut_err other = { 0 };
    for (int i = 0; i < bad->n && i < LISTED; i++)
        if (!strstr(err->msg, bad->item[i].text)) fprintf(stderr, "mesh-prep: %s\n", bad->item[i].text);
    if (bad->total > LISTED) fprintf(stderr, "mesh-prep: ... and %lld more\n", (long long)bad->total - LISTED);
    if (path && write_obj(cli, bad, path, &other)) *err = other;
}

/* Everything the program holds. */
typedef struct prep {
    abut_cli cli;
    abut_opt_list set;
    const char *ipc_script, *report, *first;
    int explain, to_yaml, to_json, check, keys, published;
    separation separate;

    abut_prep_source source;
    abut_scene scene;
    abut_arrays model, frame;
    abut_built built;
    abut_offenders bad;
    abut_explain facts;
    abut_pressed pressed;
} prep;

/* Closed surfaces that ask for it become solids. */
static abut_status fill_surfaces(prep *p, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int32_t i = 0; i < p->scene.nobjects && !rc; i++) {
        abut_scene_object *o = &p->scene.object[i];
        abut_mesh solid = { 0 };
        int is_second = 0;
        if (!(o->max_volume > 0)) continue;
        rc = abut_tetrahedralize(&o->mesh, o->max_volume, o->keep_surface, &is_second, &solid, err);
        if (rc) {
            abut_wrap(err, "%s: object '%s'", o->from, o->name);
            break;
        }
        if (is_second)
            abut_cli_say(&p->cli, "'%s': tetgen has joined triangles that bend by less than 0.1 degrees, which failed; a second "
                         "attempt keeps them apart", o->name);
        abut_mesh_clear(&o->mesh);
        o->mesh = solid;
        rc = abut_scene_shape(o, err);
    }
    return rc;
}

static abut_status build(prep *p, abut_err *err)
{
    abut_status rc = fill_surfaces(p, err);
    if (rc) return rc;
    abut_scene_place(&p->scene);
    rc = abut_scene_orders(&p->scene, err);
    if (!rc) rc = abut_scene_match(&p->scene, err);
    return rc ? rc : abut_scene_build(&p->scene, &p->model, &p->frame, &p->built, &p->bad, err);
}

static void append(abut_err *err, const char *text)
{
    const size_t used = strlen(err->msg);
    snprintf(err->msg + used, sizeof err->msg - used, "%s", text);
}

/* Warns of curved surfaces that do not reach their shape, and of rest shapes of higher order. */
static void say_curved(prep *p)
{
    for (int32_t i = 0; i < p->scene.nobjects; i++) {
        const abut_scene_object *o = &p->scene.object[i];
        const abut_curved *c = &o->order.facts;
        if (o->order.kept)
            abut_cli_say(&p->cli, "warning: '%s' has tets of order %d on a rest shape of order %d: rigid rotations store energy; "
                         "geometry: %d avoids that", o->name, abut_scene_order_of(o), o->order.kept, abut_scene_order_of(o));
        if (o->order.curved && (c->eased || c->held))
            abut_cli_say(&p->cli,
                         "'%s': %d corner%s and %d tet%s (the first is %d) do not reach the surface that they stand for, so that "
                         "no tet is turned over; it is within %.3g m",
                         o->name, c->held, abut_s(c->held), c->eased, abut_s(c->eased), c->first, c->gap);
    }
}

/* --explain and --check. */
static abut_status give_advice(prep *p, const abut_model *m, abut_err *err)
{
    abut_advice *a = calloc(1, sizeof *a);
    abut_status rc = a ? abut_advice_find(&p->scene, m, &p->built, &p->pressed, a, err) : abut_fail(err, ABUT_E_NOMEM, "advice");
    for (int i = 0; !rc && i < a->n; i++) abut_cli_say(&p->cli, "advice: %s", a->text[i]);
    if (!rc && a->left_out) abut_cli_say(&p->cli, "advice: %d more", a->left_out);
    free(a);
    return rc;
}

/* --check: whether the solver that the scene asks for takes its model and its first frame. */
static abut_status try_solver(prep *p, const abut_model *m, abut_err *err)
{
    const char *name = abut_scene_solvers[m->solver ? m->solver[0] : ABUT_SOLVED_BY_BARRIER];
    const abut_solver_row *solver = abut_solver_find(name, NULL, err);
    abut_solve_options o = abut_solve_defaults;
    abut_report rep = { 0 };
    void *self = NULL;
    int written = 0;
    if (!solver) return ABUT_E_ARG;
    o.names = &p->model;
    abut_status rc = abut_solver_make(&self, m, solver, &o, err);
    if (!rc) rc = solver->stepper->begin(self, &p->frame, (abut_instant){ 0, 0 }, &written, &rep, err);
    if (self) solver->stepper->free(self);
    abut_report_clear(&rep);
    return rc;
}

/* A dhat that is a fraction of the whole scene may be large beside a body of it, as where one object is far away. */
static void say_reach(prep *p)
{
    const double dhat = p->built.dhat, l = p->built.length;
    if (dhat > 0.1 * l)
        abut_cli_say(&p->cli, "warning: contact acts within dhat, %.6g m, which is %.2g of the length of the scene, %.6g m",
                     dhat, dhat / l, l);
    for (int32_t i = 0; i < p->scene.nobjects && dhat <= 0.1 * l; i++) {
        const abut_object_facts *f = &p->built.object[i];
        const double size = abut_v3_norm(abut_v3_sub(abut_v3_get(f->hi), abut_v3_get(f->lo)));
        if (p->scene.object[i].obstacle || !(size > 0) || f->dhat <= 0.1 * size) continue;
        abut_cli_say(&p->cli, "warning: contact acts within dhat, %.6g m, which is %.2g of the length of '%s', %.6g m; the scene "
                     "is %.6g m long; contact.dhat sets a smaller one",
                     f->dhat, f->dhat / size, p->scene.object[i].name, size, l);
        return;
    }
}

/* Says what the barrier does with the start.  Other solvers have none there. */
static abut_status look_at_start(prep *p, const abut_model *m, const double *x, abut_err *err)
{
    if (p->scene.solver != ABUT_SOLVED_BY_BARRIER) return ABUT_OK;
    const abut_status rc = abut_pressed_find(&p->scene, m, &p->built, x, &p->pressed, err);
    if (rc || p->scene.start_pressed) return rc;
    return abut_pressed_refuse(&p->pressed, m, err);
}

/* Checks the built arrays by the views, as later stages do; then checks that nothing touches. */
static abut_status check(prep *p, abut_err *err)
{
    abut_model m;
    abut_frame f;
    abut_start_gap gap = { 0 };
    abut_status rc = abut_model_view(&p->model, &m, err);
    if (!rc) rc = abut_frame_view(&p->frame, &m, &f, err);
    if (!rc) rc = abut_start_check(&m, &p->model, f.x, m.dhat[0], &p->bad, &gap, err);
    if (rc && p->bad.total && !gap.is_short && !p->separate.gap)
        append(err, "; --separate GAP parts what crosses or is too near, by moves of free nodes");
    if (!rc && isfinite(gap.gap)) rc = look_at_start(p, &m, f.x, err);
    if (rc) return rc;
    if (p->explain || p->check) rc = give_advice(p, &m, err);
    if (!rc && p->check) rc = try_solver(p, &m, err);
    if (rc) return rc;
    if (m.nc) say_reach(p);
    say_curved(p);
    if (!m.nc) abut_cli_say(&p->cli, "contact is off: everything passes through everything");
    if (p->scene.bodies_off) abut_cli_say(&p->cli, "contact.bodies is off: bodies pass through themselves and each other");
    for (int32_t i = 0; i < p->scene.nobjects; i++) {
        const abut_proxy_facts *y = &p->built.object[i].proxy;
        if (!y->vertices || !y->low) continue;
        abut_cli_say(&p->cli, "warning: the contact surface of '%s' has triangles with an altitude of %.6g m, no more than dhat, "
                     "%.6g m: contact pushes neighbours apart at rest; fewer segments or a smaller dhat avoid that",
                     p->scene.object[i].name, y->altitude, p->built.object[i].dhat);
    }
    p->facts.gap = gap.gap;
    p->facts.reach = m.dhat[0];
    memcpy(p->facts.closest, gap.text, sizeof p->facts.closest);
    if (gap.fine)
        abut_cli_say(&p->cli,
                     "warning: contact pushes objects apart that are at rest: %lld %s a gap below "
                     "dhat, %.6g m; the smallest, %.6g m: %s; a coarser mesh, a smaller thickness or dhat avoids that",
                     (long long)gap.fine, abut_plural(gap.fine, "pair within one object has", "pairs within one object have"),
                     m.dhat[0], gap.fine_gap, gap.fine_text);
    return ABUT_OK;
}

static void put_text(FILE *f, int *n, const char *key, const char *text)
{
    if (!text) return;
    fprintf(f, "%s\"%s\": ", (*n)++ ? ", " : "", key);
    abut_json_string(f, text);
}

/* The options that shape the result, as JSON: which values of the scene were set on the command line, and the repair. */
static abut_status options_json(const prep *p, abut_text_file *text, abut_err *err)
{
    int n = 0;
    const abut_status rc = abut_text_file_open(text, err);
    if (rc) return rc;
    fputc('{', text->f);
    for (int i = 0; i < p->set.n; i++) {
        fputs(n++ ? ", " : "\"set\": [", text->f);
        abut_json_string(text->f, p->set.item[i]);
    }
    if (n) fputc(']', text->f);
    put_text(text->f, &n, "separate", p->separate.gap);
    put_text(text->f, &n, "max-move", p->separate.max_move);
    fputc('}', text->f);
    return abut_text_file_end(text, "the history", err);
}

static abut_status write_stream(prep *p, abut_err *err)
{
    abut_writer *w = NULL;
    abut_text_file options;
    const abut_frame_head head = { 0, 0, ABUT_COMMITTED };
    abut_status rc = options_json(p, &options, err);
    if (!rc) rc = abut_writer_open(p->cli.out, p->cli.compress, &w, err);
    if (!rc) rc = abut_writer_prov(w, "mesh-prep", ABUT_VERSION, options.text, err);
    if (!rc) rc = abut_writer_model(w, &p->model, err);
    if (!rc) rc = abut_writer_frame(w, &head, &p->frame, err);
    if (!rc) rc = abut_writer_close(w, err);
    abut_writer_free(&w);
    abut_text_file_clear(&options);
    return rc;
}

/* Without -o a terminal has no stream, but may have text. */
static FILE *text_out(const prep *p) { return p->cli.out ? p->cli.out : stderr; }

/* The scene as it was understood is not needed for this: a value that is missing may be seen in the text. */
static abut_status write_scene(prep *p, abut_err *err)
{
    const char *other = p->explain ? "explain" : p->separate.gap ? "separate" : p->separate.max_move ? "max-move" :
                        p->report ? "report" : p->check ? "check" : p->cli.compress ? "compress" :
                        p->to_yaml && p->to_json ? "to-yaml" : NULL;
    if (other) return abut_fail(err, ABUT_E_ARG, "--to-%s and --%s: expected one of them", p->to_json ? "json" : "yaml", other);
    return abut_prep_source_write(&p->source, text_out(p), p->to_json, err);
}

/* Writes the scene of --new NAME, or all keys, which exclude options that read a scene or write results of one. */
static abut_status write_first(prep *p, abut_err *err)
{
    const char *other = p->first && p->keys ? "--keys" : p->cli.nargs ? p->cli.args[0] : p->set.n ? "--set" :
                        p->ipc_script ? "--ipc-script" : p->published ? "--as-published" :
                        p->to_yaml ? "--to-yaml" : p->to_json ? "--to-json" : p->explain ? "--explain" :
                        p->separate.gap ? "--separate" : p->separate.max_move ? "--max-move" :
                        p->report ? "--report" : p->check ? "--check" : p->cli.compress ? "--compress" : NULL;
    if (other) return abut_fail(err, ABUT_E_ARG, "--%s and %s: expected --%s alone, which writes %s", p->first ? "new" : "keys",
                                other, p->first ? "new NAME" : "keys", p->first ? "a scene" : "all keys");
    if (p->first) return abut_prep_first_scene(p->first, text_out(p), err);
    abut_scene_keys_write(text_out(p));
    return ABUT_OK;
}

static void summary(prep *p)
{
    const abut_built *b = &p->built;
    char parts[160] = "", gap[48] = "";
    const struct {
        int32_t n;
        const char *what;
    } part[] = { { b->tets, "tet" }, { b->shells, "shell" }, { b->rods, "rod" }, { b->particles, "particle" } };
    size_t used = 0;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        if (part[i].n)
            used += (size_t)snprintf(parts + used, sizeof parts - used, ", %d %s%s", part[i].n, part[i].what, abut_s(part[i].n));
    if (isfinite(p->facts.gap)) snprintf(gap, sizeof gap, ", smallest gap %.3g m", p->facts.gap);
    abut_cli_sum(&p->cli, "%d object%s, %d node%s%s%s: can be simulated", p->scene.nobjects, abut_s(p->scene.nobjects), b->nodes,
                 abut_s(b->nodes), parts, gap);
}

static abut_status make_stream(prep *p, abut_err *err)
{
    abut_status rc = separation_parse(&p->separate, &p->source.arena, err);
    if (!rc) rc = abut_scene_read(p->source.tree, p->source.base, &p->scene, err);
    if (!rc) rc = build(p, err);
    if (!rc && p->separate.gap) rc = separation_run(&p->separate, &p->cli, &p->model, &p->frame, &p->bad, err);
    if (!rc) rc = check(p, err);
    if (!rc && p->explain) abut_explain_write(stderr, &p->scene, &p->built, &p->facts);
    if (!rc && p->explain) rc = abut_cli_said("--explain", err);
    if (!rc) summary(p);
    return rc || !p->cli.out ? rc : write_stream(p, err);
}

static void clear(prep *p)
{
    abut_scene_clear(&p->scene);
    abut_built_clear(&p->built);
    abut_offenders_clear(&p->bad);
    abut_arrays_clear(&p->model);
    abut_arrays_clear(&p->frame);
    abut_prep_source_clear(&p->source);
}

int main(int argc, char **argv)
{
    static prep p;
    const abut_opt opts[] = {
        { 0, "new", ABUT_OPT_TEXT, &p.first, "NAME",
          "write a commented scene to begin with, and read none:\ndrop\ta ball falls on a bar\ncloth\ta cloth drapes a ball\n"
          "rope\ta rope swings onto a pole\nbeam\ta clamped beam bends to its equilibrium\nslope\ta block slides or sticks\n"
          "curved\ta ball of curved tets falls on a bar\nhard\ta block and a ball by hard contact" },
        { 's', "set", ABUT_OPT_LIST, &p.set, "KEY=VALUE", "set a key of the scene by its dotted path: time.step=0.005" },
        { 'e', "explain", ABUT_OPT_FLAG, &p.explain, NULL, "print every derived parameter with its unit and its rule" },
        { 0, "check", ABUT_OPT_FLAG, &p.check, NULL,
          "write nothing: say whether the solver of the scene can simulate it, and which results will be inaccurate" },
        { 0, "ipc-script", ABUT_OPT_TEXT, &p.ipc_script, "FILE", "read a scene script of the public IPC code" },
        { 0, "as-published", ABUT_OPT_FLAG, &p.published, NULL,
          "a scene of the public rigid IPC code: torques act twice, as there" },
        { 0, "to-yaml", ABUT_OPT_FLAG, &p.to_yaml, NULL, "write the scene as YAML, paths absolute, instead of a stream" },
        { 0, "to-json", ABUT_OPT_FLAG, &p.to_json, NULL, "write the scene as JSON, paths absolute, instead of a stream" },
        { 0, "separate", ABUT_OPT_TEXT, &p.separate.gap, "GAP",
          "separate bodies that intersect: move free nodes of the first frame as little as possible until distances exceed the "
          "thickness by GAP (a number and its unit, as in a scene: '1e-3 l', '0.5 mm'); the rest shape stays" },
        { 0, "max-move", ABUT_OPT_TEXT, &p.separate.max_move, "LENGTH", "--separate: largest move of a node (default '0.1 l')" },
        { 0, "keys", ABUT_OPT_FLAG, &p.keys, NULL,
          "write every key of scenes, and read none: its path, what it takes, range, default; tabs between" },
        { 0, "report", ABUT_OPT_OUTPUT, &p.report, "FILE", "write unusable primitives as an OBJ mesh" },
        { 0 }
    };
    abut_err err = { 0 };
    abut_cli_begin(&p.cli, argc, argv, "Turns a scene or mesh files into a model and its first frame.",
                   "[SCENE.yaml | ROBOT.urdf | MESH.{msh,vtk,obj,ply,stl,node,ele,seg,pt} ...]", opts, ABUT_CLI_OUT_MAY);
    if (p.check && p.cli.out_path) abut_fail(&err, ABUT_E_ARG, "--check and --output: nothing is written");
    else if (p.check) abut_cli_drop_output(&p.cli);
    const int reads_none = p.first || p.keys;
    abut_status rc = err.code ? err.code : reads_none ? ABUT_OK :
                     abut_prep_source_read(&p.source, &p.cli, p.ipc_script, p.published, &p.set, p.explain, &err);
    if (!rc) rc = reads_none ? write_first(&p, &err) : p.to_yaml || p.to_json ? write_scene(&p, &err) : make_stream(&p, &err);
    if (p.bad.total) report(&p.cli, &p.bad, p.report, &err);
    clear(&p);
    return abut_cli_end(&p.cli, 0, rc ? &err : NULL);
}
