#include "formats/result/gradient_write.h"

#include "formats/result/csv_text.h"
#include "formats/result/json_text.h"
#include "model/naming.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

enum { ROWS = ABUT_BARS + 2 };

/* Lists all arrays: of the state, then of parameters. */
static int rows_of(const abut_gradient_table *t, abut_bar_row row[ROWS], double *state[2])
{
    state[0] = t->state->x, state[1] = t->state->v;
    row[0] = (abut_bar_row){ "node/x", "m", &state[0], t->model->nv, 3 };
    row[1] = (abut_bar_row){ "node/v", "m/s", &state[1], t->model->nv, 3 };
    abut_parameter_bar_rows(t->parameters, t->model, row + 2);
    return ROWS;
}

/* Lists the arrays of the refined run, whose differences are the errors; 0: not estimated. */
static int other_rows(const abut_gradient_table *t, abut_bar_row row[ROWS], double *state[2])
{
    return t->other ? rows_of(t->other, row, state) : 0;
}

static double error_of(const abut_bar_row *row, const abut_bar_row *other, int64_t k)
{
    return fabs((*row->data)[k] - (*other->data)[k]);
}

/* a row for each of few things */
static int is_short(const char *name)
{
    static const char *const kinds[] = { "material/", "object/", "contact/", "world/", "damping/", "motion/" };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strncmp(name, kinds[i], strlen(kinds[i]))) return 1;
    return 0;
}

static int is_wanted(const abut_gradient_table *t, const abut_bar_row *row)
{
    if (!row->rows || abut_parameter_bar_lacks(t->model, row->name)) return 0;
    for (int i = 0; i < t->n; i++)
        if (!fnmatch(t->by[i], row->name, 0)) return 1;
    return !t->n && is_short(row->name);
}

abut_status abut_gradient_check(const abut_gradient_table *t, abut_err *err)
{
    abut_bar_row row[ROWS];
    double *state[2];
    const int n = rows_of(t, row, state);
    for (int i = 0; i < t->n; i++) {
        int found = 0, exists = 0;
        const char *lacks = NULL;
        for (int k = 0; k < n; k++) {
            if (fnmatch(t->by[i], row[k].name, 0)) continue;
            exists = 1;
            if (abut_parameter_bar_lacks(t->model, row[k].name)) lacks = abut_parameter_bar_lacks(t->model, row[k].name);
            else if (row[k].rows) found = 1;
        }
        if (found) continue;
        if (lacks) return abut_fail(err, ABUT_E_ARG, "--by %s: it is not differentiated here: %s", t->by[i], lacks);
        if (exists) return abut_fail(err, ABUT_E_ARG, "--by %s: the model has no row of it", t->by[i]);
        char all[900] = "";
        for (int k = 0; k < n; k++) snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", k ? ", " : "", row[k].name);
        return abut_fail(err, ABUT_E_ARG, "--by %s: no derivatives by that; there are those by %s", t->by[i], all);
    }
    return ABUT_OK;
}

/* Name of the material, object or motion of row i of an array; "" if it has none. */
static const char *name_of(const abut_gradient_table *t, const char *array, int64_t i, char buf[ABUT_OBJECT_WORDS])
{
    const char *text = !strncmp(array, "material/", 9) ? "material/name" : !strncmp(array, "object/", 7) ? "object/name"
                     : !strncmp(array, "motion/", 7) ? "motion/name" : NULL;
    buf[0] = 0;
    return text && abut_arrays_find(t->model_set, text) ? abut_text_row(t->model_set, text, (int)i, buf, ABUT_OBJECT_WORDS) : "";
}

/* Returns number k of the run's array of that row; NaN: no such array. */
static double value_of(const abut_gradient_table *t, const abut_bar_row *row, int64_t k)
{
    const abut_array *a = abut_arrays_find(t->model_set, row->name);
    if (!a) a = abut_arrays_find(t->first, row->name);
    if (!a || abut_array_count(a) != row->rows * row->width) return NAN;
    return abut_array_real(a, k);
}

void abut_gradient_csv(const abut_gradient_table *t, FILE *f)
{
    abut_bar_row row[ROWS], other[ROWS];
    double *state[2], *other_state[2];
    char buf[ABUT_OBJECT_WORDS];
    const int n = rows_of(t, row, state), estimated = other_rows(t, other, other_state) > 0;
    fputs("array,row,column,name,value,derivative,error\nloss,0,0,,", f);
    abut_csv_number(f, t->loss);
    fputs(",,\nloss/correction,0,0,,", f);
    abut_csv_number(f, t->correction);
    fputs(",,\n", f);
    for (int i = 0; i < n; i++)
        for (int64_t k = 0; k < row[i].rows * row[i].width && is_wanted(t, &row[i]); k++) {
            fprintf(f, "%s,%lld,%lld,", row[i].name, (long long)(k / row[i].width), (long long)(k % row[i].width));
            abut_csv_text(f, name_of(t, row[i].name, k / row[i].width, buf));
            fputc(',', f);
            abut_csv_number(f, value_of(t, &row[i], k));
            fputc(',', f);
            abut_csv_number(f, (*row[i].data)[k]);
            fputc(',', f);
            if (estimated) abut_csv_number(f, error_of(&row[i], &other[i], k));
            fputc('\n', f);
        }
}

/* of a row, or with another its errors */
static void json_numbers(FILE *f, const abut_bar_row *row, const abut_bar_row *other)
{
    fputc('[', f);
    for (int64_t k = 0; k < row->rows * row->width; k++) {
        if (k) fputs(", ", f);
        if (row->width > 1 && k % row->width == 0) fputc('[', f);
        abut_json_number(f, other ? error_of(row, other, k) : (*row->data)[k]);
        if (row->width > 1 && k % row->width == row->width - 1) fputc(']', f);
    }
    fputc(']', f);
}

static void json_arrays(const abut_gradient_table *t, FILE *f, const abut_bar_row *row, const abut_bar_row *other)
{
    for (int i = 0, first = 1; i < ROWS; i++) {
        if (!is_wanted(t, &row[i])) continue;
        fputs(first ? "\n  " : ",\n  ", f);
        abut_json_string(f, row[i].name);
        fputs(": ", f);
        json_numbers(f, &row[i], other ? &other[i] : NULL);
        first = 0;
    }
}

void abut_gradient_json(const abut_gradient_table *t, FILE *f)
{
    abut_bar_row row[ROWS], other[ROWS];
    double *state[2], *other_state[2];
    (void)rows_of(t, row, state);
    fputs("{\"loss\": ", f);
    abut_json_number(f, t->loss);
    fputs(", \"correction\": ", f);
    abut_json_number(f, t->correction);
    fputs(",\n \"gradient\": {", f);
    json_arrays(t, f, row, NULL);
    if (other_rows(t, other, other_state)) {
        fputs("},\n \"error\": {", f);
        json_arrays(t, f, row, other);
    }
    fputs("}}\n", f);
}

/* numbers of a row, or with another its errors, as PREFIX/NAME */
static abut_status put(const abut_bar_row *row, const abut_bar_row *other, const char *prefix, abut_arrays *to, abut_err *err)
{
    char name[80];
    snprintf(name, sizeof name, "%s/%s", prefix, row->name);
    char unit[ABUT_UNIT_MAX + 1] = "";
    if (*row->unit) snprintf(unit, sizeof unit, strpbrk(row->unit, "/ ") ? "1/(%s)" : "1/%s", row->unit);
    double *data = abut_arrays_put_rows(to, name, ABUT_F64, row->rows, row->width > 1 ? row->width : 0, unit, err);
    if (!data) return err->code;
    for (int64_t k = 0; k < row->rows * row->width; k++) data[k] = other ? error_of(row, other, k) : (*row->data)[k];
    return ABUT_OK;
}

abut_status abut_gradient_arrays(const abut_gradient_table *t, abut_arrays *model, abut_arrays *frame, abut_err *err)
{
    abut_bar_row row[ROWS], other[ROWS];
    double *state[2], *other_state[2];
    const int n = rows_of(t, row, state), estimated = other_rows(t, other, other_state) > 0;
    abut_status rc = abut_arrays_put_f64(model, "loss/value", t->loss, "", err);
    if (!rc) rc = abut_arrays_put_f64(model, "loss/correction", t->correction, "", err);
    for (int i = 0; i < n && !rc; i++) {
        if (!row[i].rows || abut_parameter_bar_lacks(t->model, row[i].name)) continue;
        rc = put(&row[i], NULL, "gradient", i < 2 ? frame : model, err);
        if (!rc && estimated) rc = put(&row[i], &other[i], "gradient-error", i < 2 ? frame : model, err);
    }
    return rc;
}
