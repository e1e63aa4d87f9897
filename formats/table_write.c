#include "formats/table_write.h"

#include "formats/dump.h"
#include "formats/json_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int column_find(abut_table *t, const char *name)
{
    for (int i = 0; i < t->n_columns; i++)
        if (!strcmp(t->column[i], name)) return i;
    if (t->n_columns == t->cap_columns) {
        const int cap = t->cap_columns ? 2 * t->cap_columns : 64;
        void *grown = realloc(t->column, (size_t)cap * sizeof *t->column);
        if (!grown) return -1;
        t->column = grown;
        t->cap_columns = cap;
    }
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
        double *grown = realloc(r->cell, (size_t)(c + 32) * sizeof *grown);
        if (!grown) return abut_fail(err, ABUT_E_NOMEM, "no memory for a table of %d rows", t->n_rows);
        for (int i = r->n; i < c + 32; i++) grown[i] = NAN;
        r->cell = grown;
        r->n = c + 32;
    }
    r->cell[c] = v;
    return ABUT_OK;
}

static abut_status add_row(abut_table *t, abut_err *err)
{
    if (t->n_rows == t->cap_rows) {
        const int cap = t->cap_rows ? 2 * t->cap_rows : 128;
        struct abut_table_row *grown = realloc(t->row, (size_t)cap * sizeof *grown);
        if (!grown) return abut_fail(err, ABUT_E_NOMEM, "no memory for a table of %d rows", cap);
        t->row = grown;
        t->cap_rows = cap;
    }
    t->row[t->n_rows++] = (struct abut_table_row){ 0 };
    return ABUT_OK;
}

static abut_status set_totals(abut_table *t, const abut_shot *s, abut_err *err)
{
    const abut_fields *f = s->fields;
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
        { "min_det_F", f->min_J }, { "min_det_F_tet", f->min_J_tet < 0 ? NAN : f->min_J_tet },
        { "contacts", f->contacts < 0 ? NAN : f->contacts }, { "gap_m", isfinite(f->gap) ? f->gap : NAN },
        { "kappa", s->frame->kappa ? s->frame->kappa[0] : NAN }, { "friction_contacts", s->frame->nl },
    };
    abut_status rc = ABUT_OK;
    for (size_t i = 0; i < sizeof cell / sizeof *cell && !rc; i++) rc = set(t, cell[i].name, cell[i].v, err);
    return rc;
}

static abut_status set_objects(abut_table *t, const abut_shot *s, abut_err *err)
{
    static const char axis[] = "xyz";
    char name[2 * ABUT_PART_NAME];
    abut_status rc = ABUT_OK;
    for (int32_t k = 0; k < s->parts->n && !rc; k++) {
        const abut_part *p = &s->parts->part[k];
        for (int i = 0; i < 6 && !rc; i++) {
            snprintf(name, sizeof name, "%s.%s%c_%s", p->name, i < 3 ? "" : "v", axis[i % 3], i < 3 ? "m" : "m/s");
            rc = set(t, name, (i < 3 ? s->fields->center : s->fields->velocity)[3 * p->object + i % 3], err);
        }
    }
    return rc;
}

/* Single numbers of other stages. */
static abut_status set_extra(abut_table *t, const abut_shot *s, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int i = 0; i < s->frame_set->n && !rc; i++) {
        const abut_array *a = &s->frame_set->a[i];
        double v = NAN;
        if (a->rank || !strcmp(a->name, "contact/kappa")) continue;
        switch (a->type) {
        case ABUT_F64: v = *(const double *)a->data; break;
        case ABUT_F32: v = *(const float *)a->data; break;
        case ABUT_I32: v = *(const int32_t *)a->data; break;
        case ABUT_I64: v = (double)*(const int64_t *)a->data; break;
        case ABUT_U8: v = *(const uint8_t *)a->data; break;
        case ABUT_TEXT: continue;
        }
        rc = set(t, a->name, v, err);
    }
    return rc;
}

abut_status abut_table_frame(abut_table *t, const abut_shot *s, abut_err *err)
{
    abut_status rc = add_row(t, err);
    if (!rc) rc = set_totals(t, s, err);
    if (!rc) rc = set_objects(t, s, err);
    if (!rc) rc = set_extra(t, s, err);
    return rc;
}

static double cell_of(const abut_table *t, int row, int column)
{
    return column < t->row[row].n ? t->row[row].cell[column] : NAN;
}

/* RFC 4180: quoted when it holds a comma, a quote or a line end */
static void csv_text(FILE *f, const char *s)
{
    if (!strpbrk(s, ",\"\r\n")) {
        fputs(s, f);
        return;
    }
    fputc('"', f);
    for (; *s; s++) {
        if (*s == '"') fputc('"', f);
        fputc(*s, f);
    }
    fputc('"', f);
}

void abut_table_csv(const abut_table *t, FILE *f)
{
    char text[ABUT_NUMBER_MAX];
    for (int c = 0; c < t->n_columns; c++) {
        if (c) fputc(',', f);
        csv_text(f, t->column[c]);
    }
    fputc('\n', f);
    for (int r = 0; r < t->n_rows; r++)
        for (int c = 0; c < t->n_columns; c++) {
            const double v = cell_of(t, r, c);
            if (c) fputc(',', f);
            if (!isnan(v)) fputs(abut_print_f64(text, v), f);
            if (c + 1 == t->n_columns) fputc('\n', f);
        }
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
        fputs(r ? ",\n{" : "\n{", f);
        for (int c = 0; c < t->n_columns; c++) {
            if (c) fputs(", ", f);
            abut_json_string(f, t->column[c]);
            fputs(": ", f);
            abut_json_number(f, cell_of(t, r, c));
        }
        fputc('}', f);
    }
    fputs("\n]}\n", f);
}

void abut_table_clear(abut_table *t)
{
    for (int r = 0; r < t->n_rows; r++) free(t->row[r].cell);
    free(t->row);
    free(t->column);
    *t = (abut_table){ 0 };
}
