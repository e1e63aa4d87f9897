#include "formats/result/table_write.h"

#include "base/words.h"
#include "energy/joint.h"
#include "formats/result/out_file.h"
#include "formats/stream/dump.h"
#include "math/mat3.h"
#include "math/rigid.h"
#include "math/svd3.h"
#include "model/motion.h"
#include "solve/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int column_find(abut_table *t, const char *name)
{
    for (int i = 0; i < t->n_columns; i++)
        if (!strcmp(t->column[i], name)) return i;
    if (!ABUT_GROW(t->column, t->n_columns + 1, t->cap_columns)) return -1;
    snprintf(t->column[t->n_columns], sizeof *t->column, "%s", name);
    return t->n_columns++;
}

/* Sets one cell of the last row. */
static abut_status set(abut_table *t, const char *name, double v, abut_err *err)
{
    struct abut_table_row *r = &t->row[t->n_rows - 1];
    const int c = column_find(t, name);
    if (c < 0) return abut_fail(err, ABUT_E_NOMEM, "no memory for a table of %d rows", t->n_rows);
    if (c >= r->n) {
        if (!ABUT_RESIZE(r->cell, c + 32)) return abut_fail(err, ABUT_E_NOMEM, "no memory for a table of %d rows", t->n_rows);
        for (int i = r->n; i < c + 32; i++) r->cell[i] = NAN;
        r->n = c + 32;
    }
    r->cell[c] = v;
    return ABUT_OK;
}

static double cell_of(const abut_table *t, int row, int column)
{
    return column < t->row[row].n ? t->row[row].cell[column] : NAN;
}

static abut_status add_row(abut_table *t, abut_err *err)
{
    if (!ABUT_GROW(t->row, t->n_rows + 1, t->cap_rows))
        return abut_fail(err, ABUT_E_NOMEM, "no memory for a table of %d rows", t->n_rows + 1);
    t->row[t->n_rows++] = (struct abut_table_row){ 0 };
    return ABUT_OK;
}

static abut_status set_totals(abut_table *t, const abut_shot *s, abut_err *err)
{
    const abut_fields *f = s->fields;
    const abut_model *m = s->model;
    const int32_t tet = f->min_J_tet;
    const struct {
        const char *name;
        double v;
    } cell[] = {
        { "frame", s->index }, { "step", (double)s->head->step }, { "time_s", s->head->time },
        { "pending", s->head->phase == ABUT_PENDING },
        { "kinetic_J", f->kinetic }, { "elastic_J", f->elastic }, { "gravity_J", f->gravity },
        { "total_J", f->kinetic + f->elastic + f->gravity },
        { "momentum_x_Ns", f->linear[0] }, { "momentum_y_Ns", f->linear[1] }, { "momentum_z_Ns", f->linear[2] },
        { "angular_x_Nms", f->angular[0] }, { "angular_y_Nms", f->angular[1] }, { "angular_z_Nms", f->angular[2] },
        { "min_det_F", f->min_J }, { "min_det_F_tet", tet < 0 ? NAN : abut_element_number(m, m->tet, 4, tet) },
        { "min_det_F_object", tet < 0 ? NAN : m->body[m->tet[4 * (size_t)tet]] },
        { "contacts", f->contacts < 0 ? NAN : f->contacts }, { "gap_m", isfinite(f->gap) ? f->gap : NAN },
        { "kappa", s->frame->kappa ? s->frame->kappa[0] : NAN }, { "friction_contacts", s->frame->nl },
    };
    abut_status rc = ABUT_OK;
    for (size_t i = 0; i < sizeof cell / sizeof *cell && !rc; i++) rc = set(t, cell[i].name, cell[i].v, err);
    return rc;
}

/* Sets the columns of arrays that `step --with energies` and `--with forces` wrote; a missing array has no column.  A PENDING
 * frame keeps some arrays of the frame before. */
static abut_status set_step(abut_table *t, const abut_shot *s, abut_err *err)
{
    const abut_frame *f = s->frame;
    const struct {
        const char *name;
        const double *real;
        const int32_t *count;
    } cell[] = {
        { "barrier_J", f->barrier, NULL },
        { "friction_work_J", f->w_friction, NULL }, { "damping_work_J", f->w_damping, NULL },
        { "reaction_work_J", f->w_reaction, NULL }, { "load_work_J", f->w_load, NULL },
        { "stiffness_work_J", f->w_stiffness, NULL }, { "numerical_work_J", f->w_numerical, NULL },
        { "friction_total_J", f->t_friction, NULL }, { "damping_total_J", f->t_damping, NULL },
        { "reaction_total_J", f->t_reaction, NULL }, { "load_total_J", f->t_load, NULL },
        { "stiffness_total_J", f->t_stiffness, NULL }, { "numerical_total_J", f->t_numerical, NULL },
        { "center_x_m", f->center, NULL }, { "center_y_m", f->center ? f->center + 1 : NULL, NULL },
        { "center_z_m", f->center ? f->center + 2 : NULL, NULL },
        { "sticking_contacts", NULL, f->sticking }, { "sliding_contacts", NULL, f->sliding },
        { "creep_max_m/s", f->creep_max, NULL }, { "creep_mean_m/s", f->creep_mean, NULL }, { "iterations", NULL, f->iterations },
        { "force_residual", f->force_residual, NULL },
    };
    abut_status rc = ABUT_OK;
    for (size_t i = 0; i < sizeof cell / sizeof *cell && !rc; i++) {
        if (cell[i].real) rc = set(t, cell[i].name, *cell[i].real, err);
        if (cell[i].count) rc = set(t, cell[i].name, *cell[i].count, err);
    }
    return rc;
}

/* The sum of a force over the nodes of an object; object -1: over all bodies. */
static void resultant(const abut_model *m, const double *f, int32_t object, double r[3])
{
    abut_acc sum[3] = { { 0, 0 } };
    for (int32_t i = 0; i < m->nv; i++) {
        if (object < 0 ? m->role[i] == ABUT_NODE_OBSTACLE : m->body[i] != object) continue;
        for (int k = 0; k < 3; k++) abut_acc_add(&sum[k], f[3 * i + k]);
    }
    for (int k = 0; k < 3; k++) r[k] = sum[k].hi + sum[k].lo;
}

/* PREFIXKIND_x_N, ... = r[3] */
static abut_status set_vector(abut_table *t, const char *prefix, const char *kind, const double r[3], abut_err *err)
{
    char name[2 * ABUT_PART_NAME];
    abut_status rc = ABUT_OK;
    for (int k = 0; k < 3 && !rc; k++) {
        snprintf(name, sizeof name, "%s%s_%c_N", prefix, kind, "xyz"[k]);
        rc = set(t, name, r[k], err);
    }
    return rc;
}

/* Whether the row may have columns of forces: the frame has its own, and not those of the frame before. */
static int has_forces(const abut_shot *s) { return s->frame->f_contact && s->head->phase == ABUT_COMMITTED; }

/* PREFIXcontact_x_N, ...: the resultants of the forces of a frame. */
static abut_status set_forces(abut_table *t, const abut_shot *s, const char *prefix, int32_t object, abut_err *err)
{
    const struct {
        const char *name;
        const double *f;
    } force[] = { { "contact", s->frame->f_contact }, { "friction", s->frame->f_friction },
                  { "reaction", s->frame->f_reaction } };
    double r[3];
    abut_status rc = ABUT_OK;
    for (size_t i = 0; i < sizeof force / sizeof *force && has_forces(s) && !rc; i++) {
        if (!force[i].f) continue;
        resultant(s->model, force[i].f, object, r);
        rc = set_vector(t, prefix, force[i].name, r, err);
    }
    return rc;
}

/* Forces on a half-space, and what holds it against them. */
static abut_status set_plane(abut_table *t, const abut_shot *s, int32_t plane, abut_err *err)
{
    const double *press = s->fields->plane_force + 3 * (size_t)plane;
    const double *rub = s->fields->plane_friction + 3 * (size_t)plane;
    double held[3];
    char name[ABUT_OBJECT_WORDS], prefix[2 * ABUT_PART_NAME];
    snprintf(prefix, sizeof prefix, "%s.", abut_half_space_name(s->model, plane, name));
    for (int k = 0; k < 3; k++) held[k] = 0 - press[k] - rub[k];
    abut_status rc = set_vector(t, prefix, "contact", press, err);
    if (!rc) rc = set_vector(t, prefix, "friction", rub, err);
    return rc ? rc : set_vector(t, prefix, "reaction", held, err);
}

/* NAME.contact_error_N, and its parts. */
static abut_status set_error(abut_table *t, const abut_shot *s, const abut_part *p, abut_err *err)
{
    char name[2 * ABUT_PART_NAME];
    if (!s->frame->contact_error || !has_forces(s)) return ABUT_OK;
    const double *part = s->frame->contact_error + ABUT_ERRORS * (size_t)p->object;
    snprintf(name, sizeof name, "%s.contact_error_N", p->name);
    abut_status rc = set(t, name, abut_error_sum(part), err);
    for (int k = 0; k < ABUT_ERRORS && !rc; k++) {
        snprintf(name, sizeof name, "%s.contact_error_%s_N", p->name, abut_error_names[k]);
        rc = set(t, name, part[k], err);
    }
    return rc;
}

/* q[4] of the rotation R, real part first, by its largest part (Shepperd 1978); of the two the one nearer to `before`. */
static void quaternion_of(const double R[9], const double before[4], double q[4])
{
    const double t[4] = { R[0] + R[4] + R[8], R[0] - R[4] - R[8], R[4] - R[0] - R[8], R[8] - R[0] - R[4] };
    const double skew[4] = { 0, R[7] - R[5], R[2] - R[6], R[3] - R[1] };
    int k = 0;
    for (int i = 1; i < 4; i++) k = t[i] > t[k] ? i : k;
    const double one = sqrt(1 + t[k]), half = 0.5 / one;
    for (int i = 1; i < 4; i++) q[i] = half * (k ? R[3 * (k - 1) + i - 1] + R[3 * (i - 1) + k - 1] : skew[i]);
    q[0] = half * skew[k];
    q[k] = 0.5 * one;
    const double along = q[0] * before[0] + q[1] * before[1] + q[2] * before[2] + q[3] * before[3];
    for (int i = 0; i < 4 && along < 0; i++) q[i] = -q[i];
}

/* Rotation since the rest shape, rate and strain of a rigid object. */
static abut_status set_pose(abut_table *t, const abut_shot *s, const abut_part *p, abut_err *err)
{
    const abut_model *m = s->model;
    int32_t tet = 0;
    if (!m->rigid_range || !(m->rigid_range[2 * (size_t)p->object] > 0)) return ABUT_OK;
    while (m->body[m->tet[4 * (size_t)tet]] != p->object) tet++;
    const int32_t *node = m->tet + 4 * (size_t)tet;
    double rest[9], now[9], B[9], F[9], U[9], stretch[3], V[9], R[9], q[4], before[4] = { 1, 0, 0, 0 };
    for (int i = 0; i < 9; i++) {
        const size_t at = 3 * (size_t)node[i % 3 + 1] + (size_t)(i / 3), from = 3 * (size_t)node[0] + (size_t)(i / 3);
        rest[i] = m->X[at] - m->X[from], now[i] = s->frame->x[at] - s->frame->x[from];
    }
    abut_m3_inverse(B, rest);
    abut_m3_mul(F, now, B);
    abut_svd3(F, U, stretch, V);
    abut_m3_mul_nt(R, U, V);
    const abut_rigid motion = abut_rigid_part(4, node, m->mass, s->frame->x, s->frame->v);
    char name[2 * ABUT_PART_NAME];
    for (int k = 0; k < 4 && t->n_rows > 1; k++) {
        snprintf(name, sizeof name, "%s.q%c", p->name, "wxyz"[k]);
        const double was = cell_of(t, t->n_rows - 2, column_find(t, name));
        before[k] = isfinite(was) ? was : before[k];
    }
    quaternion_of(R, before, q);
    abut_status rc = ABUT_OK;
    for (int k = 0; k < 7 && !rc; k++) {
        snprintf(name, sizeof name, k < 4 ? "%s.q%c" : "%s.w%c_rad/s", p->name, "wxyzxyz"[k]);
        rc = set(t, name, k < 4 ? q[k] : motion.spin[k - 4], err);
    }
    snprintf(name, sizeof name, "%s.strain", p->name);
    return rc ? rc : set(t, name, fmax(fabs(stretch[0] - 1), fabs(stretch[2] - 1)), err);
}

/* Centre of mass, its velocity, pose and the forces on one object. */
static abut_status set_object(abut_table *t, const abut_shot *s, const abut_part *p, abut_err *err)
{
    char name[2 * ABUT_PART_NAME];
    abut_status rc = ABUT_OK;
    for (int i = 0; i < 6 && !rc; i++) {
        snprintf(name, sizeof name, "%s.%s%c_%s", p->name, i < 3 ? "" : "v", "xyz"[i % 3], i < 3 ? "m" : "m/s");
        rc = set(t, name, (i < 3 ? s->fields->center : s->fields->velocity)[3 * p->object + i % 3], err);
    }
    if (!rc) rc = set_pose(t, s, p, err);
    snprintf(name, sizeof name, "%s.", p->name);
    if (!rc) rc = set_forces(t, s, name, p->object, err);
    return rc ? rc : set_error(t, s, p, err);
}

/* The place in the list of the scene of a motion that prescribes its nodes; -1: it is another. */
static int32_t entry_of(const abut_model *m, int32_t k)
{
    if (m->mo_kind[k] == ABUT_MOTION_FORCE) return -1;
    return m->mo_entry ? m->mo_entry[k] : k;
}

/* Adds the reactions of the nodes of motion k, if the step that ends at the frame belongs to it; 1: one of them is chosen. */
static int add_motion(const abut_shot *s, int32_t k, abut_acc sum[3])
{
    const abut_model *m = s->model;
    const int acts = abut_motion_has_step(m, k, s->head->time - m->h[0]);
    int chosen = 0;
    for (int32_t i = m->mo_first[2 * k]; i < m->mo_first[2 * k + 1]; i++) {
        const int32_t node = m->mo_node[i];
        chosen |= s->parts->chosen[node];
        for (int d = 0; d < 3 && acts; d++) abut_acc_add(&sum[d], s->frame->f_reaction[3 * (size_t)node + (size_t)d]);
    }
    return chosen;
}

/* Sets motion.N.reaction_x_N, ...: force of entry N of the list of motions, also while it holds its nodes afterwards; 0 while it
 * does not act. */
static abut_status set_motions(abut_table *t, const abut_shot *s, abut_err *err)
{
    const abut_model *m = s->model;
    abut_status rc = ABUT_OK;
    for (int32_t k = 0; k < (s->parts->chosen ? m->nmo : 0) && !rc; k++) {
        const int32_t entry = entry_of(m, k);
        int seen = entry < 0, chosen = 0;
        for (int32_t j = 0; j < k && !seen; j++) seen = entry_of(m, j) == entry;
        abut_acc sum[3] = { { 0, 0 } };
        for (int32_t j = k; j < m->nmo && !seen; j++)
            if (entry_of(m, j) == entry) chosen |= add_motion(s, j, sum);
        if (!chosen) continue;
        char prefix[2 * ABUT_PART_NAME];
        const double r[3] = { sum[0].hi + sum[0].lo, sum[1].hi + sum[1].lo, sum[2].hi + sum[2].lo };
        snprintf(prefix, sizeof prefix, "motion.%d.", entry);
        rc = set_vector(t, prefix, "reaction", r, err);
    }
    return rc;
}

/* Coordinates of a joint and their rates, force on its second body and moment about its point, effort of its motor, by the last
 * step, and how far it is open. */
static abut_status set_joint(abut_table *t, const abut_shot *s, int32_t j, abut_err *err)
{
    const abut_model *m = s->model;
    const abut_frame *f = s->frame;
    char joint[ABUT_PART_NAME], name[2 * ABUT_PART_NAME];
    double cell[13];
    static const char *const what[] = { "angle_rad", "position_m", "rate_rad/s", "speed_m/s", "force_x_N", "force_y_N",
                                        "force_z_N", "torque_x_Nm", "torque_y_Nm", "torque_z_Nm", "motor_Nm", "motor_N",
                                        "drift_m" };
    const int weld = m->joint_kind[j] == ABUT_JOINT_WELD;
    if (weld && m->joint_weld[j] != j) return ABUT_OK;
    abut_text_row(s->model_set, "joint/name", j, joint, sizeof joint);
    for (int k = 0; k < 13; k++) cell[k] = NAN;
    abut_joint_coordinates(m, j, f->x, &cell[0], &cell[1]);
    abut_joint_rates(m, j, f->x, f->v, &cell[2], &cell[3]);
    if (f->joint_multiplier) abut_joint_reaction(m, j, f->x, f->joint_multiplier, cell + 4, cell + 7);
    if (f->joint_effort && m->joint_motor && m->joint_motor[4 * (size_t)j])
        cell[m->joint_kind[j] == ABUT_JOINT_SLIDER ? 11 : 10] = f->joint_effort[j];
    cell[12] = abut_joint_gap(m, j, f->x);
    for (int32_t i = j + 1; i < m->njo && weld; i++) {      /* the other nodes of a weld */
        double force[3] = { NAN, NAN, NAN }, torque[3];
        if (m->joint_weld[i] != j) continue;
        if (f->joint_multiplier) abut_joint_reaction(m, i, f->x, f->joint_multiplier, force, torque);
        for (int k = 0; k < 3; k++) cell[4 + k] += force[k];
        cell[12] = fmax(cell[12], abut_joint_gap(m, i, f->x));
    }
    for (int k = 7; k < 10 && weld; k++) cell[k] = NAN;
    if (m->joint_kind[j] == ABUT_JOINT_GEAR) {
        const int32_t *of = m->joint_gear + 2 * (size_t)j;
        const double *ratio = m->joint_ratio + 2 * (size_t)j, *q = f->joint_coordinate;
        for (int k = 0; k < 12; k++) cell[k] = NAN;
        if (f->joint_multiplier)
            cell[m->joint_kind[of[0]] == ABUT_JOINT_SLIDER ? 11 : 10] = -f->joint_multiplier[m->joint_first[2 * j]] * ratio[1];
        if (q) cell[12] = fabs(q[of[0]] - ratio[0] * q[of[1]]) * ratio[1];
    }
    abut_status rc = ABUT_OK;
    for (int k = 0; k < 13 && !rc; k++) {
        if (!isfinite(cell[k])) continue;
        snprintf(name, sizeof name, "%s.%s", joint, what[k]);
        const double was = k || t->n_rows == 1 ? NAN : cell_of(t, t->n_rows - 2, column_find(t, name));
        if (k == 0 && isfinite(was)) cell[0] += 2 * acos(-1) * round((was - cell[0]) / (2 * acos(-1)));
        rc = set(t, name, cell[k], err);
    }
    return rc;
}

/* Single numbers of other programs. */
static abut_status set_extra(abut_table *t, const abut_shot *s, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int i = 0; i < s->frame_set->n && !rc; i++) {
        const abut_array *a = &s->frame_set->a[i];
        if (a->rank == 0 && a->type != ABUT_TEXT && !abut_array_known(a->name)) rc = set(t, a->name, abut_array_real(a, 0), err);
    }
    return rc;
}

abut_status abut_table_frame(abut_table *t, const abut_shot *s, abut_err *err)
{
    abut_status rc = add_row(t, err);
    if (!rc) rc = set_totals(t, s, err);
    if (!rc && s->head->phase == ABUT_COMMITTED) rc = set_step(t, s, err);
    if (!rc) rc = set_forces(t, s, "", -1, err);
    for (int32_t k = 0; k < s->parts->n && !rc; k++) rc = set_object(t, s, &s->parts->part[k], err);
    for (int32_t k = 0; k < s->parts->n_plane && has_forces(s) && s->frame->f_friction && !rc; k++)
        rc = set_plane(t, s, s->parts->plane[k], err);
    if (!rc && has_forces(s) && s->frame->f_reaction) rc = set_motions(t, s, err);
    for (int32_t j = 0; j < s->model->njo && s->head->phase == ABUT_COMMITTED && !rc; j++) rc = set_joint(t, s, j, err);
    if (!rc) rc = set_extra(t, s, err);
    return rc;
}

void abut_table_csv(const abut_table *t, FILE *f)
{
    for (int c = 0; c < t->n_columns; c++) {
        if (c) fputc(',', f);
        abut_csv_text(f, t->column[c]);
    }
    fputc('\n', f);
    for (int r = 0; r < t->n_rows; r++)
        for (int c = 0; c < t->n_columns; c++) {
            if (c) fputc(',', f);
            abut_csv_number(f, cell_of(t, r, c));
            if (c + 1 == t->n_columns) fputc('\n', f);
        }
}

void abut_table_row_json(const abut_table *t, int row, FILE *f)
{
    fputc('{', f);
    for (int c = 0; c < t->n_columns; c++) {
        if (c) fputs(", ", f);
        abut_json_string(f, t->column[c]);
        fputs(": ", f);
        abut_json_number(f, cell_of(t, row, c));
    }
    fputc('}', f);
}

void abut_table_json(const abut_table *t, FILE *f)
{
    fputs("{\"columns\": [", f);
    for (int c = 0; c < t->n_columns; c++) {
        if (c) fputs(", ", f);
        abut_json_string(f, t->column[c]);
    }
    fputs("],\n\"rows\": [", f);
    for (int r = 0; r < t->n_rows; r++) {
        fputs(r ? ",\n" : "\n", f);
        abut_table_row_json(t, r, f);
    }
    fputs("\n]}\n", f);
}

void abut_table_clear(abut_table *t)
{
    for (int r = 0; r < t->n_rows; r++) free(t->row[r].cell);
    ABUT_FREE(t->row, t->column);
    *t = (abut_table){ 0 };
}

/* ---- a summary of a stream, in a page of text ---- */

void abut_summary_history(FILE *f, const abut_prov *prov, int n)
{
    for (int i = 0; i < n; i++) {
        abut_print_line(f, prov[i].tool);
        fprintf(f, "%*s ", strlen(prov[i].tool) < 12 ? (int)(12 - strlen(prov[i].tool)) : 0, "");
        abut_print_line(f, prov[i].version);
        fputs("  ", f);
        abut_print_line(f, prov[i].options ? prov[i].options : "");
        putc('\n', f);
    }
}

static void objects(FILE *f, const abut_model *m, const abut_parts *parts)
{
    fprintf(f, "\n%-20s %10s %9s %9s %9s %8s %8s\n", "object", "", "nodes", "tets", "triangles", "segments", "points");
    for (int32_t k = 0; k < parts->n; k++) {
        const abut_part *p = &parts->part[k];
        int32_t nodes = 0, tets = 0;
        for (int32_t i = 0; i < m->nv; i++) nodes += m->body[i] == p->object;
        for (int32_t t = 0; t < m->nt; t++) tets += m->body[m->tet[4 * t]] == p->object;
        fprintf(f, "%-20s %10s %9d %9d %9d %8d %8d\n", p->name, p->obstacle ? "obstacle" : "body", nodes, tets, p->ntri, p->nseg,
                p->npoint);
    }
    if (m->nsh)
        fprintf(f, "shells: %d triangle%s, %d hinge%s%s\n", m->nsh, abut_s(m->nsh), m->nhg, abut_s(m->nhg),
                m->shell_limit ? ", limits of stretch" : "");
    if (m->nrd) fprintf(f, "rods: %d segment%s, %d bend%s\n", m->nrd, abut_s(m->nrd), m->nbd, abut_s(m->nbd));
    if (m->np) fprintf(f, "particles: %d\n", m->np);
    for (int32_t i = 0; i < parts->n_plane; i++) {
        const double *p = m->hs_point + 3 * parts->plane[i], *n = m->hs_normal + 3 * parts->plane[i];
        char name[ABUT_OBJECT_WORDS];
        fprintf(f, "%s: point (%g, %g, %g) m, normal (%g, %g, %g)\n", abut_half_space_words(m, parts->plane[i], name), p[0], p[1],
                p[2], n[0], n[1], n[2]);
    }
}

static void materials(FILE *f, const abut_arrays *set, const abut_model *m)
{
    char name[ABUT_PART_NAME];
    for (int32_t i = 0; i < m->nm; i++) {
        const int32_t k = m->mat_model[i];
        fprintf(f, "material %-11s %s, density %g kg/m^3, Young's modulus %g Pa, Poisson's ratio %g\n",
                abut_text_row(set, "material/name", i, name, sizeof name),
                abut_material_names[k], m->mat_density[i], m->mat_young[i], m->mat_poisson[i]);
    }
}

/* Motions that keep their nodes where they are. */
static int32_t rests(const abut_model *m)
{
    int32_t n = 0;
    for (int32_t k = 0; k < m->nmo; k++) {
        int moves = m->mo_kind[k] != ABUT_MOTION_MOVE;
        for (int d = 3 * k; d < 3 * k + 3; d++)
            moves |= m->mo_linear[d] != 0 || m->mo_angular[d] != 0 || (m->mo_scale && m->mo_scale[d] != 0);
        n += !moves;
    }
    return n;
}

static void model(FILE *f, const abut_arrays *set, const abut_model *m, const abut_parts *parts)
{
    objects(f, m, parts);
    materials(f, set, m);
    fprintf(f, "time step %g s, gravity (%g, %g, %g) m/s^2, length of the scene %g m\n", m->h[0], m->gravity[0], m->gravity[1],
            m->gravity[2], m->length[0]);
    if (!m->nc) fprintf(f, "contact off; ");
    fprintf(f, "contact within %g m, stiction speed %g m/s, tolerance %g m/s, %d motion%s", m->dhat[0], m->eps_v[0],
            m->tolerance[0], m->nmo - rests(m), abut_s(m->nmo - rests(m)));
    if (rests(m)) fprintf(f, ", nodes fixed or held %d time%s", rests(m), abut_s(rests(m)));
    fputc('\n', f);
    if (m->force_tolerance) fprintf(f, "forces are to balance to %g of the largest on a body\n", m->force_tolerance[0]);
}

/* The arrays of a frame with their shapes, in lines of at most 100 letters; longer names go on lines of their own. */
static abut_status list_arrays(const abut_arrays *set, char **text, abut_err *err)
{
    enum { LINE = 100, INDENT = 4, ONE = ABUT_NAME_MAX + 1 + 21 * ABUT_RANK_MAX + 2 };
    const size_t room = (size_t)set->n * (ONE + 1 + INDENT) + 16;
    size_t at = 0, column = sizeof "its arrays:" - 1;
    char one[ONE];
    free(*text);
    *text = calloc(room, 1);
    if (!*text) return abut_fail(err, ABUT_E_NOMEM, "no memory for the names of %d arrays", set->n);
    for (int i = 0; i < set->n; i++) {
        const abut_array *a = &set->a[i];
        size_t n = (size_t)snprintf(one, sizeof one, "%s", a->name);
        for (int d = 0; d < a->rank; d++)
            n += (size_t)snprintf(one + n, sizeof one - n, "%s%lld", d ? "x" : " ", (long long)a->shape[d]);
        if (i + 1 < set->n) one[n++] = ',', one[n] = 0;
        const int wrap = column + 1 + n > LINE;
        at += (size_t)snprintf(*text + at, room - at, "%s%s", wrap ? "\n    " : " ", one);
        column = wrap ? INDENT + n : column + 1 + n;
    }
    return ABUT_OK;
}

abut_status abut_summary_frame(abut_summary *s, FILE *f, const abut_shot *shot, abut_err *err)
{
    if (s->n && s->model_index != shot->model_index) abut_summary_end(s, f);
    if (!s->n) {
        model(f, shot->model_set, shot->model, shot->parts);
        s->first = *shot->head;
        s->force_residual = -1;
        s->model_index = shot->model_index;
    }
    s->n++;
    if (shot->frame->force_residual) s->force_residual = fmax(s->force_residual, shot->frame->force_residual[0]);
    s->last = *shot->head;
    return list_arrays(shot->frame_set, &s->arrays, err);
}

void abut_summary_end(abut_summary *s, FILE *f)
{
    fprintf(f, "\n%d frame%s: steps %lld to %lld, %g s to %g s%s\n", s->n, s->n == 1 ? "" : "s", (long long)s->first.step,
            (long long)s->last.step, s->first.time, s->last.time, s->last.phase == ABUT_PENDING ? ", the last one pending" : "");
    if (s->force_residual >= 0) fprintf(f, "forces balance to %.2g of the largest on a body, or better\n", s->force_residual);
    fprintf(f, "its arrays:%s\n", s->arrays ? s->arrays : "");
    s->n = 0;
}

void abut_summary_clear(abut_summary *s)
{
    free(s->arrays);
    *s = (abut_summary){ 0 };
}

/* ---- nodes of a frame ---- */

/* Three numbers per node under three columns; absent where data is NULL. */
typedef struct vector {
    const char *name, *unit;
    const double *data;
} vector;

enum { VECTORS = 7 };

static void vectors_of(const abut_shot *s, vector v[VECTORS])
{
    const abut_frame *f = s->frame;
    const vector all[VECTORS] = { { "", "m", f->x }, { "v", "m/s", f->v }, { "contact_force_", "N", s->fields->force },
                                  { "friction_force_", "N", f->f_friction }, { "damping_force_", "N", f->f_damping },
                                  { "air_force_", "N", f->f_air }, { "reaction_force_", "N", f->f_reaction } };
    memcpy(v, all, sizeof all);
    for (int k = 3; k < VECTORS && s->head->phase == ABUT_PENDING; k++) v[k].data = NULL;   /* those of the frame before */
}

/* Numbers per node of an array of another program; 0: it is not one of nodes. */
static int64_t width_of(const abut_array *a, const abut_model *m)
{
    if (a->type == ABUT_TEXT || a->rank < 1 || a->shape[0] != m->nv || abut_array_known(a->name)) return 0;
    return m->nv == m->nt && !strncmp(a->name, "tet/", 4) ? 0 : abut_array_count(a) / a->shape[0];
}

static void number(FILE *f, double v)
{
    fputc(',', f);
    abut_csv_number(f, v);
}

static void heads(FILE *f, const abut_arrays *set, const abut_model *m)
{
    char name[ABUT_NAME_MAX + 24];
    for (int i = 0; i < set->n; i++) {
        const int64_t n = width_of(&set->a[i], m);
        for (int64_t k = 0; k < n; k++) {
            if (n == 1) snprintf(name, sizeof name, "%s", set->a[i].name);
            else snprintf(name, sizeof name, "%s.%lld", set->a[i].name, (long long)k);
            fputc(',', f);
            abut_csv_text(f, name);
        }
    }
}

static void cells(FILE *f, const abut_arrays *set, const abut_model *m, int32_t node)
{
    for (int i = 0; i < set->n; i++) {
        const int64_t n = width_of(&set->a[i], m);
        for (int64_t k = 0; k < n; k++) number(f, abut_array_real(&set->a[i], node * n + k));
    }
}

abut_status abut_node_table_write(const char *dir, int keep, const abut_shot *s, abut_err *err)
{
    abut_out_file o;
    vector v[VECTORS];
    char name[ABUT_PART_NAME];
    const abut_status rc = abut_out_open_numbered(&o, dir, "nodes", s->index, ".csv", keep, err);
    if (rc) return rc;
    vectors_of(s, v);
    fputs("node,object", o.f);
    for (int k = 0; k < 3 * VECTORS; k++)
        if (v[k / 3].data) fprintf(o.f, ",%s%c_%s", v[k / 3].name, "xyz"[k % 3], v[k / 3].unit);
    heads(o.f, s->model_set, s->model);
    heads(o.f, s->frame_set, s->model);
    fputc('\n', o.f);
    for (int32_t i = 0; i < s->model->nv; i++) {
        if (!s->parts->chosen[i]) continue;
        fprintf(o.f, "%d,", s->parts->number[i]);
        abut_csv_text(o.f, abut_text_row(s->model_set, "object/name", s->model->body[i], name, sizeof name));
        for (int k = 0; k < 3 * VECTORS; k++)
            if (v[k / 3].data) number(o.f, v[k / 3].data[3 * i + k % 3]);
        cells(o.f, s->model_set, s->model, i);
        cells(o.f, s->frame_set, s->model, i);
        fputc('\n', o.f);
    }
    return abut_out_close(&o, err);
}
