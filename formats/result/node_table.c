/* A table of nodes per frame, as CSV: DIR/nodes_0012.csv, a row for every node of the chosen objects, in the order of the
 * stream.  Position, velocity and the forces that the frame has; then every array of another program that has a row of
 * numbers per node.  EXPORT.md names the columns. */
#include "formats/result/results.h"

#include "formats/result/text.h"

#include <string.h>

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
