#include "formats/result/gradient.h"

#include "formats/mesh/scan.h"
#include "formats/result/out_file.h"
#include "model/naming.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the loss ---- */

enum { STEP, TIME, NODE, OBJECT, X, Y, Z, WEIGHT, VX, VY, VZ, COLUMNS, COLUMNS_MOST = 32 };
static const char *const names[2][COLUMNS] = {
    { "step", "time", "node", "object", "x", "y", "z", "weight", NULL, NULL, NULL },
    { "step", "time", "node", NULL, "dx", "dy", "dz", NULL, "dvx", "dvy", "dvz" },
};

/* ---- reading ---- */

/* The next cell of a line without the spaces around it; 0: the line has no more. */
static int next_cell(abut_word *line, abut_word *cell)
{
    if (!line->s) return 0;
    const char *comma = memchr(line->s, ',', line->n);
    const size_t n = comma ? (size_t)(comma - line->s) : line->n;
    *cell = (abut_word){ line->s, n };
    if (comma) line->s += n + 1, line->n -= n + 1;
    else line->s = NULL;
    while (cell->n && (cell->s[0] == ' ' || cell->s[0] == '\t')) cell->s++, cell->n--;
    while (cell->n && strchr(" \t\r", cell->s[cell->n - 1])) cell->n--;
    return 1;
}

static int is_left_out(abut_word line) { return !line.n || line.s[0] == '#' || (line.n == 1 && line.s[0] == '\r'); }

/* of[] the column that each place of a line has, -1: not known */
static abut_status read_head(abut_scan *s, int given, int *of, int *n, abut_err *err)
{
    abut_word line = abut_scan_rest(s), cell;
    int has[COLUMNS] = { 0 };
    if (line.n >= 3 && !memcmp(line.s, "\xef\xbb\xbf", 3)) line.s += 3, line.n -= 3;     /* a byte-order mark */
    for (*n = 0; *n < COLUMNS_MOST && next_cell(&line, &cell); ++*n) {
        of[*n] = -1;
        for (int c = 0; c < COLUMNS; c++)
            if (names[given][c] && abut_word_is(cell, names[given][c])) of[*n] = c, has[c]++;
        if (of[*n] >= 0 && has[of[*n]] > 1) return abut_scan_fail(s, err, "two columns '%.*s'", (int)cell.n, cell.s);
        if (of[*n] < 0) return abut_scan_fail(s, err, "column '%.*s' is not known", (int)cell.n, cell.s);
    }
    if (!has[STEP] && !has[TIME]) return abut_scan_fail(s, err, "no column step or time");
    if (!has[NODE] && !has[OBJECT]) return abut_scan_fail(s, err, given ? "no column node" : "no column node or object");
    if (!has[X] && !has[Y] && !has[Z] && !has[VX])
        return abut_scan_fail(s, err, "no column %s, %s or %s", names[given][X], names[given][Y], names[given][Z]);
    return ABUT_OK;
}

static abut_status read_object(const abut_scan *s, abut_word w, const abut_model *m, int32_t *object, abut_err *err)
{
    char name[ABUT_OBJECT_WORDS], given[ABUT_OBJECT_WORDS];
    int64_t number;
    for (int32_t i = 0; i < m->no && m->object_name.data; i++) {
        snprintf(given, sizeof given, "%.*s", (int)w.n, w.s);
        if (!strcmp(abut_text_line(&m->object_name, i, name, sizeof name), given)) return *object = i, ABUT_OK;
    }
    abut_err none = { 0 };
    if (abut_scan_int(s, w, "object", 0, m->no - 1, &number, &none))
        return abut_scan_fail(s, err, "object '%.*s': expected a name or a number below %d", (int)w.n, w.s, m->no);
    *object = (int32_t)number;
    return ABUT_OK;
}

static abut_status read_cell(const abut_scan *s, int given, int column, abut_word w, const abut_model *m, abut_loss_row *r,
                             abut_err *err)
{
    int64_t number = 0;
    abut_status rc;
    if (!w.n) return ABUT_OK;
    switch (column) {
    case STEP: return abut_scan_int(s, w, "step", 0, INT64_C(1) << 53, &r->step, err);
    case TIME: return abut_scan_real(s, w, "time", &r->time, err);
    case NODE:
        rc = abut_scan_int(s, w, "node", 0, m->nv - 1, &number, err);
        if (!rc) r->node = (int32_t)number;
        return rc;
    case OBJECT: return read_object(s, w, m, &r->object, err);
    case WEIGHT: return abut_scan_real(s, w, "weight", &r->weight, err);
    default: return abut_scan_real(s, w, names[given][column], column < WEIGHT ? r->x + (column - X) : r->v + (column - VX), err);
    }
}

static abut_status read_row(abut_scan *s, abut_loss *loss, const int *of, int n, const abut_model *m, abut_err *err)
{
    const double none = loss->given ? 0 : NAN;
    abut_loss_row r = { .step = -1, .time = NAN, .node = -1, .object = -1, .x = { none, none, none }, .weight = 1 };
    abut_word line = abut_scan_rest(s), cell;
    int k = 0;
    for (; k < n && next_cell(&line, &cell); k++) {
        const abut_status rc = read_cell(s, loss->given, of[k], cell, m, &r, err);
        if (rc) return rc;
    }
    if (k < n || line.s) return abut_scan_fail(s, err, "it has %s cells than the first line, which has %d",
                                               k < n ? "fewer" : "more", n);
    if (r.step < 0 && isnan(r.time)) return abut_scan_fail(s, err, "no step and no time");
    if ((r.node < 0) == (r.object < 0)) return abut_scan_fail(s, err, "expected a node or an object, and one of them");
    if (!ABUT_GROW(loss->row, loss->n + 1, loss->cap)) return abut_fail(err, ABUT_E_NOMEM, "%zu rows of a loss", loss->n + 1);
    loss->row[loss->n++] = r;
    return ABUT_OK;
}

abut_status abut_loss_read(abut_loss *loss, const char *path, int given, const abut_model *m, abut_err *err)
{
    abut_bytes file = { 0 };
    abut_scan s;
    int of[COLUMNS_MOST], n = 0, headed = 0;
    *loss = (abut_loss){ .given = given };
    abut_status rc = abut_bytes_load(path, &file, err);
    if (rc) return rc;
    abut_scan_init(&s, &file);
    do {
        abut_scan ahead = s;
        if (is_left_out(abut_scan_rest(&ahead))) continue;
        rc = headed ? read_row(&s, loss, of, n, m, err) : read_head(&s, given, of, &n, err);
        headed = 1;
    } while (!rc && abut_scan_next_line(&s));
    if (!rc && !loss->n) rc = abut_fail(err, ABUT_E_FORMAT, "%s: it has no row", path);
    abut_bytes_clear(&file);
    return rc;
}

void abut_loss_clear(abut_loss *loss)
{
    free(loss->row);
    *loss = (abut_loss){ 0 };
}

/* ---- of a run ---- */

static int is_of(const abut_loss_row *r, int64_t step, double time, double h)
{
    return r->step >= 0 ? r->step == step : fabs(r->time - time) <= 1e-6 * h;
}

abut_status abut_loss_check(const abut_loss *loss, int64_t first, double first_time, int64_t last, double h, abut_err *err)
{
    for (size_t i = 0; i < loss->n; i++) {
        const abut_loss_row *r = loss->row + i;
        const double steps = (r->time - first_time) / h;
        const int is_of_frame = fabs(steps) < 0x1p53 && fabs(steps - rint(steps)) <= 1e-6;
        const int64_t step = r->step >= 0 ? r->step : is_of_frame ? first + (int64_t)llround(steps) : 0;
        if (r->step < 0 && !is_of_frame)
            return abut_fail(err, ABUT_E_FORMAT, "row %zu of the loss is at %.9g s: no frame is, steps are %.9g s", i + 1,
                             r->time, h);
        if (step < first || step > last)
            return abut_fail(err, ABUT_E_FORMAT, "row %zu of the loss is of frame %lld, expected %lld to %lld", i + 1,
                             (long long)step, (long long)first, (long long)last);
    }
    return ABUT_OK;
}

/* weight/2 of a squared distance; nodes of an object in equal parts */
static double distance(const abut_loss_row *r, const abut_model *m, const double *x, double *x_bar)
{
    double L = 0;
    int32_t count = r->node >= 0;
    for (int32_t i = 0; i < m->nv && r->node < 0; i++) count += m->body[i] == r->object;
    for (int k = 0; k < 3 && count; k++) {
        double at = r->node >= 0 ? x[3 * (size_t)r->node + (size_t)k] : 0;
        for (int32_t i = 0; i < m->nv && r->node < 0; i++)
            if (m->body[i] == r->object) at += x[3 * (size_t)i + (size_t)k] / count;
        if (isnan(r->x[k])) continue;
        const double off = at - r->x[k];
        L += 0.5 * r->weight * off * off;
        for (int32_t i = r->node >= 0 ? r->node : 0; i < (r->node >= 0 ? r->node + 1 : m->nv); i++)
            if (r->node >= 0 || m->body[i] == r->object) x_bar[3 * (size_t)i + (size_t)k] += r->weight * off / count;
    }
    return L;
}

void abut_loss_frame(const abut_loss *loss, const abut_model *m, int64_t step, double time, const double *x, double *L,
                     double *x_bar, double *v_bar)
{
    for (size_t i = 0; i < loss->n; i++) {
        const abut_loss_row *r = loss->row + i;
        if (!is_of(r, step, time, m->h[0])) continue;
        for (size_t k = 0; k < 3 && loss->given; k++) {
            x_bar[3 * (size_t)r->node + k] += r->x[k];
            v_bar[3 * (size_t)r->node + k] += r->v[k];
        }
        if (!loss->given) *L += distance(r, m, x, x_bar);
    }
}

/* ---- its derivatives as a table ---- */

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
