#include "formats/result/vtu.h"

#include "formats/result/out_file.h"
#include "formats/result/vtu_array.h"
#include "formats/result/vtu_grid.h"
#include "formats/result/vtu_touch.h"
#include "model/naming.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SOLIDS, OTHERS, SHELLS, GRIDS, TOUCHES = GRIDS, STEMS };

static const char *const STEM[STEMS] = { "solids", "others", "shells", "contacts" };

struct abut_vtu {
    char *dir;
    int keep;               /* files that appear meanwhile stay */
    int model_index;        /* of the grids; -1 before the first */
    abut_vtu_grid grid[GRIDS];
    struct entry {
        double time;
        int index, has[STEMS];
    } *entry;
    size_t n, cap;
    void *rows;             /* one array, gathered */
    size_t rows_size;
};

/* ---- arrays ---- */

/* Writes rows index[n] of an array whose rows are `width` numbers. */
static abut_status put_rows(abut_vtu *w, FILE *f, const char *name, abut_dtype type, const void *data,
                            const int32_t *index, int32_t n, size_t width, abut_err *err)
{
    const size_t row = width * abut_dtype_size(type), need = (size_t)n * row + 1;
    if (need > w->rows_size) {
        free(w->rows);
        w->rows = malloc(need);
        w->rows_size = w->rows ? need : 0;
        if (!w->rows) return abut_fail(err, ABUT_E_NOMEM, "array %s: no memory for %zu bytes", name, need);
    }
    for (int32_t i = 0; i < n; i++) memcpy((char *)w->rows + (size_t)i * row, (const char *)data + (size_t)index[i] * row, row);
    return abut_vtu_array(f, name, type, w->rows, (size_t)n, width, err);
}

static abut_status put_displacement(FILE *f, const abut_vtu_grid *g, const abut_shot *s, abut_err *err)
{
    double *u = malloc((3 * (size_t)g->np + 1) * sizeof *u);
    if (!u) return abut_fail(err, ABUT_E_NOMEM, "no memory for displacements");
    for (int32_t i = 0; i < g->np; i++)
        for (int d = 0; d < 3; d++) u[3 * i + d] = s->x[3 * g->node[i] + d] - s->X[3 * g->node[i] + d];
    const abut_status rc = abut_vtu_array(f, "displacement", ABUT_F64, u, (size_t)g->np, 3, err);
    free(u);
    return rc;
}

/* Puts arrays of other stages with one row per node (of_nodes) or per tet, but not per shell.  If both counts are equal, the
 * name decides. */
static abut_status put_unknown(abut_vtu *w, FILE *f, const abut_vtu_grid *g, const abut_model *m, const abut_arrays *set,
                               int of_nodes, abut_err *err)
{
    const int32_t want = of_nodes ? m->nv : m->nt;
    abut_status rc = ABUT_OK;
    for (int i = 0; i < set->n && !rc; i++) {
        const abut_array *a = &set->a[i];
        if (a->type == ABUT_TEXT || a->rank < 1 || a->shape[0] != want || abut_array_known(a->name)) continue;
        if (m->nv == m->nt && of_nodes == !strncmp(a->name, "tet/", 4)) continue;
        rc = put_rows(w, f, a->name, a->type, a->data, of_nodes ? g->lead : g->row, of_nodes ? g->np : g->nc,
                      (size_t)(abut_array_count(a) / a->shape[0]), err);
    }
    return rc;
}

/* Puts a constant at every point. */
static abut_status put_constant(FILE *f, const char *name, double value, size_t n, abut_err *err)
{
    double *v = malloc((n + 1) * sizeof *v);
    if (!v) return abut_fail(err, ABUT_E_NOMEM, "array %s: no memory for %zu numbers", name, n);
    for (size_t i = 0; i < n; i++) v[i] = value;
    const abut_status rc = abut_vtu_array(f, name, ABUT_F64, v, n / 3, 3, err);
    free(v);
    return rc;
}

/* The forces that `step --with forces` left in the frame (a PENDING one keeps others).  All are in every file: NaN where the
 * frame does not have its forces, 0 where it has forces without this one.  That of contact is computed in any case. */
static abut_status put_forces(abut_vtu *w, FILE *f, const abut_vtu_grid *g, const abut_shot *s, abut_err *err)
{
    const struct {
        const char *name;
        const double *f;
    } force[] = { { "contact_force", s->fields->force }, { "friction_force", s->frame->f_friction },
                  { "damping_force", s->frame->f_damping }, { "air_force", s->frame->f_air },
                  { "reaction_force", s->frame->f_reaction } };
    const int known = s->head->phase == ABUT_COMMITTED && s->frame->f_contact;
    abut_status rc = ABUT_OK;
    for (size_t i = 0; i < sizeof force / sizeof *force && !rc; i++)
        if (force[i].f && (known || i == 0)) rc = put_rows(w, f, force[i].name, ABUT_F64, force[i].f, g->lead, g->np, 3, err);
        else rc = put_constant(f, force[i].name, known ? 0 : NAN, 3 * (size_t)g->np, err);
    return rc;
}

static abut_status put_points(abut_vtu *w, FILE *f, const abut_vtu_grid *g, const abut_shot *s, abut_err *err)
{
    fputs("<Points>\n", f);
    abut_status rc = put_rows(w, f, "Points", ABUT_F64, s->x, g->node, g->np, 3, err);
    fputs("</Points>\n<PointData>\n", f);
    if (!rc) rc = put_displacement(f, g, s, err);
    if (!rc) rc = put_rows(w, f, "velocity", ABUT_F64, s->v, g->node, g->np, 3, err);
    if (!rc) rc = put_forces(w, f, g, s, err);
    if (!rc) rc = put_rows(w, f, "object", ABUT_I32, s->model->body, g->lead, g->np, 1, err);
    if (!rc) rc = put_rows(w, f, "node", ABUT_I32, s->parts->number, g->lead, g->np, 1, err);
    if (!rc) rc = put_unknown(w, f, g, s->model, s->model_set, 1, err);
    if (!rc) rc = put_unknown(w, f, g, s->model, s->frame_set, 1, err);
    fputs("</PointData>\n", f);
    return rc;
}

/* The object of each cell, and the number of its element there. */
static abut_status put_element_numbers(FILE *f, const abut_vtu_grid *g, const abut_model *m, const char *name,
                                       const int32_t *element, int width, int32_t n, abut_err *err)
{
    const size_t nc = (size_t)g->nc;
    int32_t *all = malloc(((size_t)n + 1) * sizeof *all);
    int32_t *object = malloc((nc + 1) * sizeof *object), *number = malloc((nc + 1) * sizeof *number);
    abut_status rc = all && object && number ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "array %s: no memory", name);
    if (!rc) rc = abut_element_numbers(m, element, width, n, all, err);
    for (size_t i = 0; i < nc && !rc; i++) {
        object[i] = m->body[element[(size_t)width * (size_t)g->row[i]]];
        number[i] = all[g->row[i]];
    }
    if (!rc) rc = abut_vtu_array(f, "object", ABUT_I32, object, nc, 1, err);
    if (!rc) rc = abut_vtu_array(f, name, ABUT_I32, number, nc, 1, err);
    free(all), free(object), free(number);
    return rc;
}

static abut_status put_tet_data(abut_vtu *w, FILE *f, const abut_vtu_grid *g, const abut_shot *s, abut_err *err)
{
    abut_status rc = ABUT_OK;
    if (s->fields->J) rc = put_rows(w, f, "J", ABUT_F64, s->fields->J, g->row, g->nc, 1, err);
    if (!rc && s->fields->stress)
        rc = put_rows(w, f, "von_mises_stress", ABUT_F64, s->fields->stress, g->row, g->nc, 1, err);
    if (!rc && s->fields->sigma)
        rc = put_rows(w, f, "cauchy_stress", ABUT_F64, s->fields->sigma, g->row, g->nc, 9, err);
    if (!rc && s->fields->F)
        rc = put_rows(w, f, "deformation_gradient", ABUT_F64, s->fields->F, g->row, g->nc, 9, err);
    if (!rc) rc = put_rows(w, f, "material", ABUT_I32, s->model->tet_mat, g->row, g->nc, 1, err);
    if (!rc) rc = put_element_numbers(f, g, s->model, "tet", s->model->tet, 4, s->model->nt, err);
    if (!rc) rc = put_unknown(w, f, g, s->model, s->model_set, 0, err);
    if (!rc) rc = put_unknown(w, f, g, s->model, s->frame_set, 0, err);
    return rc;
}

/* Puts column k of the strains. */
static abut_status put_strain(FILE *f, const abut_vtu_grid *g, const double *strain, const char *name, size_t k, abut_err *err)
{
    double *v = malloc(((size_t)g->nc + 1) * sizeof *v);
    if (!v) return abut_fail(err, ABUT_E_NOMEM, "array %s: no memory for %d numbers", name, g->nc);
    for (int32_t i = 0; i < g->nc; i++) v[i] = strain[5 * (size_t)g->row[i] + k];
    const abut_status rc = abut_vtu_array(f, name, ABUT_F64, v, (size_t)g->nc, 1, err);
    free(v);
    return rc;
}

static abut_status put_shell_data(abut_vtu *w, FILE *f, const abut_vtu_grid *g, const abut_shot *s, abut_err *err)
{
    static const char *const name[] = { "sigma_1", "sigma_2", "strain_warp", "strain_weft", "strain_shear" };
    const abut_fields *e = s->fields;
    abut_status rc = ABUT_OK;
    for (size_t k = 0; k < 5 && !rc && e->strain; k++) rc = put_strain(f, g, e->strain, name[k], k, err);
    if (!rc && e->bend) rc = put_rows(w, f, "hinge_angle", ABUT_F64, e->bend, g->row, g->nc, 1, err);
    if (!rc) rc = put_rows(w, f, "thickness", ABUT_F64, s->model->shell_thick, g->row, g->nc, 1, err);
    if (!rc) rc = put_rows(w, f, "material", ABUT_I32, s->model->shell_mat, g->row, g->nc, 1, err);
    return rc ? rc : put_element_numbers(f, g, s->model, "shell", s->model->shell, 3, s->model->nsh, err);
}

static abut_status put_cell_data(abut_vtu *w, FILE *f, const abut_vtu_grid *g, const abut_shot *s, abut_err *err)
{
    if (!g->row) return ABUT_OK;
    fputs("<CellData>\n", f);
    const abut_status rc = g->stem == STEM[SHELLS] ? put_shell_data(w, f, g, s, err) : put_tet_data(w, f, g, s, err);
    fputs("</CellData>\n", f);
    return rc;
}

static abut_status write_grid(abut_vtu *w, FILE *f, const abut_vtu_grid *g, const abut_shot *s, abut_err *err)
{
    abut_vtu_head(f, "UnstructuredGrid");
    fprintf(f, "<UnstructuredGrid>\n<FieldData>\n<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
            "format=\"ascii\">%.17g</DataArray>\n</FieldData>\n<Piece NumberOfPoints=\"%d\" NumberOfCells=\"%d\">\n",
            s->head->time, g->np, g->nc);
    abut_status rc = put_points(w, f, g, s, err);
    const size_t corners = g->nc ? (size_t)g->offset[g->nc - 1] : 0;
    fputs("<Cells>\n", f);
    if (!rc) rc = abut_vtu_array(f, "connectivity", ABUT_I64, g->conn, corners, 1, err);
    if (!rc) rc = abut_vtu_array(f, "offsets", ABUT_I64, g->offset, (size_t)g->nc, 1, err);
    if (!rc) rc = abut_vtu_array(f, "types", ABUT_U8, g->type, (size_t)g->nc, 1, err);
    fputs("</Cells>\n", f);
    if (!rc) rc = put_cell_data(w, f, g, s, err);
    fputs("</Piece>\n</UnstructuredGrid>\n</VTKFile>\n", f);
    return rc;
}

/* ---- the series ---- */

abut_status abut_vtu_open(const char *dir, int keep, abut_vtu **out, abut_err *err)
{
    const abut_status rc = abut_out_folder(dir, err);
    if (rc) return rc;
    abut_vtu *w = calloc(1, sizeof *w);
    if (w) w->dir = malloc(strlen(dir) + 1);
    if (!w || !w->dir) {
        free(w);
        return abut_fail(err, ABUT_E_NOMEM, "%s: no memory", dir);
    }
    strcpy(w->dir, dir);
    w->keep = keep;
    w->model_index = -1;
    *out = w;
    return ABUT_OK;
}

static abut_status take_model(abut_vtu *w, const abut_shot *s, abut_err *err)
{
    if (w->model_index == s->model_index) return ABUT_OK;
    for (int k = 0; k < GRIDS; k++) abut_vtu_grid_clear(&w->grid[k]);
    w->model_index = -1;
    abut_status rc = abut_vtu_tets(s, STEM[SOLIDS], &w->grid[SOLIDS], err);
    if (!rc) rc = abut_vtu_shells(s, STEM[SHELLS], &w->grid[SHELLS], err);
    if (!rc) rc = abut_vtu_others(s, STEM[OTHERS], &w->grid[OTHERS], err);
    if (!rc) w->model_index = s->model_index;
    return rc;
}

/* The table of hard contacts as points. */
static abut_status write_touches(abut_vtu *w, const abut_shot *s, struct entry *e, abut_err *err)
{
    abut_out_file o;
    abut_status rc = abut_out_open_numbered(&o, w->dir, STEM[TOUCHES], s->index, ".vtu", w->keep, err);
    if (rc) return rc;
    rc = abut_vtu_touches(o.f, s->frame, s->head->time, err);
    e->has[TOUCHES] = 1;
    if (rc) abut_out_drop(&o);
    else rc = abut_out_close(&o, err);
    return rc;
}

abut_status abut_vtu_frame(abut_vtu *w, const abut_shot *s, abut_err *err)
{
    abut_status rc = take_model(w, s, err);
    if (rc) return rc;
    if (w->n == w->cap) {
        const size_t cap = w->cap ? 2 * w->cap : 64;
        struct entry *grown = realloc(w->entry, cap * sizeof *grown);
        if (!grown) return abut_fail(err, ABUT_E_NOMEM, "%s: no memory for %zu frames", w->dir, cap);
        w->entry = grown;
        w->cap = cap;
    }
    struct entry *e = &w->entry[w->n];
    *e = (struct entry){ .time = s->head->time, .index = s->index };
    for (int k = 0; k < GRIDS && !rc; k++) {
        const abut_vtu_grid *g = &w->grid[k];
        if (!g->nc) continue;
        abut_out_file o;
        rc = abut_out_open_numbered(&o, w->dir, g->stem, s->index, ".vtu", w->keep, err);
        if (rc) break;
        rc = write_grid(w, o.f, g, s, err);
        if (rc) abut_out_drop(&o);
        else rc = abut_out_close(&o, err);
        e->has[k] = 1;
    }
    if (!rc && s->frame->ntc && s->frame->touch_point) rc = write_touches(w, s, e, err);
    if (!rc) w->n++;
    return rc;
}

abut_status abut_vtu_close(abut_vtu *w, abut_err *err)
{
    const size_t room = strlen(w->dir) + sizeof "/scene.pvd";
    char *path = malloc(room);
    if (!path) return abut_fail(err, ABUT_E_NOMEM, "%s: no memory for a name", w->dir);
    snprintf(path, room, "%s/scene.pvd", w->dir);
    abut_out_file o;
    abut_status rc = abut_out_open(&o, path, w->keep, err);
    free(path);
    if (rc) return rc;
    abut_vtu_head(o.f, "Collection");
    fputs("<Collection>\n", o.f);
    for (size_t i = 0; i < w->n; i++)
        for (int k = 0; k < STEMS; k++)
            if (w->entry[i].has[k])
                fprintf(o.f, "<DataSet timestep=\"%.17g\" group=\"\" part=\"%d\" name=\"%s\" file=\"%s_%04d.vtu\"/>\n",
                        w->entry[i].time, k, STEM[k], STEM[k], w->entry[i].index);
    fputs("</Collection>\n</VTKFile>\n", o.f);
    return abut_out_close(&o, err);
}

void abut_vtu_free(abut_vtu **w)
{
    if (!*w) return;
    for (int k = 0; k < GRIDS; k++) abut_vtu_grid_clear(&(*w)->grid[k]);
    free((*w)->dir);
    free((*w)->entry);
    free((*w)->rows);
    free(*w);
    *w = NULL;
}
