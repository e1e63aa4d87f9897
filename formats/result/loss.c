#include "formats/result/loss.h"

#include "formats/mesh/scan.h"
#include "model/naming.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (loss->n == loss->cap) {
        const size_t cap = 2 * loss->cap + 64;
        abut_loss_row *grown = realloc(loss->row, cap * sizeof *grown);
        if (!grown) return abut_fail(err, ABUT_E_NOMEM, "%zu rows of a loss", cap);
        loss->row = grown, loss->cap = cap;
    }
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
                             (long long)step,
                             (long long)first, (long long)last);
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
                     double *x_bar,
                     double *v_bar)
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
